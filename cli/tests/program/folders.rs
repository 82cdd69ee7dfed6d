//! What is in a folder is neither lost nor trusted: resuming refuses what does not fit, two runs do not share a folder, and
//! whatever stands in its files leads nowhere else.

use crate::common::{Scratch, carom, code, contents, program, run, stderr};
use carom::deck::{Input, load};
use carom::model::record::{Array, Record};
use carom::run::{Run, RunError, pool};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn deck(end: f64) -> String {
    format!(
        "method = \"dcr\"\nend = {end}\n[body.block]\n\
         mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [3, 3, 3], at = [0, 0, 0.001] }}\n\
         material = {{ law = \"neo-hookean\", young = 1e6, poisson = 0.3, density = 1000 }}\n\
         velocity = [0.3, 0, -1]\n[body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
         [contact]\nfriction = 0.2\n[output]\nhistory = 20\nframes = 5\ncheckpoint = 0\n"
    )
}

fn again(deck: &Path, out: &Path, more: &[&str]) -> Output {
    program().arg("run").arg(deck).arg("--out").arg(out).arg("--quiet").args(more).output().unwrap()
}

/// A finished run, and a copy of it in `out` for every damage.
struct Finished {
    scratch: Scratch,
    deck: PathBuf,
    whole: PathBuf,
    out: PathBuf,
}

impl Finished {
    fn new(name: &str) -> Finished {
        let scratch = Scratch::new(name);
        let deck = scratch.write("deck.toml", &deck(0.02));
        let (whole, out) = (scratch.path("whole"), scratch.path("out"));
        run(&deck, &whole, &[]);
        Finished { scratch, deck, whole, out }
    }

    fn copy(&self) {
        let _ = fs::remove_dir_all(&self.out);
        fs::create_dir_all(self.out.join("frames")).unwrap();
        for entry in
            fs::read_dir(&self.whole).unwrap().chain(fs::read_dir(self.whole.join("frames")).unwrap())
        {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, self.out.join(path.strip_prefix(&self.whole).unwrap())).unwrap();
            }
        }
    }

    /// Everything in the folder, to the byte.
    fn bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let list = fs::read_dir(&self.out)
            .unwrap()
            .chain(fs::read_dir(self.out.join("frames")).into_iter().flatten());
        let mut all: Vec<_> = list.map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
        all.sort();
        all.into_iter().map(|p| (p.clone(), fs::read(&p).unwrap())).collect()
    }

    fn resume(&self) -> Output {
        again(&self.deck, &self.out, &["--resume"])
    }

    fn remove(&self, names: &[&str]) {
        for name in names {
            fs::remove_file(self.out.join(name)).unwrap();
        }
    }
}

#[test]
fn without_a_whole_checkpoint_nothing_is_touched() {
    let f = Finished::new("no-checkpoint");
    for (damage, more) in
        [("missing", ""), ("empty", ""), ("cut", ""), ("missing", "end=0.03"), ("missing", "method=verlet")]
    {
        f.copy();
        for name in ["checkpoint.a", "checkpoint.b"] {
            let bytes = fs::read(f.out.join(name)).unwrap();
            match damage {
                "missing" => fs::remove_file(f.out.join(name)).unwrap(),
                "empty" => fs::write(f.out.join(name), b"").unwrap(),
                _ => fs::write(f.out.join(name), &bytes[..bytes.len() / 2]).unwrap(),
            }
        }
        let before = f.bytes();
        let options: &[&str] = if more.is_empty() { &["--resume"] } else { &["--resume", "--set", more] };
        let output = again(&f.deck, &f.out, options);
        assert_eq!(code(&output), 2, "{damage} {more}: {}", stderr(&output));
        assert!(f.bytes() == before, "{damage} {more}: something was changed");
        let told = stderr(&output);
        if more == "method=verlet" {
            assert!(told.contains("made from another deck"), "{told}");
        } else {
            for words in ["checkpoint.a", "checkpoint.b", "21 rows", "6 frames", "finished", "--overwrite"] {
                assert!(told.contains(words), "{damage}: no {words} in {told}");
            }
        }
    }
}

