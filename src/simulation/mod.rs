//! The front door: a [`Simulation`] from a deck or from a case built in code, carried to its end or piece by piece.
//!
//! ```text
//! Setup { threads, options, laws, folder } ──deck, file, text, case──► Simulation ──start──► run │ advance │ step
//!                                                                           │
//!                                                    nodes, history, contacts, ledger, summary
//! ```
//!
//! A simulation has threads of its own: nothing here depends on the pool of the program around it, and every number is the
//! same whatever their count. With a folder it leaves behind what the program `carom run` does, because that is all it does.

mod contacts;
mod error;
mod folder;
mod history;
mod lock;
mod replay;
mod steer;
#[cfg(test)]
mod tests;

pub use contacts::ContactPair;
pub use error::SimulationError;
pub use folder::{Before, mark_interrupted};
pub use history::Table;
pub use replay::Replay;

use crate::deck::spec::Shells;
use crate::deck::{self, Input, Loaded, Output, OwnLaws, Problem, Spec, resolve};
use crate::math::Vec3;
use crate::method::Reached;
use crate::model::load::OwnLoad;
use crate::model::record::Record;
use crate::model::{Ledger, Model};
use crate::output::frames::Frames;
use crate::output::history::History;
use crate::output::summary::{Status, Summary, Wall};
use crate::run::checkpoint::{Keeper, Slot};
use crate::run::peaks::{Envelope, Peaks};
use crate::run::{Case, Observer, Run, RunError, Times, disk, pool};
use folder::{Base, Found, cannot_write};
use history::{Recorder, SharedPeaks};
use lock::Lock;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How a simulation is to be set up, before it knows its deck.
#[derive(Default)]
pub struct Setup {
    threads: Option<usize>,
    options: Vec<String>,
    laws: OwnLaws,
    loads: Vec<OwnLoad>,
    folder: Option<(PathBuf, Before)>,
    forgetful: bool,
    checkpoint: Option<Record>,
    /// Since when somebody looks [s], at a run that has been done before.
    looks_from: Option<f64>,
}

/// Threads beyond which a pool only costs: so many a core, and never fewer than that.
const MOST_THREADS: (usize, usize) = (4, 64);

/// So many threads as make sense on this machine, at most `asked`.
pub fn sensible_threads(asked: usize) -> usize {
    let (each, at_least) = MOST_THREADS;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    asked.clamp(1, at_least.max(each * cores))
}

impl Setup {
    /// Threads to use; all cores unless given. More than [`sensible_threads`] are not started.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Keeps no history in memory: long runs of many probes would fill it.
    pub fn forget_history(mut self) -> Self {
        self.forgetful = true;
        self
    }

    /// Writes over a value of the deck, for example `step.safety=0.5`.
    pub fn set(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// A law of your own, which the deck can name from now on.
    pub fn law<L: deck::OwnLaw>(mut self) -> Self {
        self.laws.add::<L>();
        self
    }

    /// Where results go; nothing is written unless given.
    pub fn folder(mut self, folder: impl Into<PathBuf>, before: Before) -> Self {
        self.folder = Some((folder.into(), before));
        self
    }

    /// From a deck in a file.
    pub fn file(self, path: impl AsRef<Path>) -> Result<Simulation, SimulationError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|source| SimulationError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.deck(&path.display().to_string(), &text, folder)
    }

    /// From the text of a deck; paths in it begin here.
    pub fn text(self, text: &str) -> Result<Simulation, SimulationError> {
        self.deck("deck", text, Path::new("."))
    }

    /// From the text of a deck that is called `name` in messages; its paths begin at `folder`.
    pub fn deck(self, name: &str, text: &str, folder: &Path) -> Result<Simulation, SimulationError> {
        self.examine()?;
        let (begin, pool) = (Instant::now(), self.pool()?);
        let input = Input { name, text, folder, options: &self.options };
        let loaded = pool.install(|| deck::load_with(&input, &self.laws, &self.loads))?;
        let output = loaded.spec.output;
        Ok(Simulation { begin, ..self.simulation(pool, Stage::Deck(Box::new(loaded)), output) })
    }

    /// From a case built in code; `output` says how much is written and remembered.
    pub fn case(
        self,
        build: impl FnOnce() -> Case + Send,
        output: Output,
    ) -> Result<Simulation, SimulationError> {
        self.examine()?;
        let (begin, pool) = (Instant::now(), self.pool()?);
        let case = pool.install(build);
        Ok(Simulation { begin, ..self.simulation(pool, Stage::Case(Box::new(case)), output) })
    }

