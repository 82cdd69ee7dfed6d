//! One or two bodies with answers that are known (`semi-explicit`): a disc on a plane, a sliding block, bars end on end, a stack.

use crate::common::{Run, body};
use carom::cases::bipotential::{disc_at, foam, mass_centre, plane_body};
use carom::material;
use carom::math::{Mat3, Vec3};
use carom::mesh::place::Placement;
use carom::mesh::{Mesh, shape};
use carom::method::semi_explicit::{Options, SemiExplicit};
use carom::method::verlet::StepRule;
use carom::method::{Method, StepError};
use carom::model::contact::{Law, Obstacle, ObstacleShape};
use carom::model::forces::Forces;
use carom::model::inertia::Inertia;
use carom::model::{BodySpec, Builder, Model};
use carom::solve::contacts::{Contact, Contacts, Limits, Local};

fn at(mut mesh: Mesh, x: f64, y: f64, z: f64) -> Mesh {
    mesh.place(&Placement { at: Vec3::new(x, y, z), rotation: None }).unwrap();
    mesh
}

fn floor(builder: &mut Builder, normal: Vec3, friction: f64) {
    let shape = ObstacleShape::Plane { point: Vec3::zeros(), normal };
    builder.contact.obstacles.push(Obstacle::new("floor", shape));
    builder.contact.law = Law { friction, restitution: None };
}

/// A disc of radius 0.14 m on the floor, thrown at it.
fn thrown_disc(core: u32, dt: f64, friction: f64, velocity: Vec3) -> Run<SemiExplicit> {
    let mut builder = Builder::default();
    let mesh = disc_at(0.14, 0.0, 0.14, core, core / 4);
    plane_body(&mut builder, body("disc", mesh, &foam(2e6), 1.0));
    floor(&mut builder, Vec3::y(), friction);
    let model = builder.build().unwrap();
    let method = SemiExplicit::new(&model, StepRule::Fixed(dt), Options::default());
    Run::with(model, method, |_, _| velocity)
}

/// Momentum that is there is what came from outside.
fn balanced(run: &Run<SemiExplicit>, start: Vec3) {
    let (mass, v) = mass_centre(&run.model, &run.state);
    let lost = (mass * (v - start) - run.ledger.impulse).norm();
    assert!(lost < 1e-12 * mass * 100.0, "{lost}");
}

/// Reference of an independent program: rebound of the mass centre 14.17, 14.39, 14.40 m/s; contact takes 8.18, 4.27 and
/// 2.16 % of the energy on meshes each twice as fine as the one before: the kinetic energy of the surface layer.
#[test]
fn a_disc_leaves_the_floor_and_loses_its_surface_layer() {
    let down = Vec3::new(0.0, -20.0, 0.0);
    let mut losses = Vec::new();
    for (core, dt, rebound, loss) in
        [(4, 2e-5, 14.17, 0.0818), (8, 1e-5, 14.39, 0.0427), (16, 5e-6, 14.40, 0.0216)]
    {
        let mut run = thrown_disc(core, dt, 0.0, down);
        run.until(0.012).unwrap();
        let v = mass_centre(&run.model, &run.state).1;
        assert!((v.y - rebound).abs() < 0.05, "{core}: {v:?}");
        let found = run.ledger.restitution / run.ledger.initial;
        assert!((found - loss).abs() < 0.003, "{core}: {found}");
        balanced(&run, down);
        assert!(run.ledger.penetration_max < 1e-12 && run.ledger.error_max_rel() < 0.01, "{:?}", run.ledger);
        losses.push(run.ledger.restitution / run.ledger.initial);
    }
    assert!(losses.windows(2).all(|l| (1.8..2.2).contains(&(l[0] / l[1]))), "{losses:?}");
}

#[test]
fn a_disc_with_too_long_a_step_diverges_and_is_told_a_better_one() {
    let mut run = thrown_disc(8, 1e-3, 0.0, Vec3::new(0.0, -20.0, 0.0));
    let error = run.until(0.05).unwrap_err();
    let StepError::TooLong { stable, .. } = error else { panic!("{error}") };
    assert!(stable < 1e-3 && error.to_string().contains("too long"), "{error}");
    let mut run = thrown_disc(8, 0.3 * stable, 0.0, Vec3::new(0.0, -20.0, 0.0));
    run.until(0.012).unwrap();
}

