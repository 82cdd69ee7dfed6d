//! Thin shells on Loop subdivision surfaces: three displacements a node and no rotations.
//!
//! An element is a triangle of the control mesh. Its surface hangs on all nodes around it, twelve where all is regular
//! (`mesh::subdivision`), so stencils differ in length; ghosts outside of the boundary are folded into the rows, images in
//! planes of symmetry are gathered as displacements that are turned. What a point does with the slopes it sees is in
//! [`kernel`], how stiff it is in [`stiffness`], forces of a patch in `pass.rs`, making a block in `setup.rs`.
//!
//! Rows of regular elements are the same for all of them, others have their own.

pub mod kernel;
mod pass;
mod setup;
pub mod stiffness;

use super::patch::{Patches, Record, Scratch};
use super::{Block, Pass, PointState, PointStress, Positions};
use crate::material::{Material, PlaneStress, von_mises};
use crate::math::lane::{Count, Lane, OnLanes, dispatch};
use crate::math::{Mat3, Vec3};
use crate::mesh::CellKind;
use crate::mesh::subdivision::Subdivision;
use kernel::{Current, LAYERS, NUMBERS, Reference, SLOPES, Slopes};
use nalgebra::SMatrix;
use pass::PatchPass;
use std::sync::Arc;
use stiffness::{Gram, Section};

pub use setup::{Points, ShellOptions};

/// Most numbers a law may keep at the layers of one point.
const MAX_STATE: usize = 64;

/// A place of an element's stencil: which of its nodes, and which image of it.
#[derive(Clone, Copy, Debug)]
struct Member {
    place: u16,
    image: u8,
}

/// Triangles of one surface with one law.
pub struct Shell<M> {
    law: PlaneStress<M>,
    thickness: f64,
    points: Points,
    surface: Arc<Subdivision>,
    /// Model-wide id of the surface's first node.
    first: u32,
    /// How images turn.
    turns: Vec<Mat3>,
    /// Nodes of element e: `nodes[start[e]..start[e + 1]]`, each once; likewise members, what the rows run over.
    start: Vec<u32>,
    nodes: Vec<u32>,
    member_start: Vec<u32>,
    members: Vec<Member>,
    /// Where an element's own rows begin, (member, point, slope); none where they are the box splines.
    row_start: Vec<u32>,
    rows: Vec<f64>,
    /// Box splines at the points: (member, point, slope).
    regular: Vec<f64>,
    /// By element and point.
    numbers: Vec<[f64; NUMBERS]>,
    grams: Vec<Gram>,
    /// Shares of mass [kg] that the places of the stencil stand for.
    shares: Vec<f64>,
    /// Lumped mass [kg] by node.
    mass: Vec<(u32, f64)>,
    steps: Vec<f64>,
    patches: Patches,
}

/// Stands for the box splines in `row_start`.
const REGULAR: u32 = u32::MAX;

impl<M: Material> Shell<M> {
    fn members(&self, element: usize) -> &[Member] {
        &self.members[self.member_start[element] as usize..self.member_start[element + 1] as usize]
    }

    /// Rows of an element: (member, point, slope). Along (v, w) for a regular element, else in the base of the point.
    fn rows(&self, element: usize) -> (&[f64], bool) {
        match self.row_start[element] {
            REGULAR => (&self.regular, true),
            begin => {
                let length = self.members(element).len() * self.points.count() * SLOPES;
                (&self.rows[begin as usize..begin as usize + length], false)
            }
        }
    }

    /// What can run side by side: regular elements, or others with as many members.
    fn class(&self, element: u32) -> u32 {
        match self.row_start[element as usize] {
            REGULAR => 0,
            _ => self.members(element as usize).len() as u32,
        }
    }

    /// Numbers the law keeps at one point.
    const POINT_STATE: usize = LAYERS.len() * M::STATE;

