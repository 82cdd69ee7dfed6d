//! The nodes between contacts: forces, free velocities, motion, and the books of a step.
//!
//! ```text
//! F = E − f(x) − c M v        E: gravity and loads, f: elements, c: damping
//! ```
//!
//! **Books.** Velocities of symplectic Euler belong to the middle of a step while positions belong to its ends. The kinetic
//! energy is that of `v̂ₙ = vₙ + ½M⁻¹(Δt Fₙ + Jₙ)`, J the impulse of contact, and from the equations of a step follows
//!
//! ```text
//! K̂ₙ₊₁ − K̂ₙ = ½(Fₙ + Fₙ₊₁)·Δx + Jₙ₊₁·(½vₙ + vₙ₊₁) − ½Jₙ·vₙ + ⅛Δt²(a²ₙ₊₁ − a²ₙ)M        Δx = Δt vₙ₊₁
//! ```
//!
//! so the work of every force is booked as the mean of its two ends times Δx, that of contact as it stands here, and the
//! last term telescopes. Of nodes in contact it is booked too, with contact, as long as they are: a node that was just
//! stopped would seem to move. Momentum is that of v itself: `M(vₙ₊₁ − vₙ) = ΔtFₙ + Jₙ₊₁`, and angular momentum changes by
//! `xₙ × (ΔtFₙ + Jₙ₊₁)`, exactly.
//!
//! **Supports.** What a held node's own balance lacks, as in `newmark`.

use super::super::chunks::{self, CHUNK, Chunk, Loads};
use crate::math::Vec3;
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::restraint::Held;
use crate::model::{Ledger, Model, State};
use rayon::prelude::*;

/// What one chunk books in a step.
#[derive(Clone, Copy, Default)]
struct NodeSums {
    kinetic: f64,
    external: f64,
    damping: f64,
    correction: f64,
    impulse: Vec3,
    moment: Vec3,
    /// `⅛M(Δt a)²` of the nodes in contact, and of all [J].
    half_step_energy: f64,
    lag: f64,
}

/// A step as it was, for the books.
pub(crate) struct Done<'a> {
    pub dt: f64,
    /// Time at its ends.
    pub time: [f64; 2],
    /// Positions and velocities at its start.
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    /// Impulse of contact on each node in this step and in the one before [N s].
    pub impulse: &'a [Vec3],
    pub impulse_before: &'a [Vec3],
    /// How far positions were moved beside that [m]; empty if they were not.
    pub moved: &'a [Vec3],
}

pub(crate) struct Nodes {
    pub forces: Forces,
    /// F of every node at the last evaluation that was accepted [N].
    pub force: Vec<Vec3>,
    loads: Loads,
    chunks: Vec<Chunk<NodeSums>>,
    /// What stands in the books of the nodes in contact, see the header [J].
    half_step_energy: f64,
    /// `⅛Σ M(Δt a)²` after the last step: of the energy that is measured, what no wave carries [J].
    pub lag: f64,
}

impl Nodes {
    /// For use inside the current rayon pool.
    pub(crate) fn new(model: &Model) -> Nodes {
        Nodes {
            forces: Forces::new(model),
            force: vec![Vec3::zeros(); model.reference.len()],
            loads: Loads::new(model),
            chunks: chunks::chunks(model, |_| NodeSums::default()),
            half_step_energy: 0.0,
            lag: 0.0,
        }
    }

    /// Velocities without contact at the end of a step of length `dt` to `t1`: `v + Δt M⁻¹F`, supports as prescribed.
    pub(crate) fn free(&self, model: &Model, state: &State, dt: f64, t1: f64, out: &mut [Vec3]) {
        let restraints = &model.restraints;
        out.par_chunks_mut(CHUNK).zip(&self.chunks).enumerate().for_each(|(c, (out, chunk))| {
            let start = c * CHUNK;
            for (i, to) in out.iter_mut().enumerate() {
                let k = start + i;
                *to = state.v[k] + (dt / model.mass[k]) * self.force[k];
            }
            for held in &restraints.held[chunk.held.clone()] {
                let k = held.node as usize;
                let way = model.reference[k] + restraints.displacement(held, t1) - state.x[k];
                out[k - start] = held.free * out[k - start] + (way - held.free * way) / dt;
            }
        });
    }

