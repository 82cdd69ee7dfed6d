//! One force pass over a patch: elements run in batches of equal length, as wide as a register.
//!
//! ```text
//! slopes   every point's slopes of the displacement, from the members of its element
//! points   energy and the forces on those slopes
//! forces   back to the members, the transpose of the first
//! scatter  to the nodes of the patch, element by element: the same order for every width
//! ```

use super::kernel::{self, NUMBERS, Reference, SLOPES, Slopes};
use super::{MAX_STATE, Points, Shell};
use crate::element::Pass;
use crate::element::patch::{Patches, Record, TAG_BITS};
use crate::material::Material;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes};
use crate::math::{Mat3, Vec3};

/// Local numbers without their tags.
const LOCAL: u16 = (1 << (16 - TAG_BITS)) - 1;

pub(super) struct PatchPass<'a, M> {
    pub block: &'a Shell<M>,
    pub patches: &'a Patches,
    pub patch: usize,
    pub records: &'a [Record],
    pub columns: &'a mut Vec<[f64; MAX_WIDTH]>,
    pub old: &'a [f64],
    pub new: &'a mut [f64],
    pub forces: &'a mut [Vec3],
}

/// Elements of one class, side by side.
struct Batch<'a> {
    elements: &'a [u32],
    /// Local numbers, one stencil after the other, and how many each has.
    local: &'a [u16],
    length: usize,
    /// Place of the first one in the patch.
    at: usize,
    /// The element of each lane: those without one repeat the last.
    of_lane: [usize; MAX_WIDTH],
}

impl<'a> Batch<'a> {
    fn new(elements: &'a [u32], local: &'a [u16], at: usize) -> Self {
        let mut of_lane = [elements[elements.len() - 1] as usize; MAX_WIDTH];
        for (to, from) in of_lane.iter_mut().zip(elements) {
            *to = *from as usize;
        }
        Batch { elements, local, length: local.len() / elements.len(), at, of_lane }
    }
}

impl<M: Material> OnLanes for PatchPass<'_, M> {
    type Output = Pass;

    #[inline(always)]
    fn run<L: Lane>(mut self, token: L::Token) -> Pass {
        let mut pass = Pass { det_f: f64::INFINITY, step: f64::INFINITY, ..Pass::default() };
        let (patches, block) = (self.patches, self.block);
        let elements = &patches.elements()[patches.range(self.patch)];
        let mut local = patches.local(self.patch);
        let mut at = 0;
        while at < elements.len() {
            let class = block.class(elements[at]);
            let mut end = at + 1;
            while end < elements.len() && end - at < L::WIDTH && block.class(elements[end]) == class {
                end += 1;
            }
            let length = block.members(elements[at] as usize).len() * (end - at);
            let (mine, rest) = local.split_at(length);
            local = rest;
            let batch = Batch::new(&elements[at..end], mine, at);
            match (block.points, class == 0) {
                (Points::One, true) => self.batch::<L, 1, true>(token, &batch, &mut pass),
                (Points::One, false) => self.batch::<L, 1, false>(token, &batch, &mut pass),
                (Points::Three, true) => self.batch::<L, 3, true>(token, &batch, &mut pass),
                (Points::Three, false) => self.batch::<L, 3, false>(token, &batch, &mut pass),
            }
            at = end;
        }
        pass
    }
}

