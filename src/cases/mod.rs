//! Built-in decks, published cases and their checks, benchmarks.

pub mod bench;
pub mod reproduce;

/// A built-in deck, embedded so that the program carries it.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub name: &'static str,
    /// The deck, comments and all.
    pub text: &'static str,
}

impl Example {
    /// What it shows: the first line of its deck.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// All examples.
pub const EXAMPLES: [Example; 1] =
    [Example { name: "spinning-block", text: include_str!("../../examples/spinning-block/deck.toml") }];

/// The example of that name.
pub fn example(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.name == name)
}
