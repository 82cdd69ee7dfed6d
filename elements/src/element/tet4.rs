//! tet4: the linear tetrahedron, one point.

use super::{Element, MassPoint, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, transpose};
use crate::mesh::CellKind;

pub struct Tet4;

impl Element for Tet4 {
    const KIND: CellKind = CellKind::Tet4;
    const POINTS: usize = 1;
    type Nodal<L: Lane> = Nodes<L, 4>;
    type Shape<L: Lane> = Matrix<L>;
    type Gradient<L: Lane> = Matrix<L>;

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 4> {
        [[x; 3]; 4]
    }
    #[inline(always)]
    fn shape<L: Lane>(x: &Nodes<L, 4>) -> Matrix<L> {
        let mut g = Self::zero(x[0][0]);
        for i in 0..3 {
            g[i] = [x[1][i] - x[0][i], x[2][i] - x[0][i], x[3][i] - x[0][i]];
        }
        g
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &Matrix<L>, _: usize) -> Matrix<L> {
        *shape
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        1.0 / 6.0
    }
    #[inline(always)]
    fn gradient<L: Lane>(_: &Matrix<L>, field: &Nodes<L, 4>) -> Matrix<L> {
        Self::shape(field)
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
    fn spread<L: Lane>(_: &Matrix<L>, r: &Matrix<L>) -> Nodes<L, 4> {
        let [b, c, d] = transpose(r);
        let mut a = b;
        for i in 0..3 {
            a[i] = -(b[i] + c[i] + d[i]);
        }
        [a, b, c, d]
    }
    // Exact for the products NₐN_b: four points at barycentric (a, b, b, b).
    fn mass_points() -> Vec<MassPoint> {
        let (a, b) = ((5.0 + 3.0 * 5f64.sqrt()) / 20.0, (5.0 - 5f64.sqrt()) / 20.0);
        let derivatives = vec![-Vec3::new(1.0, 1.0, 1.0), Vec3::x(), Vec3::y(), Vec3::z()];
        (0..4)
            .map(|q| (1.0 / 24.0, (0..4).map(|k| if k == q { a } else { b }).collect(), derivatives.clone()))
            .collect()
    }
}
