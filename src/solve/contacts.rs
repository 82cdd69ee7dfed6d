//! Many contacts with friction at once, by Gauss–Seidel on nodal velocities.
//!
//! ```text
//! contact α   points i with weights c, rows Q = (n, t₁, t₂)      u = Q(Σ cᵢ vᵢ − v_outer)      shift s
//! its force   r ↦ vᵢ + Δt cᵢ Mᵢ⁻¹ Qᵀr                            W = Δt Σ cᵢ² Q Mᵢ⁻¹ Qᵀ
//! one sweep   for every α: with b = u + s n − W r solve the contact alone, and move its nodes by what that changes
//! ```
//!
//! The operator between contacts is never formed: the velocities of the nodes carry it. Where the points of a contact
//! are free, or held in the same directions across its normal, W = w·1 and the contact has a closed form; else its block
//! is solved exactly.
//!
//! **Order.** Contacts that share a node are of different colours (greedy, in the order of the list); contacts that hang
//! together by shared nodes form an *island*. A sweep goes colour by colour, each island by itself until it is done. In
//! a colour nobody meets, so who goes first changes nothing: any number of threads gives the same bits.
//!
//! **Stop.** An island is done when a sweep changes no velocity by more than `tolerance` times the scale it is given. Forces
//! are no measure: contacts that say the same thing twice pass their share to and fro while nothing moves.
//!
//! **Sign.** Forces act on the side with positive weights, n points to it; `s > 0` leaves room to close.
//!
//! Read by the methods that solve contact as a whole.

use super::local;
use crate::contact::friction::{project_to_cone, tangent_frame};
use crate::math::{Mat3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Points of the largest contact: a node on a quadrilateral.
pub const POINTS: usize = 5;
/// Share of what a node can move below which a contact cannot be opened.
const HELD: f64 = 1e-12;
/// Determinant of a block, over its mean to the third, below which it cannot move some direction.
const SINGULAR: f64 = 1e-9;
/// A projector that leaves a normal alone to round-off.
const ALONG: f64 = 1e-12;
/// Colours with fewer contacts are gone through by one thread.
const FEW: usize = 64;
/// Contacts of islands that one thread goes through at a stretch.
const STRETCH: usize = 128;
/// Colours that a node remembers one by one; what comes later is counted up.
const REMEMBERED: u32 = 128;
const NONE: u32 = u32::MAX;

/// One contact: what the caller says of it, and the force that is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    pub nodes: [u32; POINTS],
    pub weights: [f64; POINTS],
    pub count: u8,
    pub normal: Vec3,
    /// Velocity of the obstacle's point [m/s]; zero if there is none.
    pub outer: Vec3,
    /// Added to the normal velocity before the law is asked [m/s].
    pub shift: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// Force on the side with positive weights [N]: a guess before, the answer after.
    pub force: Vec3,
}

impl Contact {
    pub fn new(points: &[(u32, f64)], normal: Vec3) -> Contact {
        let mut contact = Contact {
            nodes: [0; POINTS],
            weights: [0.0; POINTS],
            count: points.len().min(POINTS) as u8,
            normal,
            outer: Vec3::zeros(),
            shift: 0.0,
            mu: 0.0,
            force: Vec3::zeros(),
        };
        for (k, &(node, weight)) in points.iter().take(POINTS).enumerate() {
            (contact.nodes[k], contact.weights[k]) = (node, weight);
        }
        contact
    }

    #[inline]
    pub fn points(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let count = usize::from(self.count);
        self.nodes[..count].iter().zip(&self.weights[..count]).map(|(&k, &w)| (k as usize, w))
    }

    /// Relative velocity [m/s]; along the normal, positive is parting.
    #[inline]
    pub fn velocity(&self, v: &[Vec3]) -> Vec3 {
        self.points().fold(-self.outer, |u, (k, c)| u + c * v[k])
    }
}

/// How nodes answer to forces: `M⁻¹ = P/m`.
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    /// 1/m [1/kg]; zero where all directions are held.
    inverse: Vec<f64>,
    /// Which projector; the first is that of free nodes.
    kind: Vec<u32>,
    projectors: Vec<Mat3>,
}

