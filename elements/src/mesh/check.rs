//! Is this mesh fit for mechanics? Finds what is wrong and says where.

use super::{CellKind, Cells, MOST_NODES, Mesh, MeshError, shape_functions, surface};
use crate::math::Vec3;
use thiserror::Error;

/// det J over the product of the edge vectors' lengths at a corner below which the corner counts as flat:
/// what round-off leaves of zero.
const FLAT: f64 = 1e-12;
/// Share of the mesh size by which a plane body may leave its plane: round-off of a rotation.
const PLANE: f64 = 1e-9;
/// Problems listed in full; the others are counted.
const LISTED: usize = 8;

/// One thing wrong with a mesh, with its place.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Problem {
    #[error("the mesh has no cells")]
    NoCells,
    #[error("the mesh mixes {} and {} cells: keep cells of one dimension", .0.name(), .1.name())]
    MixedDimensions(CellKind, CellKind),
    #[error("the list of {} cells is incomplete: its last cell lacks nodes", .0.name())]
    IncompleteCells(CellKind),
    #[error("{} cell {cell} uses node {node}, but the last node is {last}", kind.name())]
    NodeOutOfRange { kind: CellKind, cell: usize, node: u32, last: i64 },
    #[error("{} cell {cell} uses node {node} twice", kind.name())]
    RepeatedNode { kind: CellKind, cell: usize, node: u32 },
    #[error("node {node} has a coordinate that is not a number: ({}, {}, {})", at.x, at.y, at.z)]
    NotFinite { node: usize, at: Vec3 },
    #[error("node {node} at ({}, {}, {}) belongs to no cell", at.x, at.y, at.z)]
    Unused { node: usize, at: Vec3 },
    #[error(
        "{} cell {cell} at ({:.4e}, {:.4e}, {:.4e}) is {} at its corner {corner} (det J = {det:.3e}); \
         check the order of its nodes and their places",
        kind.name(), at.x, at.y, at.z, if *det < 0.0 { "turned inside out" } else { "flat" }
    )]
    Inverted { kind: CellKind, cell: usize, corner: usize, det: f64, at: Vec3 },
    #[error("node {node} has z = {z}, but a plane body lies in x-y at one z (here {plane})")]
    OutOfPlane { node: usize, z: f64, plane: f64 },
    #[error("node {node} at (y, z) = ({}, {}) is off the line of the bar, which must run along x", at.y, at.z)]
    OffAxis { node: usize, at: Vec3 },
    #[error("{} cells {} and {} lie on the same side of a common face: one is double or overlaps", kind.name(), cells[0], cells[1])]
    Overlap { kind: CellKind, cells: [u32; 2] },
}

/// The first problems of a mesh and how many more there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problems {
    pub first: Vec<Problem>,
    pub more: usize,
}

