//! The JSON schema of a deck, for editors.

use super::spec::Spec;

/// As JSON text.
pub fn text() -> String {
    let schema = schemars::schema_for!(Spec);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
