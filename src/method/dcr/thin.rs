//! Bodies so thin that others may pass through them in one step: nodes are found inside down to a share of an edge, and behind
//! the middle of a wall they are nearer to its far side.

use super::collisions::Collisions;
use crate::contact::octree::Aabb;
use crate::contact::three_stage::Way;
use crate::math::Vec3;

/// Share of its thickness that another may move into a body in one step and still be nearer to where it came in.
const HALF: f64 = 0.5;

impl Collisions {
    /// Can somebody pass through a thin body in this step? Ways have been measured.
    pub(super) fn may_pass(&self, ways: &[Way]) -> bool {
        let bodies = || self.world.scene.bodies.iter().enumerate();
        let thin = self.thickness.iter().enumerate().filter(|t| t.1.is_finite());
        for (t, &thickness) in thin {
            let fast = |b: usize| {
                let (p, q) = (&ways[t], &ways[b]);
                (p.displacement - q.displacement).norm() + p.deviation + q.deviation > HALF * thickness
            };
            let mut others = bodies()
                .filter(|b| b.0 != t && self.world.scene.may_meet(t as u32, b.0 as u32) && fast(b.0))
                .peekable();
            if others.peek().is_none() {
                continue;
            }
            let mine = self.extent(t);
            if others.any(|(b, body)| body.plane || mine.meets(&self.extent(b))) {
                return true;
            }
        }
        false
    }

    /// Where a body is from the start of the step to its end.
    fn extent(&self, body: usize) -> Aabb {
        let mut all = Aabb::EMPTY;
        let slots = &self.world.scene.bodies[body].slots;
        for &k in &self.world.scene.slots[slots.start as usize..slots.end as usize] {
            let mut add = |p: &Vec3| all.add(p.as_ref());
            add(&self.start[k as usize]);
            add(&self.world.x[k as usize]);
        }
        all
    }
}
