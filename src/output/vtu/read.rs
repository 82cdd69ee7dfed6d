//! The way back: a frame as this writer left it, or a reason why not.

use super::{APPENDED, BLOCK, BYTE_ORDER, CLOSING, Stored, VtuError, kind_of};
use crate::math::Vec3;
use crate::mesh::CellKind;
use crate::run::disk;
use crate::run::memory::lack_now;
use flate2::{Decompress, FlushDecompress, Status};
use rayon::prelude::*;
use std::path::Path;

/// A field as read, widened to `f64`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldData {
    pub name: String,
    pub components: usize,
    pub values: Vec<f64>,
}

/// A frame as read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameData {
    /// [s]
    pub time: f64,
    /// Current positions [m].
    pub points: Vec<Vec3>,
    /// Runs of cells of one kind, in the order of cell fields.
    pub cells: Vec<(CellKind, Vec<u32>)>,
    pub point_fields: Vec<FieldData>,
    pub cell_fields: Vec<FieldData>,
}

impl FrameData {
    pub fn point_field(&self, name: &str) -> Option<&FieldData> {
        self.point_fields.iter().find(|f| f.name == name)
    }

    pub fn cell_field(&self, name: &str) -> Option<&FieldData> {
        self.cell_fields.iter().find(|f| f.name == name)
    }

    pub(crate) fn cell_count(&self) -> usize {
        self.cells.iter().map(|(kind, nodes)| nodes.len() / kind.nodes()).sum()
    }
}

/// Reads one frame with all its fields.
pub fn read_vtu(path: &Path) -> Result<FrameData, VtuError> {
    read_vtu_fields(path, |_| true)
}

/// Reads one frame with the fields that `wanted` names; the others are not decompressed.
pub(crate) fn read_vtu_fields(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<FrameData, VtuError> {
    let bytes = disk::read_file(path).map_err(|source| VtuError::Read { path: path.to_owned(), source })?;
    parse(path, &bytes, wanted)
}

/// The frame that `bytes` hold; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8], wanted: impl Fn(&str) -> bool) -> Result<FrameData, VtuError> {
    Reader::open(path, bytes)?.frame(&wanted)
}

/// Where a `DataArray` stands in the file.
struct Entry {
    section: Section,
    name: String,
    stored: Stored,
    components: usize,
    offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    FieldData,
    Points,
    Cells,
    PointData,
    CellData,
}

struct Reader<'a> {
    path: &'a Path,
    data: &'a [u8],
    points: usize,
    cells: usize,
    entries: Vec<Entry>,
}

