//! Supports hold and lead exactly, loads do what mechanics says, and both close the books: momenta to round-off,
//! energy with an error of second order in the step.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::verlet::StepRule;
use carom::model::restraint::Motion;
use carom::model::{BodySpec, Builder, Model, Table};

const YOUNG: f64 = 2.1;
const LAW: Law = Law::StVenantKirchhoff { young: YOUNG, poisson: 0.28, density: 1.3 };

fn block() -> BodySpec<'static> {
    let mesh = shape::Box::new([1.0, 0.7, 0.5], [2, 2, 1]).build().unwrap();
    body("block", mesh, &LAW, 1.0)
}

fn all(builder: &Builder, set: &str) -> Vec<u32> {
    builder.bodies()[0].node_set(set).unwrap()
}

fn axes() -> Vec<Vec3> {
    vec![Vec3::x(), Vec3::y(), Vec3::z()]
}

fn still(_: &Vec3) -> Vec3 {
    Vec3::zeros()
}

/// A spin and a stretch, so that nothing is symmetric by chance.
fn lively(x: &Vec3) -> Vec3 {
    Vec3::new(0.05 * x.y - 0.04 * x.z, 0.1 * x.x * x.z, -0.08 * x.x + 0.02 * x.y)
}

/// The change of both momenta is what the ledger says was put in, to round-off.
fn assert_momenta_close(run: &Run, v: impl Fn(&Vec3) -> Vec3) {
    let (mut p, mut l, mut size) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    let nodes = run.model.mass.iter().zip(&run.state.x).zip(&run.state.v).zip(&run.model.reference);
    for (((m, x), after), start) in nodes {
        let mut before = v(start);
        for held in
            run.model.restraints.held.iter().filter(|h| run.model.reference[h.node as usize] == *start)
        {
            before = held.free * before + run.model.restraints.velocity(held, 0.0);
        }
        p += *m * (after - before);
        l += *m * (x.cross(after) - start.cross(&before));
        size += m * (after.norm() + before.norm());
    }
    // what went through loads and supports counts too
    size += run.ledger.impulse.norm();
    size += (0..run.model.restraints.held.len()).map(|h| run.method.support_impulse(h).norm()).sum::<f64>();
    let (p, l) = ((p - run.ledger.impulse).norm(), (l - run.ledger.moment).norm());
    assert!(p < 2e-13 * size && l < 2e-13 * size, "{p:e} {l:e} of {size:e}");
}

/// Runs at three steps over the same time; the largest error of the ledger falls by four each time.
fn assert_second_order(model: impl Fn() -> Model, end: f64, v: impl Fn(&Vec3) -> Vec3 + Copy) {
    let errors: Vec<f64> = [0.4, 0.2, 0.1]
        .into_iter()
        .map(|share| {
            let model = model();
            let stable = model.stable_step();
            // whole steps between the corners of every table
            let steps = (end / (share * stable) / 4.0).ceil() * 4.0;
            let mut run = Run::start(model, StepRule::Fixed(end / steps), v);
            run.until(end).unwrap();
            assert_momenta_close(&run, v);
            run.ledger.error_max
        })
        .collect();
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.25, "{errors:?}");
    }
}

/// Under gravity alone every body falls by `v₀t + ½gt²`, which the method follows without error, and unstrained.
#[test]
fn a_body_falls_freely_and_exactly() {
    let mut builder = Builder::default();
    let gravity = Vec3::new(0.3, -0.2, -9.81);
    builder.body(BodySpec { gravity, ..block() });
    let v0 = Vec3::new(1.0, 2.0, 3.0);
    let mut run = Run::start(builder.build().unwrap(), StepRule::Automatic { safety: 0.9 }, |_| v0);
    run.until(2.0).unwrap();
    let t = run.state.time;
    let fall = v0 * t + 0.5 * t * t * gravity;
    for ((x, v), start) in run.state.x.iter().zip(&run.state.v).zip(&run.model.reference) {
        assert!((x - start - fall).norm() < 1e-12 && (v - v0 - t * gravity).norm() < 1e-12);
    }
    let ledger = &run.ledger;
    let mass: f64 = run.model.mass.iter().sum();
    assert!((ledger.external - mass * gravity.dot(&fall)).abs() < 1e-12);
    assert!(ledger.strain < 1e-24 && ledger.error_max < 1e-11 * ledger.peak);
    assert_momenta_close(&run, |_| v0);
}

