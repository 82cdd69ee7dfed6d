//! How long each potential may wait: critical steps, and the steps made of them.
//!
//! ```text
//! h_crit = 2/ω,  ω² = λ_max(M⁻¹K) of the element with its own mass
//! classes      h = h₀ 2ᵏ ≤ β h_crit,  h₀ = β min h_crit
//! free         h = β h_crit
//! synchronous  h = h₀ for all
//! ```
//!
//! The mesh's highest frequency is at most the largest of its elements' (Rayleigh quotient). Free steps that do not fit
//! each other resonate and the energy grows; powers of two do not.

use super::clock::{TICKS_OF_CLASSES, TICKS_OF_FREE_STEPS};
use crate::element::{Block, Positions};
use crate::math::Vec3;
use crate::mesh::Cells;
use crate::model::Model;
use carom_declare::words;
use nalgebra::DMatrix;
use std::collections::HashMap;

words! {
    /// How the steps of elements fit each other.
    pub enum Steps {
        /// Powers of two times the smallest.
        Classes = "classes",
        /// Each element its own; they may resonate, and `safety` is 0.25 unless given.
        Free = "free",
        /// The smallest for all.
        Synchronous = "synchronous",
    }
}

/// So many different shapes of elements are measured exactly; the others by the bound of the block, a few per cent
/// shorter.
const SHAPES: usize = 2000;
/// Elements are of one shape if they differ by less, relative to their size.
const SAME: f64 = 1e-9;

/// Critical step [s] of every potential of every block.
pub(crate) fn critical(model: &Model) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for body in &model.bodies {
        for (cells, b) in body.mesh.cells.iter().zip(body.blocks.clone()) {
            let block = model.blocks[b].as_ref();
            let mut steps = block.stable_steps().to_vec();
            if block.potentials() == block.len() {
                sharpen(block, cells, body.nodes.start, &model.reference, &mut steps);
            }
            all.push(steps);
        }
    }
    all
}

/// Replaces bounds by exact values, shape by shape. A potential that hangs on more nodes than those of its cell (a shell's)
/// keeps its bound: the cell does not tell its shape.
fn sharpen(block: &dyn Block, cells: &Cells, first: usize, reference: &[Vec3], steps: &mut [f64]) {
    let mut known: HashMap<Vec<i64>, f64> = HashMap::new();
    for (e, step) in steps.iter_mut().enumerate() {
        let nodes = cells.cell(e);
        if block.stencil(e).len() != nodes.len() {
            continue;
        }
        let at = |k: usize| reference[first + nodes[k] as usize];
        // a power of two as the unit, so that sizes that differ by round-off have the same one
        let size = (1..nodes.len()).map(|k| (at(k) - at(0)).norm()).fold(0.0, f64::max);
        let unit = SAME * size.log2().ceil().exp2();
        let mut shape: Vec<i64> = vec![unit.log2() as i64];
        for k in 1..nodes.len() {
            shape.extend((at(k) - at(0)).iter().map(|x| (x / unit).round() as i64));
        }
        match known.get(&shape) {
            Some(exact) => *step = *exact,
            None if known.len() < SHAPES => {
                let exact = exact(block, e, nodes.len(), reference);
                // never below what is proven
                *step = exact.max(*step);
                known.insert(shape, *step);
            }
            None => {}
        }
    }
}

fn exact(block: &dyn Block, element: usize, nodes: usize, reference: &[Vec3]) -> f64 {
    let n = 3 * nodes;
    let mut k = vec![0.0; n * n];
    block.tangent(element, Positions { reference, current: reference }, &mut k);
    let mut mass = vec![0.0; nodes * nodes];
    block.consistent_mass(element, reference, &mut mass);
    let root: Vec<f64> = mass.chunks_exact(nodes).map(|row| 1.0 / row.iter().sum::<f64>().sqrt()).collect();
    let a = DMatrix::from_fn(n, n, |i, j| 0.5 * (k[i * n + j] + k[j * n + i]) * root[i / 3] * root[j / 3]);
    2.0 / a.symmetric_eigenvalues().max().sqrt()
}

