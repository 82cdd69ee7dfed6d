//! From a checked deck to a [`Case`].

use super::body::About;
use super::check::{Made, Prepared};
use super::method::{self, Ready};
use super::shell;
use super::spec::*;
use super::support::direction;
use crate::contact::scene::BodyKind;
use crate::element::choice::Kind;
use crate::element::shell::ShellOptions;
use crate::math::Vec3;
use crate::mesh::subdivision::Subdivision;
use crate::mesh::{Mesh, Side};
use crate::method::asynchronous::{Options as Asynchronous, Steps};
use crate::method::verlet::StepRule;
use crate::model::contact::{self, ObstacleShape};
use crate::model::load::OwnLoad;
use crate::model::points::surface_points;
use crate::model::restraint::Motion;
use crate::model::{BodySpec, Builder, Model, ModelError, State, Table};
use crate::run::probe::{Probe as RunProbe, Target};
use crate::run::{Case, checkpoint};
use crate::survey::surfaces::{self, Surfaces};
use carom_declare::Report;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Steps beyond which a run is a slip of the pen: a thousand years at a million steps a second.
const MOST_STEPS: f64 = 1e16;
/// Ticks that numbers can tell apart: the asynchronous method counts a thousand or a million of them in a step.
const MOST_TICKS: f64 = (1u64 << 53) as f64;

/// What a deck has become.
pub(crate) struct Built {
    pub case: Case,
    /// What can touch, if anything can.
    pub surfaces: Option<Surfaces>,
    /// Steps [s] of groups of potentials and how many each has, where they differ.
    pub kicks: Vec<(f64, u64)>,
}

/// `folder` is where the deck's paths begin.
pub(crate) fn case(
    spec: &Spec,
    made: Vec<Made>,
    loads: &[OwnLoad],
    folder: &Path,
    report: &Report,
) -> Option<Built> {
    let mut builder = Builder::default();
    let mut held = Vec::new();
    let mut rigid = Vec::new();
    // bodies as the model counts them: obstacles after all others
    let mut deformable = Vec::new();
    for ((name, body), made) in spec.body.iter().zip(made) {
        let (body, Prepared { mesh, laws, held: held_here, surface }) = match (body, made) {
            (AnyBody::Deformable(body), Made::Deformable(prepared)) => (body, prepared),
            (AnyBody::Rigid(obstacle), Made::Rigid(mesh)) => {
                rigid.push((name, obstacle, mesh));
                continue;
            }
            _ => return None,
        };
        deformable.push((name, &**body));
        held.push(held_here);
        let dimension = mesh.dimension();
        let itself = spec.contact.as_ref().is_some_and(|c| c.with_itself.iter().any(|b| b == name));
        let index = add_body(&mut builder, name, body, mesh, &laws, surface, itself);
        restrain(&mut builder, index, name, body, dimension, report);
    }
    for (_, load) in spec.load.iter() {
        add_load(&mut builder, load);
    }
    loads.iter().for_each(|load| builder.own_load(load.clone()));
    let names: Vec<&str> = deformable.iter().map(|d| d.0).chain(rigid.iter().map(|r| r.0)).collect();
    if let Some(contact) = &spec.contact {
        let dimension = builder.bodies().iter().map(|b| b.mesh.dimension()).max().unwrap_or(3);
        builder.contact = who_touches(contact, spec.method, &deformable, &builder, &names);
        builder.contact.obstacles =
            rigid.into_iter().map(|(name, o, mesh)| obstacle(name, o, mesh, dimension)).collect();
    }
    let model = model(builder, report)?;
    let rule = step_rule(spec, &model, report)?;
    let probes = spec.probe.iter().map(|(name, probe)| RunProbe {
        name: name.to_owned(),
        target: target(probe, &model, &held, &names),
    });
    let state = match &spec.start {
        Some(start) => continued(start, folder, &model, report)?,
        None => initial(&deformable, &model),
    };
    let probes = probes.collect();
    let surfaces = match method::touches(spec) || spec.method != MethodName::Verlet {
        true => Some(surfaces::examine(&model, &state, guarded(spec), report)),
        false => None,
    };
    if !report.problems.none() {
        return None;
    }
    let Ready { method, kicks } = method::make(spec, &model, rule, report)?;
    let case = Case {
        title: spec.title.clone(),
        method_name: spec.method.name().into(),
        model,
        state,
        method,
        end: spec.end,
        probes,
    };
    Some(Built { case, surfaces, kicks })
}

