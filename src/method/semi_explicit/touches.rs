//! From what the search finds to the contacts that are solved, and from their forces to the books.
//!
//! | touch          | points and weights                                    |
//! |----------------|-------------------------------------------------------|
//! | node–obstacle  | node 1; the obstacle's point moves as it is told      |
//! | node–face      | node 1, corners −N                                    |
//! | obstacle–face  | corners N                                             |
//! | edge–edge      | 1−s, s, −(1−t), −t                                    |
//!
//! **Sign.** n points to the positive weights, the slave; forces act on it. The gap is positive when open.
//!
//! Edges count where one of them is sharp, the other may be a line of the mesh on a flat face, and no end of either says the
//! same: see `said_by_ends`.
//!
//! Guesses for forces are kept as vectors in space by what touches what, else by the node and the body it touches.

use super::{Activation, Options};
use crate::contact::closest_point::Feature;
use crate::contact::obstacle::Pose;
use crate::contact::scene::{FacetKind, Scene};
use crate::contact::search::{EdgeEdge, PairSearch, Pass, Query, SearchError, VertexFace};
use crate::contact::three_stage::ThreeStage;
use crate::contact::touch::{facing, nearly_parts_bodies};
use crate::math::Vec3;
use crate::method::impulses::Impulses;
use crate::model::inertia::Inertia;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model};
use crate::solve::contacts::{Contact, Contacts, Limits, POINTS, Report};
use rayon::prelude::*;

/// Reach of the search over the farthest way of a step.
const AHEAD: f64 = 2.0;
/// Least depth that the search finds, as a share of the finest body's median edge.
const DEEPEST: f64 = 0.05;
/// Gap up to which things count as touching, and distance beside a face up to which a node counts as above it: shares of the finest body's median edge.
const LEAST: f64 = 1e-6;
const BESIDE: f64 = 1e-3;
/// Cosine of the angle of its faces from which on an edge is flat. Two flat ones do not touch: nodes do.
const FLAT: f64 = 0.966;
/// Sine of the angle by which the normal of two edges may lean over a face.
const SLACK: f64 = 0.1;
/// Two edges say nothing new if an end of one is no farther away than they are, but for this share of the finest body's
/// median edge, along the same normal up to an angle of this cosine.
const AS_NEAR: f64 = 1e-3;
const SAME_SIDE: f64 = 0.9;
/// Share of a face from its rim on that counts as rim.
const RIM: f64 = 0.1;
/// Speed at which overlaps are undone at most: this share of the fastest impact, and of an edge per step.
const SLOWLY: f64 = 0.1;
const EDGES_PER_STEP: f64 = 1e-5;
/// Share of the fastest impact below which nothing rebounds.
const REBOUND: f64 = 1e-3;

/// Contacts of one node with a body say the same thing if their normals agree within 1° (its cosine) and their points
/// within this share of the finest body's median edge.
const SAME_WAY: f64 = 0.999_847_7;
const SAME_POINT: f64 = 1e-9;
/// Records, and nodes, that one thread goes through at a stretch.
const STRETCH: usize = 256;
const NODES: usize = 2048;

/// What touches what: kind (0 node on face, 1 edges) and the two features.
type Key = (u8, u32, u32);

/// A contact beside its numbers for the solver.
#[derive(Clone, Copy, Debug)]
struct Touch {
    key: Key,
    bodies: [u32; 2],
    gap: f64,
    /// The force is on the first body (1) or on the second (−1).
    sign: f64,
    outer: bool,
    /// Relative velocity at the start of the step.
    before: Vec3,
}

/// A force to begin with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kept {
    key: Key,
    /// Body of the second feature.
    body: u32,
    force: Vec3,
}

/// What contact did, to be booked over two steps.
#[derive(Clone, Copy, Debug, Default)]
struct Halves {
    normal: f64,
    friction: f64,
    outer: f64,
}

