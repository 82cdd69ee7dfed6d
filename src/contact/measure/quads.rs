//! Closest points on quadrilaterals, several side by side.
//!
//! Over most faces the distance of a node is convex: whole steps of Newton's method find the closest point inside, or it lies on the
//! rim and grows from there into the face. These cases are computed on lanes, by the operations of
//! [`quad4`](super::super::closest_point::quad4) in their order: the bits are those of one at a time, which serves everything else.

use super::super::closest_point::quad::{AFFINE, ARRIVED, INDEFINITE, RIM};
use super::super::closest_point::{FLAT, Feature, NEEDLE};
use super::super::scene::{FacetKind, Scene};
use super::sieve::{cross, dot, gather, minus};
use super::{Hit, closest_on};
use crate::math::Vec3;
use crate::math::lane::{self, Lane, MAX_WIDTH, OnLanes};

/// Keys that are measured at a stretch.
const BLOCK: usize = 8 * MAX_WIDTH;
/// Steps of Newton's method on lanes; five is the median.
const STEPS: usize = 10;
/// How fast, in units of the squared size, the squared distance must grow into the face from a point of the rim for it to be certain:
/// nothing as flat as [`ARRIVED`] is then farther than [`RIM`] from that point, and Newton's method ends nowhere inside.
const HELD: f64 = 1e-9;

/// Hits of keys that are asked for in their order.
pub(super) struct Hits<'a> {
    scene: &'a Scene,
    x: &'a [Vec3],
    keys: &'a [u64],
    /// Which keys `found` is about: from here on.
    from: usize,
    found: [Option<Hit>; BLOCK],
}

impl<'a> Hits<'a> {
    pub(super) fn new(scene: &'a Scene, x: &'a [Vec3], keys: &'a [u64]) -> Hits<'a> {
        Hits { scene, x, keys, from: usize::MAX, found: [None; BLOCK] }
    }

    /// Closest point of the key at `place`.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> Hit {
        if place.wrapping_sub(self.from) >= BLOCK {
            self.from = place;
            self.found.fill(None);
            let Hits { scene, x, keys, found, .. } = self;
            let keys = &keys[place..keys.len().min(place + BLOCK)];
            lane::dispatch(OnQuads { scene, x, keys, found });
        }
        self.found[place - self.from].unwrap_or_else(|| {
            let (node, face) = parts(self.keys[place]);
            closest_on(&self.scene.facets[face as usize], self.x, &self.x[node as usize], node, face)
        })
    }
}

fn parts(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// Those of some keys whose closest point is found on lanes.
struct OnQuads<'a> {
    scene: &'a Scene,
    x: &'a [Vec3],
    keys: &'a [u64],
    found: &'a mut [Option<Hit>; BLOCK],
}

impl OnLanes for OnQuads<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let OnQuads { scene, x, keys, found } = self;
        if L::WIDTH == 1 {
            return;
        }
        let (mut quads, mut count) = ([0; BLOCK], 0);
        for (place, &key) in keys.iter().enumerate() {
            quads[count] = place;
            count += usize::from(scene.facets[parts(key).1 as usize].kind == FacetKind::Quad);
        }
        for some in quads[..count].chunks(L::WIDTH) {
            let of = |l: usize| parts(keys[some[l.min(some.len() - 1)]]);
            let corner = |l: usize, k: usize| x[scene.facets[of(l).1 as usize].nodes[k] as usize];
            let y = gather::<L>(token, |l| x[of(l).0 as usize]);
            // No closures around lanes: one that is not inlined leaves the wide registers.
            let (a, b) = (gather::<L>(token, |l| corner(l, 0)), gather::<L>(token, |l| corner(l, 1)));
            let (c, d) = (gather::<L>(token, |l| corner(l, 2)), gather::<L>(token, |l| corner(l, 3)));
            let mut lanes = [[0.0; MAX_WIDTH]; FIELDS];
            for (field, to) in closest(y, &[a, b, c, d]).into_iter().zip(&mut lanes) {
                field.store(to);
            }
            for (l, &place) in some.iter().enumerate() {
                if lanes[CERTAIN][l] == 0.0 {
                    continue;
                }
                let (node, face) = parts(keys[place]);
                found[place] = Some(Hit {
                    node,
                    face,
                    feature: feature([0, 1, 2, 3].map(|k| lanes[SIDES + k][l] > 0.0)),
                    degenerate: false,
                    weights: [0, 1, 2, 3].map(|k| lanes[k][l]),
                    point: Vec3::new(lanes[POINT][l], lanes[POINT + 1][l], lanes[POINT + 2][l]),
                    distance_squared: lanes[DISTANCE][l],
                });
            }
        }
    }
}

