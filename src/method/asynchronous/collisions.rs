//! Collision kicks: surface nodes look which elements they are in, and bounce off at once.
//!
//! ```text
//! node A at its own ticks:
//!   candidates    targets that A can have reached, from the lists of pairs of bodies
//!   inside        inverse map of the element, boundary face that looks against A's normal
//!   answer        if it goes deeper: u = Σ w v, j in closed form, v ← v + w W j; velocities of this instant
//!   next          after Δt_A
//! ```
//!
//! **Looks.** Now and then it is looked where everybody is, and who can touch whom before the next look ([`body_pairs`](super::body_pairs)): that
//! holds as long as nobody has moved further than a short way, and so until the fastest at the time of the look, or somebody half
//! as fast again, can have. So a candidate is never missed, whatever the ticks of its nodes, and what is found does not depend on
//! when it was looked.
//!
//! **Order.** Contacts of one instant are answered together where they share nodes ([`simultaneous`](super::simultaneous)), or in
//! turn, the deepest first and equals by number, each seeing the velocities the one before has left. Who is inside whom is a matter of
//! positions, which no impulse changes at its own instant: that part is done beforehand, by all threads.

use super::body_pairs::{BodyPairs, Features, Reaches};
use super::check_groups::{CheckGroup, Near, check_groups};
mod answers;

pub(crate) use answers::EdgePair;

use super::contactors::{Around, Contactor, NOTHING, contactor};
use super::edges::{Edges, Line};
use super::impulses::{ContactContext, DriftedView, Local, Tally};
use super::obstacles::Obstacles;
use super::options::{ContactVelocity, Normal, Options, Response};
use super::simultaneous::Simultaneous;
use super::targets::{Inside, Target, Targets};
use crate::contact::pair::Pair;
use crate::contact::scene::Facet;
use crate::math::Vec3;
use crate::method::contact_world::ContactWorld;
use crate::method::response::{self, Terms};
use crate::model::Model;
use crate::model::record::{Record, RecordError};
use rayon::prelude::*;

/// Distance up to which candidates of two bodies are listed, as a share of the median size of targets: more of it makes lists longer
/// and renews them less often.
const LISTED: f64 = 0.4;
/// Way that anybody may go between two looks, as such a share: more of it wakes up more candidates and looks less often.
const WAY: f64 = 0.02;
/// Room around nodes and edges that can touch obstacles, as such a share.
const ROOM: f64 = 0.15;
/// A look holds as long as nobody is faster than this times the largest speed at the time.
const FASTER: f64 = 1.5;
/// Who overlaps by more than it has come since its last contact check, and goes deeper still, parts at least so fast that this share of
/// what is more is gone at the next one, as far as that is no more than the second share of the node's own size. Bodies at
/// rest are held by many small impacts, and where e < 1, or one is answered after the other, they sink into each other without it. Where
/// e < 1 an impact may become elastic on the same terms. A first impact has no such overlap and is left alone, and so is who
/// does not move but for round-off: less than the third share of its size between two contact checks.
///
/// What overlaps so also parts with e times the speed of its approach at least, where contacts of an instant are answered
/// together: friction and neighbours leave some of them less, and a stack that trembles would go deeper by that, check by check.
const LIFT: f64 = 0.2;
const HIGHEST: f64 = 1e-3;
const APPROACH_TOL: f64 = 1e-12;
/// Depths that differ by less than this share of the size of targets are equal.
const SAME_DEPTH: f64 = 1e-6;
/// Who moves further between two contact checks than this share of what the other is thick may not be found inside of it.
const FAR: f64 = 0.5;
/// Nodes that one task looks for.
const CHUNK: usize = 64;
/// Sides that an element has at most.
const SIDES: usize = 6;

/// A node in a target.
#[derive(Clone, Copy)]
struct Hit {
    contactor: u32,
    target: u32,
    /// None if it has passed right through.
    inside: Option<Inside>,
}

/// What happens in one window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Tick at which it began.
    pub begin: u64,
    pub contacts: u64,
    pub penetration: f64,
}

