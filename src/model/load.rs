//! Loads: forces on nodes and sides, each with a factor in time.

use super::Table;
use super::smooth::SmoothSides;
use crate::math::Vec3;
use std::sync::{Arc, Mutex, PoisonError};

/// One load.
#[derive(Clone, Debug)]
pub struct Load {
    pub kind: LoadKind,
    pub table: Table,
}

#[derive(Clone, Debug)]
pub enum LoadKind {
    /// The same force [N] on each node.
    Nodal { nodes: Vec<u32>, share: Vec3 },
    /// Forces [N] that do not follow the motion.
    Dead { nodes: Vec<u32>, forces: Vec<Vec3> },
    /// Pressure [Pa] on sides as they are now; `section` is the thickness or area that a side stands for.
    Pressure { facets: Vec<LoadFacet>, pressure: f64, section: f64 },
    /// Pressure [Pa] on the smooth surface of shells as it is now.
    SmoothPressure { sides: SmoothSides, pressure: f64 },
    /// What somebody's function says.
    Own(OwnLoad),
}

/// A function of time and positions that says the force on every node [N], asked once for every instant: what it says the first
/// time a step asks for its end holds for all iterations of the step.
#[derive(Clone)]
pub struct OwnLoad(Arc<Mutex<Asked>>);

struct Asked {
    function: Box<OwnForces>,
    /// Instant of the last answer [s], and the answer [N].
    time: f64,
    forces: Vec<Vec3>,
}

/// Adds forces [N], which come as zeros, at a time [s] and positions [m].
pub type OwnForces = dyn FnMut(f64, &[Vec3], &mut [Vec3]) + Send;

impl OwnLoad {
    pub fn new(function: Box<OwnForces>) -> OwnLoad {
        OwnLoad(Arc::new(Mutex::new(Asked { function, time: f64::NAN, forces: Vec::new() })))
    }

    fn forces(&self, time: f64, x: &[Vec3], mut visit: impl FnMut(u32, Vec3)) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Asked { function, time: last, forces } = &mut *asked;
        if *last != time || forces.len() != x.len() {
            forces.clear();
            forces.resize(x.len(), Vec3::zeros());
            function(time, x, forces);
            *last = time;
        }
        (0..).zip(&*forces).for_each(|(n, f)| visit(n, *f));
    }
}

impl std::fmt::Debug for OwnLoad {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("OwnLoad")
    }
}

/// A side under load: model-wide node ids in outward orientation.
#[derive(Clone, Copy, Debug)]
pub struct LoadFacet {
    nodes: [u32; 6],
    count: u8,
    /// Which way along x is out of the end of a bar, −1 or 1; no other side needs to be told.
    end: f64,
}

impl LoadFacet {
    pub fn new(nodes: &[u32], end: f64) -> Self {
        let mut facet = LoadFacet { nodes: [0; 6], count: nodes.len() as u8, end };
        facet.nodes[..nodes.len()].copy_from_slice(nodes);
        facet
    }

    pub fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }
}

/// 1/√3.
const G: f64 = 0.577_350_269_189_625_8;

/// Hands `(local node, ∫ Nₐ n dA)` of a facet with corners `x` to `visit`: outward area vectors [m²], section aside.
/// A point (the end of a bar) has no normal of its own, `end` says which way along x is out.
pub(super) fn area_vectors(x: &[Vec3], end: f64, mut visit: impl FnMut(usize, Vec3)) {
    match *x {
        [_] => visit(0, Vec3::new(end, 0.0, 0.0)),
        [a, b] => {
            let normal = Vec3::new(b.y - a.y, a.x - b.x, 0.0);
            visit(0, 0.5 * normal);
            visit(1, 0.5 * normal);
        }
        [a, b, c] => {
            let third = (b - a).cross(&(c - a)) / 6.0;
            (0..3).for_each(|k| visit(k, third));
        }
        [a, b, c, d] => {
            for (xi, eta) in [(-G, -G), (G, -G), (G, G), (-G, G)] {
                let along_xi = 0.25 * ((1.0 - eta) * (b - a) + (1.0 + eta) * (c - d));
                let along_eta = 0.25 * ((1.0 - xi) * (d - a) + (1.0 + xi) * (c - b));
                let normal = along_xi.cross(&along_eta);
                for (k, (s, t)) in
                    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].into_iter().enumerate()
                {
                    visit(k, 0.25 * (1.0 + s * xi) * (1.0 + t * eta) * normal);
                }
            }
        }
        [_, _, _, _, _, _] => {
            for (n, along) in quadratic_points() {
                let [a, b] = along.map(|along| x.iter().zip(along).map(|(x, d)| d * x).sum::<Vec3>());
                let normal = a.cross(&b);
                n.iter().enumerate().for_each(|(k, n)| visit(k, *n * normal));
            }
        }
        _ => {}
    }
}

