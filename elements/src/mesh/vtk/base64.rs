//! Bytes out of base64 text, as many as are asked for: writers end groups where they like, so that padding may stand in the middle.

pub struct Base64<'a> {
    text: &'a [u8],
    /// Decoded, not yet taken.
    rest: [u8; 3],
    left: usize,
}

impl<'a> Base64<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Base64 { text, rest: [0; 3], left: 0 }
    }

    /// The next `count` bytes; none where the text ends or is none.
    pub fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        // four characters hold three bytes
        if count > self.left + self.text.len() / 4 * 3 + 3 {
            return None;
        }
        let mut out = Vec::with_capacity(count + 3);
        out.extend(&self.rest[3 - self.left..]);
        self.left = 0;
        while out.len() < count {
            let (bytes, length) = self.group()?;
            out.extend(&bytes[..length]);
        }
        self.left = out.len() - count;
        self.rest[3 - self.left..].copy_from_slice(&out[count..]);
        out.truncate(count);
        Some(out)
    }

    fn group(&mut self) -> Option<([u8; 3], usize)> {
        let mut bits = 0u32;
        let (mut seen, mut padding) = (0, 0);
        while seen < 4 {
            let (&c, rest) = self.text.split_first()?;
            self.text = rest;
            let value = match c {
                b'A'..=b'Z' => c - b'A',
                b'a'..=b'z' => c - b'a' + 26,
                b'0'..=b'9' => c - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if seen >= 2 => {
                    padding += 1;
                    0
                }
                c if c.is_ascii_whitespace() => continue,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
            seen += 1;
        }
        let [_, a, b, c] = bits.to_be_bytes();
        Some(([a, b, c], 3 - padding))
    }
}
