//! All members of the family but the one with explicit elements: β > 0, or any γ.
//!
//! ```text
//! min over 𝒞 of  f(φ) = (φ − φᵖʳᵉ)ᵀM(φ − φᵖʳᵉ)/Δt² + 2β[W(φ) − f_ext·φ + ½c (φ − φₙ)ᵀM(φ − φₙ)/Δt]
//!
//! r = ∇f(φᵏ)      H = (2/Δt² + 2βc/Δt)M + 2βK(φᵏ)
//! min ½δᵀHδ + r·δ (+ friction)   subject to  g + Gδ ≥ 0            by H⁻¹ among the nodes in contact ([`super::compliance`])
//! φᵏ⁺¹ = φᵏ + sδ,   s = 1, ½, ¼ …  until  m(φᵏ⁺¹) ≤ m(φᵏ) − 10⁻⁴ s δᵀHδ        m = f + Σ μN̂|s| + ν Σ max(0, −d)
//! ```
//!
//! d are distances, ν twice the largest normal force so far. Trial positions are looked at where the iteration has come to the minimum over the working
//! set, as in the member with explicit elements, and constraints join it there; then it goes on. (On its way there a node is still inside a body although its own
//! facet will keep it out; a look would hold it by another facet as well, far from which it never was, and the multipliers of that one put energy in.) Where H is not positive mass is added. Mass-proportional damping acts with the mean velocity of the step, so that it has a potential too.

use super::compliance::{Compliance, Flexibility};
use super::detect::Found;
use super::touching::Touching;
use super::{Hessian, Options, Report, Short};
use crate::math::Vec3;
use crate::method::bipotential_implicit::external;
use crate::method::bipotential_implicit::parts::Parts;
use crate::method::chunks::follow_supports;
use crate::method::impulses::Impulses;
use crate::method::step_control::{StepControl, StepRule};
use crate::method::{Method, Reached, StepError, Watch};
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::newton::Trouble;
use crate::solve::sparse::FactorError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Quadratic programs of a step at most.
const PROGRAMS: u32 = 60;
/// From this one on friction stays as it is.
const FROZEN: u32 = 40;
/// Decrease of the merit that a share of an increment must bring (Armijo), and the shortest share.
const DECREASE: f64 = 1e-4;
const MIN_STEP_LENGTH: f64 = 1e-4;
/// Increments shorter than this share of the local size are taken whole: what they change of the merit is round-off.
const SURE: f64 = 1e-7;
/// Round-off of positions, as a share of their coordinates.
const ROUND_OFF: f64 = 8.0 * f64::EPSILON;
/// Times that the mass is doubled in a matrix that is not positive.
const DOUBLED: u32 = 12;

/// Forces on all nodes at one end of a step [N].
#[derive(Clone, Debug)]
struct Ends {
    external: Vec<Vec3>,
    drag: Vec<Vec3>,
    /// All of them but contact.
    whole: Vec<Vec3>,
}

impl Ends {
    fn new(nodes: usize) -> Ends {
        let zero = || vec![Vec3::zeros(); nodes];
        Ends { external: zero(), drag: zero(), whole: zero() }
    }

    fn lists(&self) -> [&[Vec3]; 3] {
        [&self.external, &self.drag, &self.whole]
    }
}

pub struct General {
    touching: Touching,
    control: StepControl,
    parts: Parts,
    forces: Forces,
    soft: Compliance,
    /// Positions and velocities at the start of the step, and where nodes would go without forces at its end.
    start: Vec<Vec3>,
    velocity: Vec<Vec3>,
    pre: Vec<Vec3>,
    ends: [Ends; 2],
    /// Internal acceleration, along free directions.
    a: Vec<Vec3>,
    left: Vec<f64>,
    increment: Vec<f64>,
    pushed: Vec<Vec3>,
    /// Impulse of each support so far [N s].
    support: Vec<Vec3>,
    finest: f64,
    short: Short,
    /// Quadratic programs and factorisations so far.
    pub programs: u64,
    pub factorisations: u64,
}

