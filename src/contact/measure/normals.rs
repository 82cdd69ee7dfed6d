//! Outward normals of faces, edges and corners.
//!
//! At an edge the mean of its facets, at a corner their mean weighted by angles: with these the sign of a
//! distance is right everywhere on a closed surface (Bærentzen & Aanæs 2005).

use super::super::closest_point::Feature;
use super::super::scene::{Edge, FacetKind, Scene};
use crate::math::Vec3;
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
    Normals { scene, x, of_facets: &[] }.of_feature(face, feature, weights)
}

/// Normals at some positions. Those of facets may have been taken before: many contacts ask for the same.
#[derive(Clone, Copy)]
pub(super) struct Normals<'a> {
    pub scene: &'a Scene,
    pub x: &'a [Vec3],
    /// All or none.
    pub of_facets: &'a [Vec3],
}

impl Normals<'_> {
    #[inline]
    pub(super) fn of_facet(&self, face: u32) -> Vec3 {
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
