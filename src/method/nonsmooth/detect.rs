//! Which simplices bound the admissible set where the bodies are now.
//!
//! The set of positions without overlap is not convex, and where it has a corner one of several constraints must be chosen:
//! past a convex corner of a body a node may leave through either face. [`Admissible::detect`] looks at trial positions and names
//! the constraints that part what overlaps there:
//!
//! 1. a node inside a body leaves through one facet near it: the facet faces the node's own surface, the node is below it now,
//!    was not at the start of the step and stands over it; of several the one that costs the least kinetic
//!    energy, `|g| / (∇g·M⁻¹∇g)^½`, and of equals the first;
//! 2. two edges that have crossed since the start of the step, where neither has an end inside the other's body;
//! 3. a node that went all the way through a thin wall in this step comes back through the facet it met first, and so do edges
//!    ([`on_the_way`](super::on_the_way)). In a wall thinner than the way of a step the nearest facet is as likely the far one: there, too, the
//!    facet it met is among those that a node may leave through.
//!
//! A node that is still inside after its facet is satisfied gets a second one: a re-entrant corner asks for both.
//!
//! Inside, nearest facet and the normal cones of edges are those of `contact`; nothing here depends on the order in which
//! bodies were named but ties.

use super::on_the_way::Met;
use super::simplex::{ContactKind, Foot, Simplex};
use crate::contact::measure::Normals;
use crate::contact::obstacle::Pose;
use crate::contact::rules::{depth_of_edges, in_normal_cones, is_second_end};
use crate::contact::scene::FacetKind;
use crate::contact::search::{EdgeEdge, PairSearch, Query, SearchError, VertexFace, doubled_to};
use crate::math::{Mat3, Vec3};
use crate::method::contact_world::{ContactWorld, pose_all};
use crate::model::Model;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Overlaps up to this share of the local size are touch, not penetration: a hundredth of what an accepted state may
/// have.
pub(crate) const TOUCH: f64 = 1e-12;
/// The same where constraints have been satisfied in this step. Redundant ones are satisfied to less than half of this; what they leave must not ask for more of
/// them.
const SATISFIED: f64 = 5e-11;
/// Deepest overlap of an accepted state, as a share of the local size.
pub(crate) const ACCEPTED: f64 = 1e-10;
/// A constraint that was violated by more than this share of the local size at the start did not keep anything out.
pub(super) const WAS_OPEN: f64 = 1e-8;
/// How far beside a facet, as a share of it, a node may stand that has no facet to stand over.
const BESIDE: f64 = 0.05;
/// How far the foot of a pressing constraint may leave its facet before the constraint acts on nothing.
const GHOST: f64 = 0.1;
/// A facet faces a node when the cosine between some facet of the node and its opposite is more than this.
const FACES: f64 = 0.1;
/// Costs that differ by less than this share are equal.
const TIE: f64 = 1e-9;

/// Facets that are this many times the finest one are coarse enough: a search for overlaps at the start reaches no further.
const COARSE: f64 = 16.0;

/// Identity of a constraint: what touches, and the numbers of the two features.
pub(crate) type Key = (ContactKind, u32, u32);

/// One constraint of the working set.
#[derive(Clone, Copy, Debug)]
pub struct Constraint {
    pub key: Key,
    pub simplex: Simplex,
    /// Of the first feature (the node, the first edge) and of the second.
    pub bodies: [u32; 2],
    /// Local size of the surface [m].
    pub size: f64,
    /// Coulomb's coefficient between the two bodies.
    pub mu: f64,
    /// Way of the touched point of a plane in this step [m]; other obstacles have nodes that tell.
    pub carried: Vec3,
}

/// What a look has found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// Constraints that were added.
    pub new: usize,
    /// Overlaps nobody answers for, deeper than is accepted.
    pub left: usize,
    /// Deepest overlap [m].
    pub depth: f64,
}

/// The working set while a look adds to it.
pub(super) struct Joined<'a> {
    work: &'a mut Vec<Constraint>,
    keys: BTreeSet<Key>,
    /// (node, body that it is kept out of) before the look.
    kept_out: BTreeSet<(u32, u32)>,
    banned: &'a [Key],
}

impl Joined<'_> {
    pub(super) fn has(&self, key: &Key) -> bool {
        self.keys.contains(key)
    }

    pub(super) fn is_banned(&self, key: &Key) -> bool {
        self.banned.contains(key)
    }

    pub(super) fn add(&mut self, c: Constraint) {
        self.keys.insert(c.key);
        self.work.push(c);
    }

    pub(super) fn len(&self) -> usize {
        self.work.len()
    }
}

