//! Who meets whom during a step: nodes and edges that move on straight lines from one configuration to
//! the next.
//!
//! Two convex features touch when the hull of the differences of their corners, `rⱼ(t)`, reaches the origin:
//!
//! | touch         | corners of the difference              |
//! |---------------|----------------------------------------|
//! | node–node     | p − a                                  |
//! | node–segment  | p − a, p − b                           |
//! | node–triangle | p − a, p − b, p − c                    |
//! | edge–edge     | a − c, b − c, a − d, b − d             |
//!
//! For any unit vector n the distance is at least `min n·rⱼ(t)`, and each `n·rⱼ(t)` is linear in t. So a
//! direction that parts two features now certifies a whole stretch of time ahead, and at its end the next
//! direction is taken from the closest points there: conservative advancement (Li et al. 2021), with the
//! speed of approach along n in place of the sum of the largest nodal displacements, which it never exceeds.
//!
//! **No false negatives.** `None` means that every instant is covered by a certificate evaluated on the given
//! positions, with a margin for all round-off; closest points only propose directions. Every doubt, including
//! values that are not numbers, ends in `Some`.
//!
//! A time is a share of the step, in [0, 1]. Contact is distance ≤ `min_separation` and counts at both ends:
//! features that touch at the start meet at 0, wherever they go. Read by the crossings of a step and by
//! `guard`; `inclusion` decides the cases that this filter leaves open.

use super::closest_point::{edge_edge as nearest_on_edges, seg2, tri3};
use crate::math::Vec3;

/// A point that moves on a straight line during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    pub from: Vec3,
    pub to: Vec3,
}

impl Path {
    /// Position at the share `t` of the step.
    #[inline]
    pub fn at(&self, t: f64) -> Vec3 {
        self.from + t * (self.to - self.from)
    }
}

/// What counts as contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Distance that counts as contact [m]: the thickness of shells, else 0.
    pub min_separation: f64,
    /// Share of the initial gap that is left at the reported time, at least by half. A pair that comes
    /// nearer than this without touching is reported too.
    pub keep: f64,
}

impl Default for Sweep {
    fn default() -> Sweep {
        Sweep { min_separation: 0.0, keep: 0.1 }
    }
}

/// Conservative time at which node `p` meets the triangle `a b c`; `None` if it surely does not.
#[inline]
pub fn node_triangle(p: &Path, corners: [&Path; 3], sweep: &Sweep) -> Option<f64> {
    sweep.filter(&Differences::node(p, corners), nearest_of_triangle)
}

/// Conservative time at which the edge `a b` meets the edge `c d`.
#[inline]
pub fn edge_edge(ab: [&Path; 2], cd: [&Path; 2], sweep: &Sweep) -> Option<f64> {
    sweep.filter(&Differences::edges(ab, cd), nearest_of_parallelogram)
}

impl Sweep {
    #[inline]
    pub(super) fn filter<const K: usize>(
        &self,
        motion: &Differences<K>,
        nearest: impl Fn(&[Vec3; K]) -> Vec3,
    ) -> Option<f64> {
        let goal = Goal { min_separation: self.min_separation, keep: self.keep, near: 0.0 };
        match advance(motion, 0.0, &goal, nearest) {
            Outcome::Parted => None,
            Outcome::Near(t) | Outcome::Open(t) => Some(t),
        }
    }
}

/// Corners of the difference of two features, at the start and at the end of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Differences<const K: usize> {
    pub from: [Vec3; K],
    pub to: [Vec3; K],
}

impl<const K: usize> Differences<K> {
    #[inline]
    pub(crate) fn node(p: &Path, corners: [&Path; K]) -> Differences<K> {
        Differences { from: corners.map(|a| p.from - a.from), to: corners.map(|a| p.to - a.to) }
    }

    /// The box of all differences.
    #[inline]
    fn bounds(&self) -> [Vec3; 2] {
        let (mut lo, mut hi) = (self.from[0].inf(&self.to[0]), self.from[0].sup(&self.to[0]));
        for k in 1..K {
            lo = lo.inf(&self.from[k].inf(&self.to[k]));
            hi = hi.sup(&self.from[k].sup(&self.to[k]));
        }
        [lo, hi]
    }

    /// Minima and maxima pass over what is not a number; a sum does not.
    #[inline]
    fn is_finite(&self) -> bool {
        let sum = |r: &[Vec3; K]| r.iter().fold(0.0, |sum, r| sum + r.sum());
        (sum(&self.from) + sum(&self.to)).is_finite()
    }

    /// Does an axis show that the features stay farther apart than `separation`?
    #[inline]
    pub(crate) fn parted(&self, separation: f64) -> bool {
        let [lo, hi] = self.bounds();
        let contact = separation + margin(&lo, &hi, separation);
        self.is_finite() && (lo.max() > contact || hi.min() < -contact)
    }