    /// The slopes of the displacement at the points of an element, in the base of each.
    fn slopes(&self, element: usize, positions: Positions) -> [Slopes<f64>; 3] {
        let (rows, regular) = self.rows(element);
        let count = self.points.count();
        let stencil = self.stencil(element);
        let mut out = [[[0.0; 3]; SLOPES]; 3];
        for (member, rows) in self.members(element).iter().zip(rows.chunks_exact(count * SLOPES)) {
            let node = stencil[member.place as usize] as usize;
            let u = self.turns[member.image as usize] * (positions.current[node] - positions.reference[node]);
            for (to, row) in out.iter_mut().flatten().zip(rows) {
                (0..3).for_each(|i| to[i] += row * u[i]);
            }
        }
        if regular {
            for (q, d) in out[..count].iter_mut().enumerate() {
                kernel::to_base(d, self.reference(element, q).map);
            }
        }
        out
    }

    fn reference(&self, element: usize, q: usize) -> Reference<f64> {
        Reference::new(&self.numbers[element * self.points.count() + q])
    }

    /// Point by point: the surface as it is, and its reference.
    fn for_each_point(
        &self,
        element: usize,
        positions: Positions,
        mut visit: impl FnMut(usize, &Reference<f64>, &Current<f64>),
    ) {
        let slopes = self.slopes(element, positions);
        for (q, u) in slopes[..self.points.count()].iter().enumerate() {
            let reference = self.reference(element, q);
            visit(q, &reference, &kernel::kinematics(&reference, u, M::SMALL_STRAIN));
        }
    }

    fn section(&self, now: &Current<f64>) -> Section {
        let state = [0.0; MAX_STATE];
        stiffness::section(
            &self.law,
            self.thickness,
            &now.membrane,
            &now.bending,
            &state[..Self::POINT_STATE],
        )
    }

    /// Membrane forces [N/m] and moments [N] of an element at its points, (11, 22, 12) in the reference base ē₁, ē₂ of the
    /// point, which are handed over too.
    pub fn resultants(
        &self,
        element: usize,
        positions: Positions,
        visit: &mut dyn FnMut([Vec3; 2], [f64; 3], [f64; 3]),
    ) {
        self.for_each_point(element, positions, |_, reference, now| {
            let section = self.section(now);
            visit([reference.base[0].into(), reference.base[1].into()], section.n, section.m);
        });
    }

    /// ω² of each point as the element is now.
    fn largest_frequency_squared(&self, element: usize, positions: Positions) -> f64 {
        let mut most: f64 = 0.0;
        self.for_each_point(element, positions, |q, reference, now| {
            let gram = &self.grams[element * self.points.count() + q];
            let squared =
                stiffness::frequency_squared(gram, reference.area, now, &self.section(now), M::SMALL_STRAIN);
            most = if squared > most || squared.is_nan() { squared } else { most };
        });
        most
    }
}

impl<M: Material> Block for Shell<M> {
    fn kind(&self) -> CellKind {
        CellKind::Shell3
    }
    fn len(&self) -> usize {
        self.start.len() - 1
    }
    fn patches(&self) -> &Patches {
        &self.patches
    }
    fn state_per_element(&self) -> usize {
        self.points.count() * Self::POINT_STATE
    }

    fn patches_of(&self, potentials: &[u32], reference: &[Vec3]) -> Patches {
        let stencil = |e: u32| {
            let nodes = self.stencil(e as usize);
            self.members(e as usize).iter().map(move |m| (nodes[m.place as usize], m.image))
        };
        Patches::of_stencils(potentials, stencil, |e| self.class(e), reference)
    }

