//! Frames of a run: one VTU file per frame time, listed in `frames.pvd`.
//!
//! Points stand where they are now; `displacement` leads back. Fields: `displacement`, `velocity`, with contact also
//! `contact_force` (mean since the last frame), and per element `body`, Cauchy `stress` (xx yy zz xy yz xz, mean over the
//! element), `mises` (mean of its integration points) and `mises_max` (the largest of them). Points have `stress` and
//! `mises` too, averaged over the elements around them by volume, for smooth pictures. With `integration_points` the
//! elements have `stress_points` and `mises_points` as well: what stands at their integration points, one after the other;
//! elements with fewer points than others have zeros behind.
//!
//! Shells are drawn where their smooth surface is: every point is the one of the surface that belongs to its node. With
//! `shells = "control"` points are the nodes of the control mesh.
//!
//! Obstacles stand behind the bodies: their points after the model's nodes, their cells after the elements, without
//! stress, and with numbers of bodies that go on counting; the field `rigid` tells
//! them apart: 0 for elements, 1 for obstacles, 2 for the drawn part of a plane, which goes on. Without obstacles
//! there is no such field.

use super::pvd::{self, PvdError, Series};
use super::rigid::{self, Drawn};
use super::vtu::{Field, Frame, Packed, PackedCells, Values, VtuError, name, write_vtu};
use crate::element::{Block, ElementStress, Positions};
use crate::math::Vec3;
use crate::mesh::subdivision::Term;
use crate::model::contact::ObstacleShape;
use crate::model::record::{Record, RecordError};
use crate::model::{Ledger, Model};
use crate::run::peaks::Envelope;
use crate::run::{Look, Observer, ObserverError, Times, WriteError, disk};
use rayon::prelude::*;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Elements that one task looks at.
const CHUNK: usize = 128;

/// How long frames may wait until they are listed. File systems force a file that takes the place of another to the disk, so that a
/// list that is replaced with every frame would cost more than the frames.
const UNLISTED: Duration = Duration::from_millis(500);

pub struct Frames {
    series: Series,
    /// How many of them are in the list on the disk, and since when.
    listed: (usize, Instant),
    /// Length and checksum of every frame that is on the disk.
    kept: Vec<[u64; 2]>,
    times: Times,
    /// They begin with a run that is taken up: there is nothing to cut.
    anew: bool,
    cells: PackedCells,
    body: Packed,
    /// With obstacles only.
    rigid: Option<Packed>,
    obstacles: Vec<Drawn>,
    /// Smooth surfaces: block, and how the points of the surface hang on the nodes.
    surfaces: Vec<(usize, Vec<Vec<Term>>)>,
    /// Of all points, obstacles behind the model's nodes.
    points: Vec<Vec3>,
    displacement: Vec<Vec3>,
    velocity: Vec<Vec3>,
    contact_force: Vec<Vec3>,
    /// Time of the last frame, and the impulses of contact up to it.
    last_time: f64,
    last_impulse: Vec<Vec3>,
    /// Of elements, then of points.
    stress: Vec<[f32; 6]>,
    mises: Vec<f32>,
    mises_max: Vec<f32>,
    nodal_stress: Vec<[f32; 6]>,
    nodal_mises: Vec<f32>,
    /// The largest stress of every element so far, if it is asked for, and as it is written: obstacles behind.
    envelope: Option<Envelope>,
    mises_peak: Vec<f32>,
    /// At integration points, `most` to an element; empty unless asked for.
    most: usize,
    stress_points: Vec<[f32; 6]>,
    mises_points: Vec<f32>,
}

/// Volume and, times volume, stress and von Mises stress around a node.
type Around = (f64, [f64; 6], f64);