    /// What the features stay apart at least, as the axes and one more direction show [m]; no less than zero.
    #[inline]
    pub(crate) fn apart(&self, direction: &Vec3) -> f64 {
        let [lo, hi] = self.bounds();
        let n = direction / direction.norm();
        let along = self.from.iter().chain(&self.to).fold(f64::INFINITY, |least, r| least.min(n.dot(r)));
        let along = if n.sum().is_finite() { along } else { 0.0 };
        let apart = along.max(lo.max()).max(-hi.min()) - margin(&lo, &hi, 0.0);
        if self.is_finite() { apart.max(0.0) } else { 0.0 }
    }

    #[inline]
    fn at(&self, t: f64) -> [Vec3; K] {
        std::array::from_fn(|k| self.from[k] + t * (self.to[k] - self.from[k]))
    }
}

impl Differences<4> {
    #[inline]
    pub(crate) fn edges([a, b]: [&Path; 2], [c, d]: [&Path; 2]) -> Differences<4> {
        let pairs = [(a, c), (b, c), (a, d), (b, d)];
        Differences { from: pairs.map(|(p, q)| p.from - q.from), to: pairs.map(|(p, q)| p.to - q.to) }
    }
}

#[inline]
pub(super) fn nearest_of_segment(r: &[Vec3; 2]) -> Vec3 {
    seg2(&Vec3::zeros(), &r[0], &r[1]).point
}

#[inline]
pub(super) fn nearest_of_triangle(r: &[Vec3; 3]) -> Vec3 {
    tri3(&Vec3::zeros(), &r[0], &r[1], &r[2]).point
}

#[inline]
pub(super) fn nearest_of_parallelogram(r: &[Vec3; 4]) -> Vec3 {
    let found = nearest_on_edges(&r[0], &r[1], &Vec3::zeros(), &(r[0] - r[2]));
    found.p - found.q
}

/// Round-off of a certificate in units of the largest coordinate difference. Subtraction, scalar product,
/// length of the direction, interpolation and the time stepped to add up to less than 50 half-ulps; this is 128.
const MARGIN: f64 = 64.0 * f64::EPSILON;

/// Directions tried before a pair is reported undecided, which is to say: as an impact. Grazing motions need
/// tens, others three to five.
const DIRECTIONS: usize = 200;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub min_separation: f64,
    /// Stop when this share of the gap is left,
    pub keep: f64,
    /// or when the gap is smaller than this, relative to the largest difference of coordinates.
    pub near: f64,
}

/// How it ended. Up to the time that is given, no contact: certified.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// No contact up to the end.
    Parted,
    /// As near as the goal says.
    Near(f64),
    /// Out of directions.
    Open(f64),
}

/// Certifies stretch after stretch of the step, from the time `after` on.
#[inline]
pub(super) fn advance<const K: usize>(
    motion: &Differences<K>,
    after: f64,
    goal: &Goal,
    nearest: impl Fn(&[Vec3; K]) -> Vec3,
) -> Outcome {
    // The axes first: the boxes of both ends, seen from the other feature.
    let [lo, hi] = motion.bounds();
    let contact = goal.min_separation + margin(&lo, &hi, goal.min_separation);
    if !motion.is_finite() {
        return Outcome::Near(0.0);
    }
    if lo.max() > contact || hi.min() < -contact {
        return Outcome::Parted;
    }

    let mut t = after;
    let (mut target, mut stop) = (contact, contact);
    for trial in 0..DIRECTIONS {
        let m = nearest(&motion.at(t));
        let n = m / m.norm();
        let (mut now, mut end) = ([0.0; K], [0.0; K]);
        let (mut least_now, mut least_end) = (f64::INFINITY, f64::INFINITY);
        for k in 0..K {
            let from = n.dot(&motion.from[k]);
            end[k] = n.dot(&motion.to[k]);
            now[k] = from + t * (end[k] - from);
            least_now = least_now.min(now[k]);
            least_end = least_end.min(end[k]);
        }
        // A length that overflows or vanishes makes n useless, not wrong.
        let parted = least_now > stop && n.sum().is_finite();
        if !parted {
            return Outcome::Near(t);
        }
        if least_end > contact {
            return Outcome::Parted;
        }
        if trial == 0 {
            let left = (goal.keep * (least_now - contact)).max(goal.near * hi.amax().max(lo.amax()));
            (target, stop) = (contact + 0.5 * left, contact + left);
            if least_now <= stop {
                return Outcome::Near(t);
            }
        }
        let mut share = 1.0f64;
        for k in 0..K {
            if end[k] < target {
                share = share.min((now[k] - target) / (now[k] - end[k]));
            }
        }
        t += (1.0 - t) * share;
    }
    Outcome::Open(t)
}

/// What all round-off of a certificate is less than, for differences within `lo … hi`.
#[inline]
pub(super) fn margin(lo: &Vec3, hi: &Vec3, min_separation: f64) -> f64 {
    MARGIN * (hi.amax().max(lo.amax()) + min_separation) + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests;
