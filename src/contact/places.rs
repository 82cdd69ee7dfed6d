//! From what a search found, or what crossed in a step, to pairs: here and nowhere else.
//!
//! A pair is made where its features are at the moment. A response to one contact moves the nodes of the next, so a pair can
//! be measured anew: weights, normal and gap of the same two features at the positions of that moment. A *crossing*
//! ([`super::crossing`]) is different: what it was at the instant of impact stays.
//!
//! **Sign.** `gap > 0` open; normals from the face to the node, from the second edge to the first. Where a rigid
//! obstacle takes part it is the outer point, and the normal points away from it.
//!
//! Read by every method with a scene.

use super::closest_point::{self, Feature};
use super::measure::{NO_DIRECTION, closest_on, feature_normal, unit};
use super::obstacle::Poses;
use super::pair::{Kind, Outer, Pair, Side};
use super::scene::{Edge, Scene};
use super::search::{EdgeEdge, VertexFace};
use crate::math::Vec3;

/// Where nodes and obstacles are.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    /// Of the obstacles, which are the last bodies of the scene.
    pub poses: Poses<'a>,
}

impl Places<'_> {
    /// A node on a face as a search has found them.
    pub(crate) fn of_record(&self, r: &VertexFace) -> Pair {
        let pair = self.node_pair(r.node, r.face, &r.weights, r.point, r.normal).with_gap(r.gap);
        Pair { side: if r.side < 0 { Side::Back } else { Side::Front }, ..pair }
    }

    /// Two edges as a search has found them.
    pub(crate) fn of_edges(&self, r: &EdgeEdge) -> Pair {
        self.edge_pair([r.first, r.second], [r.s, r.t], [r.p, r.q], r.normal).with_gap(r.gap)
    }

    /// The same two features as they are here, with their gap. None if they have no normal here.
    pub(crate) fn measured_anew(&self, pair: &Pair) -> Option<Pair> {
        if pair.met.is_some() {
            let pair = pair.measured(self.x);
            return Some(pair.with_gap(pair.gap - self.scene.offset(pair.bodies[0], pair.bodies[1])));
        }
        match pair.key.kind {
            Kind::NodeFace => self.node_face(pair.key.first, pair.key.second, pair.side, pair.through),
            Kind::EdgeEdge => {
                let towards = self.scene.on_first(pair, pair.normal);
                self.edges(pair.key.first, pair.key.second, &towards)
            }
            Kind::NodeElement => Some(pair.measured(self.x)),
        }
    }

    /// The same pair with the points that were opposite to each other before the first feature slid by `slip` [m] along
    /// the second, if they lie in the same features; its gap is that of these points. Between soft bodies only.
    pub(crate) fn before_sliding(&self, pair: &Pair, slip: &Vec3) -> Option<Pair> {
        if pair.outer.is_some() {
            return None;
        }
        let (n, [first, second]) = (pair.normal, [pair.key.first, pair.key.second]);
        let same = match pair.key.kind {
            Kind::NodeFace => {
                let facet = &self.scene.facets[second as usize];
                let y = self.x[first as usize] - slip;
                let hit = closest_on(facet, self.x, &y, first, second);
                if hit.degenerate || hit.feature != Feature::Face {
                    return None;
                }
                self.node_pair(first, second, &hit.weights, hit.point, n)
            }
            Kind::EdgeEdge => {
                let [a, b] = self.scene.edges[first as usize].nodes.map(|k| self.x[k as usize] - slip);
                let [c, d] = self.scene.edges[second as usize].nodes.map(|k| self.x[k as usize]);
                let near = closest_point::edge_edge(&a, &b, &c, &d);
                if !near.crossing || near.degenerate {
                    return None;
                }
                self.edge_pair([first, second], [near.s, near.t], [near.p, near.q], n)
            }
            Kind::NodeElement => return None,
        };
        let gap = n.dot(&same.gap_vector(self.x)) - self.scene.offset(pair.bodies[0], pair.bodies[1]);
        let Pair { side, through, met, mu, e, .. } = *pair;
        Some(Pair { side, through, met, mu, e, gap, ..same })
    }

    /// Velocity of a rigid body at a point [m/s].
    fn velocity(&self, body: u32, at: &Vec3) -> Vec3 {
        let soft = self.scene.bodies.len() - self.poses.count();
        self.poses.velocity((body as usize).wrapping_sub(soft), at)
    }

    pub(super) fn rigid(&self, body: u32) -> bool {
        self.scene.bodies[body as usize].attributes.rigid()
    }

    /// Node on face: normal of the face where the closest point is inside it, else the line to the closest point.
    pub(crate) fn node_face(&self, node: u32, face: u32, side: Side, through: bool) -> Option<Pair> {
        let facet = &self.scene.facets[face as usize];
        let y = self.x[node as usize];
        let hit = closest_on(facet, self.x, &y, node, face);
        if hit.degenerate {
            return None;
        }
        let sign = side.sign();
        let feature = if through { Feature::Face } else { hit.feature };
        let outward = feature_normal(self.scene, self.x, face, feature, &hit.weights);
        let d = y - hit.point;
        let inside = sign * d.dot(&outward) < 0.0;
        let (normal, gap) = if feature == Feature::Face {
            (sign * outward, sign * d.dot(&outward))
        } else {
            let rim = self.scene.on_rim(face, hit.feature);
            let out = if inside && !rim { -1.0 } else { 1.0 };
            let (distance, size) = (d.norm(), self.scene.facet_size[face as usize]);
            let straight = distance > NO_DIRECTION * size;
            (if straight { out / distance * d } else { sign * outward }, out * distance)
        };
        let gap = gap - self.scene.offset(self.scene.node_body[node as usize], facet.body);
        let pair = self.node_pair(node, face, &hit.weights, hit.point, normal);
        Some(Pair { side, through, gap, ..pair })
    }

    /// Node on face with given weights, whoever of the two is rigid.
    pub(super) fn node_pair(
        &self,
        node: u32,
        face: u32,
        weights: &[f64; 4],
        point: Vec3,
        normal: Vec3,
    ) -> Pair {
        let facet = &self.scene.facets[face as usize];
        let bodies = [self.scene.node_body[node as usize], facet.body];
        let pair = if self.rigid(bodies[1]) {
            let outer = Outer { position: point, velocity: self.velocity(bodies[1], &point) };
            Pair::node_obstacle(node, face, outer, normal)
        } else if self.rigid(bodies[0]) {
            let position = self.x[node as usize];
            let outer = Outer { position, velocity: self.velocity(bodies[0], &position) };
            Pair::obstacle_facet(node, face, facet.corners(), weights, outer, -normal)
        } else {
            Pair::node_facet(node, face, facet.corners(), weights, normal)
        };
        Pair { bodies, ..pair }
    }

    fn edges(&self, first: u32, second: u32, towards: &Vec3) -> Option<Pair> {
        let [a, b] = self.scene.edges[first as usize].nodes.map(|k| self.x[k as usize]);
        let [c, d] = self.scene.edges[second as usize].nodes.map(|k| self.x[k as usize]);
        let near = closest_point::edge_edge(&a, &b, &c, &d);
        if !near.crossing || near.degenerate {
            return None;
        }
        let n = unit((b - a).cross(&(d - c)));
        let n = if n.dot(towards) < 0.0 { -n } else { n };
        let bodies = [first, second].map(|e| self.scene.edges[e as usize].body);
        let gap = n.dot(&(near.p - near.q)) - self.scene.offset(bodies[0], bodies[1]);
        let [p, q] = [(&a, &b, near.s), (&c, &d, near.t)].map(|(a, b, s)| a + s * (b - a));
        Some(self.edge_pair([first, second], [near.s, near.t], [p, q], n).with_gap(gap))
    }

    /// Two edges at the points `p` and `q`, whoever of the two is rigid.
    pub(super) fn edge_pair(&self, edges: [u32; 2], [s, t]: [f64; 2], [p, q]: [Vec3; 2], n: Vec3) -> Pair {
        let [e, f]: [&Edge; 2] = edges.map(|e| &self.scene.edges[e as usize]);
        let outer = |body: u32, position: Vec3| Outer { position, velocity: self.velocity(body, &position) };
        let pair = if self.rigid(f.body) {
            Pair::edge_obstacle(edges, e.nodes, s, outer(f.body, q), n)
        } else if self.rigid(e.body) {
            Pair::edge_obstacle(edges, f.nodes, t, outer(e.body, p), -n)
        } else {
            let nodes = [e.nodes[0], e.nodes[1], f.nodes[0], f.nodes[1]];
            Pair::edge_edge(edges[0], edges[1], nodes, s, t, n)
        };
        Pair { bodies: [e.body, f.body], ..pair }
    }
}
