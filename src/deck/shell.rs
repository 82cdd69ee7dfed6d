//! Bodies of thin shells: triangles become the control mesh of a smooth surface.

use super::check::{Checker, Made, Prepared};
use super::spec::*;
use crate::element::choice::{Points, Sheet};
use crate::mesh::Mesh;
use crate::mesh::subdivision::{self, Subdivision};
use std::sync::Arc;

impl Checker<'_> {
    /// A mesh fit for its cells, or the control mesh of shells with their surface.
    pub(super) fn made_of(
        &self,
        name: &str,
        body: &Body,
        mesh: Mesh,
    ) -> Option<(Mesh, Option<Arc<Subdivision>>)> {
        if body.element == Sheet::Plane {
            for (key, given) in
                [("refine", body.refine > 0), ("fit", body.fit), ("points", body.points != Points::One)]
            {
                if given {
                    let message = format!("`{key}` of body `{name}` is for shells");
                    self.problems.add(
                        &self.place(&["body", name, key]),
                        message,
                        "remove it, or element = \"shell\"",
                    );
                }
            }
            return self.fit(name, mesh.check()).then_some((mesh, None));
        }
        if !self.fit(name, mesh.check_surface()) {
            return None;
        }
        match subdivision::shell(&mesh, body.refine, body.fit) {
            Ok((mesh, surface)) => Some((mesh, Some(Arc::new(surface)))),
            Err(error) => {
                self.mesh_trouble(name, error.into());
                None
            }
        }
    }

    /// What shells cannot do yet.
    pub(super) fn shells(
        &self,
        body: &[(String, Option<AnyBody>)],
        made: &[Option<Made>],
        method: Option<MethodName>,
        contact: bool,
    ) {
        for ((name, body), made) in body.iter().zip(made) {
            let (
                Some(AnyBody::Deformable(body)),
                Some(Made::Deformable(Prepared { surface: Some(surface), .. })),
            ) = (body, made)
            else {
                continue;
            };
            if let Some(method @ (MethodName::Asynchronous | MethodName::BipotentialImplicit)) = method {
                let message =
                    format!("body `{name}` is a shell, and method \"{}\" takes none", method.name());
                let help = "\"dcr\", \"semi-explicit\" and \"verlet\" do";
                self.problems.add(&self.place(&["body", name, "element"]), message, help);
            }
            if contact && body.contact != Part::All(false) && !surface.rim().is_empty() {
                let message =
                    format!("body `{name}` is a shell with open edges; contact knows closed ones only");
                let help = "close it, or contact = false takes it out";
                self.problems.add(&self.place(&["body", name, "element"]), message, help);
            }
        }
    }

    /// A shell has a thickness, and is thin.
    pub(super) fn thickness(&self, name: &str, thickness: Option<f64>, mesh: &Mesh) {
        let Some(thickness) = thickness else {
            let message = format!("body `{name}` is a shell without a `thickness`");
            return self.problems.add(&self.place(&["body", name, "element"]), message, "give it one [m]");
        };
        let edge =
            |t: &[u32], k: usize| (mesh.nodes[t[k] as usize] - mesh.nodes[t[(k + 1) % 3] as usize]).norm();
        let edges = mesh.cells[0].nodes.chunks_exact(3).flat_map(|t| (0..3).map(move |k| edge(t, k)));
        let shortest = edges.fold(f64::INFINITY, f64::min);
        if thickness > shortest {
            let message =
                format!("`thickness` of body `{name}` is more than its shortest edge, {shortest:.3e} m");
            let help = "shells are thin; a coarser mesh or solids answer better";
            self.problems.warn(&self.place(&["body", name, "thickness"]), message, help);
        }
    }
}
