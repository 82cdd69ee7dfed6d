//! Points on facets that turn, slip and press, by chance.

use super::super::kinematics::{Master, Slave};
use super::*;
use crate::contact::dice::Dice;
use crate::contact::scene::FacetKind;

/// Positions at the start and at the end: a facet over a facet, in the plane and in space.
fn scene(dice: &mut Dice, kind: FacetKind) -> (Slave, Master, [Vec<Vec3>; 2]) {
    let v = Vec3::new;
    let (mut x, count) = match kind {
        FacetKind::Segment => {
            (vec![v(-0.5, 0.0, 0.0), v(0.7, 0.05, 0.0), v(1.0, 0.0, 0.0), v(-1.0, 0.0, 0.0)], 2)
        }
        _ => {
            let small = [v(-0.4, -0.4, 0.0), v(0.4, -0.4, 0.0), v(0.4, 0.3, 0.0), v(-0.3, 0.4, 0.0)];
            let large = [v(-1.0, -1.0, 0.0), v(1.0, -1.0, 0.0), v(1.1, 1.0, 0.0), v(-0.9, 1.0, 0.1)];
            ([small, large].concat(), 4)
        }
    };
    let flat = kind == FacetKind::Segment;
    let mut shake = |x: &mut Vec<Vec3>, by: f64| {
        for p in x {
            *p += by * dice.point(1.0);
            p.z = if flat { 0.0 } else { p.z };
        }
    };
    shake(&mut x, 0.05);
    let mut end = x.clone();
    shake(&mut end, 0.05);
    let normal = if flat { -Vec3::y() } else { -Vec3::z() };
    let slip = if flat { 0.1 * Vec3::x() } else { Vec3::new(0.1, -0.05, 0.0) };
    end[..count].iter_mut().for_each(|p| *p += 0.2 * normal + slip);
    let nodes = |first: u32| std::array::from_fn(|k| first + (k as u32).min(count as u32 - 1));
    let mut weights = [0.0; 4];
    weights[..count].fill(1.0 / count as f64);
    weights[0] += 0.1;
    weights[1] -= 0.1;
    let slave = Slave { nodes: nodes(0), weights, count: count as u8 };
    (slave, Master { nodes: nodes(count as u32), kind, bounded: true, body: 1 }, [x, end])
}

/// An impulse at the end of the step that is worth this pressure.
fn e(beyond: f64) -> Rebound {
    Rebound { share: 0.0, beyond }
}

/// Every block of the tangent against central differences of the force: new and persistent, stick and slip, with and without
/// multipliers, both schemes.
#[test]
fn the_tangent_is_the_derivative_of_the_force() {
    let mut dice = Dice(11);
    let mut seen = std::collections::BTreeSet::new();
    for kind in [FacetKind::Segment, FacetKind::Quad] {
        for trial in 0..64 {
            let (slave, master, [x, end]) = scene(&mut dice, kind);
            let scheme = if trial % 4 == 3 { Scheme::End } else { Scheme::Middle };
            let ahead = [0.01, 0.0][trial % 2];
            let mu = [0.0, 0.3, 100.0][trial % 3];
            let rebound = [e(0.0), e(0.4), Rebound { share: 9.0, beyond: 0.0 }][trial / 8 % 3];
            let multiplier = match trial % 5 {
                0 => Multiplier { normal: 1.0, shear: Vec3::new(0.3, 0.1, 0.0) },
                _ => Multiplier::default(),
            };
            let law = Law { normal: 7.0, tangential: 2.0, soft: [1.0; 2], mu };
            let step = Step { scheme, dt: 0.3, ahead, rebound, last: Last::Forgotten };
            let answer = |end: &[Vec3]| {
                let middle: Vec<Vec3> =
                    x.iter().zip(end).map(|(a, b)| a + scheme.share() * (b - a)).collect();
                let on = |x: &[Vec3]| {
                    Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap()
                };
                let at = on(&middle);
                let way = at.gather(|n| end[n] - x[n]);
                Contact::new(step, [at, on(end)], way, (0, 0.8), law, multiplier)
            };
            let Some(contact) = answer(&end) else { continue };
            seen.insert((kind, scheme == Scheme::End, ahead > 0.0, contact.slips, mu > 0.0));
            let count = x.len();
            let mut exact = vec![Mat3::zeros(); count * count];
            contact.tangent(scheme, |r, c, b, _| exact[r as usize * count + c as usize] += b);
            let h = 1e-6;
            for column in 0..count {
                for i in 0..if kind == FacetKind::Segment { 2 } else { 3 } {
                    let moved = |by: f64| {
                        let mut end = end.clone();
                        end[column][i] += by;
                        answer(&end).unwrap()
                    };
                    let (p, q) = (moved(h), moved(-h));
                    assert_eq!((p.slips, q.slips), (contact.slips, contact.slips));
                    let unit = |n: usize| Vec3::ith(i, f64::from(u8::from(n == column)));
                    let (pressure, shear) = contact.change(scheme, unit);
                    assert!((pressure - (p.pressure - q.pressure) / (2.0 * h)).abs() < 1e-7);
                    let closing = contact.closing_with(scheme, unit) - contact.closing;
                    assert!((closing - (p.closing - q.closing) / (2.0 * h)).abs() < 1e-7);
                    for a in 0..2 {
                        assert!((shear[a] - (p.shear[a] - q.shear[a]) / (2.0 * h)).abs() < 1e-7);
                    }
                    for row in 0..count {
                        let slope = (p.force(row) - q.force(row)) / (2.0 * h);
                        let off = slope - exact[row * count + column].column(i);
                        assert!(off.norm() < 1e-7, "{kind:?} {scheme:?} {ahead} {mu} {off}");
                    }
                }
            }
        }
    }
    assert!(seen.len() >= 14, "{seen:?}");
}

