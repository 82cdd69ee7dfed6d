//! Shape functions of cells, the map from reference to real coordinates, and its inverse.
//!
//! ```text
//! x(ξ) = Σ N_a(ξ) x_a        J = ∂x/∂ξ = Σ x_a ⊗ ∂N_a/∂ξ
//! ```
//!
//! Reference coordinates follow the table in [`super`]: bars, quads and hexes live on [−1, 1]ᵈ,
//! triangles and tets on the unit simplex, there with N_c = λ_c (2λ_c − 1) and N_cb = 4λ_c λ_b where they are quadratic. Coordinates a cell does not have are ignored and come back
//! as zero. A plane cell is seen in x–y alone and a bar along x alone, as everywhere: J is completed by the
//! unit vectors of the missing directions, so that det J is the length, area or volume ratio.
//!
//! One cell at a time, for geometry and contact; element kernels have their own batched forms.

use super::{CellKind, MOST_NODES};
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

/// Corners of the edges in whose middles a tet10 has nodes.
pub(super) const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];

/// Reference coordinates of node `a`.
pub fn corner(kind: CellKind, a: usize) -> Vec3 {
    match kind {
        CellKind::Bar2 => Vec3::new(CORNERS[a][0], 0.0, 0.0),
        CellKind::Quad4 => Vec3::new(CORNERS[a][0], CORNERS[a][1], 0.0),
        CellKind::Hex8 => Vec3::from(CORNERS[a]),
        CellKind::Tri3 | CellKind::Tet4 | CellKind::Shell3 => {
            let mut xi = Vec3::zeros();
            if a > 0 {
                xi[a - 1] = 1.0;
            }
            xi
        }
        CellKind::Tet10 if a < 4 => corner(CellKind::Tet4, a),
        CellKind::Tet10 => {
            let [b, c] = EDGES[a - 4];
            0.5 * (corner(CellKind::Tet4, b) + corner(CellKind::Tet4, c))
        }
    }
}

/// λ₀ … λ₃.
fn barycentric(xi: Vec3) -> [f64; 4] {
    [1.0 - xi.x - xi.y - xi.z, xi.x, xi.y, xi.z]
}

