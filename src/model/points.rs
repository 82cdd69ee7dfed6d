//! Where loads act and probes look. A point of a solid is its node; a point of a shell is the one of its smooth surface that belongs to
//! the node, and hangs on the nodes around.

use crate::element::Block;
use crate::math::Mat3;

/// How the points of a shell that belong to `nodes` hang on its nodes (model-wide ids): the sum of their displacements is `Σ T uₖ` over
/// the list, and a force on each of them pushes node k by `Tᵀ f`. None where points are nodes. `blocks` are those of one body.
pub fn surface_points(blocks: &[Box<dyn Block>], nodes: &[u32]) -> Option<Vec<(u32, Mat3)>> {
    let (surface, first) = blocks.iter().find_map(|b| b.surface())?;
    let (limit, turns) = (surface.limit(), surface.turns());
    let terms = nodes.iter().flat_map(|&n| &limit[n as usize - first]);
    Some(terms.map(|t| (t.node + first as u32, t.weight * turns[t.image as usize])).collect())
}
