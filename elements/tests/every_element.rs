//! What every element must do with every law of [`Law::samples`]. A new element joins the list in [`cases`].

use carom_elements::element::choice::{Integration, Kind, Plane, maker};
use carom_elements::element::patch::Scratch;
use carom_elements::element::{Block, ElementStress, Pass, PointState, Positions};
use carom_elements::material::{Law, Material, PlaneStress, Uniaxial, WithLaw};
use carom_elements::math::tensor::{INDEX, Sym, full};
use carom_elements::math::{Mat3, Vec3};
use carom_elements::mesh::{CellKind, Mesh, shape};
use nalgebra::{DMatrix, Rotation3, SymmetricEigen};

const DENSITY: f64 = 2.5;
/// Thickness of plates, area of bars.
const SECTION: f64 = 0.7;

fn matrix(s: &Sym<f64>) -> Mat3 {
    let full = full(s);
    Mat3::from_fn(|i, j| full[i][j])
}

/// One element with one law.
struct Case {
    name: String,
    kind: CellKind,
    choice: Kind,
    law: Law,
    /// The linear law knows no rotations.
    turns: bool,
}

impl Case {
    fn make(&self, connectivity: Vec<u32>, reference: &[Vec3]) -> Box<dyn Block> {
        maker(self.choice, &self.law)(connectivity, reference)
    }

    /// Energy density, first Piola–Kirchhoff and Cauchy stress for `F = 1 + h`, from the law alone.
    fn law_at(&self, h: &Mat3) -> (f64, Mat3, Mat3) {
        struct At<'a>(&'a Mat3, Kind);
        impl WithLaw for At<'_> {
            type Output = (f64, Mat3, Mat3);
            fn with<M: Material + Clone>(self, law: M, _: M) -> Self::Output {
                match (self.1.cell, self.1.plane) {
                    (CellKind::Bar2, _) => stress_of(&Uniaxial(law), self.0),
                    (_, Plane::Stress) => stress_of(&PlaneStress(law), self.0),
                    _ => stress_of(&law, self.0),
                }
            }
        }
        self.law.apply(At(h, self.choice))
    }
}

fn stress_of<M: Material>(law: &M, h: &Mat3) -> (f64, Mat3, Mat3) {
    let f = Mat3::identity() + h;
    let strain = if M::SMALL_STRAIN {
        0.5 * (h + h.transpose())
    } else {
        0.5 * (f.transpose() * f - Mat3::identity())
    };
    let e = INDEX.map(|(i, j)| strain[(i, j)]);
    let (w, s) = law.respond(&e, &mut []);
    let s = matrix(&s);
    if M::SMALL_STRAIN {
        return (w, s, s);
    }
    // the volume counts the stretch across a thin body too
    let c = Mat3::identity() + 2.0 * matrix(&law.full_strain(&e, &[]));
    (w, f * s, f * s * f.transpose() / c.determinant().sqrt())
}

/// Every element with every law.
fn cases() -> Vec<Case> {
    let full = |cell| Kind { section: if cell_is_thin(cell) { SECTION } else { 1.0 }, ..Kind::new(cell) };
    let plate = |cell| Kind { plane: Plane::Stress, ..full(cell) };
    let one_point = Kind { integration: Integration::OnePoint, ..full(CellKind::Hex8) };
    let elements = [
        ("bar2", full(CellKind::Bar2)),
        ("tri3", full(CellKind::Tri3)),
        ("tri3 plate", plate(CellKind::Tri3)),
        ("quad4", full(CellKind::Quad4)),
        ("quad4 plate", plate(CellKind::Quad4)),
        ("tet4", full(CellKind::Tet4)),
        ("hex8", full(CellKind::Hex8)),
        ("hex8 one point", one_point),
    ];
    let mut all = Vec::new();
    for law in Law::samples(DENSITY) {
        for (element, choice) in elements {
            all.push(Case {
                name: format!("{element}, {}", law.name()),
                kind: choice.cell,
                choice,
                law: law.clone(),
                turns: !matches!(law, Law::Linear { .. }),
            });
        }
    }
    all
}

