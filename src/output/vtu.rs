//! One frame as a VTU file: what ParaView, PyVista and [`crate::output::pvd`] understand.
//!
//! An unstructured grid with appended raw data, compressed by zlib in blocks of `BLOCK` bytes,
//! lengths as `UInt64`, numbers in the byte order of the machine. **Points are current positions**, so
//! that a viewer shows the deformed shape at once; the reference shape is `points − displacement`.
//!
//! ```text
//! <VTKFile …> … <DataArray … offset="at"/> … <AppendedData encoding="raw">_ array array … </AppendedData></VTKFile>
//! array  = blocks n · block size · size of the last block (0: full) · n compressed sizes · n zlib streams
//! ```
//!
//! The file is written beside its place as `NAME.tmp` and renamed when complete. Blocks are compressed in
//! the caller's thread pool, and the bytes do not depend on its size. What does not change from frame
//! to frame (cells, body ids) is compressed once: [`PackedCells`], [`Packed`].
//!
//! The reader takes what this writer writes and refuses anything else with a reason. Every length in
//! a file is checked against the file's own size and the grid's counts before memory is reserved for it.

mod read;

pub(crate) use read::read_vtu_fields;
pub use read::{FieldData, FrameData, parse, read_vtu};

use crate::math::Vec3;
use crate::mesh::CellKind;
use crate::run::disk::{self, unfinished};
use flate2::{Compress, Compression, FlushCompress, Status};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of one block before compression: large enough for zlib's window, small enough to share out.
pub(crate) const BLOCK: usize = 256 * 1024;
/// Blocks compressed before they are written: bounds the memory of a frame (8 MiB of input).
const BATCH: usize = 32;
/// zlib's fastest level: doubles are nearly random in their low bytes, more effort gains little.
const LEVEL: u32 = 1;
/// Characters kept free for an offset that is known only after its array is written.
const OFFSET_WIDTH: usize = 20;

const BYTE_ORDER: &str = if cfg!(target_endian = "little") { "LittleEndian" } else { "BigEndian" };
const APPENDED: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
const CLOSING: &[u8] = b"\n  </AppendedData>\n</VTKFile>\n";

/// Names that the solver gives its fields and pictures look for.
pub mod name {
    /// Point vector [m]: current minus reference position.
    pub const DISPLACEMENT: &str = "displacement";
    /// Point vector [m/s].
    pub const VELOCITY: &str = "velocity";
    /// Point vector [N].
    pub const CONTACT_FORCE: &str = "contact_force";
    /// Cell integer: which body.
    pub const BODY: &str = "body";
    /// Cell integer: 0 for elements, 1 for obstacles, 2 for the drawn part of a plane; missing without obstacles.
    pub const RIGID: &str = "rigid";
    /// Tensor [Pa] of cells and of points, Cauchy stress: XX YY ZZ XY YZ XZ.
    pub const STRESS: &str = "stress";
    /// Scalar [Pa] of cells and of points: von Mises stress.
    pub const MISES: &str = "mises";
    /// Cell scalar [Pa]: largest von Mises stress of the integration points.
    pub const MISES_MAX: &str = "mises_max";
    /// Cell scalar [Pa]: the largest of [`MISES_MAX`] since the start.
    pub(crate) const MISES_PEAK: &str = "mises_peak";
    /// Cell tensors and scalars [Pa], one for each integration point.
    pub const STRESS_POINTS: &str = "stress_points";
    pub const MISES_POINTS: &str = "mises_points";
}

/// Why a frame could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum VtuError {
    #[error("cannot write frame `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read frame `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The caller's arrays do not fit together.
    #[error("frame `{}`: {what}", path.display())]
    Mismatch { path: PathBuf, what: String },
    #[error("`{}` is not a frame written by Carom: {what}", path.display())]
    Foreign { path: PathBuf, what: String },
    #[error("frame `{}` is damaged: {what}; it was cut short or changed after it was written", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("frame `{}` {lack}", path.display())]
    Memory { path: PathBuf, lack: String },
}

