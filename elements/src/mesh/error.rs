//! What can be wrong with a mesh, a shape or a mesh file, in the user's words.

use super::check::Problems;
use crate::math::Vec3;
use std::path::PathBuf;
use thiserror::Error;

/// A place in a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a text file; both count from 1.
    Line { line: usize, column: usize },
    /// In a binary file; counts from 0.
    Byte(usize),
}

impl Place {
    /// Line and column of byte `at`.
    pub fn of_byte(bytes: &[u8], at: usize) -> Place {
        let before = &bytes[..at.min(bytes.len())];
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |k| k + 1);
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        Place::Line { line, column: 1 + before.len() - start }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Place::Line { line, column } => write!(f, "line {line}, column {column}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// A mesh that cannot be built, read or used.
#[derive(Debug, Error)]
pub enum MeshError {
    /// A parameter of a built-in shape makes no sense.
    #[error("{shape}: `{parameter}` = {value}, but it must be {wanted}")]
    Parameter { shape: &'static str, parameter: String, value: String, wanted: String },

    /// More nodes or cells than ids (`u32`) or memory can hold.
    #[error("{shape}: {count:.3e} {what} are too many ({limit}); use fewer cells")]
    TooLarge { shape: &'static str, what: &'static str, count: f64, limit: &'static str },

    /// A place or rotation that makes no sense.
    #[error("`{parameter}` = {value}, but it must be {wanted}")]
    Placement { parameter: &'static str, value: String, wanted: &'static str },

    /// The mesh is there but mechanics cannot use it.
    #[error("{0}")]
    Unfit(Problems),

    /// Triangles that are no surface of a shell.
    #[error("{0}")]
    Surface(super::subdivision::SurfaceProblem),

    #[error(
        "a shell is made of triangles in space, and this mesh has {kind} cells; give it the surface only"
    )]
    NoSheet { kind: &'static str },

    #[error(
        "no control points were found whose surface goes through the nodes (it misses them by {error:.1e} of the size); \
         refine where triangles are badly shaped, or fit = false"
    )]
    NoFit { error: f64 },

    /// A mesh file that cannot be opened.
    #[error("mesh file {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },

    /// A mistake in a mesh file, at its place.
    #[error("{place}: {problem}")]
    Content { place: Place, problem: String },

    /// A format that nobody here reads.
    #[error("{} is {what}, which is not read; {help}", path.display())]
    Foreign { path: PathBuf, what: &'static str, help: &'static str },

    /// A set of cells that there is not.
    #[error("the file has no cells called `{part}`; there are {}", listed(known))]
    NoPart { part: String, known: Vec<String> },

    /// A cell below the others' dimension that is no side of them.
    #[error(
        "a {kind} at ({:.4e}, {:.4e}, {:.4e}) is no side of any {with}: a body is solid or a surface; give each a file of its own",
        at.x, at.y, at.z
    )]
    Alone { kind: &'static str, with: &'static str, at: Vec3 },

    /// Well-formed, but with cells that cannot be used.
    #[error("the file holds {}; {help}", counted(cells))]
    UnsupportedCells { cells: Vec<(&'static str, usize)>, help: &'static str },

    /// A file without a single cell.
    #[error(
        "the file holds no cells, only points; mesh it in Gmsh, and with physical groups give one to the highest dimension too"
    )]
    NoCells,

    /// An element of a boundary group that bounds nothing.
    #[error(
        "{kind} element {tag} of group `{group}` is no side of any cell; the mesh is not connected there"
    )]
    NoSide { kind: &'static str, tag: u64, group: String },

    /// Two groups that sets cannot tell apart.
    #[error("two physical groups are called `{name}`, one of dimension {}, one of dimension {}; rename one", dimensions[0], dimensions[1])]
    NameTwice { name: String, dimensions: [usize; 2] },

    /// Any of these, with the file it happened in.
    #[error("{}, {error}", path.display())]
    InFile { path: PathBuf, error: Box<MeshError> },
}

/// The first of many names.
fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let mut text = names.iter().take(MOST).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text += &format!(" and {} more", names.len() - MOST);
    }
    if names.is_empty() { "none".into() } else { text }
}

fn counted(cells: &[(&'static str, usize)]) -> String {
    let each: Vec<String> = cells.iter().map(|(name, count)| format!("{count} {name} cells")).collect();
    each.join(", ")
}
