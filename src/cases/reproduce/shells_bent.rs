//! Thin shells bent far (Sze, Liu & Lo 2004, whose tables were made with shells of the same law), by method `static`.

use super::Origin::*;
use super::shells_at_rest::{MakeDeck, QUARTER, Surface, deck, force, probe, with_hole};
use super::{Check, Outcome, Part, Published};
use crate::look::chart::{Curve, Figure, Panel, Reference};
use crate::look::colour::HUES;
use crate::look::draw::Drawing;
use crate::math::Vec3;

/// P/P_max, outwards, inwards (Sze, Liu & Lo 2004, table 6).
const PINCHED: [[f64; 3]; 11] = [
    [0.05, 0.855, 0.955],
    [0.1, 1.499, 1.840],
    [0.2, 2.321, 3.261],
    [0.3, 2.819, 4.339],
    [0.4, 3.158, 5.196],
    [0.5, 3.406, 5.902],
    [0.6, 3.598, 6.497],
    [0.7, 3.750, 7.006],
    [0.8, 3.875, 7.448],
    [0.9, 3.979, 7.835],
    [1.0, 4.067, 8.178],
];
/// P/P_max, at A, B and C. Between 0.4 and 0.6 it snaps through; the run goes from one to the other in a step.
const PULLED: [[f64; 4]; 11] = [
    [0.025, 0.819, 0.864, 0.872],
    [0.05, 1.260, 1.471, 1.493],
    [0.1, 1.707, 2.217, 2.293],
    [0.2, 2.079, 2.904, 3.106],
    [0.3, 2.257, 3.227, 3.452],
    [0.4, 2.376, 3.443, 3.632],
    [0.6, 2.618, 4.274, 3.452],
    [0.7, 2.672, 4.385, 3.378],
    [0.8, 2.710, 4.455, 3.332],
    [0.9, 2.741, 4.508, 3.297],
    [1.0, 2.768, 4.551, 3.269],
];

/// R = 10, t = 0.04, four forces of 400: a quarter of n by n squares.
fn pinched(n: u32, points: &str) -> String {
    let surface = Surface::lattice(n, n, false, with_hole(90.0));
    let surface = surface.with("a", vec![0]).with("b", vec![n]).with("level", vec![(n + 1) * (n / 2)]);
    let law = "law = \"st-venant-kirchhoff\", young = 6.825e7, poisson = 0.3, density = 1";
    let held = format!(
        "ghosts = \"independent\"\n{QUARTER}\nsupport = [{{ set = \"level\", directions = [\"z\"] }}]"
    );
    let rest = force("a", [-200.0, 0.0, 0.0])
        + &force("b", [0.0, 200.0, 0.0])
        + &probe("a", 0)
        + &probe("b", n)
        + "[static]\nsteps = 20\n[output]\nhistory = 20\n";
    deck(&surface, points, law, 0.04, &held, &rest)
}

/// R = 4.953, L = 10.35, t = 0.094, two forces of 40 000: an eighth of n by 3n/4 squares.
fn pulled(n: u32, points: &str) -> String {
    let m = 3 * n / 4;
    let surface = Surface::lattice(n, m, false, |a, s| {
        let angle = (90.0 * a).to_radians();
        let round = |x: f64| if x.abs() < 1e-9 { 0.0 } else { x };
        Vec3::new(4.953 * angle.sin(), 0.5 * 10.35 * s, 4.953 * angle.cos()).map(round)
    });
    let law = "law = \"st-venant-kirchhoff\", young = 10.5e6, poisson = 0.3125, density = 1";
    let planes = "ghosts = \"independent\"\nsymmetry = [{ point = [0, 0, 0], normal = [1, 0, 0] }, \
                  { point = [0, 0, 0], normal = [0, 1, 0] }, { point = [0, 0, 0], normal = [0, 0, 1] }]";
    // a row of the table for every step
    let shares = PULLED.iter().enumerate().map(|(k, row)| format!(", [{}, {}]", k + 1, row[0]));
    let table = format!("table = [[0, 0]{}]\n", shares.collect::<String>());
    let rest = force("a", [0.0, 0.0, 10_000.0])
        + &table
        + &probe("a", 0)
        + &probe("b", n)
        + &probe("c", (n + 1) * m + n)
        + "[static]\nsteps = 11\niterations = 60\n[output]\nhistory = 11\n";
    let text = deck(&surface.with("a", vec![0]), points, law, 0.094, planes, &rest);
    text.replace("end = 1\n", "end = 11\n")
}

/// Sizes of both, and the finest in a quick look.
const LARGE: [u32; 3] = [16, 24, 32];

fn sizes(quick: bool) -> &'static [u32] {
    if quick { &LARGE[..1] } else { &LARGE }
}

