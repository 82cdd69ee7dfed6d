//! Small and middling systems by elimination inside an envelope, without pivoting.
//!
//! For matrices whose pattern is symmetric and whose pivots are safe by nature (positive definite, or close to it though not
//! symmetric), such as the coupling of contacts through shared nodes. Unknowns are renumbered by reverse Cuthill–McKee, so
//! that the envelope of a chain or a sheet of contacts stays narrow.
//!
//! One thread, fixed order: the bits depend on the matrix alone.

/// `A = L U` in an envelope: row i of L and column i of U both begin at `first[i]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    first: Vec<u32>,
    /// Where row i of L and column i of U begin in `lower` and `upper`; entry j stands at `start[i] + j - first[i]`.
    start: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    pivot: Vec<f64>,
    /// `place[i]` is the new number of unknown i.
    place: Vec<u32>,
    work: Vec<f64>,
}

impl Envelope {
    /// Factors the matrix with these entries (row, column, value), each once; its pattern is symmetric.
    pub(crate) fn factor(&mut self, size: usize, entries: &[(u32, u32, f64)]) {
        self.number(size, entries);
        self.first.clear();
        self.first.extend(0..size as u32);
        for &(i, j, _) in entries {
            let (i, j) = (self.place[i as usize], self.place[j as usize]);
            let (high, low) = (i.max(j), i.min(j));
            let first = &mut self.first[high as usize];
            *first = (*first).min(low);
        }
        self.start.clear();
        let mut length = 0;
        for (i, &first) in self.first.iter().enumerate() {
            self.start.push(length);
            length += i - first as usize;
        }
        for values in [&mut self.lower, &mut self.upper] {
            values.clear();
            values.resize(length, 0.0);
        }
        self.pivot.clear();
        self.pivot.resize(size, 0.0);
        for &(i, j, value) in entries {
            let (i, j) = (self.place[i as usize] as usize, self.place[j as usize] as usize);
            match i.cmp(&j) {
                std::cmp::Ordering::Equal => self.pivot[i] = value,
                std::cmp::Ordering::Greater => self.lower[self.start[i] + j - self.first[i] as usize] = value,
                std::cmp::Ordering::Less => self.upper[self.start[j] + i - self.first[j] as usize] = value,
            }
        }
        self.eliminate();
    }

    /// Crout's order: row i of L and column i of U from those before.
    fn eliminate(&mut self) {
        let Envelope { first, start, lower, upper, pivot, .. } = self;
        for i in 0..pivot.len() {
            let (fi, si) = (first[i] as usize, start[i]);
            for j in fi..i {
                let (fj, sj) = (first[j] as usize, start[j]);
                let from = fi.max(fj);
                let n = j - from;
                let (a, b) = (si + from - fi, sj + from - fj);
                // l_ij = (a_ij − Σ l_ik u_kj) / u_jj     u_ji = a_ji − Σ l_jk u_ki
                let l = lower[si + j - fi] - dot(&lower[a..a + n], &upper[b..b + n]);
                let u = upper[si + j - fi] - dot(&lower[b..b + n], &upper[a..a + n]);
                lower[si + j - fi] = l / pivot[j];
                upper[si + j - fi] = u;
            }
            let own = dot(&lower[si..si + i - fi], &upper[si..si + i - fi]);
            pivot[i] -= own;
        }
    }

