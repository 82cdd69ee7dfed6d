//! Outward normals of faces, edges and corners.
//!
//! At an edge the mean of its facets, at a corner their mean weighted by angles: with these the sign of a
//! distance is right everywhere on a closed surface (Bærentzen & Aanæs 2005).

use super::super::closest_point::Feature;
use super::super::scene::{Edge, Facet, FacetKind, Scene};
use super::sieve::{cross, dot, gather, minus};
use crate::math::Vec3;
use crate::math::lane::{Lane, MAX_WIDTH, OnLanes};
use crate::mesh::surface::NONE;

/// A unit vector, or zero if there is no direction.
#[inline]
pub(in crate::contact) fn unit(v: Vec3) -> Vec3 {
    let length = v.norm();
    if length > 0.0 { v / length } else { v }
}

/// Outward normal of a feature of a facet: its own, the mean over the facets at an edge, or weighted by
/// their angles at a corner.
///
/// `weights` tell where on an edge: the normal of a warped quad varies along it.
pub(crate) fn feature_normal(
    scene: &Scene,
    x: &[Vec3],
    face: u32,
    feature: Feature,
    weights: &[f64; 4],
) -> Vec3 {
    Normals::at(scene, x).of_feature(face, feature, weights)
}

/// Normals at some positions. Those of facets may have been taken before: many contacts ask for the same.
#[derive(Clone, Copy)]
pub(crate) struct Normals<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    /// All or none.
    pub(super) of_facets: &'a [Vec3],
}

impl<'a> Normals<'a> {
    /// At positions where none were taken.
    pub(crate) fn at(scene: &'a Scene, x: &'a [Vec3]) -> Normals<'a> {
        Normals { scene, x, of_facets: &[] }
    }

    #[inline]
    pub(crate) fn of_facet(&self, face: u32) -> Vec3 {
        match self.of_facets.get(face as usize) {
            Some(n) => *n,
            None => unit(self.scene.facets[face as usize].area_vector(self.x)),
        }
    }

    /// Sum of the normals of the triangles at an edge.
    #[inline(always)]
    pub(super) fn sum_at(&self, edge: &Edge) -> Vec3 {
        let first = Vec3::zeros() + self.of_facet(edge.facets[0]);
        if edge.facets[1] == NONE { first } else { first + self.of_facet(edge.facets[1]) }
    }

    pub(super) fn of_feature(&self, face: u32, feature: Feature, weights: &[f64; 4]) -> Vec3 {
        let (scene, x) = (self.scene, self.x);
        let facet = &scene.facets[face as usize];
        match (facet.kind, feature) {
            (FacetKind::Triangle | FacetKind::Quad, Feature::Edge(k)) => {
                let (edge, k) = (scene.facet_edges[face as usize][k as usize], k as usize);
                let next = (k + 1) % facet.kind.corners();
                let ascending = facet.nodes[k] < facet.nodes[next];
                self.of_edge(edge, weights[if ascending { next } else { k }])
            }
            (FacetKind::Triangle | FacetKind::Quad, Feature::Vertex(k)) => {
                let node = facet.nodes[k as usize];
                let mut sum = Vec3::zeros();
                for &f in scene.node_facets.of(node) {
                    let g = &scene.facets[f as usize];
                    if g.body != facet.body {
                        continue;
                    }
                    let corners = g.corners();
                    let Some(at) = corners.iter().position(|&c| c == node) else { continue };
                    let p = |i: usize| x[corners[i % corners.len()] as usize];
                    let (u, v) = (p(at + 1) - p(at), p(at + corners.len() - 1) - p(at));
                    let cross = u.cross(&v);
                    let angle = cross.norm().atan2(u.dot(&v));
                    // The plane of the corner itself: a warped quad has another normal elsewhere.
                    sum += angle * unit(cross);
                }
                unit(sum)
            }
            (FacetKind::Segment, Feature::Vertex(k)) => {
                let facets = scene.node_facets.of(facet.nodes[k as usize]).iter();
                let own = facets.filter(|&&f| scene.facets[f as usize].body == facet.body);
                unit(own.map(|&f| self.of_facet(f)).sum())
            }
            _ => self.of_facet(face),
        }
    }

    /// Mean of the normals of the facets at an edge, at the share `s` of the way to its second node.
    pub(super) fn of_edge(&self, edge: u32, s: f64) -> Vec3 {
        let (scene, x) = (self.scene, self.x);
        let edge = &scene.edges[edge as usize];
        let known = edge.facets.iter().filter(|&&f| (f as usize) < scene.facets.len());
        let normal = |&f: &u32| {
            let facet = &scene.facets[f as usize];
            if facet.kind != FacetKind::Quad {
                return self.of_facet(f);
            }
            let at = |k: usize| x[facet.nodes[k % 4] as usize];
            // The corner from which the facet runs along the edge, and the share of the way from there.
            let runs = |k: &usize| {
                edge.nodes.contains(&facet.nodes[*k]) && edge.nodes.contains(&facet.nodes[(k + 1) % 4])
            };
            let Some(k) = (0..4).find(runs) else { return Vec3::zeros() };
            let s = if facet.nodes[k] == edge.nodes[0] { s } else { 1.0 - s };
            let across = (1.0 - s) * (at(k + 3) - at(k)) + s * (at(k + 2) - at(k + 1));
            unit((at(k + 1) - at(k)).cross(&across))
        };
        unit(known.map(normal).sum())
    }
}

