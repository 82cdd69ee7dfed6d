//! Many contacts with friction at once, by Gauss–Seidel on nodal velocities.
//!
//! ```text
//! contact α   points i with weights c, rows Q = (n, t₁, t₂)      u = Q(Σ cᵢ vᵢ − v_outer)      velocity bias s
//! its force   r ↦ vᵢ + Δt cᵢ Mᵢ⁻¹ Qᵀr                            W = Δt Σ cᵢ² Q Mᵢ⁻¹ Qᵀ
//! one sweep   for every α: with b = u + s n − W r solve the contact alone, and move its nodes by what that changes
//! ```
//!
//! The operator between contacts is never formed: the velocities of the nodes carry it. Where the points of a contact
//! are free, or held in the same directions across its normal, W = w·1 and the contact has a closed form; else its block
//! is solved exactly.
//!
//! **Who.** Sweeps go over the *active set*, contacts that press or would close (`contacts/active.rs`); all others are asked once velocities
//! are found, and join if they close.
//!
//! **Order.** Contacts of the active set that share a node are of different colours (greedy, in its order); those that hang
//! together by shared nodes form an *island*. A sweep goes colour by colour, each island by itself until it is done. In
//! a colour nobody meets, so who goes first changes nothing: any number of threads gives the same bits.
//!
//! **Stop.** An island is done when a sweep changes no velocity by more than `tolerance` times the scale it is given. Forces
//! are no measure: contacts that say the same thing twice pass their share to and fro while nothing moves. Where that takes more than a few
//! sweeps, each begins a little beyond what the one before has found (`contacts/momentum.rs`), up to half of those that are allowed, and a thirtieth of the tolerance is
//! asked for; velocities are then made anew from the forces, and the last sweep is one without.
//!
//! **Sign.** Forces act on the side with positive weights, n points to it; `s > 0` leaves room to close.
//!
//! Read by the methods that solve contact as a whole.

mod active;
mod momentum;
mod order;
mod sweep;

use crate::contact::friction::tangent_frame;
use crate::contact::pair::Pair;
use crate::math::{Mat3, Vec3};
use crate::model::inertia::Inertia;
use active::Active;
use carom_declare::words;
use order::{Extent, NONE, Order};
use rayon::prelude::*;
use std::time::Instant;
use sweep::{Errors, Island, Row, STRETCH, Shared, SweepInput};

/// Points of the largest contact: a node on a quadrilateral.
pub(crate) const POINTS: usize = 5;
/// Share of what a node can move below which a contact cannot be opened.
const HELD: f64 = 1e-12;
/// Nodes that one thread goes through at a stretch.
const NODES: usize = 2048;
/// A projector that leaves a normal alone to round-off.
const ALONG: f64 = 1e-12;

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
    pub velocity_bias: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// Force on the side with positive weights [N]: a guess before, the answer after.
    pub force: Vec3,
    /// The force is an answer; else it was left at the limit of sweeps and is a bad guess for the next time.
    pub settled: bool,
}

impl Contact {
    pub fn new(points: &[(u32, f64)], normal: Vec3) -> Contact {
        let mut contact = Contact {
            nodes: [0; POINTS],
            weights: [0.0; POINTS],
            count: points.len().min(POINTS) as u8,
            normal,
            outer: Vec3::zeros(),
            velocity_bias: 0.0,
            mu: 0.0,
            force: Vec3::zeros(),
            settled: true,
        };
        for (k, &(node, weight)) in points.iter().take(POINTS).enumerate() {
            (contact.nodes[k], contact.weights[k]) = (node, weight);
        }
        contact
    }

