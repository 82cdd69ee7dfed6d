use super::*;
use crate::math::Vec3;
use crate::mesh::shape::{Bar, Box, Rectangle};
use crate::mesh::{CellKind, Cells, shape_functions};
use std::collections::{BTreeMap, BTreeSet};

/// A smooth map without symmetry that keeps cells positive: quads become truly bilinear.
fn distort(mesh: &mut Mesh) {
    let plane = mesh.dimension() == 2;
    for p in &mut mesh.nodes {
        let (x, y, z) = (p.x, p.y, p.z);
        *p += 0.1 * Vec3::new((y + 2.0 * z).sin(), (z - x).cos(), if plane { 0.0 } else { (x * y).sin() });
    }
}

fn measure(mesh: &Mesh) -> f64 {
    let cell = |kind, cell: &[u32]| {
        let x: Vec<Vec3> = cell.iter().map(|&n| mesh.nodes[n as usize]).collect();
        shape_functions::measure(kind, &x)
    };
    mesh.cells.iter().map(|c| (0..c.len()).map(|i| cell(c.kind, c.cell(i))).sum::<f64>()).sum()
}

/// ∮ x·n dA / d over the facets: the volume (d = 3) or area (d = 2) inside, by the divergence theorem.
/// On a bilinear facet x·(x,ξ × x,η) is quadratic in each direction: 2×2 Gauss points are exact.
fn enclosed(mesh: &Mesh, surface: &Surface) -> f64 {
    let flux = |f: &Facet| {
        let x: Vec<Vec3> = f.nodes().iter().map(|&n| mesh.nodes[n as usize]).collect();
        match f.count {
            2 => {
                let t = x[1] - x[0];
                0.5 * x[0].dot(&Vec3::new(t.y, -t.x, 0.0))
            }
            3 => x[0].dot(&(x[1] - x[0]).cross(&(x[2] - x[0]))) / 6.0,
            _ => {
                let g = 1.0 / f64::sqrt(3.0);
                let point = |xi: f64, eta: f64| {
                    let xi = Vec3::new(xi, eta, 0.0);
                    let gradients = shape_functions::gradients(CellKind::Quad4, xi);
                    let d = |i: usize| x.iter().zip(&gradients).map(|(x, g)| x * g[i]).sum::<Vec3>();
                    shape_functions::position(CellKind::Quad4, &x, xi).dot(&d(0).cross(&d(1))) / 3.0
                };
                point(-g, -g) + point(g, -g) + point(g, g) + point(-g, g)
            }
        }
    };
    surface.facets.iter().map(flux).sum()
}

fn senses(surface: &Surface) -> BTreeMap<[u32; 2], Vec<bool>> {
    let mut senses: BTreeMap<_, Vec<bool>> = BTreeMap::new();
    for f in &surface.facets {
        for (k, &a) in f.nodes().iter().enumerate() {
            let b = f.nodes()[(k + 1) % f.nodes().len()];
            senses.entry([a.min(b), a.max(b)]).or_default().push(a < b);
        }
    }
    senses
}

fn solid(cells: [u32; 3], cell: CellKind) -> Mesh {
    Box { cell, ..Box::new([1.0, 1.5, 0.75], cells) }.build().unwrap()
}

/// Two boxes side by side along x, hexes on the left and tets on the right, with shared nodes between.
fn hexes_beside_tets() -> Mesh {
    let (hexes, tets) = (solid([2, 3, 2], CellKind::Hex8), solid([2, 3, 2], CellKind::Tet4));
    let mut mesh = hexes.clone();
    let glued = |p: &Vec3| hexes.nodes.iter().position(|q| (p - q).norm() < 1e-12).map(|i| i as u32);
    let mut ids = Vec::new();
    for p in &tets.nodes {
        let p = p + Vec3::x();
        ids.push(glued(&p).unwrap_or_else(|| {
            mesh.nodes.push(p);
            mesh.nodes.len() as u32 - 1
        }));
    }
    let nodes = tets.cells[0].nodes.iter().map(|&n| ids[n as usize]).collect();
    mesh.cells.push(Cells { kind: CellKind::Tet4, nodes });
    mesh
}

/// Brute force: a side is on the boundary when no other cell holds all its nodes.
fn boundary_by_comparing_all(mesh: &Mesh) -> Vec<Side> {
    let mut sides = Vec::new();
    for_each_side(mesh, mesh.dimension(), 0..u32::MAX, |_, side| sides.push(side));
    let nodes = |s: Side| mesh.side_nodes(s).collect::<BTreeSet<_>>();
    let shared = |s: Side| sides.iter().any(|&t| t != s && nodes(t) == nodes(s));
    sides.iter().copied().filter(|&s| !shared(s)).collect()
}

#[test]
fn the_facets_are_the_sides_that_no_other_cell_shares() {
    let plane = |cell| Rectangle { cell, ..Rectangle::new([1.0, 1.0], [3, 4]) }.build().unwrap();
    for mesh in [
        Bar::new(1.0, 5).build().unwrap(),
        plane(CellKind::Quad4),
        plane(CellKind::Tri3),
        solid([2, 3, 2], CellKind::Hex8),
        solid([2, 2, 2], CellKind::Tet4),
    ] {
        let found: Vec<Side> = Surface::of(&mesh).facets.iter().map(|f| f.side).collect();
        assert_eq!(found, boundary_by_comparing_all(&mesh));
    }
}

#[test]
fn the_boundary_of_a_bar_is_its_two_ends() {
    let surface = Surface::of(&Bar::new(1.0, 7).build().unwrap());
    assert_eq!(surface.nodes, [0, 7]);
    assert_eq!(surface.facets.iter().map(|f| f.nodes()[0]).collect::<Vec<_>>(), [0, 7]);
    assert!(surface.edges.is_empty());
}

