//! The quadratic tetrahedron: mass, stable steps, patches, convergence, frequencies. (Tangents and forces between two
//! configurations: `between.rs`.)

use carom_elements::element::choice::{Kind, maker};
use carom_elements::element::patch::Scratch;
use carom_elements::element::{Block, PointState, Positions};
use carom_elements::material::Law;
use carom_elements::math::{Mat3, Vec3};
use carom_elements::mesh::{CellKind, Mesh, shape, shape_functions};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

const LINEAR: Law = Law::Linear { young: 2.1, poisson: 0.3, density: 2.5 };

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
    fn vector(&mut self, size: f64) -> Vec3 {
        2.0 * size * Vec3::from_fn(|_, _| self.next())
    }
}

fn laws() -> Vec<Law> {
    let (young, poisson, density) = (2.1, 0.3, 2.5);
    vec![
        LINEAR,
        Law::StVenantKirchhoff { young, poisson, density },
        Law::NeoHookean { young, poisson, density },
        Law::MooneyRivlin { c1: 0.7, c2: 0.2, bulk: 4.0, density },
        Law::Ogden { mu: vec![0.63, 0.0012, -0.01], alpha: vec![1.3, 5.0, -2.0], bulk: 5.0, density },
        Law::BlatzKo { shear: 1.7, density },
    ]
}

fn boxed(cell: CellKind, size: [f64; 3], cells: [u32; 3]) -> Mesh {
    shape::Box { cell, ..shape::Box::new(size, cells) }.build().unwrap()
}

/// Corners moved, middles put back between them: edges stay straight.
fn distorted(mut mesh: Mesh, random: &mut Random, by: f64, moves: impl Fn(&Vec3) -> bool) -> Mesh {
    let corners: Vec<bool> = {
        let mut is = vec![false; mesh.nodes.len()];
        mesh.cells[0].nodes.chunks_exact(10).for_each(|t| t[..4].iter().for_each(|&n| is[n as usize] = true));
        is
    };
    for (x, _) in mesh.nodes.iter_mut().zip(corners).filter(|(x, corner)| *corner && moves(x)) {
        *x += random.vector(by);
    }
    for tet in mesh.cells[0].nodes.chunks_exact(10) {
        for (k, [b, c]) in [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]].into_iter().enumerate() {
            mesh.nodes[tet[4 + k] as usize] =
                0.5 * (mesh.nodes[tet[b] as usize] + mesh.nodes[tet[c] as usize]);
        }
    }
    mesh
}

/// Energy and forces on all nodes; with `measure` the smallest stable step too.
fn pass(block: &dyn Block, positions: Positions, measure: bool) -> (f64, Vec<Vec3>, f64) {
    let mut sum = vec![Vec3::zeros(); positions.reference.len()];
    let (mut energy, mut step) = (0.0, f64::INFINITY);
    for p in 0..block.patches().len() {
        let nodes = block.patches().nodes(p);
        let mut forces = vec![Vec3::zeros(); nodes.len()];
        let state = PointState { old: &[], new: &mut [] };
        let found = block.force_pass(p, positions, state, measure, &mut Scratch::new(), &mut forces);
        energy += found.energy;
        step = step.min(found.step);
        nodes.iter().zip(&forces).for_each(|(&n, f)| sum[n as usize] += f);
    }
    (energy, sum, step)
}

