//! Systems of equations: matrices, factors, iterations.

mod assembly;
mod newton;
mod quadratic;
mod sheet;
mod sparse;
