//! Bodies that overlap before the first step (`nonsmooth`): a little is moved apart, more is refused, with names and depth.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{Mesh, shape};
use carom::method::nonsmooth::general::General;
use carom::method::nonsmooth::{Nonsmooth, Options};
use carom::method::step_control::StepRule;
use carom::method::{Method, StepError};
use carom::model::{Builder, Ledger, Model};

const LAW: Law = Law::NeoHookean { young: 1e5, poisson: 0.3, density: 1e3 };

fn model(meshes: [Mesh; 2], held: &[Vec3]) -> Model {
    let mut builder = Builder::default();
    for (name, mesh) in ["low", "high"].into_iter().zip(meshes) {
        let index = builder.body(body(name, mesh, &LAW, 1.0));
        let nodes = builder.bodies()[index].nodes.clone().map(|n| n as u32).collect();
        builder.restrain(nodes, held.to_vec(), None);
    }
    builder.build().unwrap()
}

/// Two bars of cells of 0.1 and 0.05 m, of which the second begins `overlap` inside the first.
fn bars(overlap: f64) -> Model {
    let mut second = shape::Bar::new(0.15, 3).build().unwrap();
    second.nodes.iter_mut().for_each(|x| x.x += 0.1 - overlap);
    model([shape::Bar::new(0.1, 1).build().unwrap(), second], &[Vec3::y(), Vec3::z()])
}

/// Two boxes of 2³ cells of 0.5 m, moved by `shift` and turned by `angle` about x.
fn boxes(shift: Vec3, angle: f64) -> Model {
    let mesh = shape::Box::new([1.0; 3], [2; 3]).build().unwrap();
    let mut second = mesh.clone();
    let turn = nalgebra::Rotation3::from_axis_angle(&Vec3::x_axis(), angle);
    second.nodes.iter_mut().for_each(|x| *x = turn * *x + shift);
    model([mesh, second], &[])
}

fn refused(model: Model) -> f64 {
    let rule = StepRule::Automatic { safety: 0.5 };
    let mut depths = Vec::new();
    for beta in [0.0, 0.25] {
        let options = Options { beta, ..Options::default() };
        let (mut state, mut ledger) = (model.rest(), Ledger::default());
        let started = match beta {
            0.0 => Nonsmooth::new(&model, rule, options).start(&model, &mut state, &mut ledger),
            _ => General::new(&model, rule, options).start(&model, &mut state, &mut ledger),
        };
        let Err(StepError::OverlapAtStart { first, second, depth }) = started else { panic!("{started:?}") };
        let mut names = [first, second];
        names.sort();
        assert_eq!(names, ["high", "low"]);
        depths.push(depth);
    }
    assert_eq!(depths[0], depths[1]);
    depths[0]
}

/// Depths are those of the geometry. Steps used to be halved without end: what a step looks for was less deep.
#[test]
fn bodies_that_overlap_by_more_than_a_little_are_refused_at_once() {
    for overlap in [1e-4, 1e-3, 0.01, 0.02] {
        let depth = refused(bars(overlap));
        assert!((depth / overlap - 1.0).abs() < 1e-9, "{depth} of {overlap}");
    }
    for overlap in [1e-3, 0.05, 0.2] {
        let depth = refused(boxes(Vec3::new(0.13, 0.17, 1.0 - overlap), 0.0));
        assert!((depth / overlap - 1.0).abs() < 1e-9, "{depth} of {overlap}");
    }
    // an edge along x rests on its corner: a quarter of a turn down, and a fifth of a metre in
    let tilted = refused(boxes(Vec3::new(0.3, 0.5, 0.8), std::f64::consts::FRAC_PI_4));
    assert!((tilted - 0.2).abs() < 1e-9, "{tilted}");
}

/// 2·10⁻⁵ of the smaller cell: end and end share the way back by their inverse masses, so that the centre of mass stays; nobody is given a velocity, and steps go on
/// as long as they are.
#[test]
fn bodies_that_overlap_a_little_are_moved_apart_and_go_on() {
    let overlap = 1e-6;
    let model = bars(overlap);
    let method = Nonsmooth::new(&model, StepRule::Automatic { safety: 0.5 }, Options::default());
    let dt = 0.5 * model.stable_step();
    let mut run = Run::with(model, method, |_, _| 0.3 * Vec3::x());
    let moved: Vec<f64> = run.state.x.iter().zip(&run.model.reference).map(|(x, y)| x.x - y.x).collect();
    let centre: f64 = moved.iter().zip(&run.model.mass).map(|(d, m)| d * m).sum();
    let whole: f64 = run.model.mass.iter().sum();
    assert!(centre.abs() < 1e-15 * whole, "{centre:e}");
    assert!((moved[2] - moved[1] - overlap).abs() < 1e-15 && moved[1] < 0.0 && moved[2] > 0.0, "{moved:?}");
    assert!(run.state.v.iter().all(|v| *v == 0.3 * Vec3::x()));
    let before = run.ledger.total();
    run.until(20.0 * dt).unwrap();
    assert!(run.state.step <= 21, "{} steps", run.state.step);
    assert!(run.state.x[2].x - run.state.x[1].x >= -1e-12);
    assert!(run.ledger.error().abs() < 1e-6 * before, "{:?}", run.ledger);
}
