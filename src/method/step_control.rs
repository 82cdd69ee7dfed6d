//! How long the steps of a method are, and when that is measured again.
//!
//! Pressed elements stiffen. Measuring the stable step costs as much as several steps, so an automatic step is measured
//! every few steps, and at once when an alarm says that some element cannot be what it was.
//!
//! Symplectic Euler is stable while `ω²Δt² + 2cΔt < 4` with mass-proportional damping c; methods that take damping implicitly
//! leave c at zero.
//!
//! Used by every method with one step for all nodes.

use crate::model::forces::Totals;
use crate::model::record::{Record, RecordError};
use crate::model::{Model, State};

/// An instant counts as met this share of a step early.
pub(super) const EARLY: f64 = 1e-9;
/// A change of the stable step that counts.
const CHANGED: f64 = 0.02;
/// A longer step is taken up only when it is worth the break in the rhythm.
const WORTH_IT: f64 = 1.1;
/// A patch whose strain energy has grown by this factor beyond the largest of the last measurement asks for the next
/// at once: an element cannot stiffen without storing energy.
const GROWN: f64 = 1.5;
/// Strain energy below this share of the whole is round-off, and says nothing about stiffness.
const ROUND_OFF: f64 = 1e-12;
/// Share of its volume at the last measurement below which the fullest pressed element asks for the next.
const PRESSED: f64 = 0.95;

/// How long a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepRule {
    /// Always this long [s].
    Fixed(f64),
    /// This share of the largest stable step, following the deformation.
    Automatic { safety: f64 },
}

/// What asks for a measurement out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The largest strain energy of a patch has grown.
    Energy,
    /// The smallest det F has fallen.
    Volume,
}

pub(crate) struct StepControl {
    rule: StepRule,
    alarm: Alarm,
    /// Fewest and most steps between two measurements. The count doubles while the stable step hardly changes, and starts
    /// again when it does.
    range: (u64, u64),
    /// Largest damping of a body that counts [1/s].
    damping: f64,
    /// Length of the next step [s].
    pub dt: f64,
    /// Time and count at which steps of the present length began: time = t₀ + (n − n₀)Δt, never added up.
    base: (f64, u64),
    /// The step that measures, and how many steps lie between two.
    due: u64,
    every: u64,
    /// What the last measurement found: share of the stable step [s], largest strain energy of a patch [J], smallest det F.
    stable: f64,
    energy: f64,
    det_f: f64,
}

impl StepControl {
    /// For a scheme that is stable whatever the damping; between 5 and 160 steps from one measurement to the next.
    pub(crate) fn new(rule: StepRule) -> StepControl {
        StepControl {
            rule,
            alarm: Alarm::Energy,
            range: (5, 160),
            damping: 0.0,
            dt: 0.0,
            base: (0.0, 0),
            due: 0,
            every: 5,
            stable: 0.0,
            energy: 0.0,
            det_f: 1.0,
        }
    }

    /// For a scheme that takes damping explicitly; 20 steps from one measurement to the next.
    pub(crate) fn with_damping(model: &Model, rule: StepRule) -> StepControl {
        let damping = model.bodies.iter().fold(0.0, |c: f64, b| c.max(b.damping));
        StepControl { alarm: Alarm::Volume, range: (20, 20), every: 20, damping, ..StepControl::new(rule) }
    }

    /// Largest stable step [s], from that without damping.
    pub(crate) fn stable(&self, undamped: f64) -> f64 {
        let zeta = 0.25 * self.damping * undamped;
        if zeta == 0.0 { undamped } else { undamped * ((1.0 + zeta * zeta).sqrt() - zeta) }
    }

    /// Takes up the first step.
    pub(crate) fn start(&mut self, state: &State, totals: &Totals) {
        self.dt = match self.rule {
            StepRule::Fixed(dt) => dt,
            StepRule::Automatic { safety } => safety * self.stable(totals.step),
        };
        self.every = self.range.0;
        (self.base, self.due) = ((state.time, state.step), state.step + self.every);
        (self.stable, self.energy, self.det_f) = (self.dt, totals.patch_energy, totals.det_f);
    }

    /// Does the step that begins with `state` measure?
    pub(crate) fn measures(&self, state: &State) -> bool {
        matches!(self.rule, StepRule::Automatic { .. }) && state.step + 1 >= self.due
    }

    /// From here on steps are this long [s], until an automatic rule measures another.
    pub(crate) fn set_step(&mut self, state: &State, dt: f64) {
        (self.dt, self.base) = (dt, (state.time, state.step));
    }

    /// Time at the end of the step that begins with `state`.
    pub(crate) fn end_of_step(&self, state: &State) -> f64 {
        self.base.0 + (state.step + 1 - self.base.1) as f64 * self.dt
    }

    /// After a step to `state`, with what was found at its end and the energy that `was_there` [J]: how long is the next?
    pub(crate) fn follow(&mut self, state: &State, totals: &Totals, measured: bool, was_there: f64) {
        let StepRule::Automatic { safety } = self.rule else { return };
        if !measured {
            let alarm = match self.alarm {
                Alarm::Energy => totals.patch_energy > GROWN * self.energy.max(ROUND_OFF * was_there),
                Alarm::Volume => totals.det_f < PRESSED * self.det_f,
            };
            self.due = if alarm { state.step + 1 } else { self.due };
            return;
        }
        let stable = safety * self.stable(totals.step);
        let steady = (stable - self.stable).abs() < CHANGED * self.stable;
        let (fewest, most) = self.range;
        self.every = if steady { (2 * self.every).min(most) } else { fewest };
        self.due = state.step + self.every;
        (self.stable, self.energy, self.det_f) = (stable, totals.patch_energy, totals.det_f);
        if stable < self.dt || stable > WORTH_IT * self.dt {
            (self.dt, self.base) = (stable, (state.time, state.step));
        }
    }

    pub(crate) fn save(&self, method: &str, record: &mut Record) {
        let numbers = [self.dt, self.base.0, self.stable, self.energy, self.det_f];
        record.numbers(&format!("{method}.step"), &numbers);
        record.counts(&format!("{method}.counts"), &[self.base.1, self.due, self.every]);
    }

    pub(crate) fn restore(&mut self, method: &str, record: &Record) -> Result<(), RecordError> {
        let [dt, begin, stable, energy, det_f] = record.read_values(&format!("{method}.step"))?;
        let [count, due, every] = record.read_counts(&format!("{method}.counts"))?;
        let ([step], time) = (record.read_counts("state.step")?, record.get("state.time")?);
        // time is t₀ + (n − n₀)Δt, and steps lead on
        let leads_on = |time: f64| {
            let counted = begin + step.wrapping_sub(count) as f64 * dt;
            count <= step && dt.is_finite() && time + dt > time && (counted - time).abs() <= dt
        };
        if !time.iter().all(|time| leads_on(*time)) {
            return Err(RecordError::Meaningless(format!("{method}.step")));
        }
        let every = every.min(self.range.1);
        (self.dt, self.base, self.due, self.every) = (dt, (begin, count), due, every);
        (self.stable, self.energy, self.det_f) = (stable, energy, det_f);
        Ok(())
    }
}
