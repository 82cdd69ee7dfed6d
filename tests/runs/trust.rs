//! Decks whose answers are known without Carom, each by every method that its lines beginning with `#:` name:
//!
//! ```text
//! #: figure=friction ref=0.106 tol=0.032 methods=dcr,semi-explicit
//! ```
//!
//! `tol` is the largest distance from `ref`, `max` the largest value. Where the answers come from stands in the guide
//! (`friction.md`). `X.turned.toml`, `X.moved.toml` and `X.order.toml` state the problem of `X.toml` otherwise.

use carom::deck::{self, Input};
use carom::output::history::History;
use carom::run::{Run, pool};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is not right yet, as (deck, method, figure); see the guide. Whoever mends one of these takes it out.
const NOT_YET: [(&str, &str, &str); 0] = [];

type Columns = HashMap<String, Vec<f64>>;
type Keys = HashMap<String, String>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trust")
}

/// One deck by one method: its history, and what stopped it.
struct Outcome {
    history: Columns,
    error: Option<String>,
}

fn run(name: &str, method: &str, out: &Path) -> Outcome {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let out = out.join(format!("{name}-{method}"));
    std::fs::create_dir_all(&out).unwrap();
    let options = [format!("method=\"{method}\"")];
    let folder = folder();
    let input = Input { name, text: &text, folder: &folder, options: &options };
    let error = pool(1).unwrap().install(|| {
        let loaded = deck::load(&input).map_err(|e| e.to_string())?;
        let (case, rows) = (loaded.case, loaded.spec.output.history);
        let history = History::create(&out, &case, rows).map_err(|e| e.to_string())?;
        let mut run = Run::start(case, vec![Box::new(history)], None).map_err(|e| e.to_string())?;
        run.to_end(&AtomicBool::new(false)).map(|_| ()).map_err(|e| e.to_string())
    });
    let csv = std::fs::read_to_string(out.join("history.csv")).unwrap_or_default();
    let mut lines = csv.lines().map(|l| l.split(','));
    let names: Vec<&str> = lines.next().map_or(Vec::new(), Iterator::collect);
    let mut history: Columns = names.iter().map(|n| (n.to_string(), Vec::new())).collect();
    for line in lines {
        for (name, cell) in names.iter().zip(line) {
            history.get_mut(*name).unwrap().push(cell.parse().unwrap_or(f64::NAN));
        }
    }
    Outcome { history, error: error.err() }
}

fn number(keys: &Keys, key: &str) -> f64 {
    keys[key].parse().unwrap_or_else(|_| panic!("{key}={}", keys[key]))
}

fn vector(keys: &Keys, key: &str) -> [f64; 3] {
    let all: Vec<f64> = keys[key].split(',').map(|x| x.parse().unwrap()).collect();
    [all[0], all[1], all[2]]
}

