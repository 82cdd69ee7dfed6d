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
use carom::method::asynchronous::{Asynchronous, ContactStep, Options};
use carom::model::record::Record;
use carom::model::{Builder, Ledger, Model, State};

fn assembly() -> Model {
    let law = Law::StVenantKirchhoff { young: 1000.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    for k in 0..2 {
        for j in 0..3 {
            for i in 0..3 {
                let cells = if (i + j + k) % 2 == 0 { 2 } else { 3 };
                let mut mesh = shape::Box::new([1.0; 3], [cells; 3]).build().unwrap();
                let shift = Vec3::new(f64::from(i), f64::from(j), f64::from(k));
                mesh.nodes.iter_mut().for_each(|p| *p += shift);
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

#[test]
fn a_cube_thrown_at_eighteen_keeps_energy_and_momenta() {
    let with = |safety: f64, share: f64| Options {
        safety,
        contact_step: ContactStep::Local(share),
        ..Options::default()
    };
    for (options, energy) in [(with(0.5, 0.5), 0.03), (with(0.25, 0.25), 0.01)] {
        let seen = throw(options, 1.0);
        assert!(seen.energy <= energy, "{}", seen.energy);
        assert!(seen.momentum.0 <= 1e-12 && seen.momentum.1 <= 1e-12, "{:?}", seen.momentum);
        // from a prototype of the method; later it is chaotic
        for (t, u, tolerance) in [
            (0.1, [0.189, 0.189, 0.015], 0.004),
            (0.2, [0.332, 0.332, 0.083], 0.006),
            (0.4, [0.39, 0.39, 0.41], 0.02),
            (1.0, [0.18, 0.18, 1.63], 0.05),
        ] {
            let p = seen.path.iter().find(|p| f64::abs(p.0 - t) < 1e-9).unwrap();
            assert!((p.1 - Vec3::from(u)).amax() <= tolerance, "{t} {}", p.1);
            if t == 0.2 {
                assert!((p.2 - 1.6).abs() <= 0.15, "{}", p.2);
            }
        }
    }
}

fn whole(run: &Run<Asynchronous>) -> Record {
    let mut record = Record::default();
    run.state.save(&mut record);
    run.ledger.save(&mut record);
    run.method.save(&mut record);
    record
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
                    let record = whole(&run);
                    let model = assembly();
                    let mut method = Asynchronous::new(&model, Options::default());
                    method.restore(&model, &record).unwrap();
                    let state = State::restore(&model, &record).unwrap();
                    let ledger = Ledger::restore(&record).unwrap();
                    run = Run { model, state, ledger, method };
                }
            }
            assert!(run.ledger.collision_kicks > 100);
            whole(&run)
        })
    };
    let one = run(1, 1, false);
    for other in [run(2, 1, false), run(1, 9, false), run(2, 6, true)] {
        for (name, array) in &one.arrays {
            assert!(other.arrays[name] == *array, "{name} differs");
        }
    }
}
