//! Where a body can touch: facets, edges and nodes of its boundary, oriented outwards.
//!
//! A side of a cell that no other cell shares is a facet. Its nodes run as in [`CellKind::sides`], so the
//! normal of a mesh with positive cells points out of the body: right-hand rule in 3D, tangent turned by −90°
//! in 2D (plane cells are solids here, with segments as boundary). A quadratic side is four triangles through its corners and the
//! middles of its edges. Facets stand in the order of their sides
//! and edges in the order of their nodes, whatever the way they were found.
//!
//! Sides are matched by sorting into buckets of their smallest node: linear in the number of cells.
//!
//! Read by `contact`; `mesh::shape` uses it to wrap layers around a core.

use super::{CellKind, Mesh, Side};
use std::ops::Range;

/// Stands for "no facet" in [`Edge::facets`] (the rim of an open surface).
pub const NONE: u32 = u32::MAX;

/// One facet: a point (1D), a segment (2D), a triangle or a quadrilateral (3D).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Node ids in outward orientation; the first `count` are in use.
    pub nodes: [u32; 4],
    pub count: u8,
    /// The cell side it came from.
    pub side: Side,
}

impl Facet {
    pub fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }
}

/// One unique edge of the boundary (3D only), nodes in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub nodes: [u32; 2],
    /// The facets that share it, ascending; the second is [`NONE`] on a rim.
    pub facets: [u32; 2],
}

/// The boundary of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    pub facets: Vec<Facet>,
    pub edges: Vec<Edge>,
    /// Ids of the nodes on the boundary, ascending.
    pub nodes: Vec<u32>,
}

impl Surface {
    /// The boundary of `mesh`. Only cells of the highest dimension count; node ids must be in range.
    ///
    /// Where hexes meet tets without pyramids between, a quadrilateral covered by two triangles over the
    /// same nodes is inside the body and no facet.
    pub fn of(mesh: &Mesh) -> Surface {
        let mut sides = single_sides(mesh);
        sides.sort_unstable();
        let most = if mesh.cells.iter().any(|c| c.kind == CellKind::Tet10) { 4 } else { 1 };
        let mut facets = Vec::with_capacity(most * sides.len());
        sides.into_iter().for_each(|side| add_facets(mesh, side, &mut facets));
        drop_covered_quads(&mut facets);
        Surface::from_facets(facets)
    }

    /// The surface made of given facets, closed or open. Points and segments have no edges.
    pub fn from_facets(facets: Vec<Facet>) -> Surface {
        let mut nodes: Vec<u32> = facets.iter().flat_map(|f| f.nodes().iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Surface { edges: edges(&facets), facets, nodes }
    }
}

/// The facets of a side: itself, or four triangles through the corners and middles of a quadratic one.
fn add_facets(mesh: &Mesh, side: Side, facets: &mut Vec<Facet>) {
    let mut nodes = [NONE; 6];
    let mut count = 0;
    for (to, node) in nodes.iter_mut().zip(mesh.side_nodes(side)) {
        *to = node;
        count += 1;
    }
    let [a, ab, b, bc, c, ca] = nodes;
    if count == 6 {
        for [p, q, r] in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
            facets.push(Facet { nodes: [p, q, r, NONE], count: 3, side });
        }
    } else {
        facets.push(Facet { nodes: [a, ab, b, bc], count, side });
    }
}

/// A side filed under its smallest node: the other nodes ascending, padded with [`NONE`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    others: [u32; 3],
    side: Side,
}

/// Sides that belong to one cell only, in no particular order.
fn single_sides(mesh: &Mesh) -> Vec<Side> {
    let mut single = Vec::new();
    for_each_place(mesh, |sides| {
        if let [only] = sides {
            single.push(only.side);
        }
    });
    single
}

/// Calls `visit` with pairs of cells that lie on the same side of a common side: neighbours run through it in
/// opposite senses, so one of the two is double or overlaps. Node ids must be in range.
pub(super) fn for_each_overlap(mesh: &Mesh, mut visit: impl FnMut(Side, Side)) {
    let sense = |side: Side| match mesh.cells[side.cells as usize].kind {
        CellKind::Bar2 => side.side == 0,
        _ => sense(mesh.side_corners(side)),
    };
    for_each_place(mesh, |sides| {
        for (i, a) in sides.iter().enumerate().skip(1) {
            if let Some(b) = sides[..i].iter().find(|b| sense(b.side) == sense(a.side)) {
                visit(b.side, a.side);
            }
        }
    });
}

