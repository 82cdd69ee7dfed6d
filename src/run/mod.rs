//! The time loop: a case is carried to its end, and observers look at it on the way.
//!
//! Looking never changes the answer: observers see a copy in which all nodes stand at one time, and no step is
//! shortened for them. Stopping never changes it either: everything that decides the future goes into a
//! [`Record`], and a run that takes it back continues bit for bit.

pub(crate) mod awake;
#[doc(hidden)]
pub mod checkpoint;
pub(crate) mod disk;
#[doc(hidden)]
pub mod doubts;
pub mod memory;
pub mod peaks;
pub mod probe;

use self::awake::awake;
use crate::math::Vec3;
use crate::method::{Method, Reached, StepError};
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};
use probe::Probe;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A look counts as due this share of a step early, like the end of `advance`.
const EARLY: f64 = 1e-9;
/// How often the loop comes up for air when nobody looks.
const PULSE: Duration = Duration::from_millis(100);
/// A step that takes longer than this is followed by a checkpoint: whoever has to be stopped in the middle of the next
/// loses no more than that one.
const LONG_STEP: Duration = Duration::from_secs(1);

/// A problem, ready to run.
pub struct Case {
    pub title: String,
    /// The method's name in the deck.
    pub method_name: String,
    pub model: Model,
    pub state: State,
    pub method: Box<dyn Method>,
    /// [s]
    pub end: f64,
    pub probes: Vec<Probe>,
}

/// Threads of our own: the global pool belongs to the program around us. Build the case inside too.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("carom-{i}")).build()
}

/// Linear and angular momentum, and how far they are from what was put in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Σ m v [kg m/s]
    pub linear: Vec3,
    /// Σ x × m v [kg m²/s], about the origin
    pub angular: Vec3,
    /// Σ m |v|
    pub linear_scale: f64,
    /// Σ m |x − x_cm| |v|
    pub angular_scale: f64,
}

impl Momentum {
    /// With the masses of a method, lumped unless it has others.
    pub fn by(method: &dyn Method, model: &Model, state: &State) -> Self {
        let mut sum = Momentum::of(model, state);
        if let Some(momenta) = method.momenta(model, &state.v) {
            (sum.linear, sum.angular) = (Vec3::zeros(), Vec3::zeros());
            for (p, x) in momenta.iter().zip(&state.x) {
                sum.linear += p;
                sum.angular += x.cross(p);
            }
        }
        sum
    }

    pub fn of(model: &Model, state: &State) -> Self {
        let (mut mass, mut centre) = (0.0, Vec3::zeros());
        for (m, x) in model.mass.iter().zip(&state.x) {
            mass += m;
            centre += *m * x;
        }
        centre /= mass;
        let mut sum = Momentum::default();
        for ((m, x), v) in model.mass.iter().zip(&state.x).zip(&state.v) {
            sum.linear += *m * v;
            sum.angular += *m * x.cross(v);
            sum.linear_scale += m * v.norm();
            sum.angular_scale += m * (x - centre).norm() * v.norm();
        }
        sum
    }
}

/// Momentum at the start and the largest drift so far, measured whenever somebody looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    pub initial: Momentum,
    pub linear_drift_max: f64,
    pub angular_drift_max: f64,
}

impl Balance {
    fn update(&mut self, now: &Momentum, ledger: &Ledger) {
        // A body that starts at rest is measured by what it reaches.
        if self.initial.linear_scale == 0.0 {
            self.initial.linear_scale = now.linear_scale;
            self.initial.angular_scale = now.angular_scale;
        }
        let relative = |drift: Vec3, scale: f64| if scale > 0.0 { drift.norm() / scale } else { 0.0 };
        let linear = now.linear - self.initial.linear - ledger.impulse;
        let angular = now.angular - self.initial.angular - ledger.moment;
        self.linear_drift_max = self.linear_drift_max.max(relative(linear, self.initial.linear_scale));
        self.angular_drift_max = self.angular_drift_max.max(relative(angular, self.initial.angular_scale));
    }

    fn save(&self, record: &mut Record) {
        record.vectors("balance.initial", &[self.initial.linear, self.initial.angular]);
        let Momentum { linear_scale, angular_scale, .. } = self.initial;
        let numbers = [linear_scale, angular_scale, self.linear_drift_max, self.angular_drift_max];
        record.numbers("balance.numbers", &numbers);
    }

    pub(crate) fn restore(record: &Record) -> Result<Self, RecordError> {
        let (mut initial, mut numbers) = ([Vec3::zeros(); 2], [0.0; 4]);
        record.read_vectors("balance.initial", &mut initial)?;
        record.read_numbers("balance.numbers", &mut numbers)?;
        let [linear, angular] = initial;
        let [linear_scale, angular_scale, linear_drift_max, angular_drift_max] = numbers;
        let initial = Momentum { linear, angular, linear_scale, angular_scale };
        Ok(Balance { initial, linear_drift_max, angular_drift_max })
    }
}

