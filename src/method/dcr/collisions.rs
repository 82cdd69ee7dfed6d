//! Contacts of one step of `dcr`: found, put in order, answered one after the other.
//!
//! ```text
//! find     nodes inside faces and crossed edges at the end of the step; on the way to it where bodies move so far
//!          in one step that they could pass through each other
//! answer   measure anew · back on the surface · exchange momentum, in a fixed order
//! ```
//!
//! Everybody who was moved or pushed is remembered until the step is booked. The order is that of the records, which
//! is that of the model; nothing here runs in parallel but the search, so threads change nothing.

use super::super::newmark::{Newmark, Touch, UNTOUCHED};
use super::super::response::{self, Impact};
use super::{Options, Variant};
use crate::contact::obstacle::Pose;
use crate::contact::pair::{MAX_POINTS, Pair};
use crate::contact::scene::{FacetKind, Scene};
use crate::contact::search::{PairSearch, Pass, Positions, Query, SearchError};
use crate::contact::three_stage::ThreeStage;
use crate::contact::touch::{
    Features, Motion, Places, Touching, came_through, edges_cross, node_crosses, parts_bodies,
};
use crate::math::{Mat3, Vec3};
use crate::model::{Ledger, Model};

/// Depth up to which a node counts as inside, and half the travel from which on crossings are looked for: this share
/// of the finest body's median edge.
const DEEPEST: f64 = 0.25;
/// Smallest reach of the search, as a share of the deepest.
const LEAST_REACH: f64 = 1.0 / 16.0;
/// Gap that is left where crossings are looked for, as a share of the finest body's median edge.
const CLEARANCE: f64 = 1e-6;
/// A node no farther than this beside a face it came through is in it, as a share of the finest body's median edge.
const BESIDE: f64 = 1e-2;
/// Nothing is deeper than it travelled in one step: edges may be off by this much more, as a share of the deepest.
const LATE: f64 = 0.02;

/// What contact did to one node in a step.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub node: u32,
    /// Acceleration at the start of the step.
    pub a: Vec3,
    /// How far it was put back [m].
    pub moved: Vec3,
    /// Normal and tangential impulse [N s].
    pub normal: Vec3,
    pub friction: Vec3,
    /// Momentum of the spin correction [N s].
    pub spin: Vec3,
}

/// Sums over the contacts of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Energy taken out by normal impulses and by friction at the instant of impact [J].
    pub lost_normal: f64,
    pub lost_friction: f64,
    /// Energy added by the spin correction and by the energy correction [J].
    pub spin: f64,
    pub returned: f64,
    /// Work, impulse and its moment from obstacles.
    pub work: f64,
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Pairs that carried impulse, and impulses altogether.
    pub contacts: u64,
    pub kicks: u64,
}

/// Impulses between two bodies since the start [N s]: on the first of the two.
pub type BodyImpulse = ([u32; 2], Vec3);

pub struct Collisions {
    pub scene: Scene,
    pub search: ThreeStage,
    inv_mass: Vec<Mat3>,
    /// Nodes of obstacles as drawn, and where obstacles stand at the end of the step.
    drawn: Vec<Vec3>,
    poses: Vec<Pose>,
    /// All nodes of the scene at the start of the step and now.
    pub start: Vec<Vec3>,
    pub now: Vec<Vec3>,
    list: Vec<Touching>,
    /// Nodes and faces of the last step's list, sorted: where a node belongs that is still inside.
    pub known: Vec<[u32; 2]>,
    /// The same of the step before, while this one is answered.
    before: Vec<[u32; 2]>,
    carried: Vec<bool>,
    /// Contacts of variant F that wait for the forces of the new positions.
    pending: Vec<(usize, Pair, [Vec3; MAX_POINTS])>,
    /// Place of each node among the touched.
    pub slot: Vec<u32>,
    pub nodes: Vec<Node>,
    pub touches: Vec<Touch>,
    pub sums: Sums,
    /// Impulse of contact on each node since the start [N s].
    pub received: Vec<Vec3>,
    /// Sorted by bodies.
    pub between: Vec<BodyImpulse>,
    deepest: f64,
    clearance: f64,
}

