//! Switches of the method.

use super::steps::Steps;
use super::synchronised::Phase;
use carom_declare::{Item, Json, Kind, Positive, Schemas, Written, read_section, section, words};

words! {
    /// Where the switches stand unless given.
    pub enum Mode {
        /// As they work best.
        Default = "default",
        /// As the method was published: free steps, kicks at the start, raw velocities, steps of contact that follow the speed;
        /// clearly less accurate. (21) takes `normal = "contactor"` beside it.
        Paper = "paper",
    }
}

section! {
    /// Switches of method "asynchronous"; none of them has to be touched.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Options: "asynchronous" {
        /// Where the other switches stand unless given.
        mode: Mode;
        /// How the steps of elements fit each other.
        steps: Steps = Options::of(mode.unwrap_or_default()).steps;
        /// Where in the interval it stands for a kick lies.
        phase: Phase = Options::of(mode.unwrap_or_default()).phase;
        /// Which velocities a contact sees.
        contact_velocity: ContactVelocity = Options::of(mode.unwrap_or_default()).contact_velocity;
        /// Edges touch edges.
        edge_edge: bool = Options::of(mode.unwrap_or_default()).edge_edge;
        /// What is answered together.
        response: Response = Options::of(mode.unwrap_or_default()).response;
        /// Along which normal a node in an element is pushed out.
        normal: Normal = Options::of(mode.unwrap_or_default()).normal;
        /// How often a surface node looks for contacts.
        contact_step: ContactStep = Options::of(mode.unwrap_or_default()).contact_step;
    } with {
        /// Share β of the critical step that is used; `safety` of [step].
        safety: f64 = 0.5;
    }
}

words! {
    /// Which velocities a contact sees.
    pub enum ContactVelocity {
        /// Those of the instant: kicks around it counted in proportion.
        Synchronised = "synchronised",
        /// As the last kicks have left them.
        Raw = "raw",
    }
}

words! {
    /// What is answered together.
    pub enum Response {
        /// One contact after the other, the deepest first.
        Sequential = "sequential",
        /// All contacts of one instant, where they share nodes, as (18) of the paper: every pair parts as fast as it closed.
        Simultaneous = "simultaneous",
    }
}

words! {
    /// Along which normal a node in an element is pushed out.
    pub enum Normal {
        /// That of the face it came through.
        Face = "face",
        /// Its own, the mean of the facets around it, as (21) of the paper has it: wrong at corners and edges.
        Contactor = "contactor",
    }
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

section! {
    /// How often a surface node looks for contacts: one of `local`, `smallest` and `average`.
    #[derive(Clone, Copy, Debug)]
    struct ContactStepKeys: "contact_step" {
        /// Times the shortest critical step around the node, or a little less, so that it fits the kicks there.
        local: Option<f64> as Option<Positive>;
        /// Times the shortest step in use, the same for all nodes.
        smallest: Option<f64> as Option<Positive>;
        /// Times the average critical step of all elements; with `travel` only.
        average: Option<f64> as Option<Positive>;
        /// As soon as the node has travelled this share of its own size, if that is sooner; with `local` or `average`.
        travel: Option<f64> as Option<Positive>;
    } check |r| {
        let place = |key: &str| r.key_place(key).unwrap_or(&r.place).clone();
        match (r.one_of(&["local", "smallest", "average"]), r.has("travel")) {
            (Some("smallest"), true) => {
                let help = "a step that follows the speed goes with `local` or `average`";
                r.problems.add(&place("travel"), format!("{} has both `smallest` and `travel`", r.name), help);
                false
            }
            (Some("average"), false) => {
                let help =
                    "for example { average = 1, travel = 0.5 }; small elements are not seen by an average alone";
                r.problems.add(&place("average"), format!("{} has `average` without `travel`", r.name), help);
                false
            }
            (of, _) => of.is_some(),
        }
    }
}

impl Kind for ContactStep {
    type Of = ContactStep;
    fn read(item: Item) -> Option<ContactStep> {
        let ContactStepKeys { local, smallest, average, travel } = read_section(item)?;
        Some(match (travel, local, average, smallest) {
            (Some(travel), Some(times), ..) => {
                ContactStep::Adaptive { travel, longest: Longest::Local(times) }
            }
            (Some(travel), _, Some(times), _) => {
                ContactStep::Adaptive { travel, longest: Longest::Average(times) }
            }
            (.., Some(share)) => ContactStep::Smallest(share),
            (_, local, ..) => ContactStep::Local(local?),
        })
    }
    fn write(value: &ContactStep) -> Option<Written> {
        let none = ContactStepKeys::default();
        ContactStepKeys::write(&match *value {
            ContactStep::Local(times) => ContactStepKeys { local: Some(times), ..none },
            ContactStep::Smallest(times) => ContactStepKeys { smallest: Some(times), ..none },
            ContactStep::Adaptive { travel, longest: Longest::Local(times) } => {
                ContactStepKeys { local: Some(times), travel: Some(travel), ..none }
            }
            ContactStep::Adaptive { travel, longest: Longest::Average(times) } => {
                ContactStepKeys { average: Some(times), travel: Some(travel), ..none }
            }
        })
    }
    fn schema(schemas: &mut Schemas) -> Json {
        ContactStepKeys::schema(schemas)
    }
}

impl Options {
    /// All switches as a mode has them.
    fn of(mode: Mode) -> Options {
        match mode {
            Mode::Default => Options {
                mode,
                safety: 0.5,
                steps: Steps::Classes,
                phase: Phase::Centred,
                contact_step: ContactStep::Local(0.25),
                contact_velocity: ContactVelocity::Synchronised,
                response: Response::Simultaneous,
                normal: Normal::Face,
                edge_edge: true,
            },
            Mode::Paper => Options {
                mode,
                safety: 0.25,
                steps: Steps::Free,
                phase: Phase::Paper,
                contact_step: ContactStep::Adaptive { travel: 0.5, longest: Longest::Average(1.0) },
                contact_velocity: ContactVelocity::Raw,
                response: Response::Sequential,
                normal: Normal::Face,
                edge_edge: false,
            },
        }
    }

    /// The scheme as the paper prints it: steps of any length, kicks at the start of their intervals, contacts that see the
    /// velocities as they are, and a step of contact that follows the speed up to the average critical step.
    pub fn paper(safety: f64, travel: f64) -> Options {
        let contact_step = ContactStep::Adaptive { travel, longest: Longest::Average(1.0) };
        Options { safety, contact_step, ..Options::of(Mode::Paper) }
    }

    /// One step for everybody, contacts answered half way between kicks: what velocity Verlet does
    /// with collisions in mid-drift, and what the method is measured against. There is one group of kicks and one group
    /// of contact checks, so nothing is queued, and all intervals end where contacts are checked, so no velocity is corrected.
    pub fn synchronous(safety: f64) -> Options {
        Options {
            safety,
            steps: Steps::Synchronous,
            contact_step: ContactStep::Smallest(1.0),
            ..Options::default()
        }
    }
}