/// What an observer sees.
pub struct Look<'a> {
    pub case: &'a Case,
    /// All nodes at one time.
    pub state: &'a State,
    pub ledger: &'a Ledger,
    pub momentum: &'a Momentum,
    pub balance: &'a Balance,
    /// The last look of the run.
    pub last: bool,
}

/// Somebody who looks at a run.
pub trait Observer: Send {
    /// When to look next [s]; infinite for never again.
    fn next(&self) -> f64;
    fn look(&mut self, look: &Look) -> Result<(), ObserverError>;
    /// Called every now and then between looks, on the wall clock: for progress, not for results.
    fn pulse(&mut self, _time: f64, _ledger: &Ledger) {}
    /// What was written so far stays when the power goes. A checkpoint counts on it: it is kept only after this.
    fn settle(&mut self) -> Result<(), ObserverError> {
        Ok(())
    }
    fn save(&self, _record: &mut Record) {}
    fn restore(&mut self, _record: &Record) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Why an observer could not go on: anything. It ends the run.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// An observer could not write what it saw.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    pub path: std::path::PathBuf,
    pub source: std::io::Error,
}

/// An observer was to write a number that means nothing.
#[derive(Debug, thiserror::Error)]
#[error("`{column}` is not finite")]
pub struct Meaningless {
    pub column: String,
}

/// Equally spaced times up to the end: at the first instants at or after k·end/N.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    begin: f64,
    end: f64,
    count: u64,
    next: u64,
}

impl Times {
    /// `count` intervals; none at all for zero.
    pub fn new(end: f64, count: u64) -> Self {
        Times::between(0.0, end, count)
    }

    /// `count` intervals from `begin` on.
    pub fn between(begin: f64, end: f64, count: u64) -> Self {
        Times { begin, end, count, next: 0 }
    }

    pub fn next(&self) -> f64 {
        self.at(self.next)
    }

    fn at(&self, k: u64) -> f64 {
        if self.count == 0 || k > self.count {
            return f64::INFINITY;
        }
        self.begin + (self.end - self.begin) * (k as f64 / self.count as f64)
    }

    /// Everything up to `time` has been seen.
    pub fn seen(&mut self, time: f64, dt: f64) {
        let reached = time + EARLY * dt;
        // a step without bound must not keep us here
        if !reached.is_finite() {
            return;
        }
        // nor many more instants than steps: they rise with their number, so that leaps find the last one
        let mut leap = 1;
        while self.at(self.next.saturating_add(leap - 1)) <= reached {
            self.next += leap;
            leap *= 2;
        }
        while leap > 1 {
            leap /= 2;
            if self.at(self.next.saturating_add(leap - 1)) <= reached {
                self.next += leap;
            }
        }
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Step(#[from] StepError),
    #[error("{0}")]
    Observer(ObserverError),
    #[error("cannot write the checkpoint {}: {source}", path.display())]
    Checkpoint { path: std::path::PathBuf, source: std::io::Error },
    #[error("the checkpoint does not belong to this case: {0}")]
    Record(#[from] RecordError),
    /// Results that mean nothing are not written: the last row is the last good state.
    #[error(
        "numbers ran out of range before t = {time:.4e} s: {what} is not finite; a smaller step, or loads and speeds within reason, help"
    )]
    NotFinite { time: f64, what: String },
    #[error(
        "not a single step was done to reach t = {end:.4e} s: steps of {dt:.3e} s do not fit; give `step.size` a value below `end`"
    )]
    NoStep { end: f64, dt: f64 },
    /// What was done so far is good, and kept.
    #[error(
        "memory runs out at t = {time:.4e} s: {lack}; coarser meshes, fewer bodies or threads, or more memory help"
    )]
    Memory { time: f64, lack: String },
}

/// A case on its way.
pub struct Run {
    pub case: Case,
    pub ledger: Ledger,
    pub balance: Balance,
    observers: Vec<Box<dyn Observer>>,
    keeper: Option<checkpoint::Keeper>,
    /// Where everything stands at one time, for those who look.
    copy: State,
    /// Time, count of steps and books when somebody looked last: numbers then meant something.
    seen: (f64, u64, Ledger),
    reserve: memory::Reserve,
    /// Wall time spent on looks and checkpoints [s].
    pub output_seconds: f64,
}

