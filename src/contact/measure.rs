//! From candidates to records: distances, normals, and which candidates survive.
//!
//! Of the candidates within reach are kept
//!
//! * of each node and each body the closest facet, the lowest one if several are equally close;
//! * beside it further facets of that body that rise out of the first (a concave corner): closest point
//!   in their interior, normals more than 10° from all kept so far, and `n₁·(c₂−c₁) > 0`,
//!   `n₂·(c₁−c₂) > 0` for the closest points c;
//! * of each pair of edges the nearest points, if both lie strictly inside.
//!
//! Inside and outside of a solid come from the angle-weighted normal of the closest feature (Bærentzen &
//! Aanæs 2005). A node behind the rim of an open surface is beside it, not inside. A shell has no inside:
//! a node belongs to the side it was on before. Overlaps deeper than half the facets around are taken for
//! something seen from its far side and left out.
//!
//! Used by all searches of this room.

use super::closest_point::{self, Feature};
use super::scene::{Edge, Facet, FacetKind, Scene};
use super::search::{Candidates, EdgeEdge, Query, SearchStats, VertexFace};
use crate::math::Vec3;
use rayon::prelude::*;

/// Closest point of one facet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub node: u32,
    pub face: u32,
    pub feature: Feature,
    pub degenerate: bool,
    pub weights: [f64; 4],
    pub point: Vec3,
    pub distance_squared: f64,
}

/// Closest point of any facet to `y`.
#[inline]
pub(super) fn closest_on(facet: &Facet, x: &[Vec3], y: &Vec3, node: u32, face: u32) -> Hit {
    let p = |k: usize| &x[facet.nodes[k] as usize];
    let hit = |point, weights, distance_squared, feature, degenerate| Hit {
        node,
        face,
        feature,
        degenerate,
        weights,
        point,
        distance_squared,
    };
    match facet.kind {
        FacetKind::Triangle => {
            let c = closest_point::tri3(y, p(0), p(1), p(2));
            let [a, b, d] = c.weights;
            hit(c.point, [a, b, d, 0.0], c.distance_squared, c.feature, c.degenerate)
        }
        FacetKind::Quad => {
            let c = closest_point::quad4(y, &[*p(0), *p(1), *p(2), *p(3)]);
            hit(c.point, c.weights, c.distance_squared, c.feature, c.degenerate)
        }
        FacetKind::Segment => {
            let c = closest_point::seg2(y, p(0), p(1));
            hit(c.point, [c.weights[0], c.weights[1], 0.0, 0.0], c.distance_squared, c.feature, c.degenerate)
        }
        FacetKind::Point => hit(*p(0), [1.0, 0.0, 0.0, 0.0], (y - p(0)).norm_squared(), Feature::Face, false),
        FacetKind::Plane => {
            let n = (p(1) - p(0)).normalize();
            let height = n.dot(&(y - p(0)));
            // Nothing beneath a plane is out of its reach; only the height above it counts as distance.
            let above = height.max(0.0);
            hit(y - height * n, [0.0; 4], above * above, Feature::Face, false)
        }
    }
}

/// Buffers of one part of the narrow stage.
#[derive(Clone, Debug, Default)]
struct Chunk {
    groups: std::ops::Range<usize>,
    hits: Vec<Hit>,
    order: Vec<u64>,
    vertex_face: Vec<VertexFace>,
    edge_edge: Vec<EdgeEdge>,
    tests: u64,
    too_deep: u64,
}

/// The narrow stage: from candidates to records.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    chunks: Vec<Chunk>,
    keys: Vec<(u64, u32, u32)>,
    pub vertex_face: Vec<VertexFace>,
    pub edge_edge: Vec<EdgeEdge>,
    /// The sides of shells that nodes are known to be on; part of a checkpoint.
    pub sides: Sides,
    /// Measure every candidate, without a look at the box of the facet first.
    pub no_pretest: bool,
}

