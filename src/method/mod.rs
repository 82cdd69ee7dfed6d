//! Ways to carry a state forward in time.
//!
//! | method   | file        | what it is |
//! |----------|-------------|------------|
//! | `verlet` | `verlet.rs` | velocity Verlet = explicit Newmark (β = 0, γ = ½) |
//! | `dcr`    | `dcr.rs`    | the same with decomposition contact response |
//! | `asynchronous` | `asynchronous.rs` | kicks and drifts with a step for every element, collisions with a step for every node |
//! | `semi-explicit` | `semi_explicit.rs` | symplectic Euler, contact with friction solved as a whole |
//! | `nonsmooth` | `nonsmooth.rs` | explicit Newmark, contact as one constrained minimisation a step |
//! | `bipotential-implicit` | `bipotential_implicit.rs` | its implicit reference, with Newton's method |
//! | `velocity-update` | `velocity_update.rs` | energy-momentum midpoint rule, contact by penalties and an update of velocities |
//! | `newmark-penalty` | `velocity_update.rs` | implicit Newmark with the same penalties, what it is compared with |
//! | `static` | `statics.rs` | the shape in which forces balance, load step by load step |
//!
//! | file | what they share |
//! |------|-----------------|
//! | `name.rs` | their names, and what each takes for granted |
//! | `step_control.rs` | how long a step is |
//! | `in_parts.rs` | steps that Newton's method solves, in halves where it must |
//! | `newmark.rs`, `chunks.rs`, `rattle.rs` | the two half steps of explicit Newmark; nodes as tasks see them; supports by multipliers |
//! | `contact_world.rs`, `impulses.rs` | who touches whom, and the impulses of contact since the start |
//! | `bipotential.rs` | contacts of a step that are solved all together |
//! | `response.rs` | the answer to one impact |
//! | `impact_zones.rs` | nodes that keep their places to each other in a step |

pub mod asynchronous;
pub(crate) mod bipotential;
pub mod bipotential_implicit;
mod chunks;
pub(crate) mod contact_world;
pub mod dcr;
pub(crate) mod impact_zones;
pub mod impulses;
mod in_parts;
mod name;
pub(crate) mod newmark;
pub mod nonsmooth;
mod rattle;
#[doc(hidden)]
pub mod response;
pub mod semi_explicit;
pub mod statics;
pub mod step_control;
pub mod velocity_update;
pub mod verlet;

use crate::math::Vec3;
use crate::model::forces::Forces;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use crate::solve::newton::Newton;
use impulses::Impulses;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use step_control::EARLY;

pub use name::MethodName;
pub(crate) use name::usual_safety;
pub use step_control::StepRule;

/// How `advance`, or a step of it, came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The instant that was asked for, or the end of the step.
    Until,
    /// The stop was raised.
    Stopped,
}

