//! Nonsmooth variational contact (Kane, Repetto, Ortiz & Marsden 1999; Pandolfi, Kane, Marsden & Ortiz 2002): every step is one
//! minimisation over the positions without overlap.
//!
//! ```text
//! 1 predict    φᵖʳᵉ = φ + Δt v + (½ − β)Δt² a
//! 2 contact    φ′ = argmin over 𝒞 of (φ′ − φᵖʳᵉ)ᵀ M (φ′ − φᵖʳᵉ) / Δt² + 2β[W(φ′) − f·φ′]  (+ friction)
//! 3 correct    F = 2M(φ′ − φᵖʳᵉ)/Δt² − 2βM a′      v′ = v + Δt [(1 − γ)a + γa′] + Δt M⁻¹F
//! ```
//!
//! 𝒞 is bounded by signed areas and volumes of boundary simplices ([`simplex`]), chosen where trial positions overlap
//! (`detect`) until none do; the minimum over them is found by sequential quadratic programs (`program`). No gap function and no
//! normal is asked for, so corners may meet corners. [`Nonsmooth`] is the member β = 0, γ = ½ of the published family, whose elements are explicit;
//! [`general::General`] all others.
//!
//! **Sign.** g > 0 is open; F acts on the bodies, λ ≥ 0 is compression.
//!
//! **Loss.** A node that meets a wall at the share θ of a step leaves with |1 − 2θ| times its speed: the published scheme has a
//! restitution of its own, which follows from the phase of the step. A deck cannot ask for another.
//!
//! **Books.** The kinetic energy changes by `((1−γ)f + γf′ + F)·[Δφ + (½γ − β)Δt²(a′ − a)]`. Work along the way Δφ is booked. The rest, the
//! lag of the mean velocity behind the way, is the product of the whole force on a node and the change of a part of it: nothing where
//! a node rests, of second order where it moves. It shows as the error, as it does without contact.

pub(crate) mod compliance;
pub(crate) mod detect;
#[doc(hidden)]
pub mod general;
mod kept;
pub(crate) mod on_the_way;
#[doc(hidden)]
pub mod program;
mod row;
#[doc(hidden)]
pub mod simplex;
pub mod touching;

use super::impulses::Impulses;
use super::newmark::{Newmark, Touched};
use super::step_control::StepRule;
use super::{Method, Reached, StepError, Watch};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use carom_declare::{Count, Positive, Share, section, words};
use program::{Friction, FrictionGradient, Gradient, Program};
use std::sync::atomic::AtomicBool;
use touching::Touching;

words! {
    /// The matrix of the quadratic programs of implicit members.
    pub enum Hessian {
        /// The tangent of the elements at every iterate.
        Tangent = "tangent",
        /// That of the start of the step, kept (modified Newton): more iterations, one factorisation.
        Kept = "kept",
    }
}

words! {
    /// Which of several that are equal.
    pub enum Ties {
        /// The first, in the order of the mesh.
        First = "first",
        /// The last.
        Last = "last",
    }
}

section! {
    /// Switches of method "nonsmooth".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "nonsmooth" {
        /// Newmark's β: 0 leaves the elements explicit, 0.25 with `gamma` 0.5 is the trapezoidal rule; contact is implicit in either.
        beta: f64 as Share = 0.0;
        /// Newmark's γ; above 0.5 it damps.
        gamma: f64 as Share = 0.5;
        /// Where the gradients are taken along which contact presses.
        gradient ("contact_gradient"): Gradient;
        /// What friction acts on.
        friction: Friction;
        /// The force of friction as a gradient of its potential.
        friction_gradient: FrictionGradient;
        /// Stiffness of springs in the place of the constraints [N/m]: the penalty form. Bodies overlap then; none unless given.
        penalty: Option<f64> as Option<Positive>;
        /// The matrix of the quadratic programs, for `beta` above 0.
        hessian: Hessian;
        /// Longest increment of a converged iteration over the local size, for `beta` above 0.
        tolerance: f64 as Positive = 1e-11;
        /// Detections of contacts in a step, at most.
        detections: u32 as Count = 60;
        /// Times that a step is halved, at most; then the run ends.
        halvings: u32 = 8;
        /// Through which of two facets that cost the same a node leaves.
        ties: Ties;
    } renamed {
        "looks" => "detections",
    } check |r| {
        let grows = gamma.is_some_and(|g| g < 0.5);
        if grows {
            let place = r.key_place("gamma").unwrap_or(&r.place).clone();
            let message = "with `gamma` below 0.5 every wave grows from step to step".to_string();
            r.problems.add(&place, message, "0.5 keeps energy, more than that damps");
        }
        !grows
    }
}

