//! What loads, supports, damping and contact did in a step, and who is told.
//!
//! With `v⁺ = 2Δd/Δt − v` the gain of kinetic energy is `M (v⁺ − v)·Δd/Δt`: exactly the work of all forces of the step on the way of their nodes.
//! What then changes velocities at the end, prescribed supports and the update, does the mean velocity times its impulse.

use super::mass::Mass;
use super::traction::Contact;
use super::update::{Answer, Update};
use super::{Scheme, VelocityUpdate};
use crate::math::Vec3;
use crate::method::impulses::Carried;
use crate::model::{Ledger, Model, State};

impl VelocityUpdate {
    /// Loads, damping and supports on the way. Forces at the end of the step count half, those of its start the other half.
    pub(super) fn book_motion(&mut self, model: &Model, state: &State, h: f64, ledger: &mut Ledger) {
        let (work, last) = (&self.work, &mut self.last);
        let both = work.scheme == Scheme::End;
        let mean = |now: Vec3, before: &mut Vec3| {
            let before = std::mem::replace(before, now);
            if both { 0.5 * (now + before) } else { now }
        };
        let mut slow = vec![Vec3::zeros(); state.x.len()];
        for body in model.bodies.iter().filter(|b| b.damping > 0.0) {
            body.nodes.clone().for_each(|k| slow[k] = body.damping / h * (state.x[k] - work.x[k]));
        }
        let mut slowed = Vec::new();
        work.mass.times(model, &slow, &mut slowed);
        let mut held = model.restraints.held.iter().enumerate().peekable();
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let way = state.x[k] - work.x[k];
                let at = work.x[k] + 0.5 * way;
                let load = mean(work.external[k], &mut last.load[k]);
                ledger.external += load.dot(&way);
                ledger.damping += slowed[k].dot(&way);
                let mut push = h * (load - slowed[k]);
                if let Some((i, support)) = held.next_if(|h| h.1.node as usize == k) {
                    let lacks = work.inertia[k] + work.elements.at(k) - work.external[k] - work.pushed[k];
                    let given = mean(lacks - support.free * lacks, &mut last.support[i]);
                    ledger.external += given.dot(&way);
                    push += h * given;
                    self.support[i] += h * given;
                }
                ledger.impulse += push;
                ledger.moment += at.cross(&push);
            }
        }
    }

    /// Held directions end with the velocity of their supports; with a consistent mass with that of the midpoint rule, which others depend on.
    pub(super) fn prescribe(&mut self, model: &Model, t1: f64, ledger: &mut Ledger) {
        if matches!(self.work.mass, Mass::Consistent(_)) {
            return;
        }
        for (i, held) in model.restraints.held.iter().enumerate() {
            let k = held.node as usize;
            let (m, v) = (model.mass[k], self.velocity[k]);
            let prescribed = held.free * v + model.restraints.velocity(held, t1);
            let given = m * (prescribed - v);
            ledger.external += 0.5 * given.dot(&(prescribed + v));
            ledger.impulse += given;
            ledger.moment += self.work.places[2][k].cross(&given);
            self.support[i] += given;
            self.velocity[k] = prescribed;
        }
    }

    /// Contact in the middle of the step to `t1`, and the update of velocities.
    pub(super) fn book_middle(&mut self, model: &Model, h: f64, t1: f64, ledger: &mut Ledger) {
        let contacts = std::mem::take(&mut self.work.contacts);
        let points = &self.work.points;
        let soft = points.soft;
        let answer = match &mut self.work.mass {
            Mass::Lumped => Answer::Lumped(&self.world.inertia),
            Mass::Consistent(mass) => Answer::Consistent(mass, &self.work.unknowns),
        };
        let update = Update::new(self.options.update, &contacts, answer, &self.velocity, h);
        let mut given: Vec<(u32, Vec3)> = Vec::new();
        for (l, contact) in contacts.iter().enumerate() {
            let bodies = [
                points.list[contact.point as usize].body,
                points.masters[contact.middle.facet as usize].body,
            ];
            let own = usize::from(points.list[contact.point as usize].slave.count);
            let mut on_slave = Vec3::zeros();
            let (start, middle, end) = (&self.work.places[0], &self.work.places[1], &self.work.places[2]);
            let mut count = |k: u32, i: usize, j: Vec3, at: Vec3, way: Vec3| {
                if i < own {
                    on_slave += j;
                }
                if (k as usize) < soft {
                    self.world.impulses.received[k as usize] += j;
                } else {
                    // what an obstacle receives it gives back
                    ledger.impulse -= j;
                    ledger.moment -= at.cross(&j);
                    ledger.external -= j.dot(&way);
                }
            };
            for (i, &k) in contact.middle.nodes[..contact.middle.count].iter().enumerate() {
                let n = k as usize;
                count(k, i, h * contact.force(i), middle[n], (end[n] - start[n]) / h);
            }
            for (&k, (i, &j)) in
                contact.end.nodes[..contact.end.count].iter().zip(update.impulses[l].iter().enumerate())
            {
                count(k, i, j, end[k as usize], self.velocity[k as usize]);
                if (k as usize) < soft {
                    given.push((k, j));
                }
            }
            ledger.friction += update.friction[l];
            self.world.impulses.count(carried(contact, own, bodies, middle, on_slave));
        }
        match self.work.mass {
            Mass::Lumped => self.apply(model, t1, &given, ledger),
            Mass::Consistent(_) => self.apply_consistent(model, &given, ledger),
        }
        ledger.restitution += update.kept;
        ledger.correction += update.correction;
        self.counts.bounded += u64::from(update.bounded > 0);
        self.work.contacts = contacts;
    }

    /// Impulses on nodes at the end of the step; supports answer what their directions receive.
    fn apply(&mut self, model: &Model, t1: f64, given: &[(u32, Vec3)], ledger: &mut Ledger) {
        let restraints = &model.restraints;
        for &(k, j) in given {
            let k = k as usize;
            let answer = self.world.inertia.projectors[self.world.inertia.kind[k] as usize] * j;
            let free = if self.world.inertia.fixed(k) { Vec3::zeros() } else { answer };
            if let Ok(i) = restraints.held.binary_search_by_key(&(k as u32), |h| h.node) {
                let reaction = free - j;
                ledger.external += reaction.dot(&restraints.velocity(&restraints.held[i], t1));
                ledger.impulse += reaction;
                ledger.moment += self.work.places[2][k].cross(&reaction);
                self.support[i] += reaction;
            }
            self.velocity[k] += self.world.inertia.inverse[k] * free;
        }
    }

    /// The same with a mass that couples nodes.
    fn apply_consistent(&mut self, model: &Model, given: &[(u32, Vec3)], ledger: &mut Ledger) {
        let work = &mut self.work;
        let Mass::Consistent(mass) = &mut work.mass else { return };
        let mut answer = vec![0.0; work.unknowns.count];
        let mut total = vec![Vec3::zeros(); work.points.soft];
        for &(k, j) in given {
            total[k as usize] += j;
            work.unknowns.add_to_unknowns(k as usize, &j, &mut answer);
        }
        if given.is_empty() || mass.answer(&mut answer).is_err() {
            return;
        }
        let change: Vec<Vec3> = (0..total.len()).map(|k| work.unknowns.expand(k, &answer)).collect();
        let mut gained = Vec::new();
        work.mass.times(model, &change, &mut gained);
        for (i, held) in model.restraints.held.iter().enumerate() {
            let k = held.node as usize;
            let lacks = gained[k] - total[k];
            let reaction = lacks - held.free * lacks;
            ledger.external += reaction.dot(&self.velocity[k]);
            ledger.impulse += reaction;
            ledger.moment += work.places[2][k].cross(&reaction);
            self.support[i] += reaction;
        }
        self.velocity.iter_mut().zip(&change).for_each(|(v, c)| *v += c);
    }

    /// Springs at the end of the step; forces of contact as the mean of both ends.
    pub(super) fn book_end(&mut self, model: &Model, state: &State, h: f64, ledger: &mut Ledger) {
        let contacts = std::mem::take(&mut self.work.contacts);
        let points = &self.work.points;
        let soft = points.soft;
        let [mut pressed, mut rubbed] = [(); 2].map(|()| vec![Vec3::zeros(); points.nodes()]);
        ledger.contact = 0.0;
        for contact in &contacts {
            let (overlap, law) = (contact.end.overlap, contact.law);
            ledger.contact += 0.5 * contact.weight * law.normal * overlap * overlap;
            let point = &points.list[contact.point as usize];
            let mut on_slave = Vec3::zeros();
            for (i, &k) in contact.middle.nodes[..contact.middle.count].iter().enumerate() {
                let (n, f) = (k as usize, contact.force(i));
                pressed[n] += f;
                rubbed[n] += contact.shear_force(i);
                if i < usize::from(point.slave.count) {
                    on_slave += h * f;
                }
                if n < soft {
                    self.world.impulses.received[n] += h * f;
                }
            }
            let bodies = [point.body, points.masters[contact.end.facet as usize].body];
            let (own, middle) = (usize::from(point.slave.count), &self.work.places[1]);
            self.world.impulses.count(carried(contact, own, bodies, middle, on_slave));
        }
        let (start, end) = (&self.work.places[0], &self.work.places[2]);
        for k in 0..points.nodes() {
            let (way, at) = (end[k] - start[k], 0.5 * (end[k] + start[k]));
            ledger.friction -= 0.5 * (rubbed[k] + self.last.rubbed[k]).dot(&way);
            if k >= soft {
                // what an obstacle receives it gives back
                let j = 0.5 * h * (pressed[k] + self.last.pressed[k]);
                ledger.impulse -= j;
                ledger.moment -= at.cross(&j);
                ledger.external -= j.dot(&way) / h;
            }
        }
        (self.last.pressed, self.last.rubbed) = (pressed, rubbed);
        for k in 0..soft {
            let way = state.x[k] - self.work.x[k];
            self.work.a[k] = 4.0 / (h * h) * (way - h * self.work.v[k]) - self.work.a[k];
        }
        for held in &model.restraints.held {
            let a = &mut self.work.a[held.node as usize];
            *a = held.free * *a;
        }
        self.work.contacts = contacts;
    }
}

/// A point that carried `impulse` on its slave, whose nodes are the first `own` of the contact.
fn carried(contact: &Contact, own: usize, bodies: [u32; 2], x: &[Vec3], impulse: Vec3) -> Carried {
    let m = &contact.middle;
    let nodes = (0..own).map(|i| (m.n[i], x[m.nodes[i] as usize]));
    Carried::by_nodes([contact.point, m.facet, 0, 0], bodies, nodes, -contact.end.overlap, impulse)
}
