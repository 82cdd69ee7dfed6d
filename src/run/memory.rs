//! How much memory a run may take here: what the machine has left, and what its limits leave to this process.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// Memory that is free for us, and who says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// [bytes]
    pub bytes: u64,
    /// What bounds it, to be put behind "bytes are".
    pub bound: &'static str,
}

/// Less than this is there or nothing is [bytes].
const WORTH_ASKING: f64 = 3e7;

/// The tightest bound that the system tells; nothing where it tells none.
pub fn room() -> Option<Room> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let status = text("/proc/self/status");
    let machine = field(&text("/proc/meminfo"), "MemAvailable:").map(|b| (b, "free on this machine"));
    let group = group(Path::new("/sys/fs/cgroup"), &text("/proc/self/cgroup"));
    let group = group.map(|b| (b, "left by the limit of this control group"));
    let used = field(&status, "VmSize:").unwrap_or(0);
    let space = limit(&text("/proc/self/limits"), "Max address space").map(|b| b.saturating_sub(used));
    // lists are in two places while they grow, and what they leave behind cannot always be used again
    let space = space.map(|b| b - b / 5);
    let space = space.map(|b| (b, "left by the limit on address space (ulimit -v)"));
    let tightest = [machine, group, space].into_iter().flatten().min_by_key(|r| r.0)?;
    Some(Room { bytes: tightest.0, bound: tightest.1 })
}

/// What to say if `need` bytes are more than there is room for, to be put behind what needs them; nothing where they fit or nobody
/// knows how much there is.
pub fn lack(need: f64, room: Option<Room>) -> Option<String> {
    let room = room.filter(|room| need > room.bytes as f64)?;
    Some(format!(
        "needs about {} of memory, and {} are {}",
        gigabytes(need),
        gigabytes(room.bytes as f64),
        room.bound
    ))
}

/// The same with the room that there is now, where it is worth asking.
pub fn lack_now(need: f64) -> Option<String> {
    if need < WORTH_ASKING { None } else { lack(need, room()) }
}

/// Bytes in words.
pub fn gigabytes(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", 1e-6 * bytes) } else { format!("{:.1} GB", 1e-9 * bytes) }
}

/// Memory that this process holds at present [bytes], where the system tells.
pub fn resident() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Memory is asked for in steps not more often than this.
const ASKED_EVERY: Duration = Duration::from_millis(200);
/// What steps may add until memory is asked for again: so many bytes, and this share of what is held. A list that grows takes as much
/// again at once, and none is a larger part of a run.
const MORE: (usize, usize) = (16 << 20, 8);
/// The same for the first step, which makes most of the lists.
const FIRST: usize = 2;
/// What writing the last files takes [bytes], and for each node.
const LAST_FILES: (usize, usize) = (16 << 20, 300);

/// What a run keeps back to end in order where memory runs out, and how it notices in time.
///
/// Lists and trees grow by themselves, and where the system refuses the program is ended on the spot. So now and then more is asked for than
/// the next steps will add, and given back at once. Nothing of it is ever touched: it takes address space, and no memory.
#[derive(Debug)]
pub struct Reserve {
    last_files: Vec<u8>,
    asked: Option<Instant>,
}

impl Reserve {
    /// For a run of so many nodes.
    pub fn new(nodes: usize) -> Result<Reserve, String> {
        let bytes = LAST_FILES.0 + LAST_FILES.1 * nodes;
        let mut last_files = Vec::new();
        let granted = last_files.try_reserve_exact(bytes).is_ok();
        let mut reserve = Reserve { last_files: black_box(last_files), asked: None };
        if granted { reserve.check().map(|()| reserve) } else { Err(refused(bytes)) }
    }

