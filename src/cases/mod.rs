//! Built-in decks, published cases and their checks, benchmarks.

pub mod bench;
