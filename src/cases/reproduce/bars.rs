//! Graded bars carried by `asynchronous` (Wolff & Bucher 2013).
//!
//! Two bars of length L = 10 (E = ρ = A = 1, so c = 1) meet at ±0.1. Their 5n×n×n and 5(n+1)×(n+1)×(n+1) hexes are small
//! where they touch, `x_i = (L/n)(i/5n) + (L − L/n)(i/5n)²`. In contact for 2L/c = 20 their tips rest; then they leave at
//! ∓0.1. What is left of the exact answer are waves in the bars, which a finer mesh makes smaller; bounds are those of a
//! prototype of the method with a margin.

use super::Origin::*;
use super::{Check, Outcome, Part, Published, largest};
use crate::look::chart::{Curve, Figure, Panel, Reference};
use crate::look::colour::HUES;
use crate::look::draw::Drawing;

const PAPER: &str = "Wolff & Bucher 2013, asynchronous collision integrators: two elastic bars";

/// The bars of size n, as `method` carries them; `more` is added at the end.
fn deck(n: u32, method: &str, rows: u32, more: &str) -> String {
    let m = n + 1;
    let (left, right) = (1.0 / f64::from(n), 1.0 / f64::from(m));
    format!(
        r#"title  = "Two graded bars, n = {n}"
method = "{method}"
end    = 50.0

[material.unit]
law     = "linear"
young   = 1.0
poisson = 0.0
density = 1.0

[body.left]
mesh     = {{ shape = "box", size = [10, 1, 1], cells = [{}, {n}, {n}], grading = [{{ slope = {left}, fine = "max" }}, 1, 1], at = [-10, 0, 0] }}
material = "unit"
velocity = [0.1, 0, 0]

[body.right]
mesh     = {{ shape = "box", size = [10, 1, 1], cells = [{}, {m}, {m}], grading = [{{ slope = {right}, fine = "min" }}, 1, 1] }}
material = "unit"
velocity = [-0.1, 0, 0]

[probe.tip]
body  = "left"
nodes = "xmax"

[probe.other]
body  = "right"
nodes = "xmin"

[probe.push]
between = ["left", "right"]

[output]
history = {rows}
frames  = 0

{more}"#,
        5 * n,
        5 * m
    )
}

fn exact(t: f64) -> f64 {
    if t <= 20.0 { 0.0 } else { -0.1 * (t - 20.0) }
}

/// Largest error of the displacement of both tips, and while they should rest.
fn tip_errors(o: &Outcome) -> (f64, f64) {
    let errors = |until: f64| {
        let of_tip = |name: &str, sign: f64| {
            let rows = o.column("time").into_iter().zip(o.column(name)).filter(|(t, _)| *t < until);
            largest(rows.map(|(t, u)| (u - sign * exact(t)).abs()))
        };
        largest([of_tip("tip.ux", 1.0), of_tip("other.ux", -1.0)])
    };
    (errors(f64::INFINITY), errors(19.5))
}

/// How far the total energy has been from that of the start, relative.
fn energy_error(o: &Outcome) -> f64 {
    largest(o.column("total").iter().map(|e| (e / o.ledger.initial - 1.0).abs()))
}

/// Kicks at (j + ½)h < T: ⌊T/h + ½⌋ for each potential; returns by how many the count is off.
pub(super) fn miscounted(o: &Outcome, end: f64) -> f64 {
    let closed: u64 = o.kicks.iter().map(|(h, count)| count * (end / h + 0.5).floor() as u64).sum();
    closed.abs_diff(o.summary.element_kicks) as f64
}

