//! The walk of the three-stage search: from trees of two bodies to candidates, in tasks that threads share.

use super::super::body_axes::{Compared, PairRoom};
use super::super::body_trees::BodyState;
use super::super::bvh::{self, NodePair, Tree};
use super::super::pieces;
use super::super::scene::{Body, Scene};
use super::super::search::{Candidates, Part, Query, SearchError, passes};
use super::{ThreeStage, Walked};
use crate::math::lane::{self, Lane, OnLanes};
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Leaves of two trees together from which on their walk is cut into parts …
const LARGE: usize = 16384;
/// … this many.
const PARTS: usize = 64;
/// Words that a candidate takes while it is measured: its key, in three lists.
const MEASURED: usize = 3;
/// Leaves in one piece of parallel work.
const PIECE: usize = 8192;
/// One task of so many tells how much room all of them will need, if there are enough of those: few may be the largest of all.
const SAMPLED: usize = 16;
const ENOUGH: usize = 64;

/// One part of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pair: u32,
    kind: Kind,
    start: NodePair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nodes of the first body on faces of the second.
    NodesFaces,
    FacesNodes,
    Edges,
    Faces,
    /// Nodes on faces and edges on edges of two small bodies, or nodes of one on a plane.
    Small,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    pub(super) tasks: std::ops::Range<usize>,
    pub(super) vertex_face: Vec<[u32; 2]>,
    pub(super) edge_edge: Vec<[u32; 2]>,
    pub(super) face_face: Vec<[u32; 2]>,
    /// Candidates of each task, of each kind.
    pub(super) counts: Vec<[u32; 3]>,
    pub(super) tests: u64,
    pub(super) leaves: u64,
}

impl ThreeStage {
    /// Finds the candidates of all pairs of bodies whose old ones do not hold. Where there is no memory for them all are given up.
    pub(super) fn walk(&mut self, scene: &Scene, query: &Query, swept: bool) -> Result<(), SearchError> {
        let lack = AtomicBool::new(false);
        self.walk_while(scene, query, swept, &lack);
        let (a, b, c) = self.findings.candidates.count();
        let noted = self.lasting || self.drowsy;
        if lack.load(Relaxed) || !self.findings.candidates.welcome(noted) || !self.can_measure(a + b + c) {
            self.forget_all();
            return Err(SearchError::Memory { candidates: a + b + c });
        }
        Ok(())
    }

    /// Is there memory to measure so many candidates? Asked when there are more than ever.
    fn can_measure(&mut self, candidates: usize) -> bool {
        if candidates <= self.measurable {
            return true;
        }
        self.measurable = 2 * candidates;
        let mut asked: Vec<[u64; MEASURED]> = Vec::new();
        let granted = asked.try_reserve_exact(candidates).is_ok();
        drop(black_box(asked));
        granted
    }

    /// Gives back what candidates take.
    fn forget_all(&mut self) {
        self.findings.candidates = Candidates::default();
        self.pieces.clear();
        self.walked.clear();
        (self.last, self.measurable) = (None, 0);
    }

    fn walk_while(&mut self, scene: &Scene, query: &Query, swept: bool, lack: &AtomicBool) {
        self.list_tasks(scene, query, swept);
        let used = if rayon::current_num_threads() == 1 { 0 } else { self.cut_tasks(scene) };
        let context = Context {
            scene,
            bodies: &self.bodies,
            pairs: &self.body_pairs,
            walked: &self.walked,
            swept,
            raw_faces: self.raw_faces,
            query,
            lack,
        };
        if rayon::current_num_threads() == 1 {
            let c = &mut self.findings.candidates;
            let stats = &mut self.findings.stats;
            let mut room = PairRoom::default();
            let (before, sample) = (c.lengths(), self.tasks.len() / SAMPLED);
            for (i, task) in self.tasks.iter().enumerate() {
                let found = context.run(task, &mut room, c);
                stats.box_tests += found.tests;
                stats.leaf_pairs += found.leaves;
                if i + 1 == sample && sample >= ENOUGH {
                    c.expect(before, SAMPLED);
                }
            }
            return;
        }

        let tasks = &self.tasks;
        self.pieces[..used].par_iter_mut().for_each(|piece| {
            piece.vertex_face.clear();
            piece.edge_edge.clear();
            piece.face_face.clear();
            piece.counts.clear();
            (piece.tests, piece.leaves) = (0, 0);
            let mut room = PairRoom::default();
            for task in &tasks[piece.tasks.clone()] {
                let out = (&mut piece.vertex_face, &mut piece.edge_edge, &mut piece.face_face);
                let found = lane::dispatch(Find { context: &context, task, room: &mut room, out });
                piece.counts.push(found.candidates);
                piece.tests += found.tests;
                piece.leaves += found.leaves;
            }
        });
        if !lack.load(Relaxed) {
            lack.store(!self.join_pieces(used), Relaxed);
        }
    }

