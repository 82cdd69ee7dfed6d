//! The history of a run in memory: the columns of `history.csv`, as slices.

use crate::model::record::{Record, RecordError};
use crate::output::history::{Rows as Source, columns};
use crate::run::peaks::{Envelope, PeakMeter};
use crate::run::{Case, Look, Observer, ObserverError, Times};
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers by column and row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    pub(super) fn new(case: &Case) -> Table {
        let names = columns(case);
        Table { columns: vec![Vec::new(); names.len()], names }
    }

    /// The names of the columns, in the order of `history.csv`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A column, for example `time`, `kinetic` or `tip.ux`.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.names.iter().position(|n| n == name).map(|i| &self.columns[i][..])
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    pub(super) fn extend(&mut self, rows: &Rows) {
        let numbers = std::mem::take(&mut *rows.0.lock().unwrap_or_else(PoisonError::into_inner));
        for row in numbers.chunks_exact(self.columns.len().max(1)) {
            self.columns.iter_mut().zip(row).for_each(|(column, x)| column.push(*x));
        }
    }
}

/// Rows that the run has seen and the table has not.
#[derive(Clone, Default)]
pub(super) struct Rows(Arc<Mutex<Vec<f64>>>);

/// Peaks so far, shared between the run and those who tell of it.
pub(super) type SharedPeaks = Arc<Mutex<PeakMeter>>;

/// Writes down a row whenever `history.csv` would have one.
pub(super) struct Recorder {
    times: Times,
    source: Source,
    rows: Rows,
    /// Rows are remembered.
    keep: bool,
    pub peaks: SharedPeaks,
}

impl Recorder {
    pub(crate) fn new(case: &Case, count: u64, rows: Rows, envelope: Envelope, keep: bool) -> Recorder {
        let peaks = Arc::new(Mutex::new(PeakMeter::new(case, envelope)));
        Recorder { times: Times::new(case.end, count), source: Source::new(case), rows, keep, peaks }
    }
}

impl Observer for Recorder {
    fn next(&self) -> f64 {
        self.times.next()
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let row = self.source.row(look);
        let probes: usize = look.case.probes.iter().map(|p| p.components().len()).sum();
        let mut peaks = self.peaks.lock().unwrap_or_else(PoisonError::into_inner);
        peaks.add(look, &row[row.len() - probes..]);
        if self.keep {
            self.rows.0.lock().unwrap_or_else(PoisonError::into_inner).extend(row);
        }
        self.times.seen(look.state.time, look.ledger.dt);
        Ok(())
    }

    /// The same as the file's own history keeps, where there is one, and the peaks.
    fn save(&self, record: &mut Record) {
        self.source.save(record);
        self.peaks.lock().unwrap_or_else(PoisonError::into_inner).save(record);
    }

    /// A run that is taken up is remembered from there on.
    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        self.source.restore(record)?;
        self.peaks.lock().unwrap_or_else(PoisonError::into_inner).restore(record)?;
        self.times.seen(
            record.get("state.time")?[0],
            record.get("ledger.numbers")?.get(13).copied().unwrap_or(0.0),
        );
        Ok(())
    }
}
