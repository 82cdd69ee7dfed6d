//! Published cases: a deck, where it comes from, and checks of what comes out.
//!
//! A case runs the same way as any deck, into an output folder, and its checks read the history that a user would
//! read. Each check has an expected value, a measured one and a tolerance. A case may run several decks and compare them.
//!
//! | file | cases |
//! |---|---|
//! | `free_bar` | waves in one bar |
//! | `impacts`, `shells` | method `dcr` |
//! | `shells_at_rest`, `shells_bent` | thin shells by method `static` |
//! | `bars`, `blocks`, `assembly`, `pebble` | method `asynchronous` |
//! | `cylinders`, `cubes`, `scaling`, `resting` | method `semi-explicit` and its implicit reference |
//! | `corners` | method `nonsmooth` |
//! | `updates` | method `velocity-update` and implicit Newmark |
//! | `all`, `figures` | many cases at once; figures that hold their runs against each other |
//! | `watch` | what a case looks at beside the history |
//! | `report`, `gaps` | the page with plots and pictures of all that was run; what no run can show |

mod all;
mod assembly;
mod bars;
mod blocks;
mod corners;
mod cubes;
mod cylinders;
mod figures;
mod free_bar;
mod gaps;
mod impacts;
mod pebble;
pub mod report;
mod resting;
mod scaling;
mod shells;
mod shells_at_rest;
mod shells_bent;
mod updates;
mod watch;

pub use all::Request;

use crate::deck::{self, DeckErrors, Input};
use crate::look::draw::Drawing;
use crate::look::folder::Table;
use crate::method::StepError;
use crate::model::Ledger;
use crate::output::frames::Frames;
use crate::output::history::History;
use crate::output::replace_file;
use crate::output::summary::{Status, Summary, Wall};
use crate::run::{Balance, Observer, Run, RunError, pool};
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use watch::{Seen, Watch, Watcher};

/// How measured and expected compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// |measured − expected| ≤ tolerance
    Within,
    /// measured ≤ expected + tolerance
    AtMost,
    /// measured ≥ expected − tolerance
    AtLeast,
}

/// Where the bound of a check comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A figure or a statement of the paper, for the paper's set-up.
    Paper,
    /// An answer that is known exactly: a solution, an invariant, a count. The tolerance is round-off, or what mesh and
    /// step leave of it.
    Exact,
    /// A figure of an independent program.
    Reference,
    /// A figure of a prototype of the method, by the same hands.
    Prototype,
    /// Our own judgement or our own runs: what nobody else has an answer for.
    Own,
}

impl Origin {
    pub const ALL: [Origin; 5] =
        [Origin::Paper, Origin::Exact, Origin::Reference, Origin::Prototype, Origin::Own];

    pub fn name(self) -> &'static str {
        match self {
            Origin::Paper => "paper",
            Origin::Exact => "exact",
            Origin::Reference => "reference",
            Origin::Prototype => "prototype",
            Origin::Own => "own",
        }
    }

    fn check(
        self,
        check: impl Into<String>,
        relation: Relation,
        [measured, expected, tolerance]: [f64; 3],
    ) -> Check {
        Check { check: check.into(), relation, expected, measured, tolerance, origin: self, moved: None }
    }

    pub fn within(self, check: impl Into<String>, measured: f64, expected: f64, tolerance: f64) -> Check {
        self.check(check, Relation::Within, [measured, expected, tolerance])
    }

    pub(crate) fn at_most(self, check: impl Into<String>, measured: f64, expected: f64) -> Check {
        self.check(check, Relation::AtMost, [measured, expected, 0.0])
    }

    pub(crate) fn at_least(self, check: impl Into<String>, measured: f64, expected: f64) -> Check {
        self.check(check, Relation::AtLeast, [measured, expected, 0.0])
    }

    /// How many of some checks have each origin, in words: "12 exact, 3 own".
    pub fn count<'a>(checks: impl Iterator<Item = &'a Check> + Clone) -> String {
        let of = |origin: Origin| (checks.clone().filter(|c| c.origin == origin).count(), origin.name());
        let counts = Origin::ALL.map(of).into_iter().filter(|c| c.0 > 0);
        counts.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    }
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    pub check: String,
    pub relation: Relation,
    pub expected: f64,
    pub measured: f64,
    /// Absolute, in the unit of `measured`.
    pub tolerance: f64,
    pub origin: Origin,
    /// Why the bound is not the one that was set before the result was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<&'static str>,
}

