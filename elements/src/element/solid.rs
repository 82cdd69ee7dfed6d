//! A block out of any element and any law.
//!
//! The kernels are monomorphised over both and run on batches: as many elements side by side as a register
//! holds, chosen at run time once per patch. A batch is the same computation for one element and for eight,
//! so an element's force has the same bits whoever its neighbours in the batch are.

use super::deformed_step::StepPass;
use super::patch::{Force, Patches, Record, Scratch};
use super::stable_step::{self, AtRest, Steps};
use super::{
    Between, BetweenPass, Block, Element, ElementStress, MassPoint, Pass, PointState, PointStress, Positions,
    between, tangent,
};
use crate::material::{Material, von_mises};
use crate::math::lane::{Count, Lane, MAX_WIDTH, OnLanes, dispatch, dispatch_rarely};
use crate::math::tensor::{
    INDEX, Matrix, Sym, cofactor, det, dot, full, green_strain, mul, mul_transposed, plus_identity, scale,
    small_strain,
};
use crate::math::{Mat3, Vec3};
use crate::mesh::{CellKind, MOST_NODES};
use std::marker::PhantomData;
use std::ops::Range;

/// Most numbers a law may keep at the points of one element.
pub(super) const MAX_STATE: usize = 64;

/// Elements of kind `E` with law `M`.
pub struct Solid<E, M> {
    law: M,
    /// What one unit of the element's own measure weighs: 1 (3D), thickness [m] (2D), area [m²] (1D).
    section: f64,
    /// Stiffness against hourglass modes [Pa].
    hourglass: f64,
    connectivity: Vec<u32>,
    patches: Patches,
    /// Stable steps of each element in the reference shape.
    steps: Steps,
    /// Number of its first element in patches that are not its own.
    pub(super) first: usize,
    element: PhantomData<E>,
}

/// What a block is made from.
pub struct SolidOptions {
    /// 1 in 3D, thickness [m] in 2D, area [m²] in 1D.
    pub section: f64,
    /// Hourglass stiffness as a share of λ + 2μ; used by one-point elements.
    pub hourglass: f64,
}

impl Default for SolidOptions {
    fn default() -> Self {
        // A tenth: the modes stay small and bending is not made stiffer than the full integration makes it.
        SolidOptions { section: 1.0, hourglass: 0.1 }
    }
}

/// What the kernel finds for one batch.
struct Answer<N, L> {
    force: N,
    energy: L,
    hourglass: L,
    det_f: L,
}

impl<E: Element, M: Material> Solid<E, M> {
    /// `connectivity` holds the global node ids of the elements, `reference` where all nodes of the model start.
    pub fn new(law: M, connectivity: Vec<u32>, reference: &[Vec3], options: &SolidOptions) -> Self {
        assert!(E::POINTS * M::STATE <= MAX_STATE, "a law may keep at most {MAX_STATE} numbers per element");
        let patches = Patches::new(&connectivity, E::KIND.nodes(), reference);
        let lame = law.lame();
        let hourglass = options.hourglass * (lame.lambda + 2.0 * lame.mu);
        let mut block = Solid {
            law,
            section: options.section,
            hourglass,
            connectivity,
            patches,
            steps: Steps::default(),
            first: 0,
            element: PhantomData,
        };
        let rest = AtRest {
            connectivity: &block.connectivity,
            density: block.law.density(),
            tangent: block.law.tangent(&[0.0; 6], &[0.0; MAX_STATE][..M::STATE]),
            hourglass,
        };
        block.steps = stable_step::of_block::<E>(&rest, reference);
        block
    }

    fn nodes(&self, element: usize) -> &[u32] {
        let n = E::KIND.nodes();
        &self.connectivity[element * n..(element + 1) * n]
    }

    /// Nodal vectors of one element as a single lane.
    fn gather_one(&self, element: usize, field: impl Fn(usize) -> Vec3) -> E::Nodal<f64> {
        let mut out = E::nodal(0.0);
        for (row, &n) in out.as_mut().iter_mut().zip(self.nodes(element)) {
            *row = field(n as usize).into();
        }
        out
    }

    /// Reference positions and displacements at both ends of a step.
    fn gather_between(&self, element: usize, between: Between) -> (E::Nodal<f64>, [E::Nodal<f64>; 2]) {
        let of = |x: &[Vec3]| self.gather_one(element, |n| x[n] - between.reference[n]);
        (self.gather_one(element, |n| between.reference[n]), [of(between.start), of(between.end)])
    }

