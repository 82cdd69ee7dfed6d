//! Twenty-five cubes of foam rubber thrown on a rigid plate (Peng, Feng & Joli 2018, second example; geometry completed).
//! Reference values of an independent program, nodes on faces both ways, Δt = 1e-4 s.

use carom::cases::bipotential::{Thrown, cubes_on_plate, mass_centre};
use carom::contact::search::Pass;
use carom::math::Vec3;
use carom::method::Method;
use carom::method::semi_explicit::{Options, SemiExplicit};
use carom::method::verlet::StepRule;
use carom::solve::contacts::Local;

const BOTH: Options = Options {
    activation: carom::method::semi_explicit::Activation::Position,
    pass: Pass::Double,
    edge_edge: false,
    baumgarte: 0.2,
    local: Local::Exact,
    tolerance: 1e-6,
    speed: 0.0,
    sweeps: 2000,
    natural_map_residual: None,
};

fn thrown(gap: f64, friction: f64) -> Thrown<SemiExplicit> {
    let model = cubes_on_plate(gap, friction).unwrap();
    let method = SemiExplicit::new(&model, StepRule::Fixed(1e-4), BOTH);
    let mut run = Thrown::new(model, method, Vec3::new(0.0, -20.0, -10.0)).unwrap();
    assert!((run.ledger.initial - 707_750.0).abs() < 1.0);
    run.run(0.05, 1e-4).unwrap();
    // momentum that is there is what the plate gave
    let (mass, v) = mass_centre(&run.model, &run.state);
    let given = mass * (v - Vec3::new(0.0, -20.0, -10.0));
    assert!((given - run.ledger.impulse).norm() < 1e-12 * mass * 20.0);
    run
}

/// What is not known is not a number.
struct Expected {
    /// E/E₀ at 10, 20 … 50 ms.
    energy: [f64; 5],
    /// At 8.5, 30.5 and 41.5 ms, and the largest of all [MPa].
    mises: [f64; 3],
    peak: f64,
    velocity: [f64; 2],
    ratio: f64,
}

fn check(run: &Thrown<SemiExplicit>, e: &Expected) {
    let mut said = String::new();
    let mut good = true;
    let mut gate = |what: String, found: f64, want: f64, tolerance: f64| {
        good &= want.is_nan() || (found - want).abs() <= tolerance;
        said += &format!("{what}: {found:.4} for {want}\n");
    };
    for (k, &share) in e.energy.iter().enumerate() {
        gate(format!("energy at {} ms", 10 * (k + 1)), run.energy_at(0.01 * (k + 1) as f64), share, 0.03);
    }
    for (time, mises) in [0.0085, 0.0305, 0.0415].into_iter().zip(e.mises) {
        gate(format!("von Mises at {time}"), run.at(time).unwrap().mises / 1e6, mises, 0.08 * mises);
    }
    gate("largest von Mises".into(), run.mises_between(0.0, 1.0) / 1e6, e.peak, 0.08 * e.peak);
    let v = mass_centre(&run.model, &run.state).1;
    gate("vy".into(), v.y, e.velocity[0], 0.02 * e.velocity[0].abs());
    gate("vz".into(), v.z, e.velocity[1], 0.02 * e.velocity[1].abs());
    let j = (0..25).map(|b| run.method.impulse_between(b, 25)).sum::<Vec3>();
    gate("ratio".into(), j.x.hypot(j.z) / j.y, e.ratio, 0.02 * e.ratio + 1e-12);
    let most = run.samples.iter().fold(0.0, |m: f64, s| m.max(s.kinetic + s.strain)) / run.ledger.initial;
    gate("energy above the first".into(), most.max(1.0), 1.0, 1e-12);
    gate("books".into(), run.ledger.error_max_rel(), 0.0, 0.01);
    gate("penetration".into(), run.ledger.penetration_max, 0.0, 1e-3);
    assert!(good, "\n{said}");
}

#[test]
fn cubes_without_friction_bounce_as_the_reference_does() {
    let run = thrown(0.1, 0.0);
    let energy = [0.859, 0.725, 0.659, 0.590, 0.595];
    let mises = [2.31, 3.53, 2.86];
    check(&run, &Expected { energy, mises, peak: 7.98, velocity: [8.51, -10.0], ratio: 0.0 });
    assert!((mass_centre(&run.model, &run.state).1.z + 10.0).abs() < 1e-12);
}

#[test]
fn cubes_with_friction_bounce_as_the_reference_does() {
    let run = thrown(0.1, 0.5);
    let energy = [0.820, 0.638, 0.545, 0.457, 0.453];
    let mises = [5.93, 7.56, 2.56];
    check(&run, &Expected { energy, mises, peak: 9.77, velocity: [7.33, -7.66], ratio: 0.0855 });
}

#[test]
fn cubes_that_touch_from_the_start_keep_most_of_their_energy() {
    let run = thrown(0.0, 0.0);
    let energy = [0.975, 0.977, 0.974, 0.975, 0.974];
    let mises = [5.90, 1.50, 1.56];
    check(&run, &Expected { energy, mises, peak: f64::NAN, velocity: [18.43, -10.0], ratio: 0.0 });
    let run = thrown(0.0, 0.5);
    let energy = [f64::NAN, f64::NAN, f64::NAN, f64::NAN, 0.956];
    let mises = [9.03, 2.29, 1.72];
    check(&run, &Expected { energy, mises, peak: 9.47, velocity: [18.06, -6.74], ratio: 0.0856 });
}
