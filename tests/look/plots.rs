//! Curves stand where the numbers say.

use crate::folders;
use carom::look::{PlotOptions, Theme, TimeUnit, in_words, plot};
use std::collections::BTreeMap;
use std::path::Path;

/// What can be read back from an SVG: named polylines and rings, and the words.
struct Svg {
    lines: Vec<(String, Vec<[f64; 2]>)>,
    rings: Vec<(String, [f64; 2])>,
    words: Vec<String>,
}

fn attribute<'a>(tag: &'a str, key: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {key}=\""))?.1.split('"').next()
}

fn parse(path: &Path) -> Svg {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && text.ends_with("</svg>\n"));
    let mut svg = Svg { lines: Vec::new(), rings: Vec::new(), words: Vec::new() };
    for piece in text.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').expect("every tag is closed");
        let name = attribute(tag, "data-name").unwrap_or_default().to_owned();
        if tag.starts_with("polyline") {
            let points = attribute(tag, "points").unwrap().split(' ').map(|p| {
                let (x, y) = p.split_once(',').unwrap();
                [x.parse().unwrap(), y.parse().unwrap()]
            });
            svg.lines.push((name, points.collect()));
        } else if tag.starts_with("circle") {
            let number = |key| attribute(tag, key).unwrap().parse().unwrap();
            svg.rings.push((name, [number("cx"), number("cy")]));
        } else if tag.starts_with("text") {
            svg.words.push(after.to_owned());
        }
    }
    svg
}

impl Svg {
    fn curve(&self, name: &str) -> &[[f64; 2]] {
        &self.lines.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no curve {name}")).1
    }

    /// A pixel coordinate (0: x, 1: y) to the number it stands for, from two grid lines of the panel
    /// that holds `at`.
    fn value(&self, k: usize, at: [f64; 2]) -> f64 {
        let prefix = ["x=", "y="][k];
        let mut ticks: Vec<(f64, f64, f64)> = self
            .lines
            .iter()
            .filter_map(|(name, p)| Some((name.strip_prefix(prefix)?.parse().ok()?, p[0][k], p[0][1 - k])))
            .collect();
        // Grid lines of other panels are farther away.
        if k == 1 {
            ticks.sort_by(|a, b| (a.1 - at[1]).abs().total_cmp(&(b.1 - at[1]).abs()));
        }
        let a = ticks[0];
        let b = *ticks[1..].iter().find(|t| (t.1 - a.1).abs() > 1.0).unwrap();
        a.0 + (at[k] - a.1) * (b.0 - a.0) / (b.1 - a.1)
    }

    /// The points of a curve as numbers.
    fn numbers(&self, name: &str) -> Vec<[f64; 2]> {
        self.curve(name).iter().map(|&p| [self.value(0, p), self.value(1, p)]).collect()
    }
}

