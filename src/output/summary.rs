//! `summary.json`: how a run went. It exists from the start, with the status "running".
//!
//! Its last entry is `checksum`, the CRC-32 of everything before that line as eight hexadecimal digits. Who reads a summary compares it
//! (`checked`); summaries of versions that wrote none are read as they are.

use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::run::peaks::Peaks;
use crate::run::{Balance, Case, Run, disk, doubts};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Running,
    Finished,
    Interrupted,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    pub force: f64,
    pub search: f64,
    pub response: f64,
    pub solve: f64,
    pub output: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    pub initial: f64,
    #[serde(rename = "final")]
    pub last: f64,
    pub error_max_rel: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    pub linear_drift_max: f64,
    pub angular_drift_max: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepSize {
    pub min: f64,
    pub mean: f64,
    pub max: f64,
}

/// What it does not know is damage: a flipped bit in the name of the checksum must not pass for a summary without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Version of Carom.
    pub carom: String,
    pub title: String,
    pub method: String,
    pub threads: usize,
    /// Names of bodies, then of obstacles: what the numbers of `body` in frames stand for.
    #[serde(default)]
    pub bodies: Vec<String>,
    pub nodes: usize,
    pub elements: usize,
    pub steps: u64,
    pub end_time: f64,
    pub wall_seconds: f64,
    pub loop_seconds: f64,
    pub phase_seconds: Phases,
    pub element_kicks: u64,
    pub collision_kicks: u64,
    pub contacts_peak: u64,
    pub penetration_max: f64,
    pub energy: Energy,
    pub momentum: Drift,
    pub dt: StepSize,
    pub peak_rss_bytes: u64,
    /// Followed at every row of the history.
    #[serde(default)]
    pub peaks: Peaks,
    /// Why the result should not be believed, if there are reasons.
    #[serde(default)]
    pub warnings: Vec<String>,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Wall times of a run [s], from outside and of the loop alone; they are not part of its outcome.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wall {
    pub whole: f64,
    pub in_loop: f64,
}

impl Summary {
    /// Of a case that is about to run.
    pub fn begin(case: &Case) -> Self {
        Summary::measured(case, &case.state, &Ledger::default(), &Balance::default())
    }

    pub fn of(run: &Run, wall: Wall, status: Status, failure: Option<String>) -> Self {
        let (case, ledger) = (&run.case, &run.ledger);
        let phases = ledger.phases;
        Summary {
            wall_seconds: wall.whole,
            loop_seconds: wall.in_loop,
            phase_seconds: Phases {
                force: phases.force,
                search: phases.search,
                response: phases.response,
                solve: phases.solve,
                output: run.output_seconds,
            },
            warnings: doubts::of(run),
            status,
            failure,
            ..Summary::measured(case, &case.state, ledger, &run.balance)
        }
    }

    /// Is this the summary of a case that stands where `record` was kept? What clocks have measured, and what follows from the others,
    /// is left alone.
    pub(crate) fn tells_of(&self, case: &Case, record: &Record) -> bool {
        let kept = || -> Result<Summary, RecordError> {
            let state = State::restore(&case.model, record)?;
            Ok(Summary::measured(case, &state, &Ledger::restore(record)?, &Balance::restore(record)?))
        };
        kept().is_ok_and(|kept| {
            let Summary { carom, phase_seconds, peaks, warnings, failure, .. } = self.clone();
            *self
                == Summary {
                    carom,
                    threads: self.threads,
                    wall_seconds: self.wall_seconds,
                    loop_seconds: self.loop_seconds,
                    phase_seconds,
                    peak_rss_bytes: self.peak_rss_bytes,
                    peaks,
                    warnings,
                    status: self.status,
                    failure,
                    ..kept
                }
        })
    }

    /// What a case and its books tell, without clocks, peaks and doubts.
    fn measured(case: &Case, state: &State, ledger: &Ledger, balance: &Balance) -> Self {
        let steps = state.step;
        let dt = match steps {
            0 => StepSize { min: ledger.dt, mean: ledger.dt, max: ledger.dt },
            _ => StepSize { min: ledger.dt_min, mean: ledger.dt_sum / steps as f64, max: ledger.dt_max },
        };
        Summary {
            carom: env!("CARGO_PKG_VERSION").into(),
            title: case.title.clone(),
            method: case.method_name.clone(),
            threads: rayon::current_num_threads(),
            bodies: names(&case.model),
            nodes: case.model.reference.len(),
            elements: case.model.elements(),
            steps,
            end_time: state.time,
            wall_seconds: 0.0,
            loop_seconds: 0.0,
            phase_seconds: Phases { force: 0.0, search: 0.0, response: 0.0, solve: 0.0, output: 0.0 },
            element_kicks: ledger.element_kicks,
            collision_kicks: ledger.collision_kicks,
            contacts_peak: ledger.contacts_peak,
            penetration_max: ledger.penetration_max,
            energy: Energy {
                initial: ledger.initial,
                last: ledger.total(),
                error_max_rel: ledger.error_max_rel(),
            },
            momentum: Drift {
                linear_drift_max: balance.linear_drift_max,
                angular_drift_max: balance.angular_drift_max,
            },
            dt,
            peak_rss_bytes: peak_rss_bytes(),
            peaks: Peaks::default(),
            warnings: Vec::new(),
            status: Status::Running,
            failure: None,
        }
    }