impl Collisions {
    pub fn new(model: &Model) -> Collisions {
        let scene = model.contact.scene(model, true);
        let drawn = model.contact.obstacle_nodes();
        let soft = scene.bodies.iter().filter(|b| !b.attributes.rigid && !b.facets.is_empty());
        let finest = soft.fold(f64::INFINITY, |least, b| least.min(b.median_edge));
        let finest = if finest.is_finite() { finest } else { 0.0 };
        let mut inv_mass: Vec<Mat3> =
            model.mass.iter().map(|m| Mat3::from_diagonal_element(1.0 / m)).collect();
        for held in &model.restraints.held {
            inv_mass[held.node as usize] = held.free / model.mass[held.node as usize];
        }
        let mut now = model.reference.clone();
        now.extend(&drawn);
        Collisions {
            scene,
            search: ThreeStage::new(),
            inv_mass,
            drawn,
            poses: Vec::new(),
            start: now.clone(),
            now,
            list: Vec::new(),
            known: Vec::new(),
            before: Vec::new(),
            carried: Vec::new(),
            pending: Vec::new(),
            slot: vec![UNTOUCHED; model.reference.len()],
            nodes: Vec::new(),
            touches: Vec::new(),
            sums: Sums::default(),
            received: vec![Vec3::zeros(); model.reference.len()],
            between: Vec::new(),
            deepest: DEEPEST * finest,
            clearance: CLEARANCE * finest,
        }
    }

    /// Largest depth that is looked for [m].
    pub fn deepest(&self) -> f64 {
        self.deepest
    }

    /// Takes up the positions `x` at `time` as the present ones, without a past.
    pub fn begin(&mut self, model: &Model, x: &[Vec3], time: f64) {
        self.now[..x.len()].copy_from_slice(x);
        model.contact.place(time, &self.drawn, &mut self.now[x.len()..]);
    }

    /// Takes up the positions of the end of a step; the present ones are those of its start.
    pub fn move_to(&mut self, model: &Model, x: &[Vec3], time: f64) {
        std::mem::swap(&mut self.start, &mut self.now);
        self.begin(model, x, time);
        self.poses.clear();
        self.poses.extend(model.contact.obstacles.iter().map(|o| o.pose(time)));
        for node in &self.nodes {
            self.slot[node.node as usize] = UNTOUCHED;
        }
        self.nodes.clear();
        self.pending.clear();
        self.touches.clear();
        self.sums = Sums::default();
    }

    /// Farthest way of a surface node in this step [m], seen from the middle of all.
    fn travel(&self) -> f64 {
        let moves = || self.scene.slots.iter().map(|&k| self.now[k as usize] - self.start[k as usize]);
        let mean = moves().sum::<Vec3>() / (self.scene.slots.len().max(1)) as f64;
        moves().fold(0.0, |most, d| f64::max(most, (d - mean).norm_squared())).sqrt()
    }

    /// Finds what touches. `penetration` is the deepest overlap at the start of the step.
    pub fn find(&mut self, options: &Options, penetration: f64) -> Result<(), SearchError> {
        self.list.clear();
        let travel = self.travel();
        let swept = options.swept.unwrap_or(2.0 * travel > self.deepest);
        // Powers of two, so that lists of candidates last.
        let wanted = 2.0 * (travel + penetration);
        let mut reach = self.deepest * LEAST_REACH;
        while reach < wanted && reach < self.deepest {
            reach *= 2.0;
        }
        let query = Query {
            reach: reach.min(self.deepest),
            vertex_face: true,
            edge_edge: options.edge_edge,
            face_face: false,
            pass: Pass::Double,
            max_penetration: None,
        };
        if swept {
            self.find_crossings(&query)?;
        }
        self.search.find(&self.scene, &self.now, Some(&self.start), &query)?;
        self.collect(swept);
        self.carried.clear();
        self.carried.resize(self.list.len(), false);
        Ok(())
    }

