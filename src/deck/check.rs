//! Does what a deck says make sense together? Names that lead somewhere, sets that exist, components that a body has.
//!
//! Every check notes its problem at the place in the deck and goes on; a part that could not be read is passed over,
//! so that one mistake is told once.

use super::mesh::{self, MeshSpec, Trouble};
use super::spec::*;
use crate::element::choice::Sheet;
use crate::mesh::subdivision::Subdivision;
use crate::mesh::{CellKind, Mesh, MeshError};
use carom_declare::problem::{suggest, there_are};
use carom_declare::{List, Report, Value};
use std::path::Path;
use std::sync::Arc;

/// Bodies that could not be read and are looked at further.
const TOLD: usize = 64;

/// A body whose mesh is there and whose words have been looked up.
pub(crate) struct Prepared {
    pub mesh: Mesh,
    /// AnyLaw of each entry of `mesh.cells`.
    pub laws: Vec<AnyLaw>,
    /// Nodes that the deck holds (not counting components that a bar or plane body does not have).
    pub held: Vec<bool>,
    /// The smooth surface of shells.
    pub surface: Option<Arc<Subdivision>>,
}

/// What stands behind the name of a body.
pub(crate) enum Made {
    Deformable(Prepared),
    /// An obstacle, with its mesh if it is made of one.
    Rigid(Option<Mesh>),
}

impl Made {
    fn deformable(&self) -> Option<&Prepared> {
        match self {
            Made::Deformable(prepared) => Some(prepared),
            Made::Rigid(_) => None,
        }
    }
}

/// The names of all bodies, and what stands behind them as far as it could be read.
type Bodies<'b> = [(&'b str, Option<&'b Made>)];

