//! Which candidates are worth an exact look? Most end here, eight at a time.
//!
//! A sieve may let through what does not touch, and never holds back what does: its bounds are wider than the
//! rounding of both computations by orders of magnitude, and whatever it cannot judge passes. So it changes
//! the work and not the result.

use super::super::closest_point::NO_NORMAL;
use super::super::scene::{Facet, FacetKind, Scene};
use super::closest_on;
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes};

/// Vectors of all lanes side by side.
#[inline(always)]
pub(super) fn gather<L: Lane>(token: L::Token, of: impl Fn(usize) -> Vec3) -> [L; 3] {
    let [x, y, z, _] = L::columns(token, |l| {
        let v = of(l);
        [v.x, v.y, v.z, 0.0]
    });
    [x, y, z]
}

#[inline(always)]
pub(super) fn minus<L: Lane>(p: [L; 3], q: [L; 3]) -> [L; 3] {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
}

#[inline(always)]
fn negative<L: Lane>(p: [L; 3]) -> [L; 3] {
    [-p[0], -p[1], -p[2]]
}

#[inline(always)]
fn quarter<L: Lane>(p: [L; 3]) -> [L; 3] {
    [p[0] * 0.25, p[1] * 0.25, p[2] * 0.25]
}

#[inline(always)]
fn plus<L: Lane>(p: [L; 3], q: [L; 3]) -> [L; 3] {
    [p[0] + q[0], p[1] + q[1], p[2] + q[2]]
}

#[inline(always)]
pub(super) fn dot<L: Lane>(p: [L; 3], q: [L; 3]) -> L {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
}