impl Check {
    /// With a bound that was moved after the result was seen.
    fn moved(self, why: &'static str) -> Check {
        Check { moved: Some(why), ..self }
    }

    /// What is not finite never passes.
    pub fn pass(&self) -> bool {
        let excess = self.measured - self.expected;
        match self.relation {
            Relation::Within => excess.abs() <= self.tolerance,
            Relation::AtMost => excess <= self.tolerance,
            Relation::AtLeast => -excess <= self.tolerance,
        }
    }
}

/// A published case.
pub struct Published {
    pub name: &'static str,
    pub method: &'static str,
    pub source: &'static str,
    /// What is run, one after the other: in full size, or in the size for a quick look.
    parts: fn(quick: bool) -> Vec<Part>,
    /// Gets the outcomes in the order of the parts.
    checks: fn(&[Outcome]) -> Vec<Check>,
    /// Drawings beside those that every run has, with the names of their files.
    figures: fn(&[Outcome]) -> Vec<(String, Drawing)>,
}

/// One run of a case.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its folder; none if it is the only one.
    pub name: String,
    pub deck: String,
    /// Its step may turn out to be too long: that is what it shows.
    pub too_long: bool,
    /// Threads, where times are compared; those of the caller unless given.
    pub threads: Option<usize>,
    /// Looks at it beside the history.
    watch: Option<Watch>,
}

impl Part {
    fn new(name: impl Into<String>, deck: String) -> Part {
        Part { name: name.into(), deck, too_long: false, threads: None, watch: None }
    }

    fn watched(name: impl Into<String>, deck: String, watch: Watch) -> Part {
        Part { watch: Some(watch), ..Part::new(name, deck) }
    }

    fn only(deck: String) -> Vec<Part> {
        vec![Part::new("", deck)]
    }
}

/// What checks look at.
pub struct Outcome {
    /// Name of the part.
    pub name: String,
    pub history: Table,
    pub ledger: Ledger,
    pub balance: Balance,
    pub summary: Summary,
    /// Steps [s] of groups of potentials and how many each has, where they differ.
    pub kicks: Vec<(f64, u64)>,
    /// Surface nodes that can touch.
    pub surface_nodes: usize,
    /// Of a run that was given up because of its step: the stable one over that.
    pub too_long: Option<f64>,
    /// The size for a quick look.
    pub quick: bool,
    /// What the part's own look has seen.
    seen: Seen,
}

impl Outcome {
    /// A column of the history, or of what the part was watched for; all not-a-number if there is none, which no check
    /// passes.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let found = self.history.column(name).or(self.seen.column(name));
        found.map_or(vec![f64::NAN], <[f64]>::to_vec)
    }

    /// Wall time of the steps, looks left out [s].
    fn step_seconds(&self) -> f64 {
        let p = &self.summary.phase_seconds;
        p.force + p.search + p.response + p.solve
    }

    /// The last value of a column.
    fn last(&self, name: &str) -> f64 {
        self.column(name).last().copied().unwrap_or(f64::NAN)
    }

    /// The value of a column in the first row at or after a time, by half a row.
    fn at(&self, name: &str, time: f64) -> f64 {
        let (times, values) = (self.column("time"), self.column(name));
        let near = |t: &f64| (t - time).abs();
        let row = (0..times.len()).min_by(|&i, &j| near(&times[i]).total_cmp(&near(&times[j])));
        row.and_then(|i| values.get(i)).copied().unwrap_or(f64::NAN)
    }

    /// The largest size of a column.
    fn most(&self, name: &str) -> f64 {
        largest(self.column(name).into_iter().map(f64::abs))
    }

    /// The last row before which two bodies pushed each other along x.
    fn last_push(&self) -> f64 {
        let (time, force) = (self.column("time"), self.column("push.fx"));
        time.iter().zip(&force).rev().find(|(_, f)| **f != 0.0).map_or(f64::NAN, |(t, _)| *t)
    }
}

