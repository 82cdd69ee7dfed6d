//! Which element is a node in, and through which face did it come?
//!
//! Targets are the elements that own a face of the boundary. A node is inside where the inverse map of the element says
//! so; the point of the element at the same place has the velocity `Σ N_B v_B`, and an impulse between the two keeps
//! angular momentum exactly because both are the same point of space.
//!
//! **The face.** Of the boundary faces of the element only those count that look against the node's own normal. Outside of
//! one of them the node is outside; else it belongs to the nearest, unless that is more than half the element away. If that
//! one opens there is no contact: another face would be the far side of a bar. A node that was seen to come through a face
//! keeps it until it is out again, however deep it gets.
//!
//! **Normals** point out of the target. Bodies of small strain have the normals of their reference shape. All others have
//! those of the present one, for nodes as well: with its first normals a body that rolls does not touch what it lies down
//! on.

use super::impulses::DriftedView;
use crate::contact::cells::box_around;
use crate::contact::entry::enters;
use crate::contact::octree::Aabb;
use crate::contact::scene::{FacetKind, Scene};
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::mesh::surface::{Facet, Surface};
use crate::mesh::{CellKind, MOST_NODES, shape_functions};
use crate::model::Model;

/// A face counts if its normal is against that of the node by more than this.
const AGAINST: f64 = -0.25;
/// How far beside an element a node may be and still be in it, in reference coordinates: where cross-sections are equal,
/// nodes run along edges. It acts along the face only.
pub(crate) const BESIDE: f64 = 0.05;
/// Outside by less than this share of the element's size is round-off.
const ON_FACE: f64 = 1e-12;
/// The inverse map must be as exact as that, relative to the element's size: angular momentum hangs on it.
const MISSED: f64 = 1e-11;
/// Share of the element's thickness behind a face beyond which a node that nobody saw come is not that face's.
const DEEPEST: f64 = 0.5;
/// Along any direction a hex with what is beside it is no longer on either side than its nodes by this share of what lies between
/// them: linear along each of three coordinates, and each reaches over by `BESIDE`/2, `((1 + BESIDE)³ − 1)/2` together.
pub(crate) const BESIDE_HEX: f64 = 0.09;
/// Faces as near as this to the nearest one are equally near.
const TIE: f64 = 0.01;

/// A quadratic tet as eight linear ones: four at its corners, four around the diagonal between the edges 01 and 23.
const TETS_OF_TET10: [[u8; 4]; 8] = [
    [0, 4, 6, 7],
    [4, 1, 5, 8],
    [6, 5, 2, 9],
    [7, 8, 9, 3],
    [4, 9, 5, 6],
    [4, 9, 6, 7],
    [4, 9, 7, 8],
    [4, 9, 8, 5],
];

/// One element that can be touched, or a linear piece of a quadratic one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub nodes: [u32; 8],
    pub kind: CellKind,
    pub body: u32,
    /// Which of its sides belong to the boundary, one bit each.
    sides: u8,
    /// Normals are those of the reference shape.
    still: bool,
    /// Longest distance from its first node in the reference shape [m].
    pub size: f64,
    /// Least thickness behind its sides of the boundary there [m].
    pub thickness: f64,
}

impl Target {
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes[..self.kind.nodes()]
    }

    /// Where its nodes are, and what is beside it by as much as [`Targets::find`] allows.
    pub(crate) fn reach(&self, at: impl Fn(u32) -> Vec3) -> Aabb {
        let tight = box_around(self.nodes().iter().map(|&n| at(n)));
        // a little more, because it may grow until its box is made anew
        tight.grown(1.5 * BESIDE * tight.longest())
    }
}

/// A node in an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inside {
    /// Shape functions of the element at the node.
    pub weights: [f64; MOST_NODES],
    /// Faces it may have come through, the nearest first: side, depth [m], outward normal. More than one only if they are
    /// equally near, none if it is too deep to tell.
    pub faces: [(u8, f64, Vec3); 3],
    pub count: usize,
}

