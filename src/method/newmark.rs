//! The two half steps of explicit Newmark (β = 0, γ = ½), for every method that moves all nodes at once:
//!
//! ```text
//! predict   v½ = vₙ + ½Δt aₙ      xₙ₊₁ = xₙ + Δt v½
//! correct   M aₙ₊₁ = f_ext − f(xₙ₊₁) − c M vₙ₊₁      vₙ₊₁ = v½ + ½Δt aₙ₊₁
//! ```
//!
//! **Books.** From these lines `½M(v²ₙ₊₁ − v²ₙ) = ½(Fₙ + Fₙ₊₁)·Δx + ⅛Δt²M(a²ₙ₊₁ − a²ₙ)` with the whole force F: the work
//! of every force is booked as the mean of its two ends times Δx, the last term telescopes, and the error of the
//! ledger stays bounded. Likewise `Σm(x×v)` changes by exactly `½Δt Σ(xₙ×Fₙ + xₙ₊₁×Fₙ₊₁)`.
//!
//! **Supports.** A held node moves in the range of its projector P; a prescribed one is where its motion says after every step.
//! With [`Supports::Rattle`] multipliers do the same (`rattle`). The support's impulse and work are what the node's own balance lacks, so they are exact by definition.
//!
//! **Contact.** Between the halves a method may move nodes and change their velocities. It then says who was touched
//! ([`Touched`]), so that these books see the motion as it was; those of the contact itself are the method's.
//!
//! Used by `verlet` and `dcr`.

use super::StepError;
use super::chunks::{self, CHUNK, Chunk, Loads, Segment};
use super::rattle;
use super::step_control::{StepControl, StepRule};
use crate::math::Vec3;
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::restraint::Held;
use crate::model::{Body, Ledger, Model, State};
use carom_declare::words;
use rayon::prelude::*;

words! {
    /// How supports are kept.
    pub enum Supports {
        /// By the projector of each held node.
        Projection = "projection",
        /// By multipliers, as RATTLE does; the same to round-off.
        Rattle = "rattle",
    }
}

/// What contact did to one node between the two halves of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactKick {
    /// Whole impulse [N s], and the change of velocity it made [m/s]: less where the node is held.
    pub impulse: Vec3,
    pub kick: Vec3,
}

/// Everybody who was touched.
#[derive(Clone, Copy)]
pub(crate) struct Touched<'a> {
    /// Where all nodes began the step.
    pub start: &'a [Vec3],
    /// Place of each node in the list, or [`UNTOUCHED`].
    pub slot: &'a [u32],
    pub list: &'a [ContactKick],
}

/// Stands for a node nothing has touched.
pub(crate) const UNTOUCHED: u32 = u32::MAX;

impl Touched<'_> {
    #[inline]
    fn at(&self, node: usize) -> ContactKick {
        self.list.get(self.slot[node] as usize).copied().unwrap_or_default()
    }
}

/// What one chunk books in a step.
#[derive(Clone, Copy, Default)]
struct ChunkSums {
    kinetic: f64,
    external: f64,
    damping: f64,
    impulse: Vec3,
    moment: Vec3,
}

/// What a held node remembers between two half steps.
#[derive(Clone, Copy, Default)]
struct Memory {
    /// Velocity at the start of the step.
    v: Vec3,
    /// `f − f_ext + c m v` at the start of the step: what the support has to bear.
    pull: Vec3,
}

/// Accelerations, forces and supports of all nodes, and the length of the step.
pub(crate) struct Newmark {
    control: StepControl,
    forces: Forces,
    a: Vec<Vec3>,
    loads: Loads,
    chunks: Vec<Chunk<Own>>,
    supports: Supports,
}

/// What belongs to one chunk of nodes: the memory of its held ones, and the books.
struct Own {
    memory: Vec<Memory>,
    sums: ChunkSums,
}

impl Newmark {
    /// For use inside the current rayon pool.
    pub(crate) fn new(model: &Model, rule: StepRule) -> Self {
        let nodes = model.reference.len();
        Newmark {
            control: StepControl::new(rule),
            forces: Forces::new(model),
            a: vec![Vec3::zeros(); nodes],
            loads: Loads::new(model),
            chunks: chunks::chunks(model, |held| Own {
                memory: vec![Memory::default(); held],
                sums: ChunkSums::default(),
            }),
            supports: Supports::default(),
        }
    }

