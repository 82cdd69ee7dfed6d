//! Finer control meshes of the same surface, and control points for a surface through given points.

use super::{FreeEdges, Outside, Subdivision, SurfaceProblem, Term, add_term, patch};
use crate::math::Vec3;
use crate::mesh::shape::limits;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side};
use std::collections::BTreeMap;

/// Relaxation of the iteration in [`fit`]: the eigenvalues of limit masks lie between ¼ and 1 on a regular mesh.
const RELAXATION: f64 = 1.6;
/// The same beyond free edges, whose ghosts follow the curvature: a wave from node to node there counts up to 5/3.
const RELAXATION_FREE: f64 = 1.0;
const MOST_ITERATIONS: usize = 2000;

/// Splits every triangle of a mesh into four by Loop's rules. The surface stays the same; named sets come along.
pub fn refine(mesh: &Mesh, outside: &Outside) -> Result<Mesh, SurfaceProblem> {
    let triangles = triangles(mesh);
    let surface = Subdivision::new(&triangles, &mesh.nodes, outside)?;
    let mut nodes = mesh.nodes.clone();
    surface.for_each_corner(|vertex, ring| {
        let beta = patch::beta(ring.len());
        let terms = surface.combine(vertex, 1.0 - ring.len() as f64 * beta, ring, beta);
        nodes[vertex as usize] = surface.point(&terms, &mesh.nodes);
    });
    let mut middle: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    let mut cells = Vec::with_capacity(12 * triangles.len());
    for &[a, b, c] in &triangles {
        let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[i, j]| {
            *middle.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                let mut terms = Vec::new();
                let across = [surface.opposite[&(i, j)], surface.opposite[&(j, i)]];
                for (vertex, weight) in [(i, 0.375), (j, 0.375), (across[0], 0.125), (across[1], 0.125)] {
                    for t in surface.terms(vertex) {
                        add_term(&mut terms, Term { weight: weight * t.weight, ..t });
                    }
                }
                nodes.push(surface.point(&terms, &mesh.nodes));
                nodes.len() as u32 - 1
            })
        });
        cells.extend([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca]);
    }
    let mut fine =
        Mesh { nodes, cells: vec![Cells { kind: CellKind::Tri3, nodes: cells }], ..Mesh::default() };
    for (name, set) in &mesh.node_sets {
        let inside = |n: &u32| set.binary_search(n).is_ok();
        let new = middle.iter().filter(|(ends, _)| ends.iter().all(inside)).map(|(_, &m)| m);
        fine.name_nodes(name, set.iter().copied().chain(new).collect());
    }
    for (name, sides) in &mesh.side_sets {
        // side s of the parent lies in its children s and s + 1
        let halves = sides.iter().flat_map(|s| {
            [s.side, (s.side + 1) % 3].map(|k| Side { cells: 0, cell: 4 * s.cell + k as u32, side: s.side })
        });
        fine.name_sides(name, halves.collect());
    }
    for (name, cells) in &mesh.cell_sets {
        let children = cells.iter().flat_map(|&(_, c)| (0..4).map(move |k| (0, 4 * c + k)));
        fine.cell_sets.insert(name.clone(), children.collect());
    }
    Ok(fine)
}

/// The triangles of a mesh, whatever lists they stand in.
fn triangles(mesh: &Mesh) -> Vec<[u32; 3]> {
    let of = |cells: &Cells| cells.nodes.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect::<Vec<_>>();
    mesh.cells.iter().filter(|c| c.kind == CellKind::Tri3).flat_map(of).collect()
}

/// Moves the control points so that the surface goes through where they were; returns how far it still is away from there,
/// relative to the size of the mesh.
pub fn fit(surface: &Subdivision, positions: &mut [Vec3]) -> f64 {
    fit_inside(surface, positions, RELAXATION, surface.nodes(), |_| {})
}

/// The same for the first `inside` nodes; `follow` puts the others in their place.
fn fit_inside(
    surface: &Subdivision,
    positions: &mut [Vec3],
    relaxation: f64,
    inside: usize,
    follow: impl Fn(&mut [Vec3]),
) -> f64 {
    let wanted = positions[..inside].to_vec();
    let limit = surface.limit();
    let size = wanted.iter().fold(0.0_f64, |m, x| m.max((x - wanted[0]).norm())).max(f64::MIN_POSITIVE);
    let mut error = f64::INFINITY;
    for _ in 0..MOST_ITERATIONS {
        follow(positions);
        let miss: Vec<Vec3> =
            limit.iter().zip(&wanted).map(|(t, x)| x - surface.point(t, positions)).collect();
        let now = miss.iter().fold(0.0_f64, |m, d| m.max(d.norm())) / size;
        if now < 1e-15 || now.is_nan() || (now < 1e-12 && now >= error) {
            return now;
        }
        error = now;
        positions.iter_mut().zip(&miss).for_each(|(x, d)| *x += relaxation * d);
    }
    error
}

