//! Bars with a name before and a number behind each.

use super::{MARGIN, TEXT, TITLE, WIDTH, heading, wrapped};
use crate::look::colour::Rgba;
use crate::look::draw::{Anchor, Drawing, Paint};
use crate::look::font::{self, Weight};

/// One bar of a [`Bars`].
pub struct Bar {
    pub name: String,
    pub length: f64,
    /// Behind the bar.
    pub words: String,
    pub colour: Rgba,
}

/// Bars with a name before and a number behind each.
pub struct Bars {
    pub title: String,
    pub caption: String,
    pub bars: Vec<Bar>,
    pub note: String,
}

impl Bars {
    pub fn draw(&self) -> Drawing {
        let row = 30.0;
        let head = MARGIN + TITLE + if self.caption.is_empty() { 0.0 } else { TEXT + 6.0 } + 14.0;
        let notes = wrapped(&self.note, WIDTH - 2.0 * MARGIN);
        let height = head + row * self.bars.len() as f64 + notes.len() as f64 * (TEXT + 4.0) + MARGIN + 6.0;
        let mut d = Drawing::new(WIDTH, height.ceil(), &self.title);
        heading(&mut d, &self.title, &self.caption);
        let name_room =
            self.bars.iter().map(|b| font::width(&b.name, TEXT, Weight::SemiBold)).fold(0.0, f64::max);
        let word_room =
            self.bars.iter().map(|b| font::width(&b.words, TEXT, Weight::Regular)).fold(0.0, f64::max);
        let left = MARGIN + name_room + 10.0;
        let right = WIDTH - MARGIN - word_room - 8.0;
        let longest = self.bars.iter().map(|b| b.length).fold(f64::MIN_POSITIVE, f64::max);
        for (i, Bar { name, length, words, colour }) in self.bars.iter().enumerate() {
            let y = head + row * i as f64;
            let w = (right - left) * length / longest;
            let base = y + row / 2.0 + TEXT * font::CAP_HEIGHT / 2.0;
            d.bold([left - 10.0, base], name, TEXT, Anchor::End, Paint::Ink);
            d.rect([left, y + 5.0], [w.max(1.0), row - 10.0], Paint::Fixed(*colour));
            d.text([left + w + 8.0, base], words, TEXT, Anchor::Start, Paint::SoftInk);
        }
        let below = head + row * self.bars.len() as f64 + TEXT + 6.0;
        for (i, line) in notes.into_iter().enumerate() {
            let at = [MARGIN, below + i as f64 * (TEXT + 4.0)];
            d.text(at, line, TEXT, Anchor::Start, Paint::SoftInk);
        }
        d
    }
}

/// What a colour of `Stacks` stands for.
pub struct Part {
    pub name: String,
    pub colour: Rgba,
}

/// Bars of several parts each, a row for every name.
pub(crate) struct Stacks {
    pub title: String,
    pub caption: String,
    pub parts: Vec<Part>,
    /// Name, lengths of its parts, and words behind.
    pub rows: Vec<(String, Vec<f64>, String)>,
}

impl Stacks {
    pub(crate) fn draw(&self) -> Drawing {
        let row = 30.0;
        let head = MARGIN + TITLE + if self.caption.is_empty() { 0.0 } else { TEXT + 6.0 } + 14.0;
        let shown: Vec<usize> =
            (0..self.parts.len()).filter(|&k| self.rows.iter().any(|r| r.1[k] > 0.0)).collect();
        let height = head + row * (self.rows.len() + 1) as f64 + MARGIN + 6.0;
        let mut d = Drawing::new(WIDTH, height.ceil(), &self.title);
        heading(&mut d, &self.title, &self.caption);
        let widest = |words: &mut dyn Iterator<Item = &String>, weight| {
            words.map(|w| font::width(w, TEXT, weight)).fold(0.0, f64::max)
        };
        let left = MARGIN + widest(&mut self.rows.iter().map(|r| &r.0), Weight::SemiBold) + 10.0;
        let right = WIDTH - MARGIN - widest(&mut self.rows.iter().map(|r| &r.2), Weight::Regular) - 8.0;
        let longest = self.rows.iter().map(|r| r.1.iter().sum()).fold(f64::MIN_POSITIVE, f64::max);
        for (i, (name, lengths, words)) in self.rows.iter().enumerate() {
            let y = head + row * i as f64;
            let base = y + row / 2.0 + TEXT * font::CAP_HEIGHT / 2.0;
            d.bold([left - 10.0, base], name, TEXT, Anchor::End, Paint::Ink);
            let mut x = left;
            for &k in &shown {
                let w = (right - left) * lengths[k] / longest;
                d.rect([x, y + 5.0], [w, row - 10.0], Paint::Fixed(self.parts[k].colour));
                x += w;
            }
            d.text([x + 8.0, base], words, TEXT, Anchor::Start, Paint::SoftInk);
        }
        let mut x = MARGIN;
        let base = head + row * (self.rows.len() as f64 + 0.5) + TEXT * font::CAP_HEIGHT / 2.0;
        for &k in &shown {
            let Part { name, colour } = &self.parts[k];
            d.rect([x, base - TEXT * font::CAP_HEIGHT], [TEXT * 0.8; 2], Paint::Fixed(*colour));
            d.text([x + TEXT * 1.2, base], name, TEXT, Anchor::Start, Paint::SoftInk);
            x += TEXT * 1.2 + font::width(name, TEXT, Weight::Regular) + 14.0;
        }
        d
    }
}