/// Why a step could not be done. The state is that of the last good step.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum StepError {
    #[error(
        "element {element} of body `{body}` turned inside out at t = {time:.4e} s (det F = {det_f:.2}); \
         a smaller `step.safety` or a finer mesh there helps"
    )]
    Inverted { body: String, element: usize, time: f64, det_f: f64 },
    #[error(
        "numbers ran out of range in element {element} of body `{body}` at t = {time:.4e} s, step {dt:.3e} s; \
         the largest stable step of the undeformed mesh is {stable:.3e} s"
    )]
    NotFinite { body: String, element: usize, time: f64, dt: f64, stable: f64 },
    #[error(
        "elements have stiffened so much at t = {time:.4e} s that a step is {ratio:.2} times the largest stable one; \
         a smaller `step.safety` helps"
    )]
    Stiffened { time: f64, ratio: f64 },
    #[error(
        "bodies `{first}` and `{second}` cannot be kept from passing through each other at t = {time:.4e} s; \
         a smaller `step.safety` helps"
    )]
    Unguarded { first: String, second: String, time: f64 },
    #[error(
        "body `{first}` passed through the surface of `{second}` between two contact checks at t = {time:.4e} s; \
         a smaller `step.safety` or a shorter `contact_step` helps, or method = \"dcr\" with `swept = true`"
    )]
    PassedThrough { first: String, second: String, time: f64 },
    #[error(
        "bodies `{first}` and `{second}` overlap at the start ({depth:.1e} m deep at least); with `contact.guard` they must not: \
         move them apart"
    )]
    Overlap { first: String, second: String, depth: f64 },
    #[error(
        "a step of {dt:.3e} s is too long: {what} at t = {time:.4e} s; as deformed as the bodies were then, \
         steps up to {stable:.3e} s are stable"
    )]
    TooLong { time: f64, dt: f64, stable: f64, what: String },
    #[error(
        "a step of {dt:.3e} s to t = {time:.4e} s does not converge however often it is halved: forces are out of balance by \
         {share:.1e} of their size, most at node {node} of body `{body}`{}; a smaller step, a finer mesh there or a stiffer law helps",
        in_contact(contact)
    )]
    NoConvergence {
        time: f64,
        dt: f64,
        body: String,
        node: usize,
        /// What is left of the balance of forces, of their size.
        share: f64,
        /// Who meets at that node.
        contact: Option<[String; 2]>,
    },
    #[error(
        "a step of {dt:.3e} s to t = {time:.4e} s creates or loses {share:.1e} of the energy out of nothing; a smaller step helps"
    )]
    Created { time: f64, dt: f64, share: f64 },
    #[error(
        "bodies `{first}` and `{second}` come {way:.2e} m together in a step of {dt:.3e} s to t = {time:.4e} s, more than half of \
         {thickness:.2e} m, the thickness of the thinner one: they could pass through each other; a smaller step helps"
    )]
    TooFar { first: String, second: String, time: f64, dt: f64, way: f64, thickness: f64 },
    #[error("a step of {dt:.3e} s to t = {time:.4e} s: {error}")]
    Factors { time: f64, dt: f64, error: crate::solve::sparse::FactorError },
    #[error(
        "bodies `{first}` and `{second}` cannot be brought apart in a step of {dt:.3e} s to t = {time:.4e} s, however often it is \
         halved ({depth:.1e} m deep); a smaller `step.safety` or `step.size` helps"
    )]
    Inadmissible { first: String, second: String, time: f64, dt: f64, depth: f64 },
    #[error(
        "bodies `{first}` and `{second}` overlap at the start ({depth:.1e} m deep at least); method \"nonsmooth\" begins without \
         overlap: move them apart"
    )]
    OverlapAtStart { first: String, second: String, depth: f64 },
    #[error("contacts cannot be found: {0}")]
    Search(#[from] crate::contact::search::SearchError),
}

impl StepError {
    /// Elements have failed at positions `x` in a step of length `dt`: which one, and how. `finite` tells whether their energy is a number.
    fn of_elements(model: &Model, x: &[Vec3], finite: bool, time: f64, dt: f64) -> StepError {
        let (block, element, det_f) = Forces::find_failure(model, x).unwrap_or((0, 0, f64::NAN));
        let body = model.body_of_block(block).name.clone();
        match finite && det_f.is_finite() {
            true => StepError::Inverted { body, element, time, det_f },
            false => StepError::NotFinite { body, element, time, dt, stable: model.stable_step() },
        }
    }
}

fn in_contact(contact: &Option<[String; 2]>) -> String {
    contact.as_ref().map_or(String::new(), |[a, b]| format!(", in the contact of `{a}` and `{b}`"))
}

/// A way to carry a state forward in time.
pub trait Method: Send {
    /// Measures the initial state and opens the ledger. Called once, before anything else; not after `restore`.
    fn start(&mut self, model: &Model, state: &mut State, ledger: &mut Ledger) -> Result<(), StepError>;

    /// Does one step of its own. On failure the state is that of the last good one. Where steps are long one may be given up once `stop`
    /// is raised; then the state stays as it was.
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError>;

