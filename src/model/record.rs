//! Named arrays: what a state, a ledger, a method or an observer hands over to be kept, bit for bit.

use super::{Ledger, MaterialState, Model, State};
use crate::math::Vec3;
use std::collections::BTreeMap;

/// One kept array.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    Numbers(Vec<f64>),
    Counts(Vec<u64>),
}

/// Named arrays in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub arrays: BTreeMap<String, Array>,
}

/// Why a record cannot be taken back.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RecordError {
    #[error("the record has no array `{0}`")]
    Missing(String),
    #[error("the array `{name}` of the record has {found} entries; this model needs {needed}")]
    Length { name: String, found: usize, needed: usize },
    #[error("the array `{0}` of the record holds numbers that mean nothing")]
    Meaningless(String),
    #[error("what was written before does not fit the record: {0}")]
    Outside(String),
}

impl Record {
    pub fn numbers(&mut self, name: &str, values: &[f64]) {
        self.numbers_from(name, values.iter().copied());
    }

    pub fn counts(&mut self, name: &str, values: &[u64]) {
        self.counts_from(name, values.iter().copied());
    }

    pub fn vectors(&mut self, name: &str, values: &[Vec3]) {
        self.vectors_from(name, values.iter().copied());
    }

    /// Numbers from wherever they are.
    pub fn numbers_from(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.arrays.insert(name.into(), Array::Numbers(values.collect()));
    }

    pub fn counts_from(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.arrays.insert(name.into(), Array::Counts(values.collect()));
    }

    pub fn vectors_from(&mut self, name: &str, values: impl Iterator<Item = Vec3>) {
        self.numbers_from(name, values.flat_map(<[f64; 3]>::from));
    }

    /// Nobody keeps numbers that are none.
    pub fn refuse_nan(&self) -> Result<(), RecordError> {
        let is_nan = |array: &Array| matches!(array, Array::Numbers(v) if v.iter().any(|x| x.is_nan()));
        match self.arrays.iter().find(|(_, array)| is_nan(array)) {
            Some((name, _)) => Err(RecordError::Meaningless(name.clone())),
            None => Ok(()),
        }
    }

    /// Numbers of any length.
    pub fn get(&self, name: &str) -> Result<&[f64], RecordError> {
        match self.arrays.get(name) {
            Some(Array::Numbers(values)) => Ok(values),
            _ => Err(RecordError::Missing(name.into())),
        }
    }

    /// Counts of any length.
    pub fn get_counts(&self, name: &str) -> Result<&[u64], RecordError> {
        match self.arrays.get(name) {
            Some(Array::Counts(values)) => Ok(values),
            _ => Err(RecordError::Missing(name.into())),
        }
    }

    /// Copies numbers into a place of the same length.
    pub fn read_numbers(&self, name: &str, to: &mut [f64]) -> Result<(), RecordError> {
        copy(name, self.get(name)?, to)
    }

    /// So many numbers.
    pub fn read_values<const N: usize>(&self, name: &str) -> Result<[f64; N], RecordError> {
        let mut values = [0.0; N];
        self.read_numbers(name, &mut values)?;
        Ok(values)
    }

    pub fn read_vectors(&self, name: &str, to: &mut [Vec3]) -> Result<(), RecordError> {
        self.read_numbers(name, bytemuck::cast_slice_mut(to))
    }

    /// Copies vectors to as many places, wherever these are.
    pub fn vectors_to<'a>(
        &self,
        name: &str,
        to: impl IntoIterator<Item = &'a mut Vec3>,
    ) -> Result<(), RecordError> {
        let to: Vec<&mut Vec3> = to.into_iter().collect();
        let mut from = vec![Vec3::zeros(); to.len()];
        self.read_vectors(name, &mut from)?;
        to.into_iter().zip(from).for_each(|(to, from)| *to = from);
        Ok(())
    }

    /// Copies counts to as many places, wherever these are.
    pub fn counts_to<'a>(
        &self,
        name: &str,
        to: impl IntoIterator<Item = &'a mut u64>,
    ) -> Result<(), RecordError> {
        let to: Vec<&mut u64> = to.into_iter().collect();
        let mut from = vec![0; to.len()];
        self.copy_counts(name, &mut from)?;
        to.into_iter().zip(from).for_each(|(to, from)| *to = from);
        Ok(())
    }

    /// So many counts.
    pub fn read_counts<const N: usize>(&self, name: &str) -> Result<[u64; N], RecordError> {
        let mut counts = [0; N];
        self.copy_counts(name, &mut counts)?;
        Ok(counts)
    }

    /// Copies counts into a place of the same length.
    pub fn copy_counts(&self, name: &str, to: &mut [u64]) -> Result<(), RecordError> {
        copy(name, self.get_counts(name)?, to)
    }
}

