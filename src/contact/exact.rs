//! Oracles for the tests of this room: contact of moving features decided in integer arithmetic, contact
//! proven in interval arithmetic, and the coplanarity cubic in plain numbers.
//!
//! All look at the differences of corners: `r = [p−a, p−b, p−c]` for a node and a triangle, and
//! `[b−a, d−c, c−a]` for the edges a b and c d. For integers a contact time is a root of an integer polynomial,
//! kept as an isolating interval; signs of other polynomials there are decided by Sturm's theorem.

use super::swept::Path;
use crate::math::Vec3;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};

/// The three difference vectors at both ends of the step.
pub(super) type Ends = [[Vec3; 3]; 2];

pub(super) fn node_triangle(p: &Path, [a, b, c]: [&Path; 3]) -> Ends {
    [[p.from - a.from, p.from - b.from, p.from - c.from], [p.to - a.to, p.to - b.to, p.to - c.to]]
}

pub(super) fn edge_edge([a, b]: [&Path; 2], [c, d]: [&Path; 2]) -> Ends {
    [[b.from - a.from, d.from - c.from, c.from - a.from], [b.to - a.to, d.to - c.to, c.to - a.to]]
}

// ---- integer arithmetic -------------------------------------------------------------------------------

/// A polynomial in t with integer coefficients, lowest power first, without trailing zeros.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Poly(Vec<BigInt>);

impl Poly {
    fn new(mut c: Vec<BigInt>) -> Poly {
        while c.last().is_some_and(Zero::is_zero) {
            c.pop();
        }
        Poly(c)
    }

    fn line(from: f64, to: f64) -> Poly {
        assert!(from == from.trunc() && to == to.trunc(), "the oracle knows integers");
        Poly::new(vec![BigInt::from(from as i64), BigInt::from(to as i64 - from as i64)])
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&self, other: &Poly, sign: i32) -> Poly {
        let n = self.0.len().max(other.0.len());
        let at = |p: &Poly, k: usize| p.0.get(k).cloned().unwrap_or_default();
        Poly::new((0..n).map(|k| at(self, k) + at(other, k) * sign).collect())
    }

    fn mul(&self, other: &Poly) -> Poly {
        let mut c = vec![BigInt::zero(); self.0.len() + other.0.len()];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                c[i + j] += a * b;
            }
        }
        Poly::new(c)
    }

    /// Sign at `t = k / 2ᵉ`.
    fn sign_at(&self, (k, e): &(BigInt, u32)) -> i32 {
        let mut sum = BigInt::zero();
        for (power, c) in self.0.iter().rev().enumerate() {
            sum = sum * k + (c << (*e as usize * power));
        }
        sum.is_positive() as i32 - sum.is_negative() as i32
    }

    fn derivative(&self) -> Poly {
        Poly::new(self.0.iter().enumerate().skip(1).map(|(k, c)| c * k).collect())
    }

    /// Divided by the greatest common (positive) divisor of its coefficients.
    fn primitive(self) -> Poly {
        let divisor = self.0.iter().fold(BigInt::zero(), |g, c| greatest_common(g, c.clone()));
        if divisor.is_zero() { self } else { Poly(self.0.iter().map(|c| c / &divisor).collect()) }
    }

    /// Quotient and remainder of a positive multiple of this polynomial.
    fn divide(&self, by: &Poly) -> (Poly, Poly) {
        let mut rest = self.0.clone();
        let mut quotient = vec![BigInt::zero(); self.0.len()];
        let lead = by.0.last().expect("not zero");
        while rest.len() >= by.0.len() {
            let shift = rest.len() - by.0.len();
            let q = rest[rest.len() - 1].clone() * lead.signum();
            for c in rest.iter_mut().chain(&mut quotient) {
                *c *= lead.abs();
            }
            for (k, c) in by.0.iter().enumerate() {
                rest[shift + k] -= &q * c;
            }
            quotient[shift] += q;
            rest.pop();
        }
        (Poly::new(quotient).primitive(), Poly::new(rest).primitive())
    }

    fn gcd(&self, other: &Poly) -> Poly {
        let (mut a, mut b) = (self.clone(), other.clone());
        while !b.is_zero() {
            (a, b) = (b.clone(), a.divide(&b).1);
        }
        a
    }

    /// Isolating intervals of the roots in [0, 1].
    fn roots(&self) -> Vec<Root> {
        if self.0.len() < 2 {
            return Vec::new();
        }
        let sturm = Sturm::new(self);
        let mut roots = Vec::new();
        if self.0[0].is_zero() {
            roots.push(Root::at(0));
        }
        let mut open = vec![Stretch { k: BigInt::zero(), e: 0 }];
        while let Some(stretch) = open.pop() {
            match sturm.count(&stretch) {
                0 => {}
                1 => roots.push(Root { sturm: Some(sturm.clone()), stretch }),
                _ => open.extend(stretch.halves()),
            }
        }
        roots
    }
}

