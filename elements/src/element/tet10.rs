//! tet10: the quadratic tetrahedron, four points.
//!
//! With barycentric coordinates λ and nodes `u_c` at the corners, `u_cb = u_bc` at the middles of the edges,
//!
//! ```text
//! N_c = λ_c (2λ_c − 1)     N_cb = 4 λ_c λ_b
//! ∂u/∂λ_c = (4λ_c − 1) u_c + 4 Σ_{b≠c} λ_b u_cb
//! ```
//!
//! The four points of degree two (Hammer & Stroud 1956) have λ_q = α at their own corner and β at the three others, and α − β = 1/√5.
//! So, with `u_cc = u_c`,
//!
//! ```text
//! ∂u/∂λ_c at q = s_c + (4/√5) u_cq        s_c = (4β − 1) u_c + 4β Σ_{b≠c} u_cb
//! ```
//!
//! and the derivatives to ξ, η, ζ are those to λ₁, λ₂, λ₃ minus that to λ₀. Edges may be curved: the Jacobian is that of the quadratic map at
//! each point. With straight edges the points integrate the energy of a linear law exactly, and their 24 strains leave the
//! six rigid motions alone: the element needs no hourglass control. Where edges inside a body are curved, constant stress is
//! met to the order of the points and not to the last digit: meshers curve edges of the boundary only.
//!
//! **Mass.** Row sums of the consistent mass are −1/20 of the whole at each corner, because a rule over the nodes that integrates
//! squares must have negative weights there. The diagonal of the consistent mass, scaled to the whole (Hinton, Rock & Zienkiewicz 1976), is
//! positive: 1/36 at a corner and 4/27 at a middle. Frequencies then converge with the square of the edge, as those of linear elements
//! with lumped mass do, and not with its fourth power; in the statics nothing is lost.

use super::{Element, MassPoint, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::Matrix;
use crate::mesh::{CellKind, shape_functions};

/// β = (5 − √5)/20.
const B: f64 = 0.138_196_601_125_010_5;
/// 4β and 4β − 1.
const B4: f64 = 4.0 * B;
const B4_1: f64 = B4 - 1.0;
/// 4/√5.
const G: f64 = 1.788_854_381_999_831_8;

/// Node between corners c and b, or the corner itself.
const BETWEEN: [[usize; 4]; 4] = [[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3]];

/// The three middles of the edges at each corner.
const MIDDLES: [[usize; 3]; 4] = [[4, 6, 7], [4, 5, 8], [6, 5, 9], [7, 8, 9]];

pub struct Tet10;

/// `∂x/∂ξ` at the four points.
#[inline(always)]
fn gradients<L: Lane>(x: &Nodes<L, 10>) -> [Matrix<L>; 4] {
    let like = x[0][0];
    let (b4, b4_1, g) = (like.of(B4), like.of(B4_1), like.of(G));
    let mut out = Tet10::zero(like);
    for i in 0..3 {
        let mut s = [like; 4];
        for c in 0..4 {
            let [m, n, o] = MIDDLES[c];
            s[c] = b4_1.mul_add(x[c][i], b4 * (x[m][i] + x[n][i] + x[o][i]));
        }
        for j in 0..3 {
            let mean = s[j + 1] - s[0];
            for q in 0..4 {
                out[q][i][j] = g.mul_add(x[BETWEEN[j + 1][q]][i] - x[BETWEEN[0][q]][i], mean);
            }
        }
    }
    out
}

impl Element for Tet10 {
    const KIND: CellKind = CellKind::Tet10;
    const POINTS: usize = 4;
    const SCALED_DIAGONAL: bool = true;
    type Nodal<L: Lane> = Nodes<L, 10>;
    type Shape<L: Lane> = [Matrix<L>; 4];
    type Gradient<L: Lane> = [Matrix<L>; 4];

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 10> {
        [[x; 3]; 10]
    }
    #[inline(always)]
    fn shape<L: Lane>(x: &Nodes<L, 10>) -> [Matrix<L>; 4] {
        gradients(x)
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &[Matrix<L>; 4], q: usize) -> Matrix<L> {
        shape[q]
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        1.0 / 24.0
    }
    #[inline(always)]
    fn gradient<L: Lane>(_: &[Matrix<L>; 4], field: &Nodes<L, 10>) -> [Matrix<L>; 4] {
        gradients(field)
    }
    #[inline(always)]
    fn at<L: Lane>(g: &[Matrix<L>; 4], q: usize) -> Matrix<L> {
        g[q]
    }
    #[inline(always)]
    fn add<L: Lane>(g: &mut [Matrix<L>; 4], q: usize, m: &Matrix<L>) {
        g[q] = *m;
    }
    #[inline(always)]
    fn zero<L: Lane>(like: L) -> [Matrix<L>; 4] {
        [[[like.of(0.0); 3]; 3]; 4]
    }
    /// With `T_c(q)` what stands against `∂u/∂λ_c` at point q,
    ///
    /// ```text
    /// f_c = (4β − 1) Σ_q T_c + (4/√5) T_c(c)        f_cb = 4β Σ_q (T_c + T_b) + (4/√5) (T_c(b) + T_b(c))
    /// ```
    #[inline(always)]
    fn spread<L: Lane>(_: &[Matrix<L>; 4], r: &[Matrix<L>; 4]) -> Nodes<L, 10> {
        let like = r[0][0][0];
        let (b4, b4_1, g) = (like.of(B4), like.of(B4_1), like.of(G));
        let mut f = Self::nodal(like);
        for i in 0..3 {
            let mut t = [[like; 4]; 4];
            for q in 0..4 {
                let [b, c, d] = r[q][i];
                t[0][q] = -(b + c + d);
                (t[1][q], t[2][q], t[3][q]) = (b, c, d);
            }
            let mut sum = [like; 4];
            for c in 0..4 {
                sum[c] = (t[c][0] + t[c][1]) + (t[c][2] + t[c][3]);
            }
            for c in 0..4 {
                f[c][i] = b4_1.mul_add(sum[c], g * t[c][c]);
                for b in c + 1..4 {
                    f[BETWEEN[c][b]][i] = b4.mul_add(sum[c] + sum[b], g * (t[c][b] + t[b][c]));
                }
            }
        }
        f
    }
    // Degree five with positive weights, more than the products NₐN_b have with straight edges: two orbits of four points at
    // (1 − 3a, a, a, a), one of six at (a, a, ½ − a, ½ − a) (Walkington 2000).
    fn mass_points() -> Vec<MassPoint> {
        let mut points = Vec::new();
        for (a, w) in [
            (0.310_885_919_263_300_6, 0.112_687_925_718_015_85),
            (0.092_735_250_310_891_22, 0.073_493_043_116_361_95),
        ] {
            points.extend(
                [Vec3::repeat(a), Vec3::new(1.0 - 3.0 * a, a, a), Vec3::new(a, 1.0 - 3.0 * a, a)]
                    .map(|p| (w, p)),
            );
            points.push((w, Vec3::new(a, a, 1.0 - 3.0 * a)));
        }
        let (a, w) = (0.045_503_704_125_649_65, 0.042_546_020_777_081_47);
        let b = 0.5 - a;
        points.extend(
            [[a, a, b], [a, b, a], [b, a, a], [a, b, b], [b, a, b], [b, b, a]].map(|p| (w, p.into())),
        );
        let of = |(w, xi): (f64, Vec3)| {
            let n = shape_functions::values(CellKind::Tet10, xi).to_vec();
            (w / 6.0, n, shape_functions::gradients(CellKind::Tet10, xi).to_vec())
        };
        points.into_iter().map(of).collect()
    }
}