impl<'a> Reader<'a> {
    /// Reads the head and checks that the tail is there.
    fn open(path: &'a Path, bytes: &'a [u8]) -> Result<Reader<'a>, VtuError> {
        let foreign = |what: &str| VtuError::Foreign { path: path.to_owned(), what: what.to_owned() };
        let damaged = |what: &str| VtuError::Damaged { path: path.to_owned(), what: what.to_owned() };
        if bytes.is_empty() {
            return Err(damaged("it is empty"));
        }
        if !bytes.starts_with(b"<?xml") {
            return Err(foreign("it does not begin with an XML declaration"));
        }
        let Some(start) = find(bytes, APPENDED).map(|at| at + APPENDED.len()) else {
            return Err(if find(bytes, b"<VTKFile").is_none() {
                foreign("it has no <VTKFile> element")
            } else if bytes.ends_with(b"</VTKFile>\n") || bytes.ends_with(b"</VTKFile>") {
                foreign("its data are not appended raw")
            } else {
                damaged("it ends before its data begin")
            });
        };
        let head = std::str::from_utf8(&bytes[..start]).map_err(|_| foreign("its head is not text"))?;
        let mut reader = Reader { path, data: &[], points: 0, cells: 0, entries: Vec::new() };
        reader.read_head(head)?;
        let Some(data) = bytes[start..].strip_suffix(CLOSING) else {
            return Err(damaged("it does not end with </VTKFile>"));
        };
        reader.data = data;
        Ok(reader)
    }

    fn foreign(&self, what: impl Into<String>) -> VtuError {
        VtuError::Foreign { path: self.path.to_owned(), what: what.into() }
    }

    fn damaged(&self, what: impl Into<String>) -> VtuError {
        VtuError::Damaged { path: self.path.to_owned(), what: what.into() }
    }

    fn read_head(&mut self, head: &str) -> Result<(), VtuError> {
        let mut section = None;
        let mut pieces = 0;
        for tag in head.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap_or("").trim_end_matches('/');
            let word = tag.split_whitespace().next().unwrap_or("");
            match word {
                "VTKFile" => {
                    let expected = [
                        ("type", "UnstructuredGrid"),
                        ("byte_order", BYTE_ORDER),
                        ("header_type", "UInt64"),
                        ("compressor", "vtkZLibDataCompressor"),
                    ];
                    for (key, value) in expected {
                        let found = attribute(tag, key).unwrap_or_default();
                        if found != value {
                            return Err(self.foreign(format!("its {key} is \"{found}\", not \"{value}\"")));
                        }
                    }
                }
                "Piece" => {
                    pieces += 1;
                    self.points = self.count(tag, "NumberOfPoints")?;
                    self.cells = self.count(tag, "NumberOfCells")?;
                }
                "FieldData" => section = Some(Section::FieldData),
                "Points" => section = Some(Section::Points),
                "Cells" => section = Some(Section::Cells),
                "PointData" => section = Some(Section::PointData),
                "CellData" => section = Some(Section::CellData),
                "DataArray" => {
                    let Some(section) = section else {
                        return Err(self.foreign("an array stands outside the grid"));
                    };
                    let name = unescape(&attribute(tag, "Name").unwrap_or_default());
                    let kind = attribute(tag, "type").unwrap_or_default();
                    let Some(stored) = Stored::ALL.into_iter().find(|s| s.name() == kind) else {
                        return Err(self.foreign(format!("array `{name}` has the number type \"{kind}\"")));
                    };
                    if attribute(tag, "format").as_deref() != Some("appended") {
                        return Err(self.foreign(format!("array `{name}` is not appended")));
                    }
                    let components = match attribute(tag, "NumberOfComponents") {
                        Some(_) => self.count(tag, "NumberOfComponents")?,
                        None => 1,
                    };
                    let offset = self.count(tag, "offset")?;
                    self.entries.push(Entry { section, name, stored, components, offset });
                }
                _ => {}
            }
        }
        if pieces == 1 { Ok(()) } else { Err(self.foreign(format!("it has {pieces} pieces, not one"))) }
    }

    fn count(&self, tag: &str, key: &str) -> Result<usize, VtuError> {
        let text = attribute(tag, key).unwrap_or_default();
        text.parse().map_err(|_| self.foreign(format!("its {key} is \"{text}\", not a count")))
    }

    fn entry(&self, section: Section, name: Option<&str>) -> Result<&Entry, VtuError> {
        self.entries
            .iter()
            .find(|e| e.section == section && name.is_none_or(|n| n == e.name))
            .ok_or_else(|| self.foreign(format!("it has no array `{}`", name.unwrap_or("points"))))
    }

    fn time(&self) -> Result<f64, VtuError> {
        let entry = self.entry(Section::FieldData, Some("TimeValue"))?;
        Ok(self.numbers(entry, 1)?[0])
    }

    fn frame(&self, wanted: &dyn Fn(&str) -> bool) -> Result<FrameData, VtuError> {
        let time = self.time()?;
        if let Some(lack) = lack_now(self.bytes(wanted)) {
            return Err(VtuError::Memory { path: self.path.to_owned(), lack });
        }
        let entry = self.entry(Section::Points, None)?;
        if entry.components != 3 {
            return Err(self.foreign(format!("its points have {} coordinates", entry.components)));
        }
        let points = self.numbers(entry, self.points)?.chunks_exact(3).map(Vec3::from_column_slice).collect();
        let cells = self.read_cells()?;
        let fields = |section, tuples| {
            self.entries
                .iter()
                .filter(|e| e.section == section && wanted(&e.name))
                .map(|e| {
                    let values = self.numbers(e, tuples)?;
                    Ok(FieldData { name: e.name.clone(), components: e.components, values })
                })
                .collect::<Result<Vec<_>, VtuError>>()
        };
        Ok(FrameData {
            time,
            points,
            cells,
            point_fields: fields(Section::PointData, self.points)?,
            cell_fields: fields(Section::CellData, self.cells)?,
        })
    }

    /// What a frame takes while it is read and looked at [bytes]: its numbers, and as much again for what is made of them. A cell has
    /// eight nodes, and the six quadrilaterals around it are sorted to find the skin.
    fn bytes(&self, wanted: &dyn Fn(&str) -> bool) -> f64 {
        let field = |e: &Entry| {
            let tuples = match e.section {
                Section::PointData if wanted(&e.name) => self.points,
                Section::CellData if wanted(&e.name) => self.cells,
                _ => 0,
            };
            8.0 * e.components as f64 * tuples as f64
        };
        let fields: f64 = self.entries.iter().map(field).sum();
        2.0 * (24.0 * self.points as f64 + fields) + 200.0 * self.cells as f64
    }

    fn read_cells(&self) -> Result<Vec<(CellKind, Vec<u32>)>, VtuError> {
        let types = self.numbers(self.entry(Section::Cells, Some("types"))?, self.cells)?;
        let mut runs: Vec<(CellKind, usize)> = Vec::new();
        for &vtk in &types {
            let Some(kind) = kind_of(vtk as u8) else {
                return Err(self.foreign(format!("it holds cells of VTK type {vtk}")));
            };
            match runs.last_mut() {
                Some((last, count)) if *last == kind => *count += 1,
                _ => runs.push((kind, 1)),
            }
        }
        let total = runs.iter().map(|(kind, count)| kind.nodes() * count).sum();
        let ids = self.numbers(self.entry(Section::Cells, Some("connectivity"))?, total)?;
        if let Some(id) = ids.iter().find(|&&id| id < 0.0 || id >= self.points as f64) {
            return Err(self.damaged(format!("a cell names node {id}, there are {} points", self.points)));
        }
        let mut rest = ids.as_slice();
        Ok(runs
            .into_iter()
            .map(|(kind, count)| {
                let (now, later) = rest.split_at(kind.nodes() * count);
                rest = later;
                (kind, now.iter().map(|&id| id as u32).collect())
            })
            .collect())
    }

    /// Decompresses one array of `tuples` × components numbers.
    fn numbers(&self, entry: &Entry, tuples: usize) -> Result<Vec<f64>, VtuError> {
        let short = || self.damaged(format!("array `{}` does not fit into the file", entry.name));
        let wrong = |what: &str| self.damaged(format!("array `{}` {what}", entry.name));
        let word = |at: usize| -> Option<usize> {
            let from = entry.offset.checked_add(at.checked_mul(8)?)?;
            let bytes = self.data.get(from..from.checked_add(8)?)?;
            usize::try_from(u64::from_ne_bytes(bytes.try_into().ok()?)).ok()
        };
        let (blocks, size, last) =
            (word(0).ok_or_else(short)?, word(1).ok_or_else(short)?, word(2).ok_or_else(short)?);
        let expected = tuples.checked_mul(entry.components).and_then(|n| n.checked_mul(entry.stored.bytes()));
        let Some(expected) = expected else { return Err(wrong("is impossibly long")) };
        if size != BLOCK || blocks != expected.div_ceil(BLOCK) || last != expected % BLOCK {
            return Err(wrong("has another length than the grid says"));
        }
        // Every block takes eight bytes of the table: a count beyond the file ends here.
        if blocks > self.data.len() / 8 {
            return Err(short());
        }
        let mut at = entry.offset + 8 * (3 + blocks);
        let mut streams = Vec::with_capacity(blocks);
        for i in 0..blocks {
            let packed = word(3 + i).ok_or_else(short)?;
            let end = at.checked_add(packed).ok_or_else(short)?;
            streams.push(self.data.get(at..end).ok_or_else(short)?);
            at = end;
        }
        let parts: Vec<Vec<f64>> = streams
            .into_par_iter()
            .enumerate()
            .map(|(i, stream)| {
                let full = (expected - i * BLOCK).min(BLOCK);
                let raw = inflate(stream, full).ok_or_else(|| wrong("cannot be decompressed"))?;
                Ok(widen(entry.stored, &raw))
            })
            .collect::<Result<_, VtuError>>()?;
        Ok(parts.concat())
    }
}

