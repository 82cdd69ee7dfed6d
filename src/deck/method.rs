//! How a deck makes a method.

use super::contact::touching;
use super::spec::Spec;
use crate::method::asynchronous::{self, Asynchronous};
use crate::method::bipotential_implicit::BipotentialImplicit;
use crate::method::dcr::{self, Dcr};
use crate::method::nonsmooth::Nonsmooth;
use crate::method::nonsmooth::general::General;
use crate::method::semi_explicit::SemiExplicit;
use crate::method::statics::Statics;
use crate::method::velocity_update::VelocityUpdate;
use crate::method::verlet::{StepRule, Verlet};
use crate::method::{Method, MethodName, usual_safety};
use crate::model::Model;
use carom_declare::Report;

/// A method, ready to start.
pub(crate) struct Ready {
    pub method: Box<dyn Method>,
    /// Steps [s] of groups of potentials and how many each has, where they differ.
    pub kicks: Vec<(f64, u64)>,
}

/// Can anything touch anything in this deck?
pub(crate) fn touches(spec: &Spec) -> bool {
    touching(spec.contact.as_ref(), &spec.body.0)
}

/// The method that the deck asks for.
pub(crate) fn make(spec: &Spec, model: &Model, rule: StepRule, report: &Report) -> Option<Ready> {
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
            report.add(&["verlet", "supports"], message, help);
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
            let help = "a coarser mesh, or method = \"semi-explicit\", which needs no matrix";
            let made = BipotentialImplicit::new(model, rule, spec.bipotential_implicit.unwrap_or_default());
            Box::new(made.map_err(|error| report.add(&["method"], error.to_string(), help)).ok()?)
        }
        MethodName::VelocityUpdate | MethodName::NewmarkPenalty => {
            let made = match spec.method {
                MethodName::VelocityUpdate => {
                    VelocityUpdate::new(model, rule, spec.velocity_update.unwrap_or_default())
                }
                _ => VelocityUpdate::newmark(model, rule, spec.newmark_penalty.unwrap_or_default()),
            };
            let help = "method = \"bipotential-implicit\" takes it";
            let message = |error| format!("method \"{}\": {error}", spec.method.name());
            Box::new(made.map_err(|error| report.add(&["method"], message(error), help)).ok()?)
        }
        MethodName::Static if touches(spec) => {
            let help = "slow dynamics finds the same shape: method = \"bipotential-implicit\" with `damping` of the bodies; or \
                        `contact = false`, if nothing is to touch";
            report.add(&["method"], "method \"static\" knows no contact", help);
            return None;
        }
        MethodName::Static => {
            let help = "hold enough of its nodes (`fix`), or use a dynamic method";
            let made = Statics::new(model, spec.end, spec.statics.unwrap_or_default());
            Box::new(made.map_err(|error| report.add(&["method"], error.to_string(), help)).ok()?)
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
