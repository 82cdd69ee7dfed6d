//! Who runs what when: as many runs at a time as there are threads, the longest first.
//!
//! Runs are independent, and one thread is used best by a whole run: only where there are fewer runs than threads does a
//! run get several. The number of threads changes no result.

use super::{Member, Study, StudyError};
use crate::method::Reached;
use crate::model::Ledger;
use crate::output::summary::{Status, Summary};
use crate::run::{Look, Observer, ObserverError, RunError};
use crate::simulation::{Before, Simulation, SimulationError};
use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How far a study is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    pub runs: usize,
    /// To their end, now or before.
    pub finished: usize,
    /// By failures of their own.
    pub failed: usize,
    /// Being run.
    pub active: usize,
    /// Of all the work, 0 to 1, as far as it can be told beforehand.
    pub share: f64,
}

/// How a study went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Runs that had finished before, and that have finished now.
    pub before: usize,
    pub now: usize,
    /// Runs that failed, and why.
    pub failed: Vec<(String, String)>,
    /// Somebody raised `stop`.
    pub stopped: bool,
}

/// What the workers share.
struct Board<'a> {
    /// Still to be run, the shortest first.
    waiting: Mutex<Vec<usize>>,
    /// Work of each run, in elements times steps, and the share of it that is done.
    work: Vec<f64>,
    done: Arc<Mutex<Vec<f64>>>,
    progress: Mutex<Progress>,
    tally: Mutex<Tally>,
    /// The folder can take no more, or the like: nothing goes on.
    broken: Mutex<Option<SimulationError>>,
    stop: &'a AtomicBool,
    tell: &'a (dyn Fn(Progress) + Sync),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board<'_> {
    fn tell(&self, change: impl FnOnce(&mut Progress)) {
        let share = {
            let done = locked(&self.done);
            let all: f64 = self.work.iter().sum();
            self.work.iter().zip(done.iter()).map(|(w, d)| w * d).sum::<f64>() / all.max(f64::MIN_POSITIVE)
        };
        let now = {
            let mut progress = locked(&self.progress);
            change(&mut progress);
            progress.share = share;
            *progress
        };
        (self.tell)(now);
    }

    fn halted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || locked(&self.broken).is_some()
    }
}

/// How far one run is, for the board.
struct Pulse {
    done: Arc<Mutex<Vec<f64>>>,
    member: usize,
    end: f64,
}

impl Observer for Pulse {
    fn next(&self) -> f64 {
        f64::INFINITY
    }

    fn look(&mut self, _: &Look) -> Result<(), ObserverError> {
        Ok(())
    }

    fn pulse(&mut self, time: f64, _: &Ledger) {
        locked(&self.done)[self.member] = (time / self.end).clamp(0.0, 1.0);
    }
}

/// A study that can begin.
struct Opened {
    tally: Tally,
    /// Of each run, in elements times steps.
    work: Vec<f64>,
    /// Still to be run.
    waiting: Vec<usize>,
}

/// How one run ended.
enum Ended {
    Finished,
    Stopped,
    Failed(String),
}

