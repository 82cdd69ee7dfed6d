//! Small contacts (`asynchronous`): obstacles, plane bodies, tets, edges, bodies that touch themselves.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{CellKind, Mesh, shape};
use carom::method::Method;
use carom::method::asynchronous::{Asynchronous, ContactStep, Options};
use carom::model::contact::{Obstacle, ObstacleShape};
use carom::model::restraint::Motion;
use carom::model::{Builder, State};

fn law(young: f64) -> Law {
    Law::StVenantKirchhoff { young, poisson: 0.2, density: 1.0 }
}

/// Short steps: what is left of the energy is theirs, not that of the contacts.
fn fine() -> Options {
    Options { safety: 0.125, contact_step: ContactStep::Local(0.125), ..Options::default() }
}

fn cube(cells: u32, kind: CellKind) -> Mesh {
    let mut shape = shape::Box::new([1.0; 3], [cells; 3]);
    shape.cell = kind;
    shape.build().unwrap()
}

fn moved(mut mesh: Mesh, place: impl Fn(Vec3) -> Vec3) -> Mesh {
    mesh.nodes.iter_mut().for_each(|p| *p = place(*p));
    mesh
}

fn seen(run: &Run<Asynchronous>) -> State {
    let mut copy = run.state.clone();
    run.method.synchronise(&run.model, &run.state, &mut copy);
    copy
}

/// Linear and angular momentum.
fn momenta(run: &Run<Asynchronous>) -> (Vec3, Vec3) {
    let copy = seen(run);
    let each = || run.model.mass.iter().zip(&copy.x).zip(&copy.v);
    (each().map(|((m, _), v)| *m * v).sum(), each().map(|((m, x), v)| *m * x.cross(v)).sum())
}

/// Runs to `end` and holds the books against the motion.
fn balanced(run: &mut Run<Asynchronous>, end: f64, energy: f64) {
    let (p, l) = momenta(run);
    for k in 1..=20 {
        run.until(end * f64::from(k) / 20.0).unwrap();
        let (now, spin) = momenta(run);
        assert!((now - p - run.ledger.impulse).norm() <= 1e-12, "linear momentum");
        assert!((spin - l - run.ledger.moment).norm() <= 1e-12, "angular momentum");
        assert!(run.ledger.error().abs() <= energy * run.ledger.initial, "{:?}", run.ledger);
    }
    assert!(run.ledger.collision_kicks > 0);
}

/// A cube falls obliquely on a plane, and on a box of the same height: the same answer.
#[test]
fn a_box_is_as_hard_as_a_plane() {
    let thrown = |shape: ObstacleShape, mu: f64| {
        let mut builder = Builder::default();
        builder.body(body("cube", cube(2, CellKind::Hex8), &law(100.0), 1.0));
        builder.contact.obstacles.push(Obstacle::new("ground", shape));
        builder.contact.law.friction = mu;
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, fine());
        let mut run = Run::with(model, method, |_, _| Vec3::new(0.5, 0.0, -1.0));
        balanced(&mut run, 1.0, 0.02);
        run
    };
    let plane = || ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::z() };
    let block = || {
        let mesh = shape::Box::new([8.0, 8.0, 1.0], [2, 2, 1]).build().unwrap();
        ObstacleShape::Mesh(moved(mesh, |p| p - Vec3::new(4.1, 4.2, 1.0)))
    };
    for mu in [0.0, 0.3] {
        let (on_plane, on_box) = (thrown(plane(), mu), thrown(block(), mu));
        let (p, q) = (momenta(&on_plane).0, momenta(&on_box).0);
        assert!((p - q).norm() <= 1e-9, "{p} {q}");
        // it is on its way up, and only friction has slowed it
        assert!(p.z > 0.8 && if mu == 0.0 { (p.x - 0.5).abs() <= 1e-12 } else { p.x < 0.3 }, "{p}");
        assert!((on_plane.ledger.friction > 0.0) == (mu > 0.0));
        assert!((on_plane.method.impulse_between(0, 1) - on_plane.ledger.impulse).norm() <= 1e-12);
    }
}

