//! Abaqus input files (`.inp`): nodes, elements and sets; what is no mesh is passed over.
//!
//! | in the file | in the mesh |
//! |-------------|-------------|
//! | C3D4 C3D8 C3D10, CPE and CPS of three and four nodes, trusses and beams of two, with all their variants | cells |
//! | S3 S4 R3D3 R3D4 M3D3 M3D4 … | triangles and quadrilaterals: a surface, or sides of solids |
//! | `*NSET`, `NSET=` of nodes | node set |
//! | `*ELSET`, `ELSET=` of elements | cell set; side set where its elements are sides of solids |
//! | `*SURFACE` | side set (type ELEMENT), node set (type NODE) |
//! | `*PART`, `*INSTANCE` | each instance in its place: first the shift, then the rotation about its axis; a cell set with its name |
//! | `*INCLUDE` | the lines of that file |
//!
//! Sets of an instance are called `instance.set`, those of a file with at most one instance `set`; names do not know capitals, and the
//! first spelling is kept. Numbers of nodes and elements count within a part. Generated nodes and elements (`*NGEN`, `*ELGEN` …), other coordinates
//! (`*SYSTEM`) and element types that are not read are refused by name: leaving them out would give another mesh.
//!
//! A file may be damaged or hostile: ranges of numbers are met with what there is, sets and instances may not multiply without bound, and
//! errors name the line.
//!
//! `words` cuts lines into keywords and numbers, `scope` holds what a part says, `resolve` finds out who belongs to a set, this file knows the
//! keywords and puts instances together.

mod resolve;
mod scope;
mod words;

use super::draft::Draft;
use super::{Mesh, MeshError};
use crate::math::{Mat3, Vec3};
use resolve::{Context, Placed, Sets};
use scope::{Member, Scope, SetKind, element_type};
use std::collections::BTreeMap;
use words::{Keyword, error, float, integer, items, shown};

/// Files within files, at most.
const DEEPEST: usize = 16;
/// Nodes and cells that instances may make out of their parts.
const MOST: usize = 200_000_000;

/// Finds the content of an included file.
pub type Include<'a> = dyn FnMut(&str) -> std::io::Result<Vec<u8>> + 'a;

/// Reads the content of an input file.
pub fn parse(bytes: &[u8], include: &mut Include) -> Result<Mesh, MeshError> {
    let mut file = File::default();
    file.lines(bytes, include, 0)?;
    file.end_of_data(file.line)?;
    file.assemble()
}

/// An instance of a part.
struct Instance {
    name: String,
    part: String,
    line: usize,
    /// Shift [m].
    shift: Vec3,
    /// Two points of the axis and the angle [rad].
    turn: Option<(Vec3, Vec3, f64)>,
    /// Lines of numbers seen.
    lines: usize,
    /// Sets that are named inside of it.
    own: Scope,
}

/// What the numbers on the lines that follow a keyword are.
#[derive(Clone, Copy)]
enum Data {
    Skip,
    Nodes { set: Option<usize> },
    Elements { list: usize, set: Option<usize> },
    Members { set: usize, kind: SetKind, generate: bool },
    Surface { set: usize, nodes: bool },
    Instance,
}

/// Where keywords speak of.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    /// Outside of parts: a file without any, or the assembly.
    Top,
    Part(usize),
    Instance(usize),
}

struct File {
    top: Scope,
    parts: Vec<(String, Scope)>,
    instances: Vec<Instance>,
    place: Where,
    data: Data,
    /// Number and nodes of an element whose nodes go on in the next line.
    pending: Vec<u32>,
    /// Instance that the members of a set at the assembly belong to.
    of_instance: Option<String>,
    line: usize,
    in_step: bool,
}

impl Default for File {
    fn default() -> Self {
        File {
            top: Scope::default(),
            parts: Vec::new(),
            instances: Vec::new(),
            place: Where::Top,
            data: Data::Skip,
            pending: Vec::new(),
            of_instance: None,
            line: 0,
            in_step: false,
        }
    }
}

impl File {
    fn scope(&mut self) -> &mut Scope {
        match self.place {
            Where::Top => &mut self.top,
            Where::Part(k) => &mut self.parts[k].1,
            Where::Instance(k) => &mut self.instances[k].own,
        }
    }

