//! What a run will cost on this machine when it has nothing else to do.
//!
//! ```text
//! elements   time of a pass over all element forces, here and now · (standard pass when quiet / standard pass now)
//! contact    time of a surface node and step in a small run of the same method, likewise
//! ```
//!
//! The standard pass is always the same block of hexahedra. The shortest time it ever took is kept, per machine and number of
//! threads, in `carom/calibration.json` of the user's cache: a busy moment makes both times longer, and cancels.

use carom::Simulation;
use carom::deck::Loaded;
use carom::model::Model;
use carom::model::forces::Forces;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Instant;

/// Passes of which the shortest counts.
const PASSES: usize = 5;
/// Folder of the calibration, instead of the user's cache.
const FOLDER: &str = "CAROM_CACHE";

/// Seconds that a run takes: element forces, and all that is done for nodes, contact among it.
pub struct Price {
    pub elements: f64,
    pub contact: f64,
}

/// Numbers that were measured on this machine, by name.
struct Calibration {
    file: Option<PathBuf>,
    all: Map<String, Value>,
    machine: String,
}

impl Calibration {
    fn read(threads: usize) -> Calibration {
        let folder = std::env::var_os(FOLDER).map(PathBuf::from).or_else(|| {
            let cache = std::env::var_os("XDG_CACHE_HOME").filter(|c| !c.is_empty()).map(PathBuf::from);
            let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
            cache.or_else(home).map(|c| c.join("carom"))
        });
        let file = folder.map(|f| f.join("calibration.json"));
        let text = file.as_ref().and_then(|f| std::fs::read_to_string(f).ok()).unwrap_or_default();
        let all = serde_json::from_str(&text).unwrap_or_default();
        Calibration { file, all, machine: format!("{}, {threads} threads", processor()) }
    }

    fn known(&self, what: &str) -> Option<f64> {
        self.all.get(&self.machine)?.get(what)?.as_f64().filter(|s| *s > 0.0)
    }

    /// Keeps the shorter of what is known and what was measured now [s]; returns it.
    fn keep(&mut self, what: &str, seconds: f64) -> f64 {
        let best = self.known(what).map_or(seconds, |known| known.min(seconds));
        let mine = self.all.entry(self.machine.clone()).or_insert_with(|| json!({}));
        mine[what] = json!(best);
        best
    }

    /// A calibration that cannot be written is measured again next time.
    fn write(&self) {
        let Some(file) = &self.file else { return };
        let text = format!("{:#}\n", Value::Object(self.all.clone()));
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder)
                .and_then(|()| carom::output::replace_file(file, text.as_bytes()));
        }
    }
}

/// The processor's name, as far as the system tells.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Of a run that updates elements `updates` times and checks at surface nodes `checks` times.
pub fn of(simulation: &Simulation, loaded: &Loaded, updates: f64, checks: f64) -> Price {
    let threads = simulation.threads();
    let mut calibration = Calibration::read(threads);
    let model = &loaded.case.model;
    let (pass, standard_now) = simulation.install(|| {
        let standard = standard();
        let standard = standard.as_ref().map(|s| &s.model);
        // in turns, so that both see the same machine
        (0..PASSES).fold((f64::INFINITY, f64::INFINITY), |(a, b), _| {
            (a.min(step_time(model)), b.min(standard.map_or(f64::INFINITY, step_time)))
        })
    });
    let quiet = calibration.keep("standard pass [s]", standard_now);
    let busy = if standard_now.is_finite() { quiet / standard_now } else { 1.0 };
    let potentials: usize = model.blocks.iter().map(|b| b.potentials()).sum();
    let elements = busy * pass * updates / (potentials as f64).max(1.0);
    let method = &loaded.case.method_name;
    let what = format!("{method}, a node and step [s]");
    let node = calibration.known(&what).or_else(|| {
        let seconds = busy * node_time(method, threads)?;
        Some(calibration.keep(&what, seconds))
    });
    calibration.write();
    Price { elements, contact: checks * node.unwrap_or(0.0) }
}

/// How long one pass over all element forces takes here and now [s].
fn step_time(model: &Model) -> f64 {
    let mut forces = Forces::new(model);
    let mut state = model.rest();
    let begin = Instant::now();
    forces.evaluate(model, &state.x, &mut state.material, false);
    begin.elapsed().as_secs_f64()
}

/// Two blocks that are pressed together.
fn blocks(method: &str, cells: u32) -> String {
    let block = |name: &str, at: f64, speed: f64| {
        format!(
            "[body.{name}]\nmesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [{cells}, {cells}, {cells}], at = [0, 0, {at}] }}\n\
             material = {{ law = \"st-venant-kirchhoff\", young = 1e6, poisson = 0.3, density = 1000 }}\nvelocity = [0, 0, {speed}]\n"
        )
    };
    let (lower, upper) = (block("lower", 0.0, 0.25), block("upper", 0.10001, -0.25));
    format!(
        "method = \"{method}\"\nend = 0.01\n{lower}{upper}[contact]\nfriction = 0.3\n[output]\nhistory = 1\nframes = 0\n"
    )
}

/// The case whose pass is the standard one. Call inside a pool.
fn standard() -> Option<carom::run::Case> {
    let (text, folder) = (blocks("verlet", 12), std::path::Path::new("."));
    let input = carom::deck::Input { name: "standard", text: &text, folder, options: &[] };
    carom::deck::load(&input).ok().map(|l| l.case)
}

/// Time that a surface node takes in a step beside the forces of elements [s]; none where the method does not run the blocks.
fn node_time(method: &str, threads: usize) -> Option<f64> {
    let mut simulation = Simulation::setup().threads(threads).text(&blocks(method, 5)).ok()?;
    let nodes: usize = simulation.loaded()?.surfaces.as_ref()?.bodies.iter().map(|b| b.nodes).sum();
    simulation.run().ok()?;
    let (ledger, case) = (simulation.ledger()?, simulation.case()?);
    let phases = &ledger.phases;
    let checks = nodes as f64 * case.state.step.max(1) as f64;
    Some((phases.search + phases.response + phases.solve) / checks)
}
