//! Loop subdivision surfaces: triangles as control mesh of a smooth surface.
//!
//! [`Subdivision`] knows who stands around whom, with all that stands outside of the boundary (`ghosts.rs`; `free_edges.rs` where
//! ghosts are nodes of their own), and answers
//! how the points of the surface hang on the nodes: [`Subdivision::rows`] inside a triangle ([`patch`],
//! [`box_spline`]), [`Subdivision::limit`] at a vertex. [`refine`] makes finer control meshes and moves control points so
//! that the surface goes through given points.
//!
//! A vertex of the whole is a node, the image of a node in planes of symmetry, or a ghost that hangs on both: a list of
//! [`Term`]s. Weights over all of them add up to one, so a surface moves with its nodes, and its forces are in balance.

pub mod box_spline;
mod free_edges;
mod ghosts;
pub mod patch;
mod refine;
#[cfg(test)]
mod tests;

use crate::math::{Mat3, Vec3};
use patch::Labels;
use std::collections::HashMap;
use std::fmt;

pub use free_edges::FreeEdges;
pub use ghosts::Mirror;
pub use refine::{Edges, fit, refine, shell};

/// A node, or its image, with a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    pub node: u32,
    /// Which planes of symmetry it is reflected in, one bit each; 0 is the node itself.
    pub image: u8,
    pub weight: f64,
}

/// Adds a term to a list that has one entry for each node and image.
fn add_term(terms: &mut Vec<Term>, term: Term) {
    match terms.iter_mut().find(|t| (t.node, t.image) == (term.node, term.image)) {
        Some(known) => known.weight += term.weight,
        None => terms.push(term),
    }
}

/// What a surface is made from.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Triangles beyond the boundary whose nodes are free: independent ghosts.
    pub ghosts: Vec<[u32; 3]>,
    /// Planes of symmetry, at right angles to each other.
    pub mirrors: Vec<Mirror>,
}

/// A control mesh with all that its surface needs to know.
#[derive(Clone, Debug)]
pub struct Subdivision {
    /// Nodes of the body; ids of ghosts follow.
    nodes: usize,
    /// Elements first, then what stands outside.
    triangles: Vec<[u32; 3]>,
    elements: usize,
    ghosts: Vec<Vec<Term>>,
    /// Third corner of the triangle that runs through a directed edge.
    opposite: HashMap<(u32, u32), u32>,
    mirrors: Vec<Mirror>,
    /// The planes of symmetry that a node on the boundary lies in, one bit each.
    in_planes: Vec<u8>,
}

impl Subdivision {
    /// `triangles` are elements, `positions` where nodes are in the reference shape.
    pub fn new(
        triangles: &[[u32; 3]],
        positions: &[Vec3],
        outside: &Outside,
    ) -> Result<Self, SurfaceProblem> {
        for (i, a) in outside.mirrors.iter().enumerate() {
            if outside.mirrors[..i].iter().any(|b| a.normal.dot(&b.normal).abs() > 1e-9) {
                return Err(SurfaceProblem::Mirrors);
            }
        }
        let mut surface = Subdivision {
            nodes: positions.len(),
            triangles: Vec::with_capacity(triangles.len()),
            elements: triangles.len(),
            ghosts: Vec::new(),
            opposite: HashMap::with_capacity(3 * triangles.len()),
            mirrors: outside.mirrors.clone(),
            in_planes: vec![0; positions.len()],
        };
        for (t, &corners) in triangles.iter().chain(&outside.ghosts).enumerate() {
            if corners.iter().any(|&n| n as usize >= positions.len()) {
                return Err(SurfaceProblem::NoNode { triangle: t });
            }
            let [a, b, c] = corners.map(|n| positions[n as usize]);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            if area.is_nan() || area <= 1e-12 * longest * longest {
                return Err(SurfaceProblem::NoArea { triangle: t, at: (a + b + c) / 3.0 });
            }
            surface.add_triangle(corners)?;
        }
        surface.check_vertices()?;
        if !surface.mirrors.is_empty() {
            surface.add_images(positions)?;
        }
        surface.add_ghosts()?;
        let mut thin = None;
        surface.for_each_corner(|vertex, ring| {
            if ring.len() < 3 && thin.is_none() {
                thin = Some(vertex);
            }
        });
        if let Some(vertex) = thin {
            return Err(SurfaceProblem::Valence { vertex });
        }
        Ok(surface)
    }

