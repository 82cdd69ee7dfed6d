//! The three-stage search (Peng, Feng & Joli 2018): an octree over bodies, separate trees over the nodes,
//! edges and faces of each body, and closest points for what is left.
//!
//! Nothing is done twice. A step first looks how far each body has moved since its boxes were fitted:
//! as a whole (its *displacement*) and beside that (its *deviation*, the largest deviation of a node). Candidates
//! between two bodies were gathered for a radius ρ and hold as long as
//!
//! ```text
//! reach + |displacement_a − displacement_b| + deviation_a + deviation_b ≤ ρ
//! ```
//!
//! so bodies that fly side by side never meet their trees. Otherwise the trees of the two are refitted
//! (built anew when their quality has fallen) and walked with a radius that should last a few steps at
//! the present speed.
//!
//! Work is cut into pieces by the scene alone and put together in order: any number of threads gives the
//! same bits. All memory is kept between steps.

mod walk;
mod within;

use super::body_axes::{BodyAxes, is_small};
use super::body_trees::{BodyState, Fresh};
use super::bvh::{self, NodePair, Tree};
use super::measure::{Narrow, Normals};
use super::octree::{Aabb, Octree};
use super::scene::{Body, Scene};
use super::search::{
    Candidates, Findings, Group, PairSearch, Part, Pass, Positions, Query, SearchError, SearchStats,
    check_query, first_lost_node,
};
use crate::math::Vec3;
use rayon::prelude::*;
use std::time::Instant;
use walk::{Piece, Task};
use within::{Marked, Moved};

/// Steps a list of candidates should last at the present speed.
const LIFE: f64 = 4.0;
/// A list is widened by this share of the smaller median edge at least, so that those of bodies that tremble last, and at
/// most by that one: its candidates would be many.
const NARROWEST: f64 = 0.01;
const WIDEST: f64 = 0.1;
/// Lists whose reader lets far candidates sleep last this many times longer, and are that much wider.
const LASTING: f64 = 4.0;
/// Slots of bodies that one thread looks at, or fits boxes to, at a stretch.
const SLOTS: usize = 2048;
const FITTED: usize = 512;
/// At most this share of the trees is rebuilt for its quality in one step.
const REBUILT: usize = 10;

/// What a body pair remembers of the walk that found its candidates.
#[derive(Clone, Copy, Debug, Default)]
struct Walked {
    radius: f64,
    /// Displacement of the second body against the first, and both deviations, at that time.
    displacement: Vec3,
    deviation: f64,
    epoch: [u32; 2],
    /// The same motion when its candidates were measured last, where these sleep.
    noted: (Vec3, f64),
    /// How much farther the two may come before they are looked at again [m]; there are no candidates until then.
    asleep: f64,
}

/// How far bodies have come in a step.
///
/// What overlaps at the end of a step was no farther apart at its start than the two bodies have come against each other.
/// So lists for bodies that fly side by side stay short, however fast others come along; and two bodies that were found
/// farther apart than `margin` are not looked at again before they can have come that near: they *sleep*.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// Reach between bodies that have not moved against each other [m].
    pub at_rest: f64,
    /// Pairs nearer than this are wanted at every call [m].
    pub margin: f64,
    pub of_body: Vec<Way>,
}

/// How far one body has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    pub displacement: Vec3,
    /// Largest deviation of a node from the displacement [m].
    pub deviation: f64,
    /// Farthest that a node was moved since the last call, before the step began [m].
    pub pushed: f64,
}

impl Ways {
    /// The way of two bodies against each other in the step.
    fn between(&self, a: u32, b: u32) -> f64 {
        let (p, q) = (&self.of_body[a as usize], &self.of_body[b as usize]);
        (q.displacement - p.displacement).norm() + p.deviation + q.deviation
    }

    /// The same since the last call.
    fn since(&self, a: u32, b: u32) -> f64 {
        self.between(a, b) + self.of_body[a as usize].pushed + self.of_body[b as usize].pushed
    }

    fn reach(&self, a: u32, b: u32) -> f64 {
        self.at_rest + 2.0 * self.between(a, b)
    }
}

