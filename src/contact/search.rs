//! What every search answers: the questions, the records, and which candidates survive.
//!
//! A search works in two stages. *Gathering* finds candidates: all pairs that may be within reach, and
//! possibly more. The *narrow* stage, the same for all searches, measures each one and keeps
//!
//! * of each node and each body the closest facet, the lowest one if several are equally close;
//! * beside it further facets of that body that rise out of the first (a concave corner): closest point
//!   in their interior, normals more than 10° from all kept so far, and `n₁·(c₂−c₁) > 0`,
//!   `n₂·(c₁−c₂) > 0` for the closest points c;
//! * of each pair of edges the nearest points, if both lie strictly inside.
//!
//! The answer depends on the positions and on nothing else: not on the search, its trees, its history or
//! the number of threads.
//!
//! **Sign.** `gap > 0` is open; `normal` points from the face to the node, from the second edge to the
//! first. Inside and outside of a solid come from the angle-weighted normal of the closest feature
//! (Bærentzen & Aanæs 2005). A node behind the rim of an open surface is beside it, not inside. A shell
//! has no inside: a node belongs to the side it was on before.
//!
//! Read by the methods; written by `three_stage`, `cells`, `classic` and `brute`.

use super::closest_point::{self, Feature};
use super::scene::{Facet, FacetKind, Scene};
use crate::math::Vec3;
use rayon::prelude::*;
use thiserror::Error;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Query {
    /// Pairs up to this gap are wanted [m].
    pub reach: f64,
    pub vertex_face: bool,
    pub edge_edge: bool,
    /// Candidates only: pairs of facets whose boxes are within reach.
    pub face_face: bool,
    pub pass: Pass,
    /// Deeper overlaps are taken for something seen from its far side and left out [m]; unset: half the
    /// smallest facet around the closest point.
    pub max_penetration: Option<f64>,
}

impl Query {
    /// Nodes on faces within `reach`, both ways.
    pub fn vertex_face(reach: f64) -> Query {
        Query {
            reach,
            vertex_face: true,
            edge_edge: false,
            face_face: false,
            pass: Pass::Double,
            max_penetration: None,
        }
    }

    /// Nodes on faces and edges on edges within `reach`.
    pub fn all(reach: f64) -> Query {
        Query { edge_edge: true, ..Query::vertex_face(reach) }
    }
}

/// Whose nodes are tested against whose faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Each body's nodes against the other's faces.
    Double,
    /// Nodes of the body with the smaller median edge (the lower one if equal) against faces of the other.
    Single,
}

/// Where the nodes are. With `end`, candidates are gathered for the straight way from `x` to `end`.
#[derive(Clone, Copy, Debug)]
pub struct Positions<'a> {
    pub x: &'a [Vec3],
    pub end: Option<&'a [Vec3]>,
}

impl<'a> Positions<'a> {
    pub fn now(x: &'a [Vec3]) -> Self {
        Positions { x, end: None }
    }

    pub fn swept(start: &'a [Vec3], end: &'a [Vec3]) -> Self {
        Positions { x: start, end: Some(end) }
    }
}

/// A node and the face it meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexFace {
    pub node: u32,
    pub face: u32,
    pub feature: Feature,
    /// Of a shell: the side of the face the node belongs to, along (1) or against (−1) its normal. Always
    /// 1 for solids.
    pub side: i8,
    /// Reference coordinates of the closest point: (ξ, η) of a quad in [−1, 1]², weights of the second
    /// and third corner of a triangle, the weight of the second corner of a segment.
    pub xi: f64,
    pub eta: f64,
    /// `point = Σ wₖ xₖ` over the corners; all zero for a plane.
    pub weights: [f64; 4],
    /// Closest point of the face [m].
    pub point: Vec3,
    /// [m²]
    pub distance_squared: f64,
    /// [m]
    pub gap: f64,
    pub normal: Vec3,
}

/// Two edges that cross, `first < second`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEdge {
    pub first: u32,
    pub second: u32,
    /// Parameters of the nearest points, from the first end (0) to the second (1).
    pub s: f64,
    pub t: f64,
    /// The nearest points [m].
    pub p: Vec3,
    pub q: Vec3,
    /// [m]
    pub gap: f64,
    pub normal: Vec3,
}

