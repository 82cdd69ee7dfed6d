//! What touches: from the records of a search, or from the crossings of a step, to pairs a response can use.
//!
//! A [`Touching`] names two features; its [`Pair`] is measured anew at the positions of the moment, because a
//! response to one contact moves the nodes of the next.
//!
//! A *crossing* is different. It was found on the straight way from the start of a step to its end; weights, normal
//! and side are those of the instant of impact and stay frozen, since at the end the node may be anywhere.
//!
//! Two edges count only if their common normal parts the bodies locally: near sharp corners edges cross in
//! projection while neither body is inside the other.
//!
//! **Sign.** `gap > 0` open; normals from the face to the node, from the second edge to the first. Where a rigid
//! obstacle takes part it is the outer point, and the normal points away from it.
//!
//! Read by the methods that answer contacts one by one.

use super::closest_point::{self, Feature};
use super::inclusion;
use super::measure::{NO_DIRECTION, closest_on, feature_normal, unit};
use super::obstacle::Pose;
use super::pair::{Outer, Pair};
use super::scene::{Edge, FacetKind, Scene};
use super::search::{EdgeEdge, VertexFace};
use super::swept::{Path, Sweep};
use crate::math::Vec3;

/// Two features that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Features {
    NodeFace {
        node: u32,
        face: u32,
        /// Of a shell: along (1) or against (−1) the normal of the face. Always 1 for solids.
        side: f64,
        /// The node came through this face, whatever is nearer now: the normal is that of the face.
        through: bool,
    },
    Edges {
        first: u32,
        second: u32,
        /// About which way the common normal points.
        towards: Vec3,
    },
}

/// A contact of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    pub features: Features,
    /// Bodies of the first and the second feature.
    pub bodies: [u32; 2],
    /// When they met, as a share of the step; 1 if they were found at its end.
    pub time: f64,
    /// Of a crossing: frozen at its time.
    pub crossing: Option<Pair>,
}

/// Where nodes and obstacles are.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    /// Of the obstacles, which are the last bodies of the scene.
    pub poses: &'a [Pose],
}

impl Touching {
    pub fn of_record(scene: &Scene, r: &VertexFace) -> Touching {
        let bodies = [scene.node_body[r.node as usize], scene.facets[r.face as usize].body];
        let side = f64::from(r.side);
        let features = Features::NodeFace { node: r.node, face: r.face, side, through: false };
        Touching { features, bodies, time: 1.0, crossing: None }
    }

    pub fn of_edges(scene: &Scene, r: &EdgeEdge) -> Touching {
        let bodies = [r.first, r.second].map(|e| scene.edges[e as usize].body);
        let features = Features::Edges { first: r.first, second: r.second, towards: r.normal };
        Touching { features, bodies, time: 1.0, crossing: None }
    }

    /// The pair at positions `at`, with its gap. None if it has no normal there.
    pub fn pair(&self, at: &Places) -> Option<Pair> {
        if let Some(frozen) = self.crossing {
            return Some(frozen.measured(at.x));
        }
        match self.features {
            Features::NodeFace { node, face, side, through } => at.node_face(node, face, side, through),
            Features::Edges { first, second, towards } => at.edges(first, second, &towards),
        }
    }

    /// The same pair with the points that were opposite to each other before the first feature slid by `slip` [m] along
    /// the second, if they lie in the same features; its gap is that of these points. Between soft bodies only.
    pub fn before_sliding(&self, at: &Places, pair: &Pair, slip: &Vec3) -> Option<Pair> {
        if pair.outer.is_some() {
            return None;
        }
        let n = pair.normal;
        let same = match self.features {
            Features::NodeFace { node, face, .. } => {
                let facet = &at.scene.facets[face as usize];
                let y = at.x[node as usize] - slip;
                let hit = closest_on(facet, at.x, &y, node, face);
                if hit.degenerate || hit.feature != Feature::Face {
                    return None;
                }
                at.node_pair(node, face, &hit.weights, hit.point, n)
            }
            Features::Edges { first, second, .. } => {
                let [a, b] = at.scene.edges[first as usize].nodes.map(|k| at.x[k as usize] - slip);
                let [c, d] = at.scene.edges[second as usize].nodes.map(|k| at.x[k as usize]);
                let near = closest_point::edge_edge(&a, &b, &c, &d);
                if !near.crossing || near.degenerate {
                    return None;
                }
                at.edge_pair(first, second, near.s, near.t, n)
            }
        };
        let gap = n.dot(&same.gap_vector(at.x)) - at.scene.offset(self.bodies[0], self.bodies[1]);
        Some(same.with_gap(gap))
    }
}

