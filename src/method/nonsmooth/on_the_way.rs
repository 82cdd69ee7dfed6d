//! What has gone through what since the start of the step, wherever it is now.
//!
//! A look at trial positions alone does not see a wall that a node or an edge has left behind, nor through which of two near faces it came in. So
//! every look also asks who met whom on the straight way from the start of the step (`contact::crossing`, a test that never misses). The candidates are those of the
//! search that are awake: what has met is no farther apart now than both have come, and that is less than what the search was asked for.
//!
//! Of what touched at the start, only nodes that are now below every facet they touched have gone through: those on a rim, or on the tip of a wedge, may
//! leave along either face. A node
//! that now lies on another face at an angle to the one it met has gone along that face, as where sides of two bodies are flush; whether it went in
//! is for round-off to say, and nothing is asked of it.

use super::detect::{Admissible, Constraint, Found, Joined, TOUCH, WAS_OPEN};
use super::simplex::{ContactKind, Simplex};
use crate::contact::crossing::{StepPath, edges_meet, node_meets};
use crate::contact::measure::Normals;
use crate::contact::rules::{in_normal_cones, is_sharp};
use crate::contact::scene::FacetKind;
use crate::contact::search::PairSearch;
use crate::math::Vec3;
use crate::model::Model;
use rayon::prelude::*;

/// Edges are parallel below this sine: their lines have no normal.
const PARALLEL: f64 = 1e-3;
/// Share of an edge or a facet at its ends where nodes and neighbours answer for it too.
const ENDS: f64 = 1e-6;

/// Nodes nearer to a surface than this share of the local size lie on it.
const ON_SURFACE: f64 = 1e-8;
/// Cosine of the angle to the facet it met from which on a surface is the far side of a wall.
const FAR_SIDE: f64 = -0.5;

/// A node has gone through a facet of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Met {
    pub node: u32,
    pub body: u32,
    /// Share of the step.
    time: f64,
    pub face: u32,
}

impl Admissible {
    /// Finds which facet of each body every node went through first.
    pub(super) fn meet(&mut self, model: &Model) {
        let mut met = std::mem::take(&mut self.met);
        met.clear();
        let motion = StepPath { start: &self.start, end: &self.world.x };
        // most are still in front, or were behind before
        let all = self.world.search.awake();
        let behind = |&&[node, face]: &&[u32; 2]| {
            let kind = self.world.scene.facets[face as usize].kind;
            let simplex = self.simplex_of(node, face);
            matches!(kind, FacetKind::Segment | FacetKind::Triangle)
                && simplex.value(&self.world.x) < 0.0
                && self.opening(&simplex, face) >= -WAS_OPEN
        };
        let groups = all.groups.par_iter();
        let behind = groups.flat_map_iter(|g| g.vertex_face.of(&all.vertex_face).iter().filter(behind));
        for [node, face] in behind.copied().collect::<Vec<_>>() {
            let facet = &self.world.scene.facets[face as usize];
            let simplex = self.simplex_of(node, face);
            let Some(candidate) = self.candidate(self.of_facet(model, node, face)) else { continue };
            let touched = self.opening(&simplex, face) <= WAS_OPEN;
            if !candidate.was_open || touched && !(candidate.outside <= 0.0 && self.below_all(node, face)) {
                continue;
            }
            if let Some(time) = node_meets(&self.world.scene, motion, node, face, 0.0) {
                met.push(Met { node, body: facet.body, time, face });
            }
        }
        met.sort_unstable_by(|p, q| {
            (p.node, p.body).cmp(&(q.node, q.body)).then(p.time.total_cmp(&q.time)).then(p.face.cmp(&q.face))
        });
        met.dedup_by_key(|m| (m.node, m.body));
        self.met = met;
    }

    /// Is a node below all facets around one that it touched at the start?
    fn below_all(&self, node: u32, face: u32) -> bool {
        let facet = &self.world.scene.facets[face as usize];
        let around = facet.corners().iter().flat_map(|&k| self.world.scene.node_facets.of(k));
        around.filter(|f| self.world.scene.facets[**f as usize].body == facet.body).all(|&f| {
            let simplex = self.simplex_of(node, f);
            let foot = simplex.foot(&self.start);
            let touched = self.opening(&simplex, f).abs() <= WAS_OPEN && foot.outside(simplex.touch) <= ENDS;
            let below = -TOUCH * self.size_of(f) * simplex.foot(&self.world.x).lever;
            !touched || simplex.value(&self.world.x) < below
        })
    }

