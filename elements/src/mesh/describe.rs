//! What a mesh is, in words: for those who want to look at it before they use it.

use super::{CellKind, Cells, Mesh, MeshError, Side, surface::Facet, surface::NONE, surface::Surface};
use crate::math::Vec3;
use std::fmt::Write;

/// Sets told in full; the others are counted.
const LISTED: usize = 40;

/// The corners next to each corner of a cell.
fn neighbours(kind: CellKind) -> &'static [&'static [usize]] {
    match kind {
        CellKind::Bar2 => &[&[1], &[0]],
        CellKind::Tri3 | CellKind::Shell3 => &[&[1, 2], &[2, 0], &[0, 1]],
        CellKind::Quad4 => &[&[1, 3], &[2, 0], &[3, 1], &[0, 2]],
        CellKind::Tet4 | CellKind::Tet10 => &[&[1, 2, 3], &[2, 0, 3], &[0, 1, 3], &[0, 2, 1]],
        CellKind::Hex8 => {
            &[&[1, 3, 4], &[2, 0, 5], &[3, 1, 6], &[0, 2, 7], &[7, 5, 0], &[4, 6, 1], &[5, 7, 2], &[6, 4, 3]]
        }
    }
}

/// The middle of an edge of a tet10 between two of its corners.
fn middle(a: usize, b: usize) -> usize {
    let is = |edge: &[usize; 2]| edge.contains(&a) && edge.contains(&b);
    4 + super::shape_functions::EDGES.iter().position(is).unwrap_or(0)
}

/// Smallest angle of a cell's corners, as the volume (area) its edges span there over their lengths, 1 for the regular cell, not more
/// than 0 for one that is turned inside out. Of curved edges the tangents count.
pub fn quality(kind: CellKind, x: &[Vec3]) -> f64 {
    let ideal = match kind {
        CellKind::Tet4 | CellKind::Tet10 => std::f64::consts::SQRT_2,
        CellKind::Tri3 | CellKind::Shell3 => 2.0 / f64::sqrt(3.0),
        _ => 1.0,
    };
    let mut worst = f64::INFINITY;
    for (a, next) in neighbours(kind).iter().enumerate() {
        let edge = |b: usize| match kind {
            CellKind::Tet10 => 4.0 * x[middle(a, b)] - 3.0 * x[a] - x[b],
            _ => x[b] - x[a],
        };
        let here = match **next {
            [b, c, d] => {
                let (p, q, r) = (edge(b), edge(c), edge(d));
                p.cross(&q).dot(&r) / (p.norm() * q.norm() * r.norm())
            }
            [b, c] => {
                let (p, q) = (edge(b), edge(c));
                p.cross(&q).norm() / (p.norm() * q.norm())
            }
            _ => 1.0,
        };
        worst = worst.min(ideal * here);
    }
    // not a number counts as worst
    if worst > f64::NEG_INFINITY { worst.min(1.0) } else { f64::NEG_INFINITY }
}

/// A cell with what was measured of it.
struct Extreme {
    value: f64,
    kind: CellKind,
    cell: usize,
    at: Vec3,
}

impl Extreme {
    fn of(mesh: &Mesh, measure: impl Fn(CellKind, &[Vec3]) -> f64) -> Option<Extreme> {
        let mut least: Option<Extreme> = None;
        for cells in &mesh.cells {
            for cell in 0..cells.len() {
                let x = mesh.corners(cells, cell);
                let x = &x[..cells.kind.nodes()];
                let value = measure(cells.kind, x);
                if least.as_ref().is_none_or(|l| value < l.value) {
                    let at = x.iter().sum::<Vec3>() / x.len() as f64;
                    least = Some(Extreme { value, kind: cells.kind, cell, at });
                }
            }
        }
        least
    }

    fn place(&self) -> String {
        format!(
            "{} cell {} at ({:.4e}, {:.4e}, {:.4e})",
            self.kind.name(),
            self.cell,
            self.at.x,
            self.at.y,
            self.at.z
        )
    }
}

fn shortest_edge(kind: CellKind, x: &[Vec3]) -> f64 {
    let all = neighbours(kind).iter().enumerate();
    all.flat_map(|(a, next)| next.iter().map(move |&b| (x[b] - x[a]).norm())).fold(f64::INFINITY, f64::min)
}

