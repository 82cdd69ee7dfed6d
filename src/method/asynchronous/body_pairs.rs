//! Pairs of bodies that can meet. Each keeps its candidates, and each of these sleeps until the two bodies can have brought it together.
//!
//! ```text
//! motion between two looks     m = |Δa − Δb| + εa + εb      Δ mean motion of a body's nodes, ε farthest from it
//! way of a pair                w = Σ m
//! candidate at the distance d  cannot touch before w has grown by it
//! ```
//!
//! At a look those are measured who can touch before the next one; who is found farther away sleeps again. The list of a pair holds
//! everything up to a distance, and is made anew when the two can have come that far: `|Σ (Δa − Δb)| + Σ (εa + εb)`, so that bodies that
//! tremble do not use it up. Motion between two looks is bounded by speeds ([`Collisions`](super::collisions)). What is found does not
//! depend on any of this.
//!
//! | candidate        | distance at least                                                                 |
//! |------------------|-----------------------------------------------------------------------------------|
//! | node, target     | of the node from planes between which all of the target lies that counts as inside |
//! | edge, edge       | of the two, less how deep they may have crossed                                    |

mod candidates;
mod distances;

use super::check_groups::leave_room;
use super::contactors::Contactor;
use super::edges::EdgeOf;
use super::impulses::DriftedView;
use super::targets::Targets;
use crate::contact::cells::box_around;
use crate::contact::octree::Aabb;
use crate::contact::scene::Scene;
use crate::math::Vec3;
use crate::math::lane::{MAX_WIDTH, dispatch};
use crate::math::lists::Lists;
use candidates::{Candidates, Span, release, single, soonest};
use distances::{EdgeDistances, Hull, Hulls, NodesInTargets};
use rayon::prelude::*;

/// A distance counts as used up this much earlier: a point beside a target moves by more than its nodes, whose weights there add up to no
/// more than that: 1.158 in a hex, 1.3 in a tet.
const EARLY: f64 = 1.3;
/// Share of its size by which a target reaches beyond its nodes, and a little more.
const BESIDE: f64 = 0.1;
/// Pairs of bodies that one task looks through at least, and tasks of each thread at most: each has room of its own.
const TASK: usize = 16;
const TASKS: usize = 4;
/// Candidates that are passed over together while they sleep.
const STRETCH: usize = 16;
/// Rounding of the ways of candidates, which are kept in single precision.
const ROUNDED: f64 = 1e-6;

/// Two kinds of candidates: nodes in targets, and edges.
const NODES: usize = 0;
const EDGES: usize = 1;

/// Two bodies that can meet, the lower first.
#[derive(Clone, Copy, Debug)]
struct BodyPair {
    bodies: [u32; 2],
    /// Motion since its lists were made: of the first against the second, and the rest of it [m].
    shift: Vec3,
    stray: f64,
    /// The same along its way [m].
    way: f64,
    /// Its lists hold everything up to this distance [m]; negative if they are to be made.
    reach: f64,
    /// Where they stand, and the way after which the first of each is awake [m].
    lists: [Span; 2],
    soonest: [f32; 2],
}

/// Where the nodes of a body are that can take part in contacts.
#[derive(Clone, Copy, Debug)]
struct Travel {
    extent: Aabb,
    /// Mean motion since the look before, and the farthest of a node from it [m].
    mean: Vec3,
    stray: f64,
    /// Largest target, with what is beside it [m].
    largest: f64,
    /// How deep its edges may cross others [m].
    deepest: f64,
    /// Hulls of its targets are asked for at this look.
    asked: bool,
}

/// What lists are made of.
pub(crate) struct Features<'a> {
    pub scene: &'a Scene,
    pub targets: &'a Targets,
    pub contactors: &'a [Contactor],
    pub edges: &'a [EdgeOf],
}

/// How far lists shall hold [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaches {
    /// Everything up to this distance is listed.
    pub listed: f64,
    /// Anybody may move by this much before the next look.
    pub motion: f64,
    /// What is as near as this counts as well: ways that are looked at.
    pub beside: f64,
    /// Cells that do not see a direction count only what is as near as that along it.
    pub apart: f64,
}

impl Reaches {
    /// Distance up to which who is measured now can touch before the next look [m].
    fn awake(&self) -> f64 {
        EARLY * 2.0 * self.motion + self.beside
    }
}

