//! Thin shells that hit each other (Cirak & West 2005, sections 6.1 to 6.4), answered by `dcr`.
//!
//! The paper leaves offsets, meshes and one thickness open; decks complete them, and figures to compare with come from an
//! independent program for the same decks. They were taken with plastic stick; friction of the paper's (45), which
//! prints half of Coulomb's bound, is that of half the coefficient.

use super::bars::curve;
use super::impacts::{books, lost};
use super::watch::Seen;
use super::{Check, Outcome, Part, Published, deck_of, largest};
use crate::look::chart::{Figure, Panel, Reference};
use crate::look::colour::HUES;
use crate::look::draw::Drawing;
use crate::look::sheet::Sheet;
use crate::math::Vec3;
use crate::run::Look;

const PAPER: &str =
    "Cirak & West 2005, Decomposition contact response (DCR) for explicit finite element dynamics";

/// Coefficients of friction of the paper.
const FRICTION: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Energy at 16 ms over the initial one, of an independent program: with contact after the predictor, and after the full
/// step, at these coefficients.
const AFTER_PREDICTOR: [f64; 5] = [0.9961, 0.9040, 0.8799, 0.8729, 0.8730];
const AFTER_FULL_STEP: [f64; 5] = [1.0045, 0.9189, 0.8929, 0.8962, 0.8965];
/// The same with half the friction, as the paper prints it; contact after the predictor.
const AS_PRINTED: [f64; 5] = [0.9961, 0.9399, 0.9040, 0.8856, 0.8799];
/// What these figures are good for.
const SPREAD: f64 = 0.01;

fn spheres(variant: &str, stick: &str, friction: f64) -> String {
    let more = format!("stick    = \"{stick}\"\nfriction = {friction}");
    deck_of("sphere-sphere").replace("friction = 0", &more) + &format!("\n[dcr]\nvariant = \"{variant}\"\n")
}

/// Energy at the end over the initial one.
fn left(o: &Outcome) -> f64 {
    o.ledger.total() / o.ledger.initial
}

/// Largest strain energy over the initial energy.
fn strain(o: &Outcome) -> f64 {
    o.most("strain") / o.ledger.initial
}

/// When the probe `blow` was first and last pushed [s].
fn pushed(o: &Outcome) -> [f64; 2] {
    let (time, push) = (o.column("time"), o.column("blow.fx"));
    let hit: Vec<f64> = time.iter().zip(&push).filter(|(_, f)| **f != 0.0).map(|(t, _)| *t).collect();
    [hit.first(), hit.last()].map(|t| t.copied().unwrap_or(f64::NAN))
}

/// How much the energy ever rises above what it was before, of the initial one.
fn rise(o: &Outcome) -> f64 {
    let (mut least, mut rise) = (f64::INFINITY, 0.0_f64);
    for total in o.column("total") {
        least = least.min(total);
        rise = rise.max((total - least) / o.ledger.initial);
    }
    rise
}

