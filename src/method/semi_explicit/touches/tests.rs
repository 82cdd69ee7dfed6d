//! Which records become contacts.

use super::*;
use crate::element::choice::{Kind, maker};
use crate::material::Law;
use crate::mesh::shape;
use crate::model::{BodySpec, Builder, Table};

/// Three cubes.
fn cubes() -> Model {
    let law = Law::Linear { young: 1.0, poisson: 0.0, density: 1.0 };
    let mut builder = Builder::default();
    for k in 0..3 {
        let mesh = shape::Box::new([1.0; 3], [1; 3]).build().unwrap();
        let blocks = mesh.cells.iter().map(|cells| maker(Kind::new(cells.kind), &law)).collect();
        builder.body(BodySpec {
            name: format!("cube {k}"),
            mesh,
            blocks,
            section: 1.0,
            gravity: Vec3::zeros(),
            gravity_table: Table::default(),
            damping: 0.0,
        });
    }
    builder.build().unwrap()
}

/// A record of `node` on `face` at `point` along `normal`.
fn record(node: u32, face: u32, point: Vec3, normal: Vec3) -> VertexFace {
    VertexFace {
        node,
        face,
        feature: Feature::Face,
        side: 1,
        xi: 0.0,
        eta: 0.0,
        weights: [0.25; 4],
        point,
        distance_squared: 0.0,
        gap: -1e-3,
        normal,
    }
}

/// Contacts of one node that say the same thing are one: normals within 1°, points that coincide, the same body.
#[test]
fn what_is_said_twice_counts_once() {
    let model = cubes();
    let mut touches = Touches::new(&model);
    let node = model.bodies[1].nodes.start as u32;
    let on = |body: usize, k: u32| touches.scene.bodies[body].facets.start + k;
    let degree = std::f64::consts::PI / 180.0;
    let lean = |angle: f64| Vec3::new(angle.sin(), 0.0, angle.cos());
    let (p, beside) = (Vec3::new(0.1, 0.2, 0.5), 1e-3 * Vec3::x());
    let first = record(node, on(0, 0), p, Vec3::z());
    let others = [
        (record(node, on(0, 1), p, lean(0.9 * degree)), 1),
        (record(node, on(0, 1), p, lean(1.1 * degree)), 2),
        (record(node, on(0, 1), p + beside, Vec3::z()), 2),
        (record(node, on(2, 1), p, Vec3::z()), 2),
        (record(node + 1, on(0, 0), p, Vec3::z()), 2),
    ];
    for (k, (other, count)) in others.into_iter().enumerate() {
        touches.records = vec![first, other];
        touches.choose(Pass::Single);
        assert_eq!(touches.chosen.len(), count, "{k}");
        assert_eq!(touches.chosen[0], 0, "the first stays");
    }
}
