//! Islands that several threads answer.
//!
//! A piece of work has islands of its own. It copies their contacts, and the velocities and inverse masses of their nodes,
//! numbered anew; one thread takes back what has become of them. No two islands share a node that can move, so the bits are
//! those of one island after the other.

use super::rounds::Rounds;
use super::{Exchange, PendingImpact};
use crate::math::{Mat3, Vec3};
use crate::method::newmark::UNTOUCHED;
use rayon::prelude::*;
use std::ops::Range;

/// Contacts in a piece at least, and pieces for each thread: every piece has a table of all nodes that are touched.
const PIECE: usize = 64;
const SHARES: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    /// Its contacts, among those sorted by islands.
    pub of: Range<usize>,
    /// The same, with points numbered in the piece.
    pub contacts: Vec<PendingImpact>,
    /// Work given back by each island [J].
    pub returned: Vec<f64>,
    order: Vec<[u32; 2]>,
    nodes: Vec<u32>,
    inv_mass: Vec<Mat3>,
    v: Vec<Vec3>,
    rounds: Rounds,
    /// Number of each touched node in the piece.
    place: Vec<u32>,
}

/// Nodes that contacts of the step have to do with.
pub(super) struct Touched<'a> {
    pub slots: usize,
    /// Place of each node among the touched.
    pub slot: &'a [u32],
    pub inv_mass: &'a [Mat3],
}

impl Piece {
    /// Takes over its contacts; `order` are they alone.
    fn copy(&mut self, touched: &Touched, order: &[[u32; 2]], pending: &[PendingImpact], v: &[Vec3]) {
        let Piece { contacts, order: own, nodes, inv_mass, v: own_v, place, .. } = self;
        contacts.clear();
        own.clear();
        nodes.clear();
        inv_mass.clear();
        own_v.clear();
        place.clear();
        place.resize(touched.slots, UNTOUCHED);
        for (at, &[island, c]) in order.iter().enumerate() {
            contacts.push(pending[c as usize]);
            for k in contacts[at].pair.points_mut() {
                let node = *k as usize;
                let number = &mut place[touched.slot[node] as usize];
                if *number == UNTOUCHED {
                    *number = nodes.len() as u32;
                    nodes.push(*k);
                    inv_mass.push(touched.inv_mass[node]);
                    own_v.push(v[node]);
                }
                *k = *number;
            }
            own.push([island, at as u32]);
        }
    }

    fn bounce(&mut self, exchange: &Exchange) {
        let Piece { contacts, order, inv_mass, v, rounds, returned, .. } = self;
        returned.clear();
        rounds.prepare(inv_mass);
        let islands = order.chunk_by(|a, b| a[0] == b[0]);
        returned.extend(islands.map(|island| exchange.bounce(island, inv_mass, rounds, contacts, v)));
    }
}

/// Pieces of a step; their memory is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    all: Vec<Piece>,
    used: usize,
}

impl Pieces {
    /// Cuts contacts that are sorted by islands into pieces, never an island in two; false if there is nothing to share.
    pub(super) fn cut(&mut self, order: &[[u32; 2]]) -> bool {
        self.used = 0;
        let threads = rayon::current_num_threads();
        if threads == 1 || order.len() < 2 * PIECE {
            return false;
        }
        let least = PIECE.max(order.len() / (SHARES * threads));
        let (mut from, mut to) = (0, 0);
        for island in order.chunk_by(|a, b| a[0] == b[0]) {
            to += island.len();
            if to - from >= least || to == order.len() {
                if self.used == self.all.len() {
                    self.all.push(Piece::default());
                }
                self.all[self.used].of = from..to;
                (self.used, from) = (self.used + 1, to);
            }
        }
        self.used > 1
    }

    pub(super) fn used(&self) -> &[Piece] {
        &self.all[..self.used]
    }

    /// Bounces all islands; `v` are the velocities of all nodes. What was done to contacts stands in the pieces.
    pub(super) fn bounce(
        &mut self,
        exchange: &Exchange,
        touched: &Touched,
        (order, pending): (&[[u32; 2]], &[PendingImpact]),
        v: &mut [Vec3],
    ) {
        let before = &*v;
        self.all[..self.used].par_iter_mut().for_each(|piece| {
            piece.copy(touched, &order[piece.of.clone()], pending, before);
            piece.bounce(exchange);
        });
        for piece in self.used() {
            for (k, after) in piece.nodes.iter().zip(&piece.v) {
                v[*k as usize] = *after;
            }
        }
    }
}
