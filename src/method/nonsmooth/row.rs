//! What is known of one constraint at trial positions: its value, gradients, and how its features slide.

use super::compliance::Compliance;
use super::detect::{Admissible, Constraint};
use super::program::{Friction, Gradient, Rules};
use super::simplex::{ContactKind, Foot};
use crate::math::{Mat3, Vec3};
use crate::solve::coulomb::TANGENTIAL;

/// Share of a constraint's own compliance below which it cannot slide along a direction.
const HELD: f64 = 1e-12;
/// Step of the differences of [`Row::parametric`], as a share of the local size: half of the digits.
const DIFFERENCE: f64 = 1e-6;

/// A row of S, or of what it is made of: a vector on each node.
pub(crate) type Local = [Vec3; 4];

/// What is known of one constraint at the present iterate.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub g: f64,
    pub gradient: Local,
    /// Along which it presses.
    pub push: Local,
    pub foot: Foot,
    /// Rows of S, and the unit vectors that p is made of.
    pub slide: [Local; TANGENTIAL],
    pub unit: [Local; TANGENTIAL],
    pub sliding: usize,
    /// Largest friction over the multiplier.
    pub rough: f64,
    /// Friction forces on its nodes [N]: `−Sᵀp`.
    pub drag: Local,
    /// Forces that the full gradient of the potential brings along [N].
    pub beside: Local,
}

/// Friction force of one constraint: on the touched point (first entry) for `Slip`, on all its nodes for `Projected`.
pub(crate) type Tangential = Local;

pub(crate) fn dot(p: &Local, q: &Local) -> f64 {
    p.iter().zip(q).map(|(p, q)| p.dot(q)).sum()
}

impl Row {
    /// At the trial positions; `p` is turned with the surface.
    pub fn new(c: &Constraint, at: &Admissible, soft: &Compliance, rules: &Rules, p: &mut Tangential) -> Row {
        let mut row = Row::bare(c, at, rules, &at.world.x);
        if c.mu > 0.0 {
            row.drop_held(c, at, soft);
            // the surface has turned since this force was found
            let mut turned = [Vec3::zeros(); 4];
            for unit in &row.unit[..row.sliding] {
                let along = dot(unit, p);
                (0..4).for_each(|a| turned[a] += along * unit[a]);
            }
            *p = turned;
            row.drag = row.drag_of(p);
        }
        row
    }

    /// Gradients and slips at positions `x`.
    fn bare(c: &Constraint, at: &Admissible, rules: &Rules, x: &[Vec3]) -> Row {
        let s = &c.simplex;
        let (foot, end, zero) = (s.foot(x), s.gradient(x), [Vec3::zeros(); 4]);
        let push = match rules.gradient {
            Gradient::End => end,
            Gradient::Midpoint => {
                s.gradient_at(&s.nodes.map(|k| 0.5 * (at.start[k as usize] + x[k as usize])))
            }
        };
        let mut row = Row {
            g: s.value(x),
            gradient: end,
            push,
            foot,
            slide: [zero; TANGENTIAL],
            unit: [zero; TANGENTIAL],
            sliding: 0,
            rough: 0.0,
            drag: zero,
            beside: zero,
        };
        if c.mu > 0.0 {
            row.rough = c.mu
                * match rules.friction {
                    Friction::Slip => foot.lever,
                    Friction::Projected => dot(&push, &push).sqrt(),
                };
            match rules.friction {
                Friction::Slip => row.slip_of_points(),
                Friction::Projected => row.slip_as_published(c, at, x),
            }
        }
        row
    }

    /// `−Δt ∂ψ*/∂φ` of the potential `Δtψ* = μN̂(φ)|S(φ)Δφ|` with the motion Δφ and the multiplier kept: the second term of (3.9), by central
    /// differences.
    pub(crate) fn parametric(c: &Constraint, at: &Admissible, rules: &Rules, lambda: f64) -> Local {
        let way = way_of(c, &at.start, &at.world.x);
        let mut x = at.world.x.clone();
        let mut potential = |k: u32, axis: usize, by: f64| {
            let old = x[k as usize][axis];
            x[k as usize][axis] = old + by;
            let row = Row::bare(c, at, rules, &x);
            x[k as usize][axis] = old;
            let slip = row.slide[..row.sliding].iter().map(|s| dot(s, &way).powi(2)).sum::<f64>().sqrt();
            lambda * row.rough * slip
        };
        let (eps, mut force) = (DIFFERENCE * c.size, [Vec3::zeros(); 4]);
        for (a, &k) in c.simplex.ids().iter().enumerate() {
            for axis in 0..3 {
                force[a][axis] = -(potential(k, axis, eps) - potential(k, axis, -eps)) / (2.0 * eps);
            }
        }
        force
    }

    pub(crate) fn drag_of(&self, p: &Tangential) -> Local {
        let mut drag = [Vec3::zeros(); 4];
        for (slide, unit) in self.slide[..self.sliding].iter().zip(&self.unit) {
            let along = dot(unit, p);
            (0..4).for_each(|a| drag[a] -= along * slide[a]);
        }
        drag
    }

    /// The tangential motion of the two touched points against each other.
    fn slip_of_points(&mut self) {
        let (t1, t2) = tangents(&self.foot.normal);
        for (k, t) in [t1, t2].into_iter().enumerate() {
            self.slide[k] = self.foot.weights.map(|w| w * t);
            self.unit[k][0] = t;
        }
        self.sliding = 2;
    }

