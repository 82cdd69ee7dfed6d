//! Newton's method of the implicit scheme: kept factors beside plain ones, steps far too long, bodies that cannot move.

use crate::common::body;
use carom::cases::bipotential::{Thrown, disc_at, foam, plane_body, ten_cylinders};
use carom::contact::search::Pass;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::bipotential_implicit::{BipotentialImplicit, Options};
use carom::method::verlet::StepRule;
use carom::model::Builder;
use carom::model::contact::Law;

fn thrown(dt: f64, options: Options) -> Thrown<BipotentialImplicit> {
    let model = ten_cylinders(0.2).unwrap();
    let method = BipotentialImplicit::new(&model, StepRule::Fixed(dt), options).unwrap();
    Thrown::new(model, method, Vec3::new(0.0, -20.0, 0.0)).unwrap()
}

/// Factors that are kept change the way to the answer, not the answer: 1e-6 of a radius, and of the speed.
#[test]
fn kept_factors_lead_to_the_same_steps_as_newtons_method() {
    let mut kept = thrown(5e-5, Options::default());
    let mut plain = thrown(5e-5, Options { keep: 0.0, ..Options::default() });
    for run in [&mut kept, &mut plain] {
        run.run(4e-3, 4e-3).unwrap();
    }
    assert!(kept.ledger.collision_kicks > 500, "{}", kept.ledger.collision_kicks);
    assert_ne!(kept.state.x, plain.state.x);
    let apart = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let (x, v) = (apart(&kept.state.x, &plain.state.x), apart(&kept.state.v, &plain.state.v));
    assert!(x < 1e-6 * 0.14 && v < 1e-6 * 20.0, "{x:e} m, {v:e} m/s");
}

/// A hundred times the usual step. Without halves the trapezoidal rule creates energy from 20 ms on, and elements turn inside
/// out.
#[test]
fn cylinders_are_thrown_with_steps_of_a_millisecond() {
    // 0.628 was found with nodes of one body at a time; both ways take minutes
    let mut run = thrown(1e-3, Options { pass: Pass::Single, ..Options::default() });
    run.run(0.04, 1e-3).unwrap();
    assert_eq!(run.state.step, 40);
    assert!(run.method.effort().1 > 0);
    assert!(run.samples.iter().all(|s| s.kinetic + s.strain <= run.ledger.initial));
    assert!(run.ledger.error_max_rel() < 0.01, "{}", run.ledger.error_max_rel());
    let rest = run.energy_at(0.04);
    assert!((rest - 0.628).abs() < 0.06, "{rest}");
}

/// A body of which every node is held has no unknowns; another falls on it.
#[test]
fn a_disc_falls_on_a_body_that_cannot_move() {
    let mut builder = Builder::default();
    plane_body(&mut builder, body("disc", disc_at(0.14, 0.0, 0.141, 4, 1), &foam(2e6), 1.0));
    let mut block = shape::Rectangle::new([1.0, 0.2], [6, 1]).build().unwrap();
    block.nodes.iter_mut().for_each(|x| *x -= Vec3::new(0.5, 0.2, 0.0));
    let block = builder.body(body("block", block, &foam(2e6), 1.0));
    let nodes = builder.bodies()[block].nodes.clone().map(|k| k as u32).collect();
    builder.restrain(nodes, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    builder.contact.law = Law { friction: 0.2, restitution: None };
    let model = builder.build().unwrap();
    let method = BipotentialImplicit::new(&model, StepRule::Fixed(1e-4), Options::default()).unwrap();
    let mut run = Thrown::new(model, method, Vec3::new(0.0, -20.0, 0.0)).unwrap();
    run.run(0.012, 1e-3).unwrap();
    let disc = &run.model.bodies[0].nodes;
    let momentum: Vec3 = disc.clone().map(|k| run.model.mass[k] * run.state.v[k]).sum();
    let mass: f64 = run.model.mass[disc.clone()].iter().sum();
    assert!(momentum.y / mass > 10.0 && momentum.y / mass < 20.0, "{momentum:?}");
    let block = &run.model.bodies[1].nodes;
    assert!(block.clone().all(|k| run.state.x[k] == run.model.reference[k]));
}
