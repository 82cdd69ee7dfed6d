//! Elements: from nodal displacements to forces, energies, masses, tangents and stable steps.
//!
//! Two seams. [`Element`] is the geometry of one kind of cell on lanes; [`Block`] is what a model sees:
//! elements of one kind and one law with all their answers. [`solid::Solid`] makes a block out of any
//! element and any law.
//!
//! Total Lagrangian throughout: `H = ∂u/∂X`, `F = 1 + H`, and the internal force of node a is
//! `fₐ = ∂W/∂xₐ = Σ_q w_q det J_q P ∇Nₐ`. Internal forces are what the element does *not* want: the equation
//! of motion is `m a = f_ext − f`.

pub mod bar2;
mod between;
// Kernels of all elements with all laws take minutes to compile: tests of single files do without, `tests/` uses those of the library.
#[cfg(not(test))]
pub mod choice;
mod deformed_step;
pub mod hex8;
pub mod nodal;
pub mod patch;
pub mod quad4;
pub mod shell;
pub mod solid;
pub mod stable_step;
pub mod tangent;
pub mod tet10;
pub mod tet4;
pub mod tri3;

use crate::math::Vec3;
use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, Sym};
use crate::mesh::CellKind;
use crate::mesh::subdivision::Subdivision;
use patch::{Patches, Scratch};
use std::ops::Range;

/// A block's maker: from global connectivity and all reference positions.
pub type MakeBlock<'a> = dyn Fn(Vec<u32>, &[Vec3]) -> Box<dyn Block> + 'a;

/// A point that integrates mass: its weight, Nₐ and ∂Nₐ/∂ξ of all nodes.
pub type MassPoint = (f64, Vec<f64>, Vec<Vec3>);

/// Numbers per node on lanes.
pub type Nodes<L, const N: usize> = [[L; 3]; N];

/// The geometry of one kind of cell.
///
/// A field's gradient in reference coordinates is linear in its nodal values; [`Element::spread`] is the
/// transpose of [`Element::gradient`], so that force and displacement are conjugate by construction.
pub trait Element: Send + Sync + 'static {
    const KIND: CellKind;
    /// Integration points.
    const POINTS: usize;
    /// Lumped mass is the diagonal of the consistent mass, scaled to the whole (Hinton, Rock & Zienkiewicz 1976), and not its row sums.
    const SCALED_DIAGONAL: bool = false;
    /// Resists the modes that its points do not see, see [`Element::hourglass`].
    const HOURGLASS: bool = false;

    /// One vector per node: `[[L; 3]; N]`.
    type Nodal<L: Lane>: Copy + AsRef<[[L; 3]]> + AsMut<[[L; 3]]>;
    /// The reference shape, prepared.
    type Shape<L: Lane>: Copy;
    /// The gradient at all points, as compactly as the element allows.
    type Gradient<L: Lane>: Copy;

    /// The same number everywhere.
    fn nodal<L: Lane>(x: L) -> Self::Nodal<L>;
    /// Prepares the reference shape.
    fn shape<L: Lane>(reference: &Self::Nodal<L>) -> Self::Shape<L>;
    /// `J[i][j] = ∂Xᵢ/∂ξⱼ` at point `q`; directions the element does not have are filled with unit vectors.
    fn jacobian<L: Lane>(shape: &Self::Shape<L>, q: usize) -> Matrix<L>;
    /// Weight of point `q` in reference coordinates.
    fn weight(q: usize) -> f64;
    /// Gradient of a nodal field.
    fn gradient<L: Lane>(shape: &Self::Shape<L>, field: &Self::Nodal<L>) -> Self::Gradient<L>;
    /// `G[i][j] = ∂uᵢ/∂ξⱼ` at point `q`.
    fn at<L: Lane>(gradient: &Self::Gradient<L>, q: usize) -> Matrix<L>;
    /// A gradient that is zero everywhere.
    fn zero<L: Lane>(like: L) -> Self::Gradient<L>;
    /// Adds a 3×3 at point `q`.
    fn add<L: Lane>(gradient: &mut Self::Gradient<L>, q: usize, m: &Matrix<L>);
    /// `fₐᵢ = Σ_q Σ_j R_q[i][j] ∂Nₐ/∂ξⱼ`.
    fn spread<L: Lane>(shape: &Self::Shape<L>, r: &Self::Gradient<L>) -> Self::Nodal<L>;
    /// Points that integrate the mass.
    fn mass_points() -> Vec<MassPoint>;
    /// Energy and force against hourglass modes of stiffness `k` [Pa].
    #[inline(always)]
    fn hourglass<L: Lane>(
        _reference: &Self::Nodal<L>,
        _shape: &Self::Shape<L>,
        displacement: &Self::Nodal<L>,
        _k: f64,
    ) -> (L, Self::Nodal<L>) {
        let zero = displacement.as_ref()[0][0].of(0.0);
        (zero, Self::nodal(zero))
    }
}

