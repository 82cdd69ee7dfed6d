//! Independent ghosts: beyond free edges stand nodes of their own, so that the surface may bend there as it likes.
//!
//! Ghosts that hang on the nodes inside ([`super::ghosts`]) leave no curvature across an edge. That is right for a flat plate, and
//! for the edge of a shell that was curved from the start a layer as wide as a triangle is wrong. Here ghosts are as many and stand
//! in the same triangles, with three displacements each. In the reference shape they go on with the surface: with weights w that would
//! make a dependent ghost, the base x of the edge and its second fundamental form q, fitted to the nodes around,
//!
//! ```text
//! g = Σ wₖ xₖ + (q(g′) − Σ wₖ q(xₖ′)) n        x′ = x along the tangent plane, g′ = Σ wₖ xₖ′
//! ```
//!
//! which is right for every surface of second degree. Where an edge ends in a plane of symmetry a ghost stands in the plane.
//! Edges whose nodes are held keep dependent ghosts: their curve hangs on the held nodes alone.

use super::{Mirror, Subdivision};
use crate::math::Vec3;
use nalgebra::{DMatrix, DVector};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Share of the largest singular value below which nodes do not tell a curvature, as those of a single row.
const UNTOLD: f64 = 1e-6;

/// A ghost that is a node of its own.
#[derive(Clone, Debug)]
struct FreeGhost {
    /// Nodes and weights of the dependent ghost in its place.
    on: Vec<(u32, f64)>,
    /// Nodes of the edge, or its vertex.
    base: Vec<u32>,
    /// The plane of symmetry it stands in.
    plane: Option<usize>,
    /// Nodes around the base.
    around: Vec<u32>,
}

/// What stands beyond the free edges of a surface.
#[derive(Clone, Debug)]
pub struct FreeEdges {
    /// Nodes before the ghosts.
    nodes: usize,
    ghosts: Vec<FreeGhost>,
    triangles: Vec<[u32; 3]>,
    mirrors: Vec<Mirror>,
}

impl FreeEdges {
    /// Of a surface with dependent ghosts; an edge whose nodes are both `held` is none.
    pub fn new(surface: &Subdivision, held: &[bool]) -> FreeEdges {
        let mut edges = surface.free_rim();
        edges.retain(|e| !e.iter().all(|&n| held[n as usize]));
        let mut free = FreeEdges {
            nodes: surface.nodes(),
            ghosts: Vec::new(),
            triangles: Vec::new(),
            mirrors: surface.mirrors.clone(),
        };
        let mesh = Elements::new(surface);
        let mut beyond = BTreeMap::new();
        for &[a, b] in &edges {
            let on = [(a, 1.0), (b, 1.0), (mesh.opposite[&(a, b)], -1.0)];
            let ghost = free.add(&on, &[a, b], &mesh);
            beyond.insert([a, b], ghost);
            free.triangles.push([b, a, ghost]);
        }
        let ends: BTreeSet<u32> = edges.iter().flatten().copied().collect();
        for b in ends {
            let fan = mesh.fan(b);
            let (d, a) = (fan[0], fan[fan.len() - 1]);
            match (beyond.get(&[a, b]).copied(), beyond.get(&[b, d]).copied()) {
                (Some(before), Some(after)) => free.fill(b, &fan, before, after, &mesh),
                (Some(ghost), None) => free.end_in_plane(b, d, ghost, &fan, surface, &mesh),
                (None, Some(ghost)) => free.end_in_plane(b, a, ghost, &fan, surface, &mesh),
                (None, None) => {}
            }
        }
        free
    }

    /// How many ghosts there are; they follow the nodes of the surface.
    pub fn len(&self) -> usize {
        self.ghosts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ghosts.is_empty()
    }

    /// Triangles that ghosts are corners of.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn add(&mut self, on: &[(u32, f64)], base: &[u32], mesh: &Elements) -> u32 {
        let around = mesh.around(base);
        self.ghosts.push(FreeGhost { on: on.to_vec(), base: base.to_vec(), plane: None, around });
        (self.nodes + self.ghosts.len() - 1) as u32
    }

    /// The wedge at a vertex between the ghosts of its two edges, as of dependent ones.
    fn fill(&mut self, b: u32, fan: &[u32], before: u32, after: u32, mesh: &Elements) {
        let across: &[u32] = match fan.len() - 1 {
            1 => fan,
            2 => &fan[1..2],
            _ => &[],
        };
        let mut chain = vec![before];
        chain.extend(across.iter().map(|&n| self.add(&[(b, 2.0), (n, -1.0)], &[b], mesh)));
        chain.push(after);
        self.triangles.extend(chain.windows(2).map(|pair| [b, pair[0], pair[1]]));
    }

    /// At vertex `b` the free edge of `ghost` meets the edge to `inner`; if that lies in a plane of symmetry the ring is closed
    /// there: by the ghost itself, or at a corner of one triangle by another one.
    fn end_in_plane(
        &mut self,
        b: u32,
        inner: u32,
        ghost: u32,
        fan: &[u32],
        surface: &Subdivision,
        mesh: &Elements,
    ) {
        let both = surface.in_planes[b as usize] & surface.in_planes[inner as usize];
        if both == 0 {
            return;
        }
        let plane = Some(both.trailing_zeros() as usize);
        if fan.len() > 2 {
            self.ghosts[ghost as usize - self.nodes].plane = plane;
            return;
        }
        let extra = self.add(&[(b, 2.0), (inner, -1.0)], &[b], mesh);
        self.ghosts[extra as usize - self.nodes].plane = plane;
        // the edge runs into `b` where the inner one is the outgoing
        let runs_in = inner == fan[0];
        self.triangles.push(if runs_in { [b, ghost, extra] } else { [b, extra, ghost] });
    }

    /// Puts the ghosts, which follow the others, where the surface of the other positions goes on.
    pub fn place(&self, positions: &mut [Vec3]) {
        let (inside, ghosts) = positions.split_at_mut(self.nodes);
        for (to, ghost) in ghosts.iter_mut().zip(&self.ghosts) {
            *to = self.extended(ghost, inside);
        }
    }

    fn extended(&self, ghost: &FreeGhost, x: &[Vec3]) -> Vec3 {
        let at = |n: u32| x[n as usize];
        let base = ghost.base.iter().map(|&n| at(n)).sum::<Vec3>() / ghost.base.len() as f64;
        let mut points: Vec<Vec3> = ghost.around.iter().map(|&n| at(n) - base).collect();
        let mirror = ghost.plane.map(|p| self.mirrors[p]);
        if let Some(m) = mirror {
            let images: Vec<Vec3> = points.iter().map(|x| x - 2.0 * x.dot(&m.normal) * m.normal).collect();
            points.extend(images);
        }
        let flat: Vec3 = ghost.on.iter().map(|&(n, w)| w * (at(n) - base)).sum();
        let mut normal = plane_normal(&points);
        // once more across the slope that was found at the base
        for _ in 0..2 {
            let Some(form) = Curvature::fitted(&points, normal) else { break };
            normal = form.normal();
        }
        let rise = Curvature::fitted(&points, normal).map_or(0.0, |form| {
            let hanging: f64 = ghost.on.iter().map(|&(n, w)| w * form.rise(&(at(n) - base))).sum();
            form.rise(&flat) - hanging
        });
        let place = base + flat + rise * normal;
        match mirror {
            Some(m) => place - m.distance(&place) * m.normal,
            None => place,
        }
    }
}

