//! Where energy went.
//!
//! Kinetic and strain energy are measured; work is booked by the line that does it; what is left is the error.
//! Beside it stand the impulse and the moment of impulse that loads and supports put in, so that what remains of
//! the momentum balance is error too.

use crate::math::Vec3;

/// Wall time by what it was spent on [s].
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Element forces.
    pub force: f64,
    /// Finding contacts.
    pub search: f64,
    /// Answering them.
    pub response: f64,
    /// Moving the nodes; systems of equations.
    pub solve: f64,
}

/// Wall time says nothing about the run's outcome: all phases are equal.
impl PartialEq for Phases {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The account of one run. Energies in joules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Measured at the end of the last step.
    pub kinetic: f64,
    /// Measured; hourglass energy included.
    pub strain: f64,
    /// Part of `strain`.
    pub hourglass: f64,
    /// Energy in penalty springs, measured.
    pub contact: f64,

    /// Work put in by loads, gravity and prescribed supports.
    pub external: f64,
    /// Taken out by friction.
    pub friction: f64,
    /// Taken out by normal contact, net.
    pub restitution: f64,
    /// Taken out by damping.
    pub damping: f64,
    /// Taken out by plastic flow.
    pub plastic: f64,
    /// Net work of corrections.
    pub correction: f64,
    /// Kinetic + strain + contact at the start.
    pub initial: f64,

    /// Impulse [N s] of loads, damping and supports since the start.
    pub impulse: Vec3,
    /// Its moment about the origin [N m s].
    pub moment: Vec3,

    /// Pairs that carried impulse in the last step, and the most of any step.
    pub contacts: u64,
    pub contacts_peak: u64,
    /// Deepest overlap [m] of the accepted state, and of any.
    pub penetration: f64,
    pub penetration_max: f64,

    /// Element force evaluations and collision responses so far.
    pub element_kicks: u64,
    pub collision_kicks: u64,

    /// Steps in which contacts were left unsolved, and nodes that were too deep inside a body to be answered.
    pub unsolved: u64,
    pub let_go: u64,

    /// Last, smallest, largest step [s], and their sum.
    pub dt: f64,
    pub dt_min: f64,
    pub dt_max: f64,
    pub dt_sum: f64,

    /// Largest |error| after any step, and largest total + |external| [J].
    pub error_max: f64,
    pub peak: f64,

    pub phases: Phases,
}

impl Ledger {
    /// Kinetic, strain and contact energy.
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.contact
    }

    /// What is not accounted for.
    pub fn error(&self) -> f64 {
        self.total() - self.initial - self.external - self.correction
            + self.friction
            + self.restitution
            + self.damping
            + self.plastic
    }

    /// Largest error so far relative to the largest energy so far.
    pub fn error_max_rel(&self) -> f64 {
        if self.peak > 0.0 { self.error_max / self.peak } else { 0.0 }
    }

    /// The measured energies are those of the beginning.
    pub fn open(&mut self) {
        self.initial = self.total();
        self.peak = self.total();
        self.dt_min = f64::INFINITY;
    }

    /// Ends one step of length `dt`: energies have been measured and work booked.
    pub fn close_step(&mut self, dt: f64) {
        self.dt = dt;
        self.dt_min = self.dt_min.min(dt);
        self.dt_max = self.dt_max.max(dt);
        self.dt_sum += dt;
        self.error_max = self.error_max.max(self.error().abs());
        self.peak = self.peak.max(self.total() + self.external.abs());
        self.contacts_peak = self.contacts_peak.max(self.contacts);
        self.penetration_max = self.penetration_max.max(self.penetration);
    }
}