pub(super) const SPHERE_SPHERE: Published = Published {
    name: "sphere-sphere",
    method: "dcr",
    source: PAPER,
    parts: |_| {
        let mut parts = Vec::new();
        for (name, variant, share) in [
            ("predictor", "predictor", 1.0),
            ("full-step", "full-step", 1.0),
            ("as-printed", "predictor", 0.5),
        ] {
            for mu in FRICTION.into_iter().filter(|mu| share == 1.0 || *mu > 0.0) {
                parts.push(Part::new(format!("{name}-{mu}"), spheres(variant, "plastic", share * mu)));
            }
        }
        // sticking that takes no energy: the default
        let elastic = FRICTION.into_iter().filter(|mu| *mu > 0.0);
        parts.extend(
            elastic.map(|mu| Part::new(format!("default-{mu}"), spheres("predictor", "elastic", mu))),
        );
        parts
    },
    checks: |o| {
        let mut checks = Vec::new();
        let table = AFTER_PREDICTOR.iter().chain(&AFTER_FULL_STEP).chain(&AS_PRINTED[1..]);
        for (o, known) in o.iter().zip(table) {
            let what = format!("{}: energy at the end, of the initial", o.name);
            checks.push(Check::within(what, left(o), *known, SPREAD));
        }
        for smooth in [&o[0], &o[5]] {
            let off = largest(smooth.column("total").iter().map(|e| (e / smooth.ledger.initial - 1.0).abs()));
            checks.extend([
                Check::at_most(format!("{}: energy, off the initial one", smooth.name), off, 0.03),
                Check::within(format!("{}: largest strain energy", smooth.name), strain(smooth), 0.40, 0.05),
                Check::within(format!("{}: first blow [s]", smooth.name), pushed(smooth)[0], 4.8e-4, 1.2e-4),
                Check::within(format!("{}: last blow [s]", smooth.name), pushed(smooth)[1], 0.0134, 1e-3),
            ]);
        }
        for of in [&o[..5], &o[5..10]] {
            let loss = |k: usize| left(&of[0]) - left(&of[k]);
            let name = &of[0].name;
            checks.extend([
                Check::at_least(format!("{name}: loss by friction 0.25"), loss(1), 0.03),
                Check::at_least(format!("{name}: loss at 0.5 over that at 0.25"), loss(2) / loss(1), 1.0),
                Check::at_most(
                    format!("{name}: loss from 0.5 to 1, of that from 0.25 to 0.5"),
                    (loss(4) - loss(2)) / (loss(2) - loss(1)),
                    0.5,
                ),
            ]);
        }
        for o in o {
            let name = &o.name;
            let (p, l) = (o.balance.linear_drift_max, o.balance.angular_drift_max);
            checks.push(Check::at_most(format!("{name}: drift of momentum"), p, 1e-12));
            checks.push(Check::at_most(format!("{name}: drift of angular momentum"), l, 1e-3));
            let error = o.ledger.error_max_rel();
            checks.push(Check::at_most(format!("{name}: largest energy error, relative"), error, 0.005));
            if !name.ends_with("-0") {
                checks.push(Check::at_most(format!("{name}: rise of the energy"), rise(o), 0.002));
            }
        }
        checks
    },
    figures: |o| {
        let time: Vec<f64> = o[0].column("time").into_iter().map(|t| 1e3 * t).collect();
        let of = |column: &str, parts: std::ops::Range<usize>| -> Vec<_> {
            let share = |o: &Outcome| o.column(column).into_iter().map(|e| e / o.ledger.initial).collect();
            let part = |(k, o): (usize, &Outcome)| {
                let label = format!("μ = {}", FRICTION[k]);
                curve(&label, &label, share(o), k)
            };
            o[parts].iter().enumerate().map(part).collect()
        };
        let ends = |known: &[f64]| -> Vec<Reference> {
            let ring = |(k, e): (usize, &f64)| Reference {
                name: "another program".into(),
                x: vec![16.0],
                y: vec![*e],
                colour: HUES[k % HUES.len()],
            };
            known.iter().enumerate().map(ring).collect()
        };
        let panel = |heading: &str, curves, references| Panel {
            heading: heading.into(),
            unit: "of the initial".into(),
            curves,
            references,
            height: 170.0,
            ..Panel::default()
        };
        let figure = |title: &str, panels| {
            Figure {
                title: title.into(),
                caption: "plastic stick; rings: an independent program".into(),
                along: "time".into(),
                time: &time,
                time_unit: "ms".into(),
                panels,
                note: String::new(),
                ..Figure::default()
            }
            .draw()
        };
        vec![
            (
                "energy".into(),
                figure(
                    "Two hollow spheres: energy and friction",
                    vec![
                        panel("total energy, predictor", of("total", 0..5), ends(&AFTER_PREDICTOR)),
                        panel("total energy, full step", of("total", 5..10), ends(&AFTER_FULL_STEP)),
                        panel("strain energy, predictor", of("strain", 0..5), Vec::new()),
                    ],
                ),
            ),
            ("losses".into(), losses(o)),
        ]
    },
};

/// Energy lost at the end, of the initial [%]: by law and coefficient.
fn losses(o: &[Outcome]) -> Drawing {
    let row = |name: &str, values: Vec<f64>| -> Vec<String> {
        std::iter::once(name.to_owned())
            .chain(values.iter().map(|e| format!("{:.2}", 100.0 * (1.0 - e))))
            .collect()
    };
    let own = |parts: std::ops::Range<usize>| -> Vec<f64> { o[parts].iter().map(left).collect() };
    let smooth = left(&o[0]);
    let with = |rest: Vec<f64>| std::iter::once(smooth).chain(rest).collect();
    Sheet {
        title: "Two hollow spheres: energy lost at 16 ms, % of the initial".into(),
        caption: "plastic stick but for the last row; as printed: half of Coulomb's bound".into(),
        head: vec!["friction", "0", "0.25", "0.5", "0.75", "1"],
        rows: vec![
            row("after the predictor", own(0..5)),
            row("another program", AFTER_PREDICTOR.to_vec()),
            row("after the full step", own(5..10)),
            row("another program", AFTER_FULL_STEP.to_vec()),
            row("as printed", with(own(10..14))),
            row("another program", AS_PRINTED.to_vec()),
            row("elastic stick", with(own(14..18))),
        ],
    }
    .draw()
}