    /// Nodes inside faces, then crossed edges, from the records of the search.
    fn collect(&mut self, swept: bool) {
        let Collisions { scene, search, list, now, start, poses, known, before, .. } = self;
        let crossings = list.len();
        let at_start = Places { scene, x: start, poses };
        let touched_before =
            |t: &Touching| !swept || t.pair(&at_start).is_none_or(|pair| pair.gap <= 2.0 * self.clearance);
        let beside = self.clearance * (BESIDE / CLEARANCE);
        for record in search.vertex_face().iter().filter(|r| r.gap <= beside) {
            let mut record = *record;
            let mut through = false;
            let solid = !scene.bodies[scene.facets[record.face as usize].body as usize].attributes.two_sided;
            if solid && scene.facets[record.face as usize].kind.corners() > 1 {
                let motion = Motion { start, end: now };
                let body = scene.facets[record.face as usize].body;
                let from = known.partition_point(|k| k[0] < record.node);
                let touched = known[from..].iter().take_while(|k| k[0] == record.node);
                let touched = touched.map(|k| k[1]).find(|&f| scene.facets[f as usize].body == body);
                if let Some(face) = came_through(scene, motion, &record, touched, beside) {
                    (record.face, through) = (face, true);
                }
            }
            if !through && record.gap > 0.0 {
                continue;
            }
            let facet = &scene.facets[record.face as usize];
            let other = facet.nodes[0];
            // Two ends of bars see each other; once is enough.
            if facet.kind == FacetKind::Point && other < record.node && both_ends(scene, record.node) {
                continue;
            }
            let mut touching = Touching::of_record(scene, &record);
            if let Features::NodeFace { through: t, .. } = &mut touching.features {
                *t = through;
            }
            let crossed = |t: &Touching| {
                t.bodies == touching.bodies
                    && matches!(t.features, Features::NodeFace { node, .. } if node == record.node)
            };
            let plane = facet.kind == FacetKind::Plane;
            if plane || touched_before(&touching) && !list[..crossings].iter().any(crossed) {
                list.push(touching);
            }
        }
        std::mem::swap(known, before);
        known.clear();
        known.extend(list.iter().filter_map(|t| match t.features {
            Features::NodeFace { node, face, .. } => Some([node, face]),
            Features::Edges { .. } => None,
        }));
        known.sort_unstable();
        for record in search.edge_edge().iter().filter(|r| r.gap <= 0.0) {
            let touching = Touching::of_edges(scene, record);
            let same = |t: &Touching| matches!(t.features, Features::Edges { first, second, .. } if (first, second) == (record.first, record.second));
            if list[..crossings].iter().any(same) || !touched_before(&touching) {
                continue;
            }
            if parts_bodies(scene, now, record.first, record.second, &record.normal) {
                list.push(touching);
            }
        }
    }

    /// What met on its way, in the order of time; of each node and body the first.
    fn find_crossings(&mut self, query: &Query) -> Result<(), SearchError> {
        let Collisions { scene, search, list, now, start, poses, .. } = self;
        let wide = Query { reach: 2.0 * self.clearance, ..*query };
        search.gather(scene, Positions::swept(start, now), &wide)?;
        let motion = Motion { start, end: now };
        let at = Places { scene, x: now, poses };
        let touch = 2.0 * self.clearance;
        let candidates = search.candidates();
        for group in &candidates.groups {
            for &[node, face] in group.vertex_face.of(&candidates.vertex_face) {
                list.extend(node_crosses(&at, motion, node, face, touch));
            }
            for &[e, f] in group.edge_edge.of(&candidates.edge_edge) {
                list.extend(edges_cross(&at, motion, e, f, touch));
            }
        }
        let key = |t: &Touching| match t.features {
            Features::NodeFace { node, face, .. } => (0, node, face),
            Features::Edges { first, second, .. } => (1, first, second),
        };
        list.sort_unstable_by(|p, q| p.time.total_cmp(&q.time).then(key(p).cmp(&key(q))));
        let mut kept = 0;
        for i in 0..list.len() {
            let again = |t: &Touching| match (t.features, list[i].features) {
                (Features::NodeFace { node, .. }, Features::NodeFace { node: other, .. }) => {
                    node == other && t.bodies[1] == list[i].bodies[1]
                }
                _ => false,
            };
            if !list[..kept].iter().any(again) {
                list[kept] = list[i];
                kept += 1;
            }
        }
        list.truncate(kept);
        Ok(())
    }

    /// Answers all contacts in their order, a few times at most; `v` are the velocities of all nodes.
    pub fn answer(&mut self, model: &Model, options: &Options, newmark: &Newmark, v: &mut [Vec3]) {
        for _ in 0..options.sweeps {
            let mut any = false;
            for i in 0..self.list.len() {
                any |= self.answer_one(i, model, options, newmark, v);
            }
            if !any {
                break;
            }
        }
        self.touches.extend(self.nodes.iter().map(|n| Touch {
            impulse: n.normal + n.friction + n.spin,
            kick: self.inv_mass[n.node as usize] * (n.normal + n.friction + n.spin),
        }));
        self.sums.contacts = self.carried.iter().filter(|c| **c).count() as u64;
    }

