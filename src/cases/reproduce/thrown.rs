//! Bodies of foam rubber thrown into a notch and on a plate, and a stack that stands (Peng, Feng & Joli 2018; geometry
//! completed): `semi-explicit`, and beside it `bipotential-implicit`.
//!
//! Figures are those of an independent program for the same geometry. The implicit scheme costs more for every step and
//! survives longer ones.

use super::bars::curve;
use super::{Check, Outcome, Part, Published, deck_of, largest};
use crate::look::chart::{Figure, Panel};

const SOURCE: &str = "Peng, Feng & Joli 2018, first example: ten cylinders in a notch";

/// Total energy at a time, of that at the start.
fn energy(o: &Outcome, time: f64) -> f64 {
    o.at("total", time) / o.ledger.initial
}

/// Largest difference of an energy between two runs with the same rows, of the initial one.
fn apart(p: &Outcome, q: &Outcome, column: &str) -> f64 {
    let (a, b) = (p.column(column), q.column(column));
    largest(a.iter().zip(&b).map(|(a, b)| (a - b).abs())) / p.ledger.initial
}

/// Never above what was there.
fn gained(o: &Outcome) -> f64 {
    o.column("total").into_iter().fold(0.0, f64::max) / o.ledger.initial - 1.0
}

pub(super) const TEN_CYLINDERS: Published = Published {
    name: "ten-cylinders",
    method: "semi-explicit",
    source: SOURCE,
    parts: |quick| {
        let text = deck_of("ten-cylinders");
        let with = |method: &str, size: &str, end: &str| {
            text.replace("\"semi-explicit\"", &format!("\"{method}\""))
                .replace("size = 1e-5", &format!("size = {size}"))
                .replace("end    = 0.07", &format!("end    = {end}"))
        };
        let (size, short) = if quick { ("2e-5", "0.003") } else { ("1e-5", "0.07") };
        let diverging = |name: &str, size: &str| Part {
            too_long: true,
            ..Part::new(name, with("semi-explicit", size, "0.07"))
        };
        let mut parts = vec![
            Part::new("semi-explicit", with("semi-explicit", size, "0.07")),
            Part::new("same-step", with("semi-explicit", "5e-5", short)),
            Part::new("implicit", with("bipotential-implicit", "5e-5", short)),
            diverging("ten-times", "1e-4"),
            diverging("hundred-times", "1e-3"),
        ];
        if !quick {
            parts.push(Part::new("implicit-long", with("bipotential-implicit", "1e-4", "0.022")));
        }
        parts
    },
    checks: |o| {
        let own = &o[0];
        let peak = own.most("strain") / own.ledger.initial;
        let cost = o[2].summary.loop_seconds / o[1].summary.loop_seconds;
        let mut checks = vec![
            Check::within("energy at the start", own.ledger.initial, 215_355.0, 50.0),
            Check::within("energy at 20 ms, of that", energy(own, 0.02), 0.753, 0.03),
            Check::within("energy at 40 ms", energy(own, 0.04), 0.628, 0.03),
            Check::within("energy at 70 ms", energy(own, 0.07), 0.623, 0.03),
            Check::within("largest strain energy", peak, 0.540, 0.01),
            Check::at_most("energy gained", gained(own), 1e-3),
            Check::at_most("largest energy error, relative", own.ledger.error_max_rel(), 0.01),
            Check::at_most("drift of momentum", own.balance.linear_drift_max, 1e-12),
            Check::at_least("implicit over semi-explicit: time at 5e-5 s", cost, 5.0),
        ];
        for column in ["kinetic", "strain", "total"] {
            let name = format!("{column} energy apart from the implicit one");
            checks.push(Check::at_most(name, apart(&o[1], &o[2], column), 0.03));
        }
        for (part, size) in [(&o[3], "1e-4"), (&o[4], "1e-3")] {
            let stable = part.too_long.unwrap_or(f64::NAN);
            checks.push(Check::at_most(format!("{size} s is too long: stable step over it"), stable, 1.0));
        }
        if let Some(long) = o.get(5) {
            checks.push(Check::within(
                "implicit with 1e-4 s: energy at 20 ms",
                energy(long, 0.02),
                0.749,
                0.03,
            ));
        }
        checks
    },
    figures: |o| {
        let time = o[1].column("time");
        let panel = |column: &str, heading: &str| Panel {
            heading: heading.into(),
            unit: "of the initial".into(),
            curves: [(&o[1], "semi-explicit", 0), (&o[2], "implicit", 1)]
                .map(|(o, label, hue)| {
                    let y = o.column(column).into_iter().map(|e| e / o.ledger.initial).collect();
                    curve(label, label, y, hue)
                })
                .into(),
            height: 130.0,
            ..Panel::default()
        };
        let figure = Figure {
            title: "Ten cylinders in a notch".into(),
            caption: "energies of both schemes with steps of 5e-5 s".into(),
            along: "time".into(),
            time: &time,
            time_unit: "s".into(),
            panels: vec![
                panel("kinetic", "kinetic energy"),
                panel("strain", "strain energy"),
                panel("total", "both"),
            ],
            note: String::new(),
        };
        vec![("energies".into(), figure.draw())]
    },
};

