//! Sweeps over contacts: one at a time in a colour's order, each solved alone with the others as they are.
//!
//! Velocities are shared by the threads: contacts of one colour have no node in common that can move, and one that cannot is
//! never written, so no two threads write the same one and none reads what another writes.

use super::momentum::Momentum;
use super::order::{Extent, NONE, Order};
use super::{Contact, Inertia, Limits, Local, POINTS, Response};
use crate::contact::friction::{project_to_cone, tangent_frame};
use crate::math::{Mat3, Vec3};
use crate::solve::local;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Determinant of a block, over its mean to the third, below which it cannot move some direction.
const SINGULAR: f64 = 1e-9;
/// Colours with fewer contacts are gone through by one thread.
const FEW: usize = 64;
/// Contacts that one thread goes through at a stretch.
pub(super) const STRETCH: usize = 128;
/// Contacts of islands that one thread solves at a stretch: some islands take hundreds of sweeps, most of them two.
const PORTION: usize = 32;
/// Sweeps before momentum begins: most islands are done by then.
const PLAIN: u32 = 20;
/// Share of the tolerance at which an island with momentum is done: forces that hardly move velocities swing about the answer with
/// it instead of dying away, and what a sweep changes says less about how far they are.
const CALM: f64 = 0.03;
/// Stands for a block that is not made yet.
const COUPLED: u32 = u32::MAX - 1;

/// A contact as it is swept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    nodes: [u32; POINTS],
    weights: [f64; POINTS],
    /// `Δt cᵢ/mᵢ`
    push: [f64; POINTS],
    count: u8,
    mu: f64,
    /// W = w·1, or the mean of its diagonal if it has a block; zero if nobody can open it.
    w: f64,
    frame: Mat3,
    /// `Q v_outer − s n`
    bias: Vec3,
    pub r: Vec3,
    /// What the sweep before has found.
    pub found: Vec3,
    /// `w (r − y)·(r − found)` of the last sweep, which began with y.
    along: f64,
    /// Its block among the others, or none.
    block: u32,
}

/// What is not isotropic.
#[derive(Clone, Copy, Debug)]
struct Block {
    w: Mat3,
    /// `Δt cᵢ Mᵢ⁻¹ Qᵀ`
    push: [Mat3; POINTS],
}

/// A velocity that contacts of one colour may write side by side: no two of them the same.
#[derive(Debug, Default)]
pub(super) struct Shared([AtomicU64; 3]);

impl Shared {
    #[inline(always)]
    pub(crate) fn get(&self) -> Vec3 {
        let [x, y, z] = &self.0;
        Vec3::new(
            f64::from_bits(x.load(Relaxed)),
            f64::from_bits(y.load(Relaxed)),
            f64::from_bits(z.load(Relaxed)),
        )
    }

    #[inline(always)]
    pub(crate) fn set(&self, v: &Vec3) {
        for (to, x) in self.0.iter().zip(v.iter()) {
            to.store(x.to_bits(), Relaxed);
        }
    }
}

/// How an island was solved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub sweeps: u32,
    pub change: f64,
    pub finished: bool,
    pub errors: Errors,
}

/// Contacts that hang together, and how they were solved.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    pub extent: Extent,
    pub outcome: Outcome,
    /// It was solved before, and nobody has joined it.
    solved: bool,
    blocks: Vec<Block>,
}

impl Island {
    /// Takes up what belongs to it now; if it was solved, with what came of it.
    pub(crate) fn begin(&mut self, extent: &Extent, outcome: Option<Outcome>) {
        self.extent.clone_from(extent);
        (self.solved, self.outcome) = (outcome.is_some(), outcome.unwrap_or_default());
    }
}

/// Sums of the error measures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Errors {
    /// Contacts that somebody can open.
    pub count: usize,
    off: f64,
    pub size: f64,
    free: f64,
    /// `Σ 1/w`
    softness: f64,
    pub power: f64,
}

impl Errors {
    pub(crate) fn add(&mut self, other: &Errors) {
        self.count += other.count;
        self.off += other.off;
        self.size += other.size;
        self.free += other.free;
        self.softness += other.softness;
        self.power += other.power;
    }

    /// How far from the law forces are, of their size: squared. Forces that move nothing by more than `least` [m/s] count
    /// as if they did.
    pub(crate) fn share(&self, least: f64) -> f64 {
        let size = self.size.max(1e-24 * self.free).max(least * least * self.softness);
        if size > 0.0 { self.off / size } else { 0.0 }
    }
}