/// While everything slides one way, J_t = μ J_n; with half the speed some nodes turn back.
#[test]
fn friction_of_a_sliding_disc_is_mu_times_its_pressure() {
    let ratio = |speed: f64| {
        let start = Vec3::new(speed, -20.0, 0.0);
        let mut run = thrown_disc(8, 1e-5, 0.2, start);
        run.until(0.012).unwrap();
        balanced(&run, start);
        let j = run.method.impulse_between(0, 1);
        let (mass, v) = mass_centre(&run.model, &run.state);
        assert!((mass * (v.x - speed) - j.x).abs() < 1e-9 * mass);
        assert!(run.ledger.friction > 0.0 && run.ledger.error_max_rel() < 0.01);
        -j.x / j.y
    };
    let (fast, slow) = (ratio(40.0), ratio(20.0));
    assert!((fast - 0.2).abs() < 0.2e-6, "{fast}");
    assert!(slow < 0.1999 && slow > 0.18, "{slow}");
}

/// v = v₀ − μgt, at rest after 0.2548 s and 0.06371 m; the block starts as it stands under its weight.
#[test]
fn a_sliding_block_stops_where_coulomb_stops_it() {
    let (v0, gravity, mu) = (0.5, 9.81, 0.2);
    let model = |damping: f64| -> Model {
        let mut builder = Builder::default();
        let mesh = shape::Rectangle::new([0.4, 0.1], [16, 4]).build().unwrap();
        let spec =
            BodySpec { gravity: -gravity * Vec3::y(), damping, ..body("block", mesh, &foam(2e7), 1.0) };
        plane_body(&mut builder, spec);
        floor(&mut builder, Vec3::y(), mu);
        builder.build().unwrap()
    };
    let rule = StepRule::Automatic { safety: 0.8 };
    let still = model(4000.0);
    let method = SemiExplicit::new(&still, rule, Options::default());
    let mut still = Run::with(still, method, |_, _| Vec3::zeros());
    still.until(0.03).unwrap();
    let moving = model(0.0);
    let mut method = SemiExplicit::new(&moving, rule, Options::default());
    let mut state = moving.rest();
    state.x.copy_from_slice(&still.state.x);
    state.v.fill(v0 * Vec3::x());
    let mut ledger = Default::default();
    method.start(&moving, &mut state, &mut ledger).unwrap();
    let mut run = Run { model: moving, state, ledger, method };
    let centre = |run: &Run<SemiExplicit>| {
        let (mass, v) = mass_centre(&run.model, &run.state);
        (run.model.mass.iter().zip(&run.state.x).map(|(m, x)| m * x.x).sum::<f64>() / mass, v.x)
    };
    let from = centre(&run).0;
    let stop = v0 / (mu * gravity);
    for k in 1..=250 {
        run.until(0.001 * f64::from(k)).unwrap();
        let want = v0 - mu * gravity * run.state.time;
        assert!((centre(&run).1 - want).abs() < 0.02 * v0, "{} at {}", centre(&run).1, run.state.time);
    }
    run.until(stop + 0.01).unwrap();
    let way = centre(&run).0 - from;
    assert!((way / (0.5 * v0 * stop) - 1.0).abs() < 0.002, "{way}");
    run.until(0.35).unwrap();
    // it stands, ringing a little
    assert!((centre(&run).0 - from - way).abs() < 1e-3 * v0 * 0.085, "{}", centre(&run).0 - from - way);
    let start_energy = run.ledger.initial;
    assert!((run.ledger.friction / start_energy - 1.0).abs() < 0.05 && run.ledger.error_max_rel() < 0.01);
}

