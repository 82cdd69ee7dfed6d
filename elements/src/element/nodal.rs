//! Node-based integration for tet4 and hex8: the strain of a node is the mean over its part of the cells around it.
//!
//! Linear tets lock and are too stiff; with one mean gradient per node (Dohrmann et al. 2000, Puso & Solberg 2006) they are
//! about as good as hexes. What the mean does not see is held by a small share of the law in every cell:
//!
//! ```text
//! V_I = Σ |Ω_e^I|      b_Ib = 1/V_I Σ_e ∫_{Ω_e^I} ∇N_b dV      F_I = 1 + Σ_b u_b ⊗ b_Ib
//! node       V_I [W(F_I) − α W̃(F_I)]          force on b: V_I (P − α P̃) b_Ib
//! cell       α ∫ W̃(F) dV
//! ```
//!
//! `Ω_e^I` is a quarter of a tet, an octant of a hex in its reference coordinates. W̃ is a law that does not lock itself, see
//! [`softened`]; for a constant gradient both add up to W. Nodes and cells are the *potentials* of the block, nodes first.
//!
//! **Mass** for stable steps: a node stands for the share 1 − θ of its parts of the cells, a cell for θ of its own. The
//! shares of all potentials add up to the mass, so the smallest of their steps is safe for the mesh; `step` finds those of
//! nodes.

mod laws;
mod step;
mod tangent;

use super::patch::{Patches, Record, Scratch};
use super::solid::{Solid, SolidOptions};
use super::{Between, BetweenPass, Block, Element, ElementStress, Pass, PointState, PointStress, Positions};
use crate::material::Material;
use crate::math::tensor::{full, green_strain, small_strain};
use crate::math::{Mat3, Vec3};
use crate::mesh::{CellKind, shape_functions};
use laws::{Rest, Share};
use std::collections::BTreeMap;
use std::ops::Range;
use step::{deformed_frequency_squared, frequency_squared};

/// Share of the law that is integrated cell by cell.
pub const STABILISATION: f64 = 0.05;
/// Share of the mass that the cells' part stands for.
const CELLS_MASS: f64 = 0.2;

/// The mean gradient of one node.
struct Stencil {
    /// V_I [m³]
    volume: f64,
    /// (node, b_Ib [1/m], share of its mass [kg]), ascending.
    members: Vec<(u32, Vec3, f64)>,
}

/// Cells of kind `E` with law `M`, integrated by nodes.
pub struct Nodal<E, M> {
    /// W − α W̃.
    rest: Rest<M>,
    whole: Solid<E, M>,
    cells: Solid<E, Share<M>>,
    /// Nodes of the block: `members[start[i]..start[i + 1]]` is the stencil of node potential `i`.
    start: Vec<u32>,
    members: Vec<(u32, Vec3, f64)>,
    /// Nodes of `members`.
    member_nodes: Vec<u32>,
    volume: Vec<f64>,
    patches: Patches,
    steps: Vec<f64>,
}

impl<E: Element, M: Material + Clone> Nodal<E, M> {
    /// `soft` is the law of the stabilisation, `law` itself or one that is [`softened`].
    pub fn new(law: M, soft: M, connectivity: Vec<u32>, reference: &[Vec3], alpha: f64) -> Self {
        assert!(M::STATE == 0, "a law that keeps numbers needs a point of its own for them");
        let share = Share { law: soft.clone(), factor: alpha, density: CELLS_MASS * law.density() };
        let options = SolidOptions::default();
        let mut cells = Solid::new(share, connectivity.clone(), reference, &options);
        let whole = Solid::new(law.clone(), connectivity.clone(), reference, &options);
        let stencils = stencils(E::KIND, &connectivity, reference, law.density());
        let rest = Rest { law, soft, factor: alpha };
        let lame = rest.lame();
        let mut steps: Vec<f64> =
            stencils.values().map(|s| 2.0 / frequency_squared(s.volume, &s.members, lame).sqrt()).collect();
        cells.first = steps.len();
        steps.extend(cells.stable_steps());
        let mut block = Nodal {
            rest,
            whole,
            cells,
            start: vec![0],
            members: Vec::new(),
            member_nodes: Vec::new(),
            volume: Vec::new(),
            patches: Patches::default(),
            steps,
        };
        for stencil in stencils.into_values() {
            block.members.extend(stencil.members);
            block.start.push(block.members.len() as u32);
            block.volume.push(stencil.volume);
        }
        block.member_nodes = block.members.iter().map(|m| m.0).collect();
        let all: Vec<u32> = (0..block.potentials() as u32).collect();
        block.patches = block.patches_of(&all, reference);
        block
    }

    fn nodes(&self) -> usize {
        self.volume.len()
    }