/// A homogeneous deformation of a mesh with straight edges: nothing pulls at inner nodes, every point has the same stress, and the
/// energy is that of one tet4 times the volume.
#[test]
fn constant_stress_is_reproduced_on_distorted_meshes() {
    let mut random = Random(4);
    for law in laws() {
        let inner = |x: &Vec3| x.iter().all(|c| *c > 0.1 && *c < 1.9);
        let mesh = distorted(boxed(CellKind::Tet10, [2.0; 3], [2; 3]), &mut random, 0.12, inner);
        mesh.check().unwrap();
        let block = maker(Kind::new(CellKind::Tet10), &law)(mesh.cells[0].nodes.clone(), &mesh.nodes);
        let f = Mat3::identity() + Mat3::from_fn(|_, _| 0.4 * random.next());
        let x: Vec<Vec3> = mesh.nodes.iter().map(|x| f * x).collect();
        let positions = Positions { reference: &mesh.nodes, current: &x };
        let (energy, forces, _) = pass(&*block, positions, false);
        let mut seen = 0;
        for (x, f) in mesh.nodes.iter().zip(&forces).filter(|(x, _)| inner(x)) {
            assert!(f.norm() < 1e-13, "{}: {:e} at {x}", law.name(), f.norm());
            seen += 1;
        }
        assert!(seen > 20);
        let linear = boxed(CellKind::Tet4, [2.0; 3], [1; 3]);
        let other = maker(Kind::new(CellKind::Tet4), &law)(linear.cells[0].nodes.clone(), &linear.nodes);
        let moved: Vec<Vec3> = linear.nodes.iter().map(|x| f * x).collect();
        let same = Positions { reference: &linear.nodes, current: &moved };
        assert!(
            (energy - pass(&*other, same, false).0).abs() < 1e-12 * energy.abs().max(1.0),
            "{}",
            law.name()
        );
        let mut stress = None;
        other.stress(0, same, &mut |p| stress = Some(p.cauchy));
        for e in 0..block.len() {
            let mut volume = 0.0;
            block.stress(e, positions, &mut |p| {
                let off =
                    p.cauchy.iter().zip(stress.unwrap()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-12, "{}: {off:e}", law.name());
                volume += p.volume;
            });
            assert!((volume - block.volume(e, &mesh.nodes)).abs() < 1e-14);
        }
    }
}

#[test]
fn rigid_motion_stores_nothing_and_forces_are_in_balance() {
    let mut random = Random(7);
    for law in laws() {
        let reference: Vec<Vec3> =
            (0..10).map(|a| shape_functions::corner(CellKind::Tet10, a) + random.vector(0.04)).collect();
        let block = maker(Kind::new(CellKind::Tet10), &law)((0..10).collect(), &reference);
        if law != LINEAR {
            let turn = nalgebra::Rotation3::new(random.vector(2.0));
            let shift = random.vector(3.0);
            let x: Vec<Vec3> = reference.iter().map(|x| turn * x + shift).collect();
            let (energy, forces, _) = pass(&*block, Positions { reference: &reference, current: &x }, false);
            assert!(
                energy.abs() < 1e-28 && forces.iter().all(|f| f.norm() < 1e-14),
                "{}: {energy:e}",
                law.name()
            );
        }
        let x: Vec<Vec3> = reference.iter().map(|x| x + random.vector(0.05)).collect();
        let (_, forces, _) = pass(&*block, Positions { reference: &reference, current: &x }, false);
        let at = if law == LINEAR { &reference } else { &x };
        let moment: Vec3 = at.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
        assert!(forces.iter().sum::<Vec3>().norm() < 1e-14 && moment.norm() < 1e-14, "{}", law.name());
    }
}

/// With straight edges a corner has 1/36 of the mass and a middle 4/27 (∫N² = V/70 and 8V/105, scaled to V); the consistent mass
/// integrates products of quadratic fields: ∫x²y² dV = 4!/7!·… = 1/1260 over the unit tet.
#[test]
fn mass_is_positive_and_that_of_the_volume() {
    let mut random = Random(2);
    let unit: Vec<Vec3> = (0..10).map(|a| shape_functions::corner(CellKind::Tet10, a)).collect();
    let block = maker(Kind::new(CellKind::Tet10), &LINEAR)((0..10).collect(), &unit);
    let (mut lumped, mut consistent) = (vec![0.0; 10], vec![0.0; 100]);
    block.add_lumped_mass(&unit, &mut lumped);
    block.consistent_mass(0, &unit, &mut consistent);
    let whole = 2.5 / 6.0;
    for (a, m) in lumped.iter().enumerate() {
        assert!((m / whole - if a < 4 { 1.0 / 36.0 } else { 4.0 / 27.0 }).abs() < 1e-14, "{a} {m}");
    }
    let form = |f: &dyn Fn(&Vec3) -> f64, g: &dyn Fn(&Vec3) -> f64| {
        let (f, g): (Vec<f64>, Vec<f64>) = unit.iter().map(|x| (f(x), g(x))).unzip();
        (0..100).map(|k| f[k / 10] * consistent[k] * g[k % 10]).sum::<f64>() / 2.5
    };
    // ∫ xᵃyᵇzᶜ dV = a! b! c! / (a+b+c+3)!
    assert!((form(&|x| x.x * x.x, &|x| x.y * x.y) - 4.0 / 5040.0).abs() < 1e-15);
    assert!((form(&|x| x.x * x.y, &|x| x.z * x.y) - 2.0 / 5040.0).abs() < 1e-15);
    assert!((form(&|_| 1.0, &|x| x.x * x.x) - 2.0 / 120.0).abs() < 1e-15);
    for _ in 0..20 {
        let curved: Vec<Vec3> = unit.iter().map(|x| x + random.vector(0.05)).collect();
        let block = maker(Kind::new(CellKind::Tet10), &LINEAR)((0..10).collect(), &curved);
        let mut lumped = vec![0.0; 10];
        block.add_lumped_mass(&curved, &mut lumped);
        let volume = shape_functions::measure(CellKind::Tet10, &curved);
        assert!(lumped.iter().all(|&m| m > 0.0));
        assert!((lumped.iter().sum::<f64>() - 2.5 * volume).abs() < 1e-14);
    }
}

