//! What bodies can meet (`semi-explicit`): walls that move, held nodes, rigid meshes and polylines, edges; and what must not
//! matter: threads, looks, stops, the frame of reference. In each the books close.

use crate::balance::{self, at, brick, momentum, partly_held, rubber};
use crate::common::{Run, body};
use carom::cases::bipotential::{disc_at, plane_body};
use carom::contact::search::Pass;
use carom::math::Vec3;
use carom::mesh::place::{Pivot, Placement, Rotation};
use carom::method::Method;
use carom::method::semi_explicit::{Activation, Options, SemiExplicit};
use carom::method::verlet::StepRule;
use carom::model::contact::{Law, Obstacle, ObstacleShape};
use carom::model::restraint::Motion;
use carom::model::{BodySpec, Builder};

/// What the books lack is of second order in the step.
const TENTH: StepRule = StepRule::Automatic { safety: 0.1 };

/// Runs to `end` with its momenta and its energy in balance.
fn balanced(run: &mut Run<SemiExplicit>, end: f64) {
    balance::balanced(run, end, 1e-12);
    assert_eq!(run.method.unfinished(), 0);
}

/// A wall at speed V sends a block away at 2V but for what its surface loses; with restitution 1 that is given back.
#[test]
fn a_moving_wall_sends_a_block_away() {
    for (e, least) in [(None, 0.85), (Some(1.0), 0.93)] {
        let mut builder = Builder::default();
        let mesh = brick([2.0, 0.5, 0.5], [16, 4, 4]);
        builder.body(body("block", at(mesh, 0.01, 0.0, 0.0), &rubber(), 1.0));
        let shape = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::x() };
        let motion = Some(Motion::Velocity { velocity: 0.5 * Vec3::x() });
        builder.contact.obstacles.push(Obstacle { motion, ..Obstacle::new("wall", shape) });
        builder.contact.law = Law { friction: 0.0, restitution: e };
        let model = builder.build().unwrap();
        let method = SemiExplicit::new(&model, TENTH, Options::default());
        let mut run = Run::with(model, method, |_, _| Vec3::zeros());
        balanced(&mut run, 0.5);
        let mass: f64 = run.model.mass.iter().sum();
        let (v, work) = (momentum(&run).x / mass, run.ledger.external / mass);
        assert!((least..=1.0).contains(&v) && (work - 0.5 * v).abs() < 1e-12, "{v} {work}");
        let on_block = run.method.impulse_between(0, 1);
        assert!((on_block - run.ledger.impulse).norm() < 1e-12, "{on_block:?}");
        assert!((run.method.impulse_between(1, 0) + on_block).norm() < 1e-15);
        assert!(run.ledger.penetration_max < 1e-12);
    }
}

/// A block falls on one whose surface is partly held: some of the nodes it meets cannot move at all, others only level.
#[test]
fn held_nodes_take_part_in_contact() {
    for (activation, pass) in [
        (Activation::Position, Pass::Single),
        (Activation::Position, Pass::Double),
        (Activation::Rate, Pass::Double),
        (Activation::Project, Pass::Double),
    ] {
        let model = partly_held();
        let options = Options { activation, pass, ..Options::default() };
        let method = SemiExplicit::new(&model, TENTH, options);
        let mut run = Run::with(model, method, |b, _| f64::from(b as u32) * Vec3::new(0.5, 0.1, -1.5));
        balanced(&mut run, 0.3);
        assert!(run.ledger.friction > 0.0 && run.ledger.external.abs() < 1e-12, "held nodes do no work");
        assert!(momentum(&run).z > -0.1, "{activation:?} {pass:?} {}", momentum(&run).z);
    }
}

