//! What stands around a picture: colour bar, time stamp, scale bar, axes.

use super::axis;
use super::camera::Camera;
use super::colour::{BODIES, Map, Theme};
use super::draw::{Anchor, Drawing, Item, Paint, Point};
use super::font::{self, CAP_HEIGHT, Weight};
use super::image::Image;
use crate::math::Vec3;

/// What the colours mean.
#[derive(Clone, Debug)]
pub(crate) enum Legend {
    Bar {
        title: String,
        unit: String,
        map: Map,
        range: (f64, f64),
        /// There are values below and above.
        beyond: [bool; 2],
    },
    /// So many bodies, each in its colour.
    Bodies(usize),
}

/// Bodies beyond this are not listed: nobody would look them up.
const LISTED_BODIES: usize = 12;

/// Which of the parts to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Furniture {
    pub legend: bool,
    /// Axes and scale bar.
    pub scale: bool,
    pub title: bool,
}

impl Furniture {
    pub(crate) fn whole() -> Furniture {
        Furniture { legend: true, scale: true, title: true }
    }

    /// A picture of a sheet: the time, and in the first title and scale.
    pub(crate) fn tile(first: bool) -> Furniture {
        Furniture { legend: false, scale: first, title: first }
    }
}

/// Size of text in a picture: legible when the picture is shown at half its size.
pub(crate) fn text_size(height: usize) -> f64 {
    (height as f64 / 32.0).max(17.0)
}

/// Pixels that a legend takes at the right of a picture.
pub(crate) fn legend_room(legend: &Legend, text: f64) -> f64 {
    match legend {
        Legend::Bar { title, range, unit: own, .. } => {
            let (_, labels, power) = bar_ticks(*range);
            let ticks = labels.iter().map(|l| font::width(l, text, Weight::Regular)).fold(0.0, f64::max);
            let head = font::width(title, text, Weight::SemiBold).max(font::width(
                &unit(power, own),
                text,
                Weight::Regular,
            ));
            (ticks + 1.9 * text).max(head) + 3.2 * text
        }
        Legend::Bodies(n) if *n <= LISTED_BODIES => {
            font::width("body 00", text, Weight::Regular) + 5.0 * text
        }
        Legend::Bodies(_) => 1.4 * text,
    }
}

fn bar_ticks((lo, hi): (f64, f64)) -> (Vec<f64>, Vec<String>, i32) {
    let power = axis::thousands(lo.abs().max(hi.abs()));
    let ticks = axis::ticks(lo, hi, 5);
    let labels = axis::labels(&ticks, power);
    (ticks, labels, power)
}

fn unit(power: i32, own: &str) -> String {
    let power = if power == 0 { String::new() } else { axis::times_ten(power) };
    format!("{power} {own}").trim().to_owned()
}

/// A place in a picture, with the value there.
pub(crate) struct Mark {
    /// Pixels.
    pub at: [f64; 3],
    pub value: f64,
}

/// Everything drawn over one picture.
pub(crate) struct Overlay<'a> {
    /// [s]
    pub time: f64,
    /// Decides how all stamps of a set are written [s].
    pub longest_time: f64,
    pub camera: &'a Camera,
    pub legend: Legend,
    pub text: f64,
    /// A line above, or nothing.
    pub title: &'a str,
    pub mark: Option<Mark>,
    /// Bodies may reach under the legend.
    pub near: bool,
}

