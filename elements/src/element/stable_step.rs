//! The largest stable step of each element, `2/ω`, proven safe.
//!
//! `ω² = λ_max(A)`, `A = M^-½ K M^-½` with the element's own lumped mass. The mesh's highest frequency is at
//! most the largest of its elements' (Rayleigh quotient), so the smallest of these steps is safe for all.
//!
//! For a symmetric `A ⪰ 0` and any power p, `λ_max ≤ ‖A^p‖^{1/p}` (Frobenius), and the bound closes in as p
//! grows: by squaring four times, p = 16, an m-fold largest eigenvalue is overestimated by m^{1/32} at least
//! and (3N)^{1/32} at most, 2 to 10 % of ω² at worst, half of that in the step. No iteration that may not have converged,
//! and no estimate from below.
//!
//! Beside it stands `2/ω_∇`, the step of a scalar field on the element (its Laplacian with the same mass): a body
//! whose energy is at most `½q|∇u|²` has `ω² ≤ q ω_∇²` whatever its law, see `deformed_step.rs`.
//!
//! Of the law only the stiffness at rest matters, so this is compiled once per element and not once per law.

use super::Element;
use super::solid::lumped_mass;
use super::tangent::{self, SIZE};
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes, dispatch_rarely};
use crate::math::tensor::{AT, Sym};
use crate::mesh::MOST_NODES;
use rayon::prelude::*;
use std::marker::PhantomData;

const SQUARINGS: usize = 4;

/// What elements resist with in their reference shape.
pub(super) struct AtRest<'a> {
    /// Global node ids of the elements.
    pub connectivity: &'a [u32],
    /// [kg/m³]
    pub density: f64,
    /// Tangent of the law at zero strain.
    pub tangent: [Sym<f64>; 6],
    /// Stiffness against hourglass modes [Pa].
    pub hourglass: f64,
}

/// What is known of the frequencies of every element in its reference shape.
#[derive(Default)]
pub(super) struct Steps {
    /// Stable step [s].
    pub whole: Vec<f64>,
    /// Stable step of a scalar field of unit stiffness [s √Pa]; for elements with hourglass control, stiffened by it.
    pub gradient: Vec<f64>,
    /// Largest share of the hourglass modes in ω².
    pub hourglass_share: f64,
    /// Largest stiffness of the law at rest against one component of a gradient, λ + 2μ [Pa].
    pub modulus: f64,
}

pub(super) fn of_block<E: Element>(rest: &AtRest, reference: &[Vec3]) -> Steps {
    let count = rest.connectivity.len() / E::KIND.nodes();
    let (mut whole, mut gradient, mut share) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    whole
        .par_chunks_mut(MAX_WIDTH)
        .zip(gradient.par_chunks_mut(MAX_WIDTH))
        .zip(share.par_chunks_mut(MAX_WIDTH))
        .enumerate()
        .for_each(|(chunk, ((whole, gradient), share))| {
            let first = chunk * MAX_WIDTH;
            dispatch_rarely(Batch {
                rest,
                reference,
                first,
                whole,
                gradient,
                share,
                element: PhantomData::<E>,
            });
        });
    let hourglass_share = share.into_iter().fold(0.0, f64::max);
    let modulus = rest.tangent[0][0].max(2.0 * rest.tangent[3][3]);
    Steps { whole, gradient, hourglass_share, modulus }
}

struct Batch<'a, E> {
    rest: &'a AtRest<'a>,
    reference: &'a [Vec3],
    first: usize,
    whole: &'a mut [f64],
    gradient: &'a mut [f64],
    share: &'a mut [f64],
    element: PhantomData<E>,
}

impl<E: Element> OnLanes for Batch<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let width = L::WIDTH;
        let nodes = E::KIND.nodes();
        let zero = L::splat(token, 0.0);
        let mass_points = E::mass_points();
        let mut moduli = [[zero; 9]; 9];
        for (ij, row) in moduli.iter_mut().enumerate() {
            for (kl, x) in row.iter_mut().enumerate() {
                *x = zero.of(self.rest.tangent[AT[ij / 3][ij % 3]][AT[kl / 3][kl % 3]]);
            }
        }
        for begin in (0..self.whole.len()).step_by(width) {
            let count = width.min(self.whole.len() - begin);
            let mut x = [[[0.0; MAX_WIDTH]; 3]; MOST_NODES];
            let mut root = [[0.0; MAX_WIDTH]; MOST_NODES];
            for l in 0..width {
                let element = self.first + begin + l.min(count - 1);
                let ids = &self.rest.connectivity[element * nodes..(element + 1) * nodes];
                let mass = lumped_mass::<E>(&mass_points, ids, self.reference, self.rest.density);
                for (a, &n) in ids.iter().enumerate() {
                    for i in 0..3 {
                        x[a][i][l] = self.reference[n as usize][i];
                    }
                    root[a][l] = 1.0 / mass[a].sqrt();
                }
            }
            let mut reference = E::nodal(zero);
            for (to, from) in reference.as_mut().iter_mut().zip(&x) {
                *to = [L::load(token, &from[0]), L::load(token, &from[1]), L::load(token, &from[2])];
            }
            let shape = E::shape(&reference);
            let mut a = [[zero; SIZE]; SIZE];
            for q in 0..E::POINTS {
                tangent::add_point::<E, L>(&shape, q, &moduli, &mut a);
            }
            if E::HOURGLASS {
                tangent::add_hourglass::<E, L>(&reference, &shape, self.rest.hourglass, &mut a);
            }
            let bound = weighted_bound(&mut a, &root[..nodes], 3, token);
            a = [[zero; SIZE]; SIZE];
            for q in 0..E::POINTS {
                tangent::add_laplacian::<E, L>(&shape, q, &mut a);
            }
            if E::HOURGLASS {
                let relative = self.rest.hourglass / self.rest.tangent[0][0];
                tangent::add_scalar_hourglass::<E, L>(&reference, &shape, relative, &mut a);
            }
            let bound_gradient = weighted_bound(&mut a, &root[..nodes], 1, token);
            let mut column = [0.0; MAX_WIDTH];
            bound.store(&mut column);
            for (step, bound) in self.whole[begin..begin + count].iter_mut().zip(column) {
                *step = 2.0 / bound.sqrt();
            }
            bound_gradient.store(&mut column);
            for (step, bound) in self.gradient[begin..begin + count].iter_mut().zip(column) {
                *step = 2.0 / bound.sqrt();
            }
            if E::HOURGLASS {
                a = [[zero; SIZE]; SIZE];
                tangent::add_scalar_hourglass::<E, L>(&reference, &shape, self.rest.hourglass, &mut a);
                (weighted_bound(&mut a, &root[..nodes], 1, token) / bound).store(&mut column);
                self.share[begin..begin + count].copy_from_slice(&column[..count]);
            }
        }
    }
}

/// Bound of the largest eigenvalue of `M^-½ A M^-½` with `components` rows per node, given `M^-½`.
#[inline(always)]
fn weighted_bound<L: Lane>(
    a: &mut [[L; SIZE]; SIZE],
    root: &[[f64; MAX_WIDTH]],
    components: usize,
    token: L::Token,
) -> L {
    for (row, root_a) in a.chunks_exact_mut(components).zip(root) {
        for row in row {
            for (entries, root_b) in row.chunks_exact_mut(components).zip(root) {
                let factor = L::load(token, root_a) * L::load(token, root_b);
                for x in entries {
                    *x = *x * factor;
                }
            }
        }
    }
    largest_eigenvalue_bound(a, components * root.len())
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
    // With ‖A‖ < 1 the powers shrink; 30^-16 is far from underflow.
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
