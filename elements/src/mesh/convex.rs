//! Convex polygons and polyhedra: cut by planes, measured, and cut into cells.
//!
//! A polygon lies in the x–y plane, counter-clockwise; its faces are its edges, face i from corner i to the next. Faces of a polyhedron are rings
//! of corners, counter-clockwise seen from outside. Every face has a label, which says what cut it and names a set of sides.

use super::cut::{Cut, orient};
use super::{CellKind, Mesh};
use crate::math::Vec3;
use std::collections::BTreeMap;

/// Corners nearer to a plane than this share of the size of all lie in it.
const ROUND_OFF: f64 = 1e-10;

/// A face of a convex body.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    pub label: u32,
    /// Its corners; two of a polygon's edge.
    pub ring: Vec<u32>,
}

/// A convex polygon or polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    pub corners: Vec<Vec3>,
    pub faces: Vec<Face>,
    pub plane: bool,
    /// Its largest extension when it was whole [m].
    size: f64,
}

/// A half-space `n·x ≤ offset` with unit normal n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    pub normal: Vec3,
    pub offset: f64,
    pub label: u32,
}

impl Convex {
    /// The polygon with these corners, counter-clockwise; edge i is labelled i.
    pub fn polygon(corners: Vec<Vec3>) -> Convex {
        let size = extension(&corners);
        let mut polygon = Convex { corners, faces: Vec::new(), plane: true, size };
        let count = polygon.corners.len() as u32;
        polygon.close((0..count).collect());
        polygon
    }

    /// The polyhedron with these faces; face i is labelled i.
    pub fn solid(corners: Vec<Vec3>, rings: Vec<Vec<u32>>) -> Convex {
        let size = extension(&corners);
        let faces = (0..).zip(rings).map(|(label, ring)| Face { label, ring }).collect();
        Convex { corners, faces, plane: false, size }
    }

    /// The convex hull of points in space: every plane through three of them that has none outside, once.
    pub fn hull(points: &[Vec3]) -> Option<Convex> {
        let size = extension(points);
        let near = ROUND_OFF * size;
        let mut faces: Vec<Vec<u32>> = Vec::new();
        let count = points.len();
        for i in 0..count {
            for j in i + 1..count {
                for k in j + 1..count {
                    let n = (points[j] - points[i]).cross(&(points[k] - points[i]));
                    if n.norm() <= near * size {
                        continue;
                    }
                    for n in [n.normalize(), -n.normalize()] {
                        let height = |p: &Vec3| n.dot(&(p - points[i]));
                        if points.iter().any(|p| height(p) > near) {
                            continue;
                        }
                        let on = (0..count as u32).filter(|&p| height(&points[p as usize]).abs() <= near);
                        let ring = around(points, on.collect(), &n);
                        let known = |f: &Vec<u32>| ring.iter().all(|p| f.contains(p));
                        if !faces.iter().any(known) {
                            faces.push(ring);
                        }
                    }
                }
            }
        }
        let mut hull = Convex::solid(points.to_vec(), faces);
        hull.forget_unused();
        (hull.faces.len() > 3 && hull.measure() > near * size * size).then_some(hull)
    }

    fn close(&mut self, labels: Vec<u32>) {
        let count = self.corners.len() as u32;
        let edge = |(i, label): (u32, u32)| Face { label, ring: vec![i, (i + 1) % count] };
        self.faces = (0..).zip(labels).map(edge).collect();
    }

    /// Keeps what lies in the half-space; nothing may be left.
    pub fn cut(&mut self, by: &HalfSpace) {
        let near = ROUND_OFF * self.size;
        let height: Vec<f64> = (self.corners.iter())
            .map(|x| by.normal.dot(x) - by.offset)
            .map(|h| if h.abs() <= near { 0.0 } else { h })
            .collect();
        if height.iter().all(|&h| h <= 0.0) {
            return;
        }
        if height.iter().all(|&h| h >= 0.0) {
            self.corners.clear();
            self.faces.clear();
            return;
        }
        if self.plane { self.cut_polygon(by, &height) } else { self.cut_solid(by, &height) }
    }

