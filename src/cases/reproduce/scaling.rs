//! What finding contacts costs (Peng, Feng & Joli 2018, tables 2 and 3, figures 17 and 18): twenty-five cubes instant by
//! instant and with three searches, then 20, 40 … 120 cubes.
//!
//! The searches are compared over the positions of the same run: all nodes with all faces, trees of faces as in the
//! literature, and the three-stage search. Each measures every candidate it finds, without a glance at boxes first; the
//! three-stage one keeps its lists while they hold, as it does in a run. Each has one thread. Times are the least of some
//! rounds.
//!
//! The paper's pairs, times and machine are its own: its scene is known in parts only, and its elements cost hundreds of
//! times more than ours, so that the share of the search in a step cannot be compared.

use super::bars::curve;
use super::watch::Seen;
use super::{Check, Outcome, Part, Published, cubes, deck_of, largest};
use crate::cases::bench::search as bench;
use crate::contact::bench_scenes::{self as scenes, BenchScene, Engine};
use crate::contact::search::{PairSearch, Query, SearchError};
use crate::contact::three_stage::ThreeStage;
use crate::look::chart::{Figure, Panel};
use crate::look::draw::Drawing;
use crate::look::sheet::{Sheet, count, figure};
use crate::math::Vec3;
use crate::model::Model;
use crate::run::Look;
use std::time::Instant;

/// Instants of table 2 [s], pairs, time of the search and of the whole step in the paper [s].
const TABLE_2: [(f64, f64, f64, f64); 6] = [
    (0.0, 160.0, 0.015, 0.141),
    (0.01, 240.0, 0.017, 0.265),
    (0.02, 250.0, 0.017, 0.266),
    (0.03, 320.0, 0.028, 0.406),
    (0.04, 330.0, 0.031, 0.391),
    (0.05, 190.0, 0.017, 0.203),
];
/// Searches of table 3 and their columns here: time and tests of a step; then time and whole time of 500 steps in the
/// paper [s].
const TABLE_3: [(Engine, [&str; 2], &str, f64, f64); 3] = [
    (Engine::Brute, ["brute", "brute tests"], "all with all", 7720.023, 7867.056),
    (Engine::Classic, ["classic", "classic tests"], "trees of faces", 124.234, 277.020),
    (Engine::ThreeStageBare, ["three-stage", "three-stage tests"], "three stages", 11.662, 167.626),
];
/// The same with a glance at boxes before a distance is taken.
const WITH_GLANCE: [(Engine, &str); 3] = [
    (Engine::BrutePretest, "brute, glance"),
    (Engine::ClassicPretest, "classic, glance"),
    (Engine::ThreeStage, "three-stage, glance"),
];
/// How near is near [m].
const REACH: f64 = 1e-3;
/// Steps before and after an instant over which times are averaged.
const AROUND: usize = 10;
/// Layers of twenty cubes.
const LAYERS: [usize; 6] = [1, 2, 3, 4, 5, 6];
/// Nodes of a cube that can touch.
const SURFACE: usize = 56;

