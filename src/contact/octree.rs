//! Which bodies are near each other: an octree over their boxes.
//!
//! A cell splits while it holds more than [`MAX_BODIES`] boxes, is no deeper than [`MAX_DEPTH`] and no
//! smaller than the median box (smaller cells would only repeat the same boxes). A box is listed in
//! every cell it meets. A pair is reported by one leaf alone: the one that holds the component-wise
//! maximum of the two lower corners, which lies in both boxes whenever they meet. Boxes larger than half
//! the root would be in most cells; they stand apart and are compared with all.
//!
//! The tree is made anew at every call, in memory that is kept: bodies that move cost nothing extra.
//! Used by `three_stage` and `classic`.

/// A box in the coordinates of the model [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aabb {
    pub lo: [f64; 3],
    pub hi: [f64; 3],
}

impl Aabb {
    pub(crate) const EMPTY: Aabb = Aabb { lo: [f64::INFINITY; 3], hi: [f64::NEG_INFINITY; 3] };

    /// Grows to hold a point.
    #[inline]
    pub(crate) fn add(&mut self, p: &[f64; 3]) {
        for (k, &v) in p.iter().enumerate() {
            self.lo[k] = if v < self.lo[k] { v } else { self.lo[k] };
            self.hi[k] = if v > self.hi[k] { v } else { self.hi[k] };
        }
    }

    /// Closed boxes meet.
    #[inline]
    pub(crate) fn meets(&self, o: &Aabb) -> bool {
        (0..3).all(|k| self.lo[k] <= o.hi[k] && o.lo[k] <= self.hi[k])
    }

    /// Shortest way from one to the other [m]; 0 where they meet.
    #[inline]
    pub(crate) fn distance(&self, o: &Aabb) -> f64 {
        let gap = |k: usize| (self.lo[k] - o.hi[k]).max(o.lo[k] - self.hi[k]).max(0.0);
        (0..3).map(|k| gap(k) * gap(k)).sum::<f64>().sqrt()
    }

    /// The box with `d` added on every side.
    #[inline]
    pub(crate) fn grown(&self, d: f64) -> Aabb {
        Aabb { lo: self.lo.map(|v| v - d), hi: self.hi.map(|v| v + d) }
    }

    /// Nothing has been added to it.
    pub(crate) fn is_empty(&self) -> bool {
        self.lo[0] > self.hi[0]
    }

    /// Longest edge [m].
    pub(crate) fn longest(&self) -> f64 {
        (0..3).map(|k| self.hi[k] - self.lo[k]).fold(0.0, f64::max)
    }
}

/// A cell with more boxes than this is split …
pub(crate) const MAX_BODIES: usize = 3;
/// … down to this depth at most.
pub(crate) const MAX_DEPTH: u32 = 8;

/// What the last call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OctreeCounts {
    /// Boxes assigned to children of cells.
    pub membership_tests: u64,
    /// Pairs of boxes compared.
    pub pairs_compared: u64,
}

/// Memory of the octree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Octree {
    large: Vec<u32>,
    /// Lists of the cells on the path being split, one after another.
    members: Vec<u32>,
    cells: Vec<Cell>,
    sizes: Vec<f64>,
    pub counts: OctreeCounts,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    lo: [f64; 3],
    edge: f64,
    depth: u32,
    /// Its list is `members[from..to]`, the end of the array when its turn comes.
    from: usize,
    to: usize,
}

impl Octree {
    /// [`Octree::pairs_to_depth`] with the usual limit.
    #[cfg(test)]
    pub(crate) fn pairs(
        &mut self,
        boxes: &[Aabb],
        wanted: impl Fn(u32, u32) -> bool,
        out: &mut Vec<[u32; 2]>,
    ) {
        self.pairs_to_depth(boxes, MAX_DEPTH, wanted, out);
    }

