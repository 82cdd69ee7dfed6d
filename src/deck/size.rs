//! How much memory a deck asks for, before anything large is built: counts of nodes and cells follow from the keys of shapes.
//!
//! ```text
//! bytes = bodies·BODY + nodes·NODE + cells·cell + facets·facet + facets²·pair (where anybody can be touched)
//!         + n·row + n^{4/3}·fill (implicit, n unknowns in space)
//! ```
//!
//! The factors are what runs of boxes of 27 000 to 125 000 cells took per piece (`peak_rss_bytes` of their summaries), output
//! included, of 40 000 boxes of one cell each, and of a thousand cubes of 27 cells that stand on each other; the last is the fill of
//! factors in the order of nested dissection. A second look is taken when the meshes are there: what a file holds is not known before.

use super::check::{Made, Prepared};
use super::mesh::{MeshSpec, Origin, Shape};
use super::method::touches;
use super::spec::{AnyBody, Draft, MethodName, Spec};
use crate::mesh::shape::Base;
use crate::mesh::{CellKind, Mesh};
use crate::run::memory::{self, Room, gigabytes, lack};
use carom_declare::{Problems, Tree};
use std::fs;
use std::path::Path;

const BODY: f64 = 6000.0;
const NODE: f64 = 450.0;
const OBSTACLE_FACET: f64 = 2600.0;
/// What a file takes per byte of it, while it is read: text is longer than numbers.
const FILE: f64 = 12.0;

/// Counts of a mesh. As `f64`, so that no product of absurd inputs overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    pub nodes: f64,
    pub cells: f64,
    /// At its surface.
    pub facets: f64,
    /// Bytes of a file, whose counts are not known.
    pub file: f64,
    dimension: usize,
    cell: f64,
}

impl Size {
    fn new(dimension: usize, kind: CellKind, nodes: f64, cells: f64, facets: f64) -> Size {
        // six tetrahedra fill a hexahedron, two triangles a quadrilateral, and each has halves of its facets
        let (pieces, halves) = match kind {
            CellKind::Tet4 => (6.0, 2.0),
            // nodes in the middle of edges, and sides of four triangles
            CellKind::Tet10 => (6.0, 8.0),
            CellKind::Tri3 | CellKind::Shell3 => (2.0, 1.0),
            CellKind::Hex8 | CellKind::Quad4 | CellKind::Bar2 => (1.0, 1.0),
        };
        let cell = cell_bytes(kind);
        let nodes = if kind == CellKind::Tet10 { 8.0 * nodes } else { nodes };
        Size { nodes, cells: pieces * cells, facets: halves * facets, file: 0.0, dimension, cell }
    }

    /// Of a mesh that is there. Its surface is that of something compact, or all of its cells where they are few.
    fn made(mesh: &Mesh) -> Size {
        let cells: f64 = mesh.cells.iter().map(|c| c.len() as f64).sum();
        let bytes: f64 = mesh.cells.iter().map(|c| c.len() as f64 * cell_bytes(c.kind)).sum();
        let dimension = mesh.dimension();
        let facets = match dimension {
            3 => (8.0 * cells.powf(2.0 / 3.0)).min(2.0 * cells),
            _ => (8.0 * cells.sqrt()).min(2.0 * cells),
        };
        let sheet = mesh.cells.iter().any(|c| c.kind == CellKind::Shell3);
        let facets = if sheet { cells } else { facets };
        Size {
            nodes: mesh.nodes.len() as f64,
            cells,
            facets,
            file: 0.0,
            dimension,
            cell: bytes / cells.max(1.0),
        }
    }
}

/// What a cell of a kind takes [bytes].
fn cell_bytes(kind: CellKind) -> f64 {
    match kind {
        CellKind::Tet4 => 240.0,
        CellKind::Tet10 => 900.0,
        CellKind::Hex8 => 350.0,
        CellKind::Tri3 | CellKind::Shell3 | CellKind::Quad4 | CellKind::Bar2 => 300.0,
    }
}

/// What a method takes [bytes].
struct Factors {
    /// For each facet of a body where nothing can touch anything, and with contacts all around.
    idle: f64,
    facet: f64,
    /// For each pair of facets, where the operator between contacts is full: a side of a box against another.
    pair: f64,
    /// For each row of its matrix, and for their fill.
    row: f64,
    fill: f64,
}