    /// Distance from the plane of a facet at the start of the step, over the local size.
    fn opening(&self, simplex: &Simplex, face: u32) -> f64 {
        let lever = simplex.foot(&self.start).lever;
        simplex.value(&self.start) / (lever * self.size_of(face))
    }

    /// The facet of a body that a node went through.
    pub(super) fn met_by(&self, node: u32, body: u32) -> Option<u32> {
        let at = self.met.binary_search_by_key(&(node, body), |m| (m.node, m.body)).ok()?;
        Some(self.met[at].face)
    }

    /// Nodes that are out again on the far side of a wall.
    pub(super) fn walls(&self, model: &Model, work: &mut Joined, found: &mut Found) {
        for m in &self.met {
            if self.inside.binary_search(&(m.node, m.body)).is_ok() || self.went_along(m) {
                continue;
            }
            let c = self.of_facet(model, m.node, m.face);
            if work.is_banned(&c.key) {
                found.left += usize::from(c.simplex.foot(&self.world.x).outside(c.key.0) <= 0.0);
            } else if !work.has(&c.key) {
                work.add(c);
            }
        }
    }

    /// Does a node lie on a face of the body that is not the far side of a wall?
    fn went_along(&self, m: &Met) -> bool {
        let records = self.world.search.vertex_face();
        let from = records.partition_point(|r| r.node < m.node);
        let through = self.world.scene.facets[m.face as usize].area_vector(&self.world.x).normalize();
        records[from..].iter().take_while(|r| r.node == m.node).any(|r| {
            self.world.scene.facets[r.face as usize].body == m.body
                && r.gap.abs() <= ON_SURFACE * self.size_of(r.face)
                && r.normal.dot(&through) > FAR_SIDE
        })
    }

    /// Sharp edges that have passed through each other. Where an end of one is inside the other's body the node answers.
    pub(super) fn edges_on_the_way(&self, model: &Model, work: &mut Joined) {
        let motion = StepPath { start: &self.start, end: &self.world.x };
        let all = self.world.search.awake();
        // most are inside of a face, or on the same side of each other as before
        let edges = 0..self.world.scene.edges.len() as u32;
        let normals = Normals::at(&self.world.scene, &self.world.x);
        let sharp: Vec<bool> = edges.into_par_iter().map(|e| is_sharp(&normals, e)).collect();
        let changed = |&&[first, second]: &&[u32; 2]| {
            let simplex = self.simplex_of_edges(first, second, 1.0);
            sharp[first as usize]
                && sharp[second as usize]
                && (simplex.value(&self.start) < 0.0) != (simplex.value(&self.world.x) < 0.0)
        };
        let groups = all.groups.par_iter();
        let changed = groups.flat_map_iter(|g| g.edge_edge.of(&all.edge_edge).iter().filter(changed));
        for [first, second] in changed.copied().collect::<Vec<_>>() {
            let c = self.of_edges(model, first, second, 1.0);
            let before = c.simplex.value(&self.start);
            if before.abs() <= WAS_OPEN * c.size * c.simplex.foot(&self.start).lever
                || self.has_end_inside(first, second)
                || self.sine(first, second) < PARALLEL
                || work.is_banned(&c.key)
                || work.has(&c.key)
            {
                continue;
            }
            let sign = if before < 0.0 { -1.0 } else { 1.0 };
            let c = self.of_edges(model, first, second, sign);
            if self.candidate(c).is_none() {
                continue;
            }
            if let Some(time) = edges_meet(&self.world.scene, motion, first, second, 0.0)
                && self.parts_at(&c, first, second, time)
            {
                work.add(c);
            }
        }
    }

    /// Do two edges lie across each other at the share `time` of the step, and does their common normal part their bodies?
    fn parts_at(&self, c: &Constraint, first: u32, second: u32, time: f64) -> bool {
        let at: Vec<Vec3> =
            self.start.iter().zip(&self.world.x).map(|(from, to)| from + time * (to - from)).collect();
        let foot = c.simplex.foot(&at);
        foot.weights.iter().all(|w| (ENDS..1.0).contains(&w.abs()))
            && foot.outside(ContactKind::EdgeEdge) == 0.0
            && in_normal_cones(&Normals::at(&self.world.scene, &at), first, second, &foot.normal)
    }

    /// Sine of the angle between two edges.
    fn sine(&self, first: u32, second: u32) -> f64 {
        let along = |e: u32| {
            let [a, b] = self.world.scene.edges[e as usize].nodes.map(|k| self.world.x[k as usize]);
            (b - a).normalize()
        };
        along(first).cross(&along(second)).norm()
    }
}
