//! Contacts of a step that obey Coulomb's law all together (bi-potential): from what the search finds to the contacts that
//! are solved, and from their forces to the books.
//!
//! **Sign.** n points to the positive weights, the slave; forces act on it. The gap is positive when open.
//!
//! Guesses for forces are kept as vectors in space by what touches what, else by the node and the body it touches.
//!
//! Used by `semi-explicit` and `bipotential-implicit`.

mod on_the_way;

use super::contact_world::{ContactWorld, pose_all};
use super::semi_explicit::{Activation, Options};
use crate::contact::obstacle::{Pose, Poses};
use crate::contact::pair::{Key, Kind, Pair};
use crate::contact::places::Places;
use crate::contact::rules::FLAT;
use crate::contact::search::{PairSearch, Query, SearchError};
use crate::contact::selection::{Choice, STRETCH, Selection, make_room};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model};
use crate::solve::contacts::{Contact, Contacts, Limits, Report};
use on_the_way::OnTheWay;
use rayon::prelude::*;

/// Reach of the search over the farthest way of a step.
const AHEAD: f64 = 2.0;
/// Least depth that the search finds, as a share of the finest body's median edge.
const DEEPEST: f64 = 0.05;
/// Gap up to which things count as touching, as a share of the finest body's median edge.
const LEAST: f64 = 1e-6;
/// Speed at which overlaps are undone at most: this share of the fastest impact, and of an edge per step.
const SLOWLY: f64 = 0.1;
const EDGES_PER_STEP: f64 = 1e-5;
/// Share of the fastest impact below which nothing rebounds.
const REBOUND: f64 = 1e-3;

/// Round-off of a force on Coulomb's cone, of its size.
const ON_CONE: f64 = 1e-6;

/// Nodes that one thread goes through at a stretch.
const NODES: usize = 2048;

/// A force to begin with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kept {
    key: Key,
    /// Body of the second feature.
    body: u32,
    force: Vec3,
}

/// How near a contact is [m], and how fast it opened at the start of the step [m/s].
#[derive(Clone, Copy)]
struct Closing {
    gap: f64,
    approach: f64,
}

/// What contact did, to be booked over two steps.
#[derive(Clone, Copy, Debug, Default)]
struct DeferredWork {
    contact: f64,
    outer: f64,
}

/// A step before it is taken.
pub(crate) struct StepInput<'a> {
    /// Positions and velocities at its start.
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    /// Velocities it would end with if nothing touched.
    pub free: &'a [Vec3],
    /// When it begins and how long it is [s].
    pub time: f64,
    pub dt: f64,
}

/// Contacts are unsolved if the last sweep changed a velocity by more than this times the tolerance.
const UNSOLVED: f64 = 100.0;

pub(crate) struct ContactSet {
    pub world: ContactWorld,
    /// Where obstacles stand at the start and at the end of the step.
    poses: [Vec<Pose>; 2],
    selection: Selection,
    pub contacts: Contacts,
    /// What the contacts are contacts of, and their relative velocity at the start of the step [m/s].
    pairs: Vec<(Pair, Vec3)>,
    kept: Vec<Kept>,
    /// Impulse on each node in this step and in the one before [N s].
    pub impulse: Vec<Vec3>,
    pub impulse_before: Vec<Vec3>,
    deferred: DeferredWork,
    /// Fastest approach of anything that met so far [m/s].
    pub speed: f64,
    /// Gap up to which contacts are listed, and the deepest overlap at the last search [m].
    near: f64,
    depth: f64,
    /// Where everybody stands at the start of the step, if somebody is a shell with two sides.
    start: Vec<Vec3>,
    /// Looks at the way of a step for them.
    pub way: OnTheWay,
    /// Nothing can touch anything.
    alone: bool,
    pub report: Report,
    /// Steps whose contacts were left at the limit of sweeps.
    pub unfinished: u64,
    /// Displacements of a projection; zero in between.
    pub moved: Vec<Vec3>,
    pub any_moved: bool,
}

