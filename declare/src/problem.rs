//! What is wrong with a deck: each problem at its place, with the line underlined and what would help.
//!
//! ```text
//! deck.toml:9:20: material of body `bar` has no law "neo-hooke"
//!   9 | material = { law = "neo-hooke", young = 210e9, density = 7800.0 }
//!     |                    ^^^^^^^^^^^ did you mean "neo-hookean"?
//! ```

use crate::tree::{Place, Source, Tree};
use std::any::Any;
use std::cell::RefCell;
use std::fmt;

/// Where a problem is.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// In a file. Line and column count from 1; `width` characters of `text` are meant.
    Line { file: String, line: usize, column: usize, width: usize, text: String },
    /// In an option of the command line, as it was given.
    Option(String),
    /// In a file as a whole.
    File(String),
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub at: At,
    pub message: String,
    /// What would help; may be empty.
    pub help: String,
}

/// Most of a line of the deck that is shown, and of it what stands before the mark.
const SHOWN: usize = 160;
const BEFORE: usize = 60;
/// Most of a sentence: names in it may be as long as somebody likes.
const SENTENCE: usize = 1000;
/// Most problems that are told at once.
const TOLD: usize = 100;

/// Foreign text for people's eyes: not longer than `most` characters, and nothing in it that a terminal would obey.
pub fn harmless(text: &str, most: usize) -> String {
    let mut kept: String = text.chars().take(most).map(visible).collect();
    if text.chars().nth(most).is_some() {
        kept.push('…');
    }
    kept
}

/// Tabs and ends of lines stay; other control characters become a sign that stands for them.
fn visible(c: char) -> char {
    let turns_text = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if (c.is_control() && c != '\t' && c != '\n') || turns_text { '\u{fffd}' } else { c }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (message, help) = (harmless(&self.message, SENTENCE), harmless(&self.help, SENTENCE));
        match &self.at {
            At::Line { file, line, column, width, text } => {
                let number = line.to_string();
                writeln!(f, "{file}:{line}:{column}: {message}")?;
                let skipped = if *column > SHOWN - BEFORE { column - BEFORE } else { 0 };
                let shown: String = text.chars().skip(skipped).collect();
                let shown = harmless(&shown, SHOWN);
                let (dots, lead) = if skipped > 0 { ("…", 1) } else { ("", 0) };
                writeln!(f, "  {number} | {dots}{shown}")?;
                // Tabs stay tabs, so that the mark stands below what it marks.
                let before: String = shown
                    .chars()
                    .take(column - 1 - skipped)
                    .map(|c| if c == '\t' { '\t' } else { ' ' })
                    .collect();
                let width = (*width).clamp(1, SHOWN);
                write!(f, "  {:3$} | {:lead$}{before}{:^^width$}", "", "", "", number.len())?;
                if help.is_empty() { Ok(()) } else { write!(f, " {help}") }
            }
            At::Option(option) if help.is_empty() => write!(f, "{}: {message}", harmless(option, SENTENCE)),
            At::Option(option) => write!(f, "{}: {message}\n  {help}", harmless(option, SENTENCE)),
            At::File(file) if help.is_empty() => write!(f, "{file}: {message}"),
            At::File(file) => write!(f, "{file}: {message}\n  {help}"),
        }
    }
}

/// Everything that is wrong with a deck, in the order of its places.
#[derive(Clone, Debug, PartialEq)]
pub struct DeckErrors {
    pub problems: Vec<Problem>,
}

impl fmt::Display for DeckErrors {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, problem) in self.problems.iter().take(TOLD).enumerate() {
            write!(f, "{}{problem}", if i > 0 { "\n" } else { "" })?;
        }
        match self.problems.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

impl std::error::Error for DeckErrors {}

/// Collects problems and warnings while a deck is read.
pub struct Problems<'a> {
    source: &'a Source,
    errors: RefCell<Vec<(usize, Problem)>>,
    warnings: RefCell<Vec<Problem>>,
    context: Option<&'a dyn Any>,
}

impl<'a> Problems<'a> {
    pub fn new(source: &'a Source) -> Self {
        Problems { source, errors: RefCell::default(), warnings: RefCell::default(), context: None }
    }

    /// Something that kinds may ask for, beyond what is declared.
    pub fn with_context(self, context: &'a dyn Any) -> Self {
        Problems { context: Some(context), ..self }
    }

