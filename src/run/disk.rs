//! Files of a run on their way to the disk and back.
//!
//! What was written is in the memory of the system first, and lost when the power goes. A file is on the disk after
//! [`sync_file`], its name after [`sync_folder`] of the folder that it is in; a renamed file without the first may come back
//! empty, without the second under its old name. Tests keep a journal of all this and cut it anywhere (`journal`).
//!
//! What is read back may have been put there by anybody: only regular files are, no links, devices or pipes, which could lead
//! out of the folder or never end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Threads that wait for the disk at once: what several ask for is one entry in the journal of the file system.
const WAITING: usize = 8;

/// `path` with `.tmp` appended: where a file is written before it takes its name.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

/// Replaces the file at `path` in one move: a reader sees the old content or the new, never half.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let tmp = unfinished(path);
    give_name(&tmp, path, write_file(&tmp, content))
}

/// The same, and it stays when the power goes.
pub(crate) fn replace_file_for_good(path: &Path, content: &[u8]) -> io::Result<()> {
    let tmp = unfinished(path);
    give_name(&tmp, path, write_file(&tmp, content).and_then(|()| sync_file(&tmp)))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::write(path, content)?;
    written(path);
    Ok(())
}

/// Gives a file that was written under another name its own; if writing failed nothing is left.
pub(crate) fn give_name(tmp: &Path, path: &Path, outcome: io::Result<()>) -> io::Result<()> {
    let outcome = outcome.and_then(|()| fs::rename(tmp, path));
    match outcome {
        Ok(()) => renamed(tmp, path),
        Err(_) => drop(fs::remove_file(tmp)),
    }
    outcome
}

/// What was written to a file is on the disk.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()?;
    synced(path);
    Ok(())
}

/// The names in a folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // elsewhere a folder cannot be opened, and names are kept by the system's own journal
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    synced_folder(path);
    Ok(())
}

/// Does something that waits for the disk `count` times, several at once; what it gave, in order.
pub(crate) fn several_at_once<T: Send>(count: usize, with: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let own = std::iter::from_fn(|| Some(next.fetch_add(1, Relaxed)).filter(|k| *k < count));
        own.map(|k| (k, with(k))).collect::<Vec<_>>()
    };
    let mut all = thread::scope(|scope| {
        // where there are no more threads to be had, those there are do it
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..WAITING.min(count)).map_while(start).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|done| done.0);
    all.into_iter().map(|done| done.1).collect()
}

/// Removes a file if it is there.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => {
            removed(path);
            Ok(())
        }
    }
}

/// What stands at a path, if it is not a regular file: in words.
pub(crate) fn oddity(path: &Path) -> io::Result<Option<&'static str>> {
    let kind = fs::symlink_metadata(path)?.file_type();
    Ok(match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_symlink() => Some("a symbolic link"),
        () => Some("a device or a pipe"),
    })
}

/// Is there a regular file at a path? The error says what is there instead.
pub(crate) fn require_file(path: &Path) -> io::Result<()> {
    match oddity(path)? {
        None => Ok(()),
        Some(what) => Err(io::Error::other(format!("it is {what}, not a file"))),
    }
}

/// The content of a regular file.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    require_file(path)?;
    fs::read(path)
}

/// The text in a regular file.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?)
        .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
}

#[cfg(not(test))]
mod journal {
    use std::path::Path;
    pub(crate) fn written(_: &Path) {}
    pub(super) fn renamed(_: &Path, _: &Path) {}
    pub(super) fn synced(_: &Path) {}
    pub(super) fn synced_folder(_: &Path) {}
    pub(super) fn removed(_: &Path) {}
}

pub(crate) use journal::written;
use journal::{removed, renamed, synced, synced_folder};

/// What was done to files, in order: for tests that cut it anywhere.
#[cfg(test)]
pub(crate) mod journal {
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    #[derive(Clone, Debug)]
    pub(crate) enum Did {
        /// Changed to this content.
        Wrote(PathBuf, Vec<u8>),
        Renamed(PathBuf, PathBuf),
        Synced(PathBuf),
        SyncedFolder(PathBuf),
        Removed(PathBuf),
    }

    static ALL: Mutex<Vec<Did>> = Mutex::new(Vec::new());
    static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

    /// From now on what is done in `folder` is written down.
    pub(crate) fn begin(folder: &Path) {
        ALL.lock().unwrap().clear();
        *FOLDER.lock().unwrap() = Some(folder.to_owned());
    }

    /// What was done since.
    pub(crate) fn end() -> Vec<Did> {
        *FOLDER.lock().unwrap() = None;
        std::mem::take(&mut *ALL.lock().unwrap())
    }

    fn note(path: &Path, did: impl FnOnce() -> Did) {
        if FOLDER.lock().unwrap().as_ref().is_some_and(|folder| path.starts_with(folder)) {
            ALL.lock().unwrap().push(did());
        }
    }

    pub(crate) fn written(path: &Path) {
        note(path, || Did::Wrote(path.to_owned(), std::fs::read(path).unwrap()));
    }
    pub(super) fn renamed(from: &Path, to: &Path) {
        note(to, || Did::Renamed(from.to_owned(), to.to_owned()));
    }
    pub(super) fn synced(path: &Path) {
        note(path, || Did::Synced(path.to_owned()));
    }
    pub(super) fn synced_folder(path: &Path) {
        note(path, || Did::SyncedFolder(path.to_owned()));
    }
    pub(super) fn removed(path: &Path) {
        note(path, || Did::Removed(path.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_at_once_comes_back_in_order() {
        for count in [0, 1, WAITING, 1000] {
            assert_eq!(several_at_once(count, |k| 3 * k), (0..count).map(|k| 3 * k).collect::<Vec<_>>());
        }
    }
}
