//! The implicit scheme that `semi-explicit` is measured against (Feng, Joli, Cros & Magnain 2005).
//!
//! ```text
//! M(v⁺ − v) = Δt [(1−ξ) F(x, v) + ξ F(x⁺, v⁺)] + Δt Hᵀr        F = E − f(x) − c M v
//! x⁺ = x + Δt [(1−θ) v + θ v⁺]
//! ```
//!
//! θ = ξ = ½ is the trapezoidal rule; θ = 1, ξ = 0 is `semi-explicit`. Newton's method with the contacts solved inside each
//! iteration, for the same unknown and by the same law:
//!
//! ```text
//! K̄ = ξ K(xᵢ) + ξ c M/(θΔt) + M/(θΔt²)        q = (1−ξ)F + ξFᵢ − M(xᵢ − x − Δt v)/(θΔt²)
//! W = H K̄⁻¹Hᵀ/(θΔt)     b = H[(1−1/θ) v + (xᵢ + K̄⁻¹q − x)/(θΔt)] − v_obstacle     xᵢ₊₁ = xᵢ + K̄⁻¹(q + Hᵀr)
//! ```
//!
//! The factors of K̄ are kept, from step to step too, while iterates come nearer fast enough. An iterate that turns an element inside out or makes
//! the balance of forces worse is taken back half way ([`crate::solve::newton`]); a step that does not converge, or that
//! creates or loses energy out of nothing, or in which bodies could pass through each other, is done in two halves. Contacts
//! are found once per step.
//!
//! A stop is heard between iterations and between sweeps over the contacts: the step is given up, and the state is that of
//! its start.

mod equations;
pub(super) mod parts;
mod reduced;
mod thin;

use super::bipotential::{ContactSet, StepInput};
use super::chunks::follow_supports;
use super::impulses::Impulses;
use super::in_parts::{step_in_parts, unsolved};
use super::semi_explicit::{Activation, Options as ContactOptions};
use super::step_control::StepControl;
use super::{Method, Reached, StepError, StepRule, Watch};
use crate::contact::search::Pass;
use crate::math::Vec3;
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::newton::{Leap, Limits, Newton, Outcome, Stuck, Trouble};
use crate::solve::sparse::FactorError;
use carom_declare::{Count, Item, Positive, Share, kind, section};
use equations::{Equations, Work, velocity};
pub(super) use equations::{external, external_ramped, increment_of, length};
use std::sync::atomic::AtomicBool;
use thin::Thin;

/// Change of positions, over the finest edge, at which Newton's method has converged.
const INCREMENT_TOL: f64 = 1e-8;
/// What may be left of the balance of forces, of their size.
const RESIDUAL_TOL: f64 = 1e-8;
/// Energy that a step may create or lose out of nothing, of what there is; halves of it half of that.
const ENERGY_DEFECT: f64 = 5e-4;

kind!(
    /// Above 0, and up to 1.
    pub Theta: f64,
    |item: Item| match item.clone().share()? {
        0.0 => item.refuse("is 0", "positions would not see the new velocities: above 0, and up to 1"),
        theta => Some(theta),
    },
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }
);

section! {
    /// Switches of method "bipotential-implicit".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "bipotential-implicit" {
        /// Weight of the new velocity in the motion, above 0 and up to 1. ½ with `xi` ½ is the trapezoidal rule, 1 with 0 is
        /// `semi-explicit`.
        theta: f64 as Theta = 0.5;
        /// Weight of the new forces, from 0 to 1.
        xi: f64 as Share = 0.5;
        /// Whose nodes are held against whose faces.
        pass: Pass = Pass::Double;
        /// Edges touch edges, where one of them is sharp.
        edge_edge: bool = true;
        /// Contacts are solved when a sweep changes no velocity by more than this share of the fastest impact so far.
        tolerance: f64 as Positive = 1e-6;
        /// Sweeps at most.
        sweeps: u32 as Count = 2000;
        /// Iterations of a step at most; then it is halved.
        iterations: u32 as Count = 12;
        /// How often a step may be halved, also where it creates energy out of nothing.
        halvings: u32 = 8;
    } with {
        /// When contacts act; unset, by `rate` with θ < 1: positions would make resting nodes alternate.
        activation: Option<Activation> = None;
        /// Factors are kept while an increment is not longer than this share of the one before; zero is Newton's method as it
        /// stands.
        keep: f64 = 0.1;
    }
}

