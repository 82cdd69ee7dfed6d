//! The largest stable step of elements as they are now, proven safe like that of the reference shape.
//!
//! With `H = ∂u/∂X` of a small motion on top of the deformation `F` and `D`, `S` tangent and stress of the law,
//!
//! ```text
//! uᵀKu = Σ w det J [ (FᵀH)ˢ:D:(FᵀH)ˢ + tr(H S Hᵀ) ]
//! ```
//!
//! Two bounds of the highest frequency follow from that at rest, ω₀, and that of a scalar field, ω_∇. Both hold; the
//! lower one is taken.
//!
//! **From the body at rest.** Were F the same everywhere, `Fᵀu` would be a motion like any other, at most Λ times as
//! large (Λ the largest stretch), and its stiffness at most d times that at rest. With `F = F̄ + Δ` at the points
//! and `κ = λ + 2μ`, by the triangle inequality
//!
//! ```text
//! ω² ≤ d (Λ̄ ω₀ + √κ |Δ| ω_∇)² + s ω_∇²        s: largest tension
//! ```
//!
//! exact at rest and close for moderate strains.
//!
//! **From the gradient.** `uᵀKu ≤ q Σ w det J |H|²`, where q adds s to the largest eigenvalue of `E ↦ D:(C E)ˢ`, so
//! `ω² ≤ q ω_∇²`. Where one direction is drawn and another pressed, the first bound multiplies the stretch of the one
//! with the stiffness of the other, and this one does not. It is asked where the first has grown large.
//!
//! Hourglass stiffness does not change with the deformation: its share of ω₀² is added to the first bound, and the
//! scalar field of the second is stiffened by it.
//!
//! A step longer than that at rest is never given: softening ends as quickly as a wave passes.

use super::Element;
use super::patch::{Patches, Record};
use super::solid::{MAX_STATE, load_batch, load_state};
use super::stable_step::Steps;
use crate::material::Material;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes};
use crate::math::tensor::{
    COUNT, INDEX, Matrix, Sym, cofactor, dot, eigenvalue_bound, full, green_strain, mul, mul_transposed,
    scale,
};
use std::marker::PhantomData;

/// Growth of ω² beyond which the bound from the gradient is worth its while.
const LARGE: f64 = 1.3;
/// Squarings of `E ↦ D:(C E)ˢ`: the power 8 overestimates the largest eigenvalue by 6^(1/16), 12 %, at most.
const SQUARINGS: usize = 3;

/// The smallest stable step [s] of one patch.
pub(super) struct StepPass<'a, E, M> {
    pub law: &'a M,
    pub patches: &'a Patches,
    pub steps: &'a Steps,
    pub patch: usize,
    /// Number of the block's first element in the patches.
    pub first: usize,
    pub records: &'a [Record],
    pub old: &'a [f64],
    pub element: PhantomData<E>,
}

/// What the bounds are made of.
struct Measured<L> {
    /// d
    stiffening: L,
    /// Λ̄²
    stretch_squared: L,
    /// |Δ|²
    variation_squared: L,
    /// s
    tension: L,
    /// q, infinite where it was not asked for.
    modulus: L,
}

impl<E: Element, M: Material> OnLanes for StepPass<'_, E, M> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) -> f64 {
        let range = self.patches.range(self.patch);
        let elements = &self.patches.elements()[range.clone()];
        if M::SMALL_STRAIN {
            return elements
                .iter()
                .map(|&e| self.steps.whole[e as usize - self.first])
                .fold(f64::INFINITY, f64::min);
        }
        let (nodes, width, per_element) = (E::KIND.nodes(), L::WIDTH, E::POINTS * M::STATE);
        let local = self.patches.local(self.patch);
        let zero = L::splat(token, 0.0);
        let (mut reference, mut displacement) = (E::nodal(zero), E::nodal(zero));
        let mut state = [zero; MAX_STATE];
        let mut smallest = f64::INFINITY;
        for first in (0..range.len()).step_by(width) {
            let batch = &local[first * nodes..(first + width) * nodes];
            load_batch::<E, L>(token, self.records, batch, &mut reference, &mut displacement);
            let valid = width.min(range.len() - first);
            load_state(token, self.old, first, valid, &mut state[..per_element]);
            let found = self.measure::<L>(&reference, &displacement, &mut state[..per_element]);
            let mut columns = [[0.0; MAX_WIDTH]; 5];
            found.stiffening.store(&mut columns[0]);
            found.stretch_squared.store(&mut columns[1]);
            found.variation_squared.store(&mut columns[2]);
            found.tension.store(&mut columns[3]);
            found.modulus.store(&mut columns[4]);
            for (l, &e) in elements[first..first + valid].iter().enumerate() {
                smallest = smallest.min(self.step(e as usize - self.first, columns.map(|column| column[l])));
            }
        }
        smallest
    }
}