pub(super) const GRADED_BARS: Published = Published {
    name: "graded-bars",
    method: "asynchronous",
    source: PAPER,
    parts: |quick| {
        // contact checks in rhythm with kicks see velocities of the instant anyway
        let raw = "[asynchronous]\ncontact_velocity = \"raw\"\ncontact_step = { smallest = 0.732 }\n";
        let mut parts = vec![
            Part::new("n3", deck(3, "asynchronous", 500, "")),
            Part::new("n3-raw", deck(3, "asynchronous", 500, raw)),
        ];
        if !quick {
            parts.push(Part::new("n2", deck(2, "asynchronous", 500, "")));
            parts.push(Part::new("n4", deck(4, "asynchronous", 500, "")));
            let short = "[step]\nsafety = 0.25\n";
            parts.push(Part::new("n3-short", deck(3, "asynchronous", 500, short)));
        }
        parts
    },
    checks: |outcomes| {
        let mut checks = Vec::new();
        for o in outcomes {
            let name = &o.name;
            // energy, tip, tip while it should rest, overlap
            let [energy, tip, resting, depth] = match name.as_str() {
                "n2" => [0.01, 0.35, 0.05, 0.25],
                "n3" => [0.01, 0.28, 0.04, 0.20],
                "n3-short" => [0.005, 0.28, 0.04, 0.20],
                "n4" => [0.01, 0.25, 0.03, 0.15],
                // contacts that see the velocities as the last kicks left them
                _ => {
                    let more = energy_error(o) - energy_error(&outcomes[0]);
                    checks.push(Prototype.at_least(format!("{name}: energy error it has more"), more, 0.05));
                    continue;
                }
            };
            let (error, at_rest) = tip_errors(o);
            checks.extend([
                Prototype.at_most(format!("{name}: energy error, relative"), energy_error(o), energy),
                Prototype.at_most(format!("{name}: largest error of the tips' displacement"), error, tip),
                Prototype.at_most(
                    format!("{name}: displacement of the tips before t = 19.5"),
                    at_rest,
                    resting,
                ),
                Prototype.within(format!("{name}: end of contact"), o.last_push(), 20.6, 1.1),
                Exact.within(format!("{name}: impulse, 2 ρ c v A L/c"), o.last("push.jx"), -2.0, 0.1),
                Prototype.at_most(format!("{name}: deepest overlap"), o.ledger.penetration_max, depth),
                Exact.at_most(format!("{name}: drift of momentum"), o.balance.linear_drift_max, 1e-12),
                Exact.at_most(format!("{name}: kicks miscounted"), miscounted(o, 50.0), 0.0),
            ]);
        }
        checks
    },
    figures: |outcomes| {
        let o = &outcomes[0];
        let time = o.column("time");
        let exact = Reference {
            name: "exact".into(),
            from: String::new(),
            x: vec![0.0, 20.0, 50.0],
            y: vec![0.0, 0.0, -3.0],
            colour: HUES[0],
        };
        let figure = Figure {
            title: "Displacement of the tip".into(),
            caption: "left bar, mean of its end face; rings: exact".into(),
            along: "time".into(),
            time: &time,
            time_unit: String::new(),
            panels: vec![Panel {
                heading: "tip.ux".into(),
                curves: vec![curve("tip.ux", "", o.column("tip.ux"), 0)],
                references: vec![exact],
                height: 200.0,
                ..Panel::default()
            }],
            note: String::new(),
            ..Figure::default()
        };
        vec![("tip".into(), figure.draw()), ("velocities".into(), velocities(outcomes))]
    },
};

/// As the paper prints the scheme, with steps as short as it prints them: 0.0129 and 0.0264 are 0.139 of our smallest critical step and half of
/// 0.256 of the average one, which nodes look for contacts with. n = 4 is the paper's.
pub(super) const PRINTED_BARS: Published = Published {
    name: "graded-bars-printed",
    method: "asynchronous",
    source: PAPER,
    parts: |quick| {
        let printed = "[step]\nsafety = 0.139\n\n\
                       [asynchronous]\nmode = \"paper\"\ncontact_step = { average = 0.256, travel = 0.75 }\n";
        let sizes = if quick { [3].iter() } else { [4, 2, 3].iter() };
        sizes.map(|&n| Part::new(format!("n{n}"), deck(n, "asynchronous", 500, printed))).collect()
    },
    checks: |outcomes| {
        let of = |o: &Outcome| {
            let name = &o.name;
            let (error, at_rest) = tip_errors(o);
            // the paper: the energy is nearly preserved, with a very small drift. A prototype: 2.9, 3.4 and 0.6 %, by chance
            let energy = Prototype.at_most(format!("{name}: energy error, relative"), energy_error(o), 0.05);
            let [tip, resting] = match name.as_str() {
                "n2" => [0.35, 0.05],
                "n3" => [0.28, 0.04],
                _ => [0.25, 0.04],
            };
            [
                energy,
                Prototype.at_most(format!("{name}: largest error of the tips' displacement"), error, tip),
                Prototype.at_most(
                    format!("{name}: displacement of the tips before t = 19.5"),
                    at_rest,
                    resting,
                ),
                Exact.within(format!("{name}: impulse, 2 ρ c v A L/c"), o.last("push.jx"), -2.0, 0.1),
                Exact.at_most(format!("{name}: drift of momentum"), o.balance.linear_drift_max, 1e-12),
            ]
        };
        outcomes.iter().flat_map(of).collect()
    },
    figures: |outcomes| vec![("velocities".into(), velocities(outcomes))],
};

