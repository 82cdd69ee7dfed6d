//! What a part, or a file without parts, says: nodes, elements and sets by the numbers and names of the file.

use crate::math::Vec3;
use crate::mesh::CellKind;

/// A type of element.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct ElementType {
    /// The name of its family.
    pub word: &'static str,
    pub kind: CellKind,
    /// Nodes in the file; more than those of `kind` where they are corners and middles.
    pub nodes: usize,
}

impl ElementType {
    /// It has middles that its kind does not have.
    pub(crate) fn more_nodes(&self) -> Option<&'static str> {
        (self.nodes != self.kind.nodes()).then_some(self.word)
    }
}

/// Families by the beginning of their name, longest first; what may follow are letters of variants (R, I, H, M, T, S, 5 …).
const TYPES: [(&str, CellKind, usize); 29] = [
    ("C3D10", CellKind::Tet10, 10),
    ("C3D4", CellKind::Tet4, 4),
    ("C3D8", CellKind::Hex8, 8),
    ("CPEG3", CellKind::Tri3, 3),
    ("CPEG4", CellKind::Quad4, 4),
    ("CPE3", CellKind::Tri3, 3),
    ("CPE4", CellKind::Quad4, 4),
    ("CPE6", CellKind::Tri3, 6),
    ("CPS3", CellKind::Tri3, 3),
    ("CPS4", CellKind::Quad4, 4),
    ("CPS6", CellKind::Tri3, 6),
    ("SFM3D3", CellKind::Tri3, 3),
    ("SFM3D4", CellKind::Quad4, 4),
    ("SFM3D6", CellKind::Tri3, 6),
    ("R3D3", CellKind::Tri3, 3),
    ("R3D4", CellKind::Quad4, 4),
    ("M3D3", CellKind::Tri3, 3),
    ("M3D4", CellKind::Quad4, 4),
    ("M3D6", CellKind::Tri3, 6),
    ("STRI3", CellKind::Tri3, 3),
    ("STRI65", CellKind::Tri3, 6),
    ("S3", CellKind::Tri3, 3),
    ("S4", CellKind::Quad4, 4),
    ("T2D2", CellKind::Bar2, 2),
    ("T3D2", CellKind::Bar2, 2),
    ("B31", CellKind::Bar2, 2),
    ("T2D3", CellKind::Bar2, 3),
    ("T3D3", CellKind::Bar2, 3),
    ("B32", CellKind::Bar2, 3),
];

/// The type with this name, or one of its variants.
pub(crate) fn element_type(word: &str) -> Option<ElementType> {
    let upper = word.to_ascii_uppercase();
    let (word, kind, nodes) = *TYPES.iter().find(|(name, ..)| {
        // letters only: CPS4R, and S4R5, but not C3D20 for C3D2
        upper
            .strip_prefix(name)
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphabetic()) || rest == "R5")
    })?;
    Some(ElementType { word, kind, nodes })
}

/// Elements of one type.
pub(crate) struct Elements {
    pub kind: ElementType,
    pub ids: Vec<u32>,
    /// Numbers of their nodes.
    pub nodes: Vec<u32>,
    pub lines: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum SetKind {
    Nodes,
    Elements,
    Sides,
}

/// Who belongs to a set.
pub(crate) enum Member {
    /// Numbers from, to, by.
    Range([u32; 3]),
    /// Those of another set of the same kind.
    Set(String),
    /// Nodes of a set of elements.
    NodesOf(String),
    /// Of an instance.
    In(String, Box<Member>),
    /// A side of elements, or the elements themselves (both sides of a shell).
    Side(Box<Member>, Option<u8>),
    /// Nodes of a surface of nodes.
    Nodes(Box<Member>),
}

/// A set, as it is written.
pub(crate) struct Set {
    pub kind: SetKind,
    pub name: String,
    pub members: Vec<(Member, u32)>,
}

#[derive(Default)]
pub(crate) struct Scope {
    pub nodes: Vec<(u32, Vec3)>,
    pub node_lines: Vec<u32>,
    pub lists: Vec<Elements>,
    pub sets: Vec<Set>,
    by_name: std::collections::HashMap<(u8, String), usize>,
}

impl Scope {
    /// The list for elements of a type, new or known.
    pub(crate) fn list(&mut self, kind: ElementType) -> usize {
        self.lists.iter().position(|l| l.kind == kind).unwrap_or_else(|| {
            self.lists.push(Elements { kind, ids: Vec::new(), nodes: Vec::new(), lines: Vec::new() });
            self.lists.len() - 1
        })
    }

    /// The set with this name, new or known.
    pub(crate) fn set(&mut self, kind: SetKind, name: &str) -> usize {
        let next = self.sets.len();
        let known = *self.by_name.entry((kind as u8, name.to_ascii_uppercase())).or_insert(next);
        if known == next {
            self.sets.push(Set { kind, name: name.to_owned(), members: Vec::new() });
        }
        known
    }

    pub(crate) fn find(&self, kind: SetKind, name: &str) -> Option<usize> {
        self.by_name.get(&(kind as u8, name.to_ascii_uppercase())).copied()
    }

    /// Adds to a set; numbers that follow each other become a range.
    pub(crate) fn add(&mut self, set: usize, member: Member, line: usize) {
        let members = &mut self.sets[set].members;
        if let (Member::Range([id, to, 1]), Some((Member::Range([_, last, 1]), _))) =
            (&member, members.last_mut())
            && last.checked_add(1) == Some(*id)
        {
            *last = *to;
            return;
        }
        members.push((member, line as u32));
    }
}
