//! Solids whose corners and edges meet (`nonsmooth`): single steps with known multipliers, tumbling cubes, a strip that touches itself, blocks
//! that rest and slide.

use crate::common::{Run, body};
use crate::kept::stops_and_threads_change_nothing;
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::{CellKind, Cells, Mesh, shape};
use carom::method::Method;
use carom::method::nonsmooth::simplex::ContactKind;
use carom::method::nonsmooth::{Nonsmooth, Options};
use carom::method::verlet::StepRule;
use carom::model::contact::{Law as ContactLaw, Obstacle, ObstacleShape};
use carom::model::{BodySpec, Builder, Model, Table};

/// A tetrahedron without stiffness whose nodes have this mass.
fn tetrahedron(name: &str, nodes: [[f64; 3]; 4], mass: f64) -> BodySpec<'static> {
    let x = nodes.map(Vec3::from);
    let volume = (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0;
    let order = if volume > 0.0 { vec![0, 1, 2, 3] } else { vec![0, 2, 1, 3] };
    let law = Law::Linear { young: 1e-18, poisson: 0.0, density: 4.0 * mass / volume.abs() };
    let cells = vec![Cells { kind: CellKind::Tet4, nodes: order }];
    body(name, Mesh { nodes: x.to_vec(), cells, ..Mesh::default() }, &law, 1.0)
}

/// One step of 0.1 s of two tetrahedra with nodes of mass 1 and 0.6, the second flying at (0.4, −0.2, −1); no forces but contact.
fn single_step(first: [[f64; 3]; 4], second: [[f64; 3]; 4]) -> (Run<Nonsmooth>, f64) {
    let mut builder = Builder::default();
    builder.body(tetrahedron("first", first, 1.0));
    builder.body(tetrahedron("second", second, 0.6));
    let model = builder.build().unwrap();
    let method = Nonsmooth::new(&model, StepRule::Fixed(0.1), Options::default());
    let fly = Vec3::new(0.4, -0.2, -1.0);
    let mut run = Run::with(model, method, |b, _| if b == 1 { fly } else { Vec3::zeros() });
    let before = run.ledger.kinetic;
    run.until(0.1).unwrap();
    let gained = run.ledger.kinetic - before;
    (run, gained)
}

/// λ = 47.66156 and ΔK = −0.1596469 for a node on a face, 16.765134 and −0.2777736 for two edges: another program's figures
/// (the method's sheet, 9.2).
#[test]
fn a_node_meets_a_face_and_an_edge_an_edge_with_the_multipliers_of_the_sheet() {
    let face = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, -1.0]];
    let tip = [[0.25, 0.3, 0.02], [0.0, 0.0, 1.0], [0.8, 0.1, 1.1], [0.2, 0.9, 1.05]];
    let roof = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, -1.0], [0.0, -0.5, -1.0]];
    let keel = [[0.1, -1.0, 0.02], [0.05, 1.0, 0.03], [0.5, 0.0, 1.0], [-0.5, 0.0, 1.0]];
    let cases = [
        (face, tip, ContactKind::NodeTriangle, 47.66156, -0.1596469),
        (roof, keel, ContactKind::EdgeEdge, 16.765134, -0.2777736),
    ];
    for (first, second, touch, lambda, gain) in cases {
        let (run, gained) = single_step(first, second);
        let program = run.method.program();
        assert_eq!(program.work.len(), 1);
        assert_eq!(program.work[0].key.0, touch);
        assert!((program.lambda[0] - lambda).abs() < 1e-5, "{touch:?}: {}", program.lambda[0]);
        assert!((gained - gain).abs() < 1e-6, "{touch:?}: {gained}");
        assert!((run.ledger.restitution + gain).abs() < 1e-6 && run.ledger.error().abs() < 1e-14);
        let forces = run.method.contact_forces();
        assert!(forces.iter().sum::<Vec3>().norm() < 1e-13);
        let moment: Vec3 = forces.iter().zip(&run.state.x).map(|(f, x)| x.cross(f)).sum();
        assert!(moment.norm() < 1e-11, "{moment}");
    }
}

