//! Changes to inputs: bytes, numbers in texts, lines and pieces of other inputs.

use carom::cases::soak::Dice;

/// Longest input [bytes].
const LONGEST: usize = 1 << 16;
/// Numbers that have broken readers before.
const ODD: [&str; 20] = [
    "0",
    "-0.0",
    "-1",
    "1",
    "2",
    "3",
    "1e308",
    "5e-324",
    "-1e308",
    "1e-300",
    "inf",
    "nan",
    "4294967295",
    "4294967296",
    "65536",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0.5",
    "1e9",
];

/// So many below `n`.
pub fn below(dice: &mut Dice, n: usize) -> usize {
    ((dice.unit() * n as f64) as usize).min(n.saturating_sub(1))
}

/// A changed copy of `input`; pieces may come from `other`.
pub fn mutate(input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 + below(dice, 4) {
        once(&mut bytes, other, dice);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn once(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    if bytes.is_empty() {
        bytes.extend_from_slice(other);
        return;
    }
    let at = below(dice, bytes.len());
    match below(dice, 10) {
        0 => bytes[at] ^= 1 << below(dice, 8),
        1 => bytes[at] = below(dice, 256) as u8,
        2 => bytes.truncate(at),
        3 => {
            let end = (at + 1 + below(dice, 64)).min(bytes.len());
            bytes.drain(at..end);
        }
        4 => {
            let end = (at + 1 + below(dice, 64)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            let to = below(dice, bytes.len());
            bytes.splice(to..to, piece);
        }
        5 if !other.is_empty() => {
            let from = below(dice, other.len());
            let to = (from + 1 + below(dice, 128)).min(other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        6 => {
            let width = [1, 2, 4, 8][below(dice, 4)].min(bytes.len() - at);
            let value = [0, 1, u64::MAX, i64::MAX as u64, u64::from(u32::MAX), 1 << 40][below(dice, 6)];
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        7 => lines(bytes, dice),
        _ => number(bytes, at, dice),
    }
}

/// The number after `at`, if there is one, becomes another.
fn number(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let digit = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
    let Some(from) = bytes[at..].iter().position(|b| b.is_ascii_digit()).map(|i| at + i) else { return };
    let to = bytes[from..].iter().position(|b| !digit(b)).map_or(bytes.len(), |i| from + i);
    bytes.splice(from..to, ODD[below(dice, ODD.len())].bytes());
}

/// Two lines change places, or one is there twice or not at all.
fn lines(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let mut all: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let (i, j) = (below(dice, all.len()), below(dice, all.len()));
    match below(dice, 3) {
        0 => all.swap(i, j),
        1 => all.insert(i, all[j].clone()),
        _ => drop(all.remove(i)),
    }
    *bytes = all.join(&b'\n');
}
