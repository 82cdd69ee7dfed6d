//! What a shell must do with every law: forces, tangents, balance, patch tests, masses, stable steps, symmetry.

use carom_elements::element::patch::{Patches, Scratch};
use carom_elements::element::shell::{Points, Shell, ShellOptions};
use carom_elements::element::{Block, PointState, Positions};
use carom_elements::material::*;
use carom_elements::math::{Mat3, Vec3};
use carom_elements::mesh::subdivision::{Mirror, Outside, Subdivision, refine};
use carom_elements::mesh::{CellKind, Cells, Mesh};
use nalgebra::{DMatrix, Rotation3};
use std::sync::Arc;

const YOUNG: f64 = 2.1;
const POISSON: f64 = 0.3;
const DENSITY: f64 = 2.5;
const THICKNESS: f64 = 0.08;

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self, size: f64) -> Vec3 {
        size * Vec3::new(self.next(), self.next(), self.next())
    }
}

fn mesh(nodes: Vec<Vec3>, cells: Vec<u32>) -> Mesh {
    Mesh { nodes, cells: vec![Cells { kind: CellKind::Tri3, nodes: cells }], ..Mesh::default() }
}

/// A lattice of `n` by `m` unit squares, each cut along one diagonal.
fn lattice(n: u32, m: u32, lift: impl Fn(f64, f64) -> Vec3) -> Mesh {
    let at = |i: u32, j: u32| j * (n + 1) + i;
    let nodes = (0..(n + 1) * (m + 1)).map(|k| lift((k % (n + 1)) as f64, (k / (n + 1)) as f64)).collect();
    let mut cells = Vec::new();
    for (i, j) in (0..m).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        cells.extend([a, b, d, b, c, d]);
    }
    mesh(nodes, cells)
}

fn octahedron(refinements: usize) -> Mesh {
    let nodes = [Vec3::x(), Vec3::y(), Vec3::z()].into_iter().flat_map(|e| [e, -e]).collect();
    let cells = vec![0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
    let mut sphere = mesh(nodes, cells);
    for _ in 0..refinements {
        sphere = refine(&sphere, &Outside::default()).unwrap();
        sphere.nodes.iter_mut().for_each(|x| *x = x.normalize());
    }
    sphere
}

fn bumpy(x: f64, y: f64) -> Vec3 {
    Vec3::new(x + 0.1 * (1.3 * y).sin(), y - 0.07 * (2.1 * x).cos(), 0.3 * (0.9 * x + 0.4 * y).sin())
}

fn triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    mesh.cells[0].nodes.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect()
}

fn shell<M: Material>(law: M, mesh: &Mesh, points: Points, outside: &Outside) -> Shell<M> {
    let surface = Subdivision::new(&triangles(mesh), &mesh.nodes, outside).unwrap();
    Shell::new(law, &ShellOptions { thickness: THICKNESS, points }, Arc::new(surface), 0, &mesh.nodes)
}

fn st_venant_kirchhoff() -> StVenantKirchhoff {
    StVenantKirchhoff { lame: Lame::from_young(YOUNG, POISSON), density: DENSITY }
}

/// Every law with closed and open surfaces.
fn blocks(mesh: &Mesh, points: Points) -> Vec<(&'static str, Box<dyn Block>)> {
    let lame = Lame::from_young(YOUNG, POISSON);
    let none = Outside::default();
    // C₁ + C₂ = μ/2, Σ μ_p α_p = 2μ: the same stiffness at rest
    let bulk = lame.lambda + 2.0 / 3.0 * lame.mu;
    let terms = vec![OgdenTerm { mu: 2.0 * lame.mu / 3.0, alpha: 3.0 }];
    let quarter = Lame::from_young(YOUNG, 0.25);
    vec![
        ("linear", Box::new(shell(Linear { lame, density: DENSITY }, mesh, points, &none))),
        ("st-venant-kirchhoff", Box::new(shell(st_venant_kirchhoff(), mesh, points, &none))),
        ("neo-hookean", Box::new(shell(NeoHookean { lame, density: DENSITY }, mesh, points, &none))),
        (
            "mooney-rivlin",
            Box::new(shell(
                MooneyRivlin { c1: 0.3 * lame.mu, c2: 0.2 * lame.mu, bulk, density: DENSITY },
                mesh,
                points,
                &none,
            )),
        ),
        ("ogden", Box::new(shell(Ogden { terms, bulk, density: DENSITY }, mesh, points, &none))),
        ("blatz-ko", Box::new(shell(BlatzKo { shear: quarter.mu, density: DENSITY }, mesh, points, &none))),
    ]
}

