//! The matrix of an implicit step, on the directions in which nodes are free.
//!
//! A held node keeps a basis of the range of its projector P: its unknowns are components along these. The solution is that
//! of `P A P + α(I − P)`, without α and with fewer unknowns: two a node in plane problems, none for fixed nodes.
//!
//! [`Unknowns`] numbers them for the whole model; a [`System`] is the matrix of some bodies: one for each where they meet in
//! contacts only, or one for all where contacts enter the matrix. Its pattern comes from the stencils of the blocks, of any
//! length, and from the nodes that contacts couple, which may change from iteration to iteration.

use super::krylov::TOLERANCE;
use super::order::{Graph, nested_dissection};
use super::sparse::{FactorError, Factors, Matrix, Shape};
use crate::element::{Between, Block, Positions};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use rayon::prelude::*;
use std::ops::Range;

/// Potentials whose tangents are found at once.
const BATCH: usize = 256;

/// The free directions of one node.
#[derive(Clone, Copy, Debug)]
struct Free {
    /// First of its unknowns among those of all bodies.
    first: u32,
    count: u8,
    along: [Vec3; 3],
    /// The axes that `along` are, if they are.
    axes: Option<[u8; 3]>,
}

/// Unknowns of all nodes.
pub struct Unknowns {
    free: Vec<Free>,
    pub count: usize,
}

impl Unknowns {
    pub fn new(model: &Model) -> Unknowns {
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
        let all = Free { first: 0, count: 3, along: axes, axes: Some([0, 1, 2]) };
        let mut free = vec![all; model.reference.len()];
        for held in &model.restraints.held {
            let eigen = held.free.symmetric_eigen();
            let to = &mut free[held.node as usize];
            to.count = 0;
            // axes as they are where they are free; else the eigenvectors
            let plain =
                axes.iter().all(|a| (held.free * a - a).norm() < 1e-14 || (held.free * a).norm() < 1e-14);
            let mut which = [0; 3];
            for k in 0..3 {
                let d: Vec3 = if plain { axes[k] } else { eigen.eigenvectors.column(k).into() };
                if (held.free * d).norm() > 0.5 {
                    let at = usize::from(to.count);
                    (to.along[at], which[at]) = (d, k as u8);
                    to.count += 1;
                }
            }
            to.axes = plain.then_some(which);
        }
        let mut count = 0;
        for free in &mut free {
            free.first = count;
            count += u32::from(free.count);
        }
        Unknowns { free, count: count as usize }
    }

    /// Unknowns of a node: the first, and their directions.
    pub fn directions(&self, node: usize) -> (usize, &[Vec3]) {
        let free = &self.free[node];
        (free.first as usize, &free.along[..usize::from(free.count)])
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.free.len()
    }

    /// Unknowns of nodes that follow each other.
    pub(crate) fn of_nodes(&self, nodes: Range<usize>) -> Range<usize> {
        let first = |k: usize| self.free.get(k).map_or(self.count, |f| f.first as usize);
        first(nodes.start)..first(nodes.end)
    }

    /// Components of one node's vector along its free directions, added to `to`.
    #[inline]
    pub fn add_to_unknowns(&self, node: usize, vector: &Vec3, to: &mut [f64]) {
        let (first, along) = self.directions(node);
        for (to, d) in to[first..].iter_mut().zip(along) {
            *to += d.dot(vector);
        }
    }

    /// A node's vector from its components.
    #[inline]
    pub fn expand(&self, node: usize, from: &[f64]) -> Vec3 {
        let (first, along) = self.directions(node);
        from[first..].iter().zip(along).map(|(x, d)| *x * d).sum()
    }
}

/// A sparse system of the unknowns of some bodies.
pub struct System {
    /// Its nodes and unknowns among all.
    pub nodes: Range<usize>,
    pub unknowns: Range<usize>,
    bodies: Range<usize>,
    /// Of nodes, counted from the first of them.
    graph: Graph,
    /// Rows before those of a neighbour in the columns of a node, beside `graph.neighbours`.
    offsets: Vec<u32>,
    /// Pairs of nodes (model-wide, ascending) that contacts couple beside the elements.
    coupled: Vec<(u32, u32)>,
    pub matrix: Matrix,
    /// Entries (row, column, value) of the matrix that its symmetric part is better off without.
    aside: Vec<(usize, usize, f64)>,
    factors: Option<Factors>,
    /// Tangents of a batch of potentials, and where each begins.
    tangents: Vec<f64>,
    begins: Vec<usize>,
}

