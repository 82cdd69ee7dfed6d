//! Sparse systems by direct factorisation: the order of elimination is found once, numbers come and go.
//!
//! | matrix                  | factors |
//! |-------------------------|---------|
//! | symmetric               | LLᵀ; LDLᵀ where it is not positive, refined |
//! | not symmetric           | LU with pivoting |
//! | not symmetric and large | LLᵀ or LDLᵀ of ½(A + Aᵀ), the rest by GMRES (`krylov`); LU where that does not converge |
//!
//! What has no counterpart across the diagonal and is large (friction that grows with the pressure of a stiff spring) is left out of the symmetric part: half of it on either side
//! would be far from A and not positive.
//!
//! One thread on purpose: sums would depend on their number otherwise.
//!
//! Read by `assembly`.

use super::krylov;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    LdltRef, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// What is kept of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// The lower triangle of a symmetric one.
    #[default]
    Symmetric,
    /// All entries.
    Unsymmetric,
}

/// A square matrix, column by column, rows ascending.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    pub size: usize,
    pub shape: Shape,
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

impl Matrix {
    /// `out = A x`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for j in 0..self.size {
            let (mut own, xj) = (0.0, x[j]);
            let range = self.starts[j]..self.starts[j + 1];
            for (&i, a) in self.rows[range.clone()].iter().zip(&self.values[range]) {
                out[i] += a * xj;
                if self.shape == Shape::Symmetric && i != j {
                    own += a * x[i];
                }
            }
            out[j] += own;
        }
    }

    /// Where entry (i, j) stands, if the pattern has it.
    pub fn place(&self, i: usize, j: usize) -> Option<usize> {
        let (i, j) = if self.shape == Shape::Symmetric { (i.max(j), i.min(j)) } else { (i, j) };
        let column = &self.rows[self.starts[j]..self.starts[j + 1]];
        column.binary_search(&i).ok().map(|at| self.starts[j] + at)
    }

    /// The lower triangle of ½(A + Aᵀ), written to a matrix that was made by this or is new.
    pub fn symmetric_part(&self, out: &mut Matrix) {
        if out.rows.is_empty() {
            out.size = self.size;
            out.starts = vec![0];
            for j in 0..self.size {
                let rows = &self.rows[self.starts[j]..self.starts[j + 1]];
                out.rows.extend(rows.iter().filter(|&&i| i >= j));
                out.starts.push(out.rows.len());
            }
        }
        out.values.clear();
        for j in 0..self.size {
            for at in self.starts[j]..self.starts[j + 1] {
                let i = self.rows[at];
                if i >= j {
                    let mirrored = self.place(j, i).map_or(0.0, |at| self.values[at]);
                    out.values.push(0.5 * (self.values[at] + mirrored));
                }
            }
        }
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, usize> {
        SymbolicSparseColMatRef::new_checked(self.size, self.size, &self.starts, None, &self.rows)
    }

    fn view(&self) -> SparseColMatRef<'_, usize, f64> {
        SparseColMatRef::new(self.pattern(), &self.values)
    }
}

/// Unknowns from which on the factors of the symmetric part and GMRES take less time and memory than LU.
pub const LARGE: usize = 300;

/// The factors of a matrix.
pub enum Factors {
    Symmetric(Box<Cholesky>),
    Lu(Box<Lu>),
    Krylov(Box<Krylov>),
}

impl Factors {
    /// Finds the order of elimination for the pattern of `matrix`: minimum degree, or `order` (first to last) where it leaves
    /// fewer numbers in symmetric factors.
    pub fn new(matrix: &Matrix, order: Option<&[usize]>) -> Result<Factors, FactorError> {
        match matrix.shape {
            Shape::Symmetric => Ok(Factors::Symmetric(Box::new(Cholesky::new(matrix, order)?))),
            Shape::Unsymmetric if matrix.size < LARGE => Factors::lu(matrix),
            Shape::Unsymmetric => Factors::krylov(matrix, order),
        }
    }

