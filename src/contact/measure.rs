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
//! a node belongs to the side it was on before, also when it slides on to a neighbouring facet; beyond the rim it
//! belongs to none and may come back on either side. Overlaps deeper than half the facets around are taken for
//! something seen from its far side and left out.
//!
//! The work goes in three passes. A `sieve` lets through what may survive; most candidates are boxes that are
//! near while what they hold is not. What is left is put in canonical order, as keys of eight bytes. Then it
//! is measured, once, and the records are written where they stay.
//!
//! Used by all searches of this room.

mod choose;
mod edges;
mod normals;
mod quads;
mod sieve;

pub(super) use choose::NO_DIRECTION;
pub(super) use normals::unit;
pub(crate) use normals::{Normals, feature_normal};

use super::closest_point::{self, Feature};
use super::pieces;
use super::scene::{Facet, FacetKind, Scene};
use super::search::{Candidates, EdgeEdge, Part, Query, SearchStats, VertexFace};
use crate::math::Vec3;
use crate::math::lane;
use choose::Chooser;
use edges::{EdgeChooser, MeasureEdges};
use normals::{OfEdges, OfFacets};
use rayon::prelude::*;
use sieve::key;
use std::ops::Range;

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

/// Some candidates of one pair of bodies.
#[derive(Clone, Copy, Debug)]
struct Load {
    group: u32,
    vertex_face: Part,
    edge_edge: Part,
}

/// Buffers of one part of the first pass.
#[derive(Clone, Debug, Default)]
struct Sifted {
    loads: Range<usize>,
    vertex_face: Vec<u64>,
    edge_edge: Vec<u64>,
    /// How near the nearest came that was let go because it is open, load by load [m].
    apart: Vec<f64>,
    /// Pairs of edges of which one is not flat.
    bent: Vec<[u32; 2]>,
    buffers: Box<sieve::SieveBuffers>,
}

/// Buffers of one part of the last pass.
#[derive(Clone, Debug)]
struct Measured<T> {
    keys: Range<usize>,
    hits: Vec<Hit>,
    records: Vec<T>,
    /// Bodies of the pairs that were.
    too_deep: Vec<[u32; 2]>,
}

impl<T> Default for Measured<T> {
    fn default() -> Self {
        Measured { keys: 0..0, hits: Vec::new(), records: Vec::new(), too_deep: Vec::new() }
    }
}

/// Keys on their way into canonical order.
#[derive(Clone, Debug, Default)]
struct Keys {
    sorted: Vec<u64>,
    spare: Vec<u64>,
    starts: Vec<u32>,
}

/// Possible first numbers per key from which on counting them costs more than a sort.
const FEW: usize = 32;

impl Keys {
    /// Sorts by counting the first numbers, which are below `firsts`: in time proportional to the keys.
    fn sort(&mut self, firsts: usize) {
        let Keys { sorted, spare, starts } = self;
        if FEW * sorted.len() < firsts {
            return sorted.sort_unstable();
        }
        starts.clear();
        starts.resize(firsts + 1, 0);
        for key in sorted.iter() {
            starts[(key >> 32) as usize + 1] += 1;
        }
        for i in 0..firsts {
            starts[i + 1] += starts[i];
        }
        spare.clear();
        spare.resize(sorted.len(), 0);
        for &key in sorted.iter() {
            let at = &mut starts[(key >> 32) as usize];
            spare[*at as usize] = key;
            *at += 1;
        }
        std::mem::swap(sorted, spare);
        // By now each start is the end of its keys. Few of them: no call for a sort.
        let mut from = 0;
        for &to in &starts[..firsts] {
            let same = &mut sorted[from..to as usize];
            from = to as usize;
            if same.len() > 16 {
                same.sort_unstable();
                continue;
            }
            for i in 1..same.len() {
                let key = same[i];
                let mut at = i;
                while at > 0 && same[at - 1] > key {
                    same[at] = same[at - 1];
                    at -= 1;
                }
                same[at] = key;
            }
        }
    }

    fn memory_bytes(&self) -> usize {
        8 * (self.sorted.capacity() + self.spare.capacity()) + 4 * self.starts.capacity()
    }
}

