//! Kicks and drifts: potentials of one step length go together.
//!
//! ```text
//! drift   x ← x + (t − τ) v,  τ ← t           for the nodes of the group, just before
//! kick    v ← v − h W (f(x) − m_i b)           W = P/m, m_i the group's share of the node's mass
//! ```
//!
//! Potentials with the same step are always kicked at the same ticks, so all of them are one batch: with classes a
//! handful of groups hold everything, with free steps a group may be a single element. Forces of a group are added up
//! node by node in a fixed order, whatever the number of threads.
//!
//! What a kick did to a node is remembered as one force per node and group: the synchronised velocity (see `sync`)
//! needs no more, because the members of a group stand for the same interval of time.
//!
//! **Drag** is taken at the mean of the velocities before and after, so that it only ever takes energy out.
//! **Supports** give what a node's balance lacks. Both are booked by the kick that does it.

use super::clock::Clock;
use crate::element::patch::{Patches, Scratch};
use crate::element::{Pass, PointState, Positions};
use crate::math::{Mat3, Vec3};
use crate::model::{Model, State};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Nodes per task.
const CHUNK: usize = 1024;
/// From so many patches on a group is worth more than one thread.
const MANY_PATCHES: usize = 4;
/// Stands for a node that is not held.
pub const FREE: u32 = u32::MAX;

/// Work and impulses of kicks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    pub external: f64,
    pub damping: f64,
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Largest |v|² after a kick [m²/s²].
    pub speed_squared: f64,
}

impl Sums {
    pub fn add(&mut self, other: &Sums) {
        self.external += other.external;
        self.damping += other.damping;
        self.impulse += other.impulse;
        self.moment += other.moment;
        self.speed_squared = self.speed_squared.max(other.speed_squared);
    }
}

/// What is fixed about all nodes.
pub struct Fixed {
    pub inv_mass: Vec<f64>,
    /// Place of each node among the held ones, or [`FREE`].
    pub held: Vec<u32>,
    pub body: Vec<u32>,
    /// No gravity, no damping, nobody held: kicks have nothing to book.
    plain: bool,
}

impl Fixed {
    pub fn new(model: &Model) -> Fixed {
        let mut held = vec![FREE; model.mass.len()];
        for (i, h) in model.restraints.held.iter().enumerate() {
            held[h.node as usize] = i as u32;
        }
        let mut body = vec![0; model.mass.len()];
        for (b, of) in model.bodies.iter().enumerate() {
            body[of.nodes.clone()].fill(b as u32);
        }
        let acts = |b: &crate::model::Body| b.gravity != Vec3::zeros() || b.damping != 0.0;
        Fixed {
            inv_mass: model.mass.iter().map(|m| 1.0 / m).collect(),
            plain: model.restraints.held.is_empty() && !model.bodies.iter().any(acts),
            held,
            body,
        }
    }

    /// `P/m` of a node.
    #[inline]
    pub fn inverse_mass(&self, model: &Model, node: usize) -> Mat3 {
        match self.held[node] {
            FREE => Mat3::from_diagonal_element(self.inv_mass[node]),
            h => model.restraints.held[h as usize].free * self.inv_mass[node],
        }
    }
}

/// One patch of potentials of one block.
struct Task {
    block: u32,
    /// Place of its patches in [`Group::patches`], and which of them.
    patches: u32,
    patch: u32,
    /// Numbers its law keeps per potential.
    memory: u32,
}

