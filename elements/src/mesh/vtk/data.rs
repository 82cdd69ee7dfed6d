//! Numbers of an array as they are read: text, bytes, base64, packed with zlib or not. They go by in pieces and are never all held as bytes.

use super::base64::Base64;
use super::numbers::Stored;
use crate::mesh::source::shown;
use flate2::{Decompress, FlushDecompress, Status};
use std::io::{self, BufRead, ErrorKind};

/// Bytes a zlib stream can unpack to, over its own, at most (deflate ends at 1032).
const MOST_UNPACKED: usize = 1100;

/// Bytes at a time; a multiple of the size of every number.
const PIECE: usize = 1 << 15;

/// Why an array cannot be read; what is said of it follows its name.
pub(crate) enum Unread {
    Io(io::Error),
    Because(&'static str),
    /// A word, so many bytes after the beginning.
    Word(u64, String),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Unread::Io(error)
    }
}

const SHORT: Unread = Unread::Because("does not fit into the file; it seems cut short");
const FEW: Unread = Unread::Because("is shorter than the grid says");

/// A number that arrays hold.
pub(crate) trait Number: Sized {
    fn stored(stored: Stored, bytes: &[u8], big_endian: bool) -> Self;
    fn written(word: &str) -> Option<Self>;
}

impl Number for i64 {
    fn stored(stored: Stored, bytes: &[u8], big_endian: bool) -> Self {
        stored.integer(bytes, big_endian)
    }

    fn written(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

impl Number for f64 {
    fn stored(stored: Stored, bytes: &[u8], big_endian: bool) -> Self {
        stored.float(bytes, big_endian)
    }

    fn written(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// How the arrays of a file are stored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Coding {
    pub big_endian: bool,
    /// Lengths have eight bytes and not four.
    pub wide: bool,
    pub zlib: bool,
}

/// `count` numbers written as text, up to the next tag.
pub(crate) fn text<N: Number>(
    from: &mut impl BufRead,
    count: usize,
    mut visit: impl FnMut(N),
) -> Result<(), Unread> {
    let (mut word, mut read, mut seen) = (Vec::new(), 0, 0);
    while seen < count {
        let piece = from.fill_buf()?;
        // the end of the file ends a word as a tag does
        let end = piece.iter().position(|b| b.is_ascii_whitespace() || *b == b'<');
        word.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        let last = piece.is_empty() || end.is_some_and(|end| piece[end] == b'<');
        let taken = end.map_or(piece.len(), |end| if last { end } else { end + 1 });
        from.consume(taken);
        read += taken as u64;
        if !word.is_empty() && (end.is_some() || last) {
            let number = std::str::from_utf8(&word).ok().and_then(N::written);
            let begin = read - u64::from(!last) - word.len() as u64;
            visit(number.ok_or_else(|| Unread::Word(begin, shown(&word)))?);
            seen += 1;
            word.clear();
        }
        if last && seen < count {
            return Err(Unread::Because("does not have as many numbers as the grid says"));
        }
    }
    Ok(())
}

/// Bytes as they stand in the file or as base64.
pub(crate) struct Bytes<'a, R> {
    pub from: &'a mut R,
    pub base64: Option<Base64>,
    /// Size of the file.
    pub size: usize,
}

impl<R: BufRead> Bytes<'_, R> {
    /// `count` numbers.
    pub(crate) fn numbers<N: Number>(
        &mut self,
        (stored, coding): (Stored, Coding),
        count: usize,
        mut visit: impl FnMut(N),
    ) -> Result<(), Unread> {
        let bytes =
            count.checked_mul(stored.bytes()).ok_or(Unread::Because("is longer than can be counted"))?;
        let mut each = |bytes: &[u8]| {
            for bytes in bytes.chunks_exact(stored.bytes()) {
                visit(N::stored(stored, bytes, coding.big_endian));
            }
        };
        if coding.zlib {
            return self.unpacked(coding, bytes, stored.bytes(), each);
        }
        if self.length(coding)? < bytes {
            return Err(FEW);
        }
        let mut piece = vec![0; PIECE.min(bytes)];
        let mut left = bytes;
        while left > 0 {
            let now = left.min(PIECE);
            self.fill(&mut piece[..now])?;
            each(&piece[..now]);
            left -= now;
        }
        Ok(())
    }

    /// `bytes` out of packed blocks, shown in whole numbers of `size` bytes.
    fn unpacked(
        &mut self,
        coding: Coding,
        bytes: usize,
        size: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Unread> {
        let (blocks, usual, last) = (self.length(coding)?, self.length(coding)?, self.length(coding)?);
        if blocks > self.size || bytes > self.size.saturating_mul(MOST_UNPACKED) {
            return Err(Unread::Because("is longer than the file can hold"));
        }
        let sizes = (0..blocks).map(|_| self.length(coding)).collect::<Result<Vec<_>, _>>()?;
        let (mut packed, mut raw) = (Vec::new(), Vec::new());
        let mut left = bytes;
        for (k, length) in sizes.into_iter().enumerate() {
            let full = if k + 1 == blocks && last > 0 { last } else { usual };
            if length > self.size {
                return Err(SHORT);
            }
            if full > length.saturating_mul(MOST_UNPACKED) {
                return Err(Unread::Because("cannot be unpacked"));
            }
            packed.resize(length, 0);
            self.fill(&mut packed)?;
            // a number may lie across two blocks
            let before = raw.len();
            raw.resize(before + full, 0);
            if !inflate(&packed, &mut raw[before..]) {
                return Err(Unread::Because("cannot be unpacked"));
            }
            let whole = raw.len().min(left) / size * size;
            each(&raw[..whole]);
            left -= whole;
            if left == 0 {
                break;
            }
            raw.drain(..whole);
        }
        if left > 0 { Err(FEW) } else { Ok(()) }
    }

    fn fill(&mut self, to: &mut [u8]) -> Result<(), Unread> {
        let whole = match &mut self.base64 {
            Some(base64) => base64.fill(self.from, to)?,
            None => match self.from.read_exact(to) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
                read => read.map(|()| true)?,
            },
        };
        if whole { Ok(()) } else { Err(SHORT) }
    }

    fn length(&mut self, coding: Coding) -> Result<usize, Unread> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..if coding.wide { 8 } else { 4 }];
        self.fill(bytes)?;
        let length = Stored::Unsigned(bytes.len()).integer(bytes, coding.big_endian);
        usize::try_from(length).map_err(|_| SHORT)
    }
}

/// Exactly as many bytes as `raw` has out of one zlib stream.
fn inflate(stream: &[u8], raw: &mut [u8]) -> bool {
    let mut zlib = Decompress::new(true);
    let status = zlib.decompress(stream, raw, FlushDecompress::Finish);
    status.is_ok_and(|s| s == Status::StreamEnd) && zlib.total_out() as usize == raw.len()
}