    /// Written in one move.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        disk::replace_file_for_good(&folder.join("summary.json"), with_checksum(&text).as_bytes())
    }

    /// The summary in a folder, as it was written.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let text = disk::read_text(&folder.join("summary.json"))?;
        Summary::parse(&text).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(&checked(text)?).map_err(|e| e.to_string())
    }
}

/// What stands before the checksum, which is the last entry; and what stands behind it.
const BEFORE: &str = ",\n  \"checksum\": \"";
const BEHIND: &str = "\"\n}\n";

/// The text of a summary with its checksum as the last entry.
fn with_checksum(text: &str) -> String {
    let told = text.strip_suffix("\n}").unwrap_or(text);
    format!("{told}{BEFORE}{:08x}{BEHIND}", crc32fast::hash(told.as_bytes()))
}

/// The text of a summary without its checksum, which has been compared; one that has none is as it is.
pub(crate) fn checked(text: &str) -> Result<Cow<'_, str>, String> {
    let Some((told, sum)) = text.rsplit_once(BEFORE) else {
        return match text.contains("\"checksum\"") {
            true => Err(changed()),
            false => Ok(Cow::Borrowed(text)),
        };
    };
    match sum.strip_suffix(BEHIND) == Some(&format!("{:08x}", crc32fast::hash(told.as_bytes()))) {
        true => Ok(Cow::Owned(format!("{told}\n}}"))),
        false => Err(changed()),
    }
}

fn changed() -> String {
    "its checksum does not fit what stands there; `carom run DECK --resume` makes it anew where the checkpoints are, and one that was \
     changed on purpose is read without its entry `checksum`"
        .into()
}

fn names(model: &Model) -> Vec<String> {
    let obstacles = model.contact.obstacles.iter().map(|o| o.name.clone());
    model.bodies.iter().map(|b| b.name.clone()).chain(obstacles).collect()
}

/// Largest resident memory of this process so far [bytes]; 0 where the system does not tell.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")).and_then(|n| n.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One number and one word of every kind; what is long or random does not matter here.
    fn text() -> String {
        let summary = Summary {
            carom: "0.1.0".into(),
            title: "a \"checksum\": \"of\" nothing".into(),
            method: "dcr".into(),
            threads: 2,
            bodies: vec!["a".into()],
            nodes: 8,
            elements: 1,
            steps: 1234,
            end_time: 0.1,
            wall_seconds: 2.5,
            loop_seconds: 1.25,
            phase_seconds: Phases { force: 1.0, search: 0.5, response: 0.25, solve: 0.0, output: 0.125 },
            element_kicks: 3,
            collision_kicks: 4,
            contacts_peak: 5,
            penetration_max: 1e-9,
            energy: Energy { initial: 6.0, last: 7.0, error_max_rel: 1e-12 },
            momentum: Drift { linear_drift_max: 1e-15, angular_drift_max: 1e-3 },
            dt: StepSize { min: 1e-6, mean: 2e-6, max: 3e-6 },
            peak_rss_bytes: 1 << 20,
            peaks: Peaks::default(),
            warnings: vec!["none".into()],
            status: Status::Finished,
            failure: None,
        };
        serde_json::to_string_pretty(&summary).unwrap()
    }

    #[test]
    fn a_flipped_bit_anywhere_in_a_summary_is_noticed() {
        let (plain, whole) = (text(), with_checksum(&text()));
        assert_eq!(Summary::parse(&whole), Summary::parse(&plain));
        assert!(Summary::parse(&whole).is_ok());
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let read = String::from_utf8(bytes).map_err(|e| e.to_string()).and_then(|t| Summary::parse(&t));
            assert!(read.is_err(), "bit {bit}, in {:?}", &whole[(bit / 8).saturating_sub(20)..=bit / 8]);
        }
        // cut or doubled it is none either
        for other in [whole.trim_end().to_owned(), whole.clone() + &whole, whole.replace("\n  ", "\n   ")] {
            assert!(Summary::parse(&other).is_err(), "{other}");
        }
    }
}
