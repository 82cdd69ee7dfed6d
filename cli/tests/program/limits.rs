//! Decks that ask for nonsense or for too much: a right result or a clear message, soon, and never a dead machine.

use crate::common::{Scratch, WITH_CONTACT, carom, code, column, contents, program, stderr, stdout};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn broken(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/broken").join(name)
}

fn summary(out: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap()
}

/// Decks that fell through once: each ends well, or with the code and the words that it deserves.
#[test]
fn decks_that_fell_through_once_do_so_no_more() {
    let scratch = Scratch::new("broken");
    for (name, wanted, words) in [
        ("01-implicit-free-flight.toml", 0, ""),
        ("02-async-through-rigid.toml", 0, ""),
        ("03-dcr-bars-through.toml", 0, ""),
        ("04-error-max-zero.toml", 0, ""),
        ("05-dcr-snag.toml", 0, ""),
        ("06-array-name-clash.toml", 2, "two bodies are called `a-1`"),
        ("09-verlet-through-plate.toml", 3, "turned inside out"),
        ("10-nan-history.toml", 3, "out of range"),
        ("11-strip-at-rest.toml", 0, ""),
    ] {
        let out = scratch.path(name);
        let deck = broken(name);
        let output = carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        assert!(code(&output) == wanted && stderr(&output).contains(words), "{name}: {}", stderr(&output));
        if wanted == 2 {
            assert!(!out.exists());
            continue;
        }
        let text = fs::read_to_string(out.join("history.csv")).unwrap();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name} has rows that mean nothing");
        let summary = summary(&out);
        assert!(summary["steps"].as_u64().unwrap() > 0 || wanted == 3, "{name}");
        // of a run that ran out of range, what the last row shows
        assert!(summary["energy"]["final"].is_f64(), "{name}: {}", summary["energy"]);
        let (told, seen) = (summary["end_time"].as_f64().unwrap(), *column(&out, "time").last().unwrap());
        assert!((told - seen).abs() <= 1e-3 * told, "{name} ends at {told}, its rows at {seen}");
        // what rows show, the summary knows too
        let worst = column(&out, "error").into_iter().fold(0.0, |w: f64, e| w.max(e.abs()));
        let peak = column(&out, "total").into_iter().fold(0.0, f64::max);
        let told = summary["energy"]["error_max_rel"].as_f64().unwrap();
        assert!(
            told >= 0.5 * worst / peak.max(1e-300) || worst < 1e-9 * peak,
            "{name}: {told} for {worst} of {peak}"
        );
    }
    // nobody went through anybody
    let out = scratch.path("02-async-through-rigid.toml");
    let lowest = column(&out, "a.uz").into_iter().fold(0.0, f64::min);
    assert!(lowest > -0.04, "{lowest}");
    let out = scratch.path("03-dcr-bars-through.toml");
    let (a, b) = (column(&out, "a.ux"), column(&out, "b.ux"));
    let nearest = a.iter().zip(&b).map(|(a, b)| 1.3 + b - a).fold(f64::INFINITY, f64::min);
    // they are never shorter than by v/2c of their length each, where they stand together
    assert!(nearest > 0.6, "{nearest}");
    // stable for ages, and yet not finished without a step: one, or a reason why not
    let (deck, out) = (broken("07-zero-steps.toml"), scratch.path("07"));
    let output = carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    let summary = summary(&out);
    match code(&output) {
        0 => assert!(summary["steps"].as_u64().unwrap() > 0 && summary["end_time"].as_f64().unwrap() > 0.99),
        other => assert!(other == 3 && summary["status"] == "failed", "{}", stderr(&output)),
    }
}

