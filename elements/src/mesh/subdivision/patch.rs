//! Loop's surface on one triangle: how a point of it hangs on the control points around, whatever their number.
//!
//! Around a triangle stand the rings of its three corners; how many points these have (the valences) decides everything.
//! Points are numbered by walking around the corners, see [`Labels`]. Where all valences are six the surface is the one of
//! [`box_spline`]. Otherwise the triangle is split into four by Loop's rules,
//!
//! ```text
//! edge      3/8 (a + b) + 1/8 (c + d)                 c, d across the edge a–b
//! vertex    (1 − nβ) v + β Σ ring        β = 1/n (5/8 − (3/8 + 1/4 cos 2π/n)²)
//! ```
//!
//! and the point is looked up in the child that holds it, until that one is regular: after k steps for all points outside
//! of the 2⁻ᵏ-th part next to an irregular corner. Derivatives are those in the parent's coordinates.

use super::box_spline::{self, ROWS};
use std::collections::BTreeMap;

/// Splits before a point counts as an irregular corner itself, where the surface has no second derivatives.
const MOST_SPLITS: usize = 50;

/// Loop's weight of each neighbour of a vertex of valence `n` in one refinement.
pub fn beta(n: usize) -> f64 {
    let n = n as f64;
    let c = 0.375 + 0.25 * (std::f64::consts::TAU / n).cos();
    (0.625 - c * c) / n
}

/// The weight of each neighbour in the point on the surface that belongs to a vertex of valence `n`.
pub fn limit_weight(n: usize) -> f64 {
    1.0 / (0.375 / beta(n) + n as f64)
}

/// Numbers of the control points around a triangle with corners 0, 1, 2.
///
/// `rings[i]` runs counter-clockwise around corner i and begins with the corners i + 1 and i + 2. Neighbouring rings share
/// the point across their common edge: the last of ring i is the third of ring i + 1.
#[derive(Clone, Debug)]
pub struct Labels {
    pub rings: [Vec<usize>; 3],
    pub count: usize,
}

impl Labels {
    pub fn new(valences: [usize; 3]) -> Labels {
        // provisional numbers, then those of the same point are made one
        let mut next = 3;
        let mut rings = [0, 1, 2].map(|i| {
            let mut ring = vec![(i + 1) % 3, (i + 2) % 3];
            ring.extend(next..next + valences[i] - 2);
            next += valences[i] - 2;
            ring
        });
        let mut same: Vec<usize> = (0..next).collect();
        let root = |same: &[usize], mut k: usize| {
            while same[k] != k {
                k = same[k];
            }
            k
        };
        for i in 0..3 {
            let a = root(&same, rings[i][valences[i] - 1]);
            let b = root(&same, rings[(i + 1) % 3][2]);
            same[a.max(b)] = a.min(b);
        }
        let mut number = vec![usize::MAX; next];
        let mut count = 0;
        for k in 0..next {
            let r = root(&same, k);
            if number[r] == usize::MAX {
                number[r] = count;
                count += 1;
            }
            number[k] = number[r];
        }
        rings.iter_mut().flatten().for_each(|k| *k = number[*k]);
        Labels { rings, count }
    }
}

/// Rows over the labels: value, ∂v, ∂w, ∂vv, ∂ww, ∂vw.
pub type Rows = [Vec<f64>; ROWS];

/// Rows of the surface at (v, w) of a triangle whose corners have these valences.
pub fn rows(valences: [usize; 3], v: f64, w: f64) -> Rows {
    at(valences, v, w, MOST_SPLITS)
}

fn at(valences: [usize; 3], v: f64, w: f64, splits: usize) -> Rows {
    if valences == [6; 3] {
        regular(v, w)
    } else if splits == 0 {
        corner(valences)
    } else {
        split(valences, v, w, splits)
    }
}