/// Two bodies whose boxes are within reach; the same one twice if it may touch itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BodyPair {
    pub a: u32,
    pub b: u32,
}

/// What a search did since its last call, and for how long [s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchStats {
    /// Boxes of bodies assigned to cells of the octree.
    pub membership_tests: u64,
    /// Pairs of bodies compared box by box.
    pub bodies_compared: u64,
    pub body_pairs: u64,
    /// Body pairs whose candidates of an earlier step still hold.
    pub body_pairs_kept: u64,
    pub trees_built: u64,
    pub trees_refitted: u64,
    /// Comparisons of two boxes of nodes, edges or faces.
    pub box_tests: u64,
    /// Pairs of leaves whose boxes are near.
    pub leaf_pairs: u64,
    /// Closest points computed.
    pub elementary_tests: u64,
    pub vertex_faces: u64,
    pub edge_edges: u64,
    /// Overlaps left out because they are deeper than allowed.
    pub too_deep: u64,
    pub build_seconds: f64,
    pub refit_seconds: f64,
    pub traverse_seconds: f64,
    pub narrow_seconds: f64,
}

impl SearchStats {
    fn each(&self, o: &SearchStats, count: impl Fn(u64, u64) -> u64, time: impl Fn(f64, f64) -> f64) -> Self {
        SearchStats {
            membership_tests: count(self.membership_tests, o.membership_tests),
            bodies_compared: count(self.bodies_compared, o.bodies_compared),
            body_pairs: count(self.body_pairs, o.body_pairs),
            body_pairs_kept: count(self.body_pairs_kept, o.body_pairs_kept),
            trees_built: count(self.trees_built, o.trees_built),
            trees_refitted: count(self.trees_refitted, o.trees_refitted),
            box_tests: count(self.box_tests, o.box_tests),
            leaf_pairs: count(self.leaf_pairs, o.leaf_pairs),
            elementary_tests: count(self.elementary_tests, o.elementary_tests),
            vertex_faces: count(self.vertex_faces, o.vertex_faces),
            edge_edges: count(self.edge_edges, o.edge_edges),
            too_deep: count(self.too_deep, o.too_deep),
            build_seconds: time(self.build_seconds, o.build_seconds),
            refit_seconds: time(self.refit_seconds, o.refit_seconds),
            traverse_seconds: time(self.traverse_seconds, o.traverse_seconds),
            narrow_seconds: time(self.narrow_seconds, o.narrow_seconds),
        }
    }

    /// Sums of everything.
    pub fn plus(&self, other: &SearchStats) -> SearchStats {
        self.each(other, |a, b| a + b, |a, b| a + b)
    }

    /// Everything times `factor`, counts rounded.
    pub fn times(&self, factor: f64) -> SearchStats {
        self.each(self, |a, _| (a as f64 * factor).round() as u64, |a, _| a * factor)
    }
}

/// Why a search gives no answer.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SearchError {
    #[error("node {node} of body `{body}` is nowhere (a coordinate is not finite); a smaller step helps if the run has grown without bound")]
    NotFinite { body: String, node: u32 },
    #[error("{found} positions for a scene of {expected} nodes")]
    Length { found: usize, expected: usize },
    #[error("a reach of {reach} finds nothing; it must be zero or more")]
    Reach { reach: f64 },
}

/// Candidate pairs by body pair, each kind in one array.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    pub groups: Vec<Group>,
    /// (node, facet)
    pub vertex_face: Vec<[u32; 2]>,
    /// (edge, edge)
    pub edge_edge: Vec<[u32; 2]>,
    /// (facet, facet)
    pub face_face: Vec<[u32; 2]>,
}

/// Part of an array of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub from: u32,
    pub to: u32,
}

impl Part {
    #[inline]
    pub fn of<'a>(&self, all: &'a [[u32; 2]]) -> &'a [[u32; 2]] {
        &all[self.from as usize..self.to as usize]
    }

    #[inline]
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }
}

/// The candidates between two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub a: u32,
    pub b: u32,
    pub vertex_face: Part,
    pub edge_edge: Part,
    pub face_face: Part,
}

impl Candidates {
    pub fn clear(&mut self) {
        self.groups.clear();
        self.vertex_face.clear();
        self.edge_edge.clear();
        self.face_face.clear();
    }

