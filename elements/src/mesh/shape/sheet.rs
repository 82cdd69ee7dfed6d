//! Surfaces of triangles for shells.
//!
//! Control meshes want even spacing: a polyhedron whose faces are cut evenly and blown up to a sphere has kinks in the
//! spacing along its old edges, and with them errors of curvature that no refinement removes (a pinched hemisphere
//! locks). So round surfaces are refined by Loop's own rules, and blown up after each refinement.

use super::limits;
use crate::math::Vec3;
use crate::mesh::subdivision::{self, Outside};
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side};
use carom_declare::{Count, Positive, section, words};
use std::collections::HashMap;
use std::f64::consts::TAU;

words! {
    /// What a hollow sphere grows from.
    pub enum Base {
        /// Eight triangles; six vertices are irregular, of valence four.
        Octahedron = "octahedron",
        /// Two hexagonal pyramids, twelve triangles: the poles are regular, six vertices around have valence four.
        Bipyramid = "bipyramid",
    }
}

section! {
    /// A hollow sphere about its centre, for shells: 8·4ⁿ or 12·4ⁿ triangles.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HollowSphere: "hollow-sphere" {
        /// Radius [m].
        radius: f64 as Positive => "1.0";
        /// What it grows from.
        base: Base;
        /// How often that is refined, and blown up to the sphere again.
        refinements: u32 => "4";
    }
}

/// More would not fit any memory: 12·4¹⁴ triangles.
const MOST_REFINEMENTS: u32 = 14;

impl HollowSphere {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::length("sphere", "radius", self.radius)?;
        if self.refinements > MOST_REFINEMENTS {
            return limits::refuse(
                "sphere",
                "refinements",
                self.refinements,
                format!("at most {MOST_REFINEMENTS}"),
            );
        }
        let around = if self.base == Base::Octahedron { 4 } else { 6 };
        limits::ids("sphere", 1.0, (2 * around) as f64 * 4.0_f64.powi(self.refinements as i32))?;
        let mut nodes: Vec<Vec3> = (0..around)
            .map(|k| TAU * k as f64 / around as f64)
            .map(|angle| Vec3::new(angle.cos(), angle.sin(), 0.0))
            .collect();
        nodes.extend([Vec3::z(), -Vec3::z()]);
        let mut cells = Vec::new();
        for k in 0..around {
            let next = (k + 1) % around;
            cells.extend([k, next, around, next, k, around + 1]);
        }
        let mut mesh = sheet(nodes, cells);
        for _ in 0..self.refinements {
            mesh = subdivision::refine(&mesh, &Outside::default()).map_err(MeshError::Surface)?;
            mesh.nodes.iter_mut().for_each(|x| *x = x.normalize());
        }
        mesh.nodes.iter_mut().for_each(|x| *x *= self.radius);
        Ok(mesh)
    }
}

section! {
    /// A round sheet in the x-y plane about its centre in hexagonal rings, for shells: 6 n² triangles. Set: rim.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RoundSheet: "round-sheet" {
        /// Radius [m].
        radius: f64 as Positive => "1.0";
        /// Rings from the centre to the rim.
        rings: u32 as Count => "12";
    }
}

impl RoundSheet {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::length("disc", "radius", self.radius)?;
        limits::cells("disc", "rings", self.rings)?;
        let n = self.rings as f64;
        limits::ids("disc", 3.0 * n * (n + 1.0) + 1.0, 6.0 * n * n)?;
        // ring k has 6k vertices, evenly around
        let first = |k: u32| if k == 0 { 0 } else { 3 * k * (k - 1) + 1 };
        let at = |k: u32, i: u32| if k == 0 { 0 } else { first(k) + i % (6 * k) };
        let mut nodes = vec![Vec3::zeros()];
        for k in 1..=self.rings {
            for i in 0..6 * k {
                let angle = TAU * i as f64 / (6 * k) as f64;
                nodes.push(self.radius * k as f64 / n * Vec3::new(angle.cos(), angle.sin(), 0.0));
            }
        }
        let (mut cells, mut rim) = (Vec::new(), Vec::new());
        for k in 1..=self.rings {
            for sector in 0..6 {
                for i in 0..k {
                    let (outer, inner) = (sector * k + i, sector * (k - 1) + i);
                    if k == self.rings {
                        rim.push(Side { cells: 0, cell: (cells.len() / 3) as u32, side: 0 });
                    }
                    cells.extend([at(k, outer), at(k, outer + 1), at(k - 1, inner)]);
                    if i + 1 < k {
                        cells.extend([at(k - 1, inner), at(k, outer + 1), at(k - 1, inner + 1)]);
                    }
                }
            }
        }
        let mut mesh = sheet(nodes, cells);
        mesh.name_sides("rim", rim);
        Ok(mesh)
    }
}