impl Narrow {
    pub fn new(pretest: bool) -> Narrow {
        Narrow { no_pretest: !pretest, ..Narrow::default() }
    }
}

/// Candidates in one piece of parallel work.
const PIECE: usize = 4096;

impl Narrow {
    /// Measures all candidates and writes the records in canonical order.
    pub fn run(
        &mut self,
        scene: &Scene,
        x: &[Vec3],
        before: Option<&[Vec3]>,
        query: &Query,
        candidates: &Candidates,
        stats: &mut SearchStats,
    ) {
        // Pieces of whole groups, cut by the candidates alone.
        let mut used = 0;
        let mut start = 0;
        let mut load = 0;
        for (i, g) in candidates.groups.iter().enumerate() {
            load += g.vertex_face.len() + g.edge_edge.len();
            if load >= PIECE || i + 1 == candidates.groups.len() {
                if used == self.chunks.len() {
                    self.chunks.push(Chunk::default());
                }
                self.chunks[used].groups = start..i + 1;
                (used, start, load) = (used + 1, i + 1, 0);
            }
        }
        let (sides, pretest) = (&self.sides, !self.no_pretest);
        let arch = pulp::Arch::new();
        self.chunks[..used].par_iter_mut().for_each(|chunk| {
            chunk.vertex_face.clear();
            chunk.edge_edge.clear();
            (chunk.tests, chunk.too_deep) = (0, 0);
            for g in &candidates.groups[chunk.groups.clone()] {
                let limit = g.limit;
                chunk.hits.clear();
                if query.vertex_face {
                    let limit_squared = limit * limit;
                    for &[node, face] in g.vertex_face.of(&candidates.vertex_face) {
                        if pretest && beyond(scene, x, node, face, limit) {
                            continue;
                        }
                        chunk.tests += 1;
                        let facet = &scene.facets[face as usize];
                        let hit = closest_on(facet, x, &x[node as usize], node, face);
                        if hit.distance_squared <= limit_squared {
                            chunk.hits.push(hit);
                        }
                    }
                    let ask = Ask { scene, x, before, query, sides };
                    chunk.too_deep += ask.choose(&mut chunk.hits, &mut chunk.order, &mut chunk.vertex_face);
                }
                if query.edge_edge {
                    let pairs = g.edge_edge.of(&candidates.edge_edge);
                    chunk.tests += pairs.len() as u64;
                    for some in pairs.chunks(LANES) {
                        let mut left = arch.dispatch(|| may_cross(scene, x, some, limit));
                        while left != 0 {
                            let [e, f] = some[left.trailing_zeros() as usize];
                            left &= left - 1;
                            match edge_edge(scene, x, before, query, e, f) {
                                Touch::Near(record) => chunk.edge_edge.push(record),
                                Touch::TooDeep => chunk.too_deep += 1,
                                Touch::None => {}
                            }
                        }
                    }
                }
            }
        });
        for chunk in &self.chunks[..used] {
            stats.elementary_tests += chunk.tests;
            stats.too_deep += chunk.too_deep;
        }
        self.collect(used, stats);
        self.sides.remember(scene, &self.vertex_face);
    }

    /// Brings the records of all pieces into canonical order.
    fn collect(&mut self, used: usize, stats: &mut SearchStats) {
        let Narrow { chunks, keys, vertex_face, edge_edge, .. } = self;
        let chunks = &chunks[..used];
        let key = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);

        keys.clear();
        vertex_face.clear();
        for (c, chunk) in chunks.iter().enumerate() {
            let each = chunk.vertex_face.iter().enumerate();
            keys.extend(each.map(|(i, r)| (key(r.node, r.face), c as u32, i as u32)));
        }
        keys.sort_unstable();
        vertex_face.extend(keys.iter().map(|&(_, c, i)| chunks[c as usize].vertex_face[i as usize]));
        vertex_face.dedup_by_key(|r| (r.node, r.face));

