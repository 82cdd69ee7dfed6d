//! From what the file says to a mesh: cells, sides and sets.

use super::raw::{self, Elements, File, element_type};
use crate::mesh::source::Source;
use crate::mesh::surface;
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side, shape_functions};
use std::collections::BTreeMap;

/// Share of the mesh size below which a plane mesh counts as one in x–y, a line as one along x.
const FLAT: f64 = 1e-9;

pub(crate) fn mesh(file: &File, source: &Source) -> Result<Mesh, MeshError> {
    let Some(nodes) = &file.nodes else {
        return Err(source.error(0, "the file has no section $Nodes"));
    };
    refuse_unsupported(file)?;
    let kinds = || {
        file.elements.iter().filter_map(|(&n, e)| Some((kind_of(n)?, e))).filter(|(_, e)| !e.tags.is_empty())
    };
    let Some(dimension) = kinds().map(|(kind, _)| kind.dimension()).max() else {
        return Err(MeshError::NoCells);
    };
    let names = group_names(file)?;
    // Two regions of one entity differ by their group.
    let may_repeat =
        file.region_ids.keys().zip(file.region_ids.keys().skip(1)).any(|(a, b)| (a.0, a.1) == (b.0, b.1));

    let mut mesh = Mesh { nodes: nodes.places.clone(), ..Mesh::default() };
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (kind, elements) in kinds().filter(|(kind, _)| kind.dimension() == dimension) {
        let (cells, cell_of, regions) = unique_cells(kind, elements, may_repeat);
        let list = mesh.cells.len() as u32;
        mesh.cells.push(cells);
        turn_over(&mut mesh, list as usize, file, &regions);
        for (e, &cell) in cell_of.iter().enumerate() {
            for name in &names[elements.regions[e] as usize] {
                groups.entry(name).or_default().cells.push((list, cell));
            }
        }
    }
    // Neighbours share nodes: a stamp of the region that met a node last spares most of the repetitions.
    let mut stamp = vec![u32::MAX; mesh.nodes.len()];
    for (&number, elements) in &file.elements {
        let Some((_, kind)) = element_type(number.into()) else { continue };
        for (e, nodes) in elements.nodes.chunks_exact(kind.nodes).enumerate() {
            let region = elements.regions[e];
            for &node in nodes {
                if std::mem::replace(&mut stamp[node as usize], region) != region {
                    for name in &names[region as usize] {
                        groups.entry(name).or_default().nodes.push(node);
                    }
                }
            }
        }
        if kind.dimension + 1 == dimension {
            match_sides(&mesh, number, elements, &names, &mut groups)?;
        }
    }
    for (name, mut group) in groups {
        group.cells.sort_unstable();
        group.cells.dedup();
        group.sides.sort_unstable();
        group.sides.dedup();
        mesh.name_nodes(name, group.nodes);
        if !group.cells.is_empty() {
            mesh.cell_sets.insert(name.to_owned(), group.cells);
        }
        if !group.sides.is_empty() {
            mesh.side_sets.insert(name.to_owned(), group.sides);
        }
    }
    mesh.drop_unused_nodes();
    // What is left of a group that named only the centres of arcs and the like.
    mesh.node_sets.retain(|_, nodes| !nodes.is_empty());
    Ok(mesh)
}

#[derive(Default)]
struct Group {
    nodes: Vec<u32>,
    cells: Vec<(u32, u32)>,
    sides: Vec<Side>,
}

fn kind_of(number: u8) -> Option<CellKind> {
    element_type(number.into()).and_then(|(_, kind)| kind.kind)
}

fn refuse_unsupported(file: &File) -> Result<(), MeshError> {
    let there = || file.elements.iter().filter(|(_, elements)| !elements.tags.is_empty());
    let highest = there().filter_map(|(&n, _)| element_type(n.into())).map(|(_, kind)| kind.dimension).max();
    let unsupported = |(&number, elements): (&u8, &Elements)| {
        let (_, kind) = element_type(number.into())?;
        // sides and edges of quadratic cells only name things
        let below = kind.second_order() && Some(kind.dimension) < highest;
        (kind.kind.is_none() && number != raw::POINT && !below).then_some((kind.name, elements.tags.len()))
    };
    let cells: Vec<_> = there().filter_map(unsupported).collect();
    let help = if cells.iter().any(|(name, _)| name.ends_with("order)")) {
        "of higher order only tet10 is read: mesh with tets alone, or set Mesh.ElementOrder = 1 in Gmsh and mesh again"
    } else {
        "only bar2, tri3, quad4, tet4, tet10 and hex8 are read: mesh with tets alone, or with hexes alone"
    };
    if cells.is_empty() { Ok(()) } else { Err(MeshError::UnsupportedCells { cells, help }) }
}