/// What a force pass over one patch found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Strain energy [J], the hourglass part included.
    pub energy: f64,
    /// Part of it stored in hourglass modes [J].
    pub hourglass: f64,
    /// Smallest det F; not finite where the state is not.
    pub det_f: f64,
    /// Smallest stable step [s] at the present deformation; infinite if it was not asked for.
    pub step: f64,
}

/// Stress at one integration point.
#[derive(Clone, Copy, Debug)]
pub struct PointStress {
    /// Cauchy stress [Pa], in the order xx yy zz xy yz xz.
    pub cauchy: Sym<f64>,
    pub von_mises: f64,
    /// Volume of the point in the reference shape [m³].
    pub volume: f64,
}

/// Numbers a law keeps: what it had, and what the pass makes of it.
pub struct PointState<'a> {
    pub old: &'a [f64],
    pub new: &'a mut [f64],
}

/// Elements of one kind and one law.
pub trait Block: Send + Sync {
    fn kind(&self) -> CellKind;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How the elements are grouped for a force pass.
    fn patches(&self) -> &Patches;
    /// Numbers the law keeps per element.
    fn state_per_element(&self) -> usize;
    /// What is kicked on its own by a method that steps element by element: the elements, unless the block says otherwise.
    fn potentials(&self) -> usize {
        self.len()
    }
    /// Some of the potentials, ascending, grouped for force passes of their own.
    fn patches_of(&self, potentials: &[u32], reference: &[Vec3]) -> Patches;
    /// The share of each node's lumped mass [kg] that a potential stands for, handed to `visit`; all shares of a
    /// node add up to its mass.
    fn mass_shares(&self, potential: usize, reference: &[Vec3], visit: &mut dyn FnMut(u32, f64));
    /// The law is one of small strains: the reference shape is the shape.
    fn small_strain(&self) -> bool;
    /// Internal forces on the local nodes of one patch, written to `forces`, and what was found on the way.
    /// With `measure_step` the stable step at the present deformation is found too.
    fn force_pass(
        &self,
        patch: usize,
        positions: Positions,
        state: PointState,
        measure_step: bool,
        scratch: &mut Scratch,
        forces: &mut [Vec3],
    ) -> Pass {
        self.force_pass_on(self.patches(), patch, positions, state, measure_step, scratch, forces)
    }
    /// The same for a patch of [`Block::patches_of`].
    #[allow(clippy::too_many_arguments)]
    fn force_pass_on(
        &self,
        patches: &Patches,
        patch: usize,
        positions: Positions,
        state: PointState,
        measure_step: bool,
        scratch: &mut Scratch,
        forces: &mut [Vec3],
    ) -> Pass;
    /// Smallest det F of the points of one element, for the message about a failure: not a number where the state
    /// has none, infinite for a law of small strains, which does not care.
    fn smallest_det_f(&self, element: usize, positions: Positions) -> f64;
    /// Nodes (model-wide ids) that the energy of a potential depends on, as many as it takes.
    fn stencil(&self, potential: usize) -> &[u32];
    /// `∂f/∂x` of one potential, row by row, three rows a node of its stencil of n nodes; `out` has (3 n)² entries. All
    /// potentials together make the tangent of the block.
    fn tangent(&self, potential: usize, positions: Positions, out: &mut [f64]);
    /// Strain energy [J] and internal forces of one element alone, a number at a time: what registers are compared with. Not a
    /// number where a block has no kernel of an element.
    #[doc(hidden)]
    fn plain_force(&self, _element: usize, _positions: Positions, forces: &mut [Vec3]) -> f64 {
        forces.fill(Vec3::repeat(f64::NAN));
        f64::NAN
    }
    /// It has forces between two configurations.
    fn conserves(&self) -> bool {
        false
    }
    /// Forces of one potential on its stencil between two configurations: in balance, without moment about their middle,
    /// and their work is exactly what the strain energy gains. Asked only of blocks that [`Block::conserves`].
    fn force_between(&self, _potential: usize, _between: Between, forces: &mut [Vec3]) -> BetweenPass {
        forces.fill(Vec3::repeat(f64::NAN));
        BetweenPass { energy: f64::NAN, det_f: f64::NAN }
    }
    /// Their derivative to the positions of the end, not symmetric, as [`Block::tangent`].
    fn tangent_between(&self, _potential: usize, _between: Between, out: &mut [f64]) {
        out.fill(f64::NAN);
    }
    /// Mass [kg] of each node from this block, added to `out`.
    fn add_lumped_mass(&self, reference: &[Vec3], out: &mut [f64]);
    /// `∫ ρ Nₐ N_b dV` of one element; `out` has N² entries.
    fn consistent_mass(&self, element: usize, reference: &[Vec3], out: &mut [f64]);
    /// Volume [m³] of one element, thickness or area included.
    fn volume(&self, element: usize, reference: &[Vec3]) -> f64;
    /// Largest stable step [s] of each element in the reference shape.
    fn stable_steps(&self) -> &[f64];
    /// Stress at every integration point of one element, handed to `visit`.
    fn stress(&self, element: usize, positions: Positions, visit: &mut dyn FnMut(PointStress));
    /// The same of each of some elements, summed up. Without `means` only [`ElementStress::largest`] can be relied on.
    fn stress_of(
        &self,
        elements: Range<usize>,
        positions: Positions,
        _means: bool,
        out: &mut [ElementStress],
    ) {
        for (element, out) in elements.zip(out) {
            *out = ElementStress::default();
            self.stress(element, positions, &mut |point| out.add(&point));
            out.divide();
        }
    }
    /// The smooth surface that nodes control, and its first node; none where nodes are points of the body themselves.
    fn surface(&self) -> Option<(&Subdivision, usize)> {
        None
    }
    /// Mass per reference volume [kg/m³].
    fn density(&self) -> f64;
    /// Bytes held.
    fn bytes(&self) -> usize;
    /// Operations of the force kernel per element, counted.
    fn flops(&self) -> u64;
}