/// A plane that rises at 1 m/s under a resting cube throws it up with almost 2 m/s, less what rings in it, and does all
/// the work.
#[test]
fn a_moving_wall_throws_with_almost_twice_its_speed() {
    let mut builder = Builder::default();
    builder.body(body("cube", cube(2, CellKind::Hex8), &law(400.0), 1.0));
    let plane = ObstacleShape::Plane { point: Vec3::new(0.0, 0.0, -0.05), normal: Vec3::z() };
    let motion = Some(Motion::Velocity { velocity: Vec3::z() });
    builder.contact.obstacles.push(Obstacle { motion, ..Obstacle::new("wall", plane) });
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, fine());
    let mut run = Run::with(model, method, |_, _| Vec3::zeros());
    run.until(0.5).unwrap();
    let p = momenta(&run).0;
    assert!((1.6..=2.05).contains(&p.z), "{}", p.z);
    assert!(
        (p - run.ledger.impulse).norm() <= 1e-12 && run.ledger.error().abs() <= 0.02 * run.ledger.external
    );
}

/// A bar comes down across a rigid beam, no node of either in the other's way: their edges meet. The beam may as well come up.
#[test]
fn a_bar_bounces_off_the_edges_of_a_rigid_beam() {
    let meet = |rises: f64| {
        let mut builder = Builder::default();
        let bar = shape::Box::new([2.0, 0.2, 0.2], [2, 1, 1]).build().unwrap();
        let bar = moved(bar, |p| p - Vec3::new(1.2, 0.1, -0.01));
        builder.body(body("bar", bar, &law(1000.0), 1.0));
        let beam = shape::Box::new([0.2, 2.0, 0.2], [1, 1, 1]).build().unwrap();
        let shape = ObstacleShape::Mesh(moved(beam, |p| p - Vec3::new(0.1, 1.0, 0.2)));
        let motion = Some(Motion::Velocity { velocity: rises * Vec3::z() });
        builder.contact.obstacles.push(Obstacle { motion, ..Obstacle::new("beam", shape) });
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, fine());
        let mut run = Run::with(model, method, |_, _| (rises - 1.0) * Vec3::z());
        if rises == 0.0 {
            balanced(&mut run, 0.2, 0.02);
        } else {
            run.until(0.2).unwrap();
        }
        assert!(run.ledger.penetration_max < 0.01, "{}", run.ledger.penetration_max);
        assert!((run.method.impulse_between(0, 1) - run.ledger.impulse).norm() <= 1e-12);
        momenta(&run).0 - 0.08 * rises * Vec3::z()
    };
    let (falling, rising) = (meet(0.0), meet(1.0));
    assert!(falling.z > 0.0 && falling.y.abs() < 1e-12, "{falling}");
    assert!((falling - rising).norm() <= 1e-9, "{falling} {rising}");
}