impl Mesh {
    /// Cells, sets, box, smallest edge, worst quality. Ids must be in range ([`Mesh::check_surface`]).
    pub fn describe(&self) -> String {
        let mut text = String::new();
        // a string takes whatever it is given
        let _ = self.write(&mut text);
        text
    }

    /// Fit for a body: a solid, a plane body, a bar, or a surface in space.
    pub fn check_body(&self) -> Result<(), MeshError> {
        let flat = self.bounds().is_none_or(|(low, high)| high.z - low.z <= 1e-9 * (high - low).amax());
        if self.dimension() == 2 && !flat { self.check_surface() } else { self.check() }
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let cells: Vec<String> =
            self.cells.iter().map(|c| format!("{} {}", c.len(), c.kind.name())).collect();
        writeln!(text, "{} nodes, {} cells", self.nodes.len(), cells.join(" + "))?;
        if let Some((low, high)) = self.bounds() {
            let [a, b] = [low, high].map(|p| format!("({:.6e}, {:.6e}, {:.6e})", p.x, p.y, p.z));
            writeln!(text, "box {a} to {b} m")?;
        }
        let surface = self.surface_in_space();
        match self.dimension() {
            1 => writeln!(text, "length {:.6e} m", self.measure())?,
            2 => writeln!(text, "area {:.6e} m²", self.area())?,
            _ => writeln!(text, "volume {:.6e} m³", self.measure())?,
        }
        let rim = surface.edges.iter().filter(|e| e.facets[1] == NONE).count();
        let (facets, edges, nodes) = (surface.facets.len(), surface.edges.len(), surface.nodes.len());
        write!(text, "surface {facets} facets, {edges} edges, {nodes} nodes")?;
        match (self.dimension(), rim) {
            (2, 0) => writeln!(text, ", closed")?,
            (2, _) => writeln!(text, ", open along {rim} edges")?,
            _ => writeln!(text)?,
        }
        if let Some(edge) = Extreme::of(self, shortest_edge) {
            writeln!(text, "smallest edge {:.6e} m, of {}", edge.value, edge.place())?;
        }
        if let Some(worst) = Extreme::of(self, quality) {
            writeln!(text, "worst quality {:.4} (1 is regular), of {}", worst.value, worst.place())?;
        }
        tell(text, "cell sets", self.cell_sets.iter().map(|(n, s)| (n, s.len())))?;
        tell(text, "side sets", self.side_sets.iter().map(|(n, s)| (n, s.len())))?;
        tell(text, "node sets", self.node_sets.iter().map(|(n, s)| (n, s.len())))
    }

    /// The boundary of solids; plane cells as they are.
    fn surface_in_space(&self) -> Surface {
        if self.dimension() != 2 {
            return Surface::of(self);
        }
        let facets = |(list, cells): (u32, &Cells)| {
            let facet = move |(cell, nodes): (u32, &[u32])| {
                let mut four = [NONE; 4];
                four.iter_mut().zip(nodes).for_each(|(to, n)| *to = *n);
                Facet { nodes: four, count: nodes.len() as u8, side: Side { cells: list, cell, side: 0 } }
            };
            (0..).zip(cells.nodes.chunks_exact(cells.kind.nodes())).map(facet).collect::<Vec<_>>()
        };
        Surface::from_facets((0..).zip(&self.cells).flat_map(facets).collect())
    }

    /// Of triangles and quadrilaterals anywhere in space [m²].
    fn area(&self) -> f64 {
        let area = |x: &[Vec3]| match *x {
            [a, b, c] => 0.5 * (b - a).cross(&(c - a)).norm(),
            [a, b, c, d] => 0.5 * (c - a).cross(&(d - b)).norm(),
            _ => 0.0,
        };
        let of = |cells: &Cells| {
            let each = (0..cells.len()).map(|i| area(&self.corners(cells, i)[..cells.kind.nodes()]));
            each.sum::<f64>()
        };
        self.cells.iter().map(of).sum()
    }
}

fn tell<'a>(
    text: &mut String,
    what: &str,
    sets: impl ExactSizeIterator<Item = (&'a String, usize)>,
) -> std::fmt::Result {
    let count = sets.len();
    if count == 0 {
        return Ok(());
    }
    let first: Vec<String> = sets.take(LISTED).map(|(name, size)| format!("{name} ({size})")).collect();
    let more = if count > LISTED { format!(" and {} more", count - LISTED) } else { String::new() };
    writeln!(text, "{what}: {}{more}", first.join(", "))
}