/// Bars of length L without Poisson effect stay together for 2L/c and exchange their velocities, but for what is still under
/// way in the front of the wave when they part: dispersion makes it as wide as h^⅔. The two nodes of the surface layer lose
/// what moved them.
#[test]
fn two_bars_exchange_their_velocities_after_one_round_trip() {
    let (length, speed) = (1.0, 1e-3);
    let mut errors = Vec::new();
    for cells in [25, 50, 100] {
        let element = length / f64::from(cells);
        let law = material::Law::StVenantKirchhoff { young: 1.0, poisson: 0.0, density: 1.0 };
        let mut builder = Builder::default();
        for (name, x) in [("left", -length), ("right", 0.0)] {
            let mesh = shape::Rectangle::new([length, element], [cells, 1]).build().unwrap();
            plane_body(&mut builder, body(name, at(mesh, x, 0.0, 0.0), &law, 1.0));
        }
        let model = builder.build().unwrap();
        let method = SemiExplicit::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
        let mut run =
            Run::with(model, method, |b, _| if b == 0 { speed * Vec3::x() } else { -speed * Vec3::x() });
        let mut last = 0.0;
        while run.state.time < 3.0 {
            run.until(run.state.time + 1e-9).unwrap();
            last = if run.ledger.contacts > 0 { run.state.time } else { last };
        }
        assert!((last - 2.0 * length).abs() < 2.0 * element, "{cells}: {last}");
        let of = |b: usize| {
            let nodes = run.model.bodies[b].nodes.clone();
            let mass: f64 = run.model.mass[nodes.clone()].iter().sum();
            nodes.map(|k| run.model.mass[k] * run.state.v[k].x).sum::<f64>() / mass
        };
        assert!((of(0) + of(1)).abs() < 1e-12 * speed, "{cells}: momentum {}", of(0) + of(1));
        errors.push((of(1) / speed - 1.0).abs());
        let lost = run.ledger.restitution / run.ledger.initial;
        let layer = 0.5 / f64::from(cells);
        assert!((lost - layer).abs() < 0.1 * layer, "{cells}: {lost} for {layer}");
        assert!(run.ledger.error_max_rel() < 0.005, "{cells}: {}", run.ledger.error_max_rel());
    }
    // halving h divides the error by 2^⅔ or more
    assert!(errors[2] < 0.02 && errors.windows(2).all(|e| e[0] / e[1] > 1.58), "{errors:?}");
}

/// On a level floor under gravity a thrown mass obeys v = v₀ − μgt to its last step, and then rests, with r = mg all the
/// while.
#[test]
fn a_mass_on_a_level_floor_stops_where_coulomb_stops_it() {
    let (g, dt, mass, start) = (9.81, 1e-3, [2.5], Vec3::new(0.3, -0.4, 0.0));
    let inertia = Inertia::new(&mass, std::iter::empty());
    let limits =
        Limits { local: Local::Exact, tolerance: 1e-13, scale: 1.0, sweeps: 100, natural_map_residual: None };
    for mu in [0.0, 0.2, 0.7] {
        let contact = Contact { mu, ..Contact::new(&[(0, 1.0)], Vec3::z()) };
        let mut contacts = Contacts::default();
        contacts.list.push(contact);
        let mut v = [start];
        for step in 1..=500 {
            v[0] -= dt * g * Vec3::z();
            contacts.solve(&inertia, dt, &mut v, &limits);
            let speed = (start.norm() - mu * g * dt * f64::from(step)).max(0.0);
            assert!((v[0] - speed * start.normalize()).norm() < 1e-12, "{mu} {step}: {:?}", v[0]);
            assert!((contacts.list[0].force.z - mass[0] * g).abs() < 1e-12 * mass[0] * g);
        }
    }
}

/// A box of distorted elements under a homogeneous deformation: inner nodes are in balance, and what is left on the boundary
/// is the traction P N, so that `Σ f ⊗ X = P V` for the box.
#[test]
fn the_boundary_of_a_patch_pulls_with_the_stress_of_its_law() {
    let mut mesh = shape::Box::new([1.0, 1.0, 1.0], [3; 3]).build().unwrap();
    let inner = |p: &Vec3| p.iter().all(|c| *c > 0.1 && *c < 0.9);
    for (i, p) in mesh.nodes.iter_mut().enumerate() {
        if inner(p) {
            let wave = |k: usize| 0.06 * ((7 * i + 3 * k) as f64).sin();
            *p += Vec3::new(wave(0), wave(1), wave(2));
        }
    }
    let shear = 2.0;
    let mut builder = Builder::default();
    builder.body(body("box", mesh, &material::Law::BlatzKo { shear, density: 1.0 }, 1.0));
    let model = builder.build().unwrap();
    let f = Mat3::new(1.1, 0.2, -0.1, 0.05, 0.8, 0.15, -0.2, 0.1, 1.2);
    let mut state = model.rest();
    state.x.iter_mut().for_each(|x| *x = f * *x);
    let mut forces = Forces::new(&model);
    forces.evaluate(&model, &state.x, &mut state.material, false);
    // P = G F⁻ᵀ(J − C⁻¹)
    let inverse = f.try_inverse().unwrap();
    let stress =
        shear * inverse.transpose() * (f.determinant() * Mat3::identity() - inverse * inverse.transpose());
    let mut sum = Mat3::zeros();
    for (k, x) in model.reference.iter().enumerate() {
        let pull = forces.at(k);
        sum += pull * x.transpose();
        assert!(!inner(x) || pull.norm() < 1e-12, "{x:?} {pull:?}");
    }
    assert!((sum - stress).norm() < 1e-12, "{sum} {stress}");
}

