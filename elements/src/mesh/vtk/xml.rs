//! XML files: tags with attributes, and arrays as text, base64 or appended bytes.

use super::base64::Base64;
use super::numbers::Stored;
use super::{Grid, problem};
use crate::math::Vec3;
use crate::mesh::error::Place;
use crate::mesh::{Mesh, MeshError};
use flate2::{Decompress, FlushDecompress, Status};

/// Bytes a zlib stream can unpack to, over its own, at most (deflate ends at 1032).
const MOST_UNPACKED: usize = 1100;

pub fn parse(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut file = File { bytes, appended: None, big_endian: false, wide: false, zlib: false };
    let appended_at = find(bytes, b"<AppendedData").unwrap_or(bytes.len());
    let mut tags = Tags { bytes: &bytes[..appended_at], at: 0 };
    let Some(root) = std::iter::from_fn(|| tags.next()).find(|tag| tag.name == "VTKFile") else {
        return Err(problem(file.place(0), "no VTK file: it has no <VTKFile …>"));
    };
    file.head(&root)?;
    if appended_at < bytes.len() {
        let mut tags = Tags { bytes, at: appended_at };
        let raw = tags.next().is_some_and(|tag| tag.attribute("encoding") == Some("raw"));
        let data = bytes[tags.at..].iter().position(|&b| b == b'_').map(|k| tags.at + k + 1);
        file.appended = data.map(|at| (at, raw));
    }
    file.grid(tags)?.mesh(file.place(root.at))
}

/// `<name key="value" …>`
struct Tag<'a> {
    name: &'a str,
    text: &'a str,
    at: usize,
    /// Where what is in it begins.
    end: usize,
}

impl<'a> Tag<'a> {
    fn attribute(&self, key: &str) -> Option<&'a str> {
        let mut rest = self.text;
        while let Some(at) = rest.find('=') {
            let before = rest[..at].trim_end();
            let name = before.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
            let after = rest[at + 1..].trim_start();
            let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'')?;
            let (value, more) = after[1..].split_once(quote)?;
            if name == key {
                return Some(value);
            }
            rest = more;
        }
        None
    }
}

/// Tags in their order.
struct Tags<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tags<'a> {
    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let at = self.at + self.bytes.get(self.at..)?.iter().position(|&b| b == b'<')?;
            let comment = self.bytes[at..].starts_with(b"<!--");
            let close: &[u8] = if comment { b"-->" } else { b">" };
            let end = at + find(&self.bytes[at..], close)?;
            self.at = end + close.len();
            if comment {
                continue;
            }
            let text = std::str::from_utf8(&self.bytes[at + 1..end]).unwrap_or("?");
            let name = text.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
            return Some(Tag { name, text, at, end: self.at });
        }
    }
}

/// An array in the file.
struct Array<'a> {
    name: &'a str,
    stored: Stored,
    components: usize,
    tag: Tag<'a>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Other,
    Points,
    Cells,
    PointData,
    CellData,
}

/// Counts and arrays of a piece.
#[derive(Default)]
struct Piece<'a> {
    points: usize,
    cells: usize,
    at: usize,
    arrays: Vec<(u8, Array<'a>)>,
}

struct File<'a> {
    bytes: &'a [u8],
    /// Where appended data begin; raw and not base64.
    appended: Option<(usize, bool)>,
    big_endian: bool,
    /// Lengths have eight bytes and not four.
    wide: bool,
    zlib: bool,
}

impl<'a> File<'a> {
    fn place(&self, at: usize) -> Place {
        Place::of_byte(self.bytes, at)
    }

    fn error(&self, tag: &Tag, message: impl Into<String>) -> MeshError {
        problem(self.place(tag.at), message)
    }