    /// The same with supports kept in a way that was asked for.
    pub(crate) fn with_supports(self, supports: Supports) -> Self {
        Newmark { supports, ..self }
    }

    /// Length of the next step [s].
    pub(crate) fn dt(&self) -> f64 {
        self.control.dt
    }

    /// Time at the end of the step that begins with `state`.
    pub(crate) fn end_of_step(&self, state: &State) -> f64 {
        self.control.end_of_step(state)
    }

    /// Bytes the method itself holds.
    pub(crate) fn bytes(&self) -> usize {
        self.forces.bytes() + (self.a.len() + self.loads.now.len() * 2) * 24
    }

    /// First half: velocities to mid-step, positions to its end.
    pub(crate) fn predict(&mut self, model: &Model, state: &mut State) {
        let (dt, t1) = (self.control.dt, self.control.end_of_step(state));
        let (restraints, supports) = (&model.restraints, self.supports);
        state
            .x
            .par_chunks_mut(CHUNK)
            .zip(state.v.par_chunks_mut(CHUNK))
            .zip(self.a.par_chunks_mut(CHUNK))
            .zip(self.chunks.par_iter_mut())
            .enumerate()
            .for_each(|(c, (((x, v), a), chunk))| {
                let start = c * CHUNK;
                let mine = &restraints.held[chunk.held.clone()];
                for (held, memory) in mine.iter().zip(&mut chunk.own.memory) {
                    memory.v = v[held.node as usize - start];
                }
                for ((x, v), a) in x.iter_mut().zip(v.iter_mut()).zip(&*a) {
                    *v += 0.5 * dt * a;
                    *x += dt * *v;
                }
                for (held, memory) in mine.iter().zip(&chunk.own.memory) {
                    let i = held.node as usize - start;
                    // undone and done again with the held directions as prescribed, so that no drift builds up there
                    let from = x[i] - dt * v[i];
                    let goal = model.reference[held.node as usize] + restraints.displacement(held, t1);
                    (x[i], v[i]) = match supports {
                        Supports::Projection => {
                            let free = held.free * (memory.v + 0.5 * dt * a[i]);
                            let prescribed = (goal - from) - held.free * (goal - from);
                            (from + dt * free + prescribed, free + prescribed / dt)
                        }
                        Supports::Rattle => {
                            // p½ = p − ½h∇V(q): all of the force, also what the support will bear
                            let force = -memory.pull / model.mass[held.node as usize];
                            let middle = memory.v + 0.5 * dt * force;
                            let gradient = held.directions;
                            let constraints = |x: &Vec3| rattle::Constraints {
                                g: gradient.transpose() * (x - goal),
                                gradient,
                            };
                            rattle::drift(&from, &middle, dt, &gradient, constraints)
                        }
                    };
                    // what has brought it from vₙ to v½, for the books and for the way back
                    a[i] = (v[i] - memory.v) / (0.5 * dt);
                }
            });
    }

    /// Second half: accelerations from the forces at the end of the step, velocities to its end, and the books.
    ///
    /// `touched` tells what happened between the halves.
    pub(crate) fn correct(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
        touched: Option<Touched>,
        ledger: &mut Ledger,
    ) {
        self.second_half(model, state, [self.control.dt, t1], touched, ledger);
    }

    /// The same for a step of any length; with Δt = 0 it only evaluates, and the books see nothing move.
    fn second_half(
        &mut self,
        model: &Model,
        state: &mut State,
        [dt, t1]: [f64; 2],
        touched: Option<Touched>,
        ledger: &mut Ledger,
    ) {
        let t0 = state.time;
        let (forces, loads, x, supports) = (&self.forces, &self.loads, &state.x, self.supports);
        let half = Half { model, forces, loads, x, touched, supports, dt, t0, t1 };
        state
            .v
            .par_chunks_mut(CHUNK)
            .zip(self.a.par_chunks_mut(CHUNK))
            .zip(self.chunks.par_iter_mut())
            .enumerate()
            .for_each(|(c, ((v, a), chunk))| {
                let start = c * CHUNK;
                let mut sums = ChunkSums::default();
                for segment in &chunk.segments {
                    let local = segment.nodes.start - start..segment.nodes.end - start;
                    half.segment(segment, &mut v[local.clone()], &mut a[local], &mut sums);
                }
                let mine = model.restraints.held[chunk.held.clone()].iter();
                for ((held, memory), support) in mine.zip(&mut chunk.own.memory).zip(&mut chunk.support) {
                    let i = held.node as usize - start;
                    *support += half.held(held, memory, &mut v[i], &mut a[i], &mut sums);
                }
                for (v, m) in v.iter().zip(&model.mass[start..]) {
                    sums.kinetic += 0.5 * m * v.norm_squared();
                }
                chunk.own.sums = sums;
            });
        ledger.kinetic = 0.0;
        for Own { sums, .. } in self.chunks.iter().map(|c| &c.own) {
            ledger.kinetic += sums.kinetic;
            ledger.external += sums.external;
            ledger.damping += sums.damping;
            ledger.impulse += sums.impulse;
            ledger.moment += sums.moment;
        }
    }