#[inline(always)]
pub(super) fn cross<L: Lane>(p: [L; 3], q: [L; 3]) -> [L; 3] {
    [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
}

/// Key of a pair, ordered like the pair.
#[inline(always)]
pub(super) fn key(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Candidates that are looked at together, at most.
const BLOCK: usize = 16 * MAX_WIDTH;

/// Room to work on one block of candidates.
#[derive(Clone, Debug)]
pub(super) struct SieveBuffers {
    /// Places in the block of those of each kind that is judged on lanes.
    places: [[u32; BLOCK]; ON_LANES.len()],
    /// Squared distances beyond doubt. At least: infinite if out of reach, negative if the candidate is to be
    /// kept whatever its neighbours are.
    least: [f64; BLOCK],
    most: [f64; BLOCK],
    /// Squared distance at least of a node that is clearly in front of its facet; negative where that is not known.
    open: [f64; BLOCK],
    body: [u32; BLOCK],
}

impl Default for SieveBuffers {
    fn default() -> Self {
        SieveBuffers {
            places: [[0; BLOCK]; ON_LANES.len()],
            least: [0.0; BLOCK],
            most: [0.0; BLOCK],
            open: [0.0; BLOCK],
            body: [0; BLOCK],
        }
    }
}

const KEEP: f64 = -1.0;

/// Nodes on faces of one pair of bodies. Kept is what may be within `limit` and, of the neighbours in the list
/// that belong to the same node and body, may be the closest (or as close as it) or have its closest point
/// inside the facet.
///
/// Where only what overlaps is wanted and all candidates of a node stand together, a node goes that is farther away than `open`
/// and in front of every facet that is left to it. The normal that will tell the sign of its distance is a mean of those of
/// the nearest ones, and they are all there: what lies on the nearest edge or corner is as near.
///
/// Returns how near the nearest of those came [m].
pub(super) struct NodesFaces<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    pub limit: f64,
    pub open: Option<f64>,
    pub pairs: &'a [[u32; 2]],
    pub buffers: &'a mut SieveBuffers,
    pub keys: &'a mut Vec<u64>,
}

impl OnLanes for NodesFaces<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) -> f64 {
        let NodesFaces { scene, x, limit, open: wanted, pairs, buffers, keys } = self;
        let SieveBuffers { places, least, most, open, body } = buffers;
        let (mut nearest_open, mut rest) = (f64::INFINITY, pairs);
        while !rest.is_empty() {
            let (size, whole) = next_block(pairs, rest, BLOCK, wanted.is_some());
            let (block, others) = rest.split_at(size);
            rest = others;
            let mut of_kind = [0, 0];
            for (i, &[node, face]) in block.iter().enumerate() {
                let facet = &scene.facets[face as usize];
                body[i] = facet.body;
                if let Some(kind) = ON_LANES.iter().position(|&k| k == facet.kind) {
                    places[kind][of_kind[kind]] = i as u32;
                    of_kind[kind] += 1;
                } else {
                    let far = beyond(facet, x, &x[node as usize], limit);
                    least[i] = if far { f64::INFINITY } else { KEEP };
                    (most[i], open[i]) = (f64::INFINITY, KEEP);
                }
            }
            for ((kind, count), places) in ON_LANES.into_iter().zip(of_kind).zip(&*places) {
                for places in places[..count].chunks(L::WIDTH) {
                    let pair = |l: usize| block[places[l.min(places.len() - 1)] as usize];
                    let [yx, yy, yz, size] = L::columns(token, |l| {
                        let [node, face] = pair(l);
                        let y = &x[node as usize];
                        [y.x, y.y, y.z, scene.facet_size[face as usize]]
                    });
                    let y = [yx, yy, yz];
                    let corner = |l: usize, k: usize| x[scene.facets[pair(l)[1] as usize].nodes[k] as usize];
                    let a = minus(gather(token, |l| corner(l, 0)), y);
                    let b = minus(gather(token, |l| corner(l, 1)), y);
                    let c = minus(gather(token, |l| corner(l, 2)), y);
                    let doubt = doubt_about(size, y);
                    let (low, high, front) = match kind {
                        FacetKind::Triangle => triangle_bounds::<L>(a, b, c, doubt, limit),
                        _ => {
                            let d = minus(gather(token, |l| corner(l, 3)), y);
                            let (low, high) = quad_bounds::<L>([a, b, c, d], doubt, limit);
                            (low, high, low.of(KEEP))
                        }
                    };
                    let mut lanes = [[0.0; MAX_WIDTH]; 3];
                    low.store(&mut lanes[0]);
                    high.store(&mut lanes[1]);
                    front.store(&mut lanes[2]);
                    for (l, &i) in places.iter().enumerate() {
                        let i = i as usize;
                        (least[i], most[i], open[i]) = (lanes[0][l], lanes[1][l], lanes[2][l]);
                    }
                }
            }
            let mut from = 0;
            while from < block.len() {
                let (node, of) = (block[from][0], body[from]);
                // Infinity is out of reach, also where nothing is known of the others.
                let mut nearest = f64::MAX;
                let mut to = from;
                while to < block.len() && block[to][0] == node && body[to] == of {
                    nearest = if most[to] < nearest { most[to] } else { nearest };
                    to += 1;
                }
                let (start, mut front) = (keys.len(), f64::INFINITY);
                for i in from..to {
                    if least[i] <= nearest {
                        keys.push(key(node, block[i][1]));
                        front = if open[i] < front { open[i] } else { front };
                    }
                }
                if wanted.is_some_and(|wanted| whole && front > wanted * wanted * (1.0 + 1e-9)) {
                    keys.truncate(start);
                    nearest_open = if front < nearest_open { front } else { nearest_open };
                }
                from = to;
            }
        }
        nearest_open.sqrt()
    }
}

/// Size of the next block, the first of `rest`, which is the end of `pairs`, and whether it has all candidates of its nodes: with
/// `uncut`, a node is not cut in two unless it has more than fit.
#[inline(always)]
fn next_block(pairs: &[[u32; 2]], rest: &[[u32; 2]], most: usize, uncut: bool) -> (usize, bool) {
    let first = pairs.len() - rest.len();
    let begins = first == 0 || pairs[first - 1][0] != rest[0][0];
    if !uncut || rest.len() <= most {
        return (rest.len().min(most), begins);
    }
    let ends = (1..=most).rev().find(|&i| rest[i - 1][0] != rest[i][0]);
    (ends.unwrap_or(most), begins && ends.is_some())
}

/// Facets that are judged on lanes; of the others their boxes are.
const ON_LANES: [FacetKind; 2] = [FacetKind::Triangle, FacetKind::Quad];
/// Squared sine of the corner angle below which nothing is said about a triangle, or of a parallelogram about a quad.
const NEEDLE: f64 = 2e-3;

