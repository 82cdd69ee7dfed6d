//! Candidates of all pairs of bodies, list after list, in memory that is used again.

use super::{BodyPair, EARLY, ROUNDED};
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) count: u32,
}

impl Span {
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }
}

/// Candidates of one kind, list after list.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Way of its pair before which each cannot touch [m].
    pub(super) until: Vec<f32>,
    /// Node and target, or two edges.
    pub(super) of: Vec<[u32; 2]>,
    /// How many belong to somebody.
    pub(super) live: usize,
}

/// A length, not above it where it is positive.
#[inline(always)]
pub(super) fn single(length: f64) -> f32 {
    (length * (1.0 - ROUNDED)) as f32
}

/// The least of some ways; none is not a number.
#[inline(always)]
pub(super) fn soonest(until: &[f32]) -> f32 {
    until.iter().fold(f32::INFINITY, |least, &u| if u < least { u } else { least })
}

/// Room that is far more than for so many: bodies that go fast for an instant have long lists, and it is given back after that.
fn wasteful(needed: usize) -> usize {
    6 * needed + 4096
}

pub(super) fn release<T>(list: &mut Vec<T>, needed: usize) {
    if list.capacity() > wasteful(needed) {
        list.shrink_to(2 * needed);
    }
}

impl Candidates {
    pub(super) fn clear(&mut self) {
        self.until.clear();
        self.of.clear();
        self.live = 0;
    }

    pub(super) fn push(&mut self, distance: f64, of: [u32; 2]) {
        self.until.push(single((distance / EARLY).max(0.0)));
        self.of.push(of);
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<f32>() * self.until.capacity() + size_of::<[u32; 2]>() * self.of.capacity()
    }

    /// Has it far more room than lists?
    pub(super) fn is_too_large(&self) -> bool {
        self.of.capacity() > wasteful(self.live + self.live / 4)
    }

    /// Empties it, and gives room back that is far more than for so many.
    pub(super) fn release(&mut self, needed: usize) {
        self.until.clear();
        self.of.clear();
        release(&mut self.until, needed);
        release(&mut self.of, needed);
    }

    /// Moves lists together, so that there is room for so many new ones, and some.
    pub(super) fn close_ranks(
        &mut self,
        kind: usize,
        pairs: &mut [BodyPair],
        order: &mut Vec<u32>,
        new: usize,
    ) {
        order.clear();
        order.extend(0..pairs.len() as u32);
        order.sort_unstable_by_key(|&p| pairs[p as usize].lists[kind].start);
        let mut free = 0;
        for &p in order.iter() {
            let list = &mut pairs[p as usize].lists[kind];
            self.until.copy_within(list.range(), free);
            self.of.copy_within(list.range(), free);
            list.start = free as u32;
            free += list.count as usize;
        }
        self.until.truncate(free);
        self.of.truncate(free);
        // a few looks shall pass before the next time
        let enough = (free + new) + (free + new) / 4;
        release(&mut self.until, enough);
        release(&mut self.of, enough);
        self.until.reserve_exact(enough - free);
        self.of.reserve_exact(enough - free);
    }
}
