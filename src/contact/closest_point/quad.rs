//! The bilinear quadrilateral: a box-constrained Newton iteration inside, closed forms on the edges.

use super::{Closest, FLAT, Feature, NEEDLE, on_edges};
use crate::math::Vec3;

/// Newton steps from one start; five is the median.
const NEWTON_STEPS: usize = 40;
/// Projected gradient, in units of the squared size of the face, at which Newton has arrived.
pub(in crate::contact) const ARRIVED: f64 = 1e-13;
/// Relative determinant below which the Hessian counts as not positive definite.
pub(in crate::contact) const INDEFINITE: f64 = 1e-12;
/// Multiple of the squared size added to the Gauss–Newton matrix of a face that may be singular.
const RIDGE: f64 = 1e-9;
/// Warp (volume of the corners over the cubed diagonal) above which one start is not enough.
const WARPED: f64 = 1e-3;
/// Twist |S,ξη| relative to the size below which the face is a parallelogram to round-off.
pub(in crate::contact) const AFFINE: f64 = 1e-15;
/// Distance from ±1 below which ξ or η counts as on the bound: the edges know better.
pub(in crate::contact) const RIM: f64 = 1e-12;

/// Bilinear face `S = m + ξ a + η b + ξη c`, seen from `y` (`m` is relative to it).
struct Bilinear {
    m: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    /// Squared size: the longer diagonal.
    size_squared: f64,
}

/// Where Newton has ended.
struct End {
    xi: [f64; 2],
    h: f64,
    /// The projected gradient is as good as zero.
    arrived: bool,
}

impl End {
    fn inside(&self) -> bool {
        self.xi[0].abs().max(self.xi[1].abs()) < 1.0 - RIM
    }
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
    // Of a convex function a minimum inside is the only one, and no edge is nearer.
    let convex = face.convex();
    let promising = start[0].abs().max(start[1].abs()) < 1.0 && det > NEEDLE * aa * bb;
    let mut went = None;
    if convex && promising && !affine {
        let end = face.descend(start);
        if end.arrived && end.inside() && !face.degenerate(&r) {
            return face.at(x, end.xi, false);
        }
        went = Some(end);
    }

    let mut best = on_edges(y, x.each_ref());
    best.degenerate = face.degenerate(&r);
    if size_squared <= 0.0 {
        return best;
    }
    if affine {
        if start[0].abs().max(start[1].abs()) < 1.0 - RIM {
            best = face.at(x, start, best.degenerate);
        }
        return best;
    }
    // On the rim of a convex function a glance tells.
    if convex && face.held(&best) {
        return best;
    }
    let end = went.unwrap_or_else(|| face.descend(start.map(|xi| xi.clamp(-1.0, 1.0))));
    best = face.accept(best, x, &end);
    let volume = d02.dot(&(r[1] - r[0]).cross(&(r[3] - r[0]))).abs();
    if !convex && volume > WARPED * d02.norm_squared() * d02.norm() {
        for start in [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]] {
            best = face.accept(best, x, &face.descend(start));
        }
    }
    best
}

