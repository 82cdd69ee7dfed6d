//! Layout of format 2.2: a list of nodes, a list of elements with tags. The first tag is the physical group, the
//! second the entity; an element of several groups is written once for each.

use super::raw::{File, Nodes, element_type};
use crate::mesh::MeshError;
use crate::mesh::source::Source;

pub(crate) fn nodes(source: &mut Source, file: &mut File, at: usize) -> Result<(), MeshError> {
    File::once(file.nodes.is_some(), "$Nodes", source, at)?;
    let at = source.next_text_place();
    let count = source.text_number::<u64>("the number of nodes")?;
    source.start_data()?;
    source.fits(at, count, "nodes", 1, 0, 3)?;
    let mut given = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let at = source.next_place();
        let tag = source.int("a node tag")?;
        let tag =
            u64::try_from(tag).map_err(|_| source.error(at, format!("a node has the negative tag {tag}")))?;
        given.push((tag, source.point(tag)?, at));
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
    let at = source.next_text_place();
    let total = source.text_number::<u64>("the number of elements")?;
    source.start_data()?;
    source.fits(at, total, "elements", 3, 0, 0)?;
    let mut read = 0;
    while read < total {
        read += if source.is_binary() { block(source, file, total - read)? } else { line(source, file)? };
    }
    Ok(())
}

/// Text: tag, type, number of tags, tags, nodes.
fn line(source: &mut Source, file: &mut File) -> Result<u64, MeshError> {
    let tag = source.text_number::<u64>("an element tag")?;
    let at = source.next_place();
    let number = source.int("an element type")?;
    let tags_at = source.next_place();
    let tags = source.text_number::<u64>("the number of tags")?;
    source.fits(tags_at, tags, "tags", 1, 0, 0)?;
    element(source, file, at, number, tags, tag)?;
    Ok(1)
}

/// Binary: type, number of elements, number of tags; then tag, tags, nodes of each.
fn block(source: &mut Source, file: &mut File, left: u64) -> Result<u64, MeshError> {
    let at = source.next_place();
    let number = source.int("an element type")?;
    let count_at = source.next_place();
    let count = source.int("the number of elements in a block")?;
    let count = u64::try_from(count).ok().filter(|&count| count > 0 && count <= left).ok_or_else(|| {
        source.error(
            count_at,
            format!("a block claims {count} elements, but {left} are left of those announced"),
        )
    })?;
    let tags_at = source.next_place();
    let tags = source.int("the number of tags")?;
    let tags =
        u64::try_from(tags).map_err(|_| source.error(tags_at, format!("{tags} tags are impossible")))?;
    source.fits(tags_at, tags, "tags", 1, 0, 0)?;
    source.fits(count_at, count, "elements", 2 + tags, 0, 0)?;
    for _ in 0..count {
        let tag_at = source.next_place();
        let tag = source.int("an element tag")?;
        let tag =
            u64::try_from(tag).map_err(|_| source.error(tag_at, format!("negative element tag {tag}")))?;
        element(source, file, at, number, tags, tag)?;
    }
    Ok(count)
}

/// Tags and nodes of one element whose type stood at `at`.
fn element(
    source: &mut Source,
    file: &mut File,
    at: usize,
    number: i64,
    tags: u64,
    tag: u64,
) -> Result<(), MeshError> {
    let Some((number, kind)) = element_type(number) else {
        return Err(source.error(at, format!("there is no element type {number}")));
    };
    let (mut group, mut entity) = (0, 0);
    for i in 0..tags {
        let value = source.int("a tag")?;
        match i {
            // A negative group only tells orientation.
            0 => group = value.saturating_abs(),
            1 => entity = value,
            _ => {}
        }
    }
    let groups = if group == 0 { vec![] } else { vec![group] };
    let region = file.region((kind.dimension, entity, group), groups);
    file.add(number, tag, region, source, |source| source.int("a node of an element"))
}
