//! A cube is thrown at the corner of eighteen others (`asynchronous`, Wolff & Bucher 2013): E₀ = 4, P = (2, 2, 0),
//! L = (−4, 4, 0) about the origin.
//!
//! In full size tetrahedra and hexahedra in turn, integrated at nodes, 2 to 9 along an edge: as many potentials and
//! surface nodes as published. For a quick look hexes with 2×2×2 points, 2 and 3 along an edge in turn; what its cube does
//! is known from a prototype of the method. How high the blow throws it depends on how stiff the corner is that hits it: at
//! t = 1 it has risen by 1.65 there, by 1.55 with the full meshes and points in the cells, by 1.38 with points at nodes.

use super::bars::miscounted;
use super::{Check, Outcome, Part, Published, deck_of, largest};

/// Hexes, to t = 1; `more` are tables at the end.
fn small(more: &str) -> String {
    let mut text = String::from(
        "title = \"Small assembly of blocks\"\nmethod = \"asynchronous\"\nend = 1.0\n\n[material.rubber]\n\
         law = \"st-venant-kirchhoff\"\nyoung = 1000.0\npoisson = 0.3\ndensity = 1.0\n\n\
         [body.single]\nmesh = { shape = \"box\", size = [1, 1, 1], cells = [3, 3, 3], at = [-1, -1, 1.5], \
         rotate = { axis = [1, -1, 0], angle = 45 } }\nmaterial = \"rubber\"\nvelocity = [2, 2, 0]\n\n",
    );
    for k in 0..2 {
        for j in 0..3 {
            for i in 0..3 {
                let n = 2 + (i + j + k) % 2;
                text += &format!(
                    "[body.cube-{i}{j}{k}]\nmaterial = \"rubber\"\n\
                     mesh = {{ shape = \"box\", size = [1, 1, 1], cells = [{n}, {n}, {n}], at = [{i}, {j}, {k}] }}\n\n"
                );
            }
        }
    }
    text + more + "\n[probe.single]\nbody = \"single\"\n\n[output]\nhistory = 100\nframes = 0\n"
}

/// β, time between contact checks [s] and the energy error of a prototype for the small assembly.
const RUNS: [(f64, f64, f64); 4] =
    [(0.25, 1.8e-3, 0.011), (0.5, 3.7e-3, 0.029), (0.125, 1.8e-3, 0.0024), (0.125, 0.9e-3, 0.0029)];
/// Critical step of the smaller elements, a/√((3λ+2μ)/ρ) [s].
const CRITICAL: f64 = 1.0 / 150.0;

fn run_of((safety, look, _): (f64, f64, f64)) -> Part {
    let share = look / (safety * CRITICAL);
    let tables =
        format!("[step]\nsafety = {safety}\n\n[asynchronous]\ncontact_step = {{ smallest = {share} }}\n");
    Part::new(format!("small-{safety}-{look}"), small(&tables))
}

pub(super) const BLOCK_ASSEMBLY: Published = Published {
    name: "block-assembly",
    method: "asynchronous",
    source: "Wolff & Bucher 2013, assembly of eighteen blocks and one",
    parts: |quick| {
        let mut parts = vec![run_of(RUNS[0])];
        if !quick {
            parts.extend(RUNS[1..].iter().map(|&run| run_of(run)));
            let paper = "[step]\nsafety = 0.25\n\n[asynchronous]\nmode = \"paper\"\n";
            parts.push(Part::new("small-paper", small(paper)));
            parts.push(Part::new("full", deck_of("block-assembly")));
        }
        parts
    },
    checks: |o| {
        let mut checks = small_checks(&o[0]);
        if o[0].quick {
            return checks;
        }
        for (o, (.., energy)) in o.iter().zip(RUNS) {
            checks.push(Check::at_most(format!("{}: energy off, relative", o.name), energy_error(o), energy));
        }
        let worse = energy_error(&o[4]) / energy_error(&o[0]);
        checks.push(Check::at_least("small-paper: energy error over that of the usual mode", worse, 10.0));
        let full = &o[5];
        checks.extend(common_checks(full, [24_884.0, 3752.0], 4.0));
        checks.push(Check::within("full: smallest critical step", full.kicks[0].0 / 0.125, 1.525e-3, 1e-6));
        checks.push(Check::at_least(
            "full: rise of the single cube at t = 1",
            full.at("single.uz", 1.0),
            1.0,
        ));
        checks
    },
    figures: |_| Vec::new(),
};

