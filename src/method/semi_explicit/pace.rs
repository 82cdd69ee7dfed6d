//! How long the steps of `semi-explicit` are.
//!
//! Symplectic Euler is stable while `ω²Δt² + 2cΔt < 4` with mass-proportional damping c. Pressed elements stiffen, so an
//! automatic step looks again every few steps, and at once when some element has lost volume.

use super::super::newmark::StepRule;
use crate::model::forces::Totals;
use crate::model::record::{Record, RecordError};
use crate::model::{Model, State};

/// Steps between two measurements.
const EVERY: u64 = 20;
/// Share of its volume at the last measurement below which the fullest pressed element asks for the next.
const PRESSED: f64 = 0.95;
/// A longer step is taken up only when it is worth the break in the rhythm.
const WORTH_IT: f64 = 1.1;

pub struct Pace {
    rule: StepRule,
    pub dt: f64,
    /// Time and count at which steps of the present length began: time = t₀ + (n − n₀)Δt, never added up.
    base: (f64, u64),
    /// The step that measures.
    due: u64,
    /// Smallest det F at the last measurement.
    det_f: f64,
    /// Largest damping of a body [1/s].
    damping: f64,
}

impl Pace {
    pub fn new(model: &Model, rule: StepRule) -> Pace {
        let damping = model.bodies.iter().fold(0.0, |c: f64, b| c.max(b.damping));
        Pace { rule, dt: 0.0, base: (0.0, 0), due: 0, det_f: 1.0, damping }
    }

    /// Largest stable step [s], from that without damping.
    pub fn stable(&self, undamped: f64) -> f64 {
        let zeta = 0.25 * self.damping * undamped;
        if zeta == 0.0 { undamped } else { undamped * ((1.0 + zeta * zeta).sqrt() - zeta) }
    }

    pub fn start(&mut self, state: &State, totals: &Totals) {
        self.dt = match self.rule {
            StepRule::Fixed(dt) => dt,
            StepRule::Automatic { safety } => safety * self.stable(totals.step),
        };
        (self.base, self.due, self.det_f) = ((state.time, state.step), state.step + EVERY, totals.det_f);
    }

    /// Does the step that begins with `state` measure?
    pub fn measures(&self, state: &State) -> bool {
        matches!(self.rule, StepRule::Automatic { .. }) && state.step + 1 >= self.due
    }

    /// Time at the end of the step that begins with `state`.
    pub fn end_of_step(&self, state: &State) -> f64 {
        self.base.0 + (state.step + 1 - self.base.1) as f64 * self.dt
    }

    /// After a step, with what was found at its end: how long is the next?
    pub fn follow(&mut self, state: &State, totals: &Totals, measured: bool) {
        let StepRule::Automatic { safety } = self.rule else { return };
        if !measured {
            if totals.det_f < PRESSED * self.det_f {
                self.due = state.step + 1;
            }
            return;
        }
        (self.due, self.det_f) = (state.step + EVERY, totals.det_f);
        let stable = safety * self.stable(totals.step);
        if stable < self.dt || stable > WORTH_IT * self.dt {
            (self.dt, self.base) = (stable, (state.time, state.step));
        }
    }

    pub fn save(&self, name: &str, record: &mut Record) {
        record.numbers(&format!("{name}.step"), &[self.dt, self.base.0, self.det_f]);
        record.counts(&format!("{name}.counts"), &[self.base.1, self.due]);
    }

    pub fn restore(&mut self, name: &str, record: &Record) -> Result<(), RecordError> {
        let mut step = [0.0; 3];
        record.read_numbers(&format!("{name}.step"), &mut step)?;
        let [count, due] = record.read_counts(&format!("{name}.counts"))?;
        (self.dt, self.base, self.due, self.det_f) = (step[0], (step[1], count), due, step[2]);
        Ok(())
    }
}
