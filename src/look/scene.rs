//! What can be seen of a frame: the skin of solids, plane cells, bars, as coloured triangles.
//!
//! Of solids the boundary is seen; plane cells and bars are seen as they are. The [`Skin`] holds what stays the
//! same while the mesh does; [`Scene::new`] adds what a frame says. Normals are averaged around a node over
//! those faces that meet within [`CREASE`], so that a sphere is smooth and a box keeps its edges.
//! Rigid cells are marked, and shown as [`super::obstacle`] says.

use super::obstacle::{Plane, Room, ended};
use super::polygon::{Corner, Cut, Line, Polygon, Triangle, between};
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::mesh::surface::{Edge, Facet, NONE, Surface};
use crate::mesh::{Cells, Mesh, Side};
use crate::output::vtu::{FrameData, name};
use rayon::prelude::*;

/// Faces that meet at a larger angle keep separate normals, and their edge is drawn strongly [degrees].
const CREASE: f64 = 38.0;

/// A piece of a bar; `ends` tells where the bar stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    pub ends: [Vec3; 2],
    pub values: [f64; 2],
    pub free: [bool; 2],
    pub rigid: bool,
}

/// The part of a mesh that can be seen, without positions.
#[derive(Clone)]
pub(crate) struct Skin {
    /// The boundary of solids, and plane cells as they are.
    surface: Surface,
    /// Index of each facet's cell among all cells of the frame.
    cell: Vec<u32>,
    /// The field `rigid`: one entry per cell, or none at all.
    rigid_cells: Vec<u8>,
    /// Facets that stand for a half space, rising.
    planes: Vec<u32>,
    /// Nodes of rigid meshes, and those of bodies: every node of a cell that is not rigid.
    pub mesh_nodes: Vec<u32>,
    pub body_nodes: Vec<u32>,
    /// Edge of each side of each facet.
    facet_edges: Vec<[u32; 4]>,
    /// Facets around each node.
    around: Lists,
    bars: Vec<([u32; 2], u32)>,
    /// Bar cells at each node.
    bar_ends: Vec<u8>,
    /// Highest dimension among the cells of bodies.
    pub dimension: usize,
}

impl Skin {
    pub(crate) fn new(frame: &FrameData) -> Skin {
        let nodes = frame.points.len();
        let mut solids = Mesh { nodes: frame.points.clone(), ..Mesh::default() };
        // First cell of each run of solids.
        let mut solid_first = Vec::new();
        let (mut sheets, mut bars) = (Vec::new(), Vec::new());
        let mut first = 0;
        for (kind, ids) in &frame.cells {
            let cells = ids.chunks_exact(kind.nodes()).zip(first..);
            match kind.dimension() {
                1 => bars.extend(cells.map(|(cell, id)| ([cell[0], cell[1]], id))),
                2 => sheets.extend(cells.map(|(cell, id)| (sheet(cell, id), id))),
                _ => {
                    solids.cells.push(Cells { kind: *kind, nodes: ids.clone() });
                    solid_first.push(first);
                }
            }
            first += (ids.len() / kind.nodes()) as u32;
        }
        let mut facets = if solids.cells.is_empty() { Vec::new() } else { Surface::of(&solids).facets };
        let mut cell: Vec<u32> =
            facets.iter().map(|f| solid_first[f.side.cells as usize] + f.side.cell).collect();
        for (facet, id) in sheets {
            facets.push(facet);
            cell.push(id);
        }
        let surface = Surface::from_facets(facets);

        let facet_edges = facet_edges(&surface);
        let corners =
            surface.facets.iter().zip(0..).flat_map(|(f, i)| f.nodes().iter().map(move |&n| (n, i)));
        let around = Lists::new(nodes, corners);
        let mut bar_ends = vec![0_u8; nodes];
        for (ends, _) in &bars {
            ends.iter().for_each(|&n| bar_ends[n as usize] = bar_ends[n as usize].saturating_add(1));
        }
        let rigid_cells = rigid_cells(frame);
        let rigid = |cell: u32| rigid_cells.get(cell as usize).copied().unwrap_or(0);
        let planes: Vec<u32> = (0..surface.facets.len())
            .filter(|&i| rigid(cell[i]) == 2 && surface.facets[i].count == 4)
            .map(|i| i as u32)
            .collect();
        let (body_nodes, mesh_nodes, dimension) = nodes_of_kinds(frame, &rigid_cells, &surface, &planes);
        Skin {
            surface,
            cell,
            rigid_cells,
            planes,
            mesh_nodes,
            body_nodes,
            facet_edges,
            around,
            bars,
            bar_ends,
            dimension,
        }
    }

