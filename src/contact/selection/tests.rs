use super::super::closest_point::Feature;
use super::super::scene::{Attributes, BodyInput, Rules};
use super::super::search::Query;
use super::super::three_stage::ThreeStage;
use super::*;
use crate::mesh::shape;
use crate::mesh::surface::Surface;

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
    let mesh = shape::Box::new([1.0; 3], [1; 3]).build().unwrap();
    let (surface, mut x) = (Surface::of(&mesh), Vec::new());
    let cubes = [0, 1, 2].map(|k| {
        let first = x.len() as u32;
        x.extend(&mesh.nodes);
        BodyInput::of_surface(&format!("cube {k}"), &mesh, &surface, first, Attributes::default())
    });
    let scene = Scene::new(&cubes, &x, Rules::default());
    let choice = Choice { scene: &scene, x: &x, pass: Pass::Single, near: 0.0, finest: 1.0 };
    let node = mesh.nodes.len() as u32;
    let on = |body: usize, k: u32| scene.bodies[body].facets.start + k;
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
        let mut selection = Selection { records: vec![first, other], ..Selection::default() };
        selection.choose(&choice);
        assert_eq!(selection.chosen.len(), count, "{k}");
        assert_eq!(selection.chosen[0], 0, "the first stays");
    }
}

/// Two cubes lie on each other, corner on corner up to an offset: of the two contacts of each pair of corners one is left, the
/// deeper one, with both passes; a corner on the middle of an edge keeps its own.
#[test]
fn nodes_that_lie_on_each_other_touch_once() {
    let mesh = shape::Box::new([1.0; 3], [1; 3]).build().unwrap();
    for (offset, pass, count) in
        [(0.0, Pass::Double, 4), (0.01, Pass::Double, 4), (0.5, Pass::Double, 4), (0.0, Pass::Single, 4)]
    {
        let (surface, mut x) = (Surface::of(&mesh), Vec::new());
        let cubes = [0.0, 1.0 - 1e-4].map(|z| {
            let first = x.len() as u32;
            x.extend(mesh.nodes.iter().map(|p| p + Vec3::new(if z > 0.0 { offset } else { 0.0 }, 0.0, z)));
            BodyInput::of_surface(&format!("cube at {z}"), &mesh, &surface, first, Attributes::default())
        });
        let scene = Scene::new(&cubes, &x, Rules::default());
        let mut search = ThreeStage::new();
        search.find(&scene, &x, None, &Query { pass, ..Query::all(0.01) }).unwrap();
        let mut selection = Selection::default();
        selection.renew(&search, &Choice { scene: &scene, x: &x, pass, near: 0.0, finest: 1.0 });
        let up = selection.nodes().filter(|r| r.normal.z.abs() > 0.99).count();
        assert_eq!(up, count, "{offset} {pass:?}");
    }
}
