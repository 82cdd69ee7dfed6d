//! Contacts of one step of `dcr`: found, put in order, answered one after the other.
//!
//! ```text
//! find     nodes inside faces and crossed edges at the end of the step; on the way to it where bodies move so far
//!          in one step that they could pass through each other
//! answer   measure anew · back on the surface, in a fixed order; then all exchange momentum ([`super::exchange`])
//! ```
//!
//! With `guard` the way is looked at again until nothing meets on it ([`super::guard`]).
//!
//! Everybody who was moved or pushed is remembered until the step is booked. The order is that of the records, which
//! is that of the model; nothing here runs in parallel but the search, so threads change nothing.

use super::super::impulses::Impulses;
use super::super::newmark::{Newmark, Touch, UNTOUCHED};
use super::super::response::{self, Impact, Spin};
use super::Options;
use super::exchange::{Queue, Waiting};
use super::guard::Zones;
use crate::contact::entry;
use crate::contact::obstacle::Pose;
use crate::contact::pair::Pair;
use crate::contact::scene::{FacetKind, Scene};
use crate::contact::search::{PairSearch, Pass, Positions, Query, SearchError, VertexFace};
use crate::contact::three_stage::{ThreeStage, Way};
use crate::contact::touch::{
    Features, Motion, Places, Touching, came_through, depth_of_edges, edge_crossing, edges_meet,
    node_crossing, node_meets, parts_bodies,
};
use crate::math::{Mat3, Vec3};
use crate::model::inertia::Inertia;
use crate::model::{Ledger, Model};

/// Depth up to which a node counts as inside, and half the travel from which on crossings are looked for: this share
/// of the finest body's median edge.
const DEEPEST: f64 = 0.25;
/// Smallest reach of the search, as a share of the deepest.
const LEAST_REACH: f64 = 1.0 / 8.0;
/// Gap that is left where crossings are looked for, as a share of the finest body's median edge.
const CLEARANCE: f64 = 1e-6;
/// A node no farther than this beside a face it came through is in it, as a share of the finest body's median edge.
const BESIDE: f64 = 1e-2;
/// Nothing is deeper than it travelled in one step: edges may be off by this much more, as a share of the deepest.
const LATE: f64 = 0.02;

/// A facet looks against a normal if the cosine of the two is below this: 96°.
const AGAINST: f64 = -0.1;
/// Depths that differ by less than this share of the deepest are equal.
const SAME_DEPTH: f64 = 1e-6;

/// Nodes of a body that tell where it goes.
const SAMPLES: usize = 8;

/// What contact did to one node in a step.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub node: u32,
    /// Acceleration at the start of the step.
    pub a: Vec3,
    /// How far it was put back on the surface, and along it where friction held it [m].
    pub moved: Vec3,
    pub held_back: Vec3,
    /// Normal and tangential impulse [N s].
    pub normal: Vec3,
    pub friction: Vec3,
    /// Momentum of the spin correction [N s].
    pub spin: Vec3,
    /// How far the guard has moved it beside that [m].
    pub guarded: Vec3,
}

impl Node {
    /// How far contact has moved it [m].
    fn way(&self) -> f64 {
        (self.moved + self.held_back + self.guarded).norm()
    }
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
    /// Impulses altogether.
    pub kicks: u64,
}

