//! `summary.json`: how a run went. It exists from the start, with the status "running".

use crate::model::Model;
use crate::run::peaks::Peaks;
use crate::run::{Case, Run, disk, doubts};
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
        let nothing = Phases { force: 0.0, search: 0.0, response: 0.0, solve: 0.0, output: 0.0 };
        Summary {
            carom: env!("CARGO_PKG_VERSION").into(),
            title: case.title.clone(),
            method: case.method_name.clone(),
            threads: rayon::current_num_threads(),
            bodies: names(&case.model),
            nodes: case.model.reference.len(),
            elements: case.model.elements(),
            steps: case.state.step,
            end_time: case.state.time,
            wall_seconds: 0.0,
            loop_seconds: 0.0,
            phase_seconds: nothing,
            element_kicks: 0,
            collision_kicks: 0,
            contacts_peak: 0,
            penetration_max: 0.0,
            energy: Energy { initial: 0.0, last: 0.0, error_max_rel: 0.0 },
            momentum: Drift { linear_drift_max: 0.0, angular_drift_max: 0.0 },
            dt: StepSize { min: 0.0, mean: 0.0, max: 0.0 },
            peak_rss_bytes: peak_rss_bytes(),
            peaks: Peaks::default(),
            warnings: Vec::new(),
            status: Status::Running,
            failure: None,
        }
    }

    pub fn of(run: &Run, wall: Wall, status: Status, failure: Option<String>) -> Self {
        let (case, ledger) = (&run.case, &run.ledger);
        let steps = case.state.step;
        let mean = if steps > 0 { ledger.dt_sum / steps as f64 } else { ledger.dt };
        let phases = ledger.phases;
        Summary {
            carom: env!("CARGO_PKG_VERSION").into(),
            title: case.title.clone(),
            method: case.method_name.clone(),
            threads: rayon::current_num_threads(),
            bodies: names(&case.model),
            nodes: case.model.reference.len(),
            elements: case.model.elements(),
            steps,
            end_time: case.state.time,
            wall_seconds: wall.whole,
            loop_seconds: wall.in_loop,
            phase_seconds: Phases {
                force: phases.force,
                search: phases.search,
                response: phases.response,
                solve: phases.solve,
                output: run.output_seconds,
            },
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
                linear_drift_max: run.balance.linear_drift_max,
                angular_drift_max: run.balance.angular_drift_max,
            },
            dt: StepSize {
                min: if steps > 0 { ledger.dt_min } else { ledger.dt },
                mean,
                max: if steps > 0 { ledger.dt_max } else { ledger.dt },
            },
            peak_rss_bytes: peak_rss_bytes(),
            peaks: Peaks::default(),
            warnings: doubts::of(run),
            status,
            failure,
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