/// A body that deforms, as the model has it; `itself` if it touches itself. Its place among them.
fn add_body(
    builder: &mut Builder,
    name: &str,
    body: &Body,
    mesh: Mesh,
    laws: &[AnyLaw],
    surface: Option<Arc<Subdivision>>,
    itself: bool,
) -> usize {
    let thickness = body.thickness.unwrap_or(1.0);
    let section = if surface.is_some() { 1.0 } else { body.area.unwrap_or(thickness) };
    let dimension = mesh.dimension();
    let block = |(cells, law): (&crate::mesh::Cells, &AnyLaw)| {
        let kind = Kind {
            cell: cells.kind,
            integration: body.integration,
            plane: body.plane.unwrap_or_default(),
            section,
            hourglass: body.hourglass,
        };
        law.maker(kind)
    };
    let two_sided = surface.as_ref().is_some_and(|s| shell::two_sided(body, s, itself));
    let blocks = match surface {
        Some(surface) => {
            vec![laws[0].shell_maker(ShellOptions { thickness, points: body.points }, surface)]
        }
        None => mesh.cells.iter().zip(laws).map(block).collect(),
    };
    let kind = match two_sided {
        true => BodyKind::Shell,
        false => BodyKind::of_cells(dimension),
    };
    builder.body(BodySpec {
        name: name.to_owned(),
        kind,
        mesh,
        blocks,
        section,
        gravity: Vec3::from(body.gravity),
        gravity_table: table(&body.gravity_table),
        damping: body.damping,
    })
}

fn model(builder: Builder, report: &Report) -> Option<Model> {
    let tell = |error: ModelError| match &error {
        ModelError::Massless { body, .. } => report.add(&["body", body, "mesh"], error.to_string(), ""),
        ModelError::Empty => report.add(&["body"], error.to_string(), ""),
    };
    builder.build().map_err(tell).ok()
}

fn guarded(spec: &Spec) -> bool {
    spec.contact.as_ref().is_some_and(|c| c.guard)
}

/// Who touches whom. Names have been looked up when the deck was checked.
fn who_touches(
    spec: &Contact,
    method: MethodName,
    deformable: &[(&str, &Body)],
    builder: &Builder,
    names: &[&str],
) -> contact::Contact {
    let index = |name: &String| names.iter().position(|n| n == name).map(|i| i as u32);
    let pair = |[a, b]: &[String; 2]| Some([index(a)?, index(b)?]);
    let whole = spec.restitution.unwrap_or(method.restitution());
    let law = |between: &Between| contact::Law {
        friction: between.friction.unwrap_or(spec.friction),
        restitution: Some(between.restitution.unwrap_or(whole)),
    };
    let mut off: Vec<u32> = spec.off.iter().filter_map(index).collect();
    let (mut parts, mut thickness) = (Vec::new(), Vec::new());
    for ((b, (_, body)), at) in deformable.iter().enumerate().zip(builder.bodies()) {
        if body.contact == Part::All(false) {
            off.push(b as u32);
        }
        if body.contact_thickness > 0.0 {
            thickness.push((b as u32, body.contact_thickness));
        }
        let sets = body.contact.sets();
        if !sets.is_empty() {
            let sides = sets.iter().filter_map(|set| at.mesh.side_sets.get(set)).flatten();
            let mut sides: Vec<Side> = sides.copied().collect();
            sides.sort_unstable();
            sides.dedup();
            parts.push((b as u32, sides));
        }
    }
    let (passing, touching): (Vec<&Between>, Vec<&Between>) = spec.between.iter().partition(|b| b.off);
    contact::Contact {
        stick: spec.stick.unwrap_or_default(),
        obstacles: Vec::new(),
        law: contact::Law { friction: spec.friction, restitution: Some(whole) },
        laws: touching.iter().filter_map(|b| Some((pair(&b.bodies)?, law(b)))).collect(),
        slaves: touching.iter().filter_map(|b| Some((pair(&b.bodies)?, index(b.slave.as_ref()?)?))).collect(),
        pairs_off: passing.iter().filter_map(|b| pair(&b.bodies)).collect(),
        off,
        with_itself: spec.with_itself.iter().filter_map(index).collect(),
        only: spec.only.as_ref().map(|only| only.iter().filter_map(pair).collect()),
        parts,
        thickness,
    }
}