    /// Faces, each with its cell.
    pub(crate) fn faces(&self) -> impl Iterator<Item = (&Facet, u32)> {
        self.surface.facets.iter().zip(self.cell.iter().copied())
    }

    /// Edges of faces, each with the cell of one of them.
    pub(crate) fn face_edges(&self) -> impl Iterator<Item = ([u32; 2], u32)> {
        self.surface.edges.iter().map(|e| (e.nodes, self.cell[e.facets[0] as usize]))
    }

    /// Bars, each with its cell.
    pub(crate) fn bars(&self) -> impl Iterator<Item = ([u32; 2], u32)> {
        self.bars.iter().copied()
    }

    pub(crate) fn is_rigid(&self, cell: u32) -> bool {
        self.rigid_cells.get(cell as usize).is_some_and(|&r| r > 0)
    }

    /// Values of the cells that are not rigid.
    pub(crate) fn of_bodies<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        (0..).zip(values).filter(|(cell, _)| !self.is_rigid(*cell)).map(|(_, &v)| v)
    }

    /// The node of a body with the value that is largest in size, on the kept side of a cut.
    pub(crate) fn largest(&self, values: &[f64], points: &[Vec3], cut: Option<&Cut>) -> Option<u32> {
        let size = |n: &u32| values[*n as usize].abs();
        let kept = |n: &u32| cut.is_none_or(|c| c.normal.dot(&points[*n as usize]) <= c.offset);
        let finite = self.body_nodes.iter().copied().filter(|n| size(n).is_finite() && kept(n));
        finite.max_by(|a, b| size(a).total_cmp(&size(b)))
    }

    /// The planes where they stand.
    pub(crate) fn planes(&self, points: &[Vec3]) -> Vec<Plane> {
        let corners = |&i: &u32| self.surface.facets[i as usize].nodes.map(|n| points[n as usize]);
        self.planes.iter().map(|i| Plane::new(corners(i), self.dimension)).collect()
    }

    /// Unit normals of all faces.
    fn normals(&self, points: &[Vec3]) -> Vec<Vec3> {
        self.surface
            .facets
            .iter()
            .map(|f| area_normal(f, points).try_normalize(0.0).unwrap_or_else(Vec3::z))
            .collect()
    }

    /// Rims, creases and, seen along `towards`, contours of smooth bodies; rigid ones do not deform.
    pub(crate) fn outline(&self, points: &[Vec3], towards: Vec3) -> Vec<[Vec3; 2]> {
        let normals = self.normals(points);
        let crease = CREASE.to_radians().cos();
        let mut lines: Vec<[Vec3; 2]> = self
            .surface
            .edges
            .iter()
            .filter(|e| {
                let [a, b] = e.facets;
                if self.is_rigid(self.cell[a as usize]) {
                    return false;
                }
                if b == NONE {
                    return true;
                }
                let (a, b) = (normals[a as usize], normals[b as usize]);
                a.dot(&b) < crease || a.dot(&towards) * b.dot(&towards) < 0.0
            })
            .map(|e| e.nodes.map(|n| points[n as usize]))
            .collect();
        let bars = self.bars.iter().filter(|(_, cell)| !self.is_rigid(*cell));
        lines.extend(bars.map(|(ends, _)| ends.map(|n| points[n as usize])));
        lines
    }
}

