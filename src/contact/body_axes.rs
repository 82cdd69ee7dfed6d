//! A small body along axes of its own, and which of its features can be near another one.
//!
//! A box along the axes of the scene is a loose one for a body that is turned. So a small body has three axes that
//! turn with it, those along which it is narrowest, and for two such bodies each is looked at along the axes of the other:
//!
//! ```text
//! s = axis·x      |s − s'| ≤ |x − x'|      so what is farther apart along any axis than r is farther apart than r
//! ```
//!
//! A slot beyond the other body carries the sides on which it is (a code of six bits); a feature whose corners are all
//! beyond the same side is out of the question. What is left of both is compared box by box, sixteen at once: edges
//! along the axes of both bodies, nodes and faces along those of the faces, which are flat there. No trees, and of bodies that are
//! near only with their boxes nothing is left after a look at their slots.
//!
//! Any axes are right; good ones leave little. Used by `three_stage`.

use super::scene::{Body, Scene};
use crate::math::Vec3;

/// Most slots, facets and edges of a small body.
pub(super) const SLOTS: usize = 128;
pub(super) const FACETS: usize = 256;
pub(super) const EDGES: usize = 384;
/// Boxes that are compared at once.
const WIDTH: usize = 16;
/// Facets that are asked for a good axis, at most, and the cosine from which on two of them would say the same.
const ASKED: usize = 64;
const SAME: f64 = 0.999;
/// Rounding of a coordinate along an axis, as a share of the largest coordinate: of three products, two sums and the coordinates
/// themselves, each 2⁻²⁴ of at most √3 times that one. Fewer than 16 of them.
pub(super) const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

type Coordinates = [[f32; SLOTS]; 3];

/// Slots of a small body in single precision, along the axes of the scene and along its own.
#[derive(Clone, Debug)]
pub(super) struct BodyAxes {
    /// Slots of the body between which its first two axes run; chosen once.
    between: Option<[[u32; 2]; 2]>,
    directions: [[f32; 3]; 3],
    /// Relative to the origin of the search; places beyond the last slot repeat it.
    at: Coordinates,
    own: Coordinates,
    lo: [f32; 3],
    hi: [f32; 3],
    /// Slots of the corners of facets and edges, as they are numbered in the body.
    facets: Vec<[u8; 4]>,
    edges: Vec<[u8; 2]>,
}

impl Default for BodyAxes {
    fn default() -> Self {
        let none = [[0.0; SLOTS]; 3];
        BodyAxes {
            between: None,
            directions: [[0.0; 3]; 3],
            at: none,
            own: none,
            lo: [0.0; 3],
            hi: [0.0; 3],
            facets: Vec::new(),
            edges: Vec::new(),
        }
    }
}

/// Is there room for the body?
pub(super) fn is_small(body: &Body) -> bool {
    let fits = body.slots.len() <= SLOTS && body.facets.len() <= FACETS && body.edges.len() <= EDGES;
    fits && !body.slots.is_empty() && !body.plane
}

