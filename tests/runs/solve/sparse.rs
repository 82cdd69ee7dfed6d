//! Factors of sparse matrices and the order of elimination.

use carom::math::Vec3;
use carom::solve::order::{Graph, nested_dissection};
use carom::solve::sparse::{Factors, LARGE, Matrix, Shape};

/// The pattern of these entries (row, column); all zero.
fn pattern(size: usize, shape: Shape, mut entries: Vec<(usize, usize)>) -> Matrix {
    if shape == Shape::Symmetric {
        entries.iter_mut().for_each(|e| *e = (e.0.max(e.1), e.0.min(e.1)));
    }
    entries.sort_unstable_by_key(|&(i, j)| (j, i));
    entries.dedup();
    let mut starts = vec![0; size + 1];
    entries.iter().for_each(|e| starts[e.1 + 1] += 1);
    (0..size).for_each(|j| starts[j + 1] += starts[j]);
    let rows: Vec<usize> = entries.iter().map(|e| e.0).collect();
    let values = vec![0.0; rows.len()];
    Matrix { size, shape, starts, rows, values }
}

fn largest_error(x: &[f64], found: &[f64]) -> f64 {
    x.iter().zip(found).map(|(x, b)| (x - b).abs()).fold(0.0, f64::max)
}

/// A chain of springs that closes on itself: definite with strong supports, else not. Two right-hand sides.
#[test]
fn factors_solve_their_matrix_definite_or_not_and_again_with_other_numbers() {
    let n = 50;
    let mut a = pattern(n, Shape::Symmetric, (0..n).flat_map(|i| [(i, i), (i, (i + 1) % n)]).collect());
    let mut factors = Factors::new(&a, None).unwrap();
    for shift in [2.5, 1.0, 0.3] {
        for j in 0..n {
            let at = a.place(j, j).unwrap();
            a.values[at] = shift + 0.01 * j as f64;
            let at = a.place(j, (j + 1) % n).unwrap();
            a.values[at] = -1.0;
        }
        let x: Vec<f64> = (0..2 * n).map(|i| (0.7 * i as f64).sin()).collect();
        let mut b = vec![0.0; 2 * n];
        for (x, b) in x.chunks_exact(n).zip(b.chunks_exact_mut(n)) {
            a.multiply(x, b);
        }
        factors.factor(&a).unwrap();
        factors.solve(&a, &mut b).unwrap();
        assert_eq!(factors.definite(), shift > 2.0);
        let apart = largest_error(&x, &b);
        assert!(apart < 1e-11, "{apart:e} at {shift}");
    }
}

/// Convection and diffusion on a grid of n³ nodes, the more unsymmetric the larger `wind`.
fn grid(n: usize, wind: f64) -> (Matrix, Graph, Vec<Vec3>) {
    let id = |i: usize, j: usize, k: usize| (i * n + j) * n + k;
    let (mut at, mut links) = (Vec::new(), Vec::new());
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                at.push(Vec3::new(i as f64, j as f64, k as f64));
                let own = id(i, j, k);
                links.extend((i + 1 < n).then(|| (own, id(i + 1, j, k))));
                links.extend((j + 1 < n).then(|| (own, id(i, j + 1, k))));
                links.extend((k + 1 < n).then(|| (own, id(i, j, k + 1))));
            }
        }
    }
    let both = links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let mut a = pattern(n * n * n, Shape::Unsymmetric, both.chain((0..at.len()).map(|k| (k, k))).collect());
    for &(p, q) in &links {
        for (i, j, value) in [(p, p, 1.0), (q, q, 1.0), (p, q, -1.0 + wind), (q, p, -1.0 - wind)] {
            let at = a.place(i, j).unwrap();
            a.values[at] += value;
        }
    }
    for k in 0..a.size {
        let at = a.place(k, k).unwrap();
        a.values[at] += 0.05;
    }
    let stencils: Vec<[u32; 2]> = links.iter().map(|&(a, b)| [a as u32, b as u32]).collect();
    let graph = Graph::of_stencils(at.len(), stencils.iter().map(|s| &s[..]));
    (a, graph, at)
}

/// Small by LU; large by GMRES on the factors of the symmetric part, and by LU where that fails.
#[test]
fn unsymmetric_systems_are_solved_small_and_large() {
    for (n, wind) in [(6, 0.3), (14, 0.1), (14, 0.9), (14, 40.0)] {
        let (a, graph, at) = grid(n, wind);
        let order: Vec<usize> = nested_dissection(&graph, &at).iter().map(|&k| k as usize).collect();
        let mut factors = Factors::new(&a, Some(&order)).unwrap();
        assert_eq!(matches!(factors, Factors::Lu(_)), a.size < LARGE);
        let x: Vec<f64> = (0..a.size).map(|i| (0.7 * i as f64).sin()).collect();
        let mut b = vec![0.0; a.size];
        a.multiply(&x, &mut b);
        factors.factor(&a).unwrap();
        factors.solve(&a, &mut b).unwrap();
        let apart = largest_error(&x, &b);
        assert!(apart < 1e-9, "{apart:e} for {n}, {wind}");
    }
}

/// Nested dissection is a permutation, and the factors take it or minimum degree, whichever leaves fewer numbers.
#[test]
fn the_order_that_fills_less_is_taken() {
    let (a, graph, at) = grid(20, 0.0);
    let mut part = Matrix::default();
    a.symmetric_part(&mut part);
    let order: Vec<usize> = nested_dissection(&graph, &at).iter().map(|&k| k as usize).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().enumerate().all(|(k, &n)| k == n));
    let fill = |order| Factors::new(&part, order).unwrap().fill().unwrap();
    assert!(fill(Some(&order[..])) <= fill(None));
    // the natural order is worse than either
    let natural: Vec<usize> = (0..a.size).collect();
    assert_eq!(fill(Some(&natural[..])), fill(None));
}