    /// All pairs (a < b) of boxes that meet and that `wanted` accepts, ascending, with cells split no deeper than this. Empty boxes
    /// meet nothing.
    pub(crate) fn pairs_to_depth(
        &mut self,
        boxes: &[Aabb],
        max_depth: u32,
        wanted: impl Fn(u32, u32) -> bool,
        out: &mut Vec<[u32; 2]>,
    ) {
        out.clear();
        self.counts = OctreeCounts::default();
        let mut all = Aabb::EMPTY;
        for b in boxes.iter().filter(|b| !b.is_empty()) {
            all.add(&b.lo);
            all.add(&b.hi);
        }
        if all.is_empty() {
            return;
        }
        // A little larger than everything, so that every lower corner lies strictly below its upper faces and
        // the smallest cell has a size, also far from the origin.
        let farthest = all.lo.iter().chain(&all.hi).fold(0.0, |m: f64, v| m.max(v.abs()));
        let edge = (all.longest() * (1.0 + 1e-12) + 4096.0 * f64::EPSILON * farthest).max(f64::MIN_POSITIVE);

        let smallest_cell = self.sort_by_size(boxes, edge);
        let small = self.members.len();

        for (i, &a) in self.large.iter().enumerate() {
            for &b in self.large[i + 1..].iter().chain(&self.members) {
                self.counts.pairs_compared += 1;
                if boxes[a as usize].meets(&boxes[b as usize]) && wanted(a.min(b), a.max(b)) {
                    out.push([a.min(b), a.max(b)]);
                }
            }
        }

        self.cells.push(Cell { lo: all.lo, edge, depth: 0, from: 0, to: small });
        while let Some(cell) = self.cells.pop() {
            self.members.truncate(cell.to);
            let count = cell.to - cell.from;
            if count < 2 {
                continue;
            }
            let splits = count > MAX_BODIES && cell.depth < max_depth && 0.5 * cell.edge >= smallest_cell;
            if !splits {
                self.report(&cell, &all, edge, boxes, &wanted, out);
                continue;
            }
            // Sides of the three middle planes each box is on. A box in the list meets the cell, so these
            // planes alone decide, and the path of a point is decided by the same ones.
            let half = 0.5 * cell.edge;
            let middle = cell.lo.map(|v| v + half);
            for child in 0..8usize {
                let upper = |k: usize| child >> k & 1 == 1;
                let lo = [0, 1, 2].map(|k| if upper(k) { middle[k] } else { cell.lo[k] });
                let from = self.members.len();
                for at in cell.from..cell.to {
                    let i = self.members[at];
                    let b = &boxes[i as usize];
                    let meets = |k: usize| if upper(k) { b.hi[k] >= middle[k] } else { b.lo[k] <= middle[k] };
                    if meets(0) && meets(1) && meets(2) {
                        self.members.push(i);
                    }
                }
                self.counts.membership_tests += (cell.to - cell.from) as u64;
                let to = self.members.len();
                self.cells.push(Cell { lo, edge: half, depth: cell.depth + 1, from, to });
            }
        }
        out.sort_unstable();
    }

    /// Sets boxes apart that are larger than half of everything, `edge`; returns the median size of the others.
    fn sort_by_size(&mut self, boxes: &[Aabb], edge: f64) -> f64 {
        self.large.clear();
        self.members.clear();
        self.cells.clear();
        self.sizes.clear();
        for (i, b) in boxes.iter().enumerate().filter(|(_, b)| !b.is_empty()) {
            let size = b.longest();
            if size > 0.5 * edge {
                self.large.push(i as u32);
            } else {
                self.members.push(i as u32);
                self.sizes.push(size);
            }
        }
        let small = self.members.len();
        if small > 0 { *self.sizes.select_nth_unstable_by(small / 2, f64::total_cmp).1 } else { 0.0 }
    }