impl Window {
    /// Somebody carries an impulse at `tick`; `last` is when he last did, plus one.
    pub(crate) fn carries(&mut self, last: &mut u64, tick: u64) {
        self.contacts += u64::from(*last <= self.begin);
        *last = tick + 1;
    }
}

pub(crate) struct Collisions {
    pub world: ContactWorld,
    targets: Targets,
    pub pairs_of_bodies: BodyPairs,
    /// By step, then by number.
    pub contactors: Vec<Contactor>,
    pub check_groups: Vec<CheckGroup>,
    near: Near,
    velocity: ContactVelocity,
    normal: Normal,
    /// Median size of the targets [m], and least thickness of those.
    size: f64,
    thinnest: f64,
    /// A look holds until this tick and for speeds up to the cap [m²/s²].
    until: u64,
    cap_squared: f64,
    /// Nobody slower than this has to be looked for on its way [m/s].
    slow: f64,
    found: Vec<u32>,
    /// Of each task.
    hits: Vec<Vec<Hit>>,
    /// Of all hits of a contact check, the first to be answered first: depth, task and place in it.
    order: Vec<(i64, u32, u32)>,
    pub obstacles: Obstacles,
    pairs: Vec<(u32, Pair)>,
    pub tally: Tally,
    pub response: Response,
    /// Contacts that are answered at once.
    together: Simultaneous,
    pub window: Window,
    /// Bodies of which one has passed through the other.
    pub passed: Option<[u32; 2]>,
}

impl Collisions {
    pub(crate) fn new(model: &Model, options: &Options, around: &Around, tick: f64) -> Collisions {
        let world = ContactWorld::new(model, false);
        let scene = &world.scene;
        let targets = Targets::new(model, scene);
        let mut sizes: Vec<f64> = targets.list.iter().map(|t| t.size).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let size = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
        let contactor = |&node: &u32| contactor(node, model, scene, options.contact_step, around, tick);
        let mut contactors: Vec<Contactor> = scene.slots.iter().filter_map(contactor).collect();
        contactors.retain(|c| scene.meets_anybody(c.body));
        let alone = contactors.iter().any(|c| c.travel > 0.0);
        contactors.sort_unstable_by_key(|c| (if alone { 0 } else { c.step }, c.node));
        let steps: Vec<u64> = contactors.iter().map(|c| c.step).collect();
        let tasks = contactors.chunks(CHUNK).map(|some| Vec::with_capacity(some.len() / 4)).collect();
        Collisions {
            pairs_of_bodies: BodyPairs::default(),
            size,
            thinnest: targets.list.iter().map(|t| t.thickness).fold(f64::MAX, f64::min),
            until: 0,
            cap_squared: 0.0,
            slow: 0.0,
            check_groups: check_groups(&steps, alone),
            near: Near::default(),
            contactors,
            velocity: options.contact_velocity,
            normal: options.normal,
            found: Vec::with_capacity(256),
            hits: tasks,
            order: Vec::with_capacity(CHUNK),
            obstacles: Obstacles::new(model, &world, size),
            pairs: Vec::with_capacity(16),
            tally: Tally::default(),
            response: options.response,
            together: Simultaneous::new(model.reference.len()),
            window: Window::default(),
            passed: None,
            targets,
            world,
        }
    }

    /// Nodes that may take part in a contact.
    pub(crate) fn touched(&self, nodes: usize) -> Vec<bool> {
        let mut touched = vec![false; nodes];
        self.contactors.iter().for_each(|c| touched[c.node as usize] = true);
        let targets = self.targets.list.iter().filter(|t| self.world.scene.meets_anybody(t.body));
        targets.flat_map(|t| t.nodes()).for_each(|&n| touched[n as usize] = true);
        touched
    }

    /// Does everybody look at multiples of these steps only?
    pub(crate) fn in_rhythm(&self, mut steps: impl Iterator<Item = u64>) -> bool {
        let follows = self.contactors.iter().any(|c| c.travel > 0.0);
        !follows && steps.all(|s| self.check_groups.iter().all(|r| r.step.is_multiple_of(s)))
    }

