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
//! Energy and momenta are kept whatever e is, so it need not be exact: it is that of an iterate before, and stays once it is near enough.

use super::equations::{Equations, Work};
use super::mass::Mass;
use super::traction::{Contact, Last};
use super::update::{Answer, Pressed, normal_impulses};
use crate::math::Vec3;
use crate::method::contact_world::ContactWorld;
use crate::model::Model;
use crate::solve::sparse::FactorError;

/// How far the cone of the middle of the step may be from that of the whole step.
const NEAR: f64 = 1e-3;
/// Changes of the cone that are not worth another increment.
const STAYS: f64 = 0.2 * NEAR;

impl Equations<'_> {
    /// After an increment was found: what the update would give where it leads, with the tractions that it foresees, and what else the increment is with friction
    /// that knows of it, by the same factors. Returns by how much the cones of points that slip are wider [Pa].
    pub(super) fn foresee_rebound(&mut self) -> Result<Vec<f64>, FactorError> {
        if !self.work.rubs() {
            return Ok(vec![0.0; self.work.contacts.len()]);
        }
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

    /// Does friction know the impulses at the end of the step?
    pub(super) fn knows_rebound(&mut self) -> bool {
        self.work.knows_rebound(self.model, self.world, (self.h, self.t1))
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
        let Work { contacts, rebound, unknowns, points, system, increment, last, scheme, .. } = self;
        let soft = points.soft;
        let mut part = vec![0.0; unknowns.count];
        let mut more = vec![0.0; contacts.len()];
        for (((contact, found), pressed), more) in contacts.iter().zip(found).zip(pressed).zip(&mut more) {
            let known = &mut rebound[contact.point as usize];
            if (found - *known).abs() <= STAYS * (pressed.pressure.max(0.0) + found) {
                continue;
            }
            let grown = found - std::mem::replace(known, *found);
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
        system.solve(&mut part)?;
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
        let Work { contacts, mass, unknowns, velocity, .. } = self;
        let answer = match mass {
            Mass::Lumped => Answer::Lumped(&world.inertia),
            Mass::Consistent(mass) => Answer::Consistent(mass, unknowns),
        };
        normal_impulses(contacts, pressed, answer, velocity, h)
    }

    /// Takes up the impulses of the update in the step `(h, t1)`, if it ended here, where friction is not what they allow; false if there was any such point.
    pub(super) fn knows_rebound(&mut self, model: &Model, world: &ContactWorld, (h, t1): (f64, f64)) -> bool {
        if !self.rubs() {
            return true;
        }
        self.end_velocities(model, (h, t1));
        let now: Vec<Pressed> =
            self.contacts.iter().map(|c| Pressed { pressure: c.pressure, closing: c.closing }).collect();
        let found = self.rebounds(world, &now, h);
        let mut known = true;
        for (contact, found) in self.contacts.iter().zip(found) {
            if !contact.knows(found, NEAR) {
                self.rebound[contact.point as usize] = found;
                known = false;
            }
        }
        known
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
