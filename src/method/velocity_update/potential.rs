//! How large the velocity update of each point is: the coupled quadratics of the step, by a convex potential.
//!
//! ```text
//! k_l (A k)_l + b_l k_l + c_l = 0,  k_l > 0,  c_l ≤ 0        A_lk = ½ r_lᵀM⁻¹r_k
//! Ψ(k) = ½ kᵀA k + bᵀk − Σ |c_l| ln k_l                       k_l ∂Ψ/∂k_l = the quadratic of point l
//! ```
//!
//! A is positive semidefinite and the logarithms are convex, so there is exactly one minimum where there is one at all: unless impulses with
//! k > 0 balance each other, as at a node between two opposite walls. Newton's method in the variables `ln k`, damped, finds it from
//! anywhere. Bounds from above, `k_l ≤ most_l`, are kept by projection (Bertsekas 1982): a point that is at its bound and wants beyond stays there, and
//! its quadratic lacks energy. Where there is no minimum, or it does not come, a hundredth of the diagonal is added to A: that has a minimum, of the size of single
//! points, and what the quadratics then lack is booked by the caller.

use crate::solve::sparse::{Factors, Matrix};

/// What the quadratics may lack, of their terms.
const SOLVED: f64 = 1e-13;
/// Iterations at most; 31 was the most of 300 random systems.
const ITERATIONS: usize = 120;
/// Share of the way to the boundary.
const INSIDE: f64 = 0.95;
/// Where c vanishes, this share of the largest stands for it.
const LEAST: f64 = 1e-15;
/// The path to there: each c at least this share of the one before.
const NARROWER: f64 = 0.1;
/// What the quadratics may lack together where round-off of the potential ends the search, of all terms.
const HIDDEN: f64 = 1e-11;
/// Share of the diagonal that bounds impulses which balance each other.
const BOUND: f64 = 1e-2;

/// The quadratics: A by columns (lower triangle), b and c.
#[derive(Clone, Debug, Default)]
pub(super) struct Quadratics {
    pub a: Matrix,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    /// Bounds of k, infinite where there is none.
    pub most: Vec<f64>,
}

/// The solution, and how it was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub k: Vec<f64>,
    pub iterations: u32,
    /// Impulses balanced each other and were bounded.
    pub bounded: bool,
}

impl Quadratics {
    fn diagonal(&self, l: usize) -> f64 {
        // a column of a lower triangle begins on its diagonal
        self.a.values[self.a.starts[l]]
    }

