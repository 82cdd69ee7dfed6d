//! What one point of contact carries, and how that answers to the end of the step.
//!
//! ```text
//! t_N = ⟨λ_N + ε_N (Δt v_N − a)⟩       a = ⟨−g⟩ at the start, on the facet that the point ends on;  none at all where g < 0 at the end and λ_N = 0
//! ```
//!
//! A point that was behind its facet already resists the rate of overlap (`a = 0`, the paper's persistent contact). One that was in front and has crossed it has come
//! `Δt v_N − a` too far, which is its overlap at the end up to third order (new contact, for which the paper has `ε_N g` of the end). **Why the rate for both.** Where
//! multipliers make contacts rigid, `Δt v_N = a ≥ 0`: contact never gives energy, `t_N v_N ≥ 0`. Overlap that has to vanish at the end of the step knows nothing of the work on
//! the way there: of a point that turns with its facet that is wrong by third order, and a point that came round an edge, or met one facet half way
//! and another at the end, was pushed out of where it never went in, by whatever energy that took. That is also why such a point meets one facet
//! at the start, half way and at the end. (The paper's table distinguishes points that overlap less at the end than at the start; `v_N` has the same sign up to third order, and this form has no jump. With a
//! multiplier tractions do not end where `g < 0`, as long as they press: the jump would keep Newton's method from converging.)
//!
//! ```text
//! trial_a = λ_a + ε_T m_ab v_T^b       stick, ‖trial‖ ≤ μ (t_N + e): t_a = trial_a       slip: t_a = μ (t_N + e) trial_a/‖trial‖
//! f_A = w j [t_N N_A − t_a D^a_A]      e the pressure that the impulse at the end of the step is worth (`rebound.rs`)
//! ```
//!
//! Operators and rates belong to the middle of the step, `share` = ½ of a variation of its end; with `newmark-penalty` to the end itself,
//! `share` = 1, and `t_N = ε_N ⟨g⟩`.

use super::kinematics::{Kinematics, NODES, Variation, multiply};
use crate::math::{Mat3, Vec3};

/// A traction of the step before was one of slip if it is not longer than this times Coulomb's limit.
const ON_THE_CONE: f64 = 1.1;
/// How far from Coulomb's law a traction may be when an iteration ends.
const SETTLED: f64 = 1e-6;

/// Springs that are so much stiffer than elements, α below this, leave little of a jump in each round.
const STIFF: f64 = 0.1;
/// Share of a jump that a round leaves at most where nothing holds against it: elements have α of it.
const GIVES_WAY: f64 = 0.5;

/// Springs and friction between two surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    /// ε_N [Pa/m] and ε_T [Pa s/m].
    pub normal: f64,
    pub tangential: f64,
    /// α_N and α_T: stiffness of the elements over that of these springs, one at most.
    pub soft: [f64; 2],
    /// Coulomb's coefficient.
    pub mu: f64,
}

/// Multipliers of a point: pressure, and a traction along the surface, as a vector in space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Multiplier {
    pub normal: f64,
    pub shear: Vec3,
}

/// Where in a step forces act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// In the middle.
    Middle,
    /// At its end: springs of the overlap.
    End,
}

impl Scheme {
    /// What a variation of the end does to where forces act.
    #[inline]
    pub(super) fn share(self) -> f64 {
        match self {
            Scheme::Middle => 0.5,
            Scheme::End => 1.0,
        }
    }
}

/// A point that carries a force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Which point.
    pub point: u32,
    /// That of the point and that of what it meets, the first of them first.
    pub bodies: [u32; 2],
    /// Where forces act, and the end of the step.
    pub middle: Kinematics,
    pub end: Kinematics,
    /// w j [m²].
    pub weight: f64,
    pub law: Law,
    /// t_N and t_a.
    pub pressure: f64,
    pub shear: [f64; 2],
    pub slips: bool,
    rebound: Rebound,
    /// It was in front of its facet when the step began.
    lands: bool,
    /// v_N and v_T^a.
    pub closing: f64,
    pub slip: [f64; 2],
    trial: [f64; 2],
    /// Pressure and shear that decide what it does: between those of the springs and those that the last increment foresaw.
    firm: f64,
    held: [f64; 2],
    /// How shear grows with the pressure.
    ratio: [f64; 2],
    /// Its traction is Coulomb's, not one on the way there.
    pub settled: bool,
    multiplier: Multiplier,
    /// Δd at the nodes of `middle`.
    way: [Vec3; NODES],
    dt: f64,
}

