//! Systems that a method has to solve in a step.
//!
//! | file       | holds                                                                     |
//! |------------|---------------------------------------------------------------------------|
//! | `local`    | one contact with friction: closed form, exact, Newton, Uzawa               |
//! | `contacts` | many of them by Gauss–Seidel on nodal velocities, in a coloured order      |
//! | `dense`    | the same where everything answers to everything                            |
//! | `complementarity` | multipliers of inequalities without friction: quadratic programs     |
//! | `envelope` | unsymmetric systems of modest size by elimination                          |
//! | `sparse`   | sparse matrices and their factors: LLᵀ, LDLᵀ, LU; `krylov` GMRES, `order` nested dissection |
//! | `assembly` | unknowns of a model, and its matrix from stencils and contacts              |
//! | `newton`   | Newton's method with a line search, steps in halves                         |

pub mod assembly;
pub(crate) mod complementarity;
pub mod contacts;
pub(crate) mod dense;
pub(crate) mod envelope;
mod krylov;
pub(crate) mod local;
pub mod newton;
pub mod order;
pub mod sparse;
