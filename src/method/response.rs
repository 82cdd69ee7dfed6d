//! The closed-form answer to one impact (decomposition contact response, Cirak & West 2005).
//!
//! A [`Pair`] ties a few nodes together by weights w. Of all the momentum of these nodes only its part along
//! the pair takes part in the impact, and that part lives at the contact point:
//!
//! ```text
//! u = Σ wₖ vₖ − v_y     K = Σ wₖ² Mₖ⁻¹     an impulse j changes vₖ by wₖ Mₖ⁻¹ j and u by K j
//!
//! normal      j_n = (|n·u| + r) / (n·K n) · n       r = e |n·u|: the speed of parting
//! stick       j_2 = K⁺ (r n − u − e_t u_t) − j_n    leaves −e_t of the sliding, and the speed of parting
//! together    j = j_n + s j_2                       s from the cone, 1 if the pair sticks
//! ```
//!
//! e_t is e (elastic stick, (39) of Wolff & Bucher 2013 as printed) or 0 (plastic stick: slip stops); see [`Stick`].
//!
//! `Mₖ⁻¹ = P/m` is 3×3 and vanishes along restrained directions, so supports need no branch. Where nobody is
//! restrained K = c·1 and all of it collapses to `j_n = −(1+e) u_n/c`, `j_2 = −(1+e_t) u_t/c`,
//! `s = min(1, (1+e) μ |u_n| / ((1+e_t) |u_t|))`.
//!
//! **Sign.** Gap g > 0 open, n towards the positive weights, n·u < 0 approach, as everywhere. The paper's
//! constraint is −g. Its (45) prints half of Coulomb's bound for an elastic impact; here the tangential
//! impulse is bounded by μ times the normal impulse.
//!
//! Used by every method that answers contacts one by one; the books of a step are theirs.

use crate::contact::friction::{Stick, scale_to_cone};
use crate::contact::pair::{MAX_POINTS, Pair};
use crate::math::{Mat3, Vec3};
use carom_declare::words;

/// Share of the free inverse mass below which a pair counts as held: round-off of a projector.
const HELD: f64 = 1e-12;
/// Share of a motion along the normal that must be left by supports for one side to do it alone.
const MOBILE: f64 = 0.01;
/// Share of the largest eigenvalue below which one counts as zero.
const SINGULAR: f64 = 1e-12;

/// Share of its terms below which an energy that cancels is zero: elastic stick loses nothing.
const ROUND_OFF: f64 = 1e-12;

/// What an impact did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Normal and tangential impulse [N s] on the side with positive weights; node k feels `wₖ` times it. Where
    /// restraints couple the directions, the second may have a normal part too.
    pub normal: Vec3,
    pub friction: Vec3,
    /// Energy taken out by either [J], in the frame of the obstacle if there is one. Friction never adds any.
    pub lost_normal: f64,
    pub lost_friction: f64,
    /// Energy put in so that the pair parts as fast as was asked [J].
    pub lifted: f64,
    /// What was asked of the energy correction and could not be had [J].
    pub owed: f64,
    /// The pair sticks.
    pub sticks: bool,
}

impl Impact {
    /// The whole impulse [N s].
    pub fn impulse(&self) -> Vec3 {
        self.normal + self.friction
    }
}

/// Inverse mass of a pair at its contact point: `K = Σ wₖ² Mₖ⁻¹` [1/kg].
#[inline]
pub fn inverse_mass(pair: &Pair, inv_mass: &[Mat3]) -> Mat3 {
    pair.stencil().fold(Mat3::zeros(), |sum, (k, w)| sum + w * w * inv_mass[k])
}

/// `n·K n`, or nothing if the pair cannot move along its normal.
#[inline]
pub(crate) fn along_normal(pair: &Pair, inv: &Mat3) -> Option<f64> {
    let along = pair.normal.dot(&(inv * pair.normal));
    (along > HELD * inv.trace()).then_some(along)
}

/// What an impact shall do beside its restitution and friction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    pub stick: Stick,
    /// Energy to be added beyond restitution [J]; 0 without energy correction.
    pub work: f64,
    /// Least speed of parting [m/s], for what overlaps at rest.
    pub parting: f64,
}

