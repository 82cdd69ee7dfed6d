//! Rigid obstacles: a surface node that has got behind a plane, a polyline or a mesh bounces off, and so does an edge that has
//! crossed one of a mesh.
//!
//! A node is measured against the nearest facet around it, with the angle-weighted normals of the search room, and counts
//! as inside down to half the facet's size; a plane has no far side. The obstacle has the velocity of its pose at the
//! point of contact. Who goes through a facet between two contact checks and is not seen inside, because it is behind a thin wall or
//! further in than facets are large, bounces off the plane of that facet until it is in front of it again. Nodes of an obstacle do not look for the faces of bodies: its corners may enter between their nodes.

use super::edges::{Crossing, Line};
use super::impulses::DriftedView;
use crate::contact::cells::{Cells, box_around};
use crate::contact::entry::enters;
use crate::contact::octree::Aabb;
use crate::contact::pair::{Outer, Pair, Side};
use crate::contact::scene::{FacetKind, Scene};
use crate::math::Vec3;
use crate::method::contact_world::ContactWorld;
use crate::model::Model;
use crate::model::contact::ObstacleShape;

/// Share of a facet's size down to which a node is inside.
const DEEPEST: f64 = 0.5;

pub(crate) struct Obstacles {
    /// (obstacle, point, unit normal) as drawn.
    planes: Vec<(usize, Vec3, Vec3)>,
    /// Point and normal of each as it stands.
    standing: Vec<[Vec3; 2]>,
    /// Facets of all others, and boxes that reach as deep as nodes are looked for.
    facets: Vec<u32>,
    cells: Cells,
    /// The same of edges at which they bend.
    edges: Vec<Line>,
    edge_cells: Cells,
    /// Tick for which all this holds; for ever if nothing moves.
    placed: Option<u64>,
    moving: bool,
    /// Room around boxes [m].
    room: f64,
    found: Vec<u32>,
}

