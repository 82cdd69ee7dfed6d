//! How far candidates are from each other at least, many at once.

use super::{BESIDE, BodyPairs, Features, NODES, Room};
use crate::contact::octree::Aabb;
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes};
use crate::mesh::CellKind;
use crate::method::asynchronous::targets::{BESIDE as BESIDE_TARGET, BESIDE_HEX, Target};

/// What counts as inside of a target lies between a few pairs of planes: across the directions of a hex, along the sides of a tet, else
/// those of its box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hull {
    /// Unit normals.
    n: [[f64; 3]; PLANES],
    /// Heights along them [m].
    low: [f64; PLANES],
    high: [f64; PLANES],
}

const PLANES: usize = 4;
/// Share of its height by which a tet with what is beside it reaches beyond a side, and beyond the corner opposite to it, and a little
/// more: as far as the coordinate of that corner goes below zero, and above one if those of all others do.
const BESIDE_SIDE: f64 = 1.2 * BESIDE_TARGET;
const BESIDE_CORNER: f64 = 3.2 * BESIDE_TARGET;

impl Hull {
    /// All of space.
    pub(super) const NONE: Hull =
        Hull { n: [[0.0; 3]; PLANES], low: [f64::NEG_INFINITY; PLANES], high: [f64::INFINITY; PLANES] };

    /// Between the sides of a box, seen along its first directions only.
    fn of_box(around: &Aabb, dimension: usize) -> Hull {
        let mut hull = Hull::NONE;
        for k in 0..dimension {
            hull.n[k][k] = 1.0;
            (hull.low[k], hull.high[k]) = (around.lo[k], around.hi[k]);
        }
        hull
    }

    fn of_tet(x: &[Vec3; 4]) -> Hull {
        let mut hull = Hull::NONE;
        for k in 0..4 {
            let [a, b, c] = [1, 2, 3].map(|i| x[(k + i) % 4]);
            let n = (b - a).cross(&(c - a)).normalize();
            let (side, corner) = (n.dot(&a), n.dot(&x[k]));
            let height = corner - side;
            let ends = [side - BESIDE_SIDE * height, corner + BESIDE_CORNER * height];
            hull.n[k] = n.into();
            (hull.low[k], hull.high[k]) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        }
        hull
    }

    /// Distance of a point at least [m]; not above zero inside, not a number if that cannot be told.
    #[inline(always)]
    pub(crate) fn distance(&self, y: &Vec3) -> f64 {
        let mut most = f64::NAN;
        for k in 0..PLANES {
            let height = self.n[k][0] * y.x + self.n[k][1] * y.y + self.n[k][2] * y.z;
            most = most.max(height - self.high[k]).max(self.low[k] - height);
        }
        most
    }

    /// The same of several points.
    #[inline(always)]
    pub(super) fn distance_of<L: Lane>(&self, y: [L; 3]) -> L {
        let mut most = y[0].of(f64::NEG_INFINITY);
        for k in 0..PLANES {
            let height = y[0] * self.n[k][0] + y[1] * self.n[k][1] + y[2] * self.n[k][2];
            most = most.max(height - self.high[k]).max(-(height - self.low[k]));
        }
        most
    }
}

/// Hulls of some targets, whose nodes are at `x`; returns how long the longest of their boxes is [m].
pub(super) struct Hulls<'a> {
    pub targets: &'a [Target],
    pub x: &'a [Vec3],
    pub out: &'a mut [Hull],
}

