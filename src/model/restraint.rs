//! Supports: directions in which a node is held or prescribed, as 3×3 projectors.
//!
//! `P = 1 − G(GᵀG)⁻¹Gᵀ` removes the held directions `G`; the inverse mass of a held node is `P/m`. Several supports
//! of one node add up their directions. A prescribed node follows `X + d(t)` along its held directions.

use super::Table;
use crate::math::{Mat3, Vec3};
use std::collections::BTreeMap;

/// How a support moves: displacement [m] times a factor in time.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// `displacement · table(t)`
    Displacement { displacement: Vec3, table: Table },
    /// `velocity · t` [m/s]
    Velocity { velocity: Vec3 },
}

impl Motion {
    pub fn displacement(&self, time: f64) -> Vec3 {
        match self {
            Motion::Displacement { displacement, table } => displacement * table.at(time),
            Motion::Velocity { velocity } => velocity * time,
        }
    }

    /// Velocity just after `time`.
    pub fn velocity(&self, time: f64) -> Vec3 {
        match self {
            Motion::Displacement { displacement, table } => displacement * table.rate(time),
            Motion::Velocity { velocity } => *velocity,
        }
    }
}

/// One support as it was asked for.
#[derive(Clone, Debug)]
pub struct Restraint {
    /// Model-wide ids.
    pub nodes: Vec<u32>,
    /// Held directions, of any length but zero.
    pub directions: Vec<Vec3>,
    pub motion: Option<Motion>,
}

/// One held node.
#[derive(Clone, Debug)]
pub struct Held {
    pub node: u32,
    /// Projector off the held directions.
    pub free: Mat3,
    /// Held directions as columns, orthonormal; those beyond are zero.
    pub directions: Mat3,
    /// Index into [`Restraints::motions`] and its own held directions, for every motion prescribed to the node.
    pub prescribed: Vec<(u32, Mat3)>,
}

/// All held nodes, ascending.
#[derive(Clone, Debug, Default)]
pub struct Restraints {
    pub held: Vec<Held>,
    pub motions: Vec<Motion>,
}

/// Part of a direction that must be new for it to count as independent of those before.
const INDEPENDENT: f64 = 1e-9;

impl Restraints {
    pub fn new(asked: &[Restraint], reference: &[Vec3]) -> Self {
        let mut motions = Vec::new();
        // orthonormal held directions per node, and which motion is prescribed along which
        let mut by_node: BTreeMap<u32, Vec<(Vec3, Option<u32>)>> = BTreeMap::new();
        for restraint in asked {
            let motion = restraint.motion.as_ref().map(|m| {
                motions.push(m.clone());
                motions.len() as u32 - 1
            });
            for &node in &restraint.nodes {
                debug_assert!((node as usize) < reference.len());
                let held = by_node.entry(node).or_default();
                for direction in &restraint.directions {
                    let mut rest = direction.normalize();
                    for (known, _) in held.iter() {
                        rest -= known * known.dot(&rest);
                    }
                    if rest.norm() > INDEPENDENT {
                        held.push((rest.normalize(), motion));
                    }
                }
            }
        }
        let held = by_node
            .into_iter()
            .filter(|(_, directions)| !directions.is_empty())
            .map(|(node, directions)| {
                let onto = |d: &Vec3| d * d.transpose();
                // All three directions leave nothing, and exactly so.
                let free = match directions.len() {
                    3 => Mat3::zeros(),
                    _ => Mat3::identity() - directions.iter().map(|(d, _)| onto(d)).sum::<Mat3>(),
                };
                let mut prescribed: BTreeMap<u32, Mat3> = BTreeMap::new();
                for (direction, motion) in &directions {
                    if let Some(motion) = motion {
                        *prescribed.entry(*motion).or_insert(Mat3::zeros()) += onto(direction);
                    }
                }
                let mut columns = Mat3::zeros();
                for (k, (direction, _)) in directions.iter().enumerate() {
                    columns.set_column(k, direction);
                }
                Held { node, free, directions: columns, prescribed: prescribed.into_iter().collect() }
            })
            .collect();
        Restraints { held, motions }
    }

    /// Where a held node is prescribed to be, relative to its reference position.
    pub fn displacement(&self, held: &Held, time: f64) -> Vec3 {
        held.prescribed.iter().map(|(m, along)| along * self.motions[*m as usize].displacement(time)).sum()
    }

    /// How fast it is prescribed to move.
    pub fn velocity(&self, held: &Held, time: f64) -> Vec3 {
        held.prescribed.iter().map(|(m, along)| along * self.motions[*m as usize].velocity(time)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(directions: &[Vec3]) -> Mat3 {
        let asked = Restraint { nodes: vec![0], directions: directions.to_vec(), motion: None };
        let held = Restraints::new(&[asked], &[Vec3::zeros()]).held;
        held.first().map_or(Mat3::identity(), |h| h.free)
    }

    #[test]
    fn a_projector_forgets_held_directions_and_keeps_the_others() {
        let (a, b) = (Vec3::new(1.0, 2.0, 0.5), Vec3::new(-1.0, 0.3, 2.0));
        let p = one(&[a, b, a + b]);
        assert!((p * p - p).norm() < 1e-15 && (p - p.transpose()).norm() < 1e-15);
        assert!((p * a).norm() < 1e-15 && (p * b).norm() < 1e-15);
        let kept = a.cross(&b);
        assert!((p * kept - kept).norm() < 1e-14);
        assert_eq!(one(&[Vec3::x(), Vec3::y(), Vec3::z()]), Mat3::zeros());
    }

    #[test]
    fn two_supports_of_one_node_hold_both_directions_and_lead_along_their_own() {
        let held = Restraint { nodes: vec![0], directions: vec![Vec3::z()], motion: None };
        let motion = Motion::Velocity { velocity: Vec3::new(1.0, 2.0, 3.0) };
        let prescribed = Restraint { nodes: vec![0], directions: vec![Vec3::x()], motion: Some(motion) };
        let all = Restraints::new(&[held, prescribed], &[Vec3::zeros()]);
        assert_eq!(all.held[0].free, Mat3::from_diagonal(&Vec3::y()));
        assert_eq!(all.displacement(&all.held[0], 2.0), Vec3::new(2.0, 0.0, 0.0));
        assert_eq!(all.velocity(&all.held[0], 2.0), Vec3::new(1.0, 0.0, 0.0));
    }
}
