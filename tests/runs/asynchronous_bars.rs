//! Two graded bars of length 10 (E = ρ = A = 1, 5n and 5(n+1) elements, fine where they meet) collide at ±0.1
//! (`asynchronous`, 1D and hexes).
//!
//! In contact for 0 < t < 20 with resting tips, afterwards tips at ∓0.1 (t − 20). E₀ = 0.1 per unit area. What is left of
//! the exact answer are waves in the bars, which a finer mesh makes smaller.

use crate::common::{Run, body};
use carom::element::bar2::Bar2;
use carom::element::hex8::Hex8;
use carom::material::{Lame, Linear, Uniaxial};
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape::{self, End, Grading};
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, ContactStep, ContactVelocity, Options, Phase, Steps};
use carom::model::{Builder, Model};

#[derive(Debug, Default)]
struct Seen {
    /// Largest error of the tips' mean displacement: always, and while they should rest.
    tip: f64,
    resting: f64,
    last: f64,
    energy: f64,
    momentum: f64,
    penetration: f64,
    lateral: f64,
    /// Mean velocity of the left bar afterwards.
    after: f64,
    impulse: f64,
    kicks: u64,
    checks: u64,
    books: f64,
}

fn bars(n: u32, hexes: bool) -> Model {
    let law = Linear { lame: Lame::from_young(1.0, 0.0), density: 1.0 };
    let mut builder = Builder::default();
    for (name, at, n, fine) in [("left", -10.0, n, End::Max), ("right", 0.0, n + 1, End::Min)] {
        let grading = Grading::Quadratic { slope: 1.0 / f64::from(n), fine };
        let mut mesh = if hexes {
            let mut shape = shape::Box::new([10.0, 1.0, 1.0], [5 * n, n, n]);
            shape.grading[0] = grading;
            shape.build().unwrap()
        } else {
            let mut shape = shape::Bar::new(10.0, 5 * n);
            shape.grading = grading;
            shape.build().unwrap()
        };
        mesh.place(&Placement { at: Vec3::new(at, 0.0, 0.0), rotation: None }).unwrap();
        if hexes {
            builder.body(body::<Hex8, _>(name, mesh, law, 1.0));
        } else {
            let index = builder.body(body::<Bar2, _>(name, mesh, Uniaxial(law), 1.0));
            let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
            builder.restrain(nodes, vec![Vec3::y(), Vec3::z()], None);
        }
    }
    builder.build().unwrap()
}

fn run_bars(model: Model, options: Options, looks: u32) -> Seen {
    let method = Asynchronous::new(&model, options);
    let speed = |b: usize, _: &Vec3| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() };
    let mut run = Run::with(model, method, speed);
    let tips = ["xmax", "xmin"].iter().enumerate().map(|(b, s)| run.model.bodies[b].node_set(s).unwrap()).collect::<Vec<_>>();
    let mut seen = Seen::default();
    let mut copy = run.state.clone();
    let mut at_25 = 0.0;
    let left = run.model.bodies[0].nodes.clone();
    let mass: f64 = run.model.mass[left.clone()].iter().sum();
    for k in 1..=looks {
        let t = 50.0 * f64::from(k) / f64::from(looks);
        run.until(t).unwrap();
        run.method.synchronise(&run.model, &run.state, &mut copy);
        for (b, sign) in [(0, -1.0), (1, 1.0)] {
            let u: f64 = tips[b].iter().map(|&n| copy.x[n as usize].x - run.model.reference[n as usize].x).sum();
            let u = u / tips[b].len() as f64;
            let exact = if t <= 20.0 { 0.0 } else { sign * 0.1 * (t - 20.0) };
            seen.tip = seen.tip.max((u - exact).abs());
            if t < 19.5 {
                seen.resting = seen.resting.max(u.abs());
            }
        }
        for (x, reference) in copy.x.iter().zip(&run.model.reference) {
            let d = x - reference;
            seen.lateral = seen.lateral.max(d.y.abs()).max(d.z.abs());
        }
        seen.energy = seen.energy.max((run.ledger.total() / run.ledger.initial - 1.0).abs());
        seen.books = seen.books.max(run.ledger.error().abs() / run.ledger.initial);
        let p: Vec3 = copy.v.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
        seen.momentum = seen.momentum.max(p.norm());
        let centre = |x: &[Vec3]| left.clone().map(|n| run.model.mass[n] * x[n].x).sum::<f64>() / mass;
        if t <= 25.0 {
            at_25 = centre(&copy.x);
        }
        seen.after = (centre(&copy.x) - at_25) / 25.0;
    }
    seen.last = run.method.last_contact();
    seen.penetration = run.ledger.penetration_max;
    seen.impulse = -run.method.impulse_between(0, 1).x;
    let counters = run.method.counters(&run.ledger);
    (seen.kicks, seen.checks) = (counters.element_kicks, counters.contact_checks);
    seen
}

