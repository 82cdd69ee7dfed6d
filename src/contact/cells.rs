//! Position codes (Wolff & Bucher 2013): which boxes hold this node?
//!
//! Space is cut into cubes of edge h. A cell's code interleaves its three integers of 21 bits (Lebesgue
//! or Morton order), so codes of near cells are near. Every box stands in the list of each cell it meets;
//! nodes are not stored. The question of one node reads one cell.
//!
//! * **Fat boxes.** What is stored is the box with a margin. Telling that a box has moved costs one
//!   comparison as long as the new box lies in the stored one. It may then stand at its very edge, so the
//!   margin saves work and promises nothing: where boxes are out of date, the reach of the question must
//!   cover speed × age.
//! * **Far away.** Integers are clamped to their 21 bits. Clamping keeps order, so a box and a node that
//!   meet still meet in a cell; only the cells at the border grow long.
//! * **Large boxes** (a plate, the ground) would stand in too many cells; they have a list of their own.
//!
//! Nothing that is answered depends on the order of storage: ids come out ascending. A query allocates
//! nothing beyond the caller's list.
//!
//! [`Cells`] is the engine for one node at a time, [`CellSearch`] the same as a search of all pairs.

use super::octree::Aabb;
use super::scene::{FacetKind, Scene};
use super::search::{
    Findings, Group, PairSearch, Part, Positions, Query, SearchError, SearchStats, check_finite, check_query,
    passes,
};
use crate::math::Vec3;
use std::time::Instant;

/// Marks the end of a chain, a free place, a box that is not there.
const NONE: u32 = u32::MAX;
/// Boxes that would stand in more cells than this are kept apart.
const MANY_CELLS: u64 = 64;
/// Ids in one block of a cell's list.
const BLOCK: usize = 14;
/// Cell integers are counted from the middle of their range.
const MIDDLE: f64 = (1 << 20) as f64;
const LAST: f64 = ((1 << 21) - 1) as f64;

/// Interleaves the bits of three integers below 2²¹.
#[inline]
pub(crate) fn position_code(cell: [u32; 3]) -> u64 {
    spread(cell[0]) | spread(cell[1]) << 1 | spread(cell[2]) << 2
}

/// Puts two zeros between the bits of an integer below 2²¹.
#[inline]
fn spread(v: u32) -> u64 {
    let mut x = u64::from(v) & 0x1f_ffff;
    x = (x | x << 32) & 0x1f_0000_0000_ffff;
    x = (x | x << 16) & 0x1f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Part of a cell's list: 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Block {
    ids: [u32; BLOCK],
    count: u32,
    next: u32,
}

/// Where a box is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    Cells,
    Large,
}

/// Boxes by the cells they meet.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    per_edge: f64,
    origin: [f64; 3],
    margin: f64,
    /// Open addressing: position code and first block; the code is meaningless where the block is `NONE`.
    table: Vec<(u64, u32)>,
    filled: usize,
    blocks: Vec<Block>,
    free: u32,
    fat: Vec<Aabb>,
    places: Vec<Place>,
    large: Vec<u32>,
}

impl Cells {
    /// Cells of this edge around `origin`, boxes stored with `margin` on every side [m].
    pub(crate) fn new(origin: [f64; 3], edge: f64, margin: f64) -> Cells {
        let edge = if edge > 0.0 && edge.is_finite() { edge } else { 1.0 };
        Cells {
            per_edge: 1.0 / edge,
            origin,
            margin: margin.max(0.0),
            table: vec![(0, NONE); 64],
            filled: 0,
            blocks: Vec::new(),
            free: NONE,
            fat: Vec::new(),
            places: Vec::new(),
            large: Vec::new(),
        }
    }

