//! The classic hierarchy: trees over faces alone, and every node of one face against the other.
//!
//! Each pair of near faces is expanded into its node–face tests (three and three for triangles, four and
//! four for quads) and, if asked for, its edge–edge tests. A node that touches is tested once per face
//! around it; these repetitions are left in, because they are what separate trees save. Kept as the
//! baseline of the benchmark.

use super::scene::{FacetKind, Scene};
use super::search::{Findings, Group, PairSearch, Part, Positions, Query, SearchError, passes};
use super::three_stage::ThreeStage;
use std::time::Instant;

/// Octree over bodies, face trees, repeated tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classic {
    faces: ThreeStage,
    findings: Findings,
}

impl Classic {
    /// With `pretest`, the box of a facet is looked at before its closest point.
    pub(crate) fn new(pretest: bool) -> Classic {
        let mut classic = Classic::default();
        classic.findings.narrow.no_pretest = !pretest;
        classic.faces.forgetful = true;
        classic.faces.raw_faces = true;
        classic
    }
}

impl PairSearch for Classic {
    fn gather(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError> {
        let of_faces = Query { vertex_face: false, edge_edge: false, face_face: true, ..*query };
        self.faces.gather(scene, at, &of_faces)?;
        self.findings.stats = *self.faces.stats();
        let begin = Instant::now();
        let swept = at.end.is_some();
        let out = &mut self.findings.candidates;
        out.clear();
        let found = self.faces.candidates();
        for g in &found.groups {
            let (vf, ee, ff) = (out.vertex_face.len(), out.edge_edge.len(), out.face_face.len());
            let forward = passes(scene, g.a, g.b, query.pass);
            for &[f, g] in g.face_face.of(&found.face_face) {
                let facet = |f: u32| &scene.facets[f as usize];
                if query.vertex_face {
                    // A body with itself has one list of nodes: both orders are the same pass.
                    let same = facet(f).body == facet(g).body;
                    for (p, q, wanted) in [(f, g, forward[0]), (g, f, forward[1] || same)] {
                        let corners = facet(p).corners().iter().filter(|_| wanted);
                        let fits = |k: &&u32| !scene.excludes_vertex_face(**k, q, swept);
                        out.vertex_face.extend(corners.filter(fits).map(|&k| [k, q]));
                    }
                }
                if query.edge_edge {
                    let edges = |f: u32| &scene.facet_edges[f as usize][..facet(f).kind.corners()];
                    for &e in edges(f).iter().filter(|&&e| (e as usize) < scene.edges.len()) {
                        for &h in edges(g).iter().filter(|&&h| (h as usize) < scene.edges.len()) {
                            if e != h && !scene.excludes_edge_edge(e, h, swept) {
                                out.edge_edge.push([e.min(h), e.max(h)]);
                            }
                        }
                    }
                }
                if query.face_face && !scene.excludes_face_face(f, g, swept) {
                    out.face_face.push([f, g]);
                }
            }
            // A plane has no face tree: all nodes of a body near it.
            for (plane, other) in [(g.a, g.b), (g.b, g.a)] {
                let (plane, other) = (&scene.bodies[plane as usize], &scene.bodies[other as usize]);
                let facet = plane.facets.start;
                if plane.plane && query.vertex_face && scene.facets[facet as usize].kind == FacetKind::Plane {
                    let nodes = scene.slots_of(other);
                    out.vertex_face.extend(nodes.iter().map(|&k| [k, facet]));
                }
            }
            out.groups.push(Group {
                a: g.a,
                b: g.b,
                limit: g.limit,
                vertex_face: Part::between(vf, out.vertex_face.len()),
                edge_edge: Part::between(ee, out.edge_edge.len()),
                face_face: Part::between(ff, out.face_face.len()),
                ..Group::default()
            });
        }
        self.findings.stats.traverse_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn findings_mut(&mut self) -> &mut Findings {
        &mut self.findings
    }
}
