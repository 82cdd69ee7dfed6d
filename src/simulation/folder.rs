//! Output folders: whose they are, and how a run begins in one.

use super::SimulationError;
use crate::output::pvd::Series;
use crate::output::replace_file;
use crate::output::summary::Summary;
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

/// Whether a run may begin in `out`: what is there, or a refusal.
pub(super) fn examine(out: &Path, before: Before) -> Result<Found, SimulationError> {
    let path = || out.to_path_buf();
    let found = match fs::read_dir(out).map(Iterator::count) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Found::Free,
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && out.exists() => {
            return Err(SimulationError::NotAFolder { path: path() });
        }
        Err(source) => return Err(SimulationError::Write { path: path(), source }),
        Ok(0) => Found::Free,
        Ok(_) if out.join("summary.json").is_file() => Found::Run,
        Ok(_) => return Err(SimulationError::ForeignFolder { path: path() }),
    };
    match (found, before) {
        (Found::Free, Before::Resume) => Err(SimulationError::NothingToResume { path: path() }),
        (Found::Run, Before::Keep) => Err(SimulationError::FolderTaken { path: path() }),
        _ => Ok(found),
    }
}

pub(super) fn cannot_write(path: &Path) -> impl Fn(io::Error) -> SimulationError {
    move |source| SimulationError::Write { path: path.to_owned(), source }
}

/// Files of a run; `frames` is a folder.
const FILES: [&str; 9] = [
    "history.csv",
    "frames.pvd",
    "frames.pvd.tmp",
    "deck.toml",
    "deck.toml.tmp",
    "checkpoint.a",
    "checkpoint.b",
    "checkpoint.tmp",
    "summary.json.tmp",
];

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
    fn remove(&self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes what an earlier run left, its summary last of all kept.
pub(super) fn clear(out: &Path) -> Result<(), SimulationError> {
    let gone = |path: PathBuf, result: io::Result<()>| match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(cannot_write(&path)(e)),
        _ => Ok(()),
    };
    for name in FILES {
        let path = out.join(name);
        let result = fs::remove_file(&path);
        gone(path, result)?;
    }
    let frames = out.join("frames");
    let result = fs::remove_dir_all(&frames);
    gone(frames, result)
}

/// Takes back a beginning that failed: nothing half-written stays.
pub(super) fn undo(out: &Path, made: &Made) {
    let _ = clear(out);
    let _ = fs::remove_file(out.join("summary.json"));
    made.remove();
}

/// Removes what a killed run left half done: files under their unfinished names, and frames that no series lists.
pub(super) fn tidy(out: &Path) -> Result<(), SimulationError> {
    for name in FILES.iter().filter(|n| n.ends_with(".tmp")) {
        let _ = fs::remove_file(out.join(name));
    }
    let Ok(series) = Series::open(out) else { return Ok(()) };
    let listed: Vec<PathBuf> = series.entries().iter().map(|e| series.path(e)).collect();
    for entry in fs::read_dir(out.join("frames")).into_iter().flatten().flatten() {
        if !listed.contains(&entry.path()) {
            fs::remove_file(entry.path()).map_err(cannot_write(&entry.path()))?;
        }
    }
    Ok(())
}

/// Cuts a last row of history that did not get to its end.
pub(super) fn trim_history(out: &Path) {
    let path = out.join("history.csv");
    if let Ok(bytes) = fs::read(&path)
        && !bytes.ends_with(b"\n")
    {
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let _ = fs::OpenOptions::new().write(true).open(&path).and_then(|f| f.set_len(whole as u64));
    }
}

/// Writes the resolved deck in one move.
pub(super) fn write_deck(out: &Path, text: &str) -> Result<(), SimulationError> {
    let path = out.join("deck.toml");
    replace_file(&path, text.as_bytes()).map_err(cannot_write(&path))
}

pub(super) fn write_summary(out: &Path, summary: &Summary) -> Result<(), SimulationError> {
    summary.write(out).map_err(cannot_write(&out.join("summary.json")))
}
