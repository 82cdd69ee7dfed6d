//! The first four rooms of Carom, in a crate of their own: kernels are compiled for every element, law and width of
//! registers, which takes far longer than all the rest, and need not be done again when a method changes.
//!
//! A room uses only rooms listed before it. The crate `carom` shows them under its own name.

pub mod math;
pub mod mesh;
pub mod material;
pub mod element;
