//! One contact of any kind at random.

use crate::contact::closest_point::quad4_weights;
use crate::contact::friction::Stick;
use crate::contact::pair::Pair;
use crate::math::{Mat3, Vec3};
use crate::method::response::{Impact, Terms, bounce};

pub(super) struct Dice(pub u64);

impl Dice {
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * (0.5 * f64::EPSILON)
    }

    pub(super) fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    pub(super) fn point(&mut self) -> Vec3 {
        Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }

    pub(super) fn direction(&mut self) -> Vec3 {
        loop {
            let p = self.point();
            if p.norm() > 0.1 {
                return p.normalize();
            }
        }
    }
}

/// Nodes that touch: `h = 0` to round-off.
pub(super) struct ContactCase {
    pub pair: Pair,
    pub x: Vec<Vec3>,
    pub v: Vec<Vec3>,
    pub mass: Vec<f64>,
    pub inv_mass: Vec<Mat3>,
}

pub(super) const KINDS: usize = 5;

impl ContactCase {
    pub(super) fn new(dice: &mut Dice, kind: usize) -> ContactCase {
        let sign = if dice.unit() < 0.5 { -1.0 } else { 1.0 };
        let (mut x, pair) = loop {
            let mut x: Vec<Vec3> = (0..5).map(|_| dice.point()).collect();
            let (s, t) = (dice.between(0.05, 0.95), dice.between(0.1, 0.9));
            let pair = match kind {
                0 => {
                    x[0] = x[1];
                    Pair::node_facet(0, 1, &[1], &[1.0], dice.direction())
                }
                1 => {
                    x[0] = (1.0 - s) * x[1] + s * x[2];
                    let n = (x[2] - x[1]).cross(&dice.direction());
                    if n.norm() < 0.1 {
                        continue;
                    }
                    Pair::node_facet(0, 0, &[1, 2], &[1.0 - s, s], n.normalize())
                }
                2 => {
                    let (b, c) = if s + t < 1.0 { (s, t) } else { (1.0 - s, 1.0 - t) };
                    let weights = [1.0 - b - c, b, c];
                    x[0] = weights[0] * x[1] + b * x[2] + c * x[3];
                    let n = (x[2] - x[1]).cross(&(x[3] - x[1]));
                    if n.norm() < 0.1 {
                        continue;
                    }
                    Pair::node_facet(0, 0, &[1, 2, 3], &weights, sign * n.normalize())
                }
                3 => {
                    let p = (1.0 - s) * x[0] + s * x[1];
                    x[3] = (p - (1.0 - t) * x[2]) / t;
                    let n = (x[1] - x[0]).cross(&(x[3] - x[2]));
                    if n.norm() < 0.1 {
                        continue;
                    }
                    Pair::edge_edge(0, 1, [0, 1, 2, 3], s, t, sign * n.normalize())
                }
                _ => {
                    let weights = quad4_weights(2.0 * s - 1.0, 2.0 * t - 1.0);
                    x[0] = (0..4).map(|k| weights[k] * x[k + 1]).sum();
                    Pair::node_facet(0, 0, &[1, 2, 3, 4], &weights, dice.direction())
                }
            };
            break (x, pair);
        };
        x.truncate(pair.points().len());
        let n = x.len();
        let mass: Vec<f64> = (0..n).map(|_| 10f64.powf(dice.between(-2.0, 2.0))).collect();
        ContactCase {
            pair,
            v: (0..n).map(|_| dice.point()).collect(),
            inv_mass: mass.iter().map(|m| Mat3::identity() / *m).collect(),
            mass,
            x,
        }
    }

    /// Each node is held in none, one, two or three random directions; held velocities vanish.
    pub(super) fn restrain(&mut self, dice: &mut Dice) {
        for k in 0..self.x.len() {
            let mut free = Mat3::identity();
            for _ in 0..(4.0 * dice.unit()) as usize {
                let d = free * dice.direction();
                if d.norm() > 0.1 {
                    let d = d.normalize();
                    free -= d * d.transpose();
                }
            }
            if free.trace() < 0.5 {
                free = Mat3::zeros(); // as the model has it
            }
            self.inv_mass[k] = free / self.mass[k];
            self.v[k] = free * self.v[k];
        }
    }

    pub(super) fn kinetic(&self) -> f64 {
        self.v.iter().zip(&self.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
    }

    pub(super) fn momentum(&self) -> Vec3 {
        self.v.iter().zip(&self.mass).map(|(v, m)| *m * v).sum()
    }

    pub(super) fn spin(&self) -> Vec3 {
        (0..self.x.len()).map(|k| self.x[k].cross(&(self.mass[k] * self.v[k]))).sum()
    }

    /// Sums of the sizes that momentum and angular momentum cancel from.
    pub(super) fn scale(&self) -> f64 {
        self.v.iter().zip(&self.mass).map(|(v, m)| m * v.norm()).sum()
    }

    pub(super) fn bounce(&mut self, work: f64) -> Option<Impact> {
        self.bounce_with(Stick::Elastic, work)
    }

    pub(super) fn bounce_with(&mut self, stick: Stick, work: f64) -> Option<Impact> {
        bounce(&self.pair, Terms { stick, work, parting: 0.0 }, &self.inv_mass, &mut self.v)
    }
}
