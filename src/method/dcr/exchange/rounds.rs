//! Rounds over an island all of whose nodes are free, or fixed: what they read and write again and again, close together.
//!
//! A node is its velocity and 1/m, four numbers; a contact what a round asks of it. Everything is computed as [`Island`] does, in its
//! order, so the bits are the same; a contact that changes nothing is left out.

use super::{Island, PendingImpact, more_friction, response, stopped};
use crate::contact::friction::Stick;
use crate::contact::pair::MAX_POINTS;
use crate::math::lane::{Lane, OnLanes, dispatch};
use crate::math::{Mat3, Vec3};

/// Velocity [m/s] and inverse mass [1/kg].
type Node = [f64; 4];

/// Points of a contact and their weights.
#[derive(Clone, Copy, Debug)]
struct Stencil {
    points: [u32; MAX_POINTS],
    count: u32,
    weights: [f64; MAX_POINTS],
    /// Velocity of the outer point [m/s].
    outer: Vec3,
}

impl Stencil {
    /// Relative velocity of the contact [m/s].
    #[inline(always)]
    fn relative_velocity(&self, nodes: &[Node]) -> Vec3 {
        let mut u = [-self.outer.x, -self.outer.y, -self.outer.z, 0.0];
        for (&k, &w) in self.points.iter().zip(&self.weights).take(self.count as usize) {
            let node = &nodes[k as usize];
            for i in 0..4 {
                u[i] += w * node[i];
            }
        }
        Vec3::new(u[0], u[1], u[2])
    }

