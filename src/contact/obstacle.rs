//! Rigid obstacles: bodies that rest or move as prescribed and are never integrated.
//!
//! An obstacle's nodes stand in the position slice of the scene like all others. Whoever owns that slice
//! places them from the undeformed shape and a [`Pose`], before every search:
//!
//! ```text
//! x = c + d + R (X − c)          v(x) = ḋ + ω × (x − c − d)
//! ```
//!
//! with the centre c, the displacement d and the turn R about the centre. A plane has two nodes, a point on it
//! and the tip of its normal; it moves like the others.

use crate::math::{Mat3, Vec3};

/// Where a rigid obstacle stands, and how it moves, at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Point about which it turns, before the displacement [m].
    pub centre: Vec3,
    /// Shift of the centre [m].
    pub displacement: Vec3,
    /// Rotation about the centre.
    pub turn: Mat3,
    /// Velocity of the centre [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s].
    pub spin: Vec3,
}

impl Pose {
    /// At rest where it was drawn.
    pub fn rest() -> Pose {
        let zero = Vec3::zeros();
        Pose { centre: zero, displacement: zero, turn: Mat3::identity(), velocity: zero, spin: zero }
    }

    /// Steady motion, `time` after the start.
    pub fn steady(centre: Vec3, velocity: Vec3, spin: Vec3, time: f64) -> Pose {
        let turn = nalgebra::Rotation3::new(spin * time).into_inner();
        Pose { centre, displacement: velocity * time, turn, velocity, spin }
    }

    /// Where the material point `reference` stands [m].
    #[inline]
    pub fn place(&self, reference: &Vec3) -> Vec3 {
        self.centre + self.displacement + self.turn * (reference - self.centre)
    }

    /// Velocity of the material point that stands at `x` [m/s].
    #[inline]
    pub(crate) fn velocity_at(&self, x: &Vec3) -> Vec3 {
        self.velocity + self.spin.cross(&(x - self.centre - self.displacement))
    }

    /// Mean velocity until it stands as `to`, `dt` later, of the material point that stands at `y` [m/s].
    pub(crate) fn velocity_until(&self, to: &Pose, y: &Vec3, dt: f64) -> Vec3 {
        if self == to {
            return Vec3::zeros();
        }
        let drawn = self.centre + self.turn.transpose() * (y - self.centre - self.displacement);
        (to.place(&drawn) - self.place(&drawn)) / dt
    }

    /// Places all nodes of an obstacle.
    pub(crate) fn place_all(&self, reference: &[Vec3], x: &mut [Vec3]) {
        for (to, from) in x.iter_mut().zip(reference) {
            *to = self.place(from);
        }
    }
}

/// How rigid obstacles move: those of one instant, or on the way from one to another.
#[derive(Clone, Copy)]
pub enum Poses<'a> {
    /// With the velocities of the instant.
    At(&'a [Pose]),
    /// With their mean velocities over `dt` [s].
    Over { from: &'a [Pose], to: &'a [Pose], dt: f64 },
}

impl Poses<'_> {
    pub(crate) fn count(&self) -> usize {
        match self {
            Poses::At(poses) => poses.len(),
            Poses::Over { from, .. } => from.len(),
        }
    }

    /// Velocity of obstacle `i` at a point [m/s]; zero if there is no such obstacle.
    pub(crate) fn velocity(&self, i: usize, at: &Vec3) -> Vec3 {
        match *self {
            Poses::At(poses) => poses.get(i).map_or(Vec3::zeros(), |pose| pose.velocity_at(at)),
            Poses::Over { from, to, dt } => {
                from.get(i).map_or(Vec3::zeros(), |pose| pose.velocity_until(&to[i], at, dt))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// dx/dt by central differences is the velocity field; error O(h²).
    #[test]
    fn the_velocity_of_a_turning_obstacle_is_the_rate_of_its_positions() {
        let (c, v, w) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.3, -0.2, 0.1), Vec3::new(0.5, 1.0, -2.0));
        let (at, t, h) = (Vec3::new(2.0, -1.0, 0.5), 0.7, 1e-4);
        let x = |t: f64| Pose::steady(c, v, w, t).place(&at);
        let rate = (x(t + h) - x(t - h)) / (2.0 * h);
        let pose = Pose::steady(c, v, w, t);
        assert!((rate - pose.velocity_at(&pose.place(&at))).norm() < 1e-6);
        assert_eq!(Pose::rest().place(&at), at);
    }
}
