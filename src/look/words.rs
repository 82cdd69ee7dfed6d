//! A finished run in a few lines of text: where the energy went, how deep bodies overlapped, what drifted.

use super::LookError;
use super::folder::{Summary, history};
use std::path::Path;

/// Where energy can go besides staying in motion and strain: column, and how a sentence calls it.
const SINKS: [(&str, &str); 4] = [
    ("friction", "friction took"),
    ("restitution", "normal contact took"),
    ("damping", "damping took"),
    ("plastic", "plastic work took"),
];

/// Share of the peak energy below which nothing is said about an account.
const NOTHING: f64 = 5e-5;

/// The run in `dir` in words, a line for each subject.
pub fn in_words(dir: &Path) -> Result<String, LookError> {
    let summary = Summary::read(dir)?;
    let table = history(dir, &summary)?;
    let column = |name: &str| table.column(name).unwrap_or(&[]);
    let last = |name: &str| column(name).last().copied().unwrap_or(0.0);
    let total = column("total");
    let (first, end) = (total[0], total[total.len() - 1]);
    let peak = table.energy_there().unwrap_or(0.0);
    let percent = |v: f64| if peak > 0.0 { format!(" ({:.1} %)", 100.0 * v / peak) } else { String::new() };
    let largest = |name: &str| column(name).iter().fold(0.0_f64, |a, v| a.max(v.abs()));

    let mut energy = format!("Energy     {} at the start, {} at the end", short(first), short(end));
    let put_in = last("external");
    if put_in.abs() > NOTHING * peak {
        let verb = if put_in > 0.0 { "put in" } else { "took" };
        energy += &format!("; loads and supports {verb} {}", short(put_in.abs()));
    }
    for (name, words) in SINKS {
        let v = last(name);
        if v.abs() > NOTHING * peak {
            energy += &format!("; {words} {}{}", short(v), percent(v));
        }
    }
    let correction = last("correction");
    if correction.abs() > NOTHING * peak {
        energy += &format!("; corrections added {}{}", short(correction), percent(correction));
    }
    let of_rows = if peak > 0.0 { largest("error") / peak } else { largest("error") };
    let error = summary.error_max_rel.unwrap_or(of_rows);
    let unit = if peak > 0.0 { " of the energy that was there" } else { "" };
    let balance = match summary.warnings.is_empty() {
        true => format!("Balance    closed to {error:.1e}{unit}"),
        false => {
            format!("Balance    off by {error:.1e}{unit}; the result is in doubt, see the warnings")
        }
    };
    let pairs = largest("contacts").max(summary.contacts_peak);
    let overlap = largest("penetration").max(summary.penetration_max);
    let contact = match pairs.max(overlap) {
        0.0 => "Contact    none".to_owned(),
        _ => format!("Contact    up to {pairs:.0} pairs, deepest overlap {}", short(overlap)),
    };
    let see = format!("See        carom plot {0}   carom render {0}", dir.display());
    Ok([energy, balance, contact, see].join("\n") + "\n")
}

/// Four significant digits, as plain text.
fn short(v: f64) -> String {
    if v == 0.0 {
        return "0".into();
    }
    let exponent = v.abs().log10().floor() as i32;
    if (-3..6).contains(&exponent) {
        let text = format!("{v:.*}", (3 - exponent).max(0) as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{v:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (v, text) in [
            (1000.0, "1000"),
            (0.0125, "0.0125"),
            (2.4e-6, "2.400e-6"),
            (-87.654321, "-87.65"),
            (1e9, "1.000e9"),
        ] {
            assert_eq!(short(v), text);
        }
    }
}
