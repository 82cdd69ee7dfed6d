//! Finding the deck that an argument means.

use crate::exit::{BAD_INPUT, Failure, complain};
use carom::cases;
use carom::simulation::sensible_threads;
use carom::{Setup, Simulation};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What `run` and `check` share.
#[derive(clap::Args)]
pub struct DeckArguments {
    /// A deck, or the name of a built-in example
    pub deck: String,
    /// The method, instead of the deck's own
    #[arg(long, value_name = "M")]
    method: Option<String>,
    /// Threads; all cores unless given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Write over a value of the deck, for example step.safety=0.5
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
}

/// A deck that was found.
pub struct Found {
    /// What it is called in messages.
    pub name: String,
    pub text: String,
    /// Where its paths begin.
    pub folder: PathBuf,
    /// What its output is called.
    pub stem: String,
    options: Vec<String>,
}

impl Found {
    /// What the command line writes over.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// With its options, on so many threads.
    pub fn setup(&self, threads: usize) -> Setup {
        self.options.iter().fold(Simulation::setup().threads(threads), |setup, option| setup.set(option))
    }
}

impl DeckArguments {
    pub fn of(deck: String, set: Vec<String>, threads: Option<usize>) -> DeckArguments {
        DeckArguments { deck, method: None, threads, set }
    }

    /// A file of that name, else the built-in example.
    pub fn find(&self) -> Result<Found, Failure> {
        let mut options = self.set.clone();
        options.extend(self.method.iter().map(|m| format!("method={m}")));
        let path = Path::new(&self.deck);
        if path.is_dir() {
            let inside = path.join("deck.toml");
            let help = if inside.is_file() {
                format!("; the deck in it is {}", inside.display())
            } else {
                String::new()
            };
            return Err(Failure::new(BAD_INPUT, format!("{} is a folder, not a deck{help}", path.display())));
        }
        if let (false, Some(example)) = (path.exists(), cases::example(&self.deck)) {
            let (name, text) = (format!("example {}", example.name), example.text.to_owned());
            let (folder, stem) = (PathBuf::from("."), example.name.to_owned());
            return Ok(Found { name, text, folder, stem, options });
        }
        let bytes = read(path).map_err(|e| {
            let names: Vec<&str> = cases::EXAMPLES.iter().map(|e| e.name).collect();
            let help = format!("built-in examples are {}", names.join(", "));
            Failure::new(BAD_INPUT, format!("cannot read the deck {}: {e}\n  {help}", path.display()))
        })?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
            let message =
                format!("{}:{line}: byte {at} is not UTF-8\n  save the deck as UTF-8 text", path.display());
            Failure::new(BAD_INPUT, message)
        })?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Found { name: self.deck.clone(), text, folder: folder.to_owned(), stem: stem(path), options })
    }

    /// Threads to use.
    pub fn threads(&self) -> Result<usize, Failure> {
        threads(self.threads)
    }
}

/// Threads to use, of those asked for.
pub fn threads(asked: Option<usize>) -> Result<usize, Failure> {
    match asked {
        Some(0) => Err(Failure::new(BAD_INPUT, "--threads 0: it must be at least 1")),
        Some(n) => {
            let used = sensible_threads(n);
            if used < n {
                complain(&format!(
                    "warning: --threads {n} is more than this machine can use; {used} are taken"
                ));
            }
            Ok(used)
        }
        None => Ok(std::thread::available_parallelism().map_or(1, |n| n.get())),
    }
}

/// Longest deck [bytes]: a device has no end.
const LONGEST: u64 = 64 << 20;

/// A file, or a pipe, that ends.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("it is longer than {} MiB: no deck is", LONGEST >> 20)));
    }
    Ok(bytes)
}

/// The stem of the deck's name, or its folder's name if the stem is `deck`.
fn stem(path: &Path) -> String {
    let name = |p: &Path| p.file_name().map(|n| n.to_string_lossy().into_owned());
    let stem = path.file_stem().map_or_else(|| "deck".into(), |s| s.to_string_lossy().into_owned());
    if stem != "deck" {
        return stem;
    }
    let absolute = std::path::absolute(path).ok();
    absolute.as_deref().and_then(Path::parent).and_then(name).unwrap_or(stem)
}
