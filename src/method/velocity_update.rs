//! Energy-momentum contact with an update of velocities (Love & Laursen 2003), and implicit Newmark with the same penalties.
//!
//! ```text
//! 1  g of every point of contact at the start
//! 2  (2/Δt) M (Δd/Δt − v) + f̄ − f_c = E        by Newton's method; rounds of augmentation if asked for
//! 3  impulses j_l of the points in contact, so that the step loses what friction takes and nothing else
//! 4  v⁺ = 2Δd/Δt − v + M⁻¹ Σ j_l
//! ```
//!
//! The bulk is integrated by the midpoint rule with forces between two configurations, which conserve energy and momenta; contact acts at points
//! of facets (`points.rs`) by operators of the middle of the step (`kinematics.rs`), which conserve momenta whatever tractions are;
//! penalties (`traction.rs`) take energy, and the update (`update.rs`) gives it back. Supports, prescribed motion, loads and damping act
//! in the middle of the step.
//!
//! **Books.** `contact` is zero: only kinetic and strain energy are conserved. `friction` is what slip took, in the middle of the step and in the
//! update; `correction` is what the update could not do. In `newmark-penalty` `contact` is the energy of the springs, friction the mean of its forces
//! at both ends times the way, and what the scheme creates or loses is the error.
//!
//! A step is solved by whole increments of Newton's method (`multipliers.rs`). Where that does not converge a line search tries from where velocities
//! lead; then the step is done in two halves, and the last of these also from where the step begins and from half way.

mod augmentation;
mod books;
mod equations;
mod kinematics;
mod mass;
mod multipliers;
mod options;
mod points;
mod potential;
mod rebound;
mod traction;
mod update;

use super::bipotential_implicit::external;
use super::chunks::follow_supports;
use super::contact_world::ContactWorld;
use super::impulses::Impulses;
use super::in_parts::{step_in_parts, unsolved};
use super::step_control::StepControl;
use super::{Method, Reached, StepError, StepRule, Watch};
use crate::contact::scene::{FacetKind, Scene};
use crate::element::Positions;
use crate::math::Vec3;
use crate::model::between::ForcesBetween;
use crate::model::forces::Forces;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::newton::{Leap, Limits, Newton, Outcome, Stuck, Trouble};
use crate::solve::sparse::FactorError;
pub use equations::Seconds;
use equations::{Elements, Equations, Inside, Work};
use mass::Mass;
use multipliers::States;
use points::{Missed, Points};
use std::sync::atomic::AtomicBool;
use traction::{Contact, Law, Multiplier, Scheme};

pub use options::{MassKind, Options, Quadrature, Rule, newmark};

/// What may be left of the balance of forces, of their size.
const RESIDUAL_TOL: f64 = 1e-10;
/// Whole increments in a row that may bring no residual that is smaller by a tenth.
const PATIENCE: u32 = 10;
/// Iterations of the line search, where a step can still be halved: halves are cheaper than a search that creeps.
const SEARCH: u32 = 25;
/// Penalty over the stiffness of elements.
const STIFF: f64 = 50.0;
/// Over how far nodes would go, how far they may before candidates are looked for again, and at all.
const AHEAD: f64 = 2.0;
const BEYOND: f64 = 16.0;

/// Why a model cannot be carried by these methods.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotPossible {
    #[error("elements of body `{0}` have no forces between two configurations, which conserve energy")]
    NotBetween(String),
    #[error("the consistent mass cannot be factored: {0}")]
    Mass(FactorError),
    #[error("body `{0}` is a shell, whose surface has two sides; contact at points of facets knows one")]
    Shell(String),
}

/// Steps in which something was not as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    /// Newton's method in the last step.
    iterations: u64,
    halved: u64,
    bounded: u64,
    /// Augmentation that ended before its time.
    loose: u64,
    stick: u64,
    slip: u64,
}

/// Forces at the start of the step [N], for the books of `newmark-penalty`: of loads, supports, contact, and its part along surfaces.
#[derive(Clone, Debug, Default)]
struct Last {
    load: Vec<Vec3>,
    support: Vec<Vec3>,
    pressed: Vec<Vec3>,
    rubbed: Vec<Vec3>,
}

