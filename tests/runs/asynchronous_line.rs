//! Two graded bars on a line by a second program (`asynchronous`): a list of events, sorted, and nothing else.
//!
//! Every element is two nodes and a spring, every tip looks whether it is in the other bar. The method must do the same
//! from the first event to the last, with every switch. Where published figures follow another rule than the method does,
//! this program can follow it too, and shows which:
//!
//! | figure | rule |
//! |---|---|
//! | 38 % of the energy lost | contacts answered after the whole drift, with the velocity of its middle |
//! | the bars overlap by 0.5 | nodes look as rarely as the average element allows, and all elements are targets |
//! | 10 % gained as printed at 0.139 of the critical step | times of contact checks are added up, so that round-off decides who comes first at ties |

use crate::asynchronous_bars::bars;
use crate::common::Run;
use carom::math::Vec3;
use carom::method::Method;
use carom::method::asynchronous::{
    Asynchronous, ContactStep, ContactVelocity, Options, Phase, Response, Steps,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const END: f64 = 50.0;
const SPEED: f64 = 0.1;
/// ½ Σ m v², and of both bars: 2 · ½ · 10 · 0.01.
const ENERGY: f64 = 0.1;

/// How time is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    /// In whole ticks.
    Ticks,
    /// Kicks at (j + φ)h, contact checks at the sum of all steps before: equal times differ by round-off.
    AddedUp,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    n: u32,
    safety: f64,
    steps: Steps,
    phase: Phase,
    synchronised: bool,
    /// Time between contact checks, as a share of the smallest step.
    look: f64,
    /// Share of its own length a tip may go between contact checks.
    travel: Option<f64>,
    count: Count,
    /// A tip may be in any element; else in the last one only, and it must be seen before it is half through.
    anywhere: bool,
    restitution: f64,
    /// Who overlaps by more than it has come since its last look parts so fast that a fifth of that is gone at the next one,
    /// as far as that is a thousandth of its own length. As published nobody does.
    lift: bool,
}

fn usual() -> Rules {
    Rules {
        n: 8,
        safety: 0.5,
        steps: Steps::Classes,
        phase: Phase::Centred,
        synchronised: true,
        look: 1.0,
        travel: None,
        count: Count::Ticks,
        anywhere: false,
        restitution: 1.0,
        lift: false,
    }
}

/// As printed.
fn literal(safety: f64) -> Rules {
    Rules { safety, steps: Steps::Free, phase: Phase::Paper, synchronised: false, ..usual() }
}

/// Nodes of the left bar from its tip, then those of the right one from its tip.
struct Line {
    reference: Vec<f64>,
    x: Vec<f64>,
    v: Vec<f64>,
    mass: Vec<f64>,
    /// Nodes from left to right, and the length.
    elements: Vec<([usize; 2], f64)>,
    /// The first node of the right bar, and its first element.
    second: (usize, usize),
}

impl Line {
    fn new(n: u32) -> Line {
        let spread = |n: u32| {
            let (n, cells) = (f64::from(n), 5 * n);
            let part = move |i: u32| f64::from(i) / f64::from(cells);
            (0..=cells).map(move |i| (10.0 / n) * part(i) + (10.0 - 10.0 / n) * part(i).powi(2))
        };
        let mut reference: Vec<f64> = spread(n).map(|x| -x).collect();
        let second = reference.len();
        reference.extend(spread(n + 1));
        let left = (1..second).map(|i| [i, i - 1]);
        let right = (second + 1..reference.len()).map(|i| [i - 1, i]);
        let length = |[a, b]: [usize; 2]| ([a, b], reference[b] - reference[a]);
        let elements: Vec<_> = left.chain(right).map(length).collect();
        let mut mass = vec![0.0; reference.len()];
        for &([a, b], l) in &elements {
            mass[a] += 0.5 * l;
            mass[b] += 0.5 * l;
        }
        let v = (0..reference.len()).map(|i| if i < second { SPEED } else { -SPEED }).collect();
        Line { x: reference.clone(), reference, v, mass, elements, second: (second, second - 1) }
    }

    fn tips(&self) -> [usize; 2] {
        [0, self.second.0]
    }

    fn strain(&self, e: usize, x: impl Fn(usize) -> f64) -> f64 {
        let ([a, b], l) = self.elements[e];
        (x(b) - x(a)) / l - 1.0
    }