impl BodyAxes {
    /// Takes up where the slots are: `x` of all nodes, and `points`, the slots of the body relative to the origin.
    pub(super) fn fit(&mut self, scene: &Scene, body: &Body, x: &[Vec3], points: &[[f32; 4]]) {
        let slots = &scene.slots[body.slots.start as usize..body.slots.end as usize];
        if self.between.is_none() {
            let local = |s: u32| (s - body.slots.start) as u8;
            let facets = &scene.facet_slots[body.facets.start as usize..body.facets.end as usize];
            let edges = &scene.edge_slots[body.edges.start as usize..body.edges.end as usize];
            self.facets.extend(facets.iter().map(|f| f.map(local)));
            self.edges.extend(edges.iter().map(|e| e.map(local)));
        }
        let along = |[i, j]: [u32; 2]| x[slots[j as usize] as usize] - x[slots[i as usize] as usize];
        let [first, second] = (*self.between.get_or_insert_with(|| narrowest(scene, body, x))).map(along);
        let first = first.normalize();
        let second = (second - second.dot(&first) * first).normalize();
        let third = first.cross(&second);
        // A body without an extent has no axes, and a run that has blown up has none of unit length.
        let sound = (third.norm_squared() - 1.0).abs() < 1e-9;
        let axes = if sound { [first, second, third] } else { [Vec3::x(), Vec3::y(), Vec3::z()] };
        self.directions = axes.map(|a| [a.x as f32, a.y as f32, a.z as f32]);
        let last = points.len().saturating_sub(1);
        for i in 0..points.len().next_multiple_of(WIDTH) {
            let p = points[i.min(last)];
            for k in 0..3 {
                self.at[k][i] = p[k];
            }
        }
        along_axes(&self.directions, &self.at, points.len(), &mut self.own);
        for k in 0..3 {
            let own = &self.own[k][..points.len()];
            self.lo[k] = own.iter().copied().fold(f32::INFINITY, f32::min);
            self.hi[k] = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
    }
}

/// Slots between which the axes run along which the body is narrowest, of those that look out of its facets: the first, and of those
/// across it the second.
fn narrowest(scene: &Scene, body: &Body, x: &[Vec3]) -> [[u32; 2]; 2] {
    let slots = &scene.slots[body.slots.start as usize..body.slots.end as usize];
    let width = |n: &Vec3| {
        let heights = slots.iter().map(|&k| n.dot(&x[k as usize]));
        let (lo, hi) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)));
        hi - lo
    };
    let facets = &scene.facets[body.facets.start as usize..body.facets.end as usize];
    let (mut normals, mut count) = ([Vec3::zeros(); ASKED], 0);
    for facet in facets.iter().step_by(facets.len().div_ceil(ASKED).max(1)).take(ASKED) {
        let Some(n) = facet.area_vector(x).try_normalize(0.0) else { continue };
        if normals[..count].iter().all(|other| other.dot(&n).abs() < SAME) {
            normals[count] = n;
            count += 1;
        }
    }
    let normals = normals[..count].iter();
    let least = |p: &(f64, Vec3), q: &(f64, Vec3)| p.0.total_cmp(&q.0);
    let first = normals.clone().map(|n| (width(n), *n)).min_by(least).map_or(Vec3::x(), |w| w.1);
    let across = normals.filter_map(|n| {
        let n = n - n.dot(&first) * first;
        (n.norm() > 0.5).then(|| n.normalize())
    });
    let second = across.map(|n| (width(&n), n)).min_by(least);
    let second = second.map_or_else(|| first.cross(&any_across(&first)).normalize(), |w| w.1);
    // Long ways along the axis, a²/d at most: they turn with the whole body. Compared without a root or a quotient.
    let between = |n: Vec3| {
        let (mut best, mut most) = ([0, 0], (0.0, 1.0));
        for (i, p) in slots.iter().map(|&k| x[k as usize]).enumerate() {
            for (j, q) in slots.iter().map(|&k| x[k as usize]).enumerate().skip(i + 1) {
                let d = q - p;
                let (along, square) = (n.dot(&d), d.norm_squared());
                let fourth = (along * along) * (along * along);
                if fourth * most.1 > most.0 * square {
                    let (i, j) = (i as u32, j as u32);
                    (best, most) = (if along > 0.0 { [i, j] } else { [j, i] }, (fourth, square));
                }
            }
        }
        best
    };
    [between(first), between(second)]
}

fn any_across(n: &Vec3) -> Vec3 {
    if n.x.abs() < 0.5 { Vec3::x() } else { Vec3::y() }
}

/// Coordinates of `count` slots along some axes, and of as many more as fill whole blocks.
#[inline(always)]
fn along_axes(directions: &[[f32; 3]; 3], at: &Coordinates, count: usize, to: &mut Coordinates) {
    for from in (0..count).step_by(WIDTH) {
        for k in 0..3 {
            let [a, b, c] = directions[k];
            for i in 0..WIDTH {
                to[k][from + i] = a * at[0][from + i] + b * at[1][from + i] + c * at[2][from + i];
            }
        }
    }
}

/// Boxes of some features, coordinate by coordinate; whole blocks of them, filled up by boxes that are near nothing.
#[derive(Clone, Debug)]
struct Boxes {
    ids: [u32; EDGES],
    count: usize,
    lo: Sides,
    hi: Sides,
}

/// Coordinates of sides of boxes.
type Sides = [[f32; EDGES]; 3];

/// The same boxes along the axes of the other body.
type OtherBoxes = (Sides, Sides);

/// Room to compare two bodies.
#[derive(Clone, Debug)]
pub(super) struct PairRoom {
    /// Slots of each body along the axes of the other, and the sides of the other beyond which they are.
    seen: [Coordinates; 2],
    codes: [[u8; SLOTS]; 2],
    boxes: [Boxes; 2],
    others: [OtherBoxes; 2],
    near: [[u8; EDGES]; 2],
}

impl Default for PairRoom {
    fn default() -> Self {
        let none = [[0.0; EDGES]; 3];
        let boxes = Boxes { ids: [0; EDGES], count: 0, lo: none, hi: none };
        PairRoom {
            seen: [[[0.0; SLOTS]; 3]; 2],
            codes: [[0; SLOTS]; 2],
            boxes: [boxes.clone(), boxes],
            others: [(none, none), (none, none)],
            near: [[0; EDGES]; 2],
        }
    }
}

