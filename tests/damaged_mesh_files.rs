//! Cut, flipped and shuffled mesh files never bring a reader down and never make it ask for memory that the
//! file could not fill. One test alone in its program: it watches the memory of the whole process.

use carom::mesh::error::Place;
use carom::mesh::{Mesh, MeshError, abaqus, gmsh, triangles, vtk};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Largest address space the process ever asked for [kB], where the system tells.
fn peak_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?.split_whitespace().next()?.parse().ok()
}

/// A format: its ending, how it is read, files at least, damages.
type Format = (&'static str, fn(&[u8]) -> Result<Mesh, MeshError>, usize, u32);

const FORMATS: [Format; 6] = [
    ("msh", gmsh::parse, 16, 20_000),
    ("inp", input, 4, 2_000),
    ("vtu", vtk::parse_xml, 8, 2_000),
    ("vtk", vtk::parse_legacy, 4, 2_000),
    ("stl", |bytes| triangles::stl(bytes, 1e-6).map(|read| read.mesh), 2, 2_000),
    ("obj", |bytes| triangles::obj(bytes, 1e-6).map(|read| read.mesh), 1, 2_000),
];

/// Files that are included hold nodes, once.
fn input(bytes: &[u8]) -> Result<Mesh, MeshError> {
    abaqus::parse(bytes, &mut |_| Ok(b"*NODE\n1000001, 0, 0, 0\n".to_vec()))
}

fn files(ending: &str, least: usize) -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/meshes");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    assert!(paths.len() >= least, "meshes are missing from {folder}");
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A message names the place, unless it is about the mesh as a whole.
fn names_its_place(error: &MeshError) -> bool {
    match error {
        MeshError::Content { place: Place::Line { line, .. }, .. } => *line > 0,
        MeshError::InFile { error, .. } => names_its_place(error),
        _ => true,
    }
}

#[test]
fn damaged_files_are_refused_or_read_without_panic_or_wild_allocation() {
    let before = peak_kilobytes();
    for format in FORMATS {
        damage(format);
    }
    // The files have up to 60 kB each; a megabyte for each would be plenty, arenas of the allocator aside.
    if let (Some(before), Some(after)) = (before, peak_kilobytes()) {
        assert!(after - before < 200_000, "memory grew from {before} to {after} kB");
    }
}

fn damage((ending, parse, least, cases): Format) {
    let files = files(ending, least);
    // Which file; where it is cut (one in four); bytes that change; a piece that moves; digits put together.
    let damage = (
        0..files.len(),
        prop::option::weighted(0.25, 0.0..1.0),
        prop::collection::vec((0.0..1.0, any::<u8>()), 0..8),
        prop::option::weighted(0.25, (0.0..1.0, 0.0..1.0, 1_usize..64)),
        prop::option::weighted(0.5, (0.0..1.0, "[0-9]{1,20}")),
    );
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&damage, |(file, cut, flips, moved, digits)| {
        let mut bytes = files[file].clone();
        let place = |share: f64, bytes: &[u8]| (share * bytes.len() as f64) as usize;
        for (share, value) in flips {
            let at = place(share, &bytes);
            bytes[at] = value;
        }
        if let Some((from, to, length)) = moved {
            let (from, to) = (place(from, &bytes), place(to, &bytes));
            let piece: Vec<u8> = bytes[from..].iter().take(length).copied().collect();
            bytes.splice(to..to, piece);
        }
        if let Some((share, digits)) = digits {
            let at = place(share, &bytes);
            bytes.splice(at..at, digits.into_bytes());
        }
        if let Some(share) = cut {
            bytes.truncate(place(share, &bytes));
        }
        match parse(&bytes) {
            Ok(mesh) => {
                // What is read is consistent, so that these may find fault but not fail.
                let _ = mesh.check_body();
                carom::mesh::surface::Surface::of(&mesh);
                mesh.describe();
            }
            Err(error) => prop_assert!(names_its_place(&error), "{error}"),
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{ending}: {e}"));
}
