//! Lengths, areas and volumes of cells.

use super::{Cells, MOST_NODES, Mesh, shape_functions};
use crate::math::Vec3;

impl Mesh {
    /// Positions of the nodes of cell `i` of `cells`; the first `cells.kind.nodes()` are in use.
    pub fn corners(&self, cells: &Cells, i: usize) -> [Vec3; MOST_NODES] {
        let mut x = [Vec3::zeros(); MOST_NODES];
        for (x, &node) in x.iter_mut().zip(cells.cell(i)) {
            *x = self.nodes[node as usize];
        }
        x
    }

    /// Length [m], area [m²] or volume [m³] of each of `cells`, in their order.
    pub fn measures<'a>(&'a self, cells: &'a Cells) -> impl Iterator<Item = f64> + 'a {
        (0..cells.len()).map(|i| shape_functions::measure(cells.kind, &self.corners(cells, i)))
    }

    /// Length [m], area [m²] or volume [m³] of the whole mesh: its cells of the highest dimension.
    pub fn measure(&self) -> f64 {
        let dimension = self.dimension();
        let solid = self.cells.iter().filter(|c| c.kind.dimension() == dimension);
        solid.map(|c| self.measures(c).sum::<f64>()).sum()
    }

    /// Centre of all cells, each as heavy as it is large.
    pub fn centroid(&self) -> Vec3 {
        let (mut whole, mut first) = (0.0, Vec3::zeros());
        for cells in &self.cells {
            for (k, measure) in self.measures(cells).enumerate() {
                let nodes = cells.cell(k);
                whole += measure;
                first += measure / nodes.len() as f64
                    * nodes.iter().map(|&n| self.nodes[n as usize]).sum::<Vec3>();
            }
        }
        first / whole
    }
}