    /// Forces at the positions of `state`, which stand for time `t1`. On failure the state is as it was before; going
    /// back is the caller's.
    pub(crate) fn evaluate(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
    ) -> Result<Totals, StepError> {
        let measure = self.control.measures(state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, measure);
        check(model, state, &totals, t1, self.control.dt)?;
        self.loads.update(model, t1, &state.x);
        Ok(totals)
    }

    /// Ends the step: its result is accepted, and the next one may have another length.
    pub(crate) fn finish(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
        totals: &Totals,
        ledger: &mut Ledger,
    ) {
        let measured = self.control.measures(state);
        state.material.accept();
        state.time = t1;
        state.step += 1;
        ledger.strain = totals.strain;
        ledger.hourglass = totals.hourglass;
        ledger.element_kicks += model.elements() as u64;
        ledger.close_step(self.control.dt);
        self.control.follow(state, totals, measured, ledger.peak);
    }

    /// From here on steps are this long [s]; an automatic rule may take up another with its next measurement.
    pub(crate) fn set_step(&mut self, state: &State, dt: f64) {
        self.control.set_step(state, dt);
    }

    /// Undoes the velocities of [`Newmark::predict`].
    pub(crate) fn retreat(&self, v: &mut [Vec3]) {
        v.iter_mut().zip(&self.a).for_each(|(v, a)| *v -= 0.5 * self.control.dt * a);
    }

    /// Accelerations, loads and what supports bear at the positions and velocities of `state`, after a whole step and
    /// without moving anything: for a method that changes them there. Returns the kinetic energy.
    pub(crate) fn renew(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
    ) -> Result<(Totals, f64), StepError> {
        let totals = self.evaluate(model, state, t1)?;
        for chunk in &mut self.chunks {
            for (held, memory) in model.restraints.held[chunk.held.clone()].iter().zip(&mut chunk.own.memory)
            {
                memory.v = state.v[held.node as usize];
            }
        }
        let mut scratch = Ledger::default();
        self.second_half(model, state, [0.0, t1], None, &mut scratch);
        Ok((totals, scratch.kinetic))
    }

    /// Acceleration of a node [m/s²]: at the start of the step before [`Newmark::correct`], at its end after it.
    #[inline]
    pub(crate) fn acceleration(&self, node: usize) -> Vec3 {
        self.a[node]
    }

    /// `⅛Δt² Σ m a²` [J]: by how much the energy of these half steps is off that of the motion.
    pub(crate) fn shift_energy(&self, model: &Model) -> f64 {
        let sum: f64 = self.a.iter().zip(&model.mass).map(|(a, m)| m * a.norm_squared()).sum();
        0.125 * self.control.dt * self.control.dt * sum
    }

    /// Internal force and load on a node [N] at the last evaluation, which was at `time`.
    pub(crate) fn force_and_load(&self, model: &Model, node: usize, time: f64) -> (Vec3, Vec3) {
        let body = model.body_of_node(node);
        let load = self.loads.now.get(node).copied().unwrap_or_default();
        (self.forces.at(node), model.mass[node] * body.gravity * body.gravity_table.at(time) + load)
    }

    /// Takes from the support of a held node the impulse that came from contact.
    pub(crate) fn relieve(&mut self, model: &Model, node: u32, impulse: Vec3) {
        if let Ok(held) = model.restraints.held.binary_search_by_key(&node, |h| h.node) {
            let (chunk, at) = chunks::place_of(&self.chunks, held);
            self.chunks[chunk].support[at] -= impulse;
        }
    }
}

/// The second half of a step, for one node at a time: assemble its force, update it, book it.
#[derive(Clone, Copy)]
struct Half<'a> {
    model: &'a Model,
    forces: &'a Forces,
    loads: &'a Loads,
    /// Positions at the end of the step.
    x: &'a [Vec3],
    touched: Option<Touched<'a>>,
    supports: Supports,
    dt: f64,
    t0: f64,
    t1: f64,
}