/// Quads and triangles in the plane, tets in space, meet another of their kind: momenta stay to round-off.
#[test]
fn plane_bodies_and_tets_collide_and_keep_their_momenta() {
    let speed =
        |b: usize, _: &Vec3| if b == 0 { Vec3::new(0.3, 0.02, 0.0) } else { Vec3::new(-0.3, 0.0, 0.0) };
    for triangles in [false, true] {
        let mut builder = Builder::default();
        for (name, at, cells) in [("left", Vec3::new(-1.05, 0.1, 0.0), 3), ("right", Vec3::zeros(), 4)] {
            let mut flat = shape::Rectangle::new([1.0, 1.0], [cells, cells]);
            flat.cell = if triangles { CellKind::Tri3 } else { CellKind::Quad4 };
            let mesh = moved(flat.build().unwrap(), |p| p + at);
            let index = match triangles {
                true => builder.body(body(name, mesh, &law(20.0), 1.0)),
                false => builder.body(body(name, mesh, &law(20.0), 1.0)),
            };
            let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
            builder.restrain(nodes, vec![Vec3::z()], None);
        }
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, fine());
        let mut run = Run::with(model, method, speed);
        balanced(&mut run, 2.0, 0.02);
        let left: Vec3 = run.model.bodies[0].nodes.clone().map(|n| run.model.mass[n] * seen(&run).v[n]).sum();
        assert!(left.x < -0.2, "{left}");
    }
    let mut builder = Builder::default();
    for (name, at, cells) in [("left", Vec3::new(-1.05, 0.1, 0.07), 2), ("right", Vec3::zeros(), 3)] {
        let mesh = moved(cube(cells, CellKind::Tet4), |p| p + at);
        builder.body(body(name, mesh, &law(20.0), 1.0));
    }
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, fine());
    let mut run = Run::with(model, method, speed);
    balanced(&mut run, 2.0, 0.02);
    let left: Vec3 = run.model.bodies[0].nodes.clone().map(|n| run.model.mass[n] * seen(&run).v[n]).sum();
    assert!(left.x < -0.15, "{left}");
}

/// Two cubes meet edge on edge, crosswise, far from all nodes: without edges they would pass into each other.
#[test]
fn edges_that_cross_bounce() {
    let turned = |axis: Vec3, up: f64| {
        move |p: Vec3| {
            let p = p - Vec3::repeat(0.5);
            let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
            let turned = cos * p + sin * axis.cross(&p) + (1.0 - cos) * axis.dot(&p) * axis;
            turned + up * Vec3::z()
        }
    };
    let meet = |edge_edge: bool| {
        let mut builder = Builder::default();
        let reach = 0.5 * f64::sqrt(2.0) + 0.01;
        builder.body(body(
            "upper",
            moved(cube(1, CellKind::Hex8), turned(Vec3::x(), reach)),
            &law(100.0),
            1.0,
        ));
        builder.body(body(
            "lower",
            moved(cube(1, CellKind::Hex8), turned(Vec3::y(), -reach)),
            &law(100.0),
            1.0,
        ));
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, Options { edge_edge, ..fine() });
        Run::with(model, method, |b, _| if b == 0 { -0.5 * Vec3::z() } else { 0.5 * Vec3::z() })
    };
    let mut run = meet(true);
    balanced(&mut run, 0.6, 0.03);
    let upper: Vec3 = run.model.bodies[0].nodes.clone().map(|n| run.model.mass[n] * seen(&run).v[n]).sum();
    assert!(upper.z > 0.2, "{upper}");
    assert!(run.ledger.penetration_max <= 0.05, "{}", run.ledger.penetration_max);
    let mut blind = meet(false);
    blind.until(0.3).unwrap();
    assert_eq!(blind.ledger.collision_kicks, 0);
}

