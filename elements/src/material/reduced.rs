//! Laws of thin bodies, made of any law of space: the stress across vanishes, and the strain across is found.
//!
//! | wrapper           | given          | found                       |
//! |-------------------|----------------|-----------------------------|
//! | [`PlaneStress`]   | E_xx E_yy E_xy | E_zz with S_zz = 0          |
//! | [`Uniaxial`]      | E_xx           | E_yy = E_zz, S_yy = S_zz = 0|
//!
//! What comes in at the place of a found strain is ignored. The stress found to vanish does no work, so energy
//! and stress are those of the inner law at the full strain, and the tangent is its static condensation.
//!
//! A linear law is solved directly. Otherwise with Newton's iteration for the Kirchhoff-like stress
//! `τ = S C` (`C = 1 + 2E` of the unknown direction) over `y = ln C`: near-convex for rubber, and `C` stays
//! positive. Each lane stops by itself, so a number never depends on its neighbours in the register.

use super::{Lame, Material};
use crate::math::elementary::{exp_m1, ln_1p};
use crate::math::lane::{Lane, MAX_WIDTH};
use crate::math::tensor::{Sym, contract, sym_cofactor, trace};

/// Most numbers of state an inner law may keep.
const MAX_STATE: usize = 16;
/// Enough for any state that has an answer; a state without one ends here with its stress not zero.
const MAX_STEPS: usize = 40;
/// A step of this times the root of the strains leaves an error, its square, below their round-off.
const SMALL_STEP: f64 = 1e-9;

/// A thin plate in the x-y plane, free across it.
#[derive(Clone, Copy, Debug)]
pub struct PlaneStress<M>(pub M);

/// A thin bar along x, free across it. Shear strains are ignored, shear stresses are zero.
#[derive(Clone, Copy, Debug)]
pub struct Uniaxial<M>(pub M);

/// Stress across and its derivative to the strain across, from the old state.
#[inline(always)]
fn across<M: Material, L: Lane, const BAR: bool>(law: &M, e: &Sym<L>, state: &[L]) -> (L, L) {
    const { assert!(M::STATE <= MAX_STATE) }
    let mut scratch = [e[0]; MAX_STATE];
    for (a, b) in scratch[..M::STATE].iter_mut().zip(state) {
        *a = *b;
    }
    let (_, s) = law.respond(e, &mut scratch[..M::STATE]);
    let d = law.tangent(e, state);
    if BAR { (s[1], d[1][1] + d[1][2]) } else { (s[2], d[2][2]) }
}

/// `e` with the strain across.
#[inline(always)]
fn with_across<L: Lane, const BAR: bool>(e: &Sym<L>, x: L) -> Sym<L> {
    let zero = x.of(0.0);
    if BAR { [e[0], x, x, zero, zero, zero] } else { [e[0], e[1], x, e[3], e[4], e[5]] }
}

/// The full strain at which nothing is felt across.
#[inline(always)]
fn solve<M: Material, L: Lane, const BAR: bool>(law: &M, e: &Sym<L>, state: &[L]) -> Sym<L> {
    let Lame { lambda, mu } = law.lame();
    // how much of the logarithmic strain given goes into that across, by Hooke
    let ratio = if BAR { 0.5 * lambda / (lambda + mu) } else { lambda / (lambda + 2.0 * mu) };
    if M::LINEAR {
        let given = if BAR { e[0] } else { e[0] + e[1] };
        return with_across::<L, BAR>(e, given * -ratio);
    }

    let stretch = if BAR {
        e[0] * 2.0
    } else {
        // det − 1 of C in the plane
        (e[0] + e[1]).mul_add(e[0].of(2.0), e[0].mul_add(e[1], -(e[3] * e[3])) * 4.0)
    };
    let mut x = exp_m1(ln_1p(stretch) * -ratio) * 0.5;
    let size = if BAR { e[0].abs() } else { e[0].abs() + e[1].abs() + e[3].abs() };
    let small = (size + x.abs()).sqrt() * SMALL_STEP + f64::MIN_POSITIVE;
    let (zero, one) = (x.of(0.0), x.of(1.0));
    let floor = x.of(1e-6 * (lambda + 2.0 * mu));
    let mut active = one;
    for _ in 0..MAX_STEPS {
        let (s, d) = across::<M, L, BAR>(law, &with_across::<L, BAR>(e, x), state);
        let c = x * 2.0 + 1.0;
        let tau = s * c;
        // downhill in energy whatever its curvature, and never far at once
        let slope = (d.mul_add(c, s * 2.0) * c * 0.5).abs().max(floor);
        let dy = (-tau / slope).max(-one).min(one);
        // ½C(e^dy − 1), by the quotient that agrees with it to second order and keeps C positive
        let dx = c * dy / (-dy + 2.0);
        x = zero.if_less(active, x + dx, x);
        active = dx.abs().if_less(small, zero, active);
        if none(active) {
            break;
        }
    }
    with_across::<L, BAR>(e, x)
}

/// All lanes zero.
#[inline(always)]
fn none<L: Lane>(active: L) -> bool {
    let mut all = [0.0; MAX_WIDTH];
    active.store(&mut all);
    all == [0.0; MAX_WIDTH]
}