/// The search. One per scene: it remembers.
#[derive(Clone, Debug, Default)]
pub struct ThreeStage {
    bodies: Vec<BodyState>,
    boxes: Vec<Aabb>,
    octree: Octree,
    body_pairs: Vec<[u32; 2]>,
    walked: Vec<Walked>,
    old_groups: Vec<Group>,
    old_walked: Vec<Walked>,
    keep: Vec<bool>,
    tasks: Vec<Task>,
    pieces: Vec<Piece>,
    /// So many candidates can be measured: there was memory for it.
    measurable: usize,
    starts: Vec<NodePair>,
    spare: Candidates,
    moved: Vec<Moved>,
    marked: Marked,
    findings: Findings,
    origin: Vec3,
    last: Option<(bool, bool, bool, bool, Pass)>,
    /// Where this is given, two bodies are looked at no farther than it says; `reach` is the most.
    pub ways: Option<Ways>,
    /// Who reads the candidates lets far ones sleep ([`Candidates::until`]): long lists cost little.
    pub lasting: bool,
    /// Candidates of lists that last are measured now and then, and sleep until their bodies can have brought them within
    /// their limit. The records are the same; not together with `ways`.
    pub drowsy: bool,
    /// Walk anew at every call, as a search without memory would (for measurements).
    pub forgetful: bool,
    /// Split the octree no deeper than this.
    pub max_depth: Option<u32>,
    /// One primitive per leaf, as in the literature; set before the first use.
    pub textbook: bool,
    /// Report pairs of facets whatever the rules for neighbours say; the caller applies them.
    pub(super) raw_faces: bool,
}

impl ThreeStage {
    pub fn new() -> ThreeStage {
        ThreeStage::default()
    }

    /// Body pairs whose candidates were looked at in the last call.
    pub fn body_pairs(&self) -> &[[u32; 2]] {
        &self.body_pairs
    }

    /// The narrow stage, with the sides of shells it remembers.
    pub fn narrow(&mut self) -> &mut Narrow {
        &mut self.findings.narrow
    }