/// Fields of the answer for lanes: weights, point, squared distance, on which edges it lies, and whether it is one.
const FIELDS: usize = 13;
const POINT: usize = 4;
const DISTANCE: usize = 7;
const SIDES: usize = 8;
const CERTAIN: usize = 12;

/// Where a point lies that is on some edges.
fn feature(sides: [bool; 4]) -> Feature {
    match sides {
        [false, false, false, false] => Feature::Face,
        [true, _, _, true] => Feature::Vertex(0),
        [true, true, ..] => Feature::Vertex(1),
        [_, true, true, _] => Feature::Vertex(2),
        [_, _, true, true] => Feature::Vertex(3),
        [true, ..] => Feature::Edge(0),
        [_, true, ..] => Feature::Edge(1),
        [_, _, true, _] => Feature::Edge(2),
        [.., true] => Feature::Edge(3),
    }
}

/// The face `S − y = m + ξ a + η b + ξη c`.
#[derive(Clone, Copy)]
struct Face<L> {
    m: [L; 3],
    a: [L; 3],
    b: [L; 3],
    c: [L; 3],
    size_squared: L,
}

#[inline(always)]
fn plus<L: Lane>(p: [L; 3], q: [L; 3]) -> [L; 3] {
    [p[0] + q[0], p[1] + q[1], p[2] + q[2]]
}

#[inline(always)]
fn times<L: Lane>(s: L, p: [L; 3]) -> [L; 3] {
    [s * p[0], s * p[1], s * p[2]]
}

/// One where `p < q` and `yes` is one, else zero.
#[inline(always)]
fn and_less<L: Lane>(yes: L, p: L, q: L) -> L {
    p.if_less(q, yes, yes.of(0.0))
}

impl<L: Lane> Face<L> {
    /// One where the distance is convex over the whole face.
    #[inline(always)]
    fn is_convex(&self, aa: L, ab: L, bb: L) -> L {
        let (cc, ac, bc) = (dot(self.c, self.c), dot(self.a, self.c), dot(self.b, self.c));
        let (even, odd) = (ab + dot(self.m, self.c), cc * 2.0);
        let (p, q) = ((ac + bc) * 2.0, (ac - bc) * 2.0);
        let mixed = ((even + odd).abs() + p.abs()).max((even - odd).abs() + q.abs());
        let product = least(aa, ac, cc) * least(bb, bc, cc);
        let certain = and_less(cc.of(1.0), cc.of(0.0), cc);
        and_less(certain, mixed * mixed * (1.0 + 1e-9), product)
    }

    #[inline(always)]
    fn offset(&self, [xi, eta]: [L; 2]) -> [L; 3] {
        plus(plus(self.m, times(xi, self.a)), times(eta, plus(self.b, times(xi, self.c))))
    }
}

/// Least of `|v + ξ c|²` over the face.
#[inline(always)]
fn least<L: Lane>(vv: L, vc: L, cc: L) -> L {
    let at = (-vc / cc).max(cc.of(-1.0)).min(cc.of(1.0));
    vv + at * (vc * 2.0 + at * cc)
}