/// The narrow stage: from candidates to records.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    loads: Vec<Load>,
    sifted: Vec<Sifted>,
    node_keys: Keys,
    edge_keys: Keys,
    /// Unit normals of facets, and of edges, where many ask for them.
    normals: Vec<Vec3>,
    outward: Vec<Vec3>,
    /// How near the nearest of each group came that was let go because it is open [m].
    pub(super) apart: Vec<f64>,
    nodes: Vec<Measured<VertexFace>>,
    edges: Vec<Measured<EdgeEdge>>,
    pub vertex_face: Vec<VertexFace>,
    pub edge_edge: Vec<EdgeEdge>,
    /// Bodies of the pairs that were left out as too deep.
    pub too_deep: Vec<[u32; 2]>,
    /// The sides of shells that nodes are known to be on; part of a checkpoint.
    pub sides: Sides,
    /// Measure every node on every face it is a candidate of.
    pub no_pretest: bool,
    /// Is each edge clearly flat? Empty where nobody asks.
    flat: Vec<bool>,
}

/// Candidates, or keys, in one piece of parallel work.
const PIECE: usize = 512;
/// Rounding of the cosine of an angle; far more than there is.
const ROUNDED: f64 = 1e-9;

impl Narrow {
    pub fn new(pretest: bool) -> Narrow {
        Narrow { no_pretest: !pretest, ..Narrow::default() }
    }

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
        // Many contacts ask for the normal of the same facet, few for that of every one.
        self.normals.clear();
        self.outward.clear();
        let edges = candidates.groups.iter().map(|g| g.edge_edge.len()).sum::<usize>();
        if query.overlaps.is_some() && !self.no_pretest && 2 * edges > scene.edges.len() {
            self.take_normals(scene, x);
            self.outward.resize(scene.edges.len(), Vec3::zeros());
            let of_facets = &self.normals[..];
            let pieces = scene.edges.par_chunks(PIECE).zip(self.outward.par_chunks_mut(PIECE));
            pieces.for_each(|(edges, to)| lane::dispatch(OfEdges { edges, of_facets, to }));
        }
        self.flat.clear();
        if let Some(cosine) = query.flat.filter(|_| 2 * edges > scene.edges.len()) {
            self.find_flat(scene, x, cosine);
        }
        stats.elementary_tests += self.sift(scene, x, query, candidates);
        let keys = self.edge_keys.sorted.len() + self.node_keys.sorted.len();
        if self.normals.is_empty() && keys > scene.facets.len() {
            self.take_normals(scene, x);
        }
        let Narrow { node_keys, edge_keys, nodes, edges, vertex_face, edge_edge, sides, .. } = self;
        let normals = Normals { scene, x, of_facets: &self.normals };
        let of_nodes = || {
            node_keys.sort(scene.node_body.len());
            let chooser = Chooser { normals, before, query, sides };
            measure_all(&node_keys.sorted, nodes, vertex_face, |keys, part| {
                chooser.measure(keys, &mut part.hits, &mut part.records, &mut part.too_deep);
            })
        };
        let of_edges = || {
            edge_keys.sort(scene.edges.len());
            // Equal pairs of edges passed the same sieve; the nodes are left for the closest points to judge.
            edge_keys.sorted.dedup();
            let chooser = EdgeChooser { normals, before, query };
            measure_all(&edge_keys.sorted, edges, edge_edge, |keys, part| {
                let Measured { records: out, too_deep, .. } = part;
                lane::dispatch(MeasureEdges { chooser, keys, out, too_deep });
            })
        };
        let (of_nodes, of_edges) = rayon::join(of_nodes, of_edges);
        stats.elementary_tests += node_keys.sorted.len() as u64;
        self.too_deep.clear();
        self.too_deep.extend(nodes[..of_nodes].iter().flat_map(|p| &p.too_deep));
        self.too_deep.extend(edges[..of_edges].iter().flat_map(|p| &p.too_deep));
        stats.too_deep += self.too_deep.len() as u64;
        stats.vertex_faces = self.vertex_face.len() as u64;
        stats.edge_edges = self.edge_edge.len() as u64;
        self.sides.remember(scene, &self.vertex_face);
    }

    /// Normals at the positions of the last run.
    pub(crate) fn normals<'a>(&'a self, scene: &'a Scene, x: &'a [Vec3]) -> Normals<'a> {
        Normals { scene, x, of_facets: &self.normals }
    }

    /// Notes which edges are clearly flat: the cosine of the angle of their faces is more than `cosine`, whoever computes it.
    fn find_flat(&mut self, scene: &Scene, x: &[Vec3], cosine: f64) {
        if self.normals.is_empty() {
            self.take_normals(scene, x);
        }
        let Narrow { normals, flat, .. } = self;
        flat.resize(scene.edges.len(), false);
        let least = cosine + ROUNDED;
        let pieces = scene.edges.par_chunks(PIECE).zip(flat.par_chunks_mut(PIECE));
        pieces.for_each(|(edges, flat)| {
            for (edge, flat) in edges.iter().zip(flat) {
                let [p, q] = edge.facets.map(|f| normals.get(f as usize));
                *flat = p.zip(q).is_some_and(|(p, q)| p.dot(q) > least);
            }
        });
    }

    fn take_normals(&mut self, scene: &Scene, x: &[Vec3]) {
        self.normals.resize(scene.facets.len(), Vec3::zeros());
        let pieces = scene.facets.par_chunks(PIECE).zip(self.normals.par_chunks_mut(PIECE));
        pieces.for_each(|(facets, to)| lane::dispatch(OfFacets { facets, x, to }));
    }

    /// Lets through what may survive; returns the number of pairs of edges looked at.
    fn sift(&mut self, scene: &Scene, x: &[Vec3], query: &Query, candidates: &Candidates) -> u64 {
        // Pieces cut by the candidates alone.
        self.loads.clear();
        let mut tests = 0;
        for (i, g) in candidates.groups.iter().enumerate() {
            let nodes = if query.vertex_face { g.vertex_face } else { Part::default() };
            let edges = if query.edge_edge { g.edge_edge } else { Part::default() };
            tests += edges.len() as u64;
            // What stands together stays together.
            let size = if g.by_node { nodes.len().max(edges.len()).max(1) } else { PIECE };
            for k in 0..nodes.len().max(edges.len()).div_ceil(size) {
                let piece = |p: Part| {
                    let from = p.to.min(p.from + (k * size) as u32);
                    Part { from, to: p.to.min(from + size as u32) }
                };
                self.loads.push(Load { group: i as u32, vertex_face: piece(nodes), edge_edge: piece(edges) });
            }
        }
        let least = if rayon::current_num_threads() == 1 { usize::MAX } else { PIECE };
        let (mut used, mut start, mut weight) = (0, 0, 0);
        for (i, load) in self.loads.iter().enumerate() {
            weight += load.vertex_face.len() + load.edge_edge.len();
            if weight >= least || i + 1 == self.loads.len() {
                pieces::first(&mut self.sifted, used + 1)[used].loads = start..i + 1;
                (used, start, weight) = (used + 1, i + 1, 0);
            }
        }
        pieces::lend(&mut self.sifted[..used], |p| &mut p.vertex_face, &mut self.node_keys.sorted);
        pieces::lend(&mut self.sifted[..used], |p| &mut p.edge_edge, &mut self.edge_keys.sorted);
        let (loads, pretest, outward) = (&self.loads[..], !self.no_pretest, &self.outward[..]);
        let flat = &self.flat[..];
        self.sifted[..used].par_iter_mut().for_each(|part| {
            let Sifted { loads: own, vertex_face, edge_edge, apart, buffers, bent } = part;
            vertex_face.clear();
            edge_edge.clear();
            apart.clear();
            for load in &loads[own.clone()] {
                let g = &candidates.groups[load.group as usize];
                let limit = g.limit;
                let pairs = load.vertex_face.of(&candidates.vertex_face);
                let start = vertex_face.len();
                let mut nearest = f64::INFINITY;
                if pretest {
                    let open = query.overlaps.filter(|_| g.by_node);
                    let keys = &mut *vertex_face;
                    nearest =
                        lane::dispatch(sieve::NodesFaces { scene, x, limit, open, pairs, buffers, keys });
                } else {
                    vertex_face.extend(pairs.iter().map(|&[node, face]| key(node, face)));
                }
                // The last pass knows the reach of a node and a face, and not that two bodies are looked at less
                // far, nor from which of its bodies a node is.
                let shared = [g.a, g.b].iter().any(|&b| scene.bodies[b as usize].shares_nodes);
                if shared || limit < query.reach + scene.offset(g.a, g.b) {
                    sieve::keep_within(scene, x, limit, start, vertex_face);
                }
                let mut pairs = load.edge_edge.of(&candidates.edge_edge);
                if !flat.is_empty() {
                    bent.clear();
                    bent.extend(pairs.iter().filter(|p| !p.iter().all(|&e| flat[e as usize])));
                    pairs = bent;
                }
                let plain = [g.a, g.b].iter().all(|&b| scene.bodies[b as usize].has_plain_edges());
                let outward = (plain && !outward.is_empty()).then_some(outward);
                let keys = &mut *edge_edge;
                let edges = lane::dispatch(sieve::Edges { scene, x, limit, outward, pairs, keys });
                apart.push(nearest.min(edges));
            }
        });
        self.apart.clear();
        self.apart.resize(candidates.groups.len(), f64::INFINITY);
        let of_loads = self.sifted[..used].iter().flat_map(|part| &part.apart);
        for (load, apart) in self.loads.iter().zip(of_loads) {
            let of_group = &mut self.apart[load.group as usize];
            *of_group = of_group.min(*apart);
        }
        pieces::join(&mut self.sifted[..used], |p| &mut p.vertex_face, &mut self.node_keys.sorted);
        pieces::join(&mut self.sifted[..used], |p| &mut p.edge_edge, &mut self.edge_keys.sorted);
        tests
    }

    pub fn memory_bytes(&self) -> usize {
        let sifted = |p: &Sifted| {
            8 * (p.vertex_face.capacity() + p.edge_edge.capacity() + p.apart.capacity() + p.bent.capacity())
                + size_of::<sieve::SieveBuffers>()
        };
        let nodes = |p: &Measured<VertexFace>| {
            p.hits.capacity() * size_of::<Hit>() + p.records.capacity() * size_of::<VertexFace>()
        };
        let edges = |p: &Measured<EdgeEdge>| p.records.capacity() * size_of::<EdgeEdge>();
        self.sifted.iter().map(sifted).sum::<usize>()
            + self.nodes.iter().map(nodes).sum::<usize>()
            + self.edges.iter().map(edges).sum::<usize>()
            + self.loads.capacity() * size_of::<Load>()
            + self.node_keys.memory_bytes()
            + self.edge_keys.memory_bytes()
            + (self.normals.capacity() + self.outward.capacity()) * size_of::<Vec3>()
            + 8 * self.apart.capacity()
            + self.flat.capacity()
            + self.vertex_face.capacity() * size_of::<VertexFace>()
            + self.edge_edge.capacity() * size_of::<EdgeEdge>()
            + (self.sides.known.capacity() + self.sides.next.capacity()) * size_of::<(u64, i8)>()
    }
}