pub struct VelocityUpdate {
    options: Options,
    name: &'static str,
    control: StepControl,
    world: ContactWorld,
    work: Work,
    newton: Newton,
    /// Velocities at the end, obstacles behind.
    velocity: Vec<Vec3>,
    last: Last,
    support: Vec<Vec3>,
    /// Multipliers that the next step begins with.
    carried: Vec<Multiplier>,
    /// Velocities that the first iterate of the next step is looked for with [m/s].
    outset: Vec<Vec3>,
    counts: Counts,
    seconds: Seconds,
}

impl VelocityUpdate {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Result<Self, NotPossible> {
        let elements = Elements::Between(ForcesBetween::new(model).map_err(NotPossible::NotBetween)?);
        let mut method = Self::with(model, rule, options, Scheme::Middle, elements)?;
        method.work.whole_cone = options.update == Rule::Split;
        if options.mass == MassKind::Consistent {
            method.work.mass = Mass::consistent(model, &method.work.unknowns).map_err(NotPossible::Mass)?;
        }
        Ok(method)
    }

    /// Implicit Newmark, β = ¼ and γ = ½, which conserves nothing in contact.
    pub fn newmark(model: &Model, rule: StepRule, options: newmark::Options) -> Result<Self, NotPossible> {
        Self::with(model, rule, options.shared(), Scheme::End, Elements::Now(Forces::new(model)))
    }

    fn with(
        model: &Model,
        rule: StepRule,
        options: Options,
        scheme: Scheme,
        elements: Elements,
    ) -> Result<Self, NotPossible> {
        let world = ContactWorld::new(model, false);
        let meets = |b: u32| world.scene.meets_anybody(b);
        let thin = (0..).zip(&world.scene.bodies).find(|(b, body)| body.attributes.two_sided() && meets(*b));
        if let Some((_, body)) = thin {
            return Err(NotPossible::Shell(body.name.clone()));
        }
        let points = Points::new(model, &world, options.quadrature, options.pass);
        let nodes = points.nodes();
        let carried = vec![Multiplier::default(); points.list.len()];
        Ok(VelocityUpdate {
            carried,
            outset: vec![Vec3::zeros(); model.reference.len()],
            options,
            name: if scheme == Scheme::Middle { "velocity-update" } else { "newmark-penalty" },
            control: StepControl::new(rule),
            work: Work::new(model, scheme, elements, points, Vec::new()),
            newton: Newton::default(),
            velocity: vec![Vec3::zeros(); nodes],
            last: Last {
                load: vec![Vec3::zeros(); model.reference.len()],
                support: vec![Vec3::zeros(); model.restraints.held.len()],
                pressed: vec![Vec3::zeros(); nodes],
                rubbed: vec![Vec3::zeros(); nodes],
            },
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            counts: Counts::default(),
            seconds: Seconds::default(),
            world,
        })
    }

    /// Iterations altogether, and steps that were halved.
    pub fn effort(&self) -> (u64, u64) {
        (self.newton.iterations, self.counts.halved)
    }

    /// Wall time of the parts of all steps so far.
    pub fn seconds(&self) -> Seconds {
        self.seconds
    }

    /// Penalties between all bodies, for steps of length `dt`.
    fn settle_laws(&mut self, model: &Model, dt: f64) {
        let stiffness: Vec<f64> =
            (0..model.bodies.len()).map(|b| stiffness(model, &self.world.scene, b)).collect();
        let of = |b: usize| stiffness.get(b).copied().unwrap_or(f64::INFINITY);
        let bodies = self.world.scene.bodies.len();
        let law = |a: usize, b: usize| {
            let own = STIFF * of(a).min(of(b));
            let normal = self.options.normal_penalty.unwrap_or(if own.is_finite() { own } else { 0.0 });
            let tangential = self.options.tangential_penalty.unwrap_or(normal * dt);
            let stiff = own / STIFF;
            // how stiff the springs are that decide who presses, sticks and slips
            let soft = |spring: f64| if spring > stiff && stiff > 0.0 { stiff / spring } else { 1.0 };
            let soft = [soft(normal), soft(tangential / dt)];
            Law { normal, tangential, soft, mu: model.contact.law(a as u32, b as u32).friction }
        };
        self.work.laws = (0..bodies).map(|a| (0..bodies).map(|b| law(a, b)).collect()).collect();
    }

