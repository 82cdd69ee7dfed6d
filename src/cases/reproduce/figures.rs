//! Figures of the papers that hold runs of one case against each other.

use super::Outcome;
use crate::look::chart::{Curve, Figure, Panel};
use crate::look::colour::HUES;
use crate::look::draw::Drawing;

/// A panel: its heading, and what it shows of a run.
pub(super) type Shown<'a> = (&'a str, &'a dyn Fn(&Outcome) -> Vec<f64>);

/// Runs with their names, a curve for each in every panel.
pub(super) fn beside(title: &str, caption: &str, runs: &[(&Outcome, &str)], panels: &[Shown]) -> Drawing {
    let panel = |(heading, of): &Shown| {
        let curve = |(k, (o, name)): (usize, &(&Outcome, &str))| Curve {
            x: Some(o.column("time")),
            ..Curve::new(*heading, *name, of(o), HUES[k % HUES.len()])
        };
        let curves = runs.iter().enumerate().map(curve).collect();
        Panel { heading: (*heading).to_owned(), curves, height: 150.0, ..Panel::default() }
    };
    let figure = Figure {
        title: title.to_owned(),
        caption: caption.to_owned(),
        along: "time".into(),
        panels: panels.iter().map(panel).collect(),
        ..Figure::default()
    };
    figure.draw()
}

/// Kinetic and strain energy: what `velocity-update` conserves.
pub(super) fn energy(o: &Outcome) -> Vec<f64> {
    o.column("kinetic").into_iter().zip(o.column("strain")).map(|(k, s)| k + s).collect()
}
