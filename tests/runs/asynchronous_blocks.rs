//! A block slides on a fixed plate and stops; a softer one rolls (`asynchronous`, St. Venant–Kirchhoff hexes, friction).
//!
//! Block 1×1×1 of 3×3×3 hexes, ρ = 1, gravity 1, v₀ = 1, μ = ½, on a plate whose nodes are all fixed. As a rigid body it
//! goes u = t − t²/4 until t = 2 and rests at u = 1; friction takes ½ v₀² = 0.5.

use crate::common::{Run, body};
use carom::element::hex8::Hex8;
use carom::material::{Lame, StVenantKirchhoff};
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
    error: f64,
}

fn block(young: f64, mu: f64, end: f64, options: Options, rollers: bool) -> Seen {
    let law = StVenantKirchhoff { lame: Lame::from_young(young, 0.2), density: 1.0 };
    let mut builder = Builder::default();
    let mut cube = shape::Box::new([1.0; 3], [3; 3]).build().unwrap();
    cube.place(&Placement { at: Vec3::new(0.5, 0.5, 0.0), rotation: None }).unwrap();
    let mut plate = shape::Box::new([5.0, 2.0, 0.2], [5, 5, 1]).build().unwrap();
    plate.place(&Placement { at: Vec3::new(0.0, 0.0, -0.2), rotation: None }).unwrap();
    builder.body(BodySpec { gravity: -Vec3::z(), ..body::<Hex8, _>("block", cube, law, 1.0) });
    let index = builder.body(body::<Hex8, _>("plate", plate, law, 1.0));
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
    let (bottom, top) = (run.model.bodies[0].node_set("zmin").unwrap(), run.model.bodies[0].node_set("zmax").unwrap());
    let mean = |nodes: &[u32], x: &[Vec3]| nodes.iter().map(|&n| x[n as usize]).sum::<Vec3>() / nodes.len() as f64;
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
            seen.sideways = run.model.restraints.held.iter().map(|h| y(h.node as usize)).fold(seen.sideways, f64::max);
        }
    }
    seen.friction = run.ledger.friction;
    seen.left = run.ledger.total() - run.ledger.external;
    seen.penetration = run.ledger.penetration_max;
    seen.error = run.ledger.error();
    let p: Vec3 = copy.v.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
    println!("momentum balance {:.2e} px {}", (p - Vec3::x() - run.ledger.impulse).norm(), p.x);
    seen
}

fn explore(name: &str, seen: &Seen) {
    let rigid = |t: f64| if t < 2.0 { t - t * t / 4.0 } else { 1.0 };
    let sup = seen.path.iter().map(|p| (p.1 - rigid(p.0)).abs()).fold(0.0, f64::max);
    let tilt = seen.path.iter().map(|p| p.2.abs()).fold(0.0, f64::max);
    println!("{name}: end {:.4} sup {sup:.4} energy {:.3} % friction {:.4} left {:.4} plate {:.1e} side {:.1e} tilt {tilt:.2} pen {:.4}", seen.path.last().unwrap().1, 100.0 * seen.energy, seen.friction, seen.left, seen.plate, seen.sideways, seen.penetration);
}

#[test]
fn look() {
    let begin = std::time::Instant::now();
    let with = |safety: f64, share: f64| Options { safety, contact_step: ContactStep::Local(share), ..Options::default() };
    explore("slide .5 .5", &block(100.0, 0.5, 3.0, with(0.5, 0.5), false));
    println!("{:?}", begin.elapsed());
    explore("slide .25 .25", &block(100.0, 0.5, 3.0, with(0.25, 0.25), false));
    explore("slide .25 .125", &block(100.0, 0.5, 3.0, with(0.125, 0.125), false));
    explore("slide mu 10", &block(100.0, 10.0, 3.0, with(0.5, 0.5), false));
    explore("slide mu 0", &block(100.0, 0.0, 3.0, with(0.5, 0.5), false));
    explore("slide rollers", &block(100.0, 0.5, 3.0, with(0.5, 0.5), true));
    explore("paper", &block(100.0, 0.5, 3.0, Options::paper(0.5, 0.5), false));
    let roll = block(10.0, 0.5, 3.0, with(0.25, 0.25), false);
    explore("roll", &roll);
    for t in [0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 1.95, 2.1, 2.7] {
        println!("{:?}", roll.path.iter().find(|p| (p.0 - t).abs() < 1e-9));
    }
}

#[test]
fn rolls() {
    let with = |safety: f64, share: f64| Options { safety, contact_step: ContactStep::Local(share), ..Options::default() };
    for (a, b) in [(0.5, 0.5), (0.25, 0.5), (0.25, 0.25), (0.25, 0.125), (0.125, 0.125), (0.125, 0.25)] {
        let roll = block(10.0, 0.5, 3.0, with(a, b), false);
        explore(&format!("roll {a} {b}"), &roll);
        let tilts: Vec<String> = [0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 1.95, 2.1, 2.7].iter().map(|t| format!("{:.1}", roll.path.iter().find(|p| (p.0 - t).abs() < 1e-9).unwrap().2)).collect();
        println!("{tilts:?}");
    }
}
