//! The published way to solve one contact (De Saxcé & Feng 1998): projections on the cone with a step ρ that adapts itself. The paper says of
//! it only that it comes from the flexibility; ours begins with 2/(λ_min + λ_max) of W and keeps the projection a contraction.

use crate::contact::friction::{law_velocity, project_to_cone};
use crate::math::{Mat3, Vec3};

/// What an iteration came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Iterated {
    pub r: Vec3,
    pub iterations: u32,
    pub converged: bool,
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
pub(crate) fn uzawa(w: &Mat3, b: &Vec3, mu: f64, start: &Vec3) -> Iterated {
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
