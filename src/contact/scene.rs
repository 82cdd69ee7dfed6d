//! The surfaces of all bodies in one numbering: what can touch what.
//!
//! Nodes keep the numbers of the model (body after body); facets, edges and *slots* (surface nodes) are
//! numbered densely over all bodies, each body owning a contiguous range. The numbers never change, so
//! a pair found in one step can be recognised in the next.
//!
//! | facet    | nodes                              | outward normal                    |
//! |----------|------------------------------------|-----------------------------------|
//! | plane    | a point on it and the tip of `n`   | from the first node to the second |
//! | point    | the node, the node behind it (1D)  | from behind to the node           |
//! | segment  | two (x–y plane)                    | the tangent turned by −90°        |
//! | triangle | three                              | right-hand rule                   |
//! | quad     | four                               | right-hand rule                   |
//!
//! A rigid obstacle is a body whose nodes somebody else moves (see `obstacle`): its nodes stand in the
//! same position slice as all others, a plane's too.
//!
//! The scene holds topology and rules, never positions: every search borrows those. What is wrong with
//! a surface is told by `check`. Read by every search of this room.

use super::closest_point::Feature;
use super::pair::Pair;
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::mesh::Mesh;
use crate::mesh::surface::{NONE, Surface};
use std::ops::Range;

/// Shape of a facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FacetKind {
    Plane,
    Point,
    Segment,
    Triangle,
    Quad,
}

impl FacetKind {
    /// Corners of the facet; an unbounded plane has none.
    #[inline]
    pub const fn corners(self) -> usize {
        match self {
            FacetKind::Plane => 0,
            FacetKind::Point => 1,
            FacetKind::Segment => 2,
            FacetKind::Triangle => 3,
            FacetKind::Quad => 4,
        }
    }
}

/// One facet of the scene. Corners come first in `nodes`; unused places repeat the last entry in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facet {
    pub nodes: [u32; 4],
    pub kind: FacetKind,
    pub body: u32,
    /// The facet of the body's own surface it came from (two triangles share one when quads are split).
    pub source: u32,
}

impl Facet {
    /// Ids of the corners.
    #[inline]
    pub fn corners(&self) -> &[u32] {
        &self.nodes[..self.kind.corners()]
    }
}

/// One edge of the scene (3D only), nodes ascending; `facets[1]` is `NONE` on a rim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub nodes: [u32; 2],
    pub facets: [u32; 2],
    pub body: u32,
}

/// What a body is, and so what its surface is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyKind {
    /// On the x axis; its ends can touch.
    Bar,
    /// In the x–y plane, of a thickness; its outline can touch.
    Plane,
    #[default]
    Solid,
    /// A surface with two sides and no inside; a node stays on the side it came from.
    Shell,
    /// Never integrated: rigid bodies do not look at each other.
    Rigid,
}

impl BodyKind {
    /// What cells of some dimension are, unless they are elements of a shell.
    pub fn of_cells(dimension: usize) -> BodyKind {
        match dimension {
            1 => BodyKind::Bar,
            2 => BodyKind::Plane,
            _ => BodyKind::Solid,
        }
    }

    /// Dimension of the space it moves in.
    pub fn space(self) -> usize {
        match self {
            BodyKind::Bar => 1,
            BodyKind::Plane => 2,
            BodyKind::Solid | BodyKind::Shell | BodyKind::Rigid => 3,
        }
    }
}

/// What a body is to the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    pub kind: BodyKind,
    /// Of a shell [m]; half of it counts on each side.
    pub thickness: f64,
    /// Its nodes never move, so its trees are made once.
    pub at_rest: bool,
    /// May touch itself.
    pub self_contact: bool,
    /// Two bodies can touch when they share a bit.
    pub groups: u32,
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes { kind: BodyKind::Solid, thickness: 0.0, at_rest: false, self_contact: false, groups: 1 }
    }
}

impl Attributes {
    /// A rigid obstacle.
    pub fn obstacle(at_rest: bool) -> Self {
        Attributes { kind: BodyKind::Rigid, at_rest, ..Attributes::default() }
    }

    #[inline]
    pub fn rigid(&self) -> bool {
        self.kind == BodyKind::Rigid
    }

    #[inline]
    pub(crate) fn two_sided(&self) -> bool {
        self.kind == BodyKind::Shell
    }
}

