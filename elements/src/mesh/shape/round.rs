//! What disc, cylinder and ball share: a square (cube) core, wrapped in layers that reach the round outside.
//!
//! The core is the lattice (u, v, w) ∈ [−1, 1]ᵈ, half-way between a square and a round body so that no corner
//! is flat and none is sharp:
//!
//! ```text
//! p = c R [ ½ (u, v, w)/√d + ½ S(u′, v′, w′) ]        c = core radius / outer radius
//! S = ( u √(1 − v²/2), v √(1 − u²/2) )                in the plane
//! S = ( u √(1 − v²/2 − w²/2 + v²w²/3), … )            in space, cyclic
//! u′ = √2 sin(πu/4): equal angles along the middle lines
//! ```
//!
//! S carries the boundary of the square to the unit circle, of the cube to the unit sphere; the layers run in
//! straight lines from there to `R S`. Opposite nodes mirror each other to the last bit.

use super::limits;
use crate::math::Vec3;
use crate::mesh::surface::Surface;
use crate::mesh::{Cells, Mesh, MeshError, Side};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, SQRT_2};

/// Radius of the core over the radius of the body where nothing else is said.
pub(crate) const CORE: f64 = 0.5;

/// Parameters of the cross-section that disc, cylinder and sphere check alike.
pub(super) fn check(
    shape: &'static str,
    radius: f64,
    core_cells: u32,
    layers: u32,
    core: f64,
) -> Result<(), MeshError> {
    limits::length(shape, "radius", radius)?;
    limits::cells(shape, "core_cells", core_cells)?;
    limits::cells(shape, "layers", layers)?;
    if !(core > 0.0 && core < 1.0) {
        return limits::refuse(shape, "core", core, "between 0 and 1 (core radius over outer radius)");
    }
    Ok(())
}

/// The lattice −1 … 1 in `cells` steps, exactly odd.
pub(super) fn lattice(shape: &'static str, cells: u32) -> Result<Vec<f64>, MeshError> {
    let n = i64::from(cells);
    let mut points = limits::room(shape, "nodes", cells as usize + 1)?;
    points.extend((0..=n).map(|i| (2 * i - n) as f64 / n as f64));
    Ok(points)
}

/// (cos, sin) of i/n of a full turn, exactly symmetric about the axes and diagonals.
pub(super) fn turn(i: u32, n: u32) -> (f64, f64) {
    let (i, n) = (u64::from(i % n), u64::from(n));
    let (quadrant, rest) = (4 * i / n, 4 * i % n);
    let angle = |rest: u64| FRAC_PI_2 * (rest as f64 / n as f64);
    let (c, s) = match (2 * rest).cmp(&n) {
        std::cmp::Ordering::Less => (angle(rest).cos(), angle(rest).sin()),
        std::cmp::Ordering::Equal => (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        std::cmp::Ordering::Greater => (angle(n - rest).sin(), angle(n - rest).cos()),
    };
    match quadrant {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    }
}

/// S of the header with u′ for u; a point of the unit circle (sphere) when `p` is on the square (cube).
fn rounded(p: Vec3) -> Vec3 {
    let u = p.map(|u| SQRT_2 * (FRAC_PI_4 * u).sin());
    let q = u.component_mul(&u);
    let squeeze = |a: f64, b: f64| f64::sqrt(1.0 - (a + b) / 2.0 + a * b / 3.0);
    u.component_mul(&Vec3::new(squeeze(q.y, q.z), squeeze(q.z, q.x), squeeze(q.x, q.y)))
}

/// Shapes `core`, whose nodes stand on the lattice, and wraps it in layers up to `radius`; the outermost
/// sides get the name `outside`. Names the core had are dropped. Counts fit `u32`.
pub(super) fn wrap(
    shape: &'static str,
    mut core: Mesh,
    radius: f64,
    core_radius: f64,
    layers: u32,
    outside: &str,
) -> Result<Mesh, MeshError> {
    let around = Surface::of(&core);
    let root = f64::sqrt(core.dimension() as f64);
    let target: Vec<Vec3> =
        around.nodes.iter().map(|&n| radius * rounded(core.nodes[n as usize]).normalize()).collect();

    let (core_nodes, per_layer) = (core.nodes.len() as u32, around.nodes.len() as u32);
    let kind = core.cells[0].kind;
    let core_cells = core.cells[0].len() as u32;
    let mut nodes: Vec<Vec3> =
        limits::room(shape, "nodes", core.nodes.len() + target.len() * layers as usize)?;
    nodes.extend(core.nodes.iter().map(|&p| core_radius * radius * (0.5 * p / root + 0.5 * rounded(p))));
    for layer in 1..=layers {
        let share = f64::from(layer) / f64::from(layers);
        for (&n, &outer) in around.nodes.iter().zip(&target) {
            let inner = nodes[n as usize];
            nodes.push(if layer == layers { outer } else { inner + share * (outer - inner) });
        }
    }

    // Node of the core's boundary, carried `layer` layers outwards.
    let carried = |node: u32, layer: u32| match layer {
        0 => node,
        _ => core_nodes + (layer - 1) * per_layer + around.nodes.partition_point(|&n| n < node) as u32,
    };
    let added = around.facets.len() * layers as usize * kind.nodes();
    let mut cells = std::mem::take(&mut core.cells[0].nodes);
    cells.try_reserve_exact(added).map_err(|_| limits::no_memory(shape, "cells", added))?;
    for layer in 0..layers {
        for facet in &around.facets {
            match *facet.nodes() {
                [a, b] => cells.extend([
                    carried(a, layer),
                    carried(a, layer + 1),
                    carried(b, layer + 1),
                    carried(b, layer),
                ]),
                ref quad => {
                    cells.extend(quad.iter().map(|&n| carried(n, layer)));
                    cells.extend(quad.iter().map(|&n| carried(n, layer + 1)));
                }
            }
        }
    }
    let mut mesh = Mesh { nodes, cells: vec![Cells { kind, nodes: cells }], ..Mesh::default() };
    let per_layer = around.facets.len() as u32;
    let last = core_cells + (layers - 1) * per_layer;
    // Side 1 is the outer one of a wrapped quad (nodes 1, 2) and of a wrapped hex (nodes 4 … 7).
    mesh.name_sides(outside, (last..last + per_layer).map(|cell| Side { cells: 0, cell, side: 1 }).collect());
    Ok(mesh)
}

/// Nodes and cells of a wrapped square, as `f64` so that absurd counts do not overflow.
pub(super) fn plane_counts(core_cells: u32, layers: u32) -> (f64, f64) {
    let (n, m) = (f64::from(core_cells), f64::from(layers));
    ((n + 1.0).powi(2) + 4.0 * n * m, n * n + 4.0 * n * m)
}

/// Nodes and cells of a wrapped cube.
pub(super) fn solid_counts(core_cells: u32, layers: u32) -> (f64, f64) {
    let (n, m) = (f64::from(core_cells), f64::from(layers));
    ((n + 1.0).powi(3) + (6.0 * n * n + 2.0) * m, n.powi(3) + 6.0 * n * n * m)
}
