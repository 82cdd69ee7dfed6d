//! From a checked deck to a [`Case`].

use super::blocks::{Kind, maker};
use super::check::Prepared;
use super::problem::Problems;
use super::spec::*;
use super::tree::Tree;
use crate::math::Vec3;
use crate::method::Method;
use crate::method::verlet::{StepRule, Verlet};
use crate::model::restraint::Motion;
use crate::model::{BodySpec, Builder, Model, ModelError, State, Table};
use crate::run::Case;
use crate::run::probe::{Probe as RunProbe, Target};
use std::collections::BTreeMap;

/// Steps beyond which a run is a slip of the pen: a thousand years at a million steps a second.
const MOST_STEPS: f64 = 1e16;

pub fn case(spec: &Spec, prepared: Vec<Prepared>, tree: &Tree, problems: &Problems) -> Option<Case> {
    let mut builder = Builder::default();
    let held: Vec<Vec<bool>> = prepared.iter().map(|p| p.held.clone()).collect();
    for ((name, body), Prepared { mesh, laws, .. }) in spec.body.0.iter().zip(prepared) {
        let section = body.area.or(body.thickness).unwrap_or(1.0);
        let dimension = mesh.dimension();
        let block = |(cells, law): (&crate::mesh::Cells, &Law)| {
            let kind = Kind {
                cell: cells.kind,
                integration: body.integration,
                plane: body.plane.unwrap_or_default(),
                section,
                hourglass: body.hourglass,
            };
            maker(kind, law)
        };
        let blocks = mesh.cells.iter().zip(&laws).map(block).collect();
        let index = builder.body(BodySpec {
            name: name.clone(),
            mesh,
            blocks,
            section,
            gravity: Vec3::from(body.gravity),
            gravity_table: table(&body.gravity_table),
            damping: body.damping,
        });
        restrain(&mut builder, index, name, body, dimension, tree, problems);
    }
    for load in &spec.load {
        add_load(&mut builder, load);
    }
    let model = match builder.build() {
        Ok(model) => model,
        Err(error) => {
            let place = match &error {
                ModelError::Massless { body, .. } => tree.place(&["body", body, "mesh"]),
                ModelError::Empty => tree.place(&["body"]),
            };
            problems.add(&place, error.to_string(), "");
            return None;
        }
    };
    let rule = step_rule(spec, &model, tree, problems)?;
    let probes = spec
        .probe
        .0
        .iter()
        .map(|(name, probe)| RunProbe { name: name.clone(), target: target(probe, &model, &held) });
    let (state, probes) = (initial(spec, &model), probes.collect());
    let method: Box<dyn Method> = match spec.method {
        MethodName::Verlet => Box::new(Verlet::new(&model, rule)),
    };
    Some(Case {
        title: spec.title.clone(),
        method_name: spec.method.name().into(),
        model,
        state,
        method,
        end: spec.end,
        probes,
    })
}

/// Checked when it was read.
fn table(points: &[[f64; 2]]) -> Table {
    Table::new(points.iter().map(|p| (p[0], p[1])).collect()).unwrap_or_default()
}

