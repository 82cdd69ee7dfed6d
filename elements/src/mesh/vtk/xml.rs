//! XML files: tags with attributes, and arrays as text, base64 or appended bytes.

use super::base64::Base64;
use super::data::{self, Bytes, Coding, Number, Unread};
use super::numbers::Stored;
use super::tags::Tag;
use super::{Grid, check_counts, problem, refuse_unsupported};
use crate::math::Vec3;
use crate::mesh::error::Place;
use crate::mesh::{Mesh, MeshError};
use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// Bytes in memory over those of the file for which room is made before they are there; packed data may be more.
const LIKELY_UNPACKED: usize = 16;

pub fn parse(bytes: &[u8]) -> Result<Mesh, MeshError> {
    read(io::Cursor::new(bytes))
}

/// The mesh of a file that is read as it goes by.
pub fn read(from: impl BufRead + Seek) -> Result<Mesh, MeshError> {
    let mut file = File { from, size: 0, appended: None, coding: Coding::default() };
    let grid = file.whole().map_err(|fault| match fault {
        Fault::Mesh(error) => error,
        Fault::At(at, what) => problem(file.place(at), what),
        Fault::Io(error) => problem(Place::Byte(0), format!("the file cannot be read: {error}")),
    })?;
    drop(file);
    grid.mesh()
}

/// What is wrong, and at which byte.
enum Fault {
    At(u64, String),
    Mesh(MeshError),
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

impl From<MeshError> for Fault {
    fn from(error: MeshError) -> Self {
        Fault::Mesh(error)
    }
}

fn fault(tag: &Tag, what: impl Into<String>) -> Fault {
    Fault::At(tag.at, what.into())
}

/// An array in the file.
struct Array {
    name: String,
    stored: Stored,
    components: usize,
    section: Section,
    tag: Tag,
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
struct Piece {
    points: usize,
    cells: usize,
    at: u64,
    arrays: Vec<Array>,
}

impl Piece {
    /// The first array of a section, or the one of this name.
    fn array(&self, section: Section, name: Option<&str>) -> Result<&Array, Fault> {
        let named = |a: &&Array| a.section == section && name.is_none_or(|n| n == a.name);
        self.arrays.iter().find(named).ok_or_else(|| {
            Fault::At(self.at, format!("the piece has no array `{}`", name.unwrap_or("Points")))
        })
    }
}

struct File<R> {
    from: R,
    size: usize,
    /// Where appended data begin; raw and not base64.
    appended: Option<(u64, bool)>,
    coding: Coding,
}

impl<R: BufRead + Seek> File<R> {
    /// Line and column of a byte; the file is read again up to there.
    fn place(&mut self, at: u64) -> Place {
        let (mut line, mut column) = (1, 1);
        if self.from.seek(SeekFrom::Start(0)).is_ok() {
            for byte in (&mut self.from).take(at).bytes().map_while(Result::ok) {
                (line, column) = if byte == b'\n' { (line + 1, 1) } else { (line, column + 1) };
            }
        }
        Place::Line { line, column }
    }

    fn whole(&mut self) -> Result<Grid, Fault> {
        self.size = usize::try_from(self.from.seek(SeekFrom::End(0))?).unwrap_or(usize::MAX);
        self.from.seek(SeekFrom::Start(0))?;
        let mut at = 0;
        loop {
            let Some(tag) = Tag::next(&mut self.from, at)? else {
                return Err(Fault::At(0, "no VTK file: it has no <VTKFile …>".into()));
            };
            at = tag.end;
            if tag.name() == "VTKFile" {
                self.head(&tag)?;
                return self.grid(at);
            }
        }
    }

    fn head(&mut self, root: &Tag) -> Result<(), Fault> {
        let kind = root.attribute("type").unwrap_or_default();
        if kind != "UnstructuredGrid" {
            let help = "save as UnstructuredGrid (ParaView: filter Append Datasets), surfaces as STL";
            return Err(fault(root, format!("grids of type `{kind}` are not read; {help}")));
        }
        let zlib = match root.attribute("compressor") {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                let help = "save with zlib, or convert: meshio convert a.vtu b.vtu";
                return Err(fault(root, format!("data packed by `{other}` are not read; {help}")));
            }
        };
        let big_endian = root.attribute("byte_order") == Some("BigEndian");
        self.coding = Coding { big_endian, wide: root.attribute("header_type") == Some("UInt64"), zlib };
        Ok(())
    }