/// Room to work for one task, and what it has found.
#[derive(Debug, Default)]
struct Room {
    points: Vec<[[f64; MAX_WIDTH]; 3]>,
    ids: Vec<u32>,
    edges: Vec<(u32, Aabb)>,
    /// Edges that are measured: who, their places in the lists, and how far they are.
    measured: Vec<[u32; 2]>,
    places: Vec<u32>,
    distances: Vec<f64>,
    /// New lists, one after the other, and whose they are.
    made: [Candidates; 2],
    whose: Vec<(u32, [u32; 2])>,
    /// Who sleeps until when, by the place in the lists.
    slept: [Vec<(u32, f32)>; 2],
    awake: [Vec<[u32; 2]>; 2],
}

#[derive(Default)]
pub(crate) struct BodyPairs {
    /// Nodes of each body that can take part in contacts.
    nodes: Lists,
    /// Tick of the last look; where those nodes were then, and at the look before, by their numbers.
    tick: u64,
    now: Vec<Vec3>,
    before: Vec<Vec3>,
    contactors_of: Lists,
    edges_of: Lists,
    /// Node of each contactor; ends of each edge, and how deep it may cross others [m].
    node_of: Vec<u32>,
    ends: Vec<[u32; 2]>,
    deep: Vec<f64>,
    travels: Vec<Travel>,
    /// Of each target at the last look, as far as somebody near it was awake.
    hulls: Vec<Hull>,
    /// What counts as inside of a target may have moved by this much before the next look [m].
    moved: f64,
    /// In the order of their bodies.
    pairs: Vec<BodyPair>,
    last: Vec<BodyPair>,
    candidates: [Candidates; 2],
    keys: Vec<[u32; 2]>,
    order: Vec<u32>,
    rooms: Vec<Room>,
    /// How many of them the last look has used.
    tasks: usize,
    looked: bool,
}

impl BodyPairs {
    /// `touched` are the nodes that can take part in contacts.
    pub(crate) fn new(features: &Features, touched: &[bool], body_of: &[u32], bodies: usize) -> BodyPairs {
        let mine = (0..touched.len() as u32).filter(|&n| touched[n as usize]);
        let nodes = Lists::new(bodies, mine.map(|n| (body_of[n as usize], n)));
        let contactors = (0..).zip(features.contactors).map(|(i, c): (u32, &Contactor)| (c.body, i));
        let edges = (0..).zip(features.edges).filter(|(_, e)| e.line.bends);
        let still = Travel {
            extent: Aabb::EMPTY,
            mean: Vec3::zeros(),
            stray: 0.0,
            largest: 0.0,
            deepest: 0.0,
            asked: false,
        };
        let mut travels = vec![still; bodies];
        let deep: Vec<f64> = features.edges.iter().map(|e| features.deepest(e)).collect();
        for (edge, deep) in features.edges.iter().zip(&deep) {
            let deepest = &mut travels[edge.line.body as usize].deepest;
            *deepest = deepest.max(*deep);
        }
        BodyPairs {
            tick: u64::MAX,
            now: vec![Vec3::zeros(); touched.len()],
            before: vec![Vec3::zeros(); touched.len()],
            nodes,
            contactors_of: Lists::new(bodies, contactors),
            edges_of: Lists::new(bodies, edges.map(|(i, e): (u32, &EdgeOf)| (e.line.body, i))),
            node_of: features.contactors.iter().map(|c| c.node).collect(),
            ends: features.edges.iter().map(|e| e.line.nodes).collect(),
            deep,
            travels,
            hulls: vec![Hull::NONE; features.targets.list.len()],
            ..BodyPairs::default()
        }
    }

    /// All lists are to be made anew.
    pub(crate) fn forget(&mut self) {
        (self.looked, self.tick) = (false, u64::MAX);
    }

    /// Looks where everybody is; returns the largest |v|² [m²/s²].
    pub(crate) fn look(&mut self, motion: &DriftedView) -> f64 {
        let BodyPairs { nodes, now, before, travels, looked, .. } = self;
        self.tick = motion.when.tick;
        std::mem::swap(now, before);
        let mut fastest: f64 = 0.0;
        for (body, travel) in travels.iter_mut().enumerate() {
            let mine = nodes.of(body as u32);
            (travel.extent, travel.mean) = (Aabb::EMPTY, Vec3::zeros());
            for &n in mine {
                let y = motion.at(n);
                now[n as usize] = y;
                travel.extent.add(y.as_ref());
                travel.mean += y - before[n as usize];
                fastest = fastest.max(motion.v[n as usize].norm_squared());
            }
            travel.mean /= mine.len().max(1) as f64;
            let stray = |&n: &u32| (now[n as usize] - before[n as usize] - travel.mean).norm_squared();
            travel.stray = mine.iter().map(stray).fold(0.0, f64::max).sqrt();
            travel.largest += 2.0 * travel.stray;
            travel.asked = !*looked;
        }
        fastest
    }

