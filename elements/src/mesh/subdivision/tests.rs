use super::*;
use crate::mesh::{CellKind, Cells, Mesh};

/// A lattice of `n` by `m` squares, each cut along one diagonal; `lift` says where points are.
fn lattice(n: u32, m: u32, lift: impl Fn(f64, f64) -> Vec3) -> Mesh {
    let nodes =
        (0..=m).flat_map(|j| (0..=n).map(move |i| (i as f64, j as f64))).map(|(x, y)| lift(x, y)).collect();
    let at = |i: u32, j: u32| j * (n + 1) + i;
    let mut cells = Vec::new();
    for j in 0..m {
        for i in 0..n {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            cells.extend([a, b, d, b, c, d]);
        }
    }
    Mesh { nodes, cells: vec![Cells { kind: CellKind::Tri3, nodes: cells }], ..Mesh::default() }
}

fn octahedron() -> Mesh {
    let nodes = [Vec3::x(), Vec3::y(), Vec3::z()].into_iter().flat_map(|e| [e, -e]).collect();
    let cells = vec![0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
    Mesh { nodes, cells: vec![Cells { kind: CellKind::Tri3, nodes: cells }], ..Mesh::default() }
}

fn triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    mesh.cells[0].nodes.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect()
}

fn surface(mesh: &Mesh) -> Subdivision {
    Subdivision::new(&triangles(mesh), &mesh.nodes, &Outside::default()).unwrap()
}

/// Value and derivatives of the surface of a mesh at a point of an element.
fn at(s: &Subdivision, mesh: &Mesh, element: usize, v: f64, w: f64) -> [Vec3; 6] {
    let patch = s.rows(element, &[[v, w]], &mut Known::new());
    std::array::from_fn(|d| {
        let place = |(t, n): (&Term, &f64)| {
            let x = &mesh.nodes[t.node as usize];
            // a derivative has no place, so it turns only
            *n * s.reflect(x, t.image)
        };
        patch.stencil.iter().zip(&patch.rows[0][d]).map(place).sum()
    })
}

fn bumpy(x: f64, y: f64) -> Vec3 {
    Vec3::new(x + 0.1 * (1.3 * y).sin(), y - 0.07 * (2.1 * x).cos(), 0.3 * (0.9 * x + 0.4 * y).sin())
}

/// Child of an element and the coordinates there of a point of the parent.
fn child(v: f64, w: f64) -> (usize, f64, f64) {
    match () {
        _ if v + w < 0.5 => (0, 2.0 * v, 2.0 * w),
        _ if v > 0.5 => (1, 2.0 * v - 1.0, 2.0 * w),
        _ if w > 0.5 => (2, 2.0 * v, 2.0 * w - 1.0),
        // corners ab, bc, ca of the fourth
        _ => (3, 2.0 * (v + w) - 1.0, 1.0 - 2.0 * v),
    }
}

/// The refined mesh has the same surface, at irregular vertices and at boundaries and their corners.
#[test]
fn refinement_keeps_the_surface() {
    for mesh in [octahedron(), lattice(4, 3, bumpy)] {
        let fine = refine(&mesh, &Outside::default()).unwrap();
        let (coarse_surface, fine_surface) = (surface(&mesh), surface(&fine));
        for element in 0..mesh.cells[0].len() {
            for [v, w] in [[0.2, 0.1], [0.61, 0.13], [0.07, 0.8], [0.3, 0.36]] {
                let (k, cv, cw) = child(v, w);
                let a = at(&coarse_surface, &mesh, element, v, w)[0];
                let b = at(&fine_surface, &fine, 4 * element + k, cv, cw)[0];
                assert!((a - b).norm() < 1e-13, "element {element} at {v} {w}: {a} {b}");
            }
        }
    }
}

/// Limit points lie where the surface ends at their vertex.
#[test]
fn limit_points_lie_on_the_surface() {
    for mesh in [octahedron(), lattice(3, 4, bumpy)] {
        let s = surface(&mesh);
        let limit = s.limit();
        for (e, t) in triangles(&mesh).iter().enumerate() {
            let near = at(&s, &mesh, e, 1e-7, 1e-7)[0];
            let exact = s.point(&limit[t[0] as usize], &mesh.nodes);
            assert!((near - exact).norm() < 1e-6, "element {e}: {near} {exact}");
            assert!((limit[t[0] as usize].iter().map(|t| t.weight).sum::<f64>() - 1.0).abs() < 1e-15);
        }
    }
}