    /// LU of a matrix that is not symmetric, however large.
    pub fn lu(matrix: &Matrix) -> Result<Factors, FactorError> {
        Ok(Factors::Lu(Box::new(Lu::new(matrix)?)))
    }

    /// GMRES on the factors of the symmetric part, however small.
    pub(crate) fn krylov(matrix: &Matrix, order: Option<&[usize]>) -> Result<Factors, FactorError> {
        let mut part = Matrix::default();
        matrix.symmetric_part(&mut part);
        let factors = Cholesky::new(&part, order)?;
        Ok(Factors::Krylov(Box::new(Krylov { part, factors, instead: None, iterations: 0 })))
    }

    /// Factors a matrix of that pattern.
    pub fn factor(&mut self, matrix: &Matrix) -> Result<(), FactorError> {
        self.factor_without(matrix, &[])
    }

    /// The same; a symmetric part is that of the matrix without the entries (row, column, value) `aside`.
    pub fn factor_without(
        &mut self,
        matrix: &Matrix,
        aside: &[(usize, usize, f64)],
    ) -> Result<(), FactorError> {
        match self {
            Factors::Symmetric(factors) => factors.factor(matrix),
            Factors::Lu(lu) => lu.factor(matrix),
            Factors::Krylov(krylov) => {
                matrix.symmetric_part(&mut krylov.part);
                for &(i, j, value) in aside {
                    if let Some(at) = krylov.part.place(i, j) {
                        krylov.part.values[at] -= if i == j { value } else { 0.5 * value };
                    }
                }
                if let Some(lu) = &mut krylov.instead {
                    lu.current = false;
                }
                krylov.factors.factor(&krylov.part)
            }
        }
    }

    /// Solves for the columns of `rhs`, one after the other in memory, in their place; `matrix` is the one that was factored.
    pub fn solve(&mut self, matrix: &Matrix, rhs: &mut [f64]) -> Result<(), FactorError> {
        self.solve_to(matrix, rhs, krylov::TOLERANCE)
    }

    /// The same where `left` of each column may be left.
    pub fn solve_to(&mut self, matrix: &Matrix, rhs: &mut [f64], left: f64) -> Result<(), FactorError> {
        match self {
            Factors::Symmetric(factors) => factors.solve_refined(matrix, rhs),
            Factors::Lu(lu) => lu.solve(rhs),
            Factors::Krylov(krylov) => krylov.solve(matrix, rhs, left),
        }
    }

    /// The matrix is known to be positive.
    pub fn definite(&self) -> bool {
        match self {
            Factors::Symmetric(factors) => factors.definite,
            Factors::Lu(_) => false,
            Factors::Krylov(krylov) => krylov.factors.definite,
        }
    }

    /// Numbers kept by the factors; for LU not known beforehand.
    pub fn fill(&self) -> Option<usize> {
        match self {
            Factors::Symmetric(factors) => Some(factors.values.len()),
            Factors::Lu(_) => None,
            Factors::Krylov(krylov) => Some(krylov.factors.values.len()),
        }
    }
}

/// LLᵀ or LDLᵀ.
pub struct Cholesky {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    /// LLᵀ; else LDLᵀ.
    definite: bool,
    buffer: MemBuffer,
}

/// Share of the largest entry below which a pivot of LDLᵀ is replaced: round-off.
const PIVOT: f64 = 1e-14;
/// Corrections of what LDLᵀ, which does not pivot, leaves.
const REFINEMENTS: usize = 3;