impl Frames {
    /// Writes what stands at integration points too.
    pub fn with_integration_points(mut self, model: &Model) -> Self {
        let positions = Positions { reference: &model.reference, current: &model.reference };
        let points = |block: &dyn Block| {
            let mut count = 0;
            if !block.is_empty() {
                block.stress(0, positions, &mut |_| count += 1);
            }
            count
        };
        self.most = model.blocks.iter().map(|b| points(&**b)).max().unwrap_or(0);
        self.stress_points = vec![[0.0; 6]; self.most * self.stress.len()];
        self.mises_points = vec![0.0; self.most * self.stress.len()];
        self
    }

    /// Shells by their control mesh instead of their smooth surface.
    pub fn drawing(mut self, control_mesh: bool) -> Self {
        if control_mesh {
            self.surfaces.clear();
        }
        self
    }

    /// Writes the largest von Mises stress of every element so far too.
    pub(crate) fn with_envelope(mut self, envelope: Envelope) -> Self {
        self.mises_peak = vec![0.0; self.mises_max.len()];
        self.envelope = Some(envelope);
        self
    }

    /// What an element bears in a frame is part of its envelope.
    fn measure_envelope(&mut self) {
        let Some(envelope) = &self.envelope else { return };
        for ((peak, own), now) in
            self.mises_peak.iter_mut().zip(envelope.values().iter_mut()).zip(&self.mises_max)
        {
            *own = own.max(*now);
            *peak = *own;
        }
    }

    /// Begins a new series in `folder`; `count` intervals up to `end`.
    pub fn create(folder: &Path, model: &Model, end: f64, count: u64) -> Result<Self, WriteError> {
        Ok(Self::new(Series::create(folder).map_err(|e| series_error(folder, e))?, model, end, count))
    }

    /// Looks at these times, in a series of its own, at a run that may be taken up from a checkpoint of another folder.
    pub fn anew(mut self, times: Times) -> Frames {
        (self.times, self.anew) = (times, true);
        self
    }

    /// Continues a series; [`Observer::restore`] then says how far it had come.
    pub(crate) fn reopen(folder: &Path, model: &Model, end: f64, count: u64) -> Self {
        Self::new(Series::of(folder), model, end, count)
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
        let obstacles = rigid::draw(model);
        let mut rigid = vec![0_u8; body_of_cell.len()];
        let mut points_in_all = model.reference.len();
        for (index, Drawn { points, cells }) in obstacles.iter().enumerate() {
            for cells in cells {
                let nodes = cells.nodes.iter().map(|n| n + points_in_all as u32).collect();
                blocks.push((cells.kind, nodes));
                let number = (model.bodies.len() + index) as i32;
                body_of_cell.extend(std::iter::repeat_n(number, cells.len()));
                let plane = matches!(model.contact.obstacles[index].shape, ObstacleShape::Plane { .. });
                rigid.extend(std::iter::repeat_n(if plane { 2 } else { 1 }, cells.len()));
            }
            points_in_all += points.len();
        }
        let blocks: Vec<_> = blocks.iter().map(|(kind, nodes)| (*kind, &nodes[..])).collect();
        Frames {
            series,
            listed: (0, Instant::now()),
            kept: Vec::new(),
            times: Times::new(end, count),
            anew: false,
            cells: PackedCells::new(&blocks),
            body: Packed::new(Values::I32(&body_of_cell)),
            rigid: (!obstacles.is_empty()).then(|| Packed::new(Values::U8(&rigid))),
            obstacles,
            surfaces: (model.blocks.iter().enumerate())
                .filter_map(|(b, block)| block.surface().map(|(surface, _)| (b, surface.limit())))
                .collect(),
            points: vec![Vec3::zeros(); points_in_all],
            displacement: vec![Vec3::zeros(); points_in_all],
            velocity: vec![Vec3::zeros(); points_in_all],
            contact_force: vec![Vec3::zeros(); points_in_all],
            last_time: 0.0,
            last_impulse: Vec::new(),
            stress: vec![[0.0; 6]; body_of_cell.len()],
            mises: vec![0.0; body_of_cell.len()],
            mises_max: vec![0.0; body_of_cell.len()],
            nodal_stress: vec![[0.0; 6]; points_in_all],
            nodal_mises: vec![0.0; points_in_all],
            envelope: None,
            mises_peak: Vec::new(),
            most: 0,
            stress_points: Vec::new(),
            mises_points: Vec::new(),
        }
    }

