//! What every method with contact has: the scene, where everybody stands in it, the search, how nodes answer to impulses,
//! and the impulses so far.
//!
//! Nodes of the model come first in the numbering of the scene, those of obstacles behind them. A method says how it sees
//! quadrilaterals, asks the search what it wants to know and brings its own response.

use super::impulses::{Carried, Impulses};
use crate::contact::obstacle::{Pose, Poses};
use crate::contact::pair::Pair;
use crate::contact::places::Places;
use crate::contact::scene::Scene;
use crate::contact::search::{PairSearch, Query, SearchError};
use crate::contact::three_stage::ThreeStage;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::inertia::Inertia;
use crate::model::record::{Record, RecordError};
use rayon::prelude::*;

/// Nodes that one thread copies at a stretch.
const NODES: usize = 2048;

pub struct ContactWorld {
    pub scene: Scene,
    pub search: ThreeStage,
    pub inertia: Inertia,
    /// Nodes of obstacles as drawn.
    pub drawn: Vec<Vec3>,
    /// All nodes of the scene [m].
    pub x: Vec<Vec3>,
    /// Where obstacles stand.
    pub poses: Vec<Pose>,
    pub impulses: Impulses,
    /// Smallest median edge of a soft body [m].
    pub finest: f64,
    /// Somebody is a shell with two sides: nothing but its way tells where a node belongs.
    pub two_sided: bool,
}

impl ContactWorld {
    /// Quadrilaterals as they are, or split into triangles.
    pub fn new(model: &Model, split_quads: bool) -> ContactWorld {
        let scene = model.contact.scene(model, split_quads);
        let drawn = model.contact.obstacle_nodes();
        let soft = scene.bodies.iter().filter(|b| !b.attributes.rigid() && !b.facets.is_empty());
        let finest = soft.fold(f64::INFINITY, |least, b| least.min(b.median_edge));
        let two_sided = scene.bodies.iter().any(|b| b.attributes.two_sided());
        let mut x = model.reference.clone();
        x.extend(&drawn);
        ContactWorld {
            scene,
            search: ThreeStage::new(),
            inertia: Inertia::of_model(model),
            drawn,
            x,
            poses: Vec::with_capacity(model.contact.obstacles.len()),
            impulses: Impulses::new(model.reference.len()),
            finest: if finest.is_finite() { finest } else { 0.0 },
            two_sided,
        }
    }

    /// Can anything touch anything?
    pub(crate) fn anything_meets(&self) -> bool {
        (0..self.scene.bodies.len() as u32).any(|b| self.scene.meets_anybody(b))
    }

    /// The user's names of two bodies.
    pub(crate) fn names(&self, bodies: [u32; 2]) -> [String; 2] {
        bodies.map(|b| self.scene.bodies[b as usize].name.clone())
    }

    /// Brings nodes to `x` and obstacles to where they are at `time`.
    pub fn place(&mut self, model: &Model, x: impl IndexedParallelIterator<Item = Vec3>, time: f64) {
        let soft = x.len();
        self.x[..soft].par_iter_mut().zip(x).with_min_len(NODES).for_each(|(to, x)| *to = x);
        self.place_obstacles(model, time);
    }

    /// Brings obstacles to where they are at `time`.
    pub(crate) fn place_obstacles(&mut self, model: &Model, time: f64) {
        let soft = model.reference.len();
        model.contact.place(time, &self.drawn, &mut self.x[soft..]);
        pose_all(model, time, &mut self.poses);
    }

    /// Finds what `query` asks for where everybody is now; `start` is where they were at the start of the step.
    pub fn find(&mut self, start: Option<&[Vec3]>, query: &Query) -> Result<(), SearchError> {
        self.search.find(&self.scene, &self.x, start, query)
    }

    /// Where everybody is now, obstacles with their velocities of the instant.
    pub fn places(&self) -> Places<'_> {
        Places { scene: &self.scene, x: &self.x, poses: Poses::At(&self.poses) }
    }

    /// Counts the impulse `j` [N s] of a pair on the side with positive weights.
    #[inline]
    pub fn count(&mut self, pair: &Pair, j: Vec3) {
        let carried = Carried::by_pair(pair, pair.bodies, |k| self.x[k], j);
        let on_first = self.scene.on_first(pair, j) == j;
        self.impulses.count(if on_first { carried } else { carried.turned() });
    }

    /// Impulses so far, and the sides that nodes came from where there are two.
    pub fn save(&self, method: &str, record: &mut Record) {
        self.impulses.save(method, record);
        if !self.two_sided {
            return;
        }
        let known = &self.search.findings().narrow.sides.known;
        record.counts_from(&format!("{method}.sides.of"), known.iter().map(|k| k.0));
        record.counts_from(&format!("{method}.sides"), known.iter().map(|k| u64::from(k.1 > 0)));
    }

    pub fn restore(&mut self, method: &str, record: &Record) -> Result<(), RecordError> {
        self.impulses.restore(method, record)?;
        if !self.two_sided {
            return Ok(());
        }
        let keys = record.get_counts(&format!("{method}.sides.of"))?;
        let sides = record.get_counts(&format!("{method}.sides"))?;
        let known = keys.iter().zip(sides).map(|(&k, &s)| (k, if s > 0 { 1 } else { -1 }));
        self.search.narrow().sides.known = known.collect();
        Ok(())
    }
}

/// Where the obstacles of a model stand at `time`.
pub(crate) fn pose_all(model: &Model, time: f64, poses: &mut Vec<Pose>) {
    poses.clear();
    poses.extend(model.contact.obstacles.iter().map(|o| o.pose(time)));
}
