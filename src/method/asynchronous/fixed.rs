//! What is fixed about nodes: masses, supports, bodies.

use crate::math::Vec3;
use crate::model::Model;

/// Stands for a node that is not held.
pub(crate) const FREE: u32 = u32::MAX;

/// What is fixed about all nodes.
pub(crate) struct Fixed {
    /// 1/m [1/kg], whoever is held.
    pub inv_mass: Vec<f64>,
    /// Place of each node among the held ones, or [`FREE`].
    pub held: Vec<u32>,
    pub body: Vec<u32>,
    /// No gravity, no damping, nobody held: kicks have nothing to book.
    pub plain: bool,
}

impl Fixed {
    pub(crate) fn new(model: &Model) -> Fixed {
        let mut held = vec![FREE; model.mass.len()];
        for (i, h) in model.restraints.held.iter().enumerate() {
            held[h.node as usize] = i as u32;
        }
        let mut body = vec![0; model.mass.len()];
        for (b, of) in model.bodies.iter().enumerate() {
            body[of.nodes.clone()].fill(b as u32);
        }
        let acts = |b: &crate::model::Body| b.gravity != Vec3::zeros() || b.damping != 0.0;
        Fixed {
            inv_mass: model.mass.iter().map(|m| 1.0 / m).collect(),
            plain: model.restraints.held.is_empty() && !model.bodies.iter().any(acts),
            held,
            body,
        }
    }
}
