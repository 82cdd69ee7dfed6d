//! A cube is thrown at the corner of eighteen others (`asynchronous`, St. Venant–Kirchhoff): momenta to round-off, energy
//! to second order in the step.
//!
//! Unit cubes of 2³ and 3³ hexes in turn fill [0,3]×[0,3]×[0,2]; a rotated one of 3³ flies with (2, 2, 0) and touches the
//! corner (0, 0, 2) with its lower face at the start. E₀ = 4, P = (2, 2, 0), L = (−4, 4, 0) about the origin.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, ContactStep, Options, Response};
use carom::model::{Builder, Model, State};

fn assembly() -> Model {
    let law = Law::StVenantKirchhoff { young: 1000.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    for k in 0..2 {
        for j in 0..3 {
            for i in 0..3 {
                let cells = if (i + j + k) % 2 == 0 { 2 } else { 3 };
                let mut mesh = shape::Box::new([1.0; 3], [cells; 3]).build().unwrap();
                let offset = Vec3::new(f64::from(i), f64::from(j), f64::from(k));
                mesh.nodes.iter_mut().for_each(|p| *p += offset);
                builder.body(body(&format!("cube{i}{j}{k}"), mesh, &law, 1.0));
            }
        }
    }
    let mut hitter = shape::Box::new([1.0; 3], [3; 3]).build().unwrap();
    let axis = Vec3::new(1.0, -1.0, 0.0).normalize();
    let turn = |p: Vec3| {
        let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
        cos * p + sin * axis.cross(&p) + (1.0 - cos) * axis.dot(&p) * axis
    };
    let centre = Vec3::new(-0.5, -0.5, 2.0);
    hitter.nodes.iter_mut().for_each(|p| *p = centre + turn(*p - Vec3::repeat(0.5)));
    builder.body(body("hitter", hitter, &law, 1.0));
    builder.build().unwrap()
}

struct Seen {
    energy: f64,
    momentum: (f64, f64),
    /// (time, mean displacement of the hitter, strain energy)
    path: Vec<(f64, Vec3, f64)>,
}

fn start(options: Options) -> Run<Asynchronous> {
    let model = assembly();
    assert_eq!(model.elements(), 342);
    let method = Asynchronous::new(&model, options);
    Run::with(model, method, |b, _| if b == 18 { Vec3::new(2.0, 2.0, 0.0) } else { Vec3::zeros() })
}

fn throw(options: Options, end: f64) -> Seen {
    let mut run = start(options);
    let mut seen = Seen { energy: 0.0, momentum: (0.0, 0.0), path: Vec::new() };
    let mut copy: State = run.state.clone();
    let hitter = run.model.bodies[18].nodes.clone();
    for k in 1..=(50.0 * end) as u32 {
        let t = f64::from(k) / 50.0;
        run.until(t).unwrap();
        run.method.synchronise(&run.model, &run.state, &mut copy);
        seen.energy = seen.energy.max((run.ledger.total() / 4.0 - 1.0).abs());
        let each = || run.model.mass.iter().zip(&copy.x).zip(&copy.v);
        let p: Vec3 = each().map(|((m, _), v)| *m * v).sum();
        let l: Vec3 = each().map(|((m, x), v)| *m * x.cross(v)).sum();
        seen.momentum.0 = seen.momentum.0.max((p - Vec3::new(2.0, 2.0, 0.0)).norm());
        seen.momentum.1 = seen.momentum.1.max((l - Vec3::new(-4.0, 4.0, 0.0)).norm());
        let count = hitter.len() as f64;
        let u = hitter.clone().map(|n| copy.x[n] - run.model.reference[n]).sum::<Vec3>() / count;
        seen.path.push((t, u, run.ledger.strain));
    }
    seen
}

/// Critical step of the smaller elements, a/√((3λ+2μ)/ρ) [s].
const CRITICAL: f64 = 1.0 / 150.0;

/// β, time between contact checks [s], and the energy error a prototype had.
const RUNS: [(f64, f64, f64); 4] =
    [(0.5, 3.7e-3, 0.029), (0.25, 1.8e-3, 0.011), (0.125, 1.8e-3, 0.0024), (0.125, 0.9e-3, 0.0029)];

fn with(safety: f64, look: f64) -> Options {
    let contact_step = ContactStep::Smallest(look / (safety * CRITICAL));
    // as the prototype answers
    Options { safety, contact_step, response: Response::Sequential, ..Options::default() }
}

#[test]
fn a_cube_thrown_at_eighteen_keeps_energy_and_momenta() {
    let mut errors = Vec::new();
    for (safety, look, energy) in RUNS {
        let seen = throw(with(safety, look), 1.0);
        errors.push(seen.energy);
        assert!(seen.energy <= energy, "{safety} {look} {}", seen.energy);
        assert!(seen.momentum.0 <= 1e-12 && seen.momentum.1 <= 1e-12, "{:?}", seen.momentum);
        if safety > 0.25 {
            continue;
        }
        // from a prototype of the method: 2 %, of the smallest also half a digit; then less well known; later it is chaotic
        for (t, u, relative, digit) in [
            (0.1, [0.189, 0.189, 0.015], 0.02, 8e-4),
            (0.2, [0.332, 0.332, 0.083], 0.02, 8e-4),
            (0.4, [0.39, 0.39, 0.41], 0.0, 0.02),
            (1.0, [0.18, 0.18, 1.63], 0.0, 0.05),
        ] {
            let p = seen.path.iter().find(|p| f64::abs(p.0 - t) < 1e-9).unwrap();
            for (found, known) in p.1.iter().zip(u) {
                assert!(
                    (found - known).abs() <= f64::max(relative * known, digit),
                    "{safety} {look} {t} {}",
                    p.1
                );
            }
            if t == 0.2 {
                assert!((p.2 - 1.6).abs() <= 0.1, "{safety} {look} {}", p.2);
            }
        }
    }
    assert!(errors[1] <= 0.5 * errors[0] && errors[2] <= 0.5 * errors[1], "second order: {errors:?}");
    // velocities of other instants, and kicks at the start of what they stand for
    let printed = throw(Options::paper(0.25, 0.25), 1.0);
    assert!(printed.energy >= 10.0 * errors[1] && printed.momentum.1 <= 1e-12, "{}", printed.energy);
}

/// Potentials are kicked ⌊T/h + ½⌋ times, and everybody looks every Δt.
#[test]
fn kicks_and_looks_of_the_assembly_are_those_of_their_steps() {
    let mut run = start(Options::default());
    let end = 0.25;
    run.until(end).unwrap();
    let kicks: u64 = run.method.steps().iter().map(|(h, n)| n * (end / h + 0.5).floor() as u64).sum();
    let checks: f64 = run.method.contact_steps().iter().map(|(h, n)| *n as f64 * end / h).sum();
    let counted = run.method.counters(&run.ledger);
    assert_eq!(counted.element_kicks, kicks);
    assert!(
        (counted.contact_checks as f64 / checks - 1.0).abs() <= 0.01,
        "{} {checks}",
        counted.contact_checks
    );
    let alone = start(Options { edge_edge: false, ..Options::default() });
    assert_eq!(alone.method.contact_steps().iter().map(|p| p.1).sum::<u64>(), 794);
    assert_eq!(counted.too_deep, 0);
}

/// With contact too: threads, looks and a stop in between leave every bit as it is.
#[test]
fn threads_looks_and_stops_change_not_one_bit_of_a_collision() {
    let run = |threads: usize, looks: u32, restart: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut run = start(Options::default());
            for k in 1..=looks {
                run.until(0.15 * f64::from(k) / f64::from(looks)).unwrap();
                if restart && k == looks / 2 {
                    run = start(Options::default()).resumed(&run.record());
                }
            }
            assert!(run.ledger.collision_kicks > 100);
            run.record()
        })
    };
    let one = run(1, 1, false);
    for other in [run(2, 1, false), run(1, 9, false), run(2, 6, true)] {
        for (name, array) in &one.arrays {
            assert!(other.arrays[name] == *array, "{name} differs");
        }
    }
}