    fn members_of(&self, node: usize) -> &[(u32, Vec3, f64)] {
        &self.members[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// Forces of the node potentials of a patch, and the smallest of their stable steps if it is asked for.
    fn nodes_pass(
        &self,
        patches: &Patches,
        patch: usize,
        records: &[Record],
        measure_step: bool,
        forces: &mut [Vec3],
    ) -> Pass {
        let mut pass = Pass { det_f: f64::INFINITY, step: f64::INFINITY, ..Pass::default() };
        let mut local = patches.local(patch);
        for &i in &patches.elements()[patches.range(patch)] {
            let stencil = self.members_of(i as usize);
            let (mine, rest) = local.split_at(stencil.len());
            local = rest;
            let mut h = [[0.0; 3]; 3];
            for ((_, b, _), &k) in stencil.iter().zip(mine) {
                let u = &records[k as usize].displacement;
                for r in 0..3 {
                    for c in 0..3 {
                        h[r][c] += u[r] * b[c];
                    }
                }
            }
            let strain = if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) };
            let (energy, s) = self.rest.respond(&strain, &mut []);
            let volume = self.volume[i as usize];
            pass.energy += volume * energy;
            let stress = full(&s.map(|s| volume * s));
            let mut p = stress;
            if !M::SMALL_STRAIN {
                let mut f = h;
                for k in 0..3 {
                    f[k][k] += 1.0;
                }
                pass.det_f = pass.det_f.min(crate::math::tensor::det(&f));
                p = crate::math::tensor::mul(&f, &stress);
                if measure_step {
                    let d = self.rest.tangent(&strain, &[]);
                    let tangent = |a: usize, b: usize| volume * d[a][b];
                    let squared = deformed_frequency_squared(stencil, &f, &stress, tangent);
                    pass.step = pass.step.min(2.0 / squared.sqrt());
                }
            }
            if measure_step {
                pass.step = pass.step.min(self.steps[i as usize]);
            }
            for ((_, b, _), &k) in stencil.iter().zip(mine) {
                let force = &mut forces[k as usize];
                for r in 0..3 {
                    force[r] += p[r][0] * b.x + p[r][1] * b.y + p[r][2] * b.z;
                }
            }
        }
        pass
    }
}

/// What cells have added to a stencil so far: gradients are not divided yet.
#[derive(Default)]
struct Gathered {
    volume: f64,
    members: BTreeMap<u32, (Vec3, f64)>,
}

/// Mean gradients of all nodes of some cells, by node.
fn stencils(
    kind: CellKind,
    connectivity: &[u32],
    reference: &[Vec3],
    density: f64,
) -> BTreeMap<u32, Stencil> {
    let count = kind.nodes();
    let mut all: BTreeMap<u32, Gathered> = BTreeMap::new();
    for cell in connectivity.chunks_exact(count) {
        let x: Vec<Vec3> = cell.iter().map(|&n| reference[n as usize]).collect();
        let whole = shape_functions::measure(kind, &x);
        let mass = lumped(kind, &x, density);
        for (a, &node) in cell.iter().enumerate() {
            let (mut volume, mut gradients) = (0.0, [Vec3::zeros(); 8]);
            for (xi, weight) in part_points(kind, a) {
                let j = shape_functions::jacobian(kind, &x, xi);
                let dv = weight * j.determinant();
                let inverse = j.try_inverse().unwrap_or_else(Mat3::zeros).transpose();
                volume += dv;
                for (g, d) in gradients.iter_mut().zip(shape_functions::gradients(kind, xi)) {
                    *g += dv * (inverse * d);
                }
            }
            let part = all.entry(node).or_default();
            part.volume += volume;
            for (b, &other) in cell.iter().enumerate() {
                let member = part.members.entry(other).or_default();
                member.0 += gradients[b];
                member.1 += (1.0 - CELLS_MASS) * volume / whole * mass[b];
            }
        }
    }
    let finish = |(node, part): (u32, Gathered)| {
        let members = part.members.into_iter().map(|(n, (b, m))| (n, b / part.volume, m)).collect();
        (node, Stencil { volume: part.volume, members })
    };
    all.into_iter().map(finish).collect()
}

/// ∫ρNₐ of a cell [kg].
fn lumped(kind: CellKind, x: &[Vec3], density: f64) -> [f64; 8] {
    let mut mass = [0.0; 8];
    if kind == CellKind::Tet4 {
        return [0.25 * density * shape_functions::measure(kind, x); 8];
    }
    for a in 0..8 {
        for (xi, weight) in part_points(kind, a) {
            let dm = density * weight * shape_functions::jacobian(kind, x, xi).determinant();
            let n = shape_functions::values(kind, xi);
            mass.iter_mut().zip(n).for_each(|(m, n)| *m += dm * n);
        }
    }
    mass
}

/// Points and weights of the part of a cell that belongs to its corner `a`. In an octant one point is not enough: the
/// gradient of a distorted hex is not linear in it.
fn part_points(kind: CellKind, a: usize) -> Vec<(Vec3, f64)> {
    if kind == CellKind::Tet4 {
        return vec![(Vec3::repeat(0.25), 1.0 / 24.0)];
    }
    let corner = shape_functions::corner(kind, a);
    let g = 0.5 / f64::sqrt(3.0);
    (0..8)
        .map(|q| {
            let sign = |j: usize| if (q >> j) & 1 == 1 { g } else { -g };
            (0.5 * corner + Vec3::new(sign(0), sign(1), sign(2)), 0.125)
        })
        .collect()
}

