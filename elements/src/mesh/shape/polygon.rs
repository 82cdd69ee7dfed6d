//! A polygon in the x–y plane.

use super::limits;
use crate::math::Vec3;
use crate::mesh::convex::Convex;
use crate::mesh::cut::{Cut, orient};
use crate::mesh::{CellKind, Mesh, MeshError};
use carom_declare::section;

section! {
    /// A polygon in the x-y plane, of triangles: around its centroid where all corners are seen from there. Sets: side-1, side-2, …, from a corner to
    /// the next.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Polygon: "polygon" {
        /// Its corners in turn [m].
        points: Vec<[f64; 2]> => "[[0, 0], [1, 0], [0.5, 1]]";
        /// How often every triangle is cut into four.
        refine: u32;
    }
}

/// More would not fit any memory.
pub(super) const MOST_REFINEMENTS: u32 = 12;
/// A corner where the sides turn by less than this (sine of the angle) is none.
const STRAIGHT: f64 = 1e-12;

impl Polygon {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let points = self.corners()?;
        let count = points.len() as u32;
        let mut names: Vec<String> = (1..=count).map(|k| format!("side-{k}")).collect();
        if self.area() < 0.0 {
            names.reverse();
        }
        limits::refinements("polygon", self.refine, MOST_REFINEMENTS)?;
        limits::ids("polygon", f64::from(count), f64::from(count) * 4f64.powi(self.refine as i32))?;
        if let Some(mesh) = Convex::polygon(points.clone()).mesh(&names, self.refine) {
            return Ok(mesh);
        }
        let mut cells = ears(&points).ok_or_else(crossed)?;
        make_delaunay(&points, &mut cells);
        let sides = (0..count).map(|k| (orient(&[k, (k + 1) % count]), k)).collect();
        let mut cut = Cut { nodes: points, kind: CellKind::Tri3, cells: cells.concat(), sides };
        (0..self.refine).for_each(|_| cut.refine());
        if cut.positive() { Ok(cut.mesh(&names)) } else { Err(crossed()) }
    }

    /// The polygon as a convex one, or why it is none.
    pub fn convex(&self) -> Result<Convex, MeshError> {
        let points = self.corners()?;
        let count = points.len();
        let bent = |k: usize| turn(&points[k], &points[(k + 1) % count], &points[(k + 2) % count]) <= 0.0;
        if (0..count).any(bent) {
            return limits::refuse("polygon", "points", "a polygon with a re-entrant corner", "convex");
        }
        Ok(Convex::polygon(points))
    }

    /// Twice the area [m²], positive if its corners turn to the left.
    fn area(&self) -> f64 {
        let next = self.points.iter().cycle().skip(1);
        self.points.iter().zip(next).map(|(p, q)| p[0] * q[1] - p[1] * q[0]).sum()
    }

    /// Corners, counter-clockwise.
    fn corners(&self) -> Result<Vec<Vec3>, MeshError> {
        let mut points: Vec<Vec3> = self.points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let count = points.len();
        if count < 3 {
            return limits::refuse("polygon", "points", format!("{count} points"), "three or more");
        }
        if self.area() < 0.0 {
            points[1..].reverse();
        }
        for k in 0..count {
            let (a, b) =
                (points[(k + 1) % count] - points[k], points[(k + 2) % count] - points[(k + 1) % count]);
            let sine = flat(&a, &b) / (a.norm() * b.norm());
            if sine.is_nan() || (sine.abs() <= STRAIGHT && a.dot(&b) < 0.0) {
                let at = points[(k + 1) % count];
                let what = format!("a corner at ({}, {}) without an angle", at.x, at.y);
                return limits::refuse("polygon", "points", what, "corners that differ and turn");
            }
        }
        if crosses_itself(&points) { Err(crossed()) } else { Ok(points) }
    }
}

fn crossed() -> MeshError {
    MeshError::Parameter {
        shape: "polygon",
        parameter: "points".into(),
        value: "a line that meets itself".into(),
        wanted: "one around a single area".into(),
    }
}

