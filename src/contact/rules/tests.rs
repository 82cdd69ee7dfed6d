use super::super::scene::{Attributes, BodyInput, Rules};
use super::super::search::{PairSearch, Query};
use super::super::three_stage::ThreeStage;
use super::*;
use crate::mesh::place::{Pivot, Placement, Rotation};
use crate::mesh::surface::Surface;
use crate::mesh::{Mesh, shape};

fn brick(size: [f64; 3], cells: [u32; 3], at: [f64; 3]) -> Mesh {
    let mut mesh = shape::Box::new(size, cells).build().unwrap();
    mesh.place(&Placement { at: at.into(), rotation: None }).unwrap();
    mesh
}

fn scene_of(meshes: &[Mesh], self_contact: bool, split_quads: bool) -> (Scene, Vec<Vec3>) {
    let (mut x, mut bodies) = (Vec::new(), Vec::new());
    for (i, mesh) in meshes.iter().enumerate() {
        let attributes = Attributes { self_contact, ..Attributes::default() };
        let first = x.len() as u32;
        bodies.push(BodyInput::of_surface(&format!("{i}"), mesh, &Surface::of(mesh), first, attributes));
        x.extend(&mesh.nodes);
    }
    (Scene::new(&bodies, &x, Rules { split_quads, ..Rules::default() }), x)
}

fn node_at(x: &[Vec3], p: [f64; 3]) -> u32 {
    let near = |k: &usize| (x[*k] - Vec3::from(p)).norm() < 1e-9;
    (0..x.len()).find(near).unwrap() as u32
}

fn records(scene: &Scene, x: &[Vec3], reach: f64) -> ThreeStage {
    let mut search = ThreeStage::new();
    search.find(scene, x, None, &Query::all(reach)).unwrap();
    search
}

/// A block has gone into another whose side is flush with its own: its corner is nearest to that side, and came through the top.
#[test]
fn a_corner_that_went_in_beside_a_flush_side_came_through_the_top() {
    let (lower, upper) = (brick([1.0; 3], [2; 3], [0.0; 3]), brick([1.0; 3], [2; 3], [1e-6, 0.0, 1.01]));
    let (scene, start) = scene_of(&[lower, upper], false, true);
    let mut end = start.clone();
    for p in end.iter_mut().skip(27) {
        p.z -= 0.02;
    }
    let corner = node_at(&start, [1e-6, 0.5, 1.01]);
    let found = records(&scene, &end, 0.1);
    let record = found.vertex_face().iter().find(|r| r.node == corner).unwrap();
    assert!(record.normal.x.abs() > 0.9, "the nearest is the side");
    let motion = StepPath { start: &start, end: &end };
    let face = came_through(&Normals::at(&scene, motion.end), motion, record, None, 1e-3).unwrap();
    assert!(unit(scene.facets[face as usize].area_vector(&end)).z > 0.99);
    // without a way through the top it stays with the nearest
    let stays = StepPath { start: &end, end: &end };
    assert_eq!(came_through(&Normals::at(&scene, stays.end), stays, record, None, 1e-3), None);
}

/// The same corner for a method that knows no past: of the faces around, the one it looks at.
#[test]
fn a_corner_at_a_rim_belongs_to_the_face_it_looks_at() {
    let (lower, upper) = (brick([1.0; 3], [2; 3], [0.0; 3]), brick([1.0; 3], [2; 3], [1e-6, 0.0, 0.99]));
    let (scene, x) = scene_of(&[lower, upper], false, false);
    let corner = node_at(&x, [1e-6, 0.5, 0.99]);
    let found = records(&scene, &x, 0.1);
    let record = found.vertex_face().iter().find(|r| r.node == corner).unwrap();
    let reassigned = reassign_face(&Normals::at(&scene, &x), record, 0.5);
    assert!(
        record.normal.z < 0.1 && reassigned.normal.z > 0.99,
        "{:?} {:?}",
        record.normal,
        reassigned.normal
    );
    assert!((reassigned.gap + 0.01).abs() < 1e-12);
    // in the middle of a face nothing changes
    let middle = node_at(&x, [0.5 + 1e-6, 0.5, 0.99]);
    let record = found.vertex_face().iter().find(|r| r.node == middle).unwrap();
    assert_eq!(reassign_face(&Normals::at(&scene, &x), record, 0.5), *record);
}

