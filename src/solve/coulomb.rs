//! Multipliers of inequality constraints with Coulomb friction, all together.
//!
//! ```text
//! u = W r + b        of constraint i: λ = r_n ≥ 0,  u_n ≥ 0,  λ u_n = 0        |r_t| ≤ m λ,   r_t = −m λ u_t/|u_t| where u_t ≠ 0
//! ```
//!
//! A constraint has one normal unknown and any number of tangential ones behind it (one in the plane, two in space, up to five of the
//! published sliding fields); m is its friction coefficient times the normal force of a unit multiplier.
//!
//! **Redundant constraints.** Where blocks lie face on face, half of the equations follow from others, or contradict them by the curvature of faces. So the
//! answer is the limit of problems that are regular (Rockafellar 1976), as without friction (`complementarity`),
//!
//! ```text
//! u = W rᵏ⁺¹ + b + ρ D (rᵏ⁺¹ − rᵏ)          D the diagonal of W,  ρ = 10⁻⁴, less each time
//! ```
//!
//! Of many answers it is one near the guess. What is left of contradictions shrinks with ρ alone; it counts as nothing once it is shorter than `enough`.
//!
//! **Method.** Each of them by Newton's method on the natural map (Alart & Curnier 1991): who is open, sticks or slides is guessed from
//! `λ − u_n/w` and `r_t − u_t/w`, and the equations of that guess are solved. Near the answer of the last step that takes one or two
//! factorisations, whatever the number of contacts, and five to ten from far away; sweeps of Gauss–Seidel need hundreds where many contacts hold one body, because each of
//! them knows its neighbours only. Where Newton's method does not find a solution ρ is raised, and sweeps are what is left where that does not help.
//!
//! **Islands** are solved apart from each other, in parallel, each with the same bits whoever solves it.
//!
//! Read by `method::nonsmooth`.

use super::complementarity::{Islands, Matrix, Report};
use super::envelope::Envelope;
use rayon::prelude::*;

/// Tangential unknowns of a constraint at most.
pub(crate) const TANGENTIAL: usize = 5;
/// Regular problems at most, and iterations of Newton's method in each of them.
const PROBLEMS: usize = 16;
const ITERATIONS: usize = 12;
/// ρ at first, at least and at most, and its change from one problem to the next.
const FIRST: f64 = 1e-4;
const LEAST: f64 = 1e-8;
const MOST: f64 = 0.1;
const CHANGE: f64 = 0.1;
/// A regular problem is solved when its law is missed by this share of what its centre misses of the problem itself.
const INEXACT: f64 = 1e-2;
/// Newton's method is given up where it misses so many times what it began with, after so many iterations.
const GROWN: f64 = 100.0;
const EARLY: usize = 6;
/// Sweeps where no ρ helps.
const SWEEPS: usize = 40;
/// An answer may miss the law by this share of how far constraints are moved: the round-off of factors with redundant constraints.
const TIGHT: f64 = 1e-12;
/// What is accepted where no more can be had: constraints that are linearised need not agree with each other better than this.
const LOOSE: f64 = 1e-6;
/// A problem that leaves more than this share of the miss has not helped.
const IDLE: f64 = 0.1;

/// A problem.
#[derive(Clone, Copy)]
pub struct Contacts<'a> {
    pub matrix: &'a Matrix,
    pub b: &'a [f64],
    /// First unknown of each constraint, and one beyond the last.
    pub first: &'a [u32],
    /// m of each constraint.
    pub bound: &'a [f64],
    /// Motions shorter than this count as none where no more can be had, and shorter than `at_once` times this in any case.
    pub enough: &'a [f64],
    pub at_once: f64,
}

/// The solver; it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Coulomb {
    islands: Islands,
    work: Vec<Island>,
}

impl Coulomb {
    /// Solves from a guess.
    pub fn solve(&mut self, of: &Contacts, r: &mut [f64]) -> Report {
        self.islands.find(of.matrix);
        let count = self.islands.count();
        self.work.resize_with(count.max(self.work.len()), Island::default);
        let (islands, guess) = (&self.islands, &*r);
        self.work[..count].par_iter_mut().enumerate().for_each(|(i, island)| {
            island.take(of, islands, i, guess);
            island.solve();
        });
        let mut report = Report { islands: count, ..Report::default() };
        for (i, island) in self.work[..count].iter().enumerate() {
            let members = self.islands.members(i);
            members.iter().zip(&island.r).for_each(|(&k, x)| r[k as usize] = *x);
            report.largest = report.largest.max(members.len());
            report.pivots += island.factorisations;
            report.unfinished += usize::from(!island.solved);
            report.idle += usize::from(island.idle);
        }
        report
    }
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Open,
    Stick,
    Slip,
}

