//! Logarithm and exponential on lanes, without branches, to about an ulp.
//!
//! Energies of laws begin with the square of the strain. What is subtracted on the way there must not cost
//! digits, so each function also gives its *rest*, the part beyond the straight line through the origin:
//! `x − ln(1 + x)` and `eˣ − 1 − x`, both `½x² + …`, with their own relative precision.
//!
//! A power `xᵃ` is `exp(a ln x)`, good to about `|a ln x|` ulp.

use super::lane::Lane;
use std::f64::consts::{LOG2_E, SQRT_2};

/// ln 2 in two parts; a whole number of up to eleven bits times the first is exact.
const LN_2_HIGH: f64 = f64::from_bits(std::f64::consts::LN_2.to_bits() & !0xffff_ffff);
/// `ln 2 − LN_2_HIGH`, from more digits of ln 2 than one number holds.
const LN_2_LOW: f64 = (std::f64::consts::LN_2 - LN_2_HIGH) + 2.3190468138462996e-17;

/// `ln(1 + x)`, with relative precision down to the smallest `x`; NaN for `x ≤ −1`.
#[inline(always)]
pub fn ln_1p<L: Lane>(x: L) -> L {
    ln_1p_and_rest(x).0
}

/// `ln(1 + x)` and `x − ln(1 + x)`; NaN for `x ≤ −1`.
#[inline(always)]
pub fn ln_1p_and_rest<L: Lane>(x: L) -> (L, L) {
    let u = x + 1.0;
    let (m, k) = balanced(u);
    // what rounding took from 1 + x, on the scale of m
    let lost = (x - (u - 1.0)) * L::power_of_two(-(k.min(k.of(1000.0))));
    let (ln, rest) = ln_scaled((m - 1.0) + lost, k);
    let rest = k.abs().if_less(k.of(0.5), rest, x - ln);
    let infinity = x.of(f64::INFINITY);
    let nan = x.of(f64::NAN);
    let ln = x.if_less(infinity, ln, x);
    (x.of(-1.0).if_less(x, ln, nan), x.of(-1.0).if_less(x, rest, nan))
}

/// `ln x`; −∞ at zero, NaN below.
#[inline(always)]
pub fn ln<L: Lane>(x: L) -> L {
    // subnormal numbers are lifted into the range that has an exponent
    let lifted = x.if_less(x.of(f64::MIN_POSITIVE), x * TWO_54, x);
    let shift = x.if_less(x.of(f64::MIN_POSITIVE), x.of(54.0), x.of(0.0));
    let (m, k) = balanced(lifted);
    let (ln, _) = ln_scaled(m - 1.0, k - shift);
    let zero = x.of(0.0);
    let at_most_zero = x.if_less(zero, x.of(f64::NAN), x.of(f64::NEG_INFINITY));
    let ln = x.if_less(x.of(f64::INFINITY), ln, x);
    // (a NaN is neither above zero nor below: it leaves through the sum)
    zero.if_less(x, ln, at_most_zero + x)
}

const TWO_54: f64 = 18014398509481984.0;

/// `(m, k)` with `u = m 2ᵏ` and `√½ < m ≤ √2`.
#[inline(always)]
fn balanced<L: Lane>(u: L) -> (L, L) {
    let (m, k) = u.split_exponent();
    let root = m.of(SQRT_2);
    (root.if_less(m, m * 0.5, m), root.if_less(m, k + 1.0, k))
}

/// `ln((1 + f) 2ᵏ)` and `f − ln(1 + f)`, for `√½ < 1 + f ≤ √2`.
///
/// With `s = f/(2 + f)`: `ln(1 + f) = 2 artanh s = 2s + s R`, `R = 2(s²/3 + s⁴/5 + …)`, and `2s = f − sf`.
#[inline(always)]
fn ln_scaled<L: Lane>(f: L, k: L) -> (L, L) {
    let s = f / (f + 2.0);
    let z = s * s;
    // s² ≤ 0.0295: the first term left out is below 2⁻⁵⁶ of the rest
    let mut sum = f.of(2.0 / 21.0);
    for n in (1..10).rev() {
        sum = sum.mul_add(z, f.of(2.0 / (2 * n + 1) as f64));
    }
    let half_square = f * f * 0.5;
    let rest = s.neg_mul_add(sum.mul_add(z, half_square), half_square);
    let ln = k.mul_add(k.of(LN_2_HIGH), f - k.neg_mul_add(k.of(LN_2_LOW), rest));
    (ln, rest)
}

/// `eˣ`; ∞ where it is too large for a number, 0 where too small.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    exp_scaled(x).exp
}

/// `eˣ − 1`, with relative precision down to the smallest `x`.
#[inline(always)]
pub fn exp_m1<L: Lane>(x: L) -> L {
    exp_m1_and_rest(x).0
}

