//! A body that stiffens as it deforms asks for shorter steps than it did at rest: the automatic step gives them, where
//! a step that suited the undeformed shape blows up.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::shape;
use carom::method::verlet::StepRule;
use carom::model::restraint::Motion;
use carom::model::{Builder, Model, Table};

const END: f64 = 60.0;

/// A bar that is drawn or pressed to `stretch` within two thirds of the time, its far end held.
fn model(law: &Law, stretch: f64) -> Model {
    let mut builder = Builder::default();
    let mesh = shape::Box::new([1.0, 0.2, 0.2], [6, 1, 1]).build().unwrap();
    builder.body(body("bar", mesh, law, 1.0));
    let set = |name: &str| builder.bodies()[0].node_set(name).unwrap();
    let (near, far) = (set("xmin"), set("xmax"));
    let table = Table::new(vec![(0.0, 0.0), (END * 2.0 / 3.0, stretch - 1.0)]).unwrap();
    let motion = Motion::Displacement { displacement: Vec3::x(), table };
    builder.restrain(near, vec![Vec3::x(), Vec3::y(), Vec3::z()], None);
    builder.restrain(far, vec![Vec3::x(), Vec3::y(), Vec3::z()], Some(motion));
    // sides that cannot give way keep the bar straight
    let across = |name: &str, direction| (builder.bodies()[0].node_set(name).unwrap(), vec![direction]);
    let sides = [
        across("ymin", Vec3::y()),
        across("ymax", Vec3::y()),
        across("zmin", Vec3::z()),
        across("zmax", Vec3::z()),
    ];
    for (nodes, directions) in sides {
        builder.restrain(nodes, directions, None);
    }
    builder.build().unwrap()
}

/// A ripple, so that there is something to grow.
fn ripple(x: &Vec3) -> Vec3 {
    Vec3::x() * 1e-3 * (7.0 * x.x).sin()
}

fn check(law: Law, stretch: f64, shrink: f64) {
    let fixed = 0.9 * model(&law, stretch).stable_step();
    let mut run = Run::start(model(&law, stretch), StepRule::Automatic { safety: 0.9 }, ripple);
    run.until(END).unwrap();
    let ledger = &run.ledger;
    assert!(ledger.error_max_rel() < 1e-2, "{:e}", ledger.error_max_rel());
    assert!(ledger.dt < shrink * fixed, "{} {fixed}", ledger.dt);
    println!("steps shrink to {:.3} of the first", ledger.dt / fixed);
    // the undeformed step: an element turns over, or the energy comes from nowhere
    let mut run = Run::start(model(&law, stretch), StepRule::Fixed(fixed), ripple);
    let failed = run.until(END).is_err();
    assert!(failed || run.ledger.error_max_rel() > 0.5, "{:e}", run.ledger.error_max_rel());
}

/// Frequencies grow with √(F²·1 + S/(λ+2μ)) = √((3F² − 1)/2): by 2.3 at twice the length.
#[test]
fn st_venant_kirchhoff_in_strong_tension() {
    check(Law::StVenantKirchhoff { young: 1.0, poisson: 0.3, density: 1.0 }, 2.0, 0.5);
}

#[test]
fn neo_hookean_in_strong_compression() {
    check(Law::NeoHookean { young: 1.0, poisson: 0.3, density: 1.0 }, 0.4, 0.6);
}
