//! One contact with Coulomb friction whose velocity answers linearly to its force.
//!
//! ```text
//! u = W r + b        part    r = 0, u_n ≥ 0
//!                    stick   u = 0, |r_t| ≤ μ r_n
//!                    slide   u_n = 0, |r_t| = μ r_n, u_t against r_t
//! ```
//!
//! Components (n, t₁, t₂); r acts on the side n points to. W [m/(N s)] is symmetric and not negative; tangential
//! directions it cannot move are left out, and a contact that it cannot open is left alone.
//!
//! | solver        | for                                  | gives |
//! |---------------|--------------------------------------|-------|
//! | `closed_form` | W = w·1: all lumped masses free       | the answer |
//! | `exact`       | any W                                 | the answer, of several the one that slides least |
//!
//! The published iteration, projections on the cone, is in `local/uzawa.rs`; another one in `local/iterations.rs`, for tests.
//!
//! Read by `contacts`.

use crate::contact::friction::{law_velocity, project_to_cone};
use crate::math::{Mat3, Vec3};

/// Share of the trace below which W does not move a direction.
const HELD: f64 = 1e-12;

/// The answer for `W = w·1`, `w > 0`.
#[inline]
pub(crate) fn closed_form(w: f64, b: &Vec3, mu: f64) -> Vec3 {
    // not `b.x >= 0`: what is no number pushes nobody
    let closes = b.x < 0.0;
    if !closes {
        return Vec3::zeros();
    }
    // not `hypot`, which takes as long as the rest of a contact
    let (slide, most) = ((b.y * b.y + b.z * b.z).sqrt(), -mu * b.x);
    let share = if slide <= most { 1.0 } else { most / slide };
    Vec3::new(-b.x / w, -share * b.y / w, -share * b.z / w)
}

/// How far a force and the velocity `u = W r + b` are from the law [N], with the scale `w` of W:
/// `|r − P(r − (u_t + (u_n + μ|u_t|) n)/w)|`.
#[inline]
pub(crate) fn natural_map(r: &Vec3, u: &Vec3, mu: f64, w: f64) -> f64 {
    (r - project_to_cone(&(r - law_velocity(u, mu) / w), mu)).norm()
}

/// The answer for any W.
///
/// With the normal velocity held at zero the tangential part is `u_t = A r_t + c`, and a contact that slides has
/// `u_t = −α r_t` with one number α ≥ 0, its speed over its friction:
///
/// ```text
/// A = W_tt − w wᵀ/W_nn     c = b_t − w b_n/W_nn     w = W_tn
/// r_t(α) = −(A + α)⁻¹ c    r_n(α) = −(b_n + w·r_t)/W_nn     |r_t(α)| = μ r_n(α)
/// ```
///
/// α = 0 sticks. If that takes too much friction there is a smallest α that does not; it always exists.
pub(crate) fn exact(w: &Mat3, b: &Vec3, mu: f64) -> Vec3 {
    let (wnn, trace) = (w[(0, 0)], w.trace());
    let closes = b.x < 0.0 && wnn > HELD * trace;
    if !closes {
        return Vec3::zeros();
    }
    let problem = Slide::new(w, b, mu, HELD * trace);
    let stick = problem.force(0.0);
    if stick.x >= 0.0 && stick.y.hypot(stick.z) <= mu * stick.x {
        return problem.back(&stick);
    }
    if mu == 0.0 {
        return Vec3::new(-b.x / wnn, 0.0, 0.0);
    }
    problem.back(&problem.slide())
}

/// The contact in the eigenbasis of A, velocities over the mean of its eigenvalues.
struct Slide {
    basis: [[f64; 2]; 2],
    /// Eigenvalues of A over their mean, and c likewise; both zero where nothing moves.
    l: [f64; 2],
    c: [f64; 2],
    w: [f64; 2],
    wnn: f64,
    bn: f64,
    mu: f64,
}

