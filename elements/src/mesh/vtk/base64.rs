//! Bytes out of base64 text, as many as are asked for: writers end groups where they like, so that padding may stand in the middle.

use std::io::{self, BufRead};

/// What a character stands for; 64 for padding, 65 for a space, 66 for what has no place here.
const VALUES: [u8; 256] = {
    let mut values = [66; 256];
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut k = 0;
    while k < letters.len() {
        values[letters[k] as usize] = k as u8;
        k += 1;
    }
    values[b'=' as usize] = 64;
    let spaces = b" \t\n\r\x0c";
    let mut k = 0;
    while k < spaces.len() {
        values[spaces[k] as usize] = 65;
        k += 1;
    }
    values
};

#[derive(Default)]
pub(crate) struct Base64 {
    /// Decoded, not yet taken: the last `left`.
    rest: [u8; 3],
    left: usize,
}

impl Base64 {
    /// Fills `to` with the next bytes; false where the text ends before or is none.
    pub(crate) fn fill(&mut self, from: &mut impl BufRead, mut to: &mut [u8]) -> io::Result<bool> {
        while !to.is_empty() {
            if self.left == 0 {
                let whole = whole_groups(from, to)?;
                to = &mut to[whole..];
                if to.is_empty() {
                    break;
                }
                if !self.group(from)? {
                    return Ok(false);
                }
            }
            let count = self.left.min(to.len());
            let begin = 3 - self.left;
            to[..count].copy_from_slice(&self.rest[begin..begin + count]);
            self.left -= count;
            to = &mut to[count..];
        }
        Ok(true)
    }

    /// One group, character by character; false where there is none.
    fn group(&mut self, from: &mut impl BufRead) -> io::Result<bool> {
        let (mut bits, mut seen, mut padding) = (0_u32, 0, 0);
        while seen < 4 {
            let Some(&character) = from.fill_buf()?.first() else { return Ok(false) };
            let value = match VALUES[character as usize] {
                64 if seen >= 2 => {
                    padding += 1;
                    0
                }
                65 => {
                    from.consume(1);
                    continue;
                }
                value @ 0..64 => value,
                _ => return Ok(false),
            };
            from.consume(1);
            bits = bits << 6 | u32::from(value);
            seen += 1;
        }
        let [_, a, b, c] = bits.to_be_bytes();
        // the bytes that padding stands for are the last ones
        self.left = 3 - padding;
        self.rest = match padding {
            0 => [a, b, c],
            1 => [0, a, b],
            _ => [0, 0, a],
        };
        Ok(true)
    }
}

/// As many groups of four plain characters as stand ready and fit; returns the number of bytes.
fn whole_groups(from: &mut impl BufRead, to: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    for (text, bytes) in from.fill_buf()?.chunks_exact(4).zip(to.chunks_exact_mut(3)) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| VALUES[text[k] as usize]);
        if a | b | c | d >= 64 {
            break;
        }
        let bits = u32::from(a) << 18 | u32::from(b) << 12 | u32::from(c) << 6 | u32::from(d);
        bytes.copy_from_slice(&bits.to_be_bytes()[1..]);
        count += 1;
    }
    from.consume(4 * count);
    Ok(3 * count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// RFC 4648, section 10, one after the other as writers put heads and data, over buffers that end anywhere.
    #[test]
    fn padding_and_spaces_may_stand_in_the_middle() {
        let text = b"Zm9vYmFy Zg==\nZm8=Zm9vYg==Zm9v\r\nYmE=";
        for buffer in [1, 2, 3, 5, 100] {
            for taken in 1..8 {
                let mut from = BufReader::with_capacity(buffer, &text[..]);
                let mut base64 = Base64::default();
                let (mut out, mut piece) = (Vec::new(), vec![0; taken]);
                while out.len() + taken <= 18 {
                    assert!(base64.fill(&mut from, &mut piece).unwrap());
                    out.extend_from_slice(&piece);
                }
                assert_eq!(out, b"foobarffofoobfooba"[..out.len()], "buffer {buffer}, {taken} at a time");
                assert!(!base64.fill(&mut from, &mut [0; 8]).unwrap());
            }
        }
    }
}
