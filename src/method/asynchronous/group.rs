//! Potentials of one step length: drifted, evaluated and kicked together.
//!
//! ```text
//! drift   x ← x + (t − τ) v,  τ ← t           for the nodes of the group, just before
//! kick    v ← v − h W (f(x) − m_i b)           W = P/m, m_i the group's share of the node's mass
//! ```
//!
//! Forces of a group are added up node by node in a fixed order, whatever the number of threads.
//!
//! **Gravity** does work on the way its nodes go, whatever turns them round between two kicks: it is booked from positions.
//! **Drag** is taken at the mean of the velocities before and after, so that it only ever takes energy out.
//! **Supports** give what a node's balance lacks. Both are booked by the kick that does it.

use super::clock::Clock;
use super::fixed::{FREE, Fixed};
use crate::element::patch::{Patches, Scratch};
use crate::element::{Pass, PointState, Positions};
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::model::Model;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Nodes per task.
const CHUNK: usize = 1024;
/// From so many patches on a group is worth more than one thread, and from so many nodes on their drift.
const MANY_PATCHES: usize = 2;
const MANY_NODES: usize = 16 * CHUNK;

/// Work and impulses of kicks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct KickSums {
    pub external: f64,
    pub damping: f64,
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Largest |v|² after a kick [m²/s²].
    pub speed_squared: f64,
}

impl KickSums {
    pub(crate) fn add(&mut self, other: &KickSums) {
        self.external += other.external;
        self.damping += other.damping;
        self.impulse += other.impulse;
        self.moment += other.moment;
        self.speed_squared = self.speed_squared.max(other.speed_squared);
    }
}
/// One patch of potentials of one block.
pub(crate) struct Task {
    block: u32,
    /// Place of its patches in [`Group::patches`], and which of them.
    patches: u32,
    patch: u32,
    /// Numbers its law keeps per potential.
    memory: u32,
}

/// Gravity on a body's nodes in a group: `Σ m_i x` [kg m] and the acceleration [m/s²] at their last kick.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    body: u32,
    /// Places of its nodes in the group.
    nodes: Range<usize>,
    pub at: Vec3,
    pub pull: Vec3,
}

/// Potentials, or loads, that are kicked together.
pub(crate) struct Group {
    /// Time between two kicks [ticks], and the next one.
    pub step: u64,
    pub next: u64,
    /// Potentials in it; none in a group of loads.
    pub potentials: u64,
    patches: Vec<Patches>,
    pub tasks: Vec<Task>,
    loads: Vec<usize>,
    /// Its nodes, ascending, what share of their mass it stands for, and the force of its last kick.
    pub nodes: Vec<u32>,
    pub share: Vec<f64>,
    pub force: Vec<Vec3>,
    /// Of loads: where its nodes were at their last kick.
    pub last: Vec<Vec3>,
    /// Gravity on its bodies.
    pub weights: Vec<Weight>,
    /// Slots of each of its nodes; a task has `stride` slots.
    slots_of: Lists,
    pub stride: usize,
    /// Of laws that keep numbers: where each potential's stand in the model's patches, as (patch, first number), and
    /// room for them, `memory_stride` a task.
    memory: Vec<(u32, u32)>,
    old: Vec<f64>,
    new: Vec<f64>,
    memory_stride: usize,
    /// First of its nodes in each chunk of the model's nodes, and one more.
    chunks: Vec<u32>,
}

impl Group {
    /// Are its forces those of loads?
    pub(crate) fn is_load(&self) -> bool {
        self.potentials == 0
    }

    /// Its potentials as (block, potential).
    pub(crate) fn members(&self) -> impl Iterator<Item = (u32, u32)> {
        self.tasks.iter().flat_map(|task| {
            let patches = &self.patches[task.patches as usize];
            patches.elements()[patches.range(task.patch as usize)].iter().map(|&p| (task.block, p))
        })
    }

    fn with_nodes(step: u64, shares: BTreeMap<u32, f64>, all: usize) -> Group {
        let nodes: Vec<u32> = shares.keys().copied().collect();
        let first_in = |c: usize| nodes.partition_point(|&n| (n as usize) < c * CHUNK) as u32;
        Group {
            step,
            next: 0,
            potentials: 0,
            patches: Vec::new(),
            tasks: Vec::new(),
            loads: Vec::new(),
            share: shares.into_values().collect(),
            force: vec![Vec3::zeros(); nodes.len()],
            last: Vec::new(),
            weights: Vec::new(),
            slots_of: Lists::default(),
            stride: 1,
            memory: Vec::new(),
            old: Vec::new(),
            new: Vec::new(),
            memory_stride: 1,
            chunks: (0..=all.div_ceil(CHUNK)).map(first_in).collect(),
            nodes,
        }
    }