/// The direction in which points spread least.
fn plane_normal(points: &[Vec3]) -> Vec3 {
    let mean = points.iter().sum::<Vec3>() / points.len() as f64;
    let spread: crate::math::Mat3 = points.iter().map(|x| (x - mean) * (x - mean).transpose()).sum();
    let eigen = spread.symmetric_eigen();
    eigen.eigenvectors.column(eigen.eigenvalues.imin()).into_owned()
}

/// Height over a plane through the base: a slope and a form of second degree.
struct Curvature {
    axes: [Vec3; 3],
    /// Of s, t, s², st, t².
    terms: [f64; 5],
}

impl Curvature {
    /// Least squares, the nearer the heavier; what the points do not tell is zero.
    fn fitted(points: &[Vec3], normal: Vec3) -> Option<Curvature> {
        let side = if normal.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
        let first = normal.cross(&side).normalize();
        let axes = [first, normal.cross(&first), normal];
        let size = points.iter().fold(0.0_f64, |m, x| m.max(x.norm()));
        if size.is_nan() || size <= 0.0 {
            return None;
        }
        let weight = |x: &Vec3| 1.0 / (0.1 + (x.norm() / size).powi(2));
        let rows = DMatrix::from_fn(points.len(), 6, |k, j| {
            let [s, t] = [0, 1].map(|i| points[k].dot(&axes[i]) / size);
            weight(&points[k]) * [1.0, s, t, s * s, s * t, t * t][j]
        });
        let heights =
            DVector::from_fn(points.len(), |k, _| weight(&points[k]) * points[k].dot(&normal) / size);
        let svd = rows.svd(true, true);
        let found = svd.solve(&heights, UNTOLD * svd.singular_values.max()).ok()?;
        let terms = [found[1], found[2], found[3] / size, found[4] / size, found[5] / size];
        Some(Curvature { axes, terms })
    }

    /// Across the slope at the base.
    fn normal(&self) -> Vec3 {
        (self.axes[2] - self.terms[0] * self.axes[0] - self.terms[1] * self.axes[1]).normalize()
    }

    /// The form of second degree [m].
    fn rise(&self, x: &Vec3) -> f64 {
        let [s, t] = [0, 1].map(|i| x.dot(&self.axes[i]));
        self.terms[2] * s * s + self.terms[3] * s * t + self.terms[4] * t * t
    }
}

/// Who stands around whom among the elements alone.
struct Elements {
    opposite: HashMap<(u32, u32), u32>,
    neighbours: Vec<Vec<u32>>,
    /// The next vertex along the boundary.
    next: HashMap<u32, u32>,
}

impl Elements {
    fn new(surface: &Subdivision) -> Elements {
        let mut opposite = HashMap::new();
        let mut neighbours = vec![Vec::new(); surface.nodes()];
        for &[a, b, c] in surface.elements() {
            for (from, to, third) in [(a, b, c), (b, c, a), (c, a, b)] {
                opposite.insert((from, to), third);
                neighbours[from as usize].extend([to, third]);
            }
        }
        let next = surface.rim().into_iter().map(|[a, b]| (a, b)).collect();
        Elements { opposite, neighbours, next }
    }

    /// Neighbours of a boundary vertex, counter-clockwise from the end of its outgoing boundary edge.
    fn fan(&self, b: u32) -> Vec<u32> {
        let mut fan = vec![self.next[&b]];
        while let Some(&next) = self.opposite.get(&(b, fan[fan.len() - 1])) {
            fan.push(next);
        }
        fan
    }

    /// The vertices within two edges of the base, and itself.
    fn around(&self, base: &[u32]) -> Vec<u32> {
        let mut all: BTreeSet<u32> = base.iter().copied().collect();
        for _ in 0..2 {
            let more: Vec<u32> = all.iter().flat_map(|&n| &self.neighbours[n as usize]).copied().collect();
            all.extend(more);
        }
        all.into_iter().collect()
    }
}
