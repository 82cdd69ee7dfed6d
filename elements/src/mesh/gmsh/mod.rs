//! Gmsh files: MSH 4.1 and 2.2, as text and binary of either byte order.
//!
//! | in the file | in the [`Mesh`] |
//! |-------------|-----------------|
//! | elements of the highest dimension d | cells, in the order of kinds and element tags |
//! | physical group of dimension d | cell set |
//! | physical group of dimension d − 1 | side set: each element is a side of a cell; between two cells the one whose outward normal agrees with the element |
//! | any physical group | node set of the nodes of its elements |
//!
//! A group without name is called by dimension and tag: `surface-7`. Nodes keep the order of their tags; nodes
//! that no cell uses are dropped. Plane regions drawn clockwise and lines drawn towards −x are turned over,
//! region by region; solids are taken as they are.
//!
//! A file may be cut short, damaged or hostile: every count is compared with what the rest of the file can hold
//! before memory is asked for, and errors name the line and column (text) or byte (binary). What is read is
//! consistent; whether it is fit for mechanics is for [`Mesh::check`] to say.
//!
//! `v2` and `v4` know the two layouts and fill a `raw::File`, `assemble`
//! makes the mesh.

mod assemble;
mod raw;
mod v2;
mod v4;

use super::{Mesh, MeshError};
use crate::mesh::source::{Encoding, Source, shown};
use raw::File;
use std::path::Path;

/// Reads a Gmsh file.
pub fn read(path: impl AsRef<Path>) -> Result<Mesh, MeshError> {
    let path = path.as_ref();
    let bytes = super::file::bytes(path)?;
    parse(&bytes).map_err(|e| MeshError::InFile { path: path.to_owned(), error: Box::new(e) })
}

/// Reads the content of a Gmsh file.
pub fn parse(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut source = Source::new(bytes);
    let version = header(&mut source)?;
    let mut file = File::default();
    while let Some((at, word)) = source.next_word() {
        let Some(name) = word.strip_prefix(b"$") else {
            return Err(source.error(at, format!("expected the start of a section, found {}", shown(word))));
        };
        match (name, version) {
            (b"PhysicalNames", _) => physical_names(&mut source, &mut file)?,
            (b"Entities", Version::V4) => v4::entities(&mut source, &mut file, at)?,
            (b"Nodes", Version::V4) => v4::nodes(&mut source, &mut file, at)?,
            (b"Elements", Version::V4) => v4::elements(&mut source, &mut file, at)?,
            (b"Nodes", Version::V2) => v2::nodes(&mut source, &mut file, at)?,
            (b"Elements", Version::V2) => v2::elements(&mut source, &mut file, at)?,
            (b"PartitionedEntities", _) => {
                return Err(source.error(at, "the mesh is partitioned; save it without partitions"));
            }
            (b"ParametricNodes", _) => {
                let help = "parametric nodes of format 2.2 are not read; save with Mesh.SaveParametric = 0";
                return Err(source.error(at, help));
            }
            // Periodicity, post-processing data and what else may come.
            _ => {
                source.skip_past_end_of(name, at)?;
                continue;
            }
        }
        source.end_of(name)?;
    }
    assemble::mesh(&file, &source)
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    V2,
    V4,
}

/// `$MeshFormat`, version, 0 for text or 1 for binary, size of a number; in binary the integer 1 follows.
fn header(source: &mut Source) -> Result<Version, MeshError> {
    match source.next_word() {
        Some((_, b"$MeshFormat")) => {}
        Some((at, _)) => return Err(source.error(at, "no Gmsh mesh: it does not begin with $MeshFormat")),
        None => return Err(source.error(0, "the file is empty")),
    }
    let at = source.next_place();
    let version = match source.word("the version of the format")? {
        b"4.1" => Version::V4,
        b"2.2" | b"2.1" | b"2" | b"2.0" => Version::V2,
        other => {
            let other = shown(other);
            let help = format!("format {other} is not read; save as 4.1 (gmsh -format msh41) or 2.2 (msh22)");
            return Err(source.error(at, help));
        }
    };
    let at = source.next_place();
    let binary = match source.text_number::<u32>("0 for text or 1 for binary")? {
        0 => false,
        1 => true,
        other => return Err(source.error(at, format!("expected 0 (text) or 1 (binary), found {other}"))),
    };
    let at = source.next_place();
    let wide = match source.text_number::<u32>("the size of a number")? {
        8 => true,
        4 if version == Version::V4 => false,
        other => return Err(source.error(at, format!("numbers of {other} bytes are not read, only 8"))),
    };
    if binary {
        source.start_binary(wide)?;
    }
    source.end_of(b"MeshFormat")?;
    Ok(version)
}

/// Number of names, then dimension, tag and name in quotes; text in binary files too.
fn physical_names(source: &mut Source, file: &mut File) -> Result<(), MeshError> {
    let encoding = std::mem::replace(&mut source.encoding, Encoding::Text);
    let at = source.next_place();
    let count = source.text_number::<u64>("the number of physical names")?;
    source.fits(at, count, "physical names", 3, 0, 0)?;
    for _ in 0..count {
        let at = source.next_place();
        let dimension = source.text_number::<usize>("the dimension of a physical group")?;
        if dimension > 3 {
            return Err(
                source.error(at, format!("a physical group has dimension {dimension}, the most is 3"))
            );
        }
        let tag = source.text_number::<i64>("the tag of a physical group")?;
        let name = source.quoted("the name of a physical group")?;
        if file.names.insert((dimension, tag.saturating_abs()), name).is_some() {
            let help = format!("the physical group of dimension {dimension} and tag {tag} is named twice");
            return Err(source.error(at, help));
        }
    }
    source.encoding = encoding;
    Ok(())
}

#[cfg(test)]
mod tests;