impl Slide {
    fn new(w: &Mat3, b: &Vec3, mu: f64, floor: f64) -> Slide {
        let (wnn, bn, p, q) = (w[(0, 0)], b.x, w[(1, 0)], w[(2, 0)]);
        let (a11, a12, a22) = (w[(1, 1)] - p * p / wnn, w[(1, 2)] - p * q / wnn, w[(2, 2)] - q * q / wnn);
        let (middle, half) = (0.5 * (a11 + a22), 0.5 * (a11 - a22));
        let away = half.hypot(a12);
        // the first eigenvector, from the larger of its two expressions
        let first = if away == 0.0 {
            [1.0, 0.0]
        } else if half >= 0.0 {
            let size = (half + away).hypot(a12);
            [(half + away) / size, a12 / size]
        } else {
            let size = (away - half).hypot(a12);
            [a12 / size, (away - half) / size]
        };
        let basis = [first, [-first[1], first[0]]];
        let onto = |e: [f64; 2], x: f64, y: f64| e[0] * x + e[1] * y;
        let mut l = [middle + away, middle - away];
        let moves = l.map(|l| l > floor);
        for k in 0..2 {
            l[k] = if moves[k] { l[k] } else { 0.0 };
        }
        let mean = if l[0] > 0.0 { 0.5 * (l[0] + l[1]) } else { 1.0 };
        let mut c = [0.0; 2];
        for k in 0..2 {
            if moves[k] {
                c[k] = onto(basis[k], b.y - p * bn / wnn, b.z - q * bn / wnn) / mean;
                l[k] /= mean;
            }
        }
        Slide { basis, l, c, w: basis.map(|e| onto(e, p, q)), wnn, bn, mu }
    }

    /// The force at α, in the eigenbasis.
    #[inline]
    fn force(&self, alpha: f64) -> Vec3 {
        let part = |k: usize| if self.c[k] == 0.0 { 0.0 } else { -self.c[k] / (self.l[k] + alpha) };
        let (y, z) = (part(0), part(1));
        Vec3::new(-(self.bn + self.w[0] * y + self.w[1] * z) / self.wnn, y, z)
    }

    /// From the eigenbasis to the frame of the contact.
    fn back(&self, r: &Vec3) -> Vec3 {
        let [e, f] = self.basis;
        Vec3::new(r.x, e[0] * r.y + f[0] * r.z, e[1] * r.y + f[1] * r.z)
    }

    /// `|r_t| − μ r_n`
    fn excess(&self, alpha: f64) -> f64 {
        let r = self.force(alpha);
        r.y.hypot(r.z) - self.mu * r.x
    }

    /// The force at the smallest α that friction can bear; it is known that zero is not.
    fn slide(&self) -> Vec3 {
        if self.c[0] == 0.0 || self.c[1] == 0.0 {
            // Along one direction r_t has a sign, and |r_t| = μ r_n is linear in it.
            let k = usize::from(self.c[0] == 0.0);
            let against = -self.c[k].signum();
            let most = -self.mu * self.bn / (self.wnn + self.mu * self.w[k] * against);
            let mut r = Vec3::new(most / self.mu, 0.0, 0.0);
            r[k + 1] = against * most;
            return r;
        }
        // from here on |r_t| ≤ |c|/α is small enough and r_n ≥ (−b_n − |w||c|/α)/W_nn large enough
        let c = self.c[0].hypot(self.c[1]);
        let most = 2.0 * c * (self.wnn + self.mu * self.w[0].hypot(self.w[1])) / (self.mu * -self.bn);
        if most > FAR {
            let n = -self.bn / self.wnn;
            return Vec3::new(n, -self.mu * n * self.c[0] / c, -self.mu * n * self.c[1] / c);
        }
        // Between two turning points of the quartic W_nn²|r_t|² = μ²W_nn²r_n² there is one root of it at most.
        let turns = roots(&slope(&self.quartic()), most);
        let mut low = 0.0;
        for high in turns.into_iter().flatten().chain([most]) {
            if self.excess(high) <= 0.0 {
                return self.force(self.between(low, high));
            }
            low = high;
        }
        self.force(most)
    }

