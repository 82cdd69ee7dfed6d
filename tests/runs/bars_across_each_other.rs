//! Two bars of one thin element each meet crosswise, far from all nodes: by every method they touch with the edges that face
//! each other, come apart, and never feel those of their far sides.

use crate::common::{Run, body};
use carom::material::Law;
use carom::math::Vec3;
use carom::mesh::place::Placement;
use carom::mesh::shape;
use carom::method::Method;
use carom::method::asynchronous::{self, Asynchronous};
use carom::method::dcr::{self, Dcr};
use carom::method::semi_explicit::{self, SemiExplicit};
use carom::method::verlet::StepRule;
use carom::model::{Builder, Model};

const RULE: StepRule = StepRule::Automatic { safety: 0.2 };

/// Bars of 1 × t × t, one above the other with a little air between them.
fn scene(thick: f64) -> Model {
    let law = Law::NeoHookean { young: 1e3, poisson: 0.3, density: 1.0 };
    let mut builder = Builder::default();
    for (name, size, z) in
        [("upper", [1.0, thick, thick], 1.005 * thick), ("lower", [thick, 1.0, thick], 0.0)]
    {
        let mut mesh = shape::Box::new(size, [1; 3]).build().unwrap();
        let at = Vec3::new(-0.5 * size[0], -0.5 * size[1], z);
        mesh.place(&Placement { at, rotation: None }).unwrap();
        builder.body(body(name, mesh, &law, 1.0));
    }
    builder.build().unwrap()
}

/// The bars meet at 1 m/s each and are looked at until they are twice their thickness apart.
fn meet<M: Method>(thick: f64, method: impl Fn(&Model) -> M) {
    let model = scene(thick);
    let method = method(&model);
    let mut run = Run::with(model, method, |b, _| (2.0 * b as f64 - 1.0) * Vec3::z());
    let upper = |run: &Run<M>| {
        let mut seen = run.state.clone();
        run.method.synchronise(&run.model, &run.state, &mut seen);
        let nodes = run.model.bodies[0].nodes.clone();
        nodes.map(|k| run.model.mass[k] * seen.v[k].z).sum::<f64>() / (thick * thick)
    };
    let mut apart = f64::NAN;
    for k in 1..=60 {
        run.until(0.05 * thick * f64::from(k)).unwrap();
        if k == 20 {
            apart = upper(&run);
        }
    }
    assert!(run.ledger.collision_kicks > 0, "nothing met");
    assert!(apart > 0.0 && (upper(&run) - apart).abs() < 1e-12, "{thick}: {apart}, then {}", upper(&run));
    assert!(run.ledger.penetration_max < 0.1 * thick, "{thick}: {}", run.ledger.penetration_max);
}

#[test]
fn far_sides_do_not_touch() {
    for thick in [0.3, 0.1, 0.03] {
        meet(thick, |model| Dcr::new(model, RULE, dcr::Options::default()));
        meet(thick, |model| SemiExplicit::new(model, RULE, semi_explicit::Options::default()));
        meet(thick, |model| {
            Asynchronous::new(model, asynchronous::Options { safety: 0.2, ..Default::default() })
        });
    }
}