    /// Candidates in use, as (vertex–face, edge–edge, face–face).
    pub fn count(&self) -> (usize, usize, usize) {
        self.groups.iter().fold((0, 0, 0), |n, g| {
            (n.0 + g.vertex_face.len(), n.1 + g.edge_edge.len(), n.2 + g.face_face.len())
        })
    }

    pub fn memory_bytes(&self) -> usize {
        let pairs = self.vertex_face.capacity() + self.edge_edge.capacity() + self.face_face.capacity();
        pairs * size_of::<[u32; 2]>() + self.groups.capacity() * size_of::<Group>()
    }
}

/// A way to find all pairs of a synchronous state.
///
/// With reach d, no pair that the rules of the scene allow and whose gap is at most d in the given
/// positions (anywhere on the straight way to `end`, if given) is ever missing from the candidates.
pub trait PairSearch: Send {
    /// Finds the candidates.
    fn gather(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError>;

    /// Finds candidates at `x` and measures them. `before` is where the nodes were when the state was
    /// last known to be admissible; only shells ask for it.
    fn find(
        &mut self,
        scene: &Scene,
        x: &[Vec3],
        before: Option<&[Vec3]>,
        query: &Query,
    ) -> Result<(), SearchError>;

    fn candidates(&self) -> &Candidates;

    /// Sorted by (node, face).
    fn vertex_face(&self) -> &[VertexFace];

    /// Sorted by (first, second).
    fn edge_edge(&self) -> &[EdgeEdge];

    fn stats(&self) -> &SearchStats;
}

/// A way to find what is near one node at a time, in a set of boxes that change one at a time.
pub trait NodeSearch {
    fn insert_box(&mut self, id: u32, lo: [f64; 3], hi: [f64; 3]);

    /// Tells that box `id` is now this one.
    fn move_box(&mut self, id: u32, lo: [f64; 3], hi: [f64; 3]);

