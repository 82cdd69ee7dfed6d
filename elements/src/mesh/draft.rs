//! From what a file says to a mesh: cells of the highest dimension stay, those below it name sides, edges and points of them.
//!
//! | in the draft | in the [`Mesh`] |
//! |--------------|-----------------|
//! | cells of the highest dimension d | cells, list by list |
//! | a set of them | cell set |
//! | a set of cells of dimension d − 1 | side set: each is a side of a cell; between two cells the one whose outward normal agrees |
//! | any set of cells | node set of their nodes, unless nodes have that name already |
//!
//! Nodes that no cell uses are dropped. `abaqus` and `vtk` make drafts.

use super::{CellKind, Cells, Mesh, MeshError, Side, surface};
use std::collections::BTreeMap;

/// Cells of one kind as a file has them.
pub(crate) struct DraftCells {
    pub kind: CellKind,
    /// Of cells that have more nodes than their kind, their name in the file; only the corners are kept. They can be
    /// sides of quadratic cells and nothing else.
    pub more_nodes: Option<&'static str>,
    pub nodes: Vec<u32>,
}

impl DraftCells {
    fn len(&self) -> usize {
        self.nodes.len() / self.kind.nodes()
    }
}

/// A set of cells of any dimension: (list, cell).
pub(crate) type CellSet = Vec<(u32, u32)>;

#[derive(Default)]
pub(crate) struct Draft {
    pub mesh: Mesh,
    pub lists: Vec<DraftCells>,
    pub cell_sets: BTreeMap<String, CellSet>,
    /// Sides of cells, by list.
    pub side_sets: BTreeMap<String, Vec<Side>>,
    /// Every cell must be used: one below the highest dimension must be the side of another, or lie between nodes of others.
    pub strict: bool,
}

impl Draft {
    /// The list for cells of `kind`, new or known.
    pub(crate) fn list(&mut self, kind: CellKind, more_nodes: Option<&'static str>) -> usize {
        let known = self.lists.iter().position(|l| (l.kind, l.more_nodes) == (kind, more_nodes));
        known.unwrap_or_else(|| {
            self.lists.push(DraftCells { kind, more_nodes, nodes: Vec::new() });
            self.lists.len() - 1
        })
    }

    pub(crate) fn finish(self) -> Result<Mesh, MeshError> {
        let Draft { mut mesh, lists, cell_sets, side_sets, strict } = self;
        let Some(dimension) = lists.iter().filter(|l| l.len() > 0).map(|l| l.kind.dimension()).max() else {
            return Err(MeshError::NoCells);
        };
        let stays = |l: &DraftCells| l.kind.dimension() == dimension && l.len() > 0;
        let whole = |l: &&DraftCells| stays(l) && l.more_nodes.is_some();
        let cells: Vec<_> =
            lists.iter().filter(whole).filter_map(|l| Some((l.more_nodes?, l.len()))).collect();
        if !cells.is_empty() {
            let help = "of higher order only tet10 is read: mesh with second-order tets, or with cells of first order";
            return Err(MeshError::UnsupportedCells { cells, help });
        }
        // where each list that stays has gone
        let mut place = vec![u32::MAX; lists.len()];
        let mut below = Vec::with_capacity(lists.len());
        for (place, list) in place.iter_mut().zip(lists) {
            if stays(&list) {
                *place = mesh.cells.len() as u32;
                mesh.cells.push(Cells { kind: list.kind, nodes: list.nodes });
                below.push(None);
            } else {
                below.push(Some(list));
            }
        }
        let sides = sides_below(&mesh, &below, dimension, strict)?;
        name_cells(&mut mesh, &place, &below, &sides, cell_sets);
        for (name, mut sides) in side_sets {
            sides.retain(|side| place[side.cells as usize] != u32::MAX);
            sides.iter_mut().for_each(|side| side.cells = place[side.cells as usize]);
            if !sides.is_empty() {
                mesh.name_sides(&name, sides);
            }
        }
        mesh.drop_unused_nodes();
        mesh.node_sets.retain(|_, nodes| !nodes.is_empty());
        Ok(mesh)
    }
}

/// The side that each cell of each list below the highest dimension is.
fn sides_below(
    mesh: &Mesh,
    below: &[Option<DraftCells>],
    dimension: usize,
    strict: bool,
) -> Result<Vec<Vec<Option<Side>>>, MeshError> {
    let mut used = vec![false; mesh.nodes.len()];
    mesh.cells.iter().flat_map(|c| &c.nodes).for_each(|&n| used[n as usize] = true);
    let mut all = Vec::with_capacity(below.len());
    for list in below {
        let Some(list) = list.as_ref().filter(|l| l.len() > 0) else {
            all.push(Vec::new());
            continue;
        };
        let n = list.kind.nodes();
        let nodes = |i: usize| &list.nodes[i * n..(i + 1) * n];
        let (found, alone) = match list.kind.dimension() + 1 == dimension {
            true => {
                let found = surface::find_sides(mesh, list.len(), nodes);
                let alone = found.iter().position(Option::is_none);
                (found, alone)
            }
            false => {
                let inside = |i: &usize| nodes(*i).iter().all(|&n| used[n as usize]);
                (vec![None; list.len()], (0..list.len()).find(|i| !inside(i)))
            }
        };
        if strict && let Some(cell) = alone {
            let at = mesh.nodes[nodes(cell)[0] as usize];
            let (kind, with) = (list.kind.name(), mesh.cells[0].kind.name());
            return Err(MeshError::Alone { kind, with, at });
        }
        all.push(found);
    }
    Ok(all)
}

fn name_cells(
    mesh: &mut Mesh,
    place: &[u32],
    below: &[Option<DraftCells>],
    sides: &[Vec<Option<Side>>],
    sets: BTreeMap<String, CellSet>,
) {
    // a stamp of the set that met a node last spares repetitions
    let mut stamp = vec![u32::MAX; mesh.nodes.len()];
    for (number, (name, set)) in (0..).zip(sets) {
        // nodes that were named by themselves keep the name
        let named = mesh.node_sets.contains_key(&name);
        let mut nodes = Vec::new();
        let (mut cells, mut of_sides) = (Vec::new(), Vec::new());
        let mut meet = |node: u32| {
            if std::mem::replace(&mut stamp[node as usize], number) != number {
                nodes.push(node);
            }
        };
        for (list, cell) in set {
            let (l, c) = (list as usize, cell as usize);
            match &below[l] {
                None => {
                    cells.push((place[l], cell));
                    mesh.cells[place[l] as usize].cell(c).iter().for_each(|&n| meet(n));
                }
                Some(list) => {
                    let n = list.kind.nodes();
                    list.nodes[c * n..(c + 1) * n].iter().for_each(|&n| meet(n));
                    if let Some(side) = sides[l][c] {
                        of_sides.push(side);
                        mesh.side_nodes(side).for_each(&mut meet);
                    }
                }
            }
        }
        if !named {
            mesh.name_nodes(&name, nodes);
        }
        cells.sort_unstable();
        cells.dedup();
        of_sides.sort_unstable();
        of_sides.dedup();
        if !cells.is_empty() {
            mesh.cell_sets.insert(name.clone(), cells);
        }
        if !of_sides.is_empty() {
            mesh.side_sets.insert(name, of_sides);
        }
    }
}
