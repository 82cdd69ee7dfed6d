//! Many cases at once: several beside each other on one thread each, and those that compare wall times alone, afterwards.

use super::{Done, Published, ReproduceError, output};
use crate::run::pool;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Cases whose checks are wall times: they want the machine for themselves.
const TIMED: [&str; 4] = ["cost-growth", "table-1", "cubes-scaling", "76-cubes"];

/// How cases are run.
pub struct Request<'a> {
    pub quick: bool,
    /// Where runs, plots and pictures are kept; nowhere unless given.
    pub out: Option<&'a Path>,
    pub threads: usize,
    pub stop: &'a AtomicBool,
}

type Finished = (&'static Published, Done);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Request<'_> {
    /// Runs `cases`; `tell` hears of each as it is done. Returns them in the order given, or as far as they got before `stop`.
    pub fn run(
        &self,
        cases: &[&'static Published],
        tell: &mut (dyn FnMut(&Published, &Done) + Send),
    ) -> Result<Vec<Finished>, ReproduceError> {
        let (alone, beside): (Vec<_>, Vec<_>) = cases.iter().copied().partition(|c| TIMED.contains(&c.name));
        let workers = self.threads.min(beside.len()).max(1);
        let (waiting, done, tell) =
            (Mutex::new(beside.into_iter()), Mutex::new(Vec::new()), Mutex::new(tell));
        let failure: Mutex<Option<ReproduceError>> = Mutex::new(None);
        let work = |threads: usize, waiting: &Mutex<std::vec::IntoIter<&'static Published>>| {
            while !self.stop.load(Ordering::Relaxed) && locked(&failure).is_none() {
                let Some(case) = locked(waiting).next() else { return };
                match self.one(case, threads) {
                    Ok(Some(one)) => {
                        (locked(&tell))(case, &one);
                        locked(&done).push((case, one));
                    }
                    Ok(None) => return,
                    Err(error) => drop(locked(&failure).get_or_insert(error)),
                }
            }
        };
        std::thread::scope(|scope| {
            for k in 0..workers {
                let threads = self.threads / workers + usize::from(k < self.threads % workers);
                let (work, waiting) = (&work, &waiting);
                scope.spawn(move || work(threads.max(1), waiting));
            }
        });
        work(self.threads, &Mutex::new(alone.into_iter()));
        if let Some(error) = locked(&failure).take() {
            return Err(error);
        }
        let mut done = std::mem::take(&mut *locked(&done));
        done.sort_by_key(|(case, _)| cases.iter().position(|c| c.name == case.name));
        Ok(done)
    }

    /// One case; nothing if it was stopped.
    fn one(&self, case: &'static Published, threads: usize) -> Result<Option<Done>, ReproduceError> {
        let kept = self.out.map(|folder| folder.join(case.name));
        let folder: PathBuf = kept.clone().unwrap_or_else(|| {
            std::env::temp_dir().join(format!("carom-{}-{}", case.name, std::process::id()))
        });
        std::fs::create_dir_all(&folder)
            .map_err(|error| output(format!("cannot make the folder {}: {error}", folder.display())))?;
        let pool = pool(threads).map_err(output)?;
        let outcome = pool.install(|| case.run(self.quick, kept.is_some(), &folder, self.stop));
        if kept.is_none() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        outcome.map(|done| (!self.stop.load(Ordering::Relaxed)).then_some(done))
    }
}
