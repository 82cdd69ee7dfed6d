//! The guard of `dcr`: after it nothing passes through anything on the way of a step.
//!
//! A guarded step starts free of overlaps. On the straight way to its end every node and face, and every two edges, that may
//! meet are asked whether they do, by a test that never misses. What meets is answered like any other impact; each answer
//! moves nodes, so the way is looked at again, and what slides along each other closely is given a little more room. Features that still meet after a few rounds are tied into *impact zones* (Provot 1997; Bridson, Fedkiw &
//! Anderson 2002): the nodes of a zone keep their places to each other and share their mean displacement, or that of whoever holds
//! one of them. Zones only grow, and in a zone nothing moves against anything, so this ends.
//!
//! Velocities stay those of the impacts. The work of what impact zones move is booked as correction.

use super::Options;
use super::account::Node;
use super::collisions::Collisions;
use crate::contact::crossing::{Candidate, Meeting, StepPath, Touching, in_order, of_group};
use crate::contact::measure::Normals;
use crate::contact::obstacle::Poses;
use crate::contact::overlap;
use crate::contact::pair::{Pair, Side};
use crate::contact::places::Places;
use crate::contact::rules::in_normal_cones;
use crate::contact::scene::{FacetKind, Scene};
use crate::contact::search::{Candidates, Group, PairSearch, Positions, Query};
use crate::contact::three_stage::ThreeStage;
use crate::math::{Mat3, Vec3};
use crate::method::StepError;
use crate::method::contact_world::ContactWorld;
use crate::method::impact_zones::{Zones, shared_motion};
use crate::method::newmark::Newmark;
use crate::method::response::{self, Projection};
use crate::model::Model;
use rayon::prelude::*;

/// Rounds of impacts before nodes are tied together, and rounds altogether.
const IMPACTS: u32 = 20;
/// Rounds before more than the usual room is made.
const FEW: u32 = 4;
const ROUNDS: u32 = 200;
/// What comes nearer than this share of the clearance has met: nothing may end a step so near that the next one cannot
/// tell its sides apart.
const SEPARATION: f64 = 0.25;
/// Features this many clearances apart are looked at in all rounds of a step.
pub(super) const REACH: f64 = 1e4;
/// Sums of what bodies travel are rounded by less than this share.
const ROUNDED: f64 = 1e-9;
/// Candidates that one thread asks at a time.
const ASKED_AT_ONCE: usize = 64;
/// Rounds in which touching bodies are pushed apart at the start.
const START: u32 = 200;

/// Nodes that move together in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct ImpactZones {
    zones: Zones,
    meetings: Vec<Meeting>,
    /// Who is near whom on the way of this step.
    near: Vec<Near>,
    /// Where nodes that contact had moved were when candidates were gathered again in this step, in the order of the account.
    gathered: Vec<Vec3>,
    /// Where those were when they were last asked.
    asked: Vec<Vec3>,
    moved: Vec<bool>,
    /// Nodes that contact has moved in this step; empty before the first round.
    touched: Vec<bool>,
    /// Candidates of either kind that stand in `near`.
    listed: [Vec<bool>; 2],
    /// Bodies of which contact has moved a node, or may have.
    stirred: Vec<bool>,
}

/// Two features that may meet, and when they do.
#[derive(Clone, Copy, Debug)]
struct Near {
    of: Candidate,
    met: Option<f64>,
    asked: bool,
    /// Place among the candidates of its kind, and the group they are in.
    place: u32,
    group: u32,
    /// How far its bodies have come, and how far they may before the two can meet [m].
    travel: f64,
    until: f64,
}

impl Near {
    /// Asks whether the two meet on their way, unless nothing has changed since that was asked.
    fn ask(&mut self, scene: &Scene, motion: StepPath, [moved, touched]: [&[bool]; 2], least: f64) {
        let any = |of: &[bool]| self.of.nodes(scene).any(|k| of[k as usize]);
        if self.asked && !any(moved) {
            return;
        }
        // One direction that parts the two is most often enough to know.
        let apart = self.of.stays_apart(scene, motion);
        self.met = if apart > least { None } else { self.of.meets(scene, motion, least) };
        // A node that contact has moved in this step may be moved on, or back: how far that is from here nobody counts.
        if self.met.is_none() && !any(touched) {
            self.until = (self.travel + apart) * (1.0 - ROUNDED);
        }
        self.asked = true;
    }
}

impl ImpactZones {
    fn open(&mut self, nodes: usize) {
        self.zones.open(nodes);
        self.gathered.clear();
        self.forget_near();
    }

    fn forget_near(&mut self) {
        self.near.clear();
        self.touched.clear();
    }

