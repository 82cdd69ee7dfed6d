//! The series of frames: `frames.pvd` beside the folder `frames`, times and files in order.
//!
//! The file is replaced as a whole after each frame, and only after the frame itself has its name, so
//! what it lists exists: it opens while the run goes on and after a crash. A resumed run writes it anew from its checkpoint and
//! appends from there: it does not ask the file which frames there are.
//!
//! Whoever reads a series follows it to plain names in `frames/` and to nothing else.

use super::replace_file;
use crate::run::disk;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the series in an output folder.
pub const FILE: &str = "frames.pvd";
/// Folder of the frames in an output folder.
pub const FOLDER: &str = "frames";

/// Why a series could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum PvdError {
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is not a series of frames written by Carom: {what}", path.display())]
    Foreign { path: PathBuf, what: String },
}

/// One line of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// [s]
    pub time: f64,
    /// Relative to the output folder, with forward slashes: `frames/000012.vtu`.
    pub file: String,
}

/// The frames of one output folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    dir: PathBuf,
    entries: Vec<Entry>,
}

impl Series {
    /// An empty series in `dir`: makes the folder of frames and writes the file.
    pub fn create(dir: &Path) -> Result<Series, PvdError> {
        let folder = dir.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|source| PvdError::Write { path: folder, source })?;
        let series = Series { dir: dir.to_owned(), entries: Vec::new() };
        series.write()?;
        Ok(series)
    }

    /// The series that `dir` holds.
    pub fn open(dir: &Path) -> Result<Series, PvdError> {
        let path = dir.join(FILE);
        let text = disk::read_text(&path).map_err(|source| PvdError::Read { path: path.clone(), source })?;
        let foreign = |what: &str| PvdError::Foreign { path: path.clone(), what: what.to_owned() };
        if !text.contains("<VTKFile type=\"Collection\"") {
            return Err(foreign("it has no <VTKFile type=\"Collection\">"));
        }
        if !text.trim_end().ends_with("</VTKFile>") {
            return Err(foreign("it does not end with </VTKFile>"));
        }
        let mut entries = Vec::new();
        for line in text.lines().map(str::trim).filter(|l| l.starts_with("<DataSet")) {
            let value =
                |key: &str| line.split_once(&format!(" {key}=\"")).and_then(|(_, v)| v.split('"').next());
            let time = value("timestep").and_then(|t| t.parse::<f64>().ok());
            let (Some(time), Some(file)) = (time, value("file")) else {
                return Err(foreign(&format!("`{}` names no time and file", clip(line))));
            };
            if !stays_inside(file) {
                let what =
                    format!("`{}` is not the name of a frame: those are {FOLDER}/NAME.vtu", clip(file));
                return Err(foreign(&what));
            }
            entries.push(Entry { time, file: file.to_owned() });
        }
        Ok(Series { dir: dir.to_owned(), entries })
    }

    /// A series of which nothing is known yet.
    pub(crate) fn of(dir: &Path) -> Series {
        Series { dir: dir.to_owned(), entries: Vec::new() }
    }

    /// The series of a run that has written frames at these times.
    fn at(dir: &Path, times: &[f64]) -> Series {
        let entry = |(i, time): (usize, &f64)| Entry { time: *time, file: file_name(i) };
        Series { dir: dir.to_owned(), entries: times.iter().enumerate().map(entry).collect() }
    }

    /// Does `dir` hold the list of frames at these times, as it was written?
    pub(crate) fn is_listed(dir: &Path, times: &[f64]) -> bool {
        let series = Series::at(dir, times);
        disk::read_text(&series.file()).is_ok_and(|text| text == series.text())
    }

    /// The output folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of the frames.
    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.join(FOLDER)
    }

    /// The list itself.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// Frames in the order of time.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Where a frame of this series lies.
    pub fn path(&self, entry: &Entry) -> PathBuf {
        self.dir.join(&entry.file)
    }

    /// Where the next frame goes; [`Series::push`] lists it once it is written.
    pub fn next_path(&self) -> PathBuf {
        self.dir.join(file_name(self.entries.len()))
    }

    /// Lists the frame just written to [`Series::next_path`].
    pub fn push(&mut self, time: f64) -> Result<(), PvdError> {
        self.add(time);
        self.write()
    }

    /// The same, in memory alone until [`Series::write`].
    pub(crate) fn add(&mut self, time: f64) {
        self.entries.push(Entry { time, file: file_name(self.entries.len()) });
    }

    /// The series of a run that goes on: frames at these times, whatever the file lists. Frames behind them are removed.
    ///
    /// The list goes first: a crash in between leaves a frame too many, which the next run overwrites.
    pub fn resume(dir: &Path, times: &[f64]) -> Result<Series, PvdError> {
        let folder = dir.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|source| PvdError::Write { path: folder.clone(), source })?;
        let series = Series::at(dir, times);
        series.write()?;
        for path in own_files(&folder, series.entries.len()) {
            disk::remove_file(&path).map_err(|source| PvdError::Write { path, source })?;
        }
        Ok(series)
    }

    fn text(&self) -> String {
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  <Collection>\n",
        );
        for e in &self.entries {
            // The shortest text that reads back as the same number.
            text.push_str(&format!(
                "    <DataSet timestep=\"{:?}\" group=\"\" part=\"0\" file=\"{}\"/>\n",
                e.time, e.file
            ));
        }
        text.push_str("  </Collection>\n</VTKFile>\n");
        text
    }

    pub(crate) fn write(&self) -> Result<(), PvdError> {
        let path = self.file();
        replace_file(&path, self.text().as_bytes()).map_err(|source| PvdError::Write { path, source })
    }
}

