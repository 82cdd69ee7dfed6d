//! Whole increments of Newton's method, with multipliers as unknowns.
//!
//! A spring that is fifty times stiffer than the elements has two bad habits. Its kink stops a line search that asks for smaller residuals: every step
//! ends at the next point that opens, closes or turns round. And it is not rigid, so the step is solved again and again with the last tractions as
//! multipliers. Here increments are taken whole, points keep in mind which way they slipped ([`Contact`]), and multipliers go along: with
//! the state of every point given, the increment that leaves no overlap, no rate and no slip of stick solves
//!
//! ```text
//! K δ = R + Bᵀ (t − λ),     λ ← t + T δ        t the tractions by springs beyond λ, T how they answer
//! ```
//!
//! a few times with the same factors, as rounds of augmentation would with new ones. Each leaves of what is loose about the share that elements have in the
//! stiffness of a spring, and costs a solution with factors that are there. Too few of them are dear: a block that should be held trembles and walks
//! downhill (two rounds, guide/velocity-update.md). **Two points that land on each other**, a node and one that it faces in a double pass, cannot both stick: their normals differ by an angle, their rates of slip by that times the rate of approach, and
//! multipliers would grow against each other in every round until one of them opens or slips. Shear that a round does not make smaller by half is left to springs
//! ([`Contact::take_up_jump`]). Multipliers wait until no point has changed its
//! state, or until residuals are small: multipliers of points that should be open would have to be undone. From then on they go along with every increment. Where whole increments find no end the line search is still
//! there (`augmentation.rs`).

use super::augmentation::TIGHT;
use super::equations::{CHUNK, Equations, Work};
use super::traction::{Contact, Last, Rebound, Traction, Uptake};
use crate::math::Vec3;
use crate::solve::sparse::FactorError;
use rayon::prelude::*;

/// Overlap and way of a step, of an edge, at which multipliers take up tractions a second time.
const ROUGH: f64 = 1e-4;
/// Increments that rounds are spread over: each begins nearer to the solution, and springs alone would need it as well.
const INCREMENTS: u32 = 2;

/// How often states may change after multipliers have begun, before these stay what they are in this step.
const RESTARTS: u32 = 2;

/// Residual, of forces, below which multipliers take up tractions though points still change their states.
pub(super) const NEARLY: f64 = 0.03;

/// How states of points go from iterate to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum States {
    /// They have none: tractions are functions of positions.
    Free,
    /// Points keep in mind which way they slipped, and multipliers take up tractions `left` times more: half of all `rounds` in each increment
    /// that finds no state changed.
    Kept { rounds: u32, left: u32 },
}

/// What a point does at an iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Status {
    #[default]
    Open,
    Sticks,
    Slips,
}

/// The facets that a point met in the middle of the step and at its end, and how often they have changed. Where the surface of the other body has
/// an edge, the answer of each side may lead to the other side, and back: who has gone there and back keeps the facets of that iterate in this step,
/// as if they had no end. Any facets keep momenta and energy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Met {
    facets: Option<[u32; 2]>,
    changes: u32,
}

/// There and back.
const CHANGES: u32 = 3;

impl Met {
    fn meet(&mut self, now: Option<[u32; 2]>, opened_or_closed: bool) {
        let other = now.is_some() && self.facets.is_some() && now != self.facets;
        self.changes += u32::from(other || opened_or_closed);
        self.facets = now.or(self.facets);
    }

    /// The facets it stays with.
    pub(super) fn kept(&self) -> Option<[u32; 2]> {
        self.facets.filter(|_| self.changes >= CHANGES)
    }
}

