use super::*;
use crate::contact::dice::Dice;
use crate::contact::pair::Outer;

const NODES: u32 = 9;

struct Pile {
    pending: Vec<PendingImpact>,
    mass: Vec<f64>,
    inv_mass: Vec<Mat3>,
    v: Vec<Vec3>,
    stick: Stick,
}

fn kinetic(mass: &[f64], v: &[Vec3]) -> f64 {
    mass.iter().zip(v).map(|(m, v)| 0.5 * m * v.norm_squared()).sum()
}

/// A few nodes that touch each other and a moving obstacle in many ways.
fn pile(dice: &mut Dice, contacts: usize, mu: f64, held: bool) -> Pile {
    let mass: Vec<f64> = (0..NODES).map(|_| dice.between(0.5, 3.0)).collect();
    let mut inv_mass: Vec<Mat3> = mass.iter().map(|m| Mat3::from_diagonal_element(1.0 / m)).collect();
    if held {
        inv_mass[0] = Mat3::zeros();
        let along = dice.point(1.0).normalize();
        inv_mass[1] = (Mat3::identity() - along * along.transpose()) / mass[1];
    }
    // supports stand still
    let v = (0..NODES as usize).map(|k| mass[k] * (inv_mass[k] * dice.point(1.0))).collect();
    let mut pending = Vec::new();
    for c in 0..contacts {
        let node = |dice: &mut Dice| dice.between(0.0, f64::from(NODES)) as u32 % NODES;
        let (p, a) = (node(dice), node(dice));
        let [b, c3] = [1, 2].map(|k| (a + k) % NODES);
        if [a, b, c3].contains(&p) {
            continue;
        }
        let n = dice.point(1.0).normalize();
        let (s, t) = (dice.between(0.0, 0.5), dice.between(0.0, 0.5));
        let mut pair = match c % 3 {
            0 => Pair::node_obstacle(p, 0, Outer { position: Vec3::zeros(), velocity: dice.point(0.2) }, n),
            1 => Pair::node_facet(p, 0, &[a, b], &[1.0 - s, s], n),
            _ => Pair::node_facet(p, 0, &[a, b, c3], &[1.0 - s - t, s, t], n),
        };
        (pair.mu, pair.e) = (mu, 1.0);
        pending.push(PendingImpact::new(pair, 0.0, false));
    }
    let stick = if dice.unit() < 0.5 { Stick::Elastic } else { Stick::Plastic };
    Pile { pending, mass, inv_mass, v, stick }
}

fn bounce(pile: &mut Pile, sweeps: u32, corrected: bool) -> f64 {
    let of: Vec<[u32; 2]> = (0..pile.pending.len() as u32).map(|c| [0, c]).collect();
    let island = Island { of: &of, inv_mass: &pile.inv_mass, sweeps, stick: pile.stick, corrected };
    island.bounce(&mut rounds_among(&pile.inv_mass), &mut pile.pending, &mut pile.v)
}

fn rounds_among(inv_mass: &[Mat3]) -> Rounds {
    let mut rounds = Rounds::default();
    rounds.prepare(inv_mass);
    rounds
}

/// Rounds that read what they need close together leave the bits of those that go from contact to contact: velocities, impulses
/// and what was lost. Nodes are free or fixed, and some contacts are with a moving obstacle.
#[test]
fn rounds_close_together_are_the_rounds_of_an_island() {
    let (mut dice, mut slid) = (Dice(18), 0);
    for round in 0..300 {
        let mut plain = pile(&mut dice, 2 + round % 12, [0.0, 0.3, 2.0][round % 3], false);
        if round % 2 == 0 {
            (plain.inv_mass[0], plain.v[0]) = (Mat3::zeros(), Vec3::zeros());
        }
        if plain.pending.is_empty() {
            continue;
        }
        let of: Vec<[u32; 2]> = (0..plain.pending.len() as u32).map(|c| [0, c]).collect();
        let (inv_mass, sweeps, stick) = (&plain.inv_mass, 10, plain.stick);
        let island = Island { of: &of, inv_mass, sweeps, stick, corrected: false };
        let (mut pending, mut v) = (plain.pending.clone(), plain.v.clone());
        let mut rounds = rounds_among(&plain.inv_mass);
        assert!(rounds.can(&island, &pending));
        let returned = island.bounce(&mut rounds, &mut pending, &mut v);

        let mut apart = Rounds::default();
        // unequal in their directions, as far as these rounds know
        apart.prepare(&vec![Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 3.0)); v.len()]);
        assert!(!apart.can(&island, &pending));
        assert_eq!(island.bounce(&mut apart, &mut plain.pending, &mut plain.v), returned);
        assert_eq!(v, plain.v, "round {round}");
        for (w, plain) in pending.iter().zip(&plain.pending) {
            let of =
                |w: &PendingImpact| (w.compression, w.normal, w.friction, w.lost_normal, w.lost_friction);
            assert_eq!(of(w), of(plain), "round {round}");
            slid += usize::from(w.friction != Vec3::zeros());
        }
    }
    assert!(slid > 300, "{slid} contacts with friction");
}

