//! Systems that a method has to solve in a step.
//!
//! | file       | holds                                                                     |
//! |------------|---------------------------------------------------------------------------|
//! | `local`    | one contact with friction: closed form, exact, Newton, Uzawa               |
//! | `contacts` | many of them by Gauss–Seidel on nodal velocities, in a coloured order      |

pub mod contacts;
pub mod local;
