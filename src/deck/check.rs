//! Does what a deck says make sense together? Names that lead somewhere, sets that exist, components that a body has.
//!
//! Every check notes its problem at the place in the deck and goes on; a part that could not be read is passed over,
//! so that one mistake is told once.

use super::meshes::{self, Trouble};
use super::problem::{Problems, list, suggest};
use super::read::Draft;
use super::spec::*;
use super::tree::{Place, Tree};
use crate::mesh::{CellKind, Mesh, MeshError};
use std::path::Path;

/// A body whose mesh is there and whose words have been looked up.
pub struct Prepared {
    pub mesh: Mesh,
    /// Law of each entry of `mesh.cells`.
    pub laws: Vec<Law>,
    /// Nodes that the deck holds (not counting components that a bar or plane body does not have).
    pub held: Vec<bool>,
}

pub struct Checker<'a> {
    pub tree: &'a Tree,
    pub problems: &'a Problems<'a>,
    pub folder: &'a Path,
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Checker<'_> {
    fn place(&self, path: &[&str]) -> Place {
        self.tree.place(path)
    }

    /// Checks everything; defaults that depend on the mesh are written into the draft.
    pub fn all(&self, draft: &mut Draft) -> Vec<Option<Prepared>> {
        let Draft { material, body, load, probe, .. } = draft;
        let mut used = vec![false; material.len()];
        let prepared: Vec<Option<Prepared>> = body
            .iter_mut()
            .map(|(name, body)| self.body(name, body.as_mut()?, material, &mut used))
            .collect();
        // Who could not be read may have used anything.
        if body.iter().all(|(_, b)| b.is_some()) {
            for (name, _) in material.iter().zip(&used).filter(|(_, used)| !**used).map(|(m, _)| m) {
                let place = self.place(&["material", name]);
                self.problems.warn(&place, format!("nobody is made of material `{name}`"), "");
            }
        }
        let bodies: Vec<(&str, Option<&Prepared>)> =
            body.iter().zip(&prepared).map(|((name, _), p)| (name.as_str(), p.as_ref())).collect();
        for (i, load) in load.iter().enumerate() {
            if let Some(load) = load {
                self.load(&i.to_string(), load, &bodies);
            }
        }
        for (name, probe) in probe.iter() {
            if let Some(probe) = probe {
                self.probe(name, probe, &bodies);
            }
        }
        prepared
    }

    fn body(
        &self,
        name: &str,
        body: &mut Body,
        materials: &[(String, Option<Law>)],
        used: &mut [bool],
    ) -> Option<Prepared> {
        let mesh = match meshes::build(&mut body.mesh, self.folder) {
            Ok(mesh) => Some(mesh),
            Err(trouble) => {
                self.mesh_trouble(name, trouble);
                None
            }
        };
        let mut find = |reference: &MaterialRef, path: &[&str]| match reference {
            MaterialRef::Inline(law) => Some(law.clone()),
            MaterialRef::Name(wanted) => match materials.iter().position(|(n, _)| n == wanted) {
                Some(i) => {
                    used[i] = true;
                    materials[i].1.clone()
                }
                None => {
                    let message = format!("there is no material called \"{wanted}\"");
                    let help = if materials.is_empty() {
                        format!("add [material.{wanted}] with a law, or write the law here as a table")
                    } else {
                        suggest(wanted, materials.iter().map(|(n, _)| n.as_str()), '"')
                    };
                    self.problems.add(&self.place(path), message, help);
                    None
                }
            },
        };
        let main = body.material.as_ref().map(|m| find(m, &["body", name, "material"]));
        let groups: Vec<(&str, Option<Law>)> = body
            .materials
            .0
            .iter()
            .map(|(g, m)| (g.as_str(), find(m, &["body", name, "materials", g])))
            .collect();
        let mut mesh = mesh?;
        let laws = self.assign(name, &mut mesh, main, &groups);
        self.kind(name, body, &mesh);
        let held = self.supports(name, body, &mesh);
        Some(Prepared { mesh, laws: laws?, held })
    }

    /// The law of each entry of `mesh.cells`, which are split by group where groups have materials of their own.
    fn assign(
        &self,
        name: &str,
        mesh: &mut Mesh,
        main: Option<Option<Law>>,
        groups: &[(&str, Option<Law>)],
    ) -> Option<Vec<Law>> {
        const NOBODY: usize = usize::MAX;
        let (base, mut laws) = match main {
            Some(law) => (0, vec![law]),
            None => (NOBODY, Vec::new()),
        };
        let mut owner: Vec<Vec<usize>> = mesh.cells.iter().map(|c| vec![base; c.len()]).collect();
        let mut good = true;
        for (group, law) in groups {
            let place = self.place(&["body", name, "materials", group]);
            let Some(set) = mesh.cell_sets.get(*group) else {
                let message = format!("the mesh of body `{name}` has no group of cells called `{group}`");
                self.problems.add(&place, message, known(mesh.cell_sets.keys(), group));
                good = false;
                continue;
            };
            for &(cells, cell) in set {
                let at = &mut owner[cells as usize][cell as usize];
                if *at != base {
                    let message =
                        format!("cell {cell} of body `{name}` is in `{group}` and in another group");
                    self.problems.add(&place, message, "a cell can have one material only");
                    return None;
                }
                *at = laws.len();
            }
            laws.push(law.clone());
        }
        if !good {
            return None;
        }
        let left: usize = owner.iter().flatten().filter(|o| **o == NOBODY).count();
        if left > 0 {
            let (message, help) = if groups.is_empty() {
                (format!("body `{name}` has no `material`"), "give it the name of one, or a table with a law")
            } else {
                let message = format!("{left} cells of body `{name}` are in no group with a material");
                (message, "`material` is that of all cells without one of their own")
            };
            self.problems.add(&self.place(&["body", name]), message, help);
            return None;
        }
        let laws: Vec<Law> = laws.into_iter().collect::<Option<_>>()?;
        if groups.is_empty() {
            return Some(vec![laws[0].clone(); mesh.cells.len()]);
        }
        Some(meshes::split(mesh, &owner).into_iter().map(|i| laws[i].clone()).collect())
    }

    /// Keys that only some dimensions and cells have, and vectors with components that others do not.
    fn kind(&self, name: &str, body: &mut Body, mesh: &Mesh) {
        let dimension = mesh.dimension();
        let what = ["body", "bar", "plane body", "solid"][dimension];
        let refuse = |key: &str, help: &str| {
            let message = format!("body `{name}` is a {what}; it has no `{key}`");
            self.problems.add(&self.place(&["body", name, key]), message, help);
        };
        match dimension {
            1 => body.area = Some(body.area.unwrap_or(1.0)),
            2 => {
                body.plane = Some(body.plane.unwrap_or_default());
                body.thickness = Some(body.thickness.unwrap_or(1.0));
            }
            _ => {}
        }
        if dimension != 1 && body.area.is_some() {
            refuse("area", "only bars have one");
        }
        if dimension != 2 && body.thickness.is_some() {
            refuse("thickness", "only plane bodies have one");
        }
        if dimension != 2 && body.plane.is_some() {
            refuse("plane", "only bodies of triangles or quadrilaterals have one");
        }
        let hexes = mesh.cells.iter().any(|c| c.kind == CellKind::Hex8);
        if body.integration == Integration::OnePoint && !hexes {
            let cells = mesh.cells.first().map_or("", |c| c.kind.name());
            let message = format!("body `{name}` is made of {cells} cells");
            let place = self.place(&["body", name, "integration"]);
            self.problems.add(&place, message, "\"one-point\" is for hex8 only; remove it");
        }
        let vectors = [("velocity", body.velocity), ("gravity", body.gravity)];
        for (key, v) in vectors {
            self.in_space(&["body", name, key], &format!("`{key}`"), v, name, dimension);
        }
        let spins = match dimension {
            1 => body.spin != [0.0; 3],
            2 => body.spin[..2] != [0.0; 2],
            _ => false,
        };
        if spins {
            let help = if dimension == 1 { "a bar cannot spin" } else { "a plane body spins about z only" };
            let place = self.place(&["body", name, "spin"]);
            self.problems.add(
                &place,
                format!("`spin` takes body `{name}` out of its {}", AT_HOME[dimension]),
                help,
            );
        }
    }

    /// A vector may only have components that the body has.
    fn in_space(&self, path: &[&str], what: &str, v: [f64; 3], body: &str, dimension: usize) {
        if let Some(axis) = (dimension..3).find(|&i| v[i] != 0.0) {
            let help = if dimension == 1 {
                "a bar moves along x only"
            } else {
                "a plane body moves in x and y only"
            };
            let message = format!(
                "{what} points along {}, out of the {} of body `{body}`",
                AXES[axis], AT_HOME[dimension]
            );
            self.problems.add(&self.place(path), message, help);
        }
    }

    /// Marks held nodes; sets must exist.
    fn supports(&self, name: &str, body: &Body, mesh: &Mesh) -> Vec<bool> {
        let mut held = vec![body.fix == Fix::All(true); mesh.nodes.len()];
        let mut mark = |set: &str, path: &[&str]| {
            if let Some(nodes) = self.node_set(mesh, name, set, path) {
                nodes.iter().for_each(|&n| held[n as usize] = true);
            }
        };
        if let Fix::Sets(sets) = &body.fix {
            for (i, set) in sets.iter().enumerate() {
                mark(set, &["body", name, "fix", &i.to_string()]);
            }
        }
        for (i, support) in body.support.iter().enumerate() {
            let i = i.to_string();
            mark(&support.set, &["body", name, "support", &i, "set"]);
            for (key, v) in [("displacement", support.displacement), ("velocity", support.velocity)] {
                let path = ["body", name, "support", &i, key];
                self.in_space(&path, &format!("`{key}`"), v.unwrap_or_default(), name, mesh.dimension());
            }
        }
        held
    }

    fn node_set<'m>(&self, mesh: &'m Mesh, body: &str, set: &str, path: &[&str]) -> Option<&'m [u32]> {
        match mesh.node_sets.get(set) {
            Some(nodes) if !nodes.is_empty() => Some(nodes),
            Some(_) => {
                let message = format!("set `{set}` of body `{body}` is empty");
                self.problems.add(&self.place(path), message, "");
                None
            }
            None => {
                let message = format!("body `{body}` has no set called `{set}`");
                self.problems.add(&self.place(path), message, known(mesh.node_sets.keys(), set));
                None
            }
        }
    }

    /// The body that `name` names, if it is there and could be prepared.
    fn find<'p>(
        &self,
        name: &str,
        path: &[&str],
        bodies: &[(&str, Option<&'p Prepared>)],
    ) -> Option<&'p Prepared> {
        match bodies.iter().find(|(n, _)| *n == name) {
            Some((_, prepared)) => *prepared,
            None => {
                let help = suggest(name, bodies.iter().map(|(n, _)| *n), '`');
                self.problems.add(&self.place(path), format!("there is no body called `{name}`"), help);
                None
            }
        }
    }

    fn load(&self, index: &str, load: &Load, bodies: &[(&str, Option<&Prepared>)]) {
        let Some(Prepared { mesh, .. }) = self.find(&load.body, &["load", index, "body"], bodies) else {
            return;
        };
        let dimension = mesh.dimension();
        let vectors = [("force", load.force), ("traction", load.traction), ("body_force", load.body_force)];
        for (key, v) in vectors {
            let v = v.unwrap_or_default();
            self.in_space(&["load", index, key], &format!("`{key}`"), v, &load.body, dimension);
        }
        let Some(set) = &load.set else { return };
        let path = ["load", index, "set"];
        if load.force.is_some() {
            self.node_set(mesh, &load.body, set, &path);
            return;
        }
        if load.pressure.is_some() && dimension == 1 {
            let message = format!("the end of bar `{}` has no side to press on", load.body);
            let help = "use traction = [-p, 0, 0], in the direction of the push";
            self.problems.add(&self.place(&["load", index, "pressure"]), message, help);
        } else if mesh.side_sets.get(set).is_none_or(|s| s.is_empty()) {
            let message = if mesh.node_sets.contains_key(set) {
                format!("set `{set}` of body `{}` has nodes but no sides", load.body)
            } else {
                format!("body `{}` has no set called `{set}`", load.body)
            };
            self.problems.add(&self.place(&path), message, known(mesh.side_sets.keys(), set));
        }
    }

    fn probe(&self, name: &str, probe: &Probe, bodies: &[(&str, Option<&Prepared>)]) {
        let Some(prepared) = self.find(&probe.body, &["probe", name, "body"], bodies) else { return };
        let count = prepared.mesh.nodes.len();
        if let Some(node) = probe.node
            && node as usize >= count
        {
            let message = format!("body `{}` has no node {node}", probe.body);
            let help = format!("its nodes are 0 to {}", count - 1);
            self.problems.add(&self.place(&["probe", name, "node"]), message, help);
        }
        if let Some(set) = &probe.nodes {
            self.node_set(&prepared.mesh, &probe.body, set, &["probe", name, "nodes"]);
        }
        if let Some(set) = &probe.reaction {
            let path = ["probe", name, "reaction"];
            let nodes = self.node_set(&prepared.mesh, &probe.body, set, &path);
            if nodes.is_some_and(|nodes| !nodes.iter().any(|&n| prepared.held[n as usize])) {
                let message =
                    format!("set `{set}` of body `{}` is not held, so nothing pushes back", probe.body);
                self.problems.add(&self.place(&path), message, "name it in `fix` or in a support");
            }
        }
    }

    fn mesh_trouble(&self, name: &str, trouble: Trouble) {
        let here = ["body", name, "mesh"];
        let add = |path: &[&str], message: String, help: String| {
            self.problems.add(&self.place(path), message, help);
        };
        match trouble {
            Trouble::Changed { was, is } => {
                let message = format!("the mesh of body `{name}` has changed since this deck was resolved");
                let help = format!("it was {was} and is {is}; bring the old file back, or remove `hash`");
                add(&["body", name, "mesh", "hash"], message, help);
            }
            Trouble::Mesh(MeshError::Parameter { parameter, value, wanted, .. }) => {
                // `size[1]` is entry 1 of `size`
                let (key, index) =
                    parameter.trim_end_matches(']').split_once('[').unwrap_or((&parameter, ""));
                let message = format!("`{parameter}` of the mesh of body `{name}` is {value}");
                add(&["body", name, "mesh", key, index], message, format!("it must be {wanted}"));
            }
            Trouble::Mesh(MeshError::Placement { parameter, value, wanted }) => {
                let mut path = here.to_vec();
                path.extend(parameter.split('.'));
                let message = format!("`{parameter}` of the mesh of body `{name}` is {value}");
                add(&path, message, format!("it must be {wanted}"));
            }
            Trouble::Mesh(MeshError::Unfit(problems)) => {
                for problem in &problems.first {
                    add(&here, format!("the mesh of body `{name}`: {problem}"), String::new());
                }
                if problems.more > 0 {
                    let message =
                        format!("the mesh of body `{name}` has {} more such problems", problems.more);
                    add(&here, message, String::new());
                }
            }
            Trouble::Mesh(error @ MeshError::TooLarge { .. }) => {
                add(
                    &["body", name, "mesh", "cells"],
                    format!("the mesh of body `{name}`: {error}"),
                    String::new(),
                );
            }
            Trouble::Mesh(error @ MeshError::Unreadable { .. }) => {
                let help = format!("paths begin at {}", self.folder.display());
                add(&["body", name, "mesh", "file"], error.to_string(), help);
            }
            Trouble::Mesh(error) => {
                add(
                    &["body", name, "mesh", "file"],
                    format!("the mesh of body `{name}`: {error}"),
                    String::new(),
                );
            }
        }
    }
}

const AT_HOME: [&str; 4] = ["space", "line", "plane", "space"];

/// The nearest name, else all of them.
fn known<'k>(names: impl Iterator<Item = &'k String>, wanted: &str) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        return "there are no such sets".into();
    }
    let near = suggest(wanted, names.iter().copied(), '`');
    if near.starts_with("did") { format!("{near} there is {}", list(names, '`')) } else { near }
}