impl Options {
    /// How contacts are found and solved.
    fn contact(&self) -> ContactOptions {
        let own = if self.theta < 1.0 { Activation::Rate } else { Activation::Position };
        let Options { pass, edge_edge, tolerance, sweeps, .. } = *self;
        let activation = self.activation.unwrap_or(own);
        ContactOptions { activation, pass, edge_edge, tolerance, sweeps, ..ContactOptions::default() }
    }
}

pub struct BipotentialImplicit {
    options: Options,
    control: StepControl,
    forces: Forces,
    contact_set: ContactSet,
    thin: Thin,
    work: Work,
    newton: Newton,
    /// Middle of the step, for the books.
    middle: Vec<Vec3>,
    support: Vec<Vec3>,
    /// Contacts of the next step have been looked for.
    ready: bool,
    /// Finest edge [m].
    size: f64,
    /// Steps that were halved.
    halved: u64,
    /// Iterations of the last step, and contacts that stuck and slipped in it.
    iterations: u64,
    counts: [u64; 2],
}

impl BipotentialImplicit {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Result<Self, FactorError> {
        let contact_set = ContactSet::new(model);
        let finest = contact_set.world.finest;
        let size = if finest > 0.0 { finest } else { 1e-2 * model.size() };
        Ok(BipotentialImplicit {
            options,
            control: StepControl::with_damping(model, rule),
            forces: Forces::new(model),
            thin: Thin::new(model, &contact_set.world.scene),
            contact_set,
            work: Work::new(model),
            newton: Newton::default(),
            middle: vec![Vec3::zeros(); model.reference.len()],
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            ready: false,
            size,
            halved: 0,
            iterations: 0,
            counts: [0; 2],
        })
    }

    /// Iterations altogether, and steps that were halved.
    pub fn effort(&self) -> (u64, u64) {
        (self.newton.iterations, self.halved)
    }

    fn find_contacts(&mut self, model: &Model, state: &State, h: f64) -> Result<f64, StepError> {
        let step = StepInput { x: &state.x, v: &state.v, free: &state.v, time: state.time, dt: h };
        Ok(self.contact_set.search_contacts(model, &self.options.contact(), &step)?)
    }