/// 27 million cells take some 23 GB: the figures are told before anything is asked for.
#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_the_memory_is_refused_with_figures() {
    let scratch = Scratch::new("memory");
    let out = scratch.path("out");
    let script = "ulimit -v 4000000; exec \"$0\" run \"$1\" --out \"$2\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_carom")]).arg(broken("08-cells-oom.toml")).arg(&out);
    let begin = Instant::now();
    let output = command.output().unwrap();
    let told = stderr(&output);
    assert_eq!(code(&output), 2, "{told}");
    for words in ["2.700e7 cells", "GB", "ulimit", "fewer cells"] {
        assert!(told.contains(words), "no {words} in {told}");
    }
    assert!(!out.exists() && begin.elapsed() < Duration::from_secs(10));
}

fn boxes(count: &str) -> String {
    format!(
        "title = \"\\u001B]0;gotcha\\u0007 {}\"\nmethod = \"dcr\"\nend = 1e-6\n[body.a]\n\
         mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }}\n\
         material = {{ law = \"neo-hookean\", young = 1e6, poisson = 0.3, density = 1000 }}\n\
         array = {{ count = {count}, spacing = [0.2, 0.2, 0.2] }}\n[output]\nhistory = 1\nframes = 0\n",
        "x".repeat(100_000)
    )
}

