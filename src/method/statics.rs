//! Statics: the shape in which forces balance, load step by load step.
//!
//! ```text
//! f(x) = E(x, t)      K(x) δ = E − f      x ← x + s δ
//! ```
//!
//! Time says how far loads and prescribed motions have come; it has no other meaning, and nothing moves between two of its
//! instants. Loads and gravity without a table of their own grow from nothing to their full size at the end of the run;
//! those with one, and prescribed motions, go as they say. A load step that does not converge is done in two halves.
//!
//! **Predictor.** A step begins with the tangent at its start: what prescribed motion does to the others is a difference of
//! forces along it, so that elements beside a support are not crushed by its whole way before the first iteration.
//!
//! **Books.** The work of loads and supports is the mean of their forces at both ends times the way: second order in the load
//! step, exact for a linear law. Support impulses are reactions times time, so a probe's force is the reaction.
//!
//! There is no contact, and what could move as a whole is refused: it has no place of its own.

use super::bipotential_implicit::{external_ramped, increment_of, length, parts::Parts};
use super::chunks::follow_supports;
use super::in_parts::{step_in_parts, unsolved};
use super::{Method, Reached, StepError, Watch};
use crate::math::Vec3;
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::newton::{Increment, Leap, Limits, Newton, Outcome, Problem, Residual, Trouble};
use crate::solve::sparse::FactorError;
use carom_declare::{Count, section};
use nalgebra::{DMatrix, SMatrix};
use std::sync::atomic::AtomicBool;

/// What may be left of the balance of forces, of their size; and the last increment, of the size of the bodies.
const RESIDUAL_TOL: f64 = 1e-9;
const INCREMENT_TOL: f64 = 1e-9;
/// Round-off of a force, of the stiffness times the coordinates.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;
/// Way of the difference of forces along prescribed motion, of the size of the bodies.
const DIFFERENCE: f64 = 1e-6;
/// Share of a rigid motion that supports must hold: a few of millions of nodes are enough, round-off is not.
const HELD: f64 = 1e-12;

section! {
    /// Switches of method "static".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "static" {
        /// Load steps from the start to the end.
        steps: u32 as Count = 10;
        /// Iterations of a load step at most; then it is halved.
        iterations: u32 as Count = 25;
        /// How often a load step may be halved.
        halvings: u32 = 8;
        /// Loads without a table grow in proportion to time; else they act in full from the first step on.
        ramp: bool = true;
    }
}

/// Why a model has no statics.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoStatics {
    #[error("body `{0}` can move as a whole: nothing says where it is")]
    Loose(String),
}

pub struct Statics {
    options: Options,
    /// Length of a load step and end of the run [s].
    dt: f64,
    end: f64,
    forces: Forces,
    work: Work,
    newton: Newton,
    support: Vec<Vec3>,
    size: f64,
    halved: u64,
}

struct Work {
    parts: Parts,
    /// Loads at the start of a step and now [N].
    external: [Vec<Vec3>; 2],
    /// Element forces at the start of a step [N].
    inside: Vec<Vec3>,
    x: Vec<Vec3>,
    left: Vec<f64>,
    increment: Vec<f64>,
    floor: f64,
}

impl Statics {
    /// For use inside the current rayon pool. Time goes from zero to `end`.
    pub fn new(model: &Model, end: f64, options: Options) -> Result<Statics, NoStatics> {
        if let Some(body) = model.bodies.iter().find(|b| loose(model, b.nodes.clone())) {
            return Err(NoStatics::Loose(body.name.clone()));
        }
        let zero = || vec![Vec3::zeros(); model.reference.len()];
        Ok(Statics {
            dt: end / f64::from(options.steps.max(1)),
            options,
            end,
            forces: Forces::new(model),
            newton: Newton::default(),
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            size: model.size(),
            halved: 0,
            work: Work {
                parts: Parts::new(model),
                external: [zero(), zero()],
                inside: zero(),
                x: zero(),
                left: Vec::new(),
                increment: Vec::new(),
                floor: 0.0,
            },
        })
    }