fn obstacle(name: &str, spec: &Obstacle, mesh: Option<Mesh>, dimension: usize) -> contact::Obstacle {
    let shape = match (&spec.plane, &spec.polyline, mesh) {
        (_, _, Some(mesh)) if mesh.dimension() == dimension => ObstacleShape::Solid(mesh),
        (_, _, Some(mesh)) => ObstacleShape::Mesh(mesh),
        (_, Some(line), _) => ObstacleShape::Polyline {
            points: line.points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect(),
            closed: line.closed,
        },
        (Some(plane), ..) => {
            ObstacleShape::Plane { point: Vec3::from(plane.point), normal: direction(plane.normal) }
        }
        (None, None, None) => ObstacleShape::Polyline { points: Vec::new(), closed: false },
    };
    contact::Obstacle {
        name: name.into(),
        shape,
        motion: motion(spec.displacement, spec.table.as_deref(), spec.velocity),
        spin: Vec3::from(spec.spin),
        centre: Vec3::from(spec.centre.unwrap_or_default()),
    }
}

/// A displacement times a table, or a velocity.
fn motion(
    displacement: Option<[f64; 3]>,
    points: Option<&[[f64; 2]]>,
    velocity: Option<[f64; 3]>,
) -> Option<Motion> {
    match (displacement, velocity) {
        (Some(d), _) => Some(Motion::Displacement {
            displacement: Vec3::from(d),
            table: table(points.unwrap_or_default()),
        }),
        (None, Some(v)) => Some(Motion::Velocity { velocity: Vec3::from(v) }),
        (None, None) => None,
    }
}

/// Checked when it was read.
fn table(points: &[[f64; 2]]) -> Table {
    Table::new(points.iter().map(|p| (p[0], p[1])).collect()).unwrap_or_default()
}

fn restrain(builder: &mut Builder, index: usize, name: &str, spec: &Body, dimension: usize, report: &Report) {
    let body = &builder.bodies()[index];
    let all: Vec<u32> = body.nodes.clone().map(|n| n as u32).collect();
    let space = [Vec3::x(), Vec3::y(), Vec3::z()];
    let mut asked: Vec<(Vec<u32>, Vec<Vec3>, Option<Motion>)> = Vec::new();
    if dimension < 3 {
        asked.push((all.clone(), space[dimension..].to_vec(), None));
    }
    if spec.fix == Part::All(true) {
        asked.push((all, space.to_vec(), None));
    }
    for set in spec.fix.sets() {
        asked.push((body.node_set(set).unwrap_or_default(), space.to_vec(), None));
    }
    for plane in &spec.symmetry {
        let nodes = plane.nodes(&body.mesh).map(|n| n + body.nodes.start as u32);
        asked.push((nodes.collect(), vec![plane.mirror().normal], None));
    }
    let own = asked.len();
    for support in &spec.support {
        let directions = support.directions.iter().map(|d| match *d {
            Direction::Axis(axis) => space[axis as usize],
            Direction::Vector(v) => direction(v),
        });
        let motion = motion(support.displacement, support.table.as_deref(), support.velocity);
        let nodes = body.node_set(&support.set).unwrap_or_default();
        asked.push((nodes, directions.collect(), motion));
    }
    warn_of_quarrels(&asked, own, name, spec, dimension, report);
    for (nodes, directions, motion) in asked {
        builder.restrain(nodes, directions, motion);
    }
}

