//! Points of slave surfaces, and the facets they may meet.
//!
//! Points are nodes, each with the area of all its facets' corners, or points of Gauss on facets. What a point meets is chosen anew in every
//! configuration: of the candidates the one that is nearest as far
//! as it reaches, then projected on without its bounds ([`Kinematics`]). Sides of an edge that is nearest are equally near; of these it is the one
//! that faces a facet of the point most. Candidates are all facets that could come within reach of the facets of a point in a step, which the search
//! of the other methods finds; whatever more it finds is too far to count, so the choice depends on positions alone.
//!
//! A plane is a triangle, or in plane problems a segment, without end, whose corners move with it; they are nodes behind those of the scene.

use super::kinematics::{Kinematics, Master, Slave, shape};
use super::options::Quadrature;
use crate::contact::entry;
use crate::contact::rules::AGAINST;
use crate::contact::scene::{Facet, FacetKind, Scene};
use crate::contact::search::{PairSearch, Pass, Positions, Query, SearchError, passes};
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::method::contact_world::ContactWorld;
use crate::model::Model;
use std::ops::Range;

/// 1/√3.
const G: f64 = 0.577_350_269_189_625_8;
/// A facet whose normal has a cosine above this with that of a plane looks away from it. (Facets face each other as [`AGAINST`] says: a surface that
/// sags over the rim of another is held up by its top, not by its side.)
const AWAY: f64 = 0.5;
/// Facets are equally near if their distances differ by less than this share of how deep a point may be: round-off does not decide.
const AS_NEAR: f64 = 1e-9;
/// And face a point equally if cosines differ by less.
const AS_SQUARE: f64 = 1e-9;

/// A point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub slave: Slave,
    /// Where it stands: whose list of candidates is its own.
    pub host: u32,
    pub body: u32,
    /// w j, in the reference configuration [m²].
    pub weight: f64,
}

pub(super) struct Points {
    pub masters: Vec<Master>,
    pub list: Vec<Point>,
    /// Facets of each host, hosts of each facet, and points of each host: hosts are facets that points of Gauss stand on, or nodes.
    own: Lists,
    hosts: Lists,
    of_host: Vec<Range<u32>>,
    /// `checks[a][b]`: points of body a are held against facets of body b.
    checks: Vec<Vec<bool>>,
    /// How deep an overlap may be [m], by body.
    pub depth: Vec<f64>,
    /// Candidates of each host.
    found: Lists,
    /// Facets that may meet, and hosts with them.
    pairs: Vec<[u32; 2]>,
    hosted: Vec<[u32; 2]>,
    /// Corners of planes as drawn, and the obstacle each belongs to.
    corners: Vec<(usize, Vec3)>,
    /// Nodes of the model, and of the scene.
    pub soft: usize,
    pub(super) scene_nodes: usize,
}

/// Why candidates could not be had.
pub(super) enum Missed {
    Search(SearchError),
    /// Bodies, way and depth [m]: two facets would pass each other in one step.
    TooFar([u32; 2], f64, f64),
}

impl Points {
    /// The world is still as drawn.
    pub(super) fn new(model: &Model, world: &ContactWorld, quadrature: Quadrature, pass: Pass) -> Points {
        let ContactWorld { scene, x: reference, .. } = world;
        let mut masters: Vec<Master> = scene
            .facets
            .iter()
            .map(|f| Master { nodes: f.nodes, kind: f.kind, bounded: true, body: f.body })
            .collect();
        let corners = planes(model, scene, &mut masters, reference);
        let bodies = scene.bodies.len();
        let checks = (0..bodies as u32)
            .map(|a| (0..bodies as u32).map(|b| checks(model, scene, a, b, pass)).collect())
            .collect::<Vec<Vec<bool>>>();
        let mut points = Points {
            masters,
            list: Vec::new(),
            own: Lists::default(),
            hosts: Lists::default(),
            of_host: Vec::new(),
            depth: depths(scene, reference),
            checks,
            found: Lists::default(),
            pairs: Vec::new(),
            hosted: Vec::new(),
            corners,
            soft: model.reference.len(),
            scene_nodes: reference.len(),
        };
        match quadrature {
            Quadrature::Gauss => points.put_on_facets(model, scene, reference),
            Quadrature::Corners => points.put_on_nodes(model, scene, reference),
        }
        points
    }

