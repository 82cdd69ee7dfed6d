//! What can be said of a case before it runs: what can touch and what overlaps (`surfaces`), when bodies first meet (`approach`), how
//! much memory it takes (`size`). `deck` tells what is wrong, `carom check` all of it.

pub mod approach;
pub(crate) mod size;
pub mod surfaces;
