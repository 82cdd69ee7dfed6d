//! What follows from a declaration: schema, guide, and nothing that has to be told twice.

use super::{EVERYTHING, load_text, schema, spec::Spec};
use carom_declare::{
    Item, Json, Kind, Problems, Schemas, Section, Source, Tree, Written, guide, json, section,
};
use std::path::Path;

fn root() -> Json {
    serde_json::from_str(&schema::text()).unwrap()
}

fn deck(text: &str) -> Json {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

/// What of JSON schema the declarations use. Returns the places of mistakes, as paths.
fn mistakes(schema: &Json, root: &Json, value: &Json, at: &str, out: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        mistakes(root.pointer(name.trim_start_matches('#')).unwrap(), root, value, at, out);
    }
    let fits = |schema: &Json| {
        let mut found = Vec::new();
        mistakes(schema, root, value, at, &mut found);
        found.is_empty()
    };
    let number = |key: &str| schema[key].as_f64().zip(value.as_f64());
    let count = |key: &str| schema[key].as_u64().zip(value.as_array().map(|a| a.len() as u64));
    let of_type = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("{other}"),
    };
    let mut good = match &schema["type"] {
        Json::String(name) => of_type(name),
        Json::Array(names) => names.iter().any(|n| of_type(n.as_str().unwrap())),
        _ => true,
    };
    good &= schema["enum"].as_array().is_none_or(|all| all.contains(value));
    good &= schema.get("const").is_none_or(|only| only == value);
    good &= number("minimum").is_none_or(|(least, x)| x >= least);
    good &= number("maximum").is_none_or(|(most, x)| x <= most);
    good &= number("exclusiveMinimum").is_none_or(|(least, x)| x > least);
    good &= number("exclusiveMaximum").is_none_or(|(most, x)| x < most);
    good &= count("minItems").is_none_or(|(least, n)| n >= least);
    good &= count("maxItems").is_none_or(|(most, n)| n <= most);
    good &= schema["anyOf"].as_array().is_none_or(|all| all.iter().any(fits));
    good &= schema.get("not").is_none_or(|not| !fits(not));
    if let (Some(table), Some(required)) = (value.as_object(), schema["required"].as_array()) {
        good &= required.iter().all(|key| table.contains_key(key.as_str().unwrap()));
    }
    if !good {
        out.push(at.to_owned());
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let here = format!("{at}.{key}");
        match (schema["properties"].get(key), &schema["additionalProperties"]) {
            (Some(known), _) => mistakes(known, root, inner, &here, out),
            (None, Json::Bool(false)) => out.push(here),
            (None, all @ Json::Object(_)) => mistakes(all, root, inner, &here, out),
            _ => {}
        }
    }
    if let Some(items) = schema.get("items") {
        for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
            mistakes(items, root, inner, &format!("{at}.{i}"), out);
        }
    }
    if let Some(condition) = schema.get("if") {
        let branch = if fits(condition) { "then" } else { "else" };
        schema.get(branch).into_iter().for_each(|s| mistakes(s, root, value, at, out));
    }
    for each in schema["allOf"].as_array().into_iter().flatten() {
        mistakes(each, root, value, at, out);
    }
}

fn places(text: &str) -> Vec<String> {
    let (root, mut out) = (root(), Vec::new());
    mistakes(&root, &root, &deck(text), "", &mut out);
    out
}

#[test]
fn the_schema_takes_every_deck_that_the_reader_takes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let decks = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path().join("deck.toml"));
    let examples: Vec<String> = decks.filter_map(|deck| std::fs::read_to_string(deck).ok()).collect();
    assert!(examples.len() > 10);
    for text in EVERYTHING.map(str::to_owned).into_iter().chain(examples) {
        assert_eq!(places(&text), [""; 0], "{text}");
    }
}