section! {
    /// A tube about its centre along z, open at both ends, for shells: two triangles for each cell. Sets: zmin, zmax.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Tube: "tube" {
        /// Radius [m].
        radius: f64 as Positive => "1.0";
        /// Length [m].
        length: f64 as Positive => "2.0";
        /// Cells around, at least 3.
        around: u32 as Count => "32";
        /// Cells along its axis.
        along: u32 as Count => "16";
    }
}

impl Tube {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        limits::length("tube", "radius", self.radius)?;
        limits::length("tube", "length", self.length)?;
        limits::cells("tube", "along", self.along)?;
        if self.around < 3 {
            return limits::refuse("tube", "around", self.around, "at least 3");
        }
        let (n, m) = (self.around, self.along);
        limits::ids("tube", n as f64 * (m + 1) as f64, 2.0 * n as f64 * m as f64)?;
        let nodes = (0..=m)
            .flat_map(|j| (0..n).map(move |i| (i, j)))
            .map(|(i, j)| {
                let angle = TAU * i as f64 / n as f64;
                let z = self.length * (j as f64 / m as f64 - 0.5);
                Vec3::new(self.radius * angle.cos(), self.radius * angle.sin(), z)
            })
            .collect();
        let at = |i: u32, j: u32| j * n + i % n;
        let (mut cells, mut ends) = (Vec::new(), [Vec::new(), Vec::new()]);
        for j in 0..m {
            for i in 0..n {
                let cell = (cells.len() / 3) as u32;
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                cells.extend([a, b, d, b, c, d]);
                if j == 0 {
                    ends[0].push(Side { cells: 0, cell, side: 0 });
                }
                if j + 1 == m {
                    ends[1].push(Side { cells: 0, cell: cell + 1, side: 1 });
                }
            }
        }
        let mut mesh = sheet(nodes, cells);
        let [low, high] = ends;
        mesh.name_sides("zmin", low);
        mesh.name_sides("zmax", high);
        Ok(mesh)
    }
}

section! {
    /// The six faces of a box from its lower corner, for shells: each rectangle is cut along one diagonal.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HollowBox: "hollow-box" {
        /// Edge lengths [m].
        size: [f64; 3] as [Positive; 3] => "[1.0, 1.0, 1.0]";
        /// Rectangles per axis.
        cells: [u32; 3] as [Count; 3] => "[4, 4, 4]";
    }
}

impl HollowBox {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        for (k, axis) in ["x", "y", "z"].iter().enumerate() {
            limits::length("box", &format!("size.{axis}"), self.size[k])?;
            limits::cells("box", &format!("cells.{axis}"), self.cells[k])?;
        }
        let n = self.cells.map(|n| n as f64);
        let squares = 2.0 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]);
        limits::ids("box", squares + 2.0, 2.0 * squares)?;
        let mut ids: HashMap<[u32; 3], u32> = HashMap::new();
        let (mut nodes, mut cells) = (Vec::new(), Vec::new());
        let mut id = |at: [u32; 3]| {
            *ids.entry(at).or_insert_with(|| {
                nodes.push(Vec3::from_fn(|k, _| self.size[k] * at[k] as f64 / n[k]));
                nodes.len() as u32 - 1
            })
        };
        for axis in 0..3 {
            // u × v = axis, so that faces look outwards
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for end in [0, self.cells[axis]] {
                for (i, j) in (0..self.cells[v]).flat_map(|j| (0..self.cells[u]).map(move |i| (i, j))) {
                    let mut corner = |di: u32, dj: u32| {
                        let mut at = [end; 3];
                        (at[u], at[v]) = (i + di, j + dj);
                        id(at)
                    };
                    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    if end == 0 {
                        cells.extend([a, d, b, b, d, c]);
                    } else {
                        cells.extend([a, b, d, b, c, d]);
                    }
                }
            }
        }
        Ok(sheet(nodes, cells))
    }
}

fn sheet(nodes: Vec<Vec3>, cells: Vec<u32>) -> Mesh {
    Mesh { nodes, cells: vec![Cells { kind: CellKind::Tri3, nodes: cells }], ..Mesh::default() }
}
