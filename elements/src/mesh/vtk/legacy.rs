//! Legacy files: a head of three lines, then sections that begin with a word.

use super::numbers::Stored;
use super::{Grid, check_counts, problem, refuse_unsupported};
use crate::math::Vec3;
use crate::mesh::error::Place;
use crate::mesh::source::{Source, shown};
use crate::mesh::{Mesh, MeshError};

pub fn parse(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut lines = bytes.splitn(4, |&b| b == b'\n');
    let mut line = || lines.next().unwrap_or_default().trim_ascii();
    if !line().starts_with(b"# vtk DataFile") {
        return Err(problem(
            Place::Line { line: 1, column: 1 },
            "no VTK file: it does not begin with `# vtk DataFile`",
        ));
    }
    line();
    let binary = match line().to_ascii_uppercase().as_slice() {
        b"ASCII" => false,
        b"BINARY" => true,
        other => {
            let message = format!("expected ASCII or BINARY, found {}", shown(other));
            return Err(problem(Place::Line { line: 3, column: 1 }, message));
        }
    };
    let rest = lines.next().unwrap_or_default();
    let mut source = Source::new(bytes);
    source.start_at(bytes.len() - rest.len(), binary);
    let grid = Grid::default();
    Reader {
        source,
        binary,
        grid,
        types: Vec::new(),
        ends: Vec::new(),
        nodes: Vec::new(),
        cells_at: 0,
        data: None,
    }
    .read()
}

/// Whom the arrays that follow belong to.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Points,
    Cells,
}