    /// Lists what is not listed yet, if that has waited long enough or is asked for `now`.
    fn list(&mut self, now: bool) -> Result<(), WriteError> {
        let (listed, since) = self.listed;
        let all = self.series.entries().len();
        if listed < all && (now || since.elapsed() >= UNLISTED) {
            self.series.write().map_err(|e| series_error(self.series.dir(), e))?;
            self.listed = (all, Instant::now());
        }
        Ok(())
    }

    /// Where all points are and how they move.
    fn measure_motion(&mut self, look: &Look) {
        let (model, state) = (&look.case.model, look.state);
        let nodes = state.x.len();
        self.points[..nodes].copy_from_slice(&state.x);
        self.velocity[..nodes].copy_from_slice(&state.v);
        for ((u, x), from) in self.displacement.iter_mut().zip(&state.x).zip(&model.reference) {
            *u = x - from;
        }
        for (block, limit) in &self.surfaces {
            let Some((surface, first)) = model.blocks[*block].surface() else { continue };
            for (k, terms) in limit.iter().enumerate() {
                let from = surface.point(terms, &model.reference[first..]);
                self.points[first + k] = surface.point(terms, &state.x[first..]);
                self.displacement[first + k] = self.points[first + k] - from;
                self.velocity[first + k] = surface.vector(terms, &state.v[first..]);
            }
        }
        let drawn = self.obstacles.iter().zip(&model.contact.obstacles);
        let drawn = drawn.flat_map(|(drawn, obstacle)| {
            let pose = obstacle.pose(state.time);
            drawn.points.iter().map(move |from| (pose, from))
        });
        for (i, (pose, from)) in (nodes..).zip(drawn) {
            self.points[i] = pose.place(from);
            self.displacement[i] = self.points[i] - from;
            self.velocity[i] = pose.velocity_at(&self.points[i]);
        }
    }

    /// Mean force of contact on every node since the last frame; does the method know contact?
    fn measure_contact(&mut self, look: &Look) -> bool {
        let impulse = look.case.method.contact_impulse();
        let elapsed = look.state.time - self.last_time;
        self.last_impulse.resize(impulse.len(), Vec3::zeros());
        for ((force, now), last) in self.contact_force.iter_mut().zip(impulse).zip(&mut self.last_impulse) {
            *force = if elapsed > 0.0 { (now - *last) / elapsed } else { Vec3::zeros() };
            *last = *now;
        }
        self.last_time = look.state.time;
        !impulse.is_empty()
    }

    /// Stress and von Mises stress of every element, at its points, and around every node.
    fn measure_stress(&mut self, look: &Look) {
        let model = &look.case.model;
        let positions = Positions { reference: &model.reference, current: &look.state.x };
        let mut volumes: Vec<Vec<f64>> = Vec::new();
        let mut from = 0;
        for block in &model.blocks {
            let elements = from..from + block.len();
            from = elements.end;
            let mut found = vec![ElementStress::default(); block.len()];
            found.par_chunks_mut(CHUNK).enumerate().for_each(|(c, out)| {
                block.stress_of(c * CHUNK..c * CHUNK + out.len(), positions, true, out);
            });
            for (e, found) in elements.clone().zip(&found) {
                self.stress[e] = found.cauchy.map(|x| x as f32);
                (self.mises[e], self.mises_max[e]) = (found.von_mises as f32, found.largest as f32);
            }
            volumes.push(found.into_iter().map(|s| s.volume).collect());
            if self.most > 0 {
                let points = elements.start * self.most..elements.end * self.most;
                let s = self.stress_points[points.clone()].par_chunks_mut(self.most);
                let m = self.mises_points[points].par_chunks_mut(self.most);
                s.zip(m).enumerate().for_each(|(e, (s, m))| {
                    let mut at = 0;
                    block.stress(e, positions, &mut |point| {
                        s[at] = point.cauchy.map(|x| x as f32);
                        m[at] = point.von_mises as f32;
                        at += 1;
                    });
                });
            }
        }
        let mut around: Vec<Around> = vec![Default::default(); model.reference.len()];
        let mut element = 0;
        for body in &model.bodies {
            for (volumes, cells) in volumes[body.blocks.clone()].iter().zip(&body.mesh.cells) {
                for (volume, nodes) in volumes.iter().zip(cells.nodes.chunks_exact(cells.kind.nodes())) {
                    for &k in nodes {
                        let (sum, stress, mises) = &mut around[body.nodes.start + k as usize];
                        *sum += volume;
                        *mises += volume * f64::from(self.mises[element]);
                        let own = self.stress[element];
                        stress.iter_mut().zip(own).for_each(|(s, x)| *s += volume * f64::from(x));
                    }
                    element += 1;
                }
            }
        }
        for (k, (volume, stress, mises)) in around.into_iter().enumerate().filter(|a| a.1.0 > 0.0) {
            self.nodal_stress[k] = stress.map(|x| (x / volume) as f32);
            self.nodal_mises[k] = (mises / volume) as f32;
        }
    }
}

