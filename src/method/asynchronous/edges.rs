//! Edges that have crossed: what nodes in elements do not see.
//!
//! ```text
//! nearest points of the two lines at s and t, both well inside     n ∥ a × b, out of b and into a
//! gap g = n·(x_a(s) − x_b(t)), overlap up to half of what their facets are wide    weights 1−s, s, −(1−t), −t
//! ```
//!
//! Half of what an edge is long, as one could think, is too much: two thin bodies that lie across each other would also
//! touch with the edges of their far sides, and never part.
//!
//! Edges of obstacles take part: they have points that move as told instead of the last two weights.
//!
//! Only edges at which the surface bends can be the first to touch; those of an obstacle may touch any, because its nodes do
//! not look for faces. The line between the two points is along n, so a
//! normal impulse keeps the angular momentum.

use super::body_pairs::BodyPairs;
use super::check_groups::{CheckGroup, Near, check_groups};
use super::collisions::{Collisions, EdgePair};
use super::impulses::{ContactContext, DriftedView};
use super::obstacles::Obstacles;
use super::options::Response;
use crate::contact::cells::box_around;
use crate::contact::scene::{Edge, Scene};
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes, dispatch};
use crate::mesh::surface::NONE;
use crate::model::Model;
use rayon::prelude::*;

/// Surfaces that bend by less than this are flat there: 5°.
const FLAT: f64 = 0.996_194_698_091_745_5;
/// Points nearer to the ends of an edge than this share of it belong to the nodes.
const END: f64 = 0.02;
/// Sine of the angle below which edges are parallel.
const PARALLEL: f64 = 0.05;
/// Edges that one task looks for, and pairs of them that are judged together.
const CHUNK: usize = 256;
const BLOCK: usize = 8 * MAX_WIDTH;
/// Bounds that are judged together are wider by this share.
const NEARLY: f64 = 1e-6;

/// An edge inside a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub nodes: [u32; 2],
    facets: [u32; 2],
    pub body: u32,
    /// The surface bends there.
    pub bends: bool,
    /// Its number in the scene.
    pub edge: u32,
}

impl Line {
    /// Edge `edge` of the scene, whose nodes are at `x`; none on a rim.
    pub(crate) fn of(scene: &Scene, edge: usize, x: &[Vec3]) -> Option<Line> {
        let Edge { nodes, facets, body, .. } = scene.edges[edge];
        if facets[1] == NONE {
            return None;
        }
        let [p, q] = facets.map(|f| facet_normal(scene, f, |n| x[n as usize]));
        Some(Line { nodes, facets, body, bends: p.dot(&q) < FLAT, edge: edge as u32 })
    }

    /// Mean of the normals beside it, not of unit length.
    fn outwards(&self, scene: &Scene, at: impl Fn(u32) -> Vec3 + Copy) -> Vec3 {
        self.facets.iter().map(|&f| facet_normal(scene, f, at)).sum()
    }
}

/// One edge that looks for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeOf {
    pub line: Line,
    /// Time between two contact checks [ticks].
    step: u64,
    /// One more than the tick at which it last carried an impulse; zero for never.
    pub carried: u64,
}

type Crossed = (i64, [u32; 2], Crossing);

pub(crate) struct Edges {
    /// By step, then by number.
    pub list: Vec<EdgeOf>,
    pub check_groups: Vec<CheckGroup>,
    near: Near,
    found: Vec<u32>,
    /// Crossings of a contact check: rank, the two edges, and what they are; of each task, and all of them.
    tasks: Vec<Vec<Crossed>>,
    crossed: Vec<Crossed>,
    pairs: Vec<EdgePair>,
}

impl Edges {
    /// Edges of bodies that may touch, each as often as the quicker of its nodes.
    pub(crate) fn new(model: &Model, collisions: &Collisions) -> Edges {
        let (nodes, scene) = (model.reference.len(), &collisions.world.scene);
        let mut steps = vec![None; nodes];
        collisions.contactors.iter().for_each(|c| steps[c.node as usize] = Some(c.step));
        let step_of = |n: u32| steps[n as usize];
        let all = collisions.obstacles.has_edges();
        let mut list = Vec::new();
        for (e, edge) in scene.edges.iter().enumerate() {
            let soft = edge.nodes.iter().all(|&n| (n as usize) < nodes);
            let Some(line) = Some(e).filter(|_| soft).and_then(|e| Line::of(scene, e, &model.reference))
            else {
                continue;
            };
            if let ([Some(a), Some(b)], true) = (edge.nodes.map(step_of), all || line.bends) {
                list.push(EdgeOf { line, step: a.min(b), carried: 0 });
            }
        }
        list.sort_by_key(|edge| edge.step);
        Edges::of(list)
    }

