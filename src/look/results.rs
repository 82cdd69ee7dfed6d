//! The folder of a run, finished or still going on, for whoever reads it: history, summary, deck, frames.

use super::LookError;
use super::folder::{self, Summary, Table};
use crate::output::pvd::{self, Series};
use crate::output::vtu::{VtuError, read_vtu_fields};
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::output::vtu::{FieldData, FrameData};

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// Without links and dots.
    folder: PathBuf,
}

impl Results {
    /// Of a folder with a summary.
    pub fn open(dir: &Path) -> Result<Results, LookError> {
        Summary::read(dir)?;
        let folder = dir.canonicalize();
        let folder = folder.map_err(|source| LookError::Read { path: dir.to_owned(), source })?;
        Ok(Results { folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn summary(&self) -> Result<Summary, LookError> {
        Summary::read(&self.folder)
    }

    /// A text of the folder: `deck.toml` or `history.csv`, or `summary.json` if it is as it was written.
    pub fn text(&self, name: &str) -> Result<String, LookError> {
        if name == "summary.json" {
            self.summary()?;
        }
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(|source| LookError::Read { path, source })
    }

    /// The rows so far.
    pub fn history(&self) -> Result<Table, LookError> {
        folder::history(&self.folder, &self.summary()?)
    }

    /// Times of the frames so far [s]; none if there are no frames.
    pub fn times(&self) -> Result<Vec<f64>, LookError> {
        if !self.folder.join(pvd::FILE).exists() {
            return Ok(Vec::new());
        }
        Ok(Series::open(&self.folder)?.entries().iter().map(|e| e.time).collect())
    }

    /// Where a frame lies: inside the folder, whatever its list says.
    pub fn frame_path(&self, index: usize) -> Result<PathBuf, LookError> {
        let series = Series::open(&self.folder)?;
        let count = series.entries().len();
        let Some(entry) = series.entries().get(index) else {
            return Err(LookError::Nothing(format!("there is no frame {index}: {count} frames are there")));
        };
        let listed = series.path(entry);
        let path = listed.canonicalize().map_err(|source| LookError::Read { path: listed, source })?;
        match path.starts_with(&self.folder) {
            true => Ok(path),
            false => {
                Err(LookError::Nothing(format!("frame {index} lies outside of the folder: {}", entry.file)))
            }
        }
    }

    /// One frame, with all its fields.
    pub fn frame(&self, index: usize) -> Result<FrameData, LookError> {
        self.frame_with(index, |_| true)
    }

    /// One frame, with the fields that are wanted.
    pub(crate) fn frame_with(
        &self,
        index: usize,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<FrameData, LookError> {
        read_vtu_fields(&self.frame_path(index)?, wanted).map_err(|e: VtuError| e.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::testing::scratch;

    /// A list that names a file elsewhere is not followed, with dots or by a link.
    #[test]
    fn frames_outside_of_the_folder_are_refused() {
        let dir = scratch("results_outside");
        let (run, secret) = (dir.join("run"), dir.join("secret.vtu"));
        fs::create_dir_all(run.join("frames")).unwrap();
        fs::write(&secret, "secret").unwrap();
        fs::write(run.join("summary.json"), "{\"status\": \"finished\"}").unwrap();
        fs::write(run.join("frames/000000.vtu"), "frame").unwrap();
        let mut series = Series::create(&run).unwrap();
        series.push(0.0).unwrap();
        let results = Results::open(&run).unwrap();
        assert!(results.frame_path(0).is_ok() && results.frame_path(1).is_err());
        let list = fs::read_to_string(run.join(pvd::FILE)).unwrap();
        for other in ["../secret.vtu", secret.to_str().unwrap(), "frames/../../secret.vtu"] {
            fs::write(run.join(pvd::FILE), list.replace("frames/000000.vtu", other)).unwrap();
            let refused = results.frame_path(0).unwrap_err().to_string();
            assert!(refused.contains("outside"), "{other}: {refused}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, run.join("frames/link.vtu")).unwrap();
            fs::write(run.join(pvd::FILE), list.replace("000000.vtu", "link.vtu")).unwrap();
            assert!(results.frame_path(0).unwrap_err().to_string().contains("outside"));
        }
    }
}