/// Velocities of the tips, as figure 8 of the paper, and what is left of their ringing over a second.
fn velocities(outcomes: &[Outcome]) -> Drawing {
    let o = &outcomes[0];
    let time = o.column("time");
    let exact = |sign: f64| Reference {
        name: "tip".into(),
        from: "exact".into(),
        x: vec![0.0, 20.0, 20.0, 50.0],
        y: vec![0.0, 0.0, -0.1 * sign, -0.1 * sign],
        colour: HUES[2],
    };
    let mean = |name: &str| {
        let u = o.column(name);
        let over = |i: usize| (i.saturating_sub(5), (i + 5).min(u.len() - 1));
        (0..u.len())
            .map(|i| (u[over(i).1] - u[over(i).0]) / (time[over(i).1] - time[over(i).0]))
            .collect::<Vec<f64>>()
    };
    let panel = |heading: &str, curves, references| Panel {
        heading: heading.into(),
        unit: "m/s".into(),
        curves,
        references,
        height: 150.0,
        ..Panel::default()
    };
    let both = |left: Vec<f64>, right: Vec<f64>| {
        vec![curve("left", "left", left, 0), curve("right", "right", right, 1)]
    };
    Figure {
        title: "Velocities of the tips".into(),
        caption: "mean of each end face".into(),
        along: "time".into(),
        time: &time,
        panels: vec![
            panel("velocity", both(o.column("tip.vx"), o.column("other.vx")), vec![exact(1.0), exact(-1.0)]),
            panel(
                "mean over one second",
                both(mean("tip.ux"), mean("other.ux")),
                vec![exact(1.0), exact(-1.0)],
            ),
        ],
        ..Figure::default()
    }
    .draw()
}

pub(super) fn curve(name: &str, label: &str, y: Vec<f64>, hue: usize) -> Curve {
    Curve::new(name, label, y, HUES[hue % HUES.len()])
}

/// Kicks of velocity Verlet over those with steps in classes, n = 1 … 8.
const SPARED: [f64; 8] = [1.06, 1.00, 1.16, 1.76, 1.80, 1.83, 1.85, 2.20];
/// As quick as wall times allow.
const QUICK_SIZES: usize = 3;

/// Contacts as the paper answers them, and checked once between kicks as `verlet` does. (At once and twice as often, as is usual, bars
/// of n = 8 take a fifth longer.)
const AS_OFTEN: &str = "[asynchronous]\ncontact_step = { local = 0.5 }\nresponse = \"sequential\"\n";

/// Times every size is run for each method; the shortest counts.
const TIMES: usize = 3;

pub(super) const COST_GROWTH: Published = Published {
    name: "cost-growth",
    method: "asynchronous",
    source: "Wolff & Bucher 2013, figure 10: time of the bars for n = 1 … 8, asynchronous and velocity Verlet, one thread",
    parts: |quick| {
        let sizes = if quick { QUICK_SIZES } else { SPARED.len() };
        let run = |n: u32, method: &str, threads: usize, again: usize| {
            let again = if again == 0 { String::new() } else { format!("-{}", again + 1) };
            let name = format!("{method}-{n}-{threads}{again}");
            Part { threads: Some(threads), ..Part::new(name, deck(n, method, 100, AS_OFTEN)) }
        };
        let all = |n: u32, threads: usize| {
            (0..TIMES).flat_map(move |again| METHODS.map(|m| run(n, m, threads, again)))
        };
        let mut parts: Vec<Part> = (1..=sizes as u32).flat_map(|n| all(n, 1)).collect();
        if !quick {
            parts.extend(all(8, 2));
        }
        parts
    },
    checks: growth_checks,
    figures: |outcomes| vec![("growth".into(), growth_figure(&sizes_of(outcomes)))],
};

