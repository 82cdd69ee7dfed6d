//! The matrix of an implicit step, `a K + b M`, on the directions in which nodes are free.
//!
//! Bodies meet in contacts only, so each has a matrix of its own. A held node keeps a basis of its free directions: its
//! unknowns are components along these, so the matrix stays definite and no larger than it must be. Plane problems have
//! two unknowns a node, fixed nodes none. Vectors of unknowns are those of all bodies, one after the other.

use crate::element::{Block, Positions};
use crate::math::Vec3;
use crate::mesh::Cells;
use crate::model::{Body, Model};
use crate::solve::sparse::{FactorError, Factors, Symmetric};
use rayon::prelude::*;
use std::ops::Range;

const NONE: u32 = u32::MAX;
/// Unknowns of an element at most.
const SIZE: usize = 24;

/// The free directions of one node.
#[derive(Clone, Copy, Debug)]
struct Free {
    /// First of its unknowns among those of all bodies.
    first: u32,
    count: u8,
    along: [Vec3; 3],
}

pub struct Assembly {
    free: Vec<Free>,
    /// Body of each node.
    body: Vec<u32>,
    pub unknowns: usize,
    parts: Vec<Part>,
}

/// The matrix of one body.
struct Part {
    /// Its unknowns among all.
    unknowns: Range<usize>,
    matrix: Symmetric,
    factors: Factors,
    /// For each element in turn: where the entries of its lower triangle stand, or none.
    places: Vec<u32>,
    /// Unknowns of each element in turn, as (node of the element, direction, unknown of the body).
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
        for free in &mut free {
            free.first = unknowns;
            unknowns += u32::from(free.count);
        }
        let mut body = vec![0; free.len()];
        for (i, b) in model.bodies.iter().enumerate() {
            body[b.nodes.clone()].fill(i as u32);
        }
        let parts: Result<_, _> = model.bodies.iter().map(|b| Part::new(b, &model.mass, &free)).collect();
        Ok(Assembly { parts: parts?, free, body, unknowns: unknowns as usize })
    }

    /// Factors `stiffness · K(x) + inertia · M`; `inertia` may depend on the body by its damping.
    pub fn factor(
        &mut self,
        model: &Model,
        x: &[Vec3],
        stiffness: f64,
        inertia: impl Fn(f64) -> f64 + Sync,
    ) -> Result<(), FactorError> {
        let free = &self.free;
        self.parts.par_iter_mut().zip(&model.bodies).try_for_each(|(part, body)| {
            part.matrix.values.fill(0.0);
            if stiffness != 0.0 {
                part.add_stiffness(model, body, free, x, stiffness);
            }
            let factor = inertia(body.damping);
            for (&at, m) in part.diagonal.iter().zip(&part.mass) {
                part.matrix.values[at] += factor * m;
            }
            part.factors.factor(&part.matrix)
        })
    }

    /// Body of a node.
    pub fn body(&self, node: usize) -> usize {
        self.body[node] as usize
    }

    /// Unknowns of a node, and their directions.
    pub fn directions(&self, node: usize) -> (usize, &[Vec3]) {
        let free = &self.free[node];
        (free.first as usize, &free.along[..usize::from(free.count)])
    }

    /// Components of one node's vector along its free directions, added to `to`.
    #[inline]
    pub fn gather(&self, node: usize, vector: &Vec3, to: &mut [f64]) {
        let (first, along) = self.directions(node);
        for (to, d) in to[first..].iter_mut().zip(along) {
            *to += d.dot(vector);
        }
    }

    /// A node's vector from its components.
    #[inline]
    pub fn spread(&self, node: usize, from: &[f64]) -> Vec3 {
        let (first, along) = self.directions(node);
        from[first..].iter().zip(along).map(|(x, d)| *x * d).sum()
    }

    /// Solves for `rhs` in its place.
    pub fn solve(&mut self, rhs: &mut [f64]) -> Result<(), FactorError> {
        for part in &mut self.parts {
            part.factors.solve(&mut rhs[part.unknowns.clone()])?;
        }
        Ok(())
    }

    /// For each body, how some of its unknowns answer to forces along them: `out[body]` becomes the part of the inverse in
    /// rows and columns `asked[body]`, column by column.
    pub fn flexibility(&mut self, asked: &[Vec<u32>], out: &mut [Vec<f64>]) -> Result<(), FactorError> {
        self.parts.par_iter_mut().zip(asked).zip(out).try_for_each(|((part, asked), out)| {
            let size = part.unknowns.len();
            let mut columns = vec![0.0; size * asked.len()];
            let place = |k: &u32| *k as usize - part.unknowns.start;
            for (column, k) in columns.chunks_exact_mut(size.max(1)).zip(asked) {
                column[place(k)] = 1.0;
            }
            part.factors.solve(&mut columns)?;
            out.clear();
            for column in columns.chunks_exact(size.max(1)) {
                out.extend(asked.iter().map(|k| column[place(k)]));
            }
            Ok(())
        })
    }
}

