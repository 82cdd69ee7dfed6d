//! What both members of the family have in common: the admissible set, the working set, and the books of contact.
//!
//! ```text
//! friction    += Σ max(0, p·s)
//! restitution −= F_n·Δφ − Σ min(0, p·s)                 normal forces along the way of their nodes
//! ```

use super::detect::{ACCEPTED, Admissible, Found, Key};
use super::program::{Gradient, Program, Rules};
use super::simplex::ContactKind;
use super::{Options, Report, Ties};
use crate::math::Vec3;
use crate::method::StepError;
use crate::method::impulses::Carried;
use crate::method::newmark::{ContactKick as Kick, UNTOUCHED};
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model, State};

/// Bodies that overlap at the start by more than this share of the local size are refused; less is moved apart.
const MOVED_APART: f64 = 1e-3;

/// Share of the largest friction from which on a contact slips.
const SLIDES: f64 = 1.0 - 1e-9;

pub(crate) struct Touching {
    pub options: Options,
    pub at: Admissible,
    pub program: Program,
    pub banned: Vec<Key>,
    /// Place of each node among the touched, and what contact does to them.
    pub slot: Vec<u32>,
    pub touched: Vec<u32>,
    pub kicks: Vec<Kick>,
    pub report: Report,
}

impl Touching {
    pub(crate) fn new(model: &Model, options: Options) -> Touching {
        let nodes = model.reference.len();
        let mut at = Admissible::new(model);
        at.last_of_equals = options.ties == Ties::Last;
        at.springs = options.penalty.is_some();
        Touching {
            options,
            at,
            program: Program::default(),
            banned: Vec::new(),
            slot: vec![UNTOUCHED; nodes],
            touched: Vec::new(),
            kicks: Vec::new(),
            report: Report::default(),
        }
    }

    pub(crate) fn rules(&self) -> Rules {
        let Options { gradient, friction, friction_gradient, penalty, .. } = self.options;
        Rules { gradient, friction, friction_gradient, penalty }
    }

    /// Begins a step: nothing is known of it but what pressed in the last one.
    pub(crate) fn clear(&mut self) {
        self.program.clear();
        self.banned.clear();
        self.report = Report::default();
    }

    /// Are the trial positions what is asked for, after a look that has found nothing new?
    pub(crate) fn accepts(&self, found: &Found) -> bool {
        self.options.penalty.is_some() || found.left == 0 && self.program.violation(&self.at) <= ACCEPTED
    }

    /// Takes out what presses where its features have ended and so acts on nothing; `true` if there was any.
    pub(crate) fn drop_ghosts(&mut self) -> bool {
        let (work, lambda) = (&self.program.work, &self.program.lambda);
        let ghosts = work.iter().zip(lambda).filter(|(c, l)| **l > 0.0 && self.at.is_ghost(c));
        let ghosts: Vec<Key> = ghosts.map(|(c, _)| c.key).collect();
        if ghosts.is_empty() {
            return false;
        }
        self.program.drop(&self.at, &ghosts);
        self.banned.extend(ghosts);
        true
    }

    pub(crate) fn inadmissible(&self, depth: f64, time: f64, dt: f64) -> StepError {
        let worst =
            self.program.work.iter().max_by(|p, q| self.at.distance(q).total_cmp(&self.at.distance(p)));
        let [first, second] = self.at.world.names(worst.map_or([0, 0], |c| c.bodies));
        StepError::Inadmissible { first, second, time, dt, depth }
    }

    /// Forgets who was touched in the step before.
    pub(crate) fn release(&mut self) {
        for &k in &self.touched {
            self.slot[k as usize] = UNTOUCHED;
        }
        self.touched.clear();
        self.kicks.clear();
    }

