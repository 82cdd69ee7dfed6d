//! The front door: a run is the same whole or in pieces, on any pool, in memory or in a folder; errors of observers come out.

use carom::deck::{self, Input};
use carom::math::Vec3;
use carom::run::{Run, RunError, pool};
use carom::{Before, Look, Observer, ObserverError, Simulation, SimulationError};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn text(method: &str) -> String {
    format!(
        "method = \"{method}\"\nend = 0.02\n[output]\nhistory = 10\nframes = 2\n[body.cube]\n\
         mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [2, 2, 2], at = [0, 0, 0.002] }}\n\
         material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\n\
         velocity = [0.1, 0, -1]\n[body.table]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
         [contact]\nfriction = 0.3\n[probe.push]\ncontact = \"cube\"\n"
    )
}

const METHODS: [&str; 5] = ["verlet", "dcr", "asynchronous", "semi-explicit", "bipotential-implicit"];

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("carom-simulation-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn positions(simulation: &mut Simulation) -> Vec<Vec3> {
    simulation.nodes().unwrap().x.to_vec()
}

#[test]
fn pieces_make_up_the_whole_bit_for_bit() {
    for method in METHODS {
        let setup = || Simulation::setup().threads(2);
        let mut whole = setup().text(&text(method)).unwrap();
        whole.run().unwrap();
        assert!(whole.contacts().unwrap().impulse.iter().map(|j| j.norm()).sum::<f64>() > 0.0, "{method}");
        assert!(whole.impulse_between("cube", "table").unwrap().z > 0.0, "{method}");
        assert!(whole.impulse_between("cube", "nobody").is_none());
        let mut pieces = setup().text(&text(method)).unwrap();
        for _ in 0..3 {
            let before = pieces.time();
            pieces.step().unwrap();
            assert!(pieces.time() > before, "{method}");
        }
        while pieces.time() < pieces.end() {
            pieces.advance(pieces.time() + 0.003).unwrap();
        }
        // pieces may overshoot the end, the whole does not: both are compared where both have been
        let rows = whole.history().rows();
        // a row at most a step: by default an implicit one is longer than a tenth of this run
        assert_eq!(rows, if method == "bipotential-implicit" { 5 } else { 11 }, "{method}");
        for name in whole.history().names() {
            let column = |s: &Simulation| s.history().column(name).unwrap()[..rows].to_vec();
            assert_eq!(column(&whole), column(&pieces), "{method} {name}");
        }
        if whole.time() == pieces.time() {
            assert_eq!(positions(&mut whole), positions(&mut pieces), "{method}");
        }
    }
}

#[test]
fn a_stop_is_no_look() {
    for method in METHODS {
        let drift = |stops: bool| {
            let mut simulation = Simulation::setup().threads(1).text(&text(method)).unwrap();
            while stops && simulation.time() < 0.9 * simulation.end() {
                simulation.step().unwrap();
            }
            simulation.run().unwrap();
            let momentum = simulation.summary().unwrap().momentum;
            (momentum.linear_drift_max, momentum.angular_drift_max)
        };
        assert_eq!(drift(false), drift(true), "{method}");
    }
}

#[test]
fn the_history_in_memory_is_that_of_the_file_and_a_stopped_run_goes_on_to_the_same() {
    let scratch = [Scratch::new("whole"), Scratch::new("stopped")];
    let setup = |k: usize, before| Simulation::setup().threads(1).folder(&scratch[k].0, before);
    let mut whole = setup(0, Before::Keep).text(&text("dcr")).unwrap();
    whole.run().unwrap();
    let file = |k: usize| std::fs::read_to_string(scratch[k].0.join("history.csv")).unwrap();
    let written = file(0);
    let kinetic: Vec<f64> =
        written.lines().skip(1).map(|row| row.split(',').nth(3).unwrap().parse().unwrap()).collect();
    assert_eq!(whole.history().column("kinetic").unwrap(), kinetic);
    assert_eq!(written.lines().next().unwrap(), whole.history().names().join(","));

    let mut part = setup(1, Before::Keep).text(&text("dcr")).unwrap();
    part.advance(0.009).unwrap();
    part.finish().unwrap();
    drop(part);
    let refused = setup(1, Before::Keep).text(&text("dcr")).err();
    assert!(matches!(refused, Some(SimulationError::FolderTaken { .. })), "{refused:?}");
    let mut other = setup(1, Before::Resume).set("contact.friction=0.5").text(&text("dcr")).unwrap();
    let refused = other.run().err();
    assert!(
        matches!(&refused, Some(SimulationError::OtherDeck { keys, .. }) if keys == &["contact.friction"])
    );
    let mut rest = setup(1, Before::Resume).text(&text("dcr")).unwrap();
    rest.run().unwrap();
    assert_eq!(file(1), written);
    assert_eq!(positions(&mut rest), positions(&mut whole));
    let mut again = setup(1, Before::Resume).text(&text("dcr")).unwrap();
    again.run().unwrap();
    assert!(again.finished_before());
}

struct Tired;

impl Observer for Tired {
    fn next(&self) -> f64 {
        0.01
    }
    fn look(&mut self, _: &Look) -> Result<(), ObserverError> {
        Err("enough".into())
    }
}

