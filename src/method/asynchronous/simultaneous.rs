//! All contacts of one instant at once: the reference that answering them one after the other is compared with.
//!
//! ```text
//! rows Jᵢ = (wₖ nᵢᵀ)ₖ of the pairs that close        A = J W Jᵀ
//! v ← v − (1 + e) W Jᵀ A⁺ J v
//! ```
//!
//! A node in a face and the nodes of that face in the node's own element say the same thing twice, so A is singular; rows
//! that depend on others are dropped by the pivots of its factorisation, and the answer does not depend on which. A
//! multiplier that pulls is dropped with its row, if asked for. Frictionless, one restitution for all.

use crate::contact::pair::Pair;
use crate::math::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};

/// Pivots below this share of the largest diagonal entry belong to rows that say nothing new.
const DEPENDENT: f64 = 1e-10;
/// Rounds of dropping rows that pull.
const ROUNDS: usize = 10;

/// Answers all pairs together; returns the normal impulse of each [N s], zero for those that open or were dropped.
pub fn answer(pairs: &[Pair], e: f64, pull_nothing: bool, inv_mass: &[Mat3], v: &mut [Vec3]) -> Vec<f64> {
    let closing = |p: &Pair| -p.normal.dot(&p.relative_velocity(v));
    let rates: Vec<f64> = pairs.iter().map(closing).collect();
    let mut active: Vec<usize> = (0..pairs.len()).filter(|&i| rates[i] > 0.0).collect();
    let mut impulses = vec![0.0; pairs.len()];
    for _ in 0..ROUNDS {
        let a = DMatrix::from_fn(active.len(), active.len(), |i, j| {
            coupling(&pairs[active[i]], &pairs[active[j]], inv_mass)
        });
        let rhs = DVector::from_fn(active.len(), |i, _| (1.0 + e) * rates[active[i]]);
        let solved = solve(a, rhs);
        impulses.fill(0.0);
        active.iter().zip(solved.iter()).for_each(|(&i, j)| impulses[i] = *j);
        if !pull_nothing || active.iter().all(|&i| impulses[i] >= 0.0) {
            break;
        }
        active.retain(|&i| impulses[i] >= 0.0);
    }
    for (pair, &j) in pairs.iter().zip(&impulses).filter(|p| *p.1 != 0.0) {
        for (k, w) in pair.stencil() {
            v[k] += (w * j) * (inv_mass[k] * pair.normal);
        }
    }
    impulses
}

/// What a unit impulse of one pair does to the rate of another.
fn coupling(p: &Pair, q: &Pair, inv_mass: &[Mat3]) -> f64 {
    let mut sum = 0.0;
    for (k, w) in p.stencil() {
        for (l, u) in q.stencil().filter(|x| x.0 == k) {
            sum += w * u * p.normal.dot(&(inv_mass[l] * q.normal));
        }
    }
    sum
}