/// Numbers of one array, as they lie in memory and as they are stored.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    /// Doubles rounded to single precision on the way to the file.
    Single(&'a [f64]),
    I64(&'a [i64]),
    I32(&'a [i32]),
    U8(&'a [u8]),
    /// Compressed before, for arrays that stay the same from frame to frame.
    Packed(&'a Packed),
}

impl<'a> Values<'a> {
    /// Vectors in double precision.
    pub fn vectors(v: &'a [Vec3]) -> Self {
        Values::F64(bytemuck::cast_slice(v))
    }

    /// Vectors stored in single precision.
    pub fn single_vectors(v: &'a [Vec3]) -> Self {
        Values::Single(bytemuck::cast_slice(v))
    }

    /// Numbers, not tuples.
    fn len(&self) -> usize {
        match self {
            Values::F64(v) | Values::Single(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::I64(v) => v.len(),
            Values::I32(v) => v.len(),
            Values::U8(v) => v.len(),
            Values::Packed(p) => p.len,
        }
    }

    fn stored(&self) -> Stored {
        match self {
            Values::F64(_) => Stored::Float64,
            Values::F32(_) | Values::Single(_) => Stored::Float32,
            Values::I64(_) => Stored::Int64,
            Values::I32(_) => Stored::Int32,
            Values::U8(_) => Stored::UInt8,
            Values::Packed(p) => p.stored,
        }
    }

    /// Bytes of block `i` as the file stores them.
    fn block(&self, i: usize) -> Cow<'a, [u8]> {
        fn slice(bytes: &[u8], i: usize) -> Cow<'_, [u8]> {
            Cow::Borrowed(&bytes[i * BLOCK..((i + 1) * BLOCK).min(bytes.len())])
        }
        match self {
            Values::F64(v) => slice(bytemuck::cast_slice(v), i),
            Values::F32(v) => slice(bytemuck::cast_slice(v), i),
            Values::I64(v) => slice(bytemuck::cast_slice(v), i),
            Values::I32(v) => slice(bytemuck::cast_slice(v), i),
            Values::U8(v) => slice(v, i),
            Values::Single(v) => {
                let per_block = BLOCK / size_of::<f32>();
                let part = &v[i * per_block..((i + 1) * per_block).min(v.len())];
                let single: Vec<f32> = part.iter().map(|&x| x as f32).collect();
                Cow::Owned(bytemuck::cast_slice(&single).to_vec())
            }
            Values::Packed(_) => Cow::Borrowed(&[]),
        }
    }
}

/// Number type in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Float64,
    Float32,
    Int64,
    Int32,
    UInt8,
}

impl Stored {
    const ALL: [Stored; 5] = [Stored::Float64, Stored::Float32, Stored::Int64, Stored::Int32, Stored::UInt8];

    fn name(self) -> &'static str {
        match self {
            Stored::Float64 => "Float64",
            Stored::Float32 => "Float32",
            Stored::Int64 => "Int64",
            Stored::Int32 => "Int32",
            Stored::UInt8 => "UInt8",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Stored::Float64 | Stored::Int64 => 8,
            Stored::Float32 | Stored::Int32 => 4,
            Stored::UInt8 => 1,
        }
    }
}

/// One array compressed, ready to be copied into any number of frames.
pub struct Packed {
    stored: Stored,
    len: usize,
    bytes: Vec<u8>,
}

impl Packed {
    pub fn new(values: Values) -> Packed {
        let mut out = io::Cursor::new(Vec::new());
        // A vector in memory takes every write.
        let _ = write_array(&mut out, &values);
        Packed { stored: values.stored(), len: values.len(), bytes: out.into_inner() }
    }
}

/// The cells of a model, compressed once for all frames: blocks of one kind, in the order of cell fields.
pub struct PackedCells {
    cells: usize,
    /// Largest node id plus one.
    nodes: usize,
    connectivity: Packed,
    offsets: Packed,
    types: Packed,
}

impl PackedCells {
    pub fn new(blocks: &[(CellKind, &[u32])]) -> PackedCells {
        let total: usize = blocks.iter().map(|(_, n)| n.len()).sum();
        let mut connectivity: Vec<i32> = Vec::with_capacity(total);
        let (mut offsets, mut types) = (Vec::new(), Vec::new());
        let mut end = 0_i64;
        let mut nodes = 0;
        for &(kind, ids) in blocks {
            connectivity.extend(ids.iter().map(|&id| id as i32));
            nodes = ids.iter().fold(nodes, |most, &id| most.max(id as usize + 1));
            for _ in 0..ids.len() / kind.nodes() {
                end += kind.nodes() as i64;
                offsets.push(end);
                types.push(vtk_type(kind));
            }
        }
        PackedCells {
            cells: types.len(),
            nodes,
            connectivity: Packed::new(Values::I32(&connectivity)),
            offsets: Packed::new(Values::I64(&offsets)),
            types: Packed::new(Values::U8(&types)),
        }
    }
}

/// A named array on points or cells, `components` numbers each.
pub struct Field<'a> {
    pub name: &'a str,
    pub components: usize,
    pub values: Values<'a>,
}