    fn mass_shares(&self, potential: usize, _reference: &[Vec3], visit: &mut dyn FnMut(u32, f64)) {
        let range = self.start[potential] as usize..self.start[potential + 1] as usize;
        self.nodes[range.clone()].iter().zip(&self.shares[range]).for_each(|(&n, &m)| visit(n, m));
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
        let Scratch { nodes: records, columns, .. } = scratch;
        records.clear();
        records.extend(patches.nodes(patch).iter().map(|&n| {
            let u = positions.current[n as usize] - positions.reference[n as usize];
            Record::new(Vec3::zeros(), u)
        }));
        forces.fill(Vec3::zeros());
        let (old, new) = (state.old, state.new);
        let computation = PatchPass { block: self, patches, patch, records, columns, old, new, forces };
        let mut pass =
            if <PlaneStress<M>>::WIDE { dispatch(computation) } else { computation.run::<f64>(()) };
        if measure_step {
            for &e in &patches.elements()[patches.range(patch)] {
                let rest = self.steps[e as usize];
                let step = match M::SMALL_STRAIN {
                    true => rest,
                    // a step longer than that at rest is never given: softening ends as quickly as a wave passes
                    false => (2.0 / self.largest_frequency_squared(e as usize, positions).sqrt()).min(rest),
                };
                pass.step = pass.step.min(step);
            }
        }
        pass
    }

    fn smallest_det_f(&self, element: usize, positions: Positions) -> f64 {
        let mut smallest = f64::INFINITY;
        let mut state = [0.0; MAX_STATE];
        self.for_each_point(element, positions, |_, _, now| {
            let energy = kernel::resultants(
                &self.law,
                self.thickness,
                &now.membrane,
                &now.bending,
                &mut state[..Self::POINT_STATE],
            )
            .0;
            if !(now.stretch.is_finite() && energy.is_finite()) {
                smallest = f64::NAN;
            } else if !M::SMALL_STRAIN && now.stretch < smallest {
                smallest = now.stretch;
            }
        });
        smallest
    }

    /// Nodes that an element hangs on, each once.
    fn stencil(&self, element: usize) -> &[u32] {
        &self.nodes[self.start[element] as usize..self.start[element + 1] as usize]
    }

    fn tangent(&self, element: usize, positions: Positions, out: &mut [f64]) {
        let stencil = self.stencil(element);
        let size = 3 * stencil.len();
        out[..size * size].fill(0.0);
        let (rows, regular) = self.rows(element);
        let (members, count) = (self.members(element), self.points.count());
        self.for_each_point(element, positions, |q, reference, now| {
            let h = reference.area * stiffness::hessian(now, &self.section(now), M::SMALL_STRAIN);
            // how each member moves the slopes, three by three: fifteen rows
            let moves: Vec<SMatrix<f64, 15, 3>> = (members.iter().enumerate())
                .map(|(k, member)| {
                    let mut weights = [[0.0; 3]; SLOPES];
                    for (p, w) in weights.iter_mut().enumerate() {
                        w[0] = rows[(k * count + q) * SLOPES + p];
                    }
                    if regular {
                        kernel::to_base(&mut weights, reference.map);
                    }
                    let turn = &self.turns[member.image as usize];
                    SMatrix::from_fn(|row, j| weights[row / 3][0] * turn[(row % 3, j)])
                })
                .collect();
            for (a, left) in members.iter().zip(&moves) {
                let half = left.transpose() * h;
                for (b, right) in members.iter().zip(&moves) {
                    let k = half * right;
                    for i in 0..3 {
                        for j in 0..3 {
                            out[(3 * a.place as usize + i) * size + 3 * b.place as usize + j] += k[(i, j)];
                        }
                    }
                }
            }
        });
    }

    fn add_lumped_mass(&self, _reference: &[Vec3], out: &mut [f64]) {
        self.mass.iter().for_each(|&(n, m)| out[n as usize] += m);
    }

    fn consistent_mass(&self, element: usize, reference: &[Vec3], out: &mut [f64]) {
        let n = self.stencil(element).len();
        out[..n * n].fill(0.0);
        let line = self.law.density() * self.thickness;
        for (area, values) in self.mass_points(element, reference) {
            for a in 0..n {
                for b in 0..n {
                    out[a * n + b] += line * area * values[a] * values[b];
                }
            }
        }
    }

