//! What must hold for every shape.

use super::*;
use crate::mesh::surface::Surface;
use crate::mesh::{CellKind, Mesh, MeshError, Side, shape_functions};
use std::collections::BTreeSet;
use std::f64::consts::PI;

/// Smallest det J over all corners of all cells.
fn smallest_det(mesh: &Mesh) -> f64 {
    let mut smallest = f64::INFINITY;
    for cells in &mesh.cells {
        for i in 0..cells.len() {
            let x = mesh.corners(cells, i);
            for a in 0..cells.kind.nodes() {
                let xi = shape_functions::corner(cells.kind, a);
                smallest = smallest.min(shape_functions::jacobian(cells.kind, &x, xi).determinant());
            }
        }
    }
    smallest
}

const SOLID: [CellKind; 3] = [CellKind::Hex8, CellKind::Tet4, CellKind::Tet10];
const PLANE: [CellKind; 2] = [CellKind::Quad4, CellKind::Tri3];

/// One mesh of every shape and kind of cell, with odd counts, strong grading and thin or thick cores.
fn zoo() -> Vec<(String, Mesh)> {
    let quadratic = Grading::Quadratic { slope: 0.25, fine: End::Max };
    let mut zoo = vec![];
    let mut add = |name: &str, cell: CellKind, mesh: Result<Mesh, MeshError>| {
        zoo.push((format!("{name} of {}", cell.name()), mesh.unwrap()));
    };
    add("bar", CellKind::Bar2, Bar { grading: quadratic, ..Bar::new(3.0, 7) }.build());
    for cell in PLANE {
        let grading = [Grading::Geometric(9.0), quadratic];
        add("rectangle", cell, Rectangle { grading, cell, ..Rectangle::new([2.0, 3.0], [5, 3]) }.build());
        for around in [3, 4, 7, 32] {
            let grading = Grading::Geometric(2.0);
            add("ring", cell, Ring { grading, cell, ..Ring::new(0.5, 2.0, around, 3) }.build());
        }
        for core in [0.05, 0.5, 0.95] {
            for n in [1, 2, 5] {
                add("disc", cell, Disc { core, cell, ..Disc::new(1.5, n, 3) }.build());
            }
        }
    }
    for cell in SOLID {
        let grading = [Grading::Geometric(3.0), quadratic, Grading::Geometric(0.1)];
        add("box", cell, Box { grading, cell, ..Box::new([2.0, 3.0, 0.5], [4, 3, 2]) }.build());
        for core in [0.05, 0.5, 0.95] {
            for n in [1, 2, 5] {
                let cylinder =
                    Cylinder { core, cell, grading: quadratic, ..Cylinder::new(0.5, 4.0, n, 2, 3) };
                add("cylinder", cell, cylinder.build());
                add("sphere", cell, Sphere { core, cell, ..Sphere::new(1.5, n, 3) }.build());
            }
        }
    }
    // convex, with a re-entrant corner and clockwise, and one that no point sees whole
    let ell = vec![[0.0, 0.0], [0.0, 3.0], [1.0, 3.0], [1.0, 1.0], [3.0, 1.0], [3.0, 0.0]];
    let fork =
        vec![[0., 0.], [4., 0.], [4., 4.], [3., 4.], [3., 1.], [2., 0.5], [1., 1.], [1., 4.], [0., 4.]];
    for (points, refine) in [(vec![[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]], 0), (ell, 1), (fork, 2)] {
        add("polygon", CellKind::Tri3, Polygon { points, refine }.build());
    }
    let corner = |k: usize| [(k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64];
    let cube: Vec<[f64; 3]> = (0..8).map(corner).chain([[0.5; 3]]).collect();
    let roof = vec![
        [0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [2.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.5, 0.5, 1.0],
        [1.5, 0.5, 1.0],
    ];
    let faces = vec![vec![0, 3, 2, 1], vec![0, 1, 5, 4], vec![2, 3, 4, 5], vec![1, 2, 5], vec![3, 0, 4]];
    for refine in [0, 2] {
        add("polyhedron", CellKind::Tet4, Polyhedron { points: cube.clone(), faces: vec![], refine }.build());
        let faces = faces.clone();
        add("polyhedron", CellKind::Tet4, Polyhedron { points: roof.clone(), faces, refine }.build());
    }
    zoo
}

#[test]
fn every_shape_is_fit_for_mechanics_with_positive_det_at_every_corner() {
    for (name, mesh) in zoo() {
        assert!(smallest_det(&mesh) > 0.0, "{name}");
        mesh.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn every_facet_of_a_shape_belongs_to_exactly_one_named_side_set() {
    for (name, mesh) in zoo() {
        let mut facets: Vec<Side> = Surface::of(&mesh).facets.iter().map(|f| f.side).collect();
        // a quadratic side is four of them
        facets.dedup();
        let mut named: Vec<Side> = mesh.side_sets.values().flatten().copied().collect();
        named.sort_unstable();
        assert_eq!(named, facets, "{name}");
        for (set, sides) in &mesh.side_sets {
            let nodes: BTreeSet<u32> = sides.iter().flat_map(|&s| mesh.side_nodes(s)).collect();
            assert_eq!(mesh.node_sets[set], Vec::from_iter(nodes), "{name}, {set}");
        }
    }
}

#[test]
fn every_solid_shape_has_the_surface_of_a_ball() {
    for (name, mesh) in zoo().into_iter().filter(|(_, m)| m.dimension() == 3) {
        let s = Surface::of(&mesh);
        assert_eq!(s.nodes.len() + s.facets.len(), s.edges.len() + 2, "{name}");
    }
}

#[test]
fn straight_shapes_fill_their_size_exactly() {
    for (name, mesh) in zoo() {
        let exact = match name.split(' ').next().unwrap() {
            "bar" | "box" => 3.0,
            "rectangle" => 6.0,
            _ => continue,
        };
        assert!((mesh.measure() - exact).abs() < 1e-14 * exact, "{name}: {}", mesh.measure());
    }
}

/// Areas and volumes by hand: an L of two bars, a fork, a unit cube, a hip roof (prism 2×1×1/2 less two pyramids 1/12 each).
#[test]
fn polygons_and_polyhedra_fill_their_corners_and_name_their_sides() {
    let of =
        |word: &str| zoo().into_iter().filter(|z| z.0.starts_with(word)).map(|z| z.1).collect::<Vec<_>>();
    for (mesh, exact) in of("polygon").iter().zip([0.5, 5.0, 9.5]) {
        assert!((mesh.measure() - exact).abs() < 1e-13, "{}", mesh.measure());
    }
    for (mesh, exact) in of("polyhedron").iter().zip([1.0, 5.0 / 6.0, 1.0, 5.0 / 6.0]) {
        assert!((mesh.measure() - exact).abs() < 1e-13, "{}", mesh.measure());
    }
    // clockwise corners: side-1 still joins the first two
    let ell = &of("polygon")[1];
    assert!(ell.node_sets["side-1"].iter().all(|&k| ell.nodes[k as usize].x == 0.0));
    let roof = &of("polyhedron")[3];
    assert!(roof.node_sets["face-1"].iter().all(|&k| roof.nodes[k as usize].z == 0.0));
    assert_eq!(roof.side_sets["face-1"].len(), 2 * 16);
}

#[test]
fn shapes_that_are_none_are_refused_with_a_reason() {
    let polygon = |points: &[[f64; 2]]| Polygon { points: points.to_vec(), refine: 0 }.build();
    let bow = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
    assert!(polygon(&bow).unwrap_err().to_string().contains("meets itself"));
    assert!(polygon(&bow[..2]).unwrap_err().to_string().contains("three or more"));
    assert!(polygon(&[[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]).is_err());
    let points = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let solid = |faces: Vec<Vec<u32>>| Polyhedron { points: points.clone(), faces, refine: 0 }.build();
    let closed = vec![vec![0, 2, 1], vec![0, 1, 3], vec![1, 2, 3], vec![2, 0, 3]];
    assert!(solid(closed.clone()).is_ok());
    assert!(solid(closed[..3].to_vec()).unwrap_err().to_string().contains("without a face on each side"));
    let inside_out = closed.iter().map(|f| f.iter().rev().copied().collect()).collect();
    assert!(solid(inside_out).unwrap_err().to_string().contains("counter-clockwise"));
    let flat = (0..5).map(|k| [f64::from(k), f64::from(k * k), 0.0]).collect();
    assert!(Polyhedron { points: flat, faces: vec![], refine: 0 }.build().is_err());
}

/// Chords leave out a share of the area that falls with the square of their length.
#[test]
fn round_shapes_fill_their_circle_or_ball_with_order_two() {
    let error = |refine: u32, shape: usize, simplex: bool| {
        let (plane, solid) =
            if simplex { (CellKind::Tri3, CellKind::Tet4) } else { (CellKind::Quad4, CellKind::Hex8) };
        let n = 2 * refine;
        let (mesh, exact) = match shape {
            0 => (Ring { cell: plane, ..Ring::new(1.0, 2.0, 8 * n, 1) }.build(), 3.0 * PI),
            1 => (Disc { cell: plane, ..Disc::new(2.0, n, n) }.build(), 4.0 * PI),
            2 => (Cylinder { cell: solid, ..Cylinder::new(2.0, 0.5, n, n, 1) }.build(), 2.0 * PI),
            _ => (Sphere { cell: solid, ..Sphere::new(2.0, n, n) }.build(), 32.0 / 3.0 * PI),
        };
        1.0 - mesh.unwrap().measure() / exact
    };
    for shape in 0..4 {
        for simplex in [false, true] {
            let (coarse, fine) = (error(4, shape, simplex), error(8, shape, simplex));
            let order = (coarse / fine).log2();
            assert!(fine > 0.0 && fine < 0.01 && (order - 2.0).abs() < 0.05, "{shape} {fine} {order}");
        }
    }
}

#[test]
fn named_nodes_of_round_shapes_stand_on_their_circle_or_plane() {
    let radius = |mesh: &Mesh, set: &str, axes: usize| -> Vec<f64> {
        let r = |&n: &u32| mesh.nodes[n as usize].iter().take(axes).map(|c| c * c).sum::<f64>().sqrt();
        mesh.node_sets[set].iter().map(r).collect()
    };
    let on = |radii: Vec<f64>, r: f64| radii.iter().all(|x| (x - r).abs() < 4.0 * f64::EPSILON * r);
    let ring = Ring::new(0.7, 1.3, 12, 4).build().unwrap();
    assert!(on(radius(&ring, "inner", 2), 0.7) && on(radius(&ring, "outer", 2), 1.3));
    assert!(on(radius(&Disc::new(1.3, 4, 2).build().unwrap(), "outer", 2), 1.3));
    let cylinder = Cylinder::new(1.3, 0.8, 4, 2, 3).build().unwrap();
    assert!(on(radius(&cylinder, "side", 2), 1.3));
    assert!(cylinder.node_sets["zmin"].iter().all(|&n| cylinder.nodes[n as usize].z == -0.4));
    assert!(cylinder.node_sets["zmax"].iter().all(|&n| cylinder.nodes[n as usize].z == 0.4));
    assert!(on(radius(&Sphere::new(1.3, 4, 2).build().unwrap(), "surface", 3), 1.3));
}

/// A body that is symmetric must not drift because its mesh is not.
#[test]
fn round_shapes_mirror_themselves_to_the_last_bit() {
    for mesh in [
        Ring::new(0.7, 1.3, 24, 4).build().unwrap(),
        Disc::new(1.3, 5, 3).build().unwrap(),
        Sphere::new(1.3, 5, 3).build().unwrap(),
    ] {
        // −0 and 0 are the same place.
        let bits = |x: f64, y: f64, z: f64| [x + 0.0, y + 0.0, z + 0.0].map(f64::to_bits);
        let all: BTreeSet<_> = mesh.nodes.iter().map(|p| bits(p.x, p.y, p.z)).collect();
        assert_eq!(all.len(), mesh.nodes.len());
        for p in &mesh.nodes {
            assert!(all.contains(&bits(-p.x, p.y, p.z)) && all.contains(&bits(p.x, -p.y, p.z)));
            assert!(all.contains(&bits(p.y, p.x, p.z)) && all.contains(&bits(p.x, p.y, -p.z)));
        }
    }
}

/// x_i = (L/n)(i/5n) + (L − L/n)(i/5n)²; for L = 10, n = 4 the first and last edges are 0.14375 and 0.85625.
#[test]
fn quadratic_grading_is_the_mesh_of_the_two_bars() {
    for n in 1..=8_u32 {
        let (length, cells) = (10.0, 5 * n);
        let bar =
            |fine| Bar { length, cells, grading: Grading::Quadratic { slope: 1.0 / f64::from(n), fine } };
        let (right, left) = (bar(End::Min).build().unwrap(), bar(End::Max).build().unwrap());
        for i in 0..=cells {
            let (t, nf) = (f64::from(i) / f64::from(cells), f64::from(n));
            let x = length / nf * t + (length - length / nf) * t * t;
            assert!((right.nodes[i as usize].x - x).abs() <= 4.0 * f64::EPSILON * length);
            assert!((left.nodes[(cells - i) as usize].x - (length - x)).abs() <= 4.0 * f64::EPSILON * length);
        }
        let edges: Vec<f64> = right.nodes.windows(2).map(|p| p[1].x - p[0].x).collect();
        let growth: Vec<f64> = edges.windows(2).map(|e| e[1] - e[0]).collect();
        assert!(growth.iter().all(|g| (g - growth[0]).abs() < 1e-14 * length));
        if n == 4 {
            assert!((edges[0] - 0.14375).abs() < 1e-14 && (edges[19] - 0.85625).abs() < 1e-14);
            let same = Grading::quadratic_from_edge(0.014375, 20, End::Min);
            assert!(matches!(same, Grading::Quadratic { slope, .. } if (slope - 0.25).abs() < 1e-14));
        }
    }
}

#[test]
fn geometric_grading_multiplies_every_edge_by_the_same_factor() {
    for ratio in [1e-3, 0.5, 1.0 - 1e-12, 1.0, 1.0 + 1e-9, 8.0, 1e4] {
        let mesh = Bar { length: 2.0, cells: 9, grading: Grading::Geometric(ratio) }.build().unwrap();
        let edges: Vec<f64> = mesh.nodes.windows(2).map(|p| p[1].x - p[0].x).collect();
        assert!((edges[8] / edges[0] / ratio - 1.0).abs() < 1e-10, "{ratio}");
        let q = ratio.powf(1.0 / 8.0);
        assert!(edges.windows(2).all(|e| (e[1] / e[0] / q - 1.0).abs() < 1e-10), "{ratio}");
        assert!((mesh.measure() - 2.0).abs() < 1e-15 * 2.0);
    }
}

fn message(mesh: Result<Mesh, MeshError>) -> String {
    mesh.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_shape_without_size_or_cells_is_refused_with_its_parameter_and_value() {
    let quad = |slope| Grading::Quadratic { slope, fine: End::Min };
    for (mesh, words) in [
        (Bar::new(-1.0, 3).build(), "bar: `length` = -1,"),
        (Bar::new(f64::NAN, 3).build(), "bar: `length` = NaN,"),
        (Bar::new(1.0, 0).build(), "bar: `cells` = 0,"),
        (Bar { grading: Grading::Geometric(0.0), ..Bar::new(1.0, 2) }.build(), "bar: `grading` = 0,"),
        (Bar { grading: Grading::Geometric(1e300), ..Bar::new(1.0, 20) }.build(), "bar: `grading` = "),
        (Bar { grading: quad(1.5), ..Bar::new(1.0, 2) }.build(), "bar: `grading` = 1.5,"),
        (Bar { grading: quad(f64::NAN), ..Bar::new(1.0, 2) }.build(), "bar: `grading` = NaN,"),
        (Rectangle::new([1.0, f64::INFINITY], [1, 1]).build(), "rectangle: `size[1]` = inf,"),
        (Rectangle::new([1.0, 1.0], [0, 1]).build(), "rectangle: `cells[0]` = 0,"),
        (
            Rectangle { cell: CellKind::Hex8, ..Rectangle::new([1.0, 1.0], [1, 1]) }.build(),
            "rectangle: `cell` = \"hex8\", but it must be \"quad4\" or \"tri3\"",
        ),
        (Box::new([1.0, 1.0, 0.0], [1, 1, 1]).build(), "box: `size[2]` = 0,"),
        (Box::new([1.0, 1.0, 1.0], [1, 0, 1]).build(), "box: `cells[1]` = 0,"),
        (Ring::new(2.0, 1.0, 8, 1).build(), "ring: `inner` = 2, but it must be below `outer` = 1"),
        (Ring::new(0.0, 1.0, 8, 1).build(), "ring: `inner` = 0,"),
        (Ring::new(0.5, 1.0, 2, 1).build(), "ring: `around` = 2,"),
        (Ring::new(0.5, 1.0, 8, 0).build(), "ring: `radial` = 0,"),
        (Disc::new(0.0, 1, 1).build(), "disc: `radius` = 0,"),
        (Disc::new(1.0, 0, 1).build(), "disc: `core_cells` = 0,"),
        (Disc { core: 1.0, ..Disc::new(1.0, 1, 1) }.build(), "disc: `core` = 1,"),
        (Cylinder::new(1.0, -2.0, 1, 1, 1).build(), "cylinder: `height` = -2,"),
        (Cylinder::new(1.0, 1.0, 1, 1, 0).build(), "cylinder: `axial_cells` = 0,"),
        (Sphere::new(1.0, 1, 0).build(), "sphere: `layers` = 0,"),
        (Sphere { core: f64::NAN, ..Sphere::new(1.0, 1, 1) }.build(), "sphere: `core` = NaN,"),
    ] {
        let message = message(mesh);
        assert!(message.starts_with(words), "{message}");
    }
}

#[test]
fn absurd_counts_are_refused_before_anything_is_built() {
    let most = u32::MAX;
    for mesh in [
        Bar::new(1.0, most).build(),
        Rectangle::new([1.0; 2], [most, most]).build(),
        Rectangle::new([1.0; 2], [65536, 65536]).build(),
        Box::new([1.0; 3], [most; 3]).build(),
        Box { cell: CellKind::Tet4, ..Box::new([1.0; 3], [1000, 1000, 720]) }.build(),
        Ring::new(1.0, 2.0, most, most).build(),
        Disc::new(1.0, most, most).build(),
        Cylinder::new(1.0, 1.0, most, most, most).build(),
        Sphere::new(1.0, most, most).build(),
        Sphere::new(1.0, 1, most).build(),
    ] {
        let message = message(mesh);
        assert!(message.contains("too many"), "{message}");
    }
}
