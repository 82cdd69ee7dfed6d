//! What the laws read off a Green strain `E`, all without the difference to `C = 1 + 2E` near one.
//!
//! With `I = tr E`, `II` the sum of principal minors and `III = det E`, and `q = 4 II + 8 III`:
//!
//! ```text
//! J² − 1  = det C − 1 = 2 I + q
//! cof C   = (1 + 2 I) 1 − 2 E + 4 cof E
//! 1 − C⁻¹ = (q 1 + 2 E − 4 cof E) / J²
//! ```
//!
//! Below them, the products from which tangents are put together.

use crate::math::lane::Lane;
use crate::math::tensor::{AT, INDEX, Sym, sym_cofactor, trace};

#[derive(Clone, Copy)]
pub(super) struct Invariants<L> {
    pub strain: Sym<L>,
    /// `cof E`.
    pub cofactor: Sym<L>,
    /// `I = tr E`.
    pub first: L,
    /// `II`, the sum of principal minors.
    pub second: L,
    /// `III = det E`.
    pub third: L,
    /// `q = 4 II + 8 III`: what of `J² − 1` is not linear.
    pub curved: L,
    /// `J² − 1`.
    pub j2_m1: L,
}

#[inline(always)]
pub(super) fn invariants<L: Lane>(strain: &Sym<L>) -> Invariants<L> {
    let cofactor = sym_cofactor(strain);
    let first = trace(strain);
    let second = trace(&cofactor);
    let third = strain[5].mul_add(cofactor[5], strain[3].mul_add(cofactor[3], strain[0] * cofactor[0]));
    let curved = third.mul_add(third.of(8.0), second * 4.0);
    let j2_m1 = first.mul_add(first.of(2.0), curved);
    Invariants { strain: *strain, cofactor, first, second, third, curved, j2_m1 }
}

impl<L: Lane> Invariants<L> {
    /// `1 − C⁻¹`, given `1/J²`.
    #[inline(always)]
    pub(crate) fn one_minus_inverse(&self, inv_j2: L) -> Sym<L> {
        let (e, c) = (&self.strain, &self.cofactor);
        let (two, four) = (inv_j2 * 2.0, inv_j2 * 4.0);
        let q = inv_j2 * self.curved;
        [
            four.neg_mul_add(c[0], two.mul_add(e[0], q)),
            four.neg_mul_add(c[1], two.mul_add(e[1], q)),
            four.neg_mul_add(c[2], two.mul_add(e[2], q)),
            four.neg_mul_add(c[3], two * e[3]),
            four.neg_mul_add(c[4], two * e[4]),
            four.neg_mul_add(c[5], two * e[5]),
        ]
    }
}

/// `1 − A`.
#[inline(always)]
pub(super) fn one_minus<L: Lane>(a: &Sym<L>) -> Sym<L> {
    let one = a[0].of(1.0);
    [one - a[0], one - a[1], one - a[2], -a[3], -a[4], -a[5]]
}

/// `A A`.
#[inline(always)]
pub(super) fn squared<L: Lane>(a: &Sym<L>) -> Sym<L> {
    let [xx, yy, zz, xy, yz, xz] = *a;
    [
        xz.mul_add(xz, xy.mul_add(xy, xx * xx)),
        yz.mul_add(yz, xy.mul_add(xy, yy * yy)),
        yz.mul_add(yz, xz.mul_add(xz, zz * zz)),
        xz.mul_add(yz, xy * (xx + yy)),
        xy.mul_add(xz, yz * (yy + zz)),
        xy.mul_add(yz, xz * (xx + zz)),
    ]
}

/// A tangent of zeros.
#[inline(always)]
pub(super) fn no_tangent<L: Lane>(like: L) -> [Sym<L>; 6] {
    [[like.of(0.0); 6]; 6]
}

/// Adds `f A ⊗ A`: `dS = f (A:dE) A`.
#[inline(always)]
pub(super) fn add_square<L: Lane>(d: &mut [Sym<L>; 6], f: L, a: &Sym<L>) {
    for i in 0..6 {
        let fa = f * a[i];
        for j in 0..6 {
            d[i][j] = fa.mul_add(a[j], d[i][j]);
        }
    }
}

/// Adds `A ⊗ B + B ⊗ A`: `dS = (B:dE) A + (A:dE) B`.
#[inline(always)]
pub(super) fn add_pair<L: Lane>(d: &mut [Sym<L>; 6], a: &Sym<L>, b: &Sym<L>) {
    for i in 0..6 {
        for j in 0..6 {
            d[i][j] = a[i].mul_add(b[j], b[i].mul_add(a[j], d[i][j]));
        }
    }
}

/// Adds what makes `dS = f (A dE B + B dE A)`.
#[inline(always)]
pub(super) fn add_sandwich<L: Lane>(d: &mut [Sym<L>; 6], f: L, a: &Sym<L>, b: &Sym<L>) {
    let half = f * 0.5;
    for x in 0..6 {
        for y in 0..6 {
            let ((i, j), (k, l)) = (INDEX[x], INDEX[y]);
            let (ik, jl, il, jk) = (AT[i][k], AT[j][l], AT[i][l], AT[j][k]);
            let direct = a[ik].mul_add(b[jl], a[il] * b[jk]);
            let other = b[ik].mul_add(a[jl], b[il] * a[jk]);
            d[x][y] = half.mul_add(direct + other, d[x][y]);
        }
    }
}

/// Adds `f (1 ⊗ 1 − 𝕀)`: `dS = f (tr dE 1 − dE)`.
#[inline(always)]
pub(super) fn add_cofactor_of_one<L: Lane>(d: &mut [Sym<L>; 6], f: L) {
    for (i, row) in d.iter_mut().enumerate() {
        if i < 3 {
            for (j, x) in row[..3].iter_mut().enumerate() {
                if i != j {
                    *x += f;
                }
            }
        } else {
            row[i] = row[i] - f * 0.5;
        }
    }
}
