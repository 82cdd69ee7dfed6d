//! `carom run --residuals`: how Newton's method went in single steps, iteration by iteration.

use carom::run::{Look, Observer, ObserverError};
use std::io::{self, Write};

pub struct Residuals {
    /// Times that are still to come, the next one last [s].
    times: Vec<f64>,
}

impl Residuals {
    pub fn new(times: &[f64]) -> Residuals {
        let mut times = times.to_vec();
        times.sort_by(|a, b| b.total_cmp(a));
        times.dedup();
        Residuals { times }
    }
}

impl Observer for Residuals {
    fn next(&self) -> f64 {
        self.times.last().copied().unwrap_or(f64::INFINITY)
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let (state, ledger) = (look.state, look.ledger);
        while self.times.pop_if(|t| *t <= state.time).is_some() {}
        let Some(newton) = look.case.method.newton() else { return Ok(()) };
        // a reader who has closed his end wants no more
        let _ = writeln!(
            io::stdout(),
            "step {} to t = {:.4e} s, {} contacts\n{newton}",
            state.step,
            state.time,
            ledger.contacts
        );
        Ok(())
    }
}