    fn add_triangle(&mut self, [a, b, c]: [u32; 3]) -> Result<(), SurfaceProblem> {
        let triangle = self.triangles.len();
        for (from, to, third) in [(a, b, c), (b, c, a), (c, a, b)] {
            if let Some(other) = self.opposite.insert((from, to), third) {
                let reversed = self.opposite.contains_key(&(to, from));
                let same = [a, b, c].contains(&other);
                return Err(SurfaceProblem::Edge { triangle, edge: [from, to], reversed, same });
            }
        }
        self.triangles.push([a, b, c]);
        Ok(())
    }

    /// The triangles around every vertex must hang together.
    fn check_vertices(&self) -> Result<(), SurfaceProblem> {
        let mut around = vec![0usize; self.nodes];
        self.triangles.iter().flatten().for_each(|&n| around[n as usize] += 1);
        let mut first: HashMap<u32, u32> = HashMap::new();
        for t in &self.triangles {
            for k in 0..3 {
                first.entry(t[k]).or_insert(t[(k + 1) % 3]);
            }
        }
        for (&v, &start) in &first {
            // clockwise to the boundary or once around, then back
            let mut begin = start;
            while let Some(&before) = self.opposite.get(&(begin, v)) {
                begin = before;
                if begin == start {
                    break;
                }
            }
            let (mut count, mut last) = (0, begin);
            while let Some(&next) = self.opposite.get(&(v, last)) {
                (count, last) = (count + 1, next);
                if last == begin {
                    break;
                }
            }
            if count != around[v as usize] {
                return Err(SurfaceProblem::Bowtie { vertex: v });
            }
        }
        Ok(())
    }

    /// Nodes of the body.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The triangles that are elements.
    pub fn elements(&self) -> &[[u32; 3]] {
        &self.triangles[..self.elements]
    }

    /// Edges of elements that no other element shares, in their sense.
    pub fn rim(&self) -> Vec<[u32; 2]> {
        let own: std::collections::HashSet<(u32, u32)> =
            self.elements().iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        let mut rim: Vec<[u32; 2]> =
            own.iter().filter(|(a, b)| !own.contains(&(*b, *a))).map(|&(a, b)| [a, b]).collect();
        rim.sort_unstable();
        rim
    }

    /// Those of them beyond which the surface does not go on as its image.
    pub fn free_rim(&self) -> Vec<[u32; 2]> {
        let mut rim = self.rim();
        rim.retain(|e| self.in_planes[e[0] as usize] & self.in_planes[e[1] as usize] == 0);
        rim
    }

    /// How the vertices around stand outside of the boundary: the terms of a vertex.
    fn terms(&self, vertex: u32) -> Vec<Term> {
        match (vertex as usize).checked_sub(self.nodes) {
            None => vec![Term { node: vertex, image: 0, weight: 1.0 }],
            Some(ghost) => self.ghosts[ghost].clone(),
        }
    }

    /// Neighbours of a vertex, counter-clockwise from one of them; empty if the ring is not closed.
    fn ring_from(&self, vertex: u32, start: u32) -> Vec<u32> {
        let mut ring = vec![start];
        loop {
            let last = ring[ring.len() - 1];
            match self.opposite.get(&(vertex, last)) {
                Some(&next) if next == start => return ring,
                Some(&next) => ring.push(next),
                None => return Vec::new(),
            }
        }
    }

    /// Valences of an element's corners and the vertices at its labels.
    fn around(&self, element: usize) -> ([usize; 3], Vec<u32>) {
        let corners = self.triangles[element];
        let rings: [Vec<u32>; 3] = [0, 1, 2].map(|i| self.ring_from(corners[i], corners[(i + 1) % 3]));
        let valences = [0, 1, 2].map(|i| rings[i].len());
        let labels = Labels::new(valences);
        let mut vertices = vec![0; labels.count];
        vertices[..3].copy_from_slice(&corners);
        for (ring, numbers) in rings.iter().zip(&labels.rings) {
            for (&vertex, &label) in ring.iter().zip(numbers) {
                vertices[label] = vertex;
            }
        }
        (valences, vertices)
    }

