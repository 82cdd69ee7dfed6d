//! Edges that have crossed: what nodes in elements do not see.
//!
//! ```text
//! nearest points of the two lines at s and t, both well inside     n ∥ a × b, out of b and into a
//! gap g = n·(x_a(s) − x_b(t)), overlap between 0 and half an edge    weights 1−s, s, −(1−t), −t
//! ```
//!
//! Only edges at which the surface bends can be the first to touch. The line between the two points is along n, so a
//! normal impulse keeps the angular momentum.

use super::super::response;
use super::collisions::{Collisions, Contactor, Hands, Local, Motion};
use crate::contact::cells::Cells;
use crate::contact::octree::Aabb;
use crate::contact::pair::Pair;
use crate::contact::scene::Scene;
use crate::contact::search::NodeSearch;
use crate::math::Vec3;
use crate::mesh::surface::NONE;
use crate::model::Model;

/// Surfaces that bend by less than this are flat there: 5°.
const FLAT: f64 = 0.996_194_698_091_745_5;
/// Points nearer to the ends of an edge than this share of it belong to the nodes.
const END: f64 = 0.02;
/// Sine of the angle below which edges are parallel.
const PARALLEL: f64 = 0.05;
/// Overlaps beyond this share of the shorter edge are seen from the far side.
const DEEPEST: f64 = 0.5;

/// One edge that looks for others.
#[derive(Clone, Copy, Debug)]
pub struct EdgeOf {
    nodes: [u32; 2],
    facets: [u32; 2],
    body: u32,
    /// Its number in the scene.
    edge: u32,
    step: u64,
    pub next: u64,
}

pub struct Edges {
    pub list: Vec<EdgeOf>,
    cells: Cells,
    found: Vec<u32>,
}

impl Edges {
    /// Edges of bodies that may touch, each as often as the quicker of its nodes.
    pub fn new(model: &Model, scene: &Scene, contactors: &[Contactor], size: f64) -> Edges {
        let nodes = model.reference.len();
        let step_of =
            |n: u32| contactors.binary_search_by_key(&n, |c| c.node).ok().map(|i| contactors[i].step());
        let at = |n: u32| model.reference[n as usize];
        let bends = |facets: [u32; 2]| {
            let [p, q] = facets.map(|f| facet_normal(scene, f, at));
            p.dot(&q) < FLAT
        };
        let mut list = Vec::new();
        for (e, edge) in scene.edges.iter().enumerate() {
            let soft = edge.nodes.iter().all(|&n| (n as usize) < nodes);
            if !soft || edge.facets[1] == NONE || !bends(edge.facets) {
                continue;
            }
            if let [Some(a), Some(b)] = edge.nodes.map(step_of) {
                let step = a.min(b);
                list.push(EdgeOf {
                    nodes: edge.nodes,
                    facets: edge.facets,
                    body: edge.body,
                    edge: e as u32,
                    step,
                    next: 0,
                });
            }
        }
        Edges { list, cells: Cells::new([0.0; 3], 1.5 * size, 0.0), found: Vec::with_capacity(64) }
    }

    /// Boxes that hold as long as those of the targets.
    pub fn refresh(&mut self, room: f64, motion: &Motion) {
        self.cells.set_margin(2.0 * room);
        for (i, edge) in self.list.iter().enumerate() {
            let tight = box_of(edge.nodes, motion);
            let grown = tight.grown(room);
            let holds = |fat: &Aabb| (0..3).all(|k| fat.lo[k] <= grown.lo[k] && grown.hi[k] <= fat.hi[k]);
            if !self.cells.stored(i as u32).is_some_and(holds) {
                self.cells.insert_box(i as u32, tight.lo, tight.hi);
            }
        }
    }

