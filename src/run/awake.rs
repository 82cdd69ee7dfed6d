//! Threads that stay awake while steps go on.
//!
//! A step of a small problem lasts a millisecond or less and is a dozen parallel passages with a little work of one thread
//! between them. A thread that falls asleep in each of these gaps, as rayon's do after some microseconds, costs as much to
//! wake as the passage takes. So all threads of the pool stand by while a run advances, and go to sleep when nobody has
//! wanted them for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the threads are waited for, and how long they stand by without work.
const GATHERING: Duration = Duration::from_micros(200);
const IDLE: Duration = Duration::from_millis(2);
/// Looks for work before the processor is offered to others, and before the clock is read.
const LOOKS: u32 = 64;

/// Threads that come are waited for; work goes on; it is over.
const OPEN: u32 = 0;
const BUSY: u32 = 1;
const OVER: u32 = 2;

#[derive(Default)]
struct Watch {
    state: AtomicU32,
    here: AtomicUsize,
}

impl Watch {
    /// Takes part in whatever work the pool has until it is over, or there was none for a while.
    ///
    /// Who comes when work goes on already leaves at once: he may be called in the midst of a part of that work, which
    /// would then wait for its own end.
    fn stand_by(&self) {
        if self.state.load(Ordering::Acquire) != OPEN {
            return;
        }
        self.here.fetch_add(1, Ordering::AcqRel);
        let (mut idle, mut since) = (0u32, Instant::now());
        while self.state.load(Ordering::Acquire) != OVER {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                idle = 0;
                continue;
            }
            idle += 1;
            if idle == 1 {
                since = Instant::now();
            }
            if idle % LOOKS != 0 {
                std::hint::spin_loop();
                continue;
            }
            if since.elapsed() > IDLE {
                return;
            }
            std::thread::yield_now();
        }
    }
}

/// Ends the watch, also where the work panics.
struct End(Arc<Watch>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.state.store(OVER, Ordering::Release);
    }
}

/// Does `work` while all other threads of the current pool stand by.
pub(crate) fn awake<R>(work: impl FnOnce() -> R) -> R {
    let others = rayon::current_num_threads() - 1;
    if others == 0 || rayon::current_thread_index().is_none() {
        return work();
    }
    let end = End(Arc::new(Watch::default()));
    let watch = end.0.clone();
    rayon::spawn_broadcast(move |_| watch.stand_by());
    let begin = Instant::now();
    while end.0.here.load(Ordering::Acquire) < others && begin.elapsed() < GATHERING {
        std::hint::spin_loop();
    }
    end.0.state.store(BUSY, Ordering::Release);
    work()
}
