//! A contact search in a steady state asks for no memory: counted by an allocator of its own, with one
//! thread and with two.

mod counting;

use carom::contact::bench_scenes::{pile, pile_motion};
use carom::contact::search::{PairSearch, Query};
use carom::contact::three_stage::ThreeStage;
use counting::ALLOCATIONS;
use std::sync::atomic::Ordering;

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