/// A step before it is taken.
pub struct Outlook<'a> {
    /// Positions and velocities at its start.
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    /// Velocities it would end with if nothing touched.
    pub free: &'a [Vec3],
    /// When it begins and how long it is [s].
    pub time: f64,
    pub dt: f64,
}

pub struct Touches {
    pub scene: Scene,
    search: ThreeStage,
    inertia: Inertia,
    /// Nodes of obstacles as drawn.
    drawn: Vec<Vec3>,
    /// All nodes of the scene where contacts are looked for.
    at: Vec<Vec3>,
    poses: [Vec<Pose>; 2],
    /// Nodes near faces as they count: see `sided`.
    records: Vec<VertexFace>,
    /// Those among them that become contacts.
    chosen: Vec<u32>,
    /// Do edges near edges become contacts? See `edges_count`.
    edges: Vec<bool>,
    pub contacts: Contacts,
    touches: Vec<Touch>,
    kept: Vec<Kept>,
    /// Impulse on each node in this step and in the one before [N s].
    pub impulse: Vec<Vec3>,
    pub impulse_before: Vec<Vec3>,
    pub impulses: Impulses,
    halves: Halves,
    /// Fastest approach of anything that met so far [m/s].
    pub speed: f64,
    /// Smallest median edge of a body [m].
    pub finest: f64,
    /// Gap up to which contacts are listed, and the deepest overlap at the last look [m].
    near: f64,
    depth: f64,
    /// Nothing can touch anything.
    alone: bool,
    pub report: Report,
    /// Steps whose contacts were left at the limit of sweeps.
    pub unfinished: u64,
    /// Contacts that act by `rate` and have carried a force go on acting while they are near: who was stopped short of a
    /// surface is held there and does not fall on it again and again. Overlaps are undone bit by bit.
    pub persistent: bool,
    /// Displacements of a projection; zero in between.
    pub moved: Vec<Vec3>,
    pub any_moved: bool,
}

impl Touches {
    pub fn new(model: &Model) -> Touches {
        let scene = model.contact.scene(model, false);
        let drawn = model.contact.obstacle_nodes();
        let soft = scene.bodies.iter().filter(|b| !b.attributes.rigid && !b.facets.is_empty());
        let finest = soft.fold(f64::INFINITY, |least, b| least.min(b.median_edge));
        let nodes = model.reference.len();
        let mut at = model.reference.clone();
        at.extend(&drawn);
        let bodies = 0..scene.bodies.len() as u32;
        let alone = bodies.clone().all(|a| bodies.clone().all(|b| !scene.may_meet(a, b)));
        Touches {
            scene,
            alone,
            near: 0.0,
            depth: 0.0,
            search: ThreeStage::new(),
            inertia: Inertia::of_model(model),
            drawn,
            at,
            poses: [Vec::new(), Vec::new()],
            records: Vec::new(),
            chosen: Vec::new(),
            edges: Vec::new(),
            contacts: Contacts::default(),
            touches: Vec::new(),
            kept: Vec::new(),
            impulse: vec![Vec3::zeros(); nodes],
            impulse_before: vec![Vec3::zeros(); nodes],
            impulses: Impulses::new(nodes),
            halves: Halves::default(),
            speed: 0.0,
            finest: if finest.is_finite() { finest } else { 0.0 },
            report: Report::default(),
            unfinished: 0,
            persistent: false,
            moved: Vec::new(),
            any_moved: false,
        }
    }

