//! What meets on the straight way from the start of a step to its end.
//!
//! Whether two features meet, and when, is asked of a test that never misses ([`super::inclusion`]). The pair of such a
//! crossing keeps weights, normal and side of the instant of impact, since at the end the node may be anywhere.

use super::closest_point::{self, Feature};
use super::inclusion;
use super::measure::{Normals, closest_on, unit};
use super::pair::{Kind, Pair, Side};
use super::places::Places;
use super::rules::in_normal_cones;
use super::scene::{Edge, Facet, FacetKind, Scene, split};
use super::search::{Candidates, Group};
use super::swept::{Differences, Path, Sweep};
use crate::math::Vec3;

/// Share of the gap at the start that is left at the time of a crossing: there the features are almost together, and
/// their sides can still be told.
const LEFT: f64 = 1e-3;

/// Start and end of a step.
#[derive(Clone, Copy)]
pub(crate) struct StepPath<'a> {
    pub start: &'a [Vec3],
    pub end: &'a [Vec3],
}

impl StepPath<'_> {
    fn path(&self, node: u32) -> Path {
        Path { from: self.start[node as usize], to: self.end[node as usize] }
    }
}

/// When a node and a face meet during a step, as a share of it: never too late, and `None` is proven. Nearer than
/// `separation` [m] counts as met, unless they started so: then half as near. A plane is met when the node ends behind it.
pub(crate) fn node_meets(
    scene: &Scene,
    motion: StepPath,
    node: u32,
    face: u32,
    separation: f64,
) -> Option<f64> {
    let facet = &scene.facets[face as usize];
    let p = motion.path(node);
    let corner = facet.nodes.map(|k| motion.path(k));
    let hull = matches!(facet.kind, FacetKind::Segment | FacetKind::Triangle | FacetKind::Quad);
    if hull && Differences::node(&p, corner.each_ref()).parted(separation) {
        return None;
    }
    let sweep = sweep(separation, || closest_on(facet, motion.start, &p.from, node, face).distance_squared);
    match facet.kind {
        FacetKind::Plane => {
            let height = p.to - motion.end[facet.nodes[0] as usize];
            (facet.area_vector(motion.end).dot(&height) < 0.0).then_some(1.0)
        }
        FacetKind::Quad => {
            let halves = split(facet.nodes).map(|half| {
                let [a, b, c] = half.map(|k| motion.path(k));
                inclusion::node_triangle(&p, [&a, &b, &c], &sweep)
            });
            halves.into_iter().flatten().reduce(f64::min)
        }
        FacetKind::Point => inclusion::node_node(&p, &corner[0], &sweep),
        FacetKind::Segment => inclusion::node_segment(&p, [&corner[0], &corner[1]], &sweep),
        FacetKind::Triangle => inclusion::node_triangle(&p, [&corner[0], &corner[1], &corner[2]], &sweep),
    }
}

/// When two edges meet during a step.
pub(crate) fn edges_meet(
    scene: &Scene,
    motion: StepPath,
    first: u32,
    second: u32,
    separation: f64,
) -> Option<f64> {
    let [ab, cd] = [first, second].map(|e| scene.edges[e as usize].nodes.map(|k| motion.path(k)));
    if Differences::edges(ab.each_ref(), cd.each_ref()).parted(separation) {
        return None;
    }
    let sweep = sweep(separation, || {
        closest_point::edge_edge(&ab[0].from, &ab[1].from, &cd[0].from, &cd[1].from).distance_squared
    });
    inclusion::edge_edge([&ab[0], &ab[1]], [&cd[0], &cd[1]], &sweep)
}

fn sweep(separation: f64, start: impl Fn() -> f64) -> Sweep {
    let min_separation = if separation > 0.0 { separation.min(0.5 * start().sqrt()) } else { 0.0 };
    Sweep { min_separation, keep: LEFT }
}

/// Who does not have to be told by his way: the features of a pair that touch at the start of a step are seen at its end,
/// if they are not too deep in each other by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touching {
    /// Not farther apart than this they touch [m].
    pub within: f64,
    /// Depth down to which an overlap is seen [m].
    pub seen: f64,
}

impl Touching {
    /// Everything is told by its way.
    pub(crate) const NOTHING: Touching = Touching { within: 0.0, seen: f64::INFINITY };
}

