//! Laws: how much energy a strain stores, which stress answers, how stiff it is.
//!
//! A law is written once over lanes, from the Green strain `E` (so that nothing is lost at small strains):
//! energy per reference volume `W(E)` [J/m³], second Piola–Kirchhoff stress `S = ∂W/∂E` [Pa] and tangent
//! `D = ∂S/∂E`. A small-strain law takes `ε = ½(H + Hᵀ)` instead and gives the stress of the undeformed shape.
//!
//! Strain and stress are [`Sym`] in the order xx yy zz xy yz xz, true components.
//!
//! | law                    | file                    | paper form |
//! |------------------------|-------------------------|------------|
//! | `linear`               | `linear.rs`             | small strain, Hooke |
//! | `st-venant-kirchhoff`  | `st_venant_kirchhoff.rs`| `½λ(tr E)² + μ E:E` |
//! | `neo-hookean`          | `neo_hookean.rs`        | `½μ(I₁ − 3) − μ ln J + ½λ ln²J` |
//! | `mooney-rivlin`        | `mooney_rivlin.rs`      | `C₁(Ī₁ − 3) + C₂(Ī₂ − 3) + ½κ(J − 1)²` |
//! | `ogden`                | `ogden.rs`              | `Σ μ_p/α_p (Σ λ̄ᵢ^α_p − 3) + ½κ(J − 1)²` |
//! | `blatz-ko`             | `blatz_ko.rs`           | `½G(tr C⁻¹ + 2J − 5)` |
//!
//! `reduced.rs` makes of any of them the law of a thin plate ([`PlaneStress`]) or of a bar ([`Uniaxial`]).

pub mod blatz_ko;
mod invariants;
mod law;
pub mod linear;
pub mod mooney_rivlin;
pub mod neo_hookean;
pub mod ogden;
mod principal;
pub mod reduced;
pub mod st_venant_kirchhoff;
#[cfg(test)]
mod tests;

use crate::math::lane::Lane;
use crate::math::tensor::{COUNT, Sym};

pub use blatz_ko::BlatzKo;
pub use law::{Law, WithLaw, softened};
pub use linear::Linear;
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
pub use ogden::{Ogden, OgdenTerm};
pub use reduced::{PlaneStress, Uniaxial};
pub use st_venant_kirchhoff::StVenantKirchhoff;

/// Lamé's constants [Pa].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    pub lambda: f64,
    pub mu: f64,
}

impl Lame {
    /// From Young's modulus [Pa] and Poisson's ratio.
    pub fn from_young(young: f64, poisson: f64) -> Self {
        Lame {
            lambda: young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
            mu: young / (2.0 * (1.0 + poisson)),
        }
    }
}

/// A constitutive law.
pub trait Material: Send + Sync + 'static {
    /// Takes the small strain, not the Green strain; the stress acts on the undeformed shape.
    const SMALL_STRAIN: bool = false;
    /// Stress is linear in the strain the law takes, at any size of it.
    const LINEAR: bool = false;
    /// Numbers the law keeps per integration point.
    const STATE: usize = 0;
    /// Worth a kernel for every instruction set: each takes seconds to compile.
    const WIDE: bool = true;

    /// Mass per reference volume [kg/m³].
    fn density(&self) -> f64;
    /// Stiffness at zero strain.
    fn lame(&self) -> Lame;

    /// Energy density and stress; `state` (`STATE` numbers) comes in old and leaves new.
    fn respond<L: Lane>(&self, strain: &Sym<L>, state: &mut [L]) -> (L, Sym<L>);

    /// `D[a][b] = ∂Sₐ/∂E_b` as tensor components: `dSₐ = Σ_b COUNT[b] D[a][b] dE_b`.
    fn tangent<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> [Sym<L>; 6];

    /// The strain with the components the law finds for itself: those of a plate or a bar across its stress.
    /// The stretch of the shape goes with it (`det F`, and so Cauchy stress).
    #[inline(always)]
    fn full_strain<L: Lane>(&self, strain: &Sym<L>, _state: &[L]) -> Sym<L> {
        *strain
    }

    /// An upper bound of the largest eigenvalue of `D₀^-½ D D₀^-½`: how much stiffer than at zero strain.
    ///
    /// With `M` the matrix of that form and `m` any number, `m + ‖(M − m)⁴‖^¼` (Frobenius) bounds it. The mean of
    /// the eigenvalues for `m` is exact at zero strain and close where few directions have stiffened or many have
    /// become unstable, `m = 0` where few have softened; the smaller of both is less than a quarter above the
    /// largest magnitude.
    #[inline(always)]
    fn stiffening<L: Lane>(&self, strain: &Sym<L>, state: &[L]) -> L {
        let m = whiten(&self.tangent(strain, state), self.lame());
        let mean = (m[0][0] + m[1][1] + m[2][2] + m[3][3] + m[4][4] + m[5][5]) * (1.0 / 6.0);
        let mut n = m;
        for (a, row) in n.iter_mut().enumerate() {
            row[a] = row[a] - mean;
        }
        let about_mean = frobenius(&square(&square(&n))).sqrt().sqrt() + mean;
        about_mean.min(frobenius(&square(&square(&m))).sqrt().sqrt())
    }
}

