//! Many contacts at once: the pile of `cases::bipotential`, settling under its weight by `semi-explicit`.
//!
//! | case   | holds                          |
//! |--------|--------------------------------|
//! | `pile` | more than 10 000 contacts      |
//! | `heap` | an eighth of that              |
//!
//! A run with one thread and one with as many as asked for take turns of a few steps; times are those of the fastest turn, so
//! that whatever else the machine does is left out. In the end both must have the same bits. The first turn, which has
//! nothing to begin with, does not count.

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
/// Steps of a turn, turns that are measured, and their steps.
const TURN: u32 = 10;
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
    fn each(&self, other: &Times, with: impl Fn(f64, f64) -> f64) -> Times {
        Times {
            step: with(self.step, other.step),
            arrange: with(self.arrange, other.arrange),
            sweep: with(self.sweep, other.sweep),
            force: with(self.force, other.force),
            search: with(self.search, other.search),
            list: with(self.list, other.list),
            nodes: with(self.nodes, other.nodes),
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
    /// Of the fastest turn of each part, a step.
    best: Option<Times>,
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
        Some(Side { pool, run: run.ok()?, wall: 0.0, best: None })
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
        let before = self.clock();
        for _ in 0..TURN {
            let Side { pool, run, wall, .. } = self;
            let begin = Instant::now();
            let never = AtomicBool::new(false);
            let until = run.state.time + 0.5 * run.method.next_step();
            pool.install(|| run.method.advance(&run.model, &mut run.state, until, &mut run.ledger, &never))?;
            *wall += begin.elapsed().as_secs_f64();
            look(&run.method.report());
        }
        let took = self.clock().each(&before, |now, before| (now - before) / f64::from(TURN));
        self.best = Some(self.best.map_or(took, |best| best.each(&took, f64::min)));
        Ok(())
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
        let ended = own.turn(|report| {
            if turn > 0 {
                let sweeps = [f64::from(report.sweeps), report.sweeps_mean, report.sweeps_island];
                means.iter_mut().zip(sweeps).for_each(|(mean, s)| *mean += s / STEPS);
                updates += report.sweeps_mean * report.contacts as f64 / STEPS;
                (most, contacts) = (report.sweeps.max(most), report.contacts.min(contacts));
                unfinished += f64::from(u8::from(report.unfinished > 0));
                worst = f64::max(worst, report.natural);
            }
        });
        if ended.is_err() || one.as_mut().is_some_and(|one| one.turn(|_| ()).is_err()) {
            return Vec::new();
        }
        if turn == 0 {
            own.best = None;
            one.iter_mut().for_each(|one| one.best = None);
        }
    }
    let Some(best) = own.best else { return Vec::new() };
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
    add("sweep", 1e9 * best.sweep / updates, "ns per contact and sweep");
    add("solver", 1e3 * best.solver(), "ms a step to solve the contacts");
    add("solver/arrange", 1e3 * best.arrange, "ms a step of that to arrange them");
    add("step", 1e3 * best.step, "ms a step");
    add("step/force", 1e3 * best.force, "ms a step in element forces");
    add("step/search", 1e3 * best.search, "ms a step to find contacts");
    add("step/list", 1e3 * best.list, "ms a step to list and book contacts");
    add("step/nodes", 1e3 * best.nodes, "ms a step to move the nodes and keep the books");
    if let Some((one, alone)) = one.as_ref().and_then(|one| one.best.map(|best| (one, best))) {
        let faster = "times as fast as one thread";
        add("solver/ratio", alone.solver() / best.solver(), faster);
        add("step/ratio", alone.step / best.step, faster);
        add("step/ratio/force", alone.force / best.force, faster);
        add("step/ratio/search", alone.search / best.search, faster);
        add("step/ratio/list", alone.list / best.list, faster);
        let same = one.run.state == own.run.state && one.run.ledger == own.run.ledger;
        add("same-bits", f64::from(u8::from(same)), "(1: as with one thread)");
    }
    figures
}
