//! Method `velocity-update`: a body that touches itself. A ring with a slit is thrown so that the slit closes: its two ends meet, keep energy and momenta, and
//! part again.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::StepRule;
use carom::method::velocity_update::{Options, VelocityUpdate};
use carom::model::{Builder, Model};
use std::f64::consts::PI;

/// Half of the slit, as an angle.
const SLIT: f64 = 0.03;

fn slit_ring(itself: bool, mu: f64) -> Model {
    let law = Law::StVenantKirchhoff { young: 100.0, poisson: 0.3, density: 1.0 };
    let mut mesh = shape::Rectangle::new([1.0, 0.3], [40, 2]).build().unwrap();
    for p in &mut mesh.nodes {
        let (sin, cos) = (SLIT + (2.0 * PI - 2.0 * SLIT) * p.x).sin_cos();
        *p = (1.0 - p.y) * Vec3::new(cos, sin, 0.0);
    }
    let nodes = (0..mesh.nodes.len() as u32).collect();
    let mut builder = Builder::default();
    builder.body(body("ring", mesh, &law, 1.0));
    builder.restrain(nodes, vec![Vec3::z()], None);
    builder.contact.law.friction = mu;
    if itself {
        builder.contact.with_itself.push(0);
    }
    builder.build().unwrap()
}

/// Momentum along x and y, and about z.
fn momenta(run: &Run<VelocityUpdate>) -> Vec3 {
    let nodes = run.model.mass.iter().zip(&run.state.x).zip(&run.state.v);
    nodes.map(|((m, x), v)| *m * Vec3::new(v.x, v.y, x.cross(v).z)).sum()
}

/// How far the slit is open at least and at the end, momenta at the start, and the run.
fn close(itself: bool, mu: f64) -> ([f64; 2], Vec3, Run<VelocityUpdate>) {
    let model = slit_ring(itself, mu);
    let step = model.stable_step();
    let method = VelocityUpdate::new(&model, StepRule::Fixed(step), Options::default()).unwrap();
    // both ends towards the slit at angle 0, and one of them outwards, so that they slip on each other
    let thrown = |_: usize, x: &Vec3| {
        let angle = x.y.atan2(x.x).rem_euclid(2.0 * PI);
        let along = Vec3::new(-angle.sin(), angle.cos(), 0.0);
        let out = if angle < 1.0 { 0.3 * x } else { Vec3::zeros() };
        0.5 * (angle / PI - 1.0) * along + out
    };
    let mut run = Run::with(model, method, thrown);
    let at_start = momenta(&run);
    let ends = |first: bool| {
        let at = move |x: &Vec3| {
            let angle = x.y.atan2(x.x).rem_euclid(2.0 * PI);
            if first { angle < 1.01 * SLIT } else { angle > 2.0 * PI - 1.01 * SLIT }
        };
        (0..run.model.reference.len()).filter(|&k| at(&run.model.reference[k])).collect::<Vec<usize>>()
    };
    let [upper, lower] = [ends(true), ends(false)];
    assert!(upper.len() == 3 && lower.len() == 3);
    let (mut least, mut open) = (f64::INFINITY, 0.0);
    while run.state.time < 0.4 {
        run.until(run.state.time + step).unwrap();
        let edge = |nodes: &[usize]| nodes.iter().map(|&k| run.state.x[k].y).collect::<Vec<f64>>();
        let above = edge(&upper).into_iter().fold(f64::INFINITY, f64::min);
        let below = edge(&lower).into_iter().fold(f64::NEG_INFINITY, f64::max);
        open = above - below;
        least = f64::min(least, open);
    }
    ([least, open], at_start, run)
}

#[test]
fn the_ends_of_a_slit_ring_meet_and_part() {
    for mu in [0.0, 0.4] {
        let ([least, open], at_start, run) = close(true, mu);
        let l = &run.ledger;
        println!(
            "μ {mu}: open {least:.4} {open:.4}, friction {:.3e} of {:.3e}, error {:.1e}, correction {:.1e}, overlap {:.1e}, {:?}",
            l.friction,
            l.initial,
            l.error_max,
            l.correction,
            l.penetration_max,
            run.method.effort()
        );
        assert!(l.collision_kicks > 0 && least > -0.01 && open > 0.0, "{least} {open}");
        assert!((l.friction > 0.0) == (mu > 0.0));
        assert!(l.error_max < 1e-8 * l.initial && l.correction.abs() < 1e-4 * l.initial);
        let now = momenta(&run);
        assert!((now - at_start).norm() < 1e-9, "{now} {at_start}");
    }
    let ([through, _], _, blind) = close(false, 0.4);
    assert!(blind.ledger.collision_kicks == 0 && through < -0.02, "{through}");
}
