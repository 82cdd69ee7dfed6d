//! The one place where element and law meet: from words to a block whose kernels know both.

use super::bar2::Bar2;
use super::hex8::{Hex8, Hex8OnePoint};
use super::nodal::{Nodal, STABILISATION};
use super::quad4::Quad4;
pub use super::shell::Points;
use super::shell::{Shell, ShellOptions};
use super::solid::{Solid, SolidOptions};
use super::tet4::Tet4;
use super::tri3::Tri3;
use super::{Block, Element, MakeBlock};
pub use crate::material::softened;
use crate::material::{Law, Material, PlaneStress, Uniaxial, WithLaw};
use crate::mesh::CellKind;
use crate::mesh::subdivision::Subdivision;
use carom_declare::words;
use std::sync::Arc;

words! {
    /// Integration points of solids.
    pub enum Integration {
        /// 2×2×2 points in a hexahedron, one in a tetrahedron.
        Full = "full",
        /// One in a hexahedron, with hourglass control.
        OnePoint = "one-point",
        /// At nodes (tet4, hex8), with the mean gradient of the cells around, stabilised; tets do not lock.
        Nodal = "nodal",
    }
}

words! {
    /// What triangles and quadrilaterals are.
    pub enum Sheet {
        /// Plane cells in the x–y plane.
        Plane = "plane",
        /// Thin shells in space, on a smooth surface that the triangles control.
        Shell = "shell",
    }
}

words! {
    /// What happens across a plane body.
    pub enum Plane {
        /// It cannot get thicker.
        Strain = "strain",
        /// It is free to.
        Stress = "stress",
    }
}

/// What a block is, beside its law.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub cell: CellKind,
    pub integration: Integration,
    pub plane: Plane,
    /// Thickness [m], area [m²] or 1.
    pub section: f64,
    pub hourglass: f64,
}

impl Kind {
    /// Whole integration, plane strain, thickness 1.
    pub fn new(cell: CellKind) -> Self {
        let SolidOptions { section, hourglass } = SolidOptions::default();
        Kind { cell, integration: Integration::Full, plane: Plane::Strain, section, hourglass }
    }
}

/// The maker of a block of `kind` with `law`.
pub fn maker(kind: Kind, law: &Law) -> Box<MakeBlock<'static>> {
    struct Of(Kind);
    impl WithLaw for Of {
        type Output = Box<MakeBlock<'static>>;
        fn with<M: Material + Clone>(self, law: M, soft: M) -> Self::Output {
            with_law(self.0, law, soft)
        }
    }
    law.apply(Of(kind))
}

/// The maker of a block of `kind` with any law; `soft` is the same law made softer, which holds the cells of nodal integration
/// together ([`softened`]).
pub fn with_law<M: Material + Clone>(kind: Kind, law: M, soft: M) -> Box<MakeBlock<'static>> {
    match (kind.cell, kind.plane, kind.integration) {
        (CellKind::Bar2, _, _) => solid::<Bar2, _>(kind, Uniaxial(law)),
        (CellKind::Tri3, Plane::Strain, _) => solid::<Tri3, _>(kind, law),
        (CellKind::Tri3, Plane::Stress, _) => solid::<Tri3, _>(kind, PlaneStress(law)),
        (CellKind::Quad4, Plane::Strain, _) => solid::<Quad4, _>(kind, law),
        (CellKind::Quad4, Plane::Stress, _) => solid::<Quad4, _>(kind, PlaneStress(law)),
        (CellKind::Tet4, _, Integration::Nodal) => nodal::<Tet4, _>(law, soft),
        (CellKind::Tet4, _, _) => solid::<Tet4, _>(kind, law),
        (CellKind::Hex8, _, Integration::Nodal) => nodal::<Hex8, _>(law, soft),
        (CellKind::Hex8, _, Integration::Full) => solid::<Hex8, _>(kind, law),
        (CellKind::Hex8, _, Integration::OnePoint) => solid::<Hex8OnePoint, _>(kind, law),
        (CellKind::Shell3, _, _) => unreachable!("shells are made by `shell_maker`: they need their surface"),
    }
}

fn nodal<E: Element, M: Material + Clone>(law: M, soft: M) -> Box<MakeBlock<'static>> {
    Box::new(move |connectivity, reference| {
        let (law, soft) = (law.clone(), soft.clone());
        Box::new(Nodal::<E, M>::new(law, soft, connectivity, reference, STABILISATION)) as Box<dyn Block>
    })
}

fn solid<E: Element, M: Material + Clone>(kind: Kind, law: M) -> Box<MakeBlock<'static>> {
    let options = SolidOptions { section: kind.section, hourglass: kind.hourglass };
    Box::new(move |connectivity, reference| {
        Box::new(Solid::<E, M>::new(law.clone(), connectivity, reference, &options)) as Box<dyn Block>
    })
}

/// The maker of a block of thin shells on a surface, whose ids count from the body's first node. Unlike [`maker`] it makes one block of
/// all triangles of a body.
pub fn shell_maker(law: &Law, options: ShellOptions, surface: Arc<Subdivision>) -> Box<MakeBlock<'static>> {
    struct Of(ShellOptions, Arc<Subdivision>);
    impl WithLaw for Of {
        type Output = Box<MakeBlock<'static>>;
        fn with<M: Material + Clone>(self, law: M, _: M) -> Self::Output {
            shell(law, self.0, self.1)
        }
    }
    law.apply(Of(options, surface))
}

/// The maker of a block of thin shells with any law.
pub fn shell<M: Material + Clone>(
    law: M,
    options: ShellOptions,
    surface: Arc<Subdivision>,
) -> Box<MakeBlock<'static>> {
    Box::new(move |connectivity, reference| {
        // the surface knows its first triangle by the body's own ids
        let first = connectivity[0] - surface.elements()[0][0];
        Box::new(Shell::new(law.clone(), &options, surface.clone(), first, reference)) as Box<dyn Block>
    })
}
