//! A block laid on an inclined plane, bodies that roll and spin on one (`dcr`, friction, rigid obstacles).
//!
//! The plane is z = 0 and gravity leans by θ. Below arctan μ the block stays: an impact stops the sliding once a step, and
//! what gravity adds until the next, Δt g sin θ at least, is the most it may creep. Above it slides with
//! g (sin θ − μ cos θ).

use crate::common::{Run, body};
use carom::material;
use carom::math::Vec3;
use carom::mesh::Mesh;
use carom::mesh::place::Placement;
use carom::mesh::shape;
use carom::method::dcr::{Dcr, Options};
use carom::method::verlet::StepRule;
use carom::model::contact::{Law, Obstacle, ObstacleShape};
use carom::model::{Builder, Table};

const G: f64 = 10.0;
const MU: f64 = 0.5;

fn floor() -> Obstacle {
    Obstacle::new("floor", ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::z() })
}

/// A body of rubber with gravity `g` on the floor.
fn on_the_floor(
    mesh: Mesh,
    g: Vec3,
    ramp: Table,
    law: Law,
    rule: StepRule,
    v: impl Fn(&Vec3) -> Vec3,
) -> Run<Dcr> {
    let rubber = material::Law::NeoHookean { young: 2e4, poisson: 0.3, density: 1.0 };
    let mut spec = body("body", mesh, &rubber, 1.0);
    (spec.gravity, spec.gravity_table) = (g, ramp);
    let mut builder = Builder::default();
    builder.body(spec);
    builder.contact.obstacles.push(floor());
    builder.contact.law = law;
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, rule, Options::default());
    Run::with(model, method, |_, x| v(x))
}

fn block() -> Mesh {
    shape::Box::new([1.0, 1.0, 0.5], [3, 3, 2]).build().unwrap()
}

/// Mean velocity of the block.
fn drift(run: &Run<Dcr>) -> Vec3 {
    let mass: f64 = run.model.mass.iter().sum();
    run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum::<Vec3>() / mass
}

fn centre(run: &Run<Dcr>) -> Vec3 {
    let mass: f64 = run.model.mass.iter().sum();
    run.model.mass.iter().zip(&run.state.x).map(|(m, x)| *m * x).sum::<Vec3>() / mass
}

fn slope(degrees: f64) -> Vec3 {
    let angle = degrees.to_radians();
    G * Vec3::new(angle.sin(), 0.0, -angle.cos())
}

const DEAD: Law = Law { friction: MU, restitution: Some(0.0) };

/// How fast a block comes down a slope it should not, in units of Δt g sin θ. Its weight comes slowly, or it would ring.
fn creep(degrees: f64, dt: f64) -> f64 {
    let ramp = Table::new(vec![(0.0, 0.0), (0.2, 1.0)]).unwrap();
    let mut run = on_the_floor(block(), slope(degrees), ramp, DEAD, StepRule::Fixed(dt), |_| Vec3::zeros());
    run.until(1.0).unwrap();
    let x = centre(&run).x;
    run.until(2.0).unwrap();
    assert!(run.ledger.error_max_rel() < 1e-4, "{}", run.ledger.error_max_rel());
    assert!(run.ledger.friction >= -1e-12 * run.ledger.peak, "{}", run.ledger.friction);
    (centre(&run).x - x) / (dt * slope(degrees).x)
}

#[test]
fn below_the_angle_of_friction_a_block_stays() {
    for degrees in [5.0, 15.0, 25.0] {
        for dt in [5e-4, 2.5e-4] {
            let creep = creep(degrees, dt);
            assert!(creep.abs() <= 1.1, "{degrees}°, step {dt}: {creep}");
        }
    }
}

#[test]
fn above_the_angle_of_friction_a_block_slides_with_the_right_acceleration() {
    for degrees in [30.0, 40.0, 60.0] {
        let mut run =
            on_the_floor(block(), slope(degrees), Table::default(), DEAD, StepRule::Fixed(5e-4), |_| {
                Vec3::x()
            });
        run.until(0.5).unwrap();
        let (v, t) = (drift(&run).x, run.state.time);
        let mut before = run.ledger.total() - run.ledger.external;
        for k in 1..=100 {
            run.until(0.5 + 0.01 * k as f64).unwrap();
            let now = run.ledger.total() - run.ledger.external;
            assert!(
                now <= before + 1e-6 * run.ledger.peak,
                "energy grew by {} at {}",
                (now - before) / run.ledger.peak,
                run.state.time
            );
            before = now;
        }
        let angle = f64::to_radians(degrees);
        let exact = G * (angle.sin() - MU * angle.cos());
        let measured = (drift(&run).x - v) / (run.state.time - t);
        assert!((measured - exact).abs() < 0.005 * G, "{degrees}°: {measured} instead of {exact}");
    }
}

/// A ball that spins about a level axis is dropped: it slips, tumbles, and never has more energy than before.
#[test]
fn a_spinning_ball_gains_nothing() {
    let mut mesh = shape::Sphere::new(0.5, 2, 2).build().unwrap();
    mesh.place(&Placement { at: Vec3::new(0.0, 0.0, 0.55), rotation: None }).unwrap();
    let spin = Vec3::new(0.0, 10.0, 0.0);
    let law = Law { friction: 0.3, restitution: None };
    let v = |x: &Vec3| spin.cross(&(x - Vec3::new(0.0, 0.0, 0.55)));
    let rule = StepRule::Automatic { safety: 0.25 };
    let mut run = on_the_floor(mesh, Vec3::new(0.0, 0.0, -G), Table::default(), law, rule, v);
    let mut least = run.ledger.total();
    for k in 1..=300 {
        run.until(0.01 * k as f64).unwrap();

        let now = run.ledger.total() - run.ledger.external;
        assert!(now <= least + 0.002 * run.ledger.peak, "gained {} at {}", now - least, run.state.time);
        least = least.min(now);
    }
    assert!(run.ledger.friction > 0.1 * run.ledger.peak, "{}", run.ledger.friction);
    assert!(run.ledger.error_max_rel() < 0.005, "{}", run.ledger.error_max_rel());
}