/// The exact step from the eigenvalues of the element, curved or not, at rest and deformed.
#[test]
fn stable_steps_are_safe_and_not_wasteful() {
    let mut random = Random(5);
    for law in laws() {
        let mut least = f64::INFINITY;
        for k in 0..20 {
            let by = if k % 2 == 0 { 0.0 } else { 0.04 };
            let stretch = Vec3::new(1.0, 1.0 + k as f64 * 0.1, 0.7);
            let reference: Vec<Vec3> = (0..10)
                .map(|a| {
                    (shape_functions::corner(CellKind::Tet10, a) + random.vector(by)).component_mul(&stretch)
                })
                .collect();
            let block = maker(Kind::new(CellKind::Tet10), &law)((0..10).collect(), &reference);
            let mut mass = vec![0.0; 10];
            block.add_lumped_mass(&reference, &mut mass);
            let exact = |x: &[Vec3]| {
                let mut k = vec![0.0; 900];
                block.tangent(0, Positions { reference: &reference, current: x }, &mut k);
                let k = DMatrix::from_fn(30, 30, |i, j| k[30 * i + j] / (mass[i / 3] * mass[j / 3]).sqrt());
                2.0 / SymmetricEigen::new(0.5 * (&k + k.transpose())).eigenvalues.max().sqrt()
            };
            let rest = exact(&reference);
            let bound = block.stable_steps()[0];
            assert!(bound <= rest * (1.0 + 1e-12), "{}: {bound} {rest}", law.name());
            least = least.min(bound / rest);
            let x: Vec<Vec3> = reference.iter().map(|x| x + random.vector(0.03)).collect();
            let measured = pass(&*block, Positions { reference: &reference, current: &x }, true).2;
            assert!(measured <= exact(&x) * (1.0 + 1e-12), "{}: {measured} {}", law.name(), exact(&x));
        }
        // an eigenvalue m-fold of 30: (30)^(1/32) in ω² at worst
        assert!(least > 0.94, "{}: {least}", law.name());
    }
}

/// Stiffness of all elements, free unknowns only, for conjugate gradients.
struct System {
    stencils: Vec<Vec<u32>>,
    stiffness: Vec<Vec<f64>>,
    free: Vec<bool>,
    diagonal: DVector<f64>,
}

impl System {
    fn new(block: &dyn Block, reference: &[Vec3], held: impl Fn(usize, usize) -> bool) -> System {
        let positions = Positions { reference, current: reference };
        let free = (0..3 * reference.len()).map(|i| !held(i / 3, i % 3)).collect();
        let mut diagonal = DVector::repeat(3 * reference.len(), 0.0);
        let (mut stencils, mut stiffness) = (Vec::new(), Vec::new());
        for e in 0..block.potentials() {
            let nodes = block.stencil(e).to_vec();
            let n = 3 * nodes.len();
            let mut k = vec![0.0; n * n];
            block.tangent(e, positions, &mut k);
            for i in 0..n {
                diagonal[3 * nodes[i / 3] as usize + i % 3] += k[i * n + i];
            }
            stencils.push(nodes);
            stiffness.push(k);
        }
        System { stencils, stiffness, free, diagonal }
    }

