//! Peaks of a run, followed at every history time: of probes, of contact forces between bodies, of the von Mises stress.

use super::{Case, Look};
use crate::element::{ElementStress, Positions};
use crate::math::Vec3;
use crate::model::record::{Record, RecordError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// As they stand in `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// Nothing before the first look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mises: Option<MisesPeak>,
    /// Of bodies that have touched.
    pub force: Vec<ForcePeak>,
    /// By column of the history: `tip.ux`.
    pub probes: BTreeMap<String, Extremes>,
}

/// The largest von Mises stress at any integration point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MisesPeak {
    /// [Pa]
    pub value: f64,
    /// [s]
    pub time: f64,
    pub body: String,
    /// Counted within its body.
    pub element: usize,
    /// Middle of the element then [m].
    pub at: [f64; 3],
}

/// The largest contact force between two bodies, mean over the time between two rows of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForcePeak {
    pub bodies: [String; 2],
    /// [N]
    pub value: f64,
    /// End of the interval [s].
    pub time: f64,
}

/// The smallest and the largest value of a column, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    pub min: f64,
    pub max: f64,
    pub time_min: f64,
    pub time_max: f64,
}

impl Extremes {
    /// Of nothing yet. What is not a number is neither.
    const NONE: Extremes =
        Extremes { min: f64::INFINITY, max: f64::NEG_INFINITY, time_min: 0.0, time_max: 0.0 };

    fn add(&mut self, value: f64, time: f64) {
        if value < self.min {
            (self.min, self.time_min) = (value, time);
        }
        if value > self.max {
            (self.max, self.time_max) = (value, time);
        }
    }
}

/// The largest von Mises stress of every element so far [Pa]; shared with frames, and empty unless they want it.
#[derive(Clone, Debug, Default)]
pub struct Envelope(Arc<Mutex<Vec<f32>>>);

impl Envelope {
    pub fn of(elements: usize) -> Envelope {
        Envelope(Arc::new(Mutex::new(vec![0.0; elements])))
    }

    pub fn values(&self) -> MutexGuard<'_, Vec<f32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stress, and block and element where it is.
type Highest = (f64, usize, usize);

/// Follows a run.
#[derive(Clone, Debug)]
pub struct PeakMeter {
    mises: Option<(Highest, f64, Vec3)>,
    forces: BTreeMap<[u32; 2], (f64, f64)>,
    probes: Vec<Extremes>,
    last_time: f64,
    last_impulse: BTreeMap<[u32; 2], Vec3>,
    envelope: Envelope,
}

/// Elements that one task looks at.
const CHUNK: usize = 128;

impl PeakMeter {
    pub fn new(case: &Case, envelope: Envelope) -> PeakMeter {
        let columns = case.probes.iter().map(|p| p.components().len()).sum();
        PeakMeter {
            mises: None,
            forces: BTreeMap::new(),
            probes: vec![Extremes::NONE; columns],
            last_time: 0.0,
            last_impulse: BTreeMap::new(),
            envelope,
        }
    }

    /// Takes up a row of the history; `probes` are the numbers of its probes.
    pub fn add(&mut self, look: &Look, probes: &[f64]) {
        let time = look.state.time;
        self.probes.iter_mut().zip(probes).for_each(|(extremes, x)| extremes.add(*x, time));
        self.add_forces(look);
        let highest = self.highest(look);
        if self.mises.as_ref().is_none_or(|(before, ..)| highest.0 > before.0) {
            self.mises = Some((highest, time, middle(look, highest)));
        }
    }

    fn add_forces(&mut self, look: &Look) {
        let elapsed = look.state.time - self.last_time;
        for (bodies, impulse) in look.case.method.impulses().into_iter().flat_map(|i| i.pairs()) {
            let last = self.last_impulse.entry(bodies).or_insert_with(Vec3::zeros);
            let force = if elapsed > 0.0 { (impulse - *last).norm() / elapsed } else { 0.0 };
            *last = impulse;
            let peak = self.forces.entry(bodies).or_insert((0.0, look.state.time));
            if force > peak.0 {
                *peak = (force, look.state.time);
            }
        }
        self.last_time = look.state.time;
    }

    /// The highest stress now; the first element that has it.
    fn highest(&self, look: &Look) -> Highest {
        let model = &look.case.model;
        let positions = Positions { reference: &model.reference, current: &look.state.x };
        let mut envelope = self.envelope.values();
        let (mut from, mut most) = (0, (f64::NEG_INFINITY, 0, 0));
        for (b, block) in model.blocks.iter().enumerate() {
            let count = block.len();
            let highest = |chunk: usize, envelope: &mut [f32]| {
                let elements = chunk * CHUNK..((chunk + 1) * CHUNK).min(count);
                let mut stress = [ElementStress::default(); CHUNK];
                let stress = &mut stress[..elements.len()];
                block.stress_of(elements.clone(), positions, false, stress);
                let largest = stress.iter().map(|s| s.largest);
                envelope.iter_mut().zip(largest.clone()).for_each(|(most, s)| *most = most.max(s as f32));
                largest.zip(elements).fold((f64::NEG_INFINITY, 0), higher)
            };
            let own = envelope.get_mut(from..from + count).unwrap_or_default();
            let tasks = own.chunks_mut(CHUNK).chain(std::iter::repeat_with(|| &mut [][..]));
            let tasks: Vec<(usize, &mut [f32])> = (0..count.div_ceil(CHUNK)).zip(tasks).collect();
            let highest = |(chunk, envelope): (usize, &mut [f32])| highest(chunk, envelope);
            let chunks: Vec<(f64, usize)> = tasks.into_par_iter().map(highest).collect();
            let (value, element) = chunks.into_iter().fold((f64::NEG_INFINITY, 0), higher);
            if value > most.0 {
                most = (value, b, element);
            }
            from += count;
        }
        most
    }

