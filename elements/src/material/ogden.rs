//! Ogden's law with shape and volume apart: `W = Σ_p μ_p/α_p (λ̄₁^α_p + λ̄₂^α_p + λ̄₃^α_p − 3) + ½κ(J − 1)²`,
//! `λ̄ = λ J^(−1/3)`.
//!
//! Principal Kirchhoff stresses `τᵢ = Σ_p μ_p(λ̄ᵢ^α_p − mean) + κ(J − 1)J`, and `S = Σᵢ τᵢ/λᵢ² Nᵢ⊗Nᵢ` in the
//! principal directions of the strain. At small strains μ = ½Σ μ_p α_p, λ = κ − ⅔μ. One term with α = 2 is
//! Mooney–Rivlin with C₁ = ½μ₁ and C₂ = 0; a second with α = −2 adds C₂ = −½μ₂.

use super::invariants::{add_pair, add_square, no_tangent};
use super::principal::principal;
use super::{Lame, Material};
use crate::math::elementary::{exp_m1, exp_m1_and_rest, ln_1p};
use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, Sym};

/// One term of Ogden's law.
#[derive(Clone, Copy, Debug)]
pub struct OgdenTerm {
    /// μ_p [Pa]; of the sign of α_p where the term is to stiffen.
    pub mu: f64,
    /// α_p, not zero.
    pub alpha: f64,
}

#[derive(Clone, Debug)]
pub struct Ogden {
    pub terms: Vec<OgdenTerm>,
    /// Bulk modulus κ at small strains [Pa].
    pub bulk: f64,
    /// [kg/m³]
    pub density: f64,
}

/// A strain in its principal directions.
struct Stretches<L> {
    direction: Matrix<L>,
    strain: [L; 3],
    /// `1/λᵢ²`.
    inv_square: [L; 3],
    /// `ln λ̄ᵢ`, of zero sum.
    shape: [L; 3],
    j: L,
    j_m1: L,
}

#[inline(always)]
fn stretches<L: Lane>(strain: &Sym<L>) -> Stretches<L> {
    let (e, direction) = principal(strain);
    let [a, b, c] = [e[0] * 2.0, e[1] * 2.0, e[2] * 2.0];
    let j2_m1 = (a * b).mul_add(c + 1.0, (a + b).mul_add(c, a + b + c));
    let j2 = j2_m1 + 1.0;
    let j = j2.sqrt();
    let (a1, b1, c1) = (a + 1.0, b + 1.0, c + 1.0);
    // one division for the three 1/λ² and 1/(J + 1)
    let abc = a1 * b1 * c1;
    let inverse = j.of(1.0) / (abc * (j + 1.0));
    let j_m1 = j2_m1 * (inverse * abc);
    let inv_abc = inverse * (j + 1.0);
    let inv_square = [inv_abc * (b1 * c1), inv_abc * (a1 * c1), inv_abc * (a1 * b1)];
    let ln = [ln_1p(a) * 0.5, ln_1p(b) * 0.5, ln_1p(c) * 0.5];
    let mean = (ln[0] + ln[1] + ln[2]) * (1.0 / 3.0);
    Stretches { direction, strain: e, inv_square, shape: [ln[0] - mean, ln[1] - mean, ln[2] - mean], j, j_m1 }
}

impl Material for Ogden {
    fn density(&self) -> f64 {
        self.density
    }
    fn lame(&self) -> Lame {
        let mu = 0.5 * self.terms.iter().map(|t| t.mu * t.alpha).sum::<f64>();
        Lame { lambda: self.bulk - 2.0 / 3.0 * mu, mu }
    }
    #[inline(always)]
    fn respond<L: Lane>(&self, strain: &Sym<L>, _state: &mut [L]) -> (L, Sym<L>) {
        let v = stretches(strain);
        let pressure = v.j_m1 * v.j * self.bulk;
        let mut energy = v.j_m1 * v.j_m1 * (0.5 * self.bulk);
        let mut tau = [pressure; 3];
        for term in &self.terms {
            let (x, rest_x) = exp_m1_and_rest(v.shape[0] * term.alpha);
            let (y, rest_y) = exp_m1_and_rest(v.shape[1] * term.alpha);
            let (z, rest_z) = exp_m1_and_rest(v.shape[2] * term.alpha);
            // the three ln λ̄ add up to zero: the powers minus three are the rests alone
            energy += (rest_x + rest_y + rest_z) * (term.mu / term.alpha);
            let mean = (x + y + z) * (1.0 / 3.0);
            let mu = x.of(term.mu);
            tau = [mu.mul_add(x - mean, tau[0]), mu.mul_add(y - mean, tau[1]), mu.mul_add(z - mean, tau[2])];
        }
        let n = &v.direction;
        let mut s = [energy.of(0.0); 6];
        for i in 0..3 {
            let w = tau[i] * v.inv_square[i];
            let [x, y, z] = n[i];
            let (wx, wy, wz) = (w * x, w * y, w * z);
            s = [
                wx.mul_add(x, s[0]),
                wy.mul_add(y, s[1]),
                wz.mul_add(z, s[2]),
                wx.mul_add(y, s[3]),
                wy.mul_add(z, s[4]),
                wx.mul_add(z, s[5]),
            ];
        }
        (energy, s)
    }

