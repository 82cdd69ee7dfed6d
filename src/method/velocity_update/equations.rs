//! The equations of one step, for Newton's method.
//!
//! ```text
//! velocity-update   (2/Δt) M (Δd/Δt − v) + c M Δd/Δt + f̄(d, d⁺) − f_c − E(½)  = 0       f̄ between both configurations
//! newmark-penalty   M a⁺ + c M v⁺ + f(d⁺) − f_c − E(1) = 0       a⁺ = 4(Δd − Δt v)/Δt² − a,   v⁺ = 2Δd/Δt − v
//! ```
//!
//! Loads act where forces do, in the middle of the step or at its end; how they follow the motion is left out of the matrix.

use super::kinematics::Kinematics;
use super::mass::Mass;
use super::multipliers::{Met, States, Status};
use super::points::{Missed, Points};
use super::rebound::Swing;
use super::traction::{Contact, Last, Law, Multiplier, Rebound, Scheme, Step};
use crate::element::Between;
use crate::math::Vec3;
use crate::method::bipotential_implicit::external;
use crate::method::contact_world::ContactWorld;
use crate::model::between::ForcesBetween;
use crate::model::forces::Forces;
use crate::model::{Model, State};
use crate::solve::assembly::{System, Unknowns};
use crate::solve::newton::{Increment, Problem, Residual};
use crate::solve::sparse::FactorError;
use rayon::prelude::*;

/// Round-off of a force, of the stiffness times the coordinates: a row of the matrix adds up to a few times its diagonal.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;
/// What an increment may leave of the residual, over the residual as a share of forces: that keeps convergence quadratic (Dembo, Eisenstat & Steihaug 1982). And at least and
/// at most. For factors that leave nothing it does not matter.
const ACCURATE: f64 = 0.1;
const FINEST: f64 = 1e-12;
const COARSEST: f64 = 1e-3;
/// Of parts that are small beside the residual.
const LOOSEST: f64 = 0.1;
/// Points that one task looks at.
pub(super) const CHUNK: usize = 64;

/// Forces of the elements as the scheme has them.
pub(super) enum Elements {
    Between(ForcesBetween),
    Now(Forces),
}

/// What elements did last: energy at the end and smallest det F.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inside {
    pub strain: f64,
    pub hourglass: f64,
    pub det_f: f64,
}

impl Elements {
    fn evaluate(&mut self, model: &Model, x: &[Vec3], state: &mut State) -> Inside {
        match self {
            Elements::Between(forces) => {
                let pass = forces.evaluate(model, x, &state.x);
                Inside { strain: pass.energy, hourglass: 0.0, det_f: pass.det_f }
            }
            Elements::Now(forces) => {
                let totals = forces.evaluate(model, &state.x, &mut state.material, false);
                Inside { strain: totals.strain, hourglass: totals.hourglass, det_f: totals.det_f }
            }
        }
    }

    #[inline]
    pub(super) fn at(&self, k: usize) -> Vec3 {
        match self {
            Elements::Between(forces) => forces.at(k),
            Elements::Now(forces) => forces.at(k),
        }
    }
}

