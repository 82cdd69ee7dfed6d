//! Two bars of length L = 10 with E = ρ = A = 1 meet at ±v₀ = ±0.1, 100 elements each (`dcr`, 1D).
//!
//! By symmetry each hits a rigid wall: they stay together for 2L/c = 20 with the force ρcv₀A = 0.1, so the impulse is 2;
//! the ends rest meanwhile, and leave at −v₀ afterwards, u(50) = ∓3.

mod common;

use carom::element::bar2::Bar2;
use carom::material::{Lame, Linear, Uniaxial};
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape;
use carom::method::dcr::{Dcr, Options, Variant};
use carom::method::verlet::StepRule;
use carom::model::Builder;
use common::{Run, body};

/// What a run shows.
#[derive(Debug, Default)]
struct Seen {
    /// Displacement of the left end at the contact, every 0.05.
    u: Vec<f64>,
    error: f64,
    error_in_contact: f64,
    rms_in_contact: f64,
    mean_after: f64,
    last_impulse: f64,
    energy: (f64, f64),
    energy_end: f64,
    impulse: f64,
    asymmetry: f64,
    momentum: f64,
    ledger: f64,
    penetration: f64,
}

fn two_bars(cells: u32, dt: f64, options: Options) -> Seen {
    let law = Uniaxial(Linear { lame: Lame::from_young(1.0, 0.0), density: 1.0 });
    let mut builder = Builder::default();
    for (name, at) in [("left", -10.0), ("right", 0.0)] {
        let mut mesh = shape::Bar::new(10.0, cells).build().unwrap();
        mesh.place(&Placement { at: Vec3::new(at, 0.0, 0.0), rotation: None }).unwrap();
        let index = builder.body(body::<Bar2, _>(name, mesh, law.clone(), 1.0));
        let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
        builder.restrain(nodes, vec![Vec3::y(), Vec3::z()], None);
    }
    let model = builder.build().unwrap();
    let method = Dcr::new(&model, StepRule::Fixed(dt), options);
    let speed = |b: usize, _: &Vec3| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() };
    let mut run = Run::with(model, method, speed);
    let (left, right) = (cells as usize, cells as usize + 1);
    let mut seen = Seen { energy: (f64::INFINITY, 0.0), ..Seen::default() };
    let (mut in_contact, mut after) = (0, 0);
    let steps = (50.0 / dt).round() as usize;
    let every = (0.05 / dt).round().max(1.0) as usize;
    for k in 1..=steps {
        run.until(k as f64 * dt).unwrap();
        let (t, u) = (run.state.time, run.state.x[left].x);
        let exact = if t <= 20.0 { 0.0 } else { -0.1 * (t - 20.0) };
        let v = run.state.v[left].x;
        seen.error = seen.error.max((u - exact).abs());
        if t <= 19.9 {
            seen.error_in_contact = seen.error_in_contact.max(u.abs());
            seen.rms_in_contact += v * v;
            in_contact += 1;
        } else if t > 21.0 {
            seen.mean_after += v;
            after += 1;
        }
        if run.ledger.contacts > 0 {
            seen.last_impulse = t;
        }
        let energy = run.ledger.total() / 0.1;
        seen.energy = (seen.energy.0.min(energy), seen.energy.1.max(energy));
        seen.asymmetry = seen.asymmetry.max((u + run.state.x[right].x).abs());
        let momentum: f64 = run.state.v.iter().zip(&run.model.mass).map(|(v, m)| m * v.x).sum();
        seen.momentum = seen.momentum.max(momentum.abs());
        if k % every == 0 {
            seen.u.push(u);
        }
    }
    seen.rms_in_contact = (seen.rms_in_contact / in_contact as f64).sqrt();
    seen.mean_after /= after as f64;
    seen.energy_end = run.ledger.total() / 0.1;
    seen.impulse = -run.method.impulse_between(0, 1).x;
    seen.ledger = run.ledger.error_max / 0.1;
    seen.penetration = run.ledger.penetration_max;
    seen
}

#[test]
fn numbers() {
    let f = Options { variant: Variant::FullStep, ..Options::default() };
    for (name, dt, options) in [
        ("P", 0.05, Options::default()),
        ("P", 0.01, Options::default()),
        ("P", 0.0999, Options::default()),
        ("F", 0.05, f),
        ("F", 0.01, f),
        ("F+", 0.05, Options { energy_correction: true, ..f }),
        ("F+", 0.01, Options { energy_correction: true, ..f }),
    ] {
        let mut seen = two_bars(100, dt, options);
        let end = *seen.u.last().unwrap();
        seen.u.clear();
        println!("{name} {dt} u(50) {end} {seen:?}");
    }
}
