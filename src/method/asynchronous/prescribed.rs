//! Prescribed motion: at ticks of their own supports take up the velocity that brings them to their next place.

use super::Asynchronous;
use super::groups::Groups;
use crate::model::{Model, State};
use std::collections::BTreeMap;

/// Prescribed nodes that take up their next velocity at the same ticks.
pub(crate) struct PrescribedGroup {
    pub step: u64,
    pub next: u64,
    /// Places among the held nodes.
    pub held: Vec<u32>,
}

/// Prescribed nodes by the shortest step around them.
pub(crate) fn all(model: &Model, groups: &Groups) -> Vec<PrescribedGroup> {
    let mut by_step: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (i, held) in model.restraints.held.iter().enumerate().filter(|h| !h.1.prescribed.is_empty()) {
        if let Some(step) = groups.shortest_step(held.node as usize) {
            by_step.entry(step).or_default().push(i as u32);
        }
    }
    by_step.into_iter().map(|(step, held)| PrescribedGroup { step, next: 0, held }).collect()
}

impl Asynchronous {
    /// Held directions of prescribed nodes: on the way to where they must be by the next time.
    pub(super) fn prescribe(&mut self, i: usize, tick: u64, model: &Model, state: &mut State) -> u64 {
        let group = &mut self.prescribed[i];
        let next = tick + group.step;
        let (time, h) = (self.clock.time(next), self.clock.between(tick, next));
        for &held in &group.held {
            let support = &model.restraints.held[held as usize];
            let (n, m) = (support.node as usize, model.mass[support.node as usize]);
            state.x[n] += self.clock.between(self.tau[n], tick) * state.v[n];
            self.tau[n] = tick;
            let goal = model.reference[n] + model.restraints.displacement(support, time);
            let way = goal - state.x[n];
            let before = state.v[n];
            state.v[n] = support.free * before + (way - support.free * way) / h;
            let impulse = m * (state.v[n] - before);
            let sums = &mut self.sums;
            sums.external += 0.5 * impulse.dot(&(state.v[n] + before));
            sums.impulse += impulse;
            sums.moment += state.x[n].cross(&impulse);
            self.groups.support[held as usize] += impulse;
            self.collisions.notice_speed(state.v[n].norm_squared(), tick);
        }
        group.next = next;
        next
    }
}
