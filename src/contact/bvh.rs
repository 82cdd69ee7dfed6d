//! Trees of boxes over the nodes, edges or facets of one body, and the walk through two of them.
//!
//! A tree over n primitives has 2n − 1 nodes in breadth-first order, the two children of a node side by
//! side, one primitive per leaf. It splits at the median of the box centres along the longest axis of
//! its box, ties by primitive, so its shape depends on nothing but the input.
//!
//! Boxes are kept in single precision relative to an origin near the scene. What rounding may have cut
//! off, and the distance within which pairs are wanted, are added once, in the test of two boxes:
//!
//! ```text
//! near(A, B)  ⇔  maxₖ max(Aₖ.lo − Bₖ.hi, Bₖ.lo − Aₖ.hi) ≤ r
//! ```
//!
//! So one refit serves any reach, and nothing is inflated twice.
//!
//! Used by `three_stage` and `classic`.

/// A box in single precision, relative to the origin of its user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Box32 {
    pub lo: [f32; 3],
    pub hi: [f32; 3],
}

impl Box32 {
    pub const EMPTY: Box32 = Box32 { lo: [f32::INFINITY; 3], hi: [f32::NEG_INFINITY; 3] };

    #[inline]
    pub fn union(&self, o: &Box32) -> Box32 {
        let mut u = *self;
        for k in 0..3 {
            u.lo[k] = if o.lo[k] < u.lo[k] { o.lo[k] } else { u.lo[k] };
            u.hi[k] = if o.hi[k] > u.hi[k] { o.hi[k] } else { u.hi[k] };
        }
        u
    }
}

/// A node of a tree: 32 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Node {
    lo: [f32; 3],
    /// First of the two children, or the primitive of a leaf.
    link: u32,
    hi: [f32; 3],
    /// Longest edge of the box; −1 marks a leaf, which is never opened.
    size: f32,
}

const LEAF: f32 = -1.0;

impl Node {
    #[inline]
    fn is_leaf(&self) -> bool {
        self.size < 0.0
    }

    #[inline]
    fn bounds(&self) -> Box32 {
        Box32 { lo: self.lo, hi: self.hi }
    }
}

/// Distance of two boxes in the largest-component norm; zero or less if they overlap.
#[inline(always)]
fn separation(a: &Node, b: &Node) -> f32 {
    let larger = |p: f32, q: f32| if p > q { p } else { q };
    let x = larger(a.lo[0] - b.hi[0], b.lo[0] - a.hi[0]);
    let y = larger(a.lo[1] - b.hi[1], b.lo[1] - a.hi[1]);
    let z = larger(a.lo[2] - b.hi[2], b.lo[2] - a.hi[2]);
    larger(larger(x, y), z)
}

/// Half the surface of a box, or its half-perimeter if the whole body is flat.
#[inline]
fn extent(b: &Box32, flat: bool) -> f32 {
    let d = [b.hi[0] - b.lo[0], b.hi[1] - b.lo[1], b.hi[2] - b.lo[2]];
    if flat { d[0] + d[1] + d[2] } else { d[0] * d[1] + d[1] * d[2] + d[2] * d[0] }
}

/// Memory for building, shared by many builds.
#[derive(Clone, Debug, Default)]
pub struct BuildSpace {
    boxes: Vec<Box32>,
    keys: Vec<u64>,
}

impl BuildSpace {
    pub fn memory_bytes(&self) -> usize {
        self.boxes.capacity() * size_of::<Box32>() + self.keys.capacity() * size_of::<u64>()
    }
}

/// A tree over the primitives `first .. first + n`.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Sum of the box extents of inner nodes over that of the root, at the last build and now.
    built_quality: f32,
    quality: f32,
    /// The body is flat or straight: measure boxes by perimeter.
    flat: bool,
    refits: u32,
}

/// Share of a cube's surface measure below which a body counts as flat.
const FLAT: f32 = 1e-4;
/// A tree whose boxes have grown this much against their root is built anew.
const WORN: f32 = 1.5;
/// So is one that was only refitted for this many times.
const OLD: u32 = 500;

