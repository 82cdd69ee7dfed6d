//! Tangents of node potentials, and their forces between two configurations: one point with the mean gradient of its stencil.
//!
//! ```text
//! K_bi,ck = V_I b_b,J A_iJkL b_c,L        f_b = V_I P̄ b_b
//! ```

use super::Nodal;
use crate::element::between;
use crate::element::tangent::moduli;
use crate::element::{Between, BetweenPass, Element, Positions};
use crate::material::Material;
use crate::math::Vec3;
use crate::math::tensor::{Matrix, det, full, green_strain, mul, plus_identity, small_strain};

impl<E: Element, M: Material + Clone> Nodal<E, M> {
    /// `∂u/∂X` of a node potential.
    fn gradient(&self, node: usize, reference: &[Vec3], x: &[Vec3]) -> Matrix<f64> {
        let mut h = [[0.0; 3]; 3];
        for (n, b, _) in self.members_of(node) {
            let u = x[*n as usize] - reference[*n as usize];
            for (i, row) in h.iter_mut().enumerate() {
                row.iter_mut().zip(b.iter()).for_each(|(h, b)| *h += u[i] * b);
            }
        }
        h
    }

    fn write_tangent(&self, node: usize, moduli: &[[f64; 9]; 9], out: &mut [f64]) {
        let (members, volume) = (self.members_of(node), self.volume[node]);
        let width = 3 * members.len();
        for (c, (_, slope, _)) in members.iter().enumerate() {
            // t[iJ][k] = V A_iJkL b_c,L
            let t = moduli.map(|a| {
                [0, 1, 2]
                    .map(|k| volume * (a[3 * k] * slope.x + a[3 * k + 1] * slope.y + a[3 * k + 2] * slope.z))
            });
            for (b, (_, slope, _)) in members.iter().enumerate() {
                for i in 0..3 {
                    for k in 0..3 {
                        out[(3 * b + i) * width + 3 * c + k] =
                            slope.x * t[3 * i][k] + slope.y * t[3 * i + 1][k] + slope.z * t[3 * i + 2][k];
                    }
                }
            }
        }
    }

    pub(super) fn node_tangent(&self, node: usize, positions: Positions, out: &mut [f64]) {
        let h = self.gradient(node, positions.reference, positions.current);
        self.write_tangent(node, &moduli(&self.rest, &h), out);
    }

    pub(super) fn node_force_between(&self, node: usize, step: Between, forces: &mut [Vec3]) -> BetweenPass {
        let h = [step.start, step.end].map(|x| self.gradient(node, step.reference, x));
        let strain = h.map(|h| if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) });
        let middle = between::stress(&self.rest, &strain[0], &strain[1]);
        let (mut p, mut det_f) = (full(&middle.stress), f64::INFINITY);
        if !M::SMALL_STRAIN {
            p = mul(&plus_identity(&mean(&h)), &p);
            det_f = det(&plus_identity(&h[1]));
        }
        let volume = self.volume[node];
        for (to, (_, b, _)) in forces.iter_mut().zip(self.members_of(node)) {
            *to = Vec3::from(p.map(|row| volume * (row[0] * b.x + row[1] * b.y + row[2] * b.z)));
        }
        BetweenPass { energy: volume * middle.energy, det_f }
    }

    pub(super) fn node_tangent_between(&self, node: usize, step: Between, out: &mut [f64]) {
        let h = [step.start, step.end].map(|x| self.gradient(node, step.reference, x));
        let strain = h.map(|h| if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) });
        let moduli = between::moduli(&self.rest, &strain, &mean(&h), &h[1]);
        self.write_tangent(node, &moduli, out);
    }
}

fn mean(h: &[Matrix<f64>; 2]) -> Matrix<f64> {
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (h[0][i][j] + h[1][i][j])))
}
