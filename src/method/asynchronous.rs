//! Asynchronous variational integrator with asynchronous collisions (Wolff & Bucher 2013).
//!
//! Every element has a time step of its own, every surface node looks for contacts at times of its own, and a contact
//! is answered at once in closed form. Between kicks a node moves straight on, so a position is kept together with the
//! tick at which it holds and is moved only when its velocity is about to change.
//!
//! ```text
//! next event in the order of ticks:
//!   window      books are looked at; nothing else happens
//!   prescribed  prescribed supports take up the velocity that brings them to their next place
//!   kick        x ← x + (t − τ)v   v ← v − h W f(x)            elements of one step together; then loads
//!   node, edge  x ← x + (t − τ)v   v ← v + W w j               if it is inside something and goes deeper
//! ```
//!
//! | file          | holds                                                         |
//! |---------------|---------------------------------------------------------------|
//! | `options`     | switches                                                      |
//! | `clock`       | time as a whole number of ticks                               |
//! | `queue`       | what happens next                                             |
//! | `steps`       | how long each element may wait                                |
//! | `prescribed`  | supports with prescribed motion                               |
//! | `fixed`       | masses, supports and bodies of nodes                          |
//! | `group`       | potentials that are kicked together                           |
//! | `groups`      | all of them                                                   |
//! | `synchronised`| the state of one instant, as it is looked at                  |
//! | `instant`     | forces of one instant on single nodes, for contacts           |
//! | `check_groups`| nodes and edges that are checked together, and whom they meet |
//! | `body_pairs`  | bodies that can meet, and their candidates                    |
//! | `targets`     | which element a node is in, and through which face it came    |
//! | `edges`       | edges that have crossed                                       |
//! | `obstacles`   | nodes behind rigid surfaces                                   |
//! | `contactors`  | nodes that are checked for contact, and how often             |
//! | `collisions`  | collision kicks                                               |
//! | `impulses`    | impulses of contact and their books                           |
//! | `simultaneous`| all contacts of one instant at once                           |
//! | `record`      | memory put away and taken back                                |
//!
//! **Sign.** Gaps are positive when open and normals point out of the target, as everywhere; the paper's g and ν are
//! the negatives.
//!
//! **Phase.** A kick stands for an interval of length h. Here it lies in its middle (equal steps: leapfrog); in the paper
//! at its start (equal steps: symplectic Euler), which leaves velocities at contacts wrong by O(h).
//!
//! **Looking.** What is looked at is a copy in which every node has the position and the velocity of one instant, with
//! the impulses of the kicks around it given back or anticipated in proportion. It is never written back.

mod body_pairs;
mod clock;
mod collisions;
mod contactors;
mod edges;
mod fixed;
mod group;
mod groups;
mod impulses;
mod instant;
mod prescribed;
mod obstacles;
mod options;
mod queue;
mod record;
mod check_groups;
mod simultaneous;
mod steps;
mod synchronised;
mod targets;

pub use options::{ContactStep, ContactVelocity, Longest, Mode, Normal, Options, Response};
pub use steps::Steps;
pub use synchronised::Phase;

use super::chunks::follow_supports;
use super::impulses::Impulses;
use super::{Blow, Method, Reached, StepError};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use clock::Clock;
use collisions::Collisions;
use contactors::Around;
use edges::Edges;
use group::KickSums;
use groups::Groups;
use impulses::{ContactContext, DriftedView};
use prescribed::PrescribedGroup;
use queue::{Event, Kind, Queue};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use synchronised::{Synchronised, When};

/// Windows between two measurements of all energies: a measurement costs as much as a kick of everybody.
const MEASURE_EVERY: u64 = 32;
/// Measurements between two looks at how much elements have stiffened, which cost several times as much.
const STIFFNESS_EVERY: u64 = 4;
/// A step longer than the stable one by this factor is given up; the stable step is a bound from below.
const TOO_STIFF: f64 = 1.5;
/// Events between two looks at the stop.
const STOP_EVERY: u32 = 256;

/// What has been counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Potentials kicked.
    pub element_kicks: u64,
    /// Times a node or an edge has looked for contacts, and times it was answered.
    pub contact_checks: u64,
    pub collision_kicks: u64,
    /// Times a node was found deeper in an element than half of it and was let go: steps of contact are too long.
    pub too_deep: u64,
}

pub struct Asynchronous {
    options: Options,
    clock: Clock,
    groups: Groups,
    prescribed: Vec<PrescribedGroup>,
    /// Tick at which the position of each node holds.
    tau: Vec<u64>,
    now: u64,
    /// Length of a window and its end [ticks].
    window: (u64, u64),
    kicks: Queue,
    checks: Queue,
    collisions: Collisions,
    edges: Edges,
    /// Work and impulses of kicks and prescribed supports so far.
    sums: KickSums,
    copy: Synchronised,
    /// Shortest, mean and longest step of the potentials [s].
    range: [f64; 3],
}

