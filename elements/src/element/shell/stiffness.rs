//! How stiff a point of a shell is: its exact tangent, and a bound of its highest frequency.
//!
//! **Tangent.** With the rows of membrane and bending strain over the five slopes, `α' = B_m u`, `β' = B_b u`, and the
//! stiffness of the law across, `A = ∫C`, `B = ∫ζC`, `D = ∫ζ²C`,
//!
//! ```text
//! K = B_mᵀA B_m + B_mᵀB B_b + B_bᵀB B_m + B_bᵀD B_b + n:α'' + m:β''
//! α''   ½(δu_α·δ'u_β + δu_β·δ'u_α)
//! −β''  δu_αβ·δ'a₃ + δ'u_αβ·δa₃ + a_αβ·δδ'a₃             δa₃ = −(a₃·δu_γ) a^γ
//! c·δδ'a₃ = (a₃·δ'u_ε)(a^ε·δu_γ)(a^γ·c) + (a₃·δu_γ)(a^γ·δ'u_ε)(a^ε·c) − (a₃·δu_γ)(a₃·δ'u_ε) a^γ·a^ε (a₃·c)
//! ```
//!
//! the last two from `a^γ·a_ε = δ`, `a^γ·a₃ = 0`.
//!
//! **Frequency.** A point stands for a share `m_k` of the mass of every node it sees. Of all motions with given slopes the
//! lightest has the kinetic matrix `G⁻¹`, `G = Σ r_k r_kᵀ/m_k` (r_k: the five weights of node k), the same for x, y and z.
//! As `a_α ⟂ a₃`, membrane and bending rows do not mix in `P = B G Bᵀ`, and `ω² = λ_max(C P)`: three by three each where the law
//! does not mix them either. `tr((C P)^16)^{1/16}` bounds it, by 7 % of ω² at most with three eigenvalues. Stresses add their own
//! parts: `λ_max(n G)` exactly, those of moments by the inequality of Cauchy and Schwarz, see `moments_bound`.

use super::kernel::{Current, LAYERS, SLOPES};
use crate::material::{Material, PlaneStress};
use nalgebra::{Matrix2, Matrix3, Matrix6, SMatrix, SVector};

pub type Gram = SMatrix<f64, SLOPES, SLOPES>;
pub type Hessian = SMatrix<f64, 15, 15>;

/// Resultants and their derivatives, Voigt with doubled shear strain, per area.
pub struct Section {
    pub n: [f64; 3],
    pub m: [f64; 3],
    /// ∂(n, m)/∂(α, β)
    pub stiffness: Matrix6<f64>,
}

/// Components of the plane in a symmetric tensor.
const PLANE: [usize; 3] = [0, 1, 3];

pub fn section<M: Material>(
    law: &PlaneStress<M>,
    thickness: f64,
    membrane: &[f64; 3],
    bending: &[f64; 3],
    state: &[f64],
) -> Section {
    let mut numbers = [0.0; super::MAX_STATE];
    numbers[..state.len()].copy_from_slice(state);
    let (_, n, m) = super::kernel::resultants(law, thickness, membrane, bending, &mut numbers[..state.len()]);
    let mut stiffness = Matrix6::zeros();
    let mut add = |e: [f64; 3], state: &[f64], factors: [f64; 3]| {
        let d = law.tangent(&[e[0], e[1], 0.0, e[2], 0.0, 0.0], state);
        for (a, &i) in PLANE.iter().enumerate() {
            for (b, &j) in PLANE.iter().enumerate() {
                stiffness[(a, b)] += factors[0] * d[i][j];
                stiffness[(a, 3 + b)] += factors[1] * d[i][j];
                stiffness[(3 + a, b)] += factors[1] * d[i][j];
                stiffness[(3 + a, 3 + b)] += factors[2] * d[i][j];
            }
        }
    };
    if M::LINEAR && M::STATE == 0 {
        add([0.0; 3], &[], [thickness, 0.0, thickness.powi(3) / 12.0]);
    } else {
        for (layer, (height, weight)) in LAYERS.iter().enumerate() {
            let (z, dz) = (height * thickness, weight * thickness);
            let e = [0, 1, 2].map(|k| membrane[k] + z * bending[k]);
            add(e, &state[layer * M::STATE..(layer + 1) * M::STATE], [dz, z * dz, z * z * dz]);
        }
    }
    Section { n, m, stiffness }
}