impl Problems {
    fn add(&mut self, problem: Problem) {
        if self.first.len() < LISTED { self.first.push(problem) } else { self.more += 1 }
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    fn verdict(self) -> Result<(), MeshError> {
        if self.is_empty() { Ok(()) } else { Err(MeshError::Unfit(self)) }
    }
}

impl std::fmt::Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (i, problem) in self.first.iter().enumerate() {
            write!(f, "{}{problem}", if i > 0 { "\n" } else { "" })?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl Mesh {
    /// Everything a solid body needs of its mesh: cells of one dimension, with nodes that exist, finite
    /// places, positive det J at every corner, bars along x and plane cells in x–y, no node without a cell
    /// and no two cells in the same place.
    pub fn check(&self) -> Result<(), MeshError> {
        let mut problems = Problems::default();
        self.check_ids(&mut problems);
        if problems.is_empty() {
            self.check_places(&mut problems);
        }
        problems.verdict()
    }

    /// What the rest relies on: without it nothing can be measured.
    /// Fit to be a surface in space: cells that name their nodes, wherever they stand.
    pub fn check_surface(&self) -> Result<(), MeshError> {
        let mut problems = Problems::default();
        self.check_ids(&mut problems);
        problems.verdict()
    }

    fn check_ids(&self, problems: &mut Problems) {
        let Some(first) = self.cells.iter().find(|c| !c.is_empty()) else {
            return problems.add(Problem::NoCells);
        };
        for cells in &self.cells {
            if cells.kind.dimension() != first.kind.dimension() {
                problems.add(Problem::MixedDimensions(first.kind, cells.kind));
            }
            if cells.nodes.len() % cells.kind.nodes() != 0 {
                problems.add(Problem::IncompleteCells(cells.kind));
            }
        }
        let mut used = vec![false; self.nodes.len()];
        for cells in &self.cells {
            for cell in 0..cells.len() {
                self.check_cell_ids(cells, cell, &mut used, problems);
            }
        }
        for (node, &at) in self.nodes.iter().enumerate() {
            if !at.iter().all(|c| c.is_finite()) {
                problems.add(Problem::NotFinite { node, at });
            } else if !used[node] {
                problems.add(Problem::Unused { node, at });
            }
        }
    }

    fn check_cell_ids(&self, cells: &Cells, cell: usize, used: &mut [bool], problems: &mut Problems) {
        let (kind, nodes) = (cells.kind, cells.cell(cell));
        for (a, &node) in nodes.iter().enumerate() {
            match used.get_mut(node as usize) {
                Some(used) => *used = true,
                None => {
                    let last = self.nodes.len() as i64 - 1;
                    problems.add(Problem::NodeOutOfRange { kind, cell, node, last });
                }
            }
            if nodes[..a].contains(&node) {
                problems.add(Problem::RepeatedNode { kind, cell, node });
            }
        }
    }

    fn check_places(&self, problems: &mut Problems) {
        let (low, high) = self.bounds().unwrap_or_default();
        let slack = PLANE * (high - low).amax();
        let origin = self.nodes[0];
        for (node, &at) in self.nodes.iter().enumerate() {
            let off = (at - origin).abs();
            match self.dimension() {
                1 if off.y.max(off.z) > slack => problems.add(Problem::OffAxis { node, at }),
                2 if off.z > slack => {
                    problems.add(Problem::OutOfPlane { node, z: at.z, plane: origin.z });
                }
                _ => {}
            }
        }
        for cells in &self.cells {
            for cell in 0..cells.len() {
                let x = self.corners(cells, cell);
                if let Some((corner, det)) = inverted_corner(cells.kind, &x) {
                    let at = x.iter().sum::<Vec3>() / cells.kind.nodes() as f64;
                    problems.add(Problem::Inverted { kind: cells.kind, cell, corner, det, at });
                }
            }
        }
        if problems.is_empty() {
            surface::for_each_overlap(self, |a, b| {
                let kind = self.cells[a.cells as usize].kind;
                problems.add(Problem::Overlap { kind, cells: [a.cell, b.cell] });
            });
        }
    }

    /// Removes nodes that no cell uses; the others keep their order. Sets lose the removed nodes. Node ids of
    /// cells and sets must be in range.
    pub fn drop_unused_nodes(&mut self) {
        let mut new_id = vec![surface::NONE; self.nodes.len()];
        for &node in self.cells.iter().flat_map(|c| &c.nodes) {
            new_id[node as usize] = 0;
        }
        for (kept, id) in new_id.iter_mut().filter(|id| **id == 0).enumerate() {
            *id = kept as u32;
        }
        let mut ids = new_id.iter();
        self.nodes.retain(|_| ids.next().is_some_and(|&id| id != surface::NONE));
        for node in self.cells.iter_mut().flat_map(|c| &mut c.nodes) {
            *node = new_id[*node as usize];
        }
        for set in self.node_sets.values_mut() {
            set.retain(|&node| new_id[node as usize] != surface::NONE);
            set.iter_mut().for_each(|node| *node = new_id[*node as usize]);
        }
    }
}

/// The first node at which det J is not clearly positive, with det J.
pub(super) fn inverted_corner(kind: CellKind, x: &[Vec3; MOST_NODES]) -> Option<(usize, f64)> {
    (0..kind.nodes()).find_map(|a| {
        let j = shape_functions::corner_jacobian(kind, x, a);
        let det = j.determinant();
        let size: f64 = (0..3).map(|k| j.column(k).norm()).product();
        // Written so that a det that is not a number counts as wrong.
        if det > FLAT * size { None } else { Some((a, det)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shape::{Bar, Box, Rectangle};

    fn problems(mesh: &Mesh) -> Vec<Problem> {
        match mesh.check() {
            Err(MeshError::Unfit(problems)) => problems.first,
            other => panic!("{other:?}"),
        }
    }

    fn cube() -> Mesh {
        Box::new([2.0, 1.0, 1.0], [2, 1, 1]).build().unwrap()
    }

    #[test]
    fn a_mesh_without_cells_is_empty() {
        assert_eq!(problems(&Mesh::default()), [Problem::NoCells]);
        let cells = vec![Cells { kind: CellKind::Hex8, nodes: vec![] }];
        assert_eq!(problems(&Mesh { cells, ..Mesh::default() }), [Problem::NoCells]);
    }

    #[test]
    fn node_ids_must_exist_and_differ() {
        let mut mesh = cube();
        mesh.cells[0].nodes[9] = 99;
        let found = problems(&mesh);
        assert_eq!(found[0], Problem::NodeOutOfRange { kind: CellKind::Hex8, cell: 1, node: 99, last: 11 });

        let mut mesh = cube();
        mesh.cells[0].nodes[9] = mesh.cells[0].nodes[8];
        assert!(matches!(problems(&mesh)[0], Problem::RepeatedNode { cell: 1, node: 1, .. }));
    }

    #[test]
    fn coordinates_must_be_numbers() {
        let mut mesh = cube();
        mesh.nodes[3].y = f64::NAN;
        assert!(matches!(problems(&mesh)[..], [Problem::NotFinite { node: 3, .. }]));
    }

    #[test]
    fn a_cell_numbered_upside_down_is_found_with_its_place() {
        let mut mesh = cube();
        mesh.cells[0].nodes[8..].rotate_left(4);
        match problems(&mesh)[..] {
            [Problem::Inverted { cell: 1, corner: 0, det, at, .. }] => {
                assert!((det + 0.125).abs() < 1e-15);
                assert!((at - Vec3::new(1.5, 0.5, 0.5)).norm() < 1e-15);
            }
            ref other => panic!("{other:?}"),
        }
        let words = mesh.check().unwrap_err().to_string();
        assert!(
            words.starts_with("hex8 cell 1 at (1.5000e0, 5.0000e-1, 5.0000e-1) is turned inside out"),
            "{words}"
        );
    }

    #[test]
    fn a_hex_with_positive_volume_but_one_corner_pushed_through_is_found() {
        let mut mesh = cube();
        mesh.nodes[0] = Vec3::new(0.9, 0.9, 0.9);
        assert!(mesh.measures(&mesh.cells[0]).all(|v| v > 0.0));
        assert!(matches!(problems(&mesh)[0], Problem::Inverted { cell: 0, .. }));
    }

    #[test]
    fn flat_cells_are_found_however_small_or_thin_the_good_ones_are() {
        for thickness in [1e-9, 1e-3, 1.0] {
            let mesh = Box::new([1e-6, 1e-6, 1e-6 * thickness], [2, 2, 2]).build().unwrap();
            mesh.check().unwrap();
        }
        let mut mesh = cube();
        for p in &mut mesh.nodes {
            *p = Vec3::new(p.x, p.y, 0.3 * p.x + 0.1 * p.y);
        }
        assert!(matches!(problems(&mesh)[0], Problem::Inverted { .. }));
    }

    #[test]
    fn plane_bodies_lie_in_one_plane_and_bars_along_x() {
        let mut plane = Rectangle::new([1.0; 2], [2, 2]).build().unwrap();
        plane.nodes.iter_mut().for_each(|p| p.z = 0.5);
        plane.check().unwrap();
        plane.nodes[4].z = 0.6;
        assert_eq!(problems(&plane), [Problem::OutOfPlane { node: 4, z: 0.6, plane: 0.5 }]);

        let mut bar = Bar::new(1.0, 3).build().unwrap();
        bar.nodes[2].y = 1e-3;
        assert!(matches!(problems(&bar)[..], [Problem::OffAxis { node: 2, .. }]));
    }

    #[test]
    fn doubled_and_overlapping_cells_are_found() {
        for mut mesh in
            [Bar::new(1.0, 3).build().unwrap(), Rectangle::new([1.0; 2], [2, 2]).build().unwrap(), cube()]
        {
            mesh.check().unwrap();
            let cell = mesh.cells[0].cell(1).to_vec();
            mesh.cells[0].nodes.extend(cell);
            assert!(matches!(problems(&mesh)[0], Problem::Overlap { cells: [1, _], .. }));
        }
    }

    #[test]
    fn a_node_without_a_cell_is_reported_and_can_be_dropped() {
        let mut mesh = cube();
        let plain = mesh.clone();
        mesh.nodes.insert(0, Vec3::new(9.0, 9.0, 9.0));
        mesh.cells[0].nodes.iter_mut().for_each(|n| *n += 1);
        mesh.node_sets.values_mut().flatten().for_each(|n| *n += 1);
        assert!(matches!(problems(&mesh)[..], [Problem::Unused { node: 0, .. }]));
        mesh.drop_unused_nodes();
        assert_eq!(mesh, plain);
    }

    #[test]
    fn many_problems_are_counted_and_only_the_first_are_told() {
        let mut mesh = Box::new([1.0; 3], [3; 3]).build().unwrap();
        mesh.nodes.iter_mut().for_each(|p| p.z = -p.z);
        let words = mesh.check().unwrap_err().to_string();
        assert_eq!(words.lines().count(), LISTED + 1);
        assert!(words.ends_with("and 19 more"), "{words}");
    }
}
