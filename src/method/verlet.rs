//! Velocity Verlet, which is explicit Newmark with β = 0, γ = ½: the two halves of `newmark` and nothing between them.

use super::newmark::{EARLY, Newmark};
use super::{Method, Reached, StepError};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use super::newmark::StepRule;

pub struct Verlet {
    newmark: Newmark,
}

impl Verlet {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule) -> Self {
        Verlet { newmark: Newmark::new(model, rule) }
    }

    /// Bytes the method itself holds.
    pub fn bytes(&self) -> usize {
        self.newmark.bytes()
    }

    fn step(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let begin = Instant::now();
        let (dt, t1) = (self.newmark.dt, self.newmark.end_of_step(state));
        self.newmark.predict(model, state);
        let moved = Instant::now();
        let totals = match self.newmark.evaluate(model, state, t1) {
            Ok(totals) => totals,
            Err(error) => {
                state.x.iter_mut().zip(&state.v).for_each(|(x, v)| *x -= dt * v);
                self.newmark.retreat(&mut state.v);
                return Err(error);
            }
        };
        let forced = Instant::now();
        self.newmark.correct(model, state, t1, None, ledger);
        self.newmark.finish(model, state, t1, &totals, ledger);
        ledger.phases.force += (forced - moved).as_secs_f64();
        ledger.phases.solve += ((moved - begin) + forced.elapsed()).as_secs_f64();
        Ok(())
    }
}

impl Method for Verlet {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        self.newmark.start(model, state, ledger)
    }

    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        until: f64,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        while state.time < until - EARLY * self.newmark.dt {
            if stop.load(Ordering::Relaxed) {
                return Ok(Reached::Stopped);
            }
            self.step(model, state, ledger)?;
        }
        Ok(Reached::Until)
    }

    fn next_step(&self) -> f64 {
        self.newmark.dt
    }

    fn synchronise(&self, _: &Model, state: &State, out: &mut State) {
        out.clone_from(state);
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.newmark.support_impulse(held)
    }

    fn save(&self, record: &mut Record) {
        self.newmark.save("verlet", record);
    }

    fn restore(&mut self, model: &Model, record: &Record) -> Result<(), RecordError> {
        self.newmark.restore(model, "verlet", record)
    }
}
