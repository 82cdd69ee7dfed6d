//! Back on the surface, and what gives angular momentum and energy back.

use super::*;

fn moved(t: &ContactCase, moves: &[Vec3; MAX_POINTS]) -> Vec<Vec3> {
    let mut x = t.x.clone();
    for ((k, _), d) in t.pair.stencil().zip(moves) {
        x[k] += d;
    }
    x
}

#[test]
fn projection_closes_the_gap_at_once_and_leaves_the_centre_of_mass() {
    let mut dice = Dice(8);
    for i in 0..20_000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        let depth = dice.between(0.0, 0.1);
        t.x[0] -= depth / t.pair.weights()[0] * t.pair.normal;
        t.pair = t.pair.measured(&t.x);
        assert!((t.pair.gap + depth).abs() <= 1e-14);
        let clearance = if i % 2 == 0 { 0.0 } else { 1e-3 };
        let moves = displacements(&t.pair, clearance, Projection::Mass, &t.inv_mass).expect("free");
        let x = moved(&t, &moves);
        let after = t.pair.measured(&x);
        assert!((after.gap - clearance).abs() <= 1e-14);
        if clearance == 0.0 {
            assert!(after.gap_vector(&x).norm() <= 1e-14);
            let again = displacements(&after, 0.0, Projection::Mass, &t.inv_mass).expect("free");
            assert!(again.iter().all(|d| d.norm() <= 1e-14), "idempotent");
        }
        let drift: Vec3 = t.pair.stencil().zip(&moves).map(|((k, _), d)| t.mass[k] * d).sum();
        assert!(drift.norm() <= 1e-14 * t.mass.iter().sum::<f64>());
        // the paper's own: only the first side moves
        let moves = displacements(&t.pair, clearance, Projection::OneSided, &t.inv_mass).expect("free");
        assert!((t.pair.measured(&moved(&t, &moves)).gap - clearance).abs() <= 1e-14);
        assert!(t.pair.stencil().zip(&moves).all(|((_, w), d)| w > 0.0 || *d == Vec3::zeros()));
        // with supports nobody leaves them
        t.restrain(&mut dice);
        let n = t.pair.normal;
        let inv = inverse_mass(&t.pair, &t.inv_mass);
        for how in [Projection::Mass, Projection::OneSided] {
            let Some(moves) = displacements(&t.pair, clearance, how, &t.inv_mass) else { continue };
            if n.dot(&(inv * n)) < 1e-4 * inv.trace() {
                continue;
            }
            let size = moves.iter().map(|d| d.norm()).fold(1.0, f64::max);
            assert!((t.pair.measured(&moved(&t, &moves)).gap - clearance).abs() <= 1e-11 * size);
            for ((k, _), d) in t.pair.stencil().zip(&moves) {
                let pushed = size + (t.pair.gap - clearance).abs() / n.dot(&(inv * n)) / t.mass[k];
                let out = (d - t.mass[k] * (t.inv_mass[k] * d)).norm();
                assert!(out <= 1e-13 * pushed, "{out} {pushed}");
            }
        }
    }
}

#[test]
fn the_spin_correction_returns_angular_momentum_and_changes_neither_momentum_nor_approach() {
    let mut dice = Dice(9);
    for i in 0..5000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        t.x[0] -= dice.between(0.0, 0.1) / t.pair.weights()[0] * t.pair.normal;
        t.pair = t.pair.measured(&t.x);
        let (l0, p0) = (t.spin(), t.momentum());
        let moves = displacements(&t.pair, 0.0, Projection::Mass, &t.inv_mass).expect("free");
        t.x = moved(&t, &moves);
        let (u0, k0) = (t.pair.relative_velocity(&t.v), t.kinetic());
        let lost = t.spin() - l0;
        let gained = spin_gained(&t.pair, &moves, &t.mass, &t.v);
        let spin = Spin::against(&gained, t.pair.points(), &t.mass, &t.x, &t.v);
        let gain = spin.map_or(0.0, |s| s.gain);
        for &k in t.pair.points() {
            t.v[k as usize] += spin.map_or(Vec3::zeros(), |s| s.at(&t.x[k as usize]));
        }
        let size = t.scale().max(1.0) + t.v.iter().map(|v| v.norm()).sum::<f64>();
        let drift = (t.momentum() - p0).norm();
        assert!(drift <= 1e-12 * size, "{i}: {}", drift / size);
        assert!((t.pair.relative_velocity(&t.v) - u0).norm() <= 1e-10 * size);
        assert!((t.kinetic() - k0 - gain).abs() <= 1e-11 * size * size);
        if i % KINDS >= 2 {
            assert!((t.spin() - l0).norm() <= 1e-11 * size, "{lost:?}");
        }
    }
}

#[test]
fn the_energy_correction_adds_what_is_asked_for_or_stops_the_approach() {
    let mut dice = Dice(10);
    let (mut paid, mut owed) = (0, 0);
    for i in 0..20_000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        t.pair.e = 1.0;
        let (n, k0, u0) = (t.pair.normal, t.kinetic(), t.pair.relative_velocity(&t.v));
        let c = inverse_mass(&t.pair, &t.inv_mass)[(0, 0)];
        let work = dice.between(-1.0, 1.0) * n.dot(&u0).powi(2) / c;
        let mut plain = ContactCase { v: t.v.clone(), ..ContactCase::new(&mut Dice(0), i % KINDS) };
        (plain.pair, plain.inv_mass, plain.mass) = (t.pair, t.inv_mass.clone(), t.mass.clone());
        let Some(impact) = t.bounce(work) else { continue };
        let energy = k0.max(t.kinetic());
        let rate = n.dot(&t.pair.relative_velocity(&t.v));
        assert!(rate >= -1e-12 * u0.norm());
        assert!((t.kinetic() - k0 - (work - impact.owed)).abs() <= 1e-12 * energy);
        if impact.owed == 0.0 {
            paid += 1;
        } else {
            owed += 1;
            assert!(rate.abs() <= 1e-12 * u0.norm());
        }
        // no work: the elastic impact
        let same = plain.bounce(0.0).expect("approaches");
        assert!((same.lost_normal).abs() <= 1e-14 * energy);
    }
    assert!(paid > 1000 && owed > 1000);
}