fn cell_is_thin(cell: CellKind) -> bool {
    cell.dimension() < 3
}

struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::from_fn(|_, _| self.between(-size, size))
    }
    /// A rotation that the element can make: any (bar, solid) or in its plane.
    fn rotation(&mut self, kind: CellKind) -> Mat3 {
        let axis = if kind.dimension() == 2 { Vec3::z() } else { self.vector(1.0) };
        *Rotation3::new(axis * self.between(0.0, 4.0)).matrix()
    }
    /// `R U` with stretches between `low` and `high` in the directions that the element has.
    fn deformation(&mut self, kind: CellKind, low: f64, high: f64) -> Mat3 {
        let stretches =
            Vec3::from_fn(|i, _| if i < kind.dimension() { self.between(low, high) } else { 1.0 });
        let turn = self.rotation(kind);
        if kind == CellKind::Bar2 {
            return turn * Mat3::from_diagonal(&stretches);
        }
        let q = self.rotation(kind);
        turn * q * Mat3::from_diagonal(&stretches) * q.transpose()
    }
    /// Moves nodes a little within the space of the element.
    fn shake(&mut self, nodes: &mut [Vec3], kind: CellKind, size: f64) {
        for x in nodes {
            let by = self.vector(size);
            for i in 0..kind.dimension() {
                x[i] += by[i];
            }
        }
    }
}

/// Where the tests of shells and of quadratic elements are.
const SHELLS: &str = "these have tests of their own, tests/shell.rs and tests/tet10.rs";

/// One cell of unit size, then shaken.
fn one_cell(kind: CellKind, random: &mut Random, size: f64) -> Vec<Vec3> {
    let corner = |x: u32, y: u32, z: u32| Vec3::new(x as f64, y as f64, z as f64);
    let mut nodes = match kind {
        CellKind::Bar2 => vec![corner(0, 0, 0), corner(1, 0, 0)],
        CellKind::Tri3 => vec![corner(0, 0, 0), corner(1, 0, 0), corner(0, 1, 0)],
        CellKind::Quad4 => vec![corner(0, 0, 0), corner(1, 0, 0), corner(1, 1, 0), corner(0, 1, 0)],
        CellKind::Tet4 => vec![corner(0, 0, 0), corner(1, 0, 0), corner(0, 1, 0), corner(0, 0, 1)],
        CellKind::Hex8 => [0, 1]
            .into_iter()
            .flat_map(|z| [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| corner(x, y, z)))
            .collect(),
        CellKind::Shell3 | CellKind::Tet10 => unreachable!("{SHELLS}"),
    };
    random.shake(&mut nodes, kind, size);
    nodes
}

/// A regular mesh of `n` cells per axis (halved or cut in six for triangles and tets).
fn regular(kind: CellKind, size: [f64; 3], n: [u32; 3]) -> Mesh {
    match kind {
        CellKind::Bar2 => shape::Bar::new(size[0], n[0]).build(),
        CellKind::Tri3 | CellKind::Quad4 => {
            let mut rectangle = shape::Rectangle::new([size[0], size[1]], [n[0], n[1]]);
            rectangle.cell = kind;
            rectangle.build()
        }
        CellKind::Tet4 | CellKind::Hex8 => {
            let mut solid = shape::Box::new(size, n);
            solid.cell = kind;
            solid.build()
        }
        CellKind::Shell3 | CellKind::Tet10 => unreachable!("{SHELLS}"),
    }
    .unwrap()
}

