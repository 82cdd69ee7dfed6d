//! `[contact]`: who touches whom, and how.

use super::body::{AnyBody, Part};
use crate::contact::friction::Stick;
use carom_declare::{Listed, NotNegative, Share, Tables, section};

section! {
    /// Who touches whom, and how. Everything touches everything else, without friction, unless told otherwise.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Contact: "contact" {
        /// Coulomb's coefficient.
        friction: f64 as NotNegative;
        /// Share of the speed of approach with which surface nodes part, 0 to 1; the method's own unless given: 1, with
        /// "semi-explicit" and "bipotential-implicit" 0. It acts on nodes, not on bodies. With "velocity-update" and "newmark-penalty" nobody chooses it.
        restitution: Option<f64> as Option<Share>;
        /// What sticking does to slip, with methods "dcr", "asynchronous" and "verlet"; "elastic" unless given.
        stick: Option<Stick>;
        /// With method "dcr" only: every step ends certified free of intersections; then nothing may overlap at the start, and
        /// what touches there is moved apart by a millionth of an edge.
        guard: bool;
        /// Bodies that touch nothing.
        off: Vec<String>;
        /// Bodies that may touch themselves.
        with_itself ("self"): Vec<String>;
        /// If given, only these pairs of bodies touch.
        only: Option<Vec<[String; 2]>>;
        /// What holds between two bodies.
        between: Vec<Between> as Tables<Between>;
    }
}

section! {
    /// What holds between two bodies.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Between: "contact.between" {
        /// The two.
        bodies: [String; 2] => "[\"block\", \"wall\"]";
        /// Coulomb's coefficient; that of [contact] unless given.
        friction: Option<f64> as Option<NotNegative>;
        /// That of [contact] unless given.
        restitution: Option<f64> as Option<Share>;
        /// Of the two, the one whose points are held against the other's facets, with methods "velocity-update" and "newmark-penalty".
        slave: Option<String>;
        /// They pass through each other.
        off: bool;
    }
}

impl Listed for Between {}

/// Can anything touch anything? One body alone cannot, unless it may touch itself. What could not be read may be anything.
pub(crate) fn touching(contact: Option<&Contact>, bodies: &[(String, Option<AnyBody>)]) -> bool {
    let out = |name: &String| contact.is_some_and(|c| c.off.contains(name));
    let apart =
        |body: &AnyBody| matches!(body, AnyBody::Deformable(body) if body.contact == Part::All(false));
    let rigid = |body: &AnyBody| matches!(body, AnyBody::Rigid(_));
    let there: Vec<Option<&AnyBody>> = bodies
        .iter()
        .filter(|(name, body)| !out(name) && !body.as_ref().is_some_and(apart))
        .map(|(_, body)| body.as_ref())
        .collect();
    let itself = contact.is_some_and(|c| !c.with_itself.is_empty());
    let nobody = contact.is_some_and(|c| c.only.as_ref().is_some_and(Vec::is_empty));
    let some_give_way = there.iter().any(|b| !b.is_some_and(rigid));
    !nobody && some_give_way && (itself || there.len() > 1)
}
