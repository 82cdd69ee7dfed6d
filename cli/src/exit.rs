//! How the program ends: exit codes, messages, and the last line of defence against panics.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

/// A bug of the program.
pub const INTERNAL: u8 = 1;
/// Deck, mesh or arguments are wrong.
pub const BAD_INPUT: u8 = 2;
/// The simulation failed.
pub const FAILED: u8 = 3;
/// A check of `reproduce` failed.
pub const CHECK_FAILED: u8 = 4;
/// Output could not be written.
pub const NO_OUTPUT: u8 = 5;

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub message: String,
}

impl Failure {
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Failure { code, message: message.into() }
    }
}

/// An exit code, or a failure that has one.
pub type Outcome = Result<u8, Failure>;

/// Runs a command and turns whatever happens into an exit code.
pub fn guarded(command: impl FnOnce() -> Outcome) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        let what = info.payload_as_str().unwrap_or("no message");
        complain(&format!(
            "internal error{place}: {what}\nThis is a bug of Carom, not of your deck; please report it."
        ));
    }));
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(failure)) => {
            complain(&failure.message);
            ExitCode::from(failure.code)
        }
        Err(_) => ExitCode::from(INTERNAL),
    }
}

/// A line to standard error; where nobody listens it is lost.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Text to standard output. A pipe that was closed at the other end is no failure: whoever read has had enough.
pub fn say(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()), ())
}

/// What was written to standard output, or `closed` if nobody listens any more.
pub fn unless_closed<T>(result: io::Result<T>, closed: T) -> Result<T, Failure> {
    match result {
        Ok(value) => Ok(value),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(closed),
        Err(e) => Err(Failure::new(NO_OUTPUT, format!("cannot write to standard output: {e}"))),
    }
}