    pub fn context<T: Any>(&self) -> Option<&'a T> {
        self.context.and_then(|context| context.downcast_ref())
    }

    pub fn add(&self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        let problem = self.problem(place, message.into(), help.into());
        let order = match place {
            Place::Text(span) => span.start,
            _ => usize::MAX,
        };
        let mut errors = self.errors.borrow_mut();
        // what is never told need not be told apart either
        if errors.len() > 10 * TOLD {
            return;
        }
        if !errors.iter().any(|(_, known)| same(known, &problem)) {
            errors.push((order, problem));
        }
    }

    pub fn warn(&self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        let problem = self.problem(place, message.into(), help.into());
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() > TOLD {
            return;
        }
        if !warnings.iter().any(|known| same(known, &problem)) {
            warnings.push(problem);
        }
    }

    pub fn none(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// The warnings, or all errors in the order of the text.
    pub fn verdict(self) -> Result<Vec<Problem>, DeckErrors> {
        let mut errors = self.errors.into_inner();
        if errors.is_empty() {
            return Ok(self.warnings.into_inner());
        }
        errors.sort_by_key(|(order, _)| *order);
        Err(DeckErrors { problems: errors.into_iter().map(|(_, p)| p).collect() })
    }

    fn problem(&self, place: &Place, message: String, help: String) -> Problem {
        Problem { at: self.source.at(place), message, help }
    }
}

/// Tells problems of a deck that has been read, each by the path of its key.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    pub tree: &'a Tree,
    pub problems: &'a Problems<'a>,
}

impl Report<'_> {
    pub fn add(&self, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.problems.add(&self.tree.place(path), message, help);
    }

    pub fn warn(&self, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.problems.warn(&self.tree.place(path), message, help);
    }
}

/// The same at the same place, but for numbers: copies of a body have the same mistakes.
fn same(p: &Problem, q: &Problem) -> bool {
    let words = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    p.at == q.at && words(&p.message) == words(&q.message)
}

/// `did you mean "x"?` for the nearest of `known`, else the list of them.
pub fn suggest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>, quote: char) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    // no slip of the pen makes a name this long
    let word = &word.chars().take(80).collect::<String>()[..];
    let distance = |k: &&&str| edit_distance(&word.to_lowercase(), &k.to_lowercase());
    let near = known.iter().min_by_key(distance).filter(|k| {
        let longest = word.chars().count().max(k.chars().count());
        distance(k) <= 1 + longest / 4 || (word.len() > 2 && (k.contains(word) || word.contains(**k)))
    });
    match near {
        Some(k) => format!("did you mean {quote}{k}{quote}?"),
        None if known.is_empty() => "there are none".into(),
        None => there_are(known, quote),
    }
}

/// `there are a, b and c`.
pub fn there_are<'k>(words: impl IntoIterator<Item = &'k str>, quote: char) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    format!("there {} {}", if words.len() == 1 { "is" } else { "are" }, list(words, quote))
}

/// `a, b and c`, each in quotes.
pub fn list<'k>(words: impl IntoIterator<Item = &'k str>, quote: char) -> String {
    let words: Vec<String> = words.into_iter().map(|w| format!("{quote}{w}{quote}")).collect();
    match words.split_last() {
        None => "none".into(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Letters to insert, drop, change or swap with the neighbour on the way from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = usize::from(a[i - 1] != b[j - 1]);
                let mut best =
                    (table[i - 1][j - 1] + changed).min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_deck_is_short_and_does_nothing_to_a_terminal() {
        let text = format!("a = \"\u{1b}[31m{}\"; key = 1", "x".repeat(100_000));
        let column = text.chars().count() - 6;
        let at = At::Line { file: "deck".into(), line: 1, column, width: 3, text };
        let told = Problem { at, message: "\u{7}".repeat(5000), help: String::new() }.to_string();
        assert!(told.chars().count() < 1500 && !told.chars().any(|c| c.is_control() && c != '\n'), "{told}");
        let lines: Vec<&str> = told.lines().collect();
        let mark = lines[2].chars().position(|c| c == '^').unwrap();
        assert!(lines[1].chars().skip(mark).collect::<String>().starts_with("key"), "{told}");
        let problem = Problem { at: At::File("deck".into()), message: "wrong".into(), help: String::new() };
        assert!(DeckErrors { problems: vec![problem; 5000] }.to_string().ends_with("and 4900 more problems"));
    }

    #[test]
    fn a_slip_of_the_pen_is_understood_and_a_stranger_gets_the_list() {
        let laws = ["linear", "neo-hookean", "ogden"];
        assert_eq!(suggest("neo-hooke", laws, '"'), "did you mean \"neo-hookean\"?");
        assert_eq!(suggest("Lienar", laws, '"'), "did you mean \"linear\"?");
        assert_eq!(suggest("steel", laws, '`'), "there are `linear`, `neo-hookean` and `ogden`");
        assert_eq!(edit_distance("abcd", "acbd"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