/// All targets of a model, and the normals of its nodes.
pub(crate) struct Targets {
    /// Body after body.
    pub list: Vec<Target>,
    /// First of each body, and one more.
    first: Vec<usize>,
    /// Targets a node never touches though it is of their body: around its own elements.
    ring: Lists,
    /// Normals of nodes in the reference shape.
    reference_normal: Vec<Vec3>,
    /// By body: small strains.
    still: Vec<bool>,
}

impl Targets {
    pub(crate) fn new(model: &Model, scene: &Scene) -> Targets {
        let mut list = Vec::new();
        let mut ring = Vec::new();
        let mut still = Vec::new();
        let mut first_of = vec![0];
        for (b, body) in model.bodies.iter().enumerate() {
            let small = model.blocks[body.blocks.clone()].iter().all(|block| block.small_strain());
            still.push(small);
            let first = body.nodes.start as u32;
            let surface = Surface::of(&body.mesh);
            let from = list.len();
            // facets stand in the order of their sides, so those of one cell are together
            for facets in
                surface.facets.chunk_by(|p, q| (p.side.cells, p.side.cell) == (q.side.cells, q.side.cell))
            {
                let side = facets[0].side;
                let cells = &body.mesh.cells[side.cells as usize];
                for (kind, cell, sides) in linear_pieces(cells.kind, cells.cell(side.cell as usize), facets) {
                    list.push(target(model, b, first, kind, &cell, sides, small));
                }
            }
            first_of.push(list.len());
            if scene.bodies[b].attributes.self_contact {
                ring_of(model, b, &list, from, &mut ring);
            }
        }
        let nodes = model.reference.len();
        let reference =
            |n: u32| if (n as usize) < nodes { model.reference[n as usize] } else { Vec3::zeros() };
        let reference_normal = (0..nodes as u32).map(|n| normal_of(scene, n, reference)).collect();
        Targets { list, first: first_of, ring: Lists::sorted(nodes, ring), reference_normal, still }
    }

    /// The targets of a soft body.
    pub(crate) fn of_body(&self, body: usize) -> std::ops::Range<usize> {
        self.first[body]..self.first[body + 1]
    }

    /// Is this target among the elements around the node's own?
    pub(crate) fn is_around(&self, node: u32, target: u32) -> bool {
        self.ring.of(node).binary_search(&target).is_ok()
    }

    /// Outward normal of a surface node now.
    pub(crate) fn node_normal(&self, scene: &Scene, node: u32, at: impl Fn(u32) -> Vec3) -> Vec3 {
        if self.still[scene.node_body[node as usize] as usize] {
            return self.reference_normal[node as usize];
        }
        normal_of(scene, node, at)
    }

    /// The side of the target that a node with normal `normal` has gone in through on its way `came` to `y` in `seconds`, and how
    /// far beyond it the node is along that way as the side sees it [m].
    pub(crate) fn entered(
        &self,
        target: &Target,
        y: &Vec3,
        came: &Vec3,
        seconds: f64,
        normal: &Vec3,
        motion: &DriftedView,
    ) -> Option<(u8, f64)> {
        let mut x = [Vec3::zeros(); 8];
        x.iter_mut().zip(target.nodes()).for_each(|(x, &n)| *x = motion.at(n));
        let x = &x[..target.nodes().len()];
        let mut first: Option<(u8, f64, f64)> = None;
        for side in (0..target.kind.sides().len()).filter(|s| target.sides >> s & 1 == 1) {
            let n = face_normal(target.kind, x, middle(target.kind), side);
            if normal.dot(&n) >= AGAINST {
                continue;
            }
            let of_side = target.kind.sides()[side];
            let mut corners = [Vec3::zeros(); 4];
            let mut moved = Vec3::zeros();
            for (to, &k) in corners.iter_mut().zip(of_side) {
                *to = x[k as usize];
                moved += seconds / of_side.len() as f64 * motion.v[target.nodes[k as usize] as usize];
            }
            let way = came - moved;
            if let Some(at) = enters(&(y - way), y, &corners[..of_side.len()], &n)
                && first.is_none_or(|f| at < f.1)
            {
                first = Some((side as u8, at, (1.0 - at) * way.norm()));
            }
        }
        first.map(|f| (f.0, f.2))
    }