impl Overlay<'_> {
    pub(crate) fn paint(&self, image: &mut Image, theme: Theme, furniture: &Furniture) {
        let (w, h) = (image.width as f64, image.height as f64);
        let mut d = Drawing::new(w, h, "");
        if let Some(mark) = &self.mark {
            self.mark(&mut d, mark);
        }
        if furniture.legend && self.near {
            let room = legend_room(&self.legend, self.text) - self.text;
            d.rect([w - room, 0.0], [room, h], Paint::Paper);
        }
        self.stamp(&mut d, furniture.title);
        if furniture.scale {
            self.scale(&mut d);
        }
        if furniture.legend {
            draw_legend(&mut d, &self.legend, self.text);
        }
        d.paint(image, theme, [0.0, 0.0], 1.0);
    }

    fn stamp(&self, d: &mut Drawing, titled: bool) {
        let power = axis::thousands(self.longest_time);
        let scaled = self.time / 10_f64.powi(power);
        let largest = self.longest_time / 10_f64.powi(power);
        let exponent = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
        let decimals = (3 - exponent).clamp(0, 6) as usize;
        let value = format!("{scaled:.decimals$}").replace('-', "−");
        let unit = if power == 0 { String::new() } else { format!(" {}", axis::times_ten(power)) };
        let mut at = [1.2 * self.text, 1.2 * self.text + CAP_HEIGHT * self.text / 2.0];
        if !self.title.is_empty() {
            let title = if titled { self.title } else { "" };
            d.bold(at, title, 1.15 * self.text, Anchor::Start, Paint::Ink);
            at[1] += 1.5 * self.text;
        }
        d.bold(at, format!("t = {value}{unit}"), self.text, Anchor::Start, Paint::Ink);
    }

    /// A ring, and the value beside it.
    fn mark(&self, d: &mut Drawing, Mark { at: [x, y, _], value }: &Mark) {
        let pen = (self.text / 9.0).max(1.2);
        let ring: Vec<Point> = (0..=32)
            .map(|i| f64::from(i) / 32.0 * std::f64::consts::TAU)
            .map(|a| [x + 0.5 * self.text * a.cos(), y + 0.5 * self.text * a.sin()])
            .collect();
        for (width, paint) in [(2.4 * pen, Paint::Paper), (pen, Paint::Ink)] {
            d.items.push(Item::Stroke { points: ring.clone(), width, paint, dash: None, name: None });
        }
        let power = axis::thousands(value.abs());
        let scaled = value / 10_f64.powi(power);
        let decimals = (2 - scaled.abs().max(1e-9).log10().floor() as i32).clamp(0, 4) as usize;
        let own = if let Legend::Bar { unit, .. } = &self.legend { unit.as_str() } else { "" };
        let label = format!("{scaled:.decimals$} {}", unit(power, own)).replace('-', "−");
        let (label, size) = (label.trim_end(), self.text);
        let room = font::width(label, size, Weight::SemiBold);
        // beside the ring where there is room
        let left = if x + 0.9 * size + room > d.width { x - 0.9 * size - room } else { x + 0.9 * size };
        let base = y + CAP_HEIGHT * size / 2.0;
        d.rect([left - 0.2 * size, base - size], [room + 0.4 * size, 1.35 * size], Paint::Paper);
        d.bold([left, base], label, size, Anchor::Start, Paint::Ink);
    }

    /// Axes and a length, at the bottom left.
    fn scale(&self, d: &mut Drawing) {
        let text = self.text;
        let arm = 1.7 * text;
        let pen = (text / 9.0).max(1.2);
        // Direction on the screen, nearness and name; an axis that points at the viewer is left out.
        let mut arms: Vec<(Point, f64, &str)> = [(Vec3::x(), "x"), (Vec3::y(), "y"), (Vec3::z(), "z")]
            .into_iter()
            .map(|(v, name)| (self.camera.view(&v), name))
            .filter(|([x, y, _], _)| x.hypot(*y) >= 0.12)
            .map(|([x, y, z], name)| ([x, -y], z, name))
            .collect();
        arms.sort_by(|a, b| a.1.total_cmp(&b.1));
        let letter = |[x, y]: Point| {
            let beyond = arm + 0.55 * text / x.hypot(y);
            [x * beyond, y * beyond]
        };
        let reach = |k: usize, sign: f64| {
            arms.iter().map(|a| sign * letter(a.0)[k]).fold(0.0, f64::max) + 0.45 * text
        };
        let base = [0.9 * text + reach(0, -1.0), d.height - 0.7 * text - reach(1, 1.0)];
        for &(tip, _, name) in &arms {
            d.line(base, [base[0] + arm * tip[0], base[1] + arm * tip[1]], pen, Paint::Ink);
            let [x, y] = letter(tip);
            d.text([base[0] + x, base[1] + y + 0.22 * text], name, 0.85 * text, Anchor::Middle, Paint::Ink);
        }
        let widest = base[0] + reach(0, 1.0);
        let length = nice_length(0.16 * d.width / self.camera.scale);
        let pixels = length * self.camera.scale;
        let (x0, y) = (widest + text, d.height - 1.2 * text);
        d.line([x0, y], [x0 + pixels, y], pen, Paint::Ink);
        for x in [x0, x0 + pixels] {
            d.line([x, y - 0.28 * text], [x, y + 0.28 * text], pen, Paint::Ink);
        }
        let label = plain(length);
        d.text([x0 + pixels / 2.0, y - 0.55 * text], label, text, Anchor::Middle, Paint::Ink);
    }
}