/// What the equations keep from step to step.
pub(super) struct Work {
    pub scheme: Scheme,
    pub elements: Elements,
    pub mass: Mass,
    pub unknowns: Unknowns,
    pub system: System,
    pub points: Points,
    /// Springs and friction, by slave and master body.
    pub laws: Vec<Vec<Law>>,
    /// Start of the step: positions and velocities of the model, accelerations for the scheme that has them.
    pub x: Vec<Vec3>,
    pub v: Vec<Vec3>,
    pub a: Vec<Vec3>,
    /// All positions, obstacles too: at the start, where forces act, and at the end.
    pub places: [Vec<Vec3>; 3],
    pub multipliers: Vec<Multiplier>,
    /// Points near anything.
    pub near: Vec<u32>,
    pub contacts: Vec<Contact>,
    /// What points do at an iterate, and what the next one is to know of it.
    pub status: Vec<Status>,
    pub last: Vec<Last>,
    pub met: Vec<Met>,
    /// What the impulse of each point at the end of the step is worth, and whether friction of the middle of the step asks for it.
    pub rebound: Vec<Rebound>,
    pub whole_cone: bool,
    /// How `rebound` has changed.
    pub swing: Vec<Swing>,
    /// Velocities at the end as they would be without the update, obstacles behind.
    pub velocity: Vec<Vec3>,
    /// Forces of contact and of loads on nodes [N].
    pub pushed: Vec<Vec3>,
    pub external: Vec<Vec3>,
    /// Forces of inertia and damping [N], and over the mass.
    pub inertia: Vec<Vec3>,
    rate: Vec<Vec3>,
    pub left: Vec<f64>,
    pub accuracy: Accuracy,
    pub increment: Vec<f64>,
    floor: f64,
    /// How far nodes may go from the start before candidates are looked for again, and at all [m].
    pub way: f64,
    pub farthest: f64,
    /// The matrix knows the couplings of this step, and has factors of one of its iterates.
    pub coupled: bool,
    pub factored: bool,
}

/// What solutions of an increment may leave: a share of the residual, and that as a force [N].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Accuracy {
    share: f64,
    force: f64,
}

impl Accuracy {
    /// Solves for a part that is added to the increment, of which as much may be left as of the increment.
    pub(super) fn solve(&self, system: &mut System, part: &mut [f64]) -> Result<(), FactorError> {
        let size = part.iter().map(|x| x * x).sum::<f64>().sqrt();
        system.solve_to(part, (self.force / size.max(f64::MIN_POSITIVE)).clamp(self.share, LOOSEST))
    }
}

/// Wall time of the parts of an implicit step [s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Forces of the elements.
    pub force: f64,
    /// Points in contact: where they are, what they carry.
    pub contact: f64,
    /// The matrix, its factors, and solutions with them.
    pub assembly: f64,
    pub factors: f64,
    pub solutions: f64,
    /// The velocity update and the books.
    pub update: f64,
}

impl Seconds {
    pub(super) fn add(&mut self, other: &Seconds) {
        let Seconds { force, contact, assembly, factors, solutions, update } = *other;
        self.force += force;
        self.contact += contact;
        self.assembly += assembly;
        self.factors += factors;
        self.solutions += solutions;
        self.update += update;
    }
}

/// A step of length `h` to `t1`, as far as it has come.
pub(super) struct Equations<'a> {
    pub model: &'a Model,
    pub world: &'a mut ContactWorld,
    pub state: &'a mut State,
    pub work: &'a mut Work,
    pub h: f64,
    pub t1: f64,
    pub inside: Inside,
    /// Why candidates could not be had, if that is so.
    pub missed: Option<Missed>,
    /// Factors of an iterate before may do.
    pub keeps: bool,
    /// How states of points go from iterate to iterate.
    pub states: States,
    /// Some point does something else than at the last iterate.
    pub changed: bool,
    /// How often states have changed after multipliers had taken up tractions.
    pub restarts: u32,
    /// No iterate was looked at yet.
    pub fresh: bool,
    /// The last residual, of forces but those of inertia.
    pub relative: f64,
    /// Overlap and way of a step that need no multipliers [m].
    pub tight: f64,
    pub seconds: Seconds,
}

impl Work {
    /// Looks for candidates for as long as nodes stay within `way` of the start.
    pub(super) fn gather(
        &mut self,
        world: &mut ContactWorld,
        ahead: &[Vec3],
        way: f64,
    ) -> Result<(), Missed> {
        self.way = way;
        let Work { points, places, near, .. } = self;
        if points.list.is_empty() {
            return Ok(());
        }
        points.gather(world, &places[0], ahead, way)?;
        near.clear();
        near.extend(points.near());
        Ok(())
    }