pub struct Collisions {
    pub scene: Scene,
    pub search: ThreeStage,
    /// For the way of a step, which has boxes of its own.
    pub(super) on_the_way: ThreeStage,
    pub(super) inv_mass: Vec<Mat3>,
    /// Nodes of obstacles as drawn, and where obstacles stand at the end of the step.
    drawn: Vec<Vec3>,
    pub(super) poses: Vec<Pose>,
    /// All nodes of the scene at the start of the step and now.
    pub start: Vec<Vec3>,
    pub now: Vec<Vec3>,
    pub(super) list: Vec<Touching>,
    /// Room to put it in order.
    order: Vec<(bool, i64, u32)>,
    sorted: Vec<Touching>,
    /// Nodes and faces of the last step's list, sorted: where a node belongs that is still inside.
    pub known: Vec<[u32; 2]>,
    /// The same of the step before, while this one is answered.
    before: Vec<[u32; 2]>,
    /// Pairs that carried impulse in this step.
    pub(super) carried: Vec<(u8, u32, u32)>,
    pub(super) queue: Queue,
    /// Nodes that the last look at overlaps is about; all false in between.
    listed: Vec<bool>,
    /// Whose nodes these are.
    listed_bodies: Vec<bool>,
    /// Farthest that contact moved a node of each body in the last step [m].
    pushed: Vec<f64>,
    /// Place of each node among the touched.
    pub slot: Vec<u32>,
    pub nodes: Vec<Node>,
    pub touches: Vec<Touch>,
    pub sums: Sums,
    pub impulses: Impulses,
    pub(super) zones: Zones,
    /// Of each body [m]; infinite where nobody is thin.
    pub(super) thickness: Vec<f64>,
    deepest: f64,
    pub(super) clearance: f64,
}