#[test]
fn an_observer_may_fail_with_any_error() {
    let mut simulation = Simulation::from_text(&text("dcr")).unwrap();
    simulation.observe(Tired);
    let error = simulation.run().unwrap_err();
    assert!(
        matches!(&error, SimulationError::Run(RunError::Observer(e)) if e.to_string() == "enough"),
        "{error}"
    );
    assert!(simulation.time() >= 0.01 && simulation.time() < 0.02);
}

/// A case that was built on one thread runs on many.
#[test]
fn a_larger_pool_is_no_trouble() {
    for method in METHODS {
        let text = text(method);
        let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
        let run = |case| {
            let mut run = Run::start(case, Vec::new(), None).unwrap();
            run.to_end(&AtomicBool::new(false)).unwrap();
            run.case.state.x
        };
        let build = || deck::load(&input).unwrap_or_else(|e| panic!("{e}")).case;
        let small = pool(1).unwrap();
        let case = small.install(build);
        let alone = small.install(|| run(build()));
        let many = pool(5).unwrap().install(|| run(case));
        assert_eq!(alone, many, "{method}");
    }
}

#[test]
fn what_is_wrong_with_a_deck_comes_out_with_its_place() {
    let wrong = text("dcr").replace("friction = 0.3", "fricton = 0.3");
    let Err(SimulationError::Deck(errors)) = Simulation::from_text(&wrong) else { panic!() };
    assert!(errors.to_string().contains("did you mean `friction`?"), "{errors}");
    let gone = Simulation::from_file("no/such/deck.toml").err();
    assert!(matches!(gone, Some(SimulationError::Unreadable { .. })));
}

/// Peaks are the extremes of the history's own columns; and a bar on a wall is exact: until the wave comes back it presses with ρ c v A
/// and bears the stress ρ c v, with c² = E/ρ. A mesh of 40 elements overshoots its front (Gibbs), and the end node alone adds 2 m v to the first row.
#[test]
fn peaks_are_those_of_the_rows_and_of_the_wave() {
    let deck = r#"
        method = "dcr"
        end = 300e-6
        [body.bar]
        mesh = { shape = "bar", length = 1.0, cells = 40, at = [1e-6, 0, 0] }
        area = 1e-4
        material = { law = "linear", young = 210e9, poisson = 0.0, density = 7800 }
        velocity = [-1, 0, 0]
        [body.wall]
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        [probe.push]
        between = ["bar", "wall"]
        [probe.tip]
        body = "bar"
        nodes = "xmax"
        [output]
        history = 60
    "#;
    let mut simulation = Simulation::setup().threads(1).text(deck).unwrap();
    simulation.run().unwrap();
    let peaks = simulation.peaks().unwrap();
    let (time, history) = (simulation.history().column("time").unwrap(), simulation.history());
    for (name, peak) in &peaks.probes {
        let column = history.column(name).unwrap();
        let at = |t: f64| column[time.iter().position(|x| *x == t).unwrap()];
        assert_eq!((at(peak.time_min), at(peak.time_max)), (peak.min, peak.max), "{name}");
        assert!(column.iter().all(|x| (peak.min..=peak.max).contains(x)), "{name}");
    }
    assert_eq!(peaks.probes.len(), 12);
    let wave = (210e9_f64 * 7800.0).sqrt();
    let [force] = &peaks.force[..] else { panic!("{:?}", peaks.force) };
    assert_eq!(force.bodies, ["bar", "wall"]);
    let end_node = 2.0 * 0.5 * 7800.0 * 1e-4 / 40.0 / 5e-6;
    assert!(force.value >= 0.98e-4 * wave && force.value < 1.5e-4 * wave + end_node, "{force:?}");
    let mises = peaks.mises.unwrap();
    assert!(mises.value > 0.98 * wave && mises.value < 2.0 * wave, "{} {wave}", mises.value);
    assert!(
        mises.body == "bar" && (mises.at[0] - (mises.element as f64 + 0.5) / 40.0).abs() < 1e-3,
        "{mises:?}"
    );
    // and the summary says the same
    assert_eq!(simulation.summary().unwrap().peaks.mises.unwrap(), mises);
}

/// The envelope never falls, holds what a frame shows, and in the end reaches the peak of the summary.
#[test]
fn frames_hold_the_largest_stress_so_far() {
    let scratch = Scratch::new("envelope");
    let deck = text("dcr").replace("frames = 2", "frames = 4\nmises_peak = true");
    let mut simulation = Simulation::setup().threads(2).folder(&scratch.0, Before::Keep).text(&deck).unwrap();
    simulation.run().unwrap();
    let mut last = vec![0.0; 8];
    for frame in 0..=4 {
        let read = carom::output::vtu::read_vtu(&scratch.0.join(format!("frames/{frame:06}.vtu"))).unwrap();
        let (peak, now) = (read.cell_field("mises_peak").unwrap(), read.cell_field("mises_max").unwrap());
        for k in 0..8 {
            assert!(peak.values[k] >= now.values[k] && peak.values[k] >= last[k], "{frame} {k}");
        }
        last = peak.values[..8].to_vec();
    }
    let most = last.iter().copied().fold(0.0, f64::max);
    let told = simulation.peaks().unwrap().mises.unwrap();
    assert!(most >= told.value * (1.0 - 1e-6) && told.time > 0.0 && told.body == "cube", "{most} {told:?}");
}
