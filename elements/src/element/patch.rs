//! Patches: a block's elements in compact groups that fit the cache.
//!
//! A force pass runs patch by patch, each on its own: the nodes of a patch are copied together, the elements
//! read and write them by short local numbers, and the forces on the local nodes are left in the patch's own
//! *slots*. Each node then adds up its slots in a fixed order. Nothing depends on which thread took which
//! patch, and no two threads ever write to one place.

use crate::math::Vec3;
use crate::math::lane::MAX_WIDTH;
use std::ops::Range;

/// Elements per patch: nodes and forces of 256 hexes stay in the first-level cache.
const ELEMENTS: usize = 256;

/// Bits of a local number that say more than which node it is.
pub(super) const TAG_BITS: u32 = 3;

/// The grouping of one block.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// Nodes of an element.
    per_element: usize,
    /// Element ids in the order of the patches.
    elements: Vec<u32>,
    /// Local node numbers, element by element in that order; each patch padded to whole batches by
    /// repeating its last element.
    local: Vec<u16>,
    /// Global ids of the local nodes, patch by patch.
    nodes: Vec<u32>,
    /// Where each patch begins in `elements`, `local` (in padded elements) and `nodes`; one more at the end.
    starts: Vec<[u32; 3]>,
}

impl Patches {
    /// Groups elements along a Morton curve through their centres.
    pub fn new(connectivity: &[u32], per_element: usize, reference: &[Vec3]) -> Self {
        let all: Vec<u32> = (0..(connectivity.len() / per_element) as u32).collect();
        Patches::of_some(&all, connectivity, per_element, reference)
    }

    /// The same for some of the elements, ascending.
    pub fn of_some(ids: &[u32], connectivity: &[u32], per_element: usize, reference: &[Vec3]) -> Self {
        let element = |e: u32| &connectivity[e as usize * per_element..(e as usize + 1) * per_element];
        let mut patches = Patches { per_element, starts: vec![[0; 3]], ..Default::default() };
        patches.elements = morton_order(ids, |e| {
            let sum: Vec3 = element(e).iter().map(|&n| reference[n as usize]).sum();
            sum / per_element as f64
        });
        let mut local_of = std::collections::HashMap::new();
        for chunk in patches.elements.chunks(ELEMENTS) {
            // Nodes in ascending order, so that they are read from memory in passing.
            let begin = patches.nodes.len();
            let mut nodes: Vec<u32> = chunk.iter().flat_map(|&e| element(e)).copied().collect();
            nodes.sort_unstable();
            nodes.dedup();
            local_of.clear();
            local_of.extend(nodes.iter().enumerate().map(|(i, &n)| (n, i as u16)));
            patches.nodes.extend(&nodes);
            debug_assert!(patches.nodes.len() - begin <= ELEMENTS * MAX_WIDTH);
            for &e in chunk {
                patches.local.extend(element(e).iter().map(|n| local_of[n]));
            }
            let last = patches.local.len() - per_element..patches.local.len();
            for _ in chunk.len()..chunk.len().next_multiple_of(MAX_WIDTH) {
                patches.local.extend_from_within(last.clone());
            }
            let elements = patches.starts.last().map_or(0, |s| s[0]) + chunk.len() as u32;
            patches.starts.push([
                elements,
                (patches.local.len() / per_element) as u32,
                patches.nodes.len() as u32,
            ]);
        }
        patches
    }

    /// Groups potentials whose stencils differ in length; local numbers stand one stencil after the other, not padded.
    /// Those of one `class` stand together in a patch. A tag of up to `TAG_BITS` goes with each node into the local number.
    pub fn of_stencils<I: Iterator<Item = (u32, u8)>>(
        ids: &[u32],
        stencil: impl Fn(u32) -> I,
        class: impl Fn(u32) -> u32,
        reference: &[Vec3],
    ) -> Self {
        let mut patches = Patches { per_element: 1, starts: vec![[0; 3]], ..Default::default() };
        let ordered = morton_order(ids, |i| {
            let (sum, count) =
                stencil(i).fold((Vec3::zeros(), 0.0), |(s, c), (n, _)| (s + reference[n as usize], c + 1.0));
            sum / count
        });
        let mut rest = &ordered[..];
        while !rest.is_empty() {
            // as many as local numbers can count, whatever the stencils
            let mut room = 1usize << (16 - TAG_BITS);
            let fits = |&&i: &&u32| {
                let length = stencil(i).count();
                let fits = length <= room;
                room = room.saturating_sub(length);
                fits
            };
            let count = rest.iter().take(ELEMENTS).take_while(fits).count().max(1);
            let (chunk, others) = rest.split_at(count);
            rest = others;
            let mut chunk = chunk.to_vec();
            chunk.sort_by_key(|&i| class(i));
            let mut nodes: Vec<u32> = chunk.iter().flat_map(|&i| stencil(i)).map(|(n, _)| n).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let local = |(n, tag): (u32, u8)| {
                nodes.partition_point(|&m| m < n) as u16 | (tag as u16) << (16 - TAG_BITS)
            };
            patches.local.extend(chunk.iter().flat_map(|&i| stencil(i)).map(local));
            patches.nodes.extend(&nodes);
            patches.elements.extend(&chunk);
            let elements = patches.elements.len() as u32;
            patches.starts.push([elements, patches.local.len() as u32, patches.nodes.len() as u32]);
        }
        patches
    }