    /// All pieces. Appended data stand behind them: they are read once all tags are known.
    fn grid(&mut self, mut at: u64) -> Result<Grid, Fault> {
        let (mut pieces, mut open, mut section) = (Vec::new(), Piece::default(), Section::Other);
        while let Some(tag) = Tag::next(&mut self.from, at)? {
            at = tag.end;
            match tag.name() {
                "Piece" => {
                    let (points, cells) = (count(&tag, "NumberOfPoints")?, count(&tag, "NumberOfCells")?);
                    open = Piece { points, cells, at: tag.at, arrays: Vec::new() };
                }
                "/Piece" => pieces.push(std::mem::take(&mut open)),
                "Points" => section = Section::Points,
                "Cells" => section = Section::Cells,
                "PointData" => section = Section::PointData,
                "CellData" => section = Section::CellData,
                "/Points" | "/Cells" | "/PointData" | "/CellData" | "FieldData" => section = Section::Other,
                "DataArray" if section != Section::Other => open.arrays.extend(array(section, tag)?),
                "AppendedData" => {
                    let raw = tag.attribute("encoding") == Some("raw");
                    let before = self.from.skip_until(b'_')? as u64;
                    self.appended = Some((at + before, raw));
                    break;
                }
                _ => {}
            }
        }
        if pieces.is_empty() {
            return Err(Fault::At(0, "the grid has no whole <Piece>; the file seems cut short".into()));
        }
        let mut grid = Grid::default();
        for piece in pieces {
            self.piece(&piece, &mut grid)?;
        }
        Ok(grid)
    }

    fn piece(&mut self, piece: &Piece, grid: &mut Grid) -> Result<(), Fault> {
        if piece.points == 0 && piece.cells == 0 {
            return Ok(());
        }
        let (first, before) = (grid.draft.mesh.nodes.len(), grid.types.len());
        self.points(piece, &mut grid.draft.mesh.nodes)?;
        let number = |t: i64| u8::try_from(t).unwrap_or(u8::MAX);
        let types = self.integers(piece.array(Section::Cells, Some("types"))?, piece.cells, number)?;
        refuse_unsupported(&types)?;
        let offsets = piece.array(Section::Cells, Some("offsets"))?;
        // a number that nothing has stands for one that cannot be
        let id = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
        let ends = self.integers(offsets, piece.cells, id)?;
        let total = ends.last().copied().unwrap_or(0);
        if total == u32::MAX || ends.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(fault(&offsets.tag, "the offsets of cells do not rise from 0"));
        }
        check_counts(&types, &ends).map_err(|what| fault(&offsets.tag, what))?;
        let connectivity = piece.array(Section::Cells, Some("connectivity"))?;
        let points = piece.points as u32;
        let mut outside = None;
        let mut nodes = grid.take(&types, &ends, first, self.room::<u32>(total as usize));
        self.each(connectivity, total as usize, |n: i64| match id(n) {
            node if node < points => nodes.push(node),
            _ => outside = outside.or(Some(n)),
        })?;
        if let Some(node) = outside {
            let what = format!("a cell uses point {node}, and there are {points}");
            return Err(fault(&connectivity.tag, what));
        }
        self.labels(piece, Section::CellData, piece.cells, before, &mut grid.cell_labels)?;
        self.labels(piece, Section::PointData, piece.points, first, &mut grid.point_labels)
    }

    fn points(&mut self, piece: &Piece, to: &mut Vec<Vec3>) -> Result<(), Fault> {
        let array = piece.array(Section::Points, None)?;
        if array.components != 3 {
            return Err(fault(&array.tag, format!("points have {} coordinates", array.components)));
        }
        let first = to.len();
        if first + piece.points >= u32::MAX as usize {
            return Err(fault(&array.tag, "there are more points than can be counted"));
        }
        to.reserve(self.room::<Vec3>(piece.points));
        let (mut x, mut k) = ([0.0; 3], 0);
        self.each(array, 3 * piece.points, |coordinate| {
            x[k] = coordinate;
            k = (k + 1) % 3;
            if k == 0 {
                to.push(Vec3::from(x));
            }
        })?;
        let wrong = |x: &Vec3| x.iter().copied().find(|x| !x.is_finite());
        match to[first..].iter().enumerate().find_map(|(k, x)| Some((k, wrong(x)?))) {
            Some((k, x)) => Err(fault(&array.tag, format!("point {k} has the coordinate {x}"))),
            None => Ok(()),
        }
    }

