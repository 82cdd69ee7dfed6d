//! Contact search: candidates, pairs and times of every engine, and the ratios between them.
//!
//! | case              | measured                                                                            |
//! |-------------------|-------------------------------------------------------------------------------------|
//! | `cubes25`         | 500 steps of 25 cubes on a plate, all searches, their ratios                        |
//! | `cubes20` … `120` | one to six layers of cubes, all searches                                            |
//! | `series`          | box tests per elementary pair in these, most over least from 40 cubes on            |
//! | `pile…`           | cubes piled up, at rest and moving, all searches that can                           |
//! | `growth`          | exponent of the time of a search in the number of nodes, 1000 to 8000 cubes         |
//! | `spheres…`        | two spheres that nearly touch, likewise                                             |
//! | `gather/…`        | candidates alone, from scratch and after a refit, and their exact distances         |
//! | `cells`, `swept`  | one question at a time: see `single`                                                |
//!
//! In `cubes25` the ratios compare searches that measure every candidate they find, without a glance at boxes first;
//! the three-stage search in them keeps its lists, gathered with inflated boxes, while they hold, as in a run.

use super::{Measurement as Plain, single};
use crate::contact::bench_scenes::{self as scenes, BenchScene, Engine};
use crate::contact::measure::Narrow;
use crate::contact::search::{PairSearch, Positions, Query, SearchError, SearchStats};
use crate::contact::three_stage::ThreeStage;
use crate::math::Vec3;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// All scenes.
pub const SCENES: [&str; 19] = [
    "cubes25",
    "cubes20",
    "cubes40",
    "cubes60",
    "cubes80",
    "cubes100",
    "cubes120",
    "pile1000",
    "pile8000",
    "spheres4096",
    "spheres65536",
    "gather/pile1000",
    "gather/pile8000",
    "gather/spheres4096",
    "gather/spheres65536",
    "series",
    "growth",
    "cells",
    "swept",
];

/// What is told: a search over some steps, or a single figure.
pub enum Figure {
    Steps(Box<Measurement>),
    Plain(Plain),
}

/// One engine on one scene: counts and times of a step, mean over the steps.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    pub bench: &'static str,
    /// `scene/engine`
    pub case: String,
    pub threads: usize,
    /// Whole time of a step.
    pub value: f64,
    pub unit: &'static str,
    pub nodes: usize,
    pub facets: usize,
    pub edges: usize,
    pub bodies: usize,
    pub steps: usize,
    pub vertex_face_candidates: usize,
    pub edge_edge_candidates: usize,
    pub box_tests: f64,
    pub elementary_tests: f64,
    pub vertex_faces: f64,
    pub edge_edges: f64,
    pub build_seconds: f64,
    pub refit_seconds: f64,
    pub traverse_seconds: f64,
    pub narrow_seconds: f64,
    pub ns_per_node: f64,
}

fn line(m: &scenes::Measurement) -> Figure {
    let s = &m.stats;
    Figure::Steps(Box::new(Measurement {
        bench: "search",
        case: format!("{}/{}", m.scene, m.engine),
        threads: m.threads,
        value: m.seconds,
        unit: "s/step",
        nodes: m.nodes,
        facets: m.facets,
        edges: m.edges,
        bodies: m.bodies,
        steps: m.steps,
        vertex_face_candidates: m.vertex_face_candidates,
        edge_edge_candidates: m.edge_edge_candidates,
        box_tests: s.box_tests as f64,
        elementary_tests: s.elementary_tests as f64,
        vertex_faces: s.vertex_faces as f64,
        edge_edges: s.edge_edges as f64,
        build_seconds: s.build_seconds,
        refit_seconds: s.refit_seconds,
        traverse_seconds: s.traverse_seconds,
        narrow_seconds: s.narrow_seconds,
        ns_per_node: 1e9 * m.seconds / m.nodes as f64,
    }))
}

fn plain(case: String, value: f64, unit: &'static str) -> Figure {
    Figure::Plain(Plain::plain("search", case, rayon::current_num_threads(), value, unit))
}

/// The scene of that name.
pub fn scene(name: &str) -> Option<BenchScene> {
    let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<usize>().ok();
    if name == "cubes25" {
        Some(scenes::cubes25(0.1))
    } else if let Some(n) = number("cubes") {
        Some(scenes::layers(n / 20))
    } else if let Some(n) = number("pile") {
        Some(scenes::pile(n))
    } else {
        number("spheres").map(|n| scenes::spheres(((n / 4) as f64).sqrt().round() as usize))
    }
}

