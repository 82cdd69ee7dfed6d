//! The implicit scheme that `semi-explicit` is measured against (Feng, Joli, Cros & Magnain 2005).
//!
//! ```text
//! M(v⁺ − v) = Δt [(1−ξ) F(x, v) + ξ F(x⁺, v⁺)] + Δt Hᵀr        F = E − f(x) − c M v
//! x⁺ = x + Δt [(1−θ) v + θ v⁺]
//! ```
//!
//! θ = ξ = ½ is the trapezoidal rule; θ = 1, ξ = 0 is `semi-explicit`. Newton's method with the contacts solved inside each
//! iteration, for the same unknown and by the same law:
//!
//! ```text
//! K̄ = ξ K(xᵢ) + ξ c M/(θΔt) + M/(θΔt²)        q = (1−ξ)F + ξFᵢ − M(xᵢ − x − Δt v)/(θΔt²)
//! W = H K̄⁻¹Hᵀ/(θΔt)     b = H[(1−1/θ) v + (xᵢ + K̄⁻¹q − x)/(θΔt)] − v_obstacle     xᵢ₊₁ = xᵢ + K̄⁻¹(q + Hᵀr)
//! ```
//!
//! The factors of K̄ are kept in a step while iterates come nearer fast enough. An iterate that turns an element inside out or makes
//! the balance of forces worse is taken back half way; a step that does not converge, or that creates or loses energy out
//! of nothing, is done in two halves. Contacts are found once per step.

mod assembly;
mod reduced;

use super::bipotential::{Outlook, Touches};
use super::chunks::follow_supports;
use super::impulses::Impulses;
use super::semi_explicit::{Activation, Options as ContactOptions};
use super::step_control::StepControl;
use super::{Method, StepError, StepRule, Watch};
use crate::math::Vec3;
use crate::model::forces::{Forces, Totals};
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::contacts::{Limits, Report};
use crate::solve::dense;
use crate::solve::sparse::FactorError;
use assembly::Assembly;
use reduced::Reduced;

/// Change of positions, over the finest edge, at which Newton's method has converged.
const STILL: f64 = 1e-8;
/// What may be left of the balance of forces, of their size.
const BALANCED: f64 = 1e-6;
/// Share of an increment below which it is not shortened any more.
const SHORTEST: f64 = 1.0 / 256.0;
/// Energy that a step may create or lose out of nothing, of what there is; halves of it half of that.
const CREATED: f64 = 5e-4;

/// Switches of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Weight of the new velocity in the motion, above 0 and up to 1.
    pub theta: f64,
    /// Weight of the new forces, from 0 to 1.
    pub xi: f64,
    /// With θ < 1 contacts act by `rate`: positions would make resting nodes alternate.
    pub contact: ContactOptions,
    /// Iterations of a step at most.
    pub iterations: u32,
    /// How often a step may be halved.
    pub halvings: u32,
    /// Factors are kept while an increment is not longer than this share of the one before; zero is Newton's method as it
    /// stands.
    pub keep: f64,
}

impl Default for Options {
    fn default() -> Options {
        let contact = ContactOptions { activation: Activation::Rate, ..ContactOptions::default() };
        Options { theta: 0.5, xi: 0.5, contact, iterations: 12, halvings: 8, keep: 0.1 }
    }
}

pub struct BipotentialImplicit {
    options: Options,
    control: StepControl,
    forces: Forces,
    assembly: Assembly,
    touches: Touches,
    /// Gravity and loads at the ends of a step, and F at its start [N].
    external: [Vec<Vec3>; 2],
    force: Vec<Vec3>,
    now: Vec<Vec3>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    rhs: Vec<f64>,
    increment: Vec<f64>,
    scratch: Vec<f64>,
    reduced: Reduced,
    dense: Dense,
    support: Vec<Vec3>,
    ready: bool,
    size: f64,
    /// Iterations altogether, and steps that were halved.
    iterations: u64,
    halved: u64,
}

/// What is left of the balance of forces [N], and as a share of their size.
#[derive(Clone, Copy)]
struct Left {
    force: f64,
    share: f64,
}