/// `eˣ − 1` and `eˣ − 1 − x`.
#[inline(always)]
pub fn exp_m1_and_rest<L: Lane>(x: L) -> (L, L) {
    let Exponential { exp, m1, rest, scale } = exp_scaled(x);
    let size = x.abs();
    // (far out `scale` may be out of range, and one more or less is lost in rounding)
    let exp_m1 = size.if_less(x.of(2.0), m1.mul_add(scale, scale - 1.0), exp - 1.0);
    // below ½ ln 2 nothing was split off: `rest` is that of x itself
    (exp_m1, size.if_less(x.of(0.34), rest, exp_m1 - x))
}

/// `eˣ` with `x = k ln 2 + r`.
struct Exponential<L> {
    /// `eˣ`
    exp: L,
    /// `eʳ − 1`
    m1: L,
    /// `eʳ − 1 − r`
    rest: L,
    /// `2ᵏ`
    scale: L,
}

#[inline(always)]
fn exp_scaled<L: Lane>(x: L) -> Exponential<L> {
    // adding this puts the last place of a number at one: it rounds to a whole number
    const ROUND: f64 = 6755399441055744.0;
    let k = (x * LOG2_E + ROUND) - ROUND;
    let r = k.neg_mul_add(k.of(LN_2_LOW), k.neg_mul_add(k.of(LN_2_HIGH), x));
    // |r| ≤ ½ ln 2: the first term left out, r¹⁴/14!, is below 2⁻⁵³ of r²/2
    let mut sum = r.of(INVERSE_FACTORIAL[13]);
    for n in (2..13).rev() {
        sum = sum.mul_add(r, r.of(INVERSE_FACTORIAL[n]));
    }
    let rest = r * r * sum;
    let m1 = r + rest;
    // twice half the exponent: 2ᵏ itself may be out of range where eˣ is not
    let half = (k * 0.5 + ROUND) - ROUND;
    let (a, b) = (L::power_of_two(half), L::power_of_two(k - half));
    let exp = x.if_less(x.of(-746.0), x.of(0.0), (m1 + 1.0) * a * b);
    Exponential { exp: x.of(710.0).if_less(x, x.of(f64::INFINITY), exp), m1, rest, scale: a * b }
}