/// Edge of each side of each facet.
fn facet_edges(surface: &Surface) -> Vec<[u32; 4]> {
    let mut facet_edges = vec![[0; 4]; surface.facets.len()];
    for (e, edge) in surface.edges.iter().enumerate() {
        for &f in edge.facets.iter().filter(|&&f| f != NONE) {
            let nodes = surface.facets[f as usize].nodes();
            for k in 0..nodes.len() {
                let (a, b) = (nodes[k], nodes[(k + 1) % nodes.len()]);
                if edge.nodes == [a.min(b), a.max(b)] {
                    facet_edges[f as usize][k] = e as u32;
                }
            }
        }
    }
    facet_edges
}

/// Nodes of bodies, nodes of rigid meshes, and the highest dimension among the cells of bodies.
fn nodes_of_kinds(
    frame: &FrameData,
    rigid_cells: &[u8],
    surface: &Surface,
    planes: &[u32],
) -> (Vec<u32>, Vec<u32>, usize) {
    let nodes = frame.points.len();
    let rigid = |cell: u32| rigid_cells.get(cell as usize).copied().unwrap_or(0);
    let (mut of_body, mut of_mesh, mut dimension) = (vec![false; nodes], vec![false; nodes], 0);
    let mut first = 0;
    for (kind, ids) in &frame.cells {
        for (nodes, id) in ids.chunks_exact(kind.nodes()).zip(first..) {
            let to = if rigid(id) > 0 { &mut of_mesh } else { &mut of_body };
            nodes.iter().for_each(|&n| to[n as usize] = true);
            if rigid(id) == 0 {
                dimension = dimension.max(kind.dimension());
            }
        }
        first += (ids.len() / kind.nodes()) as u32;
    }
    for &i in planes {
        surface.facets[i as usize].nodes().iter().for_each(|&n| of_mesh[n as usize] = false);
    }
    let list = |of: Vec<bool>| (0..nodes as u32).filter(|&n| of[n as usize]).collect();
    (list(of_body), list(of_mesh), dimension)
}

/// Which cells are rigid; empty if the frame does not say, or if there is nothing else to see.
fn rigid_cells(frame: &FrameData) -> Vec<u8> {
    let Some(field) = frame.cell_field(name::RIGID).filter(|f| f.components == 1) else { return Vec::new() };
    let rigid: Vec<u8> = field.values.iter().map(|&v| v as u8).collect();
    if rigid.contains(&0) { rigid } else { Vec::new() }
}

/// A plane cell seen as a facet.
fn sheet(cell: &[u32], id: u32) -> Facet {
    let mut nodes = [NONE; 4];
    nodes[..cell.len()].copy_from_slice(cell);
    Facet { nodes, count: cell.len() as u8, side: Side { cells: NONE, cell: id, side: 0 } }
}

/// Normal of a face, as long as twice its area.
fn area_normal(f: &Facet, x: &[Vec3]) -> Vec3 {
    let p = |k: usize| x[f.nodes[k] as usize];
    if f.count == 4 { (p(2) - p(0)).cross(&(p(3) - p(1))) } else { (p(1) - p(0)).cross(&(p(2) - p(0))) }
}

/// What gives a surface its colour: a number at every node, or one for every cell.
pub(crate) enum Shown {
    Nodes(Vec<f64>),
    Cells(Vec<f64>),
}

impl Shown {
    fn at(&self, node: u32, cell: u32) -> f64 {
        match self {
            Shown::Nodes(v) => v[node as usize],
            Shown::Cells(v) => v[cell as usize],
        }
    }
}

/// A frame ready for the camera.
pub(crate) struct Scene {
    pub triangles: Vec<Triangle>,
    pub strips: Vec<Strip>,
    /// Rims of rigid faces that are left out.
    pub rims: Vec<[Vec3; 2]>,
}

/// What all faces of a frame are drawn with.
struct Faces<'a> {
    skin: &'a Skin,
    x: &'a [Vec3],
    shown: &'a Shown,
    cut: Option<&'a Cut>,
    room: &'a Room,
    /// Normals of all faces, as long as twice their areas, and of length one.
    areas: Vec<Vec3>,
    normals: Vec<Vec3>,
    planes: Vec<Plane>,
}

