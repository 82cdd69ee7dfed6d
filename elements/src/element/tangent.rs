//! Element tangents: `K = ∂f/∂x`.
//!
//! ```text
//! A = ∂P/∂F,  A_iJkL = F_iM D_MJNL F_kN + δ_ik S_JL        K_ai,bk = Σ_q w det J  Nₐ,J A_iJkL N_b,L
//! ```
//!
//! Assembly is written on lanes because the stable steps of a whole block need one tangent per element.

use super::Element;
use super::between::{pushed, small_moduli};
use super::solid::MAX_STATE;
use crate::material::Material;
use crate::math::lane::Lane;
use crate::math::tensor::{
    Matrix, cofactor, dot, green_strain, mul_transposed, plus_identity, scale, small_strain,
};
use crate::mesh::MOST_NODES;

/// Largest number of unknowns of an element.
pub(super) const SIZE: usize = 3 * MOST_NODES;

/// The tangent of one element, section aside; the first 3N rows and columns are in use.
pub(super) fn of_element<E: Element, M: Material>(
    law: &M,
    hourglass: f64,
    reference: &E::Nodal<f64>,
    displacement: &E::Nodal<f64>,
) -> [[f64; SIZE]; SIZE] {
    let shape = E::shape(reference);
    let gradient = E::gradient(&shape, displacement);
    let mut k = [[0.0; SIZE]; SIZE];
    for q in 0..E::POINTS {
        let j = E::jacobian(&shape, q);
        let c = cofactor(&j);
        let h = scale(&mul_transposed(&E::at(&gradient, q), &c), 1.0 / dot(j[0], c[0]));
        add_point::<E, f64>(&shape, q, &moduli(law, &h), &mut k);
    }
    if E::HOURGLASS {
        add_hourglass::<E, f64>(reference, &shape, hourglass, &mut k);
    }
    k
}

/// Adds what point `q` with moduli `A[iJ][kL]` contributes.
#[inline(always)]
pub(super) fn add_point<E: Element, L: Lane>(
    shape: &E::Shape<L>,
    q: usize,
    moduli: &[[L; 9]; 9],
    k: &mut [[L; SIZE]; SIZE],
) {
    let like = k[0][0];
    let (slopes, volume) = slopes::<E, L>(shape, q, like);
    for b in 0..E::KIND.nodes() {
        // t[iJ][k] = A_iJkL N_b,L
        let slope = slopes.as_ref()[b];
        let slope = [slope[0] * volume, slope[1] * volume, slope[2] * volume];
        let mut t = [[like; 3]; 9];
        for (t, a) in t.iter_mut().zip(moduli) {
            for l in 0..3 {
                t[l] = dot([a[3 * l], a[3 * l + 1], a[3 * l + 2]], slope);
            }
        }
        for (a, slope) in slopes.as_ref().iter().enumerate() {
            for i in 0..3 {
                for l in 0..3 {
                    k[3 * a + i][3 * b + l] += dot([t[3 * i][l], t[3 * i + 1][l], t[3 * i + 2][l]], *slope);
                }
            }
        }
    }
}

/// `∇Nₐ` and the volume of point `q`, section aside.
#[inline(always)]
fn slopes<E: Element, L: Lane>(shape: &E::Shape<L>, q: usize, like: L) -> (E::Nodal<L>, L) {
    let j = E::jacobian(shape, q);
    let c = cofactor(&j);
    let det_j = dot(j[0], c[0]);
    // ∇Nₐ = J⁻ᵀ ∂Nₐ/∂ξ
    let mut unit = E::zero(like);
    E::add(&mut unit, q, &scale(&c, like.of(1.0) / det_j));
    (E::spread(shape, &unit), det_j * E::weight(q))
}

/// Adds `∇Nₐ·∇N_b` times the volume of point `q`: the stiffness of a scalar field.
#[inline(always)]
pub(super) fn add_laplacian<E: Element, L: Lane>(shape: &E::Shape<L>, q: usize, k: &mut [[L; SIZE]; SIZE]) {
    let (slopes, volume) = slopes::<E, L>(shape, q, k[0][0]);
    for (row, a) in k.iter_mut().zip(slopes.as_ref()) {
        let a = [a[0] * volume, a[1] * volume, a[2] * volume];
        for (x, b) in row.iter_mut().zip(slopes.as_ref()) {
            *x += dot(a, *b);
        }
    }
}

/// Adds the hourglass stiffness of one component of the displacement.
#[inline(always)]
pub(super) fn add_scalar_hourglass<E: Element, L: Lane>(
    reference: &E::Nodal<L>,
    shape: &E::Shape<L>,
    stiffness: f64,
    k: &mut [[L; SIZE]; SIZE],
) {
    let like = k[0][0];
    for b in 0..E::KIND.nodes() {
        let mut unit = E::nodal(like.of(0.0));
        unit.as_mut()[b][0] = like.of(1.0);
        let force = E::hourglass(reference, shape, &unit, stiffness).1;
        for (a, f) in force.as_ref().iter().enumerate() {
            k[a][b] += f[0];
        }
    }
}

/// Adds the tangent of the hourglass force, which is linear in u and the same in each direction: column by column.
#[inline(always)]
pub(super) fn add_hourglass<E: Element, L: Lane>(
    reference: &E::Nodal<L>,
    shape: &E::Shape<L>,
    stiffness: f64,
    k: &mut [[L; SIZE]; SIZE],
) {
    let like = k[0][0];
    for b in 0..E::KIND.nodes() {
        let mut unit = E::nodal(like.of(0.0));
        unit.as_mut()[b] = [like.of(1.0); 3];
        let force = E::hourglass(reference, shape, &unit, stiffness).1;
        for (a, f) in force.as_ref().iter().enumerate() {
            for i in 0..3 {
                k[3 * a + i][3 * b + i] += f[i];
            }
        }
    }
}

/// `A[iJ][kL]` at one point.
pub(super) fn moduli<M: Material>(law: &M, h: &Matrix<f64>) -> [[f64; 9]; 9] {
    let strain = if M::SMALL_STRAIN { small_strain(h) } else { green_strain(h) };
    let mut state = [0.0; MAX_STATE];
    let d = law.tangent(&strain, &state[..M::STATE]);
    if M::SMALL_STRAIN {
        return small_moduli(&d);
    }
    let s = law.respond(&strain, &mut state[..M::STATE]).1;
    let f = plus_identity(h);
    pushed(&d, &f, &f, &s, 1.0)
}
