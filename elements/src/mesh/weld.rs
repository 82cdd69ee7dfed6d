//! Vertices that are the same point: files of triangles repeat the corners of every one, and not always to the last digit.

use crate::math::Vec3;
use std::collections::HashMap;

/// Vertices become one, first those that are equal, then those within `within` [m] of one that came before.
pub struct Welded {
    pub nodes: Vec<Vec3>,
    /// The node of each vertex that was given.
    pub of: Vec<u32>,
}

/// Edge of the boxes in which neighbours are looked for, over the distance that counts: near its walls lies one point in ten.
const BOX: f64 = 64.0;

/// `nodes` as they come, equal ones already taken together.
pub fn weld(nodes: &[Vec3], within: f64) -> Welded {
    let mut welded = Welded { nodes: Vec::new(), of: Vec::with_capacity(nodes.len()) };
    if within <= 0.0 {
        return Welded { nodes: nodes.to_vec(), of: (0..nodes.len() as u32).collect() };
    }
    let place = |x: f64| (x / (BOX * within)).floor() as i64;
    let mut boxes: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for x in nodes {
        let (low, high) = ([0, 1, 2].map(|i| place(x[i] - within)), [0, 1, 2].map(|i| place(x[i] + within)));
        let mut near = None;
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    let there = boxes.get(&[i, j, k]).into_iter().flatten();
                    let close = there.copied().find(|&n| (welded.nodes[n as usize] - x).norm() <= within);
                    near = near.into_iter().chain(close).min();
                }
            }
        }
        let id = near.unwrap_or_else(|| {
            let id = welded.nodes.len() as u32;
            welded.nodes.push(*x);
            boxes.entry([0, 1, 2].map(|i| place(x[i]))).or_default().push(id);
            id
        });
        welded.of.push(id);
    }
    welded
}
