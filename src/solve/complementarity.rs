//! Multipliers of inequality constraints: the dual of a convex quadratic program.
//!
//! ```text
//! find λ:   0 ≤ λ ⊥ w = A λ + b ≥ 0
//! ```
//!
//! For symmetric A this is `min ½λᵀAλ + bᵀλ, λ ≥ 0`, a problem of non-negative least squares. A need not be symmetric, and constraints may be
//! redundant: λ is then one of many, and what it presses with, `Gᵀλ`, is the same for all.
//!
//! **Redundant constraints.** Where blocks lie face on face half of the constraints follow from others, or contradict them by round-off and by the
//! curvature of faces: which of them press is decided by the last digits. So λ is found as the limit of problems that are regular (Rockafellar 1976),
//!
//! ```text
//! 0 ≤ λᵏ⁺¹ ⊥ A λᵏ⁺¹ + b + ρ(λᵏ⁺¹ − λᵏ) ≥ 0          A scaled to a unit diagonal,  ρ = 10⁻⁴, halved each time
//! ```
//!
//! and as soon as the active set of one of them solves the problem itself, that is the answer. Where constraints agree the first does.
//!
//! **Method.** Block principal pivoting (Portugal, Júdice & Vicente 1994): guess the active set, solve `A_FF λ_F = −b_F`, exchange
//! everything with a wrong sign; when that does not lessen the number of wrong signs a few times in a row, only the last
//! wrong one (Murty 1974). A guess that is nearly right, such as the set of the last
//! step, costs two or three factorisations. The answer solves its equations exactly, no matter how the set was found; of many answers it is
//! the one nearest to the guess.
//!
//! **Islands.** Constraints that share no unknown are solved apart from each other, in parallel; each with the same bits
//! whoever solves it.
//!
//! Read by `method::nonsmooth`.

use super::envelope::Envelope;
use crate::math::sets::Sets;
use rayon::prelude::*;

/// ρ at first and at least, and how many problems with ever smaller ρ there are at most.
const FIRST: f64 = 1e-4;
const LEAST: f64 = 1e-7;
const PROBLEMS: usize = 25;
/// Refinement of the answer of an active set: each correction must be this share of the last one; where constraints contradict each other they do not
/// shrink.
const SHRINK: f64 = 0.1;
const REFINED: usize = 12;
/// Largest |w| of active constraints, and largest −w of others, of an answer that is good enough where none is exact, as a share of the largest |b|.
const ENOUGH: f64 = 1e-9;
/// Round-off of w, as a share of the largest |b| of the island (scaled).
const ROUND_OFF: f64 = 1e-14;
/// Multipliers this little below zero count as zero, as a share of the largest.
const SMALL: f64 = 1e-12;
/// Block exchanges in a row that may fail to lessen the number of wrong signs.
const PATIENCE: u32 = 4;
/// Exchanges of one problem at most; the next one goes on from there.
const EXCHANGES: usize = 60;

/// A square matrix by rows; columns of a row ascending, the pattern symmetric, the diagonal there and positive.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    pub starts: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.values.clear();
    }

    /// Ends the row that was filled.
    pub fn end_row(&mut self) {
        self.starts.push(self.columns.len() as u32);
    }

    /// Adds the rows of another at the end.
    pub fn append(&mut self, rows: &Matrix) {
        let begin = self.columns.len() as u32;
        self.columns.extend(&rows.columns);
        self.values.extend(&rows.values);
        self.starts.extend(rows.starts.iter().skip(1).map(|end| begin + end));
    }

    pub fn size(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&j, &v)| (j as usize, v))
    }

    pub fn diagonal(&self, i: usize) -> f64 {
        self.row(i).find(|e| e.0 == i).map_or(0.0, |e| e.1)
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    pub islands: usize,
    pub largest: usize,
    /// Factorisations of all islands together.
    pub pivots: usize,
    /// Islands whose answer is not good enough.
    pub unfinished: usize,
    /// Islands whose constraints contradict each other by a little, which is left.
    pub idle: usize,
}

/// One island on its way.
#[derive(Clone, Debug, Default)]
struct Island {
    multipliers: Vec<f64>,
    pivots: usize,
    unfinished: bool,
    idle: bool,
    wrong: Vec<usize>,
    envelope: Envelope,
    entries: Vec<(u32, u32, f64)>,
    number: Vec<u32>,
    /// Active ones, and how far their multipliers are from the guess.
    set: Vec<usize>,
    x: Vec<f64>,
    rest: Vec<f64>,
    kept: Vec<f64>,
}

