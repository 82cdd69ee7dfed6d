//! Contacts whose operator is known entry by entry: Gauss–Seidel over full blocks, then Newton's method.
//!
//! ```text
//! u = W r + b,  three numbers (n, t₁, t₂) per contact
//! sweep    in turn each contact is solved exactly and u follows
//! Newton   p = r − u/w     p_n ≤ 0: r = 0;  else u_n = 0, and u_t = 0 while |p_t| ≤ μ p_n, r_t = μ p_n p_t/|p_t| beyond
//! ```
//!
//! Sweeps are safe and find out who touches; where everything answers to everything they come near slowly. Newton's method
//! (Alart & Curnier 1991) ends what they have begun, if it brings the contacts nearer to the law; else sweeps go on. W may be
//! singular, contacts that say the same twice: a trace of the identity is added to what Newton's method solves, not to what
//! it is judged by.
//!
//! For implicit schemes. See [`super::contacts`] for contacts that meet at nodes only.

use super::contacts::{Limits, Report};
use super::local;
use crate::math::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use std::sync::atomic::{AtomicBool, Ordering};

/// Sweeps before Newton's method is tried, and contacts up to which it is: its matrix is full.
const SWEEPS: u32 = 30;
const MANY: usize = 300;
/// Iterations of Newton's method, and the share of the diagonal that keeps it regular.
const ITERATIONS: usize = 20;
const REGULAR: f64 = 1e-10;

/// The contacts, and how far they are.
struct Contacts<'a> {
    w: &'a [f64],
    b: &'a [f64],
    mu: &'a [f64],
    n: usize,
}

fn vector(x: &[f64], i: usize) -> Vec3 {
    Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2])
}

impl Contacts<'_> {
    fn block(&self, i: usize) -> Mat3 {
        Mat3::from_fn(|p, q| self.w[(3 * i + q) * self.n + 3 * i + p])
    }

    /// Mean of the diagonal of a contact's own block.
    fn own(&self, i: usize) -> f64 {
        (0..3).map(|p| self.w[(3 * i + p) * (self.n + 1)]).sum::<f64>() / 3.0
    }

    /// `u += W dr` of one contact.
    fn follow(&self, u: &mut [f64], i: usize, dr: &Vec3) {
        for q in 0..3 {
            if dr[q] != 0.0 {
                let column = &self.w[(3 * i + q) * self.n..(3 * i + q + 1) * self.n];
                u.iter_mut().zip(column).for_each(|(u, w)| *u += w * dr[q]);
            }
        }
    }

    fn velocities(&self, r: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend_from_slice(self.b);
        (0..self.mu.len()).for_each(|i| self.follow(u, i, &vector(r, i)));
    }

    /// One sweep; the largest change of a velocity it made.
    fn sweep(&self, r: &mut [f64], u: &mut [f64]) -> f64 {
        let mut change: f64 = 0.0;
        for (i, &mu) in self.mu.iter().enumerate() {
            let (own, old) = (self.block(i), vector(r, i));
            let new = local::exact(&own, &(vector(u, i) - own * old), mu);
            let dr = new - old;
            if dr != Vec3::zeros() {
                self.follow(u, i, &dr);
                r[3 * i..3 * i + 3].copy_from_slice(new.as_slice());
                change = change.max(own.trace() / 3.0 * dr.norm());
            }
        }
        change
    }

    /// Largest distance from the law, as a velocity.
    fn distance(&self, r: &[f64], u: &[f64]) -> f64 {
        let one = |i: usize| {
            let w = self.own(i);
            if w > 0.0 { w * local::natural_map(&vector(r, i), &vector(u, i), self.mu[i], w) } else { 0.0 }
        };
        (0..self.mu.len()).map(one).fold(0.0, f64::max)
    }

    /// The step of Newton's method from `r` with velocities `u`.
    fn newton_step(&self, r: &[f64], u: &[f64]) -> Option<DVector<f64>> {
        let n = self.n;
        let mut a = DMatrix::zeros(n, n);
        let mut rhs = DVector::zeros(n);
        for (i, &mu) in self.mu.iter().enumerate() {
            let w = self.own(i);
            let (own, us) = (vector(r, i), vector(u, i));
            let p = own - us / w;
            let row = |k: usize| 3 * i + k;
            if !(w > 0.0 && p.x > 0.0) {
                for k in 0..3 {
                    a[(row(k), row(k))] = 1.0;
                    rhs[row(k)] = -own[k];
                }
                continue;
            }
            // rows of W, in units of force
            for j in 0..n {
                a[(row(0), j)] = self.w[j * n + row(0)] / w;
            }
            a[(row(0), row(0))] += REGULAR;
            rhs[row(0)] = -us.x / w;
            let slip = p.y.hypot(p.z);
            if slip <= mu * p.x {
                for k in 1..3 {
                    for j in 0..n {
                        a[(row(k), j)] = self.w[j * n + row(k)] / w;
                    }
                    a[(row(k), row(k))] += REGULAR;
                    rhs[row(k)] = -us[k] / w;
                }
                continue;
            }
            // r_t − μ p_n e, e = p_t/|p_t|
            let e = [p.y / slip, p.z / slip];
            let bend = mu * p.x / slip;
            for k in 0..2 {
                for j in 0..n {
                    let dp = |c: usize| f64::from(u8::from(j == row(c))) - self.w[j * n + row(c)] / w;
                    let dt = [dp(1), dp(2)];
                    let along = e[0] * dt[0] + e[1] * dt[1];
                    let dr = f64::from(u8::from(j == row(k + 1)));
                    a[(row(k + 1), j)] = dr - mu * e[k] * dp(0) - bend * (dt[k] - along * e[k]);
                }
                rhs[row(k + 1)] = -(own[k + 1] - mu * p.x * e[k]);
            }
        }
        a.lu().solve(&rhs)
    }

    /// Newton's method from `r`; whether it came near enough. If not, `r` and `u` are as they were.
    fn newton(&self, r: &mut [f64], u: &mut [f64], enough: f64, stop: &AtomicBool) -> bool {
        let (mut at, mut there) = (r.to_vec(), u.to_vec());
        for _ in 0..ITERATIONS {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some(step) = self.newton_step(&at, &there) else { return false };
            at.iter_mut().zip(step.iter()).for_each(|(r, d)| *r += d);
            self.velocities(&at, &mut there);
            let distance = self.distance(&at, &there);
            if !distance.is_finite() {
                return false;
            }
            if distance <= enough {
                r.copy_from_slice(&at);
                u.copy_from_slice(&there);
                // on the law to the last bit: nothing pulls, nothing leaves its cone
                self.sweep(r, u);
                return true;
            }
        }
        false
    }
}

