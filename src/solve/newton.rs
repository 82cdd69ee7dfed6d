//! Newton's method with a line search, for the equations of one step; and steps in halves where it fails.
//!
//! ```text
//! K δ = R(x)      x ← x + s δ,   s = 1, ½, ¼ … until ‖R(x + sδ)‖ ≤ (1 − 10⁻⁴ s) ‖R(x)‖
//! ```
//!
//! An iterate without a residual (an element inside out) is too far. Where no share brings the residual down the best one is
//! taken, and now and then the whole increment: active sets that change make residuals that are not smooth.
//!
//! Problems whose states go along from iterate to iterate take increments **whole** ([`Newton::run_whole`]): residuals may grow while states
//! find each other, and where they do not the problem is stuck.
//!
//! **Done** is when what is left of the balance of forces is below `residual_tol` of their size and the last increment below
//! `increment_tol` of the finest edge; or when the residual is its own round-off, which the problem knows: forces that vanish have no
//! size to compare with. The **energy** of an increment, `δ·R`, is kept in the history; a whole increment whose energy is
//! below round-off of the first one's cannot change anything any more.

use super::sparse::FactorError;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The balance of forces at an iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// What is left [N].
    pub force: f64,
    /// Size of the forces that are to balance [N].
    pub scale: f64,
    /// What round-off leaves at best [N].
    pub floor: f64,
}

/// A way to a better iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Increment {
    /// Its largest component [m].
    pub size: f64,
    /// `δ·R` [J].
    pub energy: f64,
    /// The residual it starts from [N]: that of the iterate, with forces of contact that may have changed since.
    pub force: f64,
}

/// The equations of a step.
pub trait Problem {
    /// The balance at the present iterate, none where it does not exist.
    fn residual(&mut self) -> Option<Residual>;
    /// The increment that would remove the last residual, with new factors if `renew`.
    fn increment(&mut self, renew: bool) -> Result<Increment, FactorError>;
    /// Moves the iterate by a share of the last increment.
    fn add_increment(&mut self, share: f64);
    /// The iterate is more than balanced: states that go along agree with it.
    fn settled(&mut self) -> bool {
        true
    }
    /// There are factors of a step before that may do.
    fn factored(&self) -> bool {
        false
    }
}

/// When an iteration ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Iterations at most.
    pub iterations: u32,
    /// Residual, of the size of forces.
    pub residual_tol: f64,
    /// Increment [m].
    pub increment_tol: f64,
    /// Factors are kept while an increment is not longer than this share of the one before; zero is Newton's method as it
    /// stands.
    pub keep: f64,
}

/// Share of an increment below which it is not shortened any more.
const MIN_STEP_LENGTH: f64 = 1.0 / 1024.0;
/// The same where increments are taken whole.
const MIN_WHOLE: f64 = 1.0 / 16.0;
/// Decrease that a share of an increment must bring (Armijo).
const DECREASE: f64 = 1e-4;
/// Every so many times that no share helps, the whole increment is taken.
const WHOLE: u32 = 7;
/// A residual below this share of another is smaller: those of an iteration that goes round in circles differ by their last digits.
const LESS: f64 = 0.9;
/// Residuals within this factor of their round-off are round-off.
const ROUND_OFF: f64 = 1.0;

/// One iteration, for those who want to see how it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Iteration {
    /// Before it.
    pub residual: Residual,
    pub increment: Increment,
    /// Share of the increment that was taken.
    pub share: f64,
    /// With new factors.
    pub renewed: bool,
    /// The first one of a solution.
    pub first: bool,
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Converged,
    /// The stop was raised.
    Stopped,
    Stuck(Stuck),
}

/// Why an iteration did not converge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stuck {
    /// The residual does not go away.
    Residual(Residual),
    /// No share of an increment leaves all elements whole.
    Inverted,
    Factors(FactorError),
}

/// The iteration, and how it went in the last step.
#[derive(Clone, Debug, Default)]
pub struct Newton {
    /// Of all solutions since [`Newton::begin`]: a step may take several, with other starts, halves or multipliers.
    pub history: Vec<Iteration>,
    /// Where in it the last solution begins.
    first: usize,
    /// Of the last iterate.
    pub last: Residual,
    /// Iterations and factorisations altogether.
    pub iterations: u64,
    pub factorisations: u64,
}