/// Doubt about a squared distance [m²]: of distances that count as equal, and of points that are rounded far from the
/// origin (ε|y| in a distance d is at most 10⁻⁹ d² + 10⁹ ε² |y|² in its square).
#[inline(always)]
fn doubt_about<L: Lane>(size: L, y: [L; 3]) -> L {
    size * size * 1e-11 + dot(y, y) * 1e-20
}

/// Bounds of the squared distance of triangles to the origin: `(least, most)` as in [`SieveBuffers`].
///
/// ```text
/// u = b − a   v = c − a   w = −a   D = (u·u)(v·v) − (u·v)²
/// s D = (v·v)(u·w) − (u·v)(v·w)       t D = (u·u)(v·w) − (u·v)(u·w)
/// distance² = (w·(u×v))² / D  where s, t, 1 − s − t ≥ 0, else that of the nearest edge
/// ```
///
/// Distances carry a margin of 10⁻⁹ of the squared lengths they are made of, and `doubt`. Inside is generous by 10⁻⁶,
/// and by the rounding of products with a point far from the triangle. Behind them stands `open`, also as there.
#[inline(always)]
fn triangle_bounds<L: Lane>(a: [L; 3], b: [L; 3], c: [L; 3], doubt: L, limit: f64) -> (L, L, L) {
    let (u, v, w) = (minus(b, a), minus(c, a), negative(a));
    let (uu, uv, vv, ww) = (dot(u, u), dot(u, v), dot(v, v), dot(w, w));
    let (uw, vw) = (dot(u, w), dot(v, w));
    let det = uu * vv - uv * uv;
    let (s, t) = (vv * uw - uv * vw, uu * vw - uv * uw);
    let rest = det - s - t;
    let height = dot(w, cross(u, v));

    let (e, f) = (minus(v, u), minus(w, u));
    let rim = to_edge(w, u, uu, uw).min(to_edge(w, v, vv, vw)).min(to_edge(f, e, dot(e, e), dot(e, f)));
    let lowest = s.min(t).min(rest);
    let distance = lowest.if_less(det.of(0.0), rim, height * height / det);

    let scale = uu + vv;
    let margin = (scale + ww) * 1e-9 + doubt;
    let slack = det * 1e-6 + scale * (scale + ww) * 1e-12;
    let keep = det.of(KEEP);
    let least = distance - margin;
    let least = lowest.if_less(-slack - slack, least, keep);
    let least = det.of(limit * limit).if_less(distance - margin, det.of(f64::INFINITY), least);
    // Doubt, also where something is not a number: keep, and judge no other by it.
    let roomy = uu * vv * NEEDLE;
    let clearly = ((scale + ww) * 1e-12 + doubt) * det;
    let front = clearly.if_less(height * height, (distance - margin).max(det.of(0.0)), keep);
    let front = det.of(0.0).if_less(height, front, keep);
    (
        roomy.if_less(det, least, keep),
        roomy.if_less(det, distance + margin, det.of(f64::INFINITY)),
        roomy.if_less(det, front, keep),
    )
}

