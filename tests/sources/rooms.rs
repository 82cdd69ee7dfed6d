//! A room uses only rooms that come before it: those of `elements/`, then those of `src/lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The rooms named after every `crate::` of a text, also in a list `crate::{a, b::c}`; comments aside.
fn rooms_used(text: &str) -> Vec<String> {
    let code: String =
        text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut used = Vec::new();
    for (at, mark) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = code[at + mark.len()..].trim_start();
        match rest.strip_prefix('{') {
            None => used.push(word(rest)),
            Some(list) => {
                // names at depth zero of the list
                let (mut depth, mut begins) = (0, true);
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => begins = true,
                        c if c.is_whitespace() => {}
                        _ if depth == 0 && begins => {
                            used.push(word(&list[i..]));
                            begins = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    used
}

#[test]
fn a_room_uses_only_rooms_before_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rooms = Vec::new();
    for folder in ["elements/src", "src"] {
        let lib = fs::read_to_string(root.join(folder).join("lib.rs")).unwrap();
        let here = lib.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';'));
        rooms.extend(here.map(|room| (folder, room.to_string())));
    }
    assert_eq!(rooms.len(), 16);
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (position, (folder, room)) in rooms.iter().enumerate() {
        let mut files = Vec::new();
        sources(&root.join(folder).join(room), &mut files);
        for file in files {
            for used in rooms_used(&fs::read_to_string(&file).unwrap()) {
                checked += 1;
                // `contact` is written as if it were a crate of its own
                let allowed = match (room.as_str(), used.as_str()) {
                    ("contact", "math" | "mesh" | "contact") => true,
                    ("contact", _) => false,
                    _ => rooms[..=position].iter().any(|(_, before)| *before == used),
                };
                if !allowed {
                    wrong.push(format!("{} uses `{used}`", file.strip_prefix(root).unwrap().display()));
                }
            }
        }
    }
    assert!(checked > 50, "only {checked} uses found: the reader of sources is broken");
    assert!(wrong.is_empty(), "a room uses only rooms before it:\n{}", wrong.join("\n"));
}

#[test]
fn uses_are_read_from_single_paths_lists_and_code() {
    let text = "use crate::math::Vec3;\nuse crate::{mesh::Mesh, model::{State, Model}, run};\n// crate::deck\nlet x = crate::look::y();";
    assert_eq!(rooms_used(text), ["math", "mesh", "model", "run", "look"]);
}