fn restrain(
    builder: &mut Builder,
    index: usize,
    name: &str,
    spec: &Body,
    dimension: usize,
    tree: &Tree,
    problems: &Problems,
) {
    let body = &builder.bodies()[index];
    let all: Vec<u32> = body.nodes.clone().map(|n| n as u32).collect();
    let space = [Vec3::x(), Vec3::y(), Vec3::z()];
    let mut asked: Vec<(Vec<u32>, Vec<Vec3>, Option<Motion>)> = Vec::new();
    if dimension < 3 {
        asked.push((all.clone(), space[dimension..].to_vec(), None));
    }
    match &spec.fix {
        Fix::All(true) => asked.push((all, space.to_vec(), None)),
        Fix::All(false) => {}
        Fix::One(set) => asked.push((body.node_set(set).unwrap_or_default(), space.to_vec(), None)),
        Fix::Sets(sets) => {
            for set in sets {
                asked.push((body.node_set(set).unwrap_or_default(), space.to_vec(), None));
            }
        }
    }
    let own = asked.len();
    for support in &spec.support {
        let directions = support.directions.iter().map(|d| match *d {
            Direction::Axis(axis) => space[axis as usize],
            Direction::Vector(v) => Vec3::from(v),
        });
        let motion = match (support.displacement, support.velocity) {
            (Some(d), _) => Some(Motion::Displacement {
                displacement: Vec3::from(d),
                table: table(support.table.as_deref().unwrap_or_default()),
            }),
            (None, Some(v)) => Some(Motion::Velocity { velocity: Vec3::from(v) }),
            (None, None) => None,
        };
        let nodes = body.node_set(&support.set).unwrap_or_default();
        asked.push((nodes, directions.collect(), motion));
    }
    warn_of_quarrels(&asked, own, name, spec, dimension, tree, problems);
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
    tree: &Tree,
    problems: &Problems,
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
                            || held.iter().any(|(d, led)| *led && d.dot(&unit).abs() > 1e-9));
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
            let place = tree.place(&["body", name, "support", &index.to_string(), "set"]);
            problems.warn(&place, message, "the earlier one has its way there");
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

fn step_rule(spec: &Spec, model: &Model, tree: &Tree, problems: &Problems) -> Option<StepRule> {
    let stable = model.stable_step();
    if !(stable > 0.0 && stable.is_finite()) {
        for body in &model.bodies {
            let steps = model.blocks[body.blocks.clone()].iter().flat_map(|b| b.stable_steps());
            if let Some(step) = steps.copied().find(|s| !(*s > 0.0 && s.is_finite())) {
                let message = format!("the stable step of body `{}` would be {step}", body.name);
                let help = "its stiffness, density and cell size are out of the range of numbers";
                problems.add(&tree.place(&["body", &body.name, "material"]), message, help);
            }
        }
        return None;
    }
    let (rule, dt) = match spec.step {
        Step { size: Some(size), .. } => {
            if size > stable {
                let message =
                    format!("the step of {size:.4e} s is longer than the largest stable one, {stable:.4e} s");
                let help = "expect it to blow up; a `safety` below 1 finds the step by itself";
                problems.warn(&tree.place(&["step", "size"]), message, help);
            }
            (StepRule::Fixed(size), size)
        }
        Step { safety, .. } => {
            let safety = safety.unwrap_or(SAFETY);
            if safety > 1.0 {
                let message = format!("a `safety` of {safety} is beyond the proven bound of 1");
                problems.warn(&tree.place(&["step", "safety"]), message, "0.9 is a good value");
            }
            (StepRule::Automatic { safety }, safety * stable)
        }
    };
    let steps = spec.end / dt;
    if steps > MOST_STEPS {
        let message = format!("it would take {steps:.1e} steps of {dt:.2e} s to reach the end");
        problems.add(&tree.place(&["end"]), message, "an earlier end or a larger step");
        return None;
    }
    Some(rule)
}

fn initial(spec: &Spec, model: &Model) -> State {
    let mut state = model.rest();
    for ((_, body), at) in spec.body.0.iter().zip(&model.bodies) {
        let (velocity, spin) = (Vec3::from(body.velocity), Vec3::from(body.spin));
        let about = match body.spin_about {
            About::Point(p) => Vec3::from(p),
            About::Word(_) => {
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

fn target(probe: &Probe, model: &Model, held: &[Vec<bool>]) -> Target {
    let index = model.bodies.iter().position(|b| b.name == probe.body).unwrap_or(0);
    let body = &model.bodies[index];
    let start = body.nodes.start as u32;
    if let Some(node) = probe.node {
        return Target::Nodes(vec![start + node]);
    }
    if let Some(set) = &probe.nodes {
        return Target::Nodes(body.node_set(set).unwrap_or_default());
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
