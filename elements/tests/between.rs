//! Tangents of every block, and forces between two configurations: every element with every law that a deck can name.

use carom_elements::element::choice::{Integration, Kind, Plane, maker};
use carom_elements::element::patch::Scratch;
use carom_elements::element::{Between, Block, PointState, Positions};
use carom_elements::material::Law;
use carom_elements::math::{Mat3, Vec3};
use carom_elements::mesh::{CellKind, shape};

/// A block with a reference shape.
struct Case {
    name: String,
    block: Box<dyn Block>,
    reference: Vec<Vec3>,
    dimension: usize,
    /// The linear law knows no rotations.
    turns: bool,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
    fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.next())
    }
    /// Moves in the directions that the element has.
    fn shaken(&mut self, x: &[Vec3], dimension: usize, by: f64) -> Vec<Vec3> {
        let mut one = |x: &Vec3| {
            let by = 2.0 * by * self.vector();
            Vec3::from_fn(|i, _| if i < dimension { x[i] + by[i] } else { x[i] })
        };
        x.iter().map(&mut one).collect()
    }
    /// A stretch and a turn.
    fn deformed(&mut self, x: &[Vec3], dimension: usize) -> Vec<Vec3> {
        let mut f = Mat3::identity();
        for i in 0..dimension {
            for j in 0..dimension {
                f[(i, j)] += 0.5 * self.next();
            }
        }
        x.iter().map(|x| f * x).collect()
    }
}

fn mesh(cell: CellKind, n: u32) -> carom_elements::mesh::Mesh {
    let size = f64::from(n);
    match cell {
        CellKind::Bar2 => shape::Bar::new(size, n).build(),
        CellKind::Tri3 | CellKind::Quad4 => {
            let mut rectangle = shape::Rectangle::new([size, size], [n, n]);
            rectangle.cell = cell;
            rectangle.build()
        }
        _ => {
            let mut solid = shape::Box::new([size; 3], [n; 3]);
            solid.cell = cell;
            solid.build()
        }
    }
    .unwrap()
}

/// Every element and law: one or two cells a side, distorted.
fn cases() -> Vec<Case> {
    let full = [CellKind::Bar2, CellKind::Tri3, CellKind::Quad4, CellKind::Tet4, CellKind::Hex8];
    let mut kinds: Vec<(Kind, u32)> = full.map(|cell| (Kind::new(cell), 1)).to_vec();
    for cell in [CellKind::Tri3, CellKind::Quad4] {
        kinds.push((Kind { plane: Plane::Stress, section: 0.7, ..Kind::new(cell) }, 1));
    }
    kinds.push((Kind { integration: Integration::OnePoint, ..Kind::new(CellKind::Hex8) }, 1));
    for cell in [CellKind::Tet4, CellKind::Hex8] {
        kinds.push((Kind { integration: Integration::Nodal, ..Kind::new(cell) }, 2));
    }
    let mut cases = Vec::new();
    let mut random = Random(1);
    for (kind, n) in kinds {
        for law in Law::samples(2.5) {
            let mesh = mesh(kind.cell, n);
            let dimension = kind.cell.dimension();
            let reference = random.shaken(&mesh.nodes, dimension, 0.12);
            let block = maker(kind, &law)(mesh.cells[0].nodes.clone(), &reference);
            assert!(block.conserves());
            let name = format!("{:?} {:?} {:?}, {}", kind.cell, kind.integration, kind.plane, law.name());
            let turns = !matches!(law, Law::Linear { .. });
            cases.push(Case { name, block, reference, dimension, turns });
        }
    }
    cases
}

impl Case {
    /// Energy and forces at `x`.
    fn at(&self, x: &[Vec3]) -> (f64, Vec<Vec3>) {
        let positions = Positions { reference: &self.reference, current: x };
        let (patches, mut energy) = (self.block.patches(), 0.0);
        let mut sum = vec![Vec3::zeros(); x.len()];
        for p in 0..patches.len() {
            let mut forces = vec![Vec3::zeros(); patches.nodes(p).len()];
            let state = PointState { old: &[], new: &mut [] };
            energy +=
                self.block.force_pass(p, positions, state, false, &mut Scratch::new(), &mut forces).energy;
            patches.nodes(p).iter().zip(&forces).for_each(|(&n, f)| sum[n as usize] += f);
        }
        (energy, sum)
    }

    /// Energy at the end and forces between two configurations.
    fn between(&self, start: &[Vec3], end: &[Vec3]) -> (f64, Vec<Vec3>) {
        let step = Between { reference: &self.reference, start, end };
        let mut sum = vec![Vec3::zeros(); start.len()];
        let mut energy = 0.0;
        for p in 0..self.block.potentials() {
            let nodes = self.block.stencil(p);
            let mut forces = vec![Vec3::zeros(); nodes.len()];
            energy += self.block.force_between(p, step, &mut forces).energy;
            nodes.iter().zip(&forces).for_each(|(&n, f)| sum[n as usize] += f);
        }
        (energy, sum)
    }

    /// The sum of all tangents times a direction; between two configurations if there is a start.
    fn tangent(&self, start: Option<&[Vec3]>, end: &[Vec3], along: &[Vec3]) -> Vec<Vec3> {
        let mut sum = vec![Vec3::zeros(); end.len()];
        for p in 0..self.block.potentials() {
            let nodes = self.block.stencil(p);
            let width = 3 * nodes.len();
            let mut k = vec![0.0; width * width];
            let reference = &self.reference;
            match start {
                Some(start) => self.block.tangent_between(p, Between { reference, start, end }, &mut k),
                None => self.block.tangent(p, Positions { reference, current: end }, &mut k),
            }
            for (row, k) in k.chunks_exact(width).enumerate() {
                let along = nodes.iter().flat_map(|&n| along[n as usize].iter());
                sum[nodes[row / 3] as usize][row % 3] += k.iter().zip(along).map(|(k, d)| k * d).sum::<f64>();
            }
        }
        sum
    }

