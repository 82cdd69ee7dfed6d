//! One point of a slave surface on one facet of a master surface: operators and their variations.
//!
//! The sheet's letters (Laursen & Simo 1993, Armero & Petocz 1999), all in one configuration d:
//!
//! ```text
//! x⁽¹⁾ − x⁽²⁾(ξ) = Σ P_A d_A = −g ν        P_A = N_A on the slave, −N_A(ξ) on the master
//! τ_a = −Σ P_A,a d_A     m_ab = τ_a·τ_b     κ = ν·x⁽²⁾,₁₂     A_ab = m_ab + g κ_ab
//! N_A = P_A ν            A_ab D^b_A = P_A τ_a + g P_A,a ν
//! δg = −Σ N_A·δd_A       δξ^a = Σ D^a_A·δd_A
//! ```
//!
//! **Sign.** Here, as in the paper and unlike elsewhere in Carom, `g > 0` is overlap; ν points out of the master.
//!
//! The projection is not clamped: beyond an edge the facet goes on as it is, so that `x⁽¹⁾ − x⁽²⁾` is along ν and the sums of N, D, d × N
//! and d × D vanish to round-off. A bilinear facet is the only one with a twist `x,₁₂`; the end of a bar has no tangent.

use crate::contact::closest_point::{quad4, seg2, tri3};
use crate::contact::scene::FacetKind;
use crate::math::Vec3;

/// Nodes of a point at most: four of its own facet and four of the other.
pub(super) const NODES: usize = 8;
/// How far beyond a facet a projection is taken up, as a share of half its size: segments, and facets in space.
const BEYOND: [f64; 2] = [0.3, 0.2];
/// Iterations on a bilinear facet, and the residual at which they end, of the squared size.
const ITERATIONS: usize = 30;
const ARRIVED: f64 = 1e-15;
/// Step in coordinates that is round-off.
const SETTLED: f64 = 1e-14;

/// A facet that can be projected on; a plane is a triangle or a segment without end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Master {
    pub nodes: [u32; 4],
    pub kind: FacetKind,
    pub bounded: bool,
    pub body: u32,
}

/// A point of a facet: nodes and shape functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slave {
    pub nodes: [u32; 4],
    pub weights: [f64; 4],
    pub count: u8,
}

impl Slave {
    /// Where it is.
    #[inline]
    pub(super) fn at(&self, x: &[Vec3]) -> Vec3 {
        (0..usize::from(self.count)).map(|k| self.weights[k] * x[self.nodes[k] as usize]).sum()
    }
}

/// Shape functions of a facet, their derivatives and the mixed second one.
pub(super) fn shape(kind: FacetKind, [s, t]: [f64; 2]) -> ([f64; 4], [[f64; 4]; 2], [f64; 4]) {
    match kind {
        FacetKind::Plane | FacetKind::Point => ([1.0, 0.0, 0.0, 0.0], [[0.0; 4]; 2], [0.0; 4]),
        FacetKind::Segment => {
            ([0.5 * (1.0 - s), 0.5 * (1.0 + s), 0.0, 0.0], [[-0.5, 0.5, 0.0, 0.0], [0.0; 4]], [0.0; 4])
        }
        FacetKind::Triangle => {
            ([1.0 - s - t, s, t, 0.0], [[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0]], [0.0; 4])
        }
        FacetKind::Quad => {
            let (a, b) = ([-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]);
            let each = |f: &dyn Fn(usize) -> f64| std::array::from_fn(f);
            (
                each(&|k| 0.25 * (1.0 + a[k] * s) * (1.0 + b[k] * t)),
                [each(&|k| 0.25 * a[k] * (1.0 + b[k] * t)), each(&|k| 0.25 * b[k] * (1.0 + a[k] * s))],
                each(&|k| 0.25 * a[k] * b[k]),
            )
        }
    }
}

impl Master {
    /// Out of the body; none where the facet has no area.
    pub(super) fn normal(&self, x: &[Vec3]) -> Option<Vec3> {
        normal(self.kind, &self.corners(x))
    }

    fn corners(&self, x: &[Vec3]) -> [Vec3; 4] {
        self.nodes.map(|k| x[k as usize])
    }

