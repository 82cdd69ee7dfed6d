//! What touches, one contact after the other.

use super::{Simulation, Stage};
use crate::math::Vec3;

/// A contact that carried an impulse in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPair {
    /// In the order of [`Simulation::body_names`].
    pub bodies: [u32; 2],
    /// Where [m].
    pub point: Vec3,
    /// Unit normal, towards the first body.
    pub normal: Vec3,
    /// As the method found it [m]: negative for an overlap.
    pub gap: f64,
    /// On the first body in this step [N s].
    pub impulse: Vec3,
}

impl Simulation {
    /// Bodies, then obstacles.
    pub fn body_names(&self) -> Vec<&str> {
        self.case().map_or(Vec::new(), |case| {
            let bodies = case.model.bodies.iter().map(|b| b.name.as_str());
            bodies.chain(case.model.contact.obstacles.iter().map(|o| o.name.as_str())).collect()
        })
    }

    /// What carried an impulse in the last step, each contact once; with `asynchronous` in the time of the longest one of its
    /// steps. Nothing before the first step, also of a resumed run.
    pub fn contact_pairs(&self) -> Vec<ContactPair> {
        let Stage::Running(run, ..) = &self.stage else { return Vec::new() };
        let Some(impulses) = run.case.method.impulses() else { return Vec::new() };
        let mut all = impulses.carried.clone();
        // a contact that was answered several times: as it was found first, with all its impulses
        all.sort_by_key(|c| (c.bodies, c.id));
        all.dedup_by(|next, first| {
            let same = (next.bodies, next.id) == (first.bodies, first.id);
            if same {
                first.impulse += next.impulse;
            }
            same
        });
        let pair = |c: &crate::method::impulses::Carried| {
            let (bodies, point, normal, gap, impulse) = (c.bodies, c.point, c.normal, c.gap, c.impulse);
            ContactPair { bodies, point, normal, gap, impulse }
        };
        all.iter().map(pair).collect()
    }
}
