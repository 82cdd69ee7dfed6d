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
//! is that of the model; only what is found of it is found in parallel, so threads change nothing.

use super::Options;
use super::account::Account;
use super::exchange::{ImpactIslands, PendingImpact};
use super::guard::{self, ImpactZones};
use crate::contact::crossing::{Candidate, Meeting, StepPath, Touching, in_order, of_group};
use crate::contact::entry;
use crate::contact::measure::Normals;
use crate::contact::obstacle::Poses;
use crate::contact::pair::{Kind, MAX_POINTS, Pair};
use crate::contact::places::Places;
use crate::contact::rules::{came_through, depth_of_edges, faces_against, in_normal_cones, is_second_end};
use crate::contact::scene::{Body, FacetKind};
use crate::contact::search::{EdgeEdge, PairSearch, Positions, Query, SearchError, VertexFace, doubled_to};
use crate::contact::three_stage::{ThreeStage, Way};
use crate::math::{Mat3, Vec3};
use crate::method::contact_world::ContactWorld;
use crate::method::newmark::Newmark;
use crate::method::response::{self, Impact, Projection, Spin};
use crate::model::Model;
use rayon::prelude::*;

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

/// Depths that differ by less than this share of the deepest are equal.
const SAME_DEPTH: f64 = 1e-6;

/// Nodes of a body that tell where it goes.
const SAMPLES: usize = 8;
/// Slots of bodies, and records of the search, that one thread looks at at a stretch.
const SLOTS: usize = 1024;
const STRETCH: usize = 256;

pub(super) struct Collisions {
    /// Nodes and obstacles as they are at the end of the step.
    pub world: ContactWorld,
    /// For the way of a step, which has boxes of its own, unless one search is enough.
    pub(super) on_the_way: ThreeStage,
    /// `M⁻¹` of every node [1/kg].
    pub(super) inv_mass: Vec<Mat3>,
    /// The same as one number where all directions are alike, as they mostly are, else not a number: nine for each of the nodes that
    /// touch would have to come from far away in memory.
    pub(super) alike: Vec<f64>,
    /// All nodes of the scene at the start of the step.
    pub start: Vec<Vec3>,
    pub(super) list: Vec<Pair>,
    /// What each stretch of records has to say to it.
    stretches: Vec<Vec<Pair>>,
    /// Room to put it in order.
    order: Vec<(bool, i64, u32)>,
    sorted: Vec<Pair>,
    /// Nodes and faces of the last step's list, sorted: where a node belongs that is still inside.
    pub known: Vec<[u32; 2]>,
    /// The same of the step before, while this one is answered.
    before: Vec<[u32; 2]>,
    pub(super) impacts: ImpactIslands,
    /// Farthest that contact moved a node of each body in its last step [m].
    pushed: Vec<f64>,
    pub account: Account,
    pub(super) impact_zones: ImpactZones,
    /// Of each body [m]; infinite where nobody is thin.
    pub(super) thickness: Vec<f64>,
    pub(super) deepest: f64,
    pub(super) clearance: f64,
}

impl Collisions {
    pub(super) fn new(model: &Model) -> Collisions {
        let world = ContactWorld::new(model, true);
        let inv_mass = world.inertia.all();
        Collisions {
            on_the_way: ThreeStage::new(),
            start: world.x.clone(),
            list: Vec::new(),
            stretches: Vec::new(),
            order: Vec::new(),
            sorted: Vec::new(),
            known: Vec::new(),
            before: Vec::new(),
            impacts: ImpactIslands::among(&inv_mass),
            alike: inv_mass.iter().map(|m| response::alike(m).unwrap_or(f64::NAN)).collect(),
            inv_mass,
            pushed: Vec::new(),
            account: Account::new(model),
            impact_zones: ImpactZones::default(),
            thickness: entry::thickness(&world.scene, &world.x, 2.0 * DEEPEST * world.finest),
            deepest: DEEPEST * world.finest,
            clearance: CLEARANCE * world.finest,
            world,
        }
    }

    /// Largest depth that is looked for [m].
    pub(super) fn deepest(&self) -> f64 {
        self.deepest
    }

    /// Takes up the positions of the end of a step; the present ones are those of its start.
    pub(super) fn move_to(&mut self, model: &Model, x: &[Vec3], time: f64) {
        std::mem::swap(&mut self.start, &mut self.world.x);
        self.world.place(model, x.par_iter().copied(), time);
        self.measure_pushes();
        self.account.clear();
        self.impacts.clear();
    }

