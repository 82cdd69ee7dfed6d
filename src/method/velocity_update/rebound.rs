//! What the update will give along normals, for friction of the middle of the step.
//!
//! ```text
//! ‖t_T‖ ≤ μ (t_N + e)        e = k t_N / Δt,   k of the normal quadratics (`update.rs`) at this iterate
//! ```
//!
//! A node that meets a surface after the share s of a step gets 2mv(1 − s) in its middle and 2mvs at its end: it is one landing, of 2mv. **Why e.** Friction that is
//! measured by the pressure of the middle alone lets a node that lands late slip, though its landing could hold it. What it slipped is given back in velocity at the end of
//! the step, but it stands in the wrong place: the elements pull it there to and fro, every second landing has more along the surface than it can hold, and bodies that should
//! stick lose energy, of first order in the step. With e friction is within μ times the normal impulse of the whole step, and what sticks does so from the start of the step on.
//!
//! **Why e ≤ 9 t_N.** A node that lands just before the end of a step, with hardly any pressure in the middle, would be held from the start of the step on; one that does not quite land is
//! free. Between the two there may be no solution: friction by e opens the point that it belongs to, without friction it closes, and iterates go round. (So did
//! two points of `stick-base-2d` and `slope-mesh`, all else being settled, in steps of 52 to 173 iterations.) With e in proportion to t_N for landings of the last tenth of a step, friction goes to zero with
//! the pressure. The same bound holds among neighbours, whose impulses depend on each other. Where the elements tie slip to the gap, friction of ten times μ may still open the point that it belongs to, whatever
//! the pressure: who opens with e has a tenth of that bound when it closes again.
//!
//! Energy and momenta are kept whatever e is, so it need not be exact: it is found together with every increment, several times as that comes near its end, and stays once it is near enough.

use super::equations::{Equations, Work};
use super::mass::Mass;
use super::multipliers::NEARLY;
use super::traction::{Contact, Last, Rebound};
use super::update::{Answer, Pressed, normal_impulses};
use crate::math::Vec3;
use crate::method::contact_world::ContactWorld;
use crate::model::Model;
use crate::solve::sparse::FactorError;

/// How far the cone of the middle of the step may be from that of the whole step.
const NEAR: f64 = 1e-3;
/// Changes of the cone that are not worth another increment.
const STAYS: f64 = 0.2 * NEAR;
/// e over the pressure of the middle of the step, at most: what lands in the last tenth of a step is held the less the later it comes.
pub(super) const LATE: f64 = 9.0;
/// What is left of that bound each time that the point opens with e.
const LESS: f64 = 0.1;
/// Where e is at this bound.
const ROUND_OFF: f64 = 1e-6;
/// How often e is found for the same increment: it asks for friction, and friction changes it.
const PASSES: u32 = 4;
/// Share of a change of e that is taken at least.
const LEAST: f64 = 0.1;

/// How e of a point has changed last [Pa], and the share of that which was taken; how often the point has opened with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Swing {
    change: f64,
    share: f64,
    opened: u32,
}

impl Swing {
    /// The change to take: more of e may mean more friction, less pressure and less of e again, by as much or more. What turns round is looked for
    /// in between (secant).
    fn damped(&mut self, change: f64) -> f64 {
        let share = match self.change * change < 0.0 {
            true => (self.share * self.change / (self.change - change)).max(LEAST),
            false => 1.0,
        };
        (self.change, self.share) = (change, share);
        share * change
    }

    /// The point has opened though it had e.
    pub(super) fn open(&mut self, rebound: &mut Rebound) {
        self.opened += 1;
        rebound.share = rebound.share.min(self.late());
    }

    /// e over the pressure, at most.
    fn late(&self) -> f64 {
        LATE * LESS.powi(self.opened as i32)
    }
}

