//! The active set: contacts that press, or would close.
//!
//! Of all contacts within reach of a step few press. The others stand by, but through the nodes they share nearly everything in a pile
//! hangs together, and each of them would be asked in every sweep of its slowest part. So sweeps go over the active set alone:
//!
//! ```text
//! at first    contacts with a guess, and those with u_n + s < 0 for free velocities
//! then        those with u_n + s < 0 for the velocities that were found join; islands they belong to are swept over again
//! ```
//!
//! until nobody joins. Nobody leaves during a solve, so that it ends. Who is left out has no force and does not close: a sweep over the
//! whole list would change nothing there.

use super::order::{NONE, Order};
use super::sweep::{Island, Outcome, STRETCH, Shared};
use super::{Contact, Extent};
use crate::math::Vec3;
use rayon::prelude::*;

/// Stands for a contact that joins and has no place yet.
const JOINS: u32 = NONE - 1;

#[derive(Debug, Default)]
pub(super) struct Active {
    /// Contacts of the list, those that were there at first in its order, then those that joined.
    pub set: Vec<u32>,
    /// Place of each contact of the list in the set, or none.
    pub place: Vec<u32>,
    /// How many of the set were there when islands were solved last, the island of each of them then, and how it was solved.
    solved: usize,
    islands: Vec<u32>,
    outcomes: Vec<Outcome>,
}

impl Contact {
    /// Would it be nearer than it may with these velocities? What is no number closes nothing.
    #[inline]
    fn closes(&self, v: impl Fn(usize) -> Vec3) -> bool {
        let u = self.points().fold(-self.outer, |u, (k, c)| u + c * v(k));
        self.normal.dot(&u) + self.velocity_bias < 0.0
    }
}

impl Active {
    /// The set at first, with `free` velocities.
    pub(super) fn begin(&mut self, list: &mut [Contact], free: &[Vec3]) {
        self.set.clear();
        self.solved = 0;
        self.place.resize(list.len(), NONE);
        let all = list.par_iter_mut().zip(&mut self.place).with_min_len(STRETCH);
        all.for_each(|(contact, place)| {
            contact.settled = true;
            let takes_part = contact.force != Vec3::zeros() || contact.closes(|k| free[k]);
            *place = if takes_part { JOINS } else { NONE };
        });
        self.take_in();
    }

    /// Lets those join that close with the velocities `v` of the nodes in `order`; those of others are free. Did anybody?
    pub(super) fn join(
        &mut self,
        list: &[Contact],
        order: &Order,
        islands: &[Island],
        v: &[Shared],
        free: &[Vec3],
    ) -> bool {
        let moved = &v[..order.still];
        let velocity = |k: usize| moved.get(order.place[k] as usize).map_or_else(|| free[k], Shared::get);
        let others = list.par_iter().zip(&mut self.place).with_min_len(STRETCH);
        others.filter(|(_, place)| **place == NONE).for_each(|(contact, place)| {
            if contact.closes(velocity) {
                *place = JOINS;
            }
        });
        self.solved = self.set.len();
        self.take_in();
        if self.set.len() == self.solved {
            return false;
        }
        self.islands.clear();
        self.islands.extend(order.placements.iter().map(|p| p.island));
        self.outcomes.clear();
        self.outcomes.extend(islands.iter().map(|i| i.outcome));
        true
    }

    fn take_in(&mut self) {
        for (i, place) in self.place.iter_mut().enumerate().filter(|p| *p.1 == JOINS) {
            *place = self.set.len() as u32;
            self.set.push(i as u32);
        }
    }

    /// How an island was solved that nobody has joined since.
    pub(super) fn outcome(&self, order: &Order, extent: &Extent) -> Option<Outcome> {
        let members = &order.contacts[extent.rows.clone()];
        let joined = members.iter().any(|&place| place as usize >= self.solved);
        (!joined).then(|| self.outcomes[self.islands[members[0] as usize] as usize])
    }
}