    /// Is the point `y` of a node with normal `normal` in the target, whose nodes are where `at` says? `known` is the side it came
    /// through when it was last seen in it.
    pub(crate) fn find(
        &self,
        target: &Target,
        y: &Vec3,
        mut normal: impl FnMut() -> Vec3,
        known: Option<u8>,
        model: &Model,
        at: impl Fn(u32) -> Vec3,
    ) -> Option<Inside> {
        let count = target.kind.nodes();
        let mut x = [Vec3::zeros(); 8];
        x.iter_mut().zip(target.nodes()).for_each(|(x, &n)| *x = at(n));
        let x = &x[..count];
        let tight = box_around(x.iter().copied());
        let reach = tight.grown(BESIDE * tight.longest());
        let dimension = target.kind.dimension();
        if (0..dimension).any(|k| y[k] < reach.lo[k] || y[k] > reach.hi[k]) {
            return None;
        }
        if target.kind == CellKind::Hex8 && is_beyond_a_side(x, y) {
            return None;
        }
        let xi = shape_functions::inverse(target.kind, x, *y)?;
        if !shape_functions::contains(target.kind, xi, BESIDE) {
            return None;
        }
        // who is near and not inside ends here, as a rule
        let (found, faces) = sides_above(target, x, xi, y, &normal(), model)?;
        let mut missed = y - shape_functions::position(target.kind, x, xi);
        missed.rows_mut(dimension, 3 - dimension).fill(0.0);
        let exact = missed.norm() <= MISSED * target.size;
        if !exact || shape_functions::jacobian(target.kind, x, xi).determinant() <= 0.0 {
            return None;
        }
        chosen(&found[..faces], known, shape_functions::values(target.kind, xi))
    }
}

/// Is `y` clearly outside of the hex with corners `x`, and of what is beside it, seen along one of its three directions? Cheaper by far
/// than to find out where in it.
fn is_beyond_a_side(x: &[Vec3], y: &Vec3) -> bool {
    let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| x[k] - y);
    let (p, q, r, s) = (g - a, h - b, e - c, f - d);
    // sums of the four edges along each coordinate, from the diagonals
    let along = [p - q - r + s, p + q - r - s, p + q + r + s];
    (0..3).any(|k| {
        let n = along[(k + 1) % 3].cross(&along[(k + 2) % 3]);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for corner in [a, b, c, d, e, f, g, h] {
            let height = n.dot(&corner);
            low = if height < low { height } else { low };
            high = if height > high { height } else { high };
        }
        let beside = BESIDE_HEX * (high - low);
        low - beside > 0.0 || high + beside < 0.0
    })
}

/// A side of a target above a node.
#[derive(Clone, Copy, Debug, Default)]
struct Above {
    side: u8,
    /// Of the node below it, and of the target there [m].
    depth: f64,
    thickness: f64,
    normal: Vec3,
}

/// Sides of a target that a node inside it, at `xi`, may have come through, and their number; none if it is above one.
fn sides_above(
    target: &Target,
    x: &[Vec3],
    xi: Vec3,
    y: &Vec3,
    normal: &Vec3,
    model: &Model,
) -> Option<([Above; 6], usize)> {
    let mut found = [Above::default(); 6];
    let mut faces = 0;
    for side in (0..target.kind.sides().len()).filter(|s| target.sides >> s & 1 == 1) {
        let n = if target.still {
            let mut reference = [Vec3::zeros(); 8];
            reference.iter_mut().zip(target.nodes()).for_each(|(to, &k)| *to = model.reference[k as usize]);
            face_normal(target.kind, &reference[..x.len()], xi, side)
        } else {
            face_normal(target.kind, x, xi, side)
        };
        if normal.dot(&n) >= AGAINST {
            continue;
        }
        let (on, behind) = face_points(target.kind, x, xi, side);
        let depth = -n.dot(&(y - on));
        if depth < -ON_FACE * target.size {
            return None;
        }
        let thickness = n.dot(&(on - behind));
        found[faces] = Above { side: side as u8, depth, thickness, normal: n };
        faces += 1;
    }
    Some((found, faces))
}