    /// Brings nodes to the time `t`; `tau` is where they are.
    fn drift(&mut self, nodes: &[usize], t: f64, tick: f64, tau: &mut [f64]) {
        for &k in nodes {
            self.x[k] += (t - tau[k]) * tick * self.v[k];
            tau[k] = t;
        }
    }

    /// Elements a tip may be in.
    fn targets(&self, tip: usize, anywhere: bool) -> std::ops::Range<usize> {
        let first = self.second.1;
        match (tip == 0, anywhere) {
            (true, true) => first..self.elements.len(),
            (true, false) => first..first + 1,
            (false, true) => 0..first,
            (false, false) => 0..1,
        }
    }

    /// Bounces a tip off the point `s` of element `e`, all at their velocities `v` of this instant; tells if it did. `parting`
    /// is how fast it leaves where it came at a speed.
    fn bounce(
        &mut self,
        tip: usize,
        e: usize,
        s: f64,
        parting: impl Fn(f64) -> f64,
        v: impl Fn(usize) -> f64,
    ) -> bool {
        let [a, b] = self.elements[e].0;
        let towards = if tip == 0 { 1.0 } else { -1.0 };
        let closing = towards * (v(tip) - (1.0 - s) * v(a) - s * v(b));
        if closing <= 0.0 {
            return false;
        }
        let weights = [(tip, 1.0), (a, s - 1.0), (b, -s)];
        let inverse: f64 = weights.iter().map(|&(k, w)| w * w / self.mass[k]).sum();
        for (k, w) in weights {
            self.v[k] -= towards * (closing + parting(closing)) / inverse * w / self.mass[k];
        }
        true
    }
}

/// What came out of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    tip: f64,
    last: f64,
    energy: f64,
    /// Mean velocity of the left bar after t = 25.
    after: f64,
    penetration: f64,
}

/// Displacements of both tips and the energy at each look.
type Path = Vec<[f64; 3]>;

impl Seen {
    fn look(&mut self, line: &Line, time: f64, x: &[f64], energy: f64, at_25: &mut (f64, f64)) -> [f64; 3] {
        let exact = if time <= 20.0 { 0.0 } else { -SPEED * (time - 20.0) };
        let [l, r] = line.tips().map(|k| x[k] - line.reference[k]);
        self.tip = self.tip.max((l - exact).abs()).max((r + exact).abs());
        self.energy = self.energy.max((energy / ENERGY - 1.0).abs());
        let left = 0..line.second.0;
        let centre = left.map(|i| line.mass[i] * x[i]).sum::<f64>() / 10.0;
        if time <= 25.0 {
            *at_25 = (time, centre);
        } else {
            self.after = (centre - at_25.1) / (time - at_25.0);
        }
        [l, r, energy]
    }
}

/// When, what (kicks before contact checks), who. Times are never negative, so their bits stand in their order.
type Event = Reverse<(u64, u8, usize)>;

fn run(rules: Rules, looks: u32) -> Seen {
    followed(rules, looks).0
}

/// Two bars on their way, event by event.
struct Machine {
    rules: Rules,
    line: Line,
    /// Times are whole ticks, of this length [s]; else seconds.
    whole: bool,
    tick: f64,
    /// Of each element: step, kicks so far, time of the next one, all in ticks.
    step: Vec<f64>,
    kicks: Vec<u32>,
    next: Vec<f64>,
    phase: f64,
    /// Longest time between contact checks [ticks].
    longest: f64,
    tau: Vec<f64>,
    /// Of each tip: inside at the last contact check, when that was, and where it was then.
    known: [bool; 2],
    checked: [f64; 2],
    checked_from: [f64; 2],
    queue: BinaryHeap<Event>,
    /// Elements at each node, and on which side of it.
    of_node: Vec<Vec<(usize, f64)>>,
    seen: Seen,
}