    /// Two configurations, deformed and turned, that differ by about `change`.
    fn two(&self, random: &mut Random, change: f64) -> [Vec<Vec3>; 2] {
        let start = random.deformed(&self.reference, self.dimension);
        let start = random.shaken(&start, self.dimension, 0.03);
        let from =
            if change >= 0.1 { random.deformed(&self.reference, self.dimension) } else { start.clone() };
        let end = random.shaken(&from, self.dimension, change.min(0.03));
        [start, end]
    }
}

fn largest(forces: &[Vec3]) -> f64 {
    forces.iter().map(|f| f.norm()).fold(0.0, f64::max)
}

/// Slope by central differences of sixth order.
fn slope(h: f64, force: impl Fn(f64) -> Vec<Vec3>) -> Vec<Vec3> {
    let mut out = vec![Vec3::zeros(); force(0.0).len()];
    for (k, weight) in [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)] {
        for ((out, plus), minus) in out.iter_mut().zip(force(k * h)).zip(force(-k * h)) {
            *out += weight * (plus - minus) / (60.0 * h);
        }
    }
    out
}

const CHANGES: [f64; 6] = [0.1, 1e-2, 1e-3, 1e-4, 1e-7, 1e-11];

/// The identity of Gonzalez (2000), whatever lies between the ends. Its bound is the round-off of what is summed up: the
/// energy itself, and the work of forces on coordinates of size one.
#[test]
fn work_between_two_configurations_is_the_gain_of_energy() {
    for case in cases() {
        let mut random = Random(11);
        for change in CHANGES.into_iter().cycle().take(24) {
            let [start, end] = case.two(&mut random, change);
            let (energy, forces) = case.between(&start, &end);
            let [before, after] = [case.at(&start).0, case.at(&end).0];
            assert!((energy - after).abs() <= 2e-14 * after.abs(), "{}: {energy} {after}", case.name);
            let work: f64 =
                forces.iter().zip(end.iter().zip(&start)).map(|(f, (b, a))| f.dot(&(b - a))).sum();
            let size = before.abs() + after.abs() + largest(&forces);
            let wrong = (work - (after - before)).abs();
            assert!(wrong <= 2e-14 * size, "{}, change {change:e}: {wrong:e} of {size:e}", case.name);
        }
    }
}

#[test]
fn forces_between_are_in_balance_without_moment_about_the_middle() {
    for case in cases() {
        let mut random = Random(12);
        for change in CHANGES.into_iter().cycle().take(12) {
            let [start, end] = case.two(&mut random, change);
            let forces = case.between(&start, &end).1;
            let sum: Vec3 = forces.iter().sum();
            let scale = largest(&forces).max(1.0);
            assert!(sum.norm() < 4e-14 * scale, "{}: {:e}", case.name, sum.norm());
            if case.turns {
                let arms = start.iter().zip(&end).map(|(a, b)| 0.5 * (a + b));
                let moment: Vec3 = arms.zip(&forces).map(|(x, f)| x.cross(f)).sum();
                assert!(moment.norm() < 8e-14 * scale, "{}: {:e}", case.name, moment.norm());
            }
        }
    }
}

/// All three components of every node are moved, also those that a plane body does not use. Beside it the tangents of one
/// configuration: those of all potentials of node-based integration add up too.
#[test]
fn tangents_are_the_slopes_of_forces() {
    for case in cases() {
        let mut random = Random(13);
        for change in [0.1, 1e-2, 1e-4, 1e-9, 0.0] {
            let [start, end] = case.two(&mut random, change);
            // the third derivative jumps where the configurations are equal: far from it, or far beyond it
            let h = if change > 1e-8 { (1e-2 * change).min(1e-3) } else { 1e-3 };
            let along: Vec<Vec3> = end.iter().map(|_| random.vector()).collect();
            let moved = |by: f64| -> Vec<Vec3> { end.iter().zip(&along).map(|(x, d)| x + by * d).collect() };
            for start in [None, Some(&start[..])] {
                let found = case.tangent(start, &end, &along);
                let exact = slope(h, |by| match start {
                    Some(start) => case.between(start, &moved(by)).1,
                    None => case.at(&moved(by)).1,
                });
                let size = largest(&exact).max(1.0);
                for (a, b) in found.iter().zip(&exact) {
                    let wrong = (a - b).norm() / size;
                    assert!(wrong < 1e-8, "{}, change {change:e}: {wrong:e}", case.name);
                }
            }
        }
    }
}

#[test]
fn between_equal_configurations_forces_are_those_of_one() {
    for case in cases() {
        let mut random = Random(14);
        let [x, _] = case.two(&mut random, 0.0);
        let (forces, between) = (case.at(&x).1, case.between(&x, &x).1);
        let along: Vec<Vec3> = x.iter().map(|_| random.vector()).collect();
        let (whole, half) = (case.tangent(None, &x, &along), case.tangent(Some(&x), &x, &along));
        for (a, b) in forces.iter().zip(&between) {
            assert!((a - b).norm() <= 2e-14 * largest(&forces).max(1.0), "{}", case.name);
        }
        for (a, b) in whole.iter().zip(&half) {
            assert!((a - 2.0 * b).norm() <= 1e-13 * largest(&whole), "{}", case.name);
        }
    }
}