    /// What each point meets in one of the places.
    pub(super) fn meet_all(&self, place: usize) -> Vec<(u32, Kinematics)> {
        let (points, x) = (&self.points, &self.places[place]);
        let one = |&p: &u32| points.meet(&points.list[p as usize], x).map(|k| (p, k));
        self.near.par_iter().with_min_len(CHUNK).filter_map(one).collect()
    }

    /// Finds the points that carry a force at the present places.
    fn touch(&mut self, h: f64) {
        let Work { points, places, multipliers, near, contacts, laws, scheme, last, met, rebound, .. } = self;
        let [start, middle, end] = &*places;
        let one = |&p: &u32| {
            let point = &points.list[p as usize];
            let held = multipliers[p as usize].normal > 0.0
                || matches!(last[p as usize], Last::Foreseen(..) | Last::Carried(_));
            let meet = |place: usize, x: &[Vec3]| match met[p as usize].kept() {
                Some(facets) => points.meet_on(point, facets[place], x),
                None => points.meet(point, x),
            };
            let at_end = meet(1, end).filter(|k| k.overlap >= 0.0 || held)?;
            let ahead = points.ahead_of(point, at_end.facet, start)?;
            let at = match scheme {
                // what has crossed a facet is closing in on that one, whichever is nearest half way
                Scheme::Middle if ahead > 0.0 => points.meet_on(point, at_end.facet, middle)?,
                Scheme::Middle => meet(0, middle)?,
                Scheme::End => at_end,
            };
            let way = at.gather(|n| end[n] - start[n]);
            let bodies = [point.body, points.masters[at.facet as usize].body];
            let law = laws[bodies[0] as usize][bodies[1] as usize];
            let (rebound, last) = (rebound[p as usize], last[p as usize]);
            let step = Step { scheme: *scheme, dt: h, ahead, rebound, last };
            let mut contact =
                Contact::new(step, [at, at_end], way, (p, point.weight), law, multipliers[p as usize])?;
            contact.bodies = [bodies[0].min(bodies[1]), bodies[0].max(bodies[1])];
            Some(contact)
        };
        contacts.clear();
        contacts.par_extend(near.par_iter().with_min_len(CHUNK).filter_map(one));
    }
}

