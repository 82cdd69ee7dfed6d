//! How hits are answered: one after the other, or all of an instant at once.

use super::super::impulses::{ContactContext, Local};
use super::super::options::{Normal, Response};
use super::super::simultaneous::Simultaneous;
use super::{Collisions, Hit, terms};
use crate::contact::pair::Pair;
use crate::math::Vec3;
use crate::mesh::{CellKind, MOST_NODES};
use crate::method::response::{self, Terms};

/// A contact of a hit: the side the node came through, and how it is answered.
struct Found {
    side: u8,
    pair: Pair,
    bodies: [u32; 2],
    terms: Terms,
}

/// Two edges that have crossed, with the nodes of the first, then of the second.
pub(crate) struct EdgePair {
    pub edges: [u32; 2],
    pub nodes: [u32; 4],
    pub bodies: [u32; 2],
    pub s: f64,
    pub t: f64,
    pub normal: Vec3,
    pub gap: f64,
}

impl Collisions {
    /// Answers hits in their order, or all at once.
    pub(super) fn answer_all(
        &mut self,
        hits: &[Vec<Hit>],
        order: &[(i64, u32, u32)],
        context: &mut ContactContext,
    ) {
        let mut together = std::mem::take(&mut self.together);
        together.clear();
        for &(_, task, at) in order {
            let hit = &hits[task as usize][at as usize];
            let side = match self.response {
                Response::Sequential => self.answer(hit, context),
                Response::Simultaneous => self.put_off(hit, &mut together, context),
            };
            if let Some(side) = side {
                self.contactors[hit.contactor as usize].known = (hit.target, side);
            }
        }
        let (window, contactors, tick) = (&mut self.window, &mut self.contactors, context.when.tick);
        together.answer(&mut self.tally, &mut self.world, context, |i| {
            window.carries(&mut contactors[i as usize].carried, tick);
        });
        self.together = together;
    }

    /// The contact of a node in a target whose nodes, its own first, count as `points` and move with `v`; none if it is to be left
    /// alone.
    fn contact(
        &mut self,
        hit: &Hit,
        points: &[u32; 9],
        v: &[Vec3],
        context: &ContactContext,
    ) -> Option<Found> {
        let contactor = self.contactors[hit.contactor as usize];
        let target = &self.targets.list[hit.target as usize];
        let Some(inside) = &hit.inside else {
            self.passed = Some([contactor.body, target.body]);
            return None;
        };
        if inside.count == 0 {
            self.tally.too_deep += 1;
            return None;
        }
        // faces equally near: the one that closes fastest
        let u = (0..target.kind.nodes()).fold(v[0], |u, k| u - inside.weights[k] * v[k + 1]);
        let closing = |f: &(u8, f64, Vec3)| -f.2.dot(&u);
        let mut face = inside.faces[0];
        for other in &inside.faces[1..inside.count] {
            if closing(other) > closing(&face) {
                face = *other;
            }
        }
        let (side, depth, mut normal) = face;
        self.window.penetration = self.window.penetration.max(depth);
        let bodies = [contactor.body, target.body];
        let law = context.model.contact.law(bodies[0], bodies[1]);
        let e = law.restitution.unwrap_or(1.0);
        let terms = terms(e, &contactor, depth, closing(&face), &context.motion(), context.model);
        if self.normal == Normal::Contactor {
            let motion = context.motion();
            normal = -self.targets.node_normal(&self.world.scene, contactor.node, |n| motion.at(n));
        }
        let mut pair = pair_in_element(target.kind, &inside.weights, normal, depth, points);
        (pair.mu, pair.e) = (law.friction, e);
        Some(Found { side, pair, bodies, terms })
    }

    /// The nodes of a hit, its own first, and how many.
    fn nodes_of(&self, hit: &Hit) -> ([u32; 9], usize) {
        let target = &self.targets.list[hit.target as usize];
        let mut nodes = [self.contactors[hit.contactor as usize].node; 9];
        nodes[1..=target.kind.nodes()].copy_from_slice(target.nodes());
        (nodes, target.kind.nodes() + 1)
    }