    fn head(&mut self, root: &Tag) -> Result<(), MeshError> {
        let kind = root.attribute("type").unwrap_or_default();
        if kind != "UnstructuredGrid" {
            let help = "save as UnstructuredGrid (ParaView: filter Append Datasets), surfaces as STL";
            return Err(self.error(root, format!("grids of type `{kind}` are not read; {help}")));
        }
        self.big_endian = root.attribute("byte_order") == Some("BigEndian");
        self.wide = root.attribute("header_type") == Some("UInt64");
        self.zlib = match root.attribute("compressor") {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                let help = "save with zlib, or convert: meshio convert a.vtu b.vtu";
                return Err(self.error(root, format!("data packed by `{other}` are not read; {help}")));
            }
        };
        Ok(())
    }

    fn grid(&self, mut tags: Tags<'a>) -> Result<Grid, MeshError> {
        let mut grid = Grid::default();
        let (mut piece, mut section, mut pieces) = (Piece::default(), Section::Other, 0);
        while let Some(tag) = tags.next() {
            match tag.name {
                "Piece" => {
                    pieces += 1;
                    let (points, cells) =
                        (self.count(&tag, "NumberOfPoints")?, self.count(&tag, "NumberOfCells")?);
                    piece = Piece { points, cells, at: tag.at, arrays: Vec::new() };
                }
                "/Piece" => self.piece(&std::mem::take(&mut piece), &mut grid)?,
                "Points" => section = Section::Points,
                "Cells" => section = Section::Cells,
                "PointData" => section = Section::PointData,
                "CellData" => section = Section::CellData,
                "/Points" | "/Cells" | "/PointData" | "/CellData" | "FieldData" => section = Section::Other,
                "DataArray" if section != Section::Other => {
                    let name = tag.attribute("Name").unwrap_or_default();
                    let kind = tag.attribute("type").unwrap_or_default();
                    let Some(stored) = Stored::named(kind) else {
                        if section == Section::Points || section == Section::Cells {
                            return Err(
                                self.error(&tag, format!("array `{name}` has numbers of the type `{kind}`"))
                            );
                        }
                        continue;
                    };
                    let components = match tag.attribute("NumberOfComponents") {
                        Some(_) => self.count(&tag, "NumberOfComponents")?,
                        None => 1,
                    };
                    piece.arrays.push((section as u8, Array { name, stored, components, tag }));
                }
                _ => {}
            }
        }
        if pieces == 0 {
            return Err(problem(self.place(0), "the grid has no <Piece>; the file seems cut short"));
        }
        Ok(grid)
    }

    fn count(&self, tag: &Tag, key: &str) -> Result<usize, MeshError> {
        let text = tag.attribute(key).unwrap_or_default();
        let count = text.trim().parse().ok().filter(|&n: &usize| n < u32::MAX as usize);
        count.ok_or_else(|| self.error(tag, format!("{key} is \"{text}\", not a count")))
    }

    fn piece(&self, piece: &Piece, grid: &mut Grid) -> Result<(), MeshError> {
        let find = |section: Section, name: Option<&str>| {
            let named = |a: &&(u8, Array)| a.0 == section as u8 && name.is_none_or(|n| n == a.1.name);
            let found = piece.arrays.iter().find(named).map(|a| &a.1);
            found.ok_or_else(|| {
                problem(
                    self.place(piece.at),
                    format!("the piece has no array `{}`", name.unwrap_or("Points")),
                )
            })
        };
        if piece.points == 0 && piece.cells == 0 {
            return Ok(());
        }
        let (first, before) = (grid.points.len(), grid.types.len());
        let points = find(Section::Points, None)?;
        if points.components != 3 {
            return Err(self.error(&points.tag, format!("points have {} coordinates", points.components)));
        }
        let x = self.floats(points, 3 * piece.points)?;
        if let Some(k) = x.iter().position(|x| !x.is_finite()) {
            return Err(self.error(&points.tag, format!("point {} has the coordinate {}", k / 3, x[k])));
        }
        grid.points.extend(x.as_chunks::<3>().0.iter().map(|&x| Vec3::from(x)));
        let number = |t: i64| u8::try_from(t).unwrap_or(u8::MAX);
        grid.types.extend(self.integers(find(Section::Cells, Some("types"))?, piece.cells, number)?);
        let offsets = find(Section::Cells, Some("offsets"))?;
        let ends = self.integers(offsets, piece.cells, |e| e)?;
        let total = ends.last().copied().unwrap_or(0);
        if ends.first().is_some_and(|&e| e < 0)
            || ends.windows(2).any(|pair| pair[0] > pair[1])
            || total > u32::MAX.into()
        {
            return Err(self.error(&offsets.tag, "the offsets of cells do not rise from 0"));
        }
        let connectivity = find(Section::Cells, Some("connectivity"))?;
        // a number that no point has stands for one that cannot be
        let id = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
        let nodes = self.integers(connectivity, total as usize, id)?;
        let start = grid.nodes.len();
        if start + nodes.len() > u32::MAX as usize {
            return Err(self.error(&connectivity.tag, "cells have more nodes than can be counted"));
        }
        let count = piece.points as u32;
        if let Some(node) = nodes.iter().find(|&&n| n >= count) {
            return Err(
                self.error(&connectivity.tag, format!("a cell uses point {node}, and there are {count}"))
            );
        }
        grid.ends.extend(ends.into_iter().map(|e| (start as i64 + e) as u32));
        match first {
            0 => grid.nodes = nodes,
            _ => grid.nodes.extend(nodes.into_iter().map(|n| first as u32 + n)),
        }
        self.labels(piece, Section::CellData, piece.cells, before, &mut grid.cell_labels)?;
        self.labels(piece, Section::PointData, piece.points, first, &mut grid.point_labels)
    }

    /// Arrays that can name sets, after `before` values of earlier pieces; where these had none, 0.
    fn labels(
        &self,
        piece: &Piece,
        section: Section,
        count: usize,
        before: usize,
        labels: &mut Vec<(String, Vec<i64>)>,
    ) -> Result<(), MeshError> {
        let whole = |a: &&(u8, Array)| a.0 == section as u8 && a.1.stored.whole() && a.1.components == 1;
        for (_, array) in piece.arrays.iter().filter(whole) {
            let values = self.integers(array, count, |x| x)?;
            let at = labels.iter().position(|l| l.0 == array.name).unwrap_or_else(|| {
                labels.push((array.name.to_owned(), Vec::new()));
                labels.len() - 1
            });
            labels[at].1.resize(before, 0);
            labels[at].1.extend(values);
        }
        Ok(())
    }

    fn integers<T>(&self, array: &Array, count: usize, to: impl Fn(i64) -> T) -> Result<Vec<T>, MeshError> {
        match self.content(array, count)? {
            Content::Text(text) => Ok(self.text(array, text, count)?.into_iter().map(to).collect()),
            Content::Bytes(raw) => Ok(array.stored.integers(&raw, self.big_endian).map(to).collect()),
        }
    }

    fn floats(&self, array: &Array, count: usize) -> Result<Vec<f64>, MeshError> {
        match self.content(array, count)? {
            Content::Text(text) => self.text(array, text, count),
            Content::Bytes(raw) => Ok(array.stored.floats(&raw, self.big_endian)),
        }
    }

    /// `count` numbers written as text.
    fn text<T: std::str::FromStr>(
        &self,
        array: &Array,
        text: &[u8],
        count: usize,
    ) -> Result<Vec<T>, MeshError> {
        let short =
            || self.error(&array.tag, format!("array `{}` does not have {count} numbers", array.name));
        if count > text.len() {
            return Err(short());
        }
        let mut numbers = Vec::with_capacity(count);
        for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(count) {
            let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let Some(number) = number else {
                let at = word.as_ptr() as usize - self.bytes.as_ptr() as usize;
                let word = crate::mesh::source::shown(word);
                return Err(problem(
                    self.place(at),
                    format!("array `{}` holds {word}, which is no number", array.name),
                ));
            };
            numbers.push(number);
        }
        if numbers.len() < count { Err(short()) } else { Ok(numbers) }
    }

    /// The bytes of `count` numbers, or the text they are written in.
    fn content(&self, array: &Array, count: usize) -> Result<Content<'a>, MeshError> {
        let wrong = |what: &str| self.error(&array.tag, format!("array `{}` {what}", array.name));
        let format = array.tag.attribute("format").unwrap_or("ascii");
        let mut stream = match format {
            "appended" => {
                let offset = self.count(&array.tag, "offset")?;
                let (start, raw) = self.appended.ok_or_else(|| wrong("is appended, and nothing is"))?;
                let data = start.checked_add(offset).and_then(|at| self.bytes.get(at..));
                let data =
                    data.ok_or_else(|| wrong("begins behind the end of the file; it seems cut short"))?;
                if raw { Stream::Raw(data) } else { Stream::Base64(Base64::new(data)) }
            }
            _ => {
                let from = &self.bytes[array.tag.end..];
                let end = from
                    .iter()
                    .position(|&b| b == b'<')
                    .ok_or_else(|| wrong("has no end; the file seems cut short"))?;
                if format == "ascii" {
                    return Ok(Content::Text(&from[..end]));
                }
                Stream::Base64(Base64::new(&from[..end]))
            }
        };
        let bytes = count.checked_mul(array.stored.bytes()).ok_or_else(|| wrong("is impossibly long"))?;
        let length = |stream: &mut Stream| stream.length(self.wide, self.big_endian);
        let short = || wrong("does not fit into the file; it seems cut short");
        if !self.zlib {
            let stored = length(&mut stream).ok_or_else(short)?;
            if stored < bytes {
                return Err(wrong("is shorter than the grid says"));
            }
            return stream.take(bytes).map(Content::Bytes).ok_or_else(short);
        }
        let mut word = || length(&mut stream).ok_or_else(short);
        let (blocks, size, last) = (word()?, word()?, word()?);
        if blocks > self.bytes.len() || bytes > self.bytes.len().saturating_mul(MOST_UNPACKED) {
            return Err(wrong("is longer than the file can hold"));
        }
        let packed = (0..blocks).map(|_| word()).collect::<Result<Vec<_>, _>>()?;
        let mut raw = Vec::new();
        for (k, packed) in packed.into_iter().enumerate() {
            let full = if k + 1 == blocks && last > 0 { last } else { size };
            let stream = stream.take(packed).ok_or_else(short)?;
            if full > packed.saturating_mul(MOST_UNPACKED) {
                return Err(wrong("cannot be unpacked"));
            }
            raw.extend(inflate(&stream, full).ok_or_else(|| wrong("cannot be unpacked"))?);
        }
        if raw.len() < bytes {
            return Err(wrong("is shorter than the grid says"));
        }
        raw.truncate(bytes);
        Ok(Content::Bytes(raw))
    }
}

enum Content<'a> {
    Text(&'a [u8]),
    Bytes(Vec<u8>),
}

enum Stream<'a> {
    Raw(&'a [u8]),
    Base64(Base64<'a>),
}

impl Stream<'_> {
    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        match self {
            Stream::Base64(text) => text.take(count),
            Stream::Raw(bytes) => {
                let (now, later) = bytes.split_at_checked(count)?;
                *bytes = later;
                Some(now.to_vec())
            }
        }
    }

    fn length(&mut self, wide: bool, big_endian: bool) -> Option<usize> {
        let bytes = self.take(if wide { 8 } else { 4 })?;
        usize::try_from(Stored::Unsigned(bytes.len()).integer(&bytes, big_endian)).ok()
    }
}

/// Exactly `full` bytes out of one zlib stream, or nothing.
fn inflate(stream: &[u8], full: usize) -> Option<Vec<u8>> {
    let mut raw = vec![0; full];
    let mut zlib = Decompress::new(true);
    let status = zlib.decompress(stream, &mut raw, FlushDecompress::Finish).ok()?;
    (status == Status::StreamEnd && zlib.total_out() as usize == full).then_some(raw)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}
