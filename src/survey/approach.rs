//! How near bodies are to each other at the start, and when they meet if they fly on freely: what `carom check` tells before
//! a run.

use crate::contact::octree::Aabb;
use crate::contact::scene::{FacetKind, Scene};
use crate::contact::search::{PairSearch, Query};
use crate::contact::three_stage::ThreeStage;
use crate::math::Vec3;
use crate::mesh::surface::NONE;
use crate::model::{Model, State};

/// Bodies further apart than this, over the size of all of them, do not meet: a plane may be anywhere.
const FARTHEST: f64 = 1e6;
/// Bodies that are this near, in edges of the finest, have met.
const MET: f64 = 1e-3;
/// Moves of bodies towards each other; who has not met by then meets later.
const MOVES: usize = 30;
/// Facets of a round surface turn by this much against their neighbours [rad]: less is flat, more is an edge.
const ROUND: [f64; 2] = [0.005, 0.6];

/// The nearest two bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    pub bodies: [String; 2],
    /// [m]; not positive if they touch or overlap.
    pub gap: f64,
}

/// When bodies first meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meeting {
    /// [s], for bodies that do not deform on the way.
    At(f64),
    /// Not before this time [s]; they pass each other closely.
    After(f64),
    /// Not before the end.
    Never,
}

/// A round body whose facets lie inside the surface they stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Facetted {
    pub body: String,
    /// Median edge [m], and how far the middle of a facet is inside: L θ / 8 for edges L that turn by θ.
    pub edge: f64,
    pub sagitta: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approach {
    /// Bounding box of each body and obstacle that is no plane.
    pub boxes: Vec<(String, [Vec3; 2])>,
    pub nearest: Option<Nearest>,
    pub meeting: Option<Meeting>,
    pub facetted: Vec<Facetted>,
}

/// Looks at the model at its initial state; `end` is that of the run [s].
pub fn approach(model: &Model, state: &State, end: f64) -> Approach {
    let scene = model.contact.scene(model, false);
    let mut flight = Flight::new(model, state, &scene);
    let whole = |b: &usize| !scene.bodies[*b].plane;
    let boxes = (0..scene.bodies.len()).filter(whole).map(|b| {
        let Aabb { lo, hi } = flight.extent(b);
        (scene.bodies[b].name.clone(), [lo.into(), hi.into()])
    });
    let boxes = boxes.collect();
    let facetted = (0..scene.bodies.len()).filter_map(|b| facetted(&scene, b, &flight.x)).collect();
    let nearest = flight.nearest();
    let meeting = nearest.as_ref().map(|_| flight.meet(end));
    let nearest = nearest
        .map(|(pair, gap)| Nearest { bodies: pair.map(|b| scene.bodies[b as usize].name.clone()), gap });
    Approach { boxes, nearest, meeting, facetted }
}

/// Bodies that fly on as if there were nothing else.
struct Flight<'a> {
    model: &'a Model,
    scene: &'a Scene,
    /// Nodes of bodies, then of obstacles, and the velocities of the first [m], [m/s].
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    drawn: Vec<Vec3>,
    time: f64,
    /// Edge of the finest body [m].
    edge: f64,
    search: ThreeStage,
}