    /// How far contact has moved the nodes of each body in this step.
    fn measure_pushes(&mut self) {
        self.pushed.clear();
        self.pushed.resize(self.world.scene.bodies.len(), 0.0);
        for node in &self.account.nodes {
            let pushed = &mut self.pushed[self.world.scene.node_body[node.node as usize] as usize];
            *pushed = pushed.max(node.way());
        }
    }

    /// How far each body has come in this step, seen from the middle of all; returns the farthest way of a node [m].
    fn measure_ways(&mut self, penetration: f64) -> f64 {
        let Collisions { world: ContactWorld { scene, search, x: now, .. }, start, .. } = self;
        let ways = search.ways.get_or_insert_default();
        // Powers of two, so that lists of candidates last.
        ways.at_rest = doubled_to(self.deepest * LEAST_REACH, 2.0 * penetration);
        ways.margin = self.clearance * (BESIDE / CLEARANCE);
        let way = |k: u32| now[k as usize] - start[k as usize];
        let of_body = |body: &Body, pushed: f64| {
            let slots = &scene.slots[body.slots.start as usize..body.slots.end as usize];
            let (displacement, deviation) = if body.plane {
                let facet = &scene.facets[body.facets.start as usize];
                let turned = facet.area_vector(start) != facet.area_vector(now);
                (way(facet.nodes[0]), if turned { self.deepest } else { 0.0 })
            } else {
                // A few nodes stand for all: any displacement is right, a good one leaves little deviation.
                let samples = slots.iter().step_by(slots.len().div_ceil(SAMPLES).max(1));
                let count = samples.len().max(1) as f64;
                let displacement = samples.map(|&k| way(k)).sum::<Vec3>() / count;
                let deviation =
                    slots.iter().map(|&k| (way(k) - displacement).norm_squared()).fold(0.0, f64::max);
                (displacement, deviation.sqrt())
            };
            Way { displacement, deviation, pushed }
        };
        ways.of_body.resize(scene.bodies.len(), Way::default());
        let bodies = scene.bodies.par_iter().zip(&self.pushed).with_min_len(scene.bodies_with(SLOTS));
        bodies.zip(&mut ways.of_body).for_each(|((body, &pushed), way)| *way = of_body(body, pushed));
        let count = scene.bodies.len() as f64;
        let middle = ways.of_body.iter().fold(Vec3::zeros(), |sum, w| sum + w.displacement / count);
        let from_middle = |w: &Way| (w.displacement - middle).norm() + w.deviation;
        ways.of_body.iter().map(from_middle).fold(0.0, f64::max)
    }

    /// Bodies are not where the last step has brought them.
    pub(super) fn forget_ways(&mut self) {
        self.world.search.forget();
        self.on_the_way.forget();
    }

    /// Finds what touches. `penetration` is the deepest overlap at the start of the step.
    pub(super) fn find(&mut self, options: &Options, penetration: f64) -> Result<(), SearchError> {
        self.list.clear();
        let way = self.measure_ways(penetration);
        let swept = options.swept.unwrap_or_else(|| {
            let ways = self.world.search.ways.as_ref().map_or(&[][..], |w| &w.of_body);
            self.world.two_sided || 2.0 * way > self.deepest || self.may_pass(ways)
        });
        let query = self.query(options);
        let one_search = self.one_search();
        let ahead = options.guard.then(|| self.ahead(way));
        let Collisions { world: ContactWorld { scene, search, x, .. }, on_the_way, start, .. } = self;
        let (scene, x) = (&*scene, &x[..]);
        let positions = Positions::swept(start, x);
        match ahead {
            Some(ahead) if one_search => {
                search.gather(scene, positions, &ahead)?;
                search.measure_end(scene, x, Some(start), &query);
            }
            Some(ahead) => {
                let find = || search.find(scene, x, Some(start), &query);
                let (found, gathered) = rayon::join(find, || on_the_way.gather(scene, positions, &ahead));
                found.and(gathered)?;
            }
            None => search.find(scene, x, Some(start), &query)?,
        }
        if swept {
            self.find_crossings(&query, options.guard)?;
        }
        self.collect(swept);
        Ok(())
    }

    /// Is one search enough, of ways, among whose candidates what overlaps is measured? Between shells it is: neither side of
    /// them is inside, so all that is near has to be found at every step, on the way and at its end. Solids that are apart
    /// sleep longer where places are searched alone.
    fn one_search(&self) -> bool {
        self.world.two_sided
    }