/// Exactly `full` bytes out of one zlib stream, or nothing.
fn inflate(stream: &[u8], full: usize) -> Option<Vec<u8>> {
    let mut raw = vec![0; full];
    let mut zlib = Decompress::new(true);
    let status = zlib.decompress(stream, &mut raw, FlushDecompress::Finish).ok()?;
    (status == Status::StreamEnd && zlib.total_out() as usize == full).then_some(raw)
}

fn widen(stored: Stored, raw: &[u8]) -> Vec<f64> {
    fn each<const N: usize>(raw: &[u8], f: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        raw.as_chunks::<N>().0.iter().map(|&b| f(b)).collect()
    }
    match stored {
        Stored::Float64 => each(raw, f64::from_ne_bytes),
        Stored::Float32 => each(raw, |b| f32::from_ne_bytes(b) as f64),
        Stored::Int64 => each(raw, |b| i64::from_ne_bytes(b) as f64),
        Stored::Int32 => each(raw, |b| i32::from_ne_bytes(b) as f64),
        Stored::UInt8 => raw.iter().map(|&b| b as f64).collect(),
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

/// The value of `key="value"` in a tag.
fn attribute(tag: &str, key: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(at) = rest.find(key) {
        let before = rest[..at].chars().next_back();
        let after = &rest[at + key.len()..];
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = after.strip_prefix("=\"")
        {
            return value.split('"').next().map(str::to_owned);
        }
        rest = after;
    }
    None
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