    fn write_tangent(&self, k: &[[f64; tangent::SIZE]; tangent::SIZE], out: &mut [f64]) {
        for (to, from) in out.chunks_exact_mut(3 * E::KIND.nodes()).zip(k) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from * self.section;
            }
        }
    }

    /// Strain, deformation gradient and volume at one point, for those who need one element at a time.
    fn point_kinematics(
        &self,
        shape: &E::Shape<f64>,
        gradient: &E::Gradient<f64>,
        q: usize,
    ) -> (Sym<f64>, Matrix<f64>, f64) {
        let j = E::jacobian(shape, q);
        let c = cofactor(&j);
        let volume = dot(j[0], c[0]);
        let mut h = mul_transposed(&E::at(gradient, q), &c);
        h.iter_mut().flatten().for_each(|x| *x /= volume);
        let strain = if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) };
        (strain, h, volume * E::weight(q) * self.section)
    }

    /// Displacement gradient to force, for one batch.
    #[inline(always)]
    fn kernel<L: Lane>(
        &self,
        reference: &E::Nodal<L>,
        displacement: &E::Nodal<L>,
        state: &mut [L],
    ) -> Answer<E::Nodal<L>, L> {
        let like = reference.as_ref()[0][0];
        let one = like.of(1.0);
        let shape = E::shape(reference);
        let gradient = E::gradient(&shape, displacement);
        let mut r = E::zero(like);
        let mut energy = like.of(0.0);
        let mut det_f = like.of(f64::INFINITY);
        for q in 0..E::POINTS {
            let j = E::jacobian(&shape, q);
            // J⁻¹ = cᵀ / det J
            let c = cofactor(&j);
            let det_j = dot(j[0], c[0]);
            let inverse = one / det_j;
            let h = scale(&mul_transposed(&E::at(&gradient, q), &c), inverse);
            let strain = if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) };
            let point_state = &mut state[q * M::STATE..(q + 1) * M::STATE];
            let (density, s) = self.law.respond(&strain, point_state);
            energy = density.mul_add(det_j * E::weight(q), energy);
            // w det J P J⁻ᵀ = w P c
            let wc = scale(&c, like.of(E::weight(q)));
            let p = if M::SMALL_STRAIN {
                full(&s)
            } else {
                let f = plus_identity(&h);
                det_f = det_f.min(det(&f));
                mul_transposed(&f, &full(&s))
            };
            E::add(&mut r, q, &mul(&p, &wc));
        }
        let mut force = E::spread(&shape, &r);
        let mut hourglass = like.of(0.0);
        if E::HOURGLASS {
            let (e, f) = E::hourglass(reference, &shape, displacement, self.hourglass);
            hourglass = e * self.section;
            energy += e;
            for (a, b) in force.as_mut().iter_mut().zip(f.as_ref()) {
                for i in 0..3 {
                    a[i] += b[i];
                }
            }
        }
        energy = energy * self.section;
        for [x, y, z] in force.as_mut() {
            (*x, *y, *z) = (*x * self.section, *y * self.section, *z * self.section);
        }
        Answer { force, energy, hourglass, det_f }
    }
}

