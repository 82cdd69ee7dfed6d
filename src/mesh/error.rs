//! What can be wrong with a mesh, a shape or a mesh file, in the user's words.

use super::check::Problems;
use thiserror::Error;

/// A mesh that cannot be built, read or used.
#[derive(Debug, Error)]
pub enum MeshError {
    /// A parameter of a built-in shape makes no sense.
    #[error("{shape}: `{parameter}` = {value}, but it must be {wanted}")]
    Parameter { shape: &'static str, parameter: String, value: String, wanted: String },

    /// More nodes or cells than ids (`u32`) or memory can hold.
    #[error("{shape}: {count:.3e} {what} are too many ({limit}); use fewer cells")]
    TooLarge { shape: &'static str, what: &'static str, count: f64, limit: &'static str },

    /// A place or rotation that makes no sense.
    #[error("`{parameter}` = {value}, but it must be {wanted}")]
    Placement { parameter: &'static str, value: String, wanted: &'static str },

    /// The mesh is there but mechanics cannot use it.
    #[error("{0}")]
    Unfit(Problems),
}
