//! `mesh` of a body: a built-in shape or a file, put in its place, and the [`Mesh`] it becomes.

use crate::math::Vec3;
use crate::mesh::drawn::Drawn;
use crate::mesh::place::{Pivot, Placement as MeshPlacement, Rotation};
use crate::mesh::shape::Shape;
use crate::mesh::{Mesh, MeshError, file};
use carom_declare::schema;
use carom_declare::{
    Item, Json, Key, Kind, NonZero, NotNegative, Positive, Schemas, Section, Value, Written, json, section,
};
use std::path::Path;

section! {
    /// A mesh file: Gmsh, Abaqus or VTK, or triangles as STL or OBJ.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MeshFile: "mesh.file" {
        /// Path, relative to the deck.
        file: String => "";
        /// Checksum of the file when the deck was resolved; a file that has changed since is refused.
        hash: Option<String>;
        /// Only the cells of this set: a physical volume of Gmsh, an element set or instance of Abaqus.
        part: Option<String>;
        /// All coordinates are multiplied by it, first of all: 0.001 for a file in millimetres.
        scale: f64 as Positive = 1.0;
        /// Corners of STL and OBJ triangles within this share of the surface's size are one node.
        weld: f64 as NotNegative = file::WELD;
    }
}

section! {
    /// Where a mesh goes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Placement: "placement" {
        /// Where its origin goes [m], before rotation: the lower corner of bar, rectangle and box, the centre of round shapes.
        at: [f64; 3];
        /// How it is turned.
        rotate: Option<Rotate>;
    }
}

section! {
    /// A rotation.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Rotate: "rotate" {
        /// Its axis.
        axis: [f64; 3] as NonZero => "[0, 0, 1]";
        /// By the right-hand rule [degrees].
        angle: f64 => "45";
        /// The point that stays: "centre" of the mesh's bounding box, "at", or a point [m].
        about: Pivot as About = Pivot::Centre;
    }
}

/// The point that a rotation leaves where it is.
pub(crate) struct About;

impl Kind for About {
    type Of = Pivot;
    fn read(item: Item) -> Option<Pivot> {
        match item.node.value {
            Value::String(_) => item.choice(&["centre", "at"]).map(|k| [Pivot::Centre, Pivot::At][k]),
            _ => <[f64; 3]>::read(item).map(|p| Pivot::Point(Vec3::from(p))),
        }
    }
    fn write(value: &Pivot) -> Option<Written> {
        match value {
            Pivot::Centre => String::write(&"centre".into()),
            Pivot::At => String::write(&"at".into()),
            Pivot::Point(p) => <[f64; 3]>::write(&(*p).into()),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        let point = <[f64; 3]>::schema(schemas);
        json!({ "if": { "type": "string" }, "then": { "enum": ["centre", "at"] }, "else": point })
    }
}

/// Where a mesh comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    File(MeshFile),
    Drawn(Drawn),
    Shape(Shape),
}

/// A mesh: a file or a built-in shape, in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSpec {
    pub origin: Origin,
    pub placement: Placement,
}

impl Kind for MeshSpec {
    type Of = MeshSpec;
    fn read(item: Item) -> Option<MeshSpec> {
        let mut r = item.table()?;
        let (origin, placement) = match r.one_of(&["shape", "file", "nodes"])? {
            "file" => {
                let file = MeshFile::keys(&mut r);
                (file.map(Origin::File), Placement::keys(&mut r))
            }
            "nodes" => {
                let drawn = Drawn::keys(&mut r);
                (drawn.map(Origin::Drawn), Placement::keys(&mut r))
            }
            _ => {
                let word = Shape::ALL[r.get("shape")?.choice(Shape::ALL)?];
                let placement = Placement::keys(&mut r);
                (Shape::keys(word, &mut r).map(Origin::Shape), placement)
            }
        };
        r.finish();
        Some(MeshSpec { origin: origin?, placement: placement? })
    }
    fn write(value: &MeshSpec) -> Option<Written> {
        let mut keys = match &value.origin {
            Origin::File(file) => file.write_keys(),
            Origin::Drawn(drawn) => drawn.write_keys(),
            Origin::Shape(shape) => {
                let (word, keys) = shape.write();
                [("shape".to_owned(), Written::Text(word.into()))].into_iter().chain(keys).collect()
            }
        };
        keys.extend(value.placement.write_keys());
        Some(Written::Table(keys))
    }
    fn schema(schemas: &mut Schemas) -> Json {
        let placed = |mut keys: Vec<Key>, schemas: &mut Schemas| {
            keys.extend(Placement::describe(schemas));
            keys
        };
        let file = placed(MeshFile::describe(schemas), schemas);
        let file = schema::object(MeshFile::DOC, &file);
        let about = "A built-in shape. Its sets are named before rotation.";
        let shape = schemas.tagged("shape", about, "shape", |schemas| {
            let all = Shape::describe(schemas);
            all.into_iter().map(|(word, doc, keys)| (word, doc, placed(keys, schemas))).collect()
        });
        let drawn = placed(Drawn::describe(schemas), schemas);
        let drawn = schema::object(Drawn::DOC, &drawn);
        let other = json!({ "if": { "required": ["nodes"] }, "then": drawn, "else": shape });
        json!({ "type": "object", "if": { "required": ["file"] }, "then": file, "else": other })
    }
}

/// Why a body has no mesh.
#[derive(Debug)]
pub(crate) enum Trouble {
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
pub(crate) fn build(spec: &mut MeshSpec, folder: &Path) -> Result<Mesh, Trouble> {
    let mut mesh = match &mut spec.origin {
        Origin::Shape(shape) => shape.build()?,
        Origin::Drawn(drawn) => drawn.build()?,
        Origin::File(file) => {
            let (mut mesh, hash) = read(&folder.join(&file.file), file.weld)?;
            match &file.hash {
                Some(was) if *was != hash => {
                    return Err(Trouble::Changed { was: was.clone(), is: hash });
                }
                _ => file.hash = Some(hash),
            }
            if let Some(part) = &file.part {
                mesh.keep_part(part)?;
            }
            mesh.scale(file.scale)?;
            mesh
        }
    };
    mesh.place(&placement(&spec.placement))?;
    Ok(mesh)
}

/// Where a deck says that a mesh goes.
pub(crate) fn placement(&Placement { at, rotate }: &Placement) -> MeshPlacement {
    let rotation =
        rotate.map(|r| Rotation { axis: Vec3::from(r.axis), angle: r.angle.to_radians(), about: r.about });
    MeshPlacement { at: Vec3::from(at), rotation }
}

/// The mesh of a file, and the checksum of all that was read for it.
fn read(path: &Path, weld: f64) -> Result<(Mesh, String), MeshError> {
    let mut hash = crc32fast::Hasher::new();
    let read = file::read(path, weld, &mut |bytes| hash.update(bytes))?;
    Ok((read.mesh, format!("crc32:{:08x}", hash.finalize())))
}
