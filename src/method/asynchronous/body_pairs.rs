//! Pairs of bodies that can meet. Each keeps its candidates, and these sleep until the two bodies can have brought them together.
//!
//! ```text
//! motion since a list was made    m = |Σ (Δa − Δb)| + Σ (εa + εb)      Δ mean motion of a body's nodes between two looks, ε farthest from it
//! candidate at the distance d     cannot touch before m reaches it
//! ```
//!
//! A list holds everything up to a distance, the nearest first, so at each look those that are awake are its beginning, and it is made
//! anew when m could have used it up. Bodies that fall or fly together do not use it up at all. Motion between two looks is bounded by
//! speeds ([`Collisions`](super::collisions)). What is found does not depend on any of this.
//!
//! | candidate        | distance                                                                          |
//! |------------------|-----------------------------------------------------------------------------------|
//! | node, target     | of the node from the box around all of the target that counts as inside            |
//! | edge, edge       | of the two, less how deep they may have crossed                                    |

use super::check_groups::leave_room;
use super::contactors::Contactor;
use super::edges::EdgeOf;
use super::impulses::DriftedView;
use super::targets::{Target, Targets};
use crate::contact::cells::box_around;
use crate::contact::closest_point::edge_edge;
use crate::contact::octree::Aabb;
use crate::contact::scene::Scene;
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes, dispatch};
use crate::math::lists::Lists;
use rayon::prelude::*;

/// A distance counts as used up this much earlier: what is beside a target grows with it, by less than a fifth of its motion.
const EARLY: f64 = 1.2;
/// Share of its size by which a target reaches beyond its nodes, and a little more.
const BESIDE: f64 = 0.1;
/// Pairs of bodies that one task looks through.
const TASK: usize = 16;

/// Two features that may touch, the shortest motion after which they can [m], and who they are: node and target, or two edges.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    distance: f64,
    of: [u32; 2],
}

