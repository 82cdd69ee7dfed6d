//! Decomposition contact response (Cirak & West 2005): explicit Newmark, and after it whatever overlaps is put back on
//! the surface and exchanges momentum in closed form. No penalty, no system of equations.
//!
//! ```text
//! 1 predict    x* = x + Δt v + ½Δt² a     v* = v + ½Δt a
//! 2 contact    for every node in a face and every edge in an edge, in a fixed order:
//!              measure anew · project on g = 0
//!              then for all that close: impulses with restitution and friction, together where they share nodes;
//!              and what friction has kept from sliding since the impact goes back along the surface too (d_t)
//! 3 correct    a = M⁻¹ f(x)               v = v* + ½Δt a
//! ```
//!
//! The paper has two readings. Variant P puts step 2 between 1 and 3 and loses a little energy; variant F puts it after
//! 3, evaluates the forces again, and gains a little. P is the default.
//!
//! **Sign.** Gaps are positive when open; the paper's g is the negative gap.
//!
//! **Books.** An impulse J and the displacement d that belongs to it are one event, booked net when both ends of the step are
//! known, with the acceleration a of the node itself (f = −m a):
//!
//! ```text
//! P   restitution −= ΔK_n + ½Δt a₁·J_n − ½m(a₀ + a₁)·d + q    friction −= ΔK_t + ½Δt a₁·J_t − ½m(a₀ + a₁)·d_t − q
//! F   restitution −= ΔK_n + ½(f(x*) + f(x̃))·d + ⅛Δt²M(a*² − ã²)        friction −= ΔK_t + ½(f(x*) + f(x̃))·d_t
//! q = ¼Δt (a₁ − a₀)·J_t
//! ```
//!
//! q comes and goes: a friction impulse stands in the middle of its step, the forces at its ends. With elastic stick and
//! e = 1 friction is then exactly ΔK_t, and never negative. Where e < 1 a step of sticking can give back what one before has
//! taken; what friction's account is short of its highest stand is lent by that of restitution, so that it never falls.
//!
//! In P also ⅛Δt²M a² of the nodes touched in a step, as long as they are: contact holds them while their velocity at the
//! end of the step has half a step of acceleration more. A body at rest would seem to move otherwise.
//! The last term of F: the forces that are evaluated again would break the telescoping ⅛Δt²M a² of the scheme. What is
//! left on the two bars at half the critical step is 0.2 % (P) and 0.7 % (F), and stays bounded.

mod account;
mod collisions;
pub(super) mod exchange;
mod guard;
mod thin;

use super::impulses::Impulses;
use super::newmark::Newmark;
use super::response::Projection;
use super::{Method, Reached, StepError, StepRule, Watch};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use carom_declare::{Count, section, words};
use collisions::Collisions;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

words! {
    /// Where in the step contact is looked at.
    pub enum Variant {
        /// After the predictor: loses a little energy.
        Predictor = "predictor",
        /// After the full step: gains a little.
        FullStep = "full-step",
    }
}

words! {
    /// What is answered together.
    pub enum Exchanges {
        /// Contacts that share nodes.
        Islands = "islands",
        /// Nothing: every contact once a step, one after the other, as published.
        Pairwise = "pairwise",
    }
}

words! {
    /// How much friction a normal impulse bears.
    pub enum Cone {
        /// μ times the normal impulse.
        Coulomb = "coulomb",
        /// (45) as printed, κ = 1: μ times what stops the approach, half of it where e = 1.
        Printed = "printed",
    }
}

section! {
    /// Switches of method "dcr".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "dcr" {
        /// Where in the step contact is looked at.
        variant: Variant;
        /// Edges touch edges.
        edge_edge: bool = true;
        /// Who moves when an overlap is undone.
        projection: Projection;
        /// What is answered together.
        response: Exchanges;
        /// How much friction a normal impulse bears.
        cone: Cone;
        /// How often contacts that share nodes are gone through in a step, at most; it ends when none closes.
        sweeps: u32 as Count = 10;
        /// Look for crossings on the way of every step; unless given, where bodies move so far that they could pass through
        /// each other.
        swept: Option<bool>;
        /// Give back the energy that projections take or add.
        energy_correction: bool;
        /// Give back the angular momentum that projections take.
        spin_correction ("angular_momentum_correction"): bool;
    } with {
        /// End every step certified free of overlaps, whatever it takes; `guard` of [contact].
        guard: bool = false;
    }
}

impl Options {
    /// Impulses need the work of the projections, which variant F knows only with the forces of the new positions.
    fn waits_for_forces(&self) -> bool {
        self.energy_correction && self.variant == Variant::FullStep
    }
}

pub struct Dcr {
    options: Options,
    newmark: Newmark,
    collisions: Collisions,
    /// ⅛Δt²M a² of the nodes touched in the last step, as it stands in the books of variant P.
    half_step_energy: f64,
    /// How far friction is below its highest stand, which is what the books show [J].
    short: f64,
}