impl Equations<'_> {
    /// Obstacles and nodes to where they are at this iterate; candidates anew where nodes have left those they have. False where an iterate is
    /// beyond all bounds.
    fn place(&mut self) -> bool {
        let Work { places: [start, middle, end], scheme, points, way, .. } = &mut *self.work;
        let (soft, mut farthest) = (points.soft, 0.0);
        end[..soft].copy_from_slice(&self.state.x);
        for k in 0..soft {
            farthest = f64::max(farthest, (end[k] - start[k]).norm_squared());
        }
        let share = scheme.share();
        for ((m, a), b) in middle.iter_mut().zip(&*start).zip(&*end) {
            *m = a + share * (b - a);
        }
        let farthest = farthest.sqrt();
        if farthest > *way && farthest <= self.work.farthest {
            let ahead = std::mem::take(&mut self.work.places[0]);
            self.work.places[0] = ahead.clone();
            // how far the bodies may come together was judged when the step began
            if let Err(missed @ Missed::Search(_)) = self.work.gather(self.world, &ahead, 2.0 * farthest) {
                self.missed = Some(missed);
            }
        }
        farthest <= self.work.farthest
    }

    /// Factor of the mass in the matrix, and of damping.
    fn inertia(&self, damping: f64) -> f64 {
        match self.work.scheme {
            Scheme::Middle => (2.0 / self.h + damping) / self.h,
            Scheme::End => (4.0 / self.h + 2.0 * damping) / self.h,
        }
    }

    /// Force of inertia and damping on a node over its mass [m/s²].
    #[inline]
    fn inert(&self, k: usize, damping: f64) -> Vec3 {
        let (h, work) = (self.h, &*self.work);
        let (way, v) = (self.state.x[k] - work.x[k], work.v[k]);
        match work.scheme {
            Scheme::Middle => 2.0 / h * (way / h - v) + damping / h * way,
            Scheme::End => 4.0 / (h * h) * (way - h * v) - work.a[k] + damping * (2.0 / h * way - v),
        }
    }

    /// The matrix of this iterate.
    fn assemble(&mut self) {
        let model = self.model;
        let inertia: Vec<f64> = model.bodies.iter().map(|b| self.inertia(b.damping)).collect();
        let Work { system, unknowns, contacts, scheme, x, points, coupled, floor, mass, .. } =
            &mut *self.work;
        let soft = points.soft as u32;
        let stencils: Vec<Vec<u32>> = contacts
            .iter()
            .map(|c| c.middle.nodes[..c.middle.count].iter().copied().filter(|&n| n < soft).collect())
            .collect();
        system.couple(model, unknowns, stencils.iter().map(|s| &s[..]), !std::mem::replace(coupled, true));
        system.clear();
        match scheme {
            Scheme::Middle => {
                let between = Between { reference: &model.reference, start: x, end: &self.state.x };
                system.add_tangent_between(model, unknowns, between, 1.0);
            }
            Scheme::End => system.add_tangent(model, unknowns, &self.state.x, 1.0),
        }
        match mass {
            Mass::Lumped => system.add_mass(model, unknowns, |b| inertia[b]),
            Mass::Consistent(_) => system.add_consistent_mass(model, unknowns, |b| inertia[b]),
        }
        for contact in contacts.iter() {
            contact.tangent(*scheme, |row, column, block, skew| {
                if row < soft && column < soft {
                    system.add_block(unknowns, row, column, &-block);
                    if let Some(skew) = skew {
                        system.set_aside(unknowns, row, column, &-skew);
                    }
                }
            });
        }
        let reach = self.state.x.iter().fold(0.0, |m: f64, x| m.max(x.amax()));
        *floor = ROUND_OFF * system.diagonal().map(|d| (d * reach).powi(2)).sum::<f64>().sqrt();
    }
}

