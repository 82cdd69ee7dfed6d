//! The power goes at any moment: whatever was not forced to the disk may be lost, and a run goes on from there to the same end.

use super::*;
use crate::output::testing::scratch;
use crate::run::disk::journal::{self, Did};
use std::collections::{BTreeMap, BTreeSet};

const DECK: &str = r#"
method = "verlet"
end = 0.2
[body.bar]
mesh = { shape = "bar", length = 1.0, cells = 4 }
area = 1e-4
material = { law = "linear", young = 1e6, poisson = 0.0, density = 1000 }
velocity = [1, 0, 0]
fix = "xmin"
[output]
history = 6
frames = 3
checkpoint = 0
"#;

fn simulation(folder: &Path, before: Before) -> Result<Simulation, SimulationError> {
    Simulation::setup().threads(1).folder(folder, before).text(DECK)
}

/// History, frames and their list.
fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = vec!["history.csv".to_owned(), "frames.pvd".to_owned()];
    names.extend((0..4).map(crate::output::pvd::file_name));
    names.into_iter().map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap())).collect()
}

/// What the disk holds: names lead to files, and a file has the content that was written and the one that was forced there.
#[derive(Clone, Default)]
struct Disk {
    files: Vec<(Vec<u8>, Vec<u8>)>,
    names: BTreeMap<PathBuf, usize>,
    kept_names: BTreeMap<PathBuf, usize>,
}

impl Disk {
    fn see(&mut self, did: &Did) {
        match did {
            Did::Wrote(path, content) => match self.names.get(path) {
                Some(&file) => self.files[file].0 = content.clone(),
                None => {
                    self.names.insert(path.clone(), self.files.len());
                    self.files.push((content.clone(), Vec::new()));
                }
            },
            Did::Renamed(from, to) => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
            Did::Synced(path) => {
                let file = &mut self.files[self.names[path]];
                file.1 = file.0.clone();
            }
            Did::SyncedFolder(folder) => {
                let inside = |path: &PathBuf| path.parent() == Some(folder);
                self.kept_names.retain(|path, _| !inside(path));
                let here = self.names.iter().filter(|(path, _)| inside(path));
                self.kept_names.extend(here.map(|(path, file)| (path.clone(), *file)));
            }
            Did::Removed(path) => drop(self.names.remove(path)),
        }
    }

    /// What is there when the power comes back: the names that were kept or all, the contents that were kept or all.
    fn after_a_cut(&self, all_names: bool, all_content: bool) -> BTreeMap<PathBuf, Vec<u8>> {
        let names = if all_names { &self.names } else { &self.kept_names };
        let content = |file: usize| {
            let (written, kept) = &self.files[file];
            if all_content { written.clone() } else { kept.clone() }
        };
        names.iter().map(|(path, &file)| (path.clone(), content(file))).collect()
    }
}

#[test]
fn a_run_goes_on_to_the_same_end_wherever_the_power_went() {
    let (whole, cut) = (scratch("power-whole"), scratch("power-cut"));
    fs::remove_dir_all(&whole).unwrap();
    journal::begin(&whole);
    // `checkpoint = 0` keeps one at every pulse
    simulation(&whole, Before::Keep).unwrap().run().unwrap();
    let did = journal::end();
    let expected = results(&whole);
    let checkpoints =
        did.iter().filter(|d| matches!(d, Did::Renamed(_, to) if to.ends_with("checkpoint.a"))).count();
    assert!(checkpoints > 2, "{checkpoints}");

    // most cuts leave what an earlier one left
    let mut seen = BTreeSet::new();
    let mut disk = Disk::default();
    for (i, step) in did.iter().enumerate() {
        disk.see(step);
        for (names, content) in [(false, false), (true, false), (false, true), (true, true)] {
            let left = disk.after_a_cut(names, content);
            if !seen.insert(left.clone()) {
                continue;
            }
            let _ = fs::remove_dir_all(&cut);
            fs::create_dir_all(cut.join("frames")).unwrap();
            for (path, content) in left {
                fs::write(cut.join(path.strip_prefix(&whole).unwrap()), content).unwrap();
            }
            let there = |name: &str| cut.join(name).exists();
            let begun = there("summary.json") || there("checkpoint.a");
            if !begun {
                fs::remove_dir_all(&cut).unwrap();
            }
            let before = if begun { Before::Resume } else { Before::Keep };
            let outcome = simulation(&cut, before).and_then(|mut s| s.run());
            outcome.unwrap_or_else(|e| {
                panic!("cut after {i} ({step:.60?}), names {names}, content {content}: {e}")
            });
            assert!(
                results(&cut) == expected,
                "cut after {i} ({step:.60?}), names {names}, content {content}"
            );
        }
    }
}

/// Frames that come faster than the list is written, of a run that nobody carries to its end and that keeps no checkpoint.
#[test]
fn a_run_that_is_left_lists_its_frames() {
    let folder = scratch("left");
    let deck = DECK.replace("frames = 3", "frames = 20").replace("checkpoint = 0", "checkpoint = 1e6");
    let mut simulation = Simulation::setup().threads(1).folder(&folder, Before::Replace).text(&deck).unwrap();
    simulation.advance(0.15).unwrap();
    drop(simulation);
    let listed = crate::output::pvd::Series::open(&folder).unwrap();
    let written = fs::read_dir(folder.join("frames")).unwrap().count();
    assert!(written >= 15, "{written}");
    assert_eq!(listed.entries().len(), written);
}