/// By how much a law is missed.
#[derive(Clone, Copy, Debug)]
struct Miss {
    /// As a share of how far constraints are moved.
    share: f64,
    /// Over what is enough.
    over: f64,
}

/// One island, with unknowns of its own numbering.
#[derive(Clone, Debug, Default)]
struct Island {
    /// First unknown of each of its constraints, and one beyond.
    first: Vec<usize>,
    bound: Vec<f64>,
    enough: Vec<f64>,
    at_once: f64,
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    b: Vec<f64>,
    diagonal: Vec<f64>,
    /// Diagonal of each constraint's normal unknown, and the sum of those of its tangential ones, which none of their motions exceeds.
    hard: Vec<f64>,
    soft: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
    /// Of the regular problem: ρ, and where its unknowns would like to stay.
    rho: f64,
    centre: Vec<f64>,
    status: Vec<Status>,
    envelope: Envelope,
    entries: Vec<(u32, u32, f64)>,
    rhs: Vec<f64>,
    number: Vec<u32>,
    factorisations: usize,
    solved: bool,
    /// Something is left that does not get less.
    idle: bool,
}

impl Island {
    fn take(&mut self, of: &Contacts, islands: &Islands, which: usize, guess: &[f64]) {
        let members = islands.members(which);
        let Island { b, r, diagonal, soft, hard, bound, enough, values, .. } = self;
        for list in [b, r, diagonal, soft, hard, bound, enough, values] {
            list.clear();
        }
        self.first.clear();
        self.starts.clear();
        self.columns.clear();
        // what an earlier step left here must not decide anything: a run that is resumed has none of it
        self.status.clear();
        (self.factorisations, self.solved, self.idle) = (0, false, false);
        (self.rho, self.at_once) = (0.0, of.at_once);
        for (at, &k) in members.iter().enumerate() {
            let k = k as usize;
            if let Ok(c) = of.first.binary_search(&(k as u32)) {
                let own = of.first[c] as usize..of.first[c + 1] as usize;
                let all: f64 = own.clone().skip(1).map(|k| of.matrix.diagonal(k)).sum();
                self.first.push(at);
                self.bound.push(if all > 0.0 { of.bound[c] } else { 0.0 });
                self.enough.push(of.enough[c]);
                self.hard.push(of.matrix.diagonal(own.start));
                self.soft.push(all);
            }
            self.starts.push(self.columns.len());
            for (j, v) in of.matrix.row(k) {
                self.columns.push(islands.local(j));
                self.values.push(v);
            }
            self.b.push(of.b[k]);
            self.r.push(guess[k]);
            self.diagonal.push(of.matrix.diagonal(k));
        }
        self.starts.push(self.columns.len());
        self.first.push(members.len());
    }