/// Sends one pair apart with `e` times the speed of its approach, against friction `mu`.
///
/// A pair that already parts, or whose points are all held, is left alone. With work asked for,
/// `r² = e² u_n² + 2 work n·K n`, and the pair does not part at all if that is negative.
pub fn bounce(pair: &Pair, terms: Terms, inv_mass: &[Mat3], v: &mut [Vec3]) -> Option<Impact> {
    let n = pair.normal;
    let u = pair.relative_velocity(v);
    let approach = -n.dot(&u);
    // not `approach <= 0`: a velocity that is no number leaves the pair alone as well
    let closing = approach > 0.0;
    if !closing {
        return None;
    }
    let inv = inverse_mass(pair, inv_mass);
    let inv_n = along_normal(pair, &inv)?;
    let e = pair.e;
    let (own, owed) = if terms.work == 0.0 {
        (e * approach, 0.0)
    } else {
        let square = e * e * approach * approach + 2.0 * terms.work * inv_n;
        (square.max(0.0).sqrt(), 0.5 * square.min(0.0) / inv_n)
    };
    let parting = own.max(terms.parting);
    let size = (approach + parting) / inv_n;
    let normal = size * n;
    let lost_normal = 0.5 * (approach - own) * (approach + own) / inv_n;
    let lifted = 0.5 * (parting - own) * (parting + own) / inv_n;

    let zero = Vec3::zeros();
    let mut impact =
        Impact { normal, friction: zero, lost_normal, lost_friction: 0.0, lifted, owed, sticks: false };
    if pair.mu > 0.0 {
        let back = terms.stick.restitution(e) * (u + approach * n);
        let stick = stick(&inv, inv_n, &(u + back), parting, &normal, &n);
        let mut s = scale_to_cone(size, &stick, &n, pair.mu);
        // energy of s·j₂ beside the normal impulse: b s + c s²
        let b = stick.dot(&(u + inv * normal));
        let c = 0.5 * stick.dot(&(inv * stick));
        if b * s + c * s * s > lost_normal + ROUND_OFF * c {
            // Restraints that couple the directions can turn friction into a source. Not here.
            s = if c > 0.0 {
                ((-b + (b * b + 4.0 * c * lost_normal).max(0.0).sqrt()) / (2.0 * c)).clamp(0.0, s)
            } else {
                0.0
            };
        }
        impact.friction = s * stick;
        // what its normal part adds where restraints couple the directions is the normal impulse's
        let lost = -s * (b + c * s);
        impact.lost_friction = lost.max(0.0);
        impact.lost_normal += lost.min(0.0);
        impact.sticks = s == 1.0;
    }
    push(pair, &impact.impulse(), inv_mass, v);
    Some(impact)
}

/// The impulse that takes the sliding of `u` away beside the normal one: `n·K j₂ = 0`. `u` is the relative velocity before
/// the normal impulse, `parting` its normal part after it.
#[inline]
pub fn stick(inv: &Mat3, inv_n: f64, u: &Vec3, parting: f64, normal: &Vec3, n: &Vec3) -> Vec3 {
    let c = inv[(0, 0)];
    if *inv == Mat3::from_diagonal_element(c) {
        return -(u - n.dot(u) * n) / c;
    }
    let stick = pseudo_inverse(inv) * (parting * n - u) - normal;
    stick - (n.dot(&(inv * stick)) / inv_n) * n
}

/// Inverse of a symmetric matrix on its range.
pub fn pseudo_inverse(a: &Mat3) -> Mat3 {
    let eigen = a.symmetric_eigen();
    let floor = SINGULAR * eigen.eigenvalues.amax();
    let inverse = eigen.eigenvalues.map(|l| if l > floor { 1.0 / l } else { 0.0 });
    eigen.eigenvectors * Mat3::from_diagonal(&inverse) * eigen.eigenvectors.transpose()
}

/// Gives the nodes of a pair the impulse `j`: `vₖ += wₖ Mₖ⁻¹ j`.
#[inline]
pub fn push(pair: &Pair, j: &Vec3, inv_mass: &[Mat3], v: &mut [Vec3]) {
    for (k, w) in pair.stencil() {
        v[k] += w * (inv_mass[k] * j);
    }
}

words! {
    /// Who moves when an overlap is undone.
    pub enum Projection {
        /// Everybody by his share of the inverse mass: the least motion, and the centre of mass stays.
        Mass = "mass",
        /// The side with positive weights alone: the node, or the first edge, as the paper has it. The centre of mass moves.
        OneSided = "one-sided",
    }
}