    /// Finds what is nearer than `way`, open or overlapping, with the nodes at `x` and the obstacles where they are at `time`.
    /// Edges count up to `near` only.
    fn find(
        &mut self,
        model: &Model,
        x: impl IndexedParallelIterator<Item = Vec3>,
        time: f64,
        way: f64,
        options: &Options,
    ) -> Result<(), SearchError> {
        let soft = x.len();
        self.at[..soft].par_iter_mut().zip(x).with_min_len(NODES).for_each(|(to, x)| *to = x);
        model.contact.place(time, &self.drawn, &mut self.at[soft..]);
        let query = Query {
            reach: way.max(2.0 * self.depth).max(DEEPEST * self.finest),
            vertex_face: true,
            edge_edge: options.edge_edge,
            face_face: false,
            pass: options.pass,
            max_penetration: None,
        };
        self.search.find(&self.scene, &self.at, None, &query)?;
        let (mut records, mut edges) = (std::mem::take(&mut self.records), std::mem::take(&mut self.edges));
        let found = self.search.vertex_face().par_iter().with_min_len(STRETCH);
        make_room(&mut records, found.len());
        found.map(|r| self.sided(r)).collect_into_vec(&mut records);
        self.records = records;
        self.choose(options.pass);
        let found = self.search.edge_edge().par_iter().with_min_len(STRETCH);
        make_room(&mut edges, found.len());
        found.map(|r| self.edges_count(r)).collect_into_vec(&mut edges);
        self.edges = edges;
        Ok(())
    }

    /// Farthest that two points can come towards each other in `dt` with velocities `v` and obstacles as they move [m].
    fn way(&self, model: &Model, v: &[Vec3], dt: f64) -> f64 {
        let soft = |k: &&u32| (**k as usize) < v.len();
        let (sum, count) = sum_over(&self.scene.slots, v);
        let mean = sum / f64::max(count, 1.0);
        let slots = self.scene.slots.par_iter().with_min_len(NODES).filter(soft);
        let mut fastest = slots.map(|&k| (v[k as usize] - mean).norm_squared()).reduce(|| 0.0, f64::max);
        let obstacles = &self.drawn;
        let (mut from, moving) = (0, &self.poses);
        for (i, obstacle) in model.contact.obstacles.iter().enumerate() {
            let count = obstacle.count();
            let nodes = if obstacle.at_rest() { from..from + 1 } else { from..from + count };
            for y in &obstacles[nodes] {
                let way = (moving[1][i].place(y) - moving[0][i].place(y)) / dt - mean;
                fastest = fastest.max(way.norm_squared());
            }
            from += count;
        }
        2.0 * fastest.sqrt() * dt
    }

    /// Looks for the contacts of a step. Returns the deepest overlap at its start [m].
    pub fn look(&mut self, model: &Model, options: &Options, step: &Outlook) -> Result<f64, SearchError> {
        let &Outlook { x, v, free, time, dt } = step;
        for (poses, time) in self.poses.iter_mut().zip([time, time + dt]) {
            poses.clear();
            poses.extend(model.contact.obstacles.iter().map(|o| o.pose(time)));
        }
        if self.alone {
            return Ok(0.0);
        }
        let ahead = options.activation == Activation::Position;
        let way = AHEAD * self.way(model, free, dt);
        // what lies on a surface to round-off touches it
        self.near = if ahead || self.persistent { way } else { 0.0 }.max(LEAST * self.finest);
        self.find(model, x.par_iter().copied(), time, way, options)?;
        let depth = self.deepest();
        if !ahead {
            // where everybody is going, contact or not
            let ahead = x.par_iter().zip(v).map(|(x, v)| x + dt * v);
            self.find(model, ahead, time + dt, way, options)?;
        }
        self.depth = depth;
        Ok(depth)
    }

    /// Deepest overlap of what becomes a contact [m].
    fn deepest(&self) -> f64 {
        let faces = self.chosen.iter().map(|&i| &self.records[i as usize].gap);
        let edges = self.search.edge_edge().iter().zip(&self.edges).filter(|e| *e.1).map(|e| &e.0.gap);
        faces.chain(edges).fold(0.0, |depth: f64, gap| depth.max(-gap))
    }