        keys.clear();
        edge_edge.clear();
        for (c, chunk) in chunks.iter().enumerate() {
            let each = chunk.edge_edge.iter().enumerate();
            keys.extend(each.map(|(i, r)| (key(r.first, r.second), c as u32, i as u32)));
        }
        keys.sort_unstable();
        edge_edge.extend(keys.iter().map(|&(_, c, i)| chunks[c as usize].edge_edge[i as usize]));
        edge_edge.dedup_by_key(|r| (r.first, r.second));

        stats.vertex_faces = vertex_face.len() as u64;
        stats.edge_edges = edge_edge.len() as u64;
    }

    pub fn memory_bytes(&self) -> usize {
        let chunk = |c: &Chunk| {
            c.hits.capacity() * size_of::<Hit>()
                + c.order.capacity() * size_of::<u64>()
                + c.vertex_face.capacity() * size_of::<VertexFace>()
                + c.edge_edge.capacity() * size_of::<EdgeEdge>()
        };
        self.chunks.iter().map(chunk).sum::<usize>()
            + self.keys.capacity() * size_of::<(u64, u32, u32)>()
            + self.vertex_face.capacity() * size_of::<VertexFace>()
            + self.edge_edge.capacity() * size_of::<EdgeEdge>()
            + (self.sides.known.capacity() + self.sides.next.capacity()) * size_of::<(u64, i8)>()
    }
}

/// Is the node farther than `limit` from the box of the facet? Cheaper than the closest point, and many
/// candidates that live through several steps are.
#[inline]
fn beyond(scene: &Scene, x: &[Vec3], node: u32, face: u32, limit: f64) -> bool {
    let facet = &scene.facets[face as usize];
    if facet.kind == FacetKind::Plane {
        return false;
    }
    let y = &x[node as usize];
    let (mut lo, mut hi) = (x[facet.nodes[0] as usize], x[facet.nodes[0] as usize]);
    for &k in &facet.nodes[1..facet.kind.corners().max(1)] {
        let p = &x[k as usize];
        for i in 0..3 {
            lo[i] = if p[i] < lo[i] { p[i] } else { lo[i] };
            hi[i] = if p[i] > hi[i] { p[i] } else { hi[i] };
        }
    }
    // A little wider than `limit`: the distance is measured with rounding, and whether a pair belongs
    // to the answer must not depend on who asks.
    let size = (0..3).fold(limit, |m, i| m.max(hi[i].abs()).max(lo[i].abs()).max(y[i].abs()));
    let wide = limit + 1e-14 * size;
    (0..3).any(|i| y[i] < lo[i] - wide || y[i] > hi[i] + wide)
}

/// The side of a shell each node was last seen on, by (node, face).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// Sorted by key.
    pub known: Vec<(u64, i8)>,
    next: Vec<(u64, i8)>,
}

impl Sides {
    #[inline]
    fn of(&self, node: u32, face: u32) -> Option<i8> {
        let key = u64::from(node) << 32 | u64::from(face);
        self.known.binary_search_by_key(&key, |s| s.0).ok().map(|i| self.known[i].1)
    }

    /// Keeps what the records say (they are sorted); a pair out of reach is forgotten.
    fn remember(&mut self, scene: &Scene, records: &[VertexFace]) {
        let shell = |r: &&VertexFace| {
            let body = scene.facets[r.face as usize].body;
            scene.bodies[body as usize].attributes.two_sided
        };
        self.next.clear();
        let key = |r: &VertexFace| u64::from(r.node) << 32 | u64::from(r.face);
        self.next.extend(records.iter().filter(shell).map(|r| (key(r), r.side)));
        std::mem::swap(&mut self.known, &mut self.next);
    }
}

/// What is needed to choose among hits.
struct Ask<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    pub before: Option<&'a [Vec3]>,
    pub query: &'a Query,
    pub sides: &'a Sides,
}

