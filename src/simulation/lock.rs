//! One run, one folder: a lock that goes with the process, however it ends.
//!
//! The system holds the lock on the open file `lock` in the folder; who finds it taken reads there whose it is. A file that a killed
//! run left behind is nobody's. Who is done removes the file before he lets go, so whoever has got hold of a lock makes sure
//! that its file still stands in the folder.

use super::SimulationError;
use super::folder::cannot_write;
use crate::run::disk;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file in the folder.
pub(super) const FILE: &str = "lock";

/// How often a lock is tried for: somebody may only be looking whether it is held.
const PATIENCE: u32 = 10;

/// Held while a run may write into its folder.
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock of a folder, which exists, or says who has it.
    pub(crate) fn take(folder: &Path) -> Result<Lock, SimulationError> {
        let path = folder.join(FILE);
        let mut patience = PATIENCE;
        loop {
            odd(&path)?;
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = open.map_err(cannot_write(&path))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if patience == 0 => return Err(busy(folder)),
                Err(TryLockError::WouldBlock) => {
                    patience -= 1;
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                // a file system without locks: two runs there are not kept apart
                Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(e)) => return Err(cannot_write(&path)(e)),
                Ok(()) => {}
            }
            if stands(&file, &path) {
                let lock = Lock { path, file };
                let id = format!("{}\n", std::process::id());
                let noted = lock.file.set_len(0).and_then(|()| (&lock.file).write_all(id.as_bytes()));
                noted.map_err(cannot_write(&lock.path))?;
                return Ok(lock);
            }
        }
    }

    /// Is somebody at work in a folder? Nothing is changed.
    pub(crate) fn look(folder: &Path) -> Result<(), SimulationError> {
        let path = folder.join(FILE);
        odd(&path)?;
        let Ok(file) = File::open(&path) else { return Ok(()) };
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Err(busy(folder)),
            _ => Ok(()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn odd(path: &Path) -> Result<(), SimulationError> {
    match disk::oddity(path) {
        Ok(Some(what)) => Err(SimulationError::Odd { path: path.to_owned(), what }),
        _ => Ok(()),
    }
}

fn busy(folder: &Path) -> SimulationError {
    let text = disk::read_text(&folder.join(FILE)).unwrap_or_default();
    SimulationError::Busy { path: folder.to_owned(), process: text.trim().parse().ok() }
}

/// Is it this file that stands in the folder, and not another of its name?
#[cfg(unix)]
fn stands(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: fs::Metadata| (m.dev(), m.ino());
    file.metadata().map(id).ok() == fs::symlink_metadata(path).map(id).ok()
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn stands(_: &File, _: &Path) -> bool {
    true
}
