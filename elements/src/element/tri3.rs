//! tri3: the linear triangle in the x–y plane, one point. The third direction is the thickness.

use super::{Element, MassPoint, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, transpose};
use crate::mesh::CellKind;

pub struct Tri3;

impl Element for Tri3 {
    const KIND: CellKind = CellKind::Tri3;
    const POINTS: usize = 1;
    type Nodal<L: Lane> = Nodes<L, 3>;
    type Shape<L: Lane> = Matrix<L>;
    type Gradient<L: Lane> = Matrix<L>;

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 3> {
        [[x; 3]; 3]
    }
    #[inline(always)]
    fn shape<L: Lane>(x: &Nodes<L, 3>) -> Matrix<L> {
        let mut g = Self::gradient(&Self::zero(x[0][0]), x);
        g[2][2] = x[0][0].of(1.0);
        g
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &Matrix<L>, _: usize) -> Matrix<L> {
        *shape
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        0.5
    }
    #[inline(always)]
    fn gradient<L: Lane>(_: &Matrix<L>, x: &Nodes<L, 3>) -> Matrix<L> {
        let mut g = Self::zero(x[0][0]);
        for i in 0..3 {
            (g[i][0], g[i][1]) = (x[1][i] - x[0][i], x[2][i] - x[0][i]);
        }
        g
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
    fn spread<L: Lane>(_: &Matrix<L>, r: &Matrix<L>) -> Nodes<L, 3> {
        let [b, c, _] = transpose(r);
        [[-(b[0] + c[0]), -(b[1] + c[1]), -(b[2] + c[2])], b, c]
    }
    // Mid-side rule, exact for the products NₐN_b.
    fn mass_points() -> Vec<MassPoint> {
        let derivatives = vec![Vec3::new(-1.0, -1.0, 0.0), Vec3::x(), Vec3::y()];
        (0..3)
            .map(|q| {
                (1.0 / 6.0, (0..3).map(|k| if k == q { 0.0 } else { 0.5 }).collect(), derivatives.clone())
            })
            .collect()
    }
}