impl Factors {
    /// Piles of cubes that stand on each other decide about facets.
    fn of(method: MethodName) -> Factors {
        let explicit = |idle, facet| Factors { idle, facet, pair: 0.0, row: 0.0, fill: 0.0 };
        let implicit = |facet| Factors { row: 4100.0, fill: 120.0, ..explicit(2600.0, facet) };
        match method {
            // alone it knows no surfaces
            MethodName::Verlet => explicit(0.0, 3800.0),
            MethodName::Asynchronous => explicit(3800.0, 3800.0),
            MethodName::SemiExplicit => explicit(2600.0, 5300.0),
            MethodName::Dcr | MethodName::Nonsmooth => explicit(2600.0, 6300.0),
            MethodName::BipotentialImplicit => Factors { pair: 8.0, ..implicit(4000.0) },
            MethodName::VelocityUpdate | MethodName::NewmarkPenalty => implicit(11_000.0),
            MethodName::Static => Factors { idle: 0.0, ..implicit(0.0) },
        }
    }

    /// Memory of a body in a run [bytes]; obstacles have no unknowns, and few of their facets are touched.
    fn bytes(&self, size: &Size, contact: bool, deformable: bool) -> f64 {
        let own = BODY + NODE * size.nodes + size.cell * size.cells + FILE * size.file;
        let touching = match (contact, deformable) {
            (false, _) => self.idle * size.facets,
            (true, false) => OBSTACLE_FACET * size.facets,
            (true, true) => self.facet * size.facets + self.pair * size.facets * size.facets,
        };
        let unknowns = if deformable { size.dimension as f64 * size.nodes } else { 0.0 };
        let fill = match size.dimension {
            3 => unknowns.powf(4.0 / 3.0),
            _ => unknowns * unknowns.max(2.0).log2(),
        };
        own + touching + self.row * unknowns + self.fill * fill
    }
}

/// Counts of a shape.
pub fn of_shape(shape: &Shape) -> Size {
    let round = |core: u32, layers: u32| {
        let (core, layers) = (f64::from(core), f64::from(layers));
        ((core + 1.0) * (core + 1.0) + 4.0 * core * layers, core * core + 4.0 * core * layers, 4.0 * core)
    };
    match shape {
        Shape::Bar(s) => {
            let n = f64::from(s.cells);
            Size::new(1, CellKind::Bar2, n + 1.0, n, 2.0)
        }
        Shape::Rectangle(s) => {
            let [a, b] = s.cells.map(f64::from);
            Size::new(2, s.cell, (a + 1.0) * (b + 1.0), a * b, 2.0 * (a + b))
        }
        Shape::Box(s) => {
            let [a, b, c] = s.cells.map(f64::from);
            let facets = 2.0 * (a * b + b * c + c * a);
            Size::new(3, s.cell, (a + 1.0) * (b + 1.0) * (c + 1.0), a * b * c, facets)
        }
        Shape::Ring(s) => {
            let (around, radial) = (f64::from(s.around), f64::from(s.radial));
            Size::new(2, s.cell, around * (radial + 1.0), around * radial, 2.0 * around)
        }
        Shape::Disc(s) => {
            let (nodes, cells, rim) = round(s.core_cells, s.layers);
            Size::new(2, s.cell, nodes, cells, rim)
        }
        Shape::Cylinder(s) => {
            let ((nodes, cells, rim), along) = (round(s.core_cells, s.layers), f64::from(s.axial_cells));
            Size::new(3, s.cell, nodes * (along + 1.0), cells * along, 2.0 * cells + rim * along)
        }
        Shape::Sphere(s) => {
            let (core, layers) = (f64::from(s.core_cells), f64::from(s.layers));
            let skin = 6.0 * core * core;
            let nodes = (core + 1.0).powi(3) + layers * (skin + 2.0);
            Size::new(3, s.cell, nodes, core.powi(3) + layers * skin, skin)
        }
        Shape::HollowSphere(s) => {
            let base = match s.base {
                Base::Octahedron => 8.0,
                Base::Bipyramid => 12.0,
            };
            sheet(base * 4.0_f64.powf(f64::from(s.refinements)), 2.0)
        }
        Shape::HollowBox(s) => {
            let [a, b, c] = s.cells.map(f64::from);
            sheet(4.0 * (a * b + b * c + c * a), 2.0)
        }
        Shape::RoundSheet(s) => sheet(6.0 * f64::from(s.rings).powi(2), 3.0 * f64::from(s.rings) + 1.0),
        Shape::Polygon(s) => {
            let (finer, finer_rim) = (4.0_f64.powf(f64::from(s.refine)), 2.0_f64.powf(f64::from(s.refine)));
            let corners = s.points.len() as f64;
            let cells = corners * finer;
            Size { cells, ..Size::new(2, CellKind::Tri3, cells, 0.0, corners * finer_rim) }
        }
        Shape::Polyhedron(s) => {
            let (finer, finer_skin) = (8.0_f64.powf(f64::from(s.refine)), 4.0_f64.powf(f64::from(s.refine)));
            // triangles of a hull, each with the middle a tetrahedron
            let skin = 2.0 * s.points.len() as f64;
            let cells = skin * finer;
            Size {
                cells,
                facets: skin * finer_skin,
                ..Size::new(3, CellKind::Tet4, cells / 5.0 + skin, 0.0, 0.0)
            }
        }
        Shape::Tube(s) => sheet(2.0 * f64::from(s.around) * f64::from(s.along), f64::from(s.around)),
    }
}