    /// Tasks in the order of the pairs; large walks in several parts.
    fn list_tasks(&mut self, scene: &Scene, query: &Query, swept: bool) {
        self.tasks.clear();
        for (i, &[a, b]) in self.body_pairs.iter().enumerate() {
            if self.keep[i] {
                continue;
            }
            if self.by_axes(scene, [a, b], swept, query) {
                self.tasks.push(Task { pair: i as u32, kind: Kind::Small, start: [0, 0] });
                self.findings.candidates.groups[i].by_node = true;
                continue;
            }
            let (p, q) = (&self.bodies[a as usize], &self.bodies[b as usize]);
            let [first, second] = passes(scene, a, b, query.pass);
            let kinds = [
                (Kind::NodesFaces, query.vertex_face && first, &p.nodes, &q.faces),
                (Kind::FacesNodes, query.vertex_face && second, &q.nodes, &p.faces),
                (Kind::Edges, query.edge_edge, &p.edges, &q.edges),
                (Kind::Faces, query.face_face, &p.faces, &q.faces),
            ];
            let plane = scene.bodies[a as usize].plane || scene.bodies[b as usize].plane;
            for (kind, wanted, s, t) in kinds {
                if !wanted {
                    continue;
                }
                let alone = plane || a == b && matches!(kind, Kind::Edges | Kind::Faces);
                if alone || s.len() + t.len() < LARGE {
                    self.tasks.push(Task { pair: i as u32, kind, start: [0, 0] });
                    continue;
                }
                let r = radius32(self.walked[i].radius + p.pad + q.pad);
                self.findings.stats.box_tests += bvh::split_walk(s, t, r, PARTS, &mut self.starts);
                self.tasks.extend(self.starts.iter().map(|&start| Task { pair: i as u32, kind, start }));
            }
        }
    }

    /// Cuts the tasks into pieces of parallel work; returns how many.
    fn cut_tasks(&mut self, scene: &Scene) -> usize {
        let mut used = 0;
        let (mut start, mut load) = (0, 0);
        for (i, task) in self.tasks.iter().enumerate() {
            let [a, b] = self.body_pairs[task.pair as usize];
            let size = |b: u32| scene.bodies[b as usize].facets.len() + scene.bodies[b as usize].slots.len();
            load += (size(a) + size(b)).min(PIECE / 4) + 64;
            if load >= PIECE || i + 1 == self.tasks.len() {
                if used == self.pieces.len() {
                    self.pieces.push(Piece::default());
                }
                self.pieces[used].tasks = start..i + 1;
                (used, start, load) = (used + 1, i + 1, 0);
            }
        }
        used
    }

    /// Puts together what pieces have found, in their order; false if there is no memory for it.
    fn join_pieces(&mut self, used: usize) -> bool {
        let c = &mut self.findings.candidates;
        let of = |kind: fn(&Piece) -> &Vec<[u32; 2]>| self.pieces[..used].iter().map(|p| kind(p).len()).sum();
        let room = [
            c.vertex_face.try_reserve(of(|p| &p.vertex_face)),
            c.edge_edge.try_reserve(of(|p| &p.edge_edge)),
            c.face_face.try_reserve(of(|p| &p.face_face)),
        ];
        if room.iter().any(Result::is_err) {
            return false;
        }
        let mut done = [c.vertex_face.len(), c.edge_edge.len(), c.face_face.len()].map(|n| n as u32);
        for piece in &self.pieces[..used] {
            self.findings.stats.box_tests += piece.tests;
            self.findings.stats.leaf_pairs += piece.leaves;
            for (task, counts) in self.tasks[piece.tasks.clone()].iter().zip(&piece.counts) {
                let group = &mut c.groups[task.pair as usize];
                let parts = [&mut group.vertex_face, &mut group.edge_edge, &mut group.face_face];
                for ((part, done), &count) in parts.into_iter().zip(&mut done).zip(counts) {
                    extend(part, *done, *done + count);
                    *done += count;
                }
            }
        }
        let found = &mut self.pieces[..used];
        pieces::append(found, |p| &mut p.vertex_face, &mut c.vertex_face);
        pieces::append(found, |p| &mut p.edge_edge, &mut c.edge_edge);
        pieces::append(found, |p| &mut p.face_face, &mut c.face_face);
        true
    }
}

