//! Looking again at a run that has been done: more rows, more frames, of all of it or of a part.
//!
//! Looking changes nothing, so a run that is done again with other looks is the same run, to the last bit. It begins at the newest
//! checkpoint of its folder that is early enough, or at the start.

use super::{Setup, Simulation, SimulationError, Stage};
use crate::model::record::Record;
use crate::output::summary::Summary;
use crate::run::{checkpoint, disk};
use std::path::Path;

/// What is to be seen.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// Where looking begins [s].
    pub from: f64,
    /// Where it ends [s]; as far as the run came unless given.
    pub until: Option<f64>,
    /// Intervals between rows of the history, and between frames.
    pub history: u64,
    pub frames: u64,
}

impl Setup {
    /// The run in the folder `of` once more, from its own deck.
    pub fn replay(mut self, of: &Path, replay: &Replay) -> Result<Simulation, SimulationError> {
        let Replay { from, until, history, frames } = *replay;
        let deck = of.join("deck.toml");
        let garbled =
            |e: std::io::Error| SimulationError::Garbled { path: deck.clone(), reason: e.to_string() };
        if !deck.exists() {
            return Err(SimulationError::NoRun { path: of.to_owned() });
        }
        let text = disk::read_text(&deck).map_err(garbled)?;
        self.checkpoint = checkpoint_before(of, from);
        self.looks_from = Some(from);
        let mut simulation = self
            .set(format!("output.history={history}"))
            .set(format!("output.frames={frames}"))
            .deck(&deck.display().to_string(), &text, of)?;
        if let Stage::Deck(loaded) = &mut simulation.stage {
            // methods may choose their clock by `end`, so the deck keeps its own
            let end = reached(of)?.unwrap_or(loaded.case.end).min(loaded.case.end);
            let until = until.unwrap_or(end);
            let within = 0.0 <= from && from < until && until <= loaded.case.end;
            if !within {
                return Err(SimulationError::NothingToReplay { path: of.to_owned(), from, until, end });
            }
            loaded.case.end = until;
        }
        Ok(simulation)
    }
}

/// How far the run in a folder came [s], if its summary is there.
fn reached(folder: &Path) -> Result<Option<f64>, SimulationError> {
    match Summary::read(folder) {
        Ok(summary) => Ok(Some(summary.end_time)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(SimulationError::Summary { path: folder.join("summary.json"), what: e.to_string() }),
    }
}

/// The newest checkpoint of a folder that was kept at `time` or before.
fn checkpoint_before(folder: &Path, time: f64) -> Option<Record> {
    let early =
        |record: &Record| record.get("state.time").is_ok_and(|t| t.first().is_some_and(|t| *t <= time));
    checkpoint::both(folder).into_iter().filter_map(|(_, record)| record.ok()).find(early)
}
