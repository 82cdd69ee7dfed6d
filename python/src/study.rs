//! Studies: which runs there are and what they came to. Who runs them is Python's business.

use crate::errors::DeckError;
use carom::{Combine, Study as Inner, StudyDeck, StudyError, Varied};
use pyo3::exceptions::{PyFileExistsError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A deck and what is varied in it.
#[pyclass(frozen, module = "carom._carom")]
pub struct Study {
    inner: Inner,
    options: Vec<String>,
}

fn told(error: StudyError) -> PyErr {
    let words = error.to_string();
    match error {
        StudyError::Member { .. } => DeckError::new_err(words),
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
        let deck = StudyDeck { name, text, folder, options: options.clone() };
        let inner = Inner::new(deck, varied, combine, out).map_err(told)?;
        Ok(Study { inner, options })
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    /// Name, values and all options `path=value` of every run.
    fn members(&self) -> Vec<(String, Vec<String>, Vec<String>)> {
        let keys = || self.inner.varied().iter().map(|v| &v.path);
        let options = |values: &[String]| -> Vec<String> {
            let own = keys().zip(values).map(|(path, value)| format!("{path}={value}"));
            self.options.iter().cloned().chain(own).collect()
        };
        self.inner.members().iter().map(|m| (m.name.clone(), m.values.clone(), options(&m.values))).collect()
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