    /// Normals at the positions where candidates were measured last.
    pub(crate) fn normals<'a>(&'a self, scene: &'a Scene, x: &'a [Vec3]) -> Normals<'a> {
        self.findings.narrow.normals(scene, x)
    }

    /// Candidates of the last call that can be within their limit: with `drowsy` those that are awake.
    pub fn awake(&self) -> &Candidates {
        if self.drowsy { &self.spare } else { &self.findings.candidates }
    }

    /// Memory held [bytes].
    pub fn memory_bytes(&self) -> usize {
        let body = |b: &BodyState| {
            let slots = b.fitted[0].capacity() + b.fitted[1].capacity();
            let points = b.points[0].capacity() + b.points[1].capacity();
            b.nodes.memory_bytes()
                + b.edges.memory_bytes()
                + b.faces.memory_bytes()
                + slots * size_of::<Vec3>()
                + points * size_of::<[f32; 4]>()
                + b.space.memory_bytes()
                + b.axes.as_ref().map_or(0, |_| size_of::<BodyAxes>())
        };
        let piece = |p: &Piece| {
            8 * (p.vertex_face.capacity() + p.edge_edge.capacity() + p.face_face.capacity())
                + 12 * p.counts.capacity()
        };
        self.bodies.iter().map(body).sum::<usize>()
            + self.pieces.iter().map(piece).sum::<usize>()
            + self.findings.candidates.memory_bytes()
            + self.spare.memory_bytes()
            + self.moved.iter().map(|m| m.found.memory_bytes() + m.due.capacity()).sum::<usize>()
            + self.marked.memory_bytes()
            + self.findings.narrow.memory_bytes()
            + size_of::<Group>() * self.old_groups.capacity()
            + size_of::<Walked>() * (self.walked.capacity() + self.old_walked.capacity())
            + size_of::<Task>() * self.tasks.capacity()
            + size_of::<NodePair>() * self.starts.capacity()
            + self.keep.capacity()
    }

    /// How far two bodies have moved against each other since the beginning.
    #[inline]
    fn motion(&self, a: u32, b: u32) -> (Vec3, f64) {
        between(&self.bodies[a as usize], &self.bodies[b as usize])
    }

    /// Largest deviation of a node since the trees were fitted [m].
    fn new_deviation(&self, a: u32) -> f64 {
        self.bodies[a as usize].new_deviation
    }

    /// Radius for a walk between two bodies: reach, and what they may move in the next steps.
    fn radius(&self, scene: &Scene, a: u32, b: u32, least: f64) -> f64 {
        let (p, q) = (&self.bodies[a as usize], &self.bodies[b as usize]);
        let speed = (q.step_displacement - p.step_displacement).norm() + p.step_deviation + q.step_deviation;
        let edge = scene.bodies[a as usize].median_edge;
        let other = scene.bodies[b as usize].median_edge;
        let edge = if scene.bodies[b as usize].plane {
            edge
        } else if scene.bodies[a as usize].plane {
            other
        } else {
            edge.min(other)
        };
        let longer = if self.lasting || self.drowsy { LASTING } else { 1.0 };
        let widest = longer * WIDEST * edge;
        // Nothing is gained by a list that does not live through the next step.
        if self.forgetful || speed == 0.0 || 2.0 * speed > widest {
            least
        } else {
            least + (longer * LIFE * speed).max(NARROWEST * edge).min(widest)
        }
    }

    /// How far the boxes of two bodies are apart [m]; 0 if one has none.
    fn between_boxes(&self, a: u32, b: u32) -> f64 {
        let [p, q] = [a, b].map(|b| &self.bodies[b as usize]);
        match (&p.bounds, &q.bounds) {
            (Some(s), Some(t)) if !s.is_empty() && !t.is_empty() => s.distance(t) - p.slack - q.slack,
            _ => 0.0,
        }
    }

    /// Pairs of bodies that sleep.
    #[cfg(test)]
    pub(super) fn sleeping(&self) -> usize {
        self.walked.iter().filter(|w| w.asleep > 0.0).count()
    }

    /// Nobody sleeps any more, and nobody knows how far anybody has come.
    pub fn forget(&mut self) {
        self.walked.iter_mut().for_each(|w| w.asleep = 0.0);
        self.findings.candidates.groups.iter_mut().for_each(|g| g.travel = f64::INFINITY);
    }

    /// Lets the pairs of bodies sleep that were found far enough apart.
    fn fall_asleep(&mut self, scene: &Scene) {
        let ThreeStage { ways: Some(ways), walked, findings, .. } = self else { return };
        let groups = &findings.candidates.groups;
        for (group, walked) in groups.iter().zip(&mut *walked) {
            let solid = |b: u32| !scene.bodies[b as usize].attributes.two_sided();
            if walked.radius > 0.0 && group.a != group.b && solid(group.a) && solid(group.b) {
                walked.asleep = group.limit - ways.margin;
            }
        }
        // Records of two bodies often stand together.
        let (mut last, mut place) = ((u32::MAX, u32::MAX), Err(0));
        let mut near = |bodies: [u32; 2], gap: f64| {
            let pair = (bodies[0].min(bodies[1]), bodies[0].max(bodies[1]));
            if pair != last {
                (last, place) = (pair, groups.binary_search_by_key(&pair, |g| (g.a, g.b)));
            }
            if let Ok(at) = place {
                walked[at].asleep = walked[at].asleep.min(gap - ways.margin);
            }
        };
        for r in &findings.narrow.vertex_face {
            near([scene.node_body[r.node as usize], scene.facets[r.face as usize].body], r.gap);
        }
        for r in &findings.narrow.edge_edge {
            near([r.first, r.second].map(|e| scene.edges[e as usize].body), r.gap);
        }
        // Of what is open only the distance is known.
        for ((walked, apart), group) in walked.iter_mut().zip(&findings.narrow.apart).zip(groups) {
            let rounding = 1e-9 * (group.limit + apart);
            walked.asleep = walked.asleep.min(apart - ways.margin - rounding);
        }
        let mut near = |bodies: [u32; 2]| {
            let pair = (bodies[0].min(bodies[1]), bodies[0].max(bodies[1]));
            if let Ok(at) = groups.binary_search_by_key(&pair, |g| (g.a, g.b)) {
                walked[at].asleep = walked[at].asleep.min(-ways.margin);
            }
        };
        // What is too deep now may be less so soon.
        for &bodies in &findings.narrow.too_deep {
            near(bodies);
        }
    }

    /// Looks again at the pairs of bodies of which something may overlap that is no candidate of the last call, now that
    /// nodes of each body were moved by up to `pushed`.
    ///
    /// What has come to overlap since was no farther apart than it was moved, and is a candidate as far as the limit; of
    /// bodies that sleep nothing was nearer than what is left of their sleep and the margin.
    pub fn cover(
        &mut self,
        scene: &Scene,
        x: &[Vec3],
        query: &Query,
        pushed: &[f64],
    ) -> Result<(), SearchError> {
        let margin = self.ways.as_ref().map_or(0.0, |w| w.margin);
        self.bodies.iter_mut().for_each(|b| b.needed = false);
        let groups = &mut self.findings.candidates.groups;
        for ((group, walked), keep) in groups.iter_mut().zip(&self.walked).zip(&mut self.keep) {
            let seen = if walked.asleep > 0.0 { walked.asleep + margin } else { group.limit };
            let Group { a, b, limit, .. } = *group;
            *keep = pushed[a as usize] + pushed[b as usize] <= seen;
            if !*keep {
                *group = Group { a, b, limit, ..Group::default() };
                self.bodies[a as usize].needed = true;
                self.bodies[b as usize].needed = true;
            }
        }
        if self.keep.iter().all(|k| *k) {
            return Ok(());
        }
        let at = Positions::now(x);
        for (state, body) in self.bodies.iter_mut().zip(&scene.bodies).filter(|b| b.0.needed) {
            state.measure(scene, body, at);
        }
        self.prepare(scene, at, query);
        for i in 0..self.keep.len() {
            let Group { a, b, limit, .. } = self.findings.candidates.groups[i];
            if !self.keep[i] {
                let (displacement, deviation) = self.motion(a, b);
                let epoch = [a, b].map(|b| self.bodies[b as usize].epoch);
                let noted = (displacement, deviation);
                self.walked[i] = Walked { radius: limit, displacement, deviation, epoch, noted, asleep: 0.0 };
            }
        }
        self.walk(scene, query, false)
    }

    fn needs(&self, query: &Query) -> [bool; 3] {
        [query.vertex_face, query.edge_edge, query.vertex_face || query.face_face]
    }
}