impl Part {
    fn new(body: &Body, mass: &[f64], free: &[Free]) -> Result<Part, FactorError> {
        let own = &free[body.nodes.clone()];
        let begin = own.first().map_or(0, |f| f.first);
        let count: u32 = own.iter().map(|f| u32::from(f.count)).sum();
        let weights = own.iter().zip(&mass[body.nodes.clone()]);
        let mass = weights.flat_map(|(f, &m)| std::iter::repeat_n(m, usize::from(f.count))).collect();
        let mut elements = Vec::new();
        for cells in &body.mesh.cells {
            for cell in cells.nodes.chunks_exact(cells.kind.nodes()) {
                let mut unknowns = Vec::new();
                for (a, &n) in cell.iter().enumerate() {
                    let node = &own[n as usize];
                    unknowns.extend((0..node.count).map(|d| (a as u8, d, node.first - begin + u32::from(d))));
                }
                elements.push(unknowns);
            }
        }
        let pairs = |own: &[(u8, u8, u32)]| -> Vec<(u32, u32)> {
            own.iter().enumerate().flat_map(|(i, p)| own[..=i].iter().map(|q| (p.2, q.2))).collect()
        };
        let mut entries: Vec<(u32, u32)> = (0..count).map(|k| (k, k)).collect();
        elements.iter().for_each(|own| entries.extend(pairs(own)));
        let matrix = Symmetric::with_pattern(count as usize, entries);
        let place = |(i, j): (u32, u32)| matrix.place(i, j).map_or(NONE, |at| at as u32);
        let places = elements.iter().flat_map(|own| pairs(own)).map(place).collect();
        let diagonal = (0..count).filter_map(|k| matrix.place(k, k)).collect();
        let factors = Factors::new(&matrix)?;
        let unknowns = begin as usize..(begin + count) as usize;
        Ok(Part { unknowns, matrix, factors, places, elements, diagonal, mass })
    }

    fn add_stiffness(&mut self, model: &Model, body: &Body, free: &[Free], x: &[Vec3], factor: f64) {
        let Part { matrix, places, elements, .. } = self;
        let free = &free[body.nodes.clone()];
        let positions = Positions { reference: &model.reference, current: x };
        let mut tangent = [0.0; SIZE * SIZE];
        let mut places = places.iter();
        let blocks: &[Box<dyn Block>] = &model.blocks[body.blocks.clone()];
        let each = |cells: &Cells| cells.nodes.len() / cells.kind.nodes();
        let mut elements = elements.iter();
        for (cells, block) in body.mesh.cells.iter().zip(blocks) {
            let nodes = cells.kind.nodes();
            let width = 3 * nodes;
            let here = elements.by_ref().take(each(cells));
            for (e, (cell, own)) in cells.nodes.chunks_exact(nodes).zip(here).enumerate() {
                block.tangent(e, positions, &mut tangent[..width * width]);
                let along = |p: &(u8, u8, u32)| free[cell[usize::from(p.0)] as usize].along[usize::from(p.1)];
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
                    for (q, at) in own[..=i].iter().zip(places.by_ref()) {
                        let (a, e) = (3 * usize::from(q.0), along(q));
                        let entry = row[a] * e.x + row[a + 1] * e.y + row[a + 2] * e.z;
                        if let Some(to) = matrix.values.get_mut(*at as usize) {
                            *to += factor * entry;
                        }
                    }
                }
            }
        }
    }
}
