//! Makes a block of shells: stencils and rows, reference base of every point, masses, stable steps.

use super::kernel::{self, NUMBERS, Reference, SLOPES};
use super::stiffness::{self, Gram};
use super::{Member, REGULAR, Shell};
use crate::element::Block;
use crate::element::patch::Patches;
use crate::material::{Material, PlaneStress};
use crate::math::Vec3;
use crate::mesh::subdivision::{Known, Patch, Subdivision, box_spline};
use carom_declare::words;
use std::collections::BTreeMap;
use std::sync::Arc;

words! {
    /// Integration points of a shell's triangle.
    pub enum Points {
        /// Its centre: slightly soft, and the quickest.
        One = "one",
        /// Half way between the centre and each corner: slightly stiff.
        Three = "three",
    }
}

impl Points {
    pub const fn count(self) -> usize {
        match self {
            Points::One => 1,
            Points::Three => 3,
        }
    }

    /// (v, w); all weigh the same.
    fn places(self) -> &'static [[f64; 2]] {
        const THIRD: f64 = 1.0 / 3.0;
        const SIXTH: f64 = 1.0 / 6.0;
        match self {
            Points::One => &[[THIRD, THIRD]],
            Points::Three => &[[SIXTH, SIXTH], [4.0 * SIXTH, SIXTH], [SIXTH, 4.0 * SIXTH]],
        }
    }
}

/// Points and weights that integrate polynomials of degree four on a triangle (Dunavant 1985), for the consistent mass.
const DUNAVANT: [([f64; 2], f64); 6] = {
    const A: f64 = 0.445948490915965;
    const B: f64 = 0.091576213509771;
    const WA: f64 = 0.223381589678011;
    const WB: f64 = 0.109951743655322;
    [
        ([A, A], WA),
        ([1.0 - 2.0 * A, A], WA),
        ([A, 1.0 - 2.0 * A], WA),
        ([B, B], WB),
        ([1.0 - 2.0 * B, B], WB),
        ([B, 1.0 - 2.0 * B], WB),
    ]
};

/// Rounds in which mass is divided among points.
const ROUNDS: usize = 6;

/// What a block of shells is made from, beside its law and surface.
#[derive(Clone, Copy, Debug)]
pub struct ShellOptions {
    /// [m]
    pub thickness: f64,
    pub points: Points,
}

impl<M: Material> Shell<M> {
    /// Shells on the elements of `surface`, whose first node has the id `first` among `reference`.
    pub fn new(
        law: M,
        options: &ShellOptions,
        surface: Arc<Subdivision>,
        first: u32,
        reference: &[Vec3],
    ) -> Self {
        assert!(kernel::LAYERS.len() * M::STATE <= super::MAX_STATE);
        let points = options.points;
        let places = points.places();
        let mut block = Shell {
            law: PlaneStress(law),
            thickness: options.thickness,
            points,
            turns: surface.turns(),
            first,
            start: vec![0],
            nodes: Vec::new(),
            member_start: vec![0],
            members: Vec::new(),
            row_start: Vec::new(),
            rows: Vec::new(),
            regular: regular_rows(places),
            numbers: Vec::new(),
            grams: Vec::new(),
            shares: Vec::new(),
            mass: Vec::new(),
            steps: Vec::new(),
            patches: Patches::default(),
            surface,
        };
        let mut mass = BTreeMap::new();
        let mut known = Known::new();
        let surface = block.surface.clone();
        for element in 0..surface.elements().len() {
            let patch = surface.rows(element, places, &mut known);
            block.add_element(&patch, reference, &mut mass);
        }
        block.mass = mass.into_iter().collect();
        block.find_steps();
        let all: Vec<u32> = (0..block.steps.len() as u32).collect();
        block.patches = block.patches_of(&all, reference);
        block
    }