pub(crate) struct Checker<'a> {
    pub report: Report<'a>,
    pub folder: &'a Path,
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Checker<'_> {
    pub(super) fn add(&self, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.report.add(path, message, help);
    }

    pub(super) fn warn(&self, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.report.warn(path, message, help);
    }

    /// Checks everything; defaults that depend on the mesh are written into the draft.
    pub(crate) fn all(&self, draft: &mut Draft) -> Vec<Option<Made>> {
        let Draft { material, body, load, probe, contact, method, step: draft_step, .. } = draft;
        let material = &material.get_or_insert_default().0;
        let body = &mut body.get_or_insert_default().0;
        let mut used = vec![false; material.len()];
        let made: Vec<Option<Made>> = body
            .iter_mut()
            .map(|(name, body)| match body.as_mut()? {
                AnyBody::Deformable(body) => self.body(name, body, material, &mut used).map(Made::Deformable),
                AnyBody::Rigid(obstacle) => match &mut obstacle.mesh {
                    Some(mesh) => self.mesh(name, mesh).map(|mesh| Made::Rigid(Some(mesh))),
                    None => Some(Made::Rigid(None)),
                },
            })
            .collect();
        // thousands of copies with one mistake have one material too
        for (name, _) in body.iter().filter(|(_, b)| b.is_none()).take(TOLD) {
            self.material_of_unread(name, material);
        }
        // Who could not be read may have used anything.
        if body.iter().all(|(_, b)| b.is_some()) {
            for (name, _) in material.iter().zip(&used).filter(|(_, used)| !**used).map(|(m, _)| m) {
                self.warn(&["material", name], format!("nobody is made of material `{name}`"), "");
            }
        }
        let rigid = |b: &(String, Option<AnyBody>)| matches!(b.1, Some(AnyBody::Rigid(_)));
        if !body.is_empty() && body.iter().all(rigid) {
            let help = "give at least one of them a mesh and a `material`";
            self.add(&["body"], "all bodies are rigid obstacles", help);
        }
        let deformable = made.iter().flatten().filter_map(Made::deformable);
        let dimension = deformable.map(|p| p.mesh.dimension()).max();
        for ((name, body), made) in body.iter_mut().zip(&made) {
            if let (Some(AnyBody::Rigid(obstacle)), Some(Made::Rigid(mesh)), Some(dimension)) =
                (body, made, dimension)
            {
                self.obstacle(name, obstacle, mesh.as_ref(), dimension);
            }
        }
        self.shells(body, &made, *method, matches!(contact, Some(Some(_))));
        if let Some(method) = *method {
            self.beyond(method, draft_step.as_ref(), body, contact.as_ref().and_then(Option::as_ref));
        }
        let bodies: Vec<(&str, Option<&Made>)> =
            body.iter().zip(&made).map(|((name, _), m)| (name.as_str(), m.as_ref())).collect();
        if let Some(Some(contact)) = contact {
            self.contact(contact, &bodies);
        }
        for (i, load) in load.iter().flat_map(List::iter) {
            self.load(&i.to_string(), load, &bodies);
        }
        for (name, probe) in probe.iter().flat_map(Named::iter) {
            self.probe(name, probe, &bodies);
        }
        made
    }

    fn mesh(&self, name: &str, spec: &mut MeshSpec) -> Option<Mesh> {
        mesh::build(spec, self.folder).map_err(|trouble| self.mesh_trouble(name, trouble)).ok()
    }

    /// Is the mesh of a body fit for what it is to be?
    pub(super) fn fit(&self, name: &str, verdict: Result<(), MeshError>) -> bool {
        verdict.map_err(|error| self.mesh_trouble(name, error.into())).is_ok()
    }

    /// An obstacle of the right dimension, that stays in it; its centre is written down.
    fn obstacle(&self, name: &str, obstacle: &mut Obstacle, mesh: Option<&Mesh>, dimension: usize) {
        let nodes: Vec<[f64; 3]> = match (&obstacle.plane, &obstacle.polyline, mesh) {
            (Some(plane), ..) => {
                self.in_space(&["body", name, "plane", "normal"], "`normal`", plane.normal, name, dimension);
                vec![plane.point]
            }
            (_, Some(line), _) => {
                if dimension != 2 {
                    let message =
                        format!("body `{name}` is a polyline, and the others are {}", OTHERS[dimension]);
                    let help = "a polyline is for plane problems; use a `plane` or a `mesh`";
                    self.add(&["body", name, "polyline"], message, help);
                }
                line.points.iter().map(|p| [p[0], p[1], 0.0]).collect()
            }
            (.., Some(mesh)) => {
                let own = mesh.dimension();
                if own == dimension {
                    self.fit(name, mesh.check());
                } else if own > 0 && own + 1 == dimension {
                    self.fit(name, mesh.check_surface());
                } else {
                    let cells = mesh.cells.first().map_or("", |c| c.kind.name());
                    let message = format!(
                        "obstacle `{name}` is made of {cells} cells, and the others are {}",
                        OTHERS[dimension]
                    );
                    let help = ["", "bar2", "bar2, tri3 or quad4", "tri3, quad4, tet4 or hex8"][dimension];
                    let help = format!("it can be made of {help}");
                    self.add(&["body", name, "mesh"], message, help);
                }
                mesh.nodes.iter().map(|&x| x.into()).collect()
            }
            _ => Vec::new(),
        };
        for (key, v) in [("velocity", obstacle.velocity), ("displacement", obstacle.displacement)] {
            let v = v.unwrap_or_default();
            self.in_space(&["body", name, key], &format!("`{key}`"), v, name, dimension);
        }
        self.spin(name, obstacle.spin, dimension);
        let middle = |k: usize| {
            let (lo, hi) = nodes
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x[k]), hi.max(x[k])));
            lo + 0.5 * (hi - lo)
        };
        if obstacle.spin != [0.0; 3] && !nodes.is_empty() {
            obstacle.centre.get_or_insert([middle(0), middle(1), middle(2)]);
        } else if obstacle.spin == [0.0; 3] && obstacle.centre.is_some() {
            let message = format!("the `centre` of obstacle `{name}` does nothing: it has no `spin`");
            self.warn(&["body", name, "centre"], message, "");
        }
    }

    /// Names in [contact] lead to bodies, and each pair is spoken of once.
    fn contact(&self, contact: &Contact, bodies: &Bodies) {
        let is_rigid =
            |name: &str| bodies.iter().any(|(n, made)| *n == name && matches!(made, Some(Made::Rigid(_))));
        for (i, name) in contact.off.iter().enumerate() {
            self.known_body(name, &["contact", "off", &i.to_string()], bodies);
        }
        for (i, name) in contact.with_itself.iter().enumerate() {
            let path = ["contact", "self", &i.to_string()];
            if self.known_body(name, &path, bodies) && is_rigid(name) {
                let message = format!("body `{name}` is rigid and cannot touch itself");
                self.add(&path, message, "leave it out");
            }
        }
        let pair = |bodies_of: &[String; 2], path: &[&str], what: &str| {
            let known = [0, 1].map(|k: usize| {
                let index = k.to_string();
                let mut path = path.to_vec();
                path.push(&index);
                self.known_body(&bodies_of[k], &path, bodies)
            });
            if known != [true; 2] {
                return;
            }
            let [a, b] = bodies_of;
            if is_rigid(a) && is_rigid(b) {
                let message = format!("`{a}` and `{b}` are both rigid and never touch");
                self.add(path, message, "leave them out");
            } else if a == b && !contact.with_itself.contains(a) {
                let message = format!("{what} names body `{a}` twice");
                let help = format!("self = [\"{a}\"] lets it touch itself");
                self.add(path, message, help);
            }
        };
        for (i, bodies) in contact.only.iter().flatten().enumerate() {
            pair(bodies, &["contact", "only", &i.to_string()], "`only`");
        }
        for (i, between) in contact.between.iter().enumerate() {
            let index = i.to_string();
            let path = ["contact", "between", &index, "bodies"];
            pair(&between.bodies, &path, "`bodies`");
            let [a, b] = &between.bodies;
            let same = |other: &Between| {
                let [c, d] = &other.bodies;
                (a, b) == (c, d) || (a, b) == (d, c)
            };
            if contact.between[..i].iter().any(same) {
                let message = format!("`{a}` and `{b}` are spoken of twice in [[contact.between]]");
                self.add(&path, message, "keep one of them");
            }
            if let Some(slave) = between.slave.as_ref().filter(|s| !between.bodies.contains(s)) {
                let message = format!("`slave` is \"{slave}\", which is neither `{a}` nor `{b}`");
                self.add(&["contact", "between", &index, "slave"], message, "name one of the two `bodies`");
            }
        }
    }

    /// Is there a body of that name?
    fn known_body(&self, name: &str, path: &[&str], bodies: &Bodies) -> bool {
        let known = bodies.iter().any(|(n, _)| *n == name);
        if !known {
            let help = suggest(name, bodies.iter().map(|(n, _)| *n), '`');
            self.add(path, format!("there is no body called `{name}`"), help);
        }
        known
    }

    fn no_material(&self, wanted: &str, materials: &[(String, Option<AnyLaw>)], path: &[&str]) {
        let message = format!("there is no material called \"{wanted}\"");
        let help = if materials.is_empty() {
            format!("add [material.{wanted}] with a law, or write the law here as a table")
        } else {
            suggest(wanted, materials.iter().map(|(n, _)| n.as_str()), '"')
        };
        self.add(path, message, help);
    }

    /// The material of a body that could not be read for another reason: it may be misspelt as well.
    fn material_of_unread(&self, name: &str, materials: &[(String, Option<AnyLaw>)]) {
        let path = ["body", name, "material"];
        let mut node = &self.report.tree.root;
        for key in path {
            let Value::Table(entries) = &node.value else { return };
            let Some(entry) = entries.iter().find(|e| e.key == key) else { return };
            node = &entry.node;
        }
        if let Value::String(wanted) = &node.value
            && !materials.iter().any(|(n, _)| n == wanted)
        {
            self.no_material(wanted, materials, &path);
        }
    }

    fn body(
        &self,
        name: &str,
        body: &mut Body,
        materials: &[(String, Option<AnyLaw>)],
        used: &mut [bool],
    ) -> Option<Prepared> {
        let mesh = self.mesh(name, &mut body.mesh).and_then(|mesh| self.made_of(name, body, mesh));
        let mut find = |reference: &MaterialRef, path: &[&str]| match reference {
            MaterialRef::Inline(law) => Some(law.clone()),
            MaterialRef::Name(wanted) => match materials.iter().position(|(n, _)| n == wanted) {
                Some(i) => {
                    used[i] = true;
                    materials[i].1.clone()
                }
                None => {
                    self.no_material(wanted, materials, path);
                    None
                }
            },
        };
        let main = body.material.as_ref().map(|m| find(m, &["body", name, "material"]));
        let groups: Vec<(&str, Option<AnyLaw>)> =
            body.materials.iter().map(|(g, m)| (g, find(m, &["body", name, "materials", g]))).collect();
        let (mut mesh, surface) = mesh?;
        let laws = self.assign(name, &mut mesh, main, &groups);
        self.kind(name, body, &mesh);
        let held = self.check_supports(name, body, &mesh);
        for (i, set) in body.contact.sets().iter().enumerate() {
            self.side_set(&mesh, name, set, &["body", name, "contact", &i.to_string()]);
        }
        Some(Prepared { mesh, laws: laws?, held, surface })
    }

    /// The law of each entry of `mesh.cells`, which are split by group where groups have materials of their own.
    fn assign(
        &self,
        name: &str,
        mesh: &mut Mesh,
        main: Option<Option<AnyLaw>>,
        groups: &[(&str, Option<AnyLaw>)],
    ) -> Option<Vec<AnyLaw>> {
        const NOBODY: usize = usize::MAX;
        let (base, mut laws) = match main {
            Some(law) => (0, vec![law]),
            None => (NOBODY, Vec::new()),
        };
        let mut owner: Vec<Vec<usize>> = mesh.cells.iter().map(|c| vec![base; c.len()]).collect();
        let mut good = true;
        for (group, law) in groups {
            let path = ["body", name, "materials", group];
            let Some(set) = mesh.cell_sets.get(*group) else {
                let message = format!("the mesh of body `{name}` has no group of cells called `{group}`");
                self.add(&path, message, known(mesh.cell_sets.keys(), group));
                good = false;
                continue;
            };
            for &(cells, cell) in set {
                let at = &mut owner[cells as usize][cell as usize];
                if *at != base {
                    let message =
                        format!("cell {cell} of body `{name}` is in `{group}` and in another group");
                    self.add(&path, message, "a cell can have one material only");
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
            self.add(&["body", name], message, help);
            return None;
        }
        let laws: Vec<AnyLaw> = laws.into_iter().collect::<Option<_>>()?;
        if groups.is_empty() {
            return Some(vec![laws[0].clone(); mesh.cells.len()]);
        }
        Some(mesh.split(&owner).into_iter().map(|i| laws[i].clone()).collect())
    }

    /// Keys that only some dimensions and cells have, and vectors with components that others do not.
    fn kind(&self, name: &str, body: &mut Body, mesh: &Mesh) {
        let dimension = mesh.dimension();
        let shell = body.element == Sheet::Shell;
        let what = if shell { "shell" } else { ["body", "bar", "plane body", "solid"][dimension] };
        let refuse = |key: &str, help: &str| {
            let message = format!("body `{name}` is a {what}; it has no `{key}`");
            self.add(&["body", name, key], message, help);
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
        if dimension != 2 && !shell && body.thickness.is_some() {
            refuse("thickness", "only shells and plane bodies have one");
        }
        if shell {
            self.thickness(name, body.thickness, mesh);
        }
        if dimension != 2 && body.plane.is_some() {
            refuse("plane", "only bodies of triangles or quadrilaterals have one");
        }
        let hexes = mesh.cells.iter().any(|c| c.kind == CellKind::Hex8);
        if body.integration == Integration::OnePoint && !hexes {
            let cells = mesh.cells.first().map_or("", |c| c.kind.name());
            let message = format!("body `{name}` is made of {cells} cells");
            self.add(&["body", name, "integration"], message, "\"one-point\" is for hex8 only; remove it");
        }
        let quadratic = mesh.cells.iter().any(|c| c.kind == CellKind::Tet10);
        if body.integration == Integration::Nodal && (dimension != 3 || shell || quadratic) {
            let cells = mesh.cells.first().map_or("", |c| c.kind.name());
            let message = format!("body `{name}` is made of {cells} cells");
            self.add(&["body", name, "integration"], message, "\"nodal\" is for tet4 and hex8; remove it");
        }
        let vectors = [("velocity", body.velocity), ("gravity", body.gravity)];
        for (key, v) in vectors {
            self.in_space(&["body", name, key], &format!("`{key}`"), v, name, dimension);
        }
        self.spin(name, body.spin, dimension);
    }

    /// A spin that leaves a body in its line or plane.
    fn spin(&self, name: &str, spin: [f64; 3], dimension: usize) {
        let spins = match dimension {
            1 => spin != [0.0; 3],
            2 => spin[..2] != [0.0; 2],
            _ => false,
        };
        if spins {
            let help = if dimension == 1 { "a bar cannot spin" } else { "a plane body spins about z only" };
            let message = format!("`spin` takes body `{name}` out of its {}", AT_HOME[dimension]);
            self.add(&["body", name, "spin"], message, help);
        }
    }

    /// A vector may only have components that the body has.
    pub(super) fn in_space(&self, path: &[&str], what: &str, v: [f64; 3], body: &str, dimension: usize) {
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
            self.add(path, message, help);
        }
    }

    /// Marks held nodes; sets must exist.
    fn check_supports(&self, name: &str, body: &Body, mesh: &Mesh) -> Vec<bool> {
        let mut held = vec![body.fix == Part::All(true); mesh.nodes.len()];
        let mut mark = |set: &str, path: &[&str]| {
            if let Some(nodes) = self.node_set(mesh, name, set, path) {
                nodes.iter().for_each(|&n| held[n as usize] = true);
            }
        };
        for (i, set) in body.fix.sets().iter().enumerate() {
            mark(set, &["body", name, "fix", &i.to_string()]);
        }
        for (i, support) in body.support.iter().enumerate() {
            let i = i.to_string();
            mark(&support.set, &["body", name, "support", &i, "set"]);
            for (key, v) in [("displacement", support.displacement), ("velocity", support.velocity)] {
                let path = ["body", name, "support", &i, key];
                self.in_space(&path, &format!("`{key}`"), v.unwrap_or_default(), name, mesh.dimension());
            }
        }
        for (i, plane) in body.symmetry.iter().enumerate() {
            self.symmetry(name, plane, mesh, &i.to_string());
            plane.nodes(mesh).for_each(|n| held[n as usize] = true);
        }
        held
    }

    fn node_set<'m>(&self, mesh: &'m Mesh, body: &str, set: &str, path: &[&str]) -> Option<&'m [u32]> {
        match mesh.node_sets.get(set) {
            Some(nodes) if !nodes.is_empty() => Some(nodes),
            Some(_) => {
                let message = format!("set `{set}` of body `{body}` is empty");
                self.add(path, message, "");
                None
            }
            None => {
                let message = format!("body `{body}` has no set called `{set}`");
                self.add(path, message, known(mesh.node_sets.keys(), set));
                None
            }
        }
    }

    /// A set must have sides.
    fn side_set(&self, mesh: &Mesh, body: &str, set: &str, path: &[&str]) {
        if mesh.side_sets.get(set).is_none_or(|s| s.is_empty()) {
            let message = if mesh.node_sets.contains_key(set) {
                format!("set `{set}` of body `{body}` has nodes but no sides")
            } else {
                format!("body `{body}` has no set called `{set}`")
            };
            self.add(path, message, known(mesh.side_sets.keys(), set));
        }
    }

    /// The body that `name` names, if it is there, deforms and could be prepared; `why` an obstacle will not do.
    fn find<'p>(
        &self,
        name: &str,
        path: &[&str],
        bodies: &[(&str, Option<&'p Made>)],
        why: &str,
    ) -> Option<&'p Prepared> {
        if !self.known_body(name, path, bodies) {
            return None;
        }
        let (_, made) = bodies.iter().find(|(n, _)| *n == name)?;
        if let Some(Made::Rigid(_)) = made {
            self.add(path, format!("body `{name}` is a rigid obstacle"), why);
        }
        made.and_then(Made::deformable)
    }

    fn load(&self, index: &str, load: &Load, bodies: &Bodies) {
        let why = "no load moves it; give it a `velocity` or a `displacement`";
        let Some(Prepared { mesh, .. }) = self.find(&load.body, &["load", index, "body"], bodies, why) else {
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
            self.add(&["load", index, "pressure"], message, help);
        } else {
            self.side_set(mesh, &load.body, set, &path);
        }
    }

    fn probe(&self, name: &str, probe: &Probe, bodies: &Bodies) {
        if let Some(pair) = &probe.between {
            let known = [0, 1].map(|k: usize| {
                self.known_body(&pair[k], &["probe", name, "between", &k.to_string()], bodies)
            });
            if known == [true; 2] && pair[0] == pair[1] {
                let message = format!("probe `{name}` asks what body `{}` does to itself", pair[0]);
                self.add(&["probe", name, "between"], message, "name two bodies");
            }
        }
        if let Some(body) = &probe.contact {
            self.known_body(body, &["probe", name, "contact"], bodies);
        }
        let Some(body) = &probe.body else { return };
        let why = format!("it moves as told; contact = \"{body}\" measures what pushes it");
        let Some(prepared) = self.find(body, &["probe", name, "body"], bodies, &why) else { return };
        let count = prepared.mesh.nodes.len();
        if let Some(node) = probe.node
            && node as usize >= count
        {
            let message = format!("body `{body}` has no node {node}");
            let help = format!("its nodes are 0 to {}", count - 1);
            self.add(&["probe", name, "node"], message, help);
        }
        if let Some(set) = &probe.nodes {
            self.node_set(&prepared.mesh, body, set, &["probe", name, "nodes"]);
        }
        if let Some(set) = &probe.reaction {
            let path = ["probe", name, "reaction"];
            let nodes = self.node_set(&prepared.mesh, body, set, &path);
            if nodes.is_some_and(|nodes| !nodes.iter().any(|&n| prepared.held[n as usize])) {
                let message = format!("set `{set}` of body `{body}` is not held, so nothing pushes back");
                self.add(&path, message, "name it in `fix` or in a support");
            }
        }
    }

    pub(super) fn mesh_trouble(&self, name: &str, trouble: Trouble) {
        let here = ["body", name, "mesh"];
        let add = |path: &[&str], message: String, help: String| self.add(path, message, help);
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
                // One of each kind: what is wrong with one node is often wrong with all.
                for (i, problem) in problems.first.iter().enumerate() {
                    let kind = std::mem::discriminant(problem);
                    let like = |p: &&_| std::mem::discriminant(*p) == kind;
                    if !problems.first[..i].iter().any(|p| like(&p)) {
                        let more = problems.first[i + 1..].iter().filter(like).count() + problems.more;
                        let help = if more > 0 { format!("and {more} more") } else { String::new() };
                        add(&here, format!("the mesh of body `{name}`: {problem}"), help);
                    }
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

const OTHERS: [&str; 4] = ["nothing", "bars", "plane bodies", "solids"];
const AT_HOME: [&str; 4] = ["space", "line", "plane", "space"];

/// The nearest name, else all of them.
fn known<'k>(names: impl Iterator<Item = &'k String>, wanted: &str) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        return "there are no such sets".into();
    }
    let near = suggest(wanted, names.iter().copied(), '`');
    if near.starts_with("did") { format!("{near} {}", there_are(names, '`')) } else { near }
}
