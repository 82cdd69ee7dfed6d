//! What is wrong with the surfaces of a scene, in the user's words.
//!
//! Nothing here stops a search: facets without area are measured by their edges, doubled nodes are
//! nodes, and what cannot be numbered at all has been left out by [`Scene::new`]. But contact there may not
//! be what the user expects, so `check` names each place. Problems that make inside and outside
//! meaningless are [fatal](Problem::is_fatal).

use super::scene::{FacetKind, Scene};
use crate::math::Vec3;
use crate::mesh::surface::NONE;
use thiserror::Error;

/// One problem, with its place.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum Problem {
    #[error("body `{body}`: node {node} has no finite position")]
    NotFinite { body: String, node: u32 },
    #[error("body `{body}`: facet {facet} names a node twice or one that does not exist; it was left out")]
    Unusable { body: String, facet: u32 },
    #[error("body `{body}` has no facet left that could touch anything")]
    Nothing { body: String },
    #[error(
        "body `{body}`: facet {facet} with nodes {nodes:?} has no area; nodes that coincide or lie on a line can be merged or moved"
    )]
    NoArea { body: String, facet: u32, nodes: Vec<u32> },
    #[error(
        "body `{body}`: nodes {first} and {second} stand at the same place ({x}, {y}, {z}); if they are meant to be one, merge them in the mesh"
    )]
    SamePlace { body: String, first: u32, second: u32, x: f64, y: f64, z: f64 },
    #[error(
        "body `{body}`: {facets} facets meet at the edge of nodes {nodes:?}; an edge of a surface has two at most"
    )]
    Crowded { body: String, nodes: [u32; 2], facets: usize },
    #[error(
        "body `{body}`: the surface is open at {edges} edges, the first between nodes {nodes:?}; a solid needs a closed surface, or declare the body a shell"
    )]
    Open { body: String, edges: usize, nodes: [u32; 2] },
    #[error(
        "body `{body}`: facets {facets:?} run the same way along the edge of nodes {nodes:?}; one of them must be turned over"
    )]
    Turned { body: String, nodes: [u32; 2], facets: [u32; 2] },
    #[error(
        "body `{body}`: the surface encloses {volume} (area in 2D): it is inside out; reverse the order of the nodes of its facets"
    )]
    InsideOut { body: String, volume: f64 },
    #[error("body `{body}`: its normal has no direction")]
    NoNormal { body: String },
    #[error("body `{body}`: a thickness of {thickness} is not possible")]
    Thickness { body: String, thickness: f64 },
}

impl Problem {
    /// Nobody can tell inside from outside there, or where the surface is.
    pub(crate) fn is_fatal(&self) -> bool {
        !matches!(self, Problem::NoArea { .. } | Problem::SamePlace { .. } | Problem::Crowded { .. })
    }
}

/// Area of a facet over the square of its longest edge below which it has none.
const NO_AREA: f64 = 1e-12;

/// All problems of the surfaces, body by body, at the reference positions.
pub(crate) fn check(scene: &Scene, reference: &[Vec3]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (b, body) in scene.bodies.iter().enumerate() {
        let name = || body.name.clone();
        for &(_, facet) in scene.unusable.iter().filter(|u| u.0 == b as u32) {
            problems.push(Problem::Unusable { body: name(), facet });
        }
        let facets = scene.facets_of(body);
        if facets.is_empty() {
            problems.push(Problem::Nothing { body: name() });
            continue;
        }
        let thickness = body.attributes.thickness;
        if !(thickness >= 0.0 && thickness.is_finite()) {
            problems.push(Problem::Thickness { body: name(), thickness });
        }
        let lost = |k: &u32| !reference[*k as usize].iter().all(|v| v.is_finite());
        let mut nodes = facets.iter().flat_map(|f| f.nodes);
        if let Some(node) = nodes.find(lost) {
            problems.push(Problem::NotFinite { body: name(), node });
            continue;
        }
        if body.plane {
            if facets[0].area_vector(reference).norm() <= 0.0 {
                problems.push(Problem::NoNormal { body: name() });
            }
            continue;
        }
        for facet in facets {
            let corner = |k: usize| reference[facet.nodes[k] as usize];
            let n = facet.kind.corners();
            let longest = (0..n).fold(0.0, |m: f64, k| m.max((corner((k + 1) % n) - corner(k)).norm()));
            let area = facet.area_vector(reference).norm();
            let least = if n >= 3 { NO_AREA * longest * longest } else { 0.0 };
            if area <= least {
                problems.push(Problem::NoArea {
                    body: name(),
                    facet: facet.source,
                    nodes: facet.corners().to_vec(),
                });
            }
        }
        same_places(scene, b, reference, &mut problems);
        if facets[0].kind == FacetKind::Segment {
            check_chain(scene, b, reference, &mut problems);
        } else if facets[0].kind != FacetKind::Point {
            check_sheet(scene, b, reference, &mut problems);
        }
    }
    problems
}

