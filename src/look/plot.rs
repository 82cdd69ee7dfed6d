//! Plots of a run: where energy and momentum went, what the probes saw, how contact and steps went.
//!
//! Every figure is written twice, as SVG for pages and as PNG for everything else.

use super::chart::{Bar, Bars, Curve, Figure, Panel, Reference, range};
use super::colour::{HUES, Rgba, Theme};
use super::draw::{Drawing, Paint};
use super::folder::{Summary, Table, history};
use super::{LookError, in_own_pool, write_all};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What to plot and where.
#[derive(Clone, Debug, Default)]
pub struct PlotOptions {
    /// Folder of the plots; `plots` in the output folder by default.
    pub out: Option<PathBuf>,
    /// CSV files with a column `time` and columns named as in the history, drawn as points under the names of the files.
    pub references: Vec<PathBuf>,
    pub theme: Theme,
    /// Unit of time on the axes; "consistent units" by default.
    pub time_unit: Option<TimeUnit>,
    /// All cores by default.
    pub threads: Option<usize>,
}

/// A unit of time that axes are written in: `ms`, or `shakes=1e8` for any other.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUnit {
    pub name: String,
    /// How many of it are a unit of time of the history.
    pub per_time: f64,
}

/// Units of time, and how many of each are a second.
const TIME_UNITS: [(&str, f64); 7] = [
    ("s", 1.0),
    ("ms", 1e3),
    ("us", 1e6),
    ("µs", 1e6),
    ("ns", 1e9),
    ("min", 1.0 / 60.0),
    ("h", 1.0 / 3600.0),
];

impl FromStr for TimeUnit {
    type Err = String;
    fn from_str(text: &str) -> Result<TimeUnit, String> {
        let (name, factor) = match text.split_once('=') {
            Some((name, factor)) => (name, factor.trim().parse().ok()),
            None => (text, TIME_UNITS.iter().find(|u| u.0 == text).map(|u| u.1)),
        };
        match factor.filter(|f| *f > 0.0 && f64::is_finite(*f)) {
            Some(per_time) => Ok(TimeUnit { name: name.replace("us", "µs"), per_time }),
            None => {
                let known = TIME_UNITS.map(|u| u.0).join(", ");
                Err(format!(
                    "`{text}` is no unit of time: there are {known}, if the deck is in seconds, and NAME=FACTOR for another"
                ))
            }
        }
    }
}

/// Pixels of the PNG per unit of the drawing.
const PNG_SCALE: f64 = 3.0;
/// Share of the largest account below which an account counts as zero.
const NOTHING: f64 = 1e-13;

/// Writes all plots of the run in `dir`; returns the files.
pub fn plot(dir: &Path, options: &PlotOptions) -> Result<Vec<PathBuf>, LookError> {
    in_own_pool(options.threads, || plot_here(dir, options))
}

fn plot_here(dir: &Path, options: &PlotOptions) -> Result<Vec<PathBuf>, LookError> {
    let out = options.out.clone().unwrap_or_else(|| dir.join("plots"));
    write_drawings(&drawings(dir, options)?, &out, options.theme)
}

/// Writes drawings with their names into the folder `out`; returns the files.
pub(crate) fn write_drawings(
    drawings: &[(String, Drawing)],
    out: &Path,
    theme: Theme,
) -> Result<Vec<PathBuf>, LookError> {
    let files = drawings
        .par_iter()
        .flat_map(|(name, drawing)| {
            let svg = drawing.svg(theme).into_bytes();
            let svg_path = out.join(format!("{name}.svg"));
            let png_path = out.join(format!("{name}.png"));
            let png = drawing.pixels(theme, PNG_SCALE).png();
            [
                Ok((svg_path, svg)),
                png.map(|bytes| (png_path.clone(), bytes))
                    .map_err(|source| LookError::Write { path: png_path, source }),
            ]
        })
        .collect::<Result<Vec<_>, LookError>>()?;
    write_all(files)
}

/// All figures of a run with their names.
pub(crate) fn drawings(dir: &Path, options: &PlotOptions) -> Result<Vec<(String, Drawing)>, LookError> {
    let summary = Summary::read(dir)?;
    let table = history(dir, &summary)?;
    let references = options
        .references
        .iter()
        .map(|path| {
            let table_of_points = Table::read(path, false)?;
            if let Some(name) = table_of_points.names.iter().find(|n| table.column(n).is_none()) {
                return Err(LookError::Reference { path: path.clone(), column: name.clone() });
            }
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, table_of_points))
        })
        .collect::<Result<Vec<_>, LookError>>()?;
    let book = Book { table: &table, references, summary: &summary, options };
    let mut all = vec![
        ("energy".to_owned(), book.energy()),
        ("momentum".to_owned(), book.momentum()),
        ("contact".to_owned(), book.contact()),
        ("step".to_owned(), book.step()),
    ];
    for probe in book.probes() {
        all.push((format!("probe-{probe}"), book.probe(&probe)));
    }
    if !summary.phases.is_empty() {
        all.push(("phases".to_owned(), book.phases()));
    }
    Ok(all)
}

