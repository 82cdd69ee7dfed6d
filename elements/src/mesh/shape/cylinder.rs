//! A solid cylinder: a disc drawn along z.

use super::{Grading, disc, limits, round};
use crate::mesh::{CellKind, Mesh, MeshError, convert};

/// A solid cylinder about the z axis, its centre at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// Radius [m].
    pub radius: f64,
    /// Length along z [m].
    pub height: f64,
    /// Cells along one side of the square core; four times as many stand around the cylinder.
    pub core_cells: u32,
    /// Layers of cells around the core.
    pub layers: u32,
    /// Radius of the core's corners over `radius`, between 0 and 1.
    pub core: f64,
    /// Cells along z.
    pub axial_cells: u32,
    /// Along z.
    pub grading: Grading,
    /// `Hex8` or `Tet4`.
    pub cell: CellKind,
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
        limits::kind("cylinder", self.cell, [CellKind::Hex8, CellKind::Tet4])?;
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
        if self.cell == CellKind::Tet4 { convert::hexes_to_tets("cylinder", &mesh) } else { Ok(mesh) }
    }
}
