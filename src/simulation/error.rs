//! Why a simulation could not begin or go on.

use crate::deck::DeckErrors;
use crate::run::RunError;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The deck, or a mesh that it names, is wrong: every problem with its place.
    #[error(transparent)]
    Deck(#[from] DeckErrors),
    #[error("cannot read the deck {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot start {threads} threads: {reason}")]
    Threads { threads: usize, reason: String },
    #[error("{} is a file; output needs a folder", path.display())]
    NotAFolder { path: PathBuf },
    #[error("{} holds files that are not from a run", path.display())]
    ForeignFolder { path: PathBuf },
    #[error("{} holds a run already", path.display())]
    FolderTaken { path: PathBuf },
    #[error("{} holds no run to resume", path.display())]
    NothingToResume { path: PathBuf },
    /// Another process, or another simulation of this one, is at work there.
    #[error("{} is being written by {}", path.display(), process_name(*process))]
    Busy { path: PathBuf, process: Option<u32> },
    /// Something that is no file where a file of ours should be.
    #[error("{} is {what}: a run has only files and the folder `frames` in its folder, and follows nothing out of it", path.display())]
    Odd { path: PathBuf, what: &'static str },
    /// There are results, and no checkpoint that belongs to them.
    #[error("the run in {} cannot be continued:\n  {}\n  {there}; nothing has been changed", path.display(), why.join("\n  "))]
    Unresumable { path: PathBuf, why: Vec<String>, there: String },
    #[error("{} cannot be understood: {reason}", path.display())]
    Garbled { path: PathBuf, reason: String },
    #[error("{} is damaged: {what}", path.display())]
    Summary { path: PathBuf, what: String },
    /// Only `end` and [output] of a resumed run may differ.
    #[error("the run in {} was made from another deck; they differ in {}", path.display(), keys.join(", "))]
    OtherDeck { path: PathBuf, keys: Vec<String> },
    #[error(
        "the run in {} was to end at {was} s; a resumed run can end later, not at {end} s", path.display()
    )]
    EndsEarlier { path: PathBuf, was: f64, end: f64 },
    #[error("{} holds no run to look at", path.display())]
    NoRun { path: PathBuf },
    #[error("nothing of the run in {} lies between {from} and {until} s: it goes from 0 to {end} s", path.display())]
    NothingToReplay { path: PathBuf, from: f64, until: f64, end: f64 },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A step failed, or an observer. The state is that of the last good step.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn process_name(id: Option<u32>) -> String {
    id.map_or("another process".into(), |id| format!("process {id}"))
}
