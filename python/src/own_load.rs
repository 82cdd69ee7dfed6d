//! Loads that a Python function says. It is called on a thread of the simulation, while the calling thread waits without
//! Python's lock.

use crate::arrays::{to_vectors, vectors};
use carom::math::Vec3;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How a load tells that it failed: the run stops after the step, and the calling thread raises what is here.
#[derive(Clone, Default)]
pub struct Trouble {
    pub stop: Arc<AtomicBool>,
    error: Arc<Mutex<Option<PyErr>>>,
}

impl Trouble {
    fn tell(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Asks `function(time, x)` for an array of forces [N], or nothing.
pub fn own_load(
    function: Py<PyAny>,
    trouble: Trouble,
) -> impl FnMut(f64, &[Vec3], &mut [Vec3]) + Send + 'static {
    move |time, x, forces| {
        let said = Python::attach(|py| {
            let answer = function.bind(py).call1((time, vectors(py, x)?))?;
            if answer.is_none() {
                return Ok(());
            }
            let answer = to_vectors(&answer.extract::<PyReadonlyArray2<f64>>()?)?;
            if answer.len() != forces.len() {
                let (needed, got) = (forces.len(), answer.len());
                let words = format!("a load says one force for each of the {needed} nodes, not {got}");
                return Err(PyValueError::new_err(words));
            }
            if let Some(k) = answer.iter().position(|f| !f.iter().all(|c| c.is_finite())) {
                return Err(PyValueError::new_err(format!(
                    "a load says a force on node {k} that is not finite"
                )));
            }
            forces.iter_mut().zip(answer).for_each(|(to, f)| *to += f);
            Ok(())
        });
        if let Err(error) = said {
            trouble.tell(error);
        }
    }
}