/// Least distance between the centres of mass of two bodies [m].
fn nearest(look: &Look, seen: &mut Seen) {
    let (model, state) = (&look.case.model, look.state);
    let centre = |body: &crate::model::Body| {
        let (mut mass, mut sum) = (0.0, Vec3::zeros());
        for k in body.nodes.clone() {
            mass += model.mass[k];
            sum += model.mass[k] * state.x[k];
        }
        sum / mass
    };
    let centres: Vec<Vec3> = model.bodies.iter().map(centre).collect();
    let mut least = f64::INFINITY;
    for (i, a) in centres.iter().enumerate() {
        least = centres[..i].iter().fold(least, |least, b| least.min((a - b).norm()));
    }
    seen.push("nearest", least);
}

/// Energies and the momentum of one run.
fn energies(o: &Outcome, title: &str) -> Drawing {
    let time: Vec<f64> = o.column("time").into_iter().map(|t| 1e3 * t).collect();
    let share = |name: &str| o.column(name).into_iter().map(|e| e / o.ledger.initial).collect::<Vec<f64>>();
    let energy = ["total", "kinetic", "strain"];
    let energy = energy.iter().enumerate().map(|(k, name)| curve(name, name, share(name), k)).collect();
    let momentum = ["px", "py", "pz"];
    let momentum =
        momentum.iter().enumerate().map(|(k, name)| curve(name, name, o.column(name), k)).collect();
    let panel = |heading: &str, unit: &str, curves| Panel {
        heading: heading.into(),
        unit: unit.into(),
        curves,
        height: 170.0,
        ..Panel::default()
    };
    Figure {
        title: title.into(),
        caption: String::new(),
        along: "time".into(),
        time: &time,
        time_unit: "ms".into(),
        panels: vec![panel("energy", "of the initial", energy), panel("momentum", "N s", momentum)],
        note: String::new(),
        ..Figure::default()
    }
    .draw()
}

pub(super) const FIVE_CUBES: Published = Published {
    name: "five-cubes",
    method: "dcr",
    source: PAPER,
    parts: |quick| {
        let text = deck_of("five-cubes");
        let text = if quick { text.replace("end    = 0.07", "end    = 0.03") } else { text };
        vec![Part::watched("", text, nearest)]
    },
    checks: |o| {
        let o = &o[0];
        let row = o.column("time").get(1).copied().unwrap_or(f64::NAN);
        let met = pushed(o)[0];
        let off = largest(o.column("total").iter().map(|e| (e / o.ledger.initial - 1.0).abs()));
        let mut checks = vec![
            // the row that holds it ends one row later at most
            Check::within(
                "first contact, 0.25 m / 60 m/s [s]",
                met,
                0.25 / 60.0 + 0.5 * row,
                0.5 * row + 2e-5,
            ),
            Check::within("largest strain energy, of the whole", strain(o), 0.215, 0.035),
            Check::within("initial energy [J]", o.ledger.initial, 5011.08, 0.005 * 5011.08),
            Check::at_most("energy, off the initial one", off, 0.02),
            Check::at_least("nearest centres at 30 ms [m]", o.at("nearest", 0.03), 1.05),
            Check::at_most(
                "deepest overlap, three steps of the way [m]",
                o.ledger.penetration_max,
                3.0 * 104.0 * 2e-5,
            ),
            Check::at_most("drift of angular momentum", o.balance.angular_drift_max, 5e-4),
        ];
        checks.extend(books(o, 0.005));
        checks
    },
    figures: |o| vec![("energy".into(), energies(&o[0], "Five hollow cubes"))],
};

pub(super) const CUBES_76: Published = Published {
    name: "76-cubes",
    method: "dcr",
    source: PAPER,
    parts: |quick| {
        let text = deck_of("76-cubes");
        let text = match quick {
            false => text,
            true => text
                .replace("count = [3, 5, 5]", "count = [2, 2, 2]")
                .replace("at = [-1.55, -2.6, -2.6]", "at = [-1.025, -1.025, -1.025]")
                .replace("at = [-2.8, 0.65, 0.65]", "at = [-2.275, 0.125, 0.125]")
                .replace("end    = 0.21", "end    = 0.05"),
        };
        vec![Part::watched("", text, nearest)]
    },
    checks: |o| {
        let o = &o[0];
        let near = o.column("nearest").into_iter().fold(f64::INFINITY, f64::min);
        let bodies = if o.quick { 9.0 } else { 76.0 };
        let energy = 1002.217 * bodies;
        let p = &o.summary.phase_seconds;
        let contact = (p.search + p.response) / o.step_seconds();
        let mut checks = vec![
            Check::within("initial energy [J]", o.ledger.initial, energy, 0.005 * energy),
            Check::within("energy lost, of the initial one", lost(o), 0.0, 0.03),
            Check::at_most("deepest overlap, guarded [m]", o.ledger.penetration_max, 1e-6 * 0.25),
            Check::at_least("nearest centres [m]", near, 0.7),
            Check::at_most("drift of angular momentum", o.balance.angular_drift_max, 5e-4),
        ];
        if !o.quick {
            checks.push(Check::at_most("search and response, share of the steps", contact, 0.3));
        }
        checks.extend(books(o, 0.005));
        checks
    },
    figures: |o| vec![("energy".into(), energies(&o[0], "Seventy-six hollow cubes"))],
};

