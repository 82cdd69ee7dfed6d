//! A free block that spins, stretches and drifts: momenta stay to round-off, the error of the energy is bounded and
//! of second order in the step.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::{Mat3, Vec3};
use carom::mesh::shape;
use carom::method::verlet::StepRule;
use carom::model::{Builder, Model};

fn model() -> Model {
    let law = Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    let mesh = shape::Box::new([1.0, 0.6, 0.5], [2, 1, 1]).build().unwrap();
    builder.body(body("block", mesh, &law, 1.0));
    builder.build().unwrap()
}

/// Spin about an oblique axis, a stretching field of a tenth of the wave speed, a slow drift.
fn velocity(x: &Vec3) -> Vec3 {
    let centre = Vec3::new(0.5, 0.3, 0.25);
    let stretch = Mat3::new(0.2, 0.05, 0.0, -0.03, -0.1, 0.02, 0.0, 0.04, 0.1);
    let spin = Vec3::new(0.1, 0.2, 0.4);
    spin.cross(&(x - centre)) + stretch * (x - centre) + Vec3::new(1e-3, -5e-4, 2e-3)
}

/// Linear momentum, angular momentum about the origin.
fn momenta(run: &Run) -> (Vec3, Vec3) {
    let (mut p, mut l) = (Vec3::zeros(), Vec3::zeros());
    for ((m, x), v) in run.model.mass.iter().zip(&run.state.x).zip(&run.state.v) {
        p += *m * v;
        l += *m * x.cross(v);
    }
    (p, l)
}

#[test]
fn a_hundred_thousand_steps_change_no_momentum_and_let_no_energy_creep() {
    let model = model();
    let dt = 0.5 * model.stable_step();
    let mut run = Run::start(model, StepRule::Fixed(dt), velocity);
    let (p0, l0) = momenta(&run);
    let centre = Vec3::new(0.5, 0.3, 0.25);
    let (mut size_p, mut size_l) = (0.0, 0.0);
    for ((m, x), v) in run.model.mass.iter().zip(&run.state.x).zip(&run.state.v) {
        size_p += m * v.norm();
        size_l += m * v.norm() * (x - centre).norm();
    }
    let energy = run.ledger.total();
    // after each of a hundred stretches of the run: the largest error of its thousand steps
    let mut errors = Vec::new();
    let (mut drift_p, mut drift_l): (f64, f64) = (0.0, 0.0);
    for part in 0..100 {
        let mut largest: f64 = 0.0;
        for k in 1..=1000 {
            run.until((part * 1000 + k) as f64 * dt).unwrap();
            largest = largest.max(run.ledger.error().abs() / energy);
        }
        errors.push(largest);
        let (p, l) = momenta(&run);
        drift_p = drift_p.max((p - p0).norm() / size_p);
        drift_l = drift_l.max((l - l0).norm() / size_l);
    }
    assert_eq!(run.state.step, 100_000);
    println!("drift {drift_p:.1e} {drift_l:.1e}, energy error {:.1e}…{:.1e}", errors[0], errors[99]);
    assert!(drift_p < 1e-11 && drift_l < 1e-11, "{drift_p:e} {drift_l:e}");
    assert_eq!(run.ledger.impulse, Vec3::zeros());
    // no trend: the second half is not worse than the first, and a straight line through all parts is flat
    let worst = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    assert!(worst(&errors[50..]) < 1.25 * worst(&errors[..50]), "{errors:?}");
    let mean = errors.iter().sum::<f64>() / 100.0;
    let (mut above, mut below) = (0.0, 0.0);
    for (k, e) in errors.iter().enumerate() {
        let k = k as f64 - 49.5;
        above += k * (e - mean);
        below += k * k;
    }
    assert!((above / below * 100.0).abs() < 0.25 * mean, "slope {:e}, mean {mean:e}", above / below);
}

#[test]
fn the_energy_error_is_of_second_order_in_the_step() {
    let stable = model().stable_step();
    let errors: Vec<f64> = [0.4, 0.2, 0.1, 0.05]
        .into_iter()
        .map(|share| {
            let mut run = Run::start(model(), StepRule::Fixed(share * stable), velocity);
            run.until(60.0 * stable).unwrap();
            run.ledger.error_max
        })
        .collect();
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{errors:?}");
    }
}
