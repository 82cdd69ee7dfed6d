//! Bodies of thin shells: triangles become the control mesh of a smooth surface.

use super::check::{Checker, Made, Prepared};
use super::spec::*;
use crate::element::choice::{Points, Sheet};
use crate::mesh::Mesh;
use crate::mesh::subdivision::{self, Edges, Outside, Subdivision};
use std::sync::Arc;

/// Is a shell touched from both sides? `itself`: it may touch itself.
pub(super) fn two_sided(body: &Body, surface: &Subdivision, itself: bool) -> bool {
    match body.sides {
        Some(sides) => sides == Sides::Both,
        None => itself || body.contact_thickness > 0.0 || !surface.rim().is_empty(),
    }
}

/// Nodes that `fix` or a support holds: edges between them are not free. Sets that do not exist are told elsewhere.
fn held_edges(body: &Body, mesh: &Mesh) -> Vec<bool> {
    let mut held = vec![body.fix == Part::All(true); mesh.nodes.len()];
    let sets = body.fix.sets().iter().chain(body.support.iter().map(|s| &s.set));
    let nodes = sets.filter_map(|set| mesh.node_sets.get(set)).flatten();
    nodes.for_each(|&n| held[n as usize] = true);
    held
}

impl Checker<'_> {
    /// A mesh fit for its cells, or the control mesh of shells with their surface.
    pub(super) fn made_of(
        &self,
        name: &str,
        body: &Body,
        mesh: Mesh,
    ) -> Option<(Mesh, Option<Arc<Subdivision>>)> {
        if body.element == Sheet::Plane {
            for (key, given) in [
                ("refine", body.refine > 0),
                ("fit", body.fit),
                ("points", body.points != Points::One),
                ("ghosts", body.ghosts != Ghosts::Dependent),
                ("sides", body.sides.is_some()),
                ("contact_thickness", body.contact_thickness > 0.0),
            ] {
                if given {
                    let message = format!("`{key}` of body `{name}` is for shells");
                    self.add(&["body", name, key], message, "remove it, or element = \"shell\"");
                }
            }
            return self.fit(name, mesh.check()).then_some((mesh, None));
        }
        if !self.fit(name, mesh.check_surface()) {
            return None;
        }
        let mirrors = body.symmetry.iter().map(|plane| plane.mirror()).collect();
        let outside = Outside { ghosts: Vec::new(), mirrors };
        let held = |mesh: &Mesh| held_edges(body, mesh);
        let edges = match body.ghosts {
            Ghosts::Dependent => Edges::Dependent,
            Ghosts::Independent => Edges::Independent { held: &held },
        };
        match subdivision::shell(&mesh, body.refine, body.fit, &outside, edges) {
            Ok((mesh, surface)) => {
                if body.ghosts == Ghosts::Independent && !mesh.node_sets.contains_key("ghosts") {
                    let message = format!("`ghosts` of body `{name}` does nothing: it has no free edge");
                    self.warn(&["body", name, "ghosts"], message, "");
                }
                Some((mesh, Some(Arc::new(surface))))
            }
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
            let touches = contact && body.contact != Part::All(false);
            let takes = match method {
                None | Some(MethodName::Dcr | MethodName::SemiExplicit | MethodName::Static) => true,
                // contact of these asks in which cell a node is
                Some(MethodName::Verlet | MethodName::Nonsmooth) => !touches,
                _ => false,
            };
            if let (Some(method), false) = (method, takes) {
                let message =
                    format!("body `{name}` is a shell, and method \"{}\" takes none here", method.name());
                let help = "\"dcr\" and \"semi-explicit\" do; without contact \"verlet\" does too, at rest \"static\"";
                self.add(&["body", name, "element"], message, help);
            }
            if touches && body.sides == Some(Sides::Outside) && !surface.rim().is_empty() {
                let message = format!("body `{name}` is a shell with open edges; it has no outside");
                let help = "sides = \"both\"";
                self.add(&["body", name, "sides"], message, help);
            }
            if touches && body.sides == Some(Sides::Outside) && body.contact_thickness > 0.0 {
                let message =
                    format!("body `{name}` is touched as a solid, which has no `contact_thickness`");
                let help = "sides = \"both\", or remove it";
                self.add(&["body", name, "contact_thickness"], message, help);
            }
        }
    }

    /// A shell has a thickness, and is thin.
    pub(super) fn thickness(&self, name: &str, thickness: Option<f64>, mesh: &Mesh) {
        let Some(thickness) = thickness else {
            let message = format!("body `{name}` is a shell without a `thickness`");
            return self.add(&["body", name, "element"], message, "give it one [m]");
        };
        let edge =
            |t: &[u32], k: usize| (mesh.nodes[t[k] as usize] - mesh.nodes[t[(k + 1) % 3] as usize]).norm();
        let edges = mesh.cells[0].nodes.chunks_exact(3).flat_map(|t| (0..3).map(move |k| edge(t, k)));
        let mut edges: Vec<f64> = edges.collect();
        edges.sort_unstable_by(f64::total_cmp);
        let Some(&median) = edges.get(edges.len() / 2) else { return };
        if thickness > median {
            let message =
                format!("`thickness` of body `{name}` is more than its median edge, {median:.3e} m");
            let help = "shells are thin; a coarser mesh or solids answer better";
            self.warn(&["body", name, "thickness"], message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::contact::scene::BodyKind;
    use crate::deck::{Input, load};
    use std::path::Path;

    fn told(text: &str) -> Result<f64, String> {
        let input = Input { name: "deck", text, folder: Path::new("."), options: &[] };
        load(&input).map(|l| l.case.model.mass.iter().sum()).map_err(|e| e.to_string())
    }

    fn deck(method: &str, mesh: &str, more: &str) -> String {
        format!(
            "method = \"{method}\"\nend = 1e-4\n[body.a]\nelement = \"shell\"\nmesh = {mesh}\n\
             material = {{ law = \"linear\", young = 1.0, poisson = 0.3, density = 3.0 }}\n{more}\n"
        )
    }

    const SPHERE: &str = "{ shape = \"hollow-sphere\", radius = 1, refinements = 4 }";
    const TUBE: &str = "{ shape = \"tube\", radius = 1, length = 1, around = 16, along = 4 }";

    /// ρ h 4πR²; a fitted surface of 2048 elements has the area to 1e-4.
    #[test]
    fn a_fitted_sphere_weighs_what_a_sphere_does() {
        let mass = told(&deck("verlet", SPHERE, "thickness = 0.01\nfit = true")).unwrap();
        let exact = 3.0 * 0.01 * 4.0 * std::f64::consts::PI;
        assert!((mass / exact - 1.0).abs() < 2e-4, "{mass} {exact}");
    }

    /// Closed shells are touched as solids are, others on both sides.
    #[test]
    fn open_shells_and_those_that_touch_themselves_have_two_sides() {
        let kind = |mesh: &str, more: &str| {
            let text = deck("dcr", mesh, &format!("thickness = 0.01\n{more}"));
            let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
            load(&input).unwrap_or_else(|e| panic!("{e}")).case.model.bodies[0].kind
        };
        assert_eq!(kind(SPHERE, "[contact]"), BodyKind::Solid);
        assert_eq!(kind(SPHERE, "[contact]\nself = [\"a\"]"), BodyKind::Shell);
        assert_eq!(kind(SPHERE, "contact_thickness = 0.01\n[contact]"), BodyKind::Shell);
        assert_eq!(kind(SPHERE, "sides = \"both\"\n[contact]"), BodyKind::Shell);
        assert_eq!(kind(TUBE, "[contact]"), BodyKind::Shell);
        assert_eq!(kind(TUBE, "[contact]\nself = [\"a\"]"), BodyKind::Shell);
    }

    /// Edges that something holds keep ghosts that hang on the held nodes; beyond the other rim stand as many as it has edges.
    #[test]
    fn independent_ghosts_are_nodes_beyond_edges_that_nothing_holds() {
        let nodes = |more: &str| {
            let text = deck("dcr", TUBE, &format!("thickness = 0.01\n{more}"));
            let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
            let loaded = load(&input).unwrap_or_else(|e| panic!("{e}"));
            let mass: f64 = loaded.case.model.mass.iter().sum();
            assert!(loaded.case.model.mass.iter().all(|m| *m > 0.0));
            (loaded.case.model.reference.len(), mass)
        };
        let (inside, mass) = nodes("");
        let (free, same) = nodes("ghosts = \"independent\"");
        assert_eq!(free, inside + 2 * 16);
        // the surface is a little longer at its ends, by no more than a ghost's curvature
        assert!((same / mass - 1.0).abs() < 0.01, "{same} {mass}");
        assert_eq!(nodes("ghosts = \"independent\"\nfix = \"zmin\"").0, inside + 16);
        assert_eq!(nodes("ghosts = \"independent\"\nfix = \"rim\"").0, inside);
        let solid = "{ shape = \"box\", size = [1, 1, 1], cells = [1, 1, 1] }";
        let text = deck("dcr", solid, "ghosts = \"independent\"").replace("element = \"shell\"\n", "");
        assert!(told(&text).unwrap_err().contains("`ghosts` of body `a` is for shells"));
    }

    #[test]
    fn what_shells_cannot_do_is_told() {
        let refused = |method: &str, mesh: &str, more: &str| told(&deck(method, mesh, more)).unwrap_err();
        assert!(refused("verlet", SPHERE, "").contains("without a `thickness`"));
        assert!(refused("asynchronous", SPHERE, "thickness = 0.1").contains("takes none"));
        assert!(refused("verlet", SPHERE, "thickness = 0.1\n[contact]").contains("takes none"));
        let open = refused("dcr", TUBE, "thickness = 0.01\nsides = \"outside\"\n[contact]");
        assert!(open.contains("open edges") && open.contains("sides = \"both\""), "{open}");
        let thick = refused(
            "dcr",
            SPHERE,
            "thickness = 0.01\nsides = \"outside\"\ncontact_thickness = 0.01\n[contact]",
        );
        assert!(thick.contains("no `contact_thickness`"), "{thick}");
        let other = "[body.b]\nelement = \"shell\"\nthickness = 0.01\nmesh = { shape = \"tube\", radius = 1, length = 1, around = 16, along = 4, at = [1, 0, 0] }\n\
                     material = { law = \"linear\", young = 1.0, poisson = 0.3, density = 3.0 }";
        let crossed = refused("dcr", TUBE, &format!("thickness = 0.01\n{other}\n[contact]"));
        assert!(crossed.contains("`a` and `b` pass through each other at the start"), "{crossed}");
        assert!(refused("verlet", SPHERE, "thickness = 0.1\nintegration = \"nodal\"").contains("nodal"));
        let solid = "{ shape = \"box\", size = [1, 1, 1], cells = [1, 1, 1] }";
        assert!(refused("verlet", solid, "thickness = 0.1").contains("made of triangles"));
    }
}
