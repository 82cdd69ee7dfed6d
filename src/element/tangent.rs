//! Element tangents: `K = ∂f/∂x`.
//!
//! ```text
//! A = ∂P/∂F,  A_iJkL = F_iM D_MJNL F_kN + δ_ik S_JL        K_ai,bk = Σ_q w det J  Nₐ,J A_iJkL N_b,L
//! ```
//!
//! Written on lanes because the stable steps of a whole block need one per element.

use super::Element;
use super::solid::Solid;
use crate::material::Material;
use crate::math::lane::Lane;
use crate::math::tensor::{AT, Matrix, cofactor, dot, full, green_strain, mul_transposed, small_strain};

/// Hands every entry (row, column, value) of the tangent of an element (or a batch) to `put`, section aside.
#[inline(always)]
pub(super) fn of_element<E: Element, M: Material, L: Lane>(
    block: &Solid<E, M>,
    reference: &E::Nodal<L>,
    displacement: &E::Nodal<L>,
    put: &mut impl FnMut(usize, usize, L),
) {
    let like = reference.as_ref()[0][0];
    let nodes = E::KIND.nodes();
    let shape = E::shape(reference);
    let gradient = E::gradient(&shape, displacement);
    let mut k = [[[[like.of(0.0); 3]; 3]; 8]; 8];
    for q in 0..E::POINTS {
        let j = E::jacobian(&shape, q);
        let c = cofactor(&j);
        let det_j = dot(j[0], c[0]);
        let inverse = like.of(1.0) / det_j;
        let inverse_transposed = c.map(|row| row.map(|x| x * inverse));
        let h = mul_transposed(&E::at(&gradient, q), &inverse_transposed);
        // ∇Nₐ = J⁻ᵀ ∂Nₐ/∂ξ
        let mut unit = E::zero(like);
        E::add(&mut unit, q, &inverse_transposed);
        let slopes = E::spread(&shape, &unit);
        let volume = det_j * E::weight(q);
        let a = moduli(block.law(), &h).map(|row| row.map(|x| x * volume));
        for b in 0..nodes {
            let nb = slopes.as_ref()[b];
            // t[iJ][k] = A_iJkL N_b,L
            let t: [[L; 3]; 9] = std::array::from_fn(|ij| {
                [0, 1, 2].map(|k| dot([a[ij][3 * k], a[ij][3 * k + 1], a[ij][3 * k + 2]], nb))
            });
            for (na, row) in slopes.as_ref().iter().zip(&mut k) {
                for i in 0..3 {
                    for l in 0..3 {
                        row[b][i][l] += dot([t[3 * i][l], t[3 * i + 1][l], t[3 * i + 2][l]], *na);
                    }
                }
            }
        }
    }
    if E::HOURGLASS {
        // The hourglass force is linear in u: its tangent comes column by column.
        for b in 0..nodes {
            let mut unit = E::nodal(like.of(0.0));
            unit.as_mut()[b] = [like.of(1.0); 3];
            let force = E::hourglass(reference, &shape, &unit, block.hourglass_stiffness()).1;
            for (f, row) in force.as_ref().iter().zip(&mut k) {
                for i in 0..3 {
                    row[b][i][i] += f[i];
                }
            }
        }
    }
    for (a, row) in k[..nodes].iter().enumerate() {
        for (b, block) in row[..nodes].iter().enumerate() {
            for (i, entries) in block.iter().enumerate() {
                for (l, &x) in entries.iter().enumerate() {
                    put(3 * a + i, 3 * b + l, x);
                }
            }
        }
    }
}

/// `A[iJ][kL]` at one point.
#[inline(always)]
fn moduli<M: Material, L: Lane>(law: &M, h: &Matrix<L>) -> [[L; 9]; 9] {
    let zero = h[0][0].of(0.0);
    let strain = if M::SMALL_STRAIN { small_strain(h) } else { green_strain(h) };
    let mut state = [zero; 64];
    let d = law.tangent(&strain, &state[..M::STATE]);
    if M::SMALL_STRAIN {
        return std::array::from_fn(|ij| std::array::from_fn(|kl| d[AT[ij / 3][ij % 3]][AT[kl / 3][kl % 3]]));
    }
    let s = full(&law.respond(&strain, &mut state[..M::STATE]).1);
    let mut f = *h;
    for (i, row) in f.iter_mut().enumerate() {
        row[i] = row[i] + 1.0;
    }
    // first F on the left index, then on the right
    let mut half = [[zero; 9]; 9];
    for (ij, row) in half.iter_mut().enumerate() {
        for (nl, x) in row.iter_mut().enumerate() {
            let (i, j, nl) = (ij / 3, ij % 3, AT[nl / 3][nl % 3]);
            *x = dot(f[i], [d[AT[0][j]][nl], d[AT[1][j]][nl], d[AT[2][j]][nl]]);
        }
    }
    std::array::from_fn(|ij| {
        std::array::from_fn(|kl| {
            let (i, j, k, l) = (ij / 3, ij % 3, kl / 3, kl % 3);
            let x = dot(f[k], [half[ij][l], half[ij][3 + l], half[ij][6 + l]]);
            if i == k { x + s[j][l] } else { x }
        })
    })
}