/// Nₐ, times the weight, and ∂Nₐ/∂ξ, ∂Nₐ/∂η of a quadratic triangle at the six points of degree four (Strang & Fix 1973):
/// exact for `∫ Nₐ n dA`. Nodes run around it: corner, middle, corner …
fn quadratic_points() -> impl Iterator<Item = ([f64; 6], [[f64; 6]; 2])> {
    const POINTS: [(f64, f64); 2] = [
        (0.445_948_490_915_965, 0.111_690_794_839_005_7),
        (0.091_576_213_509_770_74, 0.054_975_871_827_660_94),
    ];
    POINTS.into_iter().flat_map(|(a, weight)| {
        [[a, a], [1.0 - 2.0 * a, a], [a, 1.0 - 2.0 * a]].map(|[xi, eta]| {
            let l = [1.0 - xi - eta, xi, eta];
            let slope = [[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]];
            let mut n = [0.0; 6];
            let mut along = [[0.0; 6]; 2];
            for c in 0..3 {
                let b = (c + 1) % 3;
                n[2 * c] = weight * l[c] * (2.0 * l[c] - 1.0);
                n[2 * c + 1] = weight * 4.0 * l[c] * l[b];
                for (along, slope) in along.iter_mut().zip(&slope) {
                    along[2 * c] = (4.0 * l[c] - 1.0) * slope[c];
                    along[2 * c + 1] = 4.0 * (l[c] * slope[b] + l[b] * slope[c]);
                }
            }
            (n, along)
        })
    })
}

