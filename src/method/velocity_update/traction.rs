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
//! trial_a = λ_a + ε_T m_ab v_T^b       stick, ‖trial‖ ≤ μ t_N: t_a = trial_a       slip: t_a = μ t_N trial_a/‖trial‖
//! f_A = w j [t_N N_A − t_a D^a_A]
//! ```
//!
//! Operators and rates belong to the middle of the step, `share` = ½ of a variation of its end; with `newmark-penalty` to the end itself,
//! `share` = 1, and `t_N = ε_N ⟨g⟩`.

use super::kinematics::{Kinematics, NODES, Variation, multiply};
use crate::math::{Mat3, Vec3};

/// A traction that an increment foresaw was one of slip if it is not longer than this times Coulomb's limit: increments leave the cone along its tangents.
const ON_THE_CONE: f64 = 1.1;
/// How far from Coulomb's law a traction may be when an iteration ends.
const SETTLED: f64 = 1e-6;

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
    /// It pressed, and the increment foresaw this traction.
    Foreseen(Multiplier),
}

/// A point in a step: how far it was in front of the facet that it ends on [m], zero if it was behind, and what it did at the last iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub scheme: Scheme,
    pub dt: f64,
    pub ahead: f64,
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
        let (soft, foreseen) = match step.last {
            Last::Forgotten => ([1.0; 2], None),
            Last::Open => (law.soft, None),
            Last::Foreseen(traction) => (law.soft, Some(traction)),
        };
        let kept = foreseen.unwrap_or_default();
        let firm = (1.0 - soft[0]) * kept.normal + soft[0] * pressure;
        if firm <= 0.0 || foreseen.is_none() && open {
            return None;
        }
        let mut contact = Contact {
            point,
            middle,
            end,
            weight,
            law,
            pressure,
            shear: [0.0; 2],
            slips: false,
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
            contact.stick_or_slip(kept_shear, soft[1]);
        }
        Some(contact)
    }

    /// Sticks or slips by Coulomb's law for `(1 − α) t + α trial`, where `t` is the traction that the last increment foresaw (Alart & Curnier 1991, whose
    /// parameter is α ε_T): it has the solutions of the law and no others. The stiff trial alone would have slip, which has no stiffness along its
    /// direction, turn round and back for ever.
    fn stick_or_slip(&mut self, kept: [f64; 2], soft: f64) {
        let most = self.law.mu * self.firm;
        let trial = self.size(&self.trial);
        self.held = std::array::from_fn(|a| (1.0 - soft) * kept[a] + soft * self.trial[a]);
        self.slips = self.size(&self.held) > most;
        if !self.slips {
            self.settled &= trial <= self.law.mu * self.pressure * (1.0 + SETTLED) || soft == 1.0;
            self.shear = self.trial;
            return;
        }
        let length = self.size(&kept);
        if length > 0.0 {
            let n = kept.map(|x| x / length);
            let mixed: [f64; 2] = std::array::from_fn(|a| (1.0 - soft) * most * n[a] + soft * self.trial[a]);
            let mut size = self.size(&mixed);
            let mut stretch = size - (1.0 - soft) * most;
            // Newton's target for the direction: t = μ t_N z/‖z‖ with z = (1 − α) t + α trial
            let mut to: [f64; 2] = std::array::from_fn(|a| n[a] + (mixed[a] - size * n[a]) / stretch);
            if length > ON_THE_CONE * most || size <= most {
                // it stuck until now
                size = self.size(&self.held);
                (to, stretch) = (self.held, size);
            }
            let length = self.size(&to);
            to = to.map(|x| x / length);
            let off: [f64; 2] = std::array::from_fn(|a| to[a] - self.trial[a] / trial);
            self.settled &= self.size(&off) <= SETTLED;
            // so that `most` over its size is how the traction answers across its direction
            self.trial = to.map(|x| stretch / soft * x);
        }
        let size = self.size(&self.trial);
        self.ratio = self.trial.map(|t| self.law.mu * t / size);
        self.held = self.ratio.map(|r| self.firm * r);
        self.shear = self.ratio.map(|r| self.pressure * r);
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

    /// Hands `∂f_row/∂d_column` of the end of the step, 3×3, to `add` for all pairs of its nodes. A pair may come twice.
    pub(super) fn tangent(&self, scheme: Scheme, mut add: impl FnMut(u32, u32, Mat3)) {
        let (m, ratio) = (&self.middle, self.ratio);
        let push: [Vec3; NODES] =
            std::array::from_fn(|k| self.weight * (m.n[k] - ratio[0] * m.d[0][k] - ratio[1] * m.d[1][k]));
        for column in 0..m.count {
            let varied: [[Vec3; NODES]; 3] = std::array::from_fn(|i| self.vary(scheme, column, i, &push));
            for row in 0..m.count {
                let block = Mat3::from_columns(&[varied[0][row], varied[1][row], varied[2][row]]);
                add(m.nodes[row], m.nodes[column], block);
            }
        }
        if scheme == Scheme::End {
            for column in 0..self.end.count {
                let slope = -self.law.normal * self.end.n[column];
                for row in 0..m.count {
                    add(m.nodes[row], self.end.nodes[column], push[row] * slope.transpose());
                }
            }
        }
    }

    /// Change of all forces with one component of one node, the pressure of an overlap at the end aside.
    fn vary(&self, scheme: Scheme, node: usize, i: usize, push: &[Vec3; NODES]) -> [Vec3; NODES] {
        let (m, share, w) = (&self.middle, scheme.share(), self.weight);
        let v: Variation = m.vary(node, i);
        let pressure = self.vary_pressure(&v, scheme, node, i);
        let shear = self.vary_shear(&v, share, node, i);
        std::array::from_fn(|k| {
            let mut f = pressure * push[k] + share * w * self.firm * v.n[k];
            for a in 0..m.tangents {
                f -= w * (shear[a] * m.d[a][k] + share * self.held[a] * v.d[a][k]);
            }
            f
        })
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
    pub(super) fn change(&self, scheme: Scheme, increment: impl Fn(usize) -> Vec3) -> (f64, [f64; 2]) {
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
    pub(super) fn with_friction(&self, (pressure, shear): (f64, [f64; 2])) -> (f64, [f64; 2]) {
        match self.slips {
            true => (pressure, self.ratio.map(|r| r * pressure)),
            false => (pressure, shear),
        }
    }

    /// Forces of that on its nodes [N].
    pub(super) fn forces_of(&self, traction: (f64, [f64; 2])) -> [Vec3; NODES] {
        let (m, (pressure, shear)) = (&self.middle, self.with_friction(traction));
        std::array::from_fn(|k| {
            self.weight * (pressure * m.n[k] - shear[0] * m.d[0][k] - shear[1] * m.d[1][k])
        })
    }

    /// Its traction and what comes on top as a multiplier.
    pub(super) fn multiplier_with(&self, (pressure, shear): (f64, [f64; 2])) -> Multiplier {
        let dual = self.middle.dual();
        let all = [self.shear[0] + shear[0], self.shear[1] + shear[1]];
        Multiplier { normal: self.pressure + pressure, shear: all[0] * dual[0] + all[1] * dual[1] }
    }

    /// What its traction has more than its multiplier: pressure and shear.
    pub(super) fn beyond_multiplier(&self) -> (f64, [f64; 2]) {
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
        let most = self.law.mu * self.firm;
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

    /// How far it is from rigid contact along the normal [m].
    pub(super) fn normal_error(&self) -> f64 {
        (self.pressure - self.multiplier.normal).abs() / self.law.normal
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
mod tests {
    use super::super::kinematics::{Master, Slave};
    use super::*;
    use crate::contact::dice::Dice;
    use crate::contact::scene::FacetKind;

    /// Positions at the start and at the end: a facet over a facet, in the plane and in space.
    fn scene(dice: &mut Dice, kind: FacetKind) -> (Slave, Master, [Vec<Vec3>; 2]) {
        let v = Vec3::new;
        let (mut x, count) = match kind {
            FacetKind::Segment => {
                (vec![v(-0.5, 0.0, 0.0), v(0.7, 0.05, 0.0), v(1.0, 0.0, 0.0), v(-1.0, 0.0, 0.0)], 2)
            }
            _ => {
                let small = [v(-0.4, -0.4, 0.0), v(0.4, -0.4, 0.0), v(0.4, 0.3, 0.0), v(-0.3, 0.4, 0.0)];
                let large = [v(-1.0, -1.0, 0.0), v(1.0, -1.0, 0.0), v(1.1, 1.0, 0.0), v(-0.9, 1.0, 0.1)];
                ([small, large].concat(), 4)
            }
        };
        let flat = kind == FacetKind::Segment;
        let mut shake = |x: &mut Vec<Vec3>, by: f64| {
            for p in x {
                *p += by * dice.point(1.0);
                p.z = if flat { 0.0 } else { p.z };
            }
        };
        shake(&mut x, 0.05);
        let mut end = x.clone();
        shake(&mut end, 0.05);
        let normal = if flat { -Vec3::y() } else { -Vec3::z() };
        let slip = if flat { 0.1 * Vec3::x() } else { Vec3::new(0.1, -0.05, 0.0) };
        end[..count].iter_mut().for_each(|p| *p += 0.2 * normal + slip);
        let nodes = |first: u32| std::array::from_fn(|k| first + (k as u32).min(count as u32 - 1));
        let mut weights = [0.0; 4];
        weights[..count].fill(1.0 / count as f64);
        weights[0] += 0.1;
        weights[1] -= 0.1;
        let slave = Slave { nodes: nodes(0), weights, count: count as u8 };
        (slave, Master { nodes: nodes(count as u32), kind, bounded: true, body: 1 }, [x, end])
    }

    /// Every block of the tangent against central differences of the force: new and persistent, stick and slip, with and without
    /// multipliers, both schemes.
    #[test]
    fn the_tangent_is_the_derivative_of_the_force() {
        let mut dice = Dice(11);
        let mut seen = std::collections::BTreeSet::new();
        for kind in [FacetKind::Segment, FacetKind::Quad] {
            for trial in 0..64 {
                let (slave, master, [x, end]) = scene(&mut dice, kind);
                let scheme = if trial % 4 == 3 { Scheme::End } else { Scheme::Middle };
                let ahead = [0.01, 0.0][trial % 2];
                let mu = [0.0, 0.3, 100.0][trial % 3];
                let multiplier = match trial % 5 {
                    0 => Multiplier { normal: 1.0, shear: Vec3::new(0.3, 0.1, 0.0) },
                    _ => Multiplier::default(),
                };
                let law = Law { normal: 7.0, tangential: 2.0, soft: [1.0; 2], mu };
                let step = Step { scheme, dt: 0.3, ahead, last: Last::Forgotten };
                let answer = |end: &[Vec3]| {
                    let middle: Vec<Vec3> =
                        x.iter().zip(end).map(|(a, b)| a + scheme.share() * (b - a)).collect();
                    let on = |x: &[Vec3]| {
                        Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap()
                    };
                    let at = on(&middle);
                    let way = at.gather(|n| end[n] - x[n]);
                    Contact::new(step, [at, on(end)], way, (0, 0.8), law, multiplier)
                };
                let Some(contact) = answer(&end) else { continue };
                seen.insert((kind, scheme == Scheme::End, ahead > 0.0, contact.slips, mu > 0.0));
                let count = x.len();
                let mut exact = vec![Mat3::zeros(); count * count];
                contact.tangent(scheme, |r, c, b| exact[r as usize * count + c as usize] += b);
                let h = 1e-6;
                for column in 0..count {
                    for i in 0..if kind == FacetKind::Segment { 2 } else { 3 } {
                        let moved = |by: f64| {
                            let mut end = end.clone();
                            end[column][i] += by;
                            answer(&end).unwrap()
                        };
                        let (p, q) = (moved(h), moved(-h));
                        assert_eq!((p.slips, q.slips), (contact.slips, contact.slips));
                        let unit = |n: usize| Vec3::ith(i, f64::from(u8::from(n == column)));
                        let (pressure, shear) = contact.change(scheme, unit);
                        assert!((pressure - (p.pressure - q.pressure) / (2.0 * h)).abs() < 1e-7);
                        for a in 0..2 {
                            assert!((shear[a] - (p.shear[a] - q.shear[a]) / (2.0 * h)).abs() < 1e-7);
                        }
                        for row in 0..count {
                            let slope = (p.force(row) - q.force(row)) / (2.0 * h);
                            let off = slope - exact[row * count + column].column(i);
                            assert!(off.norm() < 1e-7, "{kind:?} {scheme:?} {ahead} {mu} {off}");
                        }
                    }
                }
            }
        }
        assert!(seen.len() >= 14, "{seen:?}");
    }

    /// Slip that goes on as it did is what Coulomb's law says it is; slip that has just turned round is neither slip nor settled.
    #[test]
    fn slip_that_turns_round_comes_to_stick() {
        let mut dice = Dice(12);
        let mut seen = 0;
        let soft = 0.02;
        for kind in [FacetKind::Segment, FacetKind::Quad] {
            for _ in 0..100 {
                let (slave, master, [x, end]) = scene(&mut dice, kind);
                let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
                let on = |x: &[Vec3]| {
                    Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap()
                };
                let at = on(&middle);
                let way = at.gather(|n| end[n] - x[n]);
                let law = Law { normal: 7.0, tangential: 0.5 + 3.0 * dice.unit(), soft: [soft; 2], mu: 0.3 };
                let with = |last: Last| {
                    let step = Step { scheme: Scheme::Middle, dt: 0.1, ahead: 0.0, last };
                    Contact::new(step, [at, on(&end)], way, (0, 1.0), law, Multiplier::default())
                };
                let Some(plain) = with(Last::Forgotten).filter(|c| c.slips) else { continue };
                seen += 1;
                let foreseen =
                    |sign: f64| Multiplier { normal: plain.pressure, shear: sign * plain.shear_vector() };
                let same = with(Last::Foreseen(foreseen(1.0))).unwrap();
                assert!(same.slips && same.settled);
                assert!((same.shear_vector() - plain.shear_vector()).norm() < 1e-12 * plain.pressure);
                let turned = with(Last::Foreseen(foreseen(-1.0))).unwrap();
                if soft * plain.size(&plain.trial) > law.mu * plain.pressure {
                    continue;
                }
                assert!(!turned.slips && !turned.settled);
                assert_eq!(turned.shear, turned.trial);
            }
        }
        assert!(seen > 50, "{seen}");
    }

    /// A point that the increment foresaw to press goes on pressing where springs pull by less than α lets them, and is not settled; one that it foresaw to be
    /// pulled opens. A point that was open presses as soon as its springs do.
    #[test]
    fn what_an_increment_foresaw_decides_who_presses() {
        let mut dice = Dice(14);
        for _ in 0..100 {
            let (slave, master, [x, mut end]) = scene(&mut dice, FacetKind::Quad);
            let law = Law { normal: 7.0, tangential: 1.0, soft: [0.02; 2], mu: 0.0 };
            let on = |x: &[Vec3]| {
                Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap()
            };
            // lift until it is open by a little: it has not come as far as it was ahead
            let lacking = 0.01;
            let lift = on(&end).overlap + lacking;
            let normal = on(&end).normal;
            slave.nodes.iter().take(4).for_each(|&k| end[k as usize] += lift * normal);
            let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
            let at = on(&middle);
            let way = at.gather(|n| end[n] - x[n]);
            let with = |normal: Option<f64>| {
                let shear = Vec3::zeros();
                let last = normal.map_or(Last::Open, |normal| Last::Foreseen(Multiplier { normal, shear }));
                let step =
                    Step { scheme: Scheme::Middle, dt: 0.1, ahead: lacking - at.normal_of(&way), last };
                Contact::new(step, [at, on(&end)], way, (0, 1.0), law, Multiplier::default())
            };
            let pull = -law.normal * lacking;
            assert!(with(None).is_none());
            let pressed = with(Some(-0.1 * pull)).expect("foreseen to press");
            assert!((pressed.pressure - pull).abs() < 1e-13 && !pressed.settled);
            assert!(with(Some(-0.01 * pull)).is_none() && with(Some(0.1 * pull)).is_none());
        }
    }

    /// Without multipliers a point never gives power to the bodies: `t_N v_N + t_a v^a ≥ 0`; and ‖t_T‖ ≤ μ t_N.
    #[test]
    fn a_point_takes_power_and_stays_in_the_cone() {
        let mut dice = Dice(13);
        let mut seen = 0;
        for _ in 0..300 {
            let (slave, master, [x, end]) = scene(&mut dice, FacetKind::Quad);
            let middle: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (a + b)).collect();
            let on = |x: &[Vec3]| {
                Kinematics::new(&slave, &master, 0, master.nearest(&slave.at(x), x).1, x).unwrap()
            };
            let at = on(&middle);
            let way = at.gather(|n| end[n] - x[n]);
            let law = Law { normal: 7.0, tangential: 4.0, soft: [1.0; 2], mu: dice.unit() };
            let ahead = dice.between(-0.1, 0.1).max(0.0);
            let step = Step { scheme: Scheme::Middle, dt: 0.1, ahead, last: Last::Forgotten };
            let Some(c) = Contact::new(step, [at, on(&end)], way, (0, 1.0), law, Multiplier::default())
            else {
                continue;
            };
            seen += 1;
            assert!(c.pressure * c.closing >= 0.0 && c.shear_power() >= 0.0);
            assert!(c.size(&c.shear) <= law.mu * c.pressure * (1.0 + 1e-14));
            assert!((c.shear_vector().norm() - c.size(&c.shear)).abs() < 1e-12 * c.pressure);
        }
        assert!(seen > 200);
    }
}
