//! The equations of one step, for Newton's method: forces, factors, and contacts solved for every increment.

use super::Options;
use super::parts::Parts;
use super::reduced::Reduced;
use crate::math::Vec3;
use crate::method::bipotential::ContactSet;
use crate::model::forces::{Forces, Totals};
use crate::model::{Model, State, Table};
use crate::solve::contacts::{Limits, Local};
use crate::solve::dense;
use crate::solve::newton::{Increment, Problem, Residual};
use crate::solve::sparse::FactorError;
use std::sync::atomic::AtomicBool;

/// Round-off of a force, of the stiffness times the coordinates: a row of the matrix adds up to a few times its diagonal.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;

/// What the equations keep from step to step.
pub(crate) struct Work {
    pub parts: Parts,
    /// Gravity and loads at the ends of a step, and F at its start [N].
    pub external: [Vec<Vec3>; 2],
    pub force: Vec<Vec3>,
    /// Positions and velocities at its start.
    pub x: Vec<Vec3>,
    pub v: Vec<Vec3>,
    /// q, q + Hᵀr, and the last increment.
    rhs: Vec<f64>,
    pub left: Vec<f64>,
    increment: Vec<f64>,
    pub reduced: Reduced,
    dense: Dense,
    /// Round-off of the balance [N].
    floor: f64,
    /// Where the factors belong, and the length of the step they are for; zero if there are none.
    pub factored: (Vec<Vec3>, f64),
    /// The factors are not those: they must be found again.
    pub stale: bool,
}

/// Contacts in numbers, three to each: velocities without their forces, and forces.
#[derive(Default)]
struct Dense {
    b: Vec<f64>,
    mu: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
}

impl Work {
    pub(crate) fn new(model: &Model) -> Work {
        let zero = || vec![Vec3::zeros(); model.reference.len()];
        Work {
            parts: Parts::new(model),
            external: [zero(), zero()],
            force: zero(),
            x: zero(),
            v: zero(),
            rhs: Vec::new(),
            left: Vec::new(),
            increment: Vec::new(),
            reduced: Reduced::default(),
            dense: Dense::default(),
            floor: 0.0,
            factored: (zero(), 0.0),
            stale: false,
        }
    }
}

/// A step of length `h` to `t1`, as far as it has come.
pub(crate) struct Equations<'a> {
    pub model: &'a Model,
    pub state: &'a mut State,
    pub options: &'a Options,
    pub forces: &'a mut Forces,
    pub contact_set: &'a mut ContactSet,
    pub work: &'a mut Work,
    pub h: f64,
    pub t1: f64,
    /// Change of velocities that does not count any more [m/s].
    pub velocity_tol: f64,
    /// Of the last iterate.
    pub totals: Option<Totals>,
    /// The operator between the contacts is not known yet.
    pub listed: bool,
    /// Wall time of forces, factors and contacts [s].
    pub seconds: [f64; 3],
    pub stop: &'a AtomicBool,
}

/// `v⁺` of a node that goes from `x0` with `v0` to `x`.
#[inline]
pub(crate) fn velocity(theta: f64, h: f64, x0: &Vec3, v0: &Vec3, x: &Vec3) -> Vec3 {
    (1.0 - 1.0 / theta) * v0 + (x - x0) / (theta * h)
}

impl Equations<'_> {
    /// Finds factors of a step before again, if they are not at hand.
    pub(crate) fn recall(&mut self) -> Result<(), FactorError> {
        if std::mem::take(&mut self.work.stale) && self.work.factored.1 > 0.0 {
            let h = self.work.factored.1;
            self.factor_at(h)?;
        }
        Ok(())
    }

    /// Factors `K̄` at the present positions.
    fn factor(&mut self) -> Result<(), FactorError> {
        self.work.stale = false;
        self.work.factored.0.copy_from_slice(&self.state.x);
        self.work.factored.1 = 0.0;
        self.factor_at(self.h)?;
        self.work.factored.1 = self.h;
        Ok(())
    }

    fn factor_at(&mut self, h: f64) -> Result<(), FactorError> {
        let Options { theta, xi, .. } = *self.options;
        let inertia = |damping: f64| (xi * damping + 1.0 / h) / (theta * h);
        let Work { parts, factored, floor, .. } = &mut *self.work;
        parts.factor(self.model, &factored.0, xi, inertia)?;
        *floor = ROUND_OFF * parts.stiffness_times(self.model, &factored.0);
        Ok(())
    }

    /// Solves the contacts on the reduced operator; `increment` holds K̄⁻¹q.
    fn solve_contacts(&mut self) {
        let (theta, h) = (self.options.theta, self.h);
        let Work { dense: d, reduced, parts, increment, x, v, .. } = &mut *self.work;
        let list = &mut self.contact_set.contacts.list;
        d.b.clear();
        d.mu.clear();
        d.r.clear();
        for (contact, q) in list.iter().zip(&reduced.frames) {
            let mut free = -contact.outer;
            for (k, c) in contact.points() {
                let end = self.state.x[k] + parts.unknowns.expand(k, increment);
                free += c * velocity(theta, h, &x[k], &v[k], &end);
            }
            let b = q * free + Vec3::new(contact.velocity_bias, 0.0, 0.0);
            d.b.extend(b.iter());
            d.mu.push(contact.mu);
            d.r.extend((q * contact.force).iter());
        }
        let contact = &self.options.contact();
        let scale = self.contact_set.speed.max(contact.speed);
        let limits = Limits {
            local: Local::Exact,
            tolerance: 1.0,
            scale: (contact.tolerance * scale).min(self.velocity_tol).max(f64::MIN_POSITIVE),
            sweeps: contact.sweeps,
            natural_map_residual: None,
        };
        self.contact_set.report =
            dense::solve(&reduced.w, &d.b, &d.mu, &mut d.r, &mut d.u, &limits, self.stop);
        for ((contact, q), r) in list.iter_mut().zip(&reduced.frames).zip(d.r.chunks_exact(3)) {
            contact.force = q.transpose() * Vec3::new(r[0], r[1], r[2]);
        }
    }

    /// Adds the forces of contact to `to`.
    fn push(&self, to: &mut [f64]) {
        for contact in &self.contact_set.contacts.list {
            for (k, c) in contact.points() {
                self.work.parts.unknowns.add_to_unknowns(k, &(c * contact.force), to);
            }
        }
    }
}

