//! Studies: one deck, some of its values varied, all runs in parallel within the cores.
//!
//! ```text
//! Study::new(deck, varied, …) ──run──► out/run-001 … ──collect──► study.csv, plots/
//! ```
//!
//! Every run is a run like any other, in a folder of its own, and may as well have been made by `carom run` on another machine
//! ([`Study::commands`]). A study that was killed goes on where it was: what has finished is left alone, what was begun is taken up
//! from its checkpoint. So the folder in the end is that of an undisturbed study, wall times aside.
//!
//! | file | holds |
//! |---|---|
//! | `vary` | `path=a,b,c`; products and pairs |
//! | `work` | who runs what when |
//! | `table` | a row of numbers for every run |
//! | `curves` | what came out over what was varied |

mod curves;
mod table;
mod vary;
mod work;

pub use table::{Cell, Rows};
pub use vary::{Combine, Varied};
pub use work::{Progress, Tally};

use crate::look::LookError;
use crate::output::replace_file;
use crate::simulation::{Setup, Simulation, SimulationError};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The deck of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deck {
    /// What it is called in messages and commands.
    pub name: String,
    pub text: String,
    /// Where its paths begin.
    pub folder: PathBuf,
    /// Values that are written over in all runs, for example `end=0.1`.
    pub options: Vec<String>,
}

/// One run of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its folder in that of the study.
    pub name: String,
    /// In the order of what is varied.
    pub values: Vec<String>,
}

/// A deck and what is varied in it.
#[derive(Clone, Debug)]
pub struct Study {
    deck: Deck,
    varied: Vec<Varied>,
    members: Vec<Member>,
    out: PathBuf,
}

/// Why a study could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// What was asked for makes no study.
    #[error("{0}")]
    Asked(String),
    /// A run cannot be built: its values and why.
    #[error("{values}:\n{source}")]
    Member { values: String, source: Box<SimulationError> },
    #[error("{} holds files that are not from a study", path.display())]
    ForeignFolder { path: PathBuf },
    #[error("the study in {} was made from another deck or varies other values", path.display())]
    OtherStudy { path: PathBuf },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Look(#[from] LookError),
}

/// How a folder remembers which study it holds.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Recipe {
    text: String,
    options: Vec<String>,
    varied: Vec<(String, Vec<String>)>,
    members: Vec<String>,
}

const RECIPE: &str = "study.json";
const TABLE: &str = "study.csv";
const PLOTS: &str = "plots";

impl Study {
    /// Runs of `deck` with the values of `varied`, in the folder `out`, where they are called run-001 and so on.
    pub fn new(deck: Deck, varied: Vec<Varied>, combine: Combine, out: PathBuf) -> Result<Study, StudyError> {
        let all = vary::combinations(&varied, combine)?;
        let digits = all.len().to_string().len().max(3);
        let named = |(i, values)| Member { name: format!("run-{:0digits$}", i + 1), values };
        let members = all.into_iter().enumerate().map(named).collect();
        Ok(Study { deck, varied, members, out })
    }

    /// One run for every method, in folders of their names.
    pub fn of_methods(deck: Deck, methods: &[String], out: PathBuf) -> Result<Study, StudyError> {
        let varied = Varied { path: "method".into(), values: methods.to_vec() };
        let mut study = Study::new(deck, vec![varied], Combine::Product, out)?;
        study.members.iter_mut().for_each(|m| m.name = m.values[0].clone());
        Ok(study)
    }

    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Keys that are varied, in the order of the values of a [`Member`].
    pub fn varied(&self) -> &[Varied] {
        &self.varied
    }

    pub fn folder(&self) -> &Path {
        &self.out
    }

    /// The folder of a run.
    pub fn folder_of(&self, member: &Member) -> PathBuf {
        self.out.join(&member.name)
    }