/// Measures what sorted keys stand for, in parts that `one` works on; returns how many these are.
fn measure_all<T: Copy + Send + Sync>(
    keys: &[u64],
    parts: &mut Vec<Measured<T>>,
    to: &mut Vec<T>,
    one: impl Fn(&[u64], &mut Measured<T>) + Sync,
) -> usize {
    let used = cut(keys, parts);
    let parts = &mut parts[..used];
    pieces::lend(parts, |p| &mut p.records, to);
    parts.par_iter_mut().for_each(|part| {
        part.records.clear();
        part.too_deep.clear();
        one(&keys[part.keys.clone()], part);
    });
    pieces::join(parts, |p| &mut p.records, to);
    used
}

/// Cuts sorted keys into parts, never between two of the same first number; returns how many.
fn cut<T>(keys: &[u64], list: &mut Vec<Measured<T>>) -> usize {
    let size = if rayon::current_num_threads() == 1 { usize::MAX } else { PIECE / 2 };
    let (mut used, mut from) = (0, 0);
    while from < keys.len() {
        let mut to = keys.len().min(from.saturating_add(size));
        while to < keys.len() && keys[to] >> 32 == keys[to - 1] >> 32 {
            to += 1;
        }
        pieces::first(list, used + 1)[used].keys = from..to;
        (used, from) = (used + 1, to);
    }
    used
}

