//! Twenty-five cubes of foam rubber thrown on a plate (Peng, Feng & Joli 2018, second example; geometry completed), with
//! friction and without, with air between the cubes of a column and touching.
//!
//! Figures are those of a prototype for the same geometry, nodes on faces both ways, at the integration points.
//! Up is z, along the plate is y.

use super::Origin::*;
use super::bars::curve;
use super::cylinders::{energy, gained};
use super::watch::Seen;
use super::{Check, Outcome, Part, Published, deck_of, largest};
use crate::cases::bipotential::{element_mises, largest_mises};
use crate::contact::search::{PairSearch, Query};
use crate::contact::three_stage::ThreeStage;
use crate::look::chart::{Figure, Panel, Reference};
use crate::look::colour::HUES;
use crate::look::draw::Drawing;
use crate::look::sheet::{Sheet, count};
use crate::model::{Model, State};
use crate::run::Look;

/// The deck, nodes on faces alone as the reference has it.
pub(super) fn deck() -> String {
    deck_of("cubes-25").replace("pass = \"double\"", "pass = \"double\"\nedge_edge = false")
}

/// The same without air between the cubes.
fn touching() -> String {
    let mut text = deck();
    for (loose, tight) in
        [(", 0.6]", ", 0.5]"), (", 1.25]", ", 1.05]"), (", 1.85]", ", 1.55]"), (", 2.5]", ", 2.1]")]
    {
        text = text.replace(loose, tight);
    }
    text
}

/// Instants of the table of stresses [s].
const INSTANTS: [f64; 3] = [0.0085, 0.0305, 0.0415];
/// What lies this near touches [m]: round-off.
const TOUCHING: f64 = 1e-9;
/// Pairs are counted every 10 ms.
const COUNTED: f64 = 0.01;

fn look(look: &Look, seen: &mut Seen) {
    let (model, state) = (&look.case.model, look.state);
    seen.push("mises", largest_mises(model, state));
    seen.push("askew", askew(model, state));
    seen.push("lifted", lifted(model, state));
    let nearest = (state.time / COUNTED).round() * COUNTED;
    let now = (state.time - nearest).abs() < 0.1 * look.ledger.dt;
    seen.push("pairs", if now { pairs(model, state) } else { f64::NAN });
}

/// Nodes on faces without a gap.
fn pairs(model: &Model, state: &State) -> f64 {
    let scene = model.contact.scene(model, false);
    let mut x = state.x.clone();
    x.extend(model.contact.obstacle_nodes());
    let mut search = ThreeStage::new();
    match search.find(&scene, &x, None, &Query::vertex_face(1e-3)) {
        Ok(()) => search.vertex_face().iter().filter(|p| p.gap <= TOUCHING).count() as f64,
        Err(_) => f64::NAN,
    }
}

/// Largest difference of the stresses of an element and its mirror image in y within its cube, of the largest stress.
fn askew(model: &Model, state: &State) -> f64 {
    let (mut worst, mut most) = (0.0_f64, 0.0_f64);
    for body in &model.bodies {
        let centre = |nodes: &[u32]| {
            let sum: f64 = nodes.iter().map(|&k| body.mesh.nodes[k as usize].y).sum();
            sum / nodes.len() as f64
        };
        let middle = body.mesh.nodes.iter().map(|p| p.y).sum::<f64>() / body.mesh.nodes.len() as f64;
        for (block, cells) in body.blocks.clone().zip(&body.mesh.cells) {
            let size = cells.kind.nodes();
            let stress: Vec<Vec<f64>> = (0..cells.len())
                .map(|e| {
                    let mut points = element_mises(model, state, block, e);
                    // mirrored elements have their points in another order
                    points.sort_by(f64::total_cmp);
                    points
                })
                .collect();
            let ids: Vec<&[u32]> = cells.nodes.chunks_exact(size).collect();
            let place = |e: usize| {
                let sum = |axis: usize| {
                    ids[e].iter().map(|&k| body.mesh.nodes[k as usize][axis]).sum::<f64>() / size as f64
                };
                [sum(0), sum(2)]
            };
            let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
            for e in 0..ids.len() {
                let other = (0..ids.len()).find(|&f| {
                    let (p, q) = (place(e), place(f));
                    near(p[0], q[0])
                        && near(p[1], q[1])
                        && near(centre(ids[e]) + centre(ids[f]), 2.0 * middle)
                });
                let Some(other) = other else { return f64::NAN };
                for (a, b) in stress[e].iter().zip(&stress[other]) {
                    (worst, most) = (worst.max((a - b).abs()), most.max(*a));
                }
            }
        }
    }
    if most > 0.0 { worst / most } else { 0.0 }
}

