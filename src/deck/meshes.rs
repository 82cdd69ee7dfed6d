//! From a mesh as a deck says it to a [`Mesh`], fit for mechanics.

use super::spec::*;
use crate::math::Vec3;
use crate::mesh::place::{Pivot, Placement, Rotation};
use crate::mesh::shape::{self, End, Grading};
use crate::mesh::{CellKind, Cells, Mesh, MeshError, Side, gmsh};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a body has no mesh.
#[derive(Debug)]
pub enum Trouble {
    Mesh(MeshError),
    /// The file is not the one that the deck was resolved with.
    Changed {
        was: String,
        is: String,
    },
}

impl From<MeshError> for Trouble {
    fn from(error: MeshError) -> Self {
        Trouble::Mesh(error)
    }
}

/// Builds or reads the mesh and puts it in its place; whether it is fit for what it is to be is not checked here. `folder`
/// is where paths begin; the hash of a file is noted in `spec`.
pub fn build(spec: &mut MeshSpec, folder: &Path) -> Result<Mesh, Trouble> {
    let (mut mesh, at, rotate) = match spec {
        MeshSpec::Shape(shape) => {
            let (at, rotate) = placement(shape);
            (generate(shape)?, at, rotate)
        }
        MeshSpec::File(file) => {
            let (mesh, hash) = read(&folder.join(&file.file))?;
            match &file.hash {
                Some(was) if *was != hash => {
                    return Err(Trouble::Changed { was: was.clone(), is: hash });
                }
                _ => file.hash = Some(hash),
            }
            (mesh, file.at, file.rotate)
        }
    };
    let rotation = rotate.map(|r| Rotation {
        axis: Vec3::from(r.axis),
        angle: r.angle.to_radians(),
        about: match r.about {
            RotateAbout::Word(RotateWord::Centre) => Pivot::Centre,
            RotateAbout::Word(RotateWord::At) => Pivot::At,
            RotateAbout::Point(p) => Pivot::Point(Vec3::from(p)),
        },
    });
    mesh.place(&Placement { at: Vec3::from(at), rotation })?;
    Ok(mesh)
}

fn read(path: &Path) -> Result<(Mesh, String), MeshError> {
    let unreadable = |source| MeshError::Unreadable { path: path.to_owned(), source };
    // A folder or device would fail later with a less helpful message, or never end.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::other("it is not a file")));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let mesh = gmsh::parse(&bytes)
        .map_err(|e| MeshError::InFile { path: PathBuf::from(path), error: Box::new(e) })?;
    Ok((mesh, format!("crc32:{:08x}", crc32fast::hash(&bytes))))
}

fn grading(spec: &GradingSpec) -> Grading {
    match *spec {
        GradingSpec::Ratio(ratio) => Grading::Geometric(ratio),
        GradingSpec::Quadratic(Quadratic { slope, fine }) => {
            let fine = if fine == FineEnd::Min { End::Min } else { End::Max };
            Grading::Quadratic { slope, fine }
        }
    }
}

fn plane(cell: PlaneCell) -> CellKind {
    if cell == PlaneCell::Quad4 { CellKind::Quad4 } else { CellKind::Tri3 }
}

fn solid(cell: SolidCell) -> CellKind {
    if cell == SolidCell::Hex8 { CellKind::Hex8 } else { CellKind::Tet4 }
}

fn generate(spec: &Shape) -> Result<Mesh, MeshError> {
    match *spec {
        Shape::Bar { length, cells, grading: ref g, .. } => {
            shape::Bar { length, cells, grading: grading(g) }.build()
        }
        Shape::Rectangle { size, cells, cell, grading: ref g, .. } => {
            let grading = [grading(&g[0]), grading(&g[1])];
            shape::Rectangle { size, cells, grading, cell: plane(cell) }.build()
        }
        Shape::Box { size, cells, cell, grading: ref g, .. } => {
            let grading = [grading(&g[0]), grading(&g[1]), grading(&g[2])];
            shape::Box { size, cells, grading, cell: solid(cell) }.build()
        }
        Shape::Ring { inner, outer, around, radial, cell, grading: ref g, .. } => {
            let (grading, cell) = (grading(g), plane(cell));
            shape::Ring { inner, outer, around, radial, grading, cell }.build()
        }
        Shape::Disc { radius, core_cells, layers, core, cell, .. } => {
            shape::Disc { radius, core_cells, layers, core, cell: plane(cell) }.build()
        }
        Shape::Cylinder {
            radius,
            height,
            core_cells,
            layers,
            axial_cells,
            core,
            cell,
            grading: ref g,
            ..
        } => {
            let (grading, cell) = (grading(g), solid(cell));
            shape::Cylinder { radius, height, core_cells, layers, core, axial_cells, grading, cell }.build()
        }
        Shape::Sphere { radius, core_cells, layers, core, cell, .. } => {
            shape::Sphere { radius, core_cells, layers, core, cell: solid(cell) }.build()
        }
    }
}

