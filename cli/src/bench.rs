//! `carom bench`: the benchmarks, as ratios and absolute figures.

use crate::exit::{BAD_INPUT, Failure, NO_OUTPUT, Outcome, unless_closed};
use crate::soak::{self, SoakArgs};
use carom::cases::bench::search::Figure;
use carom::cases::bench::{Measurement, contacts, dense, factors, force, kicks, machine, search, steps};
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct BenchArgs {
    /// Which: `force`, `search`, `kicks`, `contacts`, `factors`, `steps`, or the beginning of a case's name such as `force/hex8/64k`. If none is named, some
    /// of each that take two minutes together. `soak` alone runs random scenes and tells the worst that was seen
    names: Vec<String>,
    /// One JSON object per measurement
    #[arg(long)]
    json: bool,
    /// Threads to measure with
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Writes the scene of `search/SCENE`, or the matrix of `factors/CASE`, to a file for another program, and measures nothing
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    #[command(flatten)]
    soak: SoakArgs,
}

pub fn command(args: &BenchArgs) -> Outcome {
    if let Some(file) = &args.dump {
        return dump(args, file);
    }
    if args.names == ["soak"] {
        return soak::command(&args.soak, args.json);
    }
    let all: Vec<String> = force::cases()
        .iter()
        .map(|case| format!("force/{case}"))
        .chain(search::SCENES.iter().map(|scene| format!("search/{scene}")))
        .chain(kicks::CASES.iter().map(|case| format!("kicks/{case}")))
        .chain(contacts::cases().chain(dense::CASES).map(|case| format!("contacts/{case}")))
        .chain(factors::cases().map(|case| format!("factors/{case}")))
        .chain(steps::cases().map(|case| format!("steps/{case}")))
        .collect();
    let long = factors::long_cases().map(|case| format!("factors/{case}"));
    let long = long.chain(steps::long_cases().map(|case| format!("steps/{case}")));
    let all: Vec<String> = all.into_iter().chain(long.filter(|case| args.names.contains(case))).collect();
    if let Some(name) = args.names.iter().find(|n| !all.iter().any(|c| fits(n, c))) {
        let message = format!("no benchmark is called {name}; there is {}", all.join(", "));
        return Err(Failure::new(BAD_INPUT, message));
    }
    let named = |case: &&String| args.names.iter().any(|n| fits(n, case));
    let usual = |case: &&String| USUAL.iter().any(|n| fits(n, case));
    let none = args.names.is_empty();
    let chosen: Vec<&String> = all.iter().filter(|c| if none { usual(c) } else { named(c) }).collect();
    unless_closed(bench(args, &chosen, &mut io::stdout().lock()), ())?;
    if none {
        let rooms = "force, search, kicks, contacts, factors or steps";
        eprintln!("{} of {} benchmarks; for all of a kind: carom bench {rooms}", chosen.len(), all.len());
    }
    Ok(0)
}

/// What is measured when nothing is named: one size and one law of each element, scenes that take seconds.
const USUAL: [&str; 16] = [
    "force/hex8/64k/neo-hookean",
    "force/tet4/64k/neo-hookean",
    "force/tet10/64k/neo-hookean",
    "force/shell3/64k/neo-hookean",
    "search/cubes25",
    "search/series",
    "search/spheres4096",
    "search/gather/pile1000",
    "search/cells",
    "search/swept",
    "kicks",
    "contacts/heap",
    "contacts/pile-dcr",
    "contacts/pile-asynchronous",
    "contacts/pile-semi-explicit",
    "factors",
];