    /// In the words of the summary.
    pub fn peaks(&self, case: &Case) -> Peaks {
        let (model, contact) = (&case.model, &case.model.contact);
        let mises = self.mises.map(|((value, block, element), time, at)| {
            let body = model.body_of_block(block);
            let before = model.blocks[body.blocks.start..block].iter().map(|b| b.len()).sum::<usize>();
            MisesPeak { value, time, body: body.name.clone(), element: before + element, at: at.into() }
        });
        let force = |(bodies, &(value, time)): (&[u32; 2], &(f64, f64))| ForcePeak {
            bodies: bodies.map(|b| contact.name_of(model, b)),
            value,
            time,
        };
        let names = case.probes.iter().flat_map(|p| p.components().iter().map(|c| format!("{}.{c}", p.name)));
        let seen = names.zip(&self.probes).filter(|(_, e)| e.min <= e.max);
        Peaks {
            mises: mises.filter(|m| m.value.is_finite()),
            force: self.forces.iter().map(force).collect(),
            probes: seen.map(|(name, e)| (name, *e)).collect(),
        }
    }

    pub fn save(&self, record: &mut Record) {
        let mises = self.mises.iter().flat_map(|((value, block, element), time, at)| {
            [*value, *block as f64, *element as f64, *time, at.x, at.y, at.z]
        });
        record.numbers("peaks.mises", &mises.collect::<Vec<_>>());
        let forces =
            self.forces.iter().map(|([a, b], (value, time))| [f64::from(*a), f64::from(*b), *value, *time]);
        record.numbers("peaks.forces", &forces.flatten().collect::<Vec<_>>());
        let probes = self.probes.iter().flat_map(|e| [e.min, e.max, e.time_min, e.time_max]);
        record.numbers("peaks.probes", &probes.collect::<Vec<_>>());
        record.numbers("peaks.time", &[self.last_time]);
        let impulses = self.last_impulse.iter();
        let impulses = impulses.flat_map(|([a, b], j)| [f64::from(*a), f64::from(*b), j.x, j.y, j.z]);
        record.numbers("peaks.impulses", &impulses.collect::<Vec<_>>());
        let envelope: Vec<f64> = self.envelope.values().iter().map(|s| f64::from(*s)).collect();
        record.numbers("peaks.envelope", &envelope);
    }

    pub fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let body = |x: f64| x as u32;
        self.mises = record.get("peaks.mises")?.as_chunks::<7>().0.first().map(
            |&[value, block, element, time, x, y, z]| {
                ((value, block as usize, element as usize), time, Vec3::new(x, y, z))
            },
        );
        let forces = record.get("peaks.forces")?.as_chunks::<4>().0.iter();
        self.forces = forces.map(|&[a, b, value, time]| ([body(a), body(b)], (value, time))).collect();
        let probes = record.get("peaks.probes")?.as_chunks::<4>().0.iter();
        let probes = probes.map(|&[min, max, time_min, time_max]| Extremes { min, max, time_min, time_max });
        self.probes.iter_mut().zip(probes).for_each(|(own, e)| *own = e);
        self.last_time = record.get("peaks.time")?.first().copied().unwrap_or(0.0);
        let impulses = record.get("peaks.impulses")?.as_chunks::<5>().0.iter();
        self.last_impulse =
            impulses.map(|&[a, b, x, y, z]| ([body(a), body(b)], Vec3::new(x, y, z))).collect();
        let envelope = record.get("peaks.envelope")?.iter().map(|s| *s as f32);
        self.envelope.values().iter_mut().zip(envelope).for_each(|(own, s)| *own = s);
        Ok(())
    }
}

/// The higher of two, the first of equal ones.
fn higher(a: (f64, usize), b: (f64, usize)) -> (f64, usize) {
    if b.0 > a.0 { b } else { a }
}

/// Where the middle of an element is now.
fn middle(look: &Look, (_, block, element): Highest) -> Vec3 {
    let model = &look.case.model;
    if model.blocks.is_empty() {
        return Vec3::zeros();
    }
    let body = model.body_of_block(block);
    let cells = &body.mesh.cells[block - body.blocks.start];
    let per = cells.kind.nodes();
    let nodes = &cells.nodes[element * per..(element + 1) * per];
    let sum: Vec3 = nodes.iter().map(|&n| look.state.x[body.nodes.start + n as usize]).sum();
    sum / per as f64
}