impl Problem for Equations<'_> {
    /// Element forces, gravity and loads at the present positions, which stand for `t1`; q, and what is left with the
    /// forces of contact.
    fn residual(&mut self) -> Option<Residual> {
        let watch = std::time::Instant::now();
        let (Options { theta, xi, .. }, h) = (*self.options, self.h);
        let (model, state) = (self.model, &mut *self.state);
        let totals = self.forces.evaluate(model, &state.x, &mut state.material, false);
        self.totals = Some(totals);
        if !(totals.strain.is_finite() && totals.det_f > 0.0) {
            self.seconds[0] += watch.elapsed().as_secs_f64();
            return None;
        }
        let work = &mut *self.work;
        external(model, &state.x, self.t1, &mut work.external[1]);
        work.rhs.clear();
        work.rhs.resize(work.parts.unknowns.count, 0.0);
        let (mut inside, mut outside) = (0.0, 0.0);
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let (m, x) = (model.mass[k], state.x[k]);
                let f = self.forces.at(k);
                inside += f.norm_squared();
                outside += work.external[1][k].norm_squared();
                let drag = body.damping * m * velocity(theta, h, &work.x[k], &work.v[k], &x);
                let now = work.external[1][k] - f - drag;
                let inertia = m / (theta * h * h) * (x - work.x[k] - h * work.v[k]);
                let q = (1.0 - xi) * work.force[k] + xi * now - inertia;
                work.parts.unknowns.add_to_unknowns(k, &q, &mut work.rhs);
            }
        }
        let pressed: f64 = self.contact_set.contacts.list.iter().map(|c| c.force.norm_squared()).sum();
        let mut left = std::mem::take(&mut work.left);
        left.clear();
        left.extend_from_slice(&work.rhs);
        self.push(&mut left);
        let force = length(&left);
        self.work.left = left;
        self.seconds[0] += watch.elapsed().as_secs_f64();
        let scale = inside.sqrt() + outside.sqrt() + pressed.sqrt();
        Some(Residual { force, scale, floor: self.work.floor })
    }

    fn increment(&mut self, renew: bool) -> Result<Increment, FactorError> {
        let watch = std::time::Instant::now();
        if renew {
            self.factor()?;
        }
        let factored = watch.elapsed().as_secs_f64();
        self.seconds[1] += factored;
        let work = &mut *self.work;
        work.increment.clear();
        work.increment.extend_from_slice(&work.rhs);
        if !self.contact_set.contacts.list.is_empty() {
            work.parts.solve(&mut work.increment)?;
            if renew || std::mem::take(&mut self.listed) {
                work.reduced.update(&mut work.parts, 1.0 / (self.options.theta * self.h))?;
            }
            self.solve_contacts();
            let mut pushed = std::mem::take(&mut self.work.increment);
            pushed.copy_from_slice(&self.work.rhs);
            self.push(&mut pushed);
            self.work.increment = pushed;
        }
        let work = &mut *self.work;
        work.left.copy_from_slice(&work.increment);
        work.parts.solve(&mut work.increment)?;
        self.seconds[2] += watch.elapsed().as_secs_f64() - factored;
        Ok(increment_of(&work.increment, &work.left))
    }

    fn factored(&self) -> bool {
        self.options.keep > 0.0 && self.work.factored.1 == self.h
    }

    fn add_increment(&mut self, share: f64) {
        for (k, x) in self.state.x.iter_mut().enumerate() {
            *x += share * self.work.parts.unknowns.expand(k, &self.work.increment);
        }
    }
}

pub(crate) fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// What Newton's method is told of an increment that forces `left` out of balance have given.
pub(crate) fn increment_of(increment: &[f64], left: &[f64]) -> Increment {
    Increment {
        size: increment.iter().fold(0.0, |m: f64, d| m.max(d.abs())),
        energy: increment.iter().zip(left).map(|(d, f)| d * f).sum(),
        force: length(left),
    }
}

/// Gravity and loads on all nodes [N].
pub(crate) fn external(model: &Model, x: &[Vec3], time: f64, out: &mut [Vec3]) {
    external_ramped(model, x, time, 1.0, out);
}

/// The same with a factor for gravity and loads without a table.
pub(crate) fn external_ramped(model: &Model, x: &[Vec3], time: f64, ramp: f64, out: &mut [Vec3]) {
    let factor = |table: &Table| if table.points().len() < 2 { ramp } else { 1.0 };
    for body in &model.bodies {
        let pull = factor(&body.gravity_table) * body.gravity_table.at(time) * body.gravity;
        body.nodes.clone().for_each(|k| out[k] = model.mass[k] * pull);
    }
    for load in &model.loads {
        let factor = factor(&load.table);
        load.forces(time, x, |k, f| out[k as usize] += factor * f);
    }
}