impl Tree {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of primitives.
    pub fn leaves(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    /// The box around everything.
    pub fn root(&self) -> Box32 {
        self.nodes.first().map_or(Box32::EMPTY, Node::bounds)
    }

    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }

    /// Would a new build pay?
    pub fn is_worn(&self) -> bool {
        self.refits >= OLD || self.quality > WORN * self.built_quality
    }

    /// Builds from scratch over `n` primitives numbered from `first`.
    pub fn build(&mut self, first: u32, n: usize, space: &mut BuildSpace, bounds: impl Fn(u32) -> Box32) {
        self.nodes.clear();
        self.refits = 0;
        if n == 0 {
            return;
        }
        space.boxes.clear();
        space.boxes.extend((0..n as u32).map(|i| bounds(first + i)));
        space.keys.clear();
        space.keys.extend(0..n as u64);
        self.nodes.reserve(2 * n - 1);

        // A node waiting to be opened keeps its range of keys in (link, size as bits); breadth-first
        // order needs no other queue.
        let waiting = |from: usize, to: usize| Node {
            lo: [0.0; 3],
            link: from as u32,
            hi: [0.0; 3],
            size: f32::from_bits(to as u32),
        };
        self.nodes.push(waiting(0, n));
        let mut at = 0;
        while at < self.nodes.len() {
            let (from, to) = (self.nodes[at].link as usize, self.nodes[at].size.to_bits() as usize);
            let range = &mut space.keys[from..to];
            let mut all = Box32::EMPTY;
            for key in range.iter() {
                all = all.union(&space.boxes[*key as u32 as usize]);
            }
            let next = self.nodes.len();
            let node = &mut self.nodes[at];
            (node.lo, node.hi) = (all.lo, all.hi);
            if to - from == 1 {
                node.link = first + range[0] as u32;
                node.size = LEAF;
            } else {
                let axis = longest_axis(&all);
                node.link = next as u32;
                node.size = all.hi[axis] - all.lo[axis];
                for key in range.iter_mut() {
                    let b = &space.boxes[*key as u32 as usize];
                    *key = (*key & 0xffff_ffff) | u64::from(ordered(b.lo[axis] + b.hi[axis])) << 32;
                }
                let half = range.len() / 2;
                if range.len() == 2 {
                    if range[0] > range[1] {
                        range.swap(0, 1);
                    }
                } else {
                    range.select_nth_unstable(half);
                }
                self.nodes.push(waiting(from, from + half));
                self.nodes.push(waiting(from + half, to));
            }
            at += 1;
        }

        let root = self.nodes[0].bounds();
        self.flat = extent(&root, false) <= FLAT * 3.0 * self.nodes[0].size * self.nodes[0].size;
        let inner = self.nodes.iter().filter(|b| !b.is_leaf());
        let sum: f32 = inner.map(|b| extent(&b.bounds(), self.flat)).sum();
        self.built_quality = sum / extent(&root, self.flat);
        self.quality = self.built_quality;
    }

    /// Fits the boxes to moved primitives, leaves first.
    pub fn refit(&mut self, bounds: impl Fn(u32) -> Box32) {
        let mut sum = 0.0;
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let all = if node.is_leaf() {
                bounds(node.link)
            } else {
                let c = node.link as usize;
                let all = self.nodes[c].bounds().union(&self.nodes[c + 1].bounds());
                let d = [all.hi[0] - all.lo[0], all.hi[1] - all.lo[1], all.hi[2] - all.lo[2]];
                let longer = |p: f32, q: f32| if p > q { p } else { q };
                self.nodes[i].size = longer(longer(d[0], d[1]), d[2]);
                sum +=
                    if self.flat { d[0] + d[1] + d[2] } else { d[0] * d[1] + d[1] * d[2] + d[2] * d[0] };
                all
            };
            (self.nodes[i].lo, self.nodes[i].hi) = (all.lo, all.hi);
        }
        self.refits += 1;
        if let Some(root) = self.nodes.first() {
            self.quality = sum / extent(&root.bounds(), self.flat);
        }
    }

    /// Primitives whose box meets what `near` accepts (asked for every box on the way), in tree order.
    pub fn visit(&self, mut near: impl FnMut(&Box32) -> bool, mut found: impl FnMut(u32)) {
        if self.nodes.is_empty() || !near(&self.nodes[0].bounds()) {
            return;
        }
        let mut stack = [0u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top] as usize];
            if node.is_leaf() {
                found(node.link);
                continue;
            }
            for c in [node.link + 1, node.link] {
                if near(&self.nodes[c as usize].bounds()) {
                    stack[top] = c;
                    top += 1;
                }
            }
        }
    }
}

