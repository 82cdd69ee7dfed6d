//! Blocks carried by `asynchronous` (Wolff & Bucher 2013): one that slides, one that rolls, and two small ones.
//!
//! A block 1×1×1 of 3×3×3 hexes (ρ = 1, gravity 1) is thrown at speed 1 along a fixed plate, μ = ½. A rigid one goes
//! u = t − t²/4 until t = 2 and rests at u = 1; friction takes ½ v² = 0.5. Tilts and bounds are those of a prototype of the
//! method; where that one cannot be relied upon, late in the rolling, methods are compared that find and answer contacts in
//! ways of their own.

use super::Origin::*;
use super::bars::{curve, miscounted};
use super::{Check, Outcome, Part, Published, deck_of, largest};
use crate::look::chart::{Figure, Panel, Reference};
use crate::look::colour::HUES;

/// Bounds are those of programs whose sticking stops all slip, as the scheme was published.
fn plastic(example: &str) -> String {
    deck_of(example).replace("friction = 0.5", "stick = \"plastic\"\nfriction = 0.5")
}

/// The energy that friction takes.
const ENERGY: f64 = 0.5;

fn rigid(t: f64) -> f64 {
    if t < 2.0 { t - 0.25 * t * t } else { 1.0 }
}

/// Angle of the line from the middle of the bottom to that of the top, against the vertical [degrees].
fn tilt(o: &Outcome) -> Vec<f64> {
    let of = |name: &str| o.column(name);
    let (x, z) =
        (of("top.ux").into_iter().zip(of("bottom.ux")), of("top.uz").into_iter().zip(of("bottom.uz")));
    let angles = x.zip(z).map(|((top_x, x), (top_z, z))| (top_x - x).atan2(1.0 + top_z - z).to_degrees());
    // it may go on beyond half a turn
    let mut last: f64 = 0.0;
    angles
        .map(|a| {
            last = a + 360.0 * ((last - a) / 360.0).round();
            last
        })
        .collect()
}

/// From the table in the deck.
fn books(o: &Outcome) -> f64 {
    o.most("error") / ENERGY
}

/// When the mean speed over 0.2 s falls to a hundredth of the first: a rigid block stops 0.01 s earlier.
fn stop(o: &Outcome) -> f64 {
    let end = o.last("time");
    let speed = |t: f64| (o.at("bottom.ux", t + 0.1) - o.at("bottom.ux", t - 0.1)) / 0.2;
    let times = (20..).map(|k| 0.01 * f64::from(k)).take_while(|t| *t < end - 0.1);
    times.into_iter().find(|&t| speed(t) <= 0.01).unwrap_or(f64::NAN)
}

