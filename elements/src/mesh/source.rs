//! Bytes of a Gmsh or VTK file as words and numbers, with the place of every mistake.
//!
//! Text and binary files of Gmsh's format 4.1 hold the same numbers in the same order, so that one reader serves both:
//! [`Source::int`], [`Source::size`] and [`Source::float`] take whichever comes.

use crate::mesh::MeshError;
use crate::mesh::error::Place;
use std::str::FromStr;

#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    Text,
    /// `wide`: sizes have 8 bytes and not 4.
    Binary {
        big_endian: bool,
        wide: bool,
    },
}

pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
    pub encoding: Encoding,
    /// The file as a whole is binary: errors speak of bytes in its text sections too.
    binary_file: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Source<'a> {
        Source { bytes, at: 0, encoding: Encoding::Text, binary_file: false }
    }

    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.encoding, Encoding::Binary { .. })
    }

    /// Goes to byte `at` of a file that is binary or not; words are text in both.
    pub(crate) fn start_at(&mut self, at: usize, binary_file: bool) {
        (self.at, self.binary_file) = (at, binary_file);
    }

    /// An error at byte `at` of the file.
    pub(crate) fn error(&self, at: usize, problem: impl Into<String>) -> MeshError {
        MeshError::Content { place: self.place(at), problem: problem.into() }
    }

    /// Where byte `at` stands.
    pub(crate) fn place(&self, at: usize) -> Place {
        if self.binary_file { Place::Byte(at) } else { Place::of_byte(self.bytes, at) }
    }

    /// Where the next number begins.
    pub(crate) fn next_place(&self) -> usize {
        if self.is_binary() { self.at } else { self.next_text_place() }
    }

    /// Where the next word begins.
    pub(crate) fn next_text_place(&self) -> usize {
        self.at + self.space()
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn space(&self) -> usize {
        self.rest().iter().take_while(|b| b.is_ascii_whitespace()).count()
    }

    /// The next word and its place, or none at the end of the file.
    pub(crate) fn next_word(&mut self) -> Option<(usize, &'a [u8])> {
        self.at += self.space();
        let (at, rest) = (self.at, self.rest());
        let length = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
        self.at += length;
        (length > 0).then_some((at, &rest[..length]))
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<&'a [u8], MeshError> {
        match self.next_word() {
            Some((_, word)) => Ok(word),
            None => Err(self.too_short(what)),
        }
    }

    fn too_short(&self, what: &str) -> MeshError {
        self.error(self.bytes.len(), format!("the file ends where {what} should stand; it seems cut short"))
    }

    /// A number written as text.
    pub(crate) fn text_number<T: FromStr>(&mut self, what: &str) -> Result<T, MeshError> {
        let Some((at, word)) = self.next_word() else { return Err(self.too_short(what)) };
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.error(at, format!("expected {what}, found {}", shown(word))))
    }

    /// A text in double quotes, up to the last quote of its line.
    pub(crate) fn quoted(&mut self, what: &str) -> Result<String, MeshError> {
        let at = self.next_place();
        let rest = &self.bytes[at..];
        let line = &rest[..rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())];
        match (line.first(), line.iter().rposition(|&b| b == b'"')) {
            (None, _) => Err(self.too_short(what)),
            (Some(b'"'), Some(last)) if last > 0 => {
                self.at = at + last + 1;
                Ok(String::from_utf8_lossy(&line[1..last]).into_owned())
            }
            _ => Err(self.error(at, format!("expected {what} in quotes, found {}", shown(line)))),
        }
    }

    /// Whether the next word is this one, which is then passed.
    pub(crate) fn next_word_is(&mut self, expected: &[u8]) -> bool {
        let from = self.at;
        let is = self.next_word().is_some_and(|(_, word)| word.eq_ignore_ascii_case(expected));
        if !is {
            self.at = from;
        }
        is
    }

    /// Passes lines up to an empty one, or to the end.
    pub(crate) fn skip_past_empty_line(&mut self) {
        let rest = self.rest();
        let end = |k: usize| rest[k] == b'\n' && matches!(rest[k + 1..], [] | [b'\n', ..] | [b'\r', ..]);
        self.at += (0..rest.len()).find(|&k| end(k)).map_or(rest.len(), |k| k + 1);
    }

    /// Leaves a text line whatever is left of it, for binary data on the next.
    pub(crate) fn start_line(&mut self) -> Result<(), MeshError> {
        match self.rest().iter().position(|&b| b == b'\n') {
            Some(k) => self.at += k + 1,
            None => return Err(self.too_short("binary data")),
        }
        Ok(())
    }

    /// The next `length` bytes, which are `count` numbers announced at `at`.
    pub(crate) fn bytes(&mut self, at: usize, length: usize, count: usize) -> Result<&'a [u8], MeshError> {
        let Some((now, _)) = self.rest().split_at_checked(length) else {
            let left = self.rest().len();
            let claim = format!("the file claims {count} numbers here, but {left} bytes are left of it");
            return Err(self.error(at, claim + "; it is damaged or cut short"));
        };
        self.at += length;
        Ok(now)
    }

    /// The binary bytes of one number.
    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], MeshError> {
        match self.rest().first_chunk::<N>() {
            Some(&bytes) => {
                self.at += N;
                Ok(bytes)
            }
            None => Err(self.too_short(what)),
        }
    }

    /// A whole number that Gmsh calls `int`.
    pub(crate) fn int(&mut self, what: &str) -> Result<i64, MeshError> {
        match self.encoding {
            Encoding::Text => self.text_number(what),
            Encoding::Binary { big_endian, .. } => {
                let bytes = self.take::<4>(what)?;
                Ok(if big_endian { i32::from_be_bytes(bytes) } else { i32::from_le_bytes(bytes) }.into())
            }
        }
    }

    /// A whole number that Gmsh calls `size_t`.
    pub(crate) fn size(&mut self, what: &str) -> Result<u64, MeshError> {
        match self.encoding {
            Encoding::Text => self.text_number(what),
            Encoding::Binary { big_endian, wide: true } => {
                let bytes = self.take::<8>(what)?;
                Ok(if big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
            }
            Encoding::Binary { big_endian, wide: false } => {
                let bytes = self.take::<4>(what)?;
                Ok(if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }.into())
            }
        }
    }

    /// A floating-point number, which may be anything, also not a number.
    pub(crate) fn float(&mut self, what: &str) -> Result<f64, MeshError> {
        match self.encoding {
            Encoding::Text => self.text_number(what),
            Encoding::Binary { big_endian, .. } => {
                let bytes = self.take::<8>(what)?;
                Ok(if big_endian { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) })
            }
        }
    }

    /// Three finite coordinates.
    pub(crate) fn point(&mut self, tag: u64) -> Result<crate::math::Vec3, MeshError> {
        let mut point = crate::math::Vec3::zeros();
        for (axis, c) in ["x", "y", "z"].iter().zip(point.iter_mut()) {
            let at = self.next_place();
            *c = self.float("a coordinate")?;
            if !c.is_finite() {
                return Err(
                    self.error(at, format!("node {tag} has {axis} = {c}; coordinates must be finite"))
                );
            }
        }
        Ok(point)
    }

    /// Refuses a count of records (each of so many ints, sizes and floats at least) that the rest of the file
    /// cannot hold. `at` is the place of the count.
    pub(crate) fn fits(
        &self,
        at: usize,
        count: u64,
        what: &str,
        ints: u64,
        sizes: u64,
        floats: u64,
    ) -> Result<(), MeshError> {
        let each = match self.encoding {
            // A digit and a space; the last number may end with the file.
            Encoding::Text => 2 * (ints + sizes + floats),
            Encoding::Binary { wide, .. } => 4 * ints + if wide { 8 } else { 4 } * sizes + 8 * floats,
        };
        let most = (self.rest().len() as u64 + 1) / each.max(1);
        if count <= most {
            return Ok(());
        }
        let claim =
            format!("the file claims {count} {what} here, but what is left of it holds {most} at most");
        Err(self.error(at, claim + "; it is damaged or cut short"))
    }

    /// Leaves the text line that precedes binary data.
    pub(crate) fn start_data(&mut self) -> Result<(), MeshError> {
        if self.is_binary() {
            let rest = self.rest();
            let length = match rest {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => return Err(self.error(self.at, "expected the end of the line before binary data")),
            };
            self.at += length;
        }
        Ok(())
    }

    /// Turns to binary numbers, of the byte order in which the next integer is 1.
    pub(crate) fn start_binary(&mut self, wide: bool) -> Result<(), MeshError> {
        self.binary_file = true;
        self.encoding = Encoding::Binary { big_endian: false, wide };
        self.start_data()?;
        let at = self.at;
        let bytes = self.take::<4>("the integer 1 that tells the byte order")?;
        let big_endian = match (i32::from_le_bytes(bytes), i32::from_be_bytes(bytes)) {
            (1, _) => false,
            (_, 1) => true,
            _ => return Err(self.error(at, "expected the integer 1 that tells the byte order")),
        };
        self.encoding = Encoding::Binary { big_endian, wide };
        Ok(())
    }

    /// The line that ends section `name`.
    pub(crate) fn end_of(&mut self, name: &[u8]) -> Result<(), MeshError> {
        let end = [b"$End", name].concat();
        match self.next_word() {
            Some((_, word)) if word == end => Ok(()),
            Some((at, word)) => {
                Err(self.error(at, format!("expected {}, found {}", shown(&end), shown(word))))
            }
            None => Err(self.too_short(&shown(&end))),
        }
    }

    /// Passes over section `name`, which began at `at`.
    pub(crate) fn skip_past_end_of(&mut self, name: &[u8], at: usize) -> Result<(), MeshError> {
        let end = [b"$End", name].concat();
        match self.rest().windows(end.len()).position(|window| window == end) {
            Some(k) => {
                self.at += k + end.len();
                Ok(())
            }
            None => Err(self.error(at, format!("section {} has no end", shown(name)))),
        }
    }
}

/// A word of the file as it can be shown in a message.
pub(crate) fn shown(word: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(MOST)]);
    let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if word.len() > MOST { format!("`{text}…`") } else { format!("`{text}`") }
}
