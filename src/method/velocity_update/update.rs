//! The velocity update: impulses at the end of a step that give back the energy which penalties took, all but that of friction.
//!
//! ```text
//! v⁺ = v̂ + M⁻¹ Σ j_l        v̂ = 2Δd/Δt − v        A_lk = ½ r_lᵀM⁻¹r_k     b_l = r_l·v
//! k_l (A k)_l + b_l k_l + c_l = 0                  the impulse k_l r_l does the work −c_l ≥ 0
//! ```
//!
//! | rule    | r_l of the end of the step    | c_l                                    | friction of the step |
//! |---------|-------------------------------|----------------------------------------|----------------------|
//! | `paper` | w j [t_N N − t_a D^a]         | −Δt w j (t_N v_N + t_a v^a of stick)   | Δt w j t_a v^a of slip |
//! | `split` | w j t_N N, from v̂             | −Δt w j t_N v_N                        |                      |
//! |         | −w j t_a D^a, from what that left | −Δt w j t_a v^a, κ_l ≤ k_l μ t_N/‖t_T‖, and ≤ (Δt + k_l) μ t_N/‖t_T‖ − Δt | what κ_l at its bound leaves |
//!
//! **Why two.** Where contact chatters, half of all impulse comes from the update: a node that meets a surface after the share s of a step is
//! stopped by 2mv(1 − s) in the middle of the step, and given 2mvs at its end. The published impulse of a point that slips pushes along its whole
//! traction, so its friction slows the slip; but the quadratic then asks for all work to be given back, and what that friction took goes into the
//! rebound. Half of the heat is missing, and bodies that slide or rest shake themselves off the ground. Split, the normal part returns
//! what normal penalties took; the part along the surface goes on until it has returned what friction took before, which is elastic stick, or reaches
//! Coulomb's limit, and then what is missing was slip. Both impulses of a point together stay in the cone, and friction never gives energy.
//! Friction of the middle of the step knows the normal impulses of the end (`rebound.rs`), so that little is left to do along surfaces at the end.
//!
//! Contacts are rigid to what multipliers leave (`augmentation.rs`), so a point may have pushed or rubbed the wrong way by a little, c_l > 0. What that put in is returned less by points of the same
//! two bodies; what these do not have is taken out of the motion along the point's own impulse, as far as there is any, and the rest is a correction.
//!
//! Each r_l is in balance and without moment at the end of the step, so momenta do not change. Points that share no node are solved
//! apart ([`Quadratics`]).

use super::kinematics::NODES;
use super::mass::Consistent;
use super::options::Rule;
use super::potential::Quadratics;
use super::rebound::LATE;
use super::traction::Contact;
use crate::math::Vec3;
use crate::math::sets::Sets;
use crate::model::inertia::Inertia;
use crate::solve::assembly::Unknowns;
use crate::solve::sparse::{FactorError, Matrix, Shape};
use std::collections::BTreeMap;

/// Bounds of impulses along the surface are not smaller than this, of the step: a logarithm needs room.
const NARROWEST: f64 = 1e-12;

type Shapes = [Vec3; NODES];
/// Points that share a node: node, point, place of the node in its contact.
type Shared<'a> = &'a [(u32, u32, u8)];

/// Impulses of all points.
#[derive(Clone, Debug, Default)]
pub(super) struct Update {
    /// On the nodes of `Contact::end` [N s].
    pub impulses: Vec<Shapes>,
    /// What friction takes in the whole step, and penalties keep where nothing is returned [J].
    pub friction: Vec<f64>,
    pub kept: f64,
    /// Energy that the quadratics put in though it was not asked for [J]: what was bounded or had the wrong sign.
    pub correction: f64,
    /// Sets of points whose impulses had to be bounded.
    pub bounded: u32,
}

/// How nodes answer to impulses.
pub(super) enum Answer<'a> {
    Lumped(&'a Inertia),
    /// Every point answers to every other.
    Consistent(&'a mut Consistent, &'a Unknowns),
}

/// Impulses of one kind: contacts, directions and energies to return [J], and how large they may be.
#[derive(Default)]
struct Stage {
    who: Vec<u32>,
    shapes: Vec<Shapes>,
    c: Vec<f64>,
    most: Vec<f64>,
    sizes: Vec<f64>,
}

