//! One impact at a time (`asynchronous`): a node in a hexahedron in all attitudes, and particles on fixed elements.
//!
//! A particle here is a corner of an element whose stiffness is 1e-16, so that its other corners, which are held, do not
//! matter: within a second it would feel them by less than round-off.

use crate::common::{Run, body};
use carom::contact::friction::Stick;
use carom::contact::pair::Pair;
use carom::material::Law;
use carom::math::{Mat3, Vec3};
use carom::mesh::{CellKind, shape, shape_functions};
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, ContactStep, Options};
use carom::method::response::{self, Terms};
use carom::model::{BodySpec, Builder, State};

/// Slip stops where it sticks.
const PUBLISHED: Terms = Terms { stick: Stick::Plastic, work: 0.0, parting: 0.0 };

struct Dice(u64);

impl Dice {
    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        lo + (hi - lo) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }
}

/// A node in a distorted hexahedron: the node first, then the corners.
struct InHex {
    pair: Pair,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    mass: Vec<f64>,
    inv_mass: Vec<Mat3>,
}

impl InHex {
    /// `e` is 0, 1 or anything.
    fn new(dice: &mut Dice, i: u32) -> InHex {
        let corner =
            |a: usize, dice: &mut Dice| shape_functions::corner(CellKind::Hex8, a) + 0.3 * dice.vector();
        let corners: Vec<Vec3> = (0..8).map(|a| corner(a, dice)).collect();
        let inside = 0.99 * dice.vector();
        let node = shape_functions::position(CellKind::Hex8, &corners, inside);
        // found again as the method finds it
        let xi = shape_functions::inverse(CellKind::Hex8, &corners, node).unwrap();
        let weights = shape_functions::values(CellKind::Hex8, xi);
        let normal = dice.vector().normalize();
        let mut pair = Pair::node_element(0, 0, [1, 2, 3, 4, 5, 6, 7, 8], weights, normal, 0.1);
        pair.e = [0.0, 1.0, dice.between(0.0, 1.0)][i as usize % 3];
        let mass: Vec<f64> = (0..9).map(|_| dice.between(0.1, 2.0)).collect();
        let inv_mass = mass.iter().map(|m| Mat3::identity() / *m).collect();
        let x = std::iter::once(node).chain(corners).collect();
        InHex { pair, x, v: (0..9).map(|_| dice.vector()).collect(), mass, inv_mass }
    }

    /// Each node is held in up to three directions of any kind; returns these, orthogonal and of length one.
    fn hold(&mut self, dice: &mut Dice) -> Vec<(usize, Vec3)> {
        let mut held = Vec::new();
        for k in 0..9 {
            let mut free = Mat3::identity();
            for _ in 0..dice.between(0.0, 4.0) as u32 {
                let d = free * dice.vector();
                if d.norm() > 0.05 {
                    let d = d.normalize();
                    free -= d * d.transpose();
                    held.push((k, d));
                }
            }
            self.inv_mass[k] = free / self.mass[k];
            self.v[k] = free * self.v[k];
        }
        held
    }