impl Inertia {
    /// From masses and the projectors of the held nodes among them.
    pub fn new<'a>(mass: &[f64], held: impl Iterator<Item = (u32, &'a Mat3)>) -> Inertia {
        let mut inertia = Inertia {
            inverse: mass.iter().map(|m| 1.0 / m).collect(),
            kind: vec![0; mass.len()],
            projectors: vec![Mat3::identity()],
        };
        let mut known = BTreeMap::new();
        for (node, projector) in held {
            if *projector == Mat3::zeros() {
                inertia.inverse[node as usize] = 0.0;
                continue;
            }
            let bits: Vec<u64> = projector.iter().map(|x| x.to_bits()).collect();
            inertia.kind[node as usize] = *known.entry(bits).or_insert_with(|| {
                inertia.projectors.push(*projector);
                inertia.projectors.len() as u32 - 1
            });
        }
        inertia
    }

    /// `M⁻¹` of a node [1/kg].
    #[inline]
    pub fn of(&self, node: usize) -> Mat3 {
        self.inverse[node] * self.projectors[self.kind[node] as usize]
    }

    /// What moves if the nodes of `contact` are pushed along it, over Δt.
    fn response(&self, contact: &Contact) -> Response {
        let (mut kind, mut inverse) = (NONE, 0.0);
        let mut alike = true;
        for (k, c) in contact.points().filter(|p| self.inverse[p.0] > 0.0) {
            alike &= kind == NONE || kind == self.kind[k];
            kind = self.kind[k];
            inverse += c * c * self.inverse[k];
        }
        if inverse == 0.0 {
            return Response::None;
        }
        let n = contact.normal;
        if alike && kind == 0 {
            return Response::Isotropic(inverse, tangent_frame(&n));
        }
        if alike {
            let p = &self.projectors[kind as usize];
            if (p * n - n).norm_squared() <= ALONG * ALONG {
                return Response::Isotropic(inverse, frame_in(p, &n));
            }
        }
        let q = tangent_frame(&n);
        let mut block = Mat3::zeros();
        for (k, c) in contact.points() {
            block += c * c * (q * self.of(k) * q.transpose());
        }
        if block[(0, 0)] <= HELD * inverse { Response::None } else { Response::Coupled(block, q) }
    }
}

enum Response {
    /// Nobody can move along the normal.
    None,
    /// The same in all directions of the frame.
    Isotropic(f64, Mat3),
    Coupled(Mat3, Mat3),
}

/// Rows n, t₁, t₂ of which tangents along which `p` moves nothing are zero: nothing is ever seen or done there.
fn frame_in(p: &Mat3, n: &Vec3) -> Mat3 {
    let zero = nalgebra::RowVector3::zeros();
    let held = Mat3::identity() - p;
    let Some(longest) = (0..3).max_by(|&i, &j| held.column(i).norm().total_cmp(&held.column(j).norm()))
    else {
        return tangent_frame(n);
    };
    if p.trace() < 1.5 {
        return Mat3::from_rows(&[n.transpose(), zero, zero]);
    }
    let out: Vec3 = held.column(longest).normalize();
    let out = if out[longest] < 0.0 { -out } else { out };
    Mat3::from_rows(&[n.transpose(), out.cross(n).transpose(), zero])
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest change of a velocity in the last sweep, of `scale`.
    pub tolerance: f64,
    /// Velocity that counts [m/s].
    pub scale: f64,
    /// Sweeps over an island at most.
    pub sweeps: u32,
    /// Largest error of forces, if that is asked for too: see [`Report::natural`].
    pub natural: Option<f64>,
}

/// What a solve came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Contacts that somebody can open, islands and colours of them.
    pub contacts: usize,
    pub islands: usize,
    pub colours: usize,
    /// Sweeps over the slowest island, and over the mean contact.
    pub sweeps: u32,
    pub sweeps_mean: f64,
    /// Islands that were left at the limit.
    pub unfinished: usize,
    /// Largest change of a velocity in the last sweeps [m/s].
    pub change: f64,
    /// How far the forces are from the law, over their size: `√(Σ w|r − P(r − F/w)|² / Σ w|r|²)`.
    pub natural: f64,
    /// The same as power: `Σ μ r_n|u_t| + u·r` [W], zero where the law holds and never less.
    pub bipotential: f64,
}