const METHODS: [&str; 2] = ["asynchronous", "verlet"];

/// Runs of one size with as many threads: both methods in turns.
struct Size<'a>(&'a [Outcome]);

impl Size<'_> {
    fn first(&self) -> [&Outcome; 2] {
        [&self.0[0], &self.0[1]]
    }

    /// Shortest wall times of each method, of the whole loop and of contact [s].
    fn seconds(&self) -> [[f64; 2]; 2] {
        [0, 1].map(|which| {
            let runs = self.0.iter().skip(which).step_by(2);
            runs.fold([f64::INFINITY; 2], |least, o| {
                let phases = &o.summary.phase_seconds;
                [least[0].min(o.summary.loop_seconds), least[1].min(phases.search + phases.response)]
            })
        })
    }

    /// Time over that of verlet: whole loop, contact.
    fn ratios(&self) -> [f64; 2] {
        let [own, other] = self.seconds();
        [own[0] / other[0], own[1] / other[1]]
    }
}

fn sizes_of(outcomes: &[Outcome]) -> Vec<Size<'_>> {
    outcomes.chunks_exact(2 * TIMES).map(Size).collect()
}

fn growth_checks(outcomes: &[Outcome]) -> Vec<Check> {
    let mut checks = Vec::new();
    let sizes = sizes_of(outcomes);
    for (i, (size, spared)) in sizes.iter().zip(SPARED).enumerate() {
        let [own, other] = size.first().map(|o| o.summary.element_kicks as f64);
        checks.push(Prototype.within(
            format!("n = {}: kicks spared", i + 1),
            other / own,
            spared,
            0.01 * spared,
        ));
    }
    let off = outcomes.iter().map(|o| miscounted(o, 50.0)).sum();
    checks.push(Exact.at_most("kicks miscounted, all sizes", off, 0.0));
    let n = sizes.len().min(SPARED.len());
    let [own, other] = sizes[n - 1].first().map(|o| tip_errors(o).0);
    let tips = Own.at_most(format!("n = {n}: tip error over that of verlet"), own / other, 1.2);
    checks.push(
        tips.moved(
            "1.1 as long as both answered one contact after the other; verlet answers them at once now",
        ),
    );
    if outcomes[0].quick {
        return checks;
    }
    let ratios: Vec<[f64; 2]> = sizes.iter().map(Size::ratios).collect();
    let behind = largest(ratios[3..8].iter().map(|r| r[0]));
    checks.push(Paper.at_most("time over that of verlet, the worst from n = 4 on", behind, 1.0));
    checks.push(Own.at_most("n = 8: time over that of verlet", ratios[7][0], 0.6));
    checks.push(Paper.at_most("n = 8: time of contact over that of verlet", ratios[7][1], 1.0));
    checks.push(Own.at_most("n = 8, two threads: time over that of verlet", ratios[8][0], 1.0));
    checks.push(Paper.at_most("n = 8: ratio of times over that at n = 3", ratios[7][0] / ratios[2][0], 1.0));
    // exponents of growth, by least squares over the sizes whose times are more than noise
    let slope = |which: usize| {
        let points: Vec<(f64, f64)> =
            (3..=8).map(|n| ((n as f64).ln(), sizes[n - 1].seconds()[which][0].ln())).collect();
        let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        both / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
    };
    let slower = slope(0) - slope(1);
    checks.push(Paper.at_most("exponent of growth, less that of verlet", slower, 0.0));
    checks
}