    /// Distance of a point from the facet as far as it reaches [m], and its coordinates there.
    pub(super) fn nearest(&self, y: &Vec3, x: &[Vec3]) -> (f64, [f64; 2]) {
        let c = self.corners(x);
        match self.kind {
            FacetKind::Plane | FacetKind::Point => ((y - c[0]).norm(), [0.0; 2]),
            _ if !self.bounded => {
                // a plane is as near as it is deep
                (normal(self.kind, &c).map_or(f64::INFINITY, |n| n.dot(&(y - c[0])).abs()), [0.0; 2])
            }
            FacetKind::Segment => {
                let at = seg2(y, &c[0], &c[1]);
                (at.distance(), [2.0 * at.weights[1] - 1.0, 0.0])
            }
            FacetKind::Triangle => {
                let at = tri3(y, &c[0], &c[1], &c[2]);
                (at.distance(), [at.weights[1], at.weights[2]])
            }
            FacetKind::Quad => {
                let at = quad4(y, &c);
                (at.distance(), at.reference())
            }
        }
    }

    /// Coordinates of the foot of the normal through the origin, from `start` on; none if there is none near the facet.
    fn project(&self, c: &[Vec3; 4], start: [f64; 2]) -> Option<[f64; 2]> {
        let xi = match self.kind {
            FacetKind::Plane | FacetKind::Point => [0.0; 2],
            FacetKind::Segment => {
                let t = 0.5 * (c[1] - c[0]);
                [-0.5 * t.dot(&(c[0] + c[1])) / t.norm_squared(), 0.0]
            }
            FacetKind::Triangle => {
                let (a, b, r) = (c[1] - c[0], c[2] - c[0], -c[0]);
                let m = [[a.dot(&a), a.dot(&b)], [a.dot(&b), b.dot(&b)]];
                multiply(&invert(&m)?, [a.dot(&r), b.dot(&r)])
            }
            FacetKind::Quad => project_on_quad(c, start)?,
        };
        let near = match self.kind {
            _ if !self.bounded => true,
            FacetKind::Segment => xi[0].abs() <= 1.0 + BEYOND[0],
            FacetKind::Triangle => xi[0].min(xi[1]).min(1.0 - xi[0] - xi[1]) >= -0.5 * BEYOND[1],
            _ => xi[0].abs().max(xi[1].abs()) <= 1.0 + BEYOND[1],
        };
        (near && xi.iter().all(|x| x.is_finite())).then_some(xi)
    }
}

fn project_on_quad(c: &[Vec3; 4], start: [f64; 2]) -> Option<[f64; 2]> {
    let size = (c[2] - c[0]).norm_squared().max((c[3] - c[1]).norm_squared());
    let twist = 0.25 * ((c[0] - c[1]) + (c[2] - c[3]));
    let mut xi = start;
    for _ in 0..ITERATIONS {
        let (n, d, _) = shape(FacetKind::Quad, xi);
        let sum = |w: &[f64; 4]| (0..4).map(|k| w[k] * c[k]).sum::<Vec3>();
        let (r, a, b) = (-sum(&n), sum(&d[0]), sum(&d[1]));
        let f = [a.dot(&r), b.dot(&r)];
        if f[0].abs().max(f[1].abs()) <= ARRIVED * size {
            return Some(xi);
        }
        let mixed = a.dot(&b) - r.dot(&twist);
        let step = multiply(&invert(&[[a.dot(&a), mixed], [mixed, b.dot(&b)]])?, f);
        xi = [xi[0] + step[0], xi[1] + step[1]];
        if step[0].abs().max(step[1].abs()) <= SETTLED {
            return Some(xi);
        }
        if xi[0].abs().max(xi[1].abs()) > 3.0 {
            return None;
        }
    }
    None
}

fn normal(kind: FacetKind, c: &[Vec3; 4]) -> Option<Vec3> {
    let n = match kind {
        FacetKind::Plane | FacetKind::Point => c[0] - c[1],
        FacetKind::Segment => {
            let t = c[1] - c[0];
            Vec3::new(t.y, -t.x, 0.0)
        }
        FacetKind::Triangle => (c[1] - c[0]).cross(&(c[2] - c[0])),
        FacetKind::Quad => (c[2] - c[0]).cross(&(c[3] - c[1])),
    };
    n.try_normalize(0.0)
}

/// Surface tensors; the place of a direction that is not there holds the identity.
pub(super) type Two = [[f64; 2]; 2];