struct Reader<'a> {
    source: Source<'a>,
    binary: bool,
    grid: Grid,
    types: Vec<u8>,
    /// Where the nodes of each cell end.
    ends: Vec<u32>,
    nodes: Vec<u32>,
    cells_at: usize,
    /// Owner of the arrays and their number.
    data: Option<(Owner, usize)>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Mesh, MeshError> {
        while let Some((at, word)) = self.source.next_word() {
            match word.to_ascii_uppercase().as_slice() {
                b"DATASET" => {
                    let kind = self.source.word("the kind of the data set")?;
                    if !kind.eq_ignore_ascii_case(b"UNSTRUCTURED_GRID") {
                        let help = "only UNSTRUCTURED_GRID is; save as that from ParaView (filter Append Datasets), or as STL";
                        return Err(self
                            .source
                            .error(at, format!("data sets {} are not read, {help}", shown(kind))));
                    }
                }
                b"POINTS" => self.points(at)?,
                b"CELLS" => self.cells(at)?,
                b"CELL_TYPES" => {
                    let count = self.source.text_number("the number of cells")?;
                    let number = |t: i64| u8::try_from(t).unwrap_or(u8::MAX);
                    self.types = self.integers(at, count, Stored::Signed(4), number)?;
                }
                b"CELL_DATA" => {
                    self.data = Some((Owner::Cells, self.source.text_number("a number of cells")?))
                }
                b"POINT_DATA" => {
                    self.data = Some((Owner::Points, self.source.text_number("a number of points")?))
                }
                b"METADATA" => self.source.skip_past_empty_line(),
                _ => self.array(at, word)?,
            }
        }
        let place = self.source.place(self.cells_at);
        refuse_unsupported(&self.types)?;
        check_counts(&self.types, &self.ends).map_err(|what| problem(place, what))?;
        let points = self.grid.draft.mesh.nodes.len();
        if let Some(node) = self.nodes.iter().find(|&&n| n as usize >= points) {
            return Err(problem(place, format!("a cell uses point {node}, and there are {points}")));
        }
        let used = self.ends.last().map_or(0, |&end| end as usize);
        let nodes = self.nodes.get(..used);
        let nodes = nodes.ok_or_else(|| problem(place, "cells have more nodes than there are numbers"))?;
        let mut to = self.grid.take(&self.types, &self.ends, 0, used);
        nodes.iter().for_each(|&node| to.push(node));
        drop(self.nodes);
        self.grid.mesh()
    }

    fn points(&mut self, at: usize) -> Result<(), MeshError> {
        let count: usize = self.source.text_number("the number of points")?;
        let stored = self.stored()?;
        let Some(numbers) = count.checked_mul(3) else {
            return Err(self.source.error(at, format!("{count} points are too many")));
        };
        let x = self.floats(at, numbers, stored)?;
        if let Some(k) = x.iter().position(|x| !x.is_finite()) {
            return Err(self.source.error(at, format!("point {} has the coordinate {}", k / 3, x[k])));
        }
        self.grid.draft.mesh.nodes = x.as_chunks::<3>().0.iter().map(|&x| Vec3::from(x)).collect();
        Ok(())
    }

    /// Cells with their counts one after the other, or, since version 5, where they end and all their nodes.
    fn cells(&mut self, at: usize) -> Result<(), MeshError> {
        self.cells_at = at;
        let first: usize = self.source.text_number("the number of cells")?;
        let total: usize = self.source.text_number("the number of numbers")?;
        if self.source.next_word_is(b"OFFSETS") {
            let stored = self.stored()?;
            let ends: Vec<i64> = self.integers(at, first, stored, |x| x)?;
            let Some((_, b"CONNECTIVITY")) = self.source.next_word() else {
                return Err(self.source.error(at, "expected CONNECTIVITY after OFFSETS"));
            };
            let stored = self.stored()?;
            self.nodes = self.integers(at, total, stored, id)?;
            if ends.windows(2).any(|pair| pair[0] > pair[1]) || ends.first().is_some_and(|&e| e != 0) {
                return Err(self.source.error(at, "the offsets of cells do not rise from 0"));
            }
            self.ends = ends.into_iter().skip(1).map(id).collect();
            return Ok(());
        }
        // counts are taken out of the list in place
        let mut numbers = self.integers(at, total, Stored::Signed(4), id)?;
        let (mut from, mut to) = (0, 0);
        for _ in 0..first {
            let count = numbers.get(from).map(|&n| n as usize).filter(|&n| n < numbers.len() - from);
            let Some(count) = count else { break };
            numbers.copy_within(from + 1..from + 1 + count, to);
            (from, to) = (from + 1 + count, to + count);
            self.ends.push(to as u32);
        }
        if from != total || self.ends.len() != first {
            let message = format!("the {total} numbers are not those of {first} cells");
            return Err(self.source.error(at, message));
        }
        numbers.truncate(to);
        self.nodes = numbers;
        Ok(())
    }

    /// An array of data: kept where it can name sets, passed over otherwise.
    fn array(&mut self, at: usize, word: &[u8]) -> Result<(), MeshError> {
        let count = self.data.map_or(0, |d| d.1);
        let upper = word.to_ascii_uppercase();
        let (name, components, stored) = match upper.as_slice() {
            b"FIELD" => return self.fields(),
            b"LOOKUP_TABLE" => {
                self.source.word("the name of a table")?;
                let entries: usize = self.source.text_number("the size of a table")?;
                let kind = if self.binary { Stored::Unsigned(1) } else { Stored::Float32 };
                return self.pass(at, entries, 4, kind);
            }
            b"COLOR_SCALARS" => {
                self.source.word("the name of an array")?;
                let components = self.source.text_number("a number of components")?;
                let kind = if self.binary { Stored::Unsigned(1) } else { Stored::Float32 };
                return self.pass(at, count, components, kind);
            }
            b"SCALARS" => {
                let name = self.name()?;
                let stored = self.stored()?;
                let components = match self.source.next_word_is(b"LOOKUP_TABLE") {
                    true => 1,
                    false => {
                        let components = self.source.text_number("a number of components")?;
                        if !self.source.next_word_is(b"LOOKUP_TABLE") {
                            return Err(self.source.error(at, "expected LOOKUP_TABLE after SCALARS"));
                        }
                        components
                    }
                };
                self.source.word("the name of a table")?;
                (name, components, stored)
            }
            b"VECTORS" | b"NORMALS" => (self.name()?, 3, self.stored()?),
            b"TENSORS" => (self.name()?, 9, self.stored()?),
            b"TENSORS6" => (self.name()?, 6, self.stored()?),
            b"GLOBAL_IDS" | b"PEDIGREE_IDS" => (self.name()?, 1, self.stored()?),
            b"TEXTURE_COORDINATES" => {
                let name = self.name()?;
                let components = self.source.text_number("a number of components")?;
                (name, components, self.stored()?)
            }
            _ => {
                return Err(self
                    .source
                    .error(at, format!("{} begins no section that is known", shown(word))));
            }
        };
        self.keep(at, name, components, count, stored)
    }

    fn fields(&mut self) -> Result<(), MeshError> {
        self.source.word("the name of a field")?;
        let arrays: usize = self.source.text_number("the number of arrays")?;
        for _ in 0..arrays {
            let at = self.source.next_text_place();
            // an array may be followed by information about it
            while self.source.next_word_is(b"METADATA") {
                self.source.skip_past_empty_line();
            }
            let name = self.name()?;
            let components = self.source.text_number("a number of components")?;
            let count = self.source.text_number("a number of tuples")?;
            let kind = self.source.word("a kind of numbers")?;
            if kind.eq_ignore_ascii_case(b"string") {
                return Err(self
                    .source
                    .error(at, format!("the array `{name}` holds text, which is not read; leave it out")));
            }
            let stored = self.stored_as(kind)?;
            self.keep(at, name, components, count, stored)?;
        }
        Ok(())
    }

    fn keep(
        &mut self,
        at: usize,
        name: String,
        components: usize,
        count: usize,
        stored: Stored,
    ) -> Result<(), MeshError> {
        let owned = self.data.filter(|d| stored.whole() && components == 1 && d.1 == count);
        let Some((owner, _)) = owned else { return self.pass(at, count, components, stored) };
        let values = self.integers(at, count, stored, |x| x)?;
        match owner {
            Owner::Cells if count == self.types.len() => self.grid.cell_labels.push((name, values)),
            Owner::Points if count == self.grid.draft.mesh.nodes.len() => {
                self.grid.point_labels.push((name, values))
            }
            _ => {}
        }
        Ok(())
    }

    fn pass(&mut self, at: usize, count: usize, components: usize, stored: Stored) -> Result<(), MeshError> {
        let Some(total) = count.checked_mul(components) else {
            return Err(self.source.error(at, "an array is impossibly long"));
        };
        if self.binary {
            self.raw(at, total, stored)?;
        } else {
            for _ in 0..total {
                self.source.word("a number")?;
            }
        }
        Ok(())
    }

    /// A name, which may have been written with %20 for spaces.
    fn name(&mut self) -> Result<String, MeshError> {
        let word = self.source.word("the name of an array")?;
        Ok(String::from_utf8_lossy(word).replace("%20", " "))
    }

    fn stored(&mut self) -> Result<Stored, MeshError> {
        let word = self.source.word("a kind of numbers")?;
        self.stored_as(word)
    }

    fn stored_as(&self, word: &[u8]) -> Result<Stored, MeshError> {
        let known = std::str::from_utf8(word).ok().and_then(Stored::named);
        known.ok_or_else(|| {
            let at = self.source.next_text_place();
            self.source.error(at, format!("numbers of the kind {} are not read", shown(word)))
        })
    }

    fn raw(&mut self, at: usize, count: usize, stored: Stored) -> Result<&[u8], MeshError> {
        self.source.start_line()?;
        let bytes = count.saturating_mul(stored.bytes());
        self.source.bytes(at, bytes, count)
    }

    fn integers<T>(
        &mut self,
        at: usize,
        count: usize,
        stored: Stored,
        to: impl Fn(i64) -> T,
    ) -> Result<Vec<T>, MeshError> {
        if self.binary {
            return Ok(stored.integers(self.raw(at, count, stored)?, true).map(to).collect());
        }
        self.source.fits(at, count as u64, "numbers", 1, 0, 0)?;
        (0..count).map(|_| self.source.text_number("a whole number").map(&to)).collect()
    }

    fn floats(&mut self, at: usize, count: usize, stored: Stored) -> Result<Vec<f64>, MeshError> {
        if self.binary {
            return Ok(stored.floats(self.raw(at, count, stored)?, true));
        }
        self.source.fits(at, count as u64, "numbers", 1, 0, 0)?;
        (0..count).map(|_| self.source.text_number("a number")).collect()
    }
}

/// The number of a point; what is none becomes one that nobody has.
fn id(x: i64) -> u32 {
    u32::try_from(x).unwrap_or(u32::MAX)
}
