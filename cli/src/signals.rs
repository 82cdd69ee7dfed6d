//! Ctrl-C and termination: the run stops between two steps, keeps a checkpoint and says how it ended.
//!
//! `signal-hook` and not `ctrlc`: the exit code depends on which signal came, and `ctrlc` does not tell. Its flags
//! need no thread and no `unsafe` here.

use crate::exit::{Failure, INTERNAL, complain};
use carom::simulation::mark_interrupted;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Raised when somebody wants the run to stop.
pub struct Stop {
    pub flag: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Stop {
    /// From now on the first signal raises the flag; a second one ends the program at once.
    pub fn listen() -> io::Result<Stop> {
        let stop = Stop { flag: Arc::default(), which: Arc::default() };
        for (signal, code) in [(SIGINT, 130), (SIGTERM, 143)] {
            flag::register_conditional_shutdown(signal, code, Arc::clone(&stop.flag))?;
            flag::register_usize(signal, Arc::clone(&stop.which), code as usize)?;
            flag::register(signal, Arc::clone(&stop.flag))?;
        }
        // A limit on file sizes then shows as an error of the write that met it, not as sudden death.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
        Ok(stop)
    }

    pub fn raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Exit code of the signal that came.
    pub fn code(&self) -> u8 {
        if self.which.load(Ordering::Relaxed) == 143 { 143 } else { 130 }
    }
}

/// How long a stop may go unheard: methods listen between steps and inside long ones, but a single factorisation or the set-up of a
/// large model may take longer.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Ends the program if a stop is not heard in time. Nothing is lost but the way from the last checkpoint.
pub struct Patience(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Taken by whoever comes first: the end of the run, or the end of patience.
    over: AtomicBool,
    /// Where results are, once there are any.
    folder: Mutex<Option<PathBuf>>,
}

/// Listens from now on, and ends the program if nobody else does so in time.
pub fn listen() -> Result<(Stop, Patience), Failure> {
    let stop =
        Stop::listen().map_err(|e| Failure::new(INTERNAL, format!("cannot listen to signals: {e}")))?;
    let patience = Patience::begin(&stop);
    Ok((stop, patience))
}

impl Patience {
    fn begin(stop: &Stop) -> Patience {
        let shared = Arc::new(Shared::default());
        let (mine, flag, which) = (Arc::clone(&shared), Arc::clone(&stop.flag), Arc::clone(&stop.which));
        thread::spawn(move || {
            let mut since = None;
            while !mine.over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(50));
                if flag.load(Ordering::Relaxed) && since.get_or_insert_with(Instant::now).elapsed() > PATIENCE
                {
                    mine.give_up(which.load(Ordering::Relaxed));
                }
            }
        });
        Patience(shared)
    }

    /// From now on there is something to lose in `folder`.
    pub fn guard(&self, folder: &Path) {
        *self.0.folder.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
    }

    /// The run has ended by itself; if patience ended first, the program is on its way out.
    pub fn end(&self) {
        if self.0.over.swap(true, Ordering::SeqCst) {
            loop {
                thread::park();
            }
        }
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    fn give_up(&self, code: usize) {
        if self.over.swap(true, Ordering::SeqCst) {
            return;
        }
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match folder {
            Some(folder) if mark_interrupted(&folder).is_ok() => complain(&format!(
                "interrupted in the middle of a long step; results in {} are valid, --resume continues from the last checkpoint",
                folder.display()
            )),
            _ => complain("interrupted"),
        }
        std::process::exit(if code == 143 { 143 } else { 130 });
    }
}
