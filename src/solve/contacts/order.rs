//! In which order contacts are gone through: islands, and colours in them.
//!
//! ```text
//! island   contacts that hang together by nodes that can move; counted in the order of their first contacts
//! colour   contacts of an island no two of which share such a node; greedy, in the order of the active set
//! ```
//!
//! Contacts in their order are sorted by (island, colour, place in the active set), and so are the nodes by island: what is swept
//! over together lies together in memory. All of it is one pass over the set and counting, and only when contacts come or go.

use super::{Contact, Inertia, POINTS};
use crate::math::sets::Sets;
use rayon::prelude::*;
use std::ops::Range;

/// Colours that a node remembers one by one; what comes later is counted up.
const REMEMBERED: u32 = 128;
pub(super) const NONE: u32 = u32::MAX;
/// Contacts that one thread compares at a stretch.
const COMPARED: usize = 1024;

/// Where a contact belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Its island, or none if nobody can move.
    pub island: u32,
    colour: u32,
    /// Its place in the order.
    pub row: u32,
}

/// Contacts by their places in the active set.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Of each contact of the active set.
    pub placements: Vec<Placement>,
    /// Contacts in their order.
    pub contacts: Vec<u32>,
    /// Ends of colours among these, island after island.
    pub colours: Vec<usize>,
    pub islands: Vec<Extent>,
    /// Nodes of contacts, island after island; who cannot move comes last, from `still` on.
    pub nodes: Vec<u32>,
    pub still: usize,
    /// Place of each node among these.
    pub place: Vec<u32>,
    /// Of these nodes: who they hang together with, colours that are taken, and the next one beyond those.
    together: Sets,
    taken: Vec<(u128, u32)>,
    island_of: Vec<u32>,
    next: Vec<u32>,
    next_of_colour: Vec<u32>,
    scratch: Vec<u32>,
    /// What the order was found for: nodes of contacts and those that cannot move.
    known: Vec<([u32; POINTS], u8)>,
    known_fixed: u64,
}

/// What belongs to an island.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    /// Its contacts in their order.
    pub rows: Range<usize>,
    /// Its colours and its nodes among those of all.
    pub colours: Range<usize>,
    pub nodes: Range<usize>,
}

impl Order {
    /// Finds the order of the `active` ones of `list`, whose nodes are fewer than `nodes`. As long as the same nodes touch it stays.
    pub(crate) fn find(&mut self, list: &[Contact], active: &[u32], inertia: &Inertia, nodes: usize) {
        let same = |(&i, known): (&u32, &([u32; POINTS], u8))| {
            let contact = &list[i as usize];
            (contact.nodes, contact.count) == *known
        };
        let pairs = active.par_iter().zip(&self.known).with_min_len(COMPARED);
        let as_before = active.len() == self.known.len() && inertia.which_fixed == self.known_fixed;
        if as_before && self.place.len() >= nodes && pairs.all(same) {
            return;
        }
        for &node in &self.nodes {
            self.place[node as usize] = NONE;
        }
        let chosen = || active.iter().map(|&i| &list[i as usize]);
        self.known.clear();
        self.known.extend(chosen().map(|c| (c.nodes, c.count)));
        self.known_fixed = inertia.which_fixed;
        self.hang_together(chosen(), inertia, nodes);
        self.count_islands();
        self.sort_contacts();
        self.sort_nodes();
    }