impl Cholesky {
    fn new(matrix: &Matrix, order: Option<&[usize]>) -> Result<Cholesky, FactorError> {
        let memory = FactorError::Memory { size: matrix.size };
        let inverse = order.map(|order| {
            let mut inverse = vec![0; order.len()];
            order.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
            inverse
        });
        let symbolic = |ordering: SymmetricOrdering<'_, usize>| {
            factorize_symbolic_cholesky(matrix.pattern(), Side::Lower, ordering, Default::default())
                .map_err(|_| memory)
        };
        let least_degree = symbolic(SymmetricOrdering::Amd)?;
        let symbolic = match (order, &inverse) {
            (Some(order), Some(inverse)) => {
                let order = PermRef::new_checked(order, inverse, matrix.size);
                let own = symbolic(SymmetricOrdering::Custom(order))?;
                if own.len_val() < least_degree.len_val() { own } else { least_degree }
            }
            _ => least_degree,
        };
        let need =
            symbolic
                .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default())
                .or(symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default()));
        let buffer = MemBuffer::try_new(need).map_err(|_| memory)?;
        let mut values = Vec::new();
        values.try_reserve_exact(symbolic.len_val()).map_err(|_| memory)?;
        values.resize(symbolic.len_val(), 0.0);
        Ok(Cholesky { symbolic, values, definite: true, buffer })
    }

    fn factor(&mut self, matrix: &Matrix) -> Result<(), FactorError> {
        let stack = MemStack::new(&mut self.buffer);
        self.definite = self
            .symbolic
            .factorize_numeric_llt(
                &mut self.values,
                matrix.view(),
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
        let largest = matrix.values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let regularised = LdltRegularization {
            dynamic_regularization_signs: None,
            dynamic_regularization_delta: PIVOT * largest,
            dynamic_regularization_epsilon: PIVOT * largest,
        };
        let stack = MemStack::new(&mut self.buffer);
        let done = self.symbolic.factorize_numeric_ldlt(
            &mut self.values,
            matrix.view(),
            Side::Lower,
            regularised,
            Par::Seq,
            stack,
            Default::default(),
        );
        done.map(|_| ()).map_err(|_| FactorError::Singular)
    }

    fn solve(&self, rhs: &mut [f64]) -> Result<(), FactorError> {
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

    fn solve_refined(&self, matrix: &Matrix, rhs: &mut [f64]) -> Result<(), FactorError> {
        if self.definite {
            return self.solve(rhs);
        }
        let asked = rhs.to_vec();
        self.solve(rhs)?;
        let mut left = vec![0.0; matrix.size];
        for (asked, x) in asked.chunks_exact(matrix.size.max(1)).zip(rhs.chunks_exact_mut(matrix.size.max(1)))
        {
            for _ in 0..REFINEMENTS {
                matrix.multiply(x, &mut left);
                left.iter_mut().zip(asked).for_each(|(l, b)| *l = b - *l);
                self.solve(&mut left)?;
                x.iter_mut().zip(&left).for_each(|(x, l)| *x += l);
            }
        }
        if rhs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(FactorError::Singular) }
    }
}

/// LU with pivoting of rows, columns ordered by COLAMD.
pub struct Lu {
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    buffer: MemBuffer,
    current: bool,
}

impl Lu {
    fn new(matrix: &Matrix) -> Result<Lu, FactorError> {
        let memory = FactorError::Memory { size: matrix.size };
        let symbolic = factorize_symbolic_lu(matrix.pattern(), Default::default()).map_err(|_| memory)?;
        let need = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let buffer = MemBuffer::try_new(need).map_err(|_| memory)?;
        Ok(Lu { symbolic, numeric: NumericLu::new(), buffer, current: false })
    }

    fn factor(&mut self, matrix: &Matrix) -> Result<(), FactorError> {
        let stack = MemStack::new(&mut self.buffer);
        let done = self.symbolic.factorize_numeric_lu(
            &mut self.numeric,
            matrix.view(),
            Par::Seq,
            stack,
            Default::default(),
        );
        self.current = done.is_ok();
        done.map(|_| ()).map_err(|_| FactorError::Singular)
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), FactorError> {
        let size = self.symbolic.nrows();
        let columns = rhs.len() / size.max(1);
        if columns == 0 {
            return Ok(());
        }
        let need = self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
        let mut buffer = MemBuffer::try_new(need).map_err(|_| FactorError::Memory { size })?;
        let stack = MemStack::new(&mut buffer);
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, size, columns),
            Par::Seq,
            stack,
        );
        if rhs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(FactorError::Singular) }
    }
}

