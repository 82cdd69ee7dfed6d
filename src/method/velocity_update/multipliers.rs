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
//! downhill (two rounds, guide/velocity-update.md). Multipliers wait for an iterate at which no point has changed its
//! state: multipliers of points that should be open would have to be undone. Where whole increments find no end the line search is still
//! there (`augmentation.rs`).

use super::augmentation::TIGHT;
use super::equations::{Equations, Work};
use crate::math::Vec3;
use crate::solve::sparse::FactorError;

/// Overlap and way of a step, of an edge, at which multipliers take up tractions a second time.
const ROUGH: f64 = 1e-4;

/// How states of points go from iterate to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum States {
    /// They have none: tractions are functions of positions.
    Free,
    /// Points keep in mind which way they slipped, and multipliers take up tractions so many times: half of them in the first increment
    /// that finds no state changed, the others `again` in one that finds contacts rough after that.
    Kept { rounds: u32, again: bool },
    /// The same when that is done.
    Done,
}

/// What a point does at an iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum State {
    #[default]
    Open,
    Sticks,
    /// Along this direction.
    Slips(Vec3),
}

impl State {
    /// The direction of slip, zero without.
    pub(super) fn slid(&self) -> Vec3 {
        match self {
            State::Slips(along) => *along,
            _ => Vec3::zeros(),
        }
    }
}

impl Equations<'_> {
    /// After points were looked at: what the next iterate is to know of this one.
    pub(super) fn remember(&mut self) {
        if self.states == States::Free {
            return;
        }
        let Work { near, contacts, of_point, multipliers, .. } = &mut *self.work;
        let mut next = contacts.iter().peekable();
        self.changed = std::mem::replace(&mut self.fresh, false);
        for &p in near.iter() {
            let now = match next.next_if(|c| c.point == p) {
                Some(c) if c.slips => State::Slips(c.shear_vector().normalize()),
                Some(_) => State::Sticks,
                None => State::Open,
            };
            let of_point = &mut of_point[p as usize];
            self.changed |= std::mem::discriminant(of_point) != std::mem::discriminant(&now);
            *of_point = now;
            // who was pulled has no multiplier any more
            multipliers[p as usize].normal = multipliers[p as usize].normal.max(0.0);
        }
    }

    /// Do all points agree with Coulomb's law, and have multipliers taken up what they may?
    pub(super) fn agrees(&self) -> bool {
        self.work.contacts.iter().all(|c| c.settled) && self.rounds().is_none()
    }

    /// How often multipliers should take up tractions now; none if contacts are tight enough.
    fn rounds(&self) -> Option<u32> {
        let States::Kept { rounds, again } = self.states else { return None };
        let enough = if again { ROUGH / TIGHT * self.tight } else { self.tight };
        let rounds = if again { rounds / 2 } else { rounds.div_ceil(2) };
        (rounds > 0 && self.work.loose(self.h) > enough).then_some(rounds)
    }

    /// Goes on from the increment of springs to that of contacts that are nearly rigid.
    pub(super) fn solve_for_multipliers(&mut self) -> Result<(), FactorError> {
        let Some(rounds) = self.rounds().filter(|_| !self.changed) else { return Ok(()) };
        self.states = match self.states {
            States::Kept { rounds, again: false } => States::Kept { rounds, again: true },
            _ => States::Done,
        };
        let work = &mut *self.work;
        let (scheme, soft) = (work.scheme, work.points.soft);
        let mut part = work.increment.clone();
        // tractions beyond those of this iterate, and beyond multipliers
        let mut on_top = vec![(0.0, [0.0; 2]); work.contacts.len()];
        let mut jumps: Vec<_> = work.contacts.iter().map(|c| c.beyond_multiplier()).collect();
        for round in 1..=rounds {
            let answer = |k: usize| if k < soft { work.unknowns.expand(k, &part) } else { Vec3::zeros() };
            for ((contact, top), jump) in work.contacts.iter().zip(&mut on_top).zip(&mut jumps) {
                let change = contact.change(scheme, answer);
                if round > 1 {
                    // the multiplier has taken up the last jump
                    add(top, contact.with_friction(*jump));
                }
                add(top, change);
                add(jump, change);
            }
            if round == rounds {
                break;
            }
            part.fill(0.0);
            for (contact, jump) in work.contacts.iter().zip(&jumps) {
                let forces = contact.forces_of(*jump);
                for (f, &k) in forces.iter().zip(&contact.middle.nodes[..contact.middle.count]) {
                    if (k as usize) < soft {
                        work.unknowns.add_to_unknowns(k as usize, f, &mut part);
                    }
                }
            }
            work.system.solve(&mut part)?;
            work.increment.iter_mut().zip(&part).for_each(|(x, d)| *x += d);
        }
        for (contact, top) in work.contacts.iter().zip(&on_top) {
            work.multipliers[contact.point as usize] = contact.multiplier_with(*top);
        }
        Ok(())
    }
}

fn add(to: &mut (f64, [f64; 2]), by: (f64, [f64; 2])) {
    to.0 += by.0;
    (0..2).for_each(|a| to.1[a] += by.1[a]);
}
