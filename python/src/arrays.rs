//! Numbers on their way to Python and back. NumPy owns what it shows: a view outlives whatever the run does next.

use carom::math::Vec3;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// One row for each vector.
pub fn vectors<'py>(py: Python<'py>, list: &[Vec3]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, bytemuck::cast_slice::<Vec3, f64>(list)).reshape([list.len(), 3])
}

/// Numbers in rows of `columns`, handed over without a copy.
pub fn rows(py: Python, flat: Vec<f64>, columns: usize) -> PyResult<Bound<PyArray2<f64>>> {
    let count = flat.len() / columns.max(1);
    PyArray1::from_vec(py, flat).reshape([count, columns])
}

/// Nobody writes on it any more.
pub fn freeze(array: &Bound<PyAny>) -> PyResult<()> {
    array.call_method1("setflags", (false,)).map(|_| ())
}

/// Vectors out of an array with three columns.
pub fn to_vectors(array: &PyReadonlyArray2<f64>) -> PyResult<Vec<Vec3>> {
    let view = array.as_array();
    if view.ncols() != 3 {
        return Err(PyValueError::new_err(format!(
            "an array with 3 columns is needed, not {}",
            view.ncols()
        )));
    }
    match view.as_slice() {
        Some(flat) => Ok(bytemuck::cast_slice(flat).to_vec()),
        None => Ok(view.rows().into_iter().map(|r| Vec3::new(r[0], r[1], r[2])).collect()),
    }
}
