//! Decks: from text to a [`Case`], with errors that point at a line.
//!
//! ```text
//! text ──tree──► values with places ──sections──► what it says ──check──► what it means ──build──► Case
//!                --set options, arrays, pieces                 │
//!                                                      └──resolve──► deck.toml with every default
//! ```
//!
//! All problems are collected and told at once ([`DeckErrors`]); a part that fails is passed over by what follows.
//!
//! A section of the deck is a file of its own, which declares its keys ([`carom_declare::section!`]); `spec.rs` holds them
//! together. Nothing else has to be told of a new key: reader, default, schema, resolved deck and the guide's tables follow.

mod array;
mod beyond;
mod body;
mod build;
mod check;
mod contact;
mod load;
mod material;
mod memory;
mod mesh;
mod method;
mod obstacle;
mod output;
mod probe;
pub(crate) mod resolve;
#[doc(hidden)]
pub mod schema;
mod shatter;
mod shell;
#[doc(hidden)]
pub mod spec;
mod step;
mod support;
mod symmetry;
#[cfg(test)]
mod tests;

pub use carom_declare::problem::harmless;
pub use carom_declare::{At, DeckErrors, Problem};
use carom_declare::{Problems, Report, Source, Tree};
pub use material::{OwnLaw, OwnLaws};
pub use output::Output;
pub use spec::Spec;

use crate::model::load::OwnLoad;
use crate::run::Case;
use crate::survey::surfaces::Surfaces;
use std::path::{Path, PathBuf};

/// A deck before it is read.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// What it is called in messages.
    pub name: &'a str,
    pub text: &'a str,
    /// Where its paths begin.
    pub folder: &'a Path,
    /// Options `path=value`, written over the text.
    pub options: &'a [String],
}

/// A deck that has become a case.
pub struct Loaded {
    pub case: Case,
    /// What the deck says, with every default.
    pub spec: Spec,
    /// What can touch, if anything can.
    pub surfaces: Option<Surfaces>,
    /// Steps [s] of groups of potentials, ascending, and how many potentials each has; empty where all have one step.
    pub kicks: Vec<(f64, u64)>,
    /// What a run takes, roughly [bytes].
    pub memory: f64,
    pub warnings: Vec<Problem>,
    folder: PathBuf,
}

/// Reads, checks and builds a deck. Call inside [`crate::run::pool`]'s `install`.
pub fn load(input: &Input) -> Result<Loaded, DeckErrors> {
    load_with(input, &OwnLaws::default(), &[])
}

/// The same for decks that may name `laws` too, with `loads` beside their own.
pub fn load_with(input: &Input, laws: &OwnLaws, loads: &[OwnLoad]) -> Result<Loaded, DeckErrors> {
    let source = Source { name: input.name.into(), text: input.text.into(), options: input.options.to_vec() };
    let mut tree = Tree::parse(&source)?;
    let problems = Problems::new(&source).with_context(laws);
    let room = crate::run::memory::room();
    array::expand(&mut tree, room, &problems);
    shatter::expand(&mut tree, room, &problems);
    let built = spec::read(&tree, &problems).and_then(|mut draft| {
        let report = Report { tree: &tree, problems: &problems };
        if !memory::fits(&draft, input.folder, room, &report) {
            return None;
        }
        let checker = check::Checker { report, folder: input.folder };
        let made: Option<Vec<_>> = checker.all(&mut draft).into_iter().collect();
        let (made, spec) = (made?, draft.whole()?);
        if !problems.none() {
            return None;
        }
        let memory = memory::fits_as_made(&spec, &made, input.folder, &report)?;
        Some((build::case(&spec, made, loads, input.folder, &report)?, spec, memory))
    });
    let warnings = problems.verdict()?;
    let Some((built, spec, memory)) = built else {
        // Nothing is given up without a word; should it happen, this is better than none.
        let at = At::File(input.name.into());
        let message = "the deck could not be read".into();
        return Err(DeckErrors { problems: vec![Problem { at, message, help: String::new() }] });
    };
    let build::Built { case, surfaces, kicks } = built;
    Ok(Loaded { case, spec, surfaces, kicks, memory, warnings, folder: input.folder.to_owned() })
}
