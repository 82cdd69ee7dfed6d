//! A contact search in a steady state asks for no memory: counted by an allocator of its own, with one
//! thread and with two.

use carom::contact::bench_scenes::{pile, pile_motion};
use carom::contact::search::{PairSearch, Query};
use carom::contact::three_stage::ThreeStage;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations in one round of a motion after three rounds to warm up. The motion repeats exactly.
fn allocations(threads: usize) -> u64 {
    let bench = pile(27);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut search = ThreeStage::new();
        let mut x = bench.x.clone();
        let (mut before, mut contacts) = (0, 0);
        for round in 0..4 {
            before = if round == 3 { ALLOCATIONS.load(Ordering::Relaxed) } else { before };
            for step in (0..20).chain((0..20).rev()) {
                pile_motion(&bench, step, &mut x);
                search.find(&bench.scene, &x, None, &Query::all(0.01)).unwrap();
                contacts += search.vertex_face().len().min(search.edge_edge().len());
            }
        }
        assert!(contacts > 1000, "{contacts}");
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

#[test]
fn a_steady_search_allocates_nothing() {
    assert_eq!(allocations(1), 0);
    assert_eq!(allocations(2), 0);
}