fn greatest_common(a: BigInt, b: BigInt) -> BigInt {
    let (mut a, mut b) = (a.abs(), b.abs());
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// The half-open interval (k, k+1] / 2ᵉ.
#[derive(Clone, Debug)]
struct Stretch {
    k: BigInt,
    e: u32,
}

impl Stretch {
    fn halves(&self) -> [Stretch; 2] {
        [0, 1].map(|i| Stretch { k: &self.k * 2 + i, e: self.e + 1 })
    }

    fn end(&self) -> (BigInt, u32) {
        (&self.k + 1, self.e)
    }
}

/// Sturm's chain of the simple part of a polynomial.
#[derive(Clone, Debug)]
struct Sturm(Vec<Poly>);

impl Sturm {
    fn new(poly: &Poly) -> Sturm {
        let simple = poly.divide(&poly.gcd(&poly.derivative())).0;
        let mut chain = vec![simple.derivative(), simple];
        chain.reverse();
        loop {
            let rest = chain[chain.len() - 2].divide(&chain[chain.len() - 1]).1;
            if rest.is_zero() {
                return Sturm(chain);
            }
            chain.push(Poly(rest.0.iter().map(|c| -c).collect()));
        }
    }

    /// Roots in a stretch.
    fn count(&self, stretch: &Stretch) -> usize {
        let changes = |t: (BigInt, u32)| {
            let signs: Vec<i32> = self.0.iter().map(|p| p.sign_at(&t)).filter(|&s| s != 0).collect();
            signs.windows(2).filter(|w| w[0] != w[1]).count()
        };
        changes((stretch.k.clone(), stretch.e)) - changes(stretch.end())
    }
}

/// The one root of a polynomial in a stretch; without a polynomial, the end of the stretch.
#[derive(Clone, Debug)]
struct Root {
    sturm: Option<Sturm>,
    stretch: Stretch,
}

impl Root {
    fn at(t: i32) -> Root {
        Root { sturm: None, stretch: Stretch { k: BigInt::from(t - 1), e: 0 } }
    }

    /// Sign of `q` at this root.
    fn sign(&mut self, q: &Poly) -> i32 {
        let Some(sturm) = &self.sturm else { return q.sign_at(&self.stretch.end()) };
        if q.0.len() < 2 {
            return q.sign_at(&self.stretch.end());
        }
        let common = sturm.0[0].gcd(q);
        if common.0.len() > 1 && Sturm::new(&common).count(&self.stretch) > 0 {
            return 0;
        }
        let other = Sturm::new(q);
        while other.count(&self.stretch) > 0 {
            let [lower, upper] = self.stretch.halves();
            self.stretch = if sturm.count(&lower) > 0 { lower } else { upper };
        }
        q.sign_at(&self.stretch.end())
    }
}

type Vector = [Poly; 3];

fn vector(from: &Vec3, to: &Vec3) -> Vector {
    [0, 1, 2].map(|k| Poly::line(from[k], to[k]))
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| a[k].add(&b[k], -1))
}

fn dot(a: &Vector, b: &Vector) -> Poly {
    (0..3).fold(Poly(Vec::new()), |sum, k| sum.add(&a[k].mul(&b[k]), 1))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].mul(&b[j]).add(&a[j].mul(&b[i]), -1)
    })
}

fn vanishes(v: &Vector, at: &mut Root) -> bool {
    v.iter().all(|p| at.sign(p) == 0)
}

/// Is the origin on the segment from a to b?
fn on_segment(a: &Vector, b: &Vector, at: &mut Root) -> bool {
    vanishes(&cross(a, b), at) && at.sign(&dot(a, b)) <= 0
}

/// Times at which the answer may change when everything stays coplanar, and both ends of the step.
fn events(segments: &[(&Vector, &Vector)]) -> Vec<Root> {
    let mut times = vec![Root::at(0), Root::at(1)];
    for (a, b) in segments {
        for p in cross(a, b).iter().chain([&dot(a, b)]) {
            times.extend(p.roots());
        }
    }
    times
}

