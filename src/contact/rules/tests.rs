use super::super::scene::{Attributes, BodyInput, Facet, Rules};
use super::super::search::{PairSearch, Query};
use super::super::three_stage::ThreeStage;
use super::*;
use crate::mesh::place::Placement;
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

/// A strip one element thick: a node on top never meets the face below it, nor those around; it may meet all faces that it
/// does not lie behind, and those farther away than half an edge.
#[test]
fn the_two_faces_of_a_thin_wall_do_not_meet() {
    let (scene, x) = scene_of(&[brick([1.0, 1.0, 0.02], [10, 10, 1], [0.0; 3])], true, true);
    let top = node_at(&x, [0.5, 0.5, 0.02]);
    let bottom = |f: &Facet| f.corners().iter().all(|&k| x[k as usize].z == 0.0);
    let far = |f: &Facet| f.corners().iter().all(|&k| (x[k as usize] - x[top as usize]).norm() > 0.25);
    let (mut below, mut kept) = (0, 0);
    for (i, facet) in scene.facets.iter().enumerate() {
        let left_out = scene.excludes_vertex_face(top, i as u32, false);
        let touches = facet.corners().iter().any(|&k| (x[k as usize] - x[top as usize]).norm() < 0.021);
        if bottom(facet) && touches {
            assert!(left_out, "the face right below");
            below += 1;
        }
        if far(facet) {
            assert!(!left_out, "a face far away");
            kept += 1;
        }
        // what goes through in a step is never left out
        assert_eq!(scene.excludes_vertex_face(top, i as u32, true), facet.corners().contains(&top));
    }
    assert!(below >= 4 && kept > 100, "{below} {kept}");
    // nothing of it is in contact with itself at rest
    let found = records(&scene, &x, 0.02);
    assert!(found.vertex_face().iter().all(|r| r.gap >= 0.0), "{:?}", found.vertex_face().first());
}

/// A thick body has no face behind a node within half an edge but its neighbours.
#[test]
fn a_thick_body_may_meet_itself_everywhere() {
    let (scene, x) = scene_of(&[brick([1.0; 3], [4; 3], [0.0; 3])], true, true);
    let top = node_at(&x, [0.5, 0.5, 1.0]);
    for (i, facet) in scene.facets.iter().enumerate() {
        if facet.corners().iter().all(|&k| x[k as usize].z < 0.9) {
            assert!(!scene.excludes_vertex_face(top, i as u32, false));
        }
    }
}

/// The middle of a flat face is touched along its normal and up to 45° from it, never from the side; a corner from all sides of
/// its body, the tip of a needle that lies on a face too, and the bottom of a hollow by what fits in.
#[test]
fn a_node_is_touched_from_where_its_body_is_not() {
    let needle = {
        let mut mesh = brick([1.0, 0.1, 0.1], [4, 1, 1], [0.0, 0.0, 3.0]);
        let tip = |p: &Vec3| {
            Vec3::new(p.x, 0.05 + (1.0 - p.x) * (p.y - 0.05), 3.0 + (1.0 - 0.99 * p.x) * (p.z - 3.0))
        };
        mesh.nodes = mesh.nodes.iter().map(tip).collect();
        mesh
    };
    let (scene, x) = scene_of(&[brick([1.0; 3], [4; 3], [0.0; 3]), needle], false, true);
    let can =
        |p: [f64; 3], n: [f64; 3]| node_can_touch(&scene, &x, node_at(&x, p), &Vec3::from(n).normalize());
    // normals point into the body of the node
    assert!(can([0.5, 0.5, 1.0], [0.0, 0.0, -1.0]) && can([0.5, 0.5, 1.0], [0.6, 0.0, -1.0]));
    assert!(!can([0.5, 0.5, 1.0], [1.0, 0.0, 0.0]) && !can([0.5, 0.5, 1.0], [1.0, 0.0, -0.5]));
    assert!(!can([0.5, 0.5, 1.0], [0.0, 0.0, 1.0]), "from within");
    assert!(can([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]) && can([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]));
    assert!(can([0.0, 0.5, 0.0], [1.0, 0.0, 0.0]) && !can([0.0, 0.5, 0.0], [0.0, 1.0, 0.0]));
    // the lower side of the needle's tip
    assert!(can([1.0, 0.05, 3.0], [0.0, 0.0, 1.0]));
}

