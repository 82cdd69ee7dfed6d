//! Lines, keywords and numbers of an input file.

use crate::mesh::MeshError;
use crate::mesh::error::Place;
pub(crate) use crate::mesh::source::shown;

pub(crate) fn error(line: usize, problem: impl Into<String>) -> MeshError {
    MeshError::Content { place: Place::Line { line, column: 1 }, problem: problem.into() }
}

/// Lines with their numbers, counted from 1, without spaces around.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Lines { rest: bytes, line: 0 }
    }

    pub(crate) fn next(&mut self) -> Option<(usize, &'a [u8])> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&b| b == b'\n');
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
        self.line += 1;
        Some((self.line, line.trim_ascii()))
    }

    /// A keyword with its parameters; a comma at the end of a line goes on in the next.
    pub(crate) fn keyword(&mut self, line: usize, first: &'a [u8]) -> Result<Keyword, MeshError> {
        let mut text = String::from_utf8_lossy(first).into_owned();
        while text.ends_with(',') {
            match self.next() {
                Some((_, more)) if !more.starts_with(b"**") => text += &String::from_utf8_lossy(more),
                Some(_) => {}
                None => break,
            }
            if text.len() > LONGEST {
                return Err(error(line, "a keyword that goes on and on: commas at the ends of its lines"));
            }
        }
        let mut words = text[1..].split(',');
        let name = words.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let parameter = |word: &str| {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let key: String = key.split_whitespace().collect();
            (key.to_ascii_uppercase(), value.trim().trim_matches('"').to_owned())
        };
        Ok(Keyword { name: name.to_ascii_uppercase(), parameters: words.map(parameter).collect(), line })
    }
}

/// Bytes of a keyword with all its parameters, at most.
const LONGEST: usize = 10_000;

/// `*NAME, PARAMETER=value, PARAMETER`.
pub(crate) struct Keyword {
    pub name: String,
    parameters: Vec<(String, String)>,
    pub line: usize,
}

impl Keyword {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let value = self.parameters.iter().find(|p| p.0 == key).map(|p| p.1.as_str());
        value.filter(|value| !value.is_empty())
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.parameters.iter().any(|p| p.0 == key)
    }

    pub(crate) fn needed(&self, key: &str) -> Result<&str, MeshError> {
        let missing = || error(self.line, format!("*{} needs {key}=…", self.name));
        self.get(key).ok_or_else(missing)
    }
}

/// What stands between commas.
pub(crate) fn items(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b',').map(<[u8]>::trim_ascii)
}

/// A name, quoted or not.
pub(crate) fn name(word: &[u8]) -> String {
    String::from_utf8_lossy(word).trim_matches('"').to_owned()
}

/// A number of a node or element.
pub(crate) fn integer(word: &[u8], line: usize, what: &str) -> Result<u32, MeshError> {
    let mut number: u32 = 0;
    let digit = |number: u32, b: u8| number.checked_mul(10)?.checked_add(u32::from(b.wrapping_sub(b'0')));
    for &b in word {
        match digit(number, b).filter(|_| b.is_ascii_digit()) {
            Some(next) => number = next,
            None => return Err(error(line, format!("expected {what}, found {}", shown(word)))),
        }
    }
    if word.is_empty() {
        return Err(error(line, format!("expected {what}, found nothing")));
    }
    Ok(number)
}

/// A finite number; Fortran's `1.5D3` too.
pub(crate) fn float(word: &[u8], line: usize, what: &str) -> Result<f64, MeshError> {
    let text = std::str::from_utf8(word).unwrap_or("?");
    let number = text.parse().ok().or_else(|| text.replace(['d', 'D'], "e").parse().ok());
    match number {
        Some(x) if f64::is_finite(x) => Ok(x),
        _ => Err(error(line, format!("expected {what}, found {}", shown(word)))),
    }
}