/// A median split halves the number of primitives, so a path has at most 32 nodes per tree; each opening
/// adds one to the stack.
const STACK: usize = 72;

#[inline]
fn longest_axis(b: &Box32) -> usize {
    let d = [b.hi[0] - b.lo[0], b.hi[1] - b.lo[1], b.hi[2] - b.lo[2]];
    if d[0] >= d[1] && d[0] >= d[2] {
        0
    } else if d[1] >= d[2] {
        1
    } else {
        2
    }
}

/// Bits that order like the number they come from.
#[inline]
fn ordered(v: f32) -> u32 {
    let bits = (v + 0.0).to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 0x8000_0000)
}

/// Are the boxes around two whole trees within `r`?
pub fn roots_near(a: &Tree, b: &Tree, r: f32) -> bool {
    match (a.nodes.first(), b.nodes.first()) {
        (Some(p), Some(q)) => separation(p, q) <= r,
        _ => false,
    }
}

/// Two nodes, one of each tree, whose boxes are near.
pub type NodePair = [u32; 2];

/// Reports every pair of primitives whose boxes are within `r`, starting below the near pair `from`;
/// returns the number of box tests. The larger box is opened first, the first one if they are equal.
#[inline]
pub fn walk(a: &Tree, b: &Tree, from: NodePair, r: f32, mut found: impl FnMut(u32, u32)) -> u64 {
    let (p, q) = (&a.nodes[..], &b.nodes[..]);
    let [i, j] = from.map(|i| i as usize);
    if p[i].is_leaf() && q[j].is_leaf() {
        found(p[i].link, q[j].link);
        return 0;
    }
    let mut tests = 0;
    let mut stack = [from; STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let [i, j] = stack[top];
        let (m, n) = (&p[i as usize], &q[j as usize]);
        tests += 2;
        if m.size >= n.size {
            // Last child first, so that the first is on top of the stack.
            for c in [m.link + 1, m.link] {
                let child = &p[c as usize];
                if separation(child, n) <= r {
                    if child.is_leaf() && n.is_leaf() {
                        found(child.link, n.link);
                    } else {
                        stack[top] = [c, j];
                        top += 1;
                    }
                }
            }
        } else {
            for c in [n.link + 1, n.link] {
                let child = &q[c as usize];
                if separation(m, child) <= r {
                    if m.is_leaf() && child.is_leaf() {
                        found(m.link, child.link);
                    } else {
                        stack[top] = [i, c];
                        top += 1;
                    }
                }
            }
        }
    }
    tests
}

/// Splits the walk through two trees into at least `parts` independent starts (fewer if there is less to
/// do), breadth first; returns the number of box tests.
pub fn split_walk(a: &Tree, b: &Tree, r: f32, parts: usize, out: &mut Vec<NodePair>) -> u64 {
    out.clear();
    let mut tests = 1;
    if a.is_empty() || b.is_empty() || separation(&a.nodes[0], &b.nodes[0]) > r {
        return tests;
    }
    out.push([0, 0]);
    while out.len() < parts {
        // One generation: open every pair once, in place and in order.
        let generation = out.len();
        let mut opened = false;
        for at in 0..generation {
            let [i, j] = out[at];
            let (m, n) = (&a.nodes[i as usize], &b.nodes[j as usize]);
            if m.is_leaf() && n.is_leaf() {
                out.push([i, j]);
                continue;
            }
            opened = true;
            tests += 2;
            let first = m.size >= n.size;
            let link = if first { m.link } else { n.link };
            for c in [link, link + 1] {
                let (i, j) = if first { (c, j) } else { (i, c) };
                if separation(&a.nodes[i as usize], &b.nodes[j as usize]) <= r {
                    out.push([i, j]);
                }
            }
        }
        out.drain(..generation);
        if !opened || out.is_empty() {
            break;
        }
    }
    tests
}

