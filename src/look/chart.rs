//! Curves over time, or over another quantity, in stacked panels, each curve labelled at its end.

mod bars;
mod labels;

pub(crate) use bars::Stacks;
pub use bars::{Bar, Bars, Part};

use super::axis;
use super::colour::Rgba;
use super::draw::{Anchor, Drawing, Item, Paint, Point};
use super::font::{self, Weight};
use labels::end_labels;

/// Width of a figure: one column of a paper, at a text size of 7 points there.
const WIDTH: f64 = 520.0;
const TEXT: f64 = 13.0;
const TITLE: f64 = 16.0;
const MARGIN: f64 = 14.0;
const PANEL_GAP: f64 = 22.0;
const LABEL_GAP: f64 = 16.0;
/// From the end of what is above to the top of a panel, the heading between.
const HEADING: f64 = TEXT + 16.0;
/// Reference files with more points than this become a dashed line.
const MANY_POINTS: usize = 60;
/// Points of a curve beyond which only the extremes of each stretch are drawn.
const DENSE: usize = 1500;

/// One quantity over time.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name of the column; marks the curve in the SVG.
    pub name: String,
    pub label: String,
    /// Along the axis; the figure's own row of values unless given.
    pub x: Option<Vec<f64>>,
    pub y: Vec<f64>,
    pub paint: Paint,
    pub width: f64,
    pub dash: Option<[f64; 2]>,
    /// Its points are marked: there are few.
    pub marked: bool,
}

impl Curve {
    /// A plain line over the figure's own axis.
    pub fn new(name: impl Into<String>, label: impl Into<String>, y: Vec<f64>, colour: Rgba) -> Curve {
        Curve {
            name: name.into(),
            label: label.into(),
            x: None,
            y,
            paint: Paint::Fixed(colour),
            width: 1.9,
            dash: None,
            marked: false,
        }
    }
}

/// Points to compare with, drawn as rings (or a dashed line, when many).
#[derive(Clone, Debug)]
pub struct Reference {
    /// Name of the column.
    pub name: String,
    /// Where the points come from, as the key says it; "reference" if empty. Each source of a panel has a mark of its own.
    pub from: String,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub colour: Rgba,
}

/// Curves that share a vertical axis.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// What the axis shows.
    pub heading: String,
    /// In brackets behind the heading.
    pub unit: String,
    pub curves: Vec<Curve>,
    pub references: Vec<Reference>,
    pub height: f64,
    pub logarithmic: bool,
    /// Values hold until the next row, as a staircase.
    pub stairs: bool,
}

/// Stacked panels over one axis.
#[derive(Default)]
pub struct Figure<'a> {
    pub title: String,
    pub caption: String,
    /// What runs along the axis: "time", mostly.
    pub along: String,
    pub time: &'a [f64],
    pub time_unit: String,
    pub panels: Vec<Panel>,
    pub note: String,
    /// The axis goes by powers of ten.
    pub logarithmic: bool,
}

/// A straight or logarithmic scale from numbers to pixels.
#[derive(Clone, Copy)]
struct Scale {
    lo: f64,
    hi: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    fn at(&self, v: f64) -> f64 {
        let f = |v: f64| if self.logarithmic { v.log10() } else { v };
        self.from + (f(v) - f(self.lo)) / (f(self.hi) - f(self.lo)) * (self.to - self.from)
    }
}

/// Largest number that is drawn, and the smallest that is not zero: beyond them differences and steps leave the range of numbers.
const LARGEST: f64 = 1e290;
const SMALLEST: f64 = 1e-290;

/// What a number is drawn as.
fn drawable(v: f64) -> f64 {
    if v.abs() < SMALLEST { 0.0 } else { v.clamp(-LARGEST, LARGEST) }
}

/// Smallest and largest finite number, as they are drawn, if any.
pub fn range<'a>(values: impl Iterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let values = values.filter(|v| v.is_finite()).map(|v| drawable(*v));
    let (lo, hi) = values.fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
    (lo <= hi).then_some((lo, hi))
}

