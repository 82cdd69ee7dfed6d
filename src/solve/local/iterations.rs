//! Two published iterations, to be right by.
//!
//! | `newton`      | any W (Alart & Curnier 1991)          | the answer or nothing |
//! | `uzawa`       | any W of moderate condition (De Saxcé & Feng 1998) | the limit of projections on the cone |

use super::{exact, law_velocity, project_to_cone};
use crate::math::{Mat3, Vec3};

/// What an iteration came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iterated {
    pub r: Vec3,
    pub iterations: u32,
    pub converged: bool,
}

const NEWTON_MOST: u32 = 60;
const NEWTON_DONE: f64 = 1e-12;
const HALVINGS: u32 = 12;

/// Newton's method on the function of Alart & Curnier, from `start`.
///
/// ```text
/// p = r_n − ρ_n u_n    s = r_t − ρ_t u_t        f_n = r_n − max(p, 0)    f_t = r_t − s shortened to μ max(p, 0)
/// ```
pub fn newton(w: &Mat3, b: &Vec3, mu: f64, start: &Vec3) -> Iterated {
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
pub fn newton_or_exact(w: &Mat3, b: &Vec3, mu: f64, start: &Vec3) -> Vec3 {
    let found = newton(w, b, mu, start);
    if found.converged { found.r } else { exact(w, b, mu) }
}

const UZAWA_MOST: u32 = 5000;
const UZAWA_DONE: f64 = 1e-10;
/// Contraction above which the step is shortened, and below which it may grow; by this factor.
const TOO_FAR: f64 = 0.9;
const NEAR: f64 = 0.3;
const SHORTER: f64 = 0.7;

/// Projections on the cone until nothing changes, from `start`; the step ρ adapts itself.
///
/// ```text
/// r ← P( r − ρ F(r) )     F(r) = u + μ|u_t| n     u = W r + b
/// ```
pub fn uzawa(w: &Mat3, b: &Vec3, mu: f64, start: &Vec3) -> Iterated {
    let eigenvalues = w.symmetric_eigenvalues();
    let (least, largest) = (eigenvalues.min(), eigenvalues.max());
    let mut rho = 2.0 / (least + largest);
    let size = b.norm() / largest;
    let against = |r: &Vec3| law_velocity(&(w * r + b), mu);
    let mut r = project_to_cone(start, mu);
    let mut f = against(&r);
    for iterations in 1..=UZAWA_MOST {
        let mut next;
        let mut f_next;
        let mut ratio;
        loop {
            next = project_to_cone(&(r - rho * f), mu);
            f_next = against(&next);
            let moved = (r - next).norm();
            ratio = if moved > 0.0 { rho * (f - f_next).norm() / moved } else { 0.0 };
            if ratio <= TOO_FAR || rho * largest < f64::EPSILON {
                break;
            }
            rho *= SHORTER * (1.0 / ratio).min(1.0);
        }
        // a shorter ρ makes shorter moves: measured against the move of ρ₀
        let moved = (next - r).norm() / (rho * largest).min(1.0);
        (r, f) = (next, f_next);
        if moved <= UZAWA_DONE * r.norm().max(size) {
            return Iterated { r, iterations, converged: true };
        }
        if ratio < NEAR {
            rho /= SHORTER;
        }
    }
    Iterated { r, iterations: UZAWA_MOST, converged: false }
}