    /// Renews the lists that could be used up before the next look, and wakes up who can touch until then.
    pub(crate) fn renew(&mut self, features: &Features, reaches: &Reaches) {
        if !self.looked {
            // of the hulls the largest targets are known
            self.looked = true;
            self.pairs.clear();
            for candidates in &mut self.candidates {
                candidates.clear();
            }
            self.make_hulls(features);
        }
        self.find_pairs(features.scene, reaches.listed + reaches.beside);
        for pair in &mut self.pairs {
            let [a, b] = pair.bodies.map(|body| self.travels[body as usize]);
            let (shift, stray) = (a.mean - b.mean, a.stray + b.stray);
            pair.shift += shift;
            pair.stray += stray;
            pair.way += shift.norm() + stray;
            let holds = pair.reached(reaches) <= pair.reach;
            if !holds {
                for (candidates, list) in self.candidates.iter_mut().zip(&mut pair.lists) {
                    candidates.live -= std::mem::take(&mut list.count) as usize;
                }
                *pair = BodyPair { lists: pair.lists, ..BodyPair::new(pair.bodies) };
            }
            if pair.reach < 0.0 || pair.is_due(reaches) {
                pair.bodies.iter().for_each(|&body| self.travels[body as usize].asked = true);
            }
        }
        self.make_hulls(features);
        let mut pairs = std::mem::take(&mut self.pairs);
        let mut rooms = std::mem::take(&mut self.rooms);
        let task = TASK.max(pairs.len().div_ceil(TASKS * rayon::current_num_threads()));
        self.tasks = pairs.len().div_ceil(task);
        if rooms.len() < self.tasks {
            rooms.resize_with(self.tasks, Room::default);
        }
        let some = |first: usize, pairs: &mut [BodyPair], room: &mut Room| {
            room.clear();
            for (i, pair) in pairs.iter_mut().enumerate() {
                if pair.reach < 0.0 {
                    self.make(pair, (first + i) as u32, features, reaches, room);
                } else if pair.is_due(reaches) {
                    self.wake_nodes(pair, reaches, room);
                    self.wake_edges(pair, reaches, room);
                }
            }
        };
        if self.tasks > 1 {
            (pairs.par_chunks_mut(task).enumerate())
                .zip(rooms.par_iter_mut())
                .for_each(|((i, pairs), room)| some(task * i, pairs, room));
        } else if self.tasks == 1 {
            some(0, &mut pairs, &mut rooms[0]);
        }
        (self.pairs, self.rooms) = (pairs, rooms);
        self.take_lists();
        self.moved = EARLY * reaches.motion;
    }

    /// Can a node at `y` be in a target that is awake?
    #[inline(always)]
    pub(crate) fn may_hold(&self, target: u32, y: &Vec3, motion: &DriftedView) -> bool {
        let room = if self.tick == motion.when.tick { 0.0 } else { self.moved };
        let apart = self.hulls[target as usize].distance(y) > room;
        !apart
    }

    /// Where the nodes of a body were at the last look that can take part in contacts.
    pub(crate) fn extent(&self, body: u32) -> &Aabb {
        &self.travels[body as usize].extent
    }

    /// Those who are awake: (contactor, target).
    pub(crate) fn nodes_awake(&self) -> impl Iterator<Item = [u32; 2]> + Clone {
        self.rooms[..self.tasks].iter().flat_map(|room| room.awake[NODES].iter().copied())
    }

    /// Those who are awake: (edge, edge), each once.
    pub(crate) fn edges_awake(&self) -> impl Iterator<Item = [u32; 2]> + Clone {
        self.rooms[..self.tasks].iter().flat_map(|room| room.awake[EDGES].iter().copied())
    }