fn evaluate(block: &dyn Block, reference: &[Vec3], current: &[Vec3]) -> (f64, Vec<Vec3>, f64) {
    let positions = Positions { reference, current };
    let (mut energy, mut step, mut sum) = (0.0, f64::INFINITY, vec![Vec3::zeros(); reference.len()]);
    let patches = block.patches();
    for p in 0..patches.len() {
        let mut forces = vec![Vec3::zeros(); patches.nodes(p).len()];
        let state = PointState { old: &[], new: &mut [] };
        let pass = block.force_pass(p, positions, state, true, &mut Scratch::new(), &mut forces);
        energy += pass.energy;
        step = f64::min(step, pass.step);
        patches.nodes(p).iter().zip(&forces).for_each(|(&n, f)| sum[n as usize] += f);
    }
    (energy, sum, step)
}

fn shaken(reference: &[Vec3], size: f64, seed: u64) -> Vec<Vec3> {
    let mut random = Random(seed);
    reference.iter().map(|x| x + random.vector(size)).collect()
}

#[test]
fn forces_are_the_slope_of_the_energy_and_in_balance() {
    for (mesh, points) in [(octahedron(1), Points::Three), (lattice(4, 3, bumpy), Points::One)] {
        let current = shaken(&mesh.nodes, 0.04, 5);
        for (law, block) in blocks(&mesh, points) {
            let (energy, forces, _) = evaluate(&*block, &mesh.nodes, &current);
            let size = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
            let sum: Vec3 = forces.iter().sum();
            // a law of small strains balances moments about the shape it was given
            let about = if law == "linear" { &mesh.nodes } else { &current };
            let moment: Vec3 = forces.iter().zip(about).map(|(f, x)| x.cross(f)).sum();
            assert!(sum.norm() < 1e-13 * size && moment.norm() < 1e-12 * size, "{law} {sum} {moment}");
            assert!(energy > 0.0);
            for (n, i) in [(0, 0), (1, 2), (5, 1), (9, 0), (12, 2), (17, 1)] {
                let at = |step: f64| {
                    let mut x = current.clone();
                    x[n][i] += step;
                    evaluate(&*block, &mesh.nodes, &x).0
                };
                // differences of fourth order
                let step = 1e-4;
                let slope =
                    (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
                assert!((slope - forces[n][i]).abs() < 1e-9 * size, "{law} {slope} {}", forces[n][i]);
            }
        }
    }
}

fn stiffness<M: Material>(block: &Shell<M>, reference: &[Vec3], current: &[Vec3]) -> DMatrix<f64> {
    let n = 3 * reference.len();
    let mut k = DMatrix::zeros(n, n);
    for e in 0..block.len() {
        let stencil = block.stencil(e);
        let size = 3 * stencil.len();
        let mut out = vec![0.0; size * size];
        block.tangent(e, Positions { reference, current }, &mut out);
        for i in 0..size {
            for j in 0..size {
                let [row, column] = [i, j].map(|k| 3 * stencil[k / 3] as usize + k % 3);
                k[(row, column)] += out[i * size + j];
            }
        }
    }
    k
}

fn tangent_meets_forces<M: Material>(law: M, mesh: &Mesh, points: Points, outside: &Outside, name: &str) {
    let block = shell(law, mesh, points, outside);
    let current = shaken(&mesh.nodes, 0.05, 9);
    let k = stiffness(&block, &mesh.nodes, &current);
    let size = k.amax();
    assert!((&k - k.transpose()).amax() < 1e-14 * size, "{name}");
    for column in [0, 4, 11, 20, 32, 44] {
        let at = |step: f64| {
            let mut x = current.clone();
            x[column / 3][column % 3] += step;
            evaluate(&block, &mesh.nodes, &x).1
        };
        let step = 1e-4;
        let (a, b, c, d) = (at(step), at(-step), at(2.0 * step), at(-2.0 * step));
        for row in 0..k.nrows() {
            let of = |f: &[Vec3]| f[row / 3][row % 3];
            let slope = (8.0 * (of(&a) - of(&b)) - (of(&c) - of(&d))) / (12.0 * step);
            assert!(
                (slope - k[(row, column)]).abs() < 1e-8 * size,
                "{name} {row} {column} {slope} {}",
                k[(row, column)]
            );
        }
    }
}

#[test]
fn the_tangent_is_the_slope_of_the_forces() {
    let (sphere, sheet) = (octahedron(1), lattice(4, 4, bumpy));
    let none = Outside::default();
    let lame = Lame::from_young(YOUNG, POISSON);
    tangent_meets_forces(st_venant_kirchhoff(), &sphere, Points::One, &none, "sphere");
    tangent_meets_forces(st_venant_kirchhoff(), &sheet, Points::Three, &none, "sheet");
    tangent_meets_forces(NeoHookean { lame, density: DENSITY }, &sheet, Points::One, &none, "neo-hookean");
    tangent_meets_forces(Linear { lame, density: DENSITY }, &sphere, Points::Three, &none, "linear");
    let mirrors = vec![
        Mirror { point: Vec3::zeros(), normal: Vec3::x() },
        Mirror { point: Vec3::zeros(), normal: Vec3::y() },
    ];
    let flat = lattice(4, 4, |x, y| Vec3::new(x, y, 0.1 * x * x - 0.07 * y * y));
    tangent_meets_forces(
        st_venant_kirchhoff(),
        &flat,
        Points::One,
        &Outside { mirrors, ghosts: vec![] },
        "mirrored",
    );
}

/// A turn and a shift change no energy and turn the forces.
#[test]
fn energy_knows_no_rigid_motion() {
    let mesh = octahedron(1);
    let current = shaken(&mesh.nodes, 0.05, 3);
    let turn = *Rotation3::new(Vec3::new(0.4, -1.1, 2.0)).matrix();
    let moved: Vec<Vec3> = current.iter().map(|x| turn * x + Vec3::new(3.0, -2.0, 5.0)).collect();
    for (law, block) in blocks(&mesh, Points::One).into_iter().filter(|(law, _)| *law != "linear") {
        let (energy, forces, _) = evaluate(&*block, &mesh.nodes, &current);
        let (turned, others, _) = evaluate(&*block, &mesh.nodes, &moved);
        assert!((energy / turned - 1.0).abs() < 1e-12, "{law} {energy} {turned}");
        let size = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
        for (a, b) in forces.iter().zip(&others) {
            assert!((turn * a - b).norm() < 1e-12 * size, "{law}");
        }
        let rigid: Vec<Vec3> = mesh.nodes.iter().map(|x| turn * x).collect();
        assert!(evaluate(&*block, &mesh.nodes, &rigid).0 < 1e-24 * energy.max(1.0));
    }
}

/// A flat sheet of any lattice, stretched evenly: W per volume times volume, and forces at its boundary only.
#[test]
fn an_even_stretch_passes_the_patch_test() {
    for points in [Points::One, Points::Three] {
        let mesh = lattice(5, 5, |x, y| {
            let inside = |x: f64| (x * (5.0 - x)).min(1.0);
            let by = 0.2 * inside(x) * inside(y);
            Vec3::new(x + by * (7.0 * y + x).sin(), y + by * (5.0 * x - y).cos(), 0.0)
        });
        let f = Mat3::new(1.1, 0.05, 0.0, -0.02, 0.93, 0.0, 0.0, 0.0, 1.0);
        let current: Vec<Vec3> = mesh.nodes.iter().map(|x| f * x).collect();
        let block = shell(st_venant_kirchhoff(), &mesh, points, &Outside::default());
        let (energy, forces, _) = evaluate(&block, &mesh.nodes, &current);
        let e = 0.5 * (f.transpose() * f - Mat3::identity());
        let (trace, square) = (e[(0, 0)] + e[(1, 1)], e.norm_squared());
        let plane = YOUNG / (1.0 - POISSON * POISSON);
        let density = 0.5 * plane * (POISSON * trace * trace + (1.0 - POISSON) * square);
        let volume: f64 = (0..block.len()).map(|k| block.volume(k, &mesh.nodes)).sum();
        assert!((volume - 25.0 * THICKNESS).abs() < 1e-2 * volume, "{volume}");
        assert!((energy / (density * volume) - 1.0).abs() < 1e-13);
        if points == Points::Three {
            continue;
        }
        // a regular lattice integrates its rows exactly: inner nodes feel nothing
        let mesh = lattice(6, 6, |x, y| Vec3::new(x + 0.3 * y, 0.8 * y, 0.0));
        let current: Vec<Vec3> = mesh.nodes.iter().map(|x| f * x).collect();
        let block = shell(st_venant_kirchhoff(), &mesh, points, &Outside::default());
        let forces_inside = evaluate(&block, &mesh.nodes, &current).1;
        let size = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
        for (k, force) in forces_inside.iter().enumerate() {
            if [k % 7, k / 7].iter().all(|i| (2..=4).contains(i)) {
                assert!(force.norm() < 1e-14 * size.max(1.0), "{k} {force}");
            }
        }
    }
}

/// A plate bent to `z = ½κx²`: moments −Dκ and −νDκ everywhere, stress Eζκ/(1 − ν²) at height ζ below the middle, no forces
/// inside. Control points on a parabola give the parabola but for a shift, so this is exact in the linear theory.
#[test]
fn an_even_bend_passes_the_patch_test() {
    let mesh = lattice(8, 8, |x, y| Vec3::new(x + 0.4 * y, y, 0.0));
    let curvature = 0.01;
    let current: Vec<Vec3> =
        mesh.nodes.iter().map(|x| Vec3::new(x.x, x.y, 0.5 * curvature * x.x * x.x)).collect();
    let positions = Positions { reference: &mesh.nodes, current: &current };
    let lame = Lame::from_young(YOUNG, POISSON);
    let plane = YOUNG / (1.0 - POISSON * POISSON);
    let d = plane * THICKNESS.powi(3) / 12.0;
    for points in [Points::One, Points::Three] {
        let block = shell(Linear { lame, density: DENSITY }, &mesh, points, &Outside::default());
        // away from the boundary; every other triangle has its first edge along x
        for e in [52, 54, 56] {
            block.resultants(e, positions, &mut |base, n, m| {
                assert!((base[0] - Vec3::x()).norm() < 1e-14, "{}", base[0]);
                assert!(n.iter().all(|n| n.abs() < 1e-15));
                let wanted = [-d * curvature, -POISSON * d * curvature, 0.0];
                assert!((0..3).all(|k| (m[k] - wanted[k]).abs() < 1e-12 * d * curvature), "{m:?}");
            });
            let mut seen = Vec::new();
            block.stress(e, positions, &mut |p| seen.push(p.cauchy));
            let top = 0.5 * THICKNESS * plane * curvature;
            for (layer, height) in seen.iter().zip([1.0, 0.0, -1.0].iter().cycle()) {
                assert!((layer[0] - height * top).abs() < 1e-12 * top, "{layer:?}");
                assert!((layer[1] - POISSON * height * top).abs() < 1e-12 * top);
            }
        }
        let forces = evaluate(&block, &mesh.nodes, &current).1;
        for (k, f) in forces.iter().enumerate() {
            if [k % 9, k / 9].iter().all(|i| (3..=5).contains(i)) {
                assert!(f.norm() < 1e-12 * d * curvature, "{k} {f}");
            }
        }
    }
}

/// Every law has the stiffness of the resultants at small strains: energies agree to the order of the strain.
#[test]
fn laws_by_layers_agree_with_the_resultants_at_small_strain() {
    let mesh = octahedron(1);
    for size in [1e-3, 1e-4] {
        let current = shaken(&mesh.nodes, size, 17);
        let all = blocks(&mesh, Points::One);
        let wanted = evaluate(&*all[1].1, &mesh.nodes, &current).0;
        // Blatz–Ko rubber has ν = ¼
        let lame = Lame::from_young(YOUNG, 0.25);
        let other =
            shell(StVenantKirchhoff { lame, density: DENSITY }, &mesh, Points::One, &Outside::default());
        let wanted_quarter = evaluate(&other, &mesh.nodes, &current).0;
        for (law, block) in &all {
            let wanted = if *law == "blatz-ko" { wanted_quarter } else { wanted };
            let energy = evaluate(&**block, &mesh.nodes, &current).0;
            assert!((energy / wanted - 1.0).abs() < 20.0 * size, "{law} {energy} {wanted}");
        }
    }
}

/// Lumped mass is positive and adds up to ρ h times the area, so do all shares, and the consistent mass but for its other points.
#[test]
fn masses_add_up() {
    for mesh in [octahedron(2), lattice(3, 5, bumpy), lattice(1, 1, bumpy)] {
        for points in [Points::One, Points::Three] {
            let block = shell(st_venant_kirchhoff(), &mesh, points, &Outside::default());
            let mut mass = vec![0.0; mesh.nodes.len()];
            block.add_lumped_mass(&mesh.nodes, &mut mass);
            assert!(mass.iter().all(|m| *m > 0.0), "{mass:?}");
            let total: f64 = mass.iter().sum();
            let volume: f64 = (0..block.len()).map(|e| block.volume(e, &mesh.nodes)).sum();
            assert!((total / (DENSITY * volume) - 1.0).abs() < 1e-13);
            let mut shares = vec![0.0; mesh.nodes.len()];
            let mut consistent = 0.0;
            for e in 0..block.len() {
                block.mass_shares(e, &mesh.nodes, &mut |n, m| shares[n as usize] += m);
                let n = block.stencil(e).len();
                let mut out = vec![0.0; n * n];
                block.consistent_mass(e, &mesh.nodes, &mut out);
                consistent += out.iter().sum::<f64>();
            }
            assert!(mass.iter().zip(&shares).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
            assert!((consistent / total - 1.0).abs() < 0.03, "{consistent} {total}");
        }
    }
}

/// 2/ω of the whole mesh.
fn exact_step<M: Material>(block: &Shell<M>, reference: &[Vec3], current: &[Vec3]) -> f64 {
    let k = stiffness(block, reference, current);
    let mut mass = vec![0.0; reference.len()];
    block.add_lumped_mass(reference, &mut mass);
    let a = DMatrix::from_fn(k.nrows(), k.nrows(), |i, j| k[(i, j)] / (mass[i / 3] * mass[j / 3]).sqrt());
    2.0 / a.symmetric_eigenvalues().max().sqrt()
}

/// No mode of the mesh is quicker than the steps allow, at rest and deformed, thin and thick. A node is seen from twelve elements and
/// more, which never all move it the way that is quickest for each: a bound from single points gives some of the step away,
/// 30 to 45 % here.
#[test]
fn stable_steps_are_safe_and_close() {
    for (name, mesh) in
        [("sphere", octahedron(2)), ("sheet", lattice(5, 4, bumpy)), ("square", lattice(2, 2, bumpy))]
    {
        for points in [Points::One, Points::Three] {
            for thickness in [0.01, 0.1, 0.6] {
                let surface =
                    Arc::new(Subdivision::new(&triangles(&mesh), &mesh.nodes, &Outside::default()).unwrap());
                let options = ShellOptions { thickness, points };
                let block = Shell::new(st_venant_kirchhoff(), &options, surface, 0, &mesh.nodes);
                for size in [0.0, 0.03, 0.1] {
                    let current = shaken(&mesh.nodes, size, 77);
                    let safe = evaluate(&block, &mesh.nodes, &current).2;
                    let exact = exact_step(&block, &mesh.nodes, &current);
                    println!("{name} {points:?} h {thickness} shaken {size}: {:.3}", safe / exact);
                    assert!(safe <= exact, "{name} {points:?} {thickness} {size}: {safe} {exact}");
                    if size == 0.0 {
                        let rest = block.stable_steps().iter().copied().fold(f64::INFINITY, f64::min);
                        assert!((rest / safe - 1.0).abs() < 1e-12);
                        assert!(safe > 0.5 * exact, "{name} {points:?} {thickness}: {safe} {exact}");
                    }
                }
            }
        }
    }
}

/// Half a sheet with its mirror has half the energy of the whole, and half the force where nodes lie in the plane.
#[test]
fn a_mirrored_half_feels_as_the_whole_does() {
    let bump = |x: f64, y: f64| Vec3::new(x - 4.0, y, 0.05 * (x - 4.0).powi(2) + 0.1 * y * y);
    let half = lattice(4, 3, bump);
    let mut whole = lattice(8, 3, bump);
    let (own, across) = (|n: u32| n / 5 * 9 + n % 5, |n: u32| n / 5 * 9 + 8 - n % 5);
    whole.cells[0].nodes = (triangles(&half).iter())
        .flat_map(|&[a, b, c]| [own(a), own(b), own(c), across(a), across(c), across(b)])
        .collect();
    let mut moved = shaken(&half.nodes, 0.05, 31);
    let mut all = whole.nodes.clone();
    for n in 0..half.nodes.len() as u32 {
        if half.nodes[n as usize].x == 0.0 {
            moved[n as usize].x = 0.0;
        }
        let x = moved[n as usize];
        all[own(n) as usize] = x;
        all[across(n) as usize] = Vec3::new(-x.x, x.y, x.z);
    }
    let mirrors = vec![Mirror { point: Vec3::zeros(), normal: Vec3::x() }];
    for points in [Points::One, Points::Three] {
        let a = shell(st_venant_kirchhoff(), &whole, points, &Outside::default());
        let b = shell(
            st_venant_kirchhoff(),
            &half,
            points,
            &Outside { mirrors: mirrors.clone(), ghosts: vec![] },
        );
        let (energy, forces, _) = evaluate(&a, &whole.nodes, &all);
        let (energy_half, forces_half, _) = evaluate(&b, &half.nodes, &moved);
        assert!((energy / energy_half - 2.0).abs() < 1e-12, "{energy} {energy_half}");
        for n in 0..half.nodes.len() as u32 {
            let (f, g) = (forces[own(n) as usize], forces_half[n as usize]);
            let in_plane = half.nodes[n as usize].x == 0.0;
            let wanted = if in_plane { 0.5 * f } else { f };
            let miss = wanted - g;
            // across the plane a support answers
            let miss = if in_plane { Vec3::new(0.0, miss.y, miss.z) } else { miss };
            assert!(miss.norm() < 1e-13, "{n} {wanted} {g}");
        }
    }
}

/// An element alone has the bits it has among others.
#[test]
fn an_element_has_the_same_bits_alone() {
    let mesh = octahedron(2);
    let block = shell(st_venant_kirchhoff(), &mesh, Points::One, &Outside::default());
    let current = shaken(&mesh.nodes, 0.03, 8);
    let positions = Positions { reference: &mesh.nodes, current: &current };
    let pass = |patches: &Patches, p: usize| {
        let mut forces = vec![Vec3::zeros(); patches.nodes(p).len()];
        let state = PointState { old: &[], new: &mut [] };
        let pass = block.force_pass_on(patches, p, positions, state, false, &mut Scratch::new(), &mut forces);
        (pass.energy, forces)
    };
    for e in [0u32, 5, 77, 127] {
        let alone = pass(&block.patches_of(&[e], &mesh.nodes), 0);
        let others: Vec<u32> = (0..=e).collect();
        let patches = block.patches_of(&others, &mesh.nodes);
        let without: Vec<u32> = (0..e).collect();
        let (with, alone_nodes) = (pass(&patches, 0).0, alone.1.len());
        assert!(alone_nodes == block.stencil(e as usize).len());
        if e > 0 {
            let rest = pass(&block.patches_of(&without, &mesh.nodes), 0).0;
            assert!((with - rest - alone.0).abs() < 1e-15 * with.abs().max(1.0));
        }
    }
}
