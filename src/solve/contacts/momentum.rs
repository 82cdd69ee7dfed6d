//! Momentum of sweeps: forces go on in the direction in which the last sweeps moved them.
//!
//! A sweep takes forces r to S(r). Contacts that say nearly the same, or contradict each other a little (a node wedged between faces that
//! differ by a degree), move by the same small amount in thousands of sweeps, until one of them opens. So sweep k + 1 begins beyond
//! the forces that sweep k has found (Nesterov 1983):
//!
//! ```text
//! y = rₖ + β (rₖ − rₖ₋₁)      rₖ₊₁ = S(y)      β = (t − 1)/t⁺      t⁺ = (1 + √(1 + 4t²))/2,   t = 1 at first
//! ```
//!
//! Where a sweep goes against the way that forces have come, `Σ w (rₖ₊₁ − y)·(rₖ₊₁ − rₖ) < 0`, they have gone too far: t is 1
//! again and the next sweep has no momentum (O'Donoghue & Candès 2015). Velocities are linear in forces and follow with the same β. What a sweep leaves obeys the
//! law at each contact as it was solved, whatever y was, so the measure of the end stays what it is.

use super::sweep::{Row, Shared};

/// How far forces go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Momentum {
    t: f64,
    /// Some sweep began beyond what the one before it had found.
    pub used: bool,
}

impl Momentum {
    pub(super) const NONE: Momentum = Momentum { t: 1.0, used: false };

    /// β after a sweep that went `along` the way forces had come.
    pub(super) fn next(&mut self, along: f64) -> f64 {
        // not `along < 0`: what is no number has no direction
        let forward = along >= 0.0;
        let t = if forward { self.t } else { 1.0 };
        self.t = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        let beta = (t - 1.0) / self.t;
        self.used |= beta > 0.0;
        beta
    }
}

impl Row {
    /// From what a sweep has found to where the next one begins.
    #[inline(always)]
    pub(super) fn go_on(&mut self, beta: f64) {
        let found = self.r;
        self.r += beta * (found - self.found);
        self.found = found;
    }
}

impl Shared {
    /// The same of a velocity; `found` is what the sweep before has found.
    #[inline(always)]
    pub(super) fn go_on(&self, beta: f64, found: &Shared) {
        let now = self.get();
        self.set(&(now + beta * (now - found.get())));
        found.set(&now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t = 1, φ, (1 + √(1 + 4φ²))/2 …: β = 0, (φ − 1)/2.1935, and 0 again after a turn.
    #[test]
    fn momentum_grows_and_begins_anew_after_a_turn() {
        let mut momentum = Momentum::NONE;
        let golden = 0.5 * (1.0 + 5f64.sqrt());
        let third = 0.5 * (1.0 + (1.0 + 4.0 * golden * golden).sqrt());
        assert_eq!(momentum.next(1.0), 0.0);
        assert!(!momentum.used);
        assert!((momentum.next(1.0) - (golden - 1.0) / third).abs() < 1e-15);
        assert!(momentum.used);
        assert_eq!((momentum.next(-1.0), momentum.next(f64::NAN)), (0.0, 0.0));
        let many = (0..1000).fold(0.0, |_, _| momentum.next(0.0));
        assert!(many > 0.99 && many < 1.0, "{many}");
    }
}
