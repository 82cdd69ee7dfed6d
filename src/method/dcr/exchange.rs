//! Momentum that the contacts of a step exchange, all at once where they share nodes.
//!
//! A contact alone is an impact in closed form ([`response::bounce`]). Contacts that share nodes form an *island*; of its
//! momentum the part along all that close is taken apart and turned around together:
//!
//! ```text
//! 1 compression   λ ≥ 0   n·u ≥ 0   λ n·u = 0      each contact in turn, until nothing closes
//! 2 restitution   λ (1 + s e)                      s from the energy Σ e² D that restitution leaves, D what compression took
//! 3 friction      t                                each contact in turn, in the cone of the impulse of compression
//! 4 return        t (1 + s_t e)                    s_t ≤ 1 from the energy: friction never adds any
//! ```
//!
//! s is 1 as far as 1 has come to its end. For one contact this is the closed form. With plastic stick 3 has the cone of the
//! whole normal impulse, and nothing is returned.
//!
//! **Positions.** An impulse that turns a speed round stands in the middle of the time in which it acts. Friction has acted
//! all through a step of persistent contact, so along the surface nodes go back by what it did in `Δt/(1 + e_t)` (`d_t`). Then
//! bodies that stick neither creep nor pay, with any restitution: the work of d_t against the forces is that of the impulse
//! in the half step after it. A shorter time, as since the impact, costs the difference times a·J at every landing.
//!
//! **Why not one after the other.** Whole impacts in a row keep the energy too, but each turns what its neighbours have
//! just turned around. The velocity w along the contacts ends as some w° of the same size that is not −w, while positions
//! are put back all the way: a step with accelerations a gains ½Δt a·M(w + w°), and this is never negative where a presses
//! the bodies together. On two graded bars whose meshes do not match it was 1.8 % in one impact.

mod pieces;
mod rounds;

use super::collisions::Collisions;
use super::{Cone, Exchanges, Options, Variant};
use crate::contact::friction::{Stick, scale_to_cone};
use crate::contact::pair::{MAX_POINTS, Pair};
use crate::math::sets::Sets;
use crate::math::{Mat3, Vec3};
use crate::method::newmark::Newmark;
use crate::method::response::{self, Impact, Terms};
use crate::model::Model;
use pieces::{Pieces, Touched};
use rounds::Rounds;

/// An island is settled when a round changes no velocity by more than this share of its fastest approach.
const SETTLED: f64 = 1e-3;

/// An impact whose contact has been put back on the surface and whose impulse is to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingImpact {
    pub pair: Pair,
    /// Energy it shall give back beside its restitution [J].
    pub work: f64,
    /// Give back the angular momentum its impulse takes.
    pub spin: bool,
    /// `K`, `n·K n` [1/kg], and the speed at which it closes [m/s].
    inv: Mat3,
    inv_n: f64,
    approach: f64,
    /// Impulse of its compression, and all of its normal impulse [N s]; share of the slip that comes back.
    compression: f64,
    normal: f64,
    back: f64,
    friction: Vec3,
    /// Energy taken out by either [J].
    lost_normal: f64,
    lost_friction: f64,
    /// Energy put in so that it parts as fast as was asked [J].
    lifted: f64,
}

impl PendingImpact {
    pub(crate) fn new(pair: Pair, work: f64, spin: bool) -> PendingImpact {
        PendingImpact {
            pair,
            work,
            spin,
            inv: Mat3::zeros(),
            inv_n: 0.0,
            approach: 0.0,
            compression: 0.0,
            normal: 0.0,
            back: 0.0,
            friction: Vec3::zeros(),
            lost_normal: 0.0,
            lost_friction: 0.0,
            lifted: 0.0,
        }
    }

    /// What was done to it, if anything was.
    pub(crate) fn impact(&self) -> Option<Impact> {
        (self.normal > 0.0).then(|| Impact {
            normal: self.normal * self.pair.normal,
            friction: self.friction,
            lost_normal: self.lost_normal,
            lost_friction: self.lost_friction,
            lifted: self.lifted,
            owed: 0.0,
            sticks: false,
        })
    }

    /// Takes over what the closed form has done to it alone.
    fn take(&mut self, impact: &Impact, stick: Stick) {
        self.normal = self.pair.normal.dot(&impact.normal);
        self.back = stick.restitution(self.pair.e);
        self.friction = impact.friction;
        (self.lost_normal, self.lost_friction) = (impact.lost_normal, impact.lost_friction);
        self.lifted = impact.lifted;
    }