impl Block {
    fn new(contact: &Contact, frame: &Mat3, inertia: &Inertia, dt: f64) -> Block {
        let mut block = Block { w: Mat3::zeros(), push: [Mat3::zeros(); POINTS] };
        for (to, (k, c)) in block.push.iter_mut().zip(contact.points()) {
            *to = dt * c * (inertia.of(k) * frame.transpose());
            block.w += c * (frame * *to);
        }
        block
    }
}

impl Row {
    fn new(contact: &Contact, place: &[u32], inertia: &Inertia, dt: f64) -> Row {
        let (w, frame, block) = match contact.response(inertia) {
            Response::None => (0.0, tangent_frame(&contact.normal), NONE),
            Response::Isotropic(inverse, frame) => (dt * inverse, frame, NONE),
            Response::Coupled(w, frame) => (dt * w.trace() / 3.0, frame, COUPLED),
        };
        let guess = frame * contact.force;
        let guess = if w > 0.0 && guess.iter().all(|f| f.is_finite()) { guess } else { Vec3::zeros() };
        let r = project_to_cone(&guess, contact.mu);
        let mut row = Row {
            nodes: [0; POINTS],
            weights: contact.weights,
            push: [0.0; POINTS],
            count: contact.count,
            mu: contact.mu,
            w,
            frame,
            bias: frame * contact.outer - Vec3::new(contact.velocity_bias, 0.0, 0.0),
            r,
            found: r,
            along: 0.0,
            block,
        };
        for (i, (k, c)) in contact.points().enumerate() {
            row.nodes[i] = place[k];
            row.push[i] = dt * c * inertia.inverse[k];
        }
        row
    }

    /// Velocity of the contact, shifted.
    #[inline(always)]
    fn velocity(&self, v: &[Shared]) -> Vec3 {
        let mut sum = Vec3::zeros();
        for k in 0..usize::from(self.count) {
            sum += self.weights[k] * v[self.nodes[k] as usize].get();
        }
        self.frame * sum - self.bias
    }

    /// Moves the nodes by a force `dr`.
    #[inline(always)]
    fn apply(&self, dr: &Vec3, blocks: &[Block], v: &[Shared]) {
        if self.block != NONE {
            let block = &blocks[self.block as usize];
            for k in 0..usize::from(self.count) {
                if self.push[k] != 0.0 {
                    let at = &v[self.nodes[k] as usize];
                    at.set(&(at.get() + block.push[k] * dr));
                }
            }
            return;
        }
        let global = self.frame.tr_mul(dr);
        for k in 0..usize::from(self.count) {
            // who cannot move is shared by all colours: not touched
            if self.push[k] != 0.0 {
                let at = &v[self.nodes[k] as usize];
                at.set(&(at.get() + self.push[k] * global));
            }
        }
    }

    /// Solves the contact alone; returns the change of its velocity [m/s].
    #[inline(always)]
    fn update(&mut self, local: Local, blocks: &[Block], v: &[Shared]) -> f64 {
        if self.w == 0.0 {
            return 0.0;
        }
        let u = self.velocity(v);
        let r = if local == Local::Uzawa {
            self.project(blocks, &u)
        } else if self.block == NONE {
            local::closed_form(self.w, &(u - self.w * self.r), self.mu)
        } else {
            let w = &blocks[self.block as usize].w;
            local::exact(w, &(u - w * self.r), self.mu)
        };
        let dr = r - self.r;
        if dr != Vec3::zeros() {
            self.apply(&dr, blocks, v);
            self.r = r;
        }
        self.along = self.w * dr.dot(&(r - self.found));
        self.w * dr.norm()
    }

    /// Solves the contact alone by projections, from the force it has.
    #[inline(never)]
    fn project(&self, blocks: &[Block], u: &Vec3) -> Vec3 {
        let w = match self.block {
            NONE => Mat3::from_diagonal_element(self.w),
            block => blocks[block as usize].w,
        };
        let b = u - w * self.r;
        let found = local::uzawa::uzawa(&w, &b, self.mu, &self.r);
        if found.converged { found.r } else { local::exact(&w, &b, self.mu) }
    }