    /// Cells fit for these boxes: an edge of 1.5 times the median longest edge, a margin of a tenth of it.
    pub(crate) fn sized_for(boxes: &[Aabb]) -> Cells {
        let mut sizes: Vec<f64> = boxes.iter().filter(|b| !b.is_empty()).map(Aabb::longest).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let edge = 1.5 * sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
        let full = boxes.iter().filter(|b| !b.is_empty());
        let all = box_around(full.flat_map(|b| [b.lo.into(), b.hi.into()]));
        let origin = if all.is_empty() { [0.0; 3] } else { [0, 1, 2].map(|k| 0.5 * (all.lo[k] + all.hi[k])) };
        // Many points (boxes without size) still need a length.
        let edge = if edge > 0.0 { edge } else { all.longest() / (sizes.len().max(1) as f64).cbrt() };
        Cells::new(origin, edge, 0.1 * edge)
    }

    /// Width added around stored boxes [m].
    pub(crate) fn margin(&self) -> f64 {
        self.margin
    }

    /// Sets the margin of boxes stored from now on: wider means fewer changes of cells, and longer lists.
    pub(crate) fn set_margin(&mut self, margin: f64) {
        self.margin = margin.max(0.0);
    }

    /// The box stored for `id`, if any.
    pub(crate) fn stored(&self, id: u32) -> Option<&Aabb> {
        match self.places.get(id as usize) {
            Some(Place::Cells | Place::Large) => Some(&self.fat[id as usize]),
            _ => None,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.table.capacity() * size_of::<(u64, u32)>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.fat.capacity() * size_of::<Aabb>()
            + self.places.capacity()
            + self.large.capacity() * size_of::<u32>()
    }

    /// Forgets a box.
    pub(crate) fn remove_box(&mut self, id: u32) {
        match self.places.get(id as usize) {
            Some(Place::Cells) => {
                let fat = self.fat[id as usize];
                let (lo, hi) = (self.cell(&fat.lo), self.cell(&fat.hi));
                self.each_cell(lo, hi, |cells, code| cells.take_out(code, id));
            }
            Some(Place::Large) => self.large.retain(|&i| i != id),
            _ => return,
        }
        self.places[id as usize] = Place::Nowhere;
    }

    /// Ids of boxes that meet the box `lo … hi`, ascending.
    pub(crate) fn query_box(&self, lo: &[f64; 3], hi: &[f64; 3], out: &mut Vec<u32>) {
        out.clear();
        let meets = |b: &Aabb| (0..3).all(|k| b.lo[k] <= hi[k] && lo[k] <= b.hi[k]);
        let (first, last) = (self.cell(lo), self.cell(hi));
        if number_of_cells(first, last) > MANY_CELLS {
            // Cheaper to look at all of them.
            let ids = 0..self.fat.len() as u32;
            out.extend(
                ids.filter(|&i| self.places[i as usize] != Place::Nowhere && meets(&self.fat[i as usize])),
            );
            return;
        }
        out.extend(self.large.iter().filter(|&&i| meets(&self.fat[i as usize])));
        let single = first == last;
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                for x in first[0]..=last[0] {
                    let mut block = self.first_block(position_code([x, y, z]));
                    while block != NONE {
                        let list = &self.blocks[block as usize];
                        for &i in &list.ids[..list.count as usize] {
                            let b = &self.fat[i as usize];
                            if !meets(b) {
                                continue;
                            }
                            // A box that stands in several of these cells is told by the first of them.
                            if !single {
                                let own = self.cell(&b.lo);
                                let teller = [0, 1, 2].map(|k| own[k].max(first[k]));
                                if teller != [x, y, z] {
                                    continue;
                                }
                            }
                            out.push(i);
                        }
                        block = list.next;
                    }
                }
            }
        }
        out.sort_unstable();
    }

    #[inline]
    fn cell(&self, p: &[f64; 3]) -> [u32; 3] {
        let at = |k: usize| ((p[k] - self.origin[k]) * self.per_edge + MIDDLE).clamp(0.0, LAST) as u32;
        [at(0), at(1), at(2)]
    }

    fn each_cell(&mut self, lo: [u32; 3], hi: [u32; 3], mut act: impl FnMut(&mut Cells, u64)) {
        for z in lo[2]..=hi[2] {
            for y in lo[1]..=hi[1] {
                for x in lo[0]..=hi[0] {
                    act(self, position_code([x, y, z]));
                }
            }
        }
    }

    /// Place of a code in the table, or the free place where it belongs.
    #[inline]
    fn slot(&self, code: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut at = (code.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.table[at].1 != NONE && self.table[at].0 != code {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn first_block(&self, code: u64) -> u32 {
        self.table[self.slot(code)].1
    }

    fn new_block(&mut self, next: u32) -> u32 {
        let empty = Block { ids: [NONE; BLOCK], count: 0, next };
        if self.free == NONE {
            self.blocks.push(empty);
            return self.blocks.len() as u32 - 1;
        }
        let at = self.free;
        self.free = self.blocks[at as usize].next;
        self.blocks[at as usize] = empty;
        at
    }

    fn put_in(&mut self, code: u64, id: u32) {
        let mut slot = self.slot(code);
        if self.table[slot].1 == NONE {
            if 2 * (self.filled + 1) > self.table.len() {
                self.sweep();
                slot = self.slot(code);
            }
            let block = self.new_block(NONE);
            self.table[slot] = (code, block);
            self.filled += 1;
        }
        let first = self.table[slot].1;
        if self.blocks[first as usize].count as usize == BLOCK {
            let block = self.new_block(first);
            self.table[slot].1 = block;
        }
        let block = &mut self.blocks[self.table[slot].1 as usize];
        block.ids[block.count as usize] = id;
        block.count += 1;
    }

    fn take_out(&mut self, code: u64, id: u32) {
        let slot = self.slot(code);
        let first = self.table[slot].1;
        let mut block = first;
        while block != NONE {
            let list = &self.blocks[block as usize];
            let at = list.ids[..list.count as usize].iter().position(|&i| i == id);
            let Some(at) = at else {
                block = list.next;
                continue;
            };
            // The last id of the first block fills the gap.
            let head = &mut self.blocks[first as usize];
            head.count -= 1;
            let last = head.ids[head.count as usize];
            let (left, next) = (head.count, head.next);
            self.blocks[block as usize].ids[at] = last;
            // An empty first block goes, unless it is the only one: the code keeps its place.
            if left == 0 && next != NONE {
                self.table[slot].1 = next;
                self.blocks[first as usize].next = self.free;
                self.free = first;
            }
            return;
        }
    }

    /// Frees the places of empty cells, and doubles the table if that is not enough.
    fn sweep(&mut self) {
        let old = std::mem::take(&mut self.table);
        let is_full = |&&(_, block): &&(u64, u32)| block != NONE && self.blocks[block as usize].count > 0;
        let full = old.iter().filter(is_full).count();
        let size = if 4 * full > old.len() { 2 * old.len() } else { old.len() };
        self.table = vec![(0, NONE); size];
        self.filled = full;
        for (code, block) in old {
            if block == NONE {
                continue;
            }
            if self.blocks[block as usize].count == 0 {
                self.blocks[block as usize].next = self.free;
                self.free = block;
            } else {
                let slot = self.slot(code);
                self.table[slot] = (code, block);
            }
        }
    }
}

fn number_of_cells(lo: [u32; 3], hi: [u32; 3]) -> u64 {
    (0..3).map(|k| u64::from(hi[k] - lo[k]) + 1).product()
}

impl Cells {
    /// A box with a coordinate that is not a number meets nothing.
    pub(crate) fn insert_box(&mut self, id: u32, lo: [f64; 3], hi: [f64; 3]) {
        self.remove_box(id);
        if self.places.len() <= id as usize {
            self.places.resize(id as usize + 1, Place::Nowhere);
            self.fat.resize(id as usize + 1, Aabb::EMPTY);
        }
        let fat = Aabb { lo, hi }.grown(self.margin);
        self.fat[id as usize] = fat;
        let (lo, hi) = (self.cell(&fat.lo), self.cell(&fat.hi));
        if (0..3).any(|k| lo[k] > hi[k]) {
            return;
        }
        if number_of_cells(lo, hi) > MANY_CELLS {
            self.places[id as usize] = Place::Large;
            self.large.push(id);
        } else {
            self.places[id as usize] = Place::Cells;
            self.each_cell(lo, hi, |cells, code| cells.put_in(code, id));
        }
    }

    /// Tells that box `id` is now this one.
    #[inline]
    pub(crate) fn move_box(&mut self, id: u32, lo: [f64; 3], hi: [f64; 3]) {
        let holds = |fat: &Aabb| (0..3).all(|k| fat.lo[k] <= lo[k] && hi[k] <= fat.hi[k]);
        if !self.stored(id).is_some_and(holds) {
            self.insert_box(id, lo, hi);
        }
    }

    /// Ids of boxes within `reach` of `x`, ascending; possibly a few more.
    #[inline]
    pub(crate) fn query(&self, x: &[f64; 3], reach: f64, out: &mut Vec<u32>) {
        self.query_box(&x.map(|v| v - reach), &x.map(|v| v + reach), out);
    }
}

/// The search of all pairs by position codes.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellSearch {
    faces: Option<Cells>,
    edges: Option<Cells>,
    size: (usize, usize),
    found: Vec<u32>,
    pairs: Vec<[u32; 4]>,
    findings: Findings,
}

impl CellSearch {
    pub(crate) fn new() -> CellSearch {
        CellSearch::default()
    }
}

/// The box around some points.
pub(crate) fn box_around(points: impl IntoIterator<Item = Vec3>) -> Aabb {
    points.into_iter().fold(Aabb::EMPTY, |mut all, p| {
        all.add(p.as_ref());
        all
    })
}

/// Box of some nodes over the step.
fn box_of(nodes: &[u32], at: Positions<'_>) -> Aabb {
    let ends = [Some(at.x), at.end].into_iter().flatten();
    box_around(ends.flat_map(|x| nodes.iter().map(|&k| x[k as usize])))
}

impl PairSearch for CellSearch {
    fn gather(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) -> Result<(), SearchError> {
        check_query(scene, at, query)?;
        check_finite(scene, at)?;
        self.findings.stats = SearchStats::default();
        let begin = Instant::now();
        let size = (scene.facets.len(), scene.edges.len());
        if self.size != size {
            (self.faces, self.edges, self.size) = (None, None, size);
        }
        if query.vertex_face || query.face_face {
            let corners = |f: &super::scene::Facet| box_of(f.corners(), at);
            let cells = self.faces.get_or_insert_with(|| {
                let boxes: Vec<Aabb> = scene.facets.iter().map(corners).collect();
                Cells::sized_for(&boxes)
            });
            for (f, facet) in scene.facets.iter().enumerate().filter(|(_, f)| f.kind != FacetKind::Plane) {
                let b = corners(facet);
                cells.move_box(f as u32, b.lo, b.hi);
            }
        }
        if query.edge_edge {
            let cells = self.edges.get_or_insert_with(|| {
                let boxes: Vec<Aabb> = scene.edges.iter().map(|e| box_of(&e.nodes, at)).collect();
                Cells::sized_for(&boxes)
            });
            for (e, edge) in scene.edges.iter().enumerate() {
                let b = box_of(&edge.nodes, at);
                cells.move_box(e as u32, b.lo, b.hi);
            }
        }
        self.findings.stats.refit_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        self.look_up(scene, at, query);
        self.findings.stats.traverse_seconds = begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn findings_mut(&mut self) -> &mut Findings {
        &mut self.findings
    }
}

const VERTEX_FACE: u32 = 0;
const EDGE_EDGE: u32 = 1;
const FACE_FACE: u32 = 2;

impl CellSearch {
    fn look_up(&mut self, scene: &Scene, at: Positions<'_>, query: &Query) {
        let swept = at.end.is_some();
        let thickest = scene.bodies.iter().filter(|b| b.attributes.two_sided());
        let thickest = thickest.fold(0.0, |t: f64, b| t.max(b.attributes.thickness));
        let reach = |b: &Aabb| {
            let farthest = b.lo.iter().chain(&b.hi).fold(0.0, |m: f64, v| m.max(v.abs()));
            query.reach + thickest + 1e-14 * farthest
        };
        let find = |cells: &Option<Cells>, nodes: &[u32], found: &mut Vec<u32>| {
            let b = box_of(nodes, at);
            let b = b.grown(reach(&b));
            found.clear();
            if let Some(cells) = cells {
                cells.query_box(&b.lo, &b.hi, found);
            }
        };
        // (bodies, kind, first) beside the pair itself, to be put in order at the end.
        self.pairs.clear();
        let (pairs, found) = (&mut self.pairs, &mut self.found);
        let mut add = |a: u32, b: u32, kind: u32, pair: [u32; 2]| {
            let code = (u64::from(a.min(b)) << 32 | u64::from(a.max(b))) << 2 | u64::from(kind);
            pairs.push([(code >> 32) as u32, code as u32, pair[0], pair[1]]);
        };
        let planes: Vec<u32> = (0..scene.facets.len() as u32)
            .filter(|&f| scene.facets[f as usize].kind == FacetKind::Plane)
            .collect();
        for (a, body) in scene.bodies.iter().enumerate() {
            let a = a as u32;
            if query.vertex_face {
                for &node in scene.slots_of(body) {
                    find(&self.faces, &[node], found);
                    for &face in found.iter().chain(&planes) {
                        let other = scene.facets[face as usize].body;
                        let wanted = scene.may_meet(a, other) && {
                            let [first, second] = passes(scene, a.min(other), a.max(other), query.pass);
                            if a <= other { first } else { second }
                        };
                        if wanted && !scene.excludes_vertex_face(node, face, swept) {
                            add(a, other, VERTEX_FACE, [node, face]);
                        }
                    }
                }
            }
            if query.edge_edge {
                for e in body.edges.clone() {
                    find(&self.edges, &scene.edges[e as usize].nodes, found);
                    for &f in found.iter().filter(|&&f| f > e) {
                        let other = scene.edges[f as usize].body;
                        if scene.may_meet(a, other) && !scene.excludes_edge_edge(e, f, swept) {
                            add(a, other, EDGE_EDGE, [e, f]);
                        }
                    }
                }
            }
            if query.face_face {
                for f in body.facets.clone().filter(|&f| scene.facets[f as usize].kind != FacetKind::Plane) {
                    find(&self.faces, scene.facets[f as usize].corners(), found);
                    for &g in found.iter().filter(|&&g| g > f) {
                        let other = scene.facets[g as usize].body;
                        if scene.may_meet(a, other) && !scene.excludes_face_face(f, g, swept) {
                            add(a, other, FACE_FACE, [f, g]);
                        }
                    }
                }
            }
        }
        self.pairs.sort_unstable();
        self.findings.stats.leaf_pairs = self.pairs.len() as u64;
        self.group_pairs(scene, query);
    }

    /// Puts the pairs, which are in order, where candidates stand.
    fn group_pairs(&mut self, scene: &Scene, query: &Query) {
        let out = &mut self.findings.candidates;
        out.clear();
        for p in &self.pairs {
            let code = u64::from(p[0]) << 32 | u64::from(p[1]);
            let (a, b, kind) = ((code >> 34) as u32, (code >> 2) as u32, (code & 3) as u32);
            if out.groups.last().is_none_or(|g| (g.a, g.b) != (a, b)) {
                let limit = query.reach + scene.offset(a, b);
                out.groups.push(Group { a, b, limit, ..Group::default() });
            }
            let at = out.groups.len() - 1;
            let group = &mut out.groups[at];
            let (part, list): (&mut Part, &mut Vec<[u32; 2]>) = match kind {
                VERTEX_FACE => (&mut group.vertex_face, &mut out.vertex_face),
                EDGE_EDGE => (&mut group.edge_edge, &mut out.edge_edge),
                _ => (&mut group.face_face, &mut out.face_face),
            };
            if part.is_empty() {
                part.from = list.len() as u32;
            }
            list.push([p[2], p[3]]);
            part.to = list.len() as u32;
        }
        self.findings.stats.body_pairs = out.groups.len() as u64;
    }
}

#[cfg(test)]
mod tests;
