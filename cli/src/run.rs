//! `carom run`: a deck to its end, or as far as it gets.

use crate::exit::{BAD_INPUT, FAILED, Failure, INTERNAL, NO_OUTPUT, Outcome, complain, say};
use crate::folder::{self, Found};
use crate::input::DeckArguments;
use crate::progress::{Progress, duration};
use crate::signals::Stop;
use carom::deck::{self, Loaded, resolve};
use carom::method::Reached;
use carom::model::record::Record;
use carom::output::frames::Frames;
use carom::output::history::History;
use carom::output::summary::{Status, Summary, Wall};
use carom::run::checkpoint::{Keeper, newest};
use carom::run::{Observer, Run, RunError, pool};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let begin = Instant::now();
    let stop =
        Stop::listen().map_err(|e| Failure::new(INTERNAL, format!("cannot listen to signals: {e}")))?;
    let found = arguments.deck.find()?;
    let threads = arguments.deck.threads()?;
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&found.stem));
    let before = folder::examine(&out, arguments.resume, arguments.overwrite)?;
    let pool =
        pool(threads).map_err(|e| Failure::new(BAD_INPUT, format!("cannot start {threads} threads: {e}")))?;
    pool.install(|| {
        let loaded = deck::load(&found.input()).map_err(|e| Failure::new(BAD_INPUT, e.to_string()))?;
        for warning in &loaded.warnings {
            complain(&format!("warning: {warning}"));
        }
        if stop.raised() {
            return Ok(stop.code());
        }
        let session = Session { out: &out, quiet: arguments.quiet, begin, stop: &stop };
        match before {
            Found::Run if arguments.resume => session.resume(loaded),
            _ => session.fresh(loaded, before),
        }
    })
}

/// One call of the program.
struct Session<'a> {
    out: &'a Path,
    quiet: bool,
    begin: Instant,
    stop: &'a Stop,
}