/// The crossing of a node and a face that meet at the share `time` of a step. Features that are `touching` are not for this
/// test; nor are nodes that come from behind the face of a solid, and planes, which nobody gets past.
pub(crate) fn node_crossing(
    at: &Places,
    motion: StepPath,
    node: u32,
    face: u32,
    time: f64,
    touching: Touching,
) -> Option<Pair> {
    let scene = at.scene;
    let facet = &scene.facets[face as usize];
    if facet.kind == FacetKind::Plane {
        return None;
    }
    let p = motion.path(node);
    let corner = facet.nodes.map(|k| motion.path(k));
    let body = &scene.bodies[facet.body as usize];
    let before = closest_on(facet, motion.start, &p.from, node, face);
    let touched = before.distance_squared <= touching.within.powi(2);
    // at the rim of a face a node may as well go past it
    let hidden = !body.attributes.two_sided() && before.feature == Feature::Face;
    if before.degenerate || touched && !(hidden && depth_below(facet, motion.end, &p.to) > touching.seen) {
        return None;
    }
    // the facet at that time, in a scene of its own four nodes
    let corners = corner.map(|c| c.at(time));
    let y = p.at(time);
    let local = Facet { nodes: [0, 1, 2, 3], ..*facet };
    let hit = closest_on(&local, &corners, &y, node, face);
    let outward = unit(local.area_vector(&corners));
    let height = (p.from - before.point).dot(&unit(facet.area_vector(motion.start)));
    // the sign of a height that is round-off says nothing
    let from_outside = touched || height >= 0.0;
    if !from_outside && !body.attributes.two_sided() {
        return None;
    }
    let side = if from_outside { Side::Front } else { Side::Back };
    let pair = at.node_pair(node, face, &hit.weights, hit.point, side.sign() * outward);
    // an obstacle's point stands where it is at the end of the step
    let place = (0..facet.kind.corners()).map(|k| hit.weights[k] * corner[k].to).sum();
    let pair = at_end(pair, if at.rigid(facet.body) { place } else { p.to });
    Some(Pair { side, through: true, met: Some(time), ..pair })
}

/// How far a point is below the plane of a facet [m].
fn depth_below(facet: &Facet, x: &[Vec3], y: &Vec3) -> f64 {
    unit(facet.area_vector(x)).dot(&(x[facet.nodes[0] as usize] - y))
}

/// The crossing of two edges that meet at the share `time` of a step. Where the start of the step may have overlapped
/// (`doubtful`) their common normal must part the bodies.
pub(crate) fn edge_crossing(
    at: &Places,
    motion: StepPath,
    first: u32,
    second: u32,
    time: f64,
    touching: Touching,
    doubtful: bool,
) -> Option<Pair> {
    let scene = at.scene;
    let (e, f) = (&scene.edges[first as usize], &scene.edges[second as usize]);
    let (ab, cd) = (e.nodes.map(|k| motion.path(k)), f.nodes.map(|k| motion.path(k)));
    let nearest = |t: f64| {
        let ([a, b], [c, d]) = (ab.map(|p| p.at(t)), cd.map(|p| p.at(t)));
        (closest_point::edge_edge(&a, &b, &c, &d), unit((b - a).cross(&(d - c))))
    };
    let (before, _) = nearest(0.0);
    let (hit, n) = nearest(time);
    if !hit.crossing || before.degenerate || before.distance_squared <= touching.within.powi(2) {
        return None;
    }
    // which side the first edge came from: that of the last instant before they met
    let n = if n.dot(&(hit.p - hit.q)) < 0.0 { -n } else { n };
    if doubtful && !in_normal_cones(&Normals::at(scene, at.x), first, second, &n) {
        return None;
    }
    let now = |edge: &Edge, s: f64| {
        let [a, b] = edge.nodes.map(|k| at.x[k as usize]);
        a + s * (b - a)
    };
    let pair = at.edge_pair([first, second], [hit.s, hit.t], [now(e, hit.s), now(f, hit.t)], n);
    let on = |path: &[Path; 2], s: f64| (1.0 - s) * path[0].to + s * path[1].to;
    let place = if at.rigid(f.body) { on(&cd, hit.t) } else { on(&ab, hit.s) };
    Some(Pair { met: Some(time), ..at_end(pair, place) })
}

/// The same pair with its outer point, if any, at `place`.
fn at_end(mut pair: Pair, place: Vec3) -> Pair {
    if let Some(outer) = &mut pair.outer {
        outer.position = place;
    }
    pair
}

/// A node and a face, or two edges, that may meet during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Candidate {
    NodeFace { node: u32, face: u32 },
    Edges { first: u32, second: u32 },
}

impl Candidate {
    /// When the two come nearer than `separation`.
    pub(crate) fn meets(&self, scene: &Scene, motion: StepPath, separation: f64) -> Option<f64> {
        match *self {
            Candidate::NodeFace { node, face } => node_meets(scene, motion, node, face, separation),
            Candidate::Edges { first, second } => edges_meet(scene, motion, first, second, separation),
        }
    }