/// A body on its way into the scene.
#[derive(Clone, Debug)]
pub struct BodyInput {
    /// The user's name for it.
    pub name: String,
    /// Corner ids in the numbering of the model, in outward orientation.
    pub facets: Vec<(FacetKind, [u32; 4])>,
    pub attributes: Attributes,
}

impl BodyInput {
    /// The boundary of a mesh whose first node has the number `first` in the model.
    pub(crate) fn of_surface(
        name: &str,
        mesh: &Mesh,
        surface: &Surface,
        first: u32,
        attributes: Attributes,
    ) -> BodyInput {
        let facets = surface.facets.iter().map(|f| {
            let n = f.nodes.map(|k| first.wrapping_add(k));
            match f.count {
                1 => {
                    // The outward direction of a point is away from the other end of its bar.
                    let cell = mesh.cells[f.side.cells as usize].cell(f.side.cell as usize);
                    let behind = cell.iter().copied().find(|&k| k != f.nodes[0]).unwrap_or(f.nodes[0]);
                    (FacetKind::Point, [n[0], first + behind, n[0], n[0]])
                }
                2 => (FacetKind::Segment, [n[0], n[1], n[1], n[1]]),
                3 => (FacetKind::Triangle, [n[0], n[1], n[2], n[2]]),
                _ => (FacetKind::Quad, n),
            }
        });
        BodyInput { name: name.into(), facets: facets.collect(), attributes }
    }

    /// Triangles by their corners.
    pub(crate) fn of_triangles(name: &str, triangles: &[[u32; 3]], attributes: Attributes) -> BodyInput {
        let facets = triangles.iter().map(|t| (FacetKind::Triangle, [t[0], t[1], t[2], t[2]])).collect();
        BodyInput { name: name.into(), facets, attributes }
    }

    /// Quadrilaterals by their corners.
    pub(crate) fn of_quads(name: &str, quads: &[[u32; 4]], attributes: Attributes) -> BodyInput {
        let facets = quads.iter().map(|&q| (FacetKind::Quad, q)).collect();
        BodyInput { name: name.into(), facets, attributes }
    }

    /// A chain of segments through the nodes `first …`, solid on its left (the normal is the tangent
    /// turned by −90°).
    pub(crate) fn of_polyline(
        name: &str,
        first: u32,
        points: u32,
        closed: bool,
        attributes: Attributes,
    ) -> BodyInput {
        let segments = if closed { points } else { points.saturating_sub(1) };
        let facets = (0..segments).map(|k| {
            let (a, b) = (first + k, first + (k + 1) % points);
            (FacetKind::Segment, [a, b, b, b])
        });
        BodyInput { name: name.into(), facets: facets.collect(), attributes }
    }

    /// The half space below a plane. Node `first` lies on the plane, node `first + 1` one unit along its
    /// outward normal.
    pub(crate) fn of_plane(name: &str, first: u32, at_rest: bool) -> BodyInput {
        BodyInput {
            name: name.into(),
            facets: vec![(FacetKind::Plane, [first, first + 1, first, first])],
            attributes: Attributes::obstacle(at_rest),
        }
    }
}

/// Who may meet whom, beyond the group bits. Body indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Quadrilaterals become two triangles, cut by the diagonal through their smallest node.
    pub split_quads: bool,
    /// If given, only these pairs (a body with itself needs `self_contact` as well).
    pub only: Option<Vec<[u32; 2]>>,
    /// Bodies that are glued together and never touch.
    pub bonded: Vec<[u32; 2]>,
    /// Bodies that touch nothing.
    pub off: Vec<u32>,
}

/// One body of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    pub name: String,
    pub facets: Range<u32>,
    pub edges: Range<u32>,
    pub slots: Range<u32>,
    pub attributes: Attributes,
    /// It is a single plane without bounds.
    pub plane: bool,
    /// All its facets are triangles.
    pub triangles: bool,
    /// Some of its nodes belong to other bodies too.
    pub shares_nodes: bool,
    /// Median edge in the reference configuration [m]: the finer body is the slave of a single pass.
    pub median_edge: f64,
}

