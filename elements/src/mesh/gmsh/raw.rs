//! What a file says, whatever its format: nodes by tag, elements by type, regions with their physical groups.

use crate::math::Vec3;
use crate::mesh::source::Source;
use crate::mesh::{CellKind, MeshError};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A geometric entity, or in format 2.2 the part of one that belongs to one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub dimension: usize,
    pub entity: i64,
    /// Tags of the physical groups it belongs to.
    pub groups: Vec<i64>,
}

/// Elements of one kind in the order of the file.
#[derive(Default)]
pub(crate) struct Elements {
    pub tags: Vec<u64>,
    /// Indexes into [`Nodes::places`].
    pub nodes: Vec<u32>,
    /// Index into [`File::regions`], one per element.
    pub regions: Vec<u32>,
}

/// Nodes in the order of their tags.
#[derive(Default)]
pub(crate) struct Nodes {
    tags: Vec<u64>,
    pub places: Vec<Vec3>,
    /// Index by `tag - tags[0]` where tags lie close together.
    by_tag: Vec<u32>,
}

#[derive(Default)]
pub(crate) struct File {
    /// Names of physical groups by dimension and tag.
    pub names: BTreeMap<(usize, i64), String>,
    pub regions: Vec<Region>,
    /// Index of a region by dimension, entity and what else tells it from others (format 2.2: its group).
    pub region_ids: BTreeMap<(usize, i64, i64), u32>,
    pub has_entities: bool,
    pub nodes: Option<Nodes>,
    /// Elements by Gmsh's number of their type.
    pub elements: BTreeMap<u8, Elements>,
    pub has_elements: bool,
}

/// A type of element in Gmsh's numbering.
pub(crate) struct Type {
    pub name: &'static str,
    pub dimension: usize,
    pub nodes: usize,
    /// None for points and for types that are not read.
    pub kind: Option<CellKind>,
}

pub(crate) const POINT: u8 = 15;

impl Type {
    /// Of the second order: nodes beyond the corners stand in the middles of edges and sides.
    pub(crate) fn second_order(&self) -> bool {
        self.name.ends_with("(second order)") || self.kind == Some(CellKind::Tet10)
    }

    /// Nodes that are corners; they come first. Of elements that can be sides only.
    pub(crate) fn corners(&self) -> usize {
        match (self.second_order(), self.dimension, self.nodes) {
            (true, 1, _) => 2,
            (true, 2, 6) => 3,
            (true, 2, _) => 4,
            _ => self.nodes,
        }
    }
}

/// Gmsh's element types by number; none for those Gmsh does not have or hardly anyone uses.
pub(crate) fn element_type(number: i64) -> Option<(u8, Type)> {
    let (name, dimension, nodes, kind) = match number {
        1 => ("bar2", 1, 2, Some(CellKind::Bar2)),
        2 => ("tri3", 2, 3, Some(CellKind::Tri3)),
        3 => ("quad4", 2, 4, Some(CellKind::Quad4)),
        4 => ("tet4", 3, 4, Some(CellKind::Tet4)),
        5 => ("hex8", 3, 8, Some(CellKind::Hex8)),
        6 => ("prism6", 3, 6, None),
        7 => ("pyramid5", 3, 5, None),
        8 => ("bar3 (second order)", 1, 3, None),
        9 => ("tri6 (second order)", 2, 6, None),
        10 => ("quad9 (second order)", 2, 9, None),
        11 => ("tet10", 3, 10, Some(CellKind::Tet10)),
        12 => ("hex27 (second order)", 3, 27, None),
        13 => ("prism18 (second order)", 3, 18, None),
        14 => ("pyramid14 (second order)", 3, 14, None),
        15 => ("point", 0, 1, None),
        16 => ("quad8 (second order)", 2, 8, None),
        17 => ("hex20 (second order)", 3, 20, None),
        18 => ("prism15 (second order)", 3, 15, None),
        19 => ("pyramid13 (second order)", 3, 13, None),
        20 => ("tri9 (third order)", 2, 9, None),
        21 => ("tri10 (third order)", 2, 10, None),
        26 => ("bar4 (third order)", 1, 4, None),
        29 => ("tet20 (third order)", 3, 20, None),
        36 => ("quad16 (third order)", 2, 16, None),
        92 => ("hex64 (third order)", 3, 64, None),
        _ => return None,
    };
    Some((number as u8, Type { name, dimension, nodes, kind }))
}

impl Nodes {
    /// Nodes from (tag, place, byte in the file); a tag given twice is an error.
    pub(crate) fn new(mut given: Vec<(u64, Vec3, usize)>, source: &Source) -> Result<Nodes, MeshError> {
        // Files come sorted or nearly so; a stable sort is then linear.
        given.sort_by_key(|&(tag, ..)| tag);
        if let Some(pair) = given.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(source.error(pair[1].2, format!("node {} is given twice", pair[1].0)));
        }
        let tags: Vec<u64> = given.iter().map(|&(tag, ..)| tag).collect();
        let mut by_tag = Vec::new();
        if let (Some(&first), Some(&last)) = (tags.first(), tags.last())
            && last - first < 4 * tags.len() as u64
        {
            by_tag = vec![u32::MAX; (last - first) as usize + 1];
            for (i, tag) in tags.iter().enumerate() {
                by_tag[(tag - first) as usize] = i as u32;
            }
        }
        Ok(Nodes { tags, places: given.iter().map(|&(_, place, _)| place).collect(), by_tag })
    }

    pub(crate) fn find(&self, tag: u64) -> Option<u32> {
        if self.by_tag.is_empty() {
            return self.tags.binary_search(&tag).ok().map(|i| i as u32);
        }
        let offset = tag.checked_sub(self.tags[0])?;
        self.by_tag.get(usize::try_from(offset).ok()?).copied().filter(|&i| i != u32::MAX)
    }
}

impl File {
    /// Refuses a section that came before.
    pub(crate) fn once(already: bool, name: &str, source: &Source, at: usize) -> Result<(), MeshError> {
        if already { Err(source.error(at, format!("section {name} appears twice"))) } else { Ok(()) }
    }

    /// The region with this key, new or known.
    pub(crate) fn region(&mut self, key: (usize, i64, i64), groups: Vec<i64>) -> u32 {
        let next = self.regions.len() as u32;
        let id = *self.region_ids.entry(key).or_insert(next);
        if id == next {
            self.regions.push(Region { dimension: key.0, entity: key.1, groups });
        }
        id
    }

    /// Adds an element whose nodes come from `node`, one tag per call.
    pub(crate) fn add<N: Copy + Display + TryInto<u64>>(
        &mut self,
        number: u8,
        tag: u64,
        region: u32,
        source: &mut Source,
        mut node: impl FnMut(&mut Source) -> Result<N, MeshError>,
    ) -> Result<(), MeshError> {
        let count = element_type(number.into()).map_or(0, |(_, kind)| kind.nodes);
        let list = self.elements.entry(number).or_default();
        for _ in 0..count {
            let at = source.next_place();
            let node = node(source)?;
            let known =
                self.nodes.as_ref().zip(node.try_into().ok()).and_then(|(nodes, node)| nodes.find(node));
            match known {
                Some(id) => list.nodes.push(id),
                None => {
                    return Err(
                        source.error(at, format!("element {tag} uses node {node}, which is not given"))
                    );
                }
            }
        }
        list.tags.push(tag);
        list.regions.push(region);
        Ok(())
    }
}
