//! Collision kicks: surface nodes look which elements they are in, and bounce off at once.
//!
//! ```text
//! node A at its own ticks:
//!   candidates    targets whose fat box A can reach, from the cells of its position code
//!   inside        inverse map of the element, boundary face that looks against A's normal
//!   answer        if it goes deeper: u = Σ w v, j in closed form, v ← v + w W j; velocities of this instant
//!   next          after Δt_A
//! ```
//!
//! **Boxes.** A box is stored with room for as long as nobody is faster than twice the largest speed at the time it was
//! stored; then all boxes, and the lists of candidates made of them, are renewed. So a candidate is never missed, whatever
//! the ticks of its nodes, and what is found does not depend on the boxes.
//!
//! **Order.** Nodes that look together go by their number, targets of a node by theirs, each seeing the velocities the one
//! before has left. Who is inside whom is a matter of positions, which no impulse changes at its own instant: that part
//! is done beforehand, by all threads.

use super::edges::Edges;
use super::impulses::{Hands, Impulses, Local, Motion};
use super::obstacles::Obstacles;
use super::options::{ContactStep, ContactVelocity, Longest, Options};
use super::rings::{Near, Ring, rings};
use super::targets::{Inside, Target, Targets};
use crate::contact::cells::Cells;
use crate::contact::octree::Aabb;
use crate::contact::pair::Pair;
use crate::contact::scene::Scene;
use crate::contact::search::NodeSearch;
use crate::math::Vec3;
use crate::mesh::CellKind;
use crate::method::response;
use crate::model::Model;
use crate::model::record::{Record, RecordError};
use rayon::prelude::*;

/// Room around a box, as a share of the median size of targets: more of it makes lists longer and renews them less often.
const ROOM: f64 = 0.15;
/// Nodes that one task looks for.
const CHUNK: usize = 256;
/// Stands for a face nobody remembers.
const NOTHING: u32 = u32::MAX;

/// A surface node on its own.
#[derive(Clone, Copy, Debug)]
pub struct Contactor {
    pub node: u32,
    pub body: u32,
    /// Its step, or the longest if it follows its speed [ticks].
    pub step: u64,
    /// Share of its size it may travel [m]; zero if its step does not follow its speed.
    travel: f64,
    /// Target and side it was in when it last looked.
    known: (u32, u8),
    /// Window in which it last carried an impulse.
    window: u64,
}

/// A node in a target.
#[derive(Clone, Copy)]
struct Hit {
    contactor: u32,
    target: u32,
    inside: Inside,
}

/// What happens in one window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    pub number: u64,
    pub contacts: u64,
    pub penetration: f64,
}

pub struct Collisions {
    pub scene: Scene,
    targets: Targets,
    cells: Cells,
    /// By step, then by number.
    pub contactors: Vec<Contactor>,
    pub rings: Vec<Ring>,
    near: Near,
    velocity: ContactVelocity,
    /// Which bodies may meet, `a * bodies + b`.
    meet: Vec<bool>,
    bodies: usize,
    /// Room around boxes [m]; boxes hold until this tick and for speeds up to the cap [m²/s²].
    room: f64,
    until: u64,
    cap_squared: f64,
    found: Vec<u32>,
    /// Where each soft body is, and whom it can meet, when boxes were made.
    extents: Vec<Aabb>,
    neighbours: Vec<Vec<u32>>,
    /// Of each task.
    hits: Vec<Vec<Hit>>,
    obstacles: Obstacles,
    pairs: Vec<(u32, Pair)>,
    pub impulses: Impulses,
    pub window: Window,
}

/// What steps of contact are made of [s].
pub struct Around<'a> {
    /// Shortest critical step around each node.
    pub local: &'a [f64],
    /// Of all moving elements.
    pub average: f64,
    /// Shortest step in use.
    pub smallest: f64,
    /// Of each node: time between the kicks that come most often [ticks], where steps fit each other.
    pub kicks: &'a [Option<u64>],
}

