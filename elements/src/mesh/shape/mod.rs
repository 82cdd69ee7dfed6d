//! Built-in shapes: plain parameters in, a [`Mesh`](super::Mesh) with named side sets out.
//!
//! | shape | cells | side sets | stands at the origin with its |
//! |-------|-------|-----------|-------------------------------|
//! | [`Bar`] | bar2 | `xmin xmax` | left end |
//! | [`Rectangle`] | quad4, tri3 | `xmin xmax ymin ymax` | lower corner |
//! | [`Box`] | hex8, tet4 | `xmin xmax ymin ymax zmin zmax` | lower corner |
//! | [`Ring`] | quad4, tri3 | `inner outer` | centre |
//! | [`Disc`] | quad4, tri3 | `outer` | centre |
//! | [`Cylinder`] | hex8, tet4 | `side zmin zmax` | centre, axis along z |
//! | [`Sphere`] | hex8, tet4 | `surface` | centre |
//! | [`Polygon`] | tri3 | `side-1 side-2 …` | origin of its points |
//! | [`Polyhedron`] | tet4 | `face-1 face-2 …` | origin of its points |
//! | [`HollowSphere`] | tri3, for shells | | centre |
//! | [`HollowBox`] | tri3, for shells | | lower corner |
//! | [`RoundSheet`] | tri3, for shells | `rim` | centre |
//! | [`Tube`] | tri3, for shells | `zmin zmax` | centre, axis along z |
//!
//! Every side set also names a node set. All cells have positive det J at every corner. A shape is moved to
//! its place afterwards, so sets are named before any rotation.
//!
//! Quads and hexes come first; triangles and tets are cut from them (`mesh::convert`). Solids grow from plane
//! meshes by extrusion along z.

mod bar;
mod boxes;
mod cell;
mod cylinder;
mod disc;
mod grading;
pub(crate) mod limits;
mod polygon;
mod polyhedron;
mod rectangle;
mod ring;
mod round;
mod sheet;
mod sphere;

pub use bar::Bar;
pub use boxes::Box;
pub use cylinder::Cylinder;
pub use disc::Disc;
pub use grading::{End, Grading};
pub use polygon::Polygon;
pub use polyhedron::Polyhedron;
pub use rectangle::Rectangle;
pub use ring::Ring;
pub use sheet::{Base, HollowBox, HollowSphere, RoundSheet, Tube};
pub use sphere::Sphere;

#[cfg(test)]
mod tests;
