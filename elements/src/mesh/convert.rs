//! Meshes from meshes: quads to triangles, hexes to tets, linear to quadratic, plane to solid. Named sides come along.

use super::{CellKind, Cells, Mesh, MeshError, Side, shape::limits, shape_functions};
use std::collections::BTreeMap;

/// Cuts every quad of a pure quad4 mesh along its diagonal 0–2.
pub(crate) fn quads_to_triangles(shape: &'static str, mesh: &Mesh) -> Result<Mesh, MeshError> {
    let quads = &mesh.cells[0];
    debug_assert!(mesh.cells.len() == 1 && quads.kind == CellKind::Quad4);
    let mut nodes = limits::room(shape, "cells", 6 * quads.len())?;
    for q in quads.nodes.chunks_exact(4) {
        nodes.extend([q[0], q[1], q[2], q[0], q[2], q[3]]);
    }
    // Side s of the quad is side SIDE[s] of its triangle HALF[s].
    const HALF: [u32; 4] = [0, 0, 1, 1];
    const SIDE: [u8; 4] = [0, 1, 1, 2];
    let cut =
        |s: &Side| Side { cells: 0, cell: 2 * s.cell + HALF[s.side as usize], side: SIDE[s.side as usize] };
    let side_sets = (mesh.side_sets.iter())
        .map(|(name, sides)| (name.clone(), sides.iter().map(cut).collect::<Vec<_>>()))
        .collect();
    Ok(with_sides(mesh, Cells { kind: CellKind::Tri3, nodes }, side_sets))
}

/// The cells that a solid shape was asked for, from its hexes.
pub(crate) fn hexes_to(shape: &'static str, mesh: Mesh, cell: CellKind) -> Result<Mesh, MeshError> {
    match cell {
        CellKind::Tet4 => hexes_to_tets(shape, &mesh),
        CellKind::Tet10 => quadratic_tets(shape, &hexes_to_tets(shape, &mesh)?),
        _ => Ok(mesh),
    }
}

/// Puts a node into the middle of every edge of a pure tet4 mesh; edges stay straight. Middles come after the corners, in the order
/// of the corners of their edges. A set of nodes gets the middles of edges that have both ends in it.
pub(crate) fn quadratic_tets(shape: &'static str, mesh: &Mesh) -> Result<Mesh, MeshError> {
    let tets = &mesh.cells[0];
    debug_assert!(mesh.cells.len() == 1 && tets.kind == CellKind::Tet4);
    let ends = |tet: &[u32], [b, c]: [usize; 2]| [tet[b].min(tet[c]), tet[b].max(tet[c])];
    let mut edges = limits::room(shape, "edges", 6 * tets.len())?;
    for tet in tets.nodes.chunks_exact(4) {
        edges.extend(shape_functions::EDGES.map(|edge| ends(tet, edge)));
    }
    edges.sort_unstable();
    edges.dedup();
    limits::ids(shape, (mesh.nodes.len() + edges.len()) as f64, tets.len() as f64)?;
    let middle = |edge: &[u32; 2]| (mesh.nodes.len() + edges.partition_point(|e| e < edge)) as u32;
    let mut nodes = limits::room(shape, "cells", 10 * tets.len())?;
    for tet in tets.nodes.chunks_exact(4) {
        nodes.extend(tet);
        nodes.extend(shape_functions::EDGES.map(|edge| middle(&ends(tet, edge))));
    }
    let mut out = with_sides(mesh, Cells { kind: CellKind::Tet10, nodes }, BTreeMap::new());
    out.nodes.extend(edges.iter().map(|e| 0.5 * (mesh.nodes[e[0] as usize] + mesh.nodes[e[1] as usize])));
    for (name, set) in &mesh.node_sets {
        let has = |n: &u32| set.binary_search(n).is_ok();
        let middles = edges.iter().filter(|e| e.iter().all(has)).map(middle);
        out.name_nodes(name, set.iter().copied().chain(middles).collect());
    }
    for (name, sides) in &mesh.side_sets {
        out.name_sides(name, sides.clone());
    }
    out.cell_sets = mesh.cell_sets.clone();
    Ok(out)
}

