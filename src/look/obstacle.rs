//! Rigid obstacles in a picture: grey, and never in the way.
//!
//! Bodies decide what is shown. The [`Room`] is their box over all frames of a set, widened to obstacles near by; rigid
//! faces are trimmed to it. In space a rigid face is left out where it shows its back, which lies inside the solid: the
//! bodies are on its other side, so whatever stands between them and the viewer gives way, and only its rims stay, as thin
//! lines. In a plane or on a line obstacles hide nothing. Planes fill the room, however little of them a frame shows, and
//! end where they meet.

use super::camera::Camera;
use super::polygon::{Cut, Line, Polygon};
use crate::math::Vec3;

/// A plane, or a corner of two, is shown if it is no farther from the bodies than this, and a rigid mesh as far as
/// this around them: shares of the largest extent of the bodies.
const PLANE_NEAR: f64 = 0.75;
const MESH_NEAR: f64 = 1.5;
/// How far obstacles are shown beyond the bodies and their feet: a share of the room's extent.
const MARGIN: f64 = 0.05;

/// A box along the axes; empty at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub lo: Vec3,
    pub hi: Vec3,
}

impl Bounds {
    pub(crate) fn empty() -> Bounds {
        Bounds { lo: Vec3::repeat(f64::INFINITY), hi: Vec3::repeat(f64::NEG_INFINITY) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        (0..3).any(|k| self.lo[k] > self.hi[k])
    }

    /// Takes in a point, if it is anywhere.
    pub(crate) fn add(&mut self, p: &Vec3) {
        if p.iter().all(|c| c.is_finite()) {
            self.lo = self.lo.inf(p);
            self.hi = self.hi.sup(p);
        }
    }

    pub(crate) fn unite(&mut self, other: &Bounds) {
        self.lo = self.lo.inf(&other.lo);
        self.hi = self.hi.sup(&other.hi);
    }

    fn common(&self, other: &Bounds) -> Bounds {
        Bounds { lo: self.lo.sup(&other.lo), hi: self.hi.inf(&other.hi) }
    }

    fn grown(&self, by: f64) -> Bounds {
        Bounds { lo: self.lo.add_scalar(-by), hi: self.hi.add_scalar(by) }
    }

    fn extent(&self) -> f64 {
        (self.hi - self.lo).max()
    }

    fn holds(&self, p: &Vec3) -> bool {
        (0..3).all(|k| (self.lo[k]..=self.hi[k]).contains(&p[k]))
    }

    pub(crate) fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| Vec3::from_fn(|k, _| if i >> k & 1 == 0 { self.lo[k] } else { self.hi[k] }))
    }
}

/// How much farther a plane goes than what a frame shows of it: far beyond any room.
const ON: f64 = 1e3;

/// An obstacle that fills a half space; a frame shows a piece, one quadrilateral.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    /// Of a much larger piece.
    pub corners: [Vec3; 4],
    /// Out of the solid.
    normal: Vec3,
    /// Thickness of the band that stands for it in a plane problem; 0 in space.
    depth: f64,
}

impl Plane {
    /// In space the quadrilateral faces out of the solid; in a plane its first side does, on the right.
    pub(crate) fn new(corners: [Vec3; 4], dimension: usize) -> Plane {
        let [a, b, c, d] = corners;
        if dimension == 3 {
            let normal = (c - a).cross(&(d - b)).try_normalize(0.0).unwrap_or_else(Vec3::z);
            let middle = 0.25 * (a + b + c + d);
            return Plane { corners: corners.map(|p| middle + ON * (p - middle)), normal, depth: 0.0 };
        }
        let along = b - a;
        let normal = Vec3::new(along.y, -along.x, 0.0).try_normalize(0.0).unwrap_or_else(Vec3::y);
        let depth = normal.dot(&(a - d)).max(0.0);
        let far = ON * along;
        Plane { corners: [a - far, b + far, c + far, d - far], normal, depth }
    }