/// Forces on all nodes, and the sums of a pass over the whole block.
fn pass(block: &dyn Block, positions: Positions, measure_step: bool) -> (Pass, Vec<Vec3>) {
    let mut forces = vec![Vec3::zeros(); positions.reference.len()];
    let mut sum = Pass { det_f: f64::INFINITY, step: f64::INFINITY, ..Pass::default() };
    let mut scratch = Scratch::new();
    for p in 0..block.patches().len() {
        let nodes = block.patches().nodes(p);
        let mut local = vec![Vec3::zeros(); nodes.len()];
        let state = PointState { old: &[], new: &mut [] };
        let found = block.force_pass(p, positions, state, measure_step, &mut scratch, &mut local);
        nodes.iter().zip(local).for_each(|(&n, f)| forces[n as usize] += f);
        sum.energy += found.energy;
        sum.hourglass += found.hourglass;
        sum.det_f = sum.det_f.min(found.det_f);
        sum.step = sum.step.min(found.step);
    }
    (sum, forces)
}

fn one_block(case: &Case, reference: &[Vec3]) -> Box<dyn Block> {
    case.make((0..reference.len() as u32).collect(), reference)
}

fn norm(forces: &[Vec3]) -> f64 {
    forces.iter().map(|f| f.norm()).fold(0.0, f64::max)
}

/// Derivative by central differences of sixth order.
fn derivative(f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let h = 1e-3;
    let mut out = vec![0.0; f(0.0).len()];
    for (k, weight) in [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)] {
        for ((out, plus), minus) in out.iter_mut().zip(f(k * h)).zip(f(-k * h)) {
            *out += weight * (plus - minus) / (60.0 * h);
        }
    }
    out
}

fn tangent_of(block: &dyn Block, element: usize, positions: Positions) -> DMatrix<f64> {
    let size = 3 * block.kind().nodes();
    let mut rows = vec![0.0; size * size];
    block.tangent(element, positions, &mut rows);
    DMatrix::from_row_slice(size, size, &rows)
}

/// All three components of every node are moved, also those that a plane body does not use.
#[test]
fn force_is_the_slope_of_energy_and_tangent_that_of_force() {
    for case in cases() {
        let mut random = Random(1);
        for _ in 0..3 {
            let reference = one_cell(case.kind, &mut random, 0.15);
            let block = one_block(&case, &reference);
            let f = random.deformation(case.kind, 0.8, 1.3);
            let mut x: Vec<Vec3> = reference.iter().map(|x| f * x).collect();
            random.shake(&mut x, case.kind, 0.05);
            let at = |dof: usize, by: f64| {
                let mut x = x.clone();
                x[dof / 3][dof % 3] += by;
                let positions = Positions { reference: &reference, current: &x };
                let (sum, forces) = pass(&*block, positions, false);
                [sum.energy]
                    .into_iter()
                    .chain(forces.iter().flat_map(|f| f.iter().copied()))
                    .collect::<Vec<_>>()
            };
            let k = tangent_of(&*block, 0, Positions { reference: &reference, current: &x });
            let forces = at(0, 0.0);
            let scale = k.amax();
            for dof in 0..3 * reference.len() {
                let slope = derivative(|by| at(dof, by));
                let wrong = (slope[0] - forces[1 + dof]).abs() / scale;
                assert!(wrong < 1e-9, "{}: force {dof} is off by {wrong:e}", case.name);
                for row in 0..3 * reference.len() {
                    let wrong = (slope[1 + row] - k[(row, dof)]).abs() / scale;
                    assert!(wrong < 1e-9, "{}: tangent {row} {dof} is off by {wrong:e}", case.name);
                }
            }
            assert!((&k - k.transpose()).amax() < 1e-13 * scale, "{}: tangent not symmetric", case.name);
        }
    }
}

#[test]
fn rigid_motion_stores_nothing_and_needs_no_force() {
    for case in cases().iter().filter(|c| c.turns) {
        let mut random = Random(2);
        for _ in 0..10 {
            let reference = one_cell(case.kind, &mut random, 0.2);
            let block = one_block(case, &reference);
            let (turn, offset) = (random.rotation(case.kind), random.vector(3.0));
            let x: Vec<Vec3> = reference.iter().map(|x| turn * x + offset).collect();
            let (sum, forces) = pass(&*block, Positions { reference: &reference, current: &x }, false);
            // strains of a few round-offs of coordinates of size 3, felt through a stiffness of size 4
            assert!(norm(&forces) < 1e-13, "{}: {:e}", case.name, norm(&forces));
            assert!(sum.energy.abs() < 1e-26, "{}: {:e}", case.name, sum.energy);
        }
    }
}

