//! Forces of one instant on single nodes: what a contact needs to know the velocities that belong to its own time.
//!
//! For every node that may be touched and every group around it the potentials of that group that reach the node are a
//! patch of their own: eight hexes are one pass of the kernel. A force is asked for only where the interval of the group's
//! kick does not end at the instant of the contact, and found once an instant.

use super::clock::Clock;
use super::group::{Group, places_of_memory};
use crate::element::patch::{Patches, Scratch};
use crate::element::{PointState, Positions};
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::model::Model;
use std::collections::BTreeMap;

/// Potentials of one block and one group around one node.
struct Around {
    block: u32,
    patches: Patches,
    /// The node's place in each patch.
    own: Vec<u32>,
    /// Of laws that keep numbers: where those of each potential stand.
    memory: Vec<(u32, u32)>,
}

/// Motion of all nodes, and what the laws keep.
pub(crate) struct NodeStates<'a> {
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    pub tau: &'a [u64],
    pub memory: &'a [Vec<f64>],
}

/// Forces around nodes that may be touched.
#[derive(Default)]
pub(crate) struct InstantForces {
    around: Vec<Around>,
    /// By place in the list of groups of nodes.
    around_of: Lists,
    /// Tick and force that were found last.
    known: Vec<(u64, Vec3)>,
    /// Positions of the instant, where they were needed.
    x: Vec<Vec3>,
    slots: Vec<Vec3>,
    old: Vec<f64>,
    new: Vec<f64>,
    scratch: Scratch,
}

impl InstantForces {
    /// For the nodes marked in `asked`; `of_node` are the groups of each node.
    pub(crate) fn new(
        model: &Model,
        groups: &[Group],
        of_node: &Lists<(u32, u32)>,
        asked: &[bool],
    ) -> InstantForces {
        // (place in `of_node`, block, potential)
        let mut members: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (g, group) in groups.iter().enumerate() {
            for (block, potential) in group.members() {
                model.blocks[block as usize].mass_shares(
                    potential as usize,
                    &model.reference,
                    &mut |n, _| {
                        let mine = of_node.range(n);
                        let found = of_node.of(n).binary_search_by_key(&(g as u32), |p| p.0);
                        if let (true, Ok(k)) = (asked[n as usize], found) {
                            members.entry(((mine.start + k) as u32, block)).or_default().push(potential);
                        }
                    },
                );
            }
        }
        let places = of_node.items.len();
        let mut node_of = vec![0; places];
        for n in 0..of_node.len() as u32 {
            node_of[of_node.range(n)].fill(n);
        }
        let mut forces = InstantForces {
            known: vec![(u64::MAX, Vec3::zeros()); places],
            x: model.reference.clone(),
            scratch: Scratch::new(),
            ..InstantForces::default()
        };
        let (mut slots, mut numbers, mut of_place) = (0, 0, Vec::new());
        for ((k, block), mut potentials) in members {
            potentials.sort_unstable();
            potentials.dedup();
            let of = &model.blocks[block as usize];
            let patches = of.patches_of(&potentials, &model.reference);
            let node = node_of[k as usize];
            let own = |p: usize| patches.nodes(p).binary_search(&node).unwrap_or(0) as u32;
            for p in 0..patches.len() {
                slots = slots.max(patches.nodes(p).len());
                numbers = numbers.max(patches.range(p).len() * of.state_per_element());
            }
            let memory = match of.state_per_element() {
                0 => Vec::new(),
                _ => places_of_memory(model, block as usize, &patches),
            };
            let own = (0..patches.len()).map(own).collect();
            forces.around.push(Around { block, own, memory, patches });
            of_place.push(k);
        }
        forces.around_of = Lists::new(places, of_place.into_iter().zip(0..));
        forces.slots = vec![Vec3::zeros(); slots];
        forces.old = vec![0.0; numbers];
        forces.new = vec![0.0; numbers];
        forces
    }

    /// Internal force at `tick` on a node from one of its groups; `k` is the place of both.
    pub(crate) fn force(
        &mut self,
        k: usize,
        tick: u64,
        clock: &Clock,
        model: &Model,
        at: &NodeStates,
    ) -> Vec3 {
        if self.known[k].0 == tick {
            return self.known[k].1;
        }
        let mut force = Vec3::zeros();
        for around in self.around_of.of(k as u32).iter().map(|&i| &self.around[i as usize]) {
            let block = &model.blocks[around.block as usize];
            let per = block.state_per_element();
            for (p, &own) in around.own.iter().enumerate() {
                let nodes = around.patches.nodes(p);
                for &n in nodes {
                    let n = n as usize;
                    self.x[n] = at.x[n] + clock.between(at.tau[n], tick) * at.v[n];
                }
                let range = around.patches.range(p);
                let numbers = range.len() * per;
                if per > 0 {
                    let old = self.old.chunks_exact_mut(per);
                    for (to, &(patch, first)) in old.zip(&around.memory[range]) {
                        let first = first as usize;
                        to.copy_from_slice(&at.memory[patch as usize][first..first + per]);
                    }
                }
                let state = PointState { old: &self.old[..numbers], new: &mut self.new[..numbers] };
                let positions = Positions { reference: &model.reference, current: &self.x };
                let slots = &mut self.slots[..nodes.len()];
                block.force_pass_on(&around.patches, p, positions, state, false, &mut self.scratch, slots);
                force += slots[own as usize];
            }
        }
        self.known[k] = (tick, force);
        force
    }
}
