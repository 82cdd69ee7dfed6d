//! The two parts into which node-based integration takes a law apart.

use crate::material::{Lame, Material};
use crate::math::lane::Lane;
use crate::math::tensor::Sym;

/// A share of a law, with a density of its own.
#[derive(Clone)]
pub(crate) struct Share<M> {
    pub law: M,
    pub factor: f64,
    pub density: f64,
}

impl<M: Material> Material for Share<M> {
    const SMALL_STRAIN: bool = M::SMALL_STRAIN;
    const LINEAR: bool = M::LINEAR;
    const STATE: usize = M::STATE;
    const WIDE: bool = M::WIDE;

    fn density(&self) -> f64 {
        self.density
    }
    fn lame(&self) -> Lame {
        let lame = self.law.lame();
        Lame { lambda: self.factor * lame.lambda, mu: self.factor * lame.mu }
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, state: &mut [L]) -> (L, Sym<L>) {
        let (energy, mut s) = self.law.respond(strain, state);
        for x in &mut s {
            *x = *x * self.factor;
        }
        (energy * self.factor, s)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> [Sym<L>; 6] {
        let mut d = self.law.tangent(strain, state);
        for x in d.iter_mut().flatten() {
            *x = *x * self.factor;
        }
        d
    }
}

/// What nodes integrate: a law without a share of another.
#[derive(Clone)]
pub(crate) struct Rest<M> {
    pub law: M,
    pub soft: M,
    pub factor: f64,
}

impl<M: Material> Material for Rest<M> {
    const SMALL_STRAIN: bool = M::SMALL_STRAIN;
    const LINEAR: bool = M::LINEAR;
    const STATE: usize = M::STATE;
    const WIDE: bool = M::WIDE;

    fn density(&self) -> f64 {
        self.law.density()
    }
    fn lame(&self) -> Lame {
        let (law, soft) = (self.law.lame(), self.soft.lame());
        Lame { lambda: law.lambda - self.factor * soft.lambda, mu: law.mu - self.factor * soft.mu }
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, state: &mut [L]) -> (L, Sym<L>) {
        let (energy, mut s) = self.law.respond(strain, state);
        let (part, t) = self.soft.respond(strain, state);
        for (s, t) in s.iter_mut().zip(t) {
            *s = *s - t * self.factor;
        }
        (energy - part * self.factor, s)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> [Sym<L>; 6] {
        let mut d = self.law.tangent(strain, state);
        for (x, y) in d.iter_mut().flatten().zip(self.soft.tangent(strain, state).iter().flatten()) {
            *x = *x - *y * self.factor;
        }
        d
    }
}
