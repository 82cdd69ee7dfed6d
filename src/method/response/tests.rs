use super::*;
use crate::math::{Mat3, Vec3};
use case::{ContactCase, Dice, KINDS};
use nalgebra::{DMatrix, DVector};

mod case;
mod corrections;

const PLAIN: Terms = Terms { stick: Stick::Plastic, work: 0.0, parting: 0.0 };
const STICK: [Stick; 2] = [Stick::Elastic, Stick::Plastic];

fn tangential(u: &Vec3, n: &Vec3) -> Vec3 {
    u - n.dot(u) * n
}

#[test]
fn impacts_of_all_kinds_keep_momenta_and_obey_restitution_and_friction() {
    let mut dice = Dice(1);
    let (mut stuck, mut slid) = (0, 0);
    for i in 0..120_000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        t.pair.e = if i % 3 == 0 { 1.0 } else { dice.unit() };
        t.pair.mu = if i % 2 == 0 { 0.0 } else { dice.between(0.0, 1.0) };
        let n = t.pair.normal;
        let (k0, p0, l0, u0) = (t.kinetic(), t.momentum(), t.spin(), t.pair.relative_velocity(&t.v));
        let before = t.v.clone();
        let scale = t.scale();
        let c = inverse_mass(&t.pair, &t.inv_mass)[(0, 0)];
        let stick = STICK[i / KINDS % 2];
        let Some(impact) = t.bounce_with(stick, 0.0) else {
            assert!(n.dot(&u0) >= 0.0);
            assert_eq!(t.v, before, "a pair that parts is left alone");
            continue;
        };
        let scale = scale.max(t.scale());
        let u1 = t.pair.relative_velocity(&t.v);
        let (e, mu, un) = (t.pair.e, t.pair.mu, n.dot(&u0));
        let e_t = stick.restitution(e);
        assert!((t.momentum() - p0).norm() <= 1e-13 * scale);
        assert!((t.spin() - l0).norm() <= 1e-12 * scale);
        assert!((n.dot(&u1) + e * un).abs() <= 1e-12 * u0.norm().max(1e-3), "{} {}", n.dot(&u1), -e * un);
        let lost = impact.lost_normal + impact.lost_friction;
        let energy = k0.max(t.kinetic());
        assert!((t.kinetic() - k0 + lost).abs() <= 1e-13 * energy, "{} {} {}", k0, t.kinetic(), lost);
        let normal_loss = 0.5 * (1.0 - e * e) * un * un / c;
        assert!((impact.lost_normal - normal_loss).abs() <= 1e-14 * un * un / c);
        // the cone, stick and slip
        let (jn, jt) = (n.dot(&impact.normal), impact.friction.norm());
        assert!(jt <= mu * jn * (1.0 + 1e-14));
        let (t0, t1) = (tangential(&u0, &n), tangential(&u1, &n));
        if mu == 0.0 {
            assert_eq!(impact.friction, Vec3::zeros());
        } else if impact.sticks {
            stuck += 1;
            assert!((1.0 + e_t) * t0.norm() <= (1.0 + e) * mu * un.abs() * (1.0 + 1e-12));
            assert!((t1 + e_t * t0).norm() <= 1e-12 * u0.norm().max(1e-3));
            let slip_loss = 0.5 * (1.0 - e_t * e_t) * t0.norm_squared() / c;
            assert!((impact.lost_friction - slip_loss).abs() <= 1e-13 * u0.norm_squared() / c);
            assert!(impact.lost_friction >= 0.0);
        } else {
            slid += 1;
            // less by (1+e) μ |u_n|, which is not what sticking takes; loss r‖p_slide‖ − ½r² with r = (1+e) μ ‖p_norm‖
            let left = t0.norm() - (1.0 + e) * mu * un.abs();
            assert!(left > -e_t * t0.norm());
            assert!((t1 - left * t0.normalize()).norm() <= 1e-12 * u0.norm().max(1e-3));
            let (r, slide) = ((1.0 + e) * mu * un.abs() / c.sqrt(), t0.norm() / c.sqrt());
            assert!((impact.lost_friction - r * slide + 0.5 * r * r).abs() <= 1e-13 * u0.norm_squared() / c);
        }
    }
    assert!(stuck > 5000 && slid > 5000, "{stuck} stick, {slid} slide");
}