impl ContactSet {
    pub(crate) fn new(model: &Model) -> ContactSet {
        let world = ContactWorld::new(model, false);
        let nodes = model.reference.len();
        ContactSet {
            start: Vec::new(),
            way: OnTheWay::default(),
            alone: !world.anything_meets(),
            world,
            near: 0.0,
            depth: 0.0,
            poses: [Vec::new(), Vec::new()],
            selection: Selection::default(),
            contacts: Contacts::default(),
            pairs: Vec::new(),
            kept: Vec::new(),
            impulse: vec![Vec3::zeros(); nodes],
            impulse_before: vec![Vec3::zeros(); nodes],
            deferred: DeferredWork::default(),
            speed: 0.0,
            report: Report::default(),
            unfinished: 0,
            moved: Vec::new(),
            any_moved: false,
        }
    }

    /// Finds what is nearer than `way`, open or overlapping, with the nodes at `x` and the obstacles where they are at `time`.
    /// What becomes contacts is no farther than `near`. Returns the deepest overlap [m].
    fn find(
        &mut self,
        model: &Model,
        x: impl IndexedParallelIterator<Item = Vec3>,
        time: f64,
        way: f64,
        options: &Options,
    ) -> Result<f64, SearchError> {
        self.world.place(model, x, time);
        let ContactWorld { scene, search, x, finest, .. } = &mut self.world;
        let reach = way.max(2.0 * self.depth).max(DEEPEST * *finest);
        let Options { edge_edge, pass, .. } = *options;
        let query = Query { edge_edge, pass, flat: Some(FLAT), ..Query::all(reach) };
        // nothing comes through a shell with two sides (`on_the_way.rs`): it is met from where everybody is
        search.findings_mut().narrow.sides.known.clear();
        search.find(scene, x, None, &query)?;
        let choice = Choice { scene, x, pass: options.pass, near: self.near, finest: *finest };
        self.selection.renew(search, &choice);
        Ok(self.selection.deepest(search, &choice))
    }

    /// Farthest that two points can come towards each other in `dt` with velocities `v` and obstacles as they move [m].
    fn way(&self, model: &Model, v: &[Vec3], dt: f64) -> f64 {
        let soft = |k: &&u32| (**k as usize) < v.len();
        let slots = &self.world.scene.slots;
        let (sum, count) = sum_over(slots, v);
        let mean = sum / f64::max(count, 1.0);
        let slots = slots.par_iter().with_min_len(NODES).filter(soft);
        let mut fastest = slots.map(|&k| (v[k as usize] - mean).norm_squared()).reduce(|| 0.0, f64::max);
        let obstacles = &self.world.drawn;
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
    pub(crate) fn search_contacts(
        &mut self,
        model: &Model,
        options: &Options,
        step: &StepInput,
    ) -> Result<f64, SearchError> {
        let &StepInput { x, v, free, time, dt } = step;
        for (poses, time) in self.poses.iter_mut().zip([time, time + dt]) {
            pose_all(model, time, poses);
        }
        if self.alone {
            return Ok(0.0);
        }
        let ahead = options.activation == Activation::Position;
        let way = AHEAD * self.way(model, free, dt);
        // what lies on a surface to round-off touches it
        self.near = if ahead { way } else { 0.0 }.max(LEAST * self.world.finest);
        let depth = self.find(model, x.par_iter().copied(), time, way, options)?;
        if self.world.two_sided {
            self.start.clone_from(&self.world.x);
        }
        if !ahead {
            // where everybody is going, contact or not
            let ahead = x.par_iter().zip(v).map(|(x, v)| x + dt * v);
            self.find(model, ahead, time + dt, way, options)?;
        }
        self.depth = depth;
        Ok(depth)
    }

    /// Bodies of the contact that pushes a node most.
    pub(crate) fn contact_of(&self, node: usize) -> Option<[u32; 2]> {
        let pushes = |c: &Contact| c.points().any(|(k, _)| k == node).then(|| c.force.norm_squared());
        let all = self.contacts.list.iter().zip(&self.pairs);
        let all = all.filter_map(|(c, (pair, _))| Some((pushes(c)?, pair.bodies)));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|found| found.1)
    }