impl Collisions {
    pub fn new(model: &Model, options: &Options, around: &Around, tick: f64) -> Collisions {
        let scene = model.contact.scene(model, false);
        let targets = Targets::new(model, &scene);
        let mut sizes: Vec<f64> = targets.list.iter().map(|t| t.size).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let size = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
        let bodies = scene.bodies.len();
        let meet = (0..bodies * bodies)
            .map(|i| scene.may_meet((i / bodies) as u32, (i % bodies) as u32))
            .collect::<Vec<_>>();
        let touches = |body: u32| (0..bodies).any(|b| meet[body as usize * bodies + b]);
        let contactor = |&node: &u32| contactor(node, model, &scene, options.contact_step, around, tick);
        let mut contactors: Vec<Contactor> = scene.slots.iter().filter_map(contactor).collect();
        contactors.retain(|c| touches(c.body));
        let alone = contactors.iter().any(|c| c.travel > 0.0);
        contactors.sort_unstable_by_key(|c| (if alone { 0 } else { c.step }, c.node));
        let steps: Vec<u64> = contactors.iter().map(|c| c.step).collect();
        Collisions {
            cells: Cells::new([0.0; 3], 1.5 * size, 0.0),
            room: ROOM * size,
            until: 0,
            cap_squared: 0.0,
            rings: rings(&steps, alone),
            near: Near::default(),
            contactors,
            velocity: options.contact_velocity,
            meet,
            bodies,
            found: Vec::with_capacity(256),
            extents: vec![Aabb::EMPTY; model.bodies.len()],
            neighbours: vec![Vec::with_capacity(8); model.bodies.len()],
            hits: vec![Vec::with_capacity(CHUNK)],
            obstacles: Obstacles::new(model, &scene, size),
            pairs: Vec::with_capacity(16),
            impulses: Impulses::new(model.reference.len()),
            window: Window::default(),
            targets,
            scene,
        }
    }

    /// Nodes that may take part in a contact.
    pub fn touched(&self, nodes: usize) -> Vec<bool> {
        let mut touched = vec![false; nodes];
        self.contactors.iter().for_each(|c| touched[c.node as usize] = true);
        let meets = |t: &&Target| (0..self.bodies as u32).any(|b| self.may_meet(t.body, b));
        let targets = self.targets.list.iter().filter(meets);
        targets.flat_map(|t| t.nodes()).for_each(|&n| touched[n as usize] = true);
        touched
    }

    /// Does everybody look at multiples of these steps only?
    pub fn in_rhythm(&self, mut steps: impl Iterator<Item = u64>) -> bool {
        let follows = self.contactors.iter().any(|c| c.travel > 0.0);
        !follows && steps.all(|s| self.rings.iter().all(|r| r.step.is_multiple_of(s)))
    }

    pub fn may_meet(&self, a: u32, b: u32) -> bool {
        self.meet[a as usize * self.bodies + b as usize]
    }

    pub fn velocity(&self) -> ContactVelocity {
        self.velocity
    }

    /// Median size of the targets [m].
    pub fn size(&self) -> f64 {
        self.room / ROOM
    }

    /// Room around boxes [m].
    pub fn room(&self) -> f64 {
        self.room
    }

    /// Are boxes too old?
    #[inline]
    pub fn is_due(&self, tick: u64) -> bool {
        tick >= self.until
    }

    /// Makes all boxes and lists hold from now on; `edges` have some of their own.
    pub fn refresh(&mut self, edges: &mut Edges, hands: &Hands) {
        let motion = hands.motion();
        let fastest = (self.targets.list.iter())
            .flat_map(|t| t.nodes())
            .fold(0.0, |most, &n| f64::max(most, motion.v[n as usize].norm_squared()));
        // twice the largest speed
        self.cap_squared = 4.0 * fastest;
        let cap = self.cap_squared.sqrt();
        let (now, clock) = (motion.when.tick, &motion.when.clock);
        self.until = if cap > 0.0 { now + clock.ticks_in(self.room / cap) } else { u64::MAX };
        let room = self.room;
        self.cells.set_margin(room);
        self.extents.fill(Aabb::EMPTY);
        for (i, target) in self.targets.list.iter().enumerate() {
            let tight = target.reach(&motion);
            let extent = &mut self.extents[target.body as usize];
            extent.add(&tight.lo);
            extent.add(&tight.hi);
            let grown = tight.grown(room);
            if !self.cells.stored(i as u32).is_some_and(|fat| holds(fat, &grown)) {
                self.cells.insert_box(i as u32, grown.lo, grown.hi);
            }
        }
        self.find_neighbours();
        edges.refresh(self, &motion);
        self.obstacles.place(hands.model, &self.scene, &motion);
        let mut near = std::mem::take(&mut self.near);
        let mut rings = std::mem::take(&mut self.rings);
        let mut found = std::mem::take(&mut self.found);
        near.renew(&mut rings, |i, ids| {
            let c = &self.contactors[i];
            let y = motion.at(c.node);
            let around = Aabb { lo: y.into(), hi: y.into() }.grown(room);
            if self.may_reach(c.body, &around) {
                self.cells.query_box(&around.lo, &around.hi, &mut found);
                ids.extend(found.iter().filter(|&&id| {
                    let target = &self.targets.list[id as usize];
                    let around = || target.nodes().contains(&c.node) || self.targets.is_around(c.node, id);
                    self.may_meet(c.body, target.body) && (target.body != c.body || !around())
                }));
            }
            // who was inside somebody must look to forget it
            c.known.0 != NOTHING || self.obstacles.may_touch(&y, room, &mut found)
        });
        (self.near, self.rings, self.found) = (near, rings, found);
    }