#[test]
fn supports_take_momentum_but_neither_energy_nor_the_law_of_impact() {
    let mut dice = Dice(2);
    let (mut impacts, mut held) = (0, 0);
    for i in 0..100_000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        t.restrain(&mut dice);
        t.pair.e = dice.unit();
        t.pair.mu = if i % 4 == 0 { 0.0 } else { dice.between(0.0, 1.0) };
        let n = t.pair.normal;
        let (k0, u0) = (t.kinetic(), t.pair.relative_velocity(&t.v));
        let inv = inverse_mass(&t.pair, &t.inv_mass);
        let along = n.dot(&(inv * n));
        let Some(impact) = t.bounce_with(STICK[i / KINDS % 2], 0.0) else {
            held += 1;
            assert!(n.dot(&u0) >= 0.0 || along <= 1e-12 * inv.trace());
            continue;
        };
        if along < 1e-6 * inv.trace() {
            continue; // almost held: impulses without bound
        }
        impacts += 1;
        let u1 = t.pair.relative_velocity(&t.v);
        // velocities grow by K times the impulse, and so does round-off
        let round_off = 1e-11 * (u0.norm() + inv.trace() * impact.impulse().norm());
        assert!((n.dot(&u1) + t.pair.e * n.dot(&u0)).abs() <= round_off);
        let lost = impact.lost_normal + impact.lost_friction;
        let energy = k0.max(t.kinetic()) + inv.trace() * impact.impulse().norm_squared();
        assert!((t.kinetic() - k0 + lost).abs() <= 1e-11 * energy);
        assert!(lost >= -1e-11 * energy && impact.lost_friction >= 0.0, "friction is no source");
        let j = impact.impulse();
        let (jn, jt) = (n.dot(&j), tangential(&j, &n).norm());
        assert!(jt <= t.pair.mu * jn + 1e-11 * j.norm());
        for k in 0..t.x.len() {
            let moved = t.v[k] - t.mass[k] * (t.inv_mass[k] * t.v[k]);
            let pushed = 1.0 + t.v[k].norm() + j.norm() / t.mass[k];
            assert!(moved.norm() <= 1e-14 * pushed, "held directions stay: {} {}", moved.norm(), pushed);
        }
    }
    assert!(impacts > 10_000 && held > 1000);
}

/// Contact and restraint multipliers together, (26)–(35) of the asynchronous method: M Δv = w n λ + Gᵀγ,
/// G Δv = 0, n·Σ w Δv = −(1+e) n·u. No projector in sight.
#[test]
fn the_projected_mass_says_what_multipliers_for_all_supports_say() {
    let mut dice = Dice(3);
    for i in 0..500 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        let count = t.x.len();
        let d: Vec<Vec3> = (0..count).map(|_| dice.direction()).collect();
        for k in 0..count {
            let free = Mat3::identity() - d[k] * d[k].transpose();
            t.inv_mass[k] = free / t.mass[k];
            t.v[k] = free * t.v[k];
        }
        t.pair.e = 0.3;
        let (n, u) = (t.pair.normal, t.pair.relative_velocity(&t.v));
        let inv = inverse_mass(&t.pair, &t.inv_mass);
        let before = t.v.clone();
        if n.dot(&(inv * n)) < 1e-2 * inv.trace() || t.bounce(0.0).is_none() {
            continue;
        }
        let size = 4 * count + 1;
        let (mut a, mut b) = (DMatrix::zeros(size, size), DVector::zeros(size));
        for (i, (k, w)) in t.pair.stencil().enumerate() {
            for r in 0..3 {
                a[(3 * i + r, 3 * i + r)] = t.mass[k];
                a[(3 * i + r, 3 * count + i)] = -d[k][r];
                a[(3 * count + i, 3 * i + r)] = -d[k][r];
                a[(3 * i + r, size - 1)] = -w * n[r];
                a[(size - 1, 3 * i + r)] = -w * n[r];
            }
        }
        b[size - 1] = 1.3 * n.dot(&u);
        let change = a.lu().solve(&b).expect("regular");
        for (i, (k, _)) in t.pair.stencil().enumerate() {
            let dv = Vec3::new(change[3 * i], change[3 * i + 1], change[3 * i + 2]);
            assert!((t.v[k] - before[k] - dv).norm() <= 1e-10 * dv.norm().max(1e-3));
        }
    }
}

