//! Nonsmooth variational contact (Kane, Repetto, Ortiz & Marsden 1999; Pandolfi, Kane, Marsden & Ortiz 2002): every step is one
//! minimisation over the positions without overlap.
//!
//! ```text
//! 1 predict    φᵖʳᵉ = φ + Δt v + ½Δt² a
//! 2 contact    φ′ = argmin over 𝒞 of (φ′ − φᵖʳᵉ)ᵀ M (φ′ − φᵖʳᵉ) / Δt²  (+ friction)      F = 2M(φ′ − φᵖʳᵉ)/Δt²
//! 3 correct    a′ = M⁻¹ f(φ′)      v′ = v + ½Δt (a + a′) + Δt M⁻¹F
//! ```
//!
//! 𝒞 is bounded by signed areas and volumes of boundary simplices ([`simplex`]), chosen where trial positions overlap
//! ([`detect`]) until none do; the minimum over them is found by sequential quadratic programs ([`program`]). No gap function and no
//! normal is asked for, so corners may meet corners. This is the member β = 0, γ = ½ of the published family.
//!
//! **Sign.** g > 0 is open; F acts on the bodies, λ ≥ 0 is compression.
//!
//! **Loss.** A node that meets a wall at the share θ of a step leaves with |1 − 2θ| times its speed: the published scheme has a
//! restitution of its own, which follows from the phase of the step. A deck cannot ask for another.
//!
//! **Books.** With F = 2M(φ′ − φᵖʳᵉ)/Δt² the kinetic energy changes by `(½(f + f′) + F)·[Δφ + ¼Δt²(a′ − a)]`. What F does is booked as
//!
//! ```text
//! friction    += Σ p·s            never negative
//! restitution −= F_n·Δφ + ¼Δt² F·(a′ − a)      normal forces; and what the lag of the velocity makes of all of F
//! ```
//!
//! and `½(f + f′)·¼Δt²(a′ − a) = ⅛Δt²M(a′² − a²)` telescopes, as it does without contact.

pub(crate) mod detect;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod simplex;

use super::impulses::Impulses;
use super::newmark::{ContactKick as Kick, Newmark, Touched, UNTOUCHED};
use super::step_control::StepRule;
use super::{Method, StepError, Watch};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use carom_declare::{Count, section};
use detect::{ACCEPTED, Admissible, Key};
use program::{Friction, Gradient, Program};
use simplex::ContactKind;

section! {
    /// Switches of method "nonsmooth".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "nonsmooth" {
        /// Where the gradients are taken along which contact presses.
        gradient ("contact_gradient"): Gradient;
        /// What friction acts on.
        friction: Friction;
        /// Times that positions are looked at in a step, at most.
        looks: u32 as Count = 60;
        /// Times that a step is halved, at most.
        halvings: u32 = 5;
    } with {
        /// Where two facets cost the same, leave through the last and not through the first.
        other_branch: bool = false;
    }
}

/// Bodies that overlap at the start by more than this share of the local size are refused; less is moved apart.
const MOVED_APART: f64 = 1e-3;

/// What the contacts of the last step were, for those who ask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Looks at trial positions and quadratic programs.
    pub looks: u32,
    pub programs: u32,
    /// Constraints of the working set, and those that press.
    pub constraints: usize,
    pub active: usize,
    /// Work of normal forces `F_n·Δφ` and of friction `Σ p·s` [J].
    pub normal_work: f64,
    pub friction_work: f64,
    /// Largest `|p| / μN̂`, and the least `p·s` [J].
    pub cone: f64,
    pub least_dissipation: f64,
}

/// Shortened steps that are left, and the usual length [s].
#[derive(Clone, Copy, Debug, Default)]
struct Short {
    left: u64,
    usual: f64,
}

pub struct Nonsmooth {
    options: Options,
    newmark: Newmark,
    at: Admissible,
    program: Program,
    banned: Vec<Key>,
    /// Place of each node among the touched, and what contact does to them.
    slot: Vec<u32>,
    touched: Vec<u32>,
    kicks: Vec<Kick>,
    /// Acceleration of the touched nodes at the start of the step.
    before: Vec<Vec3>,
    start: Vec<Vec3>,
    short: Short,
    impulses: Impulses,
    pub report: Report,
}

impl Nonsmooth {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Self {
        let nodes = model.reference.len();
        let mut at = Admissible::new(model);
        at.last_of_equals = options.other_branch;
        Nonsmooth {
            options,
            newmark: Newmark::new(model, rule),
            at,
            program: Program::default(),
            banned: Vec::new(),
            slot: vec![UNTOUCHED; nodes],
            touched: Vec::new(),
            kicks: Vec::new(),
            before: Vec::new(),
            start: vec![Vec3::zeros(); nodes],
            short: Short::default(),
            impulses: Impulses::new(nodes),
            report: Report::default(),
        }
    }

