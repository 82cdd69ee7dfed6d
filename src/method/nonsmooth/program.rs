//! The constrained minimisation of one step, by sequential quadratic programs.
//!
//! ```text
//! min  (φ − φᵖʳᵉ)ᵀ M (φ − φᵖʳᵉ) / Δt²  (+ 2β W)     subject to  g_α(φ) ≥ 0,  α in the working set
//!
//! φᵏ⁺¹ = φᶠʳᵉᵉ + H⁻¹(Ĝᵀλ − Sᵀp)       β = 0:  φᶠʳᵉᵉ = φᵖʳᵉ,  H⁻¹ = ½Δt² M⁻¹
//! 0 ≤ λ ⊥ g(φᵏ) + G (φᵏ⁺¹ − φᵏ) ≥ 0       p ∈ μN̂ ∂|s|,   s = S(φᵏ⁺¹ − φₙ),   N̂ = λ · lever
//! ```
//!
//! G are the gradients at φᵏ. Ĝ, along which contact presses, are those at φᵏ too ("end"), or half way to the start of the step
//! ("midpoint": angular momentum is then conserved, and the system is no longer symmetric). λ and the forces are physical:
//! `F = Ĝᵀλ − Sᵀp` in newtons. Rows are divided by their lever, so that unknowns are forces and what they move are distances.
//!
//! **Penalty.** With `I = ½k Σ min(0, d)²` of the distances d = g/lever instead of the indicator, λ · lever = −k d: a compliance 1/k on the diagonal.
//!
//! **Friction.** With the slip S of the two touched points (`Slip`): the tangential part of `Σ w x`, exactly Coulomb's law. As published
//! (`Projected`): all local motion but the rigid one and the opening, `P = 1 − rigid − M⁻¹∇g ∇gᵀ/(∇g·M⁻¹∇g)`, bounded by the norm of the
//! whole normal force; that is Coulomb's law only where the facet's nodes share the force equally. Multipliers and friction are found together
//! (`solve::coulomb`), multipliers alone by `solve::complementarity`.

use super::compliance::Compliance;
use super::detect::{Admissible, Constraint, Key};
use super::row::{Row, Tangential, dot, way_of};
use crate::math::{Mat3, Vec3};
use crate::solve::complementarity::{Complementarity, Matrix, Report};
use crate::solve::coulomb::{Contacts, Coulomb};
use carom_declare::words;
use rayon::prelude::*;

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

words! {
    /// The force of friction as a gradient of its potential.
    pub enum FrictionGradient {
        /// Along the slip alone: Coulomb's law.
        Force = "force",
        /// Of all that depends on the positions, as in the published (3.9): forces of first order in the step come along.
        Full = "full",
    }
}

/// A step of the iteration this small ends it, as a share of the local size.
const STEP: f64 = 1e-14;
/// Round-off of positions, as a share of their coordinates.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;
/// An iteration whose steps are no longer than this share of the local size has converged if they no longer shrink.
const SLOW: f64 = 4e-11;
/// The same where constraints contradict each other: what a program leaves of the law is known not to get less, and its linearisation is exact to the square of this.
const LEFT: f64 = 1e-7;
/// What redundant constraints that contradict each other may leave of the law, as a share of the local size: well below what counts as touch.
const ENOUGH: f64 = 2e-11;
/// Quadratic programs in a row at most.
const PROGRAMS: usize = 60;
/// Friction stays as it is from this program of a step on, or once nodes move by no more than [`SETTLED`] of the local size and that does not get less: where multipliers are
/// not unique, the discs of friction may change places for ever. Multipliers are then found to the last digit.
const FROZEN: usize = 30;
const SETTLED: f64 = 1e-9;

/// Share of the square of what is violated, over the local size, that a program may leave of the law: its linearisation is off by that square, and
/// another program follows.
const ROUGH: f64 = 1e-2;

/// How constraints are to be satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rules {
    pub gradient: Gradient,
    pub friction: Friction,
    pub friction_gradient: FrictionGradient,
    /// Stiffness of the penalty [N/m]; none keeps everything apart.
    pub penalty: Option<f64>,
}

/// Constraints whose rows one task makes.
const CHUNK: usize = 32;

