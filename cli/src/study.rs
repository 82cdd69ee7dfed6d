//! `carom study` and `carom compare`: one deck many times, and runs beside each other.

use crate::exit::{BAD_INPUT, FAILED, Failure, NO_OUTPUT, Outcome, complain, say};
use crate::input::DeckArguments;
use crate::look::{Paper, failure};
use crate::progress::StudyBar;
use crate::signals::{Stop, listen};
use carom::look::{self, Comparison, PlotOptions, TimeUnit};
use carom::{Combine, Study, StudyDeck, StudyError, Tally, Varied};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct StudyArguments {
    #[command(flatten)]
    deck: DeckArguments,
    /// A key of the deck and its values, for example contact.friction=0.1,0.2,0.4; may be repeated
    #[arg(long, value_name = "PATH=A,B,C", required = true)]
    vary: Vec<Varied>,
    /// First values together, second values together, …, instead of all combinations
    #[arg(long)]
    zip: bool,
    /// Print a command for every run, for a job array, and run nothing
    #[arg(long, conflicts_with = "collect")]
    list: bool,
    /// Gather what runs have come to, and run nothing
    #[arg(long)]
    collect: bool,
    /// Where results go; out/<name of the deck>-study unless given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the study in the folder
    #[arg(long)]
    overwrite: bool,
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

pub fn study(arguments: &StudyArguments) -> Outcome {
    let (deck, stem) = deck_of(&arguments.deck)?;
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{stem}-study")));
    let combine = if arguments.zip { Combine::Zip } else { Combine::Product };
    let study = Study::new(deck, arguments.vary.clone(), combine, out)?;
    if arguments.list {
        say(&(study.commands("carom").join("\n") + "\n"))?;
        return Ok(0);
    }
    let threads = arguments.deck.threads()?;
    if arguments.collect {
        return files(arguments.quiet, study.collect(Some(threads))?);
    }
    let (stop, _patience) = listen()?;
    let tally = carried(&study, threads, arguments.overwrite, false, arguments.quiet, &stop)?;
    files(arguments.quiet, study.collect(Some(threads))?)?;
    ended(&tally, &stop)
}

#[derive(clap::Args)]
pub struct CompareArguments {
    /// A deck (with --methods), or output folders of runs
    #[arg(required = true, value_name = "DECK | DIR")]
    inputs: Vec<String>,
    /// Methods to run the deck with; `all` for every one that knows contact
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    methods: Vec<String>,
    /// Write over a value of the deck, for example step.safety=0.5
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "methods")]
    set: Vec<String>,
    /// Folder of the plots, and of the runs; out/<name of the deck>-methods unless given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the runs in the folder
    #[arg(long, requires = "methods")]
    overwrite: bool,
    #[arg(long, value_enum, default_value_t)]
    theme: Paper,
    /// Unit of time on the axes: s, ms, us, ns, min, h, or NAME=FACTOR
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,
    /// Threads; all cores unless given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

/// Methods that know contact.
const ALL: [&str; 8] = [
    "dcr",
    "asynchronous",
    "semi-explicit",
    "nonsmooth",
    "velocity-update",
    "bipotential-implicit",
    "newmark-penalty",
    "verlet",
];

pub fn compare(arguments: &CompareArguments) -> Outcome {
    let mut options = PlotOptions {
        out: arguments.out.clone(),
        theme: arguments.theme.into(),
        time_unit: arguments.time_unit.clone(),
        threads: arguments.threads,
        ..PlotOptions::default()
    };
    if arguments.methods.is_empty() {
        let dirs: Vec<PathBuf> = arguments.inputs.iter().map(PathBuf::from).collect();
        if let Some(deck) = dirs.iter().find(|d| d.is_file()) {
            let message = format!("{} is a deck: name the methods with --methods a,b,c", deck.display());
            return Err(Failure::new(BAD_INPUT, message));
        }
        return told(arguments.quiet, &dirs, &options);
    }
    let [deck] = &arguments.inputs[..] else {
        return Err(Failure::new(BAD_INPUT, "--methods takes one deck"));
    };
    let deck = DeckArguments::of(deck.clone(), arguments.set.clone(), arguments.threads);
    let threads = deck.threads()?;
    let (deck, stem) = deck_of(&deck)?;
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{stem}-methods")));
    let methods = match &arguments.methods[..] {
        [all] if all == "all" => ALL.map(str::to_owned).to_vec(),
        some => some.to_vec(),
    };
    let study = Study::of_methods(deck, &methods, out.clone())?;
    let (stop, _patience) = listen()?;
    let tally = carried(&study, threads, arguments.overwrite, true, arguments.quiet, &stop)?;
    let refused = |name: &str| tally.failed.iter().any(|(failed, _)| failed == name);
    let members = study.members().iter().filter(|m| !refused(&m.name));
    let dirs: Vec<PathBuf> =
        members.map(|m| study.folder_of(m)).filter(|d| d.join("history.csv").is_file()).collect();
    if !tally.stopped && !dirs.is_empty() {
        options.out = Some(out.join("plots"));
        told(arguments.quiet, &dirs, &options)?;
    }
    ended(&tally, &stop)
}

/// Draws runs beside each other and says how they compare.
fn told(quiet: bool, dirs: &[PathBuf], options: &PlotOptions) -> Outcome {
    let drawn = look::overlay(dirs, options).map_err(failure)?;
    if !quiet {
        say(&Comparison::read(dirs).map_err(failure)?.in_words())?;
    }
    files(quiet, drawn)
}

fn deck_of(arguments: &DeckArguments) -> Result<(StudyDeck, String), Failure> {
    let found = arguments.find()?;
    let (name, options) = (arguments.deck.clone(), found.options().to_vec());
    Ok((StudyDeck { name, text: found.text, folder: found.folder, options }, found.stem))
}

fn carried(
    study: &Study,
    threads: usize,
    replace: bool,
    lenient: bool,
    quiet: bool,
    stop: &Stop,
) -> Result<Tally, Failure> {
    let bar = StudyBar::new(quiet);
    let tally = study.run(threads, replace, lenient, &stop.flag, &|progress| bar.tell(&progress))?;
    drop(bar);
    if !quiet {
        let Tally { before, now, failed, stopped } = &tally;
        let earlier = if *before > 0 { format!(", {before} had before") } else { String::new() };
        let verb = if *stopped { "interrupted; the same command goes on: " } else { "" };
        say(&format!("{verb}{now} runs finished{earlier}, {} failed\n", failed.len()))?;
    }
    for (name, why) in &tally.failed {
        complain(&format!("{name}: {why}"));
    }
    Ok(tally)
}

fn ended(tally: &Tally, stop: &Stop) -> Outcome {
    Ok(match tally {
        Tally { stopped: true, .. } => stop.code(),
        Tally { failed, .. } if !failed.is_empty() => FAILED,
        _ => 0,
    })
}

fn files(quiet: bool, files: Vec<PathBuf>) -> Outcome {
    if !quiet {
        say(&files.iter().map(|f| format!("{}\n", f.display())).collect::<String>())?;
    }
    Ok(0)
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        let help = match &error {
            StudyError::ForeignFolder { .. } => "; choose another folder with --out",
            StudyError::OtherStudy { .. } => "; --overwrite replaces it, --out DIR puts this one elsewhere",
            _ => "",
        };
        let message = format!("{error}{help}");
        match error {
            StudyError::Member { source, .. } => Failure { message, ..Failure::from(*source) },
            StudyError::Write { .. } => Failure::new(NO_OUTPUT, message),
            StudyError::Look(look) => failure(look),
            _ => Failure::new(BAD_INPUT, message),
        }
    }
}