/// `D₀^-½ D D₀^-½` in an orthonormal basis of strains: Mandel components, with the volumetric direction of the
/// isotropic `D₀` divided by √(3λ+2μ) and the others by √(2μ).
#[inline(always)]
fn whiten<L: Lane>(d: &[Sym<L>; 6], lame: Lame) -> [Sym<L>; 6] {
    let deviatoric = 1.0 / (2.0 * lame.mu).sqrt();
    let volumetric = 1.0 / (3.0 * lame.lambda + 2.0 * lame.mu).sqrt();
    // D₀^-½ = deviatoric·1 + (volumetric − deviatoric)/3 · 11ᵀ on the first three components
    let mix = (volumetric - deviatoric) / 3.0;
    let mut m = *d;
    for (a, row) in m.iter_mut().enumerate() {
        for (b, x) in row.iter_mut().enumerate() {
            *x = *x * (COUNT[a] * COUNT[b]).sqrt();
        }
    }
    for row in &mut m {
        let sum = (row[0] + row[1] + row[2]) * mix;
        for (b, x) in row.iter_mut().enumerate() {
            *x = *x * deviatoric;
            if b < 3 {
                *x += sum;
            }
        }
    }
    let mut sum = m[0];
    for b in 0..6 {
        sum[b] = (m[0][b] + m[1][b] + m[2][b]) * mix;
    }
    for (a, row) in m.iter_mut().enumerate() {
        for (b, x) in row.iter_mut().enumerate() {
            *x = *x * deviatoric;
            if a < 3 {
                *x += sum[b];
            }
        }
    }
    m
}

#[inline(always)]
fn square<L: Lane>(m: &[Sym<L>; 6]) -> [Sym<L>; 6] {
    let mut out = *m;
    for a in 0..6 {
        for b in a..6 {
            let mut sum = m[a][0] * m[b][0];
            for (&x, &y) in m[a][1..].iter().zip(&m[b][1..]) {
                sum = x.mul_add(y, sum);
            }
            out[a][b] = sum;
            out[b][a] = sum;
        }
    }
    out
}

#[inline(always)]
fn frobenius<L: Lane>(m: &[Sym<L>; 6]) -> L {
    let mut sum = m[0][0] * 0.0;
    for row in m {
        for &x in row {
            sum = x.mul_add(x, sum);
        }
    }
    sum.sqrt()
}

/// Cauchy stress `σ = F S Fᵀ / det F` [Pa].
pub fn cauchy_stress(f: &crate::math::Mat3, s: &Sym<f64>) -> Sym<f64> {
    let full = crate::math::tensor::full(s);
    let s = crate::math::Mat3::from_fn(|i, j| full[i][j]);
    let sigma = f * s * f.transpose() / f.determinant();
    crate::math::tensor::INDEX.map(|(i, j)| sigma[(i, j)])
}

/// Von Mises stress of a Cauchy stress [Pa].
pub fn von_mises(sigma: &Sym<f64>) -> f64 {
    let [xx, yy, zz, xy, yz, xz] = *sigma;
    let normal = (xx - yy).powi(2) + (yy - zz).powi(2) + (zz - xx).powi(2);
    (0.5 * normal + 3.0 * (xy * xy + yz * yz + xz * xz)).sqrt()
}