    /// Bodies that can meet before boxes are made anew.
    fn find_neighbours(&mut self) {
        self.neighbours.iter_mut().for_each(Vec::clear);
        for a in 0..self.extents.len() {
            let grown = self.extents[a].grown(2.0 * self.room);
            for b in 0..self.extents.len() {
                if self.may_meet(a as u32, b as u32) && meets(&grown, &self.extents[b]) {
                    self.neighbours[a].push(b as u32);
                }
            }
        }
    }

    /// Can something of a body, inside this box until boxes are made anew, meet another body?
    pub fn may_reach(&self, body: u32, around: &Aabb) -> bool {
        let mut others = self.neighbours[body as usize].iter();
        others.any(|&b| meets(around, &self.extents[b as usize].grown(self.room)))
    }

    /// Somebody has got this fast.
    #[inline]
    pub fn notice_speed(&mut self, speed_squared: f64, now: u64) {
        if speed_squared > self.cap_squared {
            self.until = now;
        }
    }

    /// Somebody may have got too fast by impulses.
    pub fn notice_impulses(&mut self, now: u64) {
        let fastest = std::mem::take(&mut self.impulses.tally.speed_squared);
        self.notice_speed(fastest, now);
    }

    /// The nodes of a ring look, and are answered; returns when they look again.
    pub fn look(&mut self, ring: usize, hands: &mut Hands) -> u64 {
        let Ring { step, ref members, .. } = self.rings[ring];
        let (first, count) = (members.start as usize, members.len());
        self.impulses.tally.checks += count as u64;
        let before = hands.state.v[self.contactors[first].node as usize].norm_squared();
        let mut hits = std::mem::take(&mut self.hits);
        let tasks = self.find_hits(ring, &mut hits, hands.model, &hands.motion());
        let mut rest = hits[..tasks].iter().flatten().peekable();
        for a in 0..self.near.active(&self.rings[ring]).len() {
            let i = self.near.active(&self.rings[ring])[a];
            let mut known = (NOTHING, 0);
            while let Some(hit) = rest.next_if(|hit| hit.contactor == i) {
                if let Some(side) = self.answer(hit, hands) {
                    known = (hit.target, side);
                }
            }
            self.contactors[i as usize].known = known;
            if !self.obstacles.is_empty() {
                self.try_obstacles(i as usize, hands);
            }
        }
        self.hits = hits;
        self.notice_impulses(hands.when.tick);
        let contactor = &self.contactors[first];
        let mut step = step;
        if contactor.travel > 0.0 {
            let speed = before.max(hands.state.v[contactor.node as usize].norm_squared()).sqrt();
            if speed > 0.0 {
                step = step.min(hands.when.clock.ticks_in(contactor.travel / speed));
            }
        }
        self.rings[ring].next = hands.when.tick + step;
        self.rings[ring].next
    }