impl Run {
    /// Begins at the case's initial state; observers look at it. Call inside [`pool`]'s `install`.
    pub fn start(
        mut case: Case,
        observers: Vec<Box<dyn Observer>>,
        keeper: Option<checkpoint::Keeper>,
    ) -> Result<Self, RunError> {
        let mut ledger = Ledger::default();
        let reserve = reserve(&case)?;
        case.method.start(&case.model, &mut case.state, &mut ledger)?;
        let copy = case.state.clone();
        let balance =
            Balance { initial: Momentum::by(case.method.as_ref(), &case.model, &copy), ..Balance::default() };
        let seen = (case.state.time, case.state.step, ledger.clone());
        let mut run =
            Run { case, ledger, balance, observers, keeper, copy, seen, reserve, output_seconds: 0.0 };
        run.look(false)?;
        // whatever happens from here on, there is something to go on from
        run.keep()?;
        Ok(run)
    }

    /// Takes up a run where `record` left it.
    pub fn resume(
        mut case: Case,
        mut observers: Vec<Box<dyn Observer>>,
        keeper: Option<checkpoint::Keeper>,
        record: &Record,
    ) -> Result<Self, RunError> {
        record.refuse_nan()?;
        let reserve = reserve(&case)?;
        case.state = State::restore(&case.model, record)?;
        case.method.restore(&case.model, record)?;
        for observer in &mut observers {
            observer.restore(record)?;
        }
        let (ledger, balance) = (Ledger::restore(record)?, Balance::restore(record)?);
        let copy = case.state.clone();
        let seen = (case.state.time, case.state.step, ledger.clone());
        Ok(Run { case, ledger, balance, observers, keeper, copy, seen, reserve, output_seconds: 0.0 })
    }

    /// Somebody who comes later.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observers.push(observer);
    }

    /// Brings all nodes of the copy to one time, the present.
    pub fn synchronise(&mut self) {
        self.case.method.synchronise(&self.case.model, &self.case.state, &mut self.copy);
    }

    /// The copy, as it was when somebody looked last.
    pub fn synchronised(&self) -> &State {
        &self.copy
    }

    /// Everything that decides the future.
    pub fn save(&self) -> Record {
        let mut record = Record::default();
        self.case.state.save(&mut record);
        self.case.method.save(&mut record);
        self.ledger.save(&mut record);
        self.balance.save(&mut record);
        for observer in &self.observers {
            observer.save(&mut record);
        }
        record
    }

    /// Carries on to `until`, looking when looks are due, unless `stop` is raised.
    pub fn advance(&mut self, until: f64, stop: &AtomicBool) -> Result<Reached, RunError> {
        let mut pulse_steps = 1u64;
        loop {
            let dt = self.case.method.next_step();
            let met = |goal: f64, time: f64| time >= goal - EARLY * dt;
            if met(until, self.case.state.time) {
                return Ok(Reached::Until);
            }
            // who carries on piece by piece does not look: only observers do, and the books at the end
            let end = if met(self.case.end, self.case.state.time) { f64::INFINITY } else { self.case.end };
            let due = self.observers.iter().map(|o| o.next()).fold(end, f64::min);
            let goal = due.min(until).min(self.case.state.time + pulse_steps as f64 * dt);
            let lack = self.reserve.check();
            lack.map_err(|lack| RunError::Memory { time: self.case.state.time, lack })?;
            let begin = Instant::now();
            let Case { model, state, method, .. } = &mut self.case;
            let reached = awake(|| method.advance(model, state, goal, &mut self.ledger, stop))?;
            let took = begin.elapsed();
            if took < PULSE / 2 {
                pulse_steps = pulse_steps.saturating_mul(2);
            } else if took > PULSE * 2 {
                pulse_steps = (pulse_steps / 2).max(1);
            }
            if reached == Reached::Stopped {
                return Ok(Reached::Stopped);
            }
            if met(due, self.case.state.time) {
                self.look(met(self.case.end, self.case.state.time))?;
            }
            for observer in &mut self.observers {
                observer.pulse(self.case.state.time, &self.ledger);
            }
            if self.keeper.as_ref().is_some_and(|k| k.due() || (pulse_steps == 1 && took > LONG_STEP)) {
                self.keep()?;
            }
        }
    }

    /// Carries on to the case's end and keeps a last checkpoint. After a failed step the state is that of the last
    /// good one: it is kept too, and everybody has a last look at it.
    pub fn to_end(&mut self, stop: &AtomicBool) -> Result<Reached, RunError> {
        let outcome = self.advance(self.case.end, stop);
        let (step, end, dt) = (self.case.state.step, self.case.end, self.case.method.next_step());
        match outcome {
            // `asynchronous` counts windows, and may come to the end within the first
            Ok(Reached::Until) if step == 0 && self.case.state.time < 0.999 * end => {
                return Err(RunError::NoStep { end, dt });
            }
            Ok(_) => self.keep()?,
            // a state that is not good is neither kept nor shown
            Err(RunError::Step(_) | RunError::Memory { .. }) if self.synchronised_is_finite() => {
                self.keep()?;
                self.look_at(true, &mut |_| true)?;
            }
            // what the summary tells is what the last row shows
            Err(RunError::NotFinite { .. }) => {
                (self.case.state.time, self.case.state.step, self.ledger) = self.seen.clone();
            }
            Err(_) => {}
        }
        outcome
    }

    /// Are all numbers of the state, seen at one time, and of the books?
    fn synchronised_is_finite(&mut self) -> bool {
        self.synchronise();
        self.finite().is_ok()
    }

    /// Whatever means nothing is an error, before anybody sees it. The copy is that of the present.
    fn finite(&self) -> Result<(), RunError> {
        let all = |of: &[Vec3]| of.iter().all(|x| x.iter().all(|c| c.is_finite()));
        let what = match () {
            () if !all(&self.copy.x) => "a position",
            () if !all(&self.copy.v) => "a velocity",
            () if !(self.ledger.total() + self.ledger.error()).is_finite() => "an energy",
            () => return Ok(()),
        };
        Err(RunError::NotFinite { time: self.case.state.time, what: what.into() })
    }

    /// Writes a checkpoint now, if checkpoints are kept.
    pub fn keep(&mut self) -> Result<(), RunError> {
        if self.keeper.is_none() {
            return Ok(());
        }
        let begin = Instant::now();
        self.synchronise();
        self.finite()?;
        for observer in &mut self.observers {
            observer.settle().map_err(RunError::Observer)?;
        }
        let record = self.save();
        if let Some(keeper) = &mut self.keeper {
            keeper.write(&record).map_err(|(path, source)| RunError::Checkpoint { path, source })?;
        }
        self.output_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Those whose time has come look.
    fn look(&mut self, last: bool) -> Result<(), RunError> {
        let now = self.case.state.time + EARLY * self.case.method.next_step();
        self.look_at(last, &mut |observer| observer.next() <= now)
    }

    fn look_at(&mut self, last: bool, who: &mut dyn FnMut(&dyn Observer) -> bool) -> Result<(), RunError> {
        let begin = Instant::now();
        self.synchronise();
        self.finite()?;
        // methods without common steps measure now and then, and whenever somebody looks
        self.ledger.judge();
        let momentum = Momentum::by(self.case.method.as_ref(), &self.case.model, &self.copy);
        self.balance.update(&momentum, &self.ledger);
        let look = Look {
            case: &self.case,
            state: &self.copy,
            ledger: &self.ledger,
            momentum: &momentum,
            balance: &self.balance,
            last,
        };
        for observer in &mut self.observers {
            if who(observer.as_ref()) {
                observer.look(&look).map_err(|error| match error.downcast::<Meaningless>() {
                    Ok(what) => {
                        RunError::NotFinite { time: look.state.time, what: format!("`{}`", what.column) }
                    }
                    Err(error) => RunError::Observer(error),
                })?;
            }
        }
        self.seen = (self.case.state.time, self.case.state.step, self.ledger.clone());
        self.output_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }
}

