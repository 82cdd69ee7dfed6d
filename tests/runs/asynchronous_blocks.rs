//! A block slides on a fixed plate and stops; a softer one rolls (`asynchronous`, St. Venant–Kirchhoff hexes, friction).
//!
//! Block 1×1×1 of 3×3×3 hexes, ρ = 1, gravity 1, v₀ = 1, μ = ½, on a plate whose nodes are all fixed. As a rigid body it
//! goes u = t − t²/4 until t = 2 and rests at u = 1; friction takes ½ v₀² = 0.5.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, ContactStep, Options};
use carom::model::{BodySpec, Builder, State};

#[derive(Debug, Default)]
struct Seen {
    /// (time, mean displacement of the bottom, tilt in degrees)
    path: Vec<(f64, f64, f64)>,
    energy: f64,
    friction: f64,
    left: f64,
    plate: f64,
    sideways: f64,
    penetration: f64,
    momentum: f64,
    forward: f64,
}

fn block(young: f64, mu: f64, end: f64, options: Options, rollers: bool) -> Seen {
    let law = Law::StVenantKirchhoff { young, poisson: 0.2, density: 1.0 };
    let mut builder = Builder::default();
    let mut cube = shape::Box::new([1.0; 3], [3; 3]).build().unwrap();
    cube.place(&Placement { at: Vec3::new(0.5, 0.5, 0.0), rotation: None }).unwrap();
    let mut plate = shape::Box::new([5.0, 2.0, 0.2], [5, 5, 1]).build().unwrap();
    plate.place(&Placement { at: Vec3::new(0.0, 0.0, -0.2), rotation: None }).unwrap();
    builder.body(BodySpec { gravity: -Vec3::z(), ..body("block", cube, &law, 1.0) });
    let index = builder.body(body("plate", plate, &law, 1.0));
    let fixed: Vec<u32> = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
    builder.restrain(fixed.clone(), vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    if rollers {
        for side in ["ymin", "ymax"] {
            let nodes = builder.bodies()[0].node_set(side).unwrap();
            builder.restrain(nodes, vec![Vec3::y()], None);
        }
    }
    builder.contact.law.friction = mu;
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, options);
    let mut run = Run::with(model, method, |b, _| if b == 0 { Vec3::x() } else { Vec3::zeros() });
    let (bottom, top) =
        (run.model.bodies[0].node_set("zmin").unwrap(), run.model.bodies[0].node_set("zmax").unwrap());
    let mean =
        |nodes: &[u32], x: &[Vec3]| nodes.iter().map(|&n| x[n as usize]).sum::<Vec3>() / nodes.len() as f64;
    let first = mean(&bottom, &run.model.reference);
    let mut seen = Seen::default();
    let mut copy: State = run.state.clone();
    for k in 1..=(20.0 * end) as u32 {
        let t = f64::from(k) / 20.0;
        run.until(t).unwrap();
        run.method.synchronise(&run.model, &run.state, &mut copy);
        let (low, high) = (mean(&bottom, &copy.x), mean(&top, &copy.x));
        let up = high - low;
        seen.path.push((t, (low - first).x, up.x.atan2(up.z).to_degrees()));
        seen.energy = seen.energy.max(run.ledger.error().abs() / 0.5);
        for &n in &fixed {
            let n = n as usize;
            seen.plate = seen.plate.max((copy.x[n] - run.model.reference[n]).norm() + copy.v[n].norm());
        }
        if rollers {
            let y = |n: usize| (copy.x[n].y - run.model.reference[n].y).abs();
            seen.sideways =
                run.model.restraints.held.iter().map(|h| y(h.node as usize)).fold(seen.sideways, f64::max);
        }
    }
    seen.friction = run.ledger.friction;
    seen.left = run.ledger.total() - run.ledger.external;
    seen.penetration = run.ledger.penetration_max;
    let p: Vec3 = copy.v.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
    seen.momentum = (p - Vec3::x() - run.ledger.impulse).norm();
    seen.forward = p.x;
    seen
}

