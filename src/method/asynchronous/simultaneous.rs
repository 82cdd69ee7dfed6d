//! All contacts of one instant at once: those that share nodes are answered together (`dcr::exchange`).
//!
//! Answered one after the other, each turns round what its neighbours have just turned round: energy stays, but a pair that
//! closed with u does not part with u, and over many contact checks bodies at rest sink into each other. Together every
//! pair that is pressed parts with e times the speed at which it closed when the instant began. Between two checks a pair
//! moves by ½Δt(u⁺ + u⁻): with e = 1 what it goes deeper before a check it comes back after it.

use super::impulses::{ContactContext, Tally};
use super::options::ContactVelocity;
use crate::contact::pair::Pair;
use crate::math::{Mat3, Vec3};
use crate::method::contact_world::ContactWorld;
use crate::method::dcr::exchange::ImpactIslands;
use crate::method::response::Terms;
use crate::model::inertia::Inertia;

/// Rounds in which the contacts of an island are stopped.
const SWEEPS: u32 = 30;
/// No place.
const NONE: u32 = u32::MAX;

/// Contacts of one instant. Their pairs count in the nodes listed here.
#[derive(Default)]
pub(crate) struct Simultaneous {
    /// Place of each node of the model below, if it has one.
    place: Vec<u32>,
    nodes: Vec<u32>,
    v: Vec<Vec3>,
    inv_mass: Vec<Mat3>,
    /// 0, 1, 2 …
    places: Vec<u32>,
    islands: ImpactIslands,
    /// Of each contact: its bodies, the least speed at which it parts [m/s], and whose it is.
    about: Vec<([u32; 2], f64, u32)>,
}

impl Simultaneous {
    pub(crate) fn new(nodes: usize) -> Simultaneous {
        Simultaneous { place: vec![NONE; nodes], ..Simultaneous::default() }
    }

    /// Nothing has happened at the instant that begins.
    pub(crate) fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            self.place[node as usize] = NONE;
        }
        self.v.clear();
        self.inv_mass.clear();
        self.islands.clear();
        self.about.clear();
    }

    /// The place of a node, with its velocity of the instant.
    pub(crate) fn place(
        &mut self,
        node: u32,
        velocity: ContactVelocity,
        inertia: &Inertia,
        context: &mut ContactContext,
    ) -> u32 {
        let known = self.place[node as usize];
        if known != NONE {
            return known;
        }
        let new = self.nodes.len() as u32;
        self.place[node as usize] = new;
        self.nodes.push(node);
        self.v.push(context.velocity_of(node, velocity));
        self.inv_mass.push(inertia.of(node as usize));
        if self.places.len() < self.nodes.len() {
            self.places.push(new);
        }
        new
    }

    /// Velocity of the instant at a place, before anything is answered [m/s].
    pub(crate) fn velocity(&self, place: u32) -> Vec3 {
        self.v[place as usize]
    }

    /// A contact whose points are places.
    pub(crate) fn add(&mut self, pair: Pair, bodies: [u32; 2], parting: f64, whose: u32) {
        self.islands.add(pair);
        self.about.push((bodies, parting, whose));
    }

    /// Answers everything, and tells who carried an impulse.
    pub(crate) fn answer(
        &mut self,
        tally: &mut Tally,
        world: &mut ContactWorld,
        context: &mut ContactContext,
        mut carried: impl FnMut(u32),
    ) {
        if self.about.is_empty() {
            return;
        }
        let terms = Terms { stick: context.model.contact.stick, ..Terms::default() };
        let places = &self.places[..self.nodes.len()];
        let about = &self.about;
        self.islands.bounce(places, (SWEEPS, terms), |c| about[c].1, &self.inv_mass, &mut self.v);
        for (pending, &(bodies, _, whose)) in self.islands.pending.iter().zip(&self.about) {
            if let Some(impact) = pending.impact() {
                tally.give(world, &pending.pair, &self.nodes, &impact, bodies, context);
                carried(whose);
            }
        }
    }
}