fn of<'a>(o: &'a [Outcome], name: &str) -> Option<&'a Outcome> {
    o.iter().find(|o| o.name == name)
}

pub(super) const SHELLS_BENT: Published = Published {
    name: "shells-bent",
    method: "static",
    source: "Sze, Liu & Lo 2004: pinched hemisphere with a hole, open cylinder pulled out",
    parts: |quick| {
        let problems: [(&str, MakeDeck); 2] = [("pinched", pinched), ("pulled", pulled)];
        let mut parts = Vec::new();
        for (name, deck) in problems {
            parts.extend(sizes(quick).iter().map(|n| Part::new(format!("{name}-{n}"), deck(*n, "one"))));
        }
        parts
    },
    checks: |o| {
        let quick = o[0].quick;
        let finest = sizes(quick)[sizes(quick).len() - 1];
        // a coarse mesh of one point is soft
        let room = if quick { 0.05 } else { 0.02 };
        let mut checks: Vec<Check> = Vec::new();
        if let Some(o) = of(o, &format!("pinched-{finest}")) {
            for [share, outwards, inwards] in PINCHED {
                let found =
                    [("outwards", o.at("b.uy", share), outwards), ("inwards", -o.at("a.ux", share), inwards)];
                for (what, found, known) in found {
                    checks.push(Paper.within(
                        format!("hemisphere, {what} at {share}"),
                        found,
                        known,
                        room * known,
                    ));
                }
            }
        }
        if let Some(o) = of(o, &format!("pulled-{finest}")) {
            for (k, [share, a, b, c]) in PULLED.into_iter().enumerate() {
                for (what, column, sign, known) in
                    [("A", "a.uz", 1.0, a), ("B", "b.ux", -1.0, b), ("C", "c.ux", -1.0, c)]
                {
                    let found = sign * o.at(column, (k + 1) as f64);
                    checks.push(Paper.within(
                        format!("cylinder, {what} at {share}"),
                        found,
                        known,
                        room * known,
                    ));
                }
            }
        }
        // the work of a snap is no mean of its ends
        for o in o.iter().filter(|o| o.name.starts_with("pinched")) {
            let (name, error) = (&o.name, o.ledger.error_max_rel());
            checks.push(Exact.at_most(format!("{name}: largest energy error, relative"), error, 0.02));
        }
        checks
    },
    figures: |o| vec![("load".into(), bent(o))],
};

fn bent(o: &[Outcome]) -> Drawing {
    let panel = |heading: &str, problem: &str, columns: &[(&str, &str, f64)], table: &[Vec<f64>]| {
        let (mut curves, mut references) = (Vec::new(), Vec::new());
        for (k, (name, column, sign)) in columns.iter().enumerate() {
            for (i, n) in sizes(o[0].quick).iter().enumerate() {
                let Some(run) = of(o, &format!("{problem}-{n}")) else { continue };
                let y = run.column(column).iter().map(|u| sign * u).collect();
                let x = match problem {
                    "pulled" => std::iter::once(0.0).chain(table.iter().map(|row| row[0])).collect(),
                    _ => run.column("time"),
                };
                let label = if i == 0 { (*name).to_owned() } else { String::new() };
                curves.push(Curve {
                    x: Some(x),
                    width: 1.0 + 0.6 * i as f64,
                    ..Curve::new(*name, label, y, HUES[k])
                });
            }
            let y = table.iter().map(|row| row[k + 1]).collect();
            let x = table.iter().map(|row| row[0]).collect();
            references.push(Reference {
                name: (*name).into(),
                from: "Sze, Liu & Lo".into(),
                x,
                y,
                colour: HUES[k],
            });
        }
        Panel {
            heading: heading.into(),
            unit: "m".into(),
            curves,
            references,
            height: 200.0,
            ..Panel::default()
        }
    };
    let hemisphere: Vec<Vec<f64>> = PINCHED.iter().map(|r| r.to_vec()).collect();
    let cylinder: Vec<Vec<f64>> = PULLED.iter().map(|r| r.to_vec()).collect();
    Figure {
        title: "Thin shells bent far".into(),
        caption: "displacements over the share of the load; the wider the line the finer the mesh".into(),
        along: "load".into(),
        panels: vec![
            panel(
                "hemisphere with a hole",
                "pinched",
                &[("outwards", "b.uy", 1.0), ("inwards", "a.ux", -1.0)],
                &hemisphere,
            ),
            panel(
                "cylinder pulled out",
                "pulled",
                &[("A", "a.uz", 1.0), ("B", "b.ux", -1.0), ("C", "c.ux", -1.0)],
                &cylinder,
            ),
        ],
        ..Figure::default()
    }
    .draw()
}
