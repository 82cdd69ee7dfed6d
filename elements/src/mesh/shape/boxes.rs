//! A box with its edges along the axes.

use super::cell::SolidCell;
use super::{Grading, limits, rectangle};
use crate::mesh::{CellKind, Mesh, MeshError, convert};
use carom_declare::{Count, Positive, section};

section! {
    /// A box with its edges along the axes. Sets: xmin, xmax, ymin, ymax, zmin, zmax.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Box: "box" {
        /// Edge lengths [m].
        size: [f64; 3] as [Positive; 3] => "[1.0, 1.0, 1.0]";
        /// Cells per axis; six tets fill each of these.
        cells: [u32; 3] as [Count; 3] => "[10, 10, 10]";
        /// Hexahedra or tetrahedra.
        cell: CellKind as SolidCell = CellKind::Hex8;
        /// Per axis the last cell edge over the first, or `{ slope, fine }` for edges that grow by a constant amount.
        grading: [Grading; 3];
    }
}

impl Box {
    /// A box of equal hexes.
    pub fn new(size: [f64; 3], cells: [u32; 3]) -> Box {
        Box { size, cells, grading: [Grading::Uniform; 3], cell: CellKind::Hex8 }
    }

    /// The mesh, with side sets `xmin … zmax`. Nodes are numbered with x running fastest, then y, then z.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::kind("box", self.cell, [CellKind::Hex8, CellKind::Tet4, CellKind::Tet10])?;
        for axis in 0..3 {
            limits::length("box", &format!("size[{axis}]"), self.size[axis])?;
            limits::cells("box", &format!("cells[{axis}]"), self.cells[axis])?;
        }
        let [nx, ny, nz] = self.cells.map(f64::from);
        limits::ids("box", (nx + 1.0) * (ny + 1.0) * (nz + 1.0), limits::pieces(self.cell) * nx * ny * nz)?;
        let x = self.grading[0].points("box", self.size[0], self.cells[0])?;
        let y = self.grading[1].points("box", self.size[1], self.cells[1])?;
        let z = self.grading[2].points("box", self.size[2], self.cells[2])?;
        let mesh = convert::extrude("box", &rectangle::grid("box", &x, &y)?, &z)?;
        convert::hexes_to("box", mesh, self.cell)
    }
}
