//! A solid ball: a cube core wrapped in layers.

use super::cell::SolidCell;
use super::{limits, rectangle, round};
use crate::mesh::{CellKind, Mesh, MeshError, convert};
use carom_declare::{Count, Positive, section};

section! {
    /// A solid ball about its centre. Set: surface.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sphere: "sphere" {
        /// Radius [m].
        radius: f64 as Positive => "1.0";
        /// Cells along one edge of the cube core; four times as many stand around the equator.
        core_cells: u32 as Count => "4";
        /// Layers of cells around the core.
        layers: u32 as Count => "4";
        /// Radius of the core's corners over `radius`, between 0 and 1.
        core: f64 as Positive = round::CORE;
        /// Hexahedra or tetrahedra.
        cell: CellKind as SolidCell = CellKind::Hex8;
    }
}

impl Sphere {
    /// A ball of hexes with a core of half the radius.
    pub fn new(radius: f64, core_cells: u32, layers: u32) -> Sphere {
        Sphere { radius, core_cells, layers, core: round::CORE, cell: CellKind::Hex8 }
    }

    /// The mesh, with side set `surface`.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::kind("sphere", self.cell, [CellKind::Hex8, CellKind::Tet4, CellKind::Tet10])?;
        round::check("sphere", self.radius, self.core_cells, self.layers, self.core)?;
        let (nodes, cells) = round::solid_counts(self.core_cells, self.layers);
        limits::ids("sphere", nodes, limits::pieces(self.cell) * cells)?;
        let lattice = round::lattice("sphere", self.core_cells)?;
        let core = convert::extrude("sphere", &rectangle::grid("sphere", &lattice, &lattice)?, &lattice)?;
        let mesh = round::wrap("sphere", core, self.radius, self.core, self.layers, "surface")?;
        convert::hexes_to("sphere", mesh, self.cell)
    }
}
