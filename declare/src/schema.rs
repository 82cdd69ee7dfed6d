//! The JSON schema of declared tables, for editors.
//!
//! Choices are told apart by `if` and `then`, so that a mistake is told at its key and not as "none of these fit".

use crate::{Json, Section, Written, json};
use serde_json::Map;

/// What is known about a key.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: &'static str,
    pub doc: String,
    pub required: bool,
    /// What holds unless it is given; nothing where that depends on others.
    pub default: Option<Written>,
    /// What it must be.
    pub schema: Json,
}

impl Key {
    /// `usual` is empty for required keys, and holds nothing where a resolved deck leaves the key out.
    pub fn new(name: &'static str, doc: &str, schema: Json, usual: Option<Option<Written>>) -> Key {
        Key { name, doc: sentence(doc), required: usual.is_none(), default: usual.flatten(), schema }
    }
}

/// The text of documentation comments, without the blanks they begin with.
pub fn sentence(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Definitions that others refer to, by name.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    defs: Map<String, Json>,
    /// Keys of every section, and of every word of a tagged table, in the order in which they were asked for.
    pub sections: Vec<(String, Vec<Key>)>,
    pub tagged: Vec<(String, Vec<Variant>)>,
}

/// A word that says which keys a table has: the word, what it means, the keys.
pub type Variant = (&'static str, &'static str, Vec<Key>);

impl Schemas {
    /// A reference to `name`, which is made by `make` if nobody has.
    pub fn define(&mut self, name: &str, make: impl FnOnce(&mut Schemas) -> Json) -> Json {
        if !self.defs.contains_key(name) {
            // there while it is made, for those that hold themselves
            self.defs.insert(name.into(), Json::Null);
            let made = make(self);
            self.defs.insert(name.into(), made);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    pub fn section<S: Section>(&mut self) -> Json {
        self.define(S::NAME, |schemas| {
            let keys = S::describe(schemas);
            let schema = object(S::DOC, &keys);
            schemas.sections.push((S::NAME.into(), keys));
            schema
        })
    }

    pub fn words(&mut self, name: &str, doc: &str, words: &[(&str, &str)]) -> Json {
        self.define(name, |_| {
            let each: Vec<&str> = words.iter().map(|w| w.0).collect();
            let told: Vec<String> = words.iter().map(|w| sentence(w.1)).collect();
            json!({ "type": "string", "description": sentence(doc), "enum": each, "enumDescriptions": told })
        })
    }

    /// Tables whose keys depend on the word behind `tag`.
    pub fn tagged(
        &mut self,
        name: &str,
        doc: &str,
        tag: &str,
        describe: impl FnOnce(&mut Schemas) -> Vec<Variant>,
    ) -> Json {
        self.define(name, |schemas| {
            let variants = describe(schemas);
            let words: Vec<&str> = variants.iter().map(|v| v.0).collect();
            let told: Vec<String> = variants.iter().map(|v| sentence(v.1)).collect();
            let word = json!({
                "type": "string", "description": sentence(doc), "enum": words, "enumDescriptions": told
            });
            let each: Vec<Json> = variants
                .iter()
                .map(|(word, doc, keys)| {
                    let mut then = object(doc, keys);
                    then["properties"][tag] = json!({ "const": word });
                    json!({ "if": { "properties": { tag: { "const": word } }, "required": [tag] }, "then": then })
                })
                .collect();
            schemas.tagged.push((tag.into(), variants));
            json!({
                "type": "object", "description": sentence(doc),
                "properties": { tag: word }, "required": [tag], "allOf": each
            })
        })
    }

    /// The definition that `schema` refers to, or itself.
    pub fn resolve<'a>(&'a self, schema: &'a Json) -> &'a Json {
        let name = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/"));
        name.and_then(|name| self.defs.get(name)).unwrap_or(schema)
    }

    /// A whole schema: `root` with all definitions.
    pub fn whole(mut self, title: &str, root: impl FnOnce(&mut Schemas) -> Json) -> Json {
        let mut schema = root(&mut self);
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!(title);
        schema["$defs"] = Json::Object(self.defs);
        schema
    }
}

/// A table with these keys and no others.
pub fn object(doc: &str, keys: &[Key]) -> Json {
    let property = |key: &Key| {
        let mut schema = key.schema.clone();
        schema["description"] = json!(key.doc);
        if let Some(default) = &key.default {
            schema["default"] = json!(default);
        }
        (key.name.to_owned(), schema)
    };
    let properties: Map<String, Json> = keys.iter().map(property).collect();
    let required: Vec<&str> = keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    json!({
        "type": "object", "description": sentence(doc), "properties": properties,
        "required": required, "additionalProperties": false
    })
}
