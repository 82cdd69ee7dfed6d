//! Blatz–Ko foam rubber: `W = ½G(I₂/I₃ + 2√I₃ − 5) = ½G(tr C⁻¹ + 2J − 5)`, `S = G(J C⁻¹ − C⁻²)`.
//!
//! At small strains λ = μ = G, Poisson's ratio ¼. Infinite energy at zero volume.
//! `dS = G[J (C⁻¹:dE) C⁻¹ − 2J C⁻¹dE C⁻¹ + 2(C⁻¹dE C⁻² + C⁻²dE C⁻¹)]`.

use super::invariants::{add_sandwich, add_square, invariants, no_tangent, one_minus, squared};
use super::{Lame, Material};
use crate::math::lane::Lane;
use crate::math::tensor::Sym;

#[derive(Clone, Copy, Debug)]
pub struct BlatzKo {
    /// Shear modulus G at small strains [Pa].
    pub shear: f64,
    /// [kg/m³]
    pub density: f64,
}

impl Material for BlatzKo {
    fn density(&self) -> f64 {
        self.density
    }
    fn lame(&self) -> Lame {
        Lame { lambda: self.shear, mu: self.shear }
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, _state: &mut [L]) -> (L, Sym<L>) {
        let v = invariants(strain);
        let j2 = v.j2_m1 + 1.0;
        let j = j2.sqrt();
        let j_p1 = j + 1.0;
        // one division for 1/J² and 1/(J + 1)
        let inverse = j.of(1.0) / (j2 * j_p1);
        let (inv_j2, inv_j_p1) = (inverse * j_p1, inverse * j2);
        let j_m1 = v.j2_m1 * inv_j_p1;

        // tr C⁻¹ − 3 + 2(J − 1) = [(2J + 1)(J − 1)² − 4 II − 16 III] / J²: the linear parts are gone
        let volume = (j + j + 1.0) * (j_m1 * j_m1);
        let minors = v.third.mul_add(j.of(16.0), v.second * 4.0);
        let energy = (volume - minors) * inv_j2 * (0.5 * self.shear);

        // G C⁻¹(J 1 − C⁻¹) with C⁻¹ = 1 − B: (J − 1)(1 − B) + B − B²
        let b = v.one_minus_inverse(inv_j2);
        let b2 = squared(&b);
        let g = self.shear;
        let f = -j_m1 + 1.0;
        let s = [
            (f.mul_add(b[0], j_m1) - b2[0]) * g,
            (f.mul_add(b[1], j_m1) - b2[1]) * g,
            (f.mul_add(b[2], j_m1) - b2[2]) * g,
            f.mul_add(b[3], -b2[3]) * g,
            f.mul_add(b[4], -b2[4]) * g,
            f.mul_add(b[5], -b2[5]) * g,
        ];
        (energy, s)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> [Sym<L>; 6] {
        let v = invariants(strain);
        let j2 = v.j2_m1 + 1.0;
        let j = j2.sqrt() * self.shear;
        let c = one_minus(&v.one_minus_inverse(j.of(1.0) / j2));
        let c2 = squared(&c);
        let mut d = no_tangent(j);
        add_square(&mut d, j, &c);
        add_sandwich(&mut d, -j, &c, &c);
        add_sandwich(&mut d, j.of(2.0 * self.shear), &c, &c2);
        d
    }
}
