//! A polyhedron.

use super::limits;
use super::polygon::MOST_REFINEMENTS;
use crate::math::Vec3;
use crate::mesh::convex::Convex;
use crate::mesh::{Mesh, MeshError};
use carom_declare::section;

section! {
    /// A polyhedron of tetrahedra from its centroid, from where all of its faces must be seen. Sets: face-1, face-2, ….
    #[derive(Clone, Debug, PartialEq)]
    pub struct Polyhedron: "polyhedron" {
        /// Its corners [m].
        points: Vec<[f64; 3]> => "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]";
        /// Corners of each face (counted from 0), counter-clockwise seen from outside; the convex hull of the points unless given.
        faces: Vec<Vec<u32>>;
        /// How often every tetrahedron is cut into eight.
        refine: u32;
    }
}

/// Points of which a hull is found at most: it takes the fourth power of their number.
const MOST_POINTS: usize = 100;
/// Corners may leave the plane of their face by this share of its size.
const FLAT: f64 = 1e-9;

impl Polyhedron {
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let solid = self.convex()?;
        let names: Vec<String> = (1..=solid.faces.len()).map(|k| format!("face-{k}")).collect();
        limits::refinements("polyhedron", self.refine, MOST_REFINEMENTS)?;
        let sides: usize = solid.faces.iter().map(|f| f.ring.len()).sum();
        let cells = sides as f64 * 8f64.powi(self.refine as i32);
        limits::ids("polyhedron", cells, cells)?;
        solid.mesh(&names, self.refine).ok_or_else(|| MeshError::Parameter {
            shape: "polyhedron",
            parameter: if self.faces.is_empty() { "points" } else { "faces" }.into(),
            value: "faces that cannot be seen from the centroid".into(),
            wanted: "faces that turn counter-clockwise seen from outside around a body without deep notches; a mesh file can hold any other"
                .into(),
        })
    }

    /// Corners and faces; convex if that is what was given.
    pub fn convex(&self) -> Result<Convex, MeshError> {
        let points: Vec<Vec3> = self.points.iter().map(|p| Vec3::from(*p)).collect();
        let refuse =
            |key: &str, value: String, wanted: &str| limits::refuse("polyhedron", key, value, wanted);
        if points.len() < 4 || points.iter().flat_map(|p| p.iter()).any(|x| !x.is_finite()) {
            return refuse("points", format!("{} points", points.len()), "four or more, of finite numbers");
        }
        if self.faces.is_empty() {
            if points.len() > MOST_POINTS {
                let wanted = format!("at most {MOST_POINTS}; give their `faces`");
                return refuse("points", format!("{} points", points.len()), &wanted);
            }
            return match Convex::hull(&points) {
                Some(hull) => Ok(hull),
                None => refuse("points", "points of a plane".into(), "corners of a solid"),
            };
        }
        let mut sides = std::collections::BTreeMap::new();
        for (k, ring) in self.faces.iter().enumerate() {
            let known = ring.len() > 2 && ring.iter().all(|&c| (c as usize) < points.len());
            if !known {
                let wanted = format!("three or more numbers below {}", points.len());
                return refuse(&format!("faces[{k}]"), format!("{ring:?}"), &wanted);
            }
            let at = |i: usize| points[ring[i % ring.len()] as usize];
            let normal =
                (1..ring.len() - 1).map(|i| (at(i) - at(0)).cross(&(at(i + 1) - at(0)))).sum::<Vec3>();
            let bent = |i: usize| {
                let (a, b) = (at(i + 1) - at(i), at(i + 2) - at(i + 1));
                a.dot(&normal).abs() > FLAT * a.norm() * normal.norm() || a.cross(&b).dot(&normal) <= 0.0
            };
            if (0..ring.len()).any(bent) {
                return refuse(
                    &format!("faces[{k}]"),
                    format!("{ring:?}"),
                    "the corners of a plane, convex polygon",
                );
            }
            for i in 0..ring.len() {
                *sides.entry((ring[i], ring[(i + 1) % ring.len()])).or_insert(0) += 1;
            }
        }
        let open = sides.iter().find(|&(&(a, b), &n)| n != 1 || sides.get(&(b, a)) != Some(&1));
        if let Some((&(a, b), _)) = open {
            let what = format!("an edge from {a} to {b} without a face on each side");
            return refuse("faces", what, "closed, each counter-clockwise seen from outside");
        }
        Ok(Convex::solid(points, self.faces.clone()))
    }
}
