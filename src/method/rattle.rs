//! RATTLE: constraints g(q, t) = 0 of a node by multipliers, as Wolff & Bucher print it in (6) to (10), algorithm 2.
//!
//! ```text
//! drift     x′ = x + h (v½ − ½h ∇g(x) λ/m)      with λ such that g(x′, t′) = 0, by Newton's method
//! project   v′ = v − ∇g(x′) μ/m                 with μ such that ∇gᵀ(x′) v′ + ∂g/∂t = 0
//! ```
//!
//! Constraints of one node are at most three, and no two nodes share one, so that every system has 3 × 3 numbers. For supports along fixed directions λ and μ
//! leave what the projector P of `newmark` leaves; a constraint of any other kind is a closure.
//!
//! **Sign.** The constraint pushes with −∇g λ.
//!
//! Used by `newmark` with `supports = "rattle"`.

use crate::math::{Mat3, Vec3};

/// Constraints of a node where it is: a number and a column of the gradient for each; those that are not used are zero.
#[derive(Clone, Copy)]
pub(crate) struct Constraints {
    pub g: Vec3,
    pub gradient: Mat3,
}

/// Share of the way of a step by which constraints may be off, and share of the distances they are measured from: round-off.
const OF_WAY: f64 = 1e-12;
const OF_SIZE: f64 = 4.0 * f64::EPSILON;
/// Newton's method is at its end long before.
const MOST_ITERATIONS: usize = 20;

/// `[∇gᵀ(x′) ∇g(x)]⁻¹ y`; the multiplier of a constraint that is not used is zero.
fn solve(to: &Mat3, from: &Mat3, y: &Vec3) -> Option<Vec3> {
    let mut matrix = to.transpose() * from;
    for k in 0..3 {
        if from.column(k).iter().all(|&x| x == 0.0) {
            matrix[(k, k)] = 1.0;
        }
    }
    matrix.lu().solve(y)
}

/// From `x` for a time `h` with `v`, the velocity in the middle of the step but for constraints, whose values at a place at the end of the step
/// `constraints` tells. Returns the place and the velocity that has led there. Multipliers are taken times h²/2m, so that masses do not matter.
pub(crate) fn drift(
    x: &Vec3,
    v: &Vec3,
    h: f64,
    gradient: &Mat3,
    constraints: impl Fn(&Vec3) -> Constraints,
) -> (Vec3, Vec3) {
    let free = x + h * v;
    let slack = OF_WAY * (free - x).amax() + OF_SIZE * x.amax().max(free.amax());
    let mut multipliers = Vec3::zeros();
    let mut to = free;
    for _ in 0..MOST_ITERATIONS {
        let now = constraints(&to);
        if now.g.amax() <= slack {
            break;
        }
        // gradients that have turned by a right angle leave the node where it is: what follows sees it off its constraint
        let Some(more) = solve(&now.gradient, gradient, &now.g) else { break };
        multipliers += more;
        to = free - gradient * multipliers;
    }
    (to, v - gradient * multipliers / h)
}

/// `v` less what its constraints forbid; `rate` is −∂g/∂t, the speed at which a prescribed motion leads along each gradient.
pub(crate) fn project(v: &Vec3, gradient: &Mat3, rate: &Vec3) -> Vec3 {
    let excess = gradient.transpose() * v - rate;
    v - gradient * solve(gradient, gradient, &excess).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pendulum of length and mass 1 under gravity 1, from the horizontal, h = 0.05: E = 0 ripples with h² and does not
    /// drift, |q| = 1 and q·p = 0 to round-off.
    #[test]
    fn a_pendulum_swings_for_ever() {
        let h = 0.05;
        let gravity = -Vec3::y();
        let rod = |q: &Vec3| Constraints {
            g: Vec3::new(0.5 * (q.norm_squared() - 1.0), 0.0, 0.0),
            gradient: Mat3::from_columns(&[*q, Vec3::zeros(), Vec3::zeros()]),
        };
        let (mut q, mut v) = (Vec3::x(), Vec3::zeros());
        let (mut ripple, mut off) = (0.0, 0.0);
        let mut means = Vec::new();
        for _ in 0..20 {
            let mut sum = 0.0;
            for _ in 0..1000 {
                let (to, middle) = drift(&q, &(v + 0.5 * h * gravity), h, &rod(&q).gradient, rod);
                (q, v) = (to, project(&(middle + 0.5 * h * gravity), &rod(&to).gradient, &Vec3::zeros()));
                let energy = 0.5 * v.norm_squared() + q.y;
                ripple = f64::max(ripple, energy.abs());
                off = f64::max(off, (q.norm() - 1.0).abs().max(q.dot(&v).abs()));
                sum += energy / 1000.0;
            }
            means.push(sum);
        }
        assert!(ripple <= 1e-3 && off <= 1e-13, "{ripple} {off}");
        // a thousand steps are no whole number of swings: means of ten thousand
        let (first, last) = means.split_at(10);
        let mean_drift = (last.iter().sum::<f64>() - first.iter().sum::<f64>()) / 10.0;
        assert!(mean_drift.abs() <= 2e-6, "{mean_drift} {means:?}");
    }

    /// A bead on a line that moves sideways at a given speed: along the line it goes as it likes, across it goes with the line.
    #[test]
    fn a_prescribed_line_takes_its_bead_along() {
        let (line, across) = (Vec3::new(0.6, 0.8, 0.0), Vec3::new(-0.8, 0.6, 0.0));
        let gradient = Mat3::from_columns(&[across, Vec3::z(), Vec3::zeros()]);
        let (h, speed) = (0.1, 3.0);
        let at = |time: f64| {
            move |x: &Vec3| Constraints { g: gradient.transpose() * (x - speed * time * across), gradient }
        };
        let (mut x, mut v) = (Vec3::zeros(), 2.0 * line + speed * across);
        for step in 1..=50 {
            let (to, middle) = drift(&x, &v, h, &gradient, at(f64::from(step) * h));
            (x, v) = (to, project(&middle, &gradient, &Vec3::new(speed, 0.0, 0.0)));
        }
        let goal = 5.0 * (2.0 * line + speed * across);
        assert!((x - goal).amax() <= 1e-12 && (v - goal / 5.0).amax() <= 1e-12, "{x} {v}");
    }
}