#[test]
fn the_boundary_of_a_box_has_the_topology_of_a_sphere() {
    let [nx, ny, nz] = [3, 4, 5];
    let quads = 2 * (nx * ny + ny * nz + nz * nx);
    for (cell, facets) in [(CellKind::Hex8, quads), (CellKind::Tet4, 2 * quads)] {
        let surface = Surface::of(&solid([nx, ny, nz], cell));
        let (v, e, f) = (surface.nodes.len(), surface.edges.len(), surface.facets.len());
        assert_eq!(f, facets as usize);
        assert_eq!(v, ((nx + 1) * (ny + 1) * (nz + 1) - (nx - 1) * (ny - 1) * (nz - 1)) as usize);
        assert_eq!(v + f, e + 2, "Euler: V − E + F = 2");
    }
}

#[test]
fn facets_point_outwards_and_enclose_the_volume_of_the_cells() {
    let plane = |cell| Rectangle { cell, ..Rectangle::new([1.0, 1.0], [3, 4]) }.build().unwrap();
    for mut mesh in [
        plane(CellKind::Quad4),
        plane(CellKind::Tri3),
        solid([2, 3, 4], CellKind::Hex8),
        solid([2, 3, 4], CellKind::Tet4),
    ] {
        distort(&mut mesh);
        let (inside, expected) = (enclosed(&mesh, &Surface::of(&mesh)), measure(&mesh));
        assert!((inside - expected).abs() < 1e-13 * expected, "{inside} {expected}");
    }
}

#[test]
fn every_edge_of_a_solid_is_run_through_twice_in_opposite_senses() {
    for mesh in [solid([2, 3, 4], CellKind::Hex8), solid([2, 3, 4], CellKind::Tet4), hexes_beside_tets()] {
        let surface = Surface::of(&mesh);
        let senses = senses(&surface);
        assert!(senses.values().all(|s| s.len() == 2 && s[0] != s[1]));
        assert_eq!(
            surface.edges.iter().map(|e| e.nodes).collect::<Vec<_>>(),
            Vec::from_iter(senses.into_keys())
        );
        for edge in &surface.edges {
            assert!(edge.nodes[0] < edge.nodes[1] && edge.facets[0] < edge.facets[1]);
            for f in edge.facets {
                assert!(edge.nodes.iter().all(|n| surface.facets[f as usize].nodes().contains(n)));
            }
        }
    }
}

#[test]
fn hexes_glued_to_tets_have_no_facets_between_them() {
    let mesh = hexes_beside_tets();
    let surface = Surface::of(&mesh);
    assert!((enclosed(&mesh, &surface) - 2.0 * 1.5 * 0.75).abs() < 1e-13);
    let (v, e, f) = (surface.nodes.len(), surface.edges.len(), surface.facets.len());
    assert_eq!(v + f, e + 2);
    let between = |f: &&Facet| f.nodes().iter().all(|&n| mesh.nodes[n as usize].x == 1.0);
    assert_eq!(surface.facets.iter().filter(between).count(), 0);
}

#[test]
fn an_open_surface_has_a_rim_of_edges_with_one_facet() {
    let mesh = solid([3, 4, 2], CellKind::Hex8);
    let mut top = Vec::new();
    mesh.side_sets["zmax"].iter().for_each(|&s| add_facets(&mesh, s, &mut top));
    let surface = Surface::from_facets(top);
    let rim: Vec<&Edge> = surface.edges.iter().filter(|e| e.facets[1] == NONE).collect();
    assert_eq!(rim.len(), 2 * (3 + 4));
    assert_eq!(surface.edges.len(), rim.len() + 2 * 4 + 3 * 3);
    let (v, e, f) = (surface.nodes.len(), surface.edges.len(), surface.facets.len());
    assert_eq!(v + f, e + 1, "Euler: a disc");
}

#[test]
fn two_hexes_that_touch_along_a_line_keep_their_own_edges_there() {
    // Cells (0,0) and (1,1) of a 2×2×1 box.
    let mut mesh = Box::new([2.0, 2.0, 1.0], [2, 2, 1]).build().unwrap();
    let keep = [mesh.cells[0].cell(0), mesh.cells[0].cell(3)].concat();
    mesh.cells[0].nodes = keep;
    let surface = Surface::of(&mesh);
    assert_eq!((surface.facets.len(), surface.edges.len()), (12, 24));
    for edge in &surface.edges {
        let [f, g] = edge.facets.map(|f| surface.facets[f as usize].side.cell);
        assert_eq!(f, g);
    }
}

#[test]
fn every_named_side_of_a_shape_is_a_facet_that_lies_there() {
    for cell in [CellKind::Hex8, CellKind::Tet4] {
        let mesh = solid([2, 3, 4], cell);
        let all: BTreeSet<Side> = Surface::of(&mesh).facets.iter().map(|f| f.side).collect();
        let mut named = BTreeSet::new();
        for (axis, (low, high)) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")].iter().enumerate() {
            for (name, place) in [(low, 0.0), (high, [1.0, 1.5, 0.75][axis])] {
                let here = |n: u32| mesh.nodes[n as usize][axis] == place;
                let sides = &mesh.side_sets[*name];
                assert!(sides.iter().all(|&s| all.contains(&s) && mesh.side_nodes(s).all(here)));
                named.extend(sides.iter().copied());
                let nodes: Vec<u32> = (0..mesh.nodes.len() as u32).filter(|&n| here(n)).collect();
                assert_eq!(mesh.node_sets[*name], nodes);
            }
        }
        assert_eq!(named, all);
    }
}