/// Slip that goes on as it did is what Coulomb's law says it is; slip that has just turned round is neither slip nor settled.
#[test]
fn slip_that_turns_round_comes_to_stick() {
    let mut dice = Dice(12);
    let mut seen = 0;
    let soft = 0.02;
    for kind in [FacetKind::Segment, FacetKind::Quad] {
        for _ in 0..100 {
            let (slave, master, [x, end]) = scene(&mut dice, kind);
            let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
            let on = |x: &[Vec3]| {
                Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap()
            };
            let at = on(&middle);
            let way = at.gather(|n| end[n] - x[n]);
            let law = Law { normal: 7.0, tangential: 0.5 + 3.0 * dice.unit(), soft: [soft; 2], mu: 0.3 };
            let with = |last: Last| {
                let step = Step { scheme: Scheme::Middle, dt: 0.1, ahead: 0.0, rebound: e(0.0), last };
                Contact::new(step, [at, on(&end)], way, (0, 1.0), law, Multiplier::default())
            };
            let Some(plain) = with(Last::Forgotten).filter(|c| c.slips) else { continue };
            seen += 1;
            let foreseen =
                |sign: f64| Multiplier { normal: plain.pressure, shear: sign * plain.shear_vector() };
            let same = with(Last::Foreseen(foreseen(1.0), true)).unwrap();
            assert!(same.slips && same.settled);
            assert!((same.shear_vector() - plain.shear_vector()).norm() < 1e-12 * plain.pressure);
            let turned = with(Last::Foreseen(foreseen(-1.0), true)).unwrap();
            assert!(!turned.slips && !turned.settled);
            assert_eq!(turned.shear, turned.trial);
        }
    }
    assert!(seen > 50, "{seen}");
}

/// A point that the increment foresaw to press goes on pressing where springs pull by less than α lets them, and is not settled; one that it foresaw to be
/// pulled opens. A point that was open presses as soon as its springs do.
#[test]
fn what_an_increment_foresaw_decides_who_presses() {
    let mut dice = Dice(14);
    for _ in 0..100 {
        let (slave, master, [x, mut end]) = scene(&mut dice, FacetKind::Quad);
        let law = Law { normal: 7.0, tangential: 1.0, soft: [0.02; 2], mu: 0.0 };
        let on =
            |x: &[Vec3]| Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap();
        // lift until it is open by a little: it has not come as far as it was ahead
        let lacking = 0.01;
        let lift = on(&end).overlap + lacking;
        let normal = on(&end).normal;
        slave.nodes.iter().take(4).for_each(|&k| end[k as usize] += lift * normal);
        let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
        let at = on(&middle);
        let way = at.gather(|n| end[n] - x[n]);
        let with = |normal: Option<f64>| {
            let shear = Vec3::zeros();
            let last =
                normal.map_or(Last::Open, |normal| Last::Foreseen(Multiplier { normal, shear }, false));
            let step = Step {
                scheme: Scheme::Middle,
                dt: 0.1,
                ahead: lacking - at.normal_of(&way),
                rebound: e(0.0),
                last,
            };
            Contact::new(step, [at, on(&end)], way, (0, 1.0), law, Multiplier::default())
        };
        let pull = -law.normal * lacking;
        assert!(with(None).is_none());
        let pressed = with(Some(-0.1 * pull)).expect("foreseen to press");
        assert!((pressed.pressure - pull).abs() < 1e-13 && !pressed.settled);
        assert!(with(Some(-0.01 * pull)).is_none() && with(Some(0.1 * pull)).is_none());
    }
}

/// Without multipliers a point never gives power to the bodies: `t_N v_N + t_a v^a ≥ 0`; and ‖t_T‖ ≤ μ (t_N + e), equal where it slips.
#[test]
fn a_point_takes_power_and_stays_in_the_cone() {
    let mut dice = Dice(13);
    let mut seen = 0;
    for _ in 0..300 {
        let (slave, master, [x, end]) = scene(&mut dice, FacetKind::Quad);
        let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
        let on =
            |x: &[Vec3]| Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap();
        let at = on(&middle);
        let way = at.gather(|n| end[n] - x[n]);
        let law = Law { normal: 7.0, tangential: 4.0, soft: [1.0; 2], mu: dice.unit() };
        let ahead = dice.between(-0.1, 0.1).max(0.0);
        let share = if dice.unit() < 0.2 { 9.0 } else { 0.0 };
        let rebound = Rebound { share, beyond: dice.between(-0.5, 0.5).max(0.0) };
        let step = Step { scheme: Scheme::Middle, dt: 0.1, ahead, rebound, last: Last::Forgotten };
        let Some(c) = Contact::new(step, [at, on(&end)], way, (0, 1.0), law, Multiplier::default()) else {
            continue;
        };
        seen += 1;
        assert!(c.pressure * c.closing >= 0.0 && c.shear_power() >= 0.0);
        let limit = law.mu * (c.pressure + rebound.at(c.pressure));
        assert!(c.size(&c.shear) <= limit * (1.0 + 1e-14));
        assert!(!c.slips || (c.size(&c.shear) - limit).abs() < 1e-13 * limit);
        assert!((c.shear_vector().norm() - c.size(&c.shear)).abs() < 1e-12 * c.pressure);
    }
    assert!(seen > 200);
}