    /// Moves all nodes: `x ← x + Δt v`; where they were is left in `before`.
    pub(crate) fn advance(x: &mut [Vec3], v: &[Vec3], dt: f64, before: &mut [Vec3]) {
        let nodes = x.par_chunks_mut(CHUNK).zip(v.par_chunks(CHUNK)).zip(before.par_chunks_mut(CHUNK));
        nodes.for_each(|((x, v), before)| {
            before.copy_from_slice(x);
            x.iter_mut().zip(v).for_each(|(x, v)| *x += dt * v);
        });
    }

    /// Element forces and loads at the positions of `state`, which stand for time `t1`.
    pub(crate) fn evaluate(&mut self, model: &Model, state: &mut State, t1: f64, measure: bool) -> Totals {
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, measure);
        self.loads.update(model, t1, &state.x);
        totals
    }

    /// The books of a step whose end is `state`, forces evaluated there; takes up the forces.
    pub(crate) fn book(&mut self, model: &Model, state: &State, done: &Done, ledger: &mut Ledger) {
        let (dt, [t0, t1]) = (done.dt, done.time);
        let Nodes { forces, force, loads: Loads { now: load, before: load_before }, chunks, .. } = self;
        let restraints = &model.restraints;
        force.par_chunks_mut(CHUNK).zip(chunks.par_iter_mut()).enumerate().for_each(|(c, (force, chunk))| {
            let start = c * CHUNK;
            let mut sums = NodeSums::default();
            for segment in &chunk.segments {
                let body = &model.bodies[segment.body];
                let (g0, g1) =
                    (body.gravity * body.gravity_table.at(t0), body.gravity * body.gravity_table.at(t1));
                let drag = body.damping;
                for k in segment.nodes.clone() {
                    let (m, v0, v1, before) = (model.mass[k], done.v[k], state.v[k], force[k - start]);
                    let (mut e0, mut e1) = (m * g0, m * g1);
                    if !load.is_empty() {
                        e0 += load_before[k];
                        e1 += load[k];
                    }
                    let now = e1 - forces.at(k) - drag * m * v1;
                    let by_v = dt * v1;
                    let mut way = by_v;
                    if let Some(moved) = done.moved.get(k) {
                        way += moved;
                        sums.correction -= 0.5 * (before + now).dot(moved);
                    }
                    sums.external += 0.5 * (e0 + e1).dot(&way);
                    sums.damping += 0.5 * drag * m * (v0 + v1).dot(&by_v);
                    let push = dt * (e0 - drag * m * v0);
                    sums.impulse += push;
                    sums.moment += done.x[k].cross(&push);
                    let mut gain = (0.5 / m) * (dt * now + done.impulse[k]);
                    let mut middle = v1 + gain;
                    force[k - start] = now;
                    if let Some(held) = held_at(&restraints.held[chunk.held.clone()], k) {
                        let support = &restraints.held[chunk.held.start + held];
                        let [w0, w1] = [t0, t1].map(|t| restraints.velocity(support, t));
                        middle = support.free * middle + w1;
                        gain = support.free * gain;
                        let only_held = |y: Vec3| y - support.free * y;
                        let (j0, j1) = (done.impulse_before[k], done.impulse[k]);
                        let given = m * (v1 - v0) - dt * before - j1;
                        let (h0, h1) = (only_held(v0), only_held(v1));
                        sums.external += 0.5 * m * (w1.norm_squared() - w0.norm_squared())
                            - 0.5 * dt * (before + now).dot(&h1)
                            - j1.dot(&(0.5 * h0 + h1))
                            + 0.5 * j0.dot(&h0);
                        sums.impulse += given;
                        sums.moment += done.x[k].cross(&given);
                        chunk.support[held] += given;
                    }
                    sums.kinetic += 0.5 * m * middle.norm_squared();
                    sums.lag += 0.5 * m * gain.norm_squared();
                    if done.impulse[k] != Vec3::zeros() {
                        sums.half_step_energy += 0.5 * m * gain.norm_squared();
                    }
                }
            }
            chunk.own = sums;
        });
        ledger.kinetic = 0.0;
        let mut half_step_energy = 0.0;
        self.lag = 0.0;
        for sums in self.chunks.iter().map(|c| &c.own) {
            half_step_energy += sums.half_step_energy;
            self.lag += sums.lag;
            ledger.kinetic += sums.kinetic;
            ledger.external += sums.external;
            ledger.damping += sums.damping;
            ledger.correction += sums.correction;
            ledger.impulse += sums.impulse;
            ledger.moment += sums.moment;
        }
        ledger.restitution -= half_step_energy - self.half_step_energy;
        self.half_step_energy = half_step_energy;
    }

    /// Brings held nodes to the motion of their supports and measures everything.
    pub(crate) fn start(&mut self, model: &Model, state: &mut State) -> Totals {
        chunks::follow_supports(model, state);
        self.evaluate(model, state, state.time, true)
    }

    /// Forces and the kinetic energy before the first step, whose length is `dt`.
    pub(crate) fn open(&mut self, model: &Model, state: &State, dt: f64, ledger: &mut Ledger) {
        // With Δt = 0 the books see nothing move; the half step of K̂ is added here.
        let zero = vec![Vec3::zeros(); state.x.len()];
        let done = Done {
            dt: 0.0,
            time: [state.time; 2],
            x: &state.x,
            v: &state.v,
            impulse: &zero,
            impulse_before: &zero,
            moved: &[],
        };
        let mut scratch = Ledger::default();
        self.book(model, state, &done, &mut scratch);
        self.chunks.iter_mut().for_each(|c| c.support.fill(Vec3::zeros()));
        ledger.kinetic = 0.0;
        for (k, m) in model.mass.iter().enumerate() {
            let middle = state.v[k] + (0.5 * dt / m) * self.force[k];
            let held = model.restraints.held.binary_search_by_key(&(k as u32), |h| h.node);
            let middle = held.map_or(middle, |h| {
                let support = &model.restraints.held[h];
                support.free * middle + model.restraints.velocity(support, state.time)
            });
            ledger.kinetic += 0.5 * m * middle.norm_squared();
        }
    }

    /// Impulse [N s] that the support of a held node has given since the start.
    pub(crate) fn support_impulse(&self, held: usize) -> Vec3 {
        chunks::support_impulse(&self.chunks, held)
    }

    pub(crate) fn save(&self, name: &str, record: &mut Record) {
        record.vectors(&format!("{name}.force"), &self.force);
        record.vectors(&format!("{name}.load"), &self.loads.now);
        chunks::save_support(&self.chunks, name, record);
        record.numbers(&format!("{name}.shift"), &[self.half_step_energy]);
    }

    pub(crate) fn restore(&mut self, name: &str, record: &Record) -> Result<(), RecordError> {
        record.read_vectors(&format!("{name}.force"), &mut self.force)?;
        record.read_vectors(&format!("{name}.load"), &mut self.loads.now)?;
        [self.half_step_energy] = record.read_values(&format!("{name}.shift"))?;
        chunks::restore_support(&mut self.chunks, name, record)
    }
}

/// Place of a node in a part of the held ones.
#[inline]
fn held_at(held: &[Held], node: usize) -> Option<usize> {
    if held.is_empty() {
        return None;
    }
    // whole bodies are held alike more often than not (those of a plane problem): then no search
    let guess = (node).wrapping_sub(held[0].node as usize);
    if held.get(guess).is_some_and(|h| h.node as usize == node) {
        return Some(guess);
    }
    held.binary_search_by_key(&(node as u32), |h| h.node).ok()
}
