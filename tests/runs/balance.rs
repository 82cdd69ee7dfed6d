//! Momentum, angular momentum and energy of a run step by step.

use crate::common::{Run, body};
use carom::material;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::{Mesh, shape};
use carom::method::Method;
use carom::model::contact::Law;
use carom::model::{Builder, Model};

pub fn rubber() -> material::Law {
    material::Law::NeoHookean { young: 1e3, poisson: 0.3, density: 1.0 }
}

pub fn at(mut mesh: Mesh, x: f64, y: f64, z: f64) -> Mesh {
    mesh.place(&Placement { at: Vec3::new(x, y, z), rotation: None }).unwrap();
    mesh
}

pub fn brick(size: [f64; 3], cells: [u32; 3]) -> Mesh {
    shape::Box::new(size, cells).build().unwrap()
}

/// A block above one whose surface is partly held: some of the nodes it meets cannot move at all, others only level.
pub fn partly_held() -> Model {
    let mut builder = Builder::default();
    builder.body(body("lower", brick([1.0, 1.0, 0.5], [3, 3, 2]), &rubber(), 1.0));
    let upper = at(brick([0.6, 0.7, 0.4], [2, 3, 2]), 0.1, 0.2, 0.55);
    builder.body(body("upper", upper, &rubber(), 1.0));
    let set = |name: &str| builder.bodies()[0].node_set(name).unwrap();
    let top = set("zmax");
    let (bottom, side): (Vec<u32>, Vec<u32>) = (set("zmin"), set("ymin"));
    let edge: Vec<u32> = top.iter().copied().filter(|k| side.contains(k)).collect();
    builder.restrain(bottom, vec![Vec3::z()], None);
    builder.restrain(edge, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    let level: Vec<u32> = top.iter().copied().filter(|k| !side.contains(k)).take(4).collect();
    builder.restrain(level, vec![Vec3::new(0.0, 0.3, 1.0)], None);
    builder.contact.law = Law { friction: 0.3, restitution: None };
    builder.build().unwrap()
}

pub fn momentum<M: Method>(run: &Run<M>) -> Vec3 {
    run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum()
}

pub fn spin<M: Method>(run: &Run<M>) -> Vec3 {
    let (x, v) = (&run.state.x, &run.state.v);
    run.model.mass.iter().enumerate().map(|(k, m)| x[k].cross(&(*m * v[k]))).sum()
}

/// Runs to `end`; the momentum that is there is what came from outside, but for `round_off` of what there is, and the energy is
/// booked. Angular momentum hangs on positions that contact moves: a hundredth.
pub fn balanced<M: Method>(run: &mut Run<M>, end: f64, round_off: f64) {
    let (p, l) = (momentum(run), spin(run));
    let scale: f64 = run.model.mass.iter().zip(&run.state.v).map(|(m, v)| m * v.norm()).sum();
    while run.state.time < end {
        run.until(run.state.time + 1e-9).unwrap();
        let lost = (momentum(run) - p - run.ledger.impulse).norm();
        assert!(lost <= round_off * scale.max(1.0), "momentum {lost} at {}", run.state.time);
        let lost = (spin(run) - l - run.ledger.moment).norm();
        assert!(lost <= 1e-2 * scale.max(1.0), "angular momentum {lost} at {}", run.state.time);
    }
    assert!(run.ledger.contacts_peak > 0, "nothing met");
    assert!(run.ledger.error_max_rel() < 0.005, "{}", run.ledger.error_max_rel());
}