/// A node that two supports hold along one direction, one of them leading it: the first has its way, and the deck
/// should say so.
fn warn_of_quarrels(
    asked: &[(Vec<u32>, Vec<Vec3>, Option<Motion>)],
    own: usize,
    name: &str,
    spec: &Body,
    dimension: usize,
    report: &Report,
) {
    if asked.iter().all(|(.., motion)| motion.is_none()) {
        return;
    }
    let mut held: BTreeMap<u32, Vec<(Vec3, bool)>> = BTreeMap::new();
    for (i, (nodes, directions, motion)) in asked.iter().enumerate() {
        let mut quarrels = 0;
        for node in nodes {
            let held = held.entry(*node).or_default();
            let mut quarrel = false;
            for direction in directions {
                let unit = direction.normalize();
                let rest = held.iter().fold(unit, |r, (d, _)| r - d * d.dot(&r));
                if rest.norm() > 1e-9 {
                    held.push((rest.normalize(), motion.is_some()));
                } else {
                    // components that a bar or plane body does not have are nobody's quarrel
                    let here = (0..dimension).any(|k| unit[k].abs() > 1e-9);
                    quarrel |= here
                        && (motion.is_some()
                            || held.iter().any(|(d, prescribed)| *prescribed && d.dot(&unit).abs() > 1e-9));
                }
            }
            quarrels += usize::from(quarrel);
        }
        if quarrels > 0 && i >= own {
            let index = i - own;
            let message = format!(
                "{quarrels} nodes of set `{}` of body `{name}` are held along the same direction by an earlier support",
                spec.support[index].set
            );
            report.warn(
                &["body", name, "support", &index.to_string(), "set"],
                message,
                "the earlier one has its way there",
            );
        }
    }
}

fn add_load(builder: &mut Builder, load: &Load) {
    let Some(index) = builder.bodies().iter().position(|b| b.name == load.body) else { return };
    let table = table(&load.table);
    let set = load.set.as_deref().unwrap_or_default();
    let sides = builder.bodies()[index].mesh.side_sets.get(set).cloned().unwrap_or_default();
    if let Some(force) = load.force {
        let nodes = builder.bodies()[index].node_set(set).unwrap_or_default();
        builder.force(nodes, Vec3::from(force), table);
    } else if let Some(pressure) = load.pressure {
        builder.pressure(index, &sides, pressure, table);
    } else if let Some(traction) = load.traction {
        builder.traction(index, &sides, Vec3::from(traction), table);
    } else if let Some(density) = load.body_force {
        builder.body_force(index, Vec3::from(density), table);
    }
}

fn step_rule(spec: &Spec, model: &Model, report: &Report) -> Option<StepRule> {
    let stable = model.stable_step();
    if !(stable > 0.0 && stable.is_finite()) {
        for body in &model.bodies {
            let steps = model.blocks[body.blocks.clone()].iter().flat_map(|b| b.stable_steps());
            if let Some(step) = steps.copied().find(|s| !(*s > 0.0 && s.is_finite())) {
                let message = format!("the stable step of body `{}` would be {step}", body.name);
                let help = "its stiffness, density and cell size are out of the range of numbers";
                report.add(&["body", &body.name, "material"], message, help);
            }
        }
        return None;
    }
    let own = spec.method == MethodName::Nonsmooth && spec.nonsmooth.is_some_and(|o| o.unbounded());
    let implicit = spec.method.implicit() || own;
    let (rule, dt) = match spec.step {
        Step { size: Some(size), .. } => {
            if size > stable && !implicit {
                let message =
                    format!("the step of {size:.4e} s is longer than the largest stable one, {stable:.4e} s");
                let help = "expect it to blow up; a `safety` below 1 finds the step by itself";
                report.warn(&["step", "size"], message, help);
            }
            (StepRule::Fixed(size), size)
        }
        Step { safety, .. } => {
            let safety = safety.unwrap_or(0.5);
            if safety > 1.0 && !implicit {
                let message = format!("a `safety` of {safety} is beyond the proven bound of 1");
                report.warn(&["step", "safety"], message, "0.9 is a good value");
            } else if safety > 0.9 && spec.method == MethodName::Asynchronous {
                let message = format!("with a `safety` of {safety}, steps that differ may resonate");
                report.warn(&["step", "safety"], message, "0.5 is a good value");
            }
            // no bound to follow: whole steps, so that the end is met
            match safety * stable {
                dt if implicit => (StepRule::Fixed(spec.end / (spec.end / dt).ceil().max(1.0)), dt),
                dt => (StepRule::Automatic { safety }, dt),
            }
        }
    };
    // a step beyond the end would be none at all
    let (rule, dt) = if dt > spec.end { (StepRule::Fixed(spec.end), spec.end) } else { (rule, dt) };
    let steps = spec.end / dt;
    let most = match spec.asynchronous {
        Some(Asynchronous { steps: Steps::Free, .. }) => MOST_TICKS / f64::from(1 << 20),
        Some(_) => MOST_TICKS / 1024.0,
        None => MOST_STEPS,
    };
    if steps > most {
        let message = format!("it would take {steps:.1e} steps of {dt:.2e} s to reach the end");
        report.add(&["end"], message, "an earlier end or a larger step");
        return None;
    }
    Some(rule)
}

