//! Which contacts exist: what a search has found near each other is not yet in contact.
//!
//! | rule | what it decides |
//! |------|-----------------|
//! | [`faces_against`] | whether a node can touch along a normal at all: a floor's node under the rim of a block touches its bottom, not its side |
//! | [`came_through`] | the face through which a node went in, where sides of two bodies are flush |
//! | [`reassign_face`], [`facing`] | the face that a node at a rim touches, where the nearest one is another |
//! | [`in_normal_cones`] | whether the normal of two edges lies in the normal cones of both |
//! | [`is_sharp`] | whether an edge is one: two lines of a mesh on flat faces do not touch, nodes do |
//! | [`covered_by_vertex_face`] | whether a node on a face is already the contact that two edges would be |
//! | [`is_same_contact`] | whether two contacts of a node are one |
//! | [`covered_by_coincident_node`] | whether two nodes that lie on each other need only one contact |
//! | [`is_second_end`] | whether two ends of bars see each other for the second time |
//! | [`depth_of_edges`] | how deep two crossed edges can be at most |
//!
//! Methods choose among these ([`super::selection`] for those that hold all contacts of an instant together); they bring
//! none of their own.

use super::closest_point::{self, Feature};
use super::crossing::StepPath;
use super::measure::{NO_DIRECTION, Normals, closest_on, unit};
use super::scene::{FacetKind, Scene};
use super::search::{EdgeEdge, VertexFace};
use crate::math::Vec3;

/// By how much one normal must be more opposed than another, as a cosine.
const CLEARLY: f64 = 0.1;
/// Share of a face below which nothing looks at it any more.
const DEEP: f64 = 0.1;
/// Round-off of a height after a projection, as a share of what counts as beside.
const FLUSH: f64 = 1e-6;
/// Cosine of the angle up to which two faces look the same way: 45°.
const SAME_WAY: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// How far a normal may lean over a face of its own edge, as a sine, where the two faces are level: curved surfaces are not
/// exactly convex. Nothing at a right angle.
const LEAN: f64 = 0.15;
/// The same for a normal in the plane of a face, where faces lie on each other: round-off does not decide.
const LEVEL: f64 = 1e-9;
/// How far it must at least point out of either body, as a cosine (of the sum of two normals).
const OUT: f64 = 0.05;

/// The face that a node near the surface of a solid came through, if it is not the nearest one: around the closest
/// point of `record`, one with the node in front at the start of the step and behind now, and the node above it or not
/// farther beside it than `beside` [m]. A node that was in contact with the face `known` before may have been behind
/// at the start too, if the face looks the same way. `now` are normals at the end of the step.
///
/// Where sides of two bodies are flush, a node that has gone in is nearer to the side, or even outside of it by a
/// hair, and the nearest feature would send it sideways or let it pass.
pub(crate) fn came_through(
    now: &Normals,
    motion: StepPath,
    record: &VertexFace,
    known: Option<u32>,
    beside: f64,
) -> Option<u32> {
    let scene = now.scene;
    let height = |face: u32, x: &[Vec3], n: &Vec3| {
        n.dot(&(x[record.node as usize] - x[scene.facets[face as usize].nodes[0] as usize]))
    };
    let touched = known.map(|face| now.of_facet(face));
    let in_front = |face: u32| {
        let before = unit(scene.facets[face as usize].area_vector(motion.start));
        height(face, motion.start, &before) >= -FLUSH * beside
            || touched.is_some_and(|n| n.dot(&now.of_facet(face)) > SAME_WAY)
    };
    if record.gap <= 0.0 && in_front(record.face) {
        return None; // it came through the nearest one
    }
    let body = scene.facets[record.face as usize].body;
    let y = motion.end[record.node as usize];
    let mut best: Option<(f64, u32)> = None;
    for corner in scene.facets[record.face as usize].corners() {
        for &face in scene.node_facets.of(*corner) {
            let facet = &scene.facets[face as usize];
            if face == record.face || facet.body != body || facet.corners().contains(&record.node) {
                continue;
            }
            let n = now.of_facet(face);
            let depth = -height(face, motion.end, &n);
            if depth <= 0.0 || depth >= best.map_or(f64::INFINITY, |b| b.0) || !in_front(face) {
                continue;
            }
            let above = closest_on(facet, motion.end, &(y + depth * n), record.node, face);
            if !above.degenerate && above.distance_squared <= beside * beside {
                best = Some((depth, face));
            }
        }
    }
    best.map(|b| b.1)
}