impl Equations<'_> {
    /// After an increment was found: what the update would give where it leads, with the tractions that it foresees, and what else the increment is with friction
    /// that knows of it, by the same factors. Returns by how much the cones of points that slip are wider [Pa].
    pub(super) fn foresee_rebound(&mut self) -> Result<Vec<f64>, FactorError> {
        if !self.work.rubs() {
            return Ok(vec![0.0; self.work.contacts.len()]);
        }
        let mut wider = vec![0.0; self.work.contacts.len()];
        for _ in 0..if self.relative > NEARLY { 1 } else { PASSES } {
            let more = self.foresee_once()?;
            wider.iter_mut().zip(&more).for_each(|(w, m)| *w += m);
            if more.iter().all(|m| *m == 0.0) {
                break;
            }
        }
        Ok(wider)
    }

    fn foresee_once(&mut self) -> Result<Vec<f64>, FactorError> {
        let (step, soft) = ((self.h, self.t1), self.work.points.soft);
        self.work.end_velocities(self.model, step);
        let Work { velocity, unknowns, increment, contacts, last, scheme, .. } = &mut *self.work;
        let answer = |k: usize| if k < soft { unknowns.expand(k, increment) } else { Vec3::zeros() };
        (0..soft).for_each(|k| velocity[k] += 2.0 / self.h * answer(k));
        let foreseen = |c: &Contact| Pressed {
            pressure: match last[c.point as usize] {
                Last::Foreseen(traction, _) => traction.normal,
                _ => c.pressure,
            },
            closing: c.closing_with(*scheme, answer),
        };
        let pressed: Vec<Pressed> = contacts.iter().map(foreseen).collect();
        let found = self.work.rebounds(self.world, &pressed, self.h);
        self.work.take_up(&pressed, &found)
    }
}

/// e of a point that presses so: a share of its pressure where that bounds it.
fn worth(e: f64, pressure: f64, late: f64) -> Rebound {
    match e > 0.0 && e >= late * (1.0 - ROUND_OFF) * pressure {
        true => Rebound { share: late, beyond: 0.0 },
        false => Rebound { share: 0.0, beyond: e },
    }
}

impl Work {
    /// Friction asks for what the update does.
    fn rubs(&self) -> bool {
        self.whole_cone && self.contacts.iter().any(|c| c.law.mu > 0.0)
    }

    /// Takes up impulses that are worth the pressures `found` where they are others than before, and adds to the increment what they are to friction of
    /// points that slip.
    fn take_up(&mut self, pressed: &[Pressed], found: &[f64]) -> Result<Vec<f64>, FactorError> {
        let Work {
            contacts,
            rebound,
            swing,
            unknowns,
            points,
            system,
            increment,
            last,
            scheme,
            accuracy,
            ..
        } = self;
        let soft = points.soft;
        let mut part = vec![0.0; unknowns.count];
        let mut more = vec![0.0; contacts.len()];
        for (((contact, found), pressed), more) in contacts.iter().zip(found).zip(pressed).zip(&mut more) {
            let known = &mut rebound[contact.point as usize];
            let grown = found - known.at(pressed.pressure);
            if grown.abs() <= STAYS * (pressed.pressure.max(0.0) + found) {
                continue;
            }
            let grown = swing[contact.point as usize].damped(grown);
            let late = swing[contact.point as usize].late();
            *known = worth(known.at(pressed.pressure) + grown, pressed.pressure, late);
            if contact.slips {
                *more = grown;
                let forces = contact.forces_of_friction(grown);
                for (f, &k) in forces.iter().zip(&contact.middle.nodes[..contact.middle.count]) {
                    if (k as usize) < soft {
                        unknowns.add_to_unknowns(k as usize, f, &mut part);
                    }
                }
            }
        }
        if more.iter().all(|m| *m == 0.0) {
            return Ok(more);
        }
        accuracy.solve(system, &mut part)?;
        let answer = |k: usize| if k < soft { unknowns.expand(k, &part) } else { Vec3::zeros() };
        for (contact, &more) in contacts.iter().zip(&more) {
            if let Last::Foreseen(traction, _) = &mut last[contact.point as usize] {
                contact.add_to(traction, contact.change(*scheme, answer), more);
            }
        }
        increment.iter_mut().zip(&part).for_each(|(x, d)| *x += d);
        Ok(more)
    }

