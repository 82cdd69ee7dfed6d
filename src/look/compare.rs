//! Several runs beside each other: their curves in common figures, and a table of what each conserved, lost and cost.

use super::chart::{Curve, Figure, Panel, Part, Stacks, range};
use super::colour::HUES;
use super::draw::Drawing;
use super::folder::{Summary, Table, history};
use super::plot::{PlotOptions, TimeUnit, seconds_text, write_drawings};
use super::sheet::{Sheet, figure};
use super::{LookError, in_own_pool, write_all};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Share of the largest value anywhere below which a column counts as zero.
const NOTHING: f64 = 1e-13;
/// Columns that are drawn, by figure.
const FIGURES: [(&str, &str, &[&str]); 4] = [
    (
        "energy",
        "Energy",
        &[
            "total",
            "kinetic",
            "strain",
            "contact",
            "external",
            "friction",
            "restitution",
            "damping",
            "plastic",
            "correction",
            "error",
        ],
    ),
    ("momentum", "Momentum", &["px", "py", "pz", "lx", "ly", "lz"]),
    ("contact", "Contact", &["contacts", "penetration", "iterations", "stick", "slip"]),
    ("step", "Step size", &["dt"]),
];
/// Steps that differ by more than this hide each other on a straight scale.
const FAR_APART: f64 = 30.0;

/// One of the runs.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What its curves are called.
    pub name: String,
    pub summary: Summary,
    pub history: Table,
}

/// Runs that are compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub runs: Vec<Compared>,
}

/// Draws the runs in `dirs` over each other into the folder `options.out`, beside the first of them by default, with the table of
/// the comparison; returns the files.
pub fn overlay(dirs: &[PathBuf], options: &PlotOptions) -> Result<Vec<PathBuf>, LookError> {
    in_own_pool(options.threads, || {
        let comparison = Comparison::read(dirs)?;
        let beside = || dirs[0].parent().unwrap_or(Path::new("")).join("compare");
        let out = options.out.clone().unwrap_or_else(beside);
        let none = TimeUnit { name: "consistent units".into(), per_time: 1.0 };
        let unit = options.time_unit.as_ref().unwrap_or(&none);
        let mut files = write_drawings(&comparison.drawings(unit), &out, options.theme)?;
        files.extend(write_all(vec![(out.join("compare.csv"), comparison.csv().into_bytes())])?);
        Ok(files)
    })
}

