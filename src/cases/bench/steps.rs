//! Implicit steps in contact: what each part of one costs, from 10³ to 10⁵ unknowns.
//!
//! A cube of hexahedra (edge 1, E = 1000, ν = 0.3, ρ = 1) has just met a plane with the velocity (.5, .2, −1) and slides on it with friction 0.3, by `velocity-update` with
//! steps as long as the stable one. The first step, in which it lands, is not counted.
//!
//! | figure                                | measured, per step                                                  |
//! |---------------------------------------|---------------------------------------------------------------------|
//! | `step`, `iterations`, `points`        | wall time [s], of Newton's method, in contact                       |
//! | `force`, `assembly`, `factors`, `solutions` | forces of elements; the matrix, its factors, solutions with them [s] |
//! | `search`, `contact`, `update`         | candidates; points and tractions; the velocity update and the books [s] |
//! | `memory`                              | resident memory of the program [bytes]                              |
//!
//! `100k` is measured by name only: it takes a minute.

use super::Measurement;
use crate::cases::bipotential::Thrown;
use crate::deck::{self, Input};
use crate::math::Vec3;
use crate::method::velocity_update::{Options, Seconds, VelocityUpdate};
use crate::method::{Method, StepRule};
use crate::run::{memory, pool};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Names, cells along an edge (1029, 10 125 and 98 304 unknowns), and steps that are counted.
const CASES: [(&str, u32, u32); 3] = [("1k", 6, 30), ("10k", 14, 10), ("100k", 31, 3)];

/// Cases that are quick enough to be measured with all others, and the one that must be named.
pub fn cases() -> impl Iterator<Item = &'static str> {
    CASES[..2].iter().map(|c| c.0)
}

pub fn long_cases() -> impl Iterator<Item = &'static str> {
    CASES[2..].iter().map(|c| c.0)
}

fn thrown(cells: u32) -> Option<Thrown<VelocityUpdate>> {
    let text = format!(
        "method = \"velocity-update\"\nend = 1\n[contact]\nfriction = 0.3\n\
         [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[body.cube]\n\
         mesh = {{ shape = \"box\", size = [1, 1, 1], cells = [{cells}, {cells}, {cells}], at = [0, 0, 1e-4] }}\n\
         material = {{ law = \"st-venant-kirchhoff\", young = 1000, poisson = 0.3, density = 1 }}\n"
    );
    let input = Input { name: "steps", text: &text, folder: Path::new("."), options: &[] };
    let model = deck::load(&input).ok()?.case.model;
    let step = StepRule::Fixed(model.stable_step());
    let method = VelocityUpdate::new(&model, step, Options::default()).ok()?;
    Thrown::new(model, method, Vec3::new(0.5, 0.2, -1.0)).ok()
}

/// Measures one case; nothing if there is no such case.
pub fn measure(case: &str, threads: usize) -> Vec<Measurement> {
    let Ok(pool) = pool(threads) else { return Vec::new() };
    pool.install(|| told(case, threads).unwrap_or_default())
}

fn told(case: &str, threads: usize) -> Option<Vec<Measurement>> {
    let &(_, cells, steps) = CASES.iter().find(|c| c.0 == case)?;
    let mut run = thrown(cells)?;
    let never = AtomicBool::new(false);
    let go = |run: &mut Thrown<VelocityUpdate>| {
        let until = run.state.time + 0.5 * run.method.next_step();
        run.method.advance(&run.model, &mut run.state, until, &mut run.ledger, &never).ok()
    };
    go(&mut run)?;
    let (before, search) = (run.method.seconds(), run.ledger.phases.search);
    let (effort, begin) = (run.method.effort().0, Instant::now());
    let mut points = 0;
    for _ in 0..steps {
        go(&mut run)?;
        points += run.ledger.contacts;
    }
    let step = begin.elapsed().as_secs_f64();
    let now = run.method.seconds();
    let since = |part: fn(&Seconds) -> f64| part(&now) - part(&before);
    let figures = [
        ("step", step, "s"),
        ("iterations", (run.method.effort().0 - effort) as f64, "a step"),
        ("points", points as f64, "in contact"),
        ("force", since(|s| s.force), "s"),
        ("assembly", since(|s| s.assembly), "s"),
        ("factors", since(|s| s.factors), "s"),
        ("solutions", since(|s| s.solutions), "s"),
        ("search", run.ledger.phases.search - search, "s"),
        ("contact", since(|s| s.contact), "s"),
        ("update", since(|s| s.update), "s"),
    ];
    let tell = |name: &str, value: f64, unit| {
        Measurement::plain("steps", format!("{case}/{name}"), threads, value, unit)
    };
    let mut all: Vec<_> =
        figures.iter().map(|(name, sum, unit)| tell(name, sum / f64::from(steps), unit)).collect();
    all.push(tell("memory", memory::resident().unwrap_or(0) as f64, "bytes"));
    Some(all)
}