/// What a point did at the last iterate, as far as that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Last {
    /// Nothing is kept in mind: tractions are functions of positions.
    Forgotten,
    Open,
    /// It pressed, and the increment foresaw this traction; and whether it slipped.
    Foreseen(Multiplier, bool),
    /// It pressed so in the step before.
    Carried(Multiplier),
}

/// Pressure that the impulse of a point at the end of the step is worth, spread over the step: `share · t_N + beyond` [Pa]. One of the two is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rebound {
    pub share: f64,
    pub beyond: f64,
}

impl Rebound {
    /// e of a point that presses so.
    pub(super) fn at(&self, pressure: f64) -> f64 {
        self.share * pressure.max(0.0) + self.beyond
    }
}

/// Pressure and shear [Pa].
pub(super) type Traction = (f64, [f64; 2]);

/// What the multiplier of one point takes up in an increment [Pa].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Uptake {
    /// In the next round.
    pub last: Traction,
    /// Shear in all rounds together.
    all: [f64; 2],
    /// Shear of the first jump, and how large that of the round before was.
    before: Option<([f64; 2], f64)>,
    /// Another point holds against it.
    against: bool,
}

/// A point in a step: how far it was in front of the facet that it ends on [m], zero if it was behind, what its impulse at the end of the step is
/// worth, and what it did at the last iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub scheme: Scheme,
    pub dt: f64,
    pub ahead: f64,
    pub rebound: Rebound,
    pub last: Last,
}

impl Contact {
    /// The answer of a point, none if it carries nothing. `way` is Δd at the nodes of `middle`.
    pub(super) fn new(
        step: Step,
        [middle, end]: [Kinematics; 2],
        way: [Vec3; NODES],
        (point, weight): (u32, f64),
        law: Law,
        multiplier: Multiplier,
    ) -> Option<Contact> {
        let dt = step.dt;
        let closing = -middle.normal_of(&way) / dt;
        let slip = middle.tangential_of(&way).map(|s| s / dt);
        let pressed = match step.scheme {
            Scheme::Middle => dt * closing - step.ahead,
            Scheme::End => end.overlap,
        };
        let pressure = multiplier.normal + law.normal * pressed;
        // a multiplier holds on to a point that has just opened: its pressure ends where it vanishes
        let open = end.overlap < 0.0 && multiplier.normal == 0.0;
        let (soft, foreseen, slipped) = match step.last {
            Last::Forgotten => ([1.0; 2], None, None),
            Last::Open => (law.soft, None, None),
            Last::Foreseen(traction, slipped) => (law.soft, Some(traction), Some(slipped)),
            Last::Carried(traction) => (law.soft, Some(traction), None),
        };
        let kept = foreseen.unwrap_or_default();
        let firm = (1.0 - soft[0]) * kept.normal + soft[0] * pressure;
        if firm <= 0.0 || foreseen.is_none() && open {
            return None;
        }
        let mut contact = Contact {
            point,
            bodies: [0; 2],
            middle,
            end,
            weight,
            law,
            pressure,
            shear: [0.0; 2],
            slips: false,
            rebound: step.rebound,
            lands: step.ahead > 0.0,
            closing,
            slip,
            trial: [0.0; 2],
            firm,
            held: [0.0; 2],
            ratio: [0.0; 2],
            settled: pressure >= 0.0,
            multiplier,
            way,
            dt,
        };
        if law.mu > 0.0 && middle.tangents > 0 {
            let viscous = multiply(&middle.metric, slip);
            let mut kept_shear = [0.0; 2];
            for a in 0..middle.tangents {
                contact.trial[a] = middle.tangent[a].dot(&multiplier.shear) + law.tangential * viscous[a];
                kept_shear[a] = middle.tangent[a].dot(&kept.shear);
            }
            contact.stick_or_slip(kept_shear, slipped, soft[1]);
        }
        Some(contact)
    }