/// A column of the table: its heading, and what it says of a run.
type Column = (&'static str, fn(&Compared) -> f64);

/// What each conserved, lost and cost.
const COLUMNS: [Column; 12] = [
    ("steps", |r| r.number(&["steps"])),
    ("mean\nstep", |r| r.number(&["dt", "mean"])),
    ("energy left", |r| r.last("total") / r.first("total")),
    ("friction\ntook", |r| r.last("friction") / r.peak()),
    ("contact\ntook", |r| r.last("restitution") / r.peak()),
    ("external\nwork", |r| r.last("external") / r.peak()),
    ("error of\nbalance", |r| r.number(&["energy", "error_max_rel"])),
    ("drift of\nmomentum", |r| r.number(&["momentum", "linear_drift_max"])),
    ("drift of\nangular m.", |r| r.number(&["momentum", "angular_drift_max"])),
    ("deepest\noverlap", |r| r.number(&["penetration_max"])),
    ("most\ncontacts", |r| r.number(&["contacts_peak"])),
    ("time of\nsteps [s]", |r| r.step_seconds()),
];

impl Compared {
    fn number(&self, path: &[&str]) -> f64 {
        self.summary.number(path).unwrap_or(f64::NAN)
    }

    /// Wall time of the time loop, output left out [s].
    fn step_seconds(&self) -> f64 {
        let of = |of: &dyn Fn(&str) -> bool| {
            self.summary.phases.iter().filter(|p| of(&p.0)).map(|p| p.1).sum::<f64>()
        };
        let (output, booked) = (of(&|name| name == "output"), of(&|name| name != "output"));
        // looks at the start are output too, and come before the loop
        booked.max(self.summary.loop_seconds.unwrap_or(booked) - output)
    }

    fn column(&self, name: &str) -> &[f64] {
        self.history.column(name).unwrap_or(&[])
    }

    fn first(&self, name: &str) -> f64 {
        self.column(name).first().copied().unwrap_or(f64::NAN)
    }

    fn last(&self, name: &str) -> f64 {
        self.column(name).last().copied().unwrap_or(f64::NAN)
    }

    /// The energy that was there: the largest of total, and of what it began with and was put in.
    fn peak(&self) -> f64 {
        let start = self.first("total");
        let rows = self.column("total").iter().zip(self.column("external"));
        rows.map(|(total, external)| total.max(start + external)).fold(f64::MIN_POSITIVE, f64::max)
    }

    fn time(&self) -> &[f64] {
        &self.history.columns[0]
    }
}

impl Comparison {
    /// Reads output folders. Runs are called by their methods if these differ, else by their folders.
    pub fn read(dirs: &[PathBuf]) -> Result<Comparison, LookError> {
        let mut runs = Vec::new();
        for dir in dirs {
            let summary = Summary::read(dir)?;
            let history = history(dir, &summary)?;
            runs.push(Compared { name: summary.method.clone(), summary, history });
        }
        let differ = |names: &[String]| (1..names.len()).all(|i| !names[..i].contains(&names[i]));
        let short =
            |d: &PathBuf| d.file_name().map_or(d.display().to_string(), |n| n.to_string_lossy().into_owned());
        let methods: Vec<String> = runs.iter().map(|r| r.name.clone()).collect();
        let folders: Vec<String> = dirs.iter().map(short).collect();
        let names = match (differ(&methods), differ(&folders)) {
            (true, _) => methods,
            (_, true) => folders,
            _ => dirs.iter().map(|d| d.display().to_string()).collect(),
        };
        runs.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
        Ok(Comparison { runs })
    }

    /// Title of the decks, where it is one.
    fn caption(&self) -> String {
        let title = &self.runs[0].summary.title;
        let same = self.runs.iter().all(|r| r.summary.title == *title);
        if same { title.clone() } else { String::new() }
    }

    /// Common figures, with the names of their files.
    pub(crate) fn drawings(&self, time_unit: &TimeUnit) -> Vec<(String, Drawing)> {
        let mut all = vec![("table".to_owned(), self.sheet())];
        for (file, title, columns) in FIGURES {
            let names: Vec<String> = columns.iter().map(|c| (*c).to_owned()).collect();
            all.extend(self.figure(title, &names, time_unit).map(|d| (file.to_owned(), d)));
        }
        for probe in self.probes() {
            let prefix = format!("{probe}.");
            let mut names: Vec<String> = Vec::new();
            for name in self.runs.iter().flat_map(|r| &r.history.names) {
                if name.starts_with(&prefix) && !names.contains(name) {
                    names.push(name.clone());
                }
            }
            let drawn = self.figure(&format!("Probe {probe}"), &names, time_unit);
            all.extend(drawn.map(|d| (format!("probe-{probe}"), d)));
        }
        all.push(("phases".to_owned(), self.phases()));
        all
    }

    /// Probes of any of the runs, in their order.
    fn probes(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (probe, _) in self.runs.iter().flat_map(|r| &r.history.names).filter_map(|n| n.split_once('.')) {
            if !names.iter().any(|n| n == probe) {
                names.push(probe.to_owned());
            }
        }
        names
    }

    /// A panel for every column that is not zero throughout, with a curve for every run; nothing without any.
    fn figure(&self, title: &str, columns: &[String], time_unit: &TimeUnit) -> Option<Drawing> {
        let size = |name: &String| {
            let all = self.runs.iter().flat_map(|r| r.column(name));
            range(all).map_or(0.0, |(lo, hi)| lo.abs().max(hi.abs()))
        };
        let largest = columns.iter().map(size).fold(0.0, f64::max);
        let shown = columns.iter().filter(|n| size(n) > NOTHING * largest || n.as_str() == "error");
        let panels: Vec<Panel> = shown.map(|name| self.panel(name, time_unit.per_time)).collect();
        if largest == 0.0 {
            return None;
        }
        let figure = Figure {
            title: title.to_owned(),
            caption: self.caption(),
            along: "time".into(),
            time_unit: time_unit.name.clone(),
            panels,
            ..Figure::default()
        };
        Some(figure.draw())
    }

    fn panel(&self, name: &str, per_time: f64) -> Panel {
        let curve = |(k, run): (usize, &Compared)| {
            let mut y = run.column(name).to_vec();
            if name == "error" {
                let peak = run.peak();
                y.iter_mut().for_each(|e| *e /= peak);
            }
            let plain = Curve::new(format!("{name} {}", run.name), run.name.clone(), y, HUES[k % HUES.len()]);
            let dash = (k >= HUES.len()).then_some([6.0, 3.0]);
            // what lies below shows on both sides
            let width = 1.4 + 0.4 * (self.runs.len() - 1 - k).min(6) as f64;
            Curve { x: Some(run.time().iter().map(|t| t * per_time).collect()), width, dash, ..plain }
        };
        let with = self.runs.iter().enumerate().filter(|(_, r)| !r.column(name).is_empty());
        let curves: Vec<Curve> = with.map(curve).collect();
        let spread =
            range(curves.iter().flat_map(|c| &c.y).filter(|v| **v > 0.0)).map_or(1.0, |(lo, hi)| hi / lo);
        let count = matches!(name, "contacts" | "iterations" | "stick" | "slip");
        Panel {
            heading: if name == "error" { "error of the balance".into() } else { name.to_owned() },
            unit: match name {
                "error" => "share of the peak energy".into(),
                _ if count => "count".into(),
                _ => String::new(),
            },
            height: 30.0 + 16.0 * curves.len().clamp(4, 9) as f64,
            curves,
            logarithmic: name == "dt" && spread > FAR_APART,
            stairs: count || name == "dt",
            ..Panel::default()
        }
    }

    /// What each cost, phase by phase.
    fn phases(&self) -> Drawing {
        let order = ["force", "search", "response", "solve", "output", "other"];
        let row = |run: &Compared| {
            let of = |name: &str| run.summary.phases.iter().find(|p| p.0 == name).map_or(0.0, |p| p.1);
            let mut parts: Vec<f64> = order[..5].iter().map(|name| of(name)).collect();
            let listed: f64 = parts.iter().sum();
            let whole = run.summary.loop_seconds.unwrap_or(listed).max(listed);
            parts.push(whole - listed);
            (run.name.clone(), parts, format!("{} s", seconds_text(whole)))
        };
        let part = |(k, name): (usize, &&str)| Part { name: (*name).to_owned(), colour: HUES[k] };
        Stacks {
            title: "Wall time per phase".into(),
            caption: self.caption(),
            parts: order.iter().enumerate().map(part).collect(),
            rows: self.runs.iter().map(row).collect(),
        }
        .draw()
    }

    /// The table, drawn.
    fn sheet(&self) -> Drawing {
        let row = |run: &Compared| {
            let cells = COLUMNS.iter().map(|(_, of)| cell(of(run)));
            std::iter::once(run.name.clone())
                .chain(cells)
                .chain([run.summary.warnings.len().to_string()])
                .collect()
        };
        let head = std::iter::once("run").chain(COLUMNS.iter().map(|c| c.0)).chain(["warnings"]);
        Sheet {
            title: "What each conserved, lost and cost".into(),
            caption: format!("{} Energies as shares of the peak energy.", sentence(&self.caption()))
                .trim()
                .to_owned(),
            head: head.collect(),
            rows: self.runs.iter().map(row).collect(),
        }
        .draw()
    }

    /// The table for a spreadsheet.
    pub fn csv(&self) -> String {
        let names =
            COLUMNS.iter().map(|(head, _)| head.replace(['\n', ' '], "_").replace(['[', ']', '.'], ""));
        let mut text = format!("run,method,status,{},warnings\n", names.collect::<Vec<_>>().join(","));
        for run in &self.runs {
            let numbers: Vec<String> = COLUMNS.iter().map(|(_, of)| format!("{:?}", of(run))).collect();
            let Summary { method, status, warnings, .. } = &run.summary;
            let warnings = warnings.join("; ").replace('"', "\"\"");
            let _ = writeln!(
                text,
                "\"{}\",{method},{status},{},\"{warnings}\"",
                run.name.replace('"', "\"\""),
                numbers.join(",")
            );
        }
        text
    }

    /// The table for a terminal, and the warnings below it.
    pub fn in_words(&self) -> String {
        let mut rows = vec![
            std::iter::once("run".to_owned())
                .chain(COLUMNS.iter().map(|c| c.0.replace('\n', " ")))
                .collect::<Vec<_>>(),
        ];
        for run in &self.runs {
            let cells = COLUMNS.iter().map(|(_, of)| cell(of(run)));
            rows.push(std::iter::once(run.name.clone()).chain(cells).collect());
        }
        // runs side by side: there are more properties than a line has room for
        let mut text = String::new();
        let widths: Vec<usize> =
            rows.iter().map(|r| r.iter().map(|c| c.chars().count()).max().unwrap_or(0)).collect();
        for k in 0..rows[0].len() {
            let cells = rows.iter().zip(&widths).enumerate();
            let line: Vec<String> = cells
                .map(
                    |(i, (row, &w))| {
                        if i == 0 { format!("{:<w$}", row[k]) } else { format!("{:>w$}", row[k]) }
                    },
                )
                .collect();
            let _ = writeln!(text, "{}", line.join("  ").trim_end());
        }
        for run in &self.runs {
            for warning in &run.summary.warnings {
                let _ = writeln!(text, "warning: {}: {warning}", run.name);
            }
        }
        text
    }
}

/// Three digits; whole numbers as they are.
fn cell(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e9 { format!("{x:.0}") } else { figure(x) }
}

fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}
