//! What a resolved deck says: values in the order in which they are written.

use serde::ser::{Serialize, Serializer};

#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    List(Vec<Written>),
    Table(Vec<(String, Written)>),
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Written::Flag(flag) => s.serialize_bool(*flag),
            Written::Whole(n) => s.serialize_u64(*n),
            Written::Number(x) => s.serialize_f64(*x),
            Written::Text(text) => s.serialize_str(text),
            Written::List(items) => s.collect_seq(items),
            Written::Table(entries) => s.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl Written {
    /// As it would stand in a deck, in one line.
    pub fn inline(&self) -> String {
        let list = |items: Vec<String>| items.join(", ");
        match self {
            Written::Flag(flag) => flag.to_string(),
            Written::Whole(n) => n.to_string(),
            Written::Number(x) if x.fract() == 0.0 && x.abs() < 1e6 => format!("{x}"),
            Written::Number(x) if x.abs() < 1e-3 || x.abs() >= 1e6 => format!("{x:e}"),
            Written::Number(x) => format!("{x}"),
            Written::Text(text) => format!("\"{text}\""),
            Written::List(items) => format!("[{}]", list(items.iter().map(Written::inline).collect())),
            Written::Table(entries) => {
                let entry = |(key, value): &(String, Written)| format!("{key} = {}", value.inline());
                format!("{{ {} }}", list(entries.iter().map(entry).collect()))
            }
        }
    }
}
