//! The method's own memory, put away and taken back bit for bit.
//!
//! Kept are ticks, what the kicks and contacts have summed up, and the last forces of loads. Queues are made of the ticks;
//! boxes, lists and forces of instants are made anew where they are needed and found the same.

use super::check_groups::CheckGroup;
use super::group::Group;
use super::{Asynchronous, Phase};
use crate::model::record::{Record, RecordError};

/// The tick of a model is the same on every machine but for round-off.
const SAME_CLOCK: f64 = 1e-9;
/// Ticks below this are exact as numbers.
const FARTHEST: u64 = 1 << 53;

fn name(what: &str) -> String {
    format!("asynchronous.{what}")
}

impl Asynchronous {
    pub(super) fn put_into(&self, record: &mut Record) {
        self.collisions.save(record);
        record.numbers(&name("clock"), &[self.clock.begin, self.clock.tick]);
        record.counts(&name("counts"), &[self.now, self.window.1]);
        record.counts(&name("tau"), &self.tau);
        let next = (self.groups.list.iter().map(|g| g.next))
            .chain(self.prescribed.iter().map(|l| l.next))
            .chain(self.edges.check_groups.iter().map(|r| r.next));
        record.counts_from(&name("next"), next);
        record.counts_from(&name("edges"), self.edges.list.iter().map(|e| e.carried));
        let loads = || self.groups.list.iter().filter(|g| g.is_load());
        record.vectors_from(&name("force"), loads().flat_map(|g| g.force.iter().copied()));
        record.vectors_from(&name("last"), loads().flat_map(|g| g.last.iter().copied()));
        let weights = self.groups.list.iter().flat_map(|g| &g.weights);
        record.vectors_from(&name("weights"), weights.flat_map(|w| [w.at, w.pull]));
        record.vectors(&name("support"), &self.groups.support);
        let sums = &self.sums;
        record.numbers(&name("sums"), &[sums.external, sums.damping, sums.speed_squared]);
        record.vectors(&name("impulse"), &[sums.impulse, sums.moment]);
        record.vectors(&name("copy.x"), &self.copy.x);
        record.vectors(&name("copy.v"), &self.copy.v);
        record.vectors(&name("copy.support"), &self.copy.support);
    }

    pub(super) fn take_from(&mut self, record: &Record) -> Result<(), RecordError> {
        let built = self.clock.tick;
        [self.clock.begin, self.clock.tick] = record.read_values(&name("clock"))?;
        [self.now, self.window.1] = record.read_counts(&name("counts"))?;
        record.copy_counts(&name("tau"), &mut self.tau)?;
        let next = (self.groups.list.iter_mut().map(|g| &mut g.next))
            .chain(self.prescribed.iter_mut().map(|l| &mut l.next))
            .chain(self.edges.check_groups.iter_mut().map(|r| &mut r.next));
        record.counts_to(&name("next"), next)?;
        record.counts_to(&name("edges"), self.edges.list.iter_mut().map(|e| &mut e.carried))?;
        let loads = self.groups.list.iter_mut().filter(|g| g.is_load());
        record.vectors_to(&name("force"), loads.flat_map(|g| &mut g.force))?;
        let loads = self.groups.list.iter_mut().filter(|g| g.is_load());
        record.vectors_to(&name("last"), loads.flat_map(|g| &mut g.last))?;
        let weights = self.groups.list.iter_mut().flat_map(|g| &mut g.weights);
        record.vectors_to(&name("weights"), weights.flat_map(|w| [&mut w.at, &mut w.pull]))?;
        record.read_vectors(&name("support"), &mut self.groups.support)?;
        let sums = &mut self.sums;
        [sums.external, sums.damping, sums.speed_squared] = record.read_values(&name("sums"))?;
        record.vectors_to(&name("impulse"), [&mut sums.impulse, &mut sums.moment])?;
        record.read_vectors(&name("copy.x"), &mut self.copy.x)?;
        record.read_vectors(&name("copy.v"), &mut self.copy.v)?;
        record.read_vectors(&name("copy.support"), &mut self.copy.support)?;
        self.copy.tick = self.now;
        self.collisions.restore(record)?;
        let kept = record.get("state.time")?;
        if !kept.iter().all(|time| self.is_possible(*time, built)) {
            return Err(RecordError::Meaningless(name("next")));
        }
        self.fill_queues();
        Ok(())
    }

    /// Do the ticks make sense together? Everybody was kicked before now and is due within his step from now; `time` is that of the
    /// state, `built` the length of a tick as the model has it [s].
    fn is_possible(&self, time: f64, built: f64) -> bool {
        let (now, clock) = (self.now, &self.clock);
        let due = |next: u64, step: u64| next >= now && next - now <= step;
        let kick = |g: &Group| {
            let first = if self.options.phase == Phase::Centred { g.step / 2 } else { 0 };
            due(g.next, g.step) && g.next % g.step == first % g.step
        };
        // edges keep their rhythm, and so do nodes that are not fast
        let in_rhythm = |c: &CheckGroup| due(c.next, c.step) && c.next.is_multiple_of(c.step);
        let fast = |c: &CheckGroup| self.collisions.contactors[c.members.start as usize].travel > 0.0;
        let mut checks = self.collisions.check_groups.iter();
        (clock.tick / built - 1.0).abs() < SAME_CLOCK
            && (clock.time(now) - time).abs() <= clock.tick
            && now < FARTHEST
            && self.tau.iter().all(|tick| *tick <= now)
            && self.groups.list.iter().all(kick)
            && self.prescribed.iter().all(|l| due(l.next, FARTHEST))
            && checks.all(|c| if fast(c) { due(c.next, c.step) } else { in_rhythm(c) })
            && self.edges.check_groups.iter().all(in_rhythm)
            && due(self.window.1, self.window.0)
            && self.collisions.window.begin <= now
            && self.collisions.contactors.iter().all(|c| c.seen.1 <= now + 1)
    }
}
