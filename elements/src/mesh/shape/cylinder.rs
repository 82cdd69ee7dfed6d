//! A solid cylinder: a disc drawn along z.

use super::cell::SolidCell;
use super::{Grading, disc, limits, round};
use crate::mesh::{CellKind, Mesh, MeshError, convert};
use carom_declare::{Count, Positive, section};

section! {
    /// A solid cylinder about z, its centre in the middle. Sets: side, zmin, zmax.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Cylinder: "cylinder" {
        /// Radius [m].
        radius: f64 as Positive => "1.0";
        /// Cells along one side of the square core; four times as many stand around.
        core_cells: u32 as Count => "4";
        /// Layers of cells around the core.
        layers: u32 as Count => "4";
        /// Radius of the core's corners over `radius`, between 0 and 1.
        core: f64 as Positive = round::CORE;
        /// Length along z [m].
        height: f64 as Positive => "1.0";
        /// Cells along z.
        axial_cells: u32 as Count => "10";
        /// Hexahedra or tetrahedra.
        cell: CellKind as SolidCell = CellKind::Hex8;
        /// Along z, as with a bar.
        grading: Grading;
    }
}

impl Cylinder {
    /// A cylinder of hexes with a core of half the radius.
    pub fn new(radius: f64, height: f64, core_cells: u32, layers: u32, axial_cells: u32) -> Cylinder {
        Cylinder {
            radius,
            height,
            core_cells,
            layers,
            core: round::CORE,
            axial_cells,
            grading: Grading::Uniform,
            cell: CellKind::Hex8,
        }
    }

    /// The mesh, with side sets `side`, `zmin` and `zmax`.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::kind("cylinder", self.cell, [CellKind::Hex8, CellKind::Tet4, CellKind::Tet10])?;
        round::check("cylinder", self.radius, self.core_cells, self.layers, self.core)?;
        limits::length("cylinder", "height", self.height)?;
        limits::cells("cylinder", "axial_cells", self.axial_cells)?;
        let (nodes, cells) = round::plane_counts(self.core_cells, self.layers);
        let along = f64::from(self.axial_cells);
        limits::ids("cylinder", nodes * (along + 1.0), limits::pieces(self.cell) * cells * along)?;

        let mut z = self.grading.points("cylinder", self.height, self.axial_cells)?;
        for z in &mut z {
            *z -= self.height / 2.0;
        }
        let mut disc = disc::quads("cylinder", self.radius, self.core_cells, self.layers, self.core)?;
        if let Some(outer) = disc.side_sets.remove("outer") {
            disc.name_sides("side", outer);
        }
        let mesh = convert::extrude("cylinder", &disc, &z)?;
        convert::hexes_to("cylinder", mesh, self.cell)
    }
}
