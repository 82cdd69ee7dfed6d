//! All kicks: potentials of one step length go together.
//!
//! Potentials with the same step are always kicked at the same ticks, so all of them are one batch: with classes a
//! handful of groups hold everything, with free steps a group may be a single element. Loads go with the shortest step
//! around them, as groups of their own.

use super::fixed::Fixed;
use super::group::{At, Group, Kick, KickSums, Nodes, Work};
use super::instant::InstantForces;
use super::synchronised::When;
use crate::element::Pass;
use crate::element::patch::Scratch;
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::model::{Model, State};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// All groups of a model.
pub(crate) struct Groups {
    pub list: Vec<Group>,
    pub fixed: Fixed,
    /// Impulse of the support of each held node [N s].
    pub support: Vec<Vec3>,
    /// Groups of each node, as (group, place in it).
    pub of_node: Lists<(u32, u32)>,
    pub work: Work,
    pub instant: InstantForces,
}

impl Groups {
    /// `steps` holds the step of every potential of every block in ticks. For use inside the current rayon pool.
    pub(crate) fn new(model: &Model, steps: &[Vec<Option<u64>>]) -> Groups {
        let mut members: BTreeMap<u64, BTreeMap<usize, Vec<u32>>> = BTreeMap::new();
        for (b, steps) in steps.iter().enumerate() {
            for (p, step) in steps.iter().enumerate() {
                if let Some(step) = step {
                    members.entry(*step).or_default().entry(b).or_default().push(p as u32);
                }
            }
        }
        let mut list: Vec<Group> =
            members.iter().map(|(&step, members)| Group::of_potentials(model, step, members)).collect();
        // a load goes with the shortest step around
        let mut shortest = vec![u64::MAX; model.reference.len()];
        for group in &list {
            group.nodes.iter().for_each(|&n| shortest[n as usize] = shortest[n as usize].min(group.step));
        }
        let mut loads: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (l, load) in model.loads.iter().enumerate() {
            let step = load.nodes(model.reference.len()).iter().map(|&n| shortest[n as usize]).min();
            if let Some(step) = step.filter(|s| *s != u64::MAX) {
                loads.entry(step).or_default().push(l);
            }
        }
        list.extend(loads.into_iter().map(|(step, loads)| Group::of_loads(model, step, loads)));

        let pairs = list.iter().enumerate().flat_map(|(g, group)| {
            group.nodes.iter().enumerate().map(move |(i, &n)| (n, (g as u32, i as u32)))
        });
        let of_node = Lists::new(model.reference.len(), pairs);
        let slots = list.iter().map(|g| g.tasks.len() * g.stride).max().unwrap_or(0);
        let passes = list.iter().map(|g| g.tasks.len()).max().unwrap_or(0);
        Groups {
            fixed: Fixed::new(model),
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            of_node,
            work: Work {
                slots: vec![Vec3::zeros(); slots],
                force: Vec::with_capacity(list.iter().map(|g| g.nodes.len()).max().unwrap_or(0)),
                passes: vec![Pass::default(); passes],
                scratch: (0..=rayon::current_num_threads()).map(|_| Mutex::new(Scratch::new())).collect(),
                pull: vec![Vec3::zeros(); model.bodies.len()],
                pull_at: f64::NAN,
                drag: model.bodies.iter().map(|b| b.damping).collect(),
            },
            instant: InstantForces::default(),
            list,
        }
    }

    /// Prepares for questions about the nodes marked in `asked`, see [`Groups::synchronised_velocity`].
    pub(crate) fn prepare(&mut self, model: &Model, asked: &[bool]) {
        self.instant = InstantForces::new(model, &self.list, &self.of_node, asked);
    }

    /// Shortest step of the potentials around a node [ticks].
    pub(crate) fn shortest_step(&self, node: usize) -> Option<u64> {
        self.of(node).iter().map(|&(g, _)| self.list[g as usize].step).min()
    }

    #[inline]
    pub(crate) fn of(&self, node: usize) -> &[(u32, u32)] {
        self.of_node.of(node as u32)
    }

    /// Drifts the nodes of a group to `tick` and kicks them. Nothing but the drift is done if a potential fails; then
    /// the smallest det F comes back.
    pub(crate) fn kick(
        &mut self,
        g: usize,
        when: &When,
        model: &Model,
        state: &mut State,
        tau: &mut [u64],
    ) -> Result<KickSums, f64> {
        let When { tick, ref clock, .. } = *when;
        let Groups { list, fixed, support, work, .. } = self;
        let group = &mut list[g];
        let (time, weight) = (clock.time(tick), clock.between(0, group.step));
        let State { x, v, material, .. } = state;
        group.drift(tick, clock, &mut Nodes { x, v, tau });
        if fixed.plain && !group.is_load() {
            group.pass(At { model, time, x, measure: false }, &material.old, work);
            group.check(work)?;
            group.remember(&mut material.old);
            let speed_squared = group.kick_plain(weight, fixed, &work.slots, v);
            return Ok(KickSums { speed_squared, ..KickSums::default() });
        }
        let mut force = std::mem::take(&mut work.force);
        force.resize(group.nodes.len(), Vec3::zeros());
        group.evaluate(At { model, time, x, measure: false }, &material.old, work, &mut force);
        let work_of_loads = if group.is_load() { group.load_work(&force, x) } else { 0.0 };
        std::mem::swap(&mut group.force, &mut force);
        work.force = force;
        group.settle(x);
        group.check(work)?;
        group.remember(&mut material.old);
        work.look_up(model, time);
        let kick = Kick { model, fixed, weight, pull: &work.pull, drag: &work.drag };
        let mut sums = group.kick(&kick, x, v, support);
        sums.external += work_of_loads + group.weight_work(&work.pull, x);
        group.settle_weights(&work.pull, x);
        Ok(sums)
    }

    /// Loads and weights as they are at the start.
    pub(crate) fn begin(&mut self, model: &Model, state: &State) {
        self.work.look_up(model, state.time);
        for group in &mut self.list {
            group.settle_weights(&self.work.pull, &state.x);
        }
        for group in self.list.iter_mut().filter(|g| g.is_load()) {
            let mut force = std::mem::take(&mut group.force);
            let at = At { model, time: state.time, x: &state.x, measure: false };
            group.evaluate(at, &state.material.old, &mut self.work, &mut force);
            group.force = force;
            group.settle(&state.x);
        }
    }
}