    /// In the principal directions, with `Tᵢⱼ = ∂τᵢ/∂ln λⱼ`:
    /// `Dᵢⱼ = (Tᵢⱼ − 2δᵢⱼτᵢ)/(λᵢ²λⱼ²)` between normal components, and for a shear of `i` and `j`
    /// `Gᵢⱼ = (Sᵢ − Sⱼ)/(λᵢ² − λⱼ²)`, which at equal stretches becomes `½(Dᵢᵢ − Dᵢⱼ)`.
    #[inline(always)]
    fn tangent<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> [Sym<L>; 6] {
        let v = stretches(strain);
        let zero = v.j.of(0.0);
        let pressure = v.j_m1 * v.j * self.bulk;
        let volume = v.j * (v.j + v.j - 1.0) * self.bulk;
        let mut tau = [pressure; 3];
        let mut t = [[volume; 3]; 3];
        for term in &self.terms {
            let power = [
                exp_m1(v.shape[0] * term.alpha),
                exp_m1(v.shape[1] * term.alpha),
                exp_m1(v.shape[2] * term.alpha),
            ];
            let mean = (power[0] + power[1] + power[2]) * (1.0 / 3.0);
            let third = term.mu * term.alpha / 3.0;
            for i in 0..3 {
                tau[i] += (power[i] - mean) * term.mu;
                for j in 0..3 {
                    let own = if i == j { (power[i] + 1.0) * 3.0 } else { zero };
                    t[i][j] += (own - power[i] - power[j] + mean - 1.0) * third;
                }
            }
        }
        let w = &v.inv_square;
        let mut d = t;
        for i in 0..3 {
            d[i][i] = d[i][i] - tau[i] * 2.0;
            for j in 0..3 {
                d[i][j] = d[i][j] * w[i] * w[j];
            }
        }

        let n = &v.direction;
        let mut out = no_tangent(zero);
        let projector =
            [twice_product(&n[0], &n[0]), twice_product(&n[1], &n[1]), twice_product(&n[2], &n[2])];
        for i in 0..3 {
            add_square(&mut out, d[i][i] * 0.25, &projector[i]);
            for j in i + 1..3 {
                let mut scaled = projector[j];
                for x in &mut scaled {
                    *x = *x * (d[i][j] * 0.25);
                }
                add_pair(&mut out, &projector[i], &scaled);

                let difference = (v.strain[i] - v.strain[j]) * 2.0;
                let limit = (d[i][i] + d[j][j] - d[i][j] * 2.0) * 0.25;
                let slope = (tau[i] * w[i] - tau[j] * w[j]) / difference;
                let mean_square = v.strain[i] + v.strain[j] + 1.0;
                let shear = difference.abs().if_less(mean_square * NEARLY_EQUAL, limit, slope);
                add_square(&mut out, shear, &twice_product(&n[i], &n[j]));
            }
        }
        out
    }
}

/// Below this difference of `λ²`, relative to their mean, the slope between two stretches is taken as the mean of those at its ends:
/// that is wrong by the square of the difference, the quotient by round-off over it.
const NEARLY_EQUAL: f64 = 1e-5;

/// `a⊗b + b⊗a`.
#[inline(always)]
fn twice_product<L: Lane>(a: &[L; 3], b: &[L; 3]) -> Sym<L> {
    [
        a[0] * b[0] * 2.0,
        a[1] * b[1] * 2.0,
        a[2] * b[2] * 2.0,
        a[0].mul_add(b[1], a[1] * b[0]),
        a[1].mul_add(b[2], a[2] * b[1]),
        a[0].mul_add(b[2], a[2] * b[0]),
    ]
}