/// A strip bent to a hairpin is pressed together and touches itself.
#[test]
fn a_hairpin_that_is_pressed_together_touches_itself() {
    let pressed = |itself: bool| {
        let strip = shape::Rectangle::new([6.0, 0.2], [48, 1]).build().unwrap();
        // the middle of the strip goes round a half circle of radius 0.25 to its centre line
        let bend = |p: Vec3| {
            let (radius, half) = (0.25, 0.25 * std::f64::consts::FRAC_PI_2);
            let (s, d) = (p.x - 3.0, p.y - 0.1);
            let (centre, normal) = if s.abs() <= half {
                let angle = s / radius;
                (
                    Vec3::new(radius * angle.cos(), radius * angle.sin(), 0.0),
                    Vec3::new(-angle.cos(), -angle.sin(), 0.0),
                )
            } else {
                let side = s.signum();
                (Vec3::new(-(s.abs() - half), side * radius, 0.0), Vec3::new(0.0, -side, 0.0))
            };
            centre + d * normal
        };
        let mut builder = Builder::default();
        builder.body(body("hairpin", moved(strip, bend), &law(50.0), 1.0));
        let nodes = builder.bodies()[0].nodes.clone().map(|n| n as u32).collect();
        builder.restrain(nodes, vec![Vec3::z()], None);
        if itself {
            builder.contact.with_itself.push(0);
        }
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, fine());
        // both legs close, the tips fastest
        let v = |_: usize, x: &Vec3| {
            if x.x < 0.0 { Vec3::new(0.0, 0.3 * x.x * x.y.signum(), 0.0) } else { Vec3::zeros() }
        };
        let mut run = Run::with(model, method, v);
        run.until(0.4).unwrap();
        let copy = seen(&run);
        // distance between the legs at their tips, from surface to surface
        let ends: Vec<usize> = (0..copy.x.len()).filter(|&n| run.model.reference[n].x < -2.0).collect();
        let lower = ends
            .iter()
            .filter(|&&n| run.model.reference[n].y < 0.0)
            .map(|&n| copy.x[n].y)
            .fold(f64::NEG_INFINITY, f64::max);
        let upper = ends
            .iter()
            .filter(|&&n| run.model.reference[n].y > 0.0)
            .map(|&n| copy.x[n].y)
            .fold(f64::INFINITY, f64::min);
        (upper - lower, run)
    };
    let (open, run) = pressed(true);
    assert!(run.ledger.collision_kicks > 0 && open > -0.05, "{open} {}", run.ledger.collision_kicks);
    assert!(run.ledger.error().abs() <= 0.03 * run.ledger.initial);
    let (through, blind) = pressed(false);
    assert!(blind.ledger.collision_kicks == 0 && through < -0.1, "{through}");
}

/// Two unit hexes meet head on, face to face: mirror images of each other, they turn round together, and between contact checks at
/// multiples of their steps everybody has looked as often as his step says.
#[test]
fn two_equal_hexes_exchange_their_momenta() {
    let mut builder = Builder::default();
    for (name, at) in [("left", -1.0), ("right", 0.0)] {
        builder.body(body(name, moved(cube(1, CellKind::Hex8), |p| p + at * Vec3::x()), &law(100.0), 1.0));
    }
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, fine());
    let mut run = Run::with(model, method, |b, _| if b == 0 { 0.1 * Vec3::x() } else { -0.1 * Vec3::x() });
    balanced(&mut run, 1.0, 0.01);
    let copy = seen(&run);
    let p = [0, 1].map(|b: usize| {
        run.model.bodies[b].nodes.clone().map(|n| run.model.mass[n] * copy.v[n]).sum::<Vec3>()
    });
    assert!((p[0] + p[1]).norm() <= 1e-14 && (-0.1..-0.07).contains(&p[0].x), "{}", p[0]);
    assert!(p[0].y.abs() <= 1e-14 && p[0].z.abs() <= 1e-14, "{}", p[0]);
    let ticks = |t: f64| (t / run.method.tick()).round() as u64;
    let end = (1.0 / run.method.tick() - 1e-6).ceil() as u64;
    let checks: u64 = run.method.contact_steps().iter().map(|(h, n)| n * end.div_ceil(ticks(*h))).sum();
    assert_eq!(run.method.counters(&run.ledger).contact_checks, checks);
}

