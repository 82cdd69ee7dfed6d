//! 3×3 matrices and symmetric tensors on lanes.
//!
//! A matrix is `[[L; 3]; 3]`, row first. A symmetric tensor is `[L; 6]` in the order
//! xx yy zz xy yz xz (that of VTK), with true components: an off-diagonal stands once and counts twice
//! in a contraction.
//!
//! No closures and no `array::map` in here or in any kernel: what the compiler does not inline runs outside the
//! context of the wide instructions, ten times slower.

use super::lane::Lane;

pub type Matrix<L> = [[L; 3]; 3];
pub type Sym<L> = [L; 6];

/// Row and column of each of the six components.
pub const INDEX: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];
/// How often each component stands in the full tensor.
pub const COUNT: [f64; 6] = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0];
/// Component of the symmetric tensor at (row, column).
pub const AT: [[usize; 3]; 3] = [[0, 3, 5], [3, 1, 4], [5, 4, 2]];

/// `a₁b₁ + a₂b₂ + a₃b₃`.
#[inline(always)]
pub fn dot<L: Lane>(a: [L; 3], b: [L; 3]) -> L {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

#[inline(always)]
fn column<L: Lane>(a: &Matrix<L>, j: usize) -> [L; 3] {
    [a[0][j], a[1][j], a[2][j]]
}

/// `Aᵀ`.
#[inline(always)]
pub fn transpose<L: Lane>(a: &Matrix<L>) -> Matrix<L> {
    [column(a, 0), column(a, 1), column(a, 2)]
}

/// `A B`.
#[inline(always)]
pub fn mul<L: Lane>(a: &Matrix<L>, b: &Matrix<L>) -> Matrix<L> {
    mul_transposed(a, &transpose(b))
}

/// `A Bᵀ`.
#[inline(always)]
pub fn mul_transposed<L: Lane>(a: &Matrix<L>, b: &Matrix<L>) -> Matrix<L> {
    [
        [dot(a[0], b[0]), dot(a[0], b[1]), dot(a[0], b[2])],
        [dot(a[1], b[0]), dot(a[1], b[1]), dot(a[1], b[2])],
        [dot(a[2], b[0]), dot(a[2], b[1]), dot(a[2], b[2])],
    ]
}

/// `x A`.
#[inline(always)]
pub fn scale<L: Lane>(a: &Matrix<L>, x: L) -> Matrix<L> {
    [
        [a[0][0] * x, a[0][1] * x, a[0][2] * x],
        [a[1][0] * x, a[1][1] * x, a[1][2] * x],
        [a[2][0] * x, a[2][1] * x, a[2][2] * x],
    ]
}

/// `1 + A`.
#[inline(always)]
pub fn plus_identity<L: Lane>(a: &Matrix<L>) -> Matrix<L> {
    [[a[0][0] + 1.0, a[0][1], a[0][2]], [a[1][0], a[1][1] + 1.0, a[1][2]], [a[2][0], a[2][1], a[2][2] + 1.0]]
}

/// `a × b`.
#[inline(always)]
pub fn cross<L: Lane>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [
        a[1].mul_add(b[2], -(a[2] * b[1])),
        a[2].mul_add(b[0], -(a[0] * b[2])),
        a[0].mul_add(b[1], -(a[1] * b[0])),
    ]
}

/// Cofactors: `A⁻¹ = cof(A)ᵀ / det A`.
#[inline(always)]
pub fn cofactor<L: Lane>(a: &Matrix<L>) -> Matrix<L> {
    [cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])]
}

/// Determinant.
#[inline(always)]
pub fn det<L: Lane>(a: &Matrix<L>) -> L {
    dot(a[0], cross(a[1], a[2]))
}

/// Green strain `E = ½(H + Hᵀ + HᵀH)` of a displacement gradient: no digits lost at small strains.
#[inline(always)]
pub fn green_strain<L: Lane>(h: &Matrix<L>) -> Sym<L> {
    let [a, b, c] = transpose(h);
    let half = a[0].of(0.5);
    [
        half.mul_add(dot(a, a), h[0][0]),
        half.mul_add(dot(b, b), h[1][1]),
        half.mul_add(dot(c, c), h[2][2]),
        half * dot_plus(a, b, h[0][1] + h[1][0]),
        half * dot_plus(b, c, h[1][2] + h[2][1]),
        half * dot_plus(a, c, h[0][2] + h[2][0]),
    ]
}

/// `a·b + c`.
#[inline(always)]
fn dot_plus<L: Lane>(a: [L; 3], b: [L; 3], c: L) -> L {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0].mul_add(b[0], c)))
}