impl Seen {
    fn end(&self) -> f64 {
        self.path.last().unwrap().1
    }

    /// When its tilt first reaches an angle.
    fn crosses(&self, tilt: f64) -> f64 {
        let after = self.path.windows(2).find(|w| w[1].2 >= tilt).unwrap();
        after[0].0 + (tilt - after[0].2) / (after[1].2 - after[0].2) * (after[1].0 - after[0].0)
    }

    fn tilt(&self, time: f64) -> f64 {
        self.path.iter().find(|p| (p.0 - time).abs() < 1e-9).unwrap().2
    }
}

fn with(share: f64) -> Options {
    Options { safety: share, contact_step: ContactStep::Local(share), ..Options::default() }
}

#[test]
fn a_stiff_block_slides_like_a_rigid_one() {
    let rigid = |t: f64| if t < 2.0 { t - t * t / 4.0 } else { 1.0 };
    for (share, energy) in [(0.5, 0.015), (0.25, 0.005)] {
        let seen = block(100.0, 0.5, 3.0, with(share), false);
        assert!((seen.end() - 1.0).abs() <= 0.01, "{}", seen.end());
        for &(t, u, tilt) in &seen.path {
            assert!((u - rigid(t)).abs() <= 0.04 && tilt.abs() < 4.0, "{t} {u} {tilt}");
        }
        // at rest from t = 2 on but for what is left of its shaking
        let stop = seen.path.iter().find(|p| (p.1 - seen.end()).abs() <= 0.005).unwrap().0;
        assert!((stop - 2.0).abs() <= 0.15, "{stop}");
        assert!(
            (seen.friction - 0.5).abs() <= 0.015 && seen.left <= 0.012,
            "{} {}",
            seen.friction,
            seen.left
        );
        assert!(
            seen.energy <= energy && seen.momentum <= 1e-12 && seen.penetration <= 0.02,
            "{}",
            seen.energy
        );
        assert_eq!(seen.plate, 0.0);
    }
}

#[test]
fn friction_decides_how_far_a_block_slides() {
    let smooth = block(100.0, 0.0, 3.0, with(0.5), false);
    assert!((smooth.forward - 1.0).abs() <= 1e-3 && smooth.friction == 0.0);
    let rough = block(100.0, 10.0, 3.0, with(0.5), false);
    assert!((rough.end() - 0.38).abs() <= 0.05, "{}", rough.end());
    // rollers across: the inverse mass of a contact between them and fixed nodes is singular
    let rollers = block(100.0, 0.5, 3.0, with(0.5), true);
    assert!((rollers.end() - 1.0).abs() <= 0.015 && rollers.sideways == 0.0, "{}", rollers.end());
}

/// Ten times softer, it tucks its leading edge, rolls over it and lies down on its front; tilts from a prototype of the
/// method. (Nodes that keep the normals they had at first do not touch the plate with that front: then the block sinks in,
/// an element turns inside out at t = 1.4, and it would stand at 90° by 1.93.)
#[test]
fn a_soft_block_rolls() {
    let seen = block(10.0, 0.5, 3.0, with(0.25), false);
    for (t, tilt) in [(0.3, 2.0), (0.6, 10.0), (0.9, 22.8), (1.2, 38.6), (1.5, 57.7)] {
        assert!((seen.tilt(t) - tilt).abs() <= 0.7, "{t} {}", seen.tilt(t));
    }
    assert!((seen.crosses(90.0) - 2.14).abs() <= 0.05, "{}", seen.crosses(90.0));
    assert!((seen.tilt(2.7) - 109.0).abs() <= 2.0, "{}", seen.tilt(2.7));
    assert!(seen.energy <= 0.01 && seen.penetration <= 0.03, "{} {}", seen.energy, seen.penetration);
}

#[test]
fn the_scheme_as_printed_is_clearly_worse() {
    let seen = block(100.0, 0.5, 3.0, Options::paper(0.5, 0.5), false);
    assert!(seen.energy >= 0.05, "{}", seen.energy);
}