/// Component of a probe's u, v, f or j along a direction, row by row.
fn along(h: &Columns, probe: &str, kind: &str, direction: [f64; 3]) -> Vec<f64> {
    let mut sum = vec![0.0; h["time"].len()];
    for (axis, d) in ["x", "y", "z"].iter().zip(direction) {
        if let Some(column) = h.get(&format!("{probe}.{kind}{axis}")) {
            sum.iter_mut().zip(column).for_each(|(s, c)| *s += d * c);
        }
    }
    sum
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn last(x: &[f64]) -> f64 {
    x[x.len() - 1]
}

fn since(h: &Columns, keys: &Keys) -> usize {
    let from = keys.get("since").map_or(0.0, |_| number(keys, "since"));
    h["time"].iter().position(|t| *t >= from).unwrap()
}

/// Slope of the velocity by least squares.
fn acceleration(h: &Columns, keys: &Keys) -> f64 {
    let (from, v) = (since(h, keys), along(h, &keys["body"], "v", vector(keys, "dir")));
    let (t, v) = (&h["time"][from..], &v[from..]);
    let (tm, vm) = (mean(t), mean(v));
    let above: f64 = t.iter().zip(v).map(|(t, v)| (t - tm) * (v - vm)).sum();
    above / t.iter().map(|t| (t - tm).powi(2)).sum::<f64>()
}

/// Tangential over normal impulse of contact.
fn coulomb(h: &Columns, keys: &Keys) -> f64 {
    let (from, n) = (since(h, keys), vector(keys, "normal"));
    let j: Vec<f64> = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .map(|e| along(h, &keys["probe"], "j", e))
        .iter()
        .map(|c| last(c) - c[from])
        .collect();
    let normal: f64 = j.iter().zip(n).map(|(j, n)| j * n).sum();
    let all: f64 = j.iter().map(|j| j * j).sum();
    (all - normal * normal).max(0.0).sqrt() / normal.abs().max(1e-300)
}

/// Drift per second and edge: mean place in the last fifth of the time less that in the first.
fn creep(h: &Columns, keys: &Keys) -> f64 {
    let from = since(h, keys);
    let fifth = ((h["time"].len() - from) / 5).max(1);
    let way = |x: &[f64]| mean(&x[x.len() - fifth..]) - mean(&x[from..from + fifth]);
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let ways = axes.map(|e| way(&along(h, &keys["body"], "u", e)));
    ways.iter().map(|w| w * w).sum::<f64>().sqrt() / (number(keys, "edge") * way(&h["time"]))
}

fn largest(x: impl Iterator<Item = f64>) -> f64 {
    x.fold(0.0, |most, x| if x.is_finite() { f64::max(most, x) } else { f64::INFINITY })
}

/// Largest difference of the strain energy of two runs of one problem, as a share of the energy at the start.
fn twin(h: &Columns, other: &Columns) -> f64 {
    assert!(h["time"].len().abs_diff(other["time"].len()) <= 2);
    largest(h["strain"].iter().zip(&other["strain"]).map(|(a, b)| (a - b).abs())) / h["total"][0]
}

fn measure(h: &Columns, keys: &Keys) -> f64 {
    let body = |kind: &str| along(h, &keys["body"], kind, vector(keys, "dir"));
    match keys["figure"].as_str() {
        "friction" => last(&h["friction"]) / h["total"][0],
        "velocity" => last(&body("v")),
        "displacement" => last(&body("u")),
        "acceleration" => acceleration(h, keys),
        "coulomb" => coulomb(h, keys),
        "creep" => creep(h, keys),
        "trembling" => last(&h["kinetic"]) / h["kinetic"][0],
        "work" => {
            let weight = vector(keys, "weight");
            let size = weight.iter().map(|w| w * w).sum::<f64>().sqrt() * number(keys, "edge");
            let way = along(h, &keys["body"], "u", weight);
            largest(h["external"].iter().zip(way).map(|(a, b)| (a - b).abs())) / size
        }
        "balance" => largest(h["error"].iter().map(|e| e.abs())) / number(keys, "energy"),
        "rebound" => last(&body("v")) / body("v")[0],
        "quiet" => {
            largest(h["kinetic"].iter().zip(&h["strain"]).map(|(a, b)| a.abs() + b.abs()))
                / number(keys, "energy")
        }
        "impulse" => last(&along(h, &keys["probe"], "j", vector(keys, "dir"))),
        other => panic!("no figure called {other}"),
    }
}

/// One line of a deck and one method.
struct Question {
    deck: String,
    method: String,
    keys: Keys,
}

fn questions(methods: &[&str]) -> Vec<Question> {
    let mut names: Vec<String> = (std::fs::read_dir(folder()).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    let mut all = Vec::new();
    for deck in names {
        let text = std::fs::read_to_string(folder().join(&deck)).unwrap();
        for line in text.lines().filter_map(|l| l.strip_prefix("#:")) {
            let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
            let keys: Keys = pairs.map(|(k, v)| (k.into(), v.into())).collect();
            for method in keys["methods"].split(',').chain(["verlet"]).filter(|m| methods.contains(m)) {
                all.push(Question { deck: deck.clone(), method: method.into(), keys: keys.clone() });
            }
        }
    }
    all
}

/// How a question was answered: what is wrong, if anything.
fn judge(q: &Question, of: &Outcome, twin_of: Option<&Outcome>) -> Option<String> {
    let h = &of.history;
    if let Some(error) = &of.error {
        // who stops in front of a wall with a word has not passed through it
        let stopped = q.keys["figure"] == "rebound"
            && last(&along(h, &q.keys["body"], "u", vector(&q.keys, "dir")))
                < number(&q.keys, "gap") + 0.5 * number(&q.keys, "edge");
        return (!stopped).then(|| error.clone());
    }
    // the account of `semi-explicit` is that of forces at the end of a step, and does fall
    let fell = h["friction"].windows(2).map(|w| w[0] - w[1]).fold(0.0, f64::max);
    if fell > 0.0 && q.method != "semi-explicit" {
        return Some(format!("friction's account falls by {fell:e}"));
    }
    let value = match twin_of {
        Some(Outcome { error: Some(error), .. }) => return Some(format!("twin: {error}")),
        Some(other) => twin(h, &other.history),
        None => measure(h, &q.keys),
    };
    let (right, bound) = match q.keys.get("max") {
        Some(max) => (value <= number(&q.keys, "max"), format!("at most {max}")),
        None => {
            let (is, off) = (number(&q.keys, "ref"), number(&q.keys, "tol"));
            ((value - is).abs() <= off, format!("{is} within {off}"))
        }
    };
    (!right).then(|| format!("{value:.4e} and not {bound}"))
}

#[test]
fn answers_that_are_known_come_out() {
    let out = std::env::temp_dir().join(format!("carom-trust-{}", std::process::id()));
    let all = questions(&["dcr", "asynchronous", "semi-explicit", "verlet", "nonsmooth", "velocity-update"]);
    let mut wanted: Vec<(String, String)> = Vec::new();
    for q in &all {
        wanted.push((q.deck.clone(), q.method.clone()));
        wanted.extend(q.keys.get("twin").map(|t| (t.clone(), q.method.clone())));
    }
    wanted.sort();
    wanted.dedup();
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            threads.spawn(|| {
                while let Some((deck, method)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run(deck, method, &out);
                    outcomes.lock().unwrap().insert((deck.clone(), method.clone()), outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let mut wrong = Vec::new();
    for q in &all {
        let twin_of = q.keys.get("twin").map(|t| &outcomes[&(t.clone(), q.method.clone())]);
        let verdict = judge(q, &outcomes[&(q.deck.clone(), q.method.clone())], twin_of);
        let not_yet = NOT_YET.contains(&(&q.deck, &q.method, &q.keys["figure"]));
        if not_yet && verdict.is_none() {
            wrong.push(format!("{} by {} is right now: take it out of NOT_YET", q.deck, q.method));
        } else if let (Some(why), false) = (verdict, not_yet) {
            wrong.push(format!("{} by {}, {}: {why}", q.deck, q.method, q.keys["figure"]));
        }
    }
    let _ = std::fs::remove_dir_all(&out);
    assert!(
        all.len() > 80 && wrong.is_empty(),
        "{} of {} wrong\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}