    /// Solves in place.
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let Envelope { first, start, lower, upper, pivot, place, work } = self;
        work.clear();
        work.resize(b.len(), 0.0);
        for (&at, b) in place.iter().zip(&*b) {
            work[at as usize] = *b;
        }
        for i in 0..b.len() {
            let (fi, si) = (first[i] as usize, start[i]);
            let sum = dot(&lower[si..si + i - fi], &work[fi..i]);
            work[i] -= sum;
        }
        for i in (0..b.len()).rev() {
            let (fi, si) = (first[i] as usize, start[i]);
            let x = work[i] / pivot[i];
            work[i] = x;
            for (y, u) in work[fi..i].iter_mut().zip(&upper[si..si + i - fi]) {
                *y -= u * x;
            }
        }
        for (&at, b) in place.iter().zip(b) {
            *b = work[at as usize];
        }
    }

    /// Reverse Cuthill–McKee: breadth first from an unknown with few neighbours, and the other way round.
    fn number(&mut self, size: usize, entries: &[(u32, u32, f64)]) {
        let mut starts = vec![0u32; size + 1];
        for &(i, j, _) in entries {
            starts[i as usize + 1] += u32::from(i != j);
        }
        for i in 0..size {
            starts[i + 1] += starts[i];
        }
        let mut fill = starts.clone();
        let mut beside = vec![0u32; starts[size] as usize];
        for &(i, j, _) in entries {
            if i != j {
                beside[fill[i as usize] as usize] = j;
                fill[i as usize] += 1;
            }
        }
        let degree = |i: u32| starts[i as usize + 1] - starts[i as usize];
        let mut by_degree: Vec<u32> = (0..size as u32).collect();
        by_degree.sort_unstable_by_key(|&i| (degree(i), i));
        let mut seen = vec![false; size];
        let mut order: Vec<u32> = Vec::with_capacity(size);
        for &seed in &by_degree {
            if seen[seed as usize] {
                continue;
            }
            seen[seed as usize] = true;
            let mut next = order.len();
            order.push(seed);
            while next < order.len() {
                let i = order[next] as usize;
                next += 1;
                let from = order.len();
                for &j in &beside[starts[i] as usize..starts[i + 1] as usize] {
                    if !std::mem::replace(&mut seen[j as usize], true) {
                        order.push(j);
                    }
                }
                order[from..].sort_unstable_by_key(|&j| (degree(j), j));
            }
        }
        self.place.clear();
        self.place.resize(size, 0);
        for (at, &i) in order.iter().rev().enumerate() {
            self.place[i as usize] = at as u32;
        }
    }
}

/// Sums in flight at once: one after the other they would wait for each other.
const LANES: usize = 8;

fn dot(p: &[f64], q: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (mut ps, mut qs) = (p.chunks_exact(LANES), q.chunks_exact(LANES));
    for (p, q) in (&mut ps).zip(&mut qs) {
        for k in 0..LANES {
            sums[k] += p[k] * q[k];
        }
    }
    let rest: f64 = ps.remainder().iter().zip(qs.remainder()).map(|(p, q)| p * q).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::dice::Dice;

    /// A sheet of unknowns, each with its four neighbours, diagonally dominant and not symmetric.
    #[test]
    fn factors_solve_their_matrix_symmetric_or_not() {
        let mut dice = Dice(5);
        for (width, height) in [(1, 1), (7, 1), (6, 9), (30, 20)] {
            let size = width * height;
            let at = |i: usize, j: usize| (j * width + i) as u32;
            let mut entries = Vec::new();
            for j in 0..height {
                for i in 0..width {
                    entries.push((at(i, j), at(i, j), dice.between(4.1, 5.0)));
                    if i + 1 < width {
                        entries.push((at(i, j), at(i + 1, j), dice.between(-1.0, 1.0)));
                        entries.push((at(i + 1, j), at(i, j), dice.between(-1.0, 1.0)));
                    }
                    if j + 1 < height {
                        entries.push((at(i, j), at(i, j + 1), dice.between(-1.0, 1.0)));
                        entries.push((at(i, j + 1), at(i, j), dice.between(-1.0, 1.0)));
                    }
                }
            }
            let x: Vec<f64> = (0..size).map(|_| dice.between(-1.0, 1.0)).collect();
            let mut b = vec![0.0; size];
            for &(i, j, value) in &entries {
                b[i as usize] += value * x[j as usize];
            }
            let mut envelope = Envelope::default();
            envelope.factor(size, &entries);
            envelope.solve(&mut b);
            let worst = x.iter().zip(&b).map(|(x, b)| (x - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-13, "{worst:e}");
            // the envelope of a sheet is no wider than about twice its shorter side
            let widest = (0..size).map(|i| i - envelope.first[i] as usize).max().unwrap();
            assert!(widest <= 2 * width.min(height) + 2, "{widest}");
        }
    }
}