impl Collisions {
    pub fn new(model: &Model) -> Collisions {
        let scene = model.contact.scene(model, true);
        let drawn = model.contact.obstacle_nodes();
        let soft = scene.bodies.iter().filter(|b| !b.attributes.rigid && !b.facets.is_empty());
        let finest = soft.fold(f64::INFINITY, |least, b| least.min(b.median_edge));
        let finest = if finest.is_finite() { finest } else { 0.0 };
        let mut now = model.reference.clone();
        now.extend(&drawn);
        let thickness = entry::thickness(&scene, &now, 2.0 * DEEPEST * finest);
        Collisions {
            scene,
            search: ThreeStage::new(),
            on_the_way: ThreeStage::new(),
            inv_mass: Inertia::of_model(model).all(),
            drawn,
            poses: Vec::new(),
            start: now.clone(),
            now,
            list: Vec::new(),
            order: Vec::new(),
            sorted: Vec::new(),
            known: Vec::new(),
            before: Vec::new(),
            carried: Vec::new(),
            queue: Queue::default(),
            listed: Vec::new(),
            listed_bodies: Vec::new(),
            pushed: Vec::new(),
            slot: vec![UNTOUCHED; model.reference.len()],
            nodes: Vec::new(),
            touches: Vec::new(),
            sums: Sums::default(),
            impulses: Impulses::new(model.reference.len()),
            zones: Zones::default(),
            thickness,
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
        self.pushed.clear();
        self.pushed.resize(self.scene.bodies.len(), 0.0);
        for node in &self.nodes {
            self.slot[node.node as usize] = UNTOUCHED;
            let pushed = &mut self.pushed[self.scene.node_body[node.node as usize] as usize];
            *pushed = pushed.max(node.way());
        }
        self.nodes.clear();
        self.queue.clear();
        self.carried.clear();
        self.touches.clear();
        self.sums = Sums::default();
    }

    /// How far each body has come in this step, seen from the middle of all; returns the farthest way of a node [m].
    fn measure_ways(&mut self, penetration: f64) -> f64 {
        let Collisions { scene, search, start, now, .. } = self;
        let ways = search.ways.get_or_insert_default();
        // Powers of two, so that lists of candidates last.
        ways.at_rest = self.deepest * LEAST_REACH;
        while ways.at_rest < 2.0 * penetration {
            ways.at_rest *= 2.0;
        }
        ways.margin = self.clearance * (BESIDE / CLEARANCE);
        let way = |k: u32| now[k as usize] - start[k as usize];
        ways.of_body.clear();
        let mut middle = Vec3::zeros();
        for (body, &pushed) in scene.bodies.iter().zip(&self.pushed) {
            let slots = &scene.slots[body.slots.start as usize..body.slots.end as usize];
            let (shift, strain) = if body.plane {
                let facet = &scene.facets[body.facets.start as usize];
                let turned = facet.area_vector(start) != facet.area_vector(now);
                (way(facet.nodes[0]), if turned { self.deepest } else { 0.0 })
            } else {
                // A few nodes stand for all: any shift is right, a good one leaves little strain.
                let samples = slots.iter().step_by(slots.len().div_ceil(SAMPLES).max(1));
                let count = samples.len().max(1) as f64;
                let shift = samples.map(|&k| way(k)).sum::<Vec3>() / count;
                let strain = slots.iter().map(|&k| (way(k) - shift).norm_squared()).fold(0.0, f64::max);
                (shift, strain.sqrt())
            };
            middle += shift / scene.bodies.len() as f64;
            ways.of_body.push(Way { shift, strain, pushed });
        }
        let from_middle = |w: &Way| (w.shift - middle).norm() + w.strain;
        ways.of_body.iter().map(from_middle).fold(0.0, f64::max)
    }

    /// Finds what touches. `penetration` is the deepest overlap at the start of the step.
    pub fn find(&mut self, options: &Options, penetration: f64) -> Result<(), SearchError> {
        self.list.clear();
        let way = self.measure_ways(penetration);
        let swept = options.swept.unwrap_or_else(|| {
            let ways = self.search.ways.as_ref().map_or(&[][..], |w| &w.of_body);
            2.0 * way > self.deepest || self.may_pass(ways)
        });
        let query = self.query(options);
        if swept {
            self.find_crossings(&query)?;
        }
        self.search.find(&self.scene, &self.now, Some(&self.start), &query)?;
        self.collect(swept);
        Ok(())
    }

    /// What the search is asked for at one instant.
    fn query(&self, options: &Options) -> Query {
        Query {
            reach: self.deepest,
            vertex_face: true,
            edge_edge: options.edge_edge,
            face_face: false,
            pass: Pass::Double,
            max_penetration: None,
        }
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
                    record.normal = scene.facets[face as usize].area_vector(now).normalize();
                }
            }
            if !through && record.gap > 0.0 {
                continue;
            }
            let facet = &scene.facets[record.face as usize];
            if facet.kind != FacetKind::Plane && !faces(scene, now, &record) {
                continue;
            }
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
        self.put_in_order(crossings);
    }

    /// What overlaps goes the deepest first, nodes before edges, equal depths by their numbers: whoever comes first is told by
    /// the scene, not by the order in which its bodies are listed.
    fn put_in_order(&mut self, from: usize) {
        let Collisions { scene, list, now, poses, order, sorted, .. } = self;
        let at = Places { scene, x: now, poses };
        let equal = SAME_DEPTH * self.deepest;
        order.clear();
        for (i, touching) in list.iter().enumerate().skip(from) {
            let gap = touching.pair(&at).map_or(0.0, |pair| pair.gap);
            let edges = matches!(touching.features, Features::Edges { .. });
            order.push((edges, (gap / equal).round() as i64, i as u32));
        }
        order.sort_unstable();
        sorted.clear();
        sorted.extend(order.iter().map(|o| list[o.2 as usize]));
        list[from..].copy_from_slice(sorted);
    }

    /// What met on its way, in the order of time; of each node and body the first.
    fn find_crossings(&mut self, query: &Query) -> Result<(), SearchError> {
        let Collisions { scene, on_the_way, list, now, start, poses, .. } = self;
        let touch = 2.0 * self.clearance;
        on_the_way.gather(scene, Positions::swept(start, now), &Query { reach: touch, ..*query })?;
        let motion = Motion { start, end: now };
        let at = Places { scene, x: now, poses };
        for of in candidates(on_the_way) {
            if let Some(time) = of.meets(scene, motion, 0.0) {
                list.extend(Meeting { of, time }.crossing(&at, motion, touch, true));
            }
        }
        in_order(list);
        Ok(())
    }

    /// Puts all contacts back on the surface in their order, then exchanges their momentum; `v` are the velocities of
    /// all nodes.
    pub fn answer(&mut self, model: &Model, options: &Options, newmark: &Newmark, v: &mut [Vec3]) {
        for i in 0..self.list.len() {
            self.put_back(i, model, options, newmark, v, 0.0);
        }
        if !options.waits_for_forces() {
            self.exchange(model, options, newmark, v);
        }
    }

    /// Sums up what the step's contacts have done to each node.
    pub fn close(&mut self) {
        self.touches.extend(self.nodes.iter().map(|n| Touch {
            impulse: n.normal + n.friction + n.spin,
            kick: self.inv_mass[n.node as usize] * (n.normal + n.friction + n.spin),
        }));
    }

    /// Puts one contact back on the surface if it is not open by more than `room` [m].
    pub(super) fn put_back(
        &mut self,
        i: usize,
        model: &Model,
        options: &Options,
        newmark: &Newmark,
        v: &mut [Vec3],
        room: f64,
    ) {
        let touching = self.list[i];
        let at = Places { scene: &self.scene, x: &self.now, poses: &self.poses };
        // measured anew: earlier contacts have moved nodes
        let Some(mut pair) = touching.pair(&at) else { return };
        if pair.gap > 0.0 && touching.crossing.is_some() {
            // where they met they are apart again; they may have slid to another place
            let slid = Touching { crossing: None, ..touching }.pair(&at);
            pair = slid.filter(|p| p.gap <= 0.0 && -p.gap <= self.deepest).unwrap_or(pair);
        }
        if pair.gap > room || self.came_too_late(&touching, &pair) {
            return;
        }
        let [a, b] = touching.bodies;
        let law = model.contact.law(a, b);
        (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
        let clearance = if touching.crossing.is_some() || options.guard { self.clearance } else { 0.0 };
        let clearance = clearance.max(room);
        if touching.crossing.is_none() {
            // Putting back takes the angular momentum τ/(1+e) J × u, an impulse on points that have slid apart by δ since
            // they met gives δ × J: nothing is left if they met τ/(1+e) ago.
            let u = pair.relative_velocity(v);
            let approach = -pair.normal.dot(&u);
            let since = if approach > 0.0 { newmark.dt().min(-pair.gap / approach) } else { 0.0 };
            let slip = since / (1.0 + pair.e) * (u + approach * pair.normal);
            if let Some(met) = touching.before_sliding(&at, &pair, &slip).filter(|p| p.gap <= room) {
                let (mu, e) = (pair.mu, pair.e);
                pair = met;
                (pair.mu, pair.e) = (mu, e);
            }
        }

        let Some(moves) = response::displacements(&pair, clearance, options.projection, &self.inv_mass)
        else {
            return;
        };
        let mut work = 0.0;
        for ((k, _), d) in pair.stencil().zip(&moves) {
            work += model.mass[k] * newmark.acceleration(k).dot(d);
            self.now[k] += d;
            self.node(k, newmark).moved += d;
        }
        let spin = options.spin_correction && pair.outer.is_none() && self.are_free(pair.points(), model);
        if spin {
            let gained = response::spin_gained(&pair, &moves, &model.mass, v);
            self.restore_spin(pair.points(), gained, model, newmark, v);
        }
        let work = if options.energy_correction { work } else { 0.0 };
        self.queue.waiting.push(Waiting::new(touching, pair, work, spin));
        if options.waits_for_forces() {
            self.queue.moves.push(moves);
        }
    }

    /// What waits learns the work `½(f + f̃)·d` of having been put back, which it shall return; `newmark` has the
    /// accelerations of the new positions.
    pub fn measure_work(&mut self, model: &Model, newmark: &Newmark) {
        for at in 0..self.queue.waiting.len() {
            let (pair, moves) = (self.queue.waiting[at].pair, self.queue.moves[at]);
            let mut work = 0.0;
            for ((k, _), d) in pair.stencil().zip(&moves) {
                let a = self.node(k, newmark).a + newmark.acceleration(k);
                work += 0.5 * model.mass[k] * a.dot(d);
            }
            self.queue.waiting[at].work = work;
        }
    }

    /// Friction that changes velocities has also held the points back for the time `acted` [s]: that long they went too
    /// far. Without this a body at rest on a slope would creep by what gravity adds to its surface nodes in a step.
    pub(super) fn hold_back(&mut self, pair: &Pair, friction: &Vec3, acted: f64, newmark: &Newmark) {
        for (k, w) in pair.stencil() {
            let d = acted * w * (self.inv_mass[k] * friction);
            self.now[k] += d;
            self.node(k, newmark).held_back += d;
        }
    }

    /// Takes the angular momentum `gained` out of free nodes again.
    pub(super) fn restore_spin(
        &mut self,
        nodes: &[u32],
        gained: Vec3,
        model: &Model,
        newmark: &Newmark,
        v: &mut [Vec3],
    ) {
        let Some(spin) = Spin::against(&gained, nodes, &model.mass, &self.now, v) else { return };
        self.sums.spin += spin.gain;
        for k in nodes.iter().map(|&k| k as usize) {
            let dv = spin.at(&self.now[k]);
            v[k] += dv;
            self.node(k, newmark).spin += model.mass[k] * dv;
        }
    }

    pub(super) fn book(&mut self, pair: &Pair, impact: &Impact, bodies: [u32; 2], newmark: &Newmark) {
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
        self.impulses.add(bodies, on_first);
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

    /// Does nothing hold these nodes?
    pub(super) fn are_free(&self, nodes: &[u32], model: &Model) -> bool {
        let free = |k: usize| self.inv_mass[k] == Mat3::from_diagonal_element(1.0 / model.mass[k]);
        nodes.iter().all(|&k| (k as usize) < model.mass.len() && free(k as usize))
    }

    /// The account of a node, opened at its first contact.
    pub(super) fn node(&mut self, node: usize, newmark: &Newmark) -> &mut Node {
        if self.slot[node] == UNTOUCHED {
            self.slot[node] = self.nodes.len() as u32;
            let zero = Vec3::zeros();
            self.nodes.push(Node {
                node: node as u32,
                a: newmark.acceleration(node),
                moved: zero,
                held_back: zero,
                normal: zero,
                friction: zero,
                spin: zero,
                guarded: zero,
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

    /// Deepest overlap before the first step [m].
    pub fn penetration_at_start(&mut self, options: &Options) -> Result<f64, SearchError> {
        self.search.find(&self.scene, &self.now, None, &self.query(options))?;
        Ok(self.deepest_record())
    }

    /// Deepest overlap at the end of the step [m]. Only who was listed or moved can overlap, and nobody who sleeps, unless
    /// contact has moved a node very far.
    pub fn penetration(&mut self, options: &Options) -> Result<f64, SearchError> {
        let query = self.query(options);
        let margin = self.clearance * (BESIDE / CLEARANCE);
        if self.nodes.iter().any(|n| n.way() > margin) {
            self.search.wake();
            self.search.find(&self.scene, &self.now, Some(&self.start), &query)?;
            self.search.wake();
            return Ok(self.deepest_record());
        }
        let Collisions { scene, search, now, start, list, nodes, listed, listed_bodies, .. } = self;
        listed.resize(now.len(), false);
        listed_bodies.clear();
        listed_bodies.resize(scene.bodies.len(), false);
        let named = list.iter().map(|touching| match touching.features {
            Features::NodeFace { node, .. } => node,
            Features::Edges { first, .. } => scene.edges[first as usize].nodes[0],
        });
        let all = nodes.iter().map(|n| n.node).chain(named);
        for k in all.clone() {
            listed[k as usize] = true;
            listed_bodies[scene.node_body[k as usize] as usize] = true;
        }
        search.measure_moved(scene, now, Some(start), &query, listed_bodies, |k| listed[k as usize]);
        all.for_each(|k| listed[k as usize] = false);
        Ok(self.deepest_record())
    }

    fn deepest_record(&self) -> f64 {
        let mut depth: f64 = 0.0;
        for record in self.search.vertex_face() {
            depth = depth.max(-record.gap);
        }
        for record in self.search.edge_edge() {
            if -record.gap > depth
                && parts_bodies(&self.scene, &self.now, record.first, record.second, &record.normal)
            {
                depth = depth.max(depth_of_edges(&self.scene, &self.now, record));
            }
        }
        depth
    }

    /// Writes the books of the impacts themselves and returns what friction took; what depends on the end of the step is the
    /// method's.
    pub fn post(&mut self, ledger: &mut Ledger) -> f64 {
        for n in &self.nodes {
            self.impulses.received[n.node as usize] += n.normal + n.friction;
        }
        ledger.restitution += self.sums.lost_normal + self.sums.returned;
        ledger.correction += self.sums.spin + self.sums.returned;
        ledger.external += self.sums.work;
        ledger.impulse += self.sums.impulse;
        ledger.moment += self.sums.moment;
        self.carried.sort_unstable();
        self.carried.dedup();
        ledger.contacts = self.carried.len() as u64;
        ledger.collision_kicks += self.sums.kicks;
        self.sums.lost_friction
    }
}

/// Does any facet around the node look against the contact's normal? A floor's node that lies under the rim of a block is
/// inside the block, and near its side: it touches the bottom.
fn faces(scene: &Scene, x: &[Vec3], record: &VertexFace) -> bool {
    let n = record.normal;
    scene.node_facets.of(record.node).iter().any(|&f| {
        let facet = &scene.facets[f as usize];
        let own = facet.area_vector(x);
        scene.bodies[facet.body as usize].attributes.two_sided || own.dot(&n) < AGAINST * own.norm()
    })
}

/// A node and a face, or two edges, that may meet during a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidate {
    NodeFace { node: u32, face: u32 },
    Edges { first: u32, second: u32 },
}

impl Candidate {
    /// When the two come nearer than `separation`.
    pub fn meets(&self, scene: &Scene, motion: Motion, separation: f64) -> Option<f64> {
        match *self {
            Candidate::NodeFace { node, face } => node_meets(scene, motion, node, face, separation),
            Candidate::Edges { first, second } => edges_meet(scene, motion, first, second, separation),
        }
    }

    /// All nodes that have to do with it; some twice.
    pub fn nodes(&self, scene: &Scene) -> impl Iterator<Item = u32> {
        let nodes = match *self {
            Candidate::NodeFace { node, face } => {
                let [a, b, c, d] = scene.facets[face as usize].nodes;
                [node, a, b, c, d]
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
pub(super) struct Meeting {
    pub of: Candidate,
    pub time: f64,
}

impl Meeting {
    /// The contact this is, if it has a normal and a side.
    pub fn crossing(&self, at: &Places, motion: Motion, touch: f64, doubtful: bool) -> Option<Touching> {
        match self.of {
            Candidate::NodeFace { node, face } => node_crossing(at, motion, node, face, self.time, touch),
            Candidate::Edges { first, second } => {
                edge_crossing(at, motion, first, second, self.time, touch, doubtful)
            }
        }
    }
}

/// All candidates of a search.
pub(super) fn candidates(search: &ThreeStage) -> impl Iterator<Item = Candidate> + '_ {
    let all = search.candidates();
    all.groups.iter().flat_map(move |group| {
        let nodes = group.vertex_face.of(&all.vertex_face).iter();
        let edges = group.edge_edge.of(&all.edge_edge).iter();
        nodes
            .map(|&[node, face]| Candidate::NodeFace { node, face })
            .chain(edges.map(|&[first, second]| Candidate::Edges { first, second }))
    })
}

/// Sorts crossings by time and keeps of each node and body the first.
pub(super) fn in_order(list: &mut Vec<Touching>) {
    let group = |t: &Touching| match t.features {
        Features::NodeFace { node, .. } => (0, node, t.bodies[1], 0),
        Features::Edges { first, second, .. } => (1, first, t.bodies[1], second),
    };
    let by_time = |p: &Touching, q: &Touching| p.time.total_cmp(&q.time).then(name(p).cmp(&name(q)));
    list.sort_unstable_by(|p, q| group(p).cmp(&group(q)).then(by_time(p, q)));
    list.dedup_by_key(|t| group(t));
    list.sort_unstable_by(by_time);
}

/// What tells one contact of a step from another.
pub(super) fn name(t: &Touching) -> (u8, u32, u32) {
    match t.features {
        Features::NodeFace { node, face, .. } => (0, node, face),
        Features::Edges { first, second, .. } => (1, first, second),
    }
}

/// Is this node the end of a bar, seen by others as a facet too?
fn both_ends(scene: &Scene, node: u32) -> bool {
    scene.node_facets.of(node).iter().any(|&f| scene.facets[f as usize].kind == FacetKind::Point)
}