/// Reports every unordered pair of different primitives of one tree whose boxes are within `r`; returns
/// the number of box tests.
pub fn walk_self(tree: &Tree, r: f32, mut found: impl FnMut(u32, u32)) -> u64 {
    let nodes = &tree.nodes[..];
    if nodes.is_empty() {
        return 0;
    }
    let mut tests = 0;
    // A node against itself opens into three pairs instead of two: room for twice the depth.
    let mut stack = [[0u32; 2]; 2 * STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let [i, j] = stack[top];
        let (m, n) = (&nodes[i as usize], &nodes[j as usize]);
        if i == j {
            if !m.is_leaf() {
                let c = m.link;
                for pair in [[c + 1, c + 1], [c, c + 1], [c, c]] {
                    stack[top] = pair;
                    top += 1;
                }
            }
            continue;
        }
        tests += 1;
        if separation(m, n) > r {
            continue;
        }
        if m.is_leaf() && n.is_leaf() {
            found(m.link, n.link);
            continue;
        }
        let first = m.size >= n.size;
        let link = if first { m.link } else { n.link };
        for c in [link + 1, link] {
            stack[top] = if first { [c, j] } else { [i, c] };
            top += 1;
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(mut x: u64) -> f32 {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }

    fn boxes(n: usize, seed: u64, size: f32) -> Vec<Box32> {
        (0..n as u64)
            .map(|i| {
                let lo = [0, 1, 2].map(|k| hash(seed + 17 * i + k));
                Box32 { lo, hi: lo.map(|v| v + size * hash(seed + 17 * i + 9)) }
            })
            .collect()
    }

    fn gap(a: &Box32, b: &Box32) -> f32 {
        (0..3).map(|k| (a.lo[k] - b.hi[k]).max(b.lo[k] - a.hi[k])).fold(f32::NEG_INFINITY, f32::max)
    }

    /// The walk, whole or in parts, finds exactly the near pairs that all-pairs comparison finds.
    #[test]
    fn two_trees_report_the_near_pairs_of_all_pairs() {
        for (n, m, size, r) in [(1, 1, 0.5, 0.6), (1, 40, 0.2, 0.0), (90, 57, 0.1, 0.05), (200, 200, 0.0, 0.1)]
        {
            let (p, q) = (boxes(n, 5, size), boxes(m, 77, size));
            let (mut a, mut b, mut space) = (Tree::default(), Tree::default(), BuildSpace::default());
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
                    walk(&a, &b, s, r, |i, j| found.push((i, j)));
                }
                found.sort_unstable();
                assert_eq!(found, brute);
            }
        }
    }

    /// Unordered pairs within one tree, each once.
    #[test]
    fn one_tree_reports_its_own_near_pairs_once() {
        let p = boxes(150, 3, 0.1);
        let mut tree = Tree::default();
        tree.build(0, 150, &mut BuildSpace::default(), |i| p[i as usize]);
        let mut found = Vec::new();
        walk_self(&tree, 0.02, |i, j| found.push((i.min(j), i.max(j))));
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
                assert_eq!(node.bounds(), q[node.link as usize]);
            } else {
                let c = node.link as usize;
                assert_eq!(node.bounds(), old.nodes[c].bounds().union(&old.nodes[c + 1].bounds()), "{i}");
            }
        }
        // All order is lost: the boxes of inner nodes have become as large as the root's.
        assert!(old.is_worn());
    }
}