/// Two bricks lie across each other, edges of the upper one on lines of the mesh of the lower: sharp are those of the bricks,
/// and only they part the bodies.
#[test]
fn edges_touch_where_one_is_sharp_and_their_normal_parts_the_bodies() {
    let lower = brick([4.0, 1.0, 1.0], [4, 2, 1], [0.0; 3]);
    let upper = brick([1.0, 4.0, 1.0], [2, 4, 1], [1.3, -1.4, 0.999]);
    let (scene, x) = scene_of(&[lower, upper], false, false);
    let found = records(&scene, &x, 0.05);
    let (mut rims, mut flat) = (0, 0);
    for r in found.edge_edge() {
        let sharp = [r.first, r.second].map(|e| is_sharp(&Normals::at(&scene, &x), e));
        let parts = in_normal_cones(&Normals::at(&scene, &x), r.first, r.second, &r.normal);
        match sharp {
            [true, true] => {
                assert!(parts && r.normal.z.abs() > 0.99, "{r:?}");
                // each lies in a side of the other brick: as deep as nothing
                assert!(depth_of_edges(&scene, &x, r, 0.0) < 1e-9);
                // seen the other way round it would pull them together
                assert!(!in_normal_cones(&Normals::at(&scene, &x), r.first, r.second, &-r.normal));
                rims += 1;
            }
            [false, false] => flat += 1,
            _ => {}
        }
    }
    assert_eq!((rims, flat > 0), (4, true));
}

/// Two ridges cross, one upside down over the other: the ridge of each lies between the two slopes of the other, at the
/// cosine of 45° times the overlap from both.
#[test]
fn crossed_ridges_are_as_deep_as_their_slopes_say() {
    let overlap = 1e-3;
    let ridge = |axis: Vec3, middle: f64| {
        let across = |c: f64| if c == 0.0 { 1.0 } else { 4.0 };
        let size = axis.map(across);
        let mut mesh = shape::Box::new(size.into(), [1; 3]).build().unwrap();
        mesh.place(&Placement { at: -0.5 * size, rotation: None }).unwrap();
        let rotation = Some(Rotation { axis, angle: std::f64::consts::FRAC_PI_4, about: Pivot::Centre });
        mesh.place(&Placement { at: Vec3::zeros(), rotation }).unwrap();
        mesh.place(&Placement { at: Vec3::new(0.0, 0.0, middle), rotation: None }).unwrap();
        mesh
    };
    let (lower, upper) = (ridge(Vec3::x(), 0.0), ridge(Vec3::y(), 2f64.sqrt() - overlap));
    let (scene, x) = scene_of(&[lower, upper], false, false);
    let found = records(&scene, &x, 0.05);
    let parted = |r: &&EdgeEdge| in_normal_cones(&Normals::at(&scene, &x), r.first, r.second, &r.normal);
    let crossed: Vec<f64> =
        found.edge_edge().iter().filter(parted).map(|r| depth_of_edges(&scene, &x, r, 0.0)).collect();
    assert_eq!(crossed.len(), 1);
    assert!((crossed[0] - overlap * std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-12, "{crossed:?}");
}

/// Two bricks lie across each other. Where nodes of one lie on the other, an edge says nothing new; where rims cross between
/// nodes, only edges speak.
#[test]
fn an_end_that_is_as_near_speaks_for_its_edge() {
    let lower = brick([4.0, 1.0, 1.0], [4, 2, 1], [0.0; 3]);
    let fine = brick([1.0, 4.0, 1.0], [2, 4, 1], [1.3, -1.4, 0.999]);
    let coarse = brick([0.4, 4.0, 1.0], [1, 2, 1], [1.3, -0.7, 0.999]);
    for (upper, spoken_for) in [(fine, true), (coarse, false)] {
        let lower = if spoken_for { lower.clone() } else { brick([4.0, 1.0, 1.0], [4, 1, 1], [0.0; 3]) };
        let (scene, x) = scene_of(&[lower, upper], false, false);
        let found = records(&scene, &x, 0.05);
        let nodes = found.vertex_face();
        let of_node = |k: u32| nodes.iter().filter(move |r| r.node == k);
        let nobody = |_: u32| nodes[..0].iter();
        let rims: Vec<&EdgeEdge> = found.edge_edge().iter().collect();
        assert!(rims.len() >= 4);
        for r in rims {
            assert_eq!(covered_by_vertex_face(&scene, r, 1.0, of_node), spoken_for, "{r:?}");
            assert!(!covered_by_vertex_face(&scene, r, 1.0, nobody));
            let deeper = EdgeEdge { gap: r.gap - 0.1, ..*r };
            assert!(
                !covered_by_vertex_face(&scene, &deeper, 1.0, of_node),
                "an end that is farther away does not speak for it"
            );
        }
    }
}

/// Two bars end to end: each end sees the other, once counts.
#[test]
fn two_ends_of_bars_meet_once() {
    let bar = shape::Bar::new(1.0, 2).build().unwrap();
    let mut second = bar.clone();
    second.place(&Placement { at: Vec3::new(0.99, 0.0, 0.0), rotation: None }).unwrap();
    let (scene, x) = scene_of(&[bar, second], false, false);
    let found = records(&scene, &x, 0.1);
    let counted: Vec<bool> = found.vertex_face().iter().map(|r| is_second_end(&scene, r)).collect();
    assert_eq!(counted.iter().filter(|second| !**second).count(), 1, "{counted:?}");
    assert_eq!(counted.len(), 2);
}