/// The largest of some numbers from zero up; what is not a number counts as the largest.
fn largest(of: impl IntoIterator<Item = f64>) -> f64 {
    of.into_iter().fold(0.0, |most: f64, x| if x.is_nan() || most.is_nan() { f64::NAN } else { most.max(x) })
}

/// What a case has come to.
#[derive(Debug, Default)]
pub struct Done {
    /// None if it was stopped.
    pub checks: Vec<Check>,
    /// Drawings and pictures, from the folder of the case; none unless they were asked for.
    pub pictures: Vec<String>,
    /// Wall time of all its runs [s].
    pub seconds: f64,
}

/// Why a case could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    #[error("{0}")]
    Deck(DeckErrors),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{0}")]
    Output(String),
}

/// All cases.
pub const CASES: [Published; 35] = [
    free_bar::CASE,
    impacts::TWO_PARTICLES,
    impacts::NODE_FACE,
    impacts::TWO_BARS,
    impacts::TWO_HEX_BARS,
    impacts::FIVE_SOLID_CUBES,
    impacts::SOLID_CUBES_76,
    shells::SPHERE_SPHERE,
    shells::FIVE_CUBES,
    shells::CUBES_76,
    shells::SPHERE_PLATE,
    shells_at_rest::SHELL_COURSE,
    shells_bent::SHELLS_BENT,
    bars::GRADED_BARS,
    bars::PRINTED_BARS,
    bars::COST_GROWTH,
    bars::RINGING_BAR,
    blocks::SLIDING_BLOCK,
    blocks::ROLLING_BLOCK,
    blocks::TWO_HEXES,
    blocks::SPINNING_BLOCK,
    pebble::PEBBLE,
    assembly::BLOCK_ASSEMBLY,
    cylinders::TEN_CYLINDERS,
    cylinders::TABLE_1,
    cubes::CUBES_25,
    scaling::CUBES_SCALING,
    resting::THROWN_DISC,
    resting::BLOCK_STACK,
    updates::RING_IMPACT,
    updates::FRICTION_BLOCKS,
    updates::GOLF_BALL,
    corners::TRUESDELL_WEDGE,
    corners::FRAGMENTS,
    corners::BARS_BY_METHODS,
];

/// The case of that name.
pub fn find(name: &str) -> Option<&'static Published> {
    CASES.iter().find(|c| c.name == name)
}

/// Frames of a run whose pictures are wanted: a sheet of two rows.
const SHEET: (usize, usize) = (2, 3);

/// The deck of a built-in example.
fn deck_of(name: &str) -> String {
    super::example(name).map_or(String::new(), |e| e.text.to_owned())
}

fn output(error: impl std::fmt::Display) -> ReproduceError {
    ReproduceError::Output(error.to_string())
}

impl Published {
    /// What it runs.
    pub fn parts(&self, quick: bool) -> Vec<Part> {
        (self.parts)(quick)
    }