    /// Nodes as they come, joined by contacts; colours. Until islands are counted a contact's is its first node.
    fn hang_together<'a>(
        &mut self,
        active: impl Iterator<Item = &'a Contact>,
        inertia: &Inertia,
        nodes: usize,
    ) {
        let Order { placements, nodes: touched, place, together, taken, .. } = self;
        place.resize(nodes, NONE);
        placements.clear();
        touched.clear();
        together.reset(0);
        taken.clear();
        for contact in active {
            let mut first = NONE;
            let (mut used, mut next) = (0u128, REMEMBERED);
            for (k, _) in contact.points() {
                if place[k] == NONE {
                    place[k] = together.push();
                    taken.push((0, REMEMBERED));
                    touched.push(k as u32);
                }
                if inertia.fixed(k) {
                    continue;
                }
                let at = place[k];
                used |= taken[at as usize].0;
                next = next.max(taken[at as usize].1);
                if first == NONE {
                    first = at;
                } else {
                    together.join(first, at);
                }
            }
            let free = used.trailing_ones();
            let colour = if free < REMEMBERED { free } else { next };
            for (k, _) in contact.points().filter(|p| !inertia.fixed(p.0)) {
                let taken = &mut taken[place[k] as usize];
                if colour < REMEMBERED {
                    taken.0 |= 1 << colour;
                } else {
                    taken.1 = colour + 1;
                }
            }
            placements.push(Placement { island: first, colour, row: NONE });
        }
    }

    fn count_islands(&mut self) {
        let Order { placements, together, island_of, next, .. } = self;
        island_of.clear();
        island_of.resize(together.len(), NONE);
        next.clear();
        for placement in placements.iter_mut().filter(|s| s.island != NONE) {
            let island = &mut island_of[together.find(placement.island) as usize];
            if *island == NONE {
                *island = next.len() as u32;
                next.push(0);
            }
            placement.island = *island;
            next[*island as usize] += 1;
        }
    }

    /// By colour, then by island, each time keeping the order there was.
    fn sort_contacts(&mut self) {
        let Order { placements, contacts, colours, islands, next, next_of_colour, scratch, .. } = self;
        next_of_colour.clear();
        for placement in placements.iter() {
            if next_of_colour.len() <= placement.colour as usize {
                next_of_colour.resize(placement.colour as usize + 1, 0);
            }
            next_of_colour[placement.colour as usize] += 1;
        }
        begin_of_each(next_of_colour);
        scratch.clear();
        scratch.resize(placements.len(), NONE);
        for (i, placement) in placements.iter().enumerate() {
            let to = &mut next_of_colour[placement.colour as usize];
            scratch[*to as usize] = i as u32;
            *to += 1;
        }
        let count = begin_of_each(next);
        contacts.clear();
        contacts.resize(count, NONE);
        for &i in scratch.iter() {
            let placement = &mut placements[i as usize];
            if let Some(to) = next.get_mut(placement.island as usize) {
                contacts[*to as usize] = i;
                placement.row = *to;
                *to += 1;
            }
        }
        colours.clear();
        islands.clear();
        let mut from = 0;
        for &end in next.iter() {
            let (rows, begin) = (from..end as usize, colours.len());
            for row in rows.clone() {
                let colour = |row: usize| placements[contacts[row] as usize].colour;
                if row + 1 == rows.end || colour(row + 1) != colour(row) {
                    colours.push(row + 1);
                }
            }
            from = rows.end;
            islands.push(Extent { rows, colours: begin..colours.len(), nodes: 0..0 });
        }
    }

    fn sort_nodes(&mut self) {
        let Order { nodes, place, together, island_of, next, scratch, islands, still, .. } = self;
        next.clear();
        next.resize(islands.len() + 1, 0);
        let count = islands.len();
        let bucket = |at: usize| (island_of[together.lowest(at as u32) as usize] as usize).min(count);
        for at in 0..nodes.len() {
            next[bucket(at)] += 1;
        }
        begin_of_each(next);
        scratch.clear();
        scratch.resize(nodes.len(), NONE);
        for (at, &node) in nodes.iter().enumerate() {
            let to = &mut next[bucket(at)];
            scratch[*to as usize] = node;
            place[node as usize] = *to;
            *to += 1;
        }
        std::mem::swap(nodes, scratch);
        *still = 0;
        for (island, &end) in islands.iter_mut().zip(next.iter()) {
            island.nodes = *still..end as usize;
            *still = end as usize;
        }
    }
}

/// From counts to where each begins; returns their sum.
fn begin_of_each(counts: &mut [u32]) -> usize {
    let mut sum = 0;
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
    sum as usize
}
