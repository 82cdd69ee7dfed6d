//! Bodies in pieces: `[body.NAME.shatter]` makes `NAME-1`, `NAME-2`, … out of one body before anything is read.
//!
//! A piece is written into the tree as a mesh with `nodes` and `cells`, so the resolved deck holds it as it was, and everything else it has from the whole:
//! a spin is that of the whole, about the centre of the whole.

use super::array::{add_to, entry, table_mut, vector};
use super::mesh::{self, MeshSpec, Origin};
use crate::math::Vec3;
use crate::mesh::convex::Convex;
use crate::mesh::drawn::Drawn;
use crate::mesh::shape::{self, Shape};
use crate::mesh::shatter::shatter;
use crate::mesh::{Mesh, MeshError};
use crate::run::memory::{Room, lack};
use carom_declare::tree::Entry;
use carom_declare::{Count, Item, Kind, Node, NotNegative, Place, Problems, Tree, Value, Written, section};

section! {
    /// Voronoi pieces of a convex body (rectangle, polygon, box or polyhedron): plane faces, corners of every kind.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Shatter: "shatter" {
        /// How many.
        pieces: u32 as Count => "50";
        /// Another number, other pieces.
        seed: u32;
        /// Width of the cuts between them [m].
        gap: f64 as NotNegative;
        /// Speed at which a piece flies away from the centre of the whole, over its distance from there [1/s].
        burst: f64;
        /// How often their triangles are cut into four, their tetrahedra into eight.
        refine: u32;
    } check |r| {
        let many = pieces.is_some_and(|p| p > MOST_PIECES);
        if many {
            let message = format!("{} asks for too many pieces", r.name);
            r.problems.add(&r.place, message, format!("{MOST_PIECES} are the most"));
        }
        !many
    }
}

/// More pieces than this take too long to cut.
const MOST_PIECES: u32 = 20_000;

/// Cells of a piece before it is refined, on average: as many as the faces of Voronoi cells at random have triangles, or edges.
const CELLS: [f64; 2] = [6.0, 40.0];
/// What the text of a cell takes [bytes], until it is built: 790 000 took 0.97 GB.
const CELL: f64 = 1250.0;

/// Replaces every body that has a `shatter` by its pieces, if there is `room` for them.
pub(crate) fn expand(tree: &mut Tree, room: Option<Room>, problems: &Problems) {
    let Some(bodies) = table_mut(&mut tree.root, "body") else { return };
    let mut all = Vec::with_capacity(bodies.len());
    for mut body in std::mem::take(bodies) {
        let read = |key: &str| {
            let Value::Table(keys) = &body.node.value else { return None };
            keys.iter().find(|e| e.key == key).map(|e| &e.node)
        };
        let asked = read("shatter").map(|node| {
            let name = |key: &str| format!("`{key}` of body `{}`", body.key);
            let shatter = Shatter::read(Item { node, name: name("shatter"), problems });
            let mesh =
                read("mesh").and_then(|node| MeshSpec::read(Item { node, name: name("mesh"), problems }));
            (shatter, mesh, node.place.clone())
        });
        match asked {
            Some((Some(shatter), Some(mesh), place)) => {
                let need = CELL * shatter.cells(&mesh);
                if let Some(lack) = lack(need, room) {
                    let message = format!("body `{}` in {} pieces {lack}", body.key, shatter.pieces);
                    problems.add(&place, message, "take fewer pieces, or a smaller `refine`");
                    continue;
                }
                match pieces(&shatter, &mesh) {
                    Ok(pieces) => write(&body, &shatter, pieces, &mut all),
                    Err(error) => {
                        problems.add(&place, format!("body `{}` cannot be shattered: {error}", body.key), "")
                    }
                }
            }
            // what cannot be read has been told
            asked => {
                if let (Some(_), Value::Table(keys)) = (asked, &mut body.node.value) {
                    keys.retain(|e| e.key != "shatter");
                }
                all.push(body);
            }
        }
    }
    *bodies = all;
}

impl Shatter {
    /// How many cells the pieces of a mesh have together, roughly.
    fn cells(&self, mesh: &MeshSpec) -> f64 {
        let plane = matches!(mesh.origin, Origin::Shape(Shape::Rectangle(_) | Shape::Polygon(_)));
        let [flat, solid] = CELLS;
        let (each, finer) = if plane { (flat, 4.0_f64) } else { (solid, 8.0) };
        f64::from(self.pieces) * each * finer.powf(f64::from(self.refine))
    }
}