/// All that goes into one file.
pub struct Frame<'a> {
    /// [s]
    pub time: f64,
    /// Current positions [m].
    pub points: &'a [Vec3],
    pub cells: &'a PackedCells,
    pub point_fields: &'a [Field<'a>],
    pub cell_fields: &'a [Field<'a>],
}

/// Cell type numbers of VTK.
fn vtk_type(kind: CellKind) -> u8 {
    match kind {
        CellKind::Bar2 => 3,
        CellKind::Tri3 | CellKind::Shell3 => 5,
        CellKind::Quad4 => 9,
        CellKind::Tet4 => 10,
        CellKind::Hex8 => 12,
        CellKind::Tet10 => 24,
    }
}

fn kind_of(vtk: u8) -> Option<CellKind> {
    [CellKind::Bar2, CellKind::Tri3, CellKind::Quad4, CellKind::Tet4, CellKind::Hex8, CellKind::Tet10]
        .into_iter()
        .find(|&kind| vtk_type(kind) == vtk)
}

/// Writes one frame: complete under its name, or not at all.
pub fn write_vtu(path: &Path, frame: &Frame) -> Result<(), VtuError> {
    check(path, frame)?;
    let tmp = unfinished(path);
    let outcome = write_file(&tmp, frame).inspect(|()| disk::written(&tmp));
    disk::give_name(&tmp, path, outcome).map_err(|source| VtuError::Write { path: path.to_owned(), source })
}

/// The counts of a frame agree, so that the file cannot lie.
fn check(path: &Path, frame: &Frame) -> Result<(), VtuError> {
    let complain = |what: String| Err(VtuError::Mismatch { path: path.to_owned(), what });
    let points = frame.points.len();
    if points > i32::MAX as usize {
        return complain(format!("{points} points, at most {} fit", i32::MAX));
    }
    if frame.cells.nodes > points {
        return complain(format!("a cell names node {}, there are {points} points", frame.cells.nodes - 1));
    }
    for (fields, count, what) in
        [(frame.point_fields, points, "points"), (frame.cell_fields, frame.cells.cells, "cells")]
    {
        for field in fields {
            if field.values.len() != count * field.components {
                return complain(format!(
                    "field `{}` holds {} numbers, {count} {what} with {} components need {}",
                    field.name,
                    field.values.len(),
                    field.components,
                    count * field.components
                ));
            }
        }
    }
    Ok(())
}

