//! What can be seen of a frame: the skin of solids, plane cells, bars, as coloured triangles.
//!
//! Of solids the boundary is seen; plane cells and bars are seen as they are. The [`Skin`] holds what stays the
//! same while the mesh does; [`Scene::new`] adds what a frame says. Normals are averaged around a node over
//! those faces that meet within [`CREASE`], so that a sphere is smooth and a box keeps its edges.
//! Rigid cells are marked, and shown as [`super::obstacle`] says.

use super::obstacle::{Plane, Room, ended};
use crate::math::Vec3;
use crate::math::lists::Lists;
use crate::mesh::surface::{Facet, NONE, Surface};
use crate::mesh::{Cells, Mesh, Side};
use crate::output::vtu::{FrameData, name};
use rayon::prelude::*;

/// Faces that meet at a larger angle keep separate normals, and their edge is drawn strongly [degrees].
const CREASE: f64 = 38.0;

/// How an edge of a triangle is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Inside a face.
    None,
    /// Between two elements.
    Element,
    /// A rim or a crease.
    Feature,
}

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    pub at: Vec3,
    pub normal: Vec3,
    /// The number that becomes a colour.
    pub value: f64,
}

/// A triangle; `lines[i]` is the edge from corner i to the next.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    pub corners: [Corner; 3],
    pub lines: [Line; 3],
    pub rigid: bool,
}

/// A piece of a bar; `ends` tells where the bar stops.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    pub ends: [Vec3; 2],
    pub values: [f64; 2],
    pub free: [bool; 2],
    pub rigid: bool,
}

/// The half-space that is kept: `normal · x ≤ offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    pub normal: Vec3,
    pub offset: f64,
}

impl std::str::FromStr for Cut {
    type Err = String;

    /// `x=0.5` keeps x ≤ 0.5, `-x=-0.5` keeps x ≥ 0.5; `1,1,0=0.7` takes any normal.
    fn from_str(text: &str) -> Result<Cut, String> {
        let wrong = || format!("cut `{text}` is not like x=0.5, -x=-0.5 or 1,1,0=0.7");
        let (normal, offset) = text.split_once('=').ok_or_else(wrong)?;
        let offset: f64 = offset.trim().parse().map_err(|_| wrong())?;
        let normal = match normal.trim() {
            "x" => Vec3::x(),
            "y" => Vec3::y(),
            "z" => Vec3::z(),
            "-x" => -Vec3::x(),
            "-y" => -Vec3::y(),
            "-z" => -Vec3::z(),
            other => {
                let parts: Vec<f64> = other
                    .split(',')
                    .map(|p| p.trim().parse())
                    .collect::<Result<_, _>>()
                    .map_err(|_| wrong())?;
                if parts.len() != 3 {
                    return Err(wrong());
                }
                Vec3::from_column_slice(&parts)
            }
        };
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite() && offset.is_finite()) {
            return Err(wrong());
        }
        Ok(Cut { normal: normal / length, offset: offset / length })
    }
}

/// The part of a mesh that can be seen, without positions.
#[derive(Clone)]
pub struct Skin {
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
    pub fn new(frame: &FrameData) -> Skin {
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
        for &i in &planes {
            surface.facets[i as usize].nodes().iter().for_each(|&n| of_mesh[n as usize] = false);
        }
        let list = |of: Vec<bool>| (0..nodes as u32).filter(|&n| of[n as usize]).collect();
        let (body_nodes, mesh_nodes) = (list(of_body), list(of_mesh));
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

    fn is_rigid(&self, cell: u32) -> bool {
        self.rigid_cells.get(cell as usize).is_some_and(|&r| r > 0)
    }

    /// Values of the cells that are not rigid.
    pub fn of_bodies<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        (0..).zip(values).filter(|(cell, _)| !self.is_rigid(*cell)).map(|(_, &v)| v)
    }