impl Update {
    /// Finds the impulses for `contacts` in a step of length `dt` that ends with velocities `v` (obstacles too) without them.
    pub(super) fn new(rule: Rule, contacts: &[Contact], mut answer: Answer, v: &[Vec3], dt: f64) -> Update {
        let n = contacts.len();
        let mut update =
            Update { impulses: vec![[Vec3::zeros(); NODES]; n], friction: vec![0.0; n], ..Update::default() };
        let mut first = Stage::default();
        for (l, contact) in contacts.iter().enumerate() {
            let pressed = contact.pressure * contact.closing;
            let (mut shape, mut lost) = (contact.normal_shape(), pressed);
            if rule != Rule::Split {
                let sheared = contact.shear_shape();
                (0..NODES).for_each(|k| shape[k] += sheared[k]);
                match contact.slips {
                    true => update.friction[l] = dt * contact.weight * contact.shear_power(),
                    false => lost += contact.shear_power(),
                }
            }
            first.push(l, shape, -dt * contact.weight * lost, f64::INFINITY);
        }
        if rule == Rule::None {
            update.kept = -first.c.iter().sum::<f64>();
            return update;
        }
        update.solve(contacts, &mut first, &mut answer, v);
        if rule == Rule::Paper {
            return update;
        }
        let mut second = Stage::default();
        for (l, contact) in contacts.iter().enumerate() {
            let shear = contact.shear_size();
            if shear > 0.0 {
                // the cone of the end of the step, and that of the whole step less what the middle has of it
                let (end, limit) = (first.sizes[l], contact.law.mu * contact.pressure / shear);
                let most = (end * limit).min((dt + end) * limit - dt).max(NARROWEST * dt);
                second.push(l, contact.shear_shape(), -dt * contact.weight * contact.shear_power(), most);
            }
        }
        let mut v = v.to_vec();
        if answer.add(contacts, &update.impulses, &mut v).is_ok() {
            update.solve(contacts, &mut second, &mut answer, &v);
        }
        update
    }

    /// Finds and adds the impulses of a stage, which begins with velocities `v`.
    fn solve(&mut self, contacts: &[Contact], stage: &mut Stage, answer: &mut Answer, v: &[Vec3]) {
        stage.sizes = vec![0.0; stage.who.len()];
        let Ok(islands) = answer.couple(contacts, stage) else { return };
        let (back, made) = returned(contacts, stage);
        for (island, a) in islands {
            let of = |values: &[f64]| island.iter().map(|&i| values[i as usize]).collect::<Vec<f64>>();
            let (c, made, most) = (of(&back), of(&made), of(&stage.most));
            let surplus = made.iter().sum::<f64>();
            let b = island.iter().map(|&i| {
                let end = &contacts[stage.who[i as usize] as usize].end;
                let nodes = end.nodes[..end.count].iter();
                nodes.zip(&stage.shapes[i as usize]).map(|(&k, r)| r.dot(&v[k as usize])).sum()
            });
            let quadratics = Quadratics { b: b.collect(), c, most, a };
            // nobody gives way: there is nothing to update
            let found = quadratics.gives_way().then(|| quadratics.solve());
            let mut sizes = found.as_ref().map_or(vec![0.0; island.len()], |f| f.k.clone());
            for ((&i, size), lack) in island.iter().zip(&sizes).zip(quadratics.lack(&sizes)) {
                let l = stage.who[i as usize] as usize;
                if *size >= stage.most[i as usize] || *size == 0.0 && stage.most[i as usize].is_finite() {
                    self.friction[l] -= lack;
                } else {
                    self.correction += lack;
                }
            }
            let free = found.as_ref().is_some_and(|f| !f.bounded);
            self.correction +=
                surplus - if free { quadratics.take_out(&made, surplus, &mut sizes) } else { 0.0 };
            self.bounded += u32::from(found.is_some_and(|f| f.bounded));
            for (&i, size) in island.iter().zip(&sizes) {
                let l = stage.who[i as usize] as usize;
                stage.sizes[i as usize] = size.max(0.0);
                for (j, r) in self.impulses[l].iter_mut().zip(&stage.shapes[i as usize]) {
                    *j += *size * r;
                }
            }
        }
    }
}

/// How a point presses: t_N [Pa] and v_N [m/s].
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    pub pressure: f64,
    pub closing: f64,
}

