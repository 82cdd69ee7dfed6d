//! Trees of boxes over the nodes, edges or facets of one body, and the walk through two of them.
//!
//! Nodes stand in breadth-first order, the two children of a node side by side. A tree splits at the
//! median of the box centres along the longest axis of its box, ties by primitive, so its shape depends
//! on nothing but the input. A leaf holds a block of up to eight primitives whose boxes lie coordinate by
//! coordinate, so that one box is compared with all of them at once and without a branch; with one
//! primitive per leaf the tree is the textbook's, and its counts are those of the literature.
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

/// A box in single precision, relative to the origin of its user. Four lanes, the last of no meaning, so that a union
/// is two instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Box32 {
    pub lo: [f32; 4],
    pub hi: [f32; 4],
}

impl Box32 {
    pub(crate) const EMPTY: Box32 = Box32 { lo: [f32::INFINITY; 4], hi: [f32::NEG_INFINITY; 4] };

    #[inline]
    pub(crate) fn union(&self, o: &Box32) -> Box32 {
        let mut u = *self;
        for k in 0..4 {
            u.lo[k] = if o.lo[k] < u.lo[k] { o.lo[k] } else { u.lo[k] };
            u.hi[k] = if o.hi[k] > u.hi[k] { o.hi[k] } else { u.hi[k] };
        }
        u
    }
}

/// Most primitives of a leaf.
pub(crate) const WIDTH: usize = 16;

/// A node of a tree: 32 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Node {
    lo: [f32; 3],
    /// First of the two children, or the block of a leaf.
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
    fn enclose(&mut self, b: &Box32) {
        (self.lo, self.hi) = ([b.lo[0], b.lo[1], b.lo[2]], [b.hi[0], b.hi[1], b.hi[2]]);
    }

    #[inline]
    fn bounds(&self) -> Box32 {
        let ([a, b, c], [d, e, f]) = (self.lo, self.hi);
        Box32 { lo: [a, b, c, 0.0], hi: [d, e, f, 0.0] }
    }
}

/// The primitives of a leaf. Places not in use hold boxes that are near nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Block {
    lo: [[f32; WIDTH]; 3],
    hi: [[f32; WIDTH]; 3],
    ids: [u32; WIDTH],
    count: u32,
}

impl Block {
    const EMPTY: Block = Block {
        lo: [[f32::INFINITY; WIDTH]; 3],
        hi: [[f32::NEG_INFINITY; WIDTH]; 3],
        ids: [0; WIDTH],
        count: 0,
    };

    #[inline]
    fn set(&mut self, i: usize, b: &Box32) {
        for k in 0..3 {
            self.lo[k][i] = b.lo[k];
            self.hi[k][i] = b.hi[k];
        }
    }

    #[inline]
    fn get(&self, i: usize) -> Box32 {
        Box32 {
            lo: [self.lo[0][i], self.lo[1][i], self.lo[2][i], 0.0],
            hi: [self.hi[0][i], self.hi[1][i], self.hi[2][i], 0.0],
        }
    }

    /// Separation of one box from each box of the block.
    #[inline(always)]
    fn separations(&self, b: &Box32) -> [f32; WIDTH] {
        let larger = |p: f32, q: f32| if p > q { p } else { q };
        let mut d = [0.0; WIDTH];
        for (l, d) in d.iter_mut().enumerate() {
            let x = larger(self.lo[0][l] - b.hi[0], b.lo[0] - self.hi[0][l]);
            let y = larger(self.lo[1][l] - b.hi[1], b.lo[1] - self.hi[1][l]);
            let z = larger(self.lo[2][l] - b.hi[2], b.lo[2] - self.hi[2][l]);
            *d = larger(larger(x, y), z);
        }
        d
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
pub(crate) struct BuildSpace {
    boxes: Vec<Box32>,
    keys: Vec<u64>,
}

impl BuildSpace {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.boxes.capacity() * size_of::<Box32>() + self.keys.capacity() * size_of::<u64>()
    }
}

/// A tree over the primitives `first .. first + n`.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    blocks: Vec<Block>,
    primitives: usize,
    /// Most primitives of a leaf, 1 … [`WIDTH`].
    leaf: usize,
    /// Sum of the box extents of inner nodes over that of the root, at the last build and now.
    built_quality: f32,
    quality: f32,
    /// The body is flat or straight: measure boxes by perimeter.
    flat: bool,
    refits: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Tree::with_leaves_of(WIDTH)
    }
}

/// Share of a cube's surface measure below which a body counts as flat.
const FLAT: f32 = 1e-4;
/// A tree whose boxes have grown this much against their root is built anew.
const WORN: f32 = 1.5;
/// So is one that was only refitted for this many times.
const OLD: u32 = 500;