impl Session<'_> {
    fn say(&self, text: &str) -> Result<(), Failure> {
        if self.quiet { Ok(()) } else { say(text) }
    }

    /// Begins a run in a free folder, or in place of another.
    fn fresh(&self, loaded: Loaded, before: Found) -> Outcome {
        let made = folder::make(self.out)?;
        let undone = |failure| {
            folder::undo(self.out, &made);
            failure
        };
        // The summary goes first: it is what makes the folder a run's.
        folder::write_summary(self.out, &Summary::begin(&loaded.case)).map_err(undone)?;
        if before == Found::Run {
            folder::clear(self.out)?;
        }
        let text = loaded.resolved(self.out).map_err(|e| undone(folder::cannot_write(self.out, &e)))?;
        folder::write_deck(self.out, &text).map_err(undone)?;
        self.announce(&loaded, None)?;
        let run = self.start(loaded, None).map_err(undone)?;
        self.finish(run)
    }

    /// Takes up a run where its newest checkpoint left it.
    fn resume(&self, loaded: Loaded) -> Outcome {
        let refuse = |message: String| Failure::new(BAD_INPUT, message);
        folder::tidy(self.out)?;
        let stored = fs::read_to_string(self.out.join("deck.toml"));
        let text = loaded.resolved(self.out).map_err(|e| folder::cannot_write(self.out, &e))?;
        let record = newest(self.out);
        let (Ok(stored), Some(record)) = (stored, record) else {
            // It had begun, but there is nothing to take up.
            return self.fresh(loaded, Found::Run);
        };
        let deck = self.out.join("deck.toml");
        let difference = resolve::compare(&stored, &text)
            .map_err(|e| refuse(format!("{} cannot be understood: {e}", deck.display())))?;
        if !difference.keys.is_empty() {
            return Err(refuse(format!(
                "the run in {} was made from another deck; they differ in {}\n  \
                 only `end` and [output] may change; --overwrite begins anew",
                self.out.display(),
                difference.keys.join(", ")
            )));
        }
        let end = loaded.spec.end;
        if end < difference.end {
            return Err(refuse(format!(
                "the run in {} was to end at {} s; a resumed run can end later, not at {end} s",
                self.out.display(),
                difference.end
            )));
        }
        let status = Summary::read(self.out).map(|s| s.status);
        if end == difference.end && status.is_ok_and(|s| s == Status::Finished) {
            self.say(&format!(
                "the run in {} has finished already; a later `end` would continue it\n",
                self.out.display()
            ))?;
            return Ok(0);
        }
        folder::write_deck(self.out, &text)?;
        self.announce(&loaded, Some(&record))?;
        let run = self.start(loaded, Some(&record))?;
        self.finish(run)
    }

    fn announce(&self, loaded: &Loaded, record: Option<&Record>) -> Result<(), Failure> {
        let model = &loaded.case.model;
        let title = if loaded.spec.title.is_empty() { "run" } else { &loaded.spec.title };
        let from = record.and_then(|r| r.get("state.time").ok()).and_then(|t| t.first());
        let from = from.map_or(String::new(), |t| format!(", resumed at t = {t:.4e} s"));
        self.say(&format!(
            "{title}: {} elements, {} nodes, {} to t = {} s on {} threads{from}\n",
            model.elements(),
            model.reference.len(),
            loaded.case.method_name,
            loaded.case.end,
            rayon_threads()
        ))
    }

    fn start(&self, loaded: Loaded, record: Option<&Record>) -> Result<Run, Failure> {
        let (case, output) = (loaded.case, loaded.spec.output);
        let (end, history, frames) = (case.end, output.history, output.frames);
        let unwritable = |e: carom::run::ObserverError| Failure::new(NO_OUTPUT, e.to_string());
        let with_points = |frames: Frames| match output.integration_points {
            true => frames.with_integration_points(&case.model),
            false => frames,
        };
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        if record.is_some() {
            observers
                .push(Box::new(History::reopen(self.out, &case.probes, end, history).map_err(unwritable)?));
            let frames = Frames::reopen(self.out, &case.model, end, frames).map_err(unwritable)?;
            observers.push(Box::new(with_points(frames)));
        } else {
            observers
                .push(Box::new(History::create(self.out, &case.probes, end, history).map_err(unwritable)?));
            let frames = Frames::create(self.out, &case.model, end, frames).map_err(unwritable)?;
            observers.push(Box::new(with_points(frames)));
        }
        if !self.quiet {
            let from = record.and_then(|r| r.get("state.time").ok()).and_then(|t| t.first()).copied();
            observers.push(Box::new(Progress::new(from.unwrap_or(0.0), end)));
        }
        let keeper = Keeper::new(self.out, Duration::from_secs_f64((60.0 * output.checkpoint).min(1e9)));
        let run = match record {
            Some(record) => Run::resume(case, observers, Some(keeper), record),
            None => Run::start(case, observers, Some(keeper)),
        };
        let run = run.map_err(|error| Failure::new(code(&error), error.to_string()))?;
        let running = Summary::of(&run, Wall::default(), Status::Running, None);
        folder::write_summary(self.out, &running)?;
        Ok(run)
    }

    /// To the end, and the last words.
    fn finish(&self, mut run: Run) -> Outcome {
        let begin = Instant::now();
        let outcome = run.to_end(&self.stop.flag);
        let wall = Wall { whole: self.begin.elapsed().as_secs_f64(), in_loop: begin.elapsed().as_secs_f64() };
        let (status, failure) = match &outcome {
            Ok(Reached::Until) => (Status::Finished, None),
            Ok(Reached::Stopped) => (Status::Interrupted, None),
            Err(error) => (Status::Failed, Some(error.to_string())),
        };
        let summary = Summary::of(&run, wall, status, failure);
        let (time, out) = (run.case.state.time, self.out.display());
        drop(run);
        if let Err(error) = outcome {
            folder::trim_history(self.out);
            // If even this cannot be written, the reason has been told.
            let _ = folder::write_summary(self.out, &summary);
            let kept = format!("results up to t = {time:.4e} s are in {out}");
            let help = match code(&error) {
                NO_OUTPUT => "; make room and continue with --resume",
                _ => "",
            };
            return Err(Failure::new(code(&error), format!("{error}\n  {kept}{help}")));
        }
        folder::write_summary(self.out, &summary)?;
        self.say(&last_words(&summary, self.out))?;
        Ok(if status == Status::Interrupted { self.stop.code() } else { 0 })
    }
}

fn code(error: &RunError) -> u8 {
    match error {
        RunError::Step(_) => FAILED,
        RunError::Observer(_) | RunError::Checkpoint { .. } => NO_OUTPUT,
        RunError::Record(_) => BAD_INPUT,
    }
}

/// How it went, and where to look.
fn last_words(summary: &Summary, out: &Path) -> String {
    let Summary { steps, end_time, .. } = summary;
    let took = duration(Duration::from_secs_f64(summary.wall_seconds));
    let mut text = match summary.status {
        Status::Interrupted => {
            format!("interrupted after {took} at t = {end_time:.4e} s, {steps} steps; --resume continues\n")
        }
        _ => format!("finished in {took}: {steps} steps to t = {end_time:.4e} s\n"),
    };
    // A run without history has no words of its own.
    text += &carom::look::in_words(out).unwrap_or_default();
    for warning in &summary.warnings {
        text += &format!("warning: {warning}\n");
    }
    text + &format!("Results    {}: history.csv, frames.pvd (ParaView), summary.json\n", out.display())
}

/// Threads of the pool we are in.
fn rayon_threads() -> usize {
    rayon::current_num_threads()
}