/// Measures all engines that a scene is for and hands each figure to `tell`, in the thread pool of the caller.
pub fn measure(name: &str, tell: &mut dyn FnMut(Figure)) -> Result<(), SearchError> {
    match name {
        "cubes25" => return cubes25(tell),
        "series" => return series(tell),
        "growth" => return growth(tell),
        // One question at a time has one thread.
        "cells" | "swept" if rayon::current_num_threads() > 1 => return Ok(()),
        "cells" => {
            single::cells(&mut |m| tell(Figure::Plain(m)));
            return Ok(());
        }
        "swept" => {
            single::swept(&mut |m| tell(Figure::Plain(m)));
            return Ok(());
        }
        _ => {}
    }
    if let Some(name) = name.strip_prefix("gather/") {
        let Some(scene) = scene(name) else { return Ok(()) };
        return gather(&scene, &Query::all(scene.reach), tell);
    }
    let Some(scene) = scene(name) else { return Ok(()) };
    let rest = |_: usize, _: &mut [Vec3]| {};
    if name.starts_with("cubes") {
        let query = Query::vertex_face(scene.reach);
        // The list of all pairs alone fills the memory of a small machine beyond that.
        if scene.scene.bodies.len() <= 41 {
            tell(line(&scenes::measure(&scene, Engine::Brute, &query, (2, 1), false, rest)?));
        }
        for engine in [Engine::Classic, Engine::ThreeStageAnew, Engine::Cells] {
            tell(line(&scenes::measure(&scene, engine, &query, (5, 5), false, rest)?));
        }
        return Ok(());
    }
    let query = Query::all(scene.reach);
    for engine in [Engine::ThreeStageAnew, Engine::ThreeStage, Engine::Cells, Engine::ClassicPretest] {
        // Pairs of faces, with nine pairs of edges each, as above.
        if engine == Engine::ClassicPretest && scene.scene.facets.len() > 200_000 {
            continue;
        }
        tell(line(&scenes::measure(&scene, engine, &query, (2, 3), false, rest)?));
    }
    if name.starts_with("pile") {
        let query = Query::all(0.01);
        for engine in [Engine::ThreeStageAnew, Engine::ThreeStage, Engine::Cells] {
            let place = |step: usize, x: &mut [Vec3]| scenes::pile_motion(&scene, step, x);
            let mut m = scenes::measure(&scene, engine, &query, (2, 20), false, place)?;
            m.scene = format!("{name}-moving");
            tell(line(&m));
        }
    }
    Ok(())
}

/// All engines over the 500 steps of 25 cubes, brute force over ten of them.
fn cubes25(tell: &mut dyn FnMut(Figure)) -> Result<(), SearchError> {
    let scene = scenes::cubes25(0.1);
    let query = Query::vertex_face(scene.reach);
    let mut all = Vec::new();
    for engine in Engine::ALL {
        let brute = matches!(engine, Engine::Brute | Engine::BrutePretest);
        let (rounds, steps) = if brute { (2, 10) } else { (7, 500) };
        let place = |step: usize, x: &mut [Vec3]| {
            scenes::cubes25_motion(&scene, 1e-4 * (step * (500 / steps)) as f64, x);
        };
        all.push(scenes::measure(&scene, engine, &query, (rounds, steps), false, place)?);
    }
    let of = |engine: Engine| all.iter().find(|m| m.engine == engine.name());
    all.iter().for_each(|m| tell(line(m)));
    let (Some(brute), Some(classic)) = (of(Engine::Brute), of(Engine::Classic)) else { return Ok(()) };
    let (Some(anew), Some(kept)) = (of(Engine::ThreeStageAnew), of(Engine::ThreeStageBare)) else {
        return Ok(());
    };
    let mut ratio = |case: &str, value: f64| tell(plain(format!("cubes25/{case}"), value, "ratio"));
    ratio("brute-over-three-stage", brute.seconds / kept.seconds);
    ratio("classic-over-three-stage", classic.seconds / kept.seconds);
    ratio("classic-over-three-stage-anew", classic.seconds / anew.seconds);
    let tests = |m: &scenes::Measurement| m.stats.elementary_tests as f64;
    ratio("elementary-tests-classic-over-three-stage", tests(classic) / tests(anew));
    Ok(())
}

/// Box tests per elementary pair, with one primitive per leaf as in the literature and with full leaves.
fn series(tell: &mut dyn FnMut(Figure)) -> Result<(), SearchError> {
    for (kind, textbook) in [("textbook", true), ("full-leaves", false)] {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for n in 1..=6 {
            let scene = scenes::layers(n);
            let mut search = ThreeStage::new();
            search.textbook = textbook;
            search.find(&scene.scene, &scene.x, None, &Query::vertex_face(scene.reach))?;
            let s = search.stats();
            let per_pair = s.box_tests as f64 / s.elementary_tests as f64;
            tell(plain(format!("series/{kind}/{}", scene.name), per_pair, "box tests/pair"));
            if n > 1 {
                (least, most) = (least.min(per_pair), most.max(per_pair));
            }
        }
        tell(plain(format!("series/{kind}/most-over-least-from-40"), most / least, "ratio"));
    }
    Ok(())
}

