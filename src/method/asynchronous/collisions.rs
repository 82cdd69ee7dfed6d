//! Collision kicks: one surface node at a time looks which elements it is in, and bounces off at once.
//!
//! ```text
//! node A at its own ticks:
//!   candidates    targets whose fat box holds x_A, from the cell of its position code
//!   inside        inverse map of the element, boundary face that looks against A's normal
//!   answer        if it goes deeper: u = Σ w v, j in closed form, v ← v + w W j; velocities of this instant
//!   next          after Δt_A
//! ```
//!
//! **Boxes.** A box is stored with room for as long as nobody is faster than twice the largest speed at the time it was
//! stored; then all boxes are looked at again. So a candidate is never missed, whatever the ticks of its nodes, and what is
//! found does not depend on the boxes.
//!
//! **In step.** With classes a node looks at multiples of the step of its own elements, a power of two: their intervals end
//! just then, and the velocities of the instant need no correction from a force that is older. A correction from an old
//! force is wrong by (ωh)²/12 on average and always to the same side; bars that look at 0.73 of their step gain 60 % where
//! those in step stay within 0.3 %.
//!
//! **Order.** Nodes by their number, targets of a node by theirs, each seeing the velocities the one before has left.

use super::super::response::{self, Impact};
use super::clock::TICKS_OF_CLASSES;
use super::edges::Edges;
use super::fixed::FREE;
use super::groups::Groups;
use super::instant::Motions;
use super::obstacles::Obstacles;
use super::synchronised::When;
use super::targets::{Target, Targets};
use super::{Options, Steps};
use crate::contact::cells::Cells;
use crate::contact::octree::Aabb;
use crate::contact::pair::Pair;
use crate::contact::scene::Scene;
use crate::contact::search::NodeSearch;
use crate::math::{Mat3, Vec3};
use crate::mesh::CellKind;
use crate::model::record::{Record, RecordError};
use crate::model::{Model, State};

/// Room around a box, as a share of the median size of targets.
const ROOM: f64 = 0.1;
/// Stands for a face nobody remembers.
const NOTHING: u32 = u32::MAX;

/// Which velocities a contact sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactVelocity {
    /// Those of the instant: kicks around it counted in proportion.
    #[default]
    Synchronised,
    /// As the last kicks have left them.
    Raw,
}

/// How often a node looks for contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactStep {
    /// This share of the shortest critical step around the node; with classes the next shorter power of two of the
    /// smallest step.
    Local(f64),
    /// This share of the shortest step of all elements, for all nodes.
    Smallest(f64),
    /// As long as it takes to travel the share `travel` of the node's own size, but at most `longest`.
    Adaptive { travel: f64, longest: Longest },
}

/// The longest adaptive step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Longest {
    /// Times the shortest critical step around the node.
    Local(f64),
    /// Times the average critical step of all elements.
    Average(f64),
}

impl Default for ContactStep {
    fn default() -> Self {
        ContactStep::Local(0.5)
    }
}

/// Positions that each hold at a tick of their own, seen at one tick.
pub struct Motion<'a> {
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    pub tau: &'a [u64],
    pub when: When,
}

impl Motion<'_> {
    #[inline]
    pub fn at(&self, node: u32) -> Vec3 {
        let n = node as usize;
        // nobody is ever ahead of the events
        self.x[n] + self.when.clock.between(self.tau[n], self.when.tick) * self.v[n]
    }
}

/// A surface node on its own.
#[derive(Clone, Copy, Debug)]
pub struct Contactor {
    pub node: u32,
    pub body: u32,
    pub next: u64,
    /// Its step, or the longest if it is adaptive [ticks].
    step: u64,
    /// Share of its size it may travel [m]; zero if its step does not follow its speed.
    travel: f64,
    /// Target and side it was in when it last looked.
    known: (u32, u8),
    /// Window in which it last carried an impulse.
    window: u64,
}

impl Contactor {
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Its step, unless it follows its speed [ticks].
    pub fn constant_step(&self) -> Option<u64> {
        (self.travel == 0.0).then_some(self.step)
    }
}

/// What contact has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub friction: f64,
    pub restitution: f64,
    pub external: f64,
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Times a node or an edge has looked, and impulses.
    pub checks: u64,
    pub kicks: u64,
    /// Time of the last impulse [s].
    pub last: f64,
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
    pub contactors: Vec<Contactor>,
    velocity: ContactVelocity,
    /// Which bodies may meet, `a * bodies + b`.
    meet: Vec<bool>,
    bodies: usize,
    /// Room around boxes [m]; boxes hold until this tick and for speeds up to the cap [m²/s²].
    room: f64,
    until: u64,
    cap_squared: f64,
    found: Vec<u32>,
    obstacles: Obstacles,
    pairs: Vec<(u32, Pair)>,
    pub tally: Tally,
    pub window: Window,
    /// Impulse of contact on each node since the start [N s].
    pub received: Vec<Vec3>,
    /// Impulses between two bodies, on the first of the two; sorted.
    pub between: Vec<([u32; 2], Vec3)>,
}

