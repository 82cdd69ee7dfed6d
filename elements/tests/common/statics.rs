//! Statics of a block of shells: a band of stiffness, nodes in the order of Cuthill and McKee, and Newton's iteration.

use carom_elements::element::patch::Scratch;
use carom_elements::element::shell::Shell;
use carom_elements::element::{Block, PointState, Positions};
use carom_elements::material::Material;
use carom_elements::math::Vec3;
use carom_elements::mesh::subdivision::Term;

/// A symmetric band, row by row from its first column to the diagonal.
pub struct Band {
    width: usize,
    rows: Vec<f64>,
}

impl Band {
    pub fn new(size: usize, width: usize) -> Self {
        Band { width, rows: vec![0.0; size * (width + 1)] }
    }

    fn at(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.rows[i * (self.width + 1) + self.width + j - i]
    }

    /// LDLᵀ in place.
    pub fn factor(&mut self) {
        let (w, stride) = (self.width, self.width + 1);
        let size = self.rows.len() / stride;
        for i in 0..size {
            let first = i.saturating_sub(w);
            let (before, mine) = self.rows.split_at_mut(i * stride);
            for j in first..i {
                let start = first.max(j.saturating_sub(w));
                let a = &mine[w + start - i..w + j - i];
                let b = &before[j * stride + w + start - j..j * stride + w];
                let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                mine[w + j - i] -= sum;
            }
            // rows hold L D until here; divide and take the diagonal along
            let mut diagonal = mine[w];
            for j in first..i {
                let d = before[j * stride + w];
                let ld = mine[w + j - i];
                mine[w + j - i] = ld / d;
                diagonal -= ld * ld / d;
            }
            mine[w] = diagonal;
        }
    }

    pub fn solve(&self, b: &mut [f64]) {
        let (w, stride) = (self.width, self.width + 1);
        for i in 0..b.len() {
            let first = i.saturating_sub(w);
            let sum: f64 = (first..i).map(|j| self.rows[i * stride + w + j - i] * b[j]).sum();
            b[i] -= sum;
        }
        for i in 0..b.len() {
            b[i] /= self.rows[i * stride + w];
        }
        for i in (0..b.len()).rev() {
            for j in i.saturating_sub(w)..i {
                b[j] -= self.rows[i * stride + w + j - i] * b[i];
            }
        }
    }
}

/// A shell with supports.
pub struct Statics<'a, M> {
    pub block: &'a Shell<M>,
    pub reference: &'a [Vec3],
    /// Held components (node, axis).
    pub held: Vec<(usize, usize)>,
    /// Springs on everything, as a share of the mean diagonal.
    pub springs: f64,
    order: Vec<usize>,
    width: usize,
}

impl<'a, M: Material> Statics<'a, M> {
    pub fn new(block: &'a Shell<M>, reference: &'a [Vec3], held: Vec<(usize, usize)>) -> Self {
        let nodes = reference.len();
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for e in 0..block.len() {
            let stencil = block.stencil(e);
            for &a in stencil {
                near[a as usize].extend(stencil.iter().map(|&b| b as usize));
            }
        }
        for list in &mut near {
            list.sort_unstable();
            list.dedup();
        }
        let walk = |start: usize| {
            let mut seen = vec![false; nodes];
            let mut queue = vec![start];
            seen[start] = true;
            let mut at = 0;
            while at < queue.len() {
                let mut next: Vec<usize> = near[queue[at]].iter().copied().filter(|&n| !seen[n]).collect();
                next.sort_by_key(|&n| near[n].len());
                next.iter().for_each(|&n| seen[n] = true);
                queue.extend(next);
                at += 1;
            }
            queue
        };
        // from a node that is as far away from another as it gets
        let far = *walk(*walk(0).last().unwrap()).last().unwrap();
        let queue = walk(far);
        let mut order = vec![0; nodes];
        queue.iter().enumerate().for_each(|(k, &n)| order[n] = k);
        let reach = (0..nodes).flat_map(|a| near[a].iter().map(move |&b| (a, b)));
        let width = 3 * reach.map(|(a, b)| order[a].abs_diff(order[b])).max().unwrap() + 2;
        Statics { block, reference, held, springs: 0.0, order, width }
    }

