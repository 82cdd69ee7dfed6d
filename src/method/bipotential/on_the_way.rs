//! Shells with two sides: what has come through one would stay on the wrong side, so no step may end there.
//!
//! Contacts are told from the positions at the start of a step and linear in velocities; where surfaces fold and turn within a step, a
//! node can slip past the faces it was held against, and two lines of a mesh that were no contact can cross. So the way of the step is looked at
//! with the velocities that were found, by a test that never misses. What meets becomes a contact as well, with weights w and normal n of the
//! instant of impact, and is held apart by a hair δ at the end, if it was at the start:
//!
//! ```text
//! g(x) = n · Σ w x        g(xₙ + Δt vₙ₊₁) ≥ min(δ, g(xₙ))
//! ```
//!
//! so that no contact that is found on the way sends anything off: a gap of a hair over Δt would be a speed.
//!
//! All contacts are solved again from the forces so far, until nothing meets. What still does after some rounds is tied into impact zones (Provot 1997):
//! the nodes of a zone get one velocity (`impact_zones.rs`), which is a blow without restitution and is booked as such.

use super::{ContactSet, DeferredWork};
use crate::contact::crossing::{Candidate, Meeting, StepPath, Touching, of_group};
use crate::contact::obstacle::Poses;
use crate::contact::pair::{Kind, Pair};
use crate::contact::places::Places;
use crate::contact::scene::FacetKind;
use crate::contact::search::{PairSearch, Positions, Query};
use crate::contact::three_stage::ThreeStage;
use crate::math::{Mat3, Vec3};
use crate::method::StepError;
use crate::method::impact_zones::{Zones, shared_motion};
use crate::method::semi_explicit::Options;
use crate::model::{Ledger, Model};
use crate::solve::contacts::Contact;
use rayon::prelude::*;

/// Gap that is left, as a share of the finest body's median edge: what a contact that is linear in a step may be off where surfaces turn. What comes
/// nearer than `SEPARATION` of it has met.
const CLEARANCE: f64 = 1e-4;
const SEPARATION: f64 = 0.25;
/// Rounds before nodes are tied together, and rounds altogether.
const CONTACTS: u32 = 16;
const ROUNDS: u32 = 200;
/// Candidates that one thread asks at a time.
const ASKED_AT_ONCE: usize = 256;

/// Working memory of looking at the way.
#[derive(Default)]
pub(crate) struct OnTheWay {
    search: ThreeStage,
    end: Vec<Vec3>,
    candidates: Vec<Candidate>,
    meetings: Vec<Meeting>,
    zones: Zones,
    /// Impulses of zones [N s]: node, impulse; and those that obstacles gave, with their velocities.
    ties: Vec<(u32, Vec3)>,
    outer: Vec<(Vec3, Vec3, Vec3)>,
}

impl ContactSet {
    /// Changes the velocities `v` at the end of a step, which obey the law at the contacts so far, so that nothing passes through a
    /// shell with two sides on the way. `free` are those without contact, `before` those at the start.
    pub(crate) fn keep_sides(
        &mut self,
        model: &Model,
        options: &Options,
        [free, before]: [&[Vec3]; 2],
        v: &mut [Vec3],
        (dt, time): (f64, f64),
    ) -> Result<(), StepError> {
        self.way.ties.clear();
        self.way.outer.clear();
        if !self.world.two_sided || self.alone {
            return Ok(());
        }
        self.way.zones.open(self.start.len());
        for round in 0..ROUNDS {
            self.find_meetings(model, v, dt)?;
            if self.way.meetings.is_empty() {
                return Ok(());
            }
            if round < CONTACTS {
                self.add_meetings(model, before, dt);
                v.copy_from_slice(free);
                self.solve(options, dt, v);
            } else {
                self.way.zones.tie(&self.world.scene, &self.way.meetings);
                self.move_together(model, v, dt);
            }
        }
        let [first, second] = self.world.names(self.way.meetings[0].bodies(&self.world.scene));
        Err(StepError::Unguarded { first, second, time })
    }

    /// The gap that is left between a shell with two sides and others [m].
    pub(super) fn clearance(&self, pair: &Pair) -> f64 {
        let two_sided = |b: u32| self.world.scene.bodies[b as usize].attributes.two_sided();
        let plane = pair.outer.is_some() && pair.key.kind == Kind::NodeFace && self.is_plane(pair.key.second);
        if pair.bodies.into_iter().any(two_sided) && !plane { CLEARANCE * self.world.finest } else { 0.0 }
    }

    fn is_plane(&self, face: u32) -> bool {
        self.world.scene.facets[face as usize].kind == FacetKind::Plane
    }

