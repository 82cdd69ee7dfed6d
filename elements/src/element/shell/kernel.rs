//! One point of a Kirchhoff–Love shell: from the slopes of the displacement to energy and conjugate forces, on lanes.
//!
//! Coordinates s¹, s² of the point are such that the reference base `ē_α = X_,α` is orthonormal. With the five vectors
//! `u_,1 u_,2 u_,11 u_,22 u_,12` the current ones are `a_α = ē_α + u_,α`, `a_αβ = ā_αβ + u_,αβ`, and with `a₃ = a₁ × a₂ / j`
//!
//! ```text
//! membrane   α_αβ = ½(a_α·a_β − δ_αβ)          bending   β_αβ = ā_αβ·ē₃ − a_αβ·a₃          at height ζ   E = α + ζ β
//! n^αβ = ∫ S^αβ dζ     m^αβ = ∫ S^αβ ζ dζ       S from the law with nothing felt across
//! δw = n^αβ a_β·δu_,α − m^αβ (δu_,αβ − Γ^γ_αβ δu_,γ)·a₃        Γ^γ_αβ = a^γ·a_αβ
//! ```
//!
//! (Cirak & Ortiz 2001; the law at every height sees the metric of the mid-surface, as thin shells do.) A law that is linear
//! in its strain is integrated across exactly: n = h S(α), m = h³/12 S(β). A law of small strains takes the parts of α and β
//! that are linear in u, in the reference base.

use crate::material::{Material, PlaneStress};
use crate::math::lane::Lane;
use crate::math::tensor::{cross, dot};

/// Vectors that a point sees: ∂₁ ∂₂ ∂₁₁ ∂₂₂ ∂₁₂.
pub const SLOPES: usize = 5;
pub type Slopes<L> = [[L; 3]; SLOPES];

/// Numbers kept for a point: ē₁, ē₂, ā₁₁, ā₂₂, ā₁₂, area, and (p, q, r) with ∂₁ = p ∂_v, ∂₂ = q ∂_v + r ∂_w.
pub const NUMBERS: usize = 19;
pub const AREA: usize = 15;
pub const MAP: usize = 16;

/// Heights at which laws that are not linear are asked, and their weights, for a thickness of one: three points of Gauss.
pub const LAYERS: [(f64, f64); 3] =
    [(-0.3872983346207417, 5.0 / 18.0), (0.0, 8.0 / 18.0), (0.3872983346207417, 5.0 / 18.0)];

/// What a point is in the reference shape.
#[derive(Clone, Copy)]
pub struct Reference<L> {
    pub base: Slopes<L>,
    pub area: L,
    pub map: [L; 3],
}

impl<L: Lane> Reference<L> {
    #[inline(always)]
    pub fn new(numbers: &[L; NUMBERS]) -> Self {
        let mut base = [[numbers[0]; 3]; SLOPES];
        for (k, to) in base.iter_mut().flatten().enumerate() {
            *to = numbers[k];
        }
        Reference { base, area: numbers[AREA], map: [numbers[MAP], numbers[MAP + 1], numbers[MAP + 2]] }
    }
}

/// Slopes along s from slopes along (v, w), in place.
#[inline(always)]
pub fn to_base<L: Lane>(d: &mut Slopes<L>, [p, q, r]: [L; 3]) {
    let (pp, pq, pr) = (p * p, p * q, p * r);
    let (qq, qr, rr) = (q * q, q * r * 2.0, r * r);
    for i in 0..3 {
        let [v, w, vv, ww, vw] = [d[0][i], d[1][i], d[2][i], d[3][i], d[4][i]];
        d[0][i] = p * v;
        d[1][i] = q.mul_add(v, r * w);
        d[2][i] = pp * vv;
        d[3][i] = qq.mul_add(vv, qr.mul_add(vw, rr * ww));
        d[4][i] = pq.mul_add(vv, pr * vw);
    }
}

/// The transpose: conjugate forces of slopes along (v, w) from those along s.
#[inline(always)]
pub fn from_base<L: Lane>(f: &mut Slopes<L>, [p, q, r]: [L; 3]) {
    let (pp, pq, pr) = (p * p, p * q, p * r);
    let (qq, qr, rr) = (q * q, q * r * 2.0, r * r);
    for i in 0..3 {
        let [f1, f2, f11, f22, f12] = [f[0][i], f[1][i], f[2][i], f[3][i], f[4][i]];
        f[0][i] = p.mul_add(f1, q * f2);
        f[1][i] = r * f2;
        f[2][i] = pp.mul_add(f11, qq.mul_add(f22, pq * f12));
        f[3][i] = rr * f22;
        f[4][i] = qr.mul_add(f22, pr * f12);
    }
}

/// The surface at a point as it is now; for laws of small strains as it was.
#[derive(Clone, Copy)]
pub struct Current<L> {
    pub base: Slopes<L>,
    /// a₃
    pub normal: [L; 3],
    /// Area over that of the reference.
    pub stretch: L,
    /// a¹, a²
    pub dual: [[L; 3]; 2],
    /// α₁₁ α₂₂ α₁₂
    pub membrane: [L; 3],
    /// β₁₁ β₂₂ β₁₂ [1/m]
    pub bending: [L; 3],
}

