//! The constrained minimisation of one step, by sequential quadratic programs.
//!
//! ```text
//! min  (φ − φᵖʳᵉ)ᵀ M (φ − φᵖʳᵉ) / Δt²     subject to  g_α(φ) ≥ 0,  α in the working set
//!
//! φᵏ⁺¹ = φᵖʳᵉ + H⁻¹(Ĝᵀλ − Sᵀp)       H⁻¹ = ½Δt² M⁻¹
//! 0 ≤ λ ⊥ g(φᵏ) + G (φᵏ⁺¹ − φᵏ) ≥ 0       p ∈ μN̂ ∂|s|,   s = S(φᵏ⁺¹ − φₙ),   N̂ = λ · lever
//! ```
//!
//! G are the gradients at φᵏ. Ĝ, along which contact presses, are those at φᵏ too ("end"), or half way to the start of the step
//! ("midpoint": angular momentum is then conserved, and the system is no longer symmetric). λ and the forces are physical:
//! `F = Ĝᵀλ − Sᵀp` in newtons.
//!
//! **Friction.** With the slip S of the two touched points (`Slip`): the tangential part of `Σ w x`, exactly Coulomb's law. As published
//! (`Projected`): all local motion but the rigid one and the opening, `P = 1 − rigid − M⁻¹∇g ∇gᵀ/(∇g·M⁻¹∇g)`, bounded by the norm of the
//! whole normal force; that is Coulomb's law only where the facet's nodes share the force equally. Both are solved by projected Gauss–Seidel
//! sweeps over multipliers and friction, then the multipliers exactly (`solve::complementarity`), in turns until neither changes.

use super::detect::{Admissible, Constraint, Key};
use super::simplex::{ContactKind, Foot};
use crate::math::{Mat3, Vec3};
use crate::solve::complementarity::{Complementarity, Matrix};
use carom_declare::words;

words! {
    /// Where the gradients are taken along which contact presses.
    pub enum Gradient {
        /// At the end of the step, as published.
        End = "end",
        /// Half way: angular momentum is conserved.
        Midpoint = "midpoint",
    }
}

words! {
    /// What friction acts on.
    pub enum Friction {
        /// The slip of the two points that touch.
        Slip = "slip",
        /// All local motion but the rigid and the opening one, as published.
        Projected = "projected",
    }
}

/// A step of the iteration this small ends it, as a share of the local size.
const STEP: f64 = 1e-14;
/// Round-off of positions, as a share of their coordinates.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;
/// An iteration whose steps are no longer than this share of the local size has converged if they no longer shrink.
const SLOW: f64 = 1e-11;
/// Quadratic programs in a row at most.
const PROGRAMS: usize = 60;
/// Turns between normal and frictional forces, and sweeps of the latter, at most.
const TURNS: usize = 40;
const SWEEPS: usize = 400;
/// From this program of a step on friction stays as it is: where multipliers are not unique, the discs of friction may change places
/// for ever.
const FROZEN: usize = 30;
/// Friction has settled when no sweep moves a point by more than this share of the farthest slip or of the penetration.
const SETTLED: f64 = 1e-10;
/// … and the turns between friction and normal forces are over when a new turn moves nothing by more than this.
const UNCHANGED: f64 = 1e-9;

/// What is known of one constraint at the present iterate.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    g: f64,
    gradient: [Vec3; 4],
    /// Along which it presses.
    push: [Vec3; 4],
    foot: Foot,
    /// Compliance against friction: H⁻¹ of the slip along its softest direction.
    soft: f64,
    /// For `Projected`: mass that a node counts with, and where the nodes are.
    mass: [f64; 4],
    x: [Vec3; 4],
    /// Friction forces on its nodes [N]: `−Sᵀp`.
    drag: [Vec3; 4],
}