    /// Contacts with friction that stuck and that slipped in the last step: the force of slip is on Coulomb's cone.
    pub(crate) fn stick_and_slip(&self) -> [u64; 2] {
        let mut counts = [0; 2];
        for contact in self.contacts.list.iter().filter(|c| c.mu > 0.0 && c.force != Vec3::zeros()) {
            let along = contact.normal.dot(&contact.force);
            let rest = (contact.force - along * contact.normal).norm();
            counts[usize::from(rest >= (1.0 - ON_CONE) * contact.mu * along)] += 1;
        }
        counts
    }

    /// Lists the contacts of the step; `v` are the velocities at its start, `free` those it would end with.
    pub(crate) fn build_contacts(
        &mut self,
        model: &Model,
        options: &Options,
        v: &[Vec3],
        free: &[Vec3],
        dt: f64,
    ) {
        let mut list = std::mem::take(&mut self.contacts.list);
        let mut pairs = std::mem::take(&mut self.pairs);
        let [from, to] = &self.poses;
        let poses = Poses::Over { from, to, dt };
        let at = Places { scene: &self.world.scene, x: &self.world.x, poses };
        let contact = |pair: Pair| {
            let contact = Contact::of(&pair);
            (contact, (pair, contact.velocity(v)))
        };
        let nodes = self.selection.nodes();
        make_room(&mut list, nodes.len());
        make_room(&mut pairs, nodes.len());
        nodes.map(|r| contact(at.of_record(r))).unzip_into_vecs(&mut list, &mut pairs);
        for edges in self.selection.edges(&self.world.search) {
            let (contact, pair) = contact(at.of_edges(edges));
            list.push(contact);
            pairs.push(pair);
        }
        let finish = |(contact, (pair, before)): (&mut Contact, &(Pair, Vec3))| {
            let law = model.contact.law(pair.bodies[0], pair.bodies[1]);
            contact.mu = law.friction;
            let gap = pair.gap - self.clearance(pair);
            let closing = Closing { gap, approach: contact.normal.dot(before) };
            contact.velocity_bias =
                self.velocity_bias(closing, contact, options, law.restitution.unwrap_or(0.0), free, dt);
            contact.force = self.guess(pair);
            let u = contact.velocity(free);
            if contact.normal.dot(&u) + contact.velocity_bias < 0.0 { u.norm() } else { 0.0 }
        };
        let all = list.par_iter_mut().zip(&pairs).with_min_len(STRETCH);
        let fastest = all.map(finish).reduce(|| 0.0, f64::max);
        self.speed = self.speed.max(fastest);
        (self.contacts.list, self.pairs) = (list, pairs);
    }

    /// How much room a contact has to close in the step, as a velocity.
    fn velocity_bias(
        &self,
        Closing { gap, approach }: Closing,
        contact: &Contact,
        options: &Options,
        e: f64,
        free: &[Vec3],
        dt: f64,
    ) -> f64 {
        let room = match options.activation {
            Activation::Position if gap >= 0.0 => gap / dt,
            Activation::Position => {
                let most = (SLOWLY * self.speed).max(EDGES_PER_STEP * self.world.finest / dt);
                (options.baumgarte * gap / dt).max(-most)
            }
            Activation::Rate | Activation::Project => 0.0,
        };
        if e > 0.0 {
            let closes = contact.normal.dot(&contact.velocity(free)) + room < 0.0;
            if closes && approach < -REBOUND * self.speed {
                return e * approach;
            }
        }
        room
    }