impl General {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Self {
        let nodes = model.reference.len();
        let touching = Touching::new(model, options);
        let extent = model.reference.iter().fold(0.0, |m: f64, x| m.max(x.amax()));
        let finest = touching.at.world.finest;
        let zero = || vec![Vec3::zeros(); nodes];
        General {
            touching,
            control: StepControl::new(rule),
            parts: Parts::new(model),
            forces: Forces::new(model),
            soft: Compliance::Full(Flexibility::default()),
            start: zero(),
            velocity: zero(),
            pre: zero(),
            ends: [Ends::new(nodes), Ends::new(nodes)],
            a: zero(),
            left: Vec::new(),
            increment: Vec::new(),
            pushed: zero(),
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            finest: if finest > 0.0 { finest } else { extent.max(f64::MIN_POSITIVE) },
            short: Short::default(),
            programs: 0,
            factorisations: 0,
        }
    }

    /// What the contacts of the last step were.
    pub fn report(&self) -> Report {
        self.touching.report
    }

    /// Contact force on each node in the last step [N].
    pub fn contact_forces(&self) -> Vec<Vec3> {
        self.touching.forces(self.control.dt)
    }

    fn options(&self) -> Options {
        self.touching.options
    }

    fn try_step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<(), Trouble<StepError>> {
        let (h, t1) = (self.control.dt, self.control.end_of_step(state));
        self.start.copy_from_slice(&state.x);
        self.velocity.copy_from_slice(&state.v);
        // 1. where nodes would go, and a first guess
        self.predict(model, state, h, t1);
        self.touching.at.begin(model, &self.start, &state.x, [state.time, t1]);
        // 2. the minimum over positions without overlap
        let found = self.minimise(model, state, h, t1, stop, ledger);
        self.touching.release();
        let (depth, mut totals) = match found {
            Ok(found) => found,
            Err(trouble) => {
                state.x.copy_from_slice(&self.start);
                return Err(trouble);
            }
        };
        let mut watch = Watch::start();
        // 3. velocities, then the books: both ends of the step are known now
        self.touching.collect(model, h);
        self.finish(model, state, h, t1, ledger);
        self.touching.program.remember();
        ledger.penetration = depth;
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        // members that have a stable step follow it
        let measured = !self.options().unbounded() && self.control.measures(state);
        if measured {
            totals = self.forces.evaluate(model, &state.x, &mut state.material, true);
        }
        state.material.accept();
        (state.time, state.step) = (t1, state.step + 1);
        ledger.element_kicks += model.elements() as u64;
        ledger.close_step(h);
        if !self.options().unbounded() {
            self.control.follow(state, &totals, measured, ledger.peak);
        }
        watch.add(&mut ledger.phases.solve);
        Ok(())
    }

    /// `φᵖʳᵉ`, and `φ + Δt v` as a first guess; prescribed directions are where they are to be.
    fn predict(&mut self, model: &Model, state: &mut State, h: f64, t1: f64) {
        let beta = self.options().beta;
        for (k, x) in state.x.iter_mut().enumerate() {
            let free = *x + h * self.velocity[k];
            self.pre[k] = free + (0.5 - beta) * h * h * self.a[k];
            *x = if beta == 0.0 { self.pre[k] } else { free };
        }
        for held in &model.restraints.held {
            let k = held.node as usize;
            let goal = model.reference[k] + model.restraints.displacement(held, t1);
            let prescribed = |x: Vec3| held.free * x + goal - held.free * goal;
            (self.pre[k], state.x[k]) = (prescribed(self.pre[k]), prescribed(state.x[k]));
        }
    }