    /// Prepares for looks; `edges` are those that look for each other.
    pub(crate) fn prepare(&mut self, model: &Model, edges: &Edges) {
        let mut body_of = vec![0; model.reference.len()];
        for (b, body) in (0..).zip(&model.bodies) {
            body_of[body.nodes.clone()].fill(b);
        }
        let touched = self.touched(body_of.len());
        let Collisions { targets, contactors, world, .. } = &*self;
        let features = Features { scene: &world.scene, targets, contactors, edges: &edges.list };
        self.pairs_of_bodies = BodyPairs::new(&features, &touched, &body_of, model.bodies.len());
    }

    /// Has the last look been too long ago?
    #[inline]
    pub(crate) fn is_due(&self, tick: u64) -> bool {
        tick >= self.until
    }

    /// Looks where everybody is, and makes all lists hold from now on; `edges` have some of their own.
    pub(crate) fn refresh(&mut self, edges: &mut Edges, context: &ContactContext) {
        let motion = context.motion();
        let Collisions { pairs_of_bodies: pairs, world, targets, contactors, obstacles, .. } = self;
        let before = self.cap_squared.sqrt();
        self.cap_squared = FASTER * FASTER * pairs.look(&motion);
        let cap = self.cap_squared.sqrt();
        let (now, clock) = (motion.when.tick, &motion.when.clock);
        let mut way = WAY * self.size;
        self.until = if cap > 0.0 { now + clock.ticks_in(way / cap) } else { u64::MAX };
        // a look that does not last until the next contact check need not last at all
        let after = |group: &CheckGroup| if group.next > now { group.next } else { now + group.step };
        let groups = self.check_groups.iter().chain(&edges.check_groups);
        if groups.map(after).min().is_some_and(|next| next >= self.until) {
            (self.until, way) = (now + 1, 0.0);
        }
        // who may have gone through something is looked for on its way
        let longest = self.check_groups.iter().map(|group| group.step).max().unwrap_or(0);
        let seconds = clock.between(0, longest);
        self.slow = 0.5 * FAR * self.thinnest / seconds;
        let farthest = 2.0 * cap.max(before) * seconds;
        let beside = if farthest > FAR * self.thinnest { farthest } else { 0.0 };
        let room = ROOM * self.size;
        let reaches = Reaches { listed: LISTED * self.size, motion: way, beside, apart: room };
        pairs.renew(&Features { scene: &world.scene, targets, contactors, edges: &edges.list }, &reaches);
        obstacles.place(context.model, world, &motion);
        edges.refresh(pairs, obstacles, room, &motion);
        let found = &mut self.found;
        let mut body = (NOTHING, false);
        self.near.renew(&mut self.check_groups, contactors.len(), pairs.nodes_awake(), |i| {
            let c = &contactors[i];
            if body.0 != c.body {
                body = (c.body, obstacles.may_touch_body(pairs.extent(c.body), room));
            }
            // who was inside somebody must look to forget it
            let mut near = || {
                let y = pairs.at(c.node, &motion);
                let from = if c.seen.1 > 0 { c.seen.0 } else { y };
                body.1 && obstacles.may_touch([&from, &y], room, found)
            };
            [c.known.0 != NOTHING, c.behind != NOTHING || near()]
        });
    }

    /// Memory of lists [bytes].
    pub(crate) fn search_bytes(&self) -> usize {
        self.pairs_of_bodies.memory_bytes()
            + self.near.memory_bytes()
            + self.obstacles.memory_bytes()
            + size_of::<Target>() * self.targets.list.capacity()
            + size_of::<Contactor>() * self.contactors.capacity()
            + self.hits.iter().map(|h| size_of::<Hit>() * h.capacity()).sum::<usize>()
    }

    /// Somebody has got this fast.
    #[inline]
    pub(crate) fn notice_speed(&mut self, speed_squared: f64, now: u64) {
        if speed_squared > self.cap_squared {
            let cap = FASTER * speed_squared.sqrt();
            // a look that holds for this tick alone holds for any speed, unless somebody may have gone through something
            if self.until == now + 1 && cap <= self.slow {
                self.cap_squared = cap * cap;
            } else {
                self.until = now;
            }
        }
    }

    /// Somebody may have got too fast by impulses.
    pub(crate) fn notice_impulses(&mut self, now: u64) {
        let fastest = std::mem::take(&mut self.tally.speed_squared);
        self.notice_speed(fastest, now);
    }

