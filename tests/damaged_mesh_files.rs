//! Cut, flipped and shuffled mesh files never bring a reader down and never make it ask for memory that the
//! file could not fill. One test alone in its program: it watches the memory of the whole process.

use carom::math::dice::Dice;
use carom::mesh::error::Place;
use carom::mesh::{Mesh, MeshError, abaqus, gmsh, triangles, vtk};

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
    let mut dice = Dice(cases.into());
    for case in 0..cases {
        let bytes = damaged(&files[dice.below(files.len() as u64) as usize], &mut dice);
        match parse(&bytes) {
            Ok(mesh) => {
                // What is read is consistent, so that these may find fault but not fail.
                let _ = mesh.check_body();
                carom::mesh::surface::Surface::of(&mesh);
                mesh.describe();
            }
            Err(error) => assert!(names_its_place(&error), "{ending}, case {case}: {error}"),
        }
    }
}

/// A few bytes changed; a piece put elsewhere (one in four); digits put together (one in two); cut (one in four).
fn damaged(file: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let place = |dice: &mut Dice, bytes: &[u8]| dice.below(bytes.len() as u64) as usize;
    for _ in 0..dice.below(8) {
        let at = place(dice, &bytes);
        bytes[at] = dice.bits() as u8;
    }
    if dice.below(4) == 0 {
        let (from, to) = (place(dice, &bytes), place(dice, &bytes));
        let piece: Vec<u8> = bytes[from..].iter().take(1 + dice.below(63) as usize).copied().collect();
        bytes.splice(to..to, piece);
    }
    if dice.below(2) == 0 {
        let at = place(dice, &bytes);
        let digits: Vec<u8> = (0..1 + dice.below(20)).map(|_| b'0' + dice.below(10) as u8).collect();
        bytes.splice(at..at, digits);
    }
    if dice.below(4) == 0 {
        bytes.truncate(place(dice, &bytes));
    }
    bytes
}
