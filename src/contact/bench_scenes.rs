//! Scenes to measure searches on, and the measuring itself.
//!
//! | scene          | what                                                                              |
//! |----------------|-----------------------------------------------------------------------------------|
//! | `cubes25`      | five columns of five cubes on a plate, touching (Peng, Feng & Joli 2018)          |
//! | `layers(n)`    | 20 n cubes in n layers with a little noise: 20 … 120 cubes                        |
//! | `pile(k)`      | k triangulated cubes in a brick-like pile with gaps, on a plate                   |
//! | `spheres(h)`   | two spheres of 4 h² triangles that nearly touch                                   |
//!
//! A cube has 56 surface nodes and 54 quads (108 triangles). Everything is made by formula, so a scene is
//! the same everywhere.

use super::brute::Brute;
use super::cells::CellSearch;
use super::classic::Classic;
use super::scene::{Attributes, BodyInput, Rules, Scene};
use super::search::{PairSearch, Positions, Query, SearchError, SearchStats};
use super::three_stage::ThreeStage;
use crate::math::Vec3;
use std::time::Instant;

/// A scene, where its nodes are, and how near is near.
#[derive(Clone, Debug)]
pub struct BenchScene {
    pub name: String,
    pub scene: Scene,
    pub x: Vec<Vec3>,
    /// [m]
    pub reach: f64,
}

/// A number in [0, 1) that looks random, from two counters.
pub fn noise(i: u64, k: u64) -> f64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(k.wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as f64 / (u64::MAX as f64 + 1.0)
}

/// A normal deviate of unit variance.
fn gauss(i: u64, k: u64) -> f64 {
    let u = 1.0 - noise(i, 2 * k);
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * noise(i, 2 * k + 1)).cos()
}

/// Surface nodes and outward quads of a box of `cells` equal cells, its lower corner at zero.
pub(crate) fn box_surface(cells: [usize; 3], size: [f64; 3]) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let n = cells;
    let mut ids = std::collections::HashMap::new();
    let mut x = Vec::new();
    for k in 0..=n[2] {
        for j in 0..=n[1] {
            for i in 0..=n[0] {
                if [0, n[0]].contains(&i) || [0, n[1]].contains(&j) || [0, n[2]].contains(&k) {
                    ids.insert([i, j, k], x.len() as u32);
                    let at = |i: usize, d: usize| size[d] * i as f64 / n[d] as f64;
                    x.push(Vec3::new(at(i, 0), at(j, 1), at(k, 2)));
                }
            }
        }
    }
    let mut quads = Vec::new();
    for d in 0..3 {
        let (e, f) = ((d + 1) % 3, (d + 2) % 3);
        for j in 0..n[f] {
            for i in 0..n[e] {
                let corner = |level: usize, i: usize, j: usize| {
                    let mut at = [0; 3];
                    (at[d], at[e], at[f]) = (level, i, j);
                    ids[&at]
                };
                let side = |l: usize| {
                    [corner(l, i, j), corner(l, i + 1, j), corner(l, i + 1, j + 1), corner(l, i, j + 1)]
                };
                let mut low = side(0);
                low.reverse();
                quads.push(low);
                quads.push(side(n[d]));
            }
        }
    }
    (x, quads)
}

/// Bodies one after another.
#[derive(Default)]
struct Yard {
    x: Vec<Vec3>,
    bodies: Vec<BodyInput>,
}

impl Yard {
    fn add(&mut self, x: impl IntoIterator<Item = Vec3>, quads: &[[u32; 4]], attributes: Attributes) {
        let first = self.x.len() as u32;
        self.x.extend(x);
        let quads: Vec<_> = quads.iter().map(|q| q.map(|k| k + first)).collect();
        let name = format!("body{}", self.bodies.len());
        self.bodies.push(BodyInput::of_quads(&name, &quads, attributes));
    }

    fn finish(self, name: String, reach: f64, split_quads: bool) -> BenchScene {
        let scene = Scene::new(&self.bodies, &self.x, Rules { split_quads, ..Rules::default() });
        BenchScene { name, scene, x: self.x, reach }
    }
}