impl Machine {
    fn new(rules: Rules) -> Machine {
        let line = Line::new(rules.n);
        let critical: Vec<f64> = line.elements.iter().map(|e| e.1).collect();
        let least = critical.iter().copied().fold(f64::INFINITY, f64::min);
        let h0 = rules.safety * least;
        let per_step = if rules.steps == Steps::Free { (1u64 << 20) as f64 } else { 1024.0 };
        // one unit of time is a tick, or a second
        let whole = rules.count == Count::Ticks;
        let tick = if whole { h0 / per_step } else { 1.0 };
        let units = |t: f64| if whole { (t / tick * (1.0 + 1e-9)).floor() } else { t };
        let step: Vec<f64> = (critical.iter())
            .map(|c| match rules.steps {
                Steps::Classes => units(h0) * (c / least * (1.0 + 1e-9)).log2().floor().exp2(),
                Steps::Free => units(rules.safety * c),
                Steps::Synchronous => units(h0),
            })
            .collect();
        let phase = if rules.phase == Phase::Centred { 0.5 } else { 0.0 };
        let longest = units(rules.look * h0);
        let next: Vec<f64> = step.iter().map(|h| phase * h).collect();
        let mut queue: BinaryHeap<Event> =
            next.iter().enumerate().map(|(e, t)| Reverse((t.to_bits(), 0, e))).collect();
        queue.extend([0, 1].map(|side| Reverse((0, 1, side))));
        let mut of_node = vec![Vec::new(); line.x.len()];
        for (e, ([a, b], _)) in line.elements.iter().enumerate() {
            of_node[*a].push((e, 1.0));
            of_node[*b].push((e, -1.0));
        }
        Machine {
            rules,
            whole,
            tick,
            kicks: vec![0; step.len()],
            step,
            next,
            phase,
            longest,
            tau: vec![0.0; line.x.len()],
            known: [false; 2],
            checked: [-longest; 2],
            checked_from: line.tips().map(|k| line.x[k] - longest * tick * line.v[k]),
            queue,
            of_node,
            seen: Seen::default(),
            line,
        }
    }

    /// Where a node is at time `t`.
    fn x(&self, k: usize, t: f64) -> f64 {
        self.line.x[k] + (t - self.tau[k]) * self.tick * self.line.v[k]
    }

    /// How much longer than until `t` the kicks of an element so far stand for [s].
    fn excess(&self, e: usize, t: f64) -> f64 {
        (self.next[e] - self.phase * self.step[e] - t) * self.tick
    }

    /// Positions and energy of one instant.
    fn at(&self, now: f64) -> (Vec<f64>, f64) {
        let line = &self.line;
        let x: Vec<f64> = (0..line.x.len()).map(|k| self.x(k, now)).collect();
        let (mut v, mut energy) = (line.v.clone(), 0.0);
        for (e, ([a, b], l)) in line.elements.iter().enumerate() {
            let strain = line.strain(e, |k| x[k]);
            let excess = self.excess(e, now);
            v[*a] -= excess * strain / line.mass[*a];
            v[*b] += excess * strain / line.mass[*b];
            energy += 0.5 * l * strain * strain;
        }
        energy += v.iter().zip(&line.mass).map(|(v, m)| 0.5 * m * v * v).sum::<f64>();
        (x, energy)
    }

    fn kick(&mut self, id: usize, t: f64) {
        let nodes = self.line.elements[id].0;
        self.line.drift(&nodes, t, self.tick, &mut self.tau);
        let line = &mut self.line;
        let pull = self.step[id] * self.tick * line.strain(id, |k| line.x[k]);
        line.v[nodes[0]] += pull / line.mass[nodes[0]];
        line.v[nodes[1]] -= pull / line.mass[nodes[1]];
        self.kicks[id] += 1;
        let next = if self.whole {
            t + self.step[id]
        } else {
            (f64::from(self.kicks[id]) + self.phase) * self.step[id]
        };
        self.next[id] = next;
        self.queue.push(Reverse((next.to_bits(), 0, id)));
    }

    /// A tip is checked for contact, and answered.
    fn check(&mut self, id: usize, t: f64) {
        let (rules, tip, tick) = (self.rules, self.line.tips()[id], self.tick);
        let before = self.line.v[tip].abs();
        let mut inside = false;
        for e in self.line.targets(tip, rules.anywhere) {
            inside |= self.meet(id, e, t);
        }
        self.checked_from[id] = self.x(tip, t);
        (self.known[id], self.checked[id]) = (inside, t);
        let mut wait = self.longest;
        if let Some(share) = rules.travel {
            let speed = before.max(self.line.v[tip].abs());
            if speed > 0.0 {
                let reach = share * self.line.mass[tip] / speed;
                wait = wait.min(if self.whole { (reach / tick).floor().max(1.0) } else { reach });
            }
        }
        self.queue.push(Reverse(((t + wait).to_bits(), 1, id)));
    }