impl<E: Element, M: Material> Solid<E, M> {
    /// What [`ElementStress`] has of a batch: sums over its points of volume, volume times Cauchy stress, volume times von Mises stress, and
    /// the largest of that; without `means` the last alone, which saves two roots a point.
    #[inline(always)]
    fn stress_of_batch<L: Lane>(
        &self,
        reference: &E::Nodal<L>,
        displacement: &E::Nodal<L>,
        means: bool,
    ) -> [L; 9] {
        let zero = reference.as_ref()[0][0].of(0.0);
        let shape = E::shape(reference);
        let gradient = E::gradient(&shape, displacement);
        let mut state = [zero; MAX_STATE];
        let mut sums = [zero; 9];
        for q in 0..E::POINTS {
            let c = cofactor(&E::jacobian(&shape, q));
            let det_j = dot(E::jacobian(&shape, q)[0], c[0]);
            let h = scale(&mul_transposed(&E::at(&gradient, q), &c), zero.of(1.0) / det_j);
            let strain = if M::SMALL_STRAIN { small_strain(&h) } else { green_strain(&h) };
            let point_state = &mut state[q * M::STATE..(q + 1) * M::STATE];
            let full_strain = self.law.full_strain(&strain, point_state);
            // τ = F S Fᵀ and J², as in `stress`
            let (mut tau, mut square) = (full(&self.law.respond(&strain, point_state).1), zero.of(1.0));
            if !M::SMALL_STRAIN {
                let f = plus_identity(&h);
                square = det(&plus_identity(&scale(&full(&full_strain), zero.of(2.0))));
                tau = mul_transposed(&mul(&f, &tau), &f);
            }
            let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = tau;
            let normal = (xx - yy).square() + (yy - zz).square() + (zz - xx).square();
            let shear = xy.square() + yz.square() + xz.square();
            let mises_square = (normal * 0.5 + shear * 3.0) / square;
            sums[8] = sums[8].max(mises_square);
            if means {
                let volume = det_j * (E::weight(q) * self.section);
                let over_j = volume / square.sqrt();
                sums[0] += volume;
                for (sum, x) in sums[1..7].iter_mut().zip([xx, yy, zz, xy, yz, xz]) {
                    *sum += over_j * x;
                }
                sums[7] += volume * mises_square.sqrt();
            }
        }
        sums[8] = sums[8].sqrt();
        sums
    }
}

/// Puts the nodes of one batch of elements side by side.
#[inline(always)]
pub(super) fn load_batch<E: Element, L: Lane>(
    token: L::Token,
    records: &[Record],
    batch: &[u16],
    reference: &mut E::Nodal<L>,
    displacement: &mut E::Nodal<L>,
) {
    let nodes = E::KIND.nodes();
    for a in 0..nodes {
        let record = |l: usize| &records[batch[l * nodes + a] as usize];
        let [x, y, z, _] = L::columns(token, |l| record(l).reference);
        let [u, v, w, _] = L::columns(token, |l| record(l).displacement);
        reference.as_mut()[a] = [x, y, z];
        displacement.as_mut()[a] = [u, v, w];
    }
}

/// What the law kept for a batch that begins with element `first` of the patch and has `valid` elements.
#[inline(always)]
pub(super) fn load_state<L: Lane>(token: L::Token, old: &[f64], first: usize, valid: usize, state: &mut [L]) {
    let per_element = state.len();
    let mut column = [0.0; MAX_WIDTH];
    for (k, x) in state.iter_mut().enumerate() {
        for (l, to) in column[..L::WIDTH].iter_mut().enumerate() {
            *to = old[(first + l.min(valid - 1)) * per_element + k];
        }
        *x = L::load(token, &column);
    }
}

/// One force pass over a patch.
struct PatchPass<'a, E, M> {
    block: &'a Solid<E, M>,
    patches: &'a Patches,
    patch: usize,
    records: &'a [Record],
    old: &'a [f64],
    new: &'a mut [f64],
    forces: &'a mut [Force],
}

impl<E: Element, M: Material> OnLanes for PatchPass<'_, E, M> {
    type Output = Pass;

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) -> Pass {
        let block = self.block;
        let (nodes, width) = (E::KIND.nodes(), L::WIDTH);
        let range = self.patches.range(self.patch);
        let local = self.patches.local(self.patch);
        let per_element = E::POINTS * M::STATE;
        let mut pass = Pass { det_f: f64::INFINITY, step: f64::INFINITY, ..Pass::default() };
        let zero = L::splat(token, 0.0);
        let (mut reference, mut displacement) = (E::nodal(zero), E::nodal(zero));
        let mut state = [zero; MAX_STATE];
        let mut column = [0.0; MAX_WIDTH];
        let mut force = [[[0.0; 4]; MAX_WIDTH]; MOST_NODES];
        let mut det_f = L::splat(token, f64::INFINITY);
        for first in (0..range.len()).step_by(width) {
            let batch = &local[first * nodes..(first + width) * nodes];
            load_batch::<E, L>(token, self.records, batch, &mut reference, &mut displacement);
            let valid = width.min(range.len() - first);
            load_state(token, self.old, first, valid, &mut state[..per_element]);
            let answer = block.kernel::<L>(&reference, &displacement, &mut state[..per_element]);
            for (k, x) in state[..per_element].iter().enumerate() {
                x.store(&mut column);
                for l in 0..valid {
                    self.new[(first + l) * per_element + k] = column[l];
                }
            }
            // Scattered and added up element by element: the same order for every width.
            for (to, &[x, y, z]) in force.iter_mut().zip(answer.force.as_ref()) {
                L::records([x, y, z, zero], to);
            }
            for l in 0..valid {
                for a in 0..nodes {
                    let f = &mut self.forces[batch[l * nodes + a] as usize].0;
                    for (f, part) in f.iter_mut().zip(&force[a][l]) {
                        *f += part;
                    }
                }
            }
            answer.energy.store(&mut column);
            column[..valid].iter().for_each(|e| pass.energy += e);
            if E::HOURGLASS {
                answer.hourglass.store(&mut column);
                column[..valid].iter().for_each(|e| pass.hourglass += e);
            }
            // lanes beyond the last element repeat it
            det_f = answer.det_f.if_less(det_f, answer.det_f, det_f);
        }
        if !M::SMALL_STRAIN {
            det_f.store(&mut column);
            pass.det_f = column[..width].iter().fold(f64::INFINITY, |least, &d| least.min(d));
        }
        pass
    }
}