/// Memory to end in order, before anything is done.
fn reserve(case: &Case) -> Result<memory::Reserve, RunError> {
    memory::Reserve::new(case.model.reference.len())
        .map_err(|lack| RunError::Memory { time: case.state.time, lack })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaps find what counting one by one finds, also where there are far more instants than anybody could count.
    #[test]
    fn instants_that_were_passed_by_are_not_counted_one_by_one() {
        for (count, step) in [(0, 0.1), (1, 0.3), (7, 0.01), (10, 0.1), (1000, 0.07), (12345, 1.5)] {
            let mut leaps = Times::between(-1.0, 2.0, count);
            let mut next = 0;
            let mut time = -1.0;
            while time < 2.5 {
                leaps.seen(time, step);
                while leaps.at(next) <= time + EARLY * step {
                    next += 1;
                }
                assert_eq!(leaps.next, next, "{count} at {time}");
                time += step;
            }
        }
        let mut many = Times::new(1.0, u64::MAX / 2);
        many.seen(0.5, 0.0);
        assert!((many.next() - 0.5).abs() < 1e-15 && many.next() > 0.5 - 1e-15);
        many.seen(1.0, 0.0);
        assert_eq!(many.next(), f64::INFINITY);
    }

    #[test]
    fn n_intervals_give_n_plus_one_times_and_the_last_is_the_end() {
        let (end, count, dt) = (0.7, 7, 1e-4);
        let mut times = Times::new(end, count);
        let mut seen = Vec::new();
        while times.next().is_finite() {
            let time = times.next();
            seen.push(time);
            times.seen(time, dt);
        }
        assert_eq!(seen.len(), 8);
        assert_eq!((seen[0], seen[7]), (0.0, end));
        // a step longer than the interval sees several at once
        let mut times = Times::new(1.0, 10);
        times.seen(0.35, 0.35);
        assert!((times.next() - 0.4).abs() < 1e-15);
    }
}