    /// Pressures that impulses of the update are worth, for contacts that press so.
    fn rebounds(&mut self, world: &ContactWorld, pressed: &[Pressed], h: f64) -> Vec<f64> {
        let Work { contacts, mass, unknowns, velocity, swing, .. } = self;
        let answer = match mass {
            Mass::Lumped => Answer::Lumped(&world.inertia),
            Mass::Consistent(mass) => Answer::Consistent(mass, unknowns),
        };
        let mut found = normal_impulses(contacts, pressed, answer, velocity, h);
        for ((e, contact), pressed) in found.iter_mut().zip(contacts.iter()).zip(pressed) {
            *e = e.min(swing[contact.point as usize].late() * pressed.pressure.max(0.0));
        }
        found
    }

    /// Does friction know the impulses of the update in the step `(h, t1)`, if it ended here?
    pub(super) fn knows_rebound(&mut self, model: &Model, world: &ContactWorld, step: (f64, f64)) -> bool {
        if !self.rubs() {
            return true;
        }
        let found = self.rebounds_now(model, world, step);
        self.contacts.iter().zip(found).all(|(c, found)| c.knows(found, NEAR))
    }

    /// Takes them up where friction is not what they allow.
    pub(super) fn take_up_rebound(&mut self, model: &Model, world: &ContactWorld, step: (f64, f64)) {
        let found = self.rebounds_now(model, world, step);
        for (contact, found) in self.contacts.iter().zip(found).filter(|(c, found)| !c.knows(*found, NEAR)) {
            let late = self.swing[contact.point as usize].late();
            self.rebound[contact.point as usize] = worth(found, contact.pressure, late);
        }
    }

    fn rebounds_now(&mut self, model: &Model, world: &ContactWorld, (h, t1): (f64, f64)) -> Vec<f64> {
        self.end_velocities(model, (h, t1));
        let now: Vec<Pressed> =
            self.contacts.iter().map(|c| Pressed { pressure: c.pressure, closing: c.closing }).collect();
        self.rebounds(world, &now, h)
    }

    /// `v̂ = 2Δd/Δt − v`, held directions as prescribed, and velocities of obstacles, at the end `t1` of a step of length `h`.
    pub(super) fn end_velocities(&mut self, model: &Model, (h, t1): (f64, f64)) {
        let soft = self.points.soft;
        for k in 0..soft {
            self.velocity[k] = 2.0 / h * (self.places[2][k] - self.x[k]) - self.v[k];
        }
        self.points.velocities(model, t1, &self.places[2], &mut self.velocity);
        if let Mass::Lumped = self.mass {
            for held in &model.restraints.held {
                let v = &mut self.velocity[held.node as usize];
                *v = held.free * *v + model.restraints.velocity(held, t1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where e answers to itself by −g, e = 1 − g e is found in two changes for any g, though each alone would go to and fro for ever where g ≥ 1.
    #[test]
    fn what_goes_to_and_fro_is_found_in_between() {
        for gain in [0.1, 1.0, 3.0] {
            let (mut e, mut swing) = (0.0, Swing::default());
            for _ in 0..2 {
                e += swing.damped(1.0 - gain * e - e);
            }
            assert!((e - 1.0 / (1.0 + gain)).abs() < 1e-14, "{gain}: {e}");
        }
    }

    /// e beyond nine times the pressure is in proportion to it, below that it is itself; without pressure there is none.
    #[test]
    fn late_landings_are_in_proportion_to_their_pressure() {
        assert_eq!(worth(2.0, 1.0, LATE), Rebound { share: 0.0, beyond: 2.0 });
        assert_eq!(worth(9.0, 1.0, LATE), Rebound { share: LATE, beyond: 0.0 });
        assert_eq!(worth(0.0, -1.0, LATE).at(-1.0), 0.0);
        assert_eq!(worth(9.0, 1.0, LATE).at(0.5), 4.5);
    }
}