/// Ends of a panel's axis and the step of its ticks: round numbers around the data, with zero when it is near.
fn widened(panel: &Panel) -> (f64, f64, f64) {
    let all = panel.curves.iter().flat_map(|c| &c.y).chain(panel.references.iter().flat_map(|r| &r.y));
    let Some((mut lo, mut hi)) = range(all.filter(|v| !panel.logarithmic || drawable(**v) > 0.0)) else {
        return if panel.logarithmic { (0.1, 10.0, 1.0) } else { (-1.0, 1.0, 1.0) };
    };
    if panel.logarithmic {
        let (lo, hi) = (10_f64.powf(lo.log10().floor()), 10_f64.powf(hi.log10().ceil()));
        return (lo, if hi > lo { hi } else { 10.0 * lo }, 1.0);
    }
    // Far from zero the change is what matters, unless the change is round-off.
    let far = lo * hi > 0.0 && lo.abs().min(hi.abs()) > 3.0 * (hi - lo);
    if !far || hi - lo <= 1e-9 * hi.abs().max(lo.abs()) {
        lo = lo.min(0.0);
        hi = hi.max(0.0);
    }
    if lo == hi {
        return (-1.0, 1.0, 1.0);
    }
    let wanted = ((panel.height / 40.0) as usize).clamp(3, 6);
    let step = axis::round_step((hi - lo) / wanted as f64);
    ((lo / step + 1e-6).floor() * step, (hi / step - 1e-6).ceil() * step, step)
}

/// Ticks of an axis: the power of ten that is written once, where they are, what they say.
type Ticks = (i32, Vec<f64>, Vec<String>);

/// Where the panels of a figure go.
struct Frame {
    left: f64,
    right: f64,
    /// End of the title.
    head: f64,
    x: Scale,
    ticks: Ticks,
    notes: Vec<String>,
    height: f64,
}

