//! Trees against all pairs.

use super::*;

fn hash(mut x: u64) -> f32 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}

fn boxes(n: usize, seed: u64, size: f32) -> Vec<Box32> {
    (0..n as u64)
        .map(|i| {
            let [a, b, c] = [0, 1, 2].map(|k| hash(seed + 17 * i + k));
            let edge = size * hash(seed + 17 * i + 9);
            Box32 { lo: [a, b, c, 0.0], hi: [a + edge, b + edge, c + edge, 0.0] }
        })
        .collect()
}

fn gap(a: &Box32, b: &Box32) -> f32 {
    (0..3).map(|k| (a.lo[k] - b.hi[k]).max(b.lo[k] - a.hi[k])).fold(f32::NEG_INFINITY, f32::max)
}

/// The walk, whole or in parts, finds exactly the near pairs that all-pairs comparison finds.
#[test]
fn two_trees_report_the_near_pairs_of_all_pairs() {
    for (n, m, size, r) in [(1, 1, 0.5, 0.6), (1, 40, 0.2, 0.0), (90, 57, 0.1, 0.05), (200, 200, 0.0, 0.1)] {
        let (p, q) = (boxes(n, 5, size), boxes(m, 77, size));
        let (mut a, mut b, mut space) = (Tree::default(), Tree::with_leaves_of(1), BuildSpace::default());
        a.build(10, n, &mut space, |i| p[i as usize - 10]);
        b.build(0, m, &mut space, |i| q[i as usize]);
        let mut brute: Vec<(u32, u32)> = (0..n)
            .flat_map(|i| (0..m).map(move |j| (i, j)))
            .filter(|&(i, j)| gap(&p[i], &q[j]) <= r)
            .map(|(i, j)| (i as u32 + 10, j as u32))
            .collect();
        brute.sort_unstable();
        for parts in [1, 7, 64] {
            let (mut starts, mut found) = (Vec::new(), Vec::new());
            split_walk(&a, &b, r, parts, &mut starts);
            for s in starts {
                walk(&a, &b, s, r, |p| found.extend(p.iter().map(|p| (p[0], p[1]))));
            }
            found.sort_unstable();
            assert_eq!(found, brute);
        }
    }
}

/// What has blown up is found or not, but nobody falls.
#[test]
fn boxes_without_end_are_walked_through() {
    let mut p = boxes(100, 5, 0.1);
    let far = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    p.iter_mut()
        .step_by(3)
        .enumerate()
        .for_each(|(k, b)| (b.lo[k % 3], b.hi[k % 3]) = (far[k % 2 + 1], far[k % 3]));
    let (q, mut space) = (boxes(40, 77, 0.1), BuildSpace::default());
    let (mut a, mut b) = (Tree::default(), Tree::with_leaves_of(1));
    a.build(0, 100, &mut space, |i| p[i as usize]);
    b.build(0, 40, &mut space, |i| q[i as usize]);
    for (a, b) in [(&a, &b), (&b, &a), (&a, &a)] {
        walk(a, b, [0, 0], 0.05, |_| ());
        split_walk(a, b, 0.05, 20, &mut Vec::new());
    }
    walk_self(&a, 0.05, |_| ());
    b.refit(|i| p[i as usize]);
    walk(&a, &b, [0, 0], 0.05, |_| ());
}

/// Unordered pairs within one tree, each once.
#[test]
fn one_tree_reports_its_own_near_pairs_once() {
    let p = boxes(150, 3, 0.1);
    let mut tree = Tree::default();
    tree.build(0, 150, &mut BuildSpace::default(), |i| p[i as usize]);
    let mut found = Vec::new();
    walk_self(&tree, 0.02, |p| found.extend(p.iter().map(|p| (p[0].min(p[1]), p[0].max(p[1])))));
    found.sort_unstable();
    let mut brute = Vec::new();
    for i in 0..150 {
        for j in i + 1..150 {
            if gap(&p[i], &p[j]) <= 0.02 {
                brute.push((i as u32, j as u32));
            }
        }
    }
    assert_eq!(found, brute);
}

/// After any motion a refitted tree has the leaf boxes of a new one and the same root.
#[test]
fn a_refitted_tree_encloses_the_moved_boxes() {
    let (p, q) = (boxes(333, 1, 0.1), boxes(333, 900, 0.3));
    let (mut old, mut new, mut space) = (Tree::default(), Tree::default(), BuildSpace::default());
    old.build(0, 333, &mut space, |i| p[i as usize]);
    new.build(0, 333, &mut space, |i| q[i as usize]);
    assert!(!old.is_worn());
    old.refit(|i| q[i as usize]);
    assert_eq!(old.root(), new.root());
    for (i, node) in old.nodes.iter().enumerate() {
        if node.is_leaf() {
            let block = &old.blocks[node.link as usize];
            for l in 0..block.count as usize {
                assert_eq!(block.get(l), q[block.ids[l] as usize]);
            }
        } else {
            let c = node.link as usize;
            assert_eq!(node.bounds(), old.nodes[c].bounds().union(&old.nodes[c + 1].bounds()), "{i}");
        }
    }
    // All order is lost: the boxes of inner nodes have become as large as the root's.
    assert!(old.is_worn());
}
