//! A table, drawn as it would be printed.

use super::draw::{Anchor, Drawing, Paint};
use super::font::{self, Weight};

const TEXT: f64 = 13.0;
const TITLE: f64 = 16.0;
const MARGIN: f64 = 14.0;
const ROW: f64 = 24.0;
const GAP: f64 = 26.0;

/// Rows of words under headings; the first column reads to the right, all others are numbers.
pub(crate) struct Sheet {
    pub title: String,
    pub caption: String,
    /// Headings; lines of one heading are parted by `\n`.
    pub head: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

/// Three digits.
pub(crate) fn figure(x: f64) -> String {
    let size = x.abs();
    if x.is_nan() {
        "–".into()
    } else if x == 0.0 || (1e-3..1e5).contains(&size) {
        let decimals = (2 - size.max(1e-9).log10().floor() as i32).clamp(0, 5) as usize;
        format!("{x:.*}", if x == 0.0 { 0 } else { decimals })
    } else {
        format!("{x:.2e}")
    }
}

/// How many.
pub(crate) fn count(x: f64) -> String {
    if x.is_nan() { figure(x) } else { format!("{x:.0}") }
}

impl Sheet {
    pub(crate) fn draw(&self) -> Drawing {
        let wide =
            |text: &str, weight| text.lines().map(|line| font::width(line, TEXT, weight)).fold(0.0, f64::max);
        let columns: Vec<f64> = (0..self.head.len())
            .map(|c| {
                let cells = self.rows.iter().filter_map(|r| r.get(c));
                let widest = cells.map(|t| wide(t, Weight::Regular)).fold(0.0, f64::max);
                widest.max(wide(self.head[c], Weight::SemiBold))
            })
            .collect();
        let inner = columns.iter().sum::<f64>() + GAP * (columns.len().max(1) - 1) as f64;
        let told = font::width(&self.caption, TEXT, Weight::Regular);
        let width = 2.0 * MARGIN + inner.max(told).max(font::width(&self.title, TITLE, Weight::SemiBold));
        let lines = self.head.iter().map(|h| h.lines().count()).max().unwrap_or(1) as f64;
        let top = MARGIN + TITLE + TEXT + 20.0;
        let under = top + lines * (TEXT + 4.0);
        let height = under + 8.0 + ROW * self.rows.len() as f64 + MARGIN;
        let mut d = Drawing::new(width.ceil(), height.ceil(), &self.title);
        d.bold([MARGIN, MARGIN + TITLE * 0.8], &self.title, TITLE, Anchor::Start, Paint::Ink);
        d.text([MARGIN, MARGIN + TITLE + TEXT + 2.0], &self.caption, TEXT, Anchor::Start, Paint::SoftInk);
        let mut left = MARGIN;
        for (c, (head, room)) in self.head.iter().zip(&columns).enumerate() {
            let (x, anchor) = if c == 0 { (left, Anchor::Start) } else { (left + room, Anchor::End) };
            let skipped = lines - head.lines().count() as f64;
            for (i, line) in head.lines().enumerate() {
                let base = top + (skipped + i as f64 + 1.0) * (TEXT + 4.0) - 4.0;
                d.bold([x, base], line, TEXT, anchor, Paint::Ink);
            }
            for (i, cell) in self.rows.iter().enumerate().filter_map(|(i, r)| Some((i, r.get(c)?))) {
                let base = under + 8.0 + ROW * i as f64 + 0.5 * (ROW + TEXT * font::CAP_HEIGHT);
                d.text([x, base], cell, TEXT, anchor, Paint::Ink);
            }
            left += room + GAP;
        }
        let right = MARGIN + inner;
        d.line([MARGIN, under + 4.0], [right, under + 4.0], 1.2, Paint::SoftInk);
        for i in 1..self.rows.len() {
            let y = under + 8.0 + ROW * i as f64;
            d.line([MARGIN, y], [right, y], 0.8, Paint::Grid);
        }
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let written = [0.0, 0.0694, 11.662, 167.6, 7720.0, 1.5e-5, 3.2e7, f64::NAN, -0.5].map(figure);
        assert_eq!([count(80.0), count(f64::NAN)], ["80", "–"]);
        assert_eq!(written, ["0", "0.0694", "11.7", "168", "7720", "1.50e-5", "3.20e7", "–", "-0.500"]);
    }
}