    /// Step 2: returns the deepest overlap that is left [m], and what the elements hold there.
    fn minimise(
        &mut self,
        model: &Model,
        state: &mut State,
        h: f64,
        t1: f64,
        stop: &AtomicBool,
        ledger: &mut Ledger,
    ) -> Result<(f64, Totals), Trouble<StepError>> {
        self.touching.clear();
        let rules = self.touching.rules();
        let factors = |error| Trouble::Again(StepError::Factors { time: t1, dt: h, error });
        let (mut stiff, mut factored) = (0.0, false);
        let mut depth = self.check_contacts(model, ledger).map_err(Trouble::Again)?.depth;
        for iteration in 1..=PROGRAMS {
            if stop.load(Ordering::Relaxed) {
                return Err(Trouble::Stopped);
            }
            self.touching.report.programs = iteration;
            let mut watch = Watch::start();
            let Some(totals) = self.residual(model, state, h, t1) else {
                return Err(Trouble::Again(self.touching.inadmissible(depth, t1, h)));
            };
            watch.add(&mut ledger.phases.force);
            if !factored || self.options().hessian == Hessian::Tangent {
                self.factor(model, state, h).map_err(factors)?;
                factored = true;
            }
            let energy = self.quadratic(model, &rules, iteration < FROZEN).map_err(factors)?;
            watch.add(&mut ledger.phases.response);
            let longest = self.increment.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
            let reach = state.x.iter().fold(0.0, |m: f64, x| m.max(x.amax()));
            let (small, round_off) = (self.options().tolerance * self.finest, ROUND_OFF * reach);
            let program = &self.touching.program;
            let most = (0..program.work.len()).map(|i| program.press(i)).fold(0.0, f64::max);
            stiff = f64::max(stiff, 2.0 * most);
            if longest > small.max(round_off) {
                self.search(model, state, [h, t1], [energy, stiff, longest]).map_err(Trouble::Again)?;
                watch.add(&mut ledger.phases.solve);
                continue;
            }
            // the minimum over the working set; only there does a look tell which constraints are missing
            self.shift(state, 1.0);
            if self.touching.drop_ghosts() {
                continue;
            }
            let found = self.check_contacts(model, ledger).map_err(Trouble::Again)?;
            depth = found.depth;
            if found.new == 0 {
                let totals = self.residual(model, state, h, t1).unwrap_or(totals);
                return match self.touching.accepts(&found) {
                    true => Ok((depth, totals)),
                    false => Err(Trouble::Again(self.touching.inadmissible(depth, t1, h))),
                };
            }
        }
        Err(Trouble::Again(self.touching.inadmissible(depth, t1, h)))
    }

    /// Contact check of the trial positions: constraints they ask for join the working set.
    fn check_contacts(&mut self, model: &Model, ledger: &mut Ledger) -> Result<Found, StepError> {
        let mut watch = Watch::start();
        let of = &mut self.touching;
        let found = of.at.detect(model, &mut of.program.work, &of.banned)?;
        of.program.adopt(&of.at);
        of.report.detections += 1;
        watch.add(&mut ledger.phases.search);
        Ok(found)
    }

