//! Method `velocity-update` where nothing touches: free bodies keep energy and momenta whatever the step; supports, loads, prescribed motion and
//! damping act in the middle of the step, and their work is booked.

use crate::common::{Run, body};
use carom::contact::scene::BodyKind;
use carom::material::Law;
use carom::math::{Mat3, Vec3};
use carom::mesh::shape;
use carom::method::StepRule;
use carom::method::velocity_update::{MassKind, Options, VelocityUpdate, newmark};
use carom::model::restraint::Motion;
use carom::model::{Builder, Model, Table};

const LAWS: [Law; 3] = [
    Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 },
    Law::NeoHookean { young: 1.0, poisson: 0.3, density: 1.0 },
    Law::Linear { young: 1.0, poisson: 0.3, density: 1.0 },
];

fn builder(law: &Law, plane: bool) -> Builder {
    let mut builder = Builder::default();
    if plane {
        let mesh = shape::Rectangle::new([1.0, 0.6], [3, 2]).build().unwrap();
        let nodes = (0..mesh.nodes.len() as u32).collect();
        builder.body(body("block", mesh, law, 0.7));
        assert_eq!(builder.bodies()[0].kind, BodyKind::Plane);
        builder.restrain(nodes, vec![Vec3::z()], None);
    } else {
        let mesh = shape::Box::new([1.0, 0.6, 0.5], [2, 1, 1]).build().unwrap();
        builder.body(body("block", mesh, law, 1.0));
    }
    builder
}

/// Spin, a stretching field and a drift.
fn velocity(plane: bool) -> impl Fn(usize, &Vec3) -> Vec3 {
    move |_, x| {
        let r = x - Vec3::new(0.5, 0.3, if plane { 0.0 } else { 0.25 });
        let stretch = Mat3::new(0.2, 0.05, 0.0, -0.03, -0.1, 0.02, 0.0, 0.04, 0.1);
        let spin = if plane { Vec3::new(0.0, 0.0, 0.4) } else { Vec3::new(0.1, 0.2, 0.4) };
        let mut v = spin.cross(&r) + stretch * r + Vec3::new(0.3, -0.1, 0.2);
        v.z = if plane { 0.0 } else { v.z };
        v
    }
}

fn start(model: Model, step: f64, plane: bool, mass: MassKind) -> Run<VelocityUpdate> {
    let rule = StepRule::Fixed(step);
    let method = VelocityUpdate::new(&model, rule, Options { mass, ..Options::default() }).unwrap();
    Run::with(model, method, velocity(plane))
}

/// Five times the stable step of explicit methods, 200 steps. Angular momentum of small strains is that of no body.
#[test]
fn a_free_body_keeps_energy_and_momenta_at_any_step() {
    for (plane, mass) in [
        (true, MassKind::Lumped),
        (false, MassKind::Lumped),
        (true, MassKind::Consistent),
        (false, MassKind::Consistent),
    ] {
        for law in &LAWS {
            let model = builder(law, plane).build().unwrap();
            let step = 5.0 * model.stable_step();
            let mut run = start(model, step, plane, mass);
            let ([p, l], energy) = (run.momenta(), run.ledger.total());
            let (mut lost, mut drift, mut strained): (f64, [f64; 2], f64) = (0.0, [0.0; 2], 0.0);
            for k in 1..=200 {
                run.until(f64::from(k) * step).unwrap();
                let now = run.momenta();
                lost = lost.max((run.ledger.total() - energy).abs() / energy);
                strained = strained.max(run.ledger.strain / energy);
                drift = [drift[0].max((now[0] - p).norm()), drift[1].max((now[1] - l).norm())];
            }
            println!("{law:?} {plane}: {lost:.1e} {drift:?} strain {strained:.2} {:?}", run.method.effort());
            assert!(lost < 1e-9 && drift[0] < 1e-11, "{law:?}: {lost:e} {drift:?}");
            assert!(drift[1] < 1e-10 || matches!(law, Law::Linear { .. }), "{law:?}: {drift:?}");
            assert!(strained > 0.02, "{law:?}: it did not stretch");
            assert!((run.state.time - 200.0 * step).abs() < 1e-9 * step);
        }
    }
}

/// A held side, a side with prescribed motion, gravity, a pressure that follows and damping: the books close, and so do momenta.
#[test]
fn supports_loads_and_damping_balance_the_books() {
    for newmark in [false, true] {
        let mut builder = builder(&LAWS[1], false);
        let own = &builder.bodies()[0];
        let (left, right) = (own.node_set("xmin").unwrap(), own.node_set("xmax").unwrap());
        let top = own.mesh.side_sets["zmax"].clone();
        builder.restrain(left, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
        let motion = Motion::Velocity { velocity: Vec3::new(0.02, 0.0, 0.01) };
        builder.restrain(right, vec![Vec3::x(), Vec3::z()], Some(motion));
        builder.pressure(0, &top, 0.02, Table::default());
        builder.force(vec![3], Vec3::new(0.0, 0.003, 0.0), Table::default());
        let mut model = builder.build().unwrap();
        model.bodies[0].gravity = Vec3::new(0.0, 0.0, -0.05);
        model.bodies[0].damping = 0.1;
        let step = if newmark { 0.05 } else { 3.0 } * model.stable_step();
        let method = match newmark {
            true => {
                VelocityUpdate::newmark(&model, StepRule::Fixed(step), newmark::Options::default()).unwrap()
            }
            false => VelocityUpdate::new(&model, StepRule::Fixed(step), Options::default()).unwrap(),
        };
        let mut run = Run::with(model, method, |_, _| Vec3::zeros());
        let [p, l] = run.momenta();
        let (mut lost, mut drift): (f64, f64) = (0.0, 0.0);
        for k in 1..=if newmark { 600 } else { 100 } {
            run.until(f64::from(k) * step).unwrap();
            lost = lost.max(run.ledger.error().abs());
            let now = run.momenta();
            drift = drift.max((now[0] - p - run.ledger.impulse).norm());
            if !newmark {
                drift = drift.max((now[1] - l - run.ledger.moment).norm());
            }
        }
        let l = &run.ledger;
        println!(
            "{newmark}: {lost:.1e} {drift:.1e} external {:.2e} damping {:.2e} peak {:.2e}",
            l.external, l.damping, l.peak
        );
        assert!(l.external.abs() > 1e-4 && l.damping > 1e-5);
        // Newmark's forces at both ends do not quite do the work that the strain energy gains: of second order in the step
        assert!(lost < if newmark { 1e-4 } else { 1e-9 } * l.peak, "{lost:e} of {:e}", l.peak);
        assert!(drift < 1e-9, "{drift:e}");
    }
}

/// The midpoint rule is of second order: a free block against itself at finer steps. (The finest still has 1/15 of the error of the second.)
#[test]
fn positions_converge_with_the_square_of_the_step() {
    let at = |share: f64| {
        let model = builder(&LAWS[0], false).build().unwrap();
        let step = share * model.stable_step();
        let mut run = start(model, step, false, MassKind::Lumped);
        run.until(2.0 * run.model.stable_step()).unwrap();
        run.state.x.clone()
    };
    let exact = at(1.0 / 64.0);
    let off = |share: f64| at(share).iter().zip(&exact).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let (coarse, fine) = (off(0.25), off(0.0625));
    let order = (coarse / fine).log2() / 2.0;
    assert!((1.8..2.2).contains(&order), "{coarse:e} {fine:e}: order {order}");
}
