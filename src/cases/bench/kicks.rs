//! The asynchronous method: kicks of potentials and checks for contact, each by the time spent on them.
//!
//! | case       | measured                                                                    |
//! |------------|-----------------------------------------------------------------------------|
//! | `hex8`, `tet4`, `tet4-nodal` | a free graded block of one kind: kicks per second           |
//! | `assembly` | the example `block-assembly` in its first blow: kicks, and contact checks of surface nodes and edges |

use super::Measurement;
use crate::cases::example;
use crate::deck::{self, Input};
use crate::method::Method;
use crate::method::asynchronous::{Asynchronous, ContactStep, Options};
use crate::model::Ledger;
use crate::run::{Case, pool};
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub const CASES: [&str; 4] = ["hex8", "tet4", "tet4-nodal", "assembly"];

/// Measures one case; nothing if there is no such case.
pub fn measure(case: &str, threads: usize) -> Vec<Measurement> {
    let block = |cell: &str, cells: u32, integration: &str| {
        format!(
            "method = \"asynchronous\"\nend = 1\n[body.block]\n\
             mesh = {{ shape = \"box\", size = [1, 1, 1], cells = [{cells}, {cells}, {cells}], cell = \"{cell}\", grading = [4, 1, 1] }}\n\
             material = {{ law = \"st-venant-kirchhoff\", young = 1000, poisson = 0.3, density = 1 }}\n\
             integration = \"{integration}\"\nspin = [0, 0, 1]\n"
        )
    };
    let (text, end) = match case {
        "hex8" => (block("hex8", 20, "full"), 0.2),
        "tet4" => (block("tet4", 14, "full"), 0.2),
        "tet4-nodal" => (block("tet4", 14, "nodal"), 0.1),
        "assembly" => (example("block-assembly").map_or(String::new(), |e| e.text.to_owned()), 0.1),
        _ => return Vec::new(),
    };
    let Ok(pool) = pool(threads) else { return Vec::new() };
    pool.install(|| {
        let input = Input { name: case, text: &text, folder: Path::new("."), options: &[] };
        let Ok(loaded) = deck::load(&input) else { return Vec::new() };
        let safety = loaded.spec.step.safety.unwrap_or(0.5);
        run(case, loaded.case, safety, end, threads)
    })
}

fn run(name: &str, case: Case, safety: f64, end: f64, threads: usize) -> Vec<Measurement> {
    let Case { model, mut state, .. } = case;
    let options = Options { safety, contact_step: ContactStep::Local(safety), ..Options::default() };
    let mut method = Asynchronous::new(&model, options);
    let (mut ledger, stop) = (Ledger::default(), AtomicBool::new(false));
    let done = method
        .start(&model, &mut state, &mut ledger)
        .and_then(|()| method.advance(&model, &mut state, end, &mut ledger, &stop));
    if done.is_err() {
        return Vec::new();
    }
    let counted = method.counters(&ledger);
    let phases = &ledger.phases;
    let kicks = counted.element_kicks as f64 / phases.force;
    let mut figures = vec![Measurement::plain("kicks", name.into(), threads, kicks, "kicks/s")];
    if counted.contact_checks > 0 && name == "assembly" {
        let checks = counted.contact_checks as f64 / (phases.search + phases.response);
        figures.push(Measurement::plain("kicks", format!("{name}/checks"), threads, checks, "checks/s"));
    }
    figures
}