impl Places<'_> {
    /// Velocity of a rigid body at a point [m/s].
    fn velocity(&self, body: u32, at: &Vec3) -> Vec3 {
        let soft = self.scene.bodies.len() - self.poses.len();
        self.poses.get((body as usize).wrapping_sub(soft)).map_or(Vec3::zeros(), |pose| pose.velocity_at(at))
    }

    fn rigid(&self, body: u32) -> bool {
        self.scene.bodies[body as usize].attributes.rigid
    }

    /// Node on face: normal of the face where the closest point is inside it, else the line to the closest point.
    fn node_face(&self, node: u32, face: u32, side: f64, through: bool) -> Option<Pair> {
        let facet = &self.scene.facets[face as usize];
        let y = self.x[node as usize];
        let hit = closest_on(facet, self.x, &y, node, face);
        if hit.degenerate {
            return None;
        }
        let feature = if through { Feature::Face } else { hit.feature };
        let outward = feature_normal(self.scene, self.x, face, feature, &hit.weights);
        let d = y - hit.point;
        let inside = side * d.dot(&outward) < 0.0;
        let (normal, gap) = if feature == Feature::Face {
            (side * outward, side * d.dot(&outward))
        } else {
            let rim = self.scene.on_rim(face, hit.feature);
            let sign = if inside && !rim { -1.0 } else { 1.0 };
            let (distance, size) = (d.norm(), self.scene.facet_size[face as usize]);
            let straight = distance > NO_DIRECTION * size;
            (if straight { sign / distance * d } else { side * outward }, sign * distance)
        };
        let body = self.scene.node_body[node as usize];
        let gap = gap - self.scene.offset(body, facet.body);
        Some(self.node_pair(node, face, &hit.weights, hit.point, normal).with_gap(gap))
    }

    /// Node on face with given weights, whoever of the two is rigid.
    fn node_pair(&self, node: u32, face: u32, weights: &[f64; 4], point: Vec3, normal: Vec3) -> Pair {
        let facet = &self.scene.facets[face as usize];
        let body = self.scene.node_body[node as usize];
        if self.rigid(facet.body) {
            let outer = Outer { position: point, velocity: self.velocity(facet.body, &point) };
            return Pair::node_obstacle(node, face, outer, normal);
        }
        let [a, b, c, d] = facet.nodes;
        let [p, q, r, s] = *weights;
        if self.rigid(body) {
            let position = self.x[node as usize];
            let outer = Outer { position, velocity: self.velocity(body, &position) };
            let on = [(a, p), (b, q), (c, r), (d, s)];
            return Pair::obstacle_facet(node, face, &on[..facet.kind.corners()], outer, -normal);
        }
        match facet.kind {
            FacetKind::Point | FacetKind::Plane => Pair::node_node(node, a, normal),
            FacetKind::Segment => Pair::node_segment(node, face, [a, b], [p, q], normal),
            FacetKind::Triangle => Pair::node_triangle(node, face, [a, b, c], [p, q, r], normal),
            FacetKind::Quad => Pair::node_quad(node, face, facet.nodes, *weights, normal),
        }
    }

    fn edges(&self, first: u32, second: u32, towards: &Vec3) -> Option<Pair> {
        let [a, b] = self.scene.edges[first as usize].nodes.map(|k| self.x[k as usize]);
        let [c, d] = self.scene.edges[second as usize].nodes.map(|k| self.x[k as usize]);
        let near = closest_point::edge_edge(&a, &b, &c, &d);
        if !near.crossing || near.degenerate {
            return None;
        }
        let n = unit((b - a).cross(&(d - c)));
        let n = if n.dot(towards) < 0.0 { -n } else { n };
        let bodies = [first, second].map(|e| self.scene.edges[e as usize].body);
        let gap = n.dot(&(near.p - near.q)) - self.scene.offset(bodies[0], bodies[1]);
        Some(self.edge_pair(first, second, near.s, near.t, n).with_gap(gap))
    }

    fn edge_pair(&self, first: u32, second: u32, s: f64, t: f64, n: Vec3) -> Pair {
        let (e, f) = (&self.scene.edges[first as usize], &self.scene.edges[second as usize]);
        let on = |edge: &Edge, s: f64| {
            let [a, b] = edge.nodes.map(|k| self.x[k as usize]);
            let position = a + s * (b - a);
            Outer { position, velocity: self.velocity(edge.body, &position) }
        };
        if self.rigid(f.body) {
            return Pair::edge_obstacle([first, second], e.nodes, s, on(f, t), n);
        }
        if self.rigid(e.body) {
            return Pair::edge_obstacle([first, second], f.nodes, t, on(e, s), -n);
        }
        Pair::edge_edge(first, second, [e.nodes[0], e.nodes[1], f.nodes[0], f.nodes[1]], s, t, n)
    }
}