/// A block has gone into another whose side is flush with its own: its corner is nearest to that side, and came through the top.
#[test]
fn a_corner_that_went_in_beside_a_flush_side_came_through_the_top() {
    let (lower, upper) = (brick([1.0; 3], [2; 3], [0.0; 3]), brick([1.0; 3], [2; 3], [0.0, 0.0, 1.01]));
    let (scene, start) = scene_of(&[lower, upper], false, true);
    let mut end = start.clone();
    for p in end.iter_mut().skip(27) {
        *p += Vec3::new(1e-6, 0.0, -0.02);
    }
    let corner = node_at(&start, [0.0, 0.5, 1.01]);
    let found = records(&scene, &end, 0.1);
    let record = found.vertex_face().iter().find(|r| r.node == corner).unwrap();
    assert!(record.normal.x.abs() > 0.9, "the nearest is the side");
    let motion = Motion { start: &start, end: &end };
    let face = came_through(&scene, motion, record, None, 1e-3).unwrap();
    assert!(unit(scene.facets[face as usize].area_vector(&end)).z > 0.99);
    // without a way through the top it stays with the nearest
    let stays = Motion { start: &end, end: &end };
    assert_eq!(came_through(&scene, stays, record, None, 1e-3), None);
}

/// The same corner for a method that knows no past: of the faces around, the one it looks at.
#[test]
fn a_corner_at_a_rim_belongs_to_the_face_it_looks_at() {
    let (lower, upper) = (brick([1.0; 3], [2; 3], [0.0; 3]), brick([1.0; 3], [2; 3], [1e-6, 0.0, 0.99]));
    let (scene, x) = scene_of(&[lower, upper], false, false);
    let corner = node_at(&x, [1e-6, 0.5, 0.99]);
    let found = records(&scene, &x, 0.1);
    let record = found.vertex_face().iter().find(|r| r.node == corner).unwrap();
    let sided = at_rim(&scene, &x, record, 0.5);
    assert!(record.normal.z < 0.1 && sided.normal.z > 0.99, "{:?} {:?}", record.normal, sided.normal);
    assert!((sided.gap + 0.01).abs() < 1e-12);
    // in the middle of a face nothing changes
    let middle = node_at(&x, [0.5 + 1e-6, 0.5, 0.99]);
    let record = found.vertex_face().iter().find(|r| r.node == middle).unwrap();
    assert_eq!(at_rim(&scene, &x, record, 0.5), *record);
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
        let sharp = [r.first, r.second].map(|e| is_sharp(&scene, &x, e));
        let parts = parts_bodies(&scene, &x, r.first, r.second, &r.normal);
        match sharp {
            [true, true] => {
                assert!(parts && r.normal.z.abs() > 0.99, "{r:?}");
                assert!((depth_of_edges(&scene, &x, r) - 1e-3).abs() < 1e-9);
                // seen the other way round it would pull them together
                assert!(!parts_bodies(&scene, &x, r.first, r.second, &-r.normal));
                rims += 1;
            }
            [false, false] => flat += 1,
            _ => {}
        }
    }
    assert_eq!((rims, flat > 0), (4, true));
}

/// An edge whose end lies on the face beside says nothing new; the same edge a little lower than that end does.
#[test]
fn an_end_that_is_as_near_speaks_for_its_edge() {
    let lower = brick([4.0, 1.0, 1.0], [4, 2, 1], [0.0; 3]);
    let upper = brick([1.0, 4.0, 1.0], [2, 4, 1], [1.3, -1.4, 0.999]);
    let (scene, x) = scene_of(&[lower, upper], false, false);
    let found = records(&scene, &x, 0.05);
    let nodes = found.vertex_face();
    let of_node = |k: u32| nodes.iter().filter(move |r| r.node == k);
    let nobody = |_: u32| nodes[..0].iter();
    let said = |r: &EdgeEdge| said_by_ends(&scene, r, 1.0, of_node);
    let (yes, no): (Vec<&EdgeEdge>, Vec<&EdgeEdge>) = found.edge_edge().iter().partition(|r| said(r));
    assert!(!yes.is_empty() && !no.is_empty(), "{} {}", yes.len(), no.len());
    assert!(found.edge_edge().iter().all(|r| !said_by_ends(&scene, r, 1.0, nobody)));
    let deeper = EdgeEdge { gap: yes[0].gap - 0.1, ..*yes[0] };
    assert!(!said(&deeper), "an end that is farther away does not speak for it");
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
