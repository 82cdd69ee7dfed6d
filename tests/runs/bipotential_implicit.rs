//! The implicit scheme beside the semi-explicit one.

use crate::common::Run;
use carom::cases::bipotential::{Thrown, body, disc_at, foam, mass_centre, plane_body, ten_cylinders};
use carom::material;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape;
use carom::method::bipotential_implicit::{BipotentialImplicit, Options};
use carom::method::semi_explicit::{self, SemiExplicit};
use carom::method::verlet::StepRule;
use carom::model::contact::{Law, Obstacle, ObstacleShape};
use carom::model::restraint::Motion;
use carom::model::{BodySpec, Builder, Model};

/// θ = 1, ξ = 0 is the same scheme: only round-off and what contacts leave undone differ.
#[test]
fn with_old_forces_and_new_velocities_it_is_the_semi_explicit_scheme() {
    let down = Vec3::new(0.0, -20.0, 0.0);
    let contact = semi_explicit::Options { tolerance: 1e-13, ..semi_explicit::Options::default() };
    let (dt, end) = (2e-5, 1.5e-3);
    let model = ten_cylinders(0.2).unwrap();
    let method = SemiExplicit::new(&model, StepRule::Fixed(dt), contact);
    let mut semi = Thrown::new(model, method, down).unwrap();
    semi.run(end, end).unwrap();
    let model = ten_cylinders(0.2).unwrap();
    let options = Options { theta: 1.0, xi: 0.0, tolerance: 1e-13, ..Options::default() };
    let method = BipotentialImplicit::new(&model, StepRule::Fixed(dt), options).unwrap();
    let mut implicit = Thrown::new(model, method, down).unwrap();
    implicit.run(end, end).unwrap();
    assert!(semi.ledger.collision_kicks > 100);
    let apart = semi.state.x.iter().zip(&implicit.state.x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "{apart:e}");
    let apart = semi.state.v.iter().zip(&implicit.state.v).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart:e}");
}

fn disc() -> Model {
    let mut builder = Builder::default();
    plane_body(&mut builder, body("disc", disc_at(0.14, 0.0, 0.141, 8, 2), &foam(2e6)));
    let shape = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::y() };
    builder.contact.obstacles.push(Obstacle::new("floor", shape));
    builder.contact.law = Law { friction: 0.2, restitution: None };
    builder.build().unwrap()
}

/// Kinetic and strain energies of both schemes agree within 3 % of the whole at all times; steps five times as long.
#[test]
fn a_disc_bounces_alike_in_both_schemes() {
    let start = Vec3::new(10.0, -20.0, 0.0);
    let model = disc();
    let method = SemiExplicit::new(&model, StepRule::Fixed(1e-5), semi_explicit::Options::default());
    let mut semi = Thrown::new(model, method, start).unwrap();
    semi.run(0.012, 1e-3).unwrap();
    let model = disc();
    let method = BipotentialImplicit::new(&model, StepRule::Fixed(5e-5), Options::default()).unwrap();
    let mut implicit = Thrown::new(model, method, start).unwrap();
    implicit.run(0.012, 1e-3).unwrap();
    for (a, b) in semi.samples.iter().zip(&implicit.samples) {
        let e0 = semi.ledger.initial;
        assert!((a.kinetic - b.kinetic).abs() < 0.03 * e0, "{a:?} {b:?}");
        assert!((a.strain - b.strain).abs() < 0.03 * e0, "{a:?} {b:?}");
    }
    let (mass, v) = mass_centre(&implicit.model, &implicit.state);
    let lost = (mass * (v - start) - implicit.ledger.impulse).norm();
    assert!(lost < 1e-8 * mass * 20.0, "{lost}");
    assert!(implicit.ledger.error_max_rel() < 0.01, "{}", implicit.ledger.error_max_rel());
    // far beyond what an explicit scheme can do, halved where it must be
    let model = disc();
    let method = BipotentialImplicit::new(&model, StepRule::Fixed(1e-3), Options::default()).unwrap();
    let mut long = Thrown::new(model, method, start).unwrap();
    long.run(0.012, 1e-3).unwrap();
    let v = mass_centre(&long.model, &long.state).1;
    assert!(v.y > 10.0 && v.y < 20.0, "{v:?}");
}

/// A block pressed by a prescribed one: supports, damping and friction stand in the books.
fn press() -> Run<BipotentialImplicit> {
    let rubber = material::Law::NeoHookean { young: 1e3, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    let lower = shape::Box::new([1.0, 1.0, 0.5], [3, 3, 2]).build().unwrap();
    builder.body(body("lower", lower, &rubber));
    let mut upper = shape::Box::new([0.6, 0.7, 0.4], [2, 3, 2]).build().unwrap();
    upper.place(&Placement { at: Vec3::new(0.1, 0.2, 0.51), rotation: None }).unwrap();
    builder.body(BodySpec { damping: 2.0, ..body("upper", upper, &rubber) });
    let bottom = builder.bodies()[0].node_set("zmin").unwrap();
    let top = builder.bodies()[1].node_set("zmax").unwrap();
    let all = vec![Vec3::x(), Vec3::y(), Vec3::z()];
    builder.restrain(bottom, vec![Vec3::new(0.0, 0.6, 0.8), Vec3::new(0.0, 0.8, -0.6)], None);
    builder.restrain(top, all, Some(Motion::Velocity { velocity: Vec3::new(0.1, 0.0, -0.5) }));
    builder.contact.law = Law { friction: 0.3, restitution: None };
    let model = builder.build().unwrap();
    let method = BipotentialImplicit::new(&model, StepRule::Fixed(2e-3), Options::default()).unwrap();
    Run::with(model, method, |_, _| Vec3::zeros())
}

#[test]
fn supports_are_booked_and_threads_looks_and_stops_change_nothing() {
    let mut whole = press();
    whole.until(0.1).unwrap();
    assert!(whole.ledger.contacts_peak > 0 && whole.ledger.external > 0.0);
    assert!(whole.ledger.error_max_rel() < 0.02, "{}", whole.ledger.error_max_rel());
    let momentum: Vec3 = whole.model.mass.iter().zip(&whole.state.v).map(|(m, v)| *m * v).sum();
    let start: Vec3 = {
        let fresh = press();
        fresh.model.mass.iter().zip(&fresh.state.v).map(|(m, v)| *m * v).sum()
    };
    assert!(
        (momentum - start - whole.ledger.impulse).norm() < 1e-6,
        "{momentum:?} {:?}",
        whole.ledger.impulse
    );

    let mut run = press();
    while run.state.time < 0.05 {
        run.until(run.state.time + 1e-9).unwrap();
    }
    let mut other = press().resumed(&run.record());
    other.until(0.1).unwrap();
    assert_eq!(whole.record(), other.record());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let two = pool.install(|| {
        let mut run = press();
        run.until(0.1).unwrap();
        run.record()
    });
    assert_eq!(whole.record(), two);
}