/// −g times 6 and its gradient: volume of the tetrahedron over the four nodes (node–face, edge–edge).
fn volume(edges: bool, x: &[Vec3]) -> f64 {
    if edges {
        (x[2] - x[0]).dot(&(x[1] - x[0]).cross(&(x[3] - x[2])))
    } else {
        (x[0] - x[1]).dot(&(x[2] - x[1]).cross(&(x[3] - x[1])))
    }
}

fn volume_gradient(edges: bool, x: &[Vec3]) -> [Vec3; 4] {
    if edges {
        let (r, e, f) = (x[2] - x[0], x[1] - x[0], x[3] - x[2]);
        let g = e.cross(&f);
        let (b, d) = (f.cross(&r), r.cross(&e));
        [-g - b, b, g - d, d]
    } else {
        let (p, b, c) = (x[0] - x[1], x[2] - x[1], x[3] - x[1]);
        let (dp, db, dc) = (b.cross(&c), c.cross(&p), p.cross(&b));
        [dp, -(dp + db + dc), db, dc]
    }
}

#[test]
fn the_gradient_of_the_volume_between_features_is_a_multiple_of_weight_times_normal() {
    let mut dice = Dice(4);
    for i in 0..4000 {
        let edges = i % 2 == 1;
        let t = ContactCase::new(&mut dice, if edges { 3 } else { 2 });
        // away from touch: finite differences, balance, Euler's theorem
        let x: Vec<Vec3> = t.x.iter().map(|x| x + 0.1 * dice.point()).collect();
        let grad = volume_gradient(edges, &x);
        for k in 0..4 {
            for axis in 0..3 {
                let at = |h: f64| {
                    let mut y = x.clone();
                    y[k][axis] += h;
                    volume(edges, &y)
                };
                assert!(((at(1e-4) - at(-1e-4)) / 2e-4 - grad[k][axis]).abs() <= 1e-8 * 8.0);
            }
        }
        let twist: Vec3 = (0..4).map(|k| x[k].cross(&grad[k])).sum();
        let euler: f64 = (0..4).map(|k| x[k].dot(&grad[k])).sum();
        let size: f64 = grad.iter().map(|g| g.norm()).sum();
        assert!(grad.iter().sum::<Vec3>().norm() <= 1e-14 * size && twist.norm() <= 1e-13 * size);
        assert!((euler - 3.0 * volume(edges, &x)).abs() <= 1e-13 * size);
        // at touch: in the range of ∇hᵀ
        let grad = volume_gradient(edges, &t.x);
        let (k0, w0) = t.pair.stencil().next().expect("four points");
        let factor = grad[k0].dot(&t.pair.normal) / w0;
        for (k, w) in t.pair.stencil() {
            assert!((grad[k] - factor * w * t.pair.normal).norm() <= 1e-12 * size);
        }
    }
}

/// (18), (31), (33), (34), (45) with any mass matrix, momenta and gradients stacked:
/// p⁺ = p − (1+e) p_norm − min(1 + e_t, (1+e) μ ‖p_norm‖/‖p_slide‖) p_slide.
fn momentum_form(t: &ContactCase, stick: Stick, inv_m: &DMatrix<f64>, grad: &[Vec3]) -> DVector<f64> {
    let n = t.x.len();
    let inv = inv_m.kronecker(&DMatrix::identity(3, 3));
    let stack = |x: &[Vec3]| DVector::from_fn(3 * n, |i, _| x[i / 3][i % 3]);
    let p = inv.clone().try_inverse().expect("regular") * stack(&t.v);
    let grad = stack(grad);
    let mut h = DMatrix::zeros(3, 3 * n);
    for (k, w) in t.pair.stencil() {
        (0..3).for_each(|r| h[(r, 3 * k + r)] = w);
    }
    let dot = |a: &DVector<f64>, b: &DVector<f64>| (a.transpose() * &inv * b)[0];
    let normal = dot(&grad, &p) / dot(&grad, &grad) * &grad;
    let point = (&h * &inv * h.transpose()).try_inverse().expect("regular");
    let nonfix = h.transpose() * point * &h * &inv * &p;
    let slide = nonfix - &normal;
    let (e, mu) = (t.pair.e, t.pair.mu);
    let (a, b) = (dot(&normal, &normal).sqrt(), dot(&slide, &slide).sqrt());
    let factor = if b > 0.0 { ((1.0 + e) * mu * a / b).min(1.0 + stick.restitution(e)) } else { 0.0 };
    &inv * (p - (1.0 + e) * normal - factor * slide)
}