impl<E: Element, M: Material + Clone> Block for Nodal<E, M> {
    fn kind(&self) -> CellKind {
        E::KIND
    }
    fn len(&self) -> usize {
        self.whole.len()
    }
    fn patches(&self) -> &Patches {
        &self.patches
    }
    fn state_per_element(&self) -> usize {
        0
    }
    fn potentials(&self) -> usize {
        self.nodes() + self.len()
    }

    fn patches_of(&self, potentials: &[u32], reference: &[Vec3]) -> Patches {
        let nodes = self.nodes() as u32;
        let split = potentials.partition_point(|&p| p < nodes);
        let stencil = |i: u32| self.members_of(i as usize).iter().map(|m| (m.0, 0));
        let mut patches = Patches::of_stencils(&potentials[..split], stencil, |_| 0, reference);
        let cells: Vec<u32> = potentials[split..].iter().map(|p| p - nodes).collect();
        patches.append(&self.cells.patches_of(&cells, reference), nodes);
        patches
    }

    fn mass_shares(&self, potential: usize, reference: &[Vec3], visit: &mut dyn FnMut(u32, f64)) {
        match potential.checked_sub(self.nodes()) {
            Some(cell) => self.cells.mass_shares(cell, reference, visit),
            None => self.members_of(potential).iter().for_each(|&(n, _, m)| visit(n, m)),
        }
    }

    fn small_strain(&self) -> bool {
        M::SMALL_STRAIN
    }

    fn force_pass_on(
        &self,
        patches: &Patches,
        patch: usize,
        positions: Positions,
        state: PointState,
        measure_step: bool,
        scratch: &mut Scratch,
        forces: &mut [Vec3],
    ) -> Pass {
        let first = patches.elements()[patches.range(patch).start] as usize;
        if first >= self.nodes() {
            return self.cells.force_pass_on(patches, patch, positions, state, measure_step, scratch, forces);
        }
        let records = &mut scratch.nodes;
        records.clear();
        records.extend(patches.nodes(patch).iter().map(|&n| {
            let u = positions.current[n as usize] - positions.reference[n as usize];
            Record::new(Vec3::zeros(), u)
        }));
        forces.fill(Vec3::zeros());
        self.nodes_pass(patches, patch, records, measure_step, forces)
    }

    fn smallest_det_f(&self, element: usize, positions: Positions) -> f64 {
        self.whole.smallest_det_f(element, positions)
    }
    fn stencil(&self, potential: usize) -> &[u32] {
        match potential.checked_sub(self.nodes()) {
            Some(cell) => self.cells.stencil(cell),
            None => &self.member_nodes[self.start[potential] as usize..self.start[potential + 1] as usize],
        }
    }
    fn tangent(&self, potential: usize, positions: Positions, out: &mut [f64]) {
        match potential.checked_sub(self.nodes()) {
            Some(cell) => self.cells.tangent(cell, positions, out),
            None => self.node_tangent(potential, positions, out),
        }
    }
    fn conserves(&self) -> bool {
        true
    }
    fn force_between(&self, potential: usize, between: Between, forces: &mut [Vec3]) -> BetweenPass {
        match potential.checked_sub(self.nodes()) {
            Some(cell) => self.cells.force_between(cell, between, forces),
            None => self.node_force_between(potential, between, forces),
        }
    }
    fn tangent_between(&self, potential: usize, between: Between, out: &mut [f64]) {
        match potential.checked_sub(self.nodes()) {
            Some(cell) => self.cells.tangent_between(cell, between, out),
            None => self.node_tangent_between(potential, between, out),
        }
    }
    fn add_lumped_mass(&self, reference: &[Vec3], out: &mut [f64]) {
        self.whole.add_lumped_mass(reference, out);
    }
    fn consistent_mass(&self, element: usize, reference: &[Vec3], out: &mut [f64]) {
        self.whole.consistent_mass(element, reference, out);
    }
    fn volume(&self, element: usize, reference: &[Vec3]) -> f64 {
        self.whole.volume(element, reference)
    }
    /// Of all potentials.
    fn stable_steps(&self) -> &[f64] {
        &self.steps
    }
    /// That of the cell's own gradient.
    fn stress(&self, element: usize, positions: Positions, visit: &mut dyn FnMut(PointStress)) {
        self.whole.stress(element, positions, visit);
    }
    fn stress_of(
        &self,
        elements: Range<usize>,
        positions: Positions,
        means: bool,
        out: &mut [ElementStress],
    ) {
        self.whole.stress_of(elements, positions, means, out);
    }
    fn density(&self) -> f64 {
        self.rest.density()
    }
    fn bytes(&self) -> usize {
        self.whole.bytes() + self.cells.bytes() + self.members.len() * 44 + self.patches.bytes()
    }
    fn flops(&self) -> u64 {
        self.cells.flops()
    }
}

#[cfg(test)]
mod tests;