impl Observer for Frames {
    fn next(&self) -> f64 {
        self.times.next()
    }

    fn look(&mut self, look: &Look) -> Result<(), ObserverError> {
        let touches = self.measure_contact(look);
        self.measure_motion(look);
        self.measure_stress(look);
        self.measure_envelope();
        let mut point_fields = vec![
            Field { name: name::DISPLACEMENT, components: 3, values: Values::vectors(&self.displacement) },
            Field { name: name::VELOCITY, components: 3, values: Values::single_vectors(&self.velocity) },
        ];
        let force = Values::single_vectors(&self.contact_force);
        if touches {
            point_fields.push(Field { name: name::CONTACT_FORCE, components: 3, values: force });
        }
        let around = Values::F32(bytemuck::cast_slice(&self.nodal_stress));
        point_fields.extend([
            Field { name: name::STRESS, components: 6, values: around },
            Field { name: name::MISES, components: 1, values: Values::F32(&self.nodal_mises) },
        ]);
        let mut cell_fields =
            vec![Field { name: name::BODY, components: 1, values: Values::Packed(&self.body) }];
        if let Some(rigid) = &self.rigid {
            cell_fields.push(Field { name: name::RIGID, components: 1, values: Values::Packed(rigid) });
        }
        let stress = Values::F32(bytemuck::cast_slice(&self.stress));
        cell_fields.extend([
            Field { name: name::STRESS, components: 6, values: stress },
            Field { name: name::MISES, components: 1, values: Values::F32(&self.mises) },
            Field { name: name::MISES_MAX, components: 1, values: Values::F32(&self.mises_max) },
        ]);
        if self.envelope.is_some() {
            let peak = Values::F32(&self.mises_peak);
            cell_fields.push(Field { name: name::MISES_PEAK, components: 1, values: peak });
        }
        if self.most > 0 {
            let stress = Values::F32(bytemuck::cast_slice(&self.stress_points));
            let mises = Values::F32(&self.mises_points);
            cell_fields.extend([
                Field { name: name::STRESS_POINTS, components: 6 * self.most, values: stress },
                Field { name: name::MISES_POINTS, components: self.most, values: mises },
            ]);
        }
        let path = self.series.next_path();
        let frame = Frame {
            time: look.state.time,
            points: &self.points,
            cells: &self.cells,
            point_fields: &point_fields,
            cell_fields: &cell_fields,
        };
        write_vtu(&path, &frame).map_err(|error| match error {
            VtuError::Write { path, source } => WriteError { path, source },
            other => WriteError { path: path.clone(), source: io::Error::other(other) },
        })?;
        self.series.add(look.state.time);
        self.list(look.last)?;
        self.times.seen(look.state.time, look.ledger.dt);
        Ok(())
    }