    /// The stencil of an element: nodes and images that its surface hangs on, and its rows (value, ∂v, ∂w, ∂vv, ∂ww, ∂vw)
    /// at each of the points (v, w). Where the element is regular and nothing is folded, the stencil is in the order of
    /// the box splines, which then are the rows.
    pub fn rows(&self, element: usize, points: &[[f64; 2]], known: &mut Known) -> Patch {
        let (valences, vertices) = self.around(element);
        let plain = |&v: &u32| {
            (v as usize) < self.nodes || {
                let terms = &self.ghosts[v as usize - self.nodes];
                terms.len() == 1 && terms[0].weight == 1.0
            }
        };
        let mut sorted = vertices.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if valences == [6; 3] && sorted.len() == 12 && vertices.iter().all(plain) {
            let stencil = REGULAR_LABELS.map(|label| self.terms(vertices[label])[0]);
            let rows = points.iter().map(|&[v, w]| box_spline::rows(v, w).map(Vec::from)).collect();
            return Patch { stencil: stencil.to_vec(), rows, regular: true };
        }
        let mut stencil: Vec<Term> = Vec::new();
        for &vertex in &vertices {
            self.terms(vertex).into_iter().for_each(|t| add_term(&mut stencil, t));
        }
        let place =
            |t: &Term| stencil.iter().position(|s| (s.node, s.image) == (t.node, t.image)).unwrap_or(0);
        let hanging: Vec<Vec<(usize, f64)>> = (vertices.iter())
            .map(|&v| self.terms(v).iter().map(|t| (place(t), t.weight)).collect())
            .collect();
        let rows = (points.iter().enumerate())
            .map(|(q, &[v, w])| {
                let on_labels = known.entry((valences, q)).or_insert_with(|| patch::rows(valences, v, w));
                std::array::from_fn(|d| {
                    let mut row = vec![0.0; stencil.len()];
                    for (weight, terms) in on_labels[d].iter().zip(&hanging) {
                        terms.iter().for_each(|(k, share)| row[*k] += weight * share);
                    }
                    row
                })
            })
            .collect();
        Patch { stencil, rows, regular: false }
    }

    /// How the point of the surface that belongs to a node hangs on the nodes around; a node that is no corner of an
    /// element stands for itself.
    pub fn limit(&self) -> Vec<Vec<Term>> {
        let mut out: Vec<Vec<Term>> =
            (0..self.nodes as u32).map(|node| vec![Term { node, image: 0, weight: 1.0 }]).collect();
        self.for_each_corner(|vertex, ring| {
            let chi = patch::limit_weight(ring.len());
            out[vertex as usize] = self.combine(vertex, 1.0 - ring.len() as f64 * chi, ring, chi);
        });
        out
    }

    /// Calls `visit` with every corner of the elements and its ring, in the order of nodes.
    fn for_each_corner(&self, mut visit: impl FnMut(u32, &[u32])) {
        let mut start = vec![u32::MAX; self.nodes];
        for t in self.elements() {
            for k in 0..3 {
                start[t[k] as usize] = t[(k + 1) % 3];
            }
        }
        for (v, &start) in start.iter().enumerate().filter(|(_, s)| **s != u32::MAX) {
            visit(v as u32, &self.ring_from(v as u32, start));
        }
    }

    /// `own · vertex + each · Σ ring` in nodes.
    fn combine(&self, vertex: u32, own: f64, ring: &[u32], each: f64) -> Vec<Term> {
        let mut terms = vec![Term { node: vertex, image: 0, weight: own }];
        for &r in ring {
            for t in self.terms(r) {
                add_term(&mut terms, Term { weight: each * t.weight, ..t });
            }
        }
        terms.retain(|t| t.weight != 0.0);
        terms
    }

    /// How images turn: one matrix for each combination of planes, the first being 1.
    pub fn turns(&self) -> Vec<Mat3> {
        (0..1usize << self.mirrors.len()).map(|image| self.turn(image as u8)).collect()
    }