    /// Refuses what cannot go well before anything is built.
    fn examine(&self) -> Result<(), SimulationError> {
        self.folder.as_ref().map_or(Ok(()), |(path, before)| folder::examine(path, *before).map(|_| ()))
    }

    fn pool(&self) -> Result<rayon::ThreadPool, SimulationError> {
        let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = sensible_threads(self.threads.unwrap_or_else(cores));
        pool(threads).map_err(|e| SimulationError::Threads { threads, reason: e.to_string() })
    }

    fn simulation(self, pool: rayon::ThreadPool, stage: Stage, output: Output) -> Simulation {
        Simulation {
            pool,
            folder: self.folder,
            forgetful: self.forgetful,
            checkpoint: self.checkpoint,
            looks_from: self.looks_from,
            stage,
            output,
            observers: Vec::new(),
            history: Table::default(),
            recorder: None,
            peaks: None,
            begin: Instant::now(),
            in_loop: 0.0,
            finished_before: false,
            lock: None,
        }
    }
}

/// How far a simulation is.
enum Stage {
    Deck(Box<Loaded>),
    Case(Box<Case>),
    /// With what the deck says, if there was one.
    Running(Box<Run>, Option<Box<Spec>>, Vec<Problem>),
    /// Only while it is being started; and for good if that failed.
    Gone,
}

/// A simulation.
pub struct Simulation {
    pool: rayon::ThreadPool,
    folder: Option<(PathBuf, Before)>,
    forgetful: bool,
    /// Where to begin, if not at the deck's start.
    checkpoint: Option<Record>,
    looks_from: Option<f64>,
    stage: Stage,
    output: Output,
    observers: Vec<Box<dyn Observer>>,
    history: Table,
    recorder: Option<history::Rows>,
    peaks: Option<SharedPeaks>,
    begin: Instant,
    in_loop: f64,
    finished_before: bool,
    /// Of the folder, while something may be written into it.
    lock: Option<Lock>,
}

/// Where the nodes are, all at one time.
#[derive(Clone, Copy, Debug)]
pub struct Nodes<'a> {
    /// [s]
    pub time: f64,
    /// Positions [m].
    pub x: &'a [Vec3],
    /// Velocities [m/s].
    pub v: &'a [Vec3],
}

/// What contact has done so far.
#[derive(Clone, Copy, Debug)]
pub struct Contacts<'a> {
    /// Pairs that carried an impulse in the last step.
    pub count: u64,
    /// Deepest overlap of the present state [m].
    pub penetration: f64,
    /// Impulse that contact has given to each node since the start [N s]; empty without contact.
    pub impulse: &'a [Vec3],
}

impl Simulation {
    pub fn setup() -> Setup {
        Setup::default()
    }