/// The side that a node in a target came through: the `known` one, or the nearest, with those that are as near.
fn chosen(found: &[Above], known: Option<u8>, weights: [f64; MOST_NODES]) -> Option<Inside> {
    let mut nearest = found.iter().min_by(|p, q| p.depth.total_cmp(&q.depth))?;
    if let Some(kept) = known.and_then(|side| found.iter().find(|f| f.side == side)) {
        nearest = kept;
    }
    let face = |f: &Above| (f.side, f.depth, f.normal);
    let mut inside = Inside { weights, faces: [face(nearest); 3], count: 1 };
    if known == Some(nearest.side) {
        return Some(inside);
    }
    if nearest.depth > DEEPEST * nearest.thickness {
        inside.count = 0;
        return Some(inside);
    }
    for f in found.iter().filter(|f| f.side != nearest.side) {
        if f.depth <= nearest.depth * (1.0 + TIE) && inside.count < 3 {
            inside.faces[inside.count] = face(f);
            inside.count += 1;
        }
    }
    Some(inside)
}

/// A cell of linear shape, with nodes and sides (one bit each) counted in its body.
fn target(
    model: &Model,
    body: usize,
    first: u32,
    kind: CellKind,
    cell: &[u32],
    sides: u8,
    still: bool,
) -> Target {
    let mut nodes = [first + cell[0]; 8];
    nodes.iter_mut().zip(cell).for_each(|(to, k)| *to = first + k);
    let at = |k: usize| model.reference[nodes[k] as usize];
    let x: Vec<Vec3> = (0..cell.len()).map(at).collect();
    let thickness = |side: usize| {
        let (on, behind) = face_points(kind, &x, middle(kind), side);
        face_normal(kind, &x, middle(kind), side).dot(&(on - behind)).abs()
    };
    let on_boundary = (0..kind.sides().len()).filter(|s| sides >> s & 1 == 1);
    Target {
        nodes,
        thickness: on_boundary.map(thickness).fold(f64::MAX, f64::min),
        kind,
        body: body as u32,
        sides,
        still,
        size: (1..cell.len()).map(|k| (at(k) - at(0)).norm()).fold(0.0, f64::max),
    }
}

/// A cell at the boundary as cells of linear shape, each with its sides there: itself, or those of the eight small tets of a tet10
/// that have one of the triangles of its sides.
fn linear_pieces(kind: CellKind, cell: &[u32], facets: &[Facet]) -> Vec<(CellKind, Vec<u32>, u8)> {
    if kind != CellKind::Tet10 {
        return vec![(kind, cell.to_vec(), facets.iter().fold(0, |bits, f| bits | 1 << f.side.side))];
    }
    let small = |piece: &[u8; 4]| {
        let nodes = piece.map(|k| cell[k as usize]);
        let is_facet = |side: &&[u8]| {
            facets.iter().any(|f| side.iter().all(|&k| f.nodes().contains(&nodes[k as usize])))
        };
        let sides = CellKind::Tet4.sides().iter().enumerate().filter(|(_, side)| is_facet(side));
        (CellKind::Tet4, nodes.to_vec(), sides.fold(0, |bits, (s, _)| bits | 1 << s))
    };
    TETS_OF_TET10.iter().map(small).filter(|piece| piece.2 != 0).collect()
}

