//! Newton's method on one unknown, and steps in halves.

use carom::solve::newton::*;
use carom::solve::sparse::FactorError;
use std::sync::atomic::AtomicBool;

/// `f(x) = 0` of one number.
struct Scalar<F, G> {
    x: f64,
    f: F,
    slope: G,
    floor: f64,
    now: f64,
    step: f64,
}

impl<F: Fn(f64) -> Option<f64>, G: Fn(f64) -> f64> Problem for Scalar<F, G> {
    fn residual(&mut self) -> Option<Residual> {
        self.now = (self.f)(self.x)?;
        Some(Residual { force: self.now.abs(), scale: 1.0, floor: self.floor })
    }
    fn increment(&mut self, _: bool) -> Result<Increment, FactorError> {
        self.step = -self.now / (self.slope)(self.x);
        Ok(Increment { size: self.step.abs(), energy: self.step * self.now, force: self.now.abs() })
    }
    fn add_increment(&mut self, share: f64) {
        self.x += share * self.step;
    }
}

const LIMITS: Limits = Limits { iterations: 30, residual_tol: 1e-12, increment_tol: 1e-10, keep: 0.0 };

fn run<F: Fn(f64) -> Option<f64>, G: Fn(f64) -> f64>(x: f64, f: F, slope: G) -> (Outcome, f64, Newton) {
    let mut newton = Newton::default();
    let mut problem = Scalar { x, f, slope, floor: 0.0, now: 0.0, step: 0.0 };
    let outcome = newton.run(&mut problem, &LIMITS, &AtomicBool::new(false));
    (outcome, problem.x, newton)
}

/// Errors near the root go with their square.
#[test]
fn residuals_fall_quadratically() {
    let (outcome, x, newton) = run(3.0, |x| Some(x * x * x - 2.0), |x| 3.0 * x * x);
    assert_eq!(outcome, Outcome::Converged);
    assert!((x - 2f64.powf(1.0 / 3.0)).abs() < 1e-15);
    let r: Vec<f64> = newton.history.iter().map(|i| i.residual.force).collect();
    assert!(r.windows(2).skip(2).all(|w| w[1] <= w[0] * w[0] || w[1] < 1e-14), "{newton}");
    assert!(newton.to_string().lines().count() == r.len() + 2);
    // nothing is kept
    assert!(newton.history.iter().all(|i| i.renewed), "{newton}");
}

/// Newton's method alone runs away from the root of atan from x = 3; and from a logarithm it leaves the domain.
#[test]
fn increments_that_go_too_far_are_shortened() {
    let (outcome, x, newton) = run(3.0, |x| Some(x.atan()), |x| 1.0 / (1.0 + x * x));
    assert_eq!(outcome, Outcome::Converged);
    assert!(x.abs() < 1e-12 && newton.history[0].share < 1.0);
    let (outcome, x, _) = run(5.0, |x| (x > 0.0).then(|| x.ln()), |x| 1.0 / x);
    assert_eq!(outcome, Outcome::Converged);
    assert!((x - 1.0).abs() < 1e-12);
}

/// The residual never goes below its round-off, 1e-9 here, and there is no size to compare it with but that.
#[test]
fn a_residual_of_round_off_is_none() {
    let noise = |x: f64| Some(1e-9 * (1e12 * x).sin());
    let mut problem = Scalar { x: 0.3, f: noise, slope: |_| 1.0, floor: 1e-9, now: 0.0, step: 0.0 };
    let limits = Limits { increment_tol: 1e-8, ..LIMITS };
    let mut newton = Newton::default();
    assert_eq!(newton.run(&mut problem, &limits, &AtomicBool::new(false)), Outcome::Converged);
    assert_eq!(newton.history.len(), 1);
}

#[test]
fn no_root_no_domain_and_a_stop_are_told_apart() {
    let (outcome, _, newton) = run(1.3, |x| Some(x * x + 1.0), |x| 2.0 * x);
    assert!(matches!(outcome, Outcome::Stuck(Stuck::Residual(r)) if r.force >= 1.0), "{outcome:?}");
    assert_eq!(newton.history.len(), 30);
    let (outcome, ..) = run(0.0, |x| Some(x * x + 1.0), |x| 2.0 * x);
    assert_eq!(outcome, Outcome::Stuck(Stuck::Factors(FactorError::Singular)));
    let (outcome, ..) = run(1.0, |x| (x == 1.0).then_some(1.0), |_| 1.0);
    assert_eq!(outcome, Outcome::Stuck(Stuck::Inverted));
    let mut problem = Scalar { x: 1.0, f: |x: f64| Some(x), slope: |_| 1.0, floor: 0.0, now: 0.0, step: 0.0 };
    let stopped = Newton::default().run(&mut problem, &LIMITS, &AtomicBool::new(true));
    assert_eq!(stopped, Outcome::Stopped);
}

/// Parts come in order, end where the step ends, and are no longer than what works.
#[test]
fn steps_are_done_in_halves_where_they_fail() {
    let mut done: Vec<Leap> = Vec::new();
    let mut attempt = |leap: Leap| {
        // the second half of the step is difficult
        let longest = if leap.end > 0.5 { 0.125 } else { 0.5 };
        if leap.length > longest {
            return Err(Trouble::Again("too long"));
        }
        done.push(leap);
        Ok(())
    };
    assert_eq!(in_halves(1.0, 1.0, 5, &mut attempt), Ok(()));
    let ends: Vec<f64> = done.iter().map(|l| l.end).collect();
    assert_eq!(ends, [0.5, 0.625, 0.75, 0.875, 1.0]);
    let mut never = |_: Leap| Err(Trouble::Again("never"));
    assert_eq!(in_halves(1.0, 1.0, 5, &mut never), Err(Trouble::Error("never")));
    let mut stopped = |_: Leap| Err::<(), Trouble<&str>>(Trouble::Stopped);
    assert_eq!(in_halves(1.0, 1.0, 5, &mut stopped), Err(Trouble::Stopped));
}