    fn energy(&self) -> f64 {
        self.v.iter().zip(&self.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
    }

    fn momenta(&self) -> (Vec3, Vec3) {
        let each = || self.v.iter().zip(&self.mass).zip(&self.x);
        (each().map(|((v, m), _)| *m * v).sum(), each().map(|((v, m), x)| *m * x.cross(v)).sum())
    }

    /// Speed at which the gap closes.
    fn closing(&self) -> f64 {
        -self.pair.normal.dot(&self.pair.relative_velocity(&self.v))
    }

    fn inverse_mass(&self) -> Mat3 {
        response::inverse_mass(&self.pair, &self.inv_mass)
    }
}

/// Twenty thousand: momenta, the law of restitution, the energy that it takes, the cone.
#[test]
fn a_node_in_a_hexahedron_bounces_and_all_balances_hold_to_round_off() {
    let mut dice = Dice(1);
    let (mut answered, mut stuck) = (0, 0);
    for i in 0..20_000 {
        let mut t = InHex::new(&mut dice, i);
        t.pair.mu = if i % 2 == 0 { 0.0 } else { dice.between(0.0, 1.0) };
        let (e, mu, n) = (t.pair.e, t.pair.mu, t.pair.normal);
        let (energy, (p, l), closing) = (t.energy(), t.momenta(), t.closing());
        let along = n.dot(&(t.inverse_mass() * n));
        let Some(impact) = response::bounce(&t.pair, PUBLISHED, &t.inv_mass, &mut t.v) else {
            assert!(closing <= 0.0);
            continue;
        };
        answered += 1;
        let (q, k) = t.momenta();
        // of order one: nine masses, places and velocities
        assert!((q - p).norm() <= 1e-14 && (k - l).norm() <= 4e-14, "{} {}", (q - p).norm(), (k - l).norm());
        assert!((t.closing() + e * closing).abs() <= 1e-14, "{}", t.closing() + e * closing);
        let lost = 0.5 * (1.0 - e * e) * closing * closing / along;
        assert!((impact.lost_normal - lost).abs() <= 1e-15 * energy.max(1.0));
        let gain = t.energy() - energy + lost + impact.lost_friction;
        assert!(gain.abs() <= 1e-14 * energy && impact.lost_friction >= 0.0, "{gain}");
        let (jn, jt) = (n.dot(&impact.impulse()), impact.friction.norm());
        assert!(jt <= mu * jn + 6e-15, "{jt} {jn}");
        if impact.sticks {
            stuck += 1;
            let u = t.pair.relative_velocity(&t.v);
            assert!((u - n.dot(&u) * n).norm() <= 1e-14);
        }
    }
    assert!(answered > 9000 && stuck > 1000, "{answered} {stuck}");
}

/// The same with supports of up to three directions a node: what is held stays, the law holds, nothing is gained.
#[test]
fn held_nodes_bounce_by_the_same_law() {
    let mut dice = Dice(2);
    let mut answered = 0;
    for i in 0..20_000 {
        let mut t = InHex::new(&mut dice, i);
        let held = t.hold(&mut dice);
        t.pair.mu = if i % 2 == 0 { 0.0 } else { dice.between(0.0, 1.0) };
        let (e, n) = (t.pair.e, t.pair.normal);
        let (energy, closing) = (t.energy(), t.closing());
        let k = t.inverse_mass();
        let along = n.dot(&(k * n));
        let Some(impact) = response::bounce(&t.pair, PUBLISHED, &t.inv_mass, &mut t.v) else { continue };
        if along < 1e-3 * k.trace() {
            continue; // almost held: impulses without bound, and round-off with them
        }
        answered += 1;
        for (k, d) in held {
            assert!(d.dot(&t.v[k]).abs() <= 3e-12);
        }
        assert!(
            (t.closing() + e * closing).abs() <= 2e-13 * (1.0 + closing.abs()),
            "{}",
            t.closing() + e * closing
        );
        // what friction would give, where supports turn it along the normal, comes out of what the normal impulse took
        let lost = 0.5 * (1.0 - e * e) * closing * closing / along;
        assert!(
            impact.lost_friction >= 0.0 && impact.lost_normal <= lost + 4e-11 * energy.max(1.0),
            "{impact:?}"
        );
        assert!(
            impact.lost_friction == 0.0 || (impact.lost_normal - lost).abs() <= 4e-11 * energy.max(1.0),
            "{impact:?}"
        );
        assert!(impact.lost_normal >= -1e-11, "friction is no source: {impact:?}");
        let gain = t.energy() - energy + impact.lost_normal + impact.lost_friction;
        assert!(gain.abs() <= 4e-11 * energy.max(1.0), "{gain}");
        let j = impact.impulse();
        let jt = (j - n.dot(&j) * n).norm();
        assert!(jt <= t.pair.mu * n.dot(&j) + 1e-12 * j.norm(), "{jt}");
    }
    assert!(answered > 5000, "{answered}");
}

/// The cone node by node: every node's change along the face is cut to μ times that across it. Among free nodes that is the
/// single factor of the pair; among held ones it gains energy and spoils the restitution.
#[test]
fn a_cone_for_every_node_is_right_for_free_ones_only() {
    let mut dice = Dice(3);
    let (mut gained, mut spoiled): (f64, f64) = (0.0, 0.0);
    for i in 0..20_000 {
        for held in [false, true] {
            let mut t = InHex::new(&mut dice, i);
            if held {
                t.hold(&mut dice);
            }
            t.pair.mu = dice.between(0.0, 1.0);
            let (n, k) = (t.pair.normal, t.inverse_mass());
            let (u, closing, along) = (t.pair.relative_velocity(&t.v), t.closing(), n.dot(&(k * n)));
            if closing <= 0.0 || along < 1e-2 * k.trace() {
                continue;
            }
            let parting = t.pair.e * closing;
            let normal = (closing + parting) / along * n;
            let stick = response::pseudo_inverse(&k) * (parting * n - u);
            let mut wrong = t.v.clone();
            for (k, w) in t.pair.stencil() {
                let across = w * (t.inv_mass[k] * normal);
                let along = w * (t.inv_mass[k] * stick) - across;
                let s = if along.norm() > 0.0 {
                    (t.pair.mu * across.norm() / along.norm()).min(1.0)
                } else {
                    0.0
                };
                wrong[k] += across + s * along;
            }
            let before = t.energy();
            response::bounce(&t.pair, PUBLISHED, &t.inv_mass, &mut t.v).unwrap();
            if held {
                t.v = wrong;
                gained = gained.max(t.energy() / before - 1.0);
                spoiled = spoiled.max((t.closing() + parting).abs() / closing);
            } else {
                let apart = t.v.iter().zip(&wrong).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                assert!(apart <= 3e-13, "{apart}");
            }
        }
    }
    assert!(gained >= 0.05 && spoiled >= 0.3, "{gained} {spoiled}");
}

/// Time between kicks [s]; contact checks come in parts of it.
const STEP: f64 = 1e-3;
const YOUNG: f64 = 1e-16;

/// An element without stiffness, `edge` long, from `at` on: nodes of its side `side` are particles under `gravity`, on
/// rollers across `rollers` if there are any; all others are held.
struct Particles {
    at: Vec3,
    edge: f64,
    side: &'static str,
    gravity: Vec3,
    rollers: Vec<Vec3>,
    velocity: Vec3,
}

/// Particles and a fixed element from `low` to `high`; they look every `look` kicks.
fn thrown(
    p: Particles,
    low: Vec3,
    high: Vec3,
    [e, mu]: [f64; 2],
    look: f64,
    stick: Stick,
) -> (Run<Asynchronous>, Vec<usize>) {
    let law = Law::Linear { young: YOUNG, poisson: 0.0, density: 1.0 };
    let brick = |size: Vec3, at: Vec3| {
        let mut mesh = shape::Box::new(size.into(), [1; 3]).build().unwrap();
        mesh.nodes.iter_mut().for_each(|x| *x += at);
        mesh
    };
    let mut builder = Builder::default();
    let dust = brick(Vec3::repeat(p.edge), p.at);
    builder.body(BodySpec { gravity: p.gravity, ..body("dust", dust, &law, 1.0) });
    builder.body(body("ground", brick(high - low, low), &law, 1.0));
    let loose = builder.bodies()[0].node_set(p.side).unwrap();
    let held = (0..16).filter(|n| !loose.contains(n)).collect();
    builder.restrain(held, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    if !p.rollers.is_empty() {
        builder.restrain(loose.clone(), p.rollers, None);
    }
    builder.contact.law.friction = mu;
    builder.contact.law.restitution = Some(e);
    builder.contact.stick = stick;
    let model = builder.build().unwrap();
    // the critical step of a cube without lateral strain is its edge over the speed of sound
    let safety = STEP / (p.edge / YOUNG.sqrt());
    let contact_step = ContactStep::Smallest(look);
    // the sides of the element without stiffness are none of our business
    let options = Options { safety, contact_step, edge_edge: false, ..Options::default() };
    let method = Asynchronous::new(&model, options);
    assert!((method.steps()[0].0 / STEP - 1.0).abs() <= 1e-9 && method.steps()[0].1 == 1);
    let velocity = p.velocity;
    let run = Run::with(model, method, |b, _| if b == 0 { velocity } else { Vec3::zeros() });
    (run, loose.iter().map(|&n| n as usize).collect())
}

fn seen(run: &Run<Asynchronous>) -> State {
    let mut copy = run.state.clone();
    run.method.synchronise(&run.model, &run.state, &mut copy);
    copy
}

/// From the height h it rises to e²h, e⁴h … but for what it sank in before it was seen, which falls with the time between
/// looks.
#[test]
fn a_particle_on_a_fixed_element_bounces_to_the_square_of_the_restitution() {
    let heights = |e: f64, look: f64| {
        let particles = Particles {
            at: Vec3::new(0.0, 0.0, 0.5),
            edge: 1.0,
            side: "zmin",
            gravity: -Vec3::z(),
            rollers: Vec::new(),
            velocity: Vec3::zeros(),
        };
        let (low, high) = (Vec3::new(-1.0, -1.0, -1.0), Vec3::new(2.0, 2.0, 0.0));
        let (mut run, loose) = thrown(particles, low, high, [e, 0.0], look, Stick::Elastic);
        let (mut tops, mut last) = (Vec::new(), [f64::INFINITY, 0.5]);
        let mut k = 0;
        while tops.len() < 4 {
            k += 1;
            run.until(2e-3 * f64::from(k)).unwrap();
            let copy = seen(&run);
            let z = copy.x[loose[0]].z;
            for &n in &loose {
                // all four alike, and straight up and down
                assert!(
                    (copy.x[n].z - z).abs() <= 1e-12
                        && (copy.x[n] - run.model.reference[n]).xy().norm() <= 1e-14
                );
            }
            if last[1] >= last[0] && last[1] > z {
                tops.push(last[1]);
            }
            last = [last[1], z];
        }
        tops
    };
    let off = |e: f64, look: f64| -> f64 {
        let each = heights(e, look).into_iter().zip(1..);
        each.map(|(h, k): (f64, i32)| (h - 0.5 * e.powi(2 * k)).abs()).fold(0.0, f64::max)
    };
    // it falls at 1 m/s, and comes to every bounce from as deep as it goes between two contact checks
    let (rare, often) = (off(0.7, 4.0), off(0.7, 0.5));
    assert!(rare <= 2.0 * 4.0 * STEP && often <= 2.0 * 0.5 * STEP, "{rare} {often}");
    assert!(off(1.0, 1.0) <= 1e-5, "{}", off(1.0, 1.0));
}

/// θ from the normal: it leaves with e cos θ and sin θ − μ(1+e) cos θ, or with −e_t sin θ below
/// tan θ = μ(1+e)/(1+e_t), e_t being e where stick is elastic and 0 where it is plastic.
#[test]
fn an_oblique_particle_slides_or_sticks_by_the_closed_form() {
    for stick in [Stick::Elastic, Stick::Plastic] {
        for (e, mu) in [(1.0, 0.3), (0.5, 0.2), (0.0, 0.8), (0.8, 0.0)] {
            let back = stick.restitution(e);
            let limit = f64::atan(mu * (1.0 + e) / (1.0 + back));
            for angle in [0.0, 0.3, f64::max(0.0, limit - 1e-3), limit + 1e-3, 0.9, 1.3] {
                let (sin, cos) = f64::sin_cos(angle);
                let particles = Particles {
                    at: Vec3::new(0.0, 0.0, 0.01),
                    edge: 1.0,
                    side: "zmin",
                    gravity: Vec3::zeros(),
                    rollers: Vec::new(),
                    velocity: Vec3::new(0.6 * sin, 0.8 * sin, -cos),
                };
                let (low, high) = (Vec3::new(-1.0, -1.0, -1.0), Vec3::new(2.0, 2.0, 0.0));
                let (mut run, loose) = thrown(particles, low, high, [e, mu], 0.7, stick);
                run.until(0.02 + 0.01 / cos).unwrap();
                let left = if mu > 0.0 && angle <= limit { -back * sin } else { sin - mu * (1.0 + e) * cos };
                let exact = Vec3::new(0.6 * left, 0.8 * left, e * cos);
                for &n in &loose {
                    assert!((run.state.v[n] - exact).norm() <= 1e-14, "{angle} {} {exact}", run.state.v[n]);
                }
                // a plastic impact leaves round-off, which is answered again
                assert!(run.ledger.collision_kicks == 4 || e == 0.0);
            }
        }
    }
}

/// Who has been answered since when: four particles at once, a quarter of a second after the start.
#[test]
fn contacts_are_counted_since_the_time_asked_for() {
    let particles = Particles {
        at: Vec3::new(0.0, 0.0, 0.25),
        edge: 1.0,
        side: "zmin",
        gravity: Vec3::zeros(),
        rollers: Vec::new(),
        velocity: -Vec3::z(),
    };
    let (low, high) = (Vec3::new(-1.0, -1.0, -1.0), Vec3::new(2.0, 2.0, 0.0));
    let (mut run, _) = thrown(particles, low, high, [1.0, 0.0], 1.0, Stick::Elastic);
    run.until(0.2).unwrap();
    assert_eq!(run.method.contacts_since(0.0), Some(0));
    run.until(0.5).unwrap();
    let hit = run.method.last_contact();
    assert!((hit - 0.25).abs() <= 2.0 * STEP, "{hit}");
    let tick = run.method.tick();
    // a row at that very instant is written before it happens
    for (since, count) in [(0.0, 4), (0.2, 4), (hit, 4), (hit + tick, 0), (0.3, 0)] {
        assert_eq!(run.method.contacts_since(since), Some(count), "{since}");
    }
    // in the last step nothing has touched
    assert_eq!((run.ledger.contacts, run.ledger.contacts_peak), (0, 4));
}

/// Particles on rollers across (1, 1, 0) hit a face across x: they can only go back the way they came, with e times the
/// speed, and upwards by what friction leaves. The inverse mass of the pair is singular.
#[test]
fn particles_on_oblique_rollers_hit_a_fixed_element() {
    let laws = [(1.0, 0.0), (0.5, 0.0), (1.0, 0.2), (0.5, 0.4), (0.0, 1.0)];
    for (i, (e, mu)) in laws.into_iter().chain(laws).enumerate() {
        let stick = if i < laws.len() { Stick::Elastic } else { Stick::Plastic };
        let across = Vec3::new(1.0, 1.0, 0.0);
        let v = Vec3::new(-0.6, 0.6, 0.5);
        let particles = Particles {
            at: Vec3::new(0.01, 0.0, 0.0),
            edge: 1.0,
            side: "xmin",
            gravity: Vec3::zeros(),
            rollers: vec![across],
            velocity: v,
        };
        let (low, high) = (Vec3::new(-1.0, -2.0, -2.0), Vec3::new(0.0, 3.0, 3.0));
        let (mut run, loose) = thrown(particles, low, high, [e, mu], 0.7, stick);
        run.until(0.05).unwrap();
        // per unit of mass: P is what the rollers leave, ν goes into the wall
        let d = across.normalize();
        let free = Mat3::identity() - d * d.transpose();
        let wall = -Vec3::x();
        let (rate, along) = (wall.dot(&v), wall.dot(&(free * wall)));
        let normal = -(1.0 + e) * rate / along * wall;
        let back = stick.restitution(e) * (v - rate * wall);
        let mut second = -(free * (v + back + e * rate * wall)) - normal;
        second -= wall.dot(&(free * second)) / along * wall;
        let n2 = -wall.dot(&second);
        let t2 = (second + n2 * wall).norm();
        let (push, reach) = (-wall.dot(&normal), t2 - mu * n2);
        let mut s = if mu == 0.0 {
            0.0
        } else if reach <= mu * push {
            1.0
        } else {
            mu * push / reach
        };
        let lost = 0.5 * (1.0 - e * e) * rate * rate / along;
        let (b, c) = (second.dot(&(v + free * normal)), 0.5 * second.dot(&(free * second)));
        if b * s + c * s * s > lost + 1e-12 * c {
            s = ((-b + (b * b + 4.0 * c * lost).sqrt()) / (2.0 * c)).max(0.0);
        }
        let exact = v + free * (normal + s * second);
        assert!((exact.x + e * v.x).abs() <= 1e-15 && (exact.x + exact.y).abs() <= 1e-15, "{exact}");
        for &n in &loose {
            assert!((run.state.v[n] - exact).norm() <= 1e-14, "{} {exact}", run.state.v[n]);
            assert!((seen(&run).x[n] - run.model.reference[n]).dot(&across).abs() <= 1e-14);
        }
        assert!((run.ledger.collision_kicks == 4 || e == 0.0) && run.ledger.error().abs() <= 1e-14);
    }
}

/// Particles glide over an edge of the element they lie on and fall past it: nobody pushes them sideways, and once they are
/// beside it nobody holds them up.
#[test]
fn particles_that_leave_over_an_edge_fall_freely() {
    let particles = Particles {
        at: Vec3::new(0.2, 0.2, 0.0),
        edge: 0.5,
        side: "zmin",
        gravity: -Vec3::z(),
        rollers: Vec::new(),
        velocity: Vec3::x(),
    };
    let (low, high) = (Vec3::new(-1.0, -1.0, -1.0), Vec3::new(1.0, 2.0, 0.0));
    let (mut run, loose) = thrown(particles, low, high, [1.0, 0.0], 1.0, Stick::Elastic);
    let mut kicks = 0;
    for k in 1..=150 {
        run.until(0.01 * f64::from(k)).unwrap();
        let copy = seen(&run);
        for &n in &loose {
            // a node in front may be beside the element by a fortieth of it, along the face; one behind looks at the side
            // of the element too, and is outside at once
            let behind = run.model.reference[n].x < 0.5;
            let past = copy.x[n].x - if behind { 1.0 } else { 1.05 };
            assert!((copy.v[n].x - 1.0).abs() <= 1e-14 && copy.v[n].y.abs() <= 1e-14, "{}", copy.v[n]);
            if past < -0.05 {
                assert!(copy.x[n].z.abs() <= 2e-3, "{}", copy.x[n]);
            } else if past > 0.0 {
                assert!(copy.x[n].z <= -0.5 * past * past + 2e-3, "{}", copy.x[n]);
            }
        }
        if k == 90 {
            kicks = run.ledger.collision_kicks;
        }
    }
    assert!(kicks > 0 && run.ledger.collision_kicks == kicks, "{kicks} {}", run.ledger.collision_kicks);
}