    /// A part of a step.
    fn attempt(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<(), Trouble<StepError>> {
        let Leap { length: h, end: t1, .. } = leap;
        self.work.x.copy_from_slice(&state.x);
        self.work.v.copy_from_slice(&state.v);
        let mut watch = Watch::start();
        let motion = [&self.work.x[..], &self.work.v[..]];
        if let Some(far) = self.thin.too_far(model, &self.contact_set.world.scene, motion, t1 - h, h) {
            let [first, second] = far.bodies.map(|b| model.contact.name_of(model, b));
            let (way, thickness) = (far.way, far.thickness);
            return Err(Trouble::Again(StepError::TooFar { first, second, time: t1, dt: h, way, thickness }));
        }
        if !std::mem::take(&mut self.ready) {
            self.find_contacts(model, state, h).map_err(Trouble::Error)?;
        }
        let v = &self.work.v;
        self.contact_set.build_contacts(model, &self.options.contact(), v, v, h);
        self.work.reduced.build(&self.work.parts, model.bodies.len(), &self.contact_set.contacts.list);
        watch.add(&mut ledger.phases.search);
        let totals = self.solve(model, state, leap, ledger, stop)?;
        let mut watch = Watch::start();
        self.finish(model, state, h);
        let (created, energy) = self.created(model, state, h, totals.strain - ledger.strain, totals.strain);
        let most = ENERGY_DEFECT * h / self.control.dt * energy.max(ledger.peak)
            + self.newton.last.floor * self.size;
        if created > most && !leap.last {
            return Err(Trouble::Again(StepError::Created { time: t1, dt: h, share: created / energy }));
        }
        self.book(model, state, h, &totals, ledger);
        state.material.accept();
        state.time = t1;
        ledger.element_kicks += model.elements() as u64;
        watch.add(&mut ledger.phases.solve);
        Ok(())
    }

    /// Positions at the end of a part of a step in which all forces balance, contacts as listed; the energies there.
    fn solve(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Totals, Trouble<StepError>> {
        let Leap { length: h, end: t1, .. } = leap;
        let restraints = &model.restraints;
        for held in &restraints.held {
            let k = held.node as usize;
            let way = model.reference[k] + restraints.displacement(held, t1) - self.work.x[k];
            state.x[k] += way - held.free * way;
        }
        let limits = Limits {
            iterations: self.options.iterations,
            residual_tol: RESIDUAL_TOL,
            increment_tol: INCREMENT_TOL * self.size,
            keep: self.options.keep,
        };
        let mut equations = Equations {
            model,
            state,
            options: &self.options,
            forces: &mut self.forces,
            contact_set: &mut self.contact_set,
            work: &mut self.work,
            h,
            t1,
            velocity_tol: 0.1 * limits.increment_tol / (self.options.theta * h),
            totals: None,
            listed: true,
            seconds: [0.0; 3],
            stop,
        };
        let outcome = match equations.recall() {
            Ok(()) => self.newton.run(&mut equations, &limits, stop),
            Err(error) => Outcome::Stuck(Stuck::Factors(error)),
        };
        let (totals, seconds) = (equations.totals, equations.seconds);
        ledger.phases.force += seconds[0];
        ledger.phases.solve += seconds[1];
        ledger.phases.response += seconds[2];
        match outcome {
            Outcome::Converged => totals.ok_or(Trouble::Stopped),
            Outcome::Stopped => Err(Trouble::Stopped),
            // a shorter step takes no less
            Outcome::Stuck(stuck @ Stuck::Factors(FactorError::Memory { .. })) => {
                Err(Trouble::Error(self.trouble(model, state, leap, stuck)))
            }
            Outcome::Stuck(stuck) => Err(Trouble::Again(self.trouble(model, state, leap, stuck))),
        }
    }

    /// Velocities at the end, held directions as prescribed.
    fn finish(&self, model: &Model, state: &mut State, h: f64) {
        let (theta, work) = (self.options.theta, &self.work);
        for (k, v) in state.v.iter_mut().enumerate() {
            *v = velocity(theta, h, &work.x[k], &work.v[k], &state.x[k]);
        }
        for held in &model.restraints.held {
            let k = held.node as usize;
            let prescribed = (state.x[k] - work.x[k]) / h;
            state.v[k] = held.free * state.v[k] + prescribed - held.free * prescribed;
        }
    }

    /// Energy that comes out of nothing in a step of length `h` to `state` [J], which gains `gain` of strain energy and has
    /// `strain` then: forces work at the mean velocity, and the strain energy is not what the elements' have done. Beside
    /// it the energy that there is.
    fn created(&self, model: &Model, state: &State, h: f64, gain: f64, strain: f64) -> (f64, f64) {
        let (Options { theta, xi, .. }, own) = (self.options, &self.work);
        let (mut work, mut energy) = (0.0, strain);
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let m = model.mass[k];
                let before = own.external[0][k] - own.force[k] - body.damping * m * own.v[k];
                let force = (1.0 - xi) * before + xi * self.forces.at(k);
                work += 0.5 * h * (own.v[k] + state.v[k]).dot(&force);
                energy += 0.5 * m * state.v[k].norm_squared();
            }
        }
        let created = gain - work;
        // What old forces do wrong in a step comes back, and new ones are meant to take energy out.
        let off = if xi == 0.0 {
            0.0
        } else if [theta, xi] == [0.5; 2] {
            created.abs()
        } else {
            created
        };
        (off, energy)
    }

    /// What does not settle: the worst node, and the contact it takes part in.
    fn trouble(&self, model: &Model, state: &State, leap: Leap, stuck: Stuck) -> StepError {
        let left = |k: usize| self.work.parts.unknowns.expand(k, &self.work.left);
        let contact = |k: usize| self.contact_set.contact_of(k);
        unsolved(model, &state.x, leap, (stuck, &self.newton), left, contact)
    }

