//! Candidates of the last call measured again, without a search: at the end of their way, or where contact has moved nodes since.

use super::super::closest_point;
use super::super::measure::closest_on;
use super::super::pieces;
use super::super::scene::Scene;
use super::super::search::{Candidates, Findings, Group, Query};
use super::{ThreeStage, between};
use crate::math::Vec3;
use rayon::prelude::*;
use std::time::Instant;

/// The candidates of some groups that have to do with moved nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    pub(super) found: Candidates,
    /// Nodes of the group at hand whose candidates are wanted; all false in between.
    pub(super) due: Vec<bool>,
}

/// Nodes that have moved, and what hangs on them: marked with the number of the call, so that nothing has to be wiped out.
#[derive(Clone, Debug, Default)]
pub(super) struct Marked {
    call: u8,
    nodes: Vec<u8>,
    facets: Vec<u8>,
    edges: Vec<u8>,
    bodies: Vec<u8>,
}

impl Marked {
    fn mark(&mut self, scene: &Scene, moved: impl Iterator<Item = u32>) {
        let Marked { call, nodes, facets, edges, bodies } = self;
        *call = call.wrapping_add(1);
        let sizes = [scene.node_body.len(), scene.facets.len(), scene.edges.len(), scene.bodies.len()];
        for (list, size) in [&mut *nodes, facets, edges, bodies].into_iter().zip(sizes) {
            // Numbers come round again.
            if *call == 0 {
                list.clear();
            }
            list.resize(size, 0);
        }
        *call = (*call).max(1);
        for k in moved {
            if nodes[k as usize] == *call {
                continue;
            }
            nodes[k as usize] = *call;
            bodies[scene.node_body[k as usize] as usize] = *call;
            scene.node_facets.of(k).iter().for_each(|&f| facets[f as usize] = *call);
            scene.node_edges.of(k).iter().for_each(|&e| edges[e as usize] = *call);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        [&self.nodes, &self.facets, &self.edges, &self.bodies].map(Vec::capacity).into_iter().sum()
    }
}

impl Moved {
    fn add(&mut self, scene: &Scene, all: &Candidates, group: &Group, moved: &Marked) {
        let Moved { found, due } = self;
        let rules = AtRest::of(scene, group);
        let is = |mark: u8| mark == moved.call;
        // Which face is closest to a node is asked of all its candidates or of none.
        let pairs = || group.vertex_face.of(&all.vertex_face).iter().filter(|p| rules.node_face(p));
        for &[node, face] in pairs() {
            due[node as usize] |= is(moved.nodes[node as usize]) || is(moved.facets[face as usize]);
        }
        let from = [found.vertex_face.len(), found.edge_edge.len()];
        found.vertex_face.extend(pairs().filter(|p| due[p[0] as usize]));
        for p in pairs() {
            due[p[0] as usize] = false;
        }
        let edges = group.edge_edge.of(&all.edge_edge).iter().filter(|p| rules.edges(p));
        found.edge_edge.extend(edges.filter(|p| p.iter().any(|&e| is(moved.edges[e as usize]))));
        found.add_group(group, from);
    }
}

/// Candidates of a way that count where it ends too: neighbours on one surface do not.
struct AtRest<'a> {
    scene: &'a Scene,
    /// They can be neighbours.
    careful: bool,
}

