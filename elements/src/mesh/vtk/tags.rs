//! Tags of an XML file as they go by.

use std::io::{self, BufRead, Read};

/// Bytes of a tag at most: what is longer has lost its end.
const LONGEST: u64 = 1 << 20;

/// `<name key="value" …>`
pub(crate) struct Tag {
    text: String,
    /// Where it begins.
    pub at: u64,
    /// Where what is in it begins.
    pub end: u64,
}

impl Tag {
    /// The next tag from byte `at` on, where the file is; comments are passed over.
    pub(crate) fn next(from: &mut impl BufRead, mut at: u64) -> io::Result<Option<Tag>> {
        loop {
            let before = from.skip_until(b'<')? as u64;
            if before == 0 {
                return Ok(None);
            }
            let begin = at + before - 1;
            let mut text = Vec::new();
            at += before + from.take(LONGEST).read_until(b'>', &mut text)? as u64;
            if text.starts_with(b"!--") {
                while !text.ends_with(b"-->") {
                    // the end of it may be cut by the limit
                    text.drain(..text.len().saturating_sub(2));
                    let more = from.take(LONGEST).read_until(b'>', &mut text)? as u64;
                    if more == 0 {
                        return Ok(None);
                    }
                    at += more;
                }
                continue;
            }
            if text.pop() != Some(b'>') {
                return Ok(None);
            }
            let text = String::from_utf8(text).unwrap_or_else(|_| "?".to_owned());
            return Ok(Some(Tag { text, at: begin, end: at }));
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.text.split(char::is_whitespace).next().unwrap_or_default()
    }

    pub(crate) fn attribute(&self, key: &str) -> Option<&str> {
        let mut rest = self.text.as_str();
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