/// Two distances count as equal when they differ by less than this share of the facet.
const TIE: f64 = 1e-12;
/// Below this share of the facet a distance gives no direction.
pub(super) const NO_DIRECTION: f64 = 1e-9;
/// Cosine of the angle from which on a second facet is another one: 10°.
const OTHER: f64 = 0.984807753012208;

enum Touch<T> {
    Near(T),
    TooDeep,
    None,
}

impl Ask<'_> {
    /// Keeps, of the hits of two bodies, those of the rules at the head of this file; returns how many
    /// were too deep. `order` is scratch.
    pub fn choose(&self, hits: &mut Vec<Hit>, order: &mut Vec<u64>, out: &mut Vec<VertexFace>) -> u64 {
        let mut too_deep = 0;
        order.clear();
        order.extend(hits.iter().enumerate().map(|(i, h)| u64::from(h.node) << 32 | i as u64));
        order.sort_unstable();
        for of_node in order.chunk_by_mut(|p, q| p >> 32 == q >> 32) {
            too_deep += self.choose_of_node(hits, of_node, out);
        }
        hits.clear();
        too_deep
    }

    /// Chooses among the hits of one node on one body; the low halves of `of_node` are their places.
    fn choose_of_node(&self, hits: &[Hit], of_node: &mut [u64], out: &mut Vec<VertexFace>) -> u64 {
        let at = |i: u64| &hits[i as u32 as usize];
        let least = of_node.iter().fold(f64::INFINITY, |m, &i| m.min(at(i).distance_squared)).sqrt();
        let tied = |i: u64| {
            let size = self.scene.facet_size[at(i).face as usize];
            let tie = if size.is_finite() { TIE * size } else { 0.0 };
            at(i).distance_squared.sqrt() <= least + tie
        };
        let first = (0..of_node.len()).filter(|&k| tied(of_node[k])).min_by_key(|&k| at(of_node[k]).face);
        let Some(first) = first else { return 0 };
        let chosen = of_node[first];
        let start = out.len();
        let closest = match self.record(at(chosen)) {
            Touch::Near(record) => {
                if record.gap <= self.query.reach {
                    out.push(record);
                }
                record
            }
            Touch::TooDeep => return 1,
            Touch::None => return 0,
        };
        if of_node.len() == 1 || out.len() == start {
            return 0;
        }
        // Others by distance, then facet.
        of_node.sort_unstable_by(|&i, &j| {
            let (p, q) = (at(i), at(j));
            p.distance_squared.total_cmp(&q.distance_squared).then(p.face.cmp(&q.face))
        });
        let mut too_deep = 0;
        for &i in of_node.iter().filter(|&&i| at(i).face != at(chosen).face) {
            let hit = at(i);
            if hit.feature != Feature::Face || hit.degenerate {
                continue;
            }
            let n = f64::from(closest.side) * self.facet_normal(hit.face);
            let rises = out[start..].iter().all(|kept| {
                kept.normal.dot(&n) < OTHER
                    && kept.normal.dot(&(hit.point - kept.point)) > 0.0
                    && n.dot(&(kept.point - hit.point)) > 0.0
            });
            if !rises {
                continue;
            }
            match self.record(hit) {
                Touch::Near(record) if record.gap <= self.query.reach => out.push(record),
                Touch::TooDeep => too_deep += 1,
                _ => {}
            }
        }
        too_deep
    }

    /// Normal, gap and side of one hit.
    fn record(&self, hit: &Hit) -> Touch<VertexFace> {
        let facet = &self.scene.facets[hit.face as usize];
        let shell = self.scene.bodies[facet.body as usize].attributes.two_sided;
        let d = self.x[hit.node as usize] - hit.point;
        let distance = d.norm();
        let outward = match hit.feature {
            Feature::Face if facet.kind == FacetKind::Quad => self.quad_normal(facet, hit),
            Feature::Face => self.facet_normal(hit.face),
            feature => feature_normal(self.scene, self.x, hit.face, feature, &hit.weights),
        };
        // Which side of the surface the node is on now, and which it belongs to.
        let now: f64 = if d.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let rim = hit.feature != Feature::Face && self.scene.on_rim(hit.face, hit.feature);
        let side = if shell { self.side(hit, now) } else { 1.0 };
        let sign = if rim { 1.0 } else { now * side };
        if rim && !shell && now < 0.0 {
            return Touch::None;
        }
        let size = self.scene.facet_size[hit.face as usize];
        let size = if size.is_finite() { size } else { 0.0 };
        let normal = match hit.feature {
            Feature::Face => side * outward,
            _ if distance > NO_DIRECTION * size => sign / distance * d,
            _ => side * outward,
        };
        let body = self.scene.node_body[hit.node as usize];
        let gap = sign * distance - self.scene.offset(body, facet.body);
        if gap < 0.0 && !shell {
            let deepest = match self.query.max_penetration {
                Some(depth) => depth,
                None => 0.5 * self.scene.local_size(hit.face, hit.feature),
            };
            if -gap > deepest {
                return Touch::TooDeep;
            }
        }
        let [xi, eta] = match facet.kind {
            FacetKind::Quad => {
                let [a, b, c, d] = hit.weights;
                [(b + c) - (a + d), (c + d) - (a + b)]
            }
            FacetKind::Triangle => [hit.weights[1], hit.weights[2]],
            FacetKind::Segment => [hit.weights[1], 0.0],
            _ => [0.0, 0.0],
        };
        Touch::Near(VertexFace {
            node: hit.node,
            face: hit.face,
            feature: hit.feature,
            side: side as i8,
            xi,
            eta,
            weights: hit.weights,
            point: hit.point,
            distance_squared: distance * distance,
            gap,
            normal,
        })
    }

    /// The side of a shell a node belongs to: the remembered one, else the one it was on before.
    fn side(&self, hit: &Hit, now: f64) -> f64 {
        if let Some(side) = self.sides.of(hit.node, hit.face) {
            return f64::from(side);
        }
        let Some(before) = self.before else { return now };
        let facet = &self.scene.facets[hit.face as usize];
        let y = &before[hit.node as usize];
        let old = closest_on(facet, before, y, hit.node, hit.face);
        let outward = feature_normal(self.scene, before, hit.face, old.feature, &old.weights);
        if (y - old.point).dot(&outward) < 0.0 { -1.0 } else { 1.0 }
    }

    #[inline]
    fn facet_normal(&self, face: u32) -> Vec3 {
        unit(self.scene.facets[face as usize].area_vector(self.x))
    }

    /// Normal of the bilinear face at the closest point.
    fn quad_normal(&self, facet: &Facet, hit: &Hit) -> Vec3 {
        let p = facet.nodes.map(|k| self.x[k as usize]);
        let [a, b, c, d] = hit.weights;
        let along = (b + a) * (p[1] - p[0]) + (c + d) * (p[2] - p[3]);
        let across = (a + d) * (p[3] - p[0]) + (b + c) * (p[2] - p[1]);
        unit(along.cross(&across))
    }
}

