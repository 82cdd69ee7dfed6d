//! What the commands print, and the numbers that the examples promise.

use crate::common::{Scratch, carom, code, column, stderr, stdout};
use std::io::Read;
use std::process::Stdio;

#[test]
fn every_example_is_listed_printed_and_fit_to_run() {
    let listed = stdout(&carom(["examples"]));
    for example in &carom::cases::EXAMPLES {
        assert!(listed.contains(example.name) && listed.contains(example.about()), "{listed}");
        assert_eq!(stdout(&carom(["example", example.name])), example.text);
        let output = carom(["check", example.name]);
        assert!(code(&output) == 0 && stderr(&output).is_empty(), "{}", stderr(&output));
        let told = stdout(&output);
        for word in ["nodes", "mass", "volume", "critical step", "facets", "element updates"] {
            assert!(told.contains(word), "{told}");
        }
    }
}

#[test]
fn a_pipe_that_closes_early_is_no_failure() {
    let mut child =
        crate::common::program().arg("schema").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((child.wait().unwrap().code(), told.as_str()), (Some(0), ""));
}

#[test]
fn a_run_says_how_it_went_and_where_to_look() {
    let scratch = Scratch::new("words");
    let out = scratch.path("out");
    let run = |more: &[&str]| {
        let mut command = crate::common::program();
        command.args(["run", "free-bar", "--set", "end=1e-4", "--out"]).arg(&out).args(more);
        command.output().unwrap()
    };
    let output = run(&[]);
    let told = stdout(&output);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for word in ["Free steel bar: 200 elements, 201 nodes", "finished in", "Balance", out.to_str().unwrap()] {
        assert!(told.contains(word), "{told}");
    }
    assert!(stderr(&output).contains("% "), "{}", stderr(&output));
    let output = run(&["--overwrite", "--quiet"]);
    assert_eq!((code(&output), stdout(&output), stderr(&output)), (0, String::new(), String::new()));
}

/// Everything the page shows is there, and the run it was made from can be looked at like any other.
#[test]
fn a_report_shows_what_it_has_written() {
    let scratch = Scratch::new("report");
    let out = scratch.path("report");
    let asked = ["reproduce", "two-hexes", "ringing-bar", "--quick", "--out", out.to_str().unwrap()];
    let output = carom(asked);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(stdout(&output).contains("index.html") && page.contains("passed") && !page.contains("FAIL"));
    let shown: Vec<&str> = page.split(" alt=\"").skip(1).map(|s| s.split('"').next().unwrap()).collect();
    for file in ["picture.png", "plots/energy.svg", "plots/energies.svg"] {
        assert!(shown.contains(&file), "{shown:?}");
    }
    // it can be sent around: nothing is asked for from elsewhere
    let sources = page.split(" src=\"").skip(1).chain(page.split(" href=\"").skip(1));
    for source in sources {
        assert!(source.starts_with("data:image/") || source.starts_with('#'), "{}", &source[..40]);
    }
    assert!(page.contains("Not reproducible, because"));
    assert_eq!(code(&carom(["render", out.join("two-hexes").to_str().unwrap()])), 0);
}

#[test]
fn the_default_folder_is_named_after_the_deck() {
    let scratch = Scratch::new("names");
    let text = carom::cases::example("free-bar").unwrap().text;
    std::fs::create_dir(scratch.path("ringing")).unwrap();
    scratch.write("ringing/deck.toml", text);
    scratch.write("other.toml", text);
    for (deck, name) in [("ringing/deck.toml", "ringing"), ("other.toml", "other"), ("free-bar", "free-bar")]
    {
        let mut command = crate::common::program();
        command.args(["run", deck, "--quiet", "--set", "end=1e-6"]).current_dir(&scratch.0);
        assert_eq!(command.status().unwrap().code(), Some(0));
        assert!(scratch.path("out").join(name).join("summary.json").is_file());
    }
}

/// Runs an example; the last value of each named column must be what its deck promises, to a relative tolerance.
fn promised(name: &str, options: &[&str], columns: &[(&str, f64, f64)]) {
    let scratch = Scratch::new(name);
    let out = scratch.path("out");
    crate::common::run(name.as_ref(), &out, options);
    for &(name, expected, tolerance) in columns {
        let measured = *column(&out, name).last().unwrap();
        let off = (measured - expected).abs() / expected.abs();
        assert!(off <= tolerance, "{name} is {measured}, not {expected}");
    }
}

