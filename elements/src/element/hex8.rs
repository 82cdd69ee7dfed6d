//! hex8: the trilinear hexahedron, with 2×2×2 points or with one.
//!
//! `∂x/∂ξ` depends on η and ζ alone, so the gradient at eight points is three times four columns: the
//! differences along four edges, interpolated to ±1/√3 by two passes of
//! `(a, b) → (p a + m b, m a + p b)` with `p, m ∝ 1 ± 1/√3`.

use super::{Element, MassPoint, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, cofactor, dot};
use crate::mesh::CellKind;

/// 1/√3.
const G: f64 = 0.577_350_269_189_625_8;
// Halved once more in two passes (1/√2 each): an edge runs over two units of ξ.
const P: f64 = 0.5 * (1.0 + G) * std::f64::consts::FRAC_1_SQRT_2;
const M: f64 = 0.5 * (1.0 - G) * std::f64::consts::FRAC_1_SQRT_2;

/// Corner signs (ξ, η, ζ) of the eight nodes.
pub(super) const CORNERS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

/// Edges along ξ, η, ζ as (from, to), each four ordered by the signs of the other two coordinates,
/// first of them fastest: for ξ (η, ζ), for η (ξ, ζ), for ζ (ξ, η).
const EDGES: [[(usize, usize); 4]; 3] =
    [[(0, 1), (3, 2), (4, 5), (7, 6)], [(0, 3), (1, 2), (4, 7), (5, 6)], [(0, 4), (1, 5), (3, 7), (2, 6)]];

/// Columns `∂x/∂ξⱼ` at the four positions of the other two coordinates: `[j][position][component]`.
pub type Columns<L> = [[[L; 3]; 4]; 3];

/// Point `q` has the signs of its bits (ξ lowest); its position in each of the three lists.
const POSITION: [[usize; 3]; 8] = {
    let mut table = [[0; 3]; 8];
    let mut q = 0;
    while q < 8 {
        let (x, y, z) = (q & 1, (q >> 1) & 1, q >> 2);
        table[q] = [y + 2 * z, x + 2 * z, x + 2 * y];
        q += 1;
    }
    table
};

#[inline(always)]
fn pair<L: Lane>(a: L, b: L) -> (L, L) {
    let (p, m) = (a.of(P), a.of(M));
    (p.mul_add(a, m * b), m.mul_add(a, p * b))
}

/// Two passes of the 2×2 interpolation, its own transpose.
#[inline(always)]
fn interpolate<L: Lane>(d: [L; 4]) -> [L; 4] {
    let (a0, a1) = pair(d[0], d[1]);
    let (a2, a3) = pair(d[2], d[3]);
    let (b0, b2) = pair(a0, a2);
    let (b1, b3) = pair(a1, a3);
    [b0, b1, b2, b3]
}

#[inline(always)]
fn columns<L: Lane>(x: &Nodes<L, 8>) -> Columns<L> {
    let mut out = [[[x[0][0]; 3]; 4]; 3];
    for (j, edges) in EDGES.iter().enumerate() {
        for i in 0..3 {
            let mut d = [x[0][0]; 4];
            for (d, &(from, to)) in d.iter_mut().zip(edges) {
                *d = x[to][i] - x[from][i];
            }
            let d = interpolate(d);
            for k in 0..4 {
                out[j][k][i] = d[k];
            }
        }
    }
    out
}

#[inline(always)]
fn from_columns<L: Lane>(r: &Columns<L>) -> Nodes<L, 8> {
    let mut f = [[r[0][0][0].of(0.0); 3]; 8];
    for (j, edges) in EDGES.iter().enumerate() {
        for i in 0..3 {
            let d = interpolate([r[j][0][i], r[j][1][i], r[j][2][i], r[j][3][i]]);
            for (&d, &(from, to)) in d.iter().zip(edges) {
                f[to][i] += d;
                f[from][i] = f[from][i] - d;
            }
        }
    }
    f
}

#[inline(always)]
fn at<L: Lane>(g: &Columns<L>, q: usize) -> Matrix<L> {
    let [a, b, c] = POSITION[q];
    let (x, y, z) = (g[0][a], g[1][b], g[2][c]);
    [[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]]
}