    fn add_element(&mut self, patch: &Patch, reference: &[Vec3], mass: &mut BTreeMap<u32, f64>) {
        let begin = self.nodes.len();
        for term in &patch.stencil {
            let node = term.node + self.first;
            let place = match self.nodes[begin..].iter().position(|&n| n == node) {
                Some(place) => place,
                None => {
                    self.nodes.push(node);
                    self.nodes.len() - begin - 1
                }
            };
            self.members.push(Member { place: place as u16, image: term.image });
        }
        self.start.push(self.nodes.len() as u32);
        self.member_start.push(self.members.len() as u32);
        self.row_start.push(if patch.regular { REGULAR } else { self.rows.len() as u32 });
        let count = patch.rows.len();
        let at: Vec<Vec3> = (patch.stencil.iter())
            .map(|t| self.surface.reflect(&reference[(t.node + self.first) as usize], t.image))
            .collect();
        let own = self.rows.len();
        if !patch.regular {
            self.rows.resize(own + patch.stencil.len() * count * SLOPES, 0.0);
        }
        for (q, rows) in patch.rows.iter().enumerate() {
            let slope = |d: usize| -> Vec3 { at.iter().zip(&rows[d]).map(|(x, n)| *n * x).sum() };
            let numbers = point_numbers([1, 2, 3, 4, 5].map(slope), 0.5 / count as f64);
            self.numbers.push(numbers);
            if !patch.regular {
                let map = [0, 1, 2].map(|k| numbers[kernel::MAP + k]);
                for k in 0..patch.stencil.len() {
                    let mut weights = [[0.0; 3]; SLOPES];
                    for p in 0..SLOPES {
                        weights[p][0] = rows[1 + p][k];
                    }
                    kernel::to_base(&mut weights, map);
                    for p in 0..SLOPES {
                        self.rows[own + (k * count + q) * SLOPES + p] = weights[p][0];
                    }
                }
            }
            let weight = self.law.density() * self.thickness * numbers[kernel::AREA];
            for (t, n) in patch.stencil.iter().zip(&rows[0]) {
                *mass.entry(t.node + self.first).or_insert(0.0) += weight * n;
            }
        }
    }

    /// The weights of the members of an element at point `q`, in its base.
    fn point_rows(&self, element: usize, q: usize) -> Vec<[f64; SLOPES]> {
        let (rows, regular) = self.rows(element);
        let map = self.reference(element, q).map;
        (0..self.members(element).len())
            .map(|k| {
                let mut weights = [[0.0; 3]; SLOPES];
                for p in 0..SLOPES {
                    weights[p][0] = rows[(k * self.points.count() + q) * SLOPES + p];
                }
                if regular {
                    kernel::to_base(&mut weights, map);
                }
                weights.map(|w| w[0])
            })
            .collect()
    }

    /// Shares of mass, Gram matrices and steps.
    ///
    /// Any division of the nodes' masses among the points that see them is safe. With rows r the frequency of a point is about
    /// `Σ r_k²/m_k`, and of all divisions in which each point has the same mass `m_k ∝ |r_k|` makes it least; points that
    /// are still too quick get more in a few rounds, and the best of them is taken.
    fn find_steps(&mut self) {
        let lame = self.law.lame();
        let (h, count) = (self.thickness, self.points.count());
        let modulus = 4.0 * lame.mu * (lame.lambda + lame.mu) / (lame.lambda + 2.0 * lame.mu);
        let held = |r: &[f64; SLOPES], area: f64| {
            let membrane = r[0] * r[0] + r[1] * r[1];
            let bending = r[2] * r[2] + r[3] * r[3] + 2.0 * r[4] * r[4];
            (area * modulus * h * (membrane + h * h / 12.0 * bending)).sqrt()
        };
        let mut mass = vec![0.0; self.surface.nodes()];
        self.mass.iter().for_each(|&(n, m)| mass[(n - self.first) as usize] = m);
        let points = self.numbers.len();
        let mut weight = vec![1.0; points];
        let mut best = f64::INFINITY;
        for round in 0..=ROUNDS {
            let mut total = vec![0.0; mass.len()];
            for point in 0..points {
                let (e, q) = (point / count, point % count);
                let area = self.reference(e, q).area;
                for (member, r) in self.members(e).iter().zip(self.point_rows(e, q)) {
                    let node = self.stencil(e)[member.place as usize] - self.first;
                    total[node as usize] += weight[point] * held(&r, area);
                }
            }
            let (mut grams, mut shares) = (Vec::with_capacity(points), vec![0.0; self.nodes.len()]);
            let mut squared = Vec::with_capacity(points);
            for point in 0..points {
                let (e, q) = (point / count, point % count);
                let reference = self.reference(e, q);
                let mut gram = Gram::zeros();
                for (member, r) in self.members(e).iter().zip(self.point_rows(e, q)) {
                    let place = member.place as usize;
                    let node = (self.stencil(e)[place] - self.first) as usize;
                    let share = mass[node] * weight[point] * held(&r, reference.area) / total[node];
                    if share > 0.0 {
                        let r = nalgebra::SVector::<f64, SLOPES>::from(r);
                        gram += r * r.transpose() / share;
                        shares[self.start[e] as usize + place] += share;
                    }
                }
                let now = kernel::kinematics(&reference, &[[0.0; 3]; SLOPES], M::SMALL_STRAIN);
                let section = self.section(&now);
                squared.push(stiffness::frequency_squared(
                    &gram,
                    reference.area,
                    &now,
                    &section,
                    M::SMALL_STRAIN,
                ));
                grams.push(gram);
            }
            let most = squared.iter().copied().fold(0.0, f64::max);
            if most < best {
                best = most;
                (self.grams, self.shares) = (grams, shares);
                self.steps = squared
                    .chunks(count)
                    .map(|s| 2.0 / s.iter().copied().fold(0.0, f64::max).sqrt())
                    .collect();
            }
            if round < ROUNDS {
                weight.iter_mut().zip(&squared).for_each(|(w, s)| *w *= (s / most).sqrt());
            }
        }
    }