/// The pieces in their places, and the centre of the whole.
fn pieces(spec: &Shatter, mesh: &MeshSpec) -> Result<(Vec<Mesh>, Vec3), MeshError> {
    let (whole, names) = whole(mesh)?;
    let cut = names.len() as u32;
    let pieces = shatter(&whole, spec.pieces as usize, spec.seed.into(), spec.gap, cut);
    let each = |pieces: Vec<Convex>| pieces.iter().map(|p| p.mesh(&names, spec.refine)).collect();
    let Some(mut meshes): Option<Vec<Mesh>> = pieces.and_then(each) else {
        return refuse("gap", spec.gap, "so narrow that something is left of every piece");
    };
    // placed together: a rotation may be about the middle of all
    let mut together =
        Mesh { nodes: meshes.iter().flat_map(|m| &m.nodes).copied().collect(), ..Mesh::default() };
    together.nodes.push(whole.centroid());
    together.place(&mesh::placement(&mesh.placement))?;
    let mut placed = together.nodes.into_iter();
    for mesh in &mut meshes {
        mesh.nodes.iter_mut().zip(&mut placed).for_each(|(x, to)| *x = to);
    }
    Ok((meshes, placed.next().unwrap_or_default()))
}

/// The convex body of a mesh, where it stands before it is placed, and the names of its sides.
fn whole(mesh: &MeshSpec) -> Result<(Convex, Vec<String>), MeshError> {
    let named = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let Origin::Shape(shape) = &mesh.origin else {
        return refuse("mesh", "a mesh that is no shape", "rectangle, polygon, box or polyhedron");
    };
    match shape {
        Shape::Rectangle(shape::Rectangle { size: [a, b], .. }) => {
            let corners = [[0.0, 0.0], [*a, 0.0], [*a, *b], [0.0, *b]];
            let corners = corners.map(|[x, y]| Vec3::new(x, y, 0.0));
            Ok((Convex::polygon(corners.into()), named(&["ymin", "xmax", "ymax", "xmin"])))
        }
        Shape::Box(shape::Box { size, .. }) => {
            let corner = |k: usize| Vec3::from_fn(|a, _| (k >> a & 1) as f64 * size[a]);
            let rings = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            let solid = Convex::solid((0..8).map(corner).collect(), rings.map(Vec::from).into());
            Ok((solid, named(&["zmin", "zmax", "ymin", "ymax", "xmin", "xmax"])))
        }
        Shape::Polygon(polygon) => {
            let convex = polygon.convex()?;
            let names = (1..=convex.faces.len()).map(|k| format!("side-{k}")).collect();
            Ok((convex, names))
        }
        Shape::Polyhedron(polyhedron) => {
            let convex = polyhedron.convex()?;
            if !convex.is_convex() {
                return refuse("mesh", "a polyhedron with a notch", "a convex one");
            }
            let names = (1..=convex.faces.len()).map(|k| format!("face-{k}")).collect();
            Ok((convex, names))
        }
        _ => refuse("mesh", "a round or hollow shape", "rectangle, polygon, box or polyhedron"),
    }
}

fn refuse<T>(key: &str, value: impl ToString, wanted: &str) -> Result<T, MeshError> {
    let (parameter, value, wanted) = (key.to_owned(), value.to_string(), wanted.to_owned());
    Err(MeshError::Parameter { shape: "shatter", parameter, value, wanted })
}

/// Writes each piece as a body.
fn write(body: &Entry, spec: &Shatter, (meshes, centre): (Vec<Mesh>, Vec3), out: &mut Vec<Entry>) {
    for (k, mesh) in meshes.iter().enumerate() {
        let mut piece = body.clone();
        piece.key = format!("{}-{}", body.key, k + 1);
        let Value::Table(keys) = &mut piece.node.value else { return };
        keys.retain(|e| e.key != "shatter" && e.key != "mesh");
        if let Some(drawn) = Drawn::write(&Drawn::of(mesh)) {
            keys.push(entry("mesh", node(&drawn)));
        }
        let own = mesh.centroid() - centre;
        if spec.burst * own != Vec3::zeros() {
            add_to(keys, "velocity", (spec.burst * own).into());
        }
        let about = keys.iter().any(|e| e.key == "spin_about" && matches!(e.node.value, Value::Array(_)));
        if !about {
            keys.retain(|e| e.key != "spin_about");
            keys.push(entry("spin_about", vector(centre.into())));
        }
        out.push(piece);
    }
}

/// What a resolved deck would hold, as if it had been read.
fn node(written: &Written) -> Node {
    let value = match written {
        Written::Number(x) => Value::Float(*x),
        Written::Whole(n) => Value::Integer(*n as i64),
        Written::Flag(b) => Value::Bool(*b),
        Written::Text(s) => Value::String(s.clone()),
        Written::List(list) => Value::Array(list.iter().map(node).collect()),
        Written::Table(keys) => Value::Table(keys.iter().map(|(k, v)| entry(k, node(v))).collect()),
    };
    Node { value, place: Place::Whole }
}
