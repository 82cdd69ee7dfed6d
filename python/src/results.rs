//! Folders of runs, finished or going on.

use crate::arrays::{freeze, rows, vectors};
use crate::errors::unreadable;
use carom::look::{self, FieldData};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// The folder of a run.
#[pyclass(frozen, subclass, module = "carom._carom")]
pub struct Results {
    inner: look::Results,
}

#[pymethods]
impl Results {
    #[new]
    fn new(folder: PathBuf) -> PyResult<Self> {
        look::Results::open(&folder).map(|inner| Results { inner }).map_err(unreadable)
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.inner.folder().to_owned()
    }

    /// `summary.json`, `deck.toml` or `history.csv` as they are.
    fn text(&self, name: &str) -> PyResult<String> {
        self.inner.text(name).map_err(unreadable)
    }

    /// Columns by name, which nobody can write on.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = py.detach(|| self.inner.history()).map_err(unreadable)?;
        let dict = PyDict::new(py);
        for (name, column) in table.names.into_iter().zip(table.columns) {
            let array = PyArray1::from_vec(py, column);
            freeze(&array)?;
            dict.set_item(name, array)?;
        }
        Ok(dict)
    }

    /// Times of the frames so far.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.inner.times().map_err(unreadable)?))
    }

    fn frame_path(&self, index: usize) -> PyResult<PathBuf> {
        self.inner.frame_path(index).map_err(unreadable)
    }

    /// Time, points, cells (kind and nodes), fields of points and of cells.
    fn frame_arrays<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let frame = py.detach(|| self.inner.frame(index)).map_err(unreadable)?;
        let cells = PyList::empty(py);
        for (kind, nodes) in frame.cells {
            let columns = kind.nodes();
            let nodes: Vec<i64> = nodes.into_iter().map(i64::from).collect();
            let count = nodes.len() / columns;
            let array = PyArray1::from_vec(py, nodes).reshape([count, columns])?;
            cells.append((format!("{kind:?}").to_lowercase(), array))?;
        }
        let dict = PyDict::new(py);
        dict.set_item("time", frame.time)?;
        dict.set_item("points", vectors(py, &frame.points)?)?;
        dict.set_item("cells", cells)?;
        dict.set_item("point_fields", fields(py, frame.point_fields)?)?;
        dict.set_item("cell_fields", fields(py, frame.cell_fields)?)?;
        Ok(dict)
    }

    /// One interactive page in one file; returns frames in the file and in the folder, and the fields left out.
    fn html(&self, py: Python, file: PathBuf, limit: f64) -> PyResult<([usize; 2], Vec<String>)> {
        let options = look::page::HtmlOptions { limit: (1e6 * limit) as usize, threads: None };
        let made = py.detach(|| look::page::html(self.inner.folder(), &file, &options));
        made.map(|made| (made.frames, made.without)).map_err(unreadable)
    }
}

fn fields(py: Python, list: Vec<FieldData>) -> PyResult<Bound<PyDict>> {
    let dict = PyDict::new(py);
    for FieldData { name, components, values } in list {
        if components == 1 {
            dict.set_item(name, PyArray1::from_vec(py, values))?;
        } else {
            dict.set_item(name, rows(py, values, components)?)?;
        }
    }
    Ok(dict)
}

/// Names and decks of the built-in examples.
#[pyfunction]
pub fn examples() -> Vec<(&'static str, &'static str)> {
    carom::cases::EXAMPLES.iter().map(|e| (e.name, e.text)).collect()
}