    /// Points of Gauss on every facet of every slave.
    fn put_on_facets(&mut self, model: &Model, scene: &Scene, reference: &[Vec3]) {
        for (f, facet) in (0..).zip(&scene.facets) {
            let first = self.list.len() as u32;
            if self.is_slave(facet) {
                for (at, weight) in gauss(facet.kind) {
                    let (weights, ..) = shape(facet.kind, at);
                    let slave = Slave { nodes: facet.nodes, weights, count: facet.corners().len() as u8 };
                    let weight = weight * stretch(model, facet, at, reference);
                    self.list.push(Point { slave, host: f, body: facet.body, weight });
                }
            }
            self.of_host.push(first..self.list.len() as u32);
            for lists in [&mut self.own, &mut self.hosts] {
                lists.items.push(f);
                lists.close();
            }
        }
    }

    /// One point at every node of every slave. Tractions of several points of a node would not be determined one by one, and a point
    /// between nodes sees a corner late.
    fn put_on_nodes(&mut self, model: &Model, scene: &Scene, reference: &[Vec3]) {
        for facet in &scene.facets {
            if self.is_slave(facet) {
                self.hosts.items.extend(facet.corners());
            }
            self.hosts.close();
        }
        for k in 0..self.scene_nodes as u32 {
            let first = self.list.len() as u32;
            let mut area = 0.0;
            for &f in scene.node_facets.of(k) {
                let facet = &scene.facets[f as usize];
                if !self.is_slave(facet) {
                    continue;
                }
                self.own.items.push(f);
                let corners = facet.corners().iter().zip(corner_rule(facet.kind));
                for (_, (at, weight)) in corners.filter(|(corner, _)| **corner == k) {
                    area += weight * stretch(model, facet, at, reference);
                }
            }
            self.own.close();
            if let Some(&f) = self.own.of(k).first() {
                let slave = Slave { nodes: [k; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1 };
                self.list.push(Point { slave, host: k, body: scene.facets[f as usize].body, weight: area });
            }
            self.of_host.push(first..self.list.len() as u32);
        }
    }

    /// Do points of a facet look at anybody?
    fn is_slave(&self, facet: &Facet) -> bool {
        facet.kind != FacetKind::Plane && self.checks[facet.body as usize].iter().any(|l| *l)
    }

    /// Nodes of all positions: the model's, the obstacles', and corners of planes.
    pub(super) fn nodes(&self) -> usize {
        self.scene_nodes + self.corners.len()
    }

    /// Brings obstacles, whose nodes are as `drawn`, and corners of planes to where they are at `time`.
    pub(super) fn place(&self, model: &Model, drawn: &[Vec3], time: f64, x: &mut [Vec3]) {
        let (scene, corners) = x.split_at_mut(self.scene_nodes);
        model.contact.place(time, drawn, &mut scene[self.soft..]);
        for (to, (obstacle, corner)) in corners.iter_mut().zip(&self.corners) {
            *to = model.contact.obstacles[*obstacle].pose(time).place(corner);
        }
    }

    /// Velocities of obstacles and corners of planes at `time`, where they are then.
    pub(super) fn velocities(&self, model: &Model, time: f64, x: &[Vec3], v: &mut [Vec3]) {
        let mut from = self.soft;
        for obstacle in &model.contact.obstacles {
            let pose = obstacle.pose(time);
            for k in from..from + obstacle.count() {
                v[k] = pose.velocity_at(&x[k]);
            }
            from += obstacle.count();
        }
        for (k, (obstacle, _)) in (self.scene_nodes..).zip(&self.corners) {
            v[k] = model.contact.obstacles[*obstacle].pose(time).velocity_at(&x[k]);
        }
    }

    /// How deep two bodies may overlap [m].
    #[inline]
    pub(super) fn limit(&self, a: u32, b: u32) -> f64 {
        self.depth[a as usize].min(self.depth[b as usize])
    }

    /// Finds what may meet while no node is farther than `way` from where it is in `x`. `ahead` is where nodes would go.
    pub(super) fn gather(
        &mut self,
        world: &mut ContactWorld,
        x: &[Vec3],
        ahead: &[Vec3],
        way: f64,
    ) -> Result<(), Missed> {
        let deepest = self.depth.iter().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
        let query = Query::face_face(deepest + 2.0 * way);
        world.x.copy_from_slice(&x[..self.scene_nodes]);
        let ContactWorld { scene, search, x: now, .. } = world;
        search.gather(scene, Positions::now(now), &query).map_err(Missed::Search)?;
        let normal = |f: u32| scene.facets[f as usize].area_vector(x).try_normalize(0.0);
        self.pairs.clear();
        let candidates = search.candidates();
        for group in &candidates.groups {
            for &[f, g] in group.face_face.of(&candidates.face_face) {
                let [a, b] = [f, g].map(|f| scene.facets[f as usize].body as usize);
                let (Some(n), Some(m)) = (normal(f), normal(g)) else { continue };
                if n.dot(&m) >= AGAINST {
                    continue;
                }
                if self.checks[a][b] {
                    self.pairs.push([f, g]);
                }
                if self.checks[b][a] {
                    self.pairs.push([g, f]);
                }
            }
        }
        for (b, body) in scene.bodies.iter().enumerate().filter(|(_, b)| b.plane) {
            let plane = body.facets.start;
            let Some(n) = normal(plane) else { continue };
            let foot = x[scene.facets[plane as usize].nodes[0] as usize];
            for (a, slave) in scene.bodies.iter().enumerate().filter(|(a, _)| self.checks[*a][b]) {
                let reach = self.limit(a as u32, b as u32) + 2.0 * way;
                for f in slave.facets.clone() {
                    let corners = scene.facets[f as usize].corners();
                    let near = corners.iter().any(|&k| n.dot(&(x[k as usize] - foot)) < reach);
                    if near && normal(f).is_some_and(|m| m.dot(&n) < AWAY) {
                        self.pairs.push([f, plane]);
                    }
                }
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.list_candidates();
        self.passes_by(x, ahead)
    }

    /// Candidates of every host, from those of its facets.
    fn list_candidates(&mut self) {
        let Points { pairs, hosted, hosts, found, of_host, .. } = self;
        hosted.clear();
        for &[f, g] in pairs.iter() {
            hosted.extend(hosts.of(f).iter().map(|&h| [h, g]));
        }
        hosted.sort_unstable();
        hosted.dedup();
        found.clear();
        let mut next = hosted.iter().peekable();
        for h in 0..of_host.len() as u32 {
            while let Some([_, g]) = next.next_if(|pair| pair[0] == h) {
                found.items.push(*g);
            }
            found.close();
        }
    }

    /// Two facets that would come so far together on the way that neither would be found inside the other.
    fn passes_by(&self, x: &[Vec3], ahead: &[Vec3]) -> Result<(), Missed> {
        let middle = |nodes: &[u32]| {
            nodes.iter().map(|&k| ahead[k as usize] - x[k as usize]).sum::<Vec3>() / nodes.len() as f64
        };
        for &[f, g] in &self.pairs {
            let [s, m] = [f, g].map(|f| &self.masters[f as usize]);
            let limit = self.limit(s.body, m.body);
            let corners = |m: &Master| m.kind.corners().max(1);
            let together = middle(&s.nodes[..corners(s)]) - middle(&m.nodes[..corners(m)]);
            let far = together.norm();
            if far > limit && (!m.bounded || self.near_by(s, m, far, x)) {
                return Err(Missed::TooFar([s.body, m.body], far, 2.0 * limit));
            }
        }
        Ok(())
    }

    /// Are boxes around two facets not farther apart than `far`?
    fn near_by(&self, a: &Master, b: &Master, far: f64, x: &[Vec3]) -> bool {
        let bounds = |m: &Master| {
            let corners = m.nodes.map(|k| x[k as usize]);
            corners.iter().fold((corners[0], corners[0]), |(lo, hi), c| (lo.inf(c), hi.sup(c)))
        };
        let ((a_lo, a_hi), (b_lo, b_hi)) = (bounds(a), bounds(b));
        (0..3).all(|i| a_lo[i] - b_hi[i] <= far && b_lo[i] - a_hi[i] <= far)
    }

    /// The facet that a point meets in a configuration, with its operators; none where it is clear of everything.
    pub(super) fn meet(&self, point: &Point, x: &[Vec3]) -> Option<Kinematics> {
        let candidates = self.found.of(point.host);
        if candidates.is_empty() {
            return None;
        }
        let y = point.slave.at(x);
        // the larger, the squarer the facets face each other
        let facing = |g: u32| {
            let Some(m) = self.masters[g as usize].normal(x) else { return -1.0 };
            let normals = self.own.of(point.host).iter().filter_map(|&f| self.masters[f as usize].normal(x));
            normals.fold(-1.0, |most: f64, n| most.max(-n.dot(&m)))
        };
        let (mut distance, mut best) = (f64::INFINITY, (0, [0.0; 2]));
        for &g in candidates {
            let (found, at) = self.masters[g as usize].nearest(&y, x);
            let level = AS_NEAR * self.limit(point.body, self.masters[g as usize].body);
            let tied = level.is_finite() && (found - distance).abs() <= level;
            if found < distance && !tied || tied && facing(g) > facing(best.0) + AS_SQUARE {
                best = (g, at);
            }
            distance = distance.min(found);
        }
        let (facet, start) = best;
        let master = self.masters.get(facet as usize)?;
        let limit = self.limit(point.body, master.body);
        if master.bounded && distance > limit {
            return None;
        }
        Kinematics::new(&point.slave, master, facet, start, x).filter(|k| k.overlap <= limit)
    }

    /// A point on the plane or surface of one facet, wherever that ends.
    pub(super) fn meet_on(&self, point: &Point, facet: u32, x: &[Vec3]) -> Option<Kinematics> {
        let master = &self.masters[facet as usize];
        let (_, start) = master.nearest(&point.slave.at(x), x);
        let endless = Master { bounded: false, ..*master };
        let limit = self.limit(point.body, master.body);
        Kinematics::new(&point.slave, &endless, facet, start, x).filter(|k| k.overlap <= limit)
    }

    /// How far in front of a facet, or of what goes on beyond its edges, a point is at the start of a step [m]: who ends it behind has crossed it. Zero for
    /// who was behind already: it stays there, or has come round an edge and never was in front. None where there is no foot on the facet.
    pub(super) fn ahead_of(&self, point: &Point, facet: u32, start: &[Vec3]) -> Option<f64> {
        let master = &self.masters[facet as usize];
        let (_, at) = master.nearest(&point.slave.at(start), start);
        let endless = Master { bounded: false, ..*master };
        Kinematics::new(&point.slave, &endless, facet, at, start).map(|k| (-k.overlap).max(0.0))
    }

    /// Points that have candidates at all.
    pub(super) fn near(&self) -> impl Iterator<Item = u32> + '_ {
        let some = (0..).zip(&self.of_host).filter(|(h, _)| !self.found.of(*h).is_empty());
        some.flat_map(|(_, points)| points.clone())
    }
}

/// Do points of body `a` look at facets of body `b`?
fn checks(model: &Model, scene: &Scene, a: u32, b: u32, pass: Pass) -> bool {
    if !scene.may_meet(a, b) || scene.bodies[a as usize].plane {
        return false;
    }
    if a == b {
        return true;
    }
    match model.contact.slave(a, b) {
        Some(slave) => slave == a,
        None => passes(scene, a.min(b), a.max(b), pass)[usize::from(a > b)],
    }
}

/// Half of how thick each body is, an edge at most [m]; without bound for planes and open surfaces that are rigid.
fn depths(scene: &Scene, reference: &[Vec3]) -> Vec<f64> {
    let coarsest = scene.bodies.iter().map(|b| b.median_edge).filter(|e| e.is_finite()).fold(0.0, f64::max);
    let thick = entry::thickness(scene, reference, 2.0 * coarsest);
    let one = |(body, thick): (&crate::contact::scene::Body, f64)| {
        if body.plane || body.attributes.rigid() && thick == f64::INFINITY {
            return f64::INFINITY;
        }
        // a bar is as thick as it is long: its elements count
        0.5 * thick.min(2.0 * body.median_edge)
    };
    scene.bodies.iter().zip(thick).map(one).collect()
}

/// Triangles or segments in the place of planes; returns their corners.
fn planes(model: &Model, scene: &Scene, masters: &mut [Master], reference: &[Vec3]) -> Vec<(usize, Vec3)> {
    let flat = model.bodies.iter().all(|b| b.kind.space() < 3);
    let size = model.size();
    let mut corners = Vec::new();
    for (b, body) in scene.bodies.iter().enumerate().filter(|(_, b)| b.plane) {
        let f = body.facets.start as usize;
        let foot = reference[scene.facets[f].nodes[0] as usize];
        let n = scene.facets[f].area_vector(reference).normalize();
        let first = (reference.len() + corners.len()) as u32;
        let obstacle = b - model.bodies.len();
        let along = if flat {
            vec![Vec3::zeros(), Vec3::new(-n.y, n.x, 0.0)]
        } else {
            let other = if n.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
            let t = n.cross(&other).normalize();
            vec![Vec3::zeros(), t, n.cross(&t)]
        };
        corners.extend(along.iter().map(|a| (obstacle, foot + size * a)));
        let last = along.len() as u32 - 1;
        masters[f] = Master {
            nodes: std::array::from_fn(|k| first + (k as u32).min(last)),
            kind: if flat { FacetKind::Segment } else { FacetKind::Triangle },
            bounded: false,
            body: b as u32,
        };
    }
    corners
}

/// Coordinates and weights of the points of Gauss of a facet.
fn gauss(kind: FacetKind) -> Vec<([f64; 2], f64)> {
    match kind {
        FacetKind::Plane => Vec::new(),
        FacetKind::Point => vec![([0.0; 2], 1.0)],
        FacetKind::Segment => vec![([-G, 0.0], 1.0), ([G, 0.0], 1.0)],
        FacetKind::Triangle => {
            let (a, b) = (1.0 / 6.0, 2.0 / 3.0);
            [[a, a], [b, a], [a, b]].map(|at| (at, 1.0 / 6.0)).to_vec()
        }
        FacetKind::Quad => [[-G, -G], [G, -G], [G, G], [-G, G]].map(|at| (at, 1.0)).to_vec(),
    }
}

/// The same of its corners, in their order.
fn corner_rule(kind: FacetKind) -> Vec<([f64; 2], f64)> {
    match kind {
        FacetKind::Plane => Vec::new(),
        FacetKind::Point => vec![([0.0; 2], 1.0)],
        FacetKind::Segment => vec![([-1.0, 0.0], 1.0), ([1.0, 0.0], 1.0)],
        FacetKind::Triangle => [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|at| (at, 1.0 / 6.0)).to_vec(),
        FacetKind::Quad => [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|at| (at, 1.0)).to_vec(),
    }
}

/// Area of a facet over that of its coordinates, at one of its points [m²].
fn stretch(model: &Model, facet: &Facet, at: [f64; 2], reference: &[Vec3]) -> f64 {
    let (_, slopes, _) = shape(facet.kind, at);
    let sum =
        |w: &[f64; 4]| facet.corners().iter().zip(w).map(|(&k, w)| *w * reference[k as usize]).sum::<Vec3>();
    let usual = model.bodies.first().map_or(1.0, |b| b.section);
    let section = model.bodies.get(facet.body as usize).map_or(usual, |b| b.section);
    match facet.kind {
        FacetKind::Plane | FacetKind::Point => section,
        FacetKind::Segment => section * sum(&slopes[0]).norm(),
        _ => sum(&slopes[0]).cross(&sum(&slopes[1])).norm(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::scene::BodyKind;
    use crate::element::choice::{Kind, maker};
    use crate::material::Law;
    use crate::mesh::{CellKind, shape as shapes};
    use crate::model::{BodySpec, Builder, Table};

    /// Two boxes side by side.
    fn two_boxes() -> Model {
        let mut builder = Builder::default();
        for (name, at, cells) in [("a", 0.0, [2, 3, 2]), ("b", 1.0, [1, 2, 4])] {
            let mut mesh = shapes::Box::new([1.0, 2.0, 1.5], cells).build().unwrap();
            mesh.nodes.iter_mut().for_each(|p| p.x += at);
            let law = Law::StVenantKirchhoff { young: 2.5, poisson: 0.25, density: 1.0 };
            builder.body(BodySpec {
                name: name.into(),
                kind: BodyKind::Solid,
                mesh,
                blocks: vec![maker(Kind::new(CellKind::Hex8), &law)],
                section: 1.0,
                gravity: Vec3::zeros(),
                gravity_table: Table::default(),
                damping: 0.0,
            });
        }
        builder.build().unwrap()
    }

    /// Corners: as many points as surface nodes, where these are. The areas of either kind add up to the surfaces, 2 (2 + 1.5 + 3) each.
    #[test]
    fn every_surface_node_is_one_point_with_the_area_of_its_facets() {
        let model = two_boxes();
        let world = ContactWorld::new(&model, false);
        for quadrature in [Quadrature::Corners, Quadrature::Gauss] {
            let points = Points::new(&model, &world, quadrature, Pass::Double);
            for body in 0..2 {
                let own = points.list.iter().filter(|p| p.body == body);
                let area: f64 = own.map(|p| p.weight).sum();
                assert!((area - 13.0).abs() < 1e-12, "{quadrature:?}: {area}");
            }
            if quadrature == Quadrature::Gauss {
                continue;
            }
            let surface = world.scene.bodies.iter().map(|b| b.slots.len()).sum::<usize>();
            assert_eq!(points.list.len(), surface);
            for point in &points.list {
                assert_eq!(point.slave.at(&world.x), world.x[point.host as usize]);
                assert!(!points.own.of(point.host).is_empty());
            }
        }
    }

    /// Of two boxes that share a side, nodes of the side have candidates, and each of them the same ones as all of its facets together.
    #[test]
    fn a_node_has_the_candidates_of_all_its_facets() {
        let model = two_boxes();
        let mut world = ContactWorld::new(&model, false);
        let x = world.x.clone();
        let mut found = Vec::new();
        for quadrature in [Quadrature::Corners, Quadrature::Gauss] {
            let mut points = Points::new(&model, &world, quadrature, Pass::Double);
            assert!(points.gather(&mut world, &x, &x, 0.01).is_ok());
            found.push(points);
        }
        let [nodes, facets] = &found[..] else { panic!() };
        let mut seen = 0;
        for point in &nodes.list {
            let own = nodes.own.of(point.host);
            let mut all: Vec<u32> = own.iter().flat_map(|&f| facets.found.of(f).to_vec()).collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(nodes.found.of(point.host), &all[..]);
            seen += u32::from(!all.is_empty());
        }
        assert!(seen > 10, "{seen}");
    }

    /// Facets among `nodes` nodes, each its own host; the first two are candidates of the last.
    fn few(masters: Vec<Master>, nodes: usize) -> Points {
        let (mut own, mut found) = (Lists::default(), Lists::default());
        for f in 0..masters.len() as u32 {
            own.items.push(f);
            own.close();
            if f + 1 == masters.len() as u32 {
                found.items.extend(0..f);
            }
            found.close();
        }
        Points {
            masters,
            list: Vec::new(),
            own,
            hosts: Lists::default(),
            of_host: Vec::new(),
            checks: Vec::new(),
            depth: vec![0.5; 2],
            found,
            pairs: Vec::new(),
            hosted: Vec::new(),
            corners: Vec::new(),
            soft: nodes,
            scene_nodes: nodes,
        }
    }

    /// A segment along x whose body lies below, and a node: before it over the segment it is ahead by its height, beside it by its height over the line
    /// on which the segment goes on, and below that line, wherever, it is not ahead: it cannot cross what it is behind of.
    #[test]
    fn who_is_behind_a_facet_is_not_ahead_of_it() {
        let master = Master { nodes: [1, 0, 0, 0], kind: FacetKind::Segment, bounded: true, body: 1 };
        let points = few(vec![master], 3);
        let slave = Slave { nodes: [2; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1 };
        let point = Point { slave, host: 0, body: 0, weight: 1.0 };
        for (x, y, ahead) in
            [(0.5, 0.2, 0.2), (1.4, 0.03, 0.03), (1.1, -0.05, 0.0), (0.5, -0.01, 0.0), (-3.0, -0.9, 0.0)]
        {
            let start = [Vec3::zeros(), Vec3::x(), Vec3::new(x, y, 0.0)];
            let found = points.ahead_of(&point, 0, &start).expect("a line has a foot everywhere");
            assert!((found - ahead).abs() < 1e-15, "{x} {y}: {found}");
        }
    }

    /// Over the ridge of a roof both sides are as far away as the ridge itself, but for round-off: the side that the point's own facet faces is met, wherever
    /// the roof stands and whichever side comes first.
    #[test]
    fn a_point_over_a_ridge_meets_the_side_that_faces_it() {
        let segment = |a: u32, b: u32, body| Master {
            nodes: [a, b, b, b],
            kind: FacetKind::Segment,
            bounded: true,
            body,
        };
        let shapes = [0.5, 0.5, 0.0, 0.0];
        let slave = Slave { nodes: [3, 4, 4, 4], weights: shapes, count: 2 };
        // a steep side to the left of the ridge, node 1, and a flat one to the right; the point's facet lies along the flat one
        let drawn = [(-1.0, -1.5), (0.0, 0.0), (1.0, -0.2), (0.5, -0.09), (-0.5, 0.11)];
        for first in [[0, 1], [1, 0]] {
            let sides = [segment(1, 0, 1), segment(2, 1, 1)];
            let masters = vec![sides[first[0]], sides[first[1]], segment(4, 3, 0)];
            let points = few(masters, 5);
            let point = Point { slave, host: 2, body: 0, weight: 1.0 };
            for step in 0..200 {
                let (sin, cos) = (0.1 * f64::from(step)).sin_cos();
                let away = f64::from(step);
                let x: Vec<Vec3> = drawn
                    .iter()
                    .map(|(a, b)| Vec3::new(cos * a - sin * b + away, sin * a + cos * b - 0.7 * away, 0.0))
                    .collect();
                let met = points.meet(&point, &x).expect("over the ridge");
                let flat = first.iter().position(|&s| s == 1).unwrap();
                assert_eq!(met.facet as usize, flat, "step {step}, order {first:?}");
            }
        }
    }
}