fn same_places(scene: &Scene, b: usize, reference: &[Vec3], problems: &mut Vec<Problem>) {
    let body = &scene.bodies[b];
    let mut nodes = scene.slots_of(body).to_vec();
    let at = |k: u32| reference[k as usize];
    // Adding zero makes one zero of two.
    let key = |k: u32| [at(k).x + 0.0, at(k).y + 0.0, at(k).z + 0.0];
    nodes.sort_by(|&p, &q| {
        let (a, c) = (key(p), key(q));
        a[0].total_cmp(&c[0]).then(a[1].total_cmp(&c[1])).then(a[2].total_cmp(&c[2])).then(p.cmp(&q))
    });
    for pair in nodes.windows(2).filter(|w| key(w[0]) == key(w[1])) {
        let [x, y, z] = key(pair[0]);
        let body = body.name.clone();
        problems.push(Problem::SamePlace { body, first: pair[0], second: pair[1], x, y, z });
    }
}

/// A closed chain of segments, solid on its left.
fn check_chain(scene: &Scene, b: usize, reference: &[Vec3], problems: &mut Vec<Problem>) {
    let body = &scene.bodies[b];
    let name = || body.name.clone();
    let facets = scene.facets_of(body);
    let mut ends = Vec::new();
    for &node in scene.slots_of(body) {
        let own = scene.node_facets.of(node).iter().filter(|&&f| scene.facets[f as usize].body == b as u32);
        let (mut count, mut sense) = (0, 0);
        for &f in own.clone() {
            count += 1;
            sense += if scene.facets[f as usize].nodes[0] == node { 1 } else { -1 };
        }
        if count == 1 {
            ends.push(node);
        } else if count > 2 {
            problems.push(Problem::Crowded { body: name(), nodes: [node, node], facets: count });
        } else if sense != 0 {
            let f: Vec<u32> = own.copied().collect();
            problems.push(Problem::Turned { body: name(), nodes: [node, node], facets: [f[0], f[1]] });
        }
    }
    if body.attributes.two_sided() || body.attributes.rigid() {
        return;
    }
    if let [first, ..] = ends[..] {
        let other = ends.get(1).copied().unwrap_or(first);
        problems.push(Problem::Open { body: name(), edges: ends.len(), nodes: [first, other] });
        return;
    }
    let area: f64 = facets
        .iter()
        .map(|f| {
            let (p, q) = (reference[f.nodes[0] as usize], reference[f.nodes[1] as usize]);
            0.5 * (p.x * q.y - p.y * q.x)
        })
        .sum();
    if area <= 0.0 {
        problems.push(Problem::InsideOut { body: name(), volume: area });
    }
}