fn write_file(path: &Path, frame: &Frame) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let time = [frame.time];
    let positions = Field { name: "points", components: 3, values: Values::vectors(frame.points) };
    let cells = frame.cells;

    // The head, with room left for each array's offset.
    let mut head = Head::default();
    head.line("<?xml version=\"1.0\"?>");
    head.line(&format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{BYTE_ORDER}\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">"
    ));
    head.line("  <UnstructuredGrid>");
    head.line("    <FieldData>");
    head.array("TimeValue", Values::F64(&time), " NumberOfTuples=\"1\"");
    head.line("    </FieldData>");
    head.line(&format!(
        "    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">",
        frame.points.len(),
        cells.cells
    ));
    head.line("      <Points>");
    head.field(&positions);
    head.line("      </Points>");
    head.line("      <Cells>");
    head.array("connectivity", Values::Packed(&cells.connectivity), "");
    head.array("offsets", Values::Packed(&cells.offsets), "");
    head.array("types", Values::Packed(&cells.types), "");
    head.line("      </Cells>");
    head.line("      <PointData>");
    frame.point_fields.iter().for_each(|f| head.field(f));
    head.line("      </PointData>");
    head.line("      <CellData>");
    frame.cell_fields.iter().for_each(|f| head.field(f));
    head.line("      </CellData>");
    head.line("    </Piece>");
    head.line("  </UnstructuredGrid>");
    out.write_all(head.text.as_bytes())?;
    out.write_all(b"  ")?;
    out.write_all(APPENDED)?;

    let mut at = 0;
    for (place, values) in &head.arrays {
        let offset = format!("offset=\"{at}\"");
        head.text.replace_range(*place..place + offset.len(), &offset);
        at += write_array(&mut out, values)?;
    }
    out.write_all(CLOSING)?;
    // Once for all arrays: what is buffered goes to the system whenever the place changes.
    out.rewind()?;
    out.write_all(head.text.as_bytes())?;
    out.flush()
}

/// The XML before the data, and where each array's offset will go.
#[derive(Default)]
struct Head<'a> {
    text: String,
    arrays: Vec<(usize, Values<'a>)>,
}

impl<'a> Head<'a> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn field(&mut self, field: &Field<'a>) {
        let mut extra = format!(" NumberOfComponents=\"{}\"", field.components);
        if field.components == 6 {
            for (i, name) in ["XX", "YY", "ZZ", "XY", "YZ", "XZ"].iter().enumerate() {
                extra.push_str(&format!(" ComponentName{i}=\"{name}\""));
            }
        }
        self.array(field.name, field.values, &extra);
    }

    fn array(&mut self, name: &str, values: Values<'a>, extra: &str) {
        self.text.push_str(&format!(
            "        <DataArray type=\"{}\" Name=\"{}\"{extra} format=\"appended\" ",
            values.stored().name(),
            escape(name)
        ));
        self.arrays.push((self.text.len(), values));
        // offset="…": ten characters around the number.
        self.text.push_str(&" ".repeat(10 + OFFSET_WIDTH));
        self.line("/>");
    }
}

/// Compresses one array block by block, behind the table of their sizes; returns the bytes of both.
fn write_array<W: Write + Seek>(out: &mut W, values: &Values) -> io::Result<u64> {
    if let Values::Packed(packed) = values {
        out.write_all(&packed.bytes)?;
        return Ok(packed.bytes.len() as u64);
    }
    let bytes = values.len() * values.stored().bytes();
    let blocks = bytes.div_ceil(BLOCK);
    let mut sizes = vec![0_u64; 3 + blocks];
    sizes[0] = blocks as u64;
    sizes[1] = BLOCK as u64;
    sizes[2] = (bytes % BLOCK) as u64;
    // The table is complete before the blocks where one batch holds them all.
    let incomplete = (blocks > BATCH).then(|| out.stream_position()).transpose()?;
    for first in (0..blocks.max(1)).step_by(BATCH) {
        let batch = first..(first + BATCH).min(blocks);
        let packed: Vec<Vec<u8>> = batch
            .clone()
            .into_par_iter()
            .map_init(
                || Compress::new(Compression::new(LEVEL), true),
                |zlib, i| {
                    zlib.reset();
                    deflate(zlib, &values.block(i))
                },
            )
            .collect::<io::Result<_>>()?;
        sizes[3..][batch].iter_mut().zip(&packed).for_each(|(size, block)| *size = block.len() as u64);
        if first == 0 {
            out.write_all(bytemuck::cast_slice(&sizes))?;
        }
        packed.iter().try_for_each(|block| out.write_all(block))?;
    }
    if let Some(table) = incomplete {
        out.seek(SeekFrom::Start(table))?;
        out.write_all(bytemuck::cast_slice(&sizes))?;
        out.seek(SeekFrom::End(0))?;
    }
    Ok(size_of_val(&sizes[..]) as u64 + sizes[3..].iter().sum::<u64>())
}