/// Small strain `½(H + Hᵀ)`.
#[inline(always)]
pub fn small_strain<L: Lane>(h: &Matrix<L>) -> Sym<L> {
    [
        h[0][0],
        h[1][1],
        h[2][2],
        (h[0][1] + h[1][0]) * 0.5,
        (h[1][2] + h[2][1]) * 0.5,
        (h[0][2] + h[2][0]) * 0.5,
    ]
}

#[inline(always)]
pub fn trace<L: Lane>(s: &Sym<L>) -> L {
    s[0] + s[1] + s[2]
}

/// `A : B`, off-diagonals counted twice.
#[inline(always)]
pub fn contract<L: Lane>(a: &Sym<L>, b: &Sym<L>) -> L {
    let normal = a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]));
    let shear = a[5].mul_add(b[5], a[4].mul_add(b[4], a[3] * b[3]));
    shear.mul_add(shear.of(2.0), normal)
}

/// The full matrix of a symmetric tensor.
#[inline(always)]
pub fn full<L: Lane>(s: &Sym<L>) -> Matrix<L> {
    [[s[0], s[3], s[5]], [s[3], s[1], s[4]], [s[5], s[4], s[2]]]
}

/// Cofactors of a symmetric tensor, itself symmetric.
#[inline(always)]
pub fn sym_cofactor<L: Lane>(s: &Sym<L>) -> Sym<L> {
    let [xx, yy, zz, xy, yz, xz] = *s;
    [
        yy.mul_add(zz, -(yz * yz)),
        xx.mul_add(zz, -(xz * xz)),
        xx.mul_add(yy, -(xy * xy)),
        yz.mul_add(xz, -(xy * zz)),
        xy.mul_add(xz, -(yz * xx)),
        xy.mul_add(yz, -(xz * yy)),
    ]
}

/// `A B A` of two symmetric tensors.
#[inline(always)]
pub fn sandwich<L: Lane>(a: &Sym<L>, b: &Sym<L>) -> Sym<L> {
    let ab = mul(&full(a), &full(b));
    let a = full(a);
    let mut out = *b;
    for (k, &(i, j)) in INDEX.iter().enumerate() {
        out[k] = dot(ab[i], a[j]);
    }
    out
}

/// An upper bound of the largest eigenvalue: `p + 2√(J₂/3)` with the mean `p`; at least that of the mean,
/// exact for a single tension on a hydrostatic state.
#[inline(always)]
pub fn eigenvalue_bound<L: Lane>(s: &Sym<L>) -> L {
    let mean = trace(s) * (1.0 / 3.0);
    let d = [s[0] - mean, s[1] - mean, s[2] - mean, s[3], s[4], s[5]];
    // |dev|² = 2 J₂ and 2√(J₂/3) = √(⅔ |dev|²)
    mean + (contract(&d, &d) * (2.0 / 3.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Mat3;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }
    fn matrix(seed: &mut u64) -> Matrix<f64> {
        std::array::from_fn(|_| std::array::from_fn(|_| random(seed)))
    }
    fn nalgebra(a: &Matrix<f64>) -> Mat3 {
        Mat3::from_fn(|i, j| a[i][j])
    }

    #[test]
    fn matrix_functions_agree_with_nalgebra() {
        let mut seed = 1;
        for _ in 0..200 {
            let (a, b) = (matrix(&mut seed), matrix(&mut seed));
            let (na, nb) = (nalgebra(&a), nalgebra(&b));
            assert!((nalgebra(&mul(&a, &b)) - na * nb).norm() < 1e-14);
            assert!((nalgebra(&mul_transposed(&a, &b)) - na * nb.transpose()).norm() < 1e-14);
            assert!((det(&a) - na.determinant()).abs() < 1e-14);
            let adjugate = nalgebra(&cofactor(&a)).transpose();
            assert!((na * adjugate - Mat3::identity() * na.determinant()).norm() < 1e-14);
            let f = na + Mat3::identity();
            let e = 0.5 * (f.transpose() * f - Mat3::identity());
            assert!((nalgebra(&full(&green_strain(&a))) - e).norm() < 1e-14);
            let s = INDEX.map(|(i, j)| e[(i, j)]);
            assert!(
                (nalgebra(&full(&sym_cofactor(&s))) - e.determinant() * e.try_inverse().unwrap()).norm()
                    < 1e-13
            );
            let t = small_strain(&b);
            assert!((contract(&s, &t) - (e * nalgebra(&full(&t))).trace()).abs() < 1e-13);
            assert!((nalgebra(&full(&sandwich(&s, &t))) - e * nalgebra(&full(&t)) * e).norm() < 1e-13);
            let largest = e.symmetric_eigenvalues().max();
            assert!(eigenvalue_bound(&s) >= largest - 1e-14);
        }
        assert!((eigenvalue_bound(&[3.0, 1.0, 1.0, 0.0, 0.0, 0.0]) - 3.0).abs() < 1e-15);
    }
}