    /// The working set and the multipliers of the last step.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Contact force on each node in the last step [N].
    pub fn contact_forces(&self) -> Vec<Vec3> {
        let force = |k: usize| match self.kicks.get(self.slot[k] as usize) {
            Some(kick) => kick.impulse / self.newmark.dt(),
            None => Vec3::zeros(),
        };
        (0..self.slot.len()).map(force).collect()
    }

    fn try_step(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let mut watch = Watch::start();
        let t1 = self.newmark.end_of_step(state);
        // 1. move as if nothing could touch
        self.start.copy_from_slice(&state.x);
        self.newmark.predict(model, state);
        self.at.begin(model, &self.start, &state.x, [state.time, t1]);
        watch.add(&mut ledger.phases.solve);
        // 2. the nearest positions without overlap
        let looked = self.minimise(model, ledger, &mut watch, t1);
        self.release();
        let depth = match looked {
            Ok(depth) => depth,
            Err(error) => return Err(self.back_to_start(state, error)),
        };
        self.kick(model, state);
        watch.add(&mut ledger.phases.response);
        // 3. new forces, second half of the step, then the books: both ends of the step are known now
        let totals = match self.newmark.evaluate(model, state, t1) {
            Ok(totals) => totals,
            Err(error) => return Err(self.back_to_start(state, error)),
        };
        watch.add(&mut ledger.phases.force);
        let touched = Touched { start: &self.start, slot: &self.slot, list: &self.kicks };
        self.newmark.correct(model, state, t1, (!self.kicks.is_empty()).then_some(touched), ledger);
        self.book(model, ledger);
        self.program.remember();
        ledger.penetration = depth;
        self.newmark.finish(model, state, t1, &totals, ledger);
        watch.add(&mut ledger.phases.solve);
        Ok(())
    }

    /// Step 2: trial positions to the minimum over 𝒞. Returns the deepest overlap that is left [m].
    fn minimise(
        &mut self,
        model: &Model,
        ledger: &mut Ledger,
        watch: &mut Watch,
        time: f64,
    ) -> Result<f64, StepError> {
        let Options { gradient, friction, looks, .. } = self.options;
        self.program.clear();
        self.banned.clear();
        self.report = Report::default();
        for look in 1..=looks {
            let found = self.at.detect(model, &mut self.program.work, &self.banned)?;
            watch.add(&mut ledger.phases.search);
            self.report.looks = look;
            if found.new == 0 {
                return if found.left == 0 && self.program.violation(&self.at) <= ACCEPTED {
                    Ok(found.depth)
                } else {
                    Err(self.inadmissible(found.depth, time))
                };
            }
            self.program.adopt(&self.at);
            loop {
                let dt = self.newmark.dt();
                let solved = self.program.solve(&mut self.at, dt, gradient, friction);
                self.report.programs += solved.programs as u32;
                if !solved.converged {
                    return Err(self.inadmissible(found.depth, time));
                }
                // what presses where its features have ended acts on nothing
                let (work, lambda) = (&self.program.work, &self.program.lambda);
                let ghosts = work.iter().zip(lambda).filter(|(c, l)| **l > 0.0 && self.at.is_ghost(c));
                let ghosts: Vec<Key> = ghosts.map(|(c, _)| c.key).collect();
                if ghosts.is_empty() {
                    break;
                }
                let nodes = self.program.nodes.clone();
                self.program.drop(&self.at, &ghosts);
                for k in nodes {
                    self.at.now[k as usize] = self.at.pre[k as usize];
                }
                self.banned.extend(ghosts);
            }
            watch.add(&mut ledger.phases.response);
        }
        Err(self.inadmissible(f64::NAN, time))
    }

    fn inadmissible(&self, depth: f64, time: f64) -> StepError {
        let worst =
            self.program.work.iter().max_by(|p, q| self.at.distance(q).total_cmp(&self.at.distance(p)));
        let name = |b: u32| self.at.scene.bodies[b as usize].name.clone();
        let [first, second] = worst.map_or([0, 0], |c| c.bodies).map(name);
        StepError::Inadmissible { first, second, time, dt: self.newmark.dt(), depth }
    }

    /// Forgets who was touched in the step before.
    fn release(&mut self) {
        for &k in &self.touched {
            self.slot[k as usize] = UNTOUCHED;
        }
        self.touched.clear();
        self.kicks.clear();
        self.before.clear();
    }

