//! What needs the program: exit codes, messages, interruptions.

mod bad_input;
mod commands;
mod common;
mod contact;
mod folders;
mod guide;
mod implicit;
mod limits;
mod replay;
mod stopping_changes_nothing;
mod study;
mod view;
