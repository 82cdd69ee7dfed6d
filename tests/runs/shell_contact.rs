//! Thin shells that touch: on both sides, themselves, solids and obstacles; by `dcr`, guarded and not, and by
//! `semi-explicit`.
//!
//! Whether anything has passed through anything is asked of the exact test for triangles, of all of them, whatever the search
//! has seen.

use crate::kept::kept;
use carom::contact::overlap;
use carom::contact::scene::Scene;
use carom::deck::{self, Input};
use carom::math::Vec3;
use carom::method::Method;
use carom::model::record::Record;
use carom::model::{Ledger, Model, State};
use std::path::Path;
use std::sync::atomic::AtomicBool;

struct Run {
    text: String,
    model: Model,
    state: State,
    ledger: Ledger,
    method: Box<dyn Method>,
    end: f64,
    scene: Scene,
    drawn: Vec<Vec3>,
}

fn load(text: &str) -> carom::run::Case {
    let input = Input { name: "deck", text, folder: Path::new("."), options: &[] };
    deck::load(&input).unwrap_or_else(|e| panic!("{e}")).case
}

impl Run {
    fn start(text: &str) -> Run {
        let carom::run::Case { model, mut state, mut method, end, .. } = load(text);
        let mut ledger = Ledger::default();
        method.start(&model, &mut state, &mut ledger).unwrap();
        let (scene, drawn) = (model.contact.scene(&model, true), model.contact.obstacle_nodes());
        Run { text: text.into(), model, state, ledger, method, end, scene, drawn }
    }

    fn until(&mut self, time: f64) {
        let never = AtomicBool::new(false);
        self.method.advance(&self.model, &mut self.state, time, &mut self.ledger, &never).unwrap();
    }

    fn record(&self) -> Record {
        kept(&self.state, &self.ledger, &*self.method)
    }

    fn stop_and_resume(&mut self) {
        let record = self.record();
        self.state = State::restore(&self.model, &record).unwrap();
        self.ledger = Ledger::restore(&record).unwrap();
        self.method = load(&self.text).method;
        self.method.restore(&self.model, &record).unwrap();
    }

    /// Linear and angular momentum.
    fn momenta(&self) -> [Vec3; 2] {
        let (m, x, v) = (&self.model.mass, &self.state.x, &self.state.v);
        let sum = |f: &dyn Fn(usize) -> Vec3| (0..m.len()).map(f).sum::<Vec3>();
        [sum(&|k| m[k] * v[k]), sum(&|k| m[k] * x[k].cross(&v[k]))]
    }

    /// How many triangles pass through others that they share no node with.
    fn crossed(&self) -> usize {
        let mut x = self.state.x.clone();
        x.extend(&self.drawn);
        self.model.contact.place(self.state.time, &self.drawn, &mut x[self.state.x.len()..]);
        let facets: Vec<_> = self.scene.facets.iter().filter(|f| f.corners().len() == 3).collect();
        let corners: Vec<[Vec3; 3]> =
            facets.iter().map(|f| [0, 1, 2].map(|k| x[f.nodes[k] as usize])).collect();
        let mut crossed = 0;
        for i in 0..facets.len() {
            for j in 0..i {
                let share = facets[i].corners().iter().any(|k| facets[j].corners().contains(k));
                let meet = |b: u32, c: u32| self.scene.may_meet(b, c);
                if !share && meet(facets[i].body, facets[j].body) {
                    crossed += usize::from(overlap::triangle_triangle(&corners[i], &corners[j]));
                }
            }
        }
        crossed
    }
}

const SOFT: &str = "[material.soft]
law = \"st-venant-kirchhoff\"
young = 2.1e5
poisson = 0.3
density = 0.0785
";

/// Step of the scenes with a sheet [s].
const STEP: f64 = 4e-6;

