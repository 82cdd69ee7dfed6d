//! Pressure and traction on shells: they act on the smooth surface, not on the triangles that control it.
//!
//! A triangle of the surface is loaded as the quadratic one through six of its points, the corners and the middles of its edges.
//! Neighbours share edges, so what is closed stays closed: pressure on it adds up to no force and no moment, and its work is pressure
//! times what the volume loses, to round-off. Areas are those of the surface to fourth order in the size of triangles. With `W` the rows of
//! the six points, `y = W x` and `f = Wᵀ F`: virtual work is the same on both sides.

use super::load::{area_shares, area_vectors};
use crate::math::{Mat3, Vec3};
use crate::mesh::Side;
use crate::mesh::subdivision::{Known, Subdivision};

/// Corners and middles of a triangle, around it: (v, w).
const AROUND: [[f64; 2]; 6] = [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.0, 0.5]];

/// Triangles of a shell's smooth surface.
#[derive(Clone, Debug)]
pub struct SmoothSides {
    /// Members of triangle t: `members[start[t]..start[t + 1]]`.
    start: Vec<u32>,
    /// Nodes (model-wide) that it hangs on, and which image of each in planes of symmetry.
    members: Vec<(u32, u8)>,
    /// What a member counts at the six points.
    weights: Vec<[f64; 6]>,
    /// An image of x is at `turn x + shift`.
    images: Vec<(Mat3, Vec3)>,
}

impl SmoothSides {
    /// Some triangles of a surface whose first node has the id `first`.
    pub fn new(surface: &Subdivision, first: usize, sides: &[Side]) -> SmoothSides {
        let turns = surface.turns().into_iter().enumerate();
        let images = turns.map(|(i, turn)| (turn, surface.reflect(&Vec3::zeros(), i as u8))).collect();
        let mut out = SmoothSides { start: vec![0], members: Vec::new(), weights: Vec::new(), images };
        let mut known = Known::new();
        for side in sides {
            let patch = surface.rows(side.cell as usize, &AROUND, &mut known);
            for (k, term) in patch.stencil.iter().enumerate() {
                let weights: [f64; 6] = std::array::from_fn(|a| patch.rows[a][0][k]);
                if weights != [0.0; 6] {
                    out.members.push((term.node + first as u32, term.image));
                    out.weights.push(weights);
                }
            }
            out.start.push(out.members.len() as u32);
        }
        out
    }

    pub fn nodes(&self) -> impl Iterator<Item = u32> {
        self.members.iter().map(|m| m.0)
    }

    fn triangles(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.start.windows(2).map(|s| s[0] as usize..s[1] as usize)
    }

    /// The six points of a triangle.
    fn points(&self, members: std::ops::Range<usize>, x: &[Vec3]) -> [Vec3; 6] {
        let mut points = [Vec3::zeros(); 6];
        for (&(node, image), weights) in self.members[members.clone()].iter().zip(&self.weights[members]) {
            let at = match image {
                0 => x[node as usize],
                i => self.images[i as usize].0 * x[node as usize] + self.images[i as usize].1,
            };
            points.iter_mut().zip(weights).for_each(|(p, w)| *p += *w * at);
        }
        points
    }

    /// Hands what forces on the six points are on the nodes to `visit`.
    fn share(&self, members: std::ops::Range<usize>, forces: &[Vec3; 6], mut visit: impl FnMut(u32, Vec3)) {
        for (&(node, image), weights) in self.members[members.clone()].iter().zip(&self.weights[members]) {
            let force: Vec3 = forces.iter().zip(weights).map(|(f, w)| *w * f).sum();
            visit(node, if image == 0 { force } else { self.images[image as usize].0.transpose() * force });
        }
    }

    /// Hands `∫ N n dA` of the surface as it is now, times `factor`, to `visit`.
    pub fn area_vectors(&self, factor: f64, x: &[Vec3], mut visit: impl FnMut(u32, Vec3)) {
        for members in self.triangles() {
            let mut forces = [Vec3::zeros(); 6];
            area_vectors(&self.points(members.clone(), x), 0.0, |a, area| forces[a] += factor * area);
            self.share(members, &forces, &mut visit);
        }
    }

