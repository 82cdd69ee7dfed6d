//! Decks by declaration. One line per key says everything about it:
//!
//! ```
//! carom_declare::section! {
//!     /// How long a step is.
//!     #[derive(Clone, Debug, PartialEq)]
//!     pub struct Step: "step" {
//!         /// Share of the largest stable step.
//!         safety: f64 as carom_declare::Positive = 0.5;
//!         /// Where it begins [s].
//!         begin: f64;
//!         /// What it is called.
//!         name: String => "\"first\"";
//!         /// At most so many.
//!         most: Option<u32>;
//!     }
//! }
//! ```
//!
//! | after the type | the key is |
//! |---|---|
//! | `= value;` | that, unless given |
//! | `;` | the default of the type, unless given; `Option` is left out of resolved decks then |
//! | `=> "example";` | required, and this is an example for who has forgotten it |
//!
//! `as Kind` is what the value must be, beyond its type ([`Kind`]); `field ("key")` gives a key another name than its field.
//! After the keys, `with { … }` holds fields that no deck has, `renamed { "old" => "new", }` what was called otherwise, and `check |r| { … }` says whether the keys fit each other: it
//! sees each field as an `Option`, empty where it could not be read, tells problems by the reader `r`, and ends in a `bool`.
//!
//! Out of it come the struct, its defaults, its reader with the place of every mistake and a suggestion, its part of the resolved
//! deck, of the JSON schema and of the guide. [`words!`] declares a choice of words, [`tagged!`] a table whose keys depend on
//! one of them.

pub mod guide;
mod kinds;
mod macros;
pub mod problem;
pub mod reader;
pub mod schema;
pub mod tree;
mod written;

pub use kinds::{Count, List, Named, NonZero, NotNegative, Positive, Share, Tables, TimeTable};
pub use problem::{At, DeckErrors, Problem, Problems, Report};
pub use reader::{Item, Reader};
pub use schema::{Key, Schemas};
#[doc(hidden)]
pub use serde_json::{Value as Json, json};
pub use tree::{Node, Place, Source, Tree, Value};
pub use written::Written;

/// What a key can hold: how it is read, written and described. Types are their own kinds; a narrower kind is a type of its own.
pub trait Kind {
    type Of;
    /// What a table of them by name calls each.
    const CALLED: &'static str = "entry";
    /// Such a table takes any words as names, not only letters, digits, `_` and `-`.
    const ANY_NAME: bool = false;

    /// Nothing after a problem, which has been told.
    fn read(item: Item) -> Option<Self::Of>;
    /// Nothing where a resolved deck leaves the key out.
    fn write(value: &Self::Of) -> Option<Written>;
    fn schema(schemas: &mut Schemas) -> Json;
    /// What a list of `count` of them is called where something else stands in its place.
    fn several(_count: usize) -> &'static str {
        "a list"
    }
}

/// A table of keys.
pub trait Section: Sized {
    /// Its name in the schema and, where there may be several, in double brackets.
    const NAME: &'static str;
    const DOC: &'static str;

    /// Asks for every key; the caller ends the table.
    fn keys(r: &mut Reader) -> Option<Self>;
    fn write_keys(&self) -> Vec<(String, Written)>;
    /// All keys in their order.
    fn describe(schemas: &mut Schemas) -> Vec<Key>;
}

/// A section that may stand in double brackets.
pub trait Listed: Section {
    /// What entry `i` of the list called `list` is called.
    fn called(i: usize, list: &str) -> String {
        format!("entry {i} of {list}")
    }
}

/// Reads a whole table as a section.
pub fn read_section<S: Section>(item: Item) -> Option<S> {
    let mut r = item.table()?;
    let read = S::keys(&mut r);
    r.finish();
    read
}