/// Solves `A x = b` for a symmetric `A ⪰ 0` by Cholesky with the largest pivot first; unknowns beyond the rank are zero.
fn solve(mut a: DMatrix<f64>, mut b: DVector<f64>) -> DVector<f64> {
    let n = b.len();
    let mut order: Vec<usize> = (0..n).collect();
    let largest = (0..n).map(|i| a[(i, i)]).fold(0.0, f64::max);
    let mut rank = n;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[(i, i)].total_cmp(&a[(j, j)])).unwrap_or(k);
        if a[(pivot, pivot)] <= DEPENDENT * largest {
            rank = k;
            break;
        }
        a.swap_rows(k, pivot);
        a.swap_columns(k, pivot);
        b.swap_rows(k, pivot);
        order.swap(k, pivot);
        let d = a[(k, k)].sqrt();
        a[(k, k)] = d;
        for i in k + 1..n {
            a[(i, k)] /= d;
        }
        for j in k + 1..n {
            for i in j..n {
                let drop = a[(i, k)] * a[(j, k)];
                a[(i, j)] -= drop;
                a[(j, i)] = a[(i, j)];
            }
        }
    }
    for i in 0..rank {
        let sum: f64 = (0..i).map(|j| a[(i, j)] * b[j]).sum();
        b[i] = (b[i] - sum) / a[(i, i)];
    }
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..rank).map(|j| a[(j, i)] * b[j]).sum();
        b[i] = (b[i] - sum) / a[(i, i)];
    }
    let mut x = DVector::zeros(n);
    (0..rank).for_each(|i| x[order[i]] = b[i]);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::response::{self, Terms};

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn vector(seed: &mut u64) -> Vec3 {
        Vec3::new(random(seed), random(seed), random(seed))
    }

    /// Pairs of nodes 5i … 5i+4: a node in a tetrahedron each.
    fn scene(seed: &mut u64, count: u32) -> (Vec<Pair>, Vec<Mat3>, Vec<Vec3>) {
        let pairs = (0..count).map(|i| {
            let mut w = [0; 4].map(|_| random(seed) + 0.6);
            let sum: f64 = w.iter().sum();
            w.iter_mut().for_each(|w| *w /= sum);
            let n = vector(seed).normalize();
            let nodes = [1, 2, 3, 4].map(|k| 5 * i + k);
            let mut pair = Pair::node_element(5 * i, i, nodes, w, n, 0.0);
            pair.e = 1.0;
            pair
        });
        let pairs: Vec<Pair> = pairs.collect();
        let mass: Vec<f64> = (0..5 * count).map(|_| 1.0 + random(seed)).collect();
        let inv_mass = mass.iter().map(|m| Mat3::from_diagonal_element(1.0 / m)).collect();
        let v = (0..5 * count).map(|_| vector(seed)).collect();
        (pairs, inv_mass, v)
    }

    #[test]
    fn contacts_that_share_nothing_are_answered_as_if_alone() {
        let mut seed = 3;
        for _ in 0..100 {
            let (pairs, inv_mass, v) = scene(&mut seed, 4);
            let (mut together, mut alone) = (v.clone(), v);
            answer(&pairs, 1.0, false, &inv_mass, &mut together);
            for pair in &pairs {
                response::bounce(pair, Terms::default(), &inv_mass, &mut alone);
            }
            for (a, b) in together.iter().zip(&alone) {
                assert!((a - b).norm() <= 1e-13);
            }
        }
    }

    /// Pairs that share nodes, each of them twice: energy and momentum stay, every rate is turned round, and saying it
    /// twice changes nothing.
    #[test]
    fn rates_are_turned_round_and_saying_it_twice_changes_nothing() {
        let mut seed = 4;
        for _ in 0..100 {
            let (mut pairs, inv_mass, v) = scene(&mut seed, 3);
            // two more pairs between the nodes of the others
            pairs.push(Pair::node_element(0, 7, [6, 7, 8, 9], [0.25; 4], vector(&mut seed).normalize(), 0.0));
            pairs.push(Pair::node_element(
                5,
                8,
                [11, 2, 3, 4],
                [0.25; 4],
                vector(&mut seed).normalize(),
                0.0,
            ));
            let closing: Vec<Pair> =
                pairs.into_iter().filter(|p| p.normal.dot(&p.relative_velocity(&v)) < 0.0).collect();
            let twice: Vec<Pair> = closing.iter().chain(&closing).copied().collect();
            let (mut once, mut doubled) = (v.clone(), v.clone());
            answer(&closing, 1.0, false, &inv_mass, &mut once);
            answer(&twice, 1.0, false, &inv_mass, &mut doubled);
            let energy = |v: &[Vec3]| {
                v.iter().zip(&inv_mass).map(|(v, w)| 0.5 * v.norm_squared() / w[(0, 0)]).sum::<f64>()
            };
            let momentum = |v: &[Vec3]| v.iter().zip(&inv_mass).map(|(v, w)| v / w[(0, 0)]).sum::<Vec3>();
            assert!((energy(&once) / energy(&v) - 1.0).abs() <= 1e-11);
            assert!((momentum(&once) - momentum(&v)).norm() <= 1e-12);
            for pair in &closing {
                let sum = pair.normal.dot(&(pair.relative_velocity(&once) + pair.relative_velocity(&v)));
                assert!(sum.abs() <= 1e-11);
            }
            for (a, b) in once.iter().zip(&doubled) {
                assert!((a - b).norm() <= 1e-10);
            }
        }
    }

    /// Three balls in a row, the outer ones run into the middle one, one of them much faster: without pulling nobody is
    /// held back.
    #[test]
    fn nobody_pulls_unless_he_may() {
        let pairs = [Pair::node_node(0, 1, -Vec3::x()), Pair::node_node(1, 2, -Vec3::x())];
        let inv_mass = [Mat3::identity(); 3];
        let mut v = [Vec3::x(), Vec3::zeros(), -0.1 * Vec3::x()];
        let impulses = answer(&pairs, 0.0, true, &inv_mass, &mut v);
        assert!(impulses.iter().all(|j| *j >= 0.0));
        // e = 0 with all in touch: one common velocity
        assert!(v.iter().all(|v| (v.x - 0.3).abs() < 1e-14));
    }
}