/// A contact as it is swept.
#[derive(Clone, Copy, Debug)]
struct Row {
    nodes: [u32; POINTS],
    weights: [f64; POINTS],
    /// `Δt cᵢ/mᵢ`
    push: [f64; POINTS],
    count: u8,
    mu: f64,
    /// W = w·1, or the mean of its diagonal if it has a block.
    w: f64,
    frame: Mat3,
    /// `Q v_outer − s n`
    bias: Vec3,
    r: Vec3,
    /// In [`Contacts::blocks`], or none.
    block: u32,
    /// In the list.
    from: u32,
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
struct Shared([AtomicU64; 3]);

impl Shared {
    #[inline(always)]
    fn get(&self) -> Vec3 {
        let [x, y, z] = &self.0;
        Vec3::new(
            f64::from_bits(x.load(Relaxed)),
            f64::from_bits(y.load(Relaxed)),
            f64::from_bits(z.load(Relaxed)),
        )
    }

    #[inline(always)]
    fn set(&self, v: &Vec3) {
        for (to, x) in self.0.iter().zip(v.iter()) {
            to.store(x.to_bits(), Relaxed);
        }
    }
}

/// Contacts that hang together.
#[derive(Clone, Debug, Default)]
struct Island {
    rows: Range<usize>,
    /// Its colours in [`Contacts::colours`].
    colours: Range<usize>,
    sweeps: u32,
    change: f64,
    finished: bool,
    errors: Errors,
}

/// Sums of the error measures.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    off: f64,
    size: f64,
    free: f64,
    power: f64,
}

impl Errors {
    fn add(&mut self, other: &Errors) {
        self.off += other.off;
        self.size += other.size;
        self.free += other.free;
        self.power += other.power;
    }

    fn natural(&self) -> f64 {
        let size = self.size.max(1e-24 * self.free);
        if size > 0.0 { (self.off / size).sqrt() } else { 0.0 }
    }
}

/// The contacts of a step and the memory to solve them.
#[derive(Debug, Default)]
pub struct Contacts {
    /// In a fixed order, which is the order of colours.
    pub list: Vec<Contact>,
    /// Place of each node among the touched.
    place: Vec<u32>,
    touched: Vec<u32>,
    v: Vec<Shared>,
    /// Of touched nodes: who it hangs together with, colours that are taken, and the next one beyond those.
    parent: Vec<u32>,
    taken: Vec<(u128, u32)>,
    /// (island, colour, contact)
    order: Vec<(u32, u32, u32)>,
    island_of: Vec<u32>,
    rows: Vec<Row>,
    blocks: Vec<Block>,
    /// Ends of colours among the rows, island after island.
    colours: Vec<usize>,
    islands: Vec<Island>,
    /// `w|r|²` of the mean contact of the last solve: what counts as a force beside the tolerance of forces.
    pub typical: f64,
}

impl Contacts {
    /// Finds the forces of all contacts and changes `v` accordingly; the forces in the list are the guess. `dt` [s] is the
    /// time for which forces act.
    pub fn solve(&mut self, inertia: &Inertia, dt: f64, v: &mut [Vec3], limits: &Limits) -> Report {
        self.arrange(inertia, v);
        self.prepare(inertia, dt);
        let threads = rayon::current_num_threads() > 1;
        let Contacts { islands, rows, blocks, colours, v: shared, .. } = self;
        let ask = Ask { blocks, colours, v: shared, limits, threads, typical: self.typical };
        ask.islands(islands, rows);

        for row in &self.rows {
            self.list[row.from as usize].force = row.frame.transpose() * row.r;
        }
        for (&node, shared) in self.touched.iter().zip(&self.v) {
            if inertia.inverse[node as usize] > 0.0 {
                v[node as usize] = shared.get();
            }
            self.place[node as usize] = NONE;
        }
        self.report()
    }

    fn report(&mut self) -> Report {
        let mut report =
            Report { contacts: self.rows.len(), islands: self.islands.len(), ..Report::default() };
        let (mut errors, mut updates) = (Errors::default(), 0.0);
        for island in &self.islands {
            report.colours = report.colours.max(island.colours.len());
            report.sweeps = report.sweeps.max(island.sweeps);
            updates += f64::from(island.sweeps) * island.rows.len() as f64;
            report.change = report.change.max(island.change);
            report.unfinished += usize::from(!island.finished);
            errors.add(&island.errors);
        }
        report.sweeps_mean = updates / self.rows.len().max(1) as f64;
        self.typical = errors.size / self.rows.len().max(1) as f64;
        report.natural = errors.natural();
        report.bipotential = errors.power;
        report
    }

