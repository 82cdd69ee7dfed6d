//! The surfaces of a case whose method knows contact: what can touch, what is wrong with it, what overlaps at the start.
//!
//! Problems that leave inside and outside without meaning are errors of the deck; others are warnings. Overlaps at the
//! start are warnings too, and errors with the guard. Each is told at the mesh of its body.

use crate::contact::check::{self, Problem};
use crate::contact::measure::Normals;
use crate::contact::overlap;
use crate::contact::rules::in_normal_cones;
use crate::contact::scene::{FacetKind, Scene};
use crate::contact::search::{PairSearch, Positions, Query, SearchError};
use crate::contact::three_stage::ThreeStage;
use crate::math::Vec3;
use crate::mesh::surface::NONE;
use crate::model::{Model, State};
use carom_declare::Report;
use std::collections::{BTreeMap, HashSet};

/// Overlap that is round-off of placing two bodies side by side, as a share of an edge.
const ROUND_OFF: f64 = 1e-9;
/// How far is looked, in edges of the finest body: beyond it, fine bodies near each other cost too much.
const REACH: f64 = 4.0;
/// Overlaps told, the deepest first.
const TOLD: usize = 5;

/// What of a body can touch.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceOf {
    pub name: String,
    /// An obstacle.
    pub rigid: bool,
    /// The half space below a plane: one facet without end.
    pub plane: bool,
    /// It touches nothing: `contact = false`, or `off` of the deck's [contact].
    pub off: bool,
    pub facets: usize,
    pub edges: usize,
    pub nodes: usize,
}

/// Two bodies that overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    pub bodies: [String; 2],
    /// Deepest overlap that was found [m].
    pub depth: f64,
    /// Where [m].
    pub at: Vec3,
}

/// Everything that can touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surfaces {
    pub bodies: Vec<SurfaceOf>,
    /// At the start, the deepest first.
    pub overlaps: Vec<Overlap>,
}

/// Looks at all surfaces of the model at its initial state.
pub(crate) fn examine(model: &Model, state: &State, guard: bool, report: &Report) -> Surfaces {
    let contact = &model.contact;
    // quadrilaterals as they are: facets are counted as the user does
    let scene = contact.scene(model, false);
    let mut x = state.x.clone();
    let drawn = contact.obstacle_nodes();
    x.extend(&drawn);
    contact.place(state.time, &drawn, &mut x[state.x.len()..]);

    let off: HashSet<u32> = contact.off.iter().copied().collect();
    let is_off = |b: usize| off.contains(&(b as u32));
    let found = check::check(&scene, &x);
    // what touches nothing may be as it likes
    for (b, body) in scene.bodies.iter().enumerate().filter(|(b, _)| !is_off(*b)) {
        let part = contact.parts.iter().any(|p| p.0 == b as u32);
        // a part of a closed surface is open, and was meant to be
        let meant = |p: &&Problem| !(part && matches!(p, Problem::Open { .. }));
        let mine: Vec<&Problem> = found.iter().filter(|p| owner(p) == body.name).filter(meant).collect();
        let key =
            if part && matches!(mine.first(), Some(Problem::Nothing { .. })) { "contact" } else { "mesh" };
        for (i, problem) in mine.iter().enumerate() {
            let kind = std::mem::discriminant(*problem);
            let like = |p: &&&Problem| std::mem::discriminant(**p) == kind;
            if mine[..i].iter().any(|p| like(&p)) {
                continue;
            }
            let more = mine[i + 1..].iter().filter(like).count();
            let help = if more > 0 { format!("and {more} more like this") } else { String::new() };
            if problem.is_fatal() {
                report.add(&["body", &body.name, key], problem.to_string(), help);
            } else {
                report.warn(&["body", &body.name, key], problem.to_string(), help);
            }
        }
    }
    let bodies = scene.bodies.iter().enumerate().map(|(b, body)| SurfaceOf {
        name: body.name.clone(),
        rigid: b >= model.bodies.len(),
        plane: body.plane,
        off: is_off(b),
        facets: body.facets.len(),
        edges: body.edges.len(),
        nodes: body.slots.len(),
    });
    let bodies = bodies.collect();
    let overlaps = if report.problems.none() { overlaps(&scene, &x) } else { Ok(Vec::new()) };
    let overlaps = overlaps.unwrap_or_else(|error| {
        let message = format!("overlaps cannot be looked for: {error}");
        report.add(&["body"], message, "take fewer cells, or a machine with more memory");
        Vec::new()
    });
    for overlap in overlaps.iter().take(TOLD) {
        let Overlap { bodies: [a, b], depth, at } = overlap;
        let message = format!(
            "bodies `{a}` and `{b}` overlap at the start, by {depth:.3e} m at ({:.4}, {:.4}, {:.4})",
            at.x, at.y, at.z
        );
        let path = ["body", a, "mesh", "at"];
        if guard {
            report.add(&path, message, "move them apart: with `guard` nothing may overlap");
        } else {
            let help = "contact throws them apart, or does not see it where it is deeper than half a facet";
            report.warn(&path, message, help);
        }
    }
    for ([a, b], at) in if report.problems.none() { crossed(&scene, &x) } else { Vec::new() } {
        let who = match a == b {
            true => format!("shell `{a}` passes through itself"),
            false => format!("`{a}` and `{b}` pass through each other"),
        };
        let message = format!("{who} at the start, at ({:.4}, {:.4}, {:.4})", at.x, at.y, at.z);
        let help = "move them apart: a shell with two sides has no inside to be pushed out of";
        report.add(&["body", &a, "mesh", "at"], message, help);
    }
    Surfaces { bodies, overlaps }
}