/// Names of the groups of every region. A group without name is called by dimension and tag.
fn group_names(file: &File) -> Result<Vec<Vec<String>>, MeshError> {
    let mut dimension_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(file.regions.len());
    // Regions without elements name nothing and cannot clash.
    let mut used = vec![false; file.regions.len()];
    for &region in file.elements.values().flat_map(|e| &e.regions) {
        used[region as usize] = true;
    }
    for (region, used) in file.regions.iter().zip(used) {
        let mut names = Vec::new();
        for &tag in region.groups.iter().filter(|_| used) {
            let dimension = region.dimension;
            let name = match file.names.get(&(dimension, tag)) {
                Some(name) if !name.is_empty() => name.clone(),
                _ => format!("{}-{tag}", ["point", "curve", "surface", "volume"][dimension]),
            };
            let other = *dimension_of.entry(name.clone()).or_insert(dimension);
            if other != dimension {
                return Err(MeshError::NameTwice { name, dimensions: [other, dimension] });
            }
            names.push(name);
        }
        all.push(names);
    }
    Ok(all)
}

/// Cells in the order of their tags, each once; the cell of every element; the region of every cell.
///
/// Format 2.2 writes an element of several groups several times, under different tags; `may_repeat` says that
/// the file has such groups.
fn unique_cells(kind: CellKind, elements: &Elements, may_repeat: bool) -> (Cells, Vec<u32>, Vec<u32>) {
    let n = kind.nodes();
    let nodes = |e: u32| &elements.nodes[e as usize * n..][..n];
    let count = elements.tags.len() as u32;
    let mut original: Vec<u32> = (0..count).collect();
    if may_repeat {
        // Copies stand together, the one with the smallest tag first; its place is the cell's.
        let mut by_nodes = original.clone();
        by_nodes.sort_by(|&a, &b| {
            nodes(a).cmp(nodes(b)).then(elements.tags[a as usize].cmp(&elements.tags[b as usize]))
        });
        for copies in by_nodes.chunk_by(|&a, &b| nodes(a) == nodes(b)) {
            for &e in copies {
                original[e as usize] = copies[0];
            }
        }
    }
    let mut order: Vec<u32> = (0..count).filter(|&e| original[e as usize] == e).collect();
    order.sort_by_key(|&e| elements.tags[e as usize]);

    let mut cell_of = vec![0; count as usize];
    for (cell, &e) in order.iter().enumerate() {
        cell_of[e as usize] = cell as u32;
    }
    let cell_of = original.iter().map(|&e| cell_of[e as usize]).collect();
    let mut cells = Cells { kind, nodes: order.iter().flat_map(|&e| nodes(e)).copied().collect() };
    if kind == CellKind::Tet10 {
        // the last two middles change places
        cells.nodes.chunks_exact_mut(10).for_each(|tet| tet.swap(8, 9));
    }
    (cells, cell_of, order.iter().map(|&e| elements.regions[e as usize]).collect())
}

/// Turns over the cells of entities that are clockwise throughout in the x–y plane, or run towards −x.
fn turn_over(mesh: &mut Mesh, list: usize, file: &File, regions: &[u32]) {
    let kind = mesh.cells[list].kind;
    let used: Vec<u32> = mesh.cells[list].nodes.clone();
    let place = |n: u32| mesh.nodes[n as usize];
    let Some(first) = used.first().map(|&n| place(n)) else { return };
    let size = used.iter().map(|&n| (place(n) - first).amax()).fold(0.0, f64::max);
    let off = used.iter().map(|&n| (place(n) - first).rows(kind.dimension(), 3 - kind.dimension()).amax());
    if kind.dimension() == 3 || off.fold(0.0, f64::max) > FLAT * size {
        return;
    }
    let entity = |cell: usize| file.regions[regions[cell] as usize].entity;
    let mut all_turned: BTreeMap<i64, bool> = BTreeMap::new();
    let cells = &mesh.cells[list];
    for cell in 0..cells.len() {
        let turned = shape_functions::measure(kind, &mesh.corners(cells, cell)) < 0.0;
        *all_turned.entry(entity(cell)).or_insert(true) &= turned;
    }
    for (cell, nodes) in mesh.cells[list].nodes.chunks_exact_mut(kind.nodes()).enumerate() {
        if all_turned[&entity(cell)] {
            match nodes {
                [a, b] => std::mem::swap(a, b),
                [_, rest @ ..] => rest.reverse(),
                [] => {}
            }
        }
    }
}

/// Finds the cell side of every element that belongs to a group.
fn match_sides<'a>(
    mesh: &Mesh,
    number: u8,
    elements: &Elements,
    names: &'a [Vec<String>],
    groups: &mut BTreeMap<&'a str, Group>,
) -> Result<(), MeshError> {
    let Some((_, kind)) = element_type(number.into()) else { return Ok(()) };
    let corners = |e: u32| &elements.nodes[e as usize * kind.nodes..][..kind.corners()];
    let named = |&e: &u32| !names[elements.regions[e as usize] as usize].is_empty();
    let faces: Vec<u32> = (0..elements.tags.len() as u32).filter(named).collect();
    let found = surface::find_sides(mesh, faces.len(), |i| corners(faces[i]));
    for (&e, found) in faces.iter().zip(found) {
        for name in &names[elements.regions[e as usize] as usize] {
            match found {
                Some(side) => groups.entry(name).or_default().sides.push(side),
                // A point that stands apart: its node will be dropped.
                None if kind.dimension == 0 => {}
                None => {
                    let tag = elements.tags[e as usize];
                    return Err(MeshError::NoSide { kind: kind.name, tag, group: name.clone() });
                }
            }
        }
    }
    Ok(())
}