pub(super) const SLIDING_BLOCK: Published = Published {
    name: "sliding-block",
    method: "asynchronous",
    source: "Wolff & Bucher 2013, sliding block: friction and restraints; plastic stick",
    parts: |_| {
        let text = plastic("sliding-block");
        let with = |safety: f64, look: f64| {
            format!(
                "{text}[step]\nsafety = {safety}\n\n[asynchronous]\ncontact_step = {{ local = {look} }}\n"
            )
        };
        let rollers = "fix      = true\n\n[[body.block.support]]\nset = \"ymin\"\ndirections = [\"y\"]\n\n\
                       [[body.block.support]]\nset = \"ymax\"\ndirections = [\"y\"]\n";
        let paper = "[step]\nsafety = 0.5\n\n[asynchronous]\nmode = \"paper\"\n";
        let friction = |mu: &str| text.replace("friction = 0.5", &format!("friction = {mu}"));
        vec![
            Part::new("usual", text.clone()),
            Part::new("rare", with(0.5, 1.0)),
            Part::new("short", with(0.25, 0.25)),
            Part::new("smooth", friction("0")),
            Part::new("rough", friction("10")),
            Part::new("rollers", text.replace("fix      = true\n", rollers)),
            Part::new("paper", text.clone() + paper),
        ]
    },
    checks: |all| {
        let mut checks = Vec::new();
        let bounds = [(0.01, 0.015, 0.15, 4.0), (0.03, 0.04, 0.35, 5.0), (0.01, 0.005, 0.15, 4.0)];
        for (o, (end, energy, late, most)) in all.iter().zip(bounds) {
            let name = &o.name;
            let (time, u) = (o.column("time"), o.column("bottom.ux"));
            let off = largest(time.iter().zip(&u).map(|(t, u)| (u - rigid(*t)).abs()));
            let left = o.last("total") - o.last("external");
            let tilted = largest(tilt(o).into_iter().map(f64::abs));
            let late = Exact.within(format!("{name}: time at which it stops"), stop(o), 2.0, late);
            let tilted = Prototype.at_most(format!("{name}: largest tilt [degrees]"), tilted, most);
            // bounds of the others, where contact is looked for at every second kick
            let trembles = "0.15 s and 4 degrees: it trembles longer, by what hangs on the step, 0.2 to 0.3 s and 3.9 to 4.7 degrees";
            let moved = |check: Check| if name == "rare" { check.moved(trembles) } else { check };
            checks.extend([late, tilted].map(moved));
            checks.extend([
                Exact.within(format!("{name}: displacement at the end"), o.last("bottom.ux"), 1.0, end),
                Exact.at_most(format!("{name}: largest distance from the rigid block"), off, 0.04),
                Exact.within(format!("{name}: energy that friction takes"), o.last("friction"), 0.5, 0.015),
                Prototype.at_most(format!("{name}: energy left at the end"), left, 0.012),
                Exact.at_most(format!("{name}: energy error, of what friction takes"), books(o), energy),
                Exact.at_most(format!("{name}: drift of momentum"), o.balance.linear_drift_max, 1e-12),
            ]);
        }
        let [smooth, rough, rollers, paper] = [&all[3], &all[4], &all[5], &all[6]];
        checks.push(Exact.within("smooth: momentum along x", smooth.last("px"), 1.0, 1e-3));
        checks.push(Prototype.within("rough: displacement", rough.last("bottom.ux"), 0.38, 0.05));
        checks.push(Exact.within("rollers: displacement", rollers.last("bottom.ux"), 1.0, 0.01));
        checks.push(Prototype.at_least(
            "paper: energy error over the usual one",
            books(paper) / books(&all[0]),
            10.0,
        ));
        checks
    },
    figures: |all| {
        let o = &all[0];
        let time = o.column("time");
        let rows: Vec<f64> = (0..=30).map(|k| 0.1 * f64::from(k)).collect();
        let reference = Reference {
            name: "rigid".into(),
            from: String::new(),
            y: rows.iter().map(|t| rigid(*t)).collect(),
            x: rows,
            colour: HUES[0],
        };
        let figure = Figure {
            title: "A block that slides".into(),
            caption: "mean of its bottom; rings: a rigid block".into(),
            along: "time".into(),
            time: &time,
            time_unit: String::new(),
            panels: vec![
                Panel {
                    heading: "bottom.ux".into(),
                    curves: vec![curve("bottom.ux", "", o.column("bottom.ux"), 0)],
                    references: vec![reference],
                    height: 180.0,
                    ..Panel::default()
                },
                Panel {
                    heading: "tilt".into(),
                    unit: "degrees".into(),
                    curves: vec![curve("tilt", "", tilt(o), 1)],
                    height: 90.0,
                    ..Panel::default()
                },
            ],
            note: String::new(),
            ..Figure::default()
        };
        vec![("slide".into(), figure.draw())]
    },
};

/// Time and tilt [degrees] of a prototype, known to 2°. Later on it is void: it kept the normals of the undeformed block.
const TILTS: [(f64, f64); 4] = [(0.3, 2.0), (0.6, 10.0), (0.9, 23.0), (1.2, 38.9)];