/// The boundary curve is the cubic B-spline of boundary vertices: 1/6, 4/6, 1/6.
#[test]
fn boundary_curves_depend_on_boundary_vertices_alone() {
    let mesh = lattice(4, 4, bumpy);
    let limit = surface(&mesh).limit();
    for node in [1, 2, 3] {
        let mut terms = limit[node].clone();
        terms.retain(|t| t.weight.abs() > 1e-15);
        terms.sort_by_key(|t| t.node);
        assert_eq!(terms.iter().map(|t| t.node as usize).collect::<Vec<_>>(), [node - 1, node, node + 1]);
        for (t, w) in terms.iter().zip([1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0]) {
            assert!((t.weight - w).abs() < 1e-15);
        }
    }
}

/// Control points are found whose surface goes through the points of a sphere.
#[test]
fn a_fitted_surface_goes_through_its_points() {
    let mut mesh = octahedron();
    for _ in 0..3 {
        mesh = refine(&mesh, &Outside::default()).unwrap();
        mesh.nodes.iter_mut().for_each(|x| *x = x.normalize());
    }
    let s = surface(&mesh);
    let error = fit(&s, &mut mesh.nodes);
    assert!(error < 1e-14, "{error}");
    for terms in s.limit() {
        assert!((s.point(&terms, &mesh.nodes).norm() - 1.0).abs() < 1e-13);
    }
    // between them it stays close: the error falls with the fourth power of the size at best, 1.3 % of curvature here
    for e in 0..mesh.cells[0].len() {
        let x = at(&s, &mesh, e, 1.0 / 3.0, 1.0 / 3.0)[0];
        assert!((x.norm() - 1.0).abs() < 2e-3, "{}", x.norm());
    }
}

/// Half of a surface with its mirror is the whole.
#[test]
fn a_mirrored_half_is_the_whole() {
    let bump = |x: f64, y: f64| Vec3::new(x - 4.0, y, 0.2 * (x - 4.0).powi(2) + 0.1 * y * y);
    // symmetric about x = 0, with diagonals that are
    let mut whole = lattice(8, 3, bump);
    let mut half = lattice(4, 3, bump);
    let mirrored: Vec<[u32; 3]> = triangles(&half);
    let across = |n: u32| n / 5 * 9 + (8 - n % 5);
    let own = |n: u32| n / 5 * 9 + n % 5;
    let cells = mirrored
        .iter()
        .flat_map(|&[a, b, c]| [own(a), own(b), own(c), across(a), across(c), across(b)])
        .collect();
    whole.cells[0].nodes = cells;
    let outside =
        Outside { mirrors: vec![Mirror { point: Vec3::zeros(), normal: Vec3::x() }], ..Outside::default() };
    half.nodes.iter_mut().for_each(|x| x.z += 0.01 * x.y);
    whole.nodes.iter_mut().for_each(|x| x.z += 0.01 * x.y);
    let (a, b) = (surface(&whole), Subdivision::new(&mirrored, &half.nodes, &outside).unwrap());
    for e in 0..mirrored.len() {
        for [v, w] in [[0.2, 0.1], [0.61, 0.13], [0.07, 0.8], [0.3, 0.36]] {
            let (x, y) = (at(&a, &whole, 2 * e, v, w), at(&b, &half, e, v, w));
            for d in 0..6 {
                assert!((x[d] - y[d]).norm() < 1e-12, "element {e} row {d}: {} {}", x[d], y[d]);
            }
        }
    }
}

#[test]
fn surfaces_that_are_none_are_told_why() {
    let square = lattice(1, 1, |x, y| Vec3::new(x, y, 0.0));
    let build = |list: &[[u32; 3]], nodes: &[Vec3]| {
        Subdivision::new(list, nodes, &Outside::default()).map(|_| ()).unwrap_err().to_string()
    };
    let good = triangles(&square);
    let flipped = [good[0], [good[1][1], good[1][0], good[1][2]]];
    assert!(build(&flipped, &square.nodes).contains("different sides"));
    assert!(build(&[good[0], good[0]], &square.nodes).contains("twice"));
    let mut nodes = square.nodes.clone();
    nodes.extend([Vec3::new(0.5, 0.5, 1.0), Vec3::new(5.0, 0.0, 0.0), Vec3::new(5.0, 1.0, 0.0)]);
    assert!(build(&[good[0], good[1], [1, 2, 4]], &nodes).contains("more than two"));
    assert!(build(&[good[0], [0, 5, 6]], &nodes).contains("without a common edge"));
    nodes[2] = nodes[1];
    assert!(build(&[good[0]], &nodes).contains("no area"));
}

