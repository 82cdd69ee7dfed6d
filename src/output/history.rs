//! `history.csv`: one row per history time, flushed row by row so that it can be read while the run goes on.

use crate::model::record::{Record, RecordError};
use crate::run::probe::Meter;
use crate::run::{Case, Look, Meaningless, Observer, ObserverError, Times, WriteError, disk};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
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
pub(crate) const IMPLICIT: [&str; 3] = ["iterations", "stick", "slip"];

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

/// Name of the history in an output folder.
pub const FILE: &str = "history.csv";

pub struct History {
    path: PathBuf,
    file: File,
    times: Times,
    source: Rows,
    /// What has been written: rows after the header, bytes, and their checksum.
    rows: u64,
    bytes: u64,
    sum: crc32fast::Hasher,
    header: Vec<String>,
    implicit: bool,
    /// It begins with a run that is taken up: there is nothing to cut.
    anew: bool,
}

impl History {
    /// Begins a new file in `folder`; `count` intervals up to `end`.
    pub fn create(folder: &Path, case: &Case, count: u64) -> Result<Self, WriteError> {
        let path = folder.join(FILE);
        let file = File::create(&path).map_err(|source| WriteError { path: path.clone(), source })?;
        let mut history = History::of(path, file, case, count);
        let header = history.header.join(",") + "\n";
        history.append(&header)?;
        Ok(history)
    }

    fn of(path: PathBuf, file: File, case: &Case, count: u64) -> History {
        let (times, source) = (Times::new(case.end, count), Rows::new(case));
        let implicit = case.method.newton_counts().is_some();
        let (header, sum) = (columns(case), crc32fast::Hasher::new());
        History { path, file, times, source, rows: 0, bytes: 0, sum, header, implicit, anew: false }
    }

    /// Looks at these times, in a file of its own, at a run that may be taken up from a checkpoint of another folder.
    pub fn anew(self, times: Times) -> History {
        History { times, anew: true, ..self }
    }

    /// Continues a file; [`Observer::restore`] then cuts it back to the checkpoint.
    pub(crate) fn reopen(folder: &Path, case: &Case, count: u64) -> Result<Self, WriteError> {
        let path = folder.join(FILE);
        let file = disk::require_file(&path).and_then(|()| OpenOptions::new().append(true).open(&path));
        let file = file.map_err(|source| WriteError { path: path.clone(), source })?;
        Ok(History::of(path, file, case, count))
    }

    fn append(&mut self, text: &str) -> Result<(), WriteError> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| WriteError { path: self.path.clone(), source })?;
        disk::written(&self.path);
        self.bytes += text.len() as u64;
        self.sum.update(text.as_bytes());
        Ok(())
    }
}

/// Does the file in `folder` begin with what it held when `record` was kept? If not, what is wrong.
pub(crate) fn verify(folder: &Path, record: &Record) -> Result<(), String> {
    let [bytes, sum] = record.read_counts("history.file").map_err(|e| e.to_string())?;
    let [rows] = record.read_counts("history.rows").map_err(|e| e.to_string())?;
    let path = folder.join(FILE);
    let read = || -> io::Result<(u64, u32)> {
        disk::require_file(&path)?;
        let mut file = File::open(&path)?.take(bytes);
        let (mut sum, mut length, mut part) = (crc32fast::Hasher::new(), 0, vec![0; 1 << 16]);
        loop {
            match file.read(&mut part)? {
                0 => return Ok((length, sum.finalize())),
                n => {
                    sum.update(&part[..n]);
                    length += n as u64;
                }
            }
        }
    };
    match read() {
        Err(error) => Err(format!("{FILE} cannot be read: {error}")),
        Ok((length, _)) if length < bytes => Err(format!(
            "{FILE} has {length} bytes; it had {bytes}, with {rows} rows, when the checkpoint was kept"
        )),
        Ok((_, found)) if u64::from(found) != sum => Err(format!(
            "{FILE} is not what it was when the checkpoint was kept: its first {rows} rows have been changed"
        )),
        Ok(_) => Ok(()),
    }
}