/// A value of some rows at a time between two of them.
fn between(rows: &[(f64, f64)], time: f64) -> f64 {
    let after = rows.partition_point(|r| r.0 < time);
    match (rows.get(after.wrapping_sub(1)), rows.get(after)) {
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (time - a.0) / (b.0 - a.0),
        (_, Some(only)) if only.0 == time => only.1,
        // the last instant, but for the rounding of a step
        (Some(last), None) if time - last.0 < 1e-6 * time => last.1,
        _ => f64::NAN,
    }
}

fn tilts(o: &Outcome) -> Vec<(f64, f64)> {
    o.column("time").into_iter().zip(tilt(o)).collect()
}

fn tilt_at(o: &Outcome, time: f64) -> f64 {
    between(&tilts(o), time)
}

/// When it has turned by 90°.
fn on_front(o: &Outcome) -> f64 {
    let rows = tilts(o);
    let after = rows.iter().position(|r| r.1 >= 90.0).unwrap_or(0);
    // time over tilt, where it turns one way
    let turned: Vec<(f64, f64)> = rows[after.saturating_sub(1)..=after].iter().map(|r| (r.1, r.0)).collect();
    between(&turned, 90.0)
}

pub(super) const ROLLING_BLOCK: Published = Published {
    name: "rolling-block",
    method: "asynchronous",
    source: "Wolff & Bucher 2013, rolling block",
    parts: |_| {
        let text = deck_of("rolling-block");
        let young = |e: &str| text.replace("young   = 10.0 ", &format!("young   = {e} "));
        let by = |method: &str, text: String| {
            text.replace("method = \"asynchronous\"", &format!("method = \"{method}\""))
        };
        vec![
            Part::new("soft", text.clone()),
            Part::new("soft-dcr", by("dcr", text.clone())),
            Part::new("soft-semi-explicit", by("semi-explicit", text.clone())),
            Part::new("stiffer", young("20.0")),
            Part::new("stiffer-dcr", by("dcr", young("20.0"))),
            Part::new("stiffer-semi-explicit", by("semi-explicit", young("20.0"))),
            Part::new("stiff", young("100.0")),
        ]
    },
    checks: |all| {
        let soft = &all[0];
        let mut checks: Vec<Check> = TILTS
            .iter()
            .map(|&(t, angle)| Prototype.within(format!("tilt at t = {t}"), tilt_at(soft, t), angle, 2.0))
            .collect();
        // methods that find and answer contacts in ways of their own agree; no other program has been asked
        for o in [soft, &all[1], &all[2]] {
            let name = &o.name;
            checks.push(Own.within(format!("{name}: tilt at t = 1.5"), tilt_at(o, 1.5), 58.5, 1.0));
            checks.push(Own.within(
                format!("{name}: time at which it stands on its front"),
                on_front(o),
                2.11,
                0.05,
            ));
        }
        for other in [&all[4], &all[5]] {
            let name = format!("twice as stiff: tilt at the end, beside {}", &other.name["stiffer-".len()..]);
            checks.push(Own.within(name, tilt_at(&all[3], 3.0), tilt_at(other, 3.0), 2.0));
        }
        let upright = largest(tilt(&all[6]).into_iter().map(f64::abs));
        checks.extend([
            Exact.at_most("energy error, of that it began with", books(soft), 0.01),
            Prototype.at_most("ten times as stiff: largest tilt", upright, 4.0),
            Exact.at_most("drift of momentum", soft.balance.linear_drift_max, 1e-12),
        ]);
        checks
    },
    figures: |all| {
        let time = all[0].column("time");
        let table = Reference {
            name: "prototype".into(),
            from: String::new(),
            x: TILTS.iter().map(|t| t.0).collect(),
            y: TILTS.iter().map(|t| t.1).collect(),
            colour: HUES[0],
        };
        let figure = Figure {
            title: "Blocks that roll or slide".into(),
            caption: "from the bottom to the top; rings: a prototype of the method".into(),
            along: "time".into(),
            time: &time,
            time_unit: String::new(),
            panels: vec![Panel {
                heading: "tilt".into(),
                unit: "degrees".into(),
                curves: ([0, 3, 6].into_iter().zip(["E = 10", "E = 20", "E = 100"]).enumerate())
                    .map(|(k, (part, label))| curve("tilt", label, tilt(&all[part]), k))
                    .collect(),
                references: vec![table],
                height: 220.0,
                ..Panel::default()
            }],
            note: String::new(),
            ..Figure::default()
        };
        vec![("tilt".into(), figure.draw())]
    },
};

