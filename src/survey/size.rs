//! How much memory a case takes, before anything large is built: counts of nodes and cells follow from the keys of shapes.
//!
//! ```text
//! bytes = bodies·BODY + nodes·NODE + cells·cell + facets·facet + facets²·pair (where anybody can be touched)
//!         + n·row + n^{4/3}·fill (implicit, n unknowns in space)
//! ```
//!
//! The factors are what runs of boxes of 27 000 to 125 000 cells took per piece (`peak_rss_bytes` of their summaries), output
//! included, of 40 000 boxes of one cell each, and of a thousand cubes of 27 cells that stand on each other; the last is the fill of
//! factors in the order of nested dissection. A second look is taken when the meshes are there: what a file holds is not known before.

use crate::mesh::shape::{Base, Shape};
use crate::mesh::{CellKind, Mesh};
use crate::method::MethodName;
use crate::run::memory::{Room, gigabytes, lack};
use carom_declare::Report;

const BODY: f64 = 6000.0;
const NODE: f64 = 450.0;
const OBSTACLE_FACET: f64 = 2600.0;
/// What a file takes per byte of it, while it is read: text is longer than numbers.
const FILE: f64 = 12.0;

/// Counts of a mesh. As `f64`, so that no product of absurd inputs overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
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
    pub(crate) fn of_mesh(mesh: &Mesh) -> Size {
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

    /// Counts of a shape.
    pub(crate) fn of_shape(shape: &Shape) -> Size {
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
                Size::sheet(base * 4.0_f64.powf(f64::from(s.refinements)), 2.0)
            }
            Shape::HollowBox(s) => {
                let [a, b, c] = s.cells.map(f64::from);
                Size::sheet(4.0 * (a * b + b * c + c * a), 2.0)
            }
            Shape::RoundSheet(s) => {
                Size::sheet(6.0 * f64::from(s.rings).powi(2), 3.0 * f64::from(s.rings) + 1.0)
            }
            Shape::Polygon(s) => {
                let (finer, finer_rim) =
                    (4.0_f64.powf(f64::from(s.refine)), 2.0_f64.powf(f64::from(s.refine)));
                let corners = s.points.len() as f64;
                let cells = corners * finer;
                Size { cells, ..Size::new(2, CellKind::Tri3, cells, 0.0, corners * finer_rim) }
            }
            Shape::Polyhedron(s) => {
                let (finer, finer_skin) =
                    (8.0_f64.powf(f64::from(s.refine)), 4.0_f64.powf(f64::from(s.refine)));
                // triangles of a hull, each with the middle a tetrahedron
                let skin = 2.0 * s.points.len() as f64;
                let cells = skin * finer;
                Size {
                    cells,
                    facets: skin * finer_skin,
                    ..Size::new(3, CellKind::Tet4, cells / 5.0 + skin, 0.0, 0.0)
                }
            }
            Shape::Tube(s) => {
                Size::sheet(2.0 * f64::from(s.around) * f64::from(s.along), f64::from(s.around))
            }
        }
    }

    /// A surface of triangles, with so many nodes more than half of them.
    fn sheet(triangles: f64, more: f64) -> Size {
        let nodes = 0.5 * triangles + more;
        Size { dimension: 3, cell: 300.0, nodes, cells: triangles, facets: triangles, file: 0.0 }
    }

    /// Of a file of so many bytes, whose counts are not known.
    pub(crate) fn of_file(bytes: u64) -> Size {
        Size { file: bytes as f64, dimension: 3, ..Size::default() }
    }

    /// With every triangle split into four, so often.
    pub(crate) fn refined(self, times: u32) -> Size {
        let finer = 4.0_f64.powf(f64::from(times));
        Size { nodes: finer * self.nodes, cells: finer * self.cells, facets: finer * self.facets, ..self }
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

/// What all bodies take together, and the largest of them.
pub(crate) struct Estimate<'a> {
    pub bytes: f64,
    cells: f64,
    largest: (&'a str, f64, f64),
}

impl<'a> Estimate<'a> {
    /// Of bodies by name; deformable ones are those that are solved for.
    pub(crate) fn of(
        bodies: impl Iterator<Item = (&'a str, (Size, bool))>,
        method: MethodName,
        contact: bool,
    ) -> Self {
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
    pub(crate) fn fits(&self, room: Option<Room>, report: &Report) -> bool {
        let (name, bytes, cells) = self.largest;
        // more than ids can count is told when the mesh is built, which asks for nothing before
        let lack = lack(self.bytes, room).filter(|_| cells < f64::from(u32::MAX));
        if let Some(lack) = &lack {
            let share = format!("{:.3e} cells, {} of it for body `{name}`", self.cells, gigabytes(bytes));
            let message =
                format!("this deck {}", lack.replacen(" of memory", &format!(" of memory ({share})"), 1));
            let help = "take fewer cells, or a machine with more memory";
            report.add(&["body", name, "mesh"], message, help);
        }
        lack.is_none()
    }
}