impl<E: Element, M: Material> StepPass<'_, E, M> {
    /// Stable step of one element from what was measured, in the order of [`Measured`].
    #[inline(always)]
    fn step(&self, element: usize, [d, stretch2, variation2, tension, modulus]: [f64; 5]) -> f64 {
        let steps = self.steps;
        let (rest, gradient) = (2.0 / steps.whole[element], 2.0 / steps.gradient[element]);
        let moved = stretch2.sqrt() * rest + (steps.modulus * variation2).sqrt() * gradient;
        let from_rest =
            d * moved * moved + tension * gradient * gradient + steps.hourglass_share * rest * rest;
        // the hourglass part of the scalar field is in units of the modulus at rest
        let modulus = if E::HOURGLASS { modulus.max(steps.modulus) } else { modulus };
        let from_gradient = modulus * gradient * gradient;
        2.0 / from_rest.min(from_gradient).max(rest * rest).sqrt()
    }

    #[inline(always)]
    fn measure<L: Lane>(
        &self,
        reference: &E::Nodal<L>,
        displacement: &E::Nodal<L>,
        state: &mut [L],
    ) -> Measured<L> {
        let like = reference.as_ref()[0][0];
        let zero = like.of(0.0);
        let shape = E::shape(reference);
        let gradient = E::gradient(&shape, displacement);
        let mut mean = [[zero; 3]; 3];
        for q in 0..E::POINTS {
            let h = displacement_gradient::<E, L>(&shape, &gradient, q);
            for (mean, h) in mean.iter_mut().flatten().zip(h.iter().flatten()) {
                *mean = h.mul_add(like.of(1.0 / E::POINTS as f64), *mean);
            }
        }
        let stretch_squared = eigenvalue_bound(&green_strain(&mean)) * 2.0 + 1.0;
        let (mut stiffening, mut variation_squared, mut tension) = (zero, zero, zero);
        for q in 0..E::POINTS {
            let h = displacement_gradient::<E, L>(&shape, &gradient, q);
            let strain = green_strain(&h);
            let point_state = &mut state[q * M::STATE..(q + 1) * M::STATE];
            let s = self.law.respond(&strain, point_state).1;
            tension = tension.max(eigenvalue_bound(&s));
            stiffening = stiffening.max(self.law.stiffening(&strain, point_state));
            let mut variation = zero;
            for (h, mean) in h.iter().flatten().zip(mean.iter().flatten()) {
                let by = *h - *mean;
                variation = by.mul_add(by, variation);
            }
            variation_squared = variation_squared.max(variation);
        }
        // A bar's strain along its axis is all there is to it: its second bound is exact.
        let growth =
            if E::KIND.dimension() == 1 { like.of(f64::INFINITY) } else { stiffening * stretch_squared };
        let mut modulus = like.of(f64::INFINITY);
        if any_above(growth, LARGE) {
            let mut largest = zero;
            for q in 0..E::POINTS {
                let strain = green_strain(&displacement_gradient::<E, L>(&shape, &gradient, q));
                let tangent = self.law.tangent(&strain, &state[q * M::STATE..(q + 1) * M::STATE]);
                largest = largest.max(gradient_modulus(&tangent, &strain, self.steps.modulus));
            }
            // lane by lane: what an element is told does not depend on its neighbours
            modulus = like.of(LARGE).if_less(growth, largest + tension, modulus);
        }
        Measured { stiffening, stretch_squared, variation_squared, tension, modulus }
    }
}

#[inline(always)]
fn any_above<L: Lane>(x: L, limit: f64) -> bool {
    let mut all = [f64::NEG_INFINITY; MAX_WIDTH];
    x.store(&mut all);
    all.iter().any(|&x| x > limit)
}

/// `H` at point `q`.
#[inline(always)]
fn displacement_gradient<E: Element, L: Lane>(
    shape: &E::Shape<L>,
    gradient: &E::Gradient<L>,
    q: usize,
) -> Matrix<L> {
    let j = E::jacobian(shape, q);
    let c = cofactor(&j);
    scale(&mul_transposed(&E::at(gradient, q), &c), c[0][0].of(1.0) / dot(j[0], c[0]))
}

/// A bound of the largest eigenvalue of `E ↦ D:(C E)ˢ` by a power of it, scaled with `rest` so that nothing overflows.
/// Its eigenvalues are those of `H ↦ F (D:(FᵀH)ˢ)`, all of them real.
#[inline(always)]
fn gradient_modulus<L: Lane>(d: &[Sym<L>; 6], strain: &Sym<L>, rest: f64) -> L {
    let mut c = full(strain);
    for (i, row) in c.iter_mut().enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = *x * 2.0 + if i == j { 1.0 } else { 0.0 };
        }
    }
    let mut x = *d;
    for (a, row) in x.iter_mut().enumerate() {
        let product = mul(&c, &full(row));
        for (b, (entry, &(i, j))) in row.iter_mut().zip(&INDEX).enumerate() {
            *entry = (product[i][j] + product[j][i]) * (0.5 * (COUNT[a] * COUNT[b]).sqrt() / rest);
        }
    }
    for _ in 0..SQUARINGS {
        let mut square = x;
        for (from, to) in x.iter().zip(&mut square) {
            for (b, entry) in to.iter_mut().enumerate() {
                let mut sum = from[0] * x[0][b];
                for k in 1..6 {
                    sum = from[k].mul_add(x[k][b], sum);
                }
                *entry = sum;
            }
        }
        x = square;
    }
    let mut norm = x[0][0].of(0.0);
    for &entry in x.iter().flatten() {
        norm = entry.mul_add(entry, norm);
    }
    let mut root = norm.sqrt();
    for _ in 0..SQUARINGS {
        root = root.sqrt();
    }
    root * rest
}