impl PairRoom {
    /// Looks at each body along the axes of the other; false if nothing of them is within `r`.
    #[inline(always)]
    pub(super) fn look(&mut self, [p, q]: [&BodyAxes; 2], [m, n]: [usize; 2], r: f32) -> bool {
        self.look_at(0, p, m, q, r) && self.look_at(1, q, n, p, r)
    }

    #[inline(always)]
    fn look_at(&mut self, which: usize, body: &BodyAxes, count: usize, other: &BodyAxes, r: f32) -> bool {
        let (seen, codes) = (&mut self.seen[which], &mut self.codes[which]);
        along_axes(&other.directions, &body.at, count, seen);
        let (lo, hi) = (other.lo.map(|v| v - r), other.hi.map(|v| v + r));
        let mut all = u8::MAX;
        for from in (0..count).step_by(WIDTH) {
            let mut code = [0u8; WIDTH];
            for k in 0..3 {
                let s = &seen[k].as_chunks::<WIDTH>().0[from / WIDTH];
                for i in 0..WIDTH {
                    code[i] |= u8::from(s[i] < lo[k]) << (2 * k) | u8::from(s[i] > hi[k]) << (2 * k + 1);
                }
            }
            codes[from..from + WIDTH].copy_from_slice(&code);
            all = code.iter().fold(all, |all, c| all & c);
        }
        all == 0
    }

    /// Puts the features of one body that may be near the other into boxes along its own axes.
    #[inline(always)]
    fn enclose<const N: usize>(&mut self, which: usize, axes: &BodyAxes, corners: &[[u8; N]]) {
        let (boxes, codes) = (&mut self.boxes[which], &self.codes[which]);
        let mut count = 0;
        for (i, corners) in corners.iter().enumerate().take(EDGES) {
            let code = corners.iter().fold(u8::MAX, |code, &s| code & codes[s as usize & (SLOTS - 1)]);
            boxes.ids[count.min(EDGES - 1)] = i as u32;
            count += usize::from(code == 0);
        }
        boxes.count = count;
        for place in 0..count {
            let corners = corners[boxes.ids[place] as usize];
            for k in 0..3 {
                (boxes.lo[k][place], boxes.hi[k][place]) = range(&axes.own[k], corners);
            }
        }
        for k in 0..3 {
            boxes.lo[k][count..count.next_multiple_of(WIDTH)].fill(f32::INFINITY);
            boxes.hi[k][count..count.next_multiple_of(WIDTH)].fill(f32::NEG_INFINITY);
        }
    }

    /// The same features in boxes along the axes of the other body.
    #[inline(always)]
    fn enclose_for_other<const N: usize>(&mut self, which: usize, corners: &[[u8; N]]) {
        let (boxes, seen) = (&self.boxes[which], &self.seen[which]);
        let (lo, hi) = &mut self.others[which];
        for place in 0..boxes.count {
            let corners = corners[boxes.ids[place] as usize];
            for k in 0..3 {
                (lo[k][place], hi[k][place]) = range(&seen[k], corners);
            }
        }
        for k in 0..3 {
            lo[k][boxes.count..boxes.count.next_multiple_of(WIDTH)].fill(f32::INFINITY);
            hi[k][boxes.count..boxes.count.next_multiple_of(WIDTH)].fill(f32::NEG_INFINITY);
        }
    }
}

/// Least and largest coordinate of some slots.
#[inline(always)]
fn range<const N: usize>(all: &[f32; SLOTS], corners: [u8; N]) -> (f32, f32) {
    let at = |k: usize| all[corners[k] as usize & (SLOTS - 1)];
    let (mut lo, mut hi) = (at(0), at(0));
    for k in 1..N {
        let v = at(k);
        lo = if v < lo { v } else { lo };
        hi = if v > hi { v } else { hi };
    }
    (lo, hi)
}

/// Marks the boxes, of whole blocks of them, that are near one: those that are nowhere beyond its sides, moved out by what is wanted.
///
/// Bytes, not bits: eight are told apart in one go, and compilers know how to make them of comparisons.
#[inline(always)]
fn mark(n: usize, (lo, hi): (&Sides, &Sides), own: &[[f32; 2]; 3], near: &mut [u8; EDGES]) {
    let [[a, b], [c, d], [e, f]] = *own;
    let (x, y, z) = (&lo[0][..n], &lo[1][..n], &lo[2][..n]);
    let (u, v, w) = (&hi[0][..n], &hi[1][..n], &hi[2][..n]);
    let near = &mut near[..n];
    for i in 0..n {
        let inside = (x[i] <= b) & (u[i] >= a) & (y[i] <= d) & (v[i] >= c) & (z[i] <= f) & (w[i] >= e);
        near[i] = u8::from(inside);
    }
}