#[test]
fn element_forces_are_in_balance_with_no_moment() {
    for case in cases() {
        let mut random = Random(3);
        for _ in 0..10 {
            let reference = one_cell(case.kind, &mut random, 0.2);
            let block = one_block(&case, &reference);
            let f = random.deformation(case.kind, 0.7, 1.4);
            let mut x: Vec<Vec3> = reference.iter().map(|x| f * x).collect();
            random.shake(&mut x, case.kind, 0.05);
            let (_, forces) = pass(&*block, Positions { reference: &reference, current: &x }, false);
            // small strains feel the undeformed shape
            let arms = if case.turns { &x } else { &reference };
            let sum: Vec3 = forces.iter().sum();
            let moment: Vec3 = arms.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
            let scale = norm(&forces);
            assert!(sum.norm() < 1e-14 * scale.max(1.0), "{}: {:e}", case.name, sum.norm());
            assert!(moment.norm() < 2e-14 * scale.max(1.0), "{}: {:e}", case.name, moment.norm());
        }
    }
}

/// Means and the largest of elements, taken on lanes, are those of their points.
#[test]
fn the_stress_of_elements_on_lanes_is_that_of_their_points() {
    for case in cases() {
        let mut random = Random(9);
        let mut mesh = regular(case.kind, [3.0, 3.0, 3.0], [3, 3, 3]);
        random.shake(&mut mesh.nodes, case.kind, 0.12);
        let reference = mesh.nodes.clone();
        let block = case.make(mesh.cells[0].nodes.clone(), &reference);
        let mut x = reference.clone();
        random.shake(&mut x, case.kind, 0.1);
        let positions = Positions { reference: &reference, current: &x };
        // a range that fills no register
        let elements = 1..block.len();
        let mut found = vec![ElementStress::default(); elements.len()];
        block.stress_of(elements.clone(), positions, true, &mut found);
        let mut largest = vec![ElementStress::default(); elements.len()];
        block.stress_of(elements.clone(), positions, false, &mut largest);
        assert!(found.iter().zip(&largest).all(|(a, b)| a.largest == b.largest), "{}", case.name);
        for (e, found) in elements.zip(found) {
            let (mut volume, mut cauchy, mut mises, mut most) = (0.0, [0.0; 6], 0.0, 0.0_f64);
            block.stress(e, positions, &mut |point| {
                volume += point.volume;
                cauchy.iter_mut().zip(point.cauchy).for_each(|(sum, x)| *sum += point.volume * x);
                mises += point.volume * point.von_mises;
                most = most.max(point.von_mises);
            });
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * most;
            assert!(most > 0.0 && near(found.largest, most), "{}: {found:?} {most}", case.name);
            assert!((found.volume - volume).abs() <= 1e-14 * volume, "{}: {found:?} {volume}", case.name);
            assert!(near(found.von_mises, mises / volume), "{}: {found:?}", case.name);
            let same = found.cauchy.iter().zip(cauchy).all(|(a, b)| near(*a, b / volume));
            assert!(same, "{}: {found:?} {cauchy:?}", case.name);
        }
    }
}