/// Contacts in numbers, three to each: velocities without their forces, and forces.
#[derive(Default)]
struct Dense {
    b: Vec<f64>,
    mu: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
}

/// Why an attempt at a step came to nothing.
enum Trouble {
    /// Shorter steps may help.
    Again,
    Error(StepError),
}

impl BipotentialImplicit {
    /// For use inside the current rayon pool.
    pub fn new(model: &Model, rule: StepRule, options: Options) -> Result<Self, FactorError> {
        let nodes = model.reference.len();
        let zero = || vec![Vec3::zeros(); nodes];
        let touches = Touches::new(model);
        let bounds = model
            .reference
            .iter()
            .fold((Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)), |b, x| {
                (b.0.inf(x), b.1.sup(x))
            });
        let size = if touches.world.finest > 0.0 {
            touches.world.finest
        } else {
            1e-2 * (bounds.1 - bounds.0).norm()
        };
        Ok(BipotentialImplicit {
            options,
            control: StepControl::with_damping(model, rule),
            forces: Forces::new(model),
            assembly: Assembly::new(model)?,
            touches,
            external: [zero(), zero()],
            force: zero(),
            now: zero(),
            x: zero(),
            v: zero(),
            rhs: Vec::new(),
            increment: Vec::new(),
            scratch: Vec::new(),
            reduced: Reduced::default(),
            dense: Dense::default(),
            support: vec![Vec3::zeros(); model.restraints.held.len()],
            ready: false,
            size,
            iterations: 0,
            halved: 0,
        })
    }

    /// How the contacts of the last iteration were solved.
    pub fn report(&self) -> Report {
        self.touches.report
    }

    /// Iterations altogether, and steps that were halved.
    pub fn effort(&self) -> (u64, u64) {
        (self.iterations, self.halved)
    }

    fn look(&mut self, model: &Model, state: &State, h: f64) -> Result<f64, StepError> {
        let contact = &self.options.contact;
        let (x, v) = (&state.x[..], &state.v[..]);
        Ok(self.touches.look(model, contact, &Outlook { x, v, free: v, time: state.time, dt: h })?)
    }

    /// A step of length `h` to `t1`, in halves if it must be.
    fn leap(
        &mut self,
        model: &Model,
        state: &mut State,
        h: f64,
        t1: f64,
        depth: u32,
        ledger: &mut Ledger,
    ) -> Result<(), StepError> {
        self.x.copy_from_slice(&state.x);
        self.v.copy_from_slice(&state.v);
        let last = depth >= self.options.halvings;
        match self.attempt(model, state, [h, t1], last, ledger) {
            Ok(()) => Ok(()),
            Err(trouble) => {
                state.x.copy_from_slice(&self.x);
                state.v.copy_from_slice(&self.v);
                self.ready = false;
                match trouble {
                    Trouble::Error(error) => Err(error),
                    Trouble::Again if last => Err(StepError::NoConvergence { time: t1, dt: h }),
                    Trouble::Again => {
                        self.halved += 1;
                        let middle = t1 - 0.5 * h;
                        self.leap(model, state, 0.5 * h, middle, depth + 1, ledger)?;
                        self.leap(model, state, 0.5 * h, t1, depth + 1, ledger)
                    }
                }
            }
        }
    }

    fn attempt(
        &mut self,
        model: &Model,
        state: &mut State,
        [h, t1]: [f64; 2],
        last: bool,
        ledger: &mut Ledger,
    ) -> Result<(), Trouble> {
        let most = CREATED * h / self.control.dt * ledger.total();
        let mut watch = Watch::start();
        if !std::mem::take(&mut self.ready) {
            self.look(model, state, h).map_err(Trouble::Error)?;
        }
        self.touches.list(model, &self.options.contact, &self.v, &self.v, h);
        self.reduced.list(&self.assembly, model.bodies.len(), &self.touches.contacts.list);
        watch.add(&mut ledger.phases.search);
        let restraints = &model.restraints;
        for held in &restraints.held {
            let k = held.node as usize;
            let way = model.reference[k] + restraints.displacement(held, t1) - self.x[k];
            state.x[k] += way - held.free * way;
        }
        let mut totals = self.evaluate(model, state, t1).ok_or(Trouble::Again)?;
        watch.add(&mut ledger.phases.force);
        self.balance(model, state, h);
        let (mut moved, mut renew, mut converged) = (f64::INFINITY, true, false);
        for _ in 0..self.options.iterations {
            self.iterations += 1;
            if renew {
                self.factor(model, state, h).map_err(|_| Trouble::Again)?;
                watch.add(&mut ledger.phases.solve);
            }
            let push = self.increment(state, h).map_err(|_| Trouble::Again)?;
            watch.add(&mut ledger.phases.response);
            // with these forces of contact: back half way while elements turn inside out or the balance gets worse
            let (mut share, mut gone) = (1.0, 0.0);
            let left = loop {
                for (k, x) in state.x.iter_mut().enumerate() {
                    *x += (share - gone) * self.assembly.spread(k, &self.increment);
                }
                gone = share;
                let found = self.evaluate(model, state, t1);
                let shortest = share <= SHORTEST;
                if let Some(found) = found {
                    totals = found;
                    let left = self.balance(model, state, h);
                    if left.force <= push || left.share <= BALANCED || shortest {
                        break left;
                    }
                } else if shortest {
                    return Err(Trouble::Again);
                }
                share *= 0.5;
            };
            watch.add(&mut ledger.phases.force);
            let before = moved;
            moved = self.increment.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
            if moved <= STILL * self.size && left.share <= BALANCED {
                converged = true;
                break;
            }
            renew = share < 1.0 || moved > self.options.keep * before;
        }
        if !converged {
            return Err(Trouble::Again);
        }
        // velocities at the end, held directions as they are led
        for (k, v) in state.v.iter_mut().enumerate() {
            *v = self.velocity(k, &state.x[k], h);
        }
        for held in &restraints.held {
            let k = held.node as usize;
            let led = (state.x[k] - self.x[k]) / h;
            state.v[k] = held.free * state.v[k] + led - held.free * led;
        }
        let created = self.created(model, state, h, totals.strain - ledger.strain);
        let (theta, xi) = (self.options.theta, self.options.xi);
        // What old forces do wrong in a step comes back, and new ones are meant to take energy out.
        let off = if xi == 0.0 {
            0.0
        } else if [theta, xi] == [0.5; 2] {
            created.abs()
        } else {
            created
        };
        if off > most && !last {
            return Err(Trouble::Again);
        }
        self.book(model, state, h, &totals, ledger);
        state.material.accept();
        state.time = t1;
        ledger.element_kicks += model.elements() as u64;
        watch.add(&mut ledger.phases.solve);
        Ok(())
    }

    /// Energy that comes out of nothing in a step of length `h` to `state` [J], which gains `strain`: forces work at the mean
    /// velocity, and the strain energy is not what the elements' have done.
    fn created(&self, model: &Model, state: &State, h: f64, strain: f64) -> f64 {
        let xi = self.options.xi;
        let mut work = 0.0;
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let before = self.external[0][k] - self.force[k] - body.damping * model.mass[k] * self.v[k];
                let force = (1.0 - xi) * before + xi * self.forces.at(k);
                work += 0.5 * h * (self.v[k] + state.v[k]).dot(&force);
            }
        }
        strain - work
    }

    /// `v⁺` of a node that is at `x`.
    #[inline]
    fn velocity(&self, node: usize, x: &Vec3, h: f64) -> Vec3 {
        let theta = self.options.theta;
        (1.0 - 1.0 / theta) * self.v[node] + (x - self.x[node]) / (theta * h)
    }

    /// Element forces, gravity and loads at the positions of `state`, which stand for `t1`. None if an element failed.
    fn evaluate(&mut self, model: &Model, state: &mut State, t1: f64) -> Option<Totals> {
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, false);
        external(model, &state.x, t1, &mut self.external[1]);
        (totals.strain.is_finite() && totals.det_f > 0.0).then_some(totals)
    }

    /// Writes q to the right-hand side; returns what is left of the balance of forces with those of contact.
    fn balance(&mut self, model: &Model, state: &State, h: f64) -> Left {
        let (theta, xi) = (self.options.theta, self.options.xi);
        self.rhs.clear();
        self.rhs.resize(self.assembly.unknowns, 0.0);
        let mut inside = 0.0;
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let (m, x) = (model.mass[k], state.x[k]);
                let f = self.forces.at(k);
                inside += f.norm_squared();
                let now = self.external[1][k] - f - body.damping * m * self.velocity(k, &x, h);
                let inertia = m / (theta * h * h) * (x - self.x[k] - h * self.v[k]);
                inside += 1e-12 * (m / h * self.v[k]).norm_squared();
                let q = (1.0 - xi) * self.force[k] + xi * now - inertia;
                self.assembly.gather(k, &q, &mut self.rhs);
            }
        }
        // q + Hᵀr in a copy
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.rhs);
        let mut pressed = 0.0;
        for contact in &self.touches.contacts.list {
            pressed += contact.force.norm_squared();
            for (k, c) in contact.points() {
                self.assembly.gather(k, &(c * contact.force), &mut self.scratch);
            }
        }
        let force = length(&self.scratch);
        Left { force, share: force / (inside.sqrt() + pressed.sqrt()).max(f64::MIN_POSITIVE) }
    }

    /// Factors `K̄` at the positions of `state` and finds the operator between contacts.
    fn factor(&mut self, model: &Model, state: &State, h: f64) -> Result<(), FactorError> {
        let (theta, xi) = (self.options.theta, self.options.xi);
        let inertia = |damping: f64| (xi * damping + 1.0 / h) / (theta * h);
        self.assembly.factor(model, &state.x, xi, inertia)?;
        self.reduced.update(&mut self.assembly, 1.0 / (theta * h))
    }

    /// Solves the contacts on the reduced operator, with q on the right-hand side, and writes the increment
    /// `K̄⁻¹(q + Hᵀr)`. Returns `|q + Hᵀr|` [N].
    fn increment(&mut self, state: &State, h: f64) -> Result<f64, FactorError> {
        let theta = self.options.theta;
        self.increment.clear();
        self.increment.extend_from_slice(&self.rhs);
        self.assembly.solve(&mut self.increment)?;
        let list = &mut self.touches.contacts.list;
        if list.is_empty() {
            return Ok(length(&self.rhs));
        }
        let (d, frames) = (&mut self.dense, &self.reduced.frames);
        d.b.clear();
        d.mu.clear();
        d.r.clear();
        for (contact, q) in list.iter().zip(frames) {
            let mut free = -contact.outer;
            for (k, c) in contact.points() {
                let x = state.x[k] + self.assembly.spread(k, &self.increment);
                free += c * ((1.0 - 1.0 / theta) * self.v[k] + (x - self.x[k]) / (theta * h));
            }
            let b = q * free + Vec3::new(contact.shift, 0.0, 0.0);
            d.b.extend(b.iter());
            d.mu.push(contact.mu);
            d.r.extend((q * contact.force).iter());
        }
        let contact = &self.options.contact;
        let limits = Limits {
            tolerance: contact.tolerance,
            scale: self.touches.speed.max(contact.speed),
            sweeps: contact.sweeps,
            natural: None,
        };
        self.touches.report = dense::solve(&self.reduced.w, &d.b, &d.mu, &mut d.r, &mut d.u, &limits);
        for ((contact, q), r) in list.iter_mut().zip(frames).zip(d.r.chunks_exact(3)) {
            contact.force = q.transpose() * Vec3::new(r[0], r[1], r[2]);
            for (k, c) in contact.points() {
                self.assembly.gather(k, &(c * contact.force), &mut self.rhs);
            }
        }
        self.increment.copy_from_slice(&self.rhs);
        self.assembly.solve(&mut self.increment)?;
        Ok(length(&self.rhs))
    }

    /// Work of every force as its mean times the mean velocity: exact for the kinetic energy.
    fn book(&mut self, model: &Model, state: &State, h: f64, totals: &Totals, ledger: &mut Ledger) {
        let xi = self.options.xi;
        let middle = |k: usize| 0.5 * (self.x[k] + state.x[k]);
        for k in 0..state.x.len() {
            self.now[k] = middle(k);
        }
        self.touches.book(h, &self.now, &state.v, true, ledger);
        ledger.kinetic = 0.0;
        let mut held = model.restraints.held.iter().enumerate().peekable();
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let (m, v0, v1, at) = (model.mass[k], self.v[k], state.v[k], self.now[k]);
                let mean = 0.5 * (v0 + v1);
                let now = self.external[1][k] - self.forces.at(k) - body.damping * m * v1;
                let outside = (1.0 - xi) * self.external[0][k] + xi * self.external[1][k];
                let drag = body.damping * m * ((1.0 - xi) * v0 + xi * v1);
                ledger.external += h * mean.dot(&outside);
                ledger.damping += h * mean.dot(&drag);
                let mut push = h * (outside - drag);
                if let Some((i, support)) = held.next_if(|h| h.1.node as usize == k) {
                    let force = (1.0 - xi) * self.force[k] + xi * now;
                    let lacks = m * (v1 - v0) - h * force - self.touches.impulse[k];
                    let given = lacks - support.free * lacks;
                    ledger.external += given.dot(&mean);
                    push += given;
                    self.support[i] += given;
                }
                ledger.impulse += push;
                ledger.moment += at.cross(&push);
                ledger.kinetic += 0.5 * m * v1.norm_squared();
                self.force[k] = now;
            }
        }
        let [before, now] = &mut self.external;
        std::mem::swap(before, now);
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Gravity and loads on all nodes [N].
fn external(model: &Model, x: &[Vec3], time: f64, out: &mut [Vec3]) {
    for body in &model.bodies {
        let pull = body.gravity * body.gravity_table.at(time);
        body.nodes.clone().for_each(|k| out[k] = model.mass[k] * pull);
    }
    for load in &model.loads {
        load.forces(time, x, |k, f| out[k as usize] += f);
    }
}