/// What was found last of the candidates of a group, up to `to`, follows what was found before.
fn extend(part: &mut Part, from: u32, to: u32) {
    if part.is_empty() {
        *part = Part { from, to };
    } else if to > from {
        part.to = to;
    }
}

/// Rounds a radius up, with room for the rounding of a difference of two coordinates.
fn radius32(r: f64) -> f32 {
    ((r * (1.0 + 1e-6)) as f32).next_up()
}

/// What a walk reads.
struct Context<'a> {
    scene: &'a Scene,
    bodies: &'a [BodyState],
    pairs: &'a [[u32; 2]],
    walked: &'a [Walked],
    swept: bool,
    raw_faces: bool,
    query: &'a Query,
    /// There was no memory for candidates.
    lack: &'a AtomicBool,
}

type SmallLists<'a> = (&'a mut Vec<[u32; 2]>, &'a mut Vec<[u32; 2]>);
type Lists<'a> = (&'a mut Vec<[u32; 2]>, &'a mut Vec<[u32; 2]>, &'a mut Vec<[u32; 2]>);

impl Context<'_> {
    /// Runs a task straight into the arrays of all candidates.
    fn run(&self, task: &Task, room: &mut PairRoom, c: &mut Candidates) -> Found {
        let before = [c.vertex_face.len(), c.edge_edge.len(), c.face_face.len()];
        let out = (&mut c.vertex_face, &mut c.edge_edge, &mut c.face_face);
        let found = lane::dispatch(Find { context: self, task, room, out });
        let group = &mut c.groups[task.pair as usize];
        let parts = [&mut group.vertex_face, &mut group.edge_edge, &mut group.face_face];
        for ((part, from), count) in parts.into_iter().zip(before).zip(found.candidates) {
            extend(part, from as u32, from as u32 + count);
        }
        found
    }

    /// Candidates of two small bodies, or of one and a plane; returns the number of boxes compared.
    #[inline(always)]
    fn small(&self, task: &Task, room: &mut PairRoom, (vf, ee): SmallLists<'_>) -> u64 {
        let [a, b] = self.pairs[task.pair as usize];
        let (scene, states) = (self.scene, [a, b].map(|b| &self.bodies[b as usize]));
        let bodies = [a, b].map(|b| &scene.bodies[b as usize]);
        let wanted = passes(scene, a, b, self.query.pass).map(|pass| pass && self.query.vertex_face);
        let radius = self.walked[task.pair as usize].radius;
        if let Some(plane) = bodies.iter().position(|b| b.plane) {
            let other = 1 - plane;
            if !wanted[other] || bodies[other].plane {
                return 0;
            }
            let r = radius32(radius + states[0].pad + states[1].pad);
            return states[plane].near_slots(&states[other].points[0], r, |i| {
                if self.room(vf, 1) {
                    vf.push([
                        scene.slots[bodies[other].slots.start as usize + i],
                        bodies[plane].facets.start,
                    ]);
                }
            });
        }
        let [Some(p), Some(q)] = states.map(|s| s.axes.as_deref()) else { return 0 };
        let r = radius32(radius + states[0].axes_pad + states[1].axes_pad);
        let compared = Compared { scene, bodies, axes: [p, q], r };
        let mut tests = bodies.iter().map(|b| b.slots.len() as u64).sum();
        if !compared.look(room) {
            return tests;
        }
        for (which, _) in wanted.into_iter().enumerate().filter(|w| w.1) {
            tests += compared.nodes_faces(which, room, |pairs| {
                if self.room(vf, pairs.len()) {
                    vf.extend_from_slice(pairs);
                }
            });
        }
        if self.query.edge_edge {
            tests += compared.edges_edges(room, |pairs| {
                if self.room(ee, pairs.len()) {
                    ee.extend_from_slice(pairs);
                }
            });
        }
        tests
    }

    /// Is there memory for so many more in a list? If not the walk goes on and finds nothing: its answer is not used.
    #[inline(always)]
    fn room(&self, list: &mut Vec<[u32; 2]>, more: usize) -> bool {
        let fits = list.try_reserve(more).is_ok();
        if !fits {
            self.lack.store(true, Relaxed);
        }
        fits
    }
}

