//! Ten cylinders of foam rubber thrown into a notch at 20 m/s (Peng, Feng & Joli 2018, first example; geometry completed).
//!
//! Reference values of an independent program for this geometry: E₀ = 215 355 J; E/E₀ at 20, 40 and 70 ms .753 .628 .623;
//! largest strain energy .5404 E₀ at 20.7 ms; largest von Mises stress of the run 3.77 MPa, both ways 3.60 MPa.

use carom::cases::bipotential::{CYLINDERS, CaseError, Thrown, ten_cylinders};
use carom::contact::search::Pass;
use carom::math::Vec3;
use carom::method::StepError;
use carom::method::semi_explicit::{Activation, Options, SemiExplicit};
use carom::method::verlet::StepRule;

fn thrown(dt: f64, friction: f64, options: Options) -> Thrown<SemiExplicit> {
    let model = ten_cylinders(friction).unwrap();
    let method = SemiExplicit::new(&model, StepRule::Fixed(dt), options);
    Thrown::new(model, method, Vec3::new(0.0, -20.0, 0.0)).unwrap()
}

fn checked(run: &Thrown<SemiExplicit>, at: [(f64, f64); 3], mises: f64) {
    let e0 = run.ledger.initial;
    assert!((e0 - 215_355.0).abs() < 50.0, "{e0}");
    for (time, share) in at {
        let found = run.energy_at(time);
        assert!((found - share).abs() < 0.03, "{time}: {found} for {share}");
    }
    let peak = run.samples.iter().fold(0.0, |m: f64, s| m.max(s.strain)) / e0;
    assert!((peak - 0.540).abs() < 0.01, "{peak}");
    let found = run.mises_between(0.0, 1.0);
    assert!((found / mises - 1.0).abs() < 0.10, "{found} for {mises}");
    let most = run.samples.iter().fold(0.0, |m: f64, s| m.max(s.kinetic + s.strain)) / e0;
    assert!(most < 1.0 + 1e-12, "{most}");
    assert!(run.ledger.error_max_rel() < 0.01, "{}", run.ledger.error_max_rel());
}

/// Momentum that is there is what the flanks gave; friction on them is at most μ times their pressure.
fn balanced(run: &Thrown<SemiExplicit>) {
    let momentum: Vec3 = run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum();
    let mass: f64 = run.model.mass.iter().sum();
    let given = momentum - Vec3::new(0.0, -20.0 * mass, 0.0);
    assert!((given - run.ledger.impulse).norm() < 1e-12 * 20.0 * mass);
}

#[test]
fn ten_cylinders_lose_what_the_reference_loses() {
    let mut run = thrown(2e-5, 0.2, Options::default());
    run.run(0.07, 1e-4).unwrap();
    checked(&run, [(0.02, 0.753), (0.04, 0.628), (0.07, 0.622)], 3.74e6);
    balanced(&run);
    // between discs, whose faces turn in a step; into the flanks nothing goes
    assert!(run.ledger.penetration_max < 1e-3 * 0.14, "{}", run.ledger.penetration_max);
    let flank = |n: Vec3| run.state.x.iter().map(|x| n.dot(x)).fold(f64::INFINITY, f64::min);
    assert!(flank(Vec3::new(1.0, 1.0, 0.0)).min(flank(Vec3::new(-1.0, 1.0, 0.0))) > -1e-12);
    assert_eq!(run.method.unfinished(), 0);
}

#[test]
fn ten_cylinders_that_touch_both_ways_stay_symmetric() {
    let mut run = thrown(1e-5, 0.2, Options { pass: Pass::Double, ..Options::default() });
    run.run(0.005, 1e-4).unwrap();
    let apart = |run: &Thrown<SemiExplicit>| {
        // discs 2 and 3, 4 and 5 … mirror each other, and so do their nodes by position
        let mut worst: f64 = 0.0;
        for (i, c) in CYLINDERS.iter().enumerate() {
            let j = CYLINDERS.iter().position(|d| d.0 == -c.0 && d.1 == c.1).unwrap();
            let (a, b) = (run.model.bodies[i].nodes.clone(), run.model.bodies[j].nodes.clone());
            for p in a {
                let x = run.model.reference[p];
                let mirror = Vec3::new(-x.x, x.y, 0.0);
                let q = b.clone().find(|&q| (run.model.reference[q] - mirror).norm() < 1e-9).unwrap();
                let (p, q) = (run.state.x[p], run.state.x[q]);
                worst = worst.max((Vec3::new(-p.x, p.y, 0.0) - q).norm());
            }
        }
        worst
    };
    assert!(apart(&run) < 1e-12, "{:e}", apart(&run));
    run.run(0.02, 1e-4).unwrap();
    assert!(apart(&run) < 1e-3, "{:e}", apart(&run));
    run.run(0.03, 1e-4).unwrap();
    let found = run.mises_between(0.0, 1.0);
    assert!((found / 3.60e6 - 1.0).abs() < 0.10, "{found}");
    assert!((run.energy_at(0.02) - 0.752).abs() < 0.03);
}

/// As published: nodes stop short of the surface by up to a step, and sink in by what they accelerate.
#[test]
fn as_published_contacts_sink_in_a_little_and_the_energies_are_the_same() {
    let mut run = thrown(2e-5, 0.2, Options { activation: Activation::Rate, ..Options::default() });
    run.run(0.022, 1e-4).unwrap();
    assert!((run.energy_at(0.02) - 0.752).abs() < 0.03, "{}", run.energy_at(0.02));
    let depth = run.ledger.penetration_max;
    assert!(depth > 1e-9 && depth < 1e-3, "{depth}");
    let mut run = thrown(2e-5, 0.2, Options { activation: Activation::Project, ..Options::default() });
    run.run(0.022, 1e-4).unwrap();
    assert!((run.energy_at(0.02) - 0.752).abs() < 0.03, "{}", run.energy_at(0.02));
    assert!(run.ledger.penetration_max < 0.1 * depth, "{}", run.ledger.penetration_max);
    assert!(run.ledger.error_max_rel() < 0.01, "{}", run.ledger.error_max_rel());
}

/// The core of a disc is pressed until its waves cross an element in less than a step.
#[test]
fn steps_that_are_too_long_are_named_with_one_that_is_not() {
    for (dt, at) in [(1e-3, 0.003), (1e-4, 0.03)] {
        let mut run = thrown(dt, 0.2, Options::default());
        let error = run.run(0.07, 1e-3).unwrap_err();
        let CaseError::Step(StepError::TooLong { time, dt: step, stable, .. }) = error else {
            panic!("{error}");
        };
        assert!(time < at && step == dt && stable < dt && stable > 1e-6, "{time} {stable}");
    }
}

/// An automatic step follows the compression and loses no energy for it.
#[test]
fn an_automatic_step_gets_through() {
    let model = ten_cylinders(0.2).unwrap();
    let rule = StepRule::Automatic { safety: 0.8 };
    let method = SemiExplicit::new(&model, rule, Options::default());
    let mut run = Thrown::new(model, method, Vec3::new(0.0, -20.0, 0.0)).unwrap();
    run.run(0.04, 1e-3).unwrap();
    assert!((run.energy_at(0.02) - 0.753).abs() < 0.03 && (run.energy_at(0.04) - 0.628).abs() < 0.03);
    assert!(run.ledger.dt_min < 0.9 * run.ledger.dt_max);
}
