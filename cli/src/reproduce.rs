//! `carom reproduce`: runs the published cases and checks them.

use crate::exit::{BAD_INPUT, CHECK_FAILED, FAILED, Failure, NO_OUTPUT, Outcome, unless_closed};
use crate::signals::listen;
use carom::cases::reproduce::{CASES, Check, Origin, Published, ReproduceError, Request, find, report};
use clap::Args;
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Args)]
pub struct ReproduceArgs {
    /// Names of cases
    cases: Vec<String>,
    /// All cases
    #[arg(long)]
    all: bool,
    /// Lists the cases and runs nothing
    #[arg(long)]
    list: bool,
    /// The size that a few seconds allow
    #[arg(long)]
    quick: bool,
    /// One JSON object per check
    #[arg(long)]
    json: bool,
    /// Keeps runs, plots and pictures of the cases in this folder, with a page about all of them
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads; all cores unless told
    #[arg(long)]
    threads: Option<usize>,
}

pub fn command(args: &ReproduceArgs) -> Outcome {
    let (stop, _patience) = listen()?;
    let verdict = unless_closed(reproduce(args, &stop.flag, &mut io::stdout()), Verdict::Passed)?;
    if stop.raised() {
        return Ok(stop.code());
    }
    match verdict {
        Verdict::Passed => Ok(0),
        Verdict::Failed => Ok(CHECK_FAILED),
        Verdict::BadRequest(text) => Err(Failure::new(BAD_INPUT, text)),
        Verdict::Error(error) => {
            let code = match &error {
                ReproduceError::Deck(_) => BAD_INPUT,
                ReproduceError::Run(_) => FAILED,
                ReproduceError::Output(_) => NO_OUTPUT,
            };
            Err(Failure::new(code, error.to_string()))
        }
    }
}

/// How it went.
enum Verdict {
    Passed,
    Failed,
    /// Nothing fits what was asked for.
    BadRequest(String),
    Error(ReproduceError),
}

fn reproduce(args: &ReproduceArgs, stop: &AtomicBool, out: &mut io::Stdout) -> io::Result<Verdict> {
    if args.list {
        for case in &CASES {
            if args.json {
                let line = json!({ "case": case.name, "method": case.method, "source": case.source });
                writeln!(out, "{line}")?;
            } else {
                writeln!(out, "{:<16} {:<16} {}", case.name, case.method, case.source)?;
            }
        }
        return Ok(Verdict::Passed);
    }
    let chosen: Vec<&'static Published> = if args.all {
        CASES.iter().collect()
    } else {
        let found: Result<Vec<_>, &String> = args.cases.iter().map(|n| find(n).ok_or(n)).collect();
        match found {
            Ok(cases) if !cases.is_empty() => cases,
            Ok(_) => return Ok(Verdict::BadRequest("name a case, or say --all; --list shows them".into())),
            Err(name) => {
                let known: Vec<&str> = CASES.iter().map(|c| c.name).collect();
                let text = format!("there is no case \"{name}\"; there are: {}", known.join(", "));
                return Ok(Verdict::BadRequest(text));
            }
        }
    };
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let request = Request { quick: args.quick, out: args.out.as_deref(), threads: threads.max(1), stop };
    let mut passed = true;
    let mut written: io::Result<()> = Ok(());
    let mut said: Vec<u8> = Vec::new();
    let all = request.run(&chosen, &mut |case, done| {
        for check in &done.checks {
            passed &= check.pass();
            // a vector takes whatever it is given
            let _ = print(args, case, check, &mut said);
        }
        let text = std::mem::take(&mut said);
        if written.is_ok() {
            written = io::stdout().write_all(&text).and_then(|()| io::stdout().flush());
        }
    });
    written?;
    let all = match all {
        Ok(all) => all,
        Err(error) => return Ok(Verdict::Error(error)),
    };
    if stop.load(Ordering::Relaxed) {
        return Ok(Verdict::Passed);
    }
    if !args.json {
        let checks = all.iter().flat_map(|(_, done)| &done.checks);
        writeln!(out, "{} checks: {}", checks.clone().count(), Origin::count(checks))?;
    }
    if let Some(folder) = &args.out {
        match report::write(folder, &all, args.quick, threads) {
            Ok(page) if !args.json => writeln!(out, "{}", folder.join(page).display())?,
            Ok(_) => {}
            Err(error) => {
                let text = format!("cannot write the page in {}: {error}", folder.display());
                return Ok(Verdict::Error(ReproduceError::Output(text)));
            }
        }
    }
    Ok(if passed { Verdict::Passed } else { Verdict::Failed })
}

fn print(args: &ReproduceArgs, case: &Published, check: &Check, out: &mut impl Write) -> io::Result<()> {
    if args.json {
        let finite = |x: f64| x.is_finite().then_some(x);
        let line = json!({
            "case": case.name,
            "method": case.method,
            "check": check.check,
            "relation": check.relation,
            "expected": finite(check.expected),
            "measured": finite(check.measured),
            "tolerance": finite(check.tolerance),
            "origin": check.origin,
            "pass": check.pass(),
        });
        return writeln!(out, "{line}");
    }
    let mark = if check.pass() { "pass" } else { "FAIL" };
    let Check { check, expected, measured, tolerance, relation, origin, moved } = check;
    let (sign, origin) = (relation.sign(), origin.name());
    let moved = moved.map_or(String::new(), |why| format!(", moved: {why}"));
    writeln!(
        out,
        "{mark}  {}: {check}: {measured:.6e} {sign} {expected:.6e} ± {tolerance:.1e} ({origin}{moved})",
        case.name
    )
}
