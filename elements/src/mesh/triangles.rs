//! Surfaces of triangles from STL (text or binary) and OBJ files.
//!
//! An STL file repeats the corners of every triangle, and an OBJ file those where its colours end: corners within a distance that is told become one
//! node (`weld.rs`), and triangles that lose a corner by it are dropped, which is told too. Of an OBJ file only `v` and `f` are read, faces of
//! four corners are cut in two.

use super::error::Place;
use super::file::Read;
use super::weld::weld;
use super::{CellKind, Cells, Mesh, MeshError};
use crate::math::Vec3;
use std::collections::HashMap;

/// Bytes before the triangles of a binary STL file, and those of a triangle: normal, three corners, a word that nobody reads.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// Reads an STL file; corners within `share` of its size are one.
pub fn stl(bytes: &[u8], share: f64) -> Result<Read, MeshError> {
    let mut mesh = Equal::default();
    match binary_count(bytes) {
        Some(count) => {
            for (k, t) in bytes[HEADER..HEADER + TRIANGLE * count].chunks_exact(TRIANGLE).enumerate() {
                let number = |i: usize| f32::from_le_bytes([t[i], t[i + 1], t[i + 2], t[i + 3]]) as f64;
                let corner = |c: usize| [0, 4, 8].map(|i| number(12 + 12 * c + i));
                mesh.triangle([corner(0), corner(1), corner(2)], Place::Byte(HEADER + TRIANGLE * k))?;
            }
        }
        None => text_stl(bytes, &mut mesh)?,
    }
    // gone before more room is needed
    drop(mesh.known);
    whole(mesh.nodes, mesh.cells, share)
}

/// Triangles of a binary file: its length says whether it is one, not its first word.
fn binary_count(bytes: &[u8]) -> Option<usize> {
    let count = u32::from_le_bytes(bytes.get(80..HEADER)?.try_into().ok()?) as usize;
    (count.checked_mul(TRIANGLE)?.checked_add(HEADER)? == bytes.len()).then_some(count)
}

fn text_stl(bytes: &[u8], mesh: &mut Equal) -> Result<(), MeshError> {
    let mut corners: Vec<[f64; 3]> = Vec::new();
    for (line, text) in lines(bytes)? {
        let mut words = text.split_whitespace();
        match words.next() {
            Some("vertex") => corners.push(three(words, line)?),
            Some("endfacet") => {
                let &[a, b, c] = &corners[..] else {
                    return trouble(
                        line,
                        format!("a facet has three corners, and this one {}", corners.len()),
                    );
                };
                mesh.triangle([a, b, c], Place::Line { line, column: 1 })?;
                corners.clear();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads an OBJ file; corners within `share` of its size are one.
pub fn obj(bytes: &[u8], share: f64) -> Result<Read, MeshError> {
    let mut nodes: Vec<Vec3> = Vec::new();
    let mut cells = Vec::new();
    for (line, text) in lines(bytes)? {
        let mut words = text.split_whitespace();
        match words.next() {
            Some("v") => nodes.push(three(words, line)?.into()),
            Some("f") => {
                let corners: Vec<u32> =
                    words.map(|word| corner(word, nodes.len(), line)).collect::<Result<_, _>>()?;
                match corners[..] {
                    [a, b, c] => cells.extend([a, b, c]),
                    [a, b, c, d] => cells.extend([a, b, c, a, c, d]),
                    _ => {
                        let count = corners.len();
                        return trouble(
                            line,
                            format!("a face of {count} corners; triangles and quadrilaterals are read"),
                        );
                    }
                }
            }
            _ => {}
        }
    }
    whole(nodes, cells, share)
}

/// `7`, `7/1/3` or `-1`, counted from one, or from the last node backwards.
fn corner(word: &str, nodes: usize, line: usize) -> Result<u32, MeshError> {
    let first = word.split('/').next().unwrap_or_default();
    let index = match first.parse::<i64>() {
        Ok(k) if k > 0 => k - 1,
        Ok(k) if k < 0 => nodes as i64 + k,
        _ => return trouble(line, format!("\"{word}\" is no corner; corners count from 1")),
    };
    match usize::try_from(index) {
        Ok(k) if k < nodes => Ok(k as u32),
        _ => trouble(line, format!("corner {first} of {nodes} that there are so far")),
    }
}

fn three<'a>(mut words: impl Iterator<Item = &'a str>, line: usize) -> Result<[f64; 3], MeshError> {
    let mut x = [0.0; 3];
    for x in &mut x {
        match words.next().map(str::parse::<f64>) {
            Some(Ok(number)) if number.is_finite() => *x = number,
            _ => return trouble(line, "a point needs three numbers".into()),
        }
    }
    Ok(x)
}

fn lines(bytes: &[u8]) -> Result<impl Iterator<Item = (usize, &str)>, MeshError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let problem = "neither text nor a binary STL file whose length fits its count of triangles".into();
        MeshError::Content { place: Place::Byte(e.valid_up_to()), problem }
    })?;
    Ok(text.lines().enumerate().map(|(k, line)| (k + 1, line.trim())))
}

