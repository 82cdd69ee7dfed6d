//! Systems of equations: matrices, factors, iterations.

mod assembly;
mod newton;
mod sparse;
