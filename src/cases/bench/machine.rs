//! The machine's own limits: fused multiply-add peak of one core, memory bandwidth.

use super::Measurement;
use std::hint::black_box;
use std::time::Instant;

/// Largest rate of fused multiply-adds of this core, each counted as two operations [1/s].
pub(crate) fn fused_multiply_add_peak() -> f64 {
    // The best of many short tries: a try that was interrupted does not count.
    (0..2000).map(|_| pulp::Arch::new().dispatch(Chains)).fold(0.0, f64::max)
}

/// Independent chains of multiply-adds: enough to fill two pipes of latency four.
struct Chains;

impl pulp::WithSimd for Chains {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> f64 {
        const CHAINS: usize = 24;
        const ROUNDS: usize = 1000;
        let (m, c) = (simd.splat_f64s(0.999_999), simd.splat_f64s(1e-6));
        let mut chains = [simd.splat_f64s(1.0); CHAINS];
        let begin = Instant::now();
        for _ in 0..ROUNDS {
            for _ in 0..8 {
                for x in &mut chains {
                    *x = simd.mul_add_e_f64s(*x, m, c);
                }
            }
            black_box(&mut chains);
        }
        let seconds = begin.elapsed().as_secs_f64();
        (2 * 8 * ROUNDS * CHAINS * S::F64_LANES) as f64 / seconds
    }
}

/// Bytes per second of `a = b + s c` on arrays far larger than the caches, on one thread.
pub(crate) fn memory_bandwidth() -> f64 {
    // Three arrays of 128 MB; the last-level caches of servers are large.
    let n = 16_000_000;
    let (b, c) = (vec![1.0; n], vec![2.0; n]);
    let mut a = vec![0.0; n];
    let mut best = 0.0_f64;
    for _ in 0..4 {
        let begin = Instant::now();
        for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
            *a = b + 0.5 * c;
        }
        black_box(&mut a);
        best = best.max((n * 24) as f64 / begin.elapsed().as_secs_f64());
    }
    best
}

/// Both limits as measurements.
pub fn measure() -> [Measurement; 2] {
    let limit = |case: &str, value, unit| Measurement {
        bench: "machine",
        case: case.into(),
        threads: 1,
        value,
        unit,
        peak_fraction: None,
        flops_per_element: None,
        bytes_per_element: None,
        force_share: None,
    };
    [
        limit("fused-multiply-add-peak", fused_multiply_add_peak(), "flop/s"),
        limit("memory-bandwidth", memory_bandwidth(), "bytes/s"),
    ]
}
