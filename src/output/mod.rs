//! What a run leaves behind: history, frames and their series, summary.

pub mod frames;
pub mod history;
pub mod pvd;
mod rigid;
pub mod summary;
pub mod vtu;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `path` with `.tmp` appended: where a file is written before it takes its name.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

/// Replaces the file at `path` in one move: a reader sees the old content or the new, never half.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let tmp = unfinished(path);
    let written = fs::write(&tmp, content).and_then(|()| fs::rename(&tmp, path));
    if written.is_err() {
        let _ = fs::remove_file(&tmp);
    }
    written
}

#[cfg(test)]
pub(crate) mod testing {
    use std::path::PathBuf;

    /// An empty folder of its own for one test.
    pub fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("carom-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }
}