    /// Memory [bytes].
    pub(crate) fn memory_bytes(&self) -> usize {
        self.candidates.iter().map(Candidates::bytes).sum::<usize>()
            + self.rooms.iter().map(Room::bytes).sum::<usize>()
            + size_of::<BodyPair>() * (self.pairs.capacity() + self.last.capacity())
            + size_of::<Vec3>() * (self.now.capacity() + self.before.capacity())
            + size_of::<Hull>() * self.hulls.capacity()
            + size_of::<u32>() * self.node_of.capacity()
            + (size_of::<[u32; 2]>() + size_of::<f64>()) * self.ends.capacity()
            + self.nodes.bytes()
            + self.contactors_of.bytes()
            + self.edges_of.bytes()
    }

    /// Where a node that can take part in contacts is.
    #[inline(always)]
    pub(crate) fn at(&self, node: u32, motion: &DriftedView) -> Vec3 {
        if self.tick == motion.when.tick { self.now[node as usize] } else { motion.at(node) }
    }

    /// How deep an edge may cross others [m].
    #[inline(always)]
    pub(crate) fn deep(&self, edge: u32) -> f64 {
        self.deep[edge as usize]
    }

    /// Hulls of the targets of bodies that are asked for, and how large the largest is.
    fn make_hulls(&mut self, features: &Features) {
        let BodyPairs { hulls, travels, nodes, now, .. } = self;
        for (body, travel) in travels.iter_mut().enumerate().filter(|(_, t)| t.asked) {
            travel.largest = 0.0;
            if !nodes.of(body as u32).is_empty() {
                let mine = features.targets.of_body(body);
                let (targets, out) = (&features.targets.list[mine.clone()], &mut hulls[mine]);
                travel.largest = dispatch(Hulls { targets, x: now, out });
            }
        }
    }

    /// Which bodies can meet: those whose boxes are nearer than `reach`, and what is beside them.
    fn find_pairs(&mut self, scene: &Scene, reach: f64) {
        let BodyPairs { travels, order, keys, pairs, last, candidates, .. } = self;
        let (mut largest, mut deepest): (f64, f64) = (0.0, 0.0);
        for travel in travels.iter() {
            largest = largest.max(BESIDE * travel.largest);
            deepest = deepest.max(travel.deepest);
        }
        keys.clear();
        order.clear();
        order.extend(0..travels.len() as u32);
        let low = |b: u32| travels[b as usize].extent.lo[0];
        order.sort_unstable_by(|&a, &b| low(a).total_cmp(&low(b)).then(a.cmp(&b)));
        for (i, &a) in order.iter().enumerate() {
            let first = &travels[a as usize];
            let farthest = first.extent.hi[0] + reach + largest.max(deepest);
            for &b in order[i..].iter().take_while(|&&b| low(b) <= farthest) {
                let second = &travels[b as usize];
                let beside = BESIDE * first.largest.max(second.largest);
                let beside = beside.max(first.deepest.min(second.deepest));
                if first.extent.grown(reach + beside).meets(&second.extent) && scene.may_meet(a, b) {
                    keys.push([a.min(b), a.max(b)]);
                }
            }
        }
        keys.sort_unstable();
        // pairs that go on keep their lists
        std::mem::swap(pairs, last);
        pairs.clear();
        let mut old = last.iter().peekable();
        let mut gone = |pair: &BodyPair| {
            for (candidates, list) in candidates.iter_mut().zip(pair.lists) {
                candidates.live -= list.count as usize;
            }
        };
        for &bodies in keys.iter() {
            while let Some(pair) = old.next_if(|p| p.bodies < bodies) {
                gone(pair);
            }
            let known = old.next_if(|p| p.bodies == bodies);
            pairs.push(known.copied().unwrap_or_else(|| BodyPair::new(bodies)));
        }
        old.for_each(gone);
    }

    /// Puts new lists with the others, and notes who sleeps until when.
    fn take_lists(&mut self) {
        let BodyPairs { pairs, candidates, rooms, order, tasks, .. } = self;
        for (kind, candidates) in candidates.iter_mut().enumerate() {
            for &(place, until) in rooms[..*tasks].iter().flat_map(|room| &room.slept[kind]) {
                candidates.until[place as usize] = until;
            }
            let new: usize = rooms[..*tasks].iter().map(|room| room.made[kind].of.len()).sum();
            if candidates.of.len() + new > candidates.of.capacity() {
                candidates.close_ranks(kind, pairs, order, new);
            }
            for room in &rooms[..*tasks] {
                let mut start = candidates.of.len() as u32;
                candidates.until.extend_from_slice(&room.made[kind].until);
                candidates.of.extend_from_slice(&room.made[kind].of);
                for &(whose, counts) in &room.whose {
                    pairs[whose as usize].lists[kind] = Span { start, count: counts[kind] };
                    start += counts[kind];
                }
            }
            candidates.live += new;
            if candidates.is_too_large() {
                candidates.close_ranks(kind, pairs, order, 0);
            }
            for room in &mut *rooms {
                room.made[kind].release(candidates.live / TASK);
            }
        }
    }

