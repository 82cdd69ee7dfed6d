//! Broken decks and meshes: the exit code of the contract, a message with place and remedy, nothing half-written.
//!
//! Each deck in `bad/` ends with a line `# expect CODE | fragment | fragment …` that says what must come out.

use crate::common::{Scratch, carom, code, stderr, stdout};
use std::fs;
use std::path::Path;

#[test]
fn every_broken_deck_is_refused_with_its_place_and_a_remedy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let scratch = Scratch::new("bad-input");
    let mut seen = 0;
    let mut wrong = Vec::new();
    let mut decks: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    decks.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    decks.sort();
    for deck in decks {
        let text = fs::read_to_string(&deck).unwrap();
        let expect = text.lines().last().unwrap().strip_prefix("# expect ").unwrap();
        let mut parts = expect.split(" | ");
        let wanted: i32 = parts.next().unwrap().parse().unwrap();
        let out = scratch.path("out");
        let deck_name = deck.file_name().unwrap().to_str().unwrap();
        let output = carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        let told = stderr(&output);
        let mut complain = |what: &str| wrong.push(format!("{deck_name}: {what}\n{told}"));
        if code(&output) != wanted {
            complain(&format!("exit code {} instead of {wanted}", code(&output)));
        }
        for fragment in parts.filter(|f| !told.contains(f)) {
            complain(&format!("does not say {fragment:?}"));
        }
        if wanted == 2 {
            if out.exists() || !stdout(&output).is_empty() {
                complain("left something behind");
            }
            if !told.contains(deck_name) {
                complain("does not name the deck");
            }
            let checked = carom(["check".as_ref(), deck.as_os_str()]);
            if code(&checked) != 2 || stderr(&checked) != told {
                complain("check says something else");
            }
        } else {
            let summary = fs::read_to_string(out.join("summary.json")).unwrap_or_default();
            if !summary.contains("\"failed\"") || !summary.contains("\"failure\"") {
                complain("has no summary of the failure");
            }
            if carom::run::checkpoint::newest(&out).is_none() {
                complain("did not keep the last good state");
            }
        }
        let _ = fs::remove_dir_all(&out);
        seen += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(seen >= 40, "{seen}");
}

const GOOD: &str = "method = \"verlet\"\nend = 1e-3\n[body.a]\n\
    mesh = { shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2] }\n\
    material = { law = \"st-venant-kirchhoff\", young = 1e6, poisson = 0.3, density = 1000 }\nspin = [0, 0, 1]\n";

