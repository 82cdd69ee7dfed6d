//! Two bars 10×1×1 of hexes whose meshes do not match (5n×n×n and 5(n+1)×(n+1)×(n+1)) meet at ±0.1, E = ρ = 1, ν = 0.
//!
//! As in one dimension they part at t = 20 with the impulse 2. Nodes of either side lie inside faces of the other, so
//! every contact is shared by several.

mod common;

use carom::element::hex8::Hex8;
use carom::material::{Lame, Linear};
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape::{self, End, Grading};
use carom::method::dcr::{Dcr, Options, Variant};
use carom::method::verlet::StepRule;
use carom::model::Builder;
use common::{Run, body};
use std::time::Instant;

#[derive(Debug)]
struct Seen {
    energy: (f64, f64, f64),
    last_impulse: f64,
    impulse: f64,
    momentum: f64,
    spin: f64,
    ledger: f64,
    penetration: f64,
    tip: f64,
    seconds: f64,
}

fn two_bars(n: u32, graded: bool, safety: f64, options: Options) -> Seen {
    let law = Linear { lame: Lame::from_young(1.0, 0.0), density: 1.0 };
    let mut builder = Builder::default();
    for (name, at, n, fine) in [("left", -10.0, n, End::Max), ("right", 0.0, n + 1, End::Min)] {
        let mut shape = shape::Box::new([10.0, 1.0, 1.0], [5 * n, n, n]);
        if graded {
            shape.grading[0] = Grading::Quadratic { slope: 1.0 / f64::from(n), fine };
        }
        let mut mesh = shape.build().unwrap();
        mesh.place(&Placement { at: Vec3::new(at, 0.0, 0.0), rotation: None }).unwrap();
        builder.body(body::<Hex8, _>(name, mesh, law.clone(), 1.0));
    }
    let model = builder.build().unwrap();
    let start = Instant::now();
    let method = Dcr::new(&model, StepRule::Automatic { safety }, options);
    let speed = |b: usize, _: &Vec3| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() };
    let mut run = Run::with(model, method, speed);
    let mut seen = Seen {
        energy: (f64::INFINITY, 0.0, 0.0),
        last_impulse: 0.0,
        impulse: 0.0,
        momentum: 0.0,
        spin: 0.0,
        ledger: 0.0,
        penetration: 0.0,
        tip: 0.0,
        seconds: 0.0,
    };
    while run.state.time < 50.0 {
        run.until(run.state.time + 1e-9).unwrap();
        if run.ledger.contacts > 0 {
            seen.last_impulse = run.state.time;
        }
        let energy = run.ledger.total() / 0.1;
        seen.energy = (seen.energy.0.min(energy), seen.energy.1.max(energy), energy);
        let (mut p, mut l) = (Vec3::zeros(), Vec3::zeros());
        for ((x, v), m) in run.state.x.iter().zip(&run.state.v).zip(&run.model.mass) {
            p += *m * v;
            l += x.cross(&(*m * v));
        }
        seen.momentum = seen.momentum.max(p.norm() / 2.0);
        seen.spin = seen.spin.max(l.norm());
    }
    let left = run.model.bodies[0].node_set("xmax").unwrap();
    seen.tip = left.iter().map(|&k| run.state.x[k as usize].x).sum::<f64>() / left.len() as f64;
    seen.impulse = -run.method.impulse_between(0, 1).x;
    seen.ledger = run.ledger.error_max / 0.1;
    seen.penetration = run.ledger.penetration_max;
    seen.seconds = start.elapsed().as_secs_f64();
    seen
}

#[test]
fn numbers() {
    for n in 2..=4 {
        for graded in [false, true] {
            let p = Options::default();
            println!("P        {n} {graded} {:?}", two_bars(n, graded, 0.5, p));
            println!(
                "P no ee  {n} {graded} {:?}",
                two_bars(n, graded, 0.5, Options { edge_edge: false, ..p })
            );
            println!("P 3      {n} {graded} {:?}", two_bars(n, graded, 0.5, Options { sweeps: 3, ..p }));
            let f = Options { variant: Variant::FullStep, ..p };
            println!("F        {n} {graded} {:?}", two_bars(n, graded, 0.5, f));
        }
    }
}
