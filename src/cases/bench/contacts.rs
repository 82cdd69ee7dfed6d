//! Many contacts at once: the pile of `cases::bipotential`, settling under its weight by `semi-explicit`.
//!
//! | case   | holds                          |
//! |--------|--------------------------------|
//! | `pile` | more than 10 000 contacts      |
//! | `heap` | an eighth of that              |
//!
//! A run with one thread and one with as many as asked for take turns of a few steps, the same ones; times are medians over
//! steps, and ratios medians of the ratios of a step to itself, so that whatever else the machine does is left out. The first
//! turn, which has nothing to begin with, does not count, nor do the first steps of any: threads that slept wake up on one
//! core, and it takes the system some milliseconds to spread them. In the end both must have the same bits.

use super::Measurement;
use crate::cases::bipotential::{CaseError, Thrown, pile};
use crate::math::Vec3;
use crate::method::Method;
use crate::method::semi_explicit::{Options, SemiExplicit};
use crate::method::verlet::StepRule;
use crate::model::ledger::Phases;
use crate::run::pool;
use crate::solve::contacts::{Report, Seconds};
use rayon::ThreadPool;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Name, cubes along an edge and layers.
const PILES: [(&str, u32, u32); 2] = [("pile", 9, 9), ("heap", 4, 6)];
/// Largest error of the forces of contact.
const NATURAL: f64 = 1e-6;
/// Steps of a turn, those before it is awake, and turns that are measured.
pub(super) const TURN: u32 = 14;
pub(super) const WAKE: u32 = 4;
const TURNS: u32 = 10;
const STEPS: f64 = (TURN * TURNS) as f64;

pub fn cases() -> impl Iterator<Item = &'static str> {
    PILES.iter().map(|p| p.0)
}

/// Wall time of a step, and of its parts [s].
#[derive(Clone, Copy)]
struct Times {
    step: f64,
    arrange: f64,
    sweep: f64,
    force: f64,
    search: f64,
    list: f64,
    nodes: f64,
}

impl Times {
    fn since(&self, before: &Times) -> Times {
        Times {
            step: self.step - before.step,
            arrange: self.arrange - before.arrange,
            sweep: self.sweep - before.sweep,
            force: self.force - before.force,
            search: self.search - before.search,
            list: self.list - before.list,
            nodes: self.nodes - before.nodes,
        }
    }

    fn solver(&self) -> f64 {
        self.arrange + self.sweep
    }
}

/// One of the two runs.
struct Side {
    pool: ThreadPool,
    run: Thrown<SemiExplicit>,
    wall: f64,
    /// Of each step that counts.
    steps: Vec<Times>,
}

impl Side {
    fn new(side: u32, layers: u32, threads: usize) -> Option<Side> {
        let pool = pool(threads).ok()?;
        let run = pool.install(|| {
            let model = pile(side, layers, 0.5, 20.0)?;
            let options = Options { natural_map_residual: Some(NATURAL), ..Options::default() };
            let method = SemiExplicit::new(&model, StepRule::Automatic { safety: 0.8 }, options);
            Thrown::new(model, method, Vec3::zeros())
        });
        Some(Side { pool, run: run.ok()?, wall: 0.0, steps: Vec::new() })
    }

    /// Wall time so far.
    fn clock(&self) -> Times {
        let Phases { force, search, response, solve } = self.run.ledger.phases;
        let Seconds { arrange, sweep } = self.run.method.seconds();
        let list = response - arrange - sweep;
        Times { step: self.wall, arrange, sweep, force, search, list, nodes: solve }
    }

    /// Some steps; looks at the report of each.
    fn turn(&mut self, mut look: impl FnMut(&Report)) -> Result<(), CaseError> {
        for step in 0..TURN {
            let before = self.clock();
            let Side { pool, run, wall, .. } = self;
            let begin = Instant::now();
            let never = AtomicBool::new(false);
            let until = run.state.time + 0.5 * run.method.next_step();
            pool.install(|| run.method.advance(&run.model, &mut run.state, until, &mut run.ledger, &never))?;
            *wall += begin.elapsed().as_secs_f64();
            look(&run.method.report());
            if step >= WAKE {
                self.steps.push(self.clock().since(&before));
            }
        }
        Ok(())
    }

    /// Of the median step.
    fn median(&self, part: impl Fn(&Times) -> f64) -> f64 {
        median(self.steps.iter().map(part).collect())
    }

    /// How much faster than `alone` a step is, in the median.
    fn ratio(&self, alone: &Side, part: impl Fn(&Times) -> f64) -> f64 {
        median(self.steps.iter().zip(&alone.steps).map(|(own, alone)| part(alone) / part(own)).collect())
    }
}

pub(super) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
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
        let ended = own.turn(|report| {
            if turn > 0 {
                let sweeps = [f64::from(report.sweeps), report.sweeps_mean, report.sweeps_island];
                means.iter_mut().zip(sweeps).for_each(|(mean, s)| *mean += s / STEPS);
                updates += report.sweeps_mean * report.contacts as f64 / STEPS;
                (most, contacts) = (report.sweeps.max(most), report.contacts.min(contacts));
                unfinished += f64::from(u8::from(report.unfinished > 0));
                worst = f64::max(worst, report.natural_map_residual);
            }
        });
        if ended.is_err() || one.as_mut().is_some_and(|one| one.turn(|_| ()).is_err()) {
            return Vec::new();
        }
        if turn == 0 {
            own.steps.clear();
            one.iter_mut().for_each(|one| one.steps.clear());
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
    add("sweep", 1e9 * own.median(|t| t.sweep) / updates, "ns per contact and sweep");
    add("solver", 1e3 * own.median(Times::solver), "ms a step to solve the contacts");
    add("solver/arrange", 1e3 * own.median(|t| t.arrange), "ms a step of that to arrange them");
    add("step", 1e3 * own.median(|t| t.step), "ms a step");
    add("step/force", 1e3 * own.median(|t| t.force), "ms a step in element forces");
    add("step/search", 1e3 * own.median(|t| t.search), "ms a step to find contacts");
    add("step/list", 1e3 * own.median(|t| t.list), "ms a step to list and book contacts");
    add("step/nodes", 1e3 * own.median(|t| t.nodes), "ms a step to move the nodes and keep the books");
    if let Some(one) = &one {
        let faster = "times as fast as one thread";
        add("solver/ratio", own.ratio(one, Times::solver), faster);
        add("step/ratio", own.ratio(one, |t| t.step), faster);
        add("step/ratio/force", own.ratio(one, |t| t.force), faster);
        add("step/ratio/search", own.ratio(one, |t| t.search), faster);
        add("step/ratio/list", own.ratio(one, |t| t.list), faster);
        let same = one.run.state == own.run.state && one.run.ledger == own.run.ledger;
        add("same-bits", f64::from(u8::from(same)), "(1: as with one thread)");
    }
    figures
}