impl Tree {
    /// A tree with at most `leaf` primitives per leaf.
    pub(crate) fn with_leaves_of(leaf: usize) -> Tree {
        Tree {
            nodes: Vec::new(),
            blocks: Vec::new(),
            primitives: 0,
            leaf: leaf.clamp(1, WIDTH),
            built_quality: 0.0,
            quality: 0.0,
            flat: false,
            refits: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of primitives.
    pub(crate) fn len(&self) -> usize {
        self.primitives
    }

    /// The box around everything.
    #[cfg(test)]
    pub(crate) fn root(&self) -> Box32 {
        self.nodes.first().map_or(Box32::EMPTY, Node::bounds)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.blocks.capacity() * size_of::<Block>()
    }

    /// Would a new build pay?
    pub(crate) fn is_worn(&self) -> bool {
        self.refits >= OLD || self.quality > WORN * self.built_quality
    }

    /// Builds from scratch over `n` primitives numbered from `first`.
    pub(crate) fn build(
        &mut self,
        first: u32,
        n: usize,
        space: &mut BuildSpace,
        bounds: impl Fn(u32) -> Box32,
    ) {
        self.nodes.clear();
        self.blocks.clear();
        self.primitives = n;
        self.refits = 0;
        if n == 0 {
            return;
        }
        space.boxes.clear();
        space.boxes.extend((0..n as u32).map(|i| bounds(first + i)));
        space.keys.clear();
        space.keys.extend(0..n as u64);

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
            node.enclose(&all);
            at += 1;
            if range.len() <= self.leaf {
                node.link = self.blocks.len() as u32;
                node.size = LEAF;
                let mut block = Block { count: range.len() as u32, ..Block::EMPTY };
                for (i, key) in range.iter().enumerate() {
                    let local = *key as u32;
                    block.ids[i] = first + local;
                    block.set(i, &space.boxes[local as usize]);
                }
                self.blocks.push(block);
                continue;
            }
            let axis = longest_axis(&all);
            node.link = next as u32;
            node.size = length(&all, axis);
            for key in range.iter_mut() {
                let b = &space.boxes[*key as u32 as usize];
                *key = (*key & 0xffff_ffff) | u64::from(ordered(b.lo[axis] + b.hi[axis])) << 32;
            }
            // The median, moved to the next full leaf.
            let half = range.len().div_ceil(self.leaf) / 2 * self.leaf;
            range.select_nth_unstable(half);
            self.nodes.push(waiting(from, from + half));
            self.nodes.push(waiting(from + half, to));
        }

        let root = self.nodes[0].bounds();
        let longest = root.hi[longest_axis(&root)] - root.lo[longest_axis(&root)];
        self.flat = extent(&root, false) <= FLAT * 3.0 * longest * longest;
        let sum: f32 = self.nodes.iter().map(|b| extent(&b.bounds(), self.flat)).sum();
        self.built_quality = sum / extent(&root, self.flat);
        self.quality = self.built_quality;
    }

    /// Fits the boxes to moved primitives, leaves first.
    pub(crate) fn refit(&mut self, bounds: impl Fn(u32) -> Box32) {
        let mut sum = 0.0;
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let all = if node.is_leaf() {
                let block = &mut self.blocks[node.link as usize];
                let mut all = Box32::EMPTY;
                for l in 0..block.count as usize {
                    let b = bounds(block.ids[l]);
                    block.set(l, &b);
                    all = all.union(&b);
                }
                all
            } else {
                let c = node.link as usize;
                let all = self.nodes[c].bounds().union(&self.nodes[c + 1].bounds());
                let axis = longest_axis(&all);
                self.nodes[i].size = length(&all, axis);
                all
            };
            sum += extent(&all, self.flat);
            self.nodes[i].enclose(&all);
        }
        self.refits += 1;
        if let Some(root) = self.nodes.first() {
            self.quality = sum / extent(&root.bounds(), self.flat);
        }
    }