    /// The planes where they stand.
    pub fn planes(&self, points: &[Vec3]) -> Vec<Plane> {
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
    pub fn outline(&self, points: &[Vec3], towards: Vec3) -> Vec<[Vec3; 2]> {
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
pub enum Shown {
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
pub struct Scene {
    pub triangles: Vec<Triangle>,
    pub strips: Vec<Strip>,
    /// Rims of rigid faces that are left out.
    pub rims: Vec<[Vec3; 2]>,
}

impl Scene {
    pub fn new(skin: &Skin, frame: &FrameData, shown: &Shown, cut: Option<&Cut>, room: &Room) -> Scene {
        let x = &frame.points;
        let areas: Vec<Vec3> = skin.surface.facets.iter().map(|f| area_normal(f, x)).collect();
        let normals: Vec<Vec3> = areas.iter().map(|a| a.try_normalize(0.0).unwrap_or_else(Vec3::z)).collect();
        let crease = CREASE.to_radians().cos();
        let lines: Vec<Line> = skin
            .surface
            .edges
            .iter()
            .map(|e| match e.facets {
                [_, NONE] => Line::Feature,
                [a, b] if normals[a as usize].dot(&normals[b as usize]) < crease => Line::Feature,
                // inside a side of a quadratic cell
                [a, b] if skin.surface.facets[a as usize].side == skin.surface.facets[b as usize].side => {
                    Line::None
                }
                _ => Line::Element,
            })
            .collect();
        let planes = skin.planes(x);
        let plane = |i: usize| skin.planes.binary_search(&(i as u32)).ok();
        // A plane goes on beyond what was drawn of it.
        let place = |i: usize, k: usize| match plane(i) {
            Some(own) => planes[own].corners[k],
            None => x[skin.surface.facets[i].nodes[k] as usize],
        };
        // The part of a rigid face that is in the room and on the right side of other planes.
        let seen = |i: usize, polygon: Polygon| {
            let polygon = room.trimmed(polygon);
            match plane(i) {
                Some(own) => ended(polygon, own, &planes),
                None => polygon,
            }
        };
        let left_out =
            |i: usize| skin.dimension == 3 && skin.is_rigid(skin.cell[i]) && room.sees_back(&normals[i]);

        let mut triangles: Vec<Triangle> = skin
            .surface
            .facets
            .par_iter()
            .enumerate()
            .flat_map_iter(|(i, f)| {
                if left_out(i) {
                    return Vec::new();
                }
                let corner = |k: usize| {
                    let n = f.nodes[k];
                    let sum: Vec3 = skin
                        .around
                        .of(n)
                        .iter()
                        .filter(|&&g| normals[g as usize].dot(&normals[i]) > crease)
                        .map(|&g| areas[g as usize])
                        .sum();
                    Corner {
                        at: place(i, k),
                        normal: sum.try_normalize(0.0).unwrap_or(normals[i]),
                        value: shown.at(n, skin.cell[i]),
                    }
                };
                let count = f.count as usize;
                let mut polygon = Polygon::default();
                for k in 0..count {
                    polygon.push(corner(k), lines[skin.facet_edges[i][k] as usize]);
                }
                let rigid = skin.is_rigid(skin.cell[i]);
                if rigid {
                    polygon = seen(i, polygon);
                }
                if let Some(cut) = cut {
                    polygon = polygon.clipped(cut);
                }
                polygon.triangles(rigid)
            })
            .collect();
        let mut rims = Vec::new();
        for i in (0..skin.surface.facets.len()).filter(|&i| left_out(i)) {
            let mut polygon = Polygon::default();
            for k in 0..skin.surface.facets[i].nodes().len() {
                let [_, beyond] = skin.surface.edges[skin.facet_edges[i][k] as usize].facets;
                let corner = Corner { at: place(i, k), normal: normals[i], value: 0.0 };
                polygon.push(corner, if beyond == NONE { Line::Feature } else { Line::None });
            }
            polygon = seen(i, polygon);
            if let Some(cut) = cut {
                polygon = polygon.clipped(cut);
            }
            rims.extend(polygon.features());
        }
        let mut strips = strips(skin, x, shown);
        strips.retain(|s| !s.rigid || s.ends.iter().all(|p| room.holds(p)));
        if let Some(cut) = cut {
            triangles.extend(caps(skin, frame, shown, cut));
            strips.retain_mut(|s| clip_strip(s, cut));
        }
        Scene { triangles, strips, rims }
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

/// A convex polygon; the line of a corner leads to the next.
#[derive(Default)]
pub struct Polygon {
    corners: Vec<(Corner, Line)>,
}

impl Polygon {
    /// With the same line all around; values do not matter.
    pub fn flat(points: &[Vec3], line: Line) -> Polygon {
        let corner = |&at: &Vec3| (Corner { at, normal: Vec3::z(), value: 0.0 }, line);
        Polygon { corners: points.iter().map(corner).collect() }
    }

    fn push(&mut self, corner: Corner, line: Line) {
        self.corners.push((corner, line));
    }

    pub fn points(&self) -> impl Iterator<Item = Vec3> {
        self.corners.iter().map(|(c, _)| c.at)
    }

    /// Its sides that are rims or creases.
    fn features(&self) -> impl Iterator<Item = [Vec3; 2]> {
        let n = self.corners.len();
        let side = move |k: usize| [self.corners[k].0.at, self.corners[(k + 1) % n].0.at];
        (0..n).filter(|&k| self.corners[k].1 == Line::Feature).map(side)
    }

    /// The part on the kept side; the new side is a feature.
    pub fn clipped(self, cut: &Cut) -> Polygon {
        let distance = |c: &Corner| cut.normal.dot(&c.at) - cut.offset;
        let mut out = Polygon::default();
        let n = self.corners.len();
        for k in 0..n {
            let (a, line) = self.corners[k];
            let (b, _) = self.corners[(k + 1) % n];
            let (da, db) = (distance(&a), distance(&b));
            if da <= 0.0 {
                out.push(a, line);
            }
            if da * db < 0.0 {
                // Leaving: the cut begins here. Entering: the old side goes on.
                out.push(between(&a, &b, da / (da - db)), if da < 0.0 { Line::Feature } else { line });
            }
        }
        out
    }

    /// Quads along the shorter diagonal, larger ones as a fan.
    fn triangles(self, rigid: bool) -> Vec<Triangle> {
        let c = &self.corners;
        let n = c.len();
        if n < 3 {
            return Vec::new();
        }
        let turn = usize::from(
            n == 4 && (c[2].0.at - c[0].0.at).norm_squared() > (c[3].0.at - c[1].0.at).norm_squared(),
        );
        let at = |k: usize| c[(k + turn) % n];
        (1..n - 1)
            .map(|k| Triangle {
                corners: [at(0).0, at(k).0, at(k + 1).0],
                lines: [
                    if k == 1 { at(0).1 } else { Line::None },
                    at(k).1,
                    if k + 2 == n { at(n - 1).1 } else { Line::None },
                ],
                rigid,
            })
            .collect()
    }
}

fn between(a: &Corner, b: &Corner, t: f64) -> Corner {
    Corner {
        at: a.at + t * (b.at - a.at),
        normal: (a.normal + t * (b.normal - a.normal)).try_normalize(0.0).unwrap_or(a.normal),
        value: a.value + t * (b.value - a.value),
    }
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