/// Potentials, or loads, that are kicked together.
pub struct Group {
    /// Time between two kicks [ticks], and the next one.
    pub step: u64,
    pub next: u64,
    /// Potentials in it; none in a group of loads.
    pub potentials: u64,
    patches: Vec<Patches>,
    tasks: Vec<Task>,
    loads: Vec<usize>,
    /// Its nodes, ascending, what share of their mass it stands for, and the force of its last kick.
    pub nodes: Vec<u32>,
    pub share: Vec<f64>,
    pub force: Vec<Vec3>,
    /// Of loads: where its nodes were at their last kick.
    pub last: Vec<Vec3>,
    /// Slots of each of its nodes: `slot_of[start[i]..start[i + 1]]`; a task has `stride` slots.
    start: Vec<u32>,
    slot_of: Vec<u32>,
    stride: usize,
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
    pub fn is_load(&self) -> bool {
        self.potentials == 0
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
            start: Vec::new(),
            slot_of: Vec::new(),
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
    fn of_potentials(model: &Model, step: u64, members: &BTreeMap<usize, Vec<u32>>) -> Group {
        let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
        for (&b, ids) in members {
            for &p in ids {
                let mut add = |n, m| *shares.entry(n).or_insert(0.0) += m;
                model.blocks[b].mass_shares(p as usize, &model.reference, &mut add);
            }
        }
        let mut group = Group::with_nodes(step, shares, model.reference.len());
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
        pairs.sort_unstable();
        group.start = vec![0; group.nodes.len() + 1];
        for &(local, _) in &pairs {
            group.start[local as usize + 1] += 1;
        }
        for i in 0..group.nodes.len() {
            group.start[i + 1] += group.start[i];
        }
        group.slot_of = pairs.into_iter().map(|p| p.1).collect();
        group
    }

    fn of_loads(model: &Model, step: u64, loads: Vec<usize>) -> Group {
        let nodes = loads.iter().flat_map(|&l| model.loads[l].nodes());
        let shares = nodes.map(|n| (n, 0.0)).collect();
        let group = Group::with_nodes(step, shares, model.reference.len());
        Group { loads, last: vec![Vec3::zeros(); group.nodes.len()], ..group }
    }

    /// Work of its loads from their last kick to positions `x`, where they are `now`: the mean of both ends times the way.
    fn load_work(&self, now: &[Vec3], x: &[Vec3]) -> f64 {
        let each = self.nodes.iter().zip(&self.last).zip(self.force.iter().zip(now));
        each.map(|((&n, last), (before, now))| -0.5 * (before + now).dot(&(x[n as usize] - last))).sum()
    }

    /// Its nodes in a chunk of the model's.
    fn in_chunk(&self, chunk: usize) -> Range<usize> {
        self.chunks[chunk] as usize..self.chunks[chunk + 1] as usize
    }

    fn is_large(&self) -> bool {
        self.tasks.len() >= MANY_PATCHES
    }

    /// Brings its nodes to `tick`.
    fn drift(&self, tick: u64, clock: &Clock, nodes: &mut Nodes) {
        let move_some = |mine: &[u32], first: usize, x: &mut [Vec3], v: &[Vec3], tau: &mut [u64]| {
            for &n in mine {
                let i = n as usize - first;
                x[i] += clock.between(tau[i], tick) * v[i];
                tau[i] = tick;
            }
        };
        if self.is_large() {
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
    fn evaluate(&mut self, at: At, memory: &[Vec<f64>], work: &mut Work, force: &mut [Vec3]) {
        let Group { patches, tasks, nodes, loads, stride, memory_stride, old, new, .. } = self;
        force.fill(Vec3::zeros());
        for &l in loads.iter() {
            // a load may name a node more than once
            at.model.loads[l].forces(at.time, at.x, |n, f| {
                if let Ok(i) = nodes.binary_search(&n) {
                    force[i] -= f;
                }
            });
        }
        if tasks.is_empty() {
            return;
        }
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
            let mut scratch = scratch[thread].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
        let (start, slot_of, slots) = (&self.start, &self.slot_of, &*slots);
        let gather = |first: usize, force: &mut [Vec3]| {
            for (i, f) in force.iter_mut().enumerate() {
                let mine = start[first + i] as usize..start[first + i + 1] as usize;
                for &s in &slot_of[mine] {
                    *f += slots[s as usize];
                }
            }
        };
        if large {
            force.par_chunks_mut(CHUNK).enumerate().for_each(|(c, force)| gather(c * CHUNK, force));
        } else {
            gather(0, force);
        }
    }

    /// What its passes found, all together: energies, the smallest det F and stable step.
    fn found(&self, work: &Work) -> Pass {
        let none = Pass { det_f: f64::INFINITY, step: f64::INFINITY, ..Pass::default() };
        work.passes[..self.tasks.len()].iter().fold(none, |all, pass| Pass {
            energy: all.energy + pass.energy,
            hourglass: all.hourglass + pass.hourglass,
            det_f: all.det_f.min(pass.det_f),
            step: all.step.min(pass.step),
        })
    }

    /// Makes what the laws found in the last evaluation their memory.
    fn remember(&self, memory: &mut [Vec<f64>]) {
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
    fn settle(&mut self, x: &[Vec3]) {
        self.last.iter_mut().zip(&self.nodes).for_each(|(last, &n)| *last = x[n as usize]);
    }

    /// New velocities where nothing is booked: no gravity, no drag, nobody held.
    fn kick_plain(&self, weight: f64, fixed: &Fixed, v: &mut [Vec3]) -> f64 {
        let kick_some = |range: Range<usize>, first: usize, v: &mut [Vec3]| {
            let mut speed_squared = 0.0;
            for (&n, f) in self.nodes[range.clone()].iter().zip(&self.force[range]) {
                let v = &mut v[n as usize - first];
                *v -= (weight * fixed.inv_mass[n as usize]) * f;
                speed_squared = f64::max(speed_squared, v.norm_squared());
            }
            speed_squared
        };
        if self.is_large() {
            let chunks = v.par_chunks_mut(CHUNK).enumerate();
            chunks.map(|(c, v)| kick_some(self.in_chunk(c), c * CHUNK, v)).reduce(|| 0.0, f64::max)
        } else {
            kick_some(0..self.nodes.len(), 0, v)
        }
    }

    /// New velocities, and the books of gravity, loads, drag and supports.
    fn kick(&self, kick: &Kick, x: &[Vec3], v: &mut [Vec3], support: &mut [Vec3]) -> Sums {
        let mut sums = Sums::default();
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
            sums.external += h * pull.dot(&mean);
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
fn places_of_memory(model: &Model, block: usize, patches: &Patches) -> Vec<(u32, u32)> {
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
pub struct Nodes<'a> {
    pub x: &'a mut [Vec3],
    pub v: &'a mut [Vec3],
    pub tau: &'a mut [u64],
}

/// Where and when forces are evaluated.
#[derive(Clone, Copy)]
struct At<'a> {
    model: &'a Model,
    time: f64,
    x: &'a [Vec3],
    measure: bool,
}

/// What one kick needs to know.
struct Kick<'a> {
    model: &'a Model,
    fixed: &'a Fixed,
    /// h [s]
    weight: f64,
    /// Gravity [m/s²] and drag [1/s] of each body.
    pull: &'a [Vec3],
    drag: &'a [f64],
}

/// Working memory.
struct Work {
    slots: Vec<Vec3>,
    force: Vec<Vec3>,
    passes: Vec<Pass>,
    /// One for each thread that may come, and one for the caller.
    scratch: Vec<Mutex<Scratch>>,
    pull: Vec<Vec3>,
    drag: Vec<f64>,
}

impl Work {
    fn look_up(&mut self, model: &Model, time: f64) {
        for (pull, body) in self.pull.iter_mut().zip(&model.bodies) {
            *pull = body.gravity * body.gravity_table.at(time);
        }
    }
}

/// What a look at all potentials at one time found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub kinetic: f64,
    pub strain: f64,
    pub hourglass: f64,
    pub det_f: f64,
    /// Smallest ratio of the stable step now to the step used.
    pub reserve: f64,
    /// What gravity, loads, drag and supports have done beyond the kicks, or not yet.
    pub sums: Sums,
}

/// All groups of a model.
pub struct Groups {
    pub list: Vec<Group>,
    pub fixed: Fixed,
    /// Impulse of the support of each held node [N s].
    pub support: Vec<Vec3>,
    /// Groups of each node, as (group, place in it): `of_node[first[n]..first[n + 1]]`.
    first: Vec<u32>,
    of_node: Vec<(u32, u32)>,
    work: Work,
}

impl Groups {
    /// `steps` holds the step of every potential of every block in ticks. For use inside the current rayon pool.
    pub fn new(model: &Model, steps: &[Vec<Option<u64>>]) -> Groups {
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
            let step = load.nodes().iter().map(|&n| shortest[n as usize]).min();
            if let Some(step) = step.filter(|s| *s != u64::MAX) {
                loads.entry(step).or_default().push(l);
            }
        }
        list.extend(loads.into_iter().map(|(step, loads)| Group::of_loads(model, step, loads)));

        let mut pairs: Vec<(u32, u32, u32)> = Vec::new();
        for (g, group) in list.iter().enumerate() {
            pairs.extend(group.nodes.iter().enumerate().map(|(i, &n)| (n, g as u32, i as u32)));
        }
        pairs.sort_unstable();
        let mut first = vec![0u32; model.reference.len() + 1];
        pairs.iter().for_each(|p| first[p.0 as usize + 1] += 1);
        for n in 0..model.reference.len() {
            first[n + 1] += first[n];
        }
        let slots = list.iter().map(|g| g.tasks.len() * g.stride).max().unwrap_or(0);
        let passes = list.iter().map(|g| g.tasks.len()).max().unwrap_or(0);
        Groups {
            fixed: Fixed::new(model),
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            first,
            of_node: pairs.into_iter().map(|p| (p.1, p.2)).collect(),
            work: Work {
                slots: vec![Vec3::zeros(); slots],
                force: Vec::with_capacity(list.iter().map(|g| g.nodes.len()).max().unwrap_or(0)),
                passes: vec![Pass::default(); passes],
                scratch: (0..=rayon::current_num_threads()).map(|_| Mutex::new(Scratch::new())).collect(),
                pull: vec![Vec3::zeros(); model.bodies.len()],
                drag: model.bodies.iter().map(|b| b.damping).collect(),
            },
            list,
        }
    }

    /// Shortest step of the potentials around a node [ticks].
    pub fn shortest_step(&self, node: usize) -> Option<u64> {
        self.of(node).iter().map(|&(g, _)| self.list[g as usize].step).min()
    }

    #[inline]
    fn of(&self, node: usize) -> &[(u32, u32)] {
        &self.of_node[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// Drifts the nodes of a group to `tick` and kicks them. Nothing but the drift is done if a potential fails; then
    /// the smallest det F comes back.
    pub fn kick(
        &mut self,
        g: usize,
        when: &When,
        model: &Model,
        state: &mut State,
        tau: &mut [u64],
    ) -> Result<Sums, f64> {
        let When { tick, ref clock, .. } = *when;
        let Groups { list, fixed, support, work, .. } = self;
        let group = &mut list[g];
        let (time, weight) = (clock.time(tick), clock.between(0, group.step));
        let State { x, v, material, .. } = state;
        group.drift(tick, clock, &mut Nodes { x, v, tau });
        let mut force = std::mem::take(&mut work.force);
        force.resize(group.nodes.len(), Vec3::zeros());
        group.evaluate(At { model, time, x, measure: false }, &material.old, work, &mut force);
        let work_of_loads = if group.is_load() { group.load_work(&force, x) } else { 0.0 };
        std::mem::swap(&mut group.force, &mut force);
        work.force = force;
        group.settle(x);
        let found = group.found(work);
        // not `det_f <= 0`: what is no number is a failure as well
        let fine = found.energy.is_finite() && found.det_f > 0.0;
        if !fine {
            return Err(if found.energy.is_finite() { found.det_f } else { f64::NAN });
        }
        group.remember(&mut material.old);
        if fixed.plain && !group.is_load() {
            let speed_squared = group.kick_plain(weight, fixed, v);
            return Ok(Sums { speed_squared, ..Sums::default() });
        }
        work.look_up(model, time);
        let kick = Kick { model, fixed, weight, pull: &work.pull, drag: &work.drag };
        let mut sums = group.kick(&kick, x, v, support);
        sums.external += work_of_loads;
        Ok(sums)
    }

    /// Loads as they are at the start.
    pub fn begin(&mut self, model: &Model, state: &State) {
        for group in self.list.iter_mut().filter(|g| g.is_load()) {
            let mut force = std::mem::take(&mut group.force);
            let at = At { model, time: state.time, x: &state.x, measure: false };
            group.evaluate(at, &state.material.old, &mut self.work, &mut force);
            group.force = force;
            group.settle(&state.x);
        }
    }

    /// `c − t` of a group [s]: the end of the interval its kicks stand for, from `tick` on.
    #[inline]
    fn excess(group: &Group, tick: u64, phase: Phase, clock: &Clock) -> f64 {
        let end = match phase {
            Phase::Centred => group.next as i64 - (group.step / 2) as i64,
            Phase::Paper => group.next as i64,
        };
        (end - tick as i64) as f64 * clock.tick
    }

    /// Velocity of a node that belongs to `tick`, from the forces of the last kicks.
    #[inline]
    pub fn synchronised_velocity(&self, node: usize, v: &Vec3, when: &When, model: &Model) -> Vec3 {
        let When { tick, phase, ref clock } = *when;
        let mut back = Vec3::zeros();
        let body = self.fixed.body[node] as usize;
        for &(g, i) in self.of(node) {
            let group = &self.list[g as usize];
            let excess = Groups::excess(group, tick, phase, clock);
            let share = group.share[i as usize];
            let mut force = group.force[i as usize];
            if !self.fixed.plain {
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
    pub fn set_pull(&mut self, model: &Model, time: f64) {
        self.work.look_up(model, time);
    }

    /// Positions and velocities of all nodes at `tick` into `x` and `v`, and what they amount to. Nothing of the motion
    /// is touched.
    pub fn measure(
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
            if group.is_load() {
                all.sums.external += group.load_work(force, x);
            }
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
                let drag = self_drag(
                    list,
                    &self.of_node[self.first[n] as usize..self.first[n + 1] as usize],
                    tick,
                    phase,
                    clock,
                ) * work.drag[body];
                let slowed = drag * state.v[n];
                all.sums.damping -= slowed.dot(&mean);
                all.sums.external += (outer[n] - slowed).dot(&mean);
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
pub struct When {
    pub tick: u64,
    pub phase: Phase,
    pub clock: Clock,
}

/// When in the interval it stands for a kick happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// In its middle: equal steps are leapfrog.
    #[default]
    Centred,
    /// At its start, as the paper prints it: equal steps are symplectic Euler.
    Paper,
}

/// A copy in which every node stands at one time.
#[derive(Default)]
pub struct Synchronised {
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
    pub fn new(model: &Model) -> Synchronised {
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