    /// What the two stay apart during a step at least [m].
    pub(crate) fn stays_apart(&self, scene: &Scene, motion: StepPath) -> f64 {
        match *self {
            Candidate::NodeFace { node, face } => {
                let facet = &scene.facets[face as usize];
                if facet.kind == FacetKind::Plane {
                    return 0.0;
                }
                let (p, corner) = (motion.path(node), facet.nodes.map(|k| motion.path(k)));
                let corner = corner.each_ref();
                let towards = p.from - closest_on(facet, motion.start, &p.from, node, face).point;
                match facet.kind {
                    // the second node of a point is none of its corners
                    FacetKind::Point => Differences::node(&p, [corner[0]]).apart(&towards),
                    _ => Differences::node(&p, corner).apart(&towards),
                }
            }
            Candidate::Edges { first, second } => {
                let [ab, cd] = [first, second].map(|e| scene.edges[e as usize].nodes.map(|k| motion.path(k)));
                let near = closest_point::edge_edge(&ab[0].from, &ab[1].from, &cd[0].from, &cd[1].from);
                Differences::edges(ab.each_ref(), cd.each_ref()).apart(&(near.p - near.q))
            }
        }
    }

    /// Do a node and a face touch at the start of a step?
    fn touches(&self, scene: &Scene, motion: StepPath, within: f64) -> bool {
        match *self {
            Candidate::NodeFace { node, face } => {
                let (facet, y) = (&scene.facets[face as usize], &motion.start[node as usize]);
                closest_on(facet, motion.start, y, node, face).distance_squared <= within * within
            }
            Candidate::Edges { .. } => false,
        }
    }

    /// When the two come together on their way: those that touch at the start are together there.
    pub(crate) fn comes_to_touch(&self, scene: &Scene, motion: StepPath, within: f64) -> Option<f64> {
        if self.touches(scene, motion, within) { Some(0.0) } else { self.meets(scene, motion, within) }
    }

    /// Nodes and faces 0, edges 1, as [`Candidates::until`] counts.
    pub(crate) fn kind(&self) -> usize {
        usize::from(matches!(self, Candidate::Edges { .. }))
    }

    /// All nodes that have to do with it; some twice.
    pub(crate) fn nodes(&self, scene: &Scene) -> impl Iterator<Item = u32> {
        let nodes = match *self {
            Candidate::NodeFace { node, face } => {
                let facet = &scene.facets[face as usize];
                let [a, b, c, d] = facet.nodes;
                // the second node of a point, which says where its body is, is none of its corners
                if facet.kind == FacetKind::Point { [node, a, a, a, a] } else { [node, a, b, c, d] }
            }
            Candidate::Edges { first, second } => {
                let ([a, b], [c, d]) =
                    (scene.edges[first as usize].nodes, scene.edges[second as usize].nodes);
                [a, b, c, d, d]
            }
        };
        nodes.into_iter()
    }
}

/// Two features that meet, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub of: Candidate,
    pub time: f64,
}

impl Meeting {
    pub(crate) fn bodies(&self, scene: &Scene) -> [u32; 2] {
        match self.of {
            Candidate::NodeFace { node, face } => {
                [scene.node_body[node as usize], scene.facets[face as usize].body]
            }
            Candidate::Edges { first, second } => [first, second].map(|e| scene.edges[e as usize].body),
        }
    }

    /// The contact this is, if it has a normal and a side.
    pub(crate) fn crossing(
        &self,
        at: &Places,
        motion: StepPath,
        touching: Touching,
        doubtful: bool,
    ) -> Option<Pair> {
        match self.of {
            Candidate::NodeFace { node, face } => node_crossing(at, motion, node, face, self.time, touching),
            Candidate::Edges { first, second } => {
                edge_crossing(at, motion, first, second, self.time, touching, doubtful)
            }
        }
    }
}

/// Those of one group and their places in the lists of their kind.
pub(crate) fn of_group<'a>(
    all: &'a Candidates,
    group: &Group,
) -> impl Iterator<Item = (u32, Candidate)> + use<'a> {
    let nodes = (group.vertex_face.from..).zip(group.vertex_face.of(&all.vertex_face));
    let edges = (group.edge_edge.from..).zip(group.edge_edge.of(&all.edge_edge));
    nodes
        .map(|(place, &[node, face])| (place, Candidate::NodeFace { node, face }))
        .chain(edges.map(|(place, &[first, second])| (place, Candidate::Edges { first, second })))
}

/// Share of a step within which things meet at the same time.
const SAME_TIME: f64 = 1e-9;

/// Sorts crossings by time and keeps of each node and body the first.
pub(crate) fn in_order(list: &mut Vec<Pair>) {
    let group = |p: &Pair| match p.key.kind {
        Kind::EdgeEdge => (1, p.key.first, p.bodies[1], p.key.second),
        _ => (0, p.key.first, p.bodies[1], 0),
    };
    // what meets at the same time up to round-off goes by its numbers
    let time = |p: &Pair| (p.met.unwrap_or(1.0) / SAME_TIME).round() as i64;
    let by_time = |p: &Pair, q: &Pair| time(p).cmp(&time(q)).then(p.key.cmp(&q.key));
    list.sort_unstable_by(|p, q| group(p).cmp(&group(q)).then(by_time(p, q)));
    list.dedup_by_key(|p| group(p));
    list.sort_unstable_by(by_time);
}

#[cfg(test)]
mod tests;
