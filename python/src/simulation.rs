//! A run: carried on without Python's lock, with signals heard on the calling thread.

use crate::arrays::{freeze, rows, to_vectors, vectors};
use crate::errors::{SimulationError, told};
use crate::own_load::{Trouble, own_load};
use crate::signals::while_listening;
use carom::{Before, SimulationError as Error};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// Steps that take less are done on the calling thread: a thread of their own would cost more than it is worth.
const SHORT: Duration = Duration::from_millis(2);

/// One simulation. Only one thread at a time can carry it on or look at it.
#[pyclass(frozen, subclass, module = "carom._carom")]
pub struct Simulation {
    inner: Mutex<Inner>,
    trouble: Trouble,
}

/// Where work is done. The calling thread cannot hear Ctrl-C while it computes.
enum Where {
    CallingThread,
    OwnThread,
}

struct Inner {
    simulation: carom::Simulation,
    /// How long the last call of `step` took.
    took: Duration,
    /// What finished runs show: made once, then the same arrays for everybody.
    shown: Option<Shown>,
}

struct Shown {
    time: f64,
    x: Py<PyArray2<f64>>,
    v: Py<PyArray2<f64>>,
    history: Py<PyDict>,
}

impl Simulation {
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "this simulation is being carried on: ask it when the call that does so has returned",
            )),
        }
    }

    /// Does `work` without Python's lock. Ctrl-C stops it between two steps; it can go on from there.
    fn carry<F>(&self, py: Python, work: F) -> PyResult<()>
    where
        F: FnOnce(&mut carom::Simulation, &AtomicBool) -> Result<(), Error> + Send,
    {
        let mut inner = self.lock()?;
        self.carry_on(py, &mut inner, Where::OwnThread, work)
    }

    fn carry_on<F>(&self, py: Python, inner: &mut Inner, place: Where, work: F) -> PyResult<()>
    where
        F: FnOnce(&mut carom::Simulation, &AtomicBool) -> Result<(), Error> + Send,
    {
        let simulation = &mut inner.simulation;
        let stop = &*self.trouble.stop;
        let running = &mut *simulation;
        let (outcome, signal) = match place {
            Where::CallingThread => (py.detach(|| work(running, stop)), None),
            Where::OwnThread => while_listening(py, stop, || work(running, stop)),
        };
        stop.store(false, Ordering::Relaxed);
        if let Some(raised) = self.trouble.take().or(signal) {
            return Err(raised);
        }
        py.check_signals()?;
        outcome.map_err(|error| failed(py, simulation, error))
    }

    fn shown<'a>(&self, py: Python, inner: &'a mut Inner) -> PyResult<Option<&'a Shown>> {
        let time = inner.simulation.time();
        if !inner.finished() {
            inner.shown = None;
        } else if inner.shown.as_ref().is_none_or(|s| s.time != time) {
            let history = inner.history(py)?;
            history.values().iter().try_for_each(|column| freeze(&column))?;
            let Some((x, v)) = inner.nodes(py)? else { return Ok(None) };
            freeze(&x)?;
            freeze(&v)?;
            let (x, v, history) = (x.unbind(), v.unbind(), history.unbind());
            inner.shown = Some(Shown { time, x, v, history });
        }
        Ok(inner.shown.as_ref())
    }
}

type Array<'py> = Bound<'py, PyArray2<f64>>;

impl Inner {
    fn finished(&self) -> bool {
        self.simulation.ledger().is_some() && self.simulation.time() >= self.simulation.end()
    }

    fn node_count(&self) -> usize {
        let names = self.simulation.body_names();
        names.iter().filter_map(|name| self.simulation.body(name)).map(|nodes| nodes.end).max().unwrap_or(0)
    }

    fn nodes<'py>(&mut self, py: Python<'py>) -> PyResult<Option<(Array<'py>, Array<'py>)>> {
        match self.simulation.nodes() {
            Some(nodes) => Ok(Some((vectors(py, nodes.x)?, vectors(py, nodes.v)?))),
            None => Ok(None),
        }
    }

    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, table) = (PyDict::new(py), self.simulation.history());
        for name in table.names() {
            let column = table.column(name).unwrap_or_default();
            dict.set_item(name, PyArray1::from_slice(py, column))?;
        }
        Ok(dict)
    }
}

