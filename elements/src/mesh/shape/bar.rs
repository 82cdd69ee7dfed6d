//! A bar along x: the one-dimensional body.

use super::{Grading, limits};
use crate::math::Vec3;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side};
use carom_declare::{Count, Positive, section};

section! {
    /// A bar of bar2 cells along x. Sets: xmin, xmax.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Bar: "bar" {
        /// Length [m].
        length: f64 as Positive => "1.0";
        /// Cells along it.
        cells: u32 as Count => "100";
        /// Last cell edge over the first, or `{ slope, fine }` for edges that grow by a constant amount.
        grading: Grading;
    }
}

impl Bar {
    /// A bar of equal cells.
    pub fn new(length: f64, cells: u32) -> Bar {
        Bar { length, cells, grading: Grading::Uniform }
    }

    /// The mesh, with side sets `xmin` and `xmax`.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::length("bar", "length", self.length)?;
        limits::cells("bar", "cells", self.cells)?;
        limits::ids("bar", f64::from(self.cells) + 1.0, f64::from(self.cells))?;
        let points = self.grading.points("bar", self.length, self.cells)?;
        let mut nodes = limits::room("bar", "nodes", points.len())?;
        nodes.extend(points.iter().map(|&x| Vec3::new(x, 0.0, 0.0)));
        let mut cells = limits::room("bar", "cells", 2 * self.cells as usize)?;
        cells.extend((0..self.cells).flat_map(|i| [i, i + 1]));

        let mut mesh =
            Mesh { nodes, cells: vec![Cells { kind: CellKind::Bar2, nodes: cells }], ..Mesh::default() };
        mesh.name_sides("xmin", vec![Side { cells: 0, cell: 0, side: 0 }]);
        mesh.name_sides("xmax", vec![Side { cells: 0, cell: self.cells - 1, side: 1 }]);
        Ok(mesh)
    }
}