/// The side of a shell each node was last seen on, by (node, face).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// Sorted by key.
    pub known: Vec<(u64, i8)>,
    next: Vec<(u64, i8)>,
}

impl Sides {
    /// Of this facet, else of one that shares a corner with it: all facets of a surface are oriented alike.
    #[inline]
    fn of(&self, scene: &Scene, node: u32, face: u32) -> Option<i8> {
        let from = self.known.partition_point(|s| s.0 < key(node, 0));
        let of_node = self.known[from..].iter().take_while(|s| (s.0 >> 32) as u32 == node);
        let corners = scene.facets[face as usize].corners();
        let mut beside = None;
        for &(key, side) in of_node {
            if key as u32 == face {
                return Some(side);
            }
            let other = &scene.facets[key as u32 as usize];
            if beside.is_none() && other.corners().iter().any(|k| corners.contains(k)) {
                beside = Some(side);
            }
        }
        beside
    }

    /// Keeps what the records say (they are sorted); a pair out of reach is forgotten.
    fn remember(&mut self, scene: &Scene, records: &[VertexFace]) {
        let shell = |r: &&VertexFace| {
            let body = scene.facets[r.face as usize].body;
            scene.bodies[body as usize].attributes.two_sided()
        };
        self.next.clear();
        if !scene.bodies.iter().any(|b| b.attributes.two_sided()) {
            return self.known.clear();
        }
        let key = |r: &VertexFace| key(r.node, r.face);
        self.next.extend(records.iter().filter(shell).map(|r| (key(r), r.side)));
        std::mem::swap(&mut self.known, &mut self.next);
    }
}
