//! Layout of format 4.1: entities with their groups, then nodes and elements in blocks by entity.

use super::raw::{File, Nodes, element_type};
use crate::mesh::MeshError;
use crate::mesh::source::Source;

/// More physical groups than anyone gives one entity; sets grow with groups times elements.
const MOST_GROUPS: usize = 1000;

/// Points, curves, surfaces and volumes: tag, box, groups, boundary.
pub(crate) fn entities(source: &mut Source, file: &mut File, at: usize) -> Result<(), MeshError> {
    File::once(file.has_entities, "$Entities", source, at)?;
    file.has_entities = true;
    source.start_data()?;
    let mut counts = [0; 4];
    for (dimension, count) in counts.iter_mut().enumerate() {
        let at = source.next_place();
        *count = source.size("the number of entities")?;
        let (sizes, floats) = if dimension == 0 { (1, 3) } else { (2, 6) };
        source.fits(at, *count, "entities", 1, sizes, floats)?;
    }
    for (dimension, &count) in counts.iter().enumerate() {
        for _ in 0..count {
            let entity = source.int("the tag of an entity")?;
            for _ in 0..if dimension == 0 { 3 } else { 6 } {
                source.float("the box of an entity")?;
            }
            let at = source.next_place();
            let mut groups = tags(source, "physical tags")?;
            groups.sort_unstable();
            groups.dedup();
            if groups.len() > MOST_GROUPS {
                let help = format!("entity {entity} claims to be in {} physical groups", groups.len());
                return Err(source.error(at, help + "; the file is damaged"));
            }
            if dimension > 0 {
                tags(source, "bounding entities")?;
            }
            file.region((dimension, entity, 0), groups);
        }
    }
    Ok(())
}

/// A count and as many tags; signs only tell orientation.
fn tags(source: &mut Source, what: &str) -> Result<Vec<i64>, MeshError> {
    let at = source.next_place();
    let count = source.size("a number of tags")?;
    source.fits(at, count, what, 1, 0, 0)?;
    (0..count).map(|_| Ok(source.int("a tag")?.saturating_abs())).collect()
}

pub(crate) fn nodes(source: &mut Source, file: &mut File, at: usize) -> Result<(), MeshError> {
    File::once(file.nodes.is_some(), "$Nodes", source, at)?;
    source.start_data()?;
    let at = source.next_place();
    let blocks = source.size("the number of node blocks")?;
    source.fits(at, blocks, "node blocks", 3, 1, 0)?;
    let at = source.next_place();
    let total = source.size("the number of nodes")?;
    source.fits(at, total, "nodes", 0, 1, 3)?;
    source.size("the smallest node tag")?;
    source.size("the largest node tag")?;

    let mut given = Vec::with_capacity(total as usize);
    for _ in 0..blocks {
        let at = source.next_place();
        let dimension = source.int("the dimension of an entity")?;
        let dimension = usize::try_from(dimension)
            .ok()
            .filter(|&d| d <= 3)
            .ok_or_else(|| source.error(at, format!("an entity has dimension {dimension}, not 0 to 3")))?;
        source.int("the tag of an entity")?;
        let at = source.next_place();
        let parameters = match source.int("0 or 1 for parametric nodes")? {
            0 => 0,
            1 => dimension,
            other => return Err(source.error(at, format!("expected 0 or 1 for parametric, found {other}"))),
        };
        let at = source.next_place();
        let count = source.size("the number of nodes in a block")?;
        source.fits(at, count, "nodes", 0, 1, 3 + parameters as u64)?;
        let first = given.len();
        for _ in 0..count {
            let at = source.next_place();
            given.push((source.size("a node tag")?, crate::math::Vec3::zeros(), at));
        }
        for node in &mut given[first..] {
            node.1 = source.point(node.0)?;
            for _ in 0..parameters {
                source.float("a parameter of a node")?;
            }
        }
    }
    if given.len() as u64 != total {
        let claim = format!("the blocks hold {} nodes, but {total} were announced", given.len());
        return Err(source.error(at, claim));
    }
    file.nodes = Some(Nodes::new(given, source)?);
    Ok(())
}

pub(crate) fn elements(source: &mut Source, file: &mut File, at: usize) -> Result<(), MeshError> {
    File::once(file.has_elements, "$Elements", source, at)?;
    file.has_elements = true;
    if file.nodes.is_none() {
        return Err(source.error(at, "section $Elements comes without $Nodes before it"));
    }
    source.start_data()?;
    let at = source.next_place();
    let blocks = source.size("the number of element blocks")?;
    source.fits(at, blocks, "element blocks", 3, 1, 0)?;
    let at = source.next_place();
    let total = source.size("the number of elements")?;
    source.fits(at, total, "elements", 0, 2, 0)?;
    source.size("the smallest element tag")?;
    source.size("the largest element tag")?;

    let mut read = 0;
    for _ in 0..blocks {
        read += block(source, file)?;
    }
    if read != total {
        return Err(source.error(at, format!("the blocks hold {read} elements, but {total} were announced")));
    }
    Ok(())
}

/// Elements of one type in one entity; returns their number.
fn block(source: &mut Source, file: &mut File) -> Result<u64, MeshError> {
    let at = source.next_place();
    let dimension = source.int("the dimension of an entity")?;
    let entity = source.int("the tag of an entity")?;
    let number = source.int("an element type")?;
    let Some((number, kind)) = element_type(number) else {
        return Err(source.error(at, format!("there is no element type {number}")));
    };
    if usize::try_from(dimension) != Ok(kind.dimension) {
        let name = kind.name;
        return Err(
            source.error(at, format!("a block of {name} elements in an entity of dimension {dimension}"))
        );
    }
    let key = (kind.dimension, entity, 0);
    // The section of entities may be missing; an entity it does not know is a mistake.
    if file.has_entities && !file.region_ids.contains_key(&key) {
        return Err(source.error(at, format!("no entity of dimension {dimension} has tag {entity}")));
    }
    let region = file.region(key, vec![]);

    let at = source.next_place();
    let count = source.size("the number of elements in a block")?;
    source.fits(at, count, "elements", 0, 1 + kind.nodes as u64, 0)?;
    for _ in 0..count {
        let tag = source.size("an element tag")?;
        file.add(number, tag, region, source, |source| source.size("a node of an element"))?;
    }
    Ok(count)
}