/// A homogeneous deformation of a distorted mesh: nothing pulls at interior nodes, every point has the stress of
/// the law, and the energy is its density times the volume.
#[test]
fn constant_stress_is_reproduced_on_distorted_meshes() {
    for case in cases() {
        let mut random = Random(4);
        for _ in 0..4 {
            let mut mesh = regular(case.kind, [3.0, 3.0, 3.0], [3, 3, 3]);
            random.shake(&mut mesh.nodes, case.kind, 0.12);
            let reference = mesh.nodes.clone();
            let block = case.make(mesh.cells[0].nodes.clone(), &reference);
            let f = random.deformation(case.kind, 0.75, 1.3);
            let offset = random.vector(1.0);
            let x: Vec<Vec3> = reference.iter().map(|x| f * x + offset).collect();
            let positions = Positions { reference: &reference, current: &x };
            // a bar or plate has no gradient across
            let mut h = f - Mat3::identity();
            (case.kind.dimension()..3).for_each(|j| h.set_column(j, &Vec3::zeros()));
            let (w, p, sigma) = case.law_at(&h);

            let (sum, forces) = pass(&*block, positions, false);
            let inside = |x: &Vec3| (0..case.kind.dimension()).all(|i| x[i] > 0.5 && x[i] < 2.5);
            let scale = p.amax().max(1.0);
            let mut interior = 0;
            for (x, f) in reference.iter().zip(&forces).filter(|(x, _)| inside(x)) {
                assert!(f.norm() < 2e-14 * scale * 10.0, "{}: {:e} at {x:?}", case.name, f.norm());
                interior += 1;
            }
            assert!(interior >= 2, "{}", case.name);
            let mut volume = 0.0;
            for e in 0..block.len() {
                let mut of_points = 0.0;
                block.stress(e, positions, &mut |point| {
                    let found = matrix(&point.cauchy);
                    let wrong = (found - sigma).amax();
                    assert!(wrong < 1e-13 * scale * 10.0, "{}: stress off by {wrong:e}", case.name);
                    let deviator = sigma - Mat3::identity() * (sigma.trace() / 3.0);
                    let mises = (1.5 * deviator.norm_squared()).sqrt();
                    assert!((point.von_mises - mises).abs() < 1e-13 * scale * 10.0, "{}", case.name);
                    of_points += point.volume;
                });
                assert!((of_points - block.volume(e, &reference)).abs() < 1e-14, "{}", case.name);
                volume += of_points;
            }
            assert!(
                (sum.energy - w * volume).abs() < 1e-13 * volume * scale,
                "{}: {:e}",
                case.name,
                sum.energy - w * volume
            );
            let det = if case.kind == CellKind::Bar2 { f[(0, 0)] } else { f.determinant() };
            if case.turns {
                assert!((sum.det_f - det).abs() < 1e-13, "{}: det F {} {det}", case.name, sum.det_f);
            }
        }
    }
}

/// One of each element; mass does not know the law.
fn elements() -> Vec<Case> {
    cases().into_iter().filter(|c| c.name.ends_with("linear") && !c.name.contains("plate")).collect()
}