    /// Compares the boxes of a leaf and reports the pairs it owns.
    fn report(
        &mut self,
        cell: &Cell,
        all: &Aabb,
        edge: f64,
        boxes: &[Aabb],
        wanted: &impl Fn(u32, u32) -> bool,
        out: &mut Vec<[u32; 2]>,
    ) {
        // The path to a point is decided by the same sums that placed the cells.
        let owns = |p: &[f64; 3]| {
            let (mut lo, mut half) = (all.lo, edge);
            for _ in 0..cell.depth {
                half *= 0.5;
                for k in 0..3 {
                    if p[k] >= lo[k] + half {
                        lo[k] += half;
                    }
                }
            }
            lo == cell.lo
        };
        let list = &self.members[cell.from..cell.to];
        for (i, &a) in list.iter().enumerate() {
            for &b in &list[i + 1..] {
                self.counts.pairs_compared += 1;
                let (p, q) = (&boxes[a as usize], &boxes[b as usize]);
                if p.meets(q) && owns(&[0, 1, 2].map(|k| p.lo[k].max(q.lo[k]))) && wanted(a, b) {
                    out.push([a, b]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    fn all_pairs(boxes: &[Aabb]) -> Vec<[u32; 2]> {
        let mut out = Vec::new();
        for a in 0..boxes.len() {
            for b in a + 1..boxes.len() {
                if !boxes[a].is_empty() && !boxes[b].is_empty() && boxes[a].meets(&boxes[b]) {
                    out.push([a as u32, b as u32]);
                }
            }
        }
        out
    }

    /// Pairs along the longest axis, another way to the same set.
    fn sweep_and_prune(boxes: &[Aabb]) -> Vec<[u32; 2]> {
        let mut order: Vec<usize> = (0..boxes.len()).collect();
        order.sort_by(|&a, &b| boxes[a].lo[0].total_cmp(&boxes[b].lo[0]));
        let mut out = Vec::new();
        for (i, &a) in order.iter().enumerate() {
            for &b in order[i + 1..].iter().take_while(|&&b| boxes[b].lo[0] <= boxes[a].hi[0]) {
                if boxes[a].meets(&boxes[b]) {
                    out.push([a.min(b) as u32, a.max(b) as u32]);
                }
            }
        }
        out.sort_unstable();
        out
    }

    /// Random, touching, identical, flat, point-like, far away and very unequal boxes.
    #[test]
    fn the_octree_reports_each_meeting_pair_of_boxes_once() {
        let mut s = 7;
        let mut octree = Octree::default();
        let mut out = Vec::new();
        for round in 0..600 {
            let n = 1 + (random(&mut s) * 60.0) as usize;
            let grid = round % 3 == 1;
            let flat = round % 5 == 2;
            let far = if round % 7 == 3 { 1e8 } else { 0.0 };
            let size = [0.0, 0.05, 0.3, 1.5][round % 4];
            let boxes: Vec<Aabb> = (0..n)
                .map(|i| {
                    let mut lo = [0, 1, 2].map(|_| random(&mut s));
                    if grid {
                        lo = lo.map(|v| (v * 4.0).floor() / 4.0);
                    }
                    if flat {
                        lo[2] = 0.0;
                    }
                    let e = if grid { 0.25 } else { size * random(&mut s) };
                    let e = if i == 0 && round % 11 == 0 { 3.0 } else { e };
                    let e = [e, e * if flat { 1.0 } else { random(&mut s) }, if flat { 0.0 } else { e }];
                    Aabb { lo: lo.map(|v| v + far), hi: [0, 1, 2].map(|k| lo[k] + far + e[k]) }
                })
                .collect();
            let boxes = if round % 13 == 5 { vec![boxes[0]; n.min(30)] } else { boxes };
            octree.pairs(&boxes, |_, _| true, &mut out);
            assert_eq!(out, all_pairs(&boxes), "round {round}");
            assert_eq!(out, sweep_and_prune(&boxes), "round {round}");
        }
        octree.pairs(&[], |_, _| true, &mut out);
        assert!(out.is_empty());
        octree.pairs(&[Aabb::EMPTY, Aabb { lo: [0.0; 3], hi: [0.0; 3] }], |_, _| true, &mut out);
        assert!(out.is_empty());
    }
}
