//! The velocity update: an impulse of every point that gives the energy back which its penalties took.
//!
//! ```text
//! v⁺ = 2Δd/Δt − v + M⁻¹ Σ k_l r_l        r_l = w j [t_N N − t_a D^a] of the end of the step
//! A_lk = ½ r_lᵀM⁻¹r_k     b_l = r_l·v̂     c_l = −Δt w j (t_N v_N + t_a v^a − 𝒟)     𝒟 = t_a v^a where it slips, else 0
//! ```
//!
//! With the roots of `k_l (A k)_l + b_l k_l + c_l = 0` the step loses exactly what friction takes, `Δt w j 𝒟`. Each r_l is in balance and
//! without moment at the end of the step, so momenta do not change. Points that share no node are solved apart ([`Quadratics`]).

use super::kinematics::NODES;
use super::mass::Consistent;
use super::potential::Quadratics;
use super::traction::Contact;
use crate::math::Vec3;
use crate::math::sets::Sets;
use crate::model::inertia::Inertia;
use crate::solve::assembly::Unknowns;
use crate::solve::sparse::{Matrix, Shape};

/// Impulses of all points.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// r_l at the nodes of `Contact::end`.
    pub shapes: Vec<[Vec3; NODES]>,
    /// k_l.
    pub sizes: Vec<f64>,
    /// Energy that the quadratics put in though it was not asked for [J]: what was bounded or had the wrong sign.
    pub correction: f64,
    /// Sets of points whose impulses had to be bounded.
    pub bounded: u32,
}

impl Update {
    /// Finds the impulses for `contacts` in a step of length `dt` that ends with velocities `v` (obstacles too) without them.
    pub fn new(contacts: &[Contact], inertia: &Inertia, v: &[Vec3], dt: f64) -> Update {
        let shapes: Vec<[Vec3; NODES]> = contacts.iter().map(Contact::impulse_shape).collect();
        let soft = inertia.inverse.len();
        let mut update = Update { sizes: vec![0.0; contacts.len()], shapes, ..Update::default() };
        // points of each node that gives way, as (node, contact, place)
        let mut at_node: Vec<(u32, u32, u8)> = Vec::new();
        for (l, contact) in contacts.iter().enumerate() {
            for (i, &k) in contact.end.nodes[..contact.end.count].iter().enumerate() {
                if (k as usize) < soft && !inertia.fixed(k as usize) {
                    at_node.push((k, l as u32, i as u8));
                }
            }
        }
        at_node.sort_unstable();
        let sharing: Vec<&[(u32, u32, u8)]> = at_node.chunk_by(|a, b| a.0 == b.0).collect();
        for island in islands(contacts.len(), &sharing) {
            update.solve(contacts, inertia, v, dt, &island, &sharing);
        }
        update
    }

    /// The same with a mass that couples nodes: every point answers to every other.
    pub fn consistent(
        contacts: &[Contact],
        mass: &mut Consistent,
        unknowns: &Unknowns,
        v: &[Vec3],
        dt: f64,
    ) -> Update {
        let shapes: Vec<[Vec3; NODES]> = contacts.iter().map(Contact::impulse_shape).collect();
        let n = contacts.len();
        let mut update = Update { sizes: vec![0.0; n], shapes, ..Update::default() };
        if n == 0 {
            return update;
        }
        let soft = unknowns.nodes();
        let spread = |l: usize, to: &mut [f64]| {
            to.fill(0.0);
            let end = &contacts[l].end;
            for (r, &k) in update.shapes[l].iter().zip(&end.nodes[..end.count]) {
                if (k as usize) < soft {
                    unknowns.add_to_unknowns(k as usize, r, to);
                }
            }
        };
        let (mut answer, mut own) = (vec![0.0; unknowns.count], vec![0.0; unknowns.count]);
        let mut a = Matrix { size: n, shape: Shape::Symmetric, starts: vec![0], ..Matrix::default() };
        for column in 0..n {
            spread(column, &mut answer);
            if mass.answer(&mut answer).is_err() {
                return Update { sizes: vec![0.0; n], ..update };
            }
            for row in column..n {
                spread(row, &mut own);
                a.rows.push(row);
                a.values.push(0.5 * own.iter().zip(&answer).map(|(p, q)| p * q).sum::<f64>());
            }
            a.starts.push(a.rows.len());
        }
        let island: Vec<u32> = (0..n as u32).collect();
        update.settle(contacts, v, dt, &island, a);
        update
    }

