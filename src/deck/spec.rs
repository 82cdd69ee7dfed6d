//! The deck as a whole: its sections, and what a method takes for granted.
//!
//! Every key is declared once, in the file of its section ([`carom_declare`]); switches of a method by the method itself.

pub use super::body::{AnyBody, Body, Ghosts, Part, Sides};
pub use super::contact::{Between, Contact};
pub use super::load::Load;
pub use super::material::{AnyLaw, MaterialRef};
pub use super::obstacle::Obstacle;
pub use super::output::{Output, Shells};
pub use super::probe::Probe;
pub use super::step::Step;
pub use super::support::{Direction, Support};
pub use crate::element::choice::Integration;
pub use crate::method::MethodName;
pub use carom_declare::Named;

use super::contact::touching;
use crate::method::{
    asynchronous, bipotential_implicit, dcr, nonsmooth, semi_explicit, statics, usual_safety,
    velocity_update, verlet,
};
use carom_declare::{Item, List, Positive, Problems, Tree, section};

section! {
    /// A deck of Carom: one problem, ready to run. Consistent units of your choice; comments here say SI.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Spec: "deck" or Draft {
        /// What this is about, in a line.
        title: String;
        /// How the state is carried forward in time.
        method: MethodName => "\"dcr\"";
        /// When it ends [s].
        end: f64 as Positive => "0.1";
        /// How long a step is.
        step: Step;
        /// What is written.
        output: Output;
        /// Switches of method "verlet".
        verlet: Option<verlet::Options>;
        /// Switches of method "dcr".
        dcr: Option<dcr::Options>;
        /// Switches of method "asynchronous".
        asynchronous: Option<asynchronous::Options>;
        /// Switches of method "semi-explicit".
        semi_explicit ("semi-explicit"): Option<semi_explicit::Options>;
        /// Switches of method "bipotential-implicit".
        bipotential_implicit ("bipotential-implicit"): Option<bipotential_implicit::Options>;
        /// Switches of method "nonsmooth".
        nonsmooth: Option<nonsmooth::Options>;
        /// Switches of method "velocity-update".
        velocity_update ("velocity-update"): Option<velocity_update::Options>;
        /// Switches of method "newmark-penalty".
        newmark_penalty ("newmark-penalty"): Option<velocity_update::newmark::Options>;
        /// Switches of method "static".
        statics ("static"): Option<statics::Options>;
        /// What the run begins with, if not with the bodies as they are drawn.
        start: Option<Start>;
        /// Who touches whom, and how.
        contact: Option<Contact>;
        /// Materials by name.
        material: Named<AnyLaw>;
        /// Bodies by name; those without a material are rigid obstacles.
        body: Named<AnyBody>;
        /// Forces from outside.
        load: List<Load>;
        /// Numbers to follow in time, by name: columns of history.csv.
        probe: Named<Probe>;
    }
}

section! {
    /// What a run begins with.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Start: "start" {
        /// Folder of a run of the same bodies: its last positions, velocities and what laws keep. Time begins anew.
        from: String => "\"out/static\"";
    }
}

/// Reads the whole deck.
pub fn read(tree: &Tree, problems: &Problems) -> Option<Draft> {
    let root = Item { node: &tree.root, name: String::new(), problems };
    let mut r = root.table()?;
    let mut draft = Draft::keys(&mut r);
    if draft.body.as_ref().is_none_or(|bodies| bodies.0.is_empty()) {
        let help = "add a table [body.NAME] with a mesh and a material";
        problems.add(&r.place, "the deck has no bodies", help);
    }
    r.finish();
    if let Some(method) = draft.method {
        draft.settle(method, tree, problems);
    }
    Some(draft)
}

impl Draft {
    /// Tables that belong to the method, with its own defaults.
    fn settle(&mut self, method: MethodName, tree: &Tree, problems: &Problems) {
        let own = OwnTable { method, tree, problems };
        own.settle(MethodName::Verlet, &mut self.verlet);
        own.settle(MethodName::Dcr, &mut self.dcr);
        own.settle(MethodName::Asynchronous, &mut self.asynchronous);
        own.settle(MethodName::SemiExplicit, &mut self.semi_explicit);
        own.settle(MethodName::BipotentialImplicit, &mut self.bipotential_implicit);
        own.settle(MethodName::Nonsmooth, &mut self.nonsmooth);
        own.settle(MethodName::VelocityUpdate, &mut self.velocity_update);
        own.settle(MethodName::NewmarkPenalty, &mut self.newmark_penalty);
        own.settle(MethodName::Static, &mut self.statics);
        let bodies = self.body.as_ref().map(|bodies| &bodies.0[..]).unwrap_or_default();
        let touching = touching(self.contact.as_ref().and_then(Option::as_ref), bodies);
        if let Some(Step { size: None, safety: safety @ None }) = &mut self.step {
            *safety = Some(usual_safety(method, touching, self.asynchronous.flatten().as_ref()));
        }
        let Some(contact) = &mut self.contact else { return };
        if method == MethodName::Verlet && !touching && contact.is_none() {
            return;
        }
        // a restitution that nobody chose stays unsaid: it goes with the method
        let contact = contact.get_or_insert_default();
        for between in &mut contact.between {
            between.friction.get_or_insert(contact.friction);
        }
    }
}

/// The tables of switches that methods have.
struct OwnTable<'a> {
    method: MethodName,
    tree: &'a Tree,
    problems: &'a Problems<'a>,
}

impl OwnTable<'_> {
    /// The switches of `of` are there if the method reads them; otherwise they are for nothing.
    fn settle<T: Default>(&self, of: MethodName, table: &mut Option<Option<T>>) {
        match table {
            Some(own) if self.method == of => _ = own.get_or_insert_default(),
            Some(Some(_)) => {
                let (own, method) = (of.name(), self.method.name());
                let message = format!("[{own}] is for method \"{own}\"; \"{method}\" does not read it");
                self.problems.warn(&self.tree.place(&[own]), message, "");
            }
            _ => {}
        }
    }
}