    fn pulse(&mut self, _: f64, _: &Ledger) {
        // what fails here fails again where it can be told
        let _ = self.list(false);
    }

    fn settle(&mut self) -> Result<(), ObserverError> {
        if self.kept.len() == self.series.entries().len() {
            return Ok(());
        }
        let (series, new) = (&self.series, &self.series.entries()[self.kept.len()..]);
        let settled = disk::several_at_once(new.len(), |k| {
            let path = series.path(&new[k]);
            let kept = measure(&path).and_then(|kept| disk::sync_file(&path).map(|()| kept));
            kept.map_err(|source| WriteError { path, source })
        });
        for kept in settled {
            self.kept.push(kept?);
        }
        self.list(true)?;
        let folder = self.series.folder();
        disk::sync_folder(&folder).map_err(|source| WriteError { path: folder, source })?;
        let list = self.series.file();
        disk::sync_file(&list).map_err(|source| WriteError { path: list, source })?;
        Ok(())
    }

    fn save(&self, record: &mut Record) {
        let times: Vec<f64> = self.series.entries().iter().map(|e| e.time).collect();
        record.numbers("frames.times", &times);
        record.counts("frames.files", self.kept.as_flattened());
        record.numbers("frames.time", &[self.last_time]);
        record.vectors("frames.impulse", &self.last_impulse);
    }

    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let mut last = [0.0];
        record.read_numbers("frames.time", &mut last)?;
        [self.last_time] = last;
        self.last_impulse = vec![Vec3::zeros(); record.get("frames.impulse")?.len() / 3];
        record.read_vectors("frames.impulse", &mut self.last_impulse)?;
        if self.anew {
            return Ok(());
        }
        let time = record.get("state.time")?[0];
        self.times.seen(time, record.get("ledger.numbers")?.get(13).copied().unwrap_or(0.0));
        self.kept = record.get_counts("frames.files")?.as_chunks().0.to_vec();
        let resumed = Series::resume(self.series.dir(), record.get("frames.times")?);
        self.series = resumed.map_err(|error| RecordError::Outside(error.to_string()))?;
        self.listed = (self.series.entries().len(), Instant::now());
        Ok(())
    }
}

impl Drop for Frames {
    /// Whoever ends a run early finds its frames.
    fn drop(&mut self) {
        let _ = self.list(true);
    }
}

/// Length and checksum of a file.
fn measure(path: &Path) -> io::Result<[u64; 2]> {
    let bytes = disk::read_file(path)?;
    Ok([bytes.len() as u64, crc32fast::hash(&bytes).into()])
}

/// Are the frames in `folder` those that were there when `record` was kept? If not, what is wrong.
pub(crate) fn verify(folder: &Path, record: &Record) -> Result<(), String> {
    let kept = record.get_counts("frames.files").map_err(|e| e.to_string())?.as_chunks::<2>().0;
    let wrong = kept.par_iter().enumerate().filter_map(|(i, kept)| {
        let file = pvd::file_name(i);
        match measure(&folder.join(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!("{file} is missing")),
            Err(error) => Some(format!("{file} cannot be read: {error}")),
            Ok([0, _]) => Some(format!("{file} is empty")),
            Ok(found) if found[0] < kept[0] => Some(format!("{file} is cut short")),
            Ok(found) if found != *kept => Some(format!("{file} is not what was written")),
            Ok(_) => None,
        }
    });
    let wrong: Vec<String> = wrong.collect();
    match &wrong[..] {
        [] => Ok(()),
        [one] => Err(one.clone()),
        [first, rest @ ..] => Err(format!("{first}, and {} more frames are damaged or missing", rest.len())),
    }
}

fn series_error(at: &Path, error: PvdError) -> WriteError {
    match error {
        PvdError::Write { path, source } | PvdError::Read { path, source } => WriteError { path, source },
        other => WriteError { path: PathBuf::from(at), source: io::Error::other(other) },
    }
}
