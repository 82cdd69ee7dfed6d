//! ParaView and PyVista read frames through VTK; so does this test.
//!
//! It needs `target/venv` with `tests/requirements.txt` installed. Without it the test says so and
//! passes, except where `CI` is set.

use carom::math::Vec3;
use carom::mesh::CellKind;
use carom::output::pvd::Series;
use carom::output::vtu::{Field, Frame, Packed, PackedCells, Values, name, write_vtu};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter with VTK, or `None` when the test is to be skipped.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/venv/bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing, and this is CI", python.display());
    println!(
        "skipped: no {}; make it with `python3 -m venv target/venv` and \
         `target/venv/bin/pip install -r tests/requirements.txt`",
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
    let blocks: [(CellKind, &[u32]); 6] = [
        (CellKind::Hex8, &lower),
        (CellKind::Tet4, &[8, 9, 10, 12]),
        (CellKind::Hex8, &upper),
        (CellKind::Quad4, &[12, 13, 14, 15]),
        (CellKind::Tri3, &[15, 16, 17]),
        (CellKind::Bar2, &[0, 17]),
    ];
    let cells = PackedCells::new(&blocks);
    let body = Packed::new(Values::I32(&[0, 0, 1, 1, 2, 3]));

    let mut series = Series::create(&dir).unwrap();
    let mut written = Vec::new();
    for frame in 0..3 {
        let time = frame as f64 * 0.1;
        let displacement: Vec<Vec3> = rest.iter().map(|x| x.cross(&Vec3::z()) * time).collect();
        let points: Vec<Vec3> = rest.iter().zip(&displacement).map(|(x, u)| x + u).collect();
        let stress: Vec<f64> = (0..36).map(|i| 1e9 * (i as f64 + time).cos()).collect();
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

    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_frames.py"))
        .arg(&dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let seen: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();

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
        let (on_points, on_cells) = (&seen["point_fields"], &seen["cell_fields"]);
        assert!(numbers(&on_points[name::DISPLACEMENT]["values"]) == flat(displacement));
        assert_eq!(on_points[name::CONTACT_FORCE]["type"], "float");
        let single = |v: Vec<f64>| v.into_iter().map(|x| x as f32 as f64).collect::<Vec<_>>();
        assert!(numbers(&on_points[name::CONTACT_FORCE]["values"]) == single(flat(&rest)));
        assert_eq!(on_cells[name::STRESS]["components"], 6);
        assert_eq!(numbers(&on_cells[name::STRESS]["values"]), single(stress.clone()));
        assert_eq!(numbers(&on_cells[name::BODY]["values"]), [0.0, 0.0, 1.0, 1.0, 2.0, 3.0]);
    }
}