    /// Whether a tip is in element `e`; if it goes deeper, it bounces.
    fn meet(&mut self, id: usize, e: usize, t: f64) -> bool {
        let (rules, tick, [tip, other]) = (self.rules, self.tick, [id, 1 - id].map(|i| self.line.tips()[i]));
        let ([a, b], length) = self.line.elements[e];
        let x = |k: usize| self.x(k, t);
        let s = (x(tip) - x(a)) / (x(b) - x(a));
        let depth = (x(tip) - x(other)).abs();
        // who is fast is known by where it was
        let came = |k: usize| x(tip) - self.checked_from[id] - (t - self.checked[id]) * tick * self.line.v[k];
        let fast = rules.lift && came(a).abs() > 0.5 * length;
        let entered = fast && (x(tip) - came(other) - x(other)) * (x(tip) - x(other)) <= 0.0;
        let late = !rules.anywhere && !self.known[id] && !entered && depth > 0.5 * (x(b) - x(a));
        if !(0.0..=1.0).contains(&s) || late {
            return false;
        }
        let velocity = |k: usize| {
            let back = |&(e, sign): &(usize, f64)| -sign * self.excess(e, t) * self.line.strain(e, x);
            let back: f64 =
                if rules.synchronised { self.of_node[k].iter().map(back).sum::<f64>() } else { 0.0 };
            self.line.v[k] + back / self.line.mass[k]
        };
        let v = [tip, a, b].map(|k| (k, velocity(k)));
        self.seen.penetration = self.seen.penetration.max(depth);
        let of = |k: usize| v.iter().find(|p| p.0 == k).unwrap().1;
        let closes = if tip == 0 { 1.0 } else { -1.0 } * (of(tip) - (1.0 - s) * of(a) - s * of(b)) > 0.0;
        if closes {
            self.line.drift(&[tip, a, b], t, tick, &mut self.tau);
            let (seconds, size) = ((t - self.checked[id]) * tick, self.line.mass[tip]);
            let parting = |closing: f64| {
                let lift = 0.2 * (depth / seconds - closing);
                let lift = if rules.lift { lift.min(f64::max(1e-3 * size / seconds, closing)) } else { 0.0 };
                f64::max(rules.restitution * closing, lift)
            };
            self.line.bounce(tip, e, s, parting, of);
            self.seen.last = t * tick;
        }
        true
    }
}

fn followed(rules: Rules, looks: u32) -> (Seen, Path) {
    let mut machine = Machine::new(rules);
    let (whole, tick) = (machine.whole, machine.tick);
    let ends = |t: f64| if whole { (t / tick - 1e-6).ceil() } else { t };
    let mut due = (1..=looks).map(|k| ends(END * f64::from(k) / f64::from(looks))).peekable();
    let (mut path, mut at_25) = (Path::new(), (0.0, 0.0));
    while let Some(Reverse((bits, kind, id))) = machine.queue.pop() {
        let t = f64::from_bits(bits);
        while let Some(now) = due.next_if(|d| *d <= t) {
            let (x, energy) = machine.at(now);
            path.push(machine.seen.look(&machine.line, now * tick, &x, energy, &mut at_25));
        }
        if due.peek().is_none() {
            break;
        }
        if kind == 0 { machine.kick(id, t) } else { machine.check(id, t) }
    }
    (machine.seen, path)
}