/// Bodies of which a shell with two sides passes through another or itself, and where: each pair once.
fn crossed(scene: &Scene, x: &[Vec3]) -> Vec<([String; 2], Vec3)> {
    let two_sided = |b: u32| scene.bodies[b as usize].attributes.two_sided();
    if !(0..scene.bodies.len() as u32).any(two_sided) {
        return Vec::new();
    }
    let query = Query::face_face(0.0);
    let mut search = ThreeStage::new();
    if search.gather(scene, Positions::now(x), &query).is_err() {
        return Vec::new();
    }
    let candidates = search.candidates();
    let mut crossed = Vec::new();
    for group in candidates.groups.iter().filter(|g| two_sided(g.a) || two_sided(g.b)) {
        let mut pairs = group.face_face.of(&candidates.face_face).iter();
        if let Some(&[f, _]) = pairs.find(|&&[f, g]| facets_meet(scene, x, f, g)) {
            let names = [group.a, group.b].map(|b| scene.bodies[b as usize].name.clone());
            crossed.push((names, middle(scene, x, f)));
        }
    }
    crossed
}

/// The body that a problem is about.
fn owner(problem: &Problem) -> &str {
    match problem {
        Problem::NotFinite { body, .. }
        | Problem::Unusable { body, .. }
        | Problem::Nothing { body }
        | Problem::NoArea { body, .. }
        | Problem::SamePlace { body, .. }
        | Problem::Crowded { body, .. }
        | Problem::Open { body, .. }
        | Problem::Turned { body, .. }
        | Problem::InsideOut { body, .. }
        | Problem::NoNormal { body }
        | Problem::Thickness { body, .. } => body,
    }
}

/// Does the surface of a body end somewhere, so that behind it is not always inside?
fn is_open(scene: &Scene, body: usize) -> bool {
    let body = &scene.bodies[body];
    let range = |r: &std::ops::Range<u32>| r.start as usize..r.end as usize;
    let alone = |&node: &u32| scene.node_facets.of(node).len() < 2;
    match scene.facets[range(&body.facets)].first().map(|f| f.kind) {
        None | Some(FacetKind::Plane) => false,
        Some(FacetKind::Point) => true,
        Some(FacetKind::Segment) => scene.slots[range(&body.slots)].iter().any(alone),
        Some(FacetKind::Triangle | FacetKind::Quad) => {
            scene.edges[range(&body.edges)].iter().any(|e| e.facets[1] == NONE)
        }
    }
}

/// Of each body: may it touch itself, and do facets of it that are no neighbours meet?
fn cut_by_themselves(scene: &Scene, x: &[Vec3]) -> Vec<bool> {
    let mut cut = vec![false; scene.bodies.len()];
    if scene.bodies.iter().all(|b| !b.attributes.self_contact) {
        return cut;
    }
    let query = Query::face_face(0.0);
    let mut search = ThreeStage::new();
    if search.gather(scene, Positions::now(x), &query).is_ok() {
        let candidates = search.candidates();
        for group in candidates.groups.iter().filter(|g| g.a == g.b) {
            let mut pairs = group.face_face.of(&candidates.face_face).iter();
            cut[group.a as usize] = pairs.any(|&[f, g]| facets_meet(scene, x, f, g));
        }
    }
    cut
}