fn worst_closing(pile: &Pile) -> f64 {
    pile.pending.iter().map(|w| -w.opening(&pile.v)).fold(0.0, f64::max)
}

/// Also after one sweep, when contacts are far from settled.
#[test]
fn impacts_together_keep_energy_and_book_what_obstacles_do() {
    let mut dice = Dice(11);
    for round in 0..2000 {
        let mut pile = pile(&mut dice, 2 + round % 9, 0.0, round % 2 == 1);
        let before = kinetic(&pile.mass, &pile.v);
        bounce(&mut pile, [1, 3, 200][round % 3], false);
        let work: f64 = (pile.pending.iter())
            .map(|w| w.pair.outer.map_or(0.0, |o| w.normal * w.pair.normal.dot(&o.velocity)))
            .sum();
        let change = kinetic(&pile.mass, &pile.v) - before;
        assert!((change - work).abs() <= 1e-12 * (before + work.abs()), "{change} {work}");
        let lost: f64 = pile.pending.iter().map(|w| w.lost_normal).sum();
        assert!(lost.abs() <= 1e-12 * (before + work.abs()), "{lost}");
    }
}

#[test]
fn nothing_closes_after_enough_sweeps_and_whoever_opens_is_let_go() {
    let mut dice = Dice(12);
    for round in 0..300 {
        let mut pile = pile(&mut dice, 2 + round % 6, 0.0, round % 2 == 1);
        pile.pending.iter_mut().for_each(|w| w.pair.e = 0.0);
        let fastest = worst_closing(&pile);
        bounce(&mut pile, 3000, false);
        for w in pile.pending.iter().filter(|w| w.inv_n > 0.0) {
            let opening = w.opening(&pile.v);
            assert!(opening >= -0.05 * fastest, "{opening} of {fastest}");
            assert!(w.normal * w.inv_n <= 1e-3 * fastest || opening <= 0.05 * fastest);
        }
    }
}

#[test]
fn restitution_leaves_its_square_of_what_stopping_took() {
    let mut dice = Dice(13);
    for round in 0..500 {
        let e = dice.between(0.0, 1.0);
        let mut all = [0.0, e, 1.0].map(|e| {
            let mut same = Dice(1000 + round);
            let mut pile = pile(&mut same, 6, 0.0, false);
            pile.pending.retain(|w| w.pair.outer.is_none());
            pile.pending.iter_mut().for_each(|w| w.pair.e = e);
            let before = kinetic(&pile.mass, &pile.v);
            bounce(&mut pile, 10, false);
            before - kinetic(&pile.mass, &pile.v)
        });
        let whole = all[0].max(1e-300);
        all.iter_mut().for_each(|l| *l /= whole);
        assert!(all[2].abs() < 1e-10 && (all[1] - (1.0 - e * e)).abs() < 1e-10 || whole == 1e-300, "{all:?}");
    }
}

#[test]
fn friction_stays_in_its_cone_takes_energy_and_books_it() {
    let mut dice = Dice(14);
    for round in 0..1000 {
        let mut pile = pile(&mut dice, 3 + round % 7, 0.4, round % 2 == 1);
        pile.pending.retain(|w| w.pair.outer.is_none());
        let before = kinetic(&pile.mass, &pile.v);
        bounce(&mut pile, 10, false);
        let lost: f64 = pile.pending.iter().map(|w| w.lost_friction).sum();
        let change = before - kinetic(&pile.mass, &pile.v);
        assert!((change - lost).abs() <= 1e-12 * before && lost >= -1e-14 * before, "{change} {lost}");
        for w in &pile.pending {
            let n = w.pair.normal;
            let tangential = (w.friction - n.dot(&w.friction) * n).norm();
            assert!(tangential <= 0.4 * (w.normal + n.dot(&w.friction)) + 1e-12);
        }
    }
}

