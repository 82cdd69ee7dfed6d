//! Carom: bodies that hit, press, slide and stick.
//!
//! Thirteen rooms, in the order of dependency: a room uses only rooms listed before it
//! (`tests/rooms.rs` checks it). ARCHITECTURE.md is the map. The first four are the crate in `elements/`, because
//! their kernels take most of the time to compile.

pub use carom_elements::{element, material, math, mesh};

pub mod contact;
pub mod model;
pub mod solve;
pub mod method;
pub mod run;
pub mod output;
pub mod deck;
pub mod look;
pub mod cases;