impl<'a> AtRest<'a> {
    fn of(scene: &'a Scene, group: &Group) -> AtRest<'a> {
        AtRest { scene, careful: scene.can_exclude(group.a, group.b) }
    }

    #[inline]
    fn node_face(&self, &[node, face]: &[u32; 2]) -> bool {
        !self.careful || !self.scene.excludes_vertex_face(node, face, false)
    }

    #[inline]
    fn edges(&self, &[first, second]: &[u32; 2]) -> bool {
        !self.careful || !self.scene.excludes_edge_edge(first, second, false)
    }
}

/// Candidates that one thread measures at a stretch.
const STRETCH: usize = 256;
/// Candidates are measured again where their bodies have come this many times as far as they have deviated.
const TURNED: f64 = 4.0;
/// Rounding of a distance, as a share of it; far more than there is.
const ROUNDED: f64 = 1e-9;

impl ThreeStage {
    /// Measures candidates of lists that last: how far their bodies may come from here before these can be as near as their limit. All of
    /// lists that have just been made; of others, where bodies have come farther than that since, those who are awake.
    pub(super) fn note_distances(&mut self, scene: &Scene, x: &[Vec3]) {
        let Candidates { groups, vertex_face, edge_edge, until: [of_nodes, of_edges], .. } =
            &mut self.findings.candidates;
        for ((group, walked), kept) in groups.iter_mut().zip(&mut self.walked).zip(&self.keep) {
            let Group { a, b, limit, travel, .. } = *group;
            let (p, q) = (&self.bodies[a as usize], &self.bodies[b as usize]);
            let now = between(p, q);
            // Deviations count twice from here on: bodies that have turned far since their list was made are left as they are.
            let worth = travel > limit && travel > TURNED * (now.1 - walked.deviation);
            if walked.radius <= limit || *kept && !worth {
                continue;
            }
            let slack = p.slack + q.slack;
            let note = |until: &mut f64, distance: &dyn Fn() -> f64| {
                let awake = !kept || travel + limit >= *until;
                *until = if awake { distance() * (1.0 - ROUNDED) - slack } else { *until - travel };
            };
            let nodes = group.vertex_face.of(vertex_face).par_iter().with_min_len(STRETCH);
            nodes.zip(group.vertex_face.of_mut(of_nodes)).for_each(|(&[node, face], until)| {
                let facet = &scene.facets[face as usize];
                note(until, &|| closest_on(facet, x, &x[node as usize], node, face).distance_squared.sqrt());
            });
            let edges = group.edge_edge.of(edge_edge).par_iter().with_min_len(STRETCH);
            edges.zip(group.edge_edge.of_mut(of_edges)).for_each(|(pair, until)| {
                let [[a, b], [c, d]] = pair.map(|e| scene.edges[e as usize].nodes.map(|k| &x[k as usize]));
                note(until, &|| closest_point::edge_edge(a, b, c, d).distance_squared.sqrt());
            });
            let all = group.vertex_face.of(of_nodes).iter().chain(group.edge_edge.of(of_edges));
            group.soonest = all.copied().fold(f64::INFINITY, f64::min);
            group.travel = 0.0;
            walked.noted = now;
        }
    }

    /// Measures at `x`, where the way of the last call ends, the candidates that can be within their limit there by what their
    /// reader has found ([`Candidates::until`]): the records that a search at `x` would have.
    pub fn measure_end(&mut self, scene: &Scene, x: &[Vec3], before: Option<&[Vec3]>, query: &Query) {
        let ThreeStage { findings: Findings { candidates: all, narrow, stats }, spare, .. } = self;
        spare.clear();
        for group in &all.groups {
            let line = group.travel + group.limit;
            if line < group.soonest {
                continue;
            }
            let rules = AtRest::of(scene, group);
            let from = [spare.vertex_face.len(), spare.edge_edge.len()];
            let awake = |kind: usize, place: u32| line >= all.until_of(kind, place);
            let pairs = group.vertex_face.of(&all.vertex_face).iter().zip(group.vertex_face.from..);
            let found = pairs.filter(|(p, place)| awake(0, *place) && rules.node_face(p));
            spare.vertex_face.extend(found.map(|p| *p.0));
            let pairs = group.edge_edge.of(&all.edge_edge).iter().zip(group.edge_edge.from..);
            let found = pairs.filter(|(p, place)| awake(1, *place) && rules.edges(p));
            spare.edge_edge.extend(found.map(|p| *p.0));
            spare.add_group(group, from);
        }
        let begin = Instant::now();
        narrow.run(scene, x, before, query, spare, stats);
        stats.narrow_seconds = begin.elapsed().as_secs_f64();
    }

