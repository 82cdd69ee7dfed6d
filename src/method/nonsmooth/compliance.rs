//! How the nodes of the working set answer to forces: `H⁻¹` of the effective energy, as far as contact sees it.
//!
//! ```text
//! β = 0    H = 2M/Δt²                 each node for itself
//! β > 0    H = 2M/Δt² + 2βK + …       nodes of a body among each other
//! ```

use crate::math::{Mat3, Vec3};
use crate::method::bipotential_implicit::parts::Parts;
use crate::solve::sparse::FactorError;

/// `H⁻¹` among some nodes.
#[derive(Clone, Debug)]
pub enum Compliance {
    /// ½Δt², a factor of the inverse mass of each node.
    Lumped(f64),
    Full(Flexibility),
}

/// The part of `H⁻¹` that belongs to nodes in contact, body by body.
#[derive(Clone, Debug, Default)]
pub struct Flexibility {
    /// Body and place in it of each node of the model that is asked for, sorted by node.
    places: Vec<(u32, u32, u32)>,
    /// Nodes of each body.
    nodes: Vec<Vec<u32>>,
    /// Row by row between them [m/N].
    blocks: Vec<Vec<Mat3>>,
}

impl Flexibility {
    /// Takes up the nodes (sorted) that contact sees, with the present factors.
    pub fn update(&mut self, parts: &mut Parts, bodies: usize, nodes: &[u32]) -> Result<(), FactorError> {
        self.places.clear();
        self.nodes.resize(bodies, Vec::new());
        self.nodes.iter_mut().for_each(Vec::clear);
        for &k in nodes {
            let body = parts.body(k as usize);
            self.places.push((k, body as u32, self.nodes[body].len() as u32));
            self.nodes[body].push(k);
        }
        let own = |nodes: &Vec<u32>| nodes.iter().flat_map(|&k| parts.unknowns_of(k as usize)).collect();
        let asked: Vec<Vec<u32>> = self.nodes.iter().map(own).collect();
        let mut columns = vec![Vec::new(); bodies];
        parts.flexibility(&asked, &mut columns)?;
        self.blocks.clear();
        for ((nodes, asked), columns) in self.nodes.iter().zip(&asked).zip(&columns) {
            let size = asked.len();
            let mut starts = vec![0];
            for &k in nodes {
                starts.push(starts[starts.len() - 1] + parts.unknowns.directions(k as usize).1.len());
            }
            let mut blocks = Vec::new();
            blocks
                .try_reserve_exact(nodes.len() * nodes.len())
                .map_err(|_| FactorError::Memory { size: 3 * nodes.len() })?;
            for (a, &p) in nodes.iter().enumerate() {
                let rows = parts.unknowns.directions(p as usize).1;
                for (b, &q) in nodes.iter().enumerate() {
                    let cols = parts.unknowns.directions(q as usize).1;
                    let mut block = Mat3::zeros();
                    for (i, d) in rows.iter().enumerate() {
                        for (j, e) in cols.iter().enumerate() {
                            block += columns[(starts[b] + j) * size + starts[a] + i] * d * e.transpose();
                        }
                    }
                    blocks.push(block);
                }
            }
            self.blocks.push(blocks);
        }
        Ok(())
    }
}

impl Compliance {
    /// Hands out how nodes move when a force acts on one of them.
    pub fn answer(&self, inv_mass: &[Mat3], node: u32, force: &Vec3, mut to: impl FnMut(u32, Vec3)) {
        match self {
            Compliance::Lumped(soft) => to(node, *soft * (inv_mass[node as usize] * force)),
            Compliance::Full(full) => {
                let Ok(at) = full.places.binary_search_by_key(&node, |p| p.0) else { return };
                let (_, body, place) = full.places[at];
                let nodes = &full.nodes[body as usize];
                let row = &full.blocks[body as usize][place as usize * nodes.len()..];
                // symmetric: row by row is column by column
                nodes.iter().zip(row).for_each(|(&k, block)| to(k, block.transpose() * force));
            }
        }
    }
}