    /// Lists who may meet: in the first round those who are awake, in any those who have to do with a node that contact has
    /// moved. `moved` is then who was moved since the last round.
    fn list(&mut self, scene: &Scene, all: &mut Candidates, nodes: &[Node], now: &[Vec3], least: f64) {
        let first = self.touched.is_empty();
        self.touched.resize(now.len(), false);
        self.moved.clear();
        self.moved.resize(now.len(), false);
        let mut more = first;
        // A node that bodies share names one of them.
        self.stirred.clear();
        self.stirred.extend(scene.bodies.iter().map(|b| b.shares_nodes));
        for k in nodes.iter().map(|n| n.node as usize) {
            self.moved[k] = !self.touched[k] || now[k] != self.asked[k];
            self.stirred[scene.node_body[k] as usize] = true;
            more |= !self.touched[k];
        }
        if first {
            self.listed.iter_mut().zip([&all.vertex_face, &all.edge_edge]).for_each(|(listed, all)| {
                listed.clear();
                listed.resize(all.len(), false);
            });
        }
        for i in (0..all.groups.len()).filter(|_| more) {
            let Group { a, b, travel, soonest, .. } = all.groups[i];
            let line = travel + least;
            if line < soonest && !self.stirred[a as usize] && !self.stirred[b as usize] {
                continue;
            }
            let mut soonest = f64::INFINITY;
            for (place, of) in of_group(all, &all.groups[i]) {
                let (until, kind) = (all.until_of(of.kind(), place), of.kind());
                let listed = &mut self.listed[kind][place as usize];
                if !*listed && (line >= until || of.nodes(scene).any(|k| self.moved[k as usize])) {
                    *listed = true;
                    let (met, asked, group) = (None, false, i as u32);
                    self.near.push(Near { of, met, asked, place, group, travel, until });
                }
                // Of those in the list the answers tell.
                soonest = if *listed { soonest } else { soonest.min(until) };
            }
            all.groups[i].soonest = soonest;
        }
        self.asked.resize(now.len(), Vec3::zeros());
        for k in nodes.iter().map(|n| n.node as usize) {
            (self.touched[k], self.asked[k]) = (true, now[k]);
        }
    }

    /// Tells the candidates until when nobody has to ask.
    fn remember(&self, all: &mut Candidates) {
        for near in &self.near {
            // where nobody lets candidates sleep there is no place for it
            if let Some(until) = all.until[near.of.kind()].get_mut(near.place as usize) {
                *until = near.until;
            }
            let soonest = &mut all.groups[near.group as usize].soonest;
            *soonest = soonest.min(near.until);
        }
    }
}

impl Collisions {
    /// Sees to it that nothing meets on the way of this step.
    pub(super) fn guard(
        &mut self,
        model: &Model,
        options: &Options,
        newmark: &Newmark,
        v: &mut [Vec3],
        time: f64,
    ) -> Result<(), StepError> {
        self.impact_zones.open(self.world.x.len());
        for round in 0..ROUNDS {
            self.find_meetings(options)?;
            if self.impact_zones.meetings.is_empty() {
                return Ok(());
            }
            if round < IMPACTS {
                // what meets on the way although its ends are apart needs more room every time
                let room = self.clearance * if round < FEW { 0.5 } else { f64::from(1 << (round - FEW)) };
                for i in 0..self.list.len() {
                    self.put_back(i, model, options, newmark, v, room);
                }
                if !options.waits_for_forces() {
                    self.exchange(model, options, newmark, v);
                }
            } else {
                self.impact_zones.zones.tie(&self.world.scene, &self.impact_zones.meetings);
                self.move_together(model, options, newmark, v);
            }
        }
        let bodies = self.impact_zones.meetings[0].bodies(&self.world.scene);
        let [first, second] = bodies.map(|b| self.world.scene.bodies[b as usize].name.clone());
        Err(StepError::Unguarded { first, second, time })
    }

    /// Lists what meets on the way, and the contacts it is. Only who has to do with a node that was moved since is asked
    /// again.
    fn find_meetings(&mut self, options: &Options) -> Result<(), StepError> {
        let Collisions { world, on_the_way, list, start, impact_zones, account, .. } = self;
        let ContactWorld { scene, search, x: now, poses, .. } = world;
        let of_ways = if world.two_sided { search } else { on_the_way };
        let (at, nodes) = (Places { scene, x: now, poses: Poses::At(poses) }, &account.nodes);
        let reach = REACH * self.clearance;
        let far = |(i, n): (usize, &Node)| {
            let since = impact_zones.gathered.get(i).map(|then| (now[n.node as usize] - then).norm());
            since.unwrap_or_else(|| n.way()) > 0.5 * reach
        };
        if nodes.iter().enumerate().any(far) {
            let query = Query::all(if world.two_sided { self.deepest } else { reach });
            of_ways.gather(scene, Positions::swept(start, now), &query)?;
            impact_zones.gathered.clear();
            impact_zones.gathered.extend(nodes.iter().map(|n| now[n.node as usize]));
            impact_zones.forget_near();
        }
        let least = SEPARATION * self.clearance;
        impact_zones.list(scene, &mut of_ways.findings_mut().candidates, nodes, now, least);
        let motion = StepPath { start, end: now };
        let nodes = [&impact_zones.moved[..], &impact_zones.touched];
        let near = impact_zones.near.par_iter_mut().with_min_len(ASKED_AT_ONCE);
        near.for_each(|near| near.ask(scene, motion, nodes, least));
        impact_zones.remember(&mut of_ways.findings_mut().candidates);
        impact_zones.meetings.clear();
        impact_zones
            .meetings
            .extend(impact_zones.near.iter().filter_map(|n| Some(Meeting { of: n.of, time: n.met? })));
        list.clear();
        for meeting in &impact_zones.meetings {
            match meeting.of {
                Candidate::NodeFace { node, face }
                    if scene.facets[face as usize].kind == FacetKind::Plane =>
                {
                    list.extend(at.node_face(node, face, Side::Front, false));
                }
                Candidate::Edges { .. } if !options.edge_edge => {}
                _ => list.extend(meeting.crossing(&at, motion, Touching::NOTHING, false)),
            }
        }
        in_order(list);
        Ok(())
    }

