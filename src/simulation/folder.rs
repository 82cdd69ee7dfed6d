//! Output folders: whose they are, and how a run begins in one.

use super::SimulationError;
use super::lock::{self, Lock};
use crate::model::record::Record;
use crate::output::pvd::{self, Series, own_files};
use crate::output::summary::{Status, Summary};
use crate::output::{frames, history};
use crate::run::{Case, checkpoint, disk};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What happens to a run that is in the folder already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// It is kept, and ours refused.
    #[default]
    Keep,
    /// It is continued from its newest checkpoint.
    Resume,
    /// It is lost.
    Replace,
}

/// What a folder is before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Not there, or empty.
    Free,
    /// A run has begun here.
    Run,
}

/// Files of a run, in the order in which they are removed: what a run could be taken up from goes first, what says whose the
/// folder is stays. `frames` is a folder.
const FILES: [&str; 9] = [
    "checkpoint.tmp",
    "checkpoint.a",
    "checkpoint.b",
    history::FILE,
    "frames.pvd.tmp",
    pvd::FILE,
    "deck.toml.tmp",
    "deck.toml",
    "summary.json.tmp",
];
const SUMMARY: &str = "summary.json";
/// The first file of a run while it is written.
const UNNAMED: &str = "summary.json.tmp";

/// Whether a run may begin in `out`: what is there, or a refusal, also if somebody is at work there.
pub(super) fn examine(out: &Path, before: Before) -> Result<Found, SimulationError> {
    let found = examine_held(out, before);
    match found {
        Ok(Found::Run) | Err(SimulationError::FolderTaken { .. }) => Lock::look(out).and(found),
        _ => found,
    }
}

/// The same by who holds the lock.
pub(super) fn examine_held(out: &Path, before: Before) -> Result<Found, SimulationError> {
    let path = || out.to_path_buf();
    let is_file = |name: &str| fs::symlink_metadata(out.join(name)).is_ok_and(|m| m.is_file());
    // a run that was killed before its first file had a name has not begun
    let ours =
        |e: &fs::DirEntry| e.file_name() == lock::FILE || (e.file_name() == UNNAMED && is_file(UNNAMED));
    let others = |entries: fs::ReadDir| entries.flatten().filter(|e| !ours(e)).count();
    let begun =
        || is_file(SUMMARY) || (is_file("deck.toml") && (is_file("checkpoint.a") || is_file("checkpoint.b")));
    let found = match fs::read_dir(out).map(others) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Found::Free,
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && out.exists() => {
            return Err(SimulationError::NotAFolder { path: path() });
        }
        Err(source) => return Err(SimulationError::Write { path: path(), source }),
        Ok(0) => Found::Free,
        Ok(_) if begun() => Found::Run,
        Ok(_) => return Err(SimulationError::ForeignFolder { path: path() }),
    };
    match (found, before) {
        (Found::Free, Before::Resume) => Err(SimulationError::NothingToResume { path: path() }),
        (Found::Run, Before::Keep) => Err(SimulationError::FolderTaken { path: path() }),
        (Found::Run, _) => plain(out).map(|()| found),
        (Found::Free, _) => Ok(found),
    }
}

/// Whatever has the name of a file of ours is a file, and `frames` a folder: links would lead our writing elsewhere.
fn plain(out: &Path) -> Result<(), SimulationError> {
    for name in FILES.iter().chain(&[SUMMARY]) {
        if let Ok(Some(what)) = disk::oddity(&out.join(name)) {
            return Err(SimulationError::Odd { path: out.join(name), what });
        }
    }
    let frames = out.join(pvd::FOLDER);
    match disk::oddity(&frames) {
        Ok(Some("a folder")) | Err(_) => Ok(()),
        Ok(what) => Err(SimulationError::Odd { path: frames, what: what.unwrap_or("a file") }),
    }
}

pub(super) fn cannot_write(path: &Path) -> impl Fn(io::Error) -> SimulationError {
    move |source| SimulationError::Write { path: path.to_owned(), source }
}

/// Folders that did not exist before, innermost first, to be removed again if the run does not come to begin.
pub(super) struct Made(Vec<PathBuf>);

/// Makes the folder and its parents.
pub(super) fn make(out: &Path) -> Result<Made, SimulationError> {
    let missing = out.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
    let made = Made(missing.map(Path::to_owned).collect());
    fs::create_dir_all(out).map_err(|e| {
        made.remove();
        cannot_write(out)(e)
    })?;
    Ok(made)
}

