//! `history.csv`: one row per history time, flushed row by row so that it can be read while the run goes on.

use crate::model::record::{Record, RecordError};
use crate::run::probe::{Meter, Probe};
use crate::run::{Look, Observer, ObserverError, Times};
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

pub struct History {
    path: PathBuf,
    file: File,
    times: Times,
    meter: Meter,
    rows: u64,
    row: Vec<f64>,
}

impl History {
    /// Begins a new file in `folder`; `count` intervals up to `end`.
    pub fn create(folder: &Path, probes: &[Probe], end: f64, count: u64) -> Result<Self, ObserverError> {
        let path = folder.join("history.csv");
        let mut header = COLUMNS.join(",");
        for probe in probes {
            for component in probe.components() {
                let _ = write!(header, ",{}.{component}", probe.name);
            }
        }
        header.push('\n');
        let file = File::create(&path)
            .and_then(|mut file| file.write_all(header.as_bytes()).map(|()| file))
            .map_err(|source| ObserverError { path: path.clone(), source })?;
        let (times, meter) = (Times::new(end, count), Meter::new(probes));
        Ok(History { path, file, times, meter, rows: 0, row: Vec::new() })
    }

    /// Continues a file; [`Observer::restore`] then cuts it back to the checkpoint.
    pub fn reopen(folder: &Path, probes: &[Probe], end: f64, count: u64) -> Result<Self, ObserverError> {
        let path = folder.join("history.csv");
        let file = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|source| ObserverError { path: path.clone(), source })?;
        let (times, meter) = (Times::new(end, count), Meter::new(probes));
        Ok(History { path, file, times, meter, rows: 0, row: Vec::new() })
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
        let (l, m) = (look.ledger, look.momentum);
        let mut text = format!("{:.16e},{}", look.state.time, look.state.step);
        let numbers = [
            l.dt,
            l.kinetic,
            l.strain,
            l.contact,
            l.external,
            l.friction,
            l.restitution,
            l.damping,
            l.plastic,
            l.correction,
            l.total(),
            l.error(),
            l.hourglass,
            m.linear.x,
            m.linear.y,
            m.linear.z,
            m.angular.x,
            m.angular.y,
            m.angular.z,
        ];
        for x in numbers {
            let _ = write!(text, ",{x:.16e}");
        }
        let since = self.meter.last_time();
        let contacts = look.case.method.contacts_since(since).unwrap_or(l.contacts);
        let _ = write!(text, ",{contacts},{:.16e}", l.penetration);
        self.row.clear();
        self.meter.measure(look, &mut self.row);
        for x in &self.row {
            let _ = write!(text, ",{x:.16e}");
        }
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| ObserverError { path: self.path.clone(), source })?;
        self.rows += 1;
        self.times.seen(look.state.time, l.dt);
        Ok(())
    }

    fn save(&self, record: &mut Record) {
        record.counts("history.rows", &[self.rows]);
        self.meter.save(record);
    }

    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        [self.rows] = record.read_counts("history.rows")?;
        self.meter.restore(record)?;
        let time = record.get("state.time")?[0];
        self.times.seen(time, record.get("ledger.numbers")?.get(13).copied().unwrap_or(0.0));
        self.cut(self.rows).map_err(|error| RecordError::Outside(format!("{}: {error}", self.path.display())))
    }
}

/// Whether a folder holds a history, for those who decide what a folder is.
pub fn exists(folder: &Path) -> bool {
    fs::metadata(folder.join("history.csv")).is_ok()
}