    /// All of the sliding field `P d`: p is made of a basis of its range.
    fn slip_as_published(&mut self, c: &Constraint, at: &Admissible, x: &[Vec3]) {
        let s = &c.simplex;
        let weight = |a: usize| at.inv_mass[s.nodes[a] as usize].trace().max(0.0);
        // a node that cannot move counts like the heaviest that can
        let heaviest = (0..s.count()).map(weight).filter(|&w| w > 0.0).fold(f64::INFINITY, f64::min);
        let mut mass = [0.0; 4];
        for (a, m) in mass.iter_mut().enumerate().take(s.count()) {
            *m = 1.0 / if weight(a) > 0.0 { weight(a) } else { heaviest };
        }
        let x = s.nodes.map(|k| x[k as usize]);
        let axes = if s.touch == ContactKind::NodeSegment { 2 } else { 3 };
        let mut columns = Vec::new();
        for a in 0..s.count() {
            for axis in 0..axes {
                let mut d = [Vec3::zeros(); 4];
                d[a][axis] = 1.0;
                columns.push(((a, axis), sliding(&x, &mass, &self.gradient, &d)));
            }
        }
        for (_, column) in &columns {
            let mut left = *column;
            for unit in &self.unit[..self.sliding] {
                let along = dot(unit, &left);
                (0..4).for_each(|a| left[a] -= along * unit[a]);
            }
            let size = dot(&left, &left).sqrt();
            if size > 1e-6 && self.sliding < TANGENTIAL {
                self.unit[self.sliding] = left.map(|v| v / size);
                self.sliding += 1;
            }
        }
        for k in 0..self.sliding {
            for ((a, axis), column) in &columns {
                self.slide[k][*a][*axis] = dot(&self.unit[k], column);
            }
        }
    }

    /// Leaves out directions along which nobody can move.
    fn drop_held(&mut self, c: &Constraint, at: &Admissible, soft: &Compliance) {
        let own = |vector: &Local| {
            let mut ease = 0.0;
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                soft.answer(&at.inv_mass, k, &vector[a], |n, moved| {
                    let all = c.simplex.ids().iter().zip(vector).filter(|(m, _)| **m == n);
                    ease += all.map(|(_, v)| moved.dot(v)).sum::<f64>();
                });
            }
            ease
        };
        let normal = own(&self.gradient) / (self.foot.lever * self.foot.lever);
        let mut kept = 0;
        for k in 0..self.sliding {
            if own(&self.slide[k]) > HELD * normal {
                (self.slide[kept], self.unit[kept]) = (self.slide[k], self.unit[k]);
                kept += 1;
            }
        }
        self.sliding = kept;
    }
}

/// How far the nodes of a constraint have come; points of a plane, as far as its material did.
pub(crate) fn way_of(c: &Constraint, start: &[Vec3], y: &[Vec3]) -> Local {
    let mut way = [Vec3::zeros(); 4];
    for (a, &k) in c.simplex.ids().iter().enumerate() {
        way[a] = match c.key.0 {
            ContactKind::NodePlane if a > 0 => c.carried,
            _ => y[k as usize] - start[k as usize],
        };
    }
    way
}

/// Two unit vectors across `n`; the first lies in the x–y plane if `n` does.
fn tangents(n: &Vec3) -> (Vec3, Vec3) {
    let a = if n.z.abs() < 0.9 { Vec3::z() } else { Vec3::x() };
    let t = n.cross(&a).normalize();
    (t, n.cross(&t))
}

/// Sliding part of a local motion (published 3.3–3.4): without its rigid part and without what opens the contact.
///
/// ```text
/// P d = d − d_c − ω×y − M⁻¹G (G·d)/(G·M⁻¹G)        y = x − x_c,  I ω = Σ m y×(d − d_c)
/// ```
///
/// Unused places have no mass.
pub(crate) fn sliding(x: &[Vec3; 4], mass: &[f64; 4], g: &[Vec3; 4], d: &[Vec3; 4]) -> [Vec3; 4] {
    let total: f64 = mass.iter().sum();
    let mean = |v: &[Vec3; 4]| v.iter().zip(mass).map(|(v, m)| *m * v).sum::<Vec3>() / total;
    let (x_c, d_c) = (mean(x), mean(d));
    let (mut inertia, mut spin, mut open, mut ease) = (Mat3::zeros(), Vec3::zeros(), 0.0, 0.0);
    for a in 0..4 {
        if mass[a] == 0.0 {
            continue;
        }
        let y = x[a] - x_c;
        inertia += mass[a] * (Mat3::from_diagonal_element(y.norm_squared()) - y * y.transpose());
        spin += mass[a] * y.cross(&(d[a] - d_c));
        open += g[a].dot(&d[a]);
        ease += g[a].norm_squared() / mass[a];
    }
    let eps = 1e-12 * inertia.trace();
    let omega = inertia.pseudo_inverse(eps).map_or(Vec3::zeros(), |i| i * spin);
    [0, 1, 2, 3].map(|a| {
        if mass[a] == 0.0 {
            return Vec3::zeros();
        }
        d[a] - d_c - omega.cross(&(x[a] - x_c)) - g[a] * (open / (mass[a] * ease))
    })
}