    /// Takes up the velocities of all nodes in contact, finds islands and colours and puts contacts in their order.
    fn arrange(&mut self, inertia: &Inertia, v: &[Vec3]) {
        let Contacts { list, place, touched, v: shared, parent, taken, order, .. } = self;
        place.resize(v.len(), NONE);
        touched.clear();
        parent.clear();
        taken.clear();
        order.clear();
        for contact in list.iter() {
            for (k, _) in contact.points() {
                if place[k] == NONE {
                    place[k] = touched.len() as u32;
                    parent.push(place[k]);
                    taken.push((0, REMEMBERED));
                    touched.push(k as u32);
                }
            }
        }
        if shared.len() < touched.len() {
            shared.resize_with(touched.len(), Shared::default);
        }
        for (&node, shared) in touched.iter().zip(shared.iter()) {
            shared.set(&v[node as usize]);
        }
        for (i, contact) in list.iter().enumerate() {
            let moved =
                || contact.points().filter(|p| inertia.inverse[p.0] > 0.0).map(|p| place[p.0] as usize);
            let Some(first) = moved().next() else { continue };
            let (mut used, mut next) = (0u128, REMEMBERED);
            let mut root = find(parent, first as u32);
            for at in moved() {
                used |= taken[at].0;
                next = next.max(taken[at].1);
                let other = find(parent, at as u32);
                let (low, high) = (root.min(other), root.max(other));
                parent[high as usize] = low;
                root = low;
            }
            let free = used.trailing_ones();
            let colour = if free < REMEMBERED { free } else { next };
            for at in moved() {
                if colour < REMEMBERED {
                    taken[at].0 |= 1 << colour;
                } else {
                    taken[at].1 = colour + 1;
                }
            }
            order.push((first as u32, colour, i as u32));
        }
        // islands are counted in the order of their first nodes
        self.island_of.clear();
        self.island_of.resize(self.touched.len(), NONE);
        let mut count = 0;
        for entry in &mut self.order {
            let root = find(&mut self.parent, entry.0);
            let island = &mut self.island_of[root as usize];
            if *island == NONE {
                *island = count;
                count += 1;
            }
            entry.0 = *island;
        }
        self.order.sort_unstable();
    }

    /// Rows in their order, with the guess applied to the velocities.
    fn prepare(&mut self, inertia: &Inertia, dt: f64) {
        let Contacts { list, place, v, order, rows, blocks, colours, islands, .. } = self;
        for contact in list.iter_mut() {
            contact.force =
                if contact.force.iter().all(|f| f.is_finite()) { contact.force } else { Vec3::zeros() };
        }
        rows.clear();
        blocks.clear();
        colours.clear();
        islands.clear();
        let mut last = (NONE, NONE);
        for &(island, colour, from) in order.iter() {
            let contact = &mut list[from as usize];
            let (w, frame, block) = match inertia.response(contact) {
                Response::None => {
                    contact.force = Vec3::zeros();
                    continue;
                }
                Response::Isotropic(inverse, frame) => (dt * inverse, frame, NONE),
                Response::Coupled(w, frame) => {
                    let mut block = Block { w: dt * w, push: [Mat3::zeros(); POINTS] };
                    for (to, (k, c)) in block.push.iter_mut().zip(contact.points()) {
                        *to = dt * c * (inertia.of(k) * frame.transpose());
                    }
                    blocks.push(block);
                    (dt * w.trace() / 3.0, frame, blocks.len() as u32 - 1)
                }
            };
            if island != last.0 {
                islands.push(Island {
                    rows: rows.len()..rows.len(),
                    colours: colours.len()..colours.len(),
                    ..Island::default()
                });
            }
            if (island, colour) != last {
                colours.push(rows.len());
            }
            last = (island, colour);
            let mut row = Row {
                nodes: [0; POINTS],
                weights: contact.weights,
                push: [0.0; POINTS],
                count: contact.count,
                mu: contact.mu,
                w,
                frame,
                bias: frame * contact.outer - Vec3::new(contact.shift, 0.0, 0.0),
                r: project_to_cone(&(frame * contact.force), contact.mu),
                block,
                from,
            };
            for (i, (k, c)) in contact.points().enumerate() {
                row.nodes[i] = place[k];
                row.push[i] = dt * c * inertia.inverse[k];
            }
            if row.r != Vec3::zeros() {
                row.apply(&row.r, blocks, v);
            }
            rows.push(row);
            if let (Some(island), Some(colour)) = (islands.last_mut(), colours.last_mut()) {
                *colour = rows.len();
                island.rows.end = rows.len();
                island.colours.end = colours.len();
            }
        }
    }
}