/// Five columns of five cubes with edges 0.50 and 0.55 on a plate; 1408 nodes, 1356 quads. `gap` is the
/// clear height between cubes: the paper's start has 0.1 m, 0 lets them touch.
pub(crate) fn cubes25(gap: f64) -> BenchScene {
    let mut yard = Yard::default();
    for (cx, cz) in [(0.0, 0.0), (0.7, 0.7), (0.7, -0.7), (-0.7, 0.7), (-0.7, -0.7)] {
        let mut low = 0.0;
        for k in 0..5 {
            let edge = if k % 2 == 0 { 0.5 } else { 0.55 };
            let (x, quads) = box_surface([3, 3, 3], [edge; 3]);
            let corner = Vec3::new(cx - 0.5 * edge, low, cz - 0.5 * edge);
            yard.add(x.into_iter().map(|p| p + corner), &quads, Attributes::default());
            low += edge + gap;
        }
    }
    let (x, quads) = box_surface([1, 1, 1], [4.0, 0.2, 4.0]);
    let corner = Vec3::new(-2.0, -0.2, -2.0);
    yard.add(x.into_iter().map(|p| p + corner), &quads, Attributes::obstacle(true));
    yard.finish("cubes25".into(), 1e-3, false)
}

/// The columns of [`cubes25`] with clear height 0.1 m, thrown at the plate at 20 m/s with 10 m/s across,
/// `time` after the start (0 … 0.05 s): each cube comes down until it stands, trembles, and leaves again.
/// A motion made for measuring, not a solution.
pub(crate) fn cubes25_motion(start: &BenchScene, time: f64, x: &mut [Vec3]) {
    let stand = 0.03;
    for (b, body) in start.scene.bodies.iter().enumerate().take(25) {
        let k = b % 5;
        let slots = start.scene.slots_of(body);
        let fall = 20.0 * time.min(stand);
        let down = fall.min(0.1 * k as f64 + 0.0005);
        let up = 12.0 * (time - stand).max(0.0) * (1.0 + 0.2 * k as f64);
        let across = -10.0 * time * (1.0 - 4.0 * time);
        for &node in slots {
            let p = start.x[node as usize];
            let tremble = 5e-4 * (900.0 * time + 7.0 * p.x + 5.0 * p.y + 3.0 * p.z).sin();
            x[node as usize] = p + Vec3::new(tremble, up - down + tremble, across - 0.5 * tremble);
        }
    }
}

/// 20 n cubes: 5 × 4 columns at a pitch of 0.58 m, n layers of edges 0.50 and 0.55 in turn, no gap, nodes
/// displaced by 1 mm (one standard deviation).
pub fn layers(n: usize) -> BenchScene {
    let mut yard = Yard::default();
    let mut seed = 0;
    for j in 0..4 {
        for i in 0..5 {
            let mut low = 0.0;
            for layer in 0..n {
                let edge = if (i + j + layer) % 2 == 0 { 0.5 } else { 0.55 };
                let (x, quads) = box_surface([3, 3, 3], [edge; 3]);
                let centre = Vec3::new(0.58 * i as f64 - 1.16, low, 0.58 * j as f64 - 0.87);
                let moved = x.into_iter().map(|p| {
                    seed += 1;
                    let d = Vec3::new(gauss(seed, 0), gauss(seed, 1), gauss(seed, 2));
                    p - Vec3::new(0.5 * edge, 0.0, 0.5 * edge) + centre + 1e-3 * d
                });
                yard.add(moved, &quads, Attributes::default());
                low += edge;
            }
        }
    }
    let (x, quads) = box_surface([1, 1, 1], [6.0, 0.2, 6.0]);
    yard.add(x.into_iter().map(|p| p + Vec3::new(-3.0, -0.2, -3.0)), &quads, Attributes::obstacle(true));
    yard.finish(format!("cubes{}", 20 * n), 1e-3, false)
}

/// `k` unit cubes of 108 triangles in a pile of n × n columns (n³ ≥ k), every other layer shifted, each
/// cube turned and moved a little; gaps of about 0.02 between neighbours and above a plate of squares.
pub fn pile(k: usize) -> BenchScene {
    let gap = 0.02;
    let pitch = 1.0 + gap;
    let n = (1..).find(|n| n * n * n >= k).unwrap_or(1);
    let mut yard = Yard::default();
    let (unit, quads) = box_surface([3, 3, 3], [1.0; 3]);
    for i in 0..k {
        let (layer, at) = (i / (n * n), i % (n * n));
        let odd = (layer % 2) as f64;
        let corner = Vec3::new(
            pitch * (at % n) as f64 + 0.31 * odd,
            pitch * (at / n) as f64 + 0.18 * odd,
            gap + pitch * layer as f64,
        );
        let wobble = |c| (2.0 * noise(i as u64, c) - 1.0) * gap / 8.0;
        let corner = corner + Vec3::new(wobble(1), wobble(2), wobble(3));
        let angle = 0.005 * (2.0 * noise(i as u64, 4) - 1.0);
        let middle = Vec3::new(0.5, 0.5, 0.0);
        let turn = nalgebra::Rotation3::new(Vec3::new(0.0, 0.0, angle));
        yard.add(unit.iter().map(|p| turn * (p - middle) + middle + corner), &quads, Attributes::default());
    }
    let m = n + 2;
    let at = |i: usize| pitch * (i as f64 - 1.0);
    let plate = (0..(m + 1) * (m + 1)).map(|i| Vec3::new(at(i % (m + 1)), at(i / (m + 1)), 0.0));
    let squares: Vec<[u32; 4]> = (0..m * m)
        .map(|i| {
            let a = (i % m + i / m * (m + 1)) as u32;
            [a, a + 1, a + m as u32 + 2, a + m as u32 + 1]
        })
        .collect();
    yard.add(plate, &squares, Attributes::obstacle(true));
    yard.finish(format!("pile{k}"), 2.0 * gap, true)
}

