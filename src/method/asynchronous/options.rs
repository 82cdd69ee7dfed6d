//! Switches of the method.

use super::steps::Steps;
use super::synchronised::Phase;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share β of the critical step that is used.
    pub safety: f64,
    pub steps: Steps,
    pub phase: Phase,
    pub contact_step: ContactStep,
    pub contact_velocity: ContactVelocity,
    /// Edges touch edges.
    pub edge_edge: bool,
}

/// Which velocities a contact sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactVelocity {
    /// Those of the instant: kicks around it counted in proportion.
    #[default]
    Synchronised,
    /// As the last kicks have left them.
    Raw,
}

/// How often a node looks for contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactStep {
    /// This share of the shortest critical step around the node. Where elements have steps in classes, the longest step up to
    /// that which fits the kicks around the node: their intervals end when it looks, so that its velocity needs fewer forces
    /// of the instant, and is nearer to the truth.
    Local(f64),
    /// This share of the shortest step of all elements, for all nodes.
    Smallest(f64),
    /// As long as it takes to travel the share `travel` of the node's own size, but at most `longest`.
    Adaptive { travel: f64, longest: Longest },
}

/// The longest adaptive step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Longest {
    /// Times the shortest critical step around the node.
    Local(f64),
    /// Times the average critical step of all elements.
    Average(f64),
}

impl Default for ContactStep {
    fn default() -> Self {
        ContactStep::Local(0.5)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            safety: 0.5,
            steps: Steps::Classes,
            phase: Phase::Centred,
            contact_step: ContactStep::default(),
            contact_velocity: ContactVelocity::Synchronised,
            edge_edge: true,
        }
    }
}

impl Options {
    /// The scheme as the paper prints it: steps of any length, kicks at the start of their intervals, contacts that see the
    /// velocities as they are, and a step of contact that follows the speed up to the average critical step.
    pub fn paper(safety: f64, travel: f64) -> Options {
        Options {
            safety,
            steps: Steps::Free,
            phase: Phase::Paper,
            contact_step: ContactStep::Adaptive { travel, longest: Longest::Average(1.0) },
            contact_velocity: ContactVelocity::Raw,
            edge_edge: false,
        }
    }

    /// One step for everybody, contacts answered one after the other half way between kicks: what velocity Verlet does
    /// with collisions in mid-drift, and what the method is measured against. There is one group of kicks and one ring
    /// of looks, so nothing is queued, and all intervals end where contacts look, so no velocity is corrected.
    pub fn synchronous(safety: f64) -> Options {
        Options {
            safety,
            steps: Steps::Synchronous,
            contact_step: ContactStep::Smallest(1.0),
            ..Options::default()
        }
    }
}
