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
//! **Supports.** A held node moves in the range of its projector P; a led one is where it is led to after every step.
//! The support's impulse and work are what the node's own balance lacks, so they are exact by definition.
//!
//! **Contact.** Between the halves a method may move nodes and change their velocities. It then says who was touched
//! ([`Touched`]), so that these books see the motion as it was; those of the contact itself are the method's.
//!
//! Used by `verlet` and `dcr`.

use super::StepError;
use super::chunks::{self, CHUNK, Chunk, Loads};
use crate::math::Vec3;
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::restraint::Held;
use crate::model::{Body, Ledger, Model, State};
use rayon::prelude::*;

/// Fewest and most steps between two measurements of the stable step: a measurement costs as much as several steps.
/// The count doubles while the stable step hardly changes, and starts again when it does.
const MEASURE_EVERY: (u64, u64) = (5, 160);
/// A change of the stable step that counts.
const CHANGED: f64 = 0.02;
/// A patch whose strain energy has grown by this factor beyond the largest of the last measurement asks for the next
/// at once: an element cannot stiffen without storing energy.
const GROWN: f64 = 1.5;
/// A longer step is taken up only when it is worth the break in the rhythm.
const WORTH_IT: f64 = 1.1;
/// An instant counts as met this share of a step early.
pub(super) const EARLY: f64 = 1e-9;

/// How long a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepRule {
    /// Always this long [s].
    Fixed(f64),
    /// This share of the largest stable step, following the deformation.
    Automatic { safety: f64 },
}

/// What contact did to one node between the two halves of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Whole impulse [N s], and the change of velocity it made [m/s]: less where the node is held.
    pub impulse: Vec3,
    pub kick: Vec3,
}

/// Everybody who was touched.
#[derive(Clone, Copy)]
pub struct Touched<'a> {
    /// Where all nodes began the step.
    pub start: &'a [Vec3],
    /// Place of each node in the list, or [`UNTOUCHED`].
    pub slot: &'a [u32],
    pub list: &'a [Touch],
}

/// Stands for a node nothing has touched.
pub const UNTOUCHED: u32 = u32::MAX;

impl Touched<'_> {
    #[inline]
    fn at(&self, node: usize) -> Touch {
        self.list.get(self.slot[node] as usize).copied().unwrap_or_default()
    }
}

/// What one chunk books in a step.
#[derive(Clone, Copy, Default)]
struct Sums {
    kinetic: f64,
    external: f64,
    damping: f64,
    impulse: Vec3,
    moment: Vec3,
}

/// What a held node remembers between two half steps.
#[derive(Clone, Copy, Default, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
struct Memory {
    /// Velocity at the start of the step.
    v: [f64; 3],
    /// `f − f_ext + c m v` at the start of the step: what the support has to bear.
    pull: [f64; 3],
}

/// Accelerations, forces and supports of all nodes, and the length of the step.
pub struct Newmark {
    rule: StepRule,
    pub dt: f64,
    /// Time and count at which steps of the present length began: time = t₀ + (n − n₀)Δt, never added up.
    base: (f64, u64),
    watch: Watch,
    forces: Forces,
    a: Vec<Vec3>,
    loads: Loads,
    chunks: Vec<Chunk<Own>>,
}

/// When to measure the stable step next.
#[derive(Clone, Copy, Default)]
struct Watch {
    /// The step that measures, and how many steps lie between two.
    due: u64,
    every: u64,
    /// What the last one found [s], and the largest strain energy of a patch then [J].
    stable: f64,
    energy: f64,
}

/// What belongs to one chunk of nodes: the memory of its held ones, and the books.
struct Own {
    memory: Vec<Memory>,
    sums: Sums,
}