impl Options {
    /// Stable whatever the step, for linear elements.
    pub(crate) fn unbounded(&self) -> bool {
        self.gamma >= 0.5 && 2.0 * self.beta >= self.gamma
    }

    /// Elements are explicit, in the half steps that other methods share.
    pub fn explicit(&self) -> bool {
        self.beta == 0.0 && self.gamma == 0.5
    }
}

/// What the contacts of the last step were, for those who ask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Detections at trial positions and quadratic programs.
    pub detections: u32,
    pub programs: u32,
    /// Constraints of the working set, and those that press.
    pub constraints: usize,
    pub active: usize,
    /// Work of friction `Σ p·s` [J].
    pub friction_work: f64,
    /// Largest `|p| / μN̂`, and the least `p·s` [J].
    pub cone: f64,
    pub least_dissipation: f64,
    /// Contacts with friction that stick, and that slip.
    pub stick: u64,
    pub slip: u64,
}

impl Report {
    /// Quadratic programs, contacts that stick, contacts that slip.
    fn counts(&self) -> [u64; 3] {
        [self.programs.into(), self.stick, self.slip]
    }
}

/// Shortened steps that are left, and the usual length [s].
#[derive(Clone, Copy, Debug, Default)]
struct Short {
    left: u64,
    usual: f64,
}

impl Short {
    /// A step of length `dt` has failed; returns how long the next are.
    fn halve(&mut self, dt: f64) -> f64 {
        if self.left == 0 {
            *self = Short { left: 1, usual: dt };
        }
        self.left *= 2;
        0.5 * dt
    }

    /// How often the usual step is halved while steps are `dt` long.
    fn times(&self, dt: f64) -> u32 {
        if self.left == 0 { 0 } else { (self.usual / dt).log2().round() as u32 }
    }

    /// A step is done; returns the usual length if that was the last shortened one.
    fn done(&mut self) -> Option<f64> {
        let was = self.left;
        self.left = was.saturating_sub(1);
        (was == 1).then_some(self.usual)
    }

    fn save(&self, record: &mut Record) {
        record.numbers("nonsmooth.short", &[self.left as f64, self.usual]);
    }

    fn restore(record: &Record) -> Result<Short, RecordError> {
        let [left, usual] = record.read_values("nonsmooth.short")?;
        match left == 0.0 || (usual > 0.0 && usual.is_finite()) {
            true => Ok(Short { left: left as u64, usual }),
            false => Err(RecordError::Meaningless("nonsmooth.short".into())),
        }
    }
}

pub struct Nonsmooth {
    newmark: Newmark,
    touching: Touching,
    start: Vec<Vec3>,
    short: Short,
}

impl Nonsmooth {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Self {
        Nonsmooth {
            newmark: Newmark::new(model, rule),
            touching: Touching::new(model, options),
            start: vec![Vec3::zeros(); model.reference.len()],
            short: Short::default(),
        }
    }

    /// The working set and the multipliers of the last step.
    pub fn program(&self) -> &Program {
        &self.touching.program
    }

    /// What the contacts of the last step were.
    pub fn report(&self) -> Report {
        self.touching.report
    }

    /// Contact force on each node in the last step [N].
    pub fn contact_forces(&self) -> Vec<Vec3> {
        self.touching.forces(self.newmark.dt())
    }

    fn try_step(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let mut watch = Watch::start();
        let (dt, t1) = (self.newmark.dt(), self.newmark.end_of_step(state));
        // 1. move as if nothing could touch
        self.start.copy_from_slice(&state.x);
        self.newmark.predict(model, state);
        self.touching.at.begin(model, &self.start, &state.x, [state.time, t1]);
        watch.add(&mut ledger.phases.solve);
        // 2. the nearest positions without overlap
        let looked = self.minimise(model, ledger, &mut watch, t1);
        self.touching.release();
        let depth = match looked {
            Ok(depth) => depth,
            Err(error) => return Err(self.back_to_start(state, error)),
        };
        self.kick(model, state);
        watch.add(&mut ledger.phases.response);
        // 3. new forces, second half of the step, then the books: both ends of the step are known now
        let totals = match self.newmark.evaluate(model, state, t1) {
            Ok(totals) => totals,
            Err(error) => return Err(self.back_to_start(state, error)),
        };
        watch.add(&mut ledger.phases.force);
        let Touching { slot, kicks, .. } = &self.touching;
        let touched = Touched { start: &self.start, slot, list: kicks };
        self.newmark.correct(model, state, t1, (!kicks.is_empty()).then_some(touched), ledger);
        self.touching.book(model, dt, ledger);
        self.touching.program.remember();
        ledger.penetration = depth;
        self.newmark.finish(model, state, t1, &totals, ledger);
        watch.add(&mut ledger.phases.solve);
        Ok(())
    }