#[inline(always)]
pub fn kinematics<L: Lane>(reference: &Reference<L>, u: &Slopes<L>, small_strain: bool) -> Current<L> {
    let rest = &reference.base;
    let mut base = *rest;
    if !small_strain {
        for (a, u) in base.iter_mut().flatten().zip(u.iter().flatten()) {
            *a += *u;
        }
    }
    let t = cross(base[0], base[1]);
    let stretch = dot(t, t).sqrt();
    let inverse = stretch.of(1.0) / stretch;
    let normal = [t[0] * inverse, t[1] * inverse, t[2] * inverse];
    let (mut d1, mut d2) = (cross(base[1], normal), cross(normal, base[0]));
    for i in 0..3 {
        d1[i] = d1[i] * inverse;
        d2[i] = d2[i] * inverse;
    }
    let mut membrane =
        [dot(rest[0], u[0]), dot(rest[1], u[1]), (dot(rest[0], u[1]) + dot(rest[1], u[0])) * 0.5];
    let mut bending = membrane;
    if small_strain {
        for k in 0..3 {
            // −(u_αβ − Γ^γ u_γ)·ē₃
            let (c1, c2) = (dot(d1, rest[2 + k]), dot(d2, rest[2 + k]));
            let mut kept = u[2 + k];
            for i in 0..3 {
                kept[i] = c1.neg_mul_add(u[0][i], c2.neg_mul_add(u[1][i], kept[i]));
            }
            bending[k] = -dot(kept, normal);
        }
    } else {
        membrane[0] = dot(u[0], u[0]).mul_add(stretch.of(0.5), membrane[0]);
        membrane[1] = dot(u[1], u[1]).mul_add(stretch.of(0.5), membrane[1]);
        membrane[2] = dot(u[0], u[1]).mul_add(stretch.of(0.5), membrane[2]);
        // ā·ē₃ − a·a₃ = −u·a₃ − ā·(a₃ − ē₃)
        let at_rest = cross(rest[0], rest[1]);
        let turned = [normal[0] - at_rest[0], normal[1] - at_rest[1], normal[2] - at_rest[2]];
        for k in 0..3 {
            bending[k] = -(dot(u[2 + k], normal) + dot(rest[2 + k], turned));
        }
    }
    Current { base, normal, stretch, dual: [d1, d2], membrane, bending }
}

/// Energy per area, n and m (11, 22, 12); `state` holds the numbers of all layers.
#[inline(always)]
pub fn resultants<M: Material, L: Lane>(
    law: &PlaneStress<M>,
    thickness: f64,
    membrane: &[L; 3],
    bending: &[L; 3],
    state: &mut [L],
) -> (L, [L; 3], [L; 3]) {
    let zero = membrane[0].of(0.0);
    if M::LINEAR && M::STATE == 0 {
        let moment = thickness * thickness * thickness / 12.0;
        let (wa, sa) = law.respond(&[membrane[0], membrane[1], zero, membrane[2], zero, zero], state);
        let (wb, sb) = law.respond(&[bending[0], bending[1], zero, bending[2], zero, zero], state);
        let n = [sa[0] * thickness, sa[1] * thickness, sa[3] * thickness];
        let m = [sb[0] * moment, sb[1] * moment, sb[3] * moment];
        return (wa * thickness + wb * moment, n, m);
    }
    let (mut energy, mut n, mut m) = (zero, [zero; 3], [zero; 3]);
    for (layer, (height, weight)) in LAYERS.iter().enumerate() {
        let (z, dz) = (zero.of(height * thickness), zero.of(weight * thickness));
        let mut e = [zero; 6];
        e[0] = z.mul_add(bending[0], membrane[0]);
        e[1] = z.mul_add(bending[1], membrane[1]);
        e[3] = z.mul_add(bending[2], membrane[2]);
        let (w, s) = law.respond(&e, &mut state[layer * M::STATE..(layer + 1) * M::STATE]);
        energy = w.mul_add(dz, energy);
        let s = [s[0] * dz, s[1] * dz, s[3] * dz];
        for k in 0..3 {
            n[k] += s[k];
            m[k] = z.mul_add(s[k], m[k]);
        }
    }
    (energy, n, m)
}

/// Energy [J], stretch of the area, and forces conjugate to the slopes.
#[inline(always)]
pub fn point<M: Material, L: Lane>(
    law: &PlaneStress<M>,
    thickness: f64,
    reference: &Reference<L>,
    u: &Slopes<L>,
    state: &mut [L],
) -> (L, L, Slopes<L>) {
    let now = kinematics(reference, u, M::SMALL_STRAIN);
    let (energy, n, m) = resultants(law, thickness, &now.membrane, &now.bending, state);
    let area = reference.area;
    let n = [n[0] * area, n[1] * area, n[2] * area];
    let m = [m[0] * area, m[1] * area, m[2] * area * 2.0];
    let (a, a3) = (&now.base, &now.normal);
    let mut force = *a;
    let mut s = a[2];
    for i in 0..3 {
        s[i] = m[0].mul_add(a[2][i], m[1].mul_add(a[3][i], m[2] * a[4][i]));
    }
    let (g1, g2) = (dot(now.dual[0], s), dot(now.dual[1], s));
    for i in 0..3 {
        force[0][i] = n[0].mul_add(a[0][i], n[2].mul_add(a[1][i], g1 * a3[i]));
        force[1][i] = n[1].mul_add(a[1][i], n[2].mul_add(a[0][i], g2 * a3[i]));
        force[2][i] = -(m[0] * a3[i]);
        force[3][i] = -(m[1] * a3[i]);
        force[4][i] = -(m[2] * a3[i]);
    }
    (energy * area, now.stretch, force)
}
