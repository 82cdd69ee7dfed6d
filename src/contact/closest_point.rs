//! The point of a facet nearest to a point in space, and the nearest points of two edges.
//!
//! | facet | how                                                              |
//! |-------|------------------------------------------------------------------|
//! | seg2  | `t = clamp((y−a)·(b−a) / |b−a|², 0, 1)`                          |
//! | tri3  | walk over the seven Voronoi regions (Ericson 2004)               |
//! | quad4 | Newton on `½|S(ξ,η) − y|²` in the box, against its four edges    |
//! | edges | interior solution over the unit square, against four projections |
//!
//! Every answer is a point of the facet, as weights on its corners that are ≥ 0 and add up to 1, so a
//! distance is never too small by more than round-off. A facet without area, or with an edge without
//! length, is answered all the same and flagged `degenerate`.
//!
//! Local edge `k` joins corners `k` and `k + 1` (cyclic). Nothing here allocates or fails.
//!
//! Read by the searches of this room, by `swept` and by whoever makes a `Pair`.

use crate::math::Vec3;

/// Relative height (or edge) of a facet below which it counts as degenerate: a few thousand times the
/// round-off of its corner differences.
const FLAT: f64 = 1e-12;

/// Squared sine of the corner angle below which the triangle walk loses digits that matter: its weights
/// carry errors of `EPSILON / sin²`.
const NEEDLE: f64 = 1e-3;

/// Which part of a facet the closest point lies on. The interior of a segment is its `Face`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    Face,
    /// Joins corners `k` and `k + 1`.
    Edge(u8),
    Vertex(u8),
}

/// Closest point on a facet of `N` corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest<const N: usize> {
    /// The point itself [m].
    pub point: Vec3,
    /// `point = Σ wₖ xₖ`, `wₖ ≥ 0`, `Σ wₖ = 1`.
    pub weights: [f64; N],
    /// Squared distance [m²].
    pub distance_squared: f64,
    pub feature: Feature,
    /// The facet has no area or an edge without length: the point is right, a normal is not to be had.
    pub degenerate: bool,
}

impl<const N: usize> Closest<N> {
    #[inline]
    pub fn distance(&self) -> f64 {
        self.distance_squared.sqrt()
    }
}

impl Closest<4> {
    /// Reference coordinates (ξ, η) ∈ [−1, 1]² of the point on a quad.
    #[inline]
    pub fn reference(&self) -> [f64; 2] {
        let [a, b, c, d] = self.weights;
        [(b + c) - (a + d), (c + d) - (a + b)]
    }
}

/// Closest point on the segment `a`–`b`.
#[inline]
pub fn seg2(y: &Vec3, a: &Vec3, b: &Vec3) -> Closest<2> {
    let ab = b - a;
    let (t, degenerate) = along(&(y - a), &ab);
    let (point, feature) = if t <= 0.0 {
        (*a, Feature::Vertex(0))
    } else if t >= 1.0 {
        (*b, Feature::Vertex(1))
    } else {
        (a + t * ab, Feature::Face)
    };
    Closest {
        point,
        weights: [1.0 - t, t],
        distance_squared: (y - point).norm_squared(),
        feature,
        degenerate,
    }
}

/// Parameter in [0, 1] of the projection of `ay` on `ab`, and whether `ab` has no length.
#[inline]
fn along(ay: &Vec3, ab: &Vec3) -> (f64, bool) {
    let length_squared = ab.norm_squared();
    if length_squared > 0.0 { ((ay.dot(ab) / length_squared).clamp(0.0, 1.0), false) } else { (0.0, true) }
}