    fn cut_polygon(&mut self, by: &HalfSpace, height: &[f64]) {
        let (mut corners, mut labels) = (Vec::new(), Vec::new());
        for face in &self.faces {
            let [a, b] = [0, 1].map(|k| face.ring[k] as usize);
            let (ha, hb) = (height[a], height[b]);
            if ha <= 0.0 && !(ha == 0.0 && hb > 0.0) {
                corners.push(self.corners[a]);
                labels.push(face.label);
            }
            if ha <= 0.0 && hb > 0.0 {
                // the cut begins where an edge leaves
                corners.push(if ha == 0.0 { self.corners[a] } else { self.between(a, b, height) });
                labels.push(by.label);
            }
            if ha > 0.0 && hb < 0.0 {
                corners.push(self.between(a, b, height));
                labels.push(face.label);
            }
        }
        self.corners = corners;
        self.close(labels);
    }

    fn between(&self, a: usize, b: usize, height: &[f64]) -> Vec3 {
        // the same bits whichever end comes first
        let (a, b) = (a.min(b), a.max(b));
        let share = height[a] / (height[a] - height[b]);
        self.corners[a] + share * (self.corners[b] - self.corners[a])
    }

    fn cut_solid(&mut self, by: &HalfSpace, height: &[f64]) {
        let mut met: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut corners = self.corners.clone();
        let mut faces = Vec::with_capacity(self.faces.len() + 1);
        let mut rim: Vec<u32> = (0..height.len() as u32).filter(|&k| height[k as usize] == 0.0).collect();
        for face in &self.faces {
            let mut ring = Vec::with_capacity(face.ring.len() + 1);
            for (i, &a) in face.ring.iter().enumerate() {
                let b = face.ring[(i + 1) % face.ring.len()];
                let (ha, hb) = (height[a as usize], height[b as usize]);
                if ha <= 0.0 {
                    ring.push(a);
                }
                if ha * hb < 0.0 {
                    let at = *met.entry((a.min(b), a.max(b))).or_insert_with(|| {
                        corners.push(self.between(a as usize, b as usize, height));
                        rim.push(corners.len() as u32 - 1);
                        corners.len() as u32 - 1
                    });
                    ring.push(at);
                }
            }
            let inside = ring.iter().any(|&k| height.get(k as usize).is_some_and(|&h| h < 0.0));
            if ring.len() > 2 && inside {
                faces.push(Face { label: face.label, ring });
            }
        }
        (self.corners, self.faces) = (corners, faces);
        if rim.len() > 2 {
            let ring = around(&self.corners, rim, &by.normal);
            self.faces.push(Face { label: by.label, ring });
        }
        self.forget_unused();
    }

    fn forget_unused(&mut self) {
        let mut place = vec![u32::MAX; self.corners.len()];
        let mut corners = Vec::with_capacity(self.corners.len());
        for k in self.faces.iter_mut().flat_map(|f| &mut f.ring) {
            let to = &mut place[*k as usize];
            if *to == u32::MAX {
                *to = corners.len() as u32;
                corners.push(self.corners[*k as usize]);
            }
            *k = *to;
        }
        self.corners = corners;
    }

    /// Does no face have a corner before it?
    pub fn is_convex(&self) -> bool {
        let near = ROUND_OFF * self.size;
        self.plane
            || self.faces.iter().all(|face| {
                let at = |k: usize| self.corners[face.ring[k] as usize];
                let normal = (at(1) - at(0)).cross(&(at(2) - at(1))).normalize();
                self.corners.iter().all(|x| normal.dot(&(x - at(0))) <= near)
            })
    }

    /// Area [m²] or volume [m³].
    pub fn measure(&self) -> f64 {
        self.moments().0
    }

    /// Centre of area or volume.
    pub fn centroid(&self) -> Vec3 {
        self.moments().1
    }

    fn moments(&self) -> (f64, Vec3) {
        let Some(&from) = self.corners.first() else { return (0.0, Vec3::zeros()) };
        let (mut measure, mut first) = (0.0, Vec3::zeros());
        for face in &self.faces {
            let at = |k: usize| self.corners[face.ring[k] as usize] - from;
            if self.plane {
                let (a, b) = (at(0), at(1));
                let area = 0.5 * (a.x * b.y - a.y * b.x);
                measure += area;
                first += area / 3.0 * (a + b);
                continue;
            }
            for k in 2..face.ring.len() {
                let (a, b, c) = (at(0), at(k - 1), at(k));
                let volume = a.cross(&b).dot(&c) / 6.0;
                measure += volume;
                first += 0.25 * volume * (a + b + c);
            }
        }
        (measure, from + first / measure)
    }

