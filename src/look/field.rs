//! What colours show: fields of a frame, and numbers made out of them.

use super::LookError;
use super::colour::Map;
use super::scene::Shown;
use crate::math::{Mat3, Vec3};
use crate::mesh::{CellKind, shape_functions};
use crate::output::vtu::{FieldData, FrameData, name};
use rayon::prelude::*;
use std::path::Path;

/// What the colours show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourBy {
    Mises,
    Speed,
    Displacement,
    Body,
    Contact,
    /// Along an axis: 0, 1, 2.
    VelocityAlong(usize),
    DisplacementAlong(usize),
    /// A component of the Cauchy stress: xx yy zz xy yz xz.
    Stress(usize),
    /// A principal stress, the largest first.
    Principal(usize),
    /// −tr σ/3: positive where it is pressed.
    Pressure,
    /// The largest |ln λ| of the stretches λ in the middle of an element.
    Strain,
    /// The largest von Mises stress so far.
    MisesPeak,
}

/// All fields with what they are called on the command line and beside the colours; the first that a frame has is the usual one.
const FIELDS: [(ColourBy, &str, &str); 23] = [
    (ColourBy::Mises, "mises", "von Mises stress"),
    (ColourBy::Speed, "speed", "speed"),
    (ColourBy::Displacement, "displacement", "displacement"),
    (ColourBy::Body, "body", "body"),
    (ColourBy::Contact, "contact", "contact force"),
    (ColourBy::VelocityAlong(0), "vx", "velocity x"),
    (ColourBy::VelocityAlong(1), "vy", "velocity y"),
    (ColourBy::VelocityAlong(2), "vz", "velocity z"),
    (ColourBy::DisplacementAlong(0), "ux", "displacement x"),
    (ColourBy::DisplacementAlong(1), "uy", "displacement y"),
    (ColourBy::DisplacementAlong(2), "uz", "displacement z"),
    (ColourBy::Stress(0), "sxx", "stress xx"),
    (ColourBy::Stress(1), "syy", "stress yy"),
    (ColourBy::Stress(2), "szz", "stress zz"),
    (ColourBy::Stress(3), "sxy", "stress xy"),
    (ColourBy::Stress(4), "syz", "stress yz"),
    (ColourBy::Stress(5), "sxz", "stress xz"),
    (ColourBy::Principal(0), "s1", "largest principal stress"),
    (ColourBy::Principal(1), "s2", "middle principal stress"),
    (ColourBy::Principal(2), "s3", "least principal stress"),
    (ColourBy::Pressure, "pressure", "pressure"),
    (ColourBy::Strain, "strain", "logarithmic strain"),
    (ColourBy::MisesPeak, "mises_peak", "peak von Mises"),
];

impl ColourBy {
    /// All of them, the usual ones first.
    pub fn all() -> impl Iterator<Item = ColourBy> {
        FIELDS.iter().map(|f| f.0)
    }

    fn words(self) -> (&'static str, &'static str) {
        FIELDS.iter().find(|f| f.0 == self).map_or(("", ""), |f| (f.1, f.2))
    }

    pub fn name(self) -> &'static str {
        self.words().0
    }

    pub(super) fn title(self) -> &'static str {
        self.words().1
    }

    /// Zero is in the middle of its colours.
    pub(super) fn signed(self) -> bool {
        use ColourBy::{DisplacementAlong, Pressure, Principal, Stress, VelocityAlong};
        matches!(self, VelocityAlong(_) | DisplacementAlong(_) | Stress(_) | Principal(_) | Pressure)
    }

    pub(super) fn map(self) -> Map {
        match self {
            ColourBy::Contact => Map::Ember,
            _ if self.signed() => Map::Balance,
            _ => Map::Tide,
        }
    }

    /// Fields of the frame that it is made from; any one will do.
    pub(super) fn sources(self) -> &'static [&'static str] {
        match self {
            ColourBy::Mises => &[name::MISES, name::STRESS],
            ColourBy::Speed | ColourBy::VelocityAlong(_) => &[name::VELOCITY],
            ColourBy::Displacement | ColourBy::DisplacementAlong(_) | ColourBy::Strain => {
                &[name::DISPLACEMENT]
            }
            ColourBy::Body => &[name::BODY],
            ColourBy::Contact => &[name::CONTACT_FORCE],
            ColourBy::Stress(_) | ColourBy::Principal(_) | ColourBy::Pressure => &[name::STRESS],
            ColourBy::MisesPeak => &[name::MISES_PEAK],
        }
    }
}

impl std::str::FromStr for ColourBy {
    type Err = String;

    fn from_str(text: &str) -> Result<ColourBy, String> {
        ColourBy::all().find(|f| f.name() == text).ok_or_else(|| {
            let names: Vec<&str> = FIELDS.iter().map(|f| f.1).collect();
            format!("field `{text}` is not one of {}", names.join(", "))
        })
    }
}

