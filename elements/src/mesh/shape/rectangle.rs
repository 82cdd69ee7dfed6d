//! A rectangle in the x–y plane.

use super::cell::PlaneCell;
use super::{Grading, limits};
use crate::math::Vec3;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side, convert};
use carom_declare::{Count, Positive, section};

section! {
    /// A rectangle in the x-y plane. Sets: xmin, xmax, ymin, ymax.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Rectangle: "rectangle" {
        /// Edge lengths [m].
        size: [f64; 2] as [Positive; 2] => "[1.0, 1.0]";
        /// Cells per axis; two triangles fill each of these.
        cells: [u32; 2] as [Count; 2] => "[10, 10]";
        /// Quadrilaterals or triangles.
        cell: CellKind as PlaneCell = CellKind::Quad4;
        /// Per axis the last cell edge over the first, or `{ slope, fine }` for edges that grow by a constant amount.
        grading: [Grading; 2];
    }
}

impl Rectangle {
    /// A rectangle of equal quads.
    pub fn new(size: [f64; 2], cells: [u32; 2]) -> Rectangle {
        Rectangle { size, cells, grading: [Grading::Uniform; 2], cell: CellKind::Quad4 }
    }

    /// The mesh, with side sets `xmin xmax ymin ymax`.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::kind("rectangle", self.cell, [CellKind::Quad4, CellKind::Tri3])?;
        for axis in 0..2 {
            limits::length("rectangle", &format!("size[{axis}]"), self.size[axis])?;
            limits::cells("rectangle", &format!("cells[{axis}]"), self.cells[axis])?;
        }
        let [nx, ny] = self.cells.map(f64::from);
        limits::ids("rectangle", (nx + 1.0) * (ny + 1.0), limits::pieces(self.cell) * nx * ny)?;
        let x = self.grading[0].points("rectangle", self.size[0], self.cells[0])?;
        let y = self.grading[1].points("rectangle", self.size[1], self.cells[1])?;
        let mesh = grid("rectangle", &x, &y)?;
        if self.cell == CellKind::Tri3 { convert::quads_to_triangles("rectangle", &mesh) } else { Ok(mesh) }
    }
}

/// Quads on the lattice x × y, x running fastest, with the four side sets. Counts fit `u32`.
pub(super) fn grid(shape: &'static str, x: &[f64], y: &[f64]) -> Result<Mesh, MeshError> {
    let mut nodes = limits::room(shape, "nodes", x.len() * y.len())?;
    nodes.extend(y.iter().flat_map(|&y| x.iter().map(move |&x| Vec3::new(x, y, 0.0))));

    let (nx, ny) = (x.len() as u32 - 1, y.len() as u32 - 1);
    let mut quads = limits::room(shape, "cells", 4 * nx as usize * ny as usize)?;
    for j in 0..ny {
        for i in 0..nx {
            let lower = i + (nx + 1) * j;
            let upper = lower + nx + 1;
            quads.extend([lower, lower + 1, upper + 1, upper]);
        }
    }
    let mut mesh =
        Mesh { nodes, cells: vec![Cells { kind: CellKind::Quad4, nodes: quads }], ..Mesh::default() };
    let at = |i, j, side| Side { cells: 0, cell: i + nx * j, side };
    mesh.name_sides("xmin", (0..ny).map(|j| at(0, j, 3)).collect());
    mesh.name_sides("xmax", (0..ny).map(|j| at(nx - 1, j, 1)).collect());
    mesh.name_sides("ymin", (0..nx).map(|i| at(i, 0, 0)).collect());
    mesh.name_sides("ymax", (0..nx).map(|i| at(i, ny - 1, 2)).collect());
    Ok(mesh)
}