impl Obstacles {
    pub(crate) fn new(model: &Model, world: &ContactWorld, size: f64) -> Obstacles {
        let ContactWorld { scene, x, .. } = world;
        let obstacles = &model.contact.obstacles;
        let planes = obstacles.iter().enumerate().filter_map(|(i, o)| match o.shape {
            ObstacleShape::Plane { point, normal } => Some((i, point, normal.normalize())),
            _ => None,
        });
        let rigid = |f: &u32| {
            let facet = &scene.facets[*f as usize];
            facet.kind != FacetKind::Plane && scene.bodies[facet.body as usize].attributes.rigid()
        };
        let sharp = |l: &Line| l.bends && scene.bodies[l.body as usize].attributes.rigid();
        Obstacles {
            standing: Vec::with_capacity(obstacles.len()),
            planes: planes.collect(),
            facets: (0..scene.facets.len() as u32).filter(rigid).collect(),
            cells: Cells::new([0.0; 3], 1.5 * size, 0.0),
            edges: (0..scene.edges.len()).filter_map(|e| Line::of(scene, e, x)).filter(sharp).collect(),
            edge_cells: Cells::new([0.0; 3], 1.5 * size, 0.0),
            placed: None,
            moving: !obstacles.iter().all(|o| o.at_rest()),
            room: 0.1 * size,
            found: Vec::with_capacity(64),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.planes.is_empty() && self.facets.is_empty()
    }

    /// Memory of the boxes of its facets and edges [bytes].
    pub(crate) fn memory_bytes(&self) -> usize {
        self.cells.memory_bytes() + self.edge_cells.memory_bytes()
    }

    /// Brings obstacles, and the boxes of their facets, to where they are now.
    pub(crate) fn place(&mut self, model: &Model, world: &mut ContactWorld, motion: &DriftedView) {
        let tick = motion.when.tick;
        if self.placed.is_some_and(|placed| !self.moving || placed == tick) {
            return;
        }
        self.placed = Some(tick);
        world.place_obstacles(model, motion.when.clock.time(tick));
        let ContactWorld { scene, x, poses, .. } = world;
        self.standing.clear();
        self.standing.extend(self.planes.iter().map(|&(obstacle, point, normal)| {
            let pose = &poses[obstacle];
            [pose.place(&point), pose.turn * normal]
        }));
        self.cells.set_margin(self.room);
        for (i, &f) in self.facets.iter().enumerate() {
            let tight = box_around(scene.facets[f as usize].corners().iter().map(|&n| x[n as usize]));
            let deep = tight.grown(DEEPEST * scene.facet_size[f as usize]);
            self.cells.move_box(i as u32, deep.lo, deep.hi);
        }
        self.edge_cells.set_margin(self.room);
        for (i, line) in self.edges.iter().enumerate() {
            let edge = &scene.edges[line.edge as usize];
            let tight = box_around(line.nodes.map(|n| x[n as usize]));
            let deep = tight.grown(scene.deepest_crossing(edge, edge));
            self.edge_cells.move_box(i as u32, deep.lo, deep.hi);
        }
    }

    pub(crate) fn has_edges(&self) -> bool {
        !self.edges.is_empty()
    }

    /// Can an edge that stays in this box touch an edge of an obstacle as it is now?
    pub(crate) fn edge_may_touch(&self, around: &Aabb, found: &mut Vec<u32>) -> bool {
        if self.edges.is_empty() || self.moving {
            return !self.edges.is_empty();
        }
        self.edge_cells.query_box(&around.lo, &around.hi, found);
        !found.is_empty()
    }

    /// Edges of obstacles that an edge has crossed, with the obstacle's body; its nodes are the points zero and one of the pair.
    pub(crate) fn find_edges(
        &mut self,
        mine: &Line,
        model: &Model,
        world: &mut ContactWorld,
        motion: &DriftedView,
        out: &mut Vec<(u32, Pair)>,
    ) {
        self.place(model, world, motion);
        let tight = box_around(mine.nodes.map(|n| motion.at(n)));
        let mut found = std::mem::take(&mut self.found);
        self.edge_cells.query_box(&tight.lo, &tight.hi, &mut found);
        let ContactWorld { scene, x, poses, .. } = world;
        let soft = model.bodies.len();
        for other in found.iter().map(|&i| &self.edges[i as usize]) {
            let crossed = Crossing::of([mine, other], scene, |n| motion.at(n), |n| x[n as usize]);
            let Some(Crossing { s, t, normal, gap }) = crossed else { continue };
            let [p, q] = other.nodes.map(|n| x[n as usize]);
            let position = p + t * (q - p);
            let velocity = poses[other.body as usize - soft].velocity_at(&position);
            let pair =
                Pair::edge_obstacle([mine.edge, other.edge], [0, 1], s, Outer { position, velocity }, normal);
            out.push((other.body, pair.with_gap(gap)));
        }
        self.found = found;
    }

    /// Can a node that was at `from` when it was last checked, is at `y` now, and goes no further than `room`, touch an obstacle as it
    /// is now? Who goes fast may be through a thin wall already.
    pub(crate) fn may_touch(&self, [from, y]: [&Vec3; 2], room: f64, found: &mut Vec<u32>) -> bool {
        if self.moving {
            return !self.is_empty();
        }
        if self.standing.iter().any(|[point, normal]| normal.dot(&(point - y)) >= -room) {
            return true;
        }
        if self.facets.is_empty() {
            return false;
        }
        let (lo, hi) = (y.inf(from).add_scalar(-room), y.sup(from).add_scalar(room));
        self.cells.query_box(lo.as_ref(), hi.as_ref(), found);
        !found.is_empty()
    }

    /// Can nodes in this box, of which none goes further than `room`, touch an obstacle as it is now? Planes tell that at once.
    pub(crate) fn may_touch_body(&self, around: &Aabb, room: f64) -> bool {
        if self.moving || !self.facets.is_empty() {
            return !self.is_empty();
        }
        let corner = |n: &Vec3| Vec3::from_fn(|k, _| if n[k] > 0.0 { around.lo[k] } else { around.hi[k] });
        let height = |[point, n]: &[Vec3; 2]| n.dot(&(corner(n) - point));
        // round-off is on the safe side
        let far = |plane: &[Vec3; 2]| height(plane) > 1.001 * room;
        !self.standing.iter().all(far)
    }

    /// Contacts of a node at `y`, with the obstacle's body; the node is point zero of the pair.
    pub(crate) fn find(
        &mut self,
        node: u32,
        y: &Vec3,
        model: &Model,
        world: &mut ContactWorld,
        motion: &DriftedView,
        out: &mut Vec<(u32, Pair)>,
    ) {
        self.place(model, world, motion);
        let soft = model.bodies.len();
        for (p, (&(obstacle, ..), &[point, n])) in self.planes.iter().zip(&self.standing).enumerate() {
            let pose = &world.poses[obstacle];
            let depth = n.dot(&(point - y));
            if depth >= 0.0 {
                let foot = y + depth * n;
                let outer = Outer { position: foot, velocity: pose.velocity_at(&foot) };
                let pair = Pair::node_obstacle(0, p as u32, outer, n).with_gap(-depth);
                out.push(((soft + obstacle) as u32, pair));
            }
        }
        if self.facets.is_empty() {
            return;
        }
        world.x[node as usize] = *y;
        let mut found = std::mem::take(&mut self.found);
        self.cells.query(&[y.x, y.y, y.z], 0.0, &mut found);
        // of each obstacle the nearest facet
        let (at, scene) = (world.places(), &world.scene);
        let mut nearest: Option<(u32, u32, Pair)> = None;
        for &i in &found {
            let face = self.facets[i as usize];
            let body = scene.facets[face as usize].body;
            let Some(pair) = at.node_face(node, face, Side::Front, false) else { continue };
            if let Some(best) = nearest.filter(|best| best.0 == body) {
                if best.2.gap.abs() <= pair.gap.abs() {
                    continue;
                }
            } else {
                out.extend(nearest.and_then(|nearest| overlap(scene, nearest)));
            }
            nearest = Some((body, face, pair));
        }
        out.extend(nearest.and_then(|nearest| overlap(scene, nearest)));
        self.found = found;
    }
}

impl Obstacles {
    /// The facet of an obstacle that a node which was at `from` and is at `y` has gone through in `seconds`.
    pub(crate) fn entered(
        &mut self,
        from: &Vec3,
        y: &Vec3,
        seconds: f64,
        world: &ContactWorld,
        soft: usize,
    ) -> Option<u32> {
        if self.facets.is_empty() {
            return None;
        }
        let fastest = if self.moving { fastest(world, y) * seconds } else { 0.0 };
        let (lo, hi) = (y.inf(from).add_scalar(-fastest), y.sup(from).add_scalar(fastest));
        let mut found = std::mem::take(&mut self.found);
        self.cells.query_box(lo.as_ref(), hi.as_ref(), &mut found);
        let mut first: Option<(f64, u32)> = None;
        for &i in &found {
            let facet = &world.scene.facets[self.facets[i as usize] as usize];
            let from = from + seconds * world.poses[facet.body as usize - soft].velocity_at(y);
            let (corners, count) = facet.points(&world.x);
            let n = facet.area_vector(&world.x);
            if let Some(at) = enters(&from, y, &corners[..count], &n)
                && first.is_none_or(|f| at < f.0)
            {
                first = Some((at, self.facets[i as usize]));
            }
        }
        self.found = found;
        first.map(|f| f.1)
    }

