//! Many runs of one deck: killed and gone on with, listed and collected; runs beside each other.

use crate::common::{Scratch, carom, code, program, stderr, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

/// A block thrown at a wall: 12 runs of some tenths of a second.
const DECK: &str = r#"
method = "dcr"
end = 6e-3
[body.block]
mesh = { shape = "box", size = [0.2, 0.1, 0.1], cells = [8, 4, 4], at = [0.001, 0, 0] }
material = { law = "neo-hookean", young = 5e6, poisson = 0.3, density = 1000 }
velocity = [-4, 1, 0]
[body.wall]
plane = { point = [0, 0, 0], normal = [1, 0, 0] }
[contact]
friction = 0.2
[probe.block]
body = "block"
[output]
history = 60
frames = 2
checkpoint = 0.0005
"#;

const ASKED: [&str; 4] = [
    "--vary",
    "contact.friction=0,0.2,0.4",
    "--vary",
    "body.block.velocity=[-4, 1, 0],[-4, 2, 0],[-2, 1, 0],[-8, 4, 0]",
];

/// The rows of study.csv without what a clock measured.
fn table(folder: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("study.csv")).unwrap();
    text.lines().map(columns).map(|row| row[..row.len() - 3].to_vec()).collect()
}

/// Columns of a line of CSV, quotes taken away.
fn columns(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

#[test]
fn a_study_killed_twice_is_that_of_an_undisturbed_one() {
    let scratch = Scratch::new("study");
    let deck = scratch.write("deck.toml", DECK);
    let (whole, killed) = (scratch.path("whole"), scratch.path("killed"));
    let command = |out: &Path| {
        let mut command = program();
        command.arg("study").arg(&deck).args(ASKED).args(["--threads", "2", "--quiet", "--out"]).arg(out);
        command
    };
    let begin = Instant::now();
    let output = command(&whole).output().unwrap();
    assert_eq!((code(&output), stdout(&output)), (0, String::new()), "{}", stderr(&output));
    let took = begin.elapsed();
    for share in [0.3, 0.5] {
        let mut child = command(&killed).spawn().unwrap();
        std::thread::sleep(took.mul_f64(share).min(Duration::from_secs(5)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = command(&killed).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows = table(&whole);
    assert_eq!(rows, table(&killed));
    assert_eq!(rows.len(), 13);
    let column = |name: &str| {
        rows[0].iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}: {:?}", rows[0]))
    };
    let (status, mises, force) = (column("status"), column("mises_peak"), column("force_peak.block-wall"));
    for row in &rows[1..] {
        assert_eq!(row[status], "finished");
        assert!(row[mises].parse::<f64>().unwrap() > 0.0 && row[force].parse::<f64>().unwrap() > 0.0);
    }
    for run in 1..=12 {
        // results: a kill in the last moment may leave a lock or half a checkpoint behind, which are nobody's
        let results = ["history", "frames", "deck"];
        let files = |folder: &Path| {
            let mut all = crate::common::contents(&folder.join(format!("run-{run:03}")));
            all.retain(|(name, _)| results.iter().any(|r| name.starts_with(r)) && !name.ends_with(".tmp"));
            all
        };
        assert_eq!(files(&whole), files(&killed), "run {run}");
    }
    assert!(whole.join("plots/contact.friction.svg").is_file());
}

#[test]
fn listed_commands_run_one_by_one_are_collected_into_the_same_table() {
    let scratch = Scratch::new("study-list");
    let deck = scratch.write("deck.toml", DECK);
    let out = scratch.path("out");
    let asked = |more: &[&str]| {
        let mut command = program();
        command.arg("study").arg(&deck).args([
            "--vary",
            "contact.friction=0,0.4",
            "--set",
            "end=1e-3",
            "--out",
        ]);
        command.arg(&out).args(more).output().unwrap()
    };
    let listed = stdout(&asked(&["--list"]));
    assert_eq!(listed.lines().count(), 2);
    let first = listed.lines().next().unwrap();
    let words: Vec<&str> = first.split_whitespace().skip(1).collect();
    assert_eq!(code(&carom(words.iter().chain(&["--quiet"]))), 0, "{first}");
    let collected = asked(&["--collect"]);
    assert_eq!(code(&collected), 0, "{}", stderr(&collected));
    let rows = table(&out);
    assert!(rows[1].contains(&"finished".into()) && rows[2].contains(&"missing".into()), "{rows:?}");
    // the rest is run, and what is there is left alone
    let output = asked(&[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("1 runs finished, 1 had before"), "{}", stdout(&output));
    // another study does not write over this one
    let other =
        carom(["study", "free-bar", "--vary", "end=1e-6,2e-6", "--quiet", "--out", out.to_str().unwrap()]);
    assert!(code(&other) == 2 && stderr(&other).contains("another deck"), "{}", stderr(&other));
}

#[test]
fn what_is_wrong_with_one_run_is_said_before_any_begins() {
    let scratch = Scratch::new("study-wrong");
    let deck = scratch.write("deck.toml", DECK);
    let out = scratch.path("out");
    let study = |vary: &[&str]| {
        let mut command = program();
        command.arg("study").arg(&deck).args(vary).arg("--out").arg(&out);
        command.output().unwrap()
    };
    for (vary, word) in [
        (&["--vary", "contact.friction=0.1,-1"][..], "friction=-1"),
        (&["--vary", "contact.frictoin=0.1"], "frictoin"),
        (&["--vary", "end=1,2", "--vary", "contact.friction=0", "--zip"], "equally many"),
        (&["--vary", "end"], "end"),
    ] {
        let output = study(vary);
        assert!(code(&output) == 2 && stderr(&output).contains(word), "{}", stderr(&output));
        assert!(!out.exists());
    }
}

#[test]
fn methods_are_compared_on_one_deck_and_folders_with_each_other() {
    let scratch = Scratch::new("compare");
    let deck = scratch.write("deck.toml", DECK);
    let out = scratch.path("methods");
    let asked =
        ["compare", deck.to_str().unwrap(), "--methods", "dcr,semi-explicit", "--out", out.to_str().unwrap()];
    let output = carom(asked.iter().chain(&["--set", "end=2e-3"]));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told = stdout(&output);
    for word in
        ["semi-explicit", "energy left", "error of balance", "energy.svg", "probe-block.svg", "compare.csv"]
    {
        assert!(told.contains(word), "{told}");
    }
    let svg = std::fs::read_to_string(out.join("plots/energy.svg")).unwrap();
    assert!(svg.contains("data-name=\"kinetic dcr\"") && svg.contains(">semi-explicit</text>"));
    let both = [out.join("dcr"), out.join("semi-explicit")];
    let overlay = scratch.path("overlay");
    for command in ["plot", "compare"] {
        let mut asked = program();
        let output = asked.arg(command).args(&both).arg("--out").arg(&overlay).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(overlay.join("momentum.svg").is_file() && overlay.join("phases.png").is_file());
        std::fs::remove_dir_all(&overlay).unwrap();
    }
    let output = carom(["compare", deck.to_str().unwrap()]);
    assert!(code(&output) == 2 && stderr(&output).contains("--methods"));
}
