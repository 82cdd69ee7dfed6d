//! Who belongs to a set: from numbers and names of the file to nodes, cells and sides of the draft.

use super::scope::{Member, Scope, SetKind};
use super::words::error;
use crate::math::Vec3;
use crate::mesh::draft::{CellSet, Draft};
use crate::mesh::{MeshError, Side};
use std::collections::BTreeMap;

/// Sets within sets, at most.
const DEEPEST: usize = 50;

/// What the numbers of a file stand for.
struct Ids {
    /// Number and index, ascending.
    sorted: Vec<(u32, u32)>,
    /// Index by `number − first` where numbers lie close together.
    close: Vec<u32>,
}

impl Ids {
    /// Numbers in the order of their indices; the index of one that stands twice is the error.
    fn new(ids: impl Iterator<Item = u32>) -> Result<Ids, usize> {
        let mut sorted: Vec<(u32, u32)> = ids.zip(0..).collect();
        // files come sorted or nearly so; a stable sort is then linear
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(pair[1].1 as usize);
        }
        let mut close = Vec::new();
        if let (Some(&(first, _)), Some(&(last, _))) = (sorted.first(), sorted.last())
            && u64::from(last - first) < 4 * sorted.len() as u64
        {
            close = vec![u32::MAX; (last - first) as usize + 1];
            sorted.iter().for_each(|&(id, index)| close[(id - first) as usize] = index);
        }
        Ok(Ids { sorted, close })
    }

    fn find(&self, id: u32) -> Option<u32> {
        if self.close.is_empty() {
            return self.sorted.binary_search_by_key(&id, |s| s.0).ok().map(|k| self.sorted[k].1);
        }
        let offset = id.checked_sub(self.sorted[0].0)?;
        self.close.get(offset as usize).copied().filter(|&index| index != u32::MAX)
    }

    /// Indices of the numbers of a range that there are.
    fn range(&self, [from, to, by]: [u32; 3]) -> impl Iterator<Item = u32> + '_ {
        let first = self.sorted.partition_point(|s| s.0 < from);
        let within = self.sorted[first..].iter().take_while(move |s| s.0 <= to);
        within.filter(move |s| (s.0 - from).is_multiple_of(by)).map(|s| s.1)
    }
}

/// A part in its place.
pub(crate) struct Placed {
    nodes: Ids,
    first_node: u32,
    elements: Ids,
    /// Where each element went.
    cells: CellSet,
}

impl Placed {
    /// Puts nodes and elements of a part into the draft, its nodes moved by `place`.
    pub(crate) fn add(
        scope: &Scope,
        draft: &mut Draft,
        most: usize,
        place: impl Fn(Vec3) -> Vec3,
    ) -> Result<Placed, MeshError> {
        let line = |lines: &[u32], k: usize| lines[k] as usize;
        let first_node = draft.mesh.nodes.len();
        let count: usize = scope.lists.iter().map(|l| l.ids.len()).sum();
        let cells_before: usize = draft.lists.iter().map(|l| l.nodes.len()).sum();
        if first_node + scope.nodes.len() > most || cells_before + 10 * count > 10 * most {
            return Err(error(1, format!("instances make more than {most} nodes or cells of their parts")));
        }
        let nodes = Ids::new(scope.nodes.iter().map(|n| n.0)).map_err(|k| {
            error(line(&scope.node_lines, k), format!("node {} is given twice", scope.nodes[k].0))
        })?;
        draft.mesh.nodes.extend(scope.nodes.iter().map(|n| place(n.1)));
        let mut cells = Vec::with_capacity(count);
        for elements in &scope.lists {
            let list = draft.list(elements.kind.kind, elements.kind.more_nodes());
            let (to, kept) = (&mut draft.lists[list].nodes, elements.kind.kind.nodes());
            to.reserve(kept * elements.ids.len());
            for (k, of) in elements.nodes.chunks_exact(elements.kind.nodes).enumerate() {
                cells.push((list as u32, (to.len() / kept) as u32));
                for &id in &of[..kept] {
                    let Some(node) = nodes.find(id) else {
                        let message =
                            format!("element {} uses node {id}, which is not given", elements.ids[k]);
                        return Err(error(line(&elements.lines, k), message));
                    };
                    to.push(first_node as u32 + node);
                }
            }
        }
        let ids = scope.lists.iter().flat_map(|l| l.ids.iter().copied());
        let elements = Ids::new(ids).map_err(|mut k| {
            let mut lists = scope.lists.iter();
            let list = lists.find(|l| {
                k < l.ids.len() || {
                    k -= l.ids.len();
                    false
                }
            });
            let (at, id) = list.map_or((1, 0), |l| (line(&l.lines, k), l.ids[k]));
            error(at, format!("element {id} is given twice"))
        })?;
        Ok(Placed { nodes, first_node: first_node as u32, elements, cells })
    }
}

/// Where names and numbers are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub scope: &'a Scope,
    /// Names that are not found are looked for here: an instance knows the sets of its part.
    pub also: Option<&'a Scope>,
    pub placed: &'a Placed,
}

impl<'a> Context<'a> {
    fn set(&self, kind: SetKind, name: &str) -> Option<(Context<'a>, usize)> {
        let own = self.scope.find(kind, name).map(|k| (*self, k));
        own.or_else(|| {
            let also = self.also?;
            Some((Context { scope: also, also: None, ..*self }, also.find(kind, name)?))
        })
    }
}

