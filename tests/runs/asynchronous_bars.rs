//! Two graded bars of length 10 (E = ρ = A = 1, 5n and 5(n+1) elements, fine where they meet) collide at ±0.1
//! (`asynchronous`, 1D and hexes).
//!
//! In contact for 0 < t < 20 with resting tips, afterwards tips at ∓0.1 (t − 20). E₀ = 0.1 per unit area. What is left of
//! the exact answer are waves in the bars, which a finer mesh makes smaller.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape::{self, End, Grading};
use carom::method::asynchronous::{
    Asynchronous, ContactStep, ContactVelocity, Longest, Options, Phase, Response, Steps,
};
use carom::method::{Method, StepError};
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
    books: f64,
}

pub fn bars(n: u32, hexes: bool) -> Model {
    let law = Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
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
            builder.body(body(name, mesh, &law, 1.0));
        } else {
            let index = builder.body(body(name, mesh, &law, 1.0));
            let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
            builder.restrain(nodes, vec![Vec3::y(), Vec3::z()], None);
        }
    }
    builder.build().unwrap()
}

fn run_bars(model: Model, options: Options, looks: u32) -> Seen {
    try_bars(model, options, looks).unwrap()
}

fn try_bars(model: Model, options: Options, looks: u32) -> Result<Seen, StepError> {
    let method = Asynchronous::new(&model, options);
    let speed = |b: usize, _: &Vec3| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() };
    let mut run = Run::with(model, method, speed);
    let tips = ["xmax", "xmin"]
        .iter()
        .enumerate()
        .map(|(b, s)| run.model.bodies[b].node_set(s).unwrap())
        .collect::<Vec<_>>();
    let mut seen = Seen::default();
    let mut copy = run.state.clone();
    let mut at_25 = 0.0;
    let left = run.model.bodies[0].nodes.clone();
    let mass: f64 = run.model.mass[left.clone()].iter().sum();
    for k in 1..=looks {
        let t = 50.0 * f64::from(k) / f64::from(looks);
        run.until(t)?;
        run.method.synchronise(&run.model, &run.state, &mut copy);
        for (b, sign) in [(0, -1.0), (1, 1.0)] {
            let u: f64 =
                tips[b].iter().map(|&n| copy.x[n as usize].x - run.model.reference[n as usize].x).sum();
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
    Ok(seen)
}

/// As a prototype of the method answers.
fn smallest(share: f64) -> Options {
    let contact_step = ContactStep::Smallest(share);
    Options { contact_step, response: Response::Sequential, ..Options::default() }
}

/// n, share of the critical step, step of contact as a share of the smallest step, kind of steps; then what a prototype of
/// the method found: error of the tips, their way while they should rest, end of contact, mean velocity afterwards, energy
/// error, overlap. Tips and energies are chaotic in detail: 30 %.
#[test]
fn in_one_dimension_the_bars_do_what_a_prototype_did() {
    for (n, safety, share, steps, [tip, resting, last, after, energy, depth]) in [
        (4, 0.5, 1.0, Steps::Classes, [0.157, 0.0095, 20.14, -0.0959, 0.0073, 0.0135]),
        (8, 0.5, 1.0, Steps::Classes, [0.103, 0.0035, 20.20, -0.0974, 0.0028, 0.0042]),
        (16, 0.5, 1.0, Steps::Classes, [0.072, 0.0012, 20.04, -0.0982, 0.0014, 0.0012]),
        (8, 0.25, 1.0, Steps::Classes, [0.106, 0.0036, 20.30, -0.0973, 0.0007, 0.0021]),
        // nobody looks where an interval ends
        (8, 0.5, 0.732, Steps::Classes, [0.105, 0.0039, 20.15, -0.0973, 0.0038, 0.0031]),
        (8, 0.5, 1.0, Steps::Free, [0.056, 0.0065, 19.85, -0.0984, 0.047, 0.0052]),
    ] {
        let seen = run_bars(bars(n, false), Options { safety, steps, ..smallest(share) }, 1000);
        assert!((seen.tip / tip - 1.0).abs() <= 0.3 && (seen.energy / energy - 1.0).abs() <= 0.3, "{seen:?}");
        assert!((seen.after - after).abs() <= 5e-4 && (seen.last - last).abs() <= 0.1, "{seen:?}");
        assert!(seen.resting <= 1.5 * resting && seen.penetration <= 1.5 * depth, "{seen:?}");
        assert!(seen.books <= 1.3 * energy && (seen.impulse - 2.0).abs() <= 0.05, "{seen:?}");
        assert!(seen.momentum <= 1e-14, "{seen:?}");
    }
    // one step for all, contacts half way between kicks
    let synchronous = Options { response: Response::Sequential, ..Options::synchronous(0.5) };
    let seen = run_bars(bars(8, false), synchronous, 1000);
    assert!((seen.tip / 0.110 - 1.0).abs() <= 0.3 && seen.energy <= 0.0022, "{seen:?}");
    assert!((seen.after + 0.0972).abs() <= 5e-4 && (seen.last - 20.14).abs() <= 0.1, "{seen:?}");
    assert!((seen.penetration / 0.0037 - 1.0).abs() <= 0.3 && seen.momentum <= 1e-14, "{seen:?}");
}

/// All contacts of an instant at once, as is usual: the bars part after two passages of a wave with the velocities they exchange, as far as
/// dispersion lets them (the prototype above: 0.0973 of 0.1, 20.2 of 20 s). A balance that is off by more than 1 % is warned of.
#[test]
fn bars_that_are_answered_at_once_exchange_their_velocities() {
    for options in [Options::default(), Options::synchronous(0.5)] {
        let seen = run_bars(bars(8, false), options, 1000);
        assert!((seen.after + 0.1).abs() <= 0.003 && (seen.last - 20.0).abs() <= 0.3, "{seen:?}");
        assert!((seen.impulse - 2.0).abs() <= 0.05 && seen.momentum <= 1e-14, "{seen:?}");
        assert!(seen.energy <= 0.01 && seen.books <= 0.01, "{seen:?}");
    }
}

/// Velocities as the last kicks have left them, and the paper's own phase, gain energy; momentum they keep. The gain falls
/// with the step: 43 % at a quarter of the critical one, 9 % at 0.07 of it. (`asynchronous_line` has more about how much it is.)
/// At half of it, where 95 % were published, a tip gets so fast that it goes through the whole last element of the other bar
/// between two contact checks, and the run stops.
#[test]
fn velocities_of_another_instant_gain_energy() {
    let run = |options| run_bars(bars(8, false), options, 1000);
    let synchronised = run(smallest(0.732));
    let raw = Options { contact_velocity: ContactVelocity::Raw, ..smallest(0.732) };
    let literal = |safety| Options {
        safety,
        steps: Steps::Free,
        phase: Phase::Paper,
        contact_velocity: ContactVelocity::Raw,
        ..smallest(1.0)
    };
    let raw = run(raw);
    assert!(raw.energy >= 5.0 * synchronised.energy && raw.momentum <= 1e-14, "{raw:?}");
    let (coarse, fine) = (run(literal(0.25)), run(literal(0.07)));
    assert!((coarse.energy / 0.43 - 1.0).abs() <= 0.3 && coarse.momentum <= 1e-14, "{coarse:?}");
    assert!(fine.energy <= 0.5 * coarse.energy, "{fine:?}");
    let stopped = try_bars(bars(8, false), literal(0.5), 1000);
    assert!(matches!(stopped, Err(StepError::PassedThrough { .. })), "{stopped:?}");
}

/// What restitution below one costs while the bars stay in touch: half a per cent of the energy at 0.9. Answered by
/// restitution alone every chatter would cost its share, 1.3 %, and the bars would sink into each other by 0.010; but who
/// overlaps by more than it has come since the last look is answered elastically.
#[test]
fn impacts_that_are_not_elastic_cost_energy_as_long_as_contact_lasts() {
    let run = |e: f64, share: f64| {
        let mut model = bars(8, false);
        model.contact.law.restitution = Some(e);
        run_bars(model, Options { safety: 0.25, ..smallest(share) }, 1000)
    };
    let (seen, elastic) = (run(0.9, 0.25), run(1.0, 1.0));
    assert!(seen.energy > 2.0 * elastic.energy && seen.energy <= 0.013, "{seen:?}");
    assert!(seen.penetration <= elastic.penetration && (seen.impulse - 2.0).abs() <= 0.05, "{seen:?}");
    // booked as such
    assert!(seen.books <= 1e-3 && seen.momentum <= 1e-14, "{seen:?}");
    assert!((elastic.energy / 0.0007 - 1.0).abs() <= 0.3 && elastic.penetration <= 0.003, "{elastic:?}");
}

/// As printed, nodes look as often as the average element allows. The small ones at the tips are passed by then, and the
/// bars go through each other. With the step of the node's own elements as the longest they do not.
#[test]
fn a_longest_step_of_the_average_element_misses_the_small_ones() {
    let printed = run_bars(bars(8, false), Options::paper(0.139, 0.75), 200);
    assert!(printed.last < 1.0 && printed.after > 0.09, "{printed:?}");
    let local = ContactStep::Adaptive { travel: 0.75, longest: Longest::Local(0.5) };
    let seen = run_bars(bars(8, false), Options { contact_step: local, ..Options::paper(0.139, 0.75) }, 200);
    assert!((seen.last - 20.1).abs() <= 0.35 && seen.after < -0.09, "{seen:?}");
}

/// Hexes whose meshes do not match, looking at half the critical step around them. Bounds from a prototype.
#[test]
fn bars_of_hexes_part_in_time_and_keep_their_energy() {
    for (n, safety, energy, [tip, resting, penetration]) in [
        (2, 0.5, 0.01, [0.35, 0.05, 0.25]),
        (3, 0.5, 0.01, [0.28, 0.04, 0.20]),
        (3, 0.25, 0.005, [0.28, 0.04, 0.20]),
        (4, 0.5, 0.01, [0.25, 0.03, 0.15]),
    ] {
        let seen = run_bars(bars(n, true), Options { safety, ..Options::default() }, 200);
        assert!(seen.energy <= energy && seen.books <= energy && seen.momentum <= 1e-12, "{n} {seen:?}");
        assert!(seen.tip <= tip && seen.penetration <= penetration, "{n} {seen:?}");
        // of n = 4 the way of resting tips hangs on the step, see below
        assert!(n == 4 || seen.resting <= resting, "{n} {seen:?}");
        assert!((19.5..=21.7).contains(&seen.last) && seen.lateral <= 0.2, "{n} {seen:?}");
    }
    // velocities as the last kicks left them, out of rhythm with these: 10 %
    let raw = Options { contact_velocity: ContactVelocity::Raw, ..smallest(0.732) };
    let seen = run_bars(bars(3, true), raw, 200);
    assert!(seen.energy >= 0.05 && seen.momentum <= 1e-12, "{seen:?}");
}

/// How far the tips of the finest bars go while they should rest: 0.009 to 0.037 for steps between 0.46 and 0.54 of the
/// critical ones, 0.035 for 0.5. The bound of 0.03 holds for the middle one of five.
#[test]
fn tips_of_fine_bars_of_hexes_rest_for_most_steps() {
    let way = |safety| run_bars(bars(4, true), Options { safety, ..Options::default() }, 200).resting;
    let mut ways = [0.48, 0.49, 0.5, 0.51, 0.52].map(way);
    ways.sort_unstable_by(f64::total_cmp);
    assert!(ways[2] <= 0.03 && ways[4] <= 0.05, "{ways:?}");
}

/// The bars of size n = 4: elements, nodes, those that look; steps at half the critical one, which is the shortest edge.
#[test]
fn the_bars_have_the_size_and_the_steps_they_should_have() {
    let model = bars(4, true);
    assert_eq!((model.elements(), model.reference.len()), (945, 1461));
    let free = Options { steps: Steps::Free, edge_edge: false, ..Options::default() };
    let method = Asynchronous::new(&model, free);
    assert_eq!(method.contact_steps().iter().map(|p| p.1).sum::<u64>(), 906);
    let steps = method.steps();
    let mean = steps.iter().map(|(h, n)| h * *n as f64).sum::<f64>() / 945.0;
    for (found, known) in [(steps[0].0, 0.0464), (steps[steps.len() - 1].0, 0.1250), (mean, 0.1030)] {
        assert!((found - known).abs() <= 5e-5, "{found} {known}");
    }
    for (b, [first, last]) in [[0.14375, 0.85625], [0.0928, 0.7072]].into_iter().enumerate() {
        let mut x: Vec<f64> = model.bodies[b].nodes.clone().map(|n| model.reference[n].x.abs()).collect();
        x.sort_unstable_by(f64::total_cmp);
        x.dedup_by(|p, q| (*p - *q).abs() < 1e-9);
        let n = x.len() - 1;
        assert!((x[1] - x[0] - first).abs() <= 5e-5 && (x[n] - x[n - 1] - last).abs() <= 5e-5, "{x:?}");
    }
}

/// Kicks of all elements until T = 50, from steps that are the shortest edges: ⌊T/h + ½⌋ each.
#[test]
fn steps_of_their_own_spare_kicks_and_the_more_the_finer_the_mesh() {
    let ratios = [
        (1, 45, 114, 1.06, 1.06),
        (2, 175, 290, 1.40, 1.00),
        (3, 455, 554, 1.78, 1.16),
        (4, 945, 906, 2.13, 1.76),
        (5, 1705, 1346, 2.45, 1.80),
        (6, 2795, 1874, 2.76, 1.83),
        (7, 4275, 2490, 3.06, 1.85),
        (8, 6205, 3194, 3.35, 2.20),
    ];
    let mut last = f64::INFINITY;
    for (n, elements, nodes, to_free, to_classes) in ratios {
        let model = bars(n, true);
        assert_eq!(model.elements(), elements);
        let kicks = |steps: Steps| {
            let method = Asynchronous::new(&model, Options { steps, ..Options::default() });
            method.steps().iter().map(|(h, count)| count * (50.0 / h + 0.5).floor() as u64).sum::<u64>()
                as f64
        };
        let synchronous = kicks(Steps::Synchronous);
        assert!((synchronous / kicks(Steps::Free) / to_free - 1.0).abs() <= 0.01, "{n}");
        assert!((synchronous / kicks(Steps::Classes) / to_classes - 1.0).abs() <= 0.01, "{n}");
        if n == 8 {
            let counted = [Steps::Free, Steps::Classes, Steps::Synchronous].map(kicks);
            for (found, known) in counted.into_iter().zip([6_363_187.0, 9_685_040.0, 21_337_005.0]) {
                assert!((found / known - 1.0_f64).abs() <= 0.01, "{found} {known}");
            }
        }
        let alone = Asynchronous::new(&model, Options { edge_edge: false, ..Options::default() });
        assert_eq!(alone.contact_steps().iter().map(|p| p.1).sum::<u64>(), nodes);
        let checks = |options| {
            let method = Asynchronous::new(&model, options);
            method.contact_steps().iter().map(|(h, count)| *count as f64 / h).sum::<f64>()
        };
        let share = checks(Options::default()) / checks(Options::synchronous(0.5));
        // nodes look in classes too, and at n = 2 there is but one
        assert!(share < last || n == 2, "{n} {share}");
        last = share;
    }
}