/// The error of a step carries the last good state.
fn failed(py: Python, simulation: &mut carom::Simulation, error: Error) -> PyErr {
    let told = told(error);
    if told.is_instance_of::<SimulationError>(py)
        && let Some(nodes) = simulation.nodes()
    {
        let value = told.value(py);
        let _ = value.setattr("time", nodes.time);
        if let (Ok(x), Ok(v)) = (vectors(py, nodes.x), vectors(py, nodes.v)) {
            let _ = value.setattr("x", x).and_then(|()| value.setattr("v", v));
        }
    }
    told
}

/// Where results go, and where the run begins.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    set: Vec<String>,
    out: Option<PathBuf>,
    before: String,
    threads: Option<usize>,
    loads: Vec<Py<PyAny>>,
    checkpoint: Option<PathBuf>,
}

#[pymethods]
impl Simulation {
    /// From the text of a deck called `name` in messages, whose paths begin at `folder`.
    #[new]
    #[pyo3(signature = (name, text, folder, options))]
    fn new(py: Python, name: &str, text: &str, folder: PathBuf, options: Options) -> PyResult<Self> {
        let trouble = Trouble::default();
        let before = match options.before.as_str() {
            "resume" => Before::Resume,
            "replace" => Before::Replace,
            _ => Before::Keep,
        };
        let mut setup = options.set.iter().fold(carom::Simulation::setup(), |setup, set| setup.set(set));
        if let Some(threads) = options.threads {
            setup = setup.threads(threads);
        }
        if let Some(out) = options.out {
            setup = setup.folder(out, before);
        }
        for function in options.loads {
            setup = setup.load(own_load(function, trouble.clone()));
        }
        let made = py.detach(|| {
            let setup = match options.checkpoint {
                Some(path) => setup.from_checkpoint(path)?,
                None => setup,
            };
            setup.deck(name, text, &folder)
        });
        let simulation = made.map_err(told)?;
        let inner = Inner { simulation, took: SHORT, shown: None };
        Ok(Simulation { inner: Mutex::new(inner), trouble })
    }

    /// Begins: nodes and history are there from now on.
    fn start(&self, py: Python) -> PyResult<()> {
        self.carry(py, |simulation, _| simulation.start())
    }

    fn run(&self, py: Python) -> PyResult<()> {
        self.carry(py, |simulation, stop| simulation.run_until(stop).map(|_| ()))
    }

    fn advance(&self, py: Python, until: f64) -> PyResult<()> {
        self.carry(py, |simulation, stop| simulation.advance_unless(until, stop).map(|_| ()))
    }

    fn step(&self, py: Python) -> PyResult<()> {
        let mut inner = self.lock()?;
        let place = if inner.took < SHORT { Where::CallingThread } else { Where::OwnThread };
        let begin = Instant::now();
        let outcome =
            self.carry_on(py, &mut inner, place, |simulation, stop| simulation.step_unless(stop).map(|_| ()));
        inner.took = begin.elapsed();
        outcome
    }

    fn finish(&self, py: Python) -> PyResult<()> {
        self.carry(py, |simulation, _| simulation.finish())
    }

    fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
        self.carry(py, move |simulation, _| simulation.save(path))
    }

    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.simulation.time())
    }

    #[getter]
    fn end(&self) -> PyResult<f64> {
        Ok(self.lock()?.simulation.end())
    }

    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.lock()?.simulation.threads())
    }

    #[getter]
    fn finished(&self) -> PyResult<bool> {
        Ok(self.lock()?.finished())
    }

    /// Positions and velocities; a view that nobody writes on once the run is finished, copies before.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<(Array<'py>, Array<'py>)> {
        self.begun(py)?;
        let mut inner = self.lock()?;
        if let Some(shown) = self.shown(py, &mut inner)? {
            return Ok((shown.x.bind(py).clone(), shown.v.bind(py).clone()));
        }
        inner.nodes(py)?.ok_or_else(|| PyRuntimeError::new_err("this run could not begin"))
    }

    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.begun(py)?;
        let mut inner = self.lock()?;
        match self.shown(py, &mut inner)? {
            Some(shown) => Ok(shown.history.bind(py).clone()),
            None => inner.history(py),
        }
    }

    /// Names of bodies, then of obstacles.
    fn body_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.simulation.body_names().iter().map(|n| n.to_string()).collect())
    }

    /// The nodes of each body.
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, inner) = (PyDict::new(py), self.lock()?);
        for name in inner.simulation.body_names() {
            if let Some(nodes) = inner.simulation.body(name) {
                dict.set_item(name, PySlice::new(py, nodes.start as isize, nodes.end as isize, 1))?;
            }
        }
        Ok(dict)
    }

    /// Bodies, points, normals, gaps and impulses of what carried an impulse in the last step.
    fn contact_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pairs = self.lock()?.simulation.contact_pairs();
        let bodies: Vec<i64> = pairs.iter().flat_map(|p| p.bodies.map(i64::from)).collect();
        let list = |f: fn(&carom::ContactPair) -> carom::math::Vec3| -> Vec<f64> {
            pairs.iter().flat_map(|p| <[f64; 3]>::from(f(p))).collect()
        };
        let gaps = PyArray1::from_vec(py, pairs.iter().map(|p| p.gap).collect());
        let normals = rows(py, list(|p| p.normal), 3)?;
        let arrays = (PyArray1::from_vec(py, bodies), rows(py, list(|p| p.point), 3)?, normals);
        (arrays.0, arrays.1, arrays.2, gaps, rows(py, list(|p| p.impulse), 3)?).into_pyobject(py)
    }

    /// Impulse that body `by` has given to body `on` since the start.
    fn impulse_between(&self, on: &str, by: &str) -> PyResult<(f64, f64, f64)> {
        let impulse = self.lock()?.simulation.impulse_between(on, by);
        let unknown = || PyValueError::new_err(format!("`{on}` or `{by}` is no body of this deck"));
        impulse.map(|j| (j.x, j.y, j.z)).ok_or_else(unknown)
    }

    fn energies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.begun(py)?;
        let (dict, inner) = (PyDict::new(py), self.lock()?);
        if let Some(l) = inner.simulation.ledger() {
            let numbers = [
                ("kinetic", l.kinetic),
                ("strain", l.strain),
                ("contact", l.contact),
                ("external", l.external),
                ("friction", l.friction),
                ("restitution", l.restitution),
                ("damping", l.damping),
                ("plastic", l.plastic),
                ("correction", l.correction),
                ("total", l.total()),
                ("error", l.error()),
            ];
            numbers.iter().try_for_each(|(name, joules)| dict.set_item(name, joules))?;
        }
        Ok(dict)
    }

    /// What is odd about the deck, and why the result should not be believed.
    fn warnings(&self) -> PyResult<Vec<String>> {
        let inner = self.lock()?;
        let odd = inner.simulation.warnings().iter().map(|w| w.to_string());
        Ok(odd.chain(inner.simulation.summary().map_or(Vec::new(), |s| s.warnings)).collect())
    }

    /// How it has gone so far, as in `summary.json`.
    fn summary(&self, py: Python) -> PyResult<String> {
        self.begun(py)?;
        let summary = self.lock()?.simulation.summary();
        serde_json::to_string(&summary).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    fn set_velocities(
        &self,
        py: Python,
        nodes: PyReadonlyArray1<i64>,
        velocities: PyReadonlyArray2<f64>,
    ) -> PyResult<()> {
        let velocities = to_vectors(&velocities)?;
        let count = self.lock()?.node_count();
        let mut ids = Vec::with_capacity(velocities.len());
        for &node in nodes.as_array() {
            match u32::try_from(node).ok().filter(|n| (*n as usize) < count) {
                Some(id) => ids.push(id),
                None => {
                    return Err(PyIndexError::new_err(format!(
                        "there is no node {node}: nodes are 0 … {}",
                        count - 1
                    )));
                }
            }
        }
        if ids.len() != velocities.len() {
            return Err(PyValueError::new_err("as many velocities as nodes are needed"));
        }
        self.lock()?.shown = None;
        self.carry(py, move |simulation, _| simulation.set_velocities(&ids, &velocities))
    }
}

impl Simulation {
    /// Looking at a run begins it.
    fn begun(&self, py: Python) -> PyResult<()> {
        let begun = self.lock()?.simulation.ledger().is_some();
        if begun { Ok(()) } else { self.start(py) }
    }
}