/// Does a node meet a triangle at any time in [0, 1]? Decided exactly, touching and
/// degenerate cases included, for integer coordinates.
pub(crate) fn node_meets_triangle(ends: &Ends) -> bool {
    let r = [0, 1, 2].map(|k| vector(&ends[0][k], &ends[1][k]));
    let sides = [cross(&r[1], &r[2]), cross(&r[2], &r[0]), cross(&r[0], &r[1])];
    let normal = [0, 1, 2].map(|k| sides[0][k].add(&sides[1][k], 1).add(&sides[2][k], 1));
    let volume = dot(&r[0], &sides[0]);
    let areas = [0, 1, 2].map(|k| dot(&normal, &sides[k]));
    let pairs = [(&r[1], &r[2]), (&r[2], &r[0]), (&r[0], &r[1])];
    let times = if volume.is_zero() { events(&pairs) } else { volume.roots() };
    times.into_iter().any(|mut at| {
        if vanishes(&normal, &mut at) {
            pairs.iter().any(|(a, b)| on_segment(a, b, &mut at))
        } else {
            areas.iter().all(|q| at.sign(q) >= 0)
        }
    })
}

/// Do two edges meet at any time in [0, 1]?
pub(crate) fn edge_meets_edge(ends: &Ends) -> bool {
    let [u, v, w] = [0, 1, 2].map(|k| vector(&ends[0][k], &ends[1][k]));
    let normal = cross(&u, &v);
    let volume = dot(&normal, &w);
    let (s, t) = (dot(&cross(&w, &v), &normal), dot(&cross(&w, &u), &normal));
    let square = dot(&normal, &normal);
    // Ends of one edge seen from the ends of the other: c−a, c−b, d−a, d−b.
    let (ca, cb) = (w.clone(), minus(&w, &u));
    let da = [0, 1, 2].map(|k| w[k].add(&v[k], 1));
    let db = minus(&da, &u);
    let ends_on = [(&ca, &cb), (&da, &db), (&ca, &da), (&cb, &db)];
    let times = if volume.is_zero() { events(&ends_on) } else { volume.roots() };
    times.into_iter().any(|mut at| {
        if vanishes(&normal, &mut at) {
            ends_on.iter().any(|(a, b)| on_segment(a, b, &mut at))
        } else {
            let (rest_s, rest_t) = (square.add(&s, -1), square.add(&t, -1));
            [&s, &rest_s, &t, &rest_t].into_iter().all(|q| at.sign(q) >= 0)
        }
    })
}

// ---- interval arithmetic ------------------------------------------------------------------------------

/// All numbers between `lo` and `hi`; operations round outwards.
#[derive(Clone, Copy, Debug)]
struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    fn add(self, o: Interval) -> Interval {
        Interval { lo: (self.lo + o.lo).next_down(), hi: (self.hi + o.hi).next_up() }
    }

    fn sub(self, o: Interval) -> Interval {
        Interval { lo: (self.lo - o.hi).next_down(), hi: (self.hi - o.lo).next_up() }
    }

    fn mul(self, o: Interval) -> Interval {
        let p = [self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi];
        let (lo, hi) = (p[0].min(p[1]).min(p[2].min(p[3])), p[0].max(p[1]).max(p[2].max(p[3])));
        Interval { lo: lo.next_down(), hi: hi.next_up() }
    }
}

type Cube = [Interval; 3];

fn cross_within(a: &Cube, b: &Cube) -> Cube {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].mul(b[j]).sub(a[j].mul(b[i]))
    })
}

fn dot_within(a: &Cube, b: &Cube) -> Interval {
    a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2]))
}

/// The difference vectors at every time in `t`. The given ends carry half an ulp of their subtraction.
fn within(ends: &Ends, t: Interval) -> [Cube; 3] {
    let widened = |x: f64| Interval { lo: x.next_down(), hi: x.next_up() };
    let one = Interval { lo: 1.0, hi: 1.0 };
    [0, 1, 2].map(|k| {
        [0, 1, 2].map(|i| {
            let (from, to) = (widened(ends[0][k][i]), widened(ends[1][k][i]));
            from.mul(one.sub(t)).add(to.mul(t))
        })
    })
}

/// Coplanarity, and the numbers that are positive inside, as functions of the difference vectors.
type Certificate = fn(&[Cube; 3]) -> (Interval, [Interval; 4]);