#[test]
fn what_an_option_brings_is_blamed_on_the_option() {
    let scratch = Scratch::new("options");
    let deck = scratch.write("deck.toml", GOOD);
    let deck = deck.to_str().unwrap();
    for (option, fragment) in [
        ("body.a.material.density=-1", "is -1"),
        ("step.safty=0.5", "did you mean `safety`?"),
        ("body.a.fix=top", "no set called `top`"),
        ("end", "there is no `=`"),
        ("end.x=1", "`end` is a number"),
        ("body.a.mesh.cells=[0, 1, 1]", "from 1"),
    ] {
        let output = carom(["check", deck, "--set", option]);
        let told = stderr(&output);
        assert_eq!(code(&output), 2, "{told}");
        assert!(told.starts_with(&format!("--set {option}: ")) && told.contains(fragment), "{told}");
    }
    let output = carom(["check", deck, "--method", "velrte"]);
    assert!(
        code(&output) == 2 && stderr(&output).starts_with("--set method=velrte: "),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_deck_that_cannot_be_read_is_bad_input() {
    let scratch = Scratch::new("unreadable");
    let binary = scratch.path("binary.toml");
    fs::write(&binary, b"method = \"verlet\"\nend = \xff\xfe").unwrap();
    for (deck, fragment) in [
        ("no/such/deck.toml", "cannot read the deck no/such/deck.toml"),
        (scratch.0.to_str().unwrap(), "is a folder, not a deck"),
        (binary.to_str().unwrap(), "binary.toml:2: byte 24 is not UTF-8"),
    ] {
        let output = carom(["run", deck]);
        assert!(code(&output) == 2 && stderr(&output).contains(fragment), "{}", stderr(&output));
    }
    for arguments in
        [vec!["run"], vec!["run", "free-bar", "--threads", "0"], vec!["fly"], vec!["example", "x"]]
    {
        assert_eq!(code(&carom(&arguments)), 2, "{arguments:?}");
    }
}

#[test]
fn an_output_folder_that_cannot_be_made_is_told_and_leaves_nothing() {
    let scratch = Scratch::new("unwritable");
    let deck = scratch.write("deck.toml", GOOD);
    let file = scratch.write("file", "");
    for (out, wanted) in [(file.join("out"), 5), ("/proc/carom/out".into(), 5), (file.clone(), 2)] {
        let output = carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        assert_eq!(code(&output), wanted, "{}", stderr(&output));
        assert!(stderr(&output).contains(out.to_str().unwrap()), "{}", stderr(&output));
    }
    assert_eq!(fs::read(&file).unwrap(), b"");
}

#[test]
fn a_folder_that_belongs_to_somebody_else_is_left_alone() {
    let scratch = Scratch::new("foreign");
    let deck = scratch.write("deck.toml", GOOD);
    let out = scratch.path("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("letter.txt"), "dear").unwrap();
    for more in [&[][..], &["--overwrite"], &["--resume"]] {
        let mut command = crate::common::program();
        let output = command.arg("run").arg(&deck).arg("--out").arg(&out).args(more).output().unwrap();
        assert!(code(&output) == 2 && stderr(&output).contains("not from a run"), "{}", stderr(&output));
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn a_folder_that_a_run_was_killed_in_before_it_began_is_free() {
    let scratch = Scratch::new("stillborn");
    let deck = scratch.write("deck.toml", GOOD);
    let out = scratch.path("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("lock"), "1\n").unwrap();
    fs::write(out.join("summary.json.tmp"), "{").unwrap();
    let output = carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(out.join("summary.json").exists() && !out.join("summary.json.tmp").exists());
}

/// Files may not grow beyond a few blocks of 512 bytes: what a full disk does, without one.
#[cfg(unix)]
fn limited(blocks: u32, deck: &Path, out: &Path) -> std::process::Output {
    let script = format!("ulimit -f {blocks}; exec \"$0\" run \"$1\" --out \"$2\"");
    let program = env!("CARGO_BIN_EXE_carom");
    std::process::Command::new("sh").args(["-c", &script, program]).arg(deck).arg(out).output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_ends_the_run_and_keeps_what_was_whole() {
    let scratch = Scratch::new("full-disk");
    let text = GOOD.replace("end = 1e-3", "end = 2.0\noutput = { history = 2000, frames = 1 }");
    let deck = scratch.write("deck.toml", &text);
    let out = scratch.path("out");
    let output = limited(64, &deck, &out);
    let told = stderr(&output);
    assert_eq!(code(&output), 5, "{told}");
    assert!(told.contains("history.csv") && told.contains("--resume"), "{told}");
    let history = fs::read_to_string(out.join("history.csv")).unwrap();
    let columns = history.lines().next().unwrap().split(',').count();
    assert!(history.ends_with('\n') && history.lines().count() > 10);
    assert!(history.lines().all(|l| l.split(',').count() == columns));
    assert!(fs::read_to_string(out.join("summary.json")).unwrap().contains("\"failed\""));

    // with room again the run goes on, and the folder is that of a run that never stopped
    crate::common::run(&deck, &out, &["--resume"]);
    let whole = scratch.path("whole");
    crate::common::run(&deck, &whole, &[]);
    assert_eq!(crate::common::contents(&out), crate::common::contents(&whole));
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_from_the_start_leaves_no_folder() {
    let scratch = Scratch::new("full-at-once");
    let deck = scratch.write("deck.toml", GOOD);
    let out = scratch.path("deep/er");
    let output = limited(0, &deck, &out);
    assert_eq!(code(&output), 5, "{}", stderr(&output));
    assert!(!scratch.path("deep").exists());
}
