//! The time loop asks for no memory: counted by an allocator of its own, with one thread and with two.

#[path = "runs/common.rs"]
mod common;
mod counting;

use carom::material;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::Asynchronous;
use carom::method::dcr::{Dcr, Options};
use carom::method::semi_explicit::{self, SemiExplicit};
use carom::method::verlet::StepRule;
use carom::model::contact::{Law, Obstacle, ObstacleShape};
use carom::model::{BodySpec, Builder, Model, Table};
use common::{Run, body};
use counting::ALLOCATIONS;
use std::sync::atomic::Ordering;

/// Allocations in a hundred steps after twenty to warm up, by all threads together.
fn allocations(threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let law = material::Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 };
        let mut builder = Builder::default();
        let mesh = shape::Box::new([1.0; 3], [16; 3]).build().unwrap();
        let sides = mesh.side_sets["xmax"].clone();
        let spec = BodySpec { gravity: 0.01 * Vec3::z(), damping: 0.1, ..body("block", mesh, &law, 1.0) };
        let index = builder.body(spec);
        builder.pressure(index, &sides, 0.01, Table::default());
        let held = builder.bodies()[0].node_set("xmin").unwrap();
        builder.restrain(held, vec![Vec3::x(), Vec3::y()], None);
        let rule = StepRule::Automatic { safety: 0.5 };
        let mut run = Run::start(builder.build().unwrap(), rule, |x| 0.01 * x);
        while run.state.step < 20 {
            run.until(run.state.time + run.ledger.dt).unwrap();
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        while run.state.step < 120 {
            run.until(run.state.time + run.ledger.dt).unwrap();
        }
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

/// The same of two blocks that lie on each other and on the floor, after so long in contact that lists of candidates, which
/// last long at rest, have been made anew.
fn allocations_in_contact<M: Method>(threads: usize, method: impl Fn(&Model, StepRule) -> M + Sync) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let law = material::Law::StVenantKirchhoff { young: 1e3, poisson: 0.3, density: 1.0 };
        let mut builder = Builder::default();
        for (name, height, cells) in [("lower", 0.0, 4), ("upper", 1.0, 3)] {
            let mut mesh = shape::Box::new([1.0; 3], [cells; 3]).build().unwrap();
            mesh.place(&Placement { at: height * Vec3::z(), rotation: None }).unwrap();
            builder.body(BodySpec { gravity: -Vec3::z(), ..body(name, mesh, &law, 1.0) });
        }
        let floor = ObstacleShape::Plane { point: Vec3::zeros(), normal: Vec3::z() };
        builder.contact.obstacles.push(Obstacle::new("floor", floor));
        builder.contact.law = Law { friction: 0.3, restitution: Some(0.0) };
        let model = builder.build().unwrap();
        let method = method(&model, StepRule::Automatic { safety: 0.5 });
        let mut run = Run::with(model, method, |_, _| Vec3::zeros());
        while run.state.step < 2000 {
            run.until(run.state.time + run.ledger.dt).unwrap();
        }
        assert!(run.ledger.collision_kicks > 1000);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        while run.state.step < 2100 {
            run.until(run.state.time + run.ledger.dt).unwrap();
        }
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

/// The same of a block that lies on another one, with steps for every element.
fn allocations_at_steps_of_their_own(threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let law = material::Law::StVenantKirchhoff { young: 1e3, poisson: 0.3, density: 1.0 };
        let mut builder = Builder::default();
        for (name, height, cells) in [("lower", 0.0, [8, 8, 2]), ("upper", 1.0, [7, 7, 3])] {
            let mut mesh = shape::Box::new([1.0; 3], cells).build().unwrap();
            mesh.place(&Placement { at: height * Vec3::z(), rotation: None }).unwrap();
            builder.body(BodySpec { gravity: -Vec3::z(), ..body(name, mesh, &law, 1.0) });
        }
        let floor = builder.bodies()[0].node_set("zmin").unwrap();
        builder.restrain(floor, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
        builder.contact.law = Law { friction: 0.3, restitution: Some(0.5) };
        let model = builder.build().unwrap();
        let method = Asynchronous::new(&model, Default::default());
        let mut run = Run::with(model, method, |_, _| Vec3::zeros());
        run.until(0.5).unwrap();
        assert!(run.ledger.collision_kicks > 1000);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        run.until(0.7).unwrap();
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

#[test]
fn a_hundred_steps_allocate_nothing_on_one_thread_and_on_two() {
    let counted = (allocations_at_steps_of_their_own(1), allocations_at_steps_of_their_own(2));
    assert_eq!(counted, (0, 0), "at steps of their own");
    assert_eq!((allocations(1), allocations(2)), (0, 0));
    for guard in [false, true] {
        let dcr =
            |model: &Model, rule: StepRule| Dcr::new(model, rule, Options { guard, ..Options::default() });
        let counted = (allocations_in_contact(1, dcr), allocations_in_contact(2, dcr));
        assert_eq!(counted, (0, 0), "in contact, guard {guard}");
    }
    let semi =
        |model: &Model, rule: StepRule| SemiExplicit::new(model, rule, semi_explicit::Options::default());
    let counted = (allocations_in_contact(1, semi), allocations_in_contact(2, semi));
    assert_eq!(counted, (0, 0), "in contact, semi-explicit");
}
