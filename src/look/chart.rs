//! Curves over time, or over another quantity, in stacked panels, each curve labelled at its end.

use super::axis;
use super::colour::Rgba;
use super::draw::{Anchor, Drawing, Item, Paint, Point};
use super::font::{self, Weight};

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
    pub y: Vec<f64>,
    pub paint: Paint,
    pub width: f64,
    pub dash: Option<[f64; 2]>,
}

/// Points to compare with, drawn as rings (or a dashed line, when many).
#[derive(Clone, Debug)]
pub struct Reference {
    pub name: String,
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
pub struct Figure<'a> {
    pub title: String,
    pub caption: String,
    /// What runs along the axis: "time", mostly.
    pub along: String,
    pub time: &'a [f64],
    pub time_unit: String,
    pub panels: Vec<Panel>,
    pub note: String,
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

impl Figure<'_> {
    pub fn draw(&self) -> Drawing {
        let ranges: Vec<(f64, f64, f64)> = self.panels.iter().map(widened).collect();
        let axes: Vec<(i32, Vec<f64>, Vec<String>)> =
            self.panels.iter().zip(&ranges).map(|(p, &r)| vertical_axis(p, r)).collect();
        let tick_room =
            axes.iter().flat_map(|a| &a.2).map(|l| font::width(l, TEXT, Weight::Regular)).fold(0.0, f64::max);
        let label_room = self
            .panels
            .iter()
            .flat_map(|p| &p.curves)
            .map(|c| font::width(&c.label, TEXT, Weight::SemiBold))
            .fold(0.0, f64::max);
        let left = MARGIN + tick_room + 8.0;
        let right = WIDTH - MARGIN - label_room - LABEL_GAP;

        let head = MARGIN + TITLE + if self.caption.is_empty() { 0.0 } else { TEXT + 6.0 } + 6.0;
        let panel_room: f64 = self.panels.iter().map(|p| p.height + HEADING + PANEL_GAP).sum();
        let foot = 2.0 * TEXT + 15.0 + MARGIN - PANEL_GAP;
        let notes = wrapped(&self.note, WIDTH - 2.0 * MARGIN);
        let note_room = notes.len() as f64 * (TEXT + 4.0) + if notes.is_empty() { 0.0 } else { 4.0 };
        let mut d = Drawing::new(WIDTH, (head + panel_room + foot + note_room).ceil(), &self.title);

        d.bold([MARGIN, MARGIN + TITLE * 0.8], &self.title, TITLE, Anchor::Start, Paint::Ink);
        if !self.caption.is_empty() {
            let caption = shortened(&self.caption, WIDTH - 2.0 * MARGIN);
            d.text([MARGIN, MARGIN + TITLE + TEXT + 2.0], caption, TEXT, Anchor::Start, Paint::SoftInk);
        }

        let (t0, t1) = self.time_range();
        let x = Scale { lo: t0, hi: t1, from: left, to: right, logarithmic: false };
        let time_power = axis::thousands(t0.abs().max(t1.abs()));
        let time_ticks = axis::ticks(t0, t1, 5);
        let time_labels = axis::labels(&time_ticks, time_power);

        let mut top = head;
        for ((panel, &(lo, hi, _)), (power, ticks, labels)) in self.panels.iter().zip(&ranges).zip(&axes) {
            top += HEADING;
            let y = Scale { lo, hi, from: top + panel.height, to: top, logarithmic: panel.logarithmic };
            let unit = bracket(&panel.unit, *power);
            d.bold([MARGIN, top - 14.0], &panel.heading, TEXT, Anchor::Start, Paint::Ink);
            let behind = MARGIN + font::width(&panel.heading, TEXT, Weight::SemiBold) + 6.0;
            d.text([behind, top - 14.0], unit, TEXT, Anchor::Start, Paint::SoftInk);

            if let Some(r) = panel.references.first() {
                reference_key(&mut d, r, top - 14.0);
            }

            for &t in &time_ticks {
                grid_line(&mut d, [x.at(t), top], [x.at(t), top + panel.height], false, format!("x={t:e}"));
            }
            for (&v, label) in ticks.iter().zip(labels) {
                grid_line(&mut d, [left, y.at(v)], [right, y.at(v)], v == 0.0, format!("y={v:e}"));
                let base = y.at(v) + TEXT * font::CAP_HEIGHT / 2.0;
                d.text([left - 8.0, base], label, TEXT, Anchor::End, Paint::SoftInk);
            }
            for reference in panel.references.iter().filter(|r| r.x.len() > MANY_POINTS) {
                d.items.push(reference_line(reference, &x, &y));
            }
            for curve in &panel.curves {
                d.items.push(Item::Stroke {
                    points: self.curve_points(curve, panel, &x, &y),
                    width: curve.width,
                    paint: curve.paint,
                    dash: curve.dash,
                    name: Some(curve.name.clone()),
                });
            }
            for reference in panel.references.iter().filter(|r| r.x.len() <= MANY_POINTS) {
                d.items.extend(reference_rings(reference, &x, &y));
            }
            end_labels(&mut d, panel, &y, right);
            top += panel.height + PANEL_GAP;
        }

        let base = top - PANEL_GAP + TEXT + 9.0;
        for (&t, label) in time_ticks.iter().zip(&time_labels) {
            d.text([x.at(t), base], label, TEXT, Anchor::Middle, Paint::SoftInk);
        }
        let name = format!("{} {}", self.along, bracket(&self.time_unit, time_power));
        d.text([(left + right) / 2.0, base + TEXT + 5.0], name, TEXT, Anchor::Middle, Paint::Ink);
        for (i, line) in notes.into_iter().enumerate() {
            let at = [MARGIN, base + TEXT + 5.0 + (i + 1) as f64 * (TEXT + 4.0) + 4.0];
            d.text(at, line, TEXT, Anchor::Start, Paint::SoftInk);
        }
        d
    }