/// How far two triangles must be moved to part, along the axis that needs the least: face normals and cross products of edges
/// (separating axes). Nothing of the method's own.
fn depth_of_triangles(a: &[Vec3; 3], b: &[Vec3; 3]) -> f64 {
    let edges = |t: &[Vec3; 3]| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (ea, eb) = (edges(a), edges(b));
    let (na, nb) = (ea[0].cross(&ea[1]), eb[0].cross(&eb[1]));
    let mut axes = vec![na, nb];
    for u in &ea {
        axes.push(na.cross(u));
        axes.extend(eb.iter().map(|w| u.cross(w)));
    }
    axes.extend(eb.iter().map(|w| nb.cross(w)));
    let mut least = f64::INFINITY;
    for n in axes.iter().filter(|n| n.norm() > 1e-9) {
        let range = |t: &[Vec3; 3]| {
            let s = t.map(|x| x.dot(&n.normalize()));
            (s[0].min(s[1]).min(s[2]), s[0].max(s[1]).max(s[2]))
        };
        let ((a0, a1), (b0, b1)) = (range(a), range(b));
        least = least.min((a1 - b0).min(b1 - a0));
    }
    least.max(0.0)
}

/// Deepest overlap of any two triangles of different bodies: quadrilaterals are cut as the method cuts them.
fn deepest_pair(model: &Model, x: &[Vec3]) -> f64 {
    let scene = model.contact.scene(model, true);
    let triangle = |f: &carom::contact::scene::Facet| [0, 1, 2].map(|k| x[f.nodes[k] as usize]);
    let boxed: Vec<([Vec3; 3], Vec3, Vec3, u32)> = scene
        .facets
        .iter()
        .map(|f| {
            let t = triangle(f);
            (t, t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]), f.body)
        })
        .collect();
    let mut deepest: f64 = 0.0;
    for (i, (a, lo, hi, body)) in boxed.iter().enumerate() {
        for (b, lo2, hi2, other) in &boxed[..i] {
            if body != other && (0..3).all(|k| lo[k] <= hi2[k] && lo2[k] <= hi[k]) {
                deepest = deepest.max(depth_of_triangles(a, b));
            }
        }
    }
    deepest
}

fn cube(cells: u32, centre: Vec3, turn: Vec3) -> Mesh {
    let mut mesh = shape::Box::new([1.0; 3], [cells; 3]).build().unwrap();
    let rotation = nalgebra::Rotation3::new(turn);
    mesh.nodes.iter_mut().for_each(|x| *x = centre + rotation * (*x - Vec3::repeat(0.5)));
    mesh
}

