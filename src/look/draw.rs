//! A flat drawing as a list of strokes, fills and words, and its two ways out: SVG text and pixels.
//!
//! Units are pixels, x to the right, y downwards. Inks are named, not fixed, so that one drawing serves
//! light and dark pages; an SVG of the light theme has no paper and follows the reader's own scheme.

use super::colour::{Rgba, Theme};
use super::font::{self, Weight};
use super::image::Image;
use std::fmt::Write;

pub(crate) type Point = [f64; 2];

/// A colour by its role, or fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    Ink,
    SoftInk,
    Grid,
    Paper,
    Fixed(Rgba),
}

impl Paint {
    pub fn colour(self, theme: Theme) -> Rgba {
        match self {
            Paint::Ink => theme.ink(),
            Paint::SoftInk => theme.soft_ink(),
            Paint::Grid => theme.grid(),
            Paint::Paper => theme.paper(),
            Paint::Fixed(c) => c,
        }
    }

    fn class(self) -> Option<&'static str> {
        match self {
            Paint::Ink => Some("ink"),
            Paint::SoftInk => Some("soft"),
            Paint::Grid => Some("grid"),
            Paint::Paper => Some("paper"),
            Paint::Fixed(_) => None,
        }
    }
}

/// Which point of a text its position names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// One thing drawn; later ones lie above earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A polyline with round ends; `name` marks it in the SVG.
    Stroke { points: Vec<Point>, width: f64, paint: Paint, dash: Option<[f64; 2]>, name: Option<String> },
    /// A closed polygon.
    Fill { points: Vec<Point>, paint: Paint },
    /// A disc, filled with `fill` and rimmed with `rim`; `name` marks it in the SVG.
    Disc { at: Point, radius: f64, fill: Paint, rim: Paint, rim_width: f64, name: Option<String> },
    /// Words on one line; `at` is on the base line, `upright` turns them by a quarter to read upwards.
    Text { at: Point, text: String, size: f64, weight: Weight, anchor: Anchor, upright: bool, paint: Paint },
}

/// The whole list.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    /// What the picture shows, for readers who cannot see it.
    pub title: String,
    pub items: Vec<Item>,
}

impl Drawing {
    pub fn new(width: f64, height: f64, title: impl Into<String>) -> Drawing {
        Drawing { width, height, title: title.into(), items: Vec::new() }
    }

    pub fn line(&mut self, a: Point, b: Point, width: f64, paint: Paint) {
        self.items.push(Item::Stroke { points: vec![a, b], width, paint, dash: None, name: None });
    }

    pub(crate) fn rect(&mut self, [x, y]: Point, [w, h]: Point, paint: Paint) {
        self.items.push(Item::Fill { points: vec![[x, y], [x + w, y], [x + w, y + h], [x, y + h]], paint });
    }

    pub fn text(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor, paint: Paint) {
        self.words(at, text.into(), size, Weight::Regular, anchor, paint);
    }

    pub(crate) fn bold(
        &mut self,
        at: Point,
        text: impl Into<String>,
        size: f64,
        anchor: Anchor,
        paint: Paint,
    ) {
        self.words(at, text.into(), size, Weight::SemiBold, anchor, paint);
    }

    fn words(&mut self, at: Point, text: String, size: f64, weight: Weight, anchor: Anchor, paint: Paint) {
        self.items.push(Item::Text { at, text, size, weight, anchor, upright: false, paint });
    }

    /// The drawing as a stand-alone SVG document.
    pub fn svg(&self, theme: Theme) -> String {
        let mut s = String::new();
        let (w, h) = (self.width, self.height);
        let _ = writeln!(
            s,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\">"
        );
        let _ = writeln!(s, "<title>{}</title>", escape(&self.title));
        match theme {
            Theme::Light => s.push_str(&dark_scheme()),
            Theme::Dark => {
                let _ = writeln!(s, "<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>", theme.paper().hex());
            }
            Theme::Transparent => {}
        }
        for item in &self.items {
            svg_item(&mut s, item, theme);
        }
        s.push_str("</svg>\n");
        s
    }

    /// The drawing as pixels, `scale` of them to a unit, on the theme's paper.
    pub fn pixels(&self, theme: Theme, scale: f64) -> Image {
        let size = |v: f64| (v * scale).round().max(1.0) as usize;
        let mut image = Image::filled(size(self.width), size(self.height), theme.paper());
        self.paint(&mut image, theme, [0.0, 0.0], scale);
        image
    }

    /// Draws onto `image` with the drawing's corner at `origin`.
    pub(crate) fn paint(&self, image: &mut Image, theme: Theme, origin: Point, scale: f64) {
        let place = |p: &Point| [origin[0] + p[0] * scale, origin[1] + p[1] * scale];
        for item in &self.items {
            match item {
                Item::Stroke { points, width, paint, dash, .. } => {
                    let points: Vec<Point> = points.iter().map(place).collect();
                    let pieces = match dash {
                        Some([on, off]) => dashed(&points, on * scale, off * scale),
                        None => vec![points],
                    };
                    image.stroke(&pieces, width * scale, paint.colour(theme));
                }
                Item::Fill { points, paint } => {
                    image.fill(&[points.iter().map(place).collect()], paint.colour(theme));
                }
                Item::Disc { at, radius, fill, rim, rim_width, .. } => {
                    let at = place(at);
                    let whole = (radius + rim_width / 2.0) * 2.0 * scale;
                    image.stroke(&[vec![at]], whole, rim.colour(theme));
                    let inner = (radius - rim_width / 2.0) * 2.0 * scale;
                    let fill = if *fill == Paint::Paper && theme == Theme::Transparent {
                        Rgba::rgb(255, 255, 255)
                    } else {
                        fill.colour(theme)
                    };
                    image.stroke(&[vec![at]], inner, fill);
                }
                Item::Text { at, text, size, weight, anchor, upright, paint } => {
                    let at = place(at);
                    let size = size * scale;
                    let back = match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => 0.5,
                        Anchor::End => 1.0,
                    } * font::width(text, size, *weight);
                    let contours: Vec<Vec<Point>> = font::outlines(text, size, *weight)
                        .into_iter()
                        .map(|contour| {
                            contour
                                .into_iter()
                                .map(|[x, y]| {
                                    let x = x - back;
                                    let [dx, dy] = if *upright { [y, -x] } else { [x, y] };
                                    [at[0] + dx, at[1] + dy]
                                })
                                .collect()
                        })
                        .collect();
                    image.fill(&contours, paint.colour(theme));
                }
            }
        }
    }
}