/// The box splines, by the labels of a regular triangle.
fn regular(v: f64, w: f64) -> Rows {
    /// Rings around control points 4, 7, 8.
    const RINGS: [[usize; 6]; 3] = [[7, 8, 5, 2, 1, 3], [8, 4, 3, 6, 10, 11], [4, 7, 11, 12, 9, 5]];
    let labels = Labels::new([6; 3]);
    let splines = box_spline::rows(v, w);
    let mut out: Rows = std::array::from_fn(|_| vec![0.0; labels.count]);
    for (ring, numbers) in labels.rings.iter().zip(RINGS) {
        for (&label, number) in ring.iter().zip(numbers) {
            for (row, spline) in out.iter_mut().zip(&splines) {
                row[label] = spline[number - 1];
            }
        }
    }
    out
}

/// The irregular corner itself: its limit point, and no slopes.
fn corner(valences: [usize; 3]) -> Rows {
    let labels = Labels::new(valences);
    let mut out: Rows = std::array::from_fn(|_| vec![0.0; labels.count]);
    let i = (0..3).find(|&i| valences[i] != 6).unwrap_or(0);
    let chi = limit_weight(valences[i]);
    out[0][i] = 1.0 - valences[i] as f64 * chi;
    labels.rings[i].iter().for_each(|&k| out[0][k] += chi);
    out
}

/// A point of the refined mesh: a vertex that was there, or the middle of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Point {
    Vertex(usize),
    /// The edge between two labels, ascending.
    Edge(usize, usize),
}

fn edge(a: usize, b: usize) -> Point {
    Point::Edge(a.min(b), a.max(b))
}

/// The refined points around a triangle and how they hang on its labels.
fn refined(labels: &Labels) -> BTreeMap<Point, Vec<f64>> {
    let mut points = BTreeMap::new();
    for (i, ring) in labels.rings.iter().enumerate() {
        let n = ring.len();
        let mut row = vec![0.0; labels.count];
        row[i] += 1.0 - n as f64 * beta(n);
        ring.iter().for_each(|&k| row[k] += beta(n));
        points.insert(Point::Vertex(i), row);
        for (j, &other) in ring.iter().enumerate() {
            let mut row = vec![0.0; labels.count];
            row[i] += 0.375;
            row[other] += 0.375;
            row[ring[(j + n - 1) % n]] += 0.125;
            row[ring[(j + 1) % n]] += 0.125;
            points.insert(edge(i, other), row);
        }
    }
    points
}

/// The ring around the middle of the edge from corner i to the next, counter-clockwise.
fn edge_ring(labels: &Labels, i: usize) -> Vec<Point> {
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let across = labels.rings[j][2];
    vec![edge(j, k), edge(k, i), Point::Vertex(i), edge(i, across), edge(across, j), Point::Vertex(j)]
}