    /// Sticks or slips by Coulomb's law for `(1 − α) t + α trial`, where `t` is the traction that the last increment foresaw (Alart & Curnier 1991, whose
    /// parameter is α ε_T): it has the solutions of the law and no others. The stiff trial alone would have slip, which has no stiffness along its
    /// direction, turn round and back for ever. What `slipped` is on the cone, however far its tangent has led away from there, and does not turn round without
    /// having stuck: α is that of a whole surface, and a node at a corner is softer.
    fn stick_or_slip(&mut self, mut kept: [f64; 2], slipped: Option<bool>, soft: f64) {
        let most = self.limit(self.firm);
        let trial = self.size(&self.trial);
        let length = self.size(&kept);
        let slipped = length > 0.0 && slipped.unwrap_or(length <= ON_THE_CONE * most);
        if slipped {
            kept = kept.map(|x| most / length * x);
        }
        self.held = std::array::from_fn(|a| (1.0 - soft) * kept[a] + soft * self.trial[a]);
        self.slips = self.size(&self.held) > most && !(slipped && self.turns(&kept));
        if !self.slips {
            self.settled &= trial <= self.limit(self.pressure) * (1.0 + SETTLED) || soft == 1.0;
            self.shear = self.trial;
            return;
        }
        if length > 0.0 {
            let size = self.size(&self.held);
            let (mut to, mut stretch) = (self.held, size);
            if slipped {
                // Newton's target for the direction: t = μ t_N z/‖z‖ with z = (1 − α) t + α trial
                stretch = size - (1.0 - soft) * most;
                let n = kept.map(|x| x / most);
                to = std::array::from_fn(|a| n[a] + (self.held[a] - size * n[a]) / stretch);
            }
            let length = self.size(&to);
            to = to.map(|x| x / length);
            let off: [f64; 2] = std::array::from_fn(|a| to[a] - self.trial[a] / trial);
            self.settled &= self.size(&off) <= SETTLED;
            // so that `most` over its size is how the traction answers across its direction
            self.trial = to.map(|x| stretch / soft * x);
        }
        let size = self.size(&self.trial);
        let n = self.trial.map(|t| t / size);
        self.ratio = n.map(|n| self.law.mu * (1.0 + self.rebound.share) * n);
        self.held = n.map(|n| self.limit(self.firm) * n);
        self.shear = n.map(|n| self.limit(self.pressure) * n);
    }

    /// Coulomb's limit where it presses so: μ (t_N + e).
    fn limit(&self, pressure: f64) -> f64 {
        self.law.mu * ((1.0 + self.rebound.share) * pressure + self.rebound.beyond)
    }

    /// Has slip turned by more than a right angle from a traction?
    fn turns(&self, kept: &[f64; 2]) -> bool {
        let up = multiply(&self.middle.inverse, self.trial);
        up[0] * kept[0] + up[1] * kept[1] < 0.0
    }

    /// ‖t‖ of a covariant traction.
    fn size(&self, t: &[f64; 2]) -> f64 {
        let up = multiply(&self.middle.inverse, *t);
        (up[0] * t[0] + up[1] * t[1]).max(0.0).sqrt()
    }

    /// Force on one of its nodes [N].
    #[inline]
    pub(super) fn force(&self, k: usize) -> Vec3 {
        let m = &self.middle;
        self.weight * (self.pressure * m.n[k] - self.shear[0] * m.d[0][k] - self.shear[1] * m.d[1][k])
    }

    /// Its part along the surface.
    #[inline]
    pub(super) fn shear_force(&self, k: usize) -> Vec3 {
        let m = &self.middle;
        -self.weight * (self.shear[0] * m.d[0][k] + self.shear[1] * m.d[1][k])
    }

    /// The traction along the surface as a vector in space [Pa].
    pub(super) fn shear_vector(&self) -> Vec3 {
        let dual = self.middle.dual();
        self.shear[0] * dual[0] + self.shear[1] * dual[1]
    }

