//! The names of the methods, and what each takes for granted.

use super::asynchronous::{self, Steps};
use carom_declare::words;

words! {
    /// A method.
    pub enum MethodName {
        /// Velocity Verlet, explicit; contacts one after the other in mid-step.
        Verlet = "verlet",
        /// Explicit Newmark with decomposition contact response.
        Dcr = "dcr",
        /// Every element and every contact with a step of its own.
        Asynchronous = "asynchronous",
        /// Elasticity explicit, contact with friction solved as a whole.
        SemiExplicit = "semi-explicit",
        /// Explicit Newmark, contact as one constrained minimisation a step.
        Nonsmooth = "nonsmooth",
        /// `semi-explicit` with forces at the end of the step, by Newton's method.
        BipotentialImplicit = "bipotential-implicit",
        /// Energy-momentum midpoint rule, contact by penalties and an update of velocities.
        VelocityUpdate = "velocity-update",
        /// Implicit Newmark with the same penalties, what "velocity-update" is compared with.
        NewmarkPenalty = "newmark-penalty",
        /// No motion: the shape in which forces balance, load step by load step.
        Static = "static",
    }
}

impl MethodName {
    /// Share of the speed of approach with which surface nodes part unless the deck says.
    pub fn restitution(self) -> f64 {
        match self {
            MethodName::Verlet
            | MethodName::Dcr
            | MethodName::Asynchronous
            | MethodName::VelocityUpdate
            | MethodName::NewmarkPenalty => 1.0,
            MethodName::SemiExplicit
            | MethodName::BipotentialImplicit
            | MethodName::Nonsmooth
            | MethodName::Static => 0.0,
        }
    }

    /// Newton's method finds its steps: no bound holds them.
    pub fn implicit(self) -> bool {
        use MethodName::{BipotentialImplicit, NewmarkPenalty, VelocityUpdate};
        matches!(self, BipotentialImplicit | VelocityUpdate | NewmarkPenalty)
    }
}

/// Share of the largest stable step that is taken unless the deck says otherwise: impacts want shorter steps, and so do
/// steps that do not fit each other.
pub(crate) fn usual_safety(
    method: MethodName,
    touching: bool,
    asynchronous: Option<&asynchronous::Options>,
) -> f64 {
    match method {
        MethodName::Verlet if !touching => 0.9,
        MethodName::Asynchronous if asynchronous.is_some_and(|a| a.steps == Steps::Free) => 0.25,
        // how an impact falls within a step still matters at twice that: friction lost where next to nothing slips falls with the step
        MethodName::VelocityUpdate if touching => 1.0,
        _ if method.implicit() => 2.0,
        _ => 0.5,
    }
}
