//! The matrix of an implicit step, `a K + b M`, on the directions in which nodes are free.
//!
//! A held node keeps a basis of its free directions: its unknowns are components along these, so the matrix stays
//! definite and no larger than it must be. Plane problems have two unknowns a node, fixed nodes none.

use crate::element::Positions;
use crate::math::Vec3;
use crate::model::Model;
use crate::solve::sparse::{FactorError, Factors, Symmetric};

const NONE: u32 = u32::MAX;
/// Unknowns of an element at most.
const SIZE: usize = 24;

/// The free directions of one node.
#[derive(Clone, Copy, Debug)]
struct Free {
    first: u32,
    count: u8,
    along: [Vec3; 3],
}

pub struct Assembly {
    free: Vec<Free>,
    pub unknowns: usize,
    pub matrix: Symmetric,
    factors: Factors,
    /// For each element in turn: where the entries of its lower triangle stand, or none.
    places: Vec<u32>,
    /// Unknowns of each element in turn, as (node of the element, direction, unknown).
    elements: Vec<Vec<(u8, u8, u32)>>,
    diagonal: Vec<usize>,
    /// Mass of each unknown's node [kg].
    mass: Vec<f64>,
}

impl Assembly {
    pub fn new(model: &Model) -> Result<Assembly, FactorError> {
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
        let mut free = vec![Free { first: 0, count: 3, along: axes }; model.reference.len()];
        for held in &model.restraints.held {
            let eigen = held.free.symmetric_eigen();
            let to = &mut free[held.node as usize];
            to.count = 0;
            // axes as they are where they are free; else the eigenvectors
            let plain =
                axes.iter().all(|a| (held.free * a - a).norm() < 1e-14 || (held.free * a).norm() < 1e-14);
            for k in 0..3 {
                let d: Vec3 = if plain { axes[k] } else { eigen.eigenvectors.column(k).into() };
                if (held.free * d).norm() > 0.5 {
                    to.along[usize::from(to.count)] = d;
                    to.count += 1;
                }
            }
        }
        let mut unknowns = 0;
        let mut mass = Vec::new();
        for (free, &m) in free.iter_mut().zip(&model.mass) {
            free.first = unknowns;
            unknowns += u32::from(free.count);
            mass.extend(std::iter::repeat_n(m, usize::from(free.count)));
        }
        let mut elements = Vec::new();
        for body in &model.bodies {
            for cells in &body.mesh.cells {
                for cell in cells.nodes.chunks_exact(cells.kind.nodes()) {
                    let mut own = Vec::new();
                    for (a, &n) in cell.iter().enumerate() {
                        let node = &free[n as usize + body.nodes.start];
                        own.extend((0..node.count).map(|d| (a as u8, d, node.first + u32::from(d))));
                    }
                    elements.push(own);
                }
            }
        }
        let mut entries: Vec<(u32, u32)> = (0..unknowns).map(|k| (k, k)).collect();
        for own in &elements {
            for (i, p) in own.iter().enumerate() {
                entries.extend(own[..=i].iter().map(|q| (p.2, q.2)));
            }
        }
        let matrix = Symmetric::with_pattern(unknowns as usize, entries);
        let place = |i: u32, j: u32| matrix.place(i, j).map_or(NONE, |at| at as u32);
        let mut places = Vec::new();
        for own in &elements {
            for (i, p) in own.iter().enumerate() {
                places.extend(own[..=i].iter().map(|q| place(p.2, q.2)));
            }
        }
        let diagonal = (0..unknowns).filter_map(|k| matrix.place(k, k)).collect();
        let factors = Factors::new(&matrix)?;
        Ok(Assembly { free, unknowns: unknowns as usize, matrix, factors, places, elements, diagonal, mass })
    }

    /// Factors `stiffness · K(x) + inertia · M`; `inertia` may depend on the body by its damping.
    pub fn factor(
        &mut self,
        model: &Model,
        x: &[Vec3],
        stiffness: f64,
        inertia: impl Fn(f64) -> f64,
    ) -> Result<(), FactorError> {
        self.matrix.values.fill(0.0);
        if stiffness != 0.0 {
            self.add_stiffness(model, x, stiffness);
        }
        for body in &model.bodies {
            let factor = inertia(body.damping);
            for free in &self.free[body.nodes.clone()] {
                for k in free.first as usize..free.first as usize + usize::from(free.count) {
                    self.matrix.values[self.diagonal[k]] += factor * self.mass[k];
                }
            }
        }
        self.factors.factor(&self.matrix)
    }

    fn add_stiffness(&mut self, model: &Model, x: &[Vec3], factor: f64) {
        let Assembly { free, matrix, places, elements, .. } = self;
        let positions = Positions { reference: &model.reference, current: x };
        let mut tangent = [0.0; SIZE * SIZE];
        let (mut at, mut next) = (0, 0);
        for body in &model.bodies {
            for (cells, block) in body.mesh.cells.iter().zip(&model.blocks[body.blocks.clone()]) {
                let nodes = cells.kind.nodes();
                let width = 3 * nodes;
                for (e, cell) in cells.nodes.chunks_exact(nodes).enumerate() {
                    let own = &elements[next];
                    next += 1;
                    block.tangent(e, positions, &mut tangent[..width * width]);
                    let along = |p: &(u8, u8, u32)| {
                        free[cell[usize::from(p.0)] as usize + body.nodes.start].along[usize::from(p.1)]
                    };
                    for (i, p) in own.iter().enumerate() {
                        let d = along(p);
                        // row of the tangent along d
                        let mut row = [0.0; SIZE];
                        for k in 0..3 {
                            if d[k] != 0.0 {
                                let from = (3 * usize::from(p.0) + k) * width;
                                let part = &tangent[from..from + width];
                                row.iter_mut().zip(part).for_each(|(to, x)| *to += d[k] * x);
                            }
                        }
                        for q in &own[..=i] {
                            let (a, e) = (3 * usize::from(q.0), along(q));
                            let entry = row[a] * e.x + row[a + 1] * e.y + row[a + 2] * e.z;
                            if let Some(to) = matrix.values.get_mut(places[at] as usize) {
                                *to += factor * entry;
                            }
                            at += 1;
                        }
                    }
                }
            }
        }
    }

    /// Components of one node's vector along its free directions, added to `to`.
    #[inline]
    pub fn gather(&self, node: usize, vector: &Vec3, to: &mut [f64]) {
        let free = &self.free[node];
        for d in 0..usize::from(free.count) {
            to[free.first as usize + d] += free.along[d].dot(vector);
        }
    }

    /// A node's vector from its components.
    #[inline]
    pub fn spread(&self, node: usize, from: &[f64]) -> Vec3 {
        let free = &self.free[node];
        (0..usize::from(free.count)).map(|d| from[free.first as usize + d] * free.along[d]).sum()
    }

    /// Solves for all columns of `rhs`.
    pub fn solve(&mut self, rhs: &mut [f64]) -> Result<(), FactorError> {
        self.factors.solve(rhs)
    }
}