/// The surfaces of all bodies, and where they are.
pub struct Admissible {
    /// Nodes as they are tried, obstacles as they stand at the end of the step.
    pub world: ContactWorld,
    /// 3×3 inverse mass of every node of the scene [1/kg]; zero for obstacles.
    pub inv_mass: Vec<Mat3>,
    /// Where obstacles stand at the start of the step.
    from: Vec<Pose>,
    /// All nodes of the scene at the start of the step, and as predicted.
    pub start: Vec<Vec3>,
    pub pre: Vec<Vec3>,
    /// (node, body it is inside of), sorted.
    pub(super) inside: Vec<(u32, u32)>,
    /// What nodes went through on their way, one facet for a node and a body, sorted.
    pub(super) met: Vec<Met>,
    thinnest: f64,
    /// Of facets that cost the same the last counts.
    pub last_of_equals: bool,
    /// Constraints are springs, which leave overlaps: one for a node and a body is enough.
    pub springs: bool,
    /// Before the first step: nothing was open before.
    pub starting: bool,
}

impl Admissible {
    pub fn new(model: &Model) -> Admissible {
        let mut world = ContactWorld::new(model, true);
        world.search.drowsy = true;
        let mut inv_mass = world.inertia.all();
        inv_mass.resize(world.x.len(), Mat3::zeros());
        Admissible {
            inv_mass,
            from: Vec::new(),
            start: world.x.clone(),
            pre: world.x.clone(),
            inside: Vec::new(),
            met: Vec::new(),
            thinnest: world.scene.facet_size.iter().copied().fold(f64::INFINITY, f64::min),
            last_of_equals: false,
            springs: false,
            starting: false,
            world,
        }
    }

    /// Takes up positions of the model's nodes at the start of a step, and as predicted for its end.
    pub fn begin(&mut self, model: &Model, start: &[Vec3], pre: &[Vec3], [t0, t1]: [f64; 2]) {
        for (to, x, time) in [(&mut self.start, start, t0), (&mut self.pre, pre, t1)] {
            self.world.place(model, x.par_iter().copied(), time);
            to.copy_from_slice(&self.world.x);
        }
        pose_all(model, t0, &mut self.from);
    }

    /// Farthest that a surface node has come in this step, seen from the middle of all [m].
    fn way(&self) -> f64 {
        let slots = &self.world.scene.slots;
        let way = |k: u32| self.world.x[k as usize] - self.start[k as usize];
        let planes =
            self.world.scene.facets.iter().filter(|f| f.kind == FacetKind::Plane).map(|f| f.nodes[0]);
        let count = slots.len().max(1) as f64;
        let middle = slots.iter().map(|&k| way(k)).sum::<Vec3>() / count;
        slots.iter().copied().chain(planes).map(|k| (way(k) - middle).norm()).fold(0.0, f64::max)
    }

    /// What to ask for so that nothing that overlaps after a way is missed. The reach is a power of two, so that lists of
    /// candidates last.
    fn query(&self, way: f64) -> Query {
        let finest = if self.thinnest.is_finite() { self.thinnest } else { 1.0 };
        let reach = doubled_to(finest / 64.0, 2.1 * way);
        Query { max_penetration: Some(reach), ..Query::all(reach) }
    }

