//! Nodes in chunks: the unit of every task and of every sum over nodes, whatever the number of threads.
//!
//! A chunk knows which of its stretches belong to which body and who of its nodes is held; the impulse of their supports is
//! kept with it. What else a method books per chunk is its own.
//!
//! Used by `newmark` and `semi_explicit`.

use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use crate::model::{Body, Model, State};
use std::ops::Range;

/// Nodes per task: part of the result's bits.
pub(crate) const CHUNK: usize = 1024;

/// A stretch of a chunk that belongs to one body.
pub(crate) struct Segment {
    pub body: usize,
    pub nodes: Range<usize>,
}

pub(crate) struct Chunk<T> {
    pub segments: Vec<Segment>,
    /// Its held nodes in the model's list, and the impulse of their supports so far [N s].
    pub held: Range<usize>,
    pub support: Vec<Vec3>,
    pub own: T,
}

/// All nodes of a model; `own` makes what a method keeps with a chunk from the number of its held nodes.
pub(crate) fn chunks<T>(model: &Model, own: impl Fn(usize) -> T) -> Vec<Chunk<T>> {
    let nodes = model.reference.len();
    let all = &model.restraints.held;
    let first = |node: usize| all.partition_point(|h| (h.node as usize) < node);
    let chunk = |c: usize| {
        let range = c * CHUNK..((c + 1) * CHUNK).min(nodes);
        let stretch = |(body, b): (usize, &Body)| {
            let nodes = b.nodes.start.max(range.start)..b.nodes.end.min(range.end);
            (!nodes.is_empty()).then_some(Segment { body, nodes })
        };
        let held = first(range.start)..first(range.end);
        Chunk {
            segments: model.bodies.iter().enumerate().filter_map(stretch).collect(),
            support: vec![Vec3::zeros(); held.len()],
            own: own(held.len()),
            held,
        }
    };
    (0..nodes.div_ceil(CHUNK)).map(chunk).collect()
}

/// The chunk of a held node, and its place in it.
pub(crate) fn place_of<T>(chunks: &[Chunk<T>], held: usize) -> (usize, usize) {
    let chunk = chunks.partition_point(|c| c.held.end <= held);
    (chunk, held - chunks[chunk].held.start)
}

/// Impulse [N s] that the support of a held node has given since the start.
pub(crate) fn support_impulse<T>(chunks: &[Chunk<T>], held: usize) -> Vec3 {
    let (chunk, at) = place_of(chunks, held);
    chunks[chunk].support[at]
}

pub(crate) fn save_support<T>(chunks: &[Chunk<T>], name: &str, record: &mut Record) {
    record.vectors_from(&format!("{name}.support"), chunks.iter().flat_map(|c| c.support.iter().copied()));
}

pub(crate) fn restore_support<T>(
    chunks: &mut [Chunk<T>],
    name: &str,
    record: &Record,
) -> Result<(), RecordError> {
    record.vectors_to(&format!("{name}.support"), chunks.iter_mut().flat_map(|c| &mut c.support))
}

/// Brings held nodes to the motion of their supports.
pub(crate) fn follow_supports(model: &Model, state: &mut State) {
    for held in &model.restraints.held {
        let v = &mut state.v[held.node as usize];
        *v = held.free * *v + model.restraints.velocity(held, state.time);
    }
}

/// Load on each node, now and at the start of the step [N]; empty without loads.
pub(crate) struct Loads {
    pub now: Vec<Vec3>,
    pub before: Vec<Vec3>,
}

impl Loads {
    pub(crate) fn new(model: &Model) -> Loads {
        let count = if model.loads.is_empty() { 0 } else { model.reference.len() };
        Loads { now: vec![Vec3::zeros(); count], before: vec![Vec3::zeros(); count] }
    }

    /// Loads at `time` and positions `x`, the last ones kept.
    pub(crate) fn update(&mut self, model: &Model, time: f64, x: &[Vec3]) {
        std::mem::swap(&mut self.now, &mut self.before);
        self.now.fill(Vec3::zeros());
        let now = &mut self.now;
        for source in &model.loads {
            source.forces(time, x, |n, f| now[n as usize] += f);
        }
    }
}