    fn contacts(&self) -> usize {
        self.bound.len()
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&j, &v)| (j, v))
    }

    fn tangential(&self, c: usize) -> std::ops::Range<usize> {
        self.first[c] + 1..self.first[c + 1]
    }

    fn solve(&mut self) {
        let closed = (0..self.contacts()).all(|c| self.b[self.first[c]] >= 0.0);
        if closed && self.r.iter().all(|&r| r == 0.0) {
            self.u = self.b.clone();
            self.solved = true;
            return;
        }
        self.keep_in_cones();
        let (mut rho, mut least) = (FIRST, LEAST);
        let mut now = self.miss();
        for _ in 0..PROBLEMS {
            if now.share <= TIGHT || now.over <= self.at_once {
                (self.solved, self.idle) = (true, false);
                return;
            }
            let before = now;
            self.centre.clone_from(&self.r);
            let found = self.newton(rho, before.share);
            self.keep_in_cones();
            now = self.miss();
            if found {
                // a smaller ρ than one that failed is for those whom nothing else helps
                least = if now.share > IDLE * before.share { LEAST } else { least };
                rho = f64::max(rho * CHANGE, least);
            } else {
                if now.share.is_nan() || now.share >= before.share {
                    self.r.clone_from(&self.centre);
                    now = self.miss();
                }
                rho /= CHANGE;
                least = rho;
                if rho > MOST {
                    (0..SWEEPS).for_each(|_| self.sweep());
                    (now, rho) = (self.miss(), FIRST);
                }
            }
            self.idle = now.share > IDLE * before.share;
            if self.idle && now.over <= 1.0 {
                break;
            }
        }
        self.idle = now.share > TIGHT;
        self.solved = now.over <= f64::max(1.0, self.at_once) || now.share <= LOOSE;
    }

    /// Brings the guess to where the law could hold.
    fn keep_in_cones(&mut self) {
        for c in 0..self.contacts() {
            let n = self.first[c];
            self.r[n] = self.r[n].max(0.0);
            let most = self.bound[c] * self.r[n];
            let range = self.tangential(c);
            shorten(&mut self.r[range], most);
        }
    }

    /// `u = W r + b + ρ D (r − centre)`
    fn follow(&mut self) {
        let mut u = std::mem::take(&mut self.u);
        u.clear();
        u.extend((0..self.b.len()).map(|i| self.motion(i)));
        if self.rho > 0.0 {
            for (i, u) in u.iter_mut().enumerate() {
                *u += self.rho * self.diagonal[i] * (self.r[i] - self.centre[i]);
            }
        }
        self.u = u;
    }

    /// By how much the law is missed, as a motion.
    fn miss(&mut self) -> Miss {
        self.follow();
        let (mut left, mut scale, mut over): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for c in 0..self.contacts() {
            let (n, w) = (self.first[c], self.hard[c]);
            let projected = (self.r[n] - self.u[n] / w).max(0.0);
            // normal motions in units of length: rows are those of distances
            let mut own = (self.r[n] - projected).abs() * w;
            scale = scale.max(self.r[n].abs() * w).max(-self.b[n]);
            let w = self.soft[c];
            if w > 0.0 {
                let range = self.tangential(c);
                let mut tau = self.pull(c);
                shorten(&mut tau[..range.len()], self.bound[c] * self.r[n].max(0.0));
                let (mut missed, mut way) = (0.0, 0.0);
                for (t, k) in tau.iter().zip(range) {
                    missed += (self.r[k] - t).powi(2);
                    way += self.r[k].powi(2);
                }
                own = own.max(missed.sqrt() * w);
                scale = scale.max(way.sqrt() * w);
            }
            (left, over) = (left.max(own), over.max(own / self.enough[c]));
        }
        Miss { share: left / scale.max(f64::MIN_POSITIVE), over }
    }

    /// `r_t − u_t/w` of a constraint that can slide.
    fn pull(&self, c: usize) -> [f64; TANGENTIAL] {
        let mut tau = [0.0; TANGENTIAL];
        for (t, k) in tau.iter_mut().zip(self.tangential(c)) {
            *t = self.r[k] - self.u[k] / self.soft[c];
        }
        tau
    }

    /// Newton's method on the regular problem with ρ around the present multipliers, which miss the law by `begin`.
    fn newton(&mut self, rho: f64, begin: f64) -> bool {
        self.rho = rho;
        let mut found = false;
        for iteration in 1..=ITERATIONS {
            self.guess();
            self.equations();
            if !self.correct() {
                break;
            }
            let reached = self.miss().share;
            found = reached <= f64::max(INEXACT * begin, TIGHT);
            if found || !reached.is_finite() || iteration >= EARLY && reached > GROWN * begin {
                break;
            }
        }
        self.rho = 0.0;
        found
    }

    /// Guesses what every contact does.
    fn guess(&mut self) {
        self.status.resize(self.contacts(), Status::Open);
        for c in 0..self.contacts() {
            let n = self.first[c];
            let status = if self.r[n] - self.u[n] / self.hard[c] <= 0.0 {
                Status::Open
            } else {
                let size = |tau: [f64; TANGENTIAL]| tau.iter().map(|t| t * t).sum::<f64>().sqrt();
                if self.bound[c] > 0.0 && size(self.pull(c)) <= self.bound[c] * self.r[n].max(0.0) {
                    Status::Stick
                } else {
                    Status::Slip
                }
            };
            self.status[c] = status;
        }
    }

    /// The equations of the guess, for the correction of r: their matrix, and what is left of them.
    fn equations(&mut self) {
        self.number.clear();
        self.number.resize(self.b.len(), u32::MAX);
        let mut count = 0;
        for c in 0..self.contacts() {
            let unknowns = match self.status[c] {
                Status::Open => continue,
                _ => self.first[c]..if self.bound[c] > 0.0 { self.first[c + 1] } else { self.first[c] + 1 },
            };
            for k in unknowns {
                self.number[k] = count;
                count += 1;
            }
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        self.rhs.clear();
        // what leaves takes its force along
        let leaves = |k: &usize| self.number[*k] == u32::MAX && self.r[*k] != 0.0;
        let leaving: Vec<usize> = (0..self.b.len()).filter(leaves).collect();
        if !leaving.is_empty() {
            leaving.iter().for_each(|&k| self.r[k] = 0.0);
            self.follow();
        }
        for c in 0..self.contacts() {
            let n = self.first[c];
            if self.status[c] == Status::Open {
                continue;
            }
            self.whole_row(n, &mut entries);
            self.rhs.push(-self.u[n]);
            if self.bound[c] == 0.0 {
                continue;
            }
            match self.status[c] {
                Status::Stick => {
                    for k in self.tangential(c) {
                        self.whole_row(k, &mut entries);
                        self.rhs.push(-self.u[k]);
                    }
                }
                _ => self.slip_rows(c, &mut entries),
            }
        }
        self.entries = entries;
    }

    /// `u_k` to zero.
    fn whole_row(&self, k: usize, entries: &mut Vec<(u32, u32, f64)>) {
        let own = self.number[k];
        for (j, v) in self.row(k).filter(|(j, _)| self.number[*j] != u32::MAX) {
            entries.push((own, self.number[j], if j == k { v + self.rho * self.diagonal[k] } else { v }));
        }
    }

    /// `r_t = m λ d` with `d = τ/|τ|`, `τ = r_t − u_t/w`, which turns with `u_t`:
    ///
    /// ```text
    /// w [δr_t − m d δλ − s (1 − ddᵀ)(δr_t − W_t δr/w)] = −w (r_t − m λ d)        s = m λ/|τ| ≤ 1
    /// ```
    fn slip_rows(&mut self, c: usize, entries: &mut Vec<(u32, u32, f64)>) {
        let (n, m, w) = (self.first[c], self.bound[c], self.soft[c]);
        let range = self.tangential(c);
        let count = range.len();
        let mut d = self.pull(c);
        let size = d[..count].iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        d.iter_mut().for_each(|d| *d /= size);
        let lambda = self.r[n].max(0.0);
        let share = if count > 1 { (m * lambda / size).min(1.0) } else { 0.0 };
        for (p, k) in range.clone().enumerate() {
            let own = self.number[k];
            // rows of one constraint have the same columns
            for (at, &j) in self.columns[self.starts[k]..self.starts[k + 1]].iter().enumerate() {
                if self.number[j] == u32::MAX {
                    continue;
                }
                let mut value = 0.0;
                for (q, l) in range.clone().enumerate() {
                    let across = share * (if p == q { 1.0 } else { 0.0 } - d[p] * d[q]);
                    let stiff = if j == l { self.rho * self.diagonal[l] - w } else { 0.0 };
                    value += across * (self.values[self.starts[l] + at] + stiff);
                }
                if j == k {
                    value += w;
                } else if j == n {
                    value -= w * m * d[p];
                }
                entries.push((own, self.number[j], value));
            }
            self.rhs.push(-w * (self.r[k] - m * lambda * d[p]));
        }
    }

    /// Solves the equations and corrects r; `false` where that gives no numbers.
    fn correct(&mut self) -> bool {
        self.envelope.factor(self.rhs.len(), &self.entries);
        self.envelope.solve(&mut self.rhs);
        self.factorisations += 1;
        if self.rhs.iter().any(|x| !x.is_finite()) {
            return false;
        }
        for (k, &at) in self.number.iter().enumerate().filter(|(_, at)| **at != u32::MAX) {
            self.r[k] += self.rhs[at as usize];
        }
        true
    }

    /// One sweep of Gauss–Seidel.
    fn sweep(&mut self) {
        for c in 0..self.contacts() {
            let n = self.first[c];
            self.r[n] = (self.r[n] - self.motion(n) / self.hard[c]).max(0.0);
            if self.soft[c] == 0.0 {
                continue;
            }
            let range = self.tangential(c);
            let mut tau = [0.0; TANGENTIAL];
            for (t, k) in tau.iter_mut().zip(range.clone()) {
                *t = self.r[k] - self.motion(k) / self.soft[c];
            }
            shorten(&mut tau[..range.len()], self.bound[c] * self.r[n]);
            self.r[range].iter_mut().zip(tau).for_each(|(r, t)| *r = t);
        }
    }

    /// `(W r + b)` of one unknown.
    fn motion(&self, k: usize) -> f64 {
        self.b[k] + self.row(k).map(|(j, v)| v * self.r[j]).sum::<f64>()
    }
}

