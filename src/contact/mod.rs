//! Who touches whom: surfaces, search, closest points, crossings, and the pairs they end in.

pub mod closest_point;
pub mod inclusion;
pub mod overlap;
pub mod pair;
pub mod swept;

#[cfg(test)]
mod dice;
#[cfg(test)]
mod exact;