    /// The point nearest to `from` where two planes meet, on the far side of their bands; none if they are parallel.
    ///
    /// ```text
    /// q = from − N (NᵀN)⁻¹ d,   N = [n₁ n₂],   dᵢ = nᵢ·(from − pᵢ) + depthᵢ
    /// ```
    fn corner(&self, other: &Plane, from: &Vec3) -> Option<Vec3> {
        let distance = |p: &Plane| p.normal.dot(&(from - p.corners[0])) + p.depth;
        let (d, e, c) = (distance(self), distance(other), self.normal.dot(&other.normal));
        let det = 1.0 - c * c;
        let (a, b) = ((d - c * e) / det, (e - c * d) / det);
        (det > 1e-6).then(|| from - a * self.normal - b * other.normal)
    }

    /// The half space that bodies are in, and its band.
    fn free_side(&self) -> Cut {
        Cut { normal: -self.normal, offset: self.depth - self.normal.dot(&self.corners[0]) }
    }
}

/// What a set of pictures shows, and from where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    bounds: Bounds,
    /// Towards the viewer.
    towards: Vec3,
}

impl Room {
    /// The room of `bodies`, with what is near of the planes of each frame and of the rigid meshes.
    pub(crate) fn new<'a>(
        bodies: &Bounds,
        meshes: &Bounds,
        frames: impl Iterator<Item = &'a [Plane]>,
        towards: Vec3,
    ) -> Room {
        let near = PLANE_NEAR * bodies.extent();
        let middle = 0.5 * (bodies.lo + bodies.hi);
        let mut bounds = *bodies;
        for planes in frames {
            for (i, plane) in planes.iter().enumerate() {
                let gaps = bodies.corners().map(|c| plane.normal.dot(&(c - plane.corners[0])));
                let gap = gaps.into_iter().fold(f64::INFINITY, f64::min).max(0.0);
                if gap <= near {
                    let step = (gap + plane.depth) * plane.normal;
                    bounds.unite(&Bounds { lo: bodies.lo - step, hi: bodies.hi - step });
                }
                let corners = planes[..i].iter().filter_map(|other| plane.corner(other, &middle));
                corners.filter(|q| bodies.grown(near).holds(q)).for_each(|q| bounds.add(&q));
            }
        }
        let meshes = meshes.common(&bodies.grown(MESH_NEAR * bodies.extent()));
        if !meshes.is_empty() {
            bounds.unite(&meshes);
        }
        Room { bounds: bounds.grown(MARGIN * bounds.extent()), towards }
    }

    /// All that there is.
    #[cfg(test)]
    pub(super) fn endless(towards: Vec3) -> Room {
        Room { bounds: Bounds { lo: Vec3::repeat(-1e300), hi: Vec3::repeat(1e300) }, towards }
    }

    pub(crate) fn holds(&self, p: &Vec3) -> bool {
        self.bounds.holds(p)
    }

    /// Does a face with this normal show its back?
    pub(crate) fn sees_back(&self, normal: &Vec3) -> bool {
        normal.dot(&self.towards) <= 0.0
    }

    pub(crate) fn trimmed(&self, mut polygon: Polygon) -> Polygon {
        if polygon.points().all(|p| self.holds(&p)) {
            return polygon;
        }
        for k in 0..3 {
            let axis = Vec3::ith(k, 1.0);
            polygon = polygon.clipped(&Cut { normal: axis, offset: self.bounds.hi[k] });
            polygon = polygon.clipped(&Cut { normal: -axis, offset: -self.bounds.lo[k] });
        }
        polygon
    }

    /// What the planes of one frame take of the picture, in view coordinates.
    pub(crate) fn window_of(&self, planes: &[Plane], camera: &Camera) -> Window {
        let mut window = Window::empty();
        for (i, plane) in planes.iter().enumerate() {
            let polygon = self.trimmed(Polygon::flat(&plane.corners, Line::Feature));
            ended(polygon, i, planes).points().for_each(|p| window.add(camera, &p));
        }
        window
    }

    /// What rigid meshes take, `whole` if all of them is shown.
    pub(crate) fn window_of_meshes(&self, meshes: &Bounds, whole: Window, camera: &Camera) -> Window {
        let shown = meshes.common(&self.bounds);
        if shown == *meshes {
            return whole;
        }
        let mut window = Window::empty();
        if !shown.is_empty() {
            shown.corners().iter().for_each(|p| window.add(camera, p));
        }
        window
    }
}

/// The part of plane `own` that no other plane has behind it.
pub(crate) fn ended(polygon: Polygon, own: usize, planes: &[Plane]) -> Polygon {
    let others = planes.iter().enumerate().filter(|(j, _)| *j != own);
    others.fold(polygon, |polygon, (_, plane)| polygon.clipped(&plane.free_side()))
}

