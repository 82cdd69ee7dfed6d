//! Systems that a method has to solve in a step.
//!
//! | file       | holds                                                                     |
//! |------------|---------------------------------------------------------------------------|
//! | `local`    | one contact with friction: closed form, exact, Newton, Uzawa               |
//! | `contacts` | many of them by Gauss–Seidel on nodal velocities, in a coloured order      |
//! | `dense`    | the same where everything answers to everything                            |
//! | `sparse`   | symmetric systems by direct factorisation                                  |

pub mod contacts;
pub mod dense;
pub mod local;
pub mod sparse;