    /// Is there memory for the next steps? If not, what was kept back is free for the last files, and the words say how much is held.
    pub fn check(&mut self) -> Result<(), String> {
        if self.asked.is_some_and(|asked| asked.elapsed() < ASKED_EVERY) {
            return Ok(());
        }
        let share = if self.asked.is_none() { FIRST } else { MORE.1 };
        self.asked = Some(Instant::now());
        let bytes = MORE.0 + resident().unwrap_or(0) as usize / share;
        let mut more: Vec<u8> = Vec::new();
        let granted = more.try_reserve_exact(bytes).is_ok();
        drop(black_box(more));
        let little = room().filter(|room| room.bytes < MORE.0 as u64);
        let lack = match little {
            _ if !granted => refused(bytes),
            Some(room) => format!("{}, and {} are {}", held(), gigabytes(room.bytes as f64), room.bound),
            None => return Ok(()),
        };
        self.last_files = Vec::new();
        Err(lack)
    }
}

fn held() -> String {
    resident().map_or("much is held".into(), |held| format!("{} are held", gigabytes(held as f64)))
}

fn refused(bytes: usize) -> String {
    format!("{}, and the system refuses {} more", held(), gigabytes(bytes as f64))
}

/// A line `NAME   123 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The soft limit of a line `NAME   soft   hard   bytes`; nothing if there is none.
fn limit(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|l| l.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// Bytes of files that a control group keeps in memory and gives back when somebody asks: they count as used there.
fn cached(folder: &Path) -> u64 {
    let text = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let line = |name: &str| {
        text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
    };
    let sum = |[a, b]: [&str; 2]| Some(line(a)? + line(b)?);
    // the first generation of groups tells its own files, and with `total_` those of groups inside as well, which its limit is about
    sum(["total_active_file", "total_inactive_file"])
        .or_else(|| sum(["active_file", "inactive_file"]))
        .unwrap_or(0)
}

/// What the control groups around this process leave, as `/proc/self/cgroup` names them.
fn group(root: &Path, mine: &str) -> Option<u64> {
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path, most: &str, now: &str| {
        let used = number(&folder.join(now)).unwrap_or(0).saturating_sub(cached(folder));
        Some(number(&folder.join(most))?.saturating_sub(used))
    };
    let mut tightest: Option<u64> = None;
    for line in mine.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (base, most, now) = match controllers {
            "" => (root.to_owned(), "memory.max", "memory.current"),
            c if c.split(',').any(|c| c == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // inside a container the path may be that of the machine outside: then the root itself is ours
        let inner = base.join(path);
        for folder in inner.ancestors().take_while(|f| f.starts_with(&base)) {
            tightest = [tightest, left(folder, most, now)].into_iter().flatten().min();
        }
    }
    tightest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        assert_eq!(field("MemTotal: 9 kB\nMemAvailable:   123 kB\n", "MemAvailable:"), Some(123 * 1024));
        let limits = "Max address space         4096                 unlimited            bytes\n";
        assert_eq!(limit(limits, "Max address space"), Some(4096));
        assert_eq!(limit(&limits.replace("4096 ", "unlimited "), "Max address space"), None);
    }

    #[test]
    fn the_tightest_of_the_groups_around_counts() {
        let root = std::env::temp_dir().join(format!("carom-groups-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        };
        put("a/b/memory.max", "max\n");
        put("a/memory.max", "1000\n");
        put("a/memory.current", "300\n");
        assert_eq!(group(&root, "0::/a/b\n"), Some(700));
        put("a/b/memory.max", "400\n");
        assert_eq!(group(&root, "0::/a/b\n"), Some(400));
        // what is only kept from files is as good as free
        put("a/b/memory.current", "350\n");
        assert_eq!(group(&root, "0::/a/b\n"), Some(50));
        put("a/b/memory.stat", "anon 100\ninactive_file 200\nactive_file 30\nshmem 7\n");
        assert_eq!(group(&root, "0::/a/b\n"), Some(280));
        put("memory/memory.limit_in_bytes", "600\n");
        assert_eq!(group(&root, "5:cpu,memory:/gone\n"), Some(600));
        put("memory/memory.usage_in_bytes", "500\n");
        put(
            "memory/memory.stat",
            "active_file 1\ninactive_file 2\ntotal_active_file 100\ntotal_inactive_file 20\n",
        );
        assert_eq!(group(&root, "5:cpu,memory:/gone\n"), Some(220));
        assert_eq!(group(&root, ""), None);
        fs::remove_dir_all(root).unwrap();
    }
}