/// Unit vectors on lanes, by the operations of [`unit`].
#[inline(always)]
pub(super) fn unit_of<L: Lane>(n: [L; 3]) -> [L; 3] {
    let length = dot(n, n).sqrt();
    let by = length.of(0.0).if_less(length, length, length.of(1.0));
    [n[0] / by, n[1] / by, n[2] / by]
}

/// Writes unit vectors of as many lanes as there are places.
#[inline(always)]
fn write<L: Lane>([x, y, z]: [L; 3], to: &mut [Vec3]) {
    let mut records = [[0.0; 4]; MAX_WIDTH];
    L::records([x, y, z, x.of(0.0)], &mut records);
    for (to, [x, y, z, _]) in to.iter_mut().zip(records) {
        *to = Vec3::new(x, y, z);
    }
}

/// Unit normals of facets, several side by side: the bits are those of one at a time.
pub(super) struct OfFacets<'a> {
    pub facets: &'a [Facet],
    pub x: &'a [Vec3],
    pub to: &'a mut [Vec3],
}

impl OnLanes for OfFacets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let OfFacets { facets, x, to } = self;
        for (some, to) in facets.chunks(L::WIDTH).zip(to.chunks_mut(L::WIDTH)) {
            if some.iter().any(|f| f.kind.corners() < 3) {
                for (facet, to) in some.iter().zip(to) {
                    *to = unit(facet.area_vector(x));
                }
                continue;
            }
            // The area vector is the product of two sides of a triangle, and of the diagonals of a quad.
            let ends = |l: usize| {
                let facet = &some[l.min(some.len() - 1)];
                let [a, b, c, d] = facet.nodes;
                if facet.kind == FacetKind::Quad { [a, c, b, d] } else { [a, b, a, c] }
            };
            let end = |l: usize, k: usize| x[ends(l)[k] as usize];
            let p = minus(gather::<L>(token, |l| end(l, 1)), gather(token, |l| end(l, 0)));
            let q = minus(gather::<L>(token, |l| end(l, 3)), gather(token, |l| end(l, 2)));
            write(unit_of(cross(p, q)), to);
        }
    }
}

/// Unit normals of edges: of the sums of the normals of their facets.
pub(super) struct OfEdges<'a> {
    pub edges: &'a [Edge],
    pub of_facets: &'a [Vec3],
    pub to: &'a mut [Vec3],
}

impl OnLanes for OfEdges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) {
        let OfEdges { edges, of_facets, to } = self;
        let zero = L::splat(token, 0.0);
        for (some, to) in edges.chunks(L::WIDTH).zip(to.chunks_mut(L::WIDTH)) {
            // Zero where there is no second facet: of a sum that began with zero nothing changes.
            let normal = |l: usize, which: usize| {
                let facet = some[l.min(some.len() - 1)].facets[which];
                of_facets.get(facet as usize).copied().unwrap_or_default()
            };
            let p = gather::<L>(token, |l| normal(l, 0));
            let q = gather::<L>(token, |l| normal(l, 1));
            let sum = [zero + p[0] + q[0], zero + p[1] + q[1], zero + p[2] + q[2]];
            write(unit_of(sum), to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::dice::Dice;
    use super::super::super::scene::{Attributes, BodyInput, Rules};
    use super::*;
    use crate::math::lane;

    /// Soups of triangles, some without an area, edges with one facet: each normal alone and in company has the same bits.
    #[test]
    fn normals_in_company_are_those_of_facets_and_edges_alone() {
        let mut dice = Dice(23);
        for round in 0..200 {
            let scale = [1.0, 1e-5, 1e4][round % 3];
            let point = |dice: &mut Dice| if round % 2 == 0 { dice.grid(2) } else { dice.point(2.0) };
            let x: Vec<Vec3> = (0..8).map(|_| scale * point(&mut dice)).collect();
            let triangles: Vec<[u32; 3]> =
                (0..1 + round % 19).map(|_| [0; 3].map(|_: u32| dice.below(8) as u32)).collect();
            let body = BodyInput::of_triangles("soup", &triangles, Attributes::default());
            let scene = Scene::new(&[body], &x, Rules::default());
            let alone = Normals::at(&scene, &x);
            let mut of_facets = vec![Vec3::zeros(); scene.facets.len()];
            lane::dispatch(OfFacets { facets: &scene.facets, x: &x, to: &mut of_facets });
            let mut of_edges = vec![Vec3::zeros(); scene.edges.len()];
            lane::dispatch(OfEdges { edges: &scene.edges, of_facets: &of_facets, to: &mut of_edges });
            let bits = |v: Vec3| [v.x, v.y, v.z].map(f64::to_bits);
            for (f, normal) in of_facets.iter().enumerate() {
                assert_eq!(bits(*normal), bits(alone.of_facet(f as u32)), "facet {f} of round {round}");
            }
            for (edge, normal) in scene.edges.iter().zip(&of_edges) {
                assert_eq!(bits(*normal), bits(unit(alone.sum_at(edge))), "{edge:?} of round {round}");
            }
        }
    }
}
