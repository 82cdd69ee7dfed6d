//! Dense contact: the two hundred cubes of the example `cube-pile` where they lie closest, by each explicit method.
//!
//! | case                  | measured                                                                          |
//! |-----------------------|-----------------------------------------------------------------------------------|
//! | `pile-dcr`, `pile-asynchronous`, `pile-semi-explicit` | a step and its phases: ms, and ns per surface node; memory of the search |
//! | `growth`              | 200 cubes and 25 such piles side by side by `dcr`: exponent of the time of a step in the number of cubes |
//!
//! All begin with the same state, reached by `dcr` once in a process. Times are medians over steps. With more threads a run on one
//! thread takes turns with the other, as in [`super::contacts`], and in the end both must have the same bits. A step of
//! `asynchronous` is one of its windows: in it everybody is kicked and checked about once.

use super::Measurement;
use super::contacts::{TURN, WAKE, median};
use crate::cases::example;
use crate::deck::{self, Input};
use crate::math::Vec3;
use crate::model::ledger::Phases;
use crate::model::{Ledger, State};
use crate::run::awake::awake;
use crate::run::{Case, memory, pool};
use rayon::ThreadPool;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// When the pile has most contacts [s].
const DENSE: f64 = 0.41;
/// The box of the example is this wide [m].
const BOX: f64 = 1.1;
/// Piles along each side of the large one.
const SIDES: u32 = 5;
/// Turns that are measured, and those of the large pile, whose steps are long.
const TURNS: u32 = 6;
const FEW: u32 = 1;

pub const CASES: [&str; 4] = ["pile-dcr", "pile-asynchronous", "pile-semi-explicit", "growth"];

/// The example with `sides`² boxes side by side, without the walls between them.
fn deck(sides: u32, method: &str) -> String {
    let text = example("cube-pile").map_or("", |e| e.text);
    let text = text.replace("\"dcr\"", &format!("{method:?}"));
    let mut out = Vec::new();
    for part in text.split("\n\n") {
        if !part.starts_with("[body.cube]") {
            let last = 0.55 + BOX * f64::from(sides - 1);
            let part =
                part.replace("[0.55,", &format!("[{last},")).replace("[0, 0.55,", &format!("[0, {last},"));
            out.push(part);
            continue;
        }
        for k in 0..sides * sides {
            let [x, y] = [k % sides, k / sides].map(|i| BOX * f64::from(i) - 0.43);
            let part = part.replace("body.cube", &format!("body.cube-{k}"));
            out.push(part.replace("at = [-0.43, -0.43,", &format!("at = [{x}, {y},")));
        }
    }
    out.join("\n\n")
}

fn load(sides: u32, method: &str) -> Option<Case> {
    let text = deck(sides, method);
    let input = Input { name: "pile", text: &text, folder: Path::new("."), options: &[] };
    Some(deck::load(&input).ok()?.case)
}

/// Positions and velocities of the dense pile. The same bits for any number of threads.
fn dense(pool: &ThreadPool) -> Option<&'static State> {
    static STATE: OnceLock<Option<State>> = OnceLock::new();
    let reach = || {
        let Case { model, mut state, mut method, .. } = load(1, "dcr")?;
        let (mut ledger, never) = (Ledger::default(), AtomicBool::new(false));
        method.start(&model, &mut state, &mut ledger).ok()?;
        method.advance(&model, &mut state, DENSE, &mut ledger, &never).ok()?;
        Some(state)
    };
    STATE.get_or_init(|| pool.install(reach)).as_ref()
}

/// Wall time of a step, and of its phases [s].
#[derive(Clone, Copy)]
struct Times {
    step: f64,
    phases: Phases,
}

impl Times {
    fn contact(&self) -> f64 {
        self.phases.search + self.phases.response
    }
}

/// One run.
struct Side {
    pool: ThreadPool,
    case: Case,
    ledger: Ledger,
    /// Of each step that counts.
    steps: Vec<Times>,
}

impl Side {
    fn new(sides: u32, method: &str, threads: usize) -> Option<Side> {
        let pool = pool(threads).ok()?;
        let dense = dense(&pool)?;
        let mut case = pool.install(|| load(sides, method))?;
        let mut ledger = Ledger::default();
        let nodes = dense.x.len();
        for k in 0..sides * sides {
            let offset = BOX * Vec3::new(f64::from(k % sides), f64::from(k / sides), 0.0);
            let from = k as usize * nodes;
            for (to, x) in case.state.x[from..from + nodes].iter_mut().zip(&dense.x) {
                *to = x + offset;
            }
            case.state.v[from..from + nodes].copy_from_slice(&dense.v);
        }
        let Case { model, state, method, .. } = &mut case;
        pool.install(|| method.start(model, state, &mut ledger)).ok()?;
        Some(Side { pool, case, ledger, steps: Vec::new() })
    }

