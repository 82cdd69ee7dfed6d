use super::*;
use crate::element::hex8::Hex8;
use crate::element::tet4::Tet4;
use crate::material::{Lame, Linear, StVenantKirchhoff, softened};
use crate::mesh::shape;
use nalgebra::DMatrix;

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// A box of 3³ cells whose inner nodes are out of place.
fn distorted(kind: CellKind) -> (Vec<u32>, Vec<Vec3>) {
    let mut shape = shape::Box::new([1.0; 3], [3; 3]);
    shape.cell = kind;
    let mesh = shape.build().unwrap();
    let mut seed = 9;
    let inside = |p: &Vec3| p.iter().all(|x| *x > 1e-9 && *x < 1.0 - 1e-9);
    let move_inner = |p: &Vec3| {
        if inside(p) {
            p + 0.15 * Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed))
        } else {
            *p
        }
    };
    (mesh.cells[0].nodes.clone(), mesh.nodes.iter().map(move_inner).collect())
}

fn block(kind: CellKind, lame: Lame, linear: bool, alpha: f64) -> (Box<dyn Block>, Vec<Vec3>) {
    let (connectivity, reference) = distorted(kind);
    let soft = softened(lame);
    let block: Box<dyn Block> = match (kind, linear) {
        (CellKind::Tet4, true) => {
            let law = |lame| Linear { lame, density: 1.0 };
            Box::new(Nodal::<Tet4, _>::new(law(lame), law(soft), connectivity, &reference, alpha))
        }
        (CellKind::Tet4, false) => {
            let law = |lame| StVenantKirchhoff { lame, density: 1.0 };
            Box::new(Nodal::<Tet4, _>::new(law(lame), law(soft), connectivity, &reference, alpha))
        }
        (_, true) => {
            let law = |lame| Linear { lame, density: 1.0 };
            Box::new(Nodal::<Hex8, _>::new(law(lame), law(soft), connectivity, &reference, alpha))
        }
        _ => {
            let law = |lame| StVenantKirchhoff { lame, density: 1.0 };
            Box::new(Nodal::<Hex8, _>::new(law(lame), law(soft), connectivity, &reference, alpha))
        }
    };
    (block, reference)
}

/// Energy and forces of all potentials.
fn evaluate(block: &dyn Block, reference: &[Vec3], current: &[Vec3]) -> (f64, Vec<Vec3>) {
    let positions = Positions { reference, current };
    let mut sum = vec![Vec3::zeros(); reference.len()];
    let mut energy = 0.0;
    let patches = block.patches();
    for p in 0..patches.len() {
        let mut forces = vec![Vec3::zeros(); patches.nodes(p).len()];
        let state = PointState { old: &[], new: &mut [] };
        energy += block.force_pass(p, positions, state, false, &mut Scratch::new(), &mut forces).energy;
        patches.nodes(p).iter().zip(&forces).for_each(|(&n, f)| sum[n as usize] += f);
    }
    (energy, sum)
}

const LAME: Lame = Lame { lambda: 1.2, mu: 0.8 };

/// A linear field: no force on inner nodes, and exactly the energy W V, with and without stabilisation.
#[test]
fn a_constant_gradient_passes_the_patch_test() {
    for kind in [CellKind::Tet4, CellKind::Hex8] {
        for (linear, alpha) in [(true, 0.0), (true, 0.05), (false, 0.05)] {
            let (block, reference) = block(kind, LAME, linear, alpha);
            let h = Mat3::new(0.02, 0.01, -0.03, 0.005, -0.01, 0.02, 0.03, 0.0, 0.015);
            let current: Vec<Vec3> = reference.iter().map(|x| x + h * x).collect();
            let (energy, forces) = evaluate(block.as_ref(), &reference, &current);
            for (f, x) in forces.iter().zip(&reference) {
                if x.iter().all(|x| *x > 1e-9 && *x < 1.0 - 1e-9) {
                    assert!(f.norm() < 1e-15, "{kind:?} {f}");
                }
            }
            let e = if linear {
                0.5 * (h + h.transpose())
            } else {
                0.5 * (h + h.transpose() + h.transpose() * h)
            };
            let exact = 0.5 * LAME.lambda * e.trace().powi(2) + LAME.mu * e.norm_squared();
            assert!((energy / exact - 1.0).abs() < 1e-12, "{kind:?} {energy} {exact}");
        }
    }
}