/// The face that a node at the rim of a solid looks at, where the nearest feature does not tell: the node is inside, or as
/// good as on an edge or a corner. Of the faces around the closest point, the one most opposed to the node's own surface,
/// if the node is above or below it or not farther beside it than `beside` [m], and if it is clearly more opposed than the
/// normal of `record`.
///
/// Where the sides of two bodies are flush, a corner on a corner would be sent off at an angle otherwise.
pub(crate) fn facing(normals: &Normals, record: &VertexFace, beside: f64) -> Option<VertexFace> {
    let (scene, x) = (normals.scene, normals.x);
    let body = scene.facets[record.face as usize].body;
    let own = scene.node_body[record.node as usize];
    let around = scene.node_facets.of(record.node).iter();
    let around = around.filter(|&&f| scene.facets[f as usize].body == own);
    let outward = unit(around.map(|&f| normals.of_facet(f)).sum());
    if outward == Vec3::zeros() || scene.bodies[body as usize].attributes.two_sided() {
        return None;
    }
    let y = x[record.node as usize];
    let mut best = (outward.dot(&record.normal) - CLEARLY, None);
    let near = &scene.facets[record.face as usize];
    for (corner, weight) in near.corners().iter().zip(&record.weights) {
        for &face in scene.node_facets.of(*corner) {
            let facet = &scene.facets[face as usize];
            if *weight == 0.0 || facet.body != body || facet.corners().contains(&record.node) {
                continue;
            }
            let n = normals.of_facet(face);
            let opposed = outward.dot(&n);
            if opposed >= best.0 - NO_DIRECTION {
                continue;
            }
            let height = n.dot(&(y - x[facet.nodes[0] as usize]));
            if height > beside || -height > DEEP * scene.facet_size[face as usize] {
                continue;
            }
            let hit = closest_on(facet, x, &(y - height * n), record.node, face);
            if !hit.degenerate && hit.distance_squared <= beside * beside {
                let gap = n.dot(&(y - hit.point)) - scene.offset(own, body);
                best = (opposed, Some((hit, n, gap)));
            }
        }
    }
    let (hit, normal, gap) = best.1?;
    Some(VertexFace {
        face: hit.face,
        feature: Feature::Face,
        xi: 0.0,
        eta: 0.0,
        weights: hit.weights,
        point: hit.point,
        distance_squared: (y - hit.point).norm_squared(),
        gap,
        normal,
        ..*record
    })
}

/// Does `n`, which points from edge `second` to edge `first`, part their bodies locally? It must lie in the normal
/// cones of both edges. Shells have none: what was found on its way counts.
pub(crate) fn in_normal_cones(normals: &Normals, first: u32, second: u32, n: &Vec3) -> bool {
    nearly_in_normal_cones(normals, first, second, n, 0.0)
}

/// The same where the normal may lean over a face by the sine `slack` more: for methods that come back to a contact in
/// every step and would see it come and go.
pub(crate) fn nearly_in_normal_cones(
    normals: &Normals,
    first: u32,
    second: u32,
    n: &Vec3,
    slack: f64,
) -> bool {
    let (scene, x) = (normals.scene, normals.x);
    let cone = |e: u32, out: Vec3| {
        let edge = &scene.edges[e as usize];
        if scene.bodies[edge.body as usize].attributes.two_sided() {
            return true;
        }
        let [a, b] = edge.nodes.map(|k| x[k as usize]);
        let along = unit(b - a);
        let faces = edge.facets.map(|f| scene.facets.get(f as usize));
        let known = |f: u32| (f as usize) < scene.facets.len();
        let [p, q] = edge.facets.map(|f| if known(f) { normals.of_facet(f) } else { Vec3::zeros() });
        let sum = p + q;
        let lean = if faces.contains(&None) { LEAN } else { LEAN * p.dot(&q).max(0.0) };
        for face in faces.into_iter().flatten() {
            let Some(&o) = face.corners().iter().find(|k| !edge.nodes.contains(k)) else { continue };
            let into = x[o as usize] - a;
            let into = unit(into - into.dot(&along) * along);
            if out.dot(&into) > lean + slack + LEVEL {
                return false;
            }
        }
        out.dot(&sum) > OUT
    };
    cone(first, -n) && cone(second, *n)
}

/// How deep two crossed edges lie in each other's bodies [m]: never more than the distance of the crossing point of one to
/// the faces around the other. Near a corner edges far below each other may cross although only a tip overlaps. Who is
/// interested in more than `least` alone hears of less as of any number below that.
pub(crate) fn depth_of_edges(scene: &Scene, x: &[Vec3], record: &EdgeEdge, least: f64) -> f64 {
    let [first, second] = [record.first, record.second].map(|e| &scene.edges[e as usize]);
    let [[a, b], [c, d]] = [first, second].map(|e| e.nodes.map(|k| x[k as usize]));
    let near = closest_point::edge_edge(&a, &b, &c, &d);
    let enough = least * least;
    let mut below = f64::INFINITY;
    for (point, edge) in [(&near.p, second), (&near.q, first)] {
        for &f in edge.nodes.iter().flat_map(|&k| scene.node_facets.of(k)) {
            if below < enough {
                break;
            }
            let facet = &scene.facets[f as usize];
            below = below.min(closest_on(facet, x, point, u32::MAX, f).distance_squared);
        }
    }
    below.sqrt().min(-record.gap)
}