fn growth_figure(sizes: &[Size]) -> Drawing {
    let sizes = &sizes[..sizes.len().min(SPARED.len())];
    let along: Vec<f64> = (1..=sizes.len()).map(|n| n as f64).collect();
    let panel = |heading: &str, what: usize| {
        let y = |which: usize| sizes.iter().map(|size| size.seconds()[which][what]).collect();
        Panel {
            heading: heading.into(),
            unit: "s".into(),
            curves: vec![curve("asynchronous", "asynchronous", y(0), 0), curve("verlet", "verlet", y(1), 1)],
            height: 150.0,
            logarithmic: true,
            ..Panel::default()
        }
    };
    let figure = Figure {
        title: "Wall time of two graded bars".into(),
        caption: "5n×n×n and 5(n+1)×(n+1)×(n+1) hexahedra to t = 50".into(),
        along: "n".into(),
        time: &along,
        time_unit: String::new(),
        panels: vec![panel("whole run", 0), panel("contact", 1)],
        note: format!("One thread, as in the paper; the shortest of {TIMES} runs, both methods in turns."),
        ..Figure::default()
    };
    figure.draw()
}

/// A pull at one end sets a graded bar going; then it rings for a hundred round trips of its waves.
fn ringing(end: u32, more: &str) -> String {
    format!(
        r#"title  = "Ringing of a graded bar"
method = "asynchronous"
end    = {end}

[body.bar]
mesh     = {{ shape = "bar", length = 10.0, cells = 30, grading = {{ slope = 0.16666666666666666 }} }}
material = {{ law = "linear", young = 1.0, poisson = 0.0, density = 1.0 }}

[[load]]
body  = "bar"
set   = "xmax"
force = [0.01, 0, 0]
table = [[0, 0], [2, 1], [4, 0]]

[output]
history = {end}
frames  = 0

{more}"#
    )
}

pub(super) const RINGING_BAR: Published = Published {
    name: "ringing-bar",
    method: "asynchronous",
    source: "steps in classes against steps of any length: drift of the energy of a free graded bar",
    parts: |quick| {
        let end = if quick { 500 } else { 2000 };
        let free = "[step]\nsafety = 0.5\n[asynchronous]\nsteps = \"free\"\n";
        vec![
            Part::new("classes", ringing(end, "")),
            Part::new("classes-long", ringing(end, "[step]\nsafety = 0.9\n")),
            Part::new("free", ringing(end, free)),
        ]
    },
    checks: |o| {
        let drifts: Vec<f64> = o.iter().map(drift).collect();
        let momentum = largest(o.iter().map(|o| o.balance.linear_drift_max));
        vec![
            Prototype.at_most("drift of the energy, classes at half the critical step", drifts[0], 1e-3),
            Prototype.at_most("drift of the energy, classes at 0.9 of it", drifts[1], 1e-3),
            Prototype.at_least("drift with free steps over that with classes", drifts[2] / drifts[0], 10.0),
            Exact.at_most("largest energy error in classes, relative", o[0].ledger.error_max_rel(), 0.02),
            Exact.at_most("kicks miscounted", o.iter().map(|o| miscounted(o, o.last("time"))).sum(), 0.0),
            Exact.at_most("drift of momentum", momentum, 1e-12),
        ]
    },
    figures: |outcomes| {
        let time = outcomes[0].column("time");
        let panel = |heading: &str, which: &[usize]| Panel {
            heading: heading.into(),
            curves: which
                .iter()
                .map(|&k| curve(&outcomes[k].name, &outcomes[k].name, outcomes[k].column("total"), k))
                .collect(),
            height: 150.0,
            ..Panel::default()
        };
        let figure = Figure {
            title: "Energy of a ringing bar".into(),
            caption: "steps that are powers of two of the smallest, and steps of any length".into(),
            along: "time".into(),
            time: &time,
            time_unit: String::new(),
            panels: vec![panel("total energy in classes", &[0, 1]), panel("free steps", &[2])],
            note: String::new(),
            ..Figure::default()
        };
        vec![("energies".into(), figure.draw())]
    },
};

/// How far the mean energy over the last hundred seconds is from that over the first hundred after the pull, relative.
fn drift(o: &Outcome) -> f64 {
    let (time, total) = (o.column("time"), o.column("total"));
    let end = o.last("time");
    let mean = |from: f64, to: f64| {
        let some = time.iter().zip(&total).filter(|(t, _)| (from..=to).contains(*t));
        let (sum, count) = some.fold((0.0, 0.0), |(s, n), (_, e)| (s + e, n + 1.0));
        sum / count
    };
    let first = mean(5.0, 105.0);
    (mean(end - 100.0, end) / first - 1.0).abs()
}