#[test]
fn mass_is_density_times_volume_and_consistent_mass_integrates_linear_fields() {
    for case in elements() {
        let (mut random, n) = (Random(5), case.kind.nodes());
        let section = if case.kind.dimension() < 3 { SECTION } else { 1.0 };
        for _ in 0..5 {
            // moments of an affine image of the cell: ∫f dV over the unit cell, by hand
            let mut a = Mat3::identity();
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                if i < case.kind.dimension() && j < case.kind.dimension() {
                    a[(i, j)] += random.between(-0.3, 0.3);
                }
            }
            let reference: Vec<Vec3> = one_cell(case.kind, &mut random, 0.0).iter().map(|x| a * x).collect();
            let block = one_block(&case, &reference);
            let mut m = vec![0.0; n * n];
            block.consistent_mass(0, &reference, &mut m);
            let m = DMatrix::from_row_slice(n, n, &m);
            let (unit, squares) = match case.kind {
                CellKind::Bar2 => (1.0, Mat3::from_diagonal(&Vec3::new(1.0 / 3.0, 0.0, 0.0))),
                CellKind::Tri3 => (0.5, Mat3::new(1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0) / 12.0),
                CellKind::Quad4 => (1.0, Mat3::new(4.0, 3.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0) / 12.0),
                CellKind::Tet4 => (1.0 / 6.0, Mat3::new(2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0) / 120.0),
                CellKind::Hex8 => (1.0, Mat3::new(4.0, 3.0, 3.0, 3.0, 4.0, 3.0, 3.0, 3.0, 4.0) / 12.0),
                CellKind::Shell3 | CellKind::Tet10 => unreachable!("{SHELLS}"),
            };
            let scale = DENSITY * section * a.determinant();
            let squares = a * squares * a.transpose() * scale;
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                let mut sum = 0.0;
                for (p, q) in (0..n * n).map(|k| (k / n, k % n)) {
                    sum += reference[p][i] * m[(p, q)] * reference[q][j];
                }
                assert!((sum - squares[(i, j)]).abs() < 1e-14, "{}: {sum}", case.name);
            }
            assert!((m.sum() - unit * scale).abs() < 1e-14, "{}", case.name);
        }
        for _ in 0..5 {
            let reference = one_cell(case.kind, &mut random, 0.2);
            let block = one_block(&case, &reference);
            let mut m = vec![0.0; n * n];
            block.consistent_mass(0, &reference, &mut m);
            let m = DMatrix::from_row_slice(n, n, &m);
            assert!(m.clone().symmetric_eigenvalues().min() > 0.0, "{}", case.name);
            let mut lumped = vec![0.0; n];
            block.add_lumped_mass(&reference, &mut lumped);
            for (a, lumped) in lumped.iter().enumerate() {
                assert!((m.row(a).sum() - lumped).abs() < 1e-15, "{}", case.name);
                assert!(*lumped > 0.0);
            }
            // the volume by the divergence theorem, from flat triangles or bilinear patches of the surface
            let volume = block.volume(0, &reference);
            assert!((volume - section * measure(case.kind, &reference)).abs() < 1e-14, "{}", case.name);
            assert!((lumped.iter().sum::<f64>() - DENSITY * volume).abs() < 1e-14, "{}", case.name);
        }
    }
}

/// Length, area or volume of a cell from its boundary alone.
fn measure(kind: CellKind, x: &[Vec3]) -> f64 {
    match kind {
        CellKind::Shell3 | CellKind::Tet10 => unreachable!("{SHELLS}"),
        CellKind::Bar2 => x[1].x - x[0].x,
        CellKind::Tri3 | CellKind::Quad4 => {
            let side = |s: &&[u8]| {
                let (a, b) = (x[s[0] as usize], x[s[1] as usize]);
                0.5 * (a.x * b.y - a.y * b.x)
            };
            kind.sides().iter().map(side).sum()
        }
        CellKind::Tet4 | CellKind::Hex8 => {
            // ⅓∮x·n dA; for a bilinear patch the mean of its two ways to be cut into triangles
            let triangle =
                |a: u8, b: u8, c: u8| x[a as usize].dot(&x[b as usize].cross(&x[c as usize])) / 6.0;
            let side = |s: &&[u8]| match **s {
                [a, b, c] => triangle(a, b, c),
                [a, b, c, d] => {
                    0.5 * (triangle(a, b, c) + triangle(a, c, d) + triangle(a, b, d) + triangle(b, c, d))
                }
                _ => 0.0,
            };
            kind.sides().iter().map(side).sum()
        }
    }
}

