//! ParaView and PyVista read frames through VTK; so does this test.
//!
//! It needs `target/venv` with `tests/requirements.txt` installed. Without it the test says so and
//! passes, except where `CI` is set.

use carom::deck::{self, Input};
use carom::element::Positions;
use carom::math::Vec3;
use carom::mesh::CellKind;
use carom::output::frames::Frames;
use carom::output::pvd::Series;
use carom::output::vtu::{Field, Frame, Packed, PackedCells, Values, name, write_vtu};
use carom::run::{Run, pool};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// The interpreter with VTK, or `None` when the test is to be skipped.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/venv/bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing, and this is CI", python.display());
    // not `eprintln`: what a passing test prints is held back
    let _ = writeln!(
        std::io::stderr(),
        "{}: skipped, VTK is not there: make {} with `python3 -m venv target/venv` and \
         `target/venv/bin/pip install -r tests/requirements.txt`",
        std::thread::current().name().unwrap_or_default(),
        python.display()
    );
    None
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn flat(v: &[Vec3]) -> Vec<f64> {
    v.iter().flat_map(|v| [v.x, v.y, v.z]).collect()
}

/// What VTK sees in a folder, frame by frame.
fn read(python: &Path, dir: &Path) -> Vec<Value> {
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_frames.py"))
        .arg(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// A hex block and a tet block of different size fall apart a little: one with eight integration points to an element, the
/// other with one.
const TWO_BLOCKS: &str = r#"
method = "verlet"
end = 0.3
contact = { only = [] }
[material.rubber]
law = "neo-hookean"
young = 10.0
poisson = 0.3
density = 1.0
[body.hexes]
mesh = { shape = "box", size = [1, 1, 1], cells = [2, 2, 1], grading = [2, 1, 1] }
material = "rubber"
spin = [0, 0, 2]
fix = "zmin"
[body.tets]
mesh = { shape = "box", size = [1, 1, 1], cells = [1, 2, 1], cell = "tet4", at = [3, 0, 0] }
material = "rubber"
spin = [1, 0, 2]
fix = "xmin"
"#;

/// Elements hold what stands at their integration points, its mean and its largest; points hold the mean of the elements
/// around them by volume.
#[test]
fn vtk_sees_stresses_of_elements_integration_points_and_nodes() {
    let Some(python) = python() else { return };
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stresses_open_in_vtk");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let run = pool(1).unwrap().install(|| {
        let input = Input { name: "two blocks", text: TWO_BLOCKS, folder: &dir, options: &[] };
        let case = deck::load(&input).map_err(|e| e.to_string()).unwrap().case;
        let frames = Frames::create(&dir, &case.model, case.end, 1).unwrap();
        let frames = frames.with_integration_points(&case.model);
        let mut run = Run::start(case, vec![Box::new(frames)], None).unwrap();
        run.to_end(&AtomicBool::new(false)).unwrap();
        run
    });
    let seen = read(&python, &dir);
    let last = seen.last().unwrap();
    let (points, cells) = (&last["point_fields"], &last["cell_fields"]);
    let (model, state) = (&run.case.model, &run.case.state);
    let positions = Positions { reference: &model.reference, current: &state.x };
    assert_eq!(cells[name::STRESS_POINTS]["components"], 48);
    assert_eq!(cells[name::MISES_POINTS]["components"], 8);
    assert_eq!(points[name::STRESS]["components"], 6);
    let of = |fields: &Value, name: &str| numbers(&fields[name]["values"]);
    let (stress, mises) = (of(cells, name::STRESS_POINTS), of(cells, name::MISES_POINTS));
    let (mean, largest) = (of(cells, name::MISES), of(cells, name::MISES_MAX));
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{a} {b}");
    let mut around = vec![(0.0, 0.0, 0.0); model.reference.len()];
    let mut element = 0;
    for (body, block) in model.bodies.iter().zip(&model.blocks) {
        for nodes in body.mesh.cells[0].nodes.chunks_exact(block.kind().nodes()) {
            let e = element - if body.blocks.start == 0 { 0 } else { model.blocks[0].len() };
            let (mut at, mut volume, mut sum, mut most, mut xy) = (0, 0.0, 0.0, 0.0_f64, 0.0);
            block.stress(e, positions, &mut |point| {
                near(mises[8 * element + at], point.von_mises);
                for (k, s) in point.cauchy.into_iter().enumerate() {
                    near(stress[48 * element + 6 * at + k], s);
                }
                (volume, sum) = (volume + point.volume, sum + point.volume * point.von_mises);
                (most, xy) = (most.max(point.von_mises), xy + point.volume * point.cauchy[3]);
                at += 1;
            });
            assert_eq!(at, if block.kind() == CellKind::Hex8 { 8 } else { 1 });
            assert!(mises[8 * element + at..8 * element + 8].iter().all(|&m| m == 0.0));
            near(mean[element], sum / volume);
            near(largest[element], most);
            for &k in nodes {
                let a: &mut (f64, f64, f64) = &mut around[body.nodes.start + k as usize];
                *a = (a.0 + volume, a.1 + sum, a.2 + xy);
            }
            element += 1;
        }
    }
    let (nodal, tensor) = (of(points, name::MISES), of(points, name::STRESS));
    for (k, (volume, sum, xy)) in around.into_iter().enumerate() {
        near(nodal[k], sum / volume);
        near(tensor[6 * k + 3], xy / volume);
    }
    assert!(nodal.iter().fold(0.0_f64, |m, x| m.max(*x)) > 0.1, "nothing is strained");
}

