//! The twelve quartic box splines of a regular Loop triangle, with first and second derivatives.
//!
//! Barycentric coordinates `u = 1 − v − w` at control point 4, `v` at 7, `w` at 8 (numbers of Stam 1998, Cirak, Ortiz &
//! Schröder 2000). Control points in the lattice of (v, w):
//!
//! ```text
//! 1(0,−1) 2(−1,0) 3(1,−1) 4(0,0) 5(−1,1) 6(2,−1) 7(1,0) 8(0,1) 9(−1,2) 10(2,0) 11(1,1) 12(0,2)
//! ```

/// A row for each of: value, ∂v, ∂w, ∂vv, ∂ww, ∂vw.
pub const ROWS: usize = 6;

/// (coefficient, powers of u, v, w), all to be divided by 12.
type Term = (f64, [i32; 3]);

const N1: &[Term] = &[(1., [4, 0, 0]), (2., [3, 1, 0])];
const N2: &[Term] = &[(1., [4, 0, 0]), (2., [3, 0, 1])];
const N3: &[Term] = &[
    (1., [4, 0, 0]),
    (2., [3, 0, 1]),
    (6., [3, 1, 0]),
    (6., [2, 1, 1]),
    (12., [2, 2, 0]),
    (6., [1, 2, 1]),
    (6., [1, 3, 0]),
    (2., [0, 3, 1]),
    (1., [0, 4, 0]),
];
const N4: &[Term] = &[
    (6., [4, 0, 0]),
    (24., [3, 0, 1]),
    (24., [2, 0, 2]),
    (8., [1, 0, 3]),
    (1., [0, 0, 4]),
    (24., [3, 1, 0]),
    (60., [2, 1, 1]),
    (36., [1, 1, 2]),
    (6., [0, 1, 3]),
    (24., [2, 2, 0]),
    (36., [1, 2, 1]),
    (12., [0, 2, 2]),
    (8., [1, 3, 0]),
    (6., [0, 3, 1]),
    (1., [0, 4, 0]),
];
const N6: &[Term] = &[(2., [1, 3, 0]), (1., [0, 4, 0])];

/// Each spline as one of the above with its coordinates exchanged: which of (u, v, w) stands in their place.
const SPLINES: [(&[Term], [usize; 3]); 12] = [
    (N1, [0, 1, 2]),
    (N2, [0, 1, 2]),
    (N3, [0, 1, 2]),
    (N4, [0, 1, 2]),
    (N3, [0, 2, 1]),
    (N6, [0, 1, 2]),
    (N4, [1, 0, 2]),
    (N4, [2, 1, 0]),
    (N6, [0, 2, 1]),
    (N6, [2, 1, 0]),
    (N3, [2, 1, 0]),
    (N6, [1, 2, 0]),
];

/// Rows of the twelve splines at (v, w).
pub fn rows(v: f64, w: f64) -> [[f64; 12]; ROWS] {
    let at = [1.0 - v - w, v, w];
    let mut out = [[0.0; 12]; ROWS];
    for (k, (terms, place)) in SPLINES.iter().enumerate() {
        for &(coefficient, powers) in *terms {
            // powers of u, v, w themselves
            let mut p = [0; 3];
            for (power, &to) in powers.iter().zip(place) {
                p[to] = *power;
            }
            // along v the coordinates change by (−1, 1, 0), along w by (−1, 0, 1)
            let first = |i: usize| derivative(at, p, [i, 3]);
            let second = |i: usize, j: usize| derivative(at, p, [i, j]);
            let c = coefficient / 12.0;
            out[0][k] += c * derivative(at, p, [3, 3]);
            out[1][k] += c * (first(1) - first(0));
            out[2][k] += c * (first(2) - first(0));
            out[3][k] += c * (second(1, 1) - 2.0 * second(0, 1) + second(0, 0));
            out[4][k] += c * (second(2, 2) - 2.0 * second(0, 2) + second(0, 0));
            out[5][k] += c * (second(1, 2) - second(0, 1) - second(0, 2) + second(0, 0));
        }
    }
    out
}