    /// Ids of boxes within `reach` of `x`, ascending; possibly a few more.
    fn query(&self, x: &[f64; 3], reach: f64, out: &mut Vec<u32>);
}

/// Refuses positions and questions no search can work with.
pub(super) fn check_query(scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError> {
    let expected = scene.node_body.len();
    for x in [Some(at.x), at.end].into_iter().flatten() {
        if x.len() != expected {
            return Err(SearchError::Length { found: x.len(), expected });
        }
    }
    if !(query.reach >= 0.0 && query.reach.is_finite()) {
        return Err(SearchError::Reach { reach: query.reach });
    }
    Ok(())
}

/// Names the first surface node without a place.
pub(super) fn first_lost_node(scene: &Scene, at: Positions<'_>) -> SearchError {
    let lost = |node: u32| {
        let x = |x: &[Vec3]| x[node as usize].iter().all(|v| v.is_finite());
        !(x(at.x) && at.end.is_none_or(x))
    };
    let facets = scene.facets.iter().flat_map(|f| f.nodes.iter().map(move |&k| (f.body, k)));
    let (body, node) = facets.filter(|&(_, k)| lost(k)).min_by_key(|&(_, k)| k).unwrap_or((0, 0));
    SearchError::NotFinite { body: scene.bodies[body as usize].name.clone(), node }
}

/// Which of two bodies gives nodes and which gives faces.
pub(super) fn passes(scene: &Scene, a: u32, b: u32, pass: Pass) -> [bool; 2] {
    let (p, q) = (&scene.bodies[a as usize], &scene.bodies[b as usize]);
    match pass {
        // A plane has no nodes to test; faces of an obstacle meet nodes of the others either way.
        Pass::Double => [true, a != b],
        Pass::Single if a == b => [true, false],
        // What is rigid is the master: it has no node to move.
        Pass::Single if p.attributes.rigid != q.attributes.rigid => [q.attributes.rigid, p.attributes.rigid],
        Pass::Single => {
            let first = p.median_edge <= q.median_edge;
            [first, !first]
        }
    }
}

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
        FacetKind::Point => {
            hit(*p(0), [1.0, 0.0, 0.0, 0.0], (y - p(0)).norm_squared(), Feature::Face, false)
        }
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
    order: Vec<u32>,
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
        self.chunks[..used].par_iter_mut().for_each(|chunk| {
            chunk.vertex_face.clear();
            chunk.edge_edge.clear();
            (chunk.tests, chunk.too_deep) = (0, 0);
            for g in &candidates.groups[chunk.groups.clone()] {
                let limit = query.reach + scene.offset(g.a, g.b);
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
                    for &[e, f] in g.edge_edge.of(&candidates.edge_edge) {
                        chunk.tests += 1;
                        match edge_edge(scene, x, before, query, e, f) {
                            Touch::Near(record) => chunk.edge_edge.push(record),
                            Touch::TooDeep => chunk.too_deep += 1,
                            Touch::None => {}
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
                + c.order.capacity() * size_of::<u32>()
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
pub(super) struct Ask<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    pub before: Option<&'a [Vec3]>,
    pub query: &'a Query,
    pub sides: &'a Sides,
}

/// Two distances count as equal when they differ by less than this share of the facet.
const TIE: f64 = 1e-12;
/// Below this share of the facet a distance gives no direction.
const NO_DIRECTION: f64 = 1e-9;
/// Cosine of the angle from which on a second facet is another one: 10°.
const OTHER: f64 = 0.984807753012208;

enum Touch<T> {
    Near(T),
    TooDeep,
    None,
}

impl Ask<'_> {
    /// Keeps, of the hits of two bodies, those of the rule at the head of this file; returns how many
    /// were too deep. `order` is scratch.
    pub fn choose(&self, hits: &mut Vec<Hit>, order: &mut Vec<u32>, out: &mut Vec<VertexFace>) -> u64 {
        let mut too_deep = 0;
        order.clear();
        order.extend(0..hits.len() as u32);
        order.sort_unstable_by_key(|&i| (hits[i as usize].node, hits[i as usize].face));
        // Searches that know duplicates (the same node and face found twice) are as good as others.
        order.dedup_by_key(|i| (hits[*i as usize].node, hits[*i as usize].face));
        let (mut from, total) = (0, order.len());
        while from < total {
            let node = hits[order[from] as usize].node;
            let mut to = from + 1;
            while to < total && hits[order[to] as usize].node == node {
                to += 1;
            }
            too_deep += self.choose_of_node(hits, &mut order[from..to], out);
            from = to;
        }
        hits.clear();
        too_deep
    }

    fn choose_of_node(&self, hits: &[Hit], of_node: &mut [u32], out: &mut Vec<VertexFace>) -> u64 {
        let at = |i: u32| &hits[i as usize];
        let least = of_node.iter().fold(f64::INFINITY, |m, &i| m.min(at(i).distance_squared)).sqrt();
        // Facets come in ascending order: the first of the closest is the lowest.
        let first = of_node.iter().position(|&i| {
            let size = self.scene.facet_size[at(i).face as usize];
            let tie = if size.is_finite() { TIE * size } else { 0.0 };
            at(i).distance_squared.sqrt() <= least + tie
        });
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
        for &i in of_node.iter().filter(|&&i| i != chosen) {
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
fn unit(v: Vec3) -> Vec3 {
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
        let runs = |k: &usize| edge.nodes.contains(&facet.nodes[*k]) && edge.nodes.contains(&facet.nodes[(k + 1) % 4]);
        let Some(k) = (0..4).find(runs) else { return Vec3::zeros() };
        let s = if facet.nodes[k] == edge.nodes[0] { s } else { 1.0 - s };
        let across = (1.0 - s) * (at(k + 3) - at(k)) + s * (at(k + 2) - at(k + 1));
        unit((at(k + 1) - at(k)).cross(&across))
    };
    unit(known.map(normal).sum())
}

/// Do the nearest points of the two lines lie inside both edges? Most pairs of edges end here.
#[inline]
fn may_cross(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> bool {
    let (u, v, r) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let (ur, vr) = (u.dot(&r), v.dot(&r));
    let det = uu * vv - uv * uv;
    let (s, t) = (uv * vr - vv * ur, uu * vr - uv * ur);
    // A little generous: the exact answer is given by the closest points.
    let least = -1e-3 * det;
    let most = det - least;
    (s >= least) & (s <= most) & (t >= least) & (t <= most)
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
    if !may_cross(a, b, c, d) {
        return Touch::None;
    }
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
        let size = |e: &super::scene::Edge| {
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