/// A box in view coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub lo: [f64; 2],
    pub hi: [f64; 2],
}

impl Window {
    pub(crate) fn empty() -> Window {
        Window { lo: [f64::INFINITY; 2], hi: [f64::NEG_INFINITY; 2] }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lo[0] > self.hi[0]
    }

    pub(crate) fn add(&mut self, camera: &Camera, p: &Vec3) {
        if p.iter().all(|c| c.is_finite()) {
            let v = camera.view(p);
            self.unite(&Window { lo: [v[0], v[1]], hi: [v[0], v[1]] });
        }
    }

    pub(crate) fn unite(&mut self, other: &Window) {
        for k in 0..2 {
            self.lo[k] = self.lo[k].min(other.lo[k]);
            self.hi[k] = self.hi[k].max(other.hi[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of half-size 1 around `at`, facing `s` × `t`.
    fn plane(at: Vec3, s: Vec3, t: Vec3) -> Plane {
        Plane::new([at - s - t, at + s - t, at + s + t, at - s + t], 3)
    }

    fn unit_box() -> Bounds {
        Bounds { lo: Vec3::zeros(), hi: Vec3::repeat(1.0) }
    }

    #[test]
    fn two_planes_meet_where_both_are_zero_and_nearest_to_the_asker() {
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        let floor = plane(Vec3::new(0.0, 0.0, -2.0), x, y);
        let slope = plane(Vec3::new(3.0, 0.0, 0.0), y, z - x);
        let from = Vec3::new(0.5, 7.0, 0.5);
        let q = floor.corner(&slope, &from).unwrap();
        // x + z = 3 and z = −2.
        assert!((q - Vec3::new(5.0, 7.0, -2.0)).norm() < 1e-9, "{q}");
        assert!(floor.corner(&floor, &from).is_none());
    }

    #[test]
    fn the_room_takes_in_near_planes_and_leaves_far_ones() {
        let room = |z: f64| {
            let floor = [plane(Vec3::new(0.0, 0.0, z), Vec3::x(), Vec3::y())];
            Room::new(&unit_box(), &Bounds::empty(), std::iter::once(&floor[..]), Vec3::z()).bounds
        };
        assert!((room(-0.5).lo.z + 0.5 + MARGIN * 1.5).abs() < 1e-12);
        assert!((room(-5.0).lo.z + MARGIN).abs() < 1e-12);
        // What a plane cuts through stays as it is.
        assert!((room(0.5).lo.z + MARGIN).abs() < 1e-12);
    }

    /// The floor of a room between two walls: 1 wide, and as long as the room, 1 + 2 margins of its largest extent.
    #[test]
    fn planes_end_at_the_room_and_where_they_meet() {
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        let planes = [plane(0.0 * z, x, y), plane(0.0 * x, y, z), plane(x, z, y)];
        let room = Room::new(&unit_box(), &Bounds::empty(), std::iter::once(&planes[..]), z);
        let floor = ended(room.trimmed(Polygon::flat(&planes[0].corners, Line::Feature)), 0, &planes);
        let mut bounds = Bounds::empty();
        floor.points().for_each(|p| bounds.add(&p));
        let expected = [Vec3::new(0.0, -MARGIN, 0.0), Vec3::new(1.0, 1.0 + MARGIN, 0.0)];
        assert!((bounds.lo - expected[0]).norm() + (bounds.hi - expected[1]).norm() < 1e-9, "{bounds:?}");
        assert!(!room.sees_back(&planes[0].normal) && room.sees_back(&-planes[0].normal));
    }

    #[test]
    fn a_band_faces_the_right_of_its_first_side() {
        let p = |x: f64, y: f64| Vec3::new(x, y, 0.0);
        let band = Plane::new([p(1.0, 0.0), p(0.0, 0.0), p(0.0, -0.2), p(1.0, -0.2)], 2);
        assert!((band.normal - Vec3::y()).norm() < 1e-15 && (band.depth - 0.2).abs() < 1e-15);
        // On from both ends, as thick as before.
        assert!(band.corners[0].x > 100.0 && band.corners[1].x < -100.0 && band.corners[2].y == -0.2);
    }
}
