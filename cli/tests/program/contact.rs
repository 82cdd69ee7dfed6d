//! Contact from deck to output folder: columns, frames, summary, pictures, and what `check` says about it.

use crate::common::{Scratch, carom, code, column, stderr, stdout};
use carom::output::pvd::Series;
use carom::output::vtu::{FrameData, name, read_vtu};
use std::path::Path;

/// All frames of a run.
fn frames(out: &Path) -> Vec<FrameData> {
    let series = Series::open(out).unwrap();
    series.entries().iter().map(|e| read_vtu(&series.path(e)).unwrap()).collect()
}

/// The impulse of contact forces over all frames on the nodes for which `which` holds: Σ F Δt [N s].
fn impulse_in_frames(frames: &[FrameData], which: impl Fn(usize) -> bool) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for pair in frames.windows(2) {
        let force = pair[1].point_field(name::CONTACT_FORCE).unwrap();
        for (_, f) in force.values.chunks_exact(3).enumerate().filter(|(node, _)| which(*node)) {
            (0..3).for_each(|k| sum[k] += f[k] * (pair[1].time - pair[0].time));
        }
    }
    sum
}

/// Until t = 20 the bars press with 0.1 N, and they exchange 2 N s (1 % of that is the mesh's); sheet of the two bars.
#[test]
fn two_bars_tell_the_same_story_in_history_frames_and_summary() {
    let scratch = Scratch::new("two-bars");
    let out = scratch.path("out");
    crate::common::run("two-bars".as_ref(), &out, &[]);
    let (time, force, impulse) = (column(&out, "time"), column(&out, "push.fx"), column(&out, "push.jx"));
    assert_eq!(time.len(), 501);
    assert_eq!((force[0], impulse[0]), (0.0, 0.0));
    let total = *impulse.last().unwrap();
    assert!((total + 2.0).abs() < 0.02, "{total}");
    let mean = |from: f64, to: f64| {
        let of: Vec<f64> =
            time.iter().zip(&force).filter(|(t, _)| (from..to).contains(*t)).map(|(_, f)| *f).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    assert!((mean(0.05, 19.0) + 0.1).abs() < 2e-3 && mean(20.5, 50.0) == 0.0);
    // the force is the impulse since the last row over the time since
    for k in 1..time.len() {
        let expected = (impulse[k] - impulse[k - 1]) / (time[k] - time[k - 1]);
        assert!((force[k] - expected).abs() < 1e-9, "{k}");
    }
    let tip = column(&out, "tip.ux");
    assert!((tip.last().unwrap() + 3.0).abs() < 0.06 && tip[100].abs() < 0.01, "{:?}", tip.last());
    let contacts = column(&out, "contacts");
    assert!(contacts.iter().all(|c| *c <= 1.0) && contacts[500] == 0.0);
    // what the whole bar received is what it has lost
    let px = column(&out, "px");
    assert!(px.iter().all(|p| p.abs() < 1e-13));

    let frames = frames(&out);
    assert_eq!(frames.len(), 101);
    let first = frames[0].point_field(name::CONTACT_FORCE).unwrap();
    assert!(first.values.iter().all(|f| *f == 0.0));
    let received = impulse_in_frames(&frames, |node| node <= 100);
    assert!((received[0] - total).abs() < 1e-5 && received[1..] == [0.0; 2], "{received:?} {total}");

    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!((summary["method"].as_str(), summary["contacts_peak"].as_u64()), (Some("dcr"), Some(1)));
    assert!(summary["collision_kicks"].as_u64().unwrap() > 50);
    assert!(summary["penetration_max"].as_f64().unwrap() < 0.01);
    assert!(summary["momentum"]["linear_drift_max"].as_f64().unwrap() < 1e-13);
    let resolved = std::fs::read_to_string(out.join("deck.toml")).unwrap();
    assert!(resolved.contains("restitution = 1.0") && resolved.contains("variant = \"predictor\""));

    let picture = carom(["render".as_ref(), out.as_os_str(), "--field".as_ref(), "contact".as_ref()]);
    assert_eq!(code(&picture), 0, "{}", stderr(&picture));
    let none = scratch.path("none");
    crate::common::run("free-bar".as_ref(), &none, &["--set", "end=1e-5"]);
    let picture = carom(["render".as_ref(), none.as_os_str(), "--field".as_ref(), "contact".as_ref()]);
    assert!(code(&picture) == 2 && stderr(&picture).contains("contact_force"), "{}", stderr(&picture));
}

/// The impulse in the history is that of the frames and of the momentum, whatever the method; one bar at rest before.
#[test]
fn asynchronous_contact_tells_the_same_story_everywhere() {
    for method in ["asynchronous", "verlet"] {
        let scratch = Scratch::new(&format!("story-{method}"));
        let out = scratch.path("out");
        crate::common::run(
            "graded-bars".as_ref(),
            &out,
            &["--method", method, "--set", "end=25", "--set", "output.frames=20"],
        );
        let impulse = *column(&out, "push.jx").last().unwrap();
        assert!((impulse + 2.0).abs() < 0.1, "{impulse}");
        let frames = frames(&out);
        // the left bar has 21 × 5 × 5 nodes
        let received = impulse_in_frames(&frames, |node| node < 525);
        assert!((received[0] - impulse).abs() < 1e-5, "{received:?} {impulse}");
        let summary: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
        assert_eq!(summary["method"].as_str(), Some(method));
        let count = |key: &str| summary[key].as_u64().unwrap();
        assert!(
            count("element_kicks") > 100_000
                && count("collision_kicks") > 1000
                && count("contacts_peak") > 10
        );
        assert!(summary["energy"]["error_max_rel"].as_f64().unwrap() < 0.01);
        assert!(summary["momentum"]["linear_drift_max"].as_f64().unwrap() < 1e-12);
        let dt = |key: &str| summary["dt"][key].as_f64().unwrap();
        assert!(if method == "verlet" { dt("max") == dt("min") } else { dt("max") > 1.9 * dt("min") });
    }
}

/// m = (2, 3) kg, p = (1, -2) N s: p' = (-1.8, 0.8) at e = 1, both at -0.2 m/s at e = 0.
#[test]
fn two_particles_exchange_what_the_closed_form_says() {
    for (options, left, right, impulse) in
        [(&[][..], -0.9, 0.8 / 3.0, -2.8), (&["--set", "contact.restitution=0"], -0.2, -0.2, -1.4)]
    {
        let scratch = Scratch::new("two-particles");
        let out = scratch.path("out");
        crate::common::run("two-particles".as_ref(), &out, options);
        for (name, expected) in [("left.vx", left), ("right.vx", right), ("blow.jx", impulse)] {
            let measured = *column(&out, name).last().unwrap();
            assert!((measured - expected).abs() < 1e-8, "{name} is {measured}, not {expected}");
        }
    }
}

/// The closed form of the deck, for a corner that lands a quarter of the way along (it slides 0.3 mm in a step of 1 ms,
/// so the weights are off by 1.5e-4 at most); with friction μ it slips, and the tangential impulse is μ times the normal one.
#[test]
fn a_corner_on_a_side_exchanges_what_the_closed_form_says() {
    let normal = 2.0 * 48.0 / 47.0;
    for (friction, slide) in [("0", 0.3), ("0.1", 0.3 - 0.1 * normal / 1.5)] {
        let scratch = Scratch::new("node-face-2d");
        let out = scratch.path("out");
        let option = format!("contact.friction={friction}");
        crate::common::run("node-face-2d".as_ref(), &out, &["--set", &option]);
        for (name, expected) in [
            ("corner.vy", -1.0 + normal / 1.5),
            ("corner.vx", slide),
            ("near.vy", -0.75 * normal / 2.0),
            ("far.vy", -0.25 * normal / 2.0),
            ("blow.jy", normal),
        ] {
            let measured = *column(&out, name).last().unwrap();
            assert!((measured - expected).abs() < 1e-3, "{name} is {measured}, not {expected}");
        }
    }
}

#[test]
fn bars_that_do_not_match_exchange_nearly_the_whole_impulse() {
    let scratch = Scratch::new("two-hex-bars");
    let out = scratch.path("out");
    crate::common::run("two-hex-bars".as_ref(), &out, &[]);
    let total = column(&out, "total");
    assert!(total.iter().all(|e| *e <= 0.1 * (1.0 + 1e-9)) && *total.last().unwrap() > 0.095);
    let impulse = *column(&out, "push.jx").last().unwrap();
    assert!((impulse + 2.0).abs() < 0.1, "{impulse}");
    let last =
        column(&out, "time").into_iter().zip(column(&out, "contacts")).rfind(|(_, c)| *c > 0.0).unwrap().0;
    assert!((19.5..=21.0).contains(&last), "{last}");
}

/// First contact after 0.25 m at 60 m/s; momentum 3 m (-30, 30, 30) with m = 0.7423663 kg, angular momentum zero.
#[test]
fn five_solid_cubes_meet_in_time_and_keep_their_momentum() {
    let scratch = Scratch::new("five-solid-cubes");
    let out = scratch.path("out");
    crate::common::run("five-solid-cubes".as_ref(), &out, &["--set", "end=0.03"]);
    let p = 90.0 * 0.7423663;
    for (name, expected) in [("px", -p), ("py", p), ("pz", p)] {
        let off = column(&out, name).into_iter().map(|x| (x - expected).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12 * 5.0 * 0.7423663 * 52.0, "{name} {off}");
    }
    let blow = column(&out, "blow.jx");
    let first = column(&out, "time").into_iter().zip(&blow).find(|(_, j)| **j != 0.0).unwrap().0;
    assert!((0.25 / 60.0..0.25 / 60.0 + 0.03 / 350.0 + 1e-4).contains(&first), "{first}");
    // against the way it came
    assert!(*blow.last().unwrap() < -1.0);
    let total = column(&out, "total");
    assert!(total.iter().all(|e| (e / total[0] - 1.0).abs() < 0.04), "{:?}", total.last());
}

const BOUNCE: &str = r#"
method = "dcr"
end = 0.02
[body.block]
mesh = { shape = "box", size = [1, 1, 1], cells = [2, 2, 2], at = [0, 0, 0.1] }
material = { law = "neo-hookean", young = 1e5, poisson = 0.3, density = 1 }
velocity = [0, 0, -20]
[body.floor]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[body.stone]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 1, 1], at = [3, 0, 0] }
velocity = [0, 0, 5]
[probe.push]
between = ["block", "floor"]
[probe.all]
contact = "floor"
[output]
history = 20
frames = 4
"#;