    fn volume(&self, element: usize, _reference: &[Vec3]) -> f64 {
        let points = self.points.count();
        let numbers = &self.numbers[element * points..(element + 1) * points];
        self.thickness * numbers.iter().map(|n| n[kernel::AREA]).sum::<f64>()
    }

    fn stable_steps(&self) -> &[f64] {
        &self.steps
    }

    /// At every point at the bottom, in the middle and at the top, with the weights of Simpson's rule.
    fn stress(&self, element: usize, positions: Positions, visit: &mut dyn FnMut(PointStress)) {
        self.for_each_point(element, positions, |_, reference, now| {
            let e = [0, 1, 2].map(|i| Vec3::from(if i < 2 { reference.base[i] } else { now.normal }));
            let e3 = e[0].cross(&e[1]);
            for (height, weight) in [(-0.5, 1.0 / 6.0), (0.0, 4.0 / 6.0), (0.5, 1.0 / 6.0)] {
                let z = height * self.thickness;
                let g = [0, 1, 2].map(|k| now.membrane[k] + z * now.bending[k]);
                let strain = [g[0], g[1], 0.0, g[2], 0.0, 0.0];
                let mut state = [0.0; MAX_STATE];
                let across = self.law.full_strain(&strain, &state[..M::STATE])[2];
                let s = self.law.respond(&strain, &mut state[..M::STATE]).1;
                let s = Mat3::new(s[0], s[3], 0.0, s[3], s[1], 0.0, 0.0, 0.0, 0.0);
                // F takes the local base to the present one; nothing is felt along the third
                let columns = [now.base[0].into(), now.base[1].into(), e3];
                let (f, j) = match M::SMALL_STRAIN {
                    true => (Mat3::from_columns(&[e[0], e[1], e3]), 1.0),
                    false => (Mat3::from_columns(&columns), now.stretch * (1.0 + 2.0 * across).sqrt()),
                };
                let sigma = f * s * f.transpose() / j;
                let cauchy = crate::math::tensor::INDEX.map(|(i, k)| sigma[(i, k)]);
                let volume = weight * self.thickness * reference.area;
                visit(PointStress { cauchy, von_mises: von_mises(&cauchy), volume });
            }
        });
    }

    fn surface(&self) -> Option<(&Subdivision, usize)> {
        Some((&self.surface, self.first as usize))
    }

    fn density(&self) -> f64 {
        self.law.density()
    }

    fn bytes(&self) -> usize {
        let per_point = size_of::<[f64; NUMBERS]>() + size_of::<Gram>();
        self.nodes.len() * 4
            + self.members.len() * size_of::<Member>()
            + self.rows.len() * 8
            + self.numbers.len() * per_point
            + self.shares.len() * 8
            + self.mass.len() * 16
            + self.steps.len() * 20
            + self.patches.bytes()
    }

    /// Of a regular element.
    fn flops(&self) -> u64 {
        Count::take();
        let count = self.points.count();
        let one = Count(1.0);
        for q in 0..count {
            let reference = Reference::new(&self.numbers[q].map(Count));
            let mut slopes = [[one; 3]; SLOPES];
            for _ in 0..12 * 3 * SLOPES {
                let _ = one.mul_add(one, one);
            }
            kernel::to_base(&mut slopes, reference.map);
            let mut state = [one; MAX_STATE];
            let (_, _, mut force) = kernel::point::<M, Count>(
                &self.law,
                self.thickness,
                &reference,
                &slopes,
                &mut state[..Self::POINT_STATE],
            );
            kernel::from_base(&mut force, reference.map);
            for _ in 0..12 * 3 * SLOPES {
                let _ = one.mul_add(one, one);
            }
        }
        Count::take()
    }
}
