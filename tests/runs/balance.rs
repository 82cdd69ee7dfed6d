//! Momentum, angular momentum and energy of a run step by step.

use crate::common::Run;
use carom::math::Vec3;
use carom::method::Method;

pub fn momentum<M: Method>(run: &Run<M>) -> Vec3 {
    run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum()
}

pub fn spin<M: Method>(run: &Run<M>) -> Vec3 {
    let (x, v) = (&run.state.x, &run.state.v);
    run.model.mass.iter().enumerate().map(|(k, m)| x[k].cross(&(*m * v[k]))).sum()
}

/// Runs to `end`; the momentum that is there is what came from outside, but for `round_off` of what there is, and the energy is
/// booked. Angular momentum hangs on positions that contact moves: a hundredth.
pub fn balanced<M: Method>(run: &mut Run<M>, end: f64, round_off: f64) {
    let (p, l) = (momentum(run), spin(run));
    let scale: f64 = run.model.mass.iter().zip(&run.state.v).map(|(m, v)| m * v.norm()).sum();
    while run.state.time < end {
        run.until(run.state.time + 1e-9).unwrap();
        let lost = (momentum(run) - p - run.ledger.impulse).norm();
        assert!(lost <= round_off * scale.max(1.0), "momentum {lost} at {}", run.state.time);
        let lost = (spin(run) - l - run.ledger.moment).norm();
        assert!(lost <= 1e-2 * scale.max(1.0), "angular momentum {lost} at {}", run.state.time);
    }
    assert!(run.ledger.contacts_peak > 0, "nothing met");
    assert!(run.ledger.error_max_rel() < 0.005, "{}", run.ledger.error_max_rel());
}