/// Bilinear shape functions at (ξ, η).
#[inline]
pub(crate) fn quad4_weights(xi: f64, eta: f64) -> [f64; 4] {
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

    /// Is `½|S − y|²` convex over the whole face? Its mixed derivative
    /// `g = a·b + m·c + 2ξ a·c + 2η b·c + 2ξη c·c` is largest at a corner; the others are `|a + ηc|²`, `|b + ξc|²`.
    fn convex(&self) -> bool {
        let Bilinear { m, a, b, c, .. } = self;
        let (cc, ac, bc) = (c.norm_squared(), a.dot(c), b.dot(c));
        let (even, odd) = (a.dot(b) + m.dot(c), 2.0 * cc);
        let (p, q) = (2.0 * (ac + bc), 2.0 * (ac - bc));
        let mixed = ((even + odd).abs() + p.abs()).max((even - odd).abs() + q.abs());
        let least = |vv: f64, vc: f64| {
            if cc > 0.0 {
                let at = (-vc / cc).clamp(-1.0, 1.0);
                vv + at * (2.0 * vc + at * cc)
            } else {
                vv
            }
        };
        let product = least(a.norm_squared(), ac) * least(b.norm_squared(), bc);
        product > mixed * mixed * (1.0 + 1e-9)
    }

    /// Does a point on the rim stay there: does the distance grow from it into the face?
    fn held(&self, rim: &Closest<4>) -> bool {
        let [xi, eta] = rim.reference();
        let d = self.offset([xi, eta]);
        let f = [d.dot(&(self.a + eta * self.c)), d.dot(&(self.b + xi * self.c))];
        // Edges 0 … 3 lie at η = −1, ξ = 1, η = 1, ξ = −1; a corner k on edges k and k − 1.
        let inwards = |k: usize| [f[1], -f[0], -f[1], f[0]][k];
        match rim.feature {
            Feature::Face => false,
            Feature::Edge(k) => inwards(usize::from(k)) > 0.0,
            Feature::Vertex(k) => inwards(usize::from(k)) > 0.0 && inwards((usize::from(k) + 3) % 4) > 0.0,
        }
    }

    /// Takes the interior point found by Newton unless an edge is nearer; on the rim the edges decide.
    #[inline]
    fn accept(&self, best: Closest<4>, x: &[Vec3; 4], end: &End) -> Closest<4> {
        // Ties go to the interior: near an edge the distance hardly tells the two apart, the gradient does.
        let tie = 2.0 * end.h <= best.distance_squared * (1.0 + 4.0 * f64::EPSILON);
        if end.inside() && tie && (best.feature != Feature::Face || 2.0 * end.h < best.distance_squared) {
            self.at(x, end.xi, best.degenerate)
        } else {
            best
        }
    }

    /// The point of the face at `xi`.
    fn at(&self, x: &[Vec3; 4], xi: [f64; 2], degenerate: bool) -> Closest<4> {
        let weights = quad4_weights(xi[0], xi[1]);
        let point = weights[0] * x[0] + weights[1] * x[1] + weights[2] * x[2] + weights[3] * x[3];
        let distance_squared = self.offset(xi).norm_squared();
        Closest { point, weights, distance_squared, feature: Feature::Face, degenerate }
    }

    /// Box-constrained Newton on `h = ½|d|²`.
    ///
    /// ```text
    /// F = (d·a', d·b')      J = | a'·a'         a'·b' + d·c |      a' = a + η c,  b' = b + ξ c
    ///                           | a'·b' + d·c   b'·b'       |
    /// ```
    ///
    /// A variable on its bound whose gradient points outwards is frozen; the free ones take the step,
    /// are clamped, and the step is halved until `h` falls.
    fn descend(&self, start: [f64; 2]) -> End {
        let (mut xi, mut arrived) = (start, false);
        let mut d = self.offset(xi);
        let mut h = 0.5 * d.norm_squared();
        for _ in 0..NEWTON_STEPS {
            let (a, b) = (self.a + xi[1] * self.c, self.b + xi[0] * self.c);
            let f = [d.dot(&a), d.dot(&b)];
            let frozen = [0, 1].map(|k| (xi[k] <= -1.0 && f[k] > 0.0) || (xi[k] >= 1.0 && f[k] < 0.0));
            let free = [0, 1].map(|k| if frozen[k] { 0.0 } else { f[k] });
            if free[0].abs().max(free[1].abs()) <= ARRIVED * self.size_squared {
                arrived = true;
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
            // A step that leaves the box at once slides along its side instead.
            let blocked = [0, 1].map(|k| (xi[k] <= -1.0 && step[k] < 0.0) || (xi[k] >= 1.0 && step[k] > 0.0));
            let step = match blocked {
                [true, false] => [0.0, -f[1] / (bb + f64::MIN_POSITIVE)],
                [false, true] => [-f[0] / (aa + f64::MIN_POSITIVE), 0.0],
                _ => step,
            };
            let mut share = 1.0;
            let moved = loop {
                let next = [0, 1].map(|k| (xi[k] + share * step[k]).clamp(-1.0, 1.0));
                let d_next = self.offset(next);
                let h_next = 0.5 * d_next.norm_squared();
                // Armijo: a share of the decrease the gradient promises, as far as round-off of h shows it.
                let promised = f[0] * (next[0] - xi[0]) + f[1] * (next[1] - xi[1]);
                if h_next <= h * (1.0 + 4.0 * f64::EPSILON) + 1e-4 * promised.min(0.0) {
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
        End { xi, h, arrived }
    }
}