    /// Arrays that can name sets, after `before` values of earlier pieces; where these had none, 0.
    fn labels(
        &mut self,
        piece: &Piece,
        section: Section,
        count: usize,
        before: usize,
        labels: &mut Vec<(String, Vec<i64>)>,
    ) -> Result<(), Fault> {
        let whole = |a: &&Array| a.section == section && a.stored.whole() && a.components == 1;
        for array in piece.arrays.iter().filter(whole) {
            let values = self.integers(array, count, |x| x)?;
            let at = labels.iter().position(|l| l.0 == array.name).unwrap_or_else(|| {
                labels.push((array.name.clone(), Vec::new()));
                labels.len() - 1
            });
            labels[at].1.resize(before, 0);
            labels[at].1.extend(values);
        }
        Ok(())
    }

    /// How many of `count` to make room for: a file can say any number.
    fn room<T>(&self, count: usize) -> usize {
        count.min(self.size.saturating_mul(LIKELY_UNPACKED) / size_of::<T>())
    }

    fn integers<T>(&mut self, array: &Array, count: usize, to: impl Fn(i64) -> T) -> Result<Vec<T>, Fault> {
        let mut numbers = Vec::with_capacity(self.room::<T>(count));
        self.each(array, count, |number| numbers.push(to(number)))?;
        Ok(numbers)
    }

    /// Shows `count` numbers of an array, one after the other.
    fn each<N: Number>(&mut self, array: &Array, count: usize, visit: impl FnMut(N)) -> Result<(), Fault> {
        let Array { tag, name, stored, .. } = array;
        let wrong = |what: &str| fault(tag, format!("array `{name}` {what}"));
        let format = tag.attribute("format").unwrap_or("ascii");
        let (at, raw) = match format {
            "appended" => {
                let offset = self::count(tag, "offset")? as u64;
                let (start, raw) = self.appended.ok_or_else(|| wrong("is appended, and nothing is"))?;
                if start + offset > self.size as u64 {
                    return Err(wrong("begins behind the end of the file; it seems cut short"));
                }
                (start + offset, raw)
            }
            _ => (tag.end, false),
        };
        self.from.seek(SeekFrom::Start(at))?;
        let read = match format {
            "ascii" => data::text(&mut self.from, count, visit),
            _ => {
                let base64 = (!raw).then(Base64::default);
                let mut bytes = Bytes { from: &mut self.from, base64, size: self.size };
                bytes.numbers((*stored, self.coding), count, visit)
            }
        };
        read.map_err(|why| match why {
            Unread::Io(error) => Fault::Io(error),
            Unread::Because(what) => wrong(what),
            Unread::Word(begin, word) => {
                Fault::At(at + begin, format!("array `{name}` holds {word}, which is no number"))
            }
        })
    }
}

/// What a `<DataArray …>` says; nothing where it does not matter.
fn array(section: Section, tag: Tag) -> Result<Option<Array>, Fault> {
    let name = tag.attribute("Name").unwrap_or_default().to_owned();
    let kind = tag.attribute("type").unwrap_or_default();
    let Some(stored) = Stored::named(kind) else {
        if section == Section::Points || section == Section::Cells {
            return Err(fault(&tag, format!("array `{name}` has numbers of the type `{kind}`")));
        }
        return Ok(None);
    };
    let components = match tag.attribute("NumberOfComponents") {
        Some(_) => count(&tag, "NumberOfComponents")?,
        None => 1,
    };
    Ok(Some(Array { name, stored, components, section, tag }))
}

fn count(tag: &Tag, key: &str) -> Result<usize, Fault> {
    let text = tag.attribute(key).unwrap_or_default();
    let count = text.trim().parse().ok().filter(|&n: &usize| n < u32::MAX as usize);
    count.ok_or_else(|| fault(tag, format!("{key} is \"{text}\", not a count")))
}
