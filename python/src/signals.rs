//! Ctrl-C while something computes.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the calling thread looks whether Ctrl-C was pressed.
const POLL: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own and without Python's lock, while the calling thread, which alone can hear signals,
/// listens: a signal raises `stop`, and what it raises in Python comes back with what the work came to.
pub fn while_listening<T: Send>(
    py: Python,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (alive, gone) = channel::<()>();
            let worker = scope.spawn(move || {
                // dropped when the work has ended, well or not
                let _alive = alive;
                work()
            });
            let mut signal = None;
            while gone.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    stop.store(true, Ordering::Relaxed);
                    signal.get_or_insert(raised);
                }
            }
            match worker.join() {
                Ok(done) => (done, signal),
                Err(panic) => resume_unwind(panic),
            }
        })
    })
}
