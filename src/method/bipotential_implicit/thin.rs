//! Steps in which bodies could pass through each other unseen.
//!
//! Contacts are found where nodes would be at the end of a step. A node beyond the middle of a thin wall is nearer to its far
//! side, so a step may bring two bodies that come near each other no farther together than half the thickness of the thinner
//! one, `t = 2V/A`. Who stays apart, box from box, may move as fast as it likes.

use crate::contact::cells::box_around;
use crate::contact::octree::Aabb;
use crate::contact::scene::{FacetKind, Scene};
use crate::math::Vec3;
use crate::model::Model;
use std::ops::Range;

/// Share of a thickness that a step may bring bodies together.
const HALF: f64 = 0.5;

/// Bodies that would come too far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TooFar {
    pub bodies: [u32; 2],
    /// How far together, and how thick the thinner one is [m].
    pub way: f64,
    pub thickness: f64,
}

pub(crate) struct Thin {
    /// Nodes of each body of the scene, and its thickness [m]; infinite where it has none.
    bodies: Vec<(Range<usize>, f64)>,
    drawn: Vec<Vec3>,
    /// Nodes of obstacles at both ends of the step.
    outer: [Vec<Vec3>; 2],
}

impl Thin {
    pub(crate) fn new(model: &Model, scene: &Scene) -> Thin {
        let drawn = model.contact.obstacle_nodes();
        let mut at = model.reference.clone();
        at.extend(&drawn);
        let mut nodes: Vec<Range<usize>> = model.bodies.iter().map(|b| b.nodes.clone()).collect();
        let mut from = model.reference.len();
        for obstacle in &model.contact.obstacles {
            nodes.push(from..from + obstacle.count());
            from += obstacle.count();
        }
        let mut sums = vec![(0.0, 0.0); nodes.len()];
        for facet in &scene.facets {
            let vector = facet.area_vector(&at);
            let corners = facet.corners();
            let middle = corners.iter().map(|&k| at[k as usize]).sum::<Vec3>() / corners.len().max(1) as f64;
            let (share, dimension) = match facet.kind {
                FacetKind::Plane | FacetKind::Point => continue,
                FacetKind::Segment => (1.0, 2.0),
                FacetKind::Triangle | FacetKind::Quad => (0.5, 3.0),
            };
            let (volume, area) = &mut sums[facet.body as usize];
            *volume += share * vector.dot(&middle) / dimension;
            *area += share * vector.norm();
        }
        // open and flat surfaces enclose nothing but round-off
        let thickness = |(volume, area): (f64, f64), size: f64| {
            let t = 2.0 * volume / area;
            if t > 1e-9 * size { t } else { f64::INFINITY }
        };
        let extent = |nodes: &Range<usize>| {
            let around = box_around(at[nodes.clone()].iter().copied());
            (Vec3::from(around.hi) - Vec3::from(around.lo)).norm()
        };
        let all = nodes.iter().zip(sums).map(|(n, s)| (n.clone(), thickness(s, extent(n))));
        Thin { bodies: all.collect(), outer: [drawn.clone(), drawn.clone()], drawn }
    }

    /// Bodies that would come too far together in a step of length `h` from `time` on, with velocities `v`.
    pub(crate) fn too_far(
        &mut self,
        model: &Model,
        scene: &Scene,
        [x, v]: [&[Vec3]; 2],
        time: f64,
        h: f64,
    ) -> Option<TooFar> {
        if self.bodies.iter().all(|b| b.1 == f64::INFINITY) {
            return None;
        }
        for (outer, time) in self.outer.iter_mut().zip([time, time + h]) {
            model.contact.place(time, &self.drawn, outer);
        }
        let soft = x.len();
        let outer = &self.outer;
        let start = |k: usize| if k < soft { x[k] } else { outer[0][k - soft] };
        let way = |k: usize| if k < soft { h * v[k] } else { outer[1][k - soft] - outer[0][k - soft] };
        let over_the_step =
            |nodes: &Range<usize>| box_around(nodes.clone().flat_map(|k| [start(k), start(k) + way(k)]));
        let boxes: Vec<Aabb> = self.bodies.iter().map(|(nodes, _)| over_the_step(nodes)).collect();
        for (b, (others, _)) in self.bodies.iter().enumerate() {
            for (a, (nodes, _)) in self.bodies.iter().enumerate().take(b) {
                let thickness = self.bodies[a].1.min(self.bodies[b].1);
                let near = boxes[a].meets(&boxes[b]);
                if thickness == f64::INFINITY || !near || !scene.may_meet(a as u32, b as u32) {
                    continue;
                }
                let mean = others.clone().map(way).sum::<Vec3>() / others.len().max(1) as f64;
                let farthest =
                    |nodes: &Range<usize>| nodes.clone().map(|k| (way(k) - mean).norm()).fold(0.0, f64::max);
                let together = farthest(nodes) + farthest(others);
                if together > HALF * thickness {
                    return Some(TooFar { bodies: [a as u32, b as u32], way: together, thickness });
                }
            }
        }
        None
    }
}