/// The derivative of `u^a v^b w^c` along up to two of its coordinates; 3 is none.
fn derivative(at: [f64; 3], mut powers: [i32; 3], along: [usize; 2]) -> f64 {
    let mut value = 1.0;
    for i in along {
        if i < 3 {
            value *= powers[i] as f64;
            powers[i] -= 1;
        }
    }
    if value == 0.0 {
        return 0.0;
    }
    for (x, p) in at.iter().zip(powers) {
        value *= x.powi(p);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATTICE: [[f64; 2]; 12] = [
        [0., -1.],
        [-1., 0.],
        [1., -1.],
        [0., 0.],
        [-1., 1.],
        [2., -1.],
        [1., 0.],
        [0., 1.],
        [-1., 2.],
        [2., 0.],
        [1., 1.],
        [0., 2.],
    ];

    /// The splines add up to one, are not negative, and give lattice points back their own coordinates.
    #[test]
    fn box_splines_reproduce_linear_functions() {
        for i in 0..=10 {
            for j in 0..=10 - i {
                let (v, w) = (0.1 * i as f64, 0.1 * j as f64);
                let r = rows(v, w);
                let sum = |d: usize| r[d].iter().sum::<f64>();
                let moment =
                    |d: usize, i: usize| r[d].iter().zip(LATTICE).map(|(n, x)| n * x[i]).sum::<f64>();
                assert!((sum(0) - 1.0).abs() < 1e-15 && r[0].iter().all(|n| *n > -1e-15));
                assert!((1..6).all(|d| sum(d).abs() < 1e-14));
                assert!((moment(0, 0) - v).abs() < 1e-15 && (moment(0, 1) - w).abs() < 1e-15);
                assert!((moment(1, 0) - 1.0).abs() < 1e-14 && moment(1, 1).abs() < 1e-14);
                assert!((moment(2, 1) - 1.0).abs() < 1e-14 && moment(2, 0).abs() < 1e-14);
                assert!((3..6).all(|d| moment(d, 0).abs() < 1e-13 && moment(d, 1).abs() < 1e-13));
            }
        }
    }

    #[test]
    fn derivatives_are_slopes() {
        let (v, w, step) = (0.23, 0.41, 1e-5);
        let r = rows(v, w);
        let slope = |d: usize, dv: f64, dw: f64, k: usize| {
            (rows(v + dv, w + dw)[d][k] - rows(v - dv, w - dw)[d][k]) / (2.0 * step)
        };
        for k in 0..12 {
            assert!((slope(0, step, 0.0, k) - r[1][k]).abs() < 1e-9);
            assert!((slope(0, 0.0, step, k) - r[2][k]).abs() < 1e-9);
            assert!((slope(1, step, 0.0, k) - r[3][k]).abs() < 1e-8);
            assert!((slope(2, 0.0, step, k) - r[4][k]).abs() < 1e-8);
            assert!((slope(1, 0.0, step, k) - r[5][k]).abs() < 1e-8);
        }
    }

    /// Values at the centre of the triangle, worked out by hand from Stam's table.
    #[test]
    fn the_centre_has_the_known_values() {
        let r = rows(1.0 / 3.0, 1.0 / 3.0);
        let n = [1, 1, 14, 92, 14, 1, 92, 92, 1, 1, 14, 1];
        let vv = [1, 2, -2, -2, 4, 1, -2, -8, 0, 2, 4, 0];
        let ww = [2, 1, 4, -2, -2, 0, -8, -2, 1, 0, 4, 2];
        let vw = [3, 3, -2, 4, -2, -1, -8, -8, -1, 1, 10, 1];
        let dv = [-4, -5, 0, -78, -30, 4, 78, 0, -1, 5, 30, 1];
        let dw = [-5, -4, -30, -78, 0, -1, 0, 78, 4, 1, 30, 5];
        for (row, factor, known) in
            [(0, 324.0, n), (1, 162.0, dv), (2, 162.0, dw), (3, 9.0, vv), (4, 9.0, ww), (5, 18.0, vw)]
        {
            for k in 0..12 {
                assert!((factor * r[row][k] - known[k] as f64).abs() < 1e-12, "row {row}, spline {}", k + 1);
            }
        }
    }
}
