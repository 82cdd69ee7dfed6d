//! Closest points, swept queries and intersections: time per query.
//!
//!     cargo bench --bench contact_narrow

use carom::contact::closest_point::{edge_edge, quad4, seg2, tri3};
use carom::contact::inclusion::{self, Inclusion};
use carom::contact::overlap::triangle_triangle;
use carom::contact::swept::{self, Path, Sweep};
use carom::math::Vec3;
use divan::{Bencher, black_box, counter::ItemsCount};

fn main() {
    divan::main();
}

/// Queries per sample: the data of one kind stays in the cache.
const MANY: usize = 1024;

struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn point(&mut self, r: f64) -> Vec3 {
        Vec3::from_fn(|_, _| r * (2.0 * self.unit() - 1.0))
    }
}

fn run<T>(bencher: Bencher, mut make: impl FnMut(&mut Dice) -> T, mut ask: impl FnMut(&T) -> f64) {
    let mut dice = Dice(1);
    let queries: Vec<T> = (0..MANY).map(|_| make(&mut dice)).collect();
    bencher
        .counter(ItemsCount::new(MANY))
        .bench_local(|| black_box(&queries).iter().map(&mut ask).sum::<f64>());
}

fn four(dice: &mut Dice) -> [Vec3; 4] {
    std::array::from_fn(|_| dice.point(1.0))
}

#[divan::bench]
fn closest_segment(bencher: Bencher) {
    run(bencher, four, |x| seg2(&x[0], &x[1], &x[2]).distance_squared);
}

#[divan::bench]
fn closest_triangle(bencher: Bencher) {
    run(bencher, four, |x| tri3(&x[0], &x[1], &x[2], &x[3]).distance_squared);
}

#[divan::bench]
fn closest_edges(bencher: Bencher) {
    run(bencher, four, |x| edge_edge(&x[0], &x[1], &x[2], &x[3]).distance_squared);
}

/// A unit square whose corners are off by `noise` in the plane and `warp` out of it, and a point near it.
fn quad(dice: &mut Dice, noise: f64, warp: f64) -> (Vec3, [Vec3; 4]) {
    let corner = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let x = corner.map(|[p, q]| {
        let off = dice.point(1.0);
        Vec3::new(p + noise * off.x, q + noise * off.y, warp * off.z)
    });
    (Vec3::new(0.5, 0.5, 0.0) + dice.point(0.6), x)
}

#[divan::bench]
fn closest_quad_parallelogram(bencher: Bencher) {
    run(bencher, |dice| quad(dice, 0.0, 0.0), |(y, x)| quad4(y, x).distance_squared);
}

#[divan::bench]
fn closest_quad_hardly_deformed(bencher: Bencher) {
    run(bencher, |dice| quad(dice, 1e-3, 1e-4), |(y, x)| quad4(y, x).distance_squared);
}

#[divan::bench]
fn closest_quad_deformed(bencher: Bencher) {
    run(bencher, |dice| quad(dice, 0.1, 0.0), |(y, x)| quad4(y, x).distance_squared);
}

#[divan::bench]
fn closest_quad_warped(bencher: Bencher) {
    run(bencher, |dice| quad(dice, 0.1, 0.1), |(y, x)| quad4(y, x).distance_squared);
}

type Motion = [Path; 4];

fn motion(dice: &mut Dice, travel: f64) -> Motion {
    std::array::from_fn(|_| {
        let from = dice.point(1.0);
        Path { from, to: from + dice.point(travel) }
    })
}

fn node(m: &Motion, keep: f64) -> Option<f64> {
    swept::node_triangle(&m[0], [&m[1], &m[2], &m[3]], &Sweep { keep, ..Sweep::default() })
}

fn edge(m: &Motion) -> Option<f64> {
    swept::edge_edge([&m[0], &m[1]], [&m[2], &m[3]], &Sweep::default())
}

fn both_node(m: &Motion) -> Option<f64> {
    inclusion::node_triangle(&m[0], [&m[1], &m[2], &m[3]], &Sweep::default())
}