/// Elements with nodes of their own, each in another shape and state: the force on a node is that of one element.
#[test]
fn an_element_gives_the_same_bits_whoever_stands_beside_it() {
    for case in cases() {
        let (mut random, n) = (Random(6), case.kind.nodes());
        let (mut reference, mut x) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            let cell = one_cell(case.kind, &mut random, 0.15);
            let (f, offset) = (random.deformation(case.kind, 0.8, 1.25), random.vector(5.0));
            let mut moved: Vec<Vec3> = cell.iter().map(|x| f * x).collect();
            random.shake(&mut moved, case.kind, 0.05);
            reference.extend(cell.iter().map(|x| x + offset));
            x.extend(moved.iter().map(|x| x + offset));
        }
        let positions = Positions { reference: &reference, current: &x };
        let ids =
            |range: Range<usize>| (range.start as u32 * n as u32..range.end as u32 * n as u32).collect();
        let all = case.make(ids(0..300), &reference);
        let (_, together) = pass(&*all, positions, false);
        let bits =
            |forces: &[Vec3]| forces.iter().flat_map(|f| f.iter().map(|x| x.to_bits())).collect::<Vec<_>>();
        for range in [0..1, 3..4, 255..256, 299..300, 0..7, 100..107, 293..300, 10..27] {
            let block = case.make(ids(range.clone()), &reference);
            let (_, alone) = pass(&*block, positions, true);
            let nodes = range.start * n..range.end * n;
            assert_eq!(bits(&alone[nodes.clone()]), bits(&together[nodes]), "{}: {range:?}", case.name);
            let steps = &all.stable_steps()[range.clone()];
            assert_eq!(block.stable_steps(), steps, "{}", case.name);
        }
        for e in 0..300 {
            let mut forces = vec![Vec3::zeros(); n];
            let energy = all.plain_force(e, positions, &mut forces);
            let scale = norm(&forces).max(1.0);
            for (scalar, wide) in forces.iter().zip(&together[e * n..]) {
                let wrong = (scalar - wide).norm() / scale;
                assert!(wrong < 1e-13, "{}: scalar and register differ by {wrong:e}", case.name);
            }
            assert!(energy.is_finite());
        }
    }
}

use std::ops::Range;

/// `2/ω` of a symmetric stiffness and lumped masses, over the components in `used`.
fn exact_step(k: &DMatrix<f64>, mass: &[f64], used: usize) -> f64 {
    let dofs: Vec<usize> = (0..k.nrows()).filter(|d| d % 3 < used).collect();
    let a = DMatrix::from_fn(dofs.len(), dofs.len(), |i, j| {
        k[(dofs[i], dofs[j])] / (mass[dofs[i] / 3] * mass[dofs[j] / 3]).sqrt()
    });
    2.0 / SymmetricEigen::new(a).eigenvalues.max().max(0.0).sqrt()
}

fn assembled(block: &dyn Block, connectivity: &[u32], positions: Positions) -> DMatrix<f64> {
    let n = block.kind().nodes();
    let mut k = DMatrix::zeros(3 * positions.reference.len(), 3 * positions.reference.len());
    for (e, nodes) in connectivity.chunks(n).enumerate() {
        let ke = tangent_of(block, e, positions);
        for (i, j) in (0..9 * n * n).map(|x| (x / (3 * n), x % (3 * n))) {
            let at = |i: usize| 3 * nodes[i / 3] as usize + i % 3;
            k[(at(i), at(j))] += ke[(i, j)];
        }
    }
    k
}

/// Smallest and largest of a ratio.
struct Spread(f64, f64);

impl Spread {
    fn new() -> Self {
        Spread(f64::INFINITY, 0.0)
    }
    fn see(&mut self, x: f64) {
        (self.0, self.1) = (self.0.min(x), self.1.max(x));
    }
}

#[test]
fn stable_steps_are_safe_and_not_wasteful() {
    for case in cases() {
        let mut random = Random(7);
        let (mut boxes, mut distorted) = (Spread::new(), Spread::new());
        let ratio = |reference: &[Vec3]| {
            let block = one_block(&case, reference);
            let mut mass = vec![0.0; reference.len()];
            block.add_lumped_mass(reference, &mut mass);
            let k = tangent_of(&*block, 0, Positions { reference, current: reference });
            block.stable_steps()[0] / exact_step(&k, &mass, 3)
        };
        for _ in 0..20 {
            let size = Vec3::from_fn(|_, _| 10f64.powf(random.between(-1.0, 1.0)));
            let cell: Vec<Vec3> =
                one_cell(case.kind, &mut random, 0.0).iter().map(|x| x.component_mul(&size)).collect();
            boxes.see(ratio(&cell));
            distorted.see(ratio(&one_cell(case.kind, &mut random, 0.3)));
        }
        println!(
            "{:32} boxes {:.3}–{:.3}  distorted {:.3}–{:.3}",
            case.name, boxes.0, boxes.1, distorted.0, distorted.1
        );
        assert!(boxes.0 > 0.75 && boxes.1 <= 1.0 + 1e-12, "{}", case.name);
        assert!(distorted.0 > 0.75 && distorted.1 <= 1.0 + 1e-12, "{}", case.name);
    }
}

