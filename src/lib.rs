//! Carom: bodies that hit, press, slide and stick.
//!
//! The front door is [`Simulation`], from a deck or built in code. It has threads of its own, is carried to its end or piece by piece,
//! and shows nodes, history and contacts as slices; with a folder it leaves behind what the program `carom run` does.
//!
//! ```
//! use carom::Simulation;
//!
//! let mut simulation = Simulation::from_text(r#"
//!     method = "dcr"
//!     end    = 1e-3
//!
//!     [body.bar]
//!     mesh     = { shape = "bar", length = 1.0, cells = 50, at = [0.001, 0, 0] }
//!     material = { law = "linear", young = 210e9, poisson = 0.0, density = 7800 }
//!     velocity = [-10, 0, 0]
//!
//!     [body.wall]
//!     plane = { point = [0, 0, 0], normal = [1, 0, 0] }
//! "#)?;
//! simulation.advance(0.5e-3)?;
//! let nodes = simulation.nodes().unwrap();
//! println!("the tip is at {} m", nodes.x[0].x);
//! simulation.run()?;
//! // it stays for one round trip of its wave, 385 µs, and leaves at the speed it came with
//! let speed = simulation.nodes().unwrap().v.iter().map(|v| v.x).sum::<f64>() / 51.0;
//! assert!((speed - 10.0).abs() < 0.5);
//! // of its 390 kJ less than one per cent is unaccounted for at any time
//! assert!(simulation.history().column("error").unwrap().iter().all(|e| e.abs() < 0.01 * 390e3));
//! # Ok::<(), carom::SimulationError>(())
//! ```
//!
//! [`Observer`] is who looks on, [`OwnLaw`] a law of your own that decks can name ([`declare::section!`] declares its keys);
//! `examples/library/` holds a program for each.
//!
//! Behind it lie sixteen rooms, in the order of dependency: a room uses only rooms listed before it
//! (`tests/sources/rooms.rs` checks it). ARCHITECTURE.md is the map. The first four are the crate in `elements/`, because
//! their kernels take most of the time to compile.

#![warn(unreachable_pub)]

pub use carom_declare as declare;
pub use deck::OwnLaw;
pub use run::{Look, Observer, ObserverError};
pub use simulation::{Before, ContactPair, Contacts, Nodes, Setup, Simulation, SimulationError, Table};
pub use study::{
    Combine, Deck as StudyDeck, Member, Progress as StudyProgress, Study, StudyError, Tally, Varied,
};

pub use carom_elements::{element, material, math, mesh};
// words of a case that is built in code
pub use contact::friction::Stick;
pub use contact::scene::BodyKind;
pub use contact::search::Pass;

// In the order of dependency. What is hidden is open to the program, tests and benchmarks of this repository, without promise.
#[doc(hidden)]
pub mod contact;
pub mod model;
#[doc(hidden)]
pub mod solve;
pub mod method;
pub mod run;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod survey;
pub mod deck;
pub mod simulation;
#[doc(hidden)]
pub mod look;
pub mod study;
#[doc(hidden)]
pub mod cases;

/// The programs in the guide, tried as all documentation is.
#[cfg(doctest)]
#[doc = include_str!("../guide/library.md")]
pub struct Guide;