impl Figure<'_> {
    pub fn draw(&self) -> Drawing {
        let ranges: Vec<(f64, f64, f64)> = self.panels.iter().map(widened).collect();
        let axes: Vec<Ticks> = self.panels.iter().zip(&ranges).map(|(p, &r)| vertical_axis(p, r)).collect();
        let frame = self.frame(&axes);
        let mut d = Drawing::new(WIDTH, frame.height.ceil(), &self.title);
        heading(&mut d, &self.title, &self.caption);
        let mut top = frame.head;
        for ((panel, &(lo, hi, _)), ticks) in self.panels.iter().zip(&ranges).zip(&axes) {
            top += HEADING;
            let y = Scale { lo, hi, from: top + panel.height, to: top, logarithmic: panel.logarithmic };
            self.draw_panel(&mut d, panel, &frame, &y, ticks);
            top += panel.height + PANEL_GAP;
        }
        let base = top - PANEL_GAP + TEXT + 9.0;
        let (power, ticks, labels) = &frame.ticks;
        for (&t, label) in ticks.iter().zip(labels) {
            d.text([frame.x.at(t), base], label, TEXT, Anchor::Middle, Paint::SoftInk);
        }
        let name = format!("{} {}", self.along, bracket(&self.time_unit, *power));
        let middle = (frame.left + frame.right) / 2.0;
        d.text([middle, base + TEXT + 5.0], name, TEXT, Anchor::Middle, Paint::Ink);
        for (i, line) in frame.notes.into_iter().enumerate() {
            let at = [MARGIN, base + TEXT + 5.0 + (i + 1) as f64 * (TEXT + 4.0) + 4.0];
            d.text(at, line, TEXT, Anchor::Start, Paint::SoftInk);
        }
        d
    }

    fn frame(&self, axes: &[Ticks]) -> Frame {
        let widest = |words: &mut dyn Iterator<Item = &String>, weight: Weight| {
            words.map(|w| font::width(w, TEXT, weight)).fold(0.0, f64::max)
        };
        let tick_room = widest(&mut axes.iter().flat_map(|a| &a.2), Weight::Regular);
        let labels = &mut self.panels.iter().flat_map(|p| &p.curves).map(|c| &c.label);
        let left = MARGIN + tick_room + 8.0;
        let right = WIDTH - MARGIN - widest(labels, Weight::SemiBold) - LABEL_GAP;
        let head = MARGIN + TITLE + if self.caption.is_empty() { 0.0 } else { TEXT + 6.0 } + 6.0;
        let panel_room: f64 = self.panels.iter().map(|p| p.height + HEADING + PANEL_GAP).sum();
        let foot = 2.0 * TEXT + 15.0 + MARGIN - PANEL_GAP;
        let notes = wrapped(&self.note, WIDTH - 2.0 * MARGIN);
        let note_room = notes.len() as f64 * (TEXT + 4.0) + if notes.is_empty() { 0.0 } else { 4.0 };
        let (lo, hi) = self.time_range();
        let x = Scale { lo, hi, from: left, to: right, logarithmic: self.logarithmic };
        let ticks = match self.logarithmic {
            true => powers_of_ten(lo, hi),
            false => {
                let (power, ticks) = (axis::thousands(lo.abs().max(hi.abs())), axis::ticks(lo, hi, 5));
                let labels = axis::labels(&ticks, power);
                (power, ticks, labels)
            }
        };
        Frame { left, right, head, x, ticks, notes, height: head + panel_room + foot + note_room }
    }

    fn draw_panel(&self, d: &mut Drawing, panel: &Panel, frame: &Frame, y: &Scale, axis: &Ticks) {
        let (Frame { left, right, x, .. }, (power, ticks, labels)) = (frame, axis);
        let top = y.to;
        d.bold([MARGIN, top - 14.0], &panel.heading, TEXT, Anchor::Start, Paint::Ink);
        let behind = MARGIN + font::width(&panel.heading, TEXT, Weight::SemiBold) + 6.0;
        d.text([behind, top - 14.0], bracket(&panel.unit, *power), TEXT, Anchor::Start, Paint::SoftInk);
        let sources = sources(panel);
        reference_key(d, panel, &sources, top - 14.0);
        for &t in &frame.ticks.1 {
            grid_line(d, [x.at(t), top], [x.at(t), top + panel.height], false, format!("x={t:e}"));
        }
        for (&v, label) in ticks.iter().zip(labels) {
            grid_line(d, [*left, y.at(v)], [*right, y.at(v)], v == 0.0, format!("y={v:e}"));
            let base = y.at(v) + TEXT * font::CAP_HEIGHT / 2.0;
            d.text([left - 8.0, base], label, TEXT, Anchor::End, Paint::SoftInk);
        }
        for reference in panel.references.iter().filter(|r| r.x.len() > MANY_POINTS) {
            let points = reference.x.iter().zip(&reference.y).map(|(&t, &v)| [x.at(t), y.at(v)]).collect();
            d.items.push(dashed(points, mark_of(reference, &sources), Some(named(reference))));
        }
        for curve in &panel.curves {
            let points = self.curve_points(curve, panel, x, y);
            let marks = if curve.marked { points.clone() } else { Vec::new() };
            d.items.push(Item::Stroke {
                points,
                width: curve.width,
                paint: curve.paint,
                dash: curve.dash,
                name: Some(curve.name.clone()),
            });
            d.items.extend(marks.into_iter().map(|at| Item::Disc {
                at,
                radius: 3.0,
                fill: curve.paint,
                rim: curve.paint,
                rim_width: 0.0,
                name: None,
            }));
        }
        for reference in panel.references.iter().filter(|r| r.x.len() <= MANY_POINTS) {
            for (&t, &v) in reference.x.iter().zip(&reference.y) {
                let (at, rim) = ([x.at(t), y.at(v)], Paint::Fixed(reference.colour));
                d.items.extend(mark(mark_of(reference, &sources), at, rim, Some(named(reference))));
            }
        }
        end_labels(d, panel, y, *right);
    }

    fn time_range(&self) -> (f64, f64) {
        let references = self.panels.iter().flat_map(|p| &p.references).flat_map(|r| &r.x);
        let own = self.panels.iter().flat_map(|p| &p.curves).filter_map(|c| c.x.as_ref()).flatten();
        let (lo, hi) = range(self.time.iter().chain(references).chain(own)).unwrap_or((0.0, 1.0));
        match lo < hi {
            true => (lo, hi),
            false if self.logarithmic => (lo / 2.0, lo * 2.0),
            false => (lo - 0.5, lo + 0.5),
        }
    }

    fn curve_points(&self, curve: &Curve, panel: &Panel, x: &Scale, y: &Scale) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        let along = curve.x.as_deref().unwrap_or(self.time);
        let kept = thinned(&curve.y);
        for i in kept {
            let (t, v) = (drawable(along[i]), drawable(curve.y[i]));
            if !curve.y[i].is_finite() || !along[i].is_finite() || (panel.logarithmic && v <= 0.0) {
                continue;
            }
            let p = [x.at(t), y.at(v)];
            if let (true, Some(last)) = (panel.stairs, points.last()) {
                points.push([p[0], last[1]]);
            }
            points.push(p);
        }
        points
    }
}