impl Half<'_> {
    /// Nodes of one body, as if nobody held them.
    #[inline(always)]
    fn segment(&self, segment: &Segment, v: &mut [Vec3], a: &mut [Vec3], sums: &mut ChunkSums) {
        let body = &self.model.bodies[segment.body];
        let mass = &self.model.mass[segment.nodes.clone()];
        let dt = self.dt;
        let at = v.iter_mut().zip(a).zip(mass).zip(segment.nodes.clone());
        if body.gravity == Vec3::zeros() && body.damping == 0.0 && self.loads.now.is_empty() {
            for (((v, a), m), node) in at {
                *a = -self.forces.at(node) / *m;
                *v += 0.5 * dt * *a;
            }
            return;
        }
        let pull = [self.t0, self.t1].map(|t| body.gravity * body.gravity_table.at(t));
        for (((v, a), &m), node) in at {
            let [before, now] = self.external(node, m, pull);
            let (middle, a_before) = (*v, *a);
            *a = ((now - self.forces.at(node)) / m - body.damping * middle) / (1.0 + 0.5 * body.damping * dt);
            *v += 0.5 * dt * *a;
            self.book_free(node, [before, now], body.damping * m, [middle, a_before, *v], sums);
        }
    }

    /// Gravity and load on a node at both ends of the step [N].
    #[inline(always)]
    fn external(&self, node: usize, m: f64, pull: [Vec3; 2]) -> [Vec3; 2] {
        let [mut before, mut now] = pull.map(|g| m * g);
        if !self.loads.now.is_empty() {
            before += self.loads.before[node];
            now += self.loads.now[node];
        }
        [before, now]
    }

    /// Work and impulse of the external forces on a node, and of its drag `c m v`.
    #[inline(always)]
    fn book_free(
        &self,
        node: usize,
        [mut before, mut now]: [Vec3; 2],
        drag: f64,
        [middle, a_before, v]: [Vec3; 3],
        sums: &mut ChunkSums,
    ) {
        let (dt, x) = (self.dt, self.x[node]);
        let (move_by, kick) = match &self.touched {
            None => (dt * middle, Vec3::zeros()),
            Some(touched) => (x - touched.start[node], touched.at(node).kick),
        };
        let from = x - move_by;
        sums.external += 0.5 * (before + now).dot(&move_by);
        if drag > 0.0 {
            let (drag_before, drag) = (drag * (middle - kick - 0.5 * dt * a_before), drag * v);
            sums.damping += 0.5 * (drag_before + drag).dot(&move_by);
            before -= drag_before;
            now -= drag;
        }
        sums.impulse += 0.5 * dt * (before + now);
        sums.moment += 0.5 * dt * (from.cross(&before) + x.cross(&now));
    }

    /// A held node: the free part of its motion as it came out, the held part as prescribed. Returns the impulse of its
    /// support [N s].
    #[inline(always)]
    fn held(
        &self,
        held: &Held,
        memory: &mut Memory,
        v: &mut Vec3,
        a: &mut Vec3,
        sums: &mut ChunkSums,
    ) -> Vec3 {
        let node = held.node as usize;
        let (m, dt) = (self.model.mass[node], self.dt);
        let (middle, unheld) = (*v - 0.5 * dt * *a, *v);
        let prescribed = self.model.restraints.velocity(held, self.t1);
        *v = match self.supports {
            Supports::Projection => held.free * unheld + prescribed,
            Supports::Rattle => {
                rattle::project(&unheld, &held.directions, &(held.directions.transpose() * prescribed))
            }
        };
        *a = held.free * *a;
        let body = self.model.body_of_node(node);
        let pull = unbalanced_force(body, m, self.forces.at(node), &self.loads.now, held, self.t1, *v);
        let before = std::mem::replace(memory, Memory { v: memory.v, pull });
        let support = self.book_held(held, &before, pull, [middle, *v], sums);
        if body.damping > 0.0 {
            // the drag booked before was that of the node unheld
            let (x, move_by) = (self.x[node], self.way(node, middle));
            let more = body.damping * m * (*v - unheld);
            sums.damping += 0.5 * more.dot(&move_by);
            sums.impulse -= 0.5 * dt * more;
            sums.moment -= 0.5 * dt * x.cross(&more);
        }
        support
    }

    /// How far a node has come whose velocity in the middle of the step was `middle`.
    #[inline(always)]
    fn way(&self, node: usize, middle: Vec3) -> Vec3 {
        self.touched.map_or(self.dt * middle, |t| self.x[node] - t.start[node])
    }

    /// What the support of a held node has done: all that the node's own balance lacks. Returns its impulse [N s].
    #[inline(always)]
    fn book_held(
        &self,
        held: &Held,
        before: &Memory,
        pull: Vec3,
        [middle, v]: [Vec3; 2],
        sums: &mut ChunkSums,
    ) -> Vec3 {
        let node = held.node as usize;
        let (m, dt, x) = (self.model.mass[node], self.dt, self.x[node]);
        let &Memory { v: v_before, pull: pull_before } = before;
        let bear = 0.5 * (pull_before + pull);
        let touch = self.touched.map_or(ContactKick::default(), |t| t.at(node));
        let impulse = m * (v - v_before) + dt * bear - touch.impulse;
        let only_held = |y: Vec3| y - held.free * y;
        let (w, w_before) = (only_held(v), only_held(v_before));
        let move_by = self.way(node, middle);
        sums.external += 0.5 * m * (w.norm_squared() - w_before.norm_squared())
            + only_held(bear).dot(&move_by)
            - only_held(touch.impulse).dot(&middle);
        sums.impulse += impulse;
        let from = x - move_by;
        sums.moment += m * (x.cross(&v) - from.cross(&v_before))
            + 0.5 * dt * (from.cross(&pull_before) + x.cross(&pull))
            - x.cross(&touch.impulse);
        impulse
    }
}

