//! Everything that reads what others wrote, as a function of bytes: it may refuse them, and nothing else.
//!
//! | target | reads |
//! |---|---|
//! | `deck` | the text of a deck, builds it and does a few steps |
//! | `gmsh` | a mesh file, and what mechanics asks of it |
//! | `mesh` | a mesh file of another tool; the first byte names its format |
//! | `frame` | a frame, `frames/NNNNNN.vtu` |
//! | `checkpoint` | a checkpoint, takes it back into a run and goes on |
//! | `history` | a history, as plots read it |
//!
//! A target answers with the kind of its outcome: inputs that lead to a new one are worth changing further.

pub mod generate;
pub mod mutate;

use carom::deck::{self, Input};
use carom::look::folder::Table;
use carom::model::record::Record;
use carom::run::{Case, Run, checkpoint, pool};
use carom::{mesh, output};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

/// The kind of an outcome.
pub type Kind = String;

/// Reads an input and says what became of it.
pub type Target = fn(&[u8]) -> Kind;

/// All targets.
pub const TARGETS: [(&str, Target); 6] = [
    ("deck", deck),
    ("gmsh", gmsh),
    ("mesh", mesh_file),
    ("frame", frame),
    ("checkpoint", checkpoint),
    ("history", history),
];

/// Steps that a deck or a checkpoint is carried on.
const STEPS: usize = 3;
/// Nodes beyond which a deck is not carried on: many inputs are worth more than large ones.
const LARGE: usize = 5000;

/// An error without its numbers and names.
fn kind(error: impl ToString) -> Kind {
    let text = error.to_string();
    let mut quoted = false;
    let mut kept = String::new();
    for c in text.chars().take(2000) {
        quoted ^= c == '`' || c == '"';
        if !quoted && c.is_ascii_alphabetic() {
            kept.push(c);
        }
    }
    kept
}

fn inside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static POOL: LazyLock<rayon::ThreadPool> = LazyLock::new(|| pool(1).expect("one thread can be started"));
    POOL.install(work)
}

pub fn deck(bytes: &[u8]) -> Kind {
    let text = String::from_utf8_lossy(bytes);
    let input = Input { name: "deck", text: &text, folder: Path::new("/nonexistent"), options: &[] };
    inside(|| match deck::load(&input) {
        Err(errors) => kind(errors),
        Ok(loaded) => carry(loaded.case),
    })
}

/// Does a few steps; what was reached is finite or was refused.
fn carry(case: Case) -> Kind {
    let method = case.method_name.clone();
    if case.model.reference.len() > LARGE {
        return format!("{method}large");
    }
    let started = Run::start(case, Vec::new(), None);
    let mut run = match started {
        Ok(run) => run,
        Err(error) => return method + &kind(error),
    };
    for _ in 0..STEPS {
        let until = run.case.state.time + 0.5 * run.case.method.next_step();
        if let Err(error) = run.advance(until.min(run.case.end), &AtomicBool::new(false)) {
            return method + &kind(error);
        }
    }
    let contacts = run.ledger.contacts.min(3);
    format!("{method}went{contacts}")
}

pub fn gmsh(bytes: &[u8]) -> Kind {
    looked_at(mesh::gmsh::parse(bytes))
}

/// Formats by the first byte of an input.
pub const FORMATS: [&str; 5] = ["inp", "vtu", "vtk", "stl", "obj"];

pub fn mesh_file(bytes: &[u8]) -> Kind {
    let Some((&first, file)) = bytes.split_first() else { return "empty".into() };
    let alone = |read: mesh::file::Read| read.mesh;
    looked_at(match FORMATS[first as usize % FORMATS.len()] {
        "inp" => mesh::abaqus::parse(file, &mut |_| Ok(b"*NODE\n1000001, 0, 0, 0\n".to_vec())),
        "vtu" => mesh::vtk::parse_xml(file),
        "vtk" => mesh::vtk::parse_legacy(file),
        "stl" => mesh::triangles::stl(file, mesh::file::WELD).map(alone),
        _ => mesh::triangles::obj(file, mesh::file::WELD).map(alone),
    })
}

