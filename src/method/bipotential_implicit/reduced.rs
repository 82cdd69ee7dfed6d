//! The operator between the contacts of a step, `W = H K̄⁻¹Hᵀ/(θΔt)`, from what the touched nodes of each body answer.
//!
//! ```text
//! C = part of K̄⁻¹ in the unknowns of touched nodes        W(α, β) = Σ over bodies of Σ gₐ C(a, b) g_bᵀ/(θΔt)
//! ```
//!
//! with `g` a contact's weight times its rows along an unknown. Contacts on the same nodes share columns of `K̄⁻¹`, and
//! contacts without a body in common do not see each other.

use super::parts::Parts;
use crate::contact::friction::tangent_frame;
use crate::math::{Mat3, Vec3};
use crate::solve::contacts::Contact;
use crate::solve::sparse::FactorError;

#[derive(Default)]
pub(crate) struct Reduced {
    /// Rows n, t₁, t₂ of each contact.
    pub frames: Vec<Mat3>,
    /// Column by column, three to a contact.
    pub w: Vec<f64>,
    /// Of each body: unknowns of touched nodes, ascending, and C.
    touched: Vec<Vec<u32>>,
    flexibility: Vec<Vec<f64>>,
    /// Of each body: its contacts, each with its range among the shares.
    contacts: Vec<Vec<(u32, usize, usize)>>,
    /// (place among the touched unknowns of the body, weight times rows along it)
    shares: Vec<(u32, Vec3)>,
    answer: Vec<Vec3>,
}

impl Reduced {
    /// Takes up the contacts of a step.
    pub(crate) fn build(&mut self, parts: &Parts, bodies: usize, list: &[Contact]) {
        self.frames.clear();
        self.frames.extend(list.iter().map(|c| tangent_frame(&c.normal)));
        self.touched.resize(bodies, Vec::new());
        self.flexibility.resize(bodies, Vec::new());
        self.contacts.resize(bodies, Vec::new());
        self.shares.clear();
        for body in 0..bodies {
            self.touched[body].clear();
            self.contacts[body].clear();
        }
        for (k, _) in list.iter().flat_map(Contact::points) {
            self.touched[parts.body(k)].extend(parts.unknowns_of(k));
        }
        for touched in &mut self.touched {
            touched.sort_unstable();
            touched.dedup();
        }
        for (i, (contact, q)) in list.iter().zip(&self.frames).enumerate() {
            for (k, c) in contact.points() {
                let body = parts.body(k);
                let (first, along) = parts.unknowns.directions(k);
                let place = self.touched[body].partition_point(|&u| (u as usize) < first) as u32;
                let begin = self.shares.len();
                let shares = along.iter().enumerate().map(|(d, e)| (place + d as u32, c * (q * e)));
                self.shares.extend(shares);
                let end = self.shares.len();
                match self.contacts[body].last_mut() {
                    Some(last) if (last.0 as usize, last.2) == (i, begin) => last.2 = end,
                    _ => self.contacts[body].push((i as u32, begin, end)),
                }
            }
        }
    }

    /// The operator with the present factors.
    pub(crate) fn update(&mut self, parts: &mut Parts, scale: f64) -> Result<(), FactorError> {
        let size = 3 * self.frames.len();
        parts.flexibility(&self.touched, &mut self.flexibility)?;
        self.w.clear();
        self.w.try_reserve(size * size).map_err(|_| FactorError::Memory { size })?;
        self.w.resize(size * size, 0.0);
        for ((contacts, c), touched) in self.contacts.iter().zip(&self.flexibility).zip(&self.touched) {
            let m = touched.len();
            for &(j, from, to) in contacts {
                // what the touched unknowns do when contact j pushes along its rows
                self.answer.clear();
                self.answer.resize(m, Vec3::zeros());
                for &(b, g) in &self.shares[from..to] {
                    let column = &c[b as usize * m..(b as usize + 1) * m];
                    self.answer.iter_mut().zip(column).for_each(|(to, c)| *to += *c * g);
                }
                for &(i, from, to) in contacts {
                    let mut block = Mat3::zeros();
                    for &(a, g) in &self.shares[from..to] {
                        block += g * self.answer[a as usize].transpose();
                    }
                    for q in 0..3 {
                        let at = (3 * j as usize + q) * size + 3 * i as usize;
                        for p in 0..3 {
                            self.w[at + p] += scale * block[(p, q)];
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
