//! A pebble with elements ten times smaller hits a large block: a few short steps among many long ones.
//!
//! Of the elements less than one per cent are small. Velocity Verlet takes their step for all; with steps in classes the
//! block's are eight times as long, so it is kicked an eighth as often.

use super::Origin::*;
use super::bars::miscounted;
use super::{Outcome, Part, Published};

/// Cells along an edge of the pebble and of the block, and when it ends.
fn size(quick: bool) -> (u32, u32, f64) {
    if quick { (3, 10, 0.04) } else { (6, 32, 0.04) }
}

fn deck(method: &str, quick: bool) -> String {
    let (fine, coarse, end) = size(quick);
    let edge = 0.2 * f64::from(fine) / f64::from(coarse);
    format!(
        r#"title  = "A pebble hits a block"
method = "{method}"
end    = {end}

[material.rubber]
law     = "st-venant-kirchhoff"
young   = 1000.0
poisson = 0.3
density = 1.0

[body.block]
mesh     = {{ shape = "box", size = [2, 2, 2], cells = [{coarse}, {coarse}, {coarse}] }}
material = "rubber"

[body.pebble]
mesh     = {{ shape = "box", size = [{edge}, {edge}, {edge}], cells = [{fine}, {fine}, {fine}], at = [0.96, 0.98, 2.01], rotate = {{ axis = [1, 2, 0], angle = 10 }} }}
material = "rubber"
velocity = [0, 0, -5]

[step]
safety = 0.25

[probe.pebble]
body = "pebble"

[output]
history = 50
frames  = 0
"#
    )
}

pub(super) const PEBBLE: Published = Published {
    name: "pebble",
    method: "asynchronous",
    source: "one region ten times finer: time and accuracy beside velocity Verlet",
    parts: |quick| ["asynchronous", "verlet"].map(|method| Part::new(method, deck(method, quick))).into(),
    checks: |o| {
        let [own, verlet] = [&o[0], &o[1]];
        let kicks = |o: &Outcome| o.summary.element_kicks as f64;
        let (fine, coarse, end) = size(own.quick);
        let [fine, coarse] = [fine, coarse].map(|n| f64::from(n).powi(3));
        let spared = (fine + coarse) / (fine + coarse / 8.0);
        let error = |o: &Outcome| o.ledger.error_max_rel();
        let drift = own.balance.linear_drift_max.max(own.balance.angular_drift_max);
        let mut checks = vec![
            Exact.within("kicks spared", kicks(verlet) / kicks(own), spared, 0.02 * spared),
            Exact.at_most("largest energy error, relative", error(own), 0.01),
            Own.at_most("largest energy error, less that of verlet", error(own) - error(verlet), 1e-3),
            Exact.at_most("drift of momenta", drift, 1e-12),
            Exact.at_most("kicks miscounted", miscounted(own, end) + miscounted(verlet, end), 0.0),
            Own.within(
                "velocity of the pebble, beside verlet",
                own.last("pebble.vz"),
                verlet.last("pebble.vz"),
                0.25,
            ),
        ];
        if !own.quick {
            // rows of the history, which follow the stress at every point, cost both the same
            let of = |o: &Outcome| o.summary.loop_seconds - o.summary.phase_seconds.output;
            let ratio = of(verlet) / of(own);
            checks.push(Own.at_least("time of verlet over its own", ratio, 4.0));
        }
        checks
    },
    figures: |_| Vec::new(),
};