    /// A node in a target bounces if it goes deeper; tells the side it came through.
    fn answer(&mut self, hit: &Hit, context: &mut ContactContext) -> Option<u8> {
        let (nodes, count) = self.nodes_of(hit);
        let mut local = Local::of(&nodes[..count], self.velocity, &self.world.inertia, context);
        let Found { side, pair, bodies, terms } = self.contact(hit, &IN_ORDER, &local.v, context)?;
        if let Some(impact) = response::bounce(&pair, terms, &local.inv_mass, &mut local.v) {
            self.window.carries(&mut self.contactors[hit.contactor as usize].carried, context.when.tick);
            self.tally.give(&mut self.world, &pair, &nodes[..count], &impact, bodies, context);
        }
        Some(side)
    }

    /// A node in a target is answered with all others of its instant; tells the side it came through.
    fn put_off(
        &mut self,
        hit: &Hit,
        together: &mut Simultaneous,
        context: &mut ContactContext,
    ) -> Option<u8> {
        let (nodes, count) = self.nodes_of(hit);
        let (mut points, mut v) = ([0; 9], [Vec3::zeros(); 9]);
        for k in 0..count {
            points[k] = together.place(nodes[k], self.velocity, &self.world.inertia, context);
            v[k] = together.velocity(points[k]);
        }
        let Found { side, pair, bodies, terms } = self.contact(hit, &points, &v, context)?;
        together.add(pair, bodies, terms.parting, hit.contactor);
        Some(side)
    }

    /// Edges that have crossed are answered all at once; tells which of them, counted in `pairs`, carried an impulse. Points of
    /// the pairs count in their nodes.
    pub(crate) fn answer_edges(
        &mut self,
        pairs: &[EdgePair],
        context: &mut ContactContext,
        carried: impl FnMut(u32),
    ) {
        let mut together = std::mem::take(&mut self.together);
        together.clear();
        for (i, crossed) in (0..).zip(pairs) {
            self.window.penetration = self.window.penetration.max(-crossed.gap);
            let points =
                crossed.nodes.map(|n| together.place(n, self.velocity, &self.world.inertia, context));
            let mut pair = Pair::edge_edge(
                crossed.edges[0],
                crossed.edges[1],
                points,
                crossed.s,
                crossed.t,
                crossed.normal,
            )
            .with_gap(crossed.gap);
            let law = context.model.contact.law(crossed.bodies[0], crossed.bodies[1]);
            (pair.mu, pair.e) = (law.friction, law.restitution.unwrap_or(1.0));
            together.add(pair, crossed.bodies, 0.0, i);
        }
        together.answer(&mut self.tally, &mut self.world, context, carried);
        self.together = together;
    }
}

/// Nodes of a contact, counted from zero.
const IN_ORDER: [u32; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/// A node in an element: the points of both, the node first.
fn pair_in_element(
    kind: CellKind,
    w: &[f64; MOST_NODES],
    normal: Vec3,
    depth: f64,
    points: &[u32; 9],
) -> Pair {
    let [p, a, b, c, d, ..] = *points;
    match kind {
        CellKind::Bar2 => Pair::node_element(p, 0, [a, b], [w[0], w[1]], normal, depth),
        CellKind::Tri3 | CellKind::Shell3 => {
            Pair::node_element(p, 0, [a, b, c], [w[0], w[1], w[2]], normal, depth)
        }
        CellKind::Quad4 | CellKind::Tet4 => {
            Pair::node_element(p, 0, [a, b, c, d], [w[0], w[1], w[2], w[3]], normal, depth)
        }
        // a tet10 is touched as tets of linear shape
        CellKind::Hex8 | CellKind::Tet10 => {
            let ([_, nodes @ ..], [w @ .., _, _]) = (*points, *w);
            Pair::node_element(p, 0, nodes, w, normal, depth)
        }
    }
}