impl Made {
    pub(super) fn remove(&self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes what an earlier run left, its summary last of all kept. What is not from a run stays.
pub(super) fn clear(out: &Path) -> Result<(), SimulationError> {
    let frames = out.join(pvd::FOLDER);
    let files = FILES.iter().map(|name| out.join(name)).chain(own_files(&frames, 0));
    for path in files {
        disk::remove_file(&path).map_err(cannot_write(&path))?;
    }
    let _ = fs::remove_dir(frames);
    Ok(())
}

/// Takes back a beginning that failed: nothing half-written stays.
pub(super) fn undo(out: &Path) {
    let _ = clear(out);
    let _ = fs::remove_file(out.join(SUMMARY));
}

/// Removes files under their unfinished names.
pub(super) fn tidy(out: &Path) {
    for name in FILES.iter().filter(|n| n.ends_with(".tmp")) {
        let _ = disk::remove_file(&out.join(name));
    }
}

/// What a run can go on from.
pub(super) enum Base {
    /// A checkpoint, with history and frames that fit it.
    Checkpoint(checkpoint::Slot, Box<Record>),
    /// Nothing has been done yet that could be lost.
    Start,
}

/// The newest checkpoint of a run whose history and frames are there as it counts on them; nothing is changed.
pub(super) fn base(out: &Path) -> Result<Base, SimulationError> {
    let mut why = Vec::new();
    for (slot, record) in checkpoint::both(out) {
        let name = slot.file();
        match record {
            Err(e) if e.kind() == io::ErrorKind::NotFound => why.push(format!("{name} is missing")),
            Err(e) => why.push(format!("{name}: {e}")),
            Ok(record) => {
                let fits = history::verify(out, &record).and_then(|()| frames::verify(out, &record));
                match fits {
                    Ok(()) => return Ok(Base::Checkpoint(slot, Box::new(record))),
                    Err(what) => why.push(format!("{name} does not fit: {what}")),
                }
            }
        }
    }
    let rows = rows(out);
    let frames = own_files(&out.join(pvd::FOLDER), 1).len();
    let kept = ["checkpoint.a", "checkpoint.b"].iter().any(|name| out.join(name).exists());
    if rows <= 1 && frames == 0 && !kept && !finished(out) {
        return Ok(Base::Start);
    }
    why.dedup();
    let state = match Summary::read(out) {
        Ok(summary) => format!("that is {:?}", summary.status).to_lowercase(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => "without a summary".into(),
        Err(_) => "with a damaged summary".into(),
    };
    let frames = own_files(&out.join(pvd::FOLDER), 0).len();
    let there = format!("there is a history of {rows} rows, {frames} frames and a run {state}");
    Err(SimulationError::Unresumable { path: out.to_owned(), why, there })
}

/// The run in a folder was ended from outside: its summary says so, if it said that it runs. For programs that cannot wait for the
/// end of a step.
pub fn mark_interrupted(out: &Path) -> io::Result<()> {
    let mut summary = Summary::read(out)?;
    if summary.status == Status::Running {
        summary.status = Status::Interrupted;
        summary.write(out)?;
    }
    Ok(())
}

/// Rows of history below its header, whole or not.
fn rows(out: &Path) -> usize {
    let text = disk::read_file(&out.join(history::FILE)).unwrap_or_default();
    text.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count().saturating_sub(1)
}

/// The list of frames of a run that has finished is what it was, or is written anew.
pub(super) fn mend_list(out: &Path, record: &Record) -> Result<(), SimulationError> {
    let times = record.get("frames.times").unwrap_or_default();
    match Series::is_listed(out, times) {
        true => Ok(()),
        false => Series::resume(out, times)
            .map(|_| ())
            .map_err(|e| cannot_write(&out.join(pvd::FILE))(io::Error::other(e))),
    }
}

/// Did the run in a folder say that it has come to its end?
pub(super) fn finished(out: &Path) -> bool {
    Summary::read(out).is_ok_and(|s| s.status == Status::Finished)
}

/// Did the run in a folder come to its end where `record` was kept, and do summary and history say so? A summary of another run, or
/// rows behind the last one, are not believed: such a run goes on from its checkpoint, and both are written anew.
pub(super) fn finished_at(out: &Path, case: &Case, record: &Record) -> bool {
    let told = |s: Summary| s.status == Status::Finished && s.tells_of(case, record);
    Summary::read(out).is_ok_and(told) && history::ends_there(out, record)
}

/// Cuts a last row of history that did not get to its end.
pub(super) fn trim_history(out: &Path) {
    let path = out.join(history::FILE);
    if let Ok(bytes) = disk::read_file(&path)
        && !bytes.ends_with(b"\n")
    {
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let _ = fs::OpenOptions::new().write(true).open(&path).and_then(|f| f.set_len(whole as u64));
    }
}

/// Writes the resolved deck in one move.
pub(super) fn write_deck(out: &Path, text: &str) -> Result<(), SimulationError> {
    let path = out.join("deck.toml");
    disk::replace_file_for_good(&path, text.as_bytes()).map_err(cannot_write(&path))
}

pub(super) fn write_summary(out: &Path, summary: &Summary) -> Result<(), SimulationError> {
    summary.write(out).map_err(cannot_write(&out.join(SUMMARY)))
}
