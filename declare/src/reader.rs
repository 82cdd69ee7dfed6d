//! Reads typed values from a [`Tree`](crate::Tree), table by table.
//!
//! A reader never stops at a mistake: it notes the problem, answers `None`, and goes on, so that all problems of a
//! deck are told at once. A table's keys are those that were asked for; what is left over is unknown.

use crate::problem::{Problems, list, suggest};
use crate::tree::{Entry, Node, Place, Value};

/// One value with its name in sentences, such as `young` of material `steel`.
#[derive(Clone)]
pub struct Item<'a> {
    pub node: &'a Node,
    pub name: String,
    pub problems: &'a Problems<'a>,
}

impl<'a> Item<'a> {
    /// Notes a problem here.
    pub fn refuse<T>(&self, what: impl AsRef<str>, help: impl Into<String>) -> Option<T> {
        self.problems.add(&self.node.place, format!("{} {}", self.name, what.as_ref()), help);
        None
    }

    /// It is something else than it must be.
    pub fn wrong_kind<T>(&self, wanted: &str) -> Option<T> {
        self.refuse(format!("is {}", self.node.value.kind()), format!("it must be {wanted}"))
    }

    /// Any finite number.
    pub fn number(self) -> Option<f64> {
        match self.node.value {
            Value::Integer(n) => Some(n as f64),
            Value::Float(x) if x.is_finite() => Some(x),
            Value::Float(x) if x.is_nan() => self.refuse("is not a number", "it must be a finite number"),
            Value::Float(_) => self.refuse("is infinite", "it must be a finite number"),
            _ => self.wrong_kind("a number"),
        }
    }

    /// A number that `holds`, or it is told what is `wanted`.
    pub fn number_that(self, holds: impl Fn(f64) -> bool, wanted: &str) -> Option<f64> {
        let x = self.clone().number()?;
        if holds(x) { Some(x) } else { self.refuse(format!("is {x}"), format!("it must be {wanted}")) }
    }

    pub fn positive(self) -> Option<f64> {
        self.number_that(|x| x > 0.0, "positive")
    }

    pub fn not_negative(self) -> Option<f64> {
        self.number_that(|x| x >= 0.0, "zero or positive")
    }

    /// A whole number from `least` to the largest id.
    fn whole(self, least: i64) -> Option<u32> {
        match self.node.value {
            Value::Integer(n) => match u32::try_from(n) {
                Ok(count) if n >= least => Some(count),
                _ => self.refuse(format!("is {n}"), format!("it must be from {least} to {}", u32::MAX)),
            },
            _ => self.wrong_kind("a whole number"),
        }
    }

    /// At least one.
    pub fn count(self) -> Option<u32> {
        self.whole(1)
    }

    /// Zero or more.
    pub fn count_or_none(self) -> Option<u32> {
        self.whole(0)
    }

    /// True or false.
    pub fn flag(self) -> Option<bool> {
        match self.node.value {
            Value::Bool(flag) => Some(flag),
            _ => self.wrong_kind("true or false"),
        }
    }

    /// From 0 to 1.
    pub fn share(self) -> Option<f64> {
        self.number_that(|x| (0.0..=1.0).contains(&x), "from 0 to 1")
    }

    pub fn text(self) -> Option<String> {
        match &self.node.value {
            Value::String(text) => Some(text.clone()),
            _ => self.wrong_kind("a text in quotes"),
        }
    }

    /// One of `known`; returns its index.
    pub fn choice(self, known: &[&str]) -> Option<usize> {
        let text = self.clone().text()?;
        let found = known.iter().position(|k| *k == text);
        found.or_else(|| self.refuse(format!("is \"{text}\""), suggest(&text, known.iter().copied(), '"')))
    }

    /// The entries of a list.
    pub fn items(self) -> Option<Vec<Item<'a>>> {
        let Value::Array(items) = &self.node.value else { return self.wrong_kind("a list") };
        let item = |(i, node)| {
            let name = format!("entry {i} of {}", self.name);
            Item { node, name, problems: self.problems }
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// A list, each entry read by `read`.
    pub fn list<T>(self, read: impl Fn(Item<'a>) -> Option<T>) -> Option<Vec<T>> {
        // All entries are read before one that failed makes the list fail.
        let read: Vec<Option<T>> = self.items()?.into_iter().map(read).collect();
        read.into_iter().collect()
    }

    /// Exactly `N` entries, each read by `read`.
    pub fn array<T, const N: usize>(self, read: impl Fn(Item<'a>) -> Option<T>) -> Option<[T; N]> {
        let wrong = |found: usize| {
            let what = if found == 1 { "has 1 entry".into() } else { format!("has {found} entries") };
            self.refuse(what, format!("it must have {N}"))
        };
        if let Value::Array(items) = &self.node.value
            && items.len() != N
        {
            return wrong(items.len());
        }
        self.clone().list(read)?.try_into().ok()
    }

    /// Three numbers that are not all zero.
    pub fn direction(self) -> Option<[f64; 3]> {
        let v = <[f64; 3] as crate::Kind>::read(self.clone())?;
        if v == [0.0; 3] { self.refuse("has no direction", "it must not be zero") } else { Some(v) }
    }

    /// Points (time, factor), times ascending.
    pub fn table_in_time(self) -> Option<Vec<[f64; 2]>> {
        if !matches!(self.node.value, Value::Array(_)) {
            return self.wrong_kind("a list of [time, factor]");
        }
        let points = self.clone().list(|p| p.array(Item::number))?;
        if points.is_empty() {
            return self.refuse("is empty", "it must have at least one [time, factor]");
        }
        for (i, pair) in points.windows(2).enumerate() {
            if pair[0][0] >= pair[1][0] {
                let what = format!("goes from time {} to {} at entry {}", pair[0][0], pair[1][0], i + 1);
                return self.refuse(what, "times must ascend");
            }
        }
        Some(points)
    }

    /// The reader of a table.
    pub fn table(self) -> Option<Reader<'a>> {
        let Value::Table(entries) = &self.node.value else { return self.wrong_kind("a table") };
        let (place, name) = (self.node.place.clone(), self.name);
        let (known, ignored) = (Vec::new(), Vec::new());
        Some(Reader { name, entries, place, known, ignored, problems: self.problems })
    }
}

/// Reads one table.
pub struct Reader<'a> {
    /// What it is called in sentences.
    pub name: String,
    entries: &'a [Entry],
    pub place: Place,
    known: Vec<&'static str>,
    /// Keys that are dealt with and not offered.
    ignored: Vec<&'static str>,
    pub problems: &'a Problems<'a>,
}

impl<'a> Reader<'a> {
    /// `key` has been dealt with; it is no key of this table all the same.
    pub fn ignore(&mut self, key: &'static str) {
        self.ignored.push(key);
    }