impl Newton {
    /// Forgets how the last step went.
    pub fn begin(&mut self) {
        self.history.clear();
    }

    /// Iterates from where the problem stands.
    pub fn run(&mut self, problem: &mut impl Problem, limits: &Limits, stop: &AtomicBool) -> Outcome {
        self.first = self.history.len();
        let Some(mut residual) = problem.residual() else {
            return Outcome::Stuck(Stuck::Inverted);
        };
        let (mut renew, mut before, mut stalls) = (!problem.factored(), f64::INFINITY, 0);
        for _ in 0..limits.iterations {
            if stop.load(Ordering::Relaxed) {
                return Outcome::Stopped;
            }
            self.iterations += 1;
            self.factorisations += u64::from(renew);
            let increment = match problem.increment(renew) {
                Ok(increment) if increment.size.is_finite() => increment,
                Ok(_) => return Outcome::Stuck(Stuck::Factors(FactorError::Singular)),
                Err(error) => return Outcome::Stuck(Stuck::Factors(error)),
            };
            let Some((share, found)) = search(problem, &increment, limits, &mut stalls) else {
                return Outcome::Stuck(Stuck::Inverted);
            };
            let first = self.history.len() == self.first;
            self.history.push(Iteration { residual, increment, share, renewed: renew, first });
            (residual, self.last) = (found, found);
            let moved = share * increment.size;
            let balanced = residual.force <= limits.residual_tol * residual.scale;
            let round_off = residual.force <= ROUND_OFF * residual.floor;
            if (balanced || round_off) && moved <= limits.increment_tol
                || (round_off && share == 1.0 && self.spent())
            {
                return Outcome::Converged;
            }
            // with `keep` zero always, also after the first increment, which has none before it
            renew = share < 1.0 || limits.keep == 0.0 || moved > limits.keep * before;
            before = moved;
        }
        Outcome::Stuck(Stuck::Residual(residual))
    }

    /// Iterates by whole increments, for problems whose states go along; stuck when none of `patience` in a row has brought the
    /// smallest residual so far, and by a tenth.
    pub fn run_whole(
        &mut self,
        problem: &mut impl Problem,
        limits: &Limits,
        patience: u32,
        stop: &AtomicBool,
    ) -> Outcome {
        self.first = self.history.len();
        let Some(mut residual) = problem.residual() else {
            return Outcome::Stuck(Stuck::Inverted);
        };
        let (mut least, mut since) = (f64::INFINITY, 0);
        for _ in 0..limits.iterations {
            if stop.load(Ordering::Relaxed) {
                return Outcome::Stopped;
            }
            self.iterations += 1;
            self.factorisations += 1;
            let increment = match problem.increment(true) {
                Ok(increment) if increment.size.is_finite() => increment,
                Ok(_) => return Outcome::Stuck(Stuck::Factors(FactorError::Singular)),
                Err(error) => return Outcome::Stuck(Stuck::Factors(error)),
            };
            let Some((share, found)) = whole_if_possible(problem) else {
                return Outcome::Stuck(Stuck::Inverted);
            };
            let first = self.history.len() == self.first;
            self.history.push(Iteration { residual, increment, share, renewed: true, first });
            (residual, self.last) = (found, found);
            let small = f64::max(limits.residual_tol * found.scale, ROUND_OFF * found.floor);
            if found.force <= small && increment.size <= limits.increment_tol && problem.settled() {
                return Outcome::Converged;
            }
            if found.force < LESS * least {
                (least, since) = (found.force, 0);
            } else {
                since += 1;
            }
            if since >= patience {
                break;
            }
        }
        Outcome::Stuck(Stuck::Residual(residual))
    }

    /// The last increment had no energy beside the first.
    fn spent(&self) -> bool {
        let energy = |i: &Iteration| i.increment.energy.abs();
        match (self.history.get(self.first), self.history.last()) {
            (Some(first), Some(last)) => energy(last) <= f64::EPSILON * energy(first),
            _ => false,
        }
    }
}

