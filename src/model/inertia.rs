//! How nodes answer to forces: the inverse mass, 3×3 because supports hold directions.

use super::Model;
use crate::math::Mat3;
use std::collections::BTreeMap;

/// Of the hash FNV-1a.
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// How nodes answer to forces: `M⁻¹ = P/m`.
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    /// 1/m [1/kg]; zero where all directions are held.
    pub inverse: Vec<f64>,
    /// Which projector; the first is that of free nodes.
    pub kind: Vec<u32>,
    pub projectors: Vec<Mat3>,
    /// Tells sets of fixed nodes from each other.
    pub which_fixed: u64,
}

impl Inertia {
    pub fn of_model(model: &Model) -> Inertia {
        Inertia::new(&model.mass, model.restraints.held.iter().map(|h| (h.node, &h.free)))
    }

    /// Of all nodes one after the other, for those who ask all the time.
    pub fn all(&self) -> Vec<Mat3> {
        (0..self.inverse.len()).map(|k| self.of(k)).collect()
    }

    /// From masses and the projectors of the held nodes among them.
    pub fn new<'a>(mass: &[f64], held: impl Iterator<Item = (u32, &'a Mat3)>) -> Inertia {
        let mut inertia = Inertia {
            inverse: mass.iter().map(|m| 1.0 / m).collect(),
            kind: vec![0; mass.len()],
            projectors: vec![Mat3::identity()],
            which_fixed: 0,
        };
        let mut known = BTreeMap::new();
        for (node, projector) in held {
            if *projector == Mat3::zeros() {
                inertia.inverse[node as usize] = 0.0;
                inertia.which_fixed = (inertia.which_fixed ^ u64::from(node + 1)).wrapping_mul(PRIME);
                continue;
            }
            let bits: Vec<u64> = projector.iter().map(|x| x.to_bits()).collect();
            inertia.kind[node as usize] = *known.entry(bits).or_insert_with(|| {
                inertia.projectors.push(*projector);
                inertia.projectors.len() as u32 - 1
            });
        }
        inertia
    }

    /// Can a node not move at all?
    #[inline]
    pub fn fixed(&self, node: usize) -> bool {
        self.inverse[node] == 0.0
    }

    /// `M⁻¹` of a node [1/kg].
    #[inline]
    pub fn of(&self, node: usize) -> Mat3 {
        self.inverse[node] * self.projectors[self.kind[node] as usize]
    }
}
