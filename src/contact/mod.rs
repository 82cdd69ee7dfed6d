//! Who touches whom: surfaces, search, closest points, crossings, and the pairs they end in.
//!
//! | file            | holds                                                               |
//! |-----------------|---------------------------------------------------------------------|
//! | `scene`         | the surfaces of all bodies in one numbering, and who may meet whom  |
//! | `obstacle`      | where rigid obstacles stand                                         |
//! | `check`         | what is wrong with a surface, in the user's words                   |
//! | `search`        | what every search is asked and answers                              |
//! | `measure`       | from candidates to records: distances, normals, the choice          |
//! | `three_stage`   | the search of every synchronous method (`octree`, `bvh`, `body_trees`, `body_axes`) |
//! | `cells`         | the search of one node at a time, by position codes                 |
//! | `brute`, `classic` | searches to measure against, and to be right by                  |
//! | `bench_scenes`  | scenes to measure searches on                                       |
//! | `closest_point` | nearest points of facets and edges                                  |
//! | `swept`, `inclusion` | when features meet during a step, and the certifier of that     |
//! | `crossing`      | what meets during a step, as pairs                                  |
//! | `entry`         | facets gone through on a straight way; how thick bodies are         |
//! | `overlap`       | overlap of whole surfaces                                           |
//! | `pair`, `places` | one contact, whatever touched whatever; how it is made             |
//! | `pieces`        | work in pieces, put together in their order                         |
//! | `rules`, `selection` | which contacts exist; those of an instant that are held together |
//!
//! The room uses `math` and `mesh` and nothing else.

pub mod bench_scenes;
mod body_axes;
mod body_trees;
pub(crate) mod brute;
pub(crate) mod bvh;
pub(crate) mod cells;
pub(crate) mod check;
pub(crate) mod classic;
pub mod closest_point;
pub(crate) mod crossing;
pub(crate) mod entry;
pub mod friction;
pub mod inclusion;
pub(crate) mod measure;
pub(crate) mod obstacle;
pub(crate) mod octree;
pub mod overlap;
pub mod pair;
mod pieces;
pub(crate) mod places;
pub(crate) mod rules;
pub mod scene;
pub mod search;
pub(crate) mod selection;
pub mod swept;
pub mod three_stage;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod degenerate;
#[cfg(test)]
pub(crate) use crate::math::dice;
#[cfg(test)]
mod exact;