/// The field that was asked for, or the first that the frame has.
pub(super) fn choose_field(
    frame: &FrameData,
    asked: Option<ColourBy>,
    path: &Path,
) -> Result<ColourBy, LookError> {
    let has = |f: &ColourBy| {
        f.sources().iter().any(|s| frame.point_field(s).is_some() || frame.cell_field(s).is_some())
    };
    let found = match asked {
        Some(f) => Some(f).filter(has),
        None => ColourBy::all().find(has),
    };
    found.ok_or_else(|| {
        let wanted = asked.map_or("field to show".to_owned(), |f| format!("`{}`", f.sources()[0]));
        let names: Vec<&str> =
            frame.point_fields.iter().chain(&frame.cell_fields).map(|f| f.name.as_str()).collect();
        LookError::Nothing(format!(
            "frame `{}` has no {wanted}; it has {}",
            path.display(),
            if names.is_empty() { "no fields".to_owned() } else { names.join(", ") }
        ))
    })
}

/// The numbers behind the colours of one frame.
pub(super) fn shown(frame: &FrameData, field: ColourBy, path: &Path) -> Result<Shown, LookError> {
    let missing = || {
        let what =
            format!("frame `{}` has no `{}`, others of the series have", path.display(), field.sources()[0]);
        LookError::Nothing(what)
    };
    let of_points = |name: &str, of: &dyn Fn(&[f64]) -> f64| {
        frame.point_field(name).map(|f| Shown::Nodes(f.values.chunks_exact(f.components).map(of).collect()))
    };
    let length = |name: &str| of_points(name, &|v| v.iter().map(|c| c * c).sum::<f64>().sqrt());
    match field {
        ColourBy::Body => frame.cell_field(name::BODY).map(|f| Shown::Cells(f.values.clone())),
        ColourBy::Mises => match frame.cell_field(name::MISES) {
            _ if frame.point_field(name::MISES).is_some() => length(name::MISES),
            Some(f) => Some(Shown::Nodes(averaged(frame, &f.values))),
            None => of_stress(frame, &von_mises),
        },
        ColourBy::MisesPeak => {
            frame.cell_field(name::MISES_PEAK).map(|f| Shown::Nodes(averaged(frame, &f.values)))
        }
        ColourBy::Speed | ColourBy::Displacement | ColourBy::Contact => length(field.sources()[0]),
        ColourBy::VelocityAlong(k) | ColourBy::DisplacementAlong(k) => {
            of_points(field.sources()[0], &|v| v.get(k).copied().unwrap_or(0.0))
        }
        ColourBy::Stress(k) => of_stress(frame, &|s| s[k]),
        ColourBy::Principal(k) => of_stress(frame, &|s| principal(s)[k]),
        ColourBy::Pressure => of_stress(frame, &|s| -(s[0] + s[1] + s[2]) / 3.0),
        ColourBy::Strain => {
            let u = frame.point_field(name::DISPLACEMENT).filter(|f| f.components == 3);
            u.map(|u| Shown::Nodes(averaged(frame, &strains(frame, u))))
        }
    }
    .ok_or_else(missing)
}

/// A number made of the stress at every node, or of the cells around it.
fn of_stress(frame: &FrameData, of: &dyn Fn(&[f64]) -> f64) -> Option<Shown> {
    let six = |f: &&FieldData| f.components == 6;
    if let Some(f) = frame.point_field(name::STRESS).filter(six) {
        return Some(Shown::Nodes(f.values.chunks_exact(6).map(of).collect()));
    }
    let f = frame.cell_field(name::STRESS).filter(six)?;
    Some(Shown::Nodes(averaged(frame, &f.values.chunks_exact(6).map(of).collect::<Vec<_>>())))
}

/// Principal values of a stress XX YY ZZ XY YZ XZ, the largest first.
fn principal(s: &[f64]) -> [f64; 3] {
    let stress = Mat3::new(s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]);
    // a run that blew up can be drawn
    if stress.iter().any(|s| !s.is_finite()) {
        return [f64::NAN; 3];
    }
    let values = stress.symmetric_eigenvalues();
    let mut values = [values[0], values[1], values[2]];
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The largest |ln λ| of every cell, from its corners now and at the start.
fn strains(frame: &FrameData, u: &FieldData) -> Vec<f64> {
    let mut all = Vec::with_capacity(frame.cell_count());
    for (kind, ids) in &frame.cells {
        let own = ids.par_chunks_exact(kind.nodes()).map(|cell| {
            let now: Vec<Vec3> = cell.iter().map(|&n| frame.points[n as usize]).collect();
            let shift = |n: u32| Vec3::from_column_slice(&u.values[3 * n as usize..3 * n as usize + 3]);
            let start: Vec<Vec3> = cell.iter().zip(&now).map(|(&n, x)| x - shift(n)).collect();
            strain(*kind, &start, &now)
        });
        all.extend(own.collect::<Vec<f64>>());
    }
    all
}