    /// Who of a ring is in which target, in order; returns the number of tasks.
    fn find_hits(&self, ring: usize, hits: &mut Vec<Vec<Hit>>, model: &Model, motion: &Motion) -> usize {
        let active = self.near.active(&self.rings[ring]);
        let tasks = active.len().div_ceil(CHUNK);
        while hits.len() < tasks {
            hits.push(Vec::with_capacity(CHUNK));
        }
        let some = |members: &[u32], hits: &mut Vec<Hit>| {
            hits.clear();
            for &i in members {
                let contactor = &self.contactors[i as usize];
                let y = motion.at(contactor.node);
                for &id in self.near.of(i as usize) {
                    let target = &self.targets.list[id as usize];
                    let known = (contactor.known.0 == id).then_some(contactor.known.1);
                    let normal = || self.targets.node_normal(&self.scene, contactor.node, motion);
                    if let Some(inside) = self.targets.find(target, &y, normal, known, model, motion) {
                        hits.push(Hit { contactor: i, target: id, inside });
                    }
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

    /// A node in a target bounces if it goes deeper; tells the side it came through.
    fn answer(&mut self, hit: &Hit, hands: &mut Hands) -> Option<u8> {
        let (contactor, target) =
            (self.contactors[hit.contactor as usize], &self.targets.list[hit.target as usize]);
        let inside = &hit.inside;
        if inside.count == 0 {
            self.impulses.tally.too_deep += 1;
            return None;
        }
        let count = target.kind.nodes();
        let mut nodes = [contactor.node; 9];
        nodes[1..=count].copy_from_slice(target.nodes());
        let mut local = Local::of(&nodes[..=count], self.velocity, hands);
        // faces equally near: the one that closes fastest
        let u = (0..count).fold(local.v[0], |u, k| u - inside.weights[k] * local.v[k + 1]);
        let closing = |f: &(u8, f64, Vec3)| -f.2.dot(&u);
        let mut face = inside.faces[0];
        for other in &inside.faces[1..inside.count] {
            if closing(other) > closing(&face) {
                face = *other;
            }
        }
        let (side, depth, normal) = face;
        self.window.penetration = self.window.penetration.max(depth);
        let mut pair = pair_in_element(target.kind, &inside.weights, normal, depth);
        let bodies = [contactor.body, target.body];
        let law = hands.model.contact.law(bodies[0], bodies[1]);
        (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
        if let Some(impact) = response::bounce(&pair, 0.0, &local.inv_mass, &mut local.v) {
            self.carried(hit.contactor as usize);
            self.impulses.give(&pair, &nodes[..=count], &impact, bodies, hands);
        }
        Some(side)
    }

    fn carried(&mut self, i: usize) {
        let contactor = &mut self.contactors[i];
        if contactor.window != self.window.number {
            contactor.window = self.window.number;
            self.window.contacts += 1;
        }
    }

    fn try_obstacles(&mut self, i: usize, hands: &mut Hands) {
        let contactor = self.contactors[i];
        let y = hands.motion().at(contactor.node);
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        let (meet, bodies) = (&self.meet, self.bodies);
        self.obstacles.find(contactor.node, &y, hands.model, &self.scene, &hands.motion(), |body, pair| {
            if meet[contactor.body as usize * bodies + body as usize] {
                pairs.push((body, pair));
            }
        });
        for (body, pair) in &mut pairs {
            self.window.penetration = self.window.penetration.max(-pair.gap);
            let law = hands.model.contact.law(contactor.body, *body);
            (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
            let nodes = [contactor.node];
            let mut local = Local::of(&nodes, self.velocity, hands);
            if let Some(impact) = response::bounce(pair, 0.0, &local.inv_mass, &mut local.v) {
                self.carried(i);
                self.impulses.give(pair, &nodes, &impact, [contactor.body, *body], hands);
            }
        }
        self.pairs = pairs;
    }

    pub fn save(&self, record: &mut Record) {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        let of = |c: &Contactor| [u64::from(c.known.0), u64::from(c.known.1), c.window];
        let contactors: Vec<u64> = self.contactors.iter().flat_map(of).collect();
        record.counts(&name("contactors"), &contactors);
        let next: Vec<u64> = self.rings.iter().map(|r| r.next).collect();
        record.counts(&name("next"), &next);
        let window = &self.window;
        record.counts(&name("window"), &[window.number, window.contacts]);
        record.numbers(&name("penetration"), &[window.penetration]);
        self.impulses.save(record);
    }

    /// Boxes are made anew at the next look: nothing that is found depends on them.
    pub fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        let mut contactors = vec![0; 3 * self.contactors.len()];
        super::record::read_counts(record, &name("contactors"), &mut contactors)?;
        for (c, from) in self.contactors.iter_mut().zip(contactors.chunks_exact(3)) {
            (c.known, c.window) = ((from[0] as u32, from[1] as u8), from[2]);
        }
        let mut next = vec![0; self.rings.len()];
        super::record::read_counts(record, &name("next"), &mut next)?;
        self.rings.iter_mut().zip(next).for_each(|(r, next)| r.next = next);
        let [number, contacts] = record.read_counts(&name("window"))?;
        let mut penetration = [0.0];
        record.read_numbers(&name("penetration"), &mut penetration)?;
        self.window = Window { number, contacts, penetration: penetration[0] };
        self.until = 0;
        self.impulses.restore(record)
    }
}

fn meets(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|k| a.lo[k] <= b.hi[k] && b.lo[k] <= a.hi[k])
}

/// Is a box inside a stored one?
pub fn holds(fat: &Aabb, grown: &Aabb) -> bool {
    (0..3).all(|k| fat.lo[k] <= grown.lo[k] && grown.hi[k] <= fat.hi[k])
}

/// The longest step up to `step` that is a multiple of the time between kicks, or a half, a quarter … of it: the intervals
/// of these kicks end when the node looks, or a kick has just come, and no force has to be found for it.
fn in_rhythm(step: u64, kick: u64) -> u64 {
    if step >= kick {
        return step - step % kick;
    }
    let mut part = kick;
    while part > step && part.is_multiple_of(2) {
        part /= 2;
    }
    if part <= step { part } else { step }
}

/// A surface node and its step; none for nodes of obstacles.
fn contactor(
    node: u32,
    model: &Model,
    scene: &Scene,
    step_rule: ContactStep,
    around: &Around,
    tick: f64,
) -> Option<Contactor> {
    let n = node as usize;
    let body = scene.node_body[n];
    let of = model.bodies.get(body as usize)?;
    let longest = match step_rule {
        ContactStep::Local(share) | ContactStep::Rhythm(share) => share * around.local[n],
        ContactStep::Smallest(share) => share * around.smallest,
        ContactStep::Adaptive { longest: Longest::Local(times), .. } => times * around.local[n],
        ContactStep::Adaptive { longest: Longest::Average(times), .. } => times * around.average,
    };
    let travel = match step_rule {
        ContactStep::Adaptive { travel, .. } => {
            let density = model.blocks[of.blocks.start].density();
            let volume = model.mass[n] / density / of.section;
            travel * volume.powf(1.0 / of.mesh.dimension().max(1) as f64)
        }
        _ => 0.0,
    };
    let step = (longest / tick * (1.0 + 1e-9)).floor().clamp(1.0, 1e15) as u64;
    let step = match around.kicks[n] {
        Some(kick) if matches!(step_rule, ContactStep::Rhythm(_)) => in_rhythm(step, kick),
        _ => step,
    };
    Some(Contactor { node, body, step, travel, known: (NOTHING, 0), window: u64::MAX })
}

/// A node in an element, points counted from zero, the node first.
fn pair_in_element(kind: CellKind, weights: &[f64; 8], normal: Vec3, depth: f64) -> Pair {
    let w = weights;
    match kind {
        CellKind::Bar2 => Pair::node_element(0, 0, [1, 2], [w[0], w[1]], normal, depth),
        CellKind::Tri3 => Pair::node_element(0, 0, [1, 2, 3], [w[0], w[1], w[2]], normal, depth),
        CellKind::Quad4 | CellKind::Tet4 => {
            Pair::node_element(0, 0, [1, 2, 3, 4], [w[0], w[1], w[2], w[3]], normal, depth)
        }
        CellKind::Hex8 => Pair::node_element(0, 0, [1, 2, 3, 4, 5, 6, 7, 8], *w, normal, depth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Block;
    use crate::element::hex8::Hex8;
    use crate::element::solid::{Solid, SolidOptions};
    use crate::material::{Lame, StVenantKirchhoff};
    use crate::mesh::shape;
    use crate::method::asynchronous::clock::Clock;
    use crate::method::asynchronous::groups::Groups;
    use crate::method::asynchronous::synchronised::{Phase, When};
    use crate::model::{BodySpec, Builder, Table};

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn two_boxes() -> Model {
        let mut builder = Builder::default();
        for (name, at, cells) in [("a", Vec3::zeros(), [4, 3, 5]), ("b", Vec3::new(0.8, 0.1, 0.2), [3, 4, 2])]
        {
            let mut mesh = shape::Box::new([1.0; 3], cells).build().unwrap();
            mesh.nodes.iter_mut().for_each(|p| *p += at);
            let make = |connectivity: Vec<u32>, reference: &[Vec3]| {
                let law = StVenantKirchhoff { lame: Lame { lambda: 1.0, mu: 1.0 }, density: 1.0 };
                let options = SolidOptions::default();
                Box::new(Solid::<Hex8, _>::new(law, connectivity, reference, &options)) as Box<dyn Block>
            };
            builder.body(BodySpec {
                name: name.into(),
                mesh,
                blocks: vec![Box::new(make)],
                section: 1.0,
                gravity: Vec3::zeros(),
                gravity_table: Table::default(),
                damping: 0.0,
            });
        }
        builder.build().unwrap()
    }

    #[test]
    fn looks_fit_kicks_or_parts_of_them() {
        assert_eq!(
            [1024, 1500, 2048, 3071, 1023, 512, 300].map(|s| in_rhythm(s, 1024)),
            [1024, 1024, 2048, 2048, 512, 512, 256]
        );
        assert_eq!(in_rhythm(2, 3), 2);
    }

    /// Two boxes that overlap, every node on a way of its own that changes now and then: who is in whom by the lists is who
    /// is in whom when everybody is asked, however long ago the lists were made.
    #[test]
    fn lists_of_candidates_miss_nobody() {
        let model = two_boxes();
        let clock = Clock { begin: 0.0, tick: 1e-3 };
        let local = vec![1e-2; model.reference.len()];
        let kicks = vec![None; local.len()];
        let around = Around { local: &local, average: 1e-2, smallest: 1e-2, kicks: &kicks };
        let mut collisions = Collisions::new(&model, &Options::default(), &around, clock.tick);
        let still: Vec<Vec<Option<u64>>> = model.blocks.iter().map(|b| vec![None; b.potentials()]).collect();
        let mut groups = Groups::new(&model, &still);
        let mut state = model.rest();
        let mut tau = vec![0; state.x.len()];
        let (mut seed, mut tick, mut found, mut renewed) = (12, 0, 0, 0);
        let mut edges = Edges::none();
        for round in 0..400 {
            tick += 1 + (20.0 * (random(&mut seed) + 0.5)) as u64;
            if round % 3 == 0 {
                for n in 0..state.x.len() {
                    if random(&mut seed) > 0.2 {
                        state.x[n] += clock.between(tau[n], tick) * state.v[n];
                        tau[n] = tick;
                        // towards where it was at first, and about
                        let noise = Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
                        state.v[n] = 2.0 * (model.reference[n] - state.x[n]) + 1.2 * noise;
                        collisions.notice_speed(state.v[n].norm_squared(), tick);
                    }
                }
            }
            let when = When { tick, phase: Phase::Centred, clock };
            let hands = Hands { model: &model, groups: &mut groups, state: &mut state, tau: &mut tau, when };
            if collisions.is_due(tick) {
                collisions.refresh(&mut edges, &hands);
                renewed += 1;
            }
            let motion = hands.motion();
            for ring in 0..collisions.rings.len() {
                let mut hits = Vec::new();
                let tasks = collisions.find_hits(ring, &mut hits, &model, &motion);
                let listed: Vec<(u32, u32)> =
                    hits[..tasks].iter().flatten().map(|h| (h.contactor, h.target)).collect();
                let mut asked = Vec::new();
                for i in collisions.rings[ring].members.clone() {
                    let c = collisions.contactors[i as usize];
                    for (t, target) in collisions.targets.list.iter().enumerate() {
                        let y = motion.at(c.node);
                        let normal = || collisions.targets.node_normal(&collisions.scene, c.node, &motion);
                        if target.body != c.body
                            && collisions.targets.find(target, &y, normal, None, &model, &motion).is_some()
                        {
                            asked.push((i, t as u32));
                        }
                    }
                }
                assert_eq!(listed, asked);
                found += listed.len();
            }
        }
        assert!(found > 1000 && renewed < 300, "{found} {renewed}");
    }
}