/// Moves a pile: every cube on its own small orbit, turning and breathing, about 0.4 % of an edge a step.
pub fn pile_motion(start: &BenchScene, step: usize, x: &mut [Vec3]) {
    let t = step as f64 * 0.05;
    for (b, body) in start.scene.bodies.iter().enumerate().filter(|(_, b)| !b.attributes.rigid()) {
        let phase = |c| std::f64::consts::TAU * noise(b as u64, c);
        let wave = |c: u64| (t + phase(c)).sin() - phase(c).sin();
        let offset = 0.05 * Vec3::new(wave(10), wave(11), wave(12));
        let turn = nalgebra::Rotation3::new(0.03 * Vec3::new(wave(13), wave(14), wave(15)));
        let slots = start.scene.slots_of(body);
        let Some(&first) = slots.first() else { continue };
        let centre = start.x[first as usize];
        for &node in slots {
            let p = start.x[node as usize] - centre;
            let breath = 1.0 + 0.01 * wave(16) * p.x;
            x[node as usize] = centre + offset + turn * (breath * p);
        }
    }
}

/// Two unit spheres of 4 h² triangles each, 10⁻³ apart along x, with different meshes.
pub fn spheres(h: usize) -> BenchScene {
    let (around, rings) = (2 * h, h);
    let sphere = |turn: f64| {
        let mut x = vec![Vec3::new(0.0, 0.0, 1.0)];
        for k in 1..=rings {
            let t = std::f64::consts::PI * k as f64 / (rings + 1) as f64;
            for j in 0..around {
                let p = std::f64::consts::TAU * j as f64 / around as f64 + turn;
                x.push(Vec3::new(t.sin() * p.cos(), t.sin() * p.sin(), t.cos()));
            }
        }
        x.push(Vec3::new(0.0, 0.0, -1.0));
        x
    };
    let last = (around * rings + 1) as u32;
    let at = |k: usize, j: usize| (1 + k * around + j % around) as u32;
    let mut triangles = Vec::new();
    for j in 0..around {
        triangles.push([0, at(0, j), at(0, j + 1)]);
        triangles.push([last, at(rings - 1, j + 1), at(rings - 1, j)]);
        for k in 0..rings - 1 {
            triangles.push([at(k, j), at(k + 1, j), at(k + 1, j + 1)]);
            triangles.push([at(k, j), at(k + 1, j + 1), at(k, j + 1)]);
        }
    }
    let (a, mut b) = (sphere(0.1), sphere(0.2357));
    let largest = a.iter().fold(0.0, |m: f64, p| m.max(p.x));
    let smallest = b.iter().fold(0.0, |m: f64, p| m.min(p.x));
    b.iter_mut().for_each(|p| p.x += largest - smallest + 1e-3);
    let shifted: Vec<_> = triangles.iter().map(|t| t.map(|k| k + a.len() as u32)).collect();
    let bodies = [
        BodyInput::of_triangles("left", &triangles, Attributes::default()),
        BodyInput::of_triangles("right", &shifted, Attributes::default()),
    ];
    let x: Vec<Vec3> = a.into_iter().chain(b).collect();
    let scene = Scene::new(&bodies, &x, Rules::default());
    BenchScene { name: format!("spheres{}", 4 * h * h), scene, x, reach: 0.02 }
}

