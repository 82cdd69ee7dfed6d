//! Rounds of augmentation (Uzawa): a step is solved again with the tractions of the last time as multipliers, until contacts are tight; tractions of points that
//! stay in contact are the multipliers that the next step begins with, so that what rests neither sinks nor creeps.

use super::equations::{Inside, Work};
use super::multipliers::{Met, States, Status};
use super::rebound::Swing;
use super::traction::{Contact, Last, Multiplier, Rebound};
use super::{StepError, VelocityUpdate};
use crate::model::{Ledger, Model, State};
use crate::solve::newton::{Leap, Outcome, Trouble};
use std::sync::atomic::AtomicBool;

/// Overlap and way of a step at which augmentation is done, of an edge.
pub(super) const TIGHT: f64 = 1e-10;
/// In rounds of augmentation factors are kept while increments shrink to this share.
const KEEP: f64 = 0.2;
/// A point that parts faster than this share of what its pressure gives in a step takes no multiplier along into the next.
const PARTING: f64 = 0.25;

impl VelocityUpdate {
    /// The balance of a step, with the multipliers of the step before and as many rounds of augmentation as are asked for.
    pub(super) fn solve(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Inside, Trouble<StepError>> {
        if let Some(inside) = self.at_once(model, state, leap, ledger, stop)? {
            return Ok(inside);
        }
        self.work.multipliers.copy_from_slice(&self.carried);
        self.work.rebound.fill(Rebound::default());
        let mut inside = match self.converge(model, state, leap, ledger, stop) {
            Err(Trouble::Again(_)) if leap.last && self.carried.iter().any(|m| m.normal > 0.0) => {
                self.work.multipliers.fill(Multiplier::default());
                self.converge(model, state, leap, ledger, stop)?
            }
            done => done?,
        };
        // with new factors rounds are dear: half of what whole increments may take
        for _ in 0..self.options.augmentation.div_ceil(2) {
            let good = (state.x.clone(), self.work.multipliers.clone());
            if !self.augment(model, leap) {
                break;
            }
            match self.newton_from(model, state, leap, ledger, stop, (States::Free, KEEP)) {
                Ok(found) => inside = found,
                Err(Outcome::Stopped) => return Err(Trouble::Stopped),
                Err(_) => {
                    // the last round that converged is the answer
                    (state.x, self.work.multipliers) = good;
                    self.counts.loose += 1;
                    inside = self
                        .newton_from(model, state, leap, ledger, stop, (States::Free, 0.0))
                        .map_err(|outcome| self.refused(model, state, leap, outcome))?;
                    break;
                }
            }
        }
        Ok(inside)
    }

    /// Positions and multipliers at once, by whole increments; none where that finds no end.
    fn at_once(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Option<Inside>, Trouble<StepError>> {
        let rounds = self.options.augmentation;
        let states = States::Kept { rounds, left: rounds };
        self.work.multipliers.copy_from_slice(&self.carried);
        self.work.status.fill(Status::Open);
        self.work.met.fill(Met::default());
        self.work.rebound.fill(Rebound::default());
        self.work.swing.fill(Swing::default());
        for (last, carried) in self.work.last.iter_mut().zip(&self.carried) {
            *last = if carried.normal > 0.0 { Last::Carried(*carried) } else { Last::Open };
        }
        self.start_from(model, state, leap, (1.0, &self.outset));
        let done = self.newton_from(model, state, leap, ledger, stop, (states, 0.0));
        self.work.last.fill(Last::Forgotten);
        self.work.met.fill(Met::default());
        match done {
            Ok(inside) => Ok(Some(inside)),
            Err(Outcome::Stopped) => Err(Trouble::Stopped),
            Err(_) => Ok(None),
        }
    }

    /// Takes the tractions as multipliers; false if contacts are tight already and friction knows the impulses at the end of the step.
    fn augment(&mut self, model: &Model, leap: Leap) -> bool {
        let h = leap.length;
        let known = self.work.knows_rebound(model, &self.world, (h, leap.end));
        if !known {
            self.work.take_up_rebound(model, &self.world, (h, leap.end));
        }
        self.work.multipliers.fill(Multiplier::default());
        for contact in &self.work.contacts {
            self.work.multipliers[contact.point as usize] = contact.next_multiplier();
        }
        let against = |c: &Contact| c.slips && c.shear_power() < 0.0;
        !known || self.work.loose(h) > TIGHT * self.world.finest || self.work.contacts.iter().any(against)
    }

    /// Tractions of points that stay in contact are the multipliers of the next step: what rests under load neither sinks nor creeps. Their nodes
    /// are looked for where the way of this step would take them again. The velocity of a node that is held alternates, `v⁺ = 2Δd/Δt − v`, and would
    /// open every second time what is closed.
    pub(super) fn carry(&mut self, state: &State, h: f64) {
        self.carried.fill(Multiplier::default());
        self.outset.copy_from_slice(&state.v);
        if self.options.augmentation == 0 {
            return;
        }
        let soft = self.work.points.soft;
        for contact in &self.work.contacts {
            let (mut parting, mut push) = (0.0, 0.0);
            let nodes = &contact.end.nodes[..contact.end.count];
            for (r, &k) in contact.normal_shape().iter().zip(nodes) {
                parting += r.dot(&self.velocity[k as usize]);
                push += if (k as usize) < soft {
                    h * self.world.inertia.inverse[k as usize] * r.norm_squared()
                } else {
                    0.0
                };
            }
            if parting <= PARTING * push {
                self.carried[contact.point as usize] = contact.next_multiplier();
                for k in nodes.iter().map(|&k| k as usize).filter(|&k| k < soft) {
                    self.outset[k] = (state.x[k] - self.work.x[k]) / h;
                }
            }
        }
    }
}

impl Work {
    /// Overlap of new contacts, way of the step of others, and slip of those that stick, the largest [m].
    pub(super) fn loose(&self, h: f64) -> f64 {
        self.contacts.iter().fold(0.0, |loose: f64, contact| {
            let along = if contact.slips { 0.0 } else { h * contact.slip_speed() };
            loose.max(contact.normal_error()).max(along)
        })
    }
}