    /// From potentials by block.
    pub(crate) fn of_potentials(model: &Model, step: u64, members: &BTreeMap<usize, Vec<u32>>) -> Group {
        let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
        for (&b, ids) in members {
            for &p in ids {
                let mut add = |n, m| *shares.entry(n).or_insert(0.0) += m;
                model.blocks[b].mass_shares(p as usize, &model.reference, &mut add);
            }
        }
        let mut group = Group::with_nodes(step, shares, model.reference.len());
        for (b, body) in model.bodies.iter().enumerate().filter(|b| b.1.gravity != Vec3::zeros()) {
            let place = |n: usize| group.nodes.partition_point(|&m| (m as usize) < n);
            let nodes = place(body.nodes.start)..place(body.nodes.end);
            let weight = Weight { body: b as u32, nodes, at: Vec3::zeros(), pull: Vec3::zeros() };
            group.weights.push(weight);
        }
        group.weights.retain(|w| !w.nodes.is_empty());
        for (&b, ids) in members {
            let block = &model.blocks[b];
            let patches = block.patches_of(ids, &model.reference);
            let memory = block.state_per_element() as u32;
            for patch in 0..patches.len() {
                let task = Task {
                    block: b as u32,
                    patches: group.patches.len() as u32,
                    patch: patch as u32,
                    memory,
                };
                group.tasks.push(task);
                group.stride = group.stride.max(patches.nodes(patch).len());
                group.memory_stride = group.memory_stride.max(patches.range(patch).len() * memory as usize);
            }
            if memory > 0 {
                group.memory.extend(places_of_memory(model, b, &patches));
            }
            group.potentials += ids.len() as u64;
            group.patches.push(patches);
        }
        group.old = vec![0.0; group.tasks.len() * group.memory_stride];
        group.new = group.old.clone();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (t, task) in group.tasks.iter().enumerate() {
            let nodes = group.patches[task.patches as usize].nodes(task.patch as usize);
            for (i, n) in nodes.iter().enumerate() {
                let local = group.nodes.partition_point(|m| m < n);
                pairs.push((local as u32, (t * group.stride + i) as u32));
            }
        }
        group.slots_of = Lists::new(group.nodes.len(), pairs.into_iter());
        group
    }

    pub(crate) fn of_loads(model: &Model, step: u64, loads: Vec<usize>) -> Group {
        let nodes = loads.iter().flat_map(|&l| model.loads[l].nodes(model.reference.len()));
        let shares = nodes.map(|n| (n, 0.0)).collect();
        let group = Group::with_nodes(step, shares, model.reference.len());
        Group { loads, last: vec![Vec3::zeros(); group.nodes.len()], ..group }
    }

    /// Work of its loads from their last kick to positions `x`, where they are `now`: the mean of both ends times the way.
    pub(crate) fn load_work(&self, now: &[Vec3], x: &[Vec3]) -> f64 {
        let each = self.nodes.iter().zip(&self.last).zip(self.force.iter().zip(now));
        each.map(|((&n, last), (before, now))| -0.5 * (before + now).dot(&(x[n as usize] - last))).sum()
    }

    /// `Σ m_i x` of a body's nodes.
    fn moment_of_mass(&self, weight: &Weight, x: &[Vec3]) -> Vec3 {
        let mine = weight.nodes.clone();
        let each = self.nodes[mine.clone()].iter().zip(&self.share[mine]);
        each.map(|(&n, &m)| m * x[n as usize]).sum()
    }

    /// Work of gravity from the last kick to positions `x`, where it is `pull`: the mean of both ends times the way.
    pub(crate) fn weight_work(&self, pull: &[Vec3], x: &[Vec3]) -> f64 {
        let work =
            |w: &Weight| 0.5 * (w.pull + pull[w.body as usize]).dot(&(self.moment_of_mass(w, x) - w.at));
        self.weights.iter().map(work).sum()
    }

