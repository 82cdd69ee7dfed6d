//! Checks that shapes share: sizes that mean something, counts that fit.

use crate::mesh::{CellKind, MeshError};

/// Largest number of nodes or cells: ids are `u32` and `u32::MAX` stands for "none".
const MOST: f64 = u32::MAX as f64;

/// A length must be finite and positive.
pub(crate) fn length(shape: &'static str, parameter: &str, value: f64) -> Result<(), MeshError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    refuse(shape, parameter, value, "a positive, finite length")
}

/// A count of cells must not be zero.
pub(crate) fn cells(shape: &'static str, parameter: &str, value: u32) -> Result<(), MeshError> {
    if value > 0 { Ok(()) } else { refuse(shape, parameter, value, "at least 1 cell") }
}

/// Refinements multiply cells: more than so many fit no memory.
pub(crate) fn refinements(shape: &'static str, value: u32, most: u32) -> Result<(), MeshError> {
    if value <= most { Ok(()) } else { refuse(shape, "refine", value, format!("at most {most}")) }
}

/// The kind of cell must be one the shape knows; the first of `known` is the natural one.
pub(crate) fn kind<const N: usize>(
    shape: &'static str,
    value: CellKind,
    known: [CellKind; N],
) -> Result<(), MeshError> {
    if known.contains(&value) {
        return Ok(());
    }
    let wanted = known.map(|kind| format!("\"{}\"", kind.name())).join(" or ");
    refuse(shape, "cell", format!("\"{}\"", value.name()), wanted)
}

pub(crate) fn refuse<T>(
    shape: &'static str,
    parameter: &str,
    value: impl ToString,
    wanted: impl ToString,
) -> Result<T, MeshError> {
    Err(MeshError::Parameter {
        shape,
        parameter: parameter.to_owned(),
        value: value.to_string(),
        wanted: wanted.to_string(),
    })
}

/// Refuses counts beyond `u32`, and counts that the memory of the machine cannot hold, before anything is
/// built. Counts come as `f64` so that no product of absurd inputs overflows; up to the limit they are exact.
pub(crate) fn ids(shape: &'static str, nodes: f64, cells: f64) -> Result<(), MeshError> {
    for (what, count) in [("nodes", nodes), ("cells", cells)] {
        if count >= MOST {
            return Err(MeshError::TooLarge { shape, what, count, limit: "ids end at 4.29e9" });
        }
    }
    // Asked for in one piece and given back untouched: three coordinates a node, at least 8 bytes a cell.
    room::<u8>(shape, "cells", (24.0 * nodes + 8.0 * cells) as usize)
        .map_err(|_| no_memory(shape, "cells", cells as usize))?;
    Ok(())
}

/// An empty vector with room for `count`, or an error where memory ends.
pub(crate) fn room<T>(shape: &'static str, what: &'static str, count: usize) -> Result<Vec<T>, MeshError> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count).map_err(|_| no_memory(shape, what, count))?;
    Ok(vec)
}

pub(crate) fn no_memory(shape: &'static str, what: &'static str, count: usize) -> MeshError {
    MeshError::TooLarge { shape, what, count: count as f64, limit: "the memory does not hold them" }
}

/// How many cells come from one: triangles are half quads, six tets fill a hex.
pub(crate) fn pieces(cell: CellKind) -> f64 {
    match cell {
        CellKind::Tri3 => 2.0,
        CellKind::Tet4 | CellKind::Tet10 => 6.0,
        _ => 1.0,
    }
}
