//! When a step cannot be done, the error names body, element and time, and the state is that of the last good step.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::{CellKind, shape};
use carom::method::StepError;
use carom::method::verlet::StepRule;
use carom::model::restraint::Motion;
use carom::model::{Builder, Model, State, Table};

/// A linear body, whose elements may turn as they like, and beside it one that may not; the second has a prescribed face.
fn model() -> Model {
    let (young, poisson, density) = (1.0, 0.3, 1.0);
    let mut builder = Builder::default();
    let mut tets = shape::Box::new([1.0, 1.0, 1.0], [2, 1, 1]);
    tets.cell = CellKind::Tet4;
    builder.body(body("first", tets.build().unwrap(), &Law::Linear { young, poisson, density }, 1.0));
    let mesh = shape::Box::new([3.0, 1.0, 1.0], [3, 1, 1]).build().unwrap();
    builder.body(body("second", mesh, &Law::NeoHookean { young, poisson, density }, 1.0));
    let prescribed = builder.bodies()[1].node_set("xmin").unwrap();
    let table = Table::new(vec![(0.0, 0.0), (0.1, 0.1), (0.2, 0.4), (0.3, 0.9)]).unwrap();
    let motion = Motion::Displacement { displacement: Vec3::x() * 0.02, table };
    builder.restrain(prescribed, vec![Vec3::x(), Vec3::y()], Some(motion));
    builder.build().unwrap()
}

fn assert_same(a: &State, b: &State, tolerance: f64) {
    assert_eq!((a.time, a.step, &a.material), (b.time, b.step, &b.material));
    for (a, b) in a.x.iter().zip(&b.x).chain(a.v.iter().zip(&b.v)) {
        assert!((a - b).norm() <= tolerance * (1.0 + b.norm()), "{a:?} {b:?}");
    }
}

#[test]
fn an_element_that_turns_inside_out_is_named() {
    let model = model();
    let dt = 0.01;
    // the element that holds the corner (3, 1, 1), which is thrown inwards
    let at = Vec3::new(3.0, 1.0, 1.0);
    let second = &model.bodies[1];
    let corner = second.mesh.nodes.iter().position(|&x| x == at).unwrap();
    let element = second.mesh.cells[0].nodes.iter().position(|&n| n as usize == corner).unwrap() / 8;
    let centre = Vec3::new(2.5, 0.5, 0.5);
    // the linear body is turned over on purpose and must not be blamed
    let throw = move |x: &Vec3| if *x == at { (centre - at) * 30.0 } else { Vec3::zeros() };
    let mut run = Run::start(model, StepRule::Fixed(dt), throw);
    let first = run.model.bodies[0].nodes.clone();
    run.state.x[first.clone()].iter_mut().for_each(|x| x.x = -x.x);
    let mut good = run.state.clone();
    let error = loop {
        good.clone_from(&run.state);
        let next = good.time + dt;
        if let Err(error) = run.until(next) {
            break error;
        }
        assert!(run.state.step < 100);
    };
    assert!(good.step > 2);
    match &error {
        StepError::Inverted { body, element: found, time, det_f } => {
            assert_eq!((body.as_str(), *found), ("second", element));
            assert!((time - (good.time + dt)).abs() < 1e-15 && *det_f <= 0.0);
        }
        other => panic!("{other}"),
    }
    assert!(error.to_string().contains(&format!("element {element} of body `second` turned inside out")));
    // the step is undone to round-off, prescribed nodes included
    assert_same(&run.state, &good, 1e-14);
    let energies = (run.ledger.kinetic, run.ledger.strain);
    // and fails again in the same way, without damage
    assert_eq!(run.until(good.time + dt).unwrap_err().to_string(), error.to_string());
    assert_same(&run.state, &good, 1e-14);
    assert_eq!((run.ledger.kinetic, run.ledger.strain), energies);
}

#[test]
fn numbers_that_run_out_of_range_are_named() {
    // only the first body is stiff enough for this step to be too long
    let mut builder = Builder::default();
    for (name, young) in [("soft", 1e-6), ("stiff", 1.0)] {
        let law = Law::Linear { young, poisson: 0.3, density: 1.0 };
        let mesh = shape::Box::new([1.0, 1.0, 1.0], [2, 1, 1]).build().unwrap();
        builder.body(body(name, mesh, &law, 1.0));
    }
    let model = builder.build().unwrap();
    let (stable, dt) = (model.stable_step(), 3.0 * model.stable_step());
    let mut run = Run::start(model, StepRule::Fixed(dt), |x| Vec3::new(0.1 * x.y, 0.2 * x.x, 0.0));
    let error = run.until(1e6).unwrap_err();
    match &error {
        StepError::NotFinite { body, element, time, dt: step, stable: known } => {
            assert_eq!(body, "stiff");
            assert!(*element < 2);
            assert!((time - run.state.time - dt).abs() < 1e-12 * time);
            assert_eq!((*step, *known), (dt, stable));
        }
        other => panic!("{other}"),
    }
    assert!(run.state.x.iter().chain(&run.state.v).all(|x| x.iter().all(|c| c.is_finite())));
    assert!(run.ledger.strain.is_finite());
}