fn copy<T: Copy>(name: &str, from: &[T], to: &mut [T]) -> Result<(), RecordError> {
    if from.len() != to.len() {
        return Err(RecordError::Length { name: name.into(), found: from.len(), needed: to.len() });
    }
    to.copy_from_slice(from);
    Ok(())
}

impl State {
    pub fn save(&self, record: &mut Record) {
        record.numbers("state.time", &[self.time]);
        record.counts("state.step", &[self.step]);
        record.vectors("state.x", &self.x);
        record.vectors("state.v", &self.v);
        record.numbers("state.material.old", &self.material.old.concat());
    }

    /// A state of `model` as it was saved.
    pub fn restore(model: &Model, record: &Record) -> Result<Self, RecordError> {
        let mut state = model.rest();
        [state.time] = record.read_values("state.time")?;
        [state.step] = record.read_counts("state.step")?;
        record.read_vectors("state.x", &mut state.x)?;
        record.read_vectors("state.v", &mut state.v)?;
        for name in ["state.time", "state.x", "state.v"] {
            let least = if name == "state.time" { 0.0 } else { f64::MIN };
            if !record.get(name)?.iter().all(|x| (least..=f64::MAX).contains(x)) {
                return Err(RecordError::Meaningless(name.into()));
            }
        }
        state.material.restore(record)?;
        Ok(state)
    }
}

impl MaterialState {
    fn restore(&mut self, record: &Record) -> Result<(), RecordError> {
        let mut all = vec![0.0; self.old.iter().map(Vec::len).sum()];
        record.read_numbers("state.material.old", &mut all)?;
        let mut rest = &all[..];
        for patch in &mut self.old {
            let (mine, after) = rest.split_at(patch.len());
            patch.copy_from_slice(mine);
            rest = after;
        }
        Ok(())
    }
}

impl Ledger {
    fn numbers_mut(&mut self) -> [&mut f64; 18] {
        [
            &mut self.kinetic,
            &mut self.strain,
            &mut self.hourglass,
            &mut self.contact,
            &mut self.external,
            &mut self.friction,
            &mut self.restitution,
            &mut self.damping,
            &mut self.plastic,
            &mut self.correction,
            &mut self.initial,
            &mut self.penetration,
            &mut self.penetration_max,
            &mut self.dt,
            &mut self.dt_min,
            &mut self.dt_max,
            &mut self.dt_sum,
            &mut self.error_max,
        ]
    }

    pub fn save(&self, record: &mut Record) {
        let mut copy = self.clone();
        let numbers = copy.numbers_mut().into_iter().map(|x| *x).chain([self.peak]);
        record.numbers_from("ledger.numbers", numbers);
        record.vectors("ledger.vectors", &[self.impulse, self.moment]);
        let counts = [self.contacts, self.contacts_peak, self.element_kicks, self.collision_kicks];
        record.counts("ledger.counts", &counts);
        record.counts("ledger.doubts", &[self.unsolved, self.let_go]);
    }

    pub fn restore(record: &Record) -> Result<Self, RecordError> {
        let mut ledger = Ledger::default();
        let numbers: [f64; 19] = record.read_values("ledger.numbers")?;
        ledger.numbers_mut().into_iter().zip(numbers).for_each(|(to, from)| *to = from);
        ledger.peak = numbers[18];
        record.vectors_to("ledger.vectors", [&mut ledger.impulse, &mut ledger.moment])?;
        [ledger.contacts, ledger.contacts_peak, ledger.element_kicks, ledger.collision_kicks] =
            record.read_counts("ledger.counts")?;
        [ledger.unsolved, ledger.let_go] = record.read_counts("ledger.doubts")?;
        Ok(ledger)
    }
}
