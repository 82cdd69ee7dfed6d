//! Contact search: candidates, pairs and times of every engine on the scenes of the sheet.

use crate::contact::bench_scenes::{self as scenes, BenchScene, Engine};
use crate::contact::measure::Narrow;
use crate::contact::search::{PairSearch, Positions, Query, SearchError, SearchStats};
use crate::contact::three_stage::ThreeStage;
use crate::math::Vec3;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// All scenes.
pub const SCENES: [&str; 11] = [
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
];

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

fn line(m: &scenes::Measurement) -> Measurement {
    let s = &m.stats;
    Measurement {
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
    }
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
pub fn measure(name: &str, tell: &mut dyn FnMut(Measurement)) -> Result<(), SearchError> {
    let Some(scene) = scene(name) else { return Ok(()) };
    let rest = |_: usize, _: &mut [Vec3]| {};
    if name == "cubes25" {
        let query = Query::vertex_face(scene.reach);
        for engine in Engine::ALL {
            let steps = if matches!(engine, Engine::Brute | Engine::BrutePretest) { 10 } else { 500 };
            let spacing = 500 / steps;
            let place = |step: usize, x: &mut [Vec3]| {
                scenes::cubes25_motion(&scene, 1e-4 * (step * spacing) as f64, x);
            };
            tell(line(&scenes::measure(&scene, engine, &query, steps, false, place)?));
        }
        return Ok(());
    }
    if name.starts_with("cubes") {
        let query = Query::vertex_face(scene.reach);
        for engine in [Engine::Classic, Engine::ThreeStageAnew, Engine::Cells] {
            tell(line(&scenes::measure(&scene, engine, &query, 20, false, rest)?));
        }
        return Ok(());
    }
    let query = Query::all(scene.reach);
    gather(&scene, &query, tell)?;
    for engine in [Engine::ThreeStageAnew, Engine::Cells] {
        tell(line(&scenes::measure(&scene, engine, &query, 3, false, rest)?));
    }
    if name.starts_with("pile") {
        let query = Query::all(0.01);
        for engine in [Engine::ThreeStageAnew, Engine::ThreeStage] {
            let place = |step: usize, x: &mut [Vec3]| scenes::pile_motion(&scene, step, x);
            let mut m = scenes::measure(&scene, engine, &query, 20, false, place)?;
            m.scene = format!("{name}-moving");
            tell(line(&m));
        }
    }
    Ok(())
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
fn gather(scene: &BenchScene, query: &Query, tell: &mut dyn FnMut(Measurement)) -> Result<(), SearchError> {
    let (mut scratch, mut refit) = (f64::INFINITY, f64::INFINITY);
    let mut x = scene.x.clone();
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
        // Everything moves a little, each node its own way, so that all trees must be refitted.
        for (i, p) in x.iter_mut().enumerate() {
            *p = scene.x[i] + Vec3::from_fn(|k, _| 1e-6 * scenes::noise(i as u64, (3 * round + k) as u64));
        }
        let mut found = Ok(());
        let took = timed(|| found = search.gather(&scene.scene, Positions::now(&x), query));
        found?;
        if took < refit {
            (refit, stats[1]) = (took, *search.stats());
        }
    }
    let (mut search, mut narrow) = (ThreeStage::new(), f64::INFINITY);
    search.gather(&scene.scene, Positions::now(&scene.x), query)?;
    let mut measured = Narrow::new(false);
    let mut records = SearchStats::default();
    for _ in 0..3 {
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