/// 1, 2 or 5 × 10ⁿ, at most `largest`.
fn nice_length(largest: f64) -> f64 {
    let power = 10_f64.powf(largest.log10().floor());
    [5.0, 2.0, 1.0].iter().map(|s| s * power).find(|&s| s <= largest).unwrap_or(power)
}

/// A round number without trailing zeros.
fn plain(v: f64) -> String {
    let exponent = v.log10().floor() as i32;
    if (-4..5).contains(&exponent) {
        let text = format!("{v:.5}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{:.0} {}", v / 10_f64.powi(exponent), axis::times_ten(exponent))
    }
}

fn draw_legend(d: &mut Drawing, legend: &Legend, text: f64) {
    let right = d.width - legend_room(legend, text) + 1.8 * text;
    match legend {
        Legend::Bar { title, unit: own, map, range, beyond } => {
            let (ticks, labels, power) = bar_ticks(*range);
            let height = (0.56 * d.height).round();
            let (x, y) = (right.round(), (0.5 * (d.height - height) + 1.2 * text).round());
            let width = (0.85 * text).round();
            let above = y - 0.8 * text;
            let unit = unit(power, own);
            let lift = if beyond[1] { 0.7 * text } else { 0.0 };
            if unit.is_empty() {
                d.bold([x, above - lift], title, text, Anchor::Start, Paint::Ink);
            } else {
                d.bold([x, above - lift - 1.25 * text], title, text, Anchor::Start, Paint::Ink);
                d.text([x, above - lift], unit, text, Anchor::Start, Paint::SoftInk);
            }
            // the bar goes on in a tip where values do
            for (end, t, sign) in [(y + height, 0.0, 1.0), (y, 1.0, -1.0)] {
                if beyond[t as usize] {
                    let points =
                        vec![[x, end], [x + width, end], [x + 0.5 * width, end + sign * 0.9 * width]];
                    d.items.push(Item::Fill { points, paint: Paint::Fixed(map.at(t)) });
                }
            }
            let rows = height as usize;
            for row in 0..rows {
                let t = 1.0 - (row as f64 + 0.5) / rows as f64;
                d.rect([x, y + row as f64], [width, 1.0], Paint::Fixed(map.at(t)));
            }
            let pen = (text / 16.0).max(1.0);
            for (v, label) in ticks.iter().zip(&labels) {
                let at = y + height * (1.0 - (v - range.0) / (range.1 - range.0));
                d.line([x + width, at], [x + width + 0.3 * text, at], pen, Paint::SoftInk);
                let base = at + CAP_HEIGHT * text / 2.0;
                d.text([x + width + 0.6 * text, base], label, text, Anchor::Start, Paint::Ink);
            }
        }
        Legend::Bodies(n) if *n <= LISTED_BODIES => {
            let row = 1.7 * text;
            let top = 0.5 * (d.height - row * *n as f64);
            for i in 0..*n {
                let y = top + row * i as f64;
                d.rect([right, y], [text, text], Paint::Fixed(BODIES[i % BODIES.len()]));
                let at = [right + 1.5 * text, y + 0.5 * text + CAP_HEIGHT * text / 2.0];
                d.text(at, format!("body {i}"), text, Anchor::Start, Paint::Ink);
            }
        }
        Legend::Bodies(_) => {}
    }
}

/// The legend of a whole sheet.
pub(crate) fn legend_alone(image: &mut Image, theme: Theme, legend: &Legend, text: f64) {
    let mut d = Drawing::new(image.width as f64, image.height as f64, "");
    draw_legend(&mut d, legend, text);
    d.paint(image, theme, [0.0, 0.0], 1.0);
}

/// Thin lines between the pictures of a sheet.
pub(crate) fn sheet_lines(
    image: &mut Image,
    theme: Theme,
    (rows, columns): (usize, usize),
    (w, h): (usize, usize),
) {
    let mut d = Drawing::new(image.width as f64, image.height as f64, "");
    let (whole_w, whole_h) = ((columns * w) as f64, (rows * h) as f64);
    let mut line = |a: Point, b: Point| {
        let stroke =
            Item::Stroke { points: vec![a, b], width: 1.5, paint: Paint::Grid, dash: None, name: None };
        d.items.push(stroke);
    };
    for i in 1..rows {
        line([0.0, (i * h) as f64], [whole_w, (i * h) as f64]);
    }
    for j in 1..columns {
        line([(j * w) as f64, 0.0], [(j * w) as f64, whole_h]);
    }
    d.paint(image, theme, [0.0, 0.0], 1.0);
}
