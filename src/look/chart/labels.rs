//! Labels at the ends of curves.

use super::{LABEL_GAP, Panel, Scale, TEXT};
use crate::look::draw::{Anchor, Drawing, Item, Paint};
use crate::look::font;

/// Labels at the ends of the curves, pushed apart until none touches another.
pub(crate) fn end_labels(d: &mut Drawing, panel: &Panel, y: &Scale, right: f64) {
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
