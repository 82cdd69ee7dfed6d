//! Every message that a deck can bring about: decks that say everything, with one thing wrong in each.
//!
//! `messages.txt` holds them all, names and numbers left out. A message that gets lost or worse shows here.

use super::{EVERYTHING, load_text};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Value;

/// What stands in the place of a value.
fn wrong() -> Vec<Value> {
    let table = |text: &str| Value::Table(text.parse().unwrap());
    let list = |text: &str| text.parse::<toml::Table>().unwrap()["x"].clone();
    vec![
        Value::String("word".into()),
        Value::Integer(-1),
        Value::Integer(0),
        Value::Float(1.5),
        Value::Float(f64::NAN),
        Value::Float(f64::INFINITY),
        Value::Boolean(true),
        list("x = []"),
        list("x = [1]"),
        list("x = [0, 0, 0]"),
        list("x = [\"a\", \"b\"]"),
        list("x = [[1, 1], [0, 1]]"),
        table(""),
        table("law = \"ogden\""),
    ]
}

/// All ways into a value, itself first.
fn ways(value: &Value, at: Vec<String>, out: &mut Vec<Vec<String>>) {
    out.push(at.clone());
    let deeper = |key: String| [at.clone(), vec![key]].concat();
    match value {
        Value::Table(table) => table.iter().for_each(|(k, v)| ways(v, deeper(k.clone()), out)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| ways(v, deeper(i.to_string()), out)),
        _ => {}
    }
}

fn find<'v>(value: &'v mut Value, way: &[String]) -> &'v mut Value {
    way.iter().fold(value, |value, key| match value {
        Value::Array(list) => &mut list[key.parse::<usize>().unwrap()],
        table => &mut table[key.as_str()],
    })
}

/// The deck with one thing wrong, in every way.
fn spoilt(text: &str) -> BTreeSet<String> {
    let whole = Value::Table(text.parse().unwrap());
    let mut all = Vec::new();
    ways(&whole, Vec::new(), &mut all);
    let mut decks = BTreeSet::new();
    let mut change = |edit: &dyn Fn(&mut Value)| {
        let mut deck = whole.clone();
        edit(&mut deck);
        decks.insert(toml::to_string(&deck).unwrap());
    };
    for way in &all {
        change(&|deck| {
            if let Value::Table(table) = find(deck, way) {
                table.insert("foo_bar".into(), Value::Integer(1));
            }
        });
        for more in ["material", "table", "set", "velocity", "displacement", "gravity", "travel", "plane"] {
            change(&|deck| {
                if let Value::Table(table) = find(deck, way) {
                    table.entry(more).or_insert(Value::String("x".into()));
                }
            });
        }
        let Some((last, before)) = way.split_last() else { continue };
        change(&|deck| match find(deck, before) {
            Value::Array(list) => _ = list.remove(last.parse().unwrap()),
            Value::Table(table) => _ = table.remove(last),
            _ => {}
        });
        for value in wrong() {
            change(&|deck| *find(deck, way) = value.clone());
        }
    }
    decks
}

/// Without names and numbers.
fn bare(text: &str) -> String {
    let text = text.replace(env!("CARGO_MANIFEST_DIR"), "DIR");
    let mut out = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if c == q => {
                quote = None;
                out.push('…');
            }
            Some(_) => {}
            None if c == '`' || c == '"' => quote = Some(c),
            None if c.is_ascii_digit() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            None => out.push(c),
        }
    }
    let mut out = out.replace("#.#", "#").replace("-#", "#").replace("#e#", "#");
    while out.contains("…, …") {
        out = out.replace("…, …", "…"); // lists of any length
    }
    out
}

#[test]
fn every_message_is_still_there() {
    let mut told = BTreeSet::new();
    for text in EVERYTHING {
        for deck in spoilt(text) {
            let problems = match load_text(&deck) {
                Ok(loaded) => loaded.warnings,
                Err(errors) => errors.problems,
            };
            let line =
                |m: &str, h: &str| format!("{} — {}", bare(m), bare(h)).trim_end_matches(" — ").to_owned();
            told.extend(problems.iter().map(|p| line(&p.message, &p.help)));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deck/tests/messages.txt");
    let now: String = told.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var_os("CAROM_RENEW").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    let kept: BTreeSet<String> = kept.lines().map(str::to_owned).collect();
    let lost: Vec<_> = kept.difference(&told).collect();
    let new: Vec<_> = told.difference(&kept).collect();
    let how = "CAROM_RENEW=1 cargo test --release --lib every_message writes the list anew";
    assert!(lost.is_empty() && new.is_empty(), "lost: {lost:#?}\nnew: {new:#?}\n{how}");
}