/// Pairs (node, target) of a body that may touch itself: targets that share a node with an element of the node.
fn ring_of(model: &Model, body: usize, list: &[Target], from: usize, pairs: &mut Vec<(u32, u32)>) {
    let body = &model.bodies[body];
    let first = body.nodes.start as u32;
    let mut targets_of = vec![Vec::new(); body.nodes.len()];
    for (i, target) in list.iter().enumerate().skip(from) {
        target.nodes().iter().for_each(|n| targets_of[(n - first) as usize].push(i as u32));
    }
    for cells in &body.mesh.cells {
        for cell in cells.nodes.chunks_exact(cells.kind.nodes()) {
            for &node in cell {
                for &other in cell {
                    pairs.extend(targets_of[other as usize].iter().map(|&t| (first + node, t)));
                }
            }
        }
    }
}

/// Outward normal of a side, at its point at the reference coordinates `xi` but for the one across it.
fn face_normal(kind: CellKind, x: &[Vec3], xi: Vec3, side: usize) -> Vec3 {
    let corners = kind.sides()[side];
    let corner = |k: usize| x[corners[k] as usize];
    match kind {
        CellKind::Tri3 | CellKind::Quad4 => across(&(corner(1) - corner(0))),
        CellKind::Tet4 | CellKind::Shell3 => {
            (corner(1) - corner(0)).cross(&(corner(2) - corner(0))).normalize()
        }
        CellKind::Bar2 => Vec3::new(axis_of(kind, side).1, 0.0, 0.0),
        CellKind::Hex8 | CellKind::Tet10 => {
            let (axis, sign) = axis_of(kind, side);
            let mut on = xi;
            on[axis] = sign;
            let j = shape_functions::jacobian(kind, x, on);
            sign * j.column((axis + 1) % 3).cross(&j.column((axis + 2) % 3)).normalize()
        }
    }
}

/// Of a side: its point at the reference coordinates `xi` but for the one across it, and the point of the opposite side behind it.
fn face_points(kind: CellKind, x: &[Vec3], xi: Vec3, side: usize) -> (Vec3, Vec3) {
    let corners = kind.sides()[side];
    match kind {
        CellKind::Tri3 | CellKind::Tet4 | CellKind::Shell3 => {
            // flat: any point of it does; behind it is the node it does not have
            let opposite = (0..kind.nodes()).find(|k| !corners.contains(&(*k as u8))).unwrap_or(0);
            (x[corners[0] as usize], x[opposite])
        }
        _ => {
            let (axis, sign) = axis_of(kind, side);
            let (mut on, mut behind) = (xi, xi);
            on[axis] = sign;
            behind[axis] = -sign;
            (shape_functions::position(kind, x, on), shape_functions::position(kind, x, behind))
        }
    }
}

/// Reference coordinates of the middle of a cell.
fn middle(kind: CellKind) -> Vec3 {
    match kind {
        CellKind::Tri3 | CellKind::Shell3 => Vec3::new(1.0 / 3.0, 1.0 / 3.0, 0.0),
        CellKind::Tet4 | CellKind::Tet10 => Vec3::repeat(0.25),
        CellKind::Bar2 | CellKind::Quad4 | CellKind::Hex8 => Vec3::zeros(),
    }
}

/// The normal of a segment in the plane: its direction turned by −90°.
fn across(t: &Vec3) -> Vec3 {
    Vec3::new(t.y, -t.x, 0.0).normalize()
}

/// The reference coordinate that is constant on a side, and its value there.
fn axis_of(kind: CellKind, side: usize) -> (usize, f64) {
    match (kind, side) {
        (CellKind::Hex8, _) => [(2, -1.0), (2, 1.0), (1, -1.0), (0, 1.0), (1, 1.0), (0, -1.0)][side],
        (CellKind::Quad4, _) => [(1, -1.0), (0, 1.0), (1, 1.0), (0, -1.0)][side],
        _ => (0, if side == 0 { -1.0 } else { 1.0 }),
    }
}

