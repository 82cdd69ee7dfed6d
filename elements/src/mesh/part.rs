//! A part of a mesh, and its size.

use super::{Cells, Mesh, MeshError, Side};

/// Stands for a cell that is left out.
const OUT: u32 = u32::MAX;

impl Mesh {
    /// The cells of a set and what belongs to them; the others are left out.
    pub fn keep_part(&mut self, part: &str) -> Result<(), MeshError> {
        let Some(set) = self.cell_sets.get(part).cloned() else {
            return Err(MeshError::NoPart {
                part: part.into(),
                known: self.cell_sets.keys().cloned().collect(),
            });
        };
        let mut place: Vec<Vec<(u32, u32)>> = self.cells.iter().map(|c| vec![(OUT, 0); c.len()]).collect();
        let old = std::mem::take(&mut self.cells);
        for group in set.chunk_by(|a, b| a.0 == b.0) {
            let cells = &old[group[0].0 as usize];
            let list = self.cells.len() as u32;
            for (k, &(from, cell)) in (0..).zip(group) {
                place[from as usize][cell as usize] = (list, k);
            }
            let nodes = group.iter().flat_map(|&(_, cell)| cells.cell(cell as usize)).copied().collect();
            self.cells.push(Cells { kind: cells.kind, nodes });
        }
        let to = |cells: u32, cell: u32| place[cells as usize][cell as usize];
        for sides in self.side_sets.values_mut() {
            sides.retain(|s| to(s.cells, s.cell).0 != OUT);
            for side in sides.iter_mut() {
                let (cells, cell) = to(side.cells, side.cell);
                *side = Side { cells, cell, side: side.side };
            }
        }
        self.side_sets.retain(|_, sides| !sides.is_empty());
        for cells in self.cell_sets.values_mut() {
            cells.retain(|c| to(c.0, c.1).0 != OUT);
            cells.iter_mut().for_each(|c| *c = to(c.0, c.1));
        }
        self.cell_sets.retain(|_, cells| !cells.is_empty());
        self.drop_unused_nodes();
        self.node_sets.retain(|_, nodes| !nodes.is_empty());
        Ok(())
    }

    /// Multiplies all coordinates.
    pub fn scale(&mut self, factor: f64) -> Result<(), MeshError> {
        if !(factor > 0.0 && factor.is_finite()) {
            let wanted = "a positive, finite number";
            return Err(MeshError::Placement { parameter: "scale", value: factor.to_string(), wanted });
        }
        self.nodes.iter_mut().for_each(|x| *x *= factor);
        Ok(())
    }
}
