//! VTK files of unstructured grids: XML (`.vtu`) and legacy (`.vtk`), text and binary, packed with zlib or not.
//!
//! | in the file | in the mesh |
//! |-------------|-------------|
//! | cells of the highest dimension | cells; pixels and voxels become quadrilaterals and hexahedra |
//! | a cell array `a` of whole numbers with one component | for every value v a cell set `a-v`; side set where its cells are sides of others |
//! | a point array `a` of whole numbers with one component | for every value v but 0 a node set `a-v` |
//!
//! Arrays with more than 1000 values are numbers and no sets. Other arrays are passed over. Pieces are put one after the other.
//!
//! XML files are read as they go by, numbers straight into the arrays where they belong, so that a packed file, which is smaller than its mesh, takes
//! little more memory than the mesh alone.
//!
//! A file may be cut short, damaged or hostile: nothing is taken for granted that the file does not hold, packed data grow only as they are
//! unpacked, and errors name the line (text) or byte (binary).

mod base64;
mod data;
mod legacy;
mod numbers;
mod tags;
mod xml;

use super::draft::Draft;
use super::error::Place;
use super::{CellKind, Mesh, MeshError};
use std::collections::BTreeMap;

pub use legacy::parse as parse_legacy;
pub use xml::{parse as parse_xml, read as read_xml};

/// Values of an array beyond which it names no sets.
const MOST_VALUES: usize = 1000;

/// A grid as files have it.
#[derive(Default)]
struct Grid {
    types: Vec<u8>,
    /// Nodes and cells so far.
    draft: Draft,
    cell_labels: Vec<(String, Vec<i64>)>,
    point_labels: Vec<(String, Vec<i64>)>,
}

/// Kind, name where nodes beyond the corners are not kept, nodes in the file.
type Type = (CellKind, Option<&'static str>, usize);

/// Cell types of VTK by number; none for points, which are no cells.
fn cell_type(number: u8) -> Result<Option<Type>, &'static str> {
    Ok(Some(match number {
        1 | 2 => return Ok(None),
        3 => (CellKind::Bar2, None, 2),
        5 => (CellKind::Tri3, None, 3),
        8 | 9 => (CellKind::Quad4, None, 4),
        10 => (CellKind::Tet4, None, 4),
        11 | 12 => (CellKind::Hex8, None, 8),
        21 => (CellKind::Bar2, Some("bar3"), 3),
        22 => (CellKind::Tri3, Some("tri6"), 6),
        23 => (CellKind::Quad4, Some("quad8"), 8),
        24 => (CellKind::Tet10, None, 10),
        28 => (CellKind::Quad4, Some("quad9"), 9),
        4 => return Err("polyline"),
        6 => return Err("triangle strip"),
        7 => return Err("polygon"),
        13 => return Err("wedge"),
        14 => return Err("pyramid"),
        25 => return Err("hex20"),
        26 => return Err("quadratic wedge"),
        27 => return Err("quadratic pyramid"),
        29 => return Err("hex27"),
        42 => return Err("polyhedron"),
        _ => return Err("unknown"),
    }))
}

fn problem(place: Place, problem: impl Into<String>) -> MeshError {
    MeshError::Content { place, problem: problem.into() }
}

/// Cells of kinds that are not read, counted by name.
fn refuse_unsupported(types: &[u8]) -> Result<(), MeshError> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for &number in types {
        if let Err(name) = cell_type(number) {
            *counts.entry(name).or_default() += 1;
        }
    }
    if counts.is_empty() {
        return Ok(());
    }
    let help =
        "only bar2, tri3, quad4, tet4, tet10 and hex8 are read: mesh with tets alone, or with hexes alone";
    Err(MeshError::UnsupportedCells { cells: counts.into_iter().collect(), help })
}

/// Whether each cell has as many nodes as its type says; `ends` are where their nodes end.
fn check_counts(types: &[u8], ends: &[u32]) -> Result<(), String> {
    if ends.len() != types.len() {
        return Err(format!("{} cells have {} types", ends.len(), types.len()));
    }
    let mut begin = 0;
    for (cell, (&number, &end)) in types.iter().zip(ends).enumerate() {
        if let Ok(Some((.., count))) = cell_type(number)
            && u32::checked_sub(end, begin) != Some(count as u32)
        {
            return Err(format!("cell {cell} of type {number} does not have {count} nodes"));
        }
        begin = end;
    }
    Ok(())
}

