//! Claims about the sources: who uses whom, and what they depend on.

mod dependencies;
mod rooms;