    /// The nodes of a group are checked for contact and answered; returns when they are checked again.
    pub(crate) fn check(&mut self, check_group: usize, context: &mut ContactContext) -> u64 {
        let CheckGroup { step, ref members, .. } = self.check_groups[check_group];
        let (first, count) = (members.start as usize, members.len());
        self.tally.checks += count as u64;
        let before = context.state.v[self.contactors[first].node as usize].norm_squared();
        let mut hits = std::mem::take(&mut self.hits);
        let tasks = self.find_hits(check_group, &mut hits, context.model, &context.motion());
        let mut order = std::mem::take(&mut self.order);
        self.put_in_order(&hits[..tasks], &mut order);
        for &i in self.near.active(&self.check_groups[check_group]) {
            self.contactors[i as usize].known = (NOTHING, 0);
        }
        self.answer_all(&hits, &order, context);
        if !self.obstacles.is_empty() {
            for a in 0..self.beside_obstacles(check_group).len() {
                let i = self.beside_obstacles(check_group)[a];
                self.try_obstacles(i as usize, context);
            }
        }
        // all of them, whoever can meet somebody: what is remembered must not hang on how old lists are
        let (motion, pairs) = (context.motion(), &self.pairs_of_bodies);
        for c in &mut self.contactors[first..first + count] {
            c.seen = (pairs.at(c.node, &motion), motion.when.tick + 1);
        }
        (self.hits, self.order) = (hits, order);
        self.notice_impulses(context.when.tick);
        let contactor = &self.contactors[first];
        let mut step = step;
        if contactor.travel > 0.0 {
            let speed = before.max(context.state.v[contactor.node as usize].norm_squared()).sqrt();
            if speed > 0.0 {
                step = step.min(context.when.clock.ticks_in(contactor.travel / speed));
            }
        }
        self.check_groups[check_group].next = context.when.tick + step;
        self.check_groups[check_group].next
    }

    /// Who is deeper has a smaller rank; depths that differ by round-off have the same.
    pub(crate) fn rank(&self, depth: f64) -> i64 {
        -(depth / (SAME_DEPTH * self.size)).round() as i64
    }

    /// The deepest first, equal depths by the numbers of nodes: whoever comes first is told by the scene, not by the order in
    /// which its bodies are listed.
    fn put_in_order(&self, hits: &[Vec<Hit>], order: &mut Vec<(i64, u32, u32)>) {
        order.clear();
        for (task, hits) in (0..).zip(hits) {
            for (at, hit) in (0..).zip(hits) {
                let depth = hit.inside.map_or(0.0, |inside| inside.faces[0].1);
                order.push((self.rank(depth), task, at));
            }
        }
        order.sort_unstable();
    }

    /// Who of a check group is in which target, in order; returns the number of tasks.
    fn find_hits(
        &self,
        check_group: usize,
        hits: &mut [Vec<Hit>],
        model: &Model,
        motion: &DriftedView,
    ) -> usize {
        let active = self.near.active(&self.check_groups[check_group]);
        let tasks = active.len().div_ceil(CHUNK);
        let (at, cap) = (|n: u32| self.pairs_of_bodies.at(n, motion), self.cap_squared.sqrt());
        let some = |members: &[u32], hits: &mut Vec<Hit>| {
            hits.clear();
            for &i in members {
                let contactor = &self.contactors[i as usize];
                let y = at(contactor.node);
                let (first, seconds) = (hits.len(), contactor.seconds(motion));
                let came = y - contactor.seen_before(&y, motion);
                let may_be_fast = came.norm() + seconds * cap > FAR * self.thinnest * (1.0 - 1e-9);
                let mut own_normal = None;
                let mut passed = None;
                for &id in self.near.of(i as usize) {
                    let target = &self.targets.list[id as usize];
                    let way = || came - seconds * motion.v[target.nodes[0] as usize];
                    let fast = may_be_fast && way().norm_squared() > (FAR * target.thickness).powi(2);
                    if !fast && !self.pairs_of_bodies.may_hold(id, &y, motion) {
                        continue;
                    }
                    let normal_now = || self.targets.node_normal(&self.world.scene, contactor.node, at);
                    let mut normal = || *own_normal.get_or_insert_with(normal_now);
                    let mut known = (contactor.known.0 == id).then_some(contactor.known.1);
                    let mut entered = None;
                    if fast && contactor.known.0 == NOTHING {
                        entered = self.targets.entered(target, &y, &came, seconds, &normal(), motion);
                        known = entered.map(|e| e.0);
                    }
                    if let Some(inside) = self.targets.find(target, &y, normal, known, model, at) {
                        hits.push(Hit { contactor: i, target: id, inside: Some(inside) });
                    } else if entered.is_some_and(|e| e.1 > FAR * target.thickness) {
                        passed = Some(id);
                    }
                }
                if let (Some(target), true) = (passed, hits.len() == first) {
                    hits.push(Hit { contactor: i, target, inside: None });
                }
            }
        };
        if tasks > 1 {
            active.par_chunks(CHUNK).zip(hits.par_iter_mut()).for_each(|(some_of, hits)| some(some_of, hits));
        } else if tasks == 1 {
            some(active, &mut hits[0]);
        }
        tasks
    }

