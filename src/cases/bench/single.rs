//! Contact questions asked one at a time: boxes around a node, and motions that hit or miss.

use super::Measurement;
use crate::contact::bench_scenes::{layers, noise};
use crate::contact::cells::Cells;
use crate::contact::inclusion;
use crate::contact::octree::Aabb;
use crate::contact::swept::{self, Path, Sweep};
use crate::math::Vec3;
use std::hint::black_box;
use std::time::Instant;

/// Seconds per item, the fastest of many rounds: one that was interrupted does not count.
fn fastest(items: usize, mut round: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let begin = Instant::now();
        round();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best / items as f64
}

/// Position codes over the facets of 120 cubes: the boxes near each node, and boxes told that they have moved a
/// little (within their margin) or too far to stay in their cells.
pub fn cells(tell: &mut dyn FnMut(Measurement)) {
    let bench = layers(6);
    let scene = &bench.scene;
    let boxes: Vec<Aabb> = scene
        .facets
        .iter()
        .map(|f| {
            let mut b = Aabb::EMPTY;
            f.corners().iter().for_each(|&k| b.add(&bench.x[k as usize].into()));
            b
        })
        .collect();
    let mut cells = Cells::sized_for(&boxes);
    for (i, b) in boxes.iter().enumerate() {
        cells.insert_box(i as u32, b.lo, b.hi);
    }
    let figure = |case: &str, seconds: f64| {
        Measurement::plain("search", format!("cells/{case}"), 1, 1e9 * seconds, "ns")
    };
    let nodes: Vec<[f64; 3]> = scene.slots.iter().map(|&k| bench.x[k as usize].into()).collect();
    let mut out = Vec::new();
    let query = fastest(nodes.len(), || {
        for x in &nodes {
            cells.query(x, bench.reach, &mut out);
            black_box(&out);
        }
    });
    tell(figure("query", query));
    let moved = |cells: &mut Cells, far: f64| {
        let mut there = 0.0;
        fastest(boxes.len(), || {
            there = far - there;
            for (i, b) in boxes.iter().enumerate() {
                cells.move_box(i as u32, b.lo.map(|v| v + there), b.hi.map(|v| v + there));
            }
        })
    };
    let margin = cells.margin();
    tell(figure("box-stays", moved(&mut cells, 0.5 * margin)));
    tell(figure("box-moves", moved(&mut cells, 3.0 * margin)));
}

type Paths = [Path; 4];

/// Four points in a cube of edge 2 that move by up to `travel` along each axis.
fn motion(seed: u64, travel: f64) -> Paths {
    std::array::from_fn(|corner| {
        let signed = |k: u64| 2.0 * noise(seed, 8 * corner as u64 + k) - 1.0;
        let from = Vec3::new(signed(0), signed(1), signed(2));
        Path { from, to: from + travel * Vec3::new(signed(3), signed(4), signed(5)) }
    })
}

fn boxes_meet(p: &[Path], q: &[Path]) -> bool {
    let bounds = |paths: &[Path]| {
        let mut b = Aabb::EMPTY;
        paths.iter().for_each(|p| [p.from, p.to].iter().for_each(|&x| b.add(&x.into())));
        b
    };
    bounds(p).meets(&bounds(q))
}

/// Swept queries: a node against a triangle and two edges, in motions that do not hit though their boxes meet,
/// in motions of which a broad phase would sort out most, and in motions that all hit.
pub fn swept(tell: &mut dyn FnMut(Measurement)) {
    const MANY: usize = 1024;
    let sweep = Sweep::default();
    let node = |m: &Paths| swept::node_triangle(&m[0], [&m[1], &m[2], &m[3]], &sweep);
    let edges = |m: &Paths| swept::edge_edge([&m[0], &m[1]], [&m[2], &m[3]], &sweep);
    let node_hits = |m: &Paths| inclusion::node_triangle(&m[0], [&m[1], &m[2], &m[3]], &sweep).is_some();
    let edges_hit = |m: &Paths| inclusion::edge_edge([&m[0], &m[1]], [&m[2], &m[3]], &sweep).is_some();
    let mut figure = |case: &str, motions: &[Paths], ask: &dyn Fn(&[Paths]) -> f64| {
        let seconds = fastest(motions.len(), || {
            black_box(ask(black_box(motions)));
        });
        tell(Measurement::plain("search", format!("swept/{case}"), 1, 1.0 / seconds, "queries/s"));
    };
    let some = |travel: f64, fits: &dyn Fn(&Paths) -> bool| -> Vec<Paths> {
        (0..).map(|seed| motion(seed, travel)).filter(fits).take(MANY).collect()
    };
    let ask_nodes = |all: &[Paths]| all.iter().map(|m| node(m).unwrap_or(1.0)).sum::<f64>();
    let ask_edges = |all: &[Paths]| all.iter().map(|m| edges(m).unwrap_or(1.0)).sum::<f64>();
    for travel in [0.1, 1.0] {
        let miss = some(travel, &|m| boxes_meet(&m[..1], &m[1..]) && !node_hits(m));
        figure(&format!("node-triangle/misses-{travel}"), &miss, &ask_nodes);
        let miss = some(travel, &|m| boxes_meet(&m[..2], &m[2..]) && !edges_hit(m));
        figure(&format!("edge-edge/misses-{travel}"), &miss, &ask_edges);
        let hits = some(travel, &node_hits);
        figure(&format!("node-triangle/hits-{travel}"), &hits, &ask_nodes);
        let hits = some(travel, &edges_hit);
        figure(&format!("edge-edge/hits-{travel}"), &hits, &ask_edges);
    }
}