    /// Primitives whose box meets what `near` accepts (asked for every box on the way), in tree order.
    pub(crate) fn visit(&self, mut near: impl FnMut(&Box32) -> bool, mut found: impl FnMut(u32)) {
        if self.nodes.is_empty() || !near(&self.nodes[0].bounds()) {
            return;
        }
        let mut stack = [0u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top] as usize];
            if node.is_leaf() {
                let block = &self.blocks[node.link as usize];
                for l in 0..block.count as usize {
                    if block.count == 1 || near(&block.get(l)) {
                        found(block.ids[l]);
                    }
                }
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

/// A median split halves the number of leaves, so a path has at most 32 nodes per tree; each opening adds
/// one to the stack.
const STACK: usize = 72;

/// Length of a box along an axis, and none where it has no number (a run that has blown up): it never looks like that of a leaf.
#[inline]
fn length(b: &Box32, axis: usize) -> f32 {
    (b.hi[axis] - b.lo[axis]).max(0.0)
}

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
pub(crate) fn roots_near(a: &Tree, b: &Tree, r: f32) -> bool {
    match (a.nodes.first(), b.nodes.first()) {
        (Some(p), Some(q)) => separation(p, q) <= r,
        _ => false,
    }
}

/// Two nodes, one of each tree, whose boxes are near.
pub(crate) type NodePair = [u32; 2];

/// Pairs of primitives as they come out of two leaves.
type Found = [[u32; 2]; WIDTH * WIDTH];

/// Bit l is set where `d[l] ≤ r`.
#[inline(always)]
fn mask(d: &[f32; WIDTH], r: f32) -> u32 {
    let mut bits = 0;
    for (l, &d) in d.iter().enumerate() {
        bits |= u32::from(d <= r) << l;
    }
    bits
}

/// Compares two leaves, `around` being the box of the second; returns the number of box tests.
#[inline(always)]
fn compare(
    p: &Block,
    q: &Block,
    around: &Node,
    r: f32,
    pairs: &mut Found,
    found: &mut impl FnMut(&[[u32; 2]]),
) -> u64 {
    if p.count == 1 && q.count == 1 {
        // Their boxes are those of the leaves, which are near.
        found(&[[p.ids[0], q.ids[0]]]);
        return 0;
    }
    let mut n = 0;
    // Only what is near the second leaf as a whole is compared with its parts.
    let mut rows = mask(&p.separations(&around.bounds()), r);
    let tests = p.count + rows.count_ones() * q.count;
    while rows != 0 {
        let i = rows.trailing_zeros() as usize;
        rows &= rows - 1;
        let mut near = mask(&q.separations(&p.get(i)), r);
        while near != 0 {
            pairs[n & (WIDTH * WIDTH - 1)] = [p.ids[i], q.ids[near.trailing_zeros() as usize]];
            near &= near - 1;
            n += 1;
        }
    }
    if n > 0 {
        found(&pairs[..n]);
    }
    u64::from(tests)
}

/// Reports every pair of primitives whose boxes are within `r`, in batches, starting below the near pair
/// `from`; returns the number of box tests. The larger box is opened first, the first one if they are
/// equal.
#[inline(always)]
pub(crate) fn walk(a: &Tree, b: &Tree, from: NodePair, r: f32, mut found: impl FnMut(&[[u32; 2]])) -> u64 {
    let (p, q) = (&a.nodes[..], &b.nodes[..]);
    let [i, j] = from.map(|i| i as usize);
    let mut pairs: Found = [[0; 2]; WIDTH * WIDTH];
    if p[i].is_leaf() && q[j].is_leaf() {
        return compare(
            &a.blocks[p[i].link as usize],
            &b.blocks[q[j].link as usize],
            &q[j],
            r,
            &mut pairs,
            &mut found,
        );
    }
    let mut tests = 0;
    let mut stack = [from; STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let [i, j] = stack[top];
        let (m, n) = (&p[i as usize], &q[j as usize]);
        if m.is_leaf() && n.is_leaf() {
            tests +=
                compare(&a.blocks[m.link as usize], &b.blocks[n.link as usize], n, r, &mut pairs, &mut found);
            continue;
        }
        tests += 2;
        // Last child first, so that the first is on top of the stack.
        if m.size >= n.size {
            for c in [m.link + 1, m.link] {
                stack[top] = [c, j];
                top += usize::from(separation(&p[c as usize], n) <= r);
            }
        } else {
            for c in [n.link + 1, n.link] {
                stack[top] = [i, c];
                top += usize::from(separation(m, &q[c as usize]) <= r);
            }
        }
    }
    tests
}

/// Splits the walk through two trees into at least `parts` independent starts (fewer if there is less to
/// do), breadth first; returns the number of box tests.
pub(crate) fn split_walk(a: &Tree, b: &Tree, r: f32, parts: usize, out: &mut Vec<NodePair>) -> u64 {
    out.clear();
    let mut tests = 1;
    if !roots_near(a, b, r) {
        return tests;
    }
    out.push([0, 0]);
    while out.len() < parts {
        // One generation: open every pair once, in order.
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
pub(crate) fn walk_self(tree: &Tree, r: f32, mut found: impl FnMut(&[[u32; 2]])) -> u64 {
    let nodes = &tree.nodes[..];
    if nodes.is_empty() {
        return 0;
    }
    let mut tests = 0;
    let mut pairs: Found = [[0; 2]; WIDTH * WIDTH];
    // A node against itself opens into three pairs instead of two: room for twice the depth.
    let mut stack = [[0u32; 2]; 2 * STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let [i, j] = stack[top];
        let (m, n) = (&nodes[i as usize], &nodes[j as usize]);
        if i == j {
            if m.is_leaf() {
                let block = &tree.blocks[m.link as usize];
                compare(block, block, m, r, &mut pairs, &mut |near: &[[u32; 2]]| {
                    for pair in near.iter().filter(|p| p[0] < p[1]) {
                        found(&[*pair]);
                    }
                });
                tests += u64::from(block.count * (block.count - 1) / 2);
            } else {
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
            tests += compare(
                &tree.blocks[m.link as usize],
                &tree.blocks[n.link as usize],
                n,
                r,
                &mut pairs,
                &mut found,
            );
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
mod tests;
