//! Calling the program from tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every method that knows contact.
pub const WITH_CONTACT: [&str; 8] = [
    "verlet",
    "dcr",
    "asynchronous",
    "semi-explicit",
    "nonsmooth",
    "bipotential-implicit",
    "velocity-update",
    "newmark-penalty",
];

/// An empty folder for one test, removed when it is over.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("carom-cli-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_carom"))
}

/// Runs the program with arguments.
pub fn carom<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Output {
    program().args(arguments).output().unwrap()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a deck into a folder; must end with exit code 0.
pub fn run(deck: &Path, out: &Path, more: &[&str]) {
    let mut command = program();
    command.arg("run").arg(deck).arg("--out").arg(out).arg("--quiet").args(more);
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

/// All files of an output folder with their bytes, checkpoints aside: which of the two slots is the newer one depends
/// on the wall clock. Wall times and memory of the summary are taken out.
pub fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().chain(fs::read_dir(folder.join("frames")).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        if path.is_dir() || name.starts_with("checkpoint.") {
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        if name == "summary.json" {
            let mut summary: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            // the checksum is that of the wall times too
            assert!(carom::output::summary::Summary::read(folder).is_ok(), "{}", folder.display());
            let own = ["wall_seconds", "loop_seconds", "phase_seconds", "peak_rss_bytes", "threads"];
            for key in own.into_iter().chain(["checksum"]) {
                summary.as_object_mut().unwrap().remove(key).unwrap();
            }
            bytes = summary.to_string().into_bytes();
        }
        files.push((name, bytes));
    }
    files.sort();
    files
}

/// The newest checkpoint: the whole state at the end.
pub fn last_state(folder: &Path) -> carom::model::record::Record {
    carom::run::checkpoint::newest(folder).unwrap()
}

/// A column of history.csv.
pub fn column(folder: &Path, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(folder.join("history.csv")).unwrap();
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|n| n == name).unwrap_or_else(|| panic!("no {name}"));
    lines.map(|l| l.split(',').nth(at).unwrap().parse().unwrap()).collect()
}