    /// The record as it counts: a node at a rim touches the face it looks at.
    fn sided(&self, record: &VertexFace) -> VertexFace {
        let facet = &self.scene.facets[record.face as usize];
        let beside = BESIDE * self.finest;
        if facet.kind.corners() < 2 || record.gap > beside {
            return *record;
        }
        let from_rim = match (record.feature, facet.kind) {
            (Feature::Face, FacetKind::Quad) => 0.5 * (1.0 - record.xi.abs().max(record.eta.abs())),
            (Feature::Face, _) => {
                facet.corners().iter().zip(&record.weights).fold(1.0, |m: f64, w| m.min(*w.1))
            }
            _ => 0.0,
        };
        if from_rim < RIM {
            facing(&self.scene, &self.at, record, beside).unwrap_or(*record)
        } else {
            *record
        }
    }

    /// Do these edges touch as edges? They are near, one is sharp, their normal parts the bodies, and no end of either says
    /// the same.
    fn edges_count(&self, record: &EdgeEdge) -> bool {
        let sharp = |e: u32| {
            let faces = self.scene.edges[e as usize].facets;
            let normal =
                |f: u32| self.scene.facets.get(f as usize).map(|f| f.area_vector(&self.at).normalize());
            match faces.map(normal) {
                [Some(p), Some(q)] => p.dot(&q) < FLAT,
                _ => true,
            }
        };
        record.gap <= self.near
            && !self.said_by_ends(record)
            && (sharp(record.first) || sharp(record.second))
            && nearly_parts_bodies(&self.scene, &self.at, record.first, record.second, &record.normal, SLACK)
    }

    /// Is an end of one of two edges as near to the other body, and along the same normal? Then the edges say nothing new:
    /// together the two would only share one force, and slowly.
    fn said_by_ends(&self, record: &EdgeEdge) -> bool {
        let [e, f] = [record.first, record.second].map(|e| &self.scene.edges[e as usize]);
        let of = |i: &u32| &self.records[*i as usize];
        let said = |k: u32, body: u32, normal: Vec3| {
            let own = &self.chosen[self.chosen.partition_point(|i| of(i).node < k)..];
            own.iter().map(of).take_while(|r| r.node == k).any(|r| {
                self.scene.facets[r.face as usize].body == body
                    && r.normal.dot(&normal) > SAME_SIDE
                    && r.gap <= record.gap + AS_NEAR * self.finest
            })
        };
        e.nodes.iter().any(|&k| said(k, f.body, record.normal))
            || f.nodes.iter().any(|&k| said(k, e.body, -record.normal))
    }

    /// Mean velocity over the step of the point of obstacle `body` that stands at `y` [m/s].
    fn outer(&self, body: u32, y: &Vec3, dt: f64) -> Vec3 {
        let soft = self.scene.bodies.len() - self.poses[0].len();
        let Some(i) = (body as usize).checked_sub(soft) else { return Vec3::zeros() };
        let (from, to) = (&self.poses[0][i], &self.poses[1][i]);
        if from == to {
            return Vec3::zeros();
        }
        let drawn = from.centre + from.turn.transpose() * (y - from.centre - from.shift);
        (to.place(&drawn) - from.place(&drawn)) / dt
    }

    /// Which nodes on faces become contacts; of those that say the same thing the first.
    fn choose(&mut self, pass: Pass) {
        let Touches { scene, records, chosen, near, finest, .. } = self;
        chosen.clear();
        for (i, record) in records.iter().enumerate() {
            if record.gap > *near || (pass == Pass::Double && is_second_end(scene, record)) {
                continue;
            }
            let body = |r: &VertexFace| scene.facets[r.face as usize].body;
            let same = |r: &VertexFace| {
                body(r) == body(record)
                    && r.normal.dot(&record.normal) > SAME_WAY
                    && (r.point - record.point).norm() <= SAME_POINT * *finest
            };
            let own = chosen.iter().rev().map(|&i| &records[i as usize]);
            if !own.take_while(|r| r.node == record.node).any(same) {
                chosen.push(i as u32);
            }
        }
    }

