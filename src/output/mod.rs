//! What a run leaves behind: history, frames and their series, summary.

pub mod frames;
pub mod history;
pub mod pvd;
mod rigid;
pub mod summary;
pub mod vtu;

pub use crate::run::disk::replace_file;

#[cfg(test)]
pub(crate) mod testing {
    use std::path::PathBuf;

    /// An empty folder of its own for one test.
    pub(crate) fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("carom-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }
}