/// Velocity Verlet; contacts are answered half way through the drift, or after it with the same velocities.
fn verlet(n: u32, half_way: bool) -> Seen {
    let mut line = Line::new(n);
    let h = 0.5 * line.elements.iter().map(|e| e.1).fold(f64::INFINITY, f64::min);
    let (mut seen, mut at_25) = (Seen::default(), (0.0, 0.0));
    let half_kick = |line: &mut Line| {
        for e in 0..line.elements.len() {
            let ([a, b], pull) = (line.elements[e].0, 0.5 * h * line.strain(e, |k| line.x[k]));
            line.v[a] += pull / line.mass[a];
            line.v[b] -= pull / line.mass[b];
        }
    };
    let mut step = 0;
    while f64::from(step) * h < END {
        half_kick(&mut line);
        let parts: &[f64] = if half_way { &[0.5, 0.5] } else { &[1.0] };
        for (i, part) in parts.iter().enumerate() {
            (0..line.x.len()).for_each(|k| line.x[k] += part * h * line.v[k]);
            if i > 0 {
                continue;
            }
            for tip in line.tips() {
                for e in line.targets(tip, true) {
                    let ([a, b], _) = line.elements[e];
                    let s = (line.x[tip] - line.x[a]) / (line.x[b] - line.x[a]);
                    if (0.0..=1.0).contains(&s) {
                        let [l, r] = line.tips();
                        seen.penetration = seen.penetration.max(line.x[l] - line.x[r]);
                        let v = line.v.clone();
                        if line.bounce(tip, e, s, |closing| closing, |k| v[k]) {
                            seen.last = (f64::from(step) + part) * h;
                        }
                    }
                }
            }
        }
        half_kick(&mut line);
        step += 1;
        let strains = (0..line.elements.len())
            .map(|e| 0.5 * line.elements[e].1 * line.strain(e, |k| line.x[k]).powi(2));
        let energy =
            strains.sum::<f64>() + line.v.iter().zip(&line.mass).map(|(v, m)| 0.5 * m * v * v).sum::<f64>();
        let x = line.x.clone();
        seen.look(&line, f64::from(step) * h, &x, energy, &mut at_25);
    }
    seen
}

/// Within 30 %: these runs are chaotic in detail.
fn near(found: f64, figure: f64) -> bool {
    (found / figure - 1.0).abs() <= 0.3
}

/// The method's own run, looked at as often.
fn own(rules: Rules, looks: u32) -> Path {
    let model = bars(rules.n, false);
    let contact_velocity =
        if rules.synchronised { ContactVelocity::Synchronised } else { ContactVelocity::Raw };
    let options = Options {
        safety: rules.safety,
        steps: rules.steps,
        phase: rules.phase,
        contact_velocity,
        contact_step: ContactStep::Smallest(rules.look),
        response: Response::Sequential,
        ..Options::default()
    };
    let method = Asynchronous::new(&model, options);
    let speed = |b: usize, _: &Vec3| if b == 0 { SPEED * Vec3::x() } else { -SPEED * Vec3::x() };
    let mut run = Run::with(model, method, speed);
    let tips = [(0, "xmax"), (1, "xmin")].map(|(b, set)| run.model.bodies[b].node_set(set).unwrap()[0]);
    let mut copy = run.state.clone();
    (1..=looks)
        .map(|k| {
            run.until(END * f64::from(k) / f64::from(looks)).unwrap();
            run.method.synchronise(&run.model, &run.state, &mut copy);
            let [l, r] = tips.map(|n| copy.x[n as usize].x - run.model.reference[n as usize].x);
            [l, r, run.ledger.total()]
        })
        .collect()
}

/// From the first event to the last, with every switch. Round-off grows where contacts gain energy.
#[test]
fn a_list_of_events_on_a_line_does_the_same() {
    for (rules, round_off) in [
        (usual(), 1e-11),
        (Rules { n: 5, safety: 0.25, ..usual() }, 1e-11),
        (Rules { look: 0.732, ..usual() }, 1e-11),
        (Rules { look: 0.732, synchronised: false, ..usual() }, 1e-9),
        (Rules { steps: Steps::Free, ..usual() }, 1e-6),
        (Rules { steps: Steps::Synchronous, look: 0.6, ..usual() }, 1e-9),
        (literal(0.139), 1e-6),
        (literal(0.35), 1e-3),
    ] {
        let rules = Rules { lift: true, ..rules };
        let (ours, (_, line)) = (own(rules, 500), followed(rules, 500));
        let apart = |(p, q): (&[f64; 3], &[f64; 3])| (0..3).map(|k| (p[k] - q[k]).abs()).fold(0.0, f64::max);
        let most = ours.iter().zip(&line).map(apart).fold(0.0, f64::max);
        assert_eq!(ours.len(), line.len());
        assert!(most <= round_off, "{rules:?} {most}");
    }
}

/// After the whole drift with the velocity of its middle the energy is off by O(1), whatever the mesh.
#[test]
fn contacts_answered_after_the_drift_lose_a_third_of_the_energy() {
    let right = verlet(8, true);
    assert!(near(right.tip, 0.110) && near(right.penetration, 0.0037), "{right:?}");
    assert!(near(right.energy, 0.0006) && (right.after + 0.0972).abs() <= 5e-4, "{right:?}");
    let wrong = verlet(8, false);
    assert!(near(wrong.tip, 0.94) && near(wrong.energy, 0.38) && near(wrong.penetration, 0.45), "{wrong:?}");
    assert!((wrong.after + 0.0756).abs() <= 5e-4 && (wrong.last - 20.14).abs() <= 0.05, "{wrong:?}");
    let finer = verlet(16, false);
    assert!((0.15..=0.39).contains(&finer.energy), "{finer:?}");
}