/// A closed sheet of triangles and quads, every edge run once each way, volume positive.
fn check_sheet(scene: &Scene, b: usize, reference: &[Vec3], problems: &mut Vec<Problem>) {
    let body = &scene.bodies[b];
    let name = || body.name.clone();
    let before = problems.len();
    let crowded: Vec<u32> =
        scene.crowded_edges.iter().map(|c| c.0).filter(|e| body.edges.contains(e)).collect();
    for same in crowded.chunk_by(|p, q| p == q) {
        let nodes = scene.edges[same[0] as usize].nodes;
        problems.push(Problem::Crowded { body: name(), nodes, facets: 2 + same.len() });
    }
    let (mut open, mut first) = (0, [NONE; 2]);
    for e in body.edges.clone() {
        let edge = &scene.edges[e as usize];
        if edge.facets[1] == NONE {
            if open == 0 {
                first = edge.nodes;
            }
            open += 1;
            continue;
        }
        // Does the facet run from the first to the second node of the edge?
        let along = |f: u32| {
            let corners = scene.facets[f as usize].corners();
            let k = corners.iter().position(|&k| k == edge.nodes[0]).unwrap_or(0);
            corners[(k + 1) % corners.len()] == edge.nodes[1]
        };
        if along(edge.facets[0]) == along(edge.facets[1]) && !crowded.contains(&e) {
            problems.push(Problem::Turned { body: name(), nodes: edge.nodes, facets: edge.facets });
        }
    }
    if body.attributes.two_sided() || body.attributes.rigid() {
        return;
    }
    if open > 0 {
        problems.push(Problem::Open { body: name(), edges: open, nodes: first });
    }
    if problems.len() > before {
        return;
    }
    let facets = scene.facets_of(body);
    // Volume of the cones over the facets, from a point of the surface so that it is exact far away too.
    let tip = reference[facets[0].nodes[0] as usize];
    let volume: f64 = facets
        .iter()
        .map(|f| {
            let mean: Vec3 = f.corners().iter().map(|&k| reference[k as usize] - tip).sum();
            f.area_vector(reference).dot(&mean) / (6.0 * f.kind.corners() as f64)
        })
        .sum();
    if volume <= 0.0 {
        problems.push(Problem::InsideOut { body: name(), volume });
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench_scenes::box_surface;
    use super::super::scene::{Attributes, BodyInput, BodyKind, Rules, Scene};
    use super::*;

    fn problems(quads: &[[u32; 4]], x: &[Vec3], attributes: Attributes) -> Vec<Problem> {
        let body = BodyInput::of_quads("cube", quads, attributes);
        check(&Scene::new(&[body], x, Rules::default()), x)
    }

    #[test]
    fn a_sound_cube_has_no_problems() {
        let (x, quads) = box_surface([2, 3, 1], [1.0, 2.0, 3.0]);
        assert_eq!(problems(&quads, &x, Attributes::default()), []);
    }

    #[test]
    fn each_fault_of_a_cube_is_named_with_its_place() {
        let (x, quads) = box_surface([2, 2, 2], [1.0; 3]);
        let solid = Attributes::default;
        let shell = Attributes { kind: BodyKind::Shell, thickness: 0.1, ..solid() };

        let open = problems(&quads[1..], &x, solid());
        assert!(matches!(open[..], [Problem::Open { edges: 4, .. }]), "{open:?}");
        assert_eq!(problems(&quads[1..], &x, shell), []);

        let inside_out: Vec<_> = quads.iter().map(|q| [q[3], q[2], q[1], q[0]]).collect();
        assert!(matches!(problems(&inside_out, &x, solid())[..], [Problem::InsideOut { .. }]));

        let mut turned = quads.clone();
        turned[0].reverse();
        let found = problems(&turned, &x, solid());
        assert!(found.len() == 4 && found.iter().all(|p| matches!(p, Problem::Turned { .. })), "{found:?}");

        let mut crowded = quads.clone();
        crowded.push(quads[0]);
        assert!(problems(&crowded, &x, solid()).iter().any(|p| matches!(p, Problem::Crowded { .. })));

        let mut doubled = quads.clone();
        doubled[3][1] = doubled[3][0];
        let found = problems(&doubled, &x, solid());
        assert!(matches!(found[0], Problem::Unusable { facet: 3, .. }), "{found:?}");

        let mut flat = x.clone();
        let [p, q, r, s] = quads[2].map(|k| k as usize);
        flat[q] = flat[p];
        flat[r] = flat[p];
        flat[s] = flat[p];
        let found = problems(&quads, &flat, solid());
        assert!(found.iter().any(|p| matches!(p, Problem::NoArea { facet: 2, .. })), "{found:?}");
        assert!(found.iter().any(|p| matches!(p, Problem::SamePlace { .. })), "{found:?}");

        let mut lost = x.clone();
        lost[5].y = f64::NAN;
        assert!(matches!(problems(&quads, &lost, solid())[..], [Problem::NotFinite { node: 5, .. }]));

        let mut unknown = quads.clone();
        unknown[1][2] = 99;
        assert!(matches!(problems(&unknown, &x, solid())[0], Problem::Unusable { facet: 1, .. }));
        let text = problems(&unknown, &x, solid())[0].to_string();
        assert!(text.contains("body `cube`: facet 1"), "{text}");
    }
}
