//! Semi-explicit bi-potential contact (Peng, Feng & Joli 2018): elasticity explicit, contact implicit.
//!
//! ```text
//! 1 forces     F = E − f(xₙ) − c M vₙ                             (at the end of the step before)
//! 2 free       v* = vₙ + Δt M⁻¹F                                  prescribed directions as they are
//! 3 contacts   nodes near faces, edges near edges, at xₙ          gap g, normal n, weights, friction
//! 4 solve      vₙ₊₁ = v* + Δt M⁻¹Hᵀr  with Coulomb's law between r and the velocities at the end of the step
//! 5 move       xₙ₊₁ = xₙ + Δt vₙ₊₁
//! ```
//!
//! No stiffness matrix and no system of equations beside the contacts, which couple only through shared nodes
//! ([`crate::solve::contacts`]).
//!
//! **When a contact acts.** `position`: everything near; the law holds for `u_n + g/Δt`, so gaps close in the step and never
//! overlap to first order, and a part β of an overlap is undone in each step. `rate`, as published: what would overlap if it
//! went on as before; it stops where it is. `project`: the same, and overlaps that are left are undone in the positions.
//!
//! **Loss.** Surface nodes are stopped when they meet: their kinetic energy is lost, a share of the order of the mesh size,
//! whatever the step. It stands in `restitution`. Restitution e > 0 gives it back and is not asked for unless set.
//!
//! **Sign.** The paper contradicts itself; here forces act on the side n points to, positive is compression, gaps are positive
//! when open.

mod nodes;

use super::bipotential::{ContactSet, StepInput};
use super::impulses::Impulses;
use super::step_control::StepControl;
use super::{Blow, Method, Reached, StepError, StepRule, Watch};
use crate::contact::search::Pass;
use crate::math::Vec3;
use crate::model::forces::Totals;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::contacts::{Local, Report, Seconds};
use carom_declare::{Count, Positive, Share, section, words};
use nodes::{Done, Nodes};
use std::sync::atomic::AtomicBool;

words! {
    /// When a contact acts.
    pub enum Activation {
        /// Gaps close in the step and no farther; overlaps are undone bit by bit.
        Position = "position",
        /// As published: what would overlap at the end of the step stops where it is.
        Rate = "rate",
        /// The same, and overlaps that are left are undone in the positions.
        Project = "project",
    }
}

section! {
    /// Switches of method "semi-explicit".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "semi-explicit" {
        /// When a contact acts.
        activation: Activation;
        /// Whose nodes are held against whose faces.
        pass: Pass = Pass::Double;
        /// Edges touch edges, where one of them is sharp.
        edge_edge: bool = true;
        /// Baumgarte factor: share of an overlap that activation "position" undoes in a step.
        baumgarte: f64 as Share = 0.2;
        /// How one contact is solved in a sweep while the others wait.
        local: Local;
        /// Contacts are solved when a sweep changes no velocity by more than this share of the fastest impact so far.
        tolerance: f64 as Positive = 1e-6;
        /// Sweeps at most.
        sweeps: u32 as Count = 2000;
    } with {
        /// Speed that counts if nothing met faster [m/s].
        speed: f64 = 0.0;
        /// Largest relative error of contact forces, if that is asked for too.
        natural_map_residual: Option<f64> = None;
    } renamed {
        "push_back" => "baumgarte",
    }
}

/// Total energy over what was there and put in, from which on a run has diverged.
const DIVERGED: f64 = 1.05;

pub struct SemiExplicit {
    options: Options,
    control: StepControl,
    nodes: Nodes,
    contact_set: ContactSet,
    /// Velocities of the next step without contact, then with it.
    next: Vec<Vec3>,
    /// The same without contact, if shells have two sides.
    free: Vec<Vec3>,
    /// Where the nodes began the step.
    start: Vec<Vec3>,
    /// Velocities and contacts of the next step are prepared.
    ready: bool,
    /// Work put in by increments that put some in [J].
    put_in: f64,
}

impl SemiExplicit {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Self {
        SemiExplicit {
            options,
            control: StepControl::with_damping(model, rule),
            nodes: Nodes::new(model),
            contact_set: ContactSet::new(model),
            next: vec![Vec3::zeros(); model.reference.len()],
            free: Vec::new(),
            start: vec![Vec3::zeros(); model.reference.len()],
            ready: false,
            put_in: 0.0,
        }
    }

    /// How the contacts of the last step were solved.
    pub fn report(&self) -> Report {
        self.contact_set.report
    }

    /// Wall time spent on solving contacts so far.
    pub fn seconds(&self) -> Seconds {
        self.contact_set.contacts.seconds
    }

    /// Steps whose contacts were left at the limit of sweeps.
    pub fn unfinished(&self) -> u64 {
        self.contact_set.unfinished
    }

    /// Steps 2 and 3: free velocities, and what is near. Returns the deepest overlap [m].
    fn prepare(&mut self, model: &Model, state: &State) -> Result<f64, StepError> {
        let (dt, t1) = (self.control.dt, self.control.end_of_step(state));
        self.nodes.free(model, state, dt, t1, &mut self.next);
        let input = StepInput { x: &state.x, v: &state.v, free: &self.next, time: state.time, dt };
        let depth = self.contact_set.search_contacts(model, &self.options, &input)?;
        self.ready = true;
        Ok(depth)
    }

    fn back_to_start(&mut self, state: &mut State, error: StepError) -> StepError {
        state.x.copy_from_slice(&self.start);
        std::mem::swap(&mut state.v, &mut self.next);
        self.ready = false;
        error
    }

    /// Largest stable step [s] where the nodes began the step.
    fn stable(&mut self, model: &Model, state: &mut State) -> f64 {
        let totals = self.nodes.forces.evaluate(model, &self.start, &mut state.material, true);
        self.control.stable(totals.step)
    }

