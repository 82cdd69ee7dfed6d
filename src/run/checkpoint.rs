//! Checkpoints: a record on disk, whole or not at all.
//!
//! A file is a mark, the length of a header, the header (names, kinds and lengths of the arrays), the arrays
//! as they are in memory (little-endian), and a checksum of all before it. It is written under another name, forced to disk and then
//! renamed; two are kept in turn, so one good one is always there. What a checkpoint counts on, history and frames, is on the disk
//! before it ([`super::Observer::settle`]).

use super::disk;
use crate::model::record::{Array, Record};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MARK: &[u8; 8] = b"caromck3";
const NAMES: [&str; 2] = ["checkpoint.a", "checkpoint.b"];

/// Name, whether it holds counts, and length of each array.
type Header = Vec<(String, bool, u64)>;

/// Writes checkpoints into a folder, now and then.
pub struct Keeper {
    folder: PathBuf,
    every: Duration,
    last: Instant,
    turn: usize,
}

impl Keeper {
    /// `every` is wall time; zero keeps one at every pulse. The checkpoint that the run goes on from, if any, is written
    /// over last.
    pub fn new(folder: &Path, every: Duration, from: Option<Slot>) -> Self {
        let turn = from.map_or(0, |Slot(slot)| 1 - slot);
        Keeper { folder: folder.to_path_buf(), every, last: Instant::now(), turn }
    }

    pub fn due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    pub fn write(&mut self, record: &Record) -> Result<(), (PathBuf, io::Error)> {
        let path = self.folder.join(NAMES[self.turn]);
        write(&path, record).map_err(|error| (path, error))?;
        self.turn = 1 - self.turn;
        self.last = Instant::now();
        Ok(())
    }
}

fn step_of(record: &Record) -> Option<u64> {
    record.read_counts::<1>("state.step").ok().map(|[step]| step)
}

/// Which of the two a checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(usize);

impl Slot {
    pub fn file(self) -> &'static str {
        NAMES[self.0]
    }
}

/// Both checkpoints of a folder, the newest first; one that is not whole comes last, with what is wrong with it.
pub fn both(folder: &Path) -> [(Slot, io::Result<Record>); 2] {
    let mut both = [0, 1].map(|slot| (Slot(slot), read(&folder.join(NAMES[slot]))));
    let step = |(_, record): &(Slot, io::Result<Record>)| record.as_ref().ok().and_then(step_of);
    both.sort_by_key(|one| std::cmp::Reverse(step(one)));
    both
}

/// The newest whole checkpoint of a folder, if there is one.
pub fn newest(folder: &Path) -> Option<Record> {
    let [(_, first), _] = both(folder);
    first.ok()
}

/// Writes a checkpoint, whole or not at all.
pub fn write(path: &Path, record: &Record) -> io::Result<()> {
    let unfinished = path.with_extension("tmp");
    let written = (|| {
        let file = BufWriter::with_capacity(1 << 16, File::create(&unfinished)?);
        put_record(file, record)?;
        disk::written(&unfinished);
        disk::sync_file(&unfinished)
    })();
    disk::give_name(&unfinished, path, written)?;
    disk::sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// The bytes of a checkpoint.
pub fn bytes(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    // a vector takes whatever it is given
    let _ = put_record(&mut bytes, record);
    bytes
}

fn put_record(to: impl Write, record: &Record) -> io::Result<()> {
    let header: Header = record
        .arrays
        .iter()
        .map(|(name, array)| match array {
            Array::Numbers(values) => (name.clone(), false, values.len() as u64),
            Array::Counts(values) => (name.clone(), true, values.len() as u64),
        })
        .collect();
    let header = postcard::to_allocvec(&header).map_err(io::Error::other)?;
    let mut file = Checked { file: to, sum: crc32fast::Hasher::new() };
    file.put(MARK)?;
    file.put(&(header.len() as u64).to_le_bytes())?;
    file.put(&header)?;
    for array in record.arrays.values() {
        match array {
            Array::Numbers(values) => file.put(bytemuck::cast_slice(values))?,
            Array::Counts(values) => file.put(bytemuck::cast_slice(values))?,
        }
    }
    let sum = file.sum.clone().finalize();
    file.file.write_all(&sum.to_le_bytes())?;
    file.file.flush()
}

struct Checked<W> {
    file: W,
    sum: crc32fast::Hasher,
}

impl<W: Write> Checked<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }
}

/// Reads a checkpoint; anything that is not whole is an error.
pub fn read(path: &Path) -> io::Result<Record> {
    let bytes = disk::read_file(path)?;
    let another = || bytes.starts_with(&MARK[..7]) && !bytes.starts_with(MARK);
    parse(&bytes).ok_or_else(|| {
        let what = if another() { "a checkpoint of another version" } else { "not a whole checkpoint" };
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}

/// The record in the bytes of a checkpoint; nothing if they are not whole.
pub fn parse(bytes: &[u8]) -> Option<Record> {
    let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    if crc32fast::hash(body) != u32::from_le_bytes(sum.try_into().ok()?) {
        return None;
    }
    let rest = body.strip_prefix(MARK)?;
    let (length, rest) = rest.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (header, mut rest) = rest.split_at_checked(length)?;
    let header: Header = postcard::from_bytes(header).ok()?;
    let mut record = Record::default();
    for (name, counts, length) in header {
        let (array, after) = rest.split_at_checked(usize::try_from(length.checked_mul(8)?).ok()?)?;
        let array = if counts {
            Array::Counts(bytemuck::pod_collect_to_vec(array))
        } else {
            Array::Numbers(bytemuck::pod_collect_to_vec(array))
        };
        record.arrays.insert(name, array);
        rest = after;
    }
    rest.is_empty().then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn record(step: u64) -> Record {
        let mut record = Record::default();
        record.counts("state.step", &[step]);
        record.numbers("x", &[1.5, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE]);
        record.numbers("empty", &[]);
        record
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("carom-checkpoint-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn the_newest_whole_checkpoint_is_taken_even_if_the_last_one_was_torn() {
        let folder = folder("newest");
        assert_eq!(newest(&folder), None);
        let mut keeper = Keeper::new(&folder, Duration::ZERO, None);
        for step in 1..=3 {
            keeper.write(&record(step)).unwrap();
            assert_eq!(newest(&folder), Some(record(step)));
        }
        // a keeper that comes later leaves the one alone that the run goes on from
        let [(slot, _), _] = both(&folder);
        let mut keeper = Keeper::new(&folder, Duration::ZERO, Some(slot));
        keeper.write(&record(4)).unwrap();
        assert_eq!(newest(&folder), Some(record(4)));
        let newest_file =
            NAMES.iter().map(|n| folder.join(n)).find(|p| read(p).unwrap() == record(4)).unwrap();
        let bytes = fs::read(&newest_file).unwrap();
        fs::write(&newest_file, &bytes[..bytes.len() - 9]).unwrap();
        assert_eq!(newest(&folder), Some(record(3)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_flipped_byte_anywhere_is_noticed() {
        let folder = folder("flipped");
        let path = folder.join("checkpoint.a");
        write(&path, &record(7)).unwrap();
        let bytes = fs::read(&path).unwrap();
        for i in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[i] ^= 0x10;
            assert_eq!(parse(&broken), None);
            assert_eq!(parse(&bytes[..i]), None);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