impl OnLanes for Hulls<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) -> f64 {
        let Hulls { targets, x, out } = self;
        let (mut longest, mut others) = (L::splat(token, 0.0), 0.0_f64);
        for (targets, out) in targets.chunks(L::WIDTH).zip(out.chunks_mut(L::WIDTH)) {
            let mut any = false;
            for (target, to) in targets.iter().zip(&mut *out) {
                if target.kind == CellKind::Hex8 {
                    any = true;
                } else {
                    let reach = target.reach(|n| x[n as usize]);
                    others = others.max(reach.longest());
                    *to = match target.kind {
                        CellKind::Tet4 => Hull::of_tet(&[0, 1, 2, 3].map(|k| x[target.nodes[k] as usize])),
                        kind => Hull::of_box(&reach, kind.dimension()),
                    };
                }
            }
            if !any {
                continue;
            }
            let last = targets.len() - 1;
            let mut corners = [[longest; 3]; 8];
            for (k, corner) in corners.iter_mut().enumerate() {
                let [px, py, pz, _] = L::columns(token, |l| {
                    let p = &x[targets[l.min(last)].nodes[k] as usize];
                    [p.x, p.y, p.z, 0.0]
                });
                *corner = [px, py, pz];
            }
            let (n, low, high, length) = hex_hull(&corners);
            let mut lanes = [[0.0; MAX_WIDTH]; 15];
            for k in 0..3 {
                for i in 0..3 {
                    n[k][i].store(&mut lanes[3 * k + i]);
                }
                low[k].store(&mut lanes[9 + k]);
                high[k].store(&mut lanes[12 + k]);
            }
            // those that are no hexes have the box of their nodes, the first of them several times
            longest = longest.max(length);
            for (l, (target, to)) in targets.iter().zip(out).enumerate() {
                if target.kind == CellKind::Hex8 {
                    for k in 0..3 {
                        to.n[k] = [lanes[3 * k][l], lanes[3 * k + 1][l], lanes[3 * k + 2][l]];
                        (to.low[k], to.high[k]) = (lanes[9 + k][l], lanes[12 + k][l]);
                    }
                }
            }
        }
        let mut lengths = [0.0; MAX_WIDTH];
        longest.store(&mut lengths);
        // as long as what `Target::reach` makes of it
        lengths.into_iter().fold(others, |most, length| most.max(1.15 * length))
    }
}

/// Unit normals across a hex, the heights along them between which it is with what is beside it, and how long its box is.
#[inline(always)]
fn hex_hull<L: Lane>(x: &[[L; 3]; 8]) -> ([[L; 3]; 3], [L; 3], [L; 3], L) {
    let zero = x[0][0].of(0.0);
    let mut along = [[zero; 3]; 3];
    let mut length = zero;
    for i in 0..3 {
        let (p, q, r, s) = (x[6][i] - x[0][i], x[7][i] - x[1][i], x[4][i] - x[2][i], x[5][i] - x[3][i]);
        // sums of the four edges along each coordinate, from the diagonals
        along[0][i] = p - q - r + s;
        along[1][i] = p + q - r - s;
        along[2][i] = p + q + r + s;
        let (mut low, mut high) = (x[0][i], x[0][i]);
        for corner in &x[1..] {
            low = low.min(corner[i]);
            high = high.max(corner[i]);
        }
        length = length.max(high - low);
    }
    let (mut n, mut lows, mut highs) = ([[zero; 3]; 3], [zero; 3], [zero; 3]);
    for k in 0..3 {
        let (a, b) = (along[(k + 1) % 3], along[(k + 2) % 3]);
        let c = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        let inverse = zero.of(1.0) / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]).sqrt();
        n[k] = [c[0] * inverse, c[1] * inverse, c[2] * inverse];
        let mut low = dot(n[k], x[0]);
        let mut high = low;
        for corner in &x[1..] {
            let h = dot(n[k], *corner);
            low = low.min(h);
            high = high.max(h);
        }
        let beside = (high - low) * BESIDE_HEX;
        (lows[k], highs[k]) = (low - beside, high + beside);
    }
    (n, lows, highs, length)
}

/// Share of an edge by which its distance from another may be told too large: where they are nearly parallel.
const NEARLY: f64 = 1e-5;
/// Squared sine below which edges count as parallel here.
const PARALLEL: f64 = 1e-12;

/// Distances of pairs of edges at least [m], given their ends and where these are.
pub(super) struct EdgeDistances<'a> {
    pub ends: &'a [[u32; 2]],
    pub x: &'a [Vec3],
    pub pairs: &'a [[u32; 2]],
    pub out: &'a mut Vec<f64>,
}

impl OnLanes for EdgeDistances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let EdgeDistances { ends, x, pairs, out } = self;
        out.clear();
        let mut distances = [0.0; MAX_WIDTH];
        for pairs in pairs.chunks(L::WIDTH) {
            let last = pairs.len() - 1;
            let mut p = [[L::splat(token, 0.0); 3]; 4];
            for (k, p) in p.iter_mut().enumerate() {
                let [px, py, pz, _] = L::columns(token, |l| {
                    let at = &x[ends[pairs[l.min(last)][k / 2] as usize][k % 2] as usize];
                    [at.x, at.y, at.z, 0.0]
                });
                *p = [px, py, pz];
            }
            segments(&p).store(&mut distances);
            out.extend_from_slice(&distances[..pairs.len()]);
        }
    }
}