impl Dcr {
    /// For use inside the current rayon pool. Shells with two sides are always guarded: what has passed through one is on the
    /// other side, and nothing tells it back.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Self {
        let collisions = Collisions::new(model);
        Dcr {
            options: Options { guard: options.guard || collisions.world.two_sided, ..options },
            newmark: Newmark::new(model, rule),
            collisions,
            half_step_energy: 0.0,
            short: 0.0,
        }
    }

    fn step_after_predictor(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<(), StepError> {
        let mut watch = Watch::start();
        let t1 = self.newmark.end_of_step(state);
        // 1. move as if nothing could touch
        self.newmark.predict(model, state);
        watch.add(&mut ledger.phases.solve);
        // 2. what overlaps or has crossed: back on the surface, exchange momentum
        let touched = self.contact(model, state, t1, ledger, &mut watch)?;
        // 3. new forces, second half of the step, then the books: both ends of the step are known now
        let totals = match self.newmark.evaluate(model, state, t1) {
            Ok(totals) => totals,
            Err(error) => return Err(self.back_to_start(state, error)),
        };
        watch.add(&mut ledger.phases.force);
        let c = &mut self.collisions;
        let touches = c.account.touched(&c.start);
        self.newmark.correct(model, state, t1, touched.then_some(touches), ledger);
        let friction = c.account.post(&mut c.world.impulses, ledger) + self.book_predictor(model, ledger);
        self.book_friction(friction, ledger);
        self.newmark.finish(model, state, t1, &totals, ledger);
        watch.add(&mut ledger.phases.solve);
        Ok(())
    }

    fn step_after_full_step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
    ) -> Result<(), StepError> {
        let mut watch = Watch::start();
        let t1 = self.newmark.end_of_step(state);
        // 1. a full step as if nothing could touch
        self.newmark.predict(model, state);
        watch.add(&mut ledger.phases.solve);
        let mut totals = match self.newmark.evaluate(model, state, t1) {
            Ok(totals) => totals,
            Err(error) => return Err(self.back_to_start(state, error)),
        };
        watch.add(&mut ledger.phases.force);
        self.newmark.correct(model, state, t1, None, ledger);
        watch.add(&mut ledger.phases.solve);
        // 2. what overlaps or has crossed: back on the surface, exchange momentum
        let mut friction = 0.0;
        if self.contact(model, state, t1, ledger, &mut watch)? {
            // 3. the forces of the positions as they are now
            friction += self.book_full_step(model, t1, ledger);
            ledger.restitution -= self.newmark.shift_energy(model);
            (totals, ledger.kinetic) = self.newmark.renew(model, state, t1)?;
            if self.options.energy_correction {
                // the work of the projections is known now; impulses change no force but drag
                self.collisions.measure_work(model, &self.newmark);
                self.collisions.exchange(model, &self.options, &self.newmark, &mut state.v);
                (totals, ledger.kinetic) = self.newmark.renew(model, state, t1)?;
            }
            friction += self.book_full_step(model, t1, ledger);
            ledger.restitution += self.newmark.shift_energy(model);
            self.book_supports(model, state, ledger);
        }
        friction += self.collisions.account.post(&mut self.collisions.world.impulses, ledger);
        self.book_friction(friction, ledger);
        self.newmark.finish(model, state, t1, &totals, ledger);
        watch.add(&mut ledger.phases.force);
        Ok(())
    }

    /// Step 2: finds and answers all contacts of the predicted state; was there any?
    fn contact(
        &mut self,
        model: &Model,
        state: &mut State,
        t1: f64,
        ledger: &mut Ledger,
        watch: &mut Watch,
    ) -> Result<bool, StepError> {
        let c = &mut self.collisions;
        c.world.impulses.forget();
        c.move_to(model, &state.x, t1);
        c.find(&self.options, ledger.penetration)?;
        watch.add(&mut ledger.phases.search);
        c.answer(model, &self.options, &self.newmark, &mut state.v);
        if self.options.guard
            && let Err(error) = c.guard(model, &self.options, &self.newmark, &mut state.v, t1)
        {
            c.close_account();
            return Err(self.back_to_start(state, error));
        }
        c.close_account();
        for node in &c.account.nodes {
            state.x[node.node as usize] = c.world.x[node.node as usize];
        }
        watch.add(&mut ledger.phases.response);
        ledger.penetration = if c.any() { c.penetration(&self.options)? } else { 0.0 };
        watch.add(&mut ledger.phases.search);
        Ok(!c.account.nodes.is_empty())
    }

    /// What the events of a step of variant P have cost beside the impacts themselves; returns what friction has.
    fn book_predictor(&mut self, model: &Model, ledger: &mut Ledger) -> f64 {
        let half = 0.5 * self.newmark.dt();
        let (mut half_step_energy, mut friction) = (0.0, 0.0);
        for n in &self.collisions.account.nodes {
            let (k, m) = (n.node as usize, model.mass[n.node as usize]);
            let a1 = self.newmark.acceleration(k);
            half_step_energy += 0.5 * half * half * m * a1.norm_squared();
            ledger.restitution -= half * a1.dot(&n.normal) - 0.5 * m * (n.a + a1).dot(&n.moved);
            let mean = 0.5 * (n.a + a1);
            friction -= mean.dot(&(half * n.friction - m * n.held_back));
            ledger.restitution -= half * (a1 - mean).dot(&n.friction);
            ledger.correction += half * a1.dot(&n.spin) - 0.5 * m * (n.a + a1).dot(&n.guarded);
        }
        // held by contact, their velocity at the end of a step is half a step of acceleration off
        ledger.restitution -= half_step_energy - self.half_step_energy;
        self.half_step_energy = half_step_energy;
        friction
    }

    /// Books what friction has taken in a step, lent by normal contact as far as it is negative.
    fn book_friction(&mut self, taken: f64, ledger: &mut Ledger) {
        let stand = taken - self.short;
        ledger.friction += stand.max(0.0);
        ledger.restitution += taken - stand.max(0.0);
        self.short = (-stand).max(0.0);
    }

    /// The same of variant F, for one of the two ends of the displacements.
    fn book_full_step(&self, model: &Model, t1: f64, ledger: &mut Ledger) -> f64 {
        let mut friction = 0.0;
        for n in &self.collisions.account.nodes {
            let (force, load) = self.newmark.force_and_load(model, n.node as usize, t1);
            ledger.external += 0.5 * load.dot(&(n.moved + n.held_back + n.guarded));
            ledger.restitution -= 0.5 * (force - load).dot(&n.moved);
            friction -= 0.5 * (force - load).dot(&n.held_back);
            ledger.correction += 0.5 * (force - load).dot(&n.guarded);
        }
        friction
    }

    /// What supports of touched nodes have taken, in variant F.
    fn book_supports(&mut self, model: &Model, state: &State, ledger: &mut Ledger) {
        for n in &self.collisions.account.nodes {
            let k = n.node as usize;
            let taken = self.collisions.held_part(k, model.mass[k], &(n.normal + n.friction));
            if taken != Vec3::zeros() {
                ledger.external -= taken.dot(&state.v[k]);
                ledger.impulse -= taken;
                ledger.moment -= state.x[k].cross(&taken);
                self.newmark.relieve(model, n.node, taken);
            }
        }
    }

    /// Undoes the predictor and whatever contact did after it.
    fn back_to_start(&mut self, state: &mut State, error: StepError) -> StepError {
        let nodes = state.x.len();
        state.x.copy_from_slice(&self.collisions.start[..nodes]);
        self.collisions.account.undo(&mut state.v);
        self.collisions.forget_ways();
        self.newmark.retreat(&mut state.v);
        error
    }

    /// Deepest overlap this method looks for [m].
    pub fn deepest(&self) -> f64 {
        self.collisions.deepest()
    }
}