    /// `t_a v^a` [W/m²].
    pub(super) fn shear_power(&self) -> f64 {
        self.shear[0] * self.slip[0] + self.shear[1] * self.slip[1]
    }

    /// Hands `∂f_row/∂d_column` of the end of the step, 3×3, to `add` for all pairs of its nodes, and how much of it is friction that grows with the pressure: that has no
    /// counterpart in the transposed block, and is as stiff as the springs. A pair may come twice.
    pub(super) fn tangent(&self, scheme: Scheme, mut add: impl FnMut(u32, u32, Mat3, Option<Mat3>)) {
        let (m, ratio) = (&self.middle, self.ratio);
        let rubbed: [Vec3; NODES] =
            std::array::from_fn(|k| -self.weight * (ratio[0] * m.d[0][k] + ratio[1] * m.d[1][k]));
        let push: [Vec3; NODES] = std::array::from_fn(|k| self.weight * m.n[k] + rubbed[k]);
        let skew = |row: usize, slope: Vec3| self.slips.then(|| rubbed[row] * slope.transpose());
        for column in 0..m.count {
            let varied: [(f64, [Vec3; NODES]); 3] =
                std::array::from_fn(|i| self.vary(scheme, column, i, &push));
            let slope = Vec3::new(varied[0].0, varied[1].0, varied[2].0);
            for row in 0..m.count {
                let block = Mat3::from_columns(&[varied[0].1[row], varied[1].1[row], varied[2].1[row]]);
                add(m.nodes[row], m.nodes[column], block, skew(row, slope));
            }
        }
        if scheme == Scheme::End {
            for column in 0..self.end.count {
                let slope = -self.law.normal * self.end.n[column];
                for row in 0..m.count {
                    let block = push[row] * slope.transpose();
                    add(m.nodes[row], self.end.nodes[column], block, skew(row, slope));
                }
            }
        }
    }

    /// Change of the pressure and of all forces with one component of one node, the pressure of an overlap at the end aside.
    fn vary(&self, scheme: Scheme, node: usize, i: usize, push: &[Vec3; NODES]) -> (f64, [Vec3; NODES]) {
        let (m, share, w) = (&self.middle, scheme.share(), self.weight);
        let v: Variation = m.vary(node, i);
        let pressure = self.vary_pressure(&v, scheme, node, i);
        let shear = self.vary_shear(&v, share, node, i);
        let forces = std::array::from_fn(|k| {
            let mut f = pressure * push[k] + share * w * self.firm * v.n[k];
            for a in 0..m.tangents {
                f -= w * (shear[a] * m.d[a][k] + share * self.held[a] * v.d[a][k]);
            }
            f
        });
        (pressure, forces)
    }

    /// δt_N with one component of one node, but for that of an overlap at the end.
    fn vary_pressure(&self, v: &Variation, scheme: Scheme, node: usize, i: usize) -> f64 {
        let m = &self.middle;
        match scheme {
            Scheme::End => 0.0,
            Scheme::Middle => {
                -self.law.normal * (m.n[node][i] + scheme.share() * inner(&v.n, &self.way, m.count))
            }
        }
    }

    /// What an increment of all positions does to pressure and shear.
    pub(super) fn change(&self, scheme: Scheme, increment: impl Fn(usize) -> Vec3) -> Traction {
        let (m, share) = (&self.middle, scheme.share());
        let at = m.gather(&increment);
        let (mut pressure, mut shear) = (0.0, [0.0; 2]);
        if scheme == Scheme::End {
            pressure -= self.law.normal * self.end.normal_of(&self.end.gather(&increment));
        }
        for (node, by) in at[..m.count].iter().enumerate() {
            for i in (0..3).filter(|&i| by[i] != 0.0) {
                let v = m.vary(node, i);
                pressure += by[i] * self.vary_pressure(&v, scheme, node, i);
                let own = self.vary_shear(&v, share, node, i);
                (0..2).for_each(|a| shear[a] += by[i] * own[a]);
            }
        }
        (0..2).for_each(|a| shear[a] += pressure * self.ratio[a]);
        (pressure, shear)
    }

