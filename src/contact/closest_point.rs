//! The point of a facet nearest to a point in space, and the nearest points of two edges.
//!
//! | facet | how                                                              |
//! |-------|------------------------------------------------------------------|
//! | seg2  | `t = clamp((y−a)·(b−a) / ‖b−a‖², 0, 1)`                          |
//! | tri3  | walk over the seven Voronoi regions (Ericson 2004)               |
//! | quad4 | Newton on `½‖S(ξ,η) − y‖²` in the box, against its four edges    |
//! | edges | interior solution over the unit square, against four projections |
//!
//! Every answer is a point of the facet, as weights on its corners that are ≥ 0 and add up to 1, so a
//! distance is never too small by more than round-off. A facet without area, or with an edge without
//! length, is answered all the same and flagged `degenerate`.
//!
//! Local edge `k` joins corners `k` and `k + 1` (cyclic). Nothing here allocates or fails.
//!
//! Read by the searches of this room, by `swept` and by whoever makes a `Pair`.

pub(super) mod quad;

pub use quad::quad4;
#[cfg(test)]
pub(crate) use quad::quad4_weights;

use crate::math::Vec3;

/// Relative height (or edge) of a facet below which it counts as degenerate: a few thousand times the
/// round-off of its corner differences.
pub(super) const FLAT: f64 = 1e-12;

/// Squared sine of the corner angle below which the triangle walk loses digits that matter: its weights
/// carry errors of `EPSILON / sin²`.
pub(super) const NEEDLE: f64 = 1e-3;

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

/// Triangles with a small angle, or none: in an orthogonal frame on the longest edge, where a small height
/// costs no digits of the point. Outside, the edges compete for the projection of `y` on the plane: seen
/// from afar their distances could not be told apart.
#[cold]
fn needle(y: &Vec3, a: &Vec3, b: &Vec3, c: &Vec3) -> Closest<3> {
    let corner = [a, b, c];
    let lengths = [0, 1, 2].map(|k| (corner[(k + 1) % 3] - corner[k]).norm_squared());
    let longest = (0..3).fold(0, |best, k| if lengths[k] > lengths[best] { k } else { best });
    let [i, j, k] = [longest, (longest + 1) % 3, (longest + 2) % 3];
    let (base, side, iy) = (corner[j] - corner[i], corner[k] - corner[i], y - corner[i]);
    let base_squared = lengths[longest];
    // Twice, so that the height is orthogonal to the base to round-off of its own size.
    let foot = side.dot(&base) / base_squared;
    let height = side - foot * base;
    let again = height.dot(&base) / base_squared;
    let (foot, height) = (foot + again, height - again * base);
    let height_squared = height.norm_squared();

    let tall = height_squared > FLAT * FLAT * base_squared;
    let long = lengths.iter().all(|&l| l > FLAT * FLAT * base_squared);
    let degenerate = !(tall && long);
    let mut seen = *y;
    if tall {
        let (p, w) = (iy.dot(&base) / base_squared, iy.dot(&height) / height_squared);
        let v = p - w * foot;
        if v > 0.0 && w > 0.0 && v + w < 1.0 {
            let point = corner[i] + v * base + w * side;
            let mut weights = [0.0; 3];
            (weights[i], weights[j], weights[k]) = (1.0 - v - w, v, w);
            let distance_squared = (y - point).norm_squared();
            return Closest { point, weights, distance_squared, feature: Feature::Face, degenerate };
        }
        seen = corner[i] + p * base + w * height;
    }
    let best = on_edges(&seen, corner);
    Closest { distance_squared: (y - best.point).norm_squared(), degenerate, ..best }
}

/// Closest point on the edges of a facet, the first if several are equally close.
#[inline]
fn on_edges<const N: usize>(y: &Vec3, corner: [&Vec3; N]) -> Closest<N> {
    let mut best = on_edge(y, corner, 0);
    for k in 1..N {
        let other = on_edge(y, corner, k);
        if other.distance_squared < best.distance_squared {
            best = other;
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

/// Squared sine below which the determinant of two edges has lost the digits that matter, and their
/// vector product takes over.
pub(super) const SLENDER: f64 = 1e-4;
/// Squared sine below which two edges are parallel to round-off.
pub(super) const PARALLEL: f64 = 1e-28;
/// Sine of their angle below which two edges give no normal worth having.
pub(super) const NO_NORMAL: f64 = 1e-6;
/// Share of an edge at its ends that belongs to the nodes.
pub(super) const ENDS: f64 = 1e-9;

/// Parameter on the first edge of the interior solution, by `s = (v × r)·(u × v) / |u × v|²`, which keeps
/// its digits until the edges are parallel to round-off.
#[cold]
fn nearly_parallel(u: &Vec3, v: &Vec3, r: &Vec3) -> Option<f64> {
    let n = u.cross(v);
    let nn = n.norm_squared();
    (nn > PARALLEL * u.norm_squared() * v.norm_squared()).then(|| v.cross(r).dot(&n) / nn)
}

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
    let s =
        if det > SLENDER * uu * vv { Some((uv * vr - vv * ur) / det) } else { nearly_parallel(&u, &v, &r) };
    if let Some(s) = s.filter(|s| *s > 0.0 && *s < 1.0) {
        // t from s: the answer stays on the line of stationary points when both edges nearly align.
        let t = (vr + s * uv) / vv;
        if t > 0.0 && t < 1.0 {
            offer(s, t);
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

#[cfg(test)]
mod tests;