    /// Adds to `work` what the positions `now` ask for. `banned` are keys that must not come back in this step.
    pub(crate) fn detect(
        &mut self,
        model: &Model,
        work: &mut Vec<Constraint>,
        banned: &[Key],
    ) -> Result<Found, SearchError> {
        let query = self.query(self.way());
        self.world.find(Some(&self.start), &query)?;
        self.meet(model);
        let mut found = Found::default();
        let known = work.len();
        let keys = work.iter().map(|c| c.key).collect();
        let nodes = work.iter().filter(|c| c.key.0 != ContactKind::EdgeEdge);
        let kept_out = nodes.map(|c| (c.key.1, c.bodies[1])).collect();
        let mut work = Joined { work, keys, kept_out, banned };
        self.inside.clear();
        let records = self.world.search.vertex_face();
        let body = |r: &VertexFace| self.world.scene.facets[r.face as usize].body;
        for group in records.chunk_by(|p, q| p.node == q.node) {
            // facets of several bodies may take turns in the records of one node
            for (at, first) in group.iter().enumerate() {
                if group[..at].iter().any(|r| body(r) == body(first)) {
                    continue;
                }
                let own = group[at..].iter().filter(|r| body(r) == body(first));
                let deepest = own.min_by(|p, q| p.gap.total_cmp(&q.gap)).unwrap_or(first);
                let size = self.size_of(deepest.face);
                let known = work.kept_out.contains(&(deepest.node, body(deepest)));
                let touch = if known { SATISFIED } else { TOUCH } * size;
                let second = is_second_end(&self.world.scene, deepest);
                if deepest.gap >= -touch || second || self.is_held(deepest) {
                    continue;
                }
                self.inside.push((deepest.node, body(deepest)));
                found.depth = found.depth.max(-deepest.gap);
                let known = |w: &Constraint| w.key.1 == deepest.node && w.bodies[1] == body(deepest);
                if self.springs && work.work.iter().any(known) {
                    continue;
                }
                match self.exit(model, deepest, &work) {
                    Some(c) => work.add(c),
                    None if -deepest.gap > ACCEPTED * size => found.left += 1,
                    None => {}
                }
            }
        }
        self.inside.sort_unstable();
        self.edges(model, &mut work, &mut found);
        self.walls(model, &mut work, &mut found);
        if work.len() == known {
            self.edges_on_the_way(model, &mut work);
        }
        found.new = work.len() - known;
        Ok(found)
    }

    /// The deepest overlap of two bodies by more than `share` of the local size, and how deep it is [m], up to half a facet: what a search for the
    /// way of a step does not see.
    pub(crate) fn deep_overlap(&mut self, share: f64) -> Result<Option<([u32; 2], f64)>, SearchError> {
        let sizes = self.world.scene.facet_size.iter().copied().filter(|s| s.is_finite());
        let coarsest = sizes.fold(0.0, f64::max);
        let reach = coarsest.min(COARSE * self.thinnest);
        let query = Query { reach, max_penetration: None, ..self.query(0.0) };
        self.world.find(None, &query)?;
        let scene = &self.world.scene;
        let nodes = self.world.search.vertex_face().iter().filter(|r| !self.is_held(r)).map(|r| {
            let bodies = [scene.node_body[r.node as usize], scene.facets[r.face as usize].body];
            (bodies, -r.gap, self.size_of(r.face))
        });
        let normals = Normals::at(scene, &self.world.x);
        let crossed = |r: &&EdgeEdge| in_normal_cones(&normals, r.first, r.second, &r.normal);
        let edges = self.world.search.edge_edge().iter().filter(|r| r.gap < 0.0).filter(crossed).map(|r| {
            let bodies = [r.first, r.second].map(|e| scene.edges[e as usize].body);
            (bodies, depth_of_edges(scene, &self.world.x, r, 0.0), self.size_of_edges(r.first, r.second))
        });
        let deep = nodes
            .chain(edges)
            .filter(|(bodies, depth, size)| bodies[0] != bodies[1] && *depth > share * size);
        let deepest = deep.max_by(|p, q| p.1.total_cmp(&q.1));
        Ok(deepest.map(|(bodies, depth, _)| (bodies, depth)))
    }

    /// Local size of a facet [m]; of a plane, that of the finest body.
    pub(super) fn size_of(&self, face: u32) -> f64 {
        let size = self.world.scene.facet_size[face as usize];
        if size.is_finite() { size } else { self.thinnest }
    }

    /// Nothing that could give way has to do with it.
    fn is_held(&self, record: &VertexFace) -> bool {
        let facet = &self.world.scene.facets[record.face as usize];
        let fixed = |k: u32| self.inv_mass[k as usize] == Mat3::zeros();
        fixed(record.node) && facet.corners().iter().all(|&k| fixed(k))
    }

    /// What a node and a facet span.
    pub(super) fn simplex_of(&self, node: u32, face: u32) -> Simplex {
        let facet = &self.world.scene.facets[face as usize];
        let [a, b, c, _] = facet.nodes;
        let (nodes, sign) = match facet.kind {
            FacetKind::Plane | FacetKind::Segment => ([node, a, b, b], 1.0),
            FacetKind::Point => {
                let out = self.start[a as usize].x - self.start[b as usize].x;
                ([node, a, a, a], if out < 0.0 { -1.0 } else { 1.0 })
            }
            FacetKind::Triangle | FacetKind::Quad => ([node, a, b, c], 1.0),
        };
        Simplex { touch: ContactKind::of_facet(facet.kind), nodes, sign }
    }