impl System {
    pub fn new(model: &Model, unknowns: &Unknowns, bodies: Range<usize>, shape: Shape) -> System {
        let own = &model.bodies[bodies.clone()];
        let nodes = own.first().map_or(0, |b| b.nodes.start)..own.last().map_or(0, |b| b.nodes.end);
        let mut system = System {
            unknowns: unknowns.of_nodes(nodes.clone()),
            nodes,
            bodies,
            graph: Graph::default(),
            offsets: Vec::new(),
            coupled: Vec::new(),
            matrix: Matrix { shape, ..Matrix::default() },
            aside: Vec::new(),
            factors: None,
            tangents: Vec::new(),
            begins: Vec::new(),
        };
        system.build(model, unknowns);
        system
    }

    fn blocks<'a>(&self, model: &'a Model) -> &'a [Box<dyn Block>] {
        let own = &model.bodies[self.bodies.clone()];
        let first = own.first().map_or(0, |b| b.blocks.start);
        &model.blocks[first..own.last().map_or(first, |b| b.blocks.end)]
    }

    /// Finds the pattern; the factors are found again when they are needed.
    fn build(&mut self, model: &Model, unknowns: &Unknowns) {
        let start = self.nodes.start as u32;
        let blocks = self.blocks(model);
        let mut stencils: Vec<Vec<u32>> = Vec::new();
        for block in blocks {
            for p in 0..block.potentials() {
                stencils.push(block.stencil(p).iter().map(|n| n - start).collect());
            }
        }
        stencils.extend(self.coupled.iter().map(|&(a, b)| vec![a - start, b - start]));
        self.graph = Graph::of_stencils(self.nodes.len(), stencils.iter().map(|s| &s[..]));
        let free = &unknowns.free[self.nodes.clone()];
        let first = self.unknowns.start;
        let (lower, size) = (self.matrix.shape == Shape::Symmetric, self.unknowns.len());
        let matrix = &mut self.matrix;
        (matrix.size, matrix.starts, matrix.rows) = (size, vec![0], Vec::new());
        self.offsets.clear();
        for (node, own) in free.iter().enumerate() {
            let mut rows = 0;
            for &m in self.graph.of(node) {
                self.offsets.push(rows);
                if !lower || m as usize >= node {
                    rows += u32::from(free[m as usize].count);
                }
            }
            for d in 0..usize::from(own.count) {
                let column = own.first as usize - first + d;
                for &m in self.graph.of(node) {
                    let other = &free[m as usize];
                    let begin = other.first as usize - first;
                    let rows = begin..begin + usize::from(other.count);
                    matrix.rows.extend(rows.filter(|&i| !lower || i >= column));
                }
                matrix.starts.push(matrix.rows.len());
            }
        }
        matrix.values.clear();
        matrix.values.resize(matrix.rows.len(), 0.0);
        self.factors = None;
    }

    /// Pairs of nodes coupled beside the elements, for a record: the order of elimination depends on them.
    pub fn coupled(&self) -> &[(u32, u32)] {
        &self.coupled
    }

    /// Makes room for entries between all nodes (model-wide) of each of these stencils. What was coupled before stays; with
    /// `afresh` it is forgotten if it is not asked for.
    pub fn couple<'a>(
        &mut self,
        model: &Model,
        unknowns: &Unknowns,
        stencils: impl Iterator<Item = &'a [u32]>,
        afresh: bool,
    ) {
        let mut all = if afresh { Vec::new() } else { self.coupled.clone() };
        for stencil in stencils {
            for (i, &a) in stencil.iter().enumerate() {
                for &b in &stencil[..i] {
                    if a != b && !(self.of_elements(model, a, b)) {
                        all.push((a.min(b), a.max(b)));
                    }
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        if all != self.coupled {
            self.coupled = all;
            self.build(model, unknowns);
        }
    }

    /// The elements couple two nodes, whatever contacts do.
    fn of_elements(&self, _: &Model, a: u32, b: u32) -> bool {
        let start = self.nodes.start as u32;
        self.graph.of((a - start) as usize).binary_search(&(b - start)).is_ok()
            && self.coupled.binary_search(&(a.min(b), a.max(b))).is_err()
    }

    pub fn clear(&mut self) {
        self.matrix.values.fill(0.0);
        self.aside.clear();
    }

    /// Says that this much of the entries between two nodes (model-wide), which were added, has no counterpart across the diagonal: half of it on either side
    /// would be far from the matrix. Only factors of a symmetric part ask.
    pub fn set_aside(&mut self, unknowns: &Unknowns, row: u32, column: u32, block: &Mat3) {
        let first = self.unknowns.start;
        let (r, along) = unknowns.directions(row as usize);
        let (c, across) = unknowns.directions(column as usize);
        for (i, d) in along.iter().enumerate() {
            for (j, e) in across.iter().enumerate() {
                self.aside.push((r - first + i, c - first + j, d.dot(&(block * e))));
            }
        }
    }

    /// Adds `factor` times the tangent of the elements at positions `x`.
    pub fn add_tangent(&mut self, model: &Model, unknowns: &Unknowns, x: &[Vec3], factor: f64) {
        let positions = Positions { reference: &model.reference, current: x };
        self.add_potentials(model, unknowns, factor, |block, p, out| block.tangent(p, positions, out));
    }

    /// Adds `factor` times the derivative of the forces between two configurations to the end.
    pub fn add_tangent_between(&mut self, model: &Model, unknowns: &Unknowns, between: Between, factor: f64) {
        self.add_potentials(model, unknowns, factor, |block, p, out| block.tangent_between(p, between, out));
    }

    fn add_potentials(
        &mut self,
        model: &Model,
        unknowns: &Unknowns,
        factor: f64,
        tangent: impl Fn(&dyn Block, usize, &mut [f64]) + Sync,
    ) {
        let (mut tangents, mut begins) =
            (std::mem::take(&mut self.tangents), std::mem::take(&mut self.begins));
        for block in self.blocks(model) {
            let count = block.potentials();
            for first in (0..count).step_by(BATCH) {
                let batch = first..(first + BATCH).min(count);
                begins.clear();
                begins.push(0);
                let mut end = 0;
                for p in batch.clone() {
                    end += (3 * block.stencil(p).len()).pow(2);
                    begins.push(end);
                }
                tangents.resize(end, 0.0);
                let mut rest = &mut tangents[..end];
                let mut tasks = Vec::with_capacity(batch.len());
                for (p, range) in batch.clone().zip(begins.windows(2)) {
                    let (own, others) = rest.split_at_mut(range[1] - range[0]);
                    tasks.push((p, own));
                    rest = others;
                }
                tasks.into_par_iter().for_each(|(p, out)| tangent(block.as_ref(), p, out));
                for (p, range) in batch.zip(begins.windows(2)) {
                    self.add_dense(unknowns, block.stencil(p), &tangents[range[0]..range[1]], factor);
                }
            }
        }
        (self.tangents, self.begins) = (tangents, begins);
    }

    /// Adds `factor` times a full matrix, row by row, between the nodes of a stencil (model-wide), three rows to each.
    pub(crate) fn add_dense(&mut self, unknowns: &Unknowns, stencil: &[u32], dense: &[f64], factor: f64) {
        let width = 3 * stencil.len();
        for (b, &column) in stencil.iter().enumerate() {
            for (a, &row) in stencil.iter().enumerate() {
                if self.matrix.shape == Shape::Symmetric && row < column {
                    continue;
                }
                let part: [&[f64]; 3] =
                    [0, 1, 2].map(|i| &dense[(3 * a + i) * width + 3 * b..(3 * a + i) * width + 3 * b + 3]);
                self.add_rows(unknowns, row, column, part, factor);
            }
        }
    }

    /// Adds a 3×3 block between two nodes (model-wide). In a symmetric matrix only blocks on or below the diagonal count.
    pub fn add_block(&mut self, unknowns: &Unknowns, row: u32, column: u32, block: &Mat3) {
        if self.matrix.shape == Shape::Unsymmetric || row >= column {
            let rows: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| block[(i, j)]));
            self.add_rows(unknowns, row, column, [&rows[0], &rows[1], &rows[2]], 1.0);
        }
    }

    #[inline]
    fn add_rows(&mut self, unknowns: &Unknowns, row: u32, column: u32, part: [&[f64]; 3], factor: f64) {
        let (r, c) = (&unknowns.free[row as usize], &unknowns.free[column as usize]);
        if r.count == 0 || c.count == 0 {
            return;
        }
        let start = self.nodes.start as u32;
        let node = (column - start) as usize;
        let Ok(at) = self.graph.of(node).binary_search(&(row - start)) else {
            debug_assert!(false, "nodes {row} and {column} are not coupled");
            return;
        };
        let offset = self.offsets[self.graph.starts[node] + at] as usize;
        let lower = self.matrix.shape == Shape::Symmetric;
        for d in 0..usize::from(c.count) {
            let begin = self.matrix.starts[c.first as usize - self.unknowns.start + d];
            // a symmetric column begins on its diagonal
            let skip = if lower { d } else { 0 };
            for i in 0..usize::from(r.count) {
                if lower && row == column && i < d {
                    continue;
                }
                let entry = match (r.axes, c.axes) {
                    (Some(p), Some(q)) => part[usize::from(p[i])][usize::from(q[d])],
                    _ => (0..3)
                        .map(|k| r.along[i][k] * (0..3).map(|l| part[k][l] * c.along[d][l]).sum::<f64>())
                        .sum(),
                };
                self.matrix.values[begin + offset + i - skip] += factor * entry;
            }
        }
    }

    /// Adds the lumped mass times a factor for each body.
    pub fn add_mass(&mut self, model: &Model, unknowns: &Unknowns, factor: impl Fn(usize) -> f64) {
        for b in self.bodies.clone() {
            let factor = factor(b);
            for node in model.bodies[b].nodes.clone() {
                self.add_block(
                    unknowns,
                    node as u32,
                    node as u32,
                    &Mat3::from_diagonal_element(factor * model.mass[node]),
                );
            }
        }
    }

    /// Adds the consistent mass times a factor for each body.
    pub fn add_consistent_mass(&mut self, model: &Model, unknowns: &Unknowns, factor: impl Fn(usize) -> f64) {
        for b in self.bodies.clone() {
            let factor = factor(b);
            for block in &model.blocks[model.bodies[b].blocks.clone()] {
                // cells come last among the potentials
                let first = block.potentials() - block.len();
                let mut mass = Vec::new();
                for e in 0..block.len() {
                    let stencil = block.stencil(first + e);
                    mass.resize(stencil.len() * stencil.len(), 0.0);
                    block.consistent_mass(e, &model.reference, &mut mass);
                    for (&row, mass) in stencil.iter().zip(mass.chunks_exact(stencil.len())) {
                        for (&column, m) in stencil.iter().zip(mass) {
                            let block = Mat3::from_diagonal_element(factor * m);
                            self.add_block(unknowns, row, column, &block);
                        }
                    }
                }
            }
        }
    }

    /// Factors the matrix as it stands.
    pub fn factor(&mut self, model: &Model, unknowns: &Unknowns) -> Result<(), FactorError> {
        if self.factors.is_none() {
            let order = self.order(model, unknowns);
            self.factors = Some(Factors::new(&self.matrix, Some(&order))?);
        }
        match &mut self.factors {
            Some(factors) => factors.factor_without(&self.matrix, &self.aside),
            None => Err(FactorError::Singular),
        }
    }

    pub fn order(&self, model: &Model, unknowns: &Unknowns) -> Vec<usize> {
        let free = &unknowns.free[self.nodes.clone()];
        let mut order = Vec::with_capacity(self.matrix.size);
        for node in nested_dissection(&self.graph, &model.reference[self.nodes.clone()]) {
            let free = &free[node as usize];
            let first = free.first as usize - self.unknowns.start;
            order.extend(first..first + usize::from(free.count));
        }
        order
    }

    /// Solves for columns of its own unknowns in their place.
    pub fn solve(&mut self, rhs: &mut [f64]) -> Result<(), FactorError> {
        self.solve_to(rhs, TOLERANCE)
    }

    /// The same where `left` of each right-hand side may be left.
    pub fn solve_to(&mut self, rhs: &mut [f64], left: f64) -> Result<(), FactorError> {
        match &mut self.factors {
            Some(factors) => factors.solve_to(&self.matrix, rhs, left),
            None => Err(FactorError::Singular),
        }
    }

    /// The factors, once there are any.
    pub fn factors(&self) -> Option<&Factors> {
        self.factors.as_ref()
    }

    /// Diagonal entry of each unknown.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.matrix.size).map(|j| self.matrix.place(j, j).map_or(0.0, |at| self.matrix.values[at]))
    }
}