/// The deck of so many layers.
fn deck(layers: usize) -> String {
    let (lower, upper) = (layers.div_ceil(2), layers / 2);
    let text = deck_of("cubes-scaling");
    let paragraphs = text.split("\n\n").filter_map(|p| {
        let count = if p.starts_with("[body.upper") { upper } else { lower };
        (count > 0).then(|| p.replace(", 2, 3], spacing", &format!(", 2, {count}], spacing")))
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn name(cubes: usize, round: usize) -> String {
    format!("cubes-{cubes}-{round}")
}

/// What steps have cost so far.
fn clock(look: &Look, seen: &mut Seen) {
    let p = &look.ledger.phases;
    seen.push("search", p.search);
    seen.push("steps", p.force + p.search + p.response + p.solve);
}

/// The same, and positions; at the end, what other searches would have cost.
fn look(look: &Look, seen: &mut Seen) {
    clock(look, seen);
    seen.positions.push(look.state.x.clone());
    if look.last {
        let (model, end) = (&look.case.model, look.case.end);
        // what could not be measured is missing, and its checks fail
        if let Ok(pool) = crate::run::pool(1) {
            let _ = pool.install(|| compare(model, end, seen).and_then(|()| refine(seen)));
        }
    }
}

/// Times the searches over the positions that were kept, up to time `end`.
fn compare(model: &Model, end: f64, seen: &mut Seen) -> Result<(), SearchError> {
    let mut x = model.reference.clone();
    let nodes = x.len();
    x.extend(model.contact.obstacle_nodes());
    let scene = BenchScene { name: String::new(), scene: model.contact.scene(model, false), x, reach: REACH };
    let query = Query::vertex_face(REACH);
    let positions = std::mem::take(&mut seen.positions);
    let time = |engine: Engine, (rounds, steps): (usize, usize)| {
        let apart = (positions.len() - 1) / steps;
        let place = |step: usize, x: &mut [Vec3]| x[..nodes].copy_from_slice(&positions[step * apart]);
        scenes::measure(&scene, engine, &query, (rounds, steps), false, place)
    };
    let all = positions.len() - 1;
    let effort = |engine: Engine| match engine {
        Engine::Brute | Engine::BrutePretest => (2, 10),
        _ => (5, all),
    };
    for (engine, [seconds, tests], ..) in TABLE_3 {
        let m = time(engine, effort(engine))?;
        seen.push(seconds, m.seconds);
        seen.push(tests, m.stats.elementary_tests as f64);
    }
    // lists that are kept are longer than those gathered anew: the tests to compare are of these
    let m = time(Engine::ThreeStageAnew, (1, all))?;
    seen.push("anew tests", m.stats.elementary_tests as f64);
    for (engine, seconds) in WITH_GLANCE {
        let m = time(engine, effort(engine))?;
        seen.push(seconds, m.seconds);
    }
    let mut search = ThreeStage::new();
    search.forgetful = true;
    let mut x = scene.x.clone();
    for (t, ..) in TABLE_2 {
        let step = (t / end * all as f64).round() as usize;
        x[..nodes].copy_from_slice(&positions[step]);
        search.find(&scene.scene, &x, None, &query)?;
        seen.push("pairs", search.stats().elementary_tests as f64);
    }
    Ok(())
}

/// Exponent of the time of a search in the number of nodes, where one pair touches and the mesh is refined.
fn refine(seen: &mut Seen) -> Result<(), SearchError> {
    let spheres = [scenes::spheres(32), scenes::spheres(128)];
    let mut least = [f64::INFINITY; 2];
    for _ in 0..3 {
        for (scene, least) in spheres.iter().zip(&mut least) {
            let mut search = ThreeStage::new();
            search.forgetful = true;
            // the second search of a kind needs no new memory
            for _ in 0..2 {
                let begin = Instant::now();
                search.find(&scene.scene, &scene.x, None, &Query::vertex_face(1.1e-3))?;
                *least = least.min(begin.elapsed().as_secs_f64());
            }
        }
    }
    let nodes = spheres.each_ref().map(|s| s.x.len() as f64);
    seen.push("refined", (least[1] / least[0]).ln() / (nodes[1] / nodes[0]).ln());
    Ok(())
}

/// Runs of so many cubes, all rounds.
fn rounds(o: &[Outcome], cubes: usize) -> impl Iterator<Item = &Outcome> {
    let prefix = format!("cubes-{cubes}-");
    o.iter().filter(move |o| o.name.starts_with(&prefix))
}

/// Time of every step by a column of the clock, the least of all rounds [s].
fn quickest(o: &[Outcome], cubes: usize, column: &str) -> Vec<f64> {
    let so_far: Vec<Vec<f64>> = rounds(o, cubes).map(|o| o.column(column)).collect();
    let rows = so_far.iter().map(Vec::len).min().unwrap_or(0);
    (1..rows).map(|k| so_far.iter().map(|c| c[k] - c[k - 1]).fold(f64::NAN, f64::min)).collect()
}

/// Search and rest of all steps of so many cubes [s].
fn cost(o: &[Outcome], cubes: usize) -> [f64; 2] {
    let [search, steps] = ["search", "steps"].map(|c| quickest(o, cubes, c).iter().sum::<f64>());
    [search, steps - search]
}

/// Layers that were run, with search and rest of all steps [s].
fn series(o: &[Outcome]) -> Vec<(usize, [f64; 2])> {
    let run = LAYERS.into_iter().filter(|&n| rounds(o, 20 * n).next().is_some());
    run.map(|n| (n, cost(o, 20 * n))).collect()
}

/// Search and whole step around an instant [s].
fn around(o: &[Outcome], time: f64) -> [f64; 2] {
    ["search", "steps"].map(|column| {
        let steps = quickest(o, 25, column);
        let at = (time / o[0].summary.end_time * steps.len() as f64).round() as usize;
        let near = &steps[at.saturating_sub(AROUND)..(at + AROUND).min(steps.len())];
        near.iter().sum::<f64>() / near.len() as f64
    })
}

/// Box tests per pair of the series, most over least from 40 cubes on.
fn boxes_per_pair() -> f64 {
    let mut found = f64::NAN;
    let _ = bench::measure("series", &mut |f| {
        if let bench::Figure::Plain(m) = f
            && m.case == "series/textbook/most-over-least-from-40"
        {
            found = m.value;
        }
    });
    found
}

pub(super) const CUBES_SCALING: Published = Published {
    name: "cubes-scaling",
    method: "semi-explicit",
    source: "Peng, Feng & Joli 2018, tables 2 and 3, figures 17 and 18: what finding contacts costs",
    parts: |quick| {
        let (layers, rounds) = if quick { (vec![1, 2, 6], 2) } else { (LAYERS.to_vec(), 3) };
        let mut parts = Vec::new();
        for round in 1..=rounds {
            let watch = if round == 1 { look } else { clock };
            parts.push(Part::watched(name(25, round), cubes::deck(), watch));
            parts.extend(layers.iter().map(|&n| Part::watched(name(20 * n, round), deck(n), clock)));
        }
        parts
    },
    checks: |o| {
        let first = &o[0];
        let of = |column: &str| first.last(column);
        let over = |slow: &str, fast: &str| of(slow) / of(fast);
        let all = series(o);
        let share = |n: usize| {
            let found = all.iter().find(|s| s.0 == n);
            found.map_or(f64::NAN, |(_, [search, rest])| search / (search + rest))
        };
        let mut checks = vec![
            Check::at_least(
                "25 cubes: time of all with all over three stages",
                over("brute", "three-stage"),
                100.0,
            ),
            Check::at_least(
                "25 cubes: tests of trees of faces over three stages",
                over("classic tests", "anew tests"),
                10.0,
            ),
            Check::at_least(
                "with a glance first: all with all over trees of faces",
                over("brute, glance", "classic, glance"),
                1.0,
            ),
            Check::at_least(
                "with a glance first: trees of faces over three stages",
                over("classic, glance", "three-stage, glance"),
                1.0,
            ),
            Check::at_most("40 to 120 cubes: box tests per pair, most over least", boxes_per_pair(), 1.4),
            Check::at_most("one pair that touches: exponent of time in nodes", of("refined"), 1.2),
        ];
        if !first.quick {
            // wall times beside each other: nothing for a machine that is busy with other things
            checks.push(Check::at_least(
                "25 cubes: time of trees of faces over three stages",
                over("classic", "three-stage"),
                5.0,
            ));
            let growth = share(6) / share(2);
            checks.push(Check::at_most("40 to 120 cubes: share of the search, growth", growth, 1.1));
        }
        for (n, _) in &all {
            let drift = largest(rounds(o, 20 * n).map(|o| o.balance.linear_drift_max));
            checks.push(Check::at_most(format!("{} cubes: drift of momentum", 20 * n), drift, 1e-12));
            let nodes = rounds(o, 20 * n).next().map_or(f64::NAN, |o| o.summary.nodes as f64);
            checks.push(Check::within(format!("{} cubes: nodes", 20 * n), nodes, (64 * 20 * n) as f64, 0.0));
        }
        checks
    },
    figures: |o| {
        let mut drawn = vec![("table-2".to_owned(), table_2(o)), ("table-3".to_owned(), table_3(o))];
        let all = series(o);
        let nodes: Vec<f64> = all.iter().map(|(n, _)| (20 * SURFACE * n) as f64).collect();
        let plot = |title: &str, heading: &str, unit: &str, y: Vec<f64>| {
            let figure = Figure {
                title: title.into(),
                caption: format!("20 to 120 cubes, 500 steps of 1e-4 s, {} threads", o[0].summary.threads),
                along: "nodes that can touch".into(),
                time: &nodes,
                time_unit: String::new(),
                panels: vec![Panel {
                    heading: heading.into(),
                    unit: unit.into(),
                    curves: vec![curve(heading, "", y, 0)],
                    height: 200.0,
                    ..Panel::default()
                }],
                note: String::new(),
                ..Figure::default()
            };
            figure.draw()
        };
        let seconds = all.iter().map(|(_, c)| c[0]).collect();
        let share = all.iter().map(|(_, [search, rest])| 100.0 * search / (search + rest)).collect();
        drawn.push((
            "figure-17".into(),
            plot("Figure 17: time to find contacts", "time of the search", "s", seconds),
        ));
        drawn.push((
            "figure-18".into(),
            plot("Figure 18: share of finding contacts", "share of all time", "%", share),
        ));
        drawn
    },
};

fn percent(x: f64) -> String {
    if x.is_nan() { figure(x) } else { format!("{:.1} %", 100.0 * x) }
}

fn table_2(o: &[Outcome]) -> Drawing {
    let pairs = o[0].column("pairs");
    let rows = TABLE_2.iter().enumerate().map(|(k, &(time, theirs, search, total))| {
        let [own, whole] = around(o, time);
        vec![
            format!("{:.0}", 1e3 * time),
            count(pairs.get(k).copied().unwrap_or(f64::NAN)),
            figure(1e3 * own),
            figure(1e3 * whole),
            percent(own / whole),
            count(theirs),
            figure(1e3 * search),
            figure(1e3 * total),
            percent(search / total),
        ]
    });
    Sheet {
        title: "Table 2: a step of twenty-five cubes".into(),
        caption: "Pairs whose distance is taken, and times of a step, ours and the paper's".into(),
        head: vec![
            "time\n[ms]",
            "pairs",
            "search\n[ms]",
            "step\n[ms]",
            "share",
            "paper:\npairs",
            "search\n[ms]",
            "step\n[ms]",
            "share",
        ],
        rows: rows.collect(),
    }
    .draw()
}

fn table_3(all: &[Outcome]) -> Drawing {
    let (o, steps) = (&all[0], 500.0);
    let rest = cost(all, 25)[1];
    let quickest = [o.last("three-stage"), TABLE_3[2].3];
    let rows = TABLE_3.iter().map(|&(_, [seconds, tests], told, search, total)| {
        let own = steps * o.last(seconds);
        vec![
            told.to_owned(),
            count(o.last(tests)),
            figure(own),
            figure(own + rest),
            percent(own / (own + rest)),
            figure(own / (steps * quickest[0])),
            figure(search),
            figure(total),
            percent(search / total),
            figure(search / quickest[1]),
        ]
    });
    Sheet {
        title: "Table 3: three ways to find contacts".into(),
        caption: "500 steps of twenty-five cubes, every candidate measured, ours and the paper's".into(),
        head: vec![
            "search",
            "tests\nper step",
            "search\n[s]",
            "all\n[s]",
            "share",
            "ratio",
            "paper:\nsearch [s]",
            "all\n[s]",
            "share",
            "ratio",
        ],
        rows: rows.collect(),
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decks_of_the_series_have_twenty_cubes_a_layer() {
        for n in LAYERS {
            let text = deck(n);
            let input = crate::deck::Input {
                name: "cubes",
                text: &text,
                folder: std::path::Path::new("."),
                options: &[],
            };
            let loaded = crate::deck::load(&input).map_err(|e| e.to_string()).unwrap();
            assert_eq!(loaded.case.model.bodies.len(), 20 * n);
        }
    }
}