    /// Of a check group those who may touch obstacles.
    fn beside_obstacles(&self, check_group: usize) -> &[u32] {
        self.near.beside_obstacles(&self.check_groups[check_group])
    }

    fn try_obstacles(&mut self, i: usize, context: &mut ContactContext) {
        let contactor = self.contactors[i];
        let y = context.motion().at(contactor.node);
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        let (model, motion) = (context.model, context.motion());
        self.obstacles.find(contactor.node, &y, model, &mut self.world, &motion, &mut pairs);
        pairs.retain(|p| self.world.scene.may_meet(contactor.body, p.0));
        self.contactors[i].behind = self.see_behind(&contactor, &y, &mut pairs, context);
        let mut carried = contactor.carried;
        for &(body, pair) in &pairs {
            let of = [contactor.body, body];
            self.bounce(pair, Some(&contactor), &[contactor.node], of, &mut carried, context);
        }
        self.contactors[i].carried = carried;
        self.pairs = pairs;
    }

    /// Puts the facet of an obstacle that a node has gone through, and is not seen in, in the place of what is seen; returns
    /// it as long as the node is behind it.
    fn see_behind(
        &mut self,
        contactor: &Contactor,
        y: &Vec3,
        pairs: &mut Vec<(u32, Pair)>,
        context: &ContactContext,
    ) -> u32 {
        let soft = context.model.bodies.len();
        let mut facet = contactor.behind;
        if facet == NOTHING {
            let motion = context.motion();
            let (from, seconds) = (contactor.seen_before(y, &motion), contactor.seconds(&motion));
            facet = self.obstacles.entered(&from, y, seconds, &self.world, soft).unwrap_or(NOTHING);
        }
        if facet == NOTHING {
            return NOTHING;
        }
        let (body, pair) = self.obstacles.behind(facet, y, &self.world, soft);
        let meets = self.world.scene.may_meet(contactor.body, body);
        // what is seen on the same side of the obstacle knows its shape better
        let same = |p: &(u32, Pair)| p.0 == body && p.1.normal.dot(&pair.normal) > 0.0;
        if pair.gap > 0.0 || !meets || pairs.iter().any(same) {
            return NOTHING;
        }
        pairs.retain(|p| p.0 != body);
        pairs.push((body, pair));
        facet
    }