/// A unit vector, or zero if there is no direction.
#[inline]
pub(super) fn unit(v: Vec3) -> Vec3 {
    let length = v.norm();
    if length > 0.0 { v / length } else { v }
}

/// Outward normal of a feature of a facet: its own, the mean over the facets at an edge, or weighted by
/// their angles at a corner.
///
/// `weights` tell where on an edge: the normal of a warped quad varies along it.
pub fn feature_normal(scene: &Scene, x: &[Vec3], face: u32, feature: Feature, weights: &[f64; 4]) -> Vec3 {
    let facet = &scene.facets[face as usize];
    let own = |f: u32| unit(scene.facets[f as usize].area_vector(x));
    match (facet.kind, feature) {
        (FacetKind::Triangle | FacetKind::Quad, Feature::Edge(k)) => {
            let (edge, k) = (scene.facet_edges[face as usize][k as usize], k as usize);
            let next = (k + 1) % facet.kind.corners();
            let ascending = facet.nodes[k] < facet.nodes[next];
            edge_normal(scene, x, edge, weights[if ascending { next } else { k }])
        }
        (FacetKind::Triangle | FacetKind::Quad, Feature::Vertex(k)) => {
            let node = facet.nodes[k as usize];
            let mut sum = Vec3::zeros();
            for &f in scene.node_facets.of_owner(node) {
                let g = &scene.facets[f as usize];
                if g.body != facet.body {
                    continue;
                }
                let corners = g.corners();
                let Some(at) = corners.iter().position(|&c| c == node) else { continue };
                let p = |i: usize| x[corners[i % corners.len()] as usize];
                let (u, v) = (p(at + 1) - p(at), p(at + corners.len() - 1) - p(at));
                let cross = u.cross(&v);
                let angle = cross.norm().atan2(u.dot(&v));
                // The plane of the corner itself: a warped quad has another normal elsewhere.
                sum += angle * unit(cross);
            }
            unit(sum)
        }
        (FacetKind::Segment, Feature::Vertex(k)) => {
            let facets = scene.node_facets.of_owner(facet.nodes[k as usize]).iter();
            let sum = facets.filter(|&&f| scene.facets[f as usize].body == facet.body).map(|&f| own(f)).sum();
            unit(sum)
        }
        _ => own(face),
    }
}

