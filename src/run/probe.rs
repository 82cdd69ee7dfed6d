//! Probes: a few numbers of a run, followed in time.

use super::Look;
use crate::math::{Mat3, Vec3};
use crate::model::forces::Forces;
use crate::model::record::{Record, RecordError};

/// What a probe follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Mean displacement and velocity of nodes (model-wide ids): `ux uy uz vx vy vz`.
    Nodes(Vec<u32>),
    /// The same of `count` points of a shell's smooth surface, the sum of which hangs on nodes as `model::points` says.
    Surface { count: usize, terms: Vec<(u32, Mat3)> },
    /// Displacement and velocity of a body's centre of mass, its spin and its energies: also `wx wy wz kinetic strain`.
    Body(usize),
    /// What the supports of held nodes bear together: `fx fy fz jx jy jz`. Counts in the model's list of held nodes.
    Reaction(Vec<usize>),
    /// What contact with bodies `by` does to body `on`: `fx fy fz jx jy jz`. Obstacles are counted after bodies.
    Contact { on: u32, by: Vec<u32> },
}

/// A named target.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    pub name: String,
    pub target: Target,
}

impl Probe {
    /// Names of its columns, without the probe's own.
    pub fn components(&self) -> &'static [&'static str] {
        match self.target {
            Target::Nodes(_) | Target::Surface { .. } => &["ux", "uy", "uz", "vx", "vy", "vz"],
            Target::Body(_) => &["ux", "uy", "uz", "vx", "vy", "vz", "wx", "wy", "wz", "kinetic", "strain"],
            Target::Reaction(_) | Target::Contact { .. } => &["fx", "fy", "fz", "jx", "jy", "jz"],
        }
    }
}

/// Measures probes at looks; remembers what it takes to turn impulses into mean forces.
pub struct Meter {
    last_time: f64,
    last_impulse: Vec<Vec3>,
    /// For the strain energy of bodies, once somebody asks: a force pass, and what laws write in it.
    forces: Option<(Forces, Vec<Vec<f64>>)>,
}

impl Meter {
    pub fn new(probes: &[Probe]) -> Self {
        Meter { last_time: 0.0, last_impulse: vec![Vec3::zeros(); probes.len()], forces: None }
    }

    /// When it measured last [s]; zero before the first time.
    pub fn last_time(&self) -> f64 {
        self.last_time
    }

    /// Appends the numbers of all probes, in their order, to `row`.
    pub fn measure(&mut self, look: &Look, row: &mut Vec<f64>) {
        let elapsed = look.state.time - self.last_time;
        for (probe, last) in look.case.probes.iter().zip(&mut self.last_impulse) {
            match &probe.target {
                Target::Nodes(nodes) => {
                    let mean = |f: &dyn Fn(usize) -> Vec3| {
                        nodes.iter().map(|&n| f(n as usize)).sum::<Vec3>() / nodes.len() as f64
                    };
                    let u = mean(&|n| look.state.x[n] - look.case.model.reference[n]);
                    let v = mean(&|n| look.state.v[n]);
                    row.extend(u.iter().chain(v.iter()));
                }
                Target::Surface { count, terms } => {
                    let mean = |f: &dyn Fn(usize) -> Vec3| {
                        terms.iter().map(|(n, turn)| turn * f(*n as usize)).sum::<Vec3>() / *count as f64
                    };
                    let u = mean(&|n| look.state.x[n] - look.case.model.reference[n]);
                    let v = mean(&|n| look.state.v[n]);
                    row.extend(u.iter().chain(v.iter()));
                }
                Target::Body(body) => {
                    let (u, v, w) = body_motion(look, *body);
                    row.extend(u.iter().chain(v.iter()).chain(w.iter()));
                    let own = &look.case.model.bodies[*body];
                    let one = |k: usize| 0.5 * look.case.model.mass[k] * look.state.v[k].norm_squared();
                    row.push(own.nodes.clone().map(one).sum());
                    row.push(strain_of(look, *body, &mut self.forces));
                }
                Target::Reaction(held) => {
                    let impulse = held.iter().map(|&h| look.case.method.support_impulse(h)).sum();
                    push_force(impulse, last, elapsed, row);
                }
                Target::Contact { on, by } => {
                    let impulse = by.iter().map(|&b| look.case.method.impulse_between(*on, b)).sum();
                    push_force(impulse, last, elapsed, row);
                }
            }
        }
        self.last_time = look.state.time;
    }

    pub fn save(&self, record: &mut Record) {
        record.numbers("probes.time", &[self.last_time]);
        record.vectors("probes.impulse", &self.last_impulse);
    }

    pub fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let mut time = [0.0];
        record.read_numbers("probes.time", &mut time)?;
        self.last_time = time[0];
        record.read_vectors("probes.impulse", &mut self.last_impulse)
    }
}

/// The mean force since the last look, and the impulse since the start.
fn push_force(impulse: Vec3, last: &mut Vec3, elapsed: f64, row: &mut Vec<f64>) {
    let force = if elapsed > 0.0 { (impulse - *last) / elapsed } else { Vec3::zeros() };
    row.extend(force.iter().chain(impulse.iter()));
    *last = impulse;
}

/// Strain energy of a body [J].
fn strain_of(look: &Look, body: usize, memory: &mut Option<(Forces, Vec<Vec<f64>>)>) -> f64 {
    let (model, state) = (&look.case.model, look.state);
    let (forces, new) = memory.get_or_insert_with(|| (Forces::new(model), state.material.new.clone()));
    forces.strain_of(model.bodies[body].blocks.clone(), model, state, new)
}

/// Displacement and velocity of the centre of mass, and the spin ω with `I ω = L` about it. Where a body is so
/// thin that I is singular (a bar), the spin about its own axis is taken as zero.
fn body_motion(look: &Look, body: usize) -> (Vec3, Vec3, Vec3) {
    let model = &look.case.model;
    let nodes = model.bodies[body].nodes.clone();
    let (mut mass, mut start, mut x, mut v) = (0.0, Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
    for n in nodes.clone() {
        let m = model.mass[n];
        mass += m;
        start += m * model.reference[n];
        x += m * look.state.x[n];
        v += m * look.state.v[n];
    }
    let (start, x, v) = (start / mass, x / mass, v / mass);
    let (mut inertia, mut spin) = (Mat3::zeros(), Vec3::zeros());
    for n in nodes {
        let (m, r, w) = (model.mass[n], look.state.x[n] - x, look.state.v[n] - v);
        inertia += m * (Mat3::identity() * r.norm_squared() - r * r.transpose());
        spin += m * r.cross(&w);
    }
    let eigen = inertia.symmetric_eigen();
    let floor = 1e-12 * eigen.eigenvalues.max();
    let mut omega = Vec3::zeros();
    for (i, &value) in eigen.eigenvalues.iter().enumerate() {
        if value > floor {
            let axis = eigen.eigenvectors.column(i);
            omega += axis * (axis.dot(&spin) / value);
        }
    }
    (x - start, v, omega)
}
