//! bar2: the linear bar, laid along x, one point. The other two directions are its cross-section.
//!
//! Its strain is that of its own axis, `E_xx = u′ + ½|∂u/∂X|²`, so a bar that swings carries no spurious force;
//! [`crate::material`]'s uniaxial form of a law takes this one component and leaves the section free of stress.

use super::{Element, MassPoint, Nodes};
use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::Matrix;
use crate::mesh::CellKind;

pub struct Bar2;

impl Element for Bar2 {
    const KIND: CellKind = CellKind::Bar2;
    const POINTS: usize = 1;
    type Nodal<L: Lane> = Nodes<L, 2>;
    type Shape<L: Lane> = Matrix<L>;
    type Gradient<L: Lane> = Matrix<L>;

    #[inline(always)]
    fn nodal<L: Lane>(x: L) -> Nodes<L, 2> {
        [[x; 3]; 2]
    }
    #[inline(always)]
    fn shape<L: Lane>(x: &Nodes<L, 2>) -> Matrix<L> {
        let mut g = Self::gradient(&Self::zero(x[0][0]), x);
        (g[1][1], g[2][2]) = (x[0][0].of(1.0), x[0][0].of(1.0));
        g
    }
    #[inline(always)]
    fn jacobian<L: Lane>(shape: &Matrix<L>, _: usize) -> Matrix<L> {
        *shape
    }
    #[inline(always)]
    fn weight(_: usize) -> f64 {
        2.0
    }
    #[inline(always)]
    fn gradient<L: Lane>(_: &Matrix<L>, x: &Nodes<L, 2>) -> Matrix<L> {
        let mut g = Self::zero(x[0][0]);
        for i in 0..3 {
            g[i][0] = (x[1][i] - x[0][i]) * 0.5;
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
    fn spread<L: Lane>(_: &Matrix<L>, r: &Matrix<L>) -> Nodes<L, 2> {
        let end = [r[0][0] * 0.5, r[1][0] * 0.5, r[2][0] * 0.5];
        [[-end[0], -end[1], -end[2]], end]
    }
    fn mass_points() -> Vec<MassPoint> {
        let g = 1.0 / 3f64.sqrt();
        let derivatives = vec![Vec3::new(-0.5, 0.0, 0.0), Vec3::new(0.5, 0.0, 0.0)];
        [-g, g].map(|x| (1.0, vec![0.5 * (1.0 - x), 0.5 * (1.0 + x)], derivatives.clone())).to_vec()
    }
}
