//! Built-in decks, published cases and their checks, benchmarks.

pub mod bench;
pub mod bipotential;
pub mod reproduce;
pub mod soak;

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

macro_rules! example {
    ($name:literal) => {
        Example { name: $name, text: include_str!(concat!("../../examples/", $name, "/deck.toml")) }
    };
}

/// All examples, the first to try first.
pub const EXAMPLES: [Example; 37] = [
    example!("five-solid-cubes"),
    example!("spinning-block"),
    example!("cube-pile"),
    example!("76-solid-cubes"),
    example!("sphere-sphere"),
    example!("five-cubes"),
    example!("76-cubes"),
    example!("sphere-plate"),
    example!("crushed-sphere"),
    example!("crushed-tube"),
    example!("two-bars"),
    example!("two-hex-bars"),
    example!("block-assembly"),
    example!("graded-bars"),
    example!("sliding-block"),
    example!("rolling-block"),
    example!("ten-cylinders"),
    example!("cubes-25"),
    example!("cubes-scaling"),
    example!("block-stack"),
    example!("two-particles"),
    example!("node-face-2d"),
    example!("wedge-tip"),
    example!("truesdell-wedge"),
    example!("fragments"),
    example!("fragments-3d"),
    example!("free-bar"),
    example!("hanging-block"),
    example!("pressurised-ring"),
    example!("stretched-strip"),
    example!("ring-impact"),
    example!("friction-blocks"),
    example!("golf-ball"),
    example!("methods-bars"),
    example!("methods-sliding-block"),
    example!("methods-off-centre-cubes"),
    example!("methods-rings"),
];

/// The example of that name.
pub fn example(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.name == name)
}