    fn turn(&self, image: u8) -> Mat3 {
        let chosen = self.mirrors.iter().enumerate().filter(|(bit, _)| image >> bit & 1 == 1);
        chosen.fold(Mat3::identity(), |r, (_, m)| {
            r * (Mat3::identity() - 2.0 * m.normal * m.normal.transpose())
        })
    }

    /// Where the image of a point lies.
    pub fn reflect(&self, x: &Vec3, image: u8) -> Vec3 {
        let chosen = self.mirrors.iter().enumerate().filter(|(bit, _)| image >> bit & 1 == 1);
        chosen.fold(*x, |x, (_, m)| x - 2.0 * (x - m.point).dot(&m.normal) * m.normal)
    }

    /// A vector on the surface, such as a displacement, from its terms.
    pub fn vector(&self, terms: &[Term], field: &[Vec3]) -> Vec3 {
        terms.iter().map(|t| t.weight * (self.turn(t.image) * field[t.node as usize])).sum()
    }

    /// A point of the surface from its terms.
    pub fn point(&self, terms: &[Term], positions: &[Vec3]) -> Vec3 {
        terms.iter().map(|t| t.weight * self.reflect(&positions[t.node as usize], t.image)).sum()
    }
}

/// Rows on labels that were worked out before, by valences and point.
pub type Known = HashMap<([usize; 3], usize), patch::Rows>;

/// An element of the surface.
pub struct Patch {
    /// Nodes and images; their weights mean nothing.
    pub stencil: Vec<Term>,
    /// By point: value, ∂v, ∂w, ∂vv, ∂ww, ∂vw over the stencil.
    pub rows: Vec<patch::Rows>,
    /// The rows are the box splines.
    pub regular: bool,
}

/// Labels of the control points 1 to 12 of a regular triangle: those of corners 4, 7, 8 are 0, 1, 2, then rings go on as
/// [`Labels`] has them.
const REGULAR_LABELS: [usize; 12] = [5, 4, 6, 0, 3, 7, 1, 2, 11, 8, 9, 10];

/// Why triangles are no surface.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceProblem {
    NoNode {
        triangle: usize,
    },
    NoArea {
        triangle: usize,
        at: Vec3,
    },
    /// Two triangles run through one edge in the same sense.
    Edge {
        triangle: usize,
        edge: [u32; 2],
        reversed: bool,
        same: bool,
    },
    /// Triangles that hang together at a vertex only.
    Bowtie {
        vertex: u32,
    },
    Valence {
        vertex: u32,
    },
    Mirrors,
}

impl fmt::Display for SurfaceProblem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SurfaceProblem::NoNode { triangle } => {
                write!(f, "triangle {triangle} has a node that does not exist")
            }
            SurfaceProblem::NoArea { triangle, at } => write!(
                f,
                "triangle {triangle} at ({:.4}, {:.4}, {:.4}) has no area; remove it or move its corners apart",
                at.x, at.y, at.z
            ),
            SurfaceProblem::Edge { triangle, edge: [a, b], same: true, .. } => {
                write!(f, "triangle {triangle} stands twice (edge {a}–{b}); remove one of the two")
            }
            SurfaceProblem::Edge { triangle, edge: [a, b], reversed: true, .. } => write!(
                f,
                "more than two triangles share the edge {a}–{b}, one of them {triangle}: a shell has one sheet; \
                 make the others bodies of their own"
            ),
            SurfaceProblem::Edge { triangle, edge: [a, b], .. } => write!(
                f,
                "triangle {triangle} and its neighbour at the edge {a}–{b} look to different sides; turn one of them \
                 (exchange two of its corners)"
            ),
            SurfaceProblem::Bowtie { vertex } => write!(
                f,
                "triangles meet at node {vertex} without a common edge; give each part a node of its own there"
            ),
            SurfaceProblem::Valence { vertex } => write!(
                f,
                "node {vertex} has two neighbours only; at least three are needed for a smooth surface"
            ),
            SurfaceProblem::Mirrors => {
                write!(f, "planes of symmetry must be at right angles to each other")
            }
        }
    }
}

impl std::error::Error for SurfaceProblem {}
