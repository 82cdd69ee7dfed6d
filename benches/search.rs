//! Times the contact searches; one JSON object per line.
//!
//! ```text
//! cargo bench --bench search                        all scenes, 1 and 2 threads
//! cargo bench --bench search -- pile1000 1          one scene, one thread
//! cargo bench --bench search -- --dump pile1000 F   writes the scene for benches/compare_ipctk.py
//! ```

use carom::contact::bench_scenes::{self as bench, BenchScene, Engine, Measurement};
use carom::contact::measure::Narrow;
use carom::contact::search::{PairSearch, Positions, Query, SearchStats};
use carom::contact::three_stage::ThreeStage;
use carom::math::Vec3;
use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [flag, name, file] = &args[..]
        && flag == "--dump"
    {
        return dump(&scene(name), file).expect("the file can be written");
    }
    let all = [
        "cubes25",
        "cubes20",
        "cubes40",
        "cubes80",
        "cubes120",
        "pile1000",
        "pile8000",
        "spheres4096",
        "spheres65536",
    ];
    let names: Vec<&str> = match args.first() {
        Some(name) => name.split(',').collect(),
        None => all.to_vec(),
    };
    let threads: Vec<usize> = match args.get(1) {
        Some(n) => vec![n.parse().expect("a number of threads")],
        None => vec![1, 2],
    };
    for n in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool of threads");
        for name in &names {
            pool.install(|| run(name));
        }
    }
}

fn scene(name: &str) -> BenchScene {
    let number = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    if name == "cubes25" {
        bench::cubes25(0.1)
    } else if let Some(n) = number("cubes") {
        bench::layers(n / 20)
    } else if let Some(n) = number("pile") {
        bench::pile(n)
    } else if let Some(n) = number("spheres") {
        bench::spheres(((n / 4) as f64).sqrt().round() as usize)
    } else {
        panic!("no scene called {name}")
    }
}

fn run(name: &str) {
    let scene = scene(name);
    let rest = |_: usize, _: &mut [Vec3]| {};
    if name == "cubes25" {
        let query = Query::vertex_face(scene.reach);
        for engine in Engine::ALL {
            let steps = if matches!(engine, Engine::Brute | Engine::BrutePretest) { 10 } else { 500 };
            let spacing = 500 / steps;
            let place = |step: usize, x: &mut [Vec3]| {
                bench::cubes25_motion(&scene, 1e-4 * (step * spacing) as f64, x);
            };
            print(&bench::measure(&scene, engine, &query, steps, false, place).expect("finite positions"));
        }
        return;
    }
    if name.starts_with("cubes") {
        let query = Query::vertex_face(scene.reach);
        for engine in [Engine::Classic, Engine::ThreeStageAnew, Engine::Cells] {
            print(&bench::measure(&scene, engine, &query, 20, false, rest).expect("finite positions"));
        }
        return;
    }
    let query = Query::all(scene.reach);
    gather(&scene, &query);
    if std::env::var_os("GATHER_ONLY").is_some() {
        return;
    }
    for engine in [Engine::ThreeStageAnew, Engine::Cells] {
        print(&bench::measure(&scene, engine, &query, 3, false, rest).expect("finite positions"));
    }
    if name.starts_with("pile") {
        let query = Query::all(0.01);
        for engine in [Engine::ThreeStageAnew, Engine::ThreeStage] {
            let place = |step: usize, x: &mut [Vec3]| bench::pile_motion(&scene, step, x);
            let mut m = bench::measure(&scene, engine, &query, 20, false, place).expect("finite positions");
            m.scene = format!("{name}-moving");
            print(&m);
        }
    }
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

/// Candidates from scratch and after a refit, the best of several.
fn gather(scene: &BenchScene, query: &Query) {
    let (mut scratch, mut refit) = (f64::INFINITY, f64::INFINITY);
    let mut x = scene.x.clone();
    let mut stats = [SearchStats::default(); 2];
    let mut counts = (0, 0, 0);
    for round in 0..5 {
        let mut search = ThreeStage::new();
        search.forgetful = true;
        let took =
            timed(|| search.gather(&scene.scene, Positions::now(&scene.x), query).expect("finite positions"));
        if took < scratch {
            (scratch, stats[0]) = (took, *search.stats());
        }
        counts = search.candidates().count();
        // Everything moves a little, each node its own way, so that all trees must be refitted.
        for (i, p) in x.iter_mut().enumerate() {
            *p = scene.x[i] + Vec3::from_fn(|k, _| 1e-6 * bench::noise(i as u64, (3 * round + k) as u64));
        }
        let took =
            timed(|| search.gather(&scene.scene, Positions::now(&x), query).expect("finite positions"));
        if took < refit {
            (refit, stats[1]) = (took, *search.stats());
        }
    }
    // Exact distances of the candidates.
    let (mut search, mut narrow) = (ThreeStage::new(), f64::INFINITY);
    search.gather(&scene.scene, Positions::now(&scene.x), query).expect("finite positions");
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
    for (name, seconds, stats) in results {
        print(&Measurement {
            scene: scene.name.clone(),
            engine: name,
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
        });
    }
}

fn print(m: &Measurement) {
    let s = &m.stats;
    println!(
        concat!(
            r#"{{"bench":"search","case":"{}/{}","threads":{},"value":{:.6e},"unit":"s/step","#,
            r#""nodes":{},"facets":{},"edges":{},"bodies":{},"steps":{},"vertex_face_candidates":{},"#,
            r#""edge_edge_candidates":{},"membership_tests":{},"bodies_compared":{},"body_pairs":{},"#,
            r#""body_pairs_kept":{},"box_tests":{},"leaf_pairs":{},"elementary_tests":{},"vertex_faces":{},"#,
            r#""edge_edges":{},"build":{:.3e},"refit":{:.3e},"traverse":{:.3e},"narrow":{:.3e},"#,
            r#""ns_per_node":{:.1}}}"#
        ),
        m.scene,
        m.engine,
        m.threads,
        m.seconds,
        m.nodes,
        m.facets,
        m.edges,
        m.bodies,
        m.steps,
        m.vertex_face_candidates,
        m.edge_edge_candidates,
        s.membership_tests,
        s.bodies_compared,
        s.body_pairs,
        s.body_pairs_kept,
        s.box_tests,
        s.leaf_pairs,
        s.elementary_tests,
        s.vertex_faces,
        s.edge_edges,
        s.build_seconds,
        s.refit_seconds,
        s.traverse_seconds,
        s.narrow_seconds,
        1e9 * m.seconds / m.nodes as f64,
    );
}

/// Counts, then positions, triangles, edges and the body of each node, all little-endian.
fn dump(scene: &BenchScene, file: &str) -> std::io::Result<()> {
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