impl Equations<'_> {
    /// After points were looked at: what the next iterate is to know of this one.
    pub(super) fn remember(&mut self) {
        if self.states == States::Free {
            return;
        }
        let Work { near, contacts, status, met, multipliers, rebound, swing, .. } = &mut *self.work;
        let mut next = contacts.iter().peekable();
        let first = std::mem::replace(&mut self.fresh, false);
        self.changed = first;
        for &p in near.iter() {
            let contact = next.next_if(|c| c.point == p);
            let now = match contact {
                Some(c) if c.slips => Status::Slips,
                Some(_) => Status::Sticks,
                None => Status::Open,
            };
            let before = std::mem::replace(&mut status[p as usize], now);
            self.changed |= before != now;
            let turned = !first && (before == Status::Open) != (now == Status::Open);
            met[p as usize].meet(contact.map(|c| [c.middle.facet, c.end.facet]), turned);
            if turned && now == Status::Open && rebound[p as usize] != Rebound::default() {
                swing[p as usize].open(&mut rebound[p as usize]);
            }
            // who was pulled has no multiplier any more
            multipliers[p as usize].normal = multipliers[p as usize].normal.max(0.0);
        }
    }

    /// Tractions that the increment foresees.
    fn foresee(&mut self) {
        let Work { near, contacts, last, unknowns, increment, scheme, points, .. } = &mut *self.work;
        let soft = points.soft;
        let answer = |k: usize| if k < soft { unknowns.expand(k, increment) } else { Vec3::zeros() };
        let one = |c: &Contact| c.multiplier_with(c.change(*scheme, answer));
        let foreseen: Vec<_> = contacts.par_iter().with_min_len(CHUNK).map(one).collect();
        near.iter().for_each(|&p| last[p as usize] = Last::Open);
        for (contact, traction) in contacts.iter().zip(foreseen) {
            last[contact.point as usize] = Last::Foreseen(traction, contact.slips);
        }
    }

    /// Do all points agree with Coulomb's law, and have multipliers taken up what they may?
    pub(super) fn agrees(&self) -> bool {
        self.work.contacts.iter().all(|c| c.settled) && !self.rough()
    }

    /// Contacts are so loose that multipliers have to take up tractions: at all, and again where that has left them rough.
    fn rough(&self) -> bool {
        let States::Kept { rounds, left } = self.states else { return false };
        let enough = if left < rounds { ROUGH / TIGHT * self.tight } else { self.tight };
        left > 0 && self.work.loose(self.h) > enough
    }

    /// How often multipliers take up tractions in this increment: not at all where contacts are tight, nor where states have changed while residuals are large. Once
    /// begun they go on: what changes then are points that are nearly free, and the next iterate would find others if it saw springs again. Where states change again and again that is
    /// because of multipliers: with those that there are tractions are continuous functions of positions.
    fn rounds(&mut self) -> u32 {
        let States::Kept { rounds, left } = &mut self.states else { return 0 };
        if self.changed {
            let begun = *left < *rounds;
            self.restarts += u32::from(begun);
            // what was taken up before was for other states
            *left = if self.restarts > RESTARTS { 0 } else { *rounds };
            if !begun && self.relative > NEARLY {
                return 0;
            }
        }
        if *left == 0 || self.work.loose(self.h) <= self.tight {
            return 0;
        }
        let now = rounds.div_ceil(INCREMENTS).min(*left);
        *left -= now;
        now
    }

    /// Goes on from the increment of springs to that of contacts that are nearly rigid.
    pub(super) fn solve_for_multipliers(&mut self) -> Result<(), FactorError> {
        if self.states == States::Free {
            return Ok(());
        }
        self.foresee();
        let wider = self.foresee_rebound()?;
        let rounds = self.rounds();
        if rounds == 0 {
            return Ok(());
        }
        let work = &mut *self.work;
        let (scheme, soft) = (work.scheme, work.points.soft);
        let mut part = work.increment.clone();
        // tractions beyond those of this iterate, and beyond multipliers
        let mut on_top: Vec<_> =
            work.contacts.iter().zip(wider).map(|(c, w)| (0.0, c.friction_of(w))).collect();
        let mut jumps: Vec<_> = work.contacts.iter().map(|c| c.beyond_multiplier()).collect();
        let mut uptakes = vec![Uptake::default(); jumps.len()];
        for round in 1..=rounds {
            let answer = |k: usize| if k < soft { work.unknowns.expand(k, &part) } else { Vec3::zeros() };
            let all = work.contacts.iter().zip(&mut on_top).zip(&mut jumps).zip(&mut uptakes);
            for (((contact, top), jump), uptake) in all {
                let change = contact.change(scheme, answer);
                if round > 1 {
                    // the multiplier has taken up the last jump
                    add(top, contact.with_friction(uptake.last));
                }
                add(top, change);
                add(jump, change);
                contact.take_up_jump(*jump, uptake);
            }
            if round == rounds {
                break;
            }
            part.fill(0.0);
            for (contact, uptake) in work.contacts.iter().zip(&uptakes) {
                let forces = contact.forces_of(uptake.last);
                for (f, &k) in forces.iter().zip(&contact.middle.nodes[..contact.middle.count]) {
                    if (k as usize) < soft {
                        work.unknowns.add_to_unknowns(k as usize, f, &mut part);
                    }
                }
            }
            work.accuracy.solve(&mut work.system, &mut part)?;
            work.increment.iter_mut().zip(&part).for_each(|(x, d)| *x += d);
        }
        for (((contact, top), jump), uptake) in work.contacts.iter().zip(&on_top).zip(&jumps).zip(&uptakes) {
            let taken = uptake.last;
            work.last[contact.point as usize] = Last::Foreseen(contact.multiplier_with(*top), contact.slips);
            // springs keep what is not taken up
            let mut held = *top;
            add(&mut held, (taken.0 - jump.0, std::array::from_fn(|a| taken.1[a] - jump.1[a])));
            work.multipliers[contact.point as usize] = contact.multiplier_with(held);
        }
        self.foresee_rebound()?;
        Ok(())
    }
}

fn add(to: &mut Traction, by: Traction) {
    to.0 += by.0;
    (0..2).for_each(|a| to.1[a] += by.1[a]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point may go from facet to facet; one that has gone there and back twice stays. To open and to close counts too, to be away does not lose the facets.
    #[test]
    fn who_goes_there_and_back_keeps_its_facets() {
        let mut met = Met::default();
        for facets in [[1, 1], [1, 2], [1, 1]] {
            met.meet(Some(facets), false);
            assert_eq!(met.kept(), None);
        }
        met.meet(None, true);
        assert_eq!(met.kept(), Some([1, 1]));
        let mut still = Met::default();
        for _ in 0..20 {
            still.meet(Some([3, 4]), false);
        }
        assert_eq!(still.kept(), None);
    }
}