    fn times(&self, u: &DVector<f64>) -> DVector<f64> {
        let mut f = DVector::repeat(u.len(), 0.0);
        for (nodes, k) in self.stencils.iter().zip(&self.stiffness) {
            let n = 3 * nodes.len();
            let at = |i: usize| 3 * nodes[i / 3] as usize + i % 3;
            let local: Vec<f64> = (0..n).map(|i| u[at(i)]).collect();
            for (i, row) in k.chunks_exact(n).enumerate() {
                f[at(i)] += row.iter().zip(&local).map(|(k, u)| k * u).sum::<f64>();
            }
        }
        f
    }

    fn project(&self, u: &mut DVector<f64>) {
        u.iter_mut().zip(&self.free).filter(|(_, free)| !**free).for_each(|(u, _)| *u = 0.0);
    }

    /// `K u = f` from `u` on, held components left as they are.
    fn solve(&self, f: &DVector<f64>, u: &mut DVector<f64>) {
        let mut r = f - self.times(u);
        self.project(&mut r);
        let first = r.norm();
        let mut z = r.component_div(&self.diagonal);
        let mut p = z.clone();
        let mut rz = r.dot(&z);
        for _ in 0..5000 {
            if r.norm() <= 1e-11 * first {
                return;
            }
            let mut kp = self.times(&p);
            self.project(&mut kp);
            let step = rz / p.dot(&kp);
            u.axpy(step, &p, 1.0);
            r.axpy(-step, &kp, 1.0);
            z = r.component_div(&self.diagonal);
            let next = r.dot(&z);
            p = &z + (next / rz) * &p;
            rz = next;
        }
        panic!("conjugate gradients do not arrive");
    }
}

/// u = (sin(πx/2 + y), x² z, cos(x − z)) on a unit cube with u given on its boundary and −div σ inside: the error of the
/// displacement (L², at the points that integrate mass) falls with the cube of the edge for tet10, with its square for tet4.
#[test]
fn displacements_converge_with_the_cube_of_the_edge() {
    use std::f64::consts::FRAC_PI_2;
    let (young, poisson) = (2.1, 0.3);
    let (lambda, mu) =
        (young * poisson / (1.0 + poisson) / (1.0 - 2.0 * poisson), young / 2.0 / (1.0 + poisson));
    let exact = |x: &Vec3| Vec3::new((FRAC_PI_2 * x.x + x.y).sin(), x.x * x.x * x.z, (x.x - x.z).cos());
    // (λ + μ) ∇div u + μ Δu by hand: div u = π/2 cos(πx/2 + y) + sin(x − z)
    let load = |x: &Vec3| {
        let (s, c, d) = ((FRAC_PI_2 * x.x + x.y).sin(), (x.x - x.z).cos(), FRAC_PI_2);
        let grad_div = Vec3::new(-d * d * s + c, -d * s, -c);
        let laplacian = Vec3::new(-(d * d + 1.0) * s, 2.0 * x.z, -2.0 * c);
        -(lambda + mu) * grad_div - mu * laplacian
    };
    let error = |cell: CellKind, n: u32| {
        let mesh = boxed(cell, [1.0; 3], [n; 3]);
        let x = &mesh.nodes;
        let block = maker(Kind::new(cell), &LINEAR)(mesh.cells[0].nodes.clone(), x);
        let border = |k: usize| x[k].iter().any(|c| *c < 1e-9 || *c > 1.0 - 1e-9);
        let system = System::new(&*block, x, |k, _| border(k));
        let mut f = DVector::repeat(3 * x.len(), 0.0);
        let nodes = cell.nodes();
        for e in 0..block.len() {
            let mut mass = vec![0.0; nodes * nodes];
            block.consistent_mass(e, x, &mut mass);
            let ids = mesh.cells[0].cell(e);
            for (a, b) in (0..nodes * nodes).map(|k| (k / nodes, k % nodes)) {
                let push = mass[a * nodes + b] / 2.5 * load(&x[ids[b] as usize]);
                (0..3).for_each(|i| f[3 * ids[a] as usize + i] += push[i]);
            }
        }
        let mut u =
            DVector::from_fn(3 * x.len(), |i, _| if border(i / 3) { exact(&x[i / 3])[i % 3] } else { 0.0 });
        system.solve(&f, &mut u);
        let mut squares = 0.0;
        let points = [
            [0.1, 0.2, 0.3],
            [0.4, 0.1, 0.2],
            [0.25, 0.25, 0.25],
            [0.15, 0.5, 0.1],
            [0.05, 0.1, 0.6],
            [0.3, 0.3, 0.05],
        ];
        for e in 0..block.len() {
            let (at, ids) = (mesh.corners(&mesh.cells[0], e), mesh.cells[0].cell(e));
            for p in points {
                let weights = shape_functions::values(cell, p.into());
                let there = shape_functions::position(cell, &at[..nodes], p.into());
                let found: Vec3 = (ids.iter().zip(weights))
                    .map(|(&n, w)| w * Vec3::from_fn(|i, _| u[3 * n as usize + i]))
                    .sum();
                squares += (found - exact(&there)).norm_squared();
            }
        }
        (squares / (block.len() * points.len()) as f64).sqrt()
    };
    let order = |cell| (error(cell, 3) / error(cell, 6)).log2();
    let (quadratic, linear) = (order(CellKind::Tet10), order(CellKind::Tet4));
    assert!(quadratic > 2.8 && quadratic < 3.4, "{quadratic}");
    assert!(linear > 1.7 && linear < 2.3, "{linear}");
    assert!(error(CellKind::Tet10, 3) < 0.1 * error(CellKind::Tet4, 6));
}