/// A surface of triangles, with so many nodes more than half of them.
fn sheet(triangles: f64, more: f64) -> Size {
    let nodes = 0.5 * triangles + more;
    Size { dimension: 3, cell: 300.0, nodes, cells: triangles, facets: triangles, file: 0.0 }
}

fn of_mesh(mesh: &MeshSpec, folder: &Path) -> Size {
    match &mesh.origin {
        Origin::Shape(shape) => of_shape(shape),
        // stands in the deck, and is small
        Origin::Drawn(_) => Size { dimension: 3, ..Size::default() },
        Origin::File(file) => {
            let length = fs::metadata(folder.join(&file.file)).map_or(0, |m| m.len());
            Size { file: length as f64, dimension: 3, ..Size::default() }
        }
    }
}

/// What all bodies of a deck take together, and the largest of them.
struct Estimate<'a> {
    bytes: f64,
    cells: f64,
    largest: (&'a str, f64, f64),
}

impl<'a> Estimate<'a> {
    /// Of bodies by name; deformable ones are those that are solved for.
    fn of(bodies: impl Iterator<Item = (&'a str, (Size, bool))>, method: MethodName, contact: bool) -> Self {
        let factors = Factors::of(method);
        let mut sum = Estimate { bytes: 0.0, cells: 0.0, largest: ("", 0.0, 0.0) };
        for (name, (size, deformable)) in bodies {
            let bytes = factors.bytes(&size, contact && method != MethodName::Static, deformable);
            sum.bytes += bytes;
            sum.cells += size.cells;
            if bytes > sum.largest.1 {
                sum.largest = (name, bytes, size.cells);
            }
        }
        sum
    }

    /// Is there room? If not, it is told with figures.
    fn fits(&self, room: Option<Room>, tree: &Tree, problems: &Problems) -> bool {
        let (name, bytes, cells) = self.largest;
        // more than ids can count is told when the mesh is built, which asks for nothing before
        let lack = lack(self.bytes, room).filter(|_| cells < f64::from(u32::MAX));
        if let Some(lack) = &lack {
            let share = format!("{:.3e} cells, {} of it for body `{name}`", self.cells, gigabytes(bytes));
            let message =
                format!("this deck {}", lack.replacen(" of memory", &format!(" of memory ({share})"), 1));
            let help = "take fewer cells, or a machine with more memory";
            problems.add(&tree.place(&["body", name, "mesh"]), message, help);
        }
        lack.is_none()
    }
}

/// Counts of a body, and whether it is deformable. Those of its mesh count, if that is there and does not follow from the deck.
fn of_body(body: &AnyBody, folder: &Path, made: Option<&Mesh>) -> (Size, bool) {
    let of = |spec: &MeshSpec| match (&spec.origin, made) {
        (Origin::File(_) | Origin::Drawn(_), Some(mesh)) => Size::made(mesh),
        _ => of_mesh(spec, folder),
    };
    match body {
        AnyBody::Deformable(body) => {
            let (size, finer) = (of(&body.mesh), 4.0_f64.powf(f64::from(body.refine)));
            let Size { nodes, cells, facets, .. } = size;
            (Size { nodes: finer * nodes, cells: finer * cells, facets: finer * facets, ..size }, true)
        }
        AnyBody::Rigid(obstacle) => (obstacle.mesh.as_ref().map_or(Size::default(), of), false),
    }
}

/// Does what the deck asks for fit the memory? If not, it is told with figures.
pub fn fits(draft: &Draft, folder: &Path, room: Option<Room>, tree: &Tree, problems: &Problems) -> bool {
    let (Some(bodies), Some(method)) = (&draft.body, draft.method) else { return true };
    let contact = bodies.iter().count() > 1 || draft.contact.is_some();
    let each = bodies.iter().map(|(name, body)| (name, of_body(body, folder, None)));
    Estimate::of(each, method, contact).fits(room, tree, problems)
}

/// The same when the meshes are there, those of files and of pieces as well: what a run takes [bytes], if there is room for it.
pub fn fits_as_made(
    spec: &Spec,
    made: &[Made],
    folder: &Path,
    tree: &Tree,
    problems: &Problems,
) -> Option<f64> {
    let each = spec.body.iter().zip(made).map(|((name, body), made)| match made {
        // refined already
        Made::Deformable(Prepared { mesh, surface: Some(_), .. }) => (name, (Size::made(mesh), true)),
        Made::Deformable(Prepared { mesh, .. }) => (name, of_body(body, folder, Some(mesh))),
        Made::Rigid(mesh) => (name, of_body(body, folder, mesh.as_ref())),
    });
    let estimate = Estimate::of(each, spec.method, touches(spec));
    estimate.fits(memory::room(), tree, problems).then_some(estimate.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::{Input, load};
    use crate::mesh::surface::Surface;

    /// Every shape, with every kind of cell it knows.
    const MESHES: &[&str] = &[
        "{ shape = \"bar\", length = 1, cells = 7 }",
        "{ shape = \"rectangle\", size = [1, 2], cells = [3, 5] }",
        "{ shape = \"rectangle\", size = [1, 2], cells = [3, 5], cell = \"tri3\" }",
        "{ shape = \"box\", size = [1, 1, 1], cells = [2, 3, 4] }",
        "{ shape = \"box\", size = [1, 1, 1], cells = [2, 3, 4], cell = \"tet4\" }",
        "{ shape = \"ring\", inner = 0.5, outer = 1, around = 12, radial = 3 }",
        "{ shape = \"disc\", radius = 1, core_cells = 3, layers = 2, cell = \"tri3\" }",
        "{ shape = \"cylinder\", radius = 1, core_cells = 3, layers = 2, height = 1, axial_cells = 4 }",
        "{ shape = \"cylinder\", radius = 1, core_cells = 3, layers = 2, height = 1, axial_cells = 4, cell = \"tet4\" }",
        "{ shape = \"sphere\", radius = 1, core_cells = 3, layers = 2 }",
        "{ shape = \"sphere\", radius = 1, core_cells = 2, layers = 1, cell = \"tet4\" }",
    ];

    #[test]
    fn counts_are_known_before_the_mesh_is_built() {
        for mesh in MESHES {
            let text = format!(
                "method = \"verlet\"\nend = 1e-9\n[body.a]\nmesh = {mesh}\n\
                 material = {{ law = \"linear\", young = 1e6, poisson = 0.3, density = 1000 }}\n"
            );
            let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
            let loaded = load(&input).unwrap_or_else(|e| panic!("{e}"));
            let Some(AnyBody::Deformable(body)) = loaded.spec.body.iter().next().map(|b| b.1) else {
                panic!()
            };
            let Origin::Shape(shape) = &body.mesh.origin else { panic!() };
            let (size, model) = (of_shape(shape), &loaded.case.model);
            let facets = Surface::of(&model.bodies[0].mesh).facets.len();
            let counted = (size.nodes, size.cells, size.facets);
            assert_eq!(
                counted,
                (model.reference.len() as f64, model.elements() as f64, facets as f64),
                "{mesh}"
            );
        }
    }

    #[test]
    fn sheets_are_counted_too() {
        use crate::mesh::shape::{HollowBox, HollowSphere, RoundSheet, Tube};
        let sphere = |base, refinements| HollowSphere { radius: 1.0, base, refinements };
        let boxed = HollowBox { size: [1.0; 3], cells: [2, 3, 4] };
        for (mesh, shape) in [
            (sphere(Base::Octahedron, 2).build(), Shape::HollowSphere(sphere(Base::Octahedron, 2))),
            (sphere(Base::Bipyramid, 1).build(), Shape::HollowSphere(sphere(Base::Bipyramid, 1))),
            (boxed.build(), Shape::HollowBox(boxed)),
            (
                RoundSheet { radius: 1.0, rings: 5 }.build(),
                Shape::RoundSheet(RoundSheet { radius: 1.0, rings: 5 }),
            ),
            (
                Tube { radius: 1.0, length: 2.0, around: 9, along: 4 }.build(),
                Shape::Tube(Tube { radius: 1.0, length: 2.0, around: 9, along: 4 }),
            ),
        ] {
            let (mesh, size) = (mesh.unwrap(), of_shape(&shape));
            let cells: usize = mesh.cells.iter().map(|c| c.len()).sum();
            assert_eq!((size.nodes, size.cells), (mesh.nodes.len() as f64, cells as f64), "{shape:?}");
        }
    }
}