    /// Hands `∫ N dA` of the reference shape, times a force per area, to `visit`.
    pub fn area_shares(&self, traction: Vec3, reference: &[Vec3], mut visit: impl FnMut(u32, Vec3)) {
        for members in self.triangles() {
            let shares = area_shares(&self.points(members.clone(), reference), 1.0);
            let forces: [Vec3; 6] = std::array::from_fn(|a| shares[a] * traction);
            self.share(members, &forces, &mut visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::mesh::shape::{Base, HollowSphere, Rectangle};
    use crate::mesh::subdivision::{Edges, Outside, shell};

    fn sphere(refinements: u32) -> (Mesh, SmoothSides) {
        let mesh = HollowSphere { radius: 2.0, base: Base::Octahedron, refinements }.build().unwrap();
        let (mesh, surface) = shell(&mesh, 0, true, &Outside::default(), Edges::Dependent).unwrap();
        let sides = SmoothSides::new(&surface, 0, &mesh.side_sets["surface"]);
        (mesh, sides)
    }

    fn forces(sides: &SmoothSides, x: &[Vec3]) -> Vec<Vec3> {
        let mut out = vec![Vec3::zeros(); x.len()];
        sides.area_vectors(1.0, x, |n, f| out[n as usize] += f);
        out
    }

    /// A volume is of third degree in the positions, and forces of pressure 1 are its slopes: V = f·x/3.
    fn volume(sides: &SmoothSides, x: &[Vec3]) -> f64 {
        forces(sides, x).iter().zip(x).map(|(f, x)| f.dot(x) / 3.0).sum()
    }

    fn bend(k: usize) -> Vec3 {
        let k = k as f64;
        0.1 * Vec3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin())
    }

    #[test]
    fn pressure_on_a_closed_shell_is_in_balance_and_works_on_the_volume() {
        let (mesh, sides) = sphere(2);
        let bent: Vec<Vec3> = mesh.nodes.iter().enumerate().map(|(k, x)| x + bend(k)).collect();
        let f = forces(&sides, &bent);
        let (sum, size) = (f.iter().sum::<Vec3>(), f.iter().map(Vec3::norm).sum::<f64>());
        let moment: Vec3 = f.iter().zip(&bent).map(|(f, x)| x.cross(f)).sum();
        assert!(sum.norm() < 1e-14 * size && moment.norm() < 1e-14 * size, "{sum} {moment} of {size}");
        let way: Vec<Vec3> = (0..bent.len()).map(|k| bend(3 * k + 1)).collect();
        let moved = |s: f64| bent.iter().zip(&way).map(|(x, d)| x + s * d).collect::<Vec<_>>();
        // of third degree: the central difference is off by s² times the third derivative alone
        let s = 1e-4;
        let gained = (volume(&sides, &moved(s)) - volume(&sides, &moved(-s))) / (2.0 * s);
        let work: f64 = f.iter().zip(&way).map(|(f, d)| f.dot(d)).sum();
        assert!((gained - work).abs() < 1e-9 * size, "{gained} {work}");
    }

    /// 4/3 π R³ and, with a traction along the outward normal in every triangle, 4πR²; both to fourth order but for the six vertices
    /// of valence four.
    #[test]
    fn a_fitted_sphere_has_the_volume_of_a_sphere() {
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 8.0;
        let off = [2, 3, 4].map(|n| {
            let (mesh, sides) = sphere(n);
            (volume(&sides, &mesh.nodes) / exact - 1.0).abs()
        });
        assert!(off[2] < 1e-5 && off[2] < off[1] / 8.0 && off[1] < off[0] / 8.0, "{off:?}");
    }

    /// Whatever stands beyond its edges, a plate of 3 by 2 carries 6 times the traction.
    #[test]
    fn traction_on_a_plate_acts_on_its_area() {
        let nobody = |mesh: &Mesh| vec![false; mesh.nodes.len()];
        for free in [false, true] {
            let edges = if free { Edges::Independent { held: &nobody } } else { Edges::Dependent };
            let mesh = Rectangle::new([3.0, 2.0], [5, 4]).build().unwrap();
            let (mesh, surface) = shell(&mesh, 0, true, &Outside::default(), edges).unwrap();
            let sides = SmoothSides::new(&surface, 0, &mesh.side_sets["surface"]);
            let traction = Vec3::new(1.0, -2.0, 5.0);
            let (mut sum, mut moment) = (Vec3::zeros(), Vec3::zeros());
            sides.area_shares(traction, &mesh.nodes, |n, f| {
                sum += f;
                moment += mesh.nodes[n as usize].cross(&f);
            });
            let middle = Vec3::new(1.5, 1.0, 0.0);
            assert!((sum - 6.0 * traction).norm() < 1e-13, "{free} {sum}");
            assert!((moment - middle.cross(&(6.0 * traction))).norm() < 1e-12, "{free} {moment}");
            let mut pressed = Vec3::zeros();
            sides.area_vectors(1.0, &mesh.nodes, |_, f| pressed += f);
            assert!((pressed - Vec3::new(0.0, 0.0, 6.0)).norm() < 1e-13, "{free} {pressed}");
        }
    }
}