/// Surfaces, adjacency and rules of all bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    pub bodies: Vec<Body>,
    pub facets: Vec<Facet>,
    pub edges: Vec<Edge>,
    /// Node of each slot.
    pub slots: Vec<u32>,
    /// Slots of the corners of each facet; unused places repeat a corner.
    pub facet_slots: Vec<[u32; 4]>,
    pub edge_slots: Vec<[u32; 2]>,
    /// Edge `k` of a facet joins its corners `k` and `k + 1`; `NONE` in 2D, 1D and unused places.
    pub facet_edges: Vec<[u32; 4]>,
    /// Body of each node; `NONE` for nodes inside bodies.
    pub node_body: Vec<u32>,
    pub node_facets: Lists,
    pub node_edges: Lists,
    /// Size of each facet in the reference configuration [m]: its length, or the root of its area
    /// (twice the area for a triangle).
    pub facet_size: Vec<f64>,
    /// The shortest way across each facet there [m]: its area over its longest side.
    facet_width: Vec<f64>,
    /// Facets of the same body a node ignores in discrete tests though it is no corner of them.
    ring: Lists,
    only: Option<Vec<[u32; 2]>>,
    bonded: Vec<[u32; 2]>,
    off: Vec<bool>,
    /// Edges with more than two facets, as (edge, facet left out).
    pub(crate) crowded_edges: Vec<(u32, u32)>,
    /// Entries of the input that could not be used, as (body, facet of its list).
    pub(crate) unusable: Vec<(u32, u32)>,
}

impl Scene {
    /// How many bodies have so many slots, about.
    pub(crate) fn bodies_with(&self, slots: usize) -> usize {
        (slots * self.bodies.len()).div_ceil(self.slots.len().max(1)).max(1)
    }

    /// The surface nodes of a body, ascending.
    pub(crate) fn slots_of(&self, body: &Body) -> &[u32] {
        &self.slots[body.slots.start as usize..body.slots.end as usize]
    }

    /// The facets of a body.
    pub(crate) fn facets_of(&self, body: &Body) -> &[Facet] {
        &self.facets[body.facets.start as usize..body.facets.end as usize]
    }

