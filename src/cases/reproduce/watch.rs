//! What a case looks at beside the history: numbers row by row, and positions it wants to keep.

use crate::math::Vec3;
use crate::run::{Look, Observer, ObserverError, Times};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Looks at a run whenever the history does.
pub(crate) type Watch = fn(&Look, &mut Seen);

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    columns: BTreeMap<&'static str, Vec<f64>>,
    /// Positions of all nodes, look by look, if they were kept.
    pub positions: Vec<Vec<Vec3>>,
}

impl Seen {
    /// One more number of a column.
    pub(crate) fn push(&mut self, column: &'static str, value: f64) {
        self.columns.entry(column).or_default().push(value);
    }

    pub(crate) fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.get(name).map(Vec::as_slice)
    }
}

/// Calls a [`Watch`], and leaves what it has seen to those who hold `seen`.
pub(super) struct Watcher {
    watch: Watch,
    times: Times,
    pub seen: Arc<Mutex<Seen>>,
}

impl Watcher {
    /// Looks `count` times after the start, up to `end` [s].
    pub(crate) fn new(watch: Watch, end: f64, count: u64) -> Watcher {
        Watcher { watch, times: Times::new(end, count), seen: Arc::default() }
    }
}

impl Observer for Watcher {
    fn next(&self) -> f64 {
        self.times.next()
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        (self.watch)(look, &mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        self.times.seen(look.state.time, look.ledger.dt);
        Ok(())
    }
}
