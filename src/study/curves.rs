//! What came out over what was varied: a figure for each quantity that is a number, a curve for each combination of the others.

use super::{Cell, Rows, Study};
use crate::look::chart::{Curve, Figure, Panel, range};
use crate::look::colour::HUES;
use crate::look::draw::Drawing;

/// Columns that every study shows if they differ between runs, and what a panel calls them.
const SHOWN: [(&str, &str); 11] = [
    ("energy_final", "energy at the end"),
    ("friction", "energy taken by friction"),
    ("restitution", "energy taken by normal contact"),
    ("external", "work of loads and supports"),
    ("mises_peak", "peak von Mises stress"),
    ("penetration_max", "deepest overlap"),
    ("error_max_rel", "error of the balance, of the peak energy"),
    ("linear_drift_max", "drift of momentum"),
    ("angular_drift_max", "drift of angular momentum"),
    ("steps", "steps"),
    ("wall_seconds", "wall time [s]"),
];

/// Values this many times apart are drawn over powers of ten.
const FAR_APART: f64 = 30.0;
/// More curves than this cannot be told apart.
const MOST_CURVES: usize = 12;

/// All figures of a study, with the names of their files.
pub(super) fn draw(study: &Study, rows: &Rows) -> Vec<(String, Drawing)> {
    let paths: Vec<&str> = study.varied.iter().map(|v| v.path.as_str()).collect();
    let mut all = Vec::new();
    for path in &paths {
        let Some(over) = Over::new(rows, path, &paths) else { continue };
        let file = path.replace(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)), "_");
        let panels: Vec<Panel> =
            SHOWN.iter().filter_map(|(name, heading)| over.panel(&[name], heading)).collect();
        all.extend(over.figure(panels, "").map(|d| (file.clone(), d)));
        let forces = rows.names.iter().filter(|n| n.starts_with("force_peak.") && !n.ends_with(".time"));
        let forces: Vec<Panel> = forces
            .filter_map(|n| {
                over.panel(&[n], &n.replacen("force_peak.", "peak force ", 1).replace('-', " on "))
            })
            .collect();
        all.extend(over.figure(forces, "contact forces").map(|d| (format!("{file}-forces"), d)));
        for probe in probes(rows) {
            let columns = rows.names.iter().filter_map(|n| n.strip_suffix(".max"));
            let own = columns.filter(|n| n.rsplit_once('.').is_some_and(|(p, _)| p == probe));
            let panels: Vec<Panel> = own
                .flat_map(|n| [(n, "max", "largest"), (n, "min", "smallest")])
                .filter_map(|(n, end, word)| over.panel(&[&format!("{n}.{end}")], &format!("{word} {n}")))
                .collect();
            let title = format!("probe {probe}");
            all.extend(over.figure(panels, &title).map(|d| (format!("{file}-probe-{probe}"), d)));
        }
    }
    all
}

/// Names of the probes, in the order of the columns.
fn probes(rows: &Rows) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (probe, _) in rows.names.iter().filter_map(|n| n.strip_suffix(".max")?.rsplit_once('.')) {
        if !names.iter().any(|n| n == probe) {
            names.push(probe.to_owned());
        }
    }
    names
}

/// One quantity along the axis, and the rows of each curve, ascending in it.
struct Over<'a> {
    rows: &'a Rows,
    path: &'a str,
    values: Vec<f64>,
    curves: Vec<(String, Vec<usize>)>,
}

impl<'a> Over<'a> {
    /// Nothing where the quantity is no number, or always the same one.
    fn new(rows: &'a Rows, path: &'a str, paths: &[&str]) -> Option<Over<'a>> {
        let values: Vec<f64> = rows.column(path)?.iter().map(|c| c.number()).collect::<Option<_>>()?;
        range(values.iter()).filter(|(lo, hi)| lo < hi)?;
        let others: Vec<(&str, Vec<&Cell>)> =
            paths.iter().filter(|p| **p != path).filter_map(|p| Some((*p, rows.column(p)?))).collect();
        let mut curves: Vec<(String, Vec<usize>)> = Vec::new();
        for i in 0..rows.rows.len() {
            let short = |p: &str| p.rsplit('.').next().unwrap_or(p).to_owned();
            let label = others.iter().map(|(p, cells)| format!("{} {}", short(p), cells[i].text()));
            let label = label.collect::<Vec<_>>().join(", ");
            match curves.iter_mut().find(|c| c.0 == label) {
                Some(curve) => curve.1.push(i),
                None => curves.push((label, vec![i])),
            }
        }
        // values that go together one by one are one curve
        if curves.iter().all(|c| c.1.len() == 1) {
            curves = vec![(String::new(), (0..rows.rows.len()).collect())];
        }
        for (_, rows) in &mut curves {
            rows.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        }
        Some(Over { rows, path, values, curves })
    }

    /// A panel of a column; nothing if it says the same of all runs.
    fn panel(&self, columns: &[&str], heading: &str) -> Option<Panel> {
        let mut curves = Vec::new();
        for name in columns {
            let cells = self.rows.column(name)?;
            let numbers: Vec<f64> = cells.iter().map(|c| c.number().unwrap_or(f64::NAN)).collect();
            range(numbers.iter()).filter(|(lo, hi)| lo < hi)?;
            for (k, (label, rows)) in self.curves.iter().take(MOST_CURVES).enumerate() {
                let (x, y) = rows.iter().map(|&i| (self.values[i], numbers[i])).unzip();
                curves.push(Curve {
                    x: Some(x),
                    dash: (k >= HUES.len()).then_some([6.0, 3.0]),
                    marked: true,
                    ..Curve::new(format!("{name} {label}").trim(), label.clone(), y, HUES[k % HUES.len()])
                });
            }
        }
        let (lo, hi) = range(curves.iter().flat_map(|c| &c.y))?;
        let logarithmic = lo > 0.0 && hi > FAR_APART * lo;
        Some(Panel { heading: heading.to_owned(), curves, height: 110.0, logarithmic, ..Panel::default() })
    }

    fn figure(&self, panels: Vec<Panel>, what: &str) -> Option<Drawing> {
        if panels.is_empty() {
            return None;
        }
        let (lo, hi) = range(self.values.iter())?;
        let left = self.curves.len().saturating_sub(MOST_CURVES);
        let note =
            if left > 0 { format!("{left} more combinations are in study.csv.") } else { String::new() };
        let figure = Figure {
            title: if what.is_empty() {
                format!("Over {}", self.path)
            } else {
                format!("Over {}: {what}", self.path)
            },
            caption: format!("{} runs", self.rows.rows.len()),
            along: self.path.to_owned(),
            time: &[],
            time_unit: String::new(),
            panels,
            note,
            logarithmic: lo > 0.0 && hi > FAR_APART * lo,
        };
        Some(figure.draw())
    }
}