/// Columns that count what happened since the row before: another row before makes another number of them.
const SINCE: [&str; 2] = ["contacts", "penetration"];

/// How many rows of the history in `folder` are of the same instants as some of that in `other`, and the first column, with its time, in
/// which two of them differ. Only what is known of an instant is compared.
pub fn compare(folder: &Path, other: &Path) -> io::Result<(usize, Option<(String, String)>)> {
    let [a, b] = [folder, other].map(|f| disk::read_text(&f.join(FILE)));
    let (a, b) = (a?, b?);
    let known = |name: &str| COLUMNS.contains(&name) && !SINCE.contains(&name);
    let places = |text: &str| -> Vec<(usize, String)> {
        let names = text.lines().next().unwrap_or_default().split(',').enumerate();
        names.filter(|(_, n)| known(n)).map(|(i, n)| (i, n.to_owned())).collect()
    };
    let (places, others) = (places(&a), places(&b));
    let time = |line: &str| line.split(',').next().map(str::to_owned);
    let rows: std::collections::HashMap<String, &str> =
        b.lines().skip(1).filter_map(|line| Some((time(line)?, line))).collect();
    let (mut common, mut differs) = (0, None);
    for line in a.lines().skip(1) {
        let Some(twin) = time(line).and_then(|t| rows.get(&t)) else { continue };
        let [mine, twins] = [line, twin].map(|l| l.split(',').collect::<Vec<_>>());
        common += 1;
        let off = places.iter().zip(&others).find(|(p, q)| mine.get(p.0) != twins.get(q.0));
        if let (None, Some((p, _))) = (&differs, off) {
            differs = Some((p.1.clone(), mine[0].to_owned()));
        }
    }
    Ok((common, differs))
}

/// Is there nothing in the file in `folder` behind what it held when `record` was kept?
pub(crate) fn ends_there(folder: &Path, record: &Record) -> bool {
    let kept = record.read_counts("history.file").map(|[bytes, _]| bytes);
    std::fs::symlink_metadata(folder.join(FILE)).is_ok_and(|file| kept == Ok(file.len()))
}

impl Observer for History {
    fn next(&self) -> f64 {
        self.times.next()
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let mut text = String::new();
        for (i, x) in self.source.row(look).iter().enumerate() {
            if !x.is_finite() {
                return Err(Meaningless { column: self.header[i].clone() }.into());
            }
            let comma = if i > 0 { "," } else { "" };
            let whole = if self.implicit { &WHOLE[..] } else { &WHOLE[..2] };
            let _ = match whole.contains(&i) {
                true => write!(text, "{comma}{}", *x as u64),
                false => write!(text, "{comma}{x:.16e}"),
            };
        }
        text.push('\n');
        self.append(&text)?;
        self.rows += 1;
        self.times.seen(look.state.time, look.ledger.dt);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), ObserverError> {
        disk::sync_file(&self.path).map_err(|source| WriteError { path: self.path.clone(), source })?;
        Ok(())
    }

    fn save(&self, record: &mut Record) {
        record.counts("history.rows", &[self.rows]);
        record.counts("history.file", &[self.bytes, self.sum.clone().finalize().into()]);
        self.source.meter.save(record);
    }

    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        if self.anew {
            return self.source.restore(record);
        }
        [self.rows] = record.read_counts("history.rows")?;
        let [bytes, sum] = record.read_counts("history.file")?;
        (self.bytes, self.sum) = (bytes, crc32fast::Hasher::new_with_initial_len(sum as u32, bytes));
        self.source.restore(record)?;
        let time = record.get("state.time")?[0];
        self.times.seen(time, record.get("ledger.numbers")?.get(13).copied().unwrap_or(0.0));
        let cut = self.file.set_len(bytes);
        cut.map_err(|error| RecordError::Outside(format!("{}: {error}", self.path.display())))?;
        disk::written(&self.path);
        Ok(())
    }
}
