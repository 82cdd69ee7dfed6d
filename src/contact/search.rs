//! What every search is asked and what it answers.
//!
//! A search works in two stages. *Gathering* finds candidates: all pairs that may be within reach, and
//! possibly more. The second stage, the same for all searches and kept in `measure`, takes the distance
//! of each and chooses. The answer depends on the positions and on nothing else: not on the search, its
//! trees, its history or the number of threads.
//!
//! **Sign.** `gap > 0` is open; `normal` points from the face to the node, from the second edge to the
//! first.
//!
//! Read by the methods; written by `three_stage`, `cells`, `classic` and `brute`.

use super::closest_point::Feature;
use super::measure::Narrow;
use super::scene::{Body, Scene};
use crate::math::Vec3;
use carom_declare::words;
use std::time::Instant;
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
    /// Only what overlaps is wanted: nodes that are no more open than this [m], and edges that are not open at all. Others may be
    /// left out. Not for shells, whose sides are known by what is near.
    pub overlaps: Option<f64>,
    /// Edges whose faces meet at an angle of more than this cosine are flat, and two flat ones may be left out.
    pub flat: Option<f64>,
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
            overlaps: None,
            flat: None,
        }
    }

    /// Faces that are no farther apart than `reach`.
    pub fn face_face(reach: f64) -> Query {
        Query { vertex_face: false, face_face: true, ..Query::vertex_face(reach) }
    }

    /// Nodes on faces and edges on edges within `reach`.
    pub fn all(reach: f64) -> Query {
        Query { edge_edge: true, ..Query::vertex_face(reach) }
    }
}

words! {
    /// Whose nodes are tested against whose faces.
    pub enum Pass {
        /// Nodes of the body with the smaller median edge (the lower one if equal) against faces of the other; if one is rigid,
        /// those of the other in any case.
        Single = "single",
        /// Each body's nodes against the other's faces.
        Double = "double",
    }
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
    #[error(
        "node {node} of body `{body}` is nowhere (a coordinate is not finite); a smaller step helps if the run has grown without bound"
    )]
    NotFinite { body: String, node: u32 },
    #[error("{found} positions for a scene of {expected} nodes")]
    Length { found: usize, expected: usize },
    #[error("a reach of {reach} finds nothing; it must be zero or more")]
    Reach { reach: f64 },
    #[error(
        "there is no memory for more than {candidates} pairs of nodes, edges and faces that are near each other; fewer bodies or coarser surfaces help"
    )]
    Memory { candidates: usize },
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
    /// How far the bodies of each node and face, and of each two edges, may travel before these can meet, as their reader has
    /// found; zero of new ones. Kept by searches whose readers let candidates sleep, and empty in others.
    pub until: [Vec<f64>; 2],
}

/// Part of an array of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub from: u32,
    pub to: u32,
}

impl Part {
    pub(super) fn between(from: usize, to: usize) -> Part {
        Part { from: from as u32, to: to as u32 }
    }

    #[inline]
    pub fn of<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        &all[self.from as usize..self.to as usize]
    }

    #[inline]
    pub(super) fn of_mut<'a, T>(&self, all: &'a mut [T]) -> &'a mut [T] {
        &mut all[self.from as usize..self.to as usize]
    }

    #[inline]
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// The same part of an array that stands behind so many others.
    pub fn after(&self, others: u32) -> Part {
        Part { from: others + self.from, to: others + self.to }
    }
}

/// The candidates between two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    pub a: u32,
    pub b: u32,
    /// Pairs farther apart than this are not wanted [m]: the reach, and what the bodies are thick.
    pub limit: f64,
    /// How far the bodies may have come against each other since the candidates were gathered, all steps added up [m];
    /// infinite where nobody counts.
    pub travel: f64,
    /// All candidates of a node stand together.
    pub by_node: bool,
    /// None of the candidates can meet before the bodies have travelled this far, as their reader has found [m].
    pub soonest: f64,
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
        self.until.iter_mut().for_each(Vec::clear);
    }

    /// A group of nodes and faces, and of edges, `from` here to the end of the lists; none without candidates.
    pub(super) fn add_group(&mut self, of: &Group, from: [usize; 2]) {
        let vertex_face = Part::between(from[0], self.vertex_face.len());
        let edge_edge = Part::between(from[1], self.edge_edge.len());
        if vertex_face.len() + edge_edge.len() > 0 {
            self.groups.push(Group { vertex_face, edge_edge, face_face: Part::default(), ..*of });
        }
    }

    /// Nothing is known of new candidates; false if there is no memory to note that. Where nobody notes anything none is taken.
    #[must_use]
    pub(super) fn welcome(&mut self, noted: bool) -> bool {
        if !noted {
            self.until.iter_mut().for_each(Vec::clear);
            return true;
        }
        let counts = [self.vertex_face.len(), self.edge_edge.len()];
        self.until.iter_mut().zip(counts).all(|(until, count)| {
            let fits = until.try_reserve(count.saturating_sub(until.len())).is_ok();
            if fits {
                until.resize(count, 0.0);
            }
            fits
        })
    }

    /// [`Candidates::until`] of a candidate, nodes and faces (0) or edges (1); zero where nobody notes it.
    #[inline]
    pub(crate) fn until_of(&self, kind: usize, place: u32) -> f64 {
        self.until[kind].get(place as usize).copied().unwrap_or(0.0)
    }

    /// Lengths of the lists.
    pub(super) fn lengths(&self) -> [usize; 3] {
        [self.vertex_face.len(), self.edge_edge.len(), self.face_face.len()]
    }

    /// Makes room for `times` what came since the lists had these lengths: growing bit by bit would copy them as often. If there is
    /// none, those who need it will see.
    pub(super) fn expect(&mut self, before: [usize; 3], times: usize) {
        let lists = [&mut self.vertex_face, &mut self.edge_edge, &mut self.face_face];
        for (list, before) in lists.into_iter().zip(before) {
            let more = (list.len() - before) * times;
            let _ = list.try_reserve((before + more).saturating_sub(list.len()));
        }
    }

    /// Candidates in use, as (vertex–face, edge–edge, face–face).
    pub fn count(&self) -> (usize, usize, usize) {
        self.groups.iter().fold((0, 0, 0), |n, g| {
            (n.0 + g.vertex_face.len(), n.1 + g.edge_edge.len(), n.2 + g.face_face.len())
        })
    }

    pub fn memory_bytes(&self) -> usize {
        let pairs = self.vertex_face.capacity() + self.edge_edge.capacity() + self.face_face.capacity();
        let until = self.until[0].capacity() + self.until[1].capacity();
        pairs * size_of::<[u32; 2]>() + until * size_of::<f64>() + self.groups.capacity() * size_of::<Group>()
    }
}

