//! Carom: bodies that hit, press, slide and stick.
//!
//! Thirteen rooms, in the order of dependency: a room uses only rooms listed before it
//! (`tests/rooms.rs` checks it). ARCHITECTURE.md is the map.

pub mod math;
pub mod mesh;
pub mod material;
pub mod element;
pub mod contact;
pub mod model;
pub mod solve;
pub mod method;
pub mod run;
pub mod output;
pub mod deck;
pub mod look;
pub mod cases;
