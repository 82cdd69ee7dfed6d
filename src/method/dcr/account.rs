//! What contact did in a step of `dcr`, to every node and altogether, until it is booked.

use crate::contact::pair::{Key, Pair};
use crate::math::Vec3;
use crate::method::impulses::Impulses;
use crate::method::newmark::{ContactKick, Newmark, Touched, UNTOUCHED};
use crate::method::response::Impact;
use crate::model::{Ledger, Model};

/// What contact did to one node in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub node: u32,
    /// Acceleration at the start of the step.
    pub a: Vec3,
    /// How far it was put back on the surface, and along it where friction held it [m].
    pub moved: Vec3,
    pub held_back: Vec3,
    /// Normal and tangential impulse [N s].
    pub normal: Vec3,
    pub friction: Vec3,
    /// Momentum of the spin correction [N s].
    pub spin: Vec3,
    /// How far the guard has moved it beside that [m].
    pub guarded: Vec3,
}

impl Node {
    /// How far contact has moved it [m].
    pub(crate) fn way(&self) -> f64 {
        (self.moved + self.held_back + self.guarded).norm()
    }
}

/// Sums over the contacts of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactSums {
    /// Energy taken out by normal impulses and by friction at the instant of impact [J].
    pub lost_normal: f64,
    pub lost_friction: f64,
    /// Energy added by the spin correction and by the energy correction [J].
    pub spin: f64,
    pub returned: f64,
    /// Work, impulse and its moment from obstacles.
    pub work: f64,
    pub impulse: Vec3,
    pub moment: Vec3,
    /// Impulses altogether.
    pub kicks: u64,
}

pub(crate) struct Account {
    /// Place of each node among the touched.
    pub slot: Vec<u32>,
    pub nodes: Vec<Node>,
    /// Whole impulse on each of them, once the step is closed.
    touches: Vec<ContactKick>,
    pub sums: ContactSums,
    /// Pairs that carried impulse.
    pub carried: Vec<Key>,
}

impl Account {
    pub(crate) fn new(model: &Model) -> Account {
        Account {
            slot: vec![UNTOUCHED; model.reference.len()],
            nodes: Vec::new(),
            touches: Vec::new(),
            sums: ContactSums::default(),
            carried: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.iter().for_each(|n| self.slot[n.node as usize] = UNTOUCHED);
        self.nodes.clear();
        self.touches.clear();
        self.carried.clear();
        self.sums = ContactSums::default();
    }

    /// The account of a node, opened at its first contact.
    pub(crate) fn of(&mut self, node: usize, newmark: &Newmark) -> &mut Node {
        if self.slot[node] == UNTOUCHED {
            self.slot[node] = self.nodes.len() as u32;
            let a = newmark.acceleration(node);
            self.nodes.push(Node { node: node as u32, a, ..Node::default() });
        }
        &mut self.nodes[self.slot[node] as usize]
    }

    /// Enters the impulse of a pair.
    pub(crate) fn book(&mut self, pair: &Pair, impact: &Impact, x: &[Vec3], newmark: &Newmark) {
        let j = impact.impulse();
        let mut centre = Vec3::zeros();
        for (k, w) in pair.stencil() {
            let node = self.of(k, newmark);
            node.normal += w * impact.normal;
            node.friction += w * impact.friction;
            centre += w * x[k];
        }
        self.sums.lost_normal += impact.lost_normal;
        self.sums.lost_friction += impact.lost_friction;
        self.sums.kicks += 1;
        if let Some(outer) = pair.outer {
            self.sums.work += j.dot(&outer.velocity);
            self.sums.impulse += j;
            self.sums.moment += centre.cross(&j);
        }
    }

    /// Sums up what the step's contacts have done to each node; `change` says how an impulse changes its velocity.
    pub(crate) fn close(&mut self, change: impl Fn(usize, &Vec3) -> Vec3) {
        self.touches.extend(self.nodes.iter().map(|n| {
            let impulse = n.normal + n.friction + n.spin;
            ContactKick { impulse, kick: change(n.node as usize, &impulse) }
        }));
    }

    /// Who was touched, for the books of the motion; `start` is where all nodes began the step.
    pub(crate) fn touched<'a>(&'a self, start: &'a [Vec3]) -> Touched<'a> {
        Touched { start, slot: &self.slot, list: &self.touches }
    }

    /// Takes the kicks out of velocities again.
    pub(crate) fn undo(&self, v: &mut [Vec3]) {
        for (node, touch) in self.nodes.iter().zip(&self.touches) {
            v[node.node as usize] -= touch.kick;
        }
    }

    /// Writes the books of the impacts themselves and returns what friction took; what depends on the end of the step is the
    /// method's.
    pub(crate) fn post(&mut self, impulses: &mut Impulses, ledger: &mut Ledger) -> f64 {
        for n in &self.nodes {
            impulses.received[n.node as usize] += n.normal + n.friction;
        }
        ledger.restitution += self.sums.lost_normal + self.sums.returned;
        ledger.correction += self.sums.spin + self.sums.returned;
        ledger.external += self.sums.work;
        ledger.impulse += self.sums.impulse;
        ledger.moment += self.sums.moment;
        self.carried.sort_unstable();
        self.carried.dedup();
        ledger.contacts = self.carried.len() as u64;
        ledger.collision_kicks += self.sums.kicks;
        self.sums.lost_friction
    }
}