/// One where no edge and no area of the face with corners `r` is as good as nothing.
#[inline(always)]
fn has_area<L: Lane>(r: &[[L; 3]; 4], size_squared: L) -> L {
    let flat = size_squared * (FLAT * FLAT);
    let mut certain = flat.of(1.0);
    for k in 0..4 {
        let (side, diagonal) = (minus(r[(k + 1) % 4], r[k]), minus(r[(k + 2) % 4], r[k]));
        let area = cross(side, diagonal);
        certain = and_less(certain, flat * 4.0, dot(side, side));
        certain = and_less(certain, flat * size_squared * 4.0, dot(area, area));
    }
    certain
}

/// Closest points on quads with corners `x`, as far as they are certain.
#[inline(always)]
fn closest<L: Lane>(y: [L; 3], x: &[[L; 3]; 4]) -> [L; FIELDS] {
    let r = [minus(x[0], y), minus(x[1], y), minus(x[2], y), minus(x[3], y)];
    let (d02, d13) = (minus(r[2], r[0]), minus(r[3], r[1]));
    let size_squared = dot(d02, d02).max(dot(d13, d13));
    let quarter = size_squared.of(0.25);
    let (zero, one) = (quarter.of(0.0), quarter.of(1.0));
    let face = Face {
        m: times(quarter, plus(plus(r[0], r[2]), plus(r[1], r[3]))),
        a: times(quarter, minus(d02, d13)),
        b: times(quarter, plus(d02, d13)),
        c: times(quarter, plus(minus(r[0], r[1]), minus(r[2], r[3]))),
        size_squared,
    };
    let (aa, ab, bb) = (dot(face.a, face.a), dot(face.a, face.b), dot(face.b, face.b));
    let det = aa * bb - ab * ab;
    let (fa, fb) = (dot(face.m, face.a), dot(face.m, face.b));
    let start = [(ab * fb - bb * fa) / det, (ab * fa - aa * fb) / det];
    let largest = start[0].abs().max(start[1].abs());
    let regular = and_less(has_area(&r, size_squared), aa * NEEDLE * bb, det);
    let regular = and_less(regular, aa * INDEFINITE * bb, det);
    let twisted = and_less(regular, size_squared * (AFFINE * AFFINE), dot(face.c, face.c));
    // The start is the answer on a parallelogram, or the answer is on an edge.
    let affine = regular - twisted;
    let convex = twisted.min(face.is_convex(aa, ab, bb));
    let (xi, d, arrived) = descend(&face, start, and_less(convex, largest, one));
    let d_start = face.offset(start);
    let xi = [zero.if_less(affine, start[0], xi[0]), zero.if_less(affine, start[1], xi[1])];
    let distance_squared = zero.if_less(affine, dot(d_start, d_start), dot(d, d));
    let inside = and_less(arrived.max(affine), xi[0].abs().max(xi[1].abs()), one.of(1.0 - RIM));

    let (p, q) = ((one - xi[0]) * 0.5, (one + xi[0]) * 0.5);
    let (s, t) = ((one - xi[1]) * 0.5, (one + xi[1]) * 0.5);
    let w = [p * s, q * s, q * t, p * t];
    let point = plus(plus(plus(times(w[0], x[0]), times(w[1], x[1])), times(w[2], x[2])), times(w[3], x[3]));
    let mut found = [
        w[0],
        w[1],
        w[2],
        w[3],
        point[0],
        point[1],
        point[2],
        distance_squared,
        zero,
        zero,
        zero,
        zero,
        inside,
    ];
    if !all_set(inside) {
        let (rim, held) = on_rim(&face, y, x);
        let certain = affine.max(convex.min(held));
        for k in 0..CERTAIN {
            found[k] = zero.if_less(inside, found[k], rim[k]);
        }
        found[CERTAIN] = inside.max(certain);
    }
    found
}

/// Is every lane of these ones and zeros one?
#[inline(always)]
fn all_set<L: Lane>(yes: L) -> bool {
    let mut each = [0.0; MAX_WIDTH];
    yes.store(&mut each);
    each[..L::WIDTH].iter().all(|yes| *yes > 0.0)
}