    /// Remembers where the weights are.
    pub(crate) fn settle_weights(&mut self, pull: &[Vec3], x: &[Vec3]) {
        let mut weights = std::mem::take(&mut self.weights);
        for w in &mut weights {
            (w.at, w.pull) = (self.moment_of_mass(w, x), pull[w.body as usize]);
        }
        self.weights = weights;
    }

    /// Its nodes in a chunk of the model's.
    fn in_chunk(&self, chunk: usize) -> Range<usize> {
        self.chunks[chunk] as usize..self.chunks[chunk + 1] as usize
    }

    fn is_large(&self) -> bool {
        self.tasks.len() >= MANY_PATCHES
    }

    /// Brings its nodes to `tick`.
    pub(crate) fn drift(&self, tick: u64, clock: &Clock, nodes: &mut Nodes) {
        let move_some = |mine: &[u32], first: usize, x: &mut [Vec3], v: &[Vec3], tau: &mut [u64]| {
            for &n in mine {
                let i = n as usize - first;
                x[i] += clock.between(tau[i], tick) * v[i];
                tau[i] = tick;
            }
        };
        if self.nodes.len() >= MANY_NODES {
            (nodes.x.par_chunks_mut(CHUNK))
                .zip(nodes.v.par_chunks(CHUNK))
                .zip(nodes.tau.par_chunks_mut(CHUNK))
                .enumerate()
                .for_each(|(c, ((x, v), tau))| {
                    move_some(&self.nodes[self.in_chunk(c)], c * CHUNK, x, v, tau);
                });
        } else {
            move_some(&self.nodes, 0, nodes.x, nodes.v, nodes.tau);
        }
    }

    /// Forces at positions `x` and time `time`, one per node of the group, into `force`.
    pub(crate) fn evaluate(&mut self, at: At, memory: &[Vec<f64>], work: &mut Work, force: &mut [Vec3]) {
        if self.is_load() {
            force.fill(Vec3::zeros());
            for &l in self.loads.iter() {
                // a load may name a node more than once
                at.model.loads[l].forces(at.time, at.x, |n, f| {
                    if let Ok(i) = self.nodes.binary_search(&n) {
                        force[i] -= f;
                    }
                });
            }
            return;
        }
        self.pass(at, memory, work);
        let slots = &work.slots;
        let gather = |first: usize, force: &mut [Vec3]| {
            force.iter_mut().enumerate().for_each(|(i, f)| *f = self.gather(first + i, slots));
        };
        if self.is_large() {
            force.par_chunks_mut(CHUNK).enumerate().for_each(|(c, force)| gather(c * CHUNK, force));
        } else {
            gather(0, force);
        }
    }

    /// The force on one of its nodes, from the slots of its tasks in their order.
    #[inline]
    fn gather(&self, node: usize, slots: &[Vec3]) -> Vec3 {
        self.slots_of.of(node as u32).iter().fold(Vec3::zeros(), |f, &s| f + slots[s as usize])
    }

    /// All its potentials at positions `x`: their forces to the slots of their tasks.
    pub(crate) fn pass(&mut self, at: At, memory: &[Vec<f64>], work: &mut Work) {
        let Group { patches, tasks, stride, memory_stride, old, new, .. } = self;
        let mut places = self.memory.iter();
        for (task, old) in tasks.iter().zip(old.chunks_exact_mut(*memory_stride)) {
            let (n, range) =
                (task.memory as usize, patches[task.patches as usize].range(task.patch as usize));
            if n > 0 {
                for (to, &(patch, first)) in old.chunks_exact_mut(n).take(range.len()).zip(&mut places) {
                    to.copy_from_slice(&memory[patch as usize][first as usize..first as usize + n]);
                }
            }
        }
        let positions = Positions { reference: &at.model.reference, current: at.x };
        let scratch = &work.scratch;
        let run = |task: &Task, slots: &mut [Vec3], pass: &mut Pass, old: &[f64], new: &mut [f64]| {
            let thread = rayon::current_thread_index().map_or(0, |i| i + 1);
            // a pool may be larger than the one we were made in
            let mut scratch =
                scratch[thread % scratch.len()].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (patches, patch) = (&patches[task.patches as usize], task.patch as usize);
            let numbers = patches.range(patch).len() * task.memory as usize;
            let state = PointState { old: &old[..numbers], new: &mut new[..numbers] };
            let slots = &mut slots[..patches.nodes(patch).len()];
            let block = &at.model.blocks[task.block as usize];
            *pass = block.force_pass_on(patches, patch, positions, state, at.measure, &mut scratch, slots);
        };
        let slots = &mut work.slots[..tasks.len() * *stride];
        let passes = &mut work.passes[..tasks.len()];
        let large = tasks.len() >= MANY_PATCHES;
        if large {
            (tasks.par_iter())
                .zip(slots.par_chunks_mut(*stride))
                .zip(passes.par_iter_mut())
                .zip(old.par_chunks(*memory_stride).zip(new.par_chunks_mut(*memory_stride)))
                .for_each(|(((task, slots), pass), (old, new))| run(task, slots, pass, old, new));
        } else {
            (tasks.iter())
                .zip(slots.chunks_mut(*stride))
                .zip(passes.iter_mut())
                .zip(old.chunks(*memory_stride).zip(new.chunks_mut(*memory_stride)))
                .for_each(|(((task, slots), pass), (old, new))| run(task, slots, pass, old, new));
        }
    }