    /// The constraint of a node and a facet.
    pub(super) fn of_facet(&self, model: &Model, node: u32, face: u32) -> Constraint {
        let body = self.world.scene.facets[face as usize].body;
        let simplex = self.simplex_of(node, face);
        let bodies = [self.world.scene.node_body[node as usize], body];
        let plane = simplex.touch == ContactKind::NodePlane;
        Constraint {
            key: (simplex.touch, node, face),
            simplex,
            bodies,
            size: self.size_of(face),
            mu: model.contact.law(bodies[0], bodies[1]).friction,
            carried: if plane { self.carried(node, body) } else { Vec3::zeros() },
        }
    }

    /// Way of the material point of an obstacle that stands at a node at the end of the step.
    fn carried(&self, node: u32, body: u32) -> Vec3 {
        let at = body as usize - (self.world.scene.bodies.len() - self.from.len());
        let (p0, p1) = (&self.from[at], &self.world.poses[at]);
        let x = self.world.x[node as usize];
        let drawn = p1.centre + p1.turn.transpose() * (x - p1.centre - p1.displacement);
        x - p0.place(&drawn)
    }

    /// Through which facet a node leaves the body of `record`.
    fn exit(&self, model: &Model, record: &VertexFace, work: &Joined) -> Option<Constraint> {
        let scene = &self.world.scene;
        let facet = &scene.facets[record.face as usize];
        // facets that share a corner with the nearest one
        let mut near: Vec<u32> = match facet.kind.corners() {
            0 | 1 => vec![record.face],
            _ => facet.corners().iter().flat_map(|&k| scene.node_facets.of(k)).copied().collect(),
        };
        near.extend(self.met_by(record.node, facet.body));
        near.sort_unstable();
        near.dedup();
        let own_body = scene.node_body[record.node as usize];
        near.retain(|&f| {
            let g = &scene.facets[f as usize];
            g.body == facet.body
                && !g.corners().contains(&record.node)
                && (own_body != facet.body || !scene.excludes_vertex_face(record.node, f, false))
        });
        let mut candidates: Vec<Candidate> = near
            .iter()
            .map(|&f| self.of_facet(model, record.node, f))
            .filter(|c| !work.is_banned(&c.key) && !work.has(&c.key))
            .filter_map(|c| self.candidate(c))
            .collect();
        if self.last_of_equals {
            candidates.reverse();
        }
        // rules are dropped in turn where nothing is left; never that it was open: a facet the node was behind before did not keep it
        // out, and to bring it in front of that one would take work. (Springs let nodes in.)
        let rules = [(0.0, true), (BESIDE, true), (0.0, false), (BESIDE, false), (f64::INFINITY, false)];
        if !self.springs || candidates.iter().any(|c| c.was_open) {
            candidates.retain(|c| c.was_open);
        }
        for (beside, facing) in rules {
            let fits = |c: &&Candidate| c.outside <= beside && (c.faces || !facing);
            let least = candidates.iter().filter(fits).map(|c| c.cost).fold(f64::INFINITY, f64::min);
            if let Some(c) = candidates.iter().filter(fits).find(|c| c.cost <= least * (1.0 + TIE)) {
                return Some(c.constraint);
            }
        }
        None
    }

    /// What counts when a constraint is chosen; `None` where it is not violated or cannot be repaired.
    pub(super) fn candidate(&self, c: Constraint) -> Option<Candidate> {
        let foot = c.simplex.foot(&self.world.x);
        let g = c.simplex.value(&self.world.x);
        let violated = g < -TOUCH * c.size * foot.lever;
        let gradient = c.simplex.gradient(&self.world.x);
        let ease: f64 = c
            .simplex
            .ids()
            .iter()
            .zip(&gradient)
            .map(|(&k, d)| d.dot(&(self.inv_mass[k as usize] * d)))
            .sum();
        if !violated || ease.is_nan() || ease <= 0.0 {
            return None;
        }
        let lever = c.simplex.foot(&self.start).lever;
        Some(Candidate {
            outside: foot.outside(c.key.0),
            was_open: self.starting || c.simplex.value(&self.start) >= -WAS_OPEN * c.size * lever,
            faces: self.faces(c.key.1, &foot),
            cost: -g / ease.sqrt(),
            constraint: c,
        })
    }