    /// From a deck in a file, on all cores, writing nothing.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Simulation, SimulationError> {
        Setup::default().file(path)
    }

    /// From the text of a deck, on all cores, writing nothing.
    pub fn from_text(text: &str) -> Result<Simulation, SimulationError> {
        Setup::default().text(text)
    }

    /// Somebody who looks on. He sees the state at the start only if he comes before [`Simulation::start`].
    pub fn observe(&mut self, observer: impl Observer + 'static) {
        match &mut self.stage {
            Stage::Running(run, ..) => run.observe(Box::new(observer)),
            _ => self.observers.push(Box::new(observer)),
        }
    }

    /// What is odd about the deck, with places.
    pub fn warnings(&self) -> &[Problem] {
        match &self.stage {
            Stage::Deck(loaded) => &loaded.warnings,
            Stage::Running(_, _, warnings) => warnings,
            _ => &[],
        }
    }

    /// What the deck says, with every default; nothing for a case built in code.
    pub fn spec(&self) -> Option<&Spec> {
        match &self.stage {
            Stage::Deck(loaded) => Some(&loaded.spec),
            Stage::Running(_, spec, _) => spec.as_deref(),
            _ => None,
        }
    }

    /// What is simulated; nothing after a start that failed.
    pub fn case(&self) -> Option<&Case> {
        match &self.stage {
            Stage::Deck(loaded) => Some(&loaded.case),
            Stage::Case(case) => Some(case),
            Stage::Running(run, ..) => Some(&run.case),
            Stage::Gone => None,
        }
    }

    /// The deck as it was read, before the start.
    pub fn loaded(&self) -> Option<&Loaded> {
        match &self.stage {
            Stage::Deck(loaded) => Some(loaded),
            _ => None,
        }
    }

    /// Does something on the threads of the simulation.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Threads it has.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Where the state stands [s].
    pub fn time(&self) -> f64 {
        self.case().map_or(0.0, |case| case.state.time)
    }

    /// When the run ends [s].
    pub fn end(&self) -> f64 {
        self.case().map_or(0.0, |case| case.end)
    }

    /// A resumed run had finished already, and there is nothing left to do.
    pub fn finished_before(&self) -> bool {
        self.finished_before
    }

    /// Begins, or takes up, the run: makes the folder, and observers look at the start. The others do this by themselves.
    pub fn start(&mut self) -> Result<(), SimulationError> {
        if self.finished_before || matches!(self.stage, Stage::Gone) {
            return Ok(());
        }
        let Some((path, before)) = self.folder.clone() else {
            let record = self.checkpoint.take();
            return self.begin(None, None, record.as_ref());
        };
        if matches!(self.stage, Stage::Running(..)) {
            // a run that had ended and goes on
            if self.lock.is_none() {
                self.lock = Some(Lock::take(&path)?);
            }
            return Ok(());
        }
        // what was found when the deck was read may be another's by now
        folder::examine(&path, before)?;
        let made = folder::make(&path)?;
        let begun = self.start_in(&path, before);
        if begun.is_err() || self.finished_before {
            self.lock = None;
            made.remove();
        }
        begun
    }

    /// Begins, or takes up, the run in a folder, which exists.
    fn start_in(&mut self, path: &Path, before: Before) -> Result<(), SimulationError> {
        self.lock = Some(Lock::take(path)?);
        let found = folder::examine_held(path, before)?;
        if before == Before::Resume && found == Found::Run {
            self.is_ours(path)?;
            if let Base::Checkpoint(slot, record) = folder::base(path)? {
                self.finished_before &=
                    self.case().is_some_and(|case| folder::finished_at(path, case, &record));
                return match self.finished_before {
                    true => folder::mend_list(path, &record),
                    false => self.resume(path, slot, &record),
                };
            }
            self.finished_before = false;
        }
        self.fresh(path, found).inspect_err(|_| folder::undo(path))
    }

    /// Begins a run in a free folder, or in place of another.
    fn fresh(&mut self, path: &Path, found: Found) -> Result<(), SimulationError> {
        // The summary goes first: it is what makes the folder a run's.
        if let Some(case) = self.case() {
            let threads = self.threads();
            folder::write_summary(path, &Summary { threads, ..Summary::begin(case) })?;
        }
        if found == Found::Run {
            folder::clear(path)?;
        }
        if let Some(text) = self.resolved(path)? {
            folder::write_deck(path, &text)?;
        }
        let record = self.checkpoint.take();
        self.begin(Some(path), None, record.as_ref())
    }

    /// Takes up a run where a checkpoint left it.
    fn resume(&mut self, path: &Path, slot: Slot, record: &Record) -> Result<(), SimulationError> {
        folder::tidy(path);
        if let Some(text) = self.resolved(path)? {
            folder::write_deck(path, &text)?;
        }
        self.begin(Some(path), Some(slot), Some(record))
    }

    fn resolved(&self, path: &Path) -> Result<Option<String>, SimulationError> {
        match &self.stage {
            Stage::Deck(loaded) => loaded.resolved(path).map(Some).map_err(cannot_write(path)),
            _ => Ok(None),
        }
    }

    /// Is the run in the folder made from our deck, and is there anything left to do of it?
    fn is_ours(&mut self, path: &Path) -> Result<(), SimulationError> {
        let Some(text) = self.resolved(path)? else { return Ok(()) };
        let deck = path.join("deck.toml");
        let stored = match disk::read_text(&deck) {
            Ok(stored) => stored,
            // killed before its deck was there: a run without anything to lose begins anew
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return match folder::base(path)? {
                    Base::Start => Ok(()),
                    Base::Checkpoint(..) => {
                        Err(SimulationError::Garbled { path: deck, reason: "it is missing".into() })
                    }
                };
            }
            Err(e) => return Err(SimulationError::Garbled { path: deck, reason: e.to_string() }),
        };
        let difference = resolve::compare(&stored, &text)
            .map_err(|reason| SimulationError::Garbled { path: deck, reason })?;
        let (path, end, was) = (path.to_owned(), self.end(), difference.end);
        if !difference.keys.is_empty() {
            return Err(SimulationError::OtherDeck { path, keys: difference.keys });
        }
        if end < was {
            return Err(SimulationError::EndsEarlier { path, was, end });
        }
        self.finished_before = end == was;
        Ok(())
    }

    fn begin(
        &mut self,
        path: Option<&Path>,
        slot: Option<Slot>,
        record: Option<&Record>,
    ) -> Result<(), SimulationError> {
        let (case, spec, warnings) = match std::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Deck(loaded) => {
                let Loaded { case, spec, warnings, .. } = *loaded;
                (case, Some(Box::new(spec)), warnings)
            }
            Stage::Case(case) => (*case, None, Vec::new()),
            other => {
                self.stage = other;
                return Ok(());
            }
        };
        self.history = Table::new(&case);
        let rows = history::Rows::default();
        self.recorder = Some(rows.clone());
        let Output { history, frames, integration_points, shells, mises_peak, checkpoint, .. } = self.output;
        let envelope = if mises_peak { Envelope::of(case.model.elements()) } else { Envelope::default() };
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        let mut keeper = None;
        if let Some(path) = path {
            let (model, end) = (&case.model, case.end);
            let (rows, pictures) = (history, frames);
            let (mut history, mut frames) = match slot {
                Some(_) => {
                    (History::reopen(path, &case, history), Ok(Frames::reopen(path, model, end, frames)))
                }
                None => (History::create(path, &case, history), Frames::create(path, model, end, frames)),
            };
            if slot.is_none() && (record.is_some() || self.looks_from.is_some()) {
                let from = self.looks_from.unwrap_or_default();
                history = history.map(|h| h.anew(Times::between(from, end, rows)));
                frames = frames.map(|f| f.anew(Times::between(from, end, pictures)));
            }
            let write = |e: crate::run::WriteError| SimulationError::Write { path: e.path, source: e.source };
            let frames = frames.map_err(write)?.drawing(shells == Shells::Control);
            observers.push(Box::new(history.map_err(write)?));
            let frames = if mises_peak { frames.with_envelope(envelope.clone()) } else { frames };
            observers.push(Box::new(match integration_points {
                true => frames.with_integration_points(model),
                false => frames,
            }));
            let every = Duration::from_secs_f64((60.0 * checkpoint).min(1e9));
            // a run that was looked at again has its checkpoints where it was done
            keeper = self.looks_from.is_none().then(|| Keeper::new(path, every, slot));
        }
        let mut recorder = Recorder::new(&case, history, rows, envelope, !self.forgetful);
        self.peaks = Some(recorder.peaks.clone());
        if let Some(record) = record {
            Observer::restore(&mut recorder, record).map_err(RunError::from)?;
        }
        observers.append(&mut self.observers);
        let run = self.pool.install(|| match record {
            Some(record) => Run::resume(case, observers, keeper, record).map(|mut run| {
                run.observe(Box::new(recorder));
                run
            }),
            None => {
                observers.push(Box::new(recorder));
                Run::start(case, observers, keeper)
            }
        })?;
        if let Some(path) = path {
            let running = Summary::of(&run, Wall::default(), Status::Running, None);
            folder::write_summary(path, &Summary { threads: self.threads(), ..running })?;
        }
        self.stage = Stage::Running(Box::new(run), spec, warnings);
        self.remember();
        Ok(())
    }

    fn remember(&mut self) {
        if let Some(rows) = &self.recorder {
            self.history.extend(rows);
        }
    }

    /// The run that [`Simulation::start`] has begun, and the pool it belongs in.
    fn running(&mut self) -> Option<(&mut Run, &rayon::ThreadPool)> {
        match &mut self.stage {
            Stage::Running(run, ..) => Some((run, &self.pool)),
            _ => None,
        }
    }

    /// Carries on to the end, or until `stop` is raised; leaves a checkpoint and the summary behind.
    pub fn run_until(&mut self, stop: &AtomicBool) -> Result<Reached, SimulationError> {
        self.start()?;
        let begin = Instant::now();
        let Some((run, pool)) = self.running() else { return Ok(Reached::Until) };
        let outcome = pool.install(|| run.to_end(stop));
        self.in_loop += begin.elapsed().as_secs_f64();
        self.remember();
        self.close(outcome)
    }

    /// Carries on to the end.
    pub fn run(&mut self) -> Result<(), SimulationError> {
        self.run_until(&AtomicBool::new(false)).map(|_| ())
    }

    /// Carries on to the first instant at or after `until` [s] that the method reaches by itself: no step is shortened.
    pub fn advance(&mut self, until: f64) -> Result<(), SimulationError> {
        self.advance_unless(until, &AtomicBool::new(false)).map(|_| ())
    }

    /// The same, unless `stop` is raised: then it returns between two steps, and can go on from there.
    pub fn advance_unless(&mut self, until: f64, stop: &AtomicBool) -> Result<Reached, SimulationError> {
        self.start()?;
        let begin = Instant::now();
        let Some((run, pool)) = self.running() else { return Ok(Reached::Until) };
        let outcome = pool.install(|| run.advance(until, stop));
        self.in_loop += begin.elapsed().as_secs_f64();
        self.remember();
        outcome.map_err(SimulationError::from)
    }

    /// One step of the method.
    pub fn step(&mut self) -> Result<(), SimulationError> {
        self.step_unless(&AtomicBool::new(false)).map(|_| ())
    }

    /// The same, unless `stop` is raised: a long step may be given up, and the state stays as it was.
    pub fn step_unless(&mut self, stop: &AtomicBool) -> Result<Reached, SimulationError> {
        self.start()?;
        let next = self.case().map_or(0.0, |case| case.method.next_step());
        self.advance_unless(self.time() + 0.5 * next, stop)
    }

    /// Ends a run that was carried piece by piece: leaves a checkpoint and the summary behind.
    pub fn finish(&mut self) -> Result<(), SimulationError> {
        self.start()?;
        let Some((run, _)) = self.running() else { return Ok(()) };
        let kept = run.keep();
        let reached = if run.case.state.time < run.case.end { Reached::Stopped } else { Reached::Until };
        self.close(kept.map(|()| reached)).map(|_| ())
    }

    /// Writes the summary, and cuts what did not get to its end.
    fn close(&mut self, outcome: Result<Reached, RunError>) -> Result<Reached, SimulationError> {
        let (status, failure) = match &outcome {
            Ok(Reached::Until) => (Status::Finished, None),
            Ok(Reached::Stopped) => (Status::Interrupted, None),
            Err(error) => (Status::Failed, Some(error.to_string())),
        };
        let summary = self.summarise(status, failure);
        if let (Some((path, _)), Some(summary)) = (&self.folder, summary) {
            let written = folder::write_summary(path, &summary);
            match &outcome {
                Ok(_) => written?,
                // If even the summary cannot be written, the reason is told anyway.
                Err(_) => folder::trim_history(path),
            }
        }
        if let Ok(Reached::Until) = outcome {
            self.lock = None;
        }
        Ok(outcome?)
    }

    fn summarise(&self, status: Status, failure: Option<String>) -> Option<Summary> {
        let Stage::Running(run, ..) = &self.stage else { return None };
        let wall = Wall { whole: self.begin.elapsed().as_secs_f64(), in_loop: self.in_loop };
        let (threads, peaks) = (self.threads(), self.peaks().unwrap_or_default());
        Some(Summary { threads, peaks, ..Summary::of(run, wall, status, failure) })
    }

    /// Extremes of probes, contact forces and stress so far, followed at every row of the history; nothing before the start.
    pub fn peaks(&self) -> Option<Peaks> {
        let meter = self.peaks.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(meter.peaks(self.case()?))
    }

    /// How it has gone so far; nothing before the start.
    pub fn summary(&self) -> Option<Summary> {
        let status = if self.time() < self.end() { Status::Running } else { Status::Finished };
        self.summarise(status, None)
    }

    /// Where the nodes are, all at one time; nothing before the start.
    pub fn nodes(&mut self) -> Option<Nodes<'_>> {
        let (run, pool) = self.running()?;
        pool.install(|| run.synchronise());
        let state = run.synchronised();
        Some(Nodes { time: state.time, x: &state.x, v: &state.v })
    }

    /// What the deck calls a body, and its nodes.
    pub fn body(&self, name: &str) -> Option<Range<usize>> {
        self.case()?.model.bodies.iter().find(|b| b.name == name).map(|b| b.nodes.clone())
    }

    /// Rows of the history so far; from where it was taken up, for a resumed run.
    pub fn history(&self) -> &Table {
        &self.history
    }

    /// What contact has done so far; nothing before the start.
    pub fn contacts(&self) -> Option<Contacts<'_>> {
        let Stage::Running(run, ..) = &self.stage else { return None };
        let Ledger { contacts: count, penetration, .. } = run.ledger;
        Some(Contacts { count, penetration, impulse: run.case.method.contact_impulse() })
    }

    /// Impulse [N s] that body `by` has given to body `on` since the start; either may be an obstacle.
    pub fn impulse_between(&self, on: &str, by: &str) -> Option<Vec3> {
        let case = self.case()?;
        let Model { bodies, contact, .. } = &case.model;
        let names = bodies.iter().map(|b| &b.name).chain(contact.obstacles.iter().map(|o| &o.name));
        let index = |name: &str| names.clone().position(|n| n == name).map(|i| i as u32);
        Some(case.method.impulse_between(index(on)?, index(by)?))
    }

    /// Where energy went; nothing before the start.
    pub fn ledger(&self) -> Option<&Ledger> {
        match &self.stage {
            Stage::Running(run, ..) => Some(&run.ledger),
            _ => None,
        }
    }
}