    /// Who is touched in a step of length `dt`, and the impulses. Nodes that are held altogether feel them too: their supports answer.
    pub(crate) fn collect(&mut self, model: &Model, dt: f64) {
        let program = &self.program;
        let of_work = program.work.iter().flat_map(|c| c.simplex.ids().iter().copied());
        for k in program.nodes.iter().copied().chain(of_work) {
            if (k as usize) < model.mass.len() && self.slot[k as usize] == UNTOUCHED {
                self.slot[k as usize] = self.touched.len() as u32;
                self.touched.push(k);
                self.kicks.push(Kick::default());
            }
        }
        for (i, c) in program.work.iter().enumerate() {
            for (a, &k) in c.simplex.ids().iter().enumerate() {
                if (k as usize) < model.mass.len() {
                    let force = program.normal_on(i, a) + program.friction_on(i, a);
                    self.kicks[self.slot[k as usize] as usize].impulse += dt * force;
                }
            }
        }
        for (&k, kick) in self.touched.iter().zip(&mut self.kicks) {
            kick.kick = self.at.inv_mass[k as usize] * kick.impulse;
        }
    }

    /// Contact force on each node in the last step, which was `dt` long [N].
    pub(crate) fn forces(&self, dt: f64) -> Vec<Vec3> {
        let force = |k: usize| match self.kicks.get(self.slot[k] as usize) {
            Some(kick) => kick.impulse / dt,
            None => Vec3::zeros(),
        };
        (0..self.slot.len()).map(force).collect()
    }

    /// The books of contact.
    pub(crate) fn book(&mut self, model: &Model, dt: f64, ledger: &mut Ledger) {
        for (&k, kick) in self.touched.iter().zip(&self.kicks) {
            self.at.world.impulses.received[k as usize] += kick.impulse;
        }
        if let Some(penalty) = self.options.penalty {
            let stored = self.program.stored(penalty);
            ledger.restitution -= stored - ledger.contact;
            ledger.contact = stored;
        }
        self.at.world.impulses.forget();
        let mut contacts = 0;
        for i in 0..self.program.work.len() {
            if self.program.lambda[i] > 0.0 {
                contacts += 1;
                self.book_one(model, i, dt, ledger);
            }
        }
        (self.report.constraints, self.report.active) = (self.program.work.len(), contacts);
        ledger.contacts = contacts as u64;
        ledger.collision_kicks += contacts as u64;
    }

    fn book_one(&mut self, model: &Model, i: usize, dt: f64, ledger: &mut Ledger) {
        let (program, at) = (&self.program, &self.at);
        let c = &program.work[i];
        let (mut on_first, mut on_second, mut moment) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
        let mut normal = 0.0;
        for (a, &k) in c.simplex.ids().iter().enumerate() {
            let way = at.world.x[k as usize] - at.start[k as usize];
            let (n, t) = (program.normal_on(i, a), program.friction_on(i, a));
            normal += n.dot(&way);
            let first = a == 0 || a == 1 && c.key.0 == ContactKind::EdgeEdge;
            if (k as usize) < model.mass.len() {
                let middle = match self.options.gradient {
                    Gradient::End => at.world.x[k as usize],
                    Gradient::Midpoint => at.world.x[k as usize] - 0.5 * way,
                };
                moment += middle.cross(&(n + t));
                *(if first { &mut on_first } else { &mut on_second }) += n + t;
            } else {
                // the drive of an obstacle does what the obstacle does
                let carried = if c.key.0 == ContactKind::NodePlane && a == 1 { c.carried } else { way };
                ledger.external -= n.dot(&way) + t.dot(&carried);
            }
        }
        let rubbed = program.rubbed(i, &at.start, &at.world.x);
        // friction's account never falls: round-off of what sticks goes with the normal forces
        ledger.restitution -= normal - rubbed.min(0.0);
        ledger.friction += rubbed.max(0.0);
        self.report.friction_work += rubbed;
        self.report.least_dissipation = self.report.least_dissipation.min(rubbed);
        let bound = program.bound(i);
        if bound > 0.0 {
            let p = program.tangential[i].iter().map(|p| p.norm_squared()).sum::<f64>().sqrt();
            self.report.cone = self.report.cone.max(p / bound);
            *(if p < SLIDES * bound { &mut self.report.stick } else { &mut self.report.slip }) += 1;
        }
        let rigid = c.bodies.map(|b| at.world.scene.bodies[b as usize].attributes.rigid());
        if rigid[0] || rigid[1] {
            ledger.impulse += dt * (on_first + on_second);
            ledger.moment += dt * moment;
        }
        let on = if rigid[0] { -on_second } else { on_first };
        let foot = c.simplex.foot(&at.world.x);
        let first = c.simplex.ids().iter().zip(foot.weights).filter(|(_, w)| *w > 0.0);
        let nodes = first.map(|(&k, w)| (w * foot.normal, at.world.x[k as usize]));
        let gap = c.simplex.value(&at.world.x) / foot.lever;
        let carried = Carried::by_nodes(c.simplex.nodes, c.bodies, nodes, gap, dt * on);
        self.at.world.impulses.count(carried);
    }

