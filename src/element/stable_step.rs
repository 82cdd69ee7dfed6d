//! The largest stable step of each element, `2/ω`, proven safe.
//!
//! `ω² = λ_max(A)`, `A = M^-½ K M^-½` with the element's own lumped mass. The mesh's highest frequency is at
//! most the largest of its elements' (Rayleigh quotient), so the smallest of these steps is safe for all.
//!
//! For a symmetric `A ⪰ 0` and any power p, `λ_max ≤ ‖A^p‖^{1/p}` (Frobenius), and the bound closes in as p
//! grows: by squaring four times, p = 16, an m-fold largest eigenvalue is overestimated by m^{1/32} at least
//! and (3N)^{1/32} at most, 2 to 10 % of ω² at worst, half of that in the step. No iteration that may not have converged,
//! and no estimate from below.

use super::Element;
use super::solid::Solid;
use super::tangent::SIZE;
use super::{Block, tangent};
use crate::material::Material;
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, Simd};
use rayon::prelude::*;

const SQUARINGS: usize = 4;

/// Stable step [s] of every element in its reference shape.
pub(super) fn of_block<E: Element, M: Material>(block: &Solid<E, M>, reference: &[Vec3]) -> Vec<f64> {
    let mut steps = vec![0.0; block.len()];
    let arch = pulp::Arch::new();
    steps.par_chunks_mut(MAX_WIDTH).enumerate().for_each(|(chunk, out)| {
        arch.dispatch(Batch { block, reference, first: chunk * MAX_WIDTH, out });
    });
    steps
}

struct Batch<'a, E, M> {
    block: &'a Solid<E, M>,
    reference: &'a [Vec3],
    first: usize,
    out: &'a mut [f64],
}

impl<E: Element, M: Material> pulp::WithSimd for Batch<'_, E, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let width = Simd::<S>::WIDTH;
        let nodes = E::KIND.nodes();
        let zero = Simd::<S>::splat(simd, 0.0);
        for begin in (0..self.out.len()).step_by(width) {
            let count = width.min(self.out.len() - begin);
            let mut x = [[[0.0; MAX_WIDTH]; 3]; 8];
            let mut root = [[0.0; MAX_WIDTH]; 8];
            for l in 0..width {
                let element = self.first + begin + l.min(count - 1);
                let mass = self.block.lumped_mass(element, self.reference);
                for (a, &n) in self.block.nodes(element).iter().enumerate() {
                    for i in 0..3 {
                        x[a][i][l] = self.reference[n as usize][i];
                    }
                    root[a][l] = 1.0 / mass[a].sqrt();
                }
            }
            let mut reference = E::nodal(zero);
            for (to, from) in reference.as_mut().iter_mut().zip(&x) {
                *to = [Simd::load(simd, &from[0]), Simd::load(simd, &from[1]), Simd::load(simd, &from[2])];
            }
            let mut a = tangent::of_element::<E, M, Simd<S>>(self.block, &reference, &E::nodal(zero));
            for (row, root_a) in a.chunks_exact_mut(3).zip(&root) {
                for row in row {
                    for (entries, root_b) in row.chunks_exact_mut(3).zip(&root) {
                        let factor = Simd::load(simd, root_a) * Simd::load(simd, root_b);
                        for x in entries {
                            *x = *x * factor;
                        }
                    }
                }
            }
            let mut column = [0.0; MAX_WIDTH];
            largest_eigenvalue_bound(&mut a, 3 * nodes).store(&mut column);
            for (step, bound) in self.out[begin..begin + count].iter_mut().zip(column) {
                *step = 2.0 / bound.sqrt();
            }
        }
    }
}

/// `‖A^16‖^{1/16}`, scaled by the trace on the way so that nothing overflows.
#[inline(always)]
fn largest_eigenvalue_bound<L: Lane>(a: &mut [[L; SIZE]; SIZE], n: usize) -> L {
    let mut trace = a[0][0];
    for i in 1..n {
        trace += a[i][i];
    }
    let inverse = trace.of(1.0) / trace;
    for row in &mut a[..n] {
        for x in &mut row[..n] {
            *x = *x * inverse;
        }
    }
    // With ‖A‖ < 1 the powers shrink; 24^-16 is far from underflow.
    let mut square = *a;
    for _ in 0..SQUARINGS {
        for i in 0..n {
            for j in i..n {
                let mut sum = a[i][0] * a[j][0];
                for k in 1..n {
                    sum = a[i][k].mul_add(a[j][k], sum);
                }
                square[i][j] = sum;
                square[j][i] = sum;
            }
        }
        *a = square;
    }
    let mut norm = trace.of(0.0);
    for row in &a[..n] {
        for &x in &row[..n] {
            norm = x.mul_add(x, norm);
        }
    }
    let mut root = norm.sqrt();
    for _ in 0..SQUARINGS {
        root = root.sqrt();
    }
    root * trace
}