fn trouble<T>(line: usize, problem: String) -> Result<T, MeshError> {
    Err(MeshError::Content { place: Place::Line { line, column: 1 }, problem })
}

/// Triangles whose corners become one where they are the same.
#[derive(Default)]
struct Equal {
    nodes: Vec<Vec3>,
    cells: Vec<u32>,
    known: HashMap<[u64; 3], u32>,
}

impl Equal {
    fn triangle(&mut self, corners: [[f64; 3]; 3], place: Place) -> Result<(), MeshError> {
        // 0 and −0 are the same place
        let ids = corners.map(|x| {
            *self.known.entry(x.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
                self.nodes.push(x.into());
                self.nodes.len() as u32 - 1
            })
        });
        if !corners.iter().flatten().all(|x| x.is_finite()) {
            return Err(MeshError::Content { place, problem: "a coordinate is not a number".into() });
        }
        self.cells.extend(ids);
        Ok(())
    }
}

fn whole(nodes: Vec<Vec3>, mut cells: Vec<u32>, share: f64) -> Result<Read, MeshError> {
    let nothing = |problem: &str| MeshError::Content { place: Place::Byte(0), problem: problem.into() };
    if cells.is_empty() {
        return Err(nothing("the file holds no triangles"));
    }
    let mut mesh = Mesh { nodes, ..Mesh::default() };
    let size = mesh.bounds().map_or(0.0, |(low, high)| (high - low).amax());
    let (within, before, triangles) = (share * size, mesh.nodes.len(), cells.len() / 3);
    let welded = weld(&mesh.nodes, within);
    mesh.nodes = welded.nodes;
    cells.iter_mut().for_each(|n| *n = welded.of[*n as usize]);
    let (all, _) = cells.as_chunks::<3>();
    let kept = all.iter().filter(|[a, b, c]| a != b && b != c && c != a);
    let cells: Vec<u32> = kept.flatten().copied().collect();
    if cells.is_empty() {
        return Err(nothing("all triangles have two corners in one point"));
    }
    let mut notes = vec![format!("corners within {within:.3e} m are one node")];
    match before - mesh.nodes.len() {
        0 => {}
        n => notes.push(format!("{n} corners that were not equal to the last digit were welded")),
    }
    match triangles - cells.len() / 3 {
        0 => {}
        n => notes.push(format!("{n} triangles with two corners in one point were left out")),
    }
    mesh.cells = vec![Cells { kind: CellKind::Tri3, nodes: cells }];
    mesh.drop_unused_nodes();
    Ok(Read { mesh, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron.
    const CORNERS: [[f32; 3]; 4] = [[0., 0., 0.], [1.5, 0., 0.], [0., 1., 0.], [0., 0., 1.]];
    const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn places(mesh: &Mesh) -> Vec<[Vec3; 3]> {
        let of = |t: &[u32]| [0, 1, 2].map(|k| mesh.nodes[t[k] as usize]);
        mesh.cells[0].nodes.chunks_exact(3).map(of).collect()
    }

    #[test]
    fn the_three_ways_to_write_a_surface_are_one_surface() {
        let mut text = String::from("solid thing\n");
        let mut binary = vec![b's'; 80];
        binary.extend(4u32.to_le_bytes());
        for f in FACES {
            text += " facet normal 0 0 0\n  outer loop\n";
            binary.extend([0u8; 12]);
            for k in f {
                let [x, y, z] = CORNERS[k];
                text += &format!("   vertex {x} {y} {z:e}\n");
                CORNERS[k].iter().for_each(|x| binary.extend(x.to_le_bytes()));
            }
            text += "  endloop\n endfacet\n";
            binary.extend([0u8; 2]);
        }
        text += "endsolid thing\n";
        let mut other = String::from("# a comment\n");
        CORNERS.iter().for_each(|[x, y, z]| other += &format!("v {x} {y} {z}\n"));
        for f in FACES {
            other += &format!("f {}/1 {}//2 {}\n", f[0] + 1, f[1] as i64 - 4, f[2] + 1);
        }
        let meshes = [stl(text.as_bytes(), 0.0), stl(&binary, 0.0), obj(other.as_bytes(), 0.0)]
            .map(|r| r.unwrap().mesh);
        for mesh in &meshes {
            assert_eq!(mesh.nodes.len(), 4);
            assert_eq!(places(mesh), places(&meshes[2]));
        }
        let square = obj(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", 0.0).unwrap().mesh;
        assert_eq!(square.cells[0].nodes, [0, 1, 2, 0, 2, 3]);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let told = |r: Result<Read, MeshError>| r.map(|_| ()).unwrap_err().to_string();
        let (stl, obj) = (|b: &[u8]| stl(b, 0.0), |b: &[u8]| obj(b, 0.0));
        assert!(told(obj(b"v 0 0 0\nv 1 0\n")).starts_with("line 2"));
        assert!(told(obj(b"v 0 0 0\nf 1 2 3\n")).contains("corner 2 of 1"));
        assert!(told(obj(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 1 2\n")).contains("5 corners"));
        let double = b"solid\nfacet\nvertex 0 0 0\nvertex 0 0 -0\nvertex 1 0 0\nendfacet\n";
        assert!(told(stl(double)).contains("two corners in one point"));
        assert!(told(stl(b"solid\nfacet\nvertex 0 0 0\nendfacet\n")).starts_with("line 4"));
        assert!(told(stl(b"solid\nendsolid\n")).contains("no triangles"));
        assert!(told(stl(&[0xff; 100])).contains("neither text"));
    }

    /// Two triangles of a unit square that miss each other by 1e-7, and a sliver of that size.
    #[test]
    fn corners_within_the_tolerance_are_one_and_it_is_told() {
        let file = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1e-7 0\nv 1 1 1e-7\nv 0 1 0\nv 1e-7 1 0\nf 1 2 3\nf 4 5 6\nf 5 6 7\n";
        let apart = obj(file, 0.0).unwrap();
        assert_eq!((apart.mesh.nodes.len(), apart.mesh.cells[0].len()), (7, 3));
        let Read { mesh, notes } = obj(file, 1e-6).unwrap();
        assert_eq!((mesh.nodes.len(), &mesh.cells[0].nodes[..]), (4, &[0, 1, 2, 0, 2, 3][..]));
        let told = ["corners within 1.000e-6 m", "3 corners", "1 triangles"];
        assert!(notes.iter().zip(told).all(|(note, words)| note.starts_with(words)), "{notes:?}");
    }
}