/// What a task has found and done.
struct Found {
    candidates: [u32; 3],
    tests: u64,
    leaves: u64,
}

/// A task, compiled for the vector instructions of this machine; comparisons of boxes are the same in all.
struct Find<'a> {
    context: &'a Context<'a>,
    task: &'a Task,
    room: &'a mut PairRoom,
    out: Lists<'a>,
}

impl OnLanes for Find<'_> {
    type Output = Found;

    #[inline(always)]
    fn run<L: Lane>(self, _: L::Token) -> Found {
        let Find { context, task, room, out: (vf, ee, ff) } = self;
        let [a, b] = context.pairs[task.pair as usize];
        let [p, q] = [a, b].map(|b| &context.bodies[b as usize]);
        let (scene, swept) = (context.scene, context.swept);
        let r = radius32(context.walked[task.pair as usize].radius + p.pad + q.pad);
        let careful = scene.can_exclude(a, b);
        let (mut leaves, before) = (0, (vf.len(), ee.len(), ff.len()));
        let tests = match task.kind {
            Kind::Small => context.small(task, room, (&mut *vf, &mut *ee)),
            Kind::NodesFaces | Kind::FacesNodes => {
                let swap = task.kind == Kind::FacesNodes;
                let (nodes, faces, master) = if swap { (q, p, a) } else { (p, q, b) };
                if let Body { plane: true, facets, .. } = &scene.bodies[master as usize] {
                    // Every node below the plane counts, however deep.
                    let facet = facets.start;
                    faces.near_plane(&nodes.nodes, r, |slot| {
                        leaves += 1;
                        if context.room(vf, 1) {
                            vf.push([scene.slots[slot as usize], facet]);
                        }
                    })
                } else {
                    from(&nodes.nodes, &faces.faces, task.start, r, |pairs| {
                        leaves += pairs.len() as u32;
                        if !context.room(vf, pairs.len()) {
                            return;
                        }
                        let named = pairs.iter().map(|&[slot, face]| [scene.slots[slot as usize], face]);
                        if careful {
                            vf.extend(named.filter(|&[k, f]| !scene.excludes_vertex_face(k, f, swept)));
                        } else {
                            vf.extend(named);
                        }
                    })
                }
            }
            Kind::Edges => {
                let found = |pairs: &[[u32; 2]]| {
                    leaves += pairs.len() as u32;
                    if !context.room(ee, pairs.len()) {
                        return;
                    }
                    if careful {
                        let fits = |&&[e, f]: &&[u32; 2]| !scene.excludes_edge_edge(e, f, swept);
                        ee.extend(pairs.iter().filter(fits).map(|&[e, f]| [e.min(f), e.max(f)]));
                    } else {
                        ee.extend_from_slice(pairs);
                    }
                };
                if a == b {
                    bvh::walk_self(&p.edges, r, found)
                } else {
                    from(&p.edges, &q.edges, task.start, r, found)
                }
            }
            Kind::Faces => {
                let found = |pairs: &[[u32; 2]]| {
                    leaves += pairs.len() as u32;
                    if !context.room(ff, pairs.len()) {
                        return;
                    }
                    if careful && !context.raw_faces {
                        let fits = |&&[f, g]: &&[u32; 2]| !scene.excludes_face_face(f, g, swept);
                        ff.extend(pairs.iter().filter(fits).map(|&[f, g]| [f.min(g), f.max(g)]));
                    } else {
                        ff.extend_from_slice(pairs);
                    }
                };
                if a == b {
                    bvh::walk_self(&p.faces, r, found)
                } else {
                    from(&p.faces, &q.faces, task.start, r, found)
                }
            }
        };
        let candidates = [vf.len() - before.0, ee.len() - before.1, ff.len() - before.2].map(|n| n as u32);
        let leaves = if task.kind == Kind::Small { candidates[0] + candidates[1] } else { leaves };
        Found { candidates, tests, leaves: u64::from(leaves) }
    }
}

/// Walks from a start; the roots are compared first.
#[inline(always)]
fn from(a: &Tree, b: &Tree, start: NodePair, r: f32, found: impl FnMut(&[[u32; 2]])) -> u64 {
    if start == [0, 0] {
        if !bvh::roots_near(a, b, r) {
            return 1;
        }
        return 1 + bvh::walk(a, b, start, r, found);
    }
    bvh::walk(a, b, start, r, found)
}
