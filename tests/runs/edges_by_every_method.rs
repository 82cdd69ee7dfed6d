//! Contact where no node is in the way, by every method: edges must carry, and only those that face each other.

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
use carom::model::contact::{Law as ContactLaw, Obstacle, ObstacleShape};
use carom::model::{BodySpec, Builder, Model};

const RULE: StepRule = StepRule::Automatic { safety: 0.2 };

/// Bars of 1 × t × t, of one element each, one above the other with a little air between them.
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

/// Two thin bars meet crosswise, far from all nodes: they touch with the edges that face each other, come apart, and never
/// feel those of their far sides.
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

/// A block slides off a rigid table at 2 m/s: while it tips, the sharp edge of the table carries its flat underside. Returns its
/// velocity along and downwards after 0.4 s, well beyond the table.
fn slide_off<M: Method>(friction: f64, method: impl Fn(&Model) -> M) -> [f64; 2] {
    let law = Law::NeoHookean { young: 1e6, poisson: 0.3, density: 1e3 };
    let at = |size: [f64; 3], cells: [u32; 3], at: Vec3| {
        let mut mesh = shape::Box::new(size, cells).build().unwrap();
        mesh.place(&Placement { at, rotation: None }).unwrap();
        mesh
    };
    let mut builder = Builder::default();
    let block = at([0.3, 0.3, 0.1], [3, 3, 1], Vec3::new(-0.35, -0.15, 0.0));
    builder.body(BodySpec { gravity: -9.81 * Vec3::z(), ..body("block", block, &law, 1.0) });
    let table = at([1.0, 0.6, 0.2], [2, 2, 1], Vec3::new(-1.0, -0.3, -0.2));
    builder.contact.obstacles.push(Obstacle::new("table", ObstacleShape::Mesh(table)));
    builder.contact.law = ContactLaw { friction, restitution: None };
    let model = builder.build().unwrap();
    let method = method(&model);
    let mut run = Run::with(model, method, |_, _| 2.0 * Vec3::x());
    run.until(0.4).unwrap();
    let mass: f64 = run.model.mass.iter().sum();
    let p: Vec3 = run.model.mass.iter().zip(&run.state.v).map(|(m, v)| *m * v).sum();
    assert!(run.ledger.penetration_max < 1e-3, "{}", run.ledger.penetration_max);
    [p.x / mass, p.z / mass]
}

#[test]
fn a_block_tips_over_the_edge_of_a_table() {
    for friction in [0.0, 0.4] {
        let found = [
            slide_off(friction, |model| Dcr::new(model, RULE, dcr::Options::default())),
            slide_off(friction, |model| SemiExplicit::new(model, RULE, semi_explicit::Options::default())),
            slide_off(friction, |model| {
                Asynchronous::new(model, asynchronous::Options { safety: 0.2, ..Default::default() })
            }),
        ];
        for [along, down] in &found[1..] {
            assert!((along - found[0][0]).abs() < 0.03, "{friction}: {found:?}");
            assert!((down - found[0][1]).abs() < 0.05, "{friction}: {found:?}");
        }
    }
}
