//! Mesh files: which format a file has, and the mesh it holds.
//!
//! The ending of the name says what a file is (`.msh`, `.inp`, `.vtu`, `.vtk`, `.stl`, `.obj`); where it says nothing, the first bytes do. Formats of other
//! tools are named together with a way to convert them.

use super::{Mesh, MeshError, abaqus, gmsh, triangles, vtk};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// What was read.
pub struct Read {
    pub mesh: Mesh,
    /// What was done to it on the way, in words.
    pub notes: Vec<String>,
}

/// Share of the size of a surface within which vertices of STL and OBJ files are one, unless told otherwise.
pub const WELD: f64 = 1e-6;

/// Reads a mesh file; the content of every file that is opened is shown to `seen`. `weld` is the share of the size within which vertices of
/// triangles are one.
pub fn read(path: &Path, weld: f64, seen: &mut dyn FnMut(&[u8])) -> Result<Read, MeshError> {
    let in_file = |e| MeshError::InFile { path: path.to_owned(), error: Box::new(e) };
    let plain = |mesh| Read { mesh, notes: Vec::new() };
    if ending(path) == "vtu" {
        let file = shown(path, seen).map_err(|source| MeshError::Unreadable { path: path.into(), source })?;
        return vtk::read_xml(file).map(plain).map_err(in_file);
    }
    let content = bytes(path)?;
    seen(&content);
    let mesh = match format(path, &content)? {
        Format::Gmsh => gmsh::parse(&content).map(plain),
        Format::Vtu => vtk::parse_xml(&content).map(plain),
        Format::Vtk => vtk::parse_legacy(&content).map(plain),
        Format::Stl => triangles::stl(&content, weld),
        Format::Obj => triangles::obj(&content, weld),
        Format::Abaqus => {
            let folder = path.parent().unwrap_or(Path::new(""));
            let mut include = |name: &str| {
                let content = plain_bytes(&folder.join(name))?;
                seen(&content);
                Ok(content)
            };
            abaqus::parse(&content, &mut include).map(plain)
        }
    };
    mesh.map_err(in_file)
}

/// Whether a name is that of a mesh file, read here or not.
pub fn is_mesh_file(path: &Path) -> bool {
    let ending = ending(path);
    OURS.iter().any(|(word, _)| *word == ending)
        || FOREIGN.iter().any(|(words, ..)| words.contains(&ending.as_str()))
}

/// The content of a file.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, MeshError> {
    plain_bytes(path).map_err(|source| MeshError::Unreadable { path: PathBuf::from(path), source })
}

fn plain_bytes(path: &Path) -> io::Result<Vec<u8>> {
    must_be_file(path)?;
    std::fs::read(path)
}

/// A folder or device would fail later with a less helpful message, or never end.
fn must_be_file(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_file() { Ok(()) } else { Err(io::Error::other("it is not a file")) }
}

/// A file that is read as it goes by, after all of it was shown to `seen`.
fn shown(path: &Path, seen: &mut dyn FnMut(&[u8])) -> io::Result<BufReader<File>> {
    must_be_file(path)?;
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(file);
        }
        seen(piece);
        let count = piece.len();
        file.consume(count);
    }
}

#[derive(Clone, Copy)]
enum Format {
    Gmsh,
    Abaqus,
    Vtu,
    Vtk,
    Stl,
    Obj,
}

const OURS: [(&str, Format); 6] = [
    ("msh", Format::Gmsh),
    ("inp", Format::Abaqus),
    ("vtu", Format::Vtu),
    ("vtk", Format::Vtk),
    ("stl", Format::Stl),
    ("obj", Format::Obj),
];

const MESHIO: &str = "convert it: meshio convert FILE mesh.inp (Python: pip install meshio)";
/// Endings, what they are, and what to do with them.
const FOREIGN: [(&[&str], &str, &str); 10] = [
    (
        &["step", "stp", "iges", "igs", "brep"],
        "a geometry and no mesh",
        "mesh it: gmsh -3 -order 2 FILE -o mesh.msh",
    ),
    (&["geo"], "a script of Gmsh and no mesh", "mesh it: gmsh -3 -order 2 FILE -o mesh.msh"),
    (&["bdf", "nas", "fem"], "a Nastran deck", MESHIO),
    (&["med"], "a MED file", MESHIO),
    (&["exo", "e", "ex2", "cgns"], "an Exodus or CGNS file", MESHIO),
    (
        &["unv", "f3grid", "su2", "xdmf", "h5m", "mesh", "meshb", "ply", "off", "dat", "tec"],
        "a file of another tool",
        MESHIO,
    ),
    (&["cdb", "ans", "dat"], "an ANSYS file", MESHIO),
    (&["k", "key", "dyn"], "an LS-DYNA deck", "open it in LS-PrePost and save it as Abaqus (.inp)"),
    (
        &["vtp", "vts", "vtr", "vti", "pvtu", "vtm", "pvd", "vtkhdf"],
        "a VTK file, but no unstructured grid of one piece",
        "save it as .vtu from ParaView (filter Append Datasets)",
    ),
    (&["3mf", "amf", "glb", "gltf", "fbx"], "a surface", "save it as STL or OBJ"),
];

fn ending(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn format(path: &Path, content: &[u8]) -> Result<Format, MeshError> {
    let ending = ending(path);
    if let Some((_, format)) = OURS.iter().find(|(word, _)| *word == ending) {
        return Ok(*format);
    }
    let begins = [(&b"$MeshFormat"[..], Format::Gmsh), (b"# vtk", Format::Vtk), (b"*", Format::Abaqus)];
    let text = content.trim_ascii_start();
    if let Some((_, format)) = begins.iter().find(|(first, _)| text.starts_with(first)) {
        return Ok(*format);
    }
    let (_, what, help) =
        FOREIGN.iter().find(|(words, ..)| words.contains(&ending.as_str())).copied().unwrap_or((
            &[],
            "no mesh file that is known",
            "read are Gmsh .msh, Abaqus .inp, VTK .vtu and .vtk, STL and OBJ; meshio converts many others",
        ));
    Err(MeshError::Foreign { path: path.to_owned(), what, help })
}