    /// Solves for the points of one island, ascending.
    fn solve(
        &mut self,
        contacts: &[Contact],
        inertia: &Inertia,
        v: &[Vec3],
        dt: f64,
        island: &[u32],
        sharing: &[&[(u32, u32, u8)]],
    ) {
        let n = island.len();
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|l| (l, l, 0.0)).collect();
        let local = |l: u32| island.binary_search(&l).ok();
        for node in sharing {
            let Some(_) = local(node[0].1) else { continue };
            let inverse = inertia.of(node[0].0 as usize);
            for &(_, p, i) in *node {
                let Some(column) = local(p) else { continue };
                let answer = inverse * self.shapes[p as usize][usize::from(i)];
                for &(_, q, j) in *node {
                    let Some(row) = local(q) else { continue };
                    if row >= column {
                        let a = 0.5 * self.shapes[q as usize][usize::from(j)].dot(&answer);
                        entries.push((column, row, a));
                    }
                }
            }
        }
        // the order of nodes is that of their numbers: a stable sort keeps every sum the same
        entries.sort_by_key(|e| (e.0, e.1));
        let mut a = Matrix { size: n, shape: Shape::Symmetric, starts: vec![0], ..Matrix::default() };
        let mut last = None;
        for (column, row, value) in entries {
            if last == Some((column, row)) {
                if let Some(sum) = a.values.last_mut() {
                    *sum += value;
                }
                continue;
            }
            last = Some((column, row));
            while a.starts.len() <= column {
                a.starts.push(a.rows.len());
            }
            a.rows.push(row);
            a.values.push(value);
        }
        a.starts.push(a.rows.len());
        self.settle(contacts, v, dt, island, a);
    }

    /// The quadratics of an island whose A is known.
    fn settle(&mut self, contacts: &[Contact], v: &[Vec3], dt: f64, island: &[u32], a: Matrix) {
        let n = island.len();
        let (mut b, mut c) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for &l in island {
            let contact = &contacts[l as usize];
            let nodes = contact.end.nodes[..contact.end.count].iter();
            b.push(nodes.zip(&self.shapes[l as usize]).map(|(&k, r)| r.dot(&v[k as usize])).sum());
            let lost = if contact.slips { 0.0 } else { contact.shear_power() };
            c.push(-dt * contact.weight * (contact.pressure * contact.closing + lost));
        }
        // nobody gives way: there is nothing to update
        if a.starts[..n].iter().any(|&s| a.values[s] <= 0.0) {
            self.correction += c.iter().sum::<f64>();
            return;
        }
        let mut quadratics = Quadratics { a, b, c };
        let wanted = quadratics.c.clone();
        quadratics.c.iter_mut().for_each(|c| *c = c.min(0.0));
        let found = quadratics.solve();
        quadratics.c = wanted;
        self.bounded += u32::from(found.bounded);
        self.correction += quadratics.lack(&found.k).iter().sum::<f64>();
        for (&l, k) in island.iter().zip(found.k) {
            self.sizes[l as usize] = k;
        }
    }
}

/// Points that share nodes, directly or by others; each set ascending, in the order of their first.
fn islands(count: usize, sharing: &[&[(u32, u32, u8)]]) -> Vec<Vec<u32>> {
    let mut together = Sets::default();
    together.reset(count);
    for node in sharing {
        for pair in node.windows(2) {
            together.join(pair[0].1, pair[1].1);
        }
    }
    let mut sets: Vec<Vec<u32>> = Vec::new();
    let mut of = vec![u32::MAX; count];
    for l in 0..count as u32 {
        let first = &mut of[together.lowest(l) as usize];
        if *first == u32::MAX {
            *first = sets.len() as u32;
            sets.push(Vec::new());
        }
        sets[*first as usize].push(l);
    }
    sets
}
