//! Nodes, cells and named sets: geometry without physics.
//!
//! Every node lives in ℝ³ whatever the problem's dimension: a bar lies along x, a plane body in the
//! x–y plane. Cells of one kind stand together in a [`Cells`]; a body is built from one [`Mesh`].
//! Node and cell ids are `u32`.
//!
//! Local numbering of a cell (counter-clockwise faces seen from outside, as Gmsh and VTK have it):
//!
//! | kind  | nodes in reference coordinates |
//! |-------|--------------------------------|
//! | bar2  | −1, 1 |
//! | tri3  | (0,0) (1,0) (0,1) |
//! | quad4 | (−1,−1) (1,−1) (1,1) (−1,1) |
//! | tet4  | (0,0,0) (1,0,0) (0,1,0) (0,0,1) |
//! | tet10 | those of tet4, then the middles of the edges 01 12 20 03 13 23 |
//! | hex8  | (−1,−1,−1) (1,−1,−1) (1,1,−1) (−1,1,−1), then the same with ζ = 1 |
//! | shell3| (0,0) (1,0) (0,1), a triangle in space whose one side is itself |

pub mod abaqus;
pub mod check;
pub mod convex;
pub mod describe;
pub mod drawn;
pub mod error;
pub mod file;
pub mod gmsh;
pub mod place;
pub mod shape;
pub mod shape_functions;
pub mod shatter;
pub mod subdivision;
pub mod surface;
pub mod triangles;
pub mod vtk;

mod convert;
mod cut;
mod draft;
mod measure;
mod part;
mod source;
mod weld;

pub use error::MeshError;

use crate::math::Vec3;
use std::collections::BTreeMap;

/// Most nodes of a cell.
pub const MOST_NODES: usize = 10;

/// What a cell is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellKind {
    Bar2,
    Tri3,
    Quad4,
    Tet4,
    /// Quadratic: corners and middles of edges, which may be curved.
    Tet10,
    Hex8,
    /// A thin shell: it lives in space, and its side is the triangle itself.
    Shell3,
}

impl CellKind {
    /// Nodes of one cell.
    pub const fn nodes(self) -> usize {
        match self {
            CellKind::Bar2 => 2,
            CellKind::Tri3 | CellKind::Shell3 => 3,
            CellKind::Quad4 | CellKind::Tet4 => 4,
            CellKind::Hex8 => 8,
            CellKind::Tet10 => 10,
        }
    }

    /// Dimension of the space the cell moves in: 1, 2 or 3.
    pub const fn dimension(self) -> usize {
        match self {
            CellKind::Bar2 => 1,
            CellKind::Tri3 | CellKind::Quad4 => 2,
            CellKind::Tet4 | CellKind::Tet10 | CellKind::Hex8 | CellKind::Shell3 => 3,
        }
    }

    /// Sides of the cell, each the list of its local nodes, oriented so that the normal points out
    /// of a cell of positive volume (3D: right-hand rule; 2D: the normal is the tangent turned by −90°;
    /// 1D: a single node). Middles of edges stand between the corners they belong to.
    pub const fn sides(self) -> &'static [&'static [u8]] {
        match self {
            CellKind::Bar2 => &[&[0], &[1]],
            CellKind::Tri3 => &[&[0, 1], &[1, 2], &[2, 0]],
            CellKind::Shell3 => &[&[0, 1, 2]],
            CellKind::Quad4 => &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]],
            CellKind::Tet4 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[2, 0, 3]],
            CellKind::Tet10 => {
                &[&[0, 6, 2, 5, 1, 4], &[0, 4, 1, 8, 3, 7], &[1, 5, 2, 9, 3, 8], &[2, 6, 0, 7, 3, 9]]
            }
            CellKind::Hex8 => {
                &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]]
            }
        }
    }

    /// The same without middles of edges: what tells a side from others.
    pub const fn side_corners(self) -> &'static [&'static [u8]] {
        match self {
            CellKind::Tet10 => CellKind::Tet4.sides(),
            _ => self.sides(),
        }
    }

    /// The name in decks and messages.
    pub const fn name(self) -> &'static str {
        match self {
            CellKind::Bar2 => "bar2",
            CellKind::Tri3 => "tri3",
            CellKind::Quad4 => "quad4",
            CellKind::Tet4 => "tet4",
            CellKind::Tet10 => "tet10",
            CellKind::Hex8 => "hex8",
            CellKind::Shell3 => "shell3",
        }
    }
}

/// Cells of one kind, contiguous.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    pub kind: CellKind,
    /// Node ids, `kind.nodes()` per cell.
    pub nodes: Vec<u32>,
}

impl Cells {
    pub fn len(&self) -> usize {
        self.nodes.len() / self.kind.nodes()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Node ids of cell `i`.
    pub fn cell(&self, i: usize) -> &[u32] {
        let n = self.kind.nodes();
        &self.nodes[i * n..(i + 1) * n]
    }
}

/// One side of one cell: `side` indexes [`CellKind::sides`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side {
    /// Index into [`Mesh::cells`].
    pub cells: u32,
    pub cell: u32,
    pub side: u8,
}

/// Nodes, cells and named sets of one body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Reference positions [m].
    pub nodes: Vec<Vec3>,
    pub cells: Vec<Cells>,
    /// Named sets of node ids, sorted and unique.
    pub node_sets: BTreeMap<String, Vec<u32>>,
    /// Named sets of cell sides, sorted and unique. A side set also names the set of its nodes.
    pub side_sets: BTreeMap<String, Vec<Side>>,
    /// Named sets of cells as (index into `cells`, cell id), sorted and unique.
    pub cell_sets: BTreeMap<String, Vec<(u32, u32)>>,
}

impl Mesh {
    /// Highest dimension among the cells; 0 without cells.
    pub fn dimension(&self) -> usize {
        self.cells.iter().map(|c| c.kind.dimension()).max().unwrap_or(0)
    }

    /// Global node ids of a side, in outward orientation.
    pub fn side_nodes(&self, side: Side) -> impl Iterator<Item = u32> + '_ {
        let cells = &self.cells[side.cells as usize];
        let cell = cells.cell(side.cell as usize);
        cells.kind.sides()[side.side as usize].iter().map(|&k| cell[k as usize])
    }

    /// The same without middles of edges.
    pub fn side_corners(&self, side: Side) -> impl Iterator<Item = u32> + '_ {
        let cells = &self.cells[side.cells as usize];
        let cell = cells.cell(side.cell as usize);
        cells.kind.side_corners()[side.side as usize].iter().map(|&k| cell[k as usize])
    }

    /// Names a set of sides, and with it the set of their nodes.
    pub fn name_sides(&mut self, name: &str, mut sides: Vec<Side>) {
        sides.sort_unstable();
        sides.dedup();
        let nodes = sides.iter().flat_map(|&side| self.side_nodes(side)).collect();
        self.name_nodes(name, nodes);
        self.side_sets.insert(name.to_owned(), sides);
    }

    /// Names a set of nodes.
    pub fn name_nodes(&mut self, name: &str, mut nodes: Vec<u32>) {
        nodes.sort_unstable();
        nodes.dedup();
        self.node_sets.insert(name.to_owned(), nodes);
    }
}