/// A body on inclined rollers slides with the gravity along them, and they carry the gravity across.
#[test]
fn inclined_rollers_hold_their_plane_and_nothing_else() {
    let normal = Vec3::new(0.3, -0.2, 1.0).normalize();
    let gravity = Vec3::new(0.0, 0.0, -0.05);
    let model = || {
        let mut builder = Builder::default();
        builder.body(BodySpec { gravity, ..block() });
        builder.restrain(all(&builder, "zmin"), vec![2.5 * normal], None);
        builder.build().unwrap()
    };
    let mut run = Run::start(model(), StepRule::Automatic { safety: 0.5 }, still);
    let mass: f64 = run.model.mass.iter().sum();
    for k in 1..=40 {
        run.until(k as f64).unwrap();
        for held in &run.model.restraints.held {
            let moved = run.state.x[held.node as usize] - run.model.reference[held.node as usize];
            assert!(moved.dot(&normal).abs() < 1e-15 * (1.0 + moved.norm()));
            assert!(run.state.v[held.node as usize].dot(&normal).abs() < 1e-15);
        }
        // across the rollers nothing but gravity acts
        let p: Vec3 = run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum();
        let along = |y: Vec3| y - normal * normal.dot(&y);
        assert!((along(p) - mass * run.state.time * along(gravity)).norm() < 1e-12);
        let push: Vec3 = (0..run.model.restraints.held.len()).map(|h| run.method.support_impulse(h)).sum();
        assert!(along(push).norm() < 1e-12 * push.norm());
        // p = impulse of the weight + impulse of the rollers
        assert!((p - mass * run.state.time * gravity - push).norm() < 1e-12);
    }
    assert_momenta_close(&run, still);
    assert_second_order(model, 4.0, lively);
}

/// Position and velocity of a prescribed face are those of its table after every step.
#[test]
fn a_led_face_is_where_it_is_led_and_its_drive_pays_for_everything() {
    let table = Table::new(vec![(0.0, 0.0), (1.0, 1.0), (2.0, -0.5), (4.0, 0.2)]).unwrap();
    let motion = Motion::Displacement { displacement: Vec3::new(0.1, 0.05, -0.08), table };
    let model = || {
        let mut builder = Builder::default();
        builder.body(BodySpec { damping: 0.3, gravity: Vec3::new(0.02, 0.0, -0.05), ..block() });
        builder.restrain(all(&builder, "xmin"), axes(), Some(motion.clone()));
        let push = Motion::Velocity { velocity: Vec3::new(0.03, 0.01, 0.02) };
        let oblique = Vec3::new(1.0, 1.0, 0.0);
        builder.restrain(all(&builder, "xmax"), vec![oblique], Some(push));
        builder.build().unwrap()
    };
    let dt = 4.0 / 128.0;
    let mut run = Run::start(model(), StepRule::Fixed(dt), still);
    let (left, right) =
        (run.model.bodies[0].node_set("xmin").unwrap(), run.model.bodies[0].node_set("xmax").unwrap());
    let along = Vec3::new(1.0, 1.0, 0.0).normalize();
    for k in 1..=128 {
        run.until(k as f64 * dt).unwrap();
        let t = run.state.time;
        assert_eq!(t, k as f64 * dt);
        for &n in &left {
            let moved = run.state.x[n as usize] - run.model.reference[n as usize];
            assert!((moved - motion.displacement(t)).norm() < 1e-15);
            assert_eq!(run.state.v[n as usize], motion.velocity(t));
        }
        for &n in &right {
            let moved = run.state.x[n as usize] - run.model.reference[n as usize];
            let asked = Vec3::new(0.03, 0.01, 0.02).dot(&along);
            assert!((moved.dot(&along) - asked * t).abs() < 1e-15);
        }
    }
    assert!(run.ledger.external.abs() > 1e-3 && run.ledger.damping > 1e-4);
    assert_momenta_close(&run, still);
    assert_second_order(model, 4.0, still);
}

/// Swinging up and down a hanging body weighs its weight on average; at rest, exactly.
#[test]
fn a_hanging_body_weighs_what_it_weighs() {
    let gravity = Vec3::new(0.0, 0.0, -0.05);
    let hang = |damping: f64| {
        let mut builder = Builder::default();
        builder.body(BodySpec { gravity, damping, ..block() });
        builder.restrain(all(&builder, "zmax"), axes(), None);
        builder.build().unwrap()
    };
    let reaction = |run: &Run| -> Vec3 {
        (0..run.model.restraints.held.len()).map(|h| run.method.support_impulse(h)).sum()
    };
    let mut run = Run::start(hang(0.0), StepRule::Fixed(0.05), still);
    run.until(400.0).unwrap();
    let weight: Vec3 = gravity * run.model.mass.iter().sum::<f64>();
    let p: Vec3 = run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum();
    // what the mean lacks is the momentum left at the end, and no more
    assert!((reaction(&run) + weight * 400.0 - p).norm() < 1e-12 * weight.norm() * 400.0);
    assert!((reaction(&run) / 400.0 + weight).norm() < 2e-3 * weight.norm());
    assert_momenta_close(&run, still);

    let mut run = Run::start(hang(1.0), StepRule::Fixed(0.05), still);
    run.until(60.0).unwrap();
    let before = reaction(&run);
    run.until(80.0).unwrap();
    let mean = (reaction(&run) - before) / (run.state.time - 60.0);
    assert!((mean + weight).norm() < 1e-10 * weight.norm(), "{mean:?}");
    assert_momenta_close(&run, still);
    assert_second_order(|| hang(0.2), 4.0, lively);
}