#[test]
fn the_reduced_form_equals_the_momentum_form_and_lumping_is_a_diagonal_mass() {
    let mut dice = Dice(5);
    let mut compared = 0;
    for i in 0..4000 {
        let edges = i % 2 == 1;
        let mut t = ContactCase::new(&mut dice, if edges { 3 } else { 2 });
        (t.pair.e, t.pair.mu) = (dice.unit(), if i % 4 < 2 { 0.0 } else { dice.unit() });
        let inv = DMatrix::from_diagonal(&DVector::from_fn(4, |k, _| 1.0 / t.mass[k]));
        let stick = STICK[i / 4 % 2];
        let expected = momentum_form(&t, stick, &inv, &volume_gradient(edges, &t.x));
        let size = t.v.iter().map(|v| v.norm()).fold(expected.amax(), f64::max);
        if t.bounce_with(stick, 0.0).is_none() {
            continue;
        }
        compared += 1;
        for k in 0..4 {
            for axis in 0..3 {
                assert!((t.v[k][axis] - expected[3 * k + axis]).abs() <= 1e-11 * size);
            }
        }
    }
    assert!(compared > 1000);
}

/// With the consistent mass of the whole mesh the same impulse spreads over all nodes, `v += m⁻¹w j`, `c = w·m⁻¹w`.
#[test]
fn the_form_for_a_consistent_mass_keeps_momentum_and_energy_as_well() {
    let mut dice = Dice(6);
    for i in 0..500 {
        let edges = i % 2 == 1;
        let mut t = ContactCase::new(&mut dice, if edges { 3 } else { 2 });
        (t.pair.e, t.pair.mu) = (1.0, 0.0);
        // masses of two linear elements that share nothing: positive definite and full
        let a = DMatrix::from_fn(4, 4, |_, _| dice.unit());
        let m = &a * a.transpose() + DMatrix::identity(4, 4);
        let inv = m.clone().try_inverse().expect("regular");
        if t.pair.normal.dot(&t.pair.relative_velocity(&t.v)) >= 0.0 {
            continue;
        }
        let after = momentum_form(&t, PLAIN.stick, &inv, &volume_gradient(edges, &t.x));
        let wide = m.kronecker(&DMatrix::identity(3, 3));
        let before = DVector::from_fn(12, |i, _| t.v[i / 3][i % 3]);
        let (k0, k1) = ((before.transpose() * &wide * &before)[0], (after.transpose() * &wide * &after)[0]);
        assert!((k1 - k0).abs() <= 1e-12 * k0.max(k1));
        let change = &wide * (&after - &before);
        let (mut sum, mut twist) = (Vec3::zeros(), Vec3::zeros());
        for k in 0..4 {
            let dp = Vec3::new(change[3 * k], change[3 * k + 1], change[3 * k + 2]);
            sum += dp;
            twist += t.x[k].cross(&dp);
        }
        assert!(sum.norm() <= 1e-11 * change.norm() && twist.norm() <= 1e-10 * change.norm());
        // point form
        let w = DVector::from_fn(4, |k, _| t.pair.weights()[k]);
        let spread = &inv * &w;
        let j = -2.0 * t.pair.normal.dot(&t.pair.relative_velocity(&t.v)) / w.dot(&spread) * t.pair.normal;
        for k in 0..4 {
            let dv = spread[k] * j;
            for axis in 0..3 {
                assert!((after[3 * k + axis] - t.v[k][axis] - dv[axis]).abs() <= 1e-10 * j.norm().max(1.0));
            }
        }
    }
}

/// The momentum of a touching pair of free nodes in four parts that have nothing to do with each other: their
/// energies add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    /// What an elastic impact reverses and what friction acts on.
    normal: [Vec3; MAX_POINTS],
    slide: [Vec3; MAX_POINTS],
    /// What no impact changes: motion of the nodes as one rigid body, and the change of its shape.
    rigid: [Vec3; MAX_POINTS],
    shape: [Vec3; MAX_POINTS],
}

