//! Shape functions of cells, the map from reference to real coordinates, and its inverse.
//!
//! ```text
//! x(ξ) = Σ N_a(ξ) x_a        J = ∂x/∂ξ = Σ x_a ⊗ ∂N_a/∂ξ
//! ```
//!
//! Reference coordinates follow the table in [`super`]: bars, quads and hexes live on [−1, 1]ᵈ,
//! triangles and tets on the unit simplex. Coordinates a cell does not have are ignored and come back
//! as zero. A plane cell is seen in x–y alone and a bar along x alone, as everywhere: J is completed by the
//! unit vectors of the missing directions, so that det J is the length, area or volume ratio.
//!
//! One cell at a time, for geometry and contact; element kernels have their own batched forms.

use super::CellKind;
use crate::math::{Mat3, Vec3};

/// Corner signs of the hex; the first four, without ζ, are those of the quad.
const CORNERS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

/// Reference coordinates of corner `a`.
pub fn corner(kind: CellKind, a: usize) -> Vec3 {
    match kind {
        CellKind::Bar2 => Vec3::new(CORNERS[a][0], 0.0, 0.0),
        CellKind::Quad4 => Vec3::new(CORNERS[a][0], CORNERS[a][1], 0.0),
        CellKind::Hex8 => Vec3::from(CORNERS[a]),
        CellKind::Tri3 | CellKind::Tet4 => {
            let mut xi = Vec3::zeros();
            if a > 0 {
                xi[a - 1] = 1.0;
            }
            xi
        }
    }
}

/// Shape functions `N_a` at `xi`; the first `kind.nodes()` are in use, the others are zero.
pub fn values(kind: CellKind, xi: Vec3) -> [f64; 8] {
    let mut n = [0.0; 8];
    match kind {
        CellKind::Bar2 => {
            n[0] = 0.5 * (1.0 - xi.x);
            n[1] = 0.5 * (1.0 + xi.x);
        }
        CellKind::Tri3 => n[..3].copy_from_slice(&[1.0 - xi.x - xi.y, xi.x, xi.y]),
        CellKind::Tet4 => n[..4].copy_from_slice(&[1.0 - xi.x - xi.y - xi.z, xi.x, xi.y, xi.z]),
        CellKind::Quad4 => {
            for (n, c) in n.iter_mut().zip(&CORNERS[..4]) {
                *n = 0.25 * (1.0 + c[0] * xi.x) * (1.0 + c[1] * xi.y);
            }
        }
        CellKind::Hex8 => {
            for (n, c) in n.iter_mut().zip(&CORNERS) {
                *n = 0.125 * (1.0 + c[0] * xi.x) * (1.0 + c[1] * xi.y) * (1.0 + c[2] * xi.z);
            }
        }
    }
    n
}

/// Gradients `∂N_a/∂ξ` at `xi`, unused entries zero.
pub fn gradients(kind: CellKind, xi: Vec3) -> [Vec3; 8] {
    let mut g = [Vec3::zeros(); 8];
    match kind {
        CellKind::Bar2 => {
            g[0].x = -0.5;
            g[1].x = 0.5;
        }
        CellKind::Tri3 | CellKind::Tet4 => {
            for i in 0..kind.dimension() {
                g[0][i] = -1.0;
                g[i + 1][i] = 1.0;
            }
        }
        CellKind::Quad4 => {
            for (g, c) in g.iter_mut().zip(&CORNERS[..4]) {
                let (a, b) = (1.0 + c[0] * xi.x, 1.0 + c[1] * xi.y);
                *g = Vec3::new(0.25 * c[0] * b, 0.25 * c[1] * a, 0.0);
            }
        }
        CellKind::Hex8 => {
            for (g, k) in g.iter_mut().zip(&CORNERS) {
                let (a, b, c) = (1.0 + k[0] * xi.x, 1.0 + k[1] * xi.y, 1.0 + k[2] * xi.z);
                *g = 0.125 * Vec3::new(k[0] * b * c, k[1] * a * c, k[2] * a * b);
            }
        }
    }
    g
}

/// The point of the cell with corners `x` at reference coordinates `xi`.
pub fn position(kind: CellKind, x: &[Vec3], xi: Vec3) -> Vec3 {
    values(kind, xi).iter().zip(x).map(|(&n, x)| n * x).sum()
}

/// `J = ∂x/∂ξ` at `xi`, completed to 3×3 for bars and plane cells (see the module header).
pub fn jacobian(kind: CellKind, x: &[Vec3], xi: Vec3) -> Mat3 {
    let mut j: Mat3 = gradients(kind, xi).iter().zip(x).map(|(g, x)| x * g.transpose()).sum();
    for missing in kind.dimension()..3 {
        j.fill_row(missing, 0.0);
        j.fill_column(missing, 0.0);
        j[(missing, missing)] = 1.0;
    }
    j
}

/// Length [m], area [m²] or volume [m³] of the cell with corners `x`, negative when it is turned inside out.
///
/// Exact for every kind: det J of the trilinear hex is at most cubic per direction, which the 2×2×2 Gauss
/// points integrate without error.
pub fn measure(kind: CellKind, x: &[Vec3]) -> f64 {
    let det = |xi| jacobian(kind, x, xi).determinant();
    match kind {
        CellKind::Bar2 => 2.0 * det(Vec3::zeros()),
        CellKind::Tri3 => det(Vec3::zeros()) / 2.0,
        CellKind::Tet4 => det(Vec3::zeros()) / 6.0,
        CellKind::Quad4 => 4.0 * det(Vec3::zeros()),
        CellKind::Hex8 => CORNERS.iter().map(|&c| det(Vec3::from(c) / f64::sqrt(3.0))).sum(),
    }
}