/// Two bodies that can meet, the lower first.
#[derive(Clone, Debug, Default)]
struct BodyPair {
    bodies: [u32; 2],
    /// Motion since its lists were made: of the first against the second, and the rest of it [m].
    shift: Vec3,
    stray: f64,
    /// Its lists hold everything up to this distance [m]; negative if they are to be made.
    reach: f64,
    /// Candidates, the nearest first, and how many of them are awake.
    nodes: Vec<Candidate>,
    edges: Vec<Candidate>,
    awake: [usize; 2],
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
    /// Boxes of its targets, and of its edges, are asked for at this look.
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

/// Room to work for one task.
#[derive(Debug, Default)]
struct Room {
    points: Vec<[[f64; MAX_WIDTH]; 3]>,
    ids: Vec<u32>,
    edges: Vec<(u32, Aabb)>,
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
    travels: Vec<Travel>,
    /// Where each target reached at the last look, as far as it was asked for; the look at which it was for those who are awake.
    boxes: Vec<Aabb>,
    known_at: Vec<u64>,
    looks: u64,
    /// Everything may have moved against everything by this much before the next look [m].
    moved: f64,
    /// In the order of their bodies.
    pairs: Vec<BodyPair>,
    last: Vec<BodyPair>,
    spare: Vec<BodyPair>,
    keys: Vec<[u32; 2]>,
    order: Vec<u32>,
    rooms: Vec<Room>,
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
        for edge in features.edges {
            let deepest = &mut travels[edge.line.body as usize].deepest;
            *deepest = deepest.max(features.deepest(edge, edge));
        }
        BodyPairs {
            tick: u64::MAX,
            now: vec![Vec3::zeros(); touched.len()],
            before: vec![Vec3::zeros(); touched.len()],
            nodes,
            contactors_of: Lists::new(bodies, contactors),
            edges_of: Lists::new(bodies, edges.map(|(i, e): (u32, &EdgeOf)| (e.line.body, i))),
            travels,
            boxes: vec![Aabb::EMPTY; features.targets.list.len()],
            known_at: vec![0; features.targets.list.len()],
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
            // of the boxes the largest targets are known
            self.looked = true;
            self.spare.append(&mut self.pairs);
            self.make_boxes(features);
        }
        self.find_pairs(features.scene, reaches.listed + reaches.beside);
        for pair in &mut self.pairs {
            let [a, b] = pair.bodies.map(|body| self.travels[body as usize]);
            pair.shift += a.mean - b.mean;
            pair.stray += a.stray + b.stray;
            let used_up = pair.awake_within(reaches) <= pair.reach;
            if !used_up {
                (pair.shift, pair.stray, pair.reach) = (Vec3::zeros(), 0.0, -1.0);
                pair.bodies.iter().for_each(|&body| self.travels[body as usize].asked = true);
            }
        }
        self.make_boxes(features);
        let mut pairs = std::mem::take(&mut self.pairs);
        let mut rooms = std::mem::take(&mut self.rooms);
        let tasks = pairs.len().div_ceil(TASK);
        if rooms.len() < tasks {
            rooms.resize_with(tasks, Room::default);
        }
        let some = |pairs: &mut [BodyPair], room: &mut Room| {
            for pair in pairs {
                if pair.reach < 0.0 {
                    self.make(pair, features, reaches, room);
                }
                let within = pair.awake_within(reaches);
                let awake = |list: &[Candidate]| list.partition_point(|c| c.distance <= within);
                pair.awake = [awake(&pair.nodes), awake(&pair.edges)];
            }
        };
        if tasks > 1 {
            (pairs.par_chunks_mut(TASK))
                .zip(rooms.par_iter_mut())
                .for_each(|(pairs, room)| some(pairs, room));
        } else if tasks == 1 {
            some(&mut pairs, &mut rooms[0]);
        }
        (self.pairs, self.rooms) = (pairs, rooms);
        self.looks += 1;
        self.moved = EARLY * 2.0 * reaches.motion;
        let BodyPairs { pairs, boxes, known_at, now, looks, .. } = self;
        for c in pairs.iter().flat_map(|pair| &pair.nodes[..pair.awake[0]]) {
            let t = c.of[1] as usize;
            if known_at[t] != *looks {
                known_at[t] = *looks;
                boxes[t] = features.targets.list[t].reach(|n| now[n as usize]);
            }
        }
    }

    /// Can a node at `y` be in a target that is awake?
    #[inline(always)]
    pub(crate) fn may_hold(&self, id: u32, target: &Target, y: &Vec3, motion: &DriftedView) -> bool {
        let (reach, room) =
            (&self.boxes[id as usize], if self.tick == motion.when.tick { 0.0 } else { self.moved });
        (0..target.kind.dimension()).all(|k| reach.lo[k] - room <= y[k] && y[k] <= reach.hi[k] + room)
    }

    /// Those who are awake: (contactor, target).
    pub(crate) fn nodes_awake(&self) -> impl Iterator<Item = [u32; 2]> + Clone {
        self.pairs.iter().flat_map(|pair| pair.nodes[..pair.awake[0]].iter().map(|c| c.of))
    }

    /// Those who are awake: (edge, edge), each once.
    pub(crate) fn edges_awake(&self) -> impl Iterator<Item = [u32; 2]> + Clone {
        self.pairs.iter().flat_map(|pair| pair.edges[..pair.awake[1]].iter().map(|c| c.of))
    }

    /// Memory [bytes].
    pub(crate) fn memory_bytes(&self) -> usize {
        let lists = |p: &BodyPair| size_of::<Candidate>() * (p.nodes.capacity() + p.edges.capacity());
        let pairs = self.pairs.iter().chain(&self.spare).chain(&self.last);
        pairs.map(|p| lists(p) + size_of::<BodyPair>()).sum::<usize>()
            + size_of::<Vec3>() * (self.now.capacity() + self.before.capacity())
            + size_of::<Aabb>() * self.boxes.capacity()
            + self.nodes.bytes()
            + self.contactors_of.bytes()
            + self.edges_of.bytes()
    }

