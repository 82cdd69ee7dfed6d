//! Output folders: whose they are, and how a run begins in one.

use crate::exit::{BAD_INPUT, Failure, NO_OUTPUT};
use carom::output::summary::Summary;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a folder is before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Not there, or empty.
    Free,
    /// A run has begun here.
    Run,
}

/// Whether a run may begin in `out`: what is there, or a refusal.
pub fn examine(out: &Path, resume: bool, overwrite: bool) -> Result<Found, Failure> {
    let refuse = |message: String| Err(Failure::new(BAD_INPUT, message));
    let found = match fs::read_dir(out).map(Iterator::count) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Found::Free,
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && out.exists() => {
            return refuse(format!("{} is a file; --out needs a folder", out.display()));
        }
        Err(e) => return Err(cannot_write(out, &e)),
        Ok(0) => Found::Free,
        Ok(_) if out.join("summary.json").is_file() => Found::Run,
        Ok(_) => {
            return refuse(format!(
                "{} holds files that are not from a run; choose another folder with --out",
                out.display()
            ));
        }
    };
    match found {
        Found::Free if resume => refuse(format!("{} holds no run to resume", out.display())),
        Found::Run if !resume && !overwrite => refuse(format!(
            "{} holds a run already; --resume continues it, --overwrite replaces it, --out DIR puts this one elsewhere",
            out.display()
        )),
        _ => Ok(found),
    }
}

pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(NO_OUTPUT, format!("cannot write {}: {error}", path.display()))
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
pub struct Made(Vec<PathBuf>);

/// Makes the folder and its parents.
pub fn make(out: &Path) -> Result<Made, Failure> {
    let missing: Vec<PathBuf> = out
        .ancestors()
        .take_while(|p| !p.as_os_str().is_empty() && !p.exists())
        .map(Path::to_owned)
        .collect();
    let made = Made(missing);
    match fs::create_dir_all(out) {
        Ok(()) => Ok(made),
        Err(e) => {
            made.remove();
            Err(cannot_write(out, &e))
        }
    }
}

impl Made {
    fn remove(&self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes what an earlier run left, its summary last of all kept.
pub fn clear(out: &Path) -> Result<(), Failure> {
    let gone = |path: PathBuf, result: io::Result<()>| match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(cannot_write(&path, &e)),
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
pub fn undo(out: &Path, made: &Made) {
    let _ = clear(out);
    let _ = fs::remove_file(out.join("summary.json"));
    made.remove();
}

/// Removes what a killed run left half done: files under their unfinished names, and frames that no series lists.
pub fn tidy(out: &Path) -> Result<(), Failure> {
    for name in FILES.iter().filter(|n| n.ends_with(".tmp")) {
        let _ = fs::remove_file(out.join(name));
    }
    let listed: Vec<PathBuf> = match carom::output::pvd::Series::open(out) {
        Ok(series) => series.entries().iter().map(|e| series.path(e)).collect(),
        Err(_) => return Ok(()),
    };
    let folder = out.join("frames");
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        if !listed.contains(&entry.path()) {
            fs::remove_file(entry.path()).map_err(|e| cannot_write(&entry.path(), &e))?;
        }
    }
    Ok(())
}

/// Cuts a last row of history that did not get to its end.
pub fn trim_history(out: &Path) {
    let path = out.join("history.csv");
    if let Ok(bytes) = fs::read(&path)
        && !bytes.ends_with(b"\n")
    {
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let _ = fs::OpenOptions::new().write(true).open(&path).and_then(|f| f.set_len(whole as u64));
    }
}

/// Writes the resolved deck in one move.
pub fn write_deck(out: &Path, text: &str) -> Result<(), Failure> {
    let (path, unfinished) = (out.join("deck.toml"), out.join("deck.toml.tmp"));
    fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, &path)).map_err(|e| {
        let _ = fs::remove_file(&unfinished);
        cannot_write(&path, &e)
    })
}

pub fn write_summary(out: &Path, summary: &Summary) -> Result<(), Failure> {
    summary.write(out).map_err(|e| cannot_write(&out.join("summary.json"), &e))
}
