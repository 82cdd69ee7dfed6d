//! Numbers in little room: sixteen bits between the smallest and the largest of a component, high bytes before low ones,
//! deflated, in base 64. Undone by `viewer/src/source.js`.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// Steps between the smallest and the largest number.
pub(crate) const STEPS: f64 = 65535.0;

/// Numbers of some components, packed.
pub(crate) struct Packed {
    /// Smallest number and step of each component.
    pub scale: Vec<[f64; 2]>,
    pub text: String,
}

/// Packs numbers that come one node after the other.
pub(crate) fn pack(numbers: &[f32], components: usize) -> Packed {
    let mut scale = vec![[f64::INFINITY, f64::NEG_INFINITY]; components];
    for (i, &x) in numbers.iter().enumerate().filter(|(_, x)| x.is_finite()) {
        let [lo, hi] = &mut scale[i % components];
        (*lo, *hi) = (lo.min(f64::from(x)), hi.max(f64::from(x)));
    }
    for s in &mut scale {
        *s = if s[0] <= s[1] { [s[0], (s[1] - s[0]) / STEPS] } else { [0.0, 0.0] };
    }
    let level = |(i, &x): (usize, &f32)| {
        let [lo, step] = scale[i % components];
        if step > 0.0 { ((f64::from(x) - lo) / step).round().clamp(0.0, STEPS) as u16 } else { 0 }
    };
    // components one after the other, neighbours beside each other: what is alike compresses
    let levels: Vec<u16> = numbers.iter().enumerate().map(level).collect();
    let by_component = |c: usize| levels.iter().skip(c).step_by(components);
    let ordered: Vec<u16> = (0..components).flat_map(by_component).copied().collect();
    let high = ordered.iter().map(|l| (l >> 8) as u8);
    let bytes: Vec<u8> = high.chain(ordered.iter().map(|l| *l as u8)).collect();
    Packed { scale, text: deflated(&bytes) }
}

/// Bytes, deflated, as text.
pub(crate) fn deflated(bytes: &[u8]) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    // writing to memory does not fail
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    base64(&packed)
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut word = [0_u8; 3];
        word[..three.len()].copy_from_slice(three);
        let bits = u32::from_be_bytes([0, word[0], word[1], word[2]]);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k)) as usize & 63];
            text.push(if k > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn text_is_that_of_the_standard() {
        let words = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in words {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn numbers_keep_sixteen_bits_of_their_range_and_a_constant_keeps_all() {
        let numbers = [1.0_f32, 5.0, 2.0, 5.0, 1.5, 5.0];
        let packed = pack(&numbers, 2);
        assert_eq!(packed.scale, [[1.0, 1.0 / STEPS], [5.0, 0.0]]);
        assert!(pack(&[], 1).scale == [[0.0, 0.0]] && pack(&[f32::NAN], 1).scale == [[0.0, 0.0]]);
    }
}