/// What steps of contact are made of [s].
pub struct Around<'a> {
    /// Shortest critical step around each node.
    pub local: &'a [f64],
    /// Of all moving elements.
    pub average: f64,
    /// Shortest step in use.
    pub smallest: f64,
}

/// Everything that a contact may change.
pub struct Hands<'a> {
    pub model: &'a Model,
    pub groups: &'a mut Groups,
    pub state: &'a mut State,
    pub tau: &'a mut [u64],
    pub when: When,
}

impl Hands<'_> {
    pub fn motion(&self) -> Motion<'_> {
        Motion { x: &self.state.x, v: &self.state.v, tau: self.tau, when: self.when }
    }
}

impl Collisions {
    pub fn new(model: &Model, options: &Options, around: Around, tick: f64) -> Collisions {
        let Options { contact_step: step, contact_velocity: velocity, .. } = *options;
        let Around { local, average, smallest } = around;
        let in_step = options.steps == Steps::Classes && matches!(step, ContactStep::Local(_));
        let scene = model.contact.scene(model, false);
        let targets = Targets::new(model, &scene);
        let mut sizes: Vec<f64> = targets.list.iter().map(|t| t.size).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let size = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
        let bodies = scene.bodies.len();
        let meet = (0..bodies * bodies)
            .map(|i| scene.may_meet((i / bodies) as u32, (i % bodies) as u32))
            .collect::<Vec<_>>();
        let contactor = |&node: &u32| {
            let n = node as usize;
            let body = scene.node_body[n];
            let of = model.bodies.get(body as usize)?;
            let longest = match step {
                ContactStep::Local(share) => share * local[n],
                ContactStep::Smallest(share) => share * smallest,
                ContactStep::Adaptive { longest: Longest::Local(times), .. } => times * local[n],
                ContactStep::Adaptive { longest: Longest::Average(times), .. } => times * average,
            };
            let travel = match step {
                ContactStep::Adaptive { travel, .. } => {
                    let density = model.blocks[of.blocks.start].density();
                    let volume = model.mass[n] / density / of.section;
                    travel * volume.powf(1.0 / of.mesh.dimension().max(1) as f64)
                }
                _ => 0.0,
            };
            let step = (longest / tick * (1.0 + 1e-9)).floor().clamp(1.0, 1e15) as u64;
            let step = match step.checked_ilog2() {
                Some(log) if in_step && step >= TICKS_OF_CLASSES => 1 << log,
                _ => step,
            };
            Some(Contactor { node, body, next: 0, step, travel, known: (NOTHING, 0), window: u64::MAX })
        };
        let touches = |body: u32| (0..bodies).any(|b| meet[body as usize * bodies + b]);
        let mut contactors: Vec<Contactor> = scene.slots.iter().filter_map(contactor).collect();
        contactors.retain(|c| touches(c.body));
        contactors.sort_unstable_by_key(|c| c.node);
        let obstacles = Obstacles::new(model, &scene, size);
        Collisions {
            cells: Cells::new([0.0; 3], 1.5 * size, 0.0),
            room: ROOM * size,
            until: 0,
            cap_squared: 0.0,
            contactors,
            velocity,
            meet,
            bodies,
            targets,
            scene,
            found: Vec::with_capacity(256),
            obstacles,
            pairs: Vec::with_capacity(16),
            tally: Tally::default(),
            window: Window::default(),
            received: vec![Vec3::zeros(); model.reference.len()],
            between: Vec::new(),
        }
    }

    /// Nodes that may take part in a contact.
    pub fn touched(&self, nodes: usize) -> Vec<bool> {
        let mut touched = vec![false; nodes];
        self.contactors.iter().for_each(|c| touched[c.node as usize] = true);
        let targets =
            self.targets.list.iter().filter(|t| (0..self.bodies as u32).any(|b| self.may_meet(t.body, b)));
        targets.flat_map(|t| t.nodes()).for_each(|&n| touched[n as usize] = true);
        touched
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

    /// Are boxes too old?
    #[inline]
    pub fn is_due(&self, tick: u64) -> bool {
        tick >= self.until
    }

    /// Makes all boxes hold from now on; `edges` have boxes of their own.
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
        edges.refresh(self.room, &motion);
        self.cells.set_margin(2.0 * self.room);
        for (i, target) in self.targets.list.iter().enumerate() {
            let mut tight = Aabb::EMPTY;
            for &n in target.nodes() {
                let p = motion.at(n);
                tight.add(&[p.x, p.y, p.z]);
            }
            let grown = tight.grown(self.room);
            let holds = |fat: &Aabb| (0..3).all(|k| fat.lo[k] <= grown.lo[k] && grown.hi[k] <= fat.hi[k]);
            if !self.cells.stored(i as u32).is_some_and(holds) {
                self.cells.insert_box(i as u32, tight.lo, tight.hi);
            }
        }
    }