fn both_edge(m: &Motion) -> Option<f64> {
    inclusion::edge_edge([&m[0], &m[1]], [&m[2], &m[3]], &Sweep::default())
}

/// Motions that do not hit, whose swept boxes overlap.
fn near_miss(dice: &mut Dice, travel: f64, ask: impl Fn(&Motion) -> Option<f64>) -> Motion {
    loop {
        let m = motion(dice, travel);
        let reach = |k: usize| (m[k].from.inf(&m[k].to), m[k].from.sup(&m[k].to));
        let (lo, hi) = (1..4).map(reach).fold(reach(1), |(lo, hi), (a, b)| (lo.inf(&a), hi.sup(&b)));
        let (p, q) = reach(0);
        let overlap = (0..3).all(|i| p[i] <= hi[i] && q[i] >= lo[i]);
        if overlap && ask(&m).is_none() {
            return m;
        }
    }
}

fn hit(dice: &mut Dice, travel: f64, ask: impl Fn(&Motion) -> Option<f64>) -> Motion {
    loop {
        let m = motion(dice, travel);
        if ask(&m).is_some() {
            return m;
        }
    }
}

#[divan::bench(args = [0.01, 0.1, 1.0])]
fn swept_node_triangle_misses(bencher: Bencher, travel: f64) {
    run(bencher, |dice| near_miss(dice, travel, both_node), |m| node(m, 0.1).unwrap_or(1.0));
}

#[divan::bench(args = [0.1, 1.0])]
fn swept_node_triangle_hits(bencher: Bencher, travel: f64) {
    run(bencher, |dice| hit(dice, travel, both_node), |m| node(m, 0.1).unwrap_or(1.0));
}

#[divan::bench(args = [0.01, 0.1, 1.0])]
fn swept_edges_misses(bencher: Bencher, travel: f64) {
    run(bencher, |dice| near_miss(dice, travel, both_edge), |m| edge(m).unwrap_or(1.0));
}

#[divan::bench(args = [0.1, 1.0])]
fn swept_edges_hits(bencher: Bencher, travel: f64) {
    run(bencher, |dice| hit(dice, travel, both_edge), |m| edge(m).unwrap_or(1.0));
}

#[divan::bench(args = [0.1, 1.0])]
fn certified_node_triangle_misses(bencher: Bencher, travel: f64) {
    run(bencher, |dice| near_miss(dice, travel, both_node), |m| both_node(m).unwrap_or(1.0));
}

#[divan::bench(args = [0.1, 1.0])]
fn certified_node_triangle_hits(bencher: Bencher, travel: f64) {
    run(bencher, |dice| hit(dice, travel, both_node), |m| both_node(m).unwrap_or(1.0));
}

#[divan::bench(args = [0.1, 1.0])]
fn certified_edges_hits(bencher: Bencher, travel: f64) {
    run(bencher, |dice| hit(dice, travel, both_edge), |m| both_edge(m).unwrap_or(1.0));
}

#[divan::bench]
fn inclusion_alone_earliest(bencher: Bencher) {
    let first = Inclusion { earliest: true, ..Inclusion::default() };
    run(
        bencher,
        |dice| hit(dice, 1.0, both_node),
        |m| match first.node_triangle(&m[0], [&m[1], &m[2], &m[3]], 0.0) {
            inclusion::Verdict::Clear => 1.0,
            inclusion::Verdict::Impact { t, .. } => t,
        },
    );
}

fn six(dice: &mut Dice) -> [[Vec3; 3]; 2] {
    std::array::from_fn(|_| std::array::from_fn(|_| dice.point(1.0)))
}

#[divan::bench]
fn triangles_intersect(bencher: Bencher) {
    run(bencher, six, |t| f64::from(triangle_triangle(&t[0], &t[1])));
}

#[divan::bench]
fn triangles_intersect_in_one_plane(bencher: Bencher) {
    let flat = |dice: &mut Dice| six(dice).map(|t| t.map(|x| Vec3::new(x.x, x.y, 0.0)));
    run(bencher, flat, |t| f64::from(triangle_triangle(&t[0], &t[1])));
}
