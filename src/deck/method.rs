//! `method`: their names, what each takes for granted, and how a deck makes one.

use super::contact::touching;
use super::spec::Spec;
use crate::method::asynchronous::{self, Asynchronous, Steps};
use crate::method::bipotential_implicit::BipotentialImplicit;
use crate::method::dcr::{self, Dcr};
use crate::method::nonsmooth::Nonsmooth;
use crate::method::nonsmooth::general::General;
use crate::method::semi_explicit::SemiExplicit;
use crate::method::statics::Statics;
use crate::method::velocity_update::VelocityUpdate;
use crate::method::verlet::{StepRule, Verlet};
use crate::method::{Method, bipotential_implicit};
use crate::model::Model;
use carom_declare::{Problems, Tree, words};

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
}

impl MethodName {
    /// Newton's method finds its steps: no bound holds them.
    pub fn implicit(self) -> bool {
        use MethodName::{BipotentialImplicit, NewmarkPenalty, VelocityUpdate};
        matches!(self, BipotentialImplicit | VelocityUpdate | NewmarkPenalty)
    }
}

/// Share of the largest stable step that is taken unless the deck says otherwise: impacts want shorter steps, and so do
/// steps that do not fit each other.
pub fn usual_safety(method: MethodName, touching: bool, asynchronous: Option<&asynchronous::Options>) -> f64 {
    match method {
        MethodName::Verlet if !touching => 0.9,
        MethodName::Asynchronous if asynchronous.is_some_and(|a| a.steps == Steps::Free) => 0.25,
        // how an impact falls within a step still matters at twice that: friction lost where next to nothing slips falls with the step
        MethodName::VelocityUpdate if touching => 1.0,
        _ if method.implicit() => 2.0,
        _ => 0.5,
    }
}

/// A method, ready to start.
pub struct Ready {
    pub method: Box<dyn Method>,
    /// Steps [s] of groups of potentials and how many each has, where they differ.
    pub kicks: Vec<(f64, u64)>,
}

/// Can anything touch anything in this deck?
pub fn touches(spec: &Spec) -> bool {
    touching(spec.contact.as_ref(), &spec.body.0)
}

/// The method that the deck asks for.
pub fn make(spec: &Spec, model: &Model, rule: StepRule, tree: &Tree, problems: &Problems) -> Option<Ready> {
    let mut kicks = Vec::new();
    let mut with_kicks = |options: asynchronous::Options| -> Box<dyn Method> {
        let method = Asynchronous::new(model, options);
        kicks = method.steps();
        Box::new(method)
    };
    let method: Box<dyn Method> = match spec.method {
        // without contact, the same steps faster, and automatic ones
        MethodName::Verlet if !touches(spec) => {
            Box::new(Verlet::with(model, rule, spec.verlet.unwrap_or_default()))
        }
        MethodName::Verlet if spec.verlet.is_some_and(|own| !own.takes_contact()) => {
            let message = "`supports = \"rattle\"` is for runs without contact: impacts between kicks know supports by their projectors";
            let help = "remove it (both are the same to round-off), or `contact = false` for each body, if nothing is to touch";
            problems.add(&tree.place(&["verlet", "supports"]), message, help);
            return None;
        }
        MethodName::Verlet => with_kicks(synchronous(model, rule)),
        MethodName::Dcr => {
            let guard = spec.contact.as_ref().is_some_and(|c| c.guard);
            Box::new(Dcr::new(model, rule, dcr::Options { guard, ..spec.dcr.unwrap_or_default() }))
        }
        MethodName::Asynchronous => {
            let own = spec.asynchronous.unwrap_or_default();
            let safety = spec.step.safety.unwrap_or_else(|| usual_safety(spec.method, true, Some(&own)));
            // no step beyond the end
            let safety = safety.min(spec.end / model.stable_step());
            with_kicks(asynchronous::Options { safety, ..own })
        }
        MethodName::SemiExplicit => {
            Box::new(SemiExplicit::new(model, rule, spec.semi_explicit.unwrap_or_default()))
        }
        MethodName::Nonsmooth => match spec.nonsmooth.unwrap_or_default() {
            options if options.explicit() => Box::new(Nonsmooth::new(model, rule, options)),
            options => Box::new(General::new(model, rule, options)),
        },
        MethodName::BipotentialImplicit => {
            let options: bipotential_implicit::Options = spec.bipotential_implicit.unwrap_or_default();
            match BipotentialImplicit::new(model, rule, options) {
                Ok(method) => Box::new(method),
                Err(error) => {
                    let help = "a coarser mesh, or method = \"semi-explicit\", which needs no matrix";
                    problems.add(&tree.place(&["method"]), error.to_string(), help);
                    return None;
                }
            }
        }
        MethodName::VelocityUpdate | MethodName::NewmarkPenalty => {
            let made = match spec.method {
                MethodName::VelocityUpdate => {
                    VelocityUpdate::new(model, rule, spec.velocity_update.unwrap_or_default())
                }
                _ => VelocityUpdate::newmark(model, rule, spec.newmark_penalty.unwrap_or_default()),
            };
            match made {
                Ok(method) => Box::new(method),
                Err(error) => {
                    let message = format!("method \"{}\": {error}", spec.method.name());
                    problems.add(
                        &tree.place(&["method"]),
                        message,
                        "method = \"bipotential-implicit\" takes it",
                    );
                    return None;
                }
            }
        }
        MethodName::Static => {
            if touches(spec) {
                let help = "slow dynamics finds the same shape: method = \"bipotential-implicit\" with `damping` of the bodies; or \
                            `contact = false`, if nothing is to touch";
                problems.add(&tree.place(&["method"]), "method \"static\" knows no contact", help);
                return None;
            }
            match Statics::new(model, spec.end, spec.statics.unwrap_or_default()) {
                Ok(method) => Box::new(method),
                Err(error) => {
                    let help = "hold enough of its nodes (`fix`), or use a dynamic method";
                    problems.add(&tree.place(&["method"]), error.to_string(), help);
                    return None;
                }
            }
        }
    };
    Some(Ready { method, kicks })
}

/// Velocity Verlet with contacts in mid-drift.
fn synchronous(model: &Model, rule: StepRule) -> asynchronous::Options {
    let safety = match rule {
        StepRule::Automatic { safety } => safety,
        StepRule::Fixed(size) => {
            size / Asynchronous::new(model, asynchronous::Options::synchronous(1.0)).next_step()
        }
    };
    asynchronous::Options::synchronous(safety)
}
