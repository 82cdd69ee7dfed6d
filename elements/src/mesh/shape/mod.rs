//! Built-in shapes: plain parameters in, a [`Mesh`] with named side sets out.
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

use super::{Mesh, MeshError};
use carom_declare::schema::Variant;
use carom_declare::{Reader, Schemas, Section, Written};

/// The built-in shapes, each with the keys of the generator that builds it.
macro_rules! shapes {
    ($($variant:ident = $word:literal,)+) => {
        /// A built-in shape.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Shape {
            $($variant($variant),)+
        }

        impl Shape {
            /// The words, in the order of the declaration.
            pub const ALL: &'static [&'static str] = &[$($word),+];

            /// The keys of the shape called `word`.
            pub fn keys(word: &str, r: &mut Reader) -> Option<Shape> {
                match word {
                    $($word => $variant::keys(r).map(Shape::$variant),)+
                    _ => None,
                }
            }

            /// Its word and its keys.
            pub fn write(&self) -> (&'static str, Vec<(String, Written)>) {
                match self {
                    $(Shape::$variant(shape) => ($word, shape.write_keys()),)+
                }
            }

            pub fn build(&self) -> Result<Mesh, MeshError> {
                match self {
                    $(Shape::$variant(shape) => shape.build(),)+
                }
            }

            /// Word, meaning and keys of each.
            pub fn describe(schemas: &mut Schemas) -> Vec<Variant> {
                vec![$(($word, $variant::DOC, $variant::describe(schemas))),+]
            }
        }
    };
}

shapes! {
    Bar = "bar",
    Rectangle = "rectangle",
    Box = "box",
    Ring = "ring",
    Disc = "disc",
    Cylinder = "cylinder",
    Sphere = "sphere",
    HollowSphere = "hollow-sphere",
    HollowBox = "hollow-box",
    RoundSheet = "round-sheet",
    Tube = "tube",
    Polygon = "polygon",
    Polyhedron = "polyhedron",
}

#[cfg(test)]
mod tests;