    /// Speed at which it opens [m/s].
    fn opening(&self, v: &[Vec3]) -> f64 {
        self.pair.normal.dot(&self.pair.relative_velocity(v))
    }
}

/// Impacts of a step, and which of them share nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImpactIslands {
    pub pending: Vec<PendingImpact>,
    /// How each was put back, as far as that is asked for later.
    pub moves: Vec<[Vec3; MAX_POINTS]>,
    /// Places of touched nodes that hang together.
    islands: Sets,
    /// Island of each contact and its place above, sorted.
    order: Vec<[u32; 2]>,
    pieces: Pieces,
    rounds: Rounds,
}

impl ImpactIslands {
    /// Of impacts among nodes whose inverse masses stay.
    pub(super) fn among(inv_mass: &[Mat3]) -> ImpactIslands {
        let mut islands = ImpactIslands::default();
        islands.rounds.prepare(inv_mass);
        islands
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.moves.clear();
    }

    /// Sorts contacts by islands; `slot` gives the place of each of the `nodes` touched. Who cannot move passes nothing on: contacts
    /// that share nobody else have islands of their own.
    fn sort(&mut self, nodes: usize, slot: &[u32], inv_mass: &[Mat3]) {
        self.islands.reset(nodes);
        let mobile = |k: &&u32| inv_mass[**k as usize] != Mat3::zeros();
        for pair in self.pending.iter().map(|w| &w.pair) {
            let mut points = pair.points().iter().filter(mobile).map(|&k| slot[k as usize]);
            if let Some(first) = points.next() {
                points.for_each(|k| _ = self.islands.join(first, k));
            }
        }
        self.order.clear();
        for (c, w) in self.pending.iter().enumerate() {
            let points = w.pair.points();
            let first = points.iter().find(mobile).or(points.first());
            self.order.push([first.map_or(0, |&k| self.islands.find(slot[k as usize])), c as u32]);
        }
        self.order.sort_unstable();
    }

    pub(crate) fn add(&mut self, pair: Pair) {
        self.pending.push(PendingImpact::new(pair, 0.0, false));
    }

    /// Bounces everything that is pending, together where nodes are shared. `places` are those of the nodes that pairs count
    /// in, `parting` the least speed at which each parts [m/s].
    pub(crate) fn bounce(
        &mut self,
        places: &[u32],
        (sweeps, terms): (u32, Terms),
        parting: impl Fn(usize) -> f64,
        inv_mass: &[Mat3],
        v: &mut [Vec3],
    ) {
        self.sort(places.len(), places, inv_mass);
        let ImpactIslands { pending, order, rounds, .. } = self;
        rounds.prepare(inv_mass);
        for of in order.chunk_by(|a, b| a[0] == b[0]) {
            if let &[[_, alone]] = of {
                let c = alone as usize;
                let terms = Terms { parting: parting(c), ..terms };
                if let Some(impact) = response::bounce(&pending[c].pair, terms, inv_mass, v) {
                    pending[c].take(&impact, terms.stick);
                }
                continue;
            }
            let island = Island { of, inv_mass, sweeps, stick: terms.stick, corrected: false };
            island.bounce(rounds, pending, v);
            island.lift(pending, &parting, v);
        }
    }
}