    /// What the guard asks of the way of a step. With one search that is as far as bodies can have come against each other
    /// whose nodes have gone no farther than `way` from the middle of all; else no more than the guard itself wants.
    fn ahead(&mut self, way: f64) -> Query {
        let Collisions { world: ContactWorld { search, .. }, on_the_way, .. } = self;
        let Some(ways) = &search.ways else { return Query::all(self.deepest) };
        if self.world.two_sided {
            search.lasting = true;
            return Query::all(self.deepest.min(ways.at_rest + 4.0 * way));
        }
        let own = on_the_way.ways.get_or_insert_default();
        (own.at_rest, own.margin) = (f64::INFINITY, f64::INFINITY);
        own.of_body.clone_from(&ways.of_body);
        on_the_way.lasting = true;
        Query::all(guard::REACH * self.clearance)
    }

    /// What the search is asked for at one instant: what overlaps, and nodes that have come through a face and are beside it.
    fn query(&self, options: &Options) -> Query {
        let beside = self.clearance * (BESIDE / CLEARANCE);
        let overlaps = (!self.world.two_sided).then_some(beside);
        Query { edge_edge: options.edge_edge, overlaps, ..Query::all(self.deepest) }
    }

    /// Nodes inside faces, then crossed edges, from the records of the search.
    fn collect(&mut self, swept: bool) {
        let Collisions { world, list, stretches, start, known, before, .. } = self;
        let ContactWorld { scene, search, x: now, poses, .. } = world;
        let crossings = list.len();
        let poses = Poses::At(poses);
        let (at, at_start) = (Places { scene, x: now, poses }, Places { scene, x: start, poses });
        // where thickness counts, surfaces touch that are apart: nothing has to cross
        let touched_before = |pair: &Pair| {
            !swept
                || scene.offset(pair.bodies[0], pair.bodies[1]) > 0.0
                || at_start.measured_anew(pair).is_none_or(|pair| pair.gap <= 2.0 * self.clearance)
        };
        let beside = self.clearance * (BESIDE / CLEARANCE);
        let motion = StepPath { start, end: now };
        let normals = search.normals(scene, now);
        let (crossed, touched) = (&list[..crossings], &known[..]);
        let of_node = |record: &VertexFace| {
            let pair = node_inside(&at, &normals, motion, record, touched, beside)?;
            let met =
                |p: &Pair| (p.bodies, p.key.kind, p.key.first) == (pair.bodies, Kind::NodeFace, record.node);
            let plane = scene.facets[record.face as usize].kind == FacetKind::Plane;
            (plane || touched_before(&pair) && !crossed.iter().any(met)).then_some(pair)
        };
        let of_edges = |record: &EdgeEdge| {
            let pair = (record.gap <= 0.0).then(|| at.of_edges(record))?;
            let met = |p: &Pair| p.key == pair.key;
            (!crossed.iter().any(met)
                && touched_before(&pair)
                && in_normal_cones(&normals, record.first, record.second, &record.normal))
            .then_some(pair)
        };
        let (nodes, edges) =
            (search.vertex_face().par_chunks(STRETCH), search.edge_edge().par_chunks(STRETCH));
        let first = nodes.len();
        let count = first + edges.len();
        if stretches.len() < count {
            stretches.resize_with(count, Vec::new);
        }
        let (to_nodes, to_edges) = stretches.split_at_mut(first);
        nodes.zip(to_nodes).for_each(|(records, to)| {
            to.clear();
            to.extend(records.iter().filter_map(of_node));
        });
        edges.zip(to_edges).for_each(|(records, to)| {
            to.clear();
            to.extend(records.iter().filter_map(of_edges));
        });
        stretches[..count].iter().for_each(|found| list.extend_from_slice(found));
        std::mem::swap(known, before);
        known.clear();
        let nodes = list.iter().filter(|p| p.key.kind == Kind::NodeFace);
        known.extend(nodes.map(|p| [p.key.first, p.key.second]));
        known.sort_unstable();
        self.put_in_order(crossings);
    }

