//! Which facets a node meets, of those measured: the rules at the head of `measure`.

use super::super::closest_point::Feature;
use super::super::scene::{Facet, FacetKind};
use super::super::search::{Query, VertexFace};
use super::normals::{Normals, feature_normal, unit};
use super::quads::Hits;
use super::{Hit, Sides, closest_on};
use crate::math::Vec3;

/// What is needed to choose among hits.
pub(super) struct Chooser<'a> {
    pub normals: Normals<'a>,
    pub before: Option<&'a [Vec3]>,
    pub query: &'a Query,
    pub sides: &'a Sides,
}

/// Two distances count as equal when they differ by less than this share of the facet.
const TIE: f64 = 1e-12;
/// Below this share of the facet a distance gives no direction.
pub(in crate::contact) const NO_DIRECTION: f64 = 1e-9;
/// Cosine of the angle from which on a second facet is another one: 10°.
const OTHER: f64 = 0.984807753012208;

/// What came of a look at one pair.
pub(super) enum Measured<T> {
    Near(T),
    TooDeep,
    None,
}

impl Chooser<'_> {
    /// Measures the pairs (keys, in canonical order) and keeps those of the rules of this room's `measure`;
    /// `too_deep` are the bodies of those that were. `hits` is scratch.
    pub(super) fn measure(
        &self,
        keys: &[u64],
        hits: &mut Vec<Hit>,
        out: &mut Vec<VertexFace>,
        too_deep: &mut Vec<[u32; 2]>,
    ) {
        let (scene, x) = (self.normals.scene, self.normals.x);
        let body = |key: u64| scene.facets[key as u32 as usize].body;
        let (mut all, mut next) = (Hits::new(scene, x, keys), 0);
        for of_node in keys.chunk_by(|&p, &q| p >> 32 == q >> 32 && body(p) == body(q)) {
            let places = next..next + of_node.len();
            next = places.end;
            let node = (of_node[0] >> 32) as u32;
            let own = scene.node_body[node as usize];
            let limit = if scene.bodies[own as usize].shares_nodes {
                f64::INFINITY
            } else {
                self.query.reach + scene.offset(own, body(of_node[0]))
            };
            if let [key] = *of_node {
                let hit = all.at(places.start);
                if hit.distance_squared <= limit * limit {
                    match self.record(&hit) {
                        Measured::Near(record) if record.gap <= self.query.reach => out.push(record),
                        Measured::TooDeep => too_deep.push([own, body(key)]),
                        _ => {}
                    }
                }
                continue;
            }
            hits.clear();
            for hit in places.map(|place| all.at(place)) {
                if hit.distance_squared <= limit * limit {
                    hits.push(hit);
                }
            }
            let start = out.len();
            let deep = self.choose(hits, out);
            too_deep.extend(std::iter::repeat_n([own, body(of_node[0])], deep));
            if out.len() > start + 1 {
                out[start..].sort_unstable_by_key(|r| r.face);
            }
        }
    }

    /// Chooses among the hits of one node on one body; returns how many were too deep.
    fn choose(&self, hits: &mut [Hit], out: &mut Vec<VertexFace>) -> usize {
        let least = hits.iter().fold(f64::INFINITY, |m, h| m.min(h.distance_squared)).sqrt();
        let tied = |h: &Hit| {
            let size = self.normals.scene.facet_size[h.face as usize];
            let tie = if size.is_finite() { TIE * size } else { 0.0 };
            h.distance_squared.sqrt() <= least + tie
        };
        let near = (0..hits.len()).filter(|&k| tied(&hits[k]));
        let Some(first) = near.min_by_key(|&k| hits[k].face) else { return 0 };
        let chosen = hits[first].face;
        let start = out.len();
        let closest = match self.record(&hits[first]) {
            Measured::Near(record) => record,
            Measured::TooDeep => return 1,
            Measured::None => return 0,
        };
        if closest.gap > self.query.reach {
            return 0;
        }
        out.push(closest);
        if hits.iter().all(|h| h.face == chosen || h.feature != Feature::Face || h.degenerate) {
            return 0;
        }
        // Others by distance, then facet.
        hits.sort_unstable_by(|p, q| {
            p.distance_squared.total_cmp(&q.distance_squared).then(p.face.cmp(&q.face))
        });
        let mut too_deep = 0;
        for hit in hits.iter().filter(|h| h.face != chosen) {
            if hit.feature != Feature::Face || hit.degenerate {
                continue;
            }
            let n = f64::from(closest.side) * self.normals.of_facet(hit.face);
            let rises = out[start..].iter().all(|kept| {
                kept.normal.dot(&n) < OTHER
                    && kept.normal.dot(&(hit.point - kept.point)) > 0.0
                    && n.dot(&(kept.point - hit.point)) > 0.0
            });
            if !rises {
                continue;
            }
            match self.record(hit) {
                Measured::Near(record) if record.gap <= self.query.reach => out.push(record),
                Measured::TooDeep => too_deep += 1,
                _ => {}
            }
        }
        too_deep
    }

    /// Normal, gap and side of one hit.
    fn record(&self, hit: &Hit) -> Measured<VertexFace> {
        let (scene, x) = (self.normals.scene, self.normals.x);
        let facet = &scene.facets[hit.face as usize];
        let shell = scene.bodies[facet.body as usize].attributes.two_sided();
        let d = x[hit.node as usize] - hit.point;
        let distance = d.norm();
        let outward = match hit.feature {
            Feature::Face if facet.kind == FacetKind::Quad => self.quad_normal(facet, hit),
            Feature::Face => self.normals.of_facet(hit.face),
            feature => self.normals.of_feature(hit.face, feature, &hit.weights),
        };
        // Which side of the surface the node is on now, and which it belongs to.
        let now: f64 = if d.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let rim = hit.feature != Feature::Face && scene.on_rim(hit.face, hit.feature);
        let side = match shell {
            true if rim => now,
            true => self.side(hit, now),
            false => 1.0,
        };
        let sign = if rim { 1.0 } else { now * side };
        if rim && !shell && now < 0.0 {
            return Measured::None;
        }
        let size = scene.facet_size[hit.face as usize];
        let size = if size.is_finite() { size } else { 0.0 };
        let normal = match hit.feature {
            Feature::Face => side * outward,
            _ if distance > NO_DIRECTION * size => sign / distance * d,
            _ => side * outward,
        };
        let body = scene.node_body[hit.node as usize];
        let gap = sign * distance - scene.offset(body, facet.body);
        if sign < 0.0 {
            let deepest = match self.query.max_penetration {
                Some(depth) => depth,
                None => 0.5 * scene.local_size(hit.face, hit.feature),
            };
            if distance > deepest {
                return Measured::TooDeep;
            }
        }
        let [xi, eta] = match facet.kind {
            FacetKind::Quad => {
                let [a, b, c, d] = hit.weights;
                [(b + c) - (a + d), (c + d) - (a + b)]
            }
            FacetKind::Triangle => [hit.weights[1], hit.weights[2]],
            FacetKind::Segment => [hit.weights[1], 0.0],
            _ => [0.0, 0.0],
        };
        Measured::Near(VertexFace {
            node: hit.node,
            face: hit.face,
            feature: hit.feature,
            side: side as i8,
            xi,
            eta,
            weights: hit.weights,
            point: hit.point,
            distance_squared: distance * distance,
            gap,
            normal,
        })
    }

    /// The side of a shell a node belongs to: the remembered one, else the one it was on before.
    fn side(&self, hit: &Hit, now: f64) -> f64 {
        let scene = self.normals.scene;
        if let Some(side) = self.sides.of(scene, hit.node, hit.face) {
            return f64::from(side);
        }
        let Some(before) = self.before else { return now };
        let facet = &scene.facets[hit.face as usize];
        let y = &before[hit.node as usize];
        let old = closest_on(facet, before, y, hit.node, hit.face);
        let outward = feature_normal(scene, before, hit.face, old.feature, &old.weights);
        if (y - old.point).dot(&outward) < 0.0 { -1.0 } else { 1.0 }
    }

    /// Normal of the bilinear face at the closest point.
    fn quad_normal(&self, facet: &Facet, hit: &Hit) -> Vec3 {
        let p = facet.nodes.map(|k| self.normals.x[k as usize]);
        let [a, b, c, d] = hit.weights;
        let along = (b + a) * (p[1] - p[0]) + (c + d) * (p[2] - p[3]);
        let across = (a + d) * (p[3] - p[0]) + (b + c) * (p[2] - p[1]);
        unit(along.cross(&across))
    }
}