    /// Of a pair; points without weight are left out.
    pub fn of(pair: &Pair) -> Contact {
        let mut contact = Contact::new(&[], pair.normal);
        contact.outer = pair.outer.map_or(Vec3::zeros(), |outer| outer.velocity);
        for (&node, &weight) in pair.points().iter().zip(pair.weights()).filter(|p| *p.1 != 0.0).take(POINTS)
        {
            let k = usize::from(contact.count);
            (contact.nodes[k], contact.weights[k]) = (node, weight);
            contact.count += 1;
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

    /// What moves if its nodes are pushed along it, over Δt.
    fn response(&self, inertia: &Inertia) -> Response {
        let (mut kind, mut inverse) = (NONE, 0.0);
        let mut alike = true;
        for (k, c) in self.points().filter(|p| inertia.inverse[p.0] > 0.0) {
            alike &= kind == NONE || kind == inertia.kind[k];
            kind = inertia.kind[k];
            inverse += c * c * inertia.inverse[k];
        }
        if inverse == 0.0 {
            return Response::None;
        }
        let n = self.normal;
        if alike && kind == 0 {
            return Response::Isotropic(inverse, tangent_frame(&n));
        }
        if alike {
            let p = &inertia.projectors[kind as usize];
            if (p * n - n).norm_squared() <= ALONG * ALONG {
                return Response::Isotropic(inverse, frame_in(p, &n));
            }
        }
        let q = tangent_frame(&n);
        let mut block = Mat3::zeros();
        for (k, c) in self.points() {
            block += c * c * (q * inertia.of(k) * q.transpose());
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

words! {
    /// How one contact is solved while the others wait.
    pub enum Local {
        /// In closed form.
        Exact = "exact",
        /// As published: projections on the cone until nothing changes.
        Uzawa = "uzawa",
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub local: Local,
    /// Largest change of a velocity in the last sweep, of `scale`.
    pub tolerance: f64,
    /// Velocity that counts [m/s].
    pub scale: f64,
    /// Sweeps over an island at most, and again as many where others have joined it.
    pub sweeps: u32,
    /// Largest error of forces, if that is asked for too: see [`Report::natural_map_residual`].
    pub natural_map_residual: Option<f64>,
}

/// What a solve came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Contacts of the active set that somebody can open, islands and colours of them.
    pub contacts: usize,
    pub islands: usize,
    pub colours: usize,
    /// Sweeps over the slowest island, and over the mean contact.
    pub sweeps: u32,
    pub sweeps_mean: f64,
    /// Sweeps over the mean island.
    pub sweeps_island: f64,
    /// Islands that were left at the limit.
    pub unfinished: usize,
    /// Largest change of a velocity in the last sweeps [m/s].
    pub change: f64,
    /// How far the forces are from the law, over their size: `√(Σ w|r − P(r − F/w)|² / Σ w|r|²)`. Forces that move nothing
    /// by more than the tolerance count as if they did: what two bodies feel that fly side by side is round-off.
    pub natural_map_residual: f64,
    /// The same as power: `Σ μ r_n|u_t| + u·r` [W], zero where the law holds and never less.
    pub bipotential: f64,
}

/// Wall time [s]: to put contacts in their order and back, and to sweep over them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    pub arrange: f64,
    pub sweep: f64,
}

/// The contacts of a step and the memory to solve them.
#[derive(Debug, Default)]
pub struct Contacts {
    pub list: Vec<Contact>,
    active: Active,
    order: Order,
    v: Vec<Shared>,
    found: Vec<Shared>,
    rows: Vec<Row>,
    forces: Vec<Vec3>,
    islands: Vec<Island>,
    /// Wall time of all solves so far.
    pub seconds: Seconds,
    /// `w|r|²` of the mean contact of the last solve: what counts as a force beside the tolerance of forces.
    pub typical: f64,
}

impl Contacts {
    /// Finds the forces of all contacts and changes `v` accordingly; the forces in the list are the guess. `dt` [s] is the
    /// time for which forces act.
    pub fn solve(&mut self, inertia: &Inertia, dt: f64, v: &mut [Vec3], limits: &Limits) -> Report {
        let begin = Instant::now();
        let threads = rayon::current_num_threads() > 1;
        let mut sweeping = 0.0;
        self.active.begin(&mut self.list, v);
        loop {
            self.arrange(inertia, v);
            let Contacts { list, active, order, v: shared, found, rows, forces, islands, typical, .. } = self;
            let arranged = Instant::now();
            let input = SweepInput {
                list,
                active: &active.set,
                order,
                inertia,
                dt,
                free: v,
                v: shared,
                found,
                limits,
                threads,
                typical: *typical,
            };
            input.islands(islands, rows, forces);
            sweeping += arranged.elapsed().as_secs_f64();
            self.take_forces();
            if !self.active.join(&self.list, &self.order, &self.islands, &self.v, v) {
                break;
            }
        }
        let moving = &self.v[..self.order.still];
        v.par_iter_mut().zip(&self.order.place).with_min_len(NODES).for_each(|(v, &place)| {
            if let Some(shared) = moving.get(place as usize) {
                *v = shared.get();
            }
        });
        let report = self.report(limits);
        self.seconds.sweep += sweeping;
        self.seconds.arrange += begin.elapsed().as_secs_f64() - sweeping;
        report
    }

    /// Order of the active set, and room for its islands, rows and nodes.
    fn arrange(&mut self, inertia: &Inertia, free: &[Vec3]) {
        let Contacts { list, active, order, v, found, rows, forces, islands, .. } = self;
        order.find(list, &active.set, inertia, free.len());
        rows.resize(order.contacts.len(), Row::default());
        forces.resize(order.contacts.len(), Vec3::zeros());
        v.resize_with(order.nodes.len(), Shared::default);
        found.resize_with(order.nodes.len(), Shared::default);
        for (to, &node) in v[order.still..].iter().zip(&order.nodes[order.still..]) {
            to.set(&free[node as usize]);
        }
        islands.resize_with(order.islands.len(), Island::default);
        for (island, extent) in islands.iter_mut().zip(&order.islands) {
            island.begin(extent, active.outcome(order, extent));
        }
    }

    /// Puts the forces that were found into the list.
    fn take_forces(&mut self) {
        let Contacts { list, active, order, forces, islands, .. } = self;
        let all = list.par_iter_mut().zip(&active.place).with_min_len(STRETCH);
        all.for_each(|(contact, &place)| {
            let Some(placement) = order.placements.get(place as usize) else { return };
            (contact.force, contact.settled) = match forces.get(placement.row as usize) {
                Some(force) => (*force, islands[placement.island as usize].outcome.finished),
                None => (Vec3::zeros(), true),
            };
        });
    }

    fn report(&mut self, limits: &Limits) -> Report {
        let mut report = Report { islands: self.islands.len(), ..Report::default() };
        let (mut errors, mut updates) = (Errors::default(), 0.0);
        for Island { extent, outcome, .. } in &self.islands {
            report.colours = report.colours.max(extent.colours.len());
            report.sweeps = report.sweeps.max(outcome.sweeps);
            report.sweeps_island += f64::from(outcome.sweeps) / self.islands.len() as f64;
            updates += f64::from(outcome.sweeps) * extent.rows.len() as f64;
            report.change = report.change.max(outcome.change);
            report.unfinished += usize::from(!outcome.finished);
            errors.add(&outcome.errors);
        }
        report.contacts = errors.count;
        report.sweeps_mean = updates / self.rows.len().max(1) as f64;
        self.typical = errors.size / errors.count.max(1) as f64;
        report.natural_map_residual = errors.share(limits.tolerance * limits.scale).sqrt();
        report.bipotential = errors.power;
        report
    }
}

#[cfg(test)]
mod tests;
