//! `carom check`: reads and builds everything, runs nothing, and tells what is there: of a deck, or of a mesh file alone.

mod price;

use crate::exit::{BAD_INPUT, Failure, Outcome, complain, say};
use crate::input::DeckArguments;
use crate::progress::duration;
use carom::Simulation;
use carom::deck::{Loaded, spec};
use carom::math::Vec3;
use carom::mesh::surface::Surface;
use carom::mesh::{MeshError, file};
use carom::model::{Body, Model};
use carom::run::memory::gigabytes;
use carom::survey::approach::{Approach, Facetted, Meeting, Nearest, approach};
use carom::survey::surfaces::Surfaces;
use price::Price;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    deck: DeckArguments,
}

pub fn check(arguments: &Arguments) -> Outcome {
    let path = Path::new(&arguments.deck.deck);
    if file::is_mesh_file(path) {
        return check_mesh(path);
    }
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

/// A mesh file alone: what is in it, and what is wrong with it and where.
fn check_mesh(path: &Path) -> Outcome {
    let bad = |e: MeshError| Failure::new(BAD_INPUT, e.to_string());
    let read = file::read(path, file::WELD, &mut |_| ()).map_err(bad)?;
    let mut text = format!("{}\n", path.display());
    // ids are in range, or nothing can be told
    let fit = read.mesh.check_body();
    text += &read.mesh.describe();
    read.notes.iter().for_each(|note| text += &format!("{note}\n"));
    if fit.is_ok() {
        text += "nothing is wrong with it\n";
    }
    say(&text)?;
    fit.map_err(|e| Failure::new(BAD_INPUT, format!("{}: {e}", path.display())))?;
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
    let mut bodies = Vec::new();
    for (name, body) in spec.body.iter() {
        if let (spec::AnyBody::Deformable(body), Some(at)) = (body, by_name.get(name)) {
            let mut said = String::new();
            describe(model, at, body, &mut said)?;
            bodies.push((name.to_owned(), said));
        }
    }
    for (names, said) in grouped(bodies) {
        write!(text, "body {names}: {said}")?;
    }
    if let Some(surfaces) = &loaded.surfaces {
        touching(surfaces, model, text)?;
        let (state, end) = (&case.state, case.end);
        near(&simulation.install(|| approach(model, state, end)), text)?;
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
    let surface: usize =
        loaded.surfaces.iter().flat_map(|s| &s.bodies).filter(|b| !b.rigid).map(|b| b.nodes).sum();
    let checks = surface as f64 * updates / (potentials as f64).max(1.0);
    let Price { elements, contact } = price::of(simulation, loaded, updates, checks);
    let told = |seconds: f64| duration(Duration::from_secs_f64(seconds.min(1e12)));
    let shares = match surface {
        0 => String::new(),
        _ => format!(" ({} for elements, {} for contact)", told(elements), told(contact)),
    };
    writeln!(
        text,
        "cost {updates:.3e} element updates, {checks:.3e} contact checks of surface nodes: about {} on {threads} threads{shares}, output \
         aside, when the machine is quiet",
        told(elements + contact),
    )?;
    if let Some(bytes) = resident_bytes() {
        writeln!(
            text,
            "memory {} as built, about {} in a run",
            gigabytes(bytes as f64),
            gigabytes(loaded.memory)
        )?;
    }
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
        "{} nodes, {elements} elements, volume {volume:.6e} m³, mass {mass:.6e} kg",
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
    let said = surfaces.bodies.iter().enumerate().map(|(index, body)| {
        let kind = match body.rigid.then(|| model.contact.obstacles[index - model.bodies.len()].at_rest()) {
            None => "body",
            Some(true) => "obstacle at rest",
            Some(false) => "obstacle that moves",
        };
        let what = match (body.off, body.plane) {
            (true, _) => "touches nothing".to_owned(),
            (_, true) => "a plane".to_owned(),
            _ => format!("{} facets, {} edges, {} nodes", body.facets, body.edges, body.nodes),
        };
        (body.name.clone(), format!("{kind}\n{what}"))
    });
    for (names, said) in grouped(said.collect()) {
        let (kind, what) = said.split_once('\n').unwrap_or_default();
        writeln!(text, "  {kind} {names}: {what}")?;
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

/// Where bodies are, how near to each other, and when they meet.
fn near(approach: &Approach, text: &mut String) -> std::fmt::Result {
    let mut boxes: Vec<(String, [Vec3; 2], usize)> = Vec::new();
    for (name, [lo, hi]) in &approach.boxes {
        match boxes.iter_mut().find(|b| stem(&b.0) == stem(name)) {
            Some((_, [low, high], count)) => (*low, *high, *count) = (low.inf(lo), high.sup(hi), *count + 1),
            None => boxes.push((name.clone(), [*lo, *hi], 1)),
        }
    }
    for (name, [lo, hi], count) in &boxes {
        let name = if *count > 1 { format!("all {count} `{}`", stem(name)) } else { format!("`{name}`") };
        let point = |p: &Vec3| format!("({:.6}, {:.6}, {:.6})", p.x, p.y, p.z);
        writeln!(text, "  {name} from {} to {}", point(lo), point(hi))?;
    }
    if let Some(Nearest { bodies: [a, b], gap }) = &approach.nearest {
        match gap {
            0.0 => writeln!(text, "  `{a}` and `{b}` touch at the start")?,
            gap => writeln!(text, "  nearest are `{a}` and `{b}`, {gap:.4e} m apart")?,
        }
    }
    match approach.meeting {
        Some(Meeting::At(t)) => writeln!(text, "  flying freely they first meet at t = {t:.4e} s")?,
        Some(Meeting::After(t)) => writeln!(text, "  flying freely they do not meet before t = {t:.4e} s")?,
        Some(Meeting::Never) => writeln!(text, "  flying freely nobody meets before the end")?,
        None => {}
    }
    let round = approach.facetted.iter().map(|Facetted { body, edge, sagitta }| {
        let said = format!(
            "round, of facets with edges of {edge:.3e} m, up to {sagitta:.3e} m inside the round surface"
        );
        (body.clone(), said)
    });
    for (names, said) in grouped(round.collect()) {
        writeln!(text, "  {names}: {said}")?;
    }
    let deepest = approach.facetted.iter().max_by(|p, q| p.sagitta.total_cmp(&q.sagitta));
    if let (Some(Nearest { gap, .. }), Some(round)) = (&approach.nearest, deepest)
        && *gap > 0.0
        && *gap < round.sagitta
    {
        let (name, sagitta) = (&round.body, round.sagitta);
        writeln!(
            text,
            "  the clearance {gap:.3e} m is less than the facets of `{name}` cut off, {sagitta:.3e} m: finer edges keep it"
        )?;
    }
    Ok(())
}

/// Resident memory of this process [bytes], where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// A name without the numbers that an array adds.
fn stem(name: &str) -> &str {
    let mut stem = name;
    while let Some((before, last)) = stem.rsplit_once('-') {
        if last.is_empty() || !last.bytes().all(|b| b.is_ascii_digit()) {
            break;
        }
        stem = before;
    }
    stem
}

/// Names with what is said about each; those of one array about which the same is said are told once.
fn grouped(all: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut groups: Vec<(String, String, String, usize)> = Vec::new();
    for (name, said) in all {
        match groups.iter_mut().find(|g| stem(&g.0) == stem(&name) && g.2 == said) {
            Some((_, last, _, count)) => (*last, *count) = (name, *count + 1),
            None => groups.push((name.clone(), name, said, 1)),
        }
    }
    let told = |(first, last, said, count): (String, String, String, usize)| match count {
        1 => (format!("`{first}`"), said),
        _ => (format!("`{first}` … `{last}`, {count} in all, each"), said),
    };
    groups.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_an_array_are_told_once_and_others_apart() {
        let said = |name: &str, said: &str| (name.to_owned(), said.to_owned());
        let groups = grouped(vec![
            said("ball-1", "8 nodes"),
            said("ball-2", "8 nodes"),
            said("ball-3", "9 nodes"),
            said("wall", "8 nodes"),
            said("cube-1-1", "8 nodes"),
            said("cube-2-1", "8 nodes"),
        ]);
        let names: Vec<&str> = groups.iter().map(|g| g.0.as_str()).collect();
        let two = ["`ball-1` … `ball-2`, 2 in all, each", "`cube-1-1` … `cube-2-1`, 2 in all, each"];
        assert_eq!(names, [two[0], "`ball-3`", "`wall`", two[1]]);
    }
}