impl PairSearch for ThreeStage {
    fn gather(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError> {
        check_query(scene, at, query)?;
        self.findings.stats = SearchStats::default();
        let begin = Instant::now();
        let setup = (query.vertex_face, query.edge_edge, query.face_face, at.end.is_some(), query.pass);
        if self.bodies.len() != scene.bodies.len() || self.last != Some(setup) {
            let keep_space = self.bodies.len() == scene.bodies.len();
            if !keep_space {
                let leaf = if self.textbook { 1 } else { bvh::WIDTH };
                let tree = || Tree::with_leaves_of(leaf);
                let fresh =
                    || BodyState { nodes: tree(), edges: tree(), faces: tree(), ..BodyState::default() };
                self.bodies = std::iter::repeat_with(fresh).take(scene.bodies.len()).collect();
            }
            for body in &mut self.bodies {
                (body.bounds, body.fresh) = (None, Fresh::default());
                body.fitted.iter_mut().for_each(Vec::clear);
            }
            self.findings.candidates.clear();
            self.walked.clear();
            self.last = Some(setup);
        }

        // Stage 0: where is everybody, and how far has he come?
        let few = scene.bodies_with(SLOTS);
        self.bodies.par_iter_mut().zip(&scene.bodies).with_min_len(few).for_each(|(state, body)| {
            state.measure(scene, body, at);
        });
        if self.bodies.iter().any(|b| !b.finite) {
            self.last = None;
            return Err(first_lost_node(scene, at));
        }

        // Stage 1: which bodies are near?
        self.find_body_pairs(scene, at, query);

        // Whose candidates still hold?
        self.sort_out(scene, query);
        let look = begin.elapsed().as_secs_f64();

        // Trees of the others.
        let begin = Instant::now();
        self.prepare(scene, at, query);
        let trees = begin.elapsed().as_secs_f64();

        // Stage 2: walk.
        let begin = Instant::now();
        self.walk(scene, query, at.end.is_some())?;
        if self.drowsy && at.end.is_none() {
            self.note_distances(scene, at.x);
        }
        self.findings.stats.traverse_seconds = begin.elapsed().as_secs_f64() + look;

        // Wall time of the trees, in the proportion of the time spent.
        let (build, refit) = self
            .bodies
            .iter()
            .filter(|b| b.needed)
            .fold((0.0, 0.0), |t, b| (t.0 + b.build_seconds, t.1 + b.refit_seconds));
        let share = if build + refit > 0.0 { build / (build + refit) } else { 0.0 };
        self.findings.stats.build_seconds = share * trees;
        self.findings.stats.refit_seconds = trees - self.findings.stats.build_seconds;
        Ok(())
    }

    fn find(
        &mut self,
        scene: &Scene,
        x: &[Vec3],
        before: Option<&[Vec3]>,
        query: &Query,
    ) -> Result<(), SearchError> {
        self.gather(scene, Positions::now(x), query)?;
        if self.drowsy {
            self.measure_end(scene, x, before, query);
        } else {
            self.findings.measure(scene, x, before, query);
        }
        self.fall_asleep(scene);
        Ok(())
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn findings_mut(&mut self) -> &mut Findings {
        &mut self.findings
    }
}

impl ThreeStage {
    fn find_body_pairs(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) {
        self.boxes.clear();
        let bodies = self.bodies.iter().zip(&scene.bodies);
        self.boxes.extend(bodies.map(|(state, body)| state.reached(body, query.reach)));
        let depth = self.max_depth.unwrap_or(super::octree::MAX_DEPTH);
        let pairs = &mut self.body_pairs;
        self.octree.pairs_to_depth(&self.boxes, depth, |a, b| scene.may_meet(a, b), pairs);
        self.findings.stats.membership_tests = self.octree.counts.membership_tests;
        self.findings.stats.bodies_compared = self.octree.counts.pairs_compared;

        let sorted = pairs.len();
        for (a, body) in scene.bodies.iter().enumerate() {
            let a = a as u32;
            if body.attributes.self_contact && scene.may_meet(a, a) && !self.boxes[a as usize].is_empty() {
                pairs.push([a, a]);
            }
            if !body.plane {
                continue;
            }
            let facet = &scene.facets[body.facets.start as usize];
            let end = at.end.unwrap_or(at.x);
            for (b, bounds) in self.boxes.iter().enumerate().filter(|(_, b)| !b.is_empty()) {
                self.findings.stats.bodies_compared += 1;
                // Boxes carry half the reach; the other half is added here.
                let low = |x: &[Vec3]| {
                    let (p, n) = (x[facet.nodes[0] as usize], facet.area_vector(x).normalize());
                    let corner = |k: usize| if n[k] > 0.0 { bounds.lo[k] } else { bounds.hi[k] };
                    n.dot(&(Vec3::new(corner(0), corner(1), corner(2)) - p))
                };
                let near = low(at.x).min(low(end)) <= 0.5 * query.reach;
                // A turning plane sweeps more than its two ends.
                let turned = at.end.is_some() && facet.area_vector(at.x) != facet.area_vector(end);
                if (near || turned) && scene.may_meet(a, b as u32) {
                    pairs.push([a.min(b as u32), a.max(b as u32)]);
                }
            }
        }
        if pairs.len() > sorted {
            pairs.sort_unstable();
        }
        self.findings.stats.body_pairs = pairs.len() as u64;
    }

    /// Carries over the candidates that still hold and marks the bodies of the others.
    fn sort_out(&mut self, scene: &Scene, query: &Query) {
        std::mem::swap(&mut self.findings.candidates.groups, &mut self.old_groups);
        std::mem::swap(&mut self.walked, &mut self.old_walked);
        self.findings.candidates.groups.clear();
        self.walked.clear();
        self.keep.clear();
        self.bodies.iter_mut().for_each(|b| b.needed = false);

        let mut old = 0;
        for i in 0..self.body_pairs.len() {
            let [a, b] = self.body_pairs[i];
            while old < self.old_groups.len() && (self.old_groups[old].a, self.old_groups[old].b) < (a, b) {
                old += 1;
            }
            let known = self.old_groups.get(old).filter(|g| (g.a, g.b) == (a, b));
            let reach = self.ways.as_ref().map_or(query.reach, |w| w.reach(a, b).min(query.reach));
            let least = reach + scene.offset(a, b);
            let (displacement, deviation) = self.motion(a, b);
            let epoch = [a, b].map(|b| self.bodies[b as usize].epoch);
            let asleep = match (&self.ways, known) {
                (Some(ways), Some(_)) if self.old_walked[old].epoch == epoch => {
                    self.old_walked[old].asleep - ways.since(a, b)
                }
                _ => 0.0,
            };
            if asleep > 0.0 {
                self.keep.push(true);
                self.findings.candidates.groups.push(Group { a, b, limit: least, ..Group::default() });
                self.walked.push(Walked { radius: f64::NEG_INFINITY, asleep, ..self.old_walked[old] });
                continue;
            }
            // Where both ends of a pair are on the same body its displacement does not matter.
            let between = |then: Vec3| if a == b { 0.0 } else { (displacement - then).norm() };
            let holds = known.is_some() && !self.forgetful && self.old_walked[old].epoch == epoch && {
                let then = &self.old_walked[old];
                least + between(then.displacement) + (deviation - then.deviation) <= then.radius
            };
            if holds {
                self.keep.push(true);
                let Walked { deviation: least_deviation, noted, .. } = self.old_walked[old];
                let travel = match &self.ways {
                    Some(ways) => self.old_groups[old].travel + ways.since(a, b),
                    // Both deviations are from the same places, and may have been opposite ones.
                    None if self.drowsy => {
                        between(noted.0) + (deviation - least_deviation) + (noted.1 - least_deviation)
                    }
                    None => f64::INFINITY,
                };
                self.findings.candidates.groups.push(Group { limit: least, travel, ..self.old_groups[old] });
                self.walked.push(Walked { asleep: 0.0, ..self.old_walked[old] });
                self.findings.stats.body_pairs_kept += 1;
                continue;
            }
            self.findings.candidates.groups.push(Group { a, b, limit: least, ..Group::default() });
            let radius = self.radius(scene, a, b, least);
            let between = self.between_boxes(a, b);
            // No candidates as far as their boxes are apart: no tree is needed to know that.
            let apart = !self.forgetful && between > radius;
            self.keep.push(apart);
            let radius = radius.max(if apart { between } else { 0.0 });
            // The boxes of bodies are those of now, and deviations count from where the trees were fitted: who has deviated
            // one way since then may come back and go the other way.
            let turned = if apart { self.new_deviation(a) + self.new_deviation(b) } else { 0.0 };
            let deviation = deviation - 2.0 * turned;
            let noted = (displacement, deviation);
            self.walked.push(Walked { radius, displacement, deviation, epoch, noted, asleep: 0.0 });
            if !apart {
                self.bodies[a as usize].needed = true;
                self.bodies[b as usize].needed = true;
            }
        }
        self.compact();
    }

    /// Candidates of pairs that are gone or walked anew are garbage; it goes when it is half of all.
    fn compact(&mut self) {
        let used = self.findings.candidates.count();
        let c = &mut self.findings.candidates;
        if used == (0, 0, 0) {
            c.vertex_face.clear();
            c.edge_edge.clear();
            c.face_face.clear();
            c.until.iter_mut().for_each(Vec::clear);
            // Empty parts must not point beyond the end.
            for g in &mut c.groups {
                *g = Group { a: g.a, b: g.b, limit: g.limit, ..Group::default() };
            }
            return;
        }
        let wasteful = |all: usize, used: usize| all > 2 * used + 1024;
        if !(wasteful(c.vertex_face.len(), used.0)
            || wasteful(c.edge_edge.len(), used.1)
            || wasteful(c.face_face.len(), used.2))
        {
            return;
        }
        let spare = &mut self.spare;
        spare.clear();
        let noted = c.until[0].len() == c.vertex_face.len() && c.until[1].len() == c.edge_edge.len();
        for g in &mut c.groups {
            if noted {
                carry(&c.until[0], g.vertex_face, &mut spare.until[0]);
                carry(&c.until[1], g.edge_edge, &mut spare.until[1]);
            }
            g.vertex_face = carry(&c.vertex_face, g.vertex_face, &mut spare.vertex_face);
            g.edge_edge = carry(&c.edge_edge, g.edge_edge, &mut spare.edge_edge);
            g.face_face = carry(&c.face_face, g.face_face, &mut spare.face_face);
        }
        std::mem::swap(&mut c.vertex_face, &mut spare.vertex_face);
        std::mem::swap(&mut c.edge_edge, &mut spare.edge_edge);
        std::mem::swap(&mut c.face_face, &mut spare.face_face);
        std::mem::swap(&mut c.until, &mut spare.until);
    }

    /// Refits or builds the trees that the walks need.
    fn prepare(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) {
        let mut all = Aabb::EMPTY;
        for b in self.boxes.iter().filter(|b| !b.is_empty()) {
            all.add(&b.lo);
            all.add(&b.hi);
        }
        if !all.is_empty() {
            // Single precision is best near its origin; it follows the scene when that has left.
            let centre = Vec3::from_fn(|k, _| 0.5 * (all.lo[k] + all.hi[k]));
            if (centre - self.origin).amax() > 2.0 * all.longest() {
                self.origin = centre;
                self.bodies.iter_mut().for_each(|b| b.fresh = Fresh::default());
            }
        }

        self.say_what_is_wanted(scene, at.end.is_some(), query);
        let wants = self.needs(query);
        let count = self.bodies.iter().filter(|b| b.needed).count();
        let mut budget = count.div_ceil(REBUILT);
        for body in self.bodies.iter_mut().filter(|b| b.wants_trees && !b.fresh.trees) {
            let worn = body.nodes.is_worn() || body.edges.is_worn() || body.faces.is_worn();
            body.rebuild = worn && budget > 0;
            budget -= usize::from(body.rebuild);
        }
        let origin = self.origin;
        let one = |state: &mut BodyState, body: &Body| {
            (state.built, state.refitted, state.build_seconds, state.refit_seconds) = (0, 0, 0.0, 0.0);
            if state.needed {
                state.fit(scene, body, at, wants, &origin);
            }
        };
        let few = scene.bodies_with(FITTED);
        self.bodies.par_iter_mut().zip(&scene.bodies).with_min_len(few).for_each(|(s, b)| one(s, b));
        for body in self.bodies.iter().filter(|b| b.needed) {
            self.findings.stats.trees_built += body.built;
            self.findings.stats.trees_refitted += body.refitted;
        }
    }
}

impl ThreeStage {
    /// Are two bodies compared without trees?
    fn by_axes(&self, scene: &Scene, [a, b]: [u32; 2], swept: bool, query: &Query) -> bool {
        let [p, q] = [a, b].map(|b| &scene.bodies[b as usize]);
        let plain = !swept && !query.face_face && !self.textbook;
        plain && (is_small(p) || p.plane) && (is_small(q) || q.plane) && !scene.can_exclude(a, b)
    }

    /// Tells bodies whether trees or axes are asked of them.
    fn say_what_is_wanted(&mut self, scene: &Scene, swept: bool, query: &Query) {
        for body in &mut self.bodies {
            (body.wants_trees, body.wants_axes) = (false, false);
        }
        for i in (0..self.body_pairs.len()).filter(|&i| !self.keep[i]) {
            let axes = self.by_axes(scene, self.body_pairs[i], swept, query);
            for b in self.body_pairs[i] {
                let body = &mut self.bodies[b as usize];
                body.wants_axes |= axes;
                body.wants_trees |= !axes;
            }
        }
    }
}

/// Displacement of the second body against the first, and both deviations, since the beginning.
#[inline]
fn between(p: &BodyState, q: &BodyState) -> (Vec3, f64) {
    (
        (q.displacement + q.new_displacement) - (p.displacement + p.new_displacement),
        p.deviation + p.new_deviation + q.deviation + q.new_deviation,
    )
}

fn carry<T: Copy>(from: &[T], part: Part, to: &mut Vec<T>) -> Part {
    let start = to.len() as u32;
    to.extend_from_slice(part.of(from));
    Part { from: start, to: to.len() as u32 }
}
