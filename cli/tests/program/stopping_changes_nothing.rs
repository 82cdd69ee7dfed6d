//! A run that was killed, interrupted, watched closely or given other threads ends in the same bits.

use crate::common::{Scratch, code, contents, last_state, program, run, stderr};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A block that spins, is pulled and is held: loads, supports and probes all have a memory to lose. Checkpoints come
/// as often as the loop comes up for air.
fn deck(end: f64, history: u32, frames: u32) -> String {
    format!(
        r#"
method = "verlet"
end = {end}
[body.block]
mesh = {{ shape = "box", size = [0.2, 0.1, 0.1], cells = [12, 6, 6] }}
material = {{ law = "neo-hookean", young = 1e6, poisson = 0.3, density = 1000 }}
spin = [0, 0, 20]
damping = 1.0
support = [{{ set = "xmin", directions = ["x"], displacement = [0.02, 0, 0], table = [[0, 0], [0.2, 1]] }}]
[[load]]
body = "block"
set = "xmax"
pressure = -1e4
table = [[0, 0], [0.1, 1]]
[probe.hand]
body = "block"
reaction = "xmin"
[probe.block]
body = "block"
[output]
history = {history}
frames = {frames}
checkpoint = 0
"#
    )
}

/// Cubes that meet in the air over a plate that rises and a wheel that turns: contact remembers where nodes belong,
/// and what everybody has received.
fn contact_deck(end: f64, history: u32, frames: u32) -> String {
    let cube = |name: &str, at: &str, velocity: &str| {
        format!(
            "[body.{name}]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [3, 3, 3], at = {at} }}\n\
             material = \"soft\"\nvelocity = {velocity}\ngravity = [0, 0, -200]\n"
        )
    };
    format!(
        r#"
method = "dcr"
end = {end}
[material.soft]
law = "neo-hookean"
young = 2.1e5
poisson = 0.3
density = 0.7424
{}{}{}
[body.plate]
plane = {{ point = [0, 0, -1.2], normal = [0.1, 0, 1] }}
displacement = [0, 0, 0.2]
table = [[0, 0], [0.05, 1]]
[body.wheel]
mesh = {{ shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [-3.2, -0.2, -1] }}
spin = [0, 40, 0]
[contact]
friction = 0.3
[[contact.between]]
bodies = ["a", "plate"]
restitution = 0.5
[probe.a]
contact = "a"
[probe.weight]
between = ["plate", "b"]
[output]
history = {history}
frames = {frames}
checkpoint = 0
"#,
        cube("a", "[-1.75, 0.3, 0.2]", "[30, -10, -30]"),
        cube("b", "[-0.5, 0, -1.0]", "[-30, 10, 0]"),
        cube("c", "[-0.5, 0, 0.1]", "[-40, 10, 0]"),
    )
}

/// The same as another method carries it; cubes of different mesh, so that steps differ, and one integrated at nodes.
fn contact_deck_of(method: &str, end: f64, history: u32, frames: u32) -> String {
    let text =
        contact_deck(end, history, frames).replace("method = \"dcr\"", &format!("method = \"{method}\""));
    text.replacen("cells = [3, 3, 3]", "cells = [2, 2, 4], cell = \"tet4\"", 1).replacen(
        "[body.b]",
        "[body.b]\nintegration = \"nodal\"",
        1,
    )
}

#[test]
fn killed_at_random_moments_and_resumed_it_ends_like_the_undisturbed_run() {
    killed_and_resumed("kill", &deck(0.3, 60, 12));
}

#[test]
fn killed_in_the_middle_of_contact_it_ends_like_the_undisturbed_run() {
    killed_and_resumed("kill-contact", &contact_deck(1.0, 60, 12));
}

#[test]
fn killed_between_kicks_it_ends_like_the_undisturbed_run() {
    killed_and_resumed("kill-asynchronous", &contact_deck_of("asynchronous", 0.2, 60, 12));
}

