//! Numbers as they are stored: kinds, sizes, byte orders.

/// How a number is stored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Stored {
    Signed(usize),
    Unsigned(usize),
    Float32,
    Float64,
}

impl Stored {
    /// By the word of an XML file (`Int32`) or a legacy one (`unsigned_int`, `vtktypeint64`).
    pub(crate) fn named(word: &str) -> Option<Stored> {
        Some(match word.to_ascii_lowercase().as_str() {
            "int8" | "char" | "signed_char" => Stored::Signed(1),
            "uint8" | "unsigned_char" => Stored::Unsigned(1),
            "int16" | "short" => Stored::Signed(2),
            "uint16" | "unsigned_short" => Stored::Unsigned(2),
            // vtkIdType is written as int in legacy files
            "int32" | "int" | "vtkidtype" => Stored::Signed(4),
            "uint32" | "unsigned_int" => Stored::Unsigned(4),
            "int64" | "long" | "vtktypeint64" => Stored::Signed(8),
            "uint64" | "unsigned_long" | "vtktypeuint64" => Stored::Unsigned(8),
            "float32" | "float" => Stored::Float32,
            "float64" | "double" => Stored::Float64,
            _ => return None,
        })
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Stored::Signed(n) | Stored::Unsigned(n) => n,
            Stored::Float32 => 4,
            Stored::Float64 => 8,
        }
    }

    pub(crate) fn whole(self) -> bool {
        matches!(self, Stored::Signed(_) | Stored::Unsigned(_))
    }

    /// Whole numbers; those beyond the range of `i64` become its ends.
    pub(crate) fn integers(self, raw: &[u8], big_endian: bool) -> impl ExactSizeIterator<Item = i64> {
        raw.chunks_exact(self.bytes()).map(move |bytes| self.integer(bytes, big_endian))
    }

    pub(crate) fn integer(self, bytes: &[u8], big_endian: bool) -> i64 {
        match self {
            Stored::Float32 | Stored::Float64 => self.float(bytes, big_endian) as i64,
            Stored::Signed(n) => {
                let shift = 64 - 8 * n as u32;
                ((word(bytes, big_endian) << shift) as i64) >> shift
            }
            Stored::Unsigned(_) => word(bytes, big_endian).try_into().unwrap_or(i64::MAX),
        }
    }

    pub(crate) fn floats(self, raw: &[u8], big_endian: bool) -> Vec<f64> {
        raw.chunks_exact(self.bytes()).map(|bytes| self.float(bytes, big_endian)).collect()
    }

    pub(crate) fn float(self, bytes: &[u8], big_endian: bool) -> f64 {
        match self {
            Stored::Float32 => f32::from_bits(word(bytes, big_endian) as u32).into(),
            Stored::Float64 => f64::from_bits(word(bytes, big_endian)),
            Stored::Signed(_) => self.integer(bytes, big_endian) as f64,
            Stored::Unsigned(_) => word(bytes, big_endian) as f64,
        }
    }
}

fn word(bytes: &[u8], big_endian: bool) -> u64 {
    let add = |sum: u64, &b: &u8| sum << 8 | u64::from(b);
    if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}
