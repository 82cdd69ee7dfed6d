//! Kicks and drifts without contact (`asynchronous`): what equal steps amount to, how often everybody is kicked, what is
//! conserved, and that looking, stopping and threads change nothing.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape::{self, End, Grading};
use carom::mesh::{CellKind, Mesh};
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, Options, Phase, Steps};
use carom::model::record::Record;
use carom::model::restraint::Motion;
use carom::model::{BodySpec, Builder, Model, Table};

/// A bar of length 10 whose elements grow from 0.1 to about 1.3.
fn graded_bar(n: u32) -> Model {
    let law = Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
    let mut bar = shape::Bar::new(10.0, 5 * n);
    bar.grading = Grading::Quadratic { slope: 1.0 / f64::from(n), fine: End::Min };
    let mut builder = Builder::default();
    builder.body(body("bar", bar.build().unwrap(), &law, 1.0));
    let nodes = (0..=5 * n).collect();
    builder.restrain(nodes, vec![Vec3::y(), Vec3::z()], None);
    builder.build().unwrap()
}

fn wave(x: &Vec3) -> Vec3 {
    Vec3::new(0.01 * (x.x * x.x).sin() + 0.005 * (3.1 * x.x).cos(), 0.0, 0.0)
}

/// Positions and velocities of one instant.
fn seen(run: &Run<Asynchronous>) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut copy = run.state.clone();
    run.method.synchronise(&run.model, &run.state, &mut copy);
    (copy.x, copy.v)
}

/// K of the bar, by its elements of stiffness 1/l.
fn bar_force(model: &Model, x: &[f64]) -> Vec<f64> {
    let mut f = vec![0.0; x.len()];
    for i in 0..x.len() - 1 {
        let l = model.reference[i + 1].x - model.reference[i].x;
        let pull = (x[i + 1] - x[i]) / l - 1.0;
        f[i] -= pull;
        f[i + 1] += pull;
    }
    f
}

/// Leapfrog: drift half, kick, drift half. Symplectic Euler: kick, drift.
#[test]
fn equal_steps_are_leapfrog_and_symplectic_euler() {
    for (phase, round_off) in [(Phase::Centred, 1e-13), (Phase::Paper, 1e-13)] {
        let options = Options { steps: Steps::Synchronous, phase, ..Options::default() };
        let model = graded_bar(3);
        let method = Asynchronous::new(&model, options);
        let h = method.steps()[0].0;
        let mut run = Run::with(model, method, |_, x| wave(x));
        let mut x: Vec<f64> = run.model.reference.iter().map(|p| p.x).collect();
        let mut v: Vec<f64> = run.model.reference.iter().map(|p| wave(p).x).collect();
        let kick = |x: &[f64], v: &mut [f64]| {
            let f = bar_force(&run.model, x);
            v.iter_mut().zip(&f).zip(&run.model.mass).for_each(|((v, f), m)| *v -= h * f / m);
        };
        let drift = |x: &mut [f64], v: &[f64], h: f64| x.iter_mut().zip(v).for_each(|(x, v)| *x += h * v);
        for _ in 0..50 {
            match phase {
                Phase::Centred => {
                    drift(&mut x, &v, 0.5 * h);
                    kick(&x, &mut v);
                    drift(&mut x, &v, 0.5 * h);
                }
                Phase::Paper => {
                    kick(&x, &mut v);
                    drift(&mut x, &v, h);
                }
            }
        }
        run.until(50.0 * h).unwrap();
        let (ours, _) = seen(&run);
        for (a, b) in ours.iter().zip(&x) {
            assert!((a.x - b).abs() <= round_off, "{phase:?} {} {b}", a.x);
        }
        // raw velocities: kicks of whole steps only, so at a whole step they are those of the scheme
        for (a, b) in run.state.v.iter().zip(&v) {
            assert!((a.x - b).abs() <= round_off);
        }
    }
}