/// Cuts every hex of a pure hex8 mesh into six tets, conforming whatever the order of the hexes.
///
/// Every face is split by the diagonal through its smallest node id, so neighbours agree. The tets are cones
/// from the smallest node of the hex over the triangles of the three faces that do not contain it.
pub(crate) fn hexes_to_tets(shape: &'static str, mesh: &Mesh) -> Result<Mesh, MeshError> {
    let hexes = &mesh.cells[0];
    debug_assert!(mesh.cells.len() == 1 && hexes.kind == CellKind::Hex8);
    let mut nodes = limits::room(shape, "cells", 24 * hexes.len())?;
    for hex in hexes.nodes.chunks_exact(8) {
        let apex = hex.iter().copied().min().unwrap_or(0);
        for side in CellKind::Hex8.sides() {
            let quad = [0, 1, 2, 3].map(|k| hex[side[k] as usize]);
            if !quad.contains(&apex) {
                for [a, b, c] in halves(quad) {
                    nodes.extend([apex, a, b, c]);
                }
            }
        }
    }
    let tets = Cells { kind: CellKind::Tet4, nodes };
    let cut = |s: &Side| {
        let quad: Vec<u32> = mesh.side_nodes(*s).collect();
        let on_quad = |&(cell, side): &(u32, usize)| {
            let tet = tets.cell(cell as usize);
            CellKind::Tet4.sides()[side].iter().all(|&k| quad.contains(&tet[k as usize]))
        };
        (6 * s.cell..6 * s.cell + 6)
            .flat_map(|cell| (0..4).map(move |side| (cell, side)))
            .filter(on_quad)
            .map(|(cell, side)| Side { cells: 0, cell, side: side as u8 })
            .collect::<Vec<_>>()
    };
    let side_sets = (mesh.side_sets.iter())
        .map(|(name, sides)| (name.clone(), sides.iter().flat_map(cut).collect::<Vec<_>>()))
        .collect();
    Ok(with_sides(mesh, tets, side_sets))
}

/// The two triangles of a quad, split by the diagonal through its smallest node id, orientation kept.
pub(crate) fn halves(quad: [u32; 4]) -> [[u32; 3]; 2] {
    let first = (0..4).min_by_key(|&k| quad[k]).unwrap_or(0);
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| quad[(first + k) % 4]);
    [[a, b, c], [a, c, d]]
}

/// A hex8 mesh from a quad4 mesh in the x–y plane, repeated at every height of `z` (ascending). Side sets
/// sweep along; the ends become `zmin` and `zmax`. Counts fit `u32`.
pub(crate) fn extrude(shape: &'static str, plane: &Mesh, z: &[f64]) -> Result<Mesh, MeshError> {
    let quads = &plane.cells[0];
    debug_assert!(plane.cells.len() == 1 && quads.kind == CellKind::Quad4);
    let (per_layer, layers) = (plane.nodes.len() as u32, z.len() as u32 - 1);
    let quads_per_layer = quads.len() as u32;

    let mut nodes = limits::room(shape, "nodes", plane.nodes.len() * z.len())?;
    for &z in z {
        nodes.extend(plane.nodes.iter().map(|p| crate::math::Vec3::new(p.x, p.y, z)));
    }
    let mut hexes = limits::room(shape, "cells", 8 * quads.len() * layers as usize)?;
    for k in 0..layers {
        for quad in quads.nodes.chunks_exact(4) {
            hexes.extend(quad.iter().map(|n| n + k * per_layer));
            hexes.extend(quad.iter().map(|n| n + (k + 1) * per_layer));
        }
    }
    let mut mesh =
        Mesh { nodes, cells: vec![Cells { kind: CellKind::Hex8, nodes: hexes }], ..Mesh::default() };
    let at = |k: u32, quad: u32, side| Side { cells: 0, cell: k * quads_per_layer + quad, side };
    for (name, sides) in &plane.side_sets {
        // Side s of the quad sweeps side 2 + s of the hex.
        let swept = (0..layers).flat_map(|k| sides.iter().map(move |s| at(k, s.cell, 2 + s.side)));
        mesh.name_sides(name, swept.collect());
    }
    mesh.name_sides("zmin", (0..quads_per_layer).map(|q| at(0, q, 0)).collect());
    mesh.name_sides("zmax", (0..quads_per_layer).map(|q| at(layers - 1, q, 1)).collect());
    Ok(mesh)
}

fn with_sides(mesh: &Mesh, cells: Cells, side_sets: BTreeMap<String, Vec<Side>>) -> Mesh {
    let mut cut = Mesh {
        nodes: mesh.nodes.clone(),
        cells: vec![cells],
        node_sets: mesh.node_sets.clone(),
        ..Mesh::default()
    };
    for (name, sides) in side_sets {
        cut.name_sides(&name, sides);
    }
    cut
}