pub(super) const TWO_HEXES: Published = Published {
    name: "two-hexes",
    method: "asynchronous",
    source: "two equal elements meet head on and exchange their momenta",
    parts: |_| {
        let hex = |name: &str, at: &str, speed: &str| {
            format!(
                "[body.{name}]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [1, 1, 1], at = [{at}, 0, 0] }}\n\
                 material = {{ law = \"linear\", young = 1.0, poisson = 0.0, density = 1.0 }}\nvelocity = [{speed}, 0, 0]\n\n"
            )
        };
        Part::only(format!(
            "title = \"Two elements head on\"\nmethod = \"asynchronous\"\nend = 10.0\n\n{}{}\
             [step]\nsafety = 0.02\n\n[asynchronous]\ncontact_step = {{ local = 0.02 }}\n\n\
             [probe.left]\nbody = \"left\"\n\n[probe.right]\nbody = \"right\"\n\n[probe.push]\nbetween = [\"left\", \"right\"]\n\n\
             [output]\nhistory = 40\nframes = 0\n",
            hex("left", "-1.1", "0.1"),
            hex("right", "0.1", "-0.1"),
        ))
    },
    checks: |o| {
        let o = &o[0];
        // who pushes has contacts, and nobody else: also where they have parted before the row ends
        let rows = o.column("push.fx").into_iter().zip(o.column("contacts"));
        let odd = rows.filter(|(push, contacts)| (*push != 0.0) != (*contacts != 0.0)).count() as f64;
        vec![
            Exact.at_most("rows with a push and no contacts, or the other way round", odd, 0.0),
            Exact.within("velocity of the left one after", o.last("left.vx"), -0.1, 2e-3),
            Exact.within("velocity of the right one after", o.last("right.vx"), 0.1, 2e-3),
            Exact.within("impulse", o.last("push.jx"), -0.2, 2e-3),
            Exact.at_most("largest energy error, relative", o.ledger.error_max_rel(), 0.01),
            Exact.at_most("drift of momentum", o.balance.linear_drift_max, 1e-12),
            Exact.at_most("kicks miscounted", miscounted(o, 10.0), 0.0),
        ]
    },
    figures: |_| Vec::new(),
};

pub(super) const SPINNING_BLOCK: Published = Published {
    name: "spinning-block",
    method: "asynchronous",
    source: "a free body that spins and deforms keeps its momenta through a hundred thousand kicks",
    parts: |_| {
        Part::only(
            "title = \"Spinning block\"\nmethod = \"asynchronous\"\nend = 8.0\n\n\
             [body.block]\nmesh = { shape = \"box\", size = [2, 1, 0.5], cells = [8, 4, 3], grading = [4, 1, 1] }\n\
             material = { law = \"st-venant-kirchhoff\", young = 100.0, poisson = 0.3, density = 1.0 }\n\
             velocity = [0.3, -0.2, 0.1]\nspin = [0.5, 0.2, 3.0]\n\n[step]\nsafety = 0.25\n\n[probe.block]\nbody = \"block\"\n"
                .into(),
        )
    },
    checks: |o| {
        let o = &o[0];
        vec![
            Exact.at_least("kicks", o.summary.element_kicks as f64, 1e5),
            Exact.at_most("kicks miscounted", miscounted(o, 8.0), 0.0),
            Exact.at_most("drift of momentum", o.balance.linear_drift_max, 1e-12),
            Exact.at_most("drift of angular momentum", o.balance.angular_drift_max, 1e-12),
            Exact.at_most("largest energy error, relative", o.ledger.error_max_rel(), 0.01),
            Exact.within("way of its centre along x", o.last("block.ux"), 0.3 * o.last("time"), 1e-10),
        ]
    },
    figures: |_| Vec::new(),
};