fn shape_derivatives(xi: [f64; 3]) -> Vec<Vec3> {
    let factor = |c: &[f64; 3], j: usize| 1.0 + c[j] * xi[j];
    CORNERS
        .iter()
        .map(|c| {
            0.125
                * Vec3::new(
                    c[0] * factor(c, 1) * factor(c, 2),
                    c[1] * factor(c, 0) * factor(c, 2),
                    c[2] * factor(c, 0) * factor(c, 1),
                )
        })
        .collect()
}

fn point(q: usize) -> [f64; 3] {
    [0, 1, 2].map(|j| if (q >> j) & 1 == 1 { G } else { -G })
}

fn mass_points() -> Vec<MassPoint> {
    (0..8)
        .map(|q| {
            let xi = point(q);
            let n = CORNERS.iter().map(|c| (0..3).map(|j| 0.5 * (1.0 + c[j] * xi[j])).product()).collect();
            (1.0, n, shape_derivatives(xi))
        })
        .collect()
}

/// Eight nodes, 2×2×2 points.
pub struct Hex8;

impl Element for Hex8 {
    const KIND: CellKind = CellKind::Hex8;
    const POINTS: usize = 8;
    type Nodal<L: Lane> = Nodes<L, 8>;
    type Shape<L: Lane> = Columns<L>;
    type Gradient<L: Lane> = Columns<L>;

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 8> {
        [[x; 3]; 8]
    }
    #[inline(always)]
    fn shape<L: Lane>(reference: &Nodes<L, 8>) -> Columns<L> {
        columns(reference)
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &Columns<L>, q: usize) -> Matrix<L> {
        at(shape, q)
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        1.0
    }
    #[inline(always)]
    fn gradient<L: Lane>(_: &Columns<L>, field: &Nodes<L, 8>) -> Columns<L> {
        columns(field)
    }
    #[inline(always)]
    fn at<L: Lane>(g: &Columns<L>, q: usize) -> Matrix<L> {
        at(g, q)
    }
    #[inline(always)]
    fn add<L: Lane>(g: &mut Columns<L>, q: usize, m: &Matrix<L>) {
        for (j, &k) in POSITION[q].iter().enumerate() {
            for i in 0..3 {
                g[j][k][i] += m[i][j];
            }
        }
    }
    #[inline(always)]
    fn zero<L: Lane>(like: L) -> Columns<L> {
        [[[like.of(0.0); 3]; 4]; 3]
    }
    #[inline(always)]
    fn spread<L: Lane>(_: &Columns<L>, r: &Columns<L>) -> Nodes<L, 8> {
        from_columns(r)
    }
    fn mass_points() -> Vec<MassPoint> {
        mass_points()
    }
}

/// Eight nodes, one point with the mean gradient of Flanagan and Belytschko (1981), and a stiffness against the
/// four hourglass modes in each direction.
///
/// ```text
/// V bₐ = ∫ ∇Nₐ dV      γᵢ = hᵢ − Σₐ hᵢₐ Xₐ·b       qᵢ = ⅛ Σₐ γᵢₐ uₐ       U = ½ k V (Σ b·b) Σᵢ |qᵢ|²
/// ```
///
/// γ is blind to every linear field, and `|q|` to rotations of the current shape: rigid motion stores nothing.
/// The integral of ∇N is exact with the 2×2×2 points, so constant stress passes on distorted meshes.
pub struct Hex8OnePoint;

/// The mean gradient: `J = diag(V/8, 1, 1)` stands for the shape, with weight 8.
#[derive(Clone, Copy)]
pub struct Mean<L> {
    b: Nodes<L, 8>,
    eighth: L,
}

/// The hourglass vectors ηζ, ζξ, ξη, ξηζ at the corners.
const HOURGLASS: [[f64; 8]; 4] = {
    let mut table = [[0.0; 8]; 4];
    let mut a = 0;
    while a < 8 {
        let [x, y, z] = CORNERS[a];
        (table[0][a], table[1][a], table[2][a], table[3][a]) = (y * z, z * x, x * y, x * y * z);
        a += 1;
    }
    table
};

