//! Round numbers along an axis, and how numbers are written in pictures.

/// Round steps that cover `lo … hi` with about `wanted` ticks: (first, step, count).
pub(crate) fn ticks(lo: f64, hi: f64, wanted: usize) -> Vec<f64> {
    let span = hi - lo;
    if !(span > 0.0 && span.is_finite()) {
        return vec![lo];
    }
    let step = round_step(span / wanted.max(1) as f64);
    if !(step > 0.0 && (lo / step).abs() < 1e15) {
        return vec![lo, hi];
    }
    // A tick that misses the end by round-off belongs to it.
    let slack = 1e-9 * span;
    let first = ((lo - slack) / step).ceil() as i64;
    let last = ((hi + slack) / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// The round number 1, 2, 2.5 or 5 × 10ⁿ nearest to `raw` from above.
pub(crate) fn round_step(raw: f64) -> f64 {
    let power = 10_f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    steps.iter().map(|s| s * power).find(|&s| s >= raw * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// The power of a thousand that numbers up to `largest` are best written in; 0 for everyday sizes.
pub(crate) fn thousands(largest: f64) -> i32 {
    if !(largest > 0.0 && largest.is_finite()) {
        return 0;
    }
    let exponent = largest.log10().floor() as i32;
    if (-2..4).contains(&exponent) { 0 } else { exponent.div_euclid(3) * 3 }
}

/// ×10ⁿ with raised digits.
pub(crate) fn times_ten(power: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        d => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][d.to_digit(10).unwrap_or(0) as usize],
    };
    format!("×10{}", power.to_string().chars().map(raised).collect::<String>())
}

/// Tick labels of one axis: as many decimals as the step needs, a proper minus sign.
pub(crate) fn labels(values: &[f64], power: i32) -> Vec<String> {
    let scaled: Vec<f64> = values.iter().map(|v| v / 10_f64.powi(power)).collect();
    let step = scaled.windows(2).map(|w| (w[1] - w[0]).abs()).fold(f64::MAX, f64::min);
    let fits = |decimals: usize| {
        let unit = 10_f64.powi(decimals as i32);
        scaled.iter().all(|v| ((v * unit).round() - v * unit).abs() < 1e-6 * (step * unit).max(1.0))
    };
    let decimals = (0..12).find(|&d| fits(d)).unwrap_or(12);
    scaled.iter().map(|v| sign(&format!("{v:.decimals$}"))).collect()
}

fn sign(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(-3.0, 11.0, 4), [0.0, 5.0, 10.0]);
        assert_eq!(ticks(2.0, 2.0, 4), [2.0]);
    }

    #[test]
    fn labels_say_no_more_than_the_step_needs() {
        assert_eq!(labels(&[0.0, 0.25, 0.5], 0), ["0.00", "0.25", "0.50"]);
        assert_eq!(labels(&[-2e-6, 0.0, 2e-6], -6), ["−2", "0", "2"]);
        assert_eq!(labels(&ticks(0.0, 1.0, 5), 0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn large_and_small_numbers_are_written_in_powers_of_a_thousand() {
        assert_eq!(thousands(2.1e11), 9);
        assert_eq!(thousands(3e-7), -9);
        assert_eq!(thousands(12.0), 0);
        assert_eq!(times_ten(-12), "×10⁻¹²");
    }
}