    /// Carries `state` to the first instant at or after `until` that the method reaches by itself,
    /// or returns between two steps once `stop` is raised. `ledger` holds all work done on the way.
    ///
    /// No step is shortened to meet `until`: asking for more output never changes the answer.
    fn advance(
        &mut self,
        model: &Model,
        state: &mut State,
        until: f64,
        ledger: &mut Ledger,
        stop: &AtomicBool,
    ) -> Result<Reached, StepError> {
        while state.time < until - EARLY * self.next_step() {
            let stopped = stop.load(Ordering::Relaxed);
            if stopped || self.step(model, state, ledger, stop)? == Reached::Stopped {
                return Ok(Reached::Stopped);
            }
        }
        Ok(Reached::Until)
    }

    /// The next step's length [s], as far as it is known.
    fn next_step(&self) -> f64;

    /// Writes a copy in which every node stands at one time, for those who look.
    fn synchronise(&self, _model: &Model, state: &State, out: &mut State) {
        out.clone_from(state);
    }

    /// Impulse [N s] that the support of a held node has given since the start; `held` counts in
    /// [`crate::model::restraint::Restraints::held`].
    fn support_impulse(&self, held: usize) -> Vec3;

    /// Impulses of contact since the start; none for methods without contact.
    fn impulses(&self) -> Option<&Impulses> {
        None
    }

    /// Impulse [N s] that contact has given to each node since the start; empty for methods without contact.
    fn contact_impulse(&self) -> &[Vec3] {
        self.impulses().map_or(&[], |i| &i.received)
    }

    /// Impulse [N s] that body `b` has given to body `a` since the start; obstacles are counted after bodies.
    fn impulse_between(&self, a: u32, b: u32) -> Vec3 {
        self.impulses().map_or(Vec3::zeros(), |i| i.between(a, b))
    }

    /// Momentum of each node [kg m/s] where it is not its lumped mass times its velocity.
    fn momenta(&self, _model: &Model, _v: &[Vec3]) -> Option<Vec<Vec3>> {
        None
    }

    /// Iterations of the last step, and contacts that stuck and slipped in it, of methods that solve steps by Newton's method.
    fn newton_counts(&self) -> Option<[u64; 3]> {
        None
    }

    /// How Newton's method went in the last step, of methods that use it.
    fn newton(&self) -> Option<&Newton> {
        None
    }

    /// Why the result should not be believed, or took more steps than was asked for, as far as the method knows.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Pairs that have carried an impulse since a time [s], of methods without a common step; with one it is those of the
    /// last step that count, [`Ledger::contacts`].
    fn contacts_since(&self, _since: f64) -> Option<u64> {
        None
    }

    /// Memory held to find contacts, beside the surfaces themselves [bytes]; zero where none are looked for.
    fn search_bytes(&self) -> usize {
        0
    }

    /// Velocities change by an impulse from outside. What the method has prepared with the old ones is forgotten, as if the run
    /// had been stopped and taken up.
    fn strike(&mut self, model: &Model, state: &mut State, blow: &Blow) -> Result<(), RecordError> {
        blow.strike(self, model, state)
    }

    /// Puts the method's own memory into named arrays, and takes it back bit for bit.
    fn save(&self, record: &mut Record);
    fn restore(&mut self, model: &Model, record: &Record) -> Result<(), RecordError>;
}

/// An impulse from outside, at one instant.
pub struct Blow {
    /// Of the velocity of each node [m/s].
    pub change: Vec<Vec3>,
    /// Kinetic energy that came with it [J].
    pub work: f64,
    /// [N s], and its moment about the origin [N m s].
    pub impulse: Vec3,
    pub moment: Vec3,
}

impl Blow {
    /// Changes all velocities, also those that belong to another instant, and has the method begin anew with them.
    fn strike<M: Method + ?Sized>(
        &self,
        method: &mut M,
        model: &Model,
        state: &mut State,
    ) -> Result<(), RecordError> {
        let mut record = Record::default();
        method.save(&mut record);
        state.v.iter_mut().zip(&self.change).for_each(|(v, change)| *v += change);
        state.save(&mut record);
        method.restore(model, &record)
    }
}

/// Wall time since the last look.
struct Watch(Instant);

impl Watch {
    fn start() -> Watch {
        Watch(Instant::now())
    }

    fn add(&mut self, to: &mut f64) {
        let now = Instant::now();
        *to += (now - self.0).as_secs_f64();
        self.0 = now;
    }
}