    /// Gives its nodes the impulse `j`.
    #[inline(always)]
    fn push(&self, j: &Vec3, nodes: &mut [Node]) {
        // inverse masses stay
        let j = [j.x, j.y, j.z, 0.0];
        for (&k, &w) in self.points.iter().zip(&self.weights).take(self.count as usize) {
            let node = &mut nodes[k as usize];
            let inverse = node[3];
            for i in 0..4 {
                node[i] += w * (inverse * j[i]);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Pressed {
    stencil: Stencil,
    normal: Vec3,
    inv_n: f64,
    compression: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sliding {
    stencil: Stencil,
    normal: Vec3,
    /// `K` is this times the unit matrix [1/kg].
    inv: f64,
    /// Normal impulse of its cone [N s].
    pressed: f64,
    mu: f64,
    friction: Vec3,
    lost: f64,
    which: u32,
}

/// Room for the rounds of an island; its memory is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// 1/m of each node; not a number where not all directions are alike.
    inverse: Vec<f64>,
    nodes: Vec<Node>,
    pressed: Vec<Pressed>,
    sliding: Vec<Sliding>,
}

impl Rounds {
    /// Takes up the inverse masses of all nodes.
    pub(super) fn prepare(&mut self, inv_mass: &[Mat3]) {
        self.inverse.clear();
        self.inverse.extend(inv_mass.iter().map(|m| response::alike(m).unwrap_or(f64::NAN)));
        self.nodes.clear();
        self.nodes.resize(inv_mass.len(), [0.0; 4]);
    }

    /// Is an island one for these rounds?
    pub(super) fn can(&self, island: &Island, pending: &[PendingImpact]) -> bool {
        let free = |w: &PendingImpact| w.pair.points().iter().all(|&k| !self.inverse[k as usize].is_nan());
        island.places().all(|c| free(&pending[c]))
    }

    fn take(&mut self, w: &PendingImpact, v: &[Vec3]) -> Stencil {
        for k in w.pair.points().iter().map(|&k| k as usize) {
            self.nodes[k] = [v[k].x, v[k].y, v[k].z, self.inverse[k]];
        }
        let outer = w.pair.outer.map_or(Vec3::zeros(), |outer| outer.velocity);
        Stencil { points: w.pair.points, count: u32::from(w.pair.count), weights: w.pair.weights, outer }
    }

    fn give_back(&self, stencil: &Stencil, v: &mut [Vec3]) {
        for k in stencil.points[..stencil.count as usize].iter().map(|&k| k as usize) {
            let [x, y, z, _] = self.nodes[k];
            v[k] = Vec3::new(x, y, z);
        }
    }

    /// [`Island::compression`].
    pub(super) fn compression(
        &mut self,
        island: &Island,
        pending: &mut [PendingImpact],
        settled: f64,
        v: &mut [Vec3],
    ) {
        self.pressed.clear();
        for w in island.places().map(|c| &pending[c]) {
            let (stencil, inv_n) = (self.take(w, v), w.inv_n);
            self.pressed.push(Pressed { stencil, normal: w.pair.normal, inv_n, compression: w.compression });
        }
        let Rounds { nodes, pressed, .. } = self;
        dispatch(Compression { nodes, contacts: pressed, sweeps: island.sweeps, settled });
        for (c, w) in island.places().zip(&self.pressed) {
            pending[c].compression = w.compression;
            self.give_back(&w.stencil, v);
        }
    }

    /// [`Island::friction`].
    pub(super) fn friction(
        &mut self,
        island: &Island,
        pending: &mut [PendingImpact],
        settled: f64,
        v: &mut [Vec3],
    ) {
        self.sliding.clear();
        for c in island.places() {
            let w = &pending[c];
            if w.pair.mu == 0.0 || w.normal <= 0.0 {
                continue;
            }
            let stencil = self.take(w, v);
            self.sliding.push(Sliding {
                stencil,
                normal: w.pair.normal,
                inv: w.inv[(0, 0)],
                pressed: if island.stick == Stick::Elastic { w.compression } else { w.normal },
                mu: w.pair.mu,
                friction: w.friction,
                lost: w.lost_friction,
                which: c as u32,
            });
        }
        let Rounds { nodes, sliding, .. } = self;
        dispatch(Friction { nodes, contacts: sliding, sweeps: island.sweeps, settled });
        for w in &self.sliding {
            let to = &mut pending[w.which as usize];
            (to.friction, to.lost_friction) = (w.friction, w.lost);
            self.give_back(&w.stencil, v);
        }
    }
}

struct Compression<'a> {
    nodes: &'a mut [Node],
    contacts: &'a mut [Pressed],
    sweeps: u32,
    settled: f64,
}

impl OnLanes for Compression<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, _: L::Token) {
        let Compression { nodes, contacts, sweeps, settled } = self;
        for _ in 0..sweeps {
            let mut changed: f64 = 0.0;
            for w in contacts.iter_mut().filter(|w| w.inv_n != 0.0) {
                let opening = w.normal.dot(&w.stencil.relative_velocity(nodes));
                let compression = stopped(w.compression, opening, w.inv_n);
                let more = compression - w.compression;
                if more != 0.0 {
                    w.compression = compression;
                    w.stencil.push(&(more * w.normal), nodes);
                    changed = changed.max(more.abs() * w.inv_n);
                }
            }
            if changed <= settled {
                break;
            }
        }
    }
}

struct Friction<'a> {
    nodes: &'a mut [Node],
    contacts: &'a mut [Sliding],
    sweeps: u32,
    settled: f64,
}

impl OnLanes for Friction<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, _: L::Token) {
        let Friction { nodes, contacts, sweeps, settled } = self;
        for _ in 0..sweeps {
            let mut changed: f64 = 0.0;
            for w in contacts.iter_mut() {
                let n = w.normal;
                let u = w.stencil.relative_velocity(nodes);
                // as `response::stick` where all directions are alike
                let stick = w.friction + -(u - n.dot(&u) * n) / w.inv;
                let more = more_friction(&w.friction, &stick, (w.pressed, w.mu), &n, &u, |j| w.inv * j);
                w.friction += more;
                w.stencil.push(&more, nodes);
                let after = w.stencil.relative_velocity(nodes);
                w.lost -= 0.5 * more.dot(&(u + after));
                changed = changed.max((after - u).norm());
            }
            if changed <= settled {
                break;
            }
        }
    }
}