    /// Gives the nodes of each impact zone one displacement.
    fn move_together(&mut self, model: &Model, options: &Options, newmark: &Newmark, v: &mut [Vec3]) {
        let free = model.mass.len();
        let zones = std::mem::take(&mut self.impact_zones.zones);
        for zone in zones.iter() {
            let own = zone.iter().map(|&k| k as usize).map(|k| {
                let mass = model.mass.get(k).copied().unwrap_or(0.0);
                (mass, self.mobility(k, model), self.world.x[k] - self.start[k])
            });
            let Some(together) = shared_motion(own) else { continue };
            let mut gained = Vec3::zeros();
            for k in zone.iter().map(|&k| k as usize).filter(|&k| k < free) {
                let d = self.mobility(k, model) * (together - (self.world.x[k] - self.start[k]));
                self.world.x[k] += d;
                self.account.of(k, newmark).guarded += d;
                gained += d.cross(&(model.mass[k] * v[k]));
            }
            if options.spin_correction && self.are_free(zone, model) {
                self.restore_spin(zone, gained, model, newmark, v);
            }
        }
        self.impact_zones.zones = zones;
    }

    /// Projector on the directions a node can move in; nothing for nodes of obstacles.
    fn mobility(&self, node: usize, model: &Model) -> Mat3 {
        model.mass.get(node).map_or(Mat3::zeros(), |m| *m * self.inv_mass[node])
    }

    /// Bodies that touch at the start are moved apart by a hair: a guarded step starts free of overlaps.
    pub(super) fn part_at_start(&mut self, x: &mut [Vec3]) -> Result<(), StepError> {
        let query = Query::all(self.clearance);
        let mut last = [0; 2];
        for _ in 0..START {
            self.world.find(None, &query)?;
            let (at, search) = (self.world.places(), &self.world.search);
            let mut list: Vec<Pair> = Vec::new();
            for r in search.vertex_face().iter().filter(|r| r.gap < 0.5 * self.clearance) {
                let pair = at.of_record(r);
                if r.gap < -self.clearance {
                    return Err(self.overlap_at_start(pair.bodies, -r.gap));
                }
                list.push(pair);
            }
            for r in search.edge_edge().iter().filter(|r| r.gap < 0.5 * self.clearance) {
                if in_normal_cones(&Normals::at(at.scene, at.x), r.first, r.second, &r.normal) {
                    list.push(at.of_edges(r));
                }
            }
            if list.is_empty() {
                x.copy_from_slice(&self.world.x[..x.len()]);
                return self.refuse_overlap();
            }
            for listed in &list {
                let Some(pair) =
                    self.world.places().measured_anew(listed).filter(|p| p.gap < 0.5 * self.clearance)
                else {
                    continue;
                };
                if let Some(moves) =
                    response::displacements(&pair, self.clearance, Projection::Mass, &self.inv_mass)
                {
                    pair.stencil().zip(&moves).for_each(|((k, _), d)| self.world.x[k] += d);
                }
            }
            last = list[0].bodies;
        }
        Err(self.overlap_at_start(last, 0.0))
    }

    /// Nodes may be too deep inside to be found near a face; surfaces that cut each other are found for certain.
    fn refuse_overlap(&mut self) -> Result<(), StepError> {
        let mut faces = ThreeStage::new();
        faces.gather(&self.world.scene, Positions::now(&self.world.x), &Query::face_face(0.0))?;
        let facets = &self.world.scene.facets;
        let corners = |f: u32| {
            let [a, b, c, _] = facets[f as usize].nodes;
            [a, b, c].map(|k| self.world.x[k as usize])
        };
        for &[f, g] in &faces.candidates().face_face {
            let triangles = [f, g].map(|f| facets[f as usize].kind) == [FacetKind::Triangle; 2];
            if triangles && overlap::triangle_triangle(&corners(f), &corners(g)) {
                return Err(self.overlap_at_start([f, g].map(|f| facets[f as usize].body), 0.0));
            }
        }
        Ok(())
    }

    fn overlap_at_start(&self, bodies: [u32; 2], depth: f64) -> StepError {
        let [first, second] = bodies.map(|b| self.world.scene.bodies[b as usize].name.clone());
        StepError::Overlap { first, second, depth }
    }
}
