//! `cargo run --release -p carom-fuzz -- [TARGET…] [--seconds S] [--runs N] [--seed K]`
//!
//! Goes through the corpus (`fuzz/corpus/TARGET/`), then through changed and generated inputs, until the time or the number of runs
//! is over, for each target. An input that makes a reader panic, hang for 10 s or take more than 1 GiB is left in `fuzz/found/` and
//! the program ends with 1. Inputs with outcomes that were not seen before are changed further.

use carom::cases::soak::Dice;
use carom_fuzz::mutate::{below, mutate};
use carom_fuzz::{FORMATS, TARGETS, generate};
use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Processor time of one input [s].
const HANG: f64 = 10.0;
const MEMORY: u64 = 1 << 30;
/// Inputs that are kept for further changes.
const KEPT: usize = 20_000;

struct Options {
    targets: Vec<String>,
    seconds: f64,
    runs: u64,
    seed: u64,
}

fn options() -> Options {
    let mut options = Options { targets: Vec::new(), seconds: f64::INFINITY, runs: u64::MAX, seed: 1 };
    let mut words = std::env::args().skip(1);
    let usage = || -> ! {
        let names: Vec<&str> = TARGETS.iter().map(|t| t.0).collect();
        eprintln!("carom-fuzz [{}]… [--seconds S] [--runs N] [--seed K]", names.join("|"));
        exit(2)
    };
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|n| n.parse::<f64>().ok()).unwrap_or_else(|| usage());
        match word.as_str() {
            "--seconds" => options.seconds = number(),
            "--runs" => options.runs = number() as u64,
            "--seed" => options.seed = number() as u64,
            name if TARGETS.iter().any(|t| t.0 == name) => options.targets.push(name.into()),
            _ => usage(),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().map(|t| t.0.to_owned()).collect();
    }
    if options.runs == u64::MAX && options.seconds.is_infinite() {
        options.seconds = 10.0;
    }
    options
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// What to begin with: the target's own corpus, and what the repository has elsewhere.
fn corpus_of(target: &str) -> Vec<PathBuf> {
    let (places, ending): (&[&str], &str) = match target {
        "deck" => (&["tests/broken", "tests/trust", "cli/tests/bad", "examples"], "toml"),
        "gmsh" => (&["tests/meshes", "cli/tests/bad"], "msh"),
        "mesh" => (&["tests/meshes"], ""),
        _ => (&[], ""),
    };
    let fits = |path: &Path| match path.extension().and_then(|e| e.to_str()) {
        Some(own) => own == ending || (target == "mesh" && FORMATS.contains(&own)),
        None => false,
    };
    let mut files = Vec::new();
    let list = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect::<Vec<_>>()
    };
    files.extend(list(&root().join("corpus").join(target)));
    for place in places {
        for path in list(&root().join("..").join(place)) {
            if path.is_dir() {
                files.extend(list(&path).into_iter().filter(|p| fits(p)));
            } else if fits(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A file as an input of a target.
fn input_of(target: &str, file: &Path) -> Vec<u8> {
    let mut bytes = fs::read(file).unwrap_or_default();
    let own = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if let (true, Some(format)) = (target == "mesh", FORMATS.iter().position(|f| *f == own)) {
        bytes.insert(0, format as u8);
    }
    bytes
}

/// Says to the child of [`limited`] that it is one.
const CHILD: &str = "CAROM_FUZZ_CHILD";

/// Runs this program again with a limit on its memory, so that decks are told that they do not fit instead of filling the machine.
#[cfg(unix)]
fn limited() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let (Ok(program), kilobytes) = (std::env::current_exe(), (MEMORY + MEMORY / 4) >> 10) else { return };
    let script = format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"");
    let mut child = std::process::Command::new("sh");
    let child = child.args(["-c", &script]).arg(program).args(std::env::args().skip(1));
    match child.env(CHILD, "1").status() {
        Ok(ended) if ended.code().is_none() => {
            eprintln!("it died ({ended}): too much memory, or worse; the same seed leads there again");
            exit(1)
        }
        Ok(ended) => exit(ended.code().unwrap_or(1)),
        Err(_) => {}
    }
}

/// The input that is being tried, and since when by the clock of this process.
type Trying = Arc<Mutex<Option<(f64, String, Vec<u8>)>>>;

fn leave(target: &str, input: &[u8], why: &str) -> ! {
    let folder = root().join("found");
    // not its checksum: files that end with theirs all have the same
    let mut name = DefaultHasher::new();
    input.hash(&mut name);
    let path = folder.join(format!("{target}-{:016x}", name.finish()));
    let _ = fs::create_dir_all(&folder);
    let _ = fs::write(&path, input);
    eprintln!("{target}: {why}; the input is {}", path.display());
    exit(1)
}

/// Resident memory now [bytes].
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Processor time of this process so far [s]: others may be busy on this machine. The wall's clock where the system does not tell.
fn clock(begin: Instant) -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |k: usize| fields.get(k).and_then(|f| f.parse::<f64>().ok());
    match (ticks(11), ticks(12)) {
        // the system counts hundredths of seconds for everybody
        (Some(user), Some(system)) => 0.01 * (user + system),
        _ => begin.elapsed().as_secs_f64(),
    }
}