impl Scene {
    pub(crate) fn new(
        skin: &Skin,
        frame: &FrameData,
        shown: &Shown,
        cut: Option<&Cut>,
        room: &Room,
    ) -> Scene {
        let x = &frame.points;
        let areas: Vec<Vec3> = skin.surface.facets.iter().map(|f| area_normal(f, x)).collect();
        let normals: Vec<Vec3> = areas.iter().map(|a| a.try_normalize(0.0).unwrap_or_else(Vec3::z)).collect();
        let faces = Faces { skin, x, shown, cut, room, areas, normals, planes: skin.planes(x) };
        let lines = faces.lines();
        let count = skin.surface.facets.len();
        let mut triangles: Vec<Triangle> =
            (0..count).into_par_iter().flat_map_iter(|i| faces.triangles(i, &lines)).collect();
        let rims = (0..count).filter(|&i| faces.left_out(i)).flat_map(|i| faces.rim(i)).collect();
        let mut strips = strips(skin, x, shown);
        strips.retain(|s| !s.rigid || s.ends.iter().all(|p| room.holds(p)));
        if let Some(cut) = cut {
            triangles.extend(caps(skin, frame, shown, cut));
            strips.retain_mut(|s| clip_strip(s, cut));
        }
        Scene { triangles, strips, rims }
    }
}

impl Faces<'_> {
    /// How every edge is drawn.
    fn lines(&self) -> Vec<Line> {
        let (crease, facets) = (CREASE.to_radians().cos(), &self.skin.surface.facets);
        let line = |e: &Edge| match e.facets {
            [_, NONE] => Line::Feature,
            [a, b] if self.normals[a as usize].dot(&self.normals[b as usize]) < crease => Line::Feature,
            // inside a side of a quadratic cell
            [a, b] if facets[a as usize].side == facets[b as usize].side => Line::None,
            _ => Line::Element,
        };
        self.skin.surface.edges.iter().map(line).collect()
    }

    fn plane(&self, i: usize) -> Option<usize> {
        self.skin.planes.binary_search(&(i as u32)).ok()
    }

    /// Where a corner is. A plane goes on beyond what was drawn of it.
    fn place(&self, i: usize, k: usize) -> Vec3 {
        match self.plane(i) {
            Some(own) => self.planes[own].corners[k],
            None => self.x[self.skin.surface.facets[i].nodes[k] as usize],
        }
    }

    /// The part of a rigid face that is in the room and on the right side of other planes.
    fn seen(&self, i: usize, polygon: Polygon) -> Polygon {
        let polygon = self.room.trimmed(polygon);
        match self.plane(i) {
            Some(own) => ended(polygon, own, &self.planes),
            None => polygon,
        }
    }

    /// A rigid face that would stand between the viewer and the bodies.
    fn left_out(&self, i: usize) -> bool {
        let skin = self.skin;
        skin.dimension == 3 && skin.is_rigid(skin.cell[i]) && self.room.sees_back(&self.normals[i])
    }

    fn kept(&self, polygon: Polygon) -> Polygon {
        match self.cut {
            Some(cut) => polygon.clipped(cut),
            None => polygon,
        }
    }

    fn triangles(&self, i: usize, lines: &[Line]) -> Vec<Triangle> {
        if self.left_out(i) {
            return Vec::new();
        }
        let skin = self.skin;
        let crease = CREASE.to_radians().cos();
        let facet = &skin.surface.facets[i];
        let corner = |k: usize| {
            let n = facet.nodes[k];
            let alike = |g: &&u32| self.normals[**g as usize].dot(&self.normals[i]) > crease;
            let sum: Vec3 = skin.around.of(n).iter().filter(alike).map(|&g| self.areas[g as usize]).sum();
            Corner {
                at: self.place(i, k),
                normal: sum.try_normalize(0.0).unwrap_or(self.normals[i]),
                value: self.shown.at(n, skin.cell[i]),
            }
        };
        let mut polygon = Polygon::default();
        for k in 0..facet.count as usize {
            polygon.push(corner(k), lines[skin.facet_edges[i][k] as usize]);
        }
        let rigid = skin.is_rigid(skin.cell[i]);
        if rigid {
            polygon = self.seen(i, polygon);
        }
        self.kept(polygon).triangles(rigid)
    }

    /// What is drawn of a face that is left out: where it ends.
    fn rim(&self, i: usize) -> Vec<[Vec3; 2]> {
        let surface = &self.skin.surface;
        let mut polygon = Polygon::default();
        for k in 0..surface.facets[i].nodes().len() {
            let [_, beyond] = surface.edges[self.skin.facet_edges[i][k] as usize].facets;
            let corner = Corner { at: self.place(i, k), normal: self.normals[i], value: 0.0 };
            polygon.push(corner, if beyond == NONE { Line::Feature } else { Line::None });
        }
        self.kept(self.seen(i, polygon)).features().collect()
    }
}