    /// Does some facet of the node look against the normal? One that bodies part along lies in the normal cones of both.
    fn faces(&self, node: u32, foot: &Foot) -> bool {
        let own = self.world.scene.node_facets.of(node);
        let mut normals =
            own.iter().map(|&f| self.world.scene.facets[f as usize].area_vector(&self.world.x).normalize());
        own.is_empty() || normals.any(|n| n.dot(&foot.normal) < -FACES)
    }

    /// Local size of the facets around two edges [m].
    fn size_of_edges(&self, first: u32, second: u32) -> f64 {
        let facets = [first, second].map(|e| self.world.scene.edges[e as usize].facets);
        let sizes = facets.iter().flatten().filter_map(|&f| self.world.scene.facet_size.get(f as usize));
        sizes.copied().fold(f64::INFINITY, f64::min)
    }

    /// Is an end of one of two edges inside the other's body?
    pub(super) fn has_end_inside(&self, first: u32, second: u32) -> bool {
        let [e, f] = [first, second].map(|e| &self.world.scene.edges[e as usize]);
        let inside = |k: &u32, body: u32| self.inside.binary_search(&(*k, body)).is_ok();
        e.nodes.iter().any(|k| inside(k, f.body)) || f.nodes.iter().any(|k| inside(k, e.body))
    }

    /// What two edges span.
    pub(super) fn simplex_of_edges(&self, first: u32, second: u32, sign: f64) -> Simplex {
        let [[a, b], [c, d]] = [first, second].map(|e| self.world.scene.edges[e as usize].nodes);
        Simplex { touch: ContactKind::EdgeEdge, nodes: [a, b, c, d], sign }
    }

    /// The constraint of two edges; `sign` is that of their volume while they are apart.
    pub(super) fn of_edges(&self, model: &Model, first: u32, second: u32, sign: f64) -> Constraint {
        let [e, f] = [first, second].map(|e| &self.world.scene.edges[e as usize]);
        Constraint {
            key: (ContactKind::EdgeEdge, first, second),
            simplex: self.simplex_of_edges(first, second, sign),
            bodies: [e.body, f.body],
            size: self.size_of_edges(first, second),
            mu: model.contact.law(e.body, f.body).friction,
            carried: Vec3::zeros(),
        }
    }

    /// Crossed edges without an end inside the other's body.
    fn edges(&self, model: &Model, work: &mut Joined, found: &mut Found) {
        let scene = &self.world.scene;
        let normals = Normals::at(scene, &self.world.x);
        let touch = if work.kept_out.is_empty() { TOUCH } else { SATISFIED };
        for r in self.world.search.edge_edge() {
            let (e, f) = (&scene.edges[r.first as usize], &scene.edges[r.second as usize]);
            let size = self.size_of_edges(r.first, r.second);
            if r.gap >= -touch * size {
                continue;
            }
            let key = (ContactKind::EdgeEdge, r.first, r.second);
            if self.has_end_inside(r.first, r.second)
                || !in_normal_cones(&normals, r.first, r.second, &r.normal)
            {
                continue;
            }
            let nodes = [e.nodes[0], e.nodes[1], f.nodes[0], f.nodes[1]];
            let x = |k: usize| self.world.x[nodes[k] as usize];
            let sign = if (x(1) - x(0)).cross(&(x(3) - x(2))).dot(&r.normal) < 0.0 { -1.0 } else { 1.0 };
            let c = self.of_edges(model, r.first, r.second, sign);
            // lines that were on this side of each other all along have not crossed in this step
            let Some(candidate) = self.candidate(c).filter(|c| c.was_open) else { continue };
            let depth = depth_of_edges(scene, &self.world.x, r, 0.0);
            found.depth = found.depth.max(depth);
            if work.has(&key) || work.is_banned(&key) {
                found.left += usize::from(depth > ACCEPTED * size);
            } else {
                work.add(candidate.constraint);
            }
        }
    }

    /// Does a pressing constraint act on nothing, its foot having left the features?
    pub(crate) fn is_ghost(&self, c: &Constraint) -> bool {
        c.simplex.foot(&self.world.x).outside(c.key.0) > GHOST
    }

    /// Distance of a constraint's features [m]; negative is overlap.
    pub fn distance(&self, c: &Constraint) -> f64 {
        c.simplex.value(&self.world.x) / c.simplex.foot(&self.world.x).lever
    }
}

/// A constraint that could be chosen.
pub(super) struct Candidate {
    pub constraint: Constraint,
    /// How far the foot is beside the features, as a share of them.
    pub outside: f64,
    pub was_open: bool,
    faces: bool,
    /// Displacement in the kinetic norm that repairs it.
    cost: f64,
}
