//! Decides what `swept` leaves open: an inclusion test on boxes of (time, place on the features).
//!
//! The difference of two features is multilinear in the share t of the step and two parameters,
//!
//! ```text
//! F(t, u, v) = (1−u)(1−v) c₀₀(t) + u(1−v) c₁₀(t) + (1−u)v c₀₁(t) + uv c₁₁(t)
//! ```
//!
//! with `u + v ≤ 1` for a triangle, the unit square for two edges, v idle for a segment. Over a box of
//! (t, u, v) its values lie in the hull of the eight corner values; a box whose hull, widened by the
//! contact distance and by all round-off, misses the origin along an axis holds no contact. Others are
//! halved until the hull is smaller than the tolerance, which is then called contact (Snyder 1992;
//! Wang et al. 2021).
//!
//! **Conservative.** `Clear` is a proof. `Impact` means nearer than the tolerance, or undecided after
//! `max_boxes`; its time is never later than the first contact. The certificate shares nothing with that
//! of `swept` but the differences of coordinates, so each is the other's oracle.

use super::swept::{self, Differences, Goal, Outcome, Path, Sweep, margin};
use crate::math::Vec3;

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inclusion {
    /// Distance that counts as contact [m].
    pub min_separation: f64,
    /// Extent of a hull around the origin that is called contact, relative to the largest difference of
    /// coordinates in the query.
    pub tolerance: f64,
    /// Boxes looked at before an open question is answered with `Impact`.
    pub max_boxes: u32,
    /// Ask for the first instant, not only for yes or no.
    pub earliest: bool,
}

impl Default for Inclusion {
    fn default() -> Inclusion {
        Inclusion { min_separation: 0.0, tolerance: 1e-9, max_boxes: 4096, earliest: false }
    }
}

/// The answer of the certifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// No contact at any time: proven.
    Clear,
    Impact {
        /// A time (share of the step) not later than the first contact.
        t: f64,
        /// A place nearer than the tolerance was found; `false` if the boxes ran out before.
        found: bool,
    },
}

impl Inclusion {
    /// Does node `p` meet the triangle `a b c` at or after the share `after` of the step?
    pub fn node_triangle(&self, p: &Path, corners: [&Path; 3], after: f64) -> Verdict {
        let Differences { from, to } = Differences::node(p, corners);
        self.decide(&of_triangle(from), &of_triangle(to), true, after)
    }

    /// Does the edge `a b` meet the edge `c d` at or after `after`?
    pub fn edge_edge(&self, ab: [&Path; 2], cd: [&Path; 2], after: f64) -> Verdict {
        let Differences { from, to } = Differences::edges(ab, cd);
        self.decide(&from, &to, false, after)
    }

    fn decide(&self, from: &[Vec3; 4], to: &[Vec3; 4], triangle: bool, after: f64) -> Verdict {
        let (mut lo, mut hi, mut sum) = (from[0], from[0], Vec3::zeros());
        for c in from.iter().chain(to) {
            lo = lo.inf(c);
            hi = hi.sup(c);
            sum += c;
        }
        if !sum.sum().is_finite() {
            return Verdict::Impact { t: 0.0, found: false };
        }
        let contact = self.min_separation + margin(&lo, &hi, self.min_separation);
        let small = self.tolerance * hi.amax().max(lo.amax());

        let mut stack = Stack::new(Cell { lo: [after, 0.0, 0.0], hi: [1.0, 1.0, 1.0] });
        let mut first = f64::INFINITY;
        let mut boxes = 0;
        while let Some(cell) = stack.pop() {
            if cell.lo[0] >= first || (triangle && cell.lo[1] + cell.lo[2] > 1.0) {
                continue;
            }
            boxes += 1;
            if boxes > self.max_boxes {
                let t = stack.earliest().min(cell.lo[0]).min(first);
                return Verdict::Impact { t, found: first < f64::INFINITY };
            }
            let (hull, extent) = cell.hull(from, to);
            // Written so that only numbers can prove anything.
            if (0..3).any(|i| hull.0[i] > contact || hull.1[i] < -contact) {
                continue;
            }
            let widest = (0..3).fold(0, |w, i| if extent[i] > extent[w] { i } else { w });
            if (hull.1 - hull.0).max() <= small || !stack.split(&cell, widest) {
                first = cell.lo[0];
                if !self.earliest {
                    return Verdict::Impact { t: stack.earliest().min(first), found: true };
                }
            }
        }
        if first < f64::INFINITY { Verdict::Impact { t: first, found: true } } else { Verdict::Clear }
    }
}

/// Corners c₀₀, c₁₀, c₀₁ and c₁₁ of the parallelogram whose half is a triangle.
fn of_triangle([a, b, c]: [Vec3; 3]) -> [Vec3; 4] {
    [a, b, c, b + (c - a)]
}

/// A box of (t, u, v).
#[derive(Clone, Copy)]
struct Cell {
    lo: [f64; 3],
    hi: [f64; 3],
}