/// Splits momenta [kg m/s] by `mass`, positions `x` at touch and velocities `v`.
fn split(pair: &Pair, mass: &[f64], x: &[Vec3], v: &[Vec3]) -> Parts {
    let zero = [Vec3::zeros(); MAX_POINTS];
    let mut parts = Parts { normal: zero, slide: zero, rigid: zero, shape: zero };
    let c: f64 = pair.stencil().map(|(k, w)| w * w / mass[k]).sum();
    let u = pair.relative_velocity(v);
    let along = pair.normal.dot(&u) * pair.normal;

    // rigid motion (t, ω): xₖ moves with t + ω × xₖ, momenta about the centre so that the two do not mix
    let total: f64 = pair.stencil().map(|(k, _)| mass[k]).sum();
    let centre = pair.stencil().map(|(k, _)| mass[k] * x[k]).sum::<Vec3>() / total;
    let (mut inertia, mut momentum, mut spin) = (Mat3::zeros(), Vec3::zeros(), Vec3::zeros());
    for (k, _) in pair.stencil() {
        let (r, p) = (x[k] - centre, mass[k] * v[k]);
        inertia += mass[k] * (r.norm_squared() * Mat3::identity() - r * r.transpose());
        momentum += p;
        spin += r.cross(&p);
    }
    let (translation, turning) = (momentum / total, pseudo_inverse(&inertia) * spin);

    for (i, (k, w)) in pair.stencil().enumerate() {
        let p = mass[k] * v[k];
        parts.normal[i] = w / c * along;
        parts.slide[i] = w / c * (u - along);
        parts.rigid[i] = mass[k] * (translation + turning.cross(&(x[k] - centre)));
        parts.shape[i] = p - parts.normal[i] - parts.slide[i] - parts.rigid[i];
    }
    parts
}

#[test]
fn the_four_parts_of_momentum_are_orthogonal_and_add_up() {
    let mut dice = Dice(7);
    for i in 0..4000 {
        let t = ContactCase::new(&mut dice, 2 + i % 3);
        let parts = split(&t.pair, &t.mass, &t.x, &t.v);
        let all = [parts.normal, parts.slide, parts.rigid, parts.shape];
        let dot = |a: &[Vec3; MAX_POINTS], b: &[Vec3; MAX_POINTS]| -> f64 {
            t.pair.stencil().enumerate().map(|(i, (k, _))| a[i].dot(&b[i]) / t.mass[k]).sum()
        };
        // light nodes weigh ten thousand times more in the inverse mass
        let size = 2.0 * t.kinetic();
        for i in 0..4 {
            for j in 0..i {
                assert!(
                    dot(&all[i], &all[j]).abs() <= 1e-11 * size,
                    "{i} {j} {}",
                    dot(&all[i], &all[j]) / size
                );
            }
        }
        let mut momentum = [Vec3::zeros(); 3];
        let mut twist = [Vec3::zeros(); 3];
        for (i, (k, _)) in t.pair.stencil().enumerate() {
            let sum = all.iter().map(|p| p[i]).sum::<Vec3>();
            assert!((sum - t.mass[k] * t.v[k]).norm() <= 1e-13 * t.scale());
            for (part, p) in [parts.normal, parts.slide, parts.shape].iter().enumerate() {
                momentum[part] += p[i];
                twist[part] += t.x[k].cross(&p[i]);
            }
        }
        for part in 0..3 {
            let left = momentum[part].norm().max(twist[part].norm());
            assert!(left <= 1e-10 * t.scale(), "{part}: {}", left / t.scale());
        }
        // idempotent: the normal part of the normal part is the normal part, and of the others nothing
        for (j, part) in all.iter().enumerate() {
            let v: Vec<Vec3> =
                (0..t.x.len()).map(|i| part[i] / t.mass[t.pair.points()[i] as usize]).collect();
            let mut by_node = v.clone();
            for (i, &k) in t.pair.points().iter().enumerate() {
                by_node[k as usize] = v[i];
            }
            let again = split(&t.pair, &t.mass, &t.x, &by_node);
            let twice = [again.normal, again.slide, again.rigid, again.shape];
            for (i, other) in twice.iter().enumerate() {
                let expected = if i == j { *part } else { [Vec3::zeros(); MAX_POINTS] };
                let error: f64 = (0..t.x.len()).map(|k| (other[k] - expected[k]).norm()).sum();
                assert!(error <= 1e-10 * t.scale());
            }
        }
    }
}