    fn time_range(&self) -> (f64, f64) {
        let references = self.panels.iter().flat_map(|p| &p.references).flat_map(|r| &r.x);
        let (lo, hi) = range(self.time.iter().chain(references)).unwrap_or((0.0, 1.0));
        if lo < hi { (lo, hi) } else { (lo - 0.5, lo + 0.5) }
    }

    fn curve_points(&self, curve: &Curve, panel: &Panel, x: &Scale, y: &Scale) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        let kept = thinned(&curve.y);
        for i in kept {
            let (t, v) = (drawable(self.time[i]), drawable(curve.y[i]));
            if !curve.y[i].is_finite() || !self.time[i].is_finite() || (panel.logarithmic && v <= 0.0) {
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

fn vertical_axis(panel: &Panel, (lo, hi, step): (f64, f64, f64)) -> (i32, Vec<f64>, Vec<String>) {
    if panel.logarithmic {
        let (from, to) = (lo.log10().round() as i32, hi.log10().round() as i32);
        let every = ((to - from) / 6 + 1).max(1);
        let powers: Vec<i32> = (from..=to).step_by(every as usize).collect();
        let labels = powers.iter().map(|&p| axis::times_ten(p).replace('×', "")).collect();
        return (0, powers.iter().map(|&p| 10_f64.powi(p)).collect(), labels);
    }
    let (from, to) = ((lo / step).round() as i64, (hi / step).round() as i64);
    let ticks: Vec<f64> = (from..=to).map(|i| i as f64 * step).collect();
    let power = axis::thousands(lo.abs().max(hi.abs()));
    let labels = axis::labels(&ticks, power);
    (power, ticks, labels)
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

fn reference_line(r: &Reference, x: &Scale, y: &Scale) -> Item {
    Item::Stroke {
        points: r.x.iter().zip(&r.y).map(|(&t, &v)| [x.at(t), y.at(v)]).collect(),
        width: 1.6,
        paint: Paint::SoftInk,
        dash: Some([5.0, 4.0]),
        name: Some(format!("reference {}", r.name)),
    }
}

fn reference_rings<'a>(r: &'a Reference, x: &'a Scale, y: &'a Scale) -> impl Iterator<Item = Item> + 'a {
    r.x.iter().zip(&r.y).map(|(&t, &v)| Item::Disc {
        at: [x.at(t), y.at(v)],
        radius: 3.6,
        fill: Paint::Paper,
        rim: Paint::Fixed(r.colour),
        rim_width: 1.6,
        name: Some(format!("reference {}", r.name)),
    })
}

/// Says what rings, or the dashed line, stand for; right above the panel.
fn reference_key(d: &mut Drawing, r: &Reference, base: f64) {
    let right = WIDTH - MARGIN;
    d.text([right, base], "reference", TEXT, Anchor::End, Paint::SoftInk);
    let x = right - font::width("reference", TEXT, Weight::Regular) - 9.0;
    let y = base - TEXT * font::CAP_HEIGHT / 2.0;
    if r.x.len() > MANY_POINTS {
        let points = vec![[x - 18.0, y], [x, y]];
        let dash = Some([5.0, 4.0]);
        d.items.push(Item::Stroke { points, width: 1.6, paint: Paint::SoftInk, dash, name: None });
    } else {
        let rim = Paint::Fixed(r.colour);
        d.items.push(Item::Disc {
            at: [x, y],
            radius: 3.6,
            fill: Paint::Paper,
            rim,
            rim_width: 1.6,
            name: None,
        });
    }
}

/// Labels at the ends of the curves, pushed apart until none touches another.
fn end_labels(d: &mut Drawing, panel: &Panel, y: &Scale, right: f64) {
    struct Label<'a> {
        text: &'a str,
        paint: Paint,
        end: f64,
        at: f64,
    }
    let mut labels: Vec<Label> = Vec::new();
    for curve in panel.curves.iter().filter(|c| !c.label.is_empty()) {
        let Some(&v) = curve.y.iter().rev().find(|v| v.is_finite() && (!panel.logarithmic || **v > 0.0))
        else {
            continue;
        };
        labels.push(Label { text: &curve.label, paint: curve.paint, end: y.at(v), at: y.at(v) });
    }
    labels.sort_by(|a, b| a.end.total_cmp(&b.end));
    let gap = TEXT * 1.2;
    // Down from the top, then back up from the bottom: order is kept, nothing leaves the panel.
    let (ceiling, floor) = (y.to.min(y.from), y.to.max(y.from));
    let mut lowest = ceiling - gap + 2.0;
    for l in &mut labels {
        l.at = l.at.max(lowest + gap);
        lowest = l.at;
    }
    let mut highest = floor.max(ceiling + gap * (labels.len() as f64 - 1.0)) + gap;
    for l in labels.iter_mut().rev() {
        l.at = l.at.min(highest - gap);
        highest = l.at;
    }
    // Centre groups that were pushed down as a whole: half of the shift goes back up where there is room.
    let mut i = 0;
    while i < labels.len() {
        let mut j = i;
        while j + 1 < labels.len() && labels[j + 1].at - labels[j].at < gap + 0.01 {
            j += 1;
        }
        let shift: f64 = labels[i..=j].iter().map(|l| l.at - l.end).sum::<f64>() / (j - i + 1) as f64;
        let room = if i == 0 { labels[i].at - ceiling } else { labels[i].at - labels[i - 1].at - gap };
        let back = shift.clamp(0.0, room.max(0.0));
        labels[i..=j].iter_mut().for_each(|l| l.at -= back);
        i = j + 1;
    }
    for l in labels {
        if (l.at - l.end).abs() > 1.5 {
            let points = vec![[right + 2.0, l.end], [right + LABEL_GAP - 4.0, l.at]];
            d.items.push(Item::Stroke { points, width: 1.0, paint: l.paint, dash: None, name: None });
        }
        let base = l.at + TEXT * font::CAP_HEIGHT / 2.0;
        d.bold([right + LABEL_GAP, base], l.text, TEXT, Anchor::Start, l.paint);
    }
}

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
        d.bold([MARGIN, MARGIN + TITLE * 0.8], &self.title, TITLE, Anchor::Start, Paint::Ink);
        if !self.caption.is_empty() {
            let caption = shortened(&self.caption, WIDTH - 2.0 * MARGIN);
            d.text([MARGIN, MARGIN + TITLE + TEXT + 2.0], caption, TEXT, Anchor::Start, Paint::SoftInk);
        }
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
