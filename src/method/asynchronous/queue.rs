//! What happens next: a heap with four children per place.
//!
//! The order of events is total: by tick, then by key, so nothing depends on when an event was put in. A key holds
//! the kind of the event in its upper bits and a number below.

/// When, and what.
pub(crate) type Event = (u64, u32);

/// Kinds of events in the order in which they happen at one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// The end of a window: books are looked at.
    Window = 0,
    /// Led supports take up their next velocity.
    PrescribedGroup = 1,
    /// Elements, then loads: groups are numbered in this order.
    Kick = 2,
    /// A node looks for elements it is in.
    Node = 3,
    /// An edge looks for edges it has crossed.
    Edge = 4,
}

const BITS: u32 = 29;

pub(crate) fn key(kind: Kind, id: u32) -> u32 {
    (kind as u32) << BITS | id
}

pub(crate) fn kind_and_id(key: u32) -> (Kind, u32) {
    let kind = match key >> BITS {
        0 => Kind::Window,
        1 => Kind::PrescribedGroup,
        2 => Kind::Kick,
        3 => Kind::Node,
        _ => Kind::Edge,
    };
    (kind, key & ((1 << BITS) - 1))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    heap: Vec<Event>,
}

impl Queue {
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// The first event; after all others if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Event {
        self.heap.first().copied().unwrap_or((u64::MAX, u32::MAX))
    }

    pub(crate) fn push(&mut self, event: Event) {
        let mut at = self.heap.len();
        self.heap.push(event);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= event {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = event;
    }

    /// Puts `event` in the place of the first one: cheaper than taking that out and this in.
    #[inline]
    pub(crate) fn replace_first(&mut self, event: Event) {
        let (mut at, len) = (0, self.heap.len());
        loop {
            let children = 4 * at + 1;
            if children >= len {
                break;
            }
            let mut least = children;
            for child in children + 1..(children + 4).min(len) {
                if self.heap[child] < self.heap[least] {
                    least = child;
                }
            }
            if event <= self.heap[least] {
                break;
            }
            self.heap[at] = self.heap[least];
            at = least;
        }
        self.heap[at] = event;
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
        let mut events: Vec<Event> = (0..500).map(|i| (random() % 50, key(Kind::Node, i))).collect();
        let mut queue = Queue::default();
        events.iter().rev().for_each(|&e| queue.push(e));
        events.sort_unstable();
        // each comes once more, later, like a node that looks again and again
        let mut again: Vec<Event> = events.iter().map(|e| (e.0 + 7, e.1)).collect();
        let mut all = events.clone();
        all.append(&mut again);
        all.sort_unstable();
        let mut seen = Vec::new();
        while seen.len() < all.len() {
            let (tick, key) = queue.first();
            seen.push((tick, key));
            let second = seen.iter().filter(|e| e.1 == key).count() == 2;
            queue.replace_first((if second { u64::MAX } else { tick + 7 }, key));
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_key_holds_its_kind_and_number() {
        for kind in [Kind::Window, Kind::PrescribedGroup, Kind::Kick, Kind::Node, Kind::Edge] {
            assert_eq!(kind_and_id(key(kind, 123_456_789)), (kind, 123_456_789));
        }
        assert!(key(Kind::Kick, 77) < key(Kind::Node, 0));
    }
}
