//! A disc: a square core wrapped in rings.

use super::cell::PlaneCell;
use super::{limits, rectangle, round};
use crate::mesh::{CellKind, Mesh, MeshError, convert};
use carom_declare::{Count, Positive, section};

section! {
    /// A disc in the x-y plane about its centre. Set: outer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Disc: "disc" {
        /// Radius [m].
        radius: f64 as Positive => "1.0";
        /// Cells along one side of the square core; four times as many stand around.
        core_cells: u32 as Count => "4";
        /// Layers of cells around the core.
        layers: u32 as Count => "4";
        /// Radius of the core's corners over `radius`, between 0 and 1.
        core: f64 as Positive = round::CORE;
        /// Quadrilaterals or triangles.
        cell: CellKind as PlaneCell = CellKind::Quad4;
    }
}

impl Disc {
    /// A disc of quads with a core of half the radius.
    pub fn new(radius: f64, core_cells: u32, layers: u32) -> Disc {
        Disc { radius, core_cells, layers, core: round::CORE, cell: CellKind::Quad4 }
    }

    /// The mesh, with side set `outer`.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::kind("disc", self.cell, [CellKind::Quad4, CellKind::Tri3])?;
        round::check("disc", self.radius, self.core_cells, self.layers, self.core)?;
        let (nodes, cells) = round::plane_counts(self.core_cells, self.layers);
        limits::ids("disc", nodes, limits::pieces(self.cell) * cells)?;
        let mesh = quads("disc", self.radius, self.core_cells, self.layers, self.core)?;
        if self.cell == CellKind::Tri3 { convert::quads_to_triangles("disc", &mesh) } else { Ok(mesh) }
    }
}

/// The quads of a disc with side set `outer`, parameters checked.
pub(super) fn quads(
    shape: &'static str,
    radius: f64,
    core_cells: u32,
    layers: u32,
    core: f64,
) -> Result<Mesh, MeshError> {
    let lattice = round::lattice(shape, core_cells)?;
    round::wrap(shape, rectangle::grid(shape, &lattice, &lattice)?, radius, core, layers, "outer")
}