    /// A traction that comes on top, as `(pressure, shear)`: where a point slips friction grows with its pressure, whatever its shear.
    pub(super) fn with_friction(&self, (pressure, shear): Traction) -> Traction {
        match self.slips {
            true => (pressure, self.ratio.map(|r| r * pressure)),
            false => (pressure, shear),
        }
    }

    /// Forces of that on its nodes [N].
    pub(super) fn forces_of(&self, traction: Traction) -> [Vec3; NODES] {
        let (m, (pressure, shear)) = (&self.middle, self.with_friction(traction));
        std::array::from_fn(|k| {
            self.weight * (pressure * m.n[k] - shear[0] * m.d[0][k] - shear[1] * m.d[1][k])
        })
    }

    /// Forces on its nodes where it slips and its cone is wider by the pressure `rebound` [N].
    pub(super) fn forces_of_friction(&self, rebound: f64) -> [Vec3; NODES] {
        let (m, t) = (&self.middle, self.friction_of(self.weight * rebound));
        std::array::from_fn(|k| -t[0] * m.d[0][k] - t[1] * m.d[1][k])
    }

    /// Its shear by a pressure, where it slips.
    pub(super) fn friction_of(&self, pressure: f64) -> [f64; 2] {
        self.ratio.map(|r| r / (1.0 + self.rebound.share) * pressure)
    }

    /// Adds pressure and shear to a traction, and friction of a cone that is wider by the pressure `rebound`.
    pub(super) fn add_to(&self, traction: &mut Multiplier, (pressure, shear): Traction, rebound: f64) {
        let (dual, friction) = (self.middle.dual(), self.friction_of(rebound));
        traction.normal += pressure;
        (0..2).for_each(|a| traction.shear += (shear[a] + friction[a]) * dual[a]);
    }

    /// Its traction and what comes on top as a multiplier.
    pub(super) fn multiplier_with(&self, (pressure, shear): Traction) -> Multiplier {
        let dual = self.middle.dual();
        let all = [self.shear[0] + shear[0], self.shear[1] + shear[1]];
        Multiplier { normal: self.pressure + pressure, shear: all[0] * dual[0] + all[1] * dual[1] }
    }

    /// What its traction has more than its multiplier: pressure and shear.
    pub(super) fn beyond_multiplier(&self) -> Traction {
        let m = &self.middle;
        let held: [f64; 2] =
            std::array::from_fn(
                |a| if a < m.tangents { m.tangent[a].dot(&self.multiplier.shear) } else { 0.0 },
            );
        (self.pressure - self.multiplier.normal, [self.shear[0] - held[0], self.shear[1] - held[1]])
    }

    /// δt_a at constant pressure.
    fn vary_shear(&self, v: &Variation, share: f64, node: usize, i: usize) -> [f64; 2] {
        let m = &self.middle;
        if self.law.mu == 0.0 || m.tangents == 0 {
            return [0.0; 2];
        }
        let rate: [f64; 2] =
            std::array::from_fn(|a| (m.d[a][node][i] + share * inner(&v.d[a], &self.way, m.count)) / self.dt);
        let (up, turned) = (multiply(&m.metric, rate), multiply(&v.metric, self.slip));
        let trial: [f64; 2] = std::array::from_fn(|a| {
            let own = share * v.tangent[a].dot(&self.multiplier.shear);
            if a < m.tangents { own + self.law.tangential * (up[a] + share * turned[a]) } else { 0.0 }
        });
        if !self.slips {
            return trial;
        }
        let (size, raised) = (self.size(&self.trial), multiply(&m.inverse, self.trial));
        let bent = multiply(&v.metric, raised);
        let along = (raised[0] * (trial[0] - 0.5 * share * bent[0])
            + raised[1] * (trial[1] - 0.5 * share * bent[1]))
            / size;
        let most = self.limit(self.firm);
        std::array::from_fn(|a| most / size * (trial[a] - self.trial[a] * along / size))
    }