/// `f − f_ext + c m v` of a held node: what its support has to bear.
fn unbalanced_force(
    body: &Body,
    m: f64,
    internal: Vec3,
    load: &[Vec3],
    held: &Held,
    time: f64,
    v: Vec3,
) -> Vec3 {
    let loaded = load.get(held.node as usize).copied().unwrap_or_default();
    let external = m * body.gravity * body.gravity_table.at(time) + loaded;
    internal - external + body.damping * m * v
}

fn check(model: &Model, state: &State, totals: &Totals, time: f64, dt: f64) -> Result<(), StepError> {
    let finite = totals.strain.is_finite();
    match finite && totals.det_f > 0.0 {
        true => Ok(()),
        false => Err(StepError::of_elements(model, &state.x, finite, time, dt)),
    }
}

impl Newmark {
    /// Brings held nodes to the motion of their supports, measures everything and opens the ledger.
    pub(crate) fn start(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<(), StepError> {
        chunks::follow_supports(model, state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, true);
        self.control.start(state, &totals);
        check(model, state, &totals, state.time, self.control.dt)?;
        self.loads.update(model, state.time, &state.x);
        let mut scratch = Ledger::default();
        self.second_half(model, state, [0.0, state.time], None, &mut scratch);
        self.chunks.iter_mut().for_each(|c| c.support.fill(Vec3::zeros()));
        ledger.kinetic = scratch.kinetic;
        ledger.strain = totals.strain;
        ledger.hourglass = totals.hourglass;
        ledger.dt = self.control.dt;
        ledger.open();
        Ok(())
    }

    /// Impulse [N s] that the support of a held node has given since the start.
    pub(crate) fn support_impulse(&self, held: usize) -> Vec3 {
        chunks::support_impulse(&self.chunks, held)
    }

    pub(crate) fn save(&self, method: &str, record: &mut Record) {
        let name = |what: &str| format!("{method}.{what}");
        self.control.save(method, record);
        record.vectors(&name("a"), &self.a);
        record.vectors(&name("load"), &self.loads.now);
        let memory = self.chunks.iter().flat_map(|c| &c.own.memory);
        record.vectors_from(&name("memory"), memory.flat_map(|m| [m.v, m.pull]));
        chunks::save_support(&self.chunks, method, record);
    }

    pub(crate) fn restore(&mut self, method: &str, record: &Record) -> Result<(), RecordError> {
        let name = |what: &str| format!("{method}.{what}");
        self.control.restore(method, record)?;
        record.read_vectors(&name("a"), &mut self.a)?;
        record.read_vectors(&name("load"), &mut self.loads.now)?;
        let memory = self.chunks.iter_mut().flat_map(|c| &mut c.own.memory);
        record.vectors_to(&name("memory"), memory.flat_map(|m| [&mut m.v, &mut m.pull]))?;
        chunks::restore_support(&mut self.chunks, method, record)
    }
}