/// Kicks at (j + ½)h < T: ⌊T/h + ½⌋ of them where T is no kick; at j h < T: ⌈T/h⌉.
#[test]
fn everybody_is_kicked_as_often_as_his_step_says() {
    for steps in [Steps::Classes, Steps::Free, Steps::Synchronous] {
        for phase in [Phase::Centred, Phase::Paper] {
            let model = graded_bar(4);
            let method = Asynchronous::new(&model, Options { steps, phase, ..Options::default() });
            let (list, tick) = (method.steps(), method.tick());
            let mut run = Run::with(model, method, |_, x| wave(x));
            run.until(7.77).unwrap();
            let end = (7.77 / tick - 1e-6).ceil() as u64;
            let times = |h: f64| {
                let h = (h / tick).round() as u64;
                match phase {
                    Phase::Centred => {
                        (end + h / 2 - (h + 1) % 2 + h % 2).div_ceil(h).min((end + h - 1 - h / 2) / h)
                    }
                    Phase::Paper => end.div_ceil(h),
                }
            };
            let expected: u64 = list.iter().map(|(h, count)| count * times(*h)).sum();
            assert_eq!(run.ledger.element_kicks, expected, "{steps:?} {phase:?}");
            assert_eq!(list.iter().map(|p| p.1).sum::<u64>(), 20);
        }
    }
}

/// Kicks of class k lie at odd multiples of 2ᵏ half steps: at half step s it is the turn of the class that has as many
/// trailing zeros as s, and of no other.
#[test]
fn at_every_half_step_one_class_is_kicked() {
    let model = graded_bar(4);
    let method = Asynchronous::new(&model, Options::default());
    let steps = method.steps();
    let half = 0.5 * steps[0].0;
    assert!(steps.len() >= 3);
    let of_class = |k: u32| {
        let class = |h: f64| (h / steps[0].0).log2().round() as u32;
        steps.iter().filter(|p| class(p.0) == k).map(|p| p.1).sum::<u64>()
    };
    let mut run = Run::with(model, method, |_, x| wave(x));
    for s in 1..=200u32 {
        let before = run.ledger.element_kicks;
        run.until((f64::from(s) + 0.5) * half).unwrap();
        assert_eq!(run.ledger.element_kicks - before, of_class(s.trailing_zeros()), "{s}");
    }
}

/// The energy of a graded bar that rings for long: no drift with classes, an error of second order in the step.
#[test]
fn with_classes_the_energy_stays_and_its_error_falls_with_the_square_of_the_step() {
    let mut errors = Vec::new();
    for safety in [0.5, 0.25, 0.125] {
        let model = graded_bar(4);
        let method = Asynchronous::new(&model, Options { safety, ..Options::default() });
        let mut run = Run::with(model, method, |_, x| wave(x));
        let mut most: f64 = 0.0;
        for k in 1..=400 {
            run.until(0.5 * f64::from(k)).unwrap();
            most = most.max((run.ledger.total() / run.ledger.initial - 1.0).abs());
        }
        errors.push(most);
    }
    println!("energy errors {errors:?}");
    assert!(
        errors[0] <= 0.05 && errors[1] <= 0.35 * errors[0] && errors[2] <= 0.35 * errors[1],
        "{errors:?}"
    );
}

/// Two thousand seconds of ringing: the mean energy of the last hundred is that of the first.
#[test]
fn with_classes_the_energy_does_not_drift() {
    let model = graded_bar(4);
    let method = Asynchronous::new(&model, Options::default());
    let mut run = Run::with(model, method, |_, x| wave(x));
    let mean = |from: f64, run: &mut Run<Asynchronous>| {
        let each = (1..=200).map(|k| {
            run.until(from + 0.5 * f64::from(k)).unwrap();
            run.ledger.total()
        });
        each.sum::<f64>() / 200.0
    };
    let first = mean(0.0, &mut run);
    let last = mean(1900.0, &mut run);
    assert!((last / first - 1.0).abs() <= 1e-3, "{first} {last}");
}

