//! `carom replay`: a run that has been done, looked at more closely.

use crate::exit::{BAD_INPUT, Failure, Outcome, complain, say};
use crate::input::threads;
use crate::progress::Progress;
use crate::run::last_words;
use crate::signals::listen;
use carom::method::Reached;
use carom::output::history;
use carom::simulation::Replay;
use carom::{Before, Simulation, SimulationError};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    folder: PathBuf,
    /// Where looking begins [s]
    #[arg(long, value_name = "TIME", default_value_t = 0.0)]
    from: f64,
    /// Where it ends [s]; as far as the run came unless given
    #[arg(long, value_name = "TIME")]
    until: Option<f64>,
    /// Intervals between frames
    #[arg(long, value_name = "N", default_value_t = 100)]
    frames: u64,
    /// Intervals between rows of the history
    #[arg(long, value_name = "N", default_value_t = 500)]
    history: u64,
    /// Where results go; DIR-replay unless given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run in the folder they go to
    #[arg(long)]
    overwrite: bool,
    /// Threads; all cores unless given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

pub fn replay(arguments: &Arguments) -> Outcome {
    let (stop, patience) = listen()?;
    let Arguments { folder, from, until, frames, history, .. } = arguments;
    let out = arguments.out.clone().unwrap_or_else(|| beside(folder));
    if same(folder, &out) {
        let message = format!("--out {}: that is the run itself; choose another folder", out.display());
        return Err(Failure::new(BAD_INPUT, message));
    }
    let before = if arguments.overwrite { Before::Replace } else { Before::Keep };
    let asked = Replay { from: *from, until: *until, frames: *frames, history: *history };
    let setup = Simulation::setup().threads(threads(arguments.threads)?).forget_history();
    let mut simulation = setup.folder(&out, before).replay(folder, &asked).map_err(|error| match error {
        SimulationError::FolderTaken { .. } => {
            let help = "--overwrite replaces it, --out DIR puts this one elsewhere";
            Failure::new(BAD_INPUT, format!("{error}; {help}"))
        }
        other => other.into(),
    })?;
    if stop.raised() {
        return Ok(stop.code());
    }
    patience.guard(&out);
    simulation.start()?;
    let tell = |text: &str| if arguments.quiet { Ok(()) } else { say(text) };
    let (begin, end) = (simulation.time(), simulation.end());
    tell(&format!(
        "{} again, computed from t = {begin:.4e} s, seen from {from} to {end} s\n",
        folder.display()
    ))?;
    if !arguments.quiet {
        simulation.observe(Progress::new(begin, end));
    }
    let outcome = simulation.run_until(&stop.flag);
    patience.end();
    let reached = outcome?;
    let summary = simulation.summary();
    drop(simulation);
    if let (Some(summary), Reached::Until) = (summary, reached) {
        tell(&last_words(&summary, reached, &out))?;
    }
    match history::compare(&out, folder) {
        Ok((rows, None)) => tell(&format!(
            "Same run   {rows} rows are of instants that were seen before: the same to the last bit\n"
        ))?,
        Ok((_, Some((column, time)))) => complain(&format!(
            "warning: `{column}` at t = {time} s is not what the run in {} has: it was done by another program, or its files have changed",
            folder.display()
        )),
        Err(error) => {
            complain(&format!("warning: the history of {} cannot be compared: {error}", folder.display()))
        }
    }
    Ok(if reached == Reached::Stopped { stop.code() } else { 0 })
}

/// The folder of the same name with `-replay` behind it.
fn beside(folder: &Path) -> PathBuf {
    let name = std::path::absolute(folder).ok().and_then(|p| p.file_name().map(|n| n.to_owned()));
    let mut name = name.unwrap_or_else(|| "run".into());
    name.push("-replay");
    folder.parent().unwrap_or(Path::new("")).join(name)
}

fn same(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
