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
//! A file may be cut short, damaged or hostile: nothing is taken for granted that the file does not hold, packed data grow only as they are
//! unpacked, and errors name the line (text) or byte (binary).

mod base64;
mod legacy;
mod numbers;
mod xml;

use super::draft::Draft;
use super::error::Place;
use super::{CellKind, Mesh, MeshError};
use crate::math::Vec3;
use std::collections::BTreeMap;

pub use legacy::parse as parse_legacy;
pub use xml::parse as parse_xml;

/// Values of an array beyond which it names no sets.
const MOST_VALUES: usize = 1000;

/// A grid as files have it.
#[derive(Default)]
struct Grid {
    points: Vec<Vec3>,
    types: Vec<u8>,
    /// Where the nodes of each cell end.
    ends: Vec<u32>,
    nodes: Vec<u32>,
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

impl Grid {
    /// `place` is where the cells stand in the file.
    fn mesh(self, place: Place) -> Result<Mesh, MeshError> {
        refuse_unsupported(&self.types)?;
        if self.ends.len() != self.types.len() {
            let (cells, types) = (self.ends.len(), self.types.len());
            return Err(problem(place, format!("{cells} cells have {types} types")));
        }
        let mut draft = Draft::default();
        draft.mesh.nodes = self.points;
        // where each cell goes
        let mut at = Vec::with_capacity(self.types.len());
        let mut begin = 0;
        for (cell, (&number, &end)) in self.types.iter().zip(&self.ends).enumerate() {
            let nodes = self.nodes.get(begin as usize..end as usize);
            begin = end;
            let Ok(Some((kind, more_nodes, count))) = cell_type(number) else {
                at.push((u32::MAX, 0));
                continue;
            };
            let Some(nodes) = nodes.filter(|nodes| nodes.len() == count) else {
                return Err(problem(
                    place,
                    format!("cell {cell} of type {number} does not have {count} nodes"),
                ));
            };
            if let Some(node) = nodes.iter().find(|&&n| n as usize >= draft.mesh.nodes.len()) {
                let points = draft.mesh.nodes.len();
                return Err(problem(place, format!("cell {cell} uses point {node}, and there are {points}")));
            }
            let list = draft.list(kind, more_nodes);
            let to = &mut draft.lists[list].nodes;
            at.push((list as u32, (to.len() / kind.nodes()) as u32));
            let first = to.len();
            to.extend(&nodes[..kind.nodes()]);
            if number == 8 || number == 11 {
                // rows of points instead of rounds
                to[first..].chunks_exact_mut(4).for_each(|four| four.swap(2, 3));
            }
        }
        for (name, values) in self.cell_labels {
            for (value, cells) in by_value(&values) {
                let set = cells.into_iter().map(|c| at[c as usize]).filter(|a| a.0 != u32::MAX).collect();
                draft.cell_sets.insert(format!("{name}-{value}"), set);
            }
        }
        for (name, values) in self.point_labels {
            for (value, points) in by_value(&values).into_iter().filter(|v| v.0 != 0) {
                draft.mesh.name_nodes(&format!("{name}-{value}"), points);
            }
        }
        draft.finish()
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
