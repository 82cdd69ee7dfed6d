//! A part of a mesh, its size, and its cells sorted by what they are made of.

use super::{Cells, Mesh, MeshError, Side};
use std::collections::BTreeMap;

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

    /// Sorts the cells so that each entry of `cells` has one material: `owner` says which, for every cell of every
    /// entry. Returns the material of each new entry. Cells keep their order; sets follow.
    pub fn split(&mut self, owner: &[Vec<usize>]) -> Vec<usize> {
        let old = std::mem::take(&mut self.cells);
        let mut material_of = Vec::new();
        let mut moved: Vec<Vec<(u32, u32)>> = Vec::new();
        for (cells, owner) in old.iter().zip(owner) {
            let mut entry: BTreeMap<usize, usize> = BTreeMap::new();
            let mut moved_here = Vec::with_capacity(owner.len());
            for (i, &material) in owner.iter().enumerate() {
                let at = *entry.entry(material).or_insert_with(|| {
                    self.cells.push(Cells { kind: cells.kind, nodes: Vec::new() });
                    material_of.push(material);
                    self.cells.len() - 1
                });
                moved_here.push((at as u32, self.cells[at].len() as u32));
                self.cells[at].nodes.extend_from_slice(cells.cell(i));
            }
            moved.push(moved_here);
        }
        let to = |cells: u32, cell: u32| moved[cells as usize][cell as usize];
        for sides in self.side_sets.values_mut() {
            for side in sides.iter_mut() {
                let (cells, cell) = to(side.cells, side.cell);
                *side = Side { cells, cell, side: side.side };
            }
            sides.sort_unstable();
        }
        for set in self.cell_sets.values_mut() {
            for cell in set.iter_mut() {
                *cell = to(cell.0, cell.1);
            }
            set.sort_unstable();
        }
        material_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shape;

    #[test]
    fn cells_sorted_by_material_keep_their_corners_and_their_sets() {
        let mut mesh = shape::Box::new([3.0, 2.0, 1.0], [3, 2, 1]).build().unwrap();
        let whole = mesh.clone();
        mesh.cell_sets.insert("odd".into(), vec![(0, 1), (0, 3), (0, 5)]);
        let owner = vec![(0..6).map(|i| i % 2).collect()];
        assert_eq!(mesh.split(&owner), [0, 1]);
        assert_eq!((mesh.cells[0].len(), mesh.cells[1].len()), (3, 3));
        assert_eq!(mesh.cells[1].cell(2), whole.cells[0].cell(5));
        assert_eq!(mesh.cell_sets["odd"], [(1, 0), (1, 1), (1, 2)]);
        for (name, sides) in &whole.side_sets {
            let corners = |mesh: &Mesh, sides: &[Side]| {
                let mut all: Vec<Vec<u32>> = sides.iter().map(|&s| mesh.side_nodes(s).collect()).collect();
                all.sort();
                all
            };
            assert_eq!(corners(&whole, sides), corners(&mesh, &mesh.side_sets[name]));
        }
        mesh.check().unwrap();
    }
}