/// Mean of the normals of the facets at an edge, at the share `s` of the way to its second node.
pub fn edge_normal(scene: &Scene, x: &[Vec3], edge: u32, s: f64) -> Vec3 {
    let edge = &scene.edges[edge as usize];
    let known = edge.facets.iter().filter(|&&f| (f as usize) < scene.facets.len());
    let normal = |&f: &u32| {
        let facet = &scene.facets[f as usize];
        if facet.kind != FacetKind::Quad {
            return unit(facet.area_vector(x));
        }
        let at = |k: usize| x[facet.nodes[k % 4] as usize];
        // The corner from which the facet runs along the edge, and the share of the way from there.
        let runs = |k: &usize| {
            edge.nodes.contains(&facet.nodes[*k]) && edge.nodes.contains(&facet.nodes[(k + 1) % 4])
        };
        let Some(k) = (0..4).find(runs) else { return Vec3::zeros() };
        let s = if facet.nodes[k] == edge.nodes[0] { s } else { 1.0 - s };
        let across = (1.0 - s) * (at(k + 3) - at(k)) + s * (at(k + 2) - at(k + 1));
        unit((at(k + 1) - at(k)).cross(&across))
    };
    unit(known.map(normal).sum())
}

#[inline(always)]
fn dot(p: [f64; 3], q: [f64; 3]) -> f64 {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
}

/// Pairs of edges looked at together.
const LANES: usize = 8;