    /// Forces at the state as it stands.
    fn measure(&mut self, model: &Model, state: &mut State) -> Totals {
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, false);
        let ramp = self.ramp(state.time);
        external_ramped(model, &state.x, state.time, ramp, &mut self.work.external[0]);
        for (k, f) in self.work.inside.iter_mut().enumerate() {
            *f = self.forces.at(k);
        }
        totals
    }

    fn ramp(&self, time: f64) -> f64 {
        if self.options.ramp { (time / self.end).clamp(0.0, 1.0) } else { 1.0 }
    }

    fn attempt(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<(), Trouble<StepError>> {
        self.work.x.copy_from_slice(&state.x);
        let limits = Limits {
            iterations: self.options.iterations,
            residual_tol: RESIDUAL_TOL,
            increment_tol: INCREMENT_TOL * self.size,
            keep: 0.0,
        };
        let ramp = self.ramp(leap.end);
        let mut balance = Balance {
            model,
            state,
            forces: &mut self.forces,
            work: &mut self.work,
            time: leap.end,
            ramp,
            totals: None,
            seconds: [0.0; 2],
        };
        let factors = |error| Trouble::Again(StepError::Factors { time: leap.end, dt: leap.length, error });
        balance.predict(self.size).map_err(factors)?;
        let outcome = self.newton.run(&mut balance, &limits, stop);
        let (totals, seconds) = (balance.totals, balance.seconds);
        ledger.phases.force += seconds[0];
        ledger.phases.solve += seconds[1];
        match (outcome, totals) {
            (Outcome::Converged, Some(totals)) => self.book(model, state, leap, &totals, ledger),
            (Outcome::Stuck(stuck), _) => {
                let left = |k: usize| self.work.parts.unknowns.expand(k, &self.work.left);
                let of = (stuck, &self.newton);
                return Err(Trouble::Again(unsolved(model, &state.x, leap, of, left, |_| None)));
            }
            _ => return Err(Trouble::Stopped),
        }
        Ok(())
    }

    /// Work of loads and supports from the start of the part to its end, which becomes the next start.
    fn book(&mut self, model: &Model, state: &mut State, leap: Leap, totals: &Totals, ledger: &mut Ledger) {
        let work = &mut self.work;
        let mut held = model.restraints.held.iter().enumerate().peekable();
        for k in 0..state.x.len() {
            let way = state.x[k] - work.x[k];
            let inside = self.forces.at(k);
            ledger.external += 0.5 * way.dot(&(work.external[0][k] + work.external[1][k]));
            if let Some((i, support)) = held.next_if(|h| h.1.node as usize == k) {
                let onto = |f: Vec3| f - support.free * f;
                let before = onto(work.inside[k] - work.external[0][k]);
                let after = onto(inside - work.external[1][k]);
                ledger.external += 0.5 * way.dot(&(before + after));
                self.support[i] += leap.length * after;
            }
            work.inside[k] = inside;
        }
        let [before, now] = &mut work.external;
        std::mem::swap(before, now);
        (ledger.kinetic, ledger.strain, ledger.hourglass) = (0.0, totals.strain, totals.hourglass);
        ledger.element_kicks += model.elements() as u64;
        state.material.accept();
        state.time = leap.end;
    }
}

/// The balance of forces of a load step.
struct Balance<'a> {
    model: &'a Model,
    state: &'a mut State,
    forces: &'a mut Forces,
    work: &'a mut Work,
    time: f64,
    ramp: f64,
    totals: Option<Totals>,
    /// Wall time of forces and factors [s].
    seconds: [f64; 2],
}

impl Balance<'_> {
    fn factor(&mut self) -> Result<(), FactorError> {
        let Work { parts, floor, .. } = &mut *self.work;
        parts.factor(self.model, &self.state.x, 1.0, |_| 0.0)?;
        *floor = ROUND_OFF * parts.stiffness_times(self.model, &self.state.x);
        Ok(())
    }

    fn solve(&mut self) -> Result<(), FactorError> {
        let Work { parts, increment, left, .. } = &mut *self.work;
        increment.clone_from(left);
        parts.solve(increment)
    }

    /// Prescribed motion, and what it and the new loads do to first order.
    fn predict(&mut self, size: f64) -> Result<(), FactorError> {
        let restraints = &self.model.restraints;
        let mut prescribed: Vec<(usize, Vec3)> = Vec::new();
        for held in &restraints.held {
            let k = held.node as usize;
            let way = self.model.reference[k] + restraints.displacement(held, self.time) - self.state.x[k];
            prescribed.push((k, way - held.free * way));
        }
        let farthest = prescribed.iter().fold(0.0, |m: f64, l| m.max(l.1.amax()));
        self.factor()?;
        let mut pull = vec![Vec3::zeros(); self.state.x.len()];
        if farthest > 0.0 {
            let share = DIFFERENCE * size / farthest;
            for (sign, factor) in [(1.0, -0.5), (-2.0, 0.5)] {
                prescribed.iter().for_each(|&(k, way)| self.state.x[k] += sign * share * way);
                self.forces.evaluate(self.model, &self.state.x, &mut self.state.material, false);
                for (k, to) in pull.iter_mut().enumerate() {
                    *to += factor / share * self.forces.at(k);
                }
            }
            // as they were, to the bit
            prescribed.iter().for_each(|&(k, _)| self.state.x[k] = self.work.x[k]);
        }
        if self.residual().is_none() {
            return Ok(());
        }
        let Work { left, parts, .. } = &mut *self.work;
        pull.iter().enumerate().for_each(|(k, f)| parts.unknowns.add_to_unknowns(k, f, left));
        self.solve()?;
        prescribed.iter().for_each(|&(k, way)| self.state.x[k] += way);
        self.add_increment(1.0);
        Ok(())
    }
}

