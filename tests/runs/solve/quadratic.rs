//! Multipliers of contact up to 3 000 active constraints, by the conditions that make a minimum of a convex program: λ ≥ 0, w ≥ 0, λw = 0.
//!
//! `tools/oracle` compares the same programs with an interior-point solver.

use super::sheet::{coupled, pressed, sheet, violation};
use carom::math::dice::Dice;
use carom::solve::complementarity::Complementarity;
use carom::solve::coulomb::{Contacts, Coulomb};
use std::time::Instant;

#[test]
fn three_thousand_multipliers_are_found_by_a_handful_of_factorisations() {
    let mut dice = Dice(31);
    for (side, active) in [(17, 250), (32, 900), (58, 3000)] {
        let a = coupled(&sheet(side, 1, &mut dice), 1);
        let n = a.size();
        let b = pressed(n, &mut dice);
        let mut own = vec![0.0; n];
        let begin = Instant::now();
        let report = Complementarity::default().solve(&a, &b, &mut own);
        let pressing = own.iter().filter(|x| **x > 0.0).count();
        println!(
            "{n} constraints, {pressing} active: {:?} in {} factorisations",
            begin.elapsed(),
            report.pivots
        );
        assert!(report.unfinished == 0 && pressing >= active && report.pivots < 12, "{pressing} {report:?}");
        assert!(violation(&a, &b, &own) < 1e-9);
        for i in 0..n {
            let w = b[i] + a.row(i).map(|(j, v)| v * own[j]).sum::<f64>();
            assert!(own[i] >= 0.0 && (own[i] * w).abs() < 1e-9, "{i}: {} {w}", own[i]);
        }
    }
}

/// The same with friction: Newton's method needs no more factorisations for 900 contacts than for 100.
#[test]
fn friction_on_a_sheet_is_found_by_a_handful_of_factorisations_too() {
    let mut dice = Dice(33);
    for side in [10, 20, 30] {
        let a = coupled(&sheet(side, 3, &mut dice), 3);
        let n = a.size() / 3;
        let of = |i: usize, dice: &mut Dice| {
            if i.is_multiple_of(3) { dice.between(-1.0, 0.2) } else { dice.between(-0.4, 0.4) }
        };
        let b: Vec<f64> = (0..3 * n).map(|i| of(i, &mut dice)).collect();
        let first: Vec<u32> = (0..=n as u32).map(|c| 3 * c).collect();
        let (mut r, bound, enough) = (vec![0.0; 3 * n], vec![0.3; n], vec![1e-13; n]);
        let of = Contacts { matrix: &a, b: &b, first: &first, bound: &bound, enough: &enough, at_once: 0.0 };
        let begin = Instant::now();
        let report = Coulomb::default().solve(&of, &mut r);
        println!("{n} contacts: {:?} in {} factorisations", begin.elapsed(), report.pivots);
        assert!(report.unfinished == 0 && report.pivots <= 30, "{report:?}");
    }
}