impl<M: Material> PatchPass<'_, M> {
    #[inline(always)]
    fn batch<L: Lane, const Q: usize, const BOX_SPLINES: bool>(
        &mut self,
        token: L::Token,
        batch: &Batch,
        pass: &mut Pass,
    ) {
        let (block, length, valid) = (self.block, batch.length, batch.elements.len());
        // the rows of the batch, lane by lane, stand in the first columns where elements have rows of their own
        let row_columns = if BOX_SPLINES { 0 } else { length * Q * SLOPES };
        if self.columns.len() < row_columns + 3 * length {
            self.columns.resize(row_columns + 3 * length, [0.0; MAX_WIDTH]);
        }
        if !BOX_SPLINES {
            for (l, &e) in batch.of_lane[..L::WIDTH].iter().enumerate() {
                let begin = block.row_start[e] as usize;
                let rows = &block.rows[begin..begin + row_columns];
                for (to, from) in self.columns[..row_columns].iter_mut().zip(rows) {
                    to[l] = *from;
                }
            }
        }
        let mut slopes = self.slopes::<L, Q, BOX_SPLINES>(token, batch);
        let (energy, smallest) = self.points::<L, Q, BOX_SPLINES>(token, batch, &mut slopes);
        self.forces_of_members::<L, Q, BOX_SPLINES>(token, batch, &slopes);
        self.scatter(batch, row_columns);
        let mut column = [0.0; MAX_WIDTH];
        energy.store(&mut column);
        column[..valid].iter().for_each(|e| pass.energy += e);
        if !M::SMALL_STRAIN {
            smallest.store(&mut column);
            column[..valid]
                .iter()
                .for_each(|&d| pass.det_f = if d < pass.det_f || d.is_nan() { d } else { pass.det_f });
        }
    }

    /// How much a member moves a slope, at `(member, point, slope)`.
    #[inline(always)]
    fn row<L: Lane, const BOX_SPLINES: bool>(&self, token: L::Token, at: usize) -> L {
        if BOX_SPLINES { L::splat(token, self.block.regular[at]) } else { L::load(token, &self.columns[at]) }
    }

    /// The slopes of the displacement at all points.
    #[inline(always)]
    fn slopes<L: Lane, const Q: usize, const BOX_SPLINES: bool>(
        &self,
        token: L::Token,
        batch: &Batch,
    ) -> [Slopes<L>; Q] {
        let (length, valid) = (batch.length, batch.elements.len());
        let mut slopes = [[[L::splat(token, 0.0); 3]; SLOPES]; Q];
        let mut column = [[0.0; MAX_WIDTH]; 3];
        for k in 0..length {
            for l in 0..L::WIDTH {
                let local = batch.local[l.min(valid - 1) * length + k];
                let u = displacement(self.records, &self.block.turns, local);
                for i in 0..3 {
                    column[i][l] = u[i];
                }
            }
            let u = [L::load(token, &column[0]), L::load(token, &column[1]), L::load(token, &column[2])];
            for q in 0..Q {
                for p in 0..SLOPES {
                    let row = self.row::<L, BOX_SPLINES>(token, (k * Q + q) * SLOPES + p);
                    for i in 0..3 {
                        slopes[q][p][i] = row.mul_add(u[i], slopes[q][p][i]);
                    }
                }
            }
        }
        slopes
    }

    /// Energy and smallest stretch of area; `slopes` become the forces on them.
    #[inline(always)]
    fn points<L: Lane, const Q: usize, const BOX_SPLINES: bool>(
        &mut self,
        token: L::Token,
        batch: &Batch,
        slopes: &mut [Slopes<L>; Q],
    ) -> (L, L) {
        let (block, valid) = (self.block, batch.elements.len());
        let zero = L::splat(token, 0.0);
        let mut column = [0.0; MAX_WIDTH];
        let mut energy = zero;
        let mut smallest = zero.of(f64::INFINITY);
        for (q, slopes) in slopes.iter_mut().enumerate() {
            let mut numbers = [zero; NUMBERS];
            for (j, to) in numbers.iter_mut().enumerate() {
                for l in 0..L::WIDTH {
                    column[l] = block.numbers[batch.of_lane[l] * Q + q][j];
                }
                *to = L::load(token, &column);
            }
            let reference = Reference::new(&numbers);
            if BOX_SPLINES {
                kernel::to_base(slopes, reference.map);
            }
            let mut state = [zero; MAX_STATE];
            let per_point = Shell::<M>::POINT_STATE;
            let place = |l: usize| ((batch.at + l) * Q + q) * per_point;
            for (s, x) in state[..per_point].iter_mut().enumerate() {
                for l in 0..L::WIDTH {
                    column[l] = self.old[place(l.min(valid - 1)) + s];
                }
                *x = L::load(token, &column);
            }
            let (w, stretch, mut force) = kernel::point::<M, L>(
                &block.law,
                block.thickness,
                &reference,
                slopes,
                &mut state[..per_point],
            );
            for (s, x) in state[..per_point].iter().enumerate() {
                x.store(&mut column);
                for l in 0..valid {
                    self.new[place(l) + s] = column[l];
                }
            }
            energy += w;
            smallest = smallest.min(stretch);
            if BOX_SPLINES {
                kernel::from_base(&mut force, reference.map);
            }
            *slopes = force;
        }
        (energy, smallest)
    }

    /// Forces on the members, in the columns behind the rows.
    #[inline(always)]
    fn forces_of_members<L: Lane, const Q: usize, const BOX_SPLINES: bool>(
        &mut self,
        token: L::Token,
        batch: &Batch,
        on_slopes: &[Slopes<L>; Q],
    ) {
        let behind = if BOX_SPLINES { 0 } else { batch.length * Q * SLOPES };
        for k in 0..batch.length {
            let mut f = [L::splat(token, 0.0); 3];
            for (q, force) in on_slopes.iter().enumerate() {
                for (p, force) in force.iter().enumerate() {
                    let row = self.row::<L, BOX_SPLINES>(token, (k * Q + q) * SLOPES + p);
                    for i in 0..3 {
                        f[i] = row.mul_add(force[i], f[i]);
                    }
                }
            }
            for i in 0..3 {
                f[i].store(&mut self.columns[behind + 3 * k + i]);
            }
        }
    }

    /// Adds the forces up, element by element; they stand in the columns from `behind` on.
    #[inline(always)]
    fn scatter(&mut self, batch: &Batch, behind: usize) {
        let columns = &self.columns[behind..];
        for l in 0..batch.elements.len() {
            for k in 0..batch.length {
                let local = batch.local[l * batch.length + k];
                let mut f = Vec3::new(columns[3 * k][l], columns[3 * k + 1][l], columns[3 * k + 2][l]);
                if local > LOCAL {
                    f = self.block.turns[(local >> (16 - TAG_BITS)) as usize] * f;
                }
                self.forces[(local & LOCAL) as usize] += f;
            }
        }
    }
}

/// Displacement at a local number, turned if it is that of an image.
#[inline(always)]
fn displacement(records: &[Record], turns: &[Mat3], local: u16) -> [f64; 3] {
    let [x, y, z, _] = records[(local & LOCAL) as usize].displacement;
    if local <= LOCAL {
        return [x, y, z];
    }
    let u = turns[(local >> (16 - TAG_BITS)) as usize] * Vec3::new(x, y, z);
    [u.x, u.y, u.z]
}