impl Method for Dcr {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        self.collisions.world.place(model, state.x.par_iter().copied(), state.time);
        self.collisions.forget_ways();
        if self.options.guard {
            self.collisions.part_at_start(&mut state.x)?;
        }
        self.newmark.start(model, state, ledger)?;
        ledger.penetration = self.collisions.penetration_at_start(&self.options)?;
        ledger.penetration_max = ledger.penetration;
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        _: &AtomicBool,
    ) -> Result<Reached, StepError> {
        match self.options.variant {
            Variant::Predictor => self.step_after_predictor(model, state, ledger)?,
            Variant::FullStep => self.step_after_full_step(model, state, ledger)?,
        }
        Ok(Reached::Until)
    }

    fn next_step(&self) -> f64 {
        self.newmark.dt()
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.newmark.support_impulse(held)
    }

    fn search_bytes(&self) -> usize {
        self.collisions.world.search.memory_bytes() + self.collisions.on_the_way.memory_bytes()
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.collisions.world.impulses)
    }

    fn save(&self, record: &mut Record) {
        self.newmark.save("dcr", record);
        record.numbers("dcr.shift", &[self.half_step_energy, self.short]);
        self.collisions.world.save("dcr", record);
        record.vectors("dcr.x", &self.collisions.world.x);
        record.numbers_from("dcr.known", self.collisions.known.iter().flat_map(|k| k.map(f64::from)));
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.newmark.restore("dcr", record)?;
        [self.half_step_energy, self.short] = record.read_values("dcr.shift")?;
        self.collisions.world.restore("dcr", record)?;
        let known = record.get("dcr.known")?;
        self.collisions.known = known.chunks_exact(2).map(|k| [k[0] as u32, k[1] as u32]).collect();
        let facets = self.collisions.world.scene.facets.len();
        if !self.collisions.known.iter().all(|k| (k[1] as usize) < facets) {
            return Err(RecordError::Meaningless("dcr.known".into()));
        }
        record.read_vectors("dcr.x", &mut self.collisions.world.x)
    }
}
