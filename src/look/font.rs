//! The one embedded typeface: outlines and widths. Its licence stands beside it in `font/LICENSE`.

use std::sync::OnceLock;
use ttf_parser::{Face, OutlineBuilder};

/// Regular text, or the weight of titles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Regular,
    SemiBold,
}

static REGULAR: &[u8] = include_bytes!("font/Inter-Regular.otf");
static SEMI_BOLD: &[u8] = include_bytes!("font/Inter-SemiBold.otf");

fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| [Face::parse(REGULAR, 0).ok(), Face::parse(SEMI_BOLD, 0).ok()]);
    faces[weight as usize].as_ref()
}

/// Width of `text` at `size` pixels to the em.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let Some(face) = face(weight) else { return 0.0 };
    let scale = size / face.units_per_em() as f64;
    text.chars()
        .filter_map(|c| face.glyph_index(c).and_then(|g| face.glyph_hor_advance(g)))
        .map(|a| a as f64 * scale)
        .sum()
}

/// Height of a capital letter over `size`.
pub(crate) const CAP_HEIGHT: f64 = 0.727;

/// Closed outlines of `text` with its base line starting at the origin, y downwards.
pub(crate) fn outlines(text: &str, size: f64, weight: Weight) -> Vec<Vec<[f64; 2]>> {
    let Some(face) = face(weight) else { return Vec::new() };
    let scale = size / face.units_per_em() as f64;
    let mut pen = Pen { scale, x: 0.0, contours: Vec::new(), current: Vec::new() };
    for glyph in text.chars().filter_map(|c| face.glyph_index(c)) {
        face.outline_glyph(glyph, &mut pen);
        pen.x += face.glyph_hor_advance(glyph).unwrap_or(0) as f64 * scale;
    }
    pen.contours
}

struct Pen {
    scale: f64,
    x: f64,
    contours: Vec<Vec<[f64; 2]>>,
    current: Vec<[f64; 2]>,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> [f64; 2] {
        [self.x + x as f64 * self.scale, -(y as f64) * self.scale]
    }

    fn last(&self) -> [f64; 2] {
        self.current.last().copied().unwrap_or([0.0, 0.0])
    }
}

/// Pieces of a curve: at text sizes the eye sees no corner.
const PIECES: usize = 8;

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.current = vec![self.place(x, y)];
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let p = self.place(x, y);
        self.current.push(p);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, b, c) = (self.last(), self.place(x1, y1), self.place(x, y));
        for i in 1..=PIECES {
            let t = i as f64 / PIECES as f64;
            let s = 1.0 - t;
            self.current.push([0, 1].map(|k| s * s * a[k] + 2.0 * s * t * b[k] + t * t * c[k]));
        }
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, c, d) = (self.last(), self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        for i in 1..=PIECES {
            let t = i as f64 / PIECES as f64;
            let s = 1.0 - t;
            self.current.push([0, 1].map(|k| {
                s * s * s * a[k] + 3.0 * s * s * t * b[k] + 3.0 * s * t * t * c[k] + t * t * t * d[k]
            }));
        }
    }

    fn close(&mut self) {
        self.contours.push(std::mem::take(&mut self.current));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typeface_has_every_sign_that_pictures_use() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            let face = face(weight).unwrap();
            for c in "azAZ09.,+-−×·µ()[]/%=|°⁰¹²³⁴⁵⁶⁷⁸⁹⁻".chars() {
                assert!(face.glyph_index(c).is_some(), "{c}");
            }
        }
    }

    /// Columns of numbers line up: all digits are equally wide.
    #[test]
    fn digits_are_tabular() {
        let one = width("1", 100.0, Weight::Regular);
        assert!(
            one > 0.0 && "023456789".chars().all(|c| width(&c.to_string(), 100.0, Weight::Regular) == one)
        );
    }
}
