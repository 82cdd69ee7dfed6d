//! Vectors and small matrices; the lanes that kernels run on; lists and sets of numbers.

pub mod dice;
pub mod elementary;
pub mod lane;
pub mod lists;
pub mod sets;
pub mod tensor;

/// A point, displacement, velocity or force in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix: inverse mass, projector, rotation, deformation gradient.
pub type Mat3 = nalgebra::Matrix3<f64>;
