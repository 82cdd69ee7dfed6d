//! Mooney–Rivlin with shape and volume apart: `W = C₁(Ī₁ − 3) + C₂(Ī₂ − 3) + ½κ(J − 1)²`,
//! `Ī₁ = I₁ J^(−2/3)`, `Ī₂ = I₂ J^(−4/3)`.
//!
//! With `a = 2C₁ J^(−2/3)` and `b = 2C₂ J^(−4/3)`
//!
//! ```text
//! S = a(1 − ⅓I₁ C⁻¹) + b(I₁ 1 − C − ⅔I₂ C⁻¹) + κ(J − 1)J C⁻¹
//! ```
//!
//! At small strains μ = 2(C₁ + C₂), λ = κ − ⅔μ. The volume term stays finite at zero volume.

use super::invariants::{
    add_cofactor_of_one, add_pair, add_sandwich, add_square, invariants, no_tangent, one_minus,
};
use super::{Lame, Material};
use crate::math::elementary::{exp, exp_m1_and_rest, ln_1p, ln_1p_and_rest};
use crate::math::lane::Lane;
use crate::math::tensor::Sym;

#[derive(Clone, Copy, Debug)]
pub struct MooneyRivlin {
    /// C₁ [Pa].
    pub c1: f64,
    /// C₂ [Pa].
    pub c2: f64,
    /// Bulk modulus κ at small strains [Pa].
    pub bulk: f64,
    /// [kg/m³]
    pub density: f64,
}

impl Material for MooneyRivlin {
    fn density(&self) -> f64 {
        self.density
    }
    fn lame(&self) -> Lame {
        let mu = 2.0 * (self.c1 + self.c2);
        Lame { lambda: self.bulk - 2.0 / 3.0 * mu, mu }
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, _state: &mut [L]) -> (L, Sym<L>) {
        let v = invariants(strain);
        let (e1, e2) = (v.first, v.second);
        let j2 = v.j2_m1 + 1.0;
        let j = j2.sqrt();
        let j_p1 = j + 1.0;
        let inverse = j.of(1.0) / (j2 * j_p1);
        let (inv_j2, inv_j_p1) = (inverse * j_p1, inverse * j2);
        let j_m1 = v.j2_m1 * inv_j_p1;

        // f = J^(−2/3) − 1 and its part beyond −⅓ ln J²
        let (ln_j2, ln_rest) = ln_1p_and_rest(v.j2_m1);
        let (f, rest) = exp_m1_and_rest(ln_j2 * (-1.0 / 3.0));
        let f2 = f * (f + 2.0);
        // Ī₁ − 3 = 3f + 2I(1 + f) and Ī₂ − 3 = 3f₂ + 4(I + II)(1 + f₂), f₂ = J^(−4/3) − 1,
        // with −ln J² of f set against 2I before anything is added up
        let against = rest.mul_add(f.of(3.0), ln_rest - v.curved);
        let i1_m3 = (e1 * 2.0).mul_add(f, against);
        let i2_m3 = ((e1 + e2) * 4.0).mul_add(f2, (f * f).mul_add(f.of(3.0), against * 2.0 + e2 * 4.0));
        let volume = j_m1 * j_m1 * (0.5 * self.bulk);
        let energy = i1_m3.mul_add(f.of(self.c1), i2_m3.mul_add(f.of(self.c2), volume));

        // with C⁻¹ = 1 − B: (a + 2b) B + 2b(I 1 − E) + p C⁻¹
        let a = f * (2.0 * self.c1) + 2.0 * self.c1;
        let two_b = f2 * (4.0 * self.c2) + 4.0 * self.c2;
        let p = (j_m1 * j * self.bulk) - (a * e1) * (2.0 / 3.0) - (two_b * (e1 + e2)) * (4.0 / 3.0);
        let b = v.one_minus_inverse(inv_j2);
        let m = a + two_b - p;
        let n = two_b.mul_add(e1, p);
        let e = strain;
        let s = [
            m.mul_add(b[0], two_b.neg_mul_add(e[0], n)),
            m.mul_add(b[1], two_b.neg_mul_add(e[1], n)),
            m.mul_add(b[2], two_b.neg_mul_add(e[2], n)),
            m.mul_add(b[3], -(two_b * e[3])),
            m.mul_add(b[4], -(two_b * e[4])),
            m.mul_add(b[5], -(two_b * e[5])),
        ];
        (energy, s)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> [Sym<L>; 6] {
        let v = invariants(strain);
        let j2 = v.j2_m1 + 1.0;
        let j = j2.sqrt();
        let shape = exp(ln_1p(v.j2_m1) * (-1.0 / 3.0));
        let a = shape * (2.0 * self.c1);
        let b = shape * shape * (2.0 * self.c2);
        let i1 = v.first * 2.0 + 3.0;
        let i2 = (v.first + v.second) * 4.0 + 3.0;
        let c = one_minus(&v.one_minus_inverse(j.of(1.0) / j2));

        let mut d = no_tangent(j);
        let (ai1, bi2) = (a * i1, b * i2);
        let kj = j * self.bulk;
        // κ: (2J − 1)J C⁻¹⊗C⁻¹ − 2(J − 1)J C⁻¹⊙C⁻¹
        add_square(&mut d, ai1 * (2.0 / 9.0) + bi2 * (8.0 / 9.0) + kj * (j + j - 1.0), &c);
        add_sandwich(&mut d, ai1 * (1.0 / 3.0) + bi2 * (2.0 / 3.0) - kj * (j - 1.0), &c, &c);
        // −⅔a 1 − ⁴⁄₃b (I₁ 1 − C), paired with C⁻¹
        let e = strain;
        let diagonal = a * (-2.0 / 3.0) - b * (4.0 / 3.0) * (i1 - 1.0);
        let eight_thirds = b * (8.0 / 3.0);
        let w = [
            eight_thirds.mul_add(e[0], diagonal),
            eight_thirds.mul_add(e[1], diagonal),
            eight_thirds.mul_add(e[2], diagonal),
            eight_thirds * e[3],
            eight_thirds * e[4],
            eight_thirds * e[5],
        ];
        add_pair(&mut d, &w, &c);
        add_cofactor_of_one(&mut d, b * 2.0);
        d
    }
}