#[test]
fn forces_are_the_slope_of_the_energy_and_in_balance() {
    for kind in [CellKind::Tet4, CellKind::Hex8] {
        let (block, reference) = block(kind, LAME, false, 0.05);
        let mut seed = 21;
        let mut noise = || Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
        let current: Vec<Vec3> = reference.iter().map(|x| x + 0.05 * noise()).collect();
        let (_, forces) = evaluate(block.as_ref(), &reference, &current);
        let sum: Vec3 = forces.iter().sum();
        let moment: Vec3 = forces.iter().zip(&current).map(|(f, x)| x.cross(f)).sum();
        assert!(sum.norm() < 1e-14 && moment.norm() < 1e-14);
        for (n, i) in [(0, 0), (21, 1), (22, 2), (42, 0), (63, 2)] {
            let at = |step: f64| {
                let mut x = current.clone();
                x[n][i] += step;
                evaluate(block.as_ref(), &reference, &x).0
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - forces[n][i]).abs() < 1e-9, "{slope} {}", forces[n][i]);
        }
    }
}

/// K by differences of the forces of the linear law, which are exact.
fn stiffness(block: &dyn Block, reference: &[Vec3]) -> DMatrix<f64> {
    let n = 3 * reference.len();
    let mut k = DMatrix::zeros(n, n);
    for j in 0..n {
        let mut x = reference.to_vec();
        x[j / 3][j % 3] += 1.0;
        let (_, forces) = evaluate(block, reference, &x);
        for i in 0..n {
            k[(i, j)] = forces[i / 3][i % 3];
        }
    }
    k
}

/// Six rigid motions cost nothing and nothing else does; the stabilisation stiffens the softest mode; and no mode of the
/// mesh is quicker than the steps of the potentials allow.
#[test]
fn only_rigid_motions_are_free_and_the_steps_are_safe() {
    for kind in [CellKind::Tet4, CellKind::Hex8] {
        let mut softest = Vec::new();
        for alpha in [0.0, 0.05] {
            let (block, reference) = block(kind, LAME, true, alpha);
            let k = stiffness(block.as_ref(), &reference);
            assert!((&k - k.transpose()).amax() < 1e-13);
            let mut mass = vec![0.0; reference.len()];
            block.add_lumped_mass(&reference, &mut mass);
            let mut shares = vec![0.0; reference.len()];
            for p in 0..block.potentials() {
                block.mass_shares(p, &reference, &mut |n, m| shares[n as usize] += m);
            }
            for (a, b) in mass.iter().zip(&shares) {
                assert!((a - b).abs() < 1e-15);
            }
            let a =
                DMatrix::from_fn(k.nrows(), k.nrows(), |i, j| k[(i, j)] / (mass[i / 3] * mass[j / 3]).sqrt());
            let mut values: Vec<f64> =
                (0.5 * (&a + a.transpose())).symmetric_eigenvalues().iter().copied().collect();
            values.sort_unstable_by(f64::total_cmp);
            assert!(values[5].abs() < 1e-10 && values[6] > 1e-3, "{kind:?} {:?}", &values[..8]);
            softest.push(values[6]);
            let safe = block.stable_steps().iter().copied().fold(f64::INFINITY, f64::min);
            let exact = 2.0 / values[values.len() - 1].sqrt();
            if alpha > 0.0 {
                assert!(safe <= exact && safe > 0.3 * exact, "{kind:?} {safe} {exact}");
            }
        }
        assert!(softest[1] > softest[0]);
    }
}

