//! Ctrl-C and termination: the run stops between two steps, keeps a checkpoint and says how it ended.
//!
//! `signal-hook` and not `ctrlc`: the exit code depends on which signal came, and `ctrlc` does not tell. Its flags
//! need no thread and no `unsafe` here.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