/// `v = v₀e^(−ct)`: the energy taken out is booked, with the error of the step squared.
#[test]
fn drag_slows_a_drifting_body_at_its_rate() {
    let v0 = Vec3::new(0.4, -0.3, 0.2);
    let drift = |dt: f64| {
        let mut builder = Builder::default();
        builder.body(BodySpec { damping: 0.8, ..block() });
        let mut run = Run::start(builder.build().unwrap(), StepRule::Fixed(dt), |_| v0);
        run.until(2.0).unwrap();
        assert_momenta_close(&run, |_| v0);
        let lost = run.ledger.initial * (1.0 - (-2.0 * 0.8 * run.state.time).exp());
        let wrong_v = (run.state.v[0] - v0 * (-0.8 * run.state.time).exp()).norm();
        (wrong_v, (run.ledger.damping - lost).abs(), run.ledger.error_max)
    };
    let runs = [1.0 / 16.0, 1.0 / 32.0, 1.0 / 64.0].map(drift);
    for pair in runs.windows(2) {
        for (coarse, fine) in [(pair[0].0, pair[1].0), (pair[0].1, pair[1].1), (pair[0].2, pair[1].2)] {
            assert!(((coarse / fine).log2() - 2.0).abs() < 0.1, "{runs:?}");
        }
    }
}

/// A pressure that follows, a dead traction, a force on nodes and one on the volume, in a ramp and a fall.
#[test]
fn loads_do_the_work_that_the_ledger_books() {
    let table = || Table::new(vec![(0.0, 0.0), (2.0, 1.0), (4.0, 0.3)]).unwrap();
    let load = |which: usize| {
        move || {
            let mut builder = Builder::default();
            let index = builder.body(block());
            let mesh = builder.bodies()[0].mesh.clone();
            match which {
                0 => builder.pressure(index, &mesh.side_sets["xmax"], 0.1, table()),
                1 => builder.traction(index, &mesh.side_sets["xmax"], Vec3::new(0.05, 0.1, -0.03), table()),
                2 => builder.force(all(&builder, "ymax"), Vec3::new(0.01, -0.05, 0.02), table()),
                _ => builder.body_force(index, Vec3::new(0.02, -0.05, 0.04), table()),
            }
            builder.build().unwrap()
        }
    };
    for which in 0..4 {
        assert_second_order(load(which), 4.0, lively);
    }
    // the impulse of loads that do not follow: force × ∫table = 1 + 1.3
    for (which, force) in [
        (1, Vec3::new(0.05, 0.1, -0.03) * 0.35),
        (2, Vec3::new(0.01, -0.05, 0.02)),
        (3, Vec3::new(0.02, -0.05, 0.04) * 0.35),
    ] {
        let mut run = Run::start(load(which)(), StepRule::Fixed(1.0 / 16.0), still);
        run.until(4.0).unwrap();
        assert!((run.ledger.impulse - 2.3 * force).norm() < 1e-15, "{which}");
    }
}

/// Pressure on both ends of a bar: in balance, and it shortens the bar.
#[test]
fn pressure_pushes_the_ends_of_a_bar_inwards() {
    let mut builder = Builder::default();
    let mesh = shape::Bar::new(2.0, 8).build().unwrap();
    let sides = [mesh.side_sets["xmin"].clone(), mesh.side_sets["xmax"].clone()].concat();
    let index = builder.body(BodySpec { damping: 2.0, ..body("bar", mesh, &LAW, 0.3) });
    builder.pressure(index, &sides, 0.01, Table::default());
    let mut run = Run::start(builder.build().unwrap(), StepRule::Automatic { safety: 0.9 }, still);
    run.until(120.0).unwrap();
    // F·S = −p with S = E(F² − 1)/2
    let stretch = (run.state.x[8].x - run.state.x[0].x) / 2.0;
    assert!((stretch * YOUNG * 0.5 * (stretch * stretch - 1.0) + 0.01).abs() < 1e-12, "{stretch}");
    assert!(run.ledger.impulse.norm() < 1e-14);
}
