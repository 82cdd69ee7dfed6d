//! tet4: the linear tetrahedron, one point.

use super::{Element, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::Matrix;
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
        let row = |i: usize| [x[1][i] - x[0][i], x[2][i] - x[0][i], x[3][i] - x[0][i]];
        [row(0), row(1), row(2)]
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
        let node = |j: usize| [r[0][j], r[1][j], r[2][j]];
        let first = [0, 1, 2].map(|i: usize| -(r[i][0] + r[i][1] + r[i][2]));
        [first, node(0), node(1), node(2)]
    }
    // Exact for the products NₐN_b: four points at barycentric (a, b, b, b).
    fn mass_points() -> Vec<(f64, Vec<f64>, Vec<Vec3>)> {
        let (a, b) = ((5.0 + 3.0 * 5f64.sqrt()) / 20.0, (5.0 - 5f64.sqrt()) / 20.0);
        let derivatives = vec![-Vec3::new(1.0, 1.0, 1.0), Vec3::x(), Vec3::y(), Vec3::z()];
        (0..4)
            .map(|q| (1.0 / 24.0, (0..4).map(|k| if k == q { a } else { b }).collect(), derivatives.clone()))
            .collect()
    }
}