/// Colours for readers whose pages are dark; the attributes of the items hold those of light pages.
fn dark_scheme() -> String {
    let mut s = String::from("<style>@media (prefers-color-scheme: dark) {");
    for paint in [Paint::Ink, Paint::SoftInk, Paint::Grid, Paint::Paper] {
        let (class, colour) = (paint.class().unwrap_or_default(), paint.colour(Theme::Dark).hex());
        let _ = write!(s, " .{class} {{ fill: {colour} }} .{class}-line {{ stroke: {colour} }}");
    }
    s.push_str(" }</style>\n");
    s
}

fn fill_of(paint: Paint, theme: Theme) -> String {
    attribute(paint, theme, "fill", "")
}

fn line_of(paint: Paint, theme: Theme) -> String {
    attribute(paint, theme, "stroke", "-line")
}

fn attribute(paint: Paint, theme: Theme, key: &str, suffix: &str) -> String {
    let colour = paint.colour(theme);
    let mut s = format!("{key}=\"{}\"", colour.hex());
    if colour.3 < 255 {
        let _ = write!(s, " {key}-opacity=\"{:.3}\"", colour.3 as f64 / 255.0);
    }
    if let (Some(class), Theme::Light) = (paint.class(), theme) {
        let _ = write!(s, " class=\"{class}{suffix}\"");
    }
    s
}

fn svg_item(s: &mut String, item: &Item, theme: Theme) {
    let mark = |name: &Option<String>| match name {
        Some(name) => format!(" data-name=\"{}\"", escape(name)),
        None => String::new(),
    };
    let list = |points: &[Point]| {
        let mut text = String::new();
        for [x, y] in points {
            let _ = write!(text, "{}{},{}", if text.is_empty() { "" } else { " " }, short(*x), short(*y));
        }
        text
    };
    let _ = match item {
        Item::Stroke { points, width, paint, dash, name } => {
            let dash = match dash {
                Some([on, off]) => format!(" stroke-dasharray=\"{on} {off}\""),
                None => String::new(),
            };
            writeln!(
                s,
                "<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"{width}\" stroke-linejoin=\"round\" \
                 stroke-linecap=\"round\"{dash}{}/>",
                list(points),
                line_of(*paint, theme),
                mark(name)
            )
        }
        Item::Fill { points, paint } => {
            writeln!(s, "<polygon points=\"{}\" {}/>", list(points), fill_of(*paint, theme))
        }
        Item::Disc { at, radius, fill, rim, rim_width, name } => {
            // One element has one class: the rim is always a fixed colour here.
            let rim = rim.colour(theme).hex();
            writeln!(
                s,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" {} stroke=\"{rim}\" stroke-width=\"{rim_width}\"{}/>",
                short(at[0]),
                short(at[1]),
                fill_of(*fill, theme),
                mark(name)
            )
        }
        Item::Text { at, text, size, weight, anchor, upright, paint } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight_attribute = match weight {
                Weight::Regular => "",
                Weight::SemiBold => " font-weight=\"600\"",
            };
            let (x, y) = (short(at[0]), short(at[1]));
            let turn = if *upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            // The length is given, so that another typeface takes the same room.
            writeln!(
                s,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight_attribute} text-anchor=\"{anchor}\" \
                 textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" {}{turn}>{}</text>",
                short(font::width(text, *size, *weight)),
                fill_of(*paint, theme),
                escape(text)
            )
        }
    };
}

/// Two decimals, without trailing zeros.
fn short(v: f64) -> String {
    let s = format!("{v:.2}");
    let s = s.trim_end_matches('0').trim_end_matches('.');
    if s == "-0" { "0".to_owned() } else { s.to_owned() }
}

fn escape(text: &str) -> String {
    // XML has no place for control characters, however they are written
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Cuts a polyline into dashes.
fn dashed(points: &[Point], on: f64, off: f64) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut current: Vec<Point> = points.first().map(|&p| vec![p]).unwrap_or_default();
    let (mut drawing, mut left) = (true, on);
    for pair in points.windows(2) {
        let (mut a, b) = (pair[0], pair[1]);
        loop {
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let length = dx.hypot(dy);
            if length <= left {
                left -= length;
                if drawing {
                    current.push(b);
                }
                break;
            }
            let t = left / length;
            a = [a[0] + dx * t, a[1] + dy * t];
            if drawing {
                current.push(a);
                pieces.push(std::mem::take(&mut current));
            } else {
                current = vec![a];
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
    }
    if drawing && current.len() > 1 {
        pieces.push(current);
    }
    pieces
}