    fn errors(&self, blocks: &[Block], v: &[Shared]) -> Errors {
        if self.w == 0.0 {
            return Errors::default();
        }
        let (u, r) = (self.velocity(v), self.r);
        let mut power = self.mu * r.x * (u.y * u.y + u.z * u.z).sqrt() + u.dot(&r);
        let (free, off) = if self.block == NONE {
            (u - self.w * r, local::natural_map(&r, &u, self.mu, self.w))
        } else {
            // Along directions in which nobody can be moved the law has nothing to say.
            let w = &blocks[self.block as usize].w;
            let free = u - w * r;
            power = if w.determinant() > SINGULAR * self.w.powi(3) { power } else { 0.0 };
            (free, (r - local::exact(w, &free, self.mu)).norm())
        };
        Errors {
            count: 1,
            off: self.w * off * off,
            size: self.w * r.norm_squared(),
            free: free.norm_squared() / self.w,
            softness: 1.0 / self.w,
            power,
        }
    }
}

/// What islands need beside their rows.
#[derive(Clone, Copy)]
pub(super) struct SweepInput<'a> {
    pub list: &'a [Contact],
    /// Those of the list that are swept over.
    pub active: &'a [u32],
    pub order: &'a Order,
    pub inertia: &'a Inertia,
    pub dt: f64,
    /// Velocities of all nodes before.
    pub free: &'a [Vec3],
    /// Those of nodes in contact, and what the sweep before has found for them.
    pub v: &'a [Shared],
    pub found: &'a [Shared],
    pub limits: &'a Limits,
    pub threads: bool,
    pub typical: f64,
}

