//! Everything against everything: slow, and right by inspection.
//!
//! Candidates are all pairs the rules of the scene allow. Every other search must end in the same
//! records; this one stays as their oracle and as the baseline of the benchmark.

use super::scene::Scene;
use super::search::{
    Findings, Group, PairSearch, Part, Positions, Query, SearchError, SearchStats, check_finite, check_query,
    passes,
};
use std::time::Instant;

/// All pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brute {
    findings: Findings,
}

impl Brute {
    /// With `pretest`, the box of a facet is looked at before its closest point.
    pub(crate) fn new(pretest: bool) -> Brute {
        let mut brute = Brute::default();
        brute.findings.narrow.no_pretest = !pretest;
        brute
    }
}

impl PairSearch for Brute {
    fn gather(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError> {
        check_query(scene, at, query)?;
        check_finite(scene, at)?;
        self.findings.stats = SearchStats::default();
        let begin = Instant::now();
        let swept = at.end.is_some();
        let out = &mut self.findings.candidates;
        out.clear();
        let bodies = scene.bodies.len() as u32;
        for a in 0..bodies {
            for b in a..bodies {
                self.findings.stats.bodies_compared += 1;
                if !scene.may_meet(a, b) {
                    continue;
                }
                let (p, q) = (&scene.bodies[a as usize], &scene.bodies[b as usize]);
                let mut group = Group { a, b, limit: query.reach + scene.offset(a, b), ..Group::default() };
                let from = out.vertex_face.len();
                if query.vertex_face {
                    let [first, second] = passes(scene, a, b, query.pass);
                    for (nodes, faces, wanted) in [(p, q, first), (q, p, second)] {
                        if !wanted {
                            continue;
                        }
                        for &node in scene.slots_of(nodes) {
                            let fits = |f: &u32| !scene.excludes_vertex_face(node, *f, swept);
                            out.vertex_face.extend(faces.facets.clone().filter(fits).map(|f| [node, f]));
                        }
                    }
                }
                group.vertex_face = Part::between(from, out.vertex_face.len());
                let from = out.edge_edge.len();
                if query.edge_edge {
                    for e in p.edges.clone() {
                        let others = if a == b { e + 1..q.edges.end } else { q.edges.clone() };
                        let fits = |f: &u32| !scene.excludes_edge_edge(e, *f, swept);
                        out.edge_edge.extend(others.filter(fits).map(|f| [e, f]));
                    }
                }
                group.edge_edge = Part::between(from, out.edge_edge.len());
                let from = out.face_face.len();
                if query.face_face {
                    for f in p.facets.clone() {
                        let others = if a == b { f + 1..q.facets.end } else { q.facets.clone() };
                        let fits = |g: &u32| !scene.excludes_face_face(f, *g, swept);
                        out.face_face.extend(others.filter(fits).map(|g| [f, g]));
                    }
                }
                group.face_face = Part::between(from, out.face_face.len());
                out.groups.push(group);
            }
        }
        self.findings.stats.body_pairs = out.groups.len() as u64;
        self.findings.stats.traverse_seconds = begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn findings_mut(&mut self) -> &mut Findings {
        &mut self.findings
    }
}