/// The stress of each of some elements.
struct StressPass<'a, E, M> {
    block: &'a Solid<E, M>,
    elements: Range<usize>,
    positions: Positions<'a>,
    means: bool,
    out: &'a mut [ElementStress],
}

impl<E: Element, M: Material> OnLanes for StressPass<'_, E, M> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let (nodes, count) = (E::KIND.nodes(), self.elements.len());
        let zero = L::splat(token, 0.0);
        let (mut reference, mut displacement) = (E::nodal(zero), E::nodal(zero));
        let mut columns = [[0.0; MAX_WIDTH]; 9];
        for first in (0..count).step_by(L::WIDTH) {
            let valid = L::WIDTH.min(count - first);
            for a in 0..nodes {
                let of = |all: &[Vec3], l: usize| {
                    let element = self.elements.start + first + l.min(valid - 1);
                    let p = all[self.block.connectivity[element * nodes + a] as usize];
                    [p.x, p.y, p.z, 0.0]
                };
                let [x, y, z, _] = L::columns(token, |l| of(self.positions.reference, l));
                let [u, v, w, _] = L::columns(token, |l| of(self.positions.current, l));
                reference.as_mut()[a] = [x, y, z];
                displacement.as_mut()[a] = [u - x, v - y, w - z];
            }
            let sums = self.block.stress_of_batch(&reference, &displacement, self.means);
            columns.iter_mut().zip(sums).for_each(|(column, sum)| sum.store(column));
            for (l, out) in self.out[first..first + valid].iter_mut().enumerate() {
                let [volume, xx, yy, zz, xy, yz, xz, von_mises, largest] = columns.map(|column| column[l]);
                *out = ElementStress { volume, cauchy: [xx, yy, zz, xy, yz, xz], von_mises, largest };
                if self.means {
                    out.divide();
                }
            }
        }
    }
}

/// On wide registers, or one number at a time for laws that are not worth a kernel for each.
fn if_wide<M: Material, O: OnLanes>(dispatch: fn(O) -> O::Output, computation: O) -> O::Output {
    if M::WIDE { dispatch(computation) } else { computation.run::<f64>(()) }
}

impl<E: Element, M: Material> Block for Solid<E, M> {
    fn kind(&self) -> CellKind {
        E::KIND
    }
    fn len(&self) -> usize {
        self.connectivity.len() / E::KIND.nodes()
    }
    fn patches(&self) -> &Patches {
        &self.patches
    }
    fn state_per_element(&self) -> usize {
        E::POINTS * M::STATE
    }

    fn patches_of(&self, potentials: &[u32], reference: &[Vec3]) -> Patches {
        Patches::of_some(potentials, &self.connectivity, E::KIND.nodes(), reference)
    }