impl Asynchronous {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, options: Options) -> Asynchronous {
        let critical = steps::critical(model);
        let moves = steps::movable(model);
        let (tick, chosen) = steps::choose(&critical, &moves, options.safety, options.steps);
        let mut groups = Groups::new(model, &chosen);
        let (local, average) = steps::around(model, &critical, &moves);
        let clock = Clock { begin: 0.0, tick };
        let prescribed = prescribed::all(model, &groups);
        let (mut count, mut sum, mut ends) = (0, 0, (u64::MAX, 1));
        for group in groups.list.iter().filter(|g| !g.is_load()) {
            count += group.potentials;
            sum += group.potentials * group.step;
            ends = (ends.0.min(group.step), ends.1.max(group.step));
        }
        let mean = if count > 0 { sum as f64 / count as f64 } else { 1.0 };
        let range = [ends.0.min(ends.1) as f64 * tick, mean * tick, ends.1 as f64 * tick];
        let kicks: Vec<Option<u64>> = match options.steps {
            Steps::Free => vec![None; model.reference.len()],
            _ => (0..model.reference.len()).map(|n| groups.shortest_step(n)).collect(),
        };
        let around = Around { local: &local, average, smallest: range[0], kicks: &kicks };
        let mut collisions = Collisions::new(model, &options, &around, tick);
        // whoever looks only where all intervals end needs no forces of his own
        let in_rhythm = options.phase == Phase::Centred
            && collisions.in_rhythm(groups.list.iter().map(|group| group.step));
        if options.contact_velocity == ContactVelocity::Synchronised && !in_rhythm {
            groups.prepare(model, &collisions.touched(model.reference.len()));
        }
        let edges = if options.edge_edge { Edges::new(model, &collisions) } else { Edges::none() };
        collisions.prepare(model, &edges);
        Asynchronous {
            options,
            clock,
            prescribed,
            collisions,
            edges,
            checks: Queue::default(),
            tau: vec![0; model.reference.len()],
            now: 0,
            window: (ends.1, ends.1),
            kicks: Queue::default(),
            sums: KickSums::default(),
            copy: Synchronised::new(model),
            range,
            groups,
        }
    }

    /// Steps of the groups of potentials [s], ascending, and how many potentials each has.
    pub fn steps(&self) -> Vec<(f64, u64)> {
        let potentials = self.groups.list.iter().filter(|g| !g.is_load());
        potentials.map(|g| (self.clock.between(0, g.step), g.potentials)).collect()
    }

    /// Steps of the nodes and edges that look for contacts [s], the longest if they follow speeds, and how many have each.
    pub fn contact_steps(&self) -> Vec<(f64, u64)> {
        let check_groups = self.collisions.check_groups.iter().chain(&self.edges.check_groups);
        check_groups.map(|r| (self.clock.between(0, r.step), r.members.len() as u64)).collect()
    }

    pub fn counters(&self, ledger: &Ledger) -> Counters {
        let tally = &self.collisions.tally;
        Counters {
            element_kicks: ledger.element_kicks,
            contact_checks: tally.checks,
            collision_kicks: tally.kicks,
            too_deep: tally.too_deep,
        }
    }

    /// Time of the last collision kick [s]; zero before the first.
    pub fn last_contact(&self) -> f64 {
        self.collisions.tally.last
    }

    /// Length of a tick [s].
    pub fn tick(&self) -> f64 {
        self.clock.tick
    }

    fn when(&self, tick: u64) -> When {
        When { tick, phase: self.options.phase, clock: self.clock }
    }

    /// Puts everything that is due into the queues.
    fn fill_queues(&mut self) {
        self.kicks.clear();
        self.kicks.push((self.window.1, Kind::Window, 0));
        for (i, group) in self.prescribed.iter().enumerate() {
            self.kicks.push((group.next, Kind::PrescribedGroup, i as u32));
        }
        for (g, group) in self.groups.list.iter().enumerate() {
            self.kicks.push((group.next, Kind::Kick, g as u32));
        }
        self.checks.clear();
        for (i, check_group) in self.collisions.check_groups.iter().enumerate() {
            self.checks.push((check_group.next, Kind::Node, i as u32));
        }
        for (i, check_group) in self.edges.check_groups.iter().enumerate() {
            self.checks.push((check_group.next, Kind::Edge, i as u32));
        }
    }

    /// One kick of a group.
    fn kick(
        &mut self,
        g: usize,
        tick: u64,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<u64, StepError> {
        let begin = Instant::now();
        let when = self.when(tick);
        let sums = self.groups.kick(g, &when, model, state, &mut self.tau);
        let sums = sums.map_err(|det_f| self.failure(tick, det_f, model, state))?;
        self.sums.add(&sums);
        self.collisions.notice_speed(sums.speed_squared, tick);
        let group = &mut self.groups.list[g];
        ledger.element_kicks += group.potentials;
        group.next = tick + group.step;
        ledger.phases.force += begin.elapsed().as_secs_f64();
        Ok(group.next)
    }

    /// Which element failed, in words.
    fn failure(&self, tick: u64, det_f: f64, model: &Model, state: &State) -> StepError {
        let motion = DriftedView { x: &state.x, v: &state.v, tau: &self.tau, when: self.when(tick) };
        let x: Vec<Vec3> = (0..state.x.len() as u32).map(|n| motion.at(n)).collect();
        StepError::of_elements(model, &x, det_f.is_finite(), self.clock.time(tick), self.range[2])
    }

    /// Measures the state of one instant and writes the books that belong to it.
    fn measure(
        &mut self,
        tick: u64,
        model: &Model,
        state: &State,
        stiffness: bool,
        ledger: &mut Ledger,
    ) -> Result<(), StepError> {
        let when = self.when(tick);
        let Asynchronous { groups, copy, tau, .. } = self;
        let found = groups.measure(&when, model, state, tau, stiffness, copy);
        ledger.kinetic = found.kinetic;
        ledger.strain = found.strain;
        ledger.hourglass = found.hourglass;
        let (sums, tally) = (&self.sums, &self.collisions.tally);
        ledger.external = sums.external + found.sums.external + tally.external;
        ledger.damping = sums.damping + found.sums.damping;
        ledger.impulse = sums.impulse + found.sums.impulse + tally.impulse;
        ledger.moment = sums.moment + found.sums.moment + tally.moment;
        ledger.friction = tally.friction;
        ledger.restitution = tally.restitution;
        ledger.correction = tally.correction;
        ledger.collision_kicks = tally.kicks;
        ledger.let_go = tally.too_deep;
        if stiffness && found.reserve * TOO_STIFF < 1.0 {
            return Err(StepError::Stiffened { time: self.clock.time(tick), ratio: 1.0 / found.reserve });
        }
        Ok(())
    }

    /// Keeps the contacts of the last window's length, wherever calls begin and end.
    fn forget_contacts(&mut self, tick: u64) {
        let since = self.clock.time(tick.saturating_sub(self.window.0));
        let carried = &mut self.collisions.world.impulses.carried;
        carried.reserve(3 * carried.len());
        carried.retain(|c| c.time > since);
    }

    /// The end of a window.
    fn close_window(
        &mut self,
        tick: u64,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<u64, StepError> {
        state.step += 1;
        self.forget_contacts(tick);
        self.window.1 = tick + self.window.0;
        let window = &mut self.collisions.window;
        ledger.contacts = std::mem::take(&mut window.contacts);
        ledger.penetration = std::mem::take(&mut window.penetration);
        ledger.contacts_peak = ledger.contacts_peak.max(ledger.contacts);
        ledger.penetration_max = ledger.penetration_max.max(ledger.penetration);
        window.begin = tick;
        // short runs are measured all along: their books are to be believed too
        if state.step < MEASURE_EVERY || state.step.is_multiple_of(MEASURE_EVERY) {
            let stiffness = state.step.is_multiple_of(MEASURE_EVERY * STIFFNESS_EVERY);
            self.measure(tick, model, state, stiffness, ledger)?;
            ledger.close_step(self.range[1]);
        }
        [ledger.dt_min, _, ledger.dt_max] = self.range;
        ledger.dt_sum = state.step as f64 * self.range[1];
        Ok(self.window.1)
    }

    /// Leaves the state at `tick`, all events before it done.
    fn arrive(
        &mut self,
        tick: u64,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<(), StepError> {
        self.now = tick;
        state.time = self.clock.time(tick);
        self.forget_contacts(tick);
        self.measure(tick, model, state, false, ledger)
    }

    /// Nodes and edges look for contacts until `end`, or until the next kick.
    fn check(
        &mut self,
        end: u64,
        kick: Event,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<(), (u64, StepError)> {
        let begin = Instant::now();
        loop {
            let (tick, kind, id) = self.checks.first();
            if tick >= end || (tick, kind, id) > kick {
                break;
            }
            let when = self.when(tick);
            let Asynchronous { groups, tau, collisions, edges, .. } = self;
            let mut context = ContactContext { model, groups, state, tau, when };
            if collisions.is_due(tick) {
                collisions.refresh(edges, &context);
            }
            let next = match kind {
                Kind::Edge => edges.check(id as usize, collisions, &mut context),
                _ => collisions.check(id as usize, &mut context),
            };
            if let Some(bodies) = self.collisions.passed {
                let [first, second] = self.collisions.world.names(bodies);
                let time = self.clock.time(tick);
                return Err((tick, StepError::PassedThrough { first, second, time }));
            }
            self.checks.replace_first((next, kind, id));
        }
        ledger.phases.search += begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn events(
        &mut self,
        end: u64,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<(u64, Reached), (u64, StepError)> {
        let mut until_look = 0;
        loop {
            let (kick, check) = (self.kicks.first(), self.checks.first());
            let (tick, kind, id) = kick.min(check);
            if tick >= end {
                return Ok((end, Reached::Until));
            }
            if until_look == 0 {
                until_look = STOP_EVERY;
                if stop.load(Ordering::Relaxed) {
                    return Ok((tick, Reached::Stopped));
                }
            }
            until_look -= 1;
            let failed = |error| (tick, error);
            let next = match kind {
                Kind::Window => self.close_window(tick, model, state, ledger).map_err(failed)?,
                Kind::PrescribedGroup => self.prescribe(id as usize, tick, model, state),
                Kind::Kick => self.kick(id as usize, tick, model, state, ledger).map_err(failed)?,
                Kind::Node | Kind::Edge => {
                    self.check(end.min(kick.0.saturating_add(1)), kick, model, state, ledger)?;
                    continue;
                }
            };
            self.kicks.replace_first((next, kind, id));
        }
    }
}

impl Method for Asynchronous {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        self.clock.begin = state.time;
        follow_supports(model, state);
        for group in &mut self.groups.list {
            group.next = if self.options.phase == Phase::Centred { group.step / 2 } else { 0 };
        }
        self.groups.begin(model, state);
        self.fill_queues();
        self.measure(0, model, state, false, ledger)?;
        ledger.dt = self.range[1];
        ledger.open();
        Ok(())
    }

    /// To the end of the present window: nothing else is a step of everybody.
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let end = if self.now < self.window.1 { self.window.1 } else { self.window.1 + self.window.0 };
        let end = self.clock.time(end);
        self.advance(model, state, end, ledger, stop)
    }

    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        until: f64,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let end = self.clock.at_or_after(until);
        if end <= self.now {
            return Ok(Reached::Until);
        }
        match self.events(end, model, state, ledger, stop) {
            Ok((tick, reached)) => {
                self.arrive(tick, model, state, ledger)?;
                Ok(reached)
            }
            Err((tick, error)) => {
                self.now = tick;
                state.time = self.clock.time(tick);
                Err(error)
            }
        }
    }

    fn next_step(&self) -> f64 {
        self.range[0]
    }

    fn synchronise(&self, _: &Model, state: &State, out: &mut State) {
        out.clone_from(state);
        if self.copy.tick == self.now {
            out.x.copy_from_slice(&self.copy.x);
            out.v.copy_from_slice(&self.copy.v);
        } else {
            // after a failure there is no good synchronised velocity
            for (i, x) in out.x.iter_mut().enumerate() {
                *x += self.clock.between(self.tau[i], self.now) * state.v[i];
            }
        }
    }

    /// Nodes stand where they were at their last kick: from there they drift with the new velocity to where they are now. The books
    /// are sums of its own, and so is what is looked at.
    fn strike(&mut self, model: &Model, state: &mut State, blow: &Blow) -> Result<(), RecordError> {
        for (i, change) in blow.change.iter().enumerate() {
            state.x[i] -= self.clock.between(self.tau[i], self.now) * change;
        }
        blow.strike(self, model, state)?;
        self.copy.v.iter_mut().zip(&blow.change).for_each(|(v, change)| *v += change);
        self.sums.external += blow.work;
        self.sums.impulse += blow.impulse;
        self.sums.moment += blow.moment;
        Ok(())
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.groups.support[held] + self.copy.support[held]
    }

    fn search_bytes(&self) -> usize {
        self.collisions.search_bytes()
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.collisions.world.impulses)
    }

    fn contacts_since(&self, since: f64) -> Option<u64> {
        let since = self.clock.at_or_after(since);
        let nodes = self.collisions.contactors.iter().map(|c| c.carried);
        let carried = nodes.chain(self.edges.list.iter().map(|e| e.carried));
        // with one step for all it is the last one that counts
        let count = || carried.filter(|&tick| tick > since).count() as u64;
        (self.options.steps != Steps::Synchronous).then(count)
    }

    fn save(&self, record: &mut Record) {
        self.put_into(record);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.take_from(record)
    }
}