    /// Length of its shortest edge [m].
    pub fn shortest_edge(&self) -> f64 {
        let mut least = f64::INFINITY;
        for face in &self.faces {
            for (i, &a) in face.ring.iter().enumerate() {
                let b = face.ring[(i + 1) % face.ring.len()];
                least = least.min((self.corners[a as usize] - self.corners[b as usize]).norm());
            }
        }
        least
    }

    /// Farthest corner from a point [m].
    pub fn reach(&self, from: &Vec3) -> f64 {
        self.corners.iter().map(|x| (x - from).norm()).fold(0.0, f64::max)
    }

    /// Triangles around its centroid, or tetrahedra from there to triangles of its faces; `names` are those of the labels. A triangle is one cell.
    pub fn mesh(&self, names: &[String], refine: u32) -> Option<Mesh> {
        let mut nodes = self.corners.clone();
        let (mut cells, mut sides) = (Vec::new(), BTreeMap::new());
        let kind = if self.plane { CellKind::Tri3 } else { CellKind::Tet4 };
        if self.plane && nodes.len() == 3 {
            cells.extend([0, 1, 2]);
            self.faces.iter().for_each(|f| _ = sides.insert(orient(&f.ring), f.label));
        } else {
            let centre = nodes.len() as u32;
            nodes.push(self.centroid());
            for face in &self.faces {
                for side in self.triangles_of(&face.ring) {
                    // [edge, centre] turns to the left; [centre, triangle] is seen from outside
                    if self.plane {
                        cells.extend(side.iter().chain([&centre]));
                    } else {
                        cells.extend([&centre].into_iter().chain(&side));
                    }
                    sides.insert(orient(&side), face.label);
                }
            }
        }
        let mut cut = Cut { nodes, kind, cells, sides };
        (0..refine).for_each(|_| cut.refine());
        cut.positive().then(|| cut.mesh(names))
    }

    /// A polygon's edge as it is; a face as triangles around that corner which leaves the best ones.
    fn triangles_of(&self, ring: &[u32]) -> Vec<Vec<u32>> {
        if ring.len() <= 3 {
            return vec![ring.to_vec()];
        }
        let count = ring.len();
        let fan = |from: usize| -> Vec<Vec<u32>> {
            let at = |k: usize| ring[(from + k) % count];
            (2..count).map(|k| vec![at(0), at(k - 1), at(k)]).collect()
        };
        let quality = |fan: &Vec<Vec<u32>>| {
            let one = |t: &Vec<u32>| {
                let [a, b, c] = [0, 1, 2].map(|k| self.corners[t[k] as usize]);
                let edges = [b - a, c - b, a - c].map(|e: Vec3| e.norm_squared());
                (b - a).cross(&(c - a)).norm() / edges.into_iter().fold(0.0, f64::max)
            };
            fan.iter().map(one).fold(f64::INFINITY, f64::min)
        };
        let all = (0..count).map(fan);
        let best = all.map(|f| (quality(&f), f)).reduce(|p, q| if q.0 > p.0 * (1.0 + 1e-9) { q } else { p });
        best.map(|b| b.1).unwrap_or_default()
    }
}

fn extension(points: &[Vec3]) -> f64 {
    let Some(&first) = points.first() else { return 0.0 };
    let (lo, hi) = points.iter().fold((first, first), |(lo, hi), p| (lo.inf(p), hi.sup(p)));
    (hi - lo).amax()
}

/// Points of a plane in the order of their angle about `n`, those of a hull: inner ones are left out.
fn around(points: &[Vec3], on: Vec<u32>, n: &Vec3) -> Vec<u32> {
    let at = |k: u32| points[k as usize];
    let middle = on.iter().map(|&k| at(k)).sum::<Vec3>() / on.len() as f64;
    let across = on.iter().map(|&k| at(k) - middle).max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let u = across.unwrap_or_else(Vec3::x).normalize();
    let w = n.cross(&u);
    let mut ring = on;
    let angle = |k: u32| w.dot(&(at(k) - middle)).atan2(u.dot(&(at(k) - middle)));
    ring.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    // a corner where the ring does not turn to the left is none
    let mut k = 0;
    while ring.len() > 3 && k < ring.len() {
        let [a, b, c] = [ring.len() - 1, 0, 1].map(|d| at(ring[(k + d) % ring.len()]));
        let turn = (b - a).cross(&(c - b)).dot(n);
        if turn <= ROUND_OFF * (b - a).norm() * (c - b).norm() {
            ring.remove(k);
            k = 0;
        } else {
            k += 1;
        }
    }
    ring
}