    fn mass_shares(&self, potential: usize, reference: &[Vec3], visit: &mut dyn FnMut(u32, f64)) {
        let nodes = self.nodes(potential);
        let points = E::mass_points();
        for (&n, m) in nodes.iter().zip(lumped_mass::<E>(&points, nodes, reference, self.law.density())) {
            visit(n, m * self.section);
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
        let Scratch { nodes: records, forces: sums, .. } = scratch;
        records.clear();
        records.extend(patches.nodes(patch).iter().map(|&n| {
            let from = positions.reference[n as usize];
            Record::new(from, positions.current[n as usize] - from)
        }));
        sums.clear();
        sums.resize(forces.len(), Force::default());
        let (old, new) = (state.old, state.new);
        let computation = PatchPass { block: self, patches, patch, records, old, new, forces: sums };
        let mut pass = if_wide::<M, _>(dispatch, computation);
        for (to, &Force([x, y, z, _])) in forces.iter_mut().zip(&*sums) {
            *to = Vec3::new(x, y, z);
        }
        if measure_step {
            let (law, steps) = (&self.law, &self.steps);
            let element = PhantomData::<E>;
            pass.step = if_wide::<M, _>(
                dispatch_rarely,
                StepPass { law, patches, steps, patch, first: self.first, records, old, element },
            );
        }
        pass
    }

    fn smallest_det_f(&self, element: usize, positions: Positions) -> f64 {
        let shape = E::shape(&self.gather_one(element, |n| positions.reference[n]));
        let u = self.gather_one(element, |n| positions.current[n] - positions.reference[n]);
        let gradient = E::gradient(&shape, &u);
        let mut smallest = f64::INFINITY;
        for q in 0..E::POINTS {
            let (strain, h, _) = self.point_kinematics(&shape, &gradient, q);
            let mut state = [0.0; MAX_STATE];
            let det_f = (Mat3::identity() + to_mat3(&h)).determinant();
            if !(det_f.is_finite() && self.law.respond(&strain, &mut state[..M::STATE]).0.is_finite()) {
                return f64::NAN;
            }
            if !M::SMALL_STRAIN {
                smallest = smallest.min(det_f);
            }
        }
        smallest
    }

    fn stencil(&self, potential: usize) -> &[u32] {
        self.nodes(potential)
    }

    fn tangent(&self, element: usize, positions: Positions, out: &mut [f64]) {
        let reference = self.gather_one(element, |n| positions.reference[n]);
        let u = self.gather_one(element, |n| positions.current[n] - positions.reference[n]);
        let k = tangent::of_element::<E, M>(&self.law, self.hourglass, &reference, &u);
        self.write_tangent(&k, out);
    }

    fn plain_force(&self, element: usize, positions: Positions, forces: &mut [Vec3]) -> f64 {
        let reference = self.gather_one(element, |n| positions.reference[n]);
        let u = self.gather_one(element, |n| positions.current[n] - positions.reference[n]);
        let mut state = [0.0; MAX_STATE];
        let answer = self.kernel::<f64>(&reference, &u, &mut state[..E::POINTS * M::STATE]);
        forces.iter_mut().zip(answer.force.as_ref()).for_each(|(to, &from)| *to = from.into());
        answer.energy
    }

    /// A law that keeps numbers has no energy that depends on the two ends alone.
    fn conserves(&self) -> bool {
        M::STATE == 0
    }

    fn force_between(&self, element: usize, between: Between, forces: &mut [Vec3]) -> BetweenPass {
        let (reference, u) = self.gather_between(element, between);
        let (mut pass, force) = between::force_of_element::<E, M>(&self.law, self.hourglass, &reference, &u);
        pass.energy *= self.section;
        for (to, from) in forces.iter_mut().zip(force.as_ref()) {
            *to = self.section * Vec3::from(*from);
        }
        pass
    }

    fn tangent_between(&self, element: usize, between: Between, out: &mut [f64]) {
        let (reference, u) = self.gather_between(element, between);
        let k = between::tangent_of_element::<E, M>(&self.law, self.hourglass, &reference, &u);
        self.write_tangent(&k, out);
    }

    fn add_lumped_mass(&self, reference: &[Vec3], out: &mut [f64]) {
        let points = E::mass_points();
        for e in 0..self.len() {
            let nodes = self.nodes(e);
            for (&n, m) in nodes.iter().zip(lumped_mass::<E>(&points, nodes, reference, self.law.density())) {
                out[n as usize] += m * self.section;
            }
        }
    }

    fn consistent_mass(&self, element: usize, reference: &[Vec3], out: &mut [f64]) {
        let nodes = E::KIND.nodes();
        out.fill(0.0);
        for (volume, n) in volumes::<E>(&E::mass_points(), self.nodes(element), reference) {
            for a in 0..nodes {
                for b in 0..nodes {
                    out[a * nodes + b] += self.law.density() * self.section * volume * n[a] * n[b];
                }
            }
        }
    }

    fn volume(&self, element: usize, reference: &[Vec3]) -> f64 {
        let points = E::mass_points();
        let volumes = volumes::<E>(&points, self.nodes(element), reference);
        self.section * volumes.map(|(volume, _)| volume).sum::<f64>()
    }

    fn stable_steps(&self) -> &[f64] {
        &self.steps.whole
    }

    fn stress(&self, element: usize, positions: Positions, visit: &mut dyn FnMut(PointStress)) {
        let shape = E::shape(&self.gather_one(element, |n| positions.reference[n]));
        let u = self.gather_one(element, |n| positions.current[n] - positions.reference[n]);
        let gradient = E::gradient(&shape, &u);
        let mut state = [0.0; MAX_STATE];
        for q in 0..E::POINTS {
            let (strain, h, volume) = self.point_kinematics(&shape, &gradient, q);
            let point_state = &mut state[q * M::STATE..(q + 1) * M::STATE];
            let full_strain = self.law.full_strain(&strain, point_state);
            let s = self.law.respond(&strain, point_state).1;
            let cauchy = if M::SMALL_STRAIN {
                s
            } else {
                // F S Fᵀ / J, where J counts the stretch across a plate or bar that F does not have
                let (f, s) = (Mat3::identity() + to_mat3(&h), to_mat3(&full(&s)));
                let c = Mat3::identity() + 2.0 * to_mat3(&full(&full_strain));
                let sigma = f * s * f.transpose() / c.determinant().sqrt();
                INDEX.map(|(i, j)| sigma[(i, j)])
            };
            visit(PointStress { cauchy, von_mises: von_mises(&cauchy), volume });
        }
    }

    fn stress_of(
        &self,
        elements: Range<usize>,
        positions: Positions,
        means: bool,
        out: &mut [ElementStress],
    ) {
        if_wide::<M, _>(dispatch, StressPass { block: self, elements, positions, means, out });
    }

    fn density(&self) -> f64 {
        self.law.density()
    }

    fn bytes(&self) -> usize {
        self.connectivity.len() * 4 + self.steps.whole.len() * 16 + self.patches.bytes()
    }

    fn flops(&self) -> u64 {
        Count::take();
        let reference = self.gather_one(0, |n| Vec3::new(n as f64, (n * n) as f64, 1.0));
        let mut on_count = E::nodal(Count(0.0));
        for (to, from) in on_count.as_mut().iter_mut().zip(reference.as_ref()) {
            *to = from.map(Count);
        }
        let mut state = [Count(0.0); MAX_STATE];
        self.kernel::<Count>(&on_count, &on_count, &mut state[..E::POINTS * M::STATE]);
        Count::take()
    }
}

fn to_mat3(a: &Matrix<f64>) -> Mat3 {
    Mat3::from_fn(|i, j| a[i][j])
}

/// Volume (without the section) and shape functions at the points that integrate mass.
fn volumes<'a, E: Element>(
    points: &'a [MassPoint],
    nodes: &'a [u32],
    reference: &'a [Vec3],
) -> impl Iterator<Item = (f64, &'a [f64])> {
    points.iter().map(move |(weight, n, derivatives)| {
        let mut j = Mat3::zeros();
        for (&node, d) in nodes.iter().zip(derivatives) {
            j += reference[node as usize] * d.transpose();
        }
        for i in E::KIND.dimension()..3 {
            j[(i, i)] = 1.0;
        }
        (weight * j.determinant(), &n[..])
    })
}

/// Mass of the nodes of one element, without the section: row sums of the consistent mass, or its diagonal scaled to the whole.
/// `points` are [`Element::mass_points`].
pub(super) fn lumped_mass<E: Element>(
    points: &[MassPoint],
    nodes: &[u32],
    reference: &[Vec3],
    density: f64,
) -> [f64; MOST_NODES] {
    let mut mass = [0.0; MOST_NODES];
    let mut whole = 0.0;
    for (volume, n) in volumes::<E>(points, nodes, reference) {
        whole += density * volume;
        for (m, n) in mass.iter_mut().zip(n) {
            *m += density * volume * if E::SCALED_DIAGONAL { n * n } else { *n };
        }
    }
    if E::SCALED_DIAGONAL {
        let factor = whole / mass.iter().sum::<f64>();
        mass.iter_mut().for_each(|m| *m *= factor);
    }
    mass
}