impl Row {
    fn drag_of(&self, p: &Tangential, friction: Friction) -> [Vec3; 4] {
        match friction {
            Friction::Slip => self.foot.weights.map(|w| -w * p[0]),
            // Pᵀ = M P M⁻¹
            Friction::Projected => {
                let divided =
                    [0, 1, 2, 3].map(|a| if self.mass[a] > 0.0 { p[a] / self.mass[a] } else { p[a] });
                let s = sliding(&self.x, &self.mass, &self.gradient, &divided);
                [0, 1, 2, 3].map(|a| -self.mass[a] * s[a])
            }
        }
    }
}

/// Friction force of one constraint: on the touched point (first entry) for `Slip`, on all its nodes for `Projected`.
pub type Tangential = [Vec3; 4];

/// The working set and its multipliers.
#[derive(Default)]
pub struct Program {
    pub work: Vec<Constraint>,
    pub lambda: Vec<f64>,
    pub tangential: Vec<Tangential>,
    pub rows: Vec<Row>,
    /// Multipliers of the last step, by key, sorted.
    pub memory: Vec<(Key, f64, Tangential)>,
    /// Constraints of each node that can move: (node, constraint, place in it), sorted.
    incident: Vec<(u32, u32, u8)>,
    /// Nodes of the working set.
    pub nodes: Vec<u32>,
    matrix: Matrix,
    b: Vec<f64>,
    pairs: Vec<(u32, f64)>,
    solver: Complementarity,
    /// Quadratic programs and factorisations so far.
    pub programs: u64,
    pub pivots: u64,
}

/// How the working set was satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solved {
    pub programs: usize,
    pub converged: bool,
}

impl Program {
    /// Forgets the working set; multipliers stay in memory.
    pub fn clear(&mut self) {
        self.work.clear();
        self.lambda.clear();
        self.tangential.clear();
        self.incident.clear();
        self.nodes.clear();
    }

    /// Keeps the multipliers for the next step.
    pub fn remember(&mut self) {
        self.memory.clear();
        let all = self.work.iter().zip(&self.lambda).zip(&self.tangential);
        self.memory.extend(all.filter(|(c, _)| *c.1 > 0.0).map(|((c, l), t)| (c.key, *l, *t)));
        self.memory.sort_unstable_by_key(|m| m.0);
    }

    /// Takes up constraints that were added to the working set: their multipliers of the last step are a first guess.
    pub fn adopt(&mut self, at: &Admissible) {
        for c in &self.work[self.lambda.len()..] {
            let known = self.memory.binary_search_by_key(&c.key, |m| m.0).ok();
            let (l, t) = known.map_or((0.0, [Vec3::zeros(); 4]), |k| (self.memory[k].1, self.memory[k].2));
            self.lambda.push(l);
            self.tangential.push(t);
        }
        self.connect(at);
    }

    /// Takes constraints out of the working set.
    pub fn drop(&mut self, at: &Admissible, gone: &[Key]) {
        let keep: Vec<bool> = self.work.iter().map(|c| !gone.contains(&c.key)).collect();
        let mut k = keep.iter();
        self.work.retain(|_| *k.next().unwrap_or(&true));
        let mut k = keep.iter();
        self.lambda.retain(|_| *k.next().unwrap_or(&true));
        let mut k = keep.iter();
        self.tangential.retain(|_| *k.next().unwrap_or(&true));
        self.connect(at);
    }