    /// Some steps; those after the first few count.
    fn turn(&mut self) -> Option<()> {
        let never = AtomicBool::new(false);
        for step in 0..TURN {
            let Side { pool, case: Case { model, state, method, .. }, ledger, steps } = self;
            let (before, count, begin) = (ledger.phases, state.step, Instant::now());
            while state.step == count {
                let until = state.time + 0.5 * method.next_step();
                pool.install(|| awake(|| method.advance(model, state, until, ledger, &never))).ok()?;
            }
            if step >= WAKE {
                let now = ledger.phases;
                let phases = Phases {
                    force: now.force - before.force,
                    search: now.search - before.search,
                    response: now.response - before.response,
                    solve: now.solve - before.solve,
                };
                steps.push(Times { step: begin.elapsed().as_secs_f64(), phases });
            }
        }
        Some(())
    }

    fn median(&self, part: impl Fn(&Times) -> f64) -> f64 {
        median(self.steps.iter().map(part).collect())
    }

    /// How much faster than `alone` a step is, in the median.
    fn ratio(&self, alone: &Side, part: impl Fn(&Times) -> f64) -> f64 {
        median(self.steps.iter().zip(&alone.steps).map(|(own, alone)| part(alone) / part(own)).collect())
    }

    fn surface_nodes(&self) -> f64 {
        let scene = self.case.model.contact.scene(&self.case.model, true);
        scene.slots.len() as f64
    }
}

type Part = (&'static str, fn(&Times) -> f64);

const PARTS: [Part; 5] = [
    ("step", |t| t.step),
    ("search", |t| t.phases.search),
    ("response", |t| t.phases.response),
    ("force", |t| t.phases.force),
    ("nodes", |t| t.phases.solve),
];

/// Measures one case; nothing if there is no such case or its run has failed.
pub fn measure(case: &str, threads: usize) -> Vec<Measurement> {
    let mut figures = Vec::new();
    let mut add = |what: &str, value: f64, unit: &'static str| {
        let name = format!("{case}/{what}");
        figures.push(Measurement::plain("contacts", name, threads, value, unit));
    };
    let done = match case.strip_prefix("pile-") {
        Some(method) => pile(method, threads, &mut add),
        None => growth(threads, &mut add),
    };
    if done.is_none() { Vec::new() } else { figures }
}

fn pile(method: &str, threads: usize, add: &mut impl FnMut(&str, f64, &'static str)) -> Option<()> {
    let mut own = Side::new(1, method, threads)?;
    let mut one = if threads > 1 { Some(Side::new(1, method, 1)?) } else { None };
    for turn in 0..=TURNS {
        for side in [Some(&mut own), one.as_mut()].into_iter().flatten() {
            side.turn()?;
            if turn == 0 {
                side.steps.clear();
            }
        }
    }
    let nodes = own.surface_nodes();
    for (name, part) in PARTS {
        add(name, 1e3 * own.median(part), "ms a step");
    }
    for (name, part) in PARTS {
        add(&format!("{name}/node"), 1e9 * own.median(part) / nodes, "ns per surface node");
    }
    add("contact-over-force", own.median(Times::contact) / own.median(|t| t.phases.force), "ratio");
    add("memory/node", own.case.method.search_bytes() as f64 / nodes, "bytes of the search per surface node");
    if let Some(one) = &one {
        for (name, part) in PARTS {
            add(&format!("{name}/ratio"), own.ratio(one, part), "times as fast as one thread");
        }
        add("contact/ratio", own.ratio(one, Times::contact), "times as fast as one thread");
        let same = one.case.state == own.case.state && one.ledger == own.ledger;
        add("same-bits", f64::from(u8::from(same)), "(1: as with one thread)");
    }
    Some(())
}

fn growth(threads: usize, add: &mut impl FnMut(&str, f64, &'static str)) -> Option<()> {
    let mut small = Side::new(1, "dcr", threads)?;
    let before = memory::resident().unwrap_or(0);
    let mut large = Side::new(SIDES, "dcr", threads)?;
    for turn in 0..=FEW {
        for side in [&mut small, &mut large] {
            side.turn()?;
            if turn == 0 {
                side.steps.clear();
            }
        }
    }
    let resident = memory::resident().unwrap_or(0).saturating_sub(before) as f64;
    let (few, many) = (small.surface_nodes(), large.surface_nodes());
    for (name, part) in PARTS {
        let (short, long) = (small.median(part), large.median(part));
        add(name, 1e3 * long, "ms a step of 5000 cubes");
        add(&format!("{name}/exponent"), (long / short).ln() / (many / few).ln(), "exponent in cubes");
    }
    add(
        "memory/node",
        large.case.method.search_bytes() as f64 / many,
        "bytes of the search per surface node",
    );
    add("memory/all", resident / many, "bytes of the whole run per surface node");
    Some(())
}