    /// What overlaps goes the deepest first, nodes before edges, equal depths by their numbers: whoever comes first is told by
    /// the scene, not by the order in which its bodies are listed.
    fn put_in_order(&mut self, from: usize) {
        let Collisions { list, order, sorted, .. } = self;
        let equal = SAME_DEPTH * self.deepest;
        order.clear();
        order.extend(list[from..].iter().zip(from as u32..).map(|(pair, place)| {
            let depth = (pair.gap / equal).round() as i64;
            (pair.key.kind == Kind::EdgeEdge, depth, place)
        }));
        order.sort_unstable();
        sorted.clear();
        sorted.extend(order.iter().map(|o| list[o.2 as usize]));
        list[from..].copy_from_slice(sorted);
    }

    /// What met on its way, in the order of time; of each node and body the first.
    fn find_crossings(&mut self, query: &Query, guard: bool) -> Result<(), SearchError> {
        let Collisions { world, on_the_way, list, start, .. } = self;
        let (at, scene, now) = (world.places(), &world.scene, &world.x);
        let touching = Touching { within: 2.0 * self.clearance, seen: self.deepest };
        let query = Query { reach: touching.within, ..*query };
        let motion = StepPath { start, end: now };
        if !guard {
            on_the_way.gather(scene, Positions::swept(start, now), &query)?;
        }
        let of_ways = if world.two_sided { &world.search } else { &*on_the_way };
        let all = of_ways.candidates();
        for group in all.groups.iter().filter(|g| g.travel + touching.within >= g.soonest) {
            let awake = |&(place, of): &(u32, Candidate)| {
                let wanted = query.edge_edge || matches!(of, Candidate::NodeFace { .. });
                wanted && group.travel + touching.within >= all.until_of(of.kind(), place)
            };
            for (_, of) in of_group(all, group).filter(awake) {
                if let Some(time) = of.comes_to_touch(scene, motion, touching.within) {
                    list.extend(Meeting { of, time }.crossing(&at, motion, touching, true));
                }
            }
        }
        in_order(list);
        Ok(())
    }