/// All nodes of a cube are on rollers across (1, 1, 0); it falls on a fixed block with friction. The inverse mass of these
/// contacts is singular; rollers stay where they are and the books balance.
#[test]
fn a_cube_on_oblique_rollers_hits_a_fixed_block() {
    let across = Vec3::new(1.0, 1.0, 0.0);
    let mut builder = Builder::default();
    builder.body(body(
        "cube",
        moved(cube(2, CellKind::Hex8), |p| p + Vec3::new(0.1, 0.15, 1.01)),
        &law(50.0),
        1.0,
    ));
    builder.body(body("block", moved(cube(2, CellKind::Hex8), |p| 2.0 * p - Vec3::z()), &law(50.0), 1.0));
    let nodes = |b: usize, builder: &Builder| -> Vec<u32> {
        builder.bodies()[b].nodes.clone().map(|n| n as u32).collect()
    };
    let (all, fixed) = (nodes(0, &builder), nodes(1, &builder));
    builder.restrain(all, vec![across], None);
    builder.restrain(fixed, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    builder.contact.law.friction = 0.4;
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, fine());
    let fall = Vec3::new(0.4, -0.4, -1.0);
    let mut run = Run::with(model, method, |b, _| if b == 0 { fall } else { Vec3::zeros() });
    balanced(&mut run, 0.6, 0.02);
    let copy = seen(&run);
    for n in run.model.bodies[0].nodes.clone() {
        assert!((copy.x[n] - run.model.reference[n]).dot(&across).abs() <= 1e-14);
    }
    let p = momenta(&run).0;
    assert!(run.ledger.friction > 0.0 && p.z > 0.5 && p.x > 0.0 && p.x < 0.3, "{p}");
}

/// A cube goes down beside an edge of another one, its corner a hair away from it: nobody is touched, though the corner is
/// beside the element by less than what counts as in it along a face.
#[test]
fn a_corner_that_passes_an_edge_touches_nothing() {
    let mut builder = Builder::default();
    builder.body(body("still", cube(2, CellKind::Hex8), &law(100.0), 1.0));
    // the lower rear edge of the cube goes through (1 + 1e-4, ·, 1)
    builder.body(body(
        "passing",
        moved(cube(2, CellKind::Hex8), |p| p + Vec3::new(0.5 + 1e-4, 0.1, 1.5)),
        &law(100.0),
        1.0,
    ));
    let model = builder.build().unwrap();
    let method = Asynchronous::new(&model, fine());
    let speed = |b: usize, _: &Vec3| if b == 1 { Vec3::new(1.0, 0.0, -1.0) } else { Vec3::zeros() };
    let mut run = Run::with(model, method, speed);
    run.until(1.0).unwrap();
    assert_eq!(run.ledger.collision_kicks, 0);
}

/// Two cubes side by side along x from `at` on, the left one at `speed`, looking so rarely that nodes go more than half
/// through an element in between.
fn rarely_looking(at: f64, speed: f64) -> Run<Asynchronous> {
    let mut builder = Builder::default();
    for (name, at) in [("left", at), ("right", 0.0)] {
        let mesh = moved(cube(2, CellKind::Hex8), |p| p + Vec3::new(at, 0.1, 0.1));
        builder.body(body(name, mesh, &law(100.0), 1.0));
    }
    let model = builder.build().unwrap();
    let rarely = Options { contact_step: ContactStep::Smallest(20.0), edge_edge: false, ..fine() };
    let method = Asynchronous::new(&model, rarely);
    let mut run = Run::with(model, method, |b, _| if b == 0 { speed * Vec3::x() } else { Vec3::zeros() });
    run.until(0.15).unwrap();
    run
}

/// Nodes that are more than half through an element, and have not moved: nobody can tell where they came from, and they
/// are counted.
#[test]
fn nodes_that_were_found_too_late_are_counted() {
    let run = rarely_looking(-0.7, 0.0);
    let counters = run.method.counters(&run.ledger);
    assert!(counters.too_deep > 0 && counters.collision_kicks == 0, "{counters:?}");
}

/// Whoever gets as deep between two contact checks was outside at the one before, and is answered at the face it came through.
#[test]
fn nodes_that_are_fast_are_seen_where_they_came_in() {
    let run = rarely_looking(-1.05, 4.0);
    let counters = run.method.counters(&run.ledger);
    assert!(counters.too_deep == 0 && counters.collision_kicks >= 9, "{counters:?}");
}