/// A free bar of equal elements has the highest frequency 2c/h, so steps up to h/c are stable: just below it the energy stays,
/// just above it the run is stopped and told so. The estimate of elements is on the safe side.
#[test]
fn steps_just_below_the_limit_are_stable_and_just_above_are_not() {
    let cells = 20;
    let h = 1.0 / f64::from(cells);
    let bar = || {
        let mut builder = Builder::default();
        let law = material::Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
        let mesh = shape::Bar::new(1.0, cells).build().unwrap();
        let index = builder.body(body("bar", mesh, &law, 1.0));
        let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
        builder.restrain(nodes, vec![Vec3::y(), Vec3::z()], None);
        builder.build().unwrap()
    };
    assert!(bar().stable_step() <= h * (1.0 + 1e-12) && bar().stable_step() > 0.9 * h);
    let thrown = |dt: f64| {
        let model = bar();
        let method = SemiExplicit::new(&model, StepRule::Fixed(dt), Options::default());
        Run::with(model, method, |_, x| 1e-6 * (40.0 * x.x).sin() * Vec3::x())
    };
    // K + U of the step in the middle is at most 1/(1 − (ωΔt/2)²) of what the scheme conserves
    let most = 1.0 / (1.0 - 0.95 * 0.95);
    let mut run = thrown(0.95 * h);
    while run.state.step < 100_000 {
        run.until(run.state.time + 900.0 * h).unwrap();
        let (total, first) = (run.ledger.total(), run.ledger.initial);
        assert!(total < most * first, "{total} {first} after {} steps", run.state.step);
    }
    let error = thrown(1.05 * h).until(1000.0 * h).unwrap_err();
    let StepError::TooLong { stable, .. } = error else { panic!("{error}") };
    assert!(stable <= h * (1.0 + 1e-12) && stable > 0.9 * h, "{stable}");
}

/// A stack of cubes under its weight, damped: it comes to rest, stays where it is, and the floor carries it.
pub fn stack(blocks: usize, gravity: f64, damping: f64) -> Run<SemiExplicit> {
    let mut builder = Builder::default();
    for i in 0..blocks {
        let mesh = at(shape::Box::new([0.5; 3], [2; 3]).build().unwrap(), 0.0, 0.0, 0.5 * i as f64);
        let law = material::Law::BlatzKo { shear: 2e7, density: 800.0 };
        let spec = body(&i.to_string(), mesh, &law, 1.0);
        builder.body(BodySpec { gravity: -gravity * Vec3::z(), damping, ..spec });
    }
    floor(&mut builder, Vec3::z(), 0.5);
    let model = builder.build().unwrap();
    let method = SemiExplicit::new(&model, StepRule::Automatic { safety: 0.8 }, Options::default());
    Run::with(model, method, |_, _| Vec3::zeros())
}

#[test]
fn a_stack_of_ten_blocks_stands() {
    let mut run = stack(10, 9.81, 40.0);
    run.until(0.5).unwrap();
    let (rest, impulse, time) = (run.state.x.clone(), run.method.impulse_between(9, 10), run.state.time);
    let on_floor = |run: &Run<SemiExplicit>| (0..10).map(|b| run.method.impulse_between(b, 10)).sum::<Vec3>();
    let before = on_floor(&run);
    assert_eq!(impulse, Vec3::zeros(), "only the lowest touches the floor");
    run.until(1.0).unwrap();
    let force = (on_floor(&run) - before) / (run.state.time - time);
    let weight = 9.81 * run.model.mass.iter().sum::<f64>();
    assert!((force.z / weight - 1.0).abs() < 1e-3 && force.xy().norm() < 1e-6 * weight, "{force:?} {weight}");
    let drift = rest.iter().zip(&run.state.x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(drift < 1e-6, "{drift:e}");
    assert!(run.ledger.penetration_max < 1e-9, "{:e}", run.ledger.penetration_max);
    assert_eq!(run.method.unfinished(), 0);
}