/// Pressures that the normal impulses of `contacts`, which press so, are worth in a step of length `dt` that would end with velocities `v` [Pa].
pub(super) fn normal_impulses(
    contacts: &[Contact],
    pressed: &[Pressed],
    mut answer: Answer,
    v: &[Vec3],
    dt: f64,
) -> Vec<f64> {
    let mut stage = Stage::default();
    // who is pulled on the way to the solution gets none
    for (l, (contact, p)) in contacts.iter().zip(pressed).enumerate().filter(|(_, (_, p))| p.pressure > 0.0) {
        let shape = contact.end.n.map(|n| contact.weight * p.pressure * n);
        stage.push(l, shape, -dt * contact.weight * p.pressure * p.closing, LATE * dt);
    }
    let mut found = vec![0.0; contacts.len()];
    let (impulses, friction) = (vec![[Vec3::zeros(); NODES]; contacts.len()], found.clone());
    Update { impulses, friction, ..Update::default() }.solve(contacts, &mut stage, &mut answer, v);
    for (&l, k) in stage.who.iter().zip(&stage.sizes) {
        found[l as usize] = k / dt * pressed[l as usize].pressure;
    }
    found
}

/// What points return, as c ≤ 0, and what is left of what others put in [J]: a multiplier that has pushed the wrong way has put energy in (c > 0). So much less is returned by the
/// points of the same two bodies, as far as they have it; the rest is for those who put it in to give back.
fn returned(contacts: &[Contact], stage: &Stage) -> (Vec<f64>, Vec<f64>) {
    let mut sums: BTreeMap<[u32; 2], [f64; 2]> = BTreeMap::new();
    let bodies = |l: u32| contacts[l as usize].bodies;
    for (&l, c) in stage.who.iter().zip(&stage.c) {
        let [made, taken] = sums.entry(bodies(l)).or_default();
        *made += c.max(0.0);
        *taken -= c.min(0.0);
    }
    let shares = stage.who.iter().zip(&stage.c).map(|(&l, c)| {
        let [made, taken] = sums[&bodies(l)];
        let both = made.min(taken);
        let rest = |of: f64| if of > 0.0 { 1.0 - both / of } else { 0.0 };
        (rest(taken) * c.min(0.0), rest(made) * c.max(0.0))
    });
    shares.unzip()
}

impl Stage {
    fn push(&mut self, contact: usize, shape: Shapes, c: f64, most: f64) {
        self.who.push(contact as u32);
        self.shapes.push(shape);
        self.c.push(c);
        self.most.push(most);
    }
}

impl Answer<'_> {
    /// Points of a stage that answer to each other, and their A.
    fn couple(
        &mut self,
        contacts: &[Contact],
        stage: &Stage,
    ) -> Result<Vec<(Vec<u32>, Matrix)>, FactorError> {
        match self {
            Answer::Lumped(inertia) => Ok(lumped(contacts, stage, inertia)),
            Answer::Consistent(mass, unknowns) => {
                let all = (0..stage.who.len() as u32).collect();
                Ok(vec![(all, consistent(contacts, stage, mass, unknowns)?)])
            }
        }
    }

    /// Adds what impulses give to velocities.
    fn add(&mut self, contacts: &[Contact], impulses: &[Shapes], v: &mut [Vec3]) -> Result<(), FactorError> {
        match self {
            Answer::Lumped(inertia) => {
                for (contact, impulse) in contacts.iter().zip(impulses) {
                    for (j, &k) in impulse.iter().zip(&contact.end.nodes[..contact.end.count]) {
                        if (k as usize) < inertia.inverse.len() {
                            v[k as usize] += inertia.of(k as usize) * j;
                        }
                    }
                }
            }
            Answer::Consistent(mass, unknowns) => {
                let mut sum = vec![0.0; unknowns.count];
                for (contact, impulse) in contacts.iter().zip(impulses) {
                    scatter(contact, impulse, unknowns, &mut sum);
                }
                mass.answer(&mut sum)?;
                (0..unknowns.nodes()).for_each(|k| v[k] += unknowns.expand(k, &sum));
            }
        }
        Ok(())
    }
}

/// Adds impulses on the nodes of a contact to components along free directions.
fn scatter(contact: &Contact, shape: &Shapes, unknowns: &Unknowns, to: &mut [f64]) {
    for (r, &k) in shape.iter().zip(&contact.end.nodes[..contact.end.count]) {
        if (k as usize) < unknowns.nodes() {
            unknowns.add_to_unknowns(k as usize, r, to);
        }
    }
}