    /// `k_l (A k)_l + b_l k_l + c_l`: what each point lacks [J].
    pub(super) fn lack(&self, k: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; k.len()];
        self.a.multiply(k, &mut product);
        (0..k.len()).map(|l| k[l] * (product[l] + self.b[l]) + self.c[l]).collect()
    }

    /// Changes the impulses `k` of those who put energy in (`made` > 0), all by the same, so that `surplus` goes out again [J], as far as there is motion along them; returns
    /// what did. `a κ² + b κ + surplus = 0`, the root next to zero: they part more slowly, or slip less, and never turn round.
    pub(super) fn take_out(&self, made: &[f64], surplus: f64, k: &mut [f64]) -> f64 {
        let who: Vec<f64> = made.iter().map(|m| if *m > 0.0 { 1.0 } else { 0.0 }).collect();
        let (mut now, mut along) = (vec![0.0; k.len()], vec![0.0; k.len()]);
        self.a.multiply(k, &mut now);
        self.a.multiply(&who, &mut along);
        let a: f64 = who.iter().zip(&along).map(|(w, x)| w * x).sum();
        let b: f64 = (0..k.len()).map(|l| who[l] * (self.b[l] + 2.0 * now[l])).sum();
        let out = surplus.min(b * b / (4.0 * a));
        if !(out > 0.0 && out.is_finite()) {
            return 0.0;
        }
        let root = (b * b - 4.0 * a * out).max(0.0).sqrt();
        let by = -2.0 * out / (b + root.copysign(b));
        k.iter_mut().zip(&who).for_each(|(k, w)| *k += by * w);
        out
    }

    /// Somebody answers to every impulse.
    pub(super) fn gives_way(&self) -> bool {
        (0..self.b.len()).all(|l| self.diagonal(l) > 0.0)
    }

    /// The positive solution.
    pub(super) fn solve(&self) -> Found {
        let n = self.b.len();
        let size = |l: usize| self.c[l].abs() + self.b[l].powi(2) / (4.0 * self.diagonal(l));
        let largest = (0..n).map(size).filter(|s| s.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        let at_least = |least: f64| -> Vec<f64> { self.c.iter().map(|c| c.min(-least)).collect() };
        let c = at_least(LEAST * largest);
        if n == 1 {
            let k = vec![self.alone(0, c[0]).min(self.most[0])];
            return Found { k, iterations: 0, bounded: false };
        }
        let start = (0..n).map(|l| self.alone(l, c[l]).min(self.most[l])).collect();
        let mut found = self.minimise(0.0, &c, start);
        if found.is_err() {
            // along the path of larger c, where it is smooth
            let mut k: Vec<f64> = (0..n).map(|l| self.alone(l, -largest).min(self.most[l])).collect();
            let mut least = largest;
            while least > LEAST * largest {
                least = (least * NARROWER).max(LEAST * largest);
                found = self.minimise(0.0, &at_least(least), k);
                k = match &found {
                    Ok((k, _)) | Err((k, _)) => k.clone(),
                };
            }
        }
        if let Ok((k, iterations)) = found {
            return Found { k, iterations, bounded: false };
        }
        let start = (0..n).map(|l| self.alone(l, c[l]).min(self.most[l])).collect();
        let (k, iterations) = match self.minimise(BOUND, &c, start) {
            Ok(found) | Err(found) => found,
        };
        Found { k, iterations, bounded: true }
    }

    /// The root of each point alone.
    fn alone(&self, l: usize, c: f64) -> f64 {
        let (a, b) = (self.diagonal(l), self.b[l]);
        let root = (b * b - 4.0 * a * c).sqrt();
        // without cancellation on either side
        let k = if b > 0.0 { -2.0 * c / (b + root) } else { (root - b) / (2.0 * a) };
        if k.is_finite() { k.max(1e-30) } else { 1e-30 }
    }

    /// Damped Newton's method from `k`; where it ends, if that is not the minimum.
    fn minimise(&self, more: f64, c: &[f64], mut k: Vec<f64>) -> Result<(Vec<f64>, u32), (Vec<f64>, u32)> {
        let n = self.b.len();
        let mut hessian = self.a.clone();
        let Ok(mut factors) = Factors::new(&hessian, None) else { return Err((k, 0)) };
        let (mut product, mut step, mut next) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut gradient, mut held) = (vec![0.0; n], vec![false; n]);
        let mut value = f64::INFINITY;
        for iteration in 0..ITERATIONS as u32 {
            self.apply(more, &k, &mut product);
            let (mut done, mut open, mut all) = (true, 0.0, 0.0);
            for l in 0..n {
                let terms = [k[l] * product[l], k[l] * self.b[l], c[l]];
                gradient[l] = terms.iter().sum();
                held[l] = k[l] >= self.most[l] && gradient[l] <= 0.0;
                gradient[l] = if held[l] { 0.0 } else { gradient[l] };
                let size = terms.iter().map(|t| t.abs()).sum::<f64>();
                done &= gradient[l].abs() <= SOLVED * size;
                (open, all) = (open + gradient[l].abs(), all + size);
            }
            if done {
                return Ok((k, iteration));
            }
            if value == f64::INFINITY {
                value = self.value(&k, &product, c);
            }
            self.scaled(more, &k, c, &held, &mut hessian);
            step.copy_from_slice(&gradient);
            if factors.factor(&hessian).is_err() || factors.solve(&hessian, &mut step).is_err() {
                return Err((k, iteration));
            }
            let lowest = step.iter().fold(0.0, |m: f64, s| m.max(*s));
            let mut share = if lowest > INSIDE { INSIDE / lowest } else { 1.0 };
            let mut better = false;
            for _ in 0..50 {
                let mut slope = 0.0;
                for l in 0..n {
                    next[l] = (k[l] * (1.0 - share * step[l])).min(self.most[l]);
                    slope += gradient[l] * (next[l] / k[l] - 1.0);
                }
                self.apply(more, &next, &mut product);
                let found = self.value(&next, &product, c);
                // near the minimum the value is round-off, and the whole step is good
                if found <= value + 1e-4 * slope + 1e-14 * value.abs() {
                    (better, value) = (true, found);
                    break;
                }
                share *= 0.5;
            }
            if !better {
                // round-off of the potential hides what is left
                return if open <= HIDDEN * all { Ok((k, iteration)) } else { Err((k, iteration)) };
            }
            std::mem::swap(&mut k, &mut next);
        }
        Err((k, ITERATIONS as u32))
    }

    /// `k_i ∂²Ψ/∂k_i∂k_j k_j`, and the identity for points that are `held` at their bounds.
    fn scaled(&self, more: f64, k: &[f64], c: &[f64], held: &[bool], hessian: &mut Matrix) {
        for j in 0..k.len() {
            for at in self.a.starts[j]..self.a.starts[j + 1] {
                let i = self.a.rows[at];
                hessian.values[at] = match (i == j, held[i] || held[j]) {
                    (true, true) => 1.0,
                    (true, false) => k[i] * self.a.values[at] * k[j] * (1.0 + more) - c[j],
                    (false, true) => 0.0,
                    (false, false) => k[i] * self.a.values[at] * k[j],
                };
            }
        }
    }

    fn apply(&self, more: f64, k: &[f64], product: &mut [f64]) {
        self.a.multiply(k, product);
        if more > 0.0 {
            product.iter_mut().enumerate().for_each(|(l, p)| *p += more * self.diagonal(l) * k[l]);
        }
    }

    fn value(&self, k: &[f64], product: &[f64], c: &[f64]) -> f64 {
        (0..k.len()).map(|l| k[l] * (0.5 * product[l] + self.b[l]) + c[l] * k[l].ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;
    use crate::solve::sparse::Shape;

    fn full(n: usize, a: impl Fn(usize, usize) -> f64) -> Matrix {
        let mut m = Matrix { size: n, shape: Shape::Symmetric, starts: vec![0], ..Matrix::default() };
        for j in 0..n {
            for i in j..n {
                m.rows.push(i);
                m.values.push(a(i, j));
            }
            m.starts.push(m.rows.len());
        }
        m
    }

    /// k = [−b + √(b² − 4Ac)]/2A, the positive root; c = 0 with b < 0 is an elastic reflection, k = −b/A.
    #[test]
    fn one_point_has_the_positive_root_of_its_quadratic() {
        for (a, b, c) in
            [(2.0, 3.0, -1.0), (0.1, -5.0, -1e-6), (1.0, 1e6, -1.0), (3.0, -2.0, 0.0), (1.0, 2.0, 0.0)]
        {
            let found =
                Quadratics { a: full(1, |_, _| a), b: vec![b], c: vec![c], most: vec![f64::INFINITY] }
                    .solve();
            let root = f64::sqrt(b * b - 4.0 * a * c);
            let exact = if b > 0.0 { -2.0 * c / (b + root) } else { (root - b) / (2.0 * a) };
            assert!((found.k[0] - exact).abs() < 1e-12 * exact.max(1.0), "{found:?} {exact}");
            assert!(!found.bounded);
        }
    }

    /// Energy that contact has put in goes out again along its own impulses: exactly where there is motion enough, by all there is where not; the motion along them slows down and
    /// does not turn round. Others keep their impulses.
    #[test]
    fn energy_that_was_put_in_is_taken_out_of_motion() {
        let mut dice = Dice(18);
        let (mut all, mut some) = (0, 0);
        for _ in 0..200 {
            let r: Vec<[f64; 3]> = (0..3).map(|_| std::array::from_fn(|_| dice.between(-1.0, 1.0))).collect();
            let dot = |p: &[f64; 3], q: &[f64; 3]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>();
            let v: [f64; 3] = std::array::from_fn(|_| dice.between(-1.0, 1.0));
            let of = Quadratics {
                a: full(3, |i, j| 0.5 * dot(&r[i], &r[j])),
                b: r.iter().map(|r| dot(r, &v)).collect(),
                c: vec![0.0; 3],
                most: vec![f64::INFINITY; 3],
            };
            let first: Vec<f64> = (0..3).map(|_| dice.unit()).collect();
            let moving = |k: &[f64]| -> [f64; 3] {
                std::array::from_fn(|i| v[i] + (0..3).map(|l| k[l] * r[l][i]).sum::<f64>())
            };
            let (made, surplus) = ([0.3, 0.0, 0.1], dice.between(0.0, 0.2));
            let mut k = first.clone();
            let out = of.take_out(&made, surplus, &mut k);
            let (before, after) = (moving(&first), moving(&k));
            let lost = 0.5 * (dot(&before, &before) - dot(&after, &after));
            assert!((lost - out).abs() < 1e-13 && out <= surplus && k[1] == first[1]);
            let along: [f64; 3] = std::array::from_fn(|i| r[0][i] + r[2][i]);
            let (b, e) = (dot(&along, &before), dot(&along, &after));
            assert!(b * e >= -1e-12 && e.abs() <= b.abs(), "{b} {e}");
            match out < surplus {
                true => some += u32::from(e.abs() < 1e-7),
                false => all += 1,
            }
        }
        assert!(all > 20 && some > 20, "{all} {some}");
    }

    /// Random systems, of full rank and less, c over ten decades: one positive solution, the same that Gauss–Seidel finds
    /// where it converges.
    #[test]
    fn coupled_quadratics_have_one_positive_solution() {
        let mut dice = Dice(17);
        let (mut compared, mut most) = (0, 0);
        for trial in 0..200 {
            let n = 1 + dice.below(11) as usize;
            // at least one row of a shared positive direction: impulses that push do not balance each other
            let rank = 1 + dice.below(n as u64) as usize;
            let r: Vec<Vec<f64>> = (0..n)
                .map(|_| {
                    (0..rank)
                        .map(|q| if q == 0 { 0.2 + dice.unit() } else { dice.between(-1.0, 1.0) })
                        .collect()
                })
                .collect();
            let a = |i: usize, j: usize| 0.5 * r[i].iter().zip(&r[j]).map(|(p, q)| p * q).sum::<f64>();
            let b: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 1.0)).collect();
            let c: Vec<f64> = (0..n).map(|_| -10f64.powf(dice.between(-10.0, 0.0))).collect();
            let system =
                Quadratics { a: full(n, a), b: b.clone(), c: c.clone(), most: vec![f64::INFINITY; n] };
            let found = system.solve();
            assert!(!found.bounded && found.k.iter().all(|k| *k > 0.0), "{trial}");
            most = most.max(found.iterations);
            for (l, lack) in system.lack(&found.k).iter().enumerate() {
                let size = c[l].abs() + (b[l] * found.k[l]).abs();
                assert!(lack.abs() < 1e-11 * size, "{trial}: {lack:e} of {size:e}");
            }
            let mut k = vec![1.0; n];
            for _ in 0..4000 {
                for l in 0..n {
                    let others: f64 = b[l] + (0..n).filter(|&m| m != l).map(|m| a(l, m) * k[m]).sum::<f64>();
                    let root = (others * others - 4.0 * a(l, l) * c[l]).sqrt();
                    k[l] = if others > 0.0 {
                        -2.0 * c[l] / (others + root)
                    } else {
                        (root - others) / (2.0 * a(l, l))
                    };
                }
            }
            let solved = system.lack(&k).iter().zip(&c).all(|(lack, c)| lack.abs() < 1e-13 * c.abs());
            if solved {
                compared += 1;
                for l in 0..n {
                    assert!((k[l] - found.k[l]).abs() < 1e-9 * k[l], "{trial}");
                }
            }
        }
        assert!(compared > 50 && most < 80, "{compared} {most}");
    }

    /// Two opposite impulses on one node have no minimum: they are bounded by the size of one alone, and said to be.
    #[test]
    fn impulses_that_balance_each_other_are_bounded() {
        let system = Quadratics {
            a: full(2, |i, j| if i == j { 1.0 } else { -1.0 }),
            b: vec![0.0; 2],
            c: vec![-1.0; 2],
            most: vec![f64::INFINITY; 2],
        };
        let found = system.solve();
        assert!(found.bounded);
        let alone = 1.0;
        assert!(found.k.iter().all(|k| *k > 0.0 && *k < 20.0 * alone), "{found:?}");
    }
    /// Bounds hold exactly; a point at its bound lacks energy, which slip took, and never has too much; others have their quadratics solved.
    #[test]
    fn bounds_are_kept_and_take_energy() {
        let mut dice = Dice(19);
        let (mut at_bound, mut free) = (0, 0);
        for trial in 0..200 {
            let n = 1 + dice.below(11) as usize;
            let r: Vec<Vec<f64>> =
                (0..n).map(|_| (0..n).map(|_| dice.between(-1.0, 1.0)).collect()).collect();
            let a = |i: usize, j: usize| 0.5 * r[i].iter().zip(&r[j]).map(|(p, q)| p * q).sum::<f64>();
            let b: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 1.0)).collect();
            let c: Vec<f64> = (0..n).map(|_| -10f64.powf(dice.between(-10.0, 0.0))).collect();
            let most: Vec<f64> = (0..n).map(|_| 10f64.powf(dice.between(-3.0, 1.0))).collect();
            let system = Quadratics { a: full(n, a), b: b.clone(), c: c.clone(), most: most.clone() };
            let found = system.solve();
            let size: f64 = (0..n).map(|l| c[l].abs() + (b[l] * found.k[l]).abs()).sum();
            for (l, lack) in system.lack(&found.k).iter().enumerate().filter(|_| !found.bounded) {
                assert!(found.k[l] > 0.0 && found.k[l] <= most[l]);
                if found.k[l] == most[l] {
                    at_bound += 1;
                    assert!(*lack <= 1e-10 * size, "{trial}: {lack:e} of {size:e}");
                } else {
                    free += 1;
                    assert!(lack.abs() < 1e-10 * size, "{trial}: {lack:e} of {size:e}");
                }
            }
        }
        assert!(at_bound > 100 && free > 100, "{at_bound} {free}");
    }
}