#[test]
fn vtk_sees_the_numbers_that_were_written() {
    let Some(python) = python() else { return };
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("frames_open_in_vtk");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();

    // Every kind of cell once, two runs of hexes; many loose points make arrays longer than a block.
    let mut rest: Vec<Vec3> =
        (0..12).map(|i| Vec3::new((i % 2) as f64, ((i / 2) % 2) as f64, (i / 4) as f64)).collect();
    rest.extend((0..30_000).map(|i| Vec3::new(i as f64 * 0.37, (i as f64).sin(), 1.0 / (1.0 + i as f64))));
    let hex = |z: u32| [0, 1, 3, 2, 4, 5, 7, 6].map(|i| i + 4 * z);
    let (lower, upper) = (hex(0), hex(1));
    let blocks: [(CellKind, &[u32]); 7] = [
        (CellKind::Hex8, &lower),
        (CellKind::Tet4, &[8, 9, 10, 12]),
        (CellKind::Hex8, &upper),
        (CellKind::Quad4, &[12, 13, 14, 15]),
        (CellKind::Tri3, &[15, 16, 17]),
        (CellKind::Bar2, &[0, 17]),
        (CellKind::Tet10, &[20, 21, 22, 23, 24, 25, 26, 27, 28, 29]),
    ];
    let cells = PackedCells::new(&blocks);
    let body = Packed::new(Values::I32(&[0, 0, 1, 1, 2, 3, 3]));

    let mut series = Series::create(&dir).unwrap();
    let mut written = Vec::new();
    for frame in 0..3 {
        let time = frame as f64 * 0.1;
        let displacement: Vec<Vec3> = rest.iter().map(|x| x.cross(&Vec3::z()) * time).collect();
        let points: Vec<Vec3> = rest.iter().zip(&displacement).map(|(x, u)| x + u).collect();
        let stress: Vec<f64> = (0..42).map(|i| 1e9 * (i as f64 + time).cos()).collect();
        write_vtu(
            &series.next_path(),
            &Frame {
                time,
                points: &points,
                cells: &cells,
                point_fields: &[
                    Field { name: name::DISPLACEMENT, components: 3, values: Values::vectors(&displacement) },
                    Field { name: name::CONTACT_FORCE, components: 3, values: Values::single_vectors(&rest) },
                ],
                cell_fields: &[
                    Field { name: name::STRESS, components: 6, values: Values::Single(&stress) },
                    Field { name: name::BODY, components: 1, values: Values::Packed(&body) },
                ],
            },
        )
        .unwrap();
        series.push(time).unwrap();
        written.push((time, points, displacement, stress));
    }

    let seen = read(&python, &dir);
    assert_eq!(seen.len(), written.len());
    for (seen, (time, points, displacement, stress)) in seen.iter().zip(&written) {
        assert_eq!(seen["listed_time"], *time);
        assert_eq!(seen["time"], *time);
        assert!(numbers(&seen["points"]) == flat(points));
        let vtk_cells: Vec<Vec<f64>> = seen["cells"].as_array().unwrap().iter().map(numbers).collect();
        assert_eq!(vtk_cells[0], [12.0, 0.0, 1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0]);
        assert_eq!(vtk_cells[1], [10.0, 8.0, 9.0, 10.0, 12.0]);
        assert_eq!(vtk_cells[2], [12.0, 4.0, 5.0, 7.0, 6.0, 8.0, 9.0, 11.0, 10.0]);
        assert_eq!(vtk_cells[3], [9.0, 12.0, 13.0, 14.0, 15.0]);
        assert_eq!(vtk_cells[4], [5.0, 15.0, 16.0, 17.0]);
        assert_eq!(vtk_cells[5], [3.0, 0.0, 17.0]);
        let quadratic: Vec<f64> = [24].into_iter().chain(20..30).map(f64::from).collect();
        assert_eq!(vtk_cells[6], quadratic);
        let (on_points, on_cells) = (&seen["point_fields"], &seen["cell_fields"]);
        assert!(numbers(&on_points[name::DISPLACEMENT]["values"]) == flat(displacement));
        assert_eq!(on_points[name::CONTACT_FORCE]["type"], "float");
        let single = |v: Vec<f64>| v.into_iter().map(|x| x as f32 as f64).collect::<Vec<_>>();
        assert!(numbers(&on_points[name::CONTACT_FORCE]["values"]) == single(flat(&rest)));
        assert_eq!(on_cells[name::STRESS]["components"], 6);
        assert_eq!(numbers(&on_cells[name::STRESS]["values"]), single(stress.clone()));
        assert_eq!(numbers(&on_cells[name::BODY]["values"]), [0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    }
}