/// Orientation of a side, the same from whichever node it is read: opposite for the two cells that share it.
/// From its smallest node, does a side run to the smaller neighbour first; does a segment run upwards?
pub(super) fn sense(nodes: impl Iterator<Item = u32>) -> bool {
    let mut list = [NONE; 4];
    let mut count = 0;
    for (slot, node) in list.iter_mut().zip(nodes) {
        *slot = node;
        count += 1;
    }
    let first = (0..count).min_by_key(|&k| list[k]).unwrap_or(0);
    match count {
        0..=2 => first == 0,
        _ => list[(first + 1) % count] < list[(first + count - 1) % count],
    }
}

/// Nodes of a side in ascending order, padded with [`NONE`]: the same for all who share it.
pub(super) fn key(nodes: impl Iterator<Item = u32>) -> [u32; 4] {
    let mut key = [NONE; 4];
    for (slot, node) in key.iter_mut().zip(nodes) {
        *slot = node;
    }
    ascending(key)
}

/// Sides that are matched at a time: a sixteenth of them, or this many. Matching all at once would take more memory than a large mesh itself.
const MATCHED_AT_ONCE: usize = 1 << 18;

/// Calls `visit` with the sides on each set of nodes: one on the boundary, two between cells.
fn for_each_place(mesh: &Mesh, mut visit: impl FnMut(&[Entry])) {
    let dimension = mesh.dimension();

    // Counting sort by smallest node: how many per node, where each bucket starts, then fill; one range of smallest nodes after the other.
    let mut sides_of = vec![0_u32; mesh.nodes.len()];
    for_each_side(mesh, dimension, 0..u32::MAX, |nodes, _| sides_of[nodes[0] as usize] += 1);
    let all: usize = sides_of.iter().map(|&n| n as usize).sum();
    let most = (all / 16).max(MATCHED_AT_ONCE);
    let empty = Entry { others: [NONE; 3], side: Side { cells: 0, cell: 0, side: 0 } };
    let mut entries = Vec::new();
    let mut first = 0;
    while first < sides_of.len() {
        // each start of a bucket, and the sum of all of them
        let (mut last, mut held) = (first, 0);
        while let Some(count) = sides_of.get_mut(last) {
            let next = held + *count as usize;
            if held > 0 && next > most {
                break;
            }
            *count = held as u32;
            (held, last) = (next, last + 1);
        }
        entries.clear();
        entries.resize(held, empty);
        for_each_side(mesh, dimension, first as u32..last as u32, |nodes, side| {
            let next = &mut sides_of[nodes[0] as usize];
            entries[*next as usize] = Entry { others: [nodes[1], nodes[2], nodes[3]], side };
            *next += 1;
        });
        // Filling moved every start to its bucket's end.
        let mut start = 0;
        for &end in &sides_of[first..last] {
            let bucket = &mut entries[start..end as usize];
            bucket.sort_unstable();
            bucket.chunk_by(|a, b| a.others == b.others).for_each(&mut visit);
            start = end as usize;
        }
        first = last;
    }
}

/// Calls `visit` with the ascending nodes (padded with [`NONE`]) of every side of every cell of `dimension` whose smallest node is `within`.
pub(super) fn for_each_side(
    mesh: &Mesh,
    dimension: usize,
    within: Range<u32>,
    mut visit: impl FnMut([u32; 4], Side),
) {
    for (c, cells) in mesh.cells.iter().enumerate() {
        if cells.kind.dimension() != dimension {
            continue;
        }
        let sides = cells.kind.side_corners();
        for (i, cell) in cells.nodes.chunks_exact(cells.kind.nodes()).enumerate() {
            for (s, local) in sides.iter().enumerate() {
                let smallest = local.iter().map(|&k| cell[k as usize]).min();
                if smallest.is_none_or(|node| !within.contains(&node)) {
                    continue;
                }
                let nodes = key(local.iter().map(|&k| cell[k as usize]));
                visit(nodes, Side { cells: c as u32, cell: i as u32, side: s as u8 });
            }
        }
    }
}