/// A cone that is wider by a pressure e: who slips has μ e more of friction along its direction and no more pressure; who sticks has what it had. What an increment foresees of it
/// is the same, and friction knows e when the point is on that cone, or within it.
#[test]
fn friction_grows_with_the_impulse_at_the_end_of_the_step() {
    let mut dice = Dice(15);
    let (mut slipped, mut stuck) = (0, 0);
    for _ in 0..200 {
        let (slave, master, [x, end]) = scene(&mut dice, FacetKind::Quad);
        let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
        let on =
            |x: &[Vec3]| Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap();
        let at = on(&middle);
        let way = at.gather(|n| end[n] - x[n]);
        let law = Law { normal: 7.0, tangential: 0.3 + 1.7 * dice.unit(), soft: [1.0; 2], mu: 0.5 };
        let with = |wider: f64| {
            let rebound = e(wider);
            let step = Step { scheme: Scheme::Middle, dt: 0.1, ahead: 0.0, rebound, last: Last::Forgotten };
            Contact::new(step, [at, on(&end)], way, (0, 0.8), law, Multiplier::default()).unwrap()
        };
        let (narrow, wide) = (with(0.0), with(0.2));
        assert_eq!(narrow.pressure, wide.pressure);
        if !narrow.slips {
            stuck += 1;
            assert_eq!(narrow.shear, wide.shear);
            assert!(narrow.knows(0.0, 1e-9) && narrow.knows(0.2, 1e-9));
            continue;
        }
        assert!(narrow.knows(0.0, 1e-9) && !narrow.knows(0.2, 1e-9) && !wide.knows(0.0, 1e-9));
        if !wide.slips {
            assert!(wide.knows(0.2, 1e-9));
            continue;
        }
        slipped += 1;
        let more = narrow.forces_of_friction(0.2);
        (0..at.count).for_each(|k| assert!((wide.force(k) - narrow.force(k) - more[k]).norm() < 1e-14));
        let mut traction = narrow.next_multiplier();
        narrow.add_to(&mut traction, (0.3, [0.0; 2]), 0.2);
        assert!((traction.shear - wide.shear_vector()).norm() < 1e-14);
        assert!((traction.normal - narrow.pressure - 0.3).abs() < 1e-14);
    }
    assert!(slipped > 50 && stuck > 10, "{slipped} {stuck}");
}

/// A point that lands at the very end of a step is nearly one that does not land at all: with e in proportion to the pressure friction goes to zero with it, and so
/// does what a further pressure adds; a cone that is wider by a pressure is so by μ, as everywhere.
#[test]
fn who_lands_at_the_end_of_a_step_is_not_held_from_its_start() {
    let mut dice = Dice(16);
    let mut slipped = 0;
    for _ in 0..200 {
        let (slave, master, [x, end]) = scene(&mut dice, FacetKind::Quad);
        let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
        let on =
            |x: &[Vec3]| Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap();
        let at = on(&middle);
        let way = at.gather(|n| end[n] - x[n]);
        let law = Law { normal: 7.0, tangential: 1e3, soft: [1.0; 2], mu: 0.5 };
        let rebound = Rebound { share: 9.0, beyond: 0.0 };
        let with = |pressed: f64| {
            let ahead = -at.normal_of(&way) - pressed;
            let step = Step { scheme: Scheme::Middle, dt: 0.1, ahead, rebound, last: Last::Forgotten };
            Contact::new(step, [at, on(&end)], way, (0, 0.8), law, Multiplier::default())
        };
        let Some(contact) = with(1e-9).filter(|c| c.slips) else { continue };
        slipped += 1;
        assert!((contact.pressure - 7e-9).abs() < 1e-13, "{}", contact.pressure);
        assert!((contact.shear_size() - 0.5 * 10.0 * contact.pressure).abs() < 1e-12 * contact.pressure);
        let more = contact.with_friction((1.0, [0.0; 2])).1;
        assert!((contact.size(&more) - 5.0).abs() < 1e-12);
        assert!((contact.size(&contact.friction_of(1.0)) - 0.5).abs() < 1e-12);
        assert!(contact.knows(9.0 * contact.pressure, 1e-9) && !contact.knows(contact.pressure, 1e-3));
    }
    assert!(slipped > 50, "{slipped}");
}