fn strips(skin: &Skin, x: &[Vec3], shown: &Shown) -> Vec<Strip> {
    skin.bars
        .iter()
        .map(|&(ends, cell)| Strip {
            ends: ends.map(|n| x[n as usize]),
            values: ends.map(|n| shown.at(n, cell)),
            free: ends.map(|n| skin.bar_ends[n as usize] == 1),
            rigid: skin.is_rigid(cell),
        })
        .collect()
}

/// Shortens a strip to the kept side; false when nothing is left.
fn clip_strip(s: &mut Strip, cut: &Cut) -> bool {
    let d = s.ends.map(|p| cut.normal.dot(&p) - cut.offset);
    if d[0] > 0.0 && d[1] > 0.0 {
        return false;
    }
    if d[0] * d[1] < 0.0 {
        let t = d[0] / (d[0] - d[1]);
        let at = s.ends[0] + t * (s.ends[1] - s.ends[0]);
        let value = s.values[0] + t * (s.values[1] - s.values[0]);
        let gone = usize::from(d[1] > 0.0);
        (s.ends[gone], s.values[gone], s.free[gone]) = (at, value, true);
    }
    true
}

/// The cut through solid cells: the points where the plane meets a cell's edges, ordered around their middle.
fn caps(skin: &Skin, frame: &FrameData, shown: &Shown, cut: &Cut) -> Vec<Triangle> {
    let side = Vec3::x() - cut.normal * cut.normal.x;
    let other = Vec3::y() - cut.normal * cut.normal.y;
    let e1 = if side.norm() > other.norm() { side.normalize() } else { other.normalize() };
    let e2 = cut.normal.cross(&e1);
    let mut triangles = Vec::new();
    let mut first = 0;
    for (kind, ids) in &frame.cells {
        if kind.dimension() == 3 {
            let mut sides: Vec<[u8; 2]> = Vec::new();
            for s in kind.sides() {
                for k in 0..s.len() {
                    let (a, b) = (s[k], s[(k + 1) % s.len()]);
                    if a < b {
                        sides.push([a, b]);
                    }
                }
            }
            let cut_cells: Vec<Triangle> = ids
                .par_chunks_exact(kind.nodes())
                .enumerate()
                .flat_map_iter(|(i, cell)| {
                    let cell_id = first + i as u32;
                    let d = |k: u8| cut.normal.dot(&frame.points[cell[k as usize] as usize]) - cut.offset;
                    let mut ring: Vec<Corner> = Vec::new();
                    for &[a, b] in &sides {
                        let (da, db) = (d(a), d(b));
                        if (da <= 0.0) != (db <= 0.0) {
                            let corner = |k: u8| Corner {
                                at: frame.points[cell[k as usize] as usize],
                                normal: cut.normal,
                                value: shown.at(cell[k as usize], cell_id),
                            };
                            ring.push(between(&corner(a), &corner(b), da / (da - db)));
                        }
                    }
                    let middle: Vec3 = ring.iter().map(|c| c.at).sum::<Vec3>() / ring.len().max(1) as f64;
                    let angle = |c: &Corner| (c.at - middle).dot(&e2).atan2((c.at - middle).dot(&e1));
                    ring.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
                    Polygon { corners: ring.into_iter().map(|c| (c, Line::Element)).collect() }
                        .triangles(skin.is_rigid(cell_id))
                })
                .collect();
            triangles.extend(cut_cells);
        }
        first += (ids.len() / kind.nodes()) as u32;
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::CellKind;

    /// Two unit cubes side by side along x.
    fn two_hexes() -> FrameData {
        let mut points = Vec::new();
        for k in 0..2 {
            for j in 0..2 {
                for i in 0..3 {
                    points.push(Vec3::new(i as f64, j as f64, k as f64));
                }
            }
        }
        let hex = |i: u32| [0, 1, 4, 3, 6, 7, 10, 9].map(|n| n + i);
        let cells = vec![(CellKind::Hex8, [hex(0), hex(1)].concat())];
        FrameData { points, cells, ..FrameData::default() }
    }

    fn area(triangles: &[Triangle]) -> f64 {
        let of = |t: &Triangle| {
            let [a, b, c] = t.corners.map(|c| c.at);
            0.5 * (b - a).cross(&(c - a)).norm()
        };
        triangles.iter().map(of).sum()
    }

    #[test]
    fn the_skin_of_two_cubes_has_ten_faces_sharp_corners_and_eight_sides() {
        let (frame, room) = (two_hexes(), Room::endless(Vec3::z()));
        let skin = Skin::new(&frame);
        assert_eq!(skin.surface.facets.len(), 10);
        let scene = Scene::new(&skin, &frame, &Shown::Nodes(vec![0.0; 12]), None, &room);
        assert_eq!(scene.triangles.len(), 20);
        assert!((area(&scene.triangles) - 10.0).abs() < 1e-14);
        // Every normal is along an axis and points away from the middle of the box.
        for t in &scene.triangles {
            for c in t.corners {
                assert!((c.normal.abs().max() - 1.0).abs() < 1e-15);
                assert!(c.normal.dot(&(c.at - Vec3::new(1.0, 0.5, 0.5))) > 0.0);
            }
        }
        assert_eq!(skin.outline(&frame.points, Vec3::z()).len(), 8 + 4 + 4);
    }

    /// The kept half of the box is closed again: 2 · (0.5 · 1 + 0.5 · 1 + 1 · 1) = 4.
    #[test]
    fn a_cut_body_is_closed_by_its_cap() {
        let (frame, room) = (two_hexes(), Room::endless(Vec3::z()));
        let skin = Skin::new(&frame);
        let shown = Shown::Nodes(frame.points.iter().map(|p| p.x).collect());
        let cut: Cut = "x=0.5".parse().unwrap();
        let scene = Scene::new(&skin, &frame, &shown, Some(&cut), &room);
        assert!((area(&scene.triangles) - 4.0).abs() < 1e-14, "{}", area(&scene.triangles));
        for t in &scene.triangles {
            for c in t.corners {
                assert!(c.at.x <= 0.5 + 1e-15 && (c.value - c.at.x).abs() < 1e-15);
            }
        }
        let oblique: Cut = "1,1,1=1.2".parse().unwrap();
        let scene = Scene::new(&skin, &frame, &shown, Some(&oblique), &room);
        // Gauss: the flux of a constant field through a closed surface is zero.
        let flux: Vec3 = scene
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.corners.map(|c| c.at);
                let n = (b - a).cross(&(c - a)) / 2.0;
                n * n.dot(&t.corners[0].normal).signum()
            })
            .sum();
        assert!(flux.norm() < 1e-13, "{flux}");
    }

    #[test]
    fn cuts_are_read_and_refused() {
        let cut: Cut = "0,3,0=6".parse().unwrap();
        assert_eq!((cut.normal, cut.offset), (Vec3::y(), 2.0));
        for bad in ["x", "x=", "0,0,0=1", "1,2=3", "w=1", "x=nan"] {
            assert!(bad.parse::<Cut>().is_err(), "{bad}");
        }
    }
}
