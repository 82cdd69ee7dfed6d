//! Switches of the two methods.

use crate::contact::search::Pass;
use carom_declare::{Count, Positive, section, words};

words! {
    /// Where on a facet contact is looked at.
    pub enum Quadrature {
        /// Points of Gauss: two on a segment, three on a triangle, four on a quadrilateral.
        Gauss = "gauss",
        /// The corners: one point at every node, with the area of all its facets.
        Corners = "corners",
    }
}

words! {
    /// Masses of nodes.
    pub enum MassKind {
        /// Each node its share.
        Lumped = "lumped",
        /// As the elements have it, between nodes: the update spreads into the bodies.
        Consistent = "consistent",
    }
}

words! {
    /// What an update of velocities gives back.
    pub enum Rule {
        /// What normal penalties took along the normal, and what friction took along the surface as far as Coulomb's limit lets it: the rest was slip.
        Split = "split",
        /// All that penalties took, along the whole traction, as published: the friction of the update itself is given back too, half of all
        /// friction where contact chatters.
        Paper = "paper",
        /// Nothing: penalties take what they take, as a comparison.
        None = "none",
    }
}

section! {
    /// Switches of method "velocity-update".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "velocity-update" {
        /// Pressure per overlap [Pa/m]: of the first step of a contact the overlap is pressure over this, and every step of persistent contact
        /// adds as much, unless `augmentation` takes it away. Unset, fifty times the stiffness of the softer body's elements.
        normal_penalty: Option<f64> as Option<Positive>;
        /// Traction per slip speed [Pa s/m], up to the friction limit: a point sticks while its speed is below friction · pressure over this, and
        /// sticking takes no energy, however far it creeps. Unset, `normal_penalty` times the step, which is stiff.
        tangential_penalty: Option<f64> as Option<Positive>;
        /// Rounds of augmentation in a step at most (Uzawa): overlaps of new contacts, rates of others and slip of points that stick go towards zero.
        /// With 0, as published, tractions are those of the penalties alone: what rests under load sinks, and trembles by the energy of that.
        augmentation: u32 = 8;
        /// Where on surfaces contact is looked at. Points of Gauss, as published, see corners of bodies late and take more iterations.
        quadrature: Quadrature = Quadrature::Corners;
        /// Whose points are held against whose facets.
        pass: Pass = Pass::Double;
        /// Masses of nodes.
        mass: MassKind;
        /// How velocities are updated at the end of a step, so that contact takes no energy but that of friction.
        update: Rule;
        /// Iterations at most, by whole increments and by a line search, before a step is halved; where it cannot be halved two other starts are tried.
        iterations: u32 as Count = 60;
        /// How often a step may be halved.
        halvings: u32 = 8;
    }
}

/// Switches of method "newmark-penalty".
pub mod newmark {
    use super::Quadrature;
    use crate::contact::search::Pass;
    use carom_declare::{Count, Positive, section};

    section! {
        /// Switches of method "newmark-penalty".
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Options: "newmark-penalty" {
            /// Pressure per overlap [Pa/m]. Unset, fifty times the stiffness of the softer body's elements.
            normal_penalty: Option<f64> as Option<Positive>;
            /// Traction per slip speed [Pa s/m], up to the friction limit. Unset, `normal_penalty` times the step.
            tangential_penalty: Option<f64> as Option<Positive>;
            /// Where on facets contact is looked at.
            quadrature: Quadrature;
            /// Whose points are held against whose facets.
            pass: Pass = Pass::Double;
            /// Iterations at most, by whole increments and by a line search, before a step is halved; where it cannot be halved two other starts are tried.
            iterations: u32 as Count = 60;
            /// How often a step may be halved.
            halvings: u32 = 8;
        }
    }

    impl Options {
        /// What both methods have.
        pub(in crate::method) fn shared(&self) -> super::Options {
            let Options { normal_penalty, tangential_penalty, quadrature, pass, iterations, halvings } =
                *self;
            super::Options {
                normal_penalty,
                tangential_penalty,
                quadrature,
                pass,
                iterations,
                halvings,
                augmentation: 0,
                ..super::Options::default()
            }
        }
    }
}