impl Method for BipotentialImplicit {
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        follow_supports(model, state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, true);
        self.control.start(state, &totals);
        external(model, &state.x, state.time, &mut self.external[0]);
        ledger.kinetic = 0.0;
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let m = model.mass[k];
                self.force[k] = self.external[0][k] - self.forces.at(k) - body.damping * m * state.v[k];
                ledger.kinetic += 0.5 * m * state.v[k].norm_squared();
            }
        }
        (ledger.strain, ledger.hourglass) = (totals.strain, totals.hourglass);
        ledger.dt = self.control.dt;
        ledger.open();
        ledger.penetration = self.look(model, state, self.control.dt)?;
        ledger.penetration_max = ledger.penetration;
        self.ready = true;
        Ok(())
    }

    fn step(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError> {
        let (dt, t1) = (self.control.dt, self.control.end_of_step(state));
        self.leap(model, state, dt, t1, 0, ledger)?;
        state.step += 1;
        ledger.penetration = self.look(model, state, dt)?;
        self.ready = true;
        ledger.close_step(dt);
        Ok(())
    }

    fn next_step(&self) -> f64 {
        self.control.dt
    }

    fn support_impulse(&self, held: usize) -> Vec3 {
        self.support[held]
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.touches.world.impulses)
    }

    fn save(&self, record: &mut Record) {
        self.control.save("implicit", record);
        self.touches.save("implicit", record);
        record.vectors("implicit.force", &self.force);
        record.vectors("implicit.external", &self.external[0]);
        record.vectors("implicit.support", &self.support);
        record.counts("implicit.effort", &[self.iterations, self.halved]);
    }

    fn restore(&mut self, _: &Model, record: &Record) -> Result<(), RecordError> {
        self.control.restore("implicit", record)?;
        self.touches.restore("implicit", record)?;
        record.read_vectors("implicit.force", &mut self.force)?;
        record.read_vectors("implicit.external", &mut self.external[0])?;
        record.read_vectors("implicit.support", &mut self.support)?;
        [self.iterations, self.halved] = record.read_counts("implicit.effort")?;
        self.ready = false;
        Ok(())
    }
}