    /// A node on a face as a contact; `v` are the velocities at the start of the step.
    fn on_face(&self, record: &VertexFace, v: &[Vec3], dt: f64) -> (Contact, Touch) {
        let facet = &self.scene.facets[record.face as usize];
        let node = record.node;
        let bodies = [self.scene.node_body[node as usize], facet.body];
        let [on_node, on_face] = bodies.map(|b| self.scene.bodies[b as usize].attributes.rigid);
        let mut points = Points::default();
        let (mut normal, mut outer, mut sign) = (record.normal, Vec3::zeros(), 1.0);
        let corners = facet.corners().iter().zip(&record.weights);
        if on_face {
            points.push(node, 1.0);
            outer = self.outer(bodies[1], &record.point, dt);
        } else if on_node {
            corners.for_each(|(&k, &w)| points.push(k, w));
            outer = self.outer(bodies[0], &self.at[node as usize], dt);
            (normal, sign) = (-normal, -1.0);
        } else {
            points.push(node, 1.0);
            corners.for_each(|(&k, &w)| points.push(k, -w));
        }
        let contact = Contact { outer, ..Contact::new(points.list(), normal) };
        let before = contact.velocity(v);
        let (key, outer) = ((0, node, record.face), on_face || on_node);
        (contact, Touch { key, bodies, gap: record.gap, sign, outer, before })
    }

    /// Two edges as a contact.
    fn on_edge(&self, record: &EdgeEdge, v: &[Vec3], dt: f64) -> (Contact, Touch) {
        let [e, f] = [record.first, record.second].map(|e| &self.scene.edges[e as usize]);
        let bodies = [e.body, f.body];
        let [rigid_e, rigid_f] = bodies.map(|b| self.scene.bodies[b as usize].attributes.rigid);
        let mut points = Points::default();
        let (mut normal, mut outer, mut sign) = (record.normal, Vec3::zeros(), 1.0);
        if rigid_e {
            points.push(f.nodes[0], 1.0 - record.t);
            points.push(f.nodes[1], record.t);
            outer = self.outer(e.body, &record.p, dt);
            (normal, sign) = (-normal, -1.0);
        } else {
            points.push(e.nodes[0], 1.0 - record.s);
            points.push(e.nodes[1], record.s);
            if rigid_f {
                outer = self.outer(f.body, &record.q, dt);
            } else {
                points.push(f.nodes[0], record.t - 1.0);
                points.push(f.nodes[1], -record.t);
            }
        }
        let contact = Contact { outer, ..Contact::new(points.list(), normal) };
        let before = contact.velocity(v);
        let (key, outer) = ((1, record.first, record.second), rigid_e || rigid_f);
        (contact, Touch { key, bodies, gap: record.gap, sign, outer, before })
    }