/// What stands beyond the edges of a shell.
pub enum Edges<'a> {
    /// Dependent ghosts.
    Dependent,
    /// Independent ghosts, but for edges whose nodes are held; the function says which are, of the mesh with all its sets.
    Independent { held: &'a dyn Fn(&Mesh) -> Vec<bool> },
}

/// A mesh of plane triangles (quadrilaterals are cut in two) made one of shells: refined `times`, with control points moved so that
/// the surface goes through them if it is to `fit`. Sides of plane cells are lines: their sets stay as sets of nodes, `rim` has
/// the boundary and `clamp` the row of nodes next to it as well; edges in planes of symmetry, beyond which the surface goes on, are
/// no boundary. Whatever is named `surface` are the triangles themselves. Independent ghosts are nodes after all others, named `ghosts`.
pub fn shell(
    mesh: &Mesh,
    times: u32,
    fitted: bool,
    outside: &Outside,
    edges: Edges,
) -> Result<(Mesh, Subdivision), MeshError> {
    let mut mesh = mesh.clone();
    for cells in &mut mesh.cells {
        match cells.kind {
            CellKind::Tri3 => {}
            CellKind::Quad4 => {
                let halves = cells.nodes.chunks_exact(4).flat_map(|q| [q[0], q[1], q[2], q[0], q[2], q[3]]);
                *cells = Cells { kind: CellKind::Tri3, nodes: halves.collect() };
            }
            kind => return Err(MeshError::NoSheet { kind: kind.name() }),
        }
    }
    mesh.side_sets.clear();
    mesh.cell_sets.clear();
    let nodes = triangles(&mesh).into_iter().flatten().collect();
    mesh.cells = vec![Cells { kind: CellKind::Tri3, nodes }];
    for _ in 0..times {
        limits::ids("refine", 2.0 * mesh.nodes.len() as f64, 4.0 * mesh.cells[0].len() as f64)?;
        mesh = refine(&mesh, outside).map_err(MeshError::Surface)?;
    }
    let surface = Subdivision::new(&triangles(&mesh), &mesh.nodes, outside).map_err(MeshError::Surface)?;
    name_edges(&mut mesh, &surface);
    let free = match edges {
        Edges::Dependent => None,
        Edges::Independent { held } => Some(FreeEdges::new(&surface, &held(&mesh))).filter(|f| !f.is_empty()),
    };
    let (surface, error) = match (free, fitted) {
        (None, false) => (surface, 0.0),
        (None, true) => {
            let error = fit(&surface, &mut mesh.nodes);
            (surface, error)
        }
        (Some(free), _) => free_surface(&mut mesh, &free, fitted, outside)?,
    };
    if error.is_nan() || error >= 1e-9 {
        return Err(MeshError::NoFit { error });
    }
    mesh.cells[0].kind = CellKind::Shell3;
    let all = (0..mesh.cells[0].len() as u32).map(|cell| Side { cells: 0, cell, side: 0 });
    mesh.name_sides("surface", all.collect());
    Ok((mesh, surface))
}

/// The surface with ghosts that are nodes, which are added to the mesh; and how far it is from where nodes were, if it is to fit.
fn free_surface(
    mesh: &mut Mesh,
    free: &FreeEdges,
    fitted: bool,
    outside: &Outside,
) -> Result<(Subdivision, f64), MeshError> {
    let inside = mesh.nodes.len();
    mesh.nodes.resize(inside + free.len(), Vec3::zeros());
    free.place(&mut mesh.nodes);
    mesh.name_nodes("ghosts", (inside as u32..mesh.nodes.len() as u32).collect());
    let outside = Outside { ghosts: free.triangles().to_vec(), mirrors: outside.mirrors.clone() };
    let surface = Subdivision::new(&triangles(mesh), &mesh.nodes, &outside).map_err(MeshError::Surface)?;
    let error = match fitted {
        true => fit_inside(&surface, &mut mesh.nodes, RELAXATION_FREE, inside, |x| free.place(x)),
        false => 0.0,
    };
    Ok((surface, error))
}

/// The sets `rim` and `clamp` of a surface with free edges.
fn name_edges(mesh: &mut Mesh, surface: &Subdivision) {
    let mut rim: Vec<u32> = surface.free_rim().into_iter().flatten().collect();
    rim.sort_unstable();
    rim.dedup();
    if !rim.is_empty() {
        let near = |t: &&[u32; 3]| t.iter().any(|n| rim.binary_search(n).is_ok());
        let clamp = surface.elements().iter().filter(near).flatten().copied().collect();
        mesh.name_nodes("clamp", clamp);
        mesh.name_nodes("rim", rim);
    }
}