    /// Why elements failed: the step was too long, unless it was not.
    fn failure(&mut self, model: &Model, state: &mut State, totals: &Totals, time: f64) -> StepError {
        let (dt, stable) = (self.control.dt, self.stable(model, state));
        match StepError::of_elements(model, &state.x, totals.strain.is_finite(), time, dt) {
            StepError::Inverted { body, element, .. } if dt > stable => {
                let what = format!("element {element} of body `{body}` turned inside out");
                StepError::TooLong { time, dt, stable, what }
            }
            StepError::NotFinite { body, element, .. } => {
                StepError::NotFinite { body, element, time, dt, stable }
            }
            inverted => inverted,
        }
    }

    fn diverged(&mut self, model: &Model, state: &mut State, total: f64, time: f64) -> StepError {
        let (dt, stable) = (self.control.dt, self.stable(model, state));
        let what = format!("energy has grown to {total:.3e} J out of nothing");
        StepError::TooLong { time, dt, stable, what }
    }
}

impl Method for SemiExplicit {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let totals = self.nodes.start(model, state);
        self.start.copy_from_slice(&state.x);
        self.control.start(state, &totals);
        if !(totals.strain.is_finite() && totals.det_f > 0.0) {
            return Err(self.failure(model, state, &totals, state.time));
        }
        self.nodes.open(model, state, self.control.dt, ledger);
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        ledger.dt = self.control.dt;
        ledger.open();
        ledger.penetration = self.prepare(model, state)?;
        ledger.penetration_max = ledger.penetration;
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        _: &AtomicBool,
    ) -> Result<Reached, StepError> {
        if !self.ready {
            self.prepare(model, state)?;
        }
        let mut watch = Watch::start();
        let (dt, time) = (self.control.dt, [state.time, self.control.end_of_step(state)]);
        // 4. velocities at the end of the step that obey the law at every contact
        self.contact_set.world.impulses.forget();
        self.contact_set.build_contacts(model, &self.options, &state.v, &self.next, dt);
        if self.contact_set.world.two_sided {
            self.free.clone_from(&self.next);
        }
        self.contact_set.solve(&self.options, dt, &mut self.next);
        self.contact_set.keep_sides(
            model,
            &self.options,
            [&self.free, &state.v],
            &mut self.next,
            (dt, time[1]),
        )?;
        ledger.unsolved += u64::from(self.contact_set.is_unsolved(&self.options));
        watch.add(&mut ledger.phases.response);
        // 5. positions
        Nodes::advance(&mut state.x, &self.next, dt, &mut self.start);
        std::mem::swap(&mut state.v, &mut self.next);
        watch.add(&mut ledger.phases.solve);
        let before = ledger.external;
        self.contact_set.book(dt, &self.start, [&self.next, &state.v], false, ledger);
        if self.options.activation == Activation::Project {
            let projected = self.contact_set.project(model, &self.options, &mut state.x, time[1]);
            if let Err(error) = projected {
                return Err(self.back_to_start(state, error.into()));
            }
        }
        watch.add(&mut ledger.phases.response);
        // 1. forces at the new positions, then the books: both ends of the step are known now
        let measures = self.control.measures(state);
        let totals = self.nodes.evaluate(model, state, time[1], measures);
        watch.add(&mut ledger.phases.force);
        if !(totals.strain.is_finite() && totals.det_f > 0.0) {
            let error = self.failure(model, state, &totals, time[1]);
            return Err(self.back_to_start(state, error));
        }
        let moved = if self.contact_set.any_moved { &self.contact_set.moved[..] } else { &[] };
        let done = Done {
            dt,
            time,
            x: &self.start,
            v: &self.next,
            impulse: &self.contact_set.impulse,
            impulse_before: &self.contact_set.impulse_before,
            moved,
        };
        self.nodes.book(model, state, &done, ledger);
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        self.put_in += (ledger.external - before).max(0.0);
        // What the scheme conserves is the energy without the lag; restitution below zero is what contact has lent.
        let there = ledger.initial + self.put_in + ledger.correction.abs() + (-ledger.restitution).max(0.0);
        if ledger.total() - self.nodes.lag > DIVERGED * there {
            let error = self.diverged(model, state, ledger.total(), time[1]);
            return Err(self.back_to_start(state, error));
        }
        state.material.accept();
        (state.time, state.step) = (time[1], state.step + 1);
        ledger.element_kicks += model.elements() as u64;
        self.control.follow(state, &totals, measures, ledger.peak);
        watch.add(&mut ledger.phases.solve);
        // 2. and 3. of the next step: the overlap of this state is measured on the way
        ledger.penetration = self.prepare(model, state)?;
        watch.add(&mut ledger.phases.search);
        ledger.close_step(dt);
        Ok(Reached::Until)
    }

    fn next_step(&self) -> f64 {
        self.control.dt
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.nodes.support_impulse(held)
    }

    fn strike(&mut self, model: &Model, state: &mut State, blow: &Blow) -> Result<(), RecordError> {
        self.put_in += blow.work.max(0.0);
        blow.strike(self, model, state)
    }

    fn search_bytes(&self) -> usize {
        self.contact_set.world.search.memory_bytes()
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.contact_set.world.impulses)
    }

    fn save(&self, record: &mut Record) {
        self.control.save("semi", record);
        self.nodes.save("semi", record);
        self.contact_set.save("semi", record);
        record.numbers("semi.put_in", &[self.put_in]);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.control.restore("semi", record)?;
        self.nodes.restore("semi", record)?;
        self.contact_set.restore("semi", record)?;
        [self.put_in] = record.read_values("semi.put_in")?;
        self.ready = false;
        Ok(())
    }
}