/// `∫ Nₐ dA` of each node of a facet with corners `x` [m²], section included.
pub fn area_shares(x: &[Vec3], section: f64) -> Vec<f64> {
    match *x {
        [_] => vec![section],
        [a, b] => vec![0.5 * (b - a).norm() * section; 2],
        [a, b, c] => vec![(b - a).cross(&(c - a)).norm() / 6.0; 3],
        [_, _, _, _, _, _] => {
            let mut shares = vec![0.0; 6];
            for (n, along) in quadratic_points() {
                let [a, b] = along.map(|along| x.iter().zip(along).map(|(x, d)| d * x).sum::<Vec3>());
                let area = a.cross(&b).norm();
                shares.iter_mut().zip(n).for_each(|(share, n)| *share += n * area);
            }
            shares
        }
        _ => {
            // per Gauss point the area is the length of the area vector, not its projection
            let mut shares = vec![0.0; 4];
            let (a, b, c, d) = (x[0], x[1], x[2], x[3]);
            for (xi, eta) in [(-G, -G), (G, -G), (G, G), (-G, G)] {
                let along_xi = 0.25 * ((1.0 - eta) * (b - a) + (1.0 + eta) * (c - d));
                let along_eta = 0.25 * ((1.0 - xi) * (d - a) + (1.0 + xi) * (c - b));
                let area = along_xi.cross(&along_eta).norm();
                for (share, (s, t)) in
                    shares.iter_mut().zip([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
                {
                    *share += 0.25 * (1.0 + s * xi) * (1.0 + t * eta) * area;
                }
            }
            shares
        }
    }
}

impl Load {
    /// Hands the force [N] on each loaded node at `time` to `visit`, in a fixed order; a node may come more than once.
    pub fn forces(&self, time: f64, x: &[Vec3], mut visit: impl FnMut(u32, Vec3)) {
        if let LoadKind::Own(own) = &self.kind {
            return own.forces(time, x, visit);
        }
        let factor = self.table.at(time);
        match &self.kind {
            LoadKind::Nodal { nodes, share } => nodes.iter().for_each(|&n| visit(n, share * factor)),
            LoadKind::Dead { nodes, forces } => {
                nodes.iter().zip(forces).for_each(|(&n, f)| visit(n, f * factor));
            }
            LoadKind::Pressure { facets, pressure, section } => {
                let push = -factor * pressure * section;
                for facet in facets {
                    let mut corners = [Vec3::zeros(); 6];
                    let nodes = facet.nodes();
                    for (to, &n) in corners.iter_mut().zip(nodes) {
                        *to = x[n as usize];
                    }
                    area_vectors(&corners[..nodes.len()], facet.end, |k, area| visit(nodes[k], push * area));
                }
            }
            LoadKind::SmoothPressure { sides, pressure } => sides.area_vectors(-factor * pressure, x, visit),
            LoadKind::Own(_) => {}
        }
    }

    /// The nodes it acts on, of a model with `count` nodes.
    pub fn nodes(&self, count: usize) -> Vec<u32> {
        match &self.kind {
            LoadKind::Own(_) => (0..count as u32).collect(),
            LoadKind::Nodal { nodes, .. } | LoadKind::Dead { nodes, .. } => nodes.clone(),
            LoadKind::Pressure { facets, .. } => facets.iter().flat_map(|f| f.nodes()).copied().collect(),
            LoadKind::SmoothPressure { sides, .. } => sides.nodes().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a closed surface the pressure forces cancel, whatever its shape, and do the work p dV: their virtual
    /// work in a uniform expansion `x → (1+ε)x` is `−p 3 V ε`.
    #[test]
    fn pressure_on_a_warped_closed_hexahedron_is_in_balance_and_works_on_the_volume() {
        use crate::mesh::CellKind;
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let corners =
            [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)];
        let x: Vec<Vec3> = corners
            .iter()
            .map(|&(i, j, k)| {
                Vec3::new(i as f64, j as f64, k as f64) + 0.4 * Vec3::new(random(), random(), random())
            })
            .collect();
        let facets = CellKind::Hex8
            .sides()
            .iter()
            .map(|s| LoadFacet::new(&s.iter().map(|&k| k as u32).collect::<Vec<_>>(), 0.0))
            .collect();
        let kind = LoadKind::Pressure { facets, pressure: 3.0, section: 1.0 };
        let load = Load { kind, table: Table::default() };
        let (mut sum, mut moment, mut work) = (Vec3::zeros(), Vec3::zeros(), 0.0);
        load.forces(0.0, &x, |n, f| {
            sum += f;
            moment += x[n as usize].cross(&f);
            work += f.dot(&x[n as usize]);
        });
        assert!(sum.norm() < 1e-14 && moment.norm() < 1e-14);
        // 2×2×2 Gauss points integrate the volume of a trilinear hexahedron exactly
        let mut volume = 0.0;
        for q in 0..8 {
            let xi = [0, 1, 2].map(|j| if (q >> j) & 1 == 1 { G } else { -G });
            let mut jacobian = crate::math::Mat3::zeros();
            for (p, &(i, j, k)) in x.iter().zip(&corners) {
                let s = [i, j, k].map(|b| 2.0 * b as f64 - 1.0);
                let f = |a: usize| 1.0 + s[a] * xi[a];
                let d = 0.125 * Vec3::new(s[0] * f(1) * f(2), s[1] * f(0) * f(2), s[2] * f(0) * f(1));
                jacobian += p * d.transpose();
            }
            volume += jacobian.determinant();
        }
        assert!((work + 3.0 * 3.0 * volume).abs() < 1e-13);
    }

    /// The same for a tetrahedron whose six-noded sides are bent; with flat sides constant pressure is carried by the middles alone,
    /// p A/3 each (∫N is zero at corners).
    #[test]
    fn pressure_on_quadratic_sides_is_in_balance_and_works_on_the_volume() {
        use crate::mesh::{CellKind, shape_functions};
        let flat: Vec<Vec3> = (0..10).map(|a| shape_functions::corner(CellKind::Tet10, a)).collect();
        let bend = |k: usize| {
            0.06 * Vec3::new((1.3 * k as f64).sin(), (2.1 * k as f64).cos(), (0.7 * k as f64).sin())
        };
        let bent: Vec<Vec3> = flat.iter().enumerate().map(|(k, x)| x + bend(k)).collect();
        let side = |s: &&[u8]| LoadFacet::new(&s.iter().map(|&k| u32::from(k)).collect::<Vec<_>>(), 0.0);
        let facets: Vec<LoadFacet> = CellKind::Tet10.sides().iter().map(side).collect();
        let kind = LoadKind::Pressure { facets: facets.clone(), pressure: 3.0, section: 1.0 };
        let load = Load { kind, table: Table::default() };
        let (mut sum, mut moment, mut work) = (Vec3::zeros(), Vec3::zeros(), 0.0);
        load.forces(0.0, &bent, |n, f| {
            sum += f;
            moment += bent[n as usize].cross(&f);
            work += f.dot(&bent[n as usize]);
        });
        assert!(sum.norm() < 1e-13 && moment.norm() < 1e-13, "{sum} {moment}");
        assert!((work + 9.0 * shape_functions::measure(CellKind::Tet10, &bent)).abs() < 1e-13);
        // the side x + y + z = 1 has the area √3/2
        let side: Vec<Vec3> = facets[2].nodes().iter().map(|&n| flat[n as usize]).collect();
        let shares = area_shares(&side, 1.0);
        for (k, share) in shares.into_iter().enumerate() {
            let exact = if k % 2 == 0 { 0.0 } else { 3f64.sqrt() / 6.0 };
            // the points are known to 16 digits
            assert!((share - exact).abs() < 1e-14, "{k}: {share}");
        }
    }
}