/// Closest points on the edges of quads, the first of those equally close, and one where the distance clearly grows from there into
/// the face.
#[inline(always)]
fn on_rim<L: Lane>(face: &Face<L>, y: [L; 3], x: &[[L; 3]; 4]) -> ([L; FIELDS], L) {
    let (zero, one) = (y[0].of(0.0), y[0].of(1.0));
    let mut best = [zero; FIELDS];
    best[DISTANCE] = zero.of(f64::INFINITY);
    for k in 0..4 {
        let (next, last) = ((k + 1) % 4, (k + 3) % 4);
        let along = minus(x[next], x[k]);
        let t = dot(minus(y, x[k]), along) / dot(along, along);
        let t = t.max(zero).min(one);
        let (at_start, at_end) = (zero.if_less(t, zero, one), t.if_less(one, zero, one));
        let mut point = plus(x[k], times(t, along));
        for i in 0..3 {
            point[i] = zero.if_less(at_end, x[next][i], zero.if_less(at_start, x[k][i], point[i]));
        }
        let d = minus(y, point);
        let mut here = [zero; FIELDS];
        (here[k], here[next]) = (one - t, t);
        [here[POINT], here[POINT + 1], here[POINT + 2]] = point;
        here[DISTANCE] = dot(d, d);
        (here[SIDES + k], here[SIDES + last], here[SIDES + next]) = (one, at_start, at_end);
        let nearer = here[DISTANCE].if_less(best[DISTANCE], one, zero);
        for (best, here) in best.iter_mut().zip(here) {
            *best = zero.if_less(nearer, here, *best);
        }
    }
    let [a, b, c, d, ..] = best;
    let (xi, eta) = ((b + c) - (a + d), (c + d) - (a + b));
    let d = face.offset([xi, eta]);
    let f = [dot(d, plus(face.a, times(eta, face.c))), dot(d, plus(face.b, times(xi, face.c)))];
    let enough = face.size_squared * HELD;
    let mut held = one;
    // Edges 0 … 3 lie at η = −1, ξ = 1, η = 1, ξ = −1.
    for (k, inwards) in [f[1], -f[0], -f[1], f[0]].into_iter().enumerate() {
        held = zero.if_less(best[SIDES + k], and_less(held, enough, inwards), held);
    }
    (best, held)
}

/// Whole steps of Newton's method inside the face; certain is where they arrive.
#[inline(always)]
fn descend<L: Lane>(face: &Face<L>, start: [L; 2], certain: L) -> ([L; 2], [L; 3], L) {
    let (zero, one) = (certain.of(0.0), certain.of(1.0));
    let enough = face.size_squared * ARRIVED;
    let (mut xi, mut open, mut arrived) = (start, certain, zero);
    let mut d = face.offset(xi);
    let mut h = dot(d, d) * 0.5;
    for _ in 0..STEPS {
        let (a, b) = (plus(face.a, times(xi[1], face.c)), plus(face.b, times(xi[0], face.c)));
        let f = [dot(d, a), dot(d, b)];
        let here = enough.if_less(f[0].abs().max(f[1].abs()), zero, open);
        arrived = arrived.max(here);
        open = open - here;
        let mut left = [0.0; MAX_WIDTH];
        open.store(&mut left);
        if left[..L::WIDTH].iter().all(|open| *open == 0.0) {
            break;
        }
        let (aa, bb) = (dot(a, a), dot(b, b));
        let ab = dot(a, b) + dot(d, face.c);
        let det = aa * bb - ab * ab;
        open = and_less(open, aa * INDEFINITE * bb, det);
        let step = [(ab * f[1] - bb * f[0]) / det, (ab * f[0] - aa * f[1]) / det];
        let next = [xi[0] + step[0], xi[1] + step[1]];
        open = and_less(open, next[0].abs().max(next[1].abs()), one);
        let d_next = face.offset(next);
        let h_next = dot(d_next, d_next) * 0.5;
        let promised = f[0] * (next[0] - xi[0]) + f[1] * (next[1] - xi[1]);
        let bound = h * (1.0 + 4.0 * f64::EPSILON) + promised.min(zero) * 1e-4;
        open = bound.if_less(h_next, zero, open);
        // who does not move has not arrived, and stays where it is
        let way = (next[0] - xi[0]).abs().max((next[1] - xi[1]).abs());
        open = and_less(open, zero, way);
        xi = [zero.if_less(open, next[0], xi[0]), zero.if_less(open, next[1], xi[1])];
        for k in 0..3 {
            d[k] = zero.if_less(open, d_next[k], d[k]);
        }
        h = zero.if_less(open, h_next, h);
    }
    (xi, d, arrived)
}

