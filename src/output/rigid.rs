//! Obstacles as cells of a frame, so that they can be seen.
//!
//! Meshes are drawn as they are. What has no thickness gets one on its solid side where a line would not do: a plane is
//! a sheet in space, a band in a plane problem, a stub on a line; a polyline is a band. Planes reach a little beyond
//! everything else at the start.

use crate::math::Vec3;
use crate::mesh::{CellKind, Cells};
use crate::model::Model;
use crate::model::contact::{Obstacle, ObstacleShape};

/// How far a plane reaches beyond the others, and how thick a band is: shares of the largest extent of all.
const BEYOND: f64 = 0.1;
const BAND: f64 = 0.03;

/// An obstacle as drawn, before it moves.
pub(crate) struct Drawn {
    pub points: Vec<Vec3>,
    pub cells: Vec<Cells>,
}

/// All obstacles of a model.
pub(crate) fn draw(model: &Model) -> Vec<Drawn> {
    let obstacles = &model.contact.obstacles;
    let dimension = model.bodies.iter().map(|b| b.kind.space()).max().unwrap_or(3);
    let mut stage = Stage { lo: Vec3::repeat(f64::MAX), hi: Vec3::repeat(f64::MIN), dimension };
    let solid = obstacles.iter().flat_map(|o| match &o.shape {
        ObstacleShape::Plane { .. } => &[],
        ObstacleShape::Polyline { points, .. } => &points[..],
        ObstacleShape::Mesh(mesh) | ObstacleShape::Solid(mesh) => &mesh.nodes[..],
    });
    for x in model.reference.iter().chain(solid) {
        stage.lo = stage.lo.inf(x);
        stage.hi = stage.hi.sup(x);
    }
    obstacles.iter().map(|obstacle| stage.draw(obstacle)).collect()
}

/// The box of all that has bounds.
struct Stage {
    lo: Vec3,
    hi: Vec3,
    dimension: usize,
}

impl Stage {
    fn draw(&self, obstacle: &Obstacle) -> Drawn {
        let band = BAND * self.extent();
        match &obstacle.shape {
            ObstacleShape::Mesh(mesh) | ObstacleShape::Solid(mesh) => {
                Drawn { points: mesh.nodes.clone(), cells: mesh.cells.clone() }
            }
            ObstacleShape::Polyline { points, closed } => ribbon(points, *closed, band),
            ObstacleShape::Plane { point, normal } => self.plane(point, &normal.normalize(), band),
        }
    }

    fn extent(&self) -> f64 {
        (self.hi - self.lo).max()
    }

    /// Smallest and largest coordinate of the box along `t`, seen from `from`, with a margin.
    fn reach(&self, from: &Vec3, t: &Vec3) -> [f64; 2] {
        let (a, b) = ((self.lo - from).component_mul(t), (self.hi - from).component_mul(t));
        let margin = BEYOND * self.extent();
        [a.inf(&b).sum() - margin, a.sup(&b).sum() + margin]
    }

    fn plane(&self, point: &Vec3, n: &Vec3, band: f64) -> Drawn {
        match self.dimension {
            1 => Drawn {
                points: vec![*point, point - band * n],
                cells: vec![Cells { kind: CellKind::Bar2, nodes: vec![0, 1] }],
            },
            2 => {
                // the solid is on the left of the way from the first end to the second
                let t = Vec3::new(-n.y, n.x, 0.0);
                let ends = self.reach(point, &t).map(|s| point + s * t);
                ribbon(&ends, false, band)
            }
            _ => {
                // along the axis that lies best in the plane
                let axis = n.iamin();
                let t = Vec3::ith(axis, 1.0);
                let t = (t - n * n.dot(&t)).normalize();
                let s = n.cross(&t);
                let ([t0, t1], [s0, s1]) = (self.reach(point, &t), self.reach(point, &s));
                let corner = |a: f64, b: f64| point + a * t + b * s;
                Drawn {
                    points: vec![corner(t0, s0), corner(t1, s0), corner(t1, s1), corner(t0, s1)],
                    cells: vec![Cells { kind: CellKind::Quad4, nodes: vec![0, 1, 2, 3] }],
                }
            }
        }
    }
}

/// A chain of segments with a thickness on its left.
fn ribbon(points: &[Vec3], closed: bool, thickness: f64) -> Drawn {
    let count = points.len();
    let segments = if closed { count } else { count.saturating_sub(1) };
    let left = |k: usize| {
        let along = points[(k + 1) % count] - points[k];
        Vec3::new(-along.y, along.x, 0.0).try_normalize(0.0).unwrap_or_default()
    };
    let mut all = points.to_vec();
    for (k, point) in points.iter().enumerate() {
        let before = (closed || k > 0).then(|| left((k + count - 1) % count));
        let after = (closed || k + 1 < count).then(|| left(k));
        let (before, after) = (before.or(after).unwrap_or_default(), after.or(before).unwrap_or_default());
        // As thick across both segments, within reason at sharp corners.
        let middle = (before + after).try_normalize(1e-9).unwrap_or(after);
        all.push(point + thickness / middle.dot(&after).max(0.5) * middle);
    }
    let quad = |k: usize| {
        let next = (k + 1) % count;
        [k, next, count + next, count + k].map(|i| i as u32)
    };
    let nodes = (0..segments).flat_map(quad).collect();
    Drawn { points: all, cells: vec![Cells { kind: CellKind::Quad4, nodes }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_drawn_where_it_is_and_reaches_beyond_the_box() {
        let (lo, hi) = (Vec3::new(-1.0, 0.0, 2.0), Vec3::new(3.0, 1.0, 5.0));
        let (point, n) = (Vec3::new(0.5, 0.2, -1.0), Vec3::new(1.0, 2.0, -3.0).normalize());
        let stage = Stage { lo, hi, dimension: 3 };
        let Drawn { points, .. } = stage.plane(&point, &n, 0.1);
        assert!(points.iter().all(|p| (p - point).dot(&n).abs() < 1e-12));
        let facing = (points[2] - points[0]).cross(&(points[3] - points[1]));
        assert!(facing.dot(&n) > 0.99 * facing.norm());
        // every corner of the box stands over it
        let (a, b) = (points[1] - points[0], points[3] - points[0]);
        for corner in [lo, hi, Vec3::new(lo.x, hi.y, lo.z), Vec3::new(hi.x, lo.y, lo.z)] {
            for side in [a, b] {
                let s = (corner - points[0]).dot(&side) / side.norm_squared();
                assert!((0.0..=1.0).contains(&s), "{s}");
            }
        }
    }

    #[test]
    fn a_closed_polyline_is_a_band_on_its_left() {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0));
        let Drawn { points, cells } = ribbon(&square, true, 0.1);
        assert_eq!(cells[0].len(), 4);
        for (corner, inner) in [(0, [0.1, 0.1]), (1, [0.9, 0.1]), (2, [0.9, 0.9]), (3, [0.1, 0.9])] {
            assert!((points[4 + corner].xy() - nalgebra::Vector2::from(inner)).norm() < 1e-12);
        }
        let Drawn { points, cells } = ribbon(&square[..2], false, 0.1);
        assert_eq!(cells[0].nodes, [0, 1, 3, 2]);
        assert_eq!(points[2..], [Vec3::new(0.0, 0.1, 0.0), Vec3::new(1.0, 0.1, 0.0)]);
    }
}