impl Grid {
    /// Takes cells of types and counts that were checked, whose nodes come one after the other, with `first` points before them. Room is made for
    /// not more than `room` nodes of a kind.
    fn take<'a>(&'a mut self, types: &'a [u8], ends: &'a [u32], first: usize, room: usize) -> Nodes<'a> {
        let mut counts = [0; 256];
        types.iter().for_each(|&number| counts[number as usize] += 1);
        for &number in types {
            // lists stand in the order in which their cells come
            if let (count @ 1.., Ok(Some((kind, more_nodes, _)))) =
                (std::mem::take(&mut counts[number as usize]), cell_type(number))
            {
                let list = self.draft.list(kind, more_nodes);
                self.draft.lists[list].nodes.reserve((count * kind.nodes()).min(room));
            }
        }
        self.types.extend_from_slice(types);
        Nodes {
            draft: &mut self.draft,
            types,
            ends,
            first: first as u32,
            cell: 0,
            taken: 0,
            list: None,
            in_cell: 0,
        }
    }

    fn mesh(mut self) -> Result<Mesh, MeshError> {
        if !self.cell_labels.is_empty() {
            let at = self.places();
            for (name, values) in std::mem::take(&mut self.cell_labels) {
                for (value, cells) in by_value(&values) {
                    let set = cells.into_iter().filter_map(|c| at[c as usize]).collect();
                    self.draft.cell_sets.insert(format!("{name}-{value}"), set);
                }
            }
        }
        for (name, values) in self.point_labels {
            for (value, points) in by_value(&values).into_iter().filter(|v| v.0 != 0) {
                self.draft.mesh.name_nodes(&format!("{name}-{value}"), points);
            }
        }
        drop(self.types);
        self.draft.finish()
    }

    /// List and number of each cell.
    fn places(&mut self) -> Vec<Option<(u32, u32)>> {
        let mut counts = vec![0; self.draft.lists.len()];
        let mut place = |&number: &u8| {
            let (kind, more_nodes, _) = cell_type(number).ok()??;
            let list = self.draft.list(kind, more_nodes);
            counts[list] += 1;
            Some((list as u32, counts[list] - 1))
        };
        self.types.iter().map(&mut place).collect()
    }
}

/// Puts nodes of cells, which come one after the other, into the lists of their kinds.
struct Nodes<'a> {
    draft: &'a mut Draft,
    types: &'a [u8],
    ends: &'a [u32],
    first: u32,
    cell: usize,
    taken: u32,
    /// Where the present cell goes, and how many of its nodes.
    list: Option<(usize, usize)>,
    in_cell: usize,
}

impl Nodes<'_> {
    fn push(&mut self, node: u32) {
        // cells of no node are passed over
        while self.in_cell == 0 && self.ends[self.cell] == self.taken {
            self.cell += 1;
        }
        let number = self.types[self.cell];
        if self.in_cell == 0 {
            let known = cell_type(number).ok().flatten();
            self.list = known.map(|(kind, more, _)| (self.draft.list(kind, more), kind.nodes()));
        }
        self.in_cell += 1;
        self.taken += 1;
        if let Some((list, count)) = self.list
            && self.in_cell <= count
        {
            let to = &mut self.draft.lists[list].nodes;
            to.push(self.first + node);
            if self.in_cell == count && (number == 8 || number == 11) {
                // rows of points instead of rounds
                let cell = to.len() - count;
                to[cell..].chunks_exact_mut(4).for_each(|four| four.swap(2, 3));
            }
        }
        if self.ends[self.cell] == self.taken {
            (self.cell, self.in_cell) = (self.cell + 1, 0);
        }
    }
}

/// Who has which value; nothing where there are too many.
fn by_value(values: &[i64]) -> BTreeMap<i64, Vec<u32>> {
    let mut sets: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for (&value, who) in values.iter().zip(0..) {
        sets.entry(value).or_default().push(who);
        if sets.len() > MOST_VALUES {
            return BTreeMap::new();
        }
    }
    sets
}