/// Stress of one element, from its integration points.
#[derive(Clone, Copy, Debug, Default)]
pub struct ElementStress {
    /// Reference volume [m³].
    pub volume: f64,
    /// Mean over the volume [Pa], xx yy zz xy yz xz.
    pub cauchy: [f64; 6],
    /// Mean over the volume of the points' von Mises stress [Pa].
    pub von_mises: f64,
    /// The largest of the points' von Mises stress [Pa].
    pub largest: f64,
}

impl ElementStress {
    /// Takes up a point.
    fn add(&mut self, point: &PointStress) {
        self.volume += point.volume;
        self.von_mises += point.volume * point.von_mises;
        self.largest = self.largest.max(point.von_mises);
        self.cauchy.iter_mut().zip(point.cauchy).for_each(|(sum, x)| *sum += point.volume * x);
    }

    /// Sums become means.
    fn divide(&mut self) {
        self.von_mises /= self.volume;
        self.cauchy.iter_mut().for_each(|x| *x /= self.volume);
    }
}

/// Where nodes started, and where they are at the start and at the end of a step.
#[derive(Clone, Copy)]
pub struct Between<'a> {
    pub reference: &'a [Vec3],
    pub start: &'a [Vec3],
    pub end: &'a [Vec3],
}

/// What one potential found between two configurations.
#[derive(Clone, Copy, Debug, Default)]
pub struct BetweenPass {
    /// Strain energy at the end [J].
    pub energy: f64,
    /// Smallest det F at the end; not finite where the state is not.
    pub det_f: f64,
}

/// Where nodes started and where they are.
#[derive(Clone, Copy)]
pub struct Positions<'a> {
    pub reference: &'a [Vec3],
    pub current: &'a [Vec3],
}
