//! Principal values and directions of a symmetric tensor, on lanes and without branches.
//!
//! Rotations of Jacobi, a fixed number of them, each against the largest component off the diagonal. The
//! directions are orthonormal to round-off whatever the values, equal ones included; a value is right to
//! round-off of the largest.

use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, Sym};

/// Rotations after which nothing off the diagonal is left, whatever the tensor (see the test).
const ROTATIONS: usize = 10;

/// Values and, row by row, their unit directions; in no particular order.
#[inline(always)]
pub(super) fn principal<L: Lane>(s: &Sym<L>) -> ([L; 3], Matrix<L>) {
    let (values, directions, _) = turned(s);
    (values, directions)
}

/// Values, directions and what is left off the diagonal.
#[inline(always)]
fn turned<L: Lane>(s: &Sym<L>) -> ([L; 3], Matrix<L>, [L; 3]) {
    let [xx, yy, zz, xy, yz, xz] = *s;
    let (o, l) = (xx.of(0.0), xx.of(1.0));
    let mut f =
        Frame { value: [xx, yy, zz], direction: [[l, o, o], [o, l, o], [o, o, l]], off: [yz, xz, xy] };
    f.swap_if_less::<0, 1>();
    f.swap_if_less::<1, 2>();
    f.swap_if_less::<0, 1>();
    // the largest component now belongs to 0 and 1; a rotation leaves none there
    for _ in 0..ROTATIONS {
        f.rotate();
        f.swap_if_less::<0, 1>();
        f.swap::<1, 2>();
    }
    (f.value, f.direction, f.off)
}

/// A tensor on its way to its principal directions; `off[k]` ties the two directions other than `k`.
struct Frame<L> {
    value: [L; 3],
    direction: Matrix<L>,
    off: [L; 3],
}

impl<L: Lane> Frame<L> {
    #[inline(always)]
    fn swap<const I: usize, const J: usize>(&mut self) {
        self.value.swap(I, J);
        self.direction.swap(I, J);
        self.off.swap(I, J);
    }

    /// Exchanges directions `I` and `J` in the lanes where that puts the larger component into `off[J]`.
    #[inline(always)]
    fn swap_if_less<const I: usize, const J: usize>(&mut self) {
        let (a, b) = (self.off[J].abs(), self.off[I].abs());
        exchange(a, b, &mut self.value, I, J);
        exchange(a, b, &mut self.off, I, J);
        for k in 0..3 {
            let (x, y) = (self.direction[I][k], self.direction[J][k]);
            self.direction[I][k] = a.if_less(b, y, x);
            self.direction[J][k] = a.if_less(b, x, y);
        }
    }

    /// Turns the directions 0 and 1 in their plane until `off[2]` vanishes.
    ///
    /// With `d` half the difference of the two values and `h = √(d² + off²)` the new ones are their mean `∓ h`, and
    /// the smaller of the two angles has `tan θ = off / (|d| + h)` up to the sign of `d`.
    #[inline(always)]
    fn rotate(&mut self) {
        let ([p, q, _], pq) = (self.value, self.off[2]);
        let mean = (p + q) * 0.5;
        let d = (q - p) * 0.5;
        let square = pq * pq;
        let h = d.mul_add(d, square).sqrt();
        let sign = d.if_less(d.of(0.0), d.of(-1.0), d.of(1.0));
        // (about the smallest number whose square still is one: nothing to turn when all is zero)
        let u = (d.abs() + h).max(d.of(1e-150));
        let scale = d.of(1.0) / u.mul_add(u, square).sqrt();
        let (cos, sin) = (u * scale, pq * scale * sign);
        self.value[0] = sign.neg_mul_add(h, mean);
        self.value[1] = sign.mul_add(h, mean);
        let [qr, pr, _] = self.off;
        self.off = [sin.mul_add(pr, cos * qr), cos.mul_add(pr, -(sin * qr)), d.of(0.0)];
        for k in 0..3 {
            let (x, y) = (self.direction[0][k], self.direction[1][k]);
            self.direction[0][k] = cos.mul_add(x, -(sin * y));
            self.direction[1][k] = sin.mul_add(x, cos * y);
        }
    }
}

/// Exchanges the numbers at `i` and `j` in the lanes with `a < b`.
#[inline(always)]
fn exchange<L: Lane>(a: L, b: L, row: &mut [L; 3], i: usize, j: usize) {
    let (x, y) = (row[i], row[j]);
    row[i] = a.if_less(b, y, x);
    row[j] = a.if_less(b, x, y);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::tests::{Random, rotate};
    use crate::math::Mat3;
    use crate::math::tensor::full;

    fn size(s: &Sym<f64>) -> f64 {
        s.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()))
    }

    /// Tensors that make life hard: equal, nearly equal, widely different, tiny and vanishing values.
    fn tensors() -> Vec<Sym<f64>> {
        let mut random = Random(7);
        let mut all = vec![[0.0; 6], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]];
        for _ in 0..20_000 {
            all.push(std::array::from_fn(|_| random.between(-1.0, 1.0)));
            let q = random.rotation();
            let close = 10f64.powf(random.between(-17.0, 0.0));
            for values in [
                [1.0, 1.0 + close, 1.0 - close],
                [1.0, 1.0 + close, -0.3],
                [1.0, close, -close],
                [close, close, close * close],
                [2.0, 2.0, -0.4],
                [3.0, 0.0, 0.0],
            ] {
                let [x, y, z] = values;
                all.push(rotate(&q, &[x, y, z, 0.0, 0.0, 0.0]));
            }
            let tiny = 10f64.powf(random.between(-120.0, -5.0));
            all.push(std::array::from_fn(|_| tiny * random.between(-1.0, 1.0)));
            let mut nearly = [0.3, 0.3, 0.3, 0.0, 0.0, 0.0];
            for x in &mut nearly {
                *x += tiny * random.between(-1.0, 1.0);
            }
            all.push(nearly);
        }
        all
    }

    #[test]
    fn nothing_is_left_off_the_diagonal() {
        for s in tensors() {
            let (_, _, off) = turned(&s);
            for x in off {
                assert!(x.abs() <= 1e-16 * size(&s), "{s:?} {off:?}");
            }
        }
    }

    #[test]
    fn directions_are_orthonormal_and_rebuild_the_tensor() {
        for s in tensors() {
            let (values, n) = principal(&s);
            let n = Mat3::from_fn(|i, j| n[i][j]);
            assert!((n * n.transpose() - Mat3::identity()).amax() < 20.0 * f64::EPSILON);
            let rebuilt = n.transpose() * Mat3::from_diagonal(&values.into()) * n;
            let given = full(&s);
            let wrong = (rebuilt - Mat3::from_fn(|i, j| given[i][j])).amax();
            assert!(wrong <= 30.0 * f64::EPSILON * size(&s), "{s:?}: {wrong:e}");
        }
    }
}
