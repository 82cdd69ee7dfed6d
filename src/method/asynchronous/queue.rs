//! What happens next.
//!
//! The order of events is total: by tick, then by kind, then by number, so nothing depends on when an event was put in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When, and what: the number counts among those of its kind.
pub(crate) type Event = (u64, Kind, u32);

/// Kinds of events in the order in which they happen at one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The end of a window: books are looked at.
    Window,
    /// Led supports take up their next velocity.
    PrescribedGroup,
    /// Elements, then loads: groups are numbered in this order.
    Kick,
    /// A node looks for elements it is in.
    Node,
    /// An edge looks for edges it has crossed.
    Edge,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<Event>>,
}

impl Queue {
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// The first event; after all others if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Event {
        self.heap.peek().map_or((u64::MAX, Kind::Edge, u32::MAX), |first| first.0)
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.heap.push(Reverse(event));
    }

    /// Puts `event` in the place of the first one: cheaper than taking that out and this in.
    #[inline]
    pub(crate) fn replace_first(&mut self, event: Event) {
        if let Some(mut first) = self.heap.peek_mut() {
            *first = Reverse(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_whatever_the_order_they_were_put_in() {
        let mut seed = 5u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 40
        };
        let mut events: Vec<Event> = (0..500).map(|i| (random() % 50, Kind::Node, i)).collect();
        let mut queue = Queue::default();
        events.iter().rev().for_each(|&e| queue.push(e));
        events.sort_unstable();
        // each comes once more, later, like a node that looks again and again
        let mut again: Vec<Event> = events.iter().map(|e| (e.0 + 7, e.1, e.2)).collect();
        let mut all = events.clone();
        all.append(&mut again);
        all.sort_unstable();
        let mut seen = Vec::new();
        while seen.len() < all.len() {
            let (tick, kind, id) = queue.first();
            seen.push((tick, kind, id));
            let second = seen.iter().filter(|e| e.2 == id).count() == 2;
            queue.replace_first((if second { u64::MAX } else { tick + 7 }, kind, id));
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn at_one_tick_kicks_come_before_looks_whatever_their_numbers() {
        let mut queue = Queue::default();
        [(5, Kind::Edge, 0), (5, Kind::Node, 1), (5, Kind::Kick, 77), (5, Kind::Window, 9)]
            .into_iter()
            .for_each(|e| queue.push(e));
        for kind in [Kind::Window, Kind::Kick, Kind::Node, Kind::Edge] {
            assert_eq!(queue.first().1, kind);
            queue.replace_first((6, kind, 0));
        }
    }
}