impl Collisions {
    /// Exchanges the momentum of everything that waits; `v` are the velocities of all nodes.
    pub(crate) fn exchange(&mut self, model: &Model, options: &Options, newmark: &Newmark, v: &mut [Vec3]) {
        let mut impacts = std::mem::take(&mut self.impacts);
        impacts.sort(self.account.nodes.len(), &self.account.slot, &self.inv_mass);
        let ImpactIslands { pending, order, pieces, rounds, .. } = &mut impacts;
        if options.cone == Cone::Printed {
            pending.iter_mut().for_each(|w| w.pair.mu /= 1.0 + w.pair.e);
        }
        let pairwise = options.response == Exchanges::Pairwise;
        if pairwise {
            // each an island of its own, in the order in which they were found
            order.clear();
            order.extend((0..pending.len() as u32).map(|c| [c, c]));
        }
        let exchange = Exchange {
            sweeps: options.sweeps,
            stick: model.contact.stick,
            corrected: options.energy_correction,
        };
        // Those that share nodes all the same, and corrections of the spin, go one after the other.
        if !pairwise && !options.spin_correction && pieces.cut(order) {
            let (slots, slot, inv_mass) =
                (self.account.nodes.len(), &self.account.slot[..], &self.inv_mass[..]);
            pieces.bounce(&exchange, &Touched { slots, slot, inv_mass }, (order, pending), v);
            for piece in pieces.used() {
                piece.returned.iter().for_each(|r| self.account.sums.returned += r);
                for (&[_, c], done) in order[piece.of.clone()].iter().zip(&piece.contacts) {
                    self.account((&pending[c as usize].pair, done), model, options, newmark, v);
                }
            }
        } else {
            for island in order.chunk_by(|a, b| a[0] == b[0]) {
                self.account.sums.returned += exchange.bounce(island, &self.inv_mass, rounds, pending, v);
                for &[_, c] in island {
                    let w = &pending[c as usize];
                    self.account((&w.pair, w), model, options, newmark, v);
                }
            }
        }
        impacts.clear();
        self.impacts = impacts;
    }

    /// Enters one contact in the books, with what follows from its impulse: the pair, and what was done to it.
    fn account(
        &mut self,
        (pair, w): (&Pair, &PendingImpact),
        model: &Model,
        options: &Options,
        newmark: &Newmark,
        v: &mut [Vec3],
    ) {
        let Some(impact) = w.impact() else { return };
        self.book(pair, &impact, newmark);
        if w.friction != Vec3::zeros() {
            self.hold_back(pair, &w.friction, acts(options.variant, w.back) * newmark.dt(), newmark);
        }
        if w.spin {
            // points that do not quite coincide: the impulse has a moment
            let moment = pair.gap_vector(&self.world.x).cross(&impact.impulse());
            self.restore_spin(pair.points(), moment, model, newmark, v);
        }
        self.account.carried.push(pair.key);
    }
}

/// How long friction has acted when a step ends, as a share of it; `back` of the slip comes back.
///
/// Steps of bodies that stick repeat themselves: from −e_t u + Δt a = u the slip is u = Δt a/(1 + e_t), and contact answers
/// it with J/m = −(1 + e_t) u. Variant P has moved by Δt u, which is Δt/(1 + e_t) of J/m too far. Variant F moves by
/// −Δt e_t u + ½Δt² a = ½(1 − e_t) Δt u: half a step of J/m less.
fn acts(variant: Variant, back: f64) -> f64 {
    let whole = 1.0 / (1.0 + back);
    match variant {
        Variant::Predictor => whole,
        Variant::FullStep => whole - 0.5,
    }
}

/// How impacts of a step are answered.
#[derive(Clone, Copy)]
struct Exchange {
    sweeps: u32,
    stick: Stick,
    /// Contacts shall give back the work of having been put back.
    corrected: bool,
}

impl Exchange {
    /// Bounces one island, which may be a contact alone; returns the work given back.
    fn bounce(
        &self,
        of: &[[u32; 2]],
        inv_mass: &[Mat3],
        rounds: &mut Rounds,
        pending: &mut [PendingImpact],
        v: &mut [Vec3],
    ) -> f64 {
        let &Exchange { sweeps, stick, corrected } = self;
        let &[[_, alone]] = of else {
            return Island { of, inv_mass, sweeps, stick, corrected }.bounce(rounds, pending, v);
        };
        let w = &mut pending[alone as usize];
        let terms = Terms { stick, work: w.work, parting: 0.0 };
        let Some(impact) = response::bounce(&w.pair, terms, inv_mass, v) else { return 0.0 };
        w.take(&impact, stick);
        if corrected { w.work - impact.owed } else { 0.0 }
    }
}

/// Impulse of compression after which a contact that opens at this speed is stopped, or does not press.
#[inline(always)]
fn stopped(compression: f64, opening: f64, inv_n: f64) -> f64 {
    f64::max(0.0, compression - opening / inv_n)
}

