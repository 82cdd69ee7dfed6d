//! Surface nodes that look for contacts, and how often each does.

use super::impulses::DriftedView;
use super::options::{ContactStep, Longest};
use super::synchronised::When;
use crate::contact::scene::Scene;
use crate::math::Vec3;
use crate::model::Model;

/// Stands for a face nobody remembers.
pub(crate) const NOTHING: u32 = u32::MAX;

/// A surface node on its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contactor {
    pub node: u32,
    pub body: u32,
    /// Its step, or the longest if it follows its speed [ticks].
    pub step: u64,
    /// Edge of the cube, square or line it stands for [m].
    pub size: f64,
    /// How far it may travel [m]; zero if its step does not follow its speed.
    pub travel: f64,
    /// Target and side it was in when it last looked.
    pub known: (u32, u8),
    /// Where it was when it last looked, and one more than the tick; zero for never.
    pub seen: (Vec3, u64),
    /// Facet of an obstacle it has gone through and is not seen in.
    pub behind: u32,
    /// One more than the tick at which it last carried an impulse; zero for never.
    pub carried: u64,
}

impl Contactor {
    /// Since it last looked [s]; a whole step if it never has.
    pub(crate) fn seconds(&self, motion: &DriftedView) -> f64 {
        let When { tick, clock, .. } = motion.when;
        if self.seen.1 > 0 { clock.between(self.seen.1 - 1, tick) } else { clock.between(0, self.step) }
    }

    /// Where it was when it last looked, being at `y` now. Who has never looked went straight on.
    pub(crate) fn seen_before(&self, y: &Vec3, motion: &DriftedView) -> Vec3 {
        let (at, tick) = self.seen;
        if tick > 0 {
            return at;
        }
        y - motion.when.clock.between(0, self.step) * motion.v[self.node as usize]
    }
}

/// What steps of contact are made of [s].
pub(crate) struct Around<'a> {
    /// Shortest critical step around each node.
    pub local: &'a [f64],
    /// Of all moving elements.
    pub average: f64,
    /// Shortest step in use.
    pub smallest: f64,
    /// Of each node: time between the kicks that come most often [ticks], where steps fit each other.
    pub kicks: &'a [Option<u64>],
}

/// The longest step up to `step` that is a multiple of the time between kicks, or a half, a quarter … of it: the intervals
/// of these kicks end when the node looks, or a kick has just come, and no force has to be found for it.
fn in_rhythm(step: u64, kick: u64) -> u64 {
    if step >= kick {
        return step - step % kick;
    }
    let mut part = kick;
    while part > step && part.is_multiple_of(2) {
        part /= 2;
    }
    if part <= step { part } else { step }
}

/// A surface node and its step; none for nodes of obstacles.
pub(crate) fn contactor(
    node: u32,
    model: &Model,
    scene: &Scene,
    step_rule: ContactStep,
    around: &Around,
    tick: f64,
) -> Option<Contactor> {
    let n = node as usize;
    let body = scene.node_body[n];
    let of = model.bodies.get(body as usize)?;
    let longest = match step_rule {
        ContactStep::Local(share) => share * around.local[n],
        ContactStep::Smallest(share) => share * around.smallest,
        ContactStep::Adaptive { longest: Longest::Local(times), .. } => times * around.local[n],
        ContactStep::Adaptive { longest: Longest::Average(times), .. } => times * around.average,
    };
    let density = model.blocks[of.blocks.start].density();
    let volume = model.mass[n] / density / of.section;
    let size = volume.powf(1.0 / of.mesh.dimension().max(1) as f64);
    let travel = match step_rule {
        ContactStep::Adaptive { travel, .. } => travel * size,
        _ => 0.0,
    };
    let step = (longest / tick * (1.0 + 1e-9)).floor().clamp(1.0, 1e15) as u64;
    let step = match around.kicks[n] {
        Some(kick) if matches!(step_rule, ContactStep::Local(_)) => in_rhythm(step, kick),
        // what is fixed goes with the kicks of those it meets
        None if matches!(step_rule, ContactStep::Local(_)) => {
            let kick = (around.smallest / tick).round().max(1.0) as u64;
            in_rhythm(step.max(kick), kick)
        }
        _ => step,
    };
    Some(Contactor {
        node,
        body,
        step,
        size,
        travel,
        known: (NOTHING, 0),
        seen: (Vec3::zeros(), 0),
        behind: NOTHING,
        carried: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_fit_kicks_or_parts_of_them() {
        assert_eq!(
            [1024, 1500, 2048, 3071, 1023, 512, 300].map(|s| in_rhythm(s, 1024)),
            [1024, 1024, 2048, 2048, 512, 512, 256]
        );
        assert_eq!(in_rhythm(2, 3), 2);
    }
}
