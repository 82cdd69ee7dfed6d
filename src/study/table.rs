//! `study.csv`: a row for every run, with what went in and what came out.

use super::{Member, PLOTS, Study, StudyError, TABLE, curves};
use crate::look::folder::Table as History;
use crate::look::plot::write_drawings;
use crate::look::{Theme, in_own_pool};
use crate::output::replace_file;
use crate::output::summary::{Status, Summary};
use std::io;
use std::path::{Path, PathBuf};

/// An entry of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    Number(f64),
    /// The run has no such thing, or was not made.
    Empty,
}

impl Cell {
    /// The number it holds; a text that reads as one is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(x) => Some(*x),
            Cell::Text(text) => text.trim().parse().ok(),
            Cell::Empty => None,
        }
    }

    /// As CSV writes it.
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(x) if *x == x.trunc() && x.abs() < 1e15 => format!("{x:.0}"),
            Cell::Number(x) => format!("{x:?}"),
            Cell::Empty => String::new(),
        }
    }
}

/// Rows under names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub names: Vec<String>,
    /// As long as `names`, one for each run.
    pub rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub fn column(&self, name: &str) -> Option<Vec<&Cell>> {
        let i = self.names.iter().position(|n| n == name)?;
        Some(self.rows.iter().map(|r| &r[i]).collect())
    }

    /// Puts rows with names of their own under one head; a name stands where it comes first.
    fn gathered(named: Vec<Vec<(String, Cell)>>) -> Rows {
        let mut names: Vec<String> = Vec::new();
        for row in &named {
            let mut after = 0;
            for (name, _) in row {
                match names.iter().position(|n| n == name) {
                    Some(i) => after = i + 1,
                    None => {
                        names.insert(after, name.clone());
                        after += 1;
                    }
                }
            }
        }
        let line = |row: Vec<(String, Cell)>| {
            let cell =
                |name: &String| row.iter().find(|(n, _)| n == name).map_or(Cell::Empty, |(_, c)| c.clone());
            names.iter().map(cell).collect()
        };
        let rows = named.into_iter().map(line).collect();
        Rows { names, rows }
    }

    /// The table as text, with quotes where a comma, a quote or the end of a line asks for them.
    pub fn csv(&self) -> String {
        let quoted = |text: String| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text,
        };
        let line = |cells: Vec<String>| cells.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let rows = self.rows.iter().map(|row| line(row.iter().map(Cell::text).collect()));
        line(self.names.clone()) + &rows.collect::<String>()
    }
}

impl Study {
    /// What the runs have come to so far.
    pub fn rows(&self) -> Rows {
        Rows::gathered(self.members.iter().map(|m| self.row(m)).collect())
    }

    /// Writes `study.csv`, and plots over what is varied; returns the files.
    pub fn collect(&self, threads: Option<usize>) -> Result<Vec<PathBuf>, StudyError> {
        self.enter(false)?;
        let rows = self.rows();
        let path = self.out.join(TABLE);
        let written = replace_file(&path, rows.csv().as_bytes());
        written.map_err(|source| StudyError::Write { path: path.clone(), source })?;
        let drawings = curves::draw(self, &rows);
        let plots = in_own_pool(threads, || write_drawings(&drawings, &self.out.join(PLOTS), Theme::Light))?;
        Ok(std::iter::once(path).chain(plots).collect())
    }

    fn row(&self, member: &Member) -> Vec<(String, Cell)> {
        let folder = self.folder_of(member);
        let text = |name: &str, value: &str| (name.to_owned(), Cell::Text(value.to_owned()));
        let mut row = vec![text("run", &member.name)];
        row.extend(self.varied.iter().zip(&member.values).map(|(v, value)| text(&v.path, value)));
        let summary = match Summary::read(&folder) {
            Ok(summary) => summary,
            Err(e) => {
                let missing = e.kind() == io::ErrorKind::NotFound;
                row.push(text("status", if missing { "missing" } else { "damaged" }));
                return row;
            }
        };
        let status = match summary.status {
            Status::Running => "running",
            Status::Finished => "finished",
            Status::Interrupted => "interrupted",
            Status::Failed => "failed",
        };
        row.push(text("status", status));
        if !self.varied.iter().any(|v| v.path == "method") {
            row.push(text("method", &summary.method));
        }
        row.extend(outcome(&summary, &folder).into_iter().map(|(name, x)| (name, Cell::Number(x))));
        row.push(text("warnings", &summary.warnings.join("; ")));
        row.push(text("failure", &summary.failure.unwrap_or_default()));
        let times = [("threads", summary.threads as f64), ("wall_seconds", summary.wall_seconds)];
        let times = times.into_iter().chain([("loop_seconds", summary.loop_seconds)]);
        row.extend(times.map(|(name, x)| (name.to_owned(), Cell::Number(x))));
        row
    }
}

/// Numbers that a run has come to, in their order.
fn outcome(summary: &Summary, folder: &Path) -> Vec<(String, f64)> {
    let s = summary;
    let mut all: Vec<(String, f64)> = [
        ("nodes", s.nodes as f64),
        ("elements", s.elements as f64),
        ("steps", s.steps as f64),
        ("end_time", s.end_time),
        ("energy_initial", s.energy.initial),
        ("energy_final", s.energy.last),
        ("error_max_rel", s.energy.error_max_rel),
        ("linear_drift_max", s.momentum.linear_drift_max),
        ("angular_drift_max", s.momentum.angular_drift_max),
        ("contacts_peak", s.contacts_peak as f64),
        ("penetration_max", s.penetration_max),
    ]
    .map(|(name, x)| (name.to_owned(), x))
    .to_vec();
    if let Ok(history) = History::read(&folder.join("history.csv"), s.status != Status::Finished) {
        let accounts =
            ["kinetic", "strain", "contact", "external", "friction", "restitution", "damping", "correction"];
        for name in accounts {
            let last = history.column(name).and_then(|c| c.last().copied());
            all.extend(last.map(|x| (name.to_owned(), x)));
        }
    }
    if let Some(mises) = &s.peaks.mises {
        all.extend([("mises_peak".to_owned(), mises.value), ("mises_peak.time".to_owned(), mises.time)]);
    }
    for force in &s.peaks.force {
        let name = format!("force_peak.{}-{}", force.bodies[0], force.bodies[1]);
        all.extend([(name.clone(), force.value), (name + ".time", force.time)]);
    }
    for (probe, e) in &s.peaks.probes {
        let own = [("min", e.min), ("max", e.max), ("time_min", e.time_min), ("time_max", e.time_max)];
        all.extend(own.map(|(what, x)| (format!("{probe}.{what}"), x)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_different_names_come_under_one_head() {
        let number = |name: &str, x: f64| (name.to_owned(), Cell::Number(x));
        let first = vec![number("a", 1.0), number("c", 0.1)];
        let second = vec![number("a", 2.0), ("b".into(), Cell::Text("x, \"y\"".into())), number("c", 1e-30)];
        let rows = Rows::gathered(vec![first, second]);
        assert_eq!(rows.csv(), "a,b,c\n1,,0.1\n2,\"x, \"\"y\"\"\",1e-30\n");
        assert_eq!(rows.column("b").unwrap()[0], &Cell::Empty);
    }
}