/// What friction does beside `so_far`: all of it would be `stick`, as far as the cone of a normal impulse and a coefficient allows. `u` is
/// the relative velocity, and `inv` how an impulse changes it.
#[inline(always)]
fn more_friction(
    so_far: &Vec3,
    stick: &Vec3,
    (pressed, mu): (f64, f64),
    n: &Vec3,
    u: &Vec3,
    inv: impl Fn(Vec3) -> Vec3,
) -> Vec3 {
    let mut more = scale_to_cone(pressed, stick, n, mu) * stick - so_far;
    // energy of a share θ of it: b θ + c θ²; restraints that couple the directions could make it a source
    let (b, c) = (more.dot(u), 0.5 * more.dot(&inv(more)));
    if b + c > 0.0 {
        more *= (-b / c).clamp(0.0, 1.0);
    }
    more
}

/// Contacts that share nodes.
struct Island<'a> {
    /// Places of its contacts.
    of: &'a [[u32; 2]],
    inv_mass: &'a [Mat3],
    sweeps: u32,
    stick: Stick,
    /// Contacts shall give back the work of having been put back.
    corrected: bool,
}

impl Island<'_> {
    fn places(&self) -> impl Iterator<Item = usize> {
        self.of.iter().map(|i| i[1] as usize)
    }

    fn push(&self, w: &PendingImpact, impulse: &Vec3, v: &mut [Vec3]) {
        response::push(&w.pair, impulse, self.inv_mass, v);
    }

    /// All phases; returns the work given back. `rounds` know the inverse masses.
    fn bounce(&self, rounds: &mut Rounds, pending: &mut [PendingImpact], v: &mut [Vec3]) -> f64 {
        let mut fastest: f64 = 0.0;
        for c in self.places() {
            let w = &mut pending[c];
            w.inv = response::inverse_mass(&w.pair, self.inv_mass);
            w.inv_n = response::along_normal(&w.pair, &w.inv).unwrap_or(0.0);
            w.approach = -w.opening(v);
            fastest = fastest.max(w.approach);
        }
        // not `fastest <= 0`: velocities that are no numbers leave the island alone as well
        let closing = fastest > 0.0;
        if !closing {
            return 0.0;
        }
        let close_together = rounds.can(self, pending);
        if close_together {
            rounds.compression(self, pending, SETTLED * fastest, v);
        } else {
            self.compression(pending, SETTLED * fastest, v);
        }
        let returned = self.restitution(pending, v);
        if self.places().any(|c| pending[c].pair.mu > 0.0) {
            if close_together {
                rounds.friction(self, pending, SETTLED * fastest, v);
            } else {
                self.friction(pending, SETTLED * fastest, v);
            }
            if self.stick == Stick::Elastic {
                self.return_slip(pending, v);
            }
        }
        returned
    }

    /// 1, compression: nothing closes any more, and nothing that opens is held.
    fn compression(&self, pending: &mut [PendingImpact], settled: f64, v: &mut [Vec3]) {
        for _ in 0..self.sweeps {
            let mut changed: f64 = 0.0;
            for c in self.places() {
                let w = &mut pending[c];
                if w.inv_n == 0.0 {
                    continue;
                }
                let compression = stopped(w.compression, w.opening(v), w.inv_n);
                let more = compression - w.compression;
                w.compression = compression;
                self.push(w, &(more * w.pair.normal), v);
                changed = changed.max(more.abs() * w.inv_n);
            }
            if changed <= settled {
                break;
            }
        }
    }

    /// 2, restitution: what was stopped parts again, with the energy that is left of what compression took; returns the work
    /// given back.
    fn restitution(&self, pending: &mut [PendingImpact], v: &mut [Vec3]) -> f64 {
        let share = |w: &PendingImpact| w.compression * if self.corrected { 1.0 } else { w.pair.e };
        // energy of s times the shares: ½ square s² + along s
        let (mut along, mut energy, mut work) = (0.0, 0.0, 0.0);
        for w in self.places().map(|c| &pending[c]).filter(|w| w.compression > 0.0) {
            let opening = w.opening(v);
            along += share(w) * opening;
            energy += w.pair.e * w.pair.e * 0.5 * w.compression * (w.approach - opening) + w.work;
            work += w.work;
        }
        for w in self.places().map(|c| &pending[c]) {
            self.push(w, &(share(w) * w.pair.normal), v);
        }
        let square = self.places().map(|c| share(&pending[c]) * pending[c].opening(v)).sum::<f64>() - along;
        let (mut s, mut returned) = (0.0, 0.0);
        if square > 0.0 {
            let left = along * along + 2.0 * square * energy;
            s = (left.max(0.0).sqrt() - along) / square;
            if self.corrected {
                // what could not be had is owed
                returned = work - 0.5 * left.min(0.0) / square;
            }
        }
        for c in self.places() {
            let w = &mut pending[c];
            let (once, all) = (share(w), s * share(w));
            self.push(w, &((all - once) * w.pair.normal), v);
            w.normal = w.compression + all;
        }
        for c in self.places() {
            let w = &mut pending[c];
            w.lost_normal = 0.5 * w.normal * (w.approach - w.opening(v));
        }
        returned
    }

    /// 3, friction: sliding is stopped, as far as the normal impulses allow: with elastic stick those of compression.
    fn friction(&self, pending: &mut [PendingImpact], settled: f64, v: &mut [Vec3]) {
        for _ in 0..self.sweeps {
            let mut changed: f64 = 0.0;
            for c in self.places() {
                let w = &mut pending[c];
                if w.pair.mu == 0.0 || w.normal <= 0.0 {
                    continue;
                }
                let n = w.pair.normal;
                let u = w.pair.relative_velocity(v);
                let stick = w.friction + response::stick(&w.inv, w.inv_n, &u, n.dot(&u), &Vec3::zeros(), &n);
                let pressed = if self.stick == Stick::Elastic { w.compression } else { w.normal };
                let more = more_friction(&w.friction, &stick, (pressed, w.pair.mu), &n, &u, |j| w.inv * j);
                w.friction += more;
                self.push(w, &more, v);
                let after = w.pair.relative_velocity(v);
                w.lost_friction -= 0.5 * more.dot(&(u + after));
                changed = changed.max((after - u).norm());
            }
            if changed <= settled {
                break;
            }
        }
    }
}