/// Seven cubes, turned at random, fly into one: corners, edges and faces in every combination. At every step no two triangles overlap
/// by more than 1e-10, momentum is kept to round-off, and energy does not grow.
fn tumbling_cubes(friction: f64, cells: u32) -> (f64, f64, Run<Nonsmooth>, [u64; 2]) {
    let law = Law::NeoHookean { young: 1000.0, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    builder.contact.law = ContactLaw { friction, restitution: None };
    let axes = [Vec3::zeros(), Vec3::x(), -Vec3::x(), Vec3::y(), -Vec3::y(), Vec3::z(), -Vec3::z()];
    for (i, axis) in axes.iter().enumerate() {
        let k = i as f64;
        let turn = Vec3::new((1.7 * k).sin(), (2.9 * k + 0.3).sin(), (4.1 * k + 1.0).sin());
        let aside = 0.2 * Vec3::new((3.0 * k).cos(), (5.0 * k).cos(), (7.0 * k).cos());
        builder.body(body(&format!("c{i}"), cube(cells, 1.9 * axis + aside, turn), &law, 1.0));
    }
    let model = builder.build().unwrap();
    let method = Nonsmooth::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
    let mut run = Run::with(model, method, |b, _| -2.0 * axes[b]);
    let start: Vec3 = run.state.v.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
    let energy = run.ledger.total();
    let (mut deepest, mut drift): (f64, f64) = (0.0, 0.0);
    let mut kinds = [0, 0];
    while run.state.time < 0.5 {
        run.until(run.state.time + 0.9 * run.method.next_step()).unwrap();
        deepest = deepest.max(deepest_pair(&run.model, &run.state.x));
        let momentum: Vec3 = run.state.v.iter().zip(&run.model.mass).map(|(v, m)| *m * v).sum();
        drift = drift.max((momentum - start).norm());
        assert!(run.ledger.total() <= energy * (1.0 + 1e-3), "{} of {energy}", run.ledger.total());
        let program = run.method.program();
        for (c, l) in program.work.iter().zip(&program.lambda).filter(|p| *p.1 > 0.0) {
            kinds[usize::from(c.key.0 == ContactKind::EdgeEdge)] += u64::from(*l > 0.0);
        }
        assert!(run.method.report().cone <= 1.0 + 1e-9 && run.method.report().least_dissipation >= -1e-13);
    }
    (deepest, drift, run, kinds)
}

#[test]
fn tumbling_cubes_never_overlap_whatever_meets_whatever() {
    for (friction, cells) in [(0.0, 2), (0.4, 2)] {
        let (deepest, drift, run, kinds) = tumbling_cubes(friction, cells);
        println!(
            "{friction}: depth {deepest:e}, drift {drift:e}, node-face {} edge-edge {}, {:?}",
            kinds[0], kinds[1], run.ledger
        );
        assert!(deepest <= 1e-10, "{deepest:e}");
        assert!(drift <= 1e-13, "{drift:e}");
        assert!(kinds[0] > 50 && kinds[1] > 50, "{kinds:?}");
        // ⅛Δt²Ma² of explicit steps on a coarse mesh; the balance of contact itself is exact (`nonsmooth_corners`)
        assert!(run.ledger.error_max_rel() < 0.02, "{}", run.ledger.error_max_rel());
        assert!((friction > 0.0) == (run.ledger.friction > 0.0));
    }
}

/// A closing ring of quadrilaterals, cut open: its two ends meet and do not pass.
#[test]
fn the_ends_of_an_open_ring_meet_and_do_not_pass() {
    let law = Law::NeoHookean { young: 1000.0, poisson: 0.3, density: 1.0 };
    let (around, radial) = (40u32, 3u32);
    let mut nodes = Vec::new();
    for j in 0..=around {
        for i in 0..=radial {
            let angle = 0.15 + (std::f64::consts::TAU - 0.3) * f64::from(j) / f64::from(around);
            let r = 0.8 + 0.2 * f64::from(i) / f64::from(radial);
            nodes.push(Vec3::new(r * angle.cos(), r * angle.sin(), 0.0));
        }
    }
    let k = |i: u32, j: u32| j * (radial + 1) + i;
    let cells = (0..around)
        .flat_map(|j| (0..radial).flat_map(move |i| [k(i, j), k(i + 1, j), k(i + 1, j + 1), k(i, j + 1)]));
    let cells = vec![Cells { kind: CellKind::Quad4, nodes: cells.collect() }];
    let mesh = Mesh { nodes, cells, ..Mesh::default() };
    let mut builder = Builder::default();
    builder.contact.with_itself.push(0);
    builder.body(body("ring", mesh, &law, 1.0));
    let all: Vec<u32> = (0..builder.bodies()[0].nodes.len() as u32).collect();
    builder.restrain(all, vec![Vec3::z()], None);
    let model = builder.build().unwrap();
    let method = Nonsmooth::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
    // the ends at the right fly at each other
    let mut run = Run::with(model, method, |_, x| {
        if x.x > 0.0 { -4.0 * x.y.signum() * x.x * Vec3::y() } else { Vec3::zeros() }
    });
    let ends = |run: &Run<Nonsmooth>| {
        let x = &run.state.x;
        let lowest = (0..=radial).map(|i| x[k(i, 0) as usize].y).fold(f64::INFINITY, f64::min);
        let highest = (0..=radial).map(|i| x[k(i, around) as usize].y).fold(f64::NEG_INFINITY, f64::max);
        lowest - highest
    };
    let mut least = f64::INFINITY;
    let mut contacts = 0;
    while run.state.time < 0.3 {
        run.until(run.state.time + 1e-9).unwrap();
        least = least.min(ends(&run));
        contacts += run.ledger.contacts;
    }
    println!("{least:e} {contacts} {:?}", run.ledger);
    assert!(contacts > 10 && least < 0.02, "{least} {contacts}");
    assert!(run.ledger.penetration_max <= 1e-11);
}

/// One block on another on a floor, under gravity: nothing creeps, and what the floor bears is the weight.
#[test]
fn a_stack_of_blocks_rests() {
    let law = Law::NeoHookean { young: 1e4, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    builder.contact.law = ContactLaw { friction: 0.5, restitution: None };
    for k in 0..3 {
        let mut mesh = shape::Rectangle::new([1.0, 1.0], [3 + k, 3]).build().unwrap();
        mesh.place(&Placement { at: Vec3::y() * f64::from(k), rotation: None }).unwrap();
        let gravity = -Vec3::y();
        let index =
            builder.body(BodySpec { gravity, damping: 5.0, ..body(&format!("b{k}"), mesh, &law, 1.0) });
        let nodes: Vec<u32> = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
        builder.restrain(nodes, vec![Vec3::z()], None);
    }
    let floor = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::y() };
    builder.contact.obstacles.push(Obstacle::new("floor", floor));
    let model = builder.build().unwrap();
    let method = Nonsmooth::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    run.until(3.0).unwrap();
    let (x, t, j) = (run.state.x.clone(), run.state.time, run.method.impulse_between(0, 3));
    run.until(4.0).unwrap();
    let creep = run.state.x.iter().zip(&x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let force = (run.method.impulse_between(0, 3) - j) / (run.state.time - t);
    println!("creep {creep:e}, force {force}, {:?}", run.ledger);
    assert!(creep < 1e-6, "{creep:e}");
    assert!((force - 3.0 * Vec3::y()).norm() < 1e-3, "{force}");
    assert!(run.ledger.penetration_max <= 1e-10);
    // the lag of the mean velocity behind the way, booked for contact alone, would leave ⅛Δt²ΣF²/m in the books of bodies at rest
    let squares =
        run.method.contact_forces().into_iter().zip(&run.model.mass).map(|(f, m)| f.norm_squared() / m);
    let lag = 0.125 * run.method.next_step().powi(2) * squares.sum::<f64>();
    println!("error {:e}, lag {lag:e}", run.ledger.error());
    assert!(run.ledger.error().abs() < 0.1 * lag, "{:e} {lag:e}", run.ledger.error());
}

/// Four soft blocks sink on each other under a weight that grows, a little off-centre: face on face, where half of the constraints follow from others. Contact takes energy at
/// impacts and gives none, step by step, but for the order of the step squared, a thousandth of what weight has done. No step has to be halved, and a step
/// takes two or three looks, each of four or five programs that converge quadratically.
#[test]
fn soft_blocks_face_on_face_get_no_energy_from_contact() {
    let law = Law::NeoHookean { young: 1e5, poisson: 0.3, density: 1000.0 };
    let mut builder = Builder::default();
    builder.contact.law = ContactLaw { friction: 0.3, restitution: None };
    let places = [[0.0, 0.0, 1e-5], [0.013, -0.02, 0.10002], [-0.017, 0.011, 0.20003], [0.02, 0.02, 0.30004]];
    for (k, at) in places.into_iter().enumerate() {
        let mut mesh = shape::Box::new([0.2, 0.2, 0.1], [4, 4, 2]).build().unwrap();
        mesh.nodes.iter_mut().for_each(|x| *x += Vec3::from(at));
        let gravity_table = Table::new(vec![(0.0, 0.0), (0.3, 1.0)]).unwrap();
        let spec = body(&format!("b{k}"), mesh, &law, 1.0);
        builder.body(BodySpec { gravity: -9.81 * Vec3::z(), gravity_table, damping: 5.0, ..spec });
    }
    let floor = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::z() };
    builder.contact.obstacles.push(Obstacle::new("floor", floor));
    let model = builder.build().unwrap();
    let method = Nonsmooth::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    let (mut programs, usual) = (0, run.method.next_step());
    while run.state.time < 0.08 {
        let before = run.ledger.restitution;
        run.until(run.state.time + 1e-9).unwrap();
        let got = before - run.ledger.restitution;
        assert!(got <= 1e-3 * run.ledger.external.abs(), "{} s: {got} J", run.state.time);
        assert!(run.ledger.penetration <= 1e-10);
        assert!(run.method.next_step() > 0.75 * usual, "halved at {} s", run.state.time);
        programs += run.method.report().programs;
    }
    println!("{programs} programs, {:?}", run.ledger);
    assert!(run.ledger.contacts_peak > 100);
    assert!(u64::from(programs) <= 15 * run.state.step, "{programs} programs in {} steps", run.state.step);
}

/// Save in mid-contact and resume, with one thread and with two: the same bits.
#[test]
fn stopping_and_threads_change_nothing() {
    let make = || {
        let law = Law::NeoHookean { young: 1000.0, poisson: 0.3, density: 1.0 };
        let mut builder = Builder::default();
        builder.contact.law = ContactLaw { friction: 0.3, restitution: None };
        builder.body(body("a", cube(3, Vec3::zeros(), Vec3::zeros()), &law, 1.0));
        let upper = cube(2, Vec3::new(0.3, 0.2, 1.4), Vec3::new(0.5, 0.7, 0.1));
        builder.body(body("b", upper, &law, 1.0));
        let model = builder.build().unwrap();
        let method = Nonsmooth::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
        Run::with(model, method, |b, _| f64::from(b as u32) * Vec3::new(0.2, 0.0, -2.0))
    };
    stops_and_threads_change_nothing(make, [0.25, 0.5]);
}
