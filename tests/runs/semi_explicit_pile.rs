//! A pile of cubes that stand on each other: many contacts at once (`semi-explicit`).

use carom::cases::bipotential::{Thrown, pile};
use carom::math::Vec3;
use carom::method::Method;
use carom::method::semi_explicit::{Options, SemiExplicit};
use carom::method::verlet::StepRule;
use std::sync::atomic::AtomicBool;

/// Sweeps over the mean contact in all steps but the first few, contacts, and the worst error of a step.
pub fn settle(side: u32, layers: u32, steps: u64) -> (f64, usize, f64) {
    let model = pile(side, layers, 0.5, 20.0).unwrap();
    let options = Options { natural: Some(1e-6), ..Options::default() };
    let method = SemiExplicit::new(&model, StepRule::Automatic { safety: 0.8 }, options);
    let mut run = Thrown::new(model, method, Vec3::zeros()).unwrap();
    let never = AtomicBool::new(false);
    let (mut sweeps, mut contacts, mut worst) = (0.0, 0, 0.0);
    for step in 0..steps {
        let until = run.state.time + 0.5 * run.method.next_step();
        run.method.advance(&run.model, &mut run.state, until, &mut run.ledger, &never).unwrap();
        let report = run.method.report();
        if step >= 5 {
            sweeps += report.sweeps_mean;
            contacts = contacts.max(report.contacts);
            worst = f64::max(worst, report.natural);
        }
    }
    (sweeps / (steps - 5) as f64, contacts, worst)
}

#[test]
fn a_pile_takes_few_sweeps_with_a_warm_start() {
    let (sweeps, contacts, worst) = settle(4, 4, 60);
    assert!(contacts > 700, "{contacts}");
    assert!(sweeps < 100.0 && worst <= 1e-6, "{sweeps} sweeps, {worst:e}");
}