impl SweepInput<'_> {
    /// Some islands with their rows and forces, by as many threads as there are.
    pub(crate) fn islands(&self, islands: &mut [Island], rows: &mut [Row], forces: &mut [Vec3]) {
        if !self.threads || islands.len() < 2 || rows.len() < PORTION {
            let (mut rows, mut forces) = (rows, forces);
            for island in islands {
                let (own, others) = rows.split_at_mut(island.extent.rows.len());
                let (own_forces, other_forces) = forces.split_at_mut(own.len());
                self.island(island, own);
                own_forces.iter_mut().zip(own).for_each(|(force, row)| *force = row.frame.tr_mul(&row.r));
                (rows, forces) = (others, other_forces);
            }
            return;
        }
        let begin = islands[0].extent.rows.start;
        let half = begin + rows.len() / 2;
        let middle = islands.partition_point(|i| i.extent.rows.start < half).clamp(1, islands.len() - 1);
        let cut = islands[middle].extent.rows.start - begin;
        let (islands, other_islands) = islands.split_at_mut(middle);
        let (rows, other_rows) = rows.split_at_mut(cut);
        let (forces, other_forces) = forces.split_at_mut(cut);
        rayon::join(
            || self.islands(islands, rows, forces),
            || self.islands(other_islands, other_rows, other_forces),
        );
    }

    /// Sweeps over one island until it is done, in the first half of all sweeps with momentum.
    fn island(&self, island: &mut Island, rows: &mut [Row]) {
        let limit = self.limits.tolerance * self.limits.scale;
        self.begin(island, rows);
        let Island { extent, outcome, blocks, solved } = island;
        self.push_from_free(extent, rows, blocks);
        if *solved {
            return;
        }
        let (most, half) = (self.limits.sweeps, self.limits.sweeps / 2);
        let (mut momentum, mut enough) = (Momentum::NONE, limit);
        for sweep in 1..=most {
            outcome.change =
                self.by_colour(extent, rows, |row| row.update(self.limits.local, blocks, self.v));
            outcome.sweeps = sweep;
            if sweep == most {
                enough = limit;
            }
            let mut done = outcome.change <= enough;
            if done || sweep == most {
                outcome.errors = self.errors(rows, blocks);
                done = done && self.obeys(&outcome.errors, limit);
            }
            if momentum.used && (done || sweep >= half) {
                // velocities free of the round-off that momentum has piled up, and a sweep without it has the last word
                self.push_from_free(extent, rows, blocks);
                momentum = Momentum::NONE;
                self.go_on(extent, rows, 0.0);
            } else if done {
                outcome.finished = true;
                break;
            } else if (PLAIN..half).contains(&sweep) {
                let beta = momentum.next(self.along(rows));
                self.go_on(extent, rows, beta);
                enough = CALM * limit;
            }
        }
    }

    /// Takes up rows and blocks of an island.
    fn begin(&self, island: &mut Island, rows: &mut [Row]) {
        let SweepInput { list, active, order, inertia, dt, .. } = *self;
        let Island { extent, blocks, .. } = island;
        let contact = |row: usize| &list[active[order.contacts[row] as usize] as usize];
        let first = extent.rows.start;
        self.each(rows, |(k, row)| *row = Row::new(contact(first + k), &order.place, inertia, dt));
        blocks.clear();
        for (k, row) in rows.iter_mut().enumerate().filter(|(_, row)| row.block == COUPLED) {
            row.block = blocks.len() as u32;
            blocks.push(Block::new(contact(first + k), &row.frame, inertia, dt));
        }
    }

    /// Velocities that forces make of the free ones.
    fn push_from_free(&self, extent: &Extent, rows: &mut [Row], blocks: &[Block]) {
        let take = |at: usize| self.v[at].set(&self.free[self.order.nodes[at] as usize]);
        self.each_node(extent, take);
        self.by_colour(extent, rows, |row| {
            if row.r != Vec3::zeros() {
                row.apply(&row.r, blocks, self.v);
            }
            0.0
        });
    }

    /// Where the next sweep begins.
    fn go_on(&self, extent: &Extent, rows: &mut [Row], beta: f64) {
        self.each(rows, |(_, row)| row.go_on(beta));
        self.each_node(extent, |at| self.v[at].go_on(beta, &self.found[at]));
    }

    /// Does something with every row, in no order.
    fn each(&self, rows: &mut [Row], with: impl Fn((usize, &mut Row)) + Sync + Send) {
        if self.threads && rows.len() >= 2 * STRETCH {
            rows.par_iter_mut().enumerate().with_min_len(STRETCH).for_each(with);
        } else {
            rows.iter_mut().enumerate().for_each(with);
        }
    }

    /// Does something with every node of an island that can move, in no order.
    fn each_node(&self, extent: &Extent, with: impl Fn(usize) + Sync + Send) {
        if self.threads && extent.rows.len() >= 2 * STRETCH {
            extent.nodes.clone().into_par_iter().with_min_len(STRETCH).for_each(with);
        } else {
            extent.nodes.clone().for_each(with);
        }
    }

    /// Are these errors small enough?
    fn obeys(&self, errors: &Errors, limit: f64) -> bool {
        let Some(most) = self.limits.natural_map_residual else { return true };
        // an island that hardly presses is no matter; half of the error to either measure
        let pressed = 0.5 * most * most * self.typical * errors.count as f64;
        errors.off <= pressed || errors.share(limit) <= 0.5 * most * most
    }

    /// Does something with every row, colour by colour; returns the largest of what that gives.
    fn by_colour(&self, extent: &Extent, rows: &mut [Row], with: impl Fn(&mut Row) -> f64 + Sync) -> f64 {
        let begin = extent.rows.start;
        let (mut from, mut largest) = (0, 0.0);
        let serial = |rows: &mut [Row]| rows.iter_mut().fold(0.0, |most: f64, row| most.max(with(row)));
        for end in &self.order.colours[extent.colours.clone()] {
            let colour = &mut rows[from..end - begin];
            from = end - begin;
            let most = if self.threads && colour.len() >= 2 * FEW {
                colour.par_chunks_mut(FEW).map(serial).reduce(|| 0.0, f64::max)
            } else {
                serial(colour)
            };
            largest = f64::max(largest, most);
        }
        largest
    }

    /// How far the last sweep went along the way that forces had come.
    fn along(&self, rows: &[Row]) -> f64 {
        self.sum(rows, &|row| row.along, &|sum, x| *sum += x)
    }

    fn errors(&self, rows: &[Row], blocks: &[Block]) -> Errors {
        self.sum(rows, &|row| row.errors(blocks, self.v), &|sum: &mut Errors, x| sum.add(&x))
    }

    /// Sums over halves of halves, the same whoever adds them.
    fn sum<T: Default + Send>(
        &self,
        rows: &[Row],
        of: &(impl Fn(&Row) -> T + Sync),
        add: &(impl Fn(&mut T, T) + Sync),
    ) -> T {
        let mut sum = T::default();
        if rows.len() <= STRETCH {
            rows.iter().for_each(|row| add(&mut sum, of(row)));
            return sum;
        }
        let (first, second) = rows.split_at(rows.len() / 2);
        let part = |rows: &[Row]| self.sum(rows, of, add);
        let (first, second) = if self.threads {
            rayon::join(|| part(first), || part(second))
        } else {
            (part(first), part(second))
        };
        add(&mut sum, first);
        add(&mut sum, second);
        sum
    }
}