#[inline]
fn invert(m: &Two) -> Option<Two> {
    let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let inverse = [[m[1][1] / det, -m[0][1] / det], [-m[1][0] / det, m[0][0] / det]];
    (det != 0.0 && det.is_finite()).then_some(inverse)
}

#[inline]
pub(super) fn multiply(m: &Two, v: [f64; 2]) -> [f64; 2] {
    [m[0][0] * v[0] + m[0][1] * v[1], m[1][0] * v[0] + m[1][1] * v[1]]
}

/// A point on a facet in one configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinematics {
    pub nodes: [u32; NODES],
    pub count: usize,
    /// Tangents: 2 in space, 1 in the plane, 0 for bars.
    pub tangents: usize,
    /// Which master facet.
    pub facet: u32,
    /// `g`, positive where they overlap [m].
    pub overlap: f64,
    /// ν, τ_a and x⁽²⁾,₁₂.
    pub normal: Vec3,
    pub tangent: [Vec3; 2],
    twist: Vec3,
    /// m_ab and its inverse.
    pub metric: Two,
    pub inverse: Two,
    /// A^ab.
    a_inverse: Two,
    p: [f64; NODES],
    p1: [[f64; NODES]; 2],
    p12: [f64; NODES],
    /// N_A and D^a_A.
    pub n: [Vec3; NODES],
    pub d: [[Vec3; NODES]; 2],
}

/// What a small motion of the nodes does to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variation {
    pub tangent: [Vec3; 2],
    pub metric: Two,
    pub n: [Vec3; NODES],
    pub d: [[Vec3; NODES]; 2],
}

impl Kinematics {
    /// Of `slave` on facet number `facet`, which is `master`; none where there is no projection.
    pub(super) fn new(
        slave: &Slave,
        master: &Master,
        facet: u32,
        start: [f64; 2],
        x: &[Vec3],
    ) -> Option<Kinematics> {
        // seen from the point: far from the origin coordinates have no digits to spare
        let y = slave.at(x);
        let c = master.corners(x).map(|c| c - y);
        let xi = master.project(&c, start)?;
        let (shapes, slopes, mixed) = shape(master.kind, xi);
        let corners = master.kind.corners().max(1);
        let (own, tangents) = (usize::from(slave.count), corners.min(3) - 1);
        let mut k = Kinematics {
            nodes: [0; NODES],
            count: own + corners,
            tangents,
            facet,
            overlap: 0.0,
            normal: Vec3::zeros(),
            tangent: [Vec3::zeros(); 2],
            twist: Vec3::zeros(),
            metric: [[1.0, 0.0], [0.0, 1.0]],
            inverse: [[1.0, 0.0], [0.0, 1.0]],
            a_inverse: [[1.0, 0.0], [0.0, 1.0]],
            p: [0.0; NODES],
            p1: [[0.0; NODES]; 2],
            p12: [0.0; NODES],
            n: [Vec3::zeros(); NODES],
            d: [[Vec3::zeros(); NODES]; 2],
        };
        for i in 0..own {
            (k.nodes[i], k.p[i]) = (slave.nodes[i], slave.weights[i]);
        }
        let mut h = Vec3::zeros();
        for i in 0..corners {
            let at = own + i;
            (k.nodes[at], k.p[at], k.p12[at]) = (master.nodes[i], -shapes[i], -mixed[i]);
            (k.p1[0][at], k.p1[1][at]) = (-slopes[0][i], -slopes[1][i]);
            h -= shapes[i] * c[i];
            k.tangent[0] += slopes[0][i] * c[i];
            k.tangent[1] += slopes[1][i] * c[i];
            k.twist += mixed[i] * c[i];
        }
        k.normal = match tangents {
            0 => normal(master.kind, &c)?,
            1 => Vec3::new(k.tangent[0].y, -k.tangent[0].x, 0.0).try_normalize(0.0)?,
            _ => k.tangent[0].cross(&k.tangent[1]).try_normalize(0.0)?,
        };
        k.overlap = -k.normal.dot(&h);
        let (mut a, curvature) = (k.metric, k.normal.dot(&k.twist));
        for i in 0..tangents {
            for j in 0..tangents {
                k.metric[i][j] = k.tangent[i].dot(&k.tangent[j]);
                a[i][j] = k.metric[i][j] + if i == j { 0.0 } else { k.overlap * curvature };
            }
        }
        (k.inverse, k.a_inverse) = (invert(&k.metric)?, invert(&a)?);
        for at in 0..k.count {
            k.n[at] = k.p[at] * k.normal;
            let r: [Vec3; 2] =
                std::array::from_fn(|b| k.p[at] * k.tangent[b] + k.overlap * k.p1[b][at] * k.normal);
            for e in 0..tangents {
                k.d[e][at] = k.a_inverse[e][0] * r[0] + k.a_inverse[e][1] * r[1];
            }
        }
        Some(k)
    }