    /// Runs the case and checks it; histories go to `folder`, which exists, and with `pictures` everything else that a
    /// run has, and drawings. Call inside [`crate::run::pool`]'s `install`.
    pub fn run(
        &self,
        quick: bool,
        pictures: bool,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Done, ReproduceError> {
        let begin = Instant::now();
        let mut outcomes = Vec::new();
        for part in self.parts(quick) {
            let run = || self.run_part(&part, quick, pictures, folder, stop);
            outcomes.push(match part.threads.map(pool) {
                Some(pool) => pool.map_err(output)?.install(run)?,
                None => run()?,
            });
            if stop.load(Ordering::Relaxed) {
                return Ok(Done::default());
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        let pictures = match pictures {
            true => report::draw(self.name, &(self.figures)(&outcomes), &outcomes, folder).map_err(output)?,
            false => Vec::new(),
        };
        Ok(Done { checks: (self.checks)(&outcomes), pictures, seconds })
    }

    fn run_part(
        &self,
        part: &Part,
        quick: bool,
        pictures: bool,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Outcome, ReproduceError> {
        let folder = &folder.join(&part.name);
        fs::create_dir_all(folder).map_err(output)?;
        let input = Input { name: self.name, text: &part.deck, folder, options: &[] };
        let begin = Instant::now();
        let loaded = deck::load(&input).map_err(ReproduceError::Deck)?;
        let (kicks, surfaces) = (loaded.kicks.clone(), loaded.surfaces.clone());
        let surface_nodes = surfaces.iter().flat_map(|s| &s.bodies).map(|b| b.nodes).sum();
        let (end, rows) = (loaded.case.end, loaded.spec.output.history);
        let history = History::create(folder, &loaded.case, rows).map_err(output)?;
        let mut observers: Vec<Box<dyn Observer>> = vec![Box::new(history)];
        let mut seen = None;
        if let Some(watch) = part.watch {
            let watcher = Watcher::new(watch, end, rows);
            seen = Some(watcher.seen.clone());
            observers.push(Box::new(watcher));
        }
        if pictures {
            let text = loaded.resolved(folder).map_err(output)?;
            replace_file(&folder.join("deck.toml"), text.as_bytes()).map_err(output)?;
            let frames = (SHEET.0 * SHEET.1 - 1) as u64;
            observers
                .push(Box::new(Frames::create(folder, &loaded.case.model, end, frames).map_err(output)?));
        }
        let mut run = Run::start(loaded.case, observers, None)?;
        let loop_begin = Instant::now();
        let too_long = match run.to_end(stop) {
            Err(RunError::Step(StepError::TooLong { dt, stable, .. })) if part.too_long => Some(stable / dt),
            done => {
                done?;
                None
            }
        };
        let wall = Wall { whole: begin.elapsed().as_secs_f64(), in_loop: loop_begin.elapsed().as_secs_f64() };
        let summary = Summary::of(&run, wall, Status::Finished, None);
        if pictures {
            summary.write(folder).map_err(output)?;
        }
        let history = Table::read(&folder.join("history.csv"), false).map_err(output)?;
        let (ledger, balance, name) = (run.ledger, run.balance, part.name.clone());
        let seen = seen.map_or(Seen::default(), |s| {
            std::mem::take(&mut *s.lock().unwrap_or_else(PoisonError::into_inner))
        });
        Ok(Outcome { name, history, ledger, balance, summary, kicks, surface_nodes, too_long, quick, seen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_check_that_is_not_finite_fails_and_the_relations_mean_what_they_say() {
        let exact = Origin::Exact;
        assert!(exact.within("", 1.05, 1.0, 0.1).pass() && !exact.within("", 1.2, 1.0, 0.1).pass());
        assert!(exact.at_most("", -5.0, 1.0).pass() && !exact.at_most("", 1.1, 1.0).pass());
        let least = exact.at_least("", 2.0, 1.0);
        assert!(least.pass());
        for relation in [Relation::Within, Relation::AtMost, Relation::AtLeast] {
            let check = Check { relation, ..exact.within("", f64::NAN, 1.0, f64::INFINITY) };
            assert!(!check.pass());
        }
    }

    fn passes(case: &Published) {
        let folder =
            std::env::temp_dir().join(format!("carom-reproduce-{}-{}", case.name, std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let run = || case.run(true, false, &folder, &AtomicBool::new(false));
        let checks = crate::run::pool(1).unwrap().install(run).unwrap().checks;
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(checks.len() >= 3, "{}", case.name);
        for check in checks {
            assert!(check.pass(), "{}: {check:?}", case.name);
        }
    }

    /// Two cases at a time, each on one thread: less of the time is spent on waiting than with two threads for each. The last ones first:
    /// among them is the longest, which nobody should have to wait for.
    #[test]
    fn every_case_passes_at_least_three_checks_in_its_quick_size() {
        let next = AtomicUsize::new(0);
        let some = || {
            while let Some(case) = CASES.iter().rev().nth(next.fetch_add(1, Ordering::Relaxed)) {
                passes(case);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(some);
            scope.spawn(some);
        });
    }
}