/// Displacements of the points of a pair that bring its gap to `clearance` [m], in the order of its stencil.
///
/// ```text
/// xₖ ← xₖ − wₖ Mₖ⁻¹n (g − clearance) / (n·K n)
/// ```
///
/// Linear in x for frozen weights and normal, so once is enough. `None` if nobody can move.
pub fn displacements(
    pair: &Pair,
    clearance: f64,
    how: Projection,
    inv_mass: &[Mat3],
) -> Option<[Vec3; MAX_POINTS]> {
    let n = pair.normal;
    let rise = clearance - pair.gap;
    let mut moves = [Vec3::zeros(); MAX_POINTS];
    if how == Projection::OneSided {
        // the first side as a whole along n; held directions take their part away
        let carried: f64 =
            pair.stencil().filter(|p| p.1 > 0.0).map(|(k, w)| w * n.dot(&free_part(&inv_mass[k], &n))).sum();
        if carried > MOBILE {
            for ((k, w), to) in pair.stencil().zip(&mut moves) {
                if w > 0.0 {
                    *to = rise / carried * free_part(&inv_mass[k], &n);
                }
            }
            return Some(moves);
        }
    }
    let along = along_normal(pair, &inverse_mass(pair, inv_mass))?;
    for ((k, w), to) in pair.stencil().zip(&mut moves) {
        *to = (w * rise / along) * (inv_mass[k] * n);
    }
    Some(moves)
}

/// The inverse mass of a node that can move in all directions alike, or in none [1/kg].
#[inline]
pub(crate) fn alike(inv_mass: &Mat3) -> Option<f64> {
    let c = inv_mass[(0, 0)];
    (*inv_mass == Mat3::from_diagonal_element(c)).then_some(c)
}

/// [`displacements`] by mass, where all points can move in all directions alike, with inverse masses `alike` [1/kg]. It computes what
/// those do, without the zeros.
pub(crate) fn displacements_alike(pair: &Pair, clearance: f64, alike: &[f64]) -> Option<[Vec3; MAX_POINTS]> {
    let n = pair.normal;
    let c = pair.stencil().fold(0.0, |sum, (k, w)| sum + w * w * alike[k]);
    let along = n.dot(&(c * n));
    if along <= HELD * (c + c + c) || along.is_nan() {
        return None;
    }
    let rise = clearance - pair.gap;
    let mut moves = [Vec3::zeros(); MAX_POINTS];
    for ((k, w), to) in pair.stencil().zip(&mut moves) {
        *to = (w * rise / along) * (alike[k] * n);
    }
    Some(moves)
}

/// `P n`, from `P/m`.
#[inline]
fn free_part(inv_mass: &Mat3, n: &Vec3) -> Vec3 {
    // P has eigenvalues 0 and 1, so 1/m = ‖P/m‖² / tr(P/m)
    let trace = inv_mass.trace();
    if trace > 0.0 { trace / inv_mass.norm_squared() * (inv_mass * n) } else { Vec3::zeros() }
}

/// Angular momentum that moving the nodes of a pair by `moves` adds: `δL = Σ dₖ × mₖvₖ`.
pub(crate) fn spin_gained(pair: &Pair, moves: &[Vec3; MAX_POINTS], mass: &[f64], v: &[Vec3]) -> Vec3 {
    pair.stencil().zip(moves).map(|((k, _), d)| d.cross(&(mass[k] * v[k]))).sum()
}

/// A rotation that takes angular momentum out of a few free nodes and leaves the rest of their momentum alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spin {
    /// Rate [rad/s] about `centre`.
    pub rate: Vec3,
    pub centre: Vec3,
    /// Energy it adds [J].
    pub gain: f64,
}

impl Spin {
    /// The spin that takes the angular momentum `gained` from `nodes`:
    ///
    /// ```text
    /// ω = −I⁻¹ δL     vₖ ← vₖ + ω × (xₖ − x_c)
    /// ```
    ///
    /// The relative velocity of points that touch stays as it is. Two points in one place cannot spin.
    pub fn against(gained: &Vec3, nodes: &[u32], mass: &[f64], x: &[Vec3], v: &[Vec3]) -> Option<Spin> {
        if nodes.len() < 3 {
            return None;
        }
        let (mut total, mut centre) = (0.0, Vec3::zeros());
        for k in nodes.iter().map(|&k| k as usize) {
            total += mass[k];
            centre += mass[k] * x[k];
        }
        centre /= total;
        let (mut inertia, mut momentum) = (Mat3::zeros(), Vec3::zeros());
        for k in nodes.iter().map(|&k| k as usize) {
            let r = x[k] - centre;
            inertia += mass[k] * (r.norm_squared() * Mat3::identity() - r * r.transpose());
            momentum += r.cross(&(mass[k] * v[k]));
        }
        let rate = -pseudo_inverse(&inertia) * gained;
        let gain = rate.dot(&momentum) + 0.5 * rate.dot(&(inertia * rate));
        Some(Spin { rate, centre, gain })
    }

    /// Velocity it adds at `x` [m/s].
    #[inline]
    pub fn at(&self, x: &Vec3) -> Vec3 {
        self.rate.cross(&(x - self.centre))
    }
}

#[cfg(test)]
mod tests;