fn deflate(zlib: &mut Compress, input: &[u8]) -> io::Result<Vec<u8>> {
    // What zlib itself promises as an upper bound, generously.
    let mut out = Vec::with_capacity(input.len() + input.len() / 512 + 128);
    loop {
        let read = zlib.total_in() as usize;
        let status =
            zlib.compress_vec(&input[read..], &mut out, FlushCompress::Finish).map_err(io::Error::other)?;
        match status {
            Status::StreamEnd => return Ok(out),
            Status::Ok | Status::BufError => out.reserve(out.capacity() / 2 + 128),
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::testing::scratch;
    use std::fs;

    /// A hex, a tet on top of it, a quad and a triangle beside, a bar: every kind once, two hex runs.
    fn mixed() -> (Vec<Vec3>, Vec<(CellKind, Vec<u32>)>) {
        let mut points: Vec<Vec3> =
            (0..12).map(|i| Vec3::new((i % 2) as f64, ((i / 2) % 2) as f64, (i / 4) as f64) / 3.0).collect();
        points.extend((0..4).map(|i| Vec3::new(2.0 + i as f64, (i * i) as f64 * 1e-7, -1e12)));
        let hex = |z: u32| [0, 1, 3, 2, 4, 5, 7, 6].map(|i| i + 4 * z).to_vec();
        let cells = vec![
            (CellKind::Hex8, hex(0)),
            (CellKind::Tet4, vec![4, 5, 6, 12]),
            (CellKind::Hex8, hex(1)),
            (CellKind::Quad4, vec![12, 13, 14, 15]),
            (CellKind::Tri3, vec![12, 13, 14, 13, 14, 15]),
            (CellKind::Bar2, vec![0, 15]),
        ];
        (points, cells)
    }

    fn borrowed(cells: &[(CellKind, Vec<u32>)]) -> Vec<(CellKind, &[u32])> {
        cells.iter().map(|(kind, nodes)| (*kind, nodes.as_slice())).collect()
    }

    #[test]
    fn a_frame_comes_back_as_it_was_written() {
        let dir = scratch("vtu_round_trip");
        let path = dir.join("000000.vtu");
        let (points, cells) = mixed();
        let velocity: Vec<Vec3> = points.iter().map(|p| p.cross(&Vec3::new(1e-3, 2.0, -1e5))).collect();
        let stress: Vec<f64> = (0..7 * 6).map(|i| (i as f64).sin() * 1e9).collect();
        let body = Packed::new(Values::I32(&[0, 1, 0, 2, 2, 2, -3]));
        let packed = PackedCells::new(&borrowed(&cells));
        write_vtu(
            &path,
            &Frame {
                time: 0.1 + 0.2,
                points: &points,
                cells: &packed,
                point_fields: &[Field {
                    name: "a & \"b\" <c>",
                    components: 3,
                    values: Values::vectors(&velocity),
                }],
                cell_fields: &[
                    Field { name: name::STRESS, components: 6, values: Values::Single(&stress) },
                    Field { name: name::BODY, components: 1, values: Values::Packed(&body) },
                ],
            },
        )
        .unwrap();

        let back = read_vtu(&path).unwrap();
        assert_eq!(back.time, 0.1 + 0.2);
        assert_eq!(back.points, points);
        assert_eq!(back.cells, cells);
        let v = back.point_field("a & \"b\" <c>").unwrap();
        assert_eq!((v.components, v.values.as_slice()), (3, bytemuck::cast_slice(velocity.as_slice())));
        let single: Vec<f64> = stress.iter().map(|&s| s as f32 as f64).collect();
        assert_eq!(back.cell_field(name::STRESS).unwrap().values, single);
        assert_eq!(back.cell_field(name::BODY).unwrap().values, [0.0, 1.0, 0.0, 2.0, 2.0, 2.0, -3.0]);
        assert!(!unfinished(&path).exists());

        let part = read_vtu_fields(&path, |n| n == name::BODY).unwrap();
        assert!(part.point_fields.is_empty() && part.cell_fields.len() == 1);
    }

    /// Lengths around the block size: empty, one short, exact, one over, several batches.
    #[test]
    fn arrays_of_any_length_survive_the_blocks() {
        let dir = scratch("vtu_blocks");
        let per_block = BLOCK / 8;
        let cells = PackedCells::new(&[]);
        for n in [0, 1, per_block - 1, per_block, per_block + 1, 40 * per_block + 7] {
            let points: Vec<Vec3> = vec![Vec3::zeros(); n];
            let values: Vec<f64> =
                (0..n).map(|i| ((i * 2654435761) % 1000003) as f64 * std::f64::consts::PI).collect();
            let path = dir.join("frame.vtu");
            let fields = [
                Field { name: "d", components: 1, values: Values::F64(&values) },
                Field { name: "s", components: 1, values: Values::Single(&values) },
            ];
            write_vtu(
                &path,
                &Frame { time: 0.0, points: &points, cells: &cells, point_fields: &fields, cell_fields: &[] },
            )
            .unwrap();
            let back = read_vtu(&path).unwrap();
            assert_eq!(back.point_field("d").unwrap().values, values, "{n}");
            assert!(
                back.point_field("s")
                    .unwrap()
                    .values
                    .iter()
                    .zip(&values)
                    .all(|(a, &b)| *a == b as f32 as f64)
            );
        }
    }

    #[test]
    fn the_file_does_not_depend_on_the_number_of_threads() {
        let dir = scratch("vtu_threads");
        let points: Vec<Vec3> =
            (0..100_000).map(|i| Vec3::new((i as f64).sin(), (i as f64).cos(), i as f64)).collect();
        let files: Vec<Vec<u8>> = [1, 2, 5]
            .iter()
            .map(|&threads| {
                let path = dir.join("frame.vtu");
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let cells = PackedCells::new(&[(CellKind::Bar2, &[0, 1])]);
                    let frame = Frame {
                        time: 1.0,
                        points: &points,
                        cells: &cells,
                        point_fields: &[],
                        cell_fields: &[],
                    };
                    write_vtu(&path, &frame).unwrap();
                });
                fs::read(&path).unwrap()
            })
            .collect();
        assert!(files.iter().all(|f| *f == files[0]));
    }

    #[test]
    fn a_field_of_the_wrong_length_is_refused_before_anything_is_written() {
        let path = scratch("vtu_mismatch").join("frame.vtu");
        let cells = PackedCells::new(&[]);
        let fields = [Field { name: "u", components: 3, values: Values::F64(&[1.0]) }];
        let frame = Frame {
            time: 0.0,
            points: &[Vec3::zeros()],
            cells: &cells,
            point_fields: &fields,
            cell_fields: &[],
        };
        let error = write_vtu(&path, &frame).unwrap_err();
        assert!(error.to_string().contains("field `u` holds 1 numbers"), "{error}");
        assert!(!path.exists());
    }

    /// Cut at every length, and flipped bytes: an error or the old numbers, never a panic.
    #[test]
    fn a_damaged_frame_is_refused() {
        let dir = scratch("vtu_damaged");
        let path = dir.join("frame.vtu");
        let (points, cells) = mixed();
        let packed = PackedCells::new(&borrowed(&cells));
        let frame = Frame {
            time: 1.0,
            points: &points,
            cells: &packed,
            point_fields: &[Field { name: "u", components: 3, values: Values::vectors(&points) }],
            cell_fields: &[],
        };
        write_vtu(&path, &frame).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            assert!(read::parse(&path, &whole[..length], |_| true).is_err(), "cut at {length}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x11;
            let _ = read::parse(&path, &changed, |_| true);
        }
        fs::write(&path, "time,step\n0,0\n").unwrap();
        assert!(matches!(read_vtu(&path), Err(VtuError::Foreign { .. })));
        assert!(matches!(read_vtu(&dir.join("none.vtu")), Err(VtuError::Read { .. })));
    }
}