/// The same for bilinear quads.
///
/// ```text
/// S = m + ξ a + η b + ξη c      n = a × b      c = α a + β b + γ n/|n|      −m = s a + t b + h n/|n|
/// ```
///
/// The face stays within |γ| of the plane through m along a and b, and its points above (s, t) lie within |α|, |β| of it.
/// Where the distance is least inside the face, d = S ≤ limit is normal to a + ηc and b + ξc, so that its part in the
/// plane is at most `limit |γ| (|a'| + |b'|)/|a' × b'|` (a', b' in the plane): with |α| + |β| ≤ ½ no more than
/// `6 limit |γ| (a·a + b·b)/n·n` of a or b. Beyond that the distance is that of the rim. More is not said about
/// narrower or more uneven faces than that, but for the ball they are in.
#[inline(always)]
fn quad_bounds<L: Lane>(r: [[L; 3]; 4], doubt: L, limit: f64) -> (L, L) {
    let (p, q) = (minus(r[2], r[0]), minus(r[3], r[1]));
    let (a, b) = (quarter(minus(p, q)), quarter(plus(p, q)));
    let (even, odd) = (plus(r[0], r[2]), plus(r[1], r[3]));
    let (m, c) = (quarter(plus(even, odd)), quarter(minus(even, odd)));
    let (aa, bb, cc, mm) = (dot(a, a), dot(b, b), dot(c, c), dot(m, m));
    let n = cross(a, b);
    let nn = dot(n, n);
    let one = nn.of(1.0);
    let inverse = one / nn;
    let (bn, na) = (cross(b, n), cross(n, a));
    let (s, t) = ((dot(m, bn) * inverse).abs(), (dot(m, na) * inverse).abs());
    let (alpha, beta) = ((dot(c, bn) * inverse).abs(), (dot(c, na) * inverse).abs());
    let root = inverse.sqrt();
    let (h, gamma) = ((dot(m, n) * root).abs(), (dot(c, n) * root).abs());

    let rim = between(r[0], r[1]).min(between(r[1], r[2])).min(between(r[2], r[3])).min(between(r[3], r[0]));

    let scale = aa + bb + cc;
    let margin = (scale + mm) * 1e-9 + doubt;
    let slack = (aa + bb) * gamma * inverse * (6.0 * limit) + (scale + mm) * inverse * scale * 1e-12 + 1e-6;
    let reach = (s - alpha).max(t - beta);
    let (keep, never) = (nn.of(KEEP), nn.of(f64::INFINITY));
    let farthest = nn.of(limit * limit);
    // from the rim, unless the closest point may be inside
    let least = (one + slack).if_less(reach, rim - margin, keep);
    let least = farthest.if_less(least, never, least);
    let above = (h - gamma).max(nn.of(0.0));
    let least = farthest.if_less(above * above - margin, never, least);
    let inside = one.if_less((s + alpha).max(t + beta), never, (h + gamma) * (h + gamma));
    let most = rim.min(inside) + margin;
    // the ball around m
    let radius = (scale * 3.0).sqrt() + limit;
    let ball = (radius * radius + margin).if_less(mm, never, keep);
    // Doubt, also where something is not a number: keep, and judge no other by it.
    let (roomy, uneven) = (aa * bb * NEEDLE, alpha + beta);
    let least = uneven.if_less(one * 0.5, least, ball);
    let most = uneven.if_less(one * 0.5, most, never);
    (roomy.if_less(nn, least, ball), roomy.if_less(nn, most, never))
}

/// Squared distance of the segment from `p` to `q` to the origin.
#[inline(always)]
fn between<L: Lane>(p: [L; 3], q: [L; 3]) -> L {
    let (e, w) = (minus(q, p), negative(p));
    to_edge(w, e, dot(e, e), dot(e, w))
}

/// Squared distance of `w` to the segment from zero to `e`, with `ee = e·e` and `ew = e·w`.
#[inline(always)]
fn to_edge<L: Lane>(w: [L; 3], e: [L; 3], ee: L, ew: L) -> L {
    let at = (ew / ee).max(ee.of(0.0)).min(ee.of(1.0));
    let d = [w[0] - at * e[0], w[1] - at * e[1], w[2] - at * e[2]];
    dot(d, d)
}

/// Keeps, of the keys from `start` on, the nodes whose closest point is within `limit`, measured as it will be.
pub(super) fn keep_within(scene: &Scene, x: &[Vec3], limit: f64, start: usize, keys: &mut Vec<u64>) {
    let mut kept = start;
    for i in start..keys.len() {
        let (node, face) = ((keys[i] >> 32) as u32, keys[i] as u32);
        let hit = closest_on(&scene.facets[face as usize], x, &x[node as usize], node, face);
        keys[kept] = keys[i];
        kept += usize::from(hit.distance_squared <= limit * limit);
    }
    keys.truncate(kept);
}

/// Is `y` farther than `limit` from the box of the facet? Cheaper than the closest point, and many
/// candidates that live through several steps are.
#[inline]
fn beyond(facet: &Facet, x: &[Vec3], y: &Vec3, limit: f64) -> bool {
    if facet.kind == FacetKind::Plane {
        return false;
    }
    let (mut lo, mut hi) = (x[facet.nodes[0] as usize], x[facet.nodes[0] as usize]);
    for &k in &facet.nodes[1..facet.kind.corners().max(1)] {
        let p = &x[k as usize];
        for i in 0..3 {
            lo[i] = if p[i] < lo[i] { p[i] } else { lo[i] };
            hi[i] = if p[i] > hi[i] { p[i] } else { hi[i] };
        }
    }
    // A little wider than `limit`: the distance is measured with rounding, and whether a pair belongs
    // to the answer must not depend on who asks.
    let size = (0..3).fold(limit, |m, i| m.max(hi[i].abs()).max(lo[i].abs()).max(y[i].abs()));
    let wide = limit + 1e-14 * size;
    (0..3).any(|i| y[i] < lo[i] - wide || y[i] > hi[i] + wide)
}