    /// `W_nn²|d r_t|² − μ²(W_nn d r_n)²` with `d = det(A + α)`: coefficients of 1, α … α⁴.
    fn quartic(&self) -> [f64; 5] {
        let Slide { l, c, w, wnn, bn, mu, .. } = self;
        let p = [[c[0] * l[1], c[0]], [c[1] * l[0], c[1]]];
        let g = [
            bn * l[0] * l[1] - w[0] * p[0][0] - w[1] * p[1][0],
            bn * (l[0] + l[1]) - w[0] * p[0][1] - w[1] * p[1][1],
            *bn,
        ];
        let (a, m) = (wnn * wnn, mu * mu);
        [
            a * (p[0][0] * p[0][0] + p[1][0] * p[1][0]) - m * g[0] * g[0],
            2.0 * a * (p[0][0] * p[0][1] + p[1][0] * p[1][1]) - 2.0 * m * g[0] * g[1],
            a * (p[0][1] * p[0][1] + p[1][1] * p[1][1]) - m * (g[1] * g[1] + 2.0 * g[0] * g[2]),
            -2.0 * m * g[1] * g[2],
            -m * g[2] * g[2],
        ]
    }

    /// The α between `low` (too much friction) and `high` (not too much) where friction is just used up.
    ///
    /// Newton on `μ r_n/|r_t| − 1`, which is linear for isotropic W, kept in the bracket.
    fn between(&self, mut low: f64, mut high: f64) -> f64 {
        let mut at = low;
        for _ in 0..MOST_HALVINGS {
            let r = self.force(at);
            let slide = r.y.hypot(r.z);
            let rest = self.mu * r.x / slide - 1.0;
            if rest < 0.0 {
                low = at;
            } else {
                high = at;
            }
            let part = |k: usize, r: f64| if self.c[k] == 0.0 { 0.0 } else { -r / (self.l[k] + at) };
            let (dy, dz) = (part(0, r.y), part(1, r.z));
            let dn = -(self.w[0] * dy + self.w[1] * dz) / self.wnn;
            let ds = (r.y * dy + r.z * dz) / slide;
            let step = -rest / (self.mu * (dn - r.x * ds / slide) / slide);
            let next = at + step;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - at).abs() <= 2.0 * f64::EPSILON * at.abs() || high - low <= f64::EPSILON * high {
                return next;
            }
            at = next;
        }
        at
    }
}

/// α over the mean of A's eigenvalues beyond which A does not count beside it.
const FAR: f64 = 1e13;
const MOST_HALVINGS: usize = 200;

/// Coefficients of the derivative of a polynomial, from the constant on.
fn slope(p: &[f64; 5]) -> [f64; 5] {
    [p[1], 2.0 * p[2], 3.0 * p[3], 4.0 * p[4], 0.0]
}

fn value(p: &[f64; 5], x: f64) -> f64 {
    p.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Roots of a polynomial in (0, `most`) where its sign changes, ascending.
fn roots(p: &[f64; 5], most: f64) -> [Option<f64>; 4] {
    let mut found = [None; 4];
    let degree = p.iter().rposition(|&c| c != 0.0).unwrap_or(0);
    if degree == 0 {
        return found;
    }
    let turns = if degree == 1 { [None; 4] } else { roots(&slope(p), most) };
    let (mut low, mut count) = (0.0, 0);
    for high in turns.into_iter().flatten().chain([most]) {
        let rising = value(p, low) < 0.0;
        if rising != (value(p, high) < 0.0) {
            let (mut a, mut b) = (low, high);
            for _ in 0..MOST_HALVINGS {
                // by magnitude, then by halves: the range may span many powers of ten
                let middle = if b > 4.0 * a && a > 0.0 { (a * b).sqrt() } else { 0.5 * (a + b) };
                if middle <= a || middle >= b {
                    break;
                }
                if (value(p, middle) < 0.0) == rising { a = middle } else { b = middle }
            }
            found[count] = Some(0.5 * (a + b));
            count += 1;
        }
        low = high;
    }
    found
}

#[cfg(test)]
mod iterations;
pub(crate) mod uzawa;
#[cfg(test)]
mod tests;