/// Outward normal of a node: those of the facets around it, weighted by their angles; zero for a node of no facet.
fn normal_of(scene: &Scene, node: u32, at: impl Fn(u32) -> Vec3) -> Vec3 {
    let mut sum = Vec3::zeros();
    for &f in scene.node_facets.of(node) {
        let facet = &scene.facets[f as usize];
        let corners = facet.corners();
        match facet.kind {
            FacetKind::Plane => {}
            FacetKind::Point => sum += (at(facet.nodes[0]) - at(facet.nodes[1])).normalize(),
            FacetKind::Segment => sum += across(&(at(corners[1]) - at(corners[0]))),
            FacetKind::Triangle | FacetKind::Quad => {
                let n = corners.len();
                let k = corners.iter().position(|&c| c == node).unwrap_or(0);
                let here = at(node);
                let (next, last) = (at(corners[(k + 1) % n]) - here, at(corners[(k + n - 1) % n]) - here);
                let cross = next.cross(&last);
                let area = cross.norm();
                if area > 0.0 {
                    sum += (area.atan2(next.dot(&last)) / area) * cross;
                }
            }
        }
    }
    let length = sum.norm();
    if length > 0.0 { sum / length } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points in a hex, and beside it as far as counts, are never beyond a side, however uneven it is; most others in its box are.
    #[test]
    fn what_is_in_a_hex_or_beside_it_is_beyond_no_side() {
        let mut dice = crate::contact::dice::Dice(5);
        let (mut out, mut all) = (0, 0);
        for round in 0..20_000 {
            let uneven = 0.1 * f64::from(round % 7);
            let x: Vec<Vec3> =
                (0..8).map(|a| shape_functions::corner(CellKind::Hex8, a) + dice.point(uneven)).collect();
            let mut xi = dice.point(1.0 + BESIDE);
            // as far out as counts
            if round % 2 == 0 {
                xi = xi.map(|c| (1.0 + BESIDE) * c.signum());
            }
            assert!(!is_beyond_a_side(&x, &shape_functions::position(CellKind::Hex8, &x, xi)), "{xi} {x:?}");
            let y = 1.7 * dice.point(1.0);
            if shape_functions::inverse(CellKind::Hex8, &x, y)
                .is_none_or(|xi| !shape_functions::contains(CellKind::Hex8, xi, BESIDE))
            {
                all += 1;
                out += usize::from(is_beyond_a_side(&x, &y));
            }
        }
        assert!(2 * out > all, "{out} of {all}");
    }

    /// The normal and depth of every side of a brick, seen from a point inside.
    #[test]
    fn faces_of_cells_are_where_their_numbers_say() {
        let kinds = [CellKind::Bar2, CellKind::Tri3, CellKind::Quad4, CellKind::Tet4, CellKind::Hex8];
        for kind in kinds {
            let stretch = Vec3::new(2.0, 3.0, 4.0);
            let x: Vec<Vec3> =
                (0..kind.nodes()).map(|a| shape_functions::corner(kind, a).component_mul(&stretch)).collect();
            let xi = match kind {
                CellKind::Tri3 => Vec3::new(0.2, 0.3, 0.0),
                CellKind::Tet4 => Vec3::new(0.2, 0.3, 0.1),
                CellKind::Bar2 => Vec3::new(0.2, 0.0, 0.0),
                CellKind::Quad4 => Vec3::new(0.2, 0.3, 0.0),
                CellKind::Hex8 => Vec3::new(0.2, 0.3, 0.1),
                CellKind::Shell3 | CellKind::Tet10 => unreachable!("no inside, or in linear pieces"),
            };
            let y = shape_functions::position(kind, &x, xi);
            for (s, corners) in kind.sides().iter().enumerate() {
                let (on, behind) = face_points(kind, &x, xi, s);
                let n = face_normal(kind, &x, xi, s);
                assert!((n.norm() - 1.0).abs() < 1e-15);
                let depth = -n.dot(&(y - on));
                assert!(depth > 0.0 && depth < n.dot(&(on - behind)), "{kind:?} {s}");
                // all corners of the side lie in the plane of its point
                for &c in corners.iter() {
                    assert!(n.dot(&(x[c as usize] - on)).abs() < 1e-14, "{kind:?} {s}");
                }
            }
        }
    }
}