/// Distance beside a face up to which a node counts as above it, as a share of the finest body's median edge.
const BESIDE: f64 = 1e-3;
/// Share of a face from its rim on that counts as rim.
const RIM: f64 = 0.1;
/// Cosine of the angle of its faces from which on an edge is flat.
pub(crate) const FLAT: f64 = 0.966;
/// Two edges say nothing new if an end of one is no farther away than they are, but for this share of the finest body's
/// median edge, along the same normal up to an angle of this cosine.
const AS_NEAR: f64 = 1e-3;
const SAME_SIDE: f64 = 0.9;
/// Contacts of one node with a body say the same thing if their normals agree within 1° (its cosine) and their points
/// within this share of the finest body's median edge.
const SAME_NORMAL: f64 = 0.999_847_7;
const SAME_POINT: f64 = 1e-9;

/// Weight of a corner from which on a node lies on it.
const ON_CORNER: f64 = 0.98;

/// The record as it counts: a node at a rim touches the face it looks at. `finest` is the median edge of the finest body [m].
pub(crate) fn reassign_face(normals: &Normals, record: &VertexFace, finest: f64) -> VertexFace {
    let facet = &normals.scene.facets[record.face as usize];
    let beside = BESIDE * finest;
    if facet.kind.corners() < 2 || record.gap > beside {
        return *record;
    }
    let from_rim = match (record.feature, facet.kind) {
        (Feature::Face, FacetKind::Quad) => 0.5 * (1.0 - record.xi.abs().max(record.eta.abs())),
        (Feature::Face, _) => facet.corners().iter().zip(&record.weights).fold(1.0, |m: f64, w| m.min(*w.1)),
        _ => 0.0,
    };
    if from_rim < RIM { facing(normals, record, beside).unwrap_or(*record) } else { *record }
}

/// Do the faces of an edge meet at an angle? The rim of an open surface is sharp.
pub(crate) fn is_sharp(normals: &Normals, edge: u32) -> bool {
    let facets = &normals.scene.facets;
    match normals.scene.edges[edge as usize].facets {
        [f, g] if (f as usize) < facets.len() && (g as usize) < facets.len() => {
            normals.of_facet(f).dot(&normals.of_facet(g)) < FLAT
        }
        _ => true,
    }
}

/// Is an end of one of two edges as near to the other body, and along the same normal? Then the edges say nothing new:
/// together the two would only share one force, and slowly. `of_node` are the contacts of a node with faces.
pub(crate) fn covered_by_vertex_face<'a, I: Iterator<Item = &'a VertexFace>>(
    scene: &Scene,
    record: &EdgeEdge,
    finest: f64,
    of_node: impl Fn(u32) -> I,
) -> bool {
    let [e, f] = [record.first, record.second].map(|e| &scene.edges[e as usize]);
    let covered = |k: u32, body: u32, normal: Vec3| {
        of_node(k).any(|r| {
            scene.facets[r.face as usize].body == body
                && r.normal.dot(&normal) > SAME_SIDE
                && r.gap <= record.gap + AS_NEAR * finest
        })
    };
    e.nodes.iter().any(|&k| covered(k, f.body, record.normal))
        || f.nodes.iter().any(|&k| covered(k, e.body, -record.normal))
}

/// Do two contacts of one node say the same thing?
pub(crate) fn is_same_contact(scene: &Scene, p: &VertexFace, q: &VertexFace, finest: f64) -> bool {
    scene.facets[p.face as usize].body == scene.facets[q.face as usize].body
        && p.normal.dot(&q.normal) > SAME_NORMAL
        && (p.point - q.point).norm() <= SAME_POINT * finest
}

/// The corner of its face on which a node lies, if it lies on one.
pub(crate) fn on_corner(scene: &Scene, record: &VertexFace) -> Option<u32> {
    let corners = scene.facets[record.face as usize].corners();
    corners.iter().zip(&record.weights).find(|(_, w)| **w > ON_CORNER).map(|(k, _)| *k)
}

/// Two nodes lie on each other: is `p` said by `q` already? Of the two the one with the larger gap says nothing new.
pub(crate) fn covered_by_coincident_node(scene: &Scene, p: &VertexFace, q: &VertexFace) -> bool {
    on_corner(scene, q) == Some(p.node)
        && p.normal.dot(&q.normal) < -SAME_NORMAL
        && (q.gap, q.node) < (p.gap, p.node)
}

/// Two ends of bars see each other, once is enough: is this the second time?
pub(crate) fn is_second_end(scene: &Scene, record: &VertexFace) -> bool {
    let is_end = |f: u32| scene.facets[f as usize].kind == FacetKind::Point;
    is_end(record.face)
        && scene.facets[record.face as usize].nodes[0] < record.node
        && scene.node_facets.of(record.node).iter().any(|&f| is_end(f))
}

/// A facet looks against a normal if the cosine of the two is below this: 96°.
pub(crate) const AGAINST: f64 = -0.1;

/// Does any facet around the node look against the contact's normal? A floor's node that lies under the rim of a block is
/// inside the block, and near its side: it touches the bottom.
pub(crate) fn faces_against(normals: &Normals, record: &VertexFace) -> bool {
    let scene = normals.scene;
    let two_sided = |f: u32| scene.bodies[scene.facets[f as usize].body as usize].attributes.two_sided();
    let mut around = scene.node_facets.of(record.node).iter();
    around.any(|&f| two_sided(f) || normals.of_facet(f).dot(&record.normal) < AGAINST)
}

#[cfg(test)]
mod tests;