/// How the time of a whole search grows from 1000 to 8000 cubes: of a first one, which asks the system for all its
/// memory, and of one in a run, when everything has moved a little.
fn growth(tell: &mut dyn FnMut(Figure)) -> Result<(), SearchError> {
    let scenes = [scenes::pile(1000), scenes::pile(8000)];
    let mut best = [[f64::INFINITY; 2]; 2];
    for _ in 0..3 {
        for (scene, best) in scenes.iter().zip(&mut best) {
            let mut search = ThreeStage::new();
            search.forgetful = true;
            let query = Query::all(scene.reach);
            for step in 0..4 {
                let x = nudged(scene, step);
                let mut found = Ok(());
                let took = timed(|| found = search.find(&scene.scene, &x, None, &query));
                found?;
                let of = &mut best[step.min(1)];
                *of = of.min(took);
            }
        }
    }
    let [small, large] = scenes.each_ref().map(|s| s.scene.slots.len() as f64);
    for (k, case) in ["first", "in-a-run"].into_iter().enumerate() {
        let exponent = (best[1][k] / best[0][k]).ln() / (large / small).ln();
        tell(plain(format!("growth/{case}"), exponent, "exponent in nodes"));
    }
    Ok(())
}

/// Everything moved a little, each node its own way, so that all trees must be refitted.
fn nudged(scene: &BenchScene, round: usize) -> Vec<Vec3> {
    let each = scene.x.iter().enumerate();
    each.map(|(i, p)| p + Vec3::from_fn(|k, _| 1e-6 * scenes::noise(i as u64, (3 * round + k) as u64)))
        .collect()
}

/// Seconds the call took: processor time of this thread if there is one thread, the system tells, and it
/// is long enough for its clock; else wall time. On a machine that others use too it is the number to
/// compare.
fn timed(call: impl FnOnce()) -> f64 {
    let processor = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        told.split(' ').next()?.parse::<f64>().ok()
    };
    let (begin, start) = (processor(), std::time::Instant::now());
    call();
    let (wall, end) = (start.elapsed().as_secs_f64(), processor());
    match (begin, end) {
        (Some(begin), Some(end)) if rayon::current_num_threads() == 1 && wall > 0.02 => 1e-9 * (end - begin),
        _ => wall,
    }
}

/// Candidates from scratch and after a refit, and their exact distances: the best of several.
fn gather(scene: &BenchScene, query: &Query, tell: &mut dyn FnMut(Figure)) -> Result<(), SearchError> {
    let (mut scratch, mut refit) = (f64::INFINITY, f64::INFINITY);
    let mut stats = [SearchStats::default(); 2];
    let mut counts = (0, 0, 0);
    for round in 0..5 {
        let mut search = ThreeStage::new();
        search.forgetful = true;
        let mut found = Ok(());
        let took = timed(|| found = search.gather(&scene.scene, Positions::now(&scene.x), query));
        found?;
        if took < scratch {
            (scratch, stats[0]) = (took, *search.stats());
        }
        counts = search.candidates().count();
        let x = nudged(scene, round);
        let mut found = Ok(());
        let took = timed(|| found = search.gather(&scene.scene, Positions::now(&x), query));
        found?;
        if took < refit {
            (refit, stats[1]) = (took, *search.stats());
        }
    }
    let (mut search, mut narrow) = (ThreeStage::new(), f64::INFINITY);
    search.gather(&scene.scene, Positions::now(&scene.x), query)?;
    let mut measured = Narrow::new(true);
    let mut records = SearchStats::default();
    for _ in 0..5 {
        records = *search.stats();
        let took = timed(|| {
            measured.run(&scene.scene, &scene.x, None, query, search.candidates(), &mut records);
        });
        narrow = narrow.min(took);
    }
    let results = [
        ("gather-scratch", scratch, stats[0]),
        ("gather-refit", refit, stats[1]),
        ("narrow", narrow, records),
    ];
    for (engine, seconds, stats) in results {
        tell(line(&scenes::Measurement {
            scene: scene.name.clone(),
            engine,
            threads: rayon::current_num_threads(),
            nodes: scene.scene.slots.len(),
            facets: scene.scene.facets.len(),
            edges: scene.scene.edges.len(),
            bodies: scene.scene.bodies.len(),
            steps: 1,
            vertex_face_candidates: counts.0,
            edge_edge_candidates: counts.1,
            stats,
            seconds,
        }));
    }
    Ok(())
}

/// Writes a scene for another program: counts, reach, then positions, triangles, edges and the body of each node, all
/// little-endian.
pub fn dump(scene: &BenchScene, file: &Path) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    let s = &scene.scene;
    for n in [scene.x.len(), s.facets.len(), s.edges.len()] {
        out.write_all(&(n as u64).to_le_bytes())?;
    }
    out.write_all(&scene.reach.to_le_bytes())?;
    for v in scene.x.iter().flat_map(|p| p.iter()) {
        out.write_all(&v.to_le_bytes())?;
    }
    let facets = s.facets.iter().flat_map(|f| f.nodes[..3].iter());
    let edges = s.edges.iter().flat_map(|e| e.nodes.iter());
    for id in facets.chain(edges).chain(&s.node_body) {
        out.write_all(&id.to_le_bytes())?;
    }
    out.flush()
}