    /// An edge bounces off edges of obstacles.
    pub(crate) fn try_edges_of_obstacles(
        &mut self,
        mine: &Line,
        carried: &mut u64,
        context: &mut ContactContext,
    ) {
        if !self.obstacles.has_edges() {
            return;
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        let motion = context.motion();
        self.obstacles.find_edges(mine, context.model, &mut self.world, &motion, &mut pairs);
        pairs.retain(|p| self.world.scene.may_meet(mine.body, p.0));
        for &(body, pair) in &pairs {
            self.bounce(pair, None, &mine.nodes, [mine.body, body], carried, context);
        }
        self.pairs = pairs;
    }

    /// Two points that overlap bounce if they go deeper. `nodes` are those that the points of the pair count in; `checked` is the
    /// node that is lifted.
    pub(crate) fn bounce(
        &mut self,
        mut pair: Pair,
        checked: Option<&Contactor>,
        nodes: &[u32],
        bodies: [u32; 2],
        carried: &mut u64,
        context: &mut ContactContext,
    ) {
        self.window.penetration = self.window.penetration.max(-pair.gap);
        let law = context.model.contact.law(bodies[0], bodies[1]);
        (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
        let mut local = Local::of(nodes, self.velocity, &self.world.inertia, context);
        let mut terms = Terms { stick: context.model.contact.stick, ..Terms::default() };
        if let Some(contactor) = checked {
            let approach = -pair.normal.dot(&pair.relative_velocity(&local.v));
            terms = self::terms(pair.e, contactor, -pair.gap, approach, &context.motion(), context.model);
        }
        if let Some(impact) = response::bounce(&pair, terms, &local.inv_mass, &mut local.v) {
            self.window.carries(carried, context.when.tick);
            self.tally.give(&mut self.world, &pair, nodes, &impact, bodies, context);
        }
    }

    pub(crate) fn save(&self, record: &mut Record) {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        let of = |c: &Contactor| [c.known.0.into(), c.known.1.into(), c.behind.into(), c.carried];
        record.counts_from(&name("contactors"), self.contactors.iter().flat_map(of));
        record.vectors_from(&name("seen"), self.contactors.iter().map(|c| c.seen.0));
        record.counts_from(&name("seen_at"), self.contactors.iter().map(|c| c.seen.1));
        record.counts_from(&name("next"), self.check_groups.iter().map(|r| r.next));
        let window = &self.window;
        record.counts(&name("window"), &[window.begin, window.contacts]);
        record.numbers(&name("penetration"), &[window.penetration]);
        self.tally.save(record);
        self.world.save("asynchronous.contact", record);
    }

    /// It is looked again at the next contact check: nothing that is found depends on when.
    pub(crate) fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        let mut contactors = vec![0; 4 * self.contactors.len()];
        record.copy_counts(&name("contactors"), &mut contactors)?;
        for (c, from) in self.contactors.iter_mut().zip(contactors.chunks_exact(4)) {
            (c.known, c.behind, c.carried) = ((from[0] as u32, from[1] as u8), from[2] as u32, from[3]);
            let scene = &self.world.scene;
            let rigid = |f: &Facet| scene.bodies[f.body as usize].attributes.rigid();
            let behind = scene.facets.get(c.behind as usize).is_some_and(rigid);
            if usize::from(c.known.1) >= SIDES || !(behind || c.behind == NOTHING) {
                return Err(RecordError::Meaningless(name("contactors")));
            }
        }
        record.vectors_to(&name("seen"), self.contactors.iter_mut().map(|c| &mut c.seen.0))?;
        record.counts_to(&name("seen_at"), self.contactors.iter_mut().map(|c| &mut c.seen.1))?;
        record.counts_to(&name("next"), self.check_groups.iter_mut().map(|r| &mut r.next))?;
        [self.window.begin, self.window.contacts] = record.read_counts(&name("window"))?;
        [self.window.penetration] = record.read_values(&name("penetration"))?;
        self.until = 0;
        self.pairs_of_bodies.forget();
        self.tally.restore(record)?;
        self.world.restore("asynchronous.contact", record)
    }
}

/// How a node answers an overlap of `depth` [m] that it goes into at the speed `approach` [m/s], with restitution `e`.
fn terms(
    e: f64,
    contactor: &Contactor,
    depth: f64,
    approach: f64,
    motion: &DriftedView,
    model: &Model,
) -> Terms {
    let seconds = contactor.seconds(motion);
    let (own, stick) = (contactor.size / seconds, model.contact.stick);
    if approach <= APPROACH_TOL * own {
        return Terms { stick, ..Terms::default() };
    }
    let lift = LIFT * (depth / seconds - approach);
    let lifted = lift.min(f64::max(HIGHEST * own, approach));
    let restored = if lift > 0.0 { e * approach } else { 0.0 };
    Terms { stick, work: 0.0, parting: lifted.max(restored) }
}

#[cfg(test)]
mod tests;