/// The last state of another run, at time zero.
fn continued(start: &Start, folder: &Path, model: &Model, report: &Report) -> Option<State> {
    let from = folder.join(&start.from);
    let path = ["start", "from"];
    let Some(record) = checkpoint::newest(&from) else {
        let message = format!("there is no checkpoint in {}", from.display());
        report.add(&path, message, "the folder of a run that has ended; paths begin where the deck lies");
        return None;
    };
    match State::restore(model, &record) {
        Ok(state) => Some(State { time: 0.0, step: 0, ..state }),
        Err(error) => {
            let message = format!("the run in {} is not one of these bodies: {error}", from.display());
            report.add(&path, message, "bodies, meshes and laws must be the same, in the same order");
            None
        }
    }
}

fn initial(deformable: &[(&str, &Body)], model: &Model) -> State {
    let mut state = model.rest();
    for ((_, body), at) in deformable.iter().zip(&model.bodies) {
        let (velocity, spin) = (Vec3::from(body.velocity), Vec3::from(body.spin));
        let about = match body.spin_about {
            About::Point(p) => Vec3::from(p),
            About::Centre => {
                let (mut mass, mut sum) = (0.0, Vec3::zeros());
                for n in at.nodes.clone() {
                    mass += model.mass[n];
                    sum += model.mass[n] * model.reference[n];
                }
                sum / mass
            }
        };
        for n in at.nodes.clone() {
            state.v[n] = velocity + spin.cross(&(model.reference[n] - about));
        }
    }
    state
}

fn target(probe: &Probe, model: &Model, held: &[Vec<bool>], names: &[&str]) -> Target {
    let number = |name: &String| names.iter().position(|n| n == name).unwrap_or(0);
    if let Some([on, by]) = &probe.between {
        return Target::Contact { on: number(on) as u32, by: vec![number(by) as u32] };
    }
    if let Some(on) = &probe.contact {
        let on = number(on) as u32;
        return Target::Contact { on, by: (0..names.len() as u32).filter(|b| *b != on).collect() };
    }
    let index = probe.body.as_ref().map_or(0, number);
    let body = &model.bodies[index];
    let start = body.nodes.start as u32;
    let of_set = |set: &String| body.node_set(set).unwrap_or_default();
    if let Some(nodes) = probe.node.map(|n| vec![start + n]).or(probe.nodes.as_ref().map(of_set)) {
        return match surface_points(&model.blocks[body.blocks.clone()], &nodes) {
            Some(terms) => Target::Surface { count: nodes.len(), terms },
            None => Target::Nodes(nodes),
        };
    }
    if let Some(set) = &probe.reaction {
        let all = &model.restraints.held;
        let mine = body.node_set(set).unwrap_or_default();
        let mine = mine.into_iter().filter(|n| held[index][(n - start) as usize]);
        return Target::Reaction(
            mine.filter_map(|n| all.binary_search_by_key(&n, |h| h.node).ok()).collect(),
        );
    }
    Target::Body(index)
}