/// Curvatures of the surface at a point of an element, the larger first, by size.
fn curvatures(s: &Subdivision, mesh: &Mesh, element: usize, v: f64, w: f64) -> [f64; 2] {
    let [_, a, b, aa, bb, ab] = at(s, mesh, element, v, w);
    let n = a.cross(&b).normalize();
    let (e, f, g) = (a.dot(&a), a.dot(&b), b.dot(&b));
    let (l, m, k) = (aa.dot(&n), ab.dot(&n), bb.dot(&n));
    let area = e * g - f * f;
    let (mean, gauss) = (0.5 * (e * k - 2.0 * f * m + g * l) / area, (l * k - m * m) / area);
    let root = (mean * mean - gauss).max(0.0).sqrt();
    [mean.abs() + root, mean.abs() - root]
}

/// A sphere between two latitudes. With ghosts that hang on the nodes inside, a layer at the edges is straight across them; independent
/// ones go on with the curvature.
#[test]
fn beyond_free_edges_independent_ghosts_go_on_with_the_curvature() {
    let zone = |n: u32| {
        let mut mesh = lattice(4 * n, n, |x, y| {
            let (around, up) =
                ((90.0 * x / f64::from(n)).to_radians(), (40.0 * y / f64::from(n) + 10.0).to_radians());
            Vec3::new(around.cos() * up.cos(), around.sin() * up.cos(), up.sin())
        });
        // the last node of a row is the first
        let row = 4 * n + 1;
        mesh.cells[0].nodes.iter_mut().for_each(|k| *k = *k / row * (row - 1) + *k % row % (row - 1));
        let mut k = 0;
        mesh.nodes.retain(|_| {
            k += 1;
            k % row != 0
        });
        mesh
    };
    let nobody = |mesh: &Mesh| vec![false; mesh.nodes.len()];
    let off = |n: u32, edges: Edges| {
        let (mesh, s) = shell(&zone(n), 0, true, &Outside::default(), edges).unwrap();
        let all = (0..s.elements().len()).flat_map(|e| curvatures(&s, &mesh, e, 0.3, 0.3));
        all.fold(0.0_f64, |m, c| m.max((c - 1.0).abs()))
    };
    let free = [8, 16, 32].map(|n| off(n, Edges::Independent { held: &nobody }));
    let hanging = off(32, Edges::Dependent);
    assert!(free[2] < 0.02 && free[2] < 0.6 * free[1] && free[1] < 0.6 * free[0], "{free:?}");
    assert!(hanging > 0.3, "{hanging:?}");
}

/// Held edges keep dependent ghosts, and every ring is closed with one edge held, one in a plane, others free.
#[test]
fn edges_that_are_held_keep_their_ghosts() {
    let mesh = lattice(5, 4, |x, y| Vec3::new(x, y, 0.02 * x * x));
    let plane = Mirror { point: Vec3::zeros(), normal: Vec3::x() };
    let outside = Outside { ghosts: vec![], mirrors: vec![plane] };
    let held = |mesh: &Mesh| mesh.nodes.iter().map(|x| x.y == 0.0).collect();
    let (mesh, s) = shell(&mesh, 0, false, &outside, Edges::Independent { held: &held }).unwrap();
    let ghosts = &mesh.node_sets["ghosts"];
    assert!(ghosts.iter().all(|&g| mesh.nodes[g as usize].y > -1e-12), "none beyond the held edge");
    assert_eq!(s.nodes(), mesh.nodes.len());
    let mut known = Known::new();
    for e in 0..s.elements().len() {
        let patch = s.rows(e, &[[1.0 / 3.0; 2]], &mut known);
        assert!((patch.rows[0][0].iter().sum::<f64>() - 1.0).abs() < 1e-13);
    }
    // a surface of second degree goes on as it is
    for &g in ghosts {
        let x = mesh.nodes[g as usize];
        let far = x.z - 0.02 * x.x * x.x;
        assert!(far.abs() < 1e-3, "{x} {far}");
    }
}
