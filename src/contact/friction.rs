//! Coulomb's law: the tangential part of a contact impulse is at most μ times its normal part.
//!
//! `scale_to_cone` keeps the normal part and shortens the rest. That is Coulomb's law wherever the inverse mass
//! along the pair is isotropic, for then the shortened impulse opposes the sliding that is left.
//!
//! Read by the responses in `method/`.

use crate::math::Vec3;

/// How much of the impulse `rest` that would stop all sliding can be had beside the normal impulse `normal · n`:
/// the largest `s ≤ 1` for which `normal · n + s · rest` lies in the cone, `s|t| ≤ μ (normal + s n·rest)`.
///
/// `rest` is tangential unless restraints couple the directions; `normal ≥ 0`.
#[inline]
pub fn scale_to_cone(normal: f64, rest: &Vec3, n: &Vec3, mu: f64) -> f64 {
    let along = n.dot(rest);
    let excess = (rest - along * n).norm() - mu * along;
    if excess <= mu * normal { 1.0 } else { mu * normal / excess }
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
}