impl<'a> Flight<'a> {
    fn new(model: &'a Model, state: &State, scene: &'a Scene) -> Flight<'a> {
        let drawn = model.contact.obstacle_nodes();
        let mut x = state.x.clone();
        x.extend(&drawn);
        let edges = scene.bodies.iter().filter(|b| !b.plane && b.median_edge > 0.0).map(|b| b.median_edge);
        let edge = edges.fold(f64::INFINITY, f64::min);
        let (v, time) = (state.v.clone(), state.time);
        let mut flight = Flight { model, scene, x, v, drawn, time, edge, search: ThreeStage::new() };
        flight.place_obstacles();
        flight
    }

    fn place_obstacles(&mut self) {
        let nodes = self.v.len();
        self.model.contact.place(self.time, &self.drawn, &mut self.x[nodes..]);
    }

    fn extent(&self, body: usize) -> Aabb {
        let slots = self.scene.bodies[body].slots.clone();
        let mut around = Aabb::EMPTY;
        for slot in slots {
            around.add(&self.x[self.scene.slots[slot as usize] as usize].into());
        }
        around
    }

    /// No two bodies are nearer than their boxes [m].
    fn at_least(&self) -> f64 {
        let (bodies, count) = (&self.scene.bodies, self.scene.bodies.len());
        let extents: Vec<Aabb> = (0..count).map(|b| self.extent(b)).collect();
        let may_meet = |a: usize, b: usize| self.scene.may_meet(a as u32, b as u32);
        if (0..count).any(|a| bodies[a].plane && (0..count).any(|b| may_meet(a, b))) {
            return 0.0;
        }
        // along the axis on which they are spread most, in the order of their lower ends: whoever begins farther away than the
        // nearest two so far, and all behind him, can be left out
        let spread = |axis: usize| {
            let ends = extents.iter().map(|e| e.lo[axis]).filter(|x| x.is_finite());
            ends.clone().fold(f64::NEG_INFINITY, f64::max) - ends.fold(f64::INFINITY, f64::min)
        };
        let axis = (0..3).max_by(|&p, &q| spread(p).total_cmp(&spread(q))).unwrap_or(0);
        let mut order: Vec<usize> = (0..count).filter(|&b| !bodies[b].plane).collect();
        order.sort_by(|&p, &q| extents[p].lo[axis].total_cmp(&extents[q].lo[axis]));
        let mut least = f64::INFINITY;
        for (i, &a) in order.iter().enumerate() {
            for &b in &order[i + 1..] {
                if extents[b].lo[axis] - extents[a].hi[axis] > least {
                    break;
                }
                if may_meet(a, b) {
                    least = least.min(extents[a].distance(&extents[b]));
                }
            }
        }
        least
    }

    /// Two bodies that are nearest, and their gap; none if nobody can meet anybody.
    fn nearest(&mut self) -> Option<([u32; 2], f64)> {
        let least = self.at_least();
        // a plane goes on for ever
        let bounded = (0..self.scene.bodies.len()).filter(|&b| !self.scene.bodies[b].plane);
        let largest = bounded.fold(Aabb::EMPTY, |mut all, b| {
            let Aabb { lo, hi } = self.extent(b);
            all.add(&lo);
            all.add(&hi);
            all
        });
        let size = (Vec3::from(largest.hi) - Vec3::from(largest.lo)).norm();
        if !(least.is_finite() && size.is_finite() && self.edge.is_finite()) {
            return None;
        }
        let mut reach = least + self.edge;
        loop {
            let query = Query { max_penetration: Some(f64::INFINITY), ..Query::all(reach) };
            self.search.find(self.scene, &self.x, None, &query).ok()?;
            let scene = self.scene;
            let nodes = self
                .search
                .vertex_face()
                .iter()
                .map(|r| ([scene.node_body[r.node as usize], scene.facets[r.face as usize].body], r.gap));
            let edges = self
                .search
                .edge_edge()
                .iter()
                .map(|r| ([r.first, r.second].map(|e| scene.edges[e as usize].body), r.gap));
            // what overlaps touches; how deep is told elsewhere
            let apart = nodes.chain(edges).filter(|(pair, _)| pair[0] != pair[1]);
            let found = apart.min_by(|p, q| p.1.max(0.0).total_cmp(&q.1.max(0.0)).then(p.0.cmp(&q.0)));
            if found.is_some() || reach > FARTHEST * size {
                return found.map(|(pair, gap)| (pair, gap.max(0.0)));
            }
            reach *= 2.0;
        }
    }

    /// Accelerations of the nodes of a body [m/s²].
    fn pull(&self, body: usize) -> Vec3 {
        let body = &self.model.bodies[body];
        body.gravity * body.gravity_table.at(self.time)
    }

    /// Bounds of how fast two nodes approach each other [m/s] and how much faster they get [m/s²].
    fn closing(&self) -> (f64, f64) {
        let bodies = 0..self.model.bodies.len();
        let mut ends: Vec<Vec3> = self.v.clone();
        // obstacles: by where they are a little later
        let mut later = self.drawn.clone();
        let moment = 1e-6 * self.time.max(1e-6);
        self.model.contact.place(self.time + moment, &self.drawn, &mut later);
        ends.extend(later.iter().zip(&self.x[self.v.len()..]).map(|(b, a)| (b - a) / moment));
        let middle = |all: &[Vec3]| {
            let far = |axis: usize| {
                let (lo, hi) =
                    all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi): (f64, f64), p| {
                        (lo.min(p[axis]), hi.max(p[axis]))
                    });
                0.5 * (lo + hi)
            };
            Vec3::new(far(0), far(1), far(2))
        };
        let widest = |all: &[Vec3]| {
            let centre = middle(all);
            2.0 * all.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max)
        };
        let mut pulls: Vec<Vec3> = bodies.map(|b| self.pull(b)).collect();
        if !self.drawn.is_empty() {
            pulls.push(Vec3::zeros());
        }
        (widest(&ends), widest(&pulls))
    }

    /// Moves everybody towards each other by no more than the nearest two are apart, until they meet.
    fn meet(&mut self, end: f64) -> Meeting {
        for _ in 0..MOVES {
            let Some((_, gap)) = self.nearest() else { return Meeting::Never };
            if gap <= MET * self.edge {
                return Meeting::At(self.time);
            }
            let (speed, pull) = self.closing();
            let fastest = speed + (speed * speed + 2.0 * pull * gap).sqrt();
            let step = 2.0 * gap / fastest;
            // not `>`: nobody moves if the step is no number
            let before = self.time + step <= end;
            if !before {
                return Meeting::Never;
            }
            for body in 0..self.model.bodies.len() {
                let pull = self.pull(body);
                for node in self.model.bodies[body].nodes.clone() {
                    self.x[node] += step * (self.v[node] + 0.5 * step * pull);
                    self.v[node] += step * pull;
                }
            }
            self.time += step;
            self.place_obstacles();
        }
        Meeting::After(self.time)
    }
}

