//! Polygons and polyhedra as triangles and tetrahedra, with labels on their outer sides, which refinement carries along.

use super::{CellKind, Cells, Mesh, Side};
use crate::math::Vec3;
use std::collections::BTreeMap;

/// Cells on their way to a mesh.
pub(crate) struct Cut {
    pub nodes: Vec<Vec3>,
    pub kind: CellKind,
    pub cells: Vec<u32>,
    /// Label of each outer side, by its nodes in ascending order.
    pub sides: BTreeMap<Vec<u32>, u32>,
}

/// The nodes of a side in ascending order.
pub(crate) fn orient(side: &[u32]) -> Vec<u32> {
    let mut side = side.to_vec();
    side.sort_unstable();
    side
}

/// Nodes in the middle of edges.
#[derive(Default)]
struct Middles(BTreeMap<(u32, u32), u32>);

impl Middles {
    fn of(&mut self, nodes: &mut Vec<Vec3>, a: u32, b: u32) -> u32 {
        *self.0.entry((a.min(b), a.max(b))).or_insert_with(|| {
            nodes.push(0.5 * (nodes[a as usize] + nodes[b as usize]));
            nodes.len() as u32 - 1
        })
    }
}

impl Cut {
    /// Every triangle into four, every tetrahedron into eight.
    pub(crate) fn refine(&mut self) {
        let (mut middles, mut cells) = (Middles::default(), Vec::new());
        let nodes = &mut self.nodes;
        for cell in self.cells.chunks_exact(self.kind.nodes()) {
            match *cell {
                [a, b, c] => cells.extend(quarters(nodes, &mut middles, [a, b, c]).concat()),
                [a, b, c, d] => cells.extend(eighths(nodes, &mut middles, [a, b, c, d]).concat()),
                _ => {}
            }
        }
        self.cells = cells;
        for (side, label) in std::mem::take(&mut self.sides) {
            match side[..] {
                [a, b] => {
                    let m = middles.of(nodes, a, b);
                    [[a, m], [m, b]].iter().for_each(|s| _ = self.sides.insert(orient(s), label));
                }
                [a, b, c] => {
                    let parts = quarters(nodes, &mut middles, [a, b, c]);
                    parts.iter().for_each(|s| _ = self.sides.insert(orient(s), label));
                }
                _ => {}
            }
        }
    }

    /// Has every cell something inside?
    pub(crate) fn positive(&self) -> bool {
        self.cells.chunks_exact(self.kind.nodes()).all(|cell| {
            let at = |k: usize| self.nodes[cell[k] as usize] - self.nodes[cell[0] as usize];
            match self.kind {
                CellKind::Tri3 => at(1).cross(&at(2)).z > 0.0,
                _ => at(1).cross(&at(2)).dot(&at(3)) > 0.0,
            }
        })
    }

    /// The mesh; sides with label k are called `names[k]`. Every name stands for a set, if an empty one.
    pub(crate) fn mesh(self, names: &[String]) -> Mesh {
        let mut sets: BTreeMap<&String, Vec<Side>> = names.iter().map(|n| (n, Vec::new())).collect();
        for (cell, nodes) in (0..).zip(self.cells.chunks_exact(self.kind.nodes())) {
            for (side, of) in (0..).zip(self.kind.sides()) {
                let ids: Vec<u32> = of.iter().map(|&k| nodes[k as usize]).collect();
                let label = self.sides.get(&orient(&ids));
                if let Some(name) = label.and_then(|&l| names.get(l as usize)) {
                    sets.entry(name).or_default().push(Side { cells: 0, cell, side });
                }
            }
        }
        let cells = vec![Cells { kind: self.kind, nodes: self.cells }];
        let mut mesh = Mesh { nodes: self.nodes, cells, ..Mesh::default() };
        sets.into_iter().for_each(|(name, sides)| mesh.name_sides(name, sides));
        mesh
    }
}

fn quarters(nodes: &mut Vec<Vec3>, middles: &mut Middles, [a, b, c]: [u32; 3]) -> [[u32; 3]; 4] {
    let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| middles.of(nodes, p, q));
    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
}

/// Four at the corners; the octahedron between them is cut along the shortest of its diagonals.
fn eighths(nodes: &mut Vec<Vec3>, middles: &mut Middles, [a, b, c, d]: [u32; 4]) -> [[u32; 4]; 8] {
    let edges = [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)];
    let [ab, ac, ad, bc, bd, cd] = edges.map(|(p, q)| middles.of(nodes, p, q));
    let length = |p: u32, q: u32| (nodes[p as usize] - nodes[q as usize]).norm_squared();
    // a diagonal, and the four others around it, right-handed about the way from its first end to its second
    let around = [(ab, cd, [ac, ad, bd, bc]), (ac, bd, [ab, bc, cd, ad]), (ad, bc, [ab, ac, cd, bd])];
    let best = around
        .into_iter()
        .reduce(|p, q| if length(q.0, q.1) < length(p.0, p.1) * (1.0 - 1e-9) { q } else { p });
    let (from, to, ring) = best.unwrap_or(around[0]);
    let inner = |k: usize| [from, to, ring[k], ring[(k + 1) % 4]];
    [
        [a, ab, ac, ad],
        [ab, b, bc, bd],
        [ac, bc, c, cd],
        [ad, bd, cd, d],
        inner(0),
        inner(1),
        inner(2),
        inner(3),
    ]
}