/// As printed, with kicks and contact checks of one period: who comes first at equal times decides. Kicks first, as everywhere here,
/// gains 25 %; with times that are added up, so that round-off decides, it is the published 10 %; with any other period 1 %.
#[test]
fn at_ties_the_printed_scheme_depends_on_who_comes_first() {
    let added_up = run(Rules { count: Count::AddedUp, ..literal(0.139) }, 1000);
    assert!(near(added_up.energy, 0.10) && near(added_up.tip, 0.104), "{added_up:?}");
    assert!(near(added_up.penetration, 0.013) && (added_up.after + 0.0977).abs() <= 5e-4, "{added_up:?}");
    assert!((added_up.last - 20.22).abs() <= 0.05, "{added_up:?}");
    let coarse = run(Rules { count: Count::AddedUp, travel: Some(0.75), ..literal(0.5) }, 1000);
    assert!(near(coarse.energy, 0.95) && near(coarse.penetration, 0.020), "{coarse:?}");
    assert!(near(run(literal(0.139), 1000).energy, 0.25));
    for look in [0.95, 1.05, 1.1] {
        let apart = run(Rules { look, ..literal(0.139) }, 1000);
        assert!(apart.energy <= 0.02, "{look} {}", apart.energy);
    }
}

/// With the velocities that the last kicks left, what is gained hangs on the last digits of the period: 6 to 25 % around
/// 0.732 of the step, where 19 % were published. Never as little as with velocities of the instant.
#[test]
fn with_raw_velocities_the_gain_scatters_around_the_published_one() {
    let raw = |look: f64| run(Rules { look, synchronised: false, ..usual() }, 500).energy;
    let mut gains: Vec<f64> = (0..33).map(|k| raw(0.700 + 0.002 * f64::from(k))).collect();
    gains.sort_unstable_by(f64::total_cmp);
    let (least, most) = (gains[0], gains[gains.len() - 1]);
    assert!(least <= 0.19 && most >= 0.19, "{gains:?}");
    assert!(least >= 5.0 * 0.005 && gains[16] >= 0.07, "{gains:?}");
}

/// Looks as rare as the average element allows: the tips go through several elements before they are seen. If they may be
/// found in any of them, the bars overlap by half a metre and part late.
#[test]
fn looks_as_rare_as_the_average_element_allows_let_the_bars_overlap() {
    let line = Line::new(8);
    let average = line.elements.iter().map(|e| e.1).sum::<f64>() / line.elements.len() as f64;
    let least = line.elements.iter().map(|e| e.1).fold(f64::INFINITY, f64::min);
    let look = average / (0.139 * least);
    let seen = run(Rules { look, travel: Some(0.75), anywhere: true, ..literal(0.139) }, 1000);
    assert!(near(seen.tip, 1.0) && near(seen.penetration, 0.56), "{seen:?}");
    assert!((seen.last - 24.0).abs() <= 1.0 && (seen.after + 0.079).abs() <= 1e-3, "{seen:?}");
    assert!((0.002..=0.05).contains(&seen.energy), "{seen:?}");
}

/// Impacts that are not elastic cost energy as long as the contact lasts, less with more contact checks; the bars creep into each
/// other.
#[test]
fn persistent_contact_with_restitution_below_one_costs_energy_at_every_look() {
    for (restitution, look, energy, penetration) in [
        (0.9, 1.0, 0.034, 0.031),
        (0.5, 1.0, 0.10, 0.11),
        (0.0, 1.0, 0.24, 0.28),
        (0.9, 0.25, 0.013, 0.010),
        (0.5, 0.25, 0.04, 0.040),
        (0.0, 0.25, 0.08, 0.085),
    ] {
        let seen = run(Rules { safety: 0.25, restitution, look, anywhere: true, ..usual() }, 1000);
        assert!(near(seen.energy, energy) && near(seen.penetration, penetration), "{restitution} {seen:?}");
    }
}
