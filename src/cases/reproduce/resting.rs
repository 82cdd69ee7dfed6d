//! One disc that is thrown on the floor, and a stack that stands (`semi-explicit`): answers that are known.

use super::Origin::*;
use super::bars::curve;
use super::cylinders::gained;
use super::watch::Seen;
use super::{Outcome, Part, Published, deck_of, largest};
use crate::look::chart::{Figure, Panel, Reference};
use crate::look::colour::HUES;
use crate::run::Look;

/// A disc of radius 0.14 m, 0.14 m above the floor, of a core of `core`² quads in `core`/4 rings.
fn disc(core: u32, step: &str, friction: f64, velocity: [f64; 2]) -> String {
    let [x, y] = velocity;
    format!(
        "title = \"A disc on the floor\"\nmethod = \"semi-explicit\"\nend = 0.012\n\n[body.disc]\n\
         mesh = {{ shape = \"disc\", radius = 0.14, core_cells = {core}, layers = {}, at = [0, 0.14, 0] }}\n\
         material = {{ law = \"blatz-ko\", shear = 2e6, density = 800 }}\nvelocity = [{x}, {y}, 0]\n\n\
         [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 1, 0] }}\n\n[contact]\nfriction = {friction}\n\n\
         [step]\nsize = {step}\n\n[probe.disc]\nbody = \"disc\"\n\n[probe.floor]\ncontact = \"floor\"\n\n\
         [output]\nhistory = 120\nframes = 0\n",
        core / 4
    )
}

/// Share of the energy that the nodes of the surface lost when they were stopped.
fn lost(o: &Outcome) -> f64 {
    o.last("restitution") / o.ledger.initial
}

pub(super) const THROWN_DISC: Published = Published {
    name: "thrown-disc",
    method: "semi-explicit",
    source: "a disc bounces and slides: what its surface loses, and Coulomb's law",
    parts: |_| {
        let down = [0.0, -20.0];
        let diverging = Part::new("too-long", disc(8, "1e-3", 0.0, down));
        vec![
            Part::new("usual", disc(8, "1e-5", 0.0, down)),
            Part::new("coarse", disc(4, "2e-5", 0.0, down)),
            Part::new("fine", disc(16, "5e-6", 0.0, down)),
            Part::new("finest", disc(32, "2.5e-6", 0.0, down)),
            Part::new("sliding", disc(8, "1e-5", 0.2, [40.0, -20.0])),
            Part::new("turning", disc(8, "1e-5", 0.2, [20.0, -20.0])),
            Part { too_long: true, ..diverging },
        ]
    },
    checks: |o| {
        let [usual, sliding, turning, too_long] = [&o[0], &o[4], &o[5], &o[6]];
        let friction_share = |o: &Outcome| (o.last("floor.jx") / o.last("floor.jy")).abs();
        let mass = 2.0 * sliding.ledger.initial / (40.0 * 40.0 + 20.0 * 20.0);
        let slowed = mass * (40.0 - sliding.last("disc.vx")) / sliding.last("floor.jy").abs();
        let stable = too_long.too_long.unwrap_or(f64::NAN);
        let mut checks = vec![
            Prototype.within("rebound [m/s]", usual.last("disc.vy"), 14.39, 0.05),
            Prototype.within("energy that the surface loses", lost(usual), 0.043, 0.003),
            Exact.within("sliding: friction over pressure", friction_share(sliding), 0.2, 1e-6),
            Exact.within("sliding: momentum lost along, over that across", slowed, 0.2, 1e-6),
            Exact.at_most(
                "turning back in part: friction over pressure",
                friction_share(turning),
                0.2 - 1e-6,
            ),
            Exact.at_most("a step of 1e-3 s is too long: stable one over it", stable, 1.0),
        ];
        for (rough, smooth) in [(&o[1], &o[0]), (&o[0], &o[2]), (&o[2], &o[3])] {
            let name = format!("loss of the {} mesh over that of the {} one", rough.name, smooth.name);
            // what is lost is the energy of one layer of surface nodes, as deep as half an edge
            checks.push(Exact.within(name, lost(rough) / lost(smooth), 2.0, 0.2));
        }
        for o in &o[..6] {
            let name = &o.name;
            let (drift, error) = (o.balance.linear_drift_max, o.ledger.error_max_rel());
            checks.push(Exact.at_most(format!("{name}: energy gained"), gained(o), 1e-12));
            checks.push(Exact.at_most(format!("{name}: drift of momentum"), drift, 1e-12));
            checks.push(Exact.at_most(format!("{name}: largest energy error"), error, 0.01));
        }
        checks
    },
    figures: |o| {
        let meshes = [(&o[3], 32.0), (&o[2], 16.0), (&o[0], 8.0), (&o[1], 4.0)];
        let size: Vec<f64> = meshes.iter().map(|(_, core)| 1.0 / core).collect();
        let known = Reference {
            name: "loss".into(),
            from: String::new(),
            x: size.clone(),
            y: vec![1.08, 2.16, 4.27, 8.18],
            colour: HUES[0],
        };
        let figure = Figure {
            title: "What the surface of a disc loses".into(),
            caption: "by contact with the floor; rings: a prototype".into(),
            along: "1 / elements along the core".into(),
            time: &size,
            time_unit: String::new(),
            panels: vec![Panel {
                heading: "energy lost".into(),
                unit: "%".into(),
                curves: vec![curve("loss", "", meshes.iter().map(|(o, _)| 100.0 * lost(o)).collect(), 0)],
                references: vec![known],
                height: 200.0,
                ..Panel::default()
            }],
            note: String::new(),
            ..Figure::default()
        };
        vec![("loss".into(), figure.draw())]
    },
};

/// How far nodes are from where they stood when three quarters of the run were over [m]: they have stopped ringing.
fn standing(look: &Look, seen: &mut Seen) {
    let x = &look.state.x;
    if look.state.time < 0.75 * look.case.end {
        seen.push("way", 0.0);
        return;
    }
    if seen.positions.is_empty() {
        seen.positions.push(x.clone());
    }
    let way = seen.positions[0].iter().zip(x).map(|(from, to)| (to - from).norm());
    seen.push("way", largest(way));
}

pub(super) const BLOCK_STACK: Published = Published {
    name: "block-stack",
    method: "semi-explicit",
    source: "ten blocks that stand on each other",
    parts: |quick| {
        let text = deck_of("block-stack");
        let text = if quick { text } else { text.replace("end    = 2.0", "end    = 10.0") };
        vec![Part::watched("", text, standing)]
    },
    checks: |o| {
        let o = &o[0];
        let weight = 10.0 * 0.004 * 800.0 * 9.81;
        vec![
            Exact.within("force on the floor [N]", -o.last("floor.fz"), weight, 1e-3 * weight),
            Exact.at_most(
                "force along the floor [N]",
                o.last("floor.fx").hypot(o.last("floor.fy")),
                1e-6 * weight,
            ),
            Exact.at_most("kinetic energy left [J]", o.last("kinetic"), 1e-9),
            Exact.at_most("deepest overlap [m]", o.ledger.penetration_max, 1e-9),
            Exact.at_most("way of any node in the last quarter [m]", o.most("way"), 1e-9),
            Exact.at_most("momentum sideways [N s]", o.most("px").max(o.most("py")), 1e-9),
        ]
    },
    figures: |_| Vec::new(),
};