/// Indices to draw: all, or for long curves first, lowest, highest and last of each stretch.
fn thinned(y: &[f64]) -> Vec<usize> {
    if y.len() <= DENSE {
        return (0..y.len()).collect();
    }
    let stretch = y.len().div_ceil(DENSE / 4);
    let mut kept = Vec::new();
    for from in (0..y.len()).step_by(stretch) {
        let to = (from + stretch).min(y.len());
        let finite = || (from..to).filter(|&i| y[i].is_finite());
        let lowest = finite().min_by(|&i, &j| y[i].total_cmp(&y[j])).unwrap_or(from);
        let highest = finite().max_by(|&i, &j| y[i].total_cmp(&y[j])).unwrap_or(from);
        let mut some = [from, lowest, highest, to - 1];
        some.sort_unstable();
        kept.extend(some);
    }
    kept.dedup();
    kept
}

/// Powers of ten within an axis, not more than seven.
fn powers_of_ten(lo: f64, hi: f64) -> Ticks {
    let (from, to) = ((lo.log10() - 1e-9).ceil() as i32, (hi.log10() + 1e-9).floor() as i32);
    let every = ((to - from) / 6 + 1).max(1);
    let powers: Vec<i32> = (from..=to).step_by(every as usize).collect();
    let labels = powers.iter().map(|&p| axis::times_ten(p).replace('×', "")).collect();
    (0, powers.iter().map(|&p| 10_f64.powi(p)).collect(), labels)
}

fn vertical_axis(panel: &Panel, (lo, hi, step): (f64, f64, f64)) -> Ticks {
    if panel.logarithmic {
        return powers_of_ten(lo, hi);
    }
    let (from, to) = ((lo / step).round() as i64, (hi / step).round() as i64);
    let ticks: Vec<f64> = (from..=to).map(|i| i as f64 * step).collect();
    let power = axis::thousands(lo.abs().max(hi.abs()));
    let labels = axis::labels(&ticks, power);
    (power, ticks, labels)
}

/// Title and caption of a figure.
fn heading(d: &mut Drawing, title: &str, caption: &str) {
    d.bold([MARGIN, MARGIN + TITLE * 0.8], title, TITLE, Anchor::Start, Paint::Ink);
    if !caption.is_empty() {
        let caption = shortened(caption, WIDTH - 2.0 * MARGIN);
        d.text([MARGIN, MARGIN + TITLE + TEXT + 2.0], caption, TEXT, Anchor::Start, Paint::SoftInk);
    }
}

fn bracket(unit: &str, power: i32) -> String {
    match (unit.is_empty(), power) {
        (true, 0) => String::new(),
        (true, p) => format!("({})", axis::times_ten(p)),
        (false, 0) => format!("({unit})"),
        (false, p) => format!("({}, {unit})", axis::times_ten(p)),
    }
}

fn grid_line(d: &mut Drawing, a: Point, b: Point, zero: bool, name: String) {
    let paint = if zero { Paint::SoftInk } else { Paint::Grid };
    d.items.push(Item::Stroke { points: vec![a, b], width: 1.0, paint, dash: None, name: Some(name) });
}

