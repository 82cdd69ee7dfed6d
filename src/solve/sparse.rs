//! Sparse symmetric systems by direct factorisation: the order of elimination is found once, numbers come and go.
//!
//! One thread on purpose: sums would depend on their number otherwise.
//!
//! Read by the implicit methods.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{LdltRef, LltRef, SymbolicCholesky, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// The lower triangle of a symmetric matrix, column by column, rows ascending.
#[derive(Clone, Debug, Default)]
pub struct Symmetric {
    pub size: usize,
    /// `rows[starts[j]..starts[j + 1]]` are those of column j.
    pub starts: Vec<usize>,
    pub rows: Vec<usize>,
    pub values: Vec<f64>,
}

/// Why there are no factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactorError {
    #[error("a system of equations is singular")]
    Singular,
    #[error("there is no memory for a system of {size} equations")]
    Memory { size: usize },
}

impl Symmetric {
    /// The pattern of these entries (row, column), either triangle, in any order and as often as you like; all zero.
    pub fn with_pattern(size: usize, mut entries: Vec<(u32, u32)>) -> Symmetric {
        for (i, j) in &mut entries {
            (*i, *j) = ((*i).max(*j), (*i).min(*j));
        }
        entries.sort_unstable_by_key(|&(i, j)| (j, i));
        entries.dedup();
        let mut starts = vec![0; size + 1];
        for &(_, j) in &entries {
            starts[j as usize + 1] += 1;
        }
        for j in 0..size {
            starts[j + 1] += starts[j];
        }
        let rows: Vec<usize> = entries.iter().map(|e| e.0 as usize).collect();
        let values = vec![0.0; rows.len()];
        Symmetric { size, starts, rows, values }
    }

    /// Where entry (i, j) of the pattern stands.
    pub fn place(&self, i: u32, j: u32) -> Option<usize> {
        let (i, j) = (i.max(j) as usize, i.min(j) as usize);
        let column = &self.rows[self.starts[j]..self.starts[j + 1]];
        column.binary_search(&i).ok().map(|at| self.starts[j] + at)
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, usize> {
        SymbolicSparseColMatRef::new_checked(self.size, self.size, &self.starts, None, &self.rows)
    }
}

/// The factors of a matrix.
pub struct Factors {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    /// LLᵀ; else LDLᵀ.
    definite: bool,
    buffer: MemBuffer,
}

impl Factors {
    /// Finds the order of elimination for the pattern of `matrix`.
    pub fn new(matrix: &Symmetric) -> Result<Factors, FactorError> {
        let memory = FactorError::Memory { size: matrix.size };
        let symbolic = factorize_symbolic_cholesky(
            matrix.pattern(),
            Side::Lower,
            Default::default(),
            Default::default(),
        )
        .map_err(|_| memory)?;
        let need =
            symbolic
                .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default())
                .or(symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default()));
        let buffer = MemBuffer::try_new(need).map_err(|_| memory)?;
        let values = vec![0.0; symbolic.len_val()];
        Ok(Factors { symbolic, values, definite: true, buffer })
    }

    /// Factors a matrix of that pattern; LDLᵀ where it is not positive.
    pub fn factor(&mut self, matrix: &Symmetric) -> Result<(), FactorError> {
        let a = SparseColMatRef::new(matrix.pattern(), &matrix.values);
        let stack = MemStack::new(&mut self.buffer);
        self.definite = self
            .symbolic
            .factorize_numeric_llt(
                &mut self.values,
                a,
                Side::Lower,
                Default::default(),
                Par::Seq,
                stack,
                Default::default(),
            )
            .is_ok();
        if self.definite {
            return Ok(());
        }
        let stack = MemStack::new(&mut self.buffer);
        let done = self.symbolic.factorize_numeric_ldlt(
            &mut self.values,
            a,
            Side::Lower,
            Default::default(),
            Par::Seq,
            stack,
            Default::default(),
        );
        done.map(|_| ()).map_err(|_| FactorError::Singular)
    }

    /// Solves for the columns of `rhs`, one after the other in memory, in their place.
    pub fn solve(&mut self, rhs: &mut [f64]) -> Result<(), FactorError> {
        let size = self.symbolic.nrows();
        let columns = rhs.len() / size.max(1);
        if columns == 0 {
            return Ok(());
        }
        let need = self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
        let mut buffer = MemBuffer::try_new(need).map_err(|_| FactorError::Memory { size })?;
        let stack = MemStack::new(&mut buffer);
        let rhs = MatMut::from_column_major_slice_mut(rhs, size, columns);
        if self.definite {
            LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
                Conj::No,
                rhs,
                Par::Seq,
                stack,
            );
        } else {
            LdltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
                Conj::No,
                rhs,
                Par::Seq,
                stack,
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of springs, its first end held: definite; with a strong negative spring: not.
    #[test]
    fn factors_solve_their_matrix_definite_or_not_and_again_with_other_numbers() {
        let n = 50;
        let entries = (0..n as u32).flat_map(|i| [(i, i), (i, (i + 1) % n as u32)]).collect();
        let mut a = Symmetric::with_pattern(n, entries);
        let mut factors = Factors::new(&a).unwrap();
        for shift in [2.5, 1.0, 0.3] {
            for j in 0..n as u32 {
                let at = a.place(j, j).unwrap();
                a.values[at] = shift + 0.01 * f64::from(j);
                let at = a.place(j, (j + 1) % n as u32).unwrap();
                a.values[at] = -1.0;
            }
            let x: Vec<f64> = (0..2 * n).map(|i| (0.7 * i as f64).sin()).collect();
            let mut b = vec![0.0; 2 * n];
            for c in 0..2 {
                for j in 0..n {
                    for at in a.starts[j]..a.starts[j + 1] {
                        let i = a.rows[at];
                        b[c * n + i] += a.values[at] * x[c * n + j];
                        if i != j {
                            b[c * n + j] += a.values[at] * x[c * n + i];
                        }
                    }
                }
            }
            factors.factor(&a).unwrap();
            factors.solve(&mut b).unwrap();
            assert_eq!(factors.definite, shift > 2.0);
            let apart = x.iter().zip(&b).map(|(x, b)| (x - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-9, "{apart:e} at {shift}");
        }
    }
}
