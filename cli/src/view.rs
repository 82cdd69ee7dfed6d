//! `carom view`: the interactive page of a run, served to this machine alone, following the run while it goes on.

mod serve;

use crate::exit::{BAD_INPUT, Failure, NO_OUTPUT, Outcome, say};
use crate::signals::Stop;
use carom::look::page::{self, Outline};
use carom::look::{LookError, Results};
use serve::{Answer, Server};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(clap::Args)]
pub struct Arguments {
    /// Output folder of a run, finished or going on
    dir: PathBuf,
    /// Port on 127.0.0.1; any free one unless given
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Say where the page is, and leave the browser alone
    #[arg(long)]
    no_browser: bool,
}

pub fn command(arguments: &Arguments) -> Outcome {
    let bad = |error: LookError| Failure::new(BAD_INPUT, error.to_string());
    let stop =
        Stop::listen().map_err(|e| Failure::new(BAD_INPUT, format!("cannot listen to signals: {e}")))?;
    let results = Results::open(&arguments.dir).map_err(bad)?;
    let server = Server::open(arguments.port)
        .map_err(|e| Failure::new(NO_OUTPUT, format!("cannot serve on 127.0.0.1:{}: {e}", arguments.port)))?;
    let url = server.url();
    say(&format!("{} at {url} (Ctrl-C ends)\n", arguments.dir.display()))?;
    if !arguments.no_browser {
        browse(&url);
    }
    let folder = Folder { results, outline: Mutex::default() };
    server.run(&stop.flag, move |path| folder.answer(path));
    Ok(0)
}

/// Shows a page in the browser of the desktop; where there is none, nothing happens.
fn browse(url: &str) {
    let words: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["cmd", "/c", "start", ""]
    } else {
        &["xdg-open"]
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    std::thread::spawn(move || command.status());
}

/// A run, and its skin with the run it belongs to.
struct Folder {
    results: Results,
    outline: Mutex<Option<(String, Arc<Outline>)>>,
}

impl Folder {
    /// What is sent for a path: a closed list of names, none of which is a path of the file system.
    fn answer(&self, path: &str) -> Answer {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let told = match parts[..] {
            [""] => return Answer::page(page::page("")),
            ["progress"] => page::progress(&self.results).map(Answer::json),
            ["history"] => page::history(&self.results).map(Answer::json),
            ["mesh"] => self.outline().map(|outline| Answer::bytes(outline.bytes())),
            ["frame", index, what] => match index.parse() {
                Ok(index) => self.numbers(index, what),
                Err(_) => return Answer::nothing(),
            },
            _ => return Answer::nothing(),
        };
        told.unwrap_or_else(|error| Answer::refused(404, &error.to_string()))
    }

    fn numbers(&self, frame: usize, what: &str) -> Result<Answer, LookError> {
        let numbers = self.outline()?.numbers(&self.results, frame, what)?;
        Ok(Answer::bytes(numbers.iter().flat_map(|x| x.to_le_bytes()).collect()))
    }

    /// The skin of the run that is in the folder now.
    fn outline(&self) -> Result<Arc<Outline>, LookError> {
        let run = page::run_id(&self.results);
        let mut kept = self.outline.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((of, outline)) if *of == run => Ok(outline.clone()),
            _ => {
                let outline = Arc::new(Outline::new(&self.results)?);
                *kept = Some((run, outline.clone()));
                Ok(outline)
            }
        }
    }
}