impl Cell {
    /// Hull of the eight corner values, and how much they vary along t, u and v.
    fn hull(&self, from: &[Vec3; 4], to: &[Vec3; 4]) -> ((Vec3, Vec3), [f64; 3]) {
        let [_, u0, v0] = self.lo;
        let [_, u1, v1] = self.hi;
        let mix = |a: &Vec3, b: &Vec3, s: f64| a + s * (b - a);
        let face = |t: f64| {
            let c: [Vec3; 4] = std::array::from_fn(|k| mix(&from[k], &to[k], t));
            let (left0, left1) = (mix(&c[0], &c[1], u0), mix(&c[0], &c[1], u1));
            let (right0, right1) = (mix(&c[2], &c[3], u0), mix(&c[2], &c[3], u1));
            // Corners (u0,v0) (u1,v0) (u0,v1) (u1,v1).
            [
                mix(&left0, &right0, v0),
                mix(&left1, &right1, v0),
                mix(&left0, &right0, v1),
                mix(&left1, &right1, v1),
            ]
        };
        let (p, q) = (face(self.lo[0]), face(self.hi[0]));
        let (mut lo, mut hi) = (p[0].inf(&q[0]), p[0].sup(&q[0]));
        for k in 1..4 {
            lo = lo.inf(&p[k].inf(&q[k]));
            hi = hi.sup(&p[k].sup(&q[k]));
        }
        let across =
            |pairs: [(&Vec3, &Vec3); 4]| pairs.iter().map(|(a, b)| (*a - *b).amax()).fold(0.0, f64::max);
        let extent = [
            across([(&p[0], &q[0]), (&p[1], &q[1]), (&p[2], &q[2]), (&p[3], &q[3])]),
            across([(&p[0], &p[1]), (&p[2], &p[3]), (&q[0], &q[1]), (&q[2], &q[3])]),
            across([(&p[0], &p[2]), (&p[1], &p[3]), (&q[0], &q[2]), (&q[1], &q[3])]),
        ];
        ((lo, hi), extent)
    }
}

/// Halvings along one axis: the width of a cell stays far above round-off of its place.
const HALVINGS: usize = 40;

/// Cells still to be looked at, the most promising on top. Depth first, so its size is the number of
/// halvings on the way down.
struct Stack {
    cells: [Cell; 3 * HALVINGS + 2],
    count: usize,
}

impl Stack {
    fn new(cell: Cell) -> Stack {
        Stack { cells: [cell; 3 * HALVINGS + 2], count: 1 }
    }

    fn pop(&mut self) -> Option<Cell> {
        self.count = self.count.checked_sub(1)?;
        Some(self.cells[self.count])
    }

    /// Puts both halves on the stack, the lower on top; `false` if the cell is too small to be halved.
    fn split(&mut self, cell: &Cell, axis: usize) -> bool {
        let (lo, hi) = (cell.lo[axis], cell.hi[axis]);
        if hi - lo <= 0.5f64.powi(HALVINGS as i32) || self.count + 2 > self.cells.len() {
            return false;
        }
        let middle = 0.5 * (lo + hi);
        let (mut lower, mut upper) = (*cell, *cell);
        lower.hi[axis] = middle;
        upper.lo[axis] = middle;
        self.cells[self.count] = upper;
        self.cells[self.count + 1] = lower;
        self.count += 2;
        true
    }

    fn earliest(&self) -> f64 {
        self.cells[..self.count].iter().map(|cell| cell.lo[0]).fold(f64::INFINITY, f64::min)
    }
}

/// Time at which node `p` meets node `a`, decided: the filter of `swept` first; what it reports is followed
/// until it parts for good or comes nearer than the tolerance, and boxes settle the rest. `None` is proven;
/// the time keeps a share of the gap, as the filter's does.
pub(crate) fn node_node(p: &Path, a: &Path, sweep: &Sweep) -> Option<f64> {
    decided(&Differences::node(p, [a]), sweep, |r| r[0], |[r]| [r; 4])
}

/// Time at which node `p` meets a segment of the plane, decided as for `node_node`.
pub(crate) fn node_segment(p: &Path, corners: [&Path; 2], sweep: &Sweep) -> Option<f64> {
    decided(&Differences::node(p, corners), sweep, swept::nearest_of_segment, |[a, b]| [a, b, a, b])
}

/// Time at which node `p` meets a triangle, decided as for `node_node`.
pub fn node_triangle(p: &Path, corners: [&Path; 3], sweep: &Sweep) -> Option<f64> {
    decided(&Differences::node(p, corners), sweep, swept::nearest_of_triangle, of_triangle)
}

/// Time at which two edges meet, decided as for `node_node`.
pub fn edge_edge(ab: [&Path; 2], cd: [&Path; 2], sweep: &Sweep) -> Option<f64> {
    decided(&Differences::edges(ab, cd), sweep, swept::nearest_of_parallelogram, |r| r)
}

/// `corners` makes c₀₀ … c₁₁ of the differences; of a triangle, which has three, they are those of a parallelogram.
#[inline]
fn decided<const K: usize>(
    motion: &Differences<K>,
    sweep: &Sweep,
    nearest: impl Fn(&[Vec3; K]) -> Vec3,
    corners: impl Fn([Vec3; K]) -> [Vec3; 4],
) -> Option<f64> {
    let t = sweep.filter(motion, &nearest)?;
    let boxes = Inclusion { min_separation: sweep.min_separation, ..Inclusion::default() };
    let goal = Goal { min_separation: sweep.min_separation, keep: 0.0, near: boxes.tolerance };
    match swept::advance(motion, t, &goal, nearest) {
        Outcome::Parted => None,
        Outcome::Near(_) => Some(t),
        Outcome::Open(after) => {
            let verdict = boxes.decide(&corners(motion.from), &corners(motion.to), K == 3, after);
            (verdict != Verdict::Clear).then_some(t)
        }
    }
}