    /// `−∇f` at the present positions along free directions; none where an element is inside out.
    fn residual(&mut self, model: &Model, state: &mut State, h: f64, t1: f64) -> Option<Totals> {
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, false);
        if !(totals.strain.is_finite() && totals.det_f > 0.0) {
            return None;
        }
        let now = &mut self.ends[1];
        external(model, &state.x, t1, &mut now.external);
        let beta = self.touching.options.beta;
        self.left.clear();
        self.left.resize(self.parts.unknowns.count, 0.0);
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let m = model.mass[k];
                now.drag[k] = -body.damping * m / h * (state.x[k] - self.start[k]);
                now.whole[k] = now.external[k] + now.drag[k] - self.forces.at(k);
                let r = 2.0 * beta * now.whole[k] - 2.0 * m / (h * h) * (state.x[k] - self.pre[k]);
                self.parts.unknowns.add_to_unknowns(k, &r, &mut self.left);
            }
        }
        Some(totals)
    }

    /// H at the present positions; mass is added where it is not positive.
    fn factor(&mut self, model: &Model, state: &State, h: f64) -> Result<(), FactorError> {
        let beta = self.options().beta;
        let mut more = 1.0;
        for _ in 0..DOUBLED {
            let inertia = |damping: f64| more * (2.0 / h + 2.0 * beta * damping) / h;
            self.parts.factor(model, &state.x, 2.0 * beta, inertia)?;
            self.factorisations += 1;
            if self.parts.definite() {
                break;
            }
            more *= 2.0;
        }
        Ok(())
    }

    /// The quadratic program: multipliers, friction, and the increment of all unknowns. Returns `δᵀHδ`.
    fn quadratic(
        &mut self,
        model: &Model,
        rules: &super::program::Rules,
        with_friction: bool,
    ) -> Result<f64, FactorError> {
        let Touching { at, program, .. } = &mut self.touching;
        self.programs += 1;
        self.increment.clone_from(&self.left);
        self.parts.solve(&mut self.increment)?;
        if !program.work.is_empty() {
            for k in 0..self.start.len() {
                at.pre[k] = at.world.x[k] + self.parts.unknowns.expand(k, &self.increment);
            }
            if let Compliance::Full(full) = &mut self.soft {
                full.update(&mut self.parts, model.bodies.len(), &program.nodes)?;
            }
            program.quadratic(at, &self.soft, rules, with_friction);
            self.pushed.fill(Vec3::zeros());
            for (i, c) in program.work.iter().enumerate() {
                for (a, &k) in c.simplex.ids().iter().enumerate() {
                    if let Some(pushed) = self.pushed.get_mut(k as usize) {
                        *pushed += program.normal_on(i, a) + program.friction_on(i, a);
                    }
                }
            }
            self.increment.clone_from(&self.left);
            for &k in &program.nodes {
                self.parts.unknowns.add_to_unknowns(
                    k as usize,
                    &self.pushed[k as usize],
                    &mut self.increment,
                );
            }
            let whole = self.increment.clone();
            self.parts.solve(&mut self.increment)?;
            return Ok(self.increment.iter().zip(&whole).map(|(d, r)| d * r).sum());
        }
        Ok(self.increment.iter().zip(&self.left).map(|(d, r)| d * r).sum())
    }

    /// Moves the trial positions by a share of the increment.
    fn shift(&mut self, state: &mut State, share: f64) {
        for (k, x) in state.x.iter_mut().enumerate() {
            *x += share * self.parts.unknowns.expand(k, &self.increment);
        }
        self.touching.at.world.x[..state.x.len()].copy_from_slice(&state.x);
    }

    /// Takes a share of the increment that brings the merit down.
    fn search(
        &mut self,
        model: &Model,
        state: &mut State,
        [h, t1]: [f64; 2],
        [energy, stiff, longest]: [f64; 3],
    ) -> Result<(), StepError> {
        let load = self.ends[1].external.clone();
        let before = self.merit(model, state, &load, h, stiff);
        let (mut share, mut gone) = (1.0, 0.0);
        let sure = longest <= SURE * self.finest;
        loop {
            self.shift(state, share - gone);
            gone = share;
            let after = self.merit(model, state, &load, h, stiff);
            let enough = match (before, after) {
                (Some(before), Some(after)) => {
                    after - before <= -DECREASE * share * energy + 1e-12 * (after.abs() + before.abs())
                }
                (None, after) => after.is_some(),
                (_, None) => false,
            };
            if enough || sure && after.is_some() || share <= MIN_STEP_LENGTH && after.is_some() {
                return Ok(());
            }
            if share <= MIN_STEP_LENGTH {
                return Err(self.touching.inadmissible(f64::NAN, t1, h));
            }
            share *= 0.5;
        }
    }

    /// What the step minimises, friction and violations of the working set included [J]; none where an element is inside out.
    fn merit(&mut self, model: &Model, state: &mut State, load: &[Vec3], h: f64, stiff: f64) -> Option<f64> {
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, false);
        if !(totals.strain.is_finite() && totals.det_f > 0.0) {
            return None;
        }
        let beta = self.options().beta;
        let mut merit = 2.0 * beta * totals.strain;
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let (m, x) = (model.mass[k], &state.x[k]);
                let (ahead, way) = (x - self.pre[k], x - self.start[k]);
                merit += m / (h * h) * ahead.norm_squared() - 2.0 * beta * load[k].dot(&way)
                    + beta * body.damping * m / h * way.norm_squared();
            }
        }
        let Touching { at, program, options, .. } = &self.touching;
        for (i, c) in program.work.iter().enumerate() {
            let deep = (-at.distance(c)).max(0.0);
            merit += match options.penalty {
                Some(k) => 0.5 * k * deep * deep,
                None => stiff * deep,
            };
            merit += program.bound(i) * program.slipped(i, &at.start, &at.world.x);
        }
        Some(merit)
    }

    /// Velocities at the end of the step, and the books.
    fn finish(&mut self, model: &Model, state: &mut State, h: f64, t1: f64, ledger: &mut Ledger) {
        let Options { gamma, .. } = self.options();
        let mut held = model.restraints.held.iter().enumerate().peekable();
        let [before, now] = &self.ends;
        let mean = |of: fn(&Ends) -> &Vec<Vec3>, k: usize| (1.0 - gamma) * of(before)[k] + gamma * of(now)[k];
        ledger.kinetic = 0.0;
        for k in 0..state.x.len() {
            let m = model.mass[k];
            let (x0, x1, v0) = (self.start[k], state.x[k], self.velocity[k]);
            let way = x1 - x0;
            let touch = self.touching.kicks.get(self.touching.slot[k] as usize).copied().unwrap_or_default();
            let whole = mean(|e| &e.whole, k);
            let (load, drag) = (mean(|e| &e.external, k), mean(|e| &e.drag, k));
            ledger.external += load.dot(&way);
            ledger.damping -= drag.dot(&way);
            ledger.impulse += h * (load + drag);
            let turned = |of: fn(&Ends) -> &Vec<Vec3>| {
                h * ((1.0 - gamma) * x0.cross(&of(before)[k]) + gamma * x1.cross(&of(now)[k]))
            };
            ledger.moment += turned(|e| &e.external) + turned(|e| &e.drag);
            let mut a1 = now.whole[k] / m;
            let mut v1 = v0 + h / m * whole + touch.kick;
            if let Some((i, support)) = held.next_if(|h| h.1.node as usize == k) {
                a1 = support.free * a1;
                v1 = support.free * v1 + model.restraints.velocity(support, t1);
                let only = |y: Vec3| y - support.free * y;
                let (w0, w1) = (only(v0), only(v1));
                let given = m * (v1 - v0) - h * whole - touch.impulse;
                self.support[i] += given;
                ledger.external += 0.5 * m * (w1.norm_squared() - w0.norm_squared())
                    - only(whole).dot(&way)
                    - only(touch.impulse).dot(&way) / h;
                ledger.impulse += given;
                ledger.moment +=
                    m * (x1.cross(&v1) - x0.cross(&v0)) - turned(|e| &e.whole) - x1.cross(&touch.impulse);
            }
            (self.a[k], state.v[k]) = (a1, v1);
            ledger.kinetic += 0.5 * m * v1.norm_squared();
        }
        self.ends.swap(0, 1);
        self.touching.book(model, h, ledger);
    }
}

