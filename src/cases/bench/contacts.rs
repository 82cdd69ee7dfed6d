//! Many contacts at once: the pile of `cases::bipotential`, settling under its weight by `semi-explicit`.
//!
//! | case   | holds                          |
//! |--------|--------------------------------|
//! | `pile` | more than 10 000 contacts      |
//! | `heap` | an eighth of that              |
//!
//! A run with one thread and one with as many as asked for take turns of a few steps, so that whatever else the machine
//! does meets both; in the end both must have the same bits. The first turn, which has nothing to begin with, is left out.

use super::Measurement;
use crate::cases::bipotential::{CaseError, Thrown, pile};
use crate::math::Vec3;
use crate::method::Method;
use crate::method::semi_explicit::{Options, SemiExplicit};
use crate::method::verlet::StepRule;
use crate::model::ledger::Phases;
use crate::run::pool;
use rayon::ThreadPool;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Name, cubes along an edge and layers.
const PILES: [(&str, u32, u32); 2] = [("pile", 9, 9), ("heap", 4, 6)];
/// Largest error of the forces of contact.
const NATURAL: f64 = 1e-6;
/// Steps of a turn, and turns that are measured.
const TURN: u32 = 10;
const TURNS: u32 = 6;
const STEPS: u32 = TURN * TURNS;

pub fn cases() -> impl Iterator<Item = &'static str> {
    PILES.iter().map(|p| p.0)
}

/// One of the two runs, and what its steps took.
struct Side {
    pool: ThreadPool,
    run: Thrown<SemiExplicit>,
    /// Wall time of the steps, of arranging contacts and of sweeping over them [s].
    step: f64,
    arrange: f64,
    sweep: f64,
    phases: Phases,
}

impl Side {
    fn new(side: u32, layers: u32, threads: usize) -> Option<Side> {
        let pool = pool(threads).ok()?;
        let run = pool.install(|| {
            let model = pile(side, layers, 0.5, 20.0)?;
            let options = Options { natural: Some(NATURAL), ..Options::default() };
            let method = SemiExplicit::new(&model, StepRule::Automatic { safety: 0.8 }, options);
            Thrown::new(model, method, Vec3::zeros())
        });
        Some(Side { pool, run: run.ok()?, step: 0.0, arrange: 0.0, sweep: 0.0, phases: Phases::default() })
    }

    fn step(&mut self) -> Result<(), CaseError> {
        let Side { pool, run, .. } = self;
        let (seconds, phases) = (run.method.seconds(), run.ledger.phases);
        let begin = Instant::now();
        let never = AtomicBool::new(false);
        let until = run.state.time + 0.5 * run.method.next_step();
        pool.install(|| run.method.advance(&run.model, &mut run.state, until, &mut run.ledger, &never))?;
        let (now, after) = (run.method.seconds(), run.ledger.phases);
        self.step += begin.elapsed().as_secs_f64();
        self.arrange += now.arrange - seconds.arrange;
        self.sweep += now.sweep - seconds.sweep;
        self.phases.force += after.force - phases.force;
        self.phases.search += after.search - phases.search;
        self.phases.response += after.response - phases.response;
        self.phases.solve += after.solve - phases.solve;
        Ok(())
    }

    fn forget(&mut self) {
        (self.step, self.arrange, self.sweep, self.phases) = (0.0, 0.0, 0.0, Phases::default());
    }
}

/// Measures one case; nothing if there is no such case.
pub fn measure(case: &str, threads: usize) -> Vec<Measurement> {
    let Some(&(_, side, layers)) = PILES.iter().find(|p| p.0 == case) else { return Vec::new() };
    let Some(mut own) = Side::new(side, layers, threads) else { return Vec::new() };
    let mut one = if threads > 1 { Side::new(side, layers, 1) } else { None };
    let mut means = [0.0; 3];
    let (mut most, mut unfinished, mut worst, mut updates) = (0, 0.0, 0.0, 0.0);
    let mut contacts = usize::MAX;
    for turn in 0..=TURNS {
        for _ in 0..TURN {
            if own.step().is_err() {
                return Vec::new();
            }
            if turn == 0 {
                continue;
            }
            let report = own.run.method.report();
            let sweeps = [f64::from(report.sweeps), report.sweeps_mean, report.sweeps_island];
            means.iter_mut().zip(sweeps).for_each(|(mean, s)| *mean += s / f64::from(STEPS));
            updates += report.sweeps_mean * report.contacts as f64;
            (most, contacts) = (report.sweeps.max(most), report.contacts.min(contacts));
            unfinished += f64::from(u8::from(report.unfinished > 0));
            worst = f64::max(worst, report.natural);
        }
        if let Some(one) = &mut one
            && (0..TURN).any(|_| one.step().is_err())
        {
            return Vec::new();
        }
        if turn == 0 {
            own.forget();
            one.iter_mut().for_each(Side::forget);
        }
    }
    let mut figures = Vec::new();
    let mut add = |what: &str, value: f64, unit: &'static str| {
        let name = format!("{case}/{what}");
        figures.push(Measurement::plain("contacts", name, threads, value, unit));
    };
    add("contacts", contacts as f64, "contacts at least");
    add("sweeps", means[0], "sweeps a step: of its slowest island");
    add("sweeps/most", f64::from(most), "sweeps in any step");
    add("sweeps/contact", means[1], "sweeps a step: of the mean contact");
    add("sweeps/island", means[2], "sweeps a step: of the mean island");
    add("unfinished", unfinished, "steps left at the limit of sweeps");
    add("error", 1e6 * worst, "e-6, the worst natural-map error of a step");
    add("sweep", 1e9 * own.sweep / updates, "ns per contact and sweep");
    let per_step = |seconds: f64| 1e3 * seconds / f64::from(STEPS);
    let Phases { force, search, response, solve } = own.phases;
    let rest = response - own.arrange - own.sweep;
    add("solver", per_step(own.arrange + own.sweep), "ms a step to solve the contacts");
    add(
        "solver/arrange",
        per_step(own.arrange),
        "ms a step of that before the first sweep and after the last",
    );
    add("step", per_step(own.step), "ms a step");
    add("step/force", per_step(force), "ms a step in element forces");
    add("step/search", per_step(search), "ms a step to find contacts");
    add("step/list", per_step(rest), "ms a step to list and book contacts");
    add("step/nodes", per_step(solve), "ms a step to move the nodes and keep the books");
    if let Some(one) = &one {
        add(
            "solver/ratio",
            (one.arrange + one.sweep) / (own.arrange + own.sweep),
            "times as fast as one thread",
        );
        add("sweep/ratio", one.sweep / own.sweep, "times as fast as one thread");
        add("step/ratio", one.step / own.step, "times as fast as one thread");
        let same = one.run.state == own.run.state && one.run.ledger == own.run.ledger;
        add("same-bits", f64::from(u8::from(same)), "(1: as with one thread)");
    }
    figures
}
