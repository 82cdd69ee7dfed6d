//! Masses of nodes, lumped or as the elements have them.
//!
//! A consistent mass couples nodes: momenta are `M v`, impulses are answered by one solve with the factors of M on the directions in which nodes
//! are free. With lumped masses the update acts on surface nodes alone, which get large local velocities; with a consistent one it spreads.

use crate::math::Vec3;
use crate::model::Model;
use crate::solve::assembly::{System, Unknowns};
use crate::solve::sparse::{FactorError, Matrix, Shape};

/// Masses of a model.
pub(super) enum Mass {
    Lumped,
    Consistent(Box<Consistent>),
}

pub(super) struct Consistent {
    /// Of nodes, the lower triangle.
    nodal: Matrix,
    /// On free directions, factored.
    system: System,
}

impl Mass {
    /// As the elements have it.
    pub(super) fn consistent(model: &Model, unknowns: &Unknowns) -> Result<Mass, FactorError> {
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for block in &model.blocks {
            // cells come last among the potentials
            let first = block.potentials() - block.len();
            let mut mass = Vec::new();
            for e in 0..block.len() {
                let stencil = block.stencil(first + e);
                mass.resize(stencil.len() * stencil.len(), 0.0);
                block.consistent_mass(e, &model.reference, &mut mass);
                for (&row, mass) in stencil.iter().zip(mass.chunks_exact(stencil.len())) {
                    let lower = stencil.iter().zip(mass).filter(|(column, _)| **column <= row);
                    entries.extend(lower.map(|(&column, m)| (column, row, *m)));
                }
            }
        }
        // stable: every sum is in the order of the elements
        entries.sort_by_key(|e| (e.0, e.1));
        let size = model.reference.len();
        let mut nodal =
            Matrix { size, shape: Shape::Symmetric, starts: vec![0; size + 1], ..Matrix::default() };
        for own in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            nodal.starts[own[0].0 as usize + 1] += 1;
            nodal.rows.push(own[0].1 as usize);
            nodal.values.push(own.iter().map(|e| e.2).sum());
        }
        for k in 0..size {
            nodal.starts[k + 1] += nodal.starts[k];
        }
        let mut system = System::new(model, unknowns, 0..model.bodies.len(), Shape::Symmetric);
        system.add_consistent_mass(model, unknowns, |_| 1.0);
        system.factor(model, unknowns)?;
        Ok(Mass::Consistent(Box::new(Consistent { nodal, system })))
    }

    /// `M u` of a field by node.
    pub(super) fn times(&self, model: &Model, u: &[Vec3], out: &mut Vec<Vec3>) {
        out.clear();
        match self {
            Mass::Lumped => out.extend(model.mass.iter().zip(u).map(|(m, u)| *m * u)),
            Mass::Consistent(own) => {
                let m = &own.nodal;
                out.resize(m.size, Vec3::zeros());
                for j in 0..m.size {
                    for at in m.starts[j]..m.starts[j + 1] {
                        let i = m.rows[at];
                        out[i] += m.values[at] * u[j];
                        if i != j {
                            out[j] += m.values[at] * u[i];
                        }
                    }
                }
            }
        }
    }

    /// ½ v·M v.
    pub(super) fn kinetic(&self, model: &Model, v: &[Vec3]) -> f64 {
        match self {
            Mass::Lumped => v.iter().zip(&model.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum(),
            Mass::Consistent(_) => {
                let mut p = Vec::new();
                self.times(model, v, &mut p);
                p.iter().zip(v).map(|(p, v)| 0.5 * p.dot(v)).sum()
            }
        }
    }
}

impl Consistent {
    /// Velocities that impulses give, in their place: components along the free directions of nodes.
    pub(super) fn answer(&mut self, impulses: &mut [f64]) -> Result<(), FactorError> {
        self.system.solve(impulses)
    }
}