/// Relative to the output folder.
pub(crate) fn file_name(index: usize) -> String {
    format!("{FOLDER}/{index:06}.vtu")
}

/// Files that a run has put, or was about to put, into its folder of frames, from the one with number `from` on. Whatever else is
/// there is not ours.
pub(crate) fn own_files(folder: &Path, from: usize) -> Vec<PathBuf> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let number = name.strip_suffix(".tmp").unwrap_or(name).strip_suffix(".vtu");
        let number = number.filter(|n| n.len() >= 6 && n.bytes().all(|b| b.is_ascii_digit()));
        number.and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| n >= from)
    };
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).filter(ours).collect();
    files.sort();
    files
}

/// Is this a plain name in the folder of frames?
fn stays_inside(file: &str) -> bool {
    let name = file.strip_prefix(FOLDER).and_then(|f| f.strip_prefix('/'));
    name.is_some_and(|n| n.ends_with(".vtu") && !n.starts_with('.') && !n.contains(['/', '\\', '\0', ':']))
}

/// Foreign text in a message, kept short and harmless.
fn clip(text: &str) -> String {
    text.chars().take(80).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::testing::scratch;

    #[test]
    fn a_series_is_whole_after_every_frame_and_can_be_cut_back() {
        let dir = scratch("pvd_series");
        let mut series = Series::create(&dir).unwrap();
        let times = [0.0, 1e-7, 0.1 + 0.2, 1e9 / 3.0];
        for &t in &times {
            fs::write(series.next_path(), "frame").unwrap();
            series.push(t).unwrap();
            assert_eq!(Series::open(&dir).unwrap(), series);
        }
        assert_eq!(series.entries().iter().map(|e| e.time).collect::<Vec<_>>(), times);
        assert_eq!(series.entries()[3].file, "frames/000003.vtu");

        fs::write(dir.join("frames/notes.txt"), "mine").unwrap();
        fs::write(dir.join("frames/000004.vtu.tmp"), "half").unwrap();
        let series = Series::resume(&dir, &times[..3]).unwrap();
        assert_eq!(Series::open(&dir).unwrap(), series);
        assert!(dir.join("frames/000002.vtu").exists() && !dir.join("frames/000003.vtu").exists());
        assert!(dir.join("frames/notes.txt").exists() && !dir.join("frames/000004.vtu.tmp").exists());
        assert_eq!(series.next_path(), dir.join("frames/000003.vtu"));
    }

    #[test]
    fn a_series_leads_to_frames_and_nowhere_else() {
        let dir = scratch("pvd_paths");
        let mut series = Series::create(&dir).unwrap();
        series.push(0.5).unwrap();
        let whole = fs::read_to_string(dir.join(FILE)).unwrap();
        for name in
            ["../victim", "/dev/zero", "frames/../../victim.vtu", "frames/a/b.vtu", "frames/.vtu", "x.vtu"]
        {
            fs::write(dir.join(FILE), whole.replace("frames/000000.vtu", name)).unwrap();
            let error = Series::open(&dir).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("is not the name of a frame"), "{error}");
        }
    }

    #[test]
    fn a_foreign_or_cut_series_is_refused() {
        let dir = scratch("pvd_foreign");
        assert!(matches!(Series::open(&dir), Err(PvdError::Read { .. })));
        let mut series = Series::create(&dir).unwrap();
        series.push(0.5).unwrap();
        let whole = fs::read_to_string(dir.join(FILE)).unwrap();
        for text in ["", "hello", &whole[..whole.len() - 5], &whole.replace("0.5", "soon")] {
            fs::write(dir.join(FILE), text).unwrap();
            assert!(matches!(Series::open(&dir), Err(PvdError::Foreign { .. })), "{text}");
        }
    }
}
