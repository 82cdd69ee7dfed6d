//! What a deck may ask of other methods only: told by the name of the key, with the reason and what would do instead.

use super::body::{AnyBody, Part};
use super::check::Checker;
use super::contact::Contact;
use super::step::Step;
use crate::method::MethodName;

impl Checker<'_> {
    /// What this method does not do.
    pub(super) fn beyond(
        &self,
        method: MethodName,
        step: Option<&Step>,
        body: &[(String, Option<AnyBody>)],
        contact: Option<&Contact>,
    ) {
        if let Some(contact) = contact {
            self.contact_beyond(method, contact);
            self.restitution_beyond(method, contact);
        }
        if method == MethodName::Asynchronous {
            self.asynchronous_beyond(step, body);
        }
    }

    fn contact_beyond(&self, method: MethodName, contact: &Contact) {
        let name = method.name();
        let penalties = matches!(method, MethodName::VelocityUpdate | MethodName::NewmarkPenalty);
        if contact.guard && method != MethodName::Dcr {
            let why = match method {
                MethodName::Asynchronous => "there is no common step to certify",
                MethodName::SemiExplicit => "activation \"position\" keeps gaps open to first order",
                _ => "it answers contacts and does not look at ways",
            };
            let message = format!("`guard` is for method \"dcr\"; with \"{name}\" {why}");
            self.add(&["contact", "guard"], message, "remove it, or method = \"dcr\"");
        }
        let solves =
            penalties || matches!(method, MethodName::SemiExplicit | MethodName::BipotentialImplicit);
        if contact.stick.is_some() && solves {
            let message = format!(
                "`stick` is for methods that answer contacts by impacts; \"{name}\" solves for slip at the end of the step, and sticking takes nothing"
            );
            let help = "remove it, or method = \"dcr\", \"asynchronous\" or \"verlet\"";
            self.add(&["contact", "stick"], message, help);
        }
        let slaves = contact.between.iter().enumerate();
        for (i, between) in slaves.filter(|(_, b)| !penalties && b.slave.is_some()) {
            let [a, b] = &between.bodies;
            let message =
                format!("`slave` between `{a}` and `{b}` does nothing: \"{name}\" does not read it");
            self.warn(&["contact", "between", &i.to_string(), "slave"], message, "");
        }
    }

    /// Methods whose restitution nobody chooses.
    fn restitution_beyond(&self, method: MethodName, contact: &Contact) {
        let message = match method {
            MethodName::Nonsmooth => {
                "with method \"nonsmooth\" nobody chooses the restitution: it follows from where in a step an impact falls"
            }
            MethodName::VelocityUpdate => {
                "with method \"velocity-update\" nobody chooses the restitution: contact gives back all energy but that of friction"
            }
            MethodName::NewmarkPenalty => {
                "with method \"newmark-penalty\" nobody chooses the restitution: springs give back what they hold"
            }
            _ => return,
        };
        let chosen = |e: Option<f64>| e.is_some_and(|e| e != method.restitution());
        let help = "remove it, or method = \"dcr\", where it can be chosen";
        if chosen(contact.restitution) {
            self.add(&["contact", "restitution"], message, help);
        }
        for (i, between) in contact.between.iter().enumerate() {
            // what stands in [contact] is told once
            if chosen(between.restitution) && between.restitution != contact.restitution {
                self.add(&["contact", "between", &i.to_string(), "restitution"], message, help);
            }
        }
    }

    fn asynchronous_beyond(&self, step: Option<&Step>, body: &[(String, Option<AnyBody>)]) {
        if let Some(Step { size: Some(_), .. }) = step {
            let message = "with method \"asynchronous\" every element has a step of its own, and no `size` is that of all";
            let help = "use `safety`, the share of the critical step that each takes";
            self.add(&["step", "size"], message, help);
        }
        for (name, body) in body {
            if let Some(AnyBody::Deformable(body)) = body
                && matches!(body.contact, Part::Sets(_))
            {
                let message =
                    format!("with method \"asynchronous\" all of body `{name}` can touch, or nothing of it");
                let help = "`contact` must be true or false; `only` of [contact] chooses pairs of bodies";
                self.add(&["body", name, "contact"], message, help);
            }
        }
    }
}
