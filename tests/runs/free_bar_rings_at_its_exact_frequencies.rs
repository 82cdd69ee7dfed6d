//! A free elastic bar rings at `f_n = n c / 2L`, `c = √(E/ρ)`.
//!
//! Frequencies are measured on the time history of the real integrator: the velocities of a run that starts with three
//! modes at once are projected on each, and a sampled cosine `q_k` obeys `q_{k+1} + q_{k−1} = 2 cos(ω Δt) q_k`, which
//! gives ω without any error of the measurement. What is left is the error of mesh and step, `(nπh/L)²(1 − C²)/24`
//! relative with the Courant number `C = c Δt / h`: second order in h.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{Mesh, shape};
use carom::method::Method;
use carom::method::verlet::StepRule;
use carom::model::Builder;
use std::f64::consts::PI;

const LENGTH: f64 = 2.0;
const COURANT: f64 = 0.5;

fn mode(n: usize, x: f64) -> f64 {
    (n as f64 * PI * x / LENGTH).cos()
}

/// The first three angular frequencies of a bar of `cells` cells with wave speed `c`.
fn frequencies(mesh: Mesh, law: &Law, cells: f64, c: f64) -> [f64; 3] {
    let mut builder = Builder::default();
    builder.body(body("bar", mesh, law, 0.3));
    let model = builder.build().unwrap();
    let dt = COURANT * LENGTH / cells / c;
    let v = |x: &Vec3| Vec3::x() * 1e-6 * (mode(1, x.x) - mode(2, x.x) + 0.5 * mode(3, x.x));
    let mut run = Run::start(model, StepRule::Fixed(dt), v);
    // one period of the slowest
    let steps = (2.0 * LENGTH / c / dt).round() as usize;
    let mut q = vec![[0.0; 3]; steps + 1];
    for (k, q) in q.iter_mut().enumerate() {
        run.until(k as f64 * dt).unwrap();
        let nodes = run.model.mass.iter().zip(&run.state.v).zip(&run.model.reference);
        for ((m, v), x) in nodes {
            (0..3).for_each(|n| q[n] += m * v.x * mode(n + 1, x.x));
        }
    }
    assert_eq!(run.method.next_step(), dt);
    [0, 1, 2].map(|n| {
        let (mut above, mut below) = (0.0, 0.0);
        for w in q.windows(3) {
            above += w[1][n] * (w[0][n] + w[2][n]);
            below += 2.0 * w[1][n] * w[1][n];
        }
        (above / below).acos() / dt
    })
}

fn check(name: &str, frequencies: impl Fn(u32) -> ([f64; 3], f64)) {
    let errors: Vec<[f64; 3]> = [16, 32, 64]
        .into_iter()
        .map(|cells| {
            let (found, c) = frequencies(cells);
            [0, 1, 2].map(|n| found[n] / ((n + 1) as f64 * PI * c / LENGTH) - 1.0)
        })
        .collect();
    for n in 0..3 {
        let finest = errors[2][n];
        let expected = -((n + 1) as f64 * PI / 64.0).powi(2) * (1.0 - COURANT * COURANT) / 24.0;
        assert!(
            (finest / expected - 1.0).abs() < 0.01,
            "{name}, mode {n}: {finest:e} instead of {expected:e}"
        );
        for pair in errors.windows(2) {
            let order = (pair[0][n] / pair[1][n]).log2();
            assert!((order - 2.0).abs() < 0.02, "{name}, mode {}: order {order}", n + 1);
        }
    }
}

#[test]
fn a_bar_of_bar_elements_meets_its_first_three_frequencies() {
    let law = Law::Linear { young: 3.0, poisson: 0.3, density: 0.7 };
    let c = (3.0f64 / 0.7).sqrt();
    check("bar2", |cells| {
        let mesh = shape::Bar::new(LENGTH, cells).build().unwrap();
        (frequencies(mesh, &law, cells as f64, c), c)
    });
}

/// Without lateral contraction the wave speed of the bar is that of space.
#[test]
fn a_bar_of_hexahedra_without_lateral_contraction_does_too() {
    let law = Law::Linear { young: 3.0, poisson: 0.0, density: 0.7 };
    let c = (3.0f64 / 0.7).sqrt();
    check("hex8", |cells| {
        let mesh = shape::Box::new([LENGTH, 0.2, 0.3], [cells, 1, 1]).build().unwrap();
        (frequencies(mesh, &law, cells as f64, c), c)
    });
}
