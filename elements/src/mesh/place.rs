//! Putting a mesh in its place: first the shift, then the turn.
//!
//! `at` is where the origin of the mesh goes, before rotation: the lower corner of bars, rectangles and boxes,
//! the centre of round shapes. Sets keep the names they had before.

use super::{Mesh, MeshError};
use crate::math::{Mat3, Vec3};

/// The point that a rotation leaves where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pivot {
    /// Centre of the mesh's bounding box, after the shift.
    #[default]
    Centre,
    /// The point `at`.
    At,
    /// A point in space [m].
    Point(Vec3),
}

/// A rotation by the right-hand rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// Any length but zero.
    pub axis: Vec3,
    /// [rad]
    pub angle: f64,
    pub about: Pivot,
}

/// Where a mesh goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// Where the origin of the mesh goes [m].
    pub at: Vec3,
    pub rotation: Option<Rotation>,
}

impl Mesh {
    /// Shifts by `placement.at`, then rotates.
    pub fn place(&mut self, placement: &Placement) -> Result<(), MeshError> {
        if !placement.at.iter().all(|c| c.is_finite()) {
            return Err(misplaced("at", placement.at, "three finite coordinates"));
        }
        for p in &mut self.nodes {
            *p += placement.at;
        }
        let Some(rotation) = placement.rotation else { return Ok(()) };
        let centre = match rotation.about {
            Pivot::Centre => self.bounds().map_or(placement.at, |(low, high)| 0.5 * (low + high)),
            Pivot::At => placement.at,
            Pivot::Point(p) if p.iter().all(|c| c.is_finite()) => p,
            Pivot::Point(p) => return Err(misplaced("rotate.about", p, "three finite coordinates")),
        };
        let turn = rotation_matrix(rotation.axis, rotation.angle)?;
        for p in &mut self.nodes {
            *p = centre + turn * (*p - centre);
        }
        Ok(())
    }

    /// Lower and upper corner of the box around all nodes [m]; none without nodes.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.nodes.first()?;
        Some(self.nodes.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p))))
    }
}

/// R = cos φ I + sin φ [a]× + (1 − cos φ) a ⊗ a for the unit vector a along `axis`.
fn rotation_matrix(axis: Vec3, angle: f64) -> Result<Mat3, MeshError> {
    // Scaled first: the norm of a huge axis must not overflow, that of a tiny one not vanish.
    let a = axis / axis.amax();
    if !a.iter().all(|c| c.is_finite()) {
        return Err(misplaced("rotate.axis", axis, "a finite direction other than zero"));
    }
    if !angle.is_finite() {
        return Err(MeshError::Placement {
            parameter: "rotate.angle",
            value: angle.to_string(),
            wanted: "a finite angle",
        });
    }
    let a = a.normalize();
    let (s, c) = angle.sin_cos();
    Ok(Mat3::identity() * c + a.cross_matrix() * s + a * a.transpose() * (1.0 - c))
}

fn misplaced(parameter: &'static str, value: Vec3, wanted: &'static str) -> MeshError {
    MeshError::Placement { parameter, value: format!("[{}, {}, {}]", value.x, value.y, value.z), wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shape::Box;
    use std::f64::consts::{FRAC_PI_2, PI};

    fn placed(at: Vec3, axis: Vec3, angle: f64, about: Pivot) -> Mesh {
        let mut mesh = Box::new([2.0, 1.0, 1.0], [2, 1, 1]).build().unwrap();
        mesh.place(&Placement { at, rotation: Some(Rotation { axis, angle, about }) }).unwrap();
        mesh
    }

    fn near(mesh: &Mesh, p: Vec3) -> bool {
        mesh.nodes.iter().any(|q| (p - q).norm() < 1e-14)
    }

    #[test]
    fn a_quarter_turn_about_z_carries_x_to_y_about_the_chosen_point() {
        let at = Vec3::new(1.0, 1.0, 0.0);
        // The far end of the lower edge, (3, 1, 0), goes …
        let far = |mesh: &Mesh, p: [f64; 3]| (mesh.nodes[2] - Vec3::from(p)).norm() < 1e-14;
        assert!(far(&placed(at, 3.0 * Vec3::z(), FRAC_PI_2, Pivot::At), [1.0, 3.0, 0.0]));
        assert!(far(&placed(at, Vec3::z(), FRAC_PI_2, Pivot::Centre), [2.5, 2.5, 0.0]));
        assert!(far(&placed(at, Vec3::z(), FRAC_PI_2, Pivot::Point(Vec3::zeros())), [-1.0, 3.0, 0.0]));
    }

    #[test]
    fn names_are_given_before_the_turn() {
        let mesh = placed(Vec3::zeros(), Vec3::z(), PI, Pivot::Centre);
        assert!(mesh.node_sets["xmin"].iter().all(|&n| (mesh.nodes[n as usize].x - 2.0).abs() < 1e-14));
    }

    /// A cube turned by π/4 about (1, −1, 0)/√2 through its centre (−½, −½, 2) lays the lower face in the plane
    /// through (0, 0, 2) with normal towards the cube's centre: |centre − (0, 0, 2)| along that normal is ½.
    #[test]
    fn a_tilted_cube_touches_the_corner_it_is_aimed_at() {
        let mut mesh = Box::new([1.0; 3], [1; 3]).build().unwrap();
        let rotation = Rotation { axis: Vec3::new(1.0, -1.0, 0.0), angle: PI / 4.0, about: Pivot::Centre };
        mesh.place(&Placement { at: Vec3::new(-1.0, -1.0, 1.5), rotation: Some(rotation) }).unwrap();
        let corner = Vec3::new(0.0, 0.0, 2.0);
        let flat = |name: &str| {
            let x: Vec<Vec3> = mesh.node_sets[name].iter().map(|&n| mesh.nodes[n as usize]).collect();
            let n = (x[1] - x[0]).cross(&(x[2] - x[0])).normalize();
            n.dot(&(corner - x[0])).abs()
        };
        let closest =
            ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"].map(flat).into_iter().fold(1.0, f64::min);
        assert!(closest < 1e-15, "{closest}");
    }

    #[test]
    fn a_rotation_keeps_every_distance_whatever_the_length_of_the_axis() {
        let plain = Box::new([2.0, 1.0, 1.0], [2, 1, 1]).build().unwrap();
        for scale in [1e-300, 1.0, 1e300] {
            let turned = placed(Vec3::zeros(), scale * Vec3::new(1.0, 2.0, -3.0), 0.7, Pivot::At);
            for (p, q) in plain.nodes.iter().zip(&turned.nodes) {
                assert!(((p - plain.nodes[5]).norm() - (q - turned.nodes[5]).norm()).abs() < 1e-15 * 4.0);
            }
            assert!(near(&turned, Vec3::zeros()));
        }
    }

    #[test]
    fn a_rotation_without_axis_or_angle_is_refused() {
        let mut mesh = Box::new([1.0; 3], [1; 3]).build().unwrap();
        for (axis, angle) in [(Vec3::zeros(), 1.0), (Vec3::x() * f64::NAN, 1.0), (Vec3::x(), f64::INFINITY)] {
            let rotation = Some(Rotation { axis, angle, about: Pivot::Centre });
            assert!(mesh.place(&Placement { at: Vec3::zeros(), rotation }).is_err());
        }
        assert!(mesh.place(&Placement { at: Vec3::x() * f64::NAN, rotation: None }).is_err());
    }
}