fn triangle_certificate(r: &[Cube; 3]) -> (Interval, [Interval; 4]) {
    let sides = [cross_within(&r[1], &r[2]), cross_within(&r[2], &r[0]), cross_within(&r[0], &r[1])];
    let normal = [0, 1, 2].map(|k| sides[0][k].add(sides[1][k]).add(sides[2][k]));
    let areas = [0, 1, 2].map(|k| dot_within(&normal, &sides[k]));
    (dot_within(&r[0], &sides[0]), [areas[0], areas[1], areas[2], areas[2]])
}

fn edge_certificate(r: &[Cube; 3]) -> (Interval, [Interval; 4]) {
    let [u, v, w] = r;
    let normal = cross_within(u, v);
    let (s, t) = (dot_within(&cross_within(w, v), &normal), dot_within(&cross_within(w, u), &normal));
    let square = dot_within(&normal, &normal);
    (dot_within(&normal, w), [s, square.sub(s), t, square.sub(t)])
}

/// Is contact around the time `near` proven? Coplanarity changes sign over a short bracket, and all through
/// the bracket the meeting point is strictly inside.
fn proven(ends: &Ends, near: f64, certificate: Certificate) -> bool {
    let here = certificate(&within(ends, Interval { lo: near, hi: near }));
    // Outside for sure, or too close to the rim for any bracket.
    if here.1.iter().any(|q| q.lo <= 0.0) {
        return false;
    }
    (0..5).any(|k| {
        let half = 1e-12 * 100f64.powi(k);
        let (lo, hi) = ((near - half).max(0.0), (near + half).min(1.0));
        let before = certificate(&within(ends, Interval { lo, hi: lo })).0;
        let after = certificate(&within(ends, Interval { lo: hi, hi })).0;
        let changes = (before.hi < 0.0 && after.lo > 0.0) || (before.lo > 0.0 && after.hi < 0.0);
        changes && certificate(&within(ends, Interval { lo, hi })).1.iter().all(|q| q.lo > 0.0)
    })
}

// ---- the coplanarity cubic ----------------------------------------------------------------------------

/// Times in [0, 1] at which the three difference vectors are coplanar, ascending: bracketed on the monotone
/// pieces of the cubic. Good to round-off, no guarantee.
pub(crate) fn coplanar_times(ends: &Ends) -> Vec<f64> {
    let d = [0, 1, 2].map(|k| ends[1][k] - ends[0][k]);
    let det = |a: &Vec3, b: &Vec3, c: &Vec3| a.dot(&b.cross(c));
    let r = &ends[0];
    let c = [
        det(&r[0], &r[1], &r[2]),
        det(&d[0], &r[1], &r[2]) + det(&r[0], &d[1], &r[2]) + det(&r[0], &r[1], &d[2]),
        det(&r[0], &d[1], &d[2]) + det(&d[0], &r[1], &d[2]) + det(&d[0], &d[1], &r[2]),
        det(&d[0], &d[1], &d[2]),
    ];
    let f = |t: f64| c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    let mut cuts = vec![0.0, 1.0];
    let root = (c[2] * c[2] - 3.0 * c[1] * c[3]).sqrt();
    let q = -(c[2] + root.copysign(c[2]));
    cuts.extend([q / (3.0 * c[3]), c[1] / q].into_iter().filter(|t| *t > 0.0 && *t < 1.0));
    cuts.sort_by(f64::total_cmp);
    let mut times = Vec::new();
    for piece in cuts.windows(2) {
        let (mut lo, mut hi) = (piece[0], piece[1]);
        if f(lo) * f(hi) > 0.0 {
            continue;
        }
        let rising = f(hi) > f(lo);
        for _ in 0..60 {
            let middle = 0.5 * (lo + hi);
            if (f(middle) > 0.0) == rising { hi = middle } else { lo = middle }
        }
        times.push(hi);
    }
    times
}

/// A time at which the node surely meets the triangle, if interval arithmetic can prove one.
pub(crate) fn proven_node_triangle(ends: &Ends) -> Option<f64> {
    coplanar_times(ends).into_iter().find(|&t| proven(ends, t, triangle_certificate))
}

/// A time at which the edges surely meet, if interval arithmetic can prove one.
pub(crate) fn proven_edge_edge(ends: &Ends) -> Option<f64> {
    coplanar_times(ends).into_iter().find(|&t| proven(ends, t, edge_certificate))
}