fn placement(spec: &Shape) -> ([f64; 3], Option<Rotate>) {
    match *spec {
        Shape::Bar { at, rotate, .. }
        | Shape::Rectangle { at, rotate, .. }
        | Shape::Box { at, rotate, .. }
        | Shape::Ring { at, rotate, .. }
        | Shape::Disc { at, rotate, .. }
        | Shape::Cylinder { at, rotate, .. }
        | Shape::Sphere { at, rotate, .. } => (at, rotate),
    }
}

/// Sorts the cells so that each entry of `mesh.cells` has one material: `owner` says which, for every cell of every
/// entry. Returns the material of each new entry. Cells keep their order; sets follow.
pub fn split(mesh: &mut Mesh, owner: &[Vec<usize>]) -> Vec<usize> {
    let old = std::mem::take(&mut mesh.cells);
    let mut material_of = Vec::new();
    let mut moved: Vec<Vec<(u32, u32)>> = Vec::new();
    for (cells, owner) in old.iter().zip(owner) {
        let mut entry: BTreeMap<usize, usize> = BTreeMap::new();
        let mut moved_here = Vec::with_capacity(owner.len());
        for (i, &material) in owner.iter().enumerate() {
            let at = *entry.entry(material).or_insert_with(|| {
                mesh.cells.push(Cells { kind: cells.kind, nodes: Vec::new() });
                material_of.push(material);
                mesh.cells.len() - 1
            });
            moved_here.push((at as u32, mesh.cells[at].len() as u32));
            mesh.cells[at].nodes.extend_from_slice(cells.cell(i));
        }
        moved.push(moved_here);
    }
    let to = |cells: u32, cell: u32| moved[cells as usize][cell as usize];
    for sides in mesh.side_sets.values_mut() {
        for side in sides.iter_mut() {
            let (cells, cell) = to(side.cells, side.cell);
            *side = Side { cells, cell, side: side.side };
        }
        sides.sort_unstable();
    }
    for set in mesh.cell_sets.values_mut() {
        for cell in set.iter_mut() {
            *cell = to(cell.0, cell.1);
        }
        set.sort_unstable();
    }
    material_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_sorted_by_material_keep_their_corners_and_their_sets() {
        let mut mesh = shape::Box::new([3.0, 2.0, 1.0], [3, 2, 1]).build().unwrap();
        let whole = mesh.clone();
        mesh.cell_sets.insert("odd".into(), vec![(0, 1), (0, 3), (0, 5)]);
        let owner = vec![(0..6).map(|i| i % 2).collect()];
        assert_eq!(split(&mut mesh, &owner), [0, 1]);
        assert_eq!((mesh.cells[0].len(), mesh.cells[1].len()), (3, 3));
        assert_eq!(mesh.cells[1].cell(2), whole.cells[0].cell(5));
        assert_eq!(mesh.cell_sets["odd"], [(1, 0), (1, 1), (1, 2)]);
        for (name, sides) in &whole.side_sets {
            let corners = |mesh: &Mesh, sides: &[Side]| {
                let mut all: Vec<Vec<u32>> = sides.iter().map(|&s| mesh.side_nodes(s).collect()).collect();
                all.sort();
                all
            };
            assert_eq!(corners(&whole, sides), corners(&mesh, &mesh.side_sets[name]));
        }
        mesh.check().unwrap();
    }
}