/// Shortens a vector to `most`.
fn shorten(v: &mut [f64], most: f64) {
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    if size > most {
        v.iter_mut().for_each(|x| *x *= most / size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;
    use crate::math::{Mat3, Vec3};
    use crate::solve::local;

    /// `J Jᵀ` of rows over shared unknowns, three to a contact, each contact on `each` of them.
    fn coupled(dice: &mut Dice, contacts: usize, unknowns: usize, each: usize) -> Vec<Vec<f64>> {
        let mut rows = Vec::new();
        for _ in 0..contacts {
            let places: Vec<usize> = (0..each).map(|_| dice.below(unknowns as u64) as usize).collect();
            for _ in 0..3 {
                let mut row = vec![0.0; unknowns];
                places.iter().for_each(|&k| row[k] = dice.between(-1.0, 1.0));
                rows.push(row);
            }
        }
        let dot = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>();
        rows.iter().map(|p| rows.iter().map(|q| dot(p, q)).collect()).collect()
    }

    fn sparse(w: &[Vec<f64>]) -> Matrix {
        let mut a = Matrix::default();
        a.clear();
        for (i, row) in w.iter().enumerate() {
            for (j, &v) in row.iter().enumerate() {
                // contacts are coupled whole, as those with a common node are
                let block =
                    |i: usize, j: usize| (0..9).any(|k| w[i / 3 * 3 + k / 3][j / 3 * 3 + k % 3] != 0.0);
                if block(i, j) {
                    a.columns.push(j as u32);
                    a.values.push(v);
                }
            }
            a.end_row();
        }
        a
    }

    fn solve(w: &[Vec<f64>], b: &[f64], mu: f64, r: &mut [f64]) -> Report {
        solve_to(w, b, mu, r, 1e-13)
    }

    fn solve_to(w: &[Vec<f64>], b: &[f64], mu: f64, r: &mut [f64], enough: f64) -> Report {
        let matrix = sparse(w);
        let first: Vec<u32> = (0..=b.len() as u32 / 3).map(|c| 3 * c).collect();
        let (bound, enough) = (vec![mu; b.len() / 3], vec![enough; b.len() / 3]);
        let of = Contacts { matrix: &matrix, b, first: &first, bound: &bound, enough: &enough, at_once: 0.0 };
        Coulomb::default().solve(&of, r)
    }

    /// How far multipliers are from Signorini's and Coulomb's law, written down from the laws: λ ≥ 0, u ≥ 0, λu = 0; |r_t| ≤ μλ, and where it slides
    /// |r_t| = μλ against u_t.
    fn misses(w: &[Vec<f64>], b: &[f64], mu: f64, r: &[f64]) -> f64 {
        let u: Vec<f64> =
            (0..b.len()).map(|i| b[i] + w[i].iter().zip(r).map(|(w, r)| w * r).sum::<f64>()).collect();
        let mut worst: f64 = 0.0;
        for c in 0..b.len() / 3 {
            let at = |x: &[f64]| Vec3::new(0.0, x[3 * c + 1], x[3 * c + 2]);
            let (lambda, gap, force, slip) = (r[3 * c], u[3 * c], at(r), at(&u));
            worst = worst.max(-lambda).max(-gap).max((lambda * gap).abs());
            worst = worst.max(force.norm() - mu * lambda);
            worst = worst.max((mu * lambda * slip.norm() + force.dot(&slip)).abs());
        }
        worst
    }

    /// The exact solution of one contact, whatever its block (`solve::local`).
    #[test]
    fn one_contact_has_its_exact_solution() {
        let mut dice = Dice(21);
        for _ in 0..300 {
            let w = coupled(&mut dice, 1, 9, 6);
            let b: Vec<f64> = (0..3).map(|_| dice.between(-1.0, 0.5)).collect();
            let mu = dice.between(0.0, 0.6);
            let mut r = vec![0.0; 3];
            let report = solve(&w, &b, mu, &mut r);
            assert_eq!(report.unfinished, 0);
            let exact = local::exact(&Mat3::from_fn(|i, j| w[i][j]), &Vec3::new(b[0], b[1], b[2]), mu);
            let apart = (exact - Vec3::new(r[0], r[1], r[2])).norm();
            assert!(apart <= 1e-8 * exact.norm().max(1.0), "{exact} {r:?}");
        }
    }

    /// Many coupled contacts, definite and with half of them twice over: the laws hold, whichever of many answers it is. From its own answer a second run
    /// takes one factorisation at most.
    #[test]
    fn many_contacts_keep_the_laws_and_are_known_again_at_once() {
        let mut dice = Dice(22);
        for (contacts, unknowns, twice) in [(4, 30, false), (20, 150, false), (20, 40, false), (10, 90, true)]
        {
            for _ in 0..20 {
                let mut w = coupled(&mut dice, contacts, unknowns, 6);
                let mut b: Vec<f64> = (0..3 * contacts).map(|_| dice.between(-1.0, 0.4)).collect();
                if twice {
                    w.iter_mut().for_each(|row| row.extend(row.clone()));
                    w.extend(w.clone());
                    b.extend(b.clone());
                }
                let mut r = vec![0.0; b.len()];
                let report = solve(&w, &b, 0.3, &mut r);
                if contacts * 3 > unknowns && report.unfinished > 0 {
                    // more rows than unknowns with a right-hand side of their own: there may be no answer
                    continue;
                }
                assert_eq!(report.unfinished, 0, "{contacts} {unknowns}");
                let scale = r.iter().fold(1.0, |m: f64, r| m.max(r.abs()));
                let missed = misses(&w, &b, 0.3, &r);
                assert!(missed <= 1e-7 * scale, "{contacts} {unknowns} {twice}: {missed:e} of {scale}");
                let again = solve(&w, &b, 0.3, &mut r);
                assert!(again.pivots <= again.islands, "{again:?}");
            }
        }
    }

    /// Every contact twice over, the second time 10⁻¹⁰ beside the first: what sticks cannot stick to both. What is left is of that size, and is not
    /// looked for longer than it takes to see that it does not get less.
    #[test]
    fn contradictions_that_are_short_enough_are_left() {
        let mut dice = Dice(23);
        for _ in 0..20 {
            let mut w = coupled(&mut dice, 10, 90, 6);
            w.iter_mut().for_each(|row| row.extend(row.clone()));
            w.extend(w.clone());
            let mut b: Vec<f64> = (0..30).map(|_| dice.between(-1.0, 0.4)).collect();
            (0..30).for_each(|k| b.push(b[k] + dice.between(-1e-10, 1e-10)));
            let mut r = vec![0.0; b.len()];
            let report = solve_to(&w, &b, 0.3, &mut r, 1e-9);
            assert_eq!(report.unfinished, 0);
            let scale = r.iter().fold(1.0, |m: f64, r| m.max(r.abs()));
            let missed = misses(&w, &b, 0.3, &r);
            assert!(missed <= 2e-9 * scale, "{missed:e} of {scale}");
            assert!(report.pivots <= 40, "{report:?}");
        }
    }

    /// A block of n nodes in a row, each on a rough floor and coupled to its neighbours by stiff springs that are part of W⁻¹: Newton's method takes a
    /// handful of factorisations, however long the row.
    #[test]
    fn factorisations_do_not_grow_with_the_number_of_contacts() {
        let count = |n: usize| {
            // compliance of a chain of masses: 1/(|i − j| + 1) decays slowly, so that sweeps would be slow
            let w: Vec<Vec<f64>> = (0..3 * n)
                .map(|i| {
                    let near = |j: usize| {
                        if i % 3 == j % 3 { 0.5f64.powi((i / 3).abs_diff(j / 3) as i32) } else { 0.0 }
                    };
                    (0..3 * n).map(near).collect()
                })
                .collect();
            let b: Vec<f64> = (0..3 * n)
                .map(|i| [-1.0, 0.05 * (i as f64).sin(), 0.4 * (0.1 * i as f64).cos()][i % 3])
                .collect();
            let mut r = vec![0.0; 3 * n];
            let report = solve(&w, &b, 0.3, &mut r);
            assert_eq!(report.unfinished, 0);
            assert!(misses(&w, &b, 0.3, &r) < 1e-9);
            report.pivots
        };
        let (few, many) = (count(10), count(60));
        assert!(many <= few + 6 && many <= 16, "{few} {many}");
    }
}