/// Rows of some constraints, and entries of one of them before they are added up.
#[derive(Default)]
struct Part {
    rows: Matrix,
    pairs: Vec<(u32, f64)>,
}

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
    /// Unknowns: first of each constraint, largest friction over the normal force, and their values [N].
    first: Vec<u32>,
    bound: Vec<f64>,
    enough: Vec<f64>,
    r: Vec<f64>,
    parts: Vec<Part>,
    solver: Complementarity,
    coulomb: Coulomb,
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
        self.rows.clear();
        self.incident.clear();
        self.nodes.clear();
    }

    /// Keeps the multipliers for the next step.
    pub(crate) fn remember(&mut self) {
        self.memory.clear();
        let all = self.work.iter().zip(&self.lambda).zip(&self.tangential);
        self.memory.extend(all.filter(|(c, _)| *c.1 > 0.0).map(|((c, l), t)| (c.key, *l, *t)));
        self.memory.sort_unstable_by_key(|m| m.0);
    }

    /// Takes up constraints that were added to the working set: their multipliers of the last step are a first guess.
    pub(crate) fn adopt(&mut self, at: &Admissible) {
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
        let stays: Vec<bool> = self.work.iter().map(|c| !gone.contains(&c.key)).collect();
        keep(&mut self.work, &stays);
        keep(&mut self.lambda, &stays);
        keep(&mut self.tangential, &stays);
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

    /// Brings the trial positions to the minimum over the working set, where every node answers for itself.
    pub fn solve(&mut self, at: &mut Admissible, dt: f64, rules: &Rules) -> Solved {
        let soft = Compliance::Lumped(0.5 * dt * dt);
        let mut solved = Solved::default();
        let (mut before, mut with_friction) = (f64::INFINITY, true);
        while solved.programs < PROGRAMS {
            let report = self.quadratic(at, &soft, rules, with_friction);
            let step = self.move_nodes(at, 0.5 * dt * dt);
            solved.programs += 1;
            // steps shrink by the ratio of penetration and size each time, down to round-off
            let shrinks = step < 0.5 * before;
            let slow = if report.idle > 0 && report.unfinished == 0 { LEFT } else { SLOW };
            if step <= STEP || step <= slow && !shrinks {
                solved.converged = true;
                break;
            }
            with_friction &= solved.programs < FROZEN && (step > SETTLED || shrinks);
            before = step;
        }
        solved
    }

    /// One quadratic program at the trial positions: multipliers and friction. `free` is where nodes would go without them; it is
    /// `at.pre`. Without `with_friction` friction stays as it is.
    pub fn quadratic(
        &mut self,
        at: &Admissible,
        soft: &Compliance,
        rules: &Rules,
        with_friction: bool,
    ) -> Report {
        self.linearise(at, soft, rules);
        let with_friction = with_friction && self.rows.iter().any(|r| r.sliding > 0);
        self.number(with_friction);
        self.couple(at, soft, rules, with_friction);
        self.right_hand_side(at, soft, with_friction, rules);
        let report = match with_friction {
            true => {
                // members with implicit elements look at every increment, and stop by the last
                let rough = if matches!(soft, Compliance::Lumped(_)) { ROUGH } else { 0.0 };
                let at_once = rough * self.violation(at).powi(2) / ENOUGH;
                let Program { matrix, b, first, bound, enough, coulomb, r, .. } = self;
                coulomb.solve(&Contacts { matrix, b, first, bound, enough, at_once }, r)
            }
            false => self.solver.solve(&self.matrix, &self.b, &mut self.r),
        };
        self.pivots += report.pivots as u64;
        self.programs += 1;
        for (i, row) in self.rows.iter_mut().enumerate() {
            let from = self.first[i] as usize;
            self.lambda[i] = self.r[from].max(0.0) / row.foot.lever;
            let most = row.rough * self.lambda[i];
            let p = &mut self.tangential[i];
            if with_friction {
                *p = [Vec3::zeros(); 4];
                for (k, r) in self.r[from + 1..self.first[i + 1] as usize].iter().enumerate() {
                    (0..4).for_each(|a| p[a] -= *r * row.unit[k][a]);
                }
            }
            // round-off of the solver, and friction that stayed while multipliers changed
            let size = dot(p, p).sqrt();
            if size > most {
                *p = p.map(|p| p * (most / size));
            }
            row.drag = row.drag_of(p);
        }
        report
    }

    /// Unknowns: the normal force of each constraint, and its friction behind it.
    fn number(&mut self, with_friction: bool) {
        self.first.clear();
        self.bound.clear();
        self.enough.clear();
        self.enough.extend(self.work.iter().map(|c| ENOUGH * c.size));
        self.r.clear();
        for (i, row) in self.rows.iter().enumerate() {
            self.first.push(self.r.len() as u32);
            self.bound.push(row.rough / row.foot.lever);
            self.r.push(self.lambda[i] * row.foot.lever);
            if with_friction {
                let p = &self.tangential[i];
                self.r.extend(row.unit[..row.sliding].iter().map(|unit| -dot(unit, p)));
            }
        }
        self.first.push(self.r.len() as u32);
    }

    fn linearise(&mut self, at: &Admissible, soft: &Compliance, rules: &Rules) {
        self.rows.clear();
        for (i, (c, p)) in self.work.iter().zip(&mut self.tangential).enumerate() {
            let mut row = Row::new(c, at, soft, rules, p);
            if rules.friction_gradient == FrictionGradient::Full && row.sliding > 0 && self.lambda[i] > 0.0 {
                row.beside = Row::parametric(c, at, rules, self.lambda[i]);
            }
            self.rows.push(row);
        }
    }

    /// `W = (G; S) H⁻¹ (Ĝ; S)ᵀ`, rows divided by levers.
    fn couple(&mut self, at: &Admissible, soft: &Compliance, rules: &Rules, with_friction: bool) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.resize_with(self.work.len().div_ceil(CHUNK), Part::default);
        parts.par_iter_mut().enumerate().for_each(|(chunk, part)| {
            part.rows.clear();
            let from = chunk * CHUNK;
            for i in from..self.work.len().min(from + CHUNK) {
                self.couple_one(at, soft, rules, with_friction, i, part);
            }
        });
        self.matrix.clear();
        for part in &parts {
            self.matrix.append(&part.rows);
        }
        self.parts = parts;
    }

    /// The rows of one constraint.
    fn couple_one(
        &self,
        at: &Admissible,
        soft: &Compliance,
        rules: &Rules,
        with_friction: bool,
        i: usize,
        part: &mut Part,
    ) {
        let (row, Part { pairs, rows }) = (&self.rows[i], part);
        for p in 0..1 + if with_friction { row.sliding } else { 0 } {
            let (vector, scale) =
                if p == 0 { (&row.gradient, 1.0 / row.foot.lever) } else { (&row.slide[p - 1], 1.0) };
            pairs.clear();
            for (a, &k) in self.work[i].simplex.ids().iter().enumerate() {
                soft.answer(&at.inv_mass, k, &(scale * vector[a]), |k, moved| {
                    for &(_, j, b) in self.of_node(k) {
                        let (other, b) = (&self.rows[j as usize], b as usize);
                        let first = self.first[j as usize];
                        pairs.push((first, moved.dot(&other.push[b]) / other.foot.lever));
                        if with_friction {
                            let each = (first + 1..).zip(&other.slide[..other.sliding]);
                            pairs.extend(each.map(|(to, slide)| (to, moved.dot(&slide[b]))));
                        }
                    }
                });
            }
            pairs.sort_by_key(|p| p.0);
            let own = self.first[i] + p as u32;
            for same in pairs.chunk_by(|p, q| p.0 == q.0) {
                let give =
                    if p == 0 && same[0].0 == own { rules.penalty.map_or(0.0, |k| 1.0 / k) } else { 0.0 };
                rows.columns.push(same[0].0);
                rows.values.push(same.iter().map(|p| p.1).sum::<f64>() + give);
            }
            rows.end_row();
        }
    }

    /// Distances and slips without the unknown forces: `(g + G(φᶠʳᵉᵉ − φᵏ))/lever` and `S(φᶠʳᵉᵉ − φₙ)`.
    fn right_hand_side(&mut self, at: &Admissible, soft: &Compliance, with_friction: bool, rules: &Rules) {
        self.b.clear();
        let known = !with_friction || rules.friction_gradient == FrictionGradient::Full;
        for (i, c) in self.work.iter().enumerate() {
            let row = &self.rows[i];
            let (mut b, mut way) = (row.g, way_of(c, &at.start, &at.pre));
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                let moved =
                    if known { self.moved_by_known(at, soft, k, with_friction) } else { Vec3::zeros() };
                way[a] += moved;
                b += row.gradient[a].dot(&(at.pre[k as usize] - at.world.x[k as usize] + moved));
            }
            self.b.push(b / row.foot.lever);
            if with_friction {
                self.b.extend(row.slide[..row.sliding].iter().map(|s| dot(s, &way)));
            }
        }
    }

    /// How far forces that stay as they are move a node: those of (3.9), and without `with_friction` friction too.
    fn moved_by_known(&self, at: &Admissible, soft: &Compliance, node: u32, with_friction: bool) -> Vec3 {
        let force =
            |row: &Row, a: usize| if with_friction { row.beside[a] } else { row.drag[a] + row.beside[a] };
        let mut moved = Vec3::zeros();
        match soft {
            Compliance::Lumped(_) => {
                for &(_, j, b) in self.of_node(node) {
                    let known = force(&self.rows[j as usize], b as usize);
                    soft.answer(&at.inv_mass, node, &known, |_, by| moved += by);
                }
            }
            Compliance::Full(_) => {
                for (row, c) in self.rows.iter().zip(&self.work) {
                    for (b, &k) in c.simplex.ids().iter().enumerate() {
                        let to = |n: u32, by: Vec3| moved += if n == node { by } else { Vec3::zeros() };
                        soft.answer(&at.inv_mass, k, &force(row, b), to);
                    }
                }
            }
        }
        moved
    }

    /// Friction force of a constraint on one of its nodes [N].
    pub(crate) fn friction_on(&self, i: usize, a: usize) -> Vec3 {
        self.rows[i].drag[a] + self.rows[i].beside[a]
    }

    /// Normal force of a constraint on one of its nodes [N].
    pub(crate) fn normal_on(&self, i: usize, a: usize) -> Vec3 {
        self.lambda[i] * self.rows[i].push[a]
    }

    /// Largest friction of a constraint [N].
    pub fn bound(&self, i: usize) -> f64 {
        self.rows[i].rough * self.lambda[i]
    }

    /// `p·s` of a constraint between the start of the step and positions `y` [J].
    pub(crate) fn rubbed(&self, i: usize, start: &[Vec3], y: &[Vec3]) -> f64 {
        let way = way_of(&self.work[i], start, y);
        -dot(&self.rows[i].drag, &way) - dot(&self.rows[i].beside, &way)
    }

    /// Normal force of a constraint [N].
    pub fn press(&self, i: usize) -> f64 {
        self.lambda[i] * self.rows[i].foot.lever
    }

    /// `|s|` of a constraint between the start of the step and positions `y` [m].
    pub fn slipped(&self, i: usize, start: &[Vec3], y: &[Vec3]) -> f64 {
        let way = way_of(&self.work[i], start, y);
        let rows = &self.rows[i].slide[..self.rows[i].sliding];
        rows.iter().map(|s| dot(s, &way).powi(2)).sum::<f64>().sqrt()
    }

    /// Energy in the springs of a penalty [J].
    pub(crate) fn stored(&self, penalty: f64) -> f64 {
        (0..self.rows.len()).map(|i| 0.5 * self.press(i).powi(2) / penalty).sum()
    }

    /// Where the present forces bring a node that answers for itself.
    fn moved(&self, at: &Admissible, k: u32, soft: f64) -> Vec3 {
        let mut force = Vec3::zeros();
        for &(_, i, a) in self.of_node(k) {
            force += self.normal_on(i as usize, a as usize) + self.friction_on(i as usize, a as usize);
        }
        at.pre[k as usize] + soft * (at.inv_mass[k as usize] * force)
    }

    /// Local size of the constraints of a node [m].
    pub(crate) fn size_at(&self, k: u32) -> f64 {
        self.of_node(k).iter().map(|i| self.work[i.1 as usize].size).fold(f64::INFINITY, f64::min)
    }

    /// Moves the nodes to the minimum of the program; returns the longest way over the local size.
    fn move_nodes(&mut self, at: &mut Admissible, soft: f64) -> f64 {
        let mut longest: f64 = 0.0;
        for &k in &self.nodes {
            let to = self.moved(at, k, soft);
            let way = (to - at.world.x[k as usize]).norm() - ROUND_OFF * to.norm();
            longest = longest.max(way / self.size_at(k));
            at.world.x[k as usize] = to;
        }
        longest
    }

    /// Deepest violation of the working set over its local size.
    pub fn violation(&self, at: &Admissible) -> f64 {
        self.work.iter().map(|c| -at.distance(c) / c.size).fold(0.0, f64::max)
    }
}

/// Leaves in a list what `stays`.
fn keep<T>(list: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    list.retain(|_| stays.next() == Some(&true));
}
