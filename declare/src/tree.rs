//! The text of a deck as a tree in which every key and value knows its place.
//!
//! Options of the command line are written into the tree before anything is checked; what they brought has the
//! option as its place.

use crate::problem::{At, DeckErrors, Problem};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where something was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Bytes of the text.
    Text(Range<usize>),
    /// Index of an option.
    Option(usize),
    /// Nowhere in particular.
    Whole,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date,
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

impl Value {
    /// What it is, for a sentence that says it should be something else.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::String(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Date => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// One key of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub key_place: Place,
    pub node: Node,
}

/// The text, what it is called, and the options that changed it.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
    pub options: Vec<String>,
}

impl Source {
    pub fn at(&self, place: &Place) -> At {
        match place {
            Place::Text(span) => {
                let start = self.floor(span.start);
                let line_start = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
                let line_end = self.text[start..].find('\n').map_or(self.text.len(), |i| start + i);
                let line_end = line_end - usize::from(self.text[..line_end].ends_with('\r'));
                let end = self.floor(span.end).clamp(start, line_end.max(start));
                At::Line {
                    file: self.name.clone(),
                    line: self.text[..start].matches('\n').count() + 1,
                    column: self.text[line_start..start].chars().count() + 1,
                    width: self.text[start..end].chars().count(),
                    text: self.text[line_start..line_end.max(line_start)].to_owned(),
                }
            }
            Place::Option(index) => At::Option(format!("--set {}", self.options[*index])),
            Place::Whole => At::File(self.name.clone()),
        }
    }

    /// The nearest boundary of a character at or before `byte`.
    fn floor(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }
}

/// A whole deck.
#[derive(Clone, Debug)]
pub struct Tree {
    pub root: Node,
    /// The method of the text, where an option has put another in its place.
    pub method_before: Option<String>,
}

/// Most mistakes of syntax that are told at once: later ones often follow from the first.
const SYNTAX: usize = 5;

impl Tree {
    /// Reads the text and writes the options over it.
    pub fn parse(source: &Source) -> Result<Tree, DeckErrors> {
        let (table, errors) = DeTable::parse_recoverable(&source.text);
        if !errors.is_empty() {
            let mut problems = Vec::new();
            for error in errors.iter().take(SYNTAX) {
                let place = error.span().map_or(Place::Whole, Place::Text);
                let twice = error.message().starts_with("duplicate key");
                let (message, help) = match &place {
                    Place::Text(span) if twice => {
                        let key = source.text.get(span.clone()).unwrap_or_default();
                        (
                            format!("`{key}` is there twice"),
                            "keep one of them, or give it another name".into(),
                        )
                    }
                    _ => (format!("this is not TOML: {}", error.message()), String::new()),
                };
                problems.push(Problem { at: source.at(&place), message, help });
                // What follows in a table that is there twice is there twice too.
                if twice {
                    break;
                }
            }
            return Err(DeckErrors { problems });
        }
        let mut problems = Vec::new();
        let root = Value::Table(entries(table.get_ref(), &|span| Place::Text(span)));
        let mut tree = Tree { root: Node { value: root, place: Place::Whole }, method_before: None };
        for (index, option) in source.options.iter().enumerate() {
            if let Err((message, help)) = tree.set(index, option) {
                problems.push(Problem { at: source.at(&Place::Option(index)), message, help });
            }
        }
        if problems.is_empty() { Ok(tree) } else { Err(DeckErrors { problems }) }
    }

    /// Writes `path=value` into the tree: the path a dotted key (numbers count into lists, from 0), the value
    /// TOML, else a text.
    fn set(&mut self, index: usize, option: &str) -> Result<(), (String, String)> {
        let form = || String::from("write it as path=value, for example step.safety=0.5");
        let Some((path, text)) = split(option) else {
            return Err(("there is no `=`".into(), form()));
        };
        let keys = dotted(path).ok_or_else(|| (format!("`{path}` is no dotted key"), form()))?;
        let place = Place::Option(index);
        let value = match DeValue::parse(text.trim()) {
            Ok(value) => node(&value, &|_| Place::Option(index)).value,
            Err(_) => Value::String(text.to_owned()),
        };
        let mut at = &mut self.root;
        let mut so_far = String::new();
        let is_method = keys == ["method"];
        for key in keys {
            let kind = at.value.kind();
            let stuck = || {
                let help = "only tables and lists have something inside".to_owned();
                (format!("`{so_far}` is {kind}; there is no `{key}` in it"), help)
            };
            at = match &mut at.value {
                Value::Table(entries) => {
                    let found = entries.iter().position(|e| e.key == key);
                    let found = found.unwrap_or_else(|| {
                        let value = Value::Table(Vec::new());
                        let node = Node { value, place: place.clone() };
                        entries.push(Entry { key: key.clone(), key_place: place.clone(), node });
                        entries.len() - 1
                    });
                    &mut entries[found].node
                }
                Value::Array(items) => {
                    let item = key.parse::<usize>().ok().and_then(|i| items.get_mut(i));
                    item.ok_or_else(stuck)?
                }
                _ => return Err(stuck()),
            };
            so_far = if so_far.is_empty() { key } else { format!("{so_far}.{key}") };
        }
        let before = std::mem::replace(at, Node { value, place });
        if let (true, Value::String(name), None) = (is_method, before.value, &self.method_before) {
            self.method_before = Some(name);
        }
        Ok(())
    }