    /// Gives positions and velocities of the minimum to the state.
    fn kick(&mut self, model: &Model, state: &mut State) {
        let dt = self.newmark.dt();
        let program = &self.program;
        for &k in &program.nodes {
            self.slot[k as usize] = self.touched.len() as u32;
            self.touched.push(k);
            self.before.push(self.newmark.acceleration(k as usize));
            self.kicks.push(Kick::default());
        }
        // nodes that are held altogether feel the impulse too: their supports answer
        for c in &program.work {
            for &k in c.simplex.ids() {
                if (k as usize) < model.mass.len() && self.slot[k as usize] == UNTOUCHED {
                    self.slot[k as usize] = self.touched.len() as u32;
                    self.touched.push(k);
                    self.before.push(self.newmark.acceleration(k as usize));
                    self.kicks.push(Kick::default());
                }
            }
        }
        for (i, c) in program.work.iter().enumerate() {
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                if (k as usize) < model.mass.len() {
                    let force = program.normal_on(i, a) + program.friction_on(i, a);
                    self.kicks[self.slot[k as usize] as usize].impulse += dt * force;
                }
            }
        }
        for (&k, kick) in self.touched.iter().zip(&mut self.kicks) {
            let k = k as usize;
            kick.kick = self.at.inv_mass[k] * kick.impulse;
            state.x[k] = self.at.now[k];
            state.v[k] += kick.kick;
        }
    }

    /// The books of contact.
    fn book(&mut self, model: &Model, ledger: &mut Ledger) {
        let dt = self.newmark.dt();
        let quarter = 0.25 * dt;
        for ((&k, kick), a0) in self.touched.iter().zip(&self.kicks).zip(&self.before) {
            let k = k as usize;
            // the part that a support takes moves nobody
            let free = model.mass[k] * kick.kick;
            ledger.restitution -= quarter * free.dot(&(self.newmark.acceleration(k) - a0));
            self.impulses.received[k] += kick.impulse;
        }
        let (program, at) = (&self.program, &self.at);
        let mut contacts = 0;
        for (i, c) in program.work.iter().enumerate().filter(|(i, _)| program.lambda[*i] > 0.0) {
            contacts += 1;
            let (mut on_first, mut on_second, mut moment) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
            let mut normal = 0.0;
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                let way = at.now[k as usize] - at.start[k as usize];
                let (n, t) = (program.normal_on(i, a), program.friction_on(i, a));
                normal += n.dot(&way);
                let first = a == 0 || a == 1 && c.key.0 == ContactKind::EdgeEdge;
                if (k as usize) < model.mass.len() {
                    let middle = match self.options.gradient {
                        Gradient::End => at.now[k as usize],
                        Gradient::Midpoint => at.now[k as usize] - 0.5 * way,
                    };
                    moment += middle.cross(&(n + t));
                    *(if first { &mut on_first } else { &mut on_second }) += n + t;
                } else {
                    // the drive of an obstacle does what the obstacle does
                    let way = if c.key.0 == ContactKind::NodePlane && a == 1 { c.carried } else { way };
                    ledger.external -= n.dot(&(at.now[k as usize] - at.start[k as usize])) + t.dot(&way);
                }
            }
            let slip = program.slip(i, &at.start, &at.now, self.options.friction);
            let rubbed: f64 = slip.iter().zip(&program.tangential[i]).map(|(s, p)| s.dot(p)).sum();
            ledger.restitution -= normal;
            ledger.friction += rubbed;
            self.report.normal_work += normal;
            self.report.friction_work += rubbed;
            self.report.least_dissipation = self.report.least_dissipation.min(rubbed);
            let bound = program.bound(i, self.options.friction);
            if bound > 0.0 {
                let p = program.tangential[i].iter().map(|p| p.norm_squared()).sum::<f64>().sqrt();
                self.report.cone = self.report.cone.max(p / bound);
            }
            let rigid = c.bodies.map(|b| at.scene.bodies[b as usize].attributes.rigid());
            if rigid[0] || rigid[1] {
                ledger.impulse += dt * (on_first + on_second);
                ledger.moment += dt * moment;
            }
            let on = if rigid[0] { -on_second } else { on_first };
            self.impulses.add(c.bodies, dt * on);
        }
        (self.report.constraints, self.report.active) = (program.work.len(), contacts);
        ledger.contacts = contacts as u64;
        ledger.collision_kicks += contacts as u64;
    }

    /// Undoes the predictor and whatever contact did after it.
    fn back_to_start(&mut self, state: &mut State, error: StepError) -> StepError {
        state.x.copy_from_slice(&self.start);
        for (&k, kick) in self.touched.iter().zip(&self.kicks) {
            state.v[k as usize] -= kick.kick;
        }
        self.newmark.retreat(&mut state.v);
        error
    }

    /// Moves bodies apart that overlap a little at the start, without giving them a velocity; refuses those that overlap more.
    fn part_at_start(&mut self, model: &Model, state: &mut State) -> Result<f64, StepError> {
        self.at.begin(model, &state.x, &state.x, [state.time, state.time]);
        self.program.clear();
        for _ in 0..self.options.looks {
            let found = self.at.detect(model, &mut self.program.work, &[])?;
            if found.new == 0 {
                break;
            }
            let deep = |c: &&detect::Constraint| -self.at.distance(c) > MOVED_APART * c.size;
            if let Some(c) = self.program.work[self.program.lambda.len()..].iter().find(deep) {
                let name = |b: u32| self.at.scene.bodies[b as usize].name.clone();
                let [first, second] = c.bodies.map(name);
                return Err(StepError::OverlapAtStart { first, second, depth: -self.at.distance(c) });
            }
            self.program.adopt(&self.at);
            // any step will do: only positions are wanted
            self.program.solve(&mut self.at, 1.0, Gradient::End, Friction::Slip);
        }
        for &k in &self.program.nodes {
            state.x[k as usize] = self.at.now[k as usize];
        }
        self.program.clear();
        self.at.begin(model, &state.x, &state.x, [state.time, state.time]);
        Ok(self.at.detect(model, &mut Vec::new(), &[])?.depth)
    }
}

