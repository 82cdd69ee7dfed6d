//! A ring: the plane between two circles.

use super::cell::PlaneCell;
use super::{Grading, limits, round};
use crate::math::Vec3;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side, convert};
use carom_declare::{Count, Positive, section};

section! {
    /// The plane between two circles about its centre. Sets: inner, outer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Ring: "ring" {
        /// Inner radius [m].
        inner: f64 as Positive => "0.9";
        /// Outer radius [m].
        outer: f64 as Positive => "1.0";
        /// Cells around, at least 3.
        around: u32 as Count => "64";
        /// Cells from inside to outside.
        radial: u32 as Count => "4";
        /// Quadrilaterals or triangles.
        cell: CellKind as PlaneCell = CellKind::Quad4;
        /// From inside to outside, as with a bar.
        grading: Grading;
    }
}

impl Ring {
    /// A ring of quads.
    pub fn new(inner: f64, outer: f64, around: u32, radial: u32) -> Ring {
        Ring { inner, outer, around, radial, grading: Grading::Uniform, cell: CellKind::Quad4 }
    }

    /// The mesh, with side sets `inner` and `outer`.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::kind("ring", self.cell, [CellKind::Quad4, CellKind::Tri3])?;
        limits::length("ring", "inner", self.inner)?;
        limits::length("ring", "outer", self.outer)?;
        if self.inner >= self.outer {
            return limits::refuse("ring", "inner", self.inner, format!("below `outer` = {}", self.outer));
        }
        if self.around < 3 {
            return limits::refuse("ring", "around", self.around, "at least 3 cells");
        }
        limits::cells("ring", "radial", self.radial)?;
        let (around, radial) = (f64::from(self.around), f64::from(self.radial));
        limits::ids("ring", around * (radial + 1.0), limits::pieces(self.cell) * around * radial)?;

        let depths = self.grading.points("ring", self.outer - self.inner, self.radial)?;
        let mut nodes = limits::room("ring", "nodes", depths.len() * self.around as usize)?;
        for (j, depth) in depths.iter().enumerate() {
            let r = if j + 1 == depths.len() { self.outer } else { self.inner + depth };
            nodes.extend((0..self.around).map(|i| {
                let (c, s) = round::turn(i, self.around);
                Vec3::new(r * c, r * s, 0.0)
            }));
        }
        let mut quads = limits::room("ring", "cells", 4 * self.around as usize * self.radial as usize)?;
        for j in 0..self.radial {
            for i in 0..self.around {
                let (here, next) = (i + self.around * j, (i + 1) % self.around + self.around * j);
                quads.extend([here, here + self.around, next + self.around, next]);
            }
        }
        let mut mesh =
            Mesh { nodes, cells: vec![Cells { kind: CellKind::Quad4, nodes: quads }], ..Mesh::default() };
        let at = |i, j, side| Side { cells: 0, cell: i + self.around * j, side };
        mesh.name_sides("inner", (0..self.around).map(|i| at(i, 0, 3)).collect());
        mesh.name_sides("outer", (0..self.around).map(|i| at(i, self.radial - 1, 1)).collect());
        if self.cell == CellKind::Tri3 { convert::quads_to_triangles("ring", &mesh) } else { Ok(mesh) }
    }
}