    /// Bodies of the contact that pushes a node most.
    pub fn contact_of(&self, node: usize) -> Option<[u32; 2]> {
        let pushes = |c: &Contact| c.points().any(|(k, _)| k == node).then(|| c.force.norm_squared());
        let all =
            self.contacts.list.iter().zip(&self.touches).filter_map(|(c, t)| Some((pushes(c)?, t.bodies)));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|found| found.1)
    }

    /// Lists the contacts of the step; `v` are the velocities at its start, `free` those it would end with.
    pub fn list(&mut self, model: &Model, options: &Options, v: &[Vec3], free: &[Vec3], dt: f64) {
        let mut list = std::mem::take(&mut self.contacts.list);
        let mut touches = std::mem::take(&mut self.touches);
        let chosen = self.chosen.par_iter().with_min_len(STRETCH);
        make_room(&mut list, chosen.len());
        make_room(&mut touches, chosen.len());
        chosen
            .map(|&i| self.on_face(&self.records[i as usize], v, dt))
            .unzip_into_vecs(&mut list, &mut touches);
        for (edges, _) in self.search.edge_edge().iter().zip(&self.edges).filter(|e| *e.1) {
            let (contact, touch) = self.on_edge(edges, v, dt);
            list.push(contact);
            touches.push(touch);
        }
        if self.persistent && options.activation != Activation::Position {
            let acts = |t: &Touch| t.gap <= LEAST * self.finest || self.carried(t);
            let mut of = touches.iter();
            list.retain(|_| of.next().is_some_and(acts));
            touches.retain(acts);
        }
        let finish = |(contact, touch): (&mut Contact, &Touch)| {
            let law = model.contact.law(touch.bodies[0], touch.bodies[1]);
            contact.mu = law.friction;
            contact.shift = self.shift(touch, contact, options, law.restitution.unwrap_or(0.0), free, dt);
            contact.force = self.guess(touch);
            let u = contact.velocity(free);
            if contact.normal.dot(&u) + contact.shift < 0.0 { u.norm() } else { 0.0 }
        };
        let all = list.par_iter_mut().zip(&touches).with_min_len(STRETCH);
        let fastest = all.map(finish).reduce(|| 0.0, f64::max);
        self.speed = self.speed.max(fastest);
        (self.contacts.list, self.touches) = (list, touches);
    }

    /// How much room a contact has to close in the step, as a velocity.
    fn shift(
        &self,
        touch: &Touch,
        contact: &Contact,
        options: &Options,
        e: f64,
        free: &[Vec3],
        dt: f64,
    ) -> f64 {
        let room = match options.activation {
            Activation::Position if touch.gap >= 0.0 => touch.gap / dt,
            Activation::Position => {
                let most = (SLOWLY * self.speed).max(EDGES_PER_STEP * self.finest / dt);
                (options.push_back * touch.gap / dt).max(-most)
            }
            // an overlap at the start of the step; what closes in it has none yet
            Activation::Rate if self.persistent => {
                let gap = touch.gap - dt * contact.normal.dot(&touch.before);
                let most = (SLOWLY * self.speed).max(EDGES_PER_STEP * self.finest / dt);
                (options.push_back * gap.min(0.0) / dt).max(-most)
            }
            Activation::Rate | Activation::Project => 0.0,
        };
        if e > 0.0 {
            let approach = contact.normal.dot(&touch.before);
            let closes = contact.normal.dot(&contact.velocity(free)) + room < 0.0;
            if closes && approach < -REBOUND * self.speed {
                return e * approach;
            }
        }
        room
    }

    /// These two felt a force in the last step.
    fn carried(&self, touch: &Touch) -> bool {
        self.kept.binary_search_by_key(&touch.key, |k| k.key).is_ok()
    }

    /// The force these two felt in the last step, else the one between the node and that body.
    fn guess(&self, touch: &Touch) -> Vec3 {
        match self.kept.binary_search_by_key(&touch.key, |k| k.key) {
            Ok(at) => self.kept[at].force,
            Err(at) => {
                let same =
                    |k: &&Kept| (k.key.0, k.key.1, k.body) == (touch.key.0, touch.key.1, touch.bodies[1]);
                let around = [at.checked_sub(1), Some(at)].into_iter().flatten();
                let found = around.filter_map(|i| self.kept.get(i)).find(same);
                found.filter(|_| touch.key.0 == 0).map_or(Vec3::zeros(), |k| k.force)
            }
        }
    }

    /// Finds the forces and changes the velocities `v` accordingly.
    pub fn solve(&mut self, options: &Options, dt: f64, v: &mut [Vec3]) {
        let limits = Limits {
            tolerance: options.tolerance,
            scale: self.speed.max(options.speed),
            sweeps: options.sweeps,
            natural: options.natural,
        };
        self.report = self.contacts.solve(&self.inertia, dt, v, &limits);
        self.unfinished += u64::from(self.report.unfinished > 0);
    }

    /// Remembers the forces and books what they did. They act at positions `x`; `end` are the velocities at the end of the
    /// step. `centred`: forces work at the mean of the velocities at its ends, else as the header of `nodes` has it.
    pub fn book(&mut self, dt: f64, x: &[Vec3], end: &[Vec3], centred: bool, ledger: &mut Ledger) {
        std::mem::swap(&mut self.impulse, &mut self.impulse_before);
        self.impulse.fill(Vec3::zeros());
        self.kept.clear();
        let late = if centred { 0.5 } else { 1.0 };
        let mut now = Halves::default();
        let (mut normal_work, mut friction_work, mut outer_work) = (0.0, 0.0, 0.0);
        let mut carried = 0;
        for (contact, touch) in self.contacts.list.iter().zip(&self.touches) {
            if contact.force == Vec3::zeros() {
                continue;
            }
            carried += 1;
            if contact.settled {
                keep(&mut self.kept, touch, contact.force);
            }
            let j = dt * contact.force;
            let n = contact.normal;
            let along = n.dot(&j) * n;
            let (u0, u1) = (touch.before, contact.velocity(end));
            let u = 0.5 * u0 + late * u1;
            normal_work += along.dot(&u);
            friction_work += (j - along).dot(&u);
            outer_work += (0.5 + late) * j.dot(&contact.outer);
            now.normal += along.dot(&u1);
            now.friction += (j - along).dot(&u1);
            now.outer += j.dot(&contact.outer);
            let mut centre = Vec3::zeros();
            for (k, c) in contact.points() {
                self.impulse[k] += c * j;
                self.impulses.received[k] += c * j;
                centre += c * x[k];
            }
            if touch.outer {
                ledger.impulse += j;
                ledger.moment += centre.cross(&j);
            }
            self.impulses.add(touch.bodies, touch.sign * j);
        }
        ledger.restitution -= normal_work - 0.5 * self.halves.normal;
        ledger.friction -= friction_work - 0.5 * self.halves.friction;
        ledger.external += outer_work - 0.5 * self.halves.outer;
        self.halves = if centred { Halves::default() } else { now };
        ledger.contacts = carried;
        ledger.collision_kicks += carried;
    }

    /// Moves positions `x` at `time` out of overlaps, each node by its share of the inverse mass: contacts without friction on
    /// displacements. Velocities stay.
    pub fn project(
        &mut self,
        model: &Model,
        options: &Options,
        x: &mut [Vec3],
        time: f64,
    ) -> Result<(), SearchError> {
        self.moved.resize(x.len(), Vec3::zeros());
        self.moved.fill(Vec3::zeros());
        self.any_moved = false;
        let near = std::mem::replace(&mut self.near, DEEPEST * self.finest);
        let found = self.find(model, x.par_iter().copied(), time, 0.0, options);
        let depth = self.deepest();
        if found.is_err() || depth == 0.0 {
            self.near = near;
            return found;
        }
        self.any_moved = true;
        let still = std::mem::take(&mut self.impulse);
        // lists contacts where nodes are now; speeds and guesses play no part
        let speed = self.speed;
        self.list(model, options, &still, &still, 1.0);
        (self.speed, self.near) = (speed, near);
        self.impulse = still;
        for (contact, touch) in self.contacts.list.iter_mut().zip(&self.touches) {
            (contact.mu, contact.outer, contact.force) = (0.0, Vec3::zeros(), Vec3::zeros());
            contact.shift = touch.gap;
        }
        let limits =
            Limits { tolerance: options.tolerance, scale: depth, sweeps: options.sweeps, natural: None };
        self.contacts.solve(&self.inertia, 1.0, &mut self.moved, &limits);
        for (x, d) in x.iter_mut().zip(&self.moved) {
            *x += d;
        }
        Ok(())
    }

    pub fn save(&self, method: &str, record: &mut Record) {
        self.impulses.save(method, record);
        let name = |what: &str| format!("{method}.{what}");
        record.vectors(&name("impulse"), &self.impulse);
        let keys = self
            .kept
            .iter()
            .flat_map(|k| [f64::from(k.key.0), k.key.1.into(), k.key.2.into(), k.body.into()]);
        record.numbers(&name("kept"), &keys.collect::<Vec<f64>>());
        let forces: Vec<Vec3> = self.kept.iter().map(|k| k.force).collect();
        record.vectors(&name("forces"), &forces);
        let Halves { normal, friction, outer } = self.halves;
        record.numbers(
            &name("halves"),
            &[normal, friction, outer, self.speed, self.depth, self.contacts.typical],
        );
        record.counts(&name("unfinished"), &[self.unfinished]);
    }

    pub fn restore(&mut self, method: &str, record: &Record) -> Result<(), RecordError> {
        self.impulses.restore(method, record)?;
        let name = |what: &str| format!("{method}.{what}");
        record.read_vectors(&name("impulse"), &mut self.impulse)?;
        let keys = record.get(&name("kept"))?;
        let mut forces = vec![Vec3::zeros(); keys.len() / 4];
        record.read_vectors(&name("forces"), &mut forces)?;
        let kept = keys.chunks_exact(4).zip(forces).map(|(k, force)| Kept {
            key: (k[0] as u8, k[1] as u32, k[2] as u32),
            body: k[3] as u32,
            force,
        });
        self.kept = kept.collect();
        let mut halves = [0.0; 6];
        record.read_numbers(&name("halves"), &mut halves)?;
        self.halves = Halves { normal: halves[0], friction: halves[1], outer: halves[2] };
        (self.speed, self.depth, self.contacts.typical) = (halves[3], halves[4], halves[5]);
        [self.unfinished] = record.read_counts(&name("unfinished"))?;
        Ok(())
    }
}

