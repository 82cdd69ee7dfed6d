//! `material` of a body: the name of one, or a law right here.

pub use crate::material::Law;
use carom_declare::{Item, Json, Kind, Schemas, Value, Written, json};

/// A material: the name of one, or a law right here.
#[derive(Clone, Debug, PartialEq)]
pub enum MaterialRef {
    Name(String),
    Inline(Law),
}

impl Kind for MaterialRef {
    type Of = MaterialRef;
    const CALLED: &'static str = "group";
    const ANY_NAME: bool = true;

    fn read(item: Item) -> Option<MaterialRef> {
        match &item.node.value {
            Value::String(name) => Some(MaterialRef::Name(name.clone())),
            Value::Table(_) => Law::read(item).map(MaterialRef::Inline),
            other => item.refuse(
                format!("is {}", other.kind()),
                "it must be the name of a material or a table with a law",
            ),
        }
    }
    fn write(value: &MaterialRef) -> Option<Written> {
        match value {
            MaterialRef::Name(name) => String::write(name),
            MaterialRef::Inline(law) => Law::write(law),
        }
    }
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "if": { "type": "object" }, "then": Law::schema(schemas), "else": { "type": "string" } })
    }
}
