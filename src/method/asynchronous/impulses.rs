//! Impulses of contact: given to the nodes at the instant of their contact, and booked.

use super::fixed::FREE;
use super::groups::Groups;
use super::instant::NodeStates;
use super::options::ContactVelocity;
use super::synchronised::When;
use crate::contact::pair::Pair;
use crate::math::{Mat3, Vec3};
use crate::method::contact_world::ContactWorld;
use crate::method::impulses::Carried;
use crate::method::response::Impact;
use crate::model::inertia::Inertia;
use crate::model::record::{Record, RecordError};
use crate::model::{Model, State};

/// Positions that each hold at a tick of their own, seen at one tick.
#[derive(Clone, Copy)]
pub(crate) struct DriftedView<'a> {
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    pub tau: &'a [u64],
    pub when: When,
}

impl DriftedView<'_> {
    #[inline]
    pub(crate) fn at(&self, node: u32) -> Vec3 {
        let n = node as usize;
        // nobody is ever ahead of the events
        self.x[n] + self.when.clock.between(self.tau[n], self.when.tick) * self.v[n]
    }
}

/// Everything that a contact may change.
pub(crate) struct ContactContext<'a> {
    pub model: &'a Model,
    pub groups: &'a mut Groups,
    pub state: &'a mut State,
    pub tau: &'a mut [u64],
    pub when: When,
}

impl ContactContext<'_> {
    pub(crate) fn motion(&self) -> DriftedView<'_> {
        DriftedView { x: &self.state.x, v: &self.state.v, tau: self.tau, when: self.when }
    }
}

/// Velocities and inverse masses of a few nodes, counted from zero.
pub(crate) struct Local {
    pub v: [Vec3; 9],
    pub inv_mass: [Mat3; 9],
}

impl Local {
    pub(crate) fn of(
        nodes: &[u32],
        velocity: ContactVelocity,
        inertia: &Inertia,
        context: &mut ContactContext,
    ) -> Local {
        let mut local = Local { v: [Vec3::zeros(); 9], inv_mass: [Mat3::zeros(); 9] };
        for (k, &n) in nodes.iter().enumerate() {
            local.v[k] = context.velocity_of(n, velocity);
            local.inv_mass[k] = inertia.of(n as usize);
        }
        local
    }
}

impl ContactContext<'_> {
    /// Velocity of a node as contacts see it [m/s].
    pub(crate) fn velocity_of(&mut self, node: u32, velocity: ContactVelocity) -> Vec3 {
        let ContactContext { model, groups, state, tau, when } = self;
        let n = node as usize;
        match velocity {
            ContactVelocity::Synchronised => {
                groups.set_pull(model, when);
                let at = NodeStates { x: &state.x, v: &state.v, tau, memory: &state.material.old };
                groups.synchronised_velocity(n, when, model, &at)
            }
            ContactVelocity::Raw => state.v[n],
        }
    }
}

/// What contact has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub friction: f64,
    pub restitution: f64,
    /// Put in to lift what overlaps at rest.
    pub correction: f64,
    pub external: f64,
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Times a node or an edge has looked, impulses, and nodes found too deep to know where they came from.
    pub checks: u64,
    pub kicks: u64,
    pub too_deep: u64,
    /// Time of the last impulse [s].
    pub last: f64,
    /// Largest |v|² after an impulse since this was last asked [m²/s²].
    pub speed_squared: f64,
}

impl Tally {
    /// Gives the nodes of a pair, whose points count in `nodes`, their impulses, and books them.
    pub(crate) fn give(
        &mut self,
        world: &mut ContactWorld,
        pair: &Pair,
        nodes: &[u32],
        impact: &Impact,
        bodies: [u32; 2],
        context: &mut ContactContext,
    ) {
        let j = impact.impulse();
        let tally = self;
        let (tick, clock) = (context.when.tick, context.when.clock);
        let State { x, v, .. } = &mut *context.state;
        for (k, w) in pair.stencil() {
            let n = nodes[k] as usize;
            x[n] += clock.between(context.tau[n], tick) * v[n];
            context.tau[n] = tick;
            let given = w * j;
            world.impulses.received[n] += given;
            let fixed = &context.groups.fixed;
            let push = world.inertia.of(n) * given;
            v[n] += push;
            let held = fixed.held[n];
            if held != FREE {
                // what the support takes
                let reaction = push / fixed.inv_mass[n] - given;
                tally.external += reaction.dot(&v[n]);
                tally.impulse += reaction;
                tally.moment += x[n].cross(&reaction);
                context.groups.support[held as usize] += reaction;
            }
            tally.speed_squared = tally.speed_squared.max(v[n].norm_squared());
        }
        if let Some(outer) = pair.outer {
            tally.external += j.dot(&outer.velocity);
            tally.impulse += j;
            let centre: Vec3 = pair.stencil().map(|(k, w)| w * x[nodes[k] as usize]).sum();
            tally.moment += centre.cross(&j);
        }
        tally.restitution += impact.lost_normal;
        tally.correction += impact.lifted;
        tally.friction += impact.lost_friction;
        tally.kicks += 1;
        tally.last = clock.time(tick);
        let carried = Carried::by_pair(pair, bodies, |k| x[nodes[k] as usize], j);
        world.impulses.count(Carried { time: tally.last, ..carried });
    }

    pub(crate) fn save(&self, record: &mut Record) {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        record.counts(&name("counts"), &[self.checks, self.kicks, self.too_deep]);
        let numbers = [self.friction, self.restitution, self.correction, self.external, self.last];
        record.numbers(&name("numbers"), &numbers);
        record.vectors(&name("vectors"), &[self.impulse, self.moment]);
    }

    pub(crate) fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        [self.checks, self.kicks, self.too_deep] = record.read_counts(&name("counts"))?;
        [self.friction, self.restitution, self.correction, self.external, self.last] =
            record.read_values(&name("numbers"))?;
        self.speed_squared = 0.0;
        record.vectors_to(&name("vectors"), [&mut self.impulse, &mut self.moment])
    }
}