impl Method for General {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let depth = self.touching.part_at_start(model, state)?;
        follow_supports(model, state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, true);
        self.control.start(state, &totals);
        external(model, &state.x, state.time, &mut self.ends[0].external);
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let first = &mut self.ends[0];
                first.drag[k] = -body.damping * model.mass[k] * state.v[k];
                first.whole[k] = first.external[k] + first.drag[k] - self.forces.at(k);
                self.a[k] = first.whole[k] / model.mass[k];
            }
        }
        for held in &model.restraints.held {
            self.a[held.node as usize] = held.free * self.a[held.node as usize];
        }
        ledger.kinetic = state.v.iter().zip(&model.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum();
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        ledger.dt = self.control.dt;
        ledger.open();
        (ledger.penetration, ledger.penetration_max) = (depth, depth);
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        let halvings = self.options().halvings;
        while let Err(trouble) = self.try_step(model, state, ledger, stop) {
            match trouble {
                Trouble::Stopped => return Ok(Reached::Stopped),
                Trouble::Again(_) if self.short.times(self.control.dt) < halvings => {
                    let dt = self.short.halve(self.control.dt);
                    self.control.set_step(state, dt);
                }
                Trouble::Again(error) | Trouble::Error(error) => return Err(error),
            }
        }
        if let Some(usual) = self.short.done() {
            self.control.set_step(state, usual);
        }
        Ok(Reached::Until)
    }

    fn next_step(&self) -> f64 {
        self.control.dt
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.support[held]
    }

    fn newton_counts(&self) -> Option<[u64; 3]> {
        Some(self.report().counts())
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.touching.at.world.impulses)
    }

    fn save(&self, record: &mut Record) {
        self.control.save("nonsmooth", record);
        self.short.save(record);
        self.touching.save(record);
        record.vectors("nonsmooth.a", &self.a);
        record.vectors("nonsmooth.support", &self.support);
        for (name, of) in ["external", "drag", "whole"].iter().zip(self.ends[0].lists()) {
            record.vectors(&format!("nonsmooth.{name}"), of);
        }
    }

    fn restore(&mut self, _model: &Model, record: &Record) -> Result<(), RecordError> {
        self.control.restore("nonsmooth", record)?;
        self.short = Short::restore(record)?;
        self.touching.restore(record)?;
        record.read_vectors("nonsmooth.a", &mut self.a)?;
        record.read_vectors("nonsmooth.support", &mut self.support)?;
        let Ends { external, drag, whole } = &mut self.ends[0];
        for (name, of) in [("external", external), ("drag", drag), ("whole", whole)] {
            record.read_vectors(&format!("nonsmooth.{name}"), of)?;
        }
        Ok(())
    }
}
