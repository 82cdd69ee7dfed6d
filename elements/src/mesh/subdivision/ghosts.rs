//! What stands outside of the boundary: Loop's rules need a full ring around every corner of an element.
//!
//! **Mirrored.** Along a plane of symmetry the surface goes on as its own image.
//!
//! **Dependent ghosts.** Beyond every other boundary edge a–b of a triangle (a, b, c) stands `g = a + b − c`, and at a
//! boundary vertex b with T triangles and the neighbours d … a the wedge between the ghosts of its two edges is filled:
//!
//! ```text
//! T = 1   2b − d, 2b − a        T = 2   2b − i (i between d and a)        T ≥ 3   nothing
//! ```
//!
//! Up to T = 3 the vertex is regular then, and the boundary curve is the cubic B-spline of the boundary vertices alone
//! (Schweitzer 1996; Cirak, Ortiz & Schröder 2000). As the ghosts are sums of vertices with weights that add up to one, forces
//! and masses that are folded back stay in balance.

use super::{Subdivision, SurfaceProblem, Term};
use crate::math::Vec3;
use std::collections::BTreeMap;

/// A plane in which the surface goes on as its own image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirror {
    pub point: Vec3,
    /// Of length one.
    pub normal: Vec3,
}

/// Share of the size of a mesh within which a node lies in a plane of symmetry.
const IN_PLANE: f64 = 1e-6;

impl Mirror {
    /// How far a point is from the plane, on the side of its normal [m].
    pub fn distance(&self, x: &Vec3) -> f64 {
        (x - self.point).dot(&self.normal)
    }

    /// How near a node of a mesh must be to lie in the plane [m].
    pub fn reach(positions: &[Vec3]) -> f64 {
        let empty = (Vec3::repeat(f64::INFINITY), Vec3::repeat(-f64::INFINITY));
        let (low, high) = positions.iter().fold(empty, |(l, h), x| (l.inf(x), h.sup(x)));
        IN_PLANE * (high - low).norm()
    }
}

impl Subdivision {
    /// Adds the images of triangles that touch a boundary edge in a plane of symmetry.
    pub(super) fn add_images(&mut self, positions: &[Vec3]) -> Result<(), SurfaceProblem> {
        let mirrors = self.mirrors.clone();
        let near = Mirror::reach(positions);
        let boundary: Vec<[u32; 2]> = self.boundary();
        for (bit, mirror) in mirrors.iter().enumerate() {
            let inside = |n: u32| mirror.distance(&positions[n as usize]).abs() <= near;
            for &[a, b] in boundary.iter().filter(|e| e.iter().all(|&n| inside(n))) {
                self.in_planes[a as usize] |= 1 << bit;
                self.in_planes[b as usize] |= 1 << bit;
            }
        }
        let mut image_of: BTreeMap<(u32, u8), u32> = BTreeMap::new();
        let own = self.triangles.clone();
        for image in 1..1u8 << mirrors.len() {
            for triangle in &own {
                // an image of a vertex in the plane is the vertex itself
                let images = triangle.map(|n| image & !self.in_planes[n as usize]);
                if images.iter().all(|&i| i != 0) {
                    continue;
                }
                let mut corners = [0; 3];
                for k in 0..3 {
                    corners[k] = match images[k] {
                        0 => triangle[k],
                        i => *image_of.entry((triangle[k], i)).or_insert_with(|| {
                            self.ghosts.push(vec![Term { node: triangle[k], image: i, weight: 1.0 }]);
                            (self.nodes + self.ghosts.len() - 1) as u32
                        }),
                    };
                }
                // one reflection turns the sense of a triangle, two turn it back
                if image.count_ones() % 2 == 1 {
                    corners.swap(1, 2);
                }
                self.add_triangle(corners)?;
            }
        }
        Ok(())
    }

    /// Adds dependent ghosts wherever a corner of an element has no full ring yet.
    pub(super) fn add_ghosts(&mut self) -> Result<(), SurfaceProblem> {
        let mut corner = vec![false; self.nodes + self.ghosts.len()];
        self.triangles[..self.elements].iter().flatten().for_each(|&n| corner[n as usize] = true);
        let edges: Vec<[u32; 2]> = self.boundary();
        let mut beyond: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        // outgoing and incoming boundary edge of each vertex
        let (mut out, mut into) = (BTreeMap::new(), BTreeMap::new());
        for &[a, b] in &edges {
            if out.insert(a, b).is_some() || into.insert(b, a).is_some() {
                return Err(SurfaceProblem::Bowtie { vertex: a });
            }
        }
        let fans: Vec<(u32, Vec<u32>)> =
            (out.iter()).filter(|(b, _)| corner[**b as usize]).map(|(&b, &d)| (b, self.fan(b, d))).collect();
        for &[a, b] in edges.iter().filter(|e| e.iter().any(|&n| corner[n as usize])) {
            let c = self.opposite[&(a, b)];
            let ghost = self.add_ghost(&[(a, 1.0), (b, 1.0), (c, -1.0)]);
            beyond.insert([a, b], ghost);
            self.add_triangle([b, a, ghost])?;
        }
        for (b, fan) in fans {
            let (d, a) = (fan[0], fan[fan.len() - 1]);
            let mut chain = vec![beyond[&[a, b]]];
            match fan.len() - 1 {
                1 => {
                    chain.push(self.add_ghost(&[(b, 2.0), (d, -1.0)]));
                    chain.push(self.add_ghost(&[(b, 2.0), (a, -1.0)]));
                }
                2 => chain.push(self.add_ghost(&[(b, 2.0), (fan[1], -1.0)])),
                _ => {}
            }
            chain.push(beyond[&[b, d]]);
            for pair in chain.windows(2) {
                self.add_triangle([b, pair[0], pair[1]])?;
            }
        }
        Ok(())
    }

    /// Neighbours of a boundary vertex, counter-clockwise from the end of its outgoing boundary edge.
    fn fan(&self, b: u32, d: u32) -> Vec<u32> {
        let mut fan = vec![d];
        let mut last = d;
        while let Some(&next) = self.opposite.get(&(b, last)) {
            fan.push(next);
            last = next;
        }
        fan
    }

    /// Edges that have a triangle on one side only, in its sense, ascending.
    pub(super) fn boundary(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = (self.opposite.keys())
            .filter(|&&(a, b)| !self.opposite.contains_key(&(b, a)))
            .map(|&(a, b)| [a, b])
            .collect();
        edges.sort_unstable();
        edges
    }

    /// A vertex that hangs on others.
    fn add_ghost(&mut self, on: &[(u32, f64)]) -> u32 {
        let mut terms: Vec<Term> = Vec::new();
        for &(vertex, weight) in on {
            for term in self.terms(vertex).into_iter() {
                super::add_term(&mut terms, Term { weight: weight * term.weight, ..term });
            }
        }
        self.ghosts.push(terms);
        (self.nodes + self.ghosts.len() - 1) as u32
    }
}