/// Factors of the symmetric part, and LU once they were not enough.
pub struct Krylov {
    part: Matrix,
    factors: Cholesky,
    instead: Option<Box<Lu>>,
    /// Iterations of the last solution.
    pub iterations: u32,
}

impl Krylov {
    fn solve(&mut self, matrix: &Matrix, rhs: &mut [f64], left: f64) -> Result<(), FactorError> {
        for column in rhs.chunks_exact_mut(matrix.size.max(1)) {
            let factors = &self.factors;
            let found = krylov::gmres(matrix, |x| factors.solve(x), column, left)?;
            self.iterations = found.iterations;
            if found.converged {
                column.copy_from_slice(&found.x);
                continue;
            }
            if self.instead.is_none() {
                self.instead = Some(Box::new(Lu::new(matrix)?));
            }
            if let Some(lu) = &mut self.instead {
                if !lu.current {
                    lu.factor(matrix)?;
                }
                lu.solve(column)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain whose links have two unknowns, x and y, each held by its neighbours (2, −1); every third is pressed by a spring that is fifty times stiffer along x, and rubs along y by μ times
    /// what that gives: an entry without a counterpart. Returns these entries too.
    fn rubbing(links: usize, mu: f64) -> (Matrix, Vec<(usize, usize, f64)>) {
        let (stiff, mut aside) = (50.0, Vec::new());
        let mut a =
            Matrix { size: 2 * links, shape: Shape::Unsymmetric, starts: vec![0], ..Matrix::default() };
        for column in 0..2 * links {
            let (link, along) = (column / 2, column % 2);
            let pressed = link % 3 == 0;
            for row in column.saturating_sub(2)..(column + 3).min(2 * links) {
                let value = match (row / 2 == link, row % 2 == along) {
                    (true, true) => 2.0 + if pressed && along == 0 { stiff } else { 0.0 },
                    (false, true) => -1.0,
                    (true, false) if pressed && along == 0 => -mu * stiff,
                    _ => 0.0,
                };
                if row / 2 == link && row % 2 != along && value != 0.0 {
                    aside.push((row, column, value));
                }
                a.rows.push(row);
                a.values.push(value);
            }
            a.starts.push(a.rows.len());
        }
        (a, aside)
    }

    /// What is left out of the symmetric part changes no solution. Half of the stiff friction on either side would make it indefinite, and GMRES
    /// would need several times as many directions.
    #[test]
    fn friction_is_left_out_of_the_symmetric_part() {
        let (matrix, aside) = rubbing(300, 0.5);
        let tried = [&[], &aside[..]].map(|aside| {
            let mut factors = Factors::new(&matrix, None).unwrap();
            factors.factor_without(&matrix, aside).unwrap();
            let mut x: Vec<f64> = (0..matrix.size).map(|k| (k as f64).sin()).collect();
            let (b, mut left) = (x.clone(), vec![0.0; matrix.size]);
            factors.solve(&matrix, &mut x).unwrap();
            matrix.multiply(&x, &mut left);
            let off = left.iter().zip(&b).fold(0.0, |m: f64, (l, b)| m.max((l - b).abs()));
            assert!(off < 1e-10, "{off:e}");
            let Factors::Krylov(krylov) = &factors else { panic!("large enough for GMRES") };
            (factors.definite(), krylov.iterations)
        });
        assert!(!tried[0].0 && tried[1].0 && 3 * tried[1].1 < tried[0].1, "{tried:?}");
    }
}
