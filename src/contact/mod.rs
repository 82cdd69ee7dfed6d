//! Who touches whom: surfaces, search, closest points, crossings, and the pairs they end in.

pub mod closest_point;
