//! Contacts whose operator is known entry by entry: Gauss–Seidel over full blocks.
//!
//! ```text
//! u = W r + b,  three numbers (n, t₁, t₂) per contact;  in turn each contact is solved exactly and u follows
//! ```
//!
//! For implicit schemes, where everything answers to everything. See [`super::contacts`] for the other kind.

use super::contacts::{Limits, Report};
use super::local;
use crate::math::{Mat3, Vec3};

/// Solves for forces `r` from where they are. `w` is column by column, `b` shifted as the law wants it; `u` is scratch.
pub fn solve(w: &[f64], b: &[f64], mu: &[f64], r: &mut [f64], u: &mut Vec<f64>, limits: &Limits) -> Report {
    let n = b.len();
    u.clear();
    u.extend_from_slice(b);
    let vector = |x: &[f64], i: usize| Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    let block = |i: usize| Mat3::from_fn(|p, q| w[(3 * i + q) * n + 3 * i + p]);
    let follow = |u: &mut [f64], i: usize, dr: &Vec3| {
        for q in 0..3 {
            if dr[q] != 0.0 {
                let column = &w[(3 * i + q) * n..(3 * i + q + 1) * n];
                u.iter_mut().zip(column).for_each(|(u, w)| *u += w * dr[q]);
            }
        }
    };
    for i in 0..mu.len() {
        let start = vector(r, i);
        follow(u, i, &start);
    }
    let mut report = Report { contacts: mu.len(), islands: 1, colours: mu.len(), ..Report::default() };
    for sweep in 1..=limits.sweeps {
        report.change = 0.0;
        for (i, &mu) in mu.iter().enumerate() {
            let (own, old) = (block(i), vector(r, i));
            let new = local::exact(&own, &(vector(u, i) - own * old), mu);
            let dr = new - old;
            if dr != Vec3::zeros() {
                follow(u, i, &dr);
                r[3 * i..3 * i + 3].copy_from_slice(new.as_slice());
                report.change = f64::max(report.change, own.trace() / 3.0 * dr.norm());
            }
        }
        report.sweeps = sweep;
        if report.change <= limits.tolerance * limits.scale {
            break;
        }
    }
    report.sweeps_mean = f64::from(report.sweeps);
    report.sweeps_island = report.sweeps_mean;
    report.unfinished = usize::from(report.change > limits.tolerance * limits.scale);
    let (mut off, mut size) = (0.0, 0.0);
    for (i, &mu) in mu.iter().enumerate() {
        let (u, r, scale) = (vector(u, i), vector(r, i), block(i).trace() / 3.0);
        if scale > 0.0 {
            off += scale * local::natural_map(&r, &u, mu, scale).powi(2);
            size += scale * r.norm_squared();
            report.bipotential += mu * r.x * u.y.hypot(u.z) + u.dot(&r);
        }
    }
    report.natural = if size > 0.0 { (off / size).sqrt() } else { 0.0 };
    report
}