#[test]
fn turning_shifting_scaling_and_swapping_change_nothing_but_the_frame() {
    let mut dice = Dice(11);
    for i in 0..5000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        (t.pair.e, t.pair.mu) = (dice.unit(), dice.unit());
        let turn = nalgebra::Rotation3::new(3.0 * dice.point()).into_inner();
        let wind = dice.point();
        let mut other = t.v.iter().map(|v| turn * v + wind).collect::<Vec<_>>();
        let mut pair = t.pair;
        pair.normal = turn * pair.normal;
        bounce(&pair, PLAIN, &t.inv_mass, &mut other);
        // masses and speeds in other units
        let heavy: Vec<Mat3> = t.inv_mass.iter().map(|m| m / 7.0).collect();
        let mut fast: Vec<Vec3> = t.v.iter().map(|v| 3.0 * v).collect();
        bounce(&t.pair, PLAIN, &heavy, &mut fast);
        let mut swapped = t.v.clone();
        if i % KINDS == 3 {
            // second edge first, and both run backwards: n turns around
            let w = t.pair.weights();
            let mut p = Pair::edge_edge(1, 0, [3, 2, 1, 0], -w[2], w[0], -t.pair.normal);
            (p.e, p.mu) = (t.pair.e, t.pair.mu);
            bounce(&p, PLAIN, &t.inv_mass, &mut swapped);
        }
        t.bounce_with(PLAIN.stick, 0.0);
        for k in 0..t.x.len() {
            let size = t.v[k].norm().max(1.0);
            assert!((other[k] - turn * t.v[k] - wind).norm() <= 1e-11 * size);
            assert!((fast[k] - 3.0 * t.v[k]).norm() <= 1e-12 * size);
            if i % KINDS == 3 {
                assert!((swapped[k] - t.v[k]).norm() <= 1e-11 * size);
            }
        }
    }
}

/// A fixed face: v_n⁺ = −e v_n. Everything fixed: nothing happens, and nothing is not a number.
#[test]
fn a_node_bounces_off_what_is_fixed_and_fixed_nodes_stay() {
    let mut dice = Dice(12);
    for i in 0..1000 {
        let mut t = ContactCase::new(&mut dice, 2);
        t.pair.e = 0.7;
        for k in 1..4 {
            (t.inv_mass[k], t.v[k]) = (Mat3::zeros(), Vec3::zeros());
        }
        if i % 2 == 0 {
            t.inv_mass[0] = Mat3::zeros();
        }
        let before = t.v.clone();
        let vn = t.pair.normal.dot(&before[0]);
        t.bounce(0.0);
        assert_eq!(t.v[1..], before[1..]);
        if i % 2 == 0 {
            assert_eq!(t.v[0], before[0]);
            assert_eq!(displacements(&t.pair, 0.1, Projection::Mass, &t.inv_mass), None);
        } else if vn < 0.0 {
            assert!((t.pair.normal.dot(&t.v[0]) + 0.7 * vn).abs() <= 1e-15);
        }
    }
}

/// One number for each node leaves the bits of nine, where nodes are free or fixed.
#[test]
fn nodes_alike_in_all_directions_are_displaced_from_one_number() {
    let mut dice = Dice(31);
    let mut held = 0;
    for i in 0..2000 {
        let mut t = ContactCase::new(&mut dice, i % KINDS);
        for (k, (inv_mass, mass)) in t.inv_mass.iter_mut().zip(&t.mass).enumerate() {
            let fixed = i % 7 == 0 || (i >> k) % 2 == 0;
            *inv_mass = Mat3::from_diagonal_element(if fixed { 0.0 } else { 1.0 / mass });
        }
        let alike: Vec<f64> = t.inv_mass.iter().map(|m| alike(m).unwrap()).collect();
        let clearance = dice.between(0.0, 0.1);
        let expected = displacements(&t.pair, clearance, Projection::Mass, &t.inv_mass);
        assert_eq!(displacements_alike(&t.pair, clearance, &alike), expected);
        held += u32::from(expected.is_none());
    }
    assert!((200..1500).contains(&held), "{held}");
    assert_eq!(alike(&Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0))), None);
}

/// Two particles, m = (2, 3), p = (1, −2): p⁺ = (−1.8, 0.8) at e = 1, (−0.4, −0.6) at e = 0.
#[test]
fn two_particles_on_a_line_follow_the_closed_form() {
    for (e, expected) in [(1.0, [-1.8, 0.8]), (0.0, [-0.4, -0.6])] {
        let mut pair = Pair::node_facet(0, 1, &[1], &[1.0], -Vec3::x());
        pair.e = e;
        let inv = [Mat3::identity() / 2.0, Mat3::identity() / 3.0];
        let mut v = [0.5 * Vec3::x(), -2.0 / 3.0 * Vec3::x()];
        bounce(&pair, PLAIN, &inv, &mut v);
        assert!((2.0 * v[0].x - expected[0]).abs() <= 1e-14 && (3.0 * v[1].x - expected[1]).abs() <= 1e-14);
    }
}

