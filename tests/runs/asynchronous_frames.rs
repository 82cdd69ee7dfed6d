//! The answer does not depend on where one looks from (`asynchronous`): a scene that is shifted, turned, or seen from a
//! moving train behaves as before. Two cubes of hexes meet obliquely; round-off grows with every contact, so the time is
//! short.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::{Mat3, Vec3};
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, Options};
use carom::model::Builder;

const END: f64 = 0.35;

/// Final positions and velocities of the scene in the frame `x ↦ turn x + shift`, moving with `train`.
fn thrown(turn: Mat3, shift: Vec3, train: Vec3, mu: f64) -> (Vec<Vec3>, Vec<Vec3>) {
    let law = Law::StVenantKirchhoff { young: 50.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    for (name, at, cells) in
        [("left", Vec3::new(-1.02, 0.23, 0.11), [3, 2, 2]), ("right", Vec3::zeros(), [2, 3, 3])]
    {
        let mut mesh = shape::Box::new([1.0; 3], cells).build().unwrap();
        mesh.nodes.iter_mut().for_each(|p| *p = turn * (*p + at) + shift);
        builder.body(body(name, mesh, &law, 1.0));
    }
    builder.contact.law.friction = mu;
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, Options::default());
    let speed = |b: usize, _: &Vec3| {
        let own = if b == 0 { Vec3::new(0.8, 0.1, -0.05) } else { Vec3::new(-0.8, 0.0, 0.0) };
        turn * own + train
    };
    let mut run = Run::with(model, method, speed);
    run.until(END).unwrap();
    let mut copy = run.state.clone();
    run.method.synchronise(&run.model, &run.state, &mut copy);
    assert!(run.ledger.collision_kicks >= 10, "{}", run.ledger.collision_kicks);
    assert!((copy.time - END).abs() < 1e-3);
    let back = turn.transpose();
    let x = copy.x.iter().map(|x| back * (x - shift - copy.time * train)).collect();
    (x, copy.v.iter().map(|v| back * (v - train)).collect())
}

fn same(a: &(Vec<Vec3>, Vec<Vec3>), b: &(Vec<Vec3>, Vec<Vec3>)) {
    for (p, q) in a.0.iter().zip(&b.0).chain(a.1.iter().zip(&b.1)) {
        assert!((p - q).norm() <= 1e-9, "{p} {q}");
    }
}

#[test]
fn a_collision_is_the_same_seen_from_a_moving_train() {
    let still = thrown(Mat3::identity(), Vec3::zeros(), Vec3::zeros(), 0.3);
    same(&still, &thrown(Mat3::identity(), Vec3::zeros(), Vec3::new(1.0, -2.0, 0.5), 0.3));
}

#[test]
fn a_collision_is_the_same_shifted_and_turned() {
    let turn = *nalgebra::Rotation3::new(Vec3::new(0.4, -1.1, 0.7)).matrix();
    for mu in [0.0, 0.3] {
        let here = thrown(Mat3::identity(), Vec3::zeros(), Vec3::zeros(), mu);
        same(&here, &thrown(Mat3::identity(), Vec3::new(3.0, -7.0, 11.0), Vec3::zeros(), mu));
        same(&here, &thrown(turn, Vec3::new(0.5, 0.2, -0.3), Vec3::zeros(), mu));
    }
}