/// The largest |ln λ| in the middle of a cell. With tangents G = Σ X_a ⊗ ∂N_a/∂ξ at the start and g now, λ² are the values for which
/// gᵀg − λ² GᵀG is singular: whatever the dimension of the cell, and however it has turned.
fn strain(kind: CellKind, start: &[Vec3], now: &[Vec3]) -> f64 {
    let middle: Vec3 =
        (0..kind.nodes()).map(|a| shape_functions::corner(kind, a)).sum::<Vec3>() / kind.nodes() as f64;
    let gradients = shape_functions::gradients(kind, middle);
    let metric = |x: &[Vec3]| {
        let tangents: Mat3 = x.iter().zip(&gradients).map(|(x, g)| x * g.transpose()).sum();
        tangents.transpose() * tangents
    };
    let (mut before, mut after) = (metric(start), metric(now));
    // directions that the cell does not have stay as they are
    for k in (0..3).filter(|&k| gradients.iter().all(|g| g[k] == 0.0)) {
        (before[(k, k)], after[(k, k)]) = (1.0, 1.0);
    }
    if after.iter().any(|g| !g.is_finite()) {
        return f64::NAN;
    }
    let Some(root) = before.cholesky().map(|c| c.l()).and_then(|l| l.try_inverse()) else { return 0.0 };
    let stretch = (root * after * root.transpose()).symmetric_eigenvalues();
    stretch.iter().map(|l| (0.5 * l.max(f64::MIN_POSITIVE).ln()).abs()).fold(0.0, f64::max)
}

/// √(3/2 s:s) of a stress XX YY ZZ XY YZ XZ with deviator s.
fn von_mises(s: &[f64]) -> f64 {
    let (a, b, c) = (s[0] - s[1], s[1] - s[2], s[2] - s[0]);
    let shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
    (0.5 * (a * a + b * b + c * c) + 3.0 * shear).sqrt()
}

/// Mean over the cells around each node.
fn averaged(frame: &FrameData, values: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; frame.points.len()];
    let mut count = vec![0_u32; frame.points.len()];
    let mut cell = 0;
    for (kind, nodes) in &frame.cells {
        for ids in nodes.chunks_exact(kind.nodes()) {
            for &n in ids {
                sum[n as usize] += values[cell];
                count[n as usize] += 1;
            }
            cell += 1;
        }
    }
    sum.iter().zip(count).map(|(s, c)| s / c.max(1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hydrostatic part moves all principal stresses; pure shear τ has ±τ; von Mises of it is √3 τ.
    #[test]
    fn principal_stresses_are_those_of_shear_and_pressure() {
        let s = [-2.0, -2.0, -2.0, 3.0, 0.0, 0.0];
        let found = principal(&s);
        for (a, b) in found.iter().zip([1.0, -2.0, -5.0]) {
            assert!((a - b).abs() < 1e-12, "{found:?}");
        }
        assert!((von_mises(&s) - 3.0 * 3.0_f64.sqrt()).abs() < 1e-12);
        // the largest stress of a bar along z is its own
        assert!((principal(&[0.0, 0.0, 7.0, 0.0, 0.0, 0.0])[0] - 7.0).abs() < 1e-12);
    }

    /// F = R diag(2, 1/√2, 1/√2): ln 2 is the largest, whatever the rotation and the place; a cell that only turns has none.
    #[test]
    fn strain_is_that_of_the_longest_stretch_and_turning_is_none() {
        let turn = nalgebra::Rotation3::new(Vec3::new(0.3, -1.1, 0.7)).into_inner();
        for kind in [CellKind::Hex8, CellKind::Tet4, CellKind::Quad4, CellKind::Tri3, CellKind::Bar2] {
            let start: Vec<Vec3> = (0..kind.nodes()).map(|a| shape_functions::corner(kind, a)).collect();
            let moved =
                |f: Mat3| start.iter().map(|x| turn * f * x + Vec3::new(5.0, 1.0, -2.0)).collect::<Vec<_>>();
            let side = 0.5_f64.sqrt();
            let stretched = strain(kind, &start, &moved(Mat3::from_diagonal(&Vec3::new(2.0, side, side))));
            assert!((stretched - 2.0_f64.ln()).abs() < 1e-12, "{kind:?} {stretched}");
            let pressed = strain(kind, &start, &moved(Mat3::from_diagonal(&Vec3::new(0.25, 1.0, 1.0))));
            assert!((pressed - 4.0_f64.ln()).abs() < 1e-12, "{kind:?} {pressed}");
            assert!(strain(kind, &start, &moved(Mat3::identity())) < 1e-13);
        }
    }
}
