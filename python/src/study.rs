//! Studies: which runs there are, what they came to. They are run here, or one by one by whom Python asks.

use crate::errors::{self, DeckError};
use crate::signals::while_listening;
use carom::{Combine, SimulationError, Study as Inner, StudyDeck, StudyError, Varied};
use pyo3::exceptions::{PyFileExistsError, PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A deck and what is varied in it.
#[pyclass(frozen, module = "carom._carom")]
pub struct Study {
    inner: Inner,
}

fn told(error: StudyError) -> PyErr {
    let words = error.to_string();
    match error {
        StudyError::Member { source, .. } if matches!(*source, SimulationError::Deck(_)) => {
            DeckError::new_err(words)
        }
        StudyError::Member { source, .. } => errors::told(*source),
        StudyError::ForeignFolder { .. } | StudyError::OtherStudy { .. } => PyFileExistsError::new_err(words),
        StudyError::Write { .. } => PyOSError::new_err(words),
        _ => PyValueError::new_err(words),
    }
}

#[pymethods]
impl Study {
    #[new]
    fn new(
        name: String,
        text: String,
        folder: PathBuf,
        options: Vec<String>,
        varied: Vec<(String, Vec<String>)>,
        zip: bool,
        out: PathBuf,
    ) -> PyResult<Self> {
        let varied = varied.into_iter().map(|(path, values)| Varied { path, values }).collect();
        let combine = if zip { Combine::Zip } else { Combine::Product };
        let deck = StudyDeck { name, text, folder, options };
        let inner = Inner::new(deck, varied, combine, out).map_err(told)?;
        Ok(Study { inner })
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    /// Names of the runs.
    fn members(&self) -> Vec<String> {
        self.inner.members().iter().map(|m| m.name.clone()).collect()
    }

    /// Builds all runs, makes the folder, and says which runs are left, by their numbers.
    fn begin(&self, py: Python, threads: usize) -> PyResult<Vec<usize>> {
        py.detach(|| self.inner.begin(threads, &AtomicBool::new(false))).map_err(told)
    }

    /// Runs all that has not finished as `carom study` does, on `threads` threads in all. Returns runs that failed, and why.
    fn run(&self, py: Python, threads: usize) -> PyResult<Vec<(String, String)>> {
        let stop = AtomicBool::new(false);
        let (outcome, signal) =
            while_listening(py, &stop, || self.inner.run(threads, false, false, &stop, &|_| {}));
        match signal {
            Some(raised) => Err(raised),
            None => outcome.map(|tally| tally.failed).map_err(told),
        }
    }

    /// Runs one member, or takes it up; why it failed, if it did.
    fn run_member(&self, py: Python, number: usize, threads: usize) -> PyResult<Option<String>> {
        if number >= self.inner.members().len() {
            return Err(PyIndexError::new_err(format!("there is no run {number}")));
        }
        let stop = AtomicBool::new(false);
        let (outcome, signal) = while_listening(py, &stop, || self.inner.run_member(number, threads, &stop));
        match signal {
            Some(raised) => Err(raised),
            None => outcome.map_err(errors::told),
        }
    }

    /// A command of the program for every run.
    fn commands(&self, program: &str) -> Vec<String> {
        self.inner.commands(program)
    }

    /// Writes `study.csv` and plots; returns the files.
    fn collect(&self, py: Python) -> PyResult<Vec<PathBuf>> {
        py.detach(|| self.inner.collect(None)).map_err(told)
    }
}