    /// What the next round of augmentation begins with: its tractions. Those of a point that slips against them lead nowhere: none along
    /// the surface.
    pub(super) fn next_multiplier(&self) -> Multiplier {
        let shear = match self.slips && self.shear_power() < 0.0 {
            true => Vec3::zeros(),
            false => self.shear_vector(),
        };
        Multiplier { normal: self.pressure, shear }
    }

    /// Is its friction within the cone that an impulse at the end of the step leaves which is worth the pressure `rebound`, and on it where it slips?
    pub(super) fn knows(&self, rebound: f64, near: f64) -> bool {
        let limit = self.pressure.max(0.0) + rebound;
        match self.slips {
            true => (rebound - self.rebound.at(self.pressure)).abs() <= near * limit,
            false => self.shear_size() <= self.law.mu * limit * (1.0 + near),
        }
    }

    /// What the multiplier takes up of the `jump` that springs have beyond it, in the next round: all of it, unless it lands, sticks and the last round has left more than half of the shear.
    /// Then another point holds against this one, and the shear that it has taken up in vain goes back, once. (Pressures stay: springs that bear them are not rigid, and the energy that
    /// they put in would have to be corrected.)
    pub(super) fn take_up_jump(&self, jump: Traction, uptake: &mut Uptake) {
        let size = self.size(&jump.1);
        let (first, before) = *uptake.before.get_or_insert((jump.1, f64::INFINITY));
        uptake.before = Some((first, size));
        let held = self.lands && self.law.soft[1] < STIFF && size > GIVES_WAY * before;
        let against = !self.slips && (uptake.against || held);
        uptake.last = jump;
        if against {
            // what was taken up, less by what that has moved springs
            let back = |a: usize| if uptake.against { 0.0 } else { first[a] - jump.1[a] - uptake.all[a] };
            uptake.last.1 = std::array::from_fn(back);
        }
        uptake.against = against;
        (0..2).for_each(|a| uptake.all[a] += uptake.last.1[a]);
    }

    /// How far it is from rigid contact along the normal [m].
    pub(super) fn normal_error(&self) -> f64 {
        (self.pressure - self.multiplier.normal).abs() / self.law.normal
    }

    /// v_N after an increment of all positions [m/s].
    pub(super) fn closing_with(&self, scheme: Scheme, increment: impl Fn(usize) -> Vec3) -> f64 {
        let (m, share) = (&self.middle, scheme.share());
        let at = m.gather(&increment);
        let mut closing = self.closing;
        for (node, by) in at[..m.count].iter().enumerate() {
            for i in (0..3).filter(|&i| by[i] != 0.0) {
                let turned = share * inner(&m.vary(node, i).n, &self.way, m.count);
                closing -= by[i] * (m.n[node][i] + turned) / self.dt;
            }
        }
        closing
    }

    /// ζ [m/s].
    pub(super) fn slip_speed(&self) -> f64 {
        let down = multiply(&self.middle.metric, self.slip);
        (down[0] * self.slip[0] + down[1] * self.slip[1]).max(0.0).sqrt()
    }

    /// ‖t_T‖ [Pa].
    pub(super) fn shear_size(&self) -> f64 {
        self.size(&self.shear)
    }

    /// `w j t_N N` of the end of the step, at the nodes of `end`: what a normal impulse of the velocity update pushes along.
    pub(super) fn normal_shape(&self) -> [Vec3; NODES] {
        self.end.n.map(|n| self.weight * self.pressure * n)
    }

    /// `−w j t_a D^a` of the end of the step: the same traction as a vector, by the tangents there.
    pub(super) fn shear_shape(&self) -> [Vec3; NODES] {
        let (e, vector) = (&self.end, self.shear_vector());
        let shear: [f64; 2] =
            std::array::from_fn(|a| if a < e.tangents { e.tangent[a].dot(&vector) } else { 0.0 });
        std::array::from_fn(|k| -self.weight * (shear[0] * e.d[0][k] + shear[1] * e.d[1][k]))
    }
}

#[inline]
fn inner(a: &[Vec3; NODES], b: &[Vec3; NODES], count: usize) -> f64 {
    (0..count).map(|k| a[k].dot(&b[k])).sum()
}

#[cfg(test)]
mod tests;
