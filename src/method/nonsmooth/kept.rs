//! Contacts that go on from the last step.
//!
//! A look names what overlaps at trial positions. Where bodies lie on each other that is about half of what will press: edges that cross are named only once
//! no end of them is inside the other body, and nodes that are predicted to part are pushed into as soon as others are kept out. They would come in by the
//! next look, or the one after that. So what pressed at the end of the last step and is still between its features joins the working set at the first look. It takes part
//! only if it presses: a constraint that is satisfied without a multiplier changes nothing.
//!
//! Left out are nodes that are inside the body: past a corner another facet may count, and the look has named it.

use super::detect::{Admissible, Constraint, Key, TOUCH};
use super::simplex::ContactKind;
use crate::contact::measure::Normals;
use crate::contact::rules::in_normal_cones;
use crate::contact::scene::Facet;
use crate::model::Model;

impl Admissible {
    /// Adds those of `pressed` that still lie over each other.
    pub fn keep(&self, model: &Model, pressed: impl Iterator<Item = Key>, work: &mut Vec<Constraint>) {
        let mut known: Vec<Key> = work.iter().map(|c| c.key).collect();
        known.sort_unstable();
        for key in pressed.filter(|key| known.binary_search(key).is_err()) {
            let kept = match key.0 {
                ContactKind::EdgeEdge => self.kept_edges(model, key),
                _ => Some(self.of_facet(model, key.1, key.2)).filter(|c| self.is_outside(c)),
            };
            work.extend(kept.filter(|c| c.simplex.foot(&self.world.x).outside(c.key.0) <= 0.0));
        }
    }

    /// Are there such features, and do they not hang together? A checkpoint may be damaged.
    pub fn names(&self, (touch, first, second): Key) -> bool {
        let scene = &self.world.scene;
        if touch == ContactKind::EdgeEdge {
            let [a, b] = [first, second].map(|e| scene.edges.get(e as usize).map(|e| e.nodes));
            return a.zip(b).is_some_and(|(a, b)| !a.iter().any(|k| b.contains(k)));
        }
        let body = scene.node_body.get(first as usize);
        let known = body.is_some_and(|&b| (b as usize) < scene.bodies.len());
        let fits = |f: &Facet| ContactKind::of_facet(f.kind) == touch && !f.corners().contains(&first);
        known && scene.facets.get(second as usize).is_some_and(fits)
    }

    /// Is a node out of the body of its facet, and in front of that?
    fn is_outside(&self, c: &Constraint) -> bool {
        let lever = c.simplex.foot(&self.world.x).lever;
        self.inside.binary_search(&(c.key.1, c.bodies[1])).is_err()
            && c.simplex.value(&self.world.x) >= -TOUCH * c.size * lever
    }

    /// Edges that touched at the start, where both signs are right: the one whose normal parts the bodies there counts.
    fn kept_edges(&self, model: &Model, (_, first, second): Key) -> Option<Constraint> {
        let parts = |c: &Constraint| {
            let foot = c.simplex.foot(&self.start);
            foot.outside(ContactKind::EdgeEdge) <= 0.0
                && in_normal_cones(&Normals::at(&self.world.scene, &self.start), first, second, &foot.normal)
        };
        [1.0, -1.0].map(|sign| self.of_edges(model, first, second, sign)).into_iter().find(parts)
    }
}