/// Instants [s], kinetic and strain energy [J] of an independent program.
const WRAPPING: [[f64; 3]; 6] = [
    [0.0005, 0.1431, 0.0417],
    [0.0010, 0.1024, 0.0820],
    [0.0015, 0.0770, 0.1071],
    [0.0020, 0.0786, 0.1055],
    [0.0025, 0.0679, 0.1163],
    [0.0030, 0.0786, 0.1056],
];
/// Initial energy of the sphere and the plate [J].
const SPHERE_PLATE_ENERGY: f64 = 0.18476;

pub(super) const SPHERE_PLATE: Published = Published {
    name: "sphere-plate",
    method: "dcr",
    source: PAPER,
    parts: |_| Part::only(deck_of("sphere-plate")),
    checks: |o| {
        let o = &o[0];
        let mut checks = vec![
            Check::within(
                "initial energy [J]",
                o.ledger.initial,
                SPHERE_PLATE_ENERGY,
                0.005 * SPHERE_PLATE_ENERGY,
            ),
            Check::within("largest strain energy, of the initial", strain(o), 0.64, 0.05),
        ];
        for [t, kinetic, strain] in WRAPPING {
            let ms = 1e3 * t;
            let room = 0.05 * SPHERE_PLATE_ENERGY;
            checks.push(Check::within(
                format!("kinetic energy at {ms} ms"),
                o.at("kinetic", t),
                kinetic,
                room,
            ));
            checks.push(Check::within(format!("strain energy at {ms} ms"), o.at("strain", t), strain, room));
        }
        let off = largest(o.column("total").iter().map(|e| (e / o.ledger.initial - 1.0).abs()));
        // six-fold symmetric: no angular momentum, and none comes
        let spin = ["lx", "ly", "lz"].map(|l| o.most(l)).into_iter().fold(0.0, f64::max);
        let (time, push) = (o.column("time"), o.column("blow.fz"));
        let window = |k: usize| {
            let (from, to) = (2e-5 + 2e-4 * k as f64, 2e-5 + 2e-4 * (k + 1) as f64);
            time.iter().zip(&push).any(|(t, f)| *t > from && *t <= to && *f != 0.0)
        };
        let silent = (0..9).filter(|k| !window(*k)).count();
        checks.extend([
            Check::at_most("energy, off the initial one", off, 0.03),
            Check::at_most("angular momentum [kg m²/s]", spin, 1e-8),
            Check::at_most("windows of 0.2 ms up to 2 ms without a blow", silent as f64, 0.0),
            Check::at_most("deepest overlap, of an edge", o.ledger.penetration_max / 0.0146, 0.05),
        ]);
        checks.extend(books(o, 0.005));
        checks
    },
    figures: |o| {
        let o = &o[0];
        let time: Vec<f64> = o.column("time").into_iter().map(|t| 1e3 * t).collect();
        let share =
            |name: &str| o.column(name).into_iter().map(|e| e / o.ledger.initial).collect::<Vec<f64>>();
        let energy = ["total", "kinetic", "strain"];
        let curves = energy.iter().enumerate().map(|(k, name)| curve(name, name, share(name), k)).collect();
        let rings = |i: usize| Reference {
            name: "another program".into(),
            x: WRAPPING.iter().map(|w| 1e3 * w[0]).collect(),
            y: WRAPPING.iter().map(|w| w[i] / SPHERE_PLATE_ENERGY).collect(),
            colour: HUES[i % HUES.len()],
        };
        let momentum = ["px", "py", "pz"];
        let momentum: Vec<_> =
            momentum.iter().enumerate().map(|(k, name)| curve(name, name, o.column(name), k)).collect();
        let panel = |heading: &str, unit: &str, curves, references| Panel {
            heading: heading.into(),
            unit: unit.into(),
            curves,
            references,
            height: 170.0,
            ..Panel::default()
        };
        let figure = Figure {
            title: "A hollow sphere on a free plate".into(),
            caption: "rings: an independent program".into(),
            along: "time".into(),
            time: &time,
            time_unit: "ms".into(),
            panels: vec![
                panel("energy", "of the initial", curves, vec![rings(1), rings(2)]),
                panel("momentum", "N s", momentum, Vec::new()),
            ],
            note: String::new(),
            ..Figure::default()
        };
        vec![("energy".into(), figure.draw())]
    },
};
