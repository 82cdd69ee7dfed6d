//! A run that is looked at again is the same run.

use crate::common::{Scratch, WITH_CONTACT, carom, code, column, run, stderr, stdout};
use std::fs;
use std::path::Path;

/// Two soft blocks that meet, on whatever method.
const DECK: &str = r#"
end = 0.1
[material.soft]
law = "neo-hookean"
young = 1000
poisson = 0.3
density = 1
[body.a]
mesh = { shape = "rectangle", size = [1, 1], cells = [3, 3] }
material = "soft"
velocity = [2, 0, 0]
[body.b]
mesh = { shape = "rectangle", size = [1, 1], cells = [2, 2], at = [1.05, 0.1, 0] }
material = "soft"
[contact]
friction = 0.2
[probe.a]
body = "a"
[output]
history = 20
frames = 2
"#;

fn replay(folder: &Path, more: &[&str]) -> std::process::Output {
    let folder = folder.to_str().unwrap();
    carom(["replay", folder, "--threads", "1"].iter().chain(more))
}

fn frames(folder: &Path) -> usize {
    fs::read_dir(folder.join("frames")).unwrap().count()
}

#[test]
fn more_rows_and_frames_of_a_finished_run_are_of_the_same_run_by_every_method() {
    let scratch = Scratch::new("replay");
    let deck = scratch.write("deck.toml", DECK);
    for method in WITH_CONTACT {
        let (out, again) = (scratch.path(method), scratch.path(&format!("{method}-replay")));
        run(&deck, &out, &["--method", method]);
        let first = column(&out, "kinetic");
        // twice the rows: every second one was there before
        let seen = replay(&out, &["--history", "40", "--frames", "10"]);
        assert_eq!(code(&seen), 0, "{method}: {}", stderr(&seen));
        let (rows, text) = (column(&again, "kinetic").len(), stdout(&seen));
        // implicit methods have a row for every step already
        assert!(rows >= first.len() && text.contains("the same to the last bit"), "{method}: {rows} {text}");
        assert!(frames(&again) > frames(&out), "{method}");
        let common: usize =
            text.split("Same run").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
        assert!(common >= first.len() - 1, "{method}: {common} of {}", first.len());
        let [was, is] = [&out, &again].map(|f| *column(f, "total").last().unwrap());
        assert_eq!(was.to_bits(), is.to_bits(), "{method}");
        // a part of it, from the checkpoint that a later end has left at the first
        run(&deck, &out, &["--method", method, "--resume", "--set", "end=0.15"]);
        let part = scratch.path(&format!("{method}-part"));
        let part_text = part.to_str().unwrap();
        let seen = replay(&out, &["--from", "0.11", "--until", "0.14", "--history", "6", "--out", part_text]);
        assert_eq!(code(&seen), 0, "{method}: {}", stderr(&seen));
        let text = stdout(&seen);
        assert!(text.contains("computed from t = 1.0"), "{method}: {text}");
        assert!(!stderr(&seen).contains("warning: `"), "{method}: {}", stderr(&seen));
        let times = column(&part, "time");
        assert!(
            times[0] >= 0.1099 && *times.last().unwrap() <= 0.15 && times.len() >= 2,
            "{method}: {times:?}"
        );
    }
}

#[test]
fn a_replay_says_what_cannot_be_seen_and_loses_nothing() {
    let scratch = Scratch::new("replay-refused");
    let deck = scratch.write("deck.toml", DECK);
    let out = scratch.path("out");
    run(&deck, &out, &["--method", "dcr"]);
    let history = fs::read(out.join("history.csv")).unwrap();
    let name = out.to_str().unwrap();
    for (more, what) in [
        (&["--from", "0.2"][..], "it goes from 0 to 0.1"),
        (&["--from", "0.05", "--until", "0.01"], "lies between 0.05 and 0.01 s"),
        (&["--from", "nan"], "nothing of the run"),
        (&["--out", name], "that is the run itself"),
        (&["--threads", "0"], "at least 1"),
    ] {
        let refused = carom(["replay", name].iter().chain(more));
        assert_eq!(code(&refused), 2, "{more:?}");
        assert!(stderr(&refused).contains(what), "{more:?}: {}", stderr(&refused));
        assert!(!scratch.path("out-replay").exists(), "{more:?}");
    }
    let nowhere = replay(&scratch.path("nowhere"), &[]);
    assert!(code(&nowhere) == 2 && stderr(&nowhere).contains("holds no run"), "{}", stderr(&nowhere));
    assert_eq!(code(&replay(&out, &[])), 0);
    let taken = replay(&out, &[]);
    assert!(code(&taken) == 2 && stderr(&taken).contains("--overwrite replaces it"), "{}", stderr(&taken));
    assert_eq!(fs::read(out.join("history.csv")).unwrap(), history);
    // a history that has been changed is noticed
    let text = String::from_utf8(history).unwrap();
    let row = text.lines().nth(3).unwrap().to_owned();
    let mut fields: Vec<&str> = row.split(',').collect();
    fields[3] = "1.0";
    let changed = fields.join(",");
    fs::write(out.join("history.csv"), text.replace(&row, &changed)).unwrap();
    let seen = replay(&out, &["--overwrite", "--history", "20"]);
    assert!(code(&seen) == 0 && stderr(&seen).contains("is not what the run"), "{}", stderr(&seen));
}
