//! What can go wrong, as Python says it.

use carom::SimulationError as Error;
use carom::look::LookError;
use pyo3::exceptions::{PyFileExistsError, PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(carom, DeckError, PyValueError, "A deck, or a mesh that it names, is wrong.");
pyo3::create_exception!(carom, SimulationError, PyRuntimeError, "A step could not be done.");

/// The same words as the program's, in the exception that a Python user expects.
pub fn told(error: Error) -> PyErr {
    let words = error.to_string();
    match error {
        Error::Deck(_) => DeckError::new_err(words),
        Error::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(words)
        }
        Error::Run(_) => SimulationError::new_err(words),
        Error::FolderTaken { .. } => PyFileExistsError::new_err(format!(
            "{words}; resume=True continues it, overwrite=True replaces it"
        )),
        Error::NothingToResume { .. } => PyFileNotFoundError::new_err(words),
        Error::Unreadable { .. } | Error::Write { .. } => PyOSError::new_err(words),
        _ => PyValueError::new_err(words),
    }
}

pub fn unreadable(error: LookError) -> PyErr {
    match &error {
        LookError::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(error.to_string())
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}
