//! Compressible neo-Hookean: `W = ½μ(I₁ − 3) − μ ln J + ½λ ln²J`, `S = μ(1 − C⁻¹) + λ ln J C⁻¹`.
//!
//! Infinite energy at zero volume. `D = λ C⁻¹⊗C⁻¹ + 2(μ − λ ln J) C⁻¹⊙C⁻¹`.

use super::invariants::{add_sandwich, add_square, invariants, no_tangent, one_minus};
use super::{Lame, Material};
use crate::math::elementary::{ln_1p, ln_1p_and_rest};
use crate::math::lane::Lane;
use crate::math::tensor::Sym;

#[derive(Clone, Copy, Debug)]
pub struct NeoHookean {
    /// λ and μ of the law, those of Hooke's law at small strains [Pa].
    pub lame: Lame,
    /// [kg/m³]
    pub density: f64,
}

impl Material for NeoHookean {
    fn density(&self) -> f64 {
        self.density
    }
    fn lame(&self) -> Lame {
        self.lame
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, _state: &mut [L]) -> (L, Sym<L>) {
        let Lame { lambda, mu } = self.lame;
        let v = invariants(strain);
        let (ln_j2, rest) = ln_1p_and_rest(v.j2_m1);
        let ln_j = ln_j2 * 0.5;
        // tr E − ln J = ½(J² − 1 − ln J²) − ½q: nothing linear is left to cancel
        let energy = (ln_j * ln_j).mul_add(ln_j.of(0.5 * lambda), (rest - v.curved) * (0.5 * mu));

        let b = v.one_minus_inverse(ln_j.of(1.0) / (v.j2_m1 + 1.0));
        // μ B + λ ln J (1 − B)
        let p = ln_j * lambda;
        let m = -p + mu;
        let s = [m.mul_add(b[0], p), m.mul_add(b[1], p), m.mul_add(b[2], p), m * b[3], m * b[4], m * b[5]];
        (energy, s)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> [Sym<L>; 6] {
        let Lame { lambda, mu } = self.lame;
        let v = invariants(strain);
        let ln_j = ln_1p(v.j2_m1) * 0.5;
        let c = one_minus(&v.one_minus_inverse(ln_j.of(1.0) / (v.j2_m1 + 1.0)));
        let mut d = no_tangent(ln_j);
        add_square(&mut d, ln_j.of(lambda), &c);
        add_sandwich(&mut d, -(ln_j * lambda) + mu, &c, &c);
        d
    }
}
