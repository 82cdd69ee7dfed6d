//! Random scenes, and what every scene obeys: two bodies of random shape, law, friction and restitution meet at a random speed.
//! Whatever they do, friction never gives energy, nothing comes from nothing, momentum stays, and nobody passes through the
//! other without a word.
//!
//! A number is a scene: the same everywhere. `carom bench soak` tries as many as fit into its time, with every method in turn.

use crate::deck::{self, Input};
use crate::run::{Look, Observer, ObserverError, Run, RunError, doubts, pool};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Every method with contact; `static` has a scene of its own, a box that is pulled.
pub const METHODS: [&str; 9] = [
    "dcr",
    "asynchronous",
    "verlet",
    "semi-explicit",
    "nonsmooth",
    "bipotential-implicit",
    "velocity-update",
    "newmark-penalty",
    "static",
];

/// A scene that takes longer than this is given up, and counted.
const LONGEST: Duration = Duration::from_secs(60);
/// Momentum may drift by round-off; where steps are solved, by what is left of their balance.
const DRIFT: [f64; 2] = [1e-10, 1e-6];
/// Energy that a scene may end with, of what was there: the error of the schemes is second order in the step.
const GROWN: f64 = 1.05;
/// Sums of thousands of contacts that slide and stick, of the energy that was there.
const ROUND_OFF: f64 = 1e-12;

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        // numbers in a row begin far from each other (the mixer of splitmix64)
        let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Dice(z ^ (z >> 31))
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.unit() * of.len() as f64) as usize % of.len()]
    }
}

/// The deck of a scene.
pub fn deck(seed: u64, method: &str) -> String {
    let mut dice = Dice::new(seed);
    if method == "static" {
        return pulled(&mut dice);
    }
    let law = dice.one_of(&["neo-hookean", "st-venant-kirchhoff"]);
    let speed = dice.between(0.005, 0.1);
    let friction = dice.one_of(&[0.0, 0.2, 0.5, 1.0]);
    let restitution = dice.one_of(&["", "restitution = 0.9\n", "restitution = 0.5\n", "restitution = 1.0\n"]);
    // nobody chooses it there
    let without = ["nonsmooth", "velocity-update", "newmark-penalty"];
    let restitution = if without.contains(&method) { "" } else { restitution };
    let mut text = format!(
        "method = \"{method}\"\nend = {}\n[material.m]\nlaw = \"{law}\"\nyoung = 1.0\npoisson = {}\ndensity = 1.0\n\
         [contact]\nfriction = {friction}\n{restitution}",
        0.3 / speed + 4.0,
        dice.between(0.0, 0.35)
    );
    for (name, way) in [("low", 1.0), ("high", -1.0)] {
        let cells = [0; 3].map(|_| 1 + (3.0 * dice.unit()) as u32);
        let size = [0; 3].map(|_| dice.between(0.5, 1.2));
        // as far from the other as it can reach turned
        let reach = 0.5 * size.iter().map(|s| s * s).sum::<f64>().sqrt();
        let middle = -way * (reach + 0.02);
        let at = [dice.between(-0.2, 0.2), dice.between(-0.2, 0.2), middle];
        let at: Vec<f64> = (0..3).map(|k| at[k] - 0.5 * size[k]).collect();
        let axis = [0; 3].map(|_| dice.between(-1.0, 1.0));
        let slip = 0.5 * speed * dice.between(-1.0, 1.0);
        text += &format!(
            "[body.{name}]\nmesh = {{ shape = \"box\", size = {size:?}, cells = {cells:?}, at = {at:?}, rotate = {{ axis = {axis:?}, \
             angle = {}, about = \"centre\" }} }}\nmaterial = \"m\"\nvelocity = [{slip}, 0.0, {}]\n",
            dice.between(0.0, 180.0),
            0.5 * way * speed
        );
    }
    text
}

/// A box that is held at one end and pulled at the other.
fn pulled(dice: &mut Dice) -> String {
    let cells = [0; 3].map(|_| 1 + (3.0 * dice.unit()) as u32);
    let pull = [0; 3].map(|_| dice.between(-0.05, 0.05));
    format!(
        "method = \"static\"\nend = 1.0\n[body.a]\nmesh = {{ shape = \"box\", size = [1.0, 1.0, 1.0], cells = {cells:?} }}\n\
         material = {{ law = \"neo-hookean\", young = 1.0, poisson = {}, density = 1.0 }}\nfix = \"zmin\"\n\
         [[load]]\nbody = \"a\"\nset = \"zmax\"\ntraction = {pull:?}\ntable = [[0, 0], [1, 1]]\n",
        dice.between(0.0, 0.35)
    )
}

/// What is seen at a look.
struct Row {
    /// Friction's account, and the energy that was there [J].
    friction: f64,
    was_there: f64,
    /// Place of both centres along z [m].
    centres: [f64; 2],
    /// Energy and what friction took, over what was there and put in; nothing while bodies touch: in the step of an impact
    /// `semi-explicit` counts half of its impulse twice, and gives that back in the next.
    energy: Option<f64>,
}

/// Keeps a row at every look.
struct Watch {
    next: f64,
    rows: Arc<Mutex<Vec<Row>>>,
}

impl Observer for Watch {
    fn next(&self) -> f64 {
        self.next
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        self.next = look.state.time + 0.01 * look.case.end;
        let model = &look.case.model;
        let centre = |b: usize| {
            let nodes = model.bodies.get(b).map_or(0..0, |body| body.nodes.clone());
            let mass: f64 = model.mass[nodes.clone()].iter().sum();
            nodes.map(|k| model.mass[k] * look.state.x[k].z).sum::<f64>() / mass.max(f64::MIN_POSITIVE)
        };
        let l = look.ledger;
        let energy = (l.contacts == 0)
            .then(|| (l.total() + l.friction) / (l.initial + l.external.abs() + l.correction));
        let row = Row { friction: l.friction, was_there: l.peak, centres: [centre(0), centre(1)], energy };
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        Ok(())
    }
}