fn smallest(share: f64) -> Options {
    Options { contact_step: ContactStep::Smallest(share), ..Options::default() }
}

fn explore(name: &str, seen: &Seen) {
    println!(
        "{name}: tip {:.3} rest {:.4} last {:.2} after {:.4} energy {:.4} % pen {:.4} lateral {:.3} p {:.1e} books {:.4} kicks {} checks {} imp {:.4}",
        seen.tip, seen.resting, seen.last, seen.after, 100.0 * seen.energy, seen.penetration, seen.lateral, seen.momentum, seen.books, seen.kicks, seen.checks, seen.impulse
    );
}

#[test]
fn table() {
    for (n, safety, share) in [(4, 0.5, 1.0), (8, 0.5, 1.0), (16, 0.5, 1.0), (8, 0.25, 1.0), (8, 0.5, 0.732)] {
        explore(&format!("default {n} {safety} {share}"), &run_bars(bars(n, false), Options { safety, ..smallest(share) }, 1000));
    }
    let raw = Options { contact_velocity: ContactVelocity::Raw, ..smallest(0.732) };
    explore("raw", &run_bars(bars(8, false), raw, 1000));
    let free = Options { steps: Steps::Free, ..smallest(1.0) };
    explore("free", &run_bars(bars(8, false), free, 1000));
    let literal = Options { phase: Phase::Paper, contact_velocity: ContactVelocity::Raw, ..free };
    explore("literal", &run_bars(bars(8, false), literal, 1000));
    explore("literal .139", &run_bars(bars(8, false), Options { safety: 0.139, ..literal }, 1000));
    explore("verlet", &run_bars(bars(8, false), Options::synchronous(0.5), 1000));
    explore("paper", &run_bars(bars(8, false), Options::paper(0.139, 0.75), 1000));
    for n in 2..=4 {
        let begin = std::time::Instant::now();
        explore(&format!("hex {n}"), &run_bars(bars(n, true), Options::default(), 200));
        println!("{:?}", begin.elapsed());
    }
    explore("hex 3 .25", &run_bars(bars(3, true), Options { safety: 0.25, ..Options::default() }, 200));
    explore("hex 3 raw", &run_bars(bars(3, true), Options { contact_velocity: ContactVelocity::Raw, ..Options::default() }, 200));
}

#[test]
fn shares() {
    for share in [0.1, 0.25, 0.5, 0.6, 0.7, 0.732, 0.75, 0.8, 0.9, 0.99, 1.0, 1.01, 1.1, 1.3, 2.0] {
        explore(&format!("share {share}"), &run_bars(bars(8, false), smallest(share), 200));
    }
    for share in [0.25, 0.5, 0.732, 0.9, 1.0] {
        explore(&format!("raw share {share}"), &run_bars(bars(8, false), Options { contact_velocity: ContactVelocity::Raw, ..smallest(share) }, 200));
    }
    for share in [0.25, 0.5, 0.732, 0.9, 1.0] {
        explore(&format!("sync share {share}"), &run_bars(bars(8, false), Options { contact_step: ContactStep::Smallest(share), ..Options::synchronous(0.5) }, 200));
    }
}

#[test]
fn hexes() {
    for n in 2..=4 {
        for (a, b) in [(0.5, 0.5), (0.25, 0.25), (0.25, 0.5), (0.5, 0.25), (0.5, 0.4)] {
            explore(&format!("hex {n} {a} {b}"), &run_bars(bars(n, true), Options { safety: a, contact_step: ContactStep::Local(b), ..Options::default() }, 200));
        }
        explore(&format!("hex {n} synchronous"), &run_bars(bars(n, true), Options::synchronous(0.5), 200));
    }
}