fn common_checks(o: &Outcome, [potentials, nodes]: [f64; 2], end: f64) -> Vec<Check> {
    let name = &o.name;
    let counted = o.kicks.iter().map(|k| k.1).sum::<u64>() as f64;
    let spin = off(o, ["lx", "ly", "lz"], [-4.0, 4.0, 0.0]);
    vec![
        Check::within(format!("{name}: potentials"), counted, potentials, 0.0),
        Check::within(format!("{name}: surface nodes"), o.surface_nodes as f64, nodes, 0.0),
        Check::at_most(format!("{name}: energy off, of that it began with"), energy_error(o), 0.01),
        Check::at_most(
            format!("{name}: drift of momentum"),
            off(o, ["px", "py", "pz"], [2.0, 2.0, 0.0]),
            1e-11,
        ),
        Check::at_most(format!("{name}: drift of angular momentum"), spin, 1e-10),
        Check::at_most(format!("{name}: kicks miscounted"), miscounted(o, end), 0.0),
    ]
}

fn small_checks(o: &Outcome) -> Vec<Check> {
    let mut checks = common_checks(o, [342.0, 794.0], 1.0);
    // 2 %, of the smallest also half a digit; then less well known; later it is chaotic
    for (t, u, relative, digit) in [
        (0.1, [0.189, 0.189, 0.015], 0.02, 8e-4),
        (0.2, [0.332, 0.332, 0.083], 0.02, 8e-4),
        (0.4, [0.39, 0.39, 0.41], 0.0, 0.02),
        (1.0, [0.18, 0.18, 1.63], 0.0, 0.05),
    ] {
        for (axis, u) in ["single.ux", "single.uy", "single.uz"].into_iter().zip(u) {
            let name = format!("{}: {axis} at t = {t}", o.name);
            checks.push(Check::within(name, o.at(axis, t), u, f64::max(relative * u, digit)));
        }
    }
    checks.push(Check::within(
        format!("{}: strain energy at t = 0.2", o.name),
        o.at("strain", 0.2),
        1.6,
        0.1,
    ));
    checks
}

fn energy_error(o: &Outcome) -> f64 {
    largest(o.column("total").iter().map(|e| (e / 4.0 - 1.0).abs()))
}

/// Largest distance of a vector of the history from what it should be.
fn off(o: &Outcome, names: [&str; 3], exact: [f64; 3]) -> f64 {
    let columns = names.map(|n| o.column(n));
    let rows = columns[0].len();
    let distance = |row: usize| (0..3).map(|k| (columns[k][row] - exact[k]).powi(2)).sum::<f64>().sqrt();
    largest((0..rows).map(distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::{Input, load};
    use std::path::Path;

    /// Smallest, largest and mean critical step of all potentials, nodes and cells alike.
    #[test]
    fn the_potentials_of_the_assembly_have_the_steps_they_should_have() {
        let options = ["asynchronous.steps=\"free\"".to_owned(), "step.safety=0.5".to_owned()];
        let text = deck_of("block-assembly");
        let input = Input { name: "block-assembly", text: &text, folder: Path::new("."), options: &options };
        let kicks = load(&input).unwrap_or_else(|e| panic!("{e}")).kicks;
        let count: u64 = kicks.iter().map(|k| k.1).sum();
        let mean = kicks.iter().map(|k| k.0 * k.1 as f64).sum::<f64>() / count as f64;
        let (least, most) = (kicks[0].0, kicks[kicks.len() - 1].0);
        for (found, known, digit) in [(least, 1.525e-3, 1e-6), (most, 2.0e-2, 5e-4), (mean, 3.42e-3, 3.42e-5)]
        {
            assert!((2.0 * found - known).abs() <= digit, "{found} {known}");
        }
    }
}