fn killed_and_resumed(name: &str, text: &str) {
    let scratch = Scratch::new(name);
    let path = scratch.write("spin.toml", text);
    let whole = scratch.path("whole");
    let begin = Instant::now();
    run(&path, &whole, &["--threads", "2"]);
    // an eighth of the whole at most: two kills are sure on any machine, however busy it was just now
    let longest = (begin.elapsed().as_millis() as u64 / 8).max(1);

    let out = scratch.path("out");
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut kills, mut first) = (0, true);
    for _ in 0..60 {
        let mut command = program();
        command.arg("run").arg(&path).arg("--out").arg(&out).args(["--quiet", "--threads", "2"]);
        if !first && out.join("summary.json").exists() {
            command.arg("--resume");
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        std::thread::sleep(Duration::from_millis(dice % longest));
        let ended = child.try_wait().unwrap().is_some();
        if !ended {
            child.kill().unwrap();
            kills += 1;
        }
        let output = child.wait_with_output().unwrap();
        assert!(!ended || code(&output) == 0, "{}", stderr(&output));
        first = false;
        if ended {
            break;
        }
    }
    assert!(kills >= 2, "{kills} kills: the run is too short");
    run(&path, &out, &["--resume", "--threads", "1"]);
    assert_eq!(names(&contents(&out)), names(&contents(&whole)));
    assert!(contents(&out) == contents(&whole), "after {kills} kills some file differs");
    assert!(last_state(&out) == last_state(&whole));
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn threads_change_no_byte() {
    let scratch = Scratch::new("threads");
    for (name, text) in [
        ("spin", deck(0.05, 20, 4)),
        ("contact", contact_deck(0.05, 20, 4)),
        ("asynchronous", contact_deck_of("asynchronous", 0.05, 20, 4)),
        ("verlet", contact_deck_of("verlet", 0.05, 20, 4)),
    ] {
        let path = scratch.write("spin.toml", &text);
        let (one, two) = (scratch.path(&format!("{name}-one")), scratch.path(&format!("{name}-two")));
        run(&path, &one, &["--threads", "1"]);
        run(&path, &two, &["--threads", "2"]);
        assert!(contents(&one) == contents(&two), "{name}");
        assert!(last_state(&one) == last_state(&two), "{name}");
    }
}

/// Momentum balance is measured at looks, so more looks can find a larger drift; the state itself must not know.
#[test]
fn looking_changes_nothing() {
    let scratch = Scratch::new("looking");
    let path = scratch.write("spin.toml", &deck(0.05, 1, 0));
    let (rare, often) = (scratch.path("rare"), scratch.path("often"));
    run(&path, &rare, &[]);
    run(&path, &often, &["--set", "output.history=500", "--set", "output.frames=50"]);
    let (rare, often) = (last_state(&rare), last_state(&often));
    for name in ["state.time", "state.x", "state.v", "verlet.a", "verlet.support", "ledger.numbers"] {
        assert!(rare.arrays[name] == often.arrays[name], "{name}");
    }
}

/// All that decides the future, and the books; what observers keep for themselves may differ.
#[test]
fn looking_changes_no_contact() {
    for (method, received) in [
        ("dcr", "dcr.received"),
        ("asynchronous", "asynchronous.contact.received"),
        ("verlet", "asynchronous.contact.received"),
    ] {
        let scratch = Scratch::new(&format!("looking-contact-{method}"));
        let path = scratch.write("spin.toml", &contact_deck_of(method, 0.05, 1, 0));
        let (rare, often) = (scratch.path("rare"), scratch.path("often"));
        run(&path, &rare, &[]);
        run(&path, &often, &["--set", "output.history=500", "--set", "output.frames=50"]);
        let (rare, often) = (last_state(&rare), last_state(&often));
        // methods without common steps measure their largest error at the rows, so that it belongs to those who look
        let measured = ["asynchronous", "verlet"].contains(&method);
        let own = |name: &&String| {
            let observers = ["history.", "frames.", "probes.", "balance.", "peaks."];
            let of_observer = observers.iter().any(|observer| name.starts_with(observer));
            !(of_observer || measured && *name == "ledger.numbers")
        };
        let names: Vec<&String> = rare.arrays.keys().filter(own).collect();
        assert!(names.iter().any(|n| *n == received) && names.iter().any(|n| *n == "state.x"), "{names:?}");
        for name in names {
            assert!(rare.arrays[name] == often.arrays[name], "{method}: {name}");
        }
    }
}

#[test]
fn a_resolved_deck_with_contact_runs_to_the_same_state() {
    let scratch = Scratch::new("resolved-contact");
    for method in ["dcr", "asynchronous", "verlet"] {
        let path = scratch.write("spin.toml", &contact_deck_of(method, 0.03, 5, 1));
        let (first, second) = (scratch.path(&format!("{method}-1")), scratch.path(&format!("a/{method}-2")));
        run(&path, &first, &[]);
        run(&first.join("deck.toml"), &second, &[]);
        assert!(last_state(&first) == last_state(&second), "{method}");
        assert_eq!(fs::read(first.join("deck.toml")).unwrap(), fs::read(second.join("deck.toml")).unwrap());
    }
}

#[test]
fn the_resolved_deck_runs_to_the_same_state() {
    let scratch = Scratch::new("resolved");
    let mesh = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/meshes/tet4-41-binary.msh");
    fs::create_dir(scratch.path("meshes")).unwrap();
    fs::copy(mesh, scratch.path("meshes/part.msh")).unwrap();
    let text = deck(0.02, 5, 1).replace(
        "[probe.hand]",
        "[body.part]\nmesh = { file = \"meshes/part.msh\", at = [1, 0.1, 0.3] }\n\
         material = { law = \"ogden\", mu = [1e5], alpha = [3], bulk = 1e6, density = 900 }\nspin = [1, 2, 30]\n[probe.hand]",
    );
    let path = scratch.write("spin.toml", &text);
    let (first, second) = (scratch.path("first"), scratch.path("a/second"));
    run(&path, &first, &[]);
    run(&first.join("deck.toml"), &second, &[]);
    assert!(last_state(&first) == last_state(&second));
    let resolved = fs::read_to_string(second.join("deck.toml")).unwrap();
    assert!(
        resolved.contains("\"../../meshes/part.msh\"") && resolved.contains("hash = \"crc32:"),
        "{resolved}"
    );

    // a mesh that is no longer what it was is noticed
    let mut bytes = fs::read(scratch.path("meshes/part.msh")).unwrap();
    bytes.extend(b"$Comments\n$EndComments\n");
    fs::write(scratch.path("meshes/part.msh"), bytes).unwrap();
    let output = crate::common::carom(["check".as_ref(), first.join("deck.toml").as_os_str()]);
    assert!(code(&output) == 2 && stderr(&output).contains("has changed since"), "{}", stderr(&output));
}

#[test]
fn a_finished_run_can_go_on_to_a_later_end_but_not_become_another() {
    let scratch = Scratch::new("later");
    let path = scratch.write("spin.toml", &deck(0.02, 4, 2));
    let out = scratch.path("out");
    run(&path, &out, &[]);
    let before = contents(&out);
    run(&path, &out, &["--resume"]);
    assert!(contents(&out) == before, "resuming a finished run does nothing");
    run(&path, &out, &["--resume", "--set", "end=0.04"]);
    let time = crate::common::column(&out, "time");
    assert!((time.last().unwrap() - 0.04).abs() < 1e-3 && time.windows(2).all(|t| t[0] < t[1]), "{time:?}");

    let refused = |more: &[&str], fragment: &str| {
        let output = program().arg("run").arg(&path).arg("--out").arg(&out).args(more).output().unwrap();
        assert!(code(&output) == 2 && stderr(&output).contains(fragment), "{}", stderr(&output));
    };
    refused(&[], "holds a run already");
    refused(&["--resume"], "can end later");
    refused(
        &["--resume", "--set", "end=0.04", "--set", "body.block.damping=2"],
        "differ in body.block.damping",
    );
    refused(&["--resume", "--overwrite"], "cannot be used with");
    run(&path, &out, &["--overwrite"]);
    assert!(contents(&out) == before, "an overwritten run is like a new one");
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_termination_leave_valid_results_that_can_be_resumed() {
    let scratch = Scratch::new("signals");
    let path = scratch.write("spin.toml", &deck(2.0, 400, 10));
    for (signal, wanted) in [("INT", 130), ("TERM", 143)] {
        let out = scratch.path(signal);
        let mut command = program();
        command.arg("run").arg(&path).arg("--out").arg(&out);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // once a few rows are there
        let rows = || fs::read_to_string(out.join("history.csv")).map_or(0, |t| t.lines().count());
        while rows() < 4 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), wanted, "{}", stderr(&output));
        assert!(crate::common::stdout(&output).contains("interrupted"), "{}", crate::common::stdout(&output));
        let summary = fs::read_to_string(out.join("summary.json")).unwrap();
        assert!(summary.contains("\"interrupted\""), "{summary}");
        assert!(carom::run::checkpoint::newest(&out).is_some());
        let time = crate::common::column(&out, "time");
        assert!(time.len() >= 3 && *time.last().unwrap() < 2.0);
    }
}
