//! A pile of cubes that stand on each other: many contacts at once (`semi-explicit`).

use carom::cases::bipotential::{Thrown, pile};
use carom::contact::search::Pass;
use carom::math::Vec3;
use carom::method::Method;
use carom::method::semi_explicit::{Options, SemiExplicit};
use carom::method::verlet::StepRule;
use std::sync::atomic::AtomicBool;

/// What the steps of a pile took: sweeps over the slowest island in the mean of all steps but the first few, fewest contacts
/// of these that press or would close, islands that were left at the limit, and the worst error of forces.
fn settle(side: u32, layers: u32, steps: u64, pass: Pass) -> (f64, usize, usize, f64) {
    let model = pile(side, layers, 0.5, 20.0).unwrap();
    let options = Options { natural_map_residual: Some(1e-6), pass, ..Options::default() };
    let method = SemiExplicit::new(&model, StepRule::Automatic { safety: 0.8 }, options);
    let mut run = Thrown::new(model, method, Vec3::zeros()).unwrap();
    let never = AtomicBool::new(false);
    let (mut sweeps, mut contacts, mut unfinished, mut worst) = (0.0, usize::MAX, 0, 0.0);
    for step in 0..steps {
        let until = run.state.time + 0.5 * run.method.next_step();
        run.method.advance(&run.model, &mut run.state, until, &mut run.ledger, &never).unwrap();
        let report = run.method.report();
        (unfinished, worst) = (unfinished + report.unfinished, f64::max(worst, report.natural_map_residual));
        if step >= 5 {
            sweeps += f64::from(report.sweeps);
            contacts = contacts.min(report.contacts);
        }
    }
    (sweeps / (steps - 5) as f64, contacts, unfinished, worst)
}

/// `carom bench contacts/pile` does the same with more than 10 000 contacts. Few sweeps: as published, nodes of one body on
/// faces of the other. With both passes nearly redundant contacts share their forces slowly, and are solved as well.
#[test]
fn a_pile_takes_few_sweeps_with_a_warm_start() {
    let (sweeps, contacts, unfinished, worst) = settle(4, 4, 60, Pass::Single);
    assert!(contacts > 600, "{contacts}");
    assert!(sweeps < 100.0 && unfinished == 0 && worst <= 1e-6, "{sweeps} sweeps, {unfinished}, {worst:e}");
    let (sweeps, both, unfinished, worst) = settle(4, 4, 60, Pass::Double);
    assert!(both > contacts && unfinished == 0 && worst <= 1e-6, "{sweeps} sweeps, {unfinished}, {worst:e}");
}