    /// `key` has got another name, and answers with it.
    pub fn renamed(&mut self, key: &'static str, now: &str) {
        if let Some(place) = self.key_place(key) {
            let message = format!("{} has no key `{key}` any more", self.name);
            self.problems.add(place, message, format!("it is called `{now}` now"));
            self.ignore(key);
        }
    }

    /// What `key` holds, if it is there.
    pub fn get(&mut self, key: &'static str) -> Option<Item<'a>> {
        if self.ignored.contains(&key) {
            return None;
        }
        self.known.push(key);
        self.item(key)
    }

    /// What `key` holds, without asking for it.
    pub fn item(&self, key: &str) -> Option<Item<'a>> {
        let entry = self.entries.iter().find(|e| e.key == key)?;
        Some(Item { node: &entry.node, name: self.name_of(key), problems: self.problems })
    }

    /// Is `key` there?
    pub fn has(&self, key: &str) -> bool {
        self.key_place(key).is_some()
    }

    /// Is a table behind `key`?
    pub fn is_table(&self, key: &str) -> bool {
        self.entries.iter().any(|e| e.key == key && matches!(e.node.value, Value::Table(_)))
    }

    /// Where the key itself stands.
    pub fn key_place(&self, key: &str) -> Option<&'a Place> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.key_place)
    }

    fn name_of(&self, key: &str) -> String {
        if self.name.is_empty() { format!("`{key}`") } else { format!("`{key}` of {}", self.name) }
    }

    /// What `key` holds; its absence is a problem.
    pub fn required(&mut self, key: &'static str, example: &str) -> Option<Item<'a>> {
        let found = self.get(key);
        if found.is_none() {
            let whose = if self.name.is_empty() { "the deck" } else { &self.name };
            let help =
                if example.is_empty() { String::new() } else { format!("for example {key} = {example}") };
            self.problems.add(&self.place, format!("{whose} has no `{key}`"), help);
        }
        found
    }

    /// The word behind `key`, one of `known`, that says which keys the table of `owner` has.
    pub fn tag(
        &mut self,
        key: &'static str,
        example: &str,
        owner: &str,
        known: &[&'static str],
    ) -> Option<&'static str> {
        let item = self.required(key, example)?;
        let text = item.clone().text()?;
        let found = known.iter().copied().find(|k| *k == text);
        if found.is_none() {
            let help = suggest(&text, known.iter().copied(), '"');
            item.problems.add(&item.node.place, format!("{owner} has no {key} called \"{text}\""), help);
        }
        found
    }

    /// Ends the table: keys that nobody asked for are problems.
    pub fn finish(self) {
        for entry in self.entries {
            if !self.known.iter().chain(&self.ignored).any(|k| *k == entry.key) {
                let whose = if self.name.is_empty() { "the deck" } else { &self.name };
                let message = format!("{whose} has no key `{}`", entry.key);
                let help = suggest(&entry.key, self.known.iter().copied(), '`');
                self.problems.add(&entry.key_place, message, help);
            }
        }
    }

    /// Exactly one of `keys` must be there; says which.
    pub fn one_of(&self, keys: &[&'static str]) -> Option<&'static str> {
        let found: Vec<&'static str> =
            keys.iter().copied().filter(|k| self.entries.iter().any(|e| e.key == *k)).collect();
        match found[..] {
            [only] => Some(only),
            [] => {
                let help = format!("it needs one of {}", list(keys.iter().copied(), '`'));
                self.problems.add(&self.place, format!("{} is not complete", self.name), help);
                None
            }
            [first, second, ..] => {
                let place = self.key_place(second).unwrap_or(&self.place);
                let message = format!("{} has both `{first}` and `{second}`", self.name);
                self.problems.add(place, message, "keep one of them");
                None
            }
        }
    }
}