    /// `path=value` of all that a run has for itself.
    fn own_options<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = String> + 'a {
        self.varied.iter().zip(&member.values).map(|(v, value)| format!("{}={value}", v.path))
    }

    fn setup(&self, member: &Member, threads: usize) -> Setup {
        let setup = Simulation::setup().threads(threads);
        let all = self.deck.options.iter().cloned().chain(self.own_options(member));
        all.fold(setup, |setup, option| setup.set(option))
    }

    /// A command of `program` for every run, for those who want to run them elsewhere; [`Study::collect`] gathers.
    pub fn commands(&self, program: &str) -> Vec<String> {
        let one = |member: &Member| {
            let mut words = vec![program.to_owned(), "run".into(), quoted(&self.deck.name)];
            for option in self.deck.options.iter().cloned().chain(self.own_options(member)) {
                words.extend(["--set".to_owned(), quoted(&option)]);
            }
            words.extend(["--out".to_owned(), quoted(&self.folder_of(member).display().to_string())]);
            words.join(" ")
        };
        self.members.iter().map(one).collect()
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            text: self.deck.text.clone(),
            options: self.deck.options.clone(),
            varied: self.varied.iter().map(|v| (v.path.clone(), v.values.clone())).collect(),
            members: self.members.iter().map(|m| m.name.clone()).collect(),
        }
    }

    /// Makes the folder, or finds that it is ours. With `replace` the study that is in it is removed first.
    fn enter(&self, replace: bool) -> Result<(), StudyError> {
        let path = || self.out.clone();
        let write = |source| StudyError::Write { path: path(), source };
        let found = fs::read_to_string(self.out.join(RECIPE)).ok();
        let found = found.map(|text| serde_json::from_str::<Recipe>(&text));
        let held = fs::read_dir(&self.out).map(Iterator::count).unwrap_or(0);
        match found {
            None if held > 0 && !self.only_members()? => {
                return Err(StudyError::ForeignFolder { path: path() });
            }
            None if replace => self.remove(&self.recipe()).map_err(write)?,
            Some(Ok(other)) if replace => self.remove(&other).map_err(write)?,
            Some(other) if other.as_ref().ok() != Some(&self.recipe()) => {
                return Err(StudyError::OtherStudy { path: path() });
            }
            _ => {}
        }
        fs::create_dir_all(&self.out).map_err(write)?;
        let text = serde_json::to_string_pretty(&self.recipe()).unwrap_or_default() + "\n";
        replace_file(&self.out.join(RECIPE), text.as_bytes()).map_err(write)
    }

    /// Removes a study and nothing else.
    fn remove(&self, study: &Recipe) -> io::Result<()> {
        let absent = |result: io::Result<()>| match result {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        for name in study.members.iter().map(String::as_str).chain([PLOTS]) {
            absent(fs::remove_dir_all(self.out.join(name)))?;
        }
        [TABLE, RECIPE].iter().try_for_each(|name| absent(fs::remove_file(self.out.join(name))))
    }

    /// Runs of ours and nothing else: what commands run one by one leave behind.
    fn only_members(&self) -> Result<bool, StudyError> {
        let entries = fs::read_dir(&self.out);
        let entries = entries.map_err(|source| StudyError::Write { path: self.out.clone(), source })?;
        let ours = |name: &std::ffi::OsStr| self.members.iter().any(|m| *m.name == *name);
        Ok(entries.flatten().all(|entry| ours(&entry.file_name())))
    }
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_survive_a_shell() {
        let deck = Deck {
            name: "my deck.toml".into(),
            text: String::new(),
            folder: ".".into(),
            options: vec!["end=0.1".into()],
        };
        let varied = vec!["body.a.mesh.cells=[1, 2],[3, 4]".parse().unwrap()];
        let study = Study::new(deck, varied, Combine::Product, "out/it's".into()).unwrap();
        let commands = study.commands("carom");
        assert_eq!(
            commands[1],
            r"carom run 'my deck.toml' --set end=0.1 --set 'body.a.mesh.cells=[3, 4]' --out 'out/it'\''s/run-002'"
        );
    }
}
