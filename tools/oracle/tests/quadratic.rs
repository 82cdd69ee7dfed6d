//! Multipliers of contact beside an interior-point solver (clarabel), on three sizes up to 3 000 active constraints.
//!
//!     cargo test --release -- --nocapture

use carom::math::dice::Dice;
use carom::solve::complementarity::{Complementarity, Matrix};
use carom::solve::coulomb::{Contacts, Coulomb};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT};
use sheet::{Row, coupled, pressed, sheet, violation};
use std::collections::BTreeMap;
use std::time::Instant;

#[path = "../../../tests/runs/solve/sheet.rs"]
mod sheet;

/// The part of a matrix in some rows and columns, upper triangle.
fn upper(a: &Matrix, keep: &[usize]) -> CscMatrix<f64> {
    let mut place = vec![usize::MAX; a.size()];
    keep.iter().enumerate().for_each(|(at, &k)| place[k] = at);
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for (at, &k) in keep.iter().enumerate() {
        for (j, v) in a.row(k).filter(|(j, _)| place[*j] <= at) {
            rows.push(place[j]);
            values.push(v);
        }
        starts.push(rows.len());
    }
    CscMatrix::new(keep.len(), keep.len(), starts, rows, values)
}

fn minimise(
    p: &CscMatrix<f64>,
    q: &[f64],
    a: &CscMatrix<f64>,
    b: &[f64],
    cones: &[SupportedConeT<f64>],
) -> Vec<f64> {
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-12)
        .tol_gap_rel(1e-12)
        .tol_feas(1e-12)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(p, q, a, b, cones, settings).unwrap();
    solver.solve();
    solver.solution.x.clone()
}

/// `−1 x + s = 0` with s in the cones.
fn minus_one(n: usize) -> CscMatrix<f64> {
    CscMatrix::new(n, n, (0..=n).collect(), (0..n).collect(), vec![-1.0; n])
}

fn forces(g: &[Row], r: &[f64]) -> BTreeMap<usize, f64> {
    let mut all = BTreeMap::new();
    for (row, r) in g.iter().zip(r) {
        row.iter().for_each(|(k, x)| *all.entry(*k).or_default() += x * r);
    }
    all
}

#[test]
fn multipliers_are_those_of_an_interior_point_solver() {
    let mut dice = Dice(31);
    for (side, active) in [(17, 250), (32, 900), (58, 3000)] {
        let g = sheet(side, 1, &mut dice);
        let a = coupled(&g, 1);
        let n = g.len();
        let b = pressed(n, &mut dice);
        let mut own = vec![0.0; n];
        let begin = Instant::now();
        let report = Complementarity::default().solve(&a, &b, &mut own);
        let cold = begin.elapsed();
        let begin = Instant::now();
        let mut warm = own.clone();
        Complementarity::default().solve(&a, &b, &mut warm);
        let again = begin.elapsed();
        let begin = Instant::now();
        let all: Vec<usize> = (0..n).collect();
        let oracle = minimise(
            &upper(&a, &all),
            &b,
            &minus_one(n),
            &vec![0.0; n],
            &[SupportedConeT::NonnegativeConeT(n)],
        );
        let interior = begin.elapsed();
        let pressing = own.iter().filter(|x| **x > 0.0).count();
        let (f, known) = (forces(&g, &own), forces(&g, &oracle));
        let most = f.values().fold(0.0, |m: f64, f| m.max(f.abs()));
        let apart = f.iter().map(|(k, f)| (f - known[k]).abs()).fold(0.0, f64::max) / most;
        println!(
            "{n} constraints, {pressing} active: {cold:?} in {} factorisations, from the answer {again:?}, clarabel {interior:?}; forces apart {apart:.1e}; \
             violation {:.1e}, clarabel {:.1e}",
            report.pivots,
            violation(&a, &b, &own),
            violation(&a, &b, &oracle)
        );
        assert!(report.unfinished == 0 && pressing >= active, "{pressing}");
        assert!(violation(&a, &b, &own) < 1e-9 && apart < 1e-5, "{apart:e} {:e}", violation(&a, &b, &own));
    }
}

/// With friction there is no minimum of all; but the answer's multipliers minimise with its friction kept, and its friction minimises in the discs of its
/// multipliers. The second is a program with cones.
#[test]
fn friction_is_that_of_a_cone_solver_in_the_discs_of_the_multipliers() {
    let (mut dice, mu) = (Dice(32), 0.3);
    for side in [5, 12, 20] {
        let g = sheet(side, 3, &mut dice);
        let a = coupled(&g, 3);
        let n = g.len() / 3;
        let b: Vec<f64> = (0..3 * n)
            .map(|i| if i % 3 == 0 { dice.between(-1.0, 0.2) } else { dice.between(-0.4, 0.4) })
            .collect();
        let first: Vec<u32> = (0..=n as u32).map(|c| 3 * c).collect();
        let mut r = vec![0.0; 3 * n];
        let begin = Instant::now();
        let (bound, enough) = (vec![mu; n], vec![1e-13; n]);
        let of = Contacts { matrix: &a, b: &b, first: &first, bound: &bound, enough: &enough, at_once: 0.0 };
        let report = Coulomb::default().solve(&of, &mut r);
        let seconds = begin.elapsed();
        assert_eq!(report.unfinished, 0);
        let pressing: Vec<usize> = (0..n).filter(|&c| r[3 * c] > 0.0).collect();
        let keep: Vec<usize> = pressing.iter().flat_map(|c| [3 * c + 1, 3 * c + 2]).collect();
        let q: Vec<f64> = keep
            .iter()
            .map(|&i| b[i] + a.row(i).filter(|(j, _)| j % 3 == 0).map(|(j, v)| v * r[j]).sum::<f64>())
            .collect();
        // (μλ, r_t) in the cone of each: rows of [0; −1] x + s = [μλ; 0]
        let size = keep.len();
        let rows: Vec<usize> = (0..size).map(|k| 3 * (k / 2) + 1 + k % 2).collect();
        let cone = CscMatrix::new(3 * pressing.len(), size, (0..=size).collect(), rows, vec![-1.0; size]);
        let limits: Vec<f64> = pressing.iter().flat_map(|c| [mu * r[3 * c], 0.0, 0.0]).collect();
        let cones: Vec<_> = pressing.iter().map(|_| SupportedConeT::SecondOrderConeT(3)).collect();
        let oracle = minimise(&upper(&a, &keep), &q, &cone, &limits, &cones);
        let most = keep.iter().map(|&k| r[k].abs()).fold(0.0, f64::max);
        let apart = keep.iter().zip(&oracle).map(|(&k, o)| (r[k] - o).abs()).fold(0.0, f64::max) / most;
        println!(
            "{n} contacts, {} press: {seconds:?} in {} factorisations; friction apart {apart:.1e}",
            pressing.len(),
            report.pivots
        );
        assert!(apart < 1e-4, "{apart:e}");
    }
}