    /// `Σ N_A·u_A` of a field by node.
    #[inline]
    pub(super) fn normal_of(&self, u: &[Vec3; NODES]) -> f64 {
        (0..self.count).map(|k| self.n[k].dot(&u[k])).sum()
    }

    /// `Σ D^a_A·u_A`.
    #[inline]
    pub(super) fn tangential_of(&self, u: &[Vec3; NODES]) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for (s, d) in sum.iter_mut().zip(&self.d) {
            *s = (0..self.count).map(|k| d[k].dot(&u[k])).sum();
        }
        sum
    }

    /// A field at its nodes.
    #[inline]
    pub(super) fn gather(&self, field: impl Fn(usize) -> Vec3) -> [Vec3; NODES] {
        let mut u = [Vec3::zeros(); NODES];
        for (to, &k) in u.iter_mut().zip(&self.nodes[..self.count]) {
            *to = field(k as usize);
        }
        u
    }

    /// τ^a, the dual tangents.
    #[inline]
    pub(super) fn dual(&self) -> [Vec3; 2] {
        std::array::from_fn(|a| self.inverse[a][0] * self.tangent[0] + self.inverse[a][1] * self.tangent[1])
    }

    /// The variation along a unit motion of one of its nodes.
    pub(super) fn vary(&self, node: usize, component: usize) -> Variation {
        let two = self.tangents;
        let (g, nu) = (self.overlap, self.normal);
        let mut e = Vec3::zeros();
        e[component] = 1.0;
        let dg = -self.n[node][component];
        let dxi: [f64; 2] = std::array::from_fn(|a| self.d[a][node][component]);
        let curvature = nu.dot(&self.twist);
        let other = [dxi[1], dxi[0]];
        // (N,a − κ_ab D^b)·δd
        let tilt: [f64; 2] = std::array::from_fn(|a| {
            if a < two { self.p1[a][node] * nu[component] - curvature * other[a] } else { 0.0 }
        });
        let dual = self.dual();
        let d_nu = tilt[0] * dual[0] + tilt[1] * dual[1];
        let d_tau: [Vec3; 2] = std::array::from_fn(|a| {
            if a < two { -self.p1[a][node] * e + other[a] * self.twist } else { Vec3::zeros() }
        });
        let mut metric = [[0.0; 2]; 2];
        let mut d_a = [[0.0; 2]; 2];
        for a in 0..two {
            for b in 0..two {
                metric[a][b] = d_tau[a].dot(&self.tangent[b]) + self.tangent[a].dot(&d_tau[b]);
                let bend = if a == b {
                    0.0
                } else {
                    dg * curvature + g * d_nu.dot(&self.twist) - g * nu[component] * self.p12[node]
                };
                d_a[a][b] = metric[a][b] + bend;
            }
        }
        let mut out =
            Variation { tangent: d_tau, metric, n: [Vec3::zeros(); NODES], d: [[Vec3::zeros(); NODES]; 2] };
        for k in 0..self.count {
            let dp = self.p1[0][k] * dxi[0] + self.p1[1][k] * dxi[1];
            out.n[k] = dp * nu + self.p[k] * d_nu;
            let rest: [Vec3; 2] = std::array::from_fn(|b| {
                let slope = self.p12[k] * other[b];
                let dr = dp * self.tangent[b]
                    + self.p[k] * d_tau[b]
                    + (dg * self.p1[b][k] + g * slope) * nu
                    + g * self.p1[b][k] * d_nu;
                dr - d_a[b][0] * self.d[0][k] - d_a[b][1] * self.d[1][k]
            });
            for a in 0..two {
                out.d[a][k] = self.a_inverse[a][0] * rest[0] + self.a_inverse[a][1] * rest[1];
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