/// Places that are marked.
#[inline(always)]
fn marked(near: &[u8], mut found: impl FnMut(usize)) {
    for (block, bytes) in near.as_chunks::<8>().0.iter().enumerate() {
        let mut left = u64::from_le_bytes(*bytes);
        while left != 0 {
            found(8 * block + left.trailing_zeros() as usize / 8);
            left &= left - 1;
        }
    }
}

/// Two small bodies to compare.
pub(super) struct Compared<'a> {
    pub scene: &'a Scene,
    pub bodies: [&'a Body; 2],
    pub axes: [&'a BodyAxes; 2],
    /// Wanted is what is no farther apart along any axis.
    pub r: f32,
}

impl Compared<'_> {
    /// Takes a first look; false if nothing of the two is near.
    #[inline(always)]
    pub(super) fn look(&self, room: &mut PairRoom) -> bool {
        let count = self.bodies.map(|b| b.slots.len());
        room.look(self.axes, count, self.r)
    }

    /// Nodes of one body and faces of the other, node by node; returns the number of boxes compared.
    #[inline(always)]
    pub(super) fn nodes_faces(
        &self,
        which: usize,
        room: &mut PairRoom,
        mut found: impl FnMut(&[[u32; 2]]),
    ) -> u64 {
        let other = 1 - which;
        room.enclose(other, self.axes[other], &self.axes[other].facets);
        let first = self.bodies[other].facets.start;
        let PairRoom { seen, codes, boxes, near: [near, _], .. } = room;
        let (boxes, seen, codes) = (&boxes[other], &seen[which], &codes[which]);
        let slots = self.bodies[which].slots.clone();
        let mut pairs = [[0; 2]; FACETS];
        let mut tests = 0;
        for (i, slot) in slots.enumerate() {
            if codes[i & (SLOTS - 1)] != 0 {
                continue;
            }
            let own = [0, 1, 2].map(|k| seen[k][i & (SLOTS - 1)]).map(|s| [s - self.r, s + self.r]);
            let (mut n, all) = (0, boxes.count.next_multiple_of(WIDTH).min(EDGES));
            mark(all, (&boxes.lo, &boxes.hi), &own, near);
            let node = self.scene.slots[slot as usize];
            marked(&near[..all], |at| {
                pairs[n & (FACETS - 1)] = [node, first + boxes.ids[at]];
                n += 1;
            });
            tests += boxes.count as u64;
            if n > 0 {
                found(&pairs[..n]);
            }
        }
        tests
    }

    /// Edges of both; returns the number of boxes compared.
    #[inline(always)]
    pub(super) fn edges_edges(&self, room: &mut PairRoom, mut found: impl FnMut(&[[u32; 2]])) -> u64 {
        for which in [0, 1] {
            let edges = &self.axes[which].edges;
            room.enclose(which, self.axes[which], edges);
            room.enclose_for_other(which, edges);
        }
        let firsts = self.bodies.map(|b| b.edges.start);
        let PairRoom { boxes: [first, second], others: [to_second, to_first], near: [near, also], .. } = room;
        let mut pairs = [[0; 2]; EDGES];
        let all = second.count.next_multiple_of(WIDTH).min(EDGES);
        let wider = |lo: f32, hi: f32| [lo - self.r, hi + self.r];
        for i in 0..first.count {
            let own = [0, 1, 2].map(|k| wider(first.lo[k][i], first.hi[k][i]));
            let seen = [0, 1, 2].map(|k| wider(to_second.0[k][i], to_second.1[k][i]));
            mark(all, (&to_first.0, &to_first.1), &own, near);
            mark(all, (&second.lo, &second.hi), &seen, also);
            for (near, also) in near[..all].iter_mut().zip(&also[..all]) {
                *near &= also;
            }
            let (mut n, edge) = (0, firsts[0] + first.ids[i]);
            marked(&near[..all], |at| {
                if let (Some(pair), Some(id)) = (pairs.get_mut(n), second.ids.get(at)) {
                    *pair = [edge, firsts[1] + id];
                    n += 1;
                }
            });
            if n > 0 {
                found(&pairs[..n]);
            }
        }
        (first.count * second.count) as u64
    }
}
