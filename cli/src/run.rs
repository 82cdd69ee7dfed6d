//! `carom run`: a deck to its end, or as far as it gets.

use crate::exit::{BAD_INPUT, FAILED, Failure, NO_OUTPUT, Outcome, complain, say};
use crate::input::DeckArguments;
use crate::progress::{Progress, duration};
use crate::residuals::Residuals;
use crate::signals::listen;
use carom::deck::harmless;
use carom::method::Reached;
use carom::output::summary::Summary;
use carom::run::RunError;
use carom::{Before, Simulation, SimulationError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most of a title that is told.
const TITLE: usize = 200;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    deck: DeckArguments,
    /// Where results go; out/<name of the deck> unless given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in the folder from its newest checkpoint
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    /// Replace the run in the folder
    #[arg(long)]
    overwrite: bool,
    /// Print how Newton's method went in the step that reaches each of these times [s], iteration by iteration
    #[arg(long, value_name = "TIMES", value_delimiter = ',')]
    residuals: Vec<f64>,
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let (stop, patience) = listen()?;
    let found = arguments.deck.find()?;
    let threads = arguments.deck.threads()?;
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&found.stem));
    let before = match (arguments.resume, arguments.overwrite) {
        (true, _) => Before::Resume,
        (_, true) => Before::Replace,
        _ => Before::Keep,
    };
    let mut simulation = found.setup(threads).forget_history().folder(&out, before).deck(
        &found.name,
        &found.text,
        &found.folder,
    )?;
    for warning in simulation.warnings() {
        complain(&format!("warning: {warning}"));
    }
    if stop.raised() {
        return Ok(stop.code());
    }
    patience.guard(&out);
    simulation.start()?;
    let tell = |text: &str| if arguments.quiet { Ok(()) } else { say(text) };
    if simulation.finished_before() {
        let folder = out.display();
        tell(&format!(
            "the run in {folder} has finished already; a later `end` would continue it, and `carom replay {folder}` shows more of it\n"
        ))?;
        return Ok(0);
    }
    tell(&first_words(&simulation))?;
    if !arguments.quiet {
        simulation.observe(Progress::new(simulation.time(), simulation.end()));
    }
    if !arguments.residuals.is_empty() {
        simulation.observe(residuals(&simulation, &arguments.residuals)?);
    }
    let outcome = simulation.run_until(&stop.flag);
    patience.end();
    let reached = outcome.map_err(|error| {
        let kept = format!("results up to t = {:.4e} s are in {}", simulation.time(), out.display());
        let Failure { code, message } = Failure::from(error);
        let help = if code == NO_OUTPUT { "; make room and continue with --resume" } else { "" };
        Failure::new(code, format!("{message}\n  {kept}{help}"))
    })?;
    let summary = simulation.summary();
    // takes the bar of the progress away
    drop(simulation);
    if let Some(summary) = summary {
        tell(&last_words(&summary, reached, &out))?;
    }
    Ok(if reached == Reached::Stopped { stop.code() } else { 0 })
}

/// Who prints the iterations of single steps.
fn residuals(simulation: &Simulation, times: &[f64]) -> Result<Residuals, Failure> {
    let Some(case) = simulation.case() else { return Ok(Residuals::new(&[])) };
    if case.method.newton().is_none() {
        let message = format!(
            "--residuals: method {} solves no step by Newton's method; velocity-update, newmark-penalty, bipotential-implicit and static do",
            case.method_name
        );
        return Err(Failure::new(BAD_INPUT, message));
    }
    Ok(Residuals::new(times))
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Failure {
        let code = match &error {
            SimulationError::Run(
                RunError::Step(_)
                | RunError::NotFinite { .. }
                | RunError::NoStep { .. }
                | RunError::Memory { .. },
            ) => FAILED,
            SimulationError::Run(RunError::Observer(_) | RunError::Checkpoint { .. }) => NO_OUTPUT,
            SimulationError::Write { .. } => NO_OUTPUT,
            _ => BAD_INPUT,
        };
        let help = match &error {
            SimulationError::NotAFolder { path } => {
                return Failure::new(code, format!("{} is a file; --out needs a folder", path.display()));
            }
            SimulationError::ForeignFolder { .. } => "; choose another folder with --out",
            SimulationError::FolderTaken { .. } => {
                "; --resume continues it, --overwrite replaces it, --out DIR puts this one elsewhere"
            }
            SimulationError::OtherDeck { .. } => {
                "\n  only `end` and [output] may change; --overwrite begins anew"
            }
            SimulationError::Busy { .. } => "; --out DIR puts this one elsewhere",
            SimulationError::Unresumable { .. } => {
                "\n  put back what is damaged or missing; --overwrite begins anew and loses what is there"
            }
            SimulationError::Garbled { .. } => {
                "\n  it says what the run was made from: put it back; --overwrite begins anew and loses what is there"
            }
            SimulationError::Odd { .. } => "; remove it, or choose another folder with --out",
            _ => "",
        };
        Failure::new(code, format!("{error}{help}"))
    }
}

/// What is about to run.
fn first_words(simulation: &Simulation) -> String {
    let Some(case) = simulation.case() else { return String::new() };
    let title = if case.title.is_empty() { "run" } else { &harmless(&case.title, TITLE) };
    let from = match case.state.time {
        0.0 => String::new(),
        t => format!(", resumed at t = {t:.4e} s"),
    };
    let (elements, nodes) = (case.model.elements(), case.model.reference.len());
    let (method, end, threads) = (&case.method_name, case.end, simulation.threads());
    format!(
        "{title}: {elements} elements, {nodes} nodes, {method} to t = {end} s on {threads} threads{from}\n"
    )
}

/// How it went, and where to look.
pub fn last_words(summary: &Summary, reached: Reached, out: &Path) -> String {
    let Summary { steps, end_time, .. } = summary;
    let took = duration(Duration::from_secs_f64(summary.wall_seconds));
    let mut text = match reached {
        Reached::Stopped => {
            format!("interrupted after {took} at t = {end_time:.4e} s, {steps} steps; --resume continues\n")
        }
        Reached::Until => format!("finished in {took}: {steps} steps to t = {end_time:.4e} s\n"),
    };
    // A run without history has no words of its own.
    text += &carom::look::in_words(out).unwrap_or_default();
    for warning in &summary.warnings {
        text += &format!("warning: {warning}\n");
    }
    text + &format!("Results    {}: history.csv, frames.pvd (ParaView), summary.json\n", out.display())
}