/// How many of the sixteen nodes under the lowest cube in the middle have left the plate.
fn lifted(model: &Model, state: &State) -> f64 {
    let lowest = model.bodies.iter().find(|b| b.name == "centre-1");
    let under = lowest.and_then(|b| b.node_set("zmin"));
    under.map_or(f64::NAN, |n| n.iter().filter(|&&k| state.x[k as usize].z > 1e-4).count() as f64)
}

/// What a prototype found.
struct Known {
    /// E/E₀ at 10, 20 … 50 ms.
    energy: [f64; 5],
    /// At the instants [MPa], and the largest of all where it is known.
    mises: [f64; 3],
    peak: f64,
    /// Of the mass centre at the end, upwards and along [m/s].
    velocity: [f64; 2],
    /// Impulse along the plate over that on it.
    friction_share: f64,
    /// Pairs at 0, 10 … 50 ms, where they are known.
    pairs: [f64; 6],
}

const NONE: f64 = f64::NAN;
const KNOWN: [Known; 5] = [
    Known {
        energy: [0.820, 0.638, 0.545, 0.457, 0.453],
        mises: [5.93, 7.56, 2.56],
        peak: 9.77,
        velocity: [7.33, -7.66],
        friction_share: 0.0855,
        pairs: [80.0, 70.0, 176.0, 163.0, 63.0, 10.0],
    },
    Known {
        energy: [0.859, 0.725, 0.659, 0.590, 0.595],
        mises: [2.31, 3.53, 2.86],
        peak: 7.98,
        velocity: [8.51, -10.0],
        friction_share: 0.0,
        pairs: [80.0, 95.0, 278.0, 122.0, 0.0, 0.0],
    },
    Known {
        energy: [0.818, 0.636, 0.545, 0.458, 0.454],
        mises: [5.93, 7.30, 2.47],
        peak: 9.87,
        velocity: [7.36, -7.67],
        friction_share: 0.0850,
        pairs: [80.0, 66.0, 168.0, 170.0, 53.0, 10.0],
    },
    Known {
        energy: [NONE, NONE, NONE, NONE, 0.956],
        mises: [9.03, 2.29, 1.72],
        peak: 9.47,
        velocity: [18.06, -6.74],
        friction_share: 0.0856,
        pairs: [NONE; 6],
    },
    Known {
        energy: [0.975, 0.977, 0.974, 0.975, 0.974],
        mises: [5.90, 1.50, 1.56],
        peak: NONE,
        velocity: [18.43, -10.0],
        friction_share: 0.0,
        pairs: [NONE; 6],
    },
];

/// Compares where there is something to compare with.
fn push(checks: &mut Vec<Check>, name: String, found: f64, known: f64, tolerance: f64) {
    if !known.is_nan() {
        checks.push(Prototype.within(name, found, known, tolerance));
    }
}

fn compare(o: &Outcome, known: &Known, checks: &mut Vec<Check>) {
    let name = &o.name;
    for (k, e) in known.energy.into_iter().enumerate() {
        let ms = 10 * (k + 1);
        push(checks, format!("{name}: energy at {ms} ms"), energy(o, 1e-3 * ms as f64), e, 0.03);
    }
    for (t, mises) in INSTANTS.into_iter().zip(known.mises) {
        let what = format!("{name}: von Mises stress at {} ms [MPa]", 1e3 * t);
        push(checks, what, 1e-6 * o.at("mises", t), mises, 0.08 * mises);
    }
    let peak = 1e-6 * o.most("mises");
    push(checks, format!("{name}: largest von Mises stress [MPa]"), peak, known.peak, 0.08 * known.peak);
    let [up, along] = known.velocity;
    let mass = 2.0 * o.ledger.initial / 500.0;
    push(checks, format!("{name}: velocity upwards"), o.last("pz") / mass, up, 0.02 * up);
    // without friction nothing pushes along the plate
    let (origin, of_speed) = if known.friction_share == 0.0 { (Exact, 1e-12) } else { (Prototype, 0.02) };
    let friction_share = o.last("all.jy") / o.last("all.jz");
    checks.extend([
        origin.within(format!("{name}: velocity along"), o.last("py") / mass, along, -of_speed * along),
        origin.within(
            format!("{name}: impulse along the plate over that on it"),
            friction_share,
            known.friction_share,
            0.02 * known.friction_share + 1e-12,
        ),
    ]);
    checks.extend([
        Exact.at_most(format!("{name}: energy gained"), gained(o), 1e-12),
        Exact.at_most(format!("{name}: drift of momentum"), o.balance.linear_drift_max, 1e-12),
        Exact.at_most(format!("{name}: largest energy error"), o.ledger.error_max_rel(), 0.01),
    ]);
}