/// The largest eigenvalue from above, a few per cent too large at most.
///
/// That of the deviator is the largest root of `x³ − J₂x − J₃`. From `2√(J₂/3)`, which is never below it, Newton's
/// steps come down to it and never pass it.
#[inline(always)]
fn largest_eigenvalue<L: Lane>(s: &Sym<L>) -> L {
    let mean = trace(s) * (1.0 / 3.0);
    let dev = [s[0] - mean, s[1] - mean, s[2] - mean, s[3], s[4], s[5]];
    let cofactor = sym_cofactor(&dev);
    let j2 = contract(&dev, &dev) * 0.5;
    let j3 = dev[5].mul_add(cofactor[5], dev[3].mul_add(cofactor[3], dev[0] * cofactor[0]));
    let mut x = (j2 * (4.0 / 3.0)).sqrt();
    for _ in 0..3 {
        let square = x * x;
        let slope = square.mul_add(x.of(3.0), -j2).max(x.of(f64::MIN_POSITIVE));
        x = x - (square - j2).mul_add(x, -j3) / slope;
    }
    mean + x
}

impl<M: Material> Material for PlaneStress<M> {
    const SMALL_STRAIN: bool = M::SMALL_STRAIN;
    const LINEAR: bool = M::LINEAR;
    const STATE: usize = M::STATE;
    // Thin bodies of rubber are small problems, and their kernels, an iteration around a law, the largest of all.
    const WIDE: bool = M::LINEAR;

    fn density(&self) -> f64 {
        self.0.density()
    }
    /// Those of the inner law. Its waves are faster than those of a plate, so bounds from it are safe.
    fn lame(&self) -> Lame {
        self.0.lame()
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, state: &mut [L]) -> (L, Sym<L>) {
        let full = self.full_strain(strain, state);
        let (energy, mut s) = self.0.respond(&full, state);
        s[2] = energy.of(0.0);
        (energy, s)
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> [Sym<L>; 6] {
        let full = self.full_strain(strain, state);
        let mut d = self.0.tangent(&full, state);
        let z = d[2];
        let inverse = z[2].of(1.0) / z[2];
        for a in 0..6 {
            let f = z[a] * inverse;
            for b in 0..6 {
                d[a][b] = f.neg_mul_add(z[b], d[a][b]);
            }
        }
        let zero = inverse.of(0.0);
        for row in &mut d {
            row[2] = zero;
        }
        d[2] = [zero; 6];
        d
    }
    #[inline(always)]
    fn full_strain<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> Sym<L> {
        solve::<M, L, false>(&self.0, strain, state)
    }
    /// Between the three components in the plane, against the plate at rest: `2μ` in shear and
    /// `2μ(3λ + 2μ)/(λ + 2μ)` in the change of area.
    #[inline(always)]
    fn stiffening<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> L {
        if M::LINEAR {
            return strain[0].of(1.0);
        }
        let Lame { lambda, mu } = self.0.lame();
        let deviatoric = 1.0 / (2.0 * mu).sqrt();
        let area = deviatoric * ((lambda + 2.0 * mu) / (3.0 * lambda + 2.0 * mu)).sqrt();
        let d = self.tangent(strain, state);
        let r2 = std::f64::consts::SQRT_2;
        // Mandel components of the plane, as a symmetric 3×3
        let (mix, p) = ((area - deviatoric) * 0.5, deviatoric);
        let (xx, yy, xy) = (d[0][0], d[1][1], d[0][1]);
        let (xs, ys, ss) = (d[0][3] * r2, d[1][3] * r2, d[3][3] * 2.0);
        // M = R d R with R = p 1 + mix 11ᵀ on the two normal components, p on the shear
        let (sx, sy) = ((xx + xy) * mix, (xy + yy) * mix);
        let all = (sx + sy) * mix;
        let m = [
            xx * (p * p) + sx * (2.0 * p) + all,
            yy * (p * p) + sy * (2.0 * p) + all,
            ss * (p * p),
            xy * (p * p) + (sx + sy) * p + all,
            (ys * p + (xs + ys) * mix) * p,
            (xs * p + (xs + ys) * mix) * p,
        ];
        largest_eigenvalue(&m).max(all.of(0.0))
    }
}

impl<M: Material> Material for Uniaxial<M> {
    const SMALL_STRAIN: bool = M::SMALL_STRAIN;
    const LINEAR: bool = M::LINEAR;
    const STATE: usize = M::STATE;
    // Thin bodies of rubber are small problems, and their kernels, an iteration around a law, the largest of all.
    const WIDE: bool = M::LINEAR;

    fn density(&self) -> f64 {
        self.0.density()
    }
    /// Those of the inner law. Its waves are faster than those of a bar, so bounds from it are safe.
    fn lame(&self) -> Lame {
        self.0.lame()
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, state: &mut [L]) -> (L, Sym<L>) {
        let full = self.full_strain(strain, state);
        let (energy, s) = self.0.respond(&full, state);
        let zero = energy.of(0.0);
        (energy, [s[0], zero, zero, zero, zero, zero])
    }
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> [Sym<L>; 6] {
        let full = self.full_strain(strain, state);
        let d = self.0.tangent(&full, state);
        let mut out = [[strain[0].of(0.0); 6]; 6];
        out[0][0] = d[0][0] - d[0][1] * d[0][1] * 2.0 / (d[1][1] + d[1][2]);
        out
    }
    #[inline(always)]
    fn full_strain<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> Sym<L> {
        solve::<M, L, true>(&self.0, strain, state)
    }
    /// Exact where positive: there is one component, and Young's modulus at rest.
    #[inline(always)]
    fn stiffening<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> L {
        if M::LINEAR {
            return strain[0].of(1.0);
        }
        let Lame { lambda, mu } = self.0.lame();
        let young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
        (self.tangent(strain, state)[0][0] * (1.0 / young)).max(strain[0].of(0.0))
    }
}
