//! Switches of the two methods.

use crate::contact::search::Pass;
use carom_declare::{Count, Positive, section, words};

words! {
    /// Where on a facet contact is looked at.
    pub enum Quadrature {
        /// Points of Gauss: two on a segment, three on a triangle, four on a quadrilateral.
        Gauss = "gauss",
        /// The corners.
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

section! {
    /// Switches of method "velocity-update".
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "velocity-update" {
        /// Pressure per overlap [Pa/m]: of the first step of a contact the overlap is pressure over this, and every step of persistent contact
        /// adds as much. Unset, ten times the stiffness of the softer body's elements.
        normal_penalty: Option<f64> as Option<Positive>;
        /// Traction per slip speed [Pa s/m], up to the friction limit: a point sticks while its speed is below friction · pressure over this, and
        /// sticking takes no energy, however far it creeps. Unset, `normal_penalty` times the step, which is stiff.
        tangential_penalty: Option<f64> as Option<Positive>;
        /// Rounds of augmentation in a step at most (Uzawa): overlaps of new contacts and rates of others go towards zero.
        augmentation: u32;
        /// Where on facets contact is looked at.
        quadrature: Quadrature;
        /// Whose points are held against whose facets.
        pass: Pass = Pass::Double;
        /// Masses of nodes.
        mass: MassKind;
        /// Velocities are updated so that contact takes no energy but that of friction; without, as a comparison, penalties take what they take.
        update: bool = true;
        /// Iterations of a step at most; then it is tried from two other starts, and then halved.
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
            /// Pressure per overlap [Pa/m]. Unset, ten times the stiffness of the softer body's elements.
            normal_penalty: Option<f64> as Option<Positive>;
            /// Traction per slip speed [Pa s/m], up to the friction limit. Unset, `normal_penalty` times the step.
            tangential_penalty: Option<f64> as Option<Positive>;
            /// Where on facets contact is looked at.
            quadrature: Quadrature;
            /// Whose points are held against whose facets.
            pass: Pass = Pass::Double;
            /// Iterations of a step at most; then it is tried from two other starts, and then halved.
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
                ..super::Options::default()
            }
        }
    }
}
