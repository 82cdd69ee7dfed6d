//! Small scenes with what bodies can meet: each other in the plane, walls that move, held nodes, rigid meshes and
//! polylines (`dcr`). In each the books close: energy, momentum, angular momentum.

use crate::balance::{self, at, brick, momentum, partly_held, rubber};
use crate::common::{Run, body};
use carom::material;
use carom::math::Vec3;
use carom::mesh::{Mesh, shape};
use carom::method::Method;
use carom::method::dcr::{Dcr, Options};
use carom::method::verlet::StepRule;
use carom::model::Builder;
use carom::model::contact::{Obstacle, ObstacleShape};
use carom::model::restraint::Motion;

const HALF: StepRule = StepRule::Automatic { safety: 0.5 };
/// What the books lack is of second order in the step.
const TENTH: StepRule = StepRule::Automatic { safety: 0.1 };

/// A plane body, kept in its plane.
fn flat(builder: &mut Builder, name: &str, mesh: Mesh, law: &material::Law) {
    let index = builder.body(body(name, mesh, law, 1.0));
    let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
    builder.restrain(nodes, vec![Vec3::z()], None);
}

/// Runs to `end` with its momenta and its energy in balance.
fn balanced(run: &mut Run<Dcr>, end: f64) {
    balance::balanced(run, end, 1e-11);
}

/// As the bars of one dimension: they part at t = 20 with the impulse 2.
#[test]
fn plane_bars_that_do_not_match_part_in_time() {
    let law = material::Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
    let mut builder = Builder::default();
    for (name, x, n) in [("left", -10.0, 3), ("right", 0.0, 4)] {
        let mesh = shape::Rectangle::new([10.0, 1.0], [5 * n, n]).build().unwrap();
        flat(&mut builder, name, at(mesh, x, 0.0, 0.0), &law);
    }
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, HALF, Options::default());
    let mut run = Run::with(model, method, |b, _| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() });
    let mut last = 0.0;
    while run.state.time < 30.0 {
        run.until(run.state.time + 1e-9).unwrap();
        last = if run.ledger.contacts > 0 { run.state.time } else { last };
        assert!(momentum(&run).norm() < 1e-12);
    }
    let lost = 1.0 - run.ledger.total() / 0.1;
    assert!((19.5..=21.0).contains(&last) && (0.0..0.05).contains(&lost), "{last} {lost}");
    assert!((-run.method.impulse_between(0, 1).x - 2.0).abs() < 0.1);
    assert!(run.ledger.error_max_rel() < 0.005, "{}", run.ledger.error_max_rel());
}

/// A wall at speed V sends an elastic block away at 2V: it gives 2mV of momentum and 2mV² of work.
#[test]
fn a_moving_wall_sends_a_block_away_at_twice_its_speed() {
    let mut builder = Builder::default();
    let mesh = brick([2.0, 0.5, 0.5], [16, 4, 4]);
    builder.body(body("block", at(mesh, 0.01, 0.0, 0.0), &rubber(), 1.0));
    let shape = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::x() };
    let motion = Some(Motion::Velocity { velocity: 0.5 * Vec3::x() });
    builder.contact.obstacles.push(Obstacle { motion, ..Obstacle::new("wall", shape) });
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, HALF, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    balanced(&mut run, 0.5);
    let mass: f64 = run.model.mass.iter().sum();
    let (v, work) = (momentum(&run).x / mass, run.ledger.external / mass);
    // some of it goes on ringing in the block
    assert!((0.93..=1.0).contains(&v) && (work - 0.5 * v).abs() < 1e-12, "{v} {work}");
    let on_block = run.method.impulse_between(0, 1);
    assert!((on_block - run.ledger.impulse).norm() < 1e-12, "{on_block:?}");
    assert!((run.method.impulse_between(1, 0) + on_block).norm() < 1e-15);
}

/// A block falls on one whose surface is partly held: some of the nodes it meets cannot move at all, others only level.
#[test]
fn held_nodes_take_part_in_contact() {
    let model = partly_held();
    let method = Dcr::new(&model, TENTH, Options::default());
    let mut run = Run::with(model, method, |b, _| f64::from(b as u32) * Vec3::new(0.5, 0.1, -1.5));
    balanced(&mut run, 0.3);
    assert!(run.ledger.friction > 0.0 && run.ledger.external.abs() < 1e-12, "held nodes do no work");
}

/// A block drops on a rigid box of hexes, a disc into a notch: solid on the left of the polyline.
#[test]
fn rigid_meshes_and_polylines_stop_bodies() {
    let mut builder = Builder::default();
    let block = at(brick([1.0, 1.0, 0.5], [4, 4, 2]), 0.3, 0.4, 0.02);
    builder.body(body("block", block, &rubber(), 1.0));
    let anvil = at(brick([0.8, 0.9, 0.5], [1, 1, 1]), 0.0, 0.0, -0.5);
    builder.contact.obstacles.push(Obstacle::new("anvil", ObstacleShape::Mesh(anvil)));
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, TENTH, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::new(0.0, 0.0, -1.0));
    balanced(&mut run, 0.3);
    assert!(momentum(&run).z > 0.0 && run.ledger.penetration_max < 0.01, "{}", run.ledger.penetration_max);

    let law = material::Law::Linear { young: 1e3, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    flat(&mut builder, "disc", at(shape::Disc::new(0.5, 3, 3).build().unwrap(), 0.1, 0.8, 0.0), &law);
    let points = vec![Vec3::new(-2.0, 2.0, 0.0), Vec3::zeros(), Vec3::new(2.0, 2.0, 0.0)];
    let points = points.into_iter().rev().collect();
    builder.contact.obstacles.push(Obstacle::new("notch", ObstacleShape::Polyline { points, closed: false }));
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, TENTH, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::new(0.0, -1.0, 0.0));
    balanced(&mut run, 0.5);
    assert!(momentum(&run).y > 0.0 && run.ledger.penetration_max < 0.02, "{}", run.ledger.penetration_max);
}