/// Do two facets share a point? Quadrilaterals count as two triangles.
fn facets_meet(scene: &Scene, x: &[Vec3], f: u32, g: u32) -> bool {
    let [p, q] = [f, g].map(|f| scene.facets[f as usize].corners());
    let at = |k: u32| x[k as usize];
    if let ([a, b], [c, d]) = (p, q) {
        return overlap::segment_segment(&at(*a), &at(*b), &at(*c), &at(*d));
    }
    let triangles = |corners: &[u32]| {
        let fan: Vec<[Vec3; 3]> =
            (2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]].map(at)).collect();
        fan
    };
    let others = triangles(q);
    triangles(p).iter().any(|t| others.iter().any(|u| overlap::triangle_triangle(t, u)))
}

/// Bodies whose surfaces lie on each other and face the same way, so that no node is inside the other: each pair once, as deep as
/// an edge, and where.
fn coincident(scene: &Scene, x: &[Vec3], open: &[bool]) -> Vec<([u32; 2], f64, Vec3)> {
    let query = Query::face_face(0.0);
    let mut search = ThreeStage::new();
    if search.gather(scene, Positions::now(x), &query).is_err() {
        return Vec::new();
    }
    let closed = |b: u32| {
        let body = &scene.bodies[b as usize];
        !open[b as usize] && !body.plane && !body.attributes.two_sided()
    };
    let candidates = search.candidates();
    let mut found = Vec::new();
    for group in candidates.groups.iter().filter(|g| g.a != g.b && closed(g.a) && closed(g.b)) {
        let mut pairs = group.face_face.of(&candidates.face_face).iter();
        if let Some(&[f, _]) = pairs.find(|&&[f, g]| lie_on_each_other(scene, x, f, g)) {
            let edge = [group.a, group.b].map(|b| scene.bodies[b as usize].median_edge);
            found.push(([group.a, group.b], edge[0].min(edge[1]), middle(scene, x, f)));
        }
    }
    found
}

fn middle(scene: &Scene, x: &[Vec3], facet: u32) -> Vec3 {
    let corners = scene.facets[facet as usize].corners();
    corners.iter().map(|&k| x[k as usize]).sum::<Vec3>() / corners.len().max(1) as f64
}

/// Do two facets have the same outward normal, and is the middle of one a point of the other?
fn lie_on_each_other(scene: &Scene, x: &[Vec3], f: u32, g: u32) -> bool {
    let normal = |f: u32| scene.facets[f as usize].area_vector(x);
    let [n, m] = [normal(f), normal(g)];
    if n.dot(&m) < 0.99 * n.norm() * m.norm() || n.norm() == 0.0 || m.norm() == 0.0 {
        return false;
    }
    let inside = |p: Vec3, g: u32, m: Vec3| {
        let (corners, unit) = (scene.facets[g as usize].corners(), m.normalize());
        let at = |k: usize| x[corners[k % corners.len()] as usize];
        let size = (at(1) - at(0)).norm();
        if corners.len() < 2 || (p - at(0)).dot(&unit).abs() > 1e-6 * size {
            return false;
        }
        match corners.len() {
            2 => (p - at(0)).dot(&(at(1) - at(0))) > 0.0 && (p - at(1)).dot(&(at(0) - at(1))) > 0.0,
            n => (0..n).all(|k| (at(k + 1) - at(k)).cross(&(p - at(k))).dot(&unit) > 0.0),
        }
    };
    inside(middle(scene, x, f), g, m) || inside(middle(scene, x, g), f, n)
}

/// Two bodies that a search found behind each other's surface, and points that lie inside of a body if that is so.
struct Claim {
    bodies: [u32; 2],
    depth: f64,
    at: Vec3,
    inside: [(u32, Vec3); 2],
}