    /// A part of a step.
    fn attempt(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<(), Trouble<StepError>> {
        let Leap { length: h, end: t1, .. } = leap;
        self.work.x.copy_from_slice(&state.x);
        self.work.v.copy_from_slice(&state.v);
        let mut watch = Watch::start();
        self.look(model, state, leap)?;
        watch.add(&mut ledger.phases.search);
        let inside = self.solve(model, state, leap, ledger, stop)?;
        let (mut watch, before) = (Watch::start(), self.seconds.update);
        self.finish(model, state, h, t1, ledger);
        (ledger.strain, ledger.hourglass) = (inside.strain, inside.hourglass);
        state.material.accept();
        state.time = t1;
        ledger.element_kicks += model.elements() as u64;
        watch.add(&mut self.seconds.update);
        ledger.phases.response += self.seconds.update - before;
        Ok(())
    }

    /// Where everybody is at both ends, who may meet, and who overlaps at the start.
    fn look(&mut self, model: &Model, state: &State, leap: Leap) -> Result<(), Trouble<StepError>> {
        let Leap { length: h, end: t1, .. } = leap;
        let work = &mut self.work;
        let soft = work.points.soft;
        (work.coupled, work.factored) = (false, false);
        for (place, time) in [(0, t1 - h), (2, t1)] {
            work.places[place][..soft].copy_from_slice(&state.x);
            work.points.place(model, &self.world.drawn, time, &mut work.places[place]);
        }
        let mut ahead = work.places[2].clone();
        let mut farthest = 0.0;
        for (k, v) in state.v.iter().enumerate() {
            ahead[k] += h * v;
            farthest = f64::max(farthest, h * v.norm());
        }
        for (a, b) in work.places[0][soft..].iter().zip(&ahead[soft..]) {
            farthest = f64::max(farthest, (b - a).norm());
        }
        let way = AHEAD * farthest + 0.1 * self.world.finest;
        work.farthest = if work.points.list.is_empty() { f64::INFINITY } else { BEYOND * way };
        match work.gather(&mut self.world, &ahead, way) {
            Ok(()) => {}
            Err(Missed::Search(error)) => return Err(Trouble::Error(error.into())),
            Err(Missed::TooFar(bodies, way, thickness)) => {
                let [first, second] = bodies.map(|b| model.contact.name_of(model, b));
                let error = StepError::TooFar { first, second, time: t1, dt: h, way, thickness };
                return Err(Trouble::Again(error));
            }
        }
        Ok(())
    }

    /// Newton's method from where velocities lead; where a step cannot be halved any more else from the start, else from half way.
    fn converge(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Inside, Trouble<StepError>> {
        let mut last = None;
        let starts: &[f64] = if leap.last { &[1.0, 0.0, 0.5] } else { &[1.0] };
        for &share in starts {
            self.start_from(model, state, leap, (share, &self.work.v));
            match self.newton_from(model, state, leap, ledger, stop, (States::Free, 0.0)) {
                Ok(inside) => return Ok(inside),
                Err(Outcome::Stopped) => return Err(Trouble::Stopped),
                Err(outcome) => {
                    let refused = self.refused(model, state, leap, outcome);
                    last.get_or_insert(refused);
                }
            }
        }
        Err(last.unwrap_or(Trouble::Stopped))
    }

    /// Positions after a share of the step with velocities `v`.
    fn start_from(&self, model: &Model, state: &mut State, leap: Leap, (share, v): (f64, &[Vec3])) {
        for (k, x) in state.x.iter_mut().enumerate() {
            *x = self.work.x[k] + share * leap.length * v[k];
        }
        let restraints = &model.restraints;
        for held in &restraints.held {
            let k = held.node as usize;
            let way = model.reference[k] + restraints.displacement(held, leap.end) - state.x[k];
            state.x[k] += way - held.free * way;
        }
    }

    fn newton_from(
        &mut self,
        model: &Model,
        state: &mut State,
        leap: Leap,
        ledger: &mut Ledger,
        stop: &AtomicBool,
        (states, keep): (States, f64),
    ) -> Result<Inside, Outcome> {
        let limits = Limits {
            iterations: match states {
                States::Free if !leap.last => self.options.iterations.min(SEARCH),
                _ => self.options.iterations,
            },
            residual_tol: RESIDUAL_TOL,
            increment_tol: f64::INFINITY,
            keep,
        };
        let tight = augmentation::TIGHT * self.world.finest;
        let mut equations = Equations {
            model,
            world: &mut self.world,
            state,
            work: &mut self.work,
            h: leap.length,
            t1: leap.end,
            inside: Inside::default(),
            missed: None,
            keeps: keep > 0.0,
            states,
            changed: true,
            restarts: 0,
            fresh: true,
            relative: 1.0,
            tight,
            seconds: Seconds::default(),
        };
        let outcome = match states {
            States::Free => self.newton.run(&mut equations, &limits, stop),
            _ => self.newton.run_whole(&mut equations, &limits, PATIENCE, stop),
        };
        let (inside, seconds) = (equations.inside, equations.seconds);
        ledger.phases.force += seconds.force;
        ledger.phases.response += seconds.contact;
        ledger.phases.solve += seconds.assembly + seconds.factors + seconds.solutions;
        self.seconds.add(&seconds);
        match outcome {
            Outcome::Converged => Ok(inside),
            other => Err(other),
        }
    }

    fn refused(&self, model: &Model, state: &State, leap: Leap, outcome: Outcome) -> Trouble<StepError> {
        match outcome {
            Outcome::Stuck(stuck) => Trouble::Again(self.trouble(model, state, leap, stuck)),
            _ => Trouble::Stopped,
        }
    }

    /// What does not settle: the worst node, and the contact it takes part in.
    fn trouble(&self, model: &Model, state: &State, leap: Leap, stuck: Stuck) -> StepError {
        let (work, points) = (&self.work, &self.work.points);
        let contact = |k: usize| {
            let nodes = |c: &Contact| c.middle.nodes[..c.middle.count].contains(&(k as u32));
            let found = work.contacts.iter().find(|c| nodes(c))?;
            let master = points.masters[found.middle.facet as usize].body;
            Some([points.list[found.point as usize].body, master])
        };
        let left = |k: usize| work.unknowns.expand(k, &work.left);
        unsolved(model, &state.x, leap, (stuck, &self.newton), left, contact)
    }

    /// Velocities at the end, and the books.
    fn finish(&mut self, model: &Model, state: &mut State, h: f64, t1: f64, ledger: &mut Ledger) {
        let soft = self.work.points.soft;
        let work = &mut self.work;
        for k in 0..soft {
            let way = state.x[k] - work.x[k];
            self.velocity[k] = 2.0 / h * way - work.v[k];
        }
        let end = std::mem::take(&mut work.places[2]);
        work.points.velocities(model, t1, &end, &mut self.velocity);
        work.places[2] = end;
        self.book_motion(model, state, h, ledger);
        self.prescribe(model, t1, ledger);
        match self.work.scheme {
            Scheme::Middle => self.book_middle(model, h, t1, ledger),
            Scheme::End => self.book_end(model, state, h, ledger),
        }
        let work = &self.work;
        ledger.contacts = work.contacts.len() as u64;
        ledger.collision_kicks += ledger.contacts;
        self.counts.stick = work.contacts.iter().filter(|c| c.law.mu > 0.0 && !c.slips).count() as u64;
        self.counts.slip = work.contacts.iter().filter(|c| c.slips).count() as u64;
        ledger.penetration = work.meet_all(2).iter().fold(0.0, |m: f64, (_, k)| m.max(k.overlap));
        state.v.copy_from_slice(&self.velocity[..soft]);
        self.carry(state, h);
        ledger.kinetic = self.work.mass.kinetic(model, &state.v);
    }
}

/// Stiffness of the surface of a body against being pushed in [Pa/m]: that of its surface nodes over their area.
fn stiffness(model: &Model, scene: &Scene, body: usize) -> f64 {
    let own = &model.bodies[body];
    let at = &scene.bodies[body];
    let slots = &scene.slots[at.slots.start as usize..at.slots.end as usize];
    let positions = Positions { reference: &model.reference, current: &model.reference };
    let (mut stiff, mut dense) = (0.0, Vec::new());
    for block in &model.blocks[own.blocks.clone()] {
        for p in 0..block.potentials() {
            let stencil = block.stencil(p);
            if !stencil.iter().any(|n| slots.binary_search(n).is_ok()) {
                continue;
            }
            let width = 3 * stencil.len();
            dense.resize(width * width, 0.0);
            block.tangent(p, positions, &mut dense);
            for (i, _) in stencil.iter().enumerate().filter(|(_, n)| slots.binary_search(n).is_ok()) {
                stiff += (3 * i..3 * i + 3).map(|k| dense[k * width + k]).sum::<f64>();
            }
        }
    }
    let mut area = 0.0;
    for facet in &scene.facets[at.facets.start as usize..at.facets.end as usize] {
        let vector = facet.area_vector(&model.reference).norm();
        area += match facet.kind {
            FacetKind::Point => own.section,
            FacetKind::Segment => vector * own.section,
            _ => 0.5 * vector,
        };
    }
    stiff / (own.kind.space() as f64 * area)
}

impl Method for VelocityUpdate {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        follow_supports(model, state);
        let mut forces = Forces::new(model);
        let totals = forces.evaluate(model, &state.x, &mut state.material, true);
        self.control.start(state, &totals);
        self.settle_laws(model, self.control.dt);
        external(model, &state.x, state.time, &mut self.last.load);
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let push = self.last.load[k] - forces.at(k);
                self.work.a[k] = push / model.mass[k] - body.damping * state.v[k];
            }
        }
        for (i, held) in model.restraints.held.iter().enumerate() {
            let k = held.node as usize;
            let a = held.free * self.work.a[k];
            self.last.support[i] = model.mass[k] * (a - self.work.a[k]);
            self.work.a[k] = a;
        }
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        ledger.kinetic = self.work.mass.kinetic(model, &state.v);
        self.outset.copy_from_slice(&state.v);
        ledger.dt = self.control.dt;
        ledger.open();
        let work = &mut self.work;
        work.places[0][..work.points.soft].copy_from_slice(&state.x);
        work.points.place(model, &self.world.drawn, state.time, &mut work.places[0]);
        let still = work.places[0].clone();
        if let Err(Missed::Search(error)) = work.gather(&mut self.world, &still, 0.0) {
            return Err(error.into());
        }
        ledger.penetration = work.meet_all(0).iter().fold(0.0, |m: f64, (_, k)| m.max(k.overlap));
        ledger.penetration_max = ledger.penetration;
        Ok(())
    }

    /// A stop is heard between iterations too.
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let (dt, t1) = (self.control.dt, self.control.end_of_step(state));
        let iterations = self.newton.iterations;
        self.world.impulses.forget();
        self.newton.begin();
        let step = ([dt, t1], self.options.halvings);
        let reached = step_in_parts(self, model, state, ledger, step, |own, state, ledger, leap| {
            let done = own.attempt(model, state, leap, ledger, stop);
            if done.is_err() {
                state.x.copy_from_slice(&own.work.x);
                state.v.copy_from_slice(&own.work.v);
                own.counts.halved += u64::from(matches!(done, Err(Trouble::Again(_))) && !leap.last);
            }
            done
        })?;
        if reached == Reached::Until {
            self.counts.iterations = self.newton.iterations - iterations;
            ledger.close_step(dt);
        }
        Ok(reached)
    }

    fn next_step(&self) -> f64 {
        self.control.dt
    }

    fn newton(&self) -> Option<&Newton> {
        Some(&self.newton)
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.support[held]
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.world.impulses)
    }

    fn momenta(&self, model: &Model, v: &[Vec3]) -> Option<Vec<Vec3>> {
        let Mass::Consistent(_) = self.work.mass else { return None };
        let mut momenta = Vec::new();
        self.work.mass.times(model, v, &mut momenta);
        Some(momenta)
    }

    fn newton_counts(&self) -> Option<[u64; 3]> {
        Some([self.counts.iterations, self.counts.stick, self.counts.slip])
    }

    fn doubts(&self) -> Vec<String> {
        let Counts { halved, bounded, loose, .. } = self.counts;
        let mut doubts = Vec::new();
        if loose > 0 {
            doubts.push(format!(
                "in {loose} steps a round of `augmentation` did not converge, and tractions are those of the round before"
            ));
        }
        if halved > 0 {
            doubts.push(format!(
                "a step did not converge {halved} times and was done in two halves: a smaller `step.size` or penalty saves these"
            ));
        }
        if bounded > 0 {
            doubts.push(format!(
                "in {bounded} steps contact pressed nodes from opposite sides, and could not give all energy back: see `correction`"
            ));
        }
        doubts
    }

    fn save(&self, record: &mut Record) {
        let name = self.name;
        self.control.save(name, record);
        self.world.save(name, record);
        record.vectors(&format!("{name}.support"), &self.support);
        let Counts { iterations, halved, bounded, loose, stick, slip } = self.counts;
        let all = [self.newton.iterations, iterations, halved, bounded, loose, stick, slip];
        record.counts(&format!("{name}.effort"), &all);
        let pressures: Vec<f64> = self.carried.iter().map(|m| m.normal).collect();
        record.numbers(&format!("{name}.pressures"), &pressures);
        let shears: Vec<Vec3> = self.carried.iter().map(|m| m.shear).collect();
        record.vectors(&format!("{name}.shears"), &shears);
        record.vectors(&format!("{name}.outset"), &self.outset);
        if self.work.scheme == Scheme::End {
            record.vectors(&format!("{name}.acceleration"), &self.work.a);
            let Last { load, support, pressed, rubbed } = &self.last;
            record.vectors(&format!("{name}.last"), &[&load[..], support, pressed, rubbed].concat());
        }
    }

    fn restore(&mut self, model: &Model, record: &Record) -> Result<(), RecordError> {
        let name = self.name;
        self.control.restore(name, record)?;
        self.world.restore(name, record)?;
        record.read_vectors(&format!("{name}.support"), &mut self.support)?;
        let Counts { iterations, halved, bounded, loose, stick, slip } = &mut self.counts;
        [self.newton.iterations, *iterations, *halved, *bounded, *loose, *stick, *slip] =
            record.read_counts(&format!("{name}.effort"))?;
        let mut pressures = vec![0.0; self.carried.len()];
        let mut shears = vec![Vec3::zeros(); self.carried.len()];
        record.read_numbers(&format!("{name}.pressures"), &mut pressures)?;
        record.read_vectors(&format!("{name}.shears"), &mut shears)?;
        record.read_vectors(&format!("{name}.outset"), &mut self.outset)?;
        for (m, (normal, shear)) in self.carried.iter_mut().zip(pressures.into_iter().zip(shears)) {
            *m = Multiplier { normal, shear };
        }
        if self.work.scheme == Scheme::End {
            record.read_vectors(&format!("{name}.acceleration"), &mut self.work.a)?;
            let Last { load, support, pressed, rubbed } = &mut self.last;
            let parts = [load, support, pressed, rubbed];
            let mut all = vec![Vec3::zeros(); parts.iter().map(|p| p.len()).sum()];
            record.read_vectors(&format!("{name}.last"), &mut all)?;
            let mut rest = &all[..];
            for part in parts {
                let (own, others) = rest.split_at(part.len());
                part.copy_from_slice(own);
                rest = others;
            }
        }
        self.settle_laws(model, self.control.dt);
        Ok(())
    }
}