/// The face that a node near the surface of a solid came through, if it is not the nearest one: around the closest
/// point of `record`, one with the node in front at the start of the step and behind now, and the node above it or not
/// farther beside it than `beside` [m]. A node that was in contact with the face `known` before may have been behind
/// at the start too, if the face looks the same way.
///
/// Where sides of two bodies are flush, a node that has gone in is nearer to the side, or even outside of it by a
/// hair, and the nearest feature would send it sideways or let it pass.
pub fn came_through(
    scene: &Scene,
    motion: Motion,
    record: &VertexFace,
    known: Option<u32>,
    beside: f64,
) -> Option<u32> {
    let normal = |face: u32, x: &[Vec3]| unit(scene.facets[face as usize].area_vector(x));
    let height = |face: u32, x: &[Vec3], n: &Vec3| {
        n.dot(&(x[record.node as usize] - x[scene.facets[face as usize].nodes[0] as usize]))
    };
    let touched = known.map(|face| normal(face, motion.end));
    let in_front = |face: u32| {
        height(face, motion.start, &normal(face, motion.start)) >= -FLUSH * beside
            || touched.is_some_and(|n| n.dot(&normal(face, motion.end)) > SAME_WAY)
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
            let n = normal(face, motion.end);
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
pub fn facing(scene: &Scene, x: &[Vec3], record: &VertexFace, beside: f64) -> Option<VertexFace> {
    let body = scene.facets[record.face as usize].body;
    let own = scene.node_body[record.node as usize];
    let around = scene.node_facets.of(record.node).iter().map(|&f| &scene.facets[f as usize]);
    let looks = unit(around.filter(|f| f.body == own).map(|f| unit(f.area_vector(x))).sum());
    if looks == Vec3::zeros() || scene.bodies[body as usize].attributes.two_sided {
        return None;
    }
    let y = x[record.node as usize];
    let mut best = (looks.dot(&record.normal) - CLEARLY, None);
    let near = &scene.facets[record.face as usize];
    for (corner, weight) in near.corners().iter().zip(&record.weights) {
        for &face in scene.node_facets.of(*corner) {
            let facet = &scene.facets[face as usize];
            if *weight == 0.0 || facet.body != body || facet.corners().contains(&record.node) {
                continue;
            }
            let n = unit(facet.area_vector(x));
            let opposed = looks.dot(&n);
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
    let VertexFace { node, side, .. } = *record;
    let (weights, point) = (hit.weights, hit.point);
    let distance_squared = (y - point).norm_squared();
    let face = hit.face;
    Some(VertexFace {
        node,
        face,
        feature: Feature::Face,
        side,
        xi: 0.0,
        eta: 0.0,
        weights,
        point,
        distance_squared,
        gap,
        normal,
    })
}

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
/// How far it must at least point out of either body, as a cosine (of the sum of two normals).
const OUT: f64 = 0.05;

/// Does `n`, which points from edge `second` to edge `first`, part their bodies locally? It must lie in the normal
/// cones of both edges. Shells have none: what was found on its way counts.
pub fn parts_bodies(scene: &Scene, x: &[Vec3], first: u32, second: u32, n: &Vec3) -> bool {
    nearly_parts_bodies(scene, x, first, second, n, 0.0)
}

/// The same where the normal may lean over a face by the sine `slack` more: for methods that come back to a contact in
/// every step and would see it come and go.
pub fn nearly_parts_bodies(scene: &Scene, x: &[Vec3], first: u32, second: u32, n: &Vec3, slack: f64) -> bool {
    let cone = |e: u32, out: Vec3| {
        let edge = &scene.edges[e as usize];
        if scene.bodies[edge.body as usize].attributes.two_sided {
            return true;
        }
        let [a, b] = edge.nodes.map(|k| x[k as usize]);
        let along = unit(b - a);
        let faces = edge.facets.map(|f| scene.facets.get(f as usize));
        let normals = faces.map(|f| f.map_or(Vec3::zeros(), |f| unit(f.area_vector(x))));
        let sum = normals[0] + normals[1];
        let lean = if faces.contains(&None) { LEAN } else { LEAN * normals[0].dot(&normals[1]).max(0.0) };
        for face in faces.into_iter().flatten() {
            let Some(&o) = face.corners().iter().find(|k| !edge.nodes.contains(k)) else { continue };
            let into = x[o as usize] - a;
            let into = unit(into - into.dot(&along) * along);
            if out.dot(&into) > lean + slack {
                return false;
            }
        }
        out.dot(&sum) > OUT
    };
    cone(first, -n) && cone(second, *n)
}

/// How deep two crossed edges lie in each other's bodies [m]: never more than the distance of the crossing point of one to
/// the faces around the other. Near a corner edges far below each other may cross although only a tip overlaps.
pub fn depth_of_edges(scene: &Scene, x: &[Vec3], record: &EdgeEdge) -> f64 {
    let [first, second] = [record.first, record.second].map(|e| &scene.edges[e as usize]);
    let [[a, b], [c, d]] = [first, second].map(|e| e.nodes.map(|k| x[k as usize]));
    let near = closest_point::edge_edge(&a, &b, &c, &d);
    let below = |point: &Vec3, edge: &Edge| {
        let around = edge.nodes.iter().flat_map(|&k| scene.node_facets.of(k));
        around
            .map(|&f| closest_on(&scene.facets[f as usize], x, point, u32::MAX, f).distance_squared)
            .fold(f64::INFINITY, f64::min)
    };
    let below = below(&near.p, second).min(below(&near.q, first)).sqrt();
    below.min(-record.gap)
}

/// Share of the gap at the start that is left at the time of a crossing: there the features are almost together, and
/// their sides can still be told.
const LEFT: f64 = 1e-3;

/// Start and end of a step.
#[derive(Clone, Copy)]
pub struct Motion<'a> {
    pub start: &'a [Vec3],
    pub end: &'a [Vec3],
}

impl Motion<'_> {
    fn path(&self, node: u32) -> Path {
        Path { from: self.start[node as usize], to: self.end[node as usize] }
    }
}

/// When a node and a face meet during a step, as a share of it: never too late, and `None` is proven. Nearer than
/// `separation` [m] counts as met, unless they started so: then half as near. A plane is met when the node ends behind it.
pub fn node_meets(scene: &Scene, motion: Motion, node: u32, face: u32, separation: f64) -> Option<f64> {
    let facet = &scene.facets[face as usize];
    let p = motion.path(node);
    let corner = facet.nodes.map(|k| motion.path(k));
    let sweep = sweep(separation, || closest_on(facet, motion.start, &p.from, node, face).distance_squared);
    match facet.kind {
        FacetKind::Plane => {
            let height = p.to - motion.end[facet.nodes[0] as usize];
            (facet.area_vector(motion.end).dot(&height) < 0.0).then_some(1.0)
        }
        FacetKind::Quad => None,
        FacetKind::Point => inclusion::node_node(&p, &corner[0], &sweep),
        FacetKind::Segment => inclusion::node_segment(&p, [&corner[0], &corner[1]], &sweep),
        FacetKind::Triangle => inclusion::node_triangle(&p, [&corner[0], &corner[1], &corner[2]], &sweep),
    }
}

/// When two edges meet during a step.
pub fn edges_meet(scene: &Scene, motion: Motion, first: u32, second: u32, separation: f64) -> Option<f64> {
    let [ab, cd] = [first, second].map(|e| scene.edges[e as usize].nodes.map(|k| motion.path(k)));
    let sweep = sweep(separation, || {
        closest_point::edge_edge(&ab[0].from, &ab[1].from, &cd[0].from, &cd[1].from).distance_squared
    });
    inclusion::edge_edge([&ab[0], &ab[1]], [&cd[0], &cd[1]], &sweep)
}

fn sweep(separation: f64, start: impl Fn() -> f64) -> Sweep {
    let min_separation = if separation > 0.0 { separation.min(0.5 * start().sqrt()) } else { 0.0 };
    Sweep { min_separation, keep: LEFT }
}

/// The crossing of a node and a face that meet at the share `time` of a step. Features not farther apart than `touch` at
/// the start have touched before and are not for this test; nor are nodes that come from behind the face of a solid, and
/// planes, which nobody gets past.
pub fn node_crossing(
    at: &Places,
    motion: Motion,
    node: u32,
    face: u32,
    time: f64,
    touch: f64,
) -> Option<Touching> {
    let scene = at.scene;
    let facet = &scene.facets[face as usize];
    if facet.kind == FacetKind::Plane {
        return None;
    }
    let p = motion.path(node);
    let corner = facet.nodes.map(|k| motion.path(k));
    let before = closest_on(facet, motion.start, &p.from, node, face);
    if before.degenerate || before.distance_squared <= touch * touch {
        return None;
    }
    // the facet at that time, in a scene of its own four nodes
    let corners = corner.map(|c| c.at(time));
    let y = p.at(time);
    let local = super::scene::Facet { nodes: [0, 1, 2, 3], ..*facet };
    let hit = closest_on(&local, &corners, &y, node, face);
    let outward = unit(local.area_vector(&corners));
    let from_outside = (p.from - before.point).dot(&unit(facet.area_vector(motion.start))) >= 0.0;
    let body = &scene.bodies[facet.body as usize];
    if !from_outside && !body.attributes.two_sided {
        return None;
    }
    let side = if from_outside { 1.0 } else { -1.0 };
    let pair = at.node_pair(node, face, &hit.weights, hit.point, side * outward);
    // an obstacle's point stands where it is at the end of the step
    let place = (0..facet.kind.corners()).map(|k| hit.weights[k] * corner[k].to).sum();
    let pair = at_end(pair, if at.rigid(facet.body) { place } else { p.to });
    Some(Touching {
        features: Features::NodeFace { node, face, side, through: true },
        bodies: [scene.node_body[node as usize], facet.body],
        time,
        crossing: Some(pair),
    })
}

/// The crossing of two edges that meet at the share `time` of a step. Where the start of the step may have overlapped
/// (`doubtful`) their common normal must part the bodies.
pub fn edge_crossing(
    at: &Places,
    motion: Motion,
    first: u32,
    second: u32,
    time: f64,
    touch: f64,
    doubtful: bool,
) -> Option<Touching> {
    let scene = at.scene;
    let (e, f) = (&scene.edges[first as usize], &scene.edges[second as usize]);
    let (ab, cd) = (e.nodes.map(|k| motion.path(k)), f.nodes.map(|k| motion.path(k)));
    let nearest = |t: f64| {
        let ([a, b], [c, d]) = (ab.map(|p| p.at(t)), cd.map(|p| p.at(t)));
        (closest_point::edge_edge(&a, &b, &c, &d), unit((b - a).cross(&(d - c))))
    };
    let (before, _) = nearest(0.0);
    let (hit, n) = nearest(time);
    if !hit.crossing || before.degenerate || before.distance_squared <= touch * touch {
        return None;
    }
    // which side the first edge came from: that of the last instant before they met
    let n = if n.dot(&(hit.p - hit.q)) < 0.0 { -n } else { n };
    if doubtful && !parts_bodies(scene, at.x, first, second, &n) {
        return None;
    }
    let pair = at.edge_pair(first, second, hit.s, hit.t, n);
    let on = |path: &[Path; 2], s: f64| (1.0 - s) * path[0].to + s * path[1].to;
    let place = if at.rigid(f.body) { on(&cd, hit.t) } else { on(&ab, hit.s) };
    Some(Touching {
        features: Features::Edges { first, second, towards: n },
        bodies: [e.body, f.body],
        time,
        crossing: Some(at_end(pair, place)),
    })
}

/// The same pair with its outer point, if any, at `place`.
fn at_end(mut pair: Pair, place: Vec3) -> Pair {
    if let Some(outer) = &mut pair.outer {
        outer.position = place;
    }
    pair
}