    /// The force these two felt in the last step, else the one between the node and that body.
    fn guess(&self, pair: &Pair) -> Vec3 {
        let key = pair.key;
        match self.kept.binary_search_by_key(&key, |k| k.key) {
            Ok(at) => self.kept[at].force,
            Err(at) => {
                let same =
                    |k: &&Kept| (k.key.kind, k.key.first, k.body) == (key.kind, key.first, pair.bodies[1]);
                let around = [at.checked_sub(1), Some(at)].into_iter().flatten();
                let found = around.filter_map(|i| self.kept.get(i)).find(same);
                found.filter(|_| key.kind == Kind::NodeFace).map_or(Vec3::zeros(), |k| k.force)
            }
        }
    }

    /// Was something left that still moves? Contacts that say nearly the same thing pass their shares to and fro for long,
    /// while velocities have settled.
    pub(crate) fn is_unsolved(&self, options: &Options) -> bool {
        let settled = UNSOLVED * options.tolerance * self.speed.max(options.speed);
        self.report.unfinished > 0 && self.report.change > settled
    }

    /// Finds the forces and changes the velocities `v` accordingly.
    pub(crate) fn solve(&mut self, options: &Options, dt: f64, v: &mut [Vec3]) {
        let limits = Limits {
            natural_map_residual: options.natural_map_residual,
            ..limits(options, self.speed.max(options.speed))
        };
        self.report = self.contacts.solve(&self.world.inertia, dt, v, &limits);
        self.unfinished += u64::from(self.report.unfinished > 0);
    }

    /// Remembers the forces and books what they did. They act at positions `x`; `start` and `end` are the velocities at the
    /// ends of the step. `centred`: forces work at the mean of the velocities at its ends, else as the header of `nodes` has it.
    ///
    /// Friction takes the work of each contact at the mean of its velocities. The law holds at the end of the step alone, and
    /// where slip has turned round in between that work may be negative: it is a deed of the scheme and stands with
    /// restitution, so that friction never gives energy back.
    pub(crate) fn book(
        &mut self,
        dt: f64,
        x: &[Vec3],
        [start, end]: [&[Vec3]; 2],
        centred: bool,
        ledger: &mut Ledger,
    ) {
        std::mem::swap(&mut self.impulse, &mut self.impulse_before);
        self.impulse.fill(Vec3::zeros());
        self.kept.clear();
        let late = if centred { 0.5 } else { 1.0 };
        let mut now = DeferredWork::default();
        let (mut work, mut outer_work, mut lost) = (0.0, 0.0, 0.0);
        let mut carried = 0;
        for (contact, (pair, before)) in self.contacts.list.iter().zip(&self.pairs) {
            if contact.force == Vec3::zeros() {
                continue;
            }
            carried += 1;
            if contact.settled {
                keep(&mut self.kept, pair, contact.force);
            }
            let j = dt * contact.force;
            let n = contact.normal;
            let u1 = contact.velocity(end);
            work += j.dot(&(0.5 * before + late * u1));
            if contact.mu > 0.0 {
                let tangential = j - n.dot(&j) * n;
                lost += (-0.5 * tangential.dot(&(before + u1))).max(0.0);
            }
            outer_work += (0.5 + late) * j.dot(&contact.outer);
            now.contact += j.dot(&u1);
            now.outer += j.dot(&contact.outer);
            let mut centre = Vec3::zeros();
            for (k, c) in contact.points() {
                self.impulse[k] += c * j;
                self.world.impulses.received[k] += c * j;
                centre += c * x[k];
            }
            if pair.outer.is_some() {
                ledger.impulse += j;
                ledger.moment += centre.cross(&j);
            }
            self.world.count(pair, j);
        }
        let [zones, waits] = self.book_zones([start, end], late, ledger);
        work += zones.contact;
        outer_work += zones.outer;
        now.contact += waits.contact;
        now.outer += waits.outer;
        ledger.restitution -= work - 0.5 * self.deferred.contact + lost;
        ledger.friction += lost;
        ledger.external += outer_work - 0.5 * self.deferred.outer;
        self.deferred = if centred { DeferredWork::default() } else { now };
        ledger.contacts = carried;
        ledger.collision_kicks += carried;
    }