    fn answer_one(
        &mut self,
        i: usize,
        model: &Model,
        options: &Options,
        newmark: &Newmark,
        v: &mut [Vec3],
    ) -> bool {
        let touching = self.list[i];
        let at = Places { scene: &self.scene, x: &self.now, poses: &self.poses };
        // measured anew: earlier contacts have moved nodes
        let Some(mut pair) = touching.pair(&at) else { return false };
        if pair.gap > 0.0 || self.came_too_late(&touching, &pair) {
            return false;
        }
        let [a, b] = touching.bodies;
        let law = model.contact.law(a, b);
        (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
        let clearance = if touching.crossing.is_some() { self.clearance } else { 0.0 };

        // a: back on the surface
        let Some(moves) = response::displacements(&pair, clearance, options.projection, &self.inv_mass)
        else {
            return false;
        };
        let mut work = 0.0;
        for ((k, _), d) in pair.stencil().zip(&moves) {
            work += model.mass[k] * newmark.acceleration(k).dot(d);
            self.now[k] += d;
            self.node(k, newmark).moved += d;
        }
        if options.spin_correction && pair.outer.is_none() && self.is_free(&pair, model) {
            let (changes, gain) = response::restore_spin(&pair, &moves, &model.mass, &self.now, v);
            self.sums.spin += gain;
            for ((k, _), dv) in pair.stencil().zip(&changes) {
                self.node(k, newmark).spin += model.mass[k] * dv;
            }
        }

        // b: exchange momentum in closed form
        if options.energy_correction && options.variant == Variant::FullStep {
            self.pending.push((i, pair, moves));
            return false;
        }
        let work = if options.energy_correction { work } else { 0.0 };
        let Some(impact) = response::bounce(&pair, work, &self.inv_mass, v) else { return false };
        self.book(&pair, &impact, [a, b], newmark);
        if options.energy_correction {
            self.sums.returned += work - impact.owed;
        }
        self.carried[i] = true;
        true
    }

    /// Impulses of the contacts whose positions have been put right, with the work `½(f + f̃)·d` of that given back;
    /// `newmark` has the accelerations of the new positions.
    pub fn exchange(&mut self, model: &Model, newmark: &Newmark, v: &mut [Vec3]) {
        for at in 0..self.pending.len() {
            let (i, pair, moves) = self.pending[at];
            let mut work = 0.0;
            for ((k, _), d) in pair.stencil().zip(&moves) {
                let a = self.node(k, newmark).a + newmark.acceleration(k);
                work += 0.5 * model.mass[k] * a.dot(d);
            }
            if let Some(impact) = response::bounce(&pair, work, &self.inv_mass, v) {
                self.book(&pair, &impact, self.list[i].bodies, newmark);
                self.sums.returned += work - impact.owed;
                self.carried[i] = true;
            }
        }
        self.sums.contacts = self.carried.iter().filter(|c| **c).count() as u64;
    }

    fn book(&mut self, pair: &Pair, impact: &Impact, bodies: [u32; 2], newmark: &Newmark) {
        let j = impact.impulse();
        let mut centre = Vec3::zeros();
        for (k, w) in pair.stencil() {
            let node = self.node(k, newmark);
            node.normal += w * impact.normal;
            node.friction += w * impact.friction;
            centre += w * self.now[k];
        }
        self.sums.lost_normal += impact.lost_normal;
        self.sums.lost_friction += impact.lost_friction;
        self.sums.kicks += 1;
        // the first point of a pair with an obstacle belongs to the body, whichever came first in the record
        let mut on_first = j;
        if let Some(outer) = pair.outer {
            self.sums.work += j.dot(&outer.velocity);
            self.sums.impulse += j;
            self.sums.moment += centre.cross(&j);
            if self.scene.bodies[bodies[0] as usize].attributes.rigid {
                on_first = -j;
            }
        }
        let (key, on_first) =
            if bodies[0] <= bodies[1] { (bodies, on_first) } else { ([bodies[1], bodies[0]], -on_first) };
        match self.between.binary_search_by_key(&key, |p| p.0) {
            Ok(at) => self.between[at].1 += on_first,
            Err(at) => self.between.insert(at, (key, on_first)),
        }
    }

    /// An edge deeper in another than it can have come in this step was never outside of it.
    fn came_too_late(&self, touching: &Touching, pair: &Pair) -> bool {
        if touching.crossing.is_some() || !matches!(touching.features, Features::Edges { .. }) {
            return false;
        }
        // Where an end of the edges was inside a face before, the bodies have met already.
        let met = |k: &u32| {
            let from = self.before.partition_point(|b| b[0] < *k);
            let faces = self.before[from..].iter().take_while(|b| b[0] == *k);
            faces.map(|b| self.scene.facets[b[1] as usize].body).any(|b| touching.bodies.contains(&b))
        };
        if pair.points().iter().any(met) {
            return false;
        }
        let came: Vec3 = pair.stencil().map(|(k, w)| w * (self.now[k] - self.start[k])).sum();
        let came = came - pair.outer.map_or(Vec3::zeros(), |_| self.obstacle_step(touching, pair));
        -pair.gap > 2.0 * came.norm() + LATE * self.deepest
    }

    /// How far the outer point of a pair of edges came in this step.
    fn obstacle_step(&self, touching: &Touching, pair: &Pair) -> Vec3 {
        let Features::Edges { first, second, .. } = touching.features else { return Vec3::zeros() };
        let rigid = |e: &u32| self.scene.bodies[self.scene.edges[*e as usize].body as usize].attributes.rigid;
        let Some(e) = [first, second].into_iter().find(rigid) else { return Vec3::zeros() };
        let Some(outer) = pair.outer else { return Vec3::zeros() };
        let [a, b] = self.scene.edges[e as usize].nodes.map(|k| k as usize);
        let along = self.now[b] - self.now[a];
        let s = (outer.position - self.now[a]).dot(&along) / along.norm_squared();
        (1.0 - s) * (self.now[a] - self.start[a]) + s * (self.now[b] - self.start[b])
    }

    fn is_free(&self, pair: &Pair, model: &Model) -> bool {
        pair.stencil().all(|(k, _)| self.inv_mass[k] == Mat3::from_diagonal_element(1.0 / model.mass[k]))
    }

    /// The account of a node, opened at its first contact.
    fn node(&mut self, node: usize, newmark: &Newmark) -> &mut Node {
        if self.slot[node] == UNTOUCHED {
            self.slot[node] = self.nodes.len() as u32;
            let zero = Vec3::zeros();
            self.nodes.push(Node {
                node: node as u32,
                a: newmark.acceleration(node),
                moved: zero,
                normal: zero,
                friction: zero,
                spin: zero,
            });
        }
        &mut self.nodes[self.slot[node] as usize]
    }

    /// Part of an impulse on a node that its support takes.
    pub fn held_part(&self, node: usize, mass: f64, impulse: &Vec3) -> Vec3 {
        impulse - mass * (self.inv_mass[node] * impulse)
    }

    /// Did anything overlap?
    pub fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Deepest overlap of the present positions [m].
    pub fn penetration(&mut self, options: &Options) -> Result<f64, SearchError> {
        let query = Query {
            reach: self.deepest,
            vertex_face: true,
            edge_edge: options.edge_edge,
            face_face: false,
            pass: Pass::Double,
            max_penetration: None,
        };
        self.search.find(&self.scene, &self.now, Some(&self.start), &query)?;
        let mut depth: f64 = 0.0;
        for record in self.search.vertex_face() {
            depth = depth.max(-record.gap);
        }
        for record in self.search.edge_edge() {
            if -record.gap > depth
                && parts_bodies(&self.scene, &self.now, record.first, record.second, &record.normal)
            {
                depth = -record.gap;
            }
        }
        Ok(depth)
    }

    /// Writes the books of the impacts themselves; what depends on the end of the step is the method's.
    pub fn post(&mut self, ledger: &mut Ledger) {
        for n in &self.nodes {
            self.received[n.node as usize] += n.normal + n.friction;
        }
        ledger.restitution += self.sums.lost_normal + self.sums.returned;
        ledger.friction += self.sums.lost_friction;
        ledger.correction += self.sums.spin + self.sums.returned;
        ledger.external += self.sums.work;
        ledger.impulse += self.sums.impulse;
        ledger.moment += self.sums.moment;
        ledger.contacts = self.sums.contacts;
        ledger.collision_kicks += self.sums.kicks;
    }
}

/// Is this node the end of a bar, seen by others as a facet too?
fn both_ends(scene: &Scene, node: u32) -> bool {
    scene.node_facets.of_owner(node).iter().any(|&f| scene.facets[f as usize].kind == FacetKind::Point)
}