/// One node potential: the problem of size six has the largest eigenvalue of the whole.
#[test]
fn the_step_of_a_node_is_that_of_its_whole_stiffness() {
    for kind in [CellKind::Tet4, CellKind::Hex8] {
        let (connectivity, reference) = distorted(kind);
        let all = stencils(kind, &connectivity, &reference, 1.0);
        for stencil in all.values().step_by(13) {
            let n = 3 * stencil.members.len();
            let mut a = DMatrix::zeros(n, n);
            for (i, (_, b, m)) in stencil.members.iter().enumerate() {
                for (j, (_, c, o)) in stencil.members.iter().enumerate() {
                    // λ b cᵀ + μ (c bᵀ + b·c 1)
                    let k = LAME.lambda * b * c.transpose()
                        + LAME.mu * (c * b.transpose() + Mat3::from_diagonal_element(b.dot(c)));
                    let scaled = stencil.volume / (m * o).sqrt() * k;
                    for r in 0..3 {
                        for s in 0..3 {
                            a[(3 * i + r, 3 * j + s)] = scaled[(r, s)];
                        }
                    }
                }
            }
            let exact = a.symmetric_eigenvalues().max();
            assert!((frequency_squared(stencil.volume, &stencil.members, LAME) / exact - 1.0).abs() < 1e-12);
        }
    }
}

/// Stretched, turned and squeezed by hand: the step that is measured is safe for the mesh as it is, is that at rest in the
/// reference shape, and is shorter where the law stiffens.
#[test]
fn the_step_follows_the_deformation() {
    for kind in [CellKind::Tet4, CellKind::Hex8] {
        let (block, reference) = block(kind, LAME, false, 0.05);
        let measured = |current: &[Vec3]| {
            let positions = Positions { reference: &reference, current };
            let patches = block.patches();
            let step = |p: usize| {
                let mut forces = vec![Vec3::zeros(); patches.nodes(p).len()];
                let state = PointState { old: &[], new: &mut [] };
                block.force_pass(p, positions, state, true, &mut Scratch::new(), &mut forces).step
            };
            (0..patches.len()).map(step).fold(f64::INFINITY, f64::min)
        };
        let rest = block.stable_steps().iter().copied().fold(f64::INFINITY, f64::min);
        assert!((measured(&reference) / rest - 1.0).abs() < 1e-9);
        let turn = *nalgebra::Rotation3::new(Vec3::new(0.3, -0.8, 0.5)).matrix();
        let turned: Vec<Vec3> = reference.iter().map(|x| turn * x).collect();
        assert!((measured(&turned) / rest - 1.0).abs() < 1e-9);
        for stretch in [Vec3::new(1.4, 1.0, 1.0), Vec3::new(1.3, 0.9, 1.2), Vec3::new(0.85, 0.9, 0.8)] {
            let mut seed = 77;
            let mut noise = || Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
            let current: Vec<Vec3> =
                reference.iter().map(|x| turn * x.component_mul(&stretch) + 0.01 * noise()).collect();
            // K by central differences
            let n = 3 * reference.len();
            let mut k = DMatrix::zeros(n, n);
            for j in 0..n {
                let at = |step: f64| {
                    let mut x = current.clone();
                    x[j / 3][j % 3] += step;
                    evaluate(block.as_ref(), &reference, &x).1
                };
                let (up, down) = (at(1e-5), at(-1e-5));
                for i in 0..n {
                    k[(i, j)] = (up[i / 3][i % 3] - down[i / 3][i % 3]) / 2e-5;
                }
            }
            let mut mass = vec![0.0; reference.len()];
            block.add_lumped_mass(&reference, &mut mass);
            let a = DMatrix::from_fn(n, n, |i, j| {
                0.5 * (k[(i, j)] + k[(j, i)]) / (mass[i / 3] * mass[j / 3]).sqrt()
            });
            let exact = 2.0 / a.symmetric_eigenvalues().max().sqrt();
            let found = measured(&current);
            assert!(
                found <= exact && found > 0.25 * exact && found <= rest,
                "{kind:?} {found} {exact} {rest}"
            );
            if stretch.x > 1.35 {
                assert!(found < 0.85 * rest, "{found} {rest}");
            }
        }
    }
}