    /// Makes the lists of a pair, which is the one at `place`.
    fn make(&self, pair: &mut BodyPair, place: u32, features: &Features, reaches: &Reaches, room: &mut Room) {
        pair.reach = reaches.listed + reaches.beside;
        let before = [NODES, EDGES].map(|kind| room.made[kind].of.len());
        let [a, b] = pair.bodies;
        let (of, reach) = (self, pair.reach);
        dispatch(NodesInTargets { of, features, bodies: [a, b], reach, apart: reaches.apart, room });
        if a != b {
            dispatch(NodesInTargets { of, features, bodies: [b, a], reach, apart: reaches.apart, room });
        }
        self.edges_of_two([a, b], reach, features, room);
        let awake = reaches.awake();
        let mut counts = [0; 2];
        for kind in [NODES, EDGES] {
            let Candidates { until, of, .. } = &room.made[kind];
            let new = before[kind]..of.len();
            counts[kind] = new.len() as u32;
            pair.soonest[kind] = soonest(&until[new.clone()]);
            let near = single(awake / EARLY) * (1.0 + 2.0 * ROUNDED as f32);
            let both = of[new.clone()].iter().zip(&until[new]);
            room.awake[kind].extend(both.filter(|(_, until)| **until <= near).map(|(of, _)| *of));
        }
        room.whose.push((place, counts));
    }

    /// Wakes up nodes that can be in targets before the next look.
    fn wake_nodes(&self, pair: &mut BodyPair, reaches: &Reaches, room: &mut Room) {
        let Candidates { until, of, .. } = &self.candidates[NODES];
        let (soon, awake, list) = (pair.soon(reaches), reaches.awake(), pair.lists[NODES].range());
        if pair.soonest[NODES] > soon {
            return;
        }
        let mut first = f32::INFINITY;
        let stretches = until[list.clone()].chunks(STRETCH).zip(of[list.clone()].chunks(STRETCH));
        for (at, (until, of)) in list.step_by(STRETCH).zip(stretches) {
            let next = soonest(until);
            if next > soon {
                first = if next < first { next } else { first };
                continue;
            }
            for (k, (&until, &[i, t])) in until.iter().zip(of).enumerate() {
                let mut until = until;
                if until <= soon {
                    let y = &self.now[self.node_of[i as usize] as usize];
                    let distance = self.hulls[t as usize].distance(y);
                    let apart = distance > awake;
                    if !apart {
                        room.awake[NODES].push([i, t]);
                    }
                    until = pair.sleeps(distance);
                    room.slept[NODES].push(((at + k) as u32, until));
                }
                first = if until < first { until } else { first };
            }
        }
        pair.soonest[NODES] = first;
    }

    /// Wakes up edges that can have crossed before the next look.
    fn wake_edges(&self, pair: &mut BodyPair, reaches: &Reaches, room: &mut Room) {
        let Candidates { until, of, .. } = &self.candidates[EDGES];
        let (soon, awake, list) = (pair.soon(reaches), reaches.awake(), pair.lists[EDGES].range());
        if pair.soonest[EDGES] > soon {
            return;
        }
        let Room { measured, places, distances, .. } = room;
        measured.clear();
        places.clear();
        let mut first = f32::INFINITY;
        for place in list {
            if until[place] <= soon {
                measured.push(of[place]);
                places.push(place as u32);
            } else {
                first = if until[place] < first { until[place] } else { first };
            }
        }
        dispatch(EdgeDistances { ends: &self.ends, x: &self.now, pairs: measured, out: distances });
        for ((&edges, &place), &distance) in room.measured.iter().zip(&room.places).zip(&room.distances) {
            let distance = distance - self.deepest_crossing(edges);
            let apart = distance > awake;
            if !apart {
                room.awake[EDGES].push(edges);
            }
            let until = pair.sleeps(distance);
            room.slept[EDGES].push((place, until));
            first = if until < first { until } else { first };
        }
        pair.soonest[EDGES] = first;
    }

    /// How deep two edges may have crossed [m].
    #[inline(always)]
    fn deepest_crossing(&self, [e, f]: [u32; 2]) -> f64 {
        self.deep(e).min(self.deep(f))
    }

