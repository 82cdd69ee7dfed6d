//! `[[body.NAME.symmetry]]`: planes that cut a body in two, of which one half is computed.
//!
//! What lies in the plane stays in it. A solid needs no more. A shell goes on beyond as its own image, so that its slope across the plane
//! stays as well (`mesh::subdivision`).

use super::check::Checker;
use super::support::direction;
use crate::math::Vec3;
use crate::mesh::Mesh;
use crate::mesh::subdivision::Mirror;
use carom_declare::{Listed, NonZero, section};

section! {
    /// A plane of symmetry at the edge of a body.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Symmetry: "body.NAME.symmetry" {
        /// A point in the plane [m].
        point: [f64; 3];
        /// Across the plane; of any length.
        normal: [f64; 3] as NonZero => "[1, 0, 0]";
    }
}

impl Listed for Symmetry {
    fn called(_: usize, list: &str) -> String {
        format!("a plane of {list}")
    }
}

impl Symmetry {
    /// Of length one.
    pub fn mirror(&self) -> Mirror {
        Mirror { point: Vec3::from(self.point), normal: direction(self.normal).normalize() }
    }

    /// Nodes of a mesh that lie in the plane.
    pub fn nodes(&self, mesh: &Mesh) -> impl Iterator<Item = u32> {
        let (mirror, near) = (self.mirror(), Mirror::reach(&mesh.nodes));
        let inside = move |x: &Vec3| mirror.distance(x).abs() <= near;
        (0u32..).zip(&mesh.nodes).filter(move |(_, x)| inside(x)).map(|(n, _)| n)
    }
}

impl Checker<'_> {
    /// The plane touches the body, which lies on one side of it.
    pub(super) fn symmetry(&self, name: &str, plane: &Symmetry, mesh: &Mesh, index: &str) {
        let (mirror, near) = (plane.mirror(), Mirror::reach(&mesh.nodes));
        let path = ["body", name, "symmetry", index, "point"];
        self.in_space(
            &["body", name, "symmetry", index, "normal"],
            "`normal`",
            plane.normal,
            name,
            mesh.dimension(),
        );
        let (mut before, mut behind) = (0, 0);
        for x in &mesh.nodes {
            before += usize::from(mirror.distance(x) > near);
            behind += usize::from(mirror.distance(x) < -near);
        }
        if before > 0 && behind > 0 {
            let message = format!(
                "a plane of symmetry passes through body `{name}`: {before} nodes before it, {behind} behind"
            );
            self.add(&path, message, "mesh one half only, so that the plane is its edge");
        } else if before + behind == mesh.nodes.len() {
            let message = format!("a plane of symmetry does not touch body `{name}`");
            self.add(&path, message, "nodes at the edge of the body must lie in the plane");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::deck::{Input, load};
    use std::path::Path;

    fn deck(more: &str) -> String {
        format!(
            "method = \"verlet\"\nend = 1e-4\n[body.a]\nmesh = {{ shape = \"box\", size = [1, 1, 1], cells = [2, 2, 2] }}\n\
             material = {{ law = \"linear\", young = 1.0, poisson = 0.3, density = 3.0 }}\n{more}\n"
        )
    }

    fn held(more: &str) -> Result<usize, String> {
        let text = deck(more);
        let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
        load(&input).map(|l| l.case.model.restraints.held.len()).map_err(|e| e.to_string())
    }

    /// 3 × 3 nodes of a side; two sides share three.
    #[test]
    fn nodes_in_planes_of_symmetry_are_held() {
        assert_eq!(held("symmetry = [{ point = [0, 0, 0], normal = [2, 0, 0] }]").unwrap(), 9);
        let two = "symmetry = [{ point = [0, 0, 0], normal = [1, 0, 0] }, { point = [0, 0, 1], normal = [0, 0, -1] }]";
        assert_eq!(held(two).unwrap(), 15);
    }

    #[test]
    fn planes_that_cut_or_miss_a_body_are_told() {
        let cuts = held("symmetry = [{ point = [0.5, 0, 0], normal = [1, 0, 0] }]").unwrap_err();
        assert!(cuts.contains("9 nodes before it, 9 behind"), "{cuts}");
        let misses = held("symmetry = [{ point = [-1, 0, 0], normal = [1, 0, 0] }]").unwrap_err();
        assert!(misses.contains("does not touch"), "{misses}");
        let zero = held("symmetry = [{ point = [0, 0, 0], normal = [0, 0, 0] }]").unwrap_err();
        assert!(zero.contains("normal"), "{zero}");
    }
}
