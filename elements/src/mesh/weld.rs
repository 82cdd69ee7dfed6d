//! Vertices that are the same point: files of triangles repeat the corners of every one, and not always to the last digit.

use crate::math::Vec3;
use std::collections::HashMap;

/// Vertices become one, first those that are equal, then those within `within` [m] of one that came before.
pub(crate) struct Welded {
    pub nodes: Vec<Vec3>,
    /// The node of each vertex that was given.
    pub of: Vec<u32>,
}

/// Edge of the boxes in which neighbours are looked for, over the distance that counts: near its walls lies one point in ten.
const BOX: f64 = 64.0;

/// `nodes` as they come, equal ones already taken together.
pub(crate) fn weld(nodes: &[Vec3], within: f64) -> Welded {
    let mut welded = Welded { nodes: Vec::new(), of: Vec::with_capacity(nodes.len()) };
    if within <= 0.0 {
        return Welded { nodes: nodes.to_vec(), of: (0..nodes.len() as u32).collect() };
    }
    let place = |x: f64| (x / (BOX * within)).floor() as i64;
    // the last node of each box, and the one before each node in its box; boxes that share a number only lengthen a list
    let mut last: HashMap<u64, u32> = HashMap::new();
    let mut before: Vec<u32> = Vec::new();
    for x in nodes {
        let (low, high) = ([0, 1, 2].map(|i| place(x[i] - within)), [0, 1, 2].map(|i| place(x[i] + within)));
        let mut near = u32::MAX;
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    let mut there = last.get(&number([i, j, k])).copied().unwrap_or(u32::MAX);
                    while there != u32::MAX {
                        if (welded.nodes[there as usize] - x).norm() <= within {
                            near = near.min(there);
                        }
                        there = before[there as usize];
                    }
                }
            }
        }
        if near == u32::MAX {
            near = welded.nodes.len() as u32;
            welded.nodes.push(*x);
            let here = last.entry(number([0, 1, 2].map(|i| place(x[i])))).or_insert(u32::MAX);
            before.push(std::mem::replace(here, near));
        }
        welded.of.push(near);
    }
    welded
}

/// A number for a box.
fn number(at: [i64; 3]) -> u64 {
    at.iter().fold(0, |sum: u64, &x| (sum ^ x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}
