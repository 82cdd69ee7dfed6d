//! What README and guide say can be done is done here: every command, every deck, every link.
//!
//! Commands run in one folder per page, in the order of the page, with the last thousandth of their time left: what is tried is
//! that they are understood and do what they say, not physics.

use crate::common::{Scratch, code, program, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// README and all pages of the guide, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut paths = vec![root.join("README.md")];
    let guide = fs::read_dir(root.join("guide")).unwrap().map(|e| e.unwrap().path());
    paths.extend(guide.filter(|p| p.extension().is_some_and(|e| e == "md")));
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), fs::read_to_string(p).unwrap())).collect()
}

/// Blocks fenced by ``` with the word behind the fence, and lines of plain indented blocks under an empty word.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut fence, line.trim_start().strip_prefix("```")) {
            (Some(_), Some(_)) => all.extend(fence.take()),
            (None, Some(word)) => fence = Some((word.to_owned(), String::new())),
            (Some((_, block)), None) => *block += &format!("{line}\n"),
            (None, None) if line.starts_with("    ") => {
                all.push((String::new(), format!("{}\n", line.trim())))
            }
            _ => {}
        }
    }
    all
}

/// Commands of a page: lines of plain blocks, and what stands between single back quotes.
fn commands(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if let (false, Some(command)) = (fenced, line.strip_prefix("    ")) {
            all.push(command.split("  #").next().unwrap().trim().to_owned());
        } else if !fenced {
            all.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    let asked =
        all.iter().filter_map(|c| c.strip_prefix("carom ").or(c.strip_prefix("cargo run --release -- ")));
    asked.map(str::to_owned).collect()
}

/// Words of a command, quotes around some of them taken away.
fn words(command: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in command.chars() {
        match c {
            '"' | '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all.into_iter().filter(|w| !w.is_empty()).collect()
}

/// The deck of a command: an example, or a file of the page.
fn deck(name: &str, folder: &Path) -> Option<String> {
    let example = carom::cases::example(name).map(|e| e.text.to_owned());
    example.or_else(|| fs::read_to_string(folder.join(name)).ok())
}

/// `--set` options that leave a thousandth of the time of a deck, and little output.
fn short(text: &str) -> Vec<String> {
    let end = text.lines().find_map(|l| l.strip_prefix("end")?.trim_start().strip_prefix('='));
    let end: f64 = end.unwrap().split('#').next().unwrap().trim().parse().unwrap();
    let options = [format!("end={:e}", end / 1000.0), "output.history=2".into(), "output.frames=2".into()];
    options.into_iter().flat_map(|o| ["--set".to_owned(), o]).collect()
}

fn run(folder: &Path, words: &[String]) {
    let mut command = program();
    let output = command.args(words).current_dir(folder).output().unwrap();
    assert_eq!(code(&output), 0, "carom {}\n{}{}", words.join(" "), stdout(&output), stderr(&output));
}

/// Runs an example, or a deck of the page, into the folder that a command wants to look at.
fn provide(folder: &Path, dir: &str) {
    if folder.join(dir).join("summary.json").is_file() {
        return;
    }
    let path = Path::new(dir);
    let name = path.file_name().unwrap().to_str().unwrap();
    // a run of one method of a comparison lies in the folder of the deck
    let parent = path.parent().and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or_default();
    let (name, method) = match parent.strip_suffix("-methods") {
        Some(deck) => (deck, vec!["--method".to_owned(), name.to_owned()]),
        None => (name, vec![]),
    };
    // decks with meshes lie beside these, others in the program or on the page
    let files = [name.to_owned(), format!("examples/{name}/deck.toml"), format!("{name}.toml")];
    let name = files.iter().find(|file| deck(file, folder).is_some()).unwrap_or(&files[2]);
    let text = deck(name, folder).unwrap_or_else(|| panic!("nothing makes {dir}"));
    let mut words: Vec<String> = ["run", name, "--quiet", "--out", dir].map(str::to_owned).to_vec();
    words.extend(method);
    words.extend(short(&text));
    run(folder, &words);
}

/// Tries a command, or says why not.
fn try_command(folder: &Path, command: &str) -> Result<(), &'static str> {
    let mut words = words(command);
    let holder = |w: &String| w.chars().all(|c| c.is_ascii_uppercase() || "-|…".contains(c)) && w.len() > 1;
    if words.len() < 2 && !matches!(words[0].as_str(), "examples" | "schema") {
        return Err("a name alone");
    }
    if words.iter().any(|w| holder(w) || w.contains('<') || w.contains('…')) {
        return Err("has placeholders");
    }
    if words.contains(&"--all".to_owned()) && words[0] == "reproduce" || words[0] == "bench" {
        return Err("takes minutes");
    }
    if words[0] == "view" {
        return Err("serves until it is stopped");
    }
    match words[0].as_str() {
        "run" | "study" | "compare" if words.iter().skip(1).any(|w| deck(w, folder).is_some()) => {
            let text = words.iter().skip(1).find_map(|w| deck(w, folder)).unwrap();
            words.retain(|w| w != "--resume");
            let set = short(&text);
            let own = words.iter().position(|w| w.starts_with("end="));
            own.into_iter().for_each(|i| drop(words.drain(i - 1..=i)));
            words.extend(set);
            words.push("--overwrite".to_owned());
            words.retain(|w| w != "--overwrite" || !command.contains("--list"));
        }
        "plot" | "render" | "compare" => {
            for dir in words.iter().skip(1).take_while(|w| !w.starts_with("--")) {
                provide(folder, dir);
            }
        }
        "replay" => {
            provide(folder, &words[1]);
            // the run is a thousandth as long
            while let Some(i) = words.iter().position(|w| w == "--from" || w == "--until") {
                words.drain(i..i + 2);
            }
        }
        "schema" => words.truncate(1),
        _ => {}
    }
    run(folder, &words);
    Ok(())
}

#[test]
fn every_command_of_readme_and_guide_runs() {
    let mut tried = 0;
    for (path, text) in pages() {
        let scratch = Scratch::new(&format!("guide-{}", path.file_stem().unwrap().to_str().unwrap()));
        scratch.write("deck.toml", carom::cases::example("free-bar").unwrap().text);
        let bracket = root().join("examples/bracket");
        fs::create_dir_all(scratch.path("examples/bracket")).unwrap();
        for (file, copy) in [
            ("bracket.inp", "part.inp"),
            ("bracket.inp", "examples/bracket/bracket.inp"),
            ("deck.toml", "examples/bracket/deck.toml"),
        ] {
            fs::copy(bracket.join(file), scratch.path(copy)).unwrap();
        }
        // decks of the page, under the names that it gives them
        for (kind, block) in blocks(&text) {
            if kind == "toml" && block.contains("method") && block.contains("[body.bar]") {
                scratch.write("bar.toml", &block);
            }
        }
        let mut done: Vec<String> = Vec::new();
        for command in commands(&text).into_iter().filter(|c| !c.is_empty()) {
            if !done.contains(&command) {
                tried += usize::from(try_command(&scratch.0, &command).is_ok());
                done.push(command);
            }
        }
    }
    assert!(tried > 25, "only {tried} commands found: the reader of pages is broken");
}

#[test]
fn every_whole_deck_of_the_guide_is_right() {
    let scratch = Scratch::new("guide-decks");
    let mut tried = 0;
    for (path, text) in pages() {
        for (_, block) in
            blocks(&text).into_iter().filter(|(kind, block)| kind == "toml" && block.contains("method "))
        {
            let deck = scratch.write("deck.toml", &block);
            let output = program().arg("check").arg(&deck).output().unwrap();
            assert_eq!(code(&output), 0, "{}\n{block}{}", path.display(), stderr(&output));
            tried += 1;
        }
    }
    assert!(tried >= 2, "only {tried} decks found");
}

/// Anchors that the headings of a page make.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim());
    let plain = |h: &str| {
        h.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>()
    };
    headings.map(|h| plain(h).replace(' ', "-")).collect()
}

/// Links of a page, those to elsewhere aside.
fn links(text: &str) -> Vec<&str> {
    let all = text.split("](").skip(1).map(|l| l.split(')').next().unwrap());
    all.filter(|l| !l.starts_with("http")).collect()
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_reached_from_the_summary() {
    let root = root();
    let pages = pages();
    for (path, text) in &pages {
        for link in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: ({link}) leads nowhere", path.display());
            if !anchor.is_empty() {
                let there = fs::read_to_string(&target).unwrap();
                assert!(anchors(&there).contains(&anchor.to_owned()), "{}: ({link})", path.display());
            }
        }
    }
    let mut reached = vec![root.join("guide/SUMMARY.md")];
    let mut next = 0;
    while next < reached.len() {
        let (folder, text) =
            (reached[next].parent().unwrap().to_owned(), fs::read_to_string(&reached[next]).unwrap());
        let inside =
            links(&text).into_iter().map(|l| l.split('#').next().unwrap()).filter(|l| !l.contains('/'));
        let new =
            inside.filter(|l| l.ends_with(".md")).map(|l| folder.join(l)).filter(|p| !reached.contains(p));
        let new: Vec<PathBuf> = new.collect();
        reached.extend(new);
        next += 1;
    }
    for (path, _) in pages.iter().filter(|(p, _)| p.starts_with(root.join("guide"))) {
        assert!(reached.contains(path), "nothing leads to {}", path.display());
    }
}