/// The side of a cell that each of `count` faces is, given its corners: between two cells the one whose outward normal agrees with the face.
pub(super) fn find_sides<'a>(
    mesh: &Mesh,
    count: usize,
    corners: impl Fn(usize) -> &'a [u32],
) -> Vec<Option<Side>> {
    let mut faces: Vec<([u32; 4], u32)> =
        (0..count).map(|i| (key(corners(i).iter().copied()), i as u32)).collect();
    faces.sort_unstable();
    let mut on_face = vec![false; mesh.nodes.len()];
    for &node in (0..count).flat_map(&corners) {
        on_face[node as usize] = true;
    }
    // The side found so far, and whether it agrees with the orientation of the face.
    let mut found: Vec<Option<(Side, bool)>> = vec![None; count];
    for_each_side(mesh, mesh.dimension(), 0..u32::MAX, |key, side| {
        if !on_face[key[0] as usize] || (key[1] != NONE && !on_face[key[1] as usize]) {
            return;
        }
        let first = faces.partition_point(|(k, _)| *k < key);
        for &(_, i) in faces[first..].iter().take_while(|(k, _)| *k == key) {
            let agrees = sense(mesh.side_corners(side)) == sense(corners(i as usize).iter().copied());
            let slot = &mut found[i as usize];
            if slot.is_none_or(|(_, before)| agrees && !before) {
                *slot = Some((side, agrees));
            }
        }
    });
    found.into_iter().map(|f| f.map(|f| f.0)).collect()
}

/// Five compare-exchanges sort four numbers.
fn ascending(mut n: [u32; 4]) -> [u32; 4] {
    for (i, j) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        (n[i], n[j]) = (n[i].min(n[j]), n[i].max(n[j]));
    }
    n
}

/// Removes quads that two triangles on the same four nodes cover, with these triangles.
fn drop_covered_quads(facets: &mut Vec<Facet>) {
    let mut triangles: Vec<([u32; 4], usize)> = (facets.iter().enumerate())
        .filter(|(_, f)| f.count == 3)
        .map(|(i, f)| (ascending(f.nodes), i))
        .collect();
    if triangles.is_empty() || facets.iter().all(|f| f.count != 4) {
        return;
    }
    triangles.sort_unstable();
    let find = |[a, b, c]: [u32; 3]| {
        let key = ascending([a, b, c, NONE]);
        triangles.binary_search_by_key(&key, |t| t.0).ok().map(|k| triangles[k].1)
    };
    let mut covered = vec![false; facets.len()];
    for (i, f) in facets.iter().enumerate().filter(|(_, f)| f.count == 4) {
        let [a, b, c, d] = f.nodes;
        for halves in [[[a, b, c], [a, c, d]], [[a, b, d], [b, c, d]]] {
            if let [Some(first), Some(second)] = halves.map(find) {
                for k in [i, first, second] {
                    covered[k] = true;
                }
            }
        }
    }
    let mut k = 0;
    facets.retain(|_| {
        k += 1;
        !covered[k - 1]
    });
}

/// Unique edges of triangles and quads with the facets on either side.
///
/// Where bodies touch along a line, more than two facets share an edge: it then appears once per pair of
/// facets that run along it in opposite senses, those of one cell first.
fn edges(facets: &[Facet]) -> Vec<Edge> {
    // (nodes ascending, runs downwards, facet)
    let all = facets.iter().filter(|f| f.count > 2).map(|f| f.count as usize).sum();
    let mut uses: Vec<([u32; 2], bool, u32)> = Vec::with_capacity(all);
    for (i, f) in facets.iter().enumerate().filter(|(_, f)| f.count > 2) {
        let nodes = f.nodes();
        for (k, &a) in nodes.iter().enumerate() {
            let b = nodes[(k + 1) % nodes.len()];
            uses.push(([a.min(b), a.max(b)], a > b, i as u32));
        }
    }
    uses.sort_unstable();

    let mut edges = Vec::with_capacity(uses.len() / 2);
    for same in uses.chunk_by(|a, b| a.0 == b.0) {
        let nodes = same[0].0;
        if let &[(_, _, f), (_, _, g)] = same {
            edges.push(Edge { nodes, facets: [f.min(g), f.max(g)] });
            continue;
        }
        let up: Vec<u32> = same.iter().filter(|u| !u.1).map(|u| u.2).collect();
        let mut down: Vec<u32> = same.iter().filter(|u| u.1).map(|u| u.2).collect();
        let cell = |f: u32| (facets[f as usize].side.cells, facets[f as usize].side.cell);
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        let mut alone = Vec::new();
        for f in up {
            match down.iter().position(|&g| cell(g) == cell(f)) {
                Some(k) => pairs.push([f, down.remove(k)]),
                None => alone.push(f),
            }
        }
        for f in alone {
            pairs.push(if down.is_empty() { [f, NONE] } else { [f, down.remove(0)] });
        }
        pairs.extend(down.into_iter().map(|g| [g, NONE]));
        for pair in &mut pairs {
            pair.sort_unstable();
        }
        pairs.sort_unstable();
        edges.extend(pairs.into_iter().map(|facets| Edge { nodes, facets }));
    }
    edges
}

#[cfg(test)]
mod tests;