fn consistent(
    contacts: &[Contact],
    stage: &Stage,
    mass: &mut Consistent,
    unknowns: &Unknowns,
) -> Result<Matrix, FactorError> {
    let n = stage.who.len();
    let (mut answer, mut own) = (vec![0.0; unknowns.count], vec![0.0; unknowns.count]);
    let mut a = Matrix { size: n, shape: Shape::Symmetric, starts: vec![0], ..Matrix::default() };
    let spread = |i: usize, to: &mut [f64]| {
        to.fill(0.0);
        scatter(&contacts[stage.who[i] as usize], &stage.shapes[i], unknowns, to);
    };
    for column in 0..n {
        spread(column, &mut answer);
        mass.answer(&mut answer)?;
        for row in column..n {
            spread(row, &mut own);
            a.rows.push(row);
            a.values.push(0.5 * own.iter().zip(&answer).map(|(p, q)| p * q).sum::<f64>());
        }
        a.starts.push(a.rows.len());
    }
    Ok(a)
}

fn lumped(contacts: &[Contact], stage: &Stage, inertia: &Inertia) -> Vec<(Vec<u32>, Matrix)> {
    // points of each node that gives way, as (node, point of the stage, place)
    let mut at_node: Vec<(u32, u32, u8)> = Vec::new();
    for (i, &l) in stage.who.iter().enumerate() {
        let end = &contacts[l as usize].end;
        for (place, &k) in end.nodes[..end.count].iter().enumerate() {
            if (k as usize) < inertia.inverse.len() && !inertia.fixed(k as usize) {
                at_node.push((k, i as u32, place as u8));
            }
        }
    }
    at_node.sort_unstable();
    let sharing: Vec<&[(u32, u32, u8)]> = at_node.chunk_by(|a, b| a.0 == b.0).collect();
    let (islands, of) = islands(stage.who.len(), &sharing);
    // place of every point in its island, and nodes by island
    let mut local = vec![0; stage.who.len()];
    for island in &islands {
        island.iter().enumerate().for_each(|(at, &i)| local[i as usize] = at);
    }
    let mut nodes: Vec<Vec<Shared>> = vec![Vec::new(); islands.len()];
    sharing.iter().for_each(|node| nodes[of[node[0].1 as usize] as usize].push(node));
    let with = |(island, nodes): (Vec<u32>, Vec<Shared>)| {
        let mut entries: Vec<(usize, usize, f64)> = (0..island.len()).map(|i| (i, i, 0.0)).collect();
        for node in nodes {
            let inverse = inertia.of(node[0].0 as usize);
            for &(_, p, i) in node {
                let answer = inverse * stage.shapes[p as usize][usize::from(i)];
                let below = node.iter().filter(|q| local[q.1 as usize] >= local[p as usize]);
                entries.extend(below.map(|&(_, q, j)| {
                    let a = 0.5 * stage.shapes[q as usize][usize::from(j)].dot(&answer);
                    (local[p as usize], local[q as usize], a)
                }));
            }
        }
        let size = island.len();
        (island, sum(size, entries))
    };
    islands.into_iter().zip(nodes).map(with).collect()
}

/// The lower triangle out of entries (column, row, value) that may come more than once.
fn sum(size: usize, mut entries: Vec<(usize, usize, f64)>) -> Matrix {
    // the order of nodes is that of their numbers: a stable sort keeps every sum the same
    entries.sort_by_key(|e| (e.0, e.1));
    let mut a = Matrix { size, shape: Shape::Symmetric, starts: vec![0; size + 1], ..Matrix::default() };
    for own in entries.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
        a.starts[own[0].0 + 1] += 1;
        a.rows.push(own[0].1);
        a.values.push(own.iter().map(|e| e.2).sum());
    }
    for k in 0..size {
        a.starts[k + 1] += a.starts[k];
    }
    a
}

/// Points that share nodes, directly or by others, each set ascending, in the order of their first; and the set of each point.
fn islands(count: usize, sharing: &[&[(u32, u32, u8)]]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut together = Sets::default();
    together.reset(count);
    for node in sharing {
        for pair in node.windows(2) {
            together.join(pair[0].1, pair[1].1);
        }
    }
    let mut sets: Vec<Vec<u32>> = Vec::new();
    let mut of = vec![u32::MAX; count];
    for l in 0..count as u32 {
        let first = together.lowest(l) as usize;
        if of[first] == u32::MAX {
            of[first] = sets.len() as u32;
            sets.push(Vec::new());
        }
        of[l as usize] = of[first];
        sets[of[first] as usize].push(l);
    }
    (sets, of)
}