/// Makes room for `count` items and as many again, unless there is room: rayon asks for no more than it needs, and would ask
/// again whenever one more is found.
fn make_room<T>(list: &mut Vec<T>, count: usize) {
    if list.capacity() < count {
        list.reserve(2 * count - list.len());
    }
}

/// Sum of `v` over those `slots` that have one, and their number: halves of halves, the same whoever adds them.
fn sum_over(slots: &[u32], v: &[Vec3]) -> (Vec3, f64) {
    if slots.len() <= NODES {
        let soft = slots.iter().filter_map(|&k| v.get(k as usize));
        return soft.fold((Vec3::zeros(), 0.0), |(sum, count), v| (sum + v, count + 1.0));
    }
    let (first, second) = slots.split_at(slots.len() / 2);
    let (p, q) = rayon::join(|| sum_over(first, v), || sum_over(second, v));
    (p.0 + q.0, p.1 + q.1)
}

/// Remembers a force. Contacts come by their nodes, so its place is among the last.
fn keep(kept: &mut Vec<Kept>, touch: &Touch, force: Vec3) {
    let at = kept.iter().rposition(|k| k.key < touch.key).map_or(0, |last| last + 1);
    kept.insert(at, Kept { key: touch.key, body: touch.bodies[1], force });
}

/// Two ends of bars see each other, once is enough: is this the second time?
fn is_second_end(scene: &Scene, record: &VertexFace) -> bool {
    let is_end = |f: u32| scene.facets[f as usize].kind == FacetKind::Point;
    is_end(record.face)
        && scene.facets[record.face as usize].nodes[0] < record.node
        && scene.node_facets.of(record.node).iter().any(|&f| is_end(f))
}

/// The points of one contact; who has no weight is left out.
#[derive(Default)]
struct Points {
    list: [(u32, f64); POINTS],
    count: usize,
}

impl Points {
    fn push(&mut self, node: u32, weight: f64) {
        if weight != 0.0 && self.count < POINTS {
            self.list[self.count] = (node, weight);
            self.count += 1;
        }
    }

    fn list(&self) -> &[(u32, f64)] {
        &self.list[..self.count]
    }
}

#[cfg(test)]
mod tests;