fn watch(trying: Trying, begin: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let (now, spent) = (trying.lock().unwrap(), clock(begin));
            if let Some((since, target, input)) = &*now {
                if spent - since > HANG {
                    leave(target, input, "it hangs");
                }
                if resident() > MEMORY {
                    leave(target, input, "it takes more than 1 GiB");
                }
            }
        }
    });
}

fn main() {
    #[cfg(unix)]
    limited();
    let options = options();
    let (trying, started) = (Trying::default(), Instant::now());
    watch(trying.clone(), started);
    panic::set_hook(Box::new(|info| eprintln!("{info}")));
    for (name, target) in TARGETS.iter().filter(|t| options.targets.iter().any(|n| n == t.0)) {
        let begin = Instant::now();
        let mut dice = Dice::new(options.seed);
        let mut corpus: Vec<Vec<u8>> = Vec::new();
        let mut kinds = HashSet::new();
        let mut runs = 0_u64;
        let try_one = |input: Vec<u8>, corpus: &mut Vec<Vec<u8>>, kinds: &mut HashSet<String>| {
            let since = clock(started);
            *trying.lock().unwrap() = Some((since, (*name).to_owned(), input.clone()));
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| target(&input)));
            *trying.lock().unwrap() = None;
            match outcome {
                Err(_) => leave(name, &input, "it panics"),
                Ok(kind) => {
                    if kinds.insert(kind) && corpus.len() < KEPT {
                        corpus.push(input);
                    }
                }
            }
        };
        for file in corpus_of(name) {
            try_one(input_of(name, &file), &mut corpus, &mut kinds);
            runs += 1;
        }
        let records = if *name == "checkpoint" { generate::records() } else { Vec::new() };
        let from_corpus = runs;
        while runs < options.runs && begin.elapsed().as_secs_f64() < options.seconds {
            let fresh = corpus.is_empty() || dice.unit() < 0.3;
            let input = match *name {
                "deck" if fresh => generate::deck(&mut dice).into_bytes(),
                "checkpoint" if fresh || dice.unit() < 0.8 => generate::checkpoint(&mut dice, &records),
                _ if corpus.is_empty() => vec![0; below(&mut dice, 100)],
                _ => {
                    let (a, b) = (below(&mut dice, corpus.len()), below(&mut dice, corpus.len()));
                    mutate(&corpus[a], &corpus[b], &mut dice)
                }
            };
            try_one(input, &mut corpus, &mut kinds);
            runs += 1;
        }
        println!(
            "{name}: {runs} runs ({from_corpus} of the corpus) in {:.0} s, {} kinds of outcome, {} MB resident",
            begin.elapsed().as_secs_f64(),
            kinds.len(),
            resident() / 1_000_000
        );
    }
}