/// Sources of the references of a panel, in their order.
fn sources(panel: &Panel) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for r in &panel.references {
        if !all.contains(&r.from.as_str()) {
            all.push(&r.from);
        }
    }
    all
}

/// Number of the mark, or of the dashes, of a reference.
fn mark_of(r: &Reference, sources: &[&str]) -> usize {
    sources.iter().position(|s| *s == r.from).unwrap_or(0)
}

fn named(r: &Reference) -> String {
    match r.from.as_str() {
        "" => format!("reference {}", r.name),
        from => format!("{from} {}", r.name),
    }
}

/// A line of points to compare with.
fn dashed(points: Vec<Point>, which: usize, name: Option<String>) -> Item {
    let dash = [[5.0, 4.0], [2.0, 3.0], [9.0, 3.0], [1.0, 5.0]][which % 4];
    Item::Stroke { points, width: 1.6, paint: Paint::SoftInk, dash: Some(dash), name }
}

/// A point to compare with: a ring, square, diamond or triangle.
fn mark(which: usize, at: Point, rim: Paint, name: Option<String>) -> Vec<Item> {
    let (radius, rim_width) = (3.6, 1.6);
    let corners: &[Point] = match which % 4 {
        0 => return vec![Item::Disc { at, radius, fill: Paint::Paper, rim, rim_width, name }],
        1 => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
        2 => &[[0.0, -1.25], [1.25, 0.0], [0.0, 1.25], [-1.25, 0.0]],
        _ => &[[0.0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
    };
    let place = |c: &Point| [at[0] + radius * c[0], at[1] + radius * c[1]];
    let mut points: Vec<Point> = corners.iter().map(place).collect();
    let fill = Item::Fill { points: points.clone(), paint: Paint::Paper };
    points.push(points[0]);
    vec![fill, Item::Stroke { points, width: rim_width, paint: rim, dash: None, name }]
}

/// Says what marks and dashed lines stand for, from the right, right above the panel.
fn reference_key(d: &mut Drawing, panel: &Panel, sources: &[&str], base: f64) {
    let mut right = WIDTH - MARGIN;
    let y = base - TEXT * font::CAP_HEIGHT / 2.0;
    for (which, source) in sources.iter().enumerate().rev() {
        let Some(r) = panel.references.iter().find(|r| r.from == *source) else { continue };
        let text = shortened(if source.is_empty() { "reference" } else { source }, WIDTH / 4.0);
        let x = right - font::width(&text, TEXT, Weight::Regular) - 9.0;
        d.text([right, base], text, TEXT, Anchor::End, Paint::SoftInk);
        let many = r.x.len() > MANY_POINTS;
        match many {
            true => d.items.push(dashed(vec![[x - 18.0, y], [x, y]], which, None)),
            false => d.items.extend(mark(which, [x, y], Paint::Fixed(r.colour), None)),
        }
        right = x - if many { 32.0 } else { 18.0 };
    }
}

fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), TEXT, Weight::Regular) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn shortened(text: &str, room: f64) -> String {
    if font::width(text, TEXT, Weight::Regular) <= room {
        return text.to_owned();
    }
    // no letter is narrower than a tenth of its height: more never fit
    let kept: Vec<char> = text.chars().take((10.0 * room / TEXT) as usize).collect();
    let cut = |n: usize| kept[..n].iter().collect::<String>().trim_end().to_owned() + "…";
    let fits = |n: &usize| font::width(&cut(*n), TEXT, Weight::Regular) <= room;
    (1..=kept.len()).rev().find(fits).map_or(String::new(), cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_extremes() {
        let mut y: Vec<f64> = (0..100_000).map(|i| (i as f64 * 0.01).sin()).collect();
        y[77_777] = 9.0;
        y[33_333] = -7.0;
        let kept = thinned(&y);
        assert!(kept.len() < 2 * DENSE && kept.contains(&77_777) && kept.contains(&33_333));
        assert!(kept.windows(2).all(|w| w[0] < w[1]) && kept[0] == 0 && kept[kept.len() - 1] == 99_999);
    }
}
