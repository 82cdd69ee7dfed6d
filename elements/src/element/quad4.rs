//! quad4: the bilinear quadrilateral in the x–y plane, 2×2 points. The third direction is the thickness.

use super::{Element, MassPoint, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::Matrix;
use crate::mesh::CellKind;

/// 1/√3.
const G: f64 = 0.577_350_269_189_625_8;
const P: f64 = 0.25 * (1.0 + G);
const M: f64 = 0.25 * (1.0 - G);
const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// `∂x/∂ξ` at η = ∓G and `∂x/∂η` at ξ = ∓G, and the third column.
#[derive(Clone, Copy)]
pub struct Columns<L> {
    xi: [[L; 3]; 2],
    eta: [[L; 3]; 2],
    thickness: L,
}

pub struct Quad4;

fn point(q: usize) -> [f64; 2] {
    [0, 1].map(|j| if (q >> j) & 1 == 1 { G } else { -G })
}

fn shape_derivatives(xi: [f64; 2]) -> Vec<Vec3> {
    let d = |c: &[f64; 2]| Vec3::new(c[0] * (1.0 + c[1] * xi[1]), c[1] * (1.0 + c[0] * xi[0]), 0.0);
    CORNERS.iter().map(|c| 0.25 * d(c)).collect()
}

impl Element for Quad4 {
    const KIND: CellKind = CellKind::Quad4;
    const POINTS: usize = 4;
    type Nodal<L: Lane> = Nodes<L, 4>;
    type Shape<L: Lane> = Columns<L>;
    type Gradient<L: Lane> = Columns<L>;

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 4> {
        [[x; 3]; 4]
    }
    #[inline(always)]
    fn shape<L: Lane>(x: &Nodes<L, 4>) -> Columns<L> {
        let mut g = Self::gradient(&Self::zero(x[0][0]), x);
        g.thickness = x[0][0].of(1.0);
        g
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &Columns<L>, q: usize) -> Matrix<L> {
        Self::at(shape, q)
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        1.0
    }
    #[inline(always)]
    fn gradient<L: Lane>(_: &Columns<L>, x: &Nodes<L, 4>) -> Columns<L> {
        let mut g = Self::zero(x[0][0]);
        let (p, m) = (x[0][0].of(P), x[0][0].of(M));
        for i in 0..3 {
            let (low, high) = (x[1][i] - x[0][i], x[2][i] - x[3][i]);
            g.xi[0][i] = p.mul_add(low, m * high);
            g.xi[1][i] = m.mul_add(low, p * high);
            let (low, high) = (x[3][i] - x[0][i], x[2][i] - x[1][i]);
            g.eta[0][i] = p.mul_add(low, m * high);
            g.eta[1][i] = m.mul_add(low, p * high);
        }
        g
    }
    #[inline(always)]
    fn at<L: Lane>(g: &Columns<L>, q: usize) -> Matrix<L> {
        let (a, b) = (g.xi[q >> 1], g.eta[q & 1]);
        let zero = a[0].of(0.0);
        [[a[0], b[0], zero], [a[1], b[1], zero], [a[2], b[2], g.thickness]]
    }
    #[inline(always)]
    fn add<L: Lane>(g: &mut Columns<L>, q: usize, m: &Matrix<L>) {
        for i in 0..3 {
            g.xi[q >> 1][i] += m[i][0];
            g.eta[q & 1][i] += m[i][1];
        }
    }
    #[inline(always)]
    fn zero<L: Lane>(like: L) -> Columns<L> {
        let zero = [[like.of(0.0); 3]; 2];
        Columns { xi: zero, eta: zero, thickness: like.of(0.0) }
    }
    #[inline(always)]
    fn spread<L: Lane>(_: &Columns<L>, r: &Columns<L>) -> Nodes<L, 4> {
        let mut f = Self::nodal(r.thickness);
        let (p, m) = (r.thickness.of(P), r.thickness.of(M));
        for i in 0..3 {
            let low = p.mul_add(r.xi[0][i], m * r.xi[1][i]);
            let high = m.mul_add(r.xi[0][i], p * r.xi[1][i]);
            let left = p.mul_add(r.eta[0][i], m * r.eta[1][i]);
            let right = m.mul_add(r.eta[0][i], p * r.eta[1][i]);
            f[0][i] = -low - left;
            f[1][i] = low - right;
            f[2][i] = high + right;
            f[3][i] = left - high;
        }
        f
    }
    fn mass_points() -> Vec<MassPoint> {
        (0..4)
            .map(|q| {
                let xi = point(q);
                let n = CORNERS.iter().map(|c| 0.25 * (1.0 + c[0] * xi[0]) * (1.0 + c[1] * xi[1])).collect();
                (1.0, n, shape_derivatives(xi))
            })
            .collect()
    }
}