/// Unknowns that are coupled, in the order of their first members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    sets: Sets,
    members: Vec<Vec<u32>>,
    count: usize,
    local: Vec<u32>,
}

impl Islands {
    /// Finds them in the pattern of a matrix.
    pub(crate) fn find(&mut self, a: &Matrix) {
        let n = a.size();
        self.sets.reset(n);
        for i in 0..n {
            a.row(i).for_each(|(j, _)| _ = self.sets.join(i as u32, j as u32));
        }
        self.local.clear();
        self.local.resize(n, 0);
        self.count = 0;
        for i in 0..n as u32 {
            let lowest = self.sets.find(i);
            if lowest == i {
                if self.count == self.members.len() {
                    self.members.push(Vec::new());
                }
                self.members[self.count].clear();
                // until the islands are complete, that of their lowest member is their number
                self.local[i as usize] = self.count as u32;
                self.count += 1;
            }
            let island = self.local[lowest as usize];
            self.members[island as usize].push(i);
        }
        for members in &self.members[..self.count] {
            (0..).zip(members).for_each(|(at, &i)| self.local[i as usize] = at);
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Unknowns of an island, ascending.
    pub(crate) fn members(&self, island: usize) -> &[u32] {
        &self.members[island]
    }

    /// Place of an unknown among those of its island.
    pub(crate) fn local(&self, unknown: usize) -> usize {
        self.local[unknown] as usize
    }
}

/// The solver; it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Complementarity {
    found: Islands,
    islands: Vec<Island>,
}

impl Complementarity {
    /// Solves from the guess that those with `multipliers > 0` are active.
    pub fn solve(&mut self, a: &Matrix, b: &[f64], multipliers: &mut [f64]) -> Report {
        self.found.find(a);
        let count = self.found.count();
        self.islands.resize_with(count.max(self.islands.len()), Island::default);
        let (found, guess) = (&self.found, &*multipliers);
        let solve = |(k, island): (usize, &mut Island)| island.solve(a, b, guess, found.members(k), found);
        self.islands[..count].par_iter_mut().enumerate().for_each(solve);
        let mut report = Report { islands: count, ..Report::default() };
        for (k, island) in self.islands[..count].iter().enumerate() {
            let members = self.found.members(k);
            for (&i, &m) in members.iter().zip(&island.multipliers) {
                multipliers[i as usize] = m;
            }
            report.largest = report.largest.max(members.len());
            report.pivots += island.pivots;
            report.unfinished += usize::from(island.unfinished);
            report.idle += usize::from(island.idle);
        }
        report
    }
}

/// The equations of one island, scaled to a unit diagonal.
struct Scaled<'a> {
    matrix: &'a Matrix,
    islands: &'a Islands,
    members: &'a [u32],
    scale: Vec<f64>,
    b: Vec<f64>,
    /// Largest |b|.
    largest: f64,
    /// Multipliers that are guessed.
    guess: Vec<f64>,
}

impl<'a> Scaled<'a> {
    fn new(
        matrix: &'a Matrix,
        b: &[f64],
        guess: &[f64],
        members: &'a [u32],
        islands: &'a Islands,
    ) -> Scaled<'a> {
        let root = |&i: &u32| 1.0 / matrix.diagonal(i as usize).max(f64::MIN_POSITIVE).sqrt();
        let scale: Vec<f64> = members.iter().map(root).collect();
        let all = || members.iter().zip(&scale).map(|(&i, s)| (i as usize, s));
        let b: Vec<f64> = all().map(|(i, s)| s * b[i]).collect();
        let guess = all().map(|(i, s)| guess[i].max(0.0) / s).collect();
        let largest = largest_of(&b);
        Scaled { matrix, islands, members, scale, b, largest, guess }
    }

    fn row(&self, k: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.matrix.row(self.members[k] as usize).map(move |(j, v)| {
            let at = self.islands.local(j);
            (at, v * self.scale[k] * self.scale[at])
        })
    }

    fn w(&self, k: usize, multipliers: &[f64]) -> f64 {
        self.b[k] + self.row(k).map(|(j, v)| v * multipliers[j]).sum::<f64>()
    }
}