    fn lines(&mut self, bytes: &[u8], include: &mut Include, depth: usize) -> Result<(), MeshError> {
        let mut lines = words::Lines::new(bytes);
        while let Some((line, text)) = lines.next() {
            self.line = line;
            if text.starts_with(b"**") || text.is_empty() {
                continue;
            }
            if text[0] != b'*' {
                if !self.in_step {
                    self.numbers(text)?;
                }
                continue;
            }
            let keyword = lines.keyword(line, text)?;
            if keyword.name == "INCLUDE" {
                let path = keyword.needed("INPUT")?.to_owned();
                if depth == DEEPEST {
                    return Err(error(
                        line,
                        format!("files are included {DEEPEST} deep; does `{path}` include itself?"),
                    ));
                }
                let content = include(&path)
                    .map_err(|e| error(line, format!("the included file `{path}` cannot be read: {e}")))?;
                let in_file = |e| MeshError::InFile { path: path.clone().into(), error: Box::new(e) };
                self.lines(&content, include, depth + 1).map_err(in_file)?;
                continue;
            }
            self.end_of_data(line)?;
            self.keyword(&keyword)?;
        }
        Ok(())
    }

    /// An element must be complete when something else begins.
    fn end_of_data(&mut self, line: usize) -> Result<(), MeshError> {
        if let Some(&id) = self.pending.first() {
            return Err(error(line, format!("element {id} lacks nodes: the line before ends too early")));
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &Keyword) -> Result<(), MeshError> {
        let line = keyword.line;
        self.data = Data::Skip;
        self.of_instance = None;
        match keyword.name.as_str() {
            "STEP" => self.in_step = true,
            "END STEP" => self.in_step = false,
            _ if self.in_step => {}
            "PART" => {
                let name = keyword.needed("NAME")?.to_owned();
                if self.place != Where::Top {
                    return Err(error(line, "a part begins inside another; *END PART is missing"));
                }
                if self.part(&name).is_some() {
                    return Err(error(line, format!("two parts are called `{name}`")));
                }
                self.parts.push((name, Scope::default()));
                self.place = Where::Part(self.parts.len() - 1);
            }
            "END PART" | "END INSTANCE" => self.place = Where::Top,
            "INSTANCE" => self.instance(keyword)?,
            "NODE" => {
                let set = keyword.get("NSET").map(|name| self.scope().set(SetKind::Nodes, name));
                self.data = Data::Nodes { set };
            }
            "ELEMENT" => {
                let word = keyword.needed("TYPE")?;
                let Some(kind) = element_type(word) else {
                    let help = "read are C3D4, C3D8, C3D10, CPE3, CPE4, CPS3, CPS4, S3, S4, R3D3, R3D4, T3D2 and their variants";
                    return Err(error(
                        line,
                        format!("elements of type {} are not read; {help}", shown(word.as_bytes())),
                    ));
                };
                let set = keyword.get("ELSET").map(|name| self.scope().set(SetKind::Elements, name));
                self.data = Data::Elements { list: self.scope().list(kind), set };
            }
            "NSET" | "ELSET" => self.set(keyword)?,
            "SURFACE" => {
                let name = keyword.needed("NAME")?;
                let kind = keyword.get("TYPE").unwrap_or("ELEMENT").to_ascii_uppercase();
                if kind == "ELEMENT" || kind == "NODE" {
                    let set = self.scope().set(SetKind::Sides, name);
                    self.data = Data::Surface { set, nodes: kind == "NODE" };
                }
            }
            "NGEN" | "NFILL" | "NCOPY" | "NMAP" | "ELGEN" | "ELCOPY" | "SYSTEM" => {
                let help = "write nodes and elements out (Abaqus/CAE does; so do Gmsh and meshio)";
                return Err(error(line, format!("*{} is not read; {help}", keyword.name)));
            }
            _ => {}
        }
        Ok(())
    }

    fn part(&self, name: &str) -> Option<usize> {
        self.parts.iter().position(|p| p.0.eq_ignore_ascii_case(name))
    }

    fn instance(&mut self, keyword: &Keyword) -> Result<(), MeshError> {
        if self.place != Where::Top {
            return Err(error(keyword.line, "an instance begins inside another; *END INSTANCE is missing"));
        }
        let (name, part) = (keyword.needed("NAME")?.to_owned(), keyword.needed("PART")?.to_owned());
        if self.instances.iter().any(|i| i.name.eq_ignore_ascii_case(&name)) {
            return Err(error(keyword.line, format!("two instances are called `{name}`")));
        }
        let (shift, line) = (Vec3::zeros(), keyword.line);
        self.instances.push(Instance {
            name,
            part,
            line,
            shift,
            turn: None,
            lines: 0,
            own: Scope::default(),
        });
        self.place = Where::Instance(self.instances.len() - 1);
        self.data = Data::Instance;
        Ok(())
    }

    fn set(&mut self, keyword: &Keyword) -> Result<(), MeshError> {
        let kind = if keyword.name == "NSET" { SetKind::Nodes } else { SetKind::Elements };
        let set = self.scope().set(kind, keyword.needed(&keyword.name)?);
        if kind == SetKind::Nodes
            && let Some(of) = keyword.get("ELSET")
        {
            // the nodes of a set of elements
            let (line, of) = (keyword.line, of.to_owned());
            self.scope().add(set, Member::NodesOf(of), line);
        }
        self.of_instance = keyword.get("INSTANCE").map(str::to_owned);
        self.data = Data::Members { set, kind, generate: keyword.has("GENERATE") };
        Ok(())
    }

    /// A line that belongs to the keyword before it.
    fn numbers(&mut self, text: &[u8]) -> Result<(), MeshError> {
        let line = self.line;
        match self.data {
            Data::Skip => Ok(()),
            Data::Nodes { set } => {
                if matches!(self.place, Where::Instance(_)) {
                    return Err(error(line, "nodes inside an instance are not read; put them into its part"));
                }
                let mut words = items(text);
                let id = integer(words.next().unwrap_or_default(), line, "the number of a node")?;
                let mut x = Vec3::zeros();
                for (k, word) in words.take(3).enumerate() {
                    x[k] = if word.is_empty() { 0.0 } else { float(word, line, "a coordinate")? };
                }
                let scope = self.scope();
                scope.nodes.push((id, x));
                scope.node_lines.push(line as u32);
                if let Some(set) = set {
                    scope.add(set, Member::Range([id, id, 1]), line);
                }
                Ok(())
            }
            Data::Elements { list, set } => self.element(text, list, set),
            Data::Members { set, kind, generate } => self.members(text, set, kind, generate),
            Data::Surface { set, nodes } => self.surface(text, set, nodes),
            Data::Instance => self.placement(text),
        }
    }

    fn element(&mut self, text: &[u8], list: usize, set: Option<usize>) -> Result<(), MeshError> {
        let line = self.line;
        if matches!(self.place, Where::Instance(_)) {
            return Err(error(line, "elements inside an instance are not read; put them into its part"));
        }
        let mut pending = std::mem::take(&mut self.pending);
        for word in items(text).filter(|word| !word.is_empty()) {
            pending.push(integer(word, line, "the number of an element or node")?);
        }
        let scope = self.scope();
        let elements = &mut scope.lists[list];
        let nodes = elements.kind.nodes;
        match pending.len() {
            n if n == nodes + 1 => {
                let id = pending[0];
                elements.ids.push(id);
                elements.lines.push(line as u32);
                elements.nodes.extend(&pending[1..]);
                if let Some(set) = set {
                    scope.add(set, Member::Range([id, id, 1]), line);
                }
                pending.clear();
            }
            n if n > nodes + 1 => {
                let message = format!(
                    "element {} has {} nodes, but {} has {nodes}",
                    pending[0],
                    n - 1,
                    elements.kind.word
                );
                return Err(error(line, message));
            }
            _ => {}
        }
        self.pending = pending;
        Ok(())
    }

    fn members(&mut self, text: &[u8], set: usize, kind: SetKind, generate: bool) -> Result<(), MeshError> {
        let line = self.line;
        let instance = self.of_instance.clone();
        let of = |member: Member| match &instance {
            Some(name) => Member::In(name.clone(), Box::new(member)),
            None => member,
        };
        if generate {
            let mut range = [0, 0, 1];
            let mut count = 0;
            for (to, word) in range.iter_mut().zip(items(text).filter(|w| !w.is_empty())) {
                *to = integer(word, line, "a number of the range")?;
                count += 1;
            }
            if count < 2 || range[2] == 0 || range[1] < range[0] {
                return Err(error(line, "a range needs its first number, its last and a step: 1, 100, 1"));
            }
            self.scope().add(set, of(Member::Range(range)), line);
            return Ok(());
        }
        for word in items(text).filter(|word| !word.is_empty()) {
            let member = member(word, kind, line)?;
            self.scope().add(set, of(member), line);
        }
        Ok(())
    }

    fn surface(&mut self, text: &[u8], set: usize, nodes: bool) -> Result<(), MeshError> {
        let line = self.line;
        let mut words = items(text).filter(|word| !word.is_empty());
        let Some(first) = words.next() else { return Ok(()) };
        if nodes {
            let nodes = member(first, SetKind::Nodes, line)?;
            self.scope().add(set, Member::Nodes(Box::new(nodes)), line);
            return Ok(());
        }
        let elements = member(first, SetKind::Elements, line)?;
        let face = words.next().unwrap_or(b"ALL");
        let side = match face.to_ascii_uppercase().as_slice() {
            [b'S' | b'E', digit @ b'1'..=b'6'] => Some(digit - b'1'),
            b"SPOS" | b"SNEG" => None,
            _ => {
                let message = format!("the face {} is not known; S1 … S6, SPOS and SNEG are", shown(face));
                return Err(error(line, message));
            }
        };
        self.scope().add(set, Member::Side(Box::new(elements), side), line);
        Ok(())
    }

    /// Shift, then two points of an axis and an angle in degrees.
    fn placement(&mut self, text: &[u8]) -> Result<(), MeshError> {
        let (line, Where::Instance(k)) = (self.line, self.place) else { return Ok(()) };
        let mut numbers = [0.0; 7];
        for (to, word) in numbers.iter_mut().zip(items(text)) {
            *to = if word.is_empty() { 0.0 } else { float(word, line, "a number of the placement")? };
        }
        let [a, b, c, d, e, f, angle] = numbers;
        let instance = &mut self.instances[k];
        instance.lines += 1;
        match instance.lines {
            1 => instance.shift = Vec3::new(a, b, c),
            2 => {
                let (from, to) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
                if (to - from).norm() == 0.0 {
                    return Err(error(line, "the two points of the axis are the same"));
                }
                instance.turn = Some((from, to, angle.to_radians()));
            }
            _ => return Err(error(line, "an instance has a shift and a rotation, and no third line")),
        }
        Ok(())
    }

    fn assemble(self) -> Result<Mesh, MeshError> {
        let mut draft = Draft { strict: true, ..Draft::default() };
        let nothing = Scope::default();
        let top = Placed::add(&self.top, &mut draft, MOST, |x| x)?;
        // name, part, sets of its own
        let mut placed: Vec<(&str, &Scope, &Scope, Placed)> = Vec::new();
        if self.instances.is_empty() {
            // parts that nobody placed stand where they were drawn
            for (name, part) in &self.parts {
                placed.push((name, part, &nothing, Placed::add(part, &mut draft, MOST, |x| x)?));
            }
        }
        for instance in &self.instances {
            let Some(part) = self.part(&instance.part) else {
                return Err(error(instance.line, format!("there is no part called `{}`", instance.part)));
            };
            let part = &self.parts[part].1;
            let turn = instance.turn.map(|(from, to, angle)| (from, rotation(to - from, angle)));
            let place = |x: Vec3| match turn {
                Some((from, turn)) => from + turn * (x + instance.shift - from),
                None => x + instance.shift,
            };
            placed.push((&instance.name, part, &instance.own, Placed::add(part, &mut draft, MOST, place)?));
        }
        let alone = placed.len() <= 1 && self.top.nodes.is_empty();
        let contexts: BTreeMap<String, Context> = (placed.iter())
            .map(|(name, part, own, at)| {
                (name.to_ascii_uppercase(), Context { scope: own, also: Some(part), placed: at })
            })
            .collect();
        let mut sets = Sets::new(&mut draft, contexts);
        for (name, part, own, at) in &placed {
            let prefix = if alone { String::new() } else { format!("{name}.") };
            sets.name_all(&prefix, Context { scope: part, also: None, placed: at })?;
            sets.name_all(&prefix, Context { scope: own, also: Some(part), placed: at })?;
            sets.name_whole(name, at);
        }
        sets.name_all("", Context { scope: &self.top, also: None, placed: &top })?;
        draft.finish()
    }
}

/// A word of a set: a number, a name, or either of an instance.
fn member(word: &[u8], kind: SetKind, line: usize) -> Result<Member, MeshError> {
    if word[0].is_ascii_digit() && word.iter().all(u8::is_ascii_digit) {
        let what = if kind == SetKind::Nodes { "the number of a node" } else { "the number of an element" };
        let id = integer(word, line, what)?;
        return Ok(Member::Range([id, id, 1]));
    }
    let text = words::name(word);
    Ok(match text.split_once('.') {
        Some((instance, rest)) if !rest.is_empty() => {
            Member::In(instance.to_owned(), Box::new(member(rest.as_bytes(), kind, line)?))
        }
        _ => Member::Set(text),
    })
}

/// By the right-hand rule about `axis`, whose length does not matter.
fn rotation(axis: Vec3, angle: f64) -> Mat3 {
    let a = axis.normalize();
    let (s, c) = angle.sin_cos();
    Mat3::identity() * c + a.cross_matrix() * s + a * a.transpose() * (1.0 - c)
}