    /// Puts all contacts back on the surface in their order, then exchanges their momentum; `v` are the velocities of
    /// all nodes.
    pub(super) fn answer(&mut self, model: &Model, options: &Options, newmark: &Newmark, v: &mut [Vec3]) {
        for i in 0..self.list.len() {
            self.put_back(i, model, options, newmark, v, 0.0);
        }
        if !options.waits_for_forces() {
            self.exchange(model, options, newmark, v);
        }
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
        let (listed, at) = (&self.list[i], self.world.places());
        // measured anew: earlier contacts have moved nodes
        let Some(mut pair) = at.measured_anew(listed) else { return };
        if pair.gap > 0.0 && listed.met.is_some() {
            // where they met they are apart again; they may have slid to another place
            let slid = at.measured_anew(&Pair { met: None, ..*listed });
            let slid = slid.filter(|p| p.gap <= 0.0 && -p.gap <= self.deepest);
            pair = slid.map_or(pair, |slid| Pair { met: listed.met, ..slid });
        }
        // who met and has come to lie on the surface touches it
        let open = if pair.met.is_some() { room.max(2.0 * self.clearance) } else { room };
        if pair.gap > open || self.came_too_late(&pair) {
            return;
        }
        let law = model.contact.law(pair.bodies[0], pair.bodies[1]);
        (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
        let clearance = if pair.met.is_some() || options.guard { self.clearance } else { 0.0 };
        let clearance = clearance.max(room);
        if pair.met.is_none() {
            // Putting back takes the angular momentum τ/(1+e) J × u, an impulse on points that have slid apart by δ since
            // they met gives δ × J: nothing is left if they met τ/(1+e) ago.
            let u = pair.relative_velocity(v);
            let approach = -pair.normal.dot(&u);
            let since = if approach > 0.0 { newmark.dt().min(-pair.gap / approach) } else { 0.0 };
            let slip = since / (1.0 + pair.e) * (u + approach * pair.normal);
            pair = at.before_sliding(&pair, &slip).filter(|p| p.gap <= room).unwrap_or(pair);
        }

        let Some(moves) = self.displacements(&pair, clearance, options.projection) else { return };
        let mut work = 0.0;
        for ((k, _), d) in pair.stencil().zip(&moves) {
            if options.energy_correction {
                work += model.mass[k] * newmark.acceleration(k).dot(d);
            }
            self.world.x[k] += d;
            self.account.of(k, newmark).moved += d;
        }
        let spin = options.spin_correction && pair.outer.is_none() && self.are_free(pair.points(), model);
        if spin {
            let gained = response::spin_gained(&pair, &moves, &model.mass, v);
            self.restore_spin(pair.points(), gained, model, newmark, v);
        }
        self.impacts.pending.push(PendingImpact::new(pair, work, spin));
        if options.waits_for_forces() {
            self.impacts.moves.push(moves);
        }
    }

    /// [`response::displacements`], from one number a node where all points can move in all directions alike.
    fn displacements(&self, pair: &Pair, clearance: f64, how: Projection) -> Option<[Vec3; MAX_POINTS]> {
        if how == Projection::Mass && pair.points().iter().all(|&k| !self.alike[k as usize].is_nan()) {
            response::displacements_alike(pair, clearance, &self.alike)
        } else {
            response::displacements(pair, clearance, how, &self.inv_mass)
        }
    }

    /// What waits learns the work `½(f + f̃)·d` of having been put back, which it shall return; `newmark` has the
    /// accelerations of the new positions.
    pub(super) fn measure_work(&mut self, model: &Model, newmark: &Newmark) {
        for at in 0..self.impacts.pending.len() {
            let (pair, moves) = (self.impacts.pending[at].pair, self.impacts.moves[at]);
            let mut work = 0.0;
            for ((k, _), d) in pair.stencil().zip(&moves) {
                let a = self.account.of(k, newmark).a + newmark.acceleration(k);
                work += 0.5 * model.mass[k] * a.dot(d);
            }
            self.impacts.pending[at].work = work;
        }
    }

    /// Friction that changes velocities has also held the points back for the time `acted` [s]: that long they went too
    /// far. Without this a body at rest on a slope would creep by what gravity adds to its surface nodes in a step.
    pub(super) fn hold_back(&mut self, pair: &Pair, friction: &Vec3, acted: f64, newmark: &Newmark) {
        for (k, w) in pair.stencil() {
            let d = acted * w * change(&self.alike, &self.inv_mass, k, friction);
            self.world.x[k] += d;
            self.account.of(k, newmark).held_back += d;
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
        let Some(spin) = Spin::against(&gained, nodes, &model.mass, &self.world.x, v) else { return };
        self.account.sums.spin += spin.gain;
        for k in nodes.iter().map(|&k| k as usize) {
            let dv = spin.at(&self.world.x[k]);
            v[k] += dv;
            self.account.of(k, newmark).spin += model.mass[k] * dv;
        }
    }

    pub(super) fn book(&mut self, pair: &Pair, impact: &Impact, newmark: &Newmark) {
        self.account.book(pair, impact, &self.world.x, newmark);
        self.world.count(pair, impact.impulse());
    }

    /// An edge deeper in another than it can have come in this step was never outside of it.
    fn came_too_late(&self, pair: &Pair) -> bool {
        if pair.met.is_some() || pair.key.kind != Kind::EdgeEdge {
            return false;
        }
        let came: Vec3 = pair.stencil().map(|(k, w)| w * (self.world.x[k] - self.start[k])).sum();
        let came = came - pair.outer.map_or(Vec3::zeros(), |_| self.obstacle_step(pair));
        // few are: asked first
        let too_deep = -pair.gap > 2.0 * came.norm() + LATE * self.deepest;
        if !too_deep {
            return false;
        }
        // Where an end of the edges was inside a face before, the bodies have met already.
        let met = |k: &u32| {
            let from = self.before.partition_point(|b| b[0] < *k);
            let faces = self.before[from..].iter().take_while(|b| b[0] == *k);
            faces.map(|b| self.world.scene.facets[b[1] as usize].body).any(|b| pair.bodies.contains(&b))
        };
        !pair.points().iter().any(met)
    }

    /// How far the outer point of a pair of edges came in this step.
    fn obstacle_step(&self, pair: &Pair) -> Vec3 {
        let rigid = |e: &u32| {
            self.world.scene.bodies[self.world.scene.edges[*e as usize].body as usize].attributes.rigid()
        };
        let Some(e) = [pair.key.first, pair.key.second].into_iter().find(rigid) else { return Vec3::zeros() };
        let Some(outer) = pair.outer else { return Vec3::zeros() };
        let [a, b] = self.world.scene.edges[e as usize].nodes.map(|k| k as usize);
        let along = self.world.x[b] - self.world.x[a];
        let s = (outer.position - self.world.x[a]).dot(&along) / along.norm_squared();
        (1.0 - s) * (self.world.x[a] - self.start[a]) + s * (self.world.x[b] - self.start[b])
    }

    /// Sums up what the step's contacts have done to each node.
    pub(super) fn close_account(&mut self) {
        let Collisions { account, alike, inv_mass, .. } = self;
        account.close(|k, impulse| change(alike, inv_mass, k, impulse));
    }

    /// Does nothing hold these nodes?
    pub(super) fn are_free(&self, nodes: &[u32], model: &Model) -> bool {
        let free = |k: usize| self.inv_mass[k] == Mat3::from_diagonal_element(1.0 / model.mass[k]);
        nodes.iter().all(|&k| (k as usize) < model.mass.len() && free(k as usize))
    }

    /// Part of an impulse on a node that its support takes.
    pub(super) fn held_part(&self, node: usize, mass: f64, impulse: &Vec3) -> Vec3 {
        impulse - mass * (self.inv_mass[node] * impulse)
    }

    /// Did anything overlap?
    pub(super) fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Deepest overlap before the first step [m].
    pub(super) fn penetration_at_start(&mut self, options: &Options) -> Result<f64, SearchError> {
        let query = self.query(options);
        self.world.find(None, &query)?;
        Ok(self.deepest_record())
    }

    /// Deepest overlap at the end of the step [m]. Only who was listed or moved can overlap, and among candidates only,
    /// unless contact has moved a node very far. (A search of ways has looked again then.)
    pub(super) fn penetration(&mut self, options: &Options) -> Result<f64, SearchError> {
        let (query, one_search) = (self.query(options), self.one_search());
        self.measure_pushes();
        let Collisions { world, account, start, list, pushed, .. } = self;
        let ContactWorld { scene, search, x: now, .. } = world;
        if !one_search {
            search.cover(scene, now, &query, pushed)?;
        }
        let named = list.iter().map(|pair| match pair.key.kind {
            Kind::EdgeEdge => scene.edges[pair.key.first as usize].nodes[0],
            _ => pair.key.first,
        });
        let moved = account.nodes.iter().map(|n| n.node).chain(named);
        search.measure_moved(scene, now, Some(start), &query, moved);
        Ok(self.deepest_record())
    }

    fn deepest_record(&self) -> f64 {
        let ContactWorld { scene, search, x, .. } = &self.world;
        let normals = search.normals(scene, x);
        let mut depth: f64 = 0.0;
        for record in search.vertex_face() {
            depth = depth.max(-record.gap);
        }
        for record in search.edge_edge() {
            if -record.gap > depth && in_normal_cones(&normals, record.first, record.second, &record.normal) {
                depth = depth.max(depth_of_edges(scene, x, record, depth));
            }
        }
        depth
    }
}

/// How an impulse changes the velocity of a node [m/s].
fn change(alike: &[f64], inv_mass: &[Mat3], node: usize, impulse: &Vec3) -> Vec3 {
    if alike[node].is_nan() { inv_mass[node] * impulse } else { alike[node] * impulse }
}

/// The contact of a node that is inside a face by a record of the search, or came through one and is still `beside` it.
/// `touched` are the nodes and faces of the last step, sorted.
fn node_inside(
    at: &Places,
    normals: &Normals,
    motion: StepPath,
    record: &VertexFace,
    touched: &[[u32; 2]],
    beside: f64,
) -> Option<Pair> {
    if record.gap > beside {
        return None;
    }
    let scene = at.scene;
    let mut record = *record;
    let mut through = false;
    let facet = &scene.facets[record.face as usize];
    let solid = !scene.bodies[facet.body as usize].attributes.two_sided();
    if solid && facet.kind.corners() > 1 {
        let from = touched.partition_point(|k| k[0] < record.node);
        let of_node = touched[from..].iter().take_while(|k| k[0] == record.node);
        let last = of_node.map(|k| k[1]).find(|&f| scene.facets[f as usize].body == facet.body);
        if let Some(face) = came_through(normals, motion, &record, last, beside) {
            (record.face, through) = (face, true);
            record.normal = normals.of_facet(face);
        }
    }
    let plane = scene.facets[record.face as usize].kind == FacetKind::Plane;
    let faces = plane || faces_against(normals, &record);
    if !through && record.gap > 0.0 || !faces || is_second_end(scene, &record) {
        return None;
    }
    let pair = at.of_record(&record);
    if through { at.node_face(record.node, record.face, pair.side, true) } else { Some(pair) }
}
