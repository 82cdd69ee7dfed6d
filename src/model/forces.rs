//! Internal forces of a whole model: every patch of every block, then each node's sum.
//!
//! Patches run in parallel, each into slots of its own; a node adds its slots in the order of the patches. Both
//! orders are fixed by the model, so the bits do not depend on threads.

use super::{MaterialState, Model, State};
use crate::element::patch::Scratch;
use crate::element::{Pass, PointState, Positions};
use crate::math::Vec3;
use crate::math::lists::Lists;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Working memory for force passes over one model.
pub struct Forces {
    /// (block, patch) of every task.
    tasks: Vec<(u32, u32)>,
    passes: Vec<Pass>,
    /// Forces on the local nodes of each patch, `stride` slots apart.
    slots: Vec<Vec3>,
    stride: usize,
    /// Slots of each node.
    slots_of: Lists,
    /// One for each thread that may come, and one for the caller.
    scratch: Vec<Mutex<Scratch>>,
}

/// What a force pass over the model found.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Strain energy [J], hourglass part included.
    pub strain: f64,
    pub hourglass: f64,
    /// Largest strain energy of a patch [J].
    pub patch_energy: f64,
    /// Smallest det F of any point.
    pub det_f: f64,
    /// Smallest stable step [s]; infinite if it was not asked for.
    pub step: f64,
}

impl Forces {
    /// Memory for `model`, for use inside the current rayon pool.
    pub fn new(model: &Model) -> Self {
        let tasks: Vec<(u32, u32)> = model
            .blocks
            .iter()
            .enumerate()
            .flat_map(|(b, block)| (0..block.patches().len()).map(move |p| (b as u32, p as u32)))
            .collect();
        let nodes = |&(b, p): &(u32, u32)| model.blocks[b as usize].patches().nodes(p as usize);
        let stride = tasks.iter().map(|t| nodes(t).len()).max().unwrap_or(0).max(1);
        let slots = tasks.iter().enumerate().flat_map(|(t, task)| {
            let slot = move |local: usize| (t * stride + local) as u32;
            nodes(task).iter().enumerate().map(move |(local, &n)| (n, slot(local)))
        });
        let slots_of = Lists::new(model.reference.len(), slots);
        Forces {
            passes: vec![Pass::default(); tasks.len()],
            slots: vec![Vec3::zeros(); tasks.len() * stride],
            stride,
            slots_of,
            scratch: (0..=rayon::current_num_threads()).map(|_| Mutex::new(Scratch::new())).collect(),
            tasks,
        }
    }

    /// Evaluates all element forces at positions `x`.
    pub fn evaluate(
        &mut self,
        model: &Model,
        x: &[Vec3],
        material: &mut MaterialState,
        measure_step: bool,
    ) -> Totals {
        self.pass_over(0..self.tasks.len(), model, x, &material.old, &mut material.new, measure_step);
        let mut totals = Totals {
            strain: 0.0,
            hourglass: 0.0,
            patch_energy: 0.0,
            det_f: f64::INFINITY,
            step: f64::INFINITY,
        };
        for pass in &self.passes {
            totals.strain += pass.energy;
            totals.hourglass += pass.hourglass;
            totals.patch_energy = totals.patch_energy.max(pass.energy);
            totals.det_f = totals.det_f.min(pass.det_f);
            totals.step = totals.step.min(pass.step);
        }
        totals
    }

    /// Strain energy [J] of some blocks in `state`; no others are evaluated. `new` is written to, as [`MaterialState::new`].
    pub fn strain_of(
        &mut self,
        blocks: Range<usize>,
        model: &Model,
        state: &State,
        new: &mut [Vec<f64>],
    ) -> f64 {
        let [start, end] =
            [blocks.start, blocks.end].map(|b| self.tasks.partition_point(|t| (t.0 as usize) < b));
        self.pass_over(start..end, model, &state.x, &state.material.old, new, false);
        self.passes[start..end].iter().map(|pass| pass.energy).sum()
    }

    /// Does some of the tasks.
    fn pass_over(
        &mut self,
        which: Range<usize>,
        model: &Model,
        x: &[Vec3],
        old: &[Vec<f64>],
        new: &mut [Vec<f64>],
        measure_step: bool,
    ) {
        let positions = Positions { reference: &model.reference, current: x };
        let (tasks, scratch) = (&self.tasks[which.clone()], &self.scratch);
        let run = |index: usize, slots: &mut [Vec3], pass: &mut Pass, old: &[f64], new: &mut [f64]| {
            let (b, p) = tasks[index];
            let block = &model.blocks[b as usize];
            let count = block.patches().nodes(p as usize).len();
            let thread = rayon::current_thread_index().map_or(0, |i| i + 1);
            // a pool may be larger than the one we were made in
            let mut scratch =
                scratch[thread % scratch.len()].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let state = PointState { old, new };
            *pass = block.force_pass(
                p as usize,
                positions,
                state,
                measure_step,
                &mut scratch,
                &mut slots[..count],
            );
        };
        self.slots[which.start * self.stride..which.end * self.stride]
            .par_chunks_mut(self.stride)
            .zip(self.passes[which.clone()].par_iter_mut())
            .zip(old[which.clone()].par_iter().zip(new[which].par_iter_mut()))
            .enumerate()
            .for_each(|(i, ((slots, pass), (old, new)))| run(i, slots, pass, old, new));
    }

    /// Internal force on one node [N] from the last pass.
    #[inline]
    pub fn at(&self, node: usize) -> Vec3 {
        let mut sum = Vec3::zeros();
        for &slot in self.slots_of.of(node as u32) {
            sum += self.slots[slot as usize];
        }
        sum
    }

    /// The element that failed worst at positions `x`: (block, element, det F); the first one without finite
    /// numbers (det F not a number) if there is one.
    pub fn find_failure(model: &Model, x: &[Vec3]) -> Option<(usize, usize, f64)> {
        let positions = Positions { reference: &model.reference, current: x };
        let mut worst: Option<(usize, usize, f64)> = None;
        for (b, block) in model.blocks.iter().enumerate() {
            for e in 0..block.len() {
                let det_f = block.smallest_det_f(e, positions);
                if det_f.is_nan() {
                    return Some((b, e, det_f));
                }
                if worst.is_none_or(|(_, _, least)| det_f < least) {
                    worst = Some((b, e, det_f));
                }
            }
        }
        worst
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.slots.len() * 24 + self.slots_of.bytes() + self.tasks.len() * 40
    }
}