    /// Somebody has got this fast.
    #[inline]
    pub fn notice_speed(&mut self, speed_squared: f64, now: u64) {
        if speed_squared > self.cap_squared {
            self.until = now;
        }
    }

    /// Contactor `i` looks, and is answered; returns when it looks again.
    pub fn look(&mut self, i: usize, hands: &mut Hands) -> u64 {
        let contactor = self.contactors[i];
        let node = contactor.node;
        let before = hands.state.v[node as usize].norm_squared();
        let y = hands.motion().at(node);
        let mut found = std::mem::take(&mut self.found);
        self.cells.query(&[y.x, y.y, y.z], 0.0, &mut found);
        let mut known = (NOTHING, 0);
        for &id in &found {
            let target = self.targets.list[id as usize];
            if !self.meet[contactor.body as usize * self.bodies + target.body as usize] {
                continue;
            }
            if target.body == contactor.body
                && (target.nodes().contains(&node) || self.targets.is_around(node, id))
            {
                continue;
            }
            let side = (contactor.known.0 == id).then_some(contactor.known.1);
            if let Some(side) = self.try_target(i, &target, &y, side, hands) {
                known = (id, side);
            }
        }
        self.found = found;
        self.contactors[i].known = known;
        if !self.obstacles.is_empty() {
            self.try_obstacles(i, &y, hands);
        }
        let contactor = &mut self.contactors[i];
        let mut step = contactor.step;
        if contactor.travel > 0.0 {
            let speed = before.max(hands.state.v[node as usize].norm_squared()).sqrt();
            if speed > 0.0 {
                step = step.min(hands.when.clock.ticks_in(contactor.travel / speed));
            }
        }
        contactor.next = hands.when.tick + step;
        contactor.next
    }