    /// No edge looks at any other.
    pub(crate) fn none() -> Edges {
        Edges::of(Vec::new())
    }

    fn of(list: Vec<EdgeOf>) -> Edges {
        let steps: Vec<u64> = list.iter().map(|edge| edge.step).collect();
        Edges {
            check_groups: check_groups(&steps, false),
            tasks: list.chunks(CHUNK).map(|_| Vec::with_capacity(CHUNK)).collect(),
            list,
            near: Near::default(),
            found: Vec::with_capacity(64),
            crossed: Vec::with_capacity(64),
            pairs: Vec::with_capacity(64),
        }
    }

    /// Lists that hold as long as those of the nodes; until then nobody moves further than `room` [m].
    pub(crate) fn refresh(
        &mut self,
        pairs: &BodyPairs,
        obstacles: &Obstacles,
        room: f64,
        motion: &DriftedView,
    ) {
        let Edges { list, check_groups, near, found, .. } = self;
        // each of the two looks for the other
        let both = pairs.edges_awake().flat_map(|[e, f]| [[e, f], [f, e]]);
        near.renew(check_groups, list.len(), both, |i| {
            let around = || box_around(list[i].line.nodes.map(|n| motion.at(n))).grown(room);
            [obstacles.has_edges() && obstacles.edge_may_touch(&around(), found), false]
        });
    }

    /// Is the second of these edges in the list of the first?
    #[cfg(test)]
    pub(crate) fn may_meet(&self, first: u32, second: u32) -> bool {
        self.near.of(first as usize).contains(&second)
    }

    /// The edges of a group are checked for contact and answered; returns when they are checked again.
    pub(crate) fn check(
        &mut self,
        check_group: usize,
        collisions: &mut Collisions,
        context: &mut ContactContext,
    ) -> u64 {
        let Edges { list, check_groups, near, tasks, crossed, pairs, .. } = self;
        let check_group = &mut check_groups[check_group];
        collisions.tally.checks += check_group.members.len() as u64;
        // the deepest first, as nodes do; positions do not change meanwhile
        find_crossed(near.active(check_group), near, list, collisions, &context.motion(), tasks);
        crossed.clear();
        tasks.iter_mut().for_each(|found| crossed.append(found));
        crossed.sort_unstable_by_key(|c| (c.0, c.1));
        pairs.clear();
        pairs.extend(crossed.iter().map(|&(_, [i, id], Crossing { s, t, normal, gap })| {
            let [a, b] = [i, id].map(|k| &list[k as usize].line);
            let nodes = [a.nodes[0], a.nodes[1], b.nodes[0], b.nodes[1]];
            EdgePair { edges: [a.edge, b.edge], nodes, bodies: [a.body, b.body], s, t, normal, gap }
        }));
        // one by one, or all at once
        let share = if collisions.response == Response::Sequential { 1 } else { pairs.len().max(1) };
        for (some, of) in pairs.chunks(share).zip(crossed.chunks(share)) {
            let (tick, begin) = (context.when.tick, collisions.window.begin);
            let mut new = 0;
            collisions.answer_edges(some, context, |c| {
                let edge = &mut list[of[c as usize].1[0] as usize];
                new += u64::from(edge.carried <= begin);
                edge.carried = tick + 1;
            });
            collisions.window.contacts += new;
        }
        for &i in near.active(check_group) {
            let EdgeOf { line: mine, mut carried, .. } = list[i as usize];
            collisions.try_edges_of_obstacles(&mine, &mut carried, context);
            list[i as usize].carried = carried;
        }
        collisions.notice_impulses(context.when.tick);
        check_group.next = context.when.tick + check_group.step;
        check_group.next
    }
}