/// The tick [s], and the step of every potential in ticks; `None` where nothing can move.
pub(crate) fn choose(
    critical: &[Vec<f64>],
    moves: &[Vec<bool>],
    safety: f64,
    how: Steps,
) -> (f64, Vec<Vec<Option<u64>>>) {
    let pairs = || critical.iter().flatten().zip(moves.iter().flatten());
    let least = pairs().filter(|p| *p.1).fold(f64::INFINITY, |least, p| least.min(*p.0));
    // a model in which nothing moves still needs a clock
    let least = if least.is_finite() { least } else { pairs().fold(1.0, |least, p| p.0.min(least)) };
    let h0 = safety * least;
    let tick = h0 / if how == Steps::Free { TICKS_OF_FREE_STEPS } else { TICKS_OF_CLASSES } as f64;
    let ticks = |critical: f64| match how {
        // ratios like 2 must not fail by round-off
        Steps::Classes => {
            TICKS_OF_CLASSES << (critical / least * (1.0 + SAME)).log2().floor().clamp(0.0, 30.0) as u32
        }
        Steps::Free => ((safety * critical / tick) * (1.0 + SAME)).floor().clamp(1.0, 1e15) as u64,
        Steps::Synchronous => TICKS_OF_CLASSES,
    };
    let of_block = |(steps, moves): (&Vec<f64>, &Vec<bool>)| {
        steps.iter().zip(moves).map(|(&s, &moves)| moves.then(|| ticks(s))).collect()
    };
    (tick, critical.iter().zip(moves).map(of_block).collect())
}

/// Shortest critical step around each node, and the average of all potentials that move [s].
pub(crate) fn around(model: &Model, critical: &[Vec<f64>], moves: &[Vec<bool>]) -> (Vec<f64>, f64) {
    let mut local = vec![f64::INFINITY; model.reference.len()];
    let (mut sum, mut count) = (0.0, 0);
    for (b, block) in model.blocks.iter().enumerate() {
        for (p, (&step, &moves)) in critical[b].iter().zip(&moves[b]).enumerate() {
            block.mass_shares(p, &model.reference, &mut |n, _| {
                local[n as usize] = local[n as usize].min(step);
            });
            if moves {
                (sum, count) = (sum + step, count + 1);
            }
        }
    }
    (local, if count > 0 { sum / f64::from(count) } else { 1.0 })
}

/// Which potentials have a node that is not fixed.
pub(crate) fn movable(model: &Model) -> Vec<Vec<bool>> {
    let mut fixed = vec![false; model.reference.len()];
    for held in &model.restraints.held {
        fixed[held.node as usize] = held.prescribed.is_empty() && held.free.iter().all(|x| *x == 0.0);
    }
    let of_block = |block: &dyn Block| {
        (0..block.potentials())
            .map(|p| {
                let mut moves = false;
                block.mass_shares(p, &model.reference, &mut |n, _| moves |= !fixed[n as usize]);
                moves
            })
            .collect()
    };
    model.blocks.iter().map(|block| of_block(block.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_the_longest_their_kind_allows() {
        let critical = vec![vec![1.0, 1.5, 2.0, 3.9, 4.0, 9.0]];
        let moves = vec![vec![true; 6]];
        let h = |how| {
            let (tick, steps) = choose(&critical, &moves, 0.5, how);
            steps[0].iter().map(|s| s.unwrap_or(0) as f64 * tick).collect::<Vec<_>>()
        };
        assert_eq!(h(Steps::Classes), [0.5, 0.5, 1.0, 1.0, 2.0, 4.0]);
        assert_eq!(h(Steps::Synchronous), [0.5; 6]);
        for (h, c) in h(Steps::Free).iter().zip(&critical[0]) {
            assert!((h / (0.5 * c) - 1.0).abs() <= 1e-6);
        }
        let (_, some) = choose(&critical, &[vec![false, true, true, true, true, true]], 1.0, Steps::Classes);
        assert_eq!(some[0][..3], [None, Some(1024), Some(1024)]);
    }
}
