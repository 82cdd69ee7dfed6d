//! A sheet of blocks: constraint (i, j) presses a node of its own on a facet of three nodes of a common grid, so that neighbours are coupled as contacts on
//! a face are.

use carom::math::dice::Dice;
use carom::solve::complementarity::Matrix;
use std::collections::BTreeMap;

pub type Row = Vec<(usize, f64)>;

/// Rows of G on unknowns with unit mass: `rows` to a constraint of a square sheet.
pub fn sheet(side: usize, rows: usize, dice: &mut Dice) -> Vec<Row> {
    let grid = |i: usize, j: usize| i * (side + 1) + j;
    let nodes = (side + 1) * (side + 1);
    let mut all = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let facet = [grid(i, j), grid(i + 1, j), grid(i, j + 1)];
            for row in 0..rows {
                let own = nodes + i * side + j;
                let mut entries: Row =
                    facet.iter().map(|&k| (rows * k + row, -dice.between(0.2, 0.45))).collect();
                entries.push((rows * own + row, 1.0));
                entries.sort_by_key(|e| e.0);
                all.push(entries);
            }
        }
    }
    all
}

/// `G Gᵀ` by rows, all rows of coupled constraints together.
pub fn coupled(g: &[Row], rows: usize) -> Matrix {
    let mut of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, row) in g.iter().enumerate() {
        row.iter().for_each(|e| of.entry(e.0 / rows).or_default().push(i));
    }
    let mut matrix = Matrix::default();
    matrix.clear();
    for row in g {
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for (k, x) in row {
            for &j in &of[&(k / rows)] {
                let other = g[j].iter().find(|e| e.0 == *k).map_or(0.0, |e| e.1);
                *sums.entry(j).or_default() += x * other;
            }
        }
        for (j, v) in sums {
            matrix.columns.push(j as u32);
            matrix.values.push(v);
        }
        matrix.end_row();
    }
    matrix
}

/// Right-hand sides that press nearly everything: the sheet is pushed together, unevenly.
pub fn pressed(n: usize, dice: &mut Dice) -> Vec<f64> {
    (0..n).map(|_| -1.0 + 0.5 * dice.between(0.0, 1.0)).collect()
}

/// The deepest that is left of `b + A x ≥ 0`.
pub fn violation(a: &Matrix, b: &[f64], x: &[f64]) -> f64 {
    (0..b.len()).map(|i| b[i] + a.row(i).map(|(j, v)| v * x[j]).sum::<f64>()).fold(0.0, |m: f64, w| m.max(-w))
}