/// Nodes that touch faces, beside those of a prototype.
fn touching_pairs(o: &[Outcome]) -> Drawing {
    let rows = o.iter().zip(&KNOWN).filter(|(_, known)| !known.pairs[0].is_nan()).flat_map(|(o, known)| {
        let own = (0..6).map(|k| count(o.at("pairs", COUNTED * f64::from(k))));
        let other = known.pairs.into_iter().map(count);
        [
            std::iter::once(o.name.clone()).chain(own).collect(),
            std::iter::once("prototype".into()).chain(other).collect::<Vec<_>>(),
        ]
    });
    Sheet {
        title: "Nodes that touch faces".into(),
        caption: "Both ways, no gap between them but round-off; time in ms".into(),
        head: vec!["", "0", "10", "20", "30", "40", "50"],
        rows: rows.collect(),
    }
    .draw()
}

pub(super) const CUBES_25: Published = Published {
    name: "cubes-25",
    method: "semi-explicit",
    source: "own set-up after Peng, Feng & Joli 2018, second example: places of the cubes are not printed",
    parts: |_| {
        let smooth = |text: String| text.replace("friction = 0.5", "friction = 0");
        let half = deck().replace("size = 1e-4", "size = 5e-5");
        [
            ("rough", deck()),
            ("smooth", smooth(deck())),
            ("rough-half-step", half),
            ("rough-touching", touching()),
            ("smooth-touching", smooth(touching())),
        ]
        .map(|(name, text)| Part::watched(name, text, look))
        .into()
    },
    checks: |o| {
        let mut checks = Vec::new();
        for (o, known) in o.iter().zip(&KNOWN) {
            compare(o, known, &mut checks);
        }
        let [rough, smooth] = [&o[0], &o[1]];
        let mass = 2.0 * smooth.ledger.initial / 500.0;
        let along = largest(smooth.column("py").iter().map(|p| (p / mass + 10.0).abs()));
        checks.extend([
            Exact.within("pairs that touch at the start", rough.at("pairs", 0.0), 80.0, 0.0),
            Exact.at_most("smooth: velocity along, off what it was", along, 1e-12),
            Exact.at_most("smooth: askew", smooth.most("askew"), 1e-6),
            Paper.at_least(
                "rough: largest stress over that without friction",
                rough.most("mises") / smooth.most("mises"),
                1.0,
            ),
            Paper.at_least("rough: askew at 8.5 ms", rough.at("askew", 0.0085), 0.1),
            Paper.at_least(
                "rough: nodes lifted under the lowest cube at 8.5 ms",
                rough.at("lifted", 0.0085),
                1.0,
            ),
            Paper.at_most("rough: lifted, not all of them", rough.at("lifted", 0.0085), 15.0),
        ]);
        checks
    },
    figures: |o| {
        let time: Vec<f64> = o[0].column("time").into_iter().map(|t| 1e3 * t).collect();
        let panel =
            |column: &str, heading: &str, unit: &str, scale: f64, known: [(Vec<f64>, Vec<f64>); 2]| Panel {
                heading: heading.into(),
                unit: unit.into(),
                curves: [(&o[0], "friction 0.5", 0), (&o[1], "none", 1)]
                    .map(|(o, label, hue)| {
                        curve(label, label, o.column(column).into_iter().map(|e| scale * e).collect(), hue)
                    })
                    .into(),
                references: known
                    .into_iter()
                    .enumerate()
                    .map(|(hue, (x, y))| Reference {
                        name: heading.into(),
                        from: String::new(),
                        x,
                        y,
                        colour: HUES[hue],
                    })
                    .collect(),
                height: 170.0,
                ..Panel::default()
            };
        let at = |times: &[f64], values: &[f64]| (times.iter().map(|t| 1e3 * t).collect(), values.to_vec());
        let tens = [0.01, 0.02, 0.03, 0.04, 0.05];
        let energies = [0, 1].map(|k| at(&tens, &KNOWN[k].energy));
        let stresses = [0, 1].map(|k| at(&INSTANTS, &KNOWN[k].mises));
        let share = 1.0 / o[0].ledger.initial;
        let drawn = Figure {
            title: "Twenty-five cubes on a plate".into(),
            caption: "rings: a prototype".into(),
            along: "time".into(),
            time: &time,
            time_unit: "ms".into(),
            panels: vec![
                panel("total", "energy", "of the initial", share, energies),
                panel("mises", "largest von Mises stress", "MPa", 1e-6, stresses),
            ],
            note: String::new(),
            ..Figure::default()
        };
        vec![("energy-and-stress".into(), drawn.draw()), ("pairs".into(), touching_pairs(o))]
    },
};
