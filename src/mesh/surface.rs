//! Where a body can touch: facets, edges and nodes of its boundary, oriented outwards.

use super::Side;

/// Stands for "no facet" in [`Edge::facets`] (the rim of an open surface).
pub const NONE: u32 = u32::MAX;

/// One facet: a point (1D), a segment (2D), a triangle or a quadrilateral (3D).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Node ids in outward orientation; the first `count` are in use.
    pub nodes: [u32; 4],
    pub count: u8,
    /// The cell side it came from.
    pub side: Side,
}

impl Facet {
    pub fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }
}

/// One unique edge of the boundary (3D only), nodes in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub nodes: [u32; 2],
    /// The facets that share it, ascending; the second is [`NONE`] on a rim.
    pub facets: [u32; 2],
}

/// The boundary of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    pub facets: Vec<Facet>,
    pub edges: Vec<Edge>,
    /// Ids of the nodes on the boundary, ascending.
    pub nodes: Vec<u32>,
}
