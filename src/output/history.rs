//! `history.csv`: one row per history time, flushed row by row so that it can be read while the run goes on.

use crate::model::record::{Record, RecordError};
use crate::run::probe::Meter;
use crate::run::{Case, Look, Observer, ObserverError, Times, WriteError};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// The fixed columns, in their order. Readers go by name.
pub const COLUMNS: [&str; 23] = [
    "time",
    "step",
    "dt",
    "kinetic",
    "strain",
    "contact",
    "external",
    "friction",
    "restitution",
    "damping",
    "plastic",
    "correction",
    "total",
    "error",
    "hourglass",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
    "contacts",
    "penetration",
];

/// Columns that implicit methods add: iterations of the last step, and contacts that stuck and slipped in it.
pub const IMPLICIT: [&str; 3] = ["iterations", "stick", "slip"];

/// Columns that hold whole numbers, and those of implicit methods.
const WHOLE: [usize; 5] = [1, 21, 23, 24, 25];

/// The names of all columns, those of probes behind the fixed ones.
pub fn columns(case: &Case) -> Vec<String> {
    let own = case.probes.iter().flat_map(|p| p.components().iter().map(move |c| format!("{}.{c}", p.name)));
    let implicit = case.method.newton_counts().map_or(&[][..], |_| &IMPLICIT);
    COLUMNS.iter().chain(implicit).map(|c| c.to_string()).chain(own).collect()
}

/// Makes the rows.
pub struct Rows {
    meter: Meter,
    row: Vec<f64>,
}

impl Rows {
    pub fn new(case: &Case) -> Rows {
        Rows { meter: Meter::new(&case.probes), row: Vec::new() }
    }

    /// The numbers of all columns.
    pub fn row(&mut self, look: &Look) -> &[f64] {
        let (l, m) = (look.ledger, look.momentum);
        let contacts = look.case.method.contacts_since(self.meter.last_time()).unwrap_or(l.contacts);
        self.row.clear();
        self.row.extend([look.state.time, look.state.step as f64, l.dt, l.kinetic, l.strain, l.contact]);
        self.row.extend([l.external, l.friction, l.restitution, l.damping, l.plastic, l.correction]);
        self.row.extend([l.total(), l.error(), l.hourglass]);
        self.row.extend(m.linear.iter().chain(m.angular.iter()));
        self.row.extend([contacts as f64, l.penetration]);
        let counts = look.case.method.newton_counts();
        self.row.extend(counts.iter().flatten().map(|c| *c as f64));
        self.meter.measure(look, &mut self.row);
        &self.row
    }

    pub fn save(&self, record: &mut Record) {
        self.meter.save(record);
    }

    pub fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        self.meter.restore(record)
    }
}

pub struct History {
    path: PathBuf,
    file: File,
    times: Times,
    source: Rows,
    rows: u64,
    implicit: bool,
}

impl History {
    /// Begins a new file in `folder`; `count` intervals up to `end`.
    pub fn create(folder: &Path, case: &Case, count: u64) -> Result<Self, WriteError> {
        let path = folder.join("history.csv");
        let header = columns(case).join(",") + "\n";
        let file = File::create(&path)
            .and_then(|mut file| file.write_all(header.as_bytes()).map(|()| file))
            .map_err(|source| WriteError { path: path.clone(), source })?;
        Ok(History::of(path, file, case, count))
    }

    fn of(path: PathBuf, file: File, case: &Case, count: u64) -> History {
        let (times, source) = (Times::new(case.end, count), Rows::new(case));
        let implicit = case.method.newton_counts().is_some();
        History { path, file, times, source, rows: 0, implicit }
    }

    /// Continues a file; [`Observer::restore`] then cuts it back to the checkpoint.
    pub fn reopen(folder: &Path, case: &Case, count: u64) -> Result<Self, WriteError> {
        let path = folder.join("history.csv");
        let file = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|source| WriteError { path: path.clone(), source })?;
        Ok(History::of(path, file, case, count))
    }

    /// Keeps the header and the first `rows` rows.
    fn cut(&self, rows: u64) -> io::Result<()> {
        let mut reader = BufReader::new(File::open(&self.path)?);
        let mut keep = 0;
        for _ in 0..=rows {
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "fewer rows than the checkpoint counted",
                ));
            }
            keep += line.len() as u64;
        }
        OpenOptions::new().write(true).open(&self.path)?.set_len(keep)
    }
}

impl Observer for History {
    fn next(&self) -> f64 {
        self.times.next()
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let mut text = String::new();
        for (i, x) in self.source.row(look).iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let whole = if self.implicit { &WHOLE[..] } else { &WHOLE[..2] };
            let _ = match whole.contains(&i) {
                true => write!(text, "{comma}{}", *x as u64),
                false => write!(text, "{comma}{x:.16e}"),
            };
        }
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| WriteError { path: self.path.clone(), source })?;
        self.rows += 1;
        self.times.seen(look.state.time, look.ledger.dt);
        Ok(())
    }

    fn save(&self, record: &mut Record) {
        record.counts("history.rows", &[self.rows]);
        self.source.meter.save(record);
    }

    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        [self.rows] = record.read_counts("history.rows")?;
        self.source.restore(record)?;
        let time = record.get("state.time")?[0];
        self.times.seen(time, record.get("ledger.numbers")?.get(13).copied().unwrap_or(0.0));
        self.cut(self.rows).map_err(|error| RecordError::Outside(format!("{}: {error}", self.path.display())))
    }
}

/// Whether a folder holds a history, for those who decide what a folder is.
pub fn exists(folder: &Path) -> bool {
    fs::metadata(folder.join("history.csv")).is_ok()
}
