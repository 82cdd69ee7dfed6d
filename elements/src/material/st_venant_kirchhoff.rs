//! St. Venant–Kirchhoff: Hooke's law between Green strain and second Piola–Kirchhoff stress,
//! `W = ½λ(tr E)² + μ E:E`. Right for large rotations and moderate strains; it softens in strong compression.

use super::linear::{hooke, hooke_tangent};
use super::{Lame, Material};
use crate::math::lane::Lane;
use crate::math::tensor::Sym;

#[derive(Clone, Copy, Debug)]
pub struct StVenantKirchhoff {
    pub lame: Lame,
    /// [kg/m³]
    pub density: f64,
}

impl Material for StVenantKirchhoff {
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