/// What the active edges of a check group have crossed, task by task.
fn find_crossed(
    active: &[u32],
    near: &Near,
    list: &[EdgeOf],
    collisions: &Collisions,
    motion: &DriftedView,
    tasks: &mut [Vec<Crossed>],
) {
    let pairs_of_bodies = &collisions.pairs_of_bodies;
    let at = |n: u32| pairs_of_bodies.at(n, motion);
    let judge = |pairs: &[[u32; 2]], found: &mut Vec<Crossed>| {
        let mut may_cross = [0.0; BLOCK];
        dispatch(MayCross { list, pairs_of_bodies, motion, pairs, out: &mut may_cross });
        for (&[i, id], _) in pairs.iter().zip(may_cross).filter(|(_, may)| *may > 0.0) {
            let lines = [&list[i as usize].line, &list[id as usize].line];
            if let Some(crossing) = Crossing::of(lines, &collisions.world.scene, at, at) {
                found.push((collisions.rank(-crossing.gap), [i, id], crossing));
            }
        }
    };
    let some = |active: &[u32], found: &mut Vec<Crossed>| {
        let (mut block, mut filled) = ([[0; 2]; BLOCK], 0);
        for &i in active {
            for &id in near.of(i as usize) {
                block[filled] = [i, id];
                filled += 1;
                if filled == BLOCK {
                    judge(&block, found);
                    filled = 0;
                }
            }
        }
        judge(&block[..filled], found);
    };
    let count = active.len().div_ceil(CHUNK);
    if count > 1 {
        active.par_chunks(CHUNK).zip(tasks.par_iter_mut()).for_each(|(active, found)| some(active, found));
    } else if count == 1 {
        some(active, &mut tasks[0]);
    }
}

/// Which of some pairs of edges may have crossed: all but those of which [`Crossing::of`] is certain to say no. The bounds are wider than
/// round-off by far.
struct MayCross<'a> {
    list: &'a [EdgeOf],
    pairs_of_bodies: &'a BodyPairs,
    motion: &'a DriftedView<'a>,
    pairs: &'a [[u32; 2]],
    out: &'a mut [f64; BLOCK],
}

impl OnLanes for MayCross<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let MayCross { list, pairs_of_bodies, motion, pairs, out } = self;
        for (pairs, out) in pairs.chunks(L::WIDTH).zip(out.chunks_mut(L::WIDTH)) {
            let last = pairs.len() - 1;
            let mut x = [[L::splat(token, 0.0); 4]; 4];
            for (k, x) in x.iter_mut().enumerate() {
                // beside the ends of each edge, how deep it may cross others
                *x = L::columns(token, |l| {
                    let edge = pairs[l.min(last)][k / 2];
                    let at = pairs_of_bodies.at(list[edge as usize].line.nodes[k % 2], motion);
                    [at.x, at.y, at.z, pairs_of_bodies.deep(edge)]
                });
            }
            let mut lanes = [0.0; MAX_WIDTH];
            may_cross(&x).store(&mut lanes);
            out[..pairs.len()].copy_from_slice(&lanes[..pairs.len()]);
        }
    }
}

/// One where the bounds of [`nearest`] and of the depth hold, or nearly; zero elsewhere.
#[inline(always)]
fn may_cross<L: Lane>([a0, a1, b0, b1]: &[[L; 4]; 4]) -> L {
    let (a, b, r) = (minus(a1, a0), minus(b1, b0), minus(b0, a0));
    let (aa, ab, bb, rr) = (dot(&a, &a), dot(&a, &b), dot(&b, &b), dot(&r, &r));
    let (ra, rb) = (dot(&r, &a), dot(&r, &b));
    let determinant = aa * bb - ab * ab;
    let (s, t) = (ra * bb - rb * ab, ra * ab - rb * aa);
    let across = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let height = dot(&r, &across);
    let deep = a0[3].min(b0[3]);
    let (yes, no) = (aa.of(1.0), aa.of(0.0));
    let may = determinant.if_less(aa * bb * (PARALLEL * PARALLEL * (1.0 - NEARLY)), no, yes);
    let may = s.min(t).if_less(determinant * (END - NEARLY), no, may);
    let may = (determinant * (1.0 - END + NEARLY)).if_less(s.max(t), no, may);
    let deepest = (deep * deep + rr * 1e-12) * determinant * (1.0 + NEARLY);
    deepest.if_less(height * height, no, may)
}