impl Element for Hex8OnePoint {
    const KIND: CellKind = CellKind::Hex8;
    const POINTS: usize = 1;
    const HOURGLASS: bool = true;
    type Nodal<L: Lane> = Nodes<L, 8>;
    type Shape<L: Lane> = Mean<L>;
    type Gradient<L: Lane> = Matrix<L>;

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 8> {
        [[x; 3]; 8]
    }
    #[inline(always)]
    fn shape<L: Lane>(reference: &Nodes<L, 8>) -> Mean<L> {
        let g = columns(reference);
        let mut cofactors = Hex8::zero(reference[0][0]);
        let mut volume = reference[0][0].of(0.0);
        for q in 0..8 {
            let j = at(&g, q);
            let c = cofactor(&j);
            volume += dot(j[0], c[0]);
            Hex8::add(&mut cofactors, q, &c);
        }
        let inverse = volume.of(1.0) / volume;
        let mut b = from_columns(&cofactors);
        for x in b.iter_mut().flatten() {
            *x = *x * inverse;
        }
        Mean { b, eighth: volume * 0.125 }
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &Mean<L>, _: usize) -> Matrix<L> {
        let (one, zero) = (shape.eighth.of(1.0), shape.eighth.of(0.0));
        [[shape.eighth, zero, zero], [zero, one, zero], [zero, zero, one]]
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        8.0
    }
    #[inline(always)]
    fn gradient<L: Lane>(shape: &Mean<L>, field: &Nodes<L, 8>) -> Matrix<L> {
        let mut h = Self::zero(shape.eighth);
        for (u, b) in field.iter().zip(&shape.b) {
            for i in 0..3 {
                for j in 0..3 {
                    h[i][j] = u[i].mul_add(b[j], h[i][j]);
                }
            }
        }
        for row in &mut h {
            row[0] = row[0] * shape.eighth;
        }
        h
    }
    #[inline(always)]
    fn at<L: Lane>(g: &Matrix<L>, _: usize) -> Matrix<L> {
        *g
    }
    #[inline(always)]
    fn add<L: Lane>(g: &mut Matrix<L>, _: usize, m: &Matrix<L>) {
        *g = *m;
    }
    #[inline(always)]
    fn zero<L: Lane>(like: L) -> Matrix<L> {
        [[like.of(0.0); 3]; 3]
    }
    #[inline(always)]
    fn spread<L: Lane>(shape: &Mean<L>, r: &Matrix<L>) -> Nodes<L, 8> {
        let first = [r[0][0] * shape.eighth, r[1][0] * shape.eighth, r[2][0] * shape.eighth];
        let mut f = shape.b;
        for f in &mut f {
            let b = *f;
            for i in 0..3 {
                f[i] = dot([first[i], r[i][1], r[i][2]], b);
            }
        }
        f
    }
    fn mass_points() -> Vec<MassPoint> {
        mass_points()
    }
    #[inline(always)]
    fn hourglass<L: Lane>(
        reference: &Nodes<L, 8>,
        shape: &Mean<L>,
        displacement: &Nodes<L, 8>,
        k: f64,
    ) -> (L, Nodes<L, 8>) {
        let zero = shape.eighth.of(0.0);
        let mut size = zero;
        for b in &shape.b {
            size += dot(*b, *b);
        }
        // ½ k V Σb·b |q|² with q = ⅛ Σ γ u
        let stiffness = shape.eighth * size * (8.0 * k / 64.0);
        let mut energy = zero;
        let mut force = [[zero; 3]; 8];
        for h in &HOURGLASS {
            let mut moment = [zero; 3];
            for (x, &sign) in reference.iter().zip(h) {
                for i in 0..3 {
                    moment[i] += x[i] * sign;
                }
            }
            let mut gamma = [zero; 8];
            for a in 0..8 {
                gamma[a] = -dot(moment, shape.b[a]) + h[a];
            }
            let mut q = [zero; 3];
            for (g, u) in gamma.iter().zip(displacement) {
                for i in 0..3 {
                    q[i] = g.mul_add(u[i], q[i]);
                }
            }
            energy += stiffness * dot(q, q) * 0.5;
            let q = [q[0] * stiffness, q[1] * stiffness, q[2] * stiffness];
            for (f, g) in force.iter_mut().zip(gamma) {
                for i in 0..3 {
                    f[i] = g.mul_add(q[i], f[i]);
                }
            }
        }
        (energy, force)
    }
}