/// Takes the increment, or the largest half, quarter … of it that leaves a residual at all.
fn whole_if_possible(problem: &mut impl Problem) -> Option<(f64, Residual)> {
    let (mut share, mut gone) = (1.0, 0.0);
    while share >= MIN_WHOLE {
        problem.add_increment(share - gone);
        gone = share;
        if let Some(found) = problem.residual() {
            return Some((share, found));
        }
        share *= 0.5;
    }
    None
}

/// Takes a share of the increment that brings the residual down; none if none leaves a residual at all.
fn search(
    problem: &mut impl Problem,
    increment: &Increment,
    limits: &Limits,
    stalls: &mut u32,
) -> Option<(f64, Residual)> {
    let (mut share, mut gone) = (1.0, 0.0);
    let mut best: Option<(f64, Residual)> = None;
    while share >= MIN_STEP_LENGTH {
        problem.add_increment(share - gone);
        gone = share;
        if let Some(found) = problem.residual() {
            let small = found.force <= f64::max(limits.residual_tol * found.scale, ROUND_OFF * found.floor);
            if small || found.force <= (1.0 - DECREASE * share) * increment.force {
                return Some((share, found));
            }
            if best.is_none_or(|b| found.force < b.1.force) {
                best = Some((share, found));
            }
        }
        share *= 0.5;
    }
    let (mut share, _) = best?;
    *stalls += 1;
    if stalls.is_multiple_of(WHOLE) {
        share = 1.0;
    }
    problem.add_increment(share - gone);
    match problem.residual() {
        Some(found) => Some((share, found)),
        None => {
            problem.add_increment(best?.0 - share);
            problem.residual().map(|found| (best.map_or(0.0, |b| b.0), found))
        }
    }
}

impl fmt::Display for Newton {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "iteration  residual [N]  of forces  increment [m]  energy [J]  share")?;
        for (k, i) in self.history.iter().enumerate() {
            let (r, d) = (i.residual, i.increment);
            let of = r.force / r.scale.max(f64::MIN_POSITIVE);
            let new = if i.renewed { "" } else { "  old factors" };
            let again = if i.first && k > 0 { "  solved again" } else { "" };
            writeln!(
                f,
                "{k:9}  {:12.4e}  {of:9.2e}  {:13.4e}  {:10.2e}  {:5.3}{new}{again}",
                r.force, d.size, d.energy, i.share
            )?;
        }
        let r = self.last;
        write!(f, "     left  {:12.4e}  {:9.2e}", r.force, r.force / r.scale.max(f64::MIN_POSITIVE))
    }
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leap {
    /// Its length and its end [s].
    pub length: f64,
    pub end: f64,
    /// How often the step was halved for it, and whether it may be halved again.
    pub depth: u32,
    pub last: bool,
}

/// Why a part of a step was not done.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble<E> {
    /// Shorter parts may help.
    Again(E),
    /// They would not.
    Error(E),
    /// The stop was raised.
    Stopped,
}

/// Does a step by `attempt`, in halves where it fails and asks for that, `depth` times at most. What an attempt that fails has
/// done it takes back itself.
pub fn in_halves<E>(
    length: f64,
    end: f64,
    depth: u32,
    attempt: &mut impl FnMut(Leap) -> Result<(), Trouble<E>>,
) -> Result<(), Trouble<E>> {
    // parts that are still to do, the next one last
    let mut left = vec![Leap { length, end, depth: 0, last: depth == 0 }];
    while let Some(part) = left.pop() {
        match attempt(part) {
            Err(Trouble::Again(_)) if !part.last => {
                let half = Leap {
                    length: 0.5 * part.length,
                    end: part.end,
                    depth: part.depth + 1,
                    last: part.depth + 1 >= depth,
                };
                left.push(half);
                left.push(Leap { end: part.end - half.length, ..half });
            }
            Err(Trouble::Again(error)) => return Err(Trouble::Error(error)),
            done => done?,
        }
    }
    Ok(())
}
