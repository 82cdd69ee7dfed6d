//! How far a run is: a bar with time left on a terminal, plain lines elsewhere.

use carom::StudyProgress;
use carom::model::Ledger;
use carom::run::{Look, Observer, ObserverError};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Plain lines come this often.
const TENTH: f64 = 0.1;

pub struct Progress {
    bar: Option<ProgressBar>,
    begin: Instant,
    from: f64,
    end: f64,
    next_line: f64,
}

/// A bar, where there is a terminal to draw it on.
fn bar() -> Option<ProgressBar> {
    io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new(1000);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}") {
            bar.set_style(style.progress_chars("━━─"));
        }
        bar
    })
}

impl Progress {
    /// Between two times [s].
    pub fn new(from: f64, end: f64) -> Self {
        let bar = bar();
        Progress { bar, begin: Instant::now(), from, end, next_line: TENTH }
    }

    /// Time left at the pace so far.
    fn left(&self, share: f64) -> String {
        let done = (share - self.from / self.end).max(0.0);
        if done <= 0.0 {
            return "…".into();
        }
        duration(self.begin.elapsed().mul_f64(((1.0 - share) / done).clamp(0.0, 1e9)))
    }
}

impl Observer for Progress {
    fn next(&self) -> f64 {
        f64::INFINITY
    }

    fn look(&mut self, _: &Look) -> Result<(), ObserverError> {
        Ok(())
    }

    fn pulse(&mut self, time: f64, ledger: &Ledger) {
        let share = (time / self.end).clamp(0.0, 1.0);
        if let Some(bar) = &self.bar {
            bar.set_position((share * 1000.0) as u64);
            bar.set_message(format!(
                "t = {time:.3e} of {:.3e} s  step {:.2e} s  {} left",
                self.end,
                ledger.dt,
                self.left(share)
            ));
        } else if share >= self.next_line {
            let percent = (100.0 * share).round();
            let _ = writeln!(
                io::stderr(),
                "{percent:3} %  t = {time:.4e} s  step {:.2e} s  {} left",
                ledger.dt,
                self.left(share)
            );
            while self.next_line <= share {
                self.next_line += TENTH;
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How far a study is.
pub struct StudyBar {
    bar: Option<ProgressBar>,
    quiet: bool,
    begin: Instant,
    /// Runs that had ended when a line was said last.
    said: Mutex<Option<usize>>,
}

impl StudyBar {
    pub fn new(quiet: bool) -> StudyBar {
        let bar = if quiet { None } else { bar() };
        StudyBar { bar, quiet, begin: Instant::now(), said: Mutex::new(None) }
    }

    pub fn tell(&self, progress: &StudyProgress) {
        let StudyProgress { runs, finished, failed, active, share } = *progress;
        let left = match share {
            s if s > 0.01 => duration(self.begin.elapsed().mul_f64((1.0 / s - 1.0).clamp(0.0, 1e6))),
            _ => "…".into(),
        };
        let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let words = format!("{finished} of {runs} runs finished, {active} running{failures}; {left} left");
        if let Some(bar) = &self.bar {
            bar.set_position((share * 1000.0) as u64);
            bar.set_message(words);
        } else if !self.quiet {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            if *said != Some(finished + failed) {
                *said = Some(finished + failed);
                let _ = writeln!(io::stderr(), "{:3.0} %  {words}", 100.0 * share);
            }
        }
    }
}

impl Drop for StudyBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A length of time in words that fit a line.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 0.1 => format!("{:.0} ms", 1e3 * s),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}
