//! `carom bench`: the benchmarks, as ratios and absolute figures.

use crate::exit::{BAD_INPUT, Failure, Outcome, unless_closed};
use carom::cases::bench::{Measurement, force, machine};
use clap::Args;
use std::io::{self, Write};

#[derive(Args)]
pub struct BenchArgs {
    /// Which: `force`, or the beginning of a case's name such as `force/hex8/64k`; all if none is named
    names: Vec<String>,
    /// One JSON object per measurement
    #[arg(long)]
    json: bool,
    /// Threads to measure with
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
}

pub fn command(args: &BenchArgs) -> Outcome {
    if unless_closed(bench(args, &mut io::stdout().lock()), true)? {
        return Ok(0);
    }
    let message =
        format!("no benchmark is called {}; there is {}", args.names.join(" or "), force::cases().join(", "));
    Err(Failure::new(BAD_INPUT, message))
}

/// Runs what was asked for; `Ok(false)` if a name fits nothing.
fn bench(args: &BenchArgs, out: &mut impl Write) -> io::Result<bool> {
    let all: Vec<String> = force::cases();
    let wanted = |case: &str| args.names.is_empty() || args.names.iter().any(|n| fits(n, case));
    if args.names.iter().any(|n| !all.iter().any(|c| fits(n, c))) {
        return Ok(false);
    }
    let limits = machine::measure();
    let peak = limits[0].value;
    for limit in &limits {
        print(args, limit, out)?;
    }
    for case in all.iter().filter(|c| wanted(c)) {
        for &threads in &args.threads {
            if let Some(measurement) = force::measure(case, threads, peak) {
                print(args, &measurement, out)?;
            }
        }
    }
    Ok(true)
}

/// `force`, `force/hex8`, `force/hex8/64k/…`
fn fits(name: &str, case: &str) -> bool {
    let whole = format!("force/{case}");
    whole == name || whole.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
}

fn print(args: &BenchArgs, m: &Measurement, out: &mut impl Write) -> io::Result<()> {
    if args.json {
        serde_json::to_writer(&mut *out, m)?;
        writeln!(out)?;
        return out.flush();
    }
    let name = format!("{}/{}", m.bench, m.case);
    let (value, unit) = match m.unit {
        "elements/s" => (m.value / 1e6, "million elements/s"),
        "flop/s" => (m.value / 1e9, "Gflop/s"),
        _ => (m.value / 1e9, "GB/s"),
    };
    write!(
        out,
        "{name:<40} {} thread{}  {value:>8.2} {unit}",
        m.threads,
        if m.threads == 1 { " " } else { "s" }
    )?;
    if let (Some(share), Some(flops)) = (m.peak_fraction, m.flops_per_element) {
        write!(out, "  {:>5.1} % of the peak at {flops} flop/element", 100.0 * share)?;
    }
    if let (Some(bytes), Some(force)) = (m.bytes_per_element, m.force_share) {
        write!(out, ", {bytes:.0} bytes/element, {:.0} % of the time in forces", 100.0 * force)?;
    }
    writeln!(out)?;
    out.flush()
}