/// What mechanics asks of a mesh.
fn looked_at(read: Result<mesh::Mesh, mesh::MeshError>) -> Kind {
    match read {
        Err(error) => kind(error),
        Ok(mesh) => match mesh.check() {
            Err(error) => "unfit".to_owned() + &kind(error),
            Ok(()) => format!("mesh{:?}", mesh.cells.iter().map(|c| c.kind).collect::<Vec<_>>()),
        },
    }
}

pub fn frame(bytes: &[u8]) -> Kind {
    match inside(|| output::vtu::parse(Path::new("frame"), bytes, |_| true)) {
        Err(error) => kind(error),
        Ok(frame) => format!("frame{}", frame.cells.len().min(5)),
    }
}

/// Small decks of every method, whose checkpoints are taken back.
pub fn small(method: &str) -> String {
    let contact = if method == "static" {
        ""
    } else {
        "[body.o]\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n[contact]\nfriction = 0.3\n"
    };
    let fix = if method == "static" { "fix = \"zmin\"\n" } else { "velocity = [0.1, 0, -1]\n" };
    format!(
        "method = \"{method}\"\nend = 0.02\n[body.a]\n\
         mesh = {{ shape = \"box\", size = [0.1, 0.1, 0.1], cells = [2, 2, 2], at = [0, 0, 0.001] }}\n\
         material = {{ law = \"neo-hookean\", young = 1e5, poisson = 0.3, density = 1000 }}\n{fix}{contact}"
    )
}

/// The methods, in the order in which the first byte of a checkpoint input names them.
pub const METHODS: [&str; 9] = [
    "dcr",
    "asynchronous",
    "verlet",
    "semi-explicit",
    "nonsmooth",
    "bipotential-implicit",
    "velocity-update",
    "newmark-penalty",
    "static",
];

fn case_of(method: &str) -> Case {
    let text = small(method);
    let input = Input { name: "deck", text: &text, folder: Path::new("."), options: &[] };
    deck::load(&input).unwrap_or_else(|e| panic!("{e}")).case
}

/// The record of a run by `method` after a few steps.
pub fn record_of(method: &str) -> Record {
    inside(|| {
        let mut run = Run::start(case_of(method), Vec::new(), None).unwrap_or_else(|e| panic!("{e}"));
        let until = 4.0 * run.case.method.next_step();
        run.advance(until.min(run.case.end), &AtomicBool::new(false)).unwrap_or_else(|e| panic!("{e}"));
        run.save()
    })
}

/// The first byte names the method, the others are the file. Its checksum is put right, so that more than that is looked at.
pub fn checkpoint(bytes: &[u8]) -> Kind {
    let Some((&first, file)) = bytes.split_first() else { return "empty".into() };
    let method = METHODS[first as usize % METHODS.len()];
    let mut file = file.to_vec();
    if file.len() >= 4 && first < 128 {
        let body = file.len() - 4;
        let sum = crc32fast::hash(&file[..body]);
        file[body..].copy_from_slice(&sum.to_le_bytes());
    }
    let Some(record) = checkpoint::parse(&file) else { return "refused".into() };
    inside(|| match Run::resume(case_of(method), Vec::new(), None, &record) {
        Err(error) => method.to_owned() + &kind(error),
        Ok(mut run) => {
            let until = run.case.state.time + 2.5 * run.case.method.next_step();
            let until = if until.is_finite() { until.min(run.case.end) } else { run.case.end };
            match run.advance(until, &AtomicBool::new(false)) {
                Err(error) => format!("{method}went{}", kind(error)),
                Ok(_) => format!("{method}went"),
            }
        }
    })
}

pub fn history(bytes: &[u8]) -> Kind {
    let text = String::from_utf8_lossy(bytes);
    match Table::parse(Path::new("history"), &text, bytes.len().is_multiple_of(2)) {
        Err(error) => kind(error),
        Ok(table) => format!("table{}", table.names.len().min(9)),
    }
}