impl Island<'_> {
    /// Who is pressed parts at least as fast as is asked.
    fn lift(&self, pending: &mut [PendingImpact], parting: &impl Fn(usize) -> f64, v: &mut [Vec3]) {
        for c in self.places() {
            let (w, asked) = (&mut pending[c], parting(c));
            let opening = w.opening(v);
            if w.normal > 0.0 && opening < asked {
                let more = (asked - opening) / w.inv_n;
                self.push(w, &(more * w.pair.normal), v);
                w.normal += more;
                w.lifted += 0.5 * more * (opening + asked);
            }
        }
    }

    /// 4, return: slip comes back as the approach did, as far as friction has taken energy for it.
    fn return_slip(&self, pending: &mut [PendingImpact], v: &mut [Vec3]) {
        let slides = |w: &PendingImpact| w.friction != Vec3::zeros();
        // energy of s times what would come back: along s + ½ square s²
        let (mut lost, mut along) = (0.0, 0.0);
        for c in self.places() {
            let w = &mut pending[c];
            if slides(w) {
                // the whole in the cone of the whole
                w.back = f64::min(w.pair.e, w.normal / w.compression - 1.0).max(0.0);
                lost += w.lost_friction;
                along += w.back * w.friction.dot(&w.pair.relative_velocity(v));
            }
        }
        let before: f64 = along;
        for w in self.places().map(|c| &pending[c]).filter(|w| slides(w)) {
            self.push(w, &(w.back * w.friction), v);
        }
        let after: f64 = (self.places().map(|c| &pending[c]).filter(|w| slides(w)))
            .map(|w| w.back * w.friction.dot(&w.pair.relative_velocity(v)))
            .sum();
        let square = after - before;
        let gain = before + 0.5 * square;
        let mut s = 1.0;
        if gain > lost {
            let root = (before * before + 2.0 * square * lost.max(0.0)).sqrt();
            s = if square > 0.0 { ((root - before) / square).clamp(0.0, 1.0) } else { 0.0 };
            for w in self.places().map(|c| &pending[c]).filter(|w| slides(w)) {
                self.push(w, &((s - 1.0) * w.back * w.friction), v);
            }
        }
        // booked on the first of them: what the island has lost is one number
        let left = (lost - s * before - 0.5 * s * s * square).max(0.0);
        let mut all = Some(left);
        for c in self.places() {
            let w = &mut pending[c];
            if slides(w) {
                w.back *= s;
                w.friction *= 1.0 + w.back;
                w.lost_friction = all.take().unwrap_or(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests;
