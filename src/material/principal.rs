//! Principal values and directions of a symmetric tensor, on lanes and without branches.
//!
//! Rotations of Jacobi in a fixed number of sweeps. The directions are orthonormal to round-off whatever the
//! values, equal ones included; a value is right to round-off of the largest.

use crate::math::lane::Lane;
use crate::math::tensor::{Matrix, Sym};

/// Sweeps after which nothing off the diagonal is left, whatever the tensor (see the test).
const SWEEPS: usize = 5;

/// Values and, row by row, their unit directions; in no particular order.
#[inline(always)]
pub(super) fn principal<L: Lane>(s: &Sym<L>) -> ([L; 3], Matrix<L>) {
    principal_after::<L, SWEEPS>(s).0
}

/// The same after `N` sweeps, and what is left off the diagonal.
#[inline(always)]
fn principal_after<L: Lane, const N: usize>(s: &Sym<L>) -> (([L; 3], Matrix<L>), [L; 3]) {
    let [mut xx, mut yy, mut zz, mut xy, mut yz, mut xz] = *s;
    let (o, l) = (xx.of(0.0), xx.of(1.0));
    let (mut a, mut b, mut c) = ([l, o, o], [o, l, o], [o, o, l]);
    for _ in 0..N {
        rotate(&mut xx, &mut yy, &mut xy, &mut xz, &mut yz, &mut a, &mut b);
        rotate(&mut xx, &mut zz, &mut xz, &mut xy, &mut yz, &mut a, &mut c);
        rotate(&mut yy, &mut zz, &mut yz, &mut xy, &mut xz, &mut b, &mut c);
    }
    (([xx, yy, zz], [a, b, c]), [xy, yz, xz])
}

/// Turns the directions `p` and `q` in their plane until `pq` vanishes; `pr` and `qr` tie them to the third.
///
/// With `d = ½(qq − pp)` and `h = √(d² + pq²)` the new values are `½(pp + qq) ∓ h`, and the smaller of the two
/// angles has `tan θ = pq / (|d| + h)` up to the sign of `d`.
#[inline(always)]
fn rotate<L: Lane>(
    pp: &mut L,
    qq: &mut L,
    pq: &mut L,
    pr: &mut L,
    qr: &mut L,
    p: &mut [L; 3],
    q: &mut [L; 3],
) {
    let mean = (*pp + *qq) * 0.5;
    let d = (*qq - *pp) * 0.5;
    let h = d.mul_add(d, *pq * *pq).sqrt();
    let sign = d.if_less(d.of(0.0), d.of(-1.0), d.of(1.0));
    // (the smallest number whose square still is one: nothing to turn when all is zero)
    let u = (d.abs() + h).max(d.of(1e-150));
    let scale = d.of(1.0) / u.mul_add(u, *pq * *pq).sqrt();
    let (cos, sin) = (u * scale, *pq * scale * sign);
    *pp = sign.neg_mul_add(h, mean);
    *qq = sign.mul_add(h, mean);
    *pq = d.of(0.0);
    (*pr, *qr) = (cos.mul_add(*pr, -(sin * *qr)), sin.mul_add(*pr, cos * *qr));
    for i in 0..3 {
        (p[i], q[i]) = (cos.mul_add(p[i], -(sin * q[i])), sin.mul_add(p[i], cos * q[i]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::tests::{Random, rotate as turned};
    use crate::math::Mat3;
    use crate::math::tensor::full;

    fn size(s: &Sym<f64>) -> f64 {
        s.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()))
    }

    /// Tensors that make life hard: equal, nearly equal, widely different, tiny and vanishing values.
    fn tensors() -> Vec<Sym<f64>> {
        let mut random = Random(7);
        let mut all = vec![[0.0; 6], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]];
        for _ in 0..3000 {
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
                all.push(turned(&q, &[x, y, z, 0.0, 0.0, 0.0]));
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
    fn one_sweep_less_leaves_nothing_to_turn() {
        for s in tensors() {
            let (_, off) = principal_after::<f64, { SWEEPS - 1 }>(&s);
            for x in off {
                assert!(x.abs() <= 1e-15 * size(&s), "{s:?} {off:?}");
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
