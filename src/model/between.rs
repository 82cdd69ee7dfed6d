//! Internal forces of a whole model between two configurations, see [`crate::element::Block::force_between`].
//!
//! Every potential has slots of its own for the forces on its stencil; a node adds its slots in the order of the potentials.
//! Both orders are fixed by the model, so the bits do not depend on threads.

use super::Model;
use crate::element::{Between, BetweenPass};
use crate::math::Vec3;
use rayon::prelude::*;

/// Potentials that one task does.
const CHUNK: usize = 64;

/// Working memory for forces between two configurations of one model.
pub struct ForcesBetween {
    /// (block, first potential, end) of every task, and its slots.
    tasks: Vec<(u32, u32, u32)>,
    slots: Vec<Vec<Vec3>>,
    passes: Vec<BetweenPass>,
    /// Slots of each node, as (task, slot): `slot_of[start[n]..start[n + 1]]`.
    start: Vec<u32>,
    slot_of: Vec<(u32, u32)>,
}

impl ForcesBetween {
    /// Memory for `model`; an error names the body whose elements have no such forces.
    pub fn new(model: &Model) -> Result<ForcesBetween, String> {
        if let Some(b) = model.blocks.iter().position(|b| !b.conserves()) {
            return Err(model.body_of_block(b).name.clone());
        }
        let mut forces = ForcesBetween {
            tasks: Vec::new(),
            slots: Vec::new(),
            passes: Vec::new(),
            start: vec![0; model.reference.len() + 1],
            slot_of: Vec::new(),
        };
        for (b, block) in model.blocks.iter().enumerate() {
            for first in (0..block.potentials()).step_by(CHUNK) {
                let end = (first + CHUNK).min(block.potentials());
                forces.tasks.push((b as u32, first as u32, end as u32));
                let mut count = 0;
                for p in first..end {
                    count += block.stencil(p).len();
                    block.stencil(p).iter().for_each(|&n| forces.start[n as usize + 1] += 1);
                }
                forces.slots.push(vec![Vec3::zeros(); count]);
                forces.passes.push(BetweenPass::default());
            }
        }
        for n in 0..model.reference.len() {
            forces.start[n + 1] += forces.start[n];
        }
        let mut next = forces.start.clone();
        forces.slot_of = vec![(0, 0); forces.start.last().map_or(0, |n| *n as usize)];
        for (t, &(b, first, end)) in forces.tasks.iter().enumerate() {
            let nodes = (first..end).flat_map(|p| model.blocks[b as usize].stencil(p as usize));
            for (slot, &n) in nodes.enumerate() {
                forces.slot_of[next[n as usize] as usize] = (t as u32, slot as u32);
                next[n as usize] += 1;
            }
        }
        Ok(forces)
    }

    /// Evaluates all forces between `start` and `end`; the energy is that of the end.
    pub fn evaluate(&mut self, model: &Model, start: &[Vec3], end: &[Vec3]) -> BetweenPass {
        let between = Between { reference: &model.reference, start, end };
        let tasks = self.tasks.par_iter().zip(self.slots.par_iter_mut()).zip(self.passes.par_iter_mut());
        tasks.for_each(|((&(b, first, last), slots), pass)| {
            let block = &model.blocks[b as usize];
            *pass = BetweenPass { energy: 0.0, det_f: f64::INFINITY };
            let mut rest = &mut slots[..];
            for p in first as usize..last as usize {
                let (own, others) = rest.split_at_mut(block.stencil(p).len());
                rest = others;
                let one = block.force_between(p, between, own);
                pass.energy += one.energy;
                pass.det_f = pass.det_f.min(one.det_f);
            }
        });
        let mut total = BetweenPass { energy: 0.0, det_f: f64::INFINITY };
        for pass in &self.passes {
            total.energy += pass.energy;
            total.det_f = total.det_f.min(pass.det_f);
        }
        total
    }

    /// Force on one node [N] from the last pass.
    #[inline]
    pub fn at(&self, node: usize) -> Vec3 {
        let own = &self.slot_of[self.start[node] as usize..self.start[node + 1] as usize];
        own.iter().map(|&(task, slot)| self.slots[task as usize][slot as usize]).sum()
    }
}