#[inline(always)]
fn minus<L: Lane>(p: &[L; 4], q: &[L; 4]) -> [L; 3] {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
}

#[inline(always)]
fn dot<L: Lane>(p: &[L; 3], q: &[L; 3]) -> L {
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
}

/// Unit outward normal of a facet.
fn facet_normal(scene: &Scene, facet: u32, at: impl Fn(u32) -> Vec3) -> Vec3 {
    let n = scene.facets[facet as usize].area_vector_at(at);
    n.try_normalize(0.0).unwrap_or(n)
}

/// Two edges that have crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub s: f64,
    pub t: f64,
    /// Out of the second, into the first.
    pub normal: Vec3,
    pub gap: f64,
}

impl Crossing {
    /// That of lines `a` and `b`, if they have; their nodes are where `at_a` and `at_b` say.
    pub(crate) fn of(
        [a, b]: [&Line; 2],
        scene: &Scene,
        at_a: impl Fn(u32) -> Vec3 + Copy,
        at_b: impl Fn(u32) -> Vec3 + Copy,
    ) -> Option<Crossing> {
        let ([a0, a1], [b0, b1]) = (a.nodes.map(at_a), b.nodes.map(at_b));
        let (s, t, n) = nearest(&a0, &a1, &b0, &b1)?;
        // the overlap if it is one; which it is takes longest to find out
        let along = n.dot(&((a0 + s * (a1 - a0)) - (b0 + t * (b1 - b0))));
        let [first, second] = [a, b].map(|line| &scene.edges[line.edge as usize]);
        if along.abs() > scene.deepest_crossing(first, second) {
            return None;
        }
        let out = b.outwards(scene, at_b);
        let (normal, gap) = if n.dot(&out) > 0.0 { (n, along) } else { (-n, -along) };
        let parts = || normal.dot(&out) > 0.0 && normal.dot(&a.outwards(scene, at_a)) < 0.0;
        (gap <= 0.0 && parts()).then_some(Crossing { s, t, normal, gap })
    }
}

/// Parameters of the nearest points of two lines, and a unit vector across both; none near the ends or if parallel.
fn nearest(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> Option<(f64, f64, Vec3)> {
    let (a, b, r) = (a1 - a0, b1 - b0, b0 - a0);
    let (aa, ab, bb) = (a.norm_squared(), a.dot(&b), b.norm_squared());
    let determinant = aa * bb - ab * ab;
    // aa bb sin²
    let crossed = determinant > PARALLEL * PARALLEL * aa * bb;
    if !crossed {
        return None;
    }
    let s = (r.dot(&a) * bb - r.dot(&b) * ab) / determinant;
    let t = (r.dot(&a) * ab - r.dot(&b) * aa) / determinant;
    let inside = |p: f64| p > END && p < 1.0 - END;
    (inside(s) && inside(t)).then(|| (s, t, a.cross(&b).normalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines one above the other: the nearest points lie on a common perpendicular.
    #[test]
    fn nearest_points_of_lines_lie_across_both() {
        let e = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
        let (a0, a1, b0, b1) = (e(-1.0, 0.25, 0.1), e(1.0, 0.5, 0.0), e(0.5, -1.0, -0.5), e(0.3, 1.5, -0.2));
        let (s, t, n) = nearest(&a0, &a1, &b0, &b1).unwrap();
        let across = (a0 + s * (a1 - a0)) - (b0 + t * (b1 - b0));
        assert!(across.dot(&(a1 - a0)).abs() < 1e-15 && across.dot(&(b1 - b0)).abs() < 1e-15);
        assert!((across.norm() - across.dot(&n).abs()).abs() < 1e-15);
        assert!(nearest(&a0, &a1, &(a0 + n), &(a1 + n)).is_none());
        assert!(nearest(&a0, &a1, &(b0 + 5.0 * Vec3::x()), &(b1 + 5.0 * Vec3::x())).is_none());
    }
}