    /// Moves positions `x` at `time` out of overlaps, each node by its share of the inverse mass: contacts without friction on
    /// displacements. Velocities stay.
    pub(crate) fn project(
        &mut self,
        model: &Model,
        options: &Options,
        x: &mut [Vec3],
        time: f64,
    ) -> Result<(), SearchError> {
        self.moved.resize(x.len(), Vec3::zeros());
        self.moved.fill(Vec3::zeros());
        self.any_moved = false;
        let near = std::mem::replace(&mut self.near, DEEPEST * self.world.finest);
        let found = self.find(model, x.par_iter().copied(), time, 0.0, options);
        if !found.as_ref().is_ok_and(|depth| *depth > 0.0) {
            self.near = near;
            return found.map(|_| ());
        }
        let depth = found?;
        self.any_moved = true;
        let still = std::mem::take(&mut self.impulse);
        // lists contacts where nodes are now; speeds and guesses play no part
        let speed = self.speed;
        self.build_contacts(model, options, &still, &still, 1.0);
        (self.speed, self.near) = (speed, near);
        self.impulse = still;
        for (contact, (pair, _)) in self.contacts.list.iter_mut().zip(&self.pairs) {
            (contact.mu, contact.outer, contact.force) = (0.0, Vec3::zeros(), Vec3::zeros());
            contact.velocity_bias = pair.gap;
        }
        self.contacts.solve(&self.world.inertia, 1.0, &mut self.moved, &limits(options, depth));
        for (x, d) in x.iter_mut().zip(&self.moved) {
            *x += d;
        }
        Ok(())
    }

    pub(crate) fn save(&self, method: &str, record: &mut Record) {
        self.world.save(method, record);
        let name = |what: &str| format!("{method}.{what}");
        record.vectors(&name("impulse"), &self.impulse);
        let keys = self.kept.iter().flat_map(|k| {
            let edges = u32::from(k.key.kind == Kind::EdgeEdge);
            [edges, k.key.first, k.key.second, k.body].map(f64::from)
        });
        record.numbers_from(&name("kept"), keys);
        record.vectors_from(&name("forces"), self.kept.iter().map(|k| k.force));
        let DeferredWork { contact, outer } = self.deferred;
        record.numbers(&name("halves"), &[contact, outer, self.speed, self.depth, self.contacts.typical]);
        record.counts(&name("unfinished"), &[self.unfinished]);
    }

    pub(crate) fn restore(&mut self, method: &str, record: &Record) -> Result<(), RecordError> {
        self.world.restore(method, record)?;
        let name = |what: &str| format!("{method}.{what}");
        record.read_vectors(&name("impulse"), &mut self.impulse)?;
        let keys = record.get(&name("kept"))?;
        let mut forces = vec![Vec3::zeros(); keys.len() / 4];
        record.read_vectors(&name("forces"), &mut forces)?;
        let kept = keys.chunks_exact(4).zip(forces).map(|(k, force)| {
            let kind = if k[0] == 0.0 { Kind::NodeFace } else { Kind::EdgeEdge };
            let key = Key { kind, first: k[1] as u32, second: k[2] as u32 };
            Kept { key, body: k[3] as u32, force }
        });
        self.kept = kept.collect();
        let DeferredWork { contact, outer } = &mut self.deferred;
        [*contact, *outer, self.speed, self.depth, self.contacts.typical] =
            record.read_values(&name("halves"))?;
        [self.unfinished] = record.read_counts(&name("unfinished"))?;
        Ok(())
    }
}

/// When contacts count as solved whose velocities, or displacements, are of the size `scale`.
fn limits(options: &Options, scale: f64) -> Limits {
    let &Options { local, tolerance, sweeps, .. } = options;
    Limits { local, tolerance, scale, sweeps, natural_map_residual: None }
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
fn keep(kept: &mut Vec<Kept>, pair: &Pair, force: Vec3) {
    let at = kept.iter().rposition(|k| k.key < pair.key).map_or(0, |last| last + 1);
    kept.insert(at, Kept { key: pair.key, body: pair.bodies[1], force });
}