    /// What its passes found, all together: energies, the smallest det F and stable step.
    pub(crate) fn found(&self, work: &Work) -> Pass {
        let none = Pass { det_f: f64::INFINITY, step: f64::INFINITY, ..Pass::default() };
        work.passes[..self.tasks.len()].iter().fold(none, |all, pass| Pass {
            energy: all.energy + pass.energy,
            hourglass: all.hourglass + pass.hourglass,
            det_f: all.det_f.min(pass.det_f),
            step: all.step.min(pass.step),
        })
    }

    /// Is everything a number, and nothing inside out? Else the smallest det F.
    pub(crate) fn check(&self, work: &Work) -> Result<(), f64> {
        let found = self.found(work);
        // not `det_f <= 0`: what is no number is a failure as well
        match found.energy.is_finite() && found.det_f > 0.0 {
            true => Ok(()),
            false => Err(if found.energy.is_finite() { found.det_f } else { f64::NAN }),
        }
    }

    /// Makes what the laws found in the last evaluation their memory.
    pub(crate) fn remember(&self, memory: &mut [Vec<f64>]) {
        let mut places = self.memory.iter();
        for (task, new) in self.tasks.iter().zip(self.new.chunks_exact(self.memory_stride)) {
            let n = task.memory as usize;
            let count = self.patches[task.patches as usize].range(task.patch as usize).len();
            if n > 0 {
                for (from, &(patch, first)) in new.chunks_exact(n).take(count).zip(&mut places) {
                    memory[patch as usize][first as usize..first as usize + n].copy_from_slice(from);
                }
            }
        }
    }

    /// Remembers where the nodes of loads are.
    pub(crate) fn settle(&mut self, x: &[Vec3]) {
        self.last.iter_mut().zip(&self.nodes).for_each(|(last, &n)| *last = x[n as usize]);
    }

    /// Forces from the slots, and new velocities, where nothing is booked: no gravity, no drag, nobody held. Returns the
    /// largest |v|².
    pub(crate) fn kick_plain(&mut self, weight: f64, fixed: &Fixed, slots: &[Vec3], v: &mut [Vec3]) -> f64 {
        let mut force = std::mem::take(&mut self.force);
        let chunks = 0..self.chunks.len() - 1;
        let speed_squared = self.kick_chunks(chunks, weight, fixed, slots, &mut force, v);
        self.force = force;
        speed_squared
    }

    /// The same for some chunks of the model's nodes; `force` and `v` are theirs.
    fn kick_chunks(
        &self,
        chunks: Range<usize>,
        weight: f64,
        fixed: &Fixed,
        slots: &[Vec3],
        force: &mut [Vec3],
        v: &mut [Vec3],
    ) -> f64 {
        let begin = self.chunks[chunks.start] as usize;
        if self.is_large() && chunks.len() > 1 {
            let middle = chunks.start + chunks.len() / 2;
            let (first_force, second_force) = force.split_at_mut(self.chunks[middle] as usize - begin);
            let (first_v, second_v) = v.split_at_mut((middle - chunks.start) * CHUNK);
            let (a, b) = rayon::join(
                || self.kick_chunks(chunks.start..middle, weight, fixed, slots, first_force, first_v),
                || self.kick_chunks(middle..chunks.end, weight, fixed, slots, second_force, second_v),
            );
            return a.max(b);
        }
        let mut speed_squared = 0.0;
        for (i, f) in force.iter_mut().enumerate() {
            *f = self.gather(begin + i, slots);
            let n = self.nodes[begin + i] as usize;
            let v = &mut v[n - chunks.start * CHUNK];
            *v -= (weight * fixed.inv_mass[n]) * *f;
            speed_squared = f64::max(speed_squared, v.norm_squared());
        }
        speed_squared
    }