/// Weights of bending strains over the five slopes, in the direction −a₃: 11, 22 and twice 12.
fn bending_rows(now: &Current<f64>) -> SMatrix<f64, 3, SLOPES> {
    let mut rows = SMatrix::zeros();
    for k in 0..3 {
        let factor = if k == 2 { 2.0 } else { 1.0 };
        rows[(k, 2 + k)] = factor;
        for g in 0..2 {
            rows[(k, g)] = -factor * dot(&now.dual[g], &now.base[2 + k]);
        }
    }
    rows
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `∂²w/∂u∂u` of the slopes, per area.
pub fn hessian(now: &Current<f64>, section: &Section, small_strain: bool) -> Hessian {
    let (a, a3, dual) = (&now.base, &now.normal, &now.dual);
    let mut b = SMatrix::<f64, 6, 15>::zeros();
    for i in 0..3 {
        b[(0, i)] = a[0][i];
        b[(1, 3 + i)] = a[1][i];
        b[(2, i)] = a[1][i];
        b[(2, 3 + i)] = a[0][i];
    }
    let bending = bending_rows(now);
    for k in 0..3 {
        for p in 0..SLOPES {
            for i in 0..3 {
                b[(3 + k, 3 * p + i)] = -bending[(k, p)] * a3[i];
            }
        }
    }
    let mut h = b.transpose() * section.stiffness * b;
    if small_strain {
        return h;
    }
    let (n, m) = (&section.n, [section.m[0], section.m[1], 2.0 * section.m[2]]);
    for i in 0..3 {
        h[(i, i)] += n[0];
        h[(3 + i, 3 + i)] += n[1];
        h[(i, 3 + i)] += n[2];
        h[(3 + i, i)] += n[2];
    }
    let mut c = [0.0; 3];
    for k in 0..3 {
        for i in 0..3 {
            c[i] += m[k] * a[2 + k][i];
        }
    }
    let along = [dot(&dual[0], &c), dot(&dual[1], &c)];
    let across = dot(a3, &c);
    for e in 0..2 {
        for i in 0..3 {
            for j in 0..3 {
                // δu_αβ·δ'a₃ and its mirror
                for k in 0..3 {
                    let x = m[k] * dual[e][i] * a3[j];
                    h[(3 * (2 + k) + i, 3 * e + j)] += x;
                    h[(3 * e + j, 3 * (2 + k) + i)] += x;
                }
                for g in 0..2 {
                    h[(3 * g + i, 3 * e + j)] -= along[g] * dual[e][i] * a3[j]
                        + along[e] * a3[i] * dual[g][j]
                        - dot(&dual[g], &dual[e]) * across * a3[i] * a3[j];
                }
            }
        }
    }
    h
}

/// A bound of ω² of a point that is `area` large.
pub fn frequency_squared(
    gram: &Gram,
    area: f64,
    now: &Current<f64>,
    section: &Section,
    small_strain: bool,
) -> f64 {
    let (a, c) = (&now.base, &section.stiffness);
    let (g11, g12, g22) = (gram[(0, 0)], gram[(0, 1)], gram[(1, 1)]);
    let (a11, a12, a22) = (dot(&a[0], &a[0]), dot(&a[0], &a[1]), dot(&a[1], &a[1]));
    let (p13, p23) = (g11 * a12 + g12 * a11, g12 * a22 + g22 * a12);
    let membrane = Matrix3::new(
        g11 * a11,
        g12 * a12,
        p13,
        g12 * a12,
        g22 * a22,
        p23,
        p13,
        p23,
        g11 * a22 + 2.0 * g12 * a12 + g22 * a11,
    );
    let rows = bending_rows(now);
    let bending = rows * gram * rows.transpose();
    let coupled = c.fixed_view::<3, 3>(0, 3).amax() != 0.0;
    let material = if coupled {
        let mut p = Matrix6::zeros();
        p.fixed_view_mut::<3, 3>(0, 0).copy_from(&membrane);
        p.fixed_view_mut::<3, 3>(3, 3).copy_from(&bending);
        largest(c * p)
    } else {
        let part = |at: usize, p: &Matrix3<f64>| largest(c.fixed_view::<3, 3>(at, at) * p);
        part(0, &membrane).max(part(3, &bending))
    };
    let stress =
        if small_strain { 0.0 } else { tension(gram, &section.n) + moments_bound(gram, now, &section.m) };
    area * (material + stress)
}

/// `tr(A^16)^{1/16}` of a product of two symmetric matrices, one of them not negative: its eigenvalues are real, and none is
/// larger.
fn largest<const N: usize>(a: SMatrix<f64, N, N>) -> f64 {
    let size = a.norm();
    // not positive, or no number: the caller sees it
    if !(size > 0.0 && size.is_finite()) {
        return size;
    }
    let mut power = a / size;
    for _ in 0..4 {
        power *= power;
    }
    // the trace of an even power is a sum of squares; round-off may say otherwise where all of them vanish
    size * power.trace().max(f64::MIN_POSITIVE).sqrt().sqrt().sqrt().sqrt()
}

/// Largest of `n^αβ u_α·u_β`: an eigenvalue of n G, two by two, if it is positive.
fn tension(gram: &Gram, n: &[f64; 3]) -> f64 {
    let product = Matrix2::new(n[0], n[2], n[2], n[1]) * gram.fixed_view::<2, 2>(0, 0);
    let half = 0.5 * product.trace();
    (half + (half * half - product.determinant()).max(0.0).sqrt()).max(0.0)
}

/// What moments add at most. For a motion with kinetic energy one half, `|Σ r_p d·u_p|² ≤ |d|² rᵀG r` for any direction d and
/// weights r; the three terms of `m:β''` are products of two such sums.
fn moments_bound(gram: &Gram, now: &Current<f64>, m: &[f64; 3]) -> f64 {
    let mu = SVector::<f64, SLOPES>::from([0.0, 0.0, m[0], m[1], 2.0 * m[2]]);
    let curved = (mu.transpose() * gram * mu)[0].max(0.0).sqrt();
    let mut c = [0.0; 3];
    for k in 0..3 {
        for i in 0..3 {
            c[i] += mu[2 + k] * now.base[2 + k][i];
        }
    }
    let root = [gram[(0, 0)].sqrt(), gram[(1, 1)].sqrt()];
    let size = |e: usize| dot(&now.dual[e], &now.dual[e]).sqrt();
    let turned = size(0) * root[0] + size(1) * root[1];
    let along: f64 = (0..2).map(|g| dot(&now.dual[g], &c).abs() * root[g]).sum();
    2.0 * curved * turned + 2.0 * along * turned + dot(&now.normal, &c).abs() * turned * turned
}