    /// Edges of two bodies that are nearer than `reach` to where they may have crossed.
    fn edges_of_two(&self, [a, b]: [u32; 2], reach: f64, features: &Features, room: &mut Room) {
        let [first, second] = [a, b].map(|body| &self.travels[body as usize]);
        let deepest = first.deepest.min(second.deepest);
        let (near_first, near_second) =
            (first.extent.grown(reach + deepest), second.extent.grown(reach + deepest));
        let boxed = |&e: &u32| (e, box_around(self.ends[e as usize].map(|n| self.now[n as usize])));
        let Room { edges, measured, distances, made, .. } = room;
        edges.clear();
        edges.extend(self.edges_of.of(b).iter().map(boxed).filter(|e| e.1.meets(&near_first)));
        measured.clear();
        for (e, around) in self.edges_of.of(a).iter().map(boxed).filter(|e| e.1.meets(&near_second)) {
            let around = around.grown(reach + deepest);
            let others = edges.iter().filter(|f| around.meets(&f.1) && (a != b || f.0 > e));
            measured.extend(others.map(|f| [e, f.0]));
        }
        dispatch(EdgeDistances { ends: &self.ends, x: &self.now, pairs: measured, out: distances });
        for (&[e, f], distance) in measured.iter().zip(&*distances) {
            let distance = distance - self.deepest_crossing([e, f]);
            let edge = |i: u32| features.edges[i as usize].line.edge;
            let excluded = || a == b && features.scene.excludes_edge_edge(edge(e), edge(f), false);
            let apart = distance > reach;
            if !apart && !excluded() {
                made[EDGES].push(distance, [e, f]);
            }
        }
    }
}

impl BodyPair {
    /// Its lists are to be made.
    fn new(bodies: [u32; 2]) -> BodyPair {
        BodyPair {
            bodies,
            shift: Vec3::zeros(),
            stray: 0.0,
            way: 0.0,
            reach: -1.0,
            lists: [Span::default(); 2],
            soonest: [f32::INFINITY; 2],
        }
    }

    /// Distance up to which candidates of its lists, as they were made, can touch before the next look [m].
    fn reached(&self, reaches: &Reaches) -> f64 {
        EARLY * (self.shift.norm() + self.stray + 2.0 * reaches.motion) + reaches.beside
    }

    /// Way up to which candidates can touch before the next look [m].
    #[inline(always)]
    fn soon(&self, reaches: &Reaches) -> f32 {
        ((self.way + reaches.awake() / EARLY) * (1.0 + ROUNDED)) as f32
    }

    /// Can any of its candidates?
    fn is_due(&self, reaches: &Reaches) -> bool {
        let soon = self.soon(reaches);
        self.soonest.iter().any(|soonest| *soonest <= soon)
    }

    /// Way before which a candidate cannot touch that is at this distance now [m].
    #[inline(always)]
    fn sleeps(&self, distance: f64) -> f32 {
        // a distance that is not a number lets nobody sleep
        single(self.way + (distance / EARLY).max(0.0))
    }
}

impl Room {
    fn clear(&mut self) {
        for kind in [NODES, EDGES] {
            leave_room(&mut self.slept[kind]);
            leave_room(&mut self.awake[kind]);
            let (slept, awake) = (self.slept[kind].len(), self.awake[kind].len());
            release(&mut self.slept[kind], slept);
            release(&mut self.awake[kind], awake);
            self.made[kind].clear();
            self.slept[kind].clear();
            self.awake[kind].clear();
        }
        self.whose.clear();
    }

    fn bytes(&self) -> usize {
        let of_kind = |kind: usize| {
            self.made[kind].bytes()
                + size_of::<(u32, f32)>() * self.slept[kind].capacity()
                + size_of::<[u32; 2]>() * self.awake[kind].capacity()
        };
        of_kind(NODES)
            + of_kind(EDGES)
            + size_of::<[[f64; MAX_WIDTH]; 3]>() * self.points.capacity()
            + size_of::<(u32, Aabb)>() * self.edges.capacity()
            + size_of::<[u32; 2]>() * self.measured.capacity()
            + size_of::<f64>() * self.distances.capacity()
    }
}

impl Features<'_> {
    /// How deep an edge may cross others [m].
    fn deepest(&self, edge: &EdgeOf) -> f64 {
        let edge = &self.scene.edges[edge.line.edge as usize];
        self.scene.deepest_crossing(edge, edge)
    }
}