/// Is a point inside the closed surface of a body? It sees all of it under the solid angle 4π then, and from outside under none; a triangle
/// of corners a, b, c, seen from the origin, under tan(Ω/2) = a·(b×c) / (|a||b||c| + a·b|c| + b·c|a| + c·a|b|) (van Oosterom & Strackee 1983).
fn is_inside(scene: &Scene, x: &[Vec3], body: u32, point: &Vec3) -> bool {
    let range = scene.bodies[body as usize].facets.clone();
    let facets = &scene.facets[range.start as usize..range.end as usize];
    if !facets.iter().all(|f| matches!(f.kind, FacetKind::Triangle | FacetKind::Quad)) {
        return true;
    }
    let triangles = facets.iter().flat_map(|facet| {
        let corners = facet.corners();
        (2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]].map(|k| x[k as usize] - point))
    });
    let angle: f64 = triangles
        .map(|[a, b, c]| {
            let [l, m, n] = [a.norm(), b.norm(), c.norm()];
            let over = l * m * n + a.dot(&b) * n + b.dot(&c) * l + c.dot(&a) * m;
            2.0 * a.dot(&b.cross(&c)).atan2(over)
        })
        .sum();
    angle.abs() > 2.0 * std::f64::consts::PI
}

/// The deepest overlap of every two bodies. Surfaces that cross have nodes or edges near each other, so a reach of one
/// edge finds them; a body that is inside another as a whole is not seen, nor are two coarse ones among much finer ones.
///
/// What lies behind a surface of its own body is mostly the other side of a thin wall: it counts if the surface cuts itself.
fn overlaps(scene: &Scene, x: &[Vec3]) -> Result<Vec<Overlap>, SearchError> {
    let edges = scene.bodies.iter().filter(|b| !b.plane && b.median_edge > 0.0).map(|b| b.median_edge);
    let (finest, coarsest) =
        edges.fold((f64::INFINITY, 0.0), |(lo, hi): (f64, f64), e| (lo.min(e), hi.max(e)));
    let edge = coarsest.min(REACH * finest);
    let query = Query { max_penetration: Some(f64::INFINITY), ..Query::all(edge) };
    let mut search = ThreeStage::new();
    search.find(scene, x, None, &query)?;
    let mut claims = Vec::new();
    let least = ROUND_OFF * edge;
    let open: Vec<bool> = (0..scene.bodies.len()).map(|b| is_open(scene, b)).collect();
    let cut = cut_by_themselves(scene, x);
    for record in search.vertex_face().iter().filter(|r| -r.gap > least) {
        let facet = &scene.facets[record.face as usize];
        // Behind an open surface is not always inside: there the usual limit holds.
        let limit = 0.5 * scene.local_size(record.face, record.feature);
        if open[facet.body as usize] && -record.gap > limit {
            continue;
        }
        let (body, at) = (scene.node_body[record.node as usize], x[record.node as usize]);
        if body != facet.body || cut[body as usize] {
            let bodies = [body, facet.body];
            claims.push(Claim { bodies, depth: -record.gap, at, inside: [(facet.body, at); 2] });
        }
    }
    let normals = Normals::at(scene, x);
    for r in search.edge_edge().iter().filter(|r| -r.gap > least) {
        let [a, b] = [r.first, r.second].map(|e| scene.edges[e as usize].body);
        if in_normal_cones(&normals, r.first, r.second, &r.normal) && (a != b || cut[a as usize]) {
            claims.push(Claim { bodies: [a, b], depth: -r.gap, at: r.p, inside: [(b, r.p), (a, r.q)] });
        }
    }
    let mut deepest: BTreeMap<[u32; 2], (f64, Vec3)> = BTreeMap::new();
    claims.sort_by(|p, q| q.depth.total_cmp(&p.depth));
    for claim in claims {
        let [a, b] = claim.bodies;
        let pair = [a.min(b), a.max(b)];
        let inside =
            |&(body, point): &(u32, Vec3)| open[body as usize] || a == b || is_inside(scene, x, body, &point);
        if !deepest.contains_key(&pair) && claim.inside.iter().all(inside) {
            deepest.insert(pair, (claim.depth, claim.at));
        }
    }
    for (pair, depth, at) in coincident(scene, x, &open) {
        let known = deepest.entry([pair[0].min(pair[1]), pair[0].max(pair[1])]).or_insert((depth, at));
        if known.0 < depth {
            *known = (depth, at);
        }
    }
    let mut deepest: Vec<_> = deepest.into_iter().collect();
    deepest.sort_by(|p, q| q.1.0.total_cmp(&p.1.0).then(p.0.cmp(&q.0)));
    let name = |b: u32| scene.bodies[b as usize].name.clone();
    let overlap =
        |(pair, (depth, at)): ([u32; 2], (f64, Vec3))| Overlap { bodies: pair.map(name), depth, at };
    Ok(deepest.into_iter().map(overlap).collect())
}