    /// Step 2: trial positions to the minimum over 𝒞. Returns the deepest overlap that is left [m].
    fn minimise(
        &mut self,
        model: &Model,
        ledger: &mut Ledger,
        watch: &mut Watch,
        time: f64,
    ) -> Result<f64, StepError> {
        let (dt, of) = (self.newmark.dt(), &mut self.touching);
        let rules = of.rules();
        of.clear();
        for detection in 1..=of.options.detections {
            let found = of.at.detect(model, &mut of.program.work, &of.banned)?;
            watch.add(&mut ledger.phases.search);
            of.report.detections = detection;
            if found.new == 0 {
                return if of.accepts(&found) {
                    Ok(found.depth)
                } else {
                    Err(of.inadmissible(found.depth, time, dt))
                };
            }
            if detection == 1 {
                let pressed = of.program.memory.iter().map(|m| m.0);
                of.at.keep(model, pressed, &mut of.program.work);
            }
            of.program.adopt(&of.at);
            loop {
                let solved = of.program.solve(&mut of.at, dt, &rules);
                of.report.programs += solved.programs as u32;
                if !solved.converged {
                    return Err(of.inadmissible(found.depth, time, dt));
                }
                let nodes = of.program.nodes.clone();
                if !of.drop_ghosts() {
                    break;
                }
                for k in nodes {
                    of.at.world.x[k as usize] = of.at.pre[k as usize];
                }
            }
            watch.add(&mut ledger.phases.response);
        }
        Err(of.inadmissible(f64::NAN, time, dt))
    }

    /// Gives positions and velocities of the minimum to the state.
    fn kick(&mut self, model: &Model, state: &mut State) {
        self.touching.collect(model, self.newmark.dt());
        for (&k, kick) in self.touching.touched.iter().zip(&self.touching.kicks) {
            let k = k as usize;
            state.x[k] = self.touching.at.world.x[k];
            state.v[k] += kick.kick;
        }
    }

    /// Undoes the predictor and whatever contact did after it.
    fn back_to_start(&mut self, state: &mut State, error: StepError) -> StepError {
        state.x.copy_from_slice(&self.start);
        for (&k, kick) in self.touching.touched.iter().zip(&self.touching.kicks) {
            state.v[k as usize] -= kick.kick;
        }
        self.newmark.retreat(&mut state.v);
        error
    }
}

impl Method for Nonsmooth {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let depth = self.touching.part_at_start(model, state)?;
        self.newmark.start(model, state, ledger)?;
        (ledger.penetration, ledger.penetration_max) = (depth, depth);
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        _: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let halvings = self.touching.options.halvings;
        while let Err(error) = self.try_step(model, state, ledger) {
            let dt = self.newmark.dt();
            if !matches!(error, StepError::Inadmissible { .. }) || self.short.times(dt) >= halvings {
                return Err(error);
            }
            let dt = self.short.halve(dt);
            self.newmark.set_step(state, dt);
        }
        if let Some(usual) = self.short.done() {
            self.newmark.set_step(state, usual);
        }
        Ok(Reached::Until)
    }

    fn next_step(&self) -> f64 {
        self.newmark.dt()
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.newmark.support_impulse(held)
    }

    fn newton_counts(&self) -> Option<[u64; 3]> {
        Some(self.report().counts())
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.touching.at.world.impulses)
    }

    fn save(&self, record: &mut Record) {
        self.newmark.save("nonsmooth", record);
        self.short.save(record);
        self.touching.save(record);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.newmark.restore("nonsmooth", record)?;
        self.short = Short::restore(record)?;
        self.touching.restore(record)
    }
}

#[cfg(test)]
mod tests {
    use super::Short;

    /// Halved twice, a step later once more: an eighth, and seven eighths to go.
    #[test]
    fn halvings_are_counted_from_the_usual_step() {
        let mut short = Short::default();
        assert_eq!(short.times(8.0), 0);
        let dt = short.halve(8.0);
        let dt = short.halve(dt);
        assert_eq!((dt, short.times(dt), short.done()), (2.0, 2, None));
        let dt = short.halve(dt);
        assert_eq!((dt, short.times(dt), short.left), (1.0, 3, 6));
        assert!((0..5).all(|_| short.done().is_none()));
        assert_eq!((short.done(), short.times(8.0)), (Some(8.0), 0));
    }
}
