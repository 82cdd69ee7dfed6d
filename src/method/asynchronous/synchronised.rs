//! The state of one instant.
//!
//! A kick stands for an interval of length h that ends at c. At a time t the impulses of the kicks have been given for
//! intervals that end at their own c, and what is too much or too little is given back in proportion:
//!
//! ```text
//! x(t) = x + (t − τ) v        vˢ(t) = v + W Σ (c − t) (f(x(t)) − m_i b)        E = ½ Σ m |vˢ|² + Σ V(x(t))
//! ```
//!
//! The forces are those of the instant itself. Then an elastic impact that is answered with vˢ leaves E exactly as it
//! was: it changes v and vˢ alike and nothing else. With the forces of the last kicks instead, which are older, every
//! impact adds a little: two bars that look at 0.73 of their step gain 60 % of their energy.
//!
//! Copies that are looked at are never written back.

use super::clock::Clock;
use super::fixed::FREE;
use super::group::{At, Group, KickSums};
use super::groups::Groups;
use super::instant::NodeStates;
use crate::math::Vec3;
use crate::model::{Model, State};
use carom_declare::words;

/// What a look at all potentials at one time found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub kinetic: f64,
    pub strain: f64,
    pub hourglass: f64,
    pub det_f: f64,
    /// Smallest ratio of the stable step now to the step used.
    pub reserve: f64,
    /// What gravity, loads, drag and supports have done beyond the kicks, or not yet.
    pub sums: KickSums,
}

impl Groups {
    #[inline]
    fn excess(group: &Group, tick: u64, phase: Phase, clock: &Clock) -> f64 {
        let end = match phase {
            Phase::Centred => group.next as i64 - (group.step / 2) as i64,
            Phase::Paper => group.next as i64,
        };
        (end - tick as i64) as f64 * clock.tick
    }

    /// Velocity of a node that belongs to `tick`. Loads count with the force of their last kick.
    pub(crate) fn synchronised_velocity(
        &mut self,
        node: usize,
        when: &When,
        model: &Model,
        at: &NodeStates,
    ) -> Vec3 {
        let When { tick, phase, ref clock } = *when;
        let v = at.v[node];
        let mut back = Vec3::zeros();
        let body = self.fixed.body[node] as usize;
        for k in self.of_node.range(node as u32) {
            let (g, i) = self.of_node.items[k];
            let group = &self.list[g as usize];
            let excess = Groups::excess(group, tick, phase, clock);
            if excess == 0.0 {
                continue;
            }
            // a kick at this very tick has found the force already
            let mut force = match group.is_load() || group.next == tick + group.step {
                true => group.force[i as usize],
                false => self.instant.force(k, tick, clock, model, at),
            };
            if !self.fixed.plain {
                let share = group.share[i as usize];
                force += share * (self.work.drag[body] * v - self.work.pull[body]);
            }
            back += excess * force;
        }
        match self.fixed.held[node] {
            FREE => v + self.fixed.inv_mass[node] * back,
            h => v + self.fixed.inv_mass[node] * (model.restraints.held[h as usize].free * back),
        }
    }

    /// Gravity for synchronised velocities from now on.
    pub(crate) fn set_pull(&mut self, model: &Model, when: &When) {
        if !self.fixed.plain {
            self.work.look_up(model, when.clock.time(when.tick));
        }
    }

