//! A published iteration, to be right by: Newton's method on the function of Alart & Curnier (1991), for any W; the answer or nothing.

use super::exact;
use super::uzawa::Iterated;
use crate::math::{Mat3, Vec3};

const NEWTON_MOST: u32 = 60;
const NEWTON_DONE: f64 = 1e-12;
const HALVINGS: u32 = 12;

/// Newton's method on the function of Alart & Curnier, from `start`.
///
/// ```text
/// p = r_n − ρ_n u_n    s = r_t − ρ_t u_t        f_n = r_n − max(p, 0)    f_t = r_t − s shortened to μ max(p, 0)
/// ```
pub(super) fn newton(w: &Mat3, b: &Vec3, mu: f64, start: &Vec3) -> Iterated {
    let wtt = nalgebra::Matrix2::new(w[(1, 1)], w[(1, 2)], w[(2, 1)], w[(2, 2)]);
    let largest = wtt.symmetric_eigenvalues().max();
    let rho = Vec3::new(1.0 / w[(0, 0)], 1.0 / largest, 1.0 / largest);
    let scale = b.norm() / w[(0, 0)];
    // f and its Jacobian
    let look = |r: &Vec3| -> (Vec3, Mat3) {
        let u = w * r + b;
        let s = r - rho.component_mul(&u);
        let ds = Mat3::identity() - Mat3::from_diagonal(&rho) * w;
        let mut to = Vec3::zeros();
        let mut dto = Mat3::zeros();
        if s.x > 0.0 {
            to.x = s.x;
            dto.set_row(0, &ds.row(0));
            let (slide, radius) = (s.y.hypot(s.z), mu * s.x);
            if slide <= radius {
                (to.y, to.z) = (s.y, s.z);
                dto.set_row(1, &ds.row(1));
                dto.set_row(2, &ds.row(2));
            } else {
                let (y, z) = (s.y / slide, s.z / slide);
                (to.y, to.z) = (radius * y, radius * z);
                let turn = radius / slide * (y * ds.row(2) - z * ds.row(1));
                dto.set_row(1, &(-z * turn + mu * y * ds.row(0)));
                dto.set_row(2, &(y * turn + mu * z * ds.row(0)));
            }
        }
        (r - to, Mat3::identity() - dto)
    };
    let mut r = *start;
    let (mut f, mut jacobian) = look(&r);
    for iterations in 0..NEWTON_MOST {
        if f.norm() <= NEWTON_DONE * r.norm().max(scale) {
            return Iterated { r, iterations, converged: true };
        }
        let Some(inverse) = jacobian.try_inverse() else { break };
        let step = inverse * f;
        let mut share = 1.0;
        let mut next = r - step;
        let mut there = look(&next);
        for _ in 0..HALVINGS {
            if there.0.norm() < f.norm() {
                break;
            }
            share *= 0.5;
            next = r - share * step;
            there = look(&next);
        }
        r = next;
        (f, jacobian) = there;
    }
    Iterated { r, iterations: NEWTON_MOST, converged: false }
}

/// [`newton`], and [`exact`] where that fails.
pub(crate) fn newton_or_exact(w: &Mat3, b: &Vec3, mu: f64, start: &Vec3) -> Vec3 {
    let found = newton(w, b, mu, start);
    if found.converged { found.r } else { exact(w, b, mu) }
}