/// A hollow ball thrown at a free round sheet from above (`side` 1) or from below (−1); the rims pass each other nowhere.
fn ball_and_sheet(method: &str, side: f64, contact: &str, sheet: &str) -> String {
    format!(
        "method = \"{method}\"\nend = 0.0012\n{SOFT}
[body.ball]
mesh = {{ shape = \"hollow-sphere\", radius = 0.12, base = \"bipyramid\", refinements = 2, at = [0.02, 0.01, {z}] }}
element = \"shell\"
thickness = 0.006
material = \"soft\"
velocity = [5, 3, {v}]
[body.sheet]
mesh = {{ shape = \"round-sheet\", radius = 0.3, rings = 8 }}
element = \"shell\"
thickness = 0.006
material = \"soft\"
velocity = [0, 0, {w}]
{sheet}
[step]
size = {STEP}
[contact]
{contact}
",
        z = 0.124 * side,
        v = -75.0 * side,
        w = 25.0 * side
    )
}

/// Follows a scene and checks what holds for free bodies whatever they do.
fn free(text: &str) -> Run {
    let mut run = Run::start(text);
    let [p0, l0] = run.momenta();
    let total: f64 = (run.model.mass.iter().zip(&run.state.v)).map(|(m, v)| m * v.norm()).sum();
    let (energy, looks) = (run.ledger.total(), 40);
    for k in 1..=looks {
        run.until(run.end * f64::from(k) / f64::from(looks));
        let [p, l] = run.momenta();
        assert!((p - p0).norm() < 1e-12 * total, "momentum {}", (p - p0).norm() / total);
        assert!((l - l0).norm() < 2e-3 * total * 0.3, "spin {}", (l - l0).norm() / (total * 0.3));
        let share = run.ledger.total() / energy;
        assert!((0.95..1.01).contains(&share), "energy {share}");
        assert_eq!(run.crossed(), 0, "at {}", run.state.time);
    }
    assert!(run.ledger.collision_kicks > 20, "{}", run.ledger.collision_kicks);
    assert!(run.ledger.error_max_rel() < 0.02, "{}", run.ledger.error_max_rel());
    run
}

/// z of the middle of a body.
fn height(run: &Run, body: usize) -> f64 {
    let nodes = run.model.bodies[body].nodes.clone();
    nodes.clone().map(|k| run.state.x[k].z).sum::<f64>() / nodes.len() as f64
}

#[test]
fn a_ball_on_a_sheet_keeps_momentum_and_its_side() {
    let run = free(&ball_and_sheet("dcr", 1.0, "friction = 0.3", ""));
    assert!(height(&run, 0) > height(&run, 1));
    assert_eq!(run.ledger.penetration_max, 0.0);
}

/// The mirrored scene is the mirrored motion; the two differ by round-off, which grows with every blow. Only nodes of the sheet have
/// the same numbers in both.
#[test]
fn a_sheet_is_hit_from_below_as_from_above() {
    let above = free(&ball_and_sheet("dcr", 1.0, "", ""));
    let below = free(&ball_and_sheet("dcr", -1.0, "", ""));
    let mirror = Vec3::new(1.0, 1.0, -1.0);
    let sheet = above.model.bodies[1].nodes.clone();
    let off = sheet.map(|k| (above.state.x[k] - below.state.x[k].component_mul(&mirror)).norm());
    let off = off.fold(0.0, f64::max);
    assert!(off < 1e-6, "{off}");
}

/// Contact half a thickness away from the sheet on either side: a node of the ball comes no nearer but for one step's way.
#[test]
fn thickness_keeps_surfaces_apart() {
    let thick = 0.006;
    let text = ball_and_sheet("dcr", 1.0, "", &format!("contact_thickness = {thick}"));
    let mut run = free(&text);
    assert!(run.ledger.penetration_max < 100.0 * STEP, "{}", run.ledger.penetration_max);
    let nearest = |run: &Run| {
        let mut least = f64::INFINITY;
        for f in run.scene.facets.iter().filter(|f| f.body == 1) {
            let [a, b, c] = [0, 1, 2].map(|k| run.state.x[f.nodes[k] as usize]);
            for k in run.model.bodies[0].nodes.clone() {
                let near = carom::contact::closest_point::tri3(&run.state.x[k], &a, &b, &c);
                least = least.min(near.distance_squared.sqrt());
            }
        }
        least
    };
    assert!(nearest(&run) > 0.5 * thick - 100.0 * STEP, "{}", nearest(&run));
    run.until(run.end);
}

#[test]
fn semi_explicit_takes_shells_on_both_sides() {
    for side in [1.0, -1.0] {
        let mut run = Run::start(&ball_and_sheet("semi-explicit", side, "", ""));
        let [p0, _] = run.momenta();
        let total: f64 = (run.model.mass.iter().zip(&run.state.v)).map(|(m, v)| m * v.norm()).sum();
        for k in 1..=20 {
            run.until(run.end * f64::from(k) / 20.0);
            assert!((run.momenta()[0] - p0).norm() < 1e-12 * total);
        }
        assert_eq!(run.crossed(), 0);
        assert!(run.ledger.error_max_rel() < 0.02, "{}", run.ledger.error_max_rel());
        assert!(side * (height(&run, 0) - height(&run, 1)) > 0.0);
    }
}

/// A solid block falls on a sheet that is clamped at its rim, a plane that rises pushes the sheet from below, and a rigid
/// box comes down beside.
fn held_sheet(method: &str) -> String {
    format!(
        "method = \"{method}\"\nend = 0.0012\n{SOFT}
[body.sheet]
mesh = {{ shape = \"round-sheet\", radius = 0.3, rings = 8 }}
element = \"shell\"
thickness = 0.006
material = \"soft\"
fix = \"rim\"
[body.block]
mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [2, 2, 2], at = [-0.12, -0.05, 0.002] }}
material = {{ law = \"neo-hookean\", young = 2.1e5, poisson = 0.3, density = 0.02 }}
velocity = [0, 0, -50]
[body.floor]
plane = {{ point = [0, 0, -0.03], normal = [0, 0, 1] }}
velocity = [0, 0, 5]
[body.tool]
mesh = {{ shape = \"box\", size = [0.08, 0.08, 0.08], cells = [1, 1, 1], at = [0.06, 0.06, 0.004] }}
velocity = [0, 0, -20]
[step]
size = {STEP}
[contact]
friction = 0.2
"
    )
}

#[test]
fn solids_and_obstacles_meet_a_sheet_from_both_sides() {
    for method in ["dcr", "semi-explicit"] {
        let mut run = Run::start(&held_sheet(method));
        for k in 1..=20 {
            run.until(run.end * f64::from(k) / 20.0);
        }
        assert!(run.ledger.penetration_max < 0.05 * 0.0375, "{method} {}", run.ledger.penetration_max);
        assert_eq!(run.crossed(), 0, "{method}");
        assert!(run.ledger.collision_kicks > 20 || method != "dcr");
        assert!(run.ledger.error_max_rel() < 0.02, "{method} {}", run.ledger.error_max_rel());
    }
}

/// A tube with R/t = 100 between two plates, crushed to less than 40 % of its length.
fn crushed(method: &str, contact: &str) -> String {
    format!(
        "method = \"{method}\"\nend = 0.028\n{SOFT}
[body.tube]
mesh = {{ shape = \"tube\", radius = 1, length = 2, around = 24, along = 8 }}
element = \"shell\"
thickness = 0.01
material = \"soft\"
damping = 20
[body.floor]
plane = {{ point = [0, 0, -1.02], normal = [0, 0, 1] }}
[body.press]
plane = {{ point = [0, 0, 1.02], normal = [0, 0, -1] }}
velocity = [0, 0, -45]
[contact]
self = [\"tube\"]
{contact}
"
    )
}

#[test]
fn a_crushed_tube_never_passes_through_itself() {
    for method in ["dcr", "semi-explicit"] {
        let mut run = Run::start(&crushed(method, ""));
        for k in 1..=200 {
            run.until(run.end * f64::from(k) / 200.0);
            assert_eq!(run.crossed(), 0, "{method} at {}", run.state.time);
        }
        let z = || run.state.x.iter().map(|x| x.z);
        let height = z().fold(f64::MIN, f64::max) - z().fold(f64::MAX, f64::min);
        assert!(height < 0.4 * 2.0, "{method} {height}");
        assert!(run.ledger.error_max_rel() < 0.02, "{method} {}", run.ledger.error_max_rel());
        assert!(run.ledger.collision_kicks > 1000, "{method}");
    }
}

/// Sides are part of what `dcr` saves.
#[test]
fn stopping_and_threads_change_nothing_with_shells() {
    let in_pool = |threads: usize, work: &(dyn Fn() -> Record + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    };
    for text in [
        ball_and_sheet("dcr", 1.0, "", ""),
        ball_and_sheet("dcr", -1.0, "friction = 0.3", ""),
        ball_and_sheet("dcr", 1.0, "", "contact_thickness = 0.006"),
        ball_and_sheet("semi-explicit", -1.0, "", ""),
        held_sheet("semi-explicit"),
        crushed("dcr", "").replace("end = 0.028", "end = 0.008"),
        crushed("semi-explicit", "friction = 0.2").replace("end = 0.028", "end = 0.02"),
    ] {
        let plain = in_pool(1, &|| {
            let mut run = Run::start(&text);
            run.until(run.end);
            run.record()
        });
        let stopped = in_pool(2, &|| {
            let mut run = Run::start(&text);
            for k in 1..=7 {
                run.until(run.end * f64::from(k) / 7.0);
                run.stop_and_resume();
            }
            run.record()
        });
        let differs = plain.arrays.iter().find(|(k, v)| stopped.arrays.get(*k) != Some(v));
        assert_eq!(differs.map(|d| d.0), None, "{text}");
    }
}