/// No force acts: m = 2 kg at 1 m/s; lz = I ω with I = m(a² + b²)/12 of the lumped block, a little more than of the solid.
#[test]
fn the_spinning_block_flies_straight_and_keeps_its_momenta() {
    let scratch = Scratch::new("spinning-block");
    let out = scratch.path("out");
    crate::common::run("spinning-block".as_ref(), &out, &["--set", "body.block.mesh.cells=[16, 6, 3]"]);
    let (ux, px, lz) = (column(&out, "block.ux"), column(&out, "px"), column(&out, "lz"));
    let time = column(&out, "time");
    for ((ux, t), px) in ux.iter().zip(&time).zip(&px) {
        assert!((ux - t).abs() < 1e-12 && (px - 2.0).abs() < 1e-12, "{ux} {t} {px}");
    }
    assert!(lz.iter().all(|l| (l - lz[0]).abs() < 1e-11 * lz[0]));
    let tip = column(&out, "tip.ux")
        .iter()
        .zip(column(&out, "tip.uy"))
        .map(|(x, y)| x.hypot(y))
        .fold(0.0, f64::max);
    assert!(tip > 0.2, "{tip}");
}

/// J = ½ · 1000 N · 80 µs over m = 0.78 kg; and nothing is felt at the far end before L/c = 192.7 µs, when it moves at
/// twice the speed of the wave, 2F/(ρ c A) = 0.494 m/s at most. A row every 2 µs may miss the tip of the triangle by
/// 1 µs of 40: 2.5 %.
#[test]
fn the_free_bar_moves_at_the_speed_of_its_blow_and_its_wave_arrives_in_time() {
    let scratch = Scratch::new("free-bar");
    let out = scratch.path("out");
    crate::common::run("free-bar".as_ref(), &out, &[]);
    let (time, far) = (column(&out, "time"), column(&out, "far.vx"));
    let early = time.iter().zip(&far).filter(|(t, _)| **t < 185e-6).map(|(_, v)| v.abs()).fold(0.0, f64::max);
    let first = time.iter().zip(&far).filter(|(t, _)| **t < 300e-6).map(|(_, v)| *v).fold(0.0, f64::max);
    assert!(early < 0.02 && (first - 0.494).abs() < 0.025 * 0.494, "{early} {first}");
    let speed = column(&out, "bar.vx").last().copied().unwrap();
    assert!((speed - 0.04 / 0.78).abs() < 1e-3 * speed, "{speed}");
}

/// Weight ρ V g; and the stretch of the law in one dimension, `E(λ³ − λ)/2 = ρ g (L − X)` for ν = 0, summed up:
/// with s = ρ g L/E, u = L(s/2 − s²/2 + s³ …) = 4.688 mm.
#[test]
fn the_hanging_block_rests_on_its_hook() {
    promised("hanging-block", &[], &[("hook.fz", 7.848, 1e-3), ("foot.uz", -4.688e-3, 2e-3)]);
}

/// Lamé's thick cylinder in plane strain; quads of 1/12 of the wall.
#[test]
fn the_pressurised_ring_grows_as_lame_says() {
    promised("pressurised-ring", &[], &[("inner.ux", 20.8825e-6, 0.01)]);
}

/// Mooney–Rivlin in uniaxial tension, incompressible: F = 2A(C₁ + C₂/λ)(λ − 1/λ²). With κ = 50 μ the strip is not
/// quite: an error of the order of μ/κ in the force. Its volume grows by J = 1 + σ/3κ, σ = λF/A = 630 kPa, and its width by
/// √(J/λ) − 1.
#[test]
fn the_stretched_strip_pulls_back_as_mooney_and_rivlin_say() {
    promised(
        "stretched-strip",
        &[],
        &[("grip.fx", 35.72, 0.02), ("edge.uy", 0.02 * ((1.021_f64 / 2.0).sqrt() - 1.0), 5e-3)],
    );
}

/// A mesh file alone: what is in it, and with what is wrong with it the place and exit code 2.
#[test]
fn a_mesh_is_described_without_a_deck() {
    let meshes = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/meshes");
    let output = carom(["check", &format!("{meshes}/plate-tet10-gmsh.inp")]);
    let told = stdout(&output);
    assert_eq!((code(&output), stderr(&output)), (0, String::new()));
    let words = [
        "561 nodes, 252 tet10",
        "box (0",
        "smallest edge",
        "worst quality 0.",
        "bore (28)",
        "left (12)",
        "nothing is wrong",
    ];
    assert!(words.iter().all(|word| told.contains(word)), "{told}");
    let output = carom(["check", &format!("{meshes}/plate-tet4.stl")]);
    assert!(
        stdout(&output).contains("closed")
            && stdout(&output).contains("corners within 2.000e-6 m are one node")
    );

    let scratch = Scratch::new("mesh-alone");
    let turned = scratch.path("turned.inp");
    std::fs::write(&turned, "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT,TYPE=C3D4\n1,1,3,2,4\n")
        .unwrap();
    let output = carom(["check", turned.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("1 tet4"), "{}", stdout(&output));
    assert!(stderr(&output).contains("turned inside out at its corner 0"), "{}", stderr(&output));
    let output = carom(["check", scratch.path("part.step").to_str().unwrap()]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
}
