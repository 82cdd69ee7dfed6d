//! Impact zones (Provot 1997; Bridson, Fedkiw & Anderson 2002): nodes that keep their places to each other in a step.
//!
//! Features that still meet on the way of a step after some rounds of contact are tied together. Zones only grow, and in a zone nothing moves
//! against anything, so tying ends.
//!
//! Used by `dcr` for displacements and by `semi-explicit` for velocities.

use super::response::pseudo_inverse;
use crate::contact::crossing::Meeting;
use crate::contact::scene::Scene;
use crate::math::sets::Sets;
use crate::math::{Mat3, Vec3};

#[derive(Clone, Debug, Default)]
pub(crate) struct Zones {
    together: Sets,
    /// Nodes of all zones, those of one beside each other.
    members: Vec<u32>,
}

impl Zones {
    /// Nobody of so many nodes is tied to anybody.
    pub(crate) fn open(&mut self, nodes: usize) {
        if self.together.len() != nodes {
            self.together.reset(nodes);
        }
        self.together.separate(&self.members);
        self.members.clear();
    }

    /// Ties the nodes of everything that meets.
    pub(crate) fn tie(&mut self, scene: &Scene, meetings: &[Meeting]) {
        let Zones { together, members } = self;
        for meeting in meetings {
            let first = members.len();
            members.extend(meeting.of.nodes(scene));
            members[first..].windows(2).for_each(|k| {
                together.join(k[0], k[1]);
            });
        }
        members.sort_unstable_by_key(|&k| (together.lowest(k), k));
        members.dedup();
    }

    /// The nodes of each zone.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.members.chunk_by(|&a, &b| self.together.lowest(a) == self.together.lowest(b))
    }
}

/// The motion that nodes of a zone share: that of the held among them along the directions in which they are held, beside that their mean by
/// mass. Of each node: mass [kg], none for those of obstacles; projector on the directions it can move in; motion of its own.
pub(crate) fn shared_motion(nodes: impl Iterator<Item = (f64, Mat3, Vec3)>) -> Option<Vec3> {
    let (mut mass, mut mean) = (0.0, Vec3::zeros());
    let (mut held, mut prescribed) = (Mat3::zeros(), Vec3::zeros());
    for (m, mobility, motion) in nodes {
        let fixed = Mat3::identity() - mobility;
        held += fixed;
        prescribed += fixed * motion;
        mass += m;
        mean += m * motion;
    }
    let range = pseudo_inverse(&held);
    (mass > 0.0).then(|| range * prescribed + (Mat3::identity() - range * held) * (mean / mass))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Free nodes share the velocity of their centre of mass; beside one that is held along x, and an obstacle that moves up, all go with
    /// these where they are held: x from the one, y and z shared by both, the obstacle's x counting half.
    #[test]
    fn a_zone_goes_with_whoever_is_held() {
        let (free, along_x) = (Mat3::identity(), Mat3::from_diagonal(&Vec3::new(0.0, 1.0, 1.0)));
        let light = (1.0, free, Vec3::new(4.0, 0.0, 8.0));
        let heavy = (3.0, free, Vec3::new(0.0, 4.0, 0.0));
        let guided = (2.0, along_x, Vec3::new(1.0, 0.0, 0.0));
        let obstacle = (0.0, Mat3::zeros(), Vec3::new(0.0, 0.0, 5.0));
        let near = |found: Option<Vec3>, x: f64, y: f64, z: f64| {
            assert!((found.unwrap() - Vec3::new(x, y, z)).norm() < 1e-14);
        };
        near(shared_motion([light, heavy].into_iter()), 1.0, 3.0, 2.0);
        near(shared_motion([light, guided].into_iter()), 1.0, 0.0, 8.0 / 3.0);
        near(shared_motion([light, heavy, obstacle].into_iter()), 0.0, 0.0, 5.0);
        near(shared_motion([light, guided, obstacle].into_iter()), 0.5, 0.0, 5.0);
        assert!(shared_motion([obstacle].into_iter()).is_none());
    }
}
