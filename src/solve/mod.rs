//! Systems that a method has to solve in a step.
//!
//! | file       | holds                                                                     |
//! |------------|---------------------------------------------------------------------------|
//! | `local`    | one contact with friction: closed form, exact, Newton, Uzawa               |
//! | `contacts` | many of them by Gauss–Seidel on nodal velocities, in a coloured order      |
//! | `dense`    | the same where everything answers to everything                            |
//! | `complementarity` | multipliers of inequalities without friction: quadratic programs     |
//! | `envelope` | unsymmetric systems of modest size by elimination                          |
//! | `sparse`   | symmetric systems by direct factorisation                                  |

pub mod complementarity;
pub mod contacts;
pub mod dense;
pub mod envelope;
pub mod local;
pub mod sparse;