    /// Where a node that can take part in contacts is.
    #[inline(always)]
    pub(crate) fn at(&self, node: u32, motion: &DriftedView) -> Vec3 {
        if self.tick == motion.when.tick { self.now[node as usize] } else { motion.at(node) }
    }

    /// Boxes of the targets of bodies that are asked for, and how large the largest is.
    fn make_boxes(&mut self, features: &Features) {
        let BodyPairs { boxes, travels, nodes, now, .. } = self;
        for (body, travel) in travels.iter_mut().enumerate().filter(|(_, t)| t.asked) {
            travel.largest = 0.0;
            if nodes.of(body as u32).is_empty() {
                continue;
            }
            let mine = features.targets.of_body(body);
            for (to, target) in boxes[mine.clone()].iter_mut().zip(&features.targets.list[mine]) {
                *to = target.reach(|n| now[n as usize]);
                travel.largest = travel.largest.max(to.longest());
            }
        }
    }

    /// Which bodies can meet: those whose boxes are nearer than `reach`, and what is beside them.
    fn find_pairs(&mut self, scene: &Scene, reach: f64) {
        let BodyPairs { travels, order, keys, pairs, last, spare, .. } = self;
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
        let mut old = last.drain(..).peekable();
        for &bodies in keys.iter() {
            while let Some(gone) = old.next_if(|p| p.bodies < bodies) {
                spare.push(gone);
            }
            let pair = old.next_if(|p| p.bodies == bodies).unwrap_or_else(|| {
                let mut new = spare.pop().unwrap_or_default();
                (new.bodies, new.reach) = (bodies, -1.0);
                new
            });
            pairs.push(pair);
        }
        spare.extend(old);
    }

    /// Makes the lists of a pair.
    fn make(&self, pair: &mut BodyPair, features: &Features, reaches: &Reaches, room: &mut Room) {
        pair.reach = reaches.listed + reaches.beside;
        pair.nodes.clear();
        pair.edges.clear();
        let [a, b] = pair.bodies;
        let mut nodes_in = |of: u32, into: u32| {
            let out = &mut pair.nodes;
            let bodies = [of, into];
            dispatch(NodesInTargets {
                of: self,
                features,
                bodies,
                reach: pair.reach,
                apart: reaches.apart,
                room,
                out,
            });
        };
        nodes_in(a, b);
        if a != b {
            nodes_in(b, a);
        }
        self.edges_of_two([a, b], pair.reach, features, room, &mut pair.edges);
        let nearer = |p: &Candidate, q: &Candidate| p.distance.total_cmp(&q.distance);
        for list in [&mut pair.nodes, &mut pair.edges] {
            list.sort_unstable_by(nearer);
            leave_room(list);
        }
    }

    /// Edges of two bodies that are nearer than `reach` to where they may have crossed.
    fn edges_of_two(
        &self,
        [a, b]: [u32; 2],
        reach: f64,
        features: &Features,
        room: &mut Room,
        out: &mut Vec<Candidate>,
    ) {
        let [first, second] = [a, b].map(|body| &self.travels[body as usize]);
        let deepest = first.deepest.min(second.deepest);
        let (near_first, near_second) =
            (first.extent.grown(reach + deepest), second.extent.grown(reach + deepest));
        let ends = |e: u32| features.edges[e as usize].line.nodes.map(|n| self.now[n as usize]);
        let boxed = |&e: &u32| (e, box_around(ends(e)));
        room.edges.clear();
        room.edges.reserve(self.edges_of.of(b).len());
        room.edges.extend(self.edges_of.of(b).iter().map(boxed).filter(|e| e.1.meets(&near_first)));
        for (e, around) in self.edges_of.of(a).iter().map(boxed).filter(|e| e.1.meets(&near_second)) {
            let (p, around) = (ends(e), around.grown(reach + deepest));
            for &(f, _) in room.edges.iter().filter(|f| around.meets(&f.1) && (a != b || f.0 > e)) {
                let q = ends(f);
                let [mine, other] = [e, f].map(|i| &features.edges[i as usize]);
                let distance = edge_edge(&p[0], &p[1], &q[0], &q[1]).distance_squared.sqrt();
                let distance = distance - features.deepest(mine, other);
                let excluded =
                    || a == b && features.scene.excludes_edge_edge(mine.line.edge, other.line.edge, false);
                if distance <= reach && !excluded() {
                    out.push(Candidate { distance, of: [e, f] });
                }
            }
        }
    }
}