    /// Adds the patches of others, whose ids are counted from `first` on.
    pub fn append(&mut self, other: &Patches, first: u32) {
        debug_assert!(self.per_element == 1);
        let base = [self.elements.len(), self.local.len(), self.nodes.len()].map(|n| n as u32);
        self.elements.extend(other.elements.iter().map(|e| e + first));
        self.local.extend(&other.local);
        self.nodes.extend(&other.nodes);
        let per = other.per_element as u32;
        self.starts
            .extend(other.starts[1..].iter().map(|s| [s[0] + base[0], s[1] * per + base[1], s[2] + base[2]]));
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Places of the patch in the order of [`Patches::elements`].
    pub fn range(&self, patch: usize) -> Range<usize> {
        self.starts[patch][0] as usize..self.starts[patch + 1][0] as usize
    }

    /// Element ids, patch after patch.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// Global ids of the local nodes of a patch.
    pub fn nodes(&self, patch: usize) -> &[u32] {
        &self.nodes[self.starts[patch][2] as usize..self.starts[patch + 1][2] as usize]
    }

    /// Global ids of the local nodes of all patches, one slot each.
    pub fn all_nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Local node numbers of the elements of a patch, padded to whole batches.
    pub fn local(&self, patch: usize) -> &[u16] {
        let at = |p: usize| self.starts[p][1] as usize * self.per_element;
        &self.local[at(patch)..at(patch + 1)]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.elements.len() * 4 + self.local.len() * 2 + self.nodes.len() * 4 + self.starts.len() * 12
    }
}

/// Ids in the order of a Morton curve through their points; ties by id.
fn morton_order(ids: &[u32], point: impl Fn(u32) -> Vec3) -> Vec<u32> {
    let points: Vec<Vec3> = ids.iter().map(|&i| point(i)).collect();
    let low = points.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = points.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    // One scale for all axes keeps the cells of the curve cubic.
    let scale = ((1 << 20) as f64) / (high - low).max().max(f64::MIN_POSITIVE);
    let spread = |x: f64| {
        let mut bits = (x * scale) as u64;
        bits = (bits | bits << 32) & 0x001f00000000ffff;
        bits = (bits | bits << 16) & 0x001f0000ff0000ff;
        bits = (bits | bits << 8) & 0x100f00f00f00f00f;
        bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
        (bits | bits << 2) & 0x1249249249249249
    };
    let code = |p: &Vec3| spread(p.x - low.x) | spread(p.y - low.y) << 1 | spread(p.z - low.z) << 2;
    let mut order: Vec<(u64, u32)> = points.iter().zip(ids).map(|(p, &i)| (code(p), i)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, i)| i).collect()
}

/// Working memory of one thread for force passes.
#[derive(Default)]
pub struct Scratch {
    /// Reference position and displacement of the local nodes, one cache line each.
    pub(super) nodes: Vec<Record>,
    /// Forces on the local nodes.
    pub(super) forces: Vec<Force>,
    /// Numbers of a batch, lane by lane.
    pub(super) columns: Vec<[f64; MAX_WIDTH]>,
}

/// One node's data, together; vectors as registers move them, the fourth number is zero.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Record {
    pub reference: [f64; 4],
    pub displacement: [f64; 4],
}

impl Record {
    pub fn new(reference: Vec3, displacement: Vec3) -> Self {
        let four = |v: Vec3| [v.x, v.y, v.z, 0.0];
        Record { reference: four(reference), displacement: four(displacement) }
    }
}

/// The force on one node, likewise.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Force(pub [f64; 4]);

impl Scratch {
    /// Room for any patch.
    pub fn new() -> Self {
        let most = ELEMENTS * MAX_WIDTH;
        Scratch { nodes: Vec::with_capacity(most), forces: Vec::with_capacity(most), columns: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_stands_in_one_patch_with_its_own_nodes() {
        // a strip of 1000 quads, and a point cloud order that is not the mesh's
        let n = 1000u32;
        let reference: Vec<Vec3> = (0..2 * (n + 1))
            .map(|i| Vec3::new(((i / 2) * 7919 % 1009) as f64, (i % 2) as f64, 0.0))
            .collect();
        let connectivity: Vec<u32> = (0..n).flat_map(|e| [2 * e, 2 * e + 2, 2 * e + 3, 2 * e + 1]).collect();
        let patches = Patches::new(&connectivity, 4, &reference);
        let mut seen = vec![0; n as usize];
        for p in 0..patches.len() {
            let (nodes, local, range) = (patches.nodes(p), patches.local(p), patches.range(p));
            assert_eq!(local.len() % (4 * MAX_WIDTH), 0);
            for (place, &e) in patches.elements()[range.clone()].iter().enumerate() {
                seen[e as usize] += 1;
                for a in 0..4 {
                    let global = nodes[local[place * 4 + a] as usize];
                    assert_eq!(global, connectivity[e as usize * 4 + a]);
                }
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
    }
}
