//! The `carom` program: arguments in, exit code out. One module per command.

mod bench;
mod check;
mod examples;
mod exit;
mod input;
mod look;
mod progress;
mod replay;
mod reproduce;
mod residuals;
mod run;
mod signals;
mod soak;
mod study;
mod view;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Contact-impact solver for deformable bodies.
#[derive(Parser)]
#[command(name = "carom", version, about, long_about = None)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a deck
    Run(run::Arguments),
    /// Look at a run again: more frames or rows, of all of it or of a part
    Replay(replay::Arguments),
    /// Read and build everything, run nothing, and tell what is there
    Check(check::Arguments),
    /// List the built-in examples
    Examples,
    /// Print a built-in example as a deck to start from
    Example(examples::Arguments),
    /// Run a deck with values varied, in parallel, and gather what came out
    Study(study::StudyArguments),
    /// Run a deck with several methods, or hold finished runs against each other
    Compare(study::CompareArguments),
    /// Plot a run, or several over each other: energies, momenta, probes, contacts, steps
    Plot(look::PlotArgs),
    /// Draw a run: pictures and animations, without a display
    Render(Box<look::RenderArgs>),
    /// Show a run in the browser, also while it goes on
    View(view::Arguments),
    /// Run the published cases and check them
    Reproduce(reproduce::ReproduceArgs),
    /// Measure how fast this machine computes
    Bench(bench::BenchArgs),
    /// Print the JSON schema of a deck, for editors
    Schema,
}

fn main() -> ExitCode {
    exit::guarded(|| match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Examples => examples::list(),
        Command::Example(arguments) => examples::write(&arguments),
        Command::Study(arguments) => study::study(&arguments),
        Command::Compare(arguments) => study::compare(&arguments),
        Command::Plot(arguments) => look::command(look::plot(&arguments)),
        Command::Render(arguments) => match arguments.html() {
            Some(written) => look::told(written),
            None => look::command(look::render(&arguments)),
        },
        Command::View(arguments) => view::command(&arguments),
        Command::Reproduce(arguments) => reproduce::command(&arguments),
        Command::Bench(arguments) => bench::command(&arguments),
        Command::Schema => examples::schema(),
    })
}