/// Solves for forces `r` from where they are. `w` is column by column, `b` shifted as the law wants it; `u` is scratch. A
/// stop leaves the contacts as they are.
pub(crate) fn solve(
    w: &[f64],
    b: &[f64],
    mu: &[f64],
    r: &mut [f64],
    u: &mut Vec<f64>,
    limits: &Limits,
    stop: &AtomicBool,
) -> Report {
    let contacts = Contacts { w, b, mu, n: b.len() };
    let enough = limits.tolerance * limits.scale;
    contacts.velocities(r, u);
    let mut report = Report { contacts: mu.len(), islands: 1, colours: mu.len(), ..Report::default() };
    for sweep in 1..=limits.sweeps {
        report.change = contacts.sweep(r, u);
        report.sweeps = sweep;
        if report.change <= enough || stop.load(Ordering::Relaxed) {
            break;
        }
        let try_newton = mu.len() <= MANY && sweep % SWEEPS == 0 && (sweep / SWEEPS).is_power_of_two();
        if try_newton && contacts.newton(r, u, enough, stop) {
            report.change = 0.0;
            break;
        }
    }
    report.sweeps_mean = f64::from(report.sweeps);
    report.sweeps_island = report.sweeps_mean;
    report.unfinished = usize::from(report.change > enough);
    let (mut off, mut size) = (0.0, 0.0);
    for (i, &mu) in mu.iter().enumerate() {
        let (u, r, scale) = (vector(u, i), vector(r, i), contacts.own(i));
        if scale > 0.0 {
            off += scale * local::natural_map(&r, &u, mu, scale).powi(2);
            size += scale * r.norm_squared();
            report.bipotential += mu * r.x * u.y.hypot(u.z) + u.dot(&r);
        }
    }
    report.natural_map_residual = if size > 0.0 { (off / size).sqrt() } else { 0.0 };
    report
}