#[test]
fn the_smallest_element_step_is_safe_for_the_mesh_and_close_to_its_own() {
    for case in cases().iter().filter(|c| c.name.ends_with("linear")) {
        let (mut uniform, mut shaken) = (Spread::new(), Spread::new());
        let mut random = Random(8);
        for size in [[1.0, 1.0, 1.0], [4.0, 1.0, 1.0], [1.0, 0.5, 0.25]] {
            for distortion in [0.0, 0.05] {
                let mut mesh = regular(case.kind, size, [4, 4, 3]);
                random.shake(&mut mesh.nodes, case.kind, distortion * size[2]);
                let block = case.make(mesh.cells[0].nodes.clone(), &mesh.nodes);
                let mut mass = vec![0.0; mesh.nodes.len()];
                block.add_lumped_mass(&mesh.nodes, &mut mass);
                let positions = Positions { reference: &mesh.nodes, current: &mesh.nodes };
                let k = assembled(&*block, &mesh.cells[0].nodes, positions);
                let smallest = block.stable_steps().iter().copied().fold(f64::INFINITY, f64::min);
                let ratio = smallest / exact_step(&k, &mass, 3);
                if distortion == 0.0 { uniform.see(ratio) } else { shaken.see(ratio) }
            }
        }
        println!(
            "{:32} uniform {:.3}–{:.3}  distorted {:.3}–{:.3}",
            case.name, uniform.0, uniform.1, shaken.0, shaken.1
        );
        assert!(uniform.0 > 0.75 && uniform.1 <= 1.0 + 1e-12, "{}", case.name);
        assert!(shaken.1 <= 1.0 + 1e-12, "{}", case.name);
    }
}

/// Stretches from 0.6 to 1.6 and a distortion on top, so that the points of one element disagree.
#[test]
fn the_step_measured_on_a_deformed_element_is_safe() {
    for case in cases() {
        let mut random = Random(9);
        // bars and solids move in all directions, plane bodies in their plane
        let used = if case.kind.dimension() == 2 { 2 } else { 3 };
        let mut report = String::new();
        for distortion in [0.0, 0.03, 0.1] {
            let mut ratio = Spread::new();
            for round in 0..60 {
                let reference = one_cell(case.kind, &mut random, if round % 2 == 0 { 0.0 } else { 0.2 });
                let block = one_block(&case, &reference);
                let (low, high) = if round % 3 == 0 { (0.95, 1.05) } else { (0.6, 1.6) };
                let f = random.deformation(case.kind, low, high);
                let mut x: Vec<Vec3> = reference.iter().map(|x| f * x).collect();
                random.shake(&mut x, case.kind, distortion);
                let positions = Positions { reference: &reference, current: &x };
                let (found, _) = pass(&*block, positions, true);
                if case.turns && block.smallest_det_f(0, positions) <= 0.05 && case.kind != CellKind::Bar2 {
                    continue;
                }
                let mut mass = vec![0.0; reference.len()];
                block.add_lumped_mass(&reference, &mut mass);
                let exact = exact_step(&tangent_of(&*block, 0, positions), &mass, used);
                // what a softer state could gain is not asked for
                ratio.see(found.step / exact.min(block.stable_steps()[0]));
                assert!(found.step <= exact * (1.0 + 1e-12), "{}: {} of {exact}", case.name, found.step);
            }
            report += &format!("  {distortion}: {:.3}–{:.3}", ratio.0, ratio.1);
        }
        println!("{:32}{report}", case.name);
    }
}
