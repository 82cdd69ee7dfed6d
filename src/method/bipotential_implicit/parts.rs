//! The matrices of a step, one for each body: bodies meet in contacts only. Vectors of unknowns are those of all bodies, one
//! after the other.

use crate::math::Vec3;
use crate::model::{Body, Model};
use crate::solve::assembly::{System, Unknowns};
use crate::solve::sparse::{FactorError, Shape};
use rayon::prelude::*;
use std::ops::Range;

/// Columns of an inverse that are solved for at once.
const COLUMNS: usize = 64;

pub struct Parts {
    pub unknowns: Unknowns,
    systems: Vec<System>,
    /// Body of each node.
    body: Vec<u32>,
}

impl Parts {
    pub fn new(model: &Model) -> Parts {
        let unknowns = Unknowns::new(model);
        let mut body = vec![0; model.reference.len()];
        for (i, b) in model.bodies.iter().enumerate() {
            body[b.nodes.clone()].fill(i as u32);
        }
        let one = |b: usize| System::new(model, &unknowns, b..b + 1, Shape::Symmetric);
        let systems = (0..model.bodies.len()).map(one).collect();
        Parts { systems, unknowns, body }
    }

    /// Body of a node.
    pub fn body(&self, node: usize) -> usize {
        self.body[node] as usize
    }

    /// Unknowns of a node.
    pub(crate) fn unknowns_of(&self, node: usize) -> Range<u32> {
        let (first, along) = self.unknowns.directions(node);
        first as u32..(first + along.len()) as u32
    }

    /// Factors `stiffness · K(x) + inertia · M`; `inertia` may depend on the body by its damping.
    pub fn factor(
        &mut self,
        model: &Model,
        x: &[Vec3],
        stiffness: f64,
        inertia: impl Fn(f64) -> f64 + Sync,
    ) -> Result<(), FactorError> {
        let unknowns = &self.unknowns;
        self.systems.par_iter_mut().try_for_each(|system| {
            system.clear();
            if stiffness != 0.0 {
                system.add_tangent(model, unknowns, x, stiffness);
            }
            system.add_mass(model, unknowns, |b| inertia(model.bodies[b].damping));
            system.factor(model, unknowns)
        })
    }

    /// The diagonal of the matrix times how far the nodes of each body reach from the origin [N]: what their round-off is a
    /// share of.
    pub(crate) fn stiffness_times(&self, model: &Model, x: &[Vec3]) -> f64 {
        let one = |(system, body): (&System, &Body)| {
            let reach = x[body.nodes.clone()].iter().fold(0.0, |m: f64, x| m.max(x.amax()));
            system.diagonal().map(|d| (d * reach).powi(2)).sum::<f64>()
        };
        self.systems.iter().zip(&model.bodies).map(one).sum::<f64>().sqrt()
    }

    /// Are all of them known to be positive?
    pub fn definite(&self) -> bool {
        self.systems.iter().all(|s| s.matrix.size == 0 || s.factors().is_some_and(|f| f.definite()))
    }

    /// Solves for `rhs` in its place.
    pub fn solve(&mut self, rhs: &mut [f64]) -> Result<(), FactorError> {
        for system in &mut self.systems {
            let own = system.unknowns.clone();
            system.solve(&mut rhs[own])?;
        }
        Ok(())
    }

    /// For each body, how some of its unknowns answer to forces along them: `out[body]` becomes the part of the inverse in
    /// rows and columns `asked[body]`, column by column.
    pub(crate) fn flexibility(
        &mut self,
        asked: &[Vec<u32>],
        out: &mut [Vec<f64>],
    ) -> Result<(), FactorError> {
        self.systems.par_iter_mut().zip(asked).zip(out).try_for_each(|((system, asked), out)| {
            let size = system.unknowns.len();
            let first = system.unknowns.start;
            let place = |k: &u32| *k as usize - first;
            let memory = |_| FactorError::Memory { size: asked.len() };
            out.clear();
            out.try_reserve_exact(asked.len() * asked.len()).map_err(memory)?;
            // whole columns are wanted for a few at a time only: all of them would be as many as a full matrix has
            let mut columns = Vec::new();
            columns.try_reserve_exact(size * asked.len().min(COLUMNS)).map_err(memory)?;
            for some in asked.chunks(COLUMNS) {
                columns.clear();
                columns.resize(size * some.len(), 0.0);
                for (column, k) in columns.chunks_exact_mut(size.max(1)).zip(some) {
                    column[place(k)] = 1.0;
                }
                system.solve(&mut columns)?;
                for column in columns.chunks_exact(size.max(1)) {
                    out.extend(asked.iter().map(|k| column[place(k)]));
                }
            }
            Ok(())
        })
    }
}
