use super::super::check::check;
use super::super::search::{PairSearch, Query};
use super::super::three_stage::ThreeStage;
use super::*;
use crate::mesh::shape;

/// Meshes one after another in one numbering, each shifted.
fn scene(meshes: &[(Mesh, Vec3)], rules: Rules) -> (Scene, Vec<Vec3>) {
    let (mut x, mut bodies) = (Vec::new(), Vec::new());
    for (i, (mesh, offset)) in meshes.iter().enumerate() {
        let surface = Surface::of(mesh);
        let first = x.len() as u32;
        let name = format!("body{i}");
        bodies.push(BodyInput::of_surface(&name, mesh, &surface, first, Attributes::default()));
        x.extend(mesh.nodes.iter().map(|p| p + offset));
    }
    (Scene::new(&bodies, &x, rules), x)
}

fn find(scene: &Scene, x: &[Vec3], reach: f64) -> ThreeStage {
    let mut search = ThreeStage::new();
    search.find(scene, x, None, &Query::all(reach)).unwrap();
    search
}

/// Two bars in line overlap by 0.01: each end node is that deep in the other bar, seen along x.
#[test]
fn bars_touch_end_to_end() {
    let bar = shape::Bar::new(1.0, 4).build().unwrap();
    let (scene, x) = scene(&[(bar.clone(), Vec3::zeros()), (bar, Vec3::x() * 0.99)], Rules::default());
    assert_eq!(check(&scene, &x), []);
    assert_eq!((scene.facets.len(), scene.edges.len(), scene.slots.len()), (4, 0, 4));
    let found = find(&scene, &x, 0.1);
    let gaps: Vec<_> = found.vertex_face().iter().map(|r| (r.node, r.gap, r.normal.x)).collect();
    assert_eq!(gaps.len(), 2);
    for (node, gap, n) in gaps {
        assert!((gap + 0.01).abs() < 1e-15);
        // The first bar is pushed back, the second forward.
        assert_eq!(n, if node < 5 { -1.0 } else { 1.0 });
    }
}

/// Two plane rectangles, 0.02 apart: the three lower nodes of the upper one and the three upper nodes
/// of the lower one see each other along y.
#[test]
fn rectangles_touch_edge_to_edge() {
    let flat = shape::Rectangle::new([1.0, 1.0], [2, 2]).build().unwrap();
    let (scene, x) = scene(&[(flat.clone(), Vec3::zeros()), (flat, Vec3::y() * 1.02)], Rules::default());
    assert_eq!(check(&scene, &x), []);
    assert_eq!((scene.facets.len(), scene.edges.len(), scene.slots.len()), (16, 0, 16));
    let found = find(&scene, &x, 0.1);
    assert_eq!(found.vertex_face().len(), 6);
    for r in found.vertex_face() {
        let upper = x[r.node as usize].y > 1.01;
        assert!((r.gap - 0.02).abs() < 1e-15);
        assert!((r.normal - Vec3::y() * if upper { 1.0 } else { -1.0 }).norm() < 1e-12);
    }
}

/// Boxes of hexahedra: surface counts, split quads, and rules that keep bodies apart.
#[test]
fn boxes_touch_unless_the_rules_say_no() {
    let cube = shape::Box::new([1.0; 3], [3; 3]).build().unwrap();
    let two = [(cube.clone(), Vec3::zeros()), (cube, Vec3::new(0.1, 0.2, 1.01))];
    let (whole, x) = scene(&two, Rules::default());
    assert_eq!(check(&whole, &x), []);
    assert_eq!((whole.facets.len(), whole.edges.len(), whole.slots.len()), (108, 216, 112));
    assert!(whole.edges.iter().all(|e| e.facets[1] != NONE));
    let contacts = find(&whole, &x, 0.05).vertex_face().len();
    assert!(contacts > 0);

    let (split, _) = scene(&two, Rules { split_quads: true, ..Rules::default() });
    assert_eq!((split.facets.len(), split.edges.len(), split.slots.len()), (216, 324, 112));
    for f in &split.facets {
        let quad = &whole.facets[(f.body * 54 + f.source) as usize];
        assert!(f.corners().iter().all(|k| quad.nodes.contains(k)));
        assert!(f.corners().contains(quad.nodes.iter().min().unwrap()));
    }
    assert_eq!(check(&split, &x), []);
    // Flat faces: the two ways to see a quad give the same gaps.
    assert_eq!(find(&split, &x, 0.05).vertex_face().len(), contacts);

    for rules in [
        Rules { bonded: vec![[1, 0]], ..Rules::default() },
        Rules { off: vec![1], ..Rules::default() },
        Rules { only: Some(vec![[0, 0]]), ..Rules::default() },
    ] {
        let (scene, x) = scene(&two, rules);
        assert!(find(&scene, &x, 0.05).vertex_face().is_empty());
    }
    let (only, x) = scene(&two, Rules { only: Some(vec![[1, 0]]), ..Rules::default() });
    assert_eq!(find(&only, &x, 0.05).vertex_face().len(), contacts);
}

/// A cube stands 0.01 in a plane that rises at 2 m/s; a step of 0.05 s later it is 0.11 deep. Nodes far
/// below count too: a half space has no far side.
#[test]
fn a_rising_plane_meets_the_bottom_of_a_cube() {
    use super::super::obstacle::Pose;
    let cube = shape::Box::new([1.0; 3], [2; 3]).build().unwrap();
    let surface = Surface::of(&cube);
    let mut x = cube.nodes.clone();
    let first = x.len() as u32;
    let plane = [Vec3::new(5.0, 5.0, 0.01), Vec3::new(5.0, 5.0, 1.01)];
    x.extend(plane);
    let bodies = [
        BodyInput::of_surface("cube", &cube, &surface, 0, Attributes::default()),
        BodyInput::of_plane("floor", first, false),
    ];
    let scene = Scene::new(&bodies, &x, Rules::default());
    assert_eq!(check(&scene, &x), []);
    let mut search = ThreeStage::new();
    for (time, depth, count) in [(0.0, 0.01, 9), (0.05, 0.11, 9), (0.3, 0.61, 17), (0.0, 0.01, 9)] {
        let pose = Pose::steady(Vec3::zeros(), Vec3::z() * 2.0, Vec3::zeros(), time);
        pose.place_all(&plane, &mut x[first as usize..]);
        search.find(&scene, &x, None, &Query::vertex_face(0.001)).unwrap();
        assert_eq!(search.vertex_face().len(), count);
        let deepest = search.vertex_face().iter().fold(0.0, |m: f64, r| m.min(r.gap));
        assert!((deepest + depth).abs() < 1e-12, "{deepest}");
        assert!(search.vertex_face().iter().all(|r| r.normal == Vec3::z()));
    }
}