impl Method for Nonsmooth {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let depth = self.part_at_start(model, state)?;
        self.newmark.start(model, state, ledger)?;
        (ledger.penetration, ledger.penetration_max) = (depth, depth);
        Ok(())
    }

    fn step(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        for halved in 0..=self.options.halvings {
            match self.try_step(model, state, ledger) {
                Err(StepError::Inadmissible { .. }) if halved < self.options.halvings => {
                    if self.short.left == 0 {
                        self.short.usual = self.newmark.dt();
                        self.short.left = 1;
                    }
                    self.short.left *= 2;
                    self.newmark.set_step(state, 0.5 * self.newmark.dt());
                }
                Err(error) => return Err(error),
                Ok(()) => break,
            }
        }
        if self.short.left > 0 {
            self.short.left -= 1;
            if self.short.left == 0 {
                self.newmark.set_step(state, self.short.usual);
            }
        }
        Ok(())
    }

    fn next_step(&self) -> f64 {
        self.newmark.dt()
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.newmark.support_impulse(held)
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.impulses)
    }

    fn save(&self, record: &mut Record) {
        self.newmark.save("nonsmooth", record);
        self.impulses.save("nonsmooth", record);
        record.numbers("nonsmooth.short", &[self.short.left as f64, self.short.usual]);
        let memory = &self.program.memory;
        let keys: Vec<f64> = memory
            .iter()
            .flat_map(|m| [m.0.0 as u8 as f64, f64::from(m.0.1), f64::from(m.0.2), m.1])
            .collect();
        let forces: Vec<Vec3> = memory.iter().flat_map(|m| m.2).collect();
        record.numbers("nonsmooth.multipliers", &keys);
        record.vectors("nonsmooth.tangential", &forces);
    }

    fn restore(&mut self, model: &Model, record: &Record) -> Result<(), RecordError> {
        self.newmark.restore(model, "nonsmooth", record)?;
        self.impulses.restore("nonsmooth", record)?;
        let mut short = [0.0; 2];
        record.read_numbers("nonsmooth.short", &mut short)?;
        self.short = Short { left: short[0] as u64, usual: short[1] };
        let keys = record.get("nonsmooth.multipliers")?;
        let mut forces = vec![Vec3::zeros(); keys.len()];
        record.read_vectors("nonsmooth.tangential", &mut forces)?;
        let touches = [
            ContactKind::NodePoint,
            ContactKind::NodePlane,
            ContactKind::NodeSegment,
            ContactKind::NodeTriangle,
            ContactKind::EdgeEdge,
        ];
        self.program.memory.clear();
        for (k, f) in keys.chunks_exact(4).zip(forces.chunks_exact(4)) {
            let Some(&touch) = touches.get(k[0] as usize) else {
                return Err(RecordError::Outside("nonsmooth.multipliers".into()));
            };
            self.program.memory.push(((touch, k[1] as u32, k[2] as u32), k[3], [f[0], f[1], f[2], f[3]]));
        }
        Ok(())
    }
}