/// A bar 8×2×2 held at one end and free to get thinner (ν = 0): ω = π/2L √(E/ρ). With lumped mass frequencies come from below, with the
/// square of the edge; with the consistent mass from above and much closer.
#[test]
fn a_bar_sings_at_its_frequency() {
    let (young, density, length) = (2.0, 0.5, 8.0);
    let law = Law::Linear { young, poisson: 0.0, density };
    let exact = std::f64::consts::FRAC_PI_2 / length * f64::sqrt(young / density);
    let off = |cells: u32, consistent: bool| {
        let mesh = boxed(CellKind::Tet10, [length, 2.0, 2.0], [cells, cells / 4, cells / 4]);
        let x = &mesh.nodes;
        let block = maker(Kind::new(CellKind::Tet10), &law)(mesh.cells[0].nodes.clone(), x);
        // along x only: the axial mode alone
        let system = System::new(&*block, x, |k, i| i > 0 || x[k].x < 1e-9);
        let mut lumped = vec![0.0; x.len()];
        block.add_lumped_mass(x, &mut lumped);
        let mass = |u: &DVector<f64>| {
            if !consistent {
                return DVector::from_fn(u.len(), |i, _| lumped[i / 3] * u[i]);
            }
            let mut f = DVector::repeat(u.len(), 0.0);
            let mut m = vec![0.0; 100];
            for e in 0..block.len() {
                block.consistent_mass(e, x, &mut m);
                let ids = mesh.cells[0].cell(e);
                for k in 0..100 {
                    f[3 * ids[k / 10] as usize] += m[k] * u[3 * ids[k % 10] as usize];
                }
            }
            f
        };
        let mut u = DVector::from_fn(3 * x.len(), |i, _| if i % 3 == 0 { x[i / 3].x } else { 0.0 });
        let mut omega = 0.0;
        for _ in 0..12 {
            let f = mass(&u);
            let mut next = u.clone();
            system.solve(&f, &mut next);
            omega = (next.dot(&f) / next.dot(&mass(&next))).sqrt();
            u = next.normalize();
        }
        omega / exact - 1.0
    };
    let (coarse, fine) = (off(4, false), off(8, false));
    println!("frequency off by {coarse:.3e} with edges of L/4, {fine:.3e} with L/8");
    assert!(coarse < 0.0 && coarse > -0.01 && fine < 0.0, "{coarse:e} {fine:e}");
    let order = (coarse / fine).log2();
    assert!(order > 1.8 && order < 2.3, "{order}");
    let consistent = off(4, true);
    assert!(consistent > 0.0 && consistent < 0.05 * -coarse, "{consistent:e} {coarse:e}");
}
