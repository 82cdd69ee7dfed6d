//! `carom._carom`: the front door of the library as Python sees it. What is friendly about the package is in `carom/*.py`.
//!
//! | file | holds |
//! |---|---|
//! | `simulation.rs` | a run: carried on, looked at, taken part in |
//! | `signals.rs` | Ctrl-C while something computes |
//! | `own_load.rs` | loads that a Python function says |
//! | `results.rs`, `study.rs` | folders of runs; studies of many |
//! | `arrays.rs`, `errors.rs` | numbers and errors on their way to Python |

mod arrays;
mod errors;
mod own_load;
mod results;
mod signals;
mod simulation;
mod study;

use pyo3::prelude::*;

#[pymodule]
fn _carom(module: &Bound<PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("DeckError", py.get_type::<errors::DeckError>())?;
    module.add("SimulationError", py.get_type::<errors::SimulationError>())?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<results::Results>()?;
    module.add_class::<study::Study>()?;
    module.add_function(wrap_pyfunction!(results::examples, module)?)?;
    Ok(())
}