/// Who stands for all that hang together with `at`.
fn find(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        let up = parent[parent[at as usize] as usize];
        parent[at as usize] = up;
        at = up;
    }
    at
}

impl Row {
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
    fn update(&mut self, blocks: &[Block], v: &[Shared]) -> f64 {
        let u = self.velocity(v);
        let r = if self.block == NONE {
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
        self.w * dr.norm()
    }

    fn errors(&self, blocks: &[Block], v: &[Shared]) -> Errors {
        let (u, r) = (self.velocity(v), self.r);
        let mut power = self.mu * r.x * u.y.hypot(u.z) + u.dot(&r);
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
            off: self.w * off * off,
            size: self.w * r.norm_squared(),
            free: free.norm_squared() / self.w,
            power,
        }
    }
}

/// What a sweep needs beside its rows.
#[derive(Clone, Copy)]
struct Ask<'a> {
    blocks: &'a [Block],
    colours: &'a [usize],
    v: &'a [Shared],
    limits: &'a Limits,
    threads: bool,
    typical: f64,
}

impl Ask<'_> {
    /// Some islands and their rows, by as many threads as there are.
    fn islands(&self, islands: &mut [Island], rows: &mut [Row]) {
        if !self.threads || islands.len() < 2 || rows.len() < STRETCH {
            let mut rest = rows;
            for island in islands {
                let (own, after) = rest.split_at_mut(island.rows.len());
                self.island(island, own);
                rest = after;
            }
            return;
        }
        let begin = islands[0].rows.start;
        let half = begin + rows.len() / 2;
        let middle = islands.partition_point(|i| i.rows.start < half).clamp(1, islands.len() - 1);
        let cut = islands[middle].rows.start - begin;
        let (first, second) = islands.split_at_mut(middle);
        let (first_rows, second_rows) = rows.split_at_mut(cut);
        rayon::join(|| self.islands(first, first_rows), || self.islands(second, second_rows));
    }

    /// Sweeps over one island until it is done.
    fn island(&self, island: &mut Island, rows: &mut [Row]) {
        let limit = self.limits.tolerance * self.limits.scale;
        for sweep in 1..=self.limits.sweeps {
            (island.change, island.sweeps) = (self.sweep(island, rows), sweep);
            if island.change <= limit {
                island.finished = match self.limits.natural {
                    None => true,
                    Some(most) => {
                        // an island that hardly presses is no matter; half of the error to either measure
                        let errors = self.errors(rows);
                        let size = errors.size.max(self.typical * rows.len() as f64);
                        errors.off <= 0.5 * most * most * size
                    }
                };
                if island.finished {
                    break;
                }
            }
        }
        island.errors = self.errors(rows);
    }

    fn sweep(&self, island: &Island, rows: &mut [Row]) -> f64 {
        let begin = island.rows.start;
        let (mut from, mut change) = (0, 0.0);
        for end in &self.colours[island.colours.clone()] {
            let colour = &mut rows[from..end - begin];
            from = end - begin;
            let serial = |rows: &mut [Row]| {
                rows.iter_mut().fold(0.0, |most: f64, row| most.max(row.update(self.blocks, self.v)))
            };
            let largest = if self.threads && colour.len() >= 2 * FEW {
                colour.par_chunks_mut(FEW).map(serial).reduce(|| 0.0, f64::max)
            } else {
                serial(colour)
            };
            change = f64::max(change, largest);
        }
        change
    }

    fn errors(&self, rows: &[Row]) -> Errors {
        let mut sum = Errors::default();
        for row in rows {
            sum.add(&row.errors(self.blocks, self.v));
        }
        sum
    }
}

#[cfg(test)]
mod tests;