/// Is most of a surface round, and how far are its facets inside?
fn facetted(scene: &Scene, body: usize, x: &[Vec3]) -> Option<Facetted> {
    let of = &scene.bodies[body];
    let normal = |f: u32| {
        let area = scene.facets[f as usize].area_vector(x);
        let length = area.norm();
        (length > 0.0).then(|| area / length)
    };
    let turned = |f: [u32; 2]| Some(normal(f[0])?.dot(&normal(f[1])?).clamp(-1.0, 1.0).acos());
    let mut round: Vec<(f64, f64)> = Vec::new();
    let mut count = 0;
    let plane =
        scene.facets[of.facets.start as usize..of.facets.end as usize].first()?.kind == FacetKind::Segment;
    let mut add = |facets: [u32; 2], ends: [u32; 2]| {
        count += 1;
        let [a, b] = ends.map(|n| x[n as usize]);
        if let Some(angle) = turned(facets).filter(|t| (ROUND[0]..ROUND[1]).contains(t)) {
            round.push(((b - a).norm(), angle));
        }
    };
    if plane {
        for slot in of.slots.clone() {
            let node = scene.slots[slot as usize];
            if let [f, g] = *scene.node_facets.of(node) {
                let nodes = scene.facets[f as usize].nodes;
                add([f, g], [nodes[0], nodes[1]]);
            }
        }
    } else {
        for edge in &scene.edges[of.edges.start as usize..of.edges.end as usize] {
            if edge.facets[1] != NONE {
                add(edge.facets, edge.nodes);
            }
        }
    }
    if 2 * round.len() < count.max(1) {
        return None;
    }
    let median = |key: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = round.iter().map(key).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (edge, sagitta) = (median(|e| e.0), median(|e| e.0 * e.1 / 8.0));
    Some(Facetted { body: of.name.clone(), edge, sagitta })
}
