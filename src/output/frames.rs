//! Frames of a run: one VTU file per frame time, listed in `frames.pvd`.
//!
//! Points stand where they are now; `displacement` leads back. Fields: `displacement`, `velocity`, and per element
//! `body`, Cauchy `stress` (xx yy zz xy yz xz, mean over the element) and `mises` (mean of its points).

use super::pvd::{PvdError, Series};
use super::vtu::{Field, Frame, Packed, PackedCells, Values, VtuError, write_vtu};
use crate::element::Positions;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::record::{Record, RecordError};
use crate::run::{Look, Observer, ObserverError, Times};
use rayon::prelude::*;
use std::io;
use std::path::{Path, PathBuf};

pub struct Frames {
    series: Series,
    times: Times,
    cells: PackedCells,
    body: Packed,
    displacement: Vec<Vec3>,
    stress: Vec<[f32; 6]>,
    mises: Vec<f32>,
}

impl Frames {
    /// Begins a new series in `folder`; `count` intervals up to `end`.
    pub fn create(folder: &Path, model: &Model, end: f64, count: u64) -> Result<Self, ObserverError> {
        Ok(Self::new(Series::create(folder).map_err(|e| series_error(folder, e))?, model, end, count))
    }

    /// Continues a series; [`Observer::restore`] then cuts it back to the checkpoint.
    pub fn reopen(folder: &Path, model: &Model, end: f64, count: u64) -> Result<Self, ObserverError> {
        Ok(Self::new(Series::open(folder).map_err(|e| series_error(folder, e))?, model, end, count))
    }

    fn new(series: Series, model: &Model, end: f64, count: u64) -> Self {
        let mut blocks = Vec::new();
        let mut body_of_cell: Vec<i32> = Vec::new();
        for (index, body) in model.bodies.iter().enumerate() {
            let start = body.nodes.start as u32;
            for cells in &body.mesh.cells {
                blocks.push((cells.kind, cells.nodes.iter().map(|n| n + start).collect::<Vec<u32>>()));
                body_of_cell.extend(std::iter::repeat_n(index as i32, cells.len()));
            }
        }
        let blocks: Vec<_> = blocks.iter().map(|(kind, nodes)| (*kind, &nodes[..])).collect();
        Frames {
            series,
            times: Times::new(end, count),
            cells: PackedCells::new(&blocks),
            body: Packed::new(Values::I32(&body_of_cell)),
            displacement: vec![Vec3::zeros(); model.reference.len()],
            stress: vec![[0.0; 6]; model.elements()],
            mises: vec![0.0; model.elements()],
        }
    }

    /// Mean stress and von Mises stress of every element.
    fn measure_stress(&mut self, look: &Look) {
        let model = &look.case.model;
        let positions = Positions { reference: &model.reference, current: &look.state.x };
        let (mut stress, mut mises) = (&mut self.stress[..], &mut self.mises[..]);
        for block in &model.blocks {
            let (s, m);
            (s, stress) = stress.split_at_mut(block.len());
            (m, mises) = mises.split_at_mut(block.len());
            s.par_iter_mut().zip(m).enumerate().for_each(|(e, (s, m))| {
                let (mut volume, mut sum, mut mean) = (0.0, [0.0; 6], 0.0);
                block.stress(e, positions, &mut |point| {
                    volume += point.volume;
                    mean += point.volume * point.von_mises;
                    sum.iter_mut().zip(point.cauchy).for_each(|(sum, x)| *sum += point.volume * x);
                });
                *s = sum.map(|x| (x / volume) as f32);
                *m = (mean / volume) as f32;
            });
        }
    }
}

impl Observer for Frames {
    fn next(&self) -> f64 {
        self.times.next()
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let reference = &look.case.model.reference;
        for ((u, x), from) in self.displacement.iter_mut().zip(&look.state.x).zip(reference) {
            *u = x - from;
        }
        self.measure_stress(look);
        let path = self.series.next_path();
        let frame = Frame {
            time: look.state.time,
            points: &look.state.x,
            cells: &self.cells,
            point_fields: &[
                Field { name: "displacement", components: 3, values: Values::vectors(&self.displacement) },
                Field { name: "velocity", components: 3, values: Values::single_vectors(&look.state.v) },
            ],
            cell_fields: &[
                Field { name: "body", components: 1, values: Values::Packed(&self.body) },
                Field {
                    name: "stress",
                    components: 6,
                    values: Values::F32(bytemuck::cast_slice(&self.stress)),
                },
                Field { name: "mises", components: 1, values: Values::F32(&self.mises) },
            ],
        };
        write_vtu(&path, &frame).map_err(|error| match error {
            VtuError::Write { path, source } => ObserverError { path, source },
            other => ObserverError { path: path.clone(), source: io::Error::other(other) },
        })?;
        self.series.push(look.state.time).map_err(|e| series_error(&path, e))?;
        self.times.seen(look.state.time, look.ledger.dt);
        Ok(())
    }

    fn save(&self, record: &mut Record) {
        record.counts("frames.count", &[self.series.entries().len() as u64]);
    }

    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let [count] = record.read_counts("frames.count")?;
        let time = record.get("state.time")?[0];
        self.times.seen(time, record.get("ledger.numbers")?.get(13).copied().unwrap_or(0.0));
        let last = count.checked_sub(1).map(|i| self.series.entries().get(i as usize).map(|e| e.time));
        let cut = match last {
            None => self.series.cut_after(f64::NEG_INFINITY),
            Some(Some(last)) => self.series.cut_after(last),
            Some(None) => {
                return Err(RecordError::Outside(
                    "frames.pvd lists fewer frames than the checkpoint counted".into(),
                ));
            }
        };
        cut.map_err(|error| RecordError::Outside(error.to_string()))
    }
}

fn series_error(at: &Path, error: PvdError) -> ObserverError {
    match error {
        PvdError::Write { path, source } | PvdError::Read { path, source } => ObserverError { path, source },
        other => ObserverError { path: PathBuf::from(at), source: io::Error::other(other) },
    }
}
