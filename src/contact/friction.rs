//! Coulomb's law: the tangential part of a contact impulse is at most μ times its normal part.
//!
//! `scale_to_cone` keeps the normal part and shortens the rest. That is Coulomb's law wherever the inverse mass
//! along the pair is isotropic, for then the shortened impulse opposes the sliding that is left.
//!
//! `project_to_cone` goes to the nearest point of the cone. It is one step of an iteration and a measure of what is
//! left of it, and no law by itself: the law is the fixed point of a projection of a force against a velocity,
//!
//! ```text
//! r = P( r − ρ (u_t + (u_n + μ|u_t|) n) )     for any ρ > 0
//! ```
//!
//! There vectors have the components (n, t₁, t₂) of `tangent_frame`; forces act on the side n points to.
//!
//! Read by the responses in `method/` and the contact solvers in `solve/`.

use crate::math::{Mat3, Vec3};
use carom_declare::words;

words! {
    /// What sticking does to the slip of a contact that is answered by an impact of its own.
    pub enum Stick {
        /// Turns it round by the restitution of the normal, `e_t = e`: where e = 1 sticking loses nothing.
        Elastic = "elastic",
        /// Stops it, `e_t = 0`, as the schemes were published.
        Plastic = "plastic",
    }
}

// Why elastic: with e = 1 contact chatters at the frequency of the mesh, and the slip that builds up in flight is tangential
// vibration. To stop it at every landing takes h² of energy a node in each chatter, from h⁻² nodes: a loss that no finer mesh
// makes smaller.
impl Stick {
    /// Share of the slip that comes back, where the normal has restitution `e`.
    #[inline(always)]
    pub fn restitution(self, e: f64) -> f64 {
        match self {
            Stick::Elastic => e,
            Stick::Plastic => 0.0,
        }
    }
}

/// How much of the impulse `rest` that would stop all sliding can be had beside the normal impulse `normal · n`:
/// the largest `s ≤ 1` for which `normal · n + s · rest` lies in the cone, `s|t| ≤ μ (normal + s n·rest)`.
///
/// `rest` is tangential unless restraints couple the directions; `normal ≥ 0`.
#[inline]
pub(crate) fn scale_to_cone(normal: f64, rest: &Vec3, n: &Vec3, mu: f64) -> f64 {
    let along = n.dot(rest);
    let excess = (rest - along * n).norm() - mu * along;
    if excess <= mu * normal { 1.0 } else { mu * normal / excess }
}

/// The point of the cone `|r_t| ≤ μ r_n` next to `r`; components (n, t₁, t₂).
#[inline]
pub(crate) fn project_to_cone(r: &Vec3, mu: f64) -> Vec3 {
    // not `hypot`, which takes as long as the rest
    let slide = (r.y * r.y + r.z * r.z).sqrt();
    if mu * slide <= -r.x {
        Vec3::zeros()
    } else if slide <= mu * r.x {
        *r
    } else {
        // beyond the cone's side, so `slide` is positive
        let excess = (slide - mu * r.x) / (1.0 + mu * mu);
        let kept = 1.0 - excess / slide;
        Vec3::new(r.x + mu * excess, kept * r.y, kept * r.z)
    }
}

/// The velocity whose projection the law is: `u_t + (u_n + μ|u_t|) n`; components (n, t₁, t₂).
#[inline]
pub(crate) fn law_velocity(u: &Vec3, mu: f64) -> Vec3 {
    Vec3::new(u.x + mu * (u.y * u.y + u.z * u.z).sqrt(), u.y, u.z)
}

