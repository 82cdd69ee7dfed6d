//! `carom check`: reads and builds everything, runs nothing, and tells what is there.

use crate::exit::{Outcome, complain, say};
use crate::input::DeckArguments;
use crate::progress::duration;
use carom::Simulation;
use carom::deck::surfaces::Surfaces;
use carom::deck::{Loaded, spec};
use carom::mesh::surface::Surface;
use carom::model::forces::Forces;
use carom::model::{Body, Model};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    deck: DeckArguments,
}

pub fn check(arguments: &Arguments) -> Outcome {
    let found = arguments.deck.find()?;
    let threads = arguments.deck.threads()?;
    let simulation = found.setup(threads).deck(&found.name, &found.text, &found.folder)?;
    for warning in simulation.warnings() {
        complain(&format!("warning: {warning}"));
    }
    let mut text = String::new();
    if let Some(loaded) = simulation.loaded() {
        // A string takes whatever it is given.
        let _ = report(&simulation, loaded, threads, &mut text);
    }
    say(&text)?;
    Ok(0)
}

fn report(simulation: &Simulation, loaded: &Loaded, threads: usize, text: &mut String) -> std::fmt::Result {
    let (case, spec) = (&loaded.case, &loaded.spec);
    let model = &case.model;
    if !spec.title.is_empty() {
        writeln!(text, "{}", carom::deck::harmless(&spec.title, 200))?;
    }
    writeln!(text, "method {}, end {} s", case.method_name, case.end)?;
    let by_name: HashMap<&str, &Body> = model.bodies.iter().map(|b| (b.name.as_str(), b)).collect();
    for (name, body) in spec.body.iter() {
        if let (spec::AnyBody::Deformable(body), Some(at)) = (body, by_name.get(name)) {
            describe(model, at, body, text)?;
        }
    }
    if let Some(surfaces) = &loaded.surfaces {
        touching(surfaces, model, text)?;
    }
    let held = model.restraints.held.len();
    writeln!(text, "{held} nodes held, {} loads, {} probes", model.loads.len(), case.probes.len())?;

    let stable = model.stable_step();
    let potentials: usize = model.blocks.iter().map(|b| b.potentials()).sum();
    // each is kicked in the middle of its intervals
    let kicks = |(h, count): &(f64, u64)| *count as f64 * (case.end / h + 0.5).floor();
    let updates: f64 = match &loaded.kicks[..] {
        [(shortest, _), .., (longest, _)] => {
            writeln!(text, "steps {shortest:.4e} s to {longest:.4e} s:")?;
            classes(&loaded.kicks, text)?;
            loaded.kicks.iter().map(kicks).sum()
        }
        one => {
            let asked = spec.step.size.unwrap_or_else(|| spec.step.safety.unwrap_or(0.5) * stable);
            let dt = one.first().map_or(asked, |k| k.0);
            let steps = (case.end / dt).ceil();
            writeln!(
                text,
                "largest stable step {stable:.4e} s; step {dt:.4e} s, {steps:.0} steps to the end"
            )?;
            one.first().map_or(steps * potentials as f64, kicks)
        }
    };
    let seconds = simulation.install(|| step_time(model)) * updates / (potentials as f64).max(1.0);
    writeln!(
        text,
        "cost {updates:.3e} element updates, about {} on {threads} threads, output{} aside",
        duration(Duration::from_secs_f64(seconds.min(1e12))),
        if loaded.surfaces.is_some() { " and contact" } else { "" }
    )?;
    writeln!(text, "output {} rows of history, {} frames", spec.output.history + 1, spec.output.frames + 1)
}

/// How many potentials have which step; free steps in powers of two.
fn classes(kicks: &[(f64, u64)], text: &mut String) -> std::fmt::Result {
    let mut from = 0;
    while let Some(&(shortest, _)) = kicks.get(from) {
        // a hair less, so that powers of two stand alone
        let to = kicks.partition_point(|k| k.0 < 1.999_999 * shortest).max(from + 1);
        let count: u64 = kicks[from..to].iter().map(|k| k.1).sum();
        let up_to = if to > from + 1 { format!(" to {:.4e} s", kicks[to - 1].0) } else { String::new() };
        writeln!(text, "  {count} at {shortest:.4e} s{up_to}")?;
        from = to;
    }
    Ok(())
}