impl Problem for Equations<'_> {
    fn residual(&mut self) -> Option<Residual> {
        let watch = std::time::Instant::now();
        let (model, h) = (self.model, self.h);
        self.inside = self.work.elements.evaluate(model, &self.work.x, self.state);
        self.seconds.force += watch.elapsed().as_secs_f64();
        if !(self.inside.strain.is_finite() && self.inside.det_f > 0.0) {
            return None;
        }
        let watch = std::time::Instant::now();
        if !self.place() {
            return None;
        }
        self.work.touch(h);
        self.remember();
        let share = self.work.scheme.share();
        let time = self.t1 - (1.0 - share) * h;
        let work = &mut *self.work;
        external(model, &work.places[1][..work.points.soft], time, &mut work.external);
        work.pushed.fill(Vec3::zeros());
        let mut pressed = 0.0;
        for contact in &work.contacts {
            for (i, &k) in contact.middle.nodes[..contact.middle.count].iter().enumerate() {
                let f = contact.force(i);
                pressed += f.norm_squared();
                if (k as usize) < work.points.soft {
                    work.pushed[k as usize] += f;
                }
            }
        }
        let mut left = std::mem::take(&mut self.work.left);
        left.clear();
        left.resize(self.work.unknowns.count, 0.0);
        let (mut inside, mut outside, mut moving) = (0.0, 0.0, 0.0);
        let mut rate = std::mem::take(&mut self.work.rate);
        for body in &model.bodies {
            body.nodes.clone().for_each(|k| rate[k] = self.inert(k, body.damping));
        }
        let Work { mass, inertia, .. } = &mut *self.work;
        mass.times(model, &rate, inertia);
        self.work.rate = rate;
        for body in &model.bodies {
            for k in body.nodes.clone() {
                let (m, f) = (model.mass[k], self.work.elements.at(k));
                let load = self.work.external[k];
                inside += f.norm_squared();
                outside += load.norm_squared();
                moving += (2.0 * m / h * self.work.v[k]).norm_squared();
                let r = load + self.work.pushed[k] - f - self.work.inertia[k];
                self.work.unknowns.add_to_unknowns(k, &r, &mut left);
            }
        }
        let force = left.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.work.left = left;
        self.seconds.contact += watch.elapsed().as_secs_f64();
        let forces = inside.sqrt() + outside.sqrt() + pressed.sqrt();
        let scale = forces + moving.sqrt();
        // what inertia asks for depends on who looks, and decides nothing
        self.relative = if forces > 0.0 { force / forces } else { 1.0 };
        Some(Residual { force, scale, floor: self.work.floor })
    }

    fn factored(&self) -> bool {
        self.keeps && self.work.factored
    }

    fn increment(&mut self, renew: bool) -> Result<Increment, FactorError> {
        if renew {
            self.work.factored = false;
            let watch = std::time::Instant::now();
            self.assemble();
            self.seconds.assembly += watch.elapsed().as_secs_f64();
            let watch = std::time::Instant::now();
            self.work.system.factor(self.model, &self.work.unknowns)?;
            self.seconds.factors += watch.elapsed().as_secs_f64();
            self.work.factored = true;
        }
        let watch = std::time::Instant::now();
        let work = &mut *self.work;
        let share = (ACCURATE * self.relative).clamp(FINEST, COARSEST);
        let residual = work.left.iter().map(|x| x * x).sum::<f64>().sqrt();
        work.accuracy = Accuracy { share, force: share * residual };
        work.increment.clear();
        work.increment.extend_from_slice(&work.left);
        work.system.solve_to(&mut work.increment, share)?;
        self.solve_for_multipliers()?;
        let work = &mut *self.work;
        self.seconds.solutions += watch.elapsed().as_secs_f64();
        Ok(Increment {
            size: work.increment.iter().fold(0.0, |m: f64, d| m.max(d.abs())),
            energy: work.increment.iter().zip(&work.left).map(|(d, f)| d * f).sum(),
            force: work.left.iter().map(|x| x * x).sum::<f64>().sqrt(),
        })
    }

    fn settled(&mut self) -> bool {
        self.agrees() && self.work.knows_rebound(self.model, self.world, (self.h, self.t1))
    }

    fn add_increment(&mut self, share: f64) {
        for (k, x) in self.state.x.iter_mut().enumerate() {
            *x += share * self.work.unknowns.expand(k, &self.work.increment);
        }
    }
}

impl Work {
    pub(super) fn new(
        model: &Model,
        scheme: Scheme,
        elements: Elements,
        points: Points,
        laws: Vec<Vec<Law>>,
    ) -> Work {
        let unknowns = Unknowns::new(model);
        let system =
            System::new(model, &unknowns, 0..model.bodies.len(), crate::solve::sparse::Shape::Unsymmetric);
        let zero = || vec![Vec3::zeros(); model.reference.len()];
        let places = std::array::from_fn(|_| vec![Vec3::zeros(); points.nodes()]);
        let count = points.list.len();
        Work {
            scheme,
            elements,
            mass: Mass::Lumped,
            unknowns,
            system,
            laws,
            x: zero(),
            v: zero(),
            a: zero(),
            places,
            multipliers: vec![Multiplier::default(); count],
            near: Vec::new(),
            contacts: Vec::new(),
            status: vec![Status::Open; count],
            last: vec![Last::Forgotten; count],
            met: vec![Met::default(); count],
            rebound: vec![Rebound::default(); count],
            whole_cone: false,
            swing: vec![Swing::default(); count],
            velocity: vec![Vec3::zeros(); points.nodes()],
            pushed: zero(),
            external: zero(),
            inertia: zero(),
            rate: zero(),
            left: Vec::new(),
            accuracy: Accuracy::default(),
            increment: Vec::new(),
            floor: 0.0,
            way: 0.0,
            farthest: f64::INFINITY,
            coupled: false,
            factored: false,
            points,
        }
    }
}
