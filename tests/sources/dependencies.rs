//! What Carom is built from has a licence that `deny.toml` allows and comes from the registry that it names. Advisories need a
//! network: `cargo deny check` asks for them.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Is an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` met by what is allowed?
fn allowed(expression: &str, list: &[String]) -> bool {
    let words = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let (met, rest) = any(&words, list);
    met && rest.is_empty()
}

fn any<'w>(words: &'w [&'w str], list: &[String]) -> (bool, &'w [&'w str]) {
    let (mut met, mut rest) = all(words, list);
    while let ["OR", after @ ..] = rest {
        let (other, after) = all(after, list);
        (met, rest) = (met | other, after);
    }
    (met, rest)
}

fn all<'w>(words: &'w [&'w str], list: &[String]) -> (bool, &'w [&'w str]) {
    let (mut met, mut rest) = one(words, list);
    while let ["AND", after @ ..] = rest {
        let (other, after) = one(after, list);
        (met, rest) = (met & other, after);
    }
    (met, rest)
}

fn one<'w>(words: &'w [&'w str], list: &[String]) -> (bool, &'w [&'w str]) {
    match words {
        ["(", inner @ ..] => match any(inner, list) {
            (met, [")", after @ ..]) => (met, after),
            (_, rest) => (false, rest),
        },
        // an exception only adds permissions
        [licence, "WITH", _, after @ ..] | [licence, after @ ..] => {
            (list.iter().any(|l| l == licence), after)
        }
        [] => (false, words),
    }
}

#[test]
fn expressions_of_licences_are_read() {
    let list = ["MIT".to_owned(), "Zlib".to_owned(), "Unicode-3.0".to_owned()];
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("Zlib AND (GPL-3.0 OR LGPL-2.1)", false),
        ("MIT WITH LLVM-exception", true),
        ("", false),
    ] {
        assert_eq!(allowed(expression, &list), met, "{expression}");
    }
}

#[test]
fn everything_has_a_licence_and_a_source_that_are_allowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules: toml::Table = std::fs::read_to_string(root.join("deny.toml")).unwrap().parse().unwrap();
    let list = |section: &str, key: &str| -> Vec<String> {
        let all = rules[section][key].as_array().unwrap();
        all.iter().map(|v| v.as_str().unwrap().to_owned()).collect()
    };
    let (licences, registries) = (list("licenses", "allow"), list("sources", "allow-registry"));
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let version = Command::new(std::env::var("RUSTC").unwrap_or("rustc".into())).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).unwrap();
    // What tests are built of is at hand; parts of the workspace that they do without may have to be fetched.
    let metadata = |more: &[&str]| {
        let asked = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host];
        Command::new(&cargo).args(asked).args(more).current_dir(root).output().unwrap()
    };
    let at_hand = metadata(&["--offline"]);
    let output = if at_hand.status.success() { at_hand } else { metadata(&[]) };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 20, "{}", packages.len());
    for package in packages {
        let name = &package["name"];
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(allowed(licence, &licences), "{name}: \"{licence}\" is not allowed by deny.toml");
        let Some(source) = package["source"].as_str() else { continue };
        let registry = source.strip_prefix("registry+").unwrap_or_default();
        assert!(registries.iter().any(|r| r == registry), "{name} comes from {source}");
    }
}