    /// Numbers the surfaces of `bodies`; `reference` holds the undeformed positions of all nodes.
    ///
    /// Facets that name a node beyond `reference`, or one node twice so that nothing is left of them,
    /// are kept out and reported by [`check`](super::check::check).
    pub fn new(bodies: &[BodyInput], reference: &[Vec3], rules: Rules) -> Scene {
        let mut scene = Scene { node_body: vec![NONE; reference.len()], ..Scene::default() };
        let mut slot_of = vec![NONE; reference.len()];
        for (b, input) in bodies.iter().enumerate() {
            scene.push_body(b as u32, input, rules.split_quads, reference, &mut slot_of);
        }

        let n = reference.len();
        let mut by_node = Vec::new();
        for (f, facet) in scene.facets.iter().enumerate() {
            by_node.extend(facet.corners().iter().map(|&k| (k, f as u32)));
        }
        scene.node_facets = Lists::sorted(n, by_node);
        let ends = scene.edges.iter().enumerate().flat_map(|(e, edge)| edge.nodes.map(|k| (k, e as u32)));
        scene.node_edges = Lists::sorted(n, ends.collect());
        scene.ring = scene.find_rings(reference);

        let ordered = |pairs: Vec<[u32; 2]>| {
            let mut pairs: Vec<_> = pairs.into_iter().map(|[a, b]| [a.min(b), a.max(b)]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        };
        scene.only = rules.only.map(ordered);
        scene.bonded = ordered(rules.bonded);
        scene.off = vec![false; bodies.len()];
        for b in rules.off {
            if let Some(off) = scene.off.get_mut(b as usize) {
                *off = true;
            }
        }
        scene
    }

    fn push_body(
        &mut self,
        b: u32,
        input: &BodyInput,
        split_quads: bool,
        reference: &[Vec3],
        slot_of: &mut [u32],
    ) {
        let (facet_0, edge_0, slot_0) =
            (self.facets.len() as u32, self.edges.len() as u32, self.slots.len() as u32);
        let mut push = |kind: FacetKind, nodes: [u32; 4], source: usize, facets: &mut Vec<Facet>| {
            let corners = &nodes[..kind.corners().max(2)];
            let known = corners.iter().all(|&k| (k as usize) < reference.len());
            let corners = &nodes[..kind.corners()];
            let twice = (1..corners.len()).any(|i| corners[..i].contains(&corners[i]));
            if known && !twice {
                facets.push(Facet { nodes, kind, body: b, source: source as u32 });
            } else {
                self.unusable.push((b, source as u32));
            }
        };
        for (source, &(kind, n)) in input.facets.iter().enumerate() {
            if kind == FacetKind::Quad && split_quads {
                for [a, b, c] in split(n) {
                    push(FacetKind::Triangle, [a, b, c, c], source, &mut self.facets);
                }
            } else {
                push(kind, n, source, &mut self.facets);
            }
        }
        let facet_1 = self.facets.len() as u32;

        // Slots in ascending order of nodes.
        let facets = &self.facets[facet_0 as usize..];
        let mut nodes: Vec<u32> = facets.iter().flat_map(|f| f.corners().iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut shares_nodes = false;
        for (i, &node) in nodes.iter().enumerate() {
            slot_of[node as usize] = slot_0 + i as u32;
            let owner = &mut self.node_body[node as usize];
            if *owner == NONE {
                *owner = b;
            } else {
                shares_nodes = true;
                self.bodies[*owner as usize].shares_nodes = true;
            }
        }
        for facet in facets {
            let last = facet.kind.corners().max(1) - 1;
            let slot = |k: usize| slot_of[facet.nodes[k.min(last)] as usize];
            self.facet_slots.push([slot(0), slot(1), slot(2), slot(3)]);
            self.facet_size.push(size_in(facet, reference));
            self.facet_width.push(width_in(facet, reference));
        }
        self.slots.extend(nodes);

        let mut lengths = self.push_edges(b, facet_0, reference, slot_of);
        if lengths.is_empty() {
            lengths.extend(self.facet_size[facet_0 as usize..].iter().copied().filter(|l| l.is_finite()));
        }
        lengths.sort_unstable_by(f64::total_cmp);
        let own = &self.facets[facet_0 as usize..];
        self.bodies.push(Body {
            name: input.name.clone(),
            triangles: own.iter().all(|f| f.kind == FacetKind::Triangle),
            facets: facet_0..facet_1,
            edges: edge_0..self.edges.len() as u32,
            slots: slot_0..self.slots.len() as u32,
            attributes: input.attributes.clone(),
            shares_nodes,
            plane: input.facets.iter().any(|f| f.0 == FacetKind::Plane),
            median_edge: lengths.get(lengths.len() / 2).copied().unwrap_or(0.0),
        });
    }

    /// Edges of the last body: sides of triangles and quads, brought together by their ends. Returns their lengths [m].
    fn push_edges(&mut self, b: u32, facet_0: u32, reference: &[Vec3], slot_of: &[u32]) -> Vec<f64> {
        let facets = &self.facets[facet_0 as usize..];
        let mut sides: Vec<([u32; 2], u32, u8)> = Vec::new();
        for (i, facet) in facets.iter().enumerate() {
            if facet.kind.corners() < 3 {
                continue;
            }
            let corners = facet.corners();
            for k in 0..corners.len() {
                let (p, q) = (corners[k], corners[(k + 1) % corners.len()]);
                sides.push(([p.min(q), p.max(q)], facet_0 + i as u32, k as u8));
            }
        }
        sides.sort_unstable();
        self.facet_edges.resize(self.facets.len(), [NONE; 4]);
        let mut lengths = Vec::new();
        for side in sides.chunk_by(|p, q| p.0 == q.0) {
            let e = self.edges.len() as u32;
            let ends = side[0].0;
            let second = side.get(1).map_or(NONE, |s| s.1);
            self.edges.push(Edge { nodes: ends, facets: [side[0].1, second], body: b });
            self.edge_slots.push(ends.map(|k| slot_of[k as usize]));
            self.crowded_edges.extend(side.iter().skip(2).map(|s| (e, s.1)));
            for s in side {
                self.facet_edges[s.1 as usize][s.2 as usize] = e;
            }
            lengths.push((reference[ends[0] as usize] - reference[ends[1] as usize]).norm());
        }
        lengths
    }

    /// For bodies that touch themselves: facets beside the facets of a node, turned by less than 90°
    /// from one of them in the reference configuration. Flat neighbours would report contact at once.
    fn find_rings(&self, reference: &[Vec3]) -> Lists {
        let mut pairs = Vec::new();
        for body in self.bodies.iter().filter(|b| b.attributes.self_contact) {
            for &node in self.slots_of(body) {
                for &own in self.node_facets.of(node) {
                    let n = self.facets[own as usize].area_vector(reference);
                    for &corner in self.facets[own as usize].corners() {
                        for &beside in self.node_facets.of(corner) {
                            let facet = &self.facets[beside as usize];
                            if !facet.corners().contains(&node) && facet.area_vector(reference).dot(&n) > 0.0
                            {
                                pairs.push((node, beside));
                            }
                        }
                    }
                }
            }
            super::entry::far_sides(self, body, reference, &mut pairs);
        }
        Lists::sorted(self.node_body.len(), pairs)
    }

    /// May nodes, faces and edges of these bodies meet at all?
    pub fn may_meet(&self, a: u32, b: u32) -> bool {
        let (p, q) = (&self.bodies[a as usize].attributes, &self.bodies[b as usize].attributes);
        let pair = [a.min(b), a.max(b)];
        if self.off[a as usize] || self.off[b as usize] || p.groups & q.groups == 0 {
            return false;
        }
        if a == b && !p.self_contact || p.rigid() && q.rigid() || self.bonded.binary_search(&pair).is_ok() {
            return false;
        }
        self.only.as_ref().is_none_or(|only| only.binary_search(&pair).is_ok())
    }

    /// May a body meet any at all?
    pub(crate) fn meets_anybody(&self, body: u32) -> bool {
        (0..self.bodies.len() as u32).any(|other| self.may_meet(body, other))
    }

    /// Is this node never tested against this facet? (Asked only for bodies that may meet.)
    #[inline]
    pub(crate) fn excludes_vertex_face(&self, node: u32, facet: u32, swept: bool) -> bool {
        self.facets[facet as usize].corners().contains(&node)
            || (!swept && self.ring.of(node).binary_search(&facet).is_ok())
    }

    /// Only features of one body, or of bodies glued node on node, can exclude each other.
    pub fn can_exclude(&self, a: u32, b: u32) -> bool {
        a == b || [a, b].iter().all(|&b| self.bodies[b as usize].shares_nodes)
    }

    /// Are these edges never tested against each other? They share a node, or (discrete tests) one lies
    /// in the flat surroundings of an end of the other.
    pub(crate) fn excludes_edge_edge(&self, e: u32, f: u32, swept: bool) -> bool {
        let (e, f) = (&self.edges[e as usize], &self.edges[f as usize]);
        if e.nodes.iter().any(|k| f.nodes.contains(k)) {
            return true;
        }
        let beside = |a: &Edge, b: &Edge| {
            a.nodes.iter().any(|&k| b.facets.iter().any(|g| self.ring.of(k).binary_search(g).is_ok()))
        };
        !swept && (beside(e, f) || beside(f, e))
    }

    /// Is this pair of facets never tested? They share a node, or (discrete tests) one lies in the flat
    /// surroundings of a corner of the other.
    pub(crate) fn excludes_face_face(&self, f: u32, g: u32, swept: bool) -> bool {
        let beside = |f: u32, g: u32| {
            self.facets[f as usize].corners().iter().any(|&k| self.excludes_vertex_face(k, g, swept))
        };
        beside(f, g) || beside(g, f)
    }

    /// A vector along a pair as the first of its bodies has it: `v` is that of the positive weights, which where an
    /// obstacle takes part are those of the other.
    #[inline]
    pub(crate) fn on_first(&self, pair: &Pair, v: Vec3) -> Vec3 {
        if pair.outer.is_some() && self.bodies[pair.bodies[0] as usize].attributes.rigid() { -v } else { v }
    }

    /// Half the thicknesses of two bodies [m]: the distance of their mid-surfaces at touch.
    #[inline]
    pub fn offset(&self, a: u32, b: u32) -> f64 {
        let half = |b: u32| {
            let at = &self.bodies[b as usize].attributes;
            if at.two_sided() { 0.5 * at.thickness } else { 0.0 }
        };
        half(a) + half(b)
    }

    /// Does the surface end at this feature of a facet (a rim edge, a corner on a rim, the end of a chain)?
    pub(crate) fn on_rim(&self, facet: u32, feature: Feature) -> bool {
        let f = &self.facets[facet as usize];
        match (f.kind, feature) {
            (FacetKind::Triangle | FacetKind::Quad, Feature::Edge(k)) => {
                self.rim_edge(self.facet_edges[facet as usize][k as usize])
            }
            (FacetKind::Triangle | FacetKind::Quad, Feature::Vertex(k)) => {
                self.node_edges.of(f.nodes[k as usize]).iter().any(|&e| self.rim_edge(e))
            }
            (FacetKind::Segment, Feature::Vertex(k)) => self.node_facets.of(f.nodes[k as usize]).len() < 2,
            _ => false,
        }
    }

    fn rim_edge(&self, e: u32) -> bool {
        self.edges[e as usize].facets[1] == NONE
    }

    /// Smallest size among the facets that meet at a feature of a facet [m].
    pub(crate) fn local_size(&self, facet: u32, feature: Feature) -> f64 {
        let f = &self.facets[facet as usize];
        let own = self.facet_size[facet as usize];
        match feature {
            Feature::Face => own,
            Feature::Edge(k) => match self.facet_edges[facet as usize][k as usize] {
                NONE => own,
                e => self.smallest(&self.edges[e as usize].facets, own),
            },
            Feature::Vertex(k) => self.smallest(self.node_facets.of(f.nodes[k as usize]), own),
        }
    }

    /// Two edges that overlap by more than this [m] see each other from the far sides of their bodies: half of what the facets
    /// around them are wide. The length of an edge says nothing about how thick its body is.
    pub(crate) fn deepest_crossing(&self, first: &Edge, second: &Edge) -> f64 {
        let facets = first.facets.iter().chain(&second.facets);
        0.5 * facets.filter_map(|&f| self.facet_width.get(f as usize)).copied().fold(f64::INFINITY, f64::min)
    }

    fn smallest(&self, facets: &[u32], own: f64) -> f64 {
        facets.iter().filter(|&&f| f != NONE).fold(own, |s, &f| s.min(self.facet_size[f as usize]))
    }
}

/// The two triangles of a quadrilateral, cut by the diagonal through its smallest node.
pub fn split(n: [u32; 4]) -> [[u32; 3]; 2] {
    let k = (1..4).fold(0, |least, k| if n[k] < n[least] { k } else { least });
    let [p, q, r, s] = [n[k], n[(k + 1) % 4], n[(k + 2) % 4], n[(k + 3) % 4]];
    [[p, q, r], [p, r, s]]
}

impl Facet {
    /// Where its corners are, and how many it has.
    pub(crate) fn points(&self, x: &[Vec3]) -> ([Vec3; 4], usize) {
        (self.nodes.map(|k| x[k as usize]), self.kind.corners())
    }

    /// Outward normal times a measure of size: twice the area of a triangle, the area spanned by the
    /// diagonals of a quad (twice its area if flat), the length of a segment, 1 for a plane's unit tip.
    #[inline]
    pub(crate) fn area_vector(&self, x: &[Vec3]) -> Vec3 {
        self.area_vector_at(|k| x[k as usize])
    }

    /// The same with its nodes where `at` says.
    #[inline]
    pub(crate) fn area_vector_at(&self, at: impl Fn(u32) -> Vec3) -> Vec3 {
        let p = |k: usize| at(self.nodes[k]);
        match self.kind {
            FacetKind::Plane => p(1) - p(0),
            FacetKind::Point => p(0) - p(1),
            FacetKind::Segment => {
                let t = p(1) - p(0);
                Vec3::new(t.y, -t.x, 0.0)
            }
            FacetKind::Triangle => (p(1) - p(0)).cross(&(p(2) - p(0))),
            FacetKind::Quad => (p(2) - p(0)).cross(&(p(3) - p(1))),
        }
    }
}

fn size_in(facet: &Facet, reference: &[Vec3]) -> f64 {
    let a = facet.area_vector(reference).norm();
    match facet.kind {
        FacetKind::Plane => f64::INFINITY,
        FacetKind::Point | FacetKind::Segment => a,
        FacetKind::Triangle => a.sqrt(),
        FacetKind::Quad => (0.5 * a).sqrt(),
    }
}

fn width_in(facet: &Facet, reference: &[Vec3]) -> f64 {
    let area = facet.area_vector(reference).norm();
    let corners = facet.corners();
    let side = |k: usize| {
        let [p, q] = [k, (k + 1) % corners.len()].map(|k| reference[corners[k] as usize]);
        (p - q).norm()
    };
    let longest = (0..corners.len()).map(side).fold(0.0, f64::max);
    match facet.kind {
        FacetKind::Triangle if longest > 0.0 => area / longest,
        FacetKind::Quad if longest > 0.0 => 0.5 * area / longest,
        _ => size_in(facet, reference),
    }
}

#[cfg(test)]
mod tests;