    /// Edge `i` looks, and is answered; returns when it looks again.
    pub fn look(&mut self, i: usize, collisions: &mut Collisions, hands: &mut Hands) -> u64 {
        let mine = self.list[i];
        let around = box_of(mine.nodes, &hands.motion());
        self.cells.query_box(&around.lo, &around.hi, &mut self.found);
        for &id in &self.found {
            let other = self.list[id as usize];
            if id as usize == i || !collisions.may_meet(mine.body, other.body) {
                continue;
            }
            if mine.body == other.body && collisions.scene.excludes_edge_edge(mine.edge, other.edge, false) {
                continue;
            }
            let Some(mut pair) = crossing(&mine, &other, &collisions.scene, &hands.motion()) else {
                continue;
            };
            collisions.window.penetration = collisions.window.penetration.max(-pair.gap);
            let nodes = [mine.nodes[0], mine.nodes[1], other.nodes[0], other.nodes[1]];
            let law = hands.model.contact.law(mine.body, other.body);
            (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
            let mut local = Local::of(&nodes, collisions.velocity(), hands);
            if let Some(impact) = response::bounce(&pair, 0.0, &local.inv_mass, &mut local.v) {
                collisions.window.contacts += 1;
                collisions.apply(&pair, &nodes, &impact, [mine.body, other.body], hands);
            }
        }
        let edge = &mut self.list[i];
        edge.next = hands.when.tick + edge.step;
        edge.next
    }
}

fn box_of(nodes: [u32; 2], motion: &Motion) -> Aabb {
    let mut tight = Aabb::EMPTY;
    for n in nodes {
        let p = motion.at(n);
        tight.add(&[p.x, p.y, p.z]);
    }
    tight
}

/// Unit outward normal of a facet.
fn facet_normal(scene: &Scene, facet: u32, at: impl Fn(u32) -> Vec3) -> Vec3 {
    let c = scene.facets[facet as usize].nodes;
    // the cross product of the diagonals; of two sides where the last corner is repeated
    let n = match c[2] == c[3] {
        true => (at(c[1]) - at(c[0])).cross(&(at(c[2]) - at(c[0]))),
        false => (at(c[2]) - at(c[0])).cross(&(at(c[3]) - at(c[1]))),
    };
    let length = n.norm();
    if length > 0.0 { n / length } else { n }
}

/// The pair of two edges that have crossed, points counted from zero: those of `a`, then those of `b`.
fn crossing(a: &EdgeOf, b: &EdgeOf, scene: &Scene, motion: &Motion) -> Option<Pair> {
    let ([a0, a1], [b0, b1]) = (a.nodes.map(|n| motion.at(n)), b.nodes.map(|n| motion.at(n)));
    let (s, t, n) = nearest(&a0, &a1, &b0, &b1)?;
    let mean =
        |edge: &EdgeOf| edge.facets.iter().map(|&f| facet_normal(scene, f, |n| motion.at(n))).sum::<Vec3>();
    let out = mean(b);
    let n = if n.dot(&out) > 0.0 { n } else { -n };
    if n.dot(&out) <= 0.0 || n.dot(&mean(a)) >= 0.0 {
        return None;
    }
    let gap = n.dot(&((a0 + s * (a1 - a0)) - (b0 + t * (b1 - b0))));
    let shorter = (a1 - a0).norm().min((b1 - b0).norm());
    if gap > 0.0 || -gap > DEEPEST * shorter {
        return None;
    }
    Some(Pair::edge_edge(a.edge, b.edge, [0, 1, 2, 3], s, t, n).with_gap(gap))
}

/// Parameters of the nearest points of two lines, and a unit vector across both; none near the ends or if parallel.
fn nearest(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> Option<(f64, f64, Vec3)> {
    let (a, b, r) = (a1 - a0, b1 - b0, b0 - a0);
    let (aa, ab, bb) = (a.norm_squared(), a.dot(&b), b.norm_squared());
    let determinant = aa * bb - ab * ab;
    // aa bb sin²
    let crossed = determinant > PARALLEL * PARALLEL * aa * bb;
    if !crossed {
        return None;
    }
    let s = (r.dot(&a) * bb - r.dot(&b) * ab) / determinant;
    let t = (r.dot(&a) * ab - r.dot(&b) * aa) / determinant;
    let inside = |p: f64| p > END && p < 1.0 - END;
    (inside(s) && inside(t)).then(|| (s, t, a.cross(&b).normalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines one above the other: the nearest points lie on a common perpendicular.
    #[test]
    fn nearest_points_of_lines_lie_across_both() {
        let e = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
        let (a0, a1, b0, b1) = (e(-1.0, 0.25, 0.1), e(1.0, 0.5, 0.0), e(0.5, -1.0, -0.5), e(0.3, 1.5, -0.2));
        let (s, t, n) = nearest(&a0, &a1, &b0, &b1).unwrap();
        let across = (a0 + s * (a1 - a0)) - (b0 + t * (b1 - b0));
        assert!(across.dot(&(a1 - a0)).abs() < 1e-15 && across.dot(&(b1 - b0)).abs() < 1e-15);
        assert!((across.norm() - across.dot(&n).abs()).abs() < 1e-15);
        assert!(nearest(&a0, &a1, &(a0 + n), &(a1 + n)).is_none());
        assert!(nearest(&a0, &a1, &(b0 + 5.0 * Vec3::x()), &(b1 + 5.0 * Vec3::x())).is_none());
    }
}