    /// New velocities, and the books of drag and supports, and of the impulses of gravity and loads.
    pub(crate) fn kick(&self, kick: &Kick, x: &[Vec3], v: &mut [Vec3], support: &mut [Vec3]) -> KickSums {
        let mut sums = KickSums::default();
        let (fixed, h) = (kick.fixed, kick.weight);
        for ((&n, &f), &share) in self.nodes.iter().zip(&self.force).zip(&self.share) {
            let node = n as usize;
            let (before, inv) = (v[node], fixed.inv_mass[node]);
            let (x, v) = (&x[node], &mut v[node]);
            let body = fixed.body[node] as usize;
            let (drag, pull) = (kick.drag[body] * share, share * kick.pull[body]);
            let outer = if self.is_load() { -f } else { pull };
            let given = h * (pull - f);
            let theta = 0.5 * h * drag * inv;
            *v = ((1.0 - theta) * before + inv * given) / (1.0 + theta);
            let held = fixed.held[node];
            if held != FREE {
                let free = &kick.model.restraints.held[held as usize].free;
                *v = free * *v + (before - free * before);
            }
            let mean = 0.5 * (before + *v);
            let mut impulse = h * (outer - drag * mean);
            sums.damping += h * drag * mean.norm_squared();
            if held != FREE {
                let reaction = (*v - before) / inv - (given - h * drag * mean);
                sums.external += reaction.dot(&mean);
                impulse += reaction;
                support[held as usize] += reaction;
            }
            sums.impulse += impulse;
            sums.moment += x.cross(&impulse);
            sums.speed_squared = sums.speed_squared.max(v.norm_squared());
        }
        sums
    }
}

/// Where each potential's memory stands in the model's patches: (patch, first number), in the order of `patches`.
pub(crate) fn places_of_memory(model: &Model, block: usize, patches: &Patches) -> Vec<(u32, u32)> {
    let before: usize = model.blocks[..block].iter().map(|b| b.patches().len()).sum();
    let (own, per) = (model.blocks[block].patches(), model.blocks[block].state_per_element());
    let mut place = vec![(0, 0); own.elements().len()];
    for patch in 0..own.len() {
        let range = own.range(patch);
        for (i, &e) in own.elements()[range].iter().enumerate() {
            place[e as usize] = ((before + patch) as u32, (i * per) as u32);
        }
    }
    patches.elements().iter().map(|&e| place[e as usize]).collect()
}

/// Everything that moves: positions, velocities, and the tick at which each position holds.
pub(crate) struct Nodes<'a> {
    pub x: &'a mut [Vec3],
    pub v: &'a mut [Vec3],
    pub tau: &'a mut [u64],
}

/// Where and when forces are evaluated.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub model: &'a Model,
    pub time: f64,
    pub x: &'a [Vec3],
    pub measure: bool,
}

/// What one kick needs to know.
pub(crate) struct Kick<'a> {
    pub model: &'a Model,
    pub fixed: &'a Fixed,
    /// h [s]
    pub weight: f64,
    /// Gravity [m/s²] and drag [1/s] of each body.
    pub pull: &'a [Vec3],
    pub drag: &'a [f64],
}

/// Working memory.
pub(crate) struct Work {
    pub slots: Vec<Vec3>,
    pub force: Vec<Vec3>,
    pub passes: Vec<Pass>,
    /// One for each thread that may come, and one for the caller.
    pub scratch: Vec<Mutex<Scratch>>,
    /// Gravity [m/s²] of each body, and the time it is of; drag [1/s].
    pub pull: Vec<Vec3>,
    pub pull_at: f64,
    pub drag: Vec<f64>,
}

impl Work {
    /// Gravity at a time.
    pub(crate) fn look_up(&mut self, model: &Model, time: f64) {
        if self.pull_at == time {
            return;
        }
        self.pull_at = time;
        for (pull, body) in self.pull.iter_mut().zip(&model.bodies) {
            *pull = body.gravity * body.gravity_table.at(time);
        }
    }
}