    /// Areas and values of the shape functions over the stencil at points that integrate mass.
    pub(super) fn mass_points(&self, element: usize, reference: &[Vec3]) -> Vec<(f64, Vec<f64>)> {
        let places = DUNAVANT.map(|(place, _)| place);
        let patch = self.surface.rows(element, &places, &mut Known::new());
        let at: Vec<Vec3> = (patch.stencil.iter())
            .map(|t| self.surface.reflect(&reference[(t.node + self.first) as usize], t.image))
            .collect();
        let members = self.members(element);
        (patch.rows.iter().zip(DUNAVANT))
            .map(|(rows, (_, weight))| {
                let slope = |d: usize| -> Vec3 { at.iter().zip(&rows[d]).map(|(x, n)| *n * x).sum() };
                let mut values = vec![0.0; self.stencil(element).len()];
                members.iter().zip(&rows[0]).for_each(|(m, n)| values[m.place as usize] += n);
                (0.5 * weight * slope(1).cross(&slope(2)).norm(), values)
            })
            .collect()
    }
}

/// What is kept for a point whose surface has these slopes along (v, w); `weight` is its share of the parameter triangle.
fn point_numbers([v, w, vv, ww, vw]: [Vec3; 5], weight: f64) -> [f64; NUMBERS] {
    let p = 1.0 / v.norm();
    let e1 = p * v;
    let along = w.dot(&e1);
    let across = w - along * e1;
    let r = 1.0 / across.norm();
    let q = -r * along * p;
    let e2 = r * across;
    let curved = [p * p * vv, q * q * vv + 2.0 * q * r * vw + r * r * ww, p * q * vv + p * r * vw];
    let mut numbers = [0.0; NUMBERS];
    for (k, vector) in [e1, e2, curved[0], curved[1], curved[2]].iter().enumerate() {
        numbers[3 * k..3 * k + 3].copy_from_slice(vector.as_slice());
    }
    numbers[kernel::AREA] = weight * v.cross(&w).norm();
    numbers[kernel::MAP..].copy_from_slice(&[p, q, r]);
    debug_assert!(Reference::new(&numbers).area == numbers[kernel::AREA]);
    numbers
}

/// Slopes of the box splines: (control point, place, slope).
fn regular_rows(places: &[[f64; 2]]) -> Vec<f64> {
    let tables: Vec<_> = places.iter().map(|&[v, w]| box_spline::rows(v, w)).collect();
    let mut rows = Vec::with_capacity(12 * places.len() * SLOPES);
    for k in 0..12 {
        for table in &tables {
            rows.extend((1..=SLOPES).map(|d| table[d][k]));
        }
    }
    rows
}
