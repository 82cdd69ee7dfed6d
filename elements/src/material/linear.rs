//! Hooke's law at small strains: `W = ½λ(tr ε)² + μ ε:ε`, `σ = λ tr ε 1 + 2μ ε`.
//!
//! Not frame indifferent: a large rotation of a body stores energy it should not.

use super::{Lame, Material};
use crate::math::lane::Lane;
use crate::math::tensor::{Sym, contract, trace};

#[derive(Clone, Copy, Debug)]
pub struct Linear {
    pub lame: Lame,
    /// [kg/m³]
    pub density: f64,
}

/// Energy and stress of Hooke's law, for whichever strain.
#[inline(always)]
pub(super) fn hooke<L: Lane>(lame: Lame, e: &Sym<L>) -> (L, Sym<L>) {
    let two_mu = e[0].of(2.0 * lame.mu);
    let pressure = trace(e) * lame.lambda;
    let s = [
        two_mu.mul_add(e[0], pressure),
        two_mu.mul_add(e[1], pressure),
        two_mu.mul_add(e[2], pressure),
        two_mu * e[3],
        two_mu * e[4],
        two_mu * e[5],
    ];
    (contract(&s, e) * 0.5, s)
}

/// `λ δ_ij δ_kl + μ (δ_ik δ_jl + δ_il δ_jk)`.
#[inline(always)]
pub(super) fn hooke_tangent<L: Lane>(lame: Lame, like: L) -> [Sym<L>; 6] {
    let mut d = [[like.of(0.0); 6]; 6];
    for a in 0..3 {
        for b in 0..3 {
            d[a][b] = like.of(lame.lambda);
        }
        d[a][a] = like.of(lame.lambda + 2.0 * lame.mu);
        d[a + 3][a + 3] = like.of(lame.mu);
    }
    d
}

impl Material for Linear {
    const SMALL_STRAIN: bool = true;
    const LINEAR: bool = true;

    fn density(&self) -> f64 {
        self.density
    }
    fn lame(&self) -> Lame {
        self.lame
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, _state: &mut [L]) -> (L, Sym<L>) {
        hooke(self.lame, strain)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> [Sym<L>; 6] {
        hooke_tangent(self.lame, strain[0])
    }
    #[inline(always)]
    fn stiffening<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> L {
        strain[0].of(1.0)
    }
}