    /// Work of every force as its mean times the mean velocity: exact for the kinetic energy.
    fn book(&mut self, model: &Model, state: &State, h: f64, totals: &Totals, ledger: &mut Ledger) {
        let xi = self.options.xi;
        for (to, (a, b)) in self.middle.iter_mut().zip(self.work.x.iter().zip(&state.x)) {
            *to = 0.5 * (a + b);
        }
        self.contact_set.book(h, &self.middle, [&state.v, &state.v], true, ledger);
        ledger.kinetic = 0.0;
        let mut held = model.restraints.held.iter().enumerate().peekable();
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let work = &mut self.work;
                let (m, v0, v1, at) = (model.mass[k], work.v[k], state.v[k], self.middle[k]);
                let mean = 0.5 * (v0 + v1);
                let now = work.external[1][k] - self.forces.at(k) - body.damping * m * v1;
                let outside = (1.0 - xi) * work.external[0][k] + xi * work.external[1][k];
                let drag = body.damping * m * ((1.0 - xi) * v0 + xi * v1);
                ledger.external += h * mean.dot(&outside);
                ledger.damping += h * mean.dot(&drag);
                let mut push = h * (outside - drag);
                if let Some((i, support)) = held.next_if(|h| h.1.node as usize == k) {
                    let force = (1.0 - xi) * work.force[k] + xi * now;
                    let lacks = m * (v1 - v0) - h * force - self.contact_set.impulse[k];
                    let given = lacks - support.free * lacks;
                    ledger.external += given.dot(&mean);
                    push += given;
                    self.support[i] += given;
                }
                ledger.impulse += push;
                ledger.moment += at.cross(&push);
                ledger.kinetic += 0.5 * m * v1.norm_squared();
                work.force[k] = now;
            }
        }
        let [before, now] = &mut self.work.external;
        std::mem::swap(before, now);
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
    }
}

impl Method for BipotentialImplicit {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        follow_supports(model, state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, true);
        self.control.start(state, &totals);
        external(model, &state.x, state.time, &mut self.work.external[0]);
        ledger.kinetic = 0.0;
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let m = model.mass[k];
                self.work.force[k] =
                    self.work.external[0][k] - self.forces.at(k) - body.damping * m * state.v[k];
                ledger.kinetic += 0.5 * m * state.v[k].norm_squared();
            }
        }
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        ledger.dt = self.control.dt;
        ledger.open();
        ledger.penetration = self.find_contacts(model, state, self.control.dt)?;
        ledger.penetration_max = ledger.penetration;
        self.ready = true;
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
        let (dt, t1) = (self.control.dt, self.control.end_of_step(state));
        self.contact_set.world.impulses.forget();
        self.newton.begin();
        let factored = self.work.factored.clone();
        let iterations = self.newton.iterations;
        let step = ([dt, t1], self.options.halvings);
        let reached = step_in_parts(self, model, state, ledger, step, |own, state, ledger, leap| {
            let done = own.attempt(model, state, leap, ledger, stop);
            if done.is_err() {
                state.x.copy_from_slice(&own.work.x);
                state.v.copy_from_slice(&own.work.v);
                own.ready = false;
                own.halved += u64::from(matches!(done, Err(Trouble::Again(_))) && !leap.last);
            }
            done
        });
        if reached != Ok(Reached::Until) {
            (self.work.factored, self.work.stale) = (factored, true);
            return reached;
        }
        self.iterations = self.newton.iterations - iterations;
        self.counts = self.contact_set.stick_and_slip();
        ledger.penetration = self.find_contacts(model, state, dt)?;
        self.ready = true;
        ledger.close_step(dt);
        reached
    }

    fn next_step(&self) -> f64 {
        self.control.dt
    }

    fn newton(&self) -> Option<&Newton> {
        Some(&self.newton)
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.support[held]
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.contact_set.world.impulses)
    }

    fn newton_counts(&self) -> Option<[u64; 3]> {
        let [stick, slip] = self.counts;
        Some([self.iterations, stick, slip])
    }

    fn save(&self, record: &mut Record) {
        self.control.save("implicit", record);
        self.contact_set.save("implicit", record);
        record.vectors("implicit.force", &self.work.force);
        record.vectors("implicit.external", &self.work.external[0]);
        record.vectors("implicit.support", &self.support);
        record.vectors("implicit.factored", &self.work.factored.0);
        record.numbers("implicit.factored-step", &[self.work.factored.1]);
        let [stick, slip] = self.counts;
        let all = [self.newton.iterations, self.halved, self.iterations, stick, slip];
        record.counts("implicit.effort", &all);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.control.restore("implicit", record)?;
        self.contact_set.restore("implicit", record)?;
        record.read_vectors("implicit.force", &mut self.work.force)?;
        record.read_vectors("implicit.external", &mut self.work.external[0])?;
        record.read_vectors("implicit.support", &mut self.support)?;
        record.read_vectors("implicit.factored", &mut self.work.factored.0)?;
        [self.work.factored.1] = record.read_values("implicit.factored-step")?;
        self.work.stale = true;
        let [stick, slip] = &mut self.counts;
        [self.newton.iterations, self.halved, self.iterations, *stick, *slip] =
            record.read_counts("implicit.effort")?;
        self.ready = false;
        Ok(())
    }
}