/// (name, pair, masses, velocities, [(e, μ, impulse on the positive side, K⁺, sticks)])
#[test]
fn golden_impacts() {
    let v = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    // node C on a segment: the paper's first side is the segment, ours the node: impulses change sign
    let segment = Pair::node_facet(2, 0, &[0, 1], &[0.25, 0.75], v(0.0, 1.0, 0.0));
    let face = Pair::node_facet(0, 0, &[1, 2, 3], &[0.5, 0.25, 0.25], v(0.0, 0.0, 1.0));
    let edges = Pair::edge_edge(0, 1, [0, 1, 2, 3], 0.6, 0.5, v(0.0, 0.0, -1.0));
    let m = [1.0, 2.0, 3.0, 4.0];
    type Row = (f64, f64, Vec3, f64);
    type Case = (Pair, Vec<f64>, Vec<Vec3>, [Row; 4]);
    let cases: [Case; 3] = [
        (
            segment,
            vec![1.0, 2.0, 1.5],
            vec![Vec3::zeros(), Vec3::zeros(), v(0.3, -1.0, 0.0)],
            [
                (1.0, 0.0, v(0.0, 1.979381443, 0.0), 0.8175),
                (0.5, 0.0, v(0.0, 1.484536082, 0.0), 0.4463659794),
                (1.0, 0.1, v(-0.197938144, 1.979381443, 0.0), 0.7779123711),
                (1.0, 0.5, v(-0.296907216, 1.979381443, 0.0), 0.7729639175),
            ],
        ),
        (
            face,
            m.to_vec(),
            vec![v(0.5, 0.0, -1.0), v(0.0, 0.0, 0.2), v(0.0, 0.1, 0.0), Vec3::zeros()],
            [
                (1.0, 0.0, v(0.0, 0.0, 1.894170404), 0.68),
                (0.5, 0.0, v(0.0, 0.0, 1.420627803), 0.2893273543),
                (1.0, 0.1, v(-0.189180712, 0.009459036, 1.894170404), 0.6060090425),
                (1.0, 0.5, v(-0.430493274, 0.021524664, 1.894170404), 0.5721076233),
            ],
        ),
        (
            edges,
            m.to_vec(),
            vec![v(0.0, 0.0, 1.0), v(0.0, 0.3, 1.0), v(0.0, 0.0, -1.0), v(0.1, 0.0, -0.5)],
            [
                (1.0, 0.0, v(0.0, 0.0, -7.204116638), 3.61),
                (0.5, 0.0, v(0.0, 0.0, -5.403087479), 1.2461492281),
                (1.0, 0.1, v(0.102915952, -0.370497427, -7.204116638), 3.5740823328),
                (1.0, 0.5, v(0.102915952, -0.370497427, -7.204116638), 3.5740823328),
            ],
        ),
    ];
    for (pair, mass, start, rows) in cases {
        let inv: Vec<Mat3> = mass.iter().map(|m| Mat3::identity() / *m).collect();
        for (e, mu, impulse, energy) in rows {
            let (mut pair, mut v) = (pair, start.clone());
            (pair.e, pair.mu) = (e, mu);
            let impact = bounce(&pair, PLAIN, &inv, &mut v).expect("approaches");
            assert!((impact.impulse() - impulse).norm() <= 1e-9, "{:?} {impulse:?}", impact.impulse());
            let kinetic: f64 = v.iter().zip(&mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum();
            assert!((kinetic - energy).abs() <= 1e-9, "{kinetic} {energy}");
        }
    }
    let x = [v(0.25, 0.25, -0.01), v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0)];
    let inv = m.map(|m| Mat3::identity() / m);
    let moves = displacements(&face.measured(&x), 0.0, Projection::Mass, &inv).expect("free");
    let expected = [-0.0013901345, -0.0021524664, -0.0007174888, -0.0005381166];
    for k in 0..4 {
        assert!((x[k].z + moves[k].z - expected[k]).abs() <= 1e-10);
    }
}