/// The newest checkpoint is whole and history is not: the older one serves, if it can; otherwise it is said what is wrong.
#[test]
fn a_damaged_history_or_frame_is_mended_or_named() {
    let f = Finished::new("damaged");
    let cut_last_row = |text: Vec<u8>| {
        let end = text[..text.len() - 1].iter().rposition(|b| *b == b'\n').unwrap();
        text[..end + 1 + (text.len() - end) / 2].to_vec()
    };
    let change = |text: Vec<u8>| {
        let mut text = text;
        let at = text.len() / 2;
        text[at] ^= 1;
        text
    };
    let nothing = |_: Vec<u8>| Vec::new();
    type Damage<'a> = (&'a str, &'a dyn Fn(Vec<u8>) -> Vec<u8>);
    let damages: [Damage; 6] = [
        ("history.csv", &cut_last_row),
        ("history.csv", &change),
        ("history.csv", &nothing),
        ("frames/000002.vtu", &nothing),
        ("frames/000002.vtu", &change),
        ("frames/000005.vtu", &cut_last_row),
    ];
    for (file, damage) in damages {
        f.copy();
        let path = f.out.join(file);
        fs::write(&path, damage(fs::read(&path).unwrap())).unwrap();
        let before = f.bytes();
        let output = f.resume();
        match code(&output) {
            0 => assert!(contents(&f.out) == contents(&f.whole), "{file}: mended, and different"),
            2 => {
                assert!(stderr(&output).contains(file), "{file}: {}", stderr(&output));
                assert!(f.bytes() == before, "{file}: something was changed");
            }
            other => panic!("{file}: exit code {other}: {}", stderr(&output)),
        }
    }
    // the list of frames is made anew, whatever stands in it
    for text in ["", "<VTKFile"] {
        f.copy();
        fs::write(f.out.join("frames.pvd"), text).unwrap();
        let output = again(&f.deck, &f.out, &["--resume", "--set", "end=0.021"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let list = fs::read_to_string(f.out.join("frames.pvd")).unwrap();
        for line in list.lines().filter_map(|l| l.split_once("file=\"")?.1.split('"').next()) {
            assert!(f.out.join(line).is_file(), "{line}");
        }
    }
}

/// Summary and list are made anew, also if they are those of another run; rows behind the last one are none of ours.
#[test]
fn what_can_be_made_again_is_made_again() {
    let f = Finished::new("made-again");
    let other = f.scratch.path("other");
    run(&f.deck, &other, &["--set", "body.block.velocity=[0.3,0,-1.1]"]);
    let path = |name: &str| f.out.join(name);
    let damages: [&dyn Fn(); 5] = [
        &|| f.remove(&["summary.json"]),
        &|| {
            fs::copy(other.join("summary.json"), path("summary.json")).unwrap();
        },
        &|| {
            let text = fs::read(path("history.csv")).unwrap();
            fs::write(path("history.csv"), [&text[..], &text[..]].concat()).unwrap();
        },
        &|| fs::write(path("frames.pvd"), &fs::read(path("frames.pvd")).unwrap()[1..]).unwrap(),
        &|| {
            let text = fs::read_to_string(path("frames.pvd")).unwrap();
            fs::write(path("frames.pvd"), text.trim_end()).unwrap();
        },
    ];
    for (i, damage) in damages.iter().enumerate() {
        f.copy();
        damage();
        let output = f.resume();
        assert_eq!(code(&output), 0, "{i}: {}", stderr(&output));
        assert!(contents(&f.out) == contents(&f.whole), "{i}: something is different");
    }
    // where nothing is wrong nothing is touched
    f.copy();
    let before = f.bytes();
    assert_eq!(code(&f.resume()), 0);
    assert!(f.bytes() == before);
    f.copy();
    f.remove(&["deck.toml"]);
    let output = f.resume();
    assert!(code(&output) == 2 && stderr(&output).contains("deck.toml"), "{}", stderr(&output));
}

/// No number of a summary is believed after a bit of it has flipped, those of clocks and peaks neither: a checkpoint could not tell.
#[test]
fn a_flipped_bit_in_a_summary_is_mended_or_named() {
    let f = Finished::new("summary-bit");
    let summary = f.out.join("summary.json");
    let flipped = |entry: &str| {
        f.copy();
        let mut bytes = fs::read(&summary).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let digit = text[text.find(entry).unwrap()..].find(|c: char| c.is_ascii_digit()).unwrap();
        // 0 and 1, 2 and 3: still a number
        bytes[text.find(entry).unwrap() + digit] ^= 1;
        fs::write(&summary, bytes).unwrap();
    };
    for entry in ["\"wall_seconds\"", "\"peak_rss_bytes\"", "\"value\"", "\"end_time\"", "\"checksum\""] {
        flipped(entry);
        for command in ["plot", "render", "compare", "replay"] {
            let words = [OsStr::new(command), f.out.as_os_str()];
            let output = match command {
                "compare" => carom([words[0], words[1], f.whole.as_os_str()]),
                _ => carom(words),
            };
            let told = stderr(&output);
            assert_eq!(code(&output), 2, "{entry} {command}: {told}");
            for part in ["summary.json", "checksum", "--resume"] {
                assert!(told.contains(part), "{entry} {command}: no {part} in {told}");
            }
        }
        let output = f.resume();
        assert_eq!(code(&output), 0, "{entry}: {}", stderr(&output));
        assert!(contents(&f.out) == contents(&f.whole), "{entry}: something is different");
    }
    // a summary of a version that wrote no checksum is read as it is, and left alone
    f.copy();
    let text = fs::read_to_string(&summary).unwrap();
    let without = text[..text.find(",\n  \"checksum\"").unwrap()].to_owned() + "\n}\n";
    fs::write(&summary, &without).unwrap();
    assert_eq!(code(&carom([OsStr::new("plot"), f.out.as_os_str()])), 0);
    assert_eq!(code(&f.resume()), 0);
    assert_eq!(fs::read_to_string(&summary).unwrap(), without);
}

#[test]
fn a_list_of_frames_leads_to_nobody_elses_files() {
    let f = Finished::new("paths");
    let victim = f.scratch.write("victim", "mine");
    f.copy();
    let list = fs::read_to_string(f.out.join("frames.pvd")).unwrap();
    let late = "    <DataSet timestep=\"9e9\" group=\"\" part=\"0\" file=\"../victim\"/>\n  </Collection>";
    fs::write(f.out.join("frames.pvd"), list.replace("  </Collection>", late)).unwrap();
    // a reader refuses it by name, a resumed run makes its own list
    let picture = carom([OsStr::new("render"), f.out.as_os_str()]);
    assert!(code(&picture) != 0 && stderr(&picture).contains("../victim"), "{}", stderr(&picture));
    let output = again(&f.deck, &f.out, &["--resume", "--set", "end=0.021"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let f = Finished::new("links");
    let victim = f.scratch.write("victim", "mine");
    let others = f.scratch.path("others");
    fs::create_dir_all(&others).unwrap();
    fs::write(others.join("000009.vtu"), "mine too").unwrap();
    for (name, to) in
        [("history.csv", &victim), ("lock", &victim), ("frames", &others), ("deck.toml.tmp", &victim)]
    {
        f.copy();
        let path = f.out.join(name);
        let _ = fs::remove_dir_all(&path);
        let _ = fs::remove_file(&path);
        symlink(to, &path).unwrap();
        for more in ["--resume", "--overwrite"] {
            let output = again(&f.deck, &f.out, &[more, "--set", "end=0.021"]);
            let told = stderr(&output);
            assert!(
                code(&output) == 2 && told.contains(name) && told.contains("symbolic link"),
                "{name}: {told}"
            );
        }
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert_eq!(fs::read(others.join("000009.vtu")).unwrap(), b"mine too");
    }
    // a frame that is a pipe or a device would never end
    f.copy();
    f.remove(&["frames/000005.vtu"]);
    symlink("/dev/zero", f.out.join("frames/000005.vtu")).unwrap();
    let picture = carom([OsStr::new("render"), f.out.as_os_str()]);
    assert!(code(&picture) != 0 && stderr(&picture).contains("symbolic link"), "{}", stderr(&picture));
}

#[test]
fn what_is_not_from_a_run_survives_overwriting() {
    let f = Finished::new("notes");
    f.copy();
    fs::write(f.out.join("frames/notes.txt"), "mine").unwrap();
    fs::write(f.out.join("notes.txt"), "mine").unwrap();
    run(&f.deck, &f.out, &["--overwrite"]);
    assert_eq!(fs::read(f.out.join("frames/notes.txt")).unwrap(), b"mine");
    assert_eq!(fs::read(f.out.join("notes.txt")).unwrap(), b"mine");
}

#[test]
fn beside_a_live_run_every_start_is_refused_with_its_process() {
    let scratch = Scratch::new("live");
    let path = scratch.write("deck.toml", &deck(1e4));
    let out = scratch.path("out");
    let mut child = program()
        .arg("run")
        .arg(&path)
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !out.join("checkpoint.b").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    for more in [&[][..], &["--resume"], &["--overwrite"]] {
        let output = again(&path, &out, more);
        let told = stderr(&output);
        assert!(code(&output) == 2 && told.contains(&format!("process {}", child.id())), "{more:?}: {told}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // a crash releases it
    let output = again(&path, &out, &["--resume", "--set", "end=1e-3"]);
    assert!(stderr(&output).contains("can end later"), "{}", stderr(&output));
}

#[test]
fn of_two_that_start_at_once_one_runs() {
    let scratch = Scratch::new("race");
    let path = scratch.write("deck.toml", &deck(0.02));
    let whole = scratch.path("whole");
    run(&path, &whole, &[]);
    for round in 0..4 {
        let out = scratch.path(&format!("out-{round}"));
        let start = || {
            let mut command = program();
            command.arg("run").arg(&path).arg("--out").arg(&out).arg("--quiet");
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let codes = [start(), start()].map(|child| code(&child.wait_with_output().unwrap()));
        assert!(codes.contains(&0) && codes.iter().all(|c| [0, 2].contains(c)), "{codes:?}");
        assert!(contents(&out) == contents(&whole));
    }
}

/// A record that somebody has made up: whatever it says, it is refused or leads on. Nothing is indexed, waited for or counted by it.
#[test]
fn records_that_mean_nothing_are_refused() {
    type Spoil = (&'static str, &'static str, fn(&mut Array));
    fn set(array: &mut Array, value: f64, count: u64) {
        match array {
            Array::Numbers(v) => v[0] = value,
            Array::Counts(v) => v[0] = count,
        }
    }
    let spoilt: [Spoil; 11] = [
        ("dcr", "state.time", |a| set(a, f64::NAN, 0)),
        ("dcr", "state.time", |a| set(a, -1e300, 0)),
        ("dcr", "state.x", |a| set(a, f64::INFINITY, 0)),
        ("dcr", "dcr.step", |a| set(a, 0.0, 0)),
        ("dcr", "dcr.counts", |a| set(a, 0.0, u64::MAX)),
        ("semi-explicit", "ledger.numbers", |a| set(a, f64::NAN, 0)),
        ("asynchronous", "asynchronous.next", |a| set(a, 0.0, u64::MAX)),
        ("asynchronous", "asynchronous.contact.next", |a| set(a, 0.0, 1)),
        ("asynchronous", "asynchronous.counts", |a| set(a, 0.0, 1 << 60)),
        ("asynchronous", "asynchronous.clock", |a| set(a, 1e300, 0)),
        ("verlet", "asynchronous.tau", |a| set(a, 0.0, u64::MAX)),
    ];
    pool(1).unwrap().install(|| {
        for (method, name, spoil) in spoilt {
            let case = || {
                let text = deck(0.02).replace("\"dcr\"", &format!("\"{method}\""));
                let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
                load(&input).unwrap().case
            };
            let mut run = Run::start(case(), Vec::new(), None).unwrap();
            run.advance(0.002, &AtomicBool::new(false)).unwrap();
            let mut record: Record = run.save();
            Run::resume(case(), Vec::new(), None, &record).unwrap();
            spoil(record.arrays.get_mut(name).unwrap());
            match Run::resume(case(), Vec::new(), None, &record) {
                Err(RunError::Record(_)) => {}
                Err(other) => panic!("{method} {name}: {other}"),
                Ok(_) => panic!("{method} {name} was believed"),
            }
        }
    });
}
