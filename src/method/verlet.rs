//! Velocity Verlet, which is explicit Newmark with β = 0, γ = ½: the two halves of `newmark` and nothing between them.

use super::newmark::Newmark;
use super::{Method, Reached, StepError, Watch};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use carom_declare::section;
use std::sync::atomic::AtomicBool;

pub use super::newmark::Supports;
pub use super::step_control::StepRule;

section! {
    /// Switches of method "verlet".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "verlet" {
        /// How supports are kept; "rattle" without contact only.
        supports: Supports;
    }
}

impl Options {
    /// With contact impacts come between the kicks, and know supports by their projectors alone.
    pub(crate) fn takes_contact(&self) -> bool {
        self.supports == Supports::Projection
    }
}

pub struct Verlet {
    newmark: Newmark,
}

impl Verlet {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule) -> Self {
        Verlet::with(model, rule, Options::default())
    }

    pub fn with(model: &Model, rule: StepRule, options: Options) -> Self {
        Verlet { newmark: Newmark::new(model, rule).with_supports(options.supports) }
    }

    /// Bytes the method itself holds.
    pub fn bytes(&self) -> usize {
        self.newmark.bytes()
    }
}

impl Method for Verlet {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        self.newmark.start(model, state, ledger)
    }

    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        _: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let mut watch = Watch::start();
        let (dt, t1) = (self.newmark.dt(), self.newmark.end_of_step(state));
        self.newmark.predict(model, state);
        watch.add(&mut ledger.phases.solve);
        let totals = match self.newmark.evaluate(model, state, t1) {
            Ok(totals) => totals,
            Err(error) => {
                state.x.iter_mut().zip(&state.v).for_each(|(x, v)| *x -= dt * v);
                self.newmark.retreat(&mut state.v);
                return Err(error);
            }
        };
        watch.add(&mut ledger.phases.force);
        self.newmark.correct(model, state, t1, None, ledger);
        self.newmark.finish(model, state, t1, &totals, ledger);
        watch.add(&mut ledger.phases.solve);
        Ok(Reached::Until)
    }

    fn next_step(&self) -> f64 {
        self.newmark.dt()
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.newmark.support_impulse(held)
    }

    fn save(&self, record: &mut Record) {
        self.newmark.save("verlet", record);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.newmark.restore("verlet", record)
    }
}