    /// Positions and velocities of all nodes at `tick` into `x` and `v`, and what they amount to. Nothing of the motion
    /// is touched.
    pub(crate) fn measure(
        &mut self,
        when: &When,
        model: &Model,
        state: &State,
        tau: &[u64],
        stiffness: bool,
        out: &mut Synchronised,
    ) -> Measured {
        let When { tick, phase, ref clock } = *when;
        out.tick = tick;
        let time = clock.time(tick);
        let Synchronised { x, v, force, .. } = out;
        for (i, (x, v)) in x.iter_mut().zip(v.iter_mut()).enumerate() {
            *x = state.x[i] + clock.between(tau[i], tick) * state.v[i];
            *v = Vec3::zeros();
        }
        let Groups { list, fixed, work, .. } = self;
        let mut all = Measured { det_f: f64::INFINITY, reserve: f64::INFINITY, ..Measured::default() };
        work.look_up(model, time);
        // outer impulse of each node beyond the kicks
        let (outer, loads) = (&mut out.outer, &mut out.loads);
        outer.fill(Vec3::zeros());
        loads.fill(Vec3::zeros());
        for group in list.iter_mut() {
            let force = &mut force[..group.nodes.len()];
            group.evaluate(At { model, time, x, measure: stiffness }, &state.material.old, work, force);
            let found = group.found(work);
            all.strain += found.energy;
            all.hourglass += found.hourglass;
            all.det_f = all.det_f.min(found.det_f);
            all.reserve = all.reserve.min(found.step / clock.between(0, group.step));
            let excess = Groups::excess(group, tick, phase, clock);
            for ((&n, f), &share) in group.nodes.iter().zip(&*force).zip(&group.share) {
                let (n, body) = (n as usize, fixed.body[n as usize] as usize);
                let mut back = *f;
                if !fixed.plain {
                    let (pull, drag) = (share * work.pull[body], share * work.drag[body] * state.v[n]);
                    back += drag - pull;
                    outer[n] -= excess * (pull - drag);
                }
                if group.is_load() {
                    loads[n] += excess * f;
                }
                v[n] += excess * back;
            }
            all.sums.external += match group.is_load() {
                true => group.load_work(force, x),
                false => group.weight_work(&work.pull, x),
            };
        }
        for (n, v) in v.iter_mut().enumerate() {
            let (raw, given, inv) = (state.v[n], *v, fixed.inv_mass[n]);
            *v = raw + inv * given;
            let held = fixed.held[n];
            if held != FREE {
                let support = &model.restraints.held[held as usize];
                *v = support.free * *v + model.restraints.velocity(support, time);
            }
            let mean = 0.5 * (raw + *v);
            all.kinetic += 0.5 / inv * v.norm_squared();
            if !fixed.plain || loads[n] != Vec3::zeros() {
                let body = fixed.body[n] as usize;
                // drag is part of the outer impulse and has an account of its own
                let drag = self_drag(list, self.of_node.of(n as u32), tick, phase, clock) * work.drag[body];
                all.sums.damping -= drag * state.v[n].dot(&mean);
                let mut impulse = outer[n] + loads[n];
                if held != FREE {
                    let reaction = (*v - raw) / inv - given;
                    all.sums.external += reaction.dot(&mean);
                    impulse += reaction;
                    out.support[held as usize] = reaction;
                }
                all.sums.impulse += impulse;
                all.sums.moment += x[n].cross(&impulse);
            }
        }
        all
    }
}

/// `Σ (c − t) m_i` of a node [kg s].
fn self_drag(list: &[Group], mine: &[(u32, u32)], tick: u64, phase: Phase, clock: &Clock) -> f64 {
    mine.iter()
        .map(|&(g, i)| {
            Groups::excess(&list[g as usize], tick, phase, clock) * list[g as usize].share[i as usize]
        })
        .sum()
}

/// An instant, and how kicks lie around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub tick: u64,
    pub phase: Phase,
    pub clock: Clock,
}

words! {
    /// When in the interval it stands for a kick happens.
    pub enum Phase {
        /// In its middle: equal steps are leapfrog.
        Centred = "centred",
        /// At its start, as the paper prints it: equal steps are symplectic Euler, and velocities at contacts are wrong by the
        /// order of the step.
        Paper = "start",
    }
}

/// A copy in which every node stands at one time.
#[derive(Default)]
pub(crate) struct Synchronised {
    pub tick: u64,
    pub x: Vec<Vec3>,
    pub v: Vec<Vec3>,
    /// What the supports have given beyond the kicks, or not yet.
    pub support: Vec<Vec3>,
    force: Vec<Vec3>,
    outer: Vec<Vec3>,
    loads: Vec<Vec3>,
}

impl Synchronised {
    pub(crate) fn new(model: &Model) -> Synchronised {
        let zero = vec![Vec3::zeros(); model.reference.len()];
        Synchronised {
            tick: 0,
            x: zero.clone(),
            v: zero.clone(),
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            force: zero.clone(),
            outer: zero.clone(),
            loads: zero,
        }
    }
}