/// Pairs of edges that may cross within `limit`.
///
/// ```text
/// u = b − a   v = d − c   r = a − c      det = |u × v|²
/// s = ((u·v)(v·r) − (v·v)(u·r)) / det    t = ((u·u)(v·r) − (u·v)(u·r)) / det    distance = |r·(u × v)| / √det
/// ```
///
/// Generous by far more than round-off where the edges are not parallel; parallel ones never cross.
///
/// With `outward`, the unit normals of all edges m, those go that are clearly open: where `r·(u × v)` and `(u × v)·(m₂ − m₁)` have
/// the same sign. Returns how near the nearest of those came [m].
pub(super) struct Edges<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    pub limit: f64,
    pub outward: Option<&'a [Vec3]>,
    pub pairs: &'a [[u32; 2]],
    pub keys: &'a mut Vec<u64>,
}

impl OnLanes for Edges<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) -> f64 {
        const GENEROUS: f64 = 1e-3;
        let Edges { scene, x, limit, outward, pairs, keys } = self;
        let mut nearest_open = L::splat(token, f64::INFINITY);
        for some in pairs.chunks(L::WIDTH) {
            let pair = |l: usize| some[l.min(some.len() - 1)].map(|e| e as usize);
            let end = |l: usize, which: usize, k: usize| x[scene.edges[pair(l)[which]].nodes[k] as usize];
            let (a, b) = (gather::<L>(token, |l| end(l, 0, 0)), gather::<L>(token, |l| end(l, 0, 1)));
            let (c, d) = (gather::<L>(token, |l| end(l, 1, 0)), gather::<L>(token, |l| end(l, 1, 1)));
            let (u, v, r) = (minus(b, a), minus(d, c), minus(a, c));
            let (uu, uv, vv, rr) = (dot(u, u), dot(u, v), dot(v, v), dot(r, r));
            let (ur, vr) = (dot(u, r), dot(v, r));
            let det = uu * vv - uv * uv;
            let (s, t, across) = (uv * vr - vv * ur, uu * vr - uv * ur, cross(u, v));
            let height = dot(r, across);
            let (least, most) = (det * -GENEROUS, det * (1.0 + GENEROUS));
            let doubt = rr * 1e-12 + dot(a, a) * 1e-24;
            let near = (doubt + limit * limit * (1.0 + 1e-6)) * det;
            let (yes, no) = (det.of(1.0), det.of(0.0));
            let kept = s.min(t).if_less(least, no, yes);
            let kept = most.if_less(s.max(t), no, kept);
            let kept = near.if_less(height * height, no, kept);
            // Edges that are parallel to a millionth have no normal to touch along.
            let kept = det.if_less(uu * vv * (0.5 * NO_NORMAL * NO_NORMAL), no, kept);
            let mut keep = [0.0; MAX_WIDTH];
            if let Some(outward) = outward {
                let m = gather::<L>(token, |l| outward[pair(l)[0]]);
                let n = gather::<L>(token, |l| outward[pair(l)[1]]);
                let towards = dot(across, minus(n, m));
                let open = no.if_less(height * towards, yes, no);
                let open = (doubt * det).if_less(height * height, open, no);
                let open = (det * 1e-12).if_less(towards * towards, open, no);
                let open = no.if_less(kept, open, no);
                nearest_open =
                    nearest_open.min(no.if_less(open, height * height / det - doubt, nearest_open));
                no.if_less(open, no, kept).store(&mut keep);
            } else {
                kept.store(&mut keep);
            }
            for (l, &[e, f]) in some.iter().enumerate() {
                if keep[l] != 0.0 {
                    keys.push(key(e, f));
                }
            }
        }
        let mut apart = [f64::INFINITY; MAX_WIDTH];
        nearest_open.store(&mut apart);
        apart.into_iter().fold(f64::INFINITY, f64::min).max(0.0).sqrt()
    }
}