    pub fn forces(&self, current: &[Vec3]) -> Vec<Vec3> {
        let positions = Positions { reference: self.reference, current };
        let mut sum = vec![Vec3::zeros(); current.len()];
        let patches = self.block.patches();
        for p in 0..patches.len() {
            let mut forces = vec![Vec3::zeros(); patches.nodes(p).len()];
            let state = PointState { old: &[], new: &mut [] };
            self.block.force_pass(p, positions, state, false, &mut Scratch::new(), &mut forces);
            patches.nodes(p).iter().zip(&forces).for_each(|(&n, f)| sum[n as usize] += f);
        }
        sum
    }

    fn factors(&self, current: &[Vec3]) -> Band {
        let size = 3 * self.reference.len();
        let mut band = Band::new(size, self.width);
        let mut out = Vec::new();
        for e in 0..self.block.len() {
            let stencil = self.block.stencil(e);
            let n = 3 * stencil.len();
            out.resize(n * n, 0.0);
            self.block.tangent(e, Positions { reference: self.reference, current }, &mut out);
            for i in 0..n {
                for j in 0..n {
                    let [a, b] = [i, j].map(|k| 3 * self.order[stencil[k / 3] as usize] + k % 3);
                    if b <= a {
                        *band.at(a, b) += out[i * n + j];
                    }
                }
            }
        }
        let mean = (0..size).map(|i| *band.at(i, i)).sum::<f64>() / size as f64;
        for i in 0..size {
            *band.at(i, i) += self.springs * mean;
        }
        for &(node, axis) in &self.held {
            *band.at(3 * self.order[node] + axis, 3 * self.order[node] + axis) += 1e9 * mean;
        }
        band.factor();
        band
    }

    fn solve(&self, band: &Band, load: &[Vec3]) -> Vec<Vec3> {
        let mut b = vec![0.0; 3 * load.len()];
        for (n, f) in load.iter().enumerate() {
            (0..3).for_each(|i| b[3 * self.order[n] + i] = f[i]);
        }
        band.solve(&mut b);
        (0..load.len()).map(|n| Vec3::from_fn(|i, _| b[3 * self.order[n] + i])).collect()
    }

    /// Displacements under a small load.
    pub fn linear(&self, load: &[Vec3]) -> Vec<Vec3> {
        self.solve(&self.factors(self.reference), load)
    }

    /// Newton's iteration from `current`; steps longer than `longest` are shortened. Returns the number of iterations.
    pub fn newton(&self, current: &mut [Vec3], load: &[Vec3], longest: f64) -> usize {
        let size = load.iter().map(|f| f.norm()).fold(0.0, f64::max);
        for iteration in 0..200 {
            let mut rest: Vec<Vec3> = load.iter().zip(self.forces(current)).map(|(f, g)| f - g).collect();
            self.held.iter().for_each(|&(n, axis)| rest[n][axis] = 0.0);
            let error = rest.iter().map(|f| f.norm()).fold(0.0, f64::max);
            if error < 1e-7 * size {
                return iteration;
            }
            let step = self.solve(&self.factors(current), &rest);
            let length = step.iter().map(|f| f.norm()).fold(0.0, f64::max);
            let factor = (longest / length).min(1.0);
            current.iter_mut().zip(&step).for_each(|(x, s)| *x += factor * s);
        }
        panic!("no convergence");
    }
}

/// Puts a force on a limit point.
pub fn push(load: &mut [Vec3], terms: &[Term], force: Vec3) {
    terms.iter().for_each(|t| load[t.node as usize] += t.weight * force);
}

/// A displacement of a limit point.
pub fn read(u: &[Vec3], terms: &[Term]) -> Vec3 {
    terms.iter().map(|t| t.weight * u[t.node as usize]).sum()
}