/// Accounts of the ledger: column, colour, dashes.
const ACCOUNTS: [(&str, Rgba, Option<[f64; 2]>); 10] = [
    ("kinetic", HUES[0], None),
    ("strain", HUES[1], None),
    ("contact", HUES[2], None),
    ("external", HUES[3], None),
    ("friction", HUES[4], None),
    ("restitution", HUES[5], None),
    ("damping", HUES[6], None),
    ("plastic", HUES[7], None),
    ("correction", HUES[2], Some([6.0, 3.0])),
    ("hourglass", HUES[1], Some([2.0, 3.5])),
];

struct Book<'a> {
    table: &'a Table,
    /// With the names of their files.
    references: Vec<(String, Table)>,
    summary: &'a Summary,
    options: &'a PlotOptions,
}

impl Book<'_> {
    fn column(&self, name: &str) -> Vec<f64> {
        self.table.column(name).map(<[f64]>::to_vec).unwrap_or_default()
    }

    fn unit(&self) -> String {
        "consistent units".to_owned()
    }

    /// Units of the time axis in a unit of time of the history.
    fn per_time(&self) -> f64 {
        self.options.time_unit.as_ref().map_or(1.0, |u| u.per_time)
    }

    /// What errors of a table are a share of: the energy that was there, in the run if the table does not tell; 1 if none.
    fn error_base(&self, table: &Table) -> f64 {
        let there = table.energy_there().or(self.table.energy_there());
        there.filter(|e| *e > 0.0).unwrap_or(1.0)
    }

    fn figure(&self, title: &str, mut panels: Vec<Panel>, note: String) -> Drawing {
        for panel in &mut panels {
            for curve in panel.curves.clone() {
                let colour = match curve.paint {
                    Paint::Fixed(c) => c,
                    _ => Rgba::rgb(118, 124, 133),
                };
                for (from, table) in &self.references {
                    if let Some(y) = table.column(&curve.name) {
                        let base = if curve.name == "error" { self.error_base(table) } else { 1.0 };
                        panel.references.push(Reference {
                            name: curve.name.clone(),
                            from: from.clone(),
                            x: table.columns[0].iter().map(|t| t * self.per_time()).collect(),
                            y: y.iter().map(|v| v / base).collect(),
                            colour,
                        });
                    }
                }
            }
        }
        let time_unit = self.options.time_unit.as_ref().map_or_else(|| self.unit(), |u| u.name.clone());
        let time: Vec<f64> = self.table.columns[0].iter().map(|t| t * self.per_time()).collect();
        Figure {
            title: title.to_owned(),
            caption: self.summary.caption(),
            along: "time".into(),
            time: &time,
            time_unit,
            panels,
            note,
            ..Figure::default()
        }
        .draw()
    }

    fn curve(&self, name: &str, label: &str, colour: Rgba) -> Curve {
        Curve::new(name, label, self.column(name), colour)
    }

    fn energy(&self) -> Drawing {
        let peak = self.table.energy_there().unwrap_or(0.0);
        let (mut curves, mut nothing) = (Vec::new(), Vec::new());
        for (name, colour, dash) in ACCOUNTS {
            let curve = Curve { dash, ..self.curve(name, name, colour) };
            let referenced = self.references.iter().any(|(_, t)| t.column(name).is_some());
            match range(curve.y.iter()) {
                Some((lo, hi)) if lo.abs().max(hi.abs()) > NOTHING * peak || referenced => curves.push(curve),
                Some(_) => nothing.push(name),
                None => {}
            }
        }
        curves.push(Curve { paint: Paint::Ink, width: 2.6, ..self.curve("total", "total", HUES[0]) });
        let mut error = self.curve("error", "error", HUES[1]);
        let base = self.error_base(self.table);
        error.y.iter_mut().for_each(|v| *v /= base);
        let note = match nothing.as_slice() {
            [] => String::new(),
            names => format!("Zero throughout: {}.", names.join(", ")),
        };
        self.figure(
            "Energy",
            vec![
                Panel {
                    heading: "energy".into(),
                    unit: self.unit(),
                    curves,
                    height: 230.0,
                    ..Panel::default()
                },
                Panel {
                    heading: "error of the balance".into(),
                    unit: "share of the energy that was there".into(),
                    curves: vec![error],
                    height: 80.0,
                    ..Panel::default()
                },
            ],
            note,
        )
    }

    /// Components x, y, z; those that are equal throughout share a curve and a label.
    fn components(&self, names: &[String], labels: &[&str]) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for (i, (name, label)) in names.iter().zip(labels).enumerate() {
            let curve = self.curve(name, label, HUES[i % HUES.len()]);
            match curves.iter_mut().find(|c| c.y == curve.y) {
                Some(same) => same.label = format!("{}, {label}", same.label),
                None => curves.push(curve),
            }
        }
        curves
    }

    fn momentum(&self) -> Drawing {
        let panel = |heading: &str, letter: char| {
            let names: Vec<String> = ["x", "y", "z"].iter().map(|k| format!("{letter}{k}")).collect();
            let labels: Vec<&str> = names.iter().map(String::as_str).collect();
            Panel {
                heading: heading.into(),
                unit: self.unit(),
                curves: self.components(&names, &labels),
                height: 130.0,
                ..Panel::default()
            }
        };
        self.figure(
            "Momentum",
            vec![panel("linear momentum", 'p'), panel("angular momentum", 'l')],
            String::new(),
        )
    }

    fn contact(&self) -> Drawing {
        let one = |name: &str, heading: &str, unit: String, colour, stairs| Panel {
            heading: heading.into(),
            unit,
            curves: vec![self.curve(name, "", colour)],
            height: 110.0,
            stairs,
            ..Panel::default()
        };
        self.figure(
            "Contact",
            vec![
                one("contacts", "pairs that carried impulse", "count".into(), HUES[0], true),
                one("penetration", "deepest overlap", self.unit(), HUES[1], false),
            ],
            String::new(),
        )
    }

    fn step(&self) -> Drawing {
        let curve = self.curve("dt", "", HUES[0]);
        let spread = range(curve.y.iter().filter(|v| **v > 0.0)).map_or(1.0, |(lo, hi)| hi / lo);
        let panel = Panel {
            heading: "time step".into(),
            unit: self.unit(),
            curves: vec![curve],
            height: 150.0,
            // Steps that differ by more than this hide each other on a straight scale.
            logarithmic: spread > 30.0,
            stairs: true,
            ..Panel::default()
        };
        let steps = self.table.column("step").and_then(|s| s.last().copied()).unwrap_or(0.0);
        self.figure("Step size", vec![panel], format!("{steps} steps in all."))
    }

    /// Names of the probes, in the order of the columns.
    fn probes(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (probe, _) in self.table.names.iter().filter_map(|n| n.split_once('.')) {
            if !names.iter().any(|n| n == probe) {
                names.push(probe.to_owned());
            }
        }
        names
    }

    fn probe(&self, probe: &str) -> Drawing {
        let prefix = format!("{probe}.");
        let columns: Vec<&String> = self.table.names.iter().filter(|n| n.starts_with(&prefix)).collect();
        let kinds =
            [("u", "displacement"), ("v", "velocity"), ("w", "spin"), ("f", "force"), ("j", "impulse")];
        let mut panels = Vec::new();
        let mut rest: Vec<&String> = columns.clone();
        for (letter, heading) in kinds {
            let (names, others): (Vec<&String>, Vec<&String>) = rest.iter().partition(|n| {
                let component = &n[prefix.len()..];
                component.len() == 2 && component.starts_with(letter)
            });
            rest = others;
            if names.is_empty() {
                continue;
            }
            let labels: Vec<&str> = names.iter().map(|n| &n[prefix.len()..]).collect();
            let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
            panels.push(Panel {
                heading: heading.into(),
                unit: self.unit(),
                curves: self.components(&names, &labels),
                height: 120.0,
                ..Panel::default()
            });
        }
        for name in rest {
            let curves = self.components(std::slice::from_ref(name), &[&name[prefix.len()..]]);
            let heading = name[prefix.len()..].to_owned();
            panels.push(Panel { heading, unit: self.unit(), curves, height: 120.0, ..Panel::default() });
        }
        self.figure(&format!("Probe {probe}"), panels, String::new())
    }

    fn phases(&self) -> Drawing {
        let listed: f64 = self.summary.phases.iter().map(|p| p.1).sum();
        let whole = self.summary.loop_seconds.unwrap_or(listed).max(listed);
        let mut phases = self.summary.phases.clone();
        // In the order of a step, whatever the order of the file.
        let order = ["force", "search", "response", "solve", "output"];
        phases.sort_by_key(|(name, _)| order.iter().position(|o| o == name).unwrap_or(order.len()));
        if whole > listed {
            phases.push(("other".to_owned(), whole - listed));
        }
        let bars = phases
            .into_iter()
            .enumerate()
            .map(|(i, (name, seconds))| {
                let share = if whole > 0.0 { 100.0 * seconds / whole } else { 0.0 };
                let words = format!("{} s   {share:.1} %", seconds_text(seconds));
                let colour = if name == "other" { Rgba::rgb(128, 134, 143) } else { HUES[i % HUES.len()] };
                Bar { name, length: seconds, words, colour }
            })
            .collect();
        Bars {
            title: "Wall time per phase".into(),
            caption: self.summary.caption(),
            bars,
            note: format!("Time loop: {} s.", seconds_text(whole)),
        }
        .draw()
    }
}

/// Wall time with as many decimals as anyone cares for.
pub(super) fn seconds_text(s: f64) -> String {
    match s {
        s if s >= 100.0 => format!("{s:.0}"),
        s if s >= 1.0 => format!("{s:.1}"),
        s if s >= 0.01 || s == 0.0 => format!("{s:.2}"),
        s => format!("{s:.1e}"),
    }
}