pub(super) const CUBES_25: Published = Published {
    name: "cubes-25",
    method: "semi-explicit",
    source: "Peng, Feng & Joli 2018, second example: twenty-five cubes on a plate",
    parts: |_| {
        // nodes on faces alone, as the reference has it
        let text = deck_of("cubes-25").replace("pass = \"double\"", "pass = \"double\"\nedge_edge = false");
        let smooth = text.replace("friction = 0.5", "friction = 0");
        vec![Part::new("rough", text), Part::new("smooth", smooth)]
    },
    checks: |o| {
        let mut checks = Vec::new();
        // E/E₀ at 10 … 50 ms, and the velocity of the mass centre at the end: up, sideways
        let tables = [
            (&o[0], [0.820, 0.638, 0.545, 0.457, 0.453], [7.33, -7.66]),
            (&o[1], [0.859, 0.725, 0.659, 0.590, 0.595], [8.51, -10.0]),
        ];
        for (o, energies, [up, along]) in tables {
            let name = &o.name;
            for (k, expected) in energies.into_iter().enumerate() {
                let ms = 10 * (k + 1);
                let found = energy(o, 1e-3 * ms as f64);
                checks.push(Check::within(format!("{name}: energy at {ms} ms"), found, expected, 0.03));
            }
            let mass = 2.0 * o.ledger.initial / 500.0;
            let (z, y) = (o.last("pz") / mass, o.last("py") / mass);
            checks.push(Check::within(format!("{name}: velocity upwards"), z, up, 0.02 * up));
            checks.push(Check::within(format!("{name}: velocity sideways"), y, along, -0.02 * along));
            checks.push(Check::at_most(format!("{name}: energy gained"), gained(o), 1e-3));
            let drift = o.balance.linear_drift_max;
            checks.push(Check::at_most(format!("{name}: drift of momentum"), drift, 1e-12));
            let error = o.ledger.error_max_rel();
            checks.push(Check::at_most(format!("{name}: largest energy error"), error, 0.01));
        }
        let rub = o[0].last("all.jy") / o[0].last("all.jz");
        checks.push(Check::within("rough: impulse along the plate over that on it", rub, 0.0855, 0.005));
        checks
    },
    figures: |_| Vec::new(),
};

pub(super) const BLOCK_STACK: Published = Published {
    name: "block-stack",
    method: "semi-explicit",
    source: "ten blocks that stand on each other",
    parts: |quick| {
        let text = deck_of("block-stack");
        Part::only(if quick { text } else { text.replace("end    = 2.0", "end    = 10.0") })
    },
    checks: |o| {
        let o = &o[0];
        let weight = 10.0 * 0.004 * 800.0 * 9.81;
        vec![
            Check::within("force on the floor [N]", -o.last("floor.fz"), weight, 1e-3 * weight),
            Check::at_most(
                "force along the floor [N]",
                o.last("floor.fx").hypot(o.last("floor.fy")),
                1e-6 * weight,
            ),
            Check::at_most("kinetic energy left [J]", o.last("kinetic"), 1e-9),
            Check::at_most("deepest overlap [m]", o.ledger.penetration_max, 1e-9),
            Check::at_most("momentum sideways [N s]", o.most("px").max(o.most("py")), 1e-9),
        ]
    },
    figures: |_| Vec::new(),
};