/// How a scene went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What it should not have done, if anything.
    pub wrong: Option<String>,
    /// Why the method gave up, if it did: that is no silence.
    pub refused: Option<String>,
    /// It took too long.
    pub late: bool,
    /// Largest error of the books, of the energy that was there.
    pub ledger_error: f64,
    /// Deepest overlap, of an edge of the finer body.
    pub overlap: f64,
    /// Drifts of linear and angular momentum.
    pub drift: [f64; 2],
    /// The run doubts itself.
    pub doubted: bool,
}

/// Runs a scene with a method and judges it.
pub fn judge(seed: u64, method: &str) -> Verdict {
    let text = deck(seed, method);
    let input = Input { name: "scene", text: &text, folder: Path::new("."), options: &[] };
    let rows = Arc::new(Mutex::new(Vec::new()));
    let outcome = match pool(1) {
        Ok(pool) => pool.install(|| carry(&input, method, &rows)),
        Err(error) => Verdict { refused: Some(error.to_string()), ..Verdict::default() },
    };
    let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    let wrong = seen(&rows, method, &outcome);
    Verdict { wrong: outcome.wrong.clone().or(wrong), ..outcome }
}

fn carry(input: &Input, method: &str, rows: &Arc<Mutex<Vec<Row>>>) -> Verdict {
    let wrong = |what: String| Verdict { wrong: Some(what), ..Verdict::default() };
    let case = match deck::load(input) {
        Ok(loaded) => loaded.case,
        Err(error) => return wrong(error.to_string()),
    };
    let edge = case.model.contact.scene(&case.model, false);
    let edge = edge.bodies.iter().map(|b| b.median_edge).fold(f64::INFINITY, f64::min);
    let watch = Watch { next: 0.0, rows: rows.clone() };
    let mut run = match Run::start(case, vec![Box::new(watch)], None) {
        Ok(run) => run,
        Err(error) => return wrong(error.to_string()),
    };
    let (stop, begin, done) = (AtomicBool::new(false), Instant::now(), AtomicBool::new(false));
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) && begin.elapsed() < LONGEST {
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let ended = run.to_end(&stop);
        done.store(true, Ordering::Relaxed);
        ended
    });
    let (balance, ledger) = (&run.balance, &run.ledger);
    let mut verdict = Verdict {
        late: begin.elapsed() >= LONGEST,
        ledger_error: ledger.error_max_rel(),
        overlap: ledger.penetration_max / edge,
        drift: [balance.linear_drift_max, balance.angular_drift_max],
        doubted: !doubts::of(&run).is_empty(),
        ..Verdict::default()
    };
    let solved = ["bipotential-implicit", "velocity-update", "newmark-penalty", "static"].contains(&method);
    match ended {
        // a run that stops says why: that is no crossing in silence
        Err(RunError::Step(error)) => verdict.refused = Some(error.to_string()),
        Err(error) => verdict.wrong = Some(error.to_string()),
        Ok(_) if verdict.drift[0] > DRIFT[usize::from(solved)] && method != "static" => {
            verdict.wrong = Some(format!("momentum drifts by {:e}", verdict.drift[0]));
        }
        Ok(_) => {}
    }
    verdict
}

/// What is wrong with what was seen on the way. `newmark-penalty` has springs along surfaces whose energy stands in friction's
/// account, and conserves nothing when contacts open and close.
fn seen(rows: &[Row], method: &str, verdict: &Verdict) -> Option<String> {
    let silent = verdict.refused.is_none() && !verdict.late && !verdict.doubted;
    if method != "newmark-penalty" {
        let falls = |w: &&[Row]| w[1].friction < w[0].friction - ROUND_OFF * w[0].was_there;
        if let Some(w) = rows.windows(2).find(falls) {
            return Some(format!("friction's account falls from {:e} to {:e}", w[0].friction, w[1].friction));
        }
        if let Some(energy) = rows.iter().filter_map(|r| r.energy).find(|e| *e > GROWN && silent) {
            return Some(format!("energy and friction have grown to {energy}"));
        }
    }
    let [low, high] = rows.last()?.centres;
    // they may roll past each other sideways, but not this far and head on
    (low > high + 1.0 && silent).then(|| format!("passed through: {low} above {high}"))
}

/// The worst of many scenes by one method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub scenes: u64,
    pub refused: u64,
    pub late: u64,
    pub doubted: u64,
    pub ledger_error: f64,
    pub overlap: f64,
    pub drift: [f64; 2],
    /// Numbers of scenes that did what none should, and what it was.
    pub wrong: Vec<(u64, String)>,
}

impl Tally {
    /// Worst figures are those of scenes that came to their end without a doubt: the others have said that they should not be
    /// believed.
    pub fn add(&mut self, seed: u64, verdict: Verdict) {
        let Verdict { wrong, refused, late, ledger_error, overlap, drift, doubted } = verdict;
        self.scenes += 1;
        self.refused += u64::from(refused.is_some());
        self.late += u64::from(late);
        self.doubted += u64::from(doubted && refused.is_none());
        if refused.is_none() && !doubted {
            self.ledger_error = self.ledger_error.max(ledger_error);
            self.overlap = self.overlap.max(overlap);
            (0..2).for_each(|k| self.drift[k] = self.drift[k].max(drift[k]));
        }
        self.wrong.extend(wrong.map(|what| (seed, what)));
    }
}