    /// The place of what `path` leads to: its key if it is a table, else its value; as far as the path goes.
    pub fn place(&self, path: &[&str]) -> Place {
        let mut at = &self.root;
        let mut place = Place::Whole;
        for key in path {
            match &at.value {
                Value::Table(entries) => {
                    let Some(entry) = entries.iter().find(|e| e.key == *key) else { break };
                    at = &entry.node;
                    place = if matches!(at.value, Value::Table(_)) { &entry.key_place } else { &at.place }
                        .clone();
                }
                Value::Array(items) => {
                    let Some(item) = key.parse::<usize>().ok().and_then(|i| items.get(i)) else { break };
                    at = item;
                    place = at.place.clone();
                }
                _ => break,
            }
        }
        place
    }
}

/// At the first `=` outside quotes.
fn split(option: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (i, c) in option.char_indices() {
        match (quote, c) {
            (None, '=') => return Some((&option[..i], &option[i + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), c) if q == c => quote = None,
            _ => {}
        }
    }
    None
}

/// The keys of a dotted key.
fn dotted(path: &str) -> Option<Vec<String>> {
    let text = format!("{path} = 0");
    if path.contains(['\n', '#', '[', '{']) {
        return None;
    }
    let table = DeTable::parse(&text).ok()?;
    let mut keys = Vec::new();
    let mut at = table.get_ref().clone();
    loop {
        let (key, value) = at.into_iter().next()?;
        keys.push(key.into_inner().into_owned());
        match value.into_inner() {
            DeValue::Table(inner) => at = inner,
            _ => return Some(keys),
        }
    }
}

fn entries(table: &DeTable, place: &dyn Fn(Range<usize>) -> Place) -> Vec<Entry> {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| Entry {
        key: std::borrow::Cow::to_string(key.get_ref()),
        key_place: place(key.span()),
        node: node(value, place),
    };
    table.iter().map(entry).collect()
}

fn node(value: &Spanned<DeValue>, place: &dyn Fn(Range<usize>) -> Place) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        // Beyond 64 bits it is still a number.
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => Value::Float(n.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::Array(items.iter().map(|item| node(item, place)).collect()),
        DeValue::Table(table) => Value::Table(entries(table, place)),
    };
    Node { value: kind, place: place(value.span()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str, options: &[&str]) -> Source {
        let options = options.iter().map(|o| o.to_string()).collect();
        Source { name: "deck.toml".into(), text: text.into(), options }
    }

    fn spot(source: &Source, path: &[&str]) -> (usize, usize, usize) {
        match source.at(&Tree::parse(source).unwrap().place(path)) {
            At::Line { line, column, width, .. } => (line, column, width),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_value_knows_its_line_and_column() {
        // columns count characters, not bytes
        let s = source("end = 1\n[body.bar]\r\nmesh = { name = \"bär\", size = [1, 20] }\n", &[]);
        assert_eq!(spot(&s, &["end"]), (1, 7, 1));
        assert_eq!(spot(&s, &["body", "bar"]), (2, 7, 3));
        assert_eq!(spot(&s, &["body", "bar", "nothing"]), (2, 7, 3));
        assert_eq!(spot(&s, &["body", "bar", "mesh", "name"]), (3, 17, 5));
        assert_eq!(spot(&s, &["body", "bar", "mesh", "size", "1"]), (3, 35, 2));
    }

    #[test]
    fn an_option_writes_over_the_text_and_is_named_as_the_place() {
        let options = ["a.b.c = [1, 2]", "x=hello world", "list.1.y=3", "\"p=q\".r=true"];
        let s = source("x = 1\nlist = [{ y = 0 }, { y = 1 }]", &options);
        let tree = Tree::parse(&s).unwrap();
        assert_eq!(s.at(&tree.place(&["a", "b", "c", "1"])), At::Option("--set a.b.c = [1, 2]".into()));
        assert_eq!(tree.place(&["x"]), Place::Option(1));
        assert_eq!(tree.place(&["list", "1", "y"]), Place::Option(2));
        assert!(matches!(tree.place(&["list", "0", "y"]), Place::Text(_)));
        assert_eq!(tree.place(&["p=q", "r"]), Place::Option(3));
        for (bad, word) in [("a.b", "no `=`"), ("x.y=1", "`x` is a whole number"), ("a b=1", "dotted key")] {
            let message = Tree::parse(&source("x = 1", &[bad])).unwrap_err().to_string();
            assert!(message.contains(word) && message.starts_with(&format!("--set {bad}:")), "{message}");
        }
    }
}
