//! The JSON schema of a deck, for editors.

use super::spec::Spec;
use carom_declare::{Schemas, Section, json, schema::object};

/// As JSON text.
pub fn text() -> String {
    let schema = Schemas::default().whole("Carom deck", |schemas| {
        let keys = Spec::describe(schemas);
        let mut root = object(Spec::DOC, &keys);
        // an empty table of bodies is told apart from none by no reader
        root["required"] = json!(["method", "end", "body"]);
        root
    });
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
