//! `summary.json`: how a run went. It exists from the start, with the status "running".

use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::run::peaks::Peaks;
use crate::run::{Balance, Case, Run, disk, doubts};
use serde::{Deserialize, Serialize};
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        let mut text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        text.push('\n');
        disk::replace_file_for_good(&folder.join("summary.json"), text.as_bytes())
    }

    pub fn read(folder: &Path) -> io::Result<Self> {
        let text = disk::read_text(&folder.join("summary.json"))?;
        serde_json::from_str(&text).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }
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