/// What a search has found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub candidates: Candidates,
    pub narrow: Narrow,
    pub stats: SearchStats,
}

impl Findings {
    /// Measures all candidates.
    pub(super) fn measure(&mut self, scene: &Scene, x: &[Vec3], before: Option<&[Vec3]>, query: &Query) {
        let begin = Instant::now();
        self.narrow.run(scene, x, before, query, &self.candidates, &mut self.stats);
        self.stats.narrow_seconds = begin.elapsed().as_secs_f64();
    }
}

/// A way to find all pairs of a synchronous state.
///
/// With reach d, no pair that the rules of the scene allow and whose gap is at most d in the given
/// positions (anywhere on the straight way to `end`, if given) is ever missing from the candidates.
pub trait PairSearch: Send {
    /// Finds the candidates.
    fn gather(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError>;

    /// Of the last call.
    fn findings(&self) -> &Findings;

    fn findings_mut(&mut self) -> &mut Findings;

    /// Finds candidates at `x` and measures them. `before` is where the nodes were when the state was
    /// last known to be admissible; only shells ask for it.
    fn find(
        &mut self,
        scene: &Scene,
        x: &[Vec3],
        before: Option<&[Vec3]>,
        query: &Query,
    ) -> Result<(), SearchError> {
        self.gather(scene, Positions::now(x), query)?;
        self.findings_mut().measure(scene, x, before, query);
        Ok(())
    }

    fn candidates(&self) -> &Candidates {
        &self.findings().candidates
    }

    /// Sorted by (node, face).
    fn vertex_face(&self) -> &[VertexFace] {
        &self.findings().narrow.vertex_face
    }

    /// Sorted by (first, second).
    fn edge_edge(&self) -> &[EdgeEdge] {
        &self.findings().narrow.edge_edge
    }

    fn stats(&self) -> &SearchStats {
        &self.findings().stats
    }
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

/// Refuses positions in which a surface node is nowhere.
pub(super) fn check_finite(scene: &Scene, at: Positions<'_>) -> Result<(), SearchError> {
    let finite = |x: &[Vec3]| {
        let mut nodes = scene.facets.iter().flat_map(|f| f.nodes);
        nodes.all(|k| x[k as usize].iter().all(|v| v.is_finite()))
    };
    if finite(at.x) && at.end.is_none_or(finite) { Ok(()) } else { Err(first_lost_node(scene, at)) }
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
pub(crate) fn passes(scene: &Scene, a: u32, b: u32, pass: Pass) -> [bool; 2] {
    let (p, q) = (&scene.bodies[a as usize], &scene.bodies[b as usize]);
    match pass {
        // A plane has no nodes to test; faces of an obstacle meet nodes of the others either way.
        Pass::Double => [true, a != b],
        Pass::Single if a == b => [true, false],
        // Nodes that move look at what is rigid in any case; its own look too where they are finer.
        Pass::Single if p.attributes.rigid() != q.attributes.rigid() => {
            let gives_nodes =
                |a: &Body, b: &Body| !a.attributes.rigid() || !a.plane && a.median_edge < b.median_edge;
            [gives_nodes(p, q), gives_nodes(q, p)]
        }
        Pass::Single => {
            let first = p.median_edge <= q.median_edge;
            [first, !first]
        }
    }
}

/// The first of `from`, 2·`from`, 4·`from`, … that is at least `least`; the larger of both where doubling leads nowhere.
pub fn doubled_to(from: f64, least: f64) -> f64 {
    let mut reach = from;
    if !(from > 0.0 && least.is_finite()) {
        return from.max(least);
    }
    while reach < least {
        reach *= 2.0;
    }
    reach
}
