//! What must hold for every shape.

use super::*;
use crate::math::Vec3;
use crate::mesh::{CellKind, Mesh, shape_functions};

/// The places of the corners of cell `i`.
fn corners(mesh: &Mesh, cells: usize, i: usize) -> Vec<Vec3> {
    mesh.cells[cells].cell(i).iter().map(|&n| mesh.nodes[n as usize]).collect()
}

fn smallest_det(mesh: &Mesh) -> f64 {
    let mut smallest = f64::INFINITY;
    for (c, cells) in mesh.cells.iter().enumerate() {
        for i in 0..cells.len() {
            let x = corners(mesh, c, i);
            for a in 0..cells.kind.nodes() {
                let xi = shape_functions::corner(cells.kind, a);
                smallest = smallest.min(shape_functions::jacobian(cells.kind, &x, xi).determinant());
            }
        }
    }
    smallest
}

fn total(mesh: &Mesh) -> f64 {
    let measure = |c: usize, i| shape_functions::measure(mesh.cells[c].kind, &corners(mesh, c, i));
    (0..mesh.cells.len()).map(|c| (0..mesh.cells[c].len()).map(|i| measure(c, i)).sum::<f64>()).sum()
}

fn graded_box(cell: CellKind) -> Box {
    Box {
        size: [2.0, 3.0, 0.5],
        cells: [4, 3, 2],
        grading: [
            Grading::Geometric(3.0),
            Grading::Quadratic { slope: 0.25, fine: End::Max },
            Grading::Geometric(0.5),
        ],
        cell,
    }
}

#[test]
fn a_box_fills_its_size_with_positive_cells_that_leave_no_gap() {
    for cell in [CellKind::Hex8, CellKind::Tet4] {
        let mesh = graded_box(cell).build().unwrap();
        assert_eq!(mesh.cells[0].len(), if cell == CellKind::Hex8 { 24 } else { 144 });
        assert!(smallest_det(&mesh) > 0.0);
        assert!((total(&mesh) - 3.0).abs() < 1e-14 * 3.0);
    }
}