/// An editor underlines the key that is wrong, not the table around it.
#[test]
fn a_mistake_is_told_at_its_key() {
    let good = "method = \"dcr\"\nend = 1\n[body.a]\nmesh = { shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2] }\n\
                material = { law = \"linear\", young = 1, poisson = 0, density = 1 }\n[body.w]\n\
                plane = { point = [0, 0, 0], normal = [0, 0, 1] }\n[dcr]\nsweeps = 3\n";
    assert_eq!(places(good), [""; 0]);
    for (from, to, place) in [
        ("sweeps = 3", "sweep = 3", ".dcr.sweep"),
        ("sweeps = 3", "variant = \"full\"", ".dcr.variant"),
        ("\"linear\", young = 1", "\"linear\", young = -1", ".body.a.material.young"),
        ("\"linear\", young = 1", "\"linear\", young = 1, bulk = 2", ".body.a.material.bulk"),
        ("law = \"linear\"", "law = \"lineal\"", ".body.a.material.law"),
        ("size = [1, 1, 1]", "size = [1, 1]", ".body.a.mesh.size"),
        ("shape = \"box\",", "shape = \"box\", radius = 1,", ".body.a.mesh.radius"),
        ("shape = \"box\"", "shape = \"bx\"", ".body.a.mesh.shape"),
        ("normal = [0, 0, 1]", "normal = [0, 0, \"1\"]", ".body.w.plane.normal.2"),
        ("[body.w]", "[body.w]\ngravity = [0, 0, 1]", ".body.w.gravity"),
        ("[dcr]", "[dcrr]", ".dcrr"),
    ] {
        assert_eq!(places(&good.replace(from, to)), [place], "{to}");
        assert!(load_text(&good.replace(from, to)).is_err(), "{to}");
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    fn each(value: &Json, at: &str, out: &mut Vec<String>) {
        for (key, property) in value["properties"].as_object().into_iter().flatten() {
            let tag = property.get("const").is_some() || value.get("type").is_none();
            if !tag && property["description"].as_str().is_none_or(|d| d.len() < 6) {
                out.push(format!("{at}.{key}"));
            }
        }
        match value {
            Json::Object(map) => map.iter().for_each(|(k, v)| each(v, &format!("{at}/{k}"), out)),
            Json::Array(list) => list.iter().for_each(|v| each(v, at, out)),
            _ => {}
        }
    }
    let mut bare = Vec::new();
    each(&root(), "", &mut bare);
    assert_eq!(bare, [""; 0]);
}

#[test]
fn the_tables_of_the_guide_are_those_of_the_declarations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guide/deck.md");
    let before = std::fs::read_to_string(&path).unwrap();
    let mut schemas = Schemas::default();
    schemas.section::<Spec>();
    let now = guide::renewed(&before, &schemas).unwrap();
    if std::env::var_os("CAROM_RENEW").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let how = "CAROM_RENEW=1 cargo test --release --lib tables_of_the_guide writes them anew";
    assert!(now == text, "guide/deck.md is behind the declarations\n{how}");
    // all sections that a deck has are there
    let missing: Vec<&String> = schemas
        .sections
        .iter()
        .map(|s| &s.0)
        .filter(|n| !text.contains(&format!("<!-- keys of {n} -->")))
        .collect();
    assert_eq!(missing, ["deck"], "sections without a table in guide/deck.md");
}

section! {
    /// A section as it was.
    #[derive(Clone, Debug, PartialEq)]
    struct Before: "before" {
        /// The first key.
        first: f64 = 1.0;
    }
}

section! {
    /// The same with another key: one line more.
    #[derive(Clone, Debug, PartialEq)]
    struct After: "after" {
        /// The first key.
        first: f64 = 1.0;
        /// The second key.
        second: u32 as carom_declare::Count = 2;
    }
}

/// One line of declaration: reader, default, resolved deck, schema, guide. Counted: what the two sections give differs in
/// one key each, and the switches of methods stand in no file of the deck.
#[test]
fn a_key_is_added_in_one_place() {
    fn all<S: Section + Kind<Of = S> + Default>(text: &str) -> (usize, usize, usize, usize, String) {
        let source = Source { name: "deck".into(), text: text.into(), options: Vec::new() };
        let tree = Tree::parse(&source).unwrap();
        let problems = Problems::new(&source);
        S::read(Item { node: &tree.root, name: "it".into(), problems: &problems });
        let told = problems.verdict().err().map_or(String::new(), |e| e.to_string());
        let Some(Written::Table(written)) = S::write(&S::default()) else { panic!() };
        let mut schemas = Schemas::default();
        let keys = S::describe(&mut schemas).len();
        let reference = schemas.section::<S>();
        let properties = schemas.resolve(&reference)["properties"].as_object().unwrap().len();
        let mark = format!("<!-- keys of {} -->", S::NAME);
        let rows = guide::renewed(&format!("{mark}<!-- end -->"), &schemas).unwrap().matches("\n| `").count();
        (written.len(), keys, properties, rows, told)
    }
    let (before, after) = (all::<Before>("second = 0"), all::<After>("second = 0"));
    assert_eq!((before.0, before.1, before.2, before.3), (1, 1, 1, 1));
    assert_eq!((after.0, after.1, after.2, after.3), (2, 2, 2, 2));
    assert!(before.4.contains("it has no key `second`") && before.4.contains("`first`"), "{}", before.4);
    assert!(after.4.contains("`second` of it is 0") && after.4.contains("from 1"), "{}", after.4);
    assert_eq!(json!(After::default().write_keys().len()), json!(2));

    let mut schemas = Schemas::default();
    schemas.section::<Spec>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deck");
    let sources: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "rs") && !p.ends_with("tests.rs"))
        .map(|p| std::fs::read_to_string(p).unwrap())
        .collect();
    let mut switches = 0;
    for (section, keys) in &schemas.sections {
        if crate::deck::spec::MethodName::called(section).is_none() {
            continue;
        }
        for key in keys {
            // read as `.key`, set as `key:`
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let count = |s: &String, mark: &str| {
                s.match_indices(mark).filter(|(at, _)| ends(&s[at + mark.len()..])).count()
            };
            let uses = |mark: String| sources.iter().map(|s| count(s, &mark)).sum::<usize>();
            let count = uses(format!(".{}", key.name)) + uses(format!(" {}: ", key.name));
            // but for `steps`, on which the default of `safety` depends, and `friction`, `mass`, `normal` and `update`, words
            // of `[contact]`, of the model, of planes and of checksums too
            assert!(
                count == 0 || ["steps", "friction", "mass", "normal", "update"].contains(&key.name),
                "{section}.{} is named in src/deck",
                key.name
            );
            switches += 1;
        }
    }
    assert!(switches > 20, "{switches}");
}