/// Twice as many bodies take twice as long: growing with the square, 8 000 would take 16 times as long as 2 000.
#[test]
fn many_copies_are_set_up_in_proportion() {
    let scratch = Scratch::new("copies");
    let took = |count: &str| {
        let deck = scratch.write("deck.toml", &boxes(count));
        let begin = Instant::now();
        let output = carom(["check".as_ref(), deck.as_os_str(), "--threads".as_ref(), "1".as_ref()]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        begin.elapsed().as_secs_f64()
    };
    let (few, many) = (took("[10, 10, 20]"), took("[40, 10, 20]"));
    assert!(many < 9.0 * few + 0.5, "{few} s for 2 000, {many} s for 8 000");
}

#[test]
fn titles_say_what_they_say_and_no_more() {
    let scratch = Scratch::new("title");
    let deck = scratch.write("deck.toml", &boxes("[2, 1, 1]"));
    let out = scratch.path("out");
    let output = carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.len() < 2000 && !told.contains('\u{1b}') && !told.contains('\u{7}'), "{} bytes", told.len());
    let begin = Instant::now();
    let plot = carom(["plot".as_ref(), out.as_os_str()]);
    assert_eq!(code(&plot), 0, "{}", stderr(&plot));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

/// Numbers at the ends of the range.
#[test]
fn plots_survive_whatever_a_history_holds() {
    let scratch = Scratch::new("plots");
    let fixed = "time,step,dt,kinetic,strain,contact,external,friction,restitution,damping,plastic,correction,total,error,\
                 hourglass,px,py,pz,lx,ly,lz,contacts,penetration";
    let summary = "{\"title\": \"t\", \"method\": \"dcr\", \"status\": \"finished\"}";
    for (name, values, probes) in [
        ("tiny", ["0", "5e-324", "1e-323"], 1),
        ("huge", ["-1e308", "1e308", "1.7e308"], 1),
        ("both", ["5e-324", "-1e308", "1e308"], 1),
        ("many", ["0", "1", "2"], 30),
    ] {
        let folder = scratch.path(name);
        fs::create_dir(&folder).unwrap();
        let mut text = fixed.to_owned();
        (0..probes).for_each(|p| {
            ["ux", "uy", "uz", "vx", "vy", "vz"].iter().for_each(|c| text += &format!(",p{p}.{c}"))
        });
        text += "\n";
        for (i, value) in values.iter().enumerate() {
            let times = ["0", "1", "2"];
            let time = if name == "many" { times[i] } else { ["0", "5e-324", "1e308"][i] };
            text += time;
            (1..23 + 6 * probes).for_each(|_| text += &format!(",{value}"));
            text += "\n";
        }
        fs::write(folder.join("history.csv"), text).unwrap();
        fs::write(folder.join("summary.json"), summary).unwrap();
        let begin = Instant::now();
        let output = carom(["plot".as_ref(), folder.as_os_str()]);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        assert!(begin.elapsed() < Duration::from_secs(60), "{name}: {:?}", begin.elapsed());
    }
}

#[test]
fn more_threads_than_make_sense_are_not_started() {
    let scratch = Scratch::new("threads-many");
    let deck = scratch.write("deck.toml", &boxes("[2, 1, 1]"));
    let output = carom(["check".as_ref(), deck.as_os_str(), "--threads".as_ref(), "1000000".as_ref()]);
    assert!(code(&output) == 0 && stderr(&output).contains("--threads 1000000"), "{}", stderr(&output));
}

/// Two bodies of the same shape at the same place, with the same mesh or another.
#[test]
fn bodies_at_one_place_overlap() {
    let scratch = Scratch::new("one-place");
    let body = |name: &str, mesh: &str| {
        format!(
            "[body.{name}]\nmesh = {{ {mesh} }}\nmaterial = {{ law = \"neo-hookean\", young = 1e6, poisson = 0.3, density = 1000 }}\n"
        )
    };
    let cube =
        |cells: &str| format!("shape = \"box\", size = [0.1, 0.1, 0.1], cells = {cells}, at = [0, 0, 0]");
    let square = |cells: &str| format!("shape = \"rectangle\", size = [0.1, 0.1], cells = {cells}");
    for (a, b, overlap) in [
        (cube("[2, 2, 2]"), cube("[2, 2, 2]"), true),
        (cube("[2, 2, 2]"), cube("[3, 3, 3]"), true),
        (square("[2, 2]"), square("[3, 2]"), true),
        (cube("[2, 2, 2]"), cube("[2, 2, 2]").replace("at = [0, 0, 0]", "at = [0, 0, 0.1]"), false),
        (cube("[2, 2, 2]"), cube("[2, 2, 2]").replace("at = [0, 0, 0]", "at = [0.1, 0, 0]"), false),
    ] {
        let text = format!("method = \"dcr\"\nend = 1e-4\n{}{}", body("a", &a), body("b", &b));
        let deck = scratch.write("deck.toml", &text);
        let output = carom(["check".as_ref(), deck.as_os_str()]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("`a` and `b` overlap"), overlap, "{a} {b}: {}", stderr(&output));
    }
}

/// Pieces of a body lie side by side: nobody is inside anybody, whatever edges and faces far away from each other look like.
#[test]
fn pieces_of_a_body_do_not_overlap() {
    let scratch = Scratch::new("pieces");
    for seed in 1..4 {
        let text = format!(
            "method = \"dcr\"\nend = 1e-3\n[body.a]\n\
             mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [1, 1, 1], at = [0, 0, 0.01] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\n\
             shatter = {{ pieces = 20, seed = {seed}, burst = 2.0 }}\n"
        );
        let deck = scratch.write("deck.toml", &text);
        let output = carom(["check".as_ref(), deck.as_os_str()]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(!stderr(&output).contains("overlap"), "{}", stderr(&output));
    }
}

/// A single step that takes minutes: the program ends soon after it was asked to, and the run can be taken up.
#[cfg(unix)]
#[test]
fn a_stop_is_heard_within_two_seconds_by_every_method() {
    let scratch = Scratch::new("stop");
    for method in WITH_CONTACT {
        let text = format!(
            "method = \"{method}\"\nend = 1.0\n[body.a]\n\
             mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [12, 12, 12], at = [0, 0, 0.0001] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\n\
             velocity = [0.1, 0, -1]\n[body.o]\n\
             mesh = {{ shape = \"box\", size = [0.3, 0.3, 0.1], cells = [40, 40, 1], at = [-0.1, -0.1, -0.1] }}\n\
             [contact]\nfriction = 0.3\n[output]\nhistory = 10\nframes = 0\n"
        );
        let deck = scratch.write("deck.toml", &text);
        let out = scratch.path(method);
        let mut child = program()
            .arg("run")
            .arg(&deck)
            .arg("--out")
            .arg(&out)
            .args(["--threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while !out.join("checkpoint.a").exists() {
            assert!(begin.elapsed() < Duration::from_secs(100), "{method} did not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
        let asked = Instant::now();
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), Some(143), "{method}");
        // two seconds, and what a busy machine adds to writing the last files
        assert!(asked.elapsed() < Duration::from_secs(4), "{method} took {:?}", asked.elapsed());
        assert_eq!(summary(&out)["status"], "interrupted", "{method}");
        assert!(carom::run::checkpoint::newest(&out).is_some(), "{method}");
    }
}

/// Runs the program with a limit on its address space [kB].
#[cfg(target_os = "linux")]
fn within(kilobytes: u32, arguments: &[&std::ffi::OsStr]) -> std::process::Output {
    let mut command = std::process::Command::new("sh");
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_carom")]).args(arguments).output().unwrap()
}

/// Everything that grows with a number of the deck or of the command line is counted before it is asked for.
#[cfg(target_os = "linux")]
#[test]
fn pieces_and_pictures_that_do_not_fit_are_refused() {
    let scratch = Scratch::new("grown");
    let whole = |refine: u32| {
        format!(
            "method = \"nonsmooth\"\nend = 1e-4\n[body.a]\n\
             mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\n\
             shatter = {{ pieces = 20, refine = {refine} }}\n[output]\nframes = 1\n"
        )
    };
    for refine in [7, 200] {
        let deck = scratch.write("deck.toml", &whole(refine));
        let output = within(1_500_000, &["check".as_ref(), deck.as_os_str()]);
        let told = stderr(&output);
        for words in ["in 20 pieces needs about", "of memory", "ulimit", "smaller `refine`"] {
            assert!(code(&output) == 2 && told.contains(words), "no {words} in {told}");
        }
    }
    let (deck, out) = (scratch.write("deck.toml", &whole(0)), scratch.path("out"));
    let output = within(1_500_000, &["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let picture = scratch.path("picture.png");
    let draw = |size: &str| {
        let size = ["--size".as_ref(), size.as_ref(), "--threads".as_ref(), "1".as_ref()];
        let arguments = ["render".as_ref(), out.as_os_str(), "--out".as_ref(), picture.as_os_str()];
        within(1_500_000, &[&arguments[..], &size[..]].concat())
    };
    let output = draw("16000x16000");
    let told = stderr(&output);
    assert!(code(&output) == 2 && told.contains("16000 × 16000 pixels needs about"), "{told}");
    assert!(!picture.exists());
    assert_eq!(code(&draw("400x300")), 0);
}

/// Less and less memory for cubes that fall on each other: the run is done, refused with figures, or ended with what it came to, which
/// can be taken up. Never is the program ended by the system in the middle of it.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_runs_out_ends_a_run_in_order() {
    let scratch = Scratch::new("runs-out");
    for method in ["semi-explicit", "asynchronous"] {
        let text = format!(
            "method = \"{method}\"\nend = 1e-3\n[body.a]\n\
             mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [3, 3, 3] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\nvelocity = [0, 0, -1]\n\
             array = {{ count = [6, 6, 6], spacing = [0.1001, 0.1001, 0.1001] }}\n\
             [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[output]\nframes = 2\n"
        );
        let (deck, whole) = (scratch.write("deck.toml", &text), scratch.path(method));
        crate::common::run(&deck, &whole, &["--threads", "1"]);
        let mut codes = Vec::new();
        for megabytes in (160..=480).step_by(40) {
            let out = scratch.path(&format!("{method}-{megabytes}"));
            let arguments = ["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str()];
            let output =
                within(1000 * megabytes, &[&arguments[..], &["--threads".as_ref(), "1".as_ref()]].concat());
            let told = stderr(&output);
            codes.push(output.status.code());
            match output.status.code() {
                Some(0) => assert!(contents(&out) == contents(&whole), "{method}, {megabytes} MB"),
                Some(2 | 3) => assert!(told.contains("memory"), "{method}, {megabytes} MB: {told}"),
                other => panic!("{method}, {megabytes} MB: {other:?}: {told}"),
            }
            if output.status.code() == Some(3) && out.join("checkpoint.a").exists() {
                crate::common::run(&deck, &out, &["--threads", "1", "--resume"]);
                assert!(
                    contents(&out) == contents(&whole),
                    "{method}, {megabytes} MB: taken up and different"
                );
            }
        }
        assert!(codes[0] != Some(0) && codes.ends_with(&[Some(0)]), "{method}: {codes:?}");
    }
}

/// Cubes that stand on each other: what `check` says of the memory holds, contacts included.
#[cfg(target_os = "linux")]
#[test]
fn a_pile_takes_no_more_memory_than_was_said() {
    let scratch = Scratch::new("estimate");
    for method in ["dcr", "semi-explicit", "asynchronous", "verlet"] {
        let text = format!(
            "method = \"{method}\"\nend = 2e-3\n[body.a]\n\
             mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [3, 3, 3] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\nvelocity = [0, 0, -1]\n\
             array = {{ count = [9, 9, 9], spacing = [0.1001, 0.1001, 0.1001] }}\n\
             [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[output]\nframes = 2\n"
        );
        let (deck, out) = (scratch.write("deck.toml", &text), scratch.path(method));
        let check = carom(["check".as_ref(), deck.as_os_str(), "--threads".as_ref(), "1".as_ref()]);
        let told = stdout(&check);
        let words = told.split("as built, about ").nth(1).unwrap_or_else(|| panic!("{told}"));
        let said: f64 = words.split(" MB").next().unwrap().parse().unwrap();
        crate::common::run(&deck, &out, &["--threads", "1"]);
        let taken = 1e-6 * summary(&out)["peak_rss_bytes"].as_f64().unwrap();
        // and the program itself; twice as much as is needed would turn people away
        assert!(taken < said + 40.0 && said < 2.0 * taken, "{method}: {taken} MB, {said} MB were said");
    }
}

/// A single step would end behind the end: it is as long as the run, or there are parts of it, but something is done.
#[test]
fn a_run_shorter_than_a_step_is_done_by_every_method() {
    let scratch = Scratch::new("short");
    for method in WITH_CONTACT {
        let text = format!(
            "method = \"{method}\"\nend = 1.0\n[body.a]\n\
             mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [1, 1, 1], at = [0, 0, 9] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e-3, poisson = 0.3, density = 1000 }}\nvelocity = [0.01, 0, -0.02]\n\
             [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[probe.p]\nbody = \"a\"\n"
        );
        let (deck, out) = (scratch.write("deck.toml", &text), scratch.path(method));
        crate::common::run(&deck, &out, &[]);
        let summary = summary(&out);
        let done = summary["steps"].as_u64().unwrap() + summary["element_kicks"].as_u64().unwrap();
        let end = summary["end_time"].as_f64().unwrap();
        assert!(done > 0 && (end - 1.0).abs() < 1e-6, "{method}: {done} up to {end}");
        let fallen = column(&out, "p.uz").pop().unwrap();
        assert!((fallen + 0.02 * end).abs() < 1e-9, "{method}: {fallen}");
    }
}

/// The set-up of 40 000 bodies takes seconds and hears nothing: whoever runs many such runs ends within two as well.
#[cfg(unix)]
#[test]
fn a_study_is_stopped_in_the_middle_of_a_long_set_up() {
    let scratch = Scratch::new("stopped-study");
    let deck = scratch.write("deck.toml", &boxes("[40, 40, 25]"));
    let out = scratch.path("out");
    let mut child = program()
        .arg("study")
        .arg(&deck)
        .args(["--vary", "end=1e-6,2e-6", "--threads", "1", "--quiet", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
}