fn largest_of(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

impl Island {
    fn solve(&mut self, a: &Matrix, b: &[f64], guess: &[f64], members: &[u32], islands: &Islands) {
        let mut of = Scaled::new(a, b, guess, members, islands);
        self.multipliers.clear();
        self.multipliers.resize(members.len(), 0.0);
        (self.pivots, self.unfinished, self.idle) = (0, false, false);
        if of.b.iter().all(|&b| b >= 0.0) {
            return;
        }
        let known = of.guess.iter().any(|&g| g > 0.0);
        let mut active: Vec<bool> =
            of.guess.iter().zip(&of.b).map(|(&g, &b)| if known { g > 0.0 } else { b < 0.0 }).collect();
        let mut rho = FIRST;
        (self.unfinished, self.idle) = (true, true);
        for _ in 0..PROBLEMS {
            self.exchange(&of, &mut active, rho);
            let exact = self.refine(&of, &active, rho);
            if exact || self.missed(&of) <= ENOUGH * of.largest {
                (self.unfinished, self.idle) = (false, !exact);
                break;
            }
            of.guess.clone_from(&self.multipliers);
            rho = f64::max(0.5 * rho, LEAST);
        }
        self.multipliers.iter_mut().zip(&of.scale).for_each(|(m, s)| *m = m.max(0.0) * s);
    }

    /// Exchanges who is active until the problem with ρ is solved, which leaves no multiplier below zero.
    fn exchange(&mut self, of: &Scaled, active: &mut [bool], rho: f64) {
        let (mut least, mut patience) = (active.len() + 1, PATIENCE);
        for _ in 0..EXCHANGES {
            self.solve_active(of, active, rho);
            self.find_wrong(of, active, rho);
            let Some(&last) = self.wrong.last() else { break };
            if self.wrong.len() < least {
                (least, patience) = (self.wrong.len(), PATIENCE);
            } else if patience > 0 {
                patience -= 1;
            } else {
                active[last] = !active[last];
                continue;
            }
            self.wrong.iter().for_each(|&k| active[k] = !active[k]);
        }
        self.multipliers.iter_mut().for_each(|m| *m = m.max(0.0));
    }

    /// `(A_FF + ρ) λ_F = −b_F + ρ λᵏ_F`, as a correction of λᵏ.
    fn solve_active(&mut self, of: &Scaled, active: &[bool], rho: f64) {
        self.set.clear();
        self.set.extend((0..active.len()).filter(|&k| active[k]));
        self.number.resize(active.len(), 0);
        self.set.iter().enumerate().for_each(|(at, &k)| self.number[k] = at as u32);
        self.entries.clear();
        self.x.clear();
        for &k in &self.set {
            let mut known = 0.0;
            for (j, v) in of.row(k).filter(|(j, _)| active[*j]) {
                known += v * of.guess[j];
                self.entries.push((self.number[k], self.number[j], if j == k { v + rho } else { v }));
            }
            self.x.push(-of.b[k] - known);
        }
        self.envelope.factor(self.set.len(), &self.entries);
        self.envelope.solve(&mut self.x);
        self.pivots += 1;
        self.multipliers.fill(0.0);
        self.set.iter().zip(&self.x).for_each(|(&k, x)| self.multipliers[k] = x + of.guess[k]);
    }

    /// What has the wrong sign in the problem with ρ, or is no number.
    fn find_wrong(&mut self, of: &Scaled, active: &[bool], rho: f64) {
        let most = largest_of(&self.multipliers);
        self.wrong.clear();
        for (k, &on) in active.iter().enumerate() {
            let right = if on {
                self.multipliers[k] >= -SMALL * most
            } else {
                of.w(k, &self.multipliers) - rho * of.guess[k] >= -ROUND_OFF * of.largest
            };
            if !right {
                self.wrong.push(k);
            }
        }
    }

    /// Solves `A_FF λ_F = −b_F` of the last active set with its factors; `false` where there is no answer, or one with wrong signs, and nothing has
    /// changed then.
    fn refine(&mut self, of: &Scaled, active: &[bool], rho: f64) -> bool {
        self.kept.clone_from(&self.multipliers);
        self.rest.clone_from(&self.x);
        let mut before = largest_of(&self.rest);
        for _ in 0..REFINED {
            self.rest.iter_mut().for_each(|r| *r *= rho);
            self.envelope.solve(&mut self.rest);
            let now = largest_of(&self.rest);
            if now > SHRINK * before {
                break;
            }
            self.set.iter().zip(&self.rest).for_each(|(&k, r)| self.multipliers[k] += r);
            before = now;
        }
        // shrunk to nothing, all signs right?
        let small = before <= SMALL * largest_of(&self.multipliers);
        if small {
            self.find_wrong(of, active, 0.0);
        }
        let right = small && self.wrong.is_empty();
        if !right {
            self.multipliers.clone_from(&self.kept);
        }
        right
    }

    /// By how much the answer misses the problem itself.
    fn missed(&self, of: &Scaled) -> f64 {
        let one = |(k, m): (usize, &f64)| {
            let w = of.w(k, &self.multipliers);
            if *m > 0.0 { w.abs() } else { -w }
        };
        self.multipliers.iter().enumerate().map(one).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;

    fn matrix(dense: &[Vec<f64>]) -> Matrix {
        let mut a = Matrix::default();
        a.clear();
        for (i, row) in dense.iter().enumerate() {
            for (j, &v) in row.iter().enumerate() {
                if v != 0.0 || dense[j][i] != 0.0 {
                    a.columns.push(j as u32);
                    a.values.push(v);
                }
            }
            a.end_row();
        }
        a
    }

    /// `G Gᵀ` of random rows over shared unknowns: semidefinite where there are more rows than unknowns.
    fn coupled(dice: &mut Dice, rows: usize, unknowns: usize, each: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let g: Vec<Vec<f64>> = (0..rows)
            .map(|_| {
                let mut row = vec![0.0; unknowns];
                for _ in 0..each {
                    row[dice.below(unknowns as u64) as usize] = dice.between(-1.0, 1.0);
                }
                row
            })
            .collect();
        let dot = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>();
        let a = g.iter().map(|p| g.iter().map(|q| dot(p, q)).collect()).collect();
        (a, g)
    }

    fn solve(a: &[Vec<f64>], b: &[f64]) -> (Vec<f64>, Report) {
        let mut x = vec![0.0; b.len()];
        let report = Complementarity::default().solve(&matrix(a), b, &mut x);
        (x, report)
    }

    /// λ ≥ 0, w ≥ 0, λ w = 0 up to the shift, whatever the island.
    fn satisfies(a: &[Vec<f64>], b: &[f64], x: &[f64]) {
        let scale = b.iter().fold(0.0, |m: f64, b| m.max(b.abs())).max(f64::MIN_POSITIVE);
        for i in 0..b.len() {
            let w = b[i] + a[i].iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            assert!(x[i] >= 0.0 && w >= -1e-9 * scale, "row {i}: λ = {}, w = {w:e}", x[i]);
            assert!((x[i] * w).abs() <= 1e-9 * scale * x.iter().fold(1.0, |m: f64, x| m.max(*x)), "row {i}");
        }
    }

    /// Against all 2ⁿ active sets: the one whose signs are right minimises, and where A is definite it is the only one.
    #[test]
    fn small_programs_have_the_solution_that_trying_every_active_set_finds() {
        let mut dice = Dice(7);
        for _ in 0..400 {
            let n = 1 + dice.below(6) as usize;
            let (mut a, _) = coupled(&mut dice, n, n + 2, 3);
            (0..n).for_each(|i| a[i][i] += 0.1);
            let b: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 0.5)).collect();
            let (x, report) = solve(&a, &b);
            assert_eq!(report.unfinished, 0);
            let right = (0..1u32 << n).find_map(|set| {
                let on: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
                let m = nalgebra::DMatrix::from_fn(on.len(), on.len(), |p, q| a[on[p]][on[q]]);
                let rhs = nalgebra::DVector::from_fn(on.len(), |p, _| -b[on[p]]);
                let y = if on.is_empty() { rhs } else { m.lu().solve(&rhs)? };
                let mut x = vec![0.0; n];
                on.iter().zip(y.iter()).for_each(|(&i, &y)| x[i] = y);
                let w = |i: usize| b[i] + (0..n).map(|j| a[i][j] * x[j]).sum::<f64>();
                (x.iter().all(|&x| x >= -1e-12) && (0..n).all(|i| w(i) >= -1e-12)).then_some(x)
            });
            let right = right.unwrap();
            let apart = x.iter().zip(&right).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            let size = right.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            assert!(apart <= 1e-8 * size, "{x:?} {right:?}");
        }
    }

    /// More constraints than unknowns, and each of them twice: λ is not unique, `Gᵀλ` is, and the conditions hold. b is
    /// chosen in the range of G, as linearised constraints of positions that can be reached are.
    #[test]
    fn redundant_constraints_are_solved_and_press_alike_in_any_order() {
        let mut dice = Dice(8);
        for _ in 0..200 {
            let (rows, unknowns) = (12, 6);
            let (_, mut g) = coupled(&mut dice, rows, unknowns, 3);
            g.extend(g.clone());
            let at: Vec<f64> = (0..unknowns).map(|_| dice.between(-1.0, 1.0)).collect();
            let dot = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>();
            let a = |g: &[Vec<f64>]| -> Vec<Vec<f64>> {
                g.iter().map(|p| g.iter().map(|q| dot(p, q)).collect()).collect()
            };
            // feasible: the point 0 has w = Gx + b ≥ 0 for x = −at
            let b = |g: &[Vec<f64>]| -> Vec<f64> { g.iter().map(|p| dot(p, &at)).collect() };
            let presses = |g: &[Vec<f64>], x: &[f64]| -> Vec<f64> {
                (0..unknowns).map(|k| g.iter().zip(x).map(|(g, x)| g[k] * x).sum()).collect()
            };
            if g.iter().any(|p| dot(p, p) < 1e-3) {
                continue;
            }
            let (x, report) = solve(&a(&g), &b(&g));
            assert_eq!(report.unfinished, 0);
            satisfies(&a(&g), &b(&g), &x);
            let mut turned = g.clone();
            turned.reverse();
            let (y, _) = solve(&a(&turned), &b(&turned));
            for (p, q) in presses(&g, &x).iter().zip(presses(&turned, &y)) {
                assert!((p - q).abs() < 1e-7, "{p} {q}");
            }
        }
    }

    /// A slightly unsymmetric matrix, as that of the midpoint gradient.
    #[test]
    fn unsymmetric_matrices_near_symmetric_ones_are_solved_too() {
        let mut dice = Dice(9);
        for _ in 0..100 {
            let n = 20;
            let (mut a, _) = coupled(&mut dice, n, 30, 4);
            for i in 0..n {
                a[i][i] += 0.05;
                for j in 0..n {
                    if i != j && a[i][j] != 0.0 {
                        a[i][j] += dice.between(-0.01, 0.01);
                    }
                }
            }
            let b: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 0.2)).collect();
            let (x, report) = solve(&a, &b);
            assert_eq!(report.unfinished, 0);
            satisfies(&a, &b, &x);
        }
    }

    /// Two hundred islands at once, solved by one thread and by three: the same bits. From their answer: the same to round-off, by one
    /// factorisation each.
    #[test]
    fn threads_change_no_bit_of_many_islands_and_warm_starts_nothing_that_counts() {
        let mut dice = Dice(10);
        let mut a = Matrix::default();
        a.clear();
        let mut b = Vec::new();
        for island in 0..200u32 {
            let n = 1 + dice.below(9) as usize;
            let (dense, _) = coupled(&mut dice, n, n + 3, 3);
            let first = b.len() as u32;
            for (i, row) in dense.iter().enumerate() {
                for (j, &v) in row.iter().enumerate() {
                    if v != 0.0 || i == j {
                        a.columns.push(first + j as u32);
                        a.values.push(if i == j { v + 0.01 } else { v });
                    }
                }
                a.end_row();
                b.push(dice.between(-1.0, 0.3) * (1.0 + f64::from(island)));
            }
        }
        let run = |threads: usize, x: &mut Vec<f64>| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Complementarity::default().solve(&a, &b, x))
        };
        let (mut one, mut three) = (vec![0.0; b.len()], vec![0.0; b.len()]);
        let cold = run(1, &mut one);
        assert_eq!(cold, run(3, &mut three));
        assert_eq!(one, three);
        assert!(cold.islands >= 200 && cold.unfinished == 0);
        let warm = run(2, &mut three);
        let apart = one.iter().zip(&three).map(|(x, y)| (x - y).abs() / x.max(1.0)).fold(0.0, f64::max);
        assert!(apart < 1e-11, "{apart:e}");
        assert!(warm.pivots <= warm.islands, "{warm:?}");
    }
}