/// Back and forth: at a common multiple of all steps the synchronised velocity is the raw one, and the scheme is its own
/// inverse with velocities turned round.
#[test]
fn a_free_bar_returns_when_its_velocities_are_turned_round() {
    let model = graded_bar(4);
    let method = Asynchronous::new(&model, Options::default());
    let longest = method.steps().last().unwrap().0;
    let mut run = Run::with(model, method, |_, x| wave(x));
    let end = 200.0 * longest;
    run.until(end).unwrap();
    let (x, v) = seen(&run);
    let model = graded_bar(4);
    let mut state = model.rest();
    for (raw, synchronised) in run.state.v.iter().zip(&v) {
        assert!((raw - synchronised).norm() <= 1e-15);
    }
    state.x = x;
    state.v = v.iter().map(|v| -v).collect();
    let mut method = Asynchronous::new(&model, Options::default());
    let mut ledger = carom::model::Ledger::default();
    method.start(&model, &mut state, &mut ledger).unwrap();
    let mut back = Run { model, state, ledger, method };
    back.until(end).unwrap();
    let (x, v) = seen(&back);
    for ((x, v), reference) in x.iter().zip(&v).zip(&back.model.reference) {
        assert!((x - reference).norm() <= 1e-9 && (v + wave(reference)).norm() <= 1e-9);
    }
}

fn block(cells: [u32; 3], kind: CellKind) -> Mesh {
    let mut shape = shape::Box::new([1.0, 0.7, 0.5], cells);
    shape.cell = kind;
    shape.grading[0] = Grading::Geometric(6.0);
    shape.build().unwrap()
}

/// Free bodies of hexes and tets spin and shake: linear and angular momentum to round-off, energy to second order.
#[test]
fn free_spinning_bodies_keep_their_momenta_at_steps_of_their_own() {
    let law = Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 };
    for (steps, safety) in [(Steps::Classes, 0.5), (Steps::Free, 0.1)] {
        let mut builder = Builder::default();
        builder.body(body("hexes", block([5, 3, 2], CellKind::Hex8), &law, 1.0));
        builder.body(body("tets", block([4, 2, 2], CellKind::Tet4), &law, 1.0));
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, Options { steps, safety, ..Options::default() });
        assert!(method.steps().len() >= 2);
        let v = |_: usize, x: &Vec3| {
            Vec3::new(0.1, 0.2, -0.3)
                + Vec3::new(0.3, -0.2, 0.5).cross(x)
                + 0.05 * Vec3::new(x.y, x.x * x.z, 0.0)
        };
        let mut run = Run::with(model, method, v);
        let momenta = |run: &Run<Asynchronous>| {
            let (x, v) = seen(run);
            let each = || run.model.mass.iter().zip(&x).zip(&v);
            let p: Vec3 = each().map(|((m, _), v)| *m * v).sum();
            let l: Vec3 = each().map(|((m, x), v)| *m * x.cross(v)).sum();
            (p, l)
        };
        let (p, l) = momenta(&run);
        for k in 1..=10 {
            run.until(3.0 * f64::from(k)).unwrap();
            let now = momenta(&run);
            assert!((now.0 - p).norm() <= 1e-12 && (now.1 - l).norm() <= 1e-12, "{steps:?}");
            assert!(run.ledger.error().abs() <= 0.01 * run.ledger.initial, "{steps:?} {:?}", run.ledger);
        }
        assert!(run.ledger.element_kicks >= 100_000, "{}", run.ledger.element_kicks);
    }
}