/// Supports that lead their nodes do work, in and out of contact.
#[test]
fn a_led_block_presses_another_and_the_books_know() {
    let mut builder = Builder::default();
    builder.body(body("lower", brick([1.0, 1.0, 0.5], [3, 3, 2]), &rubber(), 1.0));
    let mesh = at(brick([0.6, 0.7, 0.4], [2, 3, 2]), 0.1, 0.2, 0.51);
    builder.body(BodySpec { damping: 2.0, ..body("upper", mesh, &rubber(), 1.0) });
    let bottom = builder.bodies()[0].node_set("zmin").unwrap();
    let top = builder.bodies()[1].node_set("zmax").unwrap();
    let all = vec![Vec3::x(), Vec3::y(), Vec3::z()];
    builder.restrain(bottom, all.clone(), None);
    let motion = Motion::Velocity { velocity: Vec3::new(0.1, 0.0, -0.5) };
    builder.restrain(top, all, Some(motion));
    builder.contact.law = Law { friction: 0.3, restitution: None };
    let model = builder.build().unwrap();
    let method = SemiExplicit::new(&model, TENTH, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    balanced(&mut run, 0.2);
    assert!(run.ledger.external > 0.0 && run.ledger.strain > 0.5 * run.ledger.external, "{:?}", run.ledger);
}

/// A block drops on a rigid box of hexes, a disc into a notch: solid on the left of the polyline.
#[test]
fn rigid_meshes_and_polylines_stop_bodies() {
    for pass in [Pass::Single, Pass::Double] {
        let options = Options { pass, ..Options::default() };
        let mut builder = Builder::default();
        let block = at(brick([1.0, 1.0, 0.5], [4, 4, 2]), 0.3, 0.4, 0.02);
        builder.body(body("block", block, &rubber(), 1.0));
        let anvil = at(brick([0.8, 0.9, 0.5], [1, 1, 1]), 0.0, 0.0, -0.5);
        builder.contact.obstacles.push(Obstacle::new("anvil", ObstacleShape::Mesh(anvil)));
        let model = builder.build().unwrap();
        let method = SemiExplicit::new(&model, TENTH, options);
        let mut run = Run::with(model, method, |_, _| Vec3::new(0.0, 0.0, -1.0));
        balanced(&mut run, 0.3);
        assert!(
            momentum(&run).z > 0.0 && run.ledger.penetration_max < 1e-3,
            "{}",
            run.ledger.penetration_max
        );

        let mut builder = Builder::default();
        let disc = disc_at(0.5, 0.1, 0.85, 4, 2);
        plane_body(&mut builder, body("disc", disc, &rubber(), 1.0));
        let points = vec![Vec3::new(2.0, 2.0, 0.0), Vec3::zeros(), Vec3::new(-2.0, 2.0, 0.0)];
        let notch = ObstacleShape::Polyline { points, closed: false };
        builder.contact.obstacles.push(Obstacle::new("notch", notch));
        let model = builder.build().unwrap();
        let method = SemiExplicit::new(&model, TENTH, options);
        let mut run = Run::with(model, method, |_, _| Vec3::new(0.0, -1.0, 0.0));
        balanced(&mut run, 0.5);
        assert!(
            momentum(&run).y > 0.0 && run.ledger.penetration_max < 1e-6,
            "{}",
            run.ledger.penetration_max
        );
    }
}

/// Two long bricks turned against each other meet edge on edge: without edges they would pass into each other.
#[test]
fn crossed_edges_stop_each_other() {
    let mut builder = Builder::default();
    for (name, axis, z) in [("lower", Vec3::x(), 0.0), ("upper", Vec3::y(), 1.4343)] {
        let size = if axis == Vec3::x() { [3.0, 1.0, 1.0] } else { [1.0, 3.0, 1.0] };
        let cells = if axis == Vec3::x() { [3, 1, 1] } else { [1, 3, 1] };
        let mut mesh = brick(size, cells);
        let middle = Vec3::new(0.5 * size[0], 0.5 * size[1], 0.5);
        let rotation = Some(Rotation { axis, angle: 0.25 * std::f64::consts::PI, about: Pivot::Centre });
        mesh.place(&Placement { at: Vec3::new(0.0, 0.0, z) - middle, rotation }).unwrap();
        builder.body(body(name, mesh, &rubber(), 1.0));
    }
    let model = builder.build().unwrap();
    let method = SemiExplicit::new(&model, TENTH, Options::default());
    let mut run = Run::with(model, method, |b, _| (1.0 - 2.0 * b as f64) * Vec3::z());
    balanced(&mut run, 0.3);
    let nodes = run.model.bodies[0].nodes.clone();
    let upwards: f64 = nodes.map(|k| run.model.mass[k] * run.state.v[k].z).sum();
    assert!(upwards < 0.0 && run.ledger.penetration_max < 1e-3, "{upwards} {}", run.ledger.penetration_max);
}

/// A rigid cube comes down with its corner on a face of one element, far from all nodes of the block beneath.
#[test]
fn corners_of_fine_obstacles_do_not_enter_between_nodes() {
    for pass in [Pass::Single, Pass::Double] {
        let mut builder = Builder::default();
        builder.body(body("block", at(brick([1.0, 1.0, 0.4], [1, 1, 1]), -0.4, -0.45, -0.4), &rubber(), 1.0));
        let bottom = builder.bodies()[0].node_set("zmin").unwrap();
        builder.restrain(bottom, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
        let mut spike = brick([0.2; 3], [1; 3]);
        let rotation = Some(Rotation {
            axis: Vec3::new(1.0, 1.0, 0.0),
            angle: f64::atan(f64::sqrt(2.0)),
            about: Pivot::Centre,
        });
        spike.place(&Placement { at: Vec3::new(-0.1, -0.1, 0.1), rotation }).unwrap();
        let motion = Some(Motion::Velocity { velocity: -1.0 * Vec3::z() });
        let spike = Obstacle { motion, ..Obstacle::new("spike", ObstacleShape::Mesh(spike)) };
        builder.contact.obstacles.push(spike);
        let model = builder.build().unwrap();
        let options = Options { pass, ..Options::default() };
        let method = SemiExplicit::new(&model, TENTH, options);
        let mut run = Run::with(model, method, |_, _| Vec3::zeros());
        // its corner begins 0.027 m above the block
        balanced(&mut run, 0.08);
        let on_block = run.method.impulse_between(0, 1);
        assert!(on_block.z < 0.0 && run.ledger.strain > 0.0, "{pass:?} {on_block}");
        assert!(run.ledger.penetration_max < 1e-3, "{pass:?} {}", run.ledger.penetration_max);
    }
}

/// A bar comes down across a beam that is held, its end a little beyond the far side: nodes of that end are near the side and
/// find nothing in their way, so edges must carry the bar.
#[test]
fn an_end_beside_a_body_does_not_silence_edges() {
    for beyond in [2e-4, 1e-3, 1e-2] {
        let mut builder = Builder::default();
        let bar = at(brick([1.0, 0.1, 0.1], [2, 1, 1]), beyond - 0.9, 0.45, 0.101);
        builder.body(body("bar", bar, &rubber(), 1.0));
        let beam = brick([0.1, 1.0, 0.1], [1, 1, 1]);
        builder.body(body("beam", beam, &rubber(), 1.0));
        let [bar, beam] = [0, 1].map(|b| builder.bodies()[b].mesh.nodes.len() as u32);
        builder.restrain((bar..bar + beam).collect(), vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
        let model = builder.build().unwrap();
        let options = Options { pass: Pass::Double, ..Options::default() };
        let method = SemiExplicit::new(&model, TENTH, options);
        let mut run = Run::with(model, method, |b, _| if b == 0 { -4.0 * Vec3::z() } else { Vec3::zeros() });
        balanced(&mut run, 0.02);
        assert!(run.ledger.penetration_max < 1e-3, "{beyond}: {}", run.ledger.penetration_max);
        let nodes = run.model.bodies[0].nodes.clone();
        let end = nodes.filter(|&k| run.model.reference[k].x > 0.1);
        let lowest = end.map(|k| run.state.x[k].z).fold(f64::INFINITY, f64::min);
        assert!(lowest > 0.09, "{beyond}: the end has come down to {lowest}");
    }
}