#[cfg(test)]
mod tests {
    use super::super::super::dice::Dice;
    use super::super::super::scene::{Attributes, BodyInput, Rules};
    use super::super::sieve::key;
    use super::*;

    /// Warped quads, flat ones, parallelograms and soups, small, large and far away, and nodes near them: each closest point in company has the bits
    /// of the one alone, and most are found in company, inside and on the rim.
    #[test]
    fn closest_points_on_quads_in_company_are_those_alone() {
        let mut dice = Dice(31);
        let (mut all, mut certain) = ([0; 2], [0; 2]);
        for round in 0..400 {
            let far = if round % 5 == 0 { 1e6 } else { 0.0 };
            let scale = [1.0, 1e-5, 1e4][round % 3];
            let uneven = [0.05, 0.3, 0.0, 2.0][round % 4];
            let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
            let mut x = Vec::new();
            let mut quads = Vec::new();
            for _ in 0..12 {
                let first = x.len() as u32;
                quads.push([first, first + 1, first + 2, first + 3]);
                x.extend(square.map(|corner| corner + dice.point(uneven)));
            }
            let nodes = x.len()..x.len() + 40;
            x.extend(nodes.clone().map(|_| Vec3::new(0.5, 0.5, 0.0) + dice.point(0.7)));
            x.iter_mut().for_each(|x| *x = scale * (*x + far * Vec3::new(1.0, -0.3, 0.7)));
            let body = BodyInput::of_quads("quads", &quads, Attributes::default());
            let scene = Scene::new(&[body], &x, Rules::default());
            let pairs = nodes.flat_map(|n| (0..12).map(move |f| key(n as u32, f)));
            let keys: Vec<u64> = pairs.collect();
            let mut hits = Hits::new(&scene, &x, &keys);
            for (place, &key) in keys.iter().enumerate() {
                let (node, face) = parts(key);
                let hit = hits.at(place);
                let alone = closest_on(&scene.facets[face as usize], &x, &x[node as usize], node, face);
                assert_eq!((hit.node, hit.face, hit.feature), (alone.node, alone.face, alone.feature));
                assert_eq!(hit.degenerate, alone.degenerate);
                let bits = |hit: &Hit| {
                    let numbers = hit.weights.iter().chain(&hit.point).chain([&hit.distance_squared]);
                    numbers.map(|n| n.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(bits(&hit), bits(&alone), "{node} on {face} in round {round}");
                let on_rim = usize::from(alone.feature != Feature::Face);
                all[on_rim] += 1;
                certain[on_rim] += usize::from(hits.found[place - hits.from].is_some());
            }
        }
        let wide = lane::dispatch(Width);
        let most = |k: usize| wide == 1 || 2 * certain[k] > all[k];
        assert!(all.iter().all(|n| *n > 50_000) && most(0) && most(1), "{certain:?} of {all:?}");
    }

    struct Width;

    impl OnLanes for Width {
        type Output = usize;

        fn run<L: Lane>(self, _: L::Token) -> usize {
            L::WIDTH
        }
    }
}