/// Momentum of bodies without obstacle and support.
#[test]
fn impacts_together_keep_momentum() {
    let mut dice = Dice(15);
    let momentum = |p: &Pile| p.mass.iter().zip(&p.v).map(|(m, v)| *m * v).sum::<Vec3>();
    for _ in 0..300 {
        let mut pile = pile(&mut dice, 8, 0.3, false);
        pile.pending.retain(|w| w.pair.outer.is_none());
        let before = momentum(&pile);
        bounce(&mut pile, 10, false);
        assert!((momentum(&pile) - before).norm() < 1e-13);
    }
}

#[test]
fn one_contact_together_is_one_contact_alone() {
    let mut dice = Dice(16);
    for round in 0..500 {
        let mut pile = pile(&mut dice, 1, if round % 2 == 0 { 0.0 } else { 0.4 }, false);
        let work = if round % 4 < 2 { 0.0 } else { dice.between(-0.1, 0.1) };
        for w in &mut pile.pending {
            (w.pair.e, w.work) = (dice.between(0.1, 1.0), work);
            let mut v = pile.v.clone();
            // an energy correction parts faster or slower than slip comes back
            let stick = if work == 0.0 { pile.stick } else { Stick::Plastic };
            let terms = Terms { stick, work, parting: 0.0 };
            let alone = response::bounce(&w.pair, terms, &pile.inv_mass, &mut v);
            let mut together = [*w];
            let corrected = work != 0.0;
            let island = Island { of: &[[0, 0]], inv_mass: &pile.inv_mass, sweeps: 10, stick, corrected };
            let mut u = pile.v.clone();
            let returned = island.bounce(&mut rounds_among(&pile.inv_mass), &mut together, &mut u);
            for (u, v) in u.iter().zip(&v) {
                assert!((u - v).norm() < 1e-12);
            }
            if let (Some(impact), true) = (alone, work != 0.0) {
                assert!((returned - (work - impact.owed)).abs() < 1e-13);
            }
        }
    }
}

/// Many piles beside each other, on one held node that all of them touch: answered in pieces by two threads they end with the
/// same bits as one island after the other.
#[test]
fn islands_in_pieces_end_as_islands_in_a_row() {
    let mut dice = Dice(17);
    for round in 0..20 {
        let (mut pending, mut inv_mass, mut v) = (Vec::new(), vec![Mat3::zeros()], vec![Vec3::zeros()]);
        while pending.len() < 300 {
            let one = pile(&mut dice, 1 + pending.len() % 9, [0.0, 0.4][round % 2], pending.len() % 2 == 0);
            let first = v.len() as u32;
            pending.extend(one.pending.iter().map(|w| {
                let mut w = *w;
                // in every other pile the last node is the one that all share
                let shared = |k: u32| k == NODES - 1 && first.is_multiple_of(2);
                w.pair.points_mut().iter_mut().for_each(|k| *k = if shared(*k) { 0 } else { first + *k });
                w
            }));
            inv_mass.extend(one.inv_mass);
            v.extend(one.v);
        }
        let places: Vec<u32> = (0..v.len() as u32).collect();
        let mut impacts = ImpactIslands { pending, ..ImpactIslands::default() };
        impacts.sort(v.len(), &places, &inv_mass);
        let ImpactIslands { pending, order, .. } = &mut impacts;
        let exchange = Exchange { sweeps: 10, stick: Stick::Elastic, corrected: round % 3 == 0 };

        let (mut in_row, mut v_in_row) = (pending.clone(), v.clone());
        let islands = order.chunk_by(|a, b| a[0] == b[0]);
        let mut rounds = rounds_among(&inv_mass);
        let mut bounce = |i| exchange.bounce(i, &inv_mass, &mut rounds, &mut in_row, &mut v_in_row);
        let returned: Vec<f64> = islands.map(&mut bounce).collect();

        let mut pieces = Pieces::default();
        let touched = Touched { slots: v.len(), slot: &places, inv_mass: &inv_mass };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            assert!(pieces.cut(order));
            pieces.bounce(&exchange, &touched, (order, pending), &mut v);
        });
        assert!(pieces.used().len() > 3 && v == v_in_row);
        assert_eq!(pieces.used().iter().flat_map(|p| p.returned.clone()).collect::<Vec<_>>(), returned);
        let contacts = pieces.used().iter().flat_map(|p| &p.contacts);
        for (&[_, c], w) in order.iter().zip(contacts) {
            let alone = &in_row[c as usize];
            assert_eq!(
                (w.normal, w.friction, w.lost_friction),
                (alone.normal, alone.friction, alone.lost_friction)
            );
        }
    }
}