#[test]
fn an_obstacle_pushes_back_and_can_be_seen() {
    let scratch = Scratch::new("bounce");
    let deck = scratch.write("bounce.toml", BOUNCE);
    let out = scratch.path("out");
    crate::common::run(&deck, &out, &[]);
    // what the floor gave is the change of momentum, and what it received is the opposite
    let (pz, push, all) = (column(&out, "pz"), column(&out, "push.jz"), column(&out, "all.jz"));
    for ((pz, push), all) in pz.iter().zip(&push).zip(&all) {
        assert!((pz + 20.0 - push).abs() < 1e-11 && push == &-all, "{pz} {push} {all}");
    }
    assert!(*push.last().unwrap() > 30.0, "{push:?}");

    let frames = frames(&out);
    for frame in &frames {
        // 8 hexes, a sheet, a stone; 27 nodes, 4 corners, 8 corners
        let body = &frame.cell_field(name::BODY).unwrap().values;
        assert_eq!(body[..], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(frame.points.len(), 27 + 4 + 8);
        assert!(frame.points[27..31].iter().all(|x| x.z == 0.0));
        let lowest = frame.points[31..].iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
        assert!((lowest - 5.0 * frame.time).abs() < 1e-12);
        let velocity = frame.point_field(name::VELOCITY).unwrap();
        assert_eq!(velocity.values[3 * 31..3 * 32], [0.0, 0.0, 5.0]);
        assert_eq!(frame.cell_field(name::MISES).unwrap().values[8..], [0.0; 2]);
    }
    let received = impulse_in_frames(&frames, |_| true);
    assert!((received[2] - push.last().unwrap()).abs() < 1e-4, "{received:?}");
    let picture = carom(["render".as_ref(), out.as_os_str(), "--field".as_ref(), "body".as_ref()]);
    assert_eq!(code(&picture), 0, "{}", stderr(&picture));
}

#[test]
fn check_tells_what_takes_part_and_what_overlaps() {
    let scratch = Scratch::new("check-contact");
    let deck = scratch.write("bounce.toml", BOUNCE);
    let check = |options: &[&str]| {
        let mut command = crate::common::program();
        let output = command.arg("check").arg(&deck).args(options).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let (told, warned) = check(&[]);
    for words in [
        "body `block`: 24 facets, 48 edges, 26 nodes",
        "obstacle at rest `floor`: a plane",
        "obstacle that moves `stone`: 6 facets, 12 edges, 8 nodes",
        "nothing overlaps at the start",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert!(warned.is_empty(), "{warned}");
    let (told, _) = check(&["--set", "body.block.contact=zmin"]);
    assert!(told.contains("body `block`: 4 facets, 12 edges, 9 nodes"), "{told}");
    let (told, _) = check(&["--set", "contact.off=[\"stone\"]"]);
    assert!(told.contains("`stone`: touches nothing"), "{told}");
    let (told, warned) = check(&["--set", "body.block.mesh.at=[0, 0, -0.2]"]);
    assert!(told.contains("deepest overlap at the start 2.0000e-1 m, of `block` and `floor`"), "{told}");
    assert!(warned.contains("warning: --set") && warned.contains("`block` and `floor` overlap"), "{warned}");
}

/// A cube of quadratic tets strikes a wall: a rod of its length stops its middle after `v L / 2c`, which is 2.5 mm for free sides and 2.2 mm
/// for held ones, and comes back no faster than it went. As many nodes of hex8 say the same.
#[test]
fn quadratic_tets_rebound_by_every_method() {
    let scratch = Scratch::new("tet10");
    for method in crate::common::WITH_CONTACT {
        let sunk = [("tet10", 1), ("hex8", 2)].map(|(cell, cells)| {
            let deck = scratch.write(
                "deck.toml",
                &format!(
                    "method = \"{method}\"\nend = 0.05\n[body.a]\nmesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], \
                     cells = [{cells}, {cells}, {cells}], at = [0, 0, 0.001], cell = \"{cell}\" }}\n\
                     material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\nvelocity = [0, 0, -0.5]\n\
                     [body.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[probe.a]\nbody = \"a\"\n\
                     [output]\nhistory = 100\nframes = 0\n"
                ),
            );
            let out = scratch.path(&format!("{method}-{cell}"));
            crate::common::run(&deck, &out, &["--threads", "1"]);
            let speed = *column(&out, "a.vz").last().unwrap();
            assert!(speed > 0.2 && speed < 0.5, "{method} {cell}: {speed}");
            -column(&out, "a.uz").into_iter().fold(0.0, f64::min) - 0.001
        });
        // steps and cells are coarse: a third of what rods do
        assert!(sunk.iter().all(|s| *s > 0.0015 && *s < 0.0033), "{method}: {sunk:?}");
        assert!((sunk[0] / sunk[1] - 1.0).abs() < 0.2, "{method}: {sunk:?}");
    }
}

/// Kinetic and strain energies of bodies, probed one by one, add up to those of the ledger, in whatever order
/// they are probed. Rounding of sums in another order: 1e-12 of what there is.
#[test]
fn energies_of_bodies_add_up_to_the_ledger() {
    let scratch = Scratch::new("energies");
    let body = |name: &str, cells: u32, at: f64, v: f64| {
        format!(
            "[body.{name}]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [{cells}, 2, 2], at = [{at}, 0, 0] }}\n\
             material = {{ law = \"neo-hookean\", young = 1e6, poisson = 0.3, density = 1000 }}\nvelocity = [{v}, 0, 0]\n"
        )
    };
    for method in ["dcr", "semi-explicit", "asynchronous", "nonsmooth", "velocity-update"] {
        let bodies = [body("a", 3, 0.0, 2.0), body("b", 2, 1.01, 0.0), body("c", 4, 2.02, -1.0)].concat();
        let probes = ["c", "a", "b"].map(|b| format!("[probe.{b}]\nbody = \"{b}\"\n")).concat();
        let deck = format!(
            "method = \"{method}\"\nend = 0.03\n{bodies}{probes}[output]\nhistory = 20\nframes = 0\ncheckpoint = 0\n"
        );
        let deck = scratch.write("deck.toml", &deck);
        let out = scratch.path(method);
        let output =
            carom(["run".as_ref(), deck.as_os_str(), "--out".as_ref(), out.as_os_str(), "--quiet".as_ref()]);
        assert_eq!(code(&output), 0, "{method}: {}", stderr(&output));
        for energy in ["strain", "kinetic"] {
            // its velocities are those of the middle of a step, and the ledger takes them to its end
            if energy == "kinetic" && method == "semi-explicit" {
                continue;
            }
            let all = column(&out, energy);
            let most = all.iter().copied().fold(0.0, f64::max);
            let parts = ["a", "b", "c"].map(|b| column(&out, &format!("{b}.{energy}")));
            for (row, all) in all.iter().enumerate() {
                let sum: f64 = parts.iter().map(|p| p[row]).sum();
                assert!((sum - all).abs() <= 1e-12 * most, "{method}, {energy}, row {row}: {sum} {all}");
            }
            assert!(parts.iter().all(|p| p.iter().any(|e| *e > 1e-3 * most)), "{method}: {energy}");
        }
    }
}