    /// Measures again the candidates of the last call that have to do with nodes that have `moved` since, by less than
    /// their reach; the records are theirs alone.
    pub fn measure_moved(
        &mut self,
        scene: &Scene,
        x: &[Vec3],
        before: Option<&[Vec3]>,
        query: &Query,
        moved: impl Iterator<Item = u32>,
    ) {
        self.marked.mark(scene, moved);
        let ThreeStage { findings: Findings { candidates, .. }, spare, moved: parts, marked, .. } = self;
        let any_moved = |g: &&Group| [g.a, g.b].iter().any(|&b| marked.bodies[b as usize] == marked.call);
        // As many parts as threads: each has room for all nodes.
        let size = candidates.groups.len().div_ceil(rayon::current_num_threads()).max(1);
        let groups = candidates.groups.par_chunks(size);
        let parts = pieces::first(parts, groups.len());
        groups.zip(&mut *parts).for_each(|(groups, part)| {
            part.found.clear();
            part.due.resize(scene.node_body.len(), false);
            groups.iter().filter(any_moved).for_each(|g| part.add(scene, candidates, g, marked));
        });
        spare.clear();
        for part in parts {
            let [vf, ee] = [spare.vertex_face.len(), spare.edge_edge.len()].map(|n| n as u32);
            spare.groups.extend(part.found.groups.iter().map(|g| Group {
                vertex_face: g.vertex_face.after(vf),
                edge_edge: g.edge_edge.after(ee),
                ..*g
            }));
            spare.vertex_face.extend_from_slice(&part.found.vertex_face);
            spare.edge_edge.extend_from_slice(&part.found.edge_edge);
        }
        let Findings { narrow, stats, .. } = &mut self.findings;
        narrow.run(scene, x, before, query, &self.spare, stats);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::dice::Dice;
    use super::super::super::scene::{Attributes, BodyInput, Rules};
    use super::*;

    /// Two tetrahedra: a call marks its own nodes and what hangs on them, however many calls came before it.
    #[test]
    fn marks_are_those_of_the_call() {
        let mut dice = Dice(5);
        let x: Vec<Vec3> = (0..8).map(|_| dice.point(1.0)).collect();
        let bodies = [0, 4].map(|k| {
            let triangles = [[k, k + 2, k + 1], [k, k + 1, k + 3], [k + 1, k + 2, k + 3], [k + 2, k, k + 3]];
            BodyInput::of_triangles("tet", &triangles, Attributes::default())
        });
        let scene = Scene::new(&bodies, &x, Rules::default());
        let mut marked = Marked::default();
        for call in 0..1000 {
            let moved: Vec<u32> = (0..dice.below(3)).map(|_| dice.below(8) as u32).collect();
            // Most calls mark nothing: marks would be left from long ago.
            let moved = if call % 50 == 0 { &moved[..] } else { &[] };
            marked.mark(&scene, moved.iter().copied());
            let is = |mark: u8| mark == marked.call;
            for (k, mark) in (0..).zip(&marked.nodes) {
                assert_eq!(is(*mark), moved.contains(&k), "node {k} in call {call}");
            }
            for (facet, mark) in scene.facets.iter().zip(&marked.facets) {
                assert_eq!(
                    is(*mark),
                    facet.corners().iter().any(|k| moved.contains(k)),
                    "{facet:?} in call {call}"
                );
            }
            for (edge, mark) in scene.edges.iter().zip(&marked.edges) {
                assert_eq!(
                    is(*mark),
                    edge.nodes.iter().any(|k| moved.contains(k)),
                    "{edge:?} in call {call}"
                );
            }
            for (b, mark) in (0..).zip(&marked.bodies) {
                assert_eq!(
                    is(*mark),
                    moved.iter().any(|&k| scene.node_body[k as usize] == b),
                    "{b} in call {call}"
                );
            }
        }
    }
}