/// Shape functions `N_a` at `xi`; the first `kind.nodes()` are in use, the others are zero.
pub fn values(kind: CellKind, xi: Vec3) -> [f64; MOST_NODES] {
    let mut n = [0.0; MOST_NODES];
    match kind {
        CellKind::Bar2 => {
            n[0] = 0.5 * (1.0 - xi.x);
            n[1] = 0.5 * (1.0 + xi.x);
        }
        CellKind::Tri3 | CellKind::Shell3 => n[..3].copy_from_slice(&[1.0 - xi.x - xi.y, xi.x, xi.y]),
        CellKind::Tet4 => n[..4].copy_from_slice(&barycentric(xi)),
        CellKind::Tet10 => {
            let l = barycentric(xi);
            for (n, l) in n.iter_mut().zip(l) {
                *n = l * (2.0 * l - 1.0);
            }
            for (n, [b, c]) in n[4..].iter_mut().zip(EDGES) {
                *n = 4.0 * l[b] * l[c];
            }
        }
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
pub fn gradients(kind: CellKind, xi: Vec3) -> [Vec3; MOST_NODES] {
    let mut g = [Vec3::zeros(); MOST_NODES];
    match kind {
        CellKind::Bar2 => {
            g[0].x = -0.5;
            g[1].x = 0.5;
        }
        CellKind::Tri3 | CellKind::Tet4 | CellKind::Shell3 => {
            for i in 0..kind.nodes() - 1 {
                g[0][i] = -1.0;
                g[i + 1][i] = 1.0;
            }
        }
        CellKind::Tet10 => {
            let (l, slope) = (barycentric(xi), gradients(CellKind::Tet4, xi));
            for k in 0..4 {
                g[k] = (4.0 * l[k] - 1.0) * slope[k];
            }
            for (g, [b, c]) in g[4..].iter_mut().zip(EDGES) {
                *g = 4.0 * (l[b] * slope[c] + l[c] * slope[b]);
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
    if kind == CellKind::Shell3 {
        j.set_column(2, &unit_normal(x));
    }
    for missing in kind.dimension()..3 {
        j.fill_row(missing, 0.0);
        j.fill_column(missing, 0.0);
        j[(missing, missing)] = 1.0;
    }
    j
}

/// Of a triangle; zero where it has no area.
fn unit_normal(x: &[Vec3]) -> Vec3 {
    let normal = (x[1] - x[0]).cross(&(x[2] - x[0]));
    normal / normal.norm().max(f64::MIN_POSITIVE)
}

/// J at node `a`, from the edges that meet there: what [`jacobian`] gives at [`corner`], much cheaper.
pub fn corner_jacobian(kind: CellKind, x: &[Vec3], a: usize) -> Mat3 {
    if matches!(kind, CellKind::Bar2 | CellKind::Tri3 | CellKind::Tet4 | CellKind::Shell3) {
        return jacobian(kind, x, Vec3::zeros());
    }
    if kind == CellKind::Tet10 {
        return jacobian(kind, x, corner(kind, a));
    }
    let mut j = Mat3::identity();
    for axis in 0..kind.dimension() {
        // The neighbour along an axis in the numbering of the corners: 0–1 2–3, 0–3 1–2, 0–4 …
        let neighbour = a ^ [1, 3, 4][axis];
        j.set_column(axis, &((x[a] - x[neighbour]) * (0.5 * CORNERS[a][axis])));
    }
    if kind.dimension() == 2 {
        j.fill_row(2, 0.0);
        j[(2, 2)] = 1.0;
    }
    j
}

/// Length [m], area [m²] or volume [m³] of the cell with corners `x`, negative when it is turned inside out.
///
/// Exact for every kind: det J of the trilinear hex is at most cubic per direction, which the 2×2×2 Gauss
/// points integrate without error; that of the quadratic tet is a cubic, for which a rule of degree three is taken (Keast 1986).
pub fn measure(kind: CellKind, x: &[Vec3]) -> f64 {
    let det = |xi| jacobian(kind, x, xi).determinant();
    match kind {
        CellKind::Bar2 => 2.0 * det(Vec3::zeros()),
        CellKind::Tri3 | CellKind::Shell3 => det(Vec3::zeros()) / 2.0,
        CellKind::Tet4 => det(Vec3::zeros()) / 6.0,
        CellKind::Tet10 => {
            let at = |a: usize| Vec3::from_fn(|i, _| if a == i { 0.5 } else { 1.0 / 6.0 });
            let around: f64 = (0..4).map(|a| det(at(a))).sum();
            0.075 * around - 2.0 / 15.0 * det(Vec3::repeat(0.25))
        }
        CellKind::Quad4 => 4.0 * det(Vec3::zeros()),
        CellKind::Hex8 => CORNERS.iter().map(|&c| det(Vec3::from(c) / f64::sqrt(3.0))).sum(),
    }
}

/// Newton steps before the inverse map gives up; three to six are usual.
const NEWTON_STEPS: usize = 40;
/// A Newton step this small squares to less than round-off.
const LAST_STEP: f64 = 1e-9;

/// The reference coordinates of point `p` in the cell with corners `x`, inside the cell or not.
///
/// ```text
/// simplex, bar    ξ = J⁻¹ (p − x(0))
/// other cells     ξ ← ξ + s J⁻¹ (p − x(ξ)), from the centre; s is halved until |p − x(ξ)| falls
/// ```
///
/// Unique for a point inside a cell with positive det J. None when J is singular or Newton does not arrive:
/// far outside a distorted cell the map may fold over.
pub fn inverse(kind: CellKind, x: &[Vec3], p: Vec3) -> Option<Vec3> {
    if kind == CellKind::Tet10 {
        return newton(
            Vec3::repeat(0.25),
            |xi| p - position(kind, x, xi),
            |xi| {
                let j = jacobian(kind, x, xi);
                [0, 1, 2].map(|k| j.column(k).into())
            },
        );
    }
    let map = Polynomial::of(kind, x);
    // The part of p − x(ξ) in the space of the cell.
    let miss = |xi| {
        let mut miss = p - map.position(xi);
        for k in kind.dimension()..3 {
            miss[k] = 0.0;
        }
        miss
    };
    if matches!(kind, CellKind::Bar2 | CellKind::Tri3 | CellKind::Tet4 | CellKind::Shell3) {
        return solve(map.columns(Vec3::zeros()), &miss(Vec3::zeros()));
    }
    newton(Vec3::zeros(), miss, |xi| map.columns(xi))
}

/// The zero of `miss` from `xi` on, given the columns of J.
#[inline]
fn newton(mut xi: Vec3, miss: impl Fn(Vec3) -> Vec3, columns: impl Fn(Vec3) -> [Vec3; 3]) -> Option<Vec3> {
    let mut here = miss(xi);
    for _ in 0..NEWTON_STEPS {
        let mut step = solve(columns(xi), &here)?;
        let last = step.amax() <= LAST_STEP * (1.0 + xi.amax());
        let mut there = miss(xi + step);
        while !last && there.norm_squared() >= here.norm_squared() {
            step *= 0.5;
            if step.amax() <= LAST_STEP {
                return None;
            }
            there = miss(xi + step);
        }
        xi += step;
        if last {
            return Some(xi);
        }
        here = there;
    }
    None
}

/// The map of a cell in powers of ξ, η, ζ: far cheaper than shape functions where it is asked for again and again.
///
/// ```text
/// x(ξ) = c₀ + c₁ξ + c₂η + c₃ζ + c₄ξη + c₅ηζ + c₆ζξ + c₇ξηζ
/// ```
struct Polynomial {
    dimension: usize,
    c: [Vec3; 8],
}

impl Polynomial {
    fn of(kind: CellKind, x: &[Vec3]) -> Polynomial {
        let mut c = [Vec3::zeros(); 8];
        match kind {
            CellKind::Tri3 | CellKind::Tet4 | CellKind::Shell3 => {
                c[0] = x[0];
                (1..kind.nodes()).for_each(|k| c[k] = x[k] - x[0]);
                if kind == CellKind::Shell3 {
                    c[3] = unit_normal(x);
                }
            }
            _ => {
                for (x, k) in x.iter().zip(&CORNERS) {
                    let k = match kind {
                        CellKind::Bar2 => [k[0], 0.0, 0.0],
                        CellKind::Quad4 => [k[0], k[1], 0.0],
                        _ => *k,
                    };
                    let powers =
                        [1.0, k[0], k[1], k[2], k[0] * k[1], k[1] * k[2], k[2] * k[0], k[0] * k[1] * k[2]];
                    c.iter_mut().zip(powers).for_each(|(c, power)| *c += power * x);
                }
                c.iter_mut().for_each(|c| *c /= kind.nodes() as f64);
            }
        }
        Polynomial { dimension: kind.dimension(), c }
    }

    #[inline]
    fn position(&self, xi: Vec3) -> Vec3 {
        let (c, [x, y, z]) = (&self.c, [xi.x, xi.y, xi.z]);
        c[0] + x * (c[1] + y * (c[4] + z * c[7])) + y * (c[2] + z * c[5]) + z * (c[3] + x * c[6])
    }

    /// Columns of J, completed as in [`jacobian`].
    #[inline]
    fn columns(&self, xi: Vec3) -> [Vec3; 3] {
        let (c, [x, y, z]) = (&self.c, [xi.x, xi.y, xi.z]);
        let mut j = [
            c[1] + y * c[4] + z * (c[6] + y * c[7]),
            c[2] + x * c[4] + z * (c[5] + x * c[7]),
            c[3] + y * c[5] + x * (c[6] + y * c[7]),
        ];
        for missing in self.dimension..3 {
            j.iter_mut().for_each(|column| column[missing] = 0.0);
            j[missing] = Vec3::zeros();
            j[missing][missing] = 1.0;
        }
        j
    }
}

/// J⁻¹b by Cramer's rule; none if J is singular.
#[inline]
fn solve(j: [Vec3; 3], b: &Vec3) -> Option<Vec3> {
    let across = j[1].cross(&j[2]);
    let determinant = across.dot(&j[0]);
    let x = Vec3::new(across.dot(b), j[2].cross(&j[0]).dot(b), j[0].cross(&j[1]).dot(b)) / determinant;
    x.iter().all(|c| c.is_finite()).then_some(x)
}

/// Whether reference coordinates lie in the cell, or outside by no more than `slack`.
pub fn contains(kind: CellKind, xi: Vec3, slack: f64) -> bool {
    let used = &xi.as_slice()[..kind.dimension()];
    match kind {
        // on the triangle, not above or below it
        CellKind::Shell3 => contains(CellKind::Tri3, xi, slack) && xi.z.abs() <= slack,
        CellKind::Tri3 | CellKind::Tet4 | CellKind::Tet10 => {
            used.iter().all(|&c| c >= -slack) && used.iter().sum::<f64>() <= 1.0 + slack
        }
        _ => used.iter().all(|c| c.abs() <= 1.0 + slack),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::dice::Dice;
    use crate::mesh::check::inverted_corner;

    const KINDS: [CellKind; 6] =
        [CellKind::Bar2, CellKind::Tri3, CellKind::Quad4, CellKind::Tet4, CellKind::Tet10, CellKind::Hex8];

    /// Random cases of each kind.
    const CASES: usize = 1000;

    /// A cell with every corner moved by up to `0.4` of the reference cell's half edge, then stretched and shifted.
    fn distorted(kind: CellKind, noise: &[f64], stretch: f64) -> [Vec3; MOST_NODES] {
        let mut x = [Vec3::zeros(); MOST_NODES];
        // edges may be curved, and the map must not fold over
        let size = if kind == CellKind::Tet10 { 0.03 } else { 0.4 };
        for a in 0..kind.nodes() {
            for i in 0..kind.dimension() {
                x[a][i] = corner(kind, a)[i] + size * noise[3 * a + i];
            }
            x[a] = Vec3::new(stretch * x[a].x + 0.3 * x[a].y, x[a].y / stretch, x[a].z);
            x[a] += Vec3::new(3.0, -2.0, 1.0);
        }
        x
    }

    /// A point of the reference cell from numbers in [0, 1].
    fn inside(kind: CellKind, t: &[f64]) -> Vec3 {
        let mut xi = Vec3::zeros();
        let mut left = 1.0;
        for i in 0..kind.dimension() {
            xi[i] = match kind {
                CellKind::Tri3 | CellKind::Tet4 | CellKind::Tet10 => left * t[i],
                _ => 2.0 * t[i] - 1.0,
            };
            left -= xi[i];
        }
        xi
    }

    /// Random numbers between two others.
    fn some<const N: usize>(dice: &mut Dice, lo: f64, hi: f64) -> [f64; N] {
        std::array::from_fn(|_| dice.between(lo, hi))
    }

    #[test]
    fn shape_functions_sum_to_one_and_carry_linear_fields() {
        let mut dice = Dice(1);
        for kind in KINDS.into_iter().cycle().take(6 * CASES) {
            let xi = inside(kind, &some::<3>(&mut dice, 0.0, 1.0));
            let x: Vec<Vec3> = (0..kind.nodes()).map(|a| corner(kind, a)).collect();
            assert!((values(kind, xi).iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!((position(kind, &x, xi) - xi).norm() < 1e-15);
            assert!((jacobian(kind, &x, xi) - Mat3::identity()).norm() < 1e-15);
            assert!(gradients(kind, xi).iter().sum::<Vec3>().norm() < 1e-15);
        }
    }

    /// Along each coordinate the functions are linear or quadratic, so central differences have no truncation error.
    #[test]
    fn gradients_are_the_slopes_of_the_shape_functions() {
        let mut dice = Dice(2);
        for kind in KINDS.into_iter().cycle().take(6 * CASES) {
            let xi = inside(kind, &some::<3>(&mut dice, 0.0, 1.0));
            let g = gradients(kind, xi);
            for i in 0..kind.dimension() {
                let h = 0.5 * Vec3::ith(i, 1.0);
                let (up, down) = (values(kind, xi + h), values(kind, xi - h));
                for (g, (up, down)) in g.iter().zip(up.iter().zip(&down)) {
                    assert!((up - down - g[i]).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn a_point_of_a_distorted_cell_finds_its_reference_coordinates_again() {
        let mut dice = Dice(3);
        for kind in KINDS.into_iter().cycle().take(6 * CASES) {
            let x = distorted(kind, &some::<30>(&mut dice, -1.0, 1.0), dice.between(0.3, 3.0));
            if inverted_corner(kind, &x).is_some() {
                continue;
            }
            let xi = inside(kind, &some::<3>(&mut dice, 0.0, 1.0));
            let j = jacobian(kind, &x, xi);
            // Round-off in x grows by the slope of the inverse map.
            let slope = j.try_inverse().map_or(f64::INFINITY, |j| j.norm());
            let found = inverse(kind, &x, position(kind, &x, xi));
            assert!(found.is_some(), "{kind:?} {x:?} {xi}");
            let error = (found.unwrap_or_default() - xi).norm();
            assert!(error < 1e-14 * slope.max(100.0), "{kind:?}: {error:e}, slope {slope}");
        }
    }

    #[test]
    fn edges_give_the_jacobian_at_the_corners() {
        let noise: Vec<f64> = (0..30).map(|i| f64::from(i * i % 17) / 17.0 - 0.5).collect();
        for kind in KINDS {
            let x = distorted(kind, &noise, 1.3);
            for a in 0..kind.nodes() {
                let difference = corner_jacobian(kind, &x, a) - jacobian(kind, &x, corner(kind, a));
                assert!(difference.norm() < 1e-14, "{kind:?} {a} {difference}");
            }
        }
    }

    /// Pyramid rule, prism rule and shoelace, by hand: a unit cube with its top face shrunk to half its edges
    /// is a frustum of volume h (A + √(A B) + B)/3 = (1 + ½ + ¼)/3.
    #[test]
    fn measures_are_lengths_areas_and_volumes() {
        let mut frustum: Vec<Vec3> = (0..8).map(|a| 0.5 * corner(CellKind::Hex8, a)).collect();
        for p in &mut frustum[4..] {
            *p = Vec3::new(p.x / 2.0, p.y / 2.0, p.z);
        }
        assert!((measure(CellKind::Hex8, &frustum) - 1.75 / 3.0).abs() < 1e-15);
        let at = |p: &[[f64; 3]]| p.iter().map(|&p| Vec3::from(p)).collect::<Vec<_>>();
        assert_eq!(measure(CellKind::Bar2, &at(&[[1.0, 0.0, 0.0], [3.5, 0.0, 0.0]])), 2.5);
        let trapezoid = at(&[[0.0, 0.0, 7.0], [4.0, 0.0, 7.0], [3.0, 2.0, 7.0], [1.0, 2.0, 7.0]]);
        assert_eq!(measure(CellKind::Quad4, &trapezoid), 6.0);
        assert_eq!(measure(CellKind::Tri3, &trapezoid[..3]), 4.0);
        let tet = at(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]);
        assert!((measure(CellKind::Tet4, &tet) - 1.0).abs() < 1e-15);
        assert!((measure(CellKind::Tet4, &[tet[1], tet[0], tet[2], tet[3]]) + 1.0).abs() < 1e-15);
        // A quadratic map x = ξ + ½ξ², y = η, z = ζ: det J = 1 + ξ, whose integral is 1/6 + 1/24.
        let curved = std::array::from_fn::<_, MOST_NODES, _>(|a| {
            let xi = corner(CellKind::Tet10, a);
            Vec3::new(xi.x + 0.5 * xi.x * xi.x, xi.y, xi.z)
        });
        assert!((measure(CellKind::Tet10, &curved) - 5.0 / 24.0).abs() < 1e-15);
    }

    #[test]
    fn a_flat_cell_has_no_inverse_map() {
        for kind in KINDS {
            assert_eq!(inverse(kind, &[Vec3::new(1.0, 1.0, 1.0); MOST_NODES], Vec3::zeros()), None);
        }
    }

    #[test]
    fn a_point_just_outside_lies_outside_by_its_distance() {
        for kind in KINDS {
            let x: Vec<Vec3> = (0..kind.nodes()).map(|a| corner(kind, a)).collect();
            let xi = inverse(kind, &x, Vec3::new(1.1, 0.0, 0.0)).unwrap();
            assert!(!contains(kind, xi, 0.09) && contains(kind, xi, 0.11));
        }
    }
}
