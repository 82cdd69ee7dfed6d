//! `free-bar`: axial vibration of a free elastic bar.
//!
//! A short pull at one end sets the bar going; then nothing acts on it. The exact natural frequencies of a bar that is
//! free at both ends are `f_n = n c / 2L`, `c = √(E/ρ)`; the centre of mass keeps the speed `J / m` of the pull.

use super::Origin::*;
use super::{Check, Outcome, Part, Published};
use std::f64::consts::PI;

pub(super) const CASE: Published = Published {
    name: "free-bar",
    method: "verlet",
    source: "Timoshenko, Vibration Problems in Engineering: longitudinal vibrations of a prismatic bar",
    parts: |quick| Part::only(deck(quick)),
    checks: |outcomes| checks(&outcomes[0]),
    figures: |_| Vec::new(),
};

/// Unit bar: L = E = ρ = A = 1, so c = 1 and f_n = n/2.
const PULL: f64 = 1e-3;
/// A triangular pull of this duration, L/4c: its spectrum reaches the first modes.
const DURATION: f64 = 0.25;

fn deck(quick: bool) -> String {
    let (cells, end) = if quick { (100, 40) } else { (400, 160) };
    let half = DURATION / 2.0;
    format!(
        r#"title  = "Free vibration of an elastic bar"
method = "verlet"
end    = {end}

[body.bar]
mesh     = {{ shape = "bar", length = 1.0, cells = {cells} }}
material = {{ law = "linear", young = 1.0, poisson = 0.0, density = 1.0 }}

[[load]]
body  = "bar"
set   = "xmax"
force = [{PULL}, 0, 0]
table = [[0, 0], [{half}, 1], [{DURATION}, 0]]

[step]
safety = 0.5

[probe.tip]
body  = "bar"
nodes = "xmax"

[probe.bar]
body = "bar"

[output]
history = {rows}
frames  = 0
"#,
        rows = end * 50
    )
}

fn checks(outcome: &Outcome) -> Vec<Check> {
    let (time, tip) = (outcome.column("time"), outcome.column("tip.vx"));
    // Once the pull is over; a window that fades in and out keeps the modes apart.
    let after = time.partition_point(|&t| t < DURATION);
    let (time, tip) = (&time[after.min(time.len() - 1)..], &tip[after.min(tip.len() - 1)..]);
    let mut checks: Vec<Check> = (1..=3)
        .map(|n| {
            let exact = n as f64 / 2.0;
            let name = format!("frequency {n} of the free bar, n c / 2L");
            Exact.within(name, frequency_near(time, tip, exact), exact, 1e-3 * exact)
        })
        .collect();
    // The triangle's area over the mass of the bar.
    let speed = 0.5 * PULL * DURATION;
    let last = outcome.column("bar.vx").last().copied().unwrap_or(f64::NAN);
    checks.push(Exact.within("speed of the centre of mass after the pull, J / m", last, speed, 1e-3 * speed));
    let error = outcome.ledger.error_max_rel();
    checks.push(Exact.at_most("largest energy error, relative", error, 0.01));
    let drift = outcome.balance.linear_drift_max;
    // a rounding a step
    let roundings = f64::EPSILON * outcome.summary.steps as f64;
    checks.push(Exact.at_most("largest drift of momentum, relative", drift, roundings));
    checks
}

/// Where the spectrum of a signal peaks near a frequency, by trisection of its amplitude under a Hann window.
fn frequency_near(time: &[f64], signal: &[f64], guess: f64) -> f64 {
    let (begin, end) = (time[0], time[time.len() - 1]);
    let amplitude = |f: f64| {
        let (mut re, mut im) = (0.0, 0.0);
        for (t, y) in time.iter().zip(signal) {
            let window = 0.5 - 0.5 * (2.0 * PI * (t - begin) / (end - begin)).cos();
            let (s, c) = (2.0 * PI * f * t).sin_cos();
            re += window * y * c;
            im += window * y * s;
        }
        re.hypot(im)
    };
    // The peak is two lines of the window wide.
    let width = 1.0 / (end - begin);
    let (mut low, mut high) = (guess - width, guess + width);
    while high - low > 1e-7 * guess {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if amplitude(a) < amplitude(b) {
            low = a;
        } else {
            high = b;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frequency_of_a_sum_of_sines_is_found_beside_its_neighbours() {
        let time: Vec<f64> = (0..4000).map(|i| i as f64 * 0.01).collect();
        let wave = |f: f64, t: f64| (2.0 * PI * f * t + 0.3).sin();
        let signal: Vec<f64> = time.iter().map(|&t| 0.1 + wave(0.5003, t) + 0.5 * wave(1.01, t)).collect();
        assert!((frequency_near(&time, &signal, 0.5) - 0.5003).abs() < 2e-5);
        assert!((frequency_near(&time, &signal, 1.0) - 1.01).abs() < 2e-5);
    }
}