/// A search by name. Without pretest every candidate is measured, as in the literature; with it a glance comes
/// first, as in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Brute,
    BrutePretest,
    Classic,
    ClassicPretest,
    /// Without pretest, and walks its trees at every step.
    ThreeStageAnew,
    /// Without pretest; keeps candidates while they hold.
    ThreeStageBare,
    /// As the methods use it: keeps candidates, and looks before it measures.
    ThreeStage,
    Cells,
}

impl Engine {
    pub const ALL: [Engine; 8] = [
        Engine::Brute,
        Engine::BrutePretest,
        Engine::Classic,
        Engine::ClassicPretest,
        Engine::ThreeStageAnew,
        Engine::ThreeStageBare,
        Engine::ThreeStage,
        Engine::Cells,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Engine::Brute => "brute",
            Engine::BrutePretest => "brute-pretest",
            Engine::Classic => "classic",
            Engine::ClassicPretest => "classic-pretest",
            Engine::ThreeStageAnew => "three-stage-anew",
            Engine::ThreeStageBare => "three-stage-bare",
            Engine::ThreeStage => "three-stage",
            Engine::Cells => "cells",
        }
    }

    pub fn make(self) -> Box<dyn PairSearch> {
        let three_stage = |forgetful: bool, pretest: bool| {
            let mut search = ThreeStage::new();
            search.forgetful = forgetful;
            search.narrow().no_pretest = !pretest;
            Box::new(search)
        };
        match self {
            Engine::Brute => Box::new(Brute::new(false)),
            Engine::BrutePretest => Box::new(Brute::new(true)),
            Engine::Classic => Box::new(Classic::new(false)),
            Engine::ClassicPretest => Box::new(Classic::new(true)),
            Engine::ThreeStageAnew => three_stage(true, false),
            Engine::ThreeStageBare => three_stage(false, false),
            Engine::ThreeStage => three_stage(false, true),
            Engine::Cells => Box::new(CellSearch::new()),
        }
    }
}

/// What a measurement found, per step.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    pub scene: String,
    pub engine: &'static str,
    pub threads: usize,
    pub nodes: usize,
    pub facets: usize,
    pub edges: usize,
    pub bodies: usize,
    pub steps: usize,
    /// Candidates, counts and times, mean over the steps.
    pub vertex_face_candidates: usize,
    pub edge_edge_candidates: usize,
    pub stats: SearchStats,
    /// Whole time of a step, mean [s].
    pub seconds: f64,
}

/// Runs one search over `steps` positions given by `place`, in the thread pool of the caller. With
/// `gather_only` the candidates are found and not measured. The first step is left out of the means when
/// there are more. Everything is done `rounds` times with a new search, and of each step the fastest counts: what
/// else the machine does is left out.
pub fn measure(
    bench: &BenchScene,
    engine: Engine,
    query: &Query,
    (rounds, steps): (usize, usize),
    gather_only: bool,
    mut place: impl FnMut(usize, &mut [Vec3]),
) -> Result<Measurement, SearchError> {
    let mut x = bench.x.clone();
    let mut fastest: Vec<(f64, SearchStats)> = vec![(f64::INFINITY, SearchStats::default()); steps];
    let (mut vertex_face, mut edge_edge) = (0, 0);
    let first = usize::from(steps > 1);
    for round in 0..rounds.max(1) {
        let mut search = engine.make();
        for (step, fastest) in fastest.iter_mut().enumerate() {
            place(step, &mut x);
            let begin = Instant::now();
            if gather_only {
                search.gather(&bench.scene, Positions::now(&x), query)?;
            } else {
                search.find(&bench.scene, &x, None, query)?;
            }
            let took = begin.elapsed().as_secs_f64();
            if took < fastest.0 {
                *fastest = (took, *search.stats());
            }
            if round == 0 && step >= first {
                let (nodes, edges, _) = search.candidates().count();
                (vertex_face, edge_edge) = (vertex_face + nodes, edge_edge + edges);
            }
        }
    }
    let counted = &fastest[first.min(steps)..];
    let sum = counted.iter().fold(SearchStats::default(), |sum, s| sum.plus(&s.1));
    let count = counted.len().max(1);
    Ok(Measurement {
        scene: bench.name.clone(),
        engine: engine.name(),
        threads: rayon::current_num_threads(),
        nodes: bench.scene.slots.len(),
        facets: bench.scene.facets.len(),
        edges: bench.scene.edges.len(),
        bodies: bench.scene.bodies.len(),
        steps,
        vertex_face_candidates: vertex_face / count,
        edge_edge_candidates: edge_edge / count,
        stats: sum.times(1.0 / count as f64),
        seconds: counted.iter().map(|s| s.0).sum::<f64>() / count as f64,
    })
}
