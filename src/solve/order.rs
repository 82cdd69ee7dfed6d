//! The order of elimination of a mesh: nested dissection by coordinates.
//!
//! The nodes are cut in two at the middle of their longest extent; those of the first half with a neighbour in the second
//! stand between the halves and are eliminated last; the halves go on alike. In space the factors of a mesh of n nodes have
//! about n^{4/3} numbers then, several times fewer than by minimum degree.

use crate::math::Vec3;

/// Share of an extent within which nodes lie in one plane.
const SAME: f64 = 1e-9;
/// Nodes that are not cut any more.
const LEAF: usize = 24;

/// Neighbours of each node: `neighbours[starts[k]..starts[k + 1]]`, ascending, itself included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub starts: Vec<usize>,
    pub neighbours: Vec<u32>,
}

impl Graph {
    /// Nodes that appear together in one of the stencils (ids below `nodes`).
    pub fn of_stencils<'a>(nodes: usize, stencils: impl Iterator<Item = &'a [u32]> + Clone) -> Graph {
        // stencils of each node first: sorting their union node by node needs little memory
        let mut first = vec![0usize; nodes + 1];
        for &n in stencils.clone().flatten() {
            first[n as usize + 1] += 1;
        }
        for k in 0..nodes {
            first[k + 1] += first[k];
        }
        let all: Vec<&[u32]> = stencils.collect();
        let mut next = first.clone();
        let mut of_node = vec![0u32; first[nodes]];
        for (s, stencil) in all.iter().enumerate() {
            for &n in *stencil {
                of_node[next[n as usize]] = s as u32;
                next[n as usize] += 1;
            }
        }
        let mut graph = Graph { starts: vec![0], neighbours: Vec::new() };
        let mut own: Vec<u32> = Vec::new();
        for k in 0..nodes {
            own.clear();
            own.push(k as u32);
            for &s in &of_node[first[k]..first[k + 1]] {
                own.extend(all[s as usize]);
            }
            own.sort_unstable();
            own.dedup();
            graph.neighbours.extend(&own);
            graph.starts.push(graph.neighbours.len());
        }
        graph
    }

    pub fn of(&self, node: usize) -> &[u32] {
        &self.neighbours[self.starts[node]..self.starts[node + 1]]
    }

    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Nodes in the order in which they are eliminated; `at` says where they are.
pub fn nested_dissection(graph: &Graph, at: &[Vec3]) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..graph.nodes() as u32).collect();
    // which part a node belongs to at present
    let mut part = vec![0u32; nodes.len()];
    let mut parts = 0;
    cut(graph, at, &mut nodes, &mut part, &mut parts);
    nodes
}

fn cut(graph: &Graph, at: &[Vec3], nodes: &mut [u32], part: &mut [u32], parts: &mut u32) {
    if nodes.len() <= LEAF {
        return;
    }
    let bounds = nodes.iter().fold((at[nodes[0] as usize], at[nodes[0] as usize]), |b, &n| {
        (b.0.inf(&at[n as usize]), b.1.sup(&at[n as usize]))
    });
    let axis = (bounds.1 - bounds.0).imax();
    // planes of nodes stay whole: a cut through one would make the part between the halves thicker
    let mut along: Vec<f64> = nodes.iter().map(|&n| at[n as usize][axis]).collect();
    along.sort_unstable_by(f64::total_cmp);
    let near = SAME * (bounds.1 - bounds.0)[axis];
    let place = |plane: f64| along.partition_point(|&x| x < plane);
    let (low, high) = (place(along[along.len() / 2] - near), place(along[along.len() / 2] + near));
    let half = nodes.len() / 2;
    let lower = half - low <= high - half;
    let plane = along[half] + if lower { -near } else { near };
    let mut middle = if lower { low } else { high };
    if middle == 0 || middle == nodes.len() {
        // all in one plane: by number
        middle = half;
    } else {
        nodes.sort_unstable_by_key(|&n| at[n as usize][axis] >= plane);
    }
    *parts += 2;
    let (left, right) = (*parts - 1, *parts);
    nodes[..middle].iter().for_each(|&n| part[n as usize] = left);
    nodes[middle..].iter().for_each(|&n| part[n as usize] = right);
    let between = |n: &u32| graph.of(*n as usize).iter().any(|&m| part[m as usize] == right);
    let (mut first, mut wall): (Vec<u32>, Vec<u32>) = nodes[..middle].iter().partition(|n| !between(n));
    let mut second = nodes[middle..].to_vec();
    // by number, so that the order inside does not depend on how the halves were found
    for list in [&mut first, &mut wall, &mut second] {
        list.sort_unstable();
    }
    let (a, b) = (first.len(), first.len() + second.len());
    nodes[..a].copy_from_slice(&first);
    nodes[a..b].copy_from_slice(&second);
    nodes[b..].copy_from_slice(&wall);
    if a == 0 || second.len() + wall.len() == 0 {
        return;
    }
    cut(graph, at, &mut nodes[..a], part, parts);
    cut(graph, at, &mut nodes[a..b], part, parts);
}