impl Study {
    /// Runs all that has not finished, on `threads` threads in all, until `stop` is raised. With `replace` a study that is in
    /// the folder already is removed first. A run that fails does not end the others. `tell` hears how far it is, from any
    /// thread, several times a second.
    ///
    /// Before anything runs every run is built once: what is wrong with any of them is said at once, unless `lenient`,
    /// which counts them as failed.
    pub fn run(
        &self,
        threads: usize,
        replace: bool,
        lenient: bool,
        stop: &AtomicBool,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<Tally, StudyError> {
        let Opened { tally, work, mut waiting } = self.open(threads, replace, lenient, stop)?;
        waiting.sort_by(|&i, &j| work[i].total_cmp(&work[j]).then(j.cmp(&i)));
        let (finished, failed) = (tally.before, tally.failed.len());
        let progress = Progress { runs: self.members.len(), finished, failed, ..Progress::default() };
        let board = Board {
            done: Arc::new(Mutex::new(vec![0.0; work.len()])),
            progress: Mutex::new(progress),
            tally: Mutex::new(tally),
            broken: Mutex::new(None),
            stop,
            tell,
            work,
            waiting: Mutex::new(waiting),
        };
        self.work(&board, threads);
        if let Some(source) = locked(&board.broken).take() {
            let values = self.out.display().to_string();
            return Err(StudyError::Member { values, source: Box::new(source) });
        }
        let mut tally = std::mem::take(&mut *locked(&board.tally));
        tally.failed.sort();
        tally.stopped = stop.load(Ordering::Relaxed);
        Ok(tally)
    }

    /// Builds every run that has not finished, makes the folder or finds that it is ours, and says which runs are left, by
    /// their numbers. For those who run them by other means: [`Study::run_member`].
    pub fn begin(&self, threads: usize, stop: &AtomicBool) -> Result<Vec<usize>, StudyError> {
        Ok(self.open(threads, false, false, stop)?.waiting)
    }

    /// Runs one member to its end, or takes it up where it was, unless `stop` is raised. Says why it failed, if it did.
    pub fn run_member(
        &self,
        i: usize,
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Option<String>, SimulationError> {
        let done = Arc::new(Mutex::new(vec![0.0; self.members.len()]));
        match self.run_one(i, threads, stop, &done)? {
            Ended::Failed(why) => Ok(Some(why)),
            Ended::Finished | Ended::Stopped => Ok(None),
        }
    }

    fn open(
        &self,
        threads: usize,
        replace: bool,
        lenient: bool,
        stop: &AtomicBool,
    ) -> Result<Opened, StudyError> {
        let mut tally = Tally::default();
        let open: Vec<usize> =
            (0..self.members.len()).filter(|&i| replace || !self.has_finished(&self.members[i])).collect();
        tally.before = self.members.len() - open.len();
        let mut work = vec![0.0; self.members.len()];
        let mut waiting = Vec::new();
        for (i, built) in self.build(&open, threads, stop) {
            match built {
                Ok(cost) => {
                    work[i] = cost;
                    waiting.push(i);
                }
                Err(error) if lenient => tally.failed.push((self.members[i].name.clone(), error.to_string())),
                Err(source) => {
                    let values = self.own_options(&self.members[i]).collect::<Vec<_>>().join(" ");
                    return Err(StudyError::Member { values, source: Box::new(source) });
                }
            }
        }
        self.enter(replace)?;
        Ok(Opened { tally, work, waiting })
    }

    fn has_finished(&self, member: &Member) -> bool {
        Summary::read(&self.folder_of(member)).is_ok_and(|s| s.status == Status::Finished)
    }

    /// Builds runs and lets them go again: the work each will be, in elements times steps.
    fn build(
        &self,
        open: &[usize],
        threads: usize,
        stop: &AtomicBool,
    ) -> Vec<(usize, Result<f64, SimulationError>)> {
        let (next, built) = (Mutex::new(open.iter()), Mutex::new(Vec::new()));
        let one = || {
            loop {
                let Some(&i) = locked(&next).next() else { return };
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let simulation =
                    self.setup(&self.members[i], 1).deck(&self.deck.name, &self.deck.text, &self.deck.folder);
                let cost = simulation.map(|s| {
                    s.case().map_or(1.0, |case| {
                        let step = case.method.next_step();
                        let steps = if step > 0.0 { case.end / step } else { 1.0 };
                        case.model.elements() as f64 * steps
                    })
                });
                locked(&built).push((i, cost));
            }
        };
        std::thread::scope(|scope| {
            (0..threads.min(open.len())).for_each(|_| drop(scope.spawn(one)));
        });
        let mut built = built.into_inner().unwrap_or_else(PoisonError::into_inner);
        built.sort_by_key(|(i, _)| *i);
        built
    }

    /// Workers until nothing is left to do.
    fn work(&self, board: &Board, threads: usize) {
        let jobs = threads.min(locked(&board.waiting).len()).max(1);
        let active = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs)
                .map(|k| {
                    // what does not divide evenly goes to the first
                    let own = threads / jobs + usize::from(k < threads % jobs);
                    scope.spawn(move || self.worker(board, own.max(1)))
                })
                .collect();
            let active = &active;
            scope.spawn(move || {
                while active.load(Ordering::Relaxed) {
                    board.tell(|_| {});
                    std::thread::sleep(std::time::Duration::from_millis(200));
                }
            });
            for worker in workers {
                let _ = worker.join();
            }
            active.store(false, Ordering::Relaxed);
        });
    }

    fn worker(&self, board: &Board, threads: usize) {
        while !board.halted() {
            let Some(i) = locked(&board.waiting).pop() else { return };
            let member = &self.members[i];
            board.tell(|p| p.active += 1);
            let outcome =
                catch_unwind(AssertUnwindSafe(|| self.run_one(i, threads, board.stop, &board.done)));
            let ended = match outcome {
                Ok(Ok(ended)) => ended,
                // what is wrong with the disk will be wrong with all others
                Ok(Err(error)) if on_disk(&error) => {
                    locked(&board.broken).get_or_insert(error);
                    Ended::Stopped
                }
                Ok(Err(error)) => Ended::Failed(error.to_string()),
                Err(panic) => Ended::Failed(format!("internal error: {}", words_of(&*panic))),
            };
            locked(&board.done)[i] = 1.0;
            match ended {
                Ended::Finished => {
                    locked(&board.tally).now += 1;
                    board.tell(|p| (p.active, p.finished) = (p.active - 1, p.finished + 1));
                }
                Ended::Failed(why) => {
                    locked(&board.tally).failed.push((member.name.clone(), why));
                    board.tell(|p| (p.active, p.failed) = (p.active - 1, p.failed + 1));
                }
                Ended::Stopped => board.tell(|p| p.active -= 1),
            }
        }
    }

    /// Runs one member and writes down in `done` how far it is.
    fn run_one(
        &self,
        i: usize,
        threads: usize,
        stop: &AtomicBool,
        done: &Arc<Mutex<Vec<f64>>>,
    ) -> Result<Ended, SimulationError> {
        let member = &self.members[i];
        let folder = self.folder_of(member);
        let make = |before| {
            let setup = self.setup(member, threads).folder(&folder, before);
            let mut simulation = setup.deck(&self.deck.name, &self.deck.text, &self.deck.folder)?;
            let end = simulation.end();
            simulation.observe(Pulse { done: Arc::clone(done), member: i, end });
            simulation.start().map(|()| simulation)
        };
        let mut simulation: Simulation = if begun(&folder) {
            match make(Before::Resume) {
                Err(error) if lost(&error) => make(Before::Replace)?,
                other => other?,
            }
        } else {
            make(Before::Keep)?
        };
        Ok(match simulation.run_until(stop) {
            Ok(Reached::Until) => Ended::Finished,
            Ok(Reached::Stopped) => Ended::Stopped,
            Err(SimulationError::Run(RunError::Step(error))) => Ended::Failed(error.to_string()),
            Err(error) => return Err(error),
        })
    }
}

/// A run has begun in a folder. What a kill left of one that had not quite begun is removed.
fn begun(folder: &Path) -> bool {
    if folder.join("summary.json").is_file() {
        return true;
    }
    let unfinished = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".tmp");
    let entries: Vec<fs::DirEntry> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    if entries.iter().all(unfinished) {
        entries.iter().for_each(|entry| drop(fs::remove_file(entry.path())));
    }
    false
}

/// A run that is ours and cannot be taken up, for example because it was killed before its first checkpoint: it begins anew.
fn lost(error: &SimulationError) -> bool {
    use SimulationError::{Deck, EndsEarlier, OtherDeck, Run, Threads, Unreadable};
    let ours = !matches!(
        error,
        Deck(_) | OtherDeck { .. } | EndsEarlier { .. } | Threads { .. } | Unreadable { .. }
    );
    ours && !on_disk(error) && !matches!(error, Run(RunError::Step(_)))
}

fn on_disk(error: &SimulationError) -> bool {
    use SimulationError::{Run, Write};
    matches!(error, Write { .. } | Run(RunError::Observer(_) | RunError::Checkpoint { .. }))
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
