//! Taking part in a run: velocities that are set from outside, loads that a function says, states that are kept and taken up.

use super::{Setup, Simulation, SimulationError, Stage};
use crate::math::Vec3;
use crate::method::{Blow, Method};
use crate::model::load::OwnLoad;
use crate::model::{Model, State};
use crate::run::{Case, Run, RunError, checkpoint};
use std::path::Path;

impl Setup {
    /// Forces [N] that `function` adds, which come as zeros, at a time [s] and positions [m] of all nodes. It is asked once a step and
    /// wherever somebody looks, and must say the same whenever it is asked for the same.
    pub fn load(mut self, function: impl FnMut(f64, &[Vec3], &mut [Vec3]) + Send + 'static) -> Self {
        self.loads.push(OwnLoad::new(Box::new(function)));
        self
    }

    /// Begins where [`Simulation::save`] left off, instead of at the deck's start.
    pub fn from_checkpoint(mut self, path: impl AsRef<Path>) -> Result<Self, SimulationError> {
        let path = path.as_ref();
        let read = checkpoint::read(path);
        let record =
            read.map_err(|e| SimulationError::Garbled { path: path.to_owned(), reason: e.to_string() })?;
        self.checkpoint = Some(record);
        Ok(self)
    }
}

impl Simulation {
    /// Keeps everything that decides the future in one file, whole or not at all: what [`Setup::from_checkpoint`] takes up.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), SimulationError> {
        self.start()?;
        let Stage::Running(run, ..) = &self.stage else { return Ok(()) };
        let path = path.as_ref();
        checkpoint::write(path, &run.save())
            .map_err(|source| SimulationError::Write { path: path.to_owned(), source })
    }

    /// Gives nodes velocities [m/s], as far as supports leave them. After the start it is an impulse from outside: its work is
    /// `external` in the ledger, and a run that goes on does so as if it had been stopped and taken up with other velocities.
    pub fn set_velocities(&mut self, nodes: &[u32], velocities: &[Vec3]) -> Result<(), SimulationError> {
        match &mut self.stage {
            Stage::Deck(loaded) => put(&mut loaded.case, nodes, velocities),
            Stage::Case(case) => put(case, nodes, velocities),
            Stage::Running(run, ..) => self.pool.install(|| kick(run, nodes, velocities))?,
            Stage::Gone => {}
        }
        Ok(())
    }
}

/// Before the start: nothing has been measured yet.
fn put(case: &mut Case, nodes: &[u32], velocities: &[Vec3]) {
    for (&k, v) in nodes.iter().zip(velocities) {
        case.state.v[k as usize] = *v;
    }
}

/// ½ Σ p·v [J], with the masses of the method.
fn kinetic(method: &dyn Method, model: &Model, v: &[Vec3]) -> f64 {
    match method.momenta(model, v) {
        Some(p) => p.iter().zip(v).map(|(p, v)| 0.5 * p.dot(v)).sum(),
        None => model.mass.iter().zip(v).map(|(m, v)| 0.5 * m * v.norm_squared()).sum(),
    }
}

fn kick(run: &mut Run, nodes: &[u32], velocities: &[Vec3]) -> Result<(), RunError> {
    run.synchronise();
    let State { time, x, v: before, .. } = run.synchronised().clone();
    let Case { model, state, method, .. } = &mut run.case;
    let mut after = before.clone();
    for (&k, v) in nodes.iter().zip(velocities) {
        let held = model.restraints.held.binary_search_by_key(&k, |h| h.node);
        after[k as usize] = held.map_or(*v, |h| {
            let held = &model.restraints.held[h];
            held.free * v + model.restraints.velocity(held, time)
        });
    }
    let work = kinetic(method.as_ref(), model, &after) - kinetic(method.as_ref(), model, &before);
    let change: Vec<Vec3> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
    let lumped = || change.iter().zip(&model.mass).map(|(v, m)| *m * v).collect();
    let given = method.momenta(model, &change).unwrap_or_else(lumped);
    let (impulse, moment) = (given.iter().sum(), x.iter().zip(&given).map(|(x, j)| x.cross(j)).sum());
    method.strike(model, state, &Blow { change, work, impulse, moment })?;
    run.ledger.external += work;
    run.ledger.kinetic += work;
    run.ledger.impulse += impulse;
    run.ledger.moment += moment;
    Ok(())
}