fn columns(dir: &Path) -> BTreeMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(dir.join("history.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
    names.iter().enumerate().map(|(i, n)| (n.to_string(), rows.iter().map(|r| r[i]).collect())).collect()
}

/// Place and size of the largest number.
fn peak(points: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    points.max_by(|a, b| a[1].total_cmp(&b[1])).unwrap()
}

#[test]
fn curves_have_the_extremes_of_the_data_at_the_right_places() {
    let dir = folders::empty("plots");
    folders::history(&dir, "Two elastic bars", 400);
    let files = plot(&dir, &PlotOptions::default()).unwrap();
    let names: Vec<&str> = files.iter().filter_map(|f| f.file_name()?.to_str()).collect();
    for figure in ["energy", "momentum", "contact", "step", "phases", "probe-tip"] {
        assert!(names.contains(&format!("{figure}.svg").as_str()), "{names:?}");
        assert!(names.contains(&format!("{figure}.png").as_str()), "{names:?}");
    }
    let data = columns(&dir);
    for (figure, curves) in [
        ("energy", vec!["kinetic", "strain", "contact", "friction", "restitution", "total"]),
        ("momentum", vec!["px", "ly"]),
        ("contact", vec!["penetration"]),
        ("probe-tip", vec!["tip.ux", "tip.uy"]),
    ] {
        let svg = parse(&dir.join(format!("plots/{figure}.svg")));
        for name in curves {
            let drawn = svg.numbers(name);
            let series = || data["time"].iter().zip(&data[name]).map(|(&t, &v)| [t, v]);
            let size = data[name].iter().fold(0.0_f64, |a, v| a.max(v.abs()));
            let (seen, wanted) = (peak(drawn.iter().copied()), peak(series()));
            // Coordinates are written with two decimals of some 300 pixels.
            assert!((seen[1] - wanted[1]).abs() < 2e-3 * size, "{name}: {seen:?} {wanted:?}");
            // Where the drawn peak stands, the data are at their peak.
            let there =
                series().min_by(|a, b| (a[0] - seen[0]).abs().total_cmp(&(b[0] - seen[0]).abs())).unwrap();
            assert!((there[1] - wanted[1]).abs() < 2e-3 * size, "{name}: {seen:?} {wanted:?}");
            let (first, last) = (drawn[0], drawn[drawn.len() - 1]);
            assert!((first[1] - data[name][0]).abs() < 2e-3 * size, "{name}");
            assert!(
                (last[1] - data[name][400]).abs() < 2e-3 * size && (last[0] - 2e-3).abs() < 1e-5,
                "{name}"
            );
        }
    }
}

#[test]
fn every_account_is_drawn_or_named_as_zero() {
    let dir = folders::empty("plots_accounts");
    folders::history(&dir, "Two elastic bars", 50);
    plot(&dir, &PlotOptions::default()).unwrap();
    let svg = parse(&dir.join("plots/energy.svg"));
    let words = svg.words.join(" ");
    for account in
        "kinetic strain contact external friction restitution damping plastic correction hourglass total error".split(' ')
    {
        assert!(words.contains(account), "{account} is missing");
    }
    assert!(words.contains("Zero throughout: external, damping, plastic, hourglass."));
    assert!(words.contains("consistent units"));
}

#[test]
fn reference_points_lie_on_the_curve_they_were_taken_from() {
    let dir = folders::empty("plots_reference");
    folders::history(&dir, "Two elastic bars", 400);
    let reference = dir.join("reference.csv");
    let rows: String = [0, 100, 200, 400]
        .map(|i| {
            let row = folders::row(i as f64 / 400.0);
            format!("{:e},{:e}\n", row[0], row[23])
        })
        .concat();
    std::fs::write(&reference, format!("time,tip.ux\n{rows}")).unwrap();
    plot(&dir, &PlotOptions { references: vec![reference], ..PlotOptions::default() }).unwrap();
    let svg = parse(&dir.join("plots/probe-tip.svg"));
    let rings: Vec<_> = svg.rings.iter().filter(|(n, _)| n == "reference tip.ux").collect();
    assert_eq!(rings.len(), 4);
    for (_, at) in rings {
        let near = svg.curve("tip.ux").iter().any(|p| (p[0] - at[0]).hypot(p[1] - at[1]) < 0.02);
        assert!(near, "{at:?}");
    }
    assert!(svg.words.iter().any(|w| w == "reference"));
}

/// 2 ms drawn in milliseconds end at 2, in a unit of one's own at what its factor says.
#[test]
fn a_unit_of_time_scales_the_axis() {
    let dir = folders::empty("plots_unit");
    folders::history(&dir, "Two elastic bars", 400);
    for (unit, end, word) in [("ms", 2.0, "time (ms)"), ("us", 2e3, "µs"), ("shakes=1e8", 2e5, "shakes")] {
        let time_unit = Some(unit.parse().unwrap());
        plot(&dir, &PlotOptions { time_unit, ..PlotOptions::default() }).unwrap();
        let svg = parse(&dir.join("plots/energy.svg"));
        let drawn = svg.numbers("total");
        assert!((drawn[drawn.len() - 1][0] / end - 1.0).abs() < 1e-3, "{unit}");
        assert!(svg.words.iter().any(|w| w.contains(word)), "{unit}: {:?}", svg.words);
    }
    assert!("fortnight".parse::<TimeUnit>().unwrap_err().contains("NAME=FACTOR"));
    assert!("ms=0".parse::<TimeUnit>().is_err());
}

/// The reference has a tenth of the run's energy and a tenth of its error: the same share.
#[test]
fn errors_of_a_reference_are_shares_of_its_own_energy_and_several_stay_apart() {
    let dir = folders::empty("plots_references");
    folders::history(&dir, "Two elastic bars", 400);
    let file = |name: &str, scale: f64| {
        let path = dir.join(format!("{name}.csv"));
        let rows = [0, 100, 200, 390].map(|i| {
            let row = folders::row(i as f64 / 400.0);
            format!("{:e},{:e},{:e}\n", row[0], scale * row[12], scale * row[13])
        });
        std::fs::write(&path, format!("time,total,error\n{}", rows.concat())).unwrap();
        path
    };
    let references = vec![file("measured", 0.1), file("computed", 1.0)];
    plot(&dir, &PlotOptions { references, ..PlotOptions::default() }).unwrap();
    let svg = parse(&dir.join("plots/energy.svg"));
    let rings: Vec<_> = svg.rings.iter().filter(|(n, _)| n == "measured error").collect();
    assert_eq!(rings.len(), 4);
    for (_, at) in rings {
        let near = svg.curve("error").iter().any(|p| (p[0] - at[0]).hypot(p[1] - at[1]) < 0.02);
        assert!(near, "{at:?}");
    }
    // the second has marks of its own
    assert_eq!(svg.lines.iter().filter(|(n, _)| n == "computed error").count(), 4);
    for name in ["measured", "computed"] {
        assert!(svg.words.iter().any(|w| w == name), "{:?}", svg.words);
    }
}

#[test]
fn a_long_history_makes_a_small_file() {
    let dir = folders::empty("plots_long");
    folders::history(&dir, "Two elastic bars", 60_000);
    plot(&dir, &PlotOptions::default()).unwrap();
    assert!(std::fs::metadata(dir.join("plots/energy.svg")).unwrap().len() < 400_000);
}

#[test]
fn light_plots_follow_the_page_and_dark_plots_bring_their_own() {
    let dir = folders::empty("plots_themes");
    folders::history(&dir, "A title with <brackets> & \\\"quotes\\\"", 50);
    for (theme, out) in [(Theme::Light, "light"), (Theme::Dark, "dark"), (Theme::Transparent, "clear")] {
        let out = dir.join(out);
        plot(&dir, &PlotOptions { theme, out: Some(out.clone()), ..PlotOptions::default() }).unwrap();
        let svg = std::fs::read_to_string(out.join("energy.svg")).unwrap();
        assert_eq!(svg.contains("prefers-color-scheme: dark"), theme == Theme::Light);
        assert!(svg.contains("&lt;brackets&gt; &amp; &quot;quotes&quot;"));
    }
}

#[test]
fn a_run_that_is_still_going_on_can_be_plotted() {
    let dir = folders::empty("plots_running");
    folders::history(&dir, "Two elastic bars", 50);
    let summary = std::fs::read_to_string(dir.join("summary.json")).unwrap();
    std::fs::write(dir.join("summary.json"), summary.replace("finished", "running")).unwrap();
    let history = std::fs::read_to_string(dir.join("history.csv")).unwrap();
    std::fs::write(dir.join("history.csv"), &history[..history.len() - 40]).unwrap();
    plot(&dir, &PlotOptions::default()).unwrap();
    assert_eq!(parse(&dir.join("plots/energy.svg")).curve("total").len(), 50);
}

/// The accounts of `folders::row(1)`: friction 90, normal contact 40 of 1000; the error is at most 3e-7.
#[test]
fn words_tell_where_the_energy_went() {
    let dir = folders::empty("words");
    folders::history(&dir, "Two elastic bars", 400);
    let words = in_words(&dir).unwrap();
    for part in [
        "1000 at the start, 870 at the end",
        "friction took 90 (9.0 %)",
        "normal contact took 40 (4.0 %)",
        "closed to 2.9e-10 of the energy that was there",
        "up to 64 pairs, deepest overlap 2.400e-6",
        "carom render",
    ] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    assert!(!words.contains("plastic") && !words.contains("loads"), "{words}");
}

/// Bodies that touched between two rows, and an error that was larger there: the summary knows.
#[test]
fn words_know_what_happened_between_rows() {
    let dir = folders::empty("words_between");
    folders::history(&dir, "Two elastic bars", 2);
    let summary = std::fs::read_to_string(dir.join("summary.json")).unwrap();
    let more = r#"{ "contacts_peak": 12, "penetration_max": 3e-6, "energy": { "error_max_rel": 0.015 }, "#;
    std::fs::write(dir.join("summary.json"), summary.replacen('{', more, 1)).unwrap();
    let history = std::fs::read_to_string(dir.join("history.csv")).unwrap();
    let rows: Vec<&str> = history.lines().collect();
    std::fs::write(dir.join("history.csv"), format!("{}\n{}\n", rows[0], rows[1])).unwrap();
    let words = in_words(&dir).unwrap();
    assert!(words.contains("closed to 1.5e-2 of the energy that was there"), "{words}");
    assert!(words.contains("up to 12 pairs, deepest overlap 3.000e-6"), "{words}");
}