#[inline(always)]
fn minus<L: Lane>(p: [L; 3], q: [L; 3]) -> [L; 3] {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
}

#[inline(always)]
fn dot<L: Lane>(p: [L; 3], q: [L; 3]) -> L {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
}

/// Distance of two segments, a little less.
///
/// ```text
/// u = b − a   v = d − c   r = a − c     s, then t for it, then s again where t was beyond an end of its segment
/// ```
#[inline(always)]
fn segments<L: Lane>([a, b, c, d]: &[[L; 3]; 4]) -> L {
    let (u, v, r) = (minus(*b, *a), minus(*d, *c), minus(*a, *c));
    let (uu, uv, vv, ur, vr) = (dot(u, u), dot(u, v), dot(v, v), dot(u, r), dot(v, r));
    let (zero, one) = (uu.of(0.0), uu.of(1.0));
    let determinant = uu * vv - uv * uv;
    let s = ((uv * vr - ur * vv) / determinant).max(zero).min(one);
    let s = determinant.if_less(uu * vv * PARALLEL, zero, s);
    let t = (uv * s + vr) / vv;
    let at_start = (-ur / uu).max(zero).min(one);
    let at_end = ((uv - ur) / uu).max(zero).min(one);
    let s = t.if_less(zero, at_start, one.if_less(t, at_end, s));
    let t = t.max(zero).min(one);
    let h = [r[0] + u[0] * s - v[0] * t, r[1] + u[1] * s - v[1] * t, r[2] + u[2] * s - v[2] * t];
    dot(h, h).sqrt() - uu.sqrt() * NEARLY
}

/// Nodes of one body that are nearer than `reach` to targets of another.
pub(super) struct NodesInTargets<'a> {
    pub of: &'a BodyPairs,
    pub features: &'a Features<'a>,
    pub bodies: [u32; 2],
    pub reach: f64,
    pub apart: f64,
    pub room: &'a mut Room,
}

impl OnLanes for NodesInTargets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let NodesInTargets { of, features, bodies: [a, b], reach, apart, room } = self;
        let Room { points, ids, made, .. } = room;
        let [first, second] = [a, b].map(|body| &of.travels[body as usize]);
        let near = second.extent.grown(reach + BESIDE * second.largest);
        ids.clear();
        for &i in of.contactors_of.of(a) {
            let y = of.now[of.node_of[i as usize] as usize];
            if !(0..3).all(|k| near.lo[k] <= y[k] && y[k] <= near.hi[k]) {
                continue;
            }
            let (block, lane) = (ids.len() / L::WIDTH, ids.len() % L::WIDTH);
            if points.len() == block {
                points.push([[0.0; MAX_WIDTH]; 3]);
            }
            for k in 0..3 {
                points[block][k][lane] = y[k];
            }
            ids.push(i);
        }
        let (near, mut distances) = (first.extent.grown(reach), [0.0; MAX_WIDTH]);
        for t in features.targets.of_body(b as usize) {
            if ids.is_empty() {
                break;
            }
            let target = &features.targets.list[t];
            let of_target = target.reach(|n| of.now[n as usize]);
            if !near.meets(&of_target) {
                continue;
            }
            let (hull, dimension) = (&of.hulls[t], target.kind.dimension());
            for (block, ids) in points.iter().zip(ids.chunks(L::WIDTH)) {
                let y = [L::load(token, &block[0]), L::load(token, &block[1]), L::load(token, &block[2])];
                hull.distance_of(y).store(&mut distances);
                for (lane, &i) in ids.iter().enumerate() {
                    let beyond = distances[lane] > reach;
                    if beyond {
                        continue;
                    }
                    let across = |k: usize| {
                        let y = block[k][lane];
                        y >= of_target.lo[k] - apart && y <= of_target.hi[k] + apart
                    };
                    let node = of.node_of[i as usize];
                    let own = || target.nodes().contains(&node) || features.targets.is_around(node, t as u32);
                    if (dimension..3).all(across) && (a != b || !own()) {
                        made[NODES].push(distances[lane], [i, t as u32]);
                    }
                }
            }
        }
    }
}