/// Runs the chosen cases.
fn bench(args: &BenchArgs, chosen: &[&String], out: &mut impl Write) -> io::Result<()> {
    let limits = machine::measure();
    let peak = limits[0].value;
    for limit in &limits {
        print(args, limit, out)?;
    }
    for (i, case) in chosen.iter().enumerate() {
        if io::stderr().is_terminal() {
            eprintln!("{} of {}: {case}", i + 1, chosen.len());
        }
        for &threads in &args.threads {
            if let Some(case) = case.strip_prefix("force/") {
                if let Some(measurement) = force::measure(case, threads, peak) {
                    print(args, &measurement, out)?;
                }
            } else if let Some(case) = case.strip_prefix("kicks/") {
                for measurement in kicks::measure(case, threads) {
                    print(args, &measurement, out)?;
                }
            } else if let Some(case) = case.strip_prefix("factors/") {
                for measurement in factors::measure(case, threads) {
                    print(args, &measurement, out)?;
                }
            } else if let Some(case) = case.strip_prefix("steps/") {
                for measurement in steps::measure(case, threads) {
                    print(args, &measurement, out)?;
                }
            } else if let Some(case) = case.strip_prefix("contacts/") {
                let dense = dense::CASES.contains(&case);
                let measure = if dense { dense::measure } else { contacts::measure };
                for measurement in measure(case, threads) {
                    print(args, &measurement, out)?;
                }
            } else if let Some(scene) = case.strip_prefix("search/") {
                let mut written = Ok(());
                let pool = carom::run::pool(threads).map_err(io::Error::other)?;
                let mut found = Vec::new();
                pool.install(|| search::measure(scene, &mut |m| found.push(m))).map_err(io::Error::other)?;
                for figure in &found {
                    written = written.and_then(|()| match figure {
                        Figure::Steps(m) => print_search(args, m, out),
                        Figure::Plain(m) => print(args, m, out),
                    });
                }
                written?;
            }
        }
    }
    Ok(())
}

fn dump(args: &BenchArgs, file: &Path) -> Outcome {
    let name = args.names.first().map(String::as_str).unwrap_or_default();
    let unwritable = |e| Failure::new(NO_OUTPUT, format!("cannot write {}: {e}", file.display()));
    if let Some(case) = name.strip_prefix("factors/")
        && factors::dump(case, file).map_err(unwritable)?
    {
        return Ok(0);
    }
    let scene = name.strip_prefix("search/").and_then(search::scene);
    let Some(scene) = scene else {
        return Err(Failure::new(
            BAD_INPUT,
            format!(
                "--dump needs a scene such as search/pile1000 or a matrix such as factors/10k, not \"{name}\""
            ),
        ));
    };
    search::dump(&scene, file).map_err(unwritable)?;
    Ok(0)
}

/// `force`, `force/hex8`, `force/hex8/64k/…`
fn fits(name: &str, case: &str) -> bool {
    case == name || case.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
}

fn print_search(args: &BenchArgs, m: &search::Measurement, out: &mut impl Write) -> io::Result<()> {
    if args.json {
        serde_json::to_writer(&mut *out, m)?;
        writeln!(out)?;
    } else {
        let pairs = m.vertex_faces + m.edge_edges;
        writeln!(
            out,
            "search/{:<38} {} thread{}  {:>9.3} ms/step  {:>7.1} ns/node  {} candidates, {pairs} pairs; \
             build {:.3} refit {:.3} traverse {:.3} narrow {:.3} ms",
            m.case,
            m.threads,
            if m.threads == 1 { " " } else { "s" },
            1e3 * m.value,
            m.ns_per_node,
            m.vertex_face_candidates + m.edge_edge_candidates,
            1e3 * m.build_seconds,
            1e3 * m.refit_seconds,
            1e3 * m.traverse_seconds,
            1e3 * m.narrow_seconds,
        )?;
    }
    out.flush()
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
        "kicks/s" => (m.value / 1e6, "million kicks/s"),
        "checks/s" => (m.value / 1e6, "million checks/s"),
        "queries/s" => (m.value / 1e6, "million queries/s"),
        "flop/s" => (m.value / 1e9, "Gflop/s"),
        "bytes/s" => (m.value / 1e9, "GB/s"),
        "bytes" => (m.value / 1e6, "MB"),
        unit => (m.value, unit),
    };
    // small shares and short times keep their digits
    let value =
        if value != 0.0 && value.abs() < 0.1 { format!("{value:.2e}") } else { format!("{value:.2}") };
    write!(
        out,
        "{name:<40} {} thread{}  {value:>8} {unit}",
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