    /// If the contactor is in the target: bounces if it goes deeper, and tells the side it came through.
    fn try_target(
        &mut self,
        i: usize,
        target: &Target,
        y: &Vec3,
        known: Option<u8>,
        hands: &mut Hands,
    ) -> Option<u8> {
        let contactor = self.contactors[i];
        let motion = hands.motion();
        let normal = || self.targets.node_normal(&self.scene, contactor.node, &motion);
        let inside = self.targets.find(target, y, normal, known, hands.model, &motion)?;
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
        let law = hands.model.contact.law(contactor.body, target.body);
        (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
        if let Some(impact) = response::bounce(&pair, 0.0, &local.inv_mass, &mut local.v) {
            self.carried(i);
            self.apply(&pair, &nodes[..=count], &impact, [contactor.body, target.body], hands);
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

    fn try_obstacles(&mut self, i: usize, y: &Vec3, hands: &mut Hands) {
        let contactor = self.contactors[i];
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        let (meet, bodies) = (&self.meet, self.bodies);
        self.obstacles.find(contactor.node, y, hands.model, &self.scene, &hands.motion(), |body, pair| {
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
                self.apply(pair, &nodes, &impact, [contactor.body, *body], hands);
            }
        }
        self.pairs = pairs;
    }

    /// Gives the nodes of a pair, whose points count in `nodes`, their impulses, and books them.
    pub fn apply(
        &mut self,
        pair: &Pair,
        nodes: &[u32],
        impact: &Impact,
        bodies: [u32; 2],
        hands: &mut Hands,
    ) {
        let j = impact.impulse();
        let (tick, clock) = (hands.when.tick, hands.when.clock);
        let State { x, v, .. } = &mut *hands.state;
        for (k, w) in pair.stencil() {
            let n = nodes[k] as usize;
            x[n] += clock.between(hands.tau[n], tick) * v[n];
            hands.tau[n] = tick;
            let given = w * j;
            self.received[n] += given;
            let fixed = &hands.groups.fixed;
            let push = fixed.inverse_mass(hands.model, n) * given;
            v[n] += push;
            let held = fixed.held[n];
            if held != FREE {
                // what the support takes
                let reaction = push / fixed.inv_mass[n] - given;
                self.tally.external += reaction.dot(&v[n]);
                self.tally.impulse += reaction;
                self.tally.moment += x[n].cross(&reaction);
                hands.groups.support[held as usize] += reaction;
            }
            let speed_squared = v[n].norm_squared();
            if speed_squared > self.cap_squared {
                self.until = tick;
            }
        }
        if let Some(outer) = pair.outer {
            self.tally.external += j.dot(&outer.velocity);
            self.tally.impulse += j;
            let centre: Vec3 = pair.stencil().map(|(k, w)| w * x[nodes[k] as usize]).sum();
            self.tally.moment += centre.cross(&j);
        }
        self.tally.restitution += impact.lost_normal;
        self.tally.friction += impact.lost_friction;
        self.tally.kicks += 1;
        self.tally.last = clock.time(tick);
        let (key, on_first) = if bodies[0] <= bodies[1] { (bodies, j) } else { ([bodies[1], bodies[0]], -j) };
        match self.between.binary_search_by_key(&key, |p| p.0) {
            Ok(at) => self.between[at].1 += on_first,
            Err(at) => self.between.insert(at, (key, on_first)),
        }
    }
}

/// Velocities and inverse masses of a few nodes, counted from zero.
pub struct Local {
    pub v: [Vec3; 9],
    pub inv_mass: [Mat3; 9],
}

impl Local {
    pub fn of(nodes: &[u32], velocity: ContactVelocity, hands: &mut Hands) -> Local {
        let mut local = Local { v: [Vec3::zeros(); 9], inv_mass: [Mat3::zeros(); 9] };
        let Hands { model, groups, state, tau, when } = hands;
        if velocity == ContactVelocity::Synchronised {
            groups.set_pull(model, when.clock.time(when.tick));
        }
        let at = Motions { x: &state.x, v: &state.v, tau, memory: &state.material.old };
        for (k, &n) in nodes.iter().enumerate() {
            let n = n as usize;
            local.v[k] = match velocity {
                ContactVelocity::Synchronised => groups.synchronised_velocity(n, when, model, &at),
                ContactVelocity::Raw => state.v[n],
            };
            local.inv_mass[k] = groups.fixed.inverse_mass(model, n);
        }
        local
    }
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

impl Collisions {
    pub fn save(&self, record: &mut Record) {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        let of = |f: fn(&Contactor) -> [u64; 4]| self.contactors.iter().flat_map(f).collect::<Vec<u64>>();
        let contactors = of(|c| [c.next, u64::from(c.known.0), u64::from(c.known.1), c.window]);
        record.counts(&name("contactors"), &contactors);
        let (tally, window) = (&self.tally, &self.window);
        record.counts(&name("counts"), &[tally.checks, tally.kicks, window.number, window.contacts]);
        let numbers = [tally.friction, tally.restitution, tally.external, tally.last, window.penetration];
        record.numbers(&name("numbers"), &numbers);
        record.vectors(&name("vectors"), &[tally.impulse, tally.moment]);
        record.vectors(&name("received"), &self.received);
        let bodies: Vec<f64> = self.between.iter().flat_map(|p| p.0.map(f64::from)).collect();
        let impulses: Vec<Vec3> = self.between.iter().map(|p| p.1).collect();
        record.numbers(&name("bodies"), &bodies);
        record.vectors(&name("impulses"), &impulses);
    }

    /// Boxes are made anew at the next look: nothing that is found depends on them.
    pub fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let name = |what: &str| format!("asynchronous.contact.{what}");
        let mut contactors = vec![0; 4 * self.contactors.len()];
        super::read_counts(record, &name("contactors"), &mut contactors)?;
        for (c, from) in self.contactors.iter_mut().zip(contactors.chunks_exact(4)) {
            (c.next, c.known, c.window) = (from[0], (from[1] as u32, from[2] as u8), from[3]);
        }
        let (mut numbers, mut vectors) = ([0.0; 5], [Vec3::zeros(); 2]);
        let [checks, kicks, number, contacts] = record.read_counts(&name("counts"))?;
        record.read_numbers(&name("numbers"), &mut numbers)?;
        record.read_vectors(&name("vectors"), &mut vectors)?;
        let [friction, restitution, external, last, penetration] = numbers;
        let [impulse, moment] = vectors;
        self.tally = Tally { friction, restitution, external, impulse, moment, checks, kicks, last };
        self.window = Window { number, contacts, penetration };
        record.read_vectors(&name("received"), &mut self.received)?;
        let bodies = record.get(&name("bodies"))?;
        let mut impulses = vec![Vec3::zeros(); bodies.len() / 2];
        record.read_vectors(&name("impulses"), &mut impulses)?;
        let pairs = bodies.chunks_exact(2).map(|b| [b[0] as u32, b[1] as u32]);
        self.between = pairs.zip(impulses).collect();
        self.until = 0;
        Ok(())
    }
}