/// Rows n, t₁, t₂: the first tangent from the axis that is farthest from `n` (the first of them), the second to the
/// right of both.
#[inline]
pub(crate) fn tangent_frame(n: &Vec3) -> Mat3 {
    let mut axis = 0;
    for k in 1..3 {
        if n[k].abs() < n[axis].abs() {
            axis = k;
        }
    }
    let mut t1 = -n[axis] * n;
    t1[axis] += 1.0;
    let t1 = t1.normalize();
    let t2 = n.cross(&t1);
    Mat3::from_rows(&[n.transpose(), t1.transpose(), t2.transpose()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;

    #[test]
    fn what_is_left_of_an_impulse_lies_in_the_cone_and_no_more_would() {
        let mut dice = Dice(3);
        for _ in 0..1000 {
            let n = dice.point(1.0).normalize();
            let (rest, normal, mu) = (dice.point(2.0), dice.between(0.0, 2.0), dice.between(0.0, 1.5));
            let s = scale_to_cone(normal, &rest, &n, mu);
            let outside = |s: f64| {
                let j = normal * n + s * rest;
                (j - n.dot(&j) * n).norm() - mu * n.dot(&j)
            };
            assert!((0.0..=1.0).contains(&s));
            assert!(outside(s) <= 1e-14);
            assert!(s == 1.0 || outside(s + 1e-6) > 0.0);
        }
    }

    const FRICTION: [f64; 6] = [0.0, 0.05, 0.2, 0.5, 1.0, 2.0];

    fn outside(r: &Vec3, mu: f64) -> f64 {
        r.y.hypot(r.z) - mu * r.x
    }

    /// Moreau: r = P + (r − P) with P in the cone, r − P in its polar cone and normal to P. And projections are never
    /// farther apart than what is projected. In the plane (t₂ = 0) and in space.
    #[test]
    fn a_projection_on_the_cone_is_the_nearest_point_of_it() {
        let mut dice = Dice(4);
        let mut before = (Vec3::zeros(), Vec3::zeros());
        for i in 0..40_000 {
            let mu = FRICTION[i % 6];
            let size = 10f64.powf(dice.between(-3.0, 3.0));
            let mut r = dice.point(size);
            if i % 12 < 6 {
                r.z = 0.0;
            }
            let p = project_to_cone(&r, mu);
            let (tolerance, rest) = (1e-14 * r.norm(), r - p);
            assert!(outside(&p, mu) <= tolerance && p.x >= 0.0);
            assert!((project_to_cone(&p, mu) - p).norm() <= tolerance);
            assert!(rest.x + mu * rest.y.hypot(rest.z) <= tolerance * (1.0 + mu), "polar {rest:?}");
            assert!(p.dot(&rest).abs() <= tolerance * r.norm());
            // nearer than any other point of the cone
            let (n, angle, share) = (dice.between(0.0, 10.0), dice.between(0.0, 6.3), dice.unit());
            let other = Vec3::new(n, share * mu * n * angle.cos(), share * mu * n * angle.sin());
            assert!(rest.dot(&(other - p)) <= 1e-14 * (r.norm() + other.norm()).powi(2));
            if i % 6 == 0 {
                before = (r, p);
            }
            let earlier = project_to_cone(&before.0, mu);
            assert!((p - earlier).norm() <= (r - before.0).norm() * (1.0 + 1e-14) + tolerance);
        }
    }

    /// Random pairs that part, stick or slide; a force and a velocity that do neither.
    #[test]
    fn what_parts_sticks_or_slides_is_a_fixed_point_and_loses_what_friction_takes() {
        let mut dice = Dice(5);
        for i in 0..30_000 {
            let mu = FRICTION[i % 6];
            let (n, angle) = (dice.between(0.1, 5.0), dice.between(0.0, 6.3));
            let along = Vec3::new(0.0, angle.cos(), angle.sin());
            let (r, u) = match i % 3 {
                0 => (Vec3::zeros(), Vec3::new(n, 0.0, 0.0) + dice.between(0.0, 3.0) * along),
                1 => (n * Vec3::x() + dice.unit() * mu * n * along, Vec3::zeros()),
                _ => (n * Vec3::x() + mu * n * along, -dice.between(0.0, 3.0) * along),
            };
            let rho = 10f64.powf(dice.between(-2.0, 2.0));
            let again = project_to_cone(&(r - rho * law_velocity(&u, mu)), mu);
            assert!((again - r).norm() <= 1e-12, "{r:?} {u:?} {rho}");
            // in watts for each newton times metre per second
            let bipotential =
                |u: &Vec3, r: &Vec3| (mu * r.x * u.y.hypot(u.z) + u.dot(r)) / (1.0 + u.norm() * r.norm());
            assert!(bipotential(&u, &r).abs() <= 1e-14);
            // any admissible pair loses no less
            let free = Vec3::new(dice.between(0.0, 2.0), dice.between(-2.0, 2.0), dice.between(-2.0, 2.0));
            assert!(bipotential(&free, &r) >= -1e-15);
        }
    }

    #[test]
    fn a_frame_is_right_handed_and_comes_from_the_normal() {
        let mut dice = Dice(6);
        for i in 0..1000 {
            let n = if i == 0 { Vec3::z() } else { dice.point(1.0).normalize() };
            let q = tangent_frame(&n);
            assert!((q * q.transpose() - Mat3::identity()).norm() < 1e-15 * 10.0);
            assert!((q.row(0).transpose() - n).norm() == 0.0 && q.determinant() > 0.0);
        }
    }
}