impl Problem for Balance<'_> {
    fn residual(&mut self) -> Option<Residual> {
        let mut watch = Watch::start();
        let (model, state, work) = (self.model, &mut *self.state, &mut *self.work);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, false);
        self.totals = Some(totals);
        external_ramped(model, &state.x, self.time, self.ramp, &mut work.external[1]);
        work.left.clear();
        work.left.resize(work.parts.unknowns.count, 0.0);
        let (mut inside, mut outside) = (0.0, 0.0);
        for k in 0..state.x.len() {
            let (f, e) = (self.forces.at(k), work.external[1][k]);
            inside += f.norm_squared();
            outside += e.norm_squared();
            work.parts.unknowns.add_to_unknowns(k, &(e - f), &mut work.left);
        }
        watch.add(&mut self.seconds[0]);
        if !(totals.strain.is_finite() && totals.det_f > 0.0) {
            return None;
        }
        let scale = inside.sqrt() + outside.sqrt();
        Some(Residual { force: length(&work.left), scale, floor: work.floor })
    }

    fn increment(&mut self, renew: bool) -> Result<Increment, FactorError> {
        let mut watch = Watch::start();
        if renew {
            self.factor()?;
        }
        self.solve()?;
        watch.add(&mut self.seconds[1]);
        Ok(increment_of(&self.work.increment, &self.work.left))
    }

    fn add_increment(&mut self, share: f64) {
        for (k, x) in self.state.x.iter_mut().enumerate() {
            *x += share * self.work.parts.unknowns.expand(k, &self.work.increment);
        }
    }
}

/// Supports leave these nodes a motion as a whole.
fn loose(model: &Model, nodes: std::ops::Range<usize>) -> bool {
    type Six = SMatrix<f64, 6, 6>;
    let centre = model.reference[nodes.clone()].iter().sum::<Vec3>() / nodes.len().max(1) as f64;
    let modes = |k: usize| {
        let arm = model.reference[k] - centre;
        SMatrix::<f64, 3, 6>::from_fn(|i, j| {
            if j < 3 { f64::from(u8::from(i == j)) } else { Vec3::ith(j - 3, 1.0).cross(&arm)[i] }
        })
    };
    let all: Six = nodes.clone().map(|k| modes(k).transpose() * modes(k)).sum();
    let mut kept = Six::zeros();
    for held in model.restraints.held.iter().filter(|h| nodes.contains(&(h.node as usize))) {
        let m = modes(held.node as usize);
        kept += m.transpose() * (m - held.free * m);
    }
    // motions that are none (a bar about its axis) do not count; the others in units of their own size
    let scale = Six::from_diagonal(&all.diagonal().map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }));
    let motions = (scale * all * scale).symmetric_eigen();
    let kept = scale * kept * scale;
    let own = (0..6).filter(|&j| motions.eigenvalues[j] > HELD);
    let span: Vec<_> = own.map(|j| motions.eigenvectors.column(j) / motions.eigenvalues[j].sqrt()).collect();
    let gram = DMatrix::from_fn(span.len(), span.len(), |i, j| span[i].dot(&(kept * span[j])));
    !span.is_empty() && gram.symmetric_eigenvalues().min() < HELD
}

impl Method for Statics {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        follow_supports(model, state);
        state.v.fill(Vec3::zeros());
        let totals = self.measure(model, state);
        (ledger.kinetic, ledger.strain, ledger.hourglass) = (0.0, totals.strain, totals.hourglass);
        ledger.dt = self.dt;
        ledger.open();
        Ok(())
    }

    /// A stop is heard between iterations too.
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let t1 = (state.step + 1) as f64 * self.dt;
        self.newton.begin();
        let step = ([self.dt, t1], self.options.halvings);
        let reached = step_in_parts(self, model, state, ledger, step, |own, state, ledger, leap| {
            let done = own.attempt(model, state, leap, ledger, stop);
            if done.is_err() {
                state.x.copy_from_slice(&own.work.x);
                own.halved += u64::from(!leap.last);
            }
            done
        })?;
        if reached == Reached::Until {
            ledger.close_step(self.dt);
        }
        Ok(reached)
    }

    fn next_step(&self) -> f64 {
        self.dt
    }

    fn newton(&self) -> Option<&Newton> {
        Some(&self.newton)
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.support[held]
    }

    fn save(&self, record: &mut Record) {
        record.vectors("static.support", &self.support);
        record.vectors("static.external", &self.work.external[0]);
        record.vectors("static.inside", &self.work.inside);
        record.counts("static.effort", &[self.newton.iterations, self.newton.factorisations, self.halved]);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        record.read_vectors("static.support", &mut self.support)?;
        record.read_vectors("static.external", &mut self.work.external[0])?;
        record.read_vectors("static.inside", &mut self.work.inside)?;
        [self.newton.iterations, self.newton.factorisations, self.halved] =
            record.read_counts("static.effort")?;
        Ok(())
    }
}