    /// A node at `y` against the plane of a facet it has gone through.
    pub(crate) fn behind(&self, facet: u32, y: &Vec3, world: &ContactWorld, soft: usize) -> (u32, Pair) {
        let of = &world.scene.facets[facet as usize];
        let n = of.area_vector(&world.x).normalize();
        let gap = n.dot(&(y - world.x[of.nodes[0] as usize]));
        let foot = y - gap * n;
        let outer =
            Outer { position: foot, velocity: world.poses[of.body as usize - soft].velocity_at(&foot) };
        (of.body, Pair::node_obstacle(0, facet, outer, n).with_gap(gap))
    }
}

/// Largest speed at which obstacles pass `y` [m/s].
fn fastest(world: &ContactWorld, y: &Vec3) -> f64 {
    world.poses.iter().map(|p| p.velocity_at(y).norm()).fold(0.0, f64::max)
}

/// A pair of a node and a face of `body`, if they overlap, its node counted as zero.
fn overlap(scene: &Scene, (body, face, pair): (u32, u32, Pair)) -> Option<(u32, Pair)> {
    let inside = pair.gap <= 0.0 && -pair.gap <= DEEPEST * scene.facet_size[face as usize];
    let outer = pair.outer.filter(|_| inside)?;
    Some((body, Pair::node_obstacle(0, face, outer, pair.normal).with_gap(pair.gap)))
}
