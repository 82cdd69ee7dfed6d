//! The contacts of one instant for methods that hold all of them together: every contact once, none that another one says.
//!
//! Edges count where one of them is sharp, the other may be a line of the mesh on a flat face, and no end of either says the
//! same ([`super::rules`]).

use super::measure::Normals;
use super::rules::{
    covered_by_coincident_node, covered_by_vertex_face, depth_of_edges, faces_against, is_same_contact,
    is_second_end, is_sharp, nearly_in_normal_cones, on_corner, reassign_face,
};
use super::scene::{FacetKind, Scene};
use super::search::{EdgeEdge, PairSearch, Pass, VertexFace};
use crate::math::Vec3;
use rayon::prelude::*;

/// Records that one thread goes through at a stretch.
pub(crate) const STRETCH: usize = 256;
/// Sine of the angle by which the normal of two edges may lean over a face: contacts that are looked at in every step would
/// come and go otherwise.
const SLACK: f64 = 0.1;

/// What of the records of a search becomes contacts.
#[derive(Default)]
pub(crate) struct Selection {
    /// Nodes near faces as they count.
    records: Vec<VertexFace>,
    /// Is each of them near enough, and does its node look at the face?
    wanted: Vec<bool>,
    /// Those among them that are contacts.
    chosen: Vec<u32>,
    /// Is each of these said by another one already?
    covered: Vec<bool>,
    /// Is each pair of near edges one?
    edges: Vec<bool>,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    pub pass: Pass,
    /// Gap up to which contacts are wanted, and the median edge of the finest body [m].
    pub near: f64,
    pub finest: f64,
}

impl Selection {
    /// Chooses among what `search` has found.
    pub(crate) fn renew(&mut self, search: &impl PairSearch, choice: &Choice) {
        let &Choice { scene, x, near, finest, .. } = choice;
        let normals = search.findings().narrow.normals(scene, x);
        let found = search.vertex_face().par_iter().with_min_len(STRETCH);
        make_room(&mut self.records, found.len());
        found.map(|r| reassign_face(&normals, r, finest)).collect_into_vec(&mut self.records);
        self.choose(&normals, choice);
        let Selection { records, chosen, edges, .. } = self;
        let of = |i: &u32| &records[*i as usize];
        let of_node = |k: u32| {
            let own = &chosen[chosen.partition_point(|i| of(i).node < k)..];
            own.iter().map(of).take_while(move |r| r.node == k)
        };
        // what is asked first takes least time
        let counts = |r: &EdgeEdge| {
            r.gap <= near
                && nearly_in_normal_cones(&normals, r.first, r.second, &r.normal, SLACK)
                && (is_sharp(&normals, r.first) || is_sharp(&normals, r.second))
                && !covered_by_vertex_face(scene, r, finest, of_node)
        };
        let found = search.edge_edge().par_iter().with_min_len(STRETCH);
        make_room(edges, found.len());
        found.map(counts).collect_into_vec(edges);
    }

    /// Which nodes on faces become contacts; of those that say the same thing the first. Where the nodes of both bodies are
    /// asked, those of a table in front of a block that slides off it come near that front, and do not look at it. Who overlaps
    /// already is kept whatever it looks at.
    fn choose(&mut self, normals: &Normals, &Choice { scene, pass, near, finest, .. }: &Choice) {
        let Selection { records, wanted, chosen, .. } = self;
        chosen.clear();
        let passes_by = |r: &VertexFace| {
            let plane = scene.facets[r.face as usize].kind == FacetKind::Plane;
            r.gap > 0.0 && !plane && !faces_against(normals, r)
        };
        let counts = |r: &VertexFace| {
            r.gap <= near && !(pass == Pass::Double && (is_second_end(scene, r) || passes_by(r)))
        };
        make_room(wanted, records.len());
        records.par_iter().with_min_len(STRETCH).map(counts).collect_into_vec(wanted);
        for (i, (record, _)) in records.iter().zip(wanted).enumerate().filter(|(_, r)| *r.1) {
            let own = chosen.iter().rev().map(|&i| &records[i as usize]);
            if !own.take_while(|r| r.node == record.node).any(|r| is_same_contact(scene, r, record, finest)) {
                chosen.push(i as u32);
            }
        }
        if pass == Pass::Double {
            self.merge(scene);
        }
    }

    /// Where nodes of two bodies lie on each other, each has found the other: one of the two is enough, and together they
    /// would only share one force, and slowly.
    fn merge(&mut self, scene: &Scene) {
        let Selection { records, chosen, covered, .. } = self;
        let of = |i: &u32| &records[*i as usize];
        let is_covered = |i: &u32| {
            let p = of(i);
            let Some(corner) = on_corner(scene, p) else { return false };
            let others = &chosen[chosen.partition_point(|i| of(i).node < corner)..];
            let mut others = others.iter().map(of).take_while(|q| q.node == corner);
            others.any(|q| covered_by_coincident_node(scene, p, q))
        };
        make_room(covered, chosen.len());
        chosen.par_iter().with_min_len(STRETCH).map(is_covered).collect_into_vec(covered);
        let mut covered = covered.iter();
        chosen.retain(|_| !*covered.next().expect("one for each"));
    }

    /// Nodes on faces, in the order of the search.
    pub(crate) fn nodes(&self) -> impl IndexedParallelIterator<Item = &VertexFace> {
        self.chosen.par_iter().with_min_len(STRETCH).map(|&i| &self.records[i as usize])
    }

    /// Edges on edges, of the same search.
    pub(crate) fn edges<'a>(&'a self, search: &'a impl PairSearch) -> impl Iterator<Item = &'a EdgeEdge> {
        search.edge_edge().iter().zip(&self.edges).filter(|e| *e.1).map(|e| e.0)
    }

    /// Deepest overlap [m]. Where a rim has just passed an edge, lines of the mesh beyond the rim cross it far from where they
    /// overlap.
    pub(crate) fn deepest(&self, search: &impl PairSearch, &Choice { scene, x, .. }: &Choice) -> f64 {
        let nodes = self.chosen.iter().map(|&i| -self.records[i as usize].gap).fold(0.0, f64::max);
        self.edges(search).fold(nodes, |depth, r| {
            if -r.gap > depth { depth.max(depth_of_edges(scene, x, r, depth)) } else { depth }
        })
    }
}

/// Makes room for `count` items and as many again, unless there is room: rayon asks for no more than it needs, and would ask
/// again whenever one more is found.
pub(crate) fn make_room<T>(list: &mut Vec<T>, count: usize) {
    if list.capacity() < count {
        list.reserve(2 * count - list.len());
    }
}

#[cfg(test)]
mod tests;
