use super::super::closest_point::Feature;
use super::super::rules::FLAT;
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
        selection.choose(&Normals::at(&scene, &x), &choice);
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

/// Two cubes of several cells, turned against each other and overlapping by a corner or an edge, or lying on each other: edges that are flat, both
/// of them, are left out by the search, and what becomes contacts is the same.
#[test]
fn flat_edges_are_left_out_and_no_contact_is() {
    let mesh = shape::Box::new([1.0; 3], [6; 3]).build().unwrap();
    let (mut fewer, mut contacts) = (0, 0);
    for round in 0..40 {
        let (surface, mut x) = (Surface::of(&mesh), Vec::new());
        let angle = 0.04 * f64::from(round);
        let cubes = [0, 1].map(|k| {
            let (first, k) = (x.len() as u32, f64::from(k));
            let turn = nalgebra::Rotation3::new(k * angle * Vec3::new(1.0, 0.7, 0.3));
            // bent a little, so that flat edges are not flat to round-off
            let bent = |p: &Vec3| p + 0.02 * Vec3::new(0.0, 0.0, p.x * p.x + 0.5 * p.x * p.y);
            let at = k * Vec3::new(0.3, 0.2, 0.97 + 0.2 * angle);
            x.extend(mesh.nodes.iter().map(|p| turn * bent(p) + at));
            BodyInput::of_surface(&format!("cube {k}"), &mesh, &surface, first, Attributes::default())
        });
        let scene = Scene::new(&cubes, &x, Rules::default());
        let choice = Choice { scene: &scene, x: &x, pass: Pass::Double, near: 0.1, finest: 1.0 / 6.0 };
        let chosen = [None, Some(FLAT)].map(|flat| {
            let mut search = ThreeStage::new();
            search.find(&scene, &x, None, &Query { flat, ..Query::all(0.25) }).unwrap();
            let mut selection = Selection::default();
            selection.renew(&search, &choice);
            let edges: Vec<EdgeEdge> = selection.edges(&search).copied().collect();
            let nodes: Vec<VertexFace> = selection.nodes().copied().collect();
            (search.edge_edge().len(), edges, nodes)
        });
        assert_eq!((&chosen[0].1, &chosen[0].2), (&chosen[1].1, &chosen[1].2), "{round}");
        fewer += usize::from(chosen[1].0 < chosen[0].0);
        contacts += chosen[0].1.len();
    }
    assert!(fewer == 40 && contacts >= 10, "{fewer} {contacts}");
}