fn describe(model: &Model, at: &Body, spec: &spec::Body, text: &mut String) -> std::fmt::Result {
    let mass: f64 = model.mass[at.nodes.clone()].iter().sum();
    let blocks = || model.blocks[at.blocks.clone()].iter();
    let volume: f64 =
        blocks().map(|b| (0..b.len()).map(|e| b.volume(e, &model.reference)).sum::<f64>()).sum();
    let elements: usize = blocks().map(|b| b.len()).sum();
    writeln!(
        text,
        "body `{}`: {} nodes, {elements} elements, volume {volume:.6e} m³, mass {mass:.6e} kg",
        at.name,
        at.nodes.len()
    )?;
    for block in blocks() {
        let steps = block.stable_steps();
        let (worst, step) =
            steps.iter().enumerate().fold((0, f64::INFINITY), |w, (i, &s)| if s < w.1 { (i, s) } else { w });
        let kind = match spec.integration {
            spec::Integration::OnePoint if block.kind() == carom::mesh::CellKind::Hex8 => " one-point",
            spec::Integration::Nodal => " nodal",
            _ => "",
        };
        // nodes come before cells
        let nodes = block.potentials() - block.len();
        let (what, which) = if worst < nodes { ("node", worst) } else { ("element", worst - nodes) };
        writeln!(
            text,
            "  {}{kind} x {}: density {} kg/m³, critical step {step:.4e} s ({what} {which}){}",
            block.kind().name(),
            block.len(),
            block.density(),
            if nodes > 0 { format!(", {} potentials", block.potentials()) } else { String::new() }
        )?;
    }
    let surface = Surface::of(&at.mesh);
    writeln!(
        text,
        "  surface: {} facets, {} edges, {} nodes",
        surface.facets.len(),
        surface.edges.len(),
        surface.nodes.len()
    )?;
    let sets: Vec<String> = at.mesh.node_sets.iter().map(|(n, s)| format!("{n} ({})", s.len())).collect();
    if !sets.is_empty() {
        writeln!(text, "  sets: {}", sets.join(", "))?;
    }
    Ok(())
}

/// What takes part in contact, and what overlaps before anything has moved.
fn touching(surfaces: &Surfaces, model: &Model, text: &mut String) -> std::fmt::Result {
    writeln!(text, "contact")?;
    for (index, body) in surfaces.bodies.iter().enumerate() {
        let moves = || match model.contact.obstacles[index - model.bodies.len()].at_rest() {
            true => "obstacle at rest",
            false => "obstacle that moves",
        };
        let kind = if body.rigid { moves() } else { "body" };
        write!(text, "  {kind} `{}`: ", body.name)?;
        match (body.off, body.plane) {
            (true, _) => writeln!(text, "touches nothing")?,
            (_, true) => writeln!(text, "a plane")?,
            _ => writeln!(text, "{} facets, {} edges, {} nodes", body.facets, body.edges, body.nodes)?,
        }
    }
    match &surfaces.overlaps[..] {
        [] => writeln!(text, "  nothing overlaps at the start"),
        [deepest, rest @ ..] => {
            let [a, b] = &deepest.bodies;
            let more =
                if rest.is_empty() { String::new() } else { format!(", and {} more pairs", rest.len()) };
            writeln!(text, "  deepest overlap at the start {:.4e} m, of `{a}` and `{b}`{more}", deepest.depth)
        }
    }
}

/// How long one pass over all element forces takes here and now [s].
fn step_time(model: &Model) -> f64 {
    let mut forces = Forces::new(model);
    let mut state = model.rest();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let begin = Instant::now();
        forces.evaluate(model, &state.x, &mut state.material, false);
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best
}