/// Every kind of load and support at once.
fn loaded(threads: usize, looks: u32, restart: bool, safety: f64) -> (Record, f64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let law = Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 };
        let make = || {
            let mut builder = Builder::default();
            let (hexes, tets) = (block([16, 8, 8], CellKind::Hex8), block([9, 6, 6], CellKind::Tet4));
            let gravity = Vec3::new(0.0, 0.01, -0.03);
            let a = builder.body(BodySpec { gravity, ..body("hexes", hexes.clone(), &law, 1.0) });
            let b = builder.body(BodySpec { damping: 0.2, ..body("tets", tets.clone(), &law, 1.0) });
            let ramp = || Table::new(vec![(0.0, 0.0), (0.3, 1.0)]).unwrap();
            builder.pressure(a, &hexes.side_sets["xmax"], 0.1, ramp());
            builder.traction(b, &tets.side_sets["zmax"], Vec3::new(0.05, 0.02, 0.1), ramp());
            let set = |body: usize, name: &str| builder.bodies()[body].node_set(name).unwrap();
            let (left, bottom, back) = (set(0, "xmin"), set(1, "zmin"), set(1, "ymax"));
            builder.restrain(left, vec![Vec3::new(1.0, 0.2, 0.0)], None);
            let motion = Motion::Displacement { displacement: Vec3::new(0.1, 0.0, 0.05), table: ramp() };
            builder.restrain(bottom, vec![Vec3::x(), Vec3::y(), Vec3::z()], Some(motion));
            builder.restrain(back, vec![Vec3::y()], None);
            builder.build().unwrap()
        };
        let start = || {
            let model = make();
            let method = Asynchronous::new(&model, Options { safety, ..Options::default() });
            let v =
                |_: usize, x: &Vec3| 0.3 * Vec3::new(0.3 * x.y * x.z, -0.2 * x.x, 0.1 * (5.0 * x.x).sin());
            Run::with(model, method, v)
        };
        let mut run = start();
        let end = 0.6;
        for k in 1..=looks {
            run.until(end * f64::from(k) / f64::from(looks)).unwrap();
            if restart && k == looks / 2 {
                run = start().resumed(&run.record());
            }
        }
        (run.record(), run.ledger.error_max_rel())
    })
}

#[test]
fn threads_looks_and_stops_change_not_one_bit() {
    let (one, _) = loaded(1, 1, false, 0.5);
    assert!(one.arrays.len() > 12);
    for (threads, looks, restart) in [(2, 1, false), (1, 7, false), (2, 4, true)] {
        let (other, _) = loaded(threads, looks, restart, 0.5);
        for (name, array) in &one.arrays {
            assert!(other.arrays[name] == *array, "{name} differs");
        }
    }
}

/// Gravity, pressure, traction, drag, held and prescribed supports together.
#[test]
fn the_books_of_loads_and_supports_close_as_steps_get_shorter() {
    let errors = [0.5, 0.25, 0.125].map(|safety| loaded(2, 1, false, safety).1);
    // a support that starts and stops with a jerk is booked to first order
    assert!(
        errors[0] <= 0.002 && errors[1] <= 0.5 * errors[0] && errors[2] <= 0.25 * errors[0],
        "{errors:?}"
    );
}

/// A block under gravity on supports: what it weighs is what they bear, whatever the step.
#[test]
fn supports_bear_the_weight_and_the_books_balance() {
    let law = Law::StVenantKirchhoff { young: 100.0, poisson: 0.2, density: 2.0 };
    let mut builder = Builder::default();
    let gravity = Vec3::new(0.0, 0.0, -1.0);
    builder.body(BodySpec {
        gravity,
        damping: 4.0,
        ..body("block", block([5, 3, 2], CellKind::Hex8), &law, 1.0)
    });
    let bottom = builder.bodies()[0].node_set("zmin").unwrap();
    builder.restrain(bottom, vec![Vec3::z()], None);
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    run.until(20.0).unwrap();
    let before: Vec3 = (0..run.model.restraints.held.len()).map(|h| run.method.support_impulse(h)).sum();
    run.until(21.0).unwrap();
    let after: Vec3 = (0..run.model.restraints.held.len()).map(|h| run.method.support_impulse(h)).sum();
    let weight = 2.0 * 0.35;
    assert!(((after - before).z - weight).abs() <= 1e-6 * weight, "{}", after - before);
    assert!(run.ledger.error().abs() <= 1e-3 * run.ledger.external, "{:?}", run.ledger);
    let p: Vec3 = seen(&run).1.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
    assert!((p - run.ledger.impulse).norm() <= 1e-12);
}