    fn connect(&mut self, at: &Admissible) {
        self.incident.clear();
        for (i, c) in self.work.iter().enumerate() {
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                if at.inv_mass[k as usize] != Mat3::zeros() {
                    self.incident.push((k, i as u32, a as u8));
                }
            }
        }
        self.incident.sort_unstable();
        self.nodes.clear();
        self.nodes.extend(self.incident.iter().map(|i| i.0));
        self.nodes.dedup();
    }

    fn of_node(&self, k: u32) -> &[(u32, u32, u8)] {
        let from = self.incident.partition_point(|i| i.0 < k);
        let to = from + self.incident[from..].partition_point(|i| i.0 == k);
        &self.incident[from..to]
    }

    /// Brings the trial positions to the minimum over the working set.
    pub fn solve(&mut self, at: &mut Admissible, dt: f64, gradient: Gradient, friction: Friction) -> Solved {
        let soft = 0.5 * dt * dt;
        let mut solved = Solved::default();
        let mut before = f64::INFINITY;
        while solved.programs < PROGRAMS {
            self.linearise(at, soft, gradient, friction);
            self.couple(at, soft);
            let rough = self.work.iter().any(|c| c.mu > 0.0);
            let rough = rough && solved.programs < FROZEN;
            let turns = if rough { TURNS } else { 1 };
            for turn in 0..turns {
                self.right_hand_side(at, soft);
                let report = self.solver.solve(&self.matrix, &self.b, &mut self.lambda);
                self.pivots += report.pivots as u64;
                if !rough || self.friction(at, soft, friction) && turn > 0 {
                    break;
                }
            }
            self.clip(friction);
            let step = self.move_nodes(at, soft);
            solved.programs += 1;
            self.programs += 1;
            // steps shrink by the ratio of penetration and size each time, down to round-off
            if step <= STEP || step <= SLOW && step >= 0.5 * before {
                solved.converged = true;
                break;
            }
            before = step;
        }
        solved
    }

    fn linearise(&mut self, at: &Admissible, soft: f64, gradient: Gradient, friction: Friction) {
        self.rows.clear();
        for c in &self.work {
            let s = &c.simplex;
            let foot = s.foot(&at.now);
            let end = s.gradient(&at.now);
            let push = match gradient {
                Gradient::End => end,
                Gradient::Midpoint => {
                    s.gradient_at(&s.nodes.map(|k| 0.5 * (at.start[k as usize] + at.now[k as usize])))
                }
            };
            let inverse = |a: usize| at.inv_mass[s.nodes[a] as usize];
            let (t1, t2) = tangents(&foot.normal);
            let mut m = [0.0; 3];
            for a in 0..s.count() {
                let w = soft * foot.weights[a] * foot.weights[a];
                let (i1, i2) = (inverse(a) * t1, inverse(a) * t2);
                m = [m[0] + w * t1.dot(&i1), m[1] + w * t1.dot(&i2), m[2] + w * t2.dot(&i2)];
            }
            let mut slip = 0.5 * (m[0] + m[2]) + (0.25 * (m[0] - m[2]).powi(2) + m[1] * m[1]).sqrt();
            let mut mass = [0.0; 4];
            if friction == Friction::Projected {
                let weight = |a: usize| inverse(a).trace().max(0.0);
                let lightest = (0..s.count()).map(weight).fold(0.0, f64::max);
                // a node that cannot move counts like the heaviest that can
                let heaviest = (0..s.count()).map(weight).filter(|&w| w > 0.0).fold(f64::INFINITY, f64::min);
                for (a, m) in mass.iter_mut().enumerate().take(s.count()) {
                    *m = 1.0 / if weight(a) > 0.0 { weight(a) } else { heaviest };
                }
                slip = soft * lightest;
            }
            let x = s.nodes.map(|k| at.now[k as usize]);
            let drag = [Vec3::zeros(); 4];
            self.rows.push(Row { g: s.value(&at.now), gradient: end, push, foot, soft: slip, mass, x, drag });
        }
        for (row, p) in self.rows.iter_mut().zip(&mut self.tangential) {
            if friction == Friction::Slip {
                // the surface has turned since this force was found
                p[0] -= row.foot.normal * row.foot.normal.dot(&p[0]);
            }
            row.drag = row.drag_of(p, friction);
        }
    }

    /// Shortens friction to what the multipliers allow.
    fn clip(&mut self, friction: Friction) {
        for i in 0..self.work.len() {
            let (bound, size) = (self.bound(i, friction), norm(&self.tangential[i]));
            if size > bound {
                self.tangential[i] = self.tangential[i].map(|p| p * (bound / size));
                self.rows[i].drag = self.rows[i].drag_of(&self.tangential[i], friction);
            }
        }
    }

    /// `A = G H⁻¹ Ĝᵀ`
    fn couple(&mut self, at: &Admissible, soft: f64) {
        let mut matrix = std::mem::take(&mut self.matrix);
        let mut pairs = std::mem::take(&mut self.pairs);
        matrix.clear();
        for (i, c) in self.work.iter().enumerate() {
            pairs.clear();
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                let pull = soft * (at.inv_mass[k as usize] * self.rows[i].gradient[a]);
                for &(_, j, b) in self.of_node(k) {
                    pairs.push((j, pull.dot(&self.rows[j as usize].push[b as usize])));
                }
            }
            pairs.sort_by_key(|p| p.0);
            for same in pairs.chunk_by(|p, q| p.0 == q.0) {
                matrix.columns.push(same[0].0);
                matrix.values.push(same.iter().map(|p| p.1).sum());
            }
            matrix.end_row();
        }
        (self.matrix, self.pairs) = (matrix, pairs);
    }

    /// `b = g + G (φᵖʳᵉ − H⁻¹Sᵀp − φᵏ)`
    fn right_hand_side(&mut self, at: &Admissible, soft: f64) {
        self.b.clear();
        for (i, c) in self.work.iter().enumerate() {
            let row = &self.rows[i];
            let mut b = row.g;
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                let k = k as usize;
                let mut d = at.pre[k] - at.now[k];
                if at.inv_mass[k] != Mat3::zeros() {
                    let force: Vec3 = self
                        .of_node(k as u32)
                        .iter()
                        .map(|&(_, j, b)| self.rows[j as usize].drag[b as usize])
                        .sum();
                    d += soft * (at.inv_mass[k] * force);
                }
                b += row.gradient[a].dot(&d);
            }
            self.b.push(b);
        }
    }

    /// Friction force of a constraint on one of its nodes [N].
    pub fn friction_on(&self, i: usize, a: usize) -> Vec3 {
        self.rows[i].drag[a]
    }

    /// Normal force of a constraint on one of its nodes [N].
    pub fn normal_on(&self, i: usize, a: usize) -> Vec3 {
        self.lambda[i] * self.rows[i].push[a]
    }

    /// Largest friction of a constraint [N].
    pub fn bound(&self, i: usize, friction: Friction) -> f64 {
        let row = &self.rows[i];
        let normal = match friction {
            Friction::Slip => row.foot.lever,
            Friction::Projected => row.push.iter().map(|g| g.norm_squared()).sum::<f64>().sqrt(),
        };
        self.work[i].mu * self.lambda[i] * normal
    }

    /// Slip of a constraint between the start of the step and positions `y` [m].
    pub fn slip(&self, i: usize, start: &[Vec3], y: &[Vec3], friction: Friction) -> Tangential {
        let (c, row) = (&self.work[i], &self.rows[i]);
        let zero = Vec3::zeros();
        let way = |k: u32| y[k as usize] - start[k as usize];
        match friction {
            Friction::Slip => {
                let n = row.foot.normal;
                let s: Vec3 = if c.key.0 == ContactKind::NodePlane {
                    way(c.simplex.nodes[0]) - c.carried
                } else {
                    c.simplex.ids().iter().zip(row.foot.weights).map(|(&k, w)| w * way(k)).sum()
                };
                [s - n * n.dot(&s), zero, zero, zero]
            }
            Friction::Projected => {
                let mut d = [zero; 4];
                for (a, &k) in c.simplex.ids().iter().enumerate() {
                    d[a] = way(k);
                }
                if c.key.0 == ContactKind::NodePlane {
                    d[1] = c.carried;
                    d[2] = c.carried;
                }
                sliding(&row.x, &row.mass, &row.gradient, &d)
            }
        }
    }

    /// Multipliers and friction by projected Gauss–Seidel; `true` if hardly anything changed.
    fn friction(&mut self, at: &mut Admissible, soft: f64, friction: Friction) -> bool {
        for &k in &self.nodes {
            at.trial[k as usize] = self.moved(at, k, soft);
        }
        let (mut first, mut farthest): (f64, f64) = (0.0, 0.0);
        for sweep in 0..SWEEPS {
            let mut change: f64 = 0.0;
            for i in 0..self.work.len() {
                change = change.max(self.press(at, i, soft, &mut farthest));
                let bound = self.bound(i, friction);
                let old = self.tangential[i];
                let compliance = self.rows[i].soft;
                if compliance <= 0.0 || bound == 0.0 && old == [Vec3::zeros(); 4] {
                    continue;
                }
                let s = self.slip(i, &at.start, &at.trial, friction);
                let mut p = [0, 1, 2, 3].map(|a| old[a] + s[a] / compliance);
                let size = norm(&p);
                if size > bound {
                    p = p.map(|p| p * (bound / size));
                }
                farthest = farthest.max(norm(&s)).max(norm(&p) * compliance);
                let by = norm(&[0, 1, 2, 3].map(|a| p[a] - old[a])) * compliance;
                if by > 0.0 {
                    change = change.max(by);
                    self.tangential[i] = p;
                    let before = self.rows[i].drag;
                    self.rows[i].drag = self.rows[i].drag_of(&p, friction);
                    for (a, &k) in self.work[i].simplex.ids().iter().enumerate() {
                        let more = self.rows[i].drag[a] - before[a];
                        at.trial[k as usize] += soft * (at.inv_mass[k as usize] * more);
                    }
                }
            }
            if sweep == 0 {
                first = change;
            }
            if change <= SETTLED * farthest {
                break;
            }
        }
        first <= UNCHANGED * farthest
    }

    /// One multiplier so that its own constraint holds where the trial positions are; returns how far that moves its points.
    fn press(&mut self, at: &mut Admissible, i: usize, soft: f64, farthest: &mut f64) -> f64 {
        let (row, ease) = (&self.rows[i], self.matrix.diagonal(i));
        let ids = self.work[i].simplex.nodes;
        let count = self.work[i].simplex.count();
        let mut w = row.g;
        for a in 0..count {
            let k = ids[a] as usize;
            w += row.gradient[a].dot(&(at.trial[k] - at.now[k]));
        }
        let old = self.lambda[i];
        let new = (old - w / ease).max(0.0);
        if new == old {
            return 0.0;
        }
        for a in 0..count {
            let k = ids[a] as usize;
            at.trial[k] += (new - old) * soft * (at.inv_mass[k] * row.push[a]);
        }
        self.lambda[i] = new;
        *farthest = farthest.max(new * ease / row.foot.lever);
        (new - old).abs() * ease / row.foot.lever
    }

    /// Where the present forces bring a node.
    fn moved(&self, at: &Admissible, k: u32, soft: f64) -> Vec3 {
        let mut force = Vec3::zeros();
        for &(_, i, a) in self.of_node(k) {
            force += self.normal_on(i as usize, a as usize) + self.friction_on(i as usize, a as usize);
        }
        at.pre[k as usize] + soft * (at.inv_mass[k as usize] * force)
    }

    /// Moves the nodes to the minimum of the program; returns the longest way over the local size.
    fn move_nodes(&mut self, at: &mut Admissible, soft: f64) -> f64 {
        let mut longest: f64 = 0.0;
        for &k in &self.nodes {
            let of_node = self.of_node(k);
            let size = of_node.iter().map(|i| self.work[i.1 as usize].size).fold(f64::INFINITY, f64::min);
            let to = self.moved(at, k, soft);
            let way = (to - at.now[k as usize]).norm() - ROUND_OFF * to.norm();
            longest = longest.max(way / size);
            at.now[k as usize] = to;
        }
        longest
    }

    /// Deepest violation of the working set over its local size.
    pub fn violation(&self, at: &Admissible) -> f64 {
        self.work.iter().map(|c| -at.distance(c) / c.size).fold(0.0, f64::max)
    }
}

fn norm(p: &Tangential) -> f64 {
    p.iter().map(|p| p.norm_squared()).sum::<f64>().sqrt()
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
pub fn sliding(x: &[Vec3; 4], mass: &[f64; 4], g: &[Vec3; 4], d: &[Vec3; 4]) -> [Vec3; 4] {
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
