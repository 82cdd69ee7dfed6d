//! Time as a whole number of ticks, so that ties are ties and nothing drifts.
//!
//! With classes the smallest step has 2¹⁰ ticks and every other a power of two of them; free steps are cut to ticks of
//! 2⁻²⁰ of the smallest. Differences of ticks are exact as numbers below 2⁵³.

/// Ticks of the smallest step: of classes, of free steps.
pub(crate) const TICKS_OF_CLASSES: u64 = 1 << 10;
pub(crate) const TICKS_OF_FREE_STEPS: u64 = 1 << 20;
/// An instant counts as met this share of a tick early.
const EARLY: f64 = 1e-6;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    /// Time of tick zero [s].
    pub begin: f64,
    /// Length of a tick [s].
    pub tick: f64,
}

impl Clock {
    pub(crate) fn time(&self, tick: u64) -> f64 {
        self.begin + tick as f64 * self.tick
    }

    /// Time from one tick to a later one [s].
    #[inline]
    pub(crate) fn between(&self, from: u64, to: u64) -> f64 {
        (to - from) as f64 * self.tick
    }

    /// First tick at or after a time.
    pub(crate) fn at_or_after(&self, time: f64) -> u64 {
        ((time - self.begin) / self.tick - EARLY).ceil().max(0.0) as u64
    }

    /// Whole ticks in a length of time, at least one.
    pub(crate) fn ticks_in(&self, length: f64) -> u64 {
        (length / self.tick).floor().clamp(1.0, 9e15) as u64
    }
}
