//! The highest frequency of a node potential: one point, whatever the number of nodes around it.
//!
//! A motion u of these nodes has the gradient `H = Σ_b u_b ⊗ b_b`. Of all motions with this gradient the lightest has
//! `Σ m_b |u_b|² = tr(H G⁻¹ Hᵀ)` with `G = Σ_b b bᵀ/m_b`, so the largest of `uᵀKu / uᵀMu` is found among gradients:
//!
//! ```text
//! at rest      ω² = V λ_max(D^½ S D^½)        S σ = (σ G + G σ)/2, a problem of size six
//! deformed     ω² = V λ_max(R A R)            A_iJkL = F_iI D_IJKL F_kK + δ_ik S_JL,  R = 1 ⊗ G^½, of size nine
//! ```

use crate::material::Lame;
use crate::math::tensor::{AT, INDEX, Matrix};
use crate::math::{Mat3, Vec3};
use nalgebra::SMatrix;

/// G
fn spread(stencil: &[(u32, Vec3, f64)]) -> Mat3 {
    stencil.iter().map(|(_, b, m)| b * b.transpose() / *m).sum()
}

/// ω² of a node potential at rest.
pub(crate) fn frequency_squared(volume: f64, stencil: &[(u32, Vec3, f64)], lame: Lame) -> f64 {
    let g = spread(stencil);
    let root_two_mu = (2.0 * lame.mu).sqrt();
    // D^½ stretches the volumetric part by √(3λ + 2μ), the rest by √(2μ)
    let more = (3.0 * lame.lambda + 2.0 * lame.mu).max(0.0).sqrt() - root_two_mu;
    let root = |e: &Mat3| root_two_mu * e + Mat3::from_diagonal_element(more * e.trace() / 3.0);
    // an orthonormal basis of symmetric tensors
    let basis = INDEX.map(|(i, j)| {
        let mut e = Mat3::zeros();
        e[(i, j)] = if i == j { 1.0 } else { std::f64::consts::FRAC_1_SQRT_2 };
        e[(j, i)] = e[(i, j)];
        e
    });
    let images = basis.map(|e| {
        let s = root(&e) * g;
        root(&(0.5 * (s + s.transpose())))
    });
    let a = SMatrix::<f64, 6, 6>::from_fn(|i, j| basis[i].dot(&images[j]));
    let a = 0.5 * (a + a.transpose());
    volume * a.symmetric_eigenvalues().max()
}

/// ω² of a node potential as it is now. `stress` is `V S` and `tangent(a, b)` the component `V D_ab` of the tangent; NaN
/// where the state is no number.
pub(crate) fn deformed_frequency_squared(
    stencil: &[(u32, Vec3, f64)],
    f: &Matrix<f64>,
    stress: &Matrix<f64>,
    tangent: impl Fn(usize, usize) -> f64,
) -> f64 {
    let eigen = spread(stencil).symmetric_eigen();
    let root = eigen.eigenvectors
        * Mat3::from_diagonal(&eigen.eigenvalues.map(|x| x.max(0.0).sqrt()))
        * eigen.eigenvectors.transpose();
    // F_iI D_IJKL F_kK, pair by pair
    let mut half = [[[[0.0; 3]; 3]; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            for k in 0..3 {
                for l in 0..3 {
                    half[i][j][k][l] = (0..3).map(|p| f[i][p] * tangent(AT[p][j], AT[k][l])).sum();
                }
            }
        }
    }
    let a = SMatrix::<f64, 9, 9>::from_fn(|row, column| {
        let ((i, j), (k, l)) = ((row / 3, row % 3), (column / 3, column % 3));
        let material: f64 = (0..3).map(|q| f[k][q] * half[i][j][q][l]).sum();
        material + if i == k { stress[j][l] } else { 0.0 }
    });
    let mut r = SMatrix::<f64, 9, 9>::zeros();
    for i in 0..3 {
        r.fixed_view_mut::<3, 3>(3 * i, 3 * i).copy_from(&root);
    }
    let scaled = r * a * r;
    if !scaled.iter().all(|x| x.is_finite()) {
        return f64::NAN;
    }
    (0.5 * (scaled + scaled.transpose())).symmetric_eigenvalues().max()
}
