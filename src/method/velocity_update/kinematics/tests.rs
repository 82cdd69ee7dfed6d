use super::*;
use crate::contact::dice::Dice;
use crate::math::Mat3;

/// A point over a facet of some kind, anyhow.
fn scene(dice: &mut Dice, kind: FacetKind) -> (Slave, Master, Vec<Vec3>) {
    let v = Vec3::new;
    let plane = [v(-1.0, 0.0, 0.0), v(1.0, 0.1, 0.0)];
    let space = [v(-1.0, -1.0, 0.0), v(1.0, -1.0, 0.2), v(1.1, 1.0, 0.0), v(-0.9, 1.0, 0.3)];
    let (mut x, count) = match kind {
        FacetKind::Segment => {
            // the body below: its outline runs the other way
            (vec![v(-0.5, 0.05, 0.0), v(0.7, 0.2, 0.0), plane[1], plane[0]], 2)
        }
        FacetKind::Triangle => {
            (vec![v(0.0, 0.0, 0.2), v(0.4, 0.0, 0.1), v(0.1, 0.3, 0.3), space[0], space[1], space[2]], 3)
        }
        _ => {
            let mut x = vec![v(-0.4, -0.4, 0.2), v(0.4, -0.4, 0.1), v(0.4, 0.3, 0.3), v(-0.3, 0.4, 0.0)];
            x.extend(space);
            (x, 4)
        }
    };
    for p in &mut x {
        *p += 0.2 * v(dice.between(-1.0, 1.0), dice.between(-1.0, 1.0), dice.between(-1.0, 1.0));
        if kind == FacetKind::Segment {
            p.z = 0.0;
        }
    }
    let mut weights = [0.0; 4];
    weights[..count].iter_mut().for_each(|w| *w = 0.1 + dice.unit());
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    let nodes = |first: u32| std::array::from_fn(|k| first + (k as u32).min(count as u32 - 1));
    let slave = Slave { nodes: nodes(0), weights, count: count as u8 };
    let master = Master { nodes: nodes(count as u32), kind, bounded: true, body: 1 };
    (slave, master, x)
}

const KINDS: [FacetKind; 3] = [FacetKind::Segment, FacetKind::Triangle, FacetKind::Quad];

fn at(slave: &Slave, master: &Master, x: &[Vec3]) -> Option<Kinematics> {
    let start = master.nearest(&slave.at(x), x).1;
    Kinematics::new(slave, master, 0, start, x)
}

/// Sums of N, D, d × N and d × D vanish in every configuration, whatever the overlap (section 4 of the method's sheet).
#[test]
fn operators_are_in_balance_and_without_moment() {
    let mut dice = Dice(3);
    let mut seen = 0;
    for kind in KINDS {
        for _ in 0..200 {
            let (slave, master, x) = scene(&mut dice, kind);
            let Some(k) = at(&slave, &master, &x) else { continue };
            seen += 1;
            let each = |f: &[Vec3; NODES]| {
                let (mut sum, mut moment, mut size) = (Vec3::zeros(), Vec3::zeros(), 0.0);
                for i in 0..k.count {
                    sum += f[i];
                    moment += x[k.nodes[i] as usize].cross(&f[i]);
                    size += f[i].norm();
                }
                (sum.norm() + moment.norm()) / size
            };
            assert!(each(&k.n) < 1e-13 && each(&k.d[0]) < 1e-13, "{kind:?}");
            assert!(k.tangents == 1 || each(&k.d[1]) < 1e-13, "{kind:?}");
        }
    }
    assert!(seen > 400, "{seen}");
}

/// Far from the origin a projection is found as before, and the overlap is the same to the round-off of coordinates.
#[test]
fn a_point_is_projected_far_away_as_at_home() {
    let mut dice = Dice(19);
    let mut seen = 0;
    for kind in KINDS {
        for _ in 0..100 {
            let (slave, master, mut x) = scene(&mut dice, kind);
            let Some(home) = at(&slave, &master, &x) else { continue };
            x.iter_mut().for_each(|p| {
                *p += Vec3::new(1000.0, -500.0, if kind == FacetKind::Segment { 0.0 } else { 300.0 })
            });
            let away = at(&slave, &master, &x).unwrap();
            assert!((away.overlap - home.overlap).abs() < 1e-11, "{kind:?}");
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen}");
}

/// `δg = −N·δd` and `δξ = D·δd`: the variation of N and D agrees with differences of the operators, of the metric too.
/// Central differences of step h err by h²; with h = 10⁻⁶ round-off over h is 10⁻¹⁰.
#[test]
fn variations_are_the_derivatives_of_the_operators() {
    let mut dice = Dice(5);
    let h = 1e-6;
    for kind in KINDS {
        for _ in 0..20 {
            let (slave, master, x) = scene(&mut dice, kind);
            let Some(k) = at(&slave, &master, &x) else { continue };
            for node in 0..k.count {
                for component in 0..if kind == FacetKind::Segment { 2 } else { 3 } {
                    let moved = |by: f64| {
                        let mut x = x.clone();
                        x[k.nodes[node] as usize][component] += by;
                        Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(&x), &x).1, &x).unwrap()
                    };
                    let (p, q, v) = (moved(h), moved(-h), k.vary(node, component));
                    let near = |a: f64, b: f64, c: f64| ((a - b) / (2.0 * h) - c).abs() < 3e-8;
                    assert!(near(p.overlap, q.overlap, -k.n[node][component]), "{kind:?}");
                    for i in 0..k.count {
                        for c in 0..3 {
                            assert!(near(p.n[i][c], q.n[i][c], v.n[i][c]), "{kind:?} N");
                            for a in 0..k.tangents {
                                assert!(near(p.d[a][i][c], q.d[a][i][c], v.d[a][i][c]), "{kind:?} D");
                            }
                        }
                    }
                    for a in 0..k.tangents {
                        for b in 0..k.tangents {
                            assert!(near(p.metric[a][b], q.metric[a][b], v.metric[a][b]), "{kind:?} m");
                        }
                    }
                }
            }
        }
    }
}

/// A finite rigid motion has no gap rate and no slip rate at the middle of both configurations (Cayley).
#[test]
fn rates_do_not_see_rigid_motions() {
    let mut dice = Dice(7);
    let mut seen = 0;
    for kind in KINDS {
        for _ in 0..100 {
            let (slave, master, x) = scene(&mut dice, kind);
            let axis = match kind {
                FacetKind::Segment => Vec3::z() * 3.0 * dice.between(-1.0, 1.0),
                _ => Vec3::new(dice.between(-1.0, 1.0), dice.between(-1.0, 1.0), dice.between(-1.0, 1.0)),
            };
            let turn: Mat3 = nalgebra::Rotation3::new(axis).into_inner();
            let offset = Vec3::new(dice.between(-1.0, 1.0), dice.between(-1.0, 1.0), 0.0);
            let end: Vec<Vec3> = x.iter().map(|x| turn * x + offset).collect();
            let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
            let Some(k) = at(&slave, &master, &middle) else { continue };
            seen += 1;
            let way = k.gather(|n| end[n] - x[n]);
            let slip = k.tangential_of(&way);
            assert!(k.normal_of(&way).abs() < 1e-12, "{kind:?}");
            // contravariant: as a way along the surface
            let length = (0..2).map(|a| slip[a].abs() * k.tangent[a].norm()).sum::<f64>();
            assert!(length < 1e-11, "{kind:?} {length:e}");
        }
    }
    assert!(seen > 150, "{seen}");
}