/// Members found so far.
#[derive(Default)]
struct Found {
    nodes: Vec<u32>,
    cells: CellSet,
    sides: Vec<Side>,
}

/// Finds the members of all sets.
pub(crate) struct Sets<'a> {
    draft: &'a mut Draft,
    instances: BTreeMap<String, Context<'a>>,
    /// Members that may still come: sets that name each other again and again end here.
    left: usize,
}

impl<'a> Sets<'a> {
    pub(crate) fn new(draft: &'a mut Draft, instances: BTreeMap<String, Context<'a>>) -> Self {
        let cells: usize = draft.lists.iter().map(|l| l.nodes.len() / l.kind.nodes()).sum();
        let left = 1_000_000 + 100 * (cells + draft.mesh.nodes.len());
        Sets { draft, instances, left }
    }

    /// Names all sets of a context.
    pub(crate) fn name_all(&mut self, prefix: &str, context: Context) -> Result<(), MeshError> {
        for set in &context.scope.sets {
            let mut found = Found::default();
            for (member, line) in &set.members {
                self.resolve(member, set.kind, context, *line as usize, 0, &mut found)?;
            }
            let name = format!("{prefix}{}", set.name);
            if !found.nodes.is_empty() {
                self.draft.mesh.name_nodes(&name, found.nodes);
            }
            if !found.cells.is_empty() {
                self.draft.cell_sets.entry(name.clone()).or_default().extend(found.cells);
            }
            if !found.sides.is_empty() {
                self.draft.side_sets.entry(name).or_default().extend(found.sides);
            }
        }
        Ok(())
    }

    /// All cells of an instance, by its name.
    pub(crate) fn name_whole(&mut self, name: &str, placed: &Placed) {
        self.draft.cell_sets.entry(name.to_owned()).or_insert_with(|| placed.cells.clone());
    }

    fn resolve(
        &mut self,
        member: &Member,
        kind: SetKind,
        context: Context,
        line: usize,
        depth: usize,
        found: &mut Found,
    ) -> Result<(), MeshError> {
        let before = found.nodes.len() + found.cells.len() + found.sides.len();
        match member {
            Member::Range(range) if kind == SetKind::Nodes => {
                let ids = &context.placed.nodes;
                if range[0] == range[1] && ids.find(range[0]).is_none() {
                    return Err(error(line, format!("a set names node {}, which is not given", range[0])));
                }
                found.nodes.extend(ids.range(*range).map(|k| context.placed.first_node + k));
            }
            Member::Range(range) => {
                let ids = &context.placed.elements;
                if range[0] == range[1] && ids.find(range[0]).is_none() {
                    return Err(error(line, format!("a set names element {}, which is not given", range[0])));
                }
                found.cells.extend(ids.range(*range).map(|k| context.placed.cells[k as usize]));
            }
            Member::Set(name) => {
                // a surface of nodes may be made of another one
                let Some((context, set)) = context.set(kind, name) else {
                    return Err(error(line, format!("no set before is called `{name}`")));
                };
                if depth == DEEPEST {
                    return Err(error(line, format!("the set `{name}` is part of itself")));
                }
                for (member, line) in &context.scope.sets[set].members {
                    self.resolve(member, kind, context, *line as usize, depth + 1, found)?;
                }
            }
            Member::NodesOf(name) => {
                let mut elements = Found::default();
                let set = Member::Set(name.clone());
                self.resolve(&set, SetKind::Elements, context, line, depth, &mut elements)?;
                for (list, cell) in elements.cells {
                    let list = &self.draft.lists[list as usize];
                    let n = list.kind.nodes();
                    found.nodes.extend(&list.nodes[cell as usize * n..][..n]);
                }
            }
            Member::In(instance, member) => match self.instances.get(&instance.to_ascii_uppercase()) {
                Some(&there) => self.resolve(member, kind, there, line, depth, found)?,
                None => {
                    // a name with a point in it
                    let rest = match &**member {
                        Member::Set(rest) => rest.clone(),
                        Member::Range([id, ..]) => id.to_string(),
                        _ => String::new(),
                    };
                    let whole = format!("{instance}.{rest}");
                    if context.set(kind, &whole).is_none() {
                        return Err(error(line, format!("there is no instance called `{instance}`")));
                    }
                    self.resolve(&Member::Set(whole), kind, context, line, depth, found)?;
                }
            },
            Member::Side(elements, side) => {
                let mut of = Found::default();
                self.resolve(elements, SetKind::Elements, context, line, depth, &mut of)?;
                self.sides(of.cells, *side, line, found)?;
            }
            Member::Nodes(member) => self.resolve(member, SetKind::Nodes, context, line, depth, found)?,
        }
        let more = found.nodes.len() + found.cells.len() + found.sides.len() - before;
        self.left = self.left.checked_sub(more + 1).ok_or_else(|| {
            error(line, "sets have more members than a mesh of this size can have; do they name each other?")
        })?;
        Ok(())
    }

    fn sides(
        &self,
        cells: CellSet,
        side: Option<u8>,
        line: usize,
        found: &mut Found,
    ) -> Result<(), MeshError> {
        let Some(side) = side else {
            found.cells.extend(cells);
            return Ok(());
        };
        for (cells, cell) in cells {
            let kind = self.draft.lists[cells as usize].kind;
            if usize::from(side) >= kind.sides().len() {
                let (name, count) = (kind.name(), kind.sides().len());
                return Err(error(line, format!("S{}: a {name} has {count} sides", side + 1)));
            }
            found.sides.push(Side { cells, cell, side });
        }
        Ok(())
    }
}