/// Closest point on the triangle `a b c`.
///
/// With `A = ab·ab`, `B = ab·ac`, `C = ac·ac` and the two projections of `ay`, the six products of the
/// walk follow by subtraction: `ab·by = ab·ay − A`, and so on.
#[inline]
pub fn tri3(y: &Vec3, a: &Vec3, b: &Vec3, c: &Vec3) -> Closest<3> {
    let (ab, ac, ay) = (b - a, c - a, y - a);
    let (aa, bb, cc) = (ab.norm_squared(), ab.dot(&ac), ac.norm_squared());
    let roomy = aa * cc - bb * bb > NEEDLE * aa * cc;
    if !roomy {
        return needle(y, a, b, c);
    }
    let (d1, d2) = (ab.dot(&ay), ac.dot(&ay));
    let (d3, d4, d5, d6) = (d1 - aa, d2 - bb, d1 - bb, d2 - cc);

    let found = |point: Vec3, weights, feature| Closest {
        point,
        weights,
        distance_squared: (y - point).norm_squared(),
        feature,
        degenerate: false,
    };
    if d1 <= 0.0 && d2 <= 0.0 {
        return found(*a, [1.0, 0.0, 0.0], Feature::Vertex(0));
    }
    if d3 >= 0.0 && d4 <= d3 {
        return found(*b, [0.0, 1.0, 0.0], Feature::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / aa;
        return found(a + t * ab, [1.0 - t, t, 0.0], Feature::Edge(0));
    }
    if d6 >= 0.0 && d5 <= d6 {
        return found(*c, [0.0, 0.0, 1.0], Feature::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / cc;
        return found(a + t * ac, [1.0 - t, 0.0, t], Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    let (up, down) = (d4 - d3, d5 - d6);
    if va <= 0.0 && up >= 0.0 && down >= 0.0 {
        let t = up / (up + down);
        return found(b + t * (c - b), [0.0, 1.0 - t, t], Feature::Edge(1));
    }
    let scale = 1.0 / (va + vb + vc);
    let (v, w) = (vb * scale, vc * scale);
    found(a + v * ab + w * ac, [1.0 - v - w, v, w], Feature::Face)
}

/// Triangles with a small angle, or none: best of the three edges and of the interior, the latter in an
/// orthogonal frame on the longest edge, where a small height costs no digits of the point.
#[cold]
fn needle(y: &Vec3, a: &Vec3, b: &Vec3, c: &Vec3) -> Closest<3> {
    let corner = [a, b, c];
    let lengths = [0, 1, 2].map(|k| (corner[(k + 1) % 3] - corner[k]).norm_squared());
    let longest = (0..3).fold(0, |best, k| if lengths[k] > lengths[best] { k } else { best });

    let mut best = on_edge(y, corner, 0);
    for k in 1..3 {
        let other = on_edge(y, corner, k);
        if other.distance_squared < best.distance_squared {
            best = other;
        }
    }

    let [i, j, k] = [longest, (longest + 1) % 3, (longest + 2) % 3];
    let (base, side, iy) = (corner[j] - corner[i], corner[k] - corner[i], y - corner[i]);
    let base_squared = lengths[longest];
    // Twice, so that the height is orthogonal to the base to round-off of its own size.
    let foot = side.dot(&base) / base_squared;
    let height = side - foot * base;
    let again = height.dot(&base) / base_squared;
    let (foot, height) = (foot + again, height - again * base);
    let height_squared = height.norm_squared();

    let shortest = lengths.iter().fold(f64::INFINITY, |m, &l| m.min(l));
    let tall = height_squared > FLAT * FLAT * base_squared;
    let long = shortest > FLAT * FLAT * base_squared;
    best.degenerate = !(tall && long);
    if tall {
        let w = iy.dot(&height) / height_squared;
        let v = iy.dot(&base) / base_squared - w * foot;
        if v > 0.0 && w > 0.0 && v + w < 1.0 {
            let point = corner[i] + v * base + w * side;
            let distance_squared = (y - point).norm_squared();
            if distance_squared <= best.distance_squared {
                let mut weights = [0.0; 3];
                (weights[i], weights[j], weights[k]) = (1.0 - v - w, v, w);
                let degenerate = best.degenerate;
                return Closest { point, weights, distance_squared, feature: Feature::Face, degenerate };
            }
        }
    }
    best
}

/// Closest point on edge `k` of a facet, in the weights of the facet.
#[inline]
fn on_edge<const N: usize>(y: &Vec3, corner: [&Vec3; N], k: usize) -> Closest<N> {
    let next = (k + 1) % N;
    let on = seg2(y, corner[k], corner[next]);
    let mut weights = [0.0; N];
    weights[k] = on.weights[0];
    weights[next] = on.weights[1];
    let feature = match on.feature {
        Feature::Vertex(0) => Feature::Vertex(k as u8),
        Feature::Vertex(_) => Feature::Vertex(next as u8),
        _ => Feature::Edge(k as u8),
    };
    Closest { point: on.point, weights, distance_squared: on.distance_squared, feature, degenerate: false }
}

/// Newton steps from one start; five is the median.
const NEWTON_STEPS: usize = 40;
/// Projected gradient, in units of the squared size of the face, at which Newton has arrived.
const ARRIVED: f64 = 1e-13;
/// Relative determinant below which the Hessian counts as not positive definite.
const INDEFINITE: f64 = 1e-12;
/// Multiple of the squared size added to the Gauss–Newton matrix of a face that may be singular.
const RIDGE: f64 = 1e-9;
/// Warp (volume of the corners over the cubed diagonal) above which one start is not enough.
const WARPED: f64 = 1e-3;
/// Twist |S,ξη| relative to the size below which the face is a parallelogram to round-off.
const AFFINE: f64 = 1e-15;
/// Distance from ±1 below which ξ or η counts as on the bound: the edges know better.
const RIM: f64 = 1e-12;

/// Bilinear face `S = m + ξ a + η b + ξη c`, seen from `y` (`m` is relative to it).
struct Bilinear {
    m: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    /// Squared size: the longer diagonal.
    size_squared: f64,
}

/// Closest point on the bilinear quad with corners `x₀ … x₃` at (−1,−1) (1,−1) (1,1) (−1,1).
pub fn quad4(y: &Vec3, x: &[Vec3; 4]) -> Closest<4> {
    let r = [x[0] - y, x[1] - y, x[2] - y, x[3] - y];
    let (d02, d13) = (r[2] - r[0], r[3] - r[1]);
    let size_squared = d02.norm_squared().max(d13.norm_squared());
    let face = Bilinear {
        m: 0.25 * ((r[0] + r[2]) + (r[1] + r[3])),
        a: 0.25 * (d02 - d13),
        b: 0.25 * (d02 + d13),
        c: 0.25 * ((r[0] - r[1]) + (r[2] - r[3])),
        size_squared,
    };

    let mut best = on_edge(y, [&x[0], &x[1], &x[2], &x[3]], 0);
    for k in 1..4 {
        let other = on_edge(y, [&x[0], &x[1], &x[2], &x[3]], k);
        if other.distance_squared < best.distance_squared {
            best = other;
        }
    }
    best.degenerate = face.degenerate(&r);
    if size_squared <= 0.0 {
        return best;
    }

    let (aa, ab, bb) = (face.a.norm_squared(), face.a.dot(&face.b), face.b.norm_squared());
    let det = aa * bb - ab * ab;
    // The affine least-squares projection is where Newton starts; on a parallelogram it is the answer,
    // or the answer is on an edge.
    let start = if det > INDEFINITE * aa * bb {
        let (fa, fb) = (face.m.dot(&face.a), face.m.dot(&face.b));
        [(ab * fb - bb * fa) / det, (ab * fa - aa * fb) / det]
    } else {
        [0.0, 0.0]
    };
    let affine = face.c.norm_squared() <= AFFINE * AFFINE * size_squared && det > NEEDLE * aa * bb;
    if affine {
        if start[0].abs().max(start[1].abs()) < 1.0 - RIM {
            best = face.nearer(best, x, start);
        }
        return best;
    }
    let (xi, h) = face.descend([start[0].clamp(-1.0, 1.0), start[1].clamp(-1.0, 1.0)]);
    best = face.accept(best, x, xi, h);
    // A point farther away than the warp is deep sees one hollow only, but "far" is not worth a proof.
    let volume = d02.dot(&(r[1] - r[0]).cross(&(r[3] - r[0]))).abs();
    if volume > WARPED * d02.norm_squared() * d02.norm() {
        for start in [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]] {
            let (xi, h) = face.descend(start);
            best = face.accept(best, x, xi, h);
        }
    }
    best
}

/// Bilinear shape functions at (ξ, η).
#[inline]
pub fn quad4_weights(xi: f64, eta: f64) -> [f64; 4] {
    let (p, q, r, s) = (0.5 * (1.0 - xi), 0.5 * (1.0 + xi), 0.5 * (1.0 - eta), 0.5 * (1.0 + eta));
    [p * r, q * r, q * s, p * s]
}

impl Bilinear {
    /// `d = S − y`.
    #[inline]
    fn offset(&self, [xi, eta]: [f64; 2]) -> Vec3 {
        self.m + xi * self.a + eta * (self.b + xi * self.c)
    }

    /// An edge without length, or all four corners on a line.
    fn degenerate(&self, r: &[Vec3; 4]) -> bool {
        let flat = FLAT * FLAT * self.size_squared;
        let point = (0..4).any(|k| (r[(k + 1) % 4] - r[k]).norm_squared() <= flat);
        let axis = if (r[2] - r[0]).norm_squared() >= (r[3] - r[1]).norm_squared() { 0 } else { 1 };
        let (along, from) = (r[axis + 2] - r[axis], r[axis]);
        let off = |k: usize| (r[k] - from).cross(&along).norm_squared() > flat * self.size_squared;
        point || !(off(axis + 1) || off((axis + 3) % 4))
    }

    /// Takes the interior point found by Newton unless an edge is nearer; on the rim the edges decide.
    #[inline]
    fn accept(&self, best: Closest<4>, x: &[Vec3; 4], xi: [f64; 2], h: f64) -> Closest<4> {
        let inside = xi[0].abs().max(xi[1].abs()) < 1.0 - RIM;
        // Ties go to the interior: near an edge the distance hardly tells the two apart, the gradient does.
        let tie = 2.0 * h <= best.distance_squared * (1.0 + 4.0 * f64::EPSILON);
        if inside && tie && (best.feature != Feature::Face || 2.0 * h < best.distance_squared) {
            self.nearer(best, x, xi)
        } else {
            best
        }
    }

    fn nearer(&self, best: Closest<4>, x: &[Vec3; 4], xi: [f64; 2]) -> Closest<4> {
        let weights = quad4_weights(xi[0], xi[1]);
        let point = weights[0] * x[0] + weights[1] * x[1] + weights[2] * x[2] + weights[3] * x[3];
        let distance_squared = self.offset(xi).norm_squared();
        Closest { point, weights, distance_squared, feature: Feature::Face, degenerate: best.degenerate }
    }

    /// Box-constrained Newton on `h = ½|d|²`; returns the last point and its `h`.
    ///
    /// ```text
    /// F = (d·a', d·b')      J = | a'·a'         a'·b' + d·c |      a' = a + η c,  b' = b + ξ c
    ///                           | a'·b' + d·c   b'·b'       |
    /// ```
    ///
    /// A variable on its bound whose gradient points outwards is frozen; the free ones take the step,
    /// are clamped, and the step is halved until `h` falls.
    fn descend(&self, start: [f64; 2]) -> ([f64; 2], f64) {
        let mut xi = start;
        let mut d = self.offset(xi);
        let mut h = 0.5 * d.norm_squared();
        for _ in 0..NEWTON_STEPS {
            let (a, b) = (self.a + xi[1] * self.c, self.b + xi[0] * self.c);
            let f = [d.dot(&a), d.dot(&b)];
            let frozen = [0, 1].map(|k| (xi[k] <= -1.0 && f[k] > 0.0) || (xi[k] >= 1.0 && f[k] < 0.0));
            let free = [0, 1].map(|k| if frozen[k] { 0.0 } else { f[k] });
            if free[0].abs().max(free[1].abs()) <= ARRIVED * self.size_squared {
                break;
            }
            let (aa, bb) = (a.norm_squared(), b.norm_squared());
            let step = if frozen[0] {
                [0.0, -f[1] / (bb + f64::MIN_POSITIVE)]
            } else if frozen[1] {
                [-f[0] / (aa + f64::MIN_POSITIVE), 0.0]
            } else {
                let gauss = a.dot(&b);
                let ab = gauss + d.dot(&self.c);
                let det = aa * bb - ab * ab;
                let (aa, ab, bb, det) = if det > INDEFINITE * aa * bb {
                    (aa, ab, bb, det)
                } else {
                    let ridge = RIDGE * self.size_squared;
                    let (aa, bb) = (aa + ridge, bb + ridge);
                    (aa, gauss, bb, aa * bb - gauss * gauss)
                };
                [(ab * f[1] - bb * f[0]) / det, (ab * f[0] - aa * f[1]) / det]
            };
            let mut share = 1.0;
            let moved = loop {
                let next = [0, 1].map(|k| (xi[k] + share * step[k]).clamp(-1.0, 1.0));
                let d_next = self.offset(next);
                let h_next = 0.5 * d_next.norm_squared();
                // Armijo: a share of the decrease the gradient promises.
                let promised = f[0] * (next[0] - xi[0]) + f[1] * (next[1] - xi[1]);
                if h_next <= h + 1e-4 * promised {
                    let moved = next != xi;
                    (xi, d, h) = (next, d_next, h_next);
                    break moved;
                }
                share *= 0.5;
                if share < 1e-10 {
                    break false;
                }
            };
            if !moved {
                break;
            }
        }
        (xi, h)
    }
}

/// Nearest points of the edges `a b` and `c d`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEdge {
    /// `p = (1−s) a + s b`.
    pub s: f64,
    /// `q = (1−t) c + t d`.
    pub t: f64,
    pub p: Vec3,
    pub q: Vec3,
    /// Squared distance [m²].
    pub distance_squared: f64,
    /// Both parameters strictly inside and the edges not parallel: an edge–edge contact. Everything else
    /// is a matter of nodes and faces.
    pub crossing: bool,
    /// One of the edges has no length.
    pub degenerate: bool,
}

/// Relative determinant below which two edges count as parallel for the interior solution.
const PARALLEL: f64 = 1e-14;
/// Sine of their angle below which two edges give no normal worth having.
const NO_NORMAL: f64 = 1e-6;
/// Share of an edge at its ends that belongs to the nodes.
const ENDS: f64 = 1e-9;

/// Nearest points of two edges: the interior solution, if there is one, and the four projections of end
/// points; the best of the five.
#[inline]
pub fn edge_edge(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> EdgeEdge {
    let (u, v, r) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let (ur, vr) = (u.dot(&r), v.dot(&r));
    let det = uu * vv - uv * uv;

    let mut best = (0.0, 0.0, f64::INFINITY);
    let mut offer = |s: f64, t: f64| {
        let distance_squared = (r + s * u - t * v).norm_squared();
        if distance_squared < best.2 {
            best = (s, t, distance_squared);
        }
    };
    if det > PARALLEL * uu * vv {
        let s = (uv * vr - vv * ur) / det;
        if s > 0.0 && s < 1.0 {
            // t from s: the answer stays on the line of stationary points when both edges nearly align.
            let t = (vr + s * uv) / vv;
            if t > 0.0 && t < 1.0 {
                offer(s, t);
            }
        }
    }
    let project = |num: f64, length_squared: f64| {
        if length_squared > 0.0 { (num / length_squared).clamp(0.0, 1.0) } else { 0.0 }
    };
    offer(0.0, project(vr, vv));
    offer(1.0, project(vr + uv, vv));
    offer(project(-ur, uu), 0.0);
    offer(project(uv - ur, uu), 1.0);
    let (s, t, _) = best;
    let (p, q) = (a + s * u, c + t * v);
    let inside = |s: f64| s > ENDS && s < 1.0 - ENDS;
    EdgeEdge {
        s,
        t,
        p,
        q,
        distance_squared: (p - q).norm_squared(),
        crossing: inside(s) && inside(t) && u.cross(&v).norm_squared() > NO_NORMAL * NO_NORMAL * uu * vv,
        degenerate: !(uu > 0.0 && vv > 0.0),
    }
}