    /// What meets on the way to the positions that `v` leads to.
    fn find_meetings(&mut self, model: &Model, v: &[Vec3], dt: f64) -> Result<(), StepError> {
        let ContactSet { world, poses, start, way, .. } = self;
        let scene = &world.scene;
        let OnTheWay { search, end, candidates, meetings, .. } = way;
        end.clear();
        end.extend(start.iter().zip(v).map(|(x, v)| x + dt * v));
        let mut drawn = world.drawn.iter();
        for (obstacle, pose) in model.contact.obstacles.iter().zip(&poses[1]) {
            end.extend(drawn.by_ref().take(obstacle.count()).map(|y| pose.place(y)));
        }
        let least = SEPARATION * CLEARANCE * world.finest;
        search.gather(scene, Positions::swept(start, end), &Query::all(least))?;
        let all = search.candidates();
        let two_sided = |b: u32| scene.bodies[b as usize].attributes.two_sided();
        candidates.clear();
        for group in all.groups.iter().filter(|g| two_sided(g.a) || two_sided(g.b)) {
            candidates.extend(of_group(all, group).map(|(_, of)| of).filter(|of| match of {
                // contacts with planes are linear as they are
                Candidate::NodeFace { face, .. } => scene.facets[*face as usize].kind != FacetKind::Plane,
                Candidate::Edges { .. } => true,
            }));
        }
        let motion = StepPath { start, end };
        let met = candidates.par_iter().with_min_len(ASKED_AT_ONCE);
        let met = met.filter_map(|of| Some(Meeting { of: *of, time: of.meets(scene, motion, least)? }));
        meetings.clear();
        meetings.par_extend(met);
        // in an order that does not hang on the trees of the search
        meetings.sort_unstable_by_key(|m| match m.of {
            Candidate::NodeFace { node, face } => (0, node, face),
            Candidate::Edges { first, second } => (1, first, second),
        });
        Ok(())
    }

    /// Makes contacts of what meets.
    fn add_meetings(&mut self, model: &Model, before: &[Vec3], dt: f64) {
        let ContactSet { world, poses: [from, to], start, way, contacts, pairs, .. } = self;
        let at = Places { scene: &world.scene, x: &way.end, poses: Poses::Over { from, to, dt } };
        let motion = StepPath { start, end: &way.end };
        let clearance = CLEARANCE * world.finest;
        for meeting in &way.meetings {
            let Some(pair) = meeting.crossing(&at, motion, Touching::NOTHING, false) else { continue };
            let mut contact = Contact::of(&pair);
            // an obstacle's point stands where it is at the end of the step
            let outer = dt * contact.normal.dot(&contact.outer);
            let gap = pair.normal.dot(&pair.gap_vector(start)) + outer;
            contact.velocity_bias = (gap - gap.min(clearance)) / dt;
            contact.mu = model.contact.law(pair.bodies[0], pair.bodies[1]).friction;
            pairs.push((pair, contact.velocity(before)));
            contacts.list.push(contact);
        }
    }

    /// Gives the nodes of each zone one velocity.
    fn move_together(&mut self, model: &Model, v: &mut [Vec3], dt: f64) {
        let ContactSet { world, start, way, .. } = self;
        let OnTheWay { zones, ties, outer, end, .. } = way;
        let (inertia, count) = (&world.inertia, v.len());
        let mobility = |k: usize| match k < count && !inertia.fixed(k) {
            true => inertia.projectors[inertia.kind[k] as usize],
            false => Mat3::zeros(),
        };
        for zone in zones.iter() {
            let all = zone.iter().map(|&k| k as usize);
            let rigid = all.clone().any(|k| k >= count);
            let own = all.clone().map(|k| match v.get(k) {
                Some(v) => (model.mass[k], mobility(k), *v),
                None => (0.0, mobility(k), (end[k] - start[k]) / dt),
            });
            let Some(together) = shared_motion(own) else { continue };
            for k in all.filter(|&k| k < count && !inertia.fixed(k)) {
                let change = mobility(k) * (together - v[k]);
                v[k] += change;
                let impulse = model.mass[k] * change;
                ties.push((k as u32, impulse));
                if rigid {
                    outer.push((start[k], impulse, together));
                }
            }
        }
    }

    /// Books what zones did: as contacts do, node by node. `late` as in [`ContactSet::book`]. Returns their work, its part that waits for
    /// the next step, and the same of obstacles.
    pub(super) fn book_zones(
        &mut self,
        [before, end]: [&[Vec3]; 2],
        late: f64,
        ledger: &mut Ledger,
    ) -> [DeferredWork; 2] {
        let (mut now, mut waits) = (DeferredWork::default(), DeferredWork::default());
        for &(k, j) in &self.way.ties {
            let k = k as usize;
            now.contact += j.dot(&(0.5 * before[k] + late * end[k]));
            waits.contact += j.dot(&end[k]);
            self.impulse[k] += j;
            self.world.impulses.received[k] += j;
        }
        for (x, j, v) in &self.way.outer {
            let work = j.dot(v);
            now.outer += (0.5 + late) * work;
            now.contact -= (0.5 + late) * work;
            waits.outer += work;
            waits.contact -= work;
            ledger.impulse += j;
            ledger.moment += x.cross(j);
        }
        [now, waits]
    }
}