impl Newmark {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule) -> Self {
        let nodes = model.reference.len();
        Newmark {
            rule,
            dt: 0.0,
            base: (0.0, 0),
            watch: Watch::default(),
            forces: Forces::new(model),
            a: vec![Vec3::zeros(); nodes],
            loads: Loads::new(model),
            chunks: chunks::chunks(model, |held| Own {
                memory: vec![Memory::default(); held],
                sums: Sums::default(),
            }),
        }
    }

    /// Bytes the method itself holds.
    pub fn bytes(&self) -> usize {
        self.forces.bytes() + (self.a.len() + self.loads.now.len() * 2) * 24
    }

    /// First half: velocities to mid-step, positions to its end.
    pub fn predict(&mut self, model: &Model, state: &mut State) {
        let (dt, t1) = (self.dt, self.end_of_step(state));
        let restraints = &model.restraints;
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
                    memory.v = v[held.node as usize - start].into();
                }
                for ((x, v), a) in x.iter_mut().zip(v.iter_mut()).zip(&*a) {
                    *v += 0.5 * dt * a;
                    *x += dt * *v;
                }
                for (held, memory) in mine.iter().zip(&chunk.own.memory) {
                    let i = held.node as usize - start;
                    // undone and done again with the held directions led, so that no drift builds up there
                    let from = x[i] - dt * v[i];
                    let free = held.free * (Vec3::from(memory.v) + 0.5 * dt * a[i]);
                    let goal = model.reference[held.node as usize] + restraints.displacement(held, t1);
                    let led = (goal - from) - held.free * (goal - from);
                    v[i] = free + led / dt;
                    x[i] = from + dt * free + led;
                    // what has brought it from vₙ to v½, for the books and for the way back
                    a[i] = (v[i] - Vec3::from(memory.v)) / (0.5 * dt);
                }
            });
    }

    /// Second half: accelerations from the forces at the end of the step, velocities to its end, and the books.
    ///
    /// `touched` tells what happened between the halves.
    pub fn correct(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
        touched: Option<Touched>,
        ledger: &mut Ledger,
    ) {
        let (dt, t0) = (self.dt, state.time);
        let forces = &self.forces;
        let Loads { now: load, before: load_before } = &self.loads;
        let restraints = &model.restraints;
        let x = &state.x;
        state
            .v
            .par_chunks_mut(CHUNK)
            .zip(self.a.par_chunks_mut(CHUNK))
            .zip(self.chunks.par_iter_mut())
            .enumerate()
            .for_each(|(c, ((v, a), chunk))| {
                let start = c * CHUNK;
                let mut sums = Sums::default();
                for segment in &chunk.segments {
                    let body = &model.bodies[segment.body];
                    let mass = &model.mass[segment.nodes.clone()];
                    let gravity = body.gravity != Vec3::zeros();
                    let damping = body.damping;
                    let nodes = segment.nodes.clone();
                    let local = nodes.start - start..nodes.end - start;
                    let at = v[local.clone()].iter_mut().zip(&mut a[local]).zip(mass).zip(nodes);
                    if !gravity && damping == 0.0 && load.is_empty() {
                        for (((v, a), m), node) in at {
                            *a = -forces.at(node) / *m;
                            *v += 0.5 * dt * *a;
                        }
                        continue;
                    }
                    let pull_before = body.gravity * body.gravity_table.at(t0);
                    let pull = body.gravity * body.gravity_table.at(t1);
                    for (((v, a), &m), node) in at {
                        let (middle, a_before) = (*v, *a);
                        let (mut before, mut now) = (m * pull_before, m * pull);
                        if !load.is_empty() {
                            before += load_before[node];
                            now += load[node];
                        }
                        *a = ((now - forces.at(node)) / m - damping * middle) / (1.0 + 0.5 * damping * dt);
                        *v += 0.5 * dt * *a;
                        let (move_by, kick) = match &touched {
                            None => (dt * middle, Vec3::zeros()),
                            Some(touched) => (x[node] - touched.start[node], touched.at(node).kick),
                        };
                        let from = x[node] - move_by;
                        sums.external += 0.5 * (before + now).dot(&move_by);
                        if damping > 0.0 {
                            let (drag_before, drag) =
                                (damping * m * (middle - kick - 0.5 * dt * a_before), damping * m * *v);
                            sums.damping += 0.5 * (drag_before + drag).dot(&move_by);
                            before -= drag_before;
                            now -= drag;
                        }
                        sums.impulse += 0.5 * dt * (before + now);
                        sums.moment += 0.5 * dt * (from.cross(&before) + x[node].cross(&now));
                    }
                }
                let mine = restraints.held[chunk.held.clone()].iter();
                for ((held, memory), support) in mine.zip(&mut chunk.own.memory).zip(&mut chunk.support) {
                    let node = held.node as usize;
                    let (v, a, m) = (&mut v[node - start], &mut a[node - start], model.mass[node]);
                    let middle = *v - 0.5 * dt * *a;
                    // the free part as it came out, the held part as it is led
                    let unheld = *v;
                    *v = held.free * unheld + restraints.velocity(held, t1);
                    *a = held.free * *a;
                    let body = body_of(model, node);
                    let pull = self_pull(body, m, forces.at(node), load, held, t1, *v);
                    let (v_before, pull_before) = (Vec3::from(memory.v), Vec3::from(memory.pull));
                    let bear = 0.5 * (pull_before + pull);
                    let touch = touched.map_or(Touch::default(), |t| t.at(node));
                    let impulse = m * (*v - v_before) + dt * bear - touch.impulse;
                    let only_held = |y: Vec3| y - held.free * y;
                    let (w, w_before) = (only_held(*v), only_held(v_before));
                    let move_by = touched.map_or(dt * middle, |t| x[node] - t.start[node]);
                    sums.external += 0.5 * m * (w.norm_squared() - w_before.norm_squared())
                        + only_held(bear).dot(&move_by)
                        - only_held(touch.impulse).dot(&middle);
                    sums.impulse += impulse;
                    let from = x[node] - move_by;
                    sums.moment += m * (x[node].cross(v) - from.cross(&v_before))
                        + 0.5 * dt * (from.cross(&pull_before) + x[node].cross(&pull))
                        - x[node].cross(&touch.impulse);
                    if body.damping > 0.0 {
                        // the drag above was that of the node unheld
                        let more = body.damping * m * (*v - unheld);
                        sums.damping += 0.5 * more.dot(&move_by);
                        sums.impulse -= 0.5 * dt * more;
                        sums.moment -= 0.5 * dt * x[node].cross(&more);
                    }
                    *support += impulse;
                    memory.pull = pull.into();
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
    pub fn evaluate(&mut self, model: &Model, state: &mut State, t1: f64) -> Result<Totals, StepError> {
        let measure = self.measures(state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, measure);
        check(model, state, &totals, t1, self.dt)?;
        self.loads.update(model, t1, &state.x);
        Ok(totals)
    }

    fn measures(&self, state: &State) -> bool {
        matches!(self.rule, StepRule::Automatic { .. }) && state.step + 1 >= self.watch.due
    }

    /// Ends the step: its result is accepted, and the next one may have another length.
    pub fn finish(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
        totals: &Totals,
        ledger: &mut Ledger,
    ) {
        let measured = self.measures(state);
        state.material.accept();
        state.time = t1;
        state.step += 1;
        ledger.strain = totals.strain;
        ledger.hourglass = totals.hourglass;
        ledger.element_kicks += model.elements() as u64;
        ledger.close_step(self.dt);
        if measured {
            self.follow(totals, state);
        } else if totals.patch_energy > GROWN * self.watch.energy {
            self.watch.due = state.step + 1;
        }
    }

    /// Time at the end of the step that begins with `state`.
    pub fn end_of_step(&self, state: &State) -> f64 {
        self.base.0 + (state.step + 1 - self.base.1) as f64 * self.dt
    }

    /// Undoes the velocities of [`Newmark::predict`].
    pub fn retreat(&self, v: &mut [Vec3]) {
        v.iter_mut().zip(&self.a).for_each(|(v, a)| *v -= 0.5 * self.dt * a);
    }

    /// Accelerations, loads and what supports bear at the positions and velocities of `state`, after a whole step and
    /// without moving anything: for a method that changes them there. Returns the kinetic energy.
    pub fn renew(&mut self, model: &Model, state: &mut State, t1: f64) -> Result<(Totals, f64), StepError> {
        let totals = self.evaluate(model, state, t1)?;
        // With Δt = 0 the second half of a step only evaluates; the books see nothing move.
        for chunk in &mut self.chunks {
            for (held, memory) in model.restraints.held[chunk.held.clone()].iter().zip(&mut chunk.own.memory)
            {
                memory.v = state.v[held.node as usize].into();
            }
        }
        let dt = std::mem::replace(&mut self.dt, 0.0);
        let mut scratch = Ledger::default();
        self.correct(model, state, t1, None, &mut scratch);
        self.dt = dt;
        Ok((totals, scratch.kinetic))
    }

    /// Acceleration of a node [m/s²]: at the start of the step before [`Newmark::correct`], at its end after it.
    #[inline]
    pub fn acceleration(&self, node: usize) -> Vec3 {
        self.a[node]
    }

    /// `⅛Δt² Σ m a²` [J]: by how much the energy of these half steps is off that of the motion.
    pub fn shift_energy(&self, model: &Model) -> f64 {
        let sum: f64 = self.a.iter().zip(&model.mass).map(|(a, m)| m * a.norm_squared()).sum();
        0.125 * self.dt * self.dt * sum
    }

    /// Internal force and load on a node [N] at the last evaluation, which was at `time`.
    pub fn force_and_load(&self, model: &Model, node: usize, time: f64) -> (Vec3, Vec3) {
        let body = body_of(model, node);
        let load = self.loads.now.get(node).copied().unwrap_or_default();
        (self.forces.at(node), model.mass[node] * body.gravity * body.gravity_table.at(time) + load)
    }

    /// Takes from the support of a held node the impulse that came from contact.
    pub fn relieve(&mut self, model: &Model, node: u32, impulse: Vec3) {
        if let Ok(held) = model.restraints.held.binary_search_by_key(&node, |h| h.node) {
            let (chunk, at) = chunks::place_of(&self.chunks, held);
            self.chunks[chunk].support[at] -= impulse;
        }
    }

    /// Takes up a new step if the deformation asks for it.
    fn follow(&mut self, totals: &Totals, state: &State) {
        let StepRule::Automatic { safety } = self.rule else { return };
        let stable = safety * totals.step;
        let watch = &mut self.watch;
        let steady = (stable - watch.stable).abs() < CHANGED * watch.stable;
        let (fewest, most) = MEASURE_EVERY;
        watch.every = if steady { (2 * watch.every).min(most) } else { fewest };
        (watch.due, watch.stable, watch.energy) = (state.step + watch.every, stable, totals.patch_energy);
        if stable < self.dt || stable > WORTH_IT * self.dt {
            self.dt = stable;
            self.base = (state.time, state.step);
        }
    }
}

fn body_of(model: &Model, node: usize) -> &Body {
    &model.bodies[model.bodies.partition_point(|b| b.nodes.end <= node)]
}

/// `f − f_ext + c m v` of a held node: what its support has to bear.
fn self_pull(body: &Body, m: f64, internal: Vec3, load: &[Vec3], held: &Held, time: f64, v: Vec3) -> Vec3 {
    let loaded = load.get(held.node as usize).copied().unwrap_or_default();
    let external = m * body.gravity * body.gravity_table.at(time) + loaded;
    internal - external + body.damping * m * v
}

fn check(model: &Model, state: &State, totals: &Totals, time: f64, dt: f64) -> Result<(), StepError> {
    if totals.strain.is_finite() && totals.det_f > 0.0 {
        return Ok(());
    }
    let (block, element, det_f) = Forces::find_failure(model, &state.x).unwrap_or((0, 0, f64::NAN));
    let body = model.body_of_block(block).name.clone();
    Err(if totals.strain.is_finite() && det_f.is_finite() {
        StepError::Inverted { body, element, time, det_f }
    } else {
        StepError::NotFinite { body, element, time, dt, stable: model.stable_step() }
    })
}

impl Newmark {
    /// Brings held nodes to the motion of their supports, measures everything and opens the ledger.
    pub fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        chunks::follow_supports(model, state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, true);
        self.dt = match self.rule {
            StepRule::Fixed(dt) => dt,
            StepRule::Automatic { safety } => safety * totals.step,
        };
        check(model, state, &totals, state.time, self.dt)?;
        self.base = (state.time, state.step);
        let every = MEASURE_EVERY.0;
        self.watch = Watch { due: state.step + every, every, stable: self.dt, energy: totals.patch_energy };
        self.loads.update(model, state.time, &state.x);
        // With Δt = 0 the second half of a step only evaluates; the books see nothing move.
        let dt = std::mem::replace(&mut self.dt, 0.0);
        let mut scratch = Ledger::default();
        self.correct(model, state, state.time, None, &mut scratch);
        self.dt = dt;
        self.chunks.iter_mut().for_each(|c| c.support.fill(Vec3::zeros()));
        ledger.kinetic = scratch.kinetic;
        ledger.strain = totals.strain;
        ledger.hourglass = totals.hourglass;
        ledger.dt = self.dt;
        ledger.open();
        Ok(())
    }

    /// Impulse [N s] that the support of a held node has given since the start.
    pub fn support_impulse(&self, held: usize) -> Vec3 {
        chunks::support_impulse(&self.chunks, held)
    }

    pub fn save(&self, method: &str, record: &mut Record) {
        let name = |what: &str| format!("{method}.{what}");
        record.numbers(&name("step"), &[self.dt, self.base.0, self.watch.stable, self.watch.energy]);
        record.counts(&name("counts"), &[self.base.1, self.watch.due, self.watch.every]);
        record.vectors(&name("a"), &self.a);
        record.vectors(&name("load"), &self.loads.now);
        let memory: Vec<Memory> = self.chunks.iter().flat_map(|c| &c.own.memory).copied().collect();
        record.numbers(&name("memory"), bytemuck::cast_slice(&memory));
        chunks::save_support(&self.chunks, method, record);
    }

    pub fn restore(&mut self, model: &Model, method: &str, record: &Record) -> Result<(), RecordError> {
        let name = |what: &str| format!("{method}.{what}");
        let mut step = [0.0; 4];
        record.read_numbers(&name("step"), &mut step)?;
        let [dt, begin, stable, energy] = step;
        let [count, due, every] = record.read_counts(&name("counts"))?;
        (self.dt, self.base) = (dt, (begin, count));
        self.watch = Watch { due, every, stable, energy };
        record.read_vectors(&name("a"), &mut self.a)?;
        record.read_vectors(&name("load"), &mut self.loads.now)?;
        let mut memory = vec![Memory::default(); model.restraints.held.len()];
        record.read_numbers(&name("memory"), bytemuck::cast_slice_mut(&mut memory))?;
        for chunk in &mut self.chunks {
            chunk.own.memory.copy_from_slice(&memory[chunk.held.clone()]);
        }
        chunks::restore_support(&mut self.chunks, method, record)
    }
}