    /// Moves bodies apart that overlap a little at the start, without giving them a velocity; refuses those that overlap more. Returns
    /// what is left [m].
    pub(crate) fn part_at_start(&mut self, model: &Model, state: &mut State) -> Result<f64, StepError> {
        self.at.begin(model, &state.x, &state.x, [state.time, state.time]);
        if let Some((bodies, depth)) = self.at.deep_overlap(MOVED_APART)? {
            let [first, second] = self.at.world.names(bodies);
            return Err(StepError::OverlapAtStart { first, second, depth });
        }
        self.program.clear();
        self.at.starting = true;
        let parted = self.move_apart(model);
        self.at.starting = false;
        parted?;
        for &k in &self.program.nodes {
            state.x[k as usize] = self.at.world.x[k as usize];
        }
        self.program.clear();
        self.at.begin(model, &state.x, &state.x, [state.time, state.time]);
        Ok(self.at.detect(model, &mut Vec::new(), &[])?.depth)
    }

    /// To the nearest positions without overlap.
    fn move_apart(&mut self, model: &Model) -> Result<(), StepError> {
        for _ in 0..self.options.detections {
            if self.at.detect(model, &mut self.program.work, &[])?.new == 0 {
                break;
            }
            self.program.adopt(&self.at);
            // any step will do: only positions are wanted
            self.program.solve(&mut self.at, 1.0, &Rules::default());
        }
        Ok(())
    }

    pub(crate) fn save(&self, record: &mut Record) {
        self.at.world.save("nonsmooth", record);
        let memory = &self.program.memory;
        let keys = memory.iter().map(|m| [f64::from(m.0.0 as u8), f64::from(m.0.1), f64::from(m.0.2), m.1]);
        record.numbers_from("nonsmooth.multipliers", keys.flatten());
        record.vectors_from("nonsmooth.tangential", memory.iter().flat_map(|m| m.2));
    }

    pub(crate) fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        self.at.world.restore("nonsmooth", record)?;
        let keys = record.get("nonsmooth.multipliers")?;
        let mut forces = vec![Vec3::zeros(); keys.len()];
        record.read_vectors("nonsmooth.tangential", &mut forces)?;
        let touches = [
            ContactKind::NodePoint,
            ContactKind::NodePlane,
            ContactKind::NodeSegment,
            ContactKind::NodeTriangle,
            ContactKind::EdgeEdge,
        ];
        self.program.memory.clear();
        for (k, f) in keys.chunks_exact(4).zip(forces.chunks_exact(4)) {
            let key = touches.get(k[0] as usize).map(|&touch| (touch, k[1] as u32, k[2] as u32));
            let Some(key) = key.filter(|&key| self.at.names(key)) else {
                return Err(RecordError::Outside("nonsmooth.multipliers".into()));
            };
            self.program.memory.push((key, k[3], [f[0], f[1], f[2], f[3]]));
        }
        Ok(())
    }
}