/// Looks the point up in that of the four children that holds it.
fn split(valences: [usize; 3], v: f64, w: f64, splits: usize) -> Rows {
    let labels = Labels::new(valences);
    let points = refined(&labels);
    let middle = |i: usize| edge(i, (i + 1) % 3);
    // corner that the child keeps, its own coordinates, and their slope
    let (kept, at_child, slope) = if v + w <= 0.5 {
        (Some(0), [2.0 * v, 2.0 * w], 2.0)
    } else if v >= 0.5 {
        (Some(1), [2.0 * v - 1.0, 2.0 * w], 2.0)
    } else if w >= 0.5 {
        (Some(2), [2.0 * v, 2.0 * w - 1.0], 2.0)
    } else {
        (None, [1.0 - 2.0 * v, 1.0 - 2.0 * w], -2.0)
    };
    let mut child_valences = [6; 3];
    let corners: [Point; 3] = match kept {
        // the middles of the edges across from the corners
        None => [middle(1), middle(2), middle(0)],
        Some(c) => {
            child_valences[c] = valences[c];
            std::array::from_fn(|i| if i == c { Point::Vertex(c) } else { edge(c, i) })
        }
    };
    let child = Labels::new(child_valences);
    let mut point_of = vec![Point::Vertex(usize::MAX); child.count];
    for i in 0..3 {
        let ring: Vec<Point> = match corners[i] {
            Point::Vertex(c) => labels.rings[c].iter().map(|&k| edge(c, k)).collect(),
            at => {
                let from = (0..3).find(|&e| middle(e) == at).unwrap_or(0);
                edge_ring(&labels, from)
            }
        };
        let start = ring.iter().position(|p| *p == corners[(i + 1) % 3]).unwrap_or(0);
        point_of[i] = corners[i];
        for (j, &label) in child.rings[i].iter().enumerate() {
            point_of[label] = ring[(start + j) % ring.len()];
        }
    }
    let inner = at(child_valences, at_child[0], at_child[1], splits - 1);
    let factors = [1.0, slope, slope, slope * slope, slope * slope, slope * slope];
    std::array::from_fn(|d| {
        let mut row = vec![0.0; labels.count];
        for (weight, point) in inner[d].iter().zip(&point_of) {
            for (to, share) in row.iter_mut().zip(&points[point]) {
                *to += factors[d] * weight * share;
            }
        }
        row
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [[f64; 2]; 6] = [
        [1. / 3., 1. / 3.],
        [1. / 6., 1. / 6.],
        [2. / 3., 1. / 6.],
        [1. / 6., 2. / 3.],
        [0.02, 0.03],
        [0.45, 0.51],
    ];

    #[test]
    fn labels_count_what_stands_around_a_triangle() {
        assert_eq!(Labels::new([6, 6, 6]).count, 12);
        assert_eq!(Labels::new([4, 6, 6]).count, 10);
        assert_eq!(Labels::new([3, 6, 7]).count, 10);
        assert_eq!(Labels::new([3, 3, 3]).count, 4);
    }

    /// Splitting a regular triangle gives the surface that was there.
    #[test]
    fn refinement_keeps_the_regular_surface() {
        for [v, w] in POINTS {
            let (direct, split) = (regular(v, w), split([6; 3], v, w, 1));
            for d in 0..ROWS {
                for (a, b) in direct[d].iter().zip(&split[d]) {
                    assert!((a - b).abs() < 1e-13, "row {d} at {v} {w}: {a} {b}");
                }
            }
        }
    }

    /// Of any valence: weights add up to one and derivatives are slopes, across the borders of children too.
    #[test]
    fn irregular_rows_belong_together() {
        for valences in [[5, 6, 6], [6, 4, 6], [3, 6, 6], [7, 5, 6], [4, 4, 4], [12, 3, 9], [3, 3, 3]] {
            for [v, w] in POINTS {
                let r = rows(valences, v, w);
                assert!((r[0].iter().sum::<f64>() - 1.0).abs() < 1e-13);
                assert!((1..6).all(|d| r[d].iter().sum::<f64>().abs() < 1e-10), "{valences:?} {v} {w}");
                let step = 1e-6;
                let slope = |d: usize, dv: f64, dw: f64, k: usize| {
                    (rows(valences, v + dv, w + dw)[d][k] - rows(valences, v - dv, w - dw)[d][k])
                        / (2.0 * step)
                };
                for k in 0..r[0].len() {
                    assert!((slope(0, step, 0.0, k) - r[1][k]).abs() < 1e-7, "{valences:?} {v} {w} {k}");
                    assert!((slope(0, 0.0, step, k) - r[2][k]).abs() < 1e-7);
                    assert!((slope(1, step, 0.0, k) - r[3][k]).abs() < 1e-5);
                    assert!((slope(2, 0.0, step, k) - r[4][k]).abs() < 1e-5);
                    assert!((slope(1, 0.0, step, k) - r[5][k]).abs() < 1e-5);
                }
            }
        }
    }

    /// Towards a corner the rows become those of its limit point: 1 − nχ and χ.
    #[test]
    fn corners_tend_to_their_limit_points() {
        for n in [3, 4, 5, 6, 7, 11] {
            let r = rows([n, 6, 6], 1e-9, 1e-9);
            let labels = Labels::new([n, 6, 6]);
            let chi = limit_weight(n);
            let mut mask = vec![0.0; labels.count];
            mask[0] = 1.0 - n as f64 * chi;
            labels.rings[0].iter().for_each(|&k| mask[k] += chi);
            for (a, b) in r[0].iter().zip(&mask) {
                assert!((a - b).abs() < 1e-7, "valence {n}: {a} {b}");
            }
        }
        assert!((limit_weight(6) - 1.0 / 12.0).abs() < 1e-15 && (beta(4) - 31.0 / 256.0).abs() < 1e-15);
        assert!((beta(3) - 3.0 / 16.0).abs() < 1e-15);
    }
}