impl BodyPair {
    /// Distance up to which candidates can touch before the next look [m].
    fn awake_within(&self, reaches: &Reaches) -> f64 {
        EARLY * (self.shift.norm() + self.stray + 2.0 * reaches.motion) + reaches.beside
    }
}

impl Features<'_> {
    /// How deep two edges may have crossed [m].
    fn deepest(&self, first: &EdgeOf, second: &EdgeOf) -> f64 {
        let [first, second] = [first, second].map(|e| &self.scene.edges[e.line.edge as usize]);
        self.scene.deepest_crossing(first, second)
    }
}

/// Nodes of one body that are nearer than `reach` to the boxes of targets of another.
struct NodesInTargets<'a> {
    of: &'a BodyPairs,
    features: &'a Features<'a>,
    bodies: [u32; 2],
    reach: f64,
    apart: f64,
    room: &'a mut Room,
    out: &'a mut Vec<Candidate>,
}

impl OnLanes for NodesInTargets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let NodesInTargets { of, features, bodies: [a, b], reach, apart, room, out } = self;
        let Room { points, ids, .. } = room;
        let [first, second] = [a, b].map(|body| &of.travels[body as usize]);
        let near = second.extent.grown(reach + BESIDE * second.largest);
        ids.clear();
        ids.reserve(of.contactors_of.of(a).len());
        points.reserve(of.contactors_of.of(a).len().saturating_sub(points.len()));
        for &i in of.contactors_of.of(a) {
            let y = of.now[features.contactors[i as usize].node as usize];
            if !(0..3).all(|k| near.lo[k] <= y[k] && y[k] <= near.hi[k]) {
                continue;
            }
            let (block, lane) = (ids.len() / L::WIDTH, ids.len() % L::WIDTH);
            if points.len() == block {
                points.push([[0.0; MAX_WIDTH]; 3]);
            }
            for k in 0..3 {
                points[block][k][lane] = y[k];
            }
            ids.push(i);
        }
        let (near, mut distances) = (first.extent.grown(reach), [0.0; MAX_WIDTH]);
        for t in features.targets.of_body(b as usize) {
            let of_target = &of.boxes[t];
            if ids.is_empty() || !near.meets(of_target) {
                continue;
            }
            let target = &features.targets.list[t];
            let dimension = target.kind.dimension();
            for (block, ids) in points.iter().zip(ids.chunks(L::WIDTH)) {
                let mut squared = L::splat(token, 0.0);
                for k in 0..dimension {
                    let y = L::load(token, &block[k]);
                    let outside = (-(y - of_target.lo[k])).max(y - of_target.hi[k]).max(y.of(0.0));
                    squared += outside * outside;
                }
                squared.store(&mut distances);
                for (lane, &i) in ids.iter().enumerate().filter(|&(lane, _)| distances[lane] <= reach * reach)
                {
                    let across = |k: usize| {
                        let y = block[k][lane];
                        y >= of_target.lo[k] - apart && y <= of_target.hi[k] + apart
                    };
                    let node = features.contactors[i as usize].node;
                    let own = || target.nodes().contains(&node) || features.targets.is_around(node, t as u32);
                    if (dimension..3).all(across) && (a != b || !own()) {
                        out.push(Candidate { distance: distances[lane].sqrt(), of: [i, t as u32] });
                    }
                }
            }
        }
    }
}