/// Which of these pairs of edges may cross within `limit`? Bit l for pair l; most pairs end here.
///
/// ```text
/// u = b − a   v = d − c   r = a − c      det = |u × v|²
/// s = ((u·v)(v·r) − (v·v)(u·r)) / det    t = ((u·u)(v·r) − (u·v)(u·r)) / det    distance = |r·(u × v)| / √det
/// ```
///
/// Generous by far more than round-off where the edges are not parallel: the answer itself is given by
/// the closest points.
#[inline(always)]
fn may_cross(scene: &Scene, x: &[Vec3], pairs: &[[u32; 2]], limit: f64) -> u32 {
    const GENEROUS: f64 = 1e-3;
    let mut p = [[[0.0; LANES]; 3]; 4];
    for (l, &[e, f]) in pairs.iter().enumerate().take(LANES) {
        let (e, f) = (scene.edges[e as usize].nodes, scene.edges[f as usize].nodes);
        for (corner, node) in p.iter_mut().zip([e[0], e[1], f[0], f[1]]) {
            let at = &x[node as usize];
            (corner[0][l], corner[1][l], corner[2][l]) = (at.x, at.y, at.z);
        }
    }
    let [a, b, c, d] = &p;
    let mut bits = 0;
    for l in 0..LANES {
        // Spelt out: a closure that is not inlined would leave the vector unit.
        let u = [b[0][l] - a[0][l], b[1][l] - a[1][l], b[2][l] - a[2][l]];
        let v = [d[0][l] - c[0][l], d[1][l] - c[1][l], d[2][l] - c[2][l]];
        let r = [a[0][l] - c[0][l], a[1][l] - c[1][l], a[2][l] - c[2][l]];
        let (uu, uv, vv, rr) = (dot(u, u), dot(u, v), dot(v, v), dot(r, r));
        let (ur, vr) = (dot(u, r), dot(v, r));
        let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let det = uu * vv - uv * uv;
        let (s, t, height) = (uv * vr - vv * ur, uu * vr - uv * ur, dot(r, n));
        let (least, most) = (-GENEROUS * det, (1.0 + GENEROUS) * det);
        let near = height * height <= (limit * limit * (1.0 + 1e-6) + 1e-12 * rr) * det;
        bits |= u32::from((s >= least) & (s <= most) & (t >= least) & (t <= most) & near) << l;
    }
    bits & ((1u32 << pairs.len().min(LANES)) - 1)
}

/// Nearest points of two edges, `e < f`, if they cross within reach.
#[inline]
fn edge_edge(
    scene: &Scene,
    x: &[Vec3],
    before: Option<&[Vec3]>,
    query: &Query,
    e: u32,
    f: u32,
) -> Touch<EdgeEdge> {
    let (first, second) = (&scene.edges[e as usize], &scene.edges[f as usize]);
    let at = |k: u32| &x[k as usize];
    let [a, b] = first.nodes.map(at);
    let [c, d] = second.nodes.map(at);
    let near = closest_point::edge_edge(a, b, c, d);
    let offset = scene.offset(first.body, second.body);
    let limit = query.reach + offset;
    if !near.crossing || near.distance_squared > limit * limit {
        return Touch::None;
    }
    let direction = unit((b - a).cross(&(d - c)));
    let gap = near.p - near.q;
    let shell = |body: u32| scene.bodies[body as usize].attributes.two_sided;
    let two_sided = shell(first.body) || shell(second.body);
    let outward = if two_sided {
        // No inside: the first edge stays on the side of the second where it was.
        match before {
            Some(x) => {
                let at = |k: u32| &x[k as usize];
                let ([a, b], [c, d]) = (first.nodes.map(at), second.nodes.map(at));
                let was = closest_point::edge_edge(a, b, c, d);
                let old = unit((b - a).cross(&(d - c)));
                if old.dot(&(was.p - was.q)) < 0.0 { -direction } else { direction }
            }
            None => gap,
        }
    } else {
        edge_normal(scene, x, f, near.t) - edge_normal(scene, x, e, near.s)
    };
    let towards = direction.dot(&outward);
    let towards = if towards == 0.0 { direction.dot(&gap) } else { towards };
    let normal = if towards < 0.0 { -direction } else { direction };
    let gap = normal.dot(&gap) - offset;
    if gap < 0.0 && !two_sided {
        let size = |e: &Edge| {
            let known = e.facets.iter().filter(|&&f| (f as usize) < scene.facets.len());
            known.fold(f64::INFINITY, |s, &f| s.min(scene.facet_size[f as usize]))
        };
        let deepest = query.max_penetration.unwrap_or(0.5 * size(first).min(size(second)));
        if -gap > deepest {
            return Touch::TooDeep;
        }
    }
    Touch::Near(EdgeEdge { first: e, second: f, s: near.s, t: near.t, p: near.p, q: near.q, gap, normal })
}