fn flat(a: &Vec3, b: &Vec3) -> f64 {
    a.x * b.y - a.y * b.x
}

/// Twice the area of a triangle, positive if it turns to the left.
fn turn(a: &Vec3, b: &Vec3, c: &Vec3) -> f64 {
    flat(&(b - a), &(c - a))
}

fn crosses_itself(points: &[Vec3]) -> bool {
    let count = points.len();
    let end = |k: usize| points[k % count];
    for i in 0..count {
        for j in i + 2..count {
            if (j + 1) % count == i {
                continue;
            }
            let (a, b, c, d) = (end(i), end(i + 1), end(j), end(j + 1));
            let apart = |p: f64, q: f64| p * q > 0.0;
            let along = |p: &Vec3, q: &Vec3, r: &Vec3| {
                let t = (r - p).dot(&(q - p));
                turn(p, q, r) == 0.0 && t >= 0.0 && t <= (q - p).norm_squared()
            };
            let proper = !apart(turn(&a, &b, &c), turn(&a, &b, &d))
                && !apart(turn(&c, &d, &a), turn(&c, &d, &b))
                && turn(&a, &b, &c) != turn(&a, &b, &d);
            let flush = along(&a, &b, &c) || along(&a, &b, &d) || along(&c, &d, &a) || along(&c, &d, &b);
            if proper || flush {
                return true;
            }
        }
    }
    false
}

/// Triangles by cutting off ears, the best-shaped first.
fn ears(points: &[Vec3]) -> Option<Vec<[u32; 3]>> {
    let mut ring: Vec<u32> = (0..points.len() as u32).collect();
    let mut cells = Vec::new();
    while ring.len() > 3 {
        let count = ring.len();
        let ear = |k: usize| [count - 1, 0, 1].map(|d| ring[(k + d) % count]);
        let shape = |k: usize| {
            let [a, b, c] = ear(k).map(|k| points[k as usize]);
            let within =
                |p: &Vec3| turn(&a, &b, p) >= 0.0 && turn(&b, &c, p) >= 0.0 && turn(&c, &a, p) >= 0.0;
            let free = !ring.iter().any(|p| !ear(k).contains(p) && within(&points[*p as usize]));
            let longest =
                [b - a, c - b, a - c].map(|e: Vec3| e.norm_squared()).into_iter().fold(0.0, f64::max);
            let area = turn(&a, &b, &c);
            (free && area > 0.0).then_some(area / longest)
        };
        let best = (0..count).filter_map(|k| Some((shape(k)?, k))).max_by(|p, q| p.0.total_cmp(&q.0))?;
        cells.push(ear(best.1));
        ring.remove(best.1);
    }
    cells.push([ring[0], ring[1], ring[2]]);
    Some(cells)
}

/// Flips common edges until no circle around a triangle holds the far corner of its neighbour.
fn make_delaunay(points: &[Vec3], cells: &mut [[u32; 3]]) {
    let at = |k: u32| points[k as usize];
    // every flip makes the smallest angles larger: it ends; the bound is for round-off
    for _ in 0..cells.len() * cells.len() {
        let mut flipped = false;
        for i in 0..cells.len() {
            for j in 0..i {
                let shared = (0..3).find_map(|k| {
                    let (a, b) = (cells[i][k], cells[i][(k + 1) % 3]);
                    let l = (0..3).find(|&l| cells[j][l] == b && cells[j][(l + 1) % 3] == a)?;
                    Some((a, b, cells[i][(k + 2) % 3], cells[j][(l + 2) % 3]))
                });
                let Some((a, b, c, d)) = shared else { continue };
                let angle = |p: u32| (at(a) - at(p)).angle(&(at(b) - at(p)));
                let convex = turn(&at(c), &at(a), &at(d)) > 0.0 && turn(&at(c), &at(d), &at(b)) > 0.0;
                if convex && angle(c) + angle(d) > std::f64::consts::PI + 1e-9 {
                    (cells[i], cells[j]) = ([c, a, d], [c, d, b]);
                    flipped = true;
                }
            }
        }
        if !flipped {
            break;
        }
    }
}