/// `1/n!`.
const INVERSE_FACTORIAL: [f64; 14] = {
    let mut a = [1.0; 14];
    let (mut n, mut factorial) = (1, 1u64);
    while n < 14 {
        factorial *= n as u64;
        a[n] = 1.0 / factorial as f64;
        n += 1;
    }
    a
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lane::{MAX_WIDTH, Simd};

    /// What the functions of this file make of some numbers.
    #[derive(Clone, Copy, Default)]
    struct Values {
        ln_1p: [f64; MAX_WIDTH],
        ln_rest: [f64; MAX_WIDTH],
        ln: [f64; MAX_WIDTH],
        exp: [f64; MAX_WIDTH],
        exp_m1: [f64; MAX_WIDTH],
        exp_rest: [f64; MAX_WIDTH],
    }

    #[inline(always)]
    fn evaluate<L: Lane>(token: L::Token, x: &[f64; MAX_WIDTH]) -> Values {
        let mut out = Values::default();
        let x = L::load(token, x);
        let (l, l_rest) = ln_1p_and_rest(x);
        let (e, e_rest) = exp_m1_and_rest(x);
        l.store(&mut out.ln_1p);
        l_rest.store(&mut out.ln_rest);
        ln(x).store(&mut out.ln);
        exp(x).store(&mut out.exp);
        e.store(&mut out.exp_m1);
        e_rest.store(&mut out.exp_rest);
        out
    }

    struct OnRegisters<'a>(&'a [f64]);
    impl pulp::WithSimd for OnRegisters<'_> {
        type Output = Vec<(f64, Values, usize)>;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) -> Self::Output {
            let w = Simd::<S>::WIDTH;
            let mut out = Vec::new();
            for chunk in self.0.chunks_exact(MAX_WIDTH) {
                for part in chunk.chunks_exact(w) {
                    let mut x = [0.0; MAX_WIDTH];
                    x[..w].copy_from_slice(part);
                    let values = evaluate::<Simd<S>>(simd, &x);
                    out.extend((0..w).map(|i| (x[i], values, i)));
                }
            }
            out
        }
    }

    /// The same numbers through scalars and through the widest registers here.
    fn each_way(x: &[f64]) -> [Vec<(f64, Values, usize)>; 2] {
        let scalar = x
            .iter()
            .map(|&x| {
                let mut all = [0.0; MAX_WIDTH];
                all[0] = x;
                (x, evaluate::<f64>((), &all), 0)
            })
            .collect();
        [scalar, pulp::Arch::new().dispatch(OnRegisters(x))]
    }

    /// Distance in units of the last place of the expected number.
    fn ulps(got: f64, expected: f64) -> f64 {
        if got == expected || (got.is_nan() && expected.is_nan()) {
            return 0.0;
        }
        let place = f64::from_bits(expected.abs().to_bits() + 1) - expected.abs();
        (got - expected).abs() / place
    }

    fn dense(from: f64, to: f64, count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(move |i| from + (to - from) * (i as f64 + 0.37) / count as f64)
    }

    /// Both signs, evenly in the exponent.
    fn every_size(smallest: i32, largest: i32) -> impl Iterator<Item = f64> {
        dense(smallest as f64, largest as f64, 40_000)
            .flat_map(|p| [10f64.powf(p), -(10f64.powf(p))].into_iter())
    }

    #[test]
    fn logarithm_is_right_to_two_ulp_from_the_smallest_to_the_largest() {
        let mut x: Vec<f64> = every_size(-300, 300).filter(|&x| x > -1.0).collect();
        x.extend(dense(-1.0, 1.0, 80_000));
        x.extend(dense(1.0, 30.0, 40_000));
        x.extend(dense(-1.0 + 1e-12, -1.0 + 1e-10, 8_000));
        for way in each_way(&x) {
            assert_eq!(way.len(), x.len());
            for (x, v, i) in way {
                assert!(ulps(v.ln_1p[i], x.ln_1p()) <= 2.0, "ln_1p({x:e}) = {:e}", v.ln_1p[i]);
                if x > 0.0 {
                    assert!(ulps(v.ln[i], x.ln()) <= 2.0, "ln({x:e}) = {:e}", v.ln[i]);
                }
            }
        }
    }

    #[test]
    fn exponential_is_right_to_two_ulp() {
        let mut x: Vec<f64> = every_size(-300, 2).collect();
        x.extend(dense(-708.0, 709.7, 80_000));
        x.extend(dense(-2.0, 2.0, 80_000));
        for way in each_way(&x) {
            for (x, v, i) in way {
                assert!(ulps(v.exp[i], x.exp()) <= 2.0, "exp({x:e}) = {:e}", v.exp[i]);
                assert!(ulps(v.exp_m1[i], x.exp_m1()) <= 2.0, "exp_m1({x:e}) = {:e}", v.exp_m1[i]);
            }
        }
    }

    /// Near zero the rests are the series `x²/2 ∓ x³/3 …` and `x²/2 + x³/6 …`; far away, plain differences.
    #[test]
    fn rests_keep_their_own_digits() {
        let mut x: Vec<f64> = every_size(-150, -1).collect();
        x.extend(dense(-0.9, 3.0, 40_000));
        for way in each_way(&x) {
            for (x, v, i) in way {
                let (ln_rest, exp_rest) = if x.abs() < 0.1 {
                    let (mut a, mut b) = (0.0, 1.0);
                    for n in (2..24).rev() {
                        (a, b) = (1.0 / n as f64 - x * a, 1.0 + x * b / (n + 1) as f64);
                    }
                    (x * x * a, 0.5 * x * x * b)
                } else {
                    (x - x.ln_1p(), x.exp_m1() - x)
                };
                // outside the unsplit range the plain difference of both sides loses a few bits
                assert!((v.ln_rest[i] / ln_rest - 1.0).abs() < 40.0 * f64::EPSILON, "{x:e}");
                assert!((v.exp_rest[i] / exp_rest - 1.0).abs() < 40.0 * f64::EPSILON, "{x:e}");
            }
        }
    }

    #[test]
    fn edges_are_defined() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let tiny = 5e-324;
        let x = [
            -1.0,
            -2.0,
            inf,
            -inf,
            nan,
            0.0,
            tiny,
            f64::MAX,
            709.78,
            709.79,
            -745.2,
            -744.0,
            1e300,
            -1e300,
            1e-310,
            711.0,
        ];
        for way in each_way(&x) {
            for (x, v, i) in way {
                let ln_1p = if x <= -1.0 { nan } else { x.ln_1p() };
                assert!(ulps(v.ln_1p[i], ln_1p) <= 1.0, "ln_1p({x}) = {}", v.ln_1p[i]);
                assert!(ulps(v.ln[i], x.ln()) <= 1.0, "ln({x}) = {}", v.ln[i]);
                // below the normal numbers the last place is coarse: one of it is allowed
                assert!(ulps(v.exp[i], x.exp()) <= 1.0, "exp({x}) = {}", v.exp[i]);
                assert!(ulps(v.exp_m1[i], x.exp_m1()) <= 1.0, "exp_m1({x}) = {}", v.exp_m1[i]);
            }
        }
    }
}
